"""Vultr's plans: virtual machines and bare metal, US dollars per plan and hour, the same everywhere.

Traps: a virtual machine states the video memory of the plan, and most plans have a fraction of one card (4
of 80 GB); bare metal names its GPUs in the plan's id alone; `monthly_cost` caps the hourly price and is no
commitment; one plan is free. The lists come in pages and state their own total; of one that does not, a
person states `complete: true` in the context.
Does not belong here: which GPU a bare-metal id is (that is a chip alias): one id with l40 is sold as L40S.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, offered, plain_number, present, some_text
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

URL_OF_LIST = {
    "plans": "https://api.vultr.com/v2/plans?type=all&per_page=500",
    "plans_metal": "https://api.vultr.com/v2/plans-metal?per_page=500",
}
KIND = "rental_quote"

GPU_TYPE = "vcg"
# Memory of one card, where a GPU type has been sold with one size alone; others have no known count.
CARD_MEMORY_GB = {"NVIDIA_A100": 80, "NVIDIA_A40": 48, "NVIDIA_A16": 16, "NVIDIA_L40S": 48}
# "vbm-112c-2048gb-8-h100-gpu"; an id without the number does not say how many.
METAL_GPUS = re.compile(r"-(?:(?P<count>\d+)-)?[a-z0-9]+-gpu$")

PRICE_TYPE_OF_KEY = {"hourly_cost": "on_demand", "hourly_cost_preemptible": "spot"}
REPEATED_PRICES = {"monthly_cost", "monthly_cost_preemptible"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
IMPLAUSIBLE_PRICE = 10_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per plan without a GPU, and one per price of a GPU plan.

    Prices are US dollars per plan and hour. Raises SourceError when the payload is no list of plans, does
    not say how long a list is, lacks plans or shows one twice, or holds no GPU.
    """
    plans = _plans(snapshot)
    if not any(_may_have_gpus(name, plan) for name, _, plan in plans):
        raise SourceError(f"none of {len(plans)} plans has a GPU: the list is cut short or has changed")
    for name, number, plan in plans:
        yield from _outcomes(snapshot, name, f"{name} {number}", plan)


def _page(part: Part) -> tuple[str, list[Any], int | None, str]:
    """Return the list's name, the plans of one page, the total that it may state and what follows it."""
    document = strict_json(part.body)
    names = [name for name in URL_OF_LIST if isinstance(document, dict) and name in document]
    if len(names) != 1 or not isinstance(document[names[0]], list):
        raise SourceError(f"{part.name}: neither 'plans' nor 'plans_metal': not a list of plans")
    total = at(document, "meta", "total")
    if total is not None and (isinstance(total, bool) or not isinstance(total, int)):
        raise SourceError(f"{part.name}: meta.total is {total!r}: the list does not say how long it is")
    following = at(document, "meta", "links", "next")
    return names[0], document[names[0]], total, following if isinstance(following, str) else ""


def _check_length_is_known(snapshot: Snapshot, pages: list[tuple[str, list[Any], int | None, str]]) -> None:
    """Raise SourceError for pages without a total, unless a person states that they are the whole list."""
    if all(total is not None for _, _, total, _ in pages):
        return
    if snapshot.context.get("complete") is not True:
        raise SourceError(
            "meta.total is absent: the list does not say how long it is; state complete: true in a context "
            "file if you know that it is the whole list"
        )
    for name in URL_OF_LIST:
        cursors = [cursor for of, _, _, cursor in pages if of == name]
        if cursors and cursors[-1]:
            raise SourceError(f"{name} is stated to be complete, while its last page goes on")


def _plans(snapshot: Snapshot) -> list[tuple[str, int, Any]]:
    pages = [_page(part) for part in snapshot.parts]
    _check_length_is_known(snapshot, pages)
    found: list[tuple[str, int, Any]] = []
    for name in URL_OF_LIST:
        totals = {total for of, _, total, _ in pages if of == name and total is not None}
        plans = [plan for of, page, _, _ in pages if of == name for plan in page]
        if totals - {len(plans)}:
            raise SourceError(f"{len(plans)} {name}, while the list says {sorted(totals)}: pages are missing")
        ids = [plan["id"] for plan in plans if isinstance(plan, dict) and isinstance(plan.get("id"), str)]
        if len(set(ids)) < len(ids):
            # A total that is right hides that another plan was never shown.
            raise SourceError(f"{name} shows a plan twice: the list moved while it was read")
        found += [(name, number, plan) for number, plan in enumerate(plans)]
    return found


def _may_have_gpus(name: str, plan: Any) -> bool:
    if not isinstance(plan, dict):
        return False
    if name == "plans_metal":
        return "gpu" in str(plan.get("id"))
    return plan.get("type") == GPU_TYPE or bool(plan.get("gpu_type") or plan.get("gpu_vram_gb"))


def _outcomes(snapshot: Snapshot, name: str, locator: str, plan: Any) -> Iterator[Outcome]:
    if not isinstance(plan, dict) or not isinstance(plan.get("id"), str) or not plan["id"]:
        yield Rejected(KIND, "wrong_type", locator, "id", plan)
        return
    if not _may_have_gpus(name, plan):
        yield NotApplicable(KIND, "no_gpu", plan["id"])
        return
    for key, value in plan.items():
        if PRICE_LIKE.search(key) and key not in PRICE_TYPE_OF_KEY and key not in REPEATED_PRICES:
            yield Rejected(KIND, "unknown_price_key", plan["id"], key, value)
    for key in PRICE_TYPE_OF_KEY:
        # Every plan has a price; only some can be had preemptible.
        if key in plan or key == "hourly_cost":
            try:
                yield _quote(snapshot, name, plan, key)
            except ContractError as error:
                yield Rejected(KIND, error.reason, f"{plan['id']} {key}", error.field, error.value)


def _quote(snapshot: Snapshot, name: str, plan: dict[str, Any], key: str) -> Outcome:
    locator = f"{plan['id']} {key}"
    gpu, count = _metal_gpus(plan) if name == "plans_metal" else _virtual_gpus(plan)
    price = offered(key, present(key, plan), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    locations = plan.get("locations")
    if not isinstance(locations, list):
        raise ContractError("wrong_type", "locations", locations)
    row = {
        "provider": "vultr",
        "offer_key": plan["id"],
        "raw_gpu_name": gpu,
        "product_name": plan["id"],
        "gpu_count": count,
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": PRICE_TYPE_OF_KEY[key],
        "availability": "listed" if locations else "unavailable",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "note": f"in {', '.join(map(str, locations))}" if locations else None,
    }
    return Accepted(KIND, row, locator)


def _metal_gpus(plan: dict[str, Any]) -> tuple[str, int | None]:
    """Return the id, which alone says which GPU it is, and the number of GPUs that stands in it."""
    match = METAL_GPUS.search(plan["id"])
    return plan["id"], int(match["count"]) if match and match["count"] else None


def _virtual_gpus(plan: dict[str, Any]) -> tuple[str, Decimal | None]:
    """Return the GPU type, and the plan's share of a card: 4 GB of an A100 with 80 GB are 0.05 of it."""
    if plan.get("type") != GPU_TYPE:
        raise ContractError("unknown_plan_type", "type", plan.get("type"))
    gpu = some_text("gpu_type", plan.get("gpu_type"))
    total = plain_number("gpu_vram_gb", plan.get("gpu_vram_gb"))
    return gpu, total / CARD_MEMORY_GB[gpu] if gpu in CARD_MEMORY_GB else None


def requests() -> list[Request]:
    """The first page of either list; each is a slice, since one may fail without the other."""
    return [Request(url, slice=name) for name, url in URL_OF_LIST.items()]


def next_request(request: Request, part: Part) -> Request | None:
    """The page after this one, by its cursor."""
    name, _, _, cursor = _page(part)
    return Request(f"{URL_OF_LIST[name]}&cursor={quote(cursor, safe='')}", request.slice) if cursor else None


SOURCE = Source(
    kind="rental",
    title="Vultr plans",
    homepage="https://www.vultr.com/pricing/",
    licence="Official public API; its terms were not read.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    next_request=next_request,
    providers=(Provider("vultr", "Vultr", "neocloud", "specialist", homepage="https://www.vultr.com"),),
)
