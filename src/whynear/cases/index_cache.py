"""The index of a case base, cached beside it in a file that may be deleted at any time."""

from __future__ import annotations

import contextlib
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from whynear.cases.index import Index, build_index
from whynear.cases.index_file import map_arrays, write_arrays
from whynear.cases.store import Change, Store
from whynear.metric import Metric
from whynear.search.products import GlobalForm, LocalForm, Products
from whynear.utils.files import remove_halves, sync_folder

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
    products = Products(arrays["terms"], arrays["slack"])
    return Index(change, fingerprint, arrays["ids"], arrays.get("places"), form, (products,))
