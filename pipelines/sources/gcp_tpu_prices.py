"""Google's TPU prices as a file of the gpuhunt project: US dollars per chip and hour, by TPU and region.

Traps: the file is typed by hand and proves no time; in some rows spot costs more than on demand, which
Google does not sell; place names are misspelled ("Tokio") and only the region's id counts; pods and devices
of one generation are two products.
Does not belong here: machines with GPUs, and prices of whole slices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import offered, only_part
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Provider,
    Rejected,
    Snapshot,
    Source,
    SourceError,
)

KIND = "rental_quote"

TPU = re.compile(r"TPU \S.*")
ON_DEMAND_KEY, SPOT_KEY = "On Demand (USD)", "Spot (USD)"
PRICE_TYPE_OF_KEY = {ON_DEMAND_KEY: "on_demand", SPOT_KEY: "spot"}
PLACE_KEY = "Location"
IMPLAUSIBLE_PRICE = 1_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per price of a TPU in a region, and one per key that is not known.

    Prices are US dollars per chip and hour. Raises SourceError when the payload is not the table of TPUs.
    """
    document = strict_json(only_part(snapshot.parts, "the table is one file").body)
    if not isinstance(document, dict) or not document:
        raise SourceError("not a map of TPUs")
    odd = [name for name, regions in document.items() if not TPU.fullmatch(name) or not _is_table(regions)]
    if odd:
        raise SourceError(f"{odd[0]!r} is no TPU with its regions: not the table of TPU prices")
    for name, regions in document.items():
        for region, prices in regions.items():
            yield from _outcomes(snapshot, name, region, prices)


def _is_table(regions: Any) -> bool:
    return isinstance(regions, dict) and bool(regions)


def _outcomes(snapshot: Snapshot, name: str, region: str, prices: Any) -> Iterator[Outcome]:
    locator = f"{name} {region}"
    if not isinstance(prices, dict):
        yield Rejected(KIND, "wrong_type", locator, region, prices)
        return
    for key, value in prices.items():
        if key != PLACE_KEY and key not in PRICE_TYPE_OF_KEY:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    for key in PRICE_TYPE_OF_KEY:
        try:
            yield _quote(snapshot, name, region, prices, key)
        except ContractError as error:
            yield Rejected(KIND, error.reason, f"{locator} {key}", error.field, error.value)


def _quote(snapshot: Snapshot, name: str, region: str, prices: dict[str, Any], key: str) -> Outcome:
    locator = f"{name} {region} {key}"
    price = offered(key, prices.get(key), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    if key == SPOT_KEY:
        on_demand = offered(ON_DEMAND_KEY, prices.get(ON_DEMAND_KEY), IMPLAUSIBLE_PRICE)
        if on_demand is not None and price > on_demand:
            raise ContractError("spot_above_on_demand", key, price)
    row = {
        "provider": "gcp",
        "offer_key": name,
        "raw_gpu_name": name,
        "product_name": name,
        "price": price,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": PRICE_TYPE_OF_KEY[key],
        "region": region,
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "note": "per chip; typed by hand by a third party",
    }
    return Accepted(KIND, row, locator)


SOURCE = Source(
    kind="rental",
    title="Google Cloud TPU prices (gpuhunt's file)",
    homepage="https://github.com/dstackai/gpuhunt",
    licence="A file under MPL-2.0, which holds for copies of the file; terms of the prices are not stated.",
    passes_on=False,
    cadence="irregular",
    source_rank=30,
    max_age_days=7,
    parse=parse,
    providers=(
        Provider(
            "gcp", "Google Cloud", "hyperscaler", "hyperscaler", "us-central1", "https://cloud.google.com"
        ),
    ),
)
