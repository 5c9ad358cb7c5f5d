"""Learners: estimators that fit a metric to a labelled table."""

from typing import TYPE_CHECKING

from whynear.learn.registry import homes
from whynear.utils.lazy import make_lazy

__all__ = make_lazy(
    __name__,
    {
        **homes(),
        "whynear.learn.inputs": ("fit_inputs", "predict_inputs"),
        "whynear.learn.mixins": ("WithMetric",),
        "whynear.learn.registry": ("LEARNERS", "STUDIED"),
    },
)

if TYPE_CHECKING:
    from whynear.learn.inputs import fit_inputs as fit_inputs
    from whynear.learn.inputs import predict_inputs as predict_inputs
    from whynear.learn.minimum_norm import MinimumNormRegressor as MinimumNormRegressor
    from whynear.learn.mixins import WithMetric as WithMetric
    from whynear.learn.registry import *  # noqa: F403 - the learners, named for type checkers once
