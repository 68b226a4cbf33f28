"""Lists of European clouds as the eu-cloud-prices project keeps them, one file a provider, second-hand.

Traps: many files are typed by hand; the GPUs stand among the instances or in a list of their own, under
other names in each file; some state a month alone, some an add-on without a machine; a file that states an
`eur_usd_rate` made its euros from dollars at that fixed rate, so only its dollars are prices; an instance
type may not say which GPU it has. Does not belong here: storage, traffic, and the hours of a month that the
file does not state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import iso_instant, strict_json
from pipelines.outcomes import (
    at,
    check_clock,
    offered,
    only_part,
    plain_number,
    present,
    scaling,
    some_text,
    without_duplicates,
)
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Provider,
    Rejected,
    Snapshot,
    Source,
    SourceError,
)

KIND = "rental_quote"
CURRENCY = "EUR"

NAMES = {
    "ovh": ("OVHcloud", "FR", "https://www.ovhcloud.com"),
    "gcore": ("Gcore", None, "https://gcore.com"),
    "nebius": ("Nebius", None, "https://nebius.com"),
    "hikube": ("Hikube", None, "https://hikube.cloud"),
    "stackit": ("STACKIT", None, "https://www.stackit.de"),
    "leafcloud": ("Leafcloud", None, "https://leaf.cloud"),
    "infomaniak": ("Infomaniak", None, "https://www.infomaniak.com"),
}

# Where machines and GPUs stand; `gpu` is a list of the models on sale, without prices.
MACHINES, GPU_MACHINES, GPU_PARTS, GPU_WORDS = "instances", "gpu_instances", "gpu_pricing", "gpu"
MODEL_KEYS = ("gpu_model", "gpu_type", "gpu", "name")
MODEL_KEYS_OF_MACHINES = MODEL_KEYS[:3]
GPU_CATEGORY = "gpu"


@dataclass(frozen=True)
class Money:
    """What a key of a price means."""

    currency: str
    unit: str
    price_type: str = "on_demand"


HOUR, MONTH, USD_HOUR = "price_hourly", "price_monthly", "price_usd_hourly"
MEANING = {
    HOUR: Money(CURRENCY, "instance_hour"),
    MONTH: Money(CURRENCY, "instance_month"),
    USD_HOUR: Money("USD", "instance_hour"),
    "price_per_gpu_hour_usd": Money("USD", "gpu_hour"),
    "preemptible_price_per_gpu_hour_usd": Money("USD", "gpu_hour", "spot"),
}
# A GPU beside which these stand is a part of a machine.
OTHER_PARTS = {"cpu_per_hour_usd", "ram_per_gib_hour_usd"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd|eur|per_hour", re.IGNORECASE)
IMPLAUSIBLE_PRICE = {"gpu_hour": 1_000, "instance_hour": 10_000, "instance_month": 1_000_000}


def observed_at(parts: tuple[Part, ...]) -> datetime:
    """Return the moment at which the list says it was fetched, in UTC."""
    return _list(parts)[1]


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per machine without a GPU, and one per price of a machine with GPUs or of a GPU.

    Prices are in the stated currency per machine or GPU. Raises SourceError when the payload is not such a
    list, is of a provider that nobody looked at, states no time, or counts in another currency or with tax.
    """
    document, moment = _list(snapshot.parts)
    check_clock("fetched", moment, snapshot)
    outcomes = [outcome for found in _records(document) for outcome in _outcomes(document, moment, *found)]
    distinct = without_duplicates(outcomes, lambda found: (found.row["offer_key"], found.row["price_type"]))
    yield from scaling(distinct, _family)


def _family(found: Accepted) -> tuple[Any, ...] | None:
    if found.row["gpu_count"] is None:
        return None
    return tuple(found.row[key] for key in ("raw_gpu_name", "price_unit", "price_type", "listing_kind"))


def _list(parts: tuple[Part, ...]) -> tuple[dict[str, Any], datetime]:
    document = strict_json(only_part(parts, "one file is one provider's list").body)
    machines, provider = at(document, MACHINES), at(document, "provider")
    if not isinstance(machines, list) or not machines:
        raise SourceError("no instances: not a provider's list")
    if not isinstance(provider, str) or provider not in NAMES:
        raise SourceError(f"provider {provider!r} is none of {sorted(NAMES)}: its list was never looked at")
    if at(document, "billing_model", "currency") not in (None, CURRENCY):
        raise SourceError(
            f"billed in {document['billing_model']['currency']!r}, where {CURRENCY} is expected"
        )
    if at(document, "billing_model", "vat_included") not in (None, False):
        raise SourceError("the prices include tax")
    try:
        return document, iso_instant("fetched_at", document.get("fetched_at"))
    except ContractError as error:
        raise SourceError(f"the list does not say when it was fetched: {error}") from error


def _records(document: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """Yield every candidate with the block that it stands in and its place there."""
    for block in (MACHINES, GPU_MACHINES, GPU_PARTS):
        found = at(document, GPU_PARTS, "gpus") if block == GPU_PARTS else document.get(block, [])
        if block in document and not isinstance(found, list):
            raise SourceError(f"{block} is no list: not a provider's list")
        for number, record in enumerate(found or []):
            yield block, f"{block} {number}", record
    for key, value in document.items():
        if "gpu" in key.lower() and key not in (GPU_MACHINES, GPU_PARTS, GPU_WORDS):
            yield key, key, value


def _has_gpus(record: dict[str, Any]) -> bool:
    return record.get("category") == GPU_CATEGORY or any("gpu" in key for key in record)


def _outcomes(
    document: dict[str, Any], moment: datetime, block: str, place: str, record: Any
) -> Iterator[Outcome]:
    if block not in (MACHINES, GPU_MACHINES, GPU_PARTS):
        yield Rejected(KIND, "unknown_price_key", place, block, record)
        return
    if not isinstance(record, dict) or not isinstance(record.get("id"), str) or not record["id"]:
        yield Rejected(KIND, "wrong_type", place, "id", record)
        return
    locator = record["id"]
    if block == MACHINES and not _has_gpus(record):
        yield NotApplicable(KIND, "no_gpu", locator)
        return
    for key, value in record.items():
        if PRICE_LIKE.search(key) and key not in MEANING and key not in OTHER_PARTS:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    for key in _prices(document, record):
        try:
            yield _quote(document, moment, block, record, key)
        except ContractError as error:
            yield Rejected(KIND, error.reason, f"{locator} {key}", error.field, error.value)


def _prices(document: dict[str, Any], record: dict[str, Any]) -> list[str]:
    """Return the keys that are prices: what another of them repeats is none."""
    found = [key for key in MEANING if key in record]
    dollars = [key for key in found if MEANING[key].currency == "USD"]
    if "eur_usd_rate" in document and dollars:
        return dollars
    euros = [key for key in found if MEANING[key].currency == CURRENCY]
    # The month is the hour again. A record that names no price at all lacks its hour.
    return [*euros[:1], *dollars] or [HOUR]


def _quote(
    document: dict[str, Any], moment: datetime, block: str, record: dict[str, Any], key: str
) -> Outcome:
    money, locator = MEANING[key], f"{record['id']} {key}"
    price = offered(key, present(key, record), IMPLAUSIBLE_PRICE[money.unit])
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    if money.currency == CURRENCY:
        if "eur_usd_rate" in document:
            return NotApplicable(KIND, "converted_at_a_fixed_rate", locator)
        if some_text("currency", record.get("currency")) != CURRENCY:
            raise ContractError("unexpected_currency", "currency", record["currency"])
    location = record.get("location")
    places = [place.strip() for place in location.split(",")] if isinstance(location, str) else []
    # In a list of GPU prices each is an add-on to a machine, unless its price is that of a GPU and hour and
    # nothing else is billed beside it.
    is_part = block == GPU_PARTS and (money.unit != "gpu_hour" or bool(OTHER_PARTS & record.keys()))
    row = {
        "provider": document["provider"],
        "offer_key": record["id"],
        "raw_gpu_name": _gpu_name(block, record),
        "product_name": record.get("name"),
        "raw_memory_gb": record.get("gpu_memory_gb"),
        "gpu_count": _gpu_count(money, record),
        "price": price,
        "currency": money.currency,
        "price_unit": money.unit,
        "term_hours": at(document, "billing_model", "monthly_hours") if key == MONTH else None,
        "price_type": money.price_type,
        "region": places[0] if len(places) == 1 else None,
        "availability": "listed",
        "listing_kind": "component" if is_part else "bundle",
        "observed_at": moment,
        "date_precision": "day" if document.get("manual") is True else None,
        "note": f"in {', '.join(places)}" if len(places) > 1 else None,
    }
    return Accepted(KIND, row, locator)


def _gpu_name(block: str, record: Mapping[str, Any]) -> str:
    """Return the model; a machine that states none is named by its type, which may say it."""
    keys = MODEL_KEYS if block == GPU_PARTS else MODEL_KEYS_OF_MACHINES
    names = [record[key] for key in keys if isinstance(record.get(key), str) and record[key]]
    return names[0] if names else record["id"]


def _gpu_count(money: Money, record: Mapping[str, Any]) -> Decimal | None:
    """Return the count as stated; the price of a GPU and hour needs none."""
    # Under `gpu` stands a count in some files and a model in others.
    stated = [record["gpu_count"]] if "gpu_count" in record else []
    if not stated and "gpu" in record and not isinstance(record["gpu"], str):
        stated = [record["gpu"]]
    if not stated:
        if money.unit == "gpu_hour":
            return None
        raise ContractError("missing_value", "gpu_count", record.get("gpu_count"))
    count = plain_number("gpu_count", stated[0])
    if count <= 0:
        raise ContractError("not_positive", "gpu_count", count)
    return count


SOURCE = Source(
    kind="rental",
    title="European cloud prices (eu-cloud-prices)",
    homepage="https://github.com/mixxor/eu-cloud-prices",
    licence="No licence; informational, as it is.",
    passes_on=False,
    cadence="irregular",
    source_rank=40,
    max_age_days=7,
    parse=parse,
    observed_at=observed_at,
    providers=tuple(
        Provider(slug, name, "neocloud", "specialist", region, homepage)
        for slug, (name, region, homepage) in NAMES.items()
    ),
)
