"""What all preprocessing of spectra shares: it changes each row by itself, in its channels, and keeps other columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from whynear.utils.arrays import Array, Indices
from whynear.utils.text import listed


class SpectralTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer that changes the channels of each row, given in the order of their axis.

    Nothing is learned from other rows, so a row is changed in the same way wherever it stands.

    Parameters
    ----------
    columns : sequence of str or int, optional
        The channels, by name or position, in the order of the axis; all columns for None. Others are kept.

    Attributes
    ----------
    channels_ : ndarray of int
        The positions of the channels.

    Examples
    --------
    >>> from whynear.spectra import StandardNormalVariate
    >>> issubclass(StandardNormalVariate, SpectralTransformer)
    True
    >>> StandardNormalVariate(columns=[0, 1, 2]).fit_transform([[1.0, 2.0, 3.0, 20.0]]).round(2).tolist()
    [[-1.22, 0.0, 1.22, 20.0]]
    """

    columns: Sequence[str] | Sequence[int] | None
    channels_: Indices

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 - a Pipeline passes y to every step
        """Check the parameters and find the channels."""
        validate_data(self, X, dtype=np.float64)
        self.channels_ = self._found_channels()
        self._prepare(len(self.channels_))
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the table with changed channels."""
        check_is_fitted(self)
        values = np.array(validate_data(self, X, dtype=np.float64, reset=False))
        values[:, self.channels_] = self._changed(values[:, self.channels_])
        return values

    def _found_channels(self) -> Indices:
        if self.columns is None:
            return np.arange(self.n_features_in_)
        names = list(getattr(self, "feature_names_in_", []))
        unknown = [
            one
            for one in self.columns
            if not (one in names if isinstance(one, str) else 0 <= int(one) < self.n_features_in_)
        ]
        if unknown:
            raise ValueError(f"columns holds {listed(unknown)}, which X does not have. Give names or positions of X.")
        return np.array([names.index(one) if isinstance(one, str) else int(one) for one in self.columns], dtype=np.intp)

    def _prepare(self, n_channels: int) -> None:
        """Check the parameters for this number of channels, and compute what all rows share."""

    def _changed(self, spectra: Array) -> Array:
        """Return the changed channels of each row."""
        raise NotImplementedError
