"""Explanations of predictions by the nearest cases and by coefficients, and the mean relevances of each class."""

from whynear.explain.explanation import Explanation, NearCase
from whynear.explain.profiles import class_profiles, plot_class_profiles
from whynear.explain.several import Explanations
from whynear.explain.value_explanation import ValueExplanation
from whynear.explain.why import explain

__all__ = [
    "Explanation",
    "Explanations",
    "NearCase",
    "ValueExplanation",
    "class_profiles",
    "explain",
    "plot_class_profiles",
]
