"""Runs that meet: each ends well or says who holds; a reader of the published copy never sees an error."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import small_home
from small_home import Fingerprints

from pipelines.home import Home

HOLDS = 'print("held", flush=True); sys.stdin.read()'
# A step that stops where its lock is held, and goes on when its standard input is closed.
STOPS_PUBLISHING = f"""
real = publish._copy
def stop(*arguments):
    {HOLDS}
    return real(*arguments)
publish._copy = stop
"""
STOPS_WRITING = f"""
real = warehouse._rows
def stop(*arguments):
    {HOLDS}
    warehouse._rows = real
    return real(*arguments)
warehouse._rows = stop
"""
STEPS = pytest.mark.parametrize(
    ("step", "stops"), [("publish", STOPS_PUBLISHING), ("model", STOPS_WRITING)], ids=["publish", "model"]
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Fingerprints]:
    home = Home(tmp_path_factory.mktemp("good"))
    small_home.everything(home)
    return home, small_home.fingerprints(home)


@pytest.fixture
def home(good: tuple[Home, Fingerprints], tmp_path: Path) -> Home:
    shutil.copytree(good[0].root, tmp_path / "copy", symlinks=True)
    return Home(tmp_path / "copy")


def versions(home: Home) -> list[str]:
    return sorted(path.name for path in home.published.iterdir() if path.name != "current")


def held(home: Home, step: str, stops: str) -> subprocess.Popen[str]:
    """A process in the middle of a step; close its standard input to let it go on."""
    holder = small_home.process(home, step, stops)
    assert holder.stdout.readline() == "held\n"
    return holder


@pytest.mark.slow
@STEPS
def test_a_second_run_waits_for_the_first_and_both_end_well(good, home, report, step, stops):
    before = versions(home)
    first = held(home, step, stops)
    second = small_home.process(home, step)
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(4)
    first.stdin.close()
    first.stdin = None
    assert small_home.ended(first) == (0, "")
    assert small_home.ended(second) == (0, "")
    new = [name for name in versions(home) if name not in before]
    assert len(new) == (2 if step == "publish" else 0)
    assert all((home.published / name / "manifest.json").is_file() for name in new)
    assert (home.published / "current").resolve().name == versions(home)[-1]
    lost = small_home.lost(good[1], home) + [name for name in before if name not in versions(home)]
    assert lost == []
    report(f"two at once: {step}", "the first stopped half way", "the second waits; both end well", lost)


@pytest.mark.slow
@STEPS
def test_a_holder_that_never_ends_is_named(good, home, report, step, stops):
    before = versions(home)
    first = held(home, step, stops)
    code, told = small_home.ended(small_home.process(home, step, TOKENYIELD_WAIT_SECONDS="1"))
    assert code == 1
    place = home.published if step == "publish" else home.warehouse
    assert told == (
        f"error: {place} is held by a run (PID {first.pid}); waited 1 s. "
        "Wait for that run to end, or stop it, and try again.\n"
    )
    assert small_home.lost(good[1], home) == []
    first.send_signal(signal.SIGKILL)
    assert small_home.ended(first)[0] == -signal.SIGKILL
    # The kernel lets go of what it held, and the next run sweeps up what it left.
    assert small_home.ended(small_home.process(home, step, TOKENYIELD_WAIT_SECONDS="1")) == (0, "")
    assert not any(name.startswith(".") for name in versions(home))
    assert not list(home.root.glob("*.unfinished"))
    lost = small_home.lost(good[1], home) + [name for name in before if name not in versions(home)]
    assert lost == []
    report(f"a holder that never ends: {step}", "stopped for good, then killed", "named; then swept up", lost)


READS = """
import sys
from pathlib import Path
import duckdb
root = Path(sys.argv[1])
print("reading", flush=True)
reads = 0
while not (root.parent / "stop").exists():
    with duckdb.connect(str(root / "current" / "tokenyield.duckdb"), read_only=True) as connection:
        assert connection.execute("select count(*) from mart.chip").fetchone() == (int(sys.argv[2]),)
    reads += 1
with duckdb.connect(sys.argv[3], read_only=True) as long:
    print(reads)
"""


@pytest.mark.slow
def test_a_reader_of_the_published_copy_never_meets_an_error(good, home, report):
    chips = good[1]["mart.chip"][0]
    oldest = home.published / versions(home)[0] / "tokenyield.duckdb"
    arguments = [str(home.published), str(chips), str(oldest)]
    with subprocess.Popen(
        [sys.executable, "-c", READS, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout.readline() == "reading\n"
        for _ in range(3):
            small_home.everything(home)
        (home.root / "stop").touch()
        told, complaint = reader.communicate(timeout=60)
    assert reader.returncode == 0, complaint
    assert int(told) > 3
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("reading while runs go on", "a reader without pause, three whole runs", "no error", lost)


@pytest.mark.slow
def test_what_another_publish_is_writing_is_not_swept_away(good, home, report):
    """The lock alone keeps one from clearing the other's unfinished folder."""
    first = held(home, "publish", STOPS_PUBLISHING)
    unfinished = [name for name in versions(home) if name.startswith(".")]
    assert len(unfinished) == 1
    assert small_home.ended(small_home.process(home, "publish", TOKENYIELD_WAIT_SECONDS="0.2"))[0] == 1
    assert (home.published / unfinished[0] / "parquet").is_dir()
    first.stdin.close()
    first.stdin = None
    assert small_home.ended(first) == (0, "")
    tables = json.loads((home.published / "current" / "manifest.json").read_text())["tables"]
    lost = sorted(good[1].keys() & set(small_home.MODELS) - tables.keys() - {"core.run"})
    lost = [name for name in lost if name.startswith("mart.")]
    assert lost == []
    report("a publish beside another", "started while one is half way", "the first one's folder stays", lost)
