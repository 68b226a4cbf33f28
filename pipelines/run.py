"""The steps of a run, as plain functions: load, model, record, publish, tell.

Belongs here: the order of work within one step and what each leaves behind. Does not belong here:
Dagster (`assets/`), which only calls these, and the command line (`cli.py`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, time
from functools import cache
from itertools import chain

import duckdb

from pipelines import alerts, as_known, leftovers, own_numbers, raw, sql_build, sql_models
from pipelines import publish as publishing
from pipelines import record as recording
from pipelines.home import SEEDS, SQL, Home
from pipelines.macros import Macro
from pipelines.raw import Loaded
from pipelines.sidecar import Sidecar
from pipelines.snapshots import SnapshotStore, unfinished_folders
from pipelines.sql_build import Built
from pipelines.sql_models import Model
from pipelines.warehouse import Warehouse

# Each takes seconds; after a long gap the next runs go on.
LATE_RECORDS = 7


@cache
def models() -> dict[str, Model]:
    """Every model of the project, in building order."""
    return sql_models.read_models(SQL)


@cache
def macros() -> tuple[Macro, ...]:
    """Every macro of the published file."""
    return (*as_known.macros(models()), *own_numbers.macros(models()))


def load(
    home: Home,
    as_of: datetime | None = None,
    progress: Callable[[Loaded], None] = lambda loaded: None,
    now: datetime | None = None,
) -> list[Loaded]:
    """Snapshot the seeds and bring raw up to everything stored; `as_of` defaults to now, the clock.

    A warehouse that is damaged is set aside, and everything stored is loaded into an empty one.
    """
    now = now or datetime.now(UTC).replace(microsecond=0)
    store = SnapshotStore(home.snapshots)
    leftovers.remove(unfinished_folders(home.snapshots))
    facts = raw.store_seeds(store, SEEDS, now)
    with Warehouse(home.warehouse).write(mends=True) as connection:
        return raw.load(connection, store, facts, as_of or now, progress)


def build(home: Home, progress: Callable[[Built], None] = lambda built: None) -> list[Built]:
    """Build every model in one transaction; raises CheckFailed and changes nothing when a check fails."""
    with Warehouse(home.warehouse).write() as connection:
        return _build(connection, progress)


def rebuild(home: Home, told: Callable[[str], None], now: datetime | None = None) -> list[Built]:
    """Load and build everything from the snapshots alone, in one transaction on an empty warehouse.

    It takes the place of the one that is there when every check has passed; `told` gets lines of progress.
    """
    now = now or datetime.now(UTC).replace(microsecond=0)
    store = SnapshotStore(home.snapshots)
    facts = raw.store_seeds(store, SEEDS, now)
    with Warehouse(home.warehouse).write(anew=True) as connection:
        loaded = raw.load(connection, store, facts, now)
        told(f"raw  {len(loaded)} payloads loaded")
        return _build(connection, lambda built: told(f"{built.model.name}  {built.rows} rows"))


def _build(connection: duckdb.DuckDBPyConnection, progress: Callable[[Built], None]) -> list[Built]:
    built = sql_build.build(connection, models(), sorted((SQL / "checks").glob("*.sql")), progress)
    connection.execute("delete from raw.build")
    connection.execute("insert into raw.build select as_of from raw.run")
    return built


def record(home: Home, now: datetime | None = None) -> tuple[Sidecar | None, str]:
    """Write the headline yields of today as a write-once snapshot; returns it and what became of it.

    One record a UTC day: the first one stands, whatever is derived later, and shows as drift. A build that
    looks at another day (`as_of`) records nothing: a record says what was said on its day.
    """
    now = now or datetime.now(UTC)
    with Warehouse(home.warehouse).read() as connection:
        built = connection.execute("select as_of from raw.build").fetchone()
        if built is None:
            return None, "nothing written: the last model run did not finish; build again"
        as_of = built[0].astimezone(UTC)
        rows = recording.yields(connection, as_of.date())
        made_of = recording.context(connection)
    day = f"{as_of:%Y-%m-%d}"
    if as_of.date() != now.date():
        return None, f"nothing written: the build is as of {day}, and a record is of its own day"
    if as_of > now:
        # A record that is older than its facts would be a lie about when they were known.
        told = f"the build is as of {as_of:%H:%M:%S}, the clock says {now:%H:%M:%S} UTC"
        return None, f"nothing written: {told}: it went back; build again"
    if not rows:
        return None, "nothing written: no yield beside the headline"
    store = SnapshotStore(home.snapshots)
    earlier, unreadable = store.survey(recording.SLUG)
    for found in earlier:
        if found.slice == day:
            return found, f"{day} stands already"
    for found in unreadable:
        if found.observed_at and found.observed_at.date() == as_of.date():
            return None, f"nothing written: {day} has a record, and it is damaged: {found.reason}"
    part = recording.part(as_of, rows)
    times = {"observed_at": as_of, "recorded_at": now}
    sidecar, _ = store.add(recording.SLUG, (part,), **times, slice_name=day, context=made_of)
    return sidecar, f"{day} written"


def catch_up(home: Home, now: datetime | None = None) -> list[Sidecar]:
    """Write records of missed days, as far as our own store held facts at the end of each; returns them.

    Nothing that was stored after a day enters its record, so what arrives late is drift there as elsewhere;
    code and reference seeds are today's. The record says when it was written and is never taken for one of
    its day. A day of which the store held no yield stays missed. No more than LATE_RECORDS a run.
    """
    now = now or datetime.now(UTC)
    store = SnapshotStore(home.snapshots)
    # A day whose record is damaged was recorded: another one would stand for it, and say something else.
    recorded = (
        found.observed_at.astimezone(UTC).date()
        for found in chain(*store.survey(recording.SLUG))
        if found.observed_at
    )
    days, written = recording.missed(recorded, now.date())[:LATE_RECORDS], []
    if not days:
        return written
    with Warehouse(home.warehouse).scratch() as connection:
        marts = {"memory.main.daily_then": recording.DAILY, "memory.main.series_then": recording.SERIES}
        for name, mart in marts.items():
            connection.execute(as_known.as_recorded(models(), mart, name).statement)
        made_of = recording.context(connection)
        for day in days:
            as_of = datetime.combine(day, time(23, 59, 59), UTC)
            rows = recording.yields(connection, day, *(f"{name}('{as_of}')" for name in marts))
            if rows:
                part = recording.part(as_of, rows)
                times = {"observed_at": as_of, "recorded_at": now}
                stated = {"slice_name": f"{day}", "context": made_of}
                written.append(store.add(recording.SLUG, (part,), **times, **stated)[0])
    return written


def publish(home: Home) -> publishing.Published:
    """Publish the last committed build; raises PublishRefused when there is none."""
    return publishing.publish(Warehouse(home.warehouse), models(), macros(), home.published)


def tell(home: Home, log: logging.Logger) -> alerts.Told:
    """Tell people what is new since the last telling: alerts of the last committed build."""
    return alerts.tell(Warehouse(home.warehouse), home.told_alerts, log)
