"""What a build was made of: the snapshots and sightings that it had loaded, each by its hash, and the code.

Belongs here: telling the cut of a warehouse, writing it beside a published version, and a store that shows
no more than a cut. Does not belong here: rebuilding from one and comparing (`reproduce.py`).

    snapshots.json    {"snapshots": {"<source>/<snapshot_id>": sha256 of its sidecar},
                       "sightings": {"<source>": {"count": n, "sha256": of those n}}}

A sidecar holds the hash of every part beside it, so that the list fixes every byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from pipelines.failure import Failure
from pipelines.home import PROJECT
from pipelines.sidecar import DamagedSnapshot, Sidecar, Unreadable
from pipelines.snapshots import Sighting, SnapshotStore

FILE = "snapshots.json"
CODE = {"pipelines": "**/*.py", "sql": "**/*.sql"}


class CutUnknown(Failure):
    """What a published version was made of is not written down, or not as it was written."""


class CutGone(Failure):
    """The store no longer holds what a cut names; the message names what is missing or other."""


@dataclass(frozen=True)
class Sightings:
    """The first `count` sightings of a source's file, with the sha256 over them, whatever their order."""

    count: int
    sha256: str


@dataclass(frozen=True)
class Cut:
    """snapshots: `source/snapshot_id` -> sha256 of the sidecar's file; sightings: by source."""

    snapshots: Mapping[str, str]
    sightings: Mapping[str, Sightings]


class CutStore(SnapshotStore):
    """A store that shows the given snapshots and sightings and no others; it is only to be read."""

    def __init__(self, store: SnapshotStore, sidecars: list[Sidecar], sightings: list[Sighting]) -> None:
        super().__init__(store.root)
        self._sidecars = sidecars
        self._sightings = sightings

    def survey(self, source: str | None = None) -> tuple[list[Sidecar], list[Unreadable]]:
        """The snapshots of the cut, of one source or of all, in the order of the whole store.

        What cannot be read is in no cut: nothing says what it was.
        """
        return [s for s in self._sidecars if source is None or s.source == source], []

    def sightings(self) -> list[Sighting]:
        """The sightings of the cut."""
        return self._sightings


def of_warehouse(connection: duckdb.DuckDBPyConnection, raw: str = "raw") -> Cut:
    """The cut that the tables in the schema `raw` were loaded from."""
    snapshots = connection.execute(
        f"select distinct source || '/' || snapshot_id, sidecar_sha256 from {raw}.snapshot_part order by all"
    ).fetchall()
    looks = connection.execute(
        f"select source, snapshot_id, observed_at, recorded_at from {raw}.sighting"
    ).fetchall()
    return Cut(dict(snapshots), _by_source(Sighting(*look) for look in looks))


def write(cut: Cut, path: Path) -> None:
    """Write a cut as JSON."""
    body = {
        "snapshots": cut.snapshots,
        "sightings": {source: asdict(found) for source, found in cut.sightings.items()},
    }
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Cut:
    """Read a cut back; raises CutUnknown where there is none or it is not what was written."""
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
        sightings = {source: Sightings(**found) for source, found in body["sightings"].items()}
        return Cut(body["snapshots"], sightings)
    except FileNotFoundError as error:
        raise CutUnknown(
            f"{path} is not there: this version was published before its snapshots were written down; "
            "`tokenyield build` publishes one that says them"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CutUnknown(f"{path} is not as it was written: {error!r}") from error


def store_of(store: SnapshotStore, cut: Cut) -> CutStore:
    """The store as it was when `cut` was loaded.

    Raises CutGone, naming each, for a snapshot that is no longer there or whose sidecar is another, and
    for sightings that are not those of then.
    """
    found = {f"{s.source}/{s.snapshot_id}": s for s in store.sidecars()}
    wrong = [f"{store.root / name}: is gone" for name in cut.snapshots if name not in found]
    wrong += [
        f"{store.root / name / 'sidecar.json'}: the bytes are not those that were stored"
        for name, sha256 in cut.snapshots.items()
        if name in found and found[name].sha256 != sha256
    ]
    sightings = []
    for source, wanted in cut.sightings.items():
        first = [s for s in store.sightings() if s.source == source][: wanted.count]
        if _by_source(first).get(source) != wanted:
            wrong.append(f"{store.root / source / 'sightings.jsonl'}: not the sightings of then")
        sightings += first
    if wrong:
        raise CutGone("what it was made of is not there any more:\n  " + "\n  ".join(wrong))
    return CutStore(store, [s for name, s in found.items() if name in cut.snapshots], sightings)


def store_at(store: SnapshotStore, stored_to: datetime) -> CutStore:
    """The store as it was at a moment: what was stored by then, that moment included."""
    return CutStore(
        store,
        [s for s in store.sidecars() if s.recorded_at <= stored_to],
        [s for s in store.sightings() if s.recorded_at <= stored_to],
    )


def damaged(store: SnapshotStore, sidecars: Iterable[Sidecar]) -> Iterator[str | None]:
    """Read every byte of each snapshot again; yields what is wrong with it, naming the file, or None."""
    for sidecar in sidecars:
        try:
            store.load(sidecar)
        except DamagedSnapshot as error:
            yield str(error)
        else:
            yield None


@cache
def code_version() -> dict[str, str]:
    """A short hash of the code that makes the values, by folder: what parses and builds, and the models."""
    versions = {}
    for folder, pattern in CODE.items():
        code = hashlib.sha256()
        for path in sorted((PROJECT / folder).glob(pattern)):
            code.update(path.relative_to(PROJECT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
        versions[folder] = code.hexdigest()[:12]
    return versions | {"duckdb": duckdb.__version__}


def code_changes(then: Mapping[str, Any] | None) -> list[str]:
    """In which parts the code differs from `then`; all that is known where `then` does not say it."""
    if not then:
        return ["not written down"]
    return [part for part, version in code_version().items() if then.get(part) != version]


def _by_source(looks: Iterable[Sighting]) -> dict[str, Sightings]:
    lines: dict[str, list[str]] = {}
    for look in looks:
        moments = (look.observed_at, look.recorded_at)
        told = [look.snapshot_id, *(moment.astimezone(UTC).isoformat() for moment in moments)]
        lines.setdefault(look.source, []).append("|".join(told))
    return {
        source: Sightings(len(found), hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest())
        for source, found in sorted(lines.items())
    }
