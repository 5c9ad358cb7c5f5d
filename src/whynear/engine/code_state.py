"""The code that a result depends on, so that neither saved results nor workers of other code are used."""

from __future__ import annotations

import ast
import hashlib
import platform
from functools import cache
from importlib import metadata
from importlib.abc import InspectLoader
from importlib.util import find_spec
from pathlib import Path

Versions = dict[str, str]

# They start work and collect results, but no result depends on them.
RUNNER_MODULES = ("whynear.engine", "whynear.reproduce.outcome", "whynear.reproduce.plans")
PACKAGES = ("numba", "numpy", "scikit-learn", "scipy")
SOURCES = "sources"


@cache
def versions() -> Versions:
    """The versions of whynear and `PACKAGES` in this process, and a digest of the sources of whynear."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    found = {name: metadata.version(name) for name in ("whynear", *PACKAGES)}
    return {**found, SOURCES: digest.hexdigest()}


def differences(wanted: Versions) -> str:
    """What this process has in other versions, in a sentence; empty if it has the same."""
    here = versions()
    other = [f"{name} {here[name]} instead of {wanted[name]}" for name in wanted if here[name] != wanted[name]]
    if not other:
        return ""
    named = [words for words in other if not words.startswith(SOURCES)] or ["other sources of whynear"]
    return f"the worker on {platform.node()} has {', '.join(named)}. Install the same versions there."


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
    ours = {name for name in names if name.startswith("whynear.") and not name.startswith(RUNNER_MODULES)}
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
