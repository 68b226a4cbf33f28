"""The models as tables: built in one transaction, checked, described.

Belongs here: create or replace, the checks of headers and of `sql/checks/`, comments. Does not belong here:
reading the files (`sql_models.py`), the connection and its transaction (`warehouse.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from pipelines.failure import Failure
from pipelines.sql_models import Model, ModelError, parse

# Of a check that finds thousands of rows the first ones say enough.
TOLD_ROWS = 20


class CheckFailed(Failure):
    """Checks found rows that must not be; lists all of them. The transaction is rolled back."""


@dataclass(frozen=True)
class Built:
    """What a build did with one model: rows, and the warnings that its rows raised."""

    model: Model
    rows: int
    warnings: tuple[str, ...] = field(default=())


def build(
    connection: duckdb.DuckDBPyConnection,
    models: Mapping[str, Model],
    checks: Iterable[Path] = (),
    progress: Callable[[Built], None] = lambda built: None,
) -> list[Built]:
    """Create or replace every model and run every check, inside the caller's transaction.

    `checks` are files whose query returns failing rows; where it makes a `message`, that is told of each.
    Raises CheckFailed, listing every failed check at once, so that the caller rolls back and the last good
    tables stay.
    """
    results, failed = [], []
    for model in models.values():
        connection.execute(f"create schema if not exists {model.schema}")
        _run(connection, model.path, f"create or replace table {model.name} as {model.sql}")
        rows = _count(connection, model.path, f"from {model.name}")
        if wrong := _shape(connection, model):
            failed.append(wrong)  # what it documents is not there to be checked
            continue
        failed += [*_doubles(connection, model), *_violations(connection, model, model.checks)]
        built = Built(model, rows, tuple(_violations(connection, model, model.warnings)))
        _comment(connection, model)
        results.append(built)
        progress(built)
    for path in checks:
        failed += _found(connection, path)
    _drop_orphans(connection, models)
    if failed:
        raise CheckFailed("checks failed, nothing was changed:\n  " + "\n  ".join(failed))
    return results


def _run(connection: duckdb.DuckDBPyConnection, path: Path, sql: str) -> duckdb.DuckDBPyConnection:
    try:
        return connection.execute(sql)
    except duckdb.Error as error:
        raise ModelError(f"{path}: {error}") from error


def _count(connection: duckdb.DuckDBPyConnection, path: Path, rest: str) -> int:
    return _run(connection, path, f"select count(*) {rest}").fetchone()[0]


def _shape(connection: duckdb.DuckDBPyConnection, model: Model) -> str | None:
    """What is wrong with the columns: in mart the documented list is the real one, in order."""
    real = [row[0] for row in connection.execute(f"describe {model.name}").fetchall()]
    if model.schema == "mart" and list(model.columns) != real:
        return f"{model.path}: columns documented {list(model.columns)}, made {real}"
    if unknown := [name for name in (*model.columns, *model.grain) if name not in real]:
        return f"{model.path}: no such columns: {unknown}"
    return None


def _doubles(connection: duckdb.DuckDBPyConnection, model: Model) -> Iterable[str]:
    key = ", ".join(model.grain)
    twice = _count(
        connection, model.path, f"from (select 1 from {model.name} group by {key} having count(*) > 1)"
    )
    if twice:
        yield f"{model.path}: grain ({key}) stands more than once for {twice} keys"


def _violations(
    connection: duckdb.DuckDBPyConnection, model: Model, expressions: Iterable[str]
) -> Iterable[str]:
    for expression in expressions:
        # A check that is unknown for a row is not passed by it: say `x is null or ...` where null is fine.
        if count := _count(connection, model.path, f"from {model.name} where ({expression}) is not true"):
            yield f"{model.path}: {count} rows break `{expression}`"


def _found(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterable[str]:
    query = parse(path, path.read_text()).sql("duckdb")
    count = _count(connection, path, f"from ({query})")
    if count:
        yield f"{path}: {count} rows"
    if count and "message" in (row[0] for row in _run(connection, path, f"describe {query}").fetchall()):
        told = f"select message from ({query}) order by message limit {TOLD_ROWS}"
        yield from (f"  {message}" for (message,) in _run(connection, path, told).fetchall())


def _comment(connection: duckdb.DuckDBPyConnection, model: Model) -> None:
    def quoted(text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    connection.execute(f"comment on table {model.name} is {quoted(model.description)}")
    for column, meaning in model.columns.items():
        connection.execute(f"comment on column {model.name}.{column} is {quoted(meaning)}")


def _drop_orphans(connection: duckdb.DuckDBPyConnection, models: Mapping[str, Model]) -> None:
    """Drop tables of layers that no file makes any more: a renamed model must not leave its old self."""
    listed = connection.execute(
        "select schema_name || '.' || table_name from duckdb_tables() "
        "where schema_name in ('clean', 'core', 'mart')"
    ).fetchall()
    for (name,) in listed:
        if name not in models:
            connection.execute(f"drop table {name}")
