"""OpenRouter's model list: one headline price per model and kind of token, in US dollars per single token.

Traps: prices are decimal texts per token; "-1" means that a router decides on each request; free variants
are no price cut; calls, images and searches are priced beside the tokens; the maker's name in a model's id
is not the host that serves it. The list carries no history.
Does not belong here: prices of the hosts behind one model.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_json
from pipelines.outcomes import at, by, only_part, without_duplicates
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

URL = "https://openrouter.ai/api/v1/models"
KIND = "token_price"

TOKENS_PER_PRICE = 1_000_000
TOKEN_KINDS = {"prompt": "input", "completion": "output", "input_cache_read": "cached_input"}
REQUIRED = ("prompt", "completion")
OTHER_PRICES = {
    "request", "image", "image_token", "image_output", "audio", "audio_output", "input_audio_cache",
    "input_cache_write", "web_search", "internal_reasoning", "discount",
}  # fmt: skip
DECIDED_PER_REQUEST = Decimal(-1)
FREE_VARIANT = ":free"
# Dollars per token: from 0.0001 to 1,000 dollars per million. Outside, a price was written per thousand or
# per million tokens.
LOWEST, HIGHEST = Decimal("1e-10"), Decimal("1e-3")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per price key of each model.

    Prices are US dollars per million tokens, in force since the list was seen. Raises SourceError when
    the payload is not the list of models, or no model of it has a price.
    """
    models = _models(snapshot)
    outcomes = [
        outcome for number, each in enumerate(models) for outcome in _outcomes(snapshot, number, each)
    ]
    yield from without_duplicates(outcomes, by("raw_model_name", "token_kind"))


def _models(snapshot: Snapshot) -> list[Any]:
    document = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    models = at(document, "data")
    if not isinstance(models, list):
        raise SourceError("no list called 'data': not the models")
    if not any(isinstance(each, dict) and isinstance(each.get("pricing"), dict) for each in models):
        raise SourceError(f"none of {len(models)} models has a price: the list has changed")
    return models


def _outcomes(snapshot: Snapshot, number: int, model: Any) -> Iterator[Outcome]:
    name = at(model, "id")
    if not isinstance(name, str) or not name:
        yield Rejected(KIND, "missing_value", f"model {number}", "id", model)
        return
    pricing = model.get("pricing")
    if not isinstance(pricing, dict):
        yield Rejected(KIND, "wrong_type", name, "pricing", pricing)
        return
    for key in (*REQUIRED, *(key for key in pricing if key not in REQUIRED)):
        locator = f"{name} {key}"
        if key in TOKEN_KINDS:
            yield _judged(snapshot, locator, name, key, pricing)
        elif key in OTHER_PRICES:
            yield NotApplicable(KIND, "other_kind_of_price", locator)
        else:
            yield Rejected(KIND, "unknown_price_key", locator, key, pricing[key])


def _judged(snapshot: Snapshot, locator: str, name: str, key: str, pricing: dict[str, Any]) -> Outcome:
    try:
        # The list writes texts, so that no digit is lost; anything else is not its own.
        if key in pricing and not isinstance(pricing[key], str):
            raise ContractError("wrong_type", key, pricing[key])
        per_token = amount(key, pricing.get(key))
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    if per_token == DECIDED_PER_REQUEST:
        return NotApplicable(KIND, "price_decided_per_request", locator)
    if per_token == 0:
        if _is_free(name, pricing):
            return NotApplicable(KIND, "free_variant", locator)
        return Rejected(KIND, "zero_price", locator, key, pricing[key])
    if per_token < 0:
        return Rejected(KIND, "not_positive", locator, key, pricing[key])
    if not LOWEST <= per_token <= HIGHEST:
        return Rejected(KIND, "implausible_magnitude", locator, key, pricing[key])
    row = {
        "provider": "openrouter",
        "raw_model_name": name,
        "tier": "standard",
        "token_kind": TOKEN_KINDS[key],
        "price": per_token * TOKENS_PER_PRICE,
        "currency": "USD",
        "effective_from": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def _is_free(name: str, pricing: dict[str, Any]) -> bool:
    """Whether a model is given away: it says so, or neither its input nor its output costs anything."""
    texts = [pricing.get(key) for key in REQUIRED]
    return name.endswith(FREE_VARIANT) or all(isinstance(t, str) and not t.strip("0.") and t for t in texts)


def requests() -> list[Request]:
    """One answer holds every model."""
    return [Request(URL)]


SOURCE = Source(
    kind="token_price",
    title="OpenRouter models",
    homepage="https://openrouter.ai/models",
    licence="Public list; its terms were not read, so its prices are not passed on.",
    passes_on=False,
    cadence="hourly",
    source_rank=30,
    max_age_days=7,
    parse=parse,
    requests=requests,
    providers=(Provider("openrouter", "OpenRouter", "reseller", homepage="https://openrouter.ai"),),
)
