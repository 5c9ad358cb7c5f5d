"""Verdicts on features by refitting: what none can replace, what can be spared, and how few suffice."""

from whynear.verdict.cost import LeftOut, leave_out
from whynear.verdict.judging import verdicts
from whynear.verdict.sets import sufficient_sets
from whynear.verdict.verdicts import StandIn, StandIns, SufficientSets, Verdicts

__all__ = ["LeftOut", "StandIn", "StandIns", "SufficientSets", "Verdicts", "leave_out", "sufficient_sets", "verdicts"]
