"""whynear: which features truly decide that two cases are near?"""

from typing import TYPE_CHECKING

from whynear.learn.registry import ALL_LEARNERS
from whynear.utils.lazy import make_lazy

__version__ = "0.2.0"

__all__ = make_lazy(
    __name__,
    {
        "whynear.cases.case_base": ("CaseBase",),
        "whynear.cases.retrieval": ("Retrieval",),
        "whynear.data.encoder": ("TableEncoder",),
        "whynear.data.options": (
            "Reading",
            "Splitting",
        ),
        "whynear.doors": ("study",),
        "whynear.embed": (
            "embed",
            "embedding_score",
            "plot_embedding",
        ),
        "whynear.explain": (
            "Explanation",
            "Explanations",
            "Flip",
            "Flips",
            "ValueExplanation",
            "class_profiles",
            "explain",
            "flips",
            "plot_class_profiles",
        ),
        "whynear.interpret": (
            "NullSpaceProjector",
            "Relevance",
            "effective_dimension",
            "null_space",
            "regularization_paths",
            "regularize",
            "relevance_floor",
            "relevance_intervals",
            "relevance_tolerance",
        ),
        "whynear.large.batch_prediction": ("predict_to_parquet",),
        "whynear.learn": (
            *(learner.kind for learner in ALL_LEARNERS),
            "MinimumNormRegressor",
            "RFMRegressor",
        ),
        "whynear.metric": (
            "DiagonalMetric",
            "LinearMetric",
            "LocalMetric",
            "MinkowskiMetric",
            "MonotoneMetric",
        ),
        "whynear.model.as_metric": ("as_metric",),
        "whynear.model.files": (
            "load",
            "save",
        ),
        "whynear.reject": (
            "Decisions",
            "Promise",
            "RejectCurve",
            "RejectOption",
        ),
        "whynear.report": ("Study",),
        "whynear.search": (
            "CandidateSearch",
            "NeighborSearch",
        ),
        "whynear.stream.estimator": ("SelfAdjustingMemory",),
        "whynear.stream.history": ("StreamHistory",),
        "whynear.study.differences": ("compare_studies",),
        "whynear.study.learning": ("learn_table",),
        "whynear.study.prediction": (
            "explain_row",
            "predict_table",
        ),
        "whynear.study.settings": ("Running",),
        "whynear.verdict": (
            "LeftOut",
            "SufficientSets",
            "Verdicts",
            "leave_out",
            "sufficient_sets",
            "verdicts",
        ),
    },
    submodules=("datasets", "distributed", "ranking", "spectra"),
)

if TYPE_CHECKING:
    from whynear import datasets as datasets
    from whynear import distributed as distributed
    from whynear import ranking as ranking
    from whynear import spectra as spectra
    from whynear.cases.case_base import CaseBase as CaseBase
    from whynear.cases.retrieval import Retrieval as Retrieval
    from whynear.data.encoder import TableEncoder as TableEncoder
    from whynear.data.options import Reading as Reading
    from whynear.data.options import Splitting as Splitting
    from whynear.doors import study as study
    from whynear.embed import embed as embed
    from whynear.embed import embedding_score as embedding_score
    from whynear.embed import plot_embedding as plot_embedding
    from whynear.explain import Explanation as Explanation
    from whynear.explain import Explanations as Explanations
    from whynear.explain import Flip as Flip
    from whynear.explain import Flips as Flips
    from whynear.explain import ValueExplanation as ValueExplanation
    from whynear.explain import class_profiles as class_profiles
    from whynear.explain import explain as explain
    from whynear.explain import flips as flips
    from whynear.explain import plot_class_profiles as plot_class_profiles
    from whynear.interpret import NullSpaceProjector as NullSpaceProjector
    from whynear.interpret import Relevance as Relevance
    from whynear.interpret import effective_dimension as effective_dimension
    from whynear.interpret import null_space as null_space
    from whynear.interpret import regularization_paths as regularization_paths
    from whynear.interpret import regularize as regularize
    from whynear.interpret import relevance_floor as relevance_floor
    from whynear.interpret import relevance_intervals as relevance_intervals
    from whynear.interpret import relevance_tolerance as relevance_tolerance
    from whynear.large.batch_prediction import predict_to_parquet as predict_to_parquet
    from whynear.learn import MinimumNormRegressor as MinimumNormRegressor
    from whynear.learn import RFMRegressor as RFMRegressor
    from whynear.learn.registry import *  # noqa: F403 - the learners, named for type checkers once
    from whynear.metric import DiagonalMetric as DiagonalMetric
    from whynear.metric import LinearMetric as LinearMetric
    from whynear.metric import LocalMetric as LocalMetric
    from whynear.metric import MinkowskiMetric as MinkowskiMetric
    from whynear.metric import MonotoneMetric as MonotoneMetric
    from whynear.model.as_metric import as_metric as as_metric
    from whynear.model.files import load as load
    from whynear.model.files import save as save
    from whynear.reject import Decisions as Decisions
    from whynear.reject import Promise as Promise
    from whynear.reject import RejectCurve as RejectCurve
    from whynear.reject import RejectOption as RejectOption
    from whynear.report import Study as Study
    from whynear.search import CandidateSearch as CandidateSearch
    from whynear.search import NeighborSearch as NeighborSearch
    from whynear.stream.estimator import SelfAdjustingMemory as SelfAdjustingMemory
    from whynear.stream.history import StreamHistory as StreamHistory
    from whynear.study.differences import compare_studies as compare_studies
    from whynear.study.learning import learn_table as learn_table
    from whynear.study.prediction import explain_row as explain_row
    from whynear.study.prediction import predict_table as predict_table
    from whynear.study.settings import Running as Running
    from whynear.verdict import LeftOut as LeftOut
    from whynear.verdict import SufficientSets as SufficientSets
    from whynear.verdict import Verdicts as Verdicts
    from whynear.verdict import leave_out as leave_out
    from whynear.verdict import sufficient_sets as sufficient_sets
    from whynear.verdict import verdicts as verdicts
