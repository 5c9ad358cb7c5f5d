"""Which code a result depends on, as a digest: what is kept of other code is not taken for a result of this one."""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from importlib import metadata
from importlib.abc import InspectLoader
from importlib.util import find_spec

# They hand work on and take results in, but no result depends on them.
MACHINERY = {f"whynear.reproduce.{name}" for name in ("cells", "outcome", "plans")}
PACKAGES = ("numba", "numpy", "scikit-learn", "scipy")


@cache
def code_digest(module: str) -> str:
    """Of a module, of all modules of this library that it needs, and of the versions of what they rest on."""
    told = [f"{name} {metadata.version(name)}" for name in PACKAGES]
    told += [_source(name) for name in sorted(modules_behind(module))]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


def modules_behind(module: str) -> set[str]:
    """A module, and all modules of this library that it imports, directly or through others."""
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
    ours = {name for name in names if name.startswith("whynear.")} - MACHINERY
    return frozenset(filter(_is_module, ours))


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what stands before the last dot is no package
        return False


def _source(module: str) -> str:
    spec = find_spec(module)
    loader = spec.loader if spec is not None else None
    assert isinstance(loader, InspectLoader), f"{module} has a source"
    return loader.get_source(module) or ""
