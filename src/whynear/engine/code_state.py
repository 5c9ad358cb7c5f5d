"""The code that a result depends on, so that no worker of other code is used."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

Versions = dict[str, str]
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
