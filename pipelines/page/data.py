"""What the page shows, asked of the marts of a published version.

Belongs here: asking `sql/page/*.sql` and bringing the rows into JSON. Does not belong here: any arithmetic.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from pipelines.home import SQL

QUERIES = SQL / "page"
# More digits than any figure here is known to, and a third less to load.
SIGNIFICANT_DIGITS = 10


@dataclass(frozen=True)
class Table:
    """Rows of one question: column names, their units last, and plain JSON values."""

    columns: tuple[str, ...]
    rows: list[list[Any]]

    def as_dict(self) -> dict[str, Any]:
        """The table as JSON has it: names once, then rows."""
        return {"columns": list(self.columns), "rows": self.rows}

    def column(self, name: str) -> list[Any]:
        """The values of one column, in the order of the rows."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


@cache
def reads() -> frozenset[str]:
    """Every table that the page asks, as `schema.table`."""
    found = set()
    for path in QUERIES.glob("*.sql"):
        for table in sqlglot.parse_one(path.read_text(encoding="utf-8"), read="duckdb").find_all(exp.Table):
            if table.db:
                found.add(f"{table.db}.{table.name}")
    return frozenset(found)


def ask(connection: duckdb.DuckDBPyConnection) -> dict[str, Table]:
    """Every question of `sql/page`, by file name, of a published database."""
    tables = {}
    for path in sorted(QUERIES.glob("*.sql")):
        cursor = connection.execute(path.read_text(encoding="utf-8"))
        columns = tuple(column[0] for column in cursor.description)
        tables[path.stem] = Table(columns, [[_plain(value) for value in row] for row in cursor.fetchall()])
    return tables


def _plain(value: Any) -> Any:
    if isinstance(value, float | Decimal):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    if isinstance(value, date):
        return value.isoformat()
    return value


def packed(tables: Mapping[str, Table]) -> dict[str, Any]:
    """Column by column, each text once: `strings`, and for a column of texts its places there.

    A column is `["text", [place, ...]]` or `["plain", [value, ...]]`; null is null in both.
    """
    places: dict[str, int] = {}
    described: dict[str, Any] = {}
    for name, table in tables.items():
        described[name] = {}
        for column in table.columns:
            values = table.column(column)
            if any(isinstance(value, str) for value in values):
                values = [
                    None if value is None else places.setdefault(value, len(places)) for value in values
                ]
                described[name][column] = ["text", values]
            else:
                described[name][column] = ["plain", values]
    return {"strings": list(places), "tables": described}


def strict_json(value: Any) -> str:
    """JSON that any parser reads; raises ValueError for NaN and infinity, which JSON does not have."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
