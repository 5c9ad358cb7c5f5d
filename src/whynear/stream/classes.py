"""Classes of a stream, which may appear at any time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.stream.kernels import Memory
from whynear.utils.arrays import Indices


def joined_classes(known: NDArray[Any] | None, labels: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted classes that are known or among the labels; refuse kinds of labels that cannot be sorted.

    >>> joined_classes(np.array(["b"]), np.array(["c", "a", "b"])).tolist()
    ['a', 'b', 'c']
    """
    if known is None:
        return _sorted(labels)
    if known.dtype.kind != labels.dtype.kind and {known.dtype.kind, labels.dtype.kind} & set("OUS"):
        labels = labels.astype(object)
    return _sorted(np.concatenate([known, labels]))


def _sorted(labels: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(labels)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise TypeError(
            f"y holds classes of the kinds {' and '.join(kinds)}, which cannot be sorted together. "
            "Give all classes as text or all as numbers."
        ) from None


def recode(memories: Sequence[Memory], before: NDArray[Any], after: NDArray[Any]) -> None:
    """Change the codes of all remembered cases from places in the classes before to places in those after."""
    moved: Indices = np.searchsorted(after, before)
    for memory in memories:
        for codes in (memory.codes, memory.long_codes):
            codes[:] = moved[np.clip(codes, 0, None)]
