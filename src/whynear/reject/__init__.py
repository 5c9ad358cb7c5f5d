"""Classifiers that may reject cases: certainty, promises, reasons, and sets of classes."""

from whynear.reject.curve import Decisions, RejectCurve
from whynear.reject.option import RejectOption
from whynear.reject.promise import Promise

__all__ = ["Decisions", "Promise", "RejectCurve", "RejectOption"]
