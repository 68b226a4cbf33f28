"""What a killed process leaves on the disk: folders that never became snapshots.

Belongs here: telling that their process is gone, and removing them. Does not belong here: a snapshot, which
no run ever removes (`snapshots.py`), and runs on record (`orphans.py`).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pipelines.snapshots import unfinished_folders


def remove(root: Path) -> list[Path]:
    """Remove the unfinished folders of a store of snapshots whose process has ended; returns them.

    Each carries the number of its process behind its last dash. A process that lives may still be writing;
    where another one has the number by now, the folder stays until a later run.
    """
    gone = []
    for folder in sorted(unfinished_folders(root)):
        number = folder.name.rpartition("-")[2]
        if number.isdigit() and not lives(int(number)):
            shutil.rmtree(folder, ignore_errors=True)
            gone.append(folder)
    return gone


def lives(process: int) -> bool:
    """Whether a process of this number runs on this machine, whoever owns it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
