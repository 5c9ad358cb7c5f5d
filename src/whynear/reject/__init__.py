"""Classifiers that may reject cases: certainty, promises, reasons, and sets of classes."""

from whynear.reject.option import RejectOption
from whynear.reject.outcome import Decisions, Promise, RejectCurve

__all__ = ["Decisions", "Promise", "RejectCurve", "RejectOption"]
