"""A build that is killed at any moment leaves the last good copy, and the next build makes up for it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import AS_OF, build_home

from pipelines import ingest, run
from pipelines.home import PROJECT, Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import all_sources

FIXTURES = Path(__file__).parent / "fixtures"
MODELS = list(run.models())
FIRST, MIDDLE, LAST = MODELS[0], MODELS[len(MODELS) // 2], MODELS[-1]

# How sources do, and a record that the killed build wrote: on the day of AS_OF alone it writes one.
TOLD_OF_THE_RUN = ("mart.source_health", "core.record", "core.recorded_yield")

Tables = dict[str, Any]


def command(home: Home) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "build", "--as-of", AS_OF.isoformat()],
        cwd=PROJECT,
        env={**os.environ, "TOKENYIELD_HOME": str(home.root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_build(home: Home, line: str, seconds: float) -> None:
    """Start a real build and kill it `seconds` after the progress line that starts with `line`."""
    told = []
    with command(home) as build:
        for found in build.stderr:
            told.append(found)
            if found.startswith(line):
                time.sleep(seconds)
                break
        build.send_signal(signal.SIGKILL)
        assert build.wait(60) == -signal.SIGKILL, f"it was over before {line!r} came:\n{''.join(told)}"


def published_tables(home: Home) -> Tables:
    """Rows and fingerprints of the published copy, which must be whole and readable."""
    folder = home.published / "current"
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest, name
    with duckdb.connect(str(home.current_database), read_only=True) as connection:
        for name, table in manifest["tables"].items():
            assert connection.execute(f"select count(*) from {name}").fetchone() == (table["rows"],), name
    return {name: table for name, table in manifest["tables"].items() if name not in TOLD_OF_THE_RUN}


@pytest.fixture(scope="module")
def before(embedded_home: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with a published copy, and payloads that arrived since; nothing of the day is recorded."""
    home = Home(tmp_path_factory.mktemp("killed") / "before")
    shutil.copytree(embedded_home.root, home.root, symlinks=True)
    shutil.rmtree(home.snapshots / "record", ignore_errors=True)
    store, sources = SnapshotStore(home.snapshots), all_sources()
    ingest.import_file(sources["gcp_machine_prices"], store, FIXTURES / "gcp_machine_prices" / "payload.yml")
    ingest.import_file(sources["oci_price_list"], store, FIXTURES / "oci_price_list" / "payload.json", AS_OF)
    return home


@pytest.fixture(scope="module")
def undisturbed(before: Home, tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """What the same home publishes when nobody disturbs it."""
    home = Home(tmp_path_factory.mktemp("undisturbed") / "home")
    shutil.copytree(before.root, home.root, symlinks=True)
    tables = published_tables(build_home(home.root))
    assert tables != published_tables(before)
    return tables


def survives(
    before: Home,
    undisturbed: Tables,
    root: Path,
    line: str,
    seconds: float,
    build_again: Callable[[Home], Any] = lambda home: build_home(home.root),
) -> bool:
    """Kill a build and build again; returns whether the killed build had published already."""
    home = Home(root / "home")
    shutil.copytree(before.root, home.root, symlinks=True)
    old = published_tables(before)
    kill_build(home, line, seconds)
    left = published_tables(home)
    assert left in (old, undisturbed)

    build_again(home)
    assert published_tables(home) == undisturbed
    assert [path.name for path in home.published.iterdir() if path.name.startswith(".")] == []
    assert [sidecar.slice for sidecar in SnapshotStore(home.snapshots).sidecars("record")] in (
        [f"{AS_OF:%Y-%m-%d}"],
        [],
    )
    return left == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        pytest.param(MIDDLE, 0, id="among the models"),
        pytest.param("record", 0.5, id="while publishing"),
    ],
)
def test_a_killed_build_leaves_a_whole_copy_and_the_next_build_makes_up_for_it(
    before, undisturbed, tmp_path, line, seconds
):
    published = survives(before, undisturbed, tmp_path, line, seconds)
    assert not (published and line == MIDDLE)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "seconds", "published"),
    [
        ("raw  gcp_machine_prices", 0, False),
        ("raw  2 payloads", 0, False),
        (FIRST, 0, False),
        (LAST, 0, False),
        (LAST, 0.05, False),
        ("record", 0, False),
        ("record", 0.2, None),
        ("record", 1.0, None),
        ("record", 1.5, None),
        ("record", 2.0, None),
        ("published", 0, True),
    ],
)
def test_a_build_may_be_killed_at_any_moment(before, undisturbed, tmp_path, line, seconds, published):
    found = survives(before, undisturbed, tmp_path, line, seconds)
    assert published is None or found == published


@pytest.mark.slow
@pytest.mark.parametrize("line", [FIRST, LAST])
def test_the_command_itself_makes_up_for_a_killed_one(before, undisturbed, tmp_path, line):
    def build_again(home: Home) -> None:
        with command(home) as build:
            _, told = build.communicate(timeout=300)
        assert build.returncode == 0, told

    survives(before, undisturbed, tmp_path, line, 0, build_again)


@pytest.mark.slow
def test_a_first_build_that_is_killed_leaves_nothing_that_stops_the_next(tmp_path):
    home = Home(tmp_path / "home")
    kill_build(home, LAST, 0)
    assert not home.current_database.exists()
    build_home(home.root)
    assert published_tables(home)["mart.headline"]["rows"] > 0
