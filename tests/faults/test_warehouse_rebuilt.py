"""The warehouse made again: from the snapshots alone, day after day, and by way of another DuckDB's files."""

from __future__ import annotations

import shutil
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
import small_home
from faults.few_seeds import small_project
from price_world import AS_OF, days, quote, world
from small_home import Fingerprints

from pipelines import run, seal, sql_build
from pipelines.home import Home
from pipelines.publish import STORAGE_VERSION, fingerprint_query
from pipelines.sql_build import CheckFailed
from pipelines.warehouse import Warehouse

RELOADS = 60
QUOTES = 2000


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, Fingerprints]:
    home = Home(tmp_path_factory.mktemp("good"))
    small_home.everything(home)
    return home, small_home.fingerprints(home)


@pytest.fixture
def home(good: tuple[Home, Fingerprints], tmp_path: Path) -> Home:
    shutil.copytree(good[0].root, tmp_path / "copy", symlinks=True)
    return Home(tmp_path / "copy")


def test_a_rebuild_makes_the_same_from_the_snapshots_alone(good, home, report, monkeypatch):
    monkeypatch.setattr(run, "models", lambda: small_home.MODELS)
    monkeypatch.setattr("pipelines.run.SQL", home.root)  # no checks of models that are not built here
    with Warehouse(home.warehouse).write() as connection:
        connection.execute("delete from raw.chip; create table raw.odd as select 1 as x")
    lines: list[str] = []
    run.rebuild(home, lines.append, small_home.NOW)
    assert [line.split("  ")[0] for line in lines[1:]] == list(small_home.MODELS)
    assert small_home.fingerprints(home).keys() == good[1].keys()
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("tables that no snapshot explains", "changed by hand, then rebuilt", "as the snapshots say", lost)


def test_a_rebuild_that_fails_leaves_the_warehouse_that_is_there(good, home, report, monkeypatch):
    checks = home.root / "checks"
    checks.mkdir()
    (checks / "never.sql").write_text("select 1 as wrong\n")
    monkeypatch.setattr(run, "models", lambda: small_home.MODELS)
    monkeypatch.setattr("pipelines.run.SQL", home.root)
    before = seal.of(home.warehouse)
    with pytest.raises(CheckFailed, match=r"never\.sql"):
        run.rebuild(home, lambda line: None, small_home.NOW)
    assert seal.of(home.warehouse) == before
    assert not list(home.root.glob("*.set-aside-*"))
    lost = small_home.lost(good[1], home)
    assert lost == []
    report("a rebuild that fails", "a check that finds a row", "the warehouse of before", lost)


@pytest.mark.slow
def test_the_command_rebuilds_and_publishes(tmp_path, report):
    home = Home(tmp_path / "home")
    done = small_home.command(home, "rebuild", project=small_project(tmp_path / "project"))
    assert done.returncode == 0, done.stderr
    assert f"rebuilt  {len(run.models())} tables from the snapshots alone" in done.stderr
    assert "published  " in done.stderr
    assert "deepseek" in done.stdout
    with duckdb.connect(str(home.current_database), read_only=True) as connection:
        assert connection.execute("select count(*) from mart.headline").fetchone()[0] > 0
    made = ("warehouse.duckdb", "published", "snapshots")
    lost = [name for name in made if not (home.root / name).exists()]
    assert lost == []
    report("nothing but the command", "`tokenyield rebuild` in an empty home", "built and published", lost)


def in_place(home: Home, connection: duckdb.DuckDBPyConnection, number: int) -> None:
    """What a daily reload does: rows of a payload that is read again go and come, models are made anew."""
    connection.execute("create or replace temp table again as from raw.rental_quote")
    connection.execute("delete from raw.rental_quote")
    connection.execute("insert into raw.rental_quote from again")
    connection.execute("update raw.run set as_of = ?", [AS_OF + timedelta(days=number)])
    sql_build.build(connection, MODELS_OF_QUOTES)


MODELS_OF_QUOTES = {
    name: model
    for name, model in run.models().items()
    if name in ("core.run", "core.chip", "clean.rental_quote_name") or name == "mart.chip"
}


@pytest.mark.slow
def test_sixty_reloads_leave_the_file_within_twice_a_fresh_one(tmp_path, report):
    rows = [
        quote(f"case-{number % 50}", f"firm-{number % 7}", 2 + number % 90 / 100, day, offer_key=f"{number}")
        for number, day in enumerate(days(20) * (QUOTES // 20))
    ]
    home = Home(tmp_path / "world")
    ask = world(home.root, rows, marts=["mart.chip"])
    fresh = home.warehouse.stat().st_size
    before = ask("select offer_key, price from raw.rental_quote order by offer_key")
    assert len(before) > QUOTES
    sizes = []
    for number in range(RELOADS):
        with Warehouse(home.warehouse).write() as connection:
            in_place(home, connection, number)
        sizes.append(home.warehouse.stat().st_size)
    assert max(sizes) <= 2 * fresh
    lost = set(before) - set(ask("select offer_key, price from raw.rental_quote order by offer_key"))
    assert lost == set()
    report("reloaded again and again", f"{RELOADS} times", "never above twice the size of a fresh one", lost)


def tables_of(path: Path) -> Fingerprints:
    with duckdb.connect(str(path), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        names = connection.execute("select schema_name || '.' || table_name from duckdb_tables()").fetchall()
        return {n: connection.execute(fingerprint_query(connection, n)).fetchone() for (n,) in names}


def test_an_export_comes_in_again_also_as_a_file_of_an_older_version(good, tmp_path, report):
    export, again, older = (tmp_path / name for name in ("export", "again.duckdb", "older.duckdb"))
    with Warehouse(good[0].warehouse).read() as connection:
        connection.execute(f"export database '{export}' (format parquet)")
    with duckdb.connect(str(again)) as connection:
        connection.execute(f"import database '{export}'")
    with duckdb.connect() as connection:
        connection.execute(f"attach '{older}' as older (storage_version '{STORAGE_VERSION}')")
        connection.execute("use older")
        connection.execute(f"import database '{export}'")
        connection.execute("checkpoint older")
        tags = "select tags['storage_version'] from duckdb_databases() where database_name = 'older'"
        assert connection.execute(tags).fetchone()[0].startswith("v1.4")
    found = {path.stem: tables_of(path) for path in (again, older)}
    assert [tables.keys() for tables in found.values()] == [good[1].keys()] * 2
    lost = [
        f"{name} in {stem}"
        for stem, tables in found.items()
        for name in tables
        if tables[name] != good[1][name]
    ]
    assert lost == []
    report("another version of DuckDB", "export database, import database", "the same tables", lost)
