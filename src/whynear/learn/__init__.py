"""Learners: what turns a labelled table into a metric."""

from whynear.learn.inputs import fit_inputs, predict_inputs
from whynear.learn.lann.estimator import LANN
from whynear.learn.lmnn.estimator import LMNN
from whynear.learn.lvq.gmlvq import GMLVQ, LGMLVQ
from whynear.learn.lvq.grlvq import GRLVQ, LGRLVQ
from whynear.learn.minimum_norm import MinimumNormRegressor
from whynear.learn.mixins import WithMetric
from whynear.learn.registry import LEARNERS
from whynear.learn.slider.estimator import Slider
from whynear.learn.slider.rivals import DIET, BackwardElimination, ForwardSelection, LPWeights

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
