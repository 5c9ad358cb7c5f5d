"""whynear: which features truly decide that two cases are near?"""

from whynear import datasets, testing
from whynear.metric import (
    CandidateSearch,
    DiagonalMetric,
    LinearMetric,
    LocalMetric,
    NeighborSearch,
    as_metric,
    load,
    save,
)

__version__ = "0.1.0"

__all__ = [
    "CandidateSearch",
    "DiagonalMetric",
    "LinearMetric",
    "LocalMetric",
    "NeighborSearch",
    "as_metric",
    "datasets",
    "load",
    "save",
    "testing",
]
