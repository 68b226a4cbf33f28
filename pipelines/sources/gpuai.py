"""GPU.ai's price book: configurations of several clouds, US dollars per whole configuration and hour.

Traps: the price is for all GPUs of a configuration (a B300 exists only eight at a time); the book moves
between pages, so an offer may come twice; secure and community capacity are told twice, by a class and by
a flag; the disk is billed apart. No field states the currency: the book is in US dollars.
Does not belong here: api.demo.gpu.ai, which answers in the same shape with invented data.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_json
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Provider,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

# 200 is the most that the service gives, whatever is asked for.
PAGE_LIMIT = 200
URL = f"https://api.gpu.ai/v1/pricing?limit={PAGE_LIMIT}"
KIND = "rental_quote"

PRICE_TYPE_OF_TIER = {"on_demand": "on_demand", "spot": "spot"}
CLASSES = {"secure", "community"}
PRICE_KEY = "price_per_hour"
OTHER_PRICES = {"disk_price_per_gb_hour"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
IMPLAUSIBLE_PRICE = 10_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per offer, and one per price-like key of an offer that is not known.

    Prices are US dollars per configuration and hour. Raises SourceError when the payload is not the price
    book, lacks its last page, or has a page twice.
    """
    offers = _offers(snapshot)
    outcomes = [outcome for number, one in enumerate(offers) for outcome in _outcomes(snapshot, number, one)]
    yield from _without_duplicates(outcomes)


def _page(part: Part) -> tuple[list[Any], str | None]:
    """Return the offers of one page and the cursor of the next."""
    document = strict_json(part.body)
    offers = document.get("data") if isinstance(document, dict) else None
    if not isinstance(offers, list) or "next_cursor" not in document:
        raise SourceError(f"{part.name}: no 'data' or no 'next_cursor': not the price book")
    if len(offers) > PAGE_LIMIT:
        raise SourceError(f"{part.name}: {len(offers)} offers on a page of at most {PAGE_LIMIT}")
    cursor = document["next_cursor"]
    if cursor is not None and (not isinstance(cursor, str) or not cursor):
        raise SourceError(f"{part.name}: next_cursor is {cursor!r}, neither a cursor nor null")
    return offers, cursor


def _offers(snapshot: Snapshot) -> list[Any]:
    pages = [_page(part) for part in snapshot.parts]
    cursors = [cursor for _, cursor in pages]
    if not pages or cursors[-1] is not None:
        raise SourceError("the last page says that the book goes on: pages are missing")
    if None in cursors[:-1]:
        raise SourceError("a page in the middle says that it is the last: these are no pages of one book")
    for (earlier, _), (later, _) in itertools.pairwise(pages):
        if earlier == later:
            raise SourceError("two pages are the same: the paging has changed")
    offers = [offer for page, _ in pages for offer in page]
    if not offers:
        raise SourceError("the price book holds no offer")
    return offers


def _outcomes(snapshot: Snapshot, number: int, offer: Any) -> Iterator[Outcome]:
    key = offer.get("offering_id") if isinstance(offer, dict) else None
    if not isinstance(key, str) or not key:
        yield Rejected(KIND, "wrong_type", f"offer {number}", "offering_id", offer)
        return
    for name, value in offer.items():
        if PRICE_LIKE.search(name) and name != PRICE_KEY and name not in OTHER_PRICES:
            yield Rejected(KIND, "unknown_price_key", key, name, value)
    try:
        yield _quote(snapshot, key, offer)
    except ContractError as error:
        yield Rejected(KIND, error.reason, key, error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, offer: dict[str, Any]) -> Outcome:
    tier = offer.get("tier")
    if not isinstance(tier, str) or tier not in PRICE_TYPE_OF_TIER:
        raise ContractError("unknown_tier", "tier", tier)
    price = _price(PRICE_KEY, offer)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    row = {
        "provider": "gpuai",
        "offer_key": f"{locator}/{_class(offer)}",
        "raw_gpu_name": offer.get("gpu_type"),
        "gpu_count": _count(offer),
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": PRICE_TYPE_OF_TIER[tier],
        "region": offer.get("region"),
        "availability": _availability(offer),
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def _price(key: str, record: dict[str, Any]) -> Decimal | None:
    """Return a price; None for the 0 or null of what is not offered."""
    if key not in record:
        raise ContractError("missing_value", key, None)
    value = record[key]
    if value is None:
        return None
    if isinstance(value, str):  # sent as a number: a text is a sign that the schema moved
        raise ContractError("wrong_type", key, value)
    price = amount(key, value)
    if price < 0:
        raise ContractError("not_positive", key, value)
    if price > IMPLAUSIBLE_PRICE:
        raise ContractError("implausible_magnitude", key, value)
    return price or None


def _class(offer: dict[str, Any]) -> str:
    """Return secure or community, from the class and the flag, which must agree where both are given."""
    named, flag = offer.get("capacity_class"), offer.get("community")
    if named not in (None, "") and (not isinstance(named, str) or named not in CLASSES):
        raise ContractError("unknown_capacity_class", "capacity_class", named)
    if flag is not None and not isinstance(flag, bool):
        raise ContractError("wrong_type", "community", flag)
    by_flag = None if flag is None else ("community" if flag else "secure")
    if named and by_flag and named != by_flag:
        raise ContractError("contradictory_capacity_class", "community", flag)
    if not (named or by_flag):
        raise ContractError("missing_value", "capacity_class", named)
    return named or by_flag


def _count(offer: dict[str, Any]) -> int:
    count = offer.get("gpu_count")
    if isinstance(count, bool) or not isinstance(count, int):
        raise ContractError("missing_value" if count is None else "wrong_type", "gpu_count", count)
    return count


def _availability(offer: dict[str, Any]) -> str:
    """How many can be had never decides whether there is a price."""
    stock = offer.get("available")
    if isinstance(stock, bool) or not isinstance(stock, int):
        return "listed"
    return "available" if stock > 0 else "unavailable"


def _without_duplicates(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Keep one of equal quotes of one offer; refuse all of them when they differ."""
    quotes: dict[Any, list[Any]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Accepted):
            quotes.setdefault(outcome.locator, []).append(outcome.row)
    seen = set()
    for outcome in outcomes:
        if not isinstance(outcome, Accepted):
            yield outcome
            continue
        if any(row != outcome.row for row in quotes[outcome.locator]):
            yield Rejected(KIND, "conflicting_duplicates", outcome.locator, "price", outcome.row["price"])
        elif outcome.locator in seen:
            yield NotApplicable(KIND, "identical_duplicate", outcome.locator)
        else:
            seen.add(outcome.locator)
            yield outcome


def requests() -> list[Request]:
    """The first page of the book."""
    return [Request(URL)]


def next_request(request: Request, part: Part) -> Request | None:
    """The page after this one, by its cursor."""
    cursor = _page(part)[1]
    return None if cursor is None else Request(f"{URL}&cursor={quote(cursor, safe='')}", request.slice)


SOURCE = Source(
    kind="rental",
    title="GPU.ai price book",
    homepage="https://gpu.ai",
    licence="Public API without a key; its terms were not read, so its rows are not passed on.",
    passes_on=False,
    cadence="hourly",
    source_rank=30,
    max_age_days=7,
    parse=parse,
    requests=requests,
    next_request=next_request,
    providers=(Provider("gpuai", "GPU.ai", "reseller", homepage="https://gpu.ai"),),
)
