"""Sizes of memory: as they are written, and how much of it the machine has."""

from __future__ import annotations

import os
import re
from numbers import Integral
from pathlib import Path

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b\s*", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container
UNKNOWN_MACHINE_BYTES = 4 * 10**9  # where the system does not state its memory


def bytes_of(size: str | int, name: str = "memory") -> int:
    """Return the number of bytes that a size means; an error names the parameter.

    >>> bytes_of("500MB"), bytes_of("1.5 GiB"), bytes_of(2_000_000)
    (500000000, 1610612736, 2000000)
    """
    if isinstance(size, Integral) and not isinstance(size, bool) and size > 0:
        return int(size)
    written = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if written is None or not float(written[1]):
        raise ValueError(
            f"{name} must be a size such as '500MB' or '2GB', got {size!r} instead (--{name} 2GB). "
            "Write a number and its unit: MB, GB, or MiB, GiB."
        )
    return int(float(written[1]) * (1024 if written[3] else 1000) ** _POWERS[written[2].lower()])


def in_words(n_bytes: float) -> str:
    """Return a size with two or three digits.

    >>> in_words(2_000_000_000), in_words(715_000_000), in_words(1_250_000_000)
    ('2 GB', '715 MB', '1.2 GB')
    """
    if n_bytes < 1e9:
        return f"{max(1, round(n_bytes / 1e6)):.0f} MB"
    return f"{n_bytes / 1e9:.1f} GB".replace(".0 ", " ")


def machine_bytes() -> int:
    """Return how much memory the machine has, or the container that the program runs in."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        physical = UNKNOWN_MACHINE_BYTES
    try:
        limit = int(_CGROUP_LIMIT.read_text())
    except (OSError, ValueError):  # there is none, or it is "max"
        return physical
    return min(physical, limit)
