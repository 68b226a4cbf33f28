"""A warehouse of hand-made prices: rows go into `raw` as loading leaves them, and the real models are built.

Belongs here: making rows and the building. Does not belong here: any expectation. A chip whose name starts
with `case-` is made up on the spot, with nodes of eight and no plausibility band, so that many cases share
one build and never meet.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from pipelines import raw, run, seal, sql_build, sql_models
from pipelines.contracts import ROW_KINDS, checked, frame
from pipelines.home import Home
from pipelines.warehouse import Warehouse

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
TODAY = "2026-11-30"
KEYS = ("source", "snapshot_id", "row_number")
FIRM = ("neocloud", "specialist", None)

Query = Callable[..., list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Row:
    """One raw row. seen: moment of its snapshot; recorded: when that was stored."""

    kind: str
    source: str
    seen: datetime
    recorded: datetime
    values: Mapping[str, Any]
    slice: str = "all"


def moment(text: str | datetime) -> datetime:
    """An instant; a bare day is six in the morning of it."""
    if isinstance(text, datetime):
        return text
    return datetime.fromisoformat(text if "T" in text else f"{text}T06:00:00+00:00")


def days(number: int, last: str = TODAY) -> list[str]:
    """So many days in order, `last` being the last of them."""
    end = moment(last)
    return [f"{end - timedelta(days=back):%Y-%m-%d}" for back in reversed(range(number))]


def quote(chip: str, provider: str, usd: Any, at: str | datetime = TODAY, **changes: Any) -> Row:
    """One quote; by default on demand, in dollars per GPU-hour, from a source named like its provider."""
    seen = moment(at)
    meta = {key: changes.pop(key) for key in ("source", "slice", "recorded") if key in changes}
    values = {
        "provider": provider, "offer_key": chip, "raw_gpu_name": chip, "price": Decimal(str(usd)),
        "currency": "USD", "price_unit": "gpu_hour", "price_type": "on_demand", "availability": "available",
        "listing_kind": "bundle", "observed_at": seen,
    }  # fmt: skip
    recorded = moment(meta.get("recorded", seen))
    source, part = meta.get("source", provider), meta.get("slice", "all")
    return Row("rental_quote", source, seen, recorded, values | changes, part)


def machines(chip: str, provider: str, usd: Any, host: str, number: int, **changes: Any) -> list[Row]:
    """So many whole machines of one host on a marketplace, each at `usd` per GPU-hour."""
    return [
        quote(chip, provider, usd, **{"offer_key": name, "machine_key": name, "host_key": host, **changes})
        for name in (f"{chip}-{host}-{n}" for n in range(number))
    ]


def published(index: str, chip: str, usd: Any, on: str, known: str, **changes: Any) -> Row:
    """One value of a published series from `on` on, stored on the day on which it became known."""
    seen = moment(changes.pop("recorded", known))
    source = changes.pop("source", "publisher")
    values = {
        "index_name": index, "raw_gpu_name": chip, "price_type": "reserved", "commitment_months": 36,
        "value_date": moment(on).date(), "date_precision": "day", "value": Decimal(str(usd)),
        "currency": "USD", "revision": "new", "known_at": moment(known),
    }  # fmt: skip
    return Row("rental_index_value", source, seen, seen, values | changes)


def look(source: str, at: str | datetime, **meta: Any) -> Row:
    """A look at a source that showed nothing of ours."""
    return Row("nothing", source, moment(at), moment(meta.pop("recorded", at)), {}, **meta)


@cache
def _seeds_alone() -> tuple[bytes, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        run.load(home, AS_OF)
        with Warehouse(home.warehouse).write() as connection:
            # Stored long before any row of a test, so that a past that is asked for has them.
            connection.execute("update raw.snapshot set observed_at = $1, recorded_at = $1", [LONG_AGO])
        return home.warehouse.read_bytes(), seal.beside(home.warehouse).read_bytes()


def world(
    root: Path,
    rows: Iterable[Row],
    providers: Mapping[str, tuple[str, str | None, str | None]] | None = None,
    as_of: datetime = AS_OF,
    marts: Iterable[str] = (),
    shuffle: int | None = None,
    seed_sources: Iterable[str] = (),
    history: bool = False,
    weights: Mapping[str, float] | None = None,
) -> Query:
    """Build `rows` beside the seeds below `root` and return what asks the warehouse.

    providers: class, segment and reference region; a provider that is not named is a FIRM.
    marts: build these and what they read alone; none: everything. shuffle: lay the rows down in this
    random order. seed_sources: these are typed facts. history: with the macros. weights: of
    providers' votes in the index.
    """
    home = Home(root)
    home.warehouse.parent.mkdir(parents=True, exist_ok=True)
    for path, body in zip((home.warehouse, seal.beside(home.warehouse)), _seeds_alone(), strict=True):
        path.write_bytes(body)
    warehouse = Warehouse(home.warehouse)
    with warehouse.write() as connection:
        connection.execute("update raw.run set as_of = ?", [as_of])
        _insert(connection, list(rows), dict(providers or {}), set(seed_sources), shuffle)
        for provider, weight in (weights or {}).items():
            _add(connection, "vote_weight", "index", "v1", provider, weight, "a test", None)
        models = _needed(list(marts))
        sql_build.build(connection, models)
        for macro in run.macros() if history else ():
            if macro.mart in models:
                connection.execute(macro.statement)
        connection.execute("delete from raw.build")
        connection.execute("insert into raw.build select as_of from raw.run")

    def ask(sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with warehouse.read() as reader:
            return reader.execute(sql, list(values)).fetchall()

    return ask


def _needed(marts: list[str]) -> dict[str, sql_models.Model]:
    models, wanted, stack = run.models(), set[str](), [*marts]
    while stack:
        name = stack.pop()
        if name in models and name not in wanted:
            wanted.add(name)
            stack += models[name].depends_on
    return {name: model for name, model in models.items() if name in wanted or not marts}


def _insert(
    connection: Any, rows: list[Row], providers: dict[str, Any], typed: set[str], shuffle: int | None
) -> None:
    counts: dict[tuple[Any, ...], int] = {}
    laid: dict[str, list[tuple[str, str, int, Row]]] = {}
    for row in rows:
        snapshot_id = f"{row.slice} {row.seen:%Y-%m-%dT%H%M} {row.recorded:%Y-%m-%dT%H%M}"
        key = (row.source, snapshot_id, row.slice, row.seen, row.recorded)
        counts.setdefault(key, 0)
        if row.kind != "nothing":
            laid.setdefault(row.kind, []).append((row.source, snapshot_id, counts[key], row))
            counts[key] += 1
    for kind, found in laid.items():
        if shuffle is not None:
            random.Random(shuffle).shuffle(found)
        keys = [pl.Series(name, [one[n] for one in found]) for n, name in enumerate(KEYS)]
        fitted = [checked(ROW_KINDS[kind], row.values) for *_, row in found]
        raw._insert(connection, kind, frame(ROW_KINDS[kind], fitted).with_columns(keys))
    for (*key, seen, recorded), total in counts.items():
        _add(connection, "snapshot", *key, "hand", seen, recorded, "loaded", None, total, total, 0, 0)
    for name in _new(connection, "source", {row.source for row in rows}):
        _add(connection, "source", name, "rental", name, "", "", True, "", 10, 7, name in typed, False, False)
    for name in _new(connection, "provider", {r.values.get("provider") for r in rows} | providers.keys()):
        _add(connection, "provider", name, name, *providers.get(name, FIRM), None)
    chips = {r.values.get(name) for r in rows for name in ("raw_gpu_name", "raw_chip_name")}
    for chip in _new(connection, "chip", {c for c in chips if c and c.startswith("case-")}):
        connection.execute(
            "insert into raw.chip (chip_id, chip_name, node_gpu_count) values ($1, $1, 8)", [chip]
        )


def _new(connection: Any, table: str, names: set[str | None]) -> list[str]:
    key = "source" if table == "source" else f"{table}_id"
    known = {name for (name,) in connection.execute(f"select {key} from raw.{table}").fetchall()}
    return sorted(name for name in names - known if name)


def _add(connection: Any, table: str, *values: Any) -> None:
    marks = ", ".join("?" * len(values))
    connection.execute(f"insert into raw.{table} values ({marks})", list(values))
