"""What a run may take: how long it waits, how much memory it uses, how much disk must be free.

Belongs here: these settings, from the environment alone, and telling a full disk. Does not belong here:
where state lies (`home.py`) and what is written there.

    TOKENYIELD_WAIT_SECONDS   60: how long a run waits for another that writes
    TOKENYIELD_FREE_MB        256: free disk that a run wants beside twice the warehouse
    TOKENYIELD_MEMORY_LIMIT   DuckDB's own, four fifths of the machine: such as 4GB
"""

from __future__ import annotations

import errno
import math
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from pipelines.failure import Failure

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# As they stand in errors that carry no number: the system's words, SQLite's, and DuckDB's for a full spill.
FULL_IN_WORDS = (*map(os.strerror, sorted(FULL)), "database or disk is full", "max_temp_directory_size")
MB = 1_000_000


class DiskFull(Failure):
    """There is no room to write; the message says where, and what to do."""


def wait_seconds() -> float:
    """How long a run waits for another one that writes, in seconds."""
    return _number("TOKENYIELD_WAIT_SECONDS", 60)


def memory_limit() -> str | None:
    """How much memory DuckDB may take, in its own words; None: its default. Raises Failure."""
    stated = os.environ.get("TOKENYIELD_MEMORY_LIMIT", "").strip()
    if stated and not re.fullmatch(r"\d+(\.\d+)?\s*([KMGT]i?B)", stated):
        raise Failure(f"TOKENYIELD_MEMORY_LIMIT={stated} is no amount of memory; write it like 4GB")
    return stated or None


def require_space(folder: Path, warehouse_bytes: int) -> None:
    """Raise DiskFull when the disk of `folder` has less free than twice the warehouse and the floor."""
    wanted = 2 * warehouse_bytes + _number("TOKENYIELD_FREE_MB", 256) * MB
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise DiskFull(
            f"{folder}: {free / MB:.0f} MB are free and a run wants {wanted / MB:.0f} MB (twice the "
            "warehouse and TOKENYIELD_FREE_MB); nothing was begun. Make room and run it again."
        )


@contextmanager
def full_disk_told(where: Path) -> Iterator[None]:
    """Raise DiskFull in place of an error that means that there is no room to write at `where`."""
    try:
        yield
    except DiskFull:
        raise
    except Exception as error:
        if is_full(error):
            raise DiskFull(full(where)) from error
        raise


def full(where: Path) -> str:
    """The one line of a disk that ran full."""
    return (
        f"{where}: no room left to write (disk, quota or file size limit); nothing that was there is "
        "changed. Make room and run it again."
    )


def is_full(error: BaseException | None) -> bool:
    """Whether an error, or one that it was raised from, says that there is no room to write."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        if isinstance(error, (duckdb.Error, sqlite3.Error)) and any(w in str(error) for w in FULL_IN_WORDS):
            return True
        error = error.__cause__ or error.__context__
    return False


def _number(variable: str, default: float) -> float:
    stated = os.environ.get(variable, "").strip()
    try:
        number = float(stated) if stated else default
    except ValueError:
        number = math.nan
    if not (math.isfinite(number) and number >= 0):
        raise Failure(f"{variable}={stated} is no number of at least 0")
    return number
