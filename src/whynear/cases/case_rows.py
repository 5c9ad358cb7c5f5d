"""The rows of stored cases: vectors, payloads and names, each compared with its checksum when it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from whynear.cases.database import Database
from whynear.cases.store_faults import damaged

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
        if self.checked:
            self._database.execute_many("INSERT INTO cases VALUES (?, ?, ?, ?, ?)", rows)
        else:
            self._database.execute_many(
                "INSERT INTO cases VALUES (?, ?, ?)", ((row[0], row[2], row[4]) for row in rows)
            )
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
        found, path = self._ids_of(str(name)), self._database.path
        if not found:
            raise ValueError(f"{path} holds no case of the row {name!s}. Use names that retrieve returns.")
        if len(found) > 1:
            ids = ", ".join(map(str, found[:5]))
            raise ValueError(
                f"{path} holds {len(found)} cases of rows named {name!s}, with the ids {ids}. Give the rows of "
                "each table names that differ (--index)."
            )
        self.details(np.array(found))  # refused if the name is not the one that was stored
        return found[0]

    def _ids_of(self, name: str) -> list[int]:
        query, values = "SELECT id FROM cases WHERE CAST(id AS TEXT) = ?", [name]
        if self._has_names():
            query += " AND id NOT IN (SELECT id FROM row_names) UNION SELECT id FROM row_names WHERE name IN (?, ?)"
            values += [name, json.dumps(name)]
        return [case for (case,) in self._database.execute(query, values)]

    def _has_names(self) -> bool:
        return self._database.first("SELECT 1 FROM sqlite_master WHERE name = 'row_names'") is not None

    def _of_cases(self, column: str, ids: Ids, what: str = "vector") -> list[tuple[int, Any, Any]]:
        """Return id, value and checksum of each case."""
        found = self._by_id(f"{column}, {self._sum(what)}", "cases", ids)
        if missing := [case for case in ids.tolist() if case not in found]:
            raise ValueError(
                f"{self._database.path} holds no case with the id {missing[0]}. Use ids that add returned."
            )
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
