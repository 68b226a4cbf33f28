"""Verda's (formerly DataCrunch) instance types: on demand and spot, per whole instance and hour.

Two surfaces, never in one snapshot: the API's list of types (with or without what is free where), and the
offers that the pricing page carries as JSON-LD, as a page or alone. Traps: GPU memory is the instance's
total; a price of "Nx ..." is for all N; serverless, cluster and storage offers and rows without a model
stand between the others; prices may be switched to euros. Does not belong here: what is free as spot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, gunzipped, strict_json
from pipelines.outcomes import agreeing_rows, at, bounded, by, one_of_each, present, scaling
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

URL = "https://api.datacrunch.io/v1/instance-types"
KIND = "rental_quote"
PRODUCT = by("offer_key", "price_type", "currency")

CURRENCY_OF = {"usd": "USD", "eur": "EUR", "USD": "USD", "EUR": "EUR"}
PRICE_TYPE_OF_KEY = {"price_per_hour": "on_demand", "spot_price": "spot"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
OFFER_KEYS = {"price", "priceCurrency", "priceSpecification", "priceValidUntil"}
COUNTED = re.compile(r"(?P<count>[1-9]\d{0,3})x (?P<gpu>\S.*)")
MEMORY = re.compile(r"\b(\d+)GB\b")
IMPLAUSIBLE_PRICE = 10_000

JSON_LD = re.compile(rb'<script[^>]*type="application/ld\+json"[^>]*>(.*?)</script>', re.DOTALL)
STORAGE = "Monthly storage price per GiB"
# The end of an offer's name, the description that says the same once more, and what it is to us.
TIERS = {
    " serverless continuous": ("Hourly serverless container price", "serverless"),
    " serverless spot": ("Hourly serverless spot container price", "serverless"),
    " instant cluster": ("Hourly instant cluster price", "instant_cluster"),
    " on-demand": ("Hourly on-demand instance price", "on_demand"),
    " spot": ("Hourly spot instance price", "spot"),
}
OTHER_PRODUCTS = {"serverless", "instant_cluster"}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per instance type or offer without a GPU, and one per price of one with GPUs.

    Prices are for the whole instance and hour. Raises SourceError when the payload is neither surface,
    mixes them, or holds no GPU.
    """
    types: list[Any] = []
    offers: list[Any] = []
    free: list[Any] = []
    for part in snapshot.parts:
        for document in _documents(part):
            if isinstance(document, dict):
                offers += _graph(part, document)
            else:
                _list_for(part, document, types, free).extend(document)
    if bool(types) == bool(offers) or (free and not types):
        raise SourceError("neither the instance types nor the offers of the page, or both")
    somewhere = _free_somewhere(free) if free else None
    outcomes = [
        found for number, one in enumerate(types) for found in _type(snapshot, number, one, somewhere)
    ]
    outcomes += [found for number, one in enumerate(offers) for found in _offer(snapshot, number, one)]
    if all(isinstance(found, NotApplicable) and found.reason != "not_offered" for found in outcomes):
        raise SourceError(f"none of {len(outcomes)} entries has a GPU: the list has changed")
    agreeing = agreeing_rows(outcomes, PRODUCT)
    yield from one_of_each(scaling(agreeing, _family), PRODUCT)


def _family(found: Accepted) -> tuple[Any, ...]:
    row = found.row
    return str(row["raw_gpu_name"]), row["price_type"], row["currency"]


def _documents(part: Part) -> list[Any]:
    body = gunzipped(part.body)
    if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return [strict_json(body)]
    blocks = JSON_LD.findall(body)
    if not blocks or not body.rstrip().lower().endswith(b"</html>"):
        raise SourceError(f"{part.name}: a page without JSON-LD, or cut short")
    documents = [strict_json(block) for block in blocks]
    # A page describes itself in further blocks.
    return [one for one in documents if isinstance(one, dict) and "@graph" in one]


def _graph(part: Part, document: dict[str, Any]) -> list[Any]:
    graph = document.get("@graph")
    if not isinstance(graph, list):
        raise SourceError(f"{part.name}: no list called '@graph': not the offers of the page")
    return [node for node in graph if isinstance(node, dict) and node.get("@type") == "Offer"]


def _list_for(part: Part, document: Any, types: list[Any], free: list[Any]) -> list[Any]:
    for key, known in (("instance_type", types), ("location_code", free)):
        if isinstance(document, list) and any(isinstance(one, dict) and key in one for one in document):
            return known
    raise SourceError(f"{part.name}: neither instance types nor what is free where")


def _free_somewhere(free: list[Any]) -> set[str]:
    """Return the instance types that are free somewhere."""
    found: set[str] = set()
    for place in free:
        names = at(place, "availabilities")
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise SourceError(f"no list of what is free: {str(place)[:80]}")
        found.update(names)
    return found


def _type(snapshot: Snapshot, number: int, record: Any, free: set[str] | None) -> Iterator[Outcome]:
    key, gpu = at(record, "instance_type"), at(record, "gpu")
    if not isinstance(key, str) or not key or not isinstance(gpu, dict):
        yield Rejected(KIND, "wrong_type", f"type {number}", "instance_type", record)
        return
    if gpu.get("number_of_gpus") == 0 and gpu["number_of_gpus"] is not False:
        yield NotApplicable(KIND, "no_gpu", key)
        return
    for name, value in record.items():
        if PRICE_LIKE.search(name) and name not in PRICE_TYPE_OF_KEY:
            yield Rejected(KIND, "unknown_price_key", key, name, value)
    for name, price_type in PRICE_TYPE_OF_KEY.items():
        locator = f"{key} {name}"
        try:
            price = _price(name, record, str)
            if price is None:
                yield NotApplicable(KIND, "not_offered", locator)
                continue
            row = _row_of_type(key, record, gpu)
        except ContractError as error:
            yield Rejected(KIND, error.reason, locator, error.field, error.value)
            continue
        # What is free to rent says nothing of spot.
        is_told = free is not None and price_type == "on_demand"
        stock = ("available" if key in free else "unavailable") if is_told else "listed"
        row |= {"price": price, "price_type": price_type, "availability": stock}
        yield Accepted(KIND, row | {"observed_at": snapshot.observed_at}, locator)


def _row_of_type(key: str, record: dict[str, Any], gpu: dict[str, Any]) -> dict[str, Any]:
    count, described = gpu.get("number_of_gpus"), gpu.get("description")
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise ContractError("missing_value" if count is None else "wrong_type", "gpu.number_of_gpus", count)
    counted = COUNTED.fullmatch(described) if isinstance(described, str) else None
    if counted and int(counted["count"]) != count:
        raise ContractError("contradictory_gpu_counts", "gpu.description", described)
    total = at(record, "gpu_memory", "size_in_gigabytes")
    if isinstance(total, str):
        raise ContractError("wrong_type", "gpu_memory.size_in_gigabytes", total)
    return {
        "provider": "verda",
        "offer_key": key,
        "raw_gpu_name": record.get("name"),
        "product_name": described,
        "raw_memory_gb": None if total is None else amount("gpu_memory", total) / count,
        "gpu_count": count,
        "currency": _currency("currency", record.get("currency")),
        "price_unit": "instance_hour",
        "listing_kind": "bundle",
    }


def _offer(snapshot: Snapshot, number: int, offer: dict[str, Any]) -> Iterator[Outcome]:
    name, description = offer.get("name"), offer.get("description")
    if not isinstance(name, str):
        yield Rejected(KIND, "wrong_type", f"offer {number}", "name", name)
        return
    locator = f"offer {number} {name}"
    tier = next((tier for tier in TIERS if name.endswith(tier)), None)
    if description == STORAGE:
        yield NotApplicable(KIND, "no_gpu", locator)
    elif tier is None:
        yield Rejected(KIND, "unknown_tier", locator, "name", name)
    elif description != TIERS[tier][0]:
        yield Rejected(KIND, "contradictory_tiers", locator, "description", description)
    elif not (label := name.removesuffix(tier).strip()):
        yield NotApplicable(KIND, "no_gpu", locator)  # instances without a GPU have no model
    elif TIERS[tier][1] in OTHER_PRODUCTS:
        yield NotApplicable(KIND, TIERS[tier][1], locator)
    elif not (counted := COUNTED.fullmatch(label)):
        yield Rejected(KIND, "unknown_gpu_count", locator, "name", name)
    else:
        for key in offer:
            if PRICE_LIKE.search(key) and key not in OFFER_KEYS:
                yield Rejected(KIND, "unknown_price_key", locator, key, offer[key])
        try:
            yield _offer_quote(snapshot, locator, offer, counted, TIERS[tier][1])
        except ContractError as error:
            yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _offer_quote(
    snapshot: Snapshot, locator: str, offer: dict[str, Any], counted: re.Match[str], price_type: str
) -> Outcome:
    price = _price("price", offer, (int, Decimal))
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    currency = _currency("priceCurrency", offer.get("priceCurrency"))
    again = offer.get("priceSpecification")
    if isinstance(again, dict):
        if _price("price", again, (int, Decimal)) != price:
            raise ContractError("contradictory_prices", "priceSpecification.price", again.get("price"))
        if again.get("priceCurrency", currency) != currency:
            raise ContractError("contradictory_currencies", "priceCurrency", again["priceCurrency"])
    memory = MEMORY.search(counted["gpu"])
    row = {
        "provider": "verda",
        "offer_key": counted[0],
        "raw_gpu_name": counted["gpu"],
        "raw_memory_gb": int(memory[1]) if memory else None,
        "gpu_count": int(counted["count"]),
        "price": price,
        "currency": currency,
        "price_unit": "instance_hour",
        "price_type": price_type,
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def _price(key: str, record: dict[str, Any], sent_as: type | tuple[type, ...]) -> Decimal | None:
    """Return a price; None for the 0 or null of what is not offered.

    The API sends text and the page numbers: the other of the two is a sign that the schema moved.
    """
    value = present(key, record)
    if value is None:
        return None
    if not isinstance(value, sent_as):
        raise ContractError("wrong_type", key, value)
    return bounded(key, value, IMPLAUSIBLE_PRICE) or None


def _currency(key: str, stated: Any) -> str:
    if not isinstance(stated, str) or stated not in CURRENCY_OF:
        raise ContractError("unexpected_currency", key, stated)
    return CURRENCY_OF[stated]


def requests() -> list[Request]:
    """All instance types are one answer."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Verda instance types",
    homepage="https://verda.com/pricing",
    licence="Public prices; the terms forbid malicious automation and were not read in full.",
    passes_on=True,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    providers=(Provider("verda", "Verda", "neocloud", "specialist", homepage="https://verda.com"),),
)
