"""The cases of a case base as rows of its database."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whynear.cases.database import CaseBaseError, Database, damaged
from whynear.data.encoder import TableEncoder
from whynear.metric import Metric
from whynear.metric.base import rebuild
from whynear.model.files import METRICS, encoder_as_text, encoder_of_text
from whynear.utils.archive import ArchiveError
from whynear.utils.text import counted

Ids = NDArray[np.int64]
Vectors = NDArray[np.float32]

# The vector comes first, so that reading it does not read the pages of a long payload.
CASES = (
    "CREATE TABLE cases (id INTEGER PRIMARY KEY, vector_sum INTEGER NOT NULL, vector BLOB NOT NULL, "
    "details_sum INTEGER NOT NULL, payload TEXT)"
)
# Made with the first case whose row has another name than its id: older files do without this table.
ROW_NAMES = "CREATE TABLE IF NOT EXISTS row_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL)"
CASES_AT_ONCE = 8192  # in one read
IDS_AT_ONCE = 900  # in one statement


class CaseRows:
    """Reads and writes cases within a transaction; in files without checksums nothing is compared."""

    def __init__(self, database: Database, *, checked: bool) -> None:
        self._database, self.checked = database, checked

    def insert(self, ids: Ids, vectors: Vectors, payloads: Sequence[str | None], names: Sequence[Any] | None) -> None:
        """Add cases with their checksums."""
        others = {case: json.dumps(name) for case, name in zip(ids.tolist(), names or (), strict=False) if case != name}
        blobs = map(np.ndarray.tobytes, vectors)
        rows = (
            (case, vector_sum(case, blob), blob, details_sum(case, others.get(case), text), text)
            for case, blob, text in zip(ids.tolist(), blobs, payloads, strict=True)
        )
        places = "?, ?, ?, ?, ?" if self.checked else "?, ?, ?"
        kept = rows if self.checked else ((row[0], row[2], row[4]) for row in rows)
        self._database.execute_many(f"INSERT INTO cases VALUES ({places})", kept)
        if others:
            self._database.execute(ROW_NAMES)
            self._database.execute_many("INSERT INTO row_names VALUES (?, ?)", others.items())

    def delete(self, ids: Ids) -> None:
        """Remove cases."""
        for table in ("cases", "row_names") if self._has_names() else ("cases",):
            self._database.execute_many(f"DELETE FROM {table} WHERE id = ?", ((case,) for case in ids.tolist()))

    def vectors_after(self, last_id: int, n_features: int) -> Iterator[tuple[Ids, Vectors]]:
        """Yield all cases after that id in blocks, by ascending id."""
        query = f"SELECT id, vector, {self._sum('vector')} FROM cases WHERE id > ? ORDER BY id"
        rows = self._database.execute(query, (last_id,))
        while block := rows.fetchmany(CASES_AT_ONCE):
            yield np.array([case for case, _, _ in block]), self._vectors(block, n_features)

    def next_ids(self, last_id: int, most: int) -> Ids:
        """Return the next ids after that one, ascending."""
        rows = self._database.execute("SELECT id FROM cases WHERE id > ? ORDER BY id LIMIT ?", (last_id, most))
        return np.array([case for (case,) in rows], dtype=np.int64)

    def vectors(self, ids: Ids, n_features: int) -> Vectors:
        """Return the vectors of the cases with these ids, in this order."""
        return self._vectors(self._of_cases("vector", ids), n_features)

    def details(self, ids: Ids) -> tuple[list[dict[str, Any]], list[Any]]:
        """Return the payloads of the cases with these ids, and their names: those of their rows, or the ids."""
        found = self._of_cases("payload", ids, "details")
        named = self._by_id("name", "row_names", ids) if self._has_names() else {}
        names = [named[case][1] if case in named else None for case, _, _ in found]
        for (case, text, stored), name in zip(found, names, strict=True):
            plain = isinstance(text, str | None) and isinstance(name, str | None)
            good = plain and (not self.checked or details_sum(case, name, text) == stored)
            self._require(good, f"the payload or the name of case {case}")
        try:
            # Parsed as one list, which is several times faster than one by one.
            payloads = json.loads(f"[{','.join(text or '{}' for _, text, _ in found)}]")
            read = [case if name is None else json.loads(name) for (case, _, _), name in zip(found, names, strict=True)]
        except (ValueError, RecursionError) as error:
            raise damaged(self._database.path, f"a payload or a name: {error}") from error
        dicts = len(payloads) == len(found) and all(isinstance(payload, dict) for payload in payloads)
        self._require(dicts, "a payload is no dict")
        return payloads, read

    def id_of(self, name: Any) -> int:
        """Return the id of the one case with this name."""
        path, query, values = self._database.path, "SELECT id FROM cases WHERE CAST(id AS TEXT) = ?", [str(name)]
        if self._has_names():
            query += " AND id NOT IN (SELECT id FROM row_names) UNION SELECT id FROM row_names WHERE name IN (?, ?)"
            values += [str(name), json.dumps(str(name))]
        found = [case for (case,) in self._database.execute(query, values)]
        if not found:
            raise ValueError(f"{path} holds no case of the row {name!s}. Use names that retrieve returns.")
        if len(found) > 1:
            ids = ", ".join(map(str, found[:5]))
            raise ValueError(
                f"{path} holds {len(found)} cases of rows named {name!s}, with the ids {ids}. Give the rows of "
                "each table names that differ (--index)."
            )
        self.details(np.array(found))  # refused if the name is not the one that was stored
        return int(found[0])

    def _has_names(self) -> bool:
        return self._database.first("SELECT 1 FROM sqlite_master WHERE name = 'row_names'") is not None

    def _of_cases(self, column: str, ids: Ids, what: str = "vector") -> list[tuple[int, Any, Any]]:
        """Return id, value and checksum of each case."""
        found = self._by_id(f"{column}, {self._sum(what)}", "cases", ids)
        if missing := [case for case in ids.tolist() if case not in found]:
            path = self._database.path
            raise ValueError(f"{path} holds no case with the id {missing[0]}. Use ids that add returned.")
        return [found[case] for case in ids.tolist()]

    def _by_id(self, columns: str, table: str, ids: Ids) -> dict[int, Any]:
        found: dict[int, Any] = {}
        wanted = iter(ids.tolist())
        while some := list(islice(wanted, IDS_AT_ONCE)):
            places = ",".join("?" * len(some))
            rows = self._database.execute(f"SELECT id, {columns} FROM {table} WHERE id IN ({places})", some)
            found.update((row[0], row) for row in rows)
        return found

    def _sum(self, what: str) -> str:
        return f"{what}_sum" if self.checked else "NULL"

    def _vectors(self, rows: Sequence[tuple[int, Any, Any]], n_features: int) -> Vectors:
        for case, blob, stored in rows:
            fits = isinstance(blob, bytes) and len(blob) == 4 * n_features
            self._require(fits, f"case {case} has another length than {n_features} features")
            self._require(not self.checked or vector_sum(case, blob) == stored, f"the values of case {case}")
        return np.frombuffer(b"".join(blob for _, blob, _ in rows), dtype="<f4").reshape(len(rows), n_features)

    def _require(self, holds: bool, fact: str) -> None:
        if not holds:
            raise damaged(self._database.path, fact)


def vector_sum(case: int, vector: bytes) -> int:
    """Return the checksum of the values of a case and its id."""
    return crc32(vector, _id_sum(case))


def details_sum(case: int, name: str | None, payload: str | None) -> int:
    """Return the checksum of the payload and the name of a case, and its id."""
    text = "" if name is None and payload is None else json.dumps([name, payload])
    return crc32(text.encode(), _id_sum(case))


def _id_sum(case: int) -> int:
    return crc32(case.to_bytes(8, "little", signed=True))


FORMAT = 2  # 1 had no checksums
SCHEMA = (
    CASES,
    "CREATE TABLE changes (generation INTEGER PRIMARY KEY, stamp TEXT NOT NULL, last_id INTEGER NOT NULL, "
    "n_cases INTEGER NOT NULL, sum INTEGER NOT NULL)",
    "CREATE TABLE metric (kind TEXT NOT NULL, fingerprint TEXT NOT NULL, columns TEXT NOT NULL)",
    "CREATE TABLE metric_arrays (name TEXT PRIMARY KEY, shape TEXT NOT NULL, content BLOB NOT NULL)",
)
# Made with a base whose cases are encoded: others do without this table.
ENCODER = "CREATE TABLE encoder (content TEXT NOT NULL)"


@dataclass(frozen=True)
class Change:
    """The state after a transaction: its number, a random stamp, the highest id ever used, the number of cases."""

    generation: int
    stamp: str
    last_id: int
    n_cases: int

    @property
    def checksum(self) -> int:
        """The checksum of all of it."""
        return crc32(repr(astuple(self)).encode())


class Store:
    """Reads and changes the tables. All methods after ``writing`` must be called within ``reading`` or ``writing``.

    ``cases`` reads the cases, within ``reading`` or ``writing`` too.
    """

    def __init__(self, path: Path, metric: Metric | None, timeout: float, encoder: TableEncoder | None = None) -> None:
        """Open the file; if it does not exist and a metric is given, make it, with the encoder of its cases."""
        if metric is not None:
            _check_storable(metric)
        self._encoder = None if encoder is None else encoder_as_text(encoder)
        self.path = path
        self.database = Database(path, may_create=metric is not None, timeout=timeout)
        try:
            if self.database.is_empty():
                self._create(metric)
            self.cases = CaseRows(self.database, checked=self.database.check_mark(FORMAT) > 1)
            self._encoder = self._stored_encoder()  # not the one given, if the file existed
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
        self.cases.insert(ids, vectors, payloads, names)
        self._record(before, n_added=len(ids))
        return ids

    def delete(self, before: Change, ids: Ids) -> None:
        """Remove cases."""
        self.cases.delete(ids)
        self.database.execute("DELETE FROM changes")  # from no earlier state were cases only added
        self._record(before, n_added=-len(ids))

    def put_metric(self, before: Change, metric: Metric) -> None:
        """Replace the metric."""
        _check_storable(metric)
        for table in ("metric", "metric_arrays"):
            self.database.execute(f"DELETE FROM {table}")
        description = (type(metric).__name__, self._fingerprint(metric), json.dumps(metric.feature_names))
        self.database.execute("INSERT INTO metric VALUES (?, ?, ?)", description)
        for name, array in metric.arrays().items():
            row = (name, json.dumps(array.shape), array.astype("<f8").tobytes())
            self.database.execute("INSERT INTO metric_arrays VALUES (?, ?, ?)", row)
        self._record(before, n_added=0)

    def holds(self, metric: Metric) -> bool:
        """Return whether this is the current metric."""
        return bool(self._described("fingerprint")[0] == self._fingerprint(metric))

    def metric(self) -> Metric:
        """Return the current metric; a fingerprint checks it together with the encoder."""
        kind, fingerprint, columns = self._described("kind, fingerprint, columns")
        try:
            arrays = {
                name: np.frombuffer(content, dtype="<f8").reshape(json.loads(shape))
                for name, shape, content in self.database.execute("SELECT name, shape, content FROM metric_arrays")
            }
            metric = rebuild(METRICS[kind], json.loads(columns), arrays)
        except (KeyError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
            raise damaged(self.path, f"its metric: {error}") from error
        if self._fingerprint(metric) != fingerprint:
            raise damaged(self.path, f"its metric{' or its encoder' * bool(self._encoder)} is not what was stored")
        return metric

    def encoder(self, features: Sequence[str]) -> TableEncoder | None:
        """Return the encoder that makes the features of cases, which never changes; None if they are given so."""
        if self._encoder is None:
            return None
        try:
            encoder = encoder_of_text(self._encoder)
        except ArchiveError as error:
            raise damaged(self.path, f"its encoder: {error}") from error
        if getattr(encoder, "made_", None) != list(features):
            raise damaged(self.path, "its encoder makes other columns than its metric has")
        return encoder

    def check(self, change: Change, n_features: int) -> int:
        """Read all of it; return how many cases were compared with checksums. An error names the first fault."""
        faults = [str(fault) for (fault,) in self.database.execute("PRAGMA integrity_check") if fault != "ok"]
        if faults:
            raise damaged(self.path, faults[0])
        self.metric()
        n_read = 0
        for ids, _ in self.cases.vectors_after(0, n_features):
            self.cases.details(ids)
            n_read += len(ids)
        self.check_complete(change, n_read)
        return n_read if self.cases.checked else 0

    def check_complete(self, change: Change, n_cases: int) -> None:
        """Refuse another number of cases than a state has."""
        if n_cases != change.n_cases:
            raise damaged(self.path, f"it has {counted(n_cases, 'case')}, and {change.n_cases} were stored")

    def _fingerprint(self, metric: Metric) -> str:
        if self._encoder is None:
            return metric.fingerprint
        return sha256(f"{metric.fingerprint} {self._encoder}".encode()).hexdigest()

    def _stored_encoder(self) -> str | None:
        with self.database.reading():
            if self.database.first("SELECT 1 FROM sqlite_master WHERE name = 'encoder'") is None:
                return None
            found = self.database.first("SELECT content FROM encoder")
        if found is None or not isinstance(found[0], str):
            raise damaged(self.path, "its encoder")
        return found[0]

    def _described(self, columns: str) -> Any:
        found = self.database.first(f"SELECT {columns} FROM metric")
        if found is None:
            raise damaged(self.path, "it has no metric")
        return found

    def _last_change(self) -> Change:
        found = self.database.first("SELECT * FROM changes ORDER BY generation DESC LIMIT 1")
        if found is None:
            raise damaged(self.path, "it has no state")
        change, sums = Change(*found[:4]), found[4:]
        numbers = (change.generation, change.last_id, change.n_cases)
        plain = all(isinstance(number, int) and number >= 0 for number in numbers) and isinstance(change.stamp, str)
        if not plain or (self.cases.checked and sums != (change.checksum,)):
            raise damaged(self.path, "its state")
        return change

    def _record(self, before: Change, n_added: int) -> None:
        last_id, n_cases = before.last_id + max(n_added, 0), before.n_cases + n_added
        change = Change(before.generation + 1, secrets.token_hex(16), last_id, n_cases)
        sums = (change.checksum,) if self.cases.checked else ()
        places = ", ".join("?" * (4 + len(sums)))
        self.database.execute(f"INSERT INTO changes VALUES ({places})", (*astuple(change), *sums))

    def _create(self, metric: Metric | None) -> None:
        if metric is None:
            raise CaseBaseError(f"{self.path} holds no case base yet. Give a metric to make one.")
        self.database.prepare()
        self.cases = CaseRows(self.database, checked=True)
        with self.database.writing():
            if self.database.first("SELECT 1 FROM sqlite_master LIMIT 1") is None:  # no other process made it meanwhile
                self.database.mark(FORMAT)
                for statement in SCHEMA:
                    self.database.execute(statement)
                if self._encoder is not None:
                    self.database.execute(ENCODER)
                    self.database.execute("INSERT INTO encoder VALUES (?)", (self._encoder,))
                self.put_metric(Change(0, "", 0, 0), metric)


def _check_storable(metric: Metric) -> None:
    if METRICS.get(type(metric).__name__) is not type(metric):
        raise TypeError(f"{type(metric).__name__} cannot be stored; {', '.join(METRICS)} can.")
