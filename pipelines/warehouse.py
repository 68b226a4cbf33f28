"""The only module that opens DuckDB: one writer, one transaction, always closed.

Belongs here: opening, the bounded wait for other writers, commit or nothing, and handing frames over.
Does not belong here: any SQL of the models (`sql_models.py`) or of raw (`raw.py`). Readers of the project
never open this file; they read the published copy.

    var/warehouse.duckdb                        the last committed state; no run writes into it
                        .seal                   what its bytes are (`seal.py`)
                        .lock                   held by the run that writes
                        .unfinished             the copy that a run writes to; takes its place at the end
                        .set-aside-<moment>     one that was damaged, kept to be looked at
    var/spill/                                  what does not fit into memory (`spill.py`)
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import polars as pl

from pipelines import limits, lock, seal, spill
from pipelines.failure import Failure

# Part of DuckDB's own message; anything less would also fit a path or a text inside the file.
HELD = "Could not set lock on file"
KEPT_ASIDE = 3
CURE = "`tokenyield build` sets it aside and makes it anew from the snapshots."

log = logging.getLogger(__name__)


class WarehouseUnreadable(Failure):
    """The file is not there, is not as the last run left it, or is of a version that is not read here."""


class RowsLost(Failure):
    """What was committed is not what lies in the file; the last good one stays."""


WarehouseBusy = lock.Busy


class Warehouse:
    """The writer's database file. `wait_seconds` bounds how long an open waits for another writer."""

    def __init__(self, path: Path, wait_seconds: float | None = None) -> None:
        self.path = path
        self.wait_seconds = limits.wait_seconds() if wait_seconds is None else wait_seconds
        self.spill = path.with_name("spill")

    @contextmanager
    def write(self, mends: bool = False, anew: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
        """One transaction on a copy, which takes the file's place when the block ends; else nothing happened.

        A run that is killed, or that has no room, leaves the file of before. mends: where that one is
        damaged, set it aside and begin an empty one, for whoever fills it from nothing. anew: begin an empty
        one in any case. Raises WarehouseBusy, WarehouseUnreadable or DiskFull.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._alone(), limits.full_disk_told(self.path):
            if mends or anew:
                self._set_aside_if_damaged()
            elif fault := seal.fault(self.path):
                raise WarehouseUnreadable(f"{self.path} {fault}. {CURE}")
            limits.require_space(self.path.parent, self.path.stat().st_size if self.path.exists() else 0)
            if self.path.exists() and not anew:
                # DuckDB's own lock, so that nobody who has opened the file by hand is passed over.
                with self._connected(lambda: _open(self.path, read_only=True)):
                    shutil.copyfile(self.path, self._unfinished)
            with self._connected(lambda: _open(self._unfinished)) as connection:
                connection.execute("begin transaction")
                yield connection
                rows = _rows(connection)
                connection.execute("commit")
                # Closing does it too, and says nothing when there is no room for it.
                connection.execute("checkpoint")
            self._read_back(self._unfinished, rows)
            self._put_in_place()

    @contextmanager
    def read(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection to the last committed state, for the steps of a run itself."""
        self._vouch()
        with self._connected(lambda: _open(self.path, read_only=True)) as connection:
            yield connection

    @contextmanager
    def beside(self, target: Path, storage_version: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection with this file attached read-only as `warehouse` and a new one as `published`."""
        self._vouch()
        new = f"attach '{_quoted(target)}' as published (storage_version '{storage_version}')"
        with self._connected(lambda: self._attached(new)) as connection:
            yield connection
            rows = _rows(connection, "published")
            connection.execute("checkpoint published")
        self._read_back(target, rows)

    @contextmanager
    def scratch(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that reads this file and keeps what it creates in `memory`, gone when it is closed."""
        self._vouch()
        with self._connected(lambda: self._attached("use warehouse")) as connection:
            yield connection

    @property
    def _unfinished(self) -> Path:
        return self.path.with_name(f"{self.path.name}.unfinished")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """The only writer, with nothing left behind by one that was killed, and leaving nothing either."""
        with lock.held(self.path.with_name(f"{self.path.name}.lock"), self.path, self.wait_seconds):
            self._sweep()
            try:
                yield
            finally:
                self._sweep()

    def _sweep(self) -> None:
        for left in (self._unfinished, _wal_of(self._unfinished)):
            left.unlink(missing_ok=True)
        spill.sweep(self.spill)

    def _vouch(self) -> None:
        fault = seal.fault(self.path)
        if fault is None and self.path.exists():
            return
        raise WarehouseUnreadable(f"{self.path} {fault or 'is not there: nothing is built yet'}. {CURE}")

    def _set_aside_if_damaged(self) -> None:
        fault = seal.fault(self.path)
        if fault is None and self.path.exists():
            try:
                with self._connected(lambda: _open(self.path, read_only=True)):
                    return
            except WarehouseUnreadable:
                (*_, left) = seal.read(self.path) or ()
                fault = f"was left by DuckDB {left.duckdb} and is not read by this one, {duckdb.__version__}"
        if fault:
            told = self._set_aside()
            log.warning(f"{self.path} {fault}{told}. It is made anew from the snapshots.")

    def _set_aside(self) -> str:
        """Move the file and its log away under one name; returns that in words, empty where none was."""
        aside = self.path.with_name(f"{self.path.name}.set-aside-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
        moved = [path for path in (self.path, _wal_of(self.path)) if path.exists()]
        for path, new in zip((self.path, _wal_of(self.path)), (aside, _wal_of(aside)), strict=True):
            if path in moved:
                os.replace(path, new)
        seal.beside(self.path).unlink(missing_ok=True)
        kept = sorted(p for p in self.path.parent.glob(f"{self.path.name}.set-aside-*Z"))
        for old in kept[:-KEPT_ASIDE]:
            old.unlink()
            _wal_of(old).unlink(missing_ok=True)
        return f"; it is set aside as {aside.name}" if moved else ""

    def _read_back(self, made: Path, rows: dict[str, int]) -> None:
        with self._connected(lambda: _open(made, read_only=True)) as reader:
            found = _rows(reader)
        wrong = sorted(name for name in rows.keys() | found.keys() if rows.get(name) != found.get(name))
        if wrong or _wal_of(made).exists():
            raise RowsLost(
                f"{made}: what was committed is not all in the file ({', '.join(wrong) or 'a log is left'}); "
                "the last good one stays. Run it again, and look after the disk."
            )

    def _put_in_place(self) -> None:
        seal.sync(self._unfinished)
        made = seal.of(self._unfinished)
        seal.write(self.path, [*(seal.read(self.path) or ())[-1:], made])
        os.replace(self._unfinished, self.path)
        seal.write(self.path, [made])

    def _attached(self, then: str) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect()
        try:
            connection.execute(f"attach '{_quoted(self.path)}' as warehouse (read_only)")
            connection.execute(then)
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _connected(
        self, open_it: Callable[[], duckdb.DuckDBPyConnection]
    ) -> Iterator[duckdb.DuckDBPyConnection]:
        with spill.folder(self.spill) as place, closing(self._connect(open_it)) as connection:
            # The date of an instant depends on the session's zone; every connection is UTC.
            connection.execute("set TimeZone = 'UTC'")
            connection.execute(f"set temp_directory = '{_quoted(place)}'")
            if memory := limits.memory_limit():
                connection.execute(f"set memory_limit = '{_quoted(memory)}'")
            yield connection

    def _connect(self, open_it: Callable[[], duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
        def is_held(error: Exception) -> bool:
            return isinstance(error, duckdb.IOException) and HELD in str(error)

        try:
            for attempt in lock.waiting(is_held, self.wait_seconds):
                with attempt:
                    return open_it()
        except duckdb.OutOfMemoryException:
            raise  # which says nothing about the file
        except duckdb.Error as error:
            if limits.is_full(error):
                raise limits.DiskFull(limits.full(self.path)) from error
            holder = re.search(r"held in (.+?\(PID \d+\))", str(error))
            if is_held(error) and holder:
                raise WarehouseBusy(lock.told_busy(self.path, holder[1], self.wait_seconds)) from error
            raise WarehouseUnreadable(f"{self.path}: {error}") from error
        raise AssertionError("a retry context without limit of attempts ends by return or raise")


def _open(path: Path, read_only: bool = False) -> duckdb.DuckDBPyConnection:
    return duckdb.connect(str(path), read_only=read_only)


@contextmanager
def read_only(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection, in UTC, to a database that is no warehouse, such as a published copy."""
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        yield connection


def _rows(connection: duckdb.DuckDBPyConnection, database: str | None = None) -> dict[str, int]:
    """The rows of every table of a database, by default of the one in use, counted."""
    tables = connection.execute(
        "select schema_name || '.' || table_name, "
        """format('"{}"."{}"."{}"', database_name, schema_name, table_name) from duckdb_tables() """
        "where not temporary and database_name = coalesce(?, current_database())",
        [database],
    ).fetchall()
    counts = " union all ".join(f"select '{_quoted(name)}', count(*) from {full}" for name, full in tables)
    return dict(connection.execute(counts).fetchall()) if tables else {}


def _wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.wal")


def _quoted(value: object) -> str:
    return str(value).replace("'", "''")


class ArrowFrame:
    """A Polars frame as DuckDB takes it in.

    DuckDB asks pyarrow for a bare frame; an object that offers only the stream needs no pyarrow, which
    would add 165 MB to an installation.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)
