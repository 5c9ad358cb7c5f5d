"""Learning from Dask collections: tables in partitions, which may be larger than memory and on many machines."""

from typing import TYPE_CHECKING

from whynear.utils.lazy import make_lazy

__all__ = make_lazy(__name__, {"whynear.distributed.fitting": ("fit",), "whynear.distributed.prediction": ("predict",)})

if TYPE_CHECKING:
    from whynear.distributed.fitting import fit as fit
    from whynear.distributed.prediction import predict as predict
