"""One holder at a time, across processes: a lock that the kernel frees when its holder dies.

Belongs here: taking the lock of a file with a bounded wait, and naming who holds it. Does not belong here:
what is done under it (`warehouse.py`, `publish.py`). The lock is on the open file and not in its text: what
a killed holder left written there keeps nobody out.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from pipelines.failure import Failure
from pipelines.retry import stamina


class Busy(Failure):
    """Another process holds the lock; the message names it."""


@contextmanager
def held(path: Path, what: Path, wait_seconds: float) -> Iterator[None]:
    """Hold the lock file `path`, which keeps `what`, until the block ends; the file stays.

    Raises Busy, naming the holder, when it is not free within `wait_seconds`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            for attempt in waiting(BlockingIOError, wait_seconds):
                with attempt:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = path.read_text(encoding="utf-8", errors="replace").strip() or "another process"
            raise Busy(told_busy(what, holder, wait_seconds)) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"a run (PID {os.getpid()})\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def waiting(
    on: type[Exception] | Callable[[Exception], bool], wait_seconds: float
) -> Iterator[AbstractContextManager[object]]:
    """Attempts until one succeeds or `wait_seconds` are over; `on` is what means "not yet"."""
    return stamina.retry_context(on=on, attempts=None, timeout=wait_seconds, wait_initial=0.1, wait_max=2.0)


def told_busy(what: Path, holder: str, wait_seconds: float) -> str:
    """The one line of a wait that was in vain."""
    return (
        f"{what} is held by {holder}; waited {wait_seconds:g} s. "
        "Wait for that run to end, or stop it, and try again."
    )
