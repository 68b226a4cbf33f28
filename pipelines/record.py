"""The record of a day: the headline yields as they were on it, written once and read back like any payload.

Belongs here: what a record holds, its bytes, and their strict reading. Does not belong here: when a record is
written (`run.py`), any cost (`sql/mart/cost_per_million_tokens_daily.sql`), and what has drifted since
(`sql/mart/drift.sql`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import duckdb

from pipelines.contracts import RECORDED_YIELD, ContractError, checked
from pipelines.cut import code_version
from pipelines.decode import amount, iso_date, iso_instant, strict_json
from pipelines.outcomes import check_clock, only_part
from pipelines.source import Accepted, Part, Snapshot, Source, SourceError

SLUG = "record"
COLUMNS = tuple(column.name for column in RECORDED_YIELD.columns)
# What tells the yields of a day apart; the places of these in COLUMNS are those before the price.
KEY = COLUMNS[: COLUMNS.index("usd_per_gpu_hour")]
QUERY = f"""
select {", ".join(f"daily.{name}" for name in COLUMNS)}
from {{daily}} as daily
inner join {{series}} as series on daily.price_series_id = series.price_series_id
where daily.date = $day
    and daily.token_kind = 'output'
    and daily.gpu_scope = 'all'
    and daily.cost_allocation = 'whole_bill'
    and series.headline_order is not null
order by {", ".join(f"daily.{name}" for name in KEY)}
"""


DAILY, SERIES = "mart.cost_per_million_tokens_daily", "mart.price_series"


def yields(
    connection: duckdb.DuckDBPyConnection, day: date, daily: str = DAILY, series: str = SERIES
) -> list[dict[str, Any]]:
    """The headline yields of `day` on every price series beside the headline, by column of the contract.

    `daily` and `series` are what is read as those two marts: they themselves, or they at an earlier moment.
    """
    rows = connection.execute(QUERY.format(daily=daily, series=series), {"day": day}).fetchall()
    return [dict(zip(COLUMNS, map(_plain, row), strict=True)) for row in rows]


def context(connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """What a record is made of, for its sidecar: the newest moment of what was loaded, and the code."""
    loaded = "select recorded_at from raw.snapshot_part union all select recorded_at from raw.sighting"
    (stored_to,) = connection.execute(f"select max(recorded_at) from ({loaded})").fetchone()
    return {"stored_to": stored_to.astimezone(UTC).isoformat(), "code": code_version()}


def missed(recorded: Iterable[date], today: date) -> list[date]:
    """The days without a record from the first recorded one on, up to yesterday; none before the first."""
    have = set(recorded)
    first = min(have, default=today)
    days = (first + timedelta(days=number) for number in range((today - first).days))
    return [day for day in days if day not in have]


def _plain(value: Any) -> Any:
    """Dates and decimals as text: a record keeps every digit."""
    return value if value is None or isinstance(value, (int, float, str)) else str(value)


def part(as_of: datetime, rows: list[dict[str, Any]]) -> Part:
    """The bytes of a record."""
    body = json.dumps({"as_of": as_of.isoformat(), "yields": rows}, indent=1, allow_nan=False)
    return Part(f"yields-{as_of:%Y-%m-%d}.json", body.encode())


def parse(snapshot: Snapshot) -> Iterator[Accepted]:
    """Yield every yield of a record: kept whole, or refused whole with a SourceError, for it is our own."""
    document = strict_json(only_part(snapshot.parts, "a record is one file").body)
    if not isinstance(document, dict) or document.keys() != {"as_of", "yields"}:
        raise SourceError("no record of yields: wants as_of and yields, and nothing else")
    seen = set()
    try:
        as_of = iso_instant("as_of", document["as_of"])
        if as_of != snapshot.observed_at or f"{as_of:%Y-%m-%d}" != snapshot.slice:
            raise SourceError(f"the record says {as_of}, its sidecar {snapshot.observed_at}")
        check_clock("recorded as", as_of, snapshot)
        for number, found in enumerate(document["yields"]):
            row = checked(RECORDED_YIELD, _typed(found))
            if row["date"] != as_of.date():
                raise ContractError("value_not_allowed", "date", row["date"])
            if (row["usd_per_million_tokens"] is None) != (row["null_reason"] is not None):
                raise ContractError("missing_value", "null_reason", row["null_reason"])
            if (key := tuple(row[name] for name in KEY)) in seen:
                raise ContractError("stands twice", "key", key)
            seen.add(key)
            yield Accepted(RECORDED_YIELD.name, row, f"yields[{number}]")
    except (ContractError, TypeError) as error:
        raise SourceError(f"the record is not as it was written: {error}") from error


def _typed(found: Any) -> dict[str, Any]:
    # A column that the contract gained later is absent from an older record, and unknown there.
    if not isinstance(found, dict):
        raise ContractError("wrong_type", "yields", found)
    price = found.get("usd_per_gpu_hour")
    return found | {
        "date": iso_date("date", found.get("date")),
        "usd_per_gpu_hour": None if price is None else amount("usd_per_gpu_hour", price),
    }


# Read like a source, and none: it is in no list of sources, for it prices and measures nothing.
SOURCE = Source(
    kind=SLUG,
    title="The record of headline yields",
    homepage="",
    licence="Ours.",
    passes_on=True,
    cadence="daily",
    source_rank=1,
    max_age_days=1,
    parse=parse,
    slug=SLUG,
)
