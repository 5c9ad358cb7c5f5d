"""Learning from Dask collections, and predicting them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from whynear.large.block_fits import RemoteBlocks, RemotePairs, classes_of, labelled
from whynear.large.local_metrics import RegionalTraining
from whynear.large.partitions import (
    computed_where_kept,
    paired_partitions,
    partitions_of,
    read_table,
    shared,
    task,
    with_whole_rows,
)
from whynear.large.pipeline_steps import fit_step, transformed
from whynear.learn.inputs import weighed
from whynear.learn.minimum_norm import kept_step
from whynear.learn.registry import LEARNERS, Traits
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


Model = TypeVar("Model")
Pairs = Sequence[tuple[Any, Any]]


def fit(model: Model, X: Any, y: Any) -> Model:
    """Fit a learner, or a Pipeline that ends in one, to a table in partitions.

    The partitions are read once and stay on the workers of the current Dask client, in their own number format; without
    a client they are read in this process. Only sums over their rows come back, in the order of the partitions, so that
    a fit repeats. A partition that is lost with its worker is read again.

    Parameters
    ----------
    model : GRLVQ, GMLVQ, LGRLVQ, LGMLVQ, LMNN, LANN, MinimumNormRegressor, or a Pipeline ending in one
        The learner. LMNN and LANN keep all cases: those must fit into the memory of this process, and for LMNN of each
        worker. Steps before it may be TableEncoder, StandardScaler, MinMaxScaler, MaxAbsScaler, VarianceThreshold,
        SimpleImputer, OneHotEncoder and NullSpaceProjector.
    X : Dask array, Dask DataFrame, or list of delayed partitions
        The training cases.
    y : Dask array, Dask Series, or list of delayed partitions
        Their targets, in the same partitions.

    Returns
    -------
    model
        The same object, fitted as its method ``fit`` would fit it to all rows, but for rounding. Of more than 100,000
        rows, LANN learns its settings and common weights from 30,000, and the cases' own metrics in regions of the
        space, each of which takes some rows across its borders.

    Notes
    -----
    The same partitions give the same bits, whatever the number of workers. Another cut into partitions rounds sums in
    another way, which a descent of many iterations can enlarge where optima are close to each other.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from whynear import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> fit(GRLVQ(), da.from_array(X, chunks=(50, 4)), da.from_array(y, chunks=50)).prototypes_.shape
    (3, 4)
    """
    pairs = paired_partitions(X, y)
    *steps, learner = estimators_of(model)
    fit_learner = _fit_of(learner)
    for step in steps:
        parts, targets = zip(*pairs, strict=True)
        fit_step(step, parts, targets)
        pairs = list(zip(transformed(step, parts), targets, strict=True))
    fit_learner(learner, pairs)
    return model


def _fit_quantizer(learner: Any, pairs: Pairs) -> None:
    table = read_table(learner, pairs, classes=True)
    learner.fit_blocks(RemoteBlocks.of(learner, table, learner.class_weight))


def _fit_margins(learner: Any, pairs: Pairs) -> None:
    learner.fit_labelled(labelled(learner, read_table(learner, pairs, classes=True, named=True)), RemotePairs())


def _fit_local(learner: Any, pairs: Pairs) -> None:
    table = read_table(learner, pairs, classes=True, named=True)
    training = RegionalTraining(table, classes_of(learner, table)[1])
    learner.fit_labelled(weighed(labelled(learner, table), learner.class_weight), training)


def _fit_regressor(learner: Any, pairs: Pairs) -> None:
    table = read_table(learner, pairs, classes=False, named=True)
    step, names = kept_step(table.n_rows), table.row_names()
    learner.case_places_ = np.arange(0, table.n_rows, step)
    learner.cases_, learner.targets_ = table.gathered(step)
    learner.row_names_ = None if names is None else names[::step]

    def on_blocks(work: Callable[..., Any], *args: Any) -> list[Any]:
        return computed_where_kept(_on_rows, table.blocks, [{"work": work, "args": args}] * len(table.blocks))

    learner.fit_sums(on_blocks, table.names)


def _on_rows(block: Any, work: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    X, targets, _ = block
    return work(np.column_stack([X, targets]).astype(np.float64, copy=False), None, *args)


FITS: dict[str, Callable[[Any, Pairs], None]] = {
    "sums": _fit_quantizer,
    "pairs": _fit_margins,
    "regions": _fit_local,
    "squares": _fit_regressor,
}


def _fit_of(learner: Any) -> Callable[[Any, Pairs], None]:
    by = getattr(learner, "traits", Traits()).partitions
    if by is None:
        known = [kind.__name__ for kind in LEARNERS.values() if kind.traits.partitions]
        raise TypeError(
            f"{type(learner).__name__} cannot be fitted to partitions. Use {', '.join(known)} or MinimumNormRegressor, "
            "or fit it to a sample in memory."
        )
    if getattr(learner, "solver", "lbfgs") != "lbfgs":
        raise ValueError(
            f"solver={learner.solver!r} draws rows at random, which partitions do not allow. Use solver='lbfgs'."
        )
    return FITS[by]
