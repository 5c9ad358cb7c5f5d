"""Checks of parameters, each refused by its name and value."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

LARGEST_SEED = 2**32 - 1  # that scikit-learn takes
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


def check_seed(seed: object) -> int:
    """Return the seed of a study or a model as an int, or refuse what scikit-learn would not take."""
    if isinstance(seed, int | np.integer) and 0 <= seed <= LARGEST_SEED:
        return int(seed)
    raise ValueError(f"The seed must be a whole number from 0 to {LARGEST_SEED}, got {seed!r} instead (--seed 0).")


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


def check_whole(learner: Any, *names: str, least: int = 1) -> None:
    """Refuse parameters that are neither None nor whole numbers from ``least`` on."""
    for name in names:
        value = getattr(learner, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise TypeError(f"{name} must be a whole number, got {value!r} instead.")
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value!r} instead.")


def check_number(learner: Any, *names: str, positive: bool = False, most: float = np.inf) -> None:
    """Refuse parameters that are neither None nor finite numbers, from zero on or positive, up to ``most``."""
    for name in names:
        value = getattr(learner, name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"{name} must be a number, got {value!r} instead.")
        size = float(value)
        if not (size > 0 if positive else size >= 0) or not size <= min(most, np.finfo(float).max):
            bound = "positive" if positive else "zero or more"
            raise ValueError(
                f"{name} must be {bound}{f', up to {most:g}' if most < np.inf else ''}, got {value!r} instead."
            )


def check_known(learner: Any, name: str, known: list[str]) -> None:
    """Refuse a parameter that is not one of a few words."""
    value = getattr(learner, name)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r} instead.")
