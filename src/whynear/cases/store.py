"""The tables of a case base: its cases, their encoder, its metric and the history of its states."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from whynear.cases.case_rows import CASES, CaseRows, Ids, Vectors
from whynear.cases.database import Database
from whynear.cases.store_faults import CaseBaseError, damaged
from whynear.metric import Metric
from whynear.metric.base import rebuild
from whynear.metric.files import METRICS, encoder_as_text, encoder_of_text
from whynear.tables.encoder import TableEncoder
from whynear.utils.archive import ArchiveError
from whynear.utils.text import counted

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
