"""LiteLLM's map of model prices, kept by its community: US dollars per single token, by provider and key.

Traps: some entries held prices per thousand or per million tokens; one model stands under many keys, so an
identity is (provider, key); an absent price is not 0; prices of other tiers hide in suffixes; some are in
Databricks units. The file carries no dates of its own.
Does not belong here: images, audio and embeddings, and prices by time or by call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import by, only_part, plain_number, without_duplicates
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

URL = "https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json"
KIND = "token_price"

TOKENS_PER_PRICE = 1_000_000
TEXT_MODES = ("chat", "completion", "responses")
NO_MODELS = {"sample_spec", "fallback_generalizations"}
TOKEN_KINDS = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_read_input_token_cost": "cached_input",
    "input_cost_per_token_cache_hit": "cached_input",  # older spelling of the same
}
REQUIRED = ("input_cost_per_token", "output_cost_per_token")
OTHER_TIER = re.compile(r"_above_\w+|_(batches|flex|priority)$|^tiered_pricing$")
OTHER_KIND = re.compile(
    r"^cache_creation_|reasoning|audio|image|video|pixel|character|second|minute|page|query|search|request|"
    r"session|call|dbu|file|gb_per_day|credit|citation|computer_use"
)
PRICE_LIKE = re.compile(r"cost|price|pricing|usd", re.IGNORECASE)
# Dollars per token: from 0.0001 to 1,000 dollars per million. Outside, a price was written per thousand or
# per million tokens.
LOWEST, HIGHEST = Decimal("1e-10"), Decimal("1e-3")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per entry that is no text model, and one per price key of each that is.

    Prices are US dollars per million tokens, in force since the map was seen. Raises SourceError when
    the payload is not the map, or none of its entries names a provider and a price.
    """
    entries = _entries(snapshot)
    for name, entry in entries.items():
        # An older and a newer spelling of one price may stand side by side.
        yield from without_duplicates(_outcomes(snapshot, name, entry), by("token_kind"))


def _entries(snapshot: Snapshot) -> dict[str, Any]:
    document = strict_json(only_part(snapshot.parts, "the map is one file").body)
    if not isinstance(document, dict) or not any(
        isinstance(entry, dict) and "litellm_provider" in entry and entry.keys() & TOKEN_KINDS.keys()
        for name, entry in document.items()
        if name not in NO_MODELS
    ):
        raise SourceError("no entry names a provider and a price per token: not the price map")
    return document


def _outcomes(snapshot: Snapshot, name: str, entry: Any) -> Iterator[Outcome]:
    if name in NO_MODELS:
        yield NotApplicable(KIND, "no_model", name)
        return
    if not isinstance(entry, dict):
        yield Rejected(KIND, "wrong_type", name, "entry", entry)
        return
    if entry.get("mode") not in TEXT_MODES:
        yield NotApplicable(KIND, "no_text_model", name)
        return
    for key in REQUIRED:
        if entry.get(key) is None:
            yield NotApplicable(KIND, "price_not_stated", f"{name} {key}")
    for key, value in entry.items():
        locator = f"{name} {key}"
        if key in TOKEN_KINDS:
            if value is not None:
                yield _judged(snapshot, locator, name, key, entry)
            elif key not in REQUIRED:
                yield NotApplicable(KIND, "price_not_stated", locator)
        elif not PRICE_LIKE.search(key):
            continue
        elif OTHER_KIND.search(key):
            yield NotApplicable(KIND, "other_kind_of_price", locator)
        elif OTHER_TIER.search(key):
            yield NotApplicable(KIND, "other_tier", locator)
        else:
            yield Rejected(KIND, "unknown_price_key", locator, key, value)


def _judged(snapshot: Snapshot, locator: str, name: str, key: str, entry: dict[str, Any]) -> Outcome:
    try:
        per_token = plain_number(key, entry[key])
        if per_token == 0:
            if all(entry.get(required) == 0 for required in REQUIRED):
                return NotApplicable(KIND, "free_variant", locator)
            raise ContractError("zero_price", key, entry[key])
        if per_token < 0:
            raise ContractError("not_positive", key, entry[key])
        if not LOWEST <= per_token <= HIGHEST:
            raise ContractError("implausible_magnitude", key, entry[key])
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    row = {
        "provider": entry.get("litellm_provider"),
        "raw_model_name": name,
        "tier": "standard",
        "token_kind": TOKEN_KINDS[key],
        "price": per_token * TOKENS_PER_PRICE,
        "currency": "USD",
        "effective_from": snapshot.observed_at,
    }
    return Accepted(KIND, row, locator)


def requests() -> list[Request]:
    """The newest file; older ones are in the repository's history."""
    return [Request(URL)]


# The providers whose prices are asked for most. Any other shows as an unmapped name until it is added.
PROVIDERS = (
    Provider("openai", "OpenAI", "model_developer", homepage="https://openai.com"),
    Provider("anthropic", "Anthropic", "model_developer", homepage="https://www.anthropic.com"),
    Provider("gemini", "Google Gemini API", "model_developer", homepage="https://ai.google.dev"),
    Provider("mistral", "Mistral AI", "model_developer", homepage="https://mistral.ai"),
    Provider("xai", "xAI", "model_developer", homepage="https://x.ai"),
    Provider("deepseek", "DeepSeek", "model_developer", homepage="https://www.deepseek.com"),
    Provider("deepinfra", "DeepInfra", "reseller", homepage="https://deepinfra.com"),
    Provider("fireworks_ai", "Fireworks AI", "reseller", homepage="https://fireworks.ai"),
    Provider("together_ai", "Together AI", "reseller", homepage="https://www.together.ai"),
    Provider("groq", "Groq", "reseller", homepage="https://groq.com"),
    Provider("openrouter", "OpenRouter", "reseller", homepage="https://openrouter.ai"),
)

SOURCE = Source(
    kind="token_price",
    title="LiteLLM model prices",
    homepage="https://github.com/BerriAI/litellm",
    licence="MIT, as the repository is said to state; its licence file was not read.",
    passes_on=True,
    cadence="daily",
    source_rank=30,
    max_age_days=14,
    parse=parse,
    requests=requests,
    providers=PROVIDERS,
)
