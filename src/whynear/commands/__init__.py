"""The commands: one module each, one call into the library."""

from whynear.commands.comparing import compare
from whynear.commands.explaining import explain
from whynear.commands.learning import learn
from whynear.commands.listing import datasets
from whynear.commands.predicting import predict
from whynear.commands.reproducing import reproduce
from whynear.commands.retrieving import retrieve
from whynear.commands.studying import study

__all__ = ["compare", "datasets", "explain", "learn", "predict", "reproduce", "retrieve", "study"]
