"""What the data can support: null spaces, relevance intervals, effective dimension."""

from whynear.interpret.null_space import NullSpace, NullSpaceProjector, null_space, regularize
from whynear.interpret.relevance import Relevance, relevance_intervals
from whynear.interpret.substitutes import Substitutes

__all__ = [
    "NullSpace",
    "NullSpaceProjector",
    "Relevance",
    "Substitutes",
    "null_space",
    "regularize",
    "relevance_intervals",
]
