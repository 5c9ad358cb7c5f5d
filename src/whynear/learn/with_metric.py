"""Predicting with another metric than the one that was learned."""

import copy
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from whynear.metric import as_metric
from whynear.metric.inputs import check_same_columns


class WithMetric:
    """Gives a learner `with_metric`."""

    metric_: Any

    def with_metric(self, metric: Any) -> Self:
        """Return a copy of the fitted learner that predicts with a regularized, averaged or any other metric.

        Parameters
        ----------
        metric : metric, fitted learner or Pipeline
            Its features must be those of the learner. A metric stated in the columns before a scaler is taken back to
            the coordinates the learner sees.
        """
        check_is_fitted(self)
        value = as_metric(metric).as_learned()
        expected = self.metric_.n_features
        if value.n_features != expected:
            raise ValueError(f"metric must have the {expected} features of the learner, got {value.n_features}.")
        if set(value.feature_names) == set(self.metric_.feature_names):
            check_same_columns(value.feature_names, self.metric_.feature_names, "metric")
        twin = copy.copy(self)
        twin.metric_ = value
        return twin
