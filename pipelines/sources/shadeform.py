"""Shadeform's instance types: what a reseller asks for the machines of other clouds, in US cents an hour.

Traps: cents, and per instance; the cloud behind an offer may be read directly as well, so a reseller never
votes; form factor stands in `interconnect`, beside the name; each region is an entry of `availability`,
and newer entries there are spot, without a price of their own.
Does not belong here: what those clouds ask themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, by, offered, only_part, plain_number, present, scaling, without_duplicates
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

URL = "https://api.shadeform.ai/v1/instances/types"
KEY_VARIABLE = "SHADEFORM_API_KEY"
KIND = "rental_quote"

CENTS_PER_DOLLAR = 100
PRICE_KEY = "hourly_price"
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
ON_DEMAND = ("on_demand", "on-demand", "ondemand")
IMPLAUSIBLE_CENTS = 1_000_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per type without a GPU, else one per region, and one per unknown price-like key.

    Prices are US dollars per instance and hour. Raises SourceError when the payload is not the list of
    types, or none of them has a GPU.
    """
    types = _types(snapshot)
    outcomes = [outcome for number, each in enumerate(types) for outcome in _outcomes(snapshot, number, each)]
    if all(isinstance(outcome, NotApplicable) and outcome.reason == "no_gpu" for outcome in outcomes):
        raise SourceError(f"none of {len(types)} types has a GPU: the list is cut short or has changed")
    yield from scaling(without_duplicates(outcomes, by("offer_key", "region")), _product)


def _product(found: Accepted) -> tuple[Any, ...]:
    row = found.row
    return row["offer_key"].split("/")[0], row["raw_gpu_name"], row["raw_memory_gb"], row["region"]


def _types(snapshot: Snapshot) -> list[Any]:
    document = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    types = at(document, "instance_types")
    if not isinstance(types, list) or not types:
        raise SourceError("no list called 'instance_types': not the instance types")
    return types


def _outcomes(snapshot: Snapshot, number: int, each: Any) -> Iterator[Outcome]:
    locator = f"type {number}"
    if not isinstance(each, dict):
        yield Rejected(KIND, "wrong_type", locator, "type", each)
        return
    try:
        offer = _offer(snapshot, each)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)
        return
    if offer is None:
        yield NotApplicable(KIND, "no_gpu", locator)
        return
    for key, value in each.items():
        if PRICE_LIKE.search(key) and key != PRICE_KEY:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    regions = each.get("availability")
    if not isinstance(regions, list) or not regions:
        yield Rejected(KIND, "missing_value", locator, "availability", regions)
        return
    for position, region in enumerate(regions):
        yield from _region(f"{locator} region {position}", offer, region)


def _offer(snapshot: Snapshot, each: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the regions of a type share, with price None where it is not sold; None: no GPU."""
    configuration = each.get("configuration")
    if not isinstance(configuration, dict):
        raise ContractError("wrong_type", "configuration", configuration)
    count = plain_number("num_gpus", configuration.get("num_gpus"))
    if count < 0:
        raise ContractError("not_positive", "num_gpus", count)
    if count == 0:
        return None
    cents = offered(PRICE_KEY, present(PRICE_KEY, each), IMPLAUSIBLE_CENTS)
    memory = configuration.get("vram_per_gpu_in_gb")
    return {
        "provider": "shadeform",
        "offer_key": f"{_words(each, 'cloud')}/{_words(each, 'shade_instance_type')}",
        "raw_gpu_name": _gpu_name(configuration),
        "product_name": each.get("cloud_instance_type"),
        "raw_memory_gb": None if memory is None else plain_number("vram_per_gpu_in_gb", memory),
        "gpu_count": count,
        "price": None if cents is None else cents / CENTS_PER_DOLLAR,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "note": f"resold capacity of {each['cloud']}",
    }


def _region(locator: str, offer: dict[str, Any], region: Any) -> Iterator[Outcome]:
    if not isinstance(region, dict) or not isinstance(region.get("available"), bool):
        yield Rejected(KIND, "wrong_type", locator, "availability", region)
        return
    for key, value in region.items():
        if PRICE_LIKE.search(key):
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    rental = region.get("rental_type")
    if rental == "spot":
        yield NotApplicable(KIND, "spot_price_not_stated", locator)
    elif rental is not None and rental not in ON_DEMAND:
        yield Rejected(KIND, "unknown_rental_type", locator, "rental_type", rental)
    elif offer["price"] is None:
        yield NotApplicable(KIND, "not_offered", locator)
    elif not isinstance(region.get("region"), str) or not region["region"]:
        yield Rejected(KIND, "missing_value", locator, "region", region.get("region"))
    else:
        availability = "available" if region["available"] else "unavailable"
        yield Accepted(KIND, offer | {"region": region["region"], "availability": availability}, locator)


def _words(each: dict[str, Any], key: str) -> str:
    value = each.get(key)
    if not isinstance(value, str) or not value:
        raise ContractError("missing_value", key, value)
    return value


def _gpu_name(configuration: dict[str, Any]) -> str:
    """Return the GPU with its form factor; the API writes the second into a field of its own."""
    name, form = _words(configuration, "gpu_type"), configuration.get("interconnect")
    if form is None or form == "":
        return name
    if not isinstance(form, str):
        raise ContractError("wrong_type", "interconnect", form)
    return name if form.casefold() in name.casefold() else f"{name} {form}"


def requests() -> list[Request]:
    """One answer holds every type."""
    return [Request(URL, headers={"X-API-KEY": secret(KEY_VARIABLE)})]


SOURCE = Source(
    kind="rental",
    title="Shadeform instance types",
    homepage="https://www.shadeform.ai",
    licence="Terms bar scrapers and building a database.",
    passes_on=False,
    cadence="hourly",
    source_rank=30,
    max_age_days=7,
    parse=parse,
    requests=requests,
    key_variable=KEY_VARIABLE,
    needs_permission=True,
    providers=(Provider("shadeform", "Shadeform", "reseller", homepage="https://www.shadeform.ai"),),
)
