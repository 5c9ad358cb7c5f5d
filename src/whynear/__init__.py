"""whynear: which features truly decide that two cases are near?"""

from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric, as_metric

__version__ = "0.1.0"

__all__ = ["DiagonalMetric", "LinearMetric", "LocalMetric", "as_metric"]
