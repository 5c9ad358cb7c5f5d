"""The tables of a case base: its cases, its metric and the history of its states."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.cases.database import Database
from whynear.cases.store_faults import CaseBaseError
from whynear.metric import Metric
from whynear.metric.base import rebuild
from whynear.metric.files import METRICS

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]

FORMAT = 1
SCHEMA = (
    # The vector comes first, so that reading it does not read the pages of a long payload.
    "CREATE TABLE cases (id INTEGER PRIMARY KEY, vector BLOB NOT NULL, payload TEXT)",
    "CREATE TABLE changes (generation INTEGER PRIMARY KEY, stamp TEXT NOT NULL, last_id INTEGER NOT NULL, "
    "n_cases INTEGER NOT NULL)",
    "CREATE TABLE metric (kind TEXT NOT NULL, fingerprint TEXT NOT NULL, columns TEXT NOT NULL)",
    "CREATE TABLE metric_arrays (name TEXT PRIMARY KEY, shape TEXT NOT NULL, content BLOB NOT NULL)",
)
# Made with the first case whose row has another name than its id: older files do without this table.
ROW_NAMES = "CREATE TABLE IF NOT EXISTS row_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
CASES_AT_ONCE = 8192  # in one read
IDS_AT_ONCE = 900  # in one statement


@dataclass(frozen=True)
class Change:
    """The state after a transaction: its number, a random stamp, the highest id ever used, the number of cases."""

    generation: int
    stamp: str
    last_id: int
    n_cases: int


class Store:
    """Reads and changes the tables. All methods after ``writing`` must be called within ``reading`` or ``writing``."""

    def __init__(self, path: Path, metric: Metric | None, timeout: float) -> None:
        """Open the file; if it does not exist and a metric is given, make it."""
        if metric is not None:
            _check_storable(metric)
        self.path = path
        self.database = Database(path, may_create=metric is not None, timeout=timeout)
        try:
            if self.database.is_empty():
                self._create(metric)
            self.database.check_mark(FORMAT)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self.database.close()

    @contextmanager
    def reading(self) -> Iterator[Change]:
        """Open a view of one state, which writers do not change meanwhile."""
        with self.database.reading():
            yield self._last_change()

    @contextmanager
    def writing(self, needed: int = 0) -> Iterator[Change]:
        """Open a transaction and yield the state before it; it is on the disk when this ends, undone by an error."""
        with self.database.writing(needed):
            yield self._last_change()

    def only_added_since(self, change: Change) -> bool:
        """Return whether cases were only added since that state: all its cases still exist with their ids."""
        query = "SELECT 1 FROM changes WHERE generation = ? AND stamp = ?"
        return self.database.first(query, (change.generation, change.stamp)) is not None

    def insert(
        self, before: Change, vectors: Vectors, payloads: Sequence[str | None], names: Sequence[Any] | None = None
    ) -> Ids:
        """Add cases; their ids follow the highest id ever used, and are their names unless others are given."""
        ids = np.arange(before.last_id + 1, before.last_id + 1 + len(vectors))
        rows = zip(ids.tolist(), map(np.ndarray.tobytes, vectors), payloads, strict=True)
        self.database.execute_many("INSERT INTO cases VALUES (?, ?, ?)", rows)
        if others := [pair for pair in zip(ids.tolist(), names or (), strict=False) if pair[0] != pair[1]]:
            self.database.execute(ROW_NAMES)
            named = ((case, json.dumps(name)) for case, name in others)
            self.database.execute_many("INSERT INTO row_names VALUES (?, ?)", named)
        self._record(before, n_added=len(ids))
        return ids

    def delete(self, before: Change, ids: Ids) -> None:
        """Remove cases."""
        for table in ("cases", "row_names") if self._has_names() else ("cases",):
            self.database.execute_many(f"DELETE FROM {table} WHERE id = ?", ((case,) for case in ids.tolist()))
        self.database.execute("DELETE FROM changes")  # from no earlier state were cases only added
        self._record(before, n_added=-len(ids))

    def put_metric(self, before: Change, metric: Metric) -> None:
        """Replace the metric."""
        _check_storable(metric)
        for table in ("metric", "metric_arrays"):
            self.database.execute(f"DELETE FROM {table}")
        description = (type(metric).__name__, metric.fingerprint, json.dumps(metric.feature_names))
        self.database.execute("INSERT INTO metric VALUES (?, ?, ?)", description)
        for name, array in metric.arrays().items():
            row = (name, json.dumps(array.shape), array.astype("<f8").tobytes())
            self.database.execute("INSERT INTO metric_arrays VALUES (?, ?, ?)", row)
        self._record(before, n_added=0)

    def fingerprint(self) -> str:
        """Return the fingerprint of the current metric."""
        return str(self.database.first("SELECT fingerprint FROM metric")[0])

    def metric(self) -> Metric:
        """Return the current metric, checked by its fingerprint."""
        kind, fingerprint, columns = self.database.first("SELECT kind, fingerprint, columns FROM metric")
        try:
            arrays = {
                name: np.frombuffer(content, dtype="<f8").reshape(json.loads(shape))
                for name, shape, content in self.database.execute("SELECT name, shape, content FROM metric_arrays")
            }
            metric = rebuild(METRICS[kind], json.loads(columns), arrays)
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(f"its metric: {error}") from error
        if metric.fingerprint != fingerprint:
            raise self._damaged("its metric is not what was stored")
        return metric

    def vectors_after(self, last_id: int, n_features: int) -> Iterator[tuple[Ids, Vectors]]:
        """Yield all cases after that id in blocks, by ascending id."""
        rows = self.database.execute("SELECT id, vector FROM cases WHERE id > ? ORDER BY id", (last_id,))
        while block := rows.fetchmany(CASES_AT_ONCE):
            ids, blobs = zip(*block, strict=True)
            yield np.array(ids), self._vectors(ids, blobs, n_features)

    def next_ids(self, last_id: int, most: int) -> Ids:
        """Return the next ids after that one, ascending."""
        rows = self.database.execute("SELECT id FROM cases WHERE id > ? ORDER BY id LIMIT ?", (last_id, most))
        return np.array([case for (case,) in rows], dtype=np.int64)

    def vectors(self, ids: Ids, n_features: int) -> Vectors:
        """Return the vectors of the cases with these ids, in this order."""
        return self._vectors(ids, self._of_cases("vector", ids), n_features)

    def payloads(self, ids: Ids) -> list[dict[str, Any]]:
        """Return the payloads of the cases with these ids, in this order."""
        texts = self._of_cases("payload", ids)
        try:
            # Parsed as one list, which is several times faster than one by one.
            return json.loads(f"[{','.join(text or '{}' for text in texts)}]")
        except ValueError as error:
            raise self._damaged(f"a payload: {error}") from error

    def names(self, ids: Ids) -> list[Any]:
        """Return the names of the cases with these ids: those of their rows, or the ids."""
        named = self._by_id("name", "row_names", ids) if self._has_names() else {}
        try:
            return [json.loads(named[case]) if case in named else case for case in ids.tolist()]
        except ValueError as error:
            raise self._damaged(f"a name: {error}") from error

    def id_of(self, name: Any) -> int:
        """Return the id of the one case with this name."""
        found = self._ids_of(str(name))
        if not found:
            raise ValueError(f"{self.path} holds no case of the row {name!s}. Use names that retrieve returns.")
        if len(found) > 1:
            ids = ", ".join(map(str, found[:5]))
            raise ValueError(
                f"{self.path} holds {len(found)} cases of rows named {name!s}, with the ids {ids}. Give the rows of "
                "each table names that differ (--index)."
            )
        return found[0]

    def _ids_of(self, name: str) -> list[int]:
        query, values = "SELECT id FROM cases WHERE CAST(id AS TEXT) = ?", [name]
        if self._has_names():
            query += " AND id NOT IN (SELECT id FROM row_names) UNION SELECT id FROM row_names WHERE name IN (?, ?)"
            values += [name, json.dumps(name)]
        return [case for (case,) in self.database.execute(query, values)]

    def _has_names(self) -> bool:
        return self.database.first("SELECT 1 FROM sqlite_master WHERE name = 'row_names'") is not None

    def _of_cases(self, column: str, ids: Ids) -> list[Any]:
        found = self._by_id(column, "cases", ids)
        if missing := [case for case in ids.tolist() if case not in found]:
            raise ValueError(f"{self.path} holds no case with the id {missing[0]}. Use ids that add returned.")
        return [found[case] for case in ids.tolist()]

    def _by_id(self, column: str, table: str, ids: Ids) -> dict[int, Any]:
        found: dict[int, Any] = {}
        wanted = iter(ids.tolist())
        while some := list(islice(wanted, IDS_AT_ONCE)):
            places = ",".join("?" * len(some))
            found.update(self.database.execute(f"SELECT id, {column} FROM {table} WHERE id IN ({places})", some))
        return found

    def _vectors(self, ids: Sequence[int] | Ids, blobs: Sequence[bytes], n_features: int) -> Vectors:
        wrong = [case for case, blob in zip(ids, blobs, strict=True) if len(blob) != 4 * n_features]
        if wrong:
            raise self._damaged(f"case {wrong[0]} has another length than {n_features} features")
        return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), n_features)

    def _last_change(self) -> Change:
        query = "SELECT generation, stamp, last_id, n_cases FROM changes ORDER BY generation DESC LIMIT 1"
        found = self.database.first(query)
        if found is None:
            raise self._damaged("it has no state")
        return Change(*found)

    def _record(self, before: Change, n_added: int) -> None:
        last_id, n_cases = before.last_id + max(n_added, 0), before.n_cases + n_added
        row = (before.generation + 1, secrets.token_hex(16), last_id, n_cases)
        self.database.execute("INSERT INTO changes VALUES (?, ?, ?, ?)", row)

    def _create(self, metric: Metric | None) -> None:
        if metric is None:
            raise CaseBaseError(f"{self.path} holds no case base yet. Give a metric to make one.")
        self.database.prepare()
        with self.database.writing():
            if self.database.first("SELECT 1 FROM sqlite_master LIMIT 1") is None:  # no other process made it meanwhile
                self.database.mark(FORMAT)
                for statement in SCHEMA:
                    self.database.execute(statement)
                self.put_metric(Change(0, "", 0, 0), metric)

    def _damaged(self, fact: str) -> CaseBaseError:
        return CaseBaseError(f"{self.path} is damaged ({fact}). Restore a copy of the file.")


def _check_storable(metric: Metric) -> None:
    if METRICS.get(type(metric).__name__) is not type(metric):
        raise TypeError(f"{type(metric).__name__} cannot be stored; {', '.join(METRICS)} can.")
