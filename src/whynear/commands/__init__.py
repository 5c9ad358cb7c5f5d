"""The commands beside the study: one module each, one call into the library."""

from whynear.commands.comparing import compare
from whynear.commands.explaining import explain
from whynear.commands.learning import learn
from whynear.commands.listing import datasets
from whynear.commands.predicting import predict
from whynear.commands.retrieving import retrieve

__all__ = ["compare", "datasets", "explain", "learn", "predict", "retrieve"]
