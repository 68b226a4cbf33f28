"""Two states of one table, told apart value by value.

Belongs here: which values differ between a table and its other self in two attached databases. Does not
belong here: where the two come from and what is said of it (`reproduce.py`).

Doubles are equal within TOLERANCE of the larger one: a sum in another order is the same result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from pipelines.publish import fingerprint_query

TOLERANCE = 1e-11
SHOWN = 5


@dataclass(frozen=True)
class Difference:
    """One value that differs, with its row's key; column None: the row is in one of the two alone."""

    key: dict[str, Any]
    column: str | None
    one: Any
    other: Any


@dataclass(frozen=True)
class Compared:
    """What became of one table: its rows in each, and how many values differ, of which some are shown."""

    table: str
    rows: int | None
    other_rows: int | None
    count: int
    shown: tuple[Difference, ...]
    note: str = ""

    @property
    def equal(self) -> bool:
        """Nothing differs."""
        return self.count == 0 and not self.note


def compare(
    connection: duckdb.DuckDBPyConnection, table: str, one: str, other: str, key: Sequence[str]
) -> Compared:
    """Compare `one.table` with `other.table`, both attached; `key` tells rows apart; empty: the row.

    Fingerprints are computed anew from the rows; what stands in a manifest is not believed.
    """
    sides = {side: f"{side}.{table}" for side in (one, other)}
    shapes = {side: _shape(connection, name) for side, name in sides.items()}
    if missing := [side for side, shape in shapes.items() if shape is None]:
        return Compared(table, None, None, 0, (), f"there is no such table in {' and '.join(missing)}")
    prints = [connection.execute(fingerprint_query(connection, name)).fetchone() for name in sides.values()]
    rows = (prints[0][0], prints[1][0])
    if shapes[one] != shapes[other]:
        apart = {
            side: dict(shape.items() - shapes[o].items()) for side, o, shape in _pairs(shapes, one, other)
        }
        told = "; ".join(f"{side} alone: {_columns(found)}" for side, found in apart.items() if found)
        return Compared(table, *rows, 0, (), f"the columns are others: {told or 'in another order'}")
    if prints[0] == prints[1]:
        return Compared(table, *rows, 0, ())
    joined = _joined(sides[one], sides[other], shapes[one], key or list(shapes[one]))
    count = 0
    shown: list[Difference] = []
    for column, differs in joined.differing():
        (found,) = connection.execute(f"select count(*) {joined.source} where {differs}").fetchone()
        count += found
        if found and len(shown) < SHOWN:
            shown += joined.examples(connection, column, differs, SHOWN - len(shown))
    # Rows that stand twice in one of the two meet the same row of the other.
    note = "" if count or rows[0] == rows[1] else "rows stand in it more than once"
    return Compared(table, *rows, count, tuple(shown), note)


@dataclass(frozen=True)
class _Joined:
    """Both tables side by side: SQL from `from` on, the key, and the other columns with their types."""

    source: str
    key: tuple[str, ...]
    values: dict[str, str]

    def differing(self) -> Iterator[tuple[str | None, str]]:
        """Every column with the condition under which it differs; first, as None, rows of one side alone."""
        yield None, "one.present is null or other.present is null"
        for column, kind in self.values.items():
            differs = f'one."{column}" is distinct from other."{column}"'
            if kind == "DOUBLE":
                apart = f'abs(one."{column}" - other."{column}")'
                larger = f'greatest(abs(one."{column}"), abs(other."{column}"))'
                differs += f" and not coalesce({apart} <= {TOLERANCE} * {larger}, false)"
            yield column, f"one.present and other.present and {differs}"

    def examples(
        self, connection: duckdb.DuckDBPyConnection, column: str | None, differs: str, limit: int
    ) -> list[Difference]:
        """The first rows, by key, in which the column differs."""
        keys = ", ".join(f'coalesce(one."{name}", other."{name}")' for name in self.key)
        name = f'"{column}"' if column else "present"
        found = connection.execute(
            f"select {keys}, one.{name}, other.{name} {self.source} where {differs} "
            f"order by all limit {limit}"
        ).fetchall()
        return [Difference(dict(zip(self.key, row, strict=False)), column, row[-2], row[-1]) for row in found]


def _joined(one: str, other: str, shape: dict[str, str], key: Sequence[str]) -> _Joined:
    # A row that stands twice in a table without a key would be joined with itself: counted, it is a value.
    whole = len(key) == len(shape)
    cells = ", ".join(f'"{name}"' for name in shape)
    counted = (
        f"select {cells}, true as present, count(*) as copies from {{}} group by all"
        if whole
        else (f"select {cells}, true as present from {{}}")
    )
    meets = " and ".join(f'one."{name}" is not distinct from other."{name}"' for name in key)
    source = f"from ({counted.format(one)}) as one full join ({counted.format(other)}) as other on {meets}"
    values = {name: kind for name, kind in shape.items() if name not in key}
    return _Joined(source, tuple(key), values | ({"copies": "BIGINT"} if whole else {}))


def _shape(connection: duckdb.DuckDBPyConnection, name: str) -> dict[str, str] | None:
    try:
        return {row[0]: row[1] for row in connection.execute(f"describe {name}").fetchall()}
    except duckdb.CatalogException:
        return None


def _pairs(shapes: dict[str, Any], one: str, other: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    yield one, other, shapes[one]
    yield other, one, shapes[other]


def _columns(shape: dict[str, str]) -> str:
    return ", ".join(f"{name} {kind}" for name, kind in shape.items())
