"""What a Source is: who publishes, how to ask, and how its bytes become rows.

Belongs here: the declaration that every file in `sources/` makes, and the accounting that turns what
`parse()` yields into typed rows and refusals. Does not belong here: Dagster, DuckDB, the network
(`http.py`) or the disk (`snapshots.py`). How to add one: CONTRIBUTING.md.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import quote

import polars as pl

from pipelines import sources as sources_package
from pipelines.contracts import ROW_KINDS, ContractError, checked, frame
from pipelines.failure import Failure


class SourceError(Failure):
    """A whole payload cannot be trusted: wrong envelope, truncated, not the document it should be."""


@dataclass(frozen=True)
class Request:
    """One request of a fetch. Requests of one `slice` become the parts of one snapshot, in order."""

    url: str
    slice: str = "all"
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None


@dataclass(frozen=True)
class Part:
    """The bytes of one response or one imported file, as received."""

    name: str
    body: bytes
    url: str | None = None
    status: int | None = None


@dataclass(frozen=True)
class Snapshot:
    """One stored payload: everything that `parse()` may look at.

    `observed_at` is the moment that the payload shows, `recorded_at` the moment that we stored it;
    `context` is what a person stated beside an imported file.
    """

    source: str
    snapshot_id: str
    slice: str
    parts: tuple[Part, ...]
    observed_at: datetime
    recorded_at: datetime
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Accepted:
    """A candidate that became a row of `kind` (checked against its contract by `read`)."""

    kind: str
    row: Mapping[str, Any]
    locator: str = ""


@dataclass(frozen=True)
class Rejected:
    """A candidate that is wrong, with the reason, the offending field and value, and where it stands."""

    kind: str
    reason: str
    locator: str
    field: str = ""
    value: object = None


@dataclass(frozen=True)
class NotApplicable:
    """A candidate that is no price or point of ours: no GPU, a price type that is not offered."""

    kind: str
    reason: str
    locator: str


Outcome = Accepted | Rejected | NotApplicable


@dataclass(frozen=True)
class Provider:
    """Who rents the chips of a source out; seeds/provider.csv overrides a line of the same id.

    provider_class: hyperscaler, neocloud, marketplace, reseller, aggregator or model_developer.
    segment: specialist or hyperscaler; None: never votes in an index.
    reference_region: the region whose prices stand for the provider; None: one price everywhere.
    """

    provider_id: str
    provider_name: str
    provider_class: str
    segment: str | None = None
    reference_region: str | None = None
    homepage: str | None = None


class KeyMissing(Failure):
    """A source wants a key from the environment and it is not there; the message names the variable."""


# Keys that were read here, in the forms in which an answer may repeat them; they leave memory nowhere.
_KEYS: set[str] = set()
# What is shorter is no key, and stands in any text.
SHORTEST_KEY = 8


def secret(variable: str) -> str:
    """Return the value of an environment variable that holds a key; raises KeyMissing when it is unset."""
    value = os.environ.get(variable, "").strip()
    if not value:
        raise KeyMissing(f"{variable} is not set; a free key of the provider goes there")
    if len(value) >= SHORTEST_KEY:
        _KEYS.update(forms_of_a_key(value))
    return value


def forms_of_a_key(key: str) -> set[str]:
    """The texts by which an answer may repeat a key: plain, as JSON writes it, as addresses write it."""
    return {key, json.dumps(key)[1:-1], key.replace("/", "\\/"), quote(key, safe=""), quote(key)}


def repeats_a_key(body: bytes) -> bool:
    """Tell whether bytes from outside hold a key that `secret` returned."""
    return any(key.encode() in body for key in _KEYS)


def without_keys(text: str) -> str:
    """Return a text that may be kept or shown: every key that `secret` returned is `***` in it."""
    for key in sorted(_KEYS, key=len, reverse=True):
        text = text.replace(key, "***")
    return text


@dataclass(frozen=True)
class Source:
    """One publisher of payloads. The slug is the module's name: path is identity.

    kind: `rental`, `benchmark`, `token_price`, `index` or `fx`.
    licence: the licence or the terms, in words; `passes_on` says whether its rows may be published.
    source_rank: smaller wins where two sources state the same provider's price or the same point.
    max_age_days: how long a value may be carried as a price after it was last seen.
    parse: pure; yields one Outcome per candidate; raises SourceError when the payload is not the
        document it should be.
    requests: what a live fetch asks for; None when the source is imported only.
    next_request: the request after this part, for paged sources; None at the end.
    observed_at: the moment that the payload itself proves, or None.
    providers: who stands behind its quotes, where seeds/provider.csv does not say.
    key_variable: environment variable of the key that a live fetch wants; `requests` reads it by `secret`.
    needs_permission: its terms forbid automated collection; it works only when a person states that
        they hold permission, and its rows are never published.
    seen_live: False until a person has watched the live fetch succeed.
    """

    kind: str
    title: str
    homepage: str
    licence: str
    passes_on: bool
    cadence: str
    source_rank: int
    max_age_days: int
    parse: Callable[[Snapshot], Iterable[Outcome]]
    requests: Callable[[], Iterable[Request]] | None = None
    next_request: Callable[[Request, Part], Request | None] | None = None
    observed_at: Callable[[tuple[Part, ...]], datetime | None] | None = None
    providers: tuple[Provider, ...] = ()
    key_variable: str | None = None
    needs_permission: bool = False
    seen_live: bool = False
    slug: str = ""

    @property
    def off_because(self) -> str | None:
        """Why a live fetch is not made, in words; None when nothing stands in its way."""
        if self.requests is None:
            return "imported only"
        if self.needs_permission and self.slug not in permitted():
            return f"its terms forbid it; name it in {PERMISSION_VARIABLE} if you hold permission"
        if self.key_variable and not os.environ.get(self.key_variable, "").strip():
            return f"{self.key_variable} is not set"
        return None


@dataclass(frozen=True)
class Parsed:
    """The typed outcome of one snapshot.

    rows: one frame per row kind in the contract's columns plus `row_number`.
    refused: kind, verdict (`rejected` or `not_applicable`), reason, field, value, locator, row_number.
    """

    rows: dict[str, pl.DataFrame]
    refused: pl.DataFrame

    @property
    def candidates(self) -> int:
        """Accepted + rejected + not applicable."""
        return sum(len(f) for f in self.rows.values()) + len(self.refused)


PERMISSION_VARIABLE = "TOKENYIELD_I_HOLD_PERMISSION_FOR"


def permitted() -> set[str]:
    """The sources for which a person states that they hold the publisher's permission."""
    return {slug.strip() for slug in os.environ.get(PERMISSION_VARIABLE, "").split(",") if slug.strip()}


REFUSED_SCHEMA = {
    "row_number": pl.Int64(),
    "kind": pl.String(),
    "verdict": pl.String(),
    "reason": pl.String(),
    "field": pl.String(),
    "value": pl.String(),
    "locator": pl.String(),
}
# A hostile payload may carry megabytes in one field; the record of a refusal stays readable.
SHOWN_VALUE_LENGTH = 200


def read(source: Source, snapshot: Snapshot) -> Parsed:
    """Parse `snapshot`; every candidate ends as a row or as a refusal, and none disappears.

    Raises SourceError for a payload that is not the source's document. A row that breaks its contract
    is a rejection of that row alone.
    """
    rows: dict[str, list[dict[str, Any]]] = {}
    numbers: dict[str, list[int]] = {}
    refused: list[tuple[Any, ...]] = []
    for number, outcome in enumerate(_accounted(source.parse(snapshot))):
        if isinstance(outcome, Accepted):
            rows.setdefault(outcome.kind, []).append(dict(outcome.row))
            numbers.setdefault(outcome.kind, []).append(number)
        elif isinstance(outcome, Rejected):
            shown = None if outcome.value is None else _shown(outcome.value)
            field, locator = _shown(outcome.field), _shown(outcome.locator)
            refused.append((number, outcome.kind, "rejected", outcome.reason, field, shown, locator))
        else:
            locator = _shown(outcome.locator)
            refused.append((number, outcome.kind, "not_applicable", outcome.reason, "", None, locator))
    frames = {
        kind: frame(ROW_KINDS[kind], found).with_columns(
            pl.Series("row_number", numbers[kind], dtype=pl.Int64())
        )
        for kind, found in rows.items()
    }
    return Parsed(frames, pl.DataFrame(refused, schema=REFUSED_SCHEMA, orient="row", strict=True))


def _shown(value: object) -> str:
    """Text from outside as a table can hold it: short, and a lone surrogate spelled out."""
    return str(value)[:SHOWN_VALUE_LENGTH].encode("utf-8", "backslashreplace").decode()


def _accounted(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    for outcome in outcomes:
        if not isinstance(outcome, Accepted):
            yield outcome
            continue
        try:
            yield replace(outcome, row=checked(ROW_KINDS[outcome.kind], outcome.row))
        except ContractError as error:
            yield Rejected(outcome.kind, error.reason, outcome.locator, error.field, error.value)


@cache
def all_sources() -> dict[str, Source]:
    """Every source by slug, found by importing `sources/`; a module without SOURCE raises TypeError."""
    found = {}
    for module_info in pkgutil.iter_modules(sources_package.__path__):
        module = importlib.import_module(f"{sources_package.__name__}.{module_info.name}")
        source = getattr(module, "SOURCE", None)
        if not isinstance(source, Source):
            raise TypeError(f"{module.__file__}: a source module defines SOURCE = Source(...)")
        found[module_info.name] = replace(source, slug=module_info.name)
    return found
