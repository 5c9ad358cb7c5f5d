"""The public conformance kit: checks for metrics and learners of this library."""

from whynear.testing.learner import check_learner
from whynear.testing.metric import check_metric

__all__ = ["check_learner", "check_metric"]
