"""Checks of parameters; an error gives the name and the value."""

from __future__ import annotations

from collections.abc import Callable, Collection
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np

Value = TypeVar("Value")
Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: Seed) -> np.random.Generator:
    """Return a numpy Generator for any ``random_state`` that scikit-learn takes.

    A Generator is returned unchanged, so that it advances for its caller too; a RandomState gives one draw as seed.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(2**31 - 1)))
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    raise _refused("random_state", "None, an integer >= 0, a numpy Generator or a RandomState", random_state, "")


def seed_of(random_state: Seed) -> int:
    """Return a seed for any ``random_state`` that `generator` takes: an integer itself, a draw from anything else.

    >>> seed_of(7)
    7
    """
    drawn_from = generator(random_state)
    return int(random_state) if isinstance(random_state, int | np.integer) else int(drawn_from.integers(2**31 - 1))


class ParameterError(ValueError, TypeError):
    """Raised for a parameter of the wrong type or out of range; as in scikit-learn, a ValueError and a TypeError."""


def whole(name: str, value: object, least: int = 1, why: str = "") -> int:
    """Return ``value`` as an int; raise ParameterError if it is not a whole number of at least ``least``."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least:
        return int(value)
    raise _refused(name, f"an integer >= {least}", value, why)


def number(
    name: str,
    value: object,
    least: float = 0.0,
    *,
    most: float = np.inf,
    above: float | None = None,
    below: float = np.inf,
    why: str = "",
) -> float:
    """Return ``value`` as a float; raise ParameterError outside the limits. ``above`` replaces ``least``."""
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            size = float(value)
        except OverflowError:  # of an integer
            size = np.inf
        if np.isfinite(size) and (size >= least if above is None else size > above) and size <= most and size < below:
            return size
    limits = [f">= {least:g}" if above is None else f"> {above:g}"]
    limits += [f"{sign} {limit:g}" for sign, limit in (("<=", most), ("<", below)) if limit < np.inf]
    raise _refused(name, f"a finite number {' and '.join(limits)}", value, why)


def choice(name: str, value: Value, known: Collection[Value], why: str = "") -> Value:
    """Return ``value``; raise ParameterError, with the known values, if it is none of them."""
    if value in known:
        return value
    raise _refused(name, f"one of {', '.join(map(str, known))}", value, why)


def check_parameters(
    estimator: object, check: Callable[..., object], *names: str, optional: bool = False, **limits: Any
) -> None:
    """Apply a check to parameters of an estimator by their names; optional ones may be None."""
    for name in names:
        value = getattr(estimator, name)
        if value is not None or not optional:
            check(name, value, **limits)


def _refused(name: str, needed: str, value: object, why: str) -> ParameterError:
    return ParameterError(f"{name} must be {needed}{why and f' ({why})'}, got {value!r} instead.")
