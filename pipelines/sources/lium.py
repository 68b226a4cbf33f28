"""Lium's marketplace: every node that can be rented, with its price per GPU and hour.

Traps: a spot tier and a secure one in one list; a price that is only announced stands beside the one that
holds; a node without enough free GPUs cannot be ordered; fully rented nodes leave the list. Its H200 and
H200 NVL, RTX PRO 6000 Server and Workstation are different cards under names that look alike.
Does not belong here: /api/executors (closed to robots) and the statistics of pricing.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, iso_instant, strict_json
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Provider,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

URL = "https://lium.io/api/public/v1/nodes"
KIND = "rental_quote"

PRICE_TYPE_OF_TIER = {"secure": "on_demand", "spot": "spot"}
PRICE_KEY, NODE_PRICE_KEY = "price_per_gpu_hour", "price_per_node_hour"
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
# A price change that is announced is not the price yet.
ANNOUNCED = re.compile(r"pending_|price_change_")
IMPLAUSIBLE_PRICE = 10_000
# Prices carry the residue of binary fractions: 8.000300000000001.
ROUNDING = Decimal("0.01")
CLOCK_TOLERANCE = timedelta(days=1)


def observed_at(parts: tuple[Part, ...]) -> datetime:
    """Return the moment at which the list says it was generated, in UTC."""
    return _document(parts)[0]


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per node, and one per price-like key of a node that is not known.

    Prices are US dollars per GPU and hour. Raises SourceError when the payload is not the list of nodes,
    is shorter or longer than it says, or states no time.
    """
    generated, nodes = _document(snapshot.parts)
    if generated > snapshot.recorded_at + CLOCK_TOLERANCE:
        raise SourceError(f"generated at {generated}, after it was stored at {snapshot.recorded_at}")
    outcomes = [
        outcome for number, node in enumerate(nodes) for outcome in _outcomes(generated, number, node)
    ]
    yield from _without_duplicates(outcomes)


def _document(parts: tuple[Part, ...]) -> tuple[datetime, list[Any]]:
    if len(parts) != 1:
        raise SourceError(f"{len(parts)} parts, where the list is one answer")
    document = strict_json(parts[0].body)
    nodes = document.get("nodes") if isinstance(document, dict) else None
    if not isinstance(nodes, list) or not nodes:
        raise SourceError("no nodes: not the list of nodes")
    count = document.get("count")
    if isinstance(count, bool) or count != len(nodes):
        raise SourceError(f"{len(nodes)} nodes, while the list says {count!r}: it was cut short")
    try:
        return iso_instant("generated_at", document.get("generated_at")), nodes
    except ContractError as error:
        raise SourceError(f"the list does not say when it was generated: {error}") from error


def _outcomes(generated: datetime, number: int, node: Any) -> Iterator[Outcome]:
    if not isinstance(node, dict) or not isinstance(node.get("id"), str) or not node["id"]:
        yield Rejected(KIND, "wrong_type", f"node {number}", "id", node)
        return
    locator = node["id"]
    for key, value in node.items():
        if PRICE_LIKE.search(key) and key not in (PRICE_KEY, NODE_PRICE_KEY) and not ANNOUNCED.match(key):
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    try:
        yield _quote(generated, locator, node)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _quote(generated: datetime, locator: str, node: dict[str, Any]) -> Outcome:
    tier = node.get("tier")
    if not isinstance(tier, str) or tier not in PRICE_TYPE_OF_TIER:
        raise ContractError("unknown_tier", "tier", tier)
    price = _price(PRICE_KEY, node)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    count = _count(node)
    if count <= 0:
        raise ContractError("not_positive", "gpu_count", count)
    whole = _price(NODE_PRICE_KEY, node) if NODE_PRICE_KEY in node else None
    if whole is not None and abs(price * count - whole) > ROUNDING:
        # One of the two is per GPU and the other is not what its name says.
        raise ContractError("price_does_not_scale", NODE_PRICE_KEY, whole)
    row = {
        "provider": "lium",
        "offer_key": locator,
        "raw_gpu_name": node.get("gpu_model"),
        "raw_memory_gb": node.get("gpu_memory_gb"),
        "gpu_count": count,
        "price": price,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": PRICE_TYPE_OF_TIER[tier],
        "machine_key": locator,
        "region": _region(node),
        "availability": _availability(node),
        "listing_kind": "bundle",
        "observed_at": generated,
    }
    return Accepted(KIND, row, locator)


def _price(key: str, record: dict[str, Any]) -> Decimal | None:
    """Return a price; None for the 0 or null of what is not offered."""
    if key not in record:
        raise ContractError("missing_value", key, None)
    value = record[key]
    if value is None:
        return None
    if isinstance(value, str):  # sent as a number: a text is a sign that the schema moved
        raise ContractError("wrong_type", key, value)
    price = amount(key, value)
    if price < 0:
        raise ContractError("not_positive", key, value)
    if price > IMPLAUSIBLE_PRICE:
        raise ContractError("implausible_magnitude", key, value)
    return price or None


def _count(node: dict[str, Any]) -> int:
    count = node.get("gpu_count")
    if isinstance(count, bool) or not isinstance(count, int):
        raise ContractError("missing_value" if count is None else "wrong_type", "gpu_count", count)
    return count


def _region(node: dict[str, Any]) -> str | None:
    places = [node.get("country_code"), node.get("region")]
    return "-".join(place for place in places if isinstance(place, str) and place) or None


def _availability(node: dict[str, Any]) -> str:
    """How many are free never decides whether there is a price."""
    free, least = node.get("available_gpu_count"), node.get("min_rentable_gpu_count", 1)
    if any(isinstance(count, bool) or not isinstance(count, int) for count in (free, least)):
        return "listed"
    return "available" if free >= max(least, 1) else "unavailable"


def _without_duplicates(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Keep one of equal quotes of one node and price type; refuse all of them when they differ."""
    quotes: dict[Any, list[Any]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Accepted):
            quotes.setdefault(_key(outcome), []).append(outcome.row)
    seen = set()
    for outcome in outcomes:
        if not isinstance(outcome, Accepted):
            yield outcome
            continue
        key = _key(outcome)
        if any(row != outcome.row for row in quotes[key]):
            yield Rejected(KIND, "conflicting_duplicates", outcome.locator, "price", outcome.row["price"])
        elif key in seen:
            yield NotApplicable(KIND, "identical_duplicate", outcome.locator)
        else:
            seen.add(key)
            yield outcome


def _key(outcome: Accepted) -> tuple[Any, ...]:
    return outcome.row["offer_key"], outcome.row["price_type"]


def requests() -> list[Request]:
    """The whole list is one answer, rebuilt at most once a minute."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Lium nodes",
    homepage="https://lium.io",
    licence="Public API that invites collectors (60 requests a minute); no restriction of use is stated.",
    passes_on=True,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    observed_at=observed_at,
    providers=(Provider("lium", "Lium", "marketplace", "specialist", homepage="https://lium.io"),),
)
