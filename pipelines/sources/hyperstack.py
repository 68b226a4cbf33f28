"""Hyperstack's pricebook: a bare list of everything billed by the hour, GPUs per card, in US dollars.

Traps: `value` is what the holder of the key pays after a private discount, `original_value` is the list
price, and only that is read; amounts are decimal texts; "NVLink" means PCIe cards with a bridge; disks,
addresses and cores stand in the same list. It knows no regions and no stock.
Does not belong here: which GPU a name is (that is a chip alias), and reservations, which it does not price.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_json
from pipelines.outcomes import at, by, only_part, present, without_duplicates
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
    secret,
)

URL = "https://infrahub-api.nexgencloud.com/v1/pricebook"
KEY_VARIABLE = "HYPERSTACK_API_KEY"
KIND = "rental_quote"

PRICE_KEY = "original_value"
# What the key's own account pays: private, and no list price.
PRIVATE_KEYS = {"value", "discount_applied"}
PRICE_LIKE = re.compile(r"price|cost|value|discount|cents|usd", re.IGNORECASE)
# Every item that is none of these is taken for a GPU: a new name shows as unmapped, and is not lost.
NO_GPU = re.compile(
    r"(?<![a-z])(ssd|hdd|nvme|ip|publicip|v?cpu|ram|storage|volume|snapshot|image|bandwidth|egress|"
    r"load[- ]?balancer|network|firewall|cluster|backup|bucket|object|licen[cs]e)(?![a-z])",
    re.IGNORECASE,
)
SPOT = re.compile(r"[-_ (]*(?<![a-z])spot(?![a-z])[-_ )]*", re.IGNORECASE)
# A name that speaks of a commitment is no on-demand price, and does not say for how long it binds.
COMMITMENT = re.compile(r"(?<![a-z])(reserv|contract|commit)", re.IGNORECASE)
# No GPU costs that much an hour: the unit has changed.
IMPLAUSIBLE_PRICE = 1000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per item, and one per price-like key of a GPU that is not known.

    Prices are US dollars per GPU and hour. Raises SourceError when the payload is not the bare list, or
    holds no GPU.
    """
    items = _items(snapshot)
    outcomes = [outcome for number, item in enumerate(items) for outcome in _outcomes(snapshot, number, item)]
    if all(isinstance(outcome, NotApplicable) and outcome.reason == "no_gpu" for outcome in outcomes):
        raise SourceError(f"none of {len(items)} items is a GPU: the pricebook is cut short or has changed")
    yield from without_duplicates(outcomes, by("offer_key"))


def _items(snapshot: Snapshot) -> list[Any]:
    items = strict_json(only_part(snapshot.parts, "the pricebook is one answer").body)
    if not isinstance(items, list):
        raise SourceError("no bare list: not the pricebook")
    if not any(isinstance(item, dict) and PRICE_KEY in item for item in items):
        raise SourceError(f"no item has an {PRICE_KEY!r}: the pricebook has changed")
    return items


def _outcomes(snapshot: Snapshot, number: int, item: Any) -> Iterator[Outcome]:
    name = at(item, "name")
    if not isinstance(name, str) or not name.strip():
        yield Rejected(KIND, "wrong_type", f"item {number}", "name", item)
        return
    locator = f"item {number} {name}"
    if NO_GPU.search(name):
        yield NotApplicable(KIND, "no_gpu", locator)
        return
    for key, value in item.items():
        if PRICE_LIKE.search(key) and key != PRICE_KEY and key not in PRIVATE_KEYS:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    try:
        price = _price(item)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)
        return
    if COMMITMENT.search(name):
        yield Rejected(KIND, "unknown_commitment", locator, "name", name)
        return
    if price is None:
        yield NotApplicable(KIND, "not_offered", locator)
        return
    row = {
        "provider": "hyperstack",
        "offer_key": name,
        "raw_gpu_name": SPOT.sub("", name),
        "price": price,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": "spot" if SPOT.search(name) else "on_demand",
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    yield Accepted(KIND, row, locator)


def _price(item: dict[str, Any]) -> Decimal | None:
    """Return the list price; None for the 0 or null of what is not sold."""
    stated = present(PRICE_KEY, item)
    if stated is None:
        return None
    price = amount(PRICE_KEY, stated)
    if price < 0:
        raise ContractError("not_positive", PRICE_KEY, price)
    if price > IMPLAUSIBLE_PRICE:
        raise ContractError("implausible_magnitude", PRICE_KEY, price)
    return price or None


def requests() -> list[Request]:
    """One answer holds the whole pricebook."""
    return [Request(URL, headers={"api_key": secret(KEY_VARIABLE)})]


SOURCE = Source(
    kind="rental",
    title="Hyperstack pricebook",
    homepage="https://www.hyperstack.cloud/gpu-pricing",
    licence="List prices, public on the site too; no clause against reading them was found there.",
    passes_on=True,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    key_variable=KEY_VARIABLE,
    providers=(
        Provider(
            "hyperstack", "Hyperstack", "neocloud", "specialist", homepage="https://www.hyperstack.cloud"
        ),
    ),
)
