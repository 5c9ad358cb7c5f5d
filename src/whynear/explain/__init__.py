"""Explanations of predictions by cases and coefficients, changes that flip them, and the relevances of classes."""

from whynear.explain.explanation import Explanation, NearCase
from whynear.explain.flips import Flip, Flips, flips
from whynear.explain.profiles import class_profiles, plot_class_profiles
from whynear.explain.value_explanation import ValueExplanation
from whynear.explain.why import Explanations, explain

__all__ = [
    "Explanation",
    "Explanations",
    "Flip",
    "Flips",
    "NearCase",
    "ValueExplanation",
    "class_profiles",
    "explain",
    "flips",
    "plot_class_profiles",
]
