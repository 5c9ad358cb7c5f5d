"""Learners: what turns a labelled table into a metric."""

from whynear.learn.feature_weights import DIET, BackwardElimination, ForwardSelection, LPWeights
from whynear.learn.gmlvq import GMLVQ, LGMLVQ
from whynear.learn.grlvq import GRLVQ, LGRLVQ
from whynear.learn.inputs import fit_inputs, predict_inputs
from whynear.learn.lann import LANN
from whynear.learn.lmnn import LMNN
from whynear.learn.minimum_norm import MinimumNormRegressor
from whynear.learn.registry import LEARNERS
from whynear.learn.slider import Slider
from whynear.learn.with_metric import WithMetric

__all__ = [
    "DIET",
    "GMLVQ",
    "GRLVQ",
    "LANN",
    "LEARNERS",
    "LGMLVQ",
    "LGRLVQ",
    "LMNN",
    "BackwardElimination",
    "ForwardSelection",
    "LPWeights",
    "MinimumNormRegressor",
    "Slider",
    "WithMetric",
    "fit_inputs",
    "predict_inputs",
]
