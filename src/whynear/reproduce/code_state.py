"""A digest of the code that a result depends on, so that saved results of other code are not used."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import metadata
from importlib.abc import InspectLoader
from importlib.util import find_spec

# They start cells and collect results, but no result depends on them.
RUNNER_MODULES = {f"whynear.reproduce.{name}" for name in ("cells", "outcome", "plans")}
PACKAGES = ("numba", "numpy", "scikit-learn", "scipy")


@cache
def code_digest(module: str) -> str:
    """The digest of a module, of all whynear modules that it needs, and of the versions of `PACKAGES`."""
    parts = [f"{name} {metadata.version(name)}" for name in PACKAGES]
    parts += [_source(name) for name in sorted(modules_needed(module))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def modules_needed(module: str) -> set[str]:
    """A module, and all whynear modules that it imports, directly or through others."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _imported_by(name) - found
    return found


@cache
def _imported_by(module: str) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = {name for name in names if name.startswith("whynear.")} - RUNNER_MODULES
    return frozenset(filter(_is_module, ours))


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the part before the last dot is not a package
        return False


def _source(module: str) -> str:
    spec = find_spec(module)
    loader = spec.loader if spec is not None else None
    assert isinstance(loader, InspectLoader), f"{module} has a source"
    return loader.get_source(module) or ""
