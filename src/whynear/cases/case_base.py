"""A case base: cases in a file, retrieved by a learned metric and re-ranked by a better similarity."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import RLock
from time import perf_counter
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from whynear.cases.index import IndexCache, check_measurable
from whynear.cases.inputs import (
    RowEncoding,
    as_stored,
    case_table,
    checked_ids,
    encoder_of,
    fitting_metric,
    payload_texts,
    query_case,
    row_names,
)
from whynear.cases.retrieval import Cases, Filtered, Rerank, Retrieval, answer
from whynear.cases.store import Change, Ids, Store, Vectors
from whynear.data.encoder import TableEncoder
from whynear.metric import Metric
from whynear.utils.arrays import Array
from whynear.utils.checks import number, whole
from whynear.utils.text import counted


class CaseBase:
    """Cases in a file, retrieved in two phases: filtered by a metric, re-ranked by an expensive similarity.

    Parameters
    ----------
    path : path
        The file. If it does not exist it is made, which needs a metric.
    metric : metric, fitted learner or Pipeline, optional
        The metric; its features are the columns of a new base. If it is a Pipeline that starts with a `TableEncoder`,
        the base takes rows of the table before that, with categories and missing values. In an existing base it
        replaces the stored one (`set_metric`).
    timeout : float, default=10.0
        Seconds to wait while another process writes.

    Attributes
    ----------
    columns : tuple of str
        The columns of a case: those that the encoder takes; without one, the features of the metric.
    encoder : TableEncoder or None
        What turns cases and queries into the features of the metric; None if they are numbers. It never changes.
    metric : Metric
        The current metric.
    generation : int
        A number that every change increases.

    Notes
    -----
    The file is an SQLite database in WAL mode, and all data are in it. A change is a transaction: when `add`, `remove`
    or `set_metric` return, it is on the disk; before that no reader reads any of it, and if the process is killed none
    of it remains. Any number of processes may read while one writes. A second writer waits, then raises an error that
    names the first. Open the base separately in each process. Every case has checksums, which are compared when it is
    read: a case that a disk or another program changed raises an error.

    Vectors are stored in float32, and distances are those of the stored values: `retrieve` returns exactly the nearest
    ones in float64, equal distances in the order of ids. The search uses a cache beside the file (``<path>-index``),
    which is checked by the state of the base and a checksum and made again if it is missing, outdated or damaged.

    A base that was made with a model behind a `TableEncoder` stores this encoder, and what it makes of each case. It
    encodes queries in the same way and sums contributions for each column of the table. It takes other metrics of the
    same features, but no model with another encoder. Cases that `get` and `blocks` return are encoded.

    A local metric measures distances to its anchors only, each by the map of the anchor. So the cases of a base under
    such a metric must be its anchors, which for LANN are its training cases; others are refused.

    References
    ----------
    Gopal, Ioerger: Distance metric learning through optimization of ranking.

    Examples
    --------
    >>> import tempfile
    >>> from whynear.metric import DiagonalMetric
    >>> folder = tempfile.TemporaryDirectory()
    >>> base = CaseBase(f"{folder.name}/flowers.cases", DiagonalMetric([1.0, 4.0], ["length", "width"]))
    >>> base.add([[5.0, 1.0], [6.0, 2.0], [5.0, 2.0]], [{"name": "a"}, {"name": "b"}, {"name": "c"}])
    array([1, 2, 3])
    >>> found = base.retrieve({"width": 2.0, "length": 5.5}, k=2, explain=True)
    >>> found.frame()
       id row  sq_distance        payload
    0   2   2         0.25  {'name': 'b'}
    1   3   3         0.25  {'name': 'c'}
    >>> found.contributions.loc[2].to_dict()
    {'length': 0.25, 'width': 0.0}
    >>> by_name = base.retrieve([5.0, 1.0], k=1, filter_k=3, rerank=lambda query, cases, payloads: cases["width"])
    >>> by_name.payloads, by_name.similarities
    ([{'name': 'c'}], array([2.]))
    >>> base.close()
    >>> folder.cleanup()
    """

    path: Path
    columns: tuple[str, ...]
    encoder: TableEncoder | None

    def __init__(
        self,
        path: str | os.PathLike[str],
        metric: Metric | BaseEstimator | None = None,
        *,
        timeout: float = 10.0,
    ) -> None:
        self.path = Path(path)
        value = None if metric is None else fitting_metric(metric, None)
        self._lock = RLock()
        encoder = None if metric is None else encoder_of(metric)
        self._store = Store(self.path, value, number("timeout", timeout), encoder)
        self._index = IndexCache(self.path)
        try:
            with self._store.reading():
                self._metric = self._store.metric()
                self._features = self._metric.feature_names
                self.encoder = self._store.encoder(self._features)
            self._encoding = None if self.encoder is None else RowEncoding(self.encoder)
            self.columns = self._features if self._encoding is None else self._encoding.columns
            if metric is not None:
                self.set_metric(metric)
        except BaseException:
            self.close()
            raise

    def add(
        self, X: ArrayLike | pd.DataFrame, payloads: Sequence[Mapping[str, Any]] | None = None, *, what: str = "X"
    ) -> Ids:
        """Add cases, all or none of them; they are on the disk when this returns.

        Parameters
        ----------
        X : array-like of shape (n_cases, n_columns)
            The cases; named columns in any order. The index of a DataFrame, unless it is the default one, holds the
            names of the rows, which `retrieve` returns. A case without a name is called by its id. A base with an
            encoder also takes the columns that this makes.
        payloads : sequence of dict, optional
            A dict to store with each case, of values that JSON returns unchanged.
        what : str, default="X"
            What the cases are called in errors.

        Returns
        -------
        ids : ndarray of shape (n_cases,)
            Ascending, never used again, and never changed.
        """
        made = X if self._encoding is None else self._encoding.numbers(X, what)
        vectors = as_stored(case_table(made, self._features, what), self._features)
        texts = payload_texts(payloads, len(vectors))
        if not len(vectors):
            return np.empty(0, dtype=np.int64)
        with self._viewing(vectors.nbytes + sum(len(text or "") for text in texts)) as before:
            check_measurable(self._metric, vectors, "row {} of X", range(len(vectors)))
            return self._store.insert(before, vectors, texts, row_names(X))

    def retrieve(
        self,
        query: Any,
        k: int = 10,
        filter_k: int | None = None,
        rerank: Rerank | None = None,
        explain: bool = False,
    ) -> Retrieval:
        """Find the cases for a query.

        Parameters
        ----------
        query : dict, Series, DataFrame of one row, or array-like of shape (n_columns,)
            The case to find others for; named values in any order. The encoder of the base fills in missing values.
        k : int, default=10
            How many cases to return; fewer if the base has fewer.
        filter_k : int, optional
            How many of the nearest are passed to ``rerank``; without it 1% of the base, at least k.
        rerank : callable, optional
            ``rerank(query, cases, payloads)`` gets the query as a Series, the cases that passed the filter as a
            DataFrame with their ids as index, and their payloads; it returns their similarities to the query, larger
            ones being better. Both are in the features of the metric: encoded, if the base has an encoder. Without it
            the nearest cases are returned in the order of distance.
        explain : bool, default=False
            Whether to return what each column adds to each squared distance.

        Returns
        -------
        Retrieval
        """
        made, unusual = (query, ()) if self._encoding is None else self._encoding.query(query)
        found = self._retrieve(query_case(made, self._features), None, k, filter_k, rerank, explain)
        return replace(found, unusual=unusual)

    def like(
        self,
        id: int,
        k: int = 10,
        filter_k: int | None = None,
        rerank: Rerank | None = None,
        explain: bool = False,
    ) -> Retrieval:
        """Find the cases nearest to a stored one, without itself; otherwise as `retrieve`."""
        case = whole("id", id, 0)
        with self._viewing():
            query = self._store.cases.vectors(np.array([case]), len(self._features))[0].astype(np.float64)
        return self._retrieve(query, case, k, filter_k, rerank, explain)

    def get(self, ids: ArrayLike) -> Cases:
        """Return the cases with these ids, in this order."""
        wanted = checked_ids(ids)
        with self._viewing():
            return self._cases(wanted)

    def id_of(self, row: int | str) -> int:
        """Return the id of the case whose row has this name; an error unless there is exactly one."""
        with self._viewing():
            return self._store.cases.id_of(row)

    def blocks(self, size: int = 8192) -> Iterator[Cases]:
        """Yield all cases in blocks, by ascending id; changes made meanwhile appear in later blocks."""
        size, last, n_read, began = whole("size", size, 1), 0, 0, None
        while True:
            with self._viewing() as change:
                began = began or change
                ids = self._store.cases.next_ids(last, size)
                if not len(ids):
                    if change == began:
                        self._store.check_complete(change, n_read)
                    return
                cases = self._cases(ids)
            yield cases
            last, n_read = int(ids[-1]), n_read + len(ids)

    def remove(self, ids: ArrayLike) -> None:
        """Remove cases, all or none of them, from the cache too; `compact` erases their bytes in the file."""
        wanted = np.unique(checked_ids(ids))
        if not len(wanted):
            return
        with self._viewing(needed=0) as before:
            self._store.cases.vectors(wanted, len(self._features))
            self._store.delete(before, wanted)
        self._index.forget()

    def set_metric(self, metric: Metric | BaseEstimator) -> None:
        """Replace the metric; the cases are unchanged, the index of the search is made again.

        Its features must be those of the base, in any order; a metric without names is matched by place. A model with
        another encoder than that of the base is refused.
        """
        if self._encoding is not None:
            self._encoding.check(encoder_of(metric))
        value = fitting_metric(metric, self._features)
        if value == self.metric:
            return
        with self._viewing(needed=0) as before:
            for ids, vectors in self._store.cases.vectors_after(0, len(self._features)):
                check_measurable(value, vectors, "the stored case {}", ids)
            self._store.put_metric(before, value)
        self._metric = value

    def check(self) -> int:
        """Read the whole file; return how many cases are what was stored by their checksums. An error names a fault.

        Files made before version 0.2 have no checksums: their parts must fit together, and 0 is returned.
        """
        with self._viewing() as change:
            return self._store.check(change, len(self._features))

    def compact(self) -> None:
        """Free the disk space of removed cases."""
        with self._lock:
            self._store.database.compact()

    def close(self) -> None:
        """Close the file. Without it no data are lost."""
        with self._lock:
            self._store.close()

    @property
    def metric(self) -> Metric:
        """The current metric, which another process may have changed."""
        with self._viewing():
            return self._metric

    @property
    def generation(self) -> int:
        """A number that every change increases."""
        with self._viewing() as change:
            return change.generation

    def __len__(self) -> int:
        with self._viewing() as change:
            return change.n_cases

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"CaseBase({str(self.path)!r}, {counted(len(self.columns), 'column')}, {type(self._metric).__name__})"

    def _retrieve(
        self, query: Array, case: int | None, k: int, filter_k: int | None, rerank: Rerank | None, explain: bool
    ) -> Retrieval:
        k = whole("k", k, 1)
        filter_k = None if filter_k is None else whole("filter_k", filter_k, k, "k")
        start = perf_counter()
        with self._viewing() as change:
            metric = self._metric
            metric.rows(query, "query")  # refuses what cannot be measured
            n_filtered = k if rerank is None else filter_k or max(k, -(-change.n_cases // 100))
            index = self._index.current(self._store, change, metric)
            near = index.nearest(self._store, metric, query, n_filtered, without=case)
            cases = self._cases(index.ids[near.positions], near.vectors)
        places = None if index.places is None else index.places[near.positions]
        named = pd.Series(query, index=list(self._features), name=case)
        seconds = perf_counter() - start
        filtered = Filtered(named, cases, near.sq_distances, metric, places, seconds, self._encoding)
        return answer(filtered, k, rerank, explain)

    def _cases(self, ids: Ids, vectors: Vectors | None = None) -> Cases:
        vectors = self._store.cases.vectors(ids, len(self._features)) if vectors is None else vectors
        X = pd.DataFrame(vectors.astype(np.float64), index=pd.Index(ids, name="id"), columns=list(self._features))
        return Cases(X, *self._store.cases.details(ids))

    @contextmanager
    def _viewing(self, needed: int | None = None) -> Iterator[Change]:
        """Open a view of one state of the base; with ``needed`` bytes, a transaction that changes it."""
        with self._lock, self._store.reading() if needed is None else self._store.writing(needed) as change:
            if not self._store.holds(self._metric):
                self._metric = self._store.metric()
            yield change
