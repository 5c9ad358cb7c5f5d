"""The papers' tables and figures: what they print as data, and the runner that makes ours beside them."""

from whynear.reproduce.catalog import EXPERIMENTS, names_of
from whynear.reproduce.flow import reproduce
from whynear.reproduce.outcome import Line, Outcome

__all__ = ["EXPERIMENTS", "Line", "Outcome", "names_of", "reproduce"]
