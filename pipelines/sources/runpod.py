"""RunPod's GPU types: US dollars per GPU and hour, for two clouds (secure, community) and several terms.

Traps: secure and community are tiers, not price types; a price stands even where its cloud does not sell
the GPU (a community price of 0.5 is a placeholder), so the flags decide; `clusterPrice` is 1.2 times the
secure price, sold or not; on-demand and spot prices stand side by side in one record.
Does not belong here: which GPU an id is (that is a chip alias).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, by, offered, only_part, plain_number, without_duplicates
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Provider,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

URL = "https://api.runpod.io/graphql"
KIND = "rental_quote"
SECURE, COMMUNITY = "secureCloud", "communityCloud"


@dataclass(frozen=True)
class Price:
    """What a price key means. flag: the key that says whether its cloud sells the GPU."""

    tier: str
    flag: str
    price_type: str
    commitment_months: int | None = None


PRICES = {
    "securePrice": Price("secure", SECURE, "on_demand"),
    "secureSpotPrice": Price("secure", SECURE, "spot"),
    "communityPrice": Price("community", COMMUNITY, "on_demand"),
    "communitySpotPrice": Price("community", COMMUNITY, "spot"),
    "oneMonthPrice": Price("secure", SECURE, "reserved", 1),
    "threeMonthPrice": Price("secure", SECURE, "reserved", 3),
    "sixMonthPrice": Price("secure", SECURE, "reserved", 6),
    "oneYearPrice": Price("secure", SECURE, "reserved", 12),
}
NO_PRICE_OF_OURS = {
    "clusterPrice": "derived_cluster_price",
    "oneWeekPrice": "commitment_below_a_month",
}
# `lowestPrice` repeats the lowest of the above; only the floor of its auction is new.
FLOOR_KEY = "minimumBidPrice"
LOWEST = {FLOOR_KEY, "uninterruptablePrice", "stockStatus"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
IMPLAUSIBLE_PRICE = 1000

QUERY = """query {
  gpuTypes {
    id displayName memoryInGb maxGpuCount secureCloud communityCloud
    securePrice communityPrice secureSpotPrice communitySpotPrice clusterPrice
    oneWeekPrice oneMonthPrice threeMonthPrice sixMonthPrice
    lowestPrice(input: {gpuCount: 1}) { minimumBidPrice uninterruptablePrice stockStatus }
  }
}"""


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per price key of each GPU type.

    Prices are US dollars per GPU and hour. Raises SourceError when the payload is not the list of GPU
    types, carries errors, or none of its records has an id or a price.
    """
    types = _types(snapshot)
    outcomes = [outcome for number, each in enumerate(types) for outcome in _outcomes(snapshot, number, each)]
    yield from without_duplicates(outcomes, by("offer_key", "price_type", "commitment_months"))


def _types(snapshot: Snapshot) -> list[Any]:
    document = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    if isinstance(document, dict):
        if document.get("errors"):
            raise SourceError(f"the answer carries errors: {str(document['errors'])[:200]}")
        document = at(document, "data", "gpuTypes")
    if not isinstance(document, list):
        raise SourceError("no list called 'gpuTypes': not the GPU types")
    records = [each for each in document if isinstance(each, dict)]
    if not any(isinstance(each.get("id"), str) for each in records):
        raise SourceError(f"none of {len(document)} GPU types has an id: the schema has changed")
    if not any(each.keys() & PRICES.keys() for each in records):
        raise SourceError(f"none of {len(document)} GPU types has a price: the schema has changed")
    return document


def _outcomes(snapshot: Snapshot, number: int, record: Any) -> Iterator[Outcome]:
    if not isinstance(record, dict) or not isinstance(record.get("id"), str) or not record["id"]:
        yield Rejected(KIND, "missing_value", f"type {number}", "id", record)
        return
    locator = record["id"]
    for key, value in record.items():
        where = f"{locator} {key}"
        if key in PRICES:
            yield _judged(snapshot, where, record, key, value, PRICES[key])
        elif key in NO_PRICE_OF_OURS:
            yield NotApplicable(KIND, NO_PRICE_OF_OURS[key], where)
        elif key == "lowestPrice":
            yield from _lowest(snapshot, where, record, value)
        elif PRICE_LIKE.search(key):
            yield Rejected(KIND, "unknown_price_key", where, key, value)
    if not record.keys() & PRICES.keys():
        yield Rejected(KIND, "missing_value", locator, "securePrice", None)


def _lowest(snapshot: Snapshot, locator: str, record: dict[str, Any], lowest: Any) -> Iterator[Outcome]:
    if lowest is None:
        yield NotApplicable(KIND, "not_offered", locator)
        return
    if not isinstance(lowest, dict):
        yield Rejected(KIND, "wrong_type", locator, "lowestPrice", lowest)
        return
    for key, value in lowest.items():
        if key == FLOOR_KEY:
            floor = Price("lowest", "", "bid_floor")
            yield _judged(snapshot, f"{locator} {key}", record, key, value, floor)
        elif key == "uninterruptablePrice":
            yield NotApplicable(KIND, "repeats_another_price", f"{locator} {key}")
        elif key not in LOWEST and PRICE_LIKE.search(key):
            yield Rejected(KIND, "unknown_price_key", f"{locator} {key}", key, value)


def _judged(
    snapshot: Snapshot, locator: str, record: dict[str, Any], key: str, value: Any, meaning: Price
) -> Outcome:
    try:
        return _quote(snapshot, locator, record, offered(key, value, IMPLAUSIBLE_PRICE), meaning)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)


def _quote(
    snapshot: Snapshot, locator: str, record: dict[str, Any], price: Decimal | None, meaning: Price
) -> Outcome:
    if meaning.flag and not isinstance(record.get(meaning.flag), bool):
        raise ContractError("wrong_type", meaning.flag, record.get(meaning.flag))
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    if meaning.flag and not record[meaning.flag]:
        return NotApplicable(KIND, "not_sold_in_this_cloud", locator)
    row = {
        "provider": "runpod",
        "offer_key": f"{record['id']}/{meaning.tier}",
        "raw_gpu_name": record["id"],
        "product_name": record.get("displayName"),
        "raw_memory_gb": _memory(record),
        "price": price,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": meaning.price_type,
        "commitment_months": meaning.commitment_months,
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def _memory(record: dict[str, Any]) -> Decimal | None:
    stated = record.get("memoryInGb")
    return None if stated is None else plain_number("memoryInGb", stated) or None


def requests() -> list[Request]:
    """One query answers with every GPU type."""
    return [Request(URL, method="POST", json={"query": QUERY})]


SOURCE = Source(
    kind="rental",
    title="RunPod GPU types",
    homepage="https://www.runpod.io/pricing",
    licence="Terms of 2026-03-24 forbid access by automated means and compiling a database.",
    passes_on=False,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    needs_permission=True,
    providers=(Provider("runpod", "RunPod", "neocloud", "specialist", homepage="https://www.runpod.io"),),
)
