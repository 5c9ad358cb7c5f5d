"""Learners with one map for all cases are transformers too."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from whynear.learn.inputs import predict_inputs
from whynear.metric import DiagonalMetric, LinearMetric


class MapsCases(TransformerMixin):
    """Gives a learner with a linear or diagonal metric `transform`, after which distances are Euclidean."""

    metric_: Any

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Map cases to the space in which the metric is the Euclidean one: X @ omega.T."""
        cases = predict_inputs(self, X)
        if isinstance(self.metric_, DiagonalMetric):
            return cases * np.sqrt(self.metric_.weights)
        return cases @ self._omega().T

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Names of the mapped coordinates: the features themselves under a weight each, numbered ones otherwise."""
        check_is_fitted(self)
        if input_features is not None and len(np.asarray(input_features)) != self.metric_.n_features:
            raise ValueError(
                f"input_features should have length equal to number of features: {self.metric_.n_features}"
            )
        if isinstance(self.metric_, DiagonalMetric):
            return np.array(self.metric_.feature_names, dtype=object)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(len(self._omega()))], dtype=object)

    def _omega(self) -> NDArray[np.float64]:
        if not isinstance(self.metric_, LinearMetric):
            raise TypeError(
                f"{type(self.metric_).__name__} is not one map for all cases: {type(self).__name__} predicts with it, "
                "but cannot transform."
            )
        return self.metric_.omega
