"""The write-once store of payloads: bytes as received, with a sidecar that says what they are.

Belongs here: putting payloads on disk whole or not at all, and finding and verifying them again.
Does not belong here: fetching (`http.py`), what a sidecar says (`sidecar.py`) and any look inside the bytes
(`source.py`, `sources/`).

    var/snapshots/<source>/<snapshot_id>/part-0.gz ... sidecar.json     one folder a snapshot
    var/snapshots/<source>/sightings.jsonl                              the same bytes, seen again
    var/snapshots/<source>/failed_looks.jsonl                           asked, and no payload came

A snapshot folder is written under another name, synced and renamed: half a snapshot cannot exist under
its own name. Everything else that the project keeps can be rebuilt from here, so nothing here is ever
changed or deleted by a run. What is damaged on the disk is set aside by name and holds nothing else back.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from pipelines import leftovers
from pipelines import sidecar as sidecar_file
from pipelines.sidecar import DamagedSnapshot, Sidecar, Unreadable
from pipelines.source import Part, Snapshot

UNFINISHED = ".unfinished-"
SIGHTINGS, FAILED_LOOKS = "sightings.jsonl", "failed_looks.jsonl"


@dataclass(frozen=True)
class Sighting:
    """The payload of a snapshot was seen again, unchanged, at `observed_at`."""

    source: str
    snapshot_id: str
    observed_at: datetime
    recorded_at: datetime


@dataclass(frozen=True)
class FailedLook:
    """A slice of a source was asked at `tried_at` and gave no payload; `told` says why, in one line."""

    source: str
    slice: str
    tried_at: datetime
    reason: str
    told: str


class SnapshotStore:
    """The payloads below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[str, dict[str, Sidecar | None]] = {}

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

        A payload equal to the newest one of its slice up to then is not stored again: a later look at it
        becomes a sighting, unless `sightings` is off, as for a seed, where looking proves nothing. One that
        is damaged on the disk proves nothing either: the payload is stored anew beside it. Raises OSError
        when the disk refuses, and DamagedSnapshot when a damaged one has the very name that this would have.
        """
        context = dict(context or {})
        digest = _digest(slice_name, context, parts)
        snapshot_id = sidecar_file.snapshot_id_of(observed_at, digest)
        before = self._newest(source, slice_name, observed_at)
        if before and before.digest == digest and self._is_whole(before):
            if sightings and observed_at > before.observed_at:
                self._sight(Sighting(source, before.snapshot_id, observed_at, recorded_at))
            return before, False
        final = self.root / source / snapshot_id
        if os.path.lexists(final):
            try:
                there = sidecar_file.read(final)
                self.load(there)
            except DamagedSnapshot as error:
                raise DamagedSnapshot(f"{error}; move {final} away to store the payload anew") from error
            return there, False
        # mtime 0: equal bytes make equal files, so copies of the store can be compared.
        files = [gzip.compress(part.body, mtime=0) for part in parts]
        described = tuple(
            {
                "name": part.name,
                "url": part.url,
                "status": part.status,
                "file": sidecar_file.part_file(number),
                "file_sha256": hashlib.sha256(file).hexdigest(),
                "bytes": len(part.body),
                "sha256": hashlib.sha256(part.body).hexdigest(),
            }
            for number, (part, file) in enumerate(zip(parts, files, strict=True))
        )
        sidecar = Sidecar(
            source, snapshot_id, slice_name, digest, observed_at, recorded_at, described, context
        )
        with _told_where(final):
            self._write(final, sidecar, files)
        return sidecar, True

    def survey(self, source: str | None = None) -> tuple[list[Sidecar], list[Unreadable]]:
        """Every stored snapshot, of one source or of all, and what cannot be read as one.

        Snapshots are ordered by source, observation and id. A look at the names and sizes of the files is
        taken, and none at their bytes (`load` verifies those).
        """
        found, unreadable = [], []
        for path in sorted(self.root.glob(f"{source or '*'}/*")):
            if path.name.startswith(UNFINISHED) or not _is_snapshot(path):
                continue
            try:
                found.append(sidecar_file.read(path))
            except DamagedSnapshot as error:
                unreadable.append(Unreadable(path.parent.name, path.name, str(error)))
        for name in (SIGHTINGS, FAILED_LOOKS):
            unreadable += [
                Unreadable(path.parent.name, name, f"{path}: is no file that can be read")
                for path in sorted(self.root.glob(f"{source or '*'}/{name}"))
                if not path.is_file()
            ]
        return sorted(found, key=lambda s: (s.source, s.observed_at, s.snapshot_id)), unreadable

    def sidecars(self, source: str | None = None) -> list[Sidecar]:
        """The snapshots of `survey`: those that can be read."""
        return self.survey(source)[0]

    def sightings(self) -> list[Sighting]:
        """Every later look at an unchanged payload. A line torn by a crash is no sighting."""
        return [
            Sighting(
                source,
                raw["snapshot_id"],
                datetime.fromisoformat(raw["observed_at"]),
                datetime.fromisoformat(raw["recorded_at"]),
            )
            for source, raw in _lines(
                self.root, SIGHTINGS, texts=("snapshot_id",), moments=("observed_at", "recorded_at")
            )
        ]

    def failed_looks(self) -> list[FailedLook]:
        """Every time that a source was asked for a slice and gave none. A torn line is none."""
        texts = ("slice", "reason", "told")
        return [
            FailedLook(
                source, raw["slice"], datetime.fromisoformat(raw["tried_at"]), raw["reason"], raw["told"]
            )
            for source, raw in _lines(self.root, FAILED_LOOKS, texts=texts, moments=("tried_at",))
        ]

    def note_failed_look(self, look: FailedLook) -> None:
        """Keep that a slice was asked and not given; raises OSError when the disk refuses."""
        told = {"slice": look.slice, "tried_at": look.tried_at.isoformat()}
        told |= {"reason": look.reason, "told": look.told}
        self._append(self.root / look.source / FAILED_LOOKS, told)

    def load(self, sidecar: Sidecar) -> Snapshot:
        """Read the bytes of a stored payload and verify them; raises DamagedSnapshot on any difference."""
        folder = self.root / sidecar.source / sidecar.snapshot_id
        parts = tuple(_read_part(folder, described) for described in sidecar.parts)
        if _digest(sidecar.slice, sidecar.context, parts) != sidecar.digest:
            raise DamagedSnapshot(f"{folder / sidecar_file.FILE}: does not describe the bytes beside it")
        return Snapshot(
            source=sidecar.source,
            snapshot_id=sidecar.snapshot_id,
            slice=sidecar.slice,
            parts=parts,
            observed_at=sidecar.observed_at,
            recorded_at=sidecar.recorded_at,
            context=sidecar.context,
        )

    def lost_part(self, sidecar: Sidecar) -> str | None:
        """The first file of a snapshot that is gone, empty or no file, in words; its bytes are not read."""
        for described in sidecar.parts:
            path = self.root / sidecar.source / sidecar.snapshot_id / described["file"]
            if not path.is_file():
                return f"{path}: is gone, or is no file"
            if not path.stat().st_size:
                return f"{path}: is empty"
        return None

    def clear_unfinished(self, source: str) -> list[str]:
        """Delete what killed processes left half written of a source; returns the names.

        The folder of a process that lives is left alone.
        """
        folders = (self.root / source).glob(f"{UNFINISHED}*")
        return [folder.name for folder in leftovers.remove(folders)]

    def newest_at(self, source: str) -> datetime | None:
        """The latest moment that a readable snapshot of the source shows."""
        self._read_new(source)
        return max((s.observed_at for s in self._known[source].values() if s), default=None)

    def _read_new(self, source: str) -> list[str]:
        # A folder is imported file by file: what was read once is not read again, since it never changes.
        known, place = self._known.setdefault(source, {}), self.root / source
        names = os.listdir(place) if place.is_dir() else []
        for name in set(known) - set(names):
            del known[name]
        for name in names:
            if name not in known and not name.startswith(UNFINISHED) and _is_snapshot(place / name):
                try:
                    known[name] = sidecar_file.read(place / name)
                except DamagedSnapshot:
                    known[name] = None
        return names

    def _newest(self, source: str, slice_name: str, up_to: datetime) -> Sidecar | None:
        # Up to the moment: what a clock that ran ahead left behind is not what came before this.
        self._read_new(source)
        found = (s for s in self._known[source].values() if s and s.slice == slice_name)
        return max(
            (s for s in found if s.observed_at <= up_to),
            key=lambda s: (s.observed_at, s.snapshot_id),
            default=None,
        )

    def _is_whole(self, sidecar: Sidecar) -> bool:
        try:
            self.load(sidecar)
        except DamagedSnapshot:
            return False
        return True

    def _write(self, final: Path, sidecar: Sidecar, files: list[bytes]) -> None:
        self.clear_unfinished(sidecar.source)
        unfinished = final.with_name(f"{UNFINISHED}{final.name}-{os.getpid()}")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            for described, file in zip(sidecar.parts, files, strict=True):
                _write_synced(unfinished / described["file"], file)
            _write_synced(unfinished / sidecar_file.FILE, sidecar_file.as_json(sidecar).encode())
            _sync_folder(unfinished)
            os.replace(unfinished, final)
            _sync_folder(final.parent)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise

    def _sight(self, sighting: Sighting) -> None:
        told = {
            "snapshot_id": sighting.snapshot_id,
            "observed_at": sighting.observed_at.isoformat(),
            "recorded_at": sighting.recorded_at.isoformat(),
        }
        self._append(self.root / sighting.source / SIGHTINGS, told)

    def _append(self, path: Path, told: Mapping[str, str]) -> None:
        with _told_where(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            # The leading newline keeps a line torn by an earlier crash from swallowing this one.
            with path.open("a", encoding="utf-8") as stream:
                stream.write(f"\n{json.dumps(told)}\n")
                stream.flush()
                os.fsync(stream.fileno())


def unfinished_folders(root: Path) -> Iterator[Path]:
    """Folders that a killed run left behind; they hold no snapshot and may be deleted."""
    return root.glob(f"*/{UNFINISHED}*")


def _is_snapshot(path: Path) -> bool:
    """Tell whether this is, or stands in the place of, a snapshot's folder."""
    return path.is_dir() or sidecar_file.SNAPSHOT_ID.fullmatch(path.name) is not None


def _lines(
    root: Path, name: str, texts: tuple[str, ...], moments: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, str]]]:
    """The source and content of every whole line of the files of that name."""
    for path in sorted(root.glob(f"*/{name}")):
        if not path.is_file():
            continue  # `survey` tells of it
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                raw = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if (
                isinstance(raw, dict)
                and all(isinstance(raw.get(key), str) for key in texts)
                and all(sidecar_file.is_moment(raw.get(key)) for key in moments)
            ):
                yield path.parent.name, raw


@contextmanager
def _told_where(path: Path) -> Iterator[None]:
    """Name the place in an error of the disk: a write that fails does not say which file it was."""
    try:
        yield
    except OSError as error:
        told = f"{error.strerror}; the payload is not stored, and what was stored before stands"
        raise OSError(error.errno, told, str(path)) from error


def _digest(slice_name: str, context: Mapping[str, Any], parts: tuple[Part, ...]) -> str:
    hashed = hashlib.sha256(json.dumps([slice_name, context], sort_keys=True).encode())
    for part in parts:
        hashed.update(hashlib.sha256(part.body).digest())
    return hashed.hexdigest()


def _read_part(folder: Path, described: Mapping[str, Any]) -> Part:
    path = folder / described["file"]
    try:
        file = path.read_bytes()
        if hashlib.sha256(file).hexdigest() != described["file_sha256"]:
            raise DamagedSnapshot(f"{path}: the bytes are not those that were stored")
        body = gzip.decompress(file)
    except (OSError, EOFError, ValueError, KeyError, zlib.error) as error:
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
