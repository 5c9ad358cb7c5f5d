"""Interpretation of a metric on data: null space, relevance intervals, effective dimension."""

from whynear.interpret.floor import Floor, relevance_floor
from whynear.interpret.intervals import relevance_intervals
from whynear.interpret.null_space import NullSpace, NullSpaceProjector, null_space, regularize
from whynear.interpret.paths import RegularizationPaths, regularization_paths
from whynear.interpret.relevance import Relevance, Substitutes
from whynear.interpret.validation import (
    EffectiveDimension,
    RelevanceTolerance,
    effective_dimension,
    relevance_tolerance,
)

__all__ = [
    "EffectiveDimension",
    "Floor",
    "NullSpace",
    "NullSpaceProjector",
    "RegularizationPaths",
    "Relevance",
    "RelevanceTolerance",
    "Substitutes",
    "effective_dimension",
    "null_space",
    "regularization_paths",
    "regularize",
    "relevance_floor",
    "relevance_intervals",
    "relevance_tolerance",
]
