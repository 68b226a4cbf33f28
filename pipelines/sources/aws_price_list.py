"""AWS's public price list of EC2, one CSV file a region: on-demand Linux machines of one's own; and beside
one of them, for the region that stands for AWS, what the Spot Advisor says that spot saves against it.

Traps: hundreds of rows a machine (reserved terms, Windows, dedicated, capacity reservations at $0, capacity
blocks) stand beside the one that anyone can rent; `EffectiveDate` is the first of the month, whenever the
price changed, so it is not read; some machines carry parts of a GPU.

The advisor states whole percents, means of a month over all zones of a region, and no price: list price less
saving is our figure, marked `list_price_less_saving`, and never votes or stands as a price. It wants both
files at one moment, so they are two parts of a slice of their own, asked for last: an advisor that fails,
hangs or changes its shape costs that slice and never a list, whose missed day is lost for good. The cost is
one list asked for twice a day, so only one region has it; the list's rows count in the slice of the list.
Does not belong here: which GPU a type carries (a chip alias).
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, gunzipped, iso_instant, strict_json
from pipelines.outcomes import at, by, check_clock, present, some_text, whole_number, without_duplicates
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

URL = "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonEC2/current/{}/index.csv"
ADVISOR_URL = "https://spot-bid-advisor.s3.amazonaws.com/spot-advisor-data.json"
KIND = "rental_quote"
REGIONS = (
    "us-east-1", "us-east-2", "us-west-2", "ca-central-1", "eu-west-1", "eu-west-2", "eu-central-1",
    "eu-north-1", "ap-northeast-1", "ap-south-1", "ap-southeast-2", "sa-east-1",
)  # fmt: skip
SPOT_REGION = "us-east-1"

UP_TO_EIGHT: dict[str, int | Decimal] = {
    "xlarge": 1, "2xlarge": 1, "4xlarge": 1, "8xlarge": 1, "12xlarge": 4, "16xlarge": 1,
    "24xlarge": 4, "48xlarge": 8,
}  # fmt: skip
# Accelerators of each type: by family, then size. A fraction is a slice of one GPU.
GPUS_OF_FAMILY: dict[str, dict[str, int | Decimal]] = {
    "p2": {"xlarge": 1, "8xlarge": 8, "16xlarge": 16}, "p3": {"2xlarge": 1, "8xlarge": 4, "16xlarge": 8},
    "p3dn": {"24xlarge": 8}, "p4d": {"24xlarge": 8}, "p4de": {"24xlarge": 8},
    "p5": {"4xlarge": 1, "48xlarge": 8}, "p5e": {"48xlarge": 8}, "p5en": {"48xlarge": 8},
    "p6-b200": {"48xlarge": 8}, "p6-b300": {"48xlarge": 8}, "p6e-gb200": {"36xlarge": 4},
    "g3": {"4xlarge": 1, "8xlarge": 2, "16xlarge": 4},
    "g3s": {"xlarge": 1},
    "g4ad": {"xlarge": 1, "2xlarge": 1, "4xlarge": 1, "8xlarge": 2, "16xlarge": 4},
    "g4dn": {
        "xlarge": 1, "2xlarge": 1, "4xlarge": 1, "8xlarge": 1, "12xlarge": 4, "16xlarge": 1, "metal": 8,
    },
    "g5": UP_TO_EIGHT,
    "g5g": {"xlarge": 1, "2xlarge": 1, "4xlarge": 1, "8xlarge": 1, "16xlarge": 2, "metal": 2},
    "g6": UP_TO_EIGHT,
    "g6e": UP_TO_EIGHT,
    "gr6": {"4xlarge": 1, "8xlarge": 1},
    "g6f": {
        "large": Decimal("0.125"), "xlarge": Decimal("0.125"), "2xlarge": Decimal("0.25"),
        "4xlarge": Decimal("0.5"),
    },
    "gr6f": {"4xlarge": Decimal("0.5")},
    "trn1": {"2xlarge": 1, "32xlarge": 16},
    "trn1n": {"32xlarge": 16},
    "trn2": {"48xlarge": 16},
    "inf1": {"xlarge": 1, "2xlarge": 1, "6xlarge": 4, "24xlarge": 16},
    "inf2": {"xlarge": 1, "8xlarge": 1, "24xlarge": 6, "48xlarge": 12},
    "dl1": {"24xlarge": 8},
    "dl2q": {"24xlarge": 8},
}  # fmt: skip
GPUS_OF_TYPE = {f"{family}.{size}": n for family, row in GPUS_OF_FAMILY.items() for size, n in row.items()}
# Families that AWS keeps for accelerators. F is for FPGAs, VT for video.
GPU_FAMILY = re.compile(r"(u-)?(p\d|gr?\d|trn\d|inf\d|dl\d)")

TYPE, PRICE, STATED_GPUS = "Instance Type", "PricePerUnit", "GPU"
# What a row must say to be a Linux machine that anyone rents by the hour: column, accepted, and by what
# name the other known values are not ours. A value that is in neither is refused by name.
CONDITIONS: tuple[tuple[str, set[str], dict[str, str], str], ...] = (
    ("TermType", {"OnDemand"}, {"Reserved": "reserved_term"}, ""),
    ("Product Family", {"Compute Instance", "Compute Instance (bare metal)"}, {}, "other_product"),
    ("Location Type", {"AWS Region", "AWS Local Zone", "AWS Wavelength Zone"}, {}, "outposts"),
    ("Tenancy", {"Shared"}, {}, "not_shared"),
    ("Operating System", {"Linux"}, {}, "other_operating_system"),
    ("Pre Installed S/W", {"NA", ""}, {}, "preinstalled_software"),
    (
        "CapacityStatus",
        {"Used"},
        {
            "AllocatedCapacityReservation": "capacity_reservation",
            "UnusedCapacityReservation": "capacity_reservation",
            "AllocatedHost": "dedicated_host",
        },
        "",
    ),
    ("MarketOption", {"OnDemand", ""}, {"CapacityBlock": "capacity_block"}, ""),
)
NEEDED = {TYPE, PRICE, "Currency", "Unit", "Region Code", STATED_GPUS, "StartingRange", "EndingRange"}
LENGTH_OF_PREAMBLE = 10
MOST_PER_HOUR = 10_000


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return when a list was published, from its first lines; None with the advisor beside it."""
    listed, advisor = _parts(parts)
    # The advisor carries no date, and the list beside it may have been published weeks before.
    return None if advisor else _opened(listed)[0]


def _parts(parts: tuple[Part, ...]) -> tuple[Part, Part | None]:
    """Return the list and, where there is one, the advisor; raises SourceError for anything else."""
    if len(parts) not in (1, 2):
        raise SourceError(f"{len(parts)} parts, where a list is one file, with or without the advisor's")
    return parts[0], parts[1] if len(parts) == 2 else None


def _opened(part: Part) -> tuple[datetime, list[str], Iterator[list[str]]]:
    """Return when the list was published, its header, and the rows that follow, read one by one."""
    body = gunzipped(part.body)
    if body[:1] in (b"{", b"["):
        raise SourceError(
            f"{part.name}: JSON, and a list is CSV; the Spot Advisor's savings are no prices by themselves "
            "and are read only beside a list that was fetched with them: import a region's index.csv instead"
        )
    lines = io.TextIOWrapper(io.BytesIO(body), "utf-8-sig", newline="")
    rows = csv.reader(lines, strict=True)
    preamble = {}
    try:
        for fields in rows:
            if fields and fields[0] == "SKU":
                break
            if len(fields) != 2 or len(preamble) == LENGTH_OF_PREAMBLE:
                raise SourceError(f"{part.name}: does not begin as a price list: {str(fields)[:80]}")
            preamble[fields[0]] = fields[1]
        else:
            raise SourceError(f"{part.name}: no header: not a price list, or cut short")
    except (csv.Error, UnicodeDecodeError) as error:
        raise SourceError(f"{part.name}: not a CSV file: {error}") from error
    if preamble.get("FormatVersion") != "v1.0" or preamble.get("OfferCode") != "AmazonEC2":
        raise SourceError(f"{part.name}: not version v1.0 of the list of AmazonEC2")
    absent = (NEEDED | {column for column, *_ in CONDITIONS} - {"MarketOption"}) - set(fields)
    if absent or len(set(fields)) < len(fields):
        raise SourceError(f"{part.name}: the header lacks {sorted(absent)} or repeats a name")
    try:
        return iso_instant("Publication Date", preamble.get("Publication Date")), fields, rows
    except ContractError as error:
        raise SourceError(f"{part.name}: {error}") from error


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row of a GPU machine that may be ours, and one per type and reason for the rest;
    with the advisor beside the list, one per saving on a GPU machine in the list's regions, and counts.

    A list holds hundreds of thousands of rows that are no price of ours; their outcomes state how many rows
    they stand for. Prices are in the stated currency for an hour of the machine. Raises SourceError when a
    file is not the list or the advisor's, is cut, comes from the future, or holds no GPU machine.
    """
    listed, advisor = _parts(snapshot.parts)
    candidates, counted = _listed(snapshot, listed)
    quotes = without_duplicates(candidates, by("offer_key", "region", "currency"))
    if advisor is not None:
        row_count = counted.total() + len(candidates)
        yield NotApplicable(KIND, "list_has_a_slice_of_its_own", f"{listed.name}, {row_count} rows")
        yield from _spot(advisor, list(quotes))
        return
    yield from quotes
    for (name, reason), count in sorted(counted.items()):
        yield NotApplicable(KIND, reason, f"{name or 'no instance type'}, {count} rows")


def _listed(snapshot: Snapshot, part: Part) -> tuple[list[Outcome], Counter[tuple[str, str]]]:
    """Return the outcomes of rows that may be ours, and how many rows of each type and reason are not."""
    published, header, rows = _opened(part)
    check_clock("published", published, snapshot)
    counted: Counter[tuple[str, str]] = Counter()
    candidates: list[Outcome] = []
    for line, fields in _whole(part, header, rows):
        if isinstance(fields, str):
            counted[fields, "no_gpu"] += 1
            continue
        row = dict(zip(header, fields, strict=True))
        why = _not_ours(row)
        if isinstance(why, str):
            counted[row[TYPE], why] += 1
        else:
            candidates.append(why or _quote(snapshot, line, row))
    if not any(reason != "no_gpu" for _, reason in counted) and not candidates:
        raise SourceError(f"{part.name}: none of {counted.total()} rows is of a GPU machine")
    return candidates, counted


def _whole(part: Part, header: list[str], rows: Iterator[list[str]]) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the fields of rows of accelerators and the bare type of every other row; loops over all of it."""
    width, at_type, at_gpus = len(header), header.index(TYPE), header.index(STATED_GPUS)
    known: dict[str, bool] = {}
    line = 0
    try:
        for line, fields in enumerate(rows):
            if len(fields) != width:
                raise SourceError(f"{part.name}: row {line} has {len(fields)} fields, the header {width}")
            name = fields[at_type]
            is_gpu = known.get(name)
            if is_gpu is None:
                is_gpu = known[name] = bool(GPU_FAMILY.match(name))
            if is_gpu or fields[at_gpus] not in ("", "NA", "0"):
                yield line, fields
            else:
                yield line, name
    except (csv.Error, UnicodeDecodeError) as error:
        raise SourceError(f"{part.name}: broken after row {line}: {error}") from error


def _not_ours(row: Mapping[str, str]) -> str | Rejected | None:
    for column, ours, named, otherwise in CONDITIONS:
        value = row.get(column, "")
        if value in ours:
            continue
        if why := named.get(value, otherwise):
            return why
        return Rejected(KIND, "unknown_value", f"sku {row['SKU']} {row[TYPE]}", column, value)
    return None


def _quote(snapshot: Snapshot, line: int, row: Mapping[str, str]) -> Outcome:
    where = f"row {line} {row[TYPE]}"
    try:
        if row["Unit"] != "Hrs":
            raise ContractError("unknown_unit", "Unit", row["Unit"])
        if (row["StartingRange"], row["EndingRange"]) != ("0", "Inf"):
            raise ContractError("volume_tier", "StartingRange", row["StartingRange"])
        price = amount(PRICE, row[PRICE])
        if price > MOST_PER_HOUR:
            raise ContractError("out_of_range", PRICE, price)
        count = _gpu_count(row)
    except ContractError as error:
        return Rejected(KIND, error.reason, where, error.field, error.value)
    quote = {
        "provider": "aws",
        "offer_key": row[TYPE],
        "raw_gpu_name": row[TYPE],
        "gpu_count": count,
        "price": price,
        "currency": row["Currency"],
        "price_unit": "instance_hour",
        "price_type": "on_demand",
        "region": row["Region Code"],
        "availability": "listed",
        "listing_kind": "bundle",
        "observed_at": snapshot.observed_at,
    }
    return Accepted(KIND, quote, where)


def _gpu_count(row: Mapping[str, str]) -> int | Decimal | None:
    """By the table, which the list may not contradict; else as the list states; else None (unknown)."""
    known, stated = GPUS_OF_TYPE.get(row[TYPE]), row[STATED_GPUS]
    listed = None if stated in ("", "NA", "0") else amount(STATED_GPUS, stated)
    # Of a machine with part of a GPU the list may say 1.
    if known is not None and listed is not None and known >= 1 and listed != known:
        raise ContractError("contradictory_gpu_counts", STATED_GPUS, f"{listed}, known as {known}")
    return known if known is not None else listed


def _spot(part: Part, quotes: list[Outcome]) -> Iterator[Outcome]:
    """Yield what the advisor's savings make of the list's prices; whole regions and systems are counted."""
    regions, labels = _advice(part)
    listed = {
        (found.row["region"], found.row["offer_key"]): found.row
        for found in quotes
        if isinstance(found, Accepted) and found.row["currency"] == "USD"
    }
    if not regions.keys() & {region for region, _ in listed}:
        raise SourceError(
            f"{part.name}: none of its {len(regions)} regions has a price in the list beside it"
        )
    for region, systems in regions.items():
        if not any(region == priced for priced, _ in listed):
            yield NotApplicable(KIND, "other_region", f"spot {region}")
            continue
        if not isinstance(systems, dict):
            yield Rejected(KIND, "wrong_type", f"spot {region}", "spot_advisor", systems)
            continue
        for system, types in systems.items():
            where = f"spot {region} {system}"
            if not isinstance(types, dict):
                yield Rejected(KIND, "wrong_type", where, system, types)
            elif system != "Linux":
                yield NotApplicable(KIND, "other_operating_system", f"{where}, {len(types)} types")
            else:
                ours = {t for t in types if GPU_FAMILY.match(t) or (region, t) in listed}
                for name in sorted(ours):
                    yield _less_saving(f"{where} {name}", types[name], labels, listed.get((region, name)))
                yield NotApplicable(KIND, "no_gpu", f"{where}, {len(types) - len(ours)} types")


def _advice(part: Part) -> tuple[dict[str, Any], dict[int, str]]:
    """Return the advisor's savings by region, and in words what each bucket of interruptions means."""
    document = strict_json(part.body)
    regions, ranges = at(document, "spot_advisor"), at(document, "ranges")
    if not isinstance(regions, dict) or not regions or not isinstance(ranges, list):
        raise SourceError(f"{part.name}: no regions under 'spot_advisor' or no 'ranges': not its file")
    try:
        pairs = [
            (whole_number("index", at(each, "index")), some_text("label", at(each, "label")))
            for each in ranges
        ]
    except ContractError as error:
        raise SourceError(f"{part.name}: ranges: {error}") from error
    if len(dict(pairs)) < len(pairs):
        raise SourceError(f"{part.name}: ranges: an index stands twice")
    return regions, dict(pairs)


def _less_saving(
    where: str, advice: Any, labels: Mapping[int, str], listed: Mapping[str, Any] | None
) -> Outcome:
    if not isinstance(advice, dict):
        return Rejected(KIND, "wrong_type", where, "advice", advice)
    try:
        # Whole percents: a fraction would be a share, and a hundredfold mistake.
        saving = whole_number("s", present("s", advice))
        bucket = whole_number("r", present("r", advice))
        if not 0 <= saving < 100:
            raise ContractError("out_of_range", "s", saving)
        if bucket not in labels:
            raise ContractError("out_of_range", "r", bucket)
        if listed is None:
            raise ContractError("no_on_demand_price", "s", saving)
    except ContractError as error:
        return Rejected(KIND, error.reason, where, error.field, error.value)
    quote = {
        **listed,
        "price": listed["price"] * (100 - saving) / 100,
        "price_type": "spot",
        "derivation": "list_price_less_saving",
        "note": (
            f"list price less {saving} %, the mean of a month over all zones; "
            f"interruption bucket {bucket}: {labels[bucket]}"
        ),
    }
    return Accepted(KIND, quote, where)


def requests() -> list[Request]:
    """The current list of every region, hundreds of megabytes each; then one again, with the advisor."""
    lists = [Request(URL.format(region), slice=region) for region in REGIONS]
    spot = f"spot-{SPOT_REGION}"
    return [*lists, Request(URL.format(SPOT_REGION), slice=spot), Request(ADVISOR_URL, slice=spot)]


SOURCE = Source(
    kind="rental",
    title="AWS price list of EC2, and spot by the Spot Advisor's savings",
    homepage="https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html",
    licence=(
        "Public price list, stated to be for information only; AWS's terms were not read. The Spot Advisor's "
        "file is public and undocumented."
    ),
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    observed_at=observed_at,
)
