"""Metric values: frozen distances with named features that every later step takes."""

from whynear.metric.adapt import as_metric
from whynear.metric.base import Metric
from whynear.metric.diagonal import DiagonalMetric
from whynear.metric.linear import LinearMetric
from whynear.metric.local import LocalMetric

__all__ = ["DiagonalMetric", "LinearMetric", "LocalMetric", "Metric", "as_metric"]
