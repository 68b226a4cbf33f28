"""Scaleway's instance types in fr-par-2: euros per instance and hour, with their availability.

Only fr-par-2 is asked: it sells every GPU that Scaleway has, and the other zones sell some of them at the
same prices. Traps: `monthly_price` is the hourly one x 730 and no commitment; a type with a MIG profile is
a slice of a GPU; the list states no total, and the page that is not full is the last.
Does not belong here: dollars.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, offered, plain_number, present, scaling
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

ZONE = "fr-par-2"
PRODUCTS = f"https://api.scaleway.com/instance/v1/zones/{ZONE}/products/servers"
PER_PAGE = 100
KIND = "rental_quote"

TYPES, STOCK = "instance types", "availabilities"
AVAILABILITY_OF = {"available": "available", "scarce": "available", "shortage": "unavailable"}
PRICE_KEY = "hourly_price"
REPEATED_PRICES = {"monthly_price"}
PRICE_LIKE = re.compile(r"price|cost|cents|eur", re.IGNORECASE)
IMPLAUSIBLE_PRICE = 10_000
GIBIBYTE = 2**30


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per instance type, and one per price-like key of a GPU type that is not known.

    Prices are euros per instance and hour. Raises SourceError when the payload is not the two lists of
    the zone, lacks a last page, shows a type on two pages, or holds no GPU.
    """
    types, stock = _lists(snapshot)
    if not any(isinstance(spec, dict) and spec.get("gpu") for spec in types.values()):
        raise SourceError(f"none of {len(types)} instance types has a GPU: the list has changed")
    outcomes = [found for name in types for found in _outcomes(snapshot, name, types[name], stock.get(name))]
    yield from scaling(outcomes, lambda found: str(found.row["raw_gpu_name"]))


def _page(part: Part) -> dict[str, Any]:
    document = strict_json(part.body)
    servers = at(document, "servers")
    if not isinstance(servers, dict):
        raise SourceError(f"{part.name}: no map called 'servers': not a list of instance types")
    if part.url is not None and not part.url.startswith(PRODUCTS):
        raise SourceError(f"{part.name}: of another zone than {ZONE}: {part.url}")
    return servers


def _lists(snapshot: Snapshot) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the instance types by name and, where it was asked for, what is said of their stock."""
    pages: dict[str, list[dict[str, Any]]] = {TYPES: [], STOCK: []}
    current = TYPES
    for part in snapshot.parts:
        page = _page(part)
        if page:  # an empty page ends the list before it
            says_stock = all(isinstance(one, dict) and "availability" in one for one in page.values())
            current = STOCK if says_stock else TYPES
        pages[current].append(page)
    return _whole(TYPES, pages[TYPES]), _whole(STOCK, pages[STOCK])


def _whole(what: str, pages: list[dict[str, Any]]) -> dict[str, Any]:
    sizes = [len(page) for page in pages]
    if sizes and (sizes[-1] >= PER_PAGE or any(size != PER_PAGE for size in sizes[:-1])):
        raise SourceError(f"pages of {sizes} {what}: the last one is missing, or one was cut short")
    entries = {name: one for page in pages for name, one in page.items()}
    if len(entries) < sum(sizes):
        raise SourceError(f"{what} on two pages: the list moved while it was read")
    return entries


def _outcomes(snapshot: Snapshot, name: str, spec: Any, stock: Any) -> Iterator[Outcome]:
    if not isinstance(spec, dict):
        yield Rejected(KIND, "wrong_type", name, "servers", spec)
        return
    count = spec.get("gpu")
    if count is None or (count == 0 and not isinstance(count, bool)):
        yield NotApplicable(KIND, "no_gpu", name)
        return
    for key, value in spec.items():
        if PRICE_LIKE.search(key) and key != PRICE_KEY and key not in REPEATED_PRICES:
            yield Rejected(KIND, "unknown_price_key", name, key, value)
    try:
        yield _quote(snapshot, name, spec, stock)
    except ContractError as error:
        yield Rejected(KIND, error.reason, name, error.field, error.value)


def _quote(snapshot: Snapshot, name: str, spec: dict[str, Any], stock: Any) -> Outcome:
    if spec.get("mig_profile") is not None:
        return NotApplicable(KIND, "slice_of_a_gpu", name)
    if spec.get("end_of_service") is True:
        return NotApplicable(KIND, "end_of_service", name)
    count = plain_number("gpu", spec["gpu"])
    if count <= 0:
        raise ContractError("not_positive", "gpu", count)
    price = offered(PRICE_KEY, present(PRICE_KEY, spec), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", name)
    gpu = spec.get("gpu_info")
    if not isinstance(gpu, dict):
        raise ContractError("wrong_type", "gpu_info", gpu)
    word = at(stock, "availability")
    row = {
        "provider": "scaleway",
        "offer_key": name,
        "raw_gpu_name": gpu.get("gpu_name"),
        "product_name": name,
        "raw_memory_gb": _memory(gpu.get("gpu_memory")),
        "gpu_count": count,
        "price": price,
        "currency": "EUR",
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "region": ZONE,
        # A word that nobody knows says nothing of the stock, and never decides whether there is a price.
        "availability": AVAILABILITY_OF.get(word, "listed") if isinstance(word, str) else "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, name)


def _memory(stated: Any) -> Decimal | None:
    """Memory of one GPU, stated in bytes."""
    return None if stated is None else plain_number("gpu_info.gpu_memory", stated) / GIBIBYTE


def requests() -> list[Request]:
    """The first page of either list."""
    return [Request(f"{PRODUCTS}{path}?per_page={PER_PAGE}&page=1") for path in ("", "/availability")]


def next_request(request: Request, part: Part) -> Request | None:
    """The page after a full one."""
    if len(_page(part)) < PER_PAGE:
        return None
    address, number = request.url.rsplit("page=", 1)
    return Request(f"{address}page={int(number) + 1}", request.slice)


SOURCE = Source(
    kind="rental",
    title="Scaleway instance types",
    homepage="https://www.scaleway.com/en/pricing/gpu/",
    licence="Official public API; its terms were not read.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    next_request=next_request,
    providers=(Provider("scaleway", "Scaleway", "neocloud", "specialist", ZONE, "https://www.scaleway.com"),),
)
