"""Twenty-four days over a year's end: one source in five fails, nobody runs for a day, a clock goes back.

Every day is fetched over HTTP from six sellers on a local server (`six_sellers.py`), loaded, modelled and
recorded by a clock that is handed in. What is expected is worked out here, from the rule of the prices and
the list of failures alone, by the method in a few lines: each seller votes its price less, at and plus its
deviation, and the index is the mean of the middle third of the votes.
"""

from __future__ import annotations

import random
import shutil
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import duckdb
import pytest
from faults.few_seeds import MILLION_TOKENS_PER_GPU_HOUR, few_seeds
from faults.six_sellers import CHIP, KEYS, RULE, Sellers, cents
from price_world import _needed

from pipelines import ingest, publish, run
from pipelines.home import Home
from pipelines.http import Fetcher, FetchError, Limits
from pipelines.snapshots import SnapshotStore
from pipelines.warehouse import Warehouse

FIRST, DAYS = date(2027, 12, 15), 24
NOBODY_RAN = 8  # 23 December: the scheduler is down
PUBLISHED_ON = (0, 7, 16)  # the first day, that before the gap, and the last of the year
CLOCK_WENT_BACK = 12  # 27 December: at the first try to record it
FEWEST, CARRIED_DAYS = 5, 3
OWN_INDEX = "index:tokenyield:on_demand:specialist"
# As `Handler` names them; an empty list is stored, and refused when it is read.
WAYS_TO_FAIL = ("broken", "silent", "page_called_json", "cut_short", "busy_for_an_hour", "empty_list")
IMPATIENT = Limits(
    read_seconds=0.3, total_seconds=5, attempts=2, min_interval_seconds=0, backoff_seconds=0.01
)
# What the index, the record and the checks of `sql/checks/` read; at the end what is asked besides.
DAILY = (
    "mart.rental_index_daily", "mart.cost_per_million_tokens_daily", "mart.price_series", "mart.headline",
    "core.correction_outcome", "mart.benchmark_disclosure",
)  # fmt: skip
AT_THE_END = (
    *DAILY, "mart.rental_index_vote", "mart.price_coverage", "mart.recorded_yield", "mart.missed_record",
    "mart.drift", "mart.source_health", "mart.cheapest_at_speed", "mart.yield_change", "mart.alert",
)  # fmt: skip


def failures() -> dict[int, dict[str, str]]:
    """Who fails on which day, and how: one in five by the throw of a fixed seed; nobody on the first day."""
    dice, ways = random.Random(24), 0
    failing: dict[int, dict[str, str]] = {0: {}}
    for day in range(1, DAYS):
        failing[day] = {}
        for seller in RULE:
            if dice.random() < 0.2:
                failing[day][seller] = WAYS_TO_FAIL[ways % len(WAYS_TO_FAIL)]
                ways += 1
    return failing


FAILING = failures()


def on(day: int) -> date:
    return FIRST + timedelta(days=day)


def at(day: int, *clock: int) -> datetime:
    return datetime.combine(on(day), time(*clock), UTC)


# What is expected


def seen(seller: str) -> list[int]:
    """The days on which a seller gave its prices."""
    return [day for day in range(DAYS) if day != NOBODY_RAN and seller not in FAILING[day]]


def vote(seller: str, day: int) -> tuple[float, float, int] | None:
    """Price, deviation and age in days of a seller's vote on a day; None: it has none any more."""
    days = [found for found in seen(seller) if found <= day]
    if not days or day - days[-1] > CARRIED_DAYS:
        return None
    price = cents(seller, days[-1]) / 100
    before = [cents(seller, found) / 100 for found in days[:-1]]
    own = statistics.stdev(before) if len(before) >= 10 else 0.0
    return price, max(own, 0.03 * price), day - days[-1]


def expected_index(day: int) -> tuple[float | None, int]:
    """The index of a day, which is None below the minimum, and the number of fresh votes."""
    votes = [found for seller in RULE if (found := vote(seller, day))]
    fresh = sum(age == 0 for _, _, age in votes)
    if fresh < FEWEST:
        return None, fresh
    cast = sorted(price + side * sd for price, sd, _ in votes for side in (-1, 0, 1))
    return statistics.fmean(cast[len(votes) : 2 * len(votes)]), fresh


INDEX = [expected_index(day) for day in range(DAYS)]


def expected_price(day: int) -> tuple[float, int]:
    """The price that stands on a day, the newest index, and its age in days."""
    newest = max(found for found in range(day + 1) if INDEX[found][0] is not None)
    return INDEX[newest][0], day - newest


# The days


MODELS_OF_A_DAY, MODELS_AT_THE_END = _needed([*DAILY]), _needed([*AT_THE_END])


def fetch(home: Home, sellers: Sellers, day: int) -> int:
    """Ask all sellers at six in the morning; returns how many answers were lost."""
    sellers.day, sellers.failing = day, FAILING[day]
    store, lost = SnapshotStore(home.snapshots), 0
    with Fetcher(IMPATIENT, loopback_http=True) as fetcher:
        for source in sellers.sources():
            for found in ingest.fetch(source, store, fetcher, lambda: at(day, 6)):
                lost += isinstance(found, FetchError)
    return lost


def live(home: Home, sellers: Sellers, day: int) -> str:
    """One whole day; returns what became of its record."""
    fetch(home, sellers, day)
    run.load(home, now=at(day, 23, 27))
    run.build(home)
    if day == CLOCK_WENT_BACK:
        sidecar, said = run.record(home, at(day, 4))
        assert sidecar is None
        assert said.startswith("nothing written: the build is as of 23:27:00, the clock says 04:00:00 UTC")
    said = run.record(home, at(day, 23, 52))[1]
    run.catch_up(home, at(day, 23, 53))
    if day in PUBLISHED_ON:
        run.publish(home)
    return said


def readers_see(home: Home) -> list[tuple[Any, ...]]:
    """The index of the chip in the published copy: date, value, reason."""
    with duckdb.connect(str(home.current_database), read_only=True) as connection:
        return connection.execute(
            "select date, cast(usd_per_gpu_hour as double), null_reason from mart.rental_index_daily "
            "where chip_id = ? and price_type = 'on_demand' and segment = 'specialist' order by date",
            [CHIP],
        ).fetchall()


@dataclass(frozen=True)
class Lived:
    """A home after the days and one more night. seen: what readers saw in its copy after some of the days."""

    home: Home
    seen: dict[int, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """The days, lived; its models are those of the end from here on."""
    folder = tmp_path_factory.mktemp("days")
    home = Home(folder / "home")
    with pytest.MonkeyPatch.context() as patched, Sellers() as sellers:
        patched.setattr(run, "SEEDS", few_seeds(folder / "seeds", "2027-12-01"))
        patched.setattr(run, "macros", lambda: ())
        for key in KEYS:
            patched.setenv(key, "made-up")
        patched.setattr(run, "models", lambda: MODELS_OF_A_DAY)
        seen = {}
        for day in range(DAYS):
            if day != NOBODY_RAN:
                assert live(home, sellers, day) == f"{on(day)} written"
            if day in (*PUBLISHED_ON, NOBODY_RAN):
                seen[day] = readers_see(home)
        patched.setattr(run, "models", lambda: MODELS_AT_THE_END)
        run.load(home, now=at(DAYS, 0, 27))
        run.build(home)
        run.publish(home)
        yield Lived(home, seen)


@pytest.fixture
def lived(history: Lived) -> Home:
    return history.home


def ask(home: Home, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with Warehouse(home.warehouse).read() as connection:
        return connection.execute(query, list(values)).fetchall()


@pytest.mark.slow
def test_the_index_stands_where_enough_sellers_answered_and_says_why_where_not(lived, report):
    found = ask(
        lived,
        "select date, cast(usd_per_gpu_hour as double), provider_count, null_reason "
        "from mart.rental_index_daily where chip_id = ? and price_type = 'on_demand' "
        "and segment = 'specialist' and date <= ? order by date",
        CHIP, on(DAYS - 1),
    )  # fmt: skip
    expected = [
        (
            on(day),
            None if usd is None else pytest.approx(usd, abs=2e-6),
            fresh,
            "too_few_providers" if usd is None else None,
        )
        for day, (usd, fresh) in enumerate(INDEX)
    ]
    assert found == expected
    without = [day for day, (usd, _) in enumerate(INDEX) if usd is None]
    assert NOBODY_RAN in without
    assert 4 < len(without) < 16  # both kinds of days are there
    report(
        "of six sources one in five fails, each day anew, in six ways",
        "for 24 days a local server gives 500, silence, a page called JSON, a cut body, 429, an empty list",
        f"the index on {DAYS - len(without)} days, each as worked out by hand; on {len(without)} none, and "
        "`too_few_providers`",
        {on(day) for day in range(DAYS)} - {row[0] for row in found},
    )


@pytest.mark.slow
def test_readers_see_each_published_day_and_the_last_one_until_the_next(history, report):
    for day, found in history.seen.items():
        last = NOBODY_RAN - 1 if day == NOBODY_RAN else day
        assert found == [
            (
                on(number),
                None if usd is None else pytest.approx(usd, abs=2e-6),
                "too_few_providers" if usd is None else None,
            )
            for number, (usd, _) in enumerate(INDEX[: last + 1])
        ]
    final = {row[0] for row in readers_see(history.home)}
    lost = {row[0] for found in history.seen.values() for row in found} - final
    assert lost == set()
    report(
        "sources fail and a day passes without a run, between two publications",
        "one source in five fails; a copy on the first day, before the gap and on the last day of the year",
        "readers see every day up to the newest publication; in the gap that is the one of the day before",
        lost,
    )


@pytest.mark.slow
def test_every_vote_that_is_carried_and_every_price_that_is_old_says_so(lived, report):
    found = ask(
        lived,
        "select date, provider_id, status, age_days, usd_per_gpu_hour from mart.rental_index_vote "
        "where chip_id = ? and price_type = 'on_demand' and date <= ? order by date, provider_id",
        CHIP, on(DAYS - 1),
    )  # fmt: skip
    expected = [
        (on(day), seller, "carried" if cast[2] else "counted", cast[2], pytest.approx(cast[0]))
        for day in range(DAYS)
        for seller in sorted(RULE)
        if (cast := vote(seller, day))
    ]
    assert found == expected
    assert {row[3] for row in found} >= {0, 1, 2}

    covered = ask(
        lived,
        "select date, status, cast(usd_per_gpu_hour as double), price_age_days from mart.price_coverage "
        "where chip_id = ? and price_series_id = ? and date between ? and ? order by date",
        CHIP, OWN_INDEX, FIRST, on(DAYS - 1),
    )  # fmt: skip
    prices = [expected_price(day) for day in range(DAYS)]
    assert covered == [
        (on(day), "priced", pytest.approx(usd, abs=2e-6), age) for day, (usd, age) in enumerate(prices)
    ]
    old = sum(age > 0 for _, age in prices)
    assert old
    report(
        "a source gives nothing for some days",
        "of six sources one in five fails, each day anew, for 24 days",
        f"{sum(row[2] == 'carried' for row in found)} votes marked `carried` with their age, none older than "
        f"three days; {old} days priced by an older index, with its age",
        {row[:2] for row in expected} - {row[:2] for row in found},
    )


@pytest.mark.slow
def test_every_day_is_recorded_or_told_as_late(lived, report):
    records = SnapshotStore(lived.snapshots).sidecars("record")
    assert [record.slice for record in records] == [f"{on(day)}" for day in range(DAYS)]
    assert ask(lived, "select date, status, recorded_at from mart.missed_record") == [
        (on(NOBODY_RAN), "recorded_late", at(NOBODY_RAN + 1, 23, 53))
    ]
    found = ask(
        lived,
        "select date, recorded_late, usd_per_million_tokens from mart.recorded_yield "
        "where chip_id = ? and price_series_id = ? and speed_tier = 'max_throughput' order by date",
        CHIP, OWN_INDEX,
    )  # fmt: skip
    assert found == [
        (
            on(day),
            day == NOBODY_RAN,
            pytest.approx(expected_price(day)[0] / MILLION_TOKENS_PER_GPU_HOUR, abs=1e-5),
        )
        for day in range(DAYS)
    ]
    told = "the day is recorded late, from what was stored by its end, and stands in `mart.missed_record`"
    lost = {on(day) for day in range(DAYS)} - {row[0] for row in found}
    report("the scheduler is down for a day", "no step runs on 23 December", told, lost)
    report(
        "the clock goes back between build and record",
        "a build as of 23:27, a record at 04:00 of the same day",
        "nothing is written and the reason told; the next try writes it; a year's end is a day like others",
        lost,
    )


@pytest.mark.slow
def test_the_snapshots_alone_give_it_all_again(lived, tmp_path, report):
    again = Home(tmp_path / "again")
    shutil.copytree(lived.snapshots, again.snapshots)
    run.load(again, now=at(DAYS, 0, 27))
    run.build(again)

    def fingerprints(home: Home) -> dict[str, Any]:
        with Warehouse(home.warehouse).read() as connection:
            return {
                name: connection.execute(publish.fingerprint_query(connection, name)).fetchone()
                for name in run.models()
            }

    before, after = fingerprints(lived), fingerprints(again)
    assert before == after
    assert before["mart.recorded_yield"][0] > DAYS
    # Derived anew from everything that is known by now, each day still comes out as it was recorded.
    assert ask(again, "select date, chip_id, cause from mart.drift") == []
    report(
        "the warehouse and every published version are gone",
        "24 days of snapshots are loaded into an empty home",
        "every table and every recorded yield as before, by fingerprint; no record has drifted",
        [name for name in before if before[name] != after[name]],
    )
