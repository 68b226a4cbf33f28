"""The Computable GPU Index: a price per GPU-hour and chip every fifteen minutes, in files with a digest.

A day's value is its last `ok` observation, and only once the day is over: the value of a running day would
change under its readers. Every value says by which method it was made and how many providers stood behind it.
Traps: the digest is over canonical JSON as JavaScript writes it, not over the bytes; an observation without
a print has no value; the published prices of single providers are not read.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import iso_instant, strict_json
from pipelines.outcomes import by, plain_number, without_duplicates
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

HOST = "https://data.getcomputable.com"
KIND = "rental_index_value"
CHIPS = ("H100", "H200", "B200", "B300")
SERIES = "7d"

ENVELOPE = {"artifact_sha256", "data", "meta", "license"}
DATA_KINDS = ("gpu_index_latest", "gpu_index_observation_day", "gpu_index_series")
INDEX_NAME, SCHEMA_VERSION, UNIT = "Computable GPU Index", 1, "USD/GPU/hour"
GRID_MINUTES = 15
LAST_OF_A_DAY = time(23, 45)
# No GPU costs that much an hour: the unit has changed.
IMPLAUSIBLE_VALUE = 1000


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return the moment at which the newest of the files says it was generated."""
    return max(_instant(_envelope(part)["meta"], "generated_at") for part in parts)


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per observation; the last `ok` one of a finished day is accepted.

    Values are US dollars per GPU and hour. Raises SourceError when a file is not the index's, when its
    digest does not match, or when its meta does not follow from its data.
    """
    candidates: list[tuple[str, Any, datetime | None]] = []
    for part in snapshot.parts:
        for number, observation in enumerate(_observations(part)):
            candidates.append((f"{part.name} observation {number}", observation, _moment(observation)))
    newest = max((moment for _, _, moment in candidates if moment), default=None)
    if newest is None:
        raise SourceError("no observation has a time: not the index")
    last: dict[tuple[Any, date], datetime] = {}
    for _, observation, moment in candidates:
        if moment and observation.get("status") == "ok":
            key = (str(observation.get("sku")), moment.date())
            last[key] = max(moment, last.get(key, moment))
    outcomes = [_judged(*candidate, newest, last) for candidate in candidates]
    yield from without_duplicates(outcomes, by("raw_gpu_name", "value_date"), "value")


def _envelope(part: Part) -> dict[str, Any]:
    """Return the file when it is whole and is what its digest was made of; raises SourceError otherwise."""
    document = strict_json(part.body)
    if not isinstance(document, dict) or document.keys() != ENVELOPE:
        raise SourceError(f"{part.name}: not the four keys of an index file")
    if not all(isinstance(document[key], dict) for key in ("data", "meta", "license")):
        raise SourceError(f"{part.name}: data, meta or license is no object")
    try:
        signed = canonical({key: document[key] for key in ("data", "license", "meta")})
    except RecursionError as error:
        raise SourceError(f"{part.name}: nested too deeply") from error
    found = hashlib.sha256(signed.encode()).hexdigest()
    if found != document["artifact_sha256"]:
        raise SourceError(f"{part.name}: its digest does not match its contents: damaged or altered")
    return document


def canonical(value: Any) -> str:
    """Write JSON as the publisher hashes it: sorted keys, no blanks, numbers as JavaScript prints them.

    Raises SourceError for what has no such form: a number that is no finite double, a key or a text that
    JavaScript would order or escape in another way.
    """
    if isinstance(value, dict):
        if not all(key.isascii() for key in value):
            raise SourceError("a key that is not ASCII: its place in the order is not certain")
        return "{" + ",".join(f"{json.dumps(k)}:{canonical(value[k])}" for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical(each) for each in value) + "]"
    if isinstance(value, str):
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise SourceError("a text with half a character in it")
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return javascript_number(value)


def javascript_number(value: int | Decimal) -> str:
    """Write a number as ECMAScript's Number::toString does: 2 for 2.0, 0.000001 for 1e-06, 1e-7 for 1e-07."""
    try:
        double = float(value)
    except OverflowError:
        double = float("inf")
    if double in (float("inf"), float("-inf")) or double != double:
        raise SourceError(f"a number that JSON does not know: {value}")
    sign, digits, exponent = Decimal(repr(double)).normalize().as_tuple()
    if not double:
        return "0"
    text = "".join(map(str, digits))
    point = len(text) + int(exponent)
    if len(text) <= point <= 21:
        written = text + "0" * (point - len(text))
    elif 0 < point <= 21:
        written = f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        written = f"0.{'0' * -point}{text}"
    else:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        written = f"{text[0]}{fraction}e{point - 1:+d}"
    return f"-{written}" if sign else written


def _observations(part: Part) -> list[Any]:
    document = _envelope(part)
    data, meta = document["data"], document["meta"]
    if data.get("kind") not in DATA_KINDS:
        raise SourceError(f"{part.name}: data.kind is {data.get('kind')!r}: no file of observations")
    observations = data.get("observations")
    if not isinstance(observations, list) or not observations:
        raise SourceError(f"{part.name}: no observations")
    if meta.get("schema_version") != SCHEMA_VERSION or meta.get("index_name") != INDEX_NAME:
        raise SourceError(f"{part.name}: schema {meta.get('schema_version')!r} of {meta.get('index_name')!r}")
    if meta.get("observation_count") != len(observations):
        raise SourceError(
            f"{part.name}: {len(observations)} observations, while meta says {meta.get('observation_count')}"
        )
    moments = [moment for moment in map(_moment, observations) if moment]
    ends = (_instant(meta, "from_observed_at"), _instant(meta, "to_observed_at"))
    if not moments or (min(moments), max(moments)) != ends:
        raise SourceError(f"{part.name}: meta's first and last time are not those of the observations")
    return observations


def _instant(meta: dict[str, Any], key: str) -> datetime:
    try:
        return iso_instant(key, meta.get(key))
    except ContractError as error:
        raise SourceError(f"meta.{key}: {error.reason}") from error


def _moment(observation: Any) -> datetime | None:
    try:
        return iso_instant("observed_at", observation.get("observed_at"))
    except (AttributeError, ContractError):
        return None


def _judged(
    locator: str,
    observation: Any,
    moment: datetime | None,
    newest: datetime,
    last: dict[tuple[Any, date], datetime],
) -> Outcome:
    if not isinstance(observation, dict) or moment is None:
        return Rejected(KIND, "missing_value", locator, "observed_at", observation)
    status, sku = observation.get("status"), observation.get("sku")
    if status == "no_print":
        return NotApplicable(KIND, "no_print", locator)
    if status != "ok":
        return Rejected(KIND, "unknown_status", locator, "status", status)
    if observation.get("unit") != UNIT:
        return Rejected(KIND, "unknown_unit", locator, "unit", observation.get("unit"))
    if moment.minute % GRID_MINUTES or moment.second or moment.microsecond:
        return Rejected(KIND, "not_on_the_grid", locator, "observed_at", observation["observed_at"])
    if newest < datetime.combine(moment.date(), LAST_OF_A_DAY, UTC):
        return NotApplicable(KIND, "day_not_over", locator)
    if moment != last[str(sku), moment.date()]:
        return NotApplicable(KIND, "not_the_last_of_its_day", locator)
    try:
        return Accepted(KIND, _row(observation, moment), locator)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)


def _row(observation: dict[str, Any], moment: datetime) -> dict[str, Any]:
    value = observation.get("value_usd_gpu_hr")
    dollars = plain_number("value_usd_gpu_hr", value)
    if dollars > IMPLAUSIBLE_VALUE:
        raise ContractError("implausible_magnitude", "value_usd_gpu_hr", value)
    if not isinstance(observation.get("sku"), str):
        raise ContractError("wrong_type", "sku", observation.get("sku"))
    return {
        "index_name": "cgi",
        "method_version": observation.get("methodology_id"),
        "raw_gpu_name": observation["sku"],
        "price_type": "on_demand",
        "value_date": moment.date(),
        "date_precision": "day",
        "value": dollars,
        "currency": "USD",
        "provider_count": _provider_count(observation),
        "revision": "new",
        "known_at": iso_instant("generated_at", observation.get("generated_at")),
        "note": f"last print of the day, at {moment:%H:%M} UTC",
    }


def _provider_count(observation: dict[str, Any]) -> int | None:
    """Return the providers behind a value: counted in slim files, listed in full ones."""
    coverage, receipts = observation.get("coverage"), observation.get("receipts")
    if isinstance(coverage, dict):
        return coverage.get("n_passing")
    if isinstance(receipts, list):
        return sum(isinstance(r, dict) and r.get("filter_verdict") == "accepted" for r in receipts)
    return None


def requests() -> list[Request]:
    """Ask for the newest observations, once for each chip: they say where the chip's series is."""
    return [Request(f"{HOST}/latest.json", slice=chip.lower()) for chip in CHIPS]


def next_request(request: Request, part: Part) -> Request | None:
    """From the newest observations to the chip's series of seven days, under its current version."""
    if not request.url.endswith("/latest.json"):
        return None
    versions = _envelope(part)["data"].get("versions")
    for each in versions if isinstance(versions, list) else ():
        if isinstance(each, dict) and str(each.get("sku")).lower() == request.slice:
            number = re.fullmatch(r"v?(\d{1,4})", str(each.get("current_version")))
            if number:
                url = f"{HOST}/{request.slice.upper()}/v{number.group(1)}/series/{SERIES}.json"
                return Request(url, request.slice)
    raise SourceError(f"latest.json names no current version of {request.slice.upper()}")


SOURCE = Source(
    kind="index",
    title="Computable GPU Index",
    homepage="https://github.com/getcomputable/gpu-index",
    licence="Values CC BY-NC 4.0, (c) 2026 Computable: free to view with attribution, not for settlement "
    "or a pricing product.",
    passes_on=False,
    cadence="every 15 minutes; read as a daily value",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    next_request=next_request,
    observed_at=observed_at,
)
