"""Checks of the parameters of learners, each refused by its name and value."""

from numbers import Integral, Real
from typing import Any

import numpy as np


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
