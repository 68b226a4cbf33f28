"""Where queries put what does not fit into memory: a folder for each connection, held while it lives.

Belongs here: making such a folder, and sweeping away those whose process was killed. Does not belong here:
how much may go there (`limits.py`). A folder is locked by its connection, and the kernel lets go of the locks
of a process that dies: nobody's name or number has to be believed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def folder(root: Path) -> Iterator[Path]:
    """A folder below `root` that is held until the block ends, and is gone then."""
    root.mkdir(parents=True, exist_ok=True)
    while (descriptor := _hold(made := Path(tempfile.mkdtemp(dir=root)), wait=True)) is None:
        continue  # swept away before it was held
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(descriptor)


def sweep(root: Path) -> None:
    """Remove whatever lies below `root` and is held by nobody."""
    for left in list(root.iterdir()) if root.is_dir() else ():
        if not left.is_dir():
            left.unlink(missing_ok=True)
        elif (descriptor := _hold(left, wait=False)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(descriptor)


def _hold(path: Path, wait: bool) -> int | None:
    """The descriptor that holds the folder; None where it is gone, or held by another."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    if path.is_dir():
        return descriptor
    os.close(descriptor)
    return None
