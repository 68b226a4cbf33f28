"""The seal of a file: what its bytes were when the last run left them.

Belongs here: writing and reading it, and what is wrong with a file that does not bear it. Does not belong
here: what is done about that (`warehouse.py`). A database whose log or header is damaged may open with
fewer rows and no error; that its bytes are those that were left is the one sign that cannot be wrong.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb

# What this process has found to be good: a run opens its file several times, and reads all of it once.
_vouched: dict[Path, tuple[object, ...]] = {}


@dataclass(frozen=True)
class Seal:
    """bytes, sha256: of a file; duckdb: the version of DuckDB that wrote it."""

    bytes: int
    sha256: str
    duckdb: str


def of(path: Path) -> Seal:
    """The seal that the file would get now; raises OSError."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return Seal(stream.tell(), digest, duckdb.__version__)


def beside(path: Path) -> Path:
    """Where the seal of a file lies."""
    return path.with_name(f"{path.name}.seal")


def write(path: Path, accepted: Sequence[Seal]) -> None:
    """Write which contents of the file are good, by one atomic rename: one, or two while it is replaced."""
    target = beside(path)
    unfinished = target.with_name(f"{target.name}.unfinished")
    text = json.dumps([asdict(one) for one in accepted], indent=1) + "\n"
    with unfinished.open("w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(unfinished, target)
    sync(target.parent)


def read(path: Path) -> tuple[Seal, ...] | None:
    """The contents of the file that are good; None where it has no seal, empty where that cannot be read."""
    try:
        return tuple(Seal(**one) for one in json.loads(beside(path).read_bytes()))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError):
        return ()


def fault(path: Path) -> str | None:
    """What is wrong with a file, in words that fit behind its name; None: it is as it was left, or new.

    Raises OSError where the file may not be read, which says nothing about it.
    """
    while True:
        accepted = read(path)
        found = _fault(path, accepted)
        # While it was looked at, a run may have put another one in its place.
        if found is None or read(path) == accepted:
            return found


def _fault(path: Path, accepted: tuple[Seal, ...] | None) -> str | None:
    if not path.exists():
        return None if accepted is None else "is gone"
    if path.with_name(f"{path.name}.wal").exists():
        return "has a log beside it that no run of ours leaves"
    if accepted is None:
        return "has no seal: no run of this version left it"
    state = (*_state(path), accepted)
    if _vouched.get(path) == state:
        return None
    try:
        found = of(path)
    except OSError as error:
        if error.errno == errno.EIO:
            return "cannot be read: the disk reports an error"
        raise
    if found.sha256 in (one.sha256 for one in accepted):
        _vouched[path] = state
        return None
    if not accepted:
        return "has a seal that cannot be read"
    if found.bytes not in (one.bytes for one in accepted):
        return f"has {found.bytes} bytes and was left with {accepted[-1].bytes}"
    return "does not hold the bytes that the last run left"


def _state(path: Path) -> tuple[int, ...]:
    """What the file system changes with every write to a file, and nobody can set back."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def sync(path: Path) -> None:
    """Make a file, or what a folder lists, outlast a loss of power."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
