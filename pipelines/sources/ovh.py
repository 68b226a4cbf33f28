"""OVHcloud's public order catalogue: one book in euros (FR), one in US dollars (US), without tax.

Traps: a price is an integer in 1e-8 of the currency, and `intervalUnit` does not say what it buys: the plan
code's ending does; AI services carry GPUs too and are priced by the minute; Windows plans include a licence,
`-le-` plans repeat others, and a plan may be priced before it can be ordered.
Does not belong here: converting one book into the other; they are two price lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
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

CATALOGUE = "/1.0/order/catalog/public/cloud?ovhSubsidiary="
URL_OF_BOOK = {
    "FR": f"https://api.ovh.com{CATALOGUE}FR",
    "US": f"https://api.us.ovhcloud.com{CATALOGUE}US",
}
CURRENCY_OF_BOOK = {"FR": "EUR", "US": "USD"}
KIND = "rental_quote"

GPU_BRICK = "gpu"
BY_THE_MINUTE = "ai-"
LEGACY_TWIN = re.compile(r"(win-)?t[12]-le-")
HOURS_PER_MONTH = 730
TERM_OF_ENDING: dict[str, dict[str, Any]] = {
    ".monthly.postpaid": {
        "price_type": "reserved",
        "commitment_months": 1,
        "price_unit": "instance_month",
        "term_hours": HOURS_PER_MONTH,
    },
    ".consumption": {"price_type": "on_demand", "price_unit": "instance_hour"},
}
PRICE_LIKE = re.compile(r"price|cost|cents", re.IGNORECASE)
PRICE_KEYS = {"price", "formattedPrice"}
UNITS_OF_CURRENCY = 10**8
# The price once more, for people: one number with at most two decimals between words and signs.
FORMATTED = re.compile(r"[^0-9.,]*(\d+(?:[.,]\d{1,2})?)[^0-9.,]*", re.ASCII)
HALF_A_CENT = Decimal("0.005")
IMPLAUSIBLE_PRICE = 1_000_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per addon of the catalogue, and one per price-like key that is not known.

    Prices are for the whole instance, per hour or per month of 730 hours, in the book's currency without
    tax. Raises SourceError when the payload is not the book that was asked for, or holds no GPU.
    """
    book, addons = _book(snapshot)
    if not any(_at(addon, "blobs", "commercial", "brick") == GPU_BRICK for addon in addons):
        raise SourceError(f"none of {len(addons)} addons is a GPU instance: the catalogue has changed")
    outcomes = [
        found for number, one in enumerate(addons) for found in _outcomes(snapshot, book, number, one)
    ]
    yield from _judged(outcomes)


def _book(snapshot: Snapshot) -> tuple[str, list[Any]]:
    """Return the subsidiary whose book it is, and the book's addons."""
    if len(snapshot.parts) != 1:
        raise SourceError(f"{len(snapshot.parts)} parts, where a catalogue is one answer")
    document = strict_json(snapshot.parts[0].body)
    book, currency = _at(document, "locale", "subsidiary"), _at(document, "locale", "currencyCode")
    if not isinstance(book, str) or book not in CURRENCY_OF_BOOK or currency != CURRENCY_OF_BOOK[book]:
        raise SourceError(f"a book of {book!r} in {currency!r}: no book that is known")
    if book != snapshot.slice and snapshot.slice in CURRENCY_OF_BOOK:
        raise SourceError(f"the book of {book} in place of the one of {snapshot.slice}")
    addons = document.get("addons")
    if not isinstance(addons, list):
        raise SourceError("no list called 'addons': not the catalogue")
    return book, addons


def _at(document: Any, *keys: str) -> Any:
    """Walk down mappings; None where the path ends early."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document


def _outcomes(snapshot: Snapshot, book: str, number: int, addon: Any) -> Iterator[Outcome]:
    plan, brick = _at(addon, "planCode"), _at(addon, "blobs", "commercial", "brick")
    if not isinstance(plan, str) or not plan:
        yield Rejected(KIND, "wrong_type", f"addon {number}", "planCode", plan)
    elif brick != GPU_BRICK and _at(addon, "blobs", "technical", "gpu") is None:
        yield NotApplicable(KIND, "no_gpu", plan)
    elif plan.startswith(BY_THE_MINUTE):
        yield NotApplicable(KIND, "priced_by_the_minute", plan)
    elif brick != GPU_BRICK:
        yield Rejected(KIND, "unknown_brick", plan, "brick", brick)
    elif LEGACY_TWIN.match(plan):
        yield NotApplicable(KIND, "legacy_twin", plan)
    elif plan.startswith("win-") or _at(addon, "blobs", "technical", "os", "family") == "windows":
        yield NotApplicable(KIND, "windows_licence", plan)
    else:
        yield from _linux_plan(snapshot, book, plan, addon)


def _linux_plan(snapshot: Snapshot, book: str, plan: str, addon: dict[str, Any]) -> Iterator[Outcome]:
    family = _at(addon, "blobs", "technical", "os", "family")
    ending = next((ending for ending in TERM_OF_ENDING if plan.endswith(ending)), None)
    phases = addon.get("pricings")
    if family != "linux":
        yield Rejected(KIND, "unknown_os", plan, "os.family", family)
    elif ending is None:
        yield Rejected(KIND, "unknown_billing_mode", plan, "planCode", plan)
    elif not isinstance(phases, list) or len(phases) != 1 or not isinstance(phases[0], dict):
        yield Rejected(KIND, "not_one_pricing_phase", plan, "pricings", phases)
    else:
        for key, value in phases[0].items():
            if PRICE_LIKE.search(key) and key not in PRICE_KEYS:
                yield Rejected(KIND, "unknown_price_key", plan, key, value)
        try:
            yield _quote(snapshot, book, plan, addon, phases[0], TERM_OF_ENDING[ending])
        except ContractError as error:
            yield Rejected(KIND, error.reason, plan, error.field, error.value)


def _quote(
    snapshot: Snapshot, book: str, plan: str, addon: dict[str, Any], phase: Any, term: dict[str, Any]
) -> Outcome:
    price = _price(phase)
    if price is None:
        return NotApplicable(KIND, "not_offered", plan)
    gpu, tags = _at(addon, "blobs", "technical", "gpu"), _at(addon, "blobs", "tags")
    count = _at(gpu, "number")
    if isinstance(count, bool) or not isinstance(count, int):
        raise ContractError("missing_value" if count is None else "wrong_type", "gpu.number", count)
    if count <= 0:
        raise ContractError("not_positive", "gpu.number", count)
    is_coming = isinstance(tags, list) and "coming_soon" in tags
    row = {
        "provider": "ovh",
        "offer_key": plan,
        "raw_gpu_name": _at(gpu, "model"),
        "product_name": plan,
        "raw_memory_gb": _at(gpu, "memory", "size"),
        "gpu_count": count,
        "price": price,
        "currency": CURRENCY_OF_BOOK[book],
        **term,
        "region": book,
        "availability": "unavailable" if is_coming else "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "note": "priced before it can be ordered" if is_coming else None,
    }
    return Accepted(KIND, row, plan)


def _price(phase: dict[str, Any]) -> Decimal | None:
    """Return the price, which must be the one shown to people; None for the 0 or null of no offer."""
    if "price" not in phase:
        raise ContractError("missing_value", "price", None)
    units = phase["price"]
    if units is None or (units == 0 and isinstance(units, int) and not isinstance(units, bool)):
        return None
    if isinstance(units, bool) or not isinstance(units, int):
        raise ContractError("wrong_type", "price", units)
    if units < 0:
        raise ContractError("not_positive", "price", units)
    price = Decimal(units) / UNITS_OF_CURRENCY
    if price > IMPLAUSIBLE_PRICE:
        raise ContractError("implausible_magnitude", "price", units)
    stated = phase.get("formattedPrice")
    shown = FORMATTED.fullmatch(stated) if isinstance(stated, str) else None
    if shown is None:
        raise ContractError("unreadable_formatted_price", "formattedPrice", stated)
    if abs(price - Decimal(shown.group(1).replace(",", "."))) > HALF_A_CENT:
        raise ContractError("contradictory_prices", "formattedPrice", stated)
    return price


def _judged(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Refuse what contradicts itself: two prices of one product, and more GPUs for no more money."""
    rows = [outcome.row for outcome in outcomes if isinstance(outcome, Accepted)]
    conflicting = {_key(one) for one in rows for other in rows if _key(one) == _key(other) and one != other}
    sound = [row for row in rows if _key(row) not in conflicting]
    seen = set()
    for outcome in outcomes:
        if not isinstance(outcome, Accepted):
            yield outcome
            continue
        row, locator = outcome.row, outcome.locator
        siblings = [one for one in sound if _family(one) == _family(row)]
        if _key(row) in conflicting:
            yield Rejected(KIND, "conflicting_duplicates", locator, "price", row["price"])
        elif any(one["gpu_count"] < row["gpu_count"] and one["price"] >= row["price"] for one in siblings):
            yield Rejected(KIND, "price_does_not_scale", locator, "price", row["price"])
        elif _key(row) in seen:
            yield NotApplicable(KIND, "identical_duplicate", locator)
        else:
            seen.add(_key(row))
            yield outcome


def _key(row: Mapping[str, Any]) -> str:
    return row["offer_key"]


def _family(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return str(row["raw_gpu_name"]), row["price_type"]


def requests() -> list[Request]:
    """Either book is one answer of about 8 MB."""
    return [Request(url, slice=book) for book, url in URL_OF_BOOK.items()]


SOURCE = Source(
    kind="rental",
    title="OVHcloud order catalogue",
    homepage="https://www.ovhcloud.com/en/public-cloud/prices/",
    licence="Official public API; its terms were not read.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    # Two books, two prices: the euro book holds the whole line.
    providers=(Provider("ovh", "OVHcloud", "neocloud", "specialist", "FR", "https://www.ovhcloud.com"),),
)
