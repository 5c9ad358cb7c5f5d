"""Search among stored cases: a short list by products in float32, then exact distances in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.cases.anchors import anchors_of
from whynear.cases.case_rows import Ids, Vectors
from whynear.cases.store import Change, Store
from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric, Metric
from whynear.metric.base import finite
from whynear.search.products import GlobalForm, LocalForm, Products, may_be_nearest
from whynear.search.rounding import FARTHEST_FACTOR
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import row_blocks

# Up to this size the vectors read for a short list are kept and returned, so that they are read once.
MOST_BYTES_KEPT = 64 << 20


@dataclass(frozen=True, eq=False)
class Nearest:
    """Positions in an index and squared distances, nearest first; and the vectors if they were kept."""

    positions: Indices
    sq_distances: Array
    vectors: Vectors | None = None


@dataclass(frozen=True, eq=False)
class Index:
    """The cases of one state of a base, prepared for one metric.

    Attributes
    ----------
    change, fingerprint
        The state of the base and the metric.
    ids : ndarray of shape (n_cases,)
        The ids of the cases, ascending.
    places : ndarray of shape (n_cases,) or None
        The numbers of their anchors under a local metric.
    form : GlobalForm, LocalForm or None
        Origin and units of the products; None where every query is compared with all cases.
    products : tuple of Products
        The terms of the cases; those of later additions are a second part.
    vectors : ndarray of shape (n_cases, n_features) or None
        The cases themselves, for a metric without products.
    """

    change: Change
    fingerprint: str
    ids: Ids
    places: Indices | None = None
    form: GlobalForm | LocalForm | None = None
    products: tuple[Products, ...] = ()
    vectors: Vectors | None = None

    def nearest(self, store: Store, metric: Metric, query: Array, k: int, without: int | None = None) -> Nearest:
        """Return the k nearest cases, or all if there are fewer; of equal distances the lower id comes first."""
        skipped = self.ids == without if without is not None else None
        available = len(self.ids) - (0 if skipped is None else int(skipped.sum()))
        if not available:
            return Nearest(np.empty(0, dtype=np.intp), np.empty(0))
        listed = self._short_list(metric, query, min(k, available), skipped)
        vectors = None
        if isinstance(metric, LocalMetric):
            assert self.places is not None
            sq = metric.sq_distances_at(query[None], metric.anchors, self.places[listed][None])[0]
        elif 4 * metric.n_features * len(listed) <= MOST_BYTES_KEPT:
            vectors = np.concatenate(list(self._vectors(store, metric.n_features, listed)))
            sq = _sq_distances(metric, query, vectors)
        else:
            blocks = self._vectors(store, metric.n_features, listed)
            sq = np.concatenate([_sq_distances(metric, query, block) for block in blocks])
        order = np.lexsort((listed, finite(sq)))[:k]
        return Nearest(listed[order], sq[order], None if vectors is None else vectors[order])

    def extended(self, store: Store, change: Change, metric: Metric) -> Index | None:
        """Return the index of a later state of the same base; None if it must be built again."""
        if self.fingerprint != metric.fingerprint or not store.only_added_since(self.change):
            return None
        if change.last_id == self.change.last_id:
            return replace(self, change=change)
        if not isinstance(self.form, GlobalForm) or not isinstance(metric, LinearMetric | DiagonalMetric):
            return None
        added = list(store.cases.vectors_after(self.change.last_id, metric.n_features))
        ids = np.concatenate([self.ids, *(ids for ids, _ in added)])
        store.check_complete(change, len(ids))
        terms = _of_blocks(self.form, metric, [vectors for _, vectors in added])
        if terms is None or np.abs(terms.terms).max() > FARTHEST_FACTOR:
            return None
        first, *later = self.products
        return replace(self, change=change, ids=ids, products=(first, later[0].joined(terms) if later else terms))

    def merged(self) -> Index:
        """Return the same index with the terms in one part."""
        first, *later = self.products
        return replace(self, products=(first.joined(later[0]),)) if later else self

    def _short_list(self, metric: Any, query: Array, k: int, skipped: NDArray[np.bool_] | None) -> Indices:
        factors = self.form.factors(metric, query) if self.form is not None else None
        if factors is None:
            return np.arange(len(self.ids)) if skipped is None else np.flatnonzero(~skipped)
        parts = [part.scores(*factors) for part in self.products]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        slack = self.products[0].slack if len(parts) == 1 else np.concatenate([part.slack for part in self.products])
        if skipped is not None:
            scores[skipped] = np.inf
        return may_be_nearest(scores, slack, len(factors[0]), k)

    def _vectors(self, store: Store, n_features: int, listed: Indices) -> Iterator[Vectors]:
        if self.vectors is None and len(listed) == len(self.ids):
            yield from (vectors for _, vectors in store.cases.vectors_after(0, n_features))
            return
        for rows in row_blocks(len(listed), row_bytes=4 * n_features, budget=8 << 20):
            if self.vectors is None:
                yield store.cases.vectors(self.ids[listed[rows]], n_features)
            else:
                yield self.vectors[listed[rows]]


def build_index(store: Store, change: Change, metric: Metric) -> Index:
    """Return the index of all cases. Memory: the vectors and the terms in float32."""
    blocks = list(store.cases.vectors_after(0, metric.n_features))
    ids = np.concatenate([np.empty(0, dtype=np.int64), *(ids for ids, _ in blocks)])
    store.check_complete(change, len(ids))
    vectors = [block for _, block in blocks]
    del blocks
    index = Index(change, metric.fingerprint, ids)
    if not len(ids):
        return index
    if isinstance(metric, LocalMetric):
        places = anchors_of(metric).places(np.concatenate(vectors))
        if metric.weights is None:
            return replace(index, places=places)
        form = LocalForm.fitting(metric)
        return replace(index, places=places, form=form, products=(form.products(metric, places),))
    if isinstance(metric, LinearMetric | DiagonalMetric):
        shape = GlobalForm.fitting(metric, vectors)
        terms = _of_blocks(shape, metric, vectors)
        return replace(index, form=shape, products=() if terms is None else (terms,))
    return replace(index, vectors=np.concatenate(vectors))


def _of_blocks(form: GlobalForm, metric: LinearMetric | DiagonalMetric, blocks: list[Vectors]) -> Products | None:
    """Return the terms of all blocks in one array; each block is freed once it is done."""
    total = sum(map(len, blocks))
    terms, slack, stop = None, np.empty(total, dtype=np.float32), total
    while blocks:
        block = blocks.pop()
        part = form.products(metric, block)
        terms = np.empty((total, part.terms.shape[1]), dtype=np.float32) if terms is None else terms
        rows = slice(stop - len(block), stop)
        terms[rows], slack[rows], stop = part.terms, part.slack, rows.start
    return None if terms is None else Products(terms, slack)


def _sq_distances(metric: Metric, query: Array, vectors: Vectors) -> Array:
    cases = vectors.astype(np.float64)
    return metric.sq_distances_at(query[None], cases, np.arange(len(cases))[None])[0]
