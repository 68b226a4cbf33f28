"""`status` names what is damaged; with `--max-age` it tells that nothing moves any more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pipelines import answers, sidecar, watch
from pipelines.home import PROJECT, Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part

NOW = datetime(2026, 11, 30, 18, tzinfo=UTC)


def a_home(embedded_home: Home, root: Path, made: datetime, as_of: datetime, record: datetime | None) -> Home:
    """A copy of the published home whose version, as_of and newest record are of those moments."""
    home = Home(root / "home")
    shutil.copytree(embedded_home.published, home.published, symlinks=True)
    path = home.published / "current" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest |= {"version": f"{made:%Y%m%dT%H%M%S%fZ}", "as_of": as_of.isoformat()}
    path.write_text(json.dumps(manifest))
    if record:
        part = (Part("record.json", b"{}"),)
        SnapshotStore(home.snapshots).add(
            "record", part, observed_at=record, recorded_at=record, slice_name=f"{record:%Y-%m-%d}"
        )
    return home


def hours_ago(hours: float) -> datetime:
    return NOW - timedelta(hours=hours)


@pytest.mark.parametrize(
    ("limit", "made", "as_of", "record", "told"),
    [
        ("26h", 1, 1, 18, None),
        ("90m", 1.4, 1.5, 18, None),
        ("2d", 47, 48, 40, None),
        ("26h", 27, 26, 18, "the published copy was made 2026-11-29 15:00 UTC, 27.0 hours ago"),
        ("26h", 1, 30, 18, "the published copy is as of 2026-11-29 12:00 UTC, 30.0 hours ago"),
        ("26h", 1, 1, 42, "the newest record is of 2026-11-29 00:00 UTC, 42.0 hours ago"),
        ("90m", 1, 1, 27, "the newest record is of 2026-11-29 15:00 UTC, 27.0 hours ago, and may be 26"),
        ("26h", 1, 1, None, "no day is recorded"),
        ("26h", -1, 1, 18, "the published copy was made 2026-11-30 19:00 UTC, which lies ahead of this"),
        ("26h", 1, 1, -8760, "the newest record is of 2027-11-30 18:00 UTC, which lies ahead of this"),
    ],
)  # fmt: skip
def test_age_is_told_with_its_moment(embedded_home, tmp_path, report, limit, made, as_of, record, told):
    home = a_home(
        embedded_home,
        tmp_path,
        hours_ago(made),
        hours_ago(as_of),
        None if record is None else hours_ago(record),
    )
    before = sorted(path.name for path in home.root.rglob("*"))
    found = watch.too_old(home, watch.age_limit(limit), NOW)
    assert (len(found), [one[: len(told or "")] for one in found]) == ((1, [told]) if told else (0, []))
    lost = set(before) - {path.name for path in home.root.rglob("*")}
    injected = f"copy {made} h, as_of {as_of} h, record {record} h old, with --max-age {limit}"
    report("the schedules stand still", injected, told or "nothing: all is young enough", lost)


def cut_database(home: Home) -> None:
    path = home.current_database
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:5000])


DEATHS: dict[str, tuple[Callable[[Home], object], str]] = {
    "no copy": (lambda home: shutil.rmtree(home.published), "nothing is published"),
    "a copy of no bytes": (lambda home: home.current_database.write_bytes(b""), ""),
    "a cut copy": (cut_database, ""),
    "a manifest that is cut": (
        lambda home: (home.published / "current" / "manifest.json").write_text('{"version": "2026'),
        "manifest.json is not as it was written",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("death", [*DEATHS, "nothing"])
def test_the_command_needs_nothing_alive(embedded_home, tmp_path, report, death):
    hurt, reason = DEATHS.get(death, (lambda home: None, ""))
    now = datetime.now(UTC)
    home = a_home(embedded_home, tmp_path, now, now, now)
    hurt(home)
    # A module that cannot be imported: the check must not need the scheduler.
    (tmp_path / "dagster.py").write_text("raise ImportError('the scheduler is dead')")
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "status", "--max-age", "26h"],
        cwd=PROJECT,
        env={**os.environ, "TOKENYIELD_HOME": str(home.root), "PYTHONPATH": f"{tmp_path}:{PROJECT}"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    if death == "nothing":
        assert (done.returncode, done.stdout, lines) == (0, "", [])
    else:
        assert (done.returncode, done.stdout, len(lines)) == (1, "", 1), done.stderr
        assert lines[0].startswith("error: ")
        assert reason in lines[0]
    lost = [] if SnapshotStore(home.snapshots).sidecars("record") else ["record"]
    seen = "silence, exit code 0" if death == "nothing" else "one line, exit code 1"
    report("the published copy cannot be read, the scheduler is dead", death, seen, lost)


@pytest.mark.parametrize("text", ["", "26", "h", "0h", "-1h", "1.5h", "26 h", "1w", "999999d", "٣h"])
def test_an_age_that_cannot_be_read_is_refused(report, text):
    with pytest.raises(ValueError, match="90m, 26h or 2d"):
        watch.age_limit(text)
    report("a mistyped --max-age", repr(text), "refused, with what can be given", [])


@pytest.mark.slow
@pytest.mark.parametrize("as_of", ["9999-12-31", "9999-12-31T23:59:59-01:00", "0001-01-01T00:00+02:00"])
def test_an_as_of_that_makes_no_sense_is_refused(tmp_path, report, as_of):
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "build", "--as-of", as_of],
        cwd=PROJECT,
        env={**os.environ, "TOKENYIELD_HOME": str(tmp_path / "home"), "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "home").exists()
    report("a build as of a moment that cannot be", as_of, "refused, exit code 2; nothing written", [])


def test_status_names_every_damaged_file(embedded_home, tmp_path, capsys, report):
    home = Home(tmp_path / "home")
    shutil.copytree(embedded_home.root, home.root, symlinks=True)
    store = SnapshotStore(home.snapshots)
    hurt = [store.sidecars("seeds")[0], store.sidecars("list_prices")[0]]
    for found in hurt:
        (home.snapshots / found.source / found.snapshot_id / sidecar.FILE).write_bytes(b"")
    answers.print_status(home, "csv")
    told = capsys.readouterr().err
    named = [line for line in told.splitlines() if line.startswith("damaged in the store: ")]
    lost = [found.source for found in hurt if not any(found.snapshot_id in line for line in named)]
    assert (len(named), lost) == (2, [])
    assert "payloads stored since" not in told
    report(
        "damaged sidecars of a seed and of a payload", "emptied after the build", "`status` names both", lost
    )
