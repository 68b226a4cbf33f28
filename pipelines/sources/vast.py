"""Vast.ai's book of asks: what independent hosts ask for slices of their machines, US dollars an hour.

Traps: `dph_base` is the GPUs alone and is what every row holds, `dph_total` adds a disk of some size;
`min_bid` is the floor of an auction and no price; one machine is listed in slices of 1, 2, 4 and 8; the
server cuts an answer at 64 offers whatever is asked, cheapest totals first, so a full answer is a cut one.
Does not belong here: votes (hosts are counted in SQL), and rented instances, which have other meanings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import (
    at,
    by,
    offered,
    plain_number,
    present,
    scaling,
    whole_number,
    without_duplicates,
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

URL = "https://console.vast.ai/api/v0/bundles/"
KIND = "rental_quote"

# The book is asked for chip by chip, because an answer holds no more than the clamp. Names are exact.
GPU_NAMES = (
    "A100 PCIE", "A100 SXM4", "H100 NVL", "H100 PCIE", "H100 SXM", "H200", "H200 NVL", "B200",
    "L40S", "RTX 4090", "RTX 5090",
)  # fmt: skip
LIMIT = 1000
KNOWN_CLAMPS = {64, LIMIT}

ASK_KEY, TOTAL_KEY, FLOOR_KEY = "dph_base", "dph_total", "min_bid"
# Parts of the bill beside the GPUs, or other arithmetic on the same ask.
OTHER_MONEY = {
    TOTAL_KEY, "dph_total_adj", "discounted_dph_total", "discounted_hourly", "discount_rate",
    "storage_cost", "storage_total_cost", "inet_up_cost", "inet_down_cost", "internet_up_cost_per_tb",
    "internet_down_cost_per_tb", "vram_costperhour", "flops_per_dphtotal", "dlperf_per_dphtotal",
    "credit_discount", "credit_discount_max",
}  # fmt: skip
MONEY_LIKE = re.compile(r"price|cost|cents|usd|dph|bid|discount", re.IGNORECASE)
NO_MONEY = {"is_bid"}
MB_PER_GB = 1024
# Names that two GPUs share; the memory beside them tells which it is.
NAMES_WITHOUT_MEMORY = ("A100 PCIE", "A100 SXM4")
IMPLAUSIBLE_PRICE = 10_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield two outcomes per offer, its ask and its bid floor, and one per money-like key not known.

    Prices are US dollars per offer and hour, for the GPUs without a disk. Raises SourceError when the
    payload is not a book of offers, is empty, or is as long as an answer that the server cut.
    """
    offers = _offers(snapshot)
    outcomes = [
        outcome for number, offer in enumerate(offers) for outcome in _outcomes(snapshot, number, offer)
    ]
    slices = without_duplicates(outcomes, by("offer_key", "price_type"))
    yield from scaling(slices, by("machine_key", "price_type"))


def _offers(snapshot: Snapshot) -> list[Any]:
    found: list[Any] = []
    for part in snapshot.parts:
        document = strict_json(part.body)
        offers = at(document, "offers")
        if not isinstance(offers, list) or not offers:
            raise SourceError(f"{part.name}: no offers: not the book, or the chip's name has changed")
        if len(offers) in KNOWN_CLAMPS:
            raise SourceError(
                f"{part.name}: {len(offers)} offers, where the server cuts its answers: truncated, "
                "and the cheapest per GPU are cut first"
            )
        found += offers
    return found


def _outcomes(snapshot: Snapshot, number: int, offer: Any) -> Iterator[Outcome]:
    locator = f"offer {number}"
    if not isinstance(offer, dict):
        yield Rejected(KIND, "wrong_type", locator, "offer", offer)
        return
    for key, value in offer.items():
        if MONEY_LIKE.search(key) and key not in {ASK_KEY, FLOOR_KEY} | OTHER_MONEY | NO_MONEY:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    for key, price_type in ((ASK_KEY, "on_demand"), (FLOOR_KEY, "bid_floor")):
        try:
            yield _quote(snapshot, f"{locator} {key}", offer, key, price_type)
        except ContractError as error:
            yield Rejected(KIND, error.reason, f"{locator} {key}", error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, offer: dict[str, Any], key: str, price_type: str) -> Outcome:
    if _flag(offer, "is_bid") and price_type == "on_demand":
        return NotApplicable(KIND, "ask_of_an_auction", locator)
    price = offered(key, present(key, offer), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    if price_type == "on_demand":
        _check_total(offer, price)
    rentable, memory = _flag(offer, "rentable"), _memory(offer)
    name = offer.get("gpu_name")
    row = {
        "provider": "vast",
        "offer_key": _identity(offer, "id"),
        "raw_gpu_name": f"{name} {memory}GB" if memory and name in NAMES_WITHOUT_MEMORY else name,
        "raw_memory_gb": memory,
        "gpu_count": plain_number("num_gpus", offer.get("num_gpus")),
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": price_type,
        "machine_key": _identity(offer, "machine_id"),
        "host_key": _identity(offer, "host_id"),
        "region": offer.get("geolocation"),
        "availability": {True: "available", False: "unavailable", None: "listed"}[rentable],
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "note": "GPUs with their machine, without the disk that is rented beside them",
    }
    return Accepted(KIND, row, locator)


def _check_total(offer: dict[str, Any], base: Decimal) -> None:
    """Raise ContractError when the total is less than the GPUs alone: one of the two means another thing."""
    if offer.get(TOTAL_KEY) is not None and plain_number(TOTAL_KEY, offer[TOTAL_KEY]) < base:
        raise ContractError("total_below_its_part", TOTAL_KEY, offer[TOTAL_KEY])


def _flag(offer: dict[str, Any], key: str) -> bool | None:
    value = offer.get(key)
    if value is not None and not isinstance(value, bool):
        raise ContractError("wrong_type", key, value)
    return value


def _identity(offer: dict[str, Any], key: str) -> str:
    return str(whole_number(key, offer.get(key)))


def _memory(offer: dict[str, Any]) -> int | None:
    """Return the memory of one GPU in whole GB; the driver's MB, which is stated, is a little off."""
    stated = offer.get("gpu_ram")
    return None if stated is None else round(plain_number("gpu_ram", stated) / MB_PER_GB)


def requests() -> list[Request]:
    """Ask for the rentable offers of each chip; each is a slice, so that a cut book costs its chip alone."""
    return [
        Request(
            URL,
            slice=re.sub(r"\W+", "-", name).lower(),
            method="POST",
            json={
                "gpu_name": {"eq": name},
                "rentable": {"eq": True},
                "type": "on-demand",
                "order": [["dph_total", "asc"]],
                "limit": LIMIT,
            },
        )
        for name in GPU_NAMES
    ]


SOURCE = Source(
    kind="rental",
    title="Vast.ai offers",
    homepage="https://vast.ai",
    licence="Terms of 2026-09-01 forbid automated collection, and use in an index or a price comparison, "
    "without a written licence (data@vast.ai).",
    passes_on=False,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    needs_permission=True,
    providers=(Provider("vast", "Vast.ai", "marketplace", "specialist", homepage="https://vast.ai"),),
)
