"""whynear: which features truly decide that two cases are near?"""

from whynear import datasets
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
from whynear.report import Study, study

__version__ = "0.1.0"

__all__ = [
    "CandidateSearch",
    "DiagonalMetric",
    "LinearMetric",
    "LocalMetric",
    "NeighborSearch",
    "Study",
    "as_metric",
    "datasets",
    "load",
    "save",
    "study",
]
