"""Learners: what turns a labelled table into a metric."""

from whynear.learn.inputs import fit_inputs, predict_inputs
from whynear.learn.minimum_norm import MinimumNormRegressor
from whynear.learn.with_metric import WithMetric

__all__ = ["MinimumNormRegressor", "WithMetric", "fit_inputs", "predict_inputs"]
