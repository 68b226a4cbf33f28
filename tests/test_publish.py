"""The published copy is whole, says what it is, moves by one rename, and passes on only what it may."""

from __future__ import annotations

import hashlib
import json
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bench_world import point, priced
from price_world import world

from pipelines import as_known, run
from pipelines import publish as publishing
from pipelines.home import PROJECT, Home
from pipelines.limits import DiskFull
from pipelines.publish import KEPT_VERSIONS, Published, PublishRefused, fingerprint_query
from pipelines.raw import OWN_TABLES
from pipelines.sql_build import build
from pipelines.sql_models import Model, read_models
from pipelines.warehouse import Warehouse, WarehouseUnreadable

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
MARTS = sorted(name for name in run.models() if name.startswith("mart."))
WITHHELD = ("cgi", "silicon_data", "silicon_data_neocloud", "silicon_data_hyperscaler")


def publish(warehouse: Warehouse, models: dict[str, Model], root: Path) -> Published:
    """A version of whatever models, with the macros of the past."""
    return publishing.publish(warehouse, models, as_known.macros(models), root)


def manifest_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "manifest.json").read_text())


@pytest.fixture
def current(embedded_home: Home) -> Path:
    return embedded_home.published / "current"


# What lies in a version


def test_the_manifest_names_every_file_with_its_hash(current):
    manifest = manifest_of(current)
    files = {
        path.relative_to(current).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in current.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    assert manifest["files"] == files
    assert {"tokenyield.duckdb", "DICTIONARY.md"} < set(files)
    assert manifest["version"] == current.resolve().name
    assert manifest["as_of"] == "2026-11-30T12:00:00+00:00"


def test_the_manifest_tells_rows_and_fingerprint_of_every_table(current):
    described = manifest_of(current)["tables"]
    with duckdb.connect(str(current / "tokenyield.duckdb"), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        tables = connection.execute("select schema_name || '.' || table_name from duckdb_tables()").fetchall()
        assert {name for (name,) in tables} == set(described)
        for name, told in described.items():
            rows, fingerprint = connection.execute(fingerprint_query(connection, name)).fetchone()
            assert (told["rows"], told["fingerprint"]) == (rows, fingerprint), name
            assert connection.execute(f"select count(*) from {name}").fetchone() == (rows,)
    assert set(MARTS) <= set(described)


@pytest.mark.parametrize("name", MARTS)
def test_parquet_holds_the_rows_of_the_database(name, current, embedded):
    path = current / "parquet" / f"{name.removeprefix('mart.')}.parquet"
    for one, other in ((f"from {name}", f"from '{path}'"), (f"from '{path}'", f"from {name}")):
        assert embedded(f"select count(*) from ({one} except all {other})") == [(0,)]
    types = [
        embedded(f"select column_name, column_type from (describe {source})")
        for source in (name, f"'{path}'")
    ]
    assert types[0] == types[1]


def test_comments_come_along(embedded):
    for name in MARTS:
        model = run.models()[name]
        schema, table = name.split(".")
        where = "where schema_name = ? and table_name = ?"
        assert embedded(f"select comment from duckdb_tables() {where}", schema, table) == [
            (model.description,)
        ]
        comments = embedded(
            f"select column_name, comment from duckdb_columns() {where} order by column_index", schema, table
        )
        assert comments == list(model.columns.items())


def test_macros_come_along_and_answer(embedded):
    names = {
        name
        for (name,) in embedded("select function_name from duckdb_functions() where schema_name = 'mart'")
    }
    made = {macro.name.removeprefix("mart.") for macro in as_known.macros(run.models())}
    assert names >= made
    assert {"rental_price_as_known", "headline_as_recorded", "cost_per_million_tokens_as_known"} <= made
    later = datetime.now(UTC)  # after the seeds were stored
    for name in ("rental_price", "benchmark_point", "price_series"):
        for query in (f"from mart.{name}_as_known(?)", f"from mart.{name}_as_recorded(?)"):
            moment = AS_OF if "known" in query else later
            rows = embedded(f"select count(*) from ({query})", moment)[0][0]
            assert rows == embedded(f"select count(*) from mart.{name}")[0][0], query
    long_ago = datetime(2000, 1, 1, tzinfo=UTC)
    assert embedded("select count(*) from mart.rental_price_as_known(?)", long_ago) == [(0,)]
    assert embedded("select count(*) from mart.rental_price_as_recorded(?)", long_ago) == [(0,)]


def test_the_dictionary_names_every_column(current):
    text = (current / "DICTIONARY.md").read_text()
    for name in MARTS:
        section = text.split(f"## {name}\n")[1].split("\n## ")[0]
        assert re.findall(r"(?m)^\| (\w+) \|", section)[1:] == list(run.models()[name].columns)


def test_the_database_is_of_the_older_storage_version(current):
    with duckdb.connect() as connection:
        connection.execute(f"attach '{current / 'tokenyield.duckdb'}' as copy (read_only)")
        (tags,) = connection.execute(
            "select tags from duckdb_databases() where database_name = 'copy'"
        ).fetchone()
    assert tags["storage_version"].startswith("v1.4")


# What may not be passed on


def test_a_series_that_may_not_be_passed_on_is_in_the_warehouse_alone(embedded_home, embedded):
    like = " or ".join(f"price_series_id like 'index:{name}:%'" for name in WITHHELD)
    withheld = 0
    with Warehouse(embedded_home.warehouse).read() as connection:
        for name in MARTS:
            columns = {row[0] for row in connection.execute(f"describe {name}").fetchall()}
            if "price_series_id" not in columns:
                continue
            withheld += connection.execute(f"select count(*) from {name} where {like}").fetchone()[0]
            assert embedded(f"select count(*) from {name} where {like}") == [(0,)], name
        names = "index_name in " + str(WITHHELD)
        kept = connection.execute(f"select count(*) from core.rental_index_value where {names}").fetchone()[0]
    assert withheld > 1000
    assert kept > 0
    assert embedded(f"select count(*) from core.rental_index_value where {names}") == [(0,)]
    assert embedded(
        "select count(*) from mart.cost_per_million_tokens where price_series_id like 'index:%'"
    ) != [(0,)]


@pytest.mark.parametrize(
    "mart", ["cost_per_million_tokens", "assumed_cost", "price_coverage", "price_series"]
)
@pytest.mark.parametrize("flavour", ["as_known", "as_recorded"])
def test_macros_give_no_value_that_may_not_be_passed_on(embedded, mart, flavour):
    moment = AS_OF if flavour == "as_known" else datetime.now(UTC)
    (rows, withheld), *_ = embedded(
        "select count(*), count(*) filter (where price_series_id like 'index:cgi:%' "
        f"or price_series_id like 'index:silicon_data%') from mart.{mart}_{flavour}(?)",
        moment,
    )
    assert rows > 0
    assert withheld == 0


def test_no_evidence_is_published_for_a_value_that_is_not(embedded):
    assert (
        embedded(
            "select fact_id from mart.evidence where fact_kind = 'rental_index_value' "
            "and fact_id not in (select index_value_id from core.rental_index_value)"
        )
        == []
    )


# A small project of our own: three tables, published in milliseconds

SMALL = {
    "core/run.sql": "-- The clock; one row.\n-- grain: as_of\nselect as_of from raw.run\n",
    "core/known_tick.sql": (
        "-- A fact; one row.\n-- grain: id\n"
        "select ticks.* from raw.tick as ticks cross join core.run as run where ticks.known_at <= run.as_of\n"
    ),
    "mart/tick.sql": (
        "-- A tick; one row.\n-- grain: id\n-- column: id | the chip's 'key'\n-- column: value | count\n"
        "select id, value from core.known_tick\n"
    ),
}


@pytest.fixture
def small(tmp_path: Path) -> tuple[Warehouse, dict[str, Model]]:
    for name, sql in SMALL.items():
        path = tmp_path / "sql" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sql)
    models = read_models(tmp_path / "sql")
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    with warehouse.write() as connection:
        connection.execute("create schema raw")
        for name in ("source", "snapshot", "snapshot_part", "sighting"):
            connection.execute(f"create table raw.{name} ({OWN_TABLES[name]})")
        # Whose terms hold something back is asked of these; here nobody's do.
        connection.execute(
            "create table raw.price_series "
            "(index_name varchar, title varchar, source varchar, passes_on boolean)"
        )
        connection.execute("create table raw.rental_index_value (index_name varchar)")
        for name in ("run", "build"):
            connection.execute(f"create table raw.{name} (as_of timestamptz)")
            connection.execute(f"insert into raw.{name} values (?)", [AS_OF])
        connection.execute(
            "create table raw.tick as select range as id, 0 as value, "
            "timestamptz '2026-11-01 00:00:00+00' as known_at, "
            "timestamptz '2026-11-01 00:00:00+00' as recorded_at, "
            "cast(null as timestamptz) as recorded_to from range(2000)"
        )
        build(connection, models)
    return warehouse, models


def tick(warehouse: Warehouse, models: dict[str, Model], value: int) -> None:
    """Build with every row at `value`, so that a mixture of two versions can be told."""
    with warehouse.write() as connection:
        connection.execute("update raw.tick set value = ?", [value])
        build(connection, models)


def published_value(root: Path) -> Any:
    with duckdb.connect(str(root / "current" / "tokenyield.duckdb"), read_only=True) as connection:
        return connection.execute("select count(*), min(value), max(value) from mart.tick").fetchone()


def test_current_is_a_link_that_moves(small, tmp_path):
    root = tmp_path / "published"
    first = publish(*small, root)
    assert (root / "current").is_symlink()
    assert (root / "current").resolve() == first.folder
    tick(*small, 1)
    second = publish(*small, root)
    assert (root / "current").resolve() == second.folder != first.folder
    assert second.folder.name > first.folder.name
    assert published_value(root) == (2000, 1, 1)
    assert published_value_of(first.folder) == (2000, 0, 0)
    assert not Path((root / "current").readlink()).is_absolute()  # a home can be moved


def published_value_of(folder: Path) -> Any:
    with duckdb.connect(str(folder / "tokenyield.duckdb"), read_only=True) as connection:
        return connection.execute("select count(*), min(value), max(value) from mart.tick").fetchone()


def test_only_some_versions_are_kept_and_the_newest_are(small, tmp_path):
    root = tmp_path / "published"
    made = [publish(*small, root).folder for _ in range(KEPT_VERSIONS + 3)]
    kept = sorted(path for path in root.iterdir() if not path.is_symlink())
    assert kept == made[-KEPT_VERSIONS:]
    assert (root / "current").resolve() == made[-1]


def test_equal_contents_have_equal_fingerprints_in_every_version(small, tmp_path):
    one, other = (manifest_of(publish(*small, tmp_path / "published").folder)["tables"] for _ in range(2))
    assert one == other
    tick(*small, 1)
    third = manifest_of(publish(*small, tmp_path / "published").folder)["tables"]
    assert third["mart.tick"]["rows"] == one["mart.tick"]["rows"] == 2000
    assert third["mart.tick"]["fingerprint"] != one["mart.tick"]["fingerprint"]


def test_facts_that_were_loaded_and_not_modelled_are_not_published(small, tmp_path):
    warehouse, models = small
    root = tmp_path / "published"
    first = publish(warehouse, models, root)
    with warehouse.write() as connection:
        connection.execute("update raw.run set as_of = ?", [AS_OF + timedelta(hours=1)])
    with pytest.raises(PublishRefused, match="tokenyield build"):
        publish(warehouse, models, root)
    assert (root / "current").resolve() == first.folder
    assert sorted(path.name for path in root.iterdir()) == [first.folder.name, "current"]


def test_loading_again_as_of_the_same_moment_needs_its_models_too(tmp_path):
    home = Home(tmp_path / "home")
    run.load(home, AS_OF)
    with pytest.raises(PublishRefused):
        run.publish(home)
    run.build(home)
    with Warehouse(home.warehouse).write() as connection:  # as if a parser had changed
        connection.execute("update raw.snapshot set parser = 'older code'")
    assert run.load(home, AS_OF)
    with pytest.raises(PublishRefused):
        run.publish(home)
    assert not home.current_database.exists()


def test_where_nothing_was_built_nothing_is_published(tmp_path):
    home = Home(tmp_path / "home")
    with pytest.raises((PublishRefused, WarehouseUnreadable)):
        run.publish(home)
    assert not home.current_database.exists()
    assert [path.name for path in home.published.iterdir()] == []


def test_a_home_with_a_quote_in_its_path_can_be_published(small, tmp_path):
    root = tmp_path / "it's here"
    publish(*small, root)
    assert published_value(root) == (2000, 0, 0)


# A reader that never stops

READS = """
import json, os, sys, time
from pathlib import Path
import duckdb

root, seen, reads = Path(sys.argv[1]), (-1, ""), 0
print("reading", flush=True)
while not (root / "stop").exists():
    with duckdb.connect(str(root / "current" / "tokenyield.duckdb"), read_only=True) as connection:
        query = "select count(*), min(value), max(value) from mart.tick"
        rows, low, high = connection.execute(query).fetchone()
        (macro,) = connection.execute("select max(value) from mart.tick_as_known(now())").fetchone()
    version = json.loads((root / "current" / "manifest.json").read_text())["version"]
    assert rows == 2000 and low == high == macro, (rows, low, high, macro)
    assert (low, version) >= seen, ((low, version), seen)
    seen, reads = (low, version), reads + 1
print(reads, seen[0])
"""
DIES = """
import os, signal, sys
from pathlib import Path
from pipelines import as_known, publish
from pipelines.sql_models import read_models
from pipelines.warehouse import Warehouse

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

{patch}
base = Path(sys.argv[1])
models = read_models(base / "sql")
macros = as_known.macros(models)
publish.publish(Warehouse(base / "warehouse.duckdb"), models, macros, base / "published")
"""


def killed_publish(base: Path, patch: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DIES.format(patch=patch), str(base)], cwd=PROJECT, check=False
    )
    assert done.returncode == -signal.SIGKILL


@pytest.mark.slow
def test_c11_a_reader_never_sees_half_a_version_nor_an_older_one_in_fifty(small, tmp_path):
    root = tmp_path / "published"
    publish(*small, root)
    with subprocess.Popen(
        [sys.executable, "-c", READS, str(root)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as reader:
        assert reader.stdout.readline() == "reading\n"
        for value in range(1, 51):
            tick(*small, value)
            if value == 25:
                killed_publish(tmp_path, "publish._sync = die")
            publish(*small, root)
        (root / "stop").touch()
        told, complaint = reader.communicate(timeout=60)
    assert reader.returncode == 0, complaint
    reads, last = map(int, told.split())
    assert reads >= 25
    assert last in (49, 50)


@pytest.mark.parametrize(
    ("patch", "moved"),
    [
        ("publish._copy_comments = die", False),
        ("publish._sync = die", False),
        ("os.replace = die", False),
        ("publish._point = die", False),
        ("publish._forget_old = die", True),
    ],
)
def test_a_killed_publish_leaves_a_whole_version_and_the_next_one_cleans_up(small, tmp_path, patch, moved):
    root = tmp_path / "published"
    publish(*small, root)
    tick(*small, 1)
    killed_publish(tmp_path, patch)
    assert published_value(root) == ((2000, 1, 1) if moved else (2000, 0, 0))
    tick(*small, 2)
    newest = publish(*small, root)
    assert published_value(root) == (2000, 2, 2)
    assert (root / "current").resolve() == newest.folder
    assert [path.name for path in root.iterdir() if path.name.startswith(".")] == []


def test_an_error_while_publishing_leaves_the_last_good_version(small, tmp_path, monkeypatch):
    root = tmp_path / "published"
    first = publish(*small, root)
    tick(*small, 1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(DiskFull, match="published: no room left to write"):
            publish(*small, root)
    assert published_value(root) == (2000, 0, 0)
    assert sorted(path.name for path in root.iterdir()) == [first.folder.name, "current"]


@pytest.mark.slow
def test_a_point_that_may_not_be_passed_on_leaves_no_trace(tmp_path):
    curve = {20: 823.5, 40: 217.5}
    rows = [priced("case-secret", "2.00")] + [
        point(
            *("case-secret", "2026-10-01"), source="openrouter", run_id="secret", concurrency=speed,
            output_tok_s=made, interactivity_tok_s_user=speed, tpot_p50_ms=1000 / speed,
        )
        for speed, made in curve.items()
    ]  # fmt: skip
    ask = world(tmp_path, rows, history=True)
    home = Home(tmp_path)
    run.publish(home)
    seen = 0
    with duckdb.connect(str(home.current_database), read_only=True) as published:
        for table, column in published.execute(
            "select schema_name || '.' || table_name, column_name from duckdb_columns() "
            "where column_name in ('throughput_tok_s_gpu', 'output_tok_s_gpu', 'interactivity_tok_s_user')"
        ).fetchall():
            secret = f"select count(*) from {table} where {column} in (823.5, 217.5)"
            seen += ask(secret)[0][0]
            assert published.execute(secret).fetchone() == (0,), (table, column)
    assert seen > 20
