"""Predictions for Dask collections, partition by partition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from whynear.distributed.partitions import partitions_of, shared, task, with_whole_rows
from whynear.metric.steps import estimators_of


def predict(model: Any, X: Any) -> Any:
    """Predict the rows of a Dask collection; nothing is computed before the result is.

    Parameters
    ----------
    model : fitted learner or Pipeline
        Any that predicts tables in memory. A Dask client sends it to its workers once.
    X : Dask array, Dask DataFrame, or list of delayed partitions
        The cases, in the columns the model was fitted on.

    Returns
    -------
    Dask array, or Dask Series for a DataFrame
        The predictions, in the partitions of X and with its index.

    Examples
    --------
    >>> import dask.array as da
    >>> from whynear import GRLVQ
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> predict(GRLVQ().fit(X, y), da.from_array(X, chunks=(50, 4))).compute()[:5]
    array([0, 0, 0, 0, 0])
    """
    check_is_fitted(model)
    parts = partitions_of(X)
    classes = getattr(estimators_of(model)[-1], "classes_", None)
    dtype = np.dtype(np.float64) if classes is None else classes.dtype
    held = shared(model)
    if hasattr(X, "divisions"):
        meta = pd.Series(np.empty(0, dtype=dtype), index=X._meta.index[:0], name="prediction")
        return X.map_partitions(_predicted_series, held, kind=dtype, meta=meta)
    import dask.array as da

    if isinstance(X, da.Array):
        return with_whole_rows(X).map_blocks(
            _predicted, model=held, kind=dtype, dtype=dtype, drop_axis=1, meta=np.empty(0, dtype)
        )
    found = [task(_predicted, part, held, kind=dtype) for part in parts]
    arrays = [da.from_delayed(each, (np.nan,), dtype=dtype) for each in found]
    return da.concatenate(arrays, allow_unknown_chunksizes=True)


def _predicted(X: Any, model: Any, kind: np.dtype[Any]) -> NDArray[Any]:
    return np.asarray(model.predict(X), dtype=kind) if len(X) else np.empty(0, dtype=kind)


def _predicted_series(X: pd.DataFrame, model: Any, kind: np.dtype[Any]) -> pd.Series[Any]:
    return pd.Series(_predicted(X, model, kind), index=X.index, name="prediction")
