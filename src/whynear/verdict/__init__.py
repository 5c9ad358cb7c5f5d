"""Verdicts on features by refitting: what none can replace, what can be spared, and how few suffice."""

from whynear.verdict.leave_out import LeftOut, leave_out
from whynear.verdict.result import Verdicts
from whynear.verdict.stand_ins import StandIn, StandIns
from whynear.verdict.sufficient import SufficientSets, sufficient_sets
from whynear.verdict.verdicts import verdicts

__all__ = ["LeftOut", "StandIn", "StandIns", "SufficientSets", "Verdicts", "leave_out", "sufficient_sets", "verdicts"]
