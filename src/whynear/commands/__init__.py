"""The commands beside the study: one module each, one call into the library."""

from whynear.commands.learning import learn
from whynear.commands.retrieving import retrieve

__all__ = ["learn", "retrieve"]
