"""The write-once store of payloads: bytes as received, with a sidecar that says what they are.

Belongs here: putting payloads on disk whole or not at all, and finding and verifying them again.
Does not belong here: fetching (`http.py`) and any look inside the bytes (`source.py`, `sources/`).

    var/snapshots/<source>/<snapshot_id>/part-0.gz ... sidecar.json     one folder a snapshot
    var/snapshots/<source>/sightings.jsonl                              the same bytes, seen again

A snapshot folder is written under another name, synced and renamed: half a snapshot cannot exist under
its own name. Everything else that the project keeps can be rebuilt from here, so nothing here is ever
changed or deleted by a run.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.failure import Failure
from pipelines.source import Part, Snapshot

UNFINISHED = ".unfinished-"


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
class Sighting:
    """The payload of a snapshot was seen again, unchanged, at `observed_at`."""

    source: str
    snapshot_id: str
    observed_at: datetime
    recorded_at: datetime


class SnapshotStore:
    """The payloads below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[str, dict[str, Sidecar]] = {}

    def add(
        self,
        source: str,
        parts: tuple[Part, ...],
        *,
        observed_at: datetime,
        recorded_at: datetime,
        slice_name: str = "all",
        context: Mapping[str, Any] | None = None,
        sightings: bool = True,
    ) -> tuple[Sidecar, bool]:
        """Store a complete payload; returns its sidecar and whether it is new.

        A payload equal to the newest one of its slice is not stored again: a later look at it becomes
        a sighting, unless `sightings` is off, as for a seed, where looking proves nothing. Raises OSError
        when the disk refuses; nothing half stays behind under a valid name.
        """
        context = dict(context or {})
        digest = _digest(slice_name, context, parts)
        snapshot_id = f"{observed_at.astimezone(UTC):%Y%m%dT%H%M%SZ}-{digest[:12]}"
        newest = self._newest(source, slice_name)
        if newest and newest.digest == digest and observed_at >= newest.observed_at:
            if sightings and observed_at > newest.observed_at:
                self._sight(Sighting(source, newest.snapshot_id, observed_at, recorded_at))
            return newest, False
        final = self.root / source / snapshot_id
        if final.exists():
            return _read_sidecar(final), False
        # mtime 0: equal bytes make equal files, so copies of the store can be compared.
        files = [gzip.compress(part.body, mtime=0) for part in parts]
        described = tuple(
            {
                "name": part.name,
                "url": part.url,
                "status": part.status,
                "file": f"part-{number}.gz",
                "file_sha256": hashlib.sha256(file).hexdigest(),
                "bytes": len(part.body),
                "sha256": hashlib.sha256(part.body).hexdigest(),
            }
            for number, (part, file) in enumerate(zip(parts, files, strict=True))
        )
        sidecar = Sidecar(
            source, snapshot_id, slice_name, digest, observed_at, recorded_at, described, context
        )
        self._write(final, sidecar, files)
        return sidecar, True

    def sidecars(self, source: str | None = None) -> list[Sidecar]:
        """Every stored snapshot, of one source or of all, ordered by source, observation and id.

        Raises DamagedSnapshot when a sidecar cannot be read.
        """
        found = [
            _read_sidecar(folder)
            for folder in self.root.glob(f"{source or '*'}/*")
            if folder.is_dir() and not folder.name.startswith(UNFINISHED)
        ]
        return sorted(found, key=lambda s: (s.source, s.observed_at, s.snapshot_id))

    def sightings(self) -> list[Sighting]:
        """Every later look at an unchanged payload. A line torn by a crash is no sighting."""
        found = []
        for path in sorted(self.root.glob("*/sightings.jsonl")):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    raw = json.loads(line)
                    found.append(
                        Sighting(
                            path.parent.name,
                            raw["snapshot_id"],
                            datetime.fromisoformat(raw["observed_at"]),
                            datetime.fromisoformat(raw["recorded_at"]),
                        )
                    )
                except (ValueError, KeyError, TypeError):
                    continue
        return found

    def load(self, sidecar: Sidecar) -> Snapshot:
        """Read the bytes of a stored payload and verify them; raises DamagedSnapshot on any difference."""
        folder = self.root / sidecar.source / sidecar.snapshot_id
        parts = tuple(_read_part(folder, described) for described in sidecar.parts)
        if _digest(sidecar.slice, sidecar.context, parts) != sidecar.digest:
            raise DamagedSnapshot(f"{folder / 'sidecar.json'}: does not describe the bytes beside it")
        return Snapshot(
            source=sidecar.source,
            snapshot_id=sidecar.snapshot_id,
            slice=sidecar.slice,
            parts=parts,
            observed_at=sidecar.observed_at,
            recorded_at=sidecar.recorded_at,
            context=sidecar.context,
        )

    def _newest(self, source: str, slice_name: str) -> Sidecar | None:
        # A folder is imported file by file: what was read once is not read again, since it never changes.
        known, place = self._known.setdefault(source, {}), self.root / source
        names = os.listdir(place) if place.is_dir() else []
        for name in names:
            if name not in known and not name.startswith(UNFINISHED) and (place / name).is_dir():
                known[name] = _read_sidecar(place / name)
        of_slice = [known[name] for name in names if name in known and known[name].slice == slice_name]
        return max(of_slice, key=lambda s: (s.observed_at, s.snapshot_id), default=None)

    def _write(self, final: Path, sidecar: Sidecar, files: list[bytes]) -> None:
        unfinished = final.with_name(f"{UNFINISHED}{final.name}-{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            for described, file in zip(sidecar.parts, files, strict=True):
                _write_synced(unfinished / described["file"], file)
            _write_synced(unfinished / "sidecar.json", _sidecar_json(sidecar).encode())
            _sync_folder(unfinished)
            os.replace(unfinished, final)
            _sync_folder(final.parent)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise

    def _sight(self, sighting: Sighting) -> None:
        path = self.root / sighting.source / "sightings.jsonl"
        line = json.dumps(
            {
                "snapshot_id": sighting.snapshot_id,
                "observed_at": sighting.observed_at.isoformat(),
                "recorded_at": sighting.recorded_at.isoformat(),
            }
        )
        # The leading newline keeps a line torn by an earlier crash from swallowing this one.
        with path.open("a", encoding="utf-8") as stream:
            stream.write(f"\n{line}\n")
            stream.flush()
            os.fsync(stream.fileno())


def unfinished_folders(root: Path) -> Iterator[Path]:
    """Folders that a killed run left behind; they hold no snapshot and may be deleted."""
    return root.glob(f"*/{UNFINISHED}*")


def _digest(slice_name: str, context: Mapping[str, Any], parts: tuple[Part, ...]) -> str:
    hashed = hashlib.sha256(json.dumps([slice_name, context], sort_keys=True).encode())
    for part in parts:
        hashed.update(hashlib.sha256(part.body).digest())
    return hashed.hexdigest()


def _sidecar_json(sidecar: Sidecar) -> str:
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


def _read_sidecar(folder: Path) -> Sidecar:
    try:
        body = (folder / "sidecar.json").read_bytes()
        raw = json.loads(body.decode("utf-8"))
        if (raw["source"], raw["snapshot_id"]) != (folder.parent.name, folder.name):
            raise DamagedSnapshot(
                f"{folder / 'sidecar.json'}: belongs to {raw['source']}/{raw['snapshot_id']}"
            )
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
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DamagedSnapshot(f"{folder / 'sidecar.json'}: {error}") from error


def _read_part(folder: Path, described: Mapping[str, Any]) -> Part:
    path = folder / described["file"]
    try:
        file = path.read_bytes()
        if hashlib.sha256(file).hexdigest() != described["file_sha256"]:
            raise DamagedSnapshot(f"{path}: the bytes are not those that were stored")
        body = gzip.decompress(file)
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise DamagedSnapshot(f"{path}: {error!r}") from error
    if hashlib.sha256(body).hexdigest() != described["sha256"]:
        raise DamagedSnapshot(f"{path}: the bytes are not those that were stored")
    return Part(described["name"], body, described["url"], described["status"])


def _write_synced(path: Path, body: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(body)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
