"""What goes wrong with the file of a pipeline, its writers and its checks: C-01, C-07, C-08 and C-12.

Belongs here: real processes that write, fill a disk or are killed. Does not belong here: time and rows
(`test_fault_cases_c.py`, `test_fault_cases_c_rows.py`), readers of the published copy (C-11:
`test_publish.py`).
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from bench_world import correction
from faults.fault_report import Report
from price_world import days, quote, world
from test_publish import READS, small  # noqa: F401  (a fixture)
from test_raw import fingerprints

from pipelines import ingest, run, sql_build
from pipelines.home import PROJECT, SQL, Home
from pipelines.publish import publish
from pipelines.snapshots import SnapshotStore
from pipelines.source import all_sources
from pipelines.warehouse import Warehouse

pytestmark = pytest.mark.slow

FIXTURES = Path(__file__).parents[1] / "fixtures"

# C-01: two writers at once, and a reader beside them

WRITES = """
import sys, time
from pathlib import Path
from pipelines.warehouse import Warehouse
with Warehouse(Path(sys.argv[1]), wait_seconds=20).write() as connection:
    connection.execute("create table if not exists part (day varchar, n integer)")
    connection.execute("insert into part select ?, range from range(1000)", [sys.argv[2]])
    time.sleep(3)
"""


def process(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_c01_two_partitions_at_once_both_arrive_and_no_reader_notices(
    small,  # noqa: F811
    tmp_path: Path,
    report: Report,
) -> None:
    warehouse, models = small
    root, wanted = tmp_path / "published", ["2026-11-10", "2026-11-11"]
    publish(warehouse, models, (), root)
    with process(READS.replace("tick_as_known(now())", "tick"), root) as reader:
        assert reader.stdout.readline() == "reading\n"
        started = time.monotonic()
        writers = [process(WRITES, warehouse.path, day) for day in wanted]
        told = [writer.communicate(timeout=60)[1] for writer in writers]
        took = time.monotonic() - started
        (root / "stop").touch()
        reads, complaint = reader.communicate(timeout=60)
    assert [writer.returncode for writer in writers] == [0, 0], told
    assert reader.returncode == 0, complaint
    assert int(reads.split()[0]) > 25
    assert 6 <= took < 6 + 20
    with warehouse.read() as connection:
        found = connection.execute("select day, count(*) from part group by day order by day").fetchall()
    assert found == [(day, 1000) for day in wanted]
    report(
        "two partitions are written at once while somebody reads",
        "two processes hold the warehouse for three seconds each; a reader asks the published copy in a loop",
        "one waits for the other, both partitions are there, the reader never meets an error",
        set(wanted) - {day for day, _ in found},
    )


# C-07: the disk is full

FILLS = """
import sys
from pathlib import Path
from pipelines.warehouse import Warehouse
number = 0
while True:
    with Warehouse(Path(sys.argv[1])).write() as connection:
        connection.execute("create table if not exists batch (number integer, value double)")
        connection.execute("insert into batch select ?, random() from range(50000)", [number])
    number += 1
    print(number, flush=True)
"""


@pytest.mark.slow
def test_c07_a_full_disk_keeps_every_batch_that_was_committed(tmp_path: Path, report: Report) -> None:
    path = tmp_path / "warehouse.duckdb"
    done = subprocess.run(
        [sys.executable, "-c", FILLS, str(path)],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        # No file may grow beyond this, as if the disk ended there.
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (6 * 1024**2, 6 * 1024**2)),
    )
    assert done.returncode == 1
    committed = int(done.stdout.split()[-1])
    assert committed >= 3
    for _ in range(2):
        with Warehouse(path).write() as connection:
            kept = connection.execute("select number, count(*) from batch group by 1 order by 1").fetchall()
        assert kept == [(number, 50_000) for number in range(committed)]
    report(
        "the disk is full while loading",
        "batches are committed until no file may grow any more, then the file is opened again, twice",
        "the error at once; every batch that was committed, and nothing of the one that was not",
        set(range(committed)) - {number for number, _ in kept},
    )


# C-08: a partition is run again, and killed half-way

LOADS = """
import os, signal, sys
from datetime import datetime
from pathlib import Path
from pipelines import raw, run
from pipelines.home import Home

insert = raw._insert
def die(connection, table, rows):
    if sys.argv[3] == "die" and table == "rental_quote" and "oci_price_list" in rows["source"].to_list():
        os.kill(os.getpid(), signal.SIGKILL)  # its old rows are deleted, the new ones not there
    insert(connection, table, rows)
raw._insert = die
print(len(run.load(Home(Path(sys.argv[1])), datetime.fromisoformat(sys.argv[2]))))
"""


@pytest.mark.slow
def test_c08_a_partition_that_is_run_again_is_the_same_partition(tmp_path: Path, report: Report) -> None:
    home, as_of = Home(tmp_path / "home"), datetime(2026, 11, 10, 12, tzinfo=UTC)
    store, oci = SnapshotStore(home.snapshots), all_sources()["oci_price_list"]
    ingest.import_file(oci, store, FIXTURES / "oci_price_list" / "payload.json", as_of)

    def load(how: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", LOADS, str(home.root), as_of.isoformat(), how]
        return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)

    def forget() -> None:
        with Warehouse(home.warehouse).write() as connection:  # as if its parser had changed
            connection.execute("update raw.snapshot set parser = 'older' where source = 'oci_price_list'")

    def partition() -> dict[str, tuple[int, str]]:
        return {
            name: found
            for name, found in fingerprints(Warehouse(home.warehouse)).items()
            if name != "raw.run"
        }

    assert load("live").returncode == 0
    first = partition()
    assert first["raw.rental_quote"][0] > 0
    forget()
    assert load("live").stdout.split()[-1] == "1"  # it was read again, and alone
    assert partition() == first
    forget()
    assert load("die").returncode == -signal.SIGKILL
    assert load("live").stdout.split()[-1] == "1"
    found = partition()
    assert found == first
    report(
        "a partition is run again, and killed between delete and insert",
        "2026-11-10 is loaded twice, then killed with its rows deleted, then loaded once more",
        "the same rows and the same fingerprint of every raw table each time",
        first.keys() - found.keys(),
    )


# C-12: a check that fails stops everything; a late correction changes its own days

MARTS = ["mart.rental_price_daily", "mart.correction"]
SEEN = days(11, "2026-11-20")
CORRECTED = "2026-11-15"


@pytest.mark.slow
def test_c12_a_failed_check_changes_nothing_and_a_late_correction_its_own_days(
    tmp_path: Path, report: Report
) -> None:
    def mended(expected: str) -> list:
        locator = f"cloud/case-c12/-/on_demand/{CORRECTED}"
        return [correction("rental_quote", locator, "price", expected, "2.50", "2026-11-25")]

    prices = [quote("case-c12", "cloud", "2.00", day) for day in SEEN]
    check = SQL / "checks" / "correction_expects_what_is_stated.sql"
    before = world(tmp_path / "home", prices, marts=MARTS)
    warehouse = Warehouse(Home(tmp_path / "home").warehouse)
    models = {name: model for name, model in run.models().items() if name in tables(warehouse)}
    published = publish(warehouse, models, (), tmp_path / "published").folder
    rows = "select date, provider_id, chip_id, cast(usd_per_gpu_hour as double) from mart.rental_price_daily"
    old, marks = before(rows), fingerprints(warehouse)

    world(tmp_path / "wrong", [*prices, *mended("1.99")], marts=MARTS)
    wrong = Warehouse(Home(tmp_path / "wrong").warehouse)
    with wrong.write() as connection:
        for name in marks:  # what the last good build left
            if not name.startswith("raw."):
                connection.execute(f"attach if not exists '{warehouse.path}' as good (read_only)")
                connection.execute(f"create or replace table {name} as from good.{name}")
    with pytest.raises(sql_build.CheckFailed, match=r"expects price 1\.99"), wrong.write() as connection:
        sql_build.build(connection, models, [check])
    assert {n: f for n, f in fingerprints(wrong).items() if not n.startswith("raw.")} == {
        n: f for n, f in marks.items() if not n.startswith("raw.")
    }
    assert (tmp_path / "published" / "current").resolve() == published

    after = world(tmp_path / "right", [*prices, *mended("2.00")], marts=MARTS)
    changed = {row[0] for row in set(old) ^ set(after(rows))}
    assert changed == {date.fromisoformat(CORRECTED)}
    assert [row for row in after(rows) if row[0] in changed and row[2] == "case-c12"] == [
        (date.fromisoformat(CORRECTED), "cloud", "case-c12", 2.50)
    ]
    report(
        "a payload breaks a check, then an old day is corrected",
        "a correction that expects another price than its source states; then one that is right",
        "the build fails and names the row, tables and published copy stay; then that day alone is another",
        {row[0] for row in old} - {row[0] for row in after(rows)},
    )


def tables(warehouse: Warehouse) -> set[str]:
    with warehouse.read() as connection:
        listed = "select schema_name || '.' || table_name from duckdb_tables()"
        return {name for (name,) in connection.execute(listed).fetchall()}
