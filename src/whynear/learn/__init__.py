"""Learners: what turns a labelled table into a metric."""

from whynear.learn.inputs import fit_inputs, predict_inputs

__all__ = ["fit_inputs", "predict_inputs"]
