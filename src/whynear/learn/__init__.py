"""Learners: what turns a labelled table into a metric."""

from whynear.learn.gmlvq import GMLVQ, LGMLVQ
from whynear.learn.grlvq import GRLVQ, LGRLVQ
from whynear.learn.inputs import fit_inputs, predict_inputs
from whynear.learn.minimum_norm import MinimumNormRegressor
from whynear.learn.with_metric import WithMetric

__all__ = [
    "GMLVQ",
    "GRLVQ",
    "LGMLVQ",
    "LGRLVQ",
    "MinimumNormRegressor",
    "WithMetric",
    "fit_inputs",
    "predict_inputs",
]
