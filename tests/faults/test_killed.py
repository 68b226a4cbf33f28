"""A run that is killed at any moment leaves the last good copy, and the next run makes up for it.

Each kill is at one exact place: `steps_of_a_run.py` runs the real steps and ends itself there. They build
some models of a project with few seeds (`few_seeds.py`); the last test kills the real command, with every
model. A fetch that is killed is no matter of these.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest
from faults.few_seeds import small_project

from pipelines import ingest
from pipelines.home import Home
from pipelines.snapshots import SnapshotStore, unfinished_folders
from pipelines.source import all_sources

FIXTURES = Path(__file__).parents[1] / "fixtures"
DRIVER = Path(__file__).with_name("steps_of_a_run.py")
YESTERDAY, TODAY = (datetime(2026, 11, day, 12, tzinfo=UTC) for day in (29, 30))
# What the index, the record and the checks of `sql/checks/` read; it takes a second where all takes ten.
ROOTS = (
    "mart.rental_index_daily", "mart.recorded_yield", "mart.missed_record", "mart.price_series",
    "mart.headline", "mart.benchmark_disclosure", "core.correction_outcome",
)  # fmt: skip

Tables = dict[str, Any]


@dataclass(frozen=True)
class World:
    """project: code, models and few seeds. before: published and recorded yesterday, payloads came since.

    old: tables of its copy. new: of the copy that an undisturbed run of today publishes. again: of the one of
    a second such run, in which the record that the first one wrote is read.
    """

    project: Path
    before: Home
    old: Tables
    new: Tables
    again: Tables


def drive(project: Path, home: Home, now: datetime, *place: str) -> subprocess.CompletedProcess[str]:
    """The steps of a run in a process of their own, to the end or to a place."""
    return subprocess.run(
        [sys.executable, str(DRIVER), str(home.root), now.isoformat(), ",".join(ROOTS), *place],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def command(project: Path, home: Home, *place: str) -> subprocess.CompletedProcess[str]:
    """The real `tokenyield build` as of today, to the end or to a place."""
    return subprocess.run(
        [sys.executable, str(DRIVER), "command", TODAY.isoformat(), *place],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), "TOKENYIELD_HOME": str(home.root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def published(home: Home) -> Tables:
    """Rows and fingerprints of the published copy, which must be whole and readable."""
    folder = home.published / "current"
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
    with duckdb.connect(str(home.current_database), read_only=True) as connection:
        for name, table in manifest["tables"].items():
            assert connection.execute(f"select count(*) from {name}").fetchone() == (table["rows"],), name
    return manifest["tables"]


def stored(home: Home) -> dict[str, bytes]:
    """Every snapshot by its name, each whole: its bytes are those that its sidecar promises."""
    store = SnapshotStore(home.snapshots)
    return {
        f"{sidecar.source} {sidecar.snapshot_id}": b"".join(part.body for part in store.load(sidecar).parts)
        for sidecar in store.sidecars()
    }


def lost(before: dict[str, bytes], after: dict[str, bytes]) -> list[str]:
    """What was stored before and is not now, byte by byte."""
    return [name for name, body in before.items() if after.get(name) != body]


def recorded(home: Home) -> list[str]:
    return [sidecar.slice for sidecar in SnapshotStore(home.snapshots).sidecars("record")]


def unfinished(home: Home) -> list[str]:
    """Names of what a killed process left half done."""
    return [path.name for path in (*home.published.glob(".*"), *unfinished_folders(home.snapshots))]


def copied(home: Home, to: Path) -> Home:
    shutil.copytree(home.root, to, symlinks=True)
    return Home(to)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("killed")
    project, before = small_project(folder / "project"), Home(folder / "before")
    assert (done := drive(project, before, YESTERDAY)).returncode == 0, done.stderr
    store, sources = SnapshotStore(before.snapshots), all_sources()
    for slug, name in (("thunder_compute", "payload.json"), ("oci_price_list", "payload.json")):
        ingest.import_file(sources[slug], store, FIXTURES / slug / name, TODAY)
    undisturbed = copied(before, folder / "undisturbed")
    assert (done := drive(project, undisturbed, TODAY)).returncode == 0, done.stderr
    old, new = published(before), published(undisturbed)
    assert recorded(undisturbed) == ["2026-11-29", "2026-11-30"]
    assert (done := drive(project, undisturbed, TODAY)).returncode == 0, done.stderr
    again = published(undisturbed)
    assert [name for name in new if new[name] != again[name]] == ["mart.recorded_yield"]
    assert old != new
    return World(project, before, old, new, again)


# Where a run is killed, in the words of a user, and the call that is its last. One stage is one home: the
# kills follow each other, and one run makes up for all of them.
LOADING = {
    "among the payloads, while they are loaded": ("pipelines.raw:_replace_snapshot", "after", 1),
    "before what is loaded is committed": ("duckdb:commit", "before", 1),
    "after what is loaded is committed, before the file is in order": ("duckdb:commit", "after", 1),
}
MODELLING = {
    "at the first model": ("pipelines.sql_build:_comment", "before", 1),
    "at the middle model": ("pipelines.sql_build:_comment", "before", 40),
    "at the last model, before the checks": ("pipelines.sql_build:_drop_orphans", "before", 1),
    "before the models are committed": ("duckdb:commit", "before", 2),
    "after the models are committed, before the file is in order": ("duckdb:close", "before", 2),
}
RECORDING = {
    "within the file of the record": ("pipelines.snapshots:_write_synced", "after", 1),
    "before the record gets its name": ("os:replace", "before", 1),
}
PUBLISHING = {
    "between record and publish": ("pipelines.publish:publish", "before", 1),
    "while tables are copied": ("pipelines.publish:_copy_comments", "after", 5),
    "while files beside them are written": ("pipelines.feed:_dump", "after", 2),
    "before the new version gets its name": ("pipelines.publish:_sync", "after", 1),
    "before the pointer moves": ("pipelines.publish:_point", "before", 1),
    "while the pointer moves": ("os:replace", "before", 2),
}
AT_LAST = {"after the pointer has moved": ("pipelines.publish:_point", "after", 1)}
STAGES = {
    "loading": (LOADING, False),
    "modelling": (MODELLING, False),
    "recording": (RECORDING, False),
    "publishing": (PUBLISHING | AT_LAST, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_run_that_is_killed_leaves_a_whole_copy(world, tmp_path, report, stage):
    places, is_recorded = STAGES[stage]
    home = copied(world.before, tmp_path / "home")
    bytes_before = stored(home)
    for fault, place in places.items():
        killed = drive(world.project, home, TODAY, *map(str, place))
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        left = published(home)
        assert left in ((world.new, world.again) if fault in AT_LAST else (world.old,)), fault
        assert recorded(home) == ["2026-11-29", *(["2026-11-30"] if is_recorded else [])], fault
        assert lost(bytes_before, stored(home)) == [], fault

    again = drive(world.project, home, TODAY)
    assert again.returncode == 0, again.stderr
    assert published(home) == (world.again if is_recorded else world.new)
    assert recorded(home) == ["2026-11-29", "2026-11-30"]
    assert unfinished(home) == []
    missing = lost(bytes_before, stored(home))
    assert missing == []
    for fault, place in places.items():
        report(
            f"a run is killed {fault}",
            f"SIGKILL {place[1]} call {place[2]} of `{place[0]}`",
            f"the {'new' if fault in AT_LAST else 'old'} copy, whole; the next run publishes what an "
            "undisturbed one does, and the day is recorded once",
            missing,
        )


@pytest.mark.slow
def test_a_first_build_that_is_killed_leaves_nothing_that_stops_the_next(world, tmp_path, report):
    """The real command, with every model, from an empty home."""
    home = Home(tmp_path / "home")
    killed = command(world.project, home, "pipelines.publish:_copy_comments", "after", "5")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not home.current_database.exists()
    bytes_before = stored(home)
    assert bytes_before

    done = command(world.project, home)
    assert done.returncode == 0, done.stderr
    tables = published(home)
    assert tables["mart.cost_per_million_tokens"]["rows"] > 0
    assert (home.published / "current" / "index.html").stat().st_size > 0
    assert unfinished(home) == []
    missing = lost(bytes_before, stored(home))
    assert missing == []
    report(
        "the very first build is killed",
        "SIGKILL of `tokenyield build` while tables are copied",
        "no copy at all; the second build publishes a whole one",
        missing,
    )
