"""The public conformance kit: what a metric and a learner must do to belong here."""

from whynear.testing.learner import check_learner
from whynear.testing.metric import check_metric

__all__ = ["check_learner", "check_metric"]
