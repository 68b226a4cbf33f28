"""Lium's marketplace: every node that can be rented, with its price per GPU and hour.

Traps: a spot tier and a secure one in one list; a price that is only announced stands beside the one that
holds; a node without enough free GPUs cannot be ordered; fully rented nodes leave the list. Its H200 and
H200 NVL, RTX PRO 6000 Server and Workstation are different cards under names that look alike.
Does not belong here: /api/executors (closed to robots) and the statistics of pricing.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import iso_instant, strict_json
from pipelines.outcomes import (
    at,
    by,
    check_clock,
    offered,
    only_part,
    present,
    whole_number,
    without_duplicate_rows,
)
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


def observed_at(parts: tuple[Part, ...]) -> datetime:
    """Return the moment at which the list says it was generated, in UTC."""
    return _document(parts)[0]


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per node, and one per price-like key of a node that is not known.

    Prices are US dollars per GPU and hour. Raises SourceError when the payload is not the list of nodes,
    is shorter or longer than it says, or states no time.
    """
    generated, nodes = _document(snapshot.parts)
    check_clock("generated", generated, snapshot)
    outcomes = [
        outcome for number, node in enumerate(nodes) for outcome in _outcomes(generated, number, node)
    ]
    yield from without_duplicate_rows(outcomes, by("offer_key", "price_type"))


def _document(parts: tuple[Part, ...]) -> tuple[datetime, list[Any]]:
    document = strict_json(only_part(parts, "the list is one answer").body)
    nodes = at(document, "nodes")
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
    price = offered(PRICE_KEY, present(PRICE_KEY, node), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    count = whole_number("gpu_count", node.get("gpu_count"))
    if count <= 0:
        raise ContractError("not_positive", "gpu_count", count)
    whole = offered(NODE_PRICE_KEY, node.get(NODE_PRICE_KEY), IMPLAUSIBLE_PRICE)
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


def _region(node: dict[str, Any]) -> str | None:
    places = [node.get("country_code"), node.get("region")]
    return "-".join(place for place in places if isinstance(place, str) and place) or None


def _availability(node: dict[str, Any]) -> str:
    """How many are free never decides whether there is a price."""
    free, least = node.get("available_gpu_count"), node.get("min_rentable_gpu_count", 1)
    if any(isinstance(count, bool) or not isinstance(count, int) for count in (free, least)):
        return "listed"
    return "available" if free >= max(least, 1) else "unavailable"


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
