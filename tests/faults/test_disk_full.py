"""A disk that runs full leaves what was there, says so in one line, and the next run with room succeeds."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest
import small_home
from small_home import Fingerprints

from pipelines import limits
from pipelines.home import Home
from pipelines.limits import DiskFull
from pipelines.warehouse import Warehouse, read_only

KB, MB = 1_000, 1_000_000


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Fingerprints]:
    home = Home(tmp_path_factory.mktemp("good"))
    small_home.everything(home)
    return home, small_home.fingerprints(home)


@pytest.fixture
def home(good: tuple[Home, Fingerprints], tmp_path: Path) -> Home:
    shutil.copytree(good[0].root, tmp_path / "copy", symlinks=True)
    return Home(tmp_path / "copy")


def files(home: Home) -> set[str]:
    """What lies in a home beside snapshots, whose names say their moment."""
    found = (str(path.relative_to(home.root)) for path in home.root.rglob("*"))
    return {name for name in found if not name.startswith("snapshots")}


def largest_file(count: int) -> str:
    return f"resource.setrlimit(resource.RLIMIT_FSIZE, ({count}, resource.RLIM_INFINITY))"


@pytest.mark.parametrize(
    ("step", "bytes_"),
    [
        pytest.param("load", 300 * KB, id="loading"),
        pytest.param("model", 300 * KB, id="building"),
        pytest.param("publish", 100 * KB, id="publishing"),
    ],
)
def test_no_room_leaves_everything_as_it_was(good, home, report, step, bytes_):
    before = files(home)
    code, told = small_home.ended(small_home.process(home, step, largest_file(bytes_)))
    assert code == 1, told
    (line,) = told.splitlines()
    place = home.published if step == "publish" else home.warehouse
    assert line.startswith(f"error: {place}: no room left to write")
    assert line.endswith("Make room and run it again.")
    assert files(home) == before
    lost = small_home.lost(good[1], home)
    assert lost == []
    small_home.everything(home)
    assert small_home.lost(good[1], home) == []
    report(f"no room: {step}", "a limit on the size of files", "one line: where, and what to do", lost)


GROWS = """
def grow(home):
    with warehouse.Warehouse(home.warehouse).write() as connection:
        connection.execute("create table raw.more as select range as id, random() as x from range({rows})")
small_home.grow = grow
resource.setrlimit(resource.RLIMIT_FSIZE, (home.warehouse.stat().st_size + 1_000_000, resource.RLIM_INFINITY))
"""


@pytest.mark.slow
def test_no_room_while_rows_are_written_or_the_log_is_put_in(good, home, report):
    for rows in (200_000, 400_000, 3_000_000):
        code, told = small_home.ended(small_home.process(home, "grow", GROWS.format(rows=rows)))
        assert code == 1, told
        assert told == f"error: {limits.full(home.warehouse)}\n"
        assert small_home.lost(good[1], home) == []
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("no room for new rows", "a limit one megabyte above the warehouse", "one line, exit code 1", lost)


def test_a_run_is_not_begun_without_room_for_it(good, home, report, monkeypatch):
    wanted = 2 * home.warehouse.stat().st_size + 256 * MB
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(10**12, 10**12 - wanted, wanted))
    small_home.load(home)
    wanted = 2 * home.warehouse.stat().st_size + 256 * MB
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(10**12, 10**12, wanted - MB))
    before = files(home)
    told = rf"{wanted / MB - 1:.0f} MB are free .* wants {wanted / MB:.0f} MB"
    for step in (small_home.load, small_home.model, small_home.publish):
        with pytest.raises(DiskFull, match=told):
            step(home)
    assert files(home) == before
    monkeypatch.setenv("TOKENYIELD_FREE_MB", "200")
    small_home.everything(home)
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("little room", "a disk that says so", "not begun; told what is free and wanted", lost)


@pytest.mark.parametrize("stated", ["much", "-1", "nan", "inf"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, report, stated):
    monkeypatch.setenv("TOKENYIELD_FREE_MB", stated)
    monkeypatch.setenv("TOKENYIELD_WAIT_SECONDS", stated)
    monkeypatch.setenv("TOKENYIELD_MEMORY_LIMIT", stated)
    for variable, asked in (
        ("FREE_MB", lambda: limits.require_space(Path("/"), 0)),
        ("WAIT_SECONDS", limits.wait_seconds),
        ("MEMORY_LIMIT", limits.memory_limit),
    ):
        with pytest.raises(limits.Failure, match=f"TOKENYIELD_{variable}={stated} is no "):
            asked()
    report("a setting that cannot be read", "words and odd numbers", "refused by its name", [])


def test_what_a_killed_run_spilled_is_swept_away_and_what_a_living_one_spills_is_not(good, home, report):
    left = home.root / "spill" / "of-a-killed-run"
    left.mkdir(parents=True)
    (left / "duckdb_temp_storage_DEFAULT-0.tmp").write_bytes(b"x" * 1000)
    warehouse = Warehouse(home.warehouse)
    with warehouse.read() as reader:
        (spilling,) = reader.execute("select current_setting('temp_directory')").fetchone()
        assert Path(spilling).parent == home.root / "spill"
        assert left.is_dir()
        with warehouse.write():
            assert not left.exists()
            assert Path(spilling).is_dir()
    assert list((home.root / "spill").iterdir()) == []
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("a killed run left what it had spilled", "a file in the folder", "gone with the next run", lost)


def test_a_sort_that_does_not_fit_into_memory_goes_by_the_spill_folder(home, report, monkeypatch):
    monkeypatch.setenv("TOKENYIELD_MEMORY_LIMIT", "60MB")
    with Warehouse(home.warehouse).read() as connection:
        assert connection.execute("select current_setting('memory_limit')").fetchone() == ("57.2 MiB",)
        connection.execute("set threads = 1")
        sorted_rows = "select row_number() over (order by hash(range)) as n, range from range(3000000)"
        assert connection.execute(f"select count(*), max(n) from ({sorted_rows})").fetchone() == (
            3000000,
            3000000,
        )
    assert list((home.root / "spill").iterdir()) == []
    report("less memory than a sort wants", "a limit on it", "the same rows; nothing left behind", [])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 64 MB; skips where none may be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here: wants root and the right to mount")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.slow
def test_a_build_on_a_full_disk_says_so_and_succeeds_with_more_room(small_disk, report, monkeypatch):
    """The whole command: it runs full among the models, and then in the history of runs."""
    monkeypatch.setenv("TOKENYIELD_FREE_MB", "0")
    home = Home(small_disk / "home")
    stored: set[Path] = set()
    filler = small_disk / "filler"
    for free in (60 * MB, 2 * MB):
        filler.write_bytes(b"x" * max(0, shutil.disk_usage(small_disk).free - free))
        build = small_home.command(home, "build")
        told = build.stderr
        assert build.returncode == 1, told
        assert "Traceback" not in told
        assert "Make room and run it again." in told.splitlines()[-1]
        assert not home.warehouse.with_name("warehouse.duckdb.unfinished").exists()
        assert not home.current_database.exists()
        filler.unlink()
        stored |= {*home.snapshots.rglob("*")}
    subprocess.run(["mount", "-o", "remount,size=1g", str(small_disk)], check=True)
    small_home.everything(home)
    with read_only(home.current_database) as connection:
        assert connection.execute("select count(*) > 10 from mart.chip").fetchone() == (True,)
    lost = stored - {*home.snapshots.rglob("*")}
    assert len(stored) > 10
    assert lost == set()
    report("a full disk", "a disk of 64 MB under the whole command", "one line; with room, all of it", lost)
