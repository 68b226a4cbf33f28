"""The schedules: crons from the environment, and what became of every slot.

The slow test is a proof with real time: `tokenyield dev` is left alone with a cron of every minute, stopped
over a gap and started again. It needs no network: the job that fetches is put off to January.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster._core.events import EngineEventData
from dagster._core.test_utils import create_run_for_test
from test_cli import one_error, tokenyield

from pipelines.home import PROJECT, Home
from pipelines.orphans import fail_orphans
from pipelines.schedules import CRON, CronRefused, cron_of
from pipelines.slots import Slots, slots

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOURLY = dg.ScheduleDefinition(name="model_schedule", job_name="model", cron_schedule="27 * * * *")


# Crons


def test_a_cron_stands_until_the_environment_says_another(monkeypatch):
    assert [(job.name, cron_of(job.name, cron)) for job, cron in CRON] == [
        ("ingest", "7 * * * *"),
        ("model", "27 * * * *"),
        ("publish", "42 * * * *"),
        ("record", "52 23 * * *"),
    ]
    monkeypatch.setenv("TOKENYIELD_CRON_MODEL", "  */5  * * * 1-5 ")
    monkeypatch.setenv("TOKENYIELD_CRON_RECORD", "")
    assert cron_of("model", "27 * * * *") == "*/5 * * * 1-5"
    assert cron_of("record", "52 23 * * *") == "52 23 * * *"


@pytest.mark.parametrize(
    "cron", ["hourly", "@hourly", "* * * *", "* * * * * *", "60 * * * *", "0 0 30 2 *", "*/0 * * * *", "7"]
)
def test_what_is_no_cron_is_refused_with_its_variable(monkeypatch, cron):
    monkeypatch.setenv("TOKENYIELD_CRON_PUBLISH", cron)
    with pytest.raises(CronRefused, match=r"TOKENYIELD_CRON_PUBLISH='.*' is no cron of five fields"):
        cron_of("publish", "42 * * * *")


def test_a_wrong_cron_is_one_line_before_anything_is_done(tmp_path):
    error = one_error(tokenyield(tmp_path, "build", TOKENYIELD_CRON_RECORD="every day"))
    assert "TOKENYIELD_CRON_RECORD='every day'" in error
    assert "'52 23 * * *'" in error
    assert not (tmp_path / "warehouse.duckdb").exists()


# Slots


@pytest.fixture
def instance() -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


def ran(
    instance: dg.DagsterInstance,
    slot: datetime,
    cron: str = "27 * * * *",
    status: dg.DagsterRunStatus = dg.DagsterRunStatus.SUCCESS,
    schedule: str = "model_schedule",
) -> None:
    """A run as the daemon records it."""
    tags = {
        "dagster/schedule_name": schedule,
        ".dagster/scheduled_execution_time": slot.isoformat(),
        "tokenyield/cron": cron,
    }
    create_run_for_test(instance, job_name="model", status=status, tags=tags)


def at(hour: int, minute: int = 27) -> datetime:
    return NOON.replace(hour=hour, minute=minute)


def found(instance: dg.DagsterInstance, now: datetime, schedule: dg.ScheduleDefinition = HOURLY) -> Slots:
    # Runs of the test are created now, whatever their slot says: look back as far as that.
    days = max(1, (now - datetime.now(UTC)).days + 2)
    (one,) = slots(instance, [schedule], now, days)
    return one


def test_every_slot_between_the_first_run_and_now_has_a_state(instance):
    ran(instance, at(3))
    ran(instance, at(4), status=dg.DagsterRunStatus.FAILURE)
    ran(instance, at(7), status=dg.DagsterRunStatus.STARTED)
    ran(instance, at(6), schedule="another_schedule")
    one = found(instance, at(9, 30))
    assert one.states == {
        at(3): "succeeded",
        at(4): "failed",
        at(5): "missed",
        at(6): "missed",
        at(7): "under way",
        at(8): "missed",
        # The daemon would still run the newest one, and no other.
        at(9): "due",
    }
    assert one.told == (
        "model_schedule: 27 * * * *, since 2026-11-30 03:27 UTC 7 slots = "
        "1 succeeded + 1 failed + 1 under way + 3 missed + 1 due"
    )


def test_a_slot_that_was_run_again_counts_once(instance):
    ran(instance, at(3), status=dg.DagsterRunStatus.FAILURE)
    ran(instance, at(3))
    ran(instance, at(4))
    ran(instance, at(4), status=dg.DagsterRunStatus.FAILURE)
    assert found(instance, at(4, 59)).states == {at(3): "succeeded", at(4): "succeeded"}


def test_slots_of_another_cron_are_not_counted_as_missed(instance):
    """From hourly to every minute: the minutes of the hours before were nobody's slots."""
    ran(instance, at(3))
    ran(instance, at(4))
    ran(instance, at(5, 0), "* * * * *")
    ran(instance, at(5, 2), "* * * * *")
    minutely = dg.ScheduleDefinition(name="model_schedule", job_name="model", cron_schedule="* * * * *")
    one = found(instance, at(5, 2), minutely)
    assert one.states == {at(5, 0): "succeeded", at(5, 1): "missed", at(5, 2): "succeeded"}
    assert found(instance, at(6)).since is None


def test_an_old_run_of_the_former_cron_that_is_run_again_hides_no_missed_slot(instance):
    ran(instance, at(2, 0), "* * * * *")
    ran(instance, at(3))
    ran(instance, at(5))
    ran(instance, at(2, 0), "* * * * *")
    assert found(instance, at(5, 59)).states == {at(3): "succeeded", at(4): "missed", at(5): "succeeded"}


def test_a_run_that_a_person_started_from_the_schedule_is_of_no_slot(instance):
    ran(instance, at(3))
    by_hand = {"dagster/schedule_name": "model_schedule", "tokenyield/cron": "27 * * * *"}
    create_run_for_test(instance, job_name="model", tags=by_hand)
    assert found(instance, at(4, 59)).states == {at(3): "succeeded", at(4): "due"}


def test_without_a_run_nothing_is_said_to_be_missed(instance, tmp_path):
    one = found(instance, at(9))
    assert (one.since, one.states) == (None, {})
    assert "no slot has run" in one.told
    assert "no schedule has run" in one_error(tokenyield(tmp_path / "none", "schedule"))
    assert not (tmp_path / "none").exists()


# Runs that were cut off


def test_a_run_whose_process_is_gone_is_failed_and_no_other(instance):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    expected = {}
    for process, state in ((ended.pid, "FAILURE"), (os.getpid(), "STARTED"), (None, "STARTED")):
        run = create_run_for_test(instance, job_name="model", status=dg.DagsterRunStatus.STARTED)
        if process is not None:
            said = EngineEventData(metadata={"pid": dg.MetadataValue.text(str(process))})
            instance.report_engine_event(f"Started process for run (pid: {process}).", run, said)
        expected[run.run_id] = state
    done = create_run_for_test(instance, job_name="model", status=dg.DagsterRunStatus.SUCCESS)
    assert fail_orphans(instance) == [run_id for run_id, state in expected.items() if state == "FAILURE"]
    assert {r.run_id: r.status.value for r in instance.get_runs()} == expected | {done.run_id: "SUCCESS"}


def test_a_wrong_cron_stops_dev_at_once(tmp_path):
    error = one_error(tokenyield(tmp_path, "dev", TOKENYIELD_CRON_MODEL="never"))
    assert "TOKENYIELD_CRON_MODEL='never'" in error


# The proof


@contextmanager
def left_alone(home: Home, crons: dict[str, str]) -> Iterator[None]:
    """`tokenyield dev` while the block runs; it and all that it started are gone after it."""
    with (home.root / "dev.log").open("ab") as log:
        dev = subprocess.Popen(
            [sys.executable, "-m", "pipelines.cli", "dev"],
            cwd=PROJECT,
            env={**os.environ, **crons, "PYTHONPATH": str(PROJECT), "TOKENYIELD_HOME": str(home.root)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield
    finally:
        for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(dev.pid, sent)
                dev.wait(20)
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        dev.wait(20)


def succeeded(home: Home) -> set[datetime]:
    """The slots of the record's schedule that have a run which succeeded, asked of Dagster itself."""
    if not (home.dagster / "history").is_dir():
        return set()
    with dg.DagsterInstance.from_config(str(home.dagster)) as instance:
        runs = instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))
        assert {run.job_name for run in runs} <= {"record"}
        return {datetime.fromisoformat(run.tags[".dagster/scheduled_execution_time"]) for run in runs}


def wait_until(holds: Callable[[], bool], seconds: float, home: Home) -> None:
    until = time.monotonic() + seconds
    while not holds():
        log = (home.root / "dev.log").read_text(errors="replace")
        assert time.monotonic() < until, f"not within {seconds} s:\n{log[-4000:]}"
        time.sleep(2)


@pytest.mark.slow
def test_three_ticks_are_three_runs_and_a_gap_is_listed(embedded_home: Home, tmp_path: Path):
    home = Home(tmp_path / "home")
    shutil.copytree(embedded_home.root, home.root, symlinks=True)
    crons = {f"TOKENYIELD_CRON_{job.name.upper()}": "0 0 1 1 *" for job, _ in CRON}
    crons["TOKENYIELD_CRON_RECORD"] = "* * * * *"

    with left_alone(home, crons):
        wait_until(lambda: len(succeeded(home)) >= 3, 360, home)
    stopped = datetime.now(UTC)
    before = succeeded(home)
    first = min(before)
    assert {first, first + MINUTE, first + 2 * MINUTE} <= before
    # Three whole minutes begin while nothing runs: the newest is made up for, the others are missed.
    gap = [stopped.replace(second=0, microsecond=0) + number * MINUTE for number in (1, 2)]
    time.sleep((gap[-1] + MINUTE - datetime.now(UTC)).total_seconds() + 1)
    assert succeeded(home) == before

    with left_alone(home, crons):
        wait_until(lambda: max(succeeded(home)) > gap[-1], 240, home)
    after = succeeded(home)
    assert not after & set(gap)

    done = tokenyield(home.root, "schedule", "--format", "json", **crons)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["schedule"] for row in rows} == {"record_schedule"}
    missed = {datetime.fromisoformat(row["slot"]) for row in rows if row["state"] == "missed"}
    assert set(gap) <= missed
    assert not missed & after
    assert "record_schedule: * * * * *, since " in done.stderr
    assert "model_schedule: 0 0 1 1 *, no slot has run on this cron" in done.stderr
