"""How the certainty of new cases is computed: from the output of a classifier, and from near cases of known class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whynear.reject.certainty import CertaintyModel
from whynear.reject.class_thresholds import ClassScales
from whynear.reject.measures import measures_of
from whynear.reject.near_cases import NearCases
from whynear.reject.nearness import Nearness
from whynear.utils.arrays import Array
from whynear.utils.checks import number
from whynear.utils.values import ByValue

MODEL_SHAPES: dict[str, tuple[int | str, ...]] = {
    "low": ("measures",),
    "high": ("measures",),
    "mean": ("measures",),
    "scale": ("measures",),
    "slopes": ("measures",),
    "intercepts": ("classes",),
}
NEAR_SHAPES: dict[str, tuple[int | str, ...]] = {"cases": ("cases", "coordinates"), "codes": ("cases",)}
FAR_FACTOR = 2.0  # a case farther than the farthest known case by this factor is not accepted


@dataclass(frozen=True, eq=False)
class CertaintyRule(ByValue):
    """Gives cases their certainty.

    Attributes
    ----------
    model : CertaintyModel
        Turns measures into certainty.
    scales : ClassScales
        The scales of classes, if each has its own threshold; empty otherwise.
    near : NearCases
        The cases whose classes near a case count, for learners with prototypes; empty for others.
    farthest : float
        The largest distance of a case that chose the rule to the nearest prototype or training case.
    """

    model: CertaintyModel
    scales: ClassScales
    near: NearCases
    farthest: float

    def certainty_of(self, nearness: Nearness) -> Array:
        """Return the certainty of cases; zero for one more than twice as far as any case that chose the rule."""
        if self.near and nearness.seen is not None:
            shares = self.near.shares(nearness.seen, nearness.probabilities.shape[1])
            nearness = replace(nearness, near_shares=shares)
        found = self.model.certainty(measures_of(nearness), nearness.predicted)
        found = self.scales.scaled(found, nearness.predicted)
        if nearness.sq_nearest is None:
            return found
        return np.where(np.sqrt(nearness.sq_nearest) > FAR_FACTOR * self.farthest, 0.0, found)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, texts, arrays and lists of these, which a file can hold."""
        return {
            "model": {**vars(self.model), "names": list(self.model.names)},
            "scales": list(self.scales.knots),
            "near": dict(vars(self.near)),
            "farthest": None if np.isinf(self.farthest) else self.farthest,
        }

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> CertaintyRule:
        """Return the rule of which `to_dict` returned this; refuse one that does not fit together."""
        names = tuple(held["model"]["names"])
        sizes = {"measures": len(names)}
        model = {name: _numbers(name, held["model"][name], shape, sizes) for name, shape in MODEL_SHAPES.items()}
        cases, codes = (_numbers(name, held["near"][name], shape, sizes) for name, shape in NEAR_SHAPES.items())
        if not (model["scale"] > 0).all():
            raise ValueError("The certainty is damaged: its scale holds a number that is not positive.")
        if codes.dtype.kind != "i" or not ((codes >= -1) & (codes < sizes["classes"])).all():
            raise ValueError("The certainty is damaged: its codes are no places of classes.")
        return cls(
            CertaintyModel(names, **model),
            ClassScales(tuple(_numbers("scales", knots, (2, "knots"), {}) for knots in held["scales"])),
            NearCases(cases, codes.astype(np.intp)),
            np.inf if held["farthest"] is None else number("farthest", held["farthest"], least=0.0),
        )


def _numbers(name: str, value: Any, shape: tuple[int | str, ...], sizes: dict[str, int]) -> Array:
    """Return an array of finite numbers whose axes have the given sizes; a size that is not yet given is added."""
    found = np.asarray(value)
    fits = found.ndim == len(shape) and all(
        size == (wanted if isinstance(wanted, int) else sizes.setdefault(wanted, size))
        for size, wanted in zip(found.shape, shape, strict=True)
    )
    if not fits or found.dtype.kind not in "if" or not np.isfinite(found).all():
        raise ValueError(f"The certainty is damaged: its {name} is no array of finite numbers of the fitting shape.")
    return found
