"""DigitalOcean's droplet sizes: US dollars per droplet and hour, the same in every region.

Traps: `vram` is the total of the droplet's GPUs; `price_monthly` caps the same hourly price and is no
commitment; a size without regions cannot be created; the list comes in pages and states its own total.
Does not belong here: spot and contract prices, which the API does not give.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, by, offered, plain_number, present, scaling, without_duplicates
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
    secret,
)

URL = "https://api.digitalocean.com/v2/sizes?per_page=500"
KEY_VARIABLE = "DIGITALOCEAN_TOKEN"
KIND = "rental_quote"

PRICE_KEY = "price_hourly"
REPEATED_PRICES = {"price_monthly"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
GPU_SLUG = re.compile(r"(^|-)gpu-")
MEMORY_UNIT = "gib"
# Sold by contract: the hourly figure beside them is no price that anyone can order.
CONTRACT_SLUG = re.compile(r"-contract(ed)?(-|$)")
IMPLAUSIBLE_PRICE = 10_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per size, and one per price-like key of a GPU size that is not known.

    Prices are US dollars per droplet and hour. Raises SourceError when the payload is not the list of
    sizes, holds fewer or more of them than it says, or holds no GPU.
    """
    sizes = _sizes(snapshot)
    if not any(_may_have_gpus(size) for size in sizes):
        raise SourceError(f"none of {len(sizes)} sizes has a GPU: the list is cut short or has changed")
    outcomes = [outcome for number, size in enumerate(sizes) for outcome in _outcomes(snapshot, number, size)]
    yield from scaling(without_duplicates(outcomes, by("offer_key")), by("raw_gpu_name"))


def _page(part: Part) -> tuple[list[Any], int, str | None]:
    """Return the sizes of one page, the total that it states, and the address of the next page."""
    document = strict_json(part.body)
    sizes = at(document, "sizes")
    if not isinstance(sizes, list):
        raise SourceError(f"{part.name}: no list called 'sizes': not the droplet sizes")
    total = at(document, "meta", "total")
    if isinstance(total, bool) or not isinstance(total, int):
        raise SourceError(f"{part.name}: meta.total is {total!r}: the list does not say how long it is")
    following = at(document, "links", "pages", "next")
    return sizes, total, following if isinstance(following, str) and following else None


def _sizes(snapshot: Snapshot) -> list[Any]:
    pages = [_page(part) for part in snapshot.parts]
    sizes = [size for page, _, _ in pages for size in page]
    totals = {total for _, total, _ in pages}
    if totals != {len(sizes)}:
        raise SourceError(f"{len(sizes)} sizes, while the list says {sorted(totals)}: pages are missing")
    return sizes


def _may_have_gpus(size: Any) -> bool:
    return isinstance(size, dict) and (
        size.get("gpu_info") is not None or bool(GPU_SLUG.search(str(size.get("slug"))))
    )


def _outcomes(snapshot: Snapshot, number: int, size: Any) -> Iterator[Outcome]:
    if not isinstance(size, dict) or not isinstance(size.get("slug"), str) or not size["slug"]:
        yield Rejected(KIND, "wrong_type", f"size {number}", "slug", size)
        return
    locator = size["slug"]
    if not _may_have_gpus(size):
        yield NotApplicable(KIND, "no_gpu", locator)
        return
    for key, value in size.items():
        if PRICE_LIKE.search(key) and key != PRICE_KEY and key not in REPEATED_PRICES:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    if CONTRACT_SLUG.search(locator):
        yield NotApplicable(KIND, "contract_only", locator)
        return
    try:
        yield _quote(snapshot, locator, size)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, size: dict[str, Any]) -> Outcome:
    gpus = size.get("gpu_info")
    if not isinstance(gpus, dict) or not isinstance(gpus.get("model"), str):
        raise ContractError("wrong_type", "gpu_info", gpus)
    count = plain_number("gpu_info.count", gpus.get("count"))
    if count <= 0:
        raise ContractError("not_positive", "gpu_info.count", count)
    price = offered(PRICE_KEY, present(PRICE_KEY, size), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    row = {
        "provider": "digitalocean",
        "offer_key": locator,
        "raw_gpu_name": gpus["model"],
        "product_name": size.get("description"),
        "raw_memory_gb": _memory_of_one_gpu(gpus, count),
        "gpu_count": count,
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "availability": _availability(size),
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def _memory_of_one_gpu(gpus: dict[str, Any], count: Decimal) -> Decimal | None:
    vram = gpus.get("vram")
    if vram is None:
        return None
    if not isinstance(vram, dict) or vram.get("unit") != MEMORY_UNIT:
        raise ContractError("unknown_memory_unit", "gpu_info.vram", vram)
    return plain_number("gpu_info.vram.amount", vram.get("amount")) / count


def _availability(size: dict[str, Any]) -> str:
    available, regions = size.get("available"), size.get("regions")
    if not isinstance(available, bool):
        raise ContractError("wrong_type", "available", available)
    if not isinstance(regions, list):
        raise ContractError("wrong_type", "regions", regions)
    return "available" if available and regions else "unavailable"


def requests() -> list[Request]:
    """The first page of the list."""
    return [Request(URL, headers={"Authorization": f"Bearer {secret(KEY_VARIABLE)}"})]


def next_request(request: Request, part: Part) -> Request | None:
    """The page that this one names as the next."""
    following = _page(part)[2]
    return Request(following, request.slice, headers=request.headers) if following else None


SOURCE = Source(
    kind="rental",
    title="DigitalOcean GPU droplets",
    homepage="https://www.digitalocean.com/pricing/gpu-droplets",
    licence="Public list prices behind a free key; the terms were not read.",
    passes_on=True,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    next_request=next_request,
    key_variable=KEY_VARIABLE,
    providers=(
        Provider(
            "digitalocean", "DigitalOcean", "neocloud", "specialist", homepage="https://www.digitalocean.com"
        ),
    ),
)
