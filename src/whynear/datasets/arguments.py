"""What the generators accept: whole numbers within bounds, amounts of noise, seeds of every usual kind."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: Seed) -> np.random.Generator:
    """Return a numpy Generator for whatever scikit-learn would take as ``random_state``.

    A Generator is used as it is, so that its caller sees it advance; a RandomState gives one draw as seed.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31 - 1)))
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise ValueError(
        f"random_state must be None, an integer >= 0, a numpy Generator or a RandomState, got {random_state!r} instead."
    )


def whole(name: str, value: object, least: int, why: str = "") -> int:
    """Return ``value`` as an int, or say which parameter must be a whole number of at least ``least``."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise ValueError(f"{name} must be an integer >= {least}{why and f' ({why})'}, got {value!r} instead.")


def amount(name: str, value: object) -> float:
    """Return ``value`` as a float, or say which parameter must be a finite number >= 0."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        number = float(value)
        if np.isfinite(number) and number >= 0:
            return number
    raise ValueError(f"{name} must be a finite number >= 0, got {value!r} instead.")
