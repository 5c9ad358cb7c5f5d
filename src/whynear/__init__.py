"""whynear: which features truly decide that two cases are near?"""

from whynear import datasets
from whynear.apply import CaseBase, Retrieval, embed, embedding_score, plot_embedding, ranking
from whynear.explain import Explanation, class_profiles, explain, plot_class_profiles
from whynear.interpret import (
    NullSpaceProjector,
    Relevance,
    effective_dimension,
    null_space,
    regularization_paths,
    regularize,
    relevance_floor,
    relevance_intervals,
)
from whynear.learn import (
    DIET,
    GMLVQ,
    GRLVQ,
    LANN,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    BackwardElimination,
    ForwardSelection,
    LPWeights,
    MinimumNormRegressor,
    Slider,
)
from whynear.metric import (
    CandidateSearch,
    DiagonalMetric,
    LinearMetric,
    LocalMetric,
    MinkowskiMetric,
    NeighborSearch,
    as_metric,
    load,
    save,
)
from whynear.report import Study, study

__version__ = "0.1.0"

__all__ = [
    "DIET",
    "GMLVQ",
    "GRLVQ",
    "LANN",
    "LGMLVQ",
    "LGRLVQ",
    "LMNN",
    "BackwardElimination",
    "CandidateSearch",
    "CaseBase",
    "DiagonalMetric",
    "Explanation",
    "ForwardSelection",
    "LPWeights",
    "LinearMetric",
    "LocalMetric",
    "MinimumNormRegressor",
    "MinkowskiMetric",
    "NeighborSearch",
    "NullSpaceProjector",
    "Relevance",
    "Retrieval",
    "Slider",
    "Study",
    "as_metric",
    "class_profiles",
    "datasets",
    "effective_dimension",
    "embed",
    "embedding_score",
    "explain",
    "load",
    "null_space",
    "plot_class_profiles",
    "plot_embedding",
    "ranking",
    "regularization_paths",
    "regularize",
    "relevance_floor",
    "relevance_intervals",
    "save",
    "study",
]
