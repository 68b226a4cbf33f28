"""Thunder Compute's price map: US dollars per hour for each SKU, `<gpu>_x<count>_<mode>`.

Traps: the map mixes SKUs with the prices of disk, snapshots and further vCPUs and with bare names that
repeat a SKU; a `prototyping` SKU shares its GPU in time, so it is part of a GPU and never a whole one; a
price includes four vCPUs and no more; `a100xl` is the A100 of 80 GB.
Does not belong here: stock, which the map does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, by, offered, only_part, scaling
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

URL = "https://api.thundercompute.com:8443/v1/pricing"
KIND = "rental_quote"

SKU = re.compile(r"(?P<gpu>[a-z0-9]+)_x(?P<count>[1-9]\d?)_(?P<mode>production|prototyping)")
# A time-shared GPU is a part of one: it is kept, and no per-GPU price is made of it.
LISTING_KIND_OF_MODE = {"production": "bundle", "prototyping": "component"}
NOTE_OF_MODE = {
    "production": "includes 4 vCPUs; further ones are billed apart",
    "prototyping": "GPU shared in time with others; includes 4 vCPUs",
}
NO_GPU_KEYS = {"disk_gb", "additional_vcpus", "snapshot_gb"}
IMPLAUSIBLE_PRICE = 10_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per key of the price map.

    Prices are US dollars per SKU and hour. Raises SourceError when the payload is not the price map or
    holds no SKU.
    """
    prices = _prices(snapshot)
    skus = {key: match for key in prices if (match := SKU.fullmatch(key))}
    if not skus:
        raise SourceError(f"none of {len(prices)} keys is a SKU: the map has changed")
    gpus = {match["gpu"] for match in skus.values()}
    outcomes = [_outcome(snapshot, prices, key, skus.get(key), gpus) for key in prices]
    yield from scaling(outcomes, by("raw_gpu_name", "listing_kind"))


def _prices(snapshot: Snapshot) -> dict[str, Any]:
    document = strict_json(only_part(snapshot.parts, "the price map is one answer").body)
    prices = at(document, "pricing")
    if not isinstance(prices, dict):
        raise SourceError("no map called 'pricing': not the price map")
    return prices


def _outcome(
    snapshot: Snapshot, prices: dict[str, Any], key: str, sku: re.Match[str] | None, gpus: set[str]
) -> Outcome:
    if sku is None:
        if key in NO_GPU_KEYS:
            return NotApplicable(KIND, "no_gpu", key)
        if key in gpus:
            return NotApplicable(KIND, "alias_of_a_sku", key)
        return Rejected(KIND, "unknown_price_key", key, key, prices[key])
    try:
        price = offered(key, prices[key], IMPLAUSIBLE_PRICE)
    except ContractError as error:
        return Rejected(KIND, error.reason, key, error.field, error.value)
    if price is None:
        return NotApplicable(KIND, "not_offered", key)
    row = {
        "provider": "thunder_compute",
        "offer_key": key,
        "raw_gpu_name": sku["gpu"],
        "product_name": key,
        "gpu_count": int(sku["count"]),
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "availability": "listed",
        "listing_kind": LISTING_KIND_OF_MODE[sku["mode"]],
        "observed_at": snapshot.observed_at,
        "note": NOTE_OF_MODE[sku["mode"]],
    }
    return Accepted(KIND, row, key)


def requests() -> list[Request]:
    """The whole map is one answer."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Thunder Compute price map",
    homepage="https://www.thundercompute.com",
    licence="Public price API without a key; its terms were not read.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    providers=(
        Provider(
            "thunder_compute",
            "Thunder Compute",
            "neocloud",
            "specialist",
            homepage="https://www.thundercompute.com",
        ),
    ),
)
