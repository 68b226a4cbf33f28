"""Payloads in: a live fetch or a person's file becomes a snapshot.

Belongs here: deciding what a payload's moment is, and storing it. Does not belong here: Dagster, DuckDB,
which files of a folder are payloads (`imports.py`), and any look into the bytes beyond what the source's
own `observed_at` and parser find in them.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from pathlib import Path
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import iso_date
from pipelines.failure import Failure
from pipelines.http import Fetcher, FetchError
from pipelines.sidecar import Sidecar
from pipelines.snapshots import FailedLook, SnapshotStore
from pipelines.source import Parsed, Part, Snapshot, Source, SourceError, permitted, read


class ImportRefused(Failure):
    """A file was not taken in; the message says why and what to do. Nothing was stored."""


class NoRoom(Failure):
    """The disk of the store has not the room that one payload may take; nothing was asked."""


@dataclass(frozen=True)
class Stored:
    """A payload that is in the store: its sidecar, and whether it was new.

    clock: None, or in words that the store holds a later moment than this machine's clock says.
    """

    sidecar: Sidecar
    is_new: bool
    clock: str | None = None


def fetch(
    source: Source,
    store: SnapshotStore,
    fetcher: Fetcher,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Iterator[Stored | FetchError]:
    """Ask a source for everything that it declares; yield each slice stored, or the error that lost it.

    `clock` says what time it is, with its zone: the moment of a payload is when it was whole. What was asked
    and not given is kept too. Raises NoRoom before anything is asked, and OSError when the disk refuses.
    """
    wants_room(store, fetcher.limits.max_bytes)
    store.clear_unfinished(source.slug)
    for answered in fetcher.slices(source):
        # The clock is read once a slice: what was asked for first was not seen last.
        now = clock()
        if isinstance(answered, FetchError):
            look = FailedLook(source.slug, answered.slice, now, answered.reason, str(answered))
            store.note_failed_look(look)
            yield answered
            continue
        latest = store.newest_at(source.slug)
        sidecar, is_new = store.add(
            source.slug, answered.parts, observed_at=now, recorded_at=now, slice_name=answered.name
        )
        yield Stored(sidecar, is_new, _clock(now, latest))


def wants_room(store: SnapshotStore, wanted_bytes: int) -> None:
    """Raise NoRoom unless the disk below the store has so much room."""
    place = store.root
    while not place.exists():
        place = place.parent
    free_bytes = shutil.disk_usage(place).free
    if free_bytes < wanted_bytes:
        raise NoRoom(
            f"{store.root}: {free_bytes / 1e6:.0f} MB are free and one payload may take "
            f"{wanted_bytes / 1e6:.0f} MB; nothing was asked: make room"
        )


def _clock(now: datetime, latest: datetime | None) -> str | None:
    if latest is None or latest <= now:
        return None
    return (
        f"the store holds a payload of {latest:%Y-%m-%d %H:%M:%S} UTC, and this machine's clock says "
        f"{now:%Y-%m-%d %H:%M:%S}: one of the two is wrong; builds leave out what lies ahead of them"
    )


def import_file(
    source: Source,
    store: SnapshotStore,
    path: Path,
    stated: datetime | None = None,
    context: Mapping[str, Any] | None = None,
) -> tuple[Stored, Parsed]:
    """Read a file and import its bytes under its name; raises as `import_payload` does."""
    try:
        part = Part(path.name, path.read_bytes())
    except OSError as error:
        raise ImportRefused(f"{path}: {error.strerror}") from error
    return import_payload(source, store, part, stated, context, shown=str(path))


def import_payload(
    source: Source,
    store: SnapshotStore,
    part: Part,
    stated: datetime | None = None,
    context: Mapping[str, Any] | None = None,
    *,
    shown: str = "",
) -> tuple[Stored, Parsed]:
    """Check a payload with the source's own parser and store it as a snapshot, bytes as they are.

    `stated` is the moment that a person says it shows; it is wanted only where neither the payload nor its
    name nor, for a measurement, the `measured_on` of its context proves one. `shown` is what it is called
    in a message. Raises ImportRefused, and stores nothing, for a payload that the parser refuses, or whose
    moment is not known or lies in the future.
    """
    wants_permission(source)
    shown, context, now = shown or part.name, dict(context or {}), datetime.now(UTC)
    unknown: ImportRefused | None = None
    try:
        try:
            observed_at = _moment(source, part, stated, context, shown)
        except ImportRefused as error:
            # Whoever brings another file than they think must not be asked for its date first.
            unknown, observed_at = error, now
        parsed = _trial(source, part, observed_at, now, context)
    except SourceError as error:
        raise ImportRefused(f"{shown}: not a payload of {source.slug}: {one_line(error)}") from error
    except (Failure, OSError):
        raise
    except Exception as error:
        raise ImportRefused(
            f"{shown}: the parser of {source.slug} broke on it: {one_line(repr(error))}"
        ) from error
    if unknown:
        raise unknown
    if observed_at > now:
        raise ImportRefused(f"{shown}: shows {observed_at:%Y-%m-%d %H:%M} UTC, which lies in the future")
    sidecar, is_new = store.add(
        source.slug,
        (part,),
        observed_at=observed_at,
        recorded_at=now,
        slice_name=_slice(source, part.name),
        context=context,
    )
    return Stored(sidecar, is_new), parsed


def wants_permission(source: Source) -> None:
    """Raise ImportRefused for a source that works only with a permission that nobody states to hold."""
    if source.needs_permission and source.slug not in permitted():
        raise ImportRefused(f"{source.slug}: {source.off_because}")


def is_payload(source: Source, part: Part) -> bool:
    """Tell whether the source's parser reads `part` as it stands, without a context."""
    now = datetime.now(UTC)
    try:
        _trial(source, part, now, now, {})
    except Exception:  # whatever the parser says or stumbles over: it does not read it
        return False
    return True


def one_line(text: object) -> str:
    """Return a message, which may quote a reader's several lines, as one."""
    return " ".join(str(text).split())


def _trial(
    source: Source, part: Part, observed_at: datetime, now: datetime, context: Mapping[str, Any]
) -> Parsed:
    return read(source, Snapshot(source.slug, "trial", "import", (part,), observed_at, now, context))


def _slice(source: Source, name: str) -> str:
    """The slice that a file continues: the source's only one, else files of one name, dates aside."""
    # What a keyed source would ask for cannot be known without its key; each of ours asks in one slice.
    if source.key_variable:
        return "all"
    if source.requests and {request.slice for request in source.requests()} == {"all"}:
        return "all"
    stem = re.sub(r"[0-9a-f]{10,}|\d+", "", name.split(".")[0])
    return "import:" + re.sub(r"[^A-Za-z]+", "-", stem).strip("-").lower()


def _moment(
    source: Source, part: Part, stated: datetime | None, context: Mapping[str, Any], shown: str
) -> datetime:
    """The moment that a payload shows, from the best that proves one; ImportRefused where nothing does.

    A day is read as its start in UTC, wherever it stands: in a name, on the command line, in a context.
    """
    proven = source.observed_at((part,)) if source.observed_at else None
    if stated is not None:
        if proven is not None and abs((proven - stated).total_seconds()) > 86_400:
            raise ImportRefused(
                f"{shown}: the payload says {proven:%Y-%m-%d %H:%M} UTC, --observed-at says "
                f"{stated:%Y-%m-%d %H:%M} UTC; leave --observed-at out or mend it"
            )
        return proven or stated
    moment = proven or _named_moment(part.name) or _measured(source, context, shown)
    if moment is None:
        raise ImportRefused(
            f"{shown}: neither the payload nor its name says when it was seen; "
            "add --observed-at YYYY-MM-DD (or an instant with its zone)"
            + (", or measured_on to its context" if source.kind == "benchmark" else "")
        )
    return moment


def _measured(source: Source, context: Mapping[str, Any], shown: str) -> datetime | None:
    """The day of a measurement that a person states; a price has no such day, it must be seen."""
    day = context.get("measured_on")
    if source.kind != "benchmark" or day is None or day == "":
        return None
    try:
        return datetime.combine(iso_date("measured_on", day), time(), tzinfo=UTC)
    except ContractError as error:
        raise ImportRefused(f"{shown}: the context's measured_on: {error.reason}: {day!r}") from error


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
