"""Lambda's instance types: one price per type, in US cents for the whole instance, the same in every region.

Traps: cents, not dollars, and per instance, not per GPU; the number of GPUs stands in `specs` and again in
the type's name, and both must agree; a type without a GPU is listed too; regions tell stock, not price.
Does not belong here: which GPU a type carries (that is a chip alias), and 1-Click clusters, which the API
does not price.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import at, offered, only_part, plain_number, present, scaling
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

URL = "https://cloud.lambda.ai/api/v1/instance-types"
KEY_VARIABLE = "LAMBDA_API_KEY"
KIND = "rental_quote"

CENTS_PER_DOLLAR = 100
PRICE_KEY = "price_cents_per_hour"
PRICE_LIKE = re.compile(r"price|cost|cents|usd", re.IGNORECASE)
COUNT_IN_NAME = re.compile(r"(?:gpu|cpu)_(\d+)x_")
# No instance of any number of GPUs costs that much an hour: the unit has changed.
IMPLAUSIBLE_CENTS = 1_000_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per instance type, and one per price-like key that is not known.

    Prices are US dollars per instance and hour. Raises SourceError when the payload is not the map of
    instance types, or when none of them has a GPU.
    """
    types = _types(snapshot)
    outcomes = [outcome for name, entry in types.items() for outcome in _outcomes(snapshot, name, entry)]
    if all(isinstance(outcome, NotApplicable) and outcome.reason == "no_gpu" for outcome in outcomes):
        raise SourceError(f"none of {len(types)} instance types has a GPU: the list has changed")
    yield from scaling(outcomes, _product)


def _product(found: Accepted) -> str | None:
    """Return the type's name without its count; None where the count is not known."""
    row = found.row
    return None if row["gpu_count"] is None else COUNT_IN_NAME.sub("", row["offer_key"])


def _types(snapshot: Snapshot) -> dict[str, Any]:
    document = strict_json(only_part(snapshot.parts, "the list is one answer").body)
    types = at(document, "data")
    if not isinstance(types, dict) or not types:
        raise SourceError("no map called 'data': not the instance types")
    return types


def _outcomes(snapshot: Snapshot, name: str, entry: Any) -> Iterator[Outcome]:
    described = at(entry, "instance_type")
    if not isinstance(described, dict):
        yield Rejected(KIND, "wrong_type", name, "instance_type", described)
        return
    for key in (*entry, *described):
        if PRICE_LIKE.search(key) and key != PRICE_KEY:
            yield Rejected(KIND, "unknown_price_key", name, key, entry.get(key, described.get(key)))
    try:
        yield _quote(snapshot, name, entry, described)
    except ContractError as error:
        yield Rejected(KIND, error.reason, name, error.field, error.value)


def _quote(snapshot: Snapshot, name: str, entry: dict[str, Any], described: dict[str, Any]) -> Outcome:
    if described.get("name") != name:
        raise ContractError("name_contradicts_key", "name", described.get("name"))
    count = _gpu_count(name, described)
    if count == 0:
        return NotApplicable(KIND, "no_gpu", name)
    cents = offered(PRICE_KEY, present(PRICE_KEY, described), IMPLAUSIBLE_CENTS)
    if cents is None:
        return NotApplicable(KIND, "not_offered", name)
    regions = entry.get("regions_with_capacity_available")
    if not isinstance(regions, list):
        raise ContractError("wrong_type", "regions_with_capacity_available", regions)
    row = {
        "provider": "lambda",
        "offer_key": name,
        "raw_gpu_name": name,
        "product_name": described.get("description"),
        "gpu_count": count,
        "price": cents / CENTS_PER_DOLLAR,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "availability": "available" if regions else "unavailable",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, row, name)


def _gpu_count(name: str, described: dict[str, Any]) -> Decimal | None:
    """Return the GPUs of the instance as `specs` states them; None where it states none.

    Raises ContractError when the type's name says another number: one of the two is wrong.
    """
    specs = described.get("specs")
    if not isinstance(specs, dict):
        raise ContractError("wrong_type", "specs", specs)
    if name.startswith("cpu_") and not specs.get("gpus"):
        return Decimal(0)
    if specs.get("gpus") is None:
        return None
    count = plain_number("gpus", specs["gpus"])
    if count < 0:
        raise ContractError("not_positive", "gpus", count)
    named = COUNT_IN_NAME.match(name)
    if named and count != int(named.group(1)):
        raise ContractError(
            "contradictory_gpu_counts", "gpus", f"{count}, while the name says {named.group(1)}"
        )
    return count


def requests() -> list[Request]:
    """One answer holds every type."""
    return [Request(URL, headers={"Authorization": f"Bearer {secret(KEY_VARIABLE)}"})]


SOURCE = Source(
    kind="rental",
    title="Lambda instance types",
    homepage="https://lambda.ai/pricing",
    licence="Public list prices behind a free key; no clause against reading them was found on its site.",
    passes_on=True,
    cadence="hourly",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    key_variable=KEY_VARIABLE,
    providers=(Provider("lambda", "Lambda", "neocloud", "specialist", homepage="https://lambda.ai"),),
)
