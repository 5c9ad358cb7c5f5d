"""Learners: estimators that fit a metric to a labelled table."""

from typing import TYPE_CHECKING

from whynear.learn.registry import homes
from whynear.utils.lazy import make_lazy

__all__ = make_lazy(
    __name__,
    {
        **homes(),
        "whynear.learn.inputs": ("fit_inputs", "predict_inputs"),
        "whynear.learn.minimum_norm": ("MinimumNormRegressor",),
        "whynear.learn.mixins": ("WithMetric",),
        "whynear.learn.registry": ("LEARNERS",),
    },
)

if TYPE_CHECKING:
    from whynear.learn.inputs import fit_inputs as fit_inputs
    from whynear.learn.inputs import predict_inputs as predict_inputs
    from whynear.learn.lann.estimator import LANN as LANN
    from whynear.learn.lmnn.estimator import LMNN as LMNN
    from whynear.learn.lvq.gmlvq import GMLVQ as GMLVQ
    from whynear.learn.lvq.gmlvq import LGMLVQ as LGMLVQ
    from whynear.learn.lvq.grlvq import GRLVQ as GRLVQ
    from whynear.learn.lvq.grlvq import LGRLVQ as LGRLVQ
    from whynear.learn.minimum_norm import MinimumNormRegressor as MinimumNormRegressor
    from whynear.learn.mixins import WithMetric as WithMetric
    from whynear.learn.registry import LEARNERS as LEARNERS
    from whynear.learn.slider.estimator import Slider as Slider
    from whynear.learn.slider.rivals import DIET as DIET
    from whynear.learn.slider.rivals import BackwardElimination as BackwardElimination
    from whynear.learn.slider.rivals import ForwardSelection as ForwardSelection
    from whynear.learn.slider.rivals import LPWeights as LPWeights
