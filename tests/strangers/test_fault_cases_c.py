"""What goes wrong in pipelines and with their readers where it is a matter of time: C-05, C-09, C-10, D-01.

Does not belong here: rows that readers change in silence (`test_fault_cases_c_rows.py`), files, processes and
disks (`test_fault_cases_c_files.py`), C-11 (`test_publish.py`, with what it breaks). Time zones of whole
copies: `test_time_zones.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from bench_world import INDEX, SERIES, point
from faults.fault_report import Report
from price_world import Query, published, quote, world

from pipelines import run
from pipelines.home import PROJECT, Home
from pipelines.warehouse import Warehouse

pytestmark = pytest.mark.slow

COSTS = "mart.cost_per_million_tokens"

# C-05: of two prices of one chip and day the latest that was recorded, at every evaluation


@pytest.mark.slow
def test_c05_of_two_prices_of_one_moment_the_latest_recorded_stands_each_time(
    tmp_path: Path, report: Report
) -> None:
    points = [
        point("case-c05", "2026-10-05", result_id=f"r{number}", concurrency=number + 1)
        for number in range(10_000)
    ]
    prices = [
        published(INDEX, "case-c05", usd, "2026-10-01", "2026-10-02", recorded=recorded, source=source)
        for usd, recorded, source in (("2.60", "2026-10-03", "a"), ("2.40", "2026-10-02", "b"))
    ]
    world(tmp_path, [*prices, *points], marts=[COSTS])
    answers = set()
    with Warehouse(Home(tmp_path).warehouse).write() as connection:
        connection.execute("set threads = 8")
        for _ in range(10):
            for name in ("core.price_interval", "core.price_segment", COSTS):
                connection.execute(f"create or replace table {name} as {run.models()[name].sql}")
            answers |= set(
                connection.execute(
                    "select usd_per_gpu_hour, count(*), sum(usd_per_gpu_hour) "
                    f"from {COSTS} where chip_id = 'case-c05' and price_series_id = ? "
                    "and token_kind = 'output' and gpu_scope = 'all' and cost_allocation = 'whole_bill' "
                    "group by all",
                    [SERIES],
                ).fetchall()
            )
    assert [tuple(map(float, answer)) for answer in answers] == [(2.60, 10_000, 26_000)]
    ((_, costs, _),) = answers
    report(
        "two prices of one chip and day",
        "2.40 and 2.60 recorded at different times, 10,000 results joined ten times by eight threads",
        "the latest recorded price, 2.60, each time",
        range(costs, len(points)),
    )


# C-09: days of 23 and 25 hours have one tick and one key like any other

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata")
CHANGES = ("2026-03-08", "2026-03-29", "2026-10-25", "2026-11-01")
TICKS = """
import sys
from datetime import datetime, timedelta
from dagster._utils.schedules import schedule_execution_time_iterator
from pipelines import record
from pipelines.schedules import SCHEDULES

(daily,) = [found for found in SCHEDULES if found.name == "record_schedule"]
for day in sys.argv[1:]:
    start = datetime.fromisoformat(day + "T00:00:00+00:00") - timedelta(days=1)
    ticks = schedule_execution_time_iterator(
        start.timestamp(), daily.cron_schedule, daily.execution_timezone, True
    )
    for _, tick in zip(range(3), ticks):
        local = tick.astimezone()
        print(day, int(tick.timestamp()), record.part(local.astimezone(tick.tzinfo), []).name)
"""


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_c09_a_day_of_23_or_25_hours_has_one_tick_and_one_key(zone: str, report: Report) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TICKS, *CHANGES],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**os.environ, "TZ": zone},
    )
    expected = [
        f"{change} {int((day + timedelta(hours=23, minutes=52)).timestamp())} yields-{day:%Y-%m-%d}.json"
        for change in CHANGES
        for day in (
            datetime.fromisoformat(f"{change}T00:00:00+00:00") + timedelta(days=step) for step in (-1, 0, 1)
        )
    ]
    assert done.stdout.splitlines() == expected, done.stderr
    report(
        "clocks change between summer and winter time",
        f"the schedule of the record over four changes of 2026, on a host in {zone}",
        "one tick and one key a UTC day, at 23:52",
        set(expected) - set(done.stdout.splitlines()),
    )


# C-10: the date of an instant is that of UTC, wherever the machine stands

INSTANTS = {
    "firm0": ("2026-11-29T23:30:00-05:00", date(2026, 11, 30)),
    "firm1": ("2026-11-29T23:30:00+00:00", date(2026, 11, 29)),
    "firm2": ("2026-11-30T00:30:00+01:00", date(2026, 11, 29)),
}
PROGRAM = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
import test_fault_cases_c as here
print(here.priced_days(Path(sys.argv[1])))
"""


def priced_days(root: Path) -> list[tuple[str, date]]:
    rows = [
        quote("case-c10", firm, 2, datetime.fromisoformat(text).astimezone(UTC))
        for firm, (text, _) in INSTANTS.items()
    ]
    ask = world(root, rows, marts=["mart.rental_price_daily"])
    return ask(
        "select provider_id, min(date) from mart.rental_price_daily where chip_id = 'case-c10' "
        "group by provider_id order by provider_id"
    )


def test_c10_the_day_of_a_price_is_that_of_utc_in_kolkata_too(tmp_path: Path, report: Report) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), *map(str, Path(__file__).parents[:2])],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**os.environ, "TZ": "Asia/Kolkata"},
    )
    assert done.stdout.strip() == str([(firm, day) for firm, (_, day) in INSTANTS.items()]), done.stderr
    report(
        "a price is seen near midnight",
        "23:30 in New York, in UTC and half past midnight in Berlin, on a host in Kolkata",
        "the day of each price in UTC",
        [firm for firm in INSTANTS if firm not in done.stdout],
    )


# D-01: price and result as of a date, with their validity


@pytest.fixture(scope="module")
def rents(tmp_path_factory: pytest.TempPathFactory) -> Query:
    """The rents of A-16, and a point of 1,000 output tok/s per GPU: 3.6 million an hour."""
    rows = [
        published("own", "h100-sxm-80", "1.78", "2026-07-01", "2026-07-31"),
        published("own", "h100-sxm-80", "2.00", "2026-07-01", "2026-09-08", revision="correction"),
        published("own", "h100-sxm-80", "2.10", "2026-10-01", "2026-10-02"),
        point("h100-sxm-80", "2026-08-01", result_id="d01"),
    ]
    return world(tmp_path_factory.mktemp("d01"), rows, marts=[COSTS], history=True)


@pytest.mark.parametrize(
    ("day", "asked_at", "usd", "valid_to"),
    [
        ("2026-08-15", "2026-08-20", 1.78, None),
        ("2026-08-15", "2026-09-09", 2.00, None),
        ("2026-08-15", "2026-11-30", 2.00, date(2026, 10, 1)),
        ("2026-10-15", "2026-11-30", 2.10, None),
    ],
)
@pytest.mark.parametrize("flavour", ["as_known", "as_recorded"])
def test_d01_the_cost_of_a_day_as_known_on_another(
    rents: Query, report: Report, flavour: str, day: str, asked_at: str, usd: float, valid_to: date | None
) -> None:
    found = rents(
        "select cast(usd_per_gpu_hour as double), usd_per_million_tokens, valid_to "
        f"from {COSTS}_{flavour}(?::timestamptz) "
        "where price_series_id = 'index:own:reserved:36m' and throughput_tok_s_gpu = 1000 "
        "and token_kind = 'output' and gpu_scope = 'all' and cost_allocation = 'whole_bill' "
        "and valid_from <= ?::date and (valid_to is null or valid_to > ?::date)",
        f"{asked_at} 12:00:00+00",
        day,
        day,
    )
    assert found == [(usd, pytest.approx(usd / 3.6), valid_to)]
    report(
        "a rent is corrected, and asked for as of days before and after",
        "1.78 becomes 2.00 on 8 September; the cost of a day is asked as known and as recorded",
        "the rent of that time with the days on which it holds",
        [usd] if not found else [],
    )
