"""CUDO Compute's machine types per data centre: the price of the GPU alone, in US dollars per GPU and hour.

Traps: vCPUs, memory, storage and an address are billed on top, and the list does not say how much of them
the smallest machine takes, so no whole machine can be added up: every row is a component. Prices are text.
`totalGpuFree` is a pool and no size of a node. The list holds machines without a GPU too.
Does not belong here: a guess at a typical machine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_json
from pipelines.outcomes import at, availability, by, only_part, present, some_text, without_duplicate_rows
from pipelines.source import (
    Accepted,
    KeyMissing,
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

URL = "https://rest.compute.cudo.org/v1/vms/machine-types"
# Some users are answered without a key, some are not; one is sent where there is one.
OPTIONAL_KEY_VARIABLE = "CUDO_API_KEY"
KIND = "rental_quote"

PRICE_KEY = "gpuPriceHr"
OTHER_PRICES = {"vcpuPriceHr", "memoryGibPriceHr", "minStorageGibPriceHr", "ipv4PriceHr"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
CURRENCY = "usd"
IMPLAUSIBLE_PRICE = 1_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per machine type and data centre, and one per price-like key that is not known.

    Prices are US dollars per GPU and hour, without the machine around it. Raises SourceError when the
    payload is not the list of machine types or holds no GPU.
    """
    types = _types(snapshot)
    if not any(isinstance(record, dict) and record.get("gpuModel") for record in types):
        raise SourceError(f"none of {len(types)} machine types has a GPU: the list has changed")
    outcomes = [outcome for number, one in enumerate(types) for outcome in _outcomes(snapshot, number, one)]
    yield from without_duplicate_rows(outcomes, by("offer_key", "region"))


def _types(snapshot: Snapshot) -> list[Any]:
    document = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    types = at(document, "machineTypes")
    if not isinstance(types, list):
        raise SourceError("no list called 'machineTypes': not the machine types, or an error in words")
    return types


def _outcomes(snapshot: Snapshot, number: int, record: Any) -> Iterator[Outcome]:
    locator = f"machine type {number}"
    if not isinstance(record, dict):
        yield Rejected(KIND, "wrong_type", locator, "machineTypes", record)
        return
    if record.get("gpuModel") == "":
        yield NotApplicable(KIND, "no_gpu", locator)
        return
    for key, value in record.items():
        if PRICE_LIKE.search(key) and key != PRICE_KEY and key not in OTHER_PRICES:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    try:
        yield _quote(snapshot, locator, record)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, record: dict[str, Any]) -> Outcome:
    price = _price(record)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    machine, model, name, place = (
        some_text(key, record.get(key)) for key in ("machineType", "gpuModelId", "gpuModel", "dataCenterId")
    )
    row = {
        "provider": "cudo",
        "offer_key": f"{machine}/{model}",
        "raw_gpu_name": name,
        "raw_memory_gb": record.get("gpuMemoryGib"),
        "price": price,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": "on_demand",
        "region": place,
        "availability": availability(record.get("totalGpuFree")),
        "listing_kind": "component",
        "observed_at": snapshot.observed_at,
        "note": "the GPU alone; vCPUs, memory and storage are billed on top",
    }
    return Accepted(KIND, row, locator)


def _price(record: dict[str, Any]) -> Decimal | None:
    """Return the price of a GPU, sent as plain text; None for the "0" or null of what is not offered."""
    stated = present(PRICE_KEY, record)
    if stated is None:
        return None
    if not isinstance(stated, dict):
        raise ContractError("wrong_type", PRICE_KEY, stated)
    field, value = f"{PRICE_KEY}.value", stated.get("value")
    if "value" in stated and value is None:
        return None
    if value is not None and not isinstance(value, str):  # a number is a sign that the schema moved
        raise ContractError("wrong_type", field, value)
    price = amount(field, value)
    if stated.get("currency") != CURRENCY:
        raise ContractError("unexpected_currency", f"{PRICE_KEY}.currency", stated.get("currency"))
    if price < 0:
        raise ContractError("not_positive", field, value)
    if price > IMPLAUSIBLE_PRICE:
        raise ContractError("implausible_magnitude", field, value)
    return price or None


def requests() -> list[Request]:
    """All machine types are one answer."""
    try:
        headers = {"Authorization": f"Bearer {secret(OPTIONAL_KEY_VARIABLE)}"}
    except KeyMissing:
        headers = {}
    return [Request(URL, headers=headers)]


SOURCE = Source(
    kind="rental",
    title="CUDO Compute machine types",
    homepage="https://www.cudocompute.com",
    licence="Public API; its terms were not read.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    providers=(
        Provider("cudo", "CUDO Compute", "neocloud", "specialist", homepage="https://www.cudocompute.com"),
    ),
)
