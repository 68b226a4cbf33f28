"""Nebius' price page in markdown: dollars per GPU and hour of each platform, with the days they hold from.

Traps: a table holds prices "from" and "before" a day, so what holds depends on the day of the look; a tab
in another currency repeats the rows; the dollar sign is escaped; a platform billed apart by vCPU and RAM
prices its GPU as a part only. An announced price carries the day from which it holds.
Does not belong here: which GPU a platform carries (that is a chip alias), and clusters sold by contract.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, text
from pipelines.outcomes import by, only_part, without_duplicates
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

URL = "https://docs.nebius.com/compute/resources/pricing.md"
KIND = "rental_quote"

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
HEADING = re.compile(r"#{1,6}\s+(.+)")
PLATFORM = re.compile(r"\bgpu-[a-z0-9-]+")
TAB = re.compile(r"<Tab\s+title=\"([^\"]*)\"\s*>")
# What every header of a table of prices begins with; one that goes on otherwise is not understood.
ITEM = "**Item"
ITEM_HEADER = re.compile(
    r"\*\*Item(?:\s+[—\u2013-]+\s+(from|before)\s+([A-Z][a-z]+) (\d{1,2}), (\d{4}))?\*\*"
)
COLUMNS_AFTER_ITEM = ["Price", "Per"]
REGION = re.compile(r"`([a-z]+(?:-[a-z]+)*\d+)`")
GPU_HOUR = "1 GPU hour"
# Units of what a platform bills beside its GPU, where it does: its GPU price is then a part.
PART_UNIT = re.compile(r"1 (v?CPU|GiB|GB)( of RAM)? hour")
PREEMPTIBLE = re.compile(r"(?i)preemptible\s+")
OTHER_OFFER = re.compile(r"(?i)reserv|commit|month|year|discount|promo|trial")
MONEY = re.compile(r"(from\s+)?\\?\$(\d+(?:\.\d+)?)")
NOT_OFFERED = {"", "-", "—", "n/a", "contact us", "contact sales"}
MOST_PER_HOUR = 1_000


@dataclass(frozen=True)
class Line:
    """A row of a table, with what stands above it."""

    number: int
    platforms: tuple[str, ...]
    table: int
    region: str | None
    prose: str | None
    tab: str | None
    when: str | None
    day: date | None
    cells: tuple[str, ...]


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row of a table, and per platform where a heading names several.

    Prices are US dollars for a GPU and hour. Raises SourceError when the page is cut, has other columns
    where GPUs are priced, or prices no GPU in dollars.
    """
    lines = list(_lines(text(only_part(snapshot.parts, "the prices are one page").body)))
    parts_billed = {line.table for line in lines if line.platforms and PART_UNIT.fullmatch(line.cells[2])}
    outcomes = [
        outcome for line in lines for outcome in _outcomes(snapshot, line, line.table in parts_billed)
    ]
    if not any(isinstance(outcome, Accepted) for outcome in outcomes):
        raise SourceError(f"none of {len(outcomes)} rows is the price of a GPU: the page has changed")
    yield from without_duplicates(
        outcomes, by("offer_key", "effective_from", "price_type", "region", "listing_kind")
    )


def _lines(page: str) -> Iterator[Line]:
    platforms: tuple[str, ...] = ()
    region = prose = tab = when = day = None
    table = open_tabs = 0
    has_header = False
    for number, raw in enumerate(page.splitlines(), 1):
        line = raw.strip()
        open_tabs += len(re.findall(r"<Tabs?\b", line)) - len(re.findall(r"</Tabs?>", line))
        if found := HEADING.fullmatch(line):
            platforms = tuple(dict.fromkeys(PLATFORM.findall(found.group(1))))
            region = prose = tab = when = day = None
            has_header = False
            table += 1
        elif "available in" in line and platforms:
            regions = set(REGION.findall(line))
            region, prose = (regions.pop() if len(regions) == 1 else None), line
        elif found := TAB.search(line):
            tab, when, day, has_header = found.group(1), None, None, False
        elif re.match(r"<Tab\b", line):
            raise SourceError(f"line {number}: a tab without a title: {line[:80]}")
        elif line.startswith("</Tab>"):
            tab = None
        elif line.startswith("|"):
            cells = _cells(number, line)
            if found := ITEM_HEADER.fullmatch(cells[0]):
                if platforms and [cell.strip("*") for cell in cells[1:]] != COLUMNS_AFTER_ITEM:
                    raise SourceError(f"line {number}: the columns are {cells}, not Item, Price, Per")
                when, day, has_header = found.group(1), _day(number, found), True
            elif platforms and (len(cells) != 3 or not has_header or cells[0].startswith(ITEM)):
                raise SourceError(f"line {number}: not under a header Item, Price, Per: {line[:80]}")
            elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                padded = (*cells, "", "")[: max(3, len(cells))]
                yield Line(number, platforms, table, region, prose, tab, when, day, padded)
    if open_tabs:
        raise SourceError("a tab is open at the end of the page: it was cut")


def _cells(number: int, line: str) -> tuple[str, ...]:
    if not line.endswith("|") or len(line) < 2:
        raise SourceError(f"line {number}: a row of a table that does not end: the page was cut")
    return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", line[1:-1]))


def _day(number: int, found: re.Match[str]) -> date | None:
    _, month, day, year = found.groups()
    if month is None:
        return None
    try:
        return date(int(year), MONTHS.index(month) + 1, int(day))
    except ValueError as error:
        raise SourceError(f"line {number}: {found.group(0)} names no day") from error


def _outcomes(snapshot: Snapshot, line: Line, billed_in_parts: bool) -> Iterator[Outcome]:
    where = f"line {line.number}"
    if not line.platforms:
        yield NotApplicable(KIND, "no_gpu", where)
        return
    for platform in line.platforms:
        try:
            yield _quote(snapshot, where, line, platform, billed_in_parts)
        except ContractError as error:
            yield Rejected(KIND, error.reason, where, error.field, error.value)


def _quote(snapshot: Snapshot, where: str, line: Line, platform: str, billed_in_parts: bool) -> Outcome:
    item, price, unit = line.cells[:3]
    if line.tab not in (None, "USD"):
        # The same rows in the list of another currency; a tab that is no currency is not ours either.
        return NotApplicable(KIND, "other_tab", where)
    if unit != GPU_HOUR:
        if PART_UNIT.fullmatch(unit):
            return NotApplicable(KIND, "part_of_machine", where)
        raise ContractError("unknown_unit", "Per", unit)
    if OTHER_OFFER.search(item) or not item:
        raise ContractError("unknown_offer", "Item", item)
    if price.casefold() in NOT_OFFERED:
        return NotApplicable(KIND, "not_offered", where)
    today = snapshot.observed_at.astimezone(UTC).date()
    if line.when == "before" and line.day and line.day <= today:
        return NotApplicable(KIND, "no_longer_valid", where)
    value, is_floor = _price(price)
    price_type = "spot" if PREEMPTIBLE.match(item) else "on_demand"
    if is_floor and price_type == "spot":
        raise ContractError("floor_of_spot", "Price", price)
    row: dict[str, Any] = {
        "provider": "nebius",
        "offer_key": platform,
        "raw_gpu_name": platform,
        "product_name": item,
        "price": value,
        "currency": "USD",
        "price_unit": "gpu_hour",
        "price_type": "from_floor" if is_floor else price_type,
        "region": line.region,
        "availability": "listed",
        "listing_kind": "component" if billed_in_parts else "bundle",
        "observed_at": snapshot.observed_at,
        "url": URL,
        "note": line.prose,
    }
    if line.when == "from" and line.day:
        row["effective_from"] = datetime(line.day.year, line.day.month, line.day.day, tzinfo=UTC)
        row["date_precision"] = "day"
    return Accepted(KIND, row, where)


def _price(stated: str) -> tuple[Decimal, bool]:
    """Return the dollars and whether they are a floor ("from $x"); raises ContractError for other text."""
    found = MONEY.fullmatch(stated)
    if not found:
        raise ContractError("not_a_number", "Price", stated)
    value = amount("Price", found.group(2))
    if value > MOST_PER_HOUR:
        raise ContractError("out_of_range", "Price", stated)
    return value, found.group(1) is not None


def requests() -> list[Request]:
    """The page is one answer."""
    return [Request(URL)]


SOURCE = Source(
    kind="rental",
    title="Nebius compute prices",
    homepage="https://docs.nebius.com/compute/resources/pricing",
    licence="Public documentation; its terms hold no clause on automation, as read by others in 2026-10.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    requests=requests,
    providers=(Provider("nebius", "Nebius", "neocloud", "specialist", None, "https://nebius.com"),),
)
