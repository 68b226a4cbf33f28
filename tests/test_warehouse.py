"""One writer, one transaction, always closed; every connection is UTC."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest

from pipelines.home import PROJECT
from pipelines.warehouse import ArrowFrame, Warehouse, WarehouseBusy, WarehouseUnreadable

HOLDS = """
import sys, duckdb
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    made = Warehouse(tmp_path / "deep" / "warehouse.duckdb", wait_seconds=1)
    with made.write() as connection:
        connection.execute("create table price as select 1 as id, cast(2.49 as decimal(18, 6)) as usd")
    return made


def prices(warehouse: Warehouse) -> list[tuple[int, Decimal]]:
    with warehouse.read() as connection:
        return connection.execute("select id, usd from price order by id").fetchall()


def read_elsewhere(path: Path) -> str:
    """What another process reads; it fails where this one still holds the file."""
    code = "import sys, duckdb; print(duckdb.connect(sys.argv[1]).execute('from price').fetchall())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Transactions


def test_what_a_block_wrote_is_committed(warehouse):
    assert prices(warehouse) == [(1, Decimal("2.490000"))]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_the_last_good_table(warehouse, error):
    def stop_half_way() -> None:
        with warehouse.write() as connection:
            connection.execute("create or replace table price as select 9 as id, 9.99 as usd")
            connection.execute("create table other as select 1 as x")
            raise error("stop")

    with pytest.raises(error):
        stop_half_way()
    assert prices(warehouse) == [(1, Decimal("2.490000"))]
    with warehouse.read() as connection:
        assert connection.execute("select table_name from duckdb_tables()").fetchall() == [("price",)]


def test_an_error_of_the_database_is_rolled_back_too(warehouse):
    def break_half_way() -> None:
        with warehouse.write() as connection:
            connection.execute("insert into price values (2, 3.00)")
            connection.execute("select * from nowhere")

    with pytest.raises(duckdb.Error):
        break_half_way()
    assert prices(warehouse) == [(1, Decimal("2.490000"))]


def test_the_file_is_free_after_an_exception(warehouse):
    for opened in (warehouse.write, warehouse.read):
        with pytest.raises(RuntimeError), opened():
            raise RuntimeError("stop")
    assert "2.49" in read_elsewhere(warehouse.path)


def test_closing_leaves_the_file_its_seal_and_a_free_lock_behind(warehouse):
    names = ["spill", "warehouse.duckdb", "warehouse.duckdb.lock", "warehouse.duckdb.seal"]
    assert sorted(path.name for path in warehouse.path.parent.iterdir()) == names
    assert list(warehouse.spill.iterdir()) == []


def test_a_reader_cannot_write(warehouse):
    with pytest.raises(duckdb.Error), warehouse.read() as connection:
        connection.execute("delete from price")
    assert prices(warehouse) == [(1, Decimal("2.490000"))]


# The lock


def test_a_held_file_is_waited_for_with_a_bound_and_its_holder_named(warehouse):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(warehouse.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline().strip() == b"held"
        for opened in (warehouse.write, warehouse.read):
            started = time.monotonic()
            with pytest.raises(WarehouseBusy, match=rf"warehouse\.duckdb.*PID {holder.pid}\b"), opened():
                pass
            assert 0.5 < time.monotonic() - started < 10
        holder.communicate()
    assert prices(warehouse) == [(1, Decimal("2.490000"))]


def test_waiting_says_nothing_where_rows_are_printed(warehouse):
    waits = """
import sys
from pathlib import Path
from pipelines.warehouse import Warehouse, WarehouseBusy
try:
    with Warehouse(Path(sys.argv[1]), 1).read():
        pass
except WarehouseBusy:
    sys.exit(3)
"""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(warehouse.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline().strip() == b"held"
        done = subprocess.run(
            [sys.executable, "-c", waits, str(warehouse.path)],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=False,
        )
        holder.communicate()
    assert (done.returncode, done.stdout) == (3, "")


def test_a_file_that_becomes_free_in_time_is_opened(warehouse):
    patient = Warehouse(warehouse.path, wait_seconds=30)
    code = HOLDS.replace("sys.stdin.read()", "import time; time.sleep(1)")
    with subprocess.Popen(
        [sys.executable, "-c", code, str(warehouse.path)], stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout.readline().strip() == b"held"
        with patient.write() as connection:
            connection.execute("insert into price values (2, 3.00)")
    assert prices(warehouse) == [(1, Decimal("2.490000")), (2, Decimal("3.000000"))]


@pytest.mark.parametrize("folder", ["plain", "clock"])
@pytest.mark.parametrize("body", [b"no database at all\n" * 300, b"x"], ids=["text", "one byte"])
def test_a_file_that_is_no_database_is_unreadable_at_once(tmp_path, folder, body):
    path = tmp_path / folder / "warehouse.duckdb"
    path.parent.mkdir()
    path.write_bytes(body)
    started = time.monotonic()
    for opened in (Warehouse(path, 3).write, Warehouse(path, 3).read):
        with pytest.raises(WarehouseUnreadable, match=r"warehouse\.duckdb"), opened():
            pass
    assert time.monotonic() - started < 2
    assert path.read_bytes() == body


def test_a_truncated_database_is_unreadable(warehouse):
    whole = warehouse.path.read_bytes()
    warehouse.path.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(WarehouseUnreadable, match=r"warehouse\.duckdb"), warehouse.read() as connection:
        connection.execute("from price")


def test_reading_what_is_not_there_makes_nothing(tmp_path):
    with pytest.raises(WarehouseUnreadable), Warehouse(tmp_path / "none.duckdb", 1).read():
        pass
    assert list(tmp_path.iterdir()) == []


# Time zones

DATES = """
import sys
from pathlib import Path
from pipelines.warehouse import Warehouse

warehouse = Warehouse(Path(sys.argv[1]))
seen = "('2026-11-29T23:30:00-05:00'), ('2026-11-29T23:30:00Z'), ('2026-11-30T00:30:00+01:00')"
query = f"select cast(cast(seen as timestamptz) as date) from (values {seen}) as t(seen)"
def told(connection):
    days = [str(row[0]) for row in connection.execute(query).fetchall()]
    print(connection.execute("select current_setting('TimeZone')").fetchone()[0], *days)
with warehouse.write() as connection:
    told(connection)
with warehouse.read() as connection:
    told(connection)
with warehouse.beside(Path(sys.argv[1] + ".copy"), "v1.4.0") as connection:
    told(connection)
"""


@pytest.mark.parametrize("zone", ["Asia/Kolkata", "America/New_York", "Europe/Berlin"])
def test_the_date_of_an_instant_is_its_utc_date_wherever_the_host_stands(tmp_path, zone):
    done = subprocess.run(
        [sys.executable, "-c", DATES, str(tmp_path / "w.duckdb")],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**os.environ, "TZ": zone},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["UTC 2026-11-30 2026-11-29 2026-11-29"] * 3


# Frames


def test_a_frame_goes_in_with_its_types(warehouse):
    arrived = ArrowFrame(  # noqa: F841  DuckDB finds it by its name
        pl.DataFrame(
            {
                "usd": pl.Series([Decimal("2.490000000001"), None], dtype=pl.Decimal(28, 12)),
                "seen": pl.Series(
                    [datetime(2026, 11, 29, 23, 30, tzinfo=UTC)] * 2, dtype=pl.Datetime("us", "UTC")
                ),
                "day": [date(2026, 11, 29), None],
                "name": ["a", "日本"],
                "gpus": pl.Series([8, None], dtype=pl.Int64()),
            }
        )
    )
    with warehouse.write() as connection:
        connection.execute("create table landed as select * from arrived")
        types = [row[1] for row in connection.execute("describe landed").fetchall()]
        rows = connection.execute("from landed").fetchall()
    assert types == ["DECIMAL(28,12)", "TIMESTAMP WITH TIME ZONE", "DATE", "VARCHAR", "BIGINT"]
    assert rows[0][0] == Decimal("2.490000000001")
    assert rows[0][1].astimezone(UTC) == datetime(2026, 11, 29, 23, 30, tzinfo=UTC)
    assert rows[0][2:] == (date(2026, 11, 29), "a", 8)
    assert (rows[1][0], *rows[1][2:]) == (None, None, "日本", None)


def test_an_empty_frame_goes_in(warehouse):
    nothing = ArrowFrame(pl.DataFrame(schema={"usd": pl.Decimal(28, 12)}))  # noqa: F841
    with warehouse.write() as connection:
        connection.execute("create table landed as select * from nothing")
        assert connection.execute("select count(*) from landed").fetchone() == (0,)
