"""Streams: a memory that predicts each case before it learns it, and adjusts itself when the concept drifts."""

from typing import TYPE_CHECKING

from whynear.utils.lazy import make_lazy

__all__ = make_lazy(
    __name__,
    {
        "whynear.stream.estimator": ("SelfAdjustingMemory",),
        "whynear.stream.history": ("StreamHistory",),
    },
)

if TYPE_CHECKING:
    from whynear.stream.estimator import SelfAdjustingMemory as SelfAdjustingMemory
    from whynear.stream.history import StreamHistory as StreamHistory
