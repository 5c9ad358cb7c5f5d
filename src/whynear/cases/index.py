"""The index of a case base, and its file."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from whynear.cases.store import Change, Ids, Store, Vectors
from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric, Metric
from whynear.metric.base import finite
from whynear.search.engines import FARTHEST_FACTOR, CaseTerms, GlobalForm, LocalForm, may_be_nearest
from whynear.utils.arrays import Array, Indices
from whynear.utils.files import remove_halves, sync_folder, write_whole
from whynear.utils.threads import row_blocks

# In units of the largest value of a column: far above the rounding to float32, far below any difference that matters.
LARGEST_ROUNDING = 1e-6


class Anchors:
    """Finds cases among the anchors of a local metric, within the rounding of float32.

    Anchors of a Pipeline were scaled and scaled back, so an anchor equals its case only up to rounding. Columns with
    weight zero in all maps are ignored. Of equal anchors the first is matched to the first copy of a case, and so on.
    """

    def __init__(self, metric: LocalMetric) -> None:
        self.n_anchors = len(metric)
        self.seen = metric.relevances().max(axis=0, initial=0.0) > 0
        points, self.group = np.unique(metric.anchors[:, self.seen], axis=0, return_inverse=True)
        self.group = self.group.ravel()
        peaks = np.abs(points).max(axis=0, initial=0.0)
        self.unit = np.where(peaks > 0, peaks, 1.0)
        self.tree = cKDTree(points / self.unit) if points.size else None

    def not_anchors(self, cases: NDArray[np.floating]) -> Indices:
        """Return the rows of cases that are no anchors."""
        return np.flatnonzero(self._groups(cases) < 0)

    def places(self, cases: NDArray[np.floating]) -> Indices:
        """Return the number of the anchor of each case; all cases must be anchors."""
        groups = self._groups(cases)
        members = np.argsort(self.group, kind="stable")
        sizes = np.bincount(self.group)
        starts = np.cumsum(sizes) - sizes
        order = np.argsort(groups, kind="stable")
        sorted_groups = groups[order]
        copy = np.arange(len(groups)) - np.searchsorted(sorted_groups, sorted_groups)
        places = np.empty(len(groups), dtype=np.intp)
        places[order] = members[starts[sorted_groups] + copy % sizes[sorted_groups]]
        return places

    def _groups(self, cases: NDArray[np.floating]) -> Indices:
        if self.tree is None:  # all weights are zero: every case equals every anchor
            return np.zeros(len(cases), dtype=np.intp)
        reach = LARGEST_ROUNDING * (1 + 1e-9)
        distances, found = self.tree.query(
            cases[:, self.seen].astype(np.float64) / self.unit, p=np.inf, distance_upper_bound=reach
        )
        return np.where(np.isfinite(distances), found, -1)


@lru_cache(maxsize=1)
def anchors_of(metric: LocalMetric) -> Anchors:
    """Return the anchors of a metric; the last one is cached, because cases come in batches."""
    return Anchors(metric)


def check_measurable(metric: Metric, cases: NDArray[np.floating], label: str, names: Sequence[int] | Indices) -> None:
    """Refuse cases that a metric cannot measure: too large, or no anchors of a local metric."""
    metric.table(cases)
    if isinstance(metric, LocalMetric) and (others := anchors_of(metric).not_anchors(cases)).size:
        raise ValueError(
            f"The local metric measures distances to its {len(metric)} anchors only, and {len(others)} of "
            f"{len(cases)} cases are no anchors, first {label.format(names[others[0]])}. Use the cases it was learned "
            "on, or a metric with one map for all cases."
        )


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
    """The cases of one state of a base, prepared for one metric."""

    change: Change  # the state of the base
    fingerprint: str  # of the metric
    ids: Ids  # ascending
    places: Indices | None = None  # of the anchors of the cases under a local metric
    form: GlobalForm | LocalForm | None = None  # None where every query is compared with all cases
    products: tuple[CaseTerms, ...] = ()  # of the cases; those of later additions are a second part
    vectors: Vectors | None = None  # of the cases, for a metric without products

    def nearest(self, store: Store, metric: Metric, query: Array, k: int, without: int | None = None) -> Nearest:
        """Return the k nearest cases, or all if there are fewer; of equal distances the lower id comes first."""
        skipped = self.ids == without if without is not None else None
        available = len(self.ids) - (0 if skipped is None else int(skipped.sum()))
        if not available:
            return Nearest(np.empty(0, dtype=np.intp), np.empty(0))
        listed, vectors = self._short_list(metric, query, min(k, available), skipped), None
        if isinstance(metric, LocalMetric):
            assert self.places is not None
            sq = metric.sq_distances_at(query[None], metric.anchors, self.places[listed][None])[0]
        else:
            blocks = self._vectors(store, metric.n_features, listed)
            if 4 * metric.n_features * len(listed) <= MOST_BYTES_KEPT:
                blocks = iter([vectors := np.concatenate(list(blocks))])
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


def _of_blocks(form: GlobalForm, metric: LinearMetric | DiagonalMetric, blocks: list[Vectors]) -> CaseTerms | None:
    """Return the terms of all blocks in one array; each block is freed once it is done."""
    total = sum(map(len, blocks))
    terms, slack, stop = None, np.empty(total, dtype=np.float32), total
    while blocks:
        block = blocks.pop()
        part = form.products(metric, block)
        terms = np.empty((total, part.terms.shape[1]), dtype=np.float32) if terms is None else terms
        rows = slice(stop - len(block), stop)
        terms[rows], slack[rows], stop = part.terms, part.slack, rows.start
    return None if terms is None else CaseTerms(terms, slack)


def _sq_distances(metric: Metric, query: Array, vectors: Vectors) -> Array:
    cases = vectors.astype(np.float64)
    return metric.sq_distances_at(query[None], cases, np.arange(len(cases))[None])[0]


MAGIC = b"whynear index\n"
ALIGNMENT = 64
DTYPES = ("<i8", "<f4", "<f8")
_CHUNK = 16 << 20


def write_arrays(path: Path, key: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Replace the file by the arrays and a key that states what they belong to, in one step."""
    parts = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    checksum = 0
    for part in parts.values():
        checksum = _checksum(part.reshape(-1).view(np.uint8), checksum)
    shapes = {name: [part.dtype.str, list(part.shape)] for name, part in parts.items()}
    description = json.dumps({"key": key, "arrays": shapes, "checksum": checksum}).encode()

    def write(file: IO[bytes]) -> None:
        file.write(MAGIC + len(description).to_bytes(8, "little") + description)
        for part in parts.values():
            file.write(bytes(-file.tell() % ALIGNMENT))
            file.write(part.data)

    write_whole(path, write, sum(part.nbytes for part in parts.values()) + len(description))


def map_arrays(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the key and the read-only arrays; ValueError if the file is damaged."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = len(MAGIC) + 8
    if content[: len(MAGIC)] != MAGIC:
        raise ValueError("it is no index file")
    end = start + int.from_bytes(content[len(MAGIC) : start], "little")
    description = json.loads(content[start:end])
    arrays, checksum = {}, 0
    for name, (dtype, shape) in description["arrays"].items():
        if dtype not in DTYPES or not all(isinstance(size, int) and size >= 0 for size in shape):
            raise ValueError("it does not describe arrays")
        begin = end + -end % ALIGNMENT
        count = int(np.prod(shape, dtype=object))
        arrays[name] = np.frombuffer(content, dtype, count, begin).reshape(shape)
        end = begin + arrays[name].nbytes
        checksum = _checksum(arrays[name].reshape(-1).view(np.uint8), checksum)
    if end != len(content) or checksum != description["checksum"]:
        raise ValueError("its checksum is wrong")
    return description["key"], arrays


def _checksum(data: NDArray[np.uint8], start: int) -> int:
    for begin in range(0, len(data), _CHUNK):
        start = zlib.crc32(data[begin : begin + _CHUNK].data, start)
    return start


# For fewer cases an index is built faster than its file is written.
FEWEST_CASES_KEPT = 10_000
# Share of later additions in memory above which the file is written again.
MOST_ADDED_SHARE = 0.1


class IndexCache:
    """The index in use and its file ``<case base>-index``, which is mapped if it fits the state of the base.

    Later additions are added in memory; when there are many, the file is written again.
    """

    def __init__(self, base: Path) -> None:
        self._base, self.path = base, base.with_name(f"{base.name}-index")
        self._index: Index | None = None

    def current(self, store: Store, change: Change, metric: Metric) -> Index:
        """Return the index of a state of the base: the one in use, the one in the file, or a new one."""
        known = self._index
        if known is not None and known.change == change and known.fingerprint == metric.fingerprint:
            return known
        index = known and known.extended(store, change, metric)
        if index is None and (mapped := self._mapped()) is not None:
            index = mapped.extended(store, change, metric)
        if index is None:
            index = self._kept(build_index(store, change, metric))
        elif len(index.products) > 1:
            first, added = map(len, index.products)
            if added > max(FEWEST_CASES_KEPT, MOST_ADDED_SHARE * first):
                index = self._kept(index.merged())
        self._index = index
        return index

    def forget(self) -> None:
        """Delete the index and its file, which contain coordinates of cases; a power cut does not bring it back."""
        self._index = None
        self._discard()
        sync_folder(self.path.parent)

    def _discard(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
        remove_halves(self.path)

    def _kept(self, index: Index) -> Index:
        """Write the index to its file and return it mapped from there, so that readers share memory."""
        if len(index.ids) < FEWEST_CASES_KEPT:
            return index
        arrays: dict[str, Any] = {"ids": index.ids}
        if index.vectors is not None:
            arrays["vectors"] = index.vectors
        if index.places is not None:
            arrays["places"] = index.places.astype(np.int64)
        if index.form is not None:
            arrays |= {"centre": index.form.centre, "unit": np.atleast_1d(index.form.unit)}
            arrays |= {"terms": index.products[0].terms, "slack": index.products[0].slack}
        try:
            if not self.path.exists():  # the cache gets the permissions of the base
                os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, os.stat(self._base).st_mode & 0o777))
            write_arrays(self.path, {**asdict(index.change), "fingerprint": index.fingerprint}, arrays)
        except OSError:  # the disk is full or cannot be written: keep the index in memory
            self._discard()
            return index
        return self._mapped() or index

    def _mapped(self) -> Index | None:
        """Return the index in the file; None if there is none or it is damaged."""
        try:
            key, arrays = map_arrays(self.path)
            fingerprint = key.pop("fingerprint")
            return _index_of(Change(**key), fingerprint, arrays)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            return None


def _index_of(change: Change, fingerprint: str, arrays: dict[str, Any]) -> Index:
    if "terms" not in arrays:
        return Index(change, fingerprint, arrays["ids"], arrays.get("places"), vectors=arrays.get("vectors"))
    unit = arrays["unit"]
    form = LocalForm(arrays["centre"], unit) if "places" in arrays else GlobalForm(arrays["centre"], float(unit[0]))
    products = CaseTerms(arrays["terms"], arrays["slack"])
    return Index(change, fingerprint, arrays["ids"], arrays.get("places"), form, (products,))
