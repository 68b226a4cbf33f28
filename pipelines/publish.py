"""The published copy: what readers open, complete or not there at all.

Belongs here: choosing what is passed on, writing a version beside the others, moving the pointer.
Does not belong here: computing anything (that is `sql/`). A version is written under another name,
checked, synced and renamed; then `current` moves by one rename. A reader sees the old one or the new.

    var/published/<version>/tokenyield.duckdb   marts, the facts behind them, and the macros
                            parquet/<mart>.parquet
                            DICTIONARY.md
                            index.html          the dashboard, and its rows in page/*.json
                            snapshots.json      what it was made of
                            manifest.json       written last: hashes, rows, as_of, code
    var/published/current -> <version>
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from pipelines import cut, dictionary, feed, limits, lock, page
from pipelines.failure import Failure
from pipelines.macros import Macro, tables_read
from pipelines.sql_models import Model
from pipelines.warehouse import Warehouse

# DuckDB 1.4, 1.5 and 2.0 read this storage version; 2.0's own is read by 2.0 alone.
STORAGE_VERSION = "v1.4.0"
KEPT_VERSIONS = 5
# What an explanation reads and neither a mart nor a macro holds.
EXPLAINED = {"core.market_machine"}
UNFINISHED = ".unfinished-"


class PublishRefused(Failure):
    """There is nothing fit to publish; the last good version stays."""


@dataclass(frozen=True)
class Published:
    """A version that readers can open: its folder, the moment of its facts, and what was left out of it.

    withheld: sources whose terms do not let us pass on what they say, and rows left out of each mart.
    """

    folder: Path
    as_of: datetime
    tables: int
    rows: int
    withheld: dict[str, Any]

    @property
    def withheld_in_words(self) -> str:
        """One line: how much stayed behind and whose terms say so."""
        left_out = sum(self.withheld["rows"].values())
        names = ", ".join(source["source"] for source in self.withheld["sources"])
        return (
            f"{left_out} rows of marts stay here by the terms of {names}" if left_out else "nothing withheld"
        )


def publish(
    warehouse: Warehouse, models: Mapping[str, Model], macros: Iterable[Macro], root: Path
) -> Published:
    """Write a new version from the last committed build and move `current` to it.

    Raises PublishRefused when the last run loaded facts but did not finish its models and checks, Busy when
    another process publishes for longer than a run waits, DiskFull, and what opening the warehouse raises.
    """
    root.mkdir(parents=True, exist_ok=True)
    # Beside the folder: what lies in it is for readers.
    with (
        lock.held(root.with_name(f"{root.name}.lock"), root, warehouse.wait_seconds),
        limits.full_disk_told(root),
    ):
        for leftover in root.glob(f"{UNFINISHED}*"):
            _remove(leftover)
        if warehouse.path.exists():
            limits.require_space(root, warehouse.path.stat().st_size)
        return _publish(warehouse, models, macros, root)


def _publish(
    warehouse: Warehouse, models: Mapping[str, Model], macros: Iterable[Macro], root: Path
) -> Published:
    version = f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    unfinished = root / f"{UNFINISHED}{version}"
    (unfinished / "parquet").mkdir(parents=True)
    try:
        with warehouse.beside(unfinished / "tokenyield.duckdb", STORAGE_VERSION) as connection:
            as_of = _finished_as_of(connection)
            tables = _copy(connection, models, macros, unfinished / "parquet")
            withheld = _withheld(connection, tables)
            feed.write(connection, models, unfinished, as_of)
            cut.write(cut.of_warehouse(connection, "warehouse.raw"), unfinished / cut.FILE)
        dictionary.write(models, macros, unfinished / "DICTIONARY.md")
        if page.reads() <= tables.keys():  # a copy of some models alone has no answer to show
            page.write(unfinished, version, as_of)
        manifest = {
            "version": version,
            "as_of": as_of.isoformat(),
            "duckdb_storage_version": STORAGE_VERSION,
            "code": cut.code_version(),
            "tables": tables,
            "withheld": withheld,
            "files": {str(p.relative_to(unfinished)): _sha256(p) for p in _files(unfinished)},
        }
        (unfinished / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        _sync(unfinished)
        os.replace(unfinished, root / version)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    _point(root, version)
    _forget_old(root, version)
    rows = sum(table["rows"] for table in tables.values())
    return Published(root / version, as_of, len(tables), rows, withheld)


def _remove(leftover: Path) -> None:
    if leftover.is_dir() and not leftover.is_symlink():
        shutil.rmtree(leftover, ignore_errors=True)
    else:
        leftover.unlink(missing_ok=True)


def _finished_as_of(connection: duckdb.DuckDBPyConnection) -> datetime:
    try:
        row = connection.execute(
            "select run.as_of, build.as_of "
            "from warehouse.raw.run as run left join warehouse.raw.build as build on true"
        ).fetchone()
    except duckdb.CatalogException:
        row = None
    if not row or row[0] != row[1]:
        raise PublishRefused(
            "the last model run did not finish with every check passed; run `tokenyield build` and read "
            "what it says"
        )
    return row[0].astimezone(UTC)


def _copy(
    connection: duckdb.DuckDBPyConnection,
    models: Mapping[str, Model],
    macros: Iterable[Macro],
    parquet: Path,
) -> dict[str, dict[str, Any]]:
    """Copy marts, the facts behind them and the macros; returns rows and fingerprint of each table."""
    marts = [name for name in models if name.startswith("mart.")]
    described = {}
    for name in [*marts, *sorted((tables_read(macros) | (EXPLAINED & models.keys())) - set(marts))]:
        schema, table = name.split(".")
        connection.execute(f"create schema if not exists published.{schema}")
        connection.execute(
            f"create table published.{name} as select * from warehouse.{name} {_passed_on(connection, name)}"
        )
        _copy_comments(connection, schema, table)
        rows, fingerprint = connection.execute(fingerprint_query(connection, f"published.{name}")).fetchone()
        described[name] = {"rows": rows, "fingerprint": fingerprint}
        if schema == "mart":
            target = _quoted(parquet / f"{table}.parquet")
            connection.execute(f"copy published.{name} to '{target}' (format parquet, compression zstd)")
    connection.execute("use published")
    for macro in macros:
        connection.execute(macro.statement)
        connection.execute(f"comment on macro table {macro.name} is '{_quoted(macro.description)}'")
    return described


def _passed_on(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """The condition that leaves out what its publisher's terms do not let us pass on."""
    columns = {row[0] for row in connection.execute(f"describe warehouse.{name}").fetchall()}
    conditions = []
    if name in ("mart.source_health", "raw.source", "raw.price_series"):
        return ""  # that a source exists and works is ours to say
    if "passes_on" in columns:
        conditions.append("passes_on")
    if "price_series_id" in columns:
        conditions.append(
            "price_series_id not in "
            "(select price_series_id from warehouse.core.price_series where not passes_on)"
        )
    for column in sorted(c for c in columns if c.endswith("point_id")):
        conditions.append(
            f"{column} not in "
            "(select benchmark_point_id from warehouse.core.benchmark_statement where not passes_on)"
        )
    if "source" in columns:
        conditions.append("source not in (select source from warehouse.raw.source where not passes_on)")
    return f"where {' and '.join(f'coalesce({c}, true)' for c in conditions)}" if conditions else ""


def _withheld(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Any]) -> dict[str, Any]:
    """Whose terms hold back what, and the rows that each mart has more than its published copy."""
    sources = connection.execute(
        """
        select distinct on (source) source, title, terms
        from (
            select source, title, licence as terms from warehouse.raw.source
            where not passes_on and source in (select source from warehouse.raw.snapshot)
            union all
            select index_name, title, source from warehouse.raw.price_series
            where not passes_on and index_name in (select index_name from warehouse.raw.rental_index_value)
        )
        order by source, title
        """
    ).fetchall()
    rows = {}
    for name, described in tables.items():
        (all_rows,) = connection.execute(f"select count(*) from warehouse.{name}").fetchone()
        if name.startswith("mart.") and all_rows > described["rows"]:
            rows[name] = all_rows - described["rows"]
    names = ("source", "title", "terms")
    return {"sources": [dict(zip(names, row, strict=True)) for row in sources], "rows": rows}


def _copy_comments(connection: duckdb.DuckDBPyConnection, schema: str, table: str) -> None:
    where = "database_name = 'warehouse' and schema_name = ? and table_name = ?"
    comments = connection.execute(
        f"select 'table', '', comment from duckdb_tables() where {where} and comment is not null "
        f"union all select 'column', '.' || column_name, comment from duckdb_columns() "
        f"where {where} and comment is not null",
        [schema, table] * 2,
    ).fetchall()
    for kind, column, comment in comments:
        connection.execute(f"comment on {kind} published.{schema}.{table}{column} is '{_quoted(comment)}'")


def fingerprint_query(connection: duckdb.DuckDBPyConnection, table: str) -> str:
    """SQL for (row count, fingerprint) of a table's contents, whatever the order of its rows.

    Doubles enter with 12 significant digits, so that a sum in another order is the same result.
    """
    cells = [
        f"coalesce(format('{{:.12g}}', {name}), '-')"
        if kind == "DOUBLE"
        else f"coalesce(cast({name} as varchar), '-')"
        for name, kind, *_ in connection.execute(f"describe {table}").fetchall()
    ]
    row = f"concat_ws('|', {', '.join(cells)})"
    halves = " || '-' || ".join(
        f"cast(coalesce(sum(md5_number_{half}({row})), 0) as varchar)" for half in ("lower", "upper")
    )
    return f"select count(*), {halves} from {table}"


def _quoted(value: object) -> str:
    return str(value).replace("'", "''")


def _files(folder: Path) -> Iterable[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _sync(folder: Path) -> None:
    for path in [*folder.rglob("*"), folder]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _point(root: Path, version: str) -> None:
    """Move `current` by one atomic rename."""
    moved = root / f"{UNFINISHED}current"
    moved.unlink(missing_ok=True)
    moved.symlink_to(version)
    os.replace(moved, root / "current")


def _forget_old(root: Path, newest: str) -> None:
    versions = sorted(p for p in root.iterdir() if p.is_dir() and not p.is_symlink() and p.name[0].isdigit())
    for old in versions[:-KEPT_VERSIONS]:
        if old.name != newest:
            shutil.rmtree(old, ignore_errors=True)
