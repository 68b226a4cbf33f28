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
from typing import Any
from urllib.parse import quote

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, availability, offered, present, whole_number, without_duplicate_rows
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
    yield from without_duplicate_rows(outcomes, lambda found: found.locator)


def _page(part: Part) -> tuple[list[Any], str | None]:
    """Return the offers of one page and the cursor of the next."""
    document = strict_json(part.body)
    offers = at(document, "data")
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
    key = at(offer, "offering_id")
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
    price = offered(PRICE_KEY, present(PRICE_KEY, offer), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    row = {
        "provider": "gpuai",
        "offer_key": f"{locator}/{_class(offer)}",
        "raw_gpu_name": offer.get("gpu_type"),
        "gpu_count": whole_number("gpu_count", offer.get("gpu_count")),
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": PRICE_TYPE_OF_TIER[tier],
        "region": offer.get("region"),
        "availability": availability(offer.get("available")),
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


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
