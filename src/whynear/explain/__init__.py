"""Explanations of predictions by the nearest cases, and the mean relevances of each class."""

from whynear.explain.explanation import Explanation, NearCase
from whynear.explain.profiles import class_profiles, plot_class_profiles
from whynear.explain.several import Explanations
from whynear.explain.why import explain

__all__ = ["Explanation", "Explanations", "NearCase", "class_profiles", "explain", "plot_class_profiles"]
