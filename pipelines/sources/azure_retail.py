"""Azure's public retail prices: every virtual machine of a region, whole machines in US dollars.

Traps: a reservation's price is its whole term though the unit says "1 Hour"; Spot, Low Priority, DevTest,
Windows, Cloud Services and Dedicated Host rows look like on-demand ones; rows of $0.01 stand for "not
priced yet"; paging over a list that moves loses rows; the rows state no GPU count (the table below does).
Does not belong here: which GPU a size carries (that is a chip alias), and savings plans, which are spend.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from statistics import median
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from pipelines.contracts import ContractError
from pipelines.decode import iso_instant, strict_json
from pipelines.outcomes import at, by, plain_number, some_text, without_duplicates
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

URL = "https://prices.azure.com/api/retail/prices?api-version=2023-01-01-preview&$filter="
KIND = "rental_quote"
# Where Azure has sold N-series machines; one slice each, because paging over all regions loses rows.
REGIONS = (
    "eastus", "eastus2", "centralus", "northcentralus", "southcentralus", "westus", "westus2", "westus3",
    "canadacentral", "brazilsouth", "northeurope", "westeurope", "francecentral", "germanywestcentral",
    "italynorth", "polandcentral", "swedencentral", "switzerlandnorth", "uksouth", "ukwest", "uaenorth",
    "southafricanorth", "centralindia", "southindia", "japaneast", "koreacentral", "southeastasia",
    "australiaeast",
)  # fmt: skip

SIXTH, EIGHTH = Decimal(1) / 6, Decimal(1) / 8
# GPUs of a machine as Azure documents each size; a fraction is a slice of one card.
GPUS_OF_SIZE: dict[str, int | Decimal] = {
    "Standard_NC6": 1, "Standard_NC12": 2, "Standard_NC24": 4, "Standard_NC24r": 4,
    "Standard_NC6s_v2": 1, "Standard_NC12s_v2": 2, "Standard_NC24s_v2": 4, "Standard_NC24rs_v2": 4,
    "Standard_NC6s_v3": 1, "Standard_NC12s_v3": 2, "Standard_NC24s_v3": 4, "Standard_NC24rs_v3": 4,
    "Standard_NC4as_T4_v3": 1, "Standard_NC8as_T4_v3": 1, "Standard_NC16as_T4_v3": 1,
    "Standard_NC64as_T4_v3": 4,
    "Standard_NC24ads_A100_v4": 1, "Standard_NC48ads_A100_v4": 2, "Standard_NC96ads_A100_v4": 4,
    "Standard_NC40ads_H100_v5": 1, "Standard_NC80adis_H100_v5": 2, "Standard_NCC40ads_H100_v5": 1,
    "Standard_ND6s": 1, "Standard_ND12s": 2, "Standard_ND24s": 4, "Standard_ND24rs": 4,
    "Standard_ND40rs_v2": 8, "Standard_ND96asr_v4": 8, "Standard_ND96asr_A100_v4": 8,
    "Standard_ND96ams_A100_v4": 8, "Standard_ND96amsr_A100_v4": 8,
    "Standard_ND96is_H100_v5": 8, "Standard_ND96isr_H100_v5": 8, "Standard_ND96isf_H100_v5": 8,
    "Standard_ND96isfl_H100_v5": 8, "Standard_ND96isnIB_H100_v5": 8, "Standard_ND96is_flex_H100_v5": 8,
    "Standard_ND96isr_H200_v5": 8, "Standard_ND96is_MI300X_v5": 8, "Standard_ND96isr_MI300X_v5": 8,
    "Standard_ND128isr_NDR_GB200_v6": 4, "Standard_ND128isr_GB200_v6": 4,
    "Standard_NV6": 1, "Standard_NV12": 2, "Standard_NV24": 4,
    "Standard_NV12s_v3": 1, "Standard_NV24s_v3": 2, "Standard_NV48s_v3": 4,
    "Standard_NV4as_v4": EIGHTH, "Standard_NV8as_v4": 2 * EIGHTH, "Standard_NV16as_v4": 4 * EIGHTH,
    "Standard_NV32as_v4": 1,
    "Standard_NV6ads_A10_v5": SIXTH, "Standard_NV12ads_A10_v5": 2 * SIXTH,
    "Standard_NV18ads_A10_v5": 3 * SIXTH, "Standard_NV36ads_A10_v5": 1, "Standard_NV36adms_A10_v5": 1,
    "Standard_NV72ads_A10_v5": 2,
}  # fmt: skip
PROMOTION = "_Promo"
# N is Azure's letter for accelerators; NP is the one family of FPGAs among them.
GPU_SIZE = re.compile(r"(?i)(standard|basic)_n(?!p)[a-z]+\d")
GPU_PRODUCT = re.compile(r"\bN(?!P)[A-Z]{1,2}[a-z0-9]*\b.*Series")

# Words of product, SKU and meter that make a row another thing than a Linux machine of one's own.
OTHER_THINGS = {
    "dedicated host": "dedicated_host",
    "windows": "windows_licence",
    "cloud services": "cloud_services",
    "cloudservices": "cloud_services",
    "low priority": "low_priority",
}
# term: commitment in months, hours that the price buys.
TERMS = {"1 Year": (12, 8760), "3 Years": (36, 26280), "5 Years": (60, 43800)}
PRICE_KEYS = {"retailPrice", "unitPrice", "savingsPlan"}
PRICE_LIKE = re.compile(r"(?i)price|cost|amount")
# An hour of the dearest machine costs a hundredth of this; more is a number of another meaning.
MOST_PER_HOUR = 10_000
# A price below a fifth of the size's own median is a placeholder, not an offer.
PLACEHOLDER_SHARE = Decimal("0.2")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per item, and one more for each of its price keys that is not known.

    Prices are US dollars per machine: an hour of it, or a whole term. Raises SourceError when a page is
    not the service's, is missing, repeats another, or when nothing in them is a GPU machine.
    """
    items = _items(snapshot.parts)
    if not any(isinstance(item, dict) and _may_have_gpus(item) for _, item in items):
        raise SourceError(f"none of {len(items)} items is a GPU machine: the list is cut short or changed")
    outcomes = [outcome for where, item in items for outcome in _outcomes(snapshot, where, item)]
    yield from without_duplicates(
        _without_placeholders(outcomes), by("offer_key", "region", "price_type", "commitment_months")
    )


def _items(parts: tuple[Part, ...]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    pages: list[list[Any]] = []
    for number, part in enumerate(parts, 1):
        page = strict_json(part.body)
        if not isinstance(page, dict) or not isinstance(page.get("Items"), list):
            raise SourceError(f"{part.name}: no list called 'Items': not a page of the price list")
        if page.get("BillingCurrency") != "USD":
            raise SourceError(f"{part.name}: BillingCurrency is {page.get('BillingCurrency')!r}, not USD")
        if page.get("Count") != len(page["Items"]):
            raise SourceError(f"{part.name}: {len(page['Items'])} items, Count says {page.get('Count')!r}")
        if page["Items"] in pages:
            raise SourceError(f"{part.name}: the same page twice")
        pages.append(page["Items"])
        found += [(f"page {number} item {index}", item) for index, item in enumerate(page["Items"])]
        _check_link(page.get("NextPageLink"), number == len(parts), len(found), part.name)
    return found


def _check_link(link: Any, is_last: bool, so_far: int, name: str) -> None:
    if is_last:
        if link:
            raise SourceError(f"{name}: the list says that it goes on")
        return
    if not isinstance(link, str) or not link:
        raise SourceError(f"{name}: the list says that it ends here, and more pages follow")
    skipped = parse_qs(urlsplit(link).query).get("$skip")
    if skipped and skipped != [str(so_far)]:
        raise SourceError(f"{name}: {so_far} items so far, the next page starts at {skipped[0]}")


def _text(item: Mapping[str, Any], *keys: str) -> str:
    return " ".join(" ".join(str(item.get(key) or "").split()) for key in keys)


def _may_have_gpus(item: Mapping[str, Any]) -> bool:
    size = item.get("armSkuName")
    if isinstance(size, str) and size:
        return bool(GPU_SIZE.match(size))
    return bool(GPU_PRODUCT.search(_text(item, "productName")))


def _outcomes(snapshot: Snapshot, where: str, item: Any) -> Iterator[Outcome]:
    if not isinstance(item, dict):
        yield Rejected(KIND, "wrong_type", where, "item", item)
        return
    if item.get("serviceName") != "Virtual Machines":
        yield NotApplicable(KIND, "other_service", where)
        return
    if not _may_have_gpus(item):
        yield NotApplicable(KIND, "no_gpu", where)
        return
    for key in sorted(key for key in item.keys() - PRICE_KEYS if PRICE_LIKE.search(key)):
        yield Rejected(KIND, "unknown_price_key", where, key, item[key])
    words = _text(item, "productName", "skuName", "meterName").casefold()
    if item.get("type") == "DevTestConsumption":
        yield NotApplicable(KIND, "dev_test", where)
    elif why := next((why for word, why in OTHER_THINGS.items() if word in words), None):
        yield NotApplicable(KIND, why, where)
    else:
        try:
            yield Accepted(KIND, _row(snapshot, item, words), where)
        except ContractError as error:
            yield Rejected(KIND, error.reason, where, error.field, error.value)


def _row(snapshot: Snapshot, item: Mapping[str, Any], words: str) -> dict[str, Any]:
    size, region = (some_text(key, item.get(key)) for key in ("armSkuName", "armRegionName"))
    if item.get("currencyCode") != "USD":
        raise ContractError("unexpected_currency", "currencyCode", item.get("currencyCode"))
    if item.get("unitOfMeasure") != "1 Hour":
        raise ContractError("unknown_unit", "unitOfMeasure", item.get("unitOfMeasure"))
    if item.get("tierMinimumUnits", 0) != 0:
        raise ContractError("volume_tier", "tierMinimumUnits", item["tierMinimumUnits"])
    kind = _price_kind(item, words)
    started = item.get("effectiveStartDate")
    return {
        "provider": "azure",
        "offer_key": size,
        "raw_gpu_name": size,
        "product_name": _text(item, "productName"),
        "gpu_count": gpus_of_size(size),
        "price": _price(item, kind.get("term_hours", 1)),
        "currency": "USD",
        **kind,
        "region": region,
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "effective_from": iso_instant("effectiveStartDate", started) if started is not None else None,
    }


def _price_kind(item: Mapping[str, Any], words: str) -> dict[str, Any]:
    """What the price buys: `type` and term decide, never `unitOfMeasure`, which always says "1 Hour"."""
    term = item.get("reservationTerm")
    if item.get("type") == "Reservation":
        if not isinstance(term, str) or term not in TERMS:
            raise ContractError("unknown_term", "reservationTerm", term)
        months, hours = TERMS[term]
        return {
            "price_unit": "term_total",
            "term_hours": hours,
            "price_type": "reserved",
            "commitment_months": months,
        }
    if item.get("type") != "Consumption":
        raise ContractError("unknown_price_type", "type", item.get("type"))
    if term:
        raise ContractError("term_without_reservation", "reservationTerm", term)
    return {"price_unit": "instance_hour", "price_type": "spot" if "spot" in words else "on_demand"}


def _price(item: Mapping[str, Any], hours: int) -> Decimal:
    stated = item.get("retailPrice")
    price = plain_number("retailPrice", stated)
    if "unitPrice" in item and item["unitPrice"] != stated:
        raise ContractError("contradictory_prices", "unitPrice", item["unitPrice"])
    if price / hours > MOST_PER_HOUR:
        raise ContractError("out_of_range", "retailPrice", price)
    return price


def gpus_of_size(size: Any) -> int | Decimal | None:
    """GPUs of a size by the table, a promotion being the same machine; None: not known."""
    return GPUS_OF_SIZE.get(size.removesuffix(PROMOTION)) if isinstance(size, str) else None


def _per_hour(row: Mapping[str, Any]) -> Decimal:
    return row["price"] / row.get("term_hours", 1)


def _is_list_price(row: Mapping[str, Any]) -> bool:
    return row["price_type"] != "spot" and row["price"] > 0


def _without_placeholders(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Refuse a price far below what the same size costs elsewhere or for a term. Spot is truly that low."""
    found: dict[str, list[Decimal]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Accepted) and _is_list_price(outcome.row):
            found.setdefault(outcome.row["offer_key"], []).append(_per_hour(outcome.row))
    medians = {size: median(prices) for size, prices in found.items()}
    for outcome in outcomes:
        row = outcome.row if isinstance(outcome, Accepted) else None
        if row and _is_list_price(row) and _per_hour(row) < PLACEHOLDER_SHARE * medians[row["offer_key"]]:
            yield Rejected(KIND, "placeholder_price", outcome.locator, "retailPrice", row["price"])
        else:
            yield outcome


def requests() -> list[Request]:
    """The first page of every region; filter values are case-sensitive."""
    wanted = "serviceName eq 'Virtual Machines' and armRegionName eq '{}'"
    return [Request(URL + quote(wanted.format(region)), slice=region) for region in REGIONS]


def next_request(request: Request, part: Part) -> Request | None:
    """The page that `part` names as the next one."""
    link = at(strict_json(part.body), "NextPageLink")
    if not link:
        return None
    return Request(str(link).replace(" ", "%20"), slice=request.slice)


SOURCE = Source(
    kind="rental",
    title="Azure retail prices",
    homepage="https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices",
    licence="Public price API without a key; its terms were not read.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    next_request=next_request,
)
