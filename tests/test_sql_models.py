"""The loader of models says what is wrong with file and line, and the real models keep the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import ErrorLevel, exp

from pipelines import run
from pipelines.home import SQL
from pipelines.sql_build import Built, CheckFailed, build
from pipelines.sql_models import ModelError, read_model, read_models
from pipelines.warehouse import Warehouse

MODELS = run.models()
EVERY_MODEL = pytest.mark.parametrize("name", sorted(MODELS))
PUBLIC_COLUMNS = Path(__file__).with_name("public_columns.txt")
ORDER = ("raw", "clean", "core", "mart")

Write = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "sql"


@pytest.fixture
def write(folder: Path) -> Write:
    """Write a model file: `write("core.a", "select 1 as id")`, with a plain header unless one is given."""

    def written(name: str, sql: str, header: str = "-- One row.\n-- grain: id") -> Path:
        schema, table = name.split(".")
        path = folder / schema / f"{table}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{header}\n{sql}\n")
        return path

    return written


# The header


def test_a_header_is_read_with_its_continued_lines(write):
    path = write(
        "mart.price",
        "select 1 as id, 2.49 as usd",
        "-- What a chip costs\n-- on a day; one row per chip.\n-- grain: id, day\n"
        "-- column: id | the chip\n-- column: usd | price in dollars,\n--   of one hour\n"
        "-- check: usd > 0\n-- check: usd <\n--   100\n-- warn: id > 0",
    )
    model = read_model(path)
    assert model.name == "mart.price"
    assert model.description == "What a chip costs on a day; one row per chip."
    assert model.grain == ("id", "day")
    assert model.columns == {"id": "the chip", "usd": "price in dollars, of one hour"}
    assert model.checks == ("usd > 0", "usd < 100")
    assert model.warnings == ("id > 0",)


@pytest.mark.parametrize(
    ("header", "complaint"),
    [
        ("-- One row.\n-- grain: id\n-- owner: me", r"price\.sql:3: unknown header key 'owner'"),
        ("-- One row.\n-- owner: me\n-- grain: id", r"price\.sql:2: unknown header key 'owner'"),
        ("-- One row.", r"price\.sql:1: .*one grain"),
        ("-- One row.\n-- grain: id\n-- grain: id", r"price\.sql:[13]: .*one grain"),
        ("-- grain: id", r"price\.sql:1: .*sentence"),
        ("-- One row.\n-- grain: id\n-- and more", r"price\.sql:3: a header line is"),
        ("-- One row.\n-- grain: id\n--and more", r"price\.sql:3: a header line is"),
        ("-- One row.\n-- grain: id\n-- column: id", r"price\.sql:3: .*'id' wants `name \| description`"),
        ("-- One row.\n-- grain: id\n-- column: id |", r"price\.sql:3: .*'id' wants `name \| description`"),
        ("-- One row.\n-- grain: id\n-- column: id | a\n-- column: id | b", r"price\.sql:4: .*'id' .*once"),
        ("", r"price\.sql:1: "),
    ],
    ids=[
        "unknown key",
        "unknown key before the grain",
        "no grain",
        "two grains",
        "no sentence",
        "bad continuation",
        "no blank",
        "column without meaning",
        "column with empty meaning",
        "column twice",
        "no header",
    ],
)
def test_a_header_that_the_grammar_does_not_know_is_refused_with_its_line(write, header, complaint):
    path = write("mart.price", "select 1 as id", header)
    with pytest.raises(ModelError, match=complaint):
        read_model(path)


# References and layers


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        ("select id from price", r"a\.sql: price is neither `schema\.table` nor a CTE"),
        ("select id from read_csv('/etc/passwd')", r"a\.sql: .*neither `schema\.table` nor a CTE"),
        ("select id from 'other.parquet'", r"a\.sql: .*neither `schema\.table` nor a CTE"),
        ("select id from mart.price", r"a\.sql: core reads mart\.price, which does not stand to its left"),
        ("select id from core.b where id in (select id from mart.price)", r"core reads mart\.price"),
        ("select id from secret.thing", r"core reads secret\.thing"),
        ("select id from core.nothing", r"a\.sql: reads core\.nothing, which no model makes"),
        ("select 1 as id; select 2 as id", r"a\.sql: a model is exactly one select"),
        ("drop table raw.chip", r"a\.sql: a model is exactly one select"),
        ("create table x as select 1 as id", r"a\.sql: a model is exactly one select"),
        ("", r"a\.sql: a model is exactly one select"),
        ("select 1 as id from (\n", r"a\.sql:\d+: not SQL"),
    ],
)
def test_a_model_that_breaks_a_rule_is_refused_by_name(write, folder, sql, complaint):
    write("core.a", sql)
    write("core.b", "select 1 as id")
    write("mart.price", "select 1 as id")
    with pytest.raises(ModelError, match=complaint):
        read_models(folder)


def test_clean_does_not_read_core(write, folder):
    write("clean.a", "select id from core.b")
    write("core.b", "select 1 as id")
    with pytest.raises(ModelError, match=r"clean reads core\.b"):
        read_models(folder)


def test_models_in_a_circle_are_refused_with_the_circle(write, folder):
    write("core.a", "select id from core.b")
    write("core.b", "select id from core.c")
    write("core.c", "select id from core.a")
    with pytest.raises(ModelError, match=r"circle: core\.[abc] -> core\.[abc] -> core\.[abc]"):
        read_models(folder)


def test_models_come_in_an_order_in_which_they_can_be_built(write, folder):
    write("core.a", "with z as (select id from core.z) select id from z")
    write("core.z", "select id from raw.anything")
    write("mart.m", "select id from core.a union all select id from core.z")
    models = read_models(folder)
    assert list(models) == ["core.z", "core.a", "mart.m"]
    assert models["mart.m"].depends_on == ("core.a", "core.z")
    assert models["core.z"].depends_on == ("raw.anything",)


# The build


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.duckdb")


def built(warehouse: Warehouse, folder: Path) -> list[Built]:
    with warehouse.write() as connection:
        return build(connection, read_models(folder), sorted((folder / "checks").glob("*.sql")))


def failure(warehouse: Warehouse, folder: Path) -> str:
    with pytest.raises(CheckFailed) as caught:
        built(warehouse, folder)
    return str(caught.value)


def ask(warehouse: Warehouse, query: str) -> list[tuple]:
    with warehouse.read() as connection:
        return connection.execute(query).fetchall()


def test_a_failing_check_changes_nothing_and_every_failure_is_listed(warehouse, folder, write):
    write("core.a", "select 1 as id")
    write("core.old", "select 1 as id")
    built(warehouse, folder)
    (folder / "core" / "old.sql").unlink()
    write("core.a", "select 2 as id", "-- One row.\n-- grain: id\n-- check: id < 2\n-- check: id <> 2")
    write("core.b", "select unnest([7, 7, 8]) as id")
    write("core.new", "select 3 as id")
    write("checks.none_is_eight", "select id from core.b where id = 8", "-- No eight.")
    message = failure(warehouse, folder)
    assert "a.sql: 1 rows break `id < 2`" in message
    assert "a.sql: 1 rows break `id <> 2`" in message
    assert "b.sql: grain (id) stands more than once for 1 keys" in message
    assert "none_is_eight.sql: 1 rows" in message
    assert message.count("\n") == 4
    assert ask(warehouse, "select id from core.a") == [(1,)]
    assert ask(warehouse, "select schema_name || '.' || table_name from duckdb_tables() order by 1") == [
        ("core.a",),
        ("core.old",),
    ]


@pytest.mark.parametrize("keys", ["(1, 'x'), (1, 'x')", "(null, 'x'), (null, 'x')"])
def test_a_key_that_stands_twice_is_found_null_or_not(warehouse, folder, write, keys):
    write(
        "core.a",
        f"select id, kind from (values {keys}, (2, 'y')) as t(id, kind)",
        "-- One row.\n-- grain: id, kind",
    )
    assert "grain (id, kind) stands more than once for 1 keys" in failure(warehouse, folder)


def test_a_grain_of_columns_that_are_not_there_is_found(warehouse, folder, write):
    write("core.a", "select 1 as id", "-- One row.\n-- grain: id, day")
    assert "a.sql: no such columns: ['day']" in failure(warehouse, folder)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("select 1 as id, 2 as usd, 3 as extra", "undocumented"),
        ("select 1 as id", "documented and not made"),
        ("select 2 as usd, 1 as id", "in another order"),
        ("select 1 as id, 2 as euro", "under another name"),
    ],
)
def test_a_mart_has_the_columns_that_it_documents_in_their_order(warehouse, folder, write, sql, why):
    write("mart.m", sql, "-- One row.\n-- grain: id\n-- column: id | key\n-- column: usd | dollars")
    message = failure(warehouse, folder)
    assert "m.sql: columns documented ['id', 'usd'], made [" in message, why


def test_a_column_documented_in_core_must_exist(warehouse, folder, write):
    write("core.a", "select 1 as id, 2 as b", "-- One row.\n-- grain: id\n-- column: c | gone")
    assert "no such columns: ['c']" in failure(warehouse, folder)


def test_an_unknown_does_not_pass_a_check(warehouse, folder, write):
    write(
        "core.a",
        "select unnest([1, 2]) as id, cast(null as integer) as usd",
        "-- One row.\n-- grain: id\n-- check: usd > 0\n-- check: usd is null or usd > 0",
    )
    message = failure(warehouse, folder)
    assert "2 rows break `usd > 0`" in message
    assert message.count("\n") == 1


def test_a_warning_is_reported_and_stops_nothing(warehouse, folder, write):
    write(
        "core.a", "select unnest([1, 2]) as id", "-- One row.\n-- grain: id\n-- warn: id = 1\n-- warn: id > 0"
    )
    (result,) = built(warehouse, folder)
    assert (result.model.name, result.rows) == ("core.a", 2)
    (warning,) = result.warnings
    assert warning.endswith("a.sql: 1 rows break `id = 1`")
    assert ask(warehouse, "select count(*) from core.a") == [(2,)]


def test_descriptions_become_comments_with_their_quotes(warehouse, folder, write):
    write(
        "mart.m", "select 1 as id", "-- A row's row; one row.\n-- grain: id\n-- column: id | the chip's 'key'"
    )
    built(warehouse, folder)
    assert ask(warehouse, "select comment from duckdb_tables()") == [("A row's row; one row.",)]
    assert ask(warehouse, "select column_name, comment from duckdb_columns() where schema_name = 'mart'") == [
        ("id", "the chip's 'key'")
    ]


def test_a_table_that_no_file_makes_any_more_is_dropped_and_raw_is_kept(warehouse, folder, write):
    write("core.old", "select 1 as id")
    write("core.a", "select 1 as id")
    with warehouse.write() as connection:
        connection.execute("create schema raw")
        connection.execute("create table raw.chip as select 1 as id")
    built(warehouse, folder)
    (folder / "core" / "old.sql").rename(folder / "core" / "new.sql")
    built(warehouse, folder)
    assert ask(warehouse, "select schema_name || '.' || table_name from duckdb_tables() order by 1") == [
        ("core.a",),
        ("core.new",),
        ("raw.chip",),
    ]


def test_a_check_file_that_finds_nothing_passes(warehouse, folder, write):
    write("core.a", "select 1 as id")
    write("checks.fine", "select id from core.a where id > 1", "-- None above one.")
    assert len(built(warehouse, folder)) == 1
    write("checks.many", "select unnest([1, 2, 3]) as id from core.a", "-- Three.")
    assert "many.sql: 3 rows" in failure(warehouse, folder)


def test_a_select_that_the_database_refuses_names_its_file(warehouse, folder, write):
    write("core.a", "select cast('x' as integer) as id")
    with pytest.raises(ModelError, match=r"a\.sql: .*'x'"):
        built(warehouse, folder)


def test_a_check_that_cannot_be_run_names_its_file(warehouse, folder, write):
    write("core.a", "select 1 as id", "-- One row.\n-- grain: id\n-- check: idd > 0")
    with pytest.raises(ModelError, match=r"a\.sql.*idd"):
        built(warehouse, folder)


def test_a_check_file_that_cannot_be_run_names_itself(warehouse, folder, write):
    write("core.a", "select 1 as id")
    write("checks.broken", "select idd from core.a", "-- Broken.")
    with pytest.raises(ModelError, match=r"broken\.sql.*idd"):
        built(warehouse, folder)


def test_each_model_is_told_when_it_is_made(warehouse, folder, write):
    write("core.a", "select 1 as id")
    write("core.b", "select id from core.a")
    told: list[str] = []
    with warehouse.write() as connection:
        build(connection, read_models(folder), progress=lambda made: told.append(made.model.name))
    assert told == ["core.a", "core.b"]


# The real models


def tables(tree: exp.Expression) -> Iterator[tuple[str, str]]:
    for table in tree.find_all(exp.Table):
        if table.db:
            yield table.db, table.name


@EVERY_MODEL
def test_a_model_reads_only_itself_and_what_stands_to_its_left(name):
    own = name.split(".")[0]
    read = set(tables(MODELS[name].tree))
    assert read or name == "mart.constant"
    for schema, table in read:
        assert ORDER.index(schema) <= ORDER.index(own), f"{name} reads {schema}.{table}"


@EVERY_MODEL
def test_a_model_survives_on_spark(name):
    spark = sqlglot.transpile(
        MODELS[name].sql, read="duckdb", write="spark", unsupported_level=ErrorLevel.RAISE
    )
    assert len(spark) == 1
    assert isinstance(sqlglot.parse_one(spark[0], read="spark"), exp.Query)


CLOCK = {
    "now",
    "today",
    "current_date",
    "current_timestamp",
    "current_time",
    "localtime",
    "localtimestamp",
    "current_localtime",
    "current_localtimestamp",
    "get_current_timestamp",
    "get_current_time",
    "transaction_timestamp",
    "age",
}
NOT_PORTABLE = {
    "quantile_cont",
    "percentile_cont",
    "quantile_disc",
    "isfinite",
    "random",
    "rand",
    "uuid",
    "gen_random_uuid",
    "setseed",
}


def forbidden(tree: exp.Expression) -> set[str]:
    """The clocks, the dice and the functions of one engine that a select uses."""
    found = set()
    for node in tree.find_all(exp.Func):
        name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        found.add(name)
    found |= {column.name.lower() for column in tree.find_all(exp.Column) if not column.table} & CLOCK
    if any(str(join.args.get("method") or "").lower() == "asof" for join in tree.find_all(exp.Join)):
        found.add("asof join")
    if any(isinstance(table.this, exp.Func) for table in tree.find_all(exp.Table)) or list(
        tree.find_all(exp.TableSample)
    ):
        found.add("a function as a table")
    return found & (CLOCK | NOT_PORTABLE | {"asof join", "a function as a table"})


def counted_in_local_time(tree: exp.Expression) -> list[str]:
    """Days, dates and differences of instants that are those of the session's time zone.

    Instants are told by their names, which end in `_at` or are `as_of`: one that is read `at time zone 'UTC'`
    is none any more, and an hour is an hour everywhere.
    """

    def instants(node: exp.Expression) -> list[exp.Column]:
        return [
            column
            for column in node.find_all(exp.Column)
            if (column.name.endswith("_at") or column.name == "as_of")
            and not column.find_ancestor(exp.AtTimeZone)
        ]

    found = [node for node in tree.find_all(exp.DateDiff) if instants(node)]
    for node in tree.find_all(exp.Add, exp.Sub):
        units = {str(part.unit).lower() for part in node.find_all(exp.Interval)}
        if units - {"hour", "minute", "second"} and instants(node):
            found.append(node)
    found += [node for node in tree.find_all(exp.Cast) if node.is_type("date") and instants(node)]
    return [node.sql("duckdb") for node in found]


@EVERY_MODEL
def test_a_model_counts_no_days_of_the_time_zone_of_a_session(name):
    assert counted_in_local_time(MODELS[name].tree) == []


@pytest.mark.parametrize(
    "expression",
    [
        "date_diff('day', seen_at, date '2026-01-01')",
        "date_diff('hour', a.b, run.as_of)",
        "seen_at + interval '1' day",
        "seen_at + 3 * interval '1' day",
        "cast(seen_at as date)",
    ],
)
def test_local_time_is_recognised(expression):
    assert counted_in_local_time(sqlglot.parse_one(f"select {expression} as x from a.b", read="duckdb"))


@EVERY_MODEL
def test_a_model_reads_no_clock_and_throws_no_dice(name):
    assert forbidden(MODELS[name].tree) == set()


@pytest.mark.parametrize(
    "sql",
    [
        "select now() as t",
        "select current_date as t",
        "select current_timestamp as t",
        "select today() as t",
        "select localtimestamp as t",
        "select get_current_timestamp() as t",
        "select age(timestamp '2026-01-01') as t",
        "select quantile_cont(x, 0.5) as q from a.b",
        "select isfinite(x) as f from a.b",
        "select x from generate_series(1, 5) as t(x)",
        "select x from range(5) as t(x)",
        "select a.x from a.b as a asof join a.c as c on a.t >= c.t",
        "select random() as r",
        "select uuid() as r",
        "select x from a.b using sample 5",
    ],
)
def test_what_is_forbidden_is_recognised(sql):
    assert forbidden(sqlglot.parse_one(sql, read="duckdb"))


@pytest.mark.parametrize("name", sorted(name for name in MODELS if name.startswith("mart.")))
def test_every_column_of_a_mart_is_documented(name, embedded):
    schema, table = name.split(".")
    made = embedded(
        "select column_name, comment from duckdb_columns() where schema_name = ? and table_name = ? "
        "order by column_index",
        schema,
        table,
    )
    assert [column for column, _ in made] == list(MODELS[name].columns)
    assert [column for column, comment in made if not comment] == []


def test_every_file_below_sql_is_a_model_or_a_check():
    files = {path.relative_to(SQL).as_posix() for path in SQL.rglob("*.sql")}
    checks = {path for path in files if path.startswith(("checks/", "cookbook/", "page/"))}
    assert {path.removesuffix(".sql").replace("/", ".") for path in files - checks} == set(MODELS)


def test_public_columns_are_those_that_are_written_out():
    written = PUBLIC_COLUMNS.read_text().split()
    made = [
        f"{name}.{column}"
        for name, model in sorted(MODELS.items())
        if name.startswith("mart.")
        for column in model.columns
    ]
    gone = [column for column in written if column not in made]
    new = [column for column in made if column not in written]
    assert made == written, (
        f"the public columns changed: gone {gone}, new {new}, or in another order. If that is meant, "
        f"mend tests/public_columns.txt and add an entry to CHANGELOG.md: readers depend on it"
    )


def test_the_database_agrees_that_every_model_is_one_select():
    for name, model in MODELS.items():
        (statement,) = duckdb.extract_statements(model.sql)
        assert statement.type == duckdb.StatementType.SELECT, name
