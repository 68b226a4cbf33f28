"""Hyperbolic's rental options: whole options with their price in US cents per hour.

Traps: cents, for all GPUs of an option; the answer also carries what Hyperbolic pays its suppliers, which
is nobody's price and is never kept; one region may list an option several times with other machines; a
missing stock is unknown, not none. The API is an alpha: a new `...PerHourCents` is a tier nobody knows.
Does not belong here: reserved clusters, which have no public price.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import (
    as_stated,
    availability,
    bounded,
    by,
    only_part,
    present,
    whole_number,
    without_duplicate_rows,
)
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

URL = "https://api.hyperbolic.ai/v2/alpha/on-demand/rental-options"
KIND = "rental_quote"

PRICE_KEY = "costPerHourCents"
SUPPLIER_COST = "providerCostPerHourCents"
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
IMPLAUSIBLE_CENTS = 1_000_000
# What tells two options of one region apart, beside the GPUs themselves.
TRAITS = ("machineType", "connectionType", "ethernetVariant")
MACHINE_TRAITS = ("cpuModel", "cpuCount", "vcpuCount", "ramGb", "storageGb")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per option, and one per price-like key of an option that is not known.

    Prices are US dollars per option and hour. Raises SourceError when the payload is not the bare list of
    options, or none of them has a price.
    """
    outcomes = [
        outcome
        for number, option in enumerate(_options(snapshot))
        for outcome in _outcomes(snapshot, number, option)
    ]
    yield from without_duplicate_rows(outcomes, by("offer_key", "region"))


def _options(snapshot: Snapshot) -> list[Any]:
    options = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    if not isinstance(options, list) or not any(PRICE_KEY in one for one in options if isinstance(one, dict)):
        raise SourceError("no list of options with prices: not the rental options")
    return options


def _outcomes(snapshot: Snapshot, number: int, option: Any) -> Iterator[Outcome]:
    locator = f"option {number}"
    if not isinstance(option, dict):
        yield Rejected(KIND, "wrong_type", locator, "option", option)
        return
    for key in option:
        if PRICE_LIKE.search(key) and key not in (PRICE_KEY, SUPPLIER_COST):
            # Its value is not shown: it may be a supplier's cost under a new name.
            yield Rejected(KIND, "unknown_price_key", locator, key)
    try:
        yield _quote(snapshot, locator, option)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, option: dict[str, Any]) -> Outcome:
    enabled = option.get("enabled")
    if not isinstance(enabled, bool):
        raise ContractError("wrong_type", "enabled", enabled)
    cents = _cents(option)
    if cents is None or not enabled:
        return NotApplicable(KIND, "not_offered", locator)
    count = whole_number("gpuCount", option.get("gpuCount"))
    row = {
        "provider": "hyperbolic",
        "offer_key": _offer_key(option, count),
        "raw_gpu_name": f"{_text('gpuType', option)} {_text('gpuFormFactor', option)}",
        "gpu_count": count,
        "price": cents / 100,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "region": _text("region", option),
        "availability": availability(option.get("totalAvailable")),
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def _cents(option: dict[str, Any]) -> Decimal | None:
    """Return the price in cents, a number or a text; None for the 0 or null of what is not offered."""
    value = present(PRICE_KEY, option)
    if value is None:
        return None
    cents = bounded(PRICE_KEY, value, IMPLAUSIBLE_CENTS)
    if cents != cents.to_integral_value():
        raise ContractError("not_whole_cents", PRICE_KEY, value)
    return cents or None


def _text(key: str, option: dict[str, Any]) -> str:
    value = option.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ContractError("missing_value" if value in (None, "") else "wrong_type", key, value)
    return value.strip()


def _offer_key(option: dict[str, Any], count: int) -> str:
    """An option has no key of its own: it is its GPUs, its network and its machines."""
    gpus = f"{count}x {_text('gpuType', option)} {_text('gpuFormFactor', option)}"
    traits = [_text(trait, option) for trait in TRAITS if option.get(trait) is not None]
    nodes = option.get("nodes")
    for node in nodes if isinstance(nodes, list) else []:
        if isinstance(node, dict):
            known = (trait for trait in MACHINE_TRAITS if node.get(trait) is not None)
            traits += [f"{trait} {as_stated(trait, node[trait])}" for trait in known]
    return "/".join((gpus, *traits))


def requests() -> list[Request]:
    """All options are one answer."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Hyperbolic rental options",
    homepage="https://hyperbolic.ai",
    licence="Answer of an undocumented alpha API without a key; its terms were not read: not passed on.",
    passes_on=False,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    providers=(
        Provider("hyperbolic", "Hyperbolic", "marketplace", "specialist", homepage="https://hyperbolic.ai"),
    ),
)
