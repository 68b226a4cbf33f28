"""Days whose steps fall on both sides of midnight, on a leap day, in four time zones, or not at all.

Every step has its clock handed in, and the machine stands in another zone at each of them: a day is a UTC
day, with one record. Whole copies made in other zones are compared in `test_time_zones.py`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import dagster as dg
import pytest
from dagster._core.test_utils import create_run_for_test
from faults.few_seeds import few_seeds
from price_world import _needed
from test_cli import tokenyield

from pipelines import leftovers, run
from pipelines.assets.raw import ahead_of_the_clock
from pipelines.cli import dagster_home
from pipelines.home import Home
from pipelines.snapshots import SnapshotStore, unfinished_folders
from pipelines.source import Part
from pipelines.warehouse import Warehouse

ZONES = ("Asia/Kolkata", "America/New_York", "Europe/Berlin", "UTC")
ROOTS = (
    "mart.cost_per_million_tokens_daily", "mart.price_series", "mart.headline", "mart.rental_index_daily",
    "mart.missed_record", "mart.recorded_yield", "mart.benchmark_disclosure", "core.correction_outcome",
)  # fmt: skip
LEAP_DAY = date(2028, 2, 29)


class Said(NamedTuple):
    """What a try to record came to: the slice that stands, or None, and the words."""

    slice: str | None
    words: str


class Clockwork:
    """A home whose steps run at the moments that they are told, each in the next zone."""

    def __init__(self, home: Home) -> None:
        self.home, self._steps = home, 0

    def _move(self) -> None:
        os.environ["TZ"] = ZONES[self._steps % len(ZONES)]
        time.tzset()
        self._steps += 1

    def build(self, now: datetime) -> None:
        self._move()
        run.load(self.home, now=now)
        self._move()
        run.build(self.home)

    def record(self, now: datetime) -> Said:
        self._move()
        sidecar, words = run.record(self.home, now)
        return Said(sidecar and sidecar.slice, words)

    def late(self, now: datetime) -> list[str]:
        self._move()
        return [sidecar.slice for sidecar in run.catch_up(self.home, now)]


def at(month: int, day: int, *clock: int) -> datetime:
    return datetime(2028, month, day, *clock, tzinfo=UTC)


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clockwork]:
    folder = tmp_path_factory.mktemp("midnight")
    needed = _needed([*ROOTS])
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TZ", "UTC")
        patched.setattr(run, "SEEDS", few_seeds(folder / "seeds", "2028-02-01"))
        patched.setattr(run, "models", lambda: needed)
        yield Clockwork(Home(folder / "home"))
    time.tzset()


def recorded(home: Home) -> list[str]:
    return [sidecar.slice for sidecar in SnapshotStore(home.snapshots).sidecars("record")]


@pytest.mark.slow
def test_midnight_a_leap_day_and_four_zones_make_one_record_a_utc_day(works, report):
    works.build(at(2, 27, 23, 27))
    assert works.record(at(2, 27, 23, 52)) == ("2028-02-27", "2028-02-27 written")
    # Loaded a minute before midnight, recorded a minute after it.
    works.build(at(2, 28, 23, 59))
    across = works.record(at(2, 29, 0, 1))
    assert across == (
        None,
        "nothing written: the build is as of 2028-02-28, and a record is of its own day",
    )
    assert works.late(at(2, 29, 0, 1)) == ["2028-02-28"]
    # The build of the day before is no record of this one, hours later either.
    assert works.record(at(2, 29, 12))[0] is None
    assert works.late(at(2, 29, 12)) == []
    # Twice on the leap day: the first stands.
    works.build(at(2, 29, 23, 27))
    assert works.record(at(2, 29, 23, 40)) == ("2028-02-29", "2028-02-29 written")
    assert works.record(at(2, 29, 23, 52)) == ("2028-02-29", "2028-02-29 stands already")
    # Half an hour into March it is still the leap day in New York, and six in the morning in Kolkata.
    works.build(at(3, 1, 0, 27))
    assert works.record(at(3, 1, 0, 30)) == ("2028-03-01", "2028-03-01 written")
    works.build(at(3, 2, 0, 27))

    with Warehouse(works.home.warehouse).read() as connection:
        told = connection.execute("select date, status, recorded_at from mart.missed_record").fetchall()
        days = connection.execute(
            "select date, count(distinct recorded_late) from mart.recorded_yield group by date order by date"
        ).fetchall()
    assert told == [(LEAP_DAY - timedelta(days=1), "recorded_late", at(2, 29, 0, 1))]
    wanted = [LEAP_DAY + timedelta(days=number) for number in (-2, -1, 0, 1)]
    assert days == [(day, 1) for day in wanted]
    assert recorded(works.home) == [f"{day}" for day in wanted]
    report(
        "a run goes over midnight, a day is recorded twice, the host stands in Kolkata, New York or Berlin",
        "steps at 23:59 and 00:01 UTC around 29 February 2028, each in another zone of the machine",
        "one record a UTC day; the day whose record came after midnight is told as late",
        {f"{day}" for day in wanted} - set(recorded(works.home)),
    )


@pytest.mark.slow
def test_a_day_without_a_finished_build_is_not_recorded_and_says_why(works, report):
    before = recorded(works.home)
    works.build(at(3, 3, 11))
    back = works.record(at(3, 3, 9, 30))
    told = "the build is as of 11:00:00, the clock says 09:30:00 UTC: it went back; build again"
    assert back == (None, f"nothing written: {told}")
    run.load(works.home, now=at(3, 3, 23, 27))
    halfway = works.record(at(3, 3, 23, 52))
    assert halfway == (None, "nothing written: the last model run did not finish; build again")
    assert recorded(works.home) == before
    run.build(works.home)
    assert works.record(at(3, 3, 23, 55)) == ("2028-03-03", "2028-03-03 written")
    report(
        "a model run does not finish before the record of the day, or the clock goes back before it",
        "load without build; a record at 09:30 of a build as of 11:00",
        "nothing is written, with the reason; the build after it is recorded",
        set(before) - set(recorded(works.home)),
    )


@pytest.mark.slow
def test_a_payload_of_a_clock_that_was_ahead_is_told_and_counts_no_sooner(works, report):
    store, body = SnapshotStore(works.home.snapshots), b'{"pricing": {"h100_x1_production": 3.0}}'
    ahead = at(3, 20, 6)
    sidecar, _ = store.add("thunder_compute", (Part("a", body),), observed_at=ahead, recorded_at=ahead)
    now = at(3, 5, 23, 27)
    loaded = [found for found in run.load(works.home, now=now) if found.sidecar.source == "thunder_compute"]
    run.build(works.home)
    assert ahead_of_the_clock(loaded, now) == [
        f"raw  thunder_compute/{sidecar.snapshot_id}: stored at 2028-03-20 06:00 UTC, and it is "
        "2028-03-05 23:27: a clock is wrong, or was; it counts from then on unless you move its folder out "
        "of snapshots/ and build from nothing (docs/operations.md)"
    ]
    assert ahead_of_the_clock(loaded, at(3, 20, 6)) == []
    counted = "select count(*) from {} where source = 'thunder_compute'"
    with Warehouse(works.home.warehouse).read() as connection:
        asked = (
            connection.execute(counted.format(f"core.{name}")) for name in ("rental_quote", "provider_price")
        )
        assert [found.fetchone() for found in asked] == [(1,), (0,)]
    report(
        "the clock was days ahead while a payload was fetched",
        "a payload stored as of 20 March, loaded on 5 March",
        "the load says which payload, and what to do; it is no price before its moment",
        {"the payload"} if store.load(sidecar).parts[0].body != body else set(),
    )


def test_what_a_killed_process_left_half_stored_is_removed_and_nothing_else(tmp_path, report):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    store = SnapshotStore(tmp_path)
    moment = at(2, 29)
    store.add("acme", (Part("a", b"one"),), observed_at=moment, recorded_at=moment)
    whole = set(tmp_path.rglob("*"))
    for process in (ended.pid, os.getpid()):
        (tmp_path / "acme" / f".unfinished-20280229T000000Z-0123456789ab-{process}").mkdir()
        (tmp_path / "acme" / f".unfinished-20280229T000000Z-0123456789ab-{process}" / "part-0.gz").touch()

    removed = leftovers.remove(unfinished_folders(tmp_path))
    assert [path.name.rpartition("-")[2] for path in removed] == [f"{ended.pid}"]
    left = set(tmp_path.rglob("*"))
    assert len(left - whole) == 2  # of the process that lives: its folder and a file
    report(
        "a process is killed while it stores a payload",
        "a half-stored folder of a process that has ended, and one of a process that lives",
        "the next run removes the first and leaves the other alone",
        {path.name for path in whole - left},
    )


def test_a_day_on_which_the_scheduler_is_down_is_listed_as_missed(tmp_path, report, monkeypatch):
    for name in ("DAGSTER_HOME", "TOKENYIELD_HOME"):
        monkeypatch.setenv(name, "")  # put back after what the command sets
    home = Home(tmp_path / "home")
    dagster_home(home)
    cron = "52 23 * * *"
    today = datetime.now(UTC).replace(hour=23, minute=52, second=0, microsecond=0)
    slots = [today - timedelta(days=back) for back in (5, 4, 3, 2)]
    down = slots[2]
    with dg.DagsterInstance.get() as instance:
        for slot in slots:
            tags = {
                "dagster/schedule_name": "record_schedule",
                ".dagster/scheduled_execution_time": slot.isoformat(),
                "tokenyield/cron": cron,
            }
            if slot != down:
                create_run_for_test(
                    instance, job_name="record", status=dg.DagsterRunStatus.SUCCESS, tags=tags
                )
    done = tokenyield(home.root, "schedule", "--format", "json", TZ="Asia/Kolkata")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    missed = [datetime.fromisoformat(row["slot"]) for row in rows if row["state"] == "missed"]
    assert down in missed
    assert not set(missed) & (set(slots) - {down})
    report(
        "the scheduler is down on a day",
        "runs of the record on three of four days, on record in Dagster; the host stands in Kolkata",
        "`tokenyield schedule` lists the slot of that day, in UTC, as missed",
        {slot for slot in slots if slot != down and slot in missed},
    )
