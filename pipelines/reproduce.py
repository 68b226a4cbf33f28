"""Published values made again from the stored bytes, and held beside what was published.

Belongs here: the rebuild from the snapshots that a version or a record was made of, in a folder that is
thrown away, and a verdict on every value. Does not belong here: any value (the models make them), comparing
tables (`differences.py`), the cut itself (`cut.py`). Nothing in the home is changed.

Every byte of every stored snapshot is verified first: a rebuild from damaged bytes would prove nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from rich.console import Console
from rich.progress import Progress

from pipelines import as_known, cut, differences, raw, run, sql_build, sql_models
from pipelines import publish as publishing
from pipelines import record as recording
from pipelines.decode import strict_json
from pipelines.failure import Failure
from pipelines.home import SEEDS, SQL, Home
from pipelines.seed_shapes import REFERENCE
from pipelines.sidecar import DamagedSnapshot, Sidecar
from pipelines.snapshots import SnapshotStore
from pipelines.source import Snapshot, SourceError
from pipelines.sql_models import Model
from pipelines.warehouse import Warehouse

HEADLINE = "mart.headline"
HEADLINE_VALUES = (
    "usd_per_million_tokens", "on_demand_usd_per_million_tokens", "reserved_36m_usd_per_million_tokens",
    "owning_usd_per_million_tokens", "rank",
)  # fmt: skip
VALUES = tuple(name for name in recording.COLUMNS if name not in recording.KEY)
NAMING = ("chip_id", "model_id", "precision", "workload_id", "evidence", "speed_tier", "price_series_id")

# Says that a step of so many units begins (None: not known); what it returns is called once a unit.
Begin = Callable[[str, int | None], Callable[..., None]]


class NotThere(Failure):
    """No such version is kept, or no such day is recorded."""


class Damaged(Failure):
    """A published version cannot be read; the message names the file."""


class Verdict(NamedTuple):
    """What is said of one file, table or value. matches: None for a note that judges nothing."""

    matches: bool | None
    what: str
    details: tuple[str, ...] = ()


def version(home: Home, name: str, begin: Begin) -> Iterator[Verdict]:
    """Make a published version again, from the snapshots that it was made of; judge all of it.

    Raises NotThere for a version that is not kept, Damaged, DamagedSnapshot, CutGone and CutUnknown.
    """
    folder = _version_folder(home.published, name)
    manifest = _manifest(folder)
    store = SnapshotStore(home.snapshots)
    _verify(store, begin)
    then = cut.store_of(store, cut.read(folder / cut.FILE))
    yield from _code(manifest.get("code"))
    yield from _files(folder, manifest["files"])
    with tempfile.TemporaryDirectory(prefix="tokenyield-") as scratch:
        again, models = Home(Path(scratch)), run.models()
        warehouse = _rebuilt(again, then, datetime.fromisoformat(manifest["as_of"]), models, begin)
        begin("publishing into a scratch folder", None)
        made = publishing.publish(warehouse, models, run.macros(), again.published)
        tables = json.loads((made.folder / "manifest.json").read_text(encoding="utf-8"))["tables"]
        with _side_by_side(folder, made.folder) as connection:
            step = begin("comparing tables", len(tables | manifest["tables"]))
            for table in sorted(tables | manifest["tables"]):
                key = _key(models, table)
                compared = differences.compare(connection, table, "published", "recomputed", key)
                yield Verdict(compared.equal, f"table {table}, {compared.rows} rows", _told(compared))
                step()
            yield from _headline(connection, models[HEADLINE].grain)


def day(home: Home, wanted: date, begin: Begin) -> Iterator[Verdict]:
    """Make the yields of a day's record again, from what was stored when it was written; judge each.

    A record that was written late is derived as our store held its facts at the end of its day, as it was
    then. Raises NotThere for a day without a record and DamagedSnapshot.
    """
    store = SnapshotStore(home.snapshots)
    records = _records(store, wanted)
    _verify(store, begin)
    sidecar, snapshot, recorded = _standing(store, records)
    held = {name for row in strict_json(snapshot.parts[0].body)["yields"] for name in row}
    stored_to = sidecar.context.get("stored_to")
    then = cut.store_at(store, datetime.fromisoformat(stored_to) if stored_to else sidecar.recorded_at)
    yield from _code(sidecar.context.get("code"))
    with tempfile.TemporaryDirectory(prefix="tokenyield-") as scratch:
        rows = _yields_again(Home(Path(scratch)), then, sidecar, begin)
    body = recording.part(sidecar.observed_at, rows)
    again = {_yield_key(found.row): found.row for found in recording.parse(replace(snapshot, parts=(body,)))}
    for row in recorded:
        yield _judged(row, again.pop(_yield_key(row), None), [name for name in VALUES if name in held])
    for row in again.values():
        yield Verdict(False, _yield_name(row), ("recomputed, and not in the record",))


def print_verdicts(home: Home, what: str, errors: Console) -> bool:
    """Print MATCH or MISMATCH for every value of a version or a day; returns whether all match.

    what: a version's name, `current`, or a day as YYYY-MM-DD. Progress and notes go to `errors`.
    """
    tally: Counter[bool] = Counter()
    with Progress(console=errors, transient=True, disable=not errors.is_terminal) as bars:

        def begin(step: str, total: int | None) -> Callable[..., None]:
            task = bars.add_task(step, total=total)
            return lambda *_: bars.advance(task)

        is_day = re.fullmatch(r"\d{4}-\d\d-\d\d", what)
        # Printed when the bars are gone: while they live, what is printed goes where they are.
        found = list(day(home, _day(what), begin) if is_day else version(home, what, begin))
    for verdict in found:
        if verdict.matches is None:
            errors.print(f"note: {verdict.what}", markup=False)
            continue
        tally[verdict.matches] += 1
        details = "".join(f"\n          {detail}" for detail in verdict.details)
        print(f"{'MATCH     ' if verdict.matches else 'MISMATCH  '}{verdict.what}{details}")
    print(f"{tally[True]} match, {tally[False]} do not")
    return not tally[False]


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise NotThere(f"{text} is no day of the calendar") from error


def _version_folder(root: Path, name: str) -> Path:
    folder = root / name
    if "/" in name or name.startswith(".") or not (folder / "manifest.json").is_file():
        kept = sorted(
            p.name for p in root.glob("*") if p.is_dir() and not p.is_symlink() and p.name[0].isdigit()
        )
        raise NotThere(f"no published version is named {name!r}; kept are: {', '.join(kept) or 'none'}")
    return folder.resolve()


def _manifest(folder: Path) -> dict[str, Any]:
    """What a version says of itself; raises Damaged where that is not as it was written."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        datetime.fromisoformat(manifest["as_of"])
        if not (isinstance(manifest["files"], dict) and isinstance(manifest["tables"], dict)):
            raise TypeError("files and tables are no lists of theirs")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path} is not as it was written: {error!r}; nothing was recomputed") from error
    return manifest


def _files(folder: Path, said: Mapping[str, str]) -> Iterator[Verdict]:
    """A verdict on every file that the version says it has, and on every other one that it holds."""
    held = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()} - {"manifest.json"}
    for file in sorted(held | said.keys()):
        if file not in said:
            changed = ("its manifest does not name it",)
        else:
            changed = () if _sha256(folder / file) == said[file] else ("not the bytes that were published",)
        yield Verdict(not changed, f"file {file}", changed)


def _records(store: SnapshotStore, wanted: date) -> list[Sidecar]:
    """The records of a day in the order in which they were written; raises NotThere where there is none."""
    records = sorted(store.sidecars(recording.SLUG), key=lambda s: (s.recorded_at, s.snapshot_id))
    of_day = [found for found in records if found.slice == f"{wanted}"]
    if not of_day:
        gone = [
            f for f in store.survey(recording.SLUG)[1] if f.observed_at and f.observed_at.date() == wanted
        ]
        if gone:
            raise DamagedSnapshot(f"{gone[0].reason}; restore the record of {wanted} from a backup")
        days = sorted({found.slice for found in records})
        span = f"{len(days)} days are recorded, {days[0]} to {days[-1]}" if days else "no day is recorded yet"
        raise NotThere(f"{wanted} has no record: {span}; mart.missed_record lists the missed ones")
    return of_day


def _standing(
    store: SnapshotStore, records: list[Sidecar]
) -> tuple[Sidecar, Snapshot, list[Mapping[str, Any]]]:
    """The record that stands, the first that can be read, and its rows; raises SourceError if none can."""
    refused: list[SourceError] = []
    for sidecar in records:
        snapshot = store.load(sidecar)
        try:
            return sidecar, snapshot, [found.row for found in recording.parse(snapshot)]
        except SourceError as error:
            refused.append(error)
    raise refused[0]


def _verify(store: SnapshotStore, begin: Begin) -> None:
    """Raise DamagedSnapshot, naming every file that does not hold the bytes that were stored."""
    sidecars, unreadable = store.survey()
    step, wrong = begin("verifying stored bytes", len(sidecars)), [found.reason for found in unreadable]
    for found in cut.damaged(store, sidecars):
        wrong += [found] if found else []
        step()
    if wrong:
        raise DamagedSnapshot("; ".join(wrong) + "; nothing was recomputed: restore it from a backup")


def _code(then: Any) -> Iterator[Verdict]:
    if changes := cut.code_changes(then):
        told = "a value that differs may be the method's and not the data's"
        yield Verdict(None, f"the code is not that of then ({', '.join(changes)}): {told}")


def _rebuilt(
    home: Home, store: cut.CutStore, as_of: datetime, models: dict[str, Model], begin: Begin
) -> Warehouse:
    """A warehouse in `home` made of `store` alone, seeds and all, with `models` built."""
    warehouse = Warehouse(home.warehouse)
    facts = raw.stored_facts(store, SEEDS)
    with warehouse.write() as connection:
        parsed = sum(found.source != raw.REFERENCE_SOURCE for found in store.sidecars())
        raw.load(connection, store, facts, as_of, begin("loading snapshots", parsed))
    checks = sorted((SQL / "checks").glob("*.sql")) if len(models) == len(run.models()) else []
    with warehouse.write() as connection:
        sql_build.build(connection, models, checks, begin("building tables", len(models)))
        connection.execute("insert into raw.build select as_of from raw.run")
    return warehouse


def _yields_again(home: Home, store: cut.CutStore, record: Sidecar, begin: Begin) -> list[dict[str, Any]]:
    marts = {"memory.main.daily_then": recording.DAILY, "memory.main.series_then": recording.SERIES}
    as_of, wanted = record.observed_at, record.observed_at.date()
    late = record.recorded_at.date() > wanted
    macros = [as_known.as_recorded(run.models(), mart, name) for name, mart in marts.items()] if late else []
    names = [name for macro in macros for name in macro.reads] or [*marts.values()]
    warehouse = _rebuilt(home, store, as_of, sql_models.needed(run.models(), names), begin)
    if not late:
        with warehouse.read() as connection:
            return recording.yields(connection, wanted)
    with warehouse.scratch() as connection:
        for macro in macros:
            connection.execute(macro.statement)
        return recording.yields(connection, wanted, *(f"{name}('{as_of}')" for name in marts))


@contextmanager
def _side_by_side(published: Path, recomputed: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("set TimeZone = 'UTC'")
        for name, folder in (("published", published), ("recomputed", recomputed)):
            path = str(folder / "tokenyield.duckdb").replace("'", "''")
            try:
                connection.execute(f"attach '{path}' as {name} (read_only)")
            except duckdb.Error as error:
                reason = str(error).splitlines()[0]
                raise Damaged(f"{path} cannot be read: {reason}") from error
        yield connection


def _key(models: dict[str, Model], table: str) -> tuple[str, ...]:
    if table in models:
        return models[table].grain
    name = table.removeprefix("raw.")
    return REFERENCE[name].key if name in REFERENCE else ()


def _headline(connection: duckdb.DuckDBPyConnection, key: tuple[str, ...]) -> Iterator[Verdict]:
    """A verdict on every value of the headline."""
    names = [*key, *HEADLINE_VALUES]
    sides = []
    for side in ("published", "recomputed"):
        try:
            rows = connection.execute(f"select {', '.join(names)} from {side}.{HEADLINE}").fetchall()
        except duckdb.Error:
            return  # the verdict on its table says what is wrong with its shape
        sides.append(
            {row[: len(key)]: dict(zip(HEADLINE_VALUES, row[len(key) :], strict=True)) for row in rows}
        )
    for found in sorted(sides[0].keys() | sides[1].keys(), key=str):
        one, other = (side.get(found, {}) for side in sides)
        name = "headline " + ", ".join(_shown(part) for part in found)
        for column in HEADLINE_VALUES:
            values = one.get(column), other.get(column)
            if _same(*values) and values[0] is not None and found in sides[0]:
                yield Verdict(True, f"{name}: {column} {_shown(values[0])}")
            elif not _same(*values):
                told = f"published {_shown(values[0])}, recomputed {_shown(values[1])}"
                yield Verdict(False, f"{name}: {column}", (told,))


def _told(compared: differences.Compared) -> tuple[str, ...]:
    if compared.equal:
        return ()
    if compared.note:
        return (compared.note,)
    told = [
        f"{compared.count} values differ; published {compared.rows} rows, recomputed {compared.other_rows}"
    ]
    for found in compared.shown:
        key = ", ".join(f"{name} {_shown(value)}" for name, value in found.key.items())
        if found.column is None:
            told.append(f"{key}: the row is {'published' if found.one else 'recomputed'} alone")
        else:
            told.append(
                f"{key}: {found.column} published {_shown(found.one)}, recomputed {_shown(found.other)}"
            )
    if compared.count > len(compared.shown):
        told.append(f"and {compared.count - len(compared.shown)} more")
    return tuple(told)


def _judged(row: Any, again: Any, columns: list[str]) -> Verdict:
    name = _yield_name(row)
    if again is None:
        return Verdict(False, name, ("in the record, and not recomputed",))
    differing = [column for column in columns if not _same(row[column], again[column])]
    if not differing:
        cost = row["usd_per_million_tokens"]
        return Verdict(True, f"{name}: {row['null_reason'] if cost is None else _shown(cost)}")
    told = (f"{c}: recorded {_shown(row[c])}, recomputed {_shown(again[c])}" for c in differing)
    return Verdict(False, name, tuple(told))


def _yield_key(row: Any) -> tuple[Any, ...]:
    return tuple(row[name] for name in recording.KEY)


def _yield_name(row: Any) -> str:
    return "yield " + ", ".join(_shown(row[name]) for name in NAMING)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=differences.TOLERANCE)
    return one == other


def _shown(value: Any) -> str:
    return "-" if value is None else f"{value:.12g}" if isinstance(value, float) else str(value)


def _sha256(path: Path) -> str | None:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None
