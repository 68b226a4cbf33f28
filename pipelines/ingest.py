"""Payloads in: a live fetch or a person's file becomes a snapshot.

Belongs here: deciding what a payload's moment is, and storing it. Does not belong here: Dagster, DuckDB,
and any look into the bytes beyond the moment that the source's own `observed_at` finds in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines.decode import strict_yaml
from pipelines.failure import Failure
from pipelines.http import Fetcher, FetchError
from pipelines.snapshots import Sidecar, SnapshotStore
from pipelines.source import Parsed, Part, Snapshot, Source, SourceError, permitted, read


class ImportRefused(Failure):
    """A file was not taken in; the message says why and what to do. Nothing was stored."""


@dataclass(frozen=True)
class Stored:
    """A payload that is in the store: its sidecar, and whether it was new."""

    sidecar: Sidecar
    is_new: bool


def fetch(source: Source, store: SnapshotStore, fetcher: Fetcher) -> Iterator[Stored | FetchError]:
    """Ask a source for everything that it declares; yield each slice stored, or the error that lost it."""
    for answered in fetcher.slices(source):
        if isinstance(answered, FetchError):
            yield answered
            continue
        # The clock is read once a slice: what was asked for first was not seen last.
        now = datetime.now(UTC)
        sidecar, is_new = store.add(
            source.slug, answered.parts, observed_at=now, recorded_at=now, slice_name=answered.name
        )
        yield Stored(sidecar, is_new)


def import_file(
    source: Source,
    store: SnapshotStore,
    path: Path,
    stated: datetime | None = None,
    context: Mapping[str, Any] | None = None,
) -> tuple[Stored, Parsed]:
    """Check a file with the source's own parser and store it as a snapshot.

    `stated` is the moment that a person says the file shows; it is wanted only where neither the payload
    nor the file's name proves one. Raises ImportRefused, and stores nothing, for a file that cannot be
    read, that the parser refuses, or whose moment is not known.
    """
    if source.needs_permission and source.slug not in permitted():
        raise ImportRefused(f"{source.slug}: {source.off_because}")
    try:
        parts = (Part(path.name, path.read_bytes()),)
    except OSError as error:
        raise ImportRefused(f"{path}: {error.strerror}") from error
    now = datetime.now(UTC)
    try:
        observed_at = _moment(source, parts, path, stated)
        parsed = read(
            source, Snapshot(source.slug, "trial", "import", parts, observed_at, now, context or {})
        )
    except SourceError as error:
        raise ImportRefused(f"{path}: not a payload of {source.slug}: {error}") from error
    except (Failure, OSError):
        raise
    except Exception as error:
        raise ImportRefused(f"{path}: the parser of {source.slug} broke on it: {error!r}") from error
    if observed_at > now:
        raise ImportRefused(f"{path}: shows {observed_at:%Y-%m-%d %H:%M} UTC, which lies in the future")
    sidecar, is_new = store.add(
        source.slug,
        parts,
        observed_at=observed_at,
        recorded_at=now,
        slice_name=_slice(source, path),
        context=context,
    )
    return Stored(sidecar, is_new), parsed


def context_of(path: Path, stated: Path | None = None) -> dict[str, Any]:
    """What a person states beside a payload: the YAML `stated`, else `<path>.context.yaml`, else nothing.

    Raises ImportRefused when the YAML cannot be read or is no mapping.
    """
    beside = path.with_name(f"{path.name}.context.yaml")
    chosen = stated or (beside if beside.exists() else None)
    if chosen is None:
        return {}
    try:
        context = strict_yaml(chosen.read_bytes())
    except OSError as error:
        raise ImportRefused(f"{chosen}: {error.strerror}") from error
    except SourceError as error:
        raise ImportRefused(f"{chosen}: {error}") from error
    if not isinstance(context, dict):
        raise ImportRefused(f"{chosen}: wants `name: value` lines")
    # A sidecar is JSON: dates and decimals go in as the text that was typed.
    return json.loads(json.dumps(context, default=str))


def _slice(source: Source, path: Path) -> str:
    """The slice that a file continues: the source's only one, else files of one name, dates aside."""
    # What a keyed source would ask for cannot be known without its key; each of ours asks in one slice.
    if source.key_variable:
        return "all"
    if source.requests and {request.slice for request in source.requests()} == {"all"}:
        return "all"
    stem = re.sub(r"[0-9a-f]{10,}|\d+", "", path.name.split(".")[0])
    return "import:" + re.sub(r"[^A-Za-z]+", "-", stem).strip("-").lower()


def _moment(source: Source, parts: tuple[Part, ...], path: Path, stated: datetime | None) -> datetime:
    proven = source.observed_at(parts) if source.observed_at else None
    named = _named_moment(path.name)
    if stated is not None:
        if proven is not None and abs((proven - stated).total_seconds()) > 86_400:
            raise ImportRefused(
                f"{path}: the payload says {proven:%Y-%m-%d %H:%M} UTC, --observed-at says "
                f"{stated:%Y-%m-%d %H:%M} UTC; leave --observed-at out or mend it"
            )
        return proven or stated
    if proven is None and named is None:
        raise ImportRefused(
            f"{path}: neither the payload nor its name says when it was seen; "
            "add --observed-at YYYY-MM-DD (or an instant with its zone)"
        )
    return proven or named


def _named_moment(name: str) -> datetime | None:
    """The one date, or instant in UTC, that a file name carries: 2024-01-19, 2024-03-15T211034Z."""
    found = re.findall(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):?(\d{2}):?(\d{2})Z)?(?!\d)", name)
    if len(found) != 1:
        return None
    year, month, day, hour, minute, second = (int(part) if part else 0 for part in found[0])
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
