"""SkyPilot's price catalogue, one CSV file a cloud: second-hand prices with years of history.

Traps: Google's rows are parts (a host without its GPU, a GPU without its host); a price that was not
known stands as 0, a GPU count was guessed as 12; spot is per zone; a TPU slice counts as one; Lambda's
types are written into every region. A file's cloud and moment are in its name (aws_vms_2023-03-15T...).
Does not belong here: which GPU a name is (a chip alias); the names merge form factors, so a cloud whose
instance types are exact is named by those.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal

from pipelines.contracts import ContractError
from pipelines.decode import amount, text
from pipelines.outcomes import by, only_part, without_duplicates
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

URL = "https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8/{}/vms.csv"
KIND = "rental_quote"

# cloud of the catalogue: provider, and the column that says which GPU a row is.
CLOUDS: dict[str, tuple[str, str]] = {
    "aws": ("aws", "InstanceType"),
    "azure": ("azure", "InstanceType"),
    "cudo": ("cudo", "AcceleratorName"),
    "do": ("digitalocean", "AcceleratorName"),
    "fluidstack": ("fluidstack", "AcceleratorName"),
    "gcp": ("gcp", "AcceleratorName"),
    "hyperbolic": ("hyperbolic", "AcceleratorName"),
    "ibm": ("ibm", "AcceleratorName"),
    "lambda": ("lambda", "InstanceType"),
    "nebius": ("nebius", "AcceleratorName"),
    "oci": ("oci", "InstanceType"),
    "ovhcloud": ("ovh", "AcceleratorName"),
    "paperspace": ("paperspace", "AcceleratorName"),
    "runpod": ("runpod", "AcceleratorName"),
    "scaleway": ("scaleway", "GpuInfo"),
    "vast": ("vast", "AcceleratorName"),
}
# Asked for live. RunPod and Vast are left out: their own terms forbid collecting their prices.
ASKED = (
    "aws", "azure", "cudo", "do", "fluidstack", "gcp", "hyperbolic", "ibm", "lambda", "nebius", "oci",
    "paperspace",
)  # fmt: skip

NEEDED = ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "SpotPrice", "Region")
KNOWN_COLUMNS = {
    *NEEDED, "vCPUs", "MemoryGiB", "GpuInfo", "AvailabilityZone", "Generation", "HostingType", "Arch",
    "LocalDiskType", "NVMeLocalDisks", "LocalDiskSize",
}  # fmt: skip
PRICE_LIKE = re.compile(r"(?i)price|cost")
CLOUD_IN_NAME = re.compile(r"([a-z]+)_vms")
CLOUD_IN_URL = re.compile(r"/catalogs/v\d+/([a-z]+)/vms\.csv$")
NAME_IN_INFO = re.compile(r"'Name': '([^']+)'")
NO_GPU = re.compile(r"(?i)virtex|alveo|fpga|\bu30\b")
# Machine types that always have a GPU, whatever the row says.
GPU_MACHINES = {"aws": GPU_FAMILY, "azure": GPU_SIZE, "gcp": re.compile(r"a\d+-|g\d+-standard|ct\d")}
# TPU slices: the catalogue counts a slice as one; its chips are not stated.
SLICE = re.compile(r"(?i)tpu-?v")
# Machines are built with these many GPUs; another number was made and not read.
PLAUSIBLE_COUNTS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 32, 64, 72}
MOST_PER_HOUR = 10_000


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per machine without a GPU, and two, on-demand and spot, per row with one.

    Prices are US dollars for an hour of the machine. Raises SourceError when the file is not a file of the
    catalogue, is cut, names no cloud of the catalogue, or holds no GPU.
    """
    part = only_part(snapshot.parts, "a cloud is one file")
    cloud = _cloud(snapshot, part)
    rows, is_whole = _rows(part)
    outcomes = [
        outcome
        for line, row in enumerate(rows, 2)
        for outcome in _outcomes(snapshot, cloud, line, row, is_whole or line < len(rows) + 1)
    ]
    if all(isinstance(outcome, NotApplicable) for outcome in outcomes):
        raise SourceError(f"{part.name}: none of {len(rows)} rows is a GPU: the file is cut or changed")
    key = by("offer_key", "raw_gpu_name", "gpu_count", "region", "price_type")
    yield from without_duplicates(_without_flat_prices(outcomes), key)


def _cloud(snapshot: Snapshot, part: Part) -> str:
    """The cloud that the file is of: in its address, its name, or as a person states; no column says it."""
    named = CLOUD_IN_URL.search(part.url or "") or CLOUD_IN_NAME.match(part.name)
    cloud = str(snapshot.context.get("cloud") or (named.group(1) if named else ""))
    if cloud not in CLOUDS:
        raise SourceError(f"{part.name}: the name begins with no cloud of the catalogue, as in aws_vms_...")
    return cloud


def _rows(part: Part) -> tuple[list[dict[str, str]], bool]:
    """Return the rows, and whether the last of them is certain to be whole."""
    decoded = text(part.body)
    reader = csv.reader(io.StringIO(decoded, newline=""), strict=True)
    try:
        header = next(reader, [])
        absent = [column for column in NEEDED if column not in header]
        if absent or len(set(header)) < len(header):
            raise SourceError(f"{part.name}: the header lacks {absent} or repeats a name")
        rows = []
        for fields in reader:
            if len(fields) != len(header):
                raise SourceError(
                    f"{part.name}: line {reader.line_num} has {len(fields)} fields, not {len(header)}"
                )
            rows.append(dict(zip(header, fields, strict=True)))
    except csv.Error as error:
        raise SourceError(f"{part.name}: not a whole CSV file: {error}") from error
    return rows, decoded.endswith("\n")


def _outcomes(
    snapshot: Snapshot, cloud: str, line: int, row: Mapping[str, str], is_whole: bool
) -> Iterator[Outcome]:
    where = f"line {line}"
    name, machine = row["AcceleratorName"], row["InstanceType"]
    if not name and cloud in GPU_MACHINES and GPU_MACHINES[cloud].match(machine):
        if cloud == "gcp":
            yield NotApplicable(KIND, "host_without_accelerator", f"{where} {machine}")
        else:
            yield Rejected(KIND, "missing_value", f"{where} {machine}", "AcceleratorName", name)
        return
    if not name or NO_GPU.search(name):
        yield NotApplicable(KIND, "no_gpu", where)
        return
    if not is_whole:
        yield Rejected(KIND, "may_be_cut", where, "", "the file does not end with a line end")
        return
    for column in row.keys() - KNOWN_COLUMNS:
        if PRICE_LIKE.search(column):
            yield Rejected(KIND, "unknown_price_key", where, column, row[column])
    yield _quote(snapshot, cloud, where, row, "Price")
    if row["SpotPrice"] == "" or re.fullmatch(r"0+(\.0*)?", row["SpotPrice"]):
        yield NotApplicable(KIND, "not_offered", f"{where} SpotPrice")
    else:
        yield _quote(snapshot, cloud, where, row, "SpotPrice")


def _quote(snapshot: Snapshot, cloud: str, where: str, row: Mapping[str, str], column: str) -> Outcome:
    provider, naming = CLOUDS[cloud]
    machine, name = row["InstanceType"], row["AcceleratorName"]
    where = f"{where} {column}"
    try:
        price = amount(column, row[column])
        if price > MOST_PER_HOUR:
            raise ContractError("out_of_range", column, price)
        count = _gpu_count(cloud, row)
    except ContractError as error:
        return Rejected(KIND, error.reason, where, error.field, error.value)
    offer = machine or f"{name} x {count or row['AcceleratorCount']}"
    zone = row.get("AvailabilityZone")
    quote = {
        "provider": provider,
        # A zone has a spot price of its own and no on-demand one.
        "offer_key": f"{offer}/{zone}" if zone and column == "SpotPrice" else offer,
        "raw_gpu_name": _raw_name(row, naming),
        "product_name": name,
        "gpu_count": count,
        "price": price,
        "currency": "USD",
        "price_unit": "instance_hour",
        "price_type": "on_demand" if column == "Price" else "spot",
        "region": row["Region"],
        "availability": "listed",
        # Without an instance type the row prices the accelerator alone, and its host stands elsewhere.
        # A TPU slice is rented as one thing.
        "listing_kind": "bundle" if machine or SLICE.match(name) else "component",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, quote, where)


def _raw_name(row: Mapping[str, str], naming: str) -> str:
    if naming == "GpuInfo":
        named = NAME_IN_INFO.search(row.get("GpuInfo", ""))
        return named.group(1) if named else row["AcceleratorName"]
    return row[naming] or row["AcceleratorName"]


def _gpu_count(cloud: str, row: Mapping[str, str]) -> Decimal | int | None:
    """The stated count, which may not contradict what the cloud says of that machine; None: not known.

    The catalogue gives machines with part of a GPU a whole one, so there the cloud's fraction stands.
    """
    if SLICE.match(row["AcceleratorName"]):
        return None
    stated = amount("AcceleratorCount", row["AcceleratorCount"])
    known: Decimal | int | None = None
    if cloud == "aws":
        known = GPUS_OF_TYPE.get(row["InstanceType"])
    elif cloud == "azure":
        known = gpus_of_size(row["InstanceType"])
    if known is not None and known < 1:
        return known
    if known is not None and known != stated:
        raise ContractError("contradictory_gpu_counts", "AcceleratorCount", f"{stated}, known as {known}")
    if known is None and stated == stated.to_integral_value() and stated not in PLAUSIBLE_COUNTS:
        raise ContractError("implausible_gpu_count", "AcceleratorCount", stated)
    return stated


def _without_flat_prices(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Refuse N GPUs for the price of one: it was a price per GPU, written on machines of every size."""

    def what(row: Mapping[str, object]) -> tuple[object, ...]:
        return row["product_name"], row["region"], row["price_type"], row["price"]

    accepted = [outcome.row for outcome in outcomes if isinstance(outcome, Accepted)]
    singles = {what(row) for row in accepted if row["gpu_count"] == 1 and row["price"] > 0}
    for outcome in outcomes:
        row = outcome.row if isinstance(outcome, Accepted) else None
        if row and (row["gpu_count"] or 0) > 1 and what(row) in singles:
            yield Rejected(KIND, "price_does_not_scale", outcome.locator, "price", row["price"])
        else:
            yield outcome


def requests() -> list[Request]:
    """One file a cloud; older ones are in the repository's history."""
    return [Request(URL.format(cloud), slice=cloud) for cloud in ASKED]


SOURCE = Source(
    kind="rental",
    title="SkyPilot price catalogue",
    homepage="https://github.com/skypilot-org/skypilot-catalog",
    licence="No licence file in the catalogue (its parent project is Apache-2.0); not to be passed on.",
    passes_on=False,
    cadence="several times a day",
    source_rank=30,
    max_age_days=14,
    parse=parse,
    requests=requests,
    providers=(
        Provider("fluidstack", "FluidStack", "neocloud", "specialist", None, "https://www.fluidstack.io"),
        Provider("paperspace", "Paperspace", "neocloud", "specialist", None, "https://www.paperspace.com"),
        Provider("ibm", "IBM Cloud", "hyperscaler", "hyperscaler", "us-south", "https://www.ibm.com/cloud"),
    ),
)
