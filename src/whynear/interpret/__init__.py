"""What the data can support: null spaces, relevance intervals, effective dimension."""

from whynear.interpret.null_space import NullSpace, NullSpaceProjector, null_space, regularize

__all__ = ["NullSpace", "NullSpaceProjector", "null_space", "regularize"]
