"""gpuhunt's catalogue of several providers' prices: one zip of one CSV file a provider, second-hand.

Traps: names merge form factors (an instance type says more), machines with part of a GPU count as one or
none, a TPU slice counts as one, Google's calendar-mode prices stand among on-demand ones, and a catalogue
that is no longer collected stays readable. A version, as in 20260818-42, is a day and a run of that day.
Does not belong here: which GPU a name or an instance type is (that is a chip alias).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, text, unzipped
from pipelines.outcomes import CLOCK_TOLERANCE, by, without_duplicates
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
from pipelines.sources.aws_price_list import GPU_FAMILY, GPUS_OF_TYPE
from pipelines.sources.azure_retail import GPU_SIZE, gpus_of_size

URL = "https://dstack-gpu-pricing.s3.eu-west-1.amazonaws.com/v3/{}"
KIND = "rental_quote"

# Asked for live. RunPod's file is left out: RunPod's own terms forbid collecting its prices.
ASKED = ("aws", "azure", "gcp", "oci", "lambdalabs", "nebius", "verda", "cloudrift")
# Where the catalogue calls a provider otherwise than we do.
PROVIDER_IDS = {"lambdalabs": "lambda", "datacrunch": "verda", "vastai": "vast"}
# Providers whose instance types say which GPU they carry, more exactly than gpu_name does.
NAMED_BY_INSTANCE = {"aws", "azure", "gcp", "oci", "lambdalabs", "verda", "datacrunch", "runpod", "nebius"}
# Google attaches any GPU to these machines, so their type says nothing of it.
ANY_GPU = re.compile(r"n1-")
GPU_MACHINES = {"aws": GPU_FAMILY, "azure": GPU_SIZE}
TPU = re.compile(r"(?i)(tpu-?)?v\d+[a-z]*(-\d+)?$")

NEEDED = {"instance_name", "location", "price", "gpu_count", "gpu_name", "gpu_memory", "spot"}
KNOWN_COLUMNS = NEEDED | {
    "cpu", "memory", "disk_size", "gpu_vendor", "flags", "cpu_arch", "provider_data", "provider",
}  # fmt: skip
KEY = ("provider", "offer_key", "raw_gpu_name", "product_name", "gpu_count", "region", "price_type")
PRICE_LIKE = re.compile(r"(?i)price|cost")
PRICE_TYPES = {"True": "spot", "False": "on_demand"}
# Flags of prices that are neither on-demand nor spot.
OTHER_PRICES = {"gcp-dws-calendar-mode": "dws_calendar_mode"}
VERSION = re.compile(r"(\d{8})-\d+")
MOST_PER_HOUR = 10_000
# The catalogue is collected every hour; a version that is days old is no longer looked after.
OLDEST = timedelta(days=3)


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return the day of the version, where the version was stored beside the zip; else None."""
    return _version_day(parts[0]) if len(parts) == 2 else None


def _version_day(part: Part) -> datetime:
    found = VERSION.fullmatch(text(part.body).strip())
    if not found:
        raise SourceError(f"{part.name}: not a version as in 20260818-42")
    try:
        return datetime.strptime(found.group(1), "%Y%m%d").replace(tzinfo=UTC)
    except ValueError as error:
        raise SourceError(f"{part.name}: the version names no day: {error}") from error


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row of the CSV files in the zip.

    Prices are US dollars for an hour of the machine. Raises SourceError when the zip is damaged, holds
    other files, is older than its time, or holds no GPU.
    """
    parts = snapshot.parts
    if len(parts) not in (1, 2):
        raise SourceError(f"{len(parts)} parts, where a catalogue is a version and a zip, or the zip alone")
    if len(parts) == 2:
        day = _version_day(parts[0])
        if not snapshot.observed_at - OLDEST <= day <= snapshot.recorded_at + CLOCK_TOLERANCE:
            raise SourceError(f"version of {day:%Y-%m-%d}, seen at {snapshot.observed_at:%Y-%m-%d}")
    outcomes = [
        outcome
        for provider, line, row in _rows(parts[-1])
        for outcome in _outcomes(snapshot, provider, line, row)
    ]
    if all(isinstance(outcome, NotApplicable) for outcome in outcomes):
        raise SourceError(f"none of {len(outcomes)} rows is a GPU: the catalogue is cut or has changed")
    yield from without_duplicates(outcomes, by(*KEY))


def _rows(part: Part) -> Iterator[tuple[str, int, dict[str, str]]]:
    if not part.body.startswith(b"PK"):
        raise SourceError(f"{part.name}: not a whole zip: it does not start as one")
    for place, body in unzipped(part.name, part.body):
        name = place.removeprefix(f"{part.name}/")
        named = re.fullmatch(r"([a-z0-9_]+)\.csv", name)
        if not named:
            raise SourceError(f"{part.name}: holds {name[:80]!r}, no file of a provider")
        for line, row in _csv(name, body):
            yield named.group(1), line, row


def _csv(name: str, body: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    reader = csv.reader(io.StringIO(text(body), newline=""), strict=True)
    try:
        header = next(reader, [])
        if not set(header) >= NEEDED or len(set(header)) < len(header):
            raise SourceError(f"{name}: the header lacks {sorted(NEEDED - set(header))} or repeats a name")
        for line, fields in enumerate(reader, 2):
            if len(fields) != len(header):
                raise SourceError(f"{name}: row {line} has {len(fields)} fields, not {len(header)}")
            yield line, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise SourceError(f"{name}: not a whole CSV file: {error}") from error


def _outcomes(snapshot: Snapshot, provider: str, line: int, row: Mapping[str, str]) -> Iterator[Outcome]:
    where = f"{provider}.csv row {line}"
    machines = GPU_MACHINES.get(provider)
    if not row["gpu_name"] and not (machines and machines.match(row["instance_name"])):
        if row["gpu_count"] in ("", "0"):
            yield NotApplicable(KIND, "no_gpu", where)
        else:
            yield Rejected(KIND, "missing_value", where, "gpu_name", row["gpu_name"])
        return
    for column in sorted(row.keys() - KNOWN_COLUMNS):
        if PRICE_LIKE.search(column):
            yield Rejected(KIND, "unknown_price_key", where, column, row[column])
    other = next((why for flag, why in OTHER_PRICES.items() if flag in row.get("flags", "")), None)
    if other:
        yield NotApplicable(KIND, other, where)
        return
    try:
        yield Accepted(KIND, _quote(snapshot, provider, row), where)
    except ContractError as error:
        yield Rejected(KIND, error.reason, where, error.field, error.value)


def _quote(snapshot: Snapshot, provider: str, row: Mapping[str, str]) -> dict[str, Any]:
    if row["spot"] not in PRICE_TYPES:
        raise ContractError("unknown_price_type", "spot", row["spot"])
    price = amount("price", row["price"])
    if price > MOST_PER_HOUR:
        raise ContractError("out_of_range", "price", price)
    region, offer = row["location"], row["instance_name"]
    if provider == "gcp":
        # Google's locations are zones; its regions are what its prices hold for.
        region, _, _ = region.rpartition("-")
        offer = f"{offer}/{row['location']}"
    count = _gpu_count(provider, row)
    return {
        "provider": PROVIDER_IDS.get(provider, provider),
        "offer_key": offer,
        "raw_gpu_name": _raw_name(provider, row),
        "product_name": row["gpu_name"],
        "raw_memory_gb": _memory(row, count),
        "gpu_count": count,
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": PRICE_TYPES[row["spot"]],
        "region": region,
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }


def _raw_name(provider: str, row: Mapping[str, str]) -> str:
    machine, name = row["instance_name"], row["gpu_name"]
    if provider not in NAMED_BY_INSTANCE or not machine or ANY_GPU.match(machine) or TPU.match(name):
        return name
    # Nebius writes its platform and the machine's size: gpu-h100-sxm 8gpu-128vcpu-1600gb.
    return machine.split()[0] if provider == "nebius" else machine


def _memory(row: Mapping[str, str], count: Decimal | int | None) -> Decimal | None:
    """Memory of one GPU, as stated; None for TPU slices, where it is the slice's, and where it is blank."""
    stated = row["gpu_memory"]
    return None if stated == "" or count is None else amount("gpu_memory", stated)


def _gpu_count(provider: str, row: Mapping[str, str]) -> Decimal | int | None:
    """The stated count, which may not contradict what the provider says of the machine; None: not known."""
    if TPU.match(row["gpu_name"]):
        return None
    machine, stated = row["instance_name"], row["gpu_count"]
    known = {"aws": GPUS_OF_TYPE.get(machine), "azure": gpus_of_size(machine)}.get(provider)
    if known is not None and (known < 1 or stated == ""):
        return known
    if stated == "":
        return None
    count = amount("gpu_count", stated)
    if known is not None and count != known:
        raise ContractError("contradictory_gpu_counts", "gpu_count", f"{count}, known as {known}")
    return count


def requests() -> list[Request]:
    """The version of every provider's catalogue; the catalogue itself follows it."""
    return [Request(URL.format(f"{provider}/version"), slice=provider) for provider in ASKED]


def next_request(request: Request, part: Part) -> Request | None:
    """The zip of the version that was answered, so that a version and its rows belong together."""
    if not request.url.endswith("/version"):
        return None
    _version_day(part)
    version = text(part.body).strip()
    return Request(URL.format(f"{request.slice}/{version}/catalog.zip"), slice=request.slice)


SOURCE = Source(
    kind="rental",
    title="gpuhunt catalogue",
    homepage="https://github.com/dstackai/gpuhunt",
    licence="Code MPL-2.0; terms of the data are not stated.",
    passes_on=False,
    cadence="hourly",
    source_rank=30,
    max_age_days=7,
    parse=parse,
    requests=requests,
    next_request=next_request,
    observed_at=observed_at,
    providers=(
        Provider("cloudrift", "CloudRift", "marketplace", "specialist", None, "https://www.cloudrift.ai"),
    ),
)
