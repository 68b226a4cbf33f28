"""Akash Network's GPU prices: statistics of the bids of the last 31 days, US dollars per GPU and hour.

Traps: these are asks over a month and no offer that anyone can take now, so every row is an ask statistic;
the lowest bid is nobody's market price; a model without bids has no price at all. Settled in another
currency (AKT): a row counts only where the answer itself says USD.
Does not belong here: best bids of `debug=true`, which are undocumented.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, availability, by, offered, only_part, some_text, without_duplicate_rows
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

URL = "https://console-api.akash.network/v1/gpu-prices"
KIND = "rental_quote"

# The median stands for the month of bids; the others must agree with it, and are told in the note.
STATISTIC = "med"
OTHER_STATISTICS = ("min", "max", "avg", "weightedAverage")
PRICE_KEYS = {"currency", STATISTIC, *OTHER_STATISTICS}
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
MEMORY = re.compile(r"(\d+)Gi")
CURRENCY = "USD"
IMPLAUSIBLE_PRICE = 1_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per model, memory and interface, and one per statistic that is not known.

    Prices are US dollars per GPU and hour. Raises SourceError when the payload is not the list of models.
    """
    outcomes = [
        outcome
        for number, model in enumerate(_models(snapshot))
        for outcome in _outcomes(snapshot, number, model)
    ]
    yield from without_duplicate_rows(outcomes, by("offer_key"))


def _models(snapshot: Snapshot) -> list[Any]:
    document = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    models = at(document, "models")
    if not isinstance(models, list) or not models or not isinstance(at(document, "availability"), dict):
        raise SourceError("no 'models' or no 'availability': not the GPU prices")
    return models


def _outcomes(snapshot: Snapshot, number: int, model: Any) -> Iterator[Outcome]:
    locator = f"model {number}"
    if not isinstance(model, dict) or "price" not in model:
        yield Rejected(KIND, "wrong_type", locator, "price", model)
        return
    price = model["price"]
    unknown = {key: model[key] for key in model if PRICE_LIKE.search(key) and key != "price"}
    unknown |= {key: price[key] for key in price if key not in PRICE_KEYS} if isinstance(price, dict) else {}
    for key, value in unknown.items():
        yield Rejected(KIND, "unknown_price_key", locator, key, value)
    if price is None:
        yield NotApplicable(KIND, "not_offered", locator)
        return
    try:
        yield _quote(snapshot, locator, model, price)
    except ContractError as error:
        yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _quote(snapshot: Snapshot, locator: str, model: dict[str, Any], price: Any) -> Outcome:
    if not isinstance(price, dict):
        raise ContractError("wrong_type", "price", price)
    if price.get("currency") != CURRENCY:
        raise ContractError("unexpected_currency", "price.currency", price.get("currency"))
    middle = _price(STATISTIC, price)
    if middle is None:
        return NotApplicable(KIND, "not_offered", locator)
    others = {key: _price(key, price) for key in OTHER_STATISTICS if key in price}
    if (others.get("min") or middle) > middle or (others.get("max") or middle) < middle:
        raise ContractError("contradictory_statistics", "price.med", middle)
    name = [some_text(key, model.get(key)) for key in ("model", "ram", "interface")]
    memory = MEMORY.fullmatch(name[1])
    if memory is None:
        raise ContractError("unknown_memory_unit", "ram", name[1])
    told = "; ".join(f"{key} {value}" for key, value in others.items() if value is not None)
    row = {
        "provider": "akash",
        "offer_key": "/".join((some_text("vendor", model.get("vendor")), *name, STATISTIC)),
        "raw_gpu_name": " ".join(name),
        "raw_memory_gb": int(memory.group(1)),
        "price": middle,
        "currency": CURRENCY,
        "price_unit": "gpu_hour",
        "price_type": "on_demand",
        "derivation": "ask_statistic",
        "availability": availability(at(model, "availability", "available")),
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
        "note": "median of the bids of 31 days" + (f"; {told}" if told else ""),
    }
    return Accepted(KIND, row, locator)


def _price(key: str, price: dict[str, Any]) -> Decimal | None:
    """Return a statistic; None for the 0 or null of what nobody bid for."""
    field = f"price.{key}"
    if key not in price:
        raise ContractError("missing_value", field, None)
    return offered(field, price[key], IMPLAUSIBLE_PRICE)


def requests() -> list[Request]:
    """All models are one answer."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Akash Network GPU prices",
    homepage="https://akash.network",
    licence="Public API without a key; its terms were not read.",
    passes_on=True,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    providers=(
        Provider("akash", "Akash Network", "marketplace", "specialist", homepage="https://akash.network"),
    ),
)
