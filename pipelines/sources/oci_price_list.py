"""Oracle Cloud's public price list: one global price per part number, per GPU and hour.

Traps: the display name does not decide what an item is (a GPU may be called "Standard - V2", and
software licences are sold per GPU-hour too); a part number that stands twice with two prices has none.
The list knows no regions, no stock and no time of its own.
Does not belong here: which GPU a part number is (that is a chip alias).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_json
from pipelines.outcomes import without_duplicates
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

# The slash before the query matters: the service knows no other address of the list.
URL = "https://apexapps.oracle.com/pls/apex/cetools/api/v1/products/?currencyCode=USD"
KIND = "rental_quote"

GPU_CATEGORY = "Compute - GPU"
GPU_METRIC = "GPU Per Hour"
PRICE_TYPE_OF_MODEL = {"PAY_AS_YOU_GO": "on_demand"}
# Sold per GPU-hour, yet no GPU that anyone can rent. Matched in the category and in the display name.
NO_GPU_FOR_RENT = {
    "NVIDIA AI Enterprise": "software_licence",
    "Cloud@Customer": "dedicated_region_only",
}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per item without a GPU, and one per US dollar price of a GPU item.

    Prices are US dollars per GPU and hour. Raises SourceError when the payload is not the price list,
    is one page of several, or holds no GPU at all.
    """
    items = _items(snapshot)
    if not any(_sells_gpus(item) for item in items):
        raise SourceError(f"none of {len(items)} items is a GPU: the list is cut short or has changed")
    outcomes = [outcome for number, item in enumerate(items) for outcome in _outcomes(snapshot, number, item)]
    # Which of two prices holds cannot be told from the list. Tiers by volume, which a GPU has never had, show
    # as differing prices too.
    yield from without_duplicates(outcomes, _part_number)


def _part_number(found: Accepted) -> str | None:
    key = found.row["offer_key"]
    return key if isinstance(key, str) and key else None


def _items(snapshot: Snapshot) -> list[Any]:
    found = []
    for part in snapshot.parts:
        document = strict_json(part.body)
        if not isinstance(document, dict) or not isinstance(document.get("items"), list):
            raise SourceError(f"{part.name}: no list called 'items': not the price list")
        if document.get("hasMore"):
            raise SourceError(f"{part.name}: the list says that it goes on; it was one page so far")
        found += document["items"]
    return found


def _words(value: Any) -> str:
    """Collapse whitespace: names carry doubled blanks ("Compute  - GPU - A10")."""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _sells_gpus(item: Any) -> bool:
    return (
        isinstance(item, dict)
        and _words(item.get("metricName")).casefold() == GPU_METRIC.casefold()
        and _words(item.get("serviceCategory")) == GPU_CATEGORY
        and _no_gpu_for_rent(item) is None
    )


def _no_gpu_for_rent(item: dict[str, Any]) -> str | None:
    described = f"{_words(item.get('serviceCategory'))} {_words(item.get('displayName'))}".casefold()
    return next((why for words, why in NO_GPU_FOR_RENT.items() if words.casefold() in described), None)


def _outcomes(snapshot: Snapshot, number: int, item: Any) -> Iterator[Outcome]:
    locator = f"item {number}"
    if not isinstance(item, dict):
        yield Rejected(KIND, "wrong_type", locator, "item", item)
        return
    metric, category = _words(item.get("metricName")), _words(item.get("serviceCategory"))
    is_gpu_metric = metric.casefold() == GPU_METRIC.casefold()
    if not is_gpu_metric and category != GPU_CATEGORY:
        yield NotApplicable(KIND, "no_gpu", locator)
    elif why := _no_gpu_for_rent(item):
        yield NotApplicable(KIND, why, locator)
    elif not is_gpu_metric:
        yield Rejected(KIND, "unknown_metric", locator, "metricName", item.get("metricName"))
    elif category != GPU_CATEGORY:
        yield Rejected(KIND, "unknown_category", locator, "serviceCategory", item.get("serviceCategory"))
    else:
        yield from _gpu_prices(snapshot, locator, item)


def _gpu_prices(snapshot: Snapshot, locator: str, item: dict[str, Any]) -> Iterator[Outcome]:
    currencies = item.get("currencyCodeLocalizations")
    if not isinstance(currencies, list) or not all(isinstance(each, dict) for each in currencies):
        yield Rejected(KIND, "wrong_type", locator, "currencyCodeLocalizations", currencies)
        return
    in_dollars = [each for each in currencies if each.get("currencyCode") == "USD"]
    if not in_dollars:
        yield NotApplicable(KIND, "no_usd_price", locator)
    for each in in_dollars:
        prices = each.get("prices")
        if not isinstance(prices, list) or not prices:
            yield Rejected(KIND, "missing_value", locator, "prices", prices)
            continue
        for number, price in enumerate(prices):
            yield _quote(snapshot, f"{locator} price {number}", item, price)


def _quote(snapshot: Snapshot, locator: str, item: dict[str, Any], price: Any) -> Outcome:
    if not isinstance(price, dict):
        return Rejected(KIND, "wrong_type", locator, "price", price)
    model = price.get("model")
    if not isinstance(model, str) or model not in PRICE_TYPE_OF_MODEL:
        return Rejected(KIND, "unknown_price_model", locator, "model", model)
    try:
        value = amount("price", price.get("value"))
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    row = {
        "provider": "oci",
        "offer_key": item.get("partNumber"),
        "raw_gpu_name": item.get("partNumber"),
        "product_name": _words(item.get("displayName")),
        "price": value,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": PRICE_TYPE_OF_MODEL[model],
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def requests() -> list[Request]:
    """The whole list is one answer; the service ignores filters by name and category."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Oracle Cloud price list",
    homepage="https://www.oracle.com/cloud/price-list/",
    licence="Public price list; its terms were not read.",
    passes_on=True,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
)
