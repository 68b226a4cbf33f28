"""What was recorded stays, whatever is loaded later: random prices and measurements, mended and withdrawn.

Facts come in random order and in three batches, many of them long after the world could know them. What is
asked as recorded at the end of a batch is what a store that never saw the later ones gives. An archive that
arrives late changes what is asked as known on a past day, and then a record of that day has a drift row.
The quotes of single providers have their own such test in `test_invariants.py`.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from bench_world import INDEX, point, retraction
from price_world import Query, Row, days, machines, moment, published, quote, world

from pipelines import record

CHIPS = ("case-one", "case-two")
DAYS = days(12, "2026-11-24")
BATCHES = tuple(datetime(2026, 11, day, 12, tzinfo=UTC) for day in (20, 24, 28))
AMOUNTS = ("1.78", "2.00", "2.49", "2.60", "3.70")
MARTS = (
    "mart.benchmark_point",
    "mart.cost_per_million_tokens",
    "mart.cost_per_million_tokens_daily",
    "mart.yield_change",
    "mart.cost_change",
    "mart.rental_index_daily",
    "mart.price_coverage",
)
# Each seed is a build of four worlds. Random by seed, so that no example is a small one.
SEEDS = (1, 2, 3)
KINDS = ("point",) * 6 + ("price",) * 5 + ("quote",) * 8 + ("withdrawal",)


def fact(chance: random.Random) -> Row:
    """A measurement, its withdrawal, a published price, one that is mended, or a quote that votes."""
    chip, day = chance.choice(CHIPS), chance.choice(DAYS)
    recorded = chance.choice([end for end in BATCHES if end >= moment(day)])
    kind = chance.choice(KINDS)
    if kind == "withdrawal":
        row = retraction(f"lab/run/{chip}-{chance.choice(DAYS)}", day, "weights uninitialised")
        return replace(row, recorded=recorded)
    if kind == "quote":
        provider = chance.choice(["firm0", "firm1", "firm2", "firm3"])
        return quote(chip, provider, chance.choice(AMOUNTS), day, recorded=recorded)
    on = chance.choice([d for d in DAYS if d <= day])
    if kind == "price":
        revision = chance.choice(["new", "correction"])
        return published(INDEX, chip, chance.choice(AMOUNTS), on, day, recorded=recorded, revision=revision)
    # One key of a result in two statements is one point, the later of them a mended one.
    changes = {
        "output_tok_s": chance.choice([400, 596, 640, 848, 1000]),
        "result_id": f"{chip}-{on}-{chance.choice([1, 2])}",
        "image": chance.choice(["a:1", "a:2"]),
    }
    return point(chip, on, known_at=moment(day), recorded=recorded, **changes)


def asked(query: Query, sources: Iterable[str], condition: str = "true") -> list[list[tuple[Any, ...]]]:
    """All rows of each, in an order of their own."""
    return [sorted(query(f"select * from {source} where {condition}"), key=repr) for source in sources]


def as_recorded(at: datetime) -> list[str]:
    return [f"{mart}_as_recorded('{at.isoformat()}')" for mart in MARTS]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_that_is_loaded_later_changes_what_was_recorded(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = random.Random(seed)
    stored = [fact(chance) for _ in range(150)]

    def build(rows: list[Row], **more: Any) -> Query:
        return world(tmp_path_factory.mktemp("past"), rows, marts=MARTS, **more)

    everything = build(stored, history=True, shuffle=seed)
    for end in BATCHES[:2]:
        then = build([row for row in stored if row.recorded <= end], as_of=end)
        assert asked(everything, as_recorded(end)) == asked(then, MARTS)
    # Not equal because empty: every mart has said something.
    assert all(asked(everything, as_recorded(BATCHES[1]), "true limit 1"))


# A record, and an archive that arrives after it

DAY = date(2026, 11, 24)
KEY = ", ".join(record.KEY[1:])


def records(query: Query, as_of: datetime) -> list[Row]:
    """The record of the day of `as_of`, as rows to be loaded beside other facts."""
    asked_for = record.QUERY.format(daily=record.DAILY, series=record.SERIES)
    found = query(asked_for.replace("$day", f"date '{as_of:%Y-%m-%d}'"))
    day = f"{as_of:%Y-%m-%d}"
    values = [dict(zip(record.COLUMNS, row, strict=True)) for row in found]
    return [Row("recorded_yield", "record", as_of, as_of, value, day) for value in values]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_an_archive_loaded_late_changes_a_known_past_only_with_a_drift_row(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    end, after = BATCHES[1:]
    chance = random.Random(seed)
    at_hand = [row for row in (fact(chance) for _ in range(100)) if row.recorded <= end]
    archive = [replace(fact(chance), source="archive", recorded=after) for _ in range(30)]
    marts = ("mart.cost_per_million_tokens_daily", "mart.drift")
    then = world(tmp_path_factory.mktemp("then"), at_hand, marts=[*marts, "mart.price_series"], as_of=end)
    kept = records(then, end)
    assert kept
    facts = [*at_hand, *kept, *archive]
    now = world(tmp_path_factory.mktemp("now"), facts, marts=marts, as_of=after, history=True, shuffle=seed)
    cost = "usd_per_gpu_hour, throughput_tok_s_gpu, usd_per_million_tokens"
    daily = f"mart.cost_per_million_tokens_daily_as_known('{end.isoformat()}')"
    known = now(f"select {KEY}, {cost} from {daily} where date = ?", DAY)
    width = len(record.KEY) - 1
    known_now = {row[:width]: row[width:] for row in known}
    recorded = {
        tuple(row.values[name] for name in record.KEY[1:]): tuple(
            row.values[name] for name in cost.split(", ")
        )
        for row in kept
    }
    changed = {key for key, value in recorded.items() if known_now.get(key) != value}
    drifted = now(f"select {KEY}, fact_timing from mart.drift where date = ?", DAY)
    assert {row[:-1] for row in drifted} == changed
    assert {row[-1] for row in drifted} <= {"late_data", None}
    assert changed


def test_the_machines_of_a_marketplace_that_came_late_are_late_data(tmp_path: Path) -> None:
    """Five firms voted when the record was written; what a marketplace showed that day was stored later."""
    end, after = BATCHES[1:]
    votes = [quote("case-one", f"firm{n}", f"2.{n}", "2026-11-24") for n in range(5)]
    late = [
        row
        for host in ("h1", "h2", "h3")
        for row in machines("case-one", "market", "1.00", host, 2, at="2026-11-24", recorded=after)
    ]
    facts = [*votes, point("case-one", "2026-11-01")]
    kinds = {"market": ("marketplace", "specialist", None)}
    marts = ("mart.cost_per_million_tokens_daily", "mart.drift", "mart.price_series")
    then = world(tmp_path / "then", facts, kinds, marts=marts, as_of=end)
    now = world(tmp_path / "now", [*facts, *records(then, end), *late], kinds, marts=marts, as_of=after)
    asked_for = "select distinct cause, fact_timing from mart.drift where chip_id = 'case-one'"
    assert now(asked_for) == [("price", "late_data")]
