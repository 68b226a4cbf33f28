"""A warehouse that is not as it was left is noticed, set aside and made anew; nothing less passes for it."""

from __future__ import annotations

import logging
import random
import re
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
import small_home
from small_home import Fingerprints

from pipelines import seal
from pipelines.home import Home
from pipelines.warehouse import KEPT_ASIDE, Warehouse, WarehouseUnreadable

POSITIONS = 300
# Where DuckDB's main header holds the storage version: 8 bytes of checksum, 4 of magic, then 8 of version.
VERSION_AT = 12


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Fingerprints]:
    home = Home(tmp_path_factory.mktemp("good"))
    small_home.everything(home)
    found = small_home.fingerprints(home)
    assert found["mart.chip"][0] > 10
    return home, found


@pytest.fixture
def home(good: tuple[Home, Fingerprints], tmp_path: Path) -> Home:
    shutil.copytree(good[0].root, tmp_path / "copy", symlinks=True)
    return Home(tmp_path / "copy")


def flip(path: Path, position: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(position)
        (byte,) = stream.read(1)
        stream.seek(position)
        stream.write(bytes([byte ^ 0x10]))


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def of_a_newer_version(path: Path) -> None:
    body = bytearray(path.read_bytes())
    body[VERSION_AT : VERSION_AT + 8] = (9999).to_bytes(8, "little")
    path.write_bytes(body)


def of_a_newer_version_and_sealed_by_it(path: Path) -> None:
    of_a_newer_version(path)
    # DuckDB says itself which checksum the header of such a file would bear.
    with pytest.raises(duckdb.Error) as error:
        duckdb.connect(str(path), read_only=True)
    body = bytearray(path.read_bytes())
    body[:8] = int(re.search(r"computed checksum (\d+)", str(error.value))[1]).to_bytes(8, "little")
    path.write_bytes(body)
    with pytest.raises(duckdb.Error, match="version number 9999"):
        duckdb.connect(str(path), read_only=True)
    seal.write(path, [replace(seal.of(path), duckdb="9.9.9")])


def emptied(path: Path) -> None:
    """A database with no fault in it, and nothing."""
    path.unlink()
    duckdb.connect(str(path)).close()


def fewer_rows(path: Path) -> None:
    """What no check of DuckDB finds: a good file, and rows are gone."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("delete from raw.snapshot where source = 'seeds'; delete from raw.chip")


def log_beside(path: Path) -> None:
    """A log that DuckDB would read in on opening, and take rows away by."""
    copy = path.with_name("copy.duckdb")
    shutil.copy(path, copy)
    connection = duckdb.connect(str(copy))
    connection.execute("delete from raw.chip")
    shutil.copy(copy.with_name("copy.duckdb.wal"), path.with_name(f"{path.name}.wal"))
    connection.close()
    copy.unlink()


def seal_cut_short(path: Path) -> None:
    beside = seal.beside(path)
    beside.write_bytes(beside.read_bytes()[:40])


Damage = Callable[[Path], None]
DAMAGES: list[tuple[Damage, str, str]] = [
    (truncated, "warehouse truncated", r"has \d+ bytes and was left with \d+"),
    (lambda path: flip(path, path.stat().st_size // 2), "byte flipped in the warehouse", "does not hold"),
    (lambda path: path.unlink(), "warehouse gone", "is gone"),
    (lambda path: path.write_bytes(b"no database"), "warehouse is no database", "has 11 bytes"),
    (lambda path: path.write_bytes(b""), "warehouse is empty", "has 0 bytes"),
    (of_a_newer_version, "storage version of the file not ours", "does not hold"),
    (
        of_a_newer_version_and_sealed_by_it,
        "warehouse left by a newer DuckDB",
        r"left by DuckDB 9\.9\.9 and is not read",
    ),
    (emptied, "a smaller good database in its place", "bytes"),
    (fewer_rows, "rows deleted by another program", "bytes"),
    (log_beside, "a write-ahead log of another program beside it", "has a log beside it"),
    (seal_cut_short, "its seal truncated", "seal that cannot be read"),
    (lambda path: seal.beside(path).unlink(), "its seal gone", "has no seal"),
]


@pytest.mark.parametrize(("damage", "fault", "words"), DAMAGES, ids=[fault for _, fault, _ in DAMAGES])
def test_a_damaged_warehouse_is_set_aside_and_made_anew(good, home, caplog, report, damage, fault, words):
    damage(home.warehouse)
    left = home.warehouse.read_bytes() if home.warehouse.exists() else None
    for opened in (Warehouse(home.warehouse).read, Warehouse(home.warehouse).write):
        with pytest.raises(WarehouseUnreadable), opened():
            pass
    with pytest.raises(WarehouseUnreadable):
        small_home.publish(home)
    with caplog.at_level(logging.WARNING):
        small_home.load(home)
    (line,) = [record.getMessage() for record in caplog.records if record.name == "pipelines.warehouse"]
    assert re.search(words, line), line
    assert "\n" not in line
    aside = list(home.root.glob("warehouse.duckdb.set-aside-*Z"))
    assert [path.read_bytes() for path in aside] == ([] if left is None else [left])
    assert all(path.name in line for path in aside)
    small_home.model(home)
    lost = small_home.lost(good[1], home)
    assert lost == []
    small_home.publish(home)
    report(fault, "the file changed between two runs", "one line; set aside, made anew in the same run", lost)


@pytest.mark.slow
def test_every_flipped_byte_is_noticed(good, home, report):
    size, chance = home.warehouse.stat().st_size, random.Random(1)
    # The headers whole, in which DuckDB would take an older one for the newest, and places all over the file.
    positions = [*range(0, 12288, 128), *(chance.randrange(size) for _ in range(POSITIONS))]
    unnoticed = []
    for position in positions:
        flip(home.warehouse, position)
        try:
            with Warehouse(home.warehouse).read():
                unnoticed.append(position)
        except WarehouseUnreadable:
            pass
        flip(home.warehouse, position)
    assert unnoticed == []
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("one byte flipped", f"at {len(positions)} places, one after the other", "noticed each time", lost)


KILLED_AFTER_COMMIT = """
def die(connection):
    connection.execute("create or replace table raw.chip as select * from raw.chip limit 1")
    connection.execute("commit")
    os.kill(os.getpid(), signal.SIGKILL)
warehouse._rows = die
"""


@pytest.mark.slow
def test_a_log_left_by_a_killed_run_is_no_danger_wherever_it_is_damaged(good, home, tmp_path, report):
    code, _ = small_home.ended(small_home.process(home, "model", KILLED_AFTER_COMMIT))
    assert code == -signal.SIGKILL
    log = home.warehouse.with_name("warehouse.duckdb.unfinished.wal")
    size = log.stat().st_size
    assert size > 1000
    for part in range(8):
        flip(log, size * part // 8)
        assert small_home.lost(good[1], home) == []
    small_home.model(home)
    assert not log.exists()
    lost = small_home.lost(good[1], home)
    assert lost == []
    report(
        "a killed run's log is damaged",
        "kill -9 after the commit, then eight flipped bytes in the log it left",
        "the file of before, which no run writes into; the log is swept away",
        lost,
    )


DIES_AT = """
real, calls = os.replace, []
def replace(*arguments):
    calls.append(arguments)
    if len(calls) == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
    real(*arguments)
os.replace = replace
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_run_killed_while_its_file_takes_its_place_looks_like_no_damage(good, home, caplog, report, number):
    code, _ = small_home.ended(small_home.process(home, "model", DIES_AT.format(number=number)))
    assert code == -signal.SIGKILL
    lost = small_home.lost(good[1], home)
    assert lost == []
    with caplog.at_level(logging.WARNING):
        small_home.everything(home)
    assert [record for record in caplog.records if record.name == "pipelines.warehouse"] == []
    names = {path.name for path in home.root.iterdir() if path.name.startswith("warehouse")}
    assert names == {"warehouse.duckdb", "warehouse.duckdb.seal", "warehouse.duckdb.lock"} | {
        path for path in names if path.endswith(".seal.unfinished")
    }
    report(
        "killed between commit and seal",
        f"kill -9 at rename {number} of 3",
        "the state before or after, and no alarm",
        lost,
    )


def write(home: Home, statements: str) -> None:
    with Warehouse(home.warehouse).write() as connection:
        connection.execute(statements).fetchall()


def test_an_error_of_a_model_is_no_damage(good, home, report):
    wrong = "select no_such_column from raw.chip"
    too_much = "set memory_limit = '8MB'; select list(range) over (), range from range(3000000)"
    for query, error in ((wrong, duckdb.BinderException), (too_much, duckdb.OutOfMemoryException)):
        with pytest.raises(error):
            write(home, f"drop table mart.chip; {query}")
    assert list(home.root.glob("*.set-aside-*")) == []
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("a wrong query, and no memory", "both inside a run", "the error itself; nothing set aside", lost)


def test_only_so_many_are_kept_aside(good, home, report):
    for number in range(KEPT_ASIDE + 2):
        home.warehouse.write_bytes(b"damaged %d" % number)
        with Warehouse(home.warehouse).write(mends=True):
            pass
    kept = [path.read_bytes() for path in sorted(home.root.glob("*.set-aside-*"))]
    assert kept == [b"damaged 2", b"damaged 3", b"damaged 4"]
    small_home.everything(home)
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("damaged again and again", "five times", "the three newest are kept", lost)


def test_a_missing_warehouse_is_made_from_snapshots_that_were_copied_back(good, tmp_path, report):
    restored = Home(tmp_path / "restored")
    shutil.copytree(good[0].snapshots, restored.snapshots)
    small_home.everything(restored)
    lost = small_home.lost(good[1], restored)
    assert lost == []
    report("the whole state folder lost", "snapshots copied into a new home, and built", "as before", lost)
