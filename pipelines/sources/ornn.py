"""Ornn's compute price index (OCPI): what was paid for on-demand GPU-hours, marked daily in New York.

A day's value is its mark at 16:00 New York time; hourly values of a running day are no marks. The free
history reaches back three months.
Traps: marks move by an hour in UTC with daylight saving; values of another GPU look the same.
Does not belong here: Ornn's token index, and forward prices.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pipelines.contracts import ContractError
from pipelines.decode import iso_instant, strict_json
from pipelines.outcomes import by, plain_number, without_duplicates
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

HOST = "https://api.ornnai.com"
KIND = "rental_index_value"
GPU_NAMES = ("H100 SXM", "H200", "B200", "A100 SXM4", "RTX 5090")
DAYS_BACK = 90

NEW_YORK = ZoneInfo("America/New_York")
MARK_HOUR = 16
# No GPU costs that much an hour: the unit has changed.
IMPLAUSIBLE_VALUE = 1000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per value; the mark of a day is accepted.

    Values are US dollars per GPU and hour. Raises SourceError when the payload is not a history, says that
    it failed, or holds no daily mark.
    """
    outcomes = [outcome for part in snapshot.parts for outcome in _history(part)]
    if all(isinstance(each, NotApplicable) and each.reason == "not_the_daily_mark" for each in outcomes):
        raise SourceError(f"none of {len(outcomes)} values is a mark of 16:00 in New York: the hours changed")
    yield from without_duplicates(outcomes, by("raw_gpu_name", "value_date"), "value")


def _history(part: Part) -> Iterator[Outcome]:
    document = strict_json(part.body)
    if not isinstance(document, dict) or document.get("success") is not True:
        raise SourceError(f"{part.name}: it does not say that it succeeded: not a history")
    name, values = document.get("gpu_type"), document.get("data")
    if not isinstance(name, str) or not name:
        raise SourceError(f"{part.name}: it does not name its GPU")
    if not isinstance(values, list) or not values:
        raise SourceError(f"{part.name}: no values of {name}")
    for number, each in enumerate(values):
        yield _judged(f"{name} value {number}", name, each)


def _judged(locator: str, name: str, each: Any) -> Outcome:
    try:
        if not isinstance(each, dict):
            raise ContractError("wrong_type", "value", each)
        moment = iso_instant("timestamp", each.get("timestamp"))
        if not _is_mark(moment):
            return NotApplicable(KIND, "not_the_daily_mark", locator)
        value = each.get("index_value")
        dollars = plain_number("index_value", value)
        if dollars > IMPLAUSIBLE_VALUE:
            raise ContractError("implausible_magnitude", "index_value", value)
        row = {
            "index_name": "ornn",
            "raw_gpu_name": name,
            "price_type": "on_demand",
            "value_date": moment.date(),
            "date_precision": "day",
            "value": dollars,
            "currency": "USD",
            "revision": "new",
            "note": "mark of 16:00 New York time",
        }
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    return Accepted(KIND, row, locator)


def _is_mark(moment: datetime) -> bool:
    try:
        local = moment.astimezone(NEW_YORK)
    except OverflowError as error:
        raise ContractError("out_of_range", "timestamp", moment) from error
    return (local.hour, local.minute, local.second) == (MARK_HOUR, 0, 0)


def requests() -> list[Request]:
    """Ask for the last ninety days of each GPU; each is a slice of its own."""
    today = datetime.now(UTC).date()
    dates = f"startDate={today - timedelta(days=DAYS_BACK)}&endDate={today}"
    return [
        Request(f"{HOST}/api/gpu/{quote(name)}/index-history?{dates}", slice=name.lower().replace(" ", "-"))
        for name in GPU_NAMES
    ]


SOURCE = Source(
    kind="index",
    title="Ornn compute price index",
    homepage="https://data.ornn.com",
    licence="Free for three months of history; its licence page was not read, no right to pass values on.",
    passes_on=False,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
)
