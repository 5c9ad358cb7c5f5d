"""Verdicts on features by refitting: what none can replace, what can be spared, and how few suffice."""

from whynear.verdict.stand_ins import StandIn, StandIns
from whynear.verdict.sufficient import SufficientSets, sufficient_sets
from whynear.verdict.verdicts import Verdicts, verdicts

__all__ = ["StandIn", "StandIns", "SufficientSets", "Verdicts", "sufficient_sets", "verdicts"]
