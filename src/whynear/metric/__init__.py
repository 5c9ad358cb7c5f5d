"""Metric values: frozen distances with named features, which all interpreters, searches and plots take."""

from whynear.metric.base import Metric
from whynear.metric.diagonal import DiagonalMetric
from whynear.metric.evidence import Evidence
from whynear.metric.linear import LinearMetric
from whynear.metric.local import LocalMetric
from whynear.metric.minkowski import MinkowskiMetric

__all__ = ["DiagonalMetric", "Evidence", "LinearMetric", "LocalMetric", "Metric", "MinkowskiMetric"]
