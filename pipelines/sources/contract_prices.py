"""Your own negotiated prices: what a GPU-hour costs you, by chip and since when, in US dollars.

A CSV with the columns chip, valid_from, usd_per_gpu_hour and, where they differ from row to row, price_type
and commitment_months; else both are stated in the context beside the file. Nothing is assumed about them.
A price holds until the chip's next one. These rows are never published.
Does not belong here: list prices of a provider.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.contracts import RENTAL_INDEX_VALUE, ContractError
from pipelines.decode import amount, iso_date, strict_csv
from pipelines.outcomes import by, without_duplicates
from pipelines.source import (
    Accepted,
    Outcome,
    Rejected,
    Snapshot,
    Source,
    SourceError,
)

KIND = "rental_index_value"

REQUIRED = {"chip", "valid_from", "usd_per_gpu_hour"}
OPTIONAL = {"price_type", "commitment_months", "note"}
CONTEXT = {"price_type", "commitment_months"}
PRICE_TYPES = RENTAL_INDEX_VALUE.column("price_type").allowed
# No GPU costs that much an hour: a monthly or a whole machine's price.
IMPLAUSIBLE_VALUE = 1000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row of the file.

    Values are US dollars per GPU and hour. Raises SourceError for a file without the columns, with a
    column that is not known, or whose price type is stated neither in a column nor in the context.
    """
    outcomes = [
        _judged(f"{part.name} row {number}", row)
        for part in snapshot.parts
        for number, row in enumerate(_rows(part.body, snapshot.context))
    ]
    if not outcomes:
        raise SourceError("the file has no rows")
    key = by("raw_gpu_name", "value_date", "price_type", "commitment_months")
    yield from without_duplicates(outcomes, key, "value")


def _rows(body: bytes, context: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the rows, each with its price type; what the context states is added to every one of them."""
    unknown = sorted(str(key) for key in context.keys() - CONTEXT)
    if unknown:
        raise SourceError(f"the context says {unknown}; only {sorted(CONTEXT)} are read")
    rows = strict_csv(body, REQUIRED)
    columns = set(rows[0]) if rows else REQUIRED
    if columns - REQUIRED - OPTIONAL:
        raise SourceError(f"columns {sorted(columns - REQUIRED - OPTIONAL)} are not known")
    if both := sorted(columns & context.keys()):
        raise SourceError(f"{both} stand both in the file and in the context: state them once")
    if "price_type" not in columns | context.keys():
        raise SourceError(
            "price_type is stated neither in a column nor in the context: "
            f"one of {', '.join(PRICE_TYPES)} is wanted"
        )
    return [row | {key: str(value) for key, value in context.items() if value is not None} for row in rows]


def _judged(locator: str, row: dict[str, str]) -> Outcome:
    try:
        value = amount("usd_per_gpu_hour", row["usd_per_gpu_hour"])
        if value > IMPLAUSIBLE_VALUE:
            raise ContractError("implausible_magnitude", "usd_per_gpu_hour", value)
        months = row.get("commitment_months", "").strip()
        if months and not re.fullmatch(r"[1-9]\d{0,2}", months, re.ASCII):
            raise ContractError("not_a_number", "commitment_months", months)
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["valid_from"], re.ASCII):
            raise ContractError("not_a_date", "valid_from", row["valid_from"])
        found = {
            "index_name": "own",
            "raw_gpu_name": row["chip"].strip(),
            "price_type": row["price_type"].strip(),
            "commitment_months": int(months) if months else None,
            "value_date": iso_date("valid_from", row["valid_from"]),
            "date_precision": "day",
            "value": value,
            "currency": "USD",
            "revision": "new",
            "note": row.get("note"),
        }
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    return Accepted(KIND, found, locator)


SOURCE = Source(
    kind="index",
    title="Your own contract prices",
    homepage="",
    licence="Yours; confidential.",
    passes_on=False,
    cadence="when a contract changes",
    source_rank=1,
    max_age_days=365,
    parse=parse,
)
