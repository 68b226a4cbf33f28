"""Google Cloud's machine prices as Cyclenerd publishes them weekly: one YAML file, whole instances.

Traps: the file holds a machine's price even where the machine cannot be rented; `month` repeats `hour`;
`compute.license` repeats machine types with the prices of operating systems; two files of one day differ.
The time of a row is the file's own `about.timestamp`.
Does not belong here: whether a price is plausible (2024-08-17 09:44 UTC lacks the GPUs of a3-megagpu-8g
in 31 regions), and which GPU a machine type carries (that is a chip alias).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_yaml, text
from pipelines.outcomes import check_clock, only_part
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

URL = "https://raw.githubusercontent.com/Cyclenerd/google-cloud-pricing-cost-calculator/master/pricing.yml"
KIND = "rental_quote"
ONE_FILE = "the price list is one file"

# The calculator's month has 730 hours: `month` is `hour` x 730 for every GPU machine, in files from
# 2022 to 2026. (It is less for the likes of n1, which have sustained-use discounts and no GPU.)
HOURS_PER_MONTH = 730
CANDIDATE_PRICES: dict[str, dict[str, Any]] = {
    "hour": {"price_type": "on_demand", "price_unit": "instance_hour"},
    "hour_spot": {"price_type": "spot", "price_unit": "instance_hour"},
    "month_1y": {
        "price_type": "reserved",
        "commitment_months": 12,
        "price_unit": "instance_month",
        "term_hours": HOURS_PER_MONTH,
    },
    "month_3y": {
        "price_type": "reserved",
        "commitment_months": 36,
        "price_unit": "instance_month",
        "term_hours": HOURS_PER_MONTH,
    },
}
REPEATED_PRICES = {"month", "month_spot"}

# Google's own number of GPUs, in the machine type's name; the file did not always state it.
GPUS_OF_MACHINE_TYPE = {
    "a2-highgpu-1g": 1,
    "a2-highgpu-2g": 2,
    "a2-highgpu-4g": 4,
    "a2-highgpu-8g": 8,
    "a2-megagpu-16g": 16,
    "a2-ultragpu-1g": 1,
    "a2-ultragpu-2g": 2,
    "a2-ultragpu-4g": 4,
    "a2-ultragpu-8g": 8,
    "a3-highgpu-1g": 1,
    "a3-highgpu-2g": 2,
    "a3-highgpu-4g": 4,
    "a3-highgpu-8g": 8,
    "a3-edgegpu-8g": 8,
    "a3-megagpu-8g": 8,
}
GPU_ATTRIBUTES = {
    "a100", "a100-80gb", "h100", "h100-80gb", "h100-80gb-mega", "h200", "b200", "gb200",
    "l4", "t4", "v100", "p100", "p4", "k80", "rtx6000",
}  # fmt: skip
OTHER_ATTRIBUTES = {"cpu", "ram", "cost", "type", "bandwidth", "tier1", "local", "local-ssd"}
# Families that Google keeps for accelerators. g1-small is a shared CPU core, not one of them.
ACCELERATOR_FAMILY = re.compile(r"(a\d+[a-z]*-|g\d+[a-z]*-standard|ct\d)")

# The file's sections are sorted: one that lacks the last of them was cut.
SECTIONS = ("compute", "region", "storage")
TIMESTAMP = re.compile(r"(?m)\A(?:---\n)?about:\n(?:(?: .*)?\n)*? +timestamp: (\d+)$")
LENGTH_OF_ABOUT = 4096
# The first archived file is of February 2022. The end only tells seconds from milliseconds.
EARLIEST, LATEST = datetime(2022, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return the moment at which the file says it was generated, in UTC.

    Reads only the head of the file. None for the files before September 2022, which had no `about`.
    Raises SourceError when the file has an `about` that states no plausible moment.
    """
    head = text(only_part(parts, ONE_FILE).body)[:LENGTH_OF_ABOUT]
    if not re.match(r"\A(?:---\n)?about:\n", head):
        return None
    match = TIMESTAMP.match(head)
    return _moment(int(match.group(1)) if match else None)


def _moment(timestamp: Any) -> datetime:
    if isinstance(timestamp, bool) or not isinstance(timestamp, int):
        raise SourceError(f"about.timestamp is {timestamp!r}: the file does not say when it was generated")
    if not EARLIEST.timestamp() <= timestamp < LATEST.timestamp():
        raise SourceError(f"about.timestamp is {timestamp}: no time in Unix seconds since 2022")
    return datetime.fromtimestamp(timestamp, UTC)


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per machine type without a GPU, and one per GPU machine, region and price.

    Prices are US dollars for the whole instance, per hour or per month of 730 hours. Raises SourceError
    when the file is cut, states no time of its own, or holds no GPU machine.
    """
    generated, machines = _document(snapshot)
    if not any(_may_have_gpus(name, machine) for name, machine in machines.items()):
        raise SourceError(f"none of {len(machines)} machine types has a GPU: the file has changed")
    for name, machine in machines.items():
        yield from _machine(generated, name, machine)


def _document(snapshot: Snapshot) -> tuple[datetime, dict[Any, Any]]:
    document = strict_yaml(only_part(snapshot.parts, ONE_FILE).body)
    if not isinstance(document, dict):
        raise SourceError("not a mapping of sections: not the price file")
    missing = [section for section in SECTIONS if not isinstance(document.get(section), dict)]
    if missing:
        raise SourceError(f"sections {missing} are missing: not the price file, or cut short")
    about = document.get("about")
    if about is not None and not isinstance(about, dict):
        raise SourceError("about is no mapping: not the price file")
    # Without an `about` the file proves no time; what its name or a person stated stands.
    generated = snapshot.observed_at if about is None else _moment(about.get("timestamp"))
    check_clock("generated", generated, snapshot)
    machines = document["compute"].get("instance")
    if not isinstance(machines, dict) or not machines:
        raise SourceError("compute.instance holds no machine types")
    return generated, machines


def _may_have_gpus(name: Any, machine: Any) -> bool:
    attributes = set(machine) if isinstance(machine, dict) else set()
    return (
        bool(attributes & GPU_ATTRIBUTES)
        or name in GPUS_OF_MACHINE_TYPE
        or bool(ACCELERATOR_FAMILY.match(str(name)))
    )


def _machine(generated: datetime, name: Any, machine: Any) -> Iterator[Outcome]:
    locator = str(name)
    if not isinstance(machine, dict):
        yield Rejected(KIND, "wrong_type", locator, "compute.instance", machine)
        return
    if not _may_have_gpus(name, machine):
        unknown = sorted(str(key) for key in machine.keys() - OTHER_ATTRIBUTES)
        if unknown:
            # It may be the count of a GPU that this file does not know yet.
            yield Rejected(KIND, "unknown_machine_attribute", locator, "attribute", unknown[0])
        else:
            yield NotApplicable(KIND, "no_gpu", locator)
        return
    regions = machine.get("cost")
    if regions is None:
        yield NotApplicable(KIND, "machine_without_prices", locator)
    elif not isinstance(regions, dict):
        yield Rejected(KIND, "wrong_type", locator, "cost", regions)
    else:
        for region, prices in regions.items():
            yield from _region(generated, name, machine, region, prices)


def _region(
    generated: datetime, name: Any, machine: dict[Any, Any], region: Any, prices: Any
) -> Iterator[Outcome]:
    locator = f"{name} {region}"
    if not isinstance(prices, dict):
        yield Rejected(KIND, "wrong_type", locator, "cost", prices)
        return
    for key in CANDIDATE_PRICES:
        if key in prices:
            yield _quote(generated, name, machine, region, key, prices[key])
        else:
            yield NotApplicable(KIND, "price_type_not_offered", f"{locator} {key}")
    for key, value in prices.items():
        if key not in CANDIDATE_PRICES and key not in REPEATED_PRICES:
            yield Rejected(KIND, "unknown_price_key", locator, str(key), value)


def _quote(
    generated: datetime, name: Any, machine: dict[Any, Any], region: Any, key: str, value: Any
) -> Outcome:
    locator = f"{name} {region} {key}"
    try:
        row = {
            "provider": "gcp",
            "offer_key": name,
            "raw_gpu_name": name,
            "gpu_count": _gpu_count(name, machine),
            "price": amount("price", value),
            "currency": "USD",
            **CANDIDATE_PRICES[key],
            "region": region,
            "availability": "listed",
            "listing_kind": "bundle",
            "observed_at": generated,
        }
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    return Accepted(KIND, row, locator)


def _gpu_count(name: str, machine: dict[Any, Any]) -> Decimal | None:
    """Return the GPUs of the instance: as stated, else as Google's name says, else None (unknown).

    Raises ContractError when the count is part of a GPU or when two counts differ: divided by a wrong
    one, a price looks like a bargain.
    """
    found = {key: amount(key, machine[key]) for key in sorted(machine.keys() & GPU_ATTRIBUTES)}
    if name in GPUS_OF_MACHINE_TYPE:
        found["machine_type"] = Decimal(GPUS_OF_MACHINE_TYPE[name])
    for key, count in found.items():
        if count != count.to_integral_value():
            raise ContractError("fractional", key, count)
    if len(set(found.values())) > 1:
        raise ContractError("contradictory_gpu_counts", "gpu_count", {k: str(v) for k, v in found.items()})
    return next(iter(found.values()), None)


def requests() -> list[Request]:
    """Ask for the newest file; older ones are in the repository's history."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Google Cloud machine prices by Cyclenerd",
    homepage="https://github.com/Cyclenerd/google-cloud-pricing-cost-calculator",
    licence="Apache-2.0 (stated in the file); copyright Nils Knieling.",
    passes_on=True,
    cadence="weekly",
    source_rank=10,
    max_age_days=14,
    parse=parse,
    requests=requests,
    observed_at=observed_at,
)
