"""The only module that opens DuckDB: one writer, one transaction, always closed.

Belongs here: opening, the bounded wait for the lock, commit or rollback, and handing frames over.
Does not belong here: any SQL of the models (`sql_models.py`) or of raw (`raw.py`). Readers never open
this file; they read the published copy.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl

from pipelines.failure import Failure
from pipelines.retry import stamina

# Part of DuckDB's own message; anything less would also fit a path or a text inside the file.
HELD = "Could not set lock on file"


class WarehouseBusy(Failure):
    """Another process holds the file; the message names it."""


class WarehouseUnreadable(Failure):
    """The file is there and is no database that this version opens."""


class Warehouse:
    """The writer's database file. `wait_seconds` bounds how long an open waits for another writer."""

    def __init__(self, path: Path, wait_seconds: float = 60) -> None:
        self.path = path
        self.wait_seconds = wait_seconds

    @contextmanager
    def write(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """One transaction: committed when the block ends, rolled back when it raises, always closed.

        Closing checkpoints, so the write-ahead log never outlives a run that ends by itself. Raises
        WarehouseBusy or WarehouseUnreadable.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._connect(lambda: duckdb.connect(str(self.path)))
        try:
            connection.execute("begin transaction")
            try:
                yield connection
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")
        finally:
            connection.close()

    @contextmanager
    def read(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A read-only connection to the writer's file, for the steps of a run itself."""
        connection = self._connect(lambda: duckdb.connect(str(self.path), read_only=True))
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def beside(self, target: Path, storage_version: str) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection with this file attached read-only as `warehouse` and a new one as `published`."""

        def attach() -> duckdb.DuckDBPyConnection:
            connection = duckdb.connect()
            try:
                connection.execute(f"attach '{_quoted(self.path)}' as warehouse (read_only)")
                connection.execute(
                    f"attach '{_quoted(target)}' as published (storage_version '{storage_version}')"
                )
            except BaseException:
                connection.close()
                raise
            return connection

        connection = self._connect(attach)
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def scratch(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection that reads this file and keeps what it creates in `memory`, gone when it is closed."""

        def attach() -> duckdb.DuckDBPyConnection:
            connection = duckdb.connect()
            try:
                connection.execute(f"attach '{_quoted(self.path)}' as warehouse (read_only)")
                connection.execute("use warehouse")
            except BaseException:
                connection.close()
                raise
            return connection

        connection = self._connect(attach)
        try:
            yield connection
        finally:
            connection.close()

    def _connect(self, open_it: Callable[[], duckdb.DuckDBPyConnection]) -> duckdb.DuckDBPyConnection:
        waiting = stamina.retry_context(
            on=lambda error: isinstance(error, duckdb.IOException) and HELD in str(error),
            attempts=None,
            timeout=self.wait_seconds,
            wait_initial=0.1,
            wait_max=2.0,
        )
        try:
            for attempt in waiting:
                with attempt:
                    connection = open_it()
                    # The date of an instant depends on the session's zone; every connection is UTC.
                    connection.execute("set TimeZone = 'UTC'")
                    return connection
        except duckdb.IOException as error:
            holder = re.search(r"held in (.+?\(PID \d+\))", str(error))
            if holder:
                raise WarehouseBusy(
                    f"{self.path} is held by {holder[1]}; waited {self.wait_seconds:g} s. "
                    "Wait for that run to end, or stop it, and try again."
                ) from error
            raise WarehouseUnreadable(f"{self.path}: {error}") from error
        except duckdb.Error as error:
            raise WarehouseUnreadable(f"{self.path}: {error}") from error
        raise AssertionError("a retry context without limit of attempts ends by return or raise")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")


class ArrowFrame:
    """A Polars frame as DuckDB takes it in.

    DuckDB asks pyarrow for a bare frame; an object that offers only the stream needs no pyarrow, which
    would add 165 MB to an installation.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)
