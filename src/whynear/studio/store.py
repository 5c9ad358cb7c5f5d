"""The database of the studio, and its faults in a sentence."""

from __future__ import annotations

import errno
import json
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any


class Refused(Exception):
    """A request that fails; the message gives the reason and the remedy."""

    status = 400


class NotFound(Refused):
    """There is nothing of that name."""

    status = 404


class WrongState(Refused):
    """The study is not at the stage that the request needs."""

    status = 409


class TooLarge(Refused):
    """What was sent is larger than the studio accepts."""

    status = 413


FORMAT = 2
SESSION_SECONDS = 30 * 24 * 3600  # that a browser stays admitted without a new link
SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, bytes INTEGER NOT NULL, created REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS studies (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT NULL, table_id TEXT, example TEXT, target TEXT,
    settings TEXT NOT NULL, state TEXT NOT NULL, created REAL NOT NULL, begun REAL, ended REAL,
    step TEXT NOT NULL DEFAULT '', share REAL NOT NULL DEFAULT 0, expected REAL, learners TEXT NOT NULL DEFAULT '{}',
    message TEXT NOT NULL DEFAULT '', finding TEXT NOT NULL DEFAULT '', locked TEXT, revision INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE IF NOT EXISTS parts (
    study TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE, name TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (study, name)
);
CREATE TABLE IF NOT EXISTS marks (
    number INTEGER PRIMARY KEY, study TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    query TEXT NOT NULL, found TEXT NOT NULL, alike INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS relearnings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, study TEXT NOT NULL REFERENCES studies (id) ON DELETE CASCADE,
    features TEXT NOT NULL, state TEXT NOT NULL, step TEXT NOT NULL DEFAULT '', share REAL NOT NULL DEFAULT 0,
    score TEXT, moves TEXT, message TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS sessions (digest TEXT PRIMARY KEY, created REAL NOT NULL);
"""
Row = dict[str, Any]


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite about the file into built-in ones that name it."""
    try:
        yield
    except sqlite3.OperationalError as error:
        full = error.sqlite_errorcode == sqlite3.SQLITE_FULL
        remedy = "Free some space on the disk" if full else "Check the disk and the permissions"
        text = f"{path} could not be read or written ({error}). {remedy}, or choose another folder (--folder)."
        raise OSError(errno.ENOSPC if full else errno.EIO, text) from error
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise
        raise ValueError(
            f"{path} is damaged ({error}). Restore a copy of it, or choose another folder (--folder)."
        ) from error


class Store:
    """One connection, shared by the threads of the server; every method is one transaction, on the disk at its end."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, RLock()
        with _explained(path):
            self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
            (found,) = self._connection.execute("PRAGMA user_version").fetchone()
        if found > FORMAT:
            raise ValueError(
                f"{path} has format {found}, and this version reads format {FORMAT}: pip install --upgrade whynear."
            )
        if found < FORMAT:
            with self._changing():
                for statement in SCHEMA.split(";"):
                    self._connection.execute(statement)
                self._connection.execute(f"PRAGMA user_version = {FORMAT}")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._lock, _explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite may have rolled it back itself, such as on a full disk
                    self._connection.execute("ROLLBACK")
                raise

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        with self._lock, _explained(self.path):
            return [dict(row) for row in self._connection.execute(statement, values).fetchall()]

    def _change(self, statement: str, values: Sequence[Any]) -> sqlite3.Cursor:
        with self._changing() as connection:
            return connection.execute(statement, values)

    def _insert(self, table: str, row: Row) -> sqlite3.Cursor:
        names, places = ", ".join(row), ", ".join("?" * len(row))
        return self._change(f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({places})", list(row.values()))

    def add_table(self, row: Row) -> None:
        """Add a table: ``id``, ``name``, ``file``, ``bytes``."""
        self._insert("tables", {**row, "created": time.time()})

    def tables(self) -> list[Row]:
        """Return all tables, the newest first."""
        return self._rows("SELECT * FROM tables ORDER BY created DESC, rowid DESC")

    def table(self, table: str) -> Row:
        """Return one table."""
        return self._one("tables", table, "table")

    def remove_table(self, table: str) -> None:
        """Delete a table."""
        self._change("DELETE FROM tables WHERE id = ?", [table])

    def studies_of_table(self, table: str) -> list[str]:
        """Return the ids of the studies of a table."""
        return [row["id"] for row in self._rows("SELECT id FROM studies WHERE table_id = ?", [table])]

    def add_study(self, row: Row) -> None:
        """Add a study; ``settings`` is a dict."""
        self._insert("studies", {**row, "settings": json.dumps(row["settings"]), "created": time.time()})

    def studies(self) -> list[Row]:
        """Return all studies, the newest first."""
        return [_read(row) for row in self._rows("SELECT * FROM studies ORDER BY created DESC, rowid DESC")]

    def study(self, study: str) -> Row:
        """Return one study."""
        return _read(self._one("studies", study, "study"))

    def finished(self, study: str) -> Row:
        """Return one study, which must be finished."""
        row = self.study(study)
        if row["state"] != "finished":
            raise WrongState(f"The study is {row['state']}: it has no results yet.")
        return row

    def change_study(self, study: str, *, only_in: Sequence[str] = (), **changes: Any) -> bool:
        """Change columns of a study, if it is in one of some states; return whether it was."""
        values = {name: json.dumps(one) if isinstance(one, dict | list) else one for name, one in changes.items()}
        assignments = ", ".join([*(f"{name} = ?" for name in values), "revision = revision + 1"])
        states = f" AND state IN ({', '.join('?' * len(only_in))})" if only_in else ""
        statement = f"UPDATE studies SET {assignments} WHERE id = ?{states}"
        return self._change(statement, [*values.values(), study, *only_in]).rowcount == 1

    def remove_study(self, study: str) -> None:
        """Delete a study, its parts and its marks."""
        self._change("DELETE FROM studies WHERE id = ?", [study])

    def add_part(self, study: str, name: str, value: Any) -> None:
        """Keep a finished part of a study."""
        self._insert("parts", {"study": study, "name": name, "value": json.dumps(value)})
        self.change_study(study)

    def part_names(self, study: str) -> list[str]:
        """Return the names of the finished parts, in their order."""
        return [row["name"] for row in self._rows("SELECT name FROM parts WHERE study = ? ORDER BY rowid", [study])]

    def parts(self, study: str) -> dict[str, Any]:
        """Return the finished parts."""
        found = self._rows("SELECT name, value FROM parts WHERE study = ? ORDER BY rowid", [study])
        return {row["name"]: json.loads(row["value"]) for row in found}

    def remove_parts(self, study: str) -> None:
        """Delete the finished parts of a study that starts again."""
        self._change("DELETE FROM parts WHERE study = ?", [study])

    def mark(self, study: str, query: Any, found: Any, alike: bool) -> None:
        """Mark a case that was found for a query; an earlier mark of the same pair is replaced."""
        pair = [study, json.dumps(query), json.dumps(found)]
        with self._changing() as connection:
            connection.execute("DELETE FROM marks WHERE study = ? AND query = ? AND found = ?", pair)
            connection.execute(
                "INSERT INTO marks (study, query, found, alike) VALUES (?, ?, ?, ?)", [*pair, int(alike)]
            )

    def unmark(self, study: str) -> None:
        """Take back the last mark."""
        self._change("DELETE FROM marks WHERE number = (SELECT max(number) FROM marks WHERE study = ?)", [study])

    def marks(self, study: str) -> list[tuple[Any, Any, bool]]:
        """Return query, found case and whether they are alike, in the order of marking."""
        rows = self._rows("SELECT query, found, alike FROM marks WHERE study = ? ORDER BY number", [study])
        return [(json.loads(row["query"]), json.loads(row["found"]), bool(row["alike"])) for row in rows]

    def add_relearning(self, study: str, features: Sequence[str]) -> int:
        """Add a refit without some features, which runs; return its number."""
        row = {"study": study, "features": json.dumps(list(features)), "state": "running"}
        return int(self._insert("relearnings", row).lastrowid or 0)

    def change_relearning(self, number: int, **changes: Any) -> bool:
        """Change columns of a refit that runs; return whether it does."""
        values = {name: json.dumps(one) if isinstance(one, dict) else one for name, one in changes.items()}
        assignments = ", ".join(f"{name} = ?" for name in values)
        statement = f"UPDATE relearnings SET {assignments} WHERE number = ? AND state = 'running'"
        return self._change(statement, [*values.values(), number]).rowcount == 1

    def relearnings(self, study: str) -> list[Row]:
        """Return the refits of a study without some features, the newest first."""
        found = self._rows("SELECT * FROM relearnings WHERE study = ? ORDER BY number DESC", [study])
        return [_read(row, "features", "score", "moves") for row in found]

    def add_session(self, digest: str) -> None:
        """Store the digest of the key of a browser."""
        self._insert("sessions", {"digest": digest, "created": time.time()})

    def sessions(self) -> list[str]:
        """Return the digests of the keys of the browsers of the last month."""
        oldest = time.time() - SESSION_SECONDS
        return [row["digest"] for row in self._rows("SELECT digest FROM sessions WHERE created > ?", [oldest])]

    def _one(self, table: str, name: str, what: str) -> Row:
        if not (rows := self._rows(f"SELECT * FROM {table} WHERE id = ?", [name])):
            raise NotFound(f"There is no {what} {name!r} in this project.")
        return rows[0]


def _read(row: Row, *names: str) -> Row:
    """Return a row with its columns of JSON read, those of a study without names."""
    return {**row, **{name: json.loads(row[name] or "null") for name in names or ("settings", "learners", "locked")}}
