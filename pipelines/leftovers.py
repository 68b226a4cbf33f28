"""What a killed process leaves on the disk: folders that never became what they were to be.

Belongs here: telling that their process is gone, and removing them. Does not belong here: which folders those
are (`snapshots.py`), and runs on record (`orphans.py`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path


def remove(folders: Iterable[Path]) -> list[Path]:
    """Remove those of the unfinished `folders` whose process has ended; returns them.

    Each carries the number of its process behind its last dash. A process that lives may still be writing;
    where another one has the number by now, the folder stays until a later run.
    """
    gone = []
    for folder in sorted(folders):
        number = folder.name.rpartition("-")[2]
        if number.isdigit() and not lives(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
            gone.append(folder)
    return gone


def lives(process: int) -> bool:
    """Whether a process of this number runs on this machine, whoever owns it."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
