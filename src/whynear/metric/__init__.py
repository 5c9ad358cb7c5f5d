"""Metric values: frozen distances with named features, which all interpreters, searches and plots take."""

from whynear.metric.base import Evidence, Metric
from whynear.metric.linear import DiagonalMetric, LinearMetric
from whynear.metric.local import LocalMetric
from whynear.metric.minkowski import MinkowskiMetric
from whynear.metric.monotone import MonotoneMetric

__all__ = [
    "DiagonalMetric",
    "Evidence",
    "LinearMetric",
    "LocalMetric",
    "Metric",
    "MinkowskiMetric",
    "MonotoneMetric",
]
