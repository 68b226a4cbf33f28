"""Seeweb's plans: euros per plan and hour, the same in every location that has the plan.

Traps: the API states no currency, and the public price page says euros, so euros are declared here; the
number of GPUs is a text, "0" for a plan without any; the label carries the memory of one card ("L40s 48GB");
`available` says that the plan is sold, not that one is free; the list states no total.
Does not belong here: free capacity, which another address gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, by, offered, only_part, present, scaling, some_text, without_duplicates
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
    secret,
)

URL = "https://api.seeweb.it/ecs/v2/plans"
KEY_VARIABLE = "SEEWEB_API_TOKEN"
KIND = "rental_quote"
CURRENCY = "EUR"
NOTE = "the API states no currency; the price page says EUR"

PRICE_KEY = "hourly_price"
REPEATED_PRICES = {"monthly_price"}
PRICE_LIKE = re.compile(r"price|cost|cents|usd|eur", re.IGNORECASE)
COUNT = re.compile(r"\d{1,3}", re.ASCII)
IMPLAUSIBLE_PRICE = 10_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per plan, and one per price-like key of a GPU plan that is not known.

    Prices are euros per plan and hour. Raises SourceError when the payload is not the list of plans, says
    that it failed, states a currency, or holds no GPU.
    """
    document = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    plans = at(document, "plans")
    if not isinstance(plans, list) or document.get("status") != "ok":
        raise SourceError("no list called 'plans' with the status 'ok': not the list of plans")
    if document.get("currency") not in (None, CURRENCY):
        raise SourceError(f"the list states {document['currency']!r}, where {CURRENCY} is expected")
    if not any(isinstance(plan, dict) and plan.get("gpu") not in (None, "0") for plan in plans):
        raise SourceError(f"none of {len(plans)} plans has a GPU: the list is cut short or has changed")
    outcomes = [found for number, plan in enumerate(plans) for found in _outcomes(snapshot, number, plan)]
    yield from scaling(without_duplicates(outcomes, by("offer_key")), by("raw_gpu_name"))


def _outcomes(snapshot: Snapshot, number: int, plan: Any) -> Iterator[Outcome]:
    if not isinstance(plan, dict) or not isinstance(plan.get("name"), str) or not plan["name"]:
        yield Rejected(KIND, "wrong_type", f"plan {number}", "name", plan)
        return
    locator = plan["name"]
    if plan.get("gpu") == "0" and not plan.get("gpu_label"):
        yield NotApplicable(KIND, "no_gpu", locator)
        return
    for key, value in plan.items():
        if PRICE_LIKE.search(key) and key != PRICE_KEY and key not in REPEATED_PRICES:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)
    try:
        yield _quote(snapshot, locator, plan)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, plan: dict[str, Any]) -> Outcome:
    gpu, stated = some_text("gpu_label", plan.get("gpu_label")), some_text("gpu", plan.get("gpu"))
    if not COUNT.fullmatch(stated):
        raise ContractError("not_a_number", "gpu", stated)
    if int(stated) == 0:
        raise ContractError("not_positive", "gpu", stated)
    price = offered(PRICE_KEY, present(PRICE_KEY, plan), IMPLAUSIBLE_PRICE)
    if price is None:
        return NotApplicable(KIND, "not_offered", locator)
    sold, regions = plan.get("available"), plan.get("available_regions")
    if not isinstance(sold, bool):
        raise ContractError("wrong_type", "available", sold)
    if not isinstance(regions, list):
        raise ContractError("wrong_type", "available_regions", regions)
    places = [str(at(region, "location")) for region in regions]
    row = {
        "provider": "seeweb",
        "offer_key": locator,
        "raw_gpu_name": gpu,
        "product_name": locator,
        "gpu_count": int(stated),
        "price": price,
        "currency": CURRENCY,
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "availability": "listed" if sold and places else "unavailable",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "note": f"{NOTE}; in {', '.join(places)}" if places else NOTE,
    }
    return Accepted(KIND, row, locator)


def requests() -> list[Request]:
    """The whole list is one answer."""
    return [Request(URL, headers={"X-APITOKEN": secret(KEY_VARIABLE)})]


SOURCE = Source(
    kind="rental",
    title="Seeweb cloud server GPU plans",
    homepage="https://www.seeweb.it/en/products/cloud-server-gpu",
    licence="Official API behind a free key; its terms were not read.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    key_variable=KEY_VARIABLE,
    providers=(Provider("seeweb", "Seeweb", "neocloud", "specialist", homepage="https://www.seeweb.it"),),
)
