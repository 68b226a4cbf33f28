"""The daily record: what was said on a day is kept, what would be said otherwise is drift, a gap is a gap.

Days pass by a clock that is handed in. H200, DeepSeek R1 in FP8: 148.21 output tok/s per GPU, which is
0.533556 million tokens per GPU-hour; the index beside the headline stood at $5.33: a million cost $9.98958.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from price_world import _needed

from pipelines import answers, run, sql_build
from pipelines.home import Home
from pipelines.record import missed
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part
from pipelines.warehouse import Warehouse

H200 = (
    "chip_id = 'h200-sxm-141' and workload_id = 'fixed-8192-1024' and speed_tier = 'max_throughput' "
    "and price_series_id = 'index:savrn_ai_index:on_demand'"
)
MILLION_TOKENS_PER_GPU_HOUR = 148.21 * 3600 / 1e6
ARCHIVE = b"day,gpu,usd\n2026-11-10,h200-sxm-141,5.50\n"
NEEDED = _needed(["mart.drift", "mart.missed_record", "mart.price_series"])
CONTEXT = {
    "index_name": "savrn_ai_index", "price_type": "on_demand", "currency": "USD", "unit": "gpu_hour",
    "columns": {"date": "day", "chip": "gpu", "value": "usd"},
}  # fmt: skip


def noon(day: int) -> datetime:
    return datetime(2026, 11, day, 12, tzinfo=UTC)


def build(home: Home, day: int) -> None:
    """Load at noon of a day in November and make the marts that are asked here."""
    run.load(home, noon(day), now=noon(day))
    with Warehouse(home.warehouse).write() as connection:
        sql_build.build(connection, NEEDED)
        connection.execute("insert into raw.build select as_of from raw.run")


def live(home: Home, day: int) -> str:
    """One whole day: build at noon, record an hour later; returns what became of the record."""
    build(home, day)
    return run.record(home, noon(day) + timedelta(hours=1))[1]


def archive(home: Home, day: int) -> None:
    """A price of 10 November that arrives on `day`."""
    SnapshotStore(home.snapshots).add(
        "index_file",
        (Part("archive.csv", ARCHIVE),),
        observed_at=noon(day) - timedelta(hours=6),
        recorded_at=noon(day) - timedelta(hours=6),
        context=CONTEXT,
    )


def ask(home: Home, query: str) -> list[tuple[Any, ...]]:
    with Warehouse(home.warehouse).read() as connection:
        return connection.execute(query).fetchall()


def copied(home: Home, to: Path) -> Home:
    shutil.copytree(home.root, to)
    return Home(to)


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Records of the 24th, 25th and 27th; nobody ran on the 26th. Built as of the 28th. Only to be read."""
    home = Home(tmp_path_factory.mktemp("week") / "home")
    assert [live(home, day) for day in (24, 25)] == ["2026-11-24 written", "2026-11-25 written"]
    build(home, 27)
    at = noon(27)
    rows = ask(home, "select 1 from mart.recorded_yield where date > date '2026-11-25'")
    assert rows == []
    assert run.record(home, at)[1].endswith("2026-11-27 written")
    build(home, 28)
    return home


@pytest.fixture(scope="module")
def drifted(week: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The same, and an archive that arrived on the 28th. Only to be read."""
    home = copied(week, tmp_path_factory.mktemp("drifted") / "home")
    archive(home, 28)
    build(home, 28)
    return home


def recorded(home: Home) -> list[tuple[Any, ...]]:
    """The H200's yields in the records."""
    columns = "date, usd_per_gpu_hour, throughput_tok_s_gpu, usd_per_million_tokens"
    return ask(home, f"select {columns} from mart.recorded_yield where {H200} order by date")


# What is recorded


def test_a_record_holds_price_throughput_cost_and_what_is_behind_them(week):
    rows = ask(
        week,
        "select date, recorded_late, cast(usd_per_gpu_hour as double), throughput_tok_s_gpu, "
        "usd_per_million_tokens, null_reason, method_version, price_fact_id is not null, cost_id is not null "
        f"from mart.recorded_yield where {H200} order by date",
    )
    days = [date(2026, 11, day) for day in (24, 25, 27)]
    cost = pytest.approx(5.33 / MILLION_TOKENS_PER_GPU_HOUR, rel=1e-12)
    assert [row for row in rows if not row[1]] == [
        (day, False, 5.33, 148.21, cost, None, "headline-v1, price-v1", True, True) for day in days
    ]


def test_every_tier_and_every_price_series_beside_the_headline_is_there(week):
    (found,) = ask(
        week,
        "select count(distinct speed_tier) filter (where speed_tier <> 'max_throughput'), "
        "count(distinct speed_tier) filter (where speed_tier = 'max_throughput'), "
        "count(distinct price_series_id), count(*) filter (where null_reason = 'no_price') "
        "from mart.recorded_yield where date = date '2026-11-24'",
    )
    assert found[0] >= 3
    # The MI325X has no price on the index: that is recorded, too, with its reason.
    assert found[1:3] == (1, 3)
    assert found[3] >= 1


def test_a_day_is_recorded_once_and_the_first_record_stands(week, tmp_path):
    home = copied(week, tmp_path / "home")
    before = sorted(path.name for path in (home.snapshots / "record").iterdir())
    archive(home, 27)
    build(home, 27)
    sidecar, told = run.record(home, noon(27) + timedelta(hours=8))
    assert told.endswith("2026-11-27 stands already")
    assert sorted(path.name for path in (home.snapshots / "record").iterdir()) == before
    assert sidecar.recorded_at == noon(27)


def test_two_records_of_one_day_are_both_kept_and_the_first_stands(week, tmp_path):
    home = copied(week, tmp_path / "home")
    store = SnapshotStore(home.snapshots)
    first = next(s for s in store.sidecars("record") if s.slice == "2026-11-24")
    document = json.loads(store.load(first).parts[0].body)
    later = first.observed_at + timedelta(hours=2)
    for row in document["yields"]:
        row["usd_per_gpu_hour"], row["usd_per_million_tokens"], row["null_reason"] = "1", 1.0, None
    document["as_of"] = later.isoformat()
    part = Part("again.json", json.dumps(document).encode())
    store.add("record", (part,), observed_at=later, recorded_at=later, slice_name=first.slice)
    build(home, 28)
    assert recorded(home) == recorded(week)
    count = "select count(distinct record_id) from core.recorded_yield where date = date '2026-11-24'"
    assert ask(home, count) == [(2,)]


def test_a_build_that_looks_at_another_day_records_nothing(week, tmp_path):
    home = copied(week, tmp_path / "home")
    before = SnapshotStore(home.snapshots).sidecars("record")
    build(home, 20)
    assert run.record(home, noon(28))[0] is None
    assert SnapshotStore(home.snapshots).sidecars("record") == before
    # As of the 20th nothing was recorded yet, so nothing is missed either.
    for mart in ("recorded_yield", "drift", "missed_record"):
        assert ask(home, f"select count(*) from mart.{mart}") == [(0,)]


# Drift


def test_without_new_facts_there_is_no_drift(week):
    assert ask(week, "from mart.drift") == []


def test_a_late_archive_is_drift_because_of_the_price_and_leaves_the_record(week, drifted):
    assert recorded(drifted) == recorded(week)
    rows = ask(
        drifted,
        "select date, cause, fact_timing, price_differs, point_differs, throughput_differs, method_differs, "
        "cast(recorded_usd_per_gpu_hour as double), cast(usd_per_gpu_hour as double), "
        "recorded_usd_per_million_tokens, usd_per_million_tokens, percent "
        f"from mart.drift where {H200} and not recorded_late order by date",
    )
    days = [date(2026, 11, day) for day in (24, 25, 27)]
    was, now = 5.33 / MILLION_TOKENS_PER_GPU_HOUR, 5.50 / MILLION_TOKENS_PER_GPU_HOUR
    # Stored on the 28th without a word of when it was published: known then, and no sooner.
    how = ("price", "later_known", True, False, False, False)
    assert [row[:9] for row in rows] == [(d, *how, 5.33, 5.5) for d in days]
    for row in rows:
        assert row[9:] == pytest.approx((was, now, 3.1894934), rel=1e-7)
    # Only the H200 on that index has another price; every tier of it drifts, and nothing else does.
    assert ask(drifted, "select distinct chip_id, price_series_id, cause from mart.drift") == [
        ("h200-sxm-141", "index:savrn_ai_index:on_demand", "price")
    ]


def replaced(week: Home, root: Path, day: int, body: Callable[[bytes], bytes]) -> Home:
    """The week as if the record of `day` had held other bytes, rebuilt from snapshots alone."""
    home = copied(week, root)
    store = SnapshotStore(home.snapshots)
    old = next(s for s in store.sidecars("record") if s.slice == f"2026-11-{day}")
    part = Part("record.json", body(store.load(old).parts[0].body))
    shutil.rmtree(home.snapshots / "record" / old.snapshot_id)
    SnapshotStore(home.snapshots).add(
        "record", (part,), observed_at=old.observed_at, recorded_at=old.recorded_at, slice_name=old.slice
    )
    home.warehouse.unlink()
    build(home, 28)
    return home


def with_changes(body: bytes, changes: dict[str, Any]) -> bytes:
    """A record whose yield of the H200 was another one."""
    document = json.loads(body)
    wanted = ("h200-sxm-141", "max_throughput", "index:savrn_ai_index:on_demand")
    for row in document["yields"]:
        if (row["chip_id"], row["speed_tier"], row["price_series_id"]) == wanted:
            row |= changes
    return json.dumps(document).encode()


COST = 5.33 / MILLION_TOKENS_PER_GPU_HOUR
UNKNOWN = {"usd_per_gpu_hour": None, "usd_per_million_tokens": None, "null_reason": "no_price"}
SLOWER = {"throughput_tok_s_gpu": 140.0, "usd_per_million_tokens": 10.5754}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        pytest.param(SLOWER, "throughput", id="throughput"),
        pytest.param(SLOWER | {"benchmark_point_id": "x/1"}, "point", id="another point"),
        pytest.param(SLOWER | {"method_version": "headline-v0, price-v1"}, "method", id="method"),
        pytest.param(SLOWER | {"usd_per_gpu_hour": "5"}, "several", id="several"),
        pytest.param({"usd_per_million_tokens": COST * (1 + 1e-8)}, "unattributed", id="unattributed"),
        pytest.param({"usd_per_million_tokens": COST * (1 - 1e-11)}, None, id="the last digits alone"),
        pytest.param({"precision": "fp6"}, "gone", id="gone"),
        pytest.param(UNKNOWN, "price", id="unknown then"),
        pytest.param(UNKNOWN | {"precision": "fp6"}, None, id="unknown then and now"),
        pytest.param({"benchmark_point_id": "x/1", "price_fact_id": "x/2"}, None, id="equal values"),
    ],
)
def test_the_cause_of_a_drift(week, tmp_path, changes, cause):
    home = replaced(week, tmp_path / "home", 25, lambda body: with_changes(body, changes))
    expected = [] if cause is None else [("2026-11-25", "h200-sxm-141", cause)]
    assert ask(home, "select cast(date as varchar), chip_id, cause from mart.drift") == expected


# What is never lost, and what is never made up


def test_a_rebuild_from_snapshots_alone_keeps_record_and_drift(drifted, tmp_path):
    home = Home(tmp_path / "home")
    shutil.copytree(drifted.snapshots, home.snapshots)
    build(home, 28)
    for mart in ("recorded_yield", "drift", "missed_record"):
        rows = ask(drifted, f"select * from mart.{mart} order by all")
        assert rows
        assert ask(home, f"select * from mart.{mart} order by all") == rows, mart


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"as_of": "2026-11-25T12:00:00+00:00", "headline": []}', id="another document"),
        pytest.param(b'{"as_of": "2026-11-25T12:00:00+00:00", "yields": [{"x": 1}]}', id="half a row"),
        pytest.param(b'{"as_of": "2026-11-24T12:00:00+00:00", "yields": []}', id="another day"),
        pytest.param(b'{"as_of": "2026-11-25T12:00:00+00:00", "yie', id="torn"),
    ],
)
def test_a_record_that_cannot_be_read_is_told_and_costs_its_own_day_alone(week, tmp_path, body):
    home = replaced(week, tmp_path / "home", 25, lambda _: body)
    query = "select status, reason is not null from mart.missed_record where date = date '2026-11-25'"
    assert ask(home, query) == [("refused", True)]
    kept = "select count(distinct date) from mart.recorded_yield where not recorded_late"
    assert ask(home, kept) == [(2,)]


# What is made up for


@pytest.fixture(scope="module")
def caught_up(week: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    """An archive of the 10th arrived on the 28th, and then the record of the 26th was written."""
    home = copied(week, tmp_path_factory.mktemp("caught-up") / "home")
    archive(home, 28)
    build(home, 28)
    (late,) = run.catch_up(home, noon(28) + timedelta(hours=1))
    assert (late.slice, late.recorded_at) == ("2026-11-26", noon(28) + timedelta(hours=1))
    build(home, 29)
    return home


def test_a_late_record_says_so_and_is_listed(caught_up):
    query = "select cast(date as varchar), status, cast(recorded_at as varchar) from mart.missed_record"
    assert ask(caught_up, f"{query} order by date") == [
        ("2026-11-26", "recorded_late", "2026-11-28 13:00:00+00"),
        ("2026-11-28", "missed", None),
    ]
    assert ask(caught_up, "select distinct date, recorded_late from mart.recorded_yield order by date") == [
        (date(2026, 11, day), day == 26) for day in (24, 25, 26, 27)
    ]


def test_a_late_record_holds_what_the_store_held_at_the_end_of_its_day(caught_up):
    # On the 26th the archive was not there: $5.33, though $5.50 was known when the record was written.
    assert {float(row[1]) for row in recorded(caught_up)} == {5.33}
    query = f"select cause from mart.drift where {H200} and date = date '2026-11-26' and recorded_late"
    assert ask(caught_up, query) == [("price",)]


def test_a_record_is_made_up_for_once(caught_up, tmp_path):
    home = copied(caught_up, tmp_path / "home")
    assert run.catch_up(home, noon(28) + timedelta(hours=2)) == []


def test_without_facts_of_its_day_a_day_stays_missed(week, tmp_path):
    home = copied(week, tmp_path / "home")
    for path in home.snapshots.glob("*/*/sidecar.json"):
        if path.parts[-3] != "record":
            path.write_text(path.read_text().replace("2026-11-24T12:00:00", "2026-11-28T09:00:00"))
    home.warehouse.unlink()
    build(home, 28)
    assert run.catch_up(home, noon(28)) == []


def test_the_days_that_were_missed():
    days = [date(2026, 10, 30), date(2026, 11, 2)]
    assert missed(days, date(2026, 11, 4)) == [date(2026, 10, 31), date(2026, 11, 1), date(2026, 11, 3)]
    assert missed([], date(2026, 11, 4)) == []
    assert missed([date(2026, 11, 4)], date(2026, 11, 4)) == []


@pytest.mark.slow
def test_the_status_tells_the_last_record_and_what_was_missed(week, tmp_path, capsys):
    home = copied(week, tmp_path / "home")
    run.build(home)
    run.publish(home)
    answers.print_status(home, "csv")
    assert "last record in it: 2026-11-27; 1 days missed" in capsys.readouterr().err


def test_a_missed_day_is_listed_and_has_no_yield(week):
    rows = ask(week, "select cast(date as varchar), status, recorded_at from mart.missed_record")
    assert rows == [("2026-11-26", "missed", None)]
    assert ask(week, "select count(*) from mart.recorded_yield where date = date '2026-11-26'") == [(0,)]
