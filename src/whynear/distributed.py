"""Learning from Dask collections: tables in partitions, which may be larger than memory and on many machines."""

from typing import TYPE_CHECKING

from whynear.utils.lazy import make_lazy

__all__ = make_lazy(
    __name__,
    {
        "whynear.large.fitting": (
            "fit",
            "predict",
        )
    },
)

if TYPE_CHECKING:
    from whynear.large.fitting import fit as fit
    from whynear.large.fitting import predict as predict
