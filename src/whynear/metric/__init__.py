"""Metric values: frozen distances with named features that every later step takes."""

from whynear.metric.adapt import as_metric
from whynear.metric.base import Metric
from whynear.metric.candidates import CandidateSearch
from whynear.metric.diagonal import DiagonalMetric
from whynear.metric.encoder import TableEncoder
from whynear.metric.evidence import Evidence
from whynear.metric.files import load, register, save
from whynear.metric.linear import LinearMetric
from whynear.metric.local import LocalMetric
from whynear.metric.minkowski import MinkowskiMetric
from whynear.metric.neighbors import NeighborSearch

__all__ = [
    "CandidateSearch",
    "DiagonalMetric",
    "Evidence",
    "LinearMetric",
    "LocalMetric",
    "Metric",
    "MinkowskiMetric",
    "NeighborSearch",
    "TableEncoder",
    "as_metric",
    "load",
    "register",
    "save",
]
