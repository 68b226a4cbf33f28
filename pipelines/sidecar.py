"""What is known about a stored payload without opening it, and the strict reading of that.

Belongs here: the sidecar's shape, its file, and what is wrong with one. Does not belong here: where snapshots
lie and how they get there (`snapshots.py`).

A sidecar is our own file: one that is not exactly as it was written says nothing that could be believed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.failure import Failure

FILE = "sidecar.json"
SNAPSHOT_ID = re.compile(r"\d+T\d{6}Z-[0-9a-f]{12}")
SHA256 = re.compile(r"[0-9a-f]{64}")


class DamagedSnapshot(Failure):
    """A stored snapshot does not hold the bytes that its sidecar promises; the message names the file."""


@dataclass(frozen=True)
class Sidecar:
    """What is known about a stored payload without opening it.

    `digest` is the sha256 over slice, context and every part: equal digests are equal payloads.
    `sha256` is that of the sidecar's own file, as it was read; empty for one that was not read.
    """

    source: str
    snapshot_id: str
    slice: str
    digest: str
    observed_at: datetime
    recorded_at: datetime
    parts: tuple[Mapping[str, Any], ...]
    context: Mapping[str, Any] = field(default_factory=dict)
    sha256: str = field(default="", compare=False)


@dataclass(frozen=True)
class Unreadable:
    """Something in the store that says nothing of itself any more: where it lies, and why.

    `snapshot_id` is the folder's name, or that of a file beside the snapshots, like `sightings.jsonl`.
    `observed_at` is the moment in that name; None where it has none. No more is known.
    """

    source: str
    snapshot_id: str
    reason: str
    slice: None = None
    recorded_at: None = None

    @property
    def observed_at(self) -> datetime | None:
        """The moment that the snapshot showed, to the second, as its name has it."""
        if not SNAPSHOT_ID.fullmatch(self.snapshot_id):
            return None
        try:
            return datetime.strptime(self.snapshot_id.split("-")[0], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        except ValueError:
            return None


def snapshot_id_of(observed_at: datetime, digest: str) -> str:
    """The name of a snapshot: the moment that it shows, in UTC, and the start of its digest."""
    return f"{observed_at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{digest[:12]}"


def part_file(number: int) -> str:
    """The name of the file that holds a part."""
    return f"part-{number}.gz"


def as_json(sidecar: Sidecar) -> str:
    """The text of a sidecar's file."""
    return json.dumps(
        {
            "source": sidecar.source,
            "snapshot_id": sidecar.snapshot_id,
            "slice": sidecar.slice,
            "digest": sidecar.digest,
            "observed_at": sidecar.observed_at.isoformat(),
            "recorded_at": sidecar.recorded_at.isoformat(),
            "complete": True,
            "parts": list(sidecar.parts),
            "context": dict(sidecar.context),
        },
        indent=2,
    )


def read(folder: Path) -> Sidecar:
    """Read the sidecar of a snapshot's folder; raises DamagedSnapshot for anything but what was written."""
    path = folder / FILE
    if folder.is_symlink() or not folder.is_dir():
        raise DamagedSnapshot(f"{folder}: is no folder of the store, but a file or a link")
    try:
        body = path.read_bytes()
        raw = json.loads(body.decode("utf-8"))
        # A lone surrogate is JSON, and text that no table can hold.
        json.dumps(raw, ensure_ascii=False).encode()
    except OSError as error:
        raise DamagedSnapshot(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise DamagedSnapshot(f"{path}: is no JSON that was written here ({error})") from error
    if wrong := _wrong(raw, folder):
        raise DamagedSnapshot(f"{path}: {wrong}")
    return Sidecar(
        source=raw["source"],
        snapshot_id=raw["snapshot_id"],
        slice=raw["slice"],
        digest=raw["digest"],
        observed_at=datetime.fromisoformat(raw["observed_at"]),
        recorded_at=datetime.fromisoformat(raw["recorded_at"]),
        parts=tuple(raw["parts"]),
        context=raw["context"],
        sha256=hashlib.sha256(body).hexdigest(),
    )


def is_moment(value: object) -> bool:
    """Tell whether `value` is the text of an instant with its zone, as the store writes it."""
    if not isinstance(value, str):
        return False
    try:
        moment = datetime.fromisoformat(value)
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return False
    return moment.tzinfo is not None


def _wrong(raw: Any, folder: Path) -> str | None:
    """What is wrong with the content of a sidecar, in words; None for one as it was written."""
    if not isinstance(raw, dict):
        return "is not the sidecar that was written"
    if (raw.get("source"), raw.get("snapshot_id")) != (folder.parent.name, folder.name):
        return f"belongs to {raw.get('source')}/{raw.get('snapshot_id')}"
    right = {
        "slice": isinstance(raw.get("slice"), str),
        "digest": _is_sha256(raw.get("digest")),
        "observed_at": is_moment(raw.get("observed_at")),
        "recorded_at": is_moment(raw.get("recorded_at")),
        "complete": raw.get("complete") is True,
        "parts": isinstance(raw.get("parts"), list) and raw["parts"] != [],
        "context": isinstance(raw.get("context"), dict),
    }
    if wrong := [name for name, is_right in right.items() if not is_right]:
        return f"{', '.join(wrong)}: not as it was written"
    named = snapshot_id_of(datetime.fromisoformat(raw["observed_at"]), raw["digest"])
    if named != folder.name:
        return f"tells of a payload that would be named {named}"
    for number, part in enumerate(raw["parts"]):
        if not _is_part(part, number):
            return f"parts[{number}]: not as it was written"
    return None


def _is_part(part: Any, number: int) -> bool:
    return (
        isinstance(part, dict)
        and isinstance(part.get("name"), str)
        and isinstance(part.get("url"), str | None)
        and isinstance(part.get("status"), int | None)
        # A name of another's making could lead out of the folder.
        and part.get("file") == part_file(number)
        and _is_sha256(part.get("file_sha256"))
        and _is_sha256(part.get("sha256"))
        and type(part.get("bytes")) is int
        and {"url", "status"} <= part.keys()
    )


def _is_sha256(value: object) -> bool:
    return isinstance(value, str) and SHA256.fullmatch(value) is not None
