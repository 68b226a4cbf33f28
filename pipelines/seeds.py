"""The seeds: what a person edits in `seeds/*.csv`, typed, keyed and checked when it is read.

Belongs here: the reading of both sorts of files, and what is asked of them together:

- `seeds/<name>.csv` is reference: today's names, classes, factors and parameters. Shape: `seed_shapes.py`.
- `seeds/<row kind>/<source>.csv` holds facts: rows of a row kind, in the kind's own columns, from a
  publisher that has no payload to fetch. Its metadata is a line of `seeds/fact_source.csv`.

Does not belong here: any figure. Both sorts are snapshotted like a payload before they are read, so
every row has a `recorded_at`, and an edit never overwrites what was recorded before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipelines import corrections
from pipelines.contracts import CORRECTION, ROW_KINDS, Column, ContractError, RowKind, checked, fit
from pipelines.decode import amount, iso_date, iso_instant, strict_csv
from pipelines.failure import Failure
from pipelines.seed_shapes import REFERENCE
from pipelines.source import Accepted, Source, SourceError


class SeedError(Failure):
    """A seed file is not what it must be; the message names file, line and every problem found."""


def read_reference(name: str, body: bytes) -> list[dict[str, Any]]:
    """Read the reference seed `name`: typed rows in the seed's columns.

    Raises SeedError listing every problem at once: unknown or missing columns, values that do not fit,
    keys that stand twice. That its references exist is asked by `check_references`.
    """
    reference = REFERENCE[name]
    path = f"seeds/{name}.csv"
    names = {c.name for c in reference.kind.columns}
    raw_rows = _csv(path, body, names)
    problems = [f"{path}:1: {name} has no column {c!r}" for c in (raw_rows or [{}])[0] if c not in names]
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], int] = {}
    for line, raw in enumerate(raw_rows, start=2):
        try:
            row = {c.name: fit(c, typed(c, raw[c.name])) for c in reference.kind.columns}
        except ContractError as error:
            problems.append(f"{path}:{line}: {error}")
            continue
        key = tuple(row[k] for k in reference.key)
        if key in seen:
            problems.append(f"{path}:{line}: key {key} stands already in line {seen[key]}")
        seen[key] = line
        rows.append(row)
    if problems:
        raise SeedError("\n".join(problems))
    return rows


def check_references(seeds: Mapping[str, list[dict[str, Any]]]) -> None:
    """Raise SeedError naming every value that points into another seed and finds nothing there."""
    problems = []
    for name, rows in seeds.items():
        for column, target in REFERENCE[name].points_to.items():
            known = {row[REFERENCE[target].key[0]] for row in seeds.get(target, [])}
            missing = sorted({row[column] for row in rows if row[column]} - known)
            problems += [f"seeds/{name}.csv: {column} {value!r} is not in {target}.csv" for value in missing]
    if problems:
        raise SeedError("\n".join(problems))


def fact_rows(kind: RowKind, path: str, body: bytes) -> Iterable[Accepted]:
    """Yield the rows of a CSV in the canonical columns of `kind`; absent columns are unknown.

    Raises SeedError for an unknown column and for a cell that cannot be read as its column's type, with
    file and line: a person typed it, and a person mends it.
    """
    columns = {c.name: c for c in kind.columns}
    for line, raw in enumerate(_csv(path, body, {c.name for c in kind.columns if c.required}), start=2):
        unknown = raw.keys() - columns.keys()
        if unknown:
            raise SeedError(f"{path}: {kind.name} has no column {sorted(unknown)}")
        try:
            row = {name: typed(columns[name], cell) for name, cell in raw.items()}
            if row.get("known_at") is None:
                raise ContractError("a typed fact says when the world could know it", "known_at", None)
            row = checked(kind, row)
            if kind is CORRECTION:
                corrections.check(row)
        except ContractError as error:
            raise SeedError(f"{path}:{line}: {error}") from error
        yield Accepted(kind.name, row, locator=f"line {line}")


def _csv(path: str, body: bytes, required: set[str]) -> list[dict[str, str]]:
    try:
        return strict_csv(body, required)
    except SourceError as error:
        raise SeedError(f"{path}: {error}") from error


def typed(column: Column, cell: str) -> Any:
    """Read a CSV cell as the column's type: blank is unknown, dates are ISO, a bare date is UTC midnight."""
    cell = cell.strip()
    if cell == "":
        return None
    if column.type in ("number", "positive", "share", "money", "price"):
        return amount(column.name, cell)
    if column.type in ("int", "count"):
        number = amount(column.name, cell)
        if number != int(number):
            raise ContractError("not_an_integer", column.name, cell)
        return int(number)
    if column.type == "bool":
        if cell not in ("true", "false"):
            raise ContractError("not_true_or_false", column.name, cell)
        return cell == "true"
    if column.type == "date":
        return iso_date(column.name, cell)
    if column.type == "instant":
        if len(cell) == len("2026-01-31"):
            day = iso_date(column.name, cell)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        return iso_instant(column.name, cell)
    return cell


def fact_files(folder: Path) -> list[tuple[RowKind, Path]]:
    """The fact seeds below `folder`: (row kind, file) in path order; raises SeedError for a stray folder."""
    found = []
    for path in sorted(folder.glob("*/*.csv")):
        if path.parent.name not in ROW_KINDS:
            raise SeedError(f"{path}: a folder of seeds is named after a row kind: {sorted(ROW_KINDS)}")
        found.append((ROW_KINDS[path.parent.name], path))
    return found


def fact_source(declared: Mapping[str, Any], kind: RowKind, path: str) -> Source:
    """The Source of a fact seed: metadata from its line in fact_source.csv, parse from its row kind."""
    return Source(
        kind=declared["kind"],
        title=declared["title"],
        homepage=declared["homepage"] or "",
        licence=declared["licence"],
        passes_on=declared["passes_on"],
        cadence=declared["cadence"],
        source_rank=declared["source_rank"],
        max_age_days=declared["max_age_days"],
        parse=lambda snapshot: fact_rows(kind, path, snapshot.parts[0].body),
        slug=declared["source"],
    )
