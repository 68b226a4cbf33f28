"""OVHcloud's public order catalogue: one book in euros (FR), one in US dollars (US), without tax.

Traps: a price is an integer in 1e-8 of the currency, and `intervalUnit` does not say what it buys: the plan
code's ending does; AI services carry GPUs too and are priced by the minute; Windows plans include a licence,
`-le-` plans repeat others, and a plan may be priced before it can be ordered.
Does not belong here: converting one book into the other; they are two price lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import agreeing_rows, at, by, one_of_each, only_part, present, scaling, whole_number
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
PRODUCT = by("offer_key")

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
    if not any(at(addon, "blobs", "commercial", "brick") == GPU_BRICK for addon in addons):
        raise SourceError(f"none of {len(addons)} addons is a GPU instance: the catalogue has changed")
    outcomes = [
        found for number, one in enumerate(addons) for found in _outcomes(snapshot, book, number, one)
    ]
    agreeing = agreeing_rows(outcomes, PRODUCT)
    yield from one_of_each(scaling(agreeing, _family), PRODUCT)


def _family(found: Accepted) -> tuple[Any, ...]:
    return str(found.row["raw_gpu_name"]), found.row["price_type"]


def _book(snapshot: Snapshot) -> tuple[str, list[Any]]:
    """Return the subsidiary whose book it is, and the book's addons."""
    document = strict_json(only_part(snapshot.parts, "a catalogue is one answer").body)
    book, currency = at(document, "locale", "subsidiary"), at(document, "locale", "currencyCode")
    if not isinstance(book, str) or book not in CURRENCY_OF_BOOK or currency != CURRENCY_OF_BOOK[book]:
        raise SourceError(f"a book of {book!r} in {currency!r}: no book that is known")
    if book != snapshot.slice and snapshot.slice in CURRENCY_OF_BOOK:
        raise SourceError(f"the book of {book} in place of the one of {snapshot.slice}")
    addons = document.get("addons")
    if not isinstance(addons, list):
        raise SourceError("no list called 'addons': not the catalogue")
    return book, addons


def _outcomes(snapshot: Snapshot, book: str, number: int, addon: Any) -> Iterator[Outcome]:
    plan, brick = at(addon, "planCode"), at(addon, "blobs", "commercial", "brick")
    if not isinstance(plan, str) or not plan:
        yield Rejected(KIND, "wrong_type", f"addon {number}", "planCode", plan)
    elif brick != GPU_BRICK and at(addon, "blobs", "technical", "gpu") is None:
        yield NotApplicable(KIND, "no_gpu", plan)
    elif plan.startswith(BY_THE_MINUTE):
        yield NotApplicable(KIND, "priced_by_the_minute", plan)
    elif brick != GPU_BRICK:
        yield Rejected(KIND, "unknown_brick", plan, "brick", brick)
    elif LEGACY_TWIN.match(plan):
        yield NotApplicable(KIND, "legacy_twin", plan)
    elif plan.startswith("win-") or at(addon, "blobs", "technical", "os", "family") == "windows":
        yield NotApplicable(KIND, "windows_licence", plan)
    else:
        yield from _linux_plan(snapshot, book, plan, addon)


def _linux_plan(snapshot: Snapshot, book: str, plan: str, addon: dict[str, Any]) -> Iterator[Outcome]:
    family = at(addon, "blobs", "technical", "os", "family")
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
    gpu, tags = at(addon, "blobs", "technical", "gpu"), at(addon, "blobs", "tags")
    count = whole_number("gpu.number", at(gpu, "number"))
    if count <= 0:
        raise ContractError("not_positive", "gpu.number", count)
    is_coming = isinstance(tags, list) and "coming_soon" in tags
    row = {
        "provider": "ovh",
        "offer_key": plan,
        "raw_gpu_name": at(gpu, "model"),
        "product_name": plan,
        "raw_memory_gb": at(gpu, "memory", "size"),
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
    units = present("price", phase)
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
