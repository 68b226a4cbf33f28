"""What must not be blended, or drawn through a gap, where speeds, costs and chips are compared.

Worlds are made of hand-written curves; each expected value is arithmetic on the two or three points named.
"""

from __future__ import annotations

from typing import Any

import duckdb
import pytest
from bench_world import SERIES, point, priced
from price_world import Query, world
from test_frontiers import curve

from pipelines import run, sql_build
from pipelines.home import Home
from pipelines.warehouse import Warehouse

ROWS = [
    # One chip under three kinds of traffic and of two users' speeds, all of one day and one workload.
    priced("case-traffic", "2.00"),
    *curve("case-traffic", {29: 1000, 31: 900}),
    *curve("case-traffic", {29: 500, 31: 450}, traffic_basis="live", run_id="live"),
    *curve("case-traffic", {29: 4000, 31: 3000}, traffic_basis="replay", run_id="replay"),
    *curve("case-traffic", {28: 400}, speed_percentile="p90", run_id="p90"),
    # The lead changes between 40 and 90, where case-gap-a has but a bracket too wide to be trusted.
    priced("case-gap-a", "2.00"),
    *curve("case-gap-a", {30: 1000, 40: 900, 90: 300, 100: 200}, workload="fixed-1024-1024"),
    priced("case-gap-b", "2.00"),
    *curve("case-gap-b", {30: 600, 45: 590, 60: 580, 80: 570, 100: 560}, workload="fixed-1024-1024"),
    # Alike in all but the name.
    priced("case-twin-a", "2.00"),
    *curve("case-twin-a", {30: 1000, 40: 900, 50: 800}, workload="fixed-1024-1024"),
    priced("case-twin-b", "2.00"),
    *curve("case-twin-b", {30: 1000, 40: 900, 50: 800}, workload="fixed-1024-1024"),
]

FLASH = "DeepSeek-V4.1-Flash"
NAMES_SECRET = "select count(*) from {} where contains({}, 'case-secret')"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("traps"), ROWS)


def test_measured_traffic_of_every_kind_is_listed_and_that_of_benchmarks_ranked(tables: Query) -> None:
    assert tables(
        "select traffic_basis, throughput_tok_s_gpu is not null, rank is not null, unranked_reason "
        "from mart.cheapest_at_speed where chip_id = 'case-traffic' and speed_tok_s_user = 30 "
        "and price_series_id = ? and speed_percentile = 'p50' order by 1",
        SERIES,
    ) == [
        ("benchmark", True, True, None),
        ("live", True, False, "traffic_is_live"),
        ("replay", True, False, "traffic_is_replay"),
    ]


def test_no_traffic_and_no_percentile_hides_another_in_the_daily_costs(tables: Query) -> None:
    assert tables(
        "select traffic_basis, speed_percentile, throughput_tok_s_gpu "
        "from mart.cost_per_million_tokens_daily where chip_id = 'case-traffic' and token_kind = 'output' "
        "and speed_tier = 'max_throughput' and date = date '2026-11-01' and price_series_id = ? order by all",
        SERIES,
    ) == [
        ("benchmark", "p50", 1000.0),
        ("benchmark", "p90", 400.0),
        ("live", "p50", 500.0),
        ("replay", "p50", 4000.0),
    ]


def test_the_headline_takes_the_family_that_may_be_ranked(tables: Query) -> None:
    assert tables(
        "select rank is not null, throughput_tok_s_gpu, reserved_36m_usd_per_million_tokens "
        "from mart.headline where chip_id = 'case-traffic'"  # without a price on the index that ranks
    ) == [(False, 1000.0, pytest.approx(2.00 / 3.6))]


def test_a_fleet_under_live_traffic_stands_beside_that_of_a_benchmark(tables: Query) -> None:
    # 10^9 tokens a day are 11574.07 a second: 11.57, 23.15 and 2.89 GPUs.
    assert tables(
        "select traffic_basis, gpu_count, gpu_count_live, live_null_reason from mart.fleet_size "
        "where chip_id = 'case-traffic' and volume_id = 'billion_output' and utilisation_id = 'always_busy' "
        "order by 1"
    ) == [
        ("benchmark", 12, None, "no_factor"),
        ("live", 24, 24, None),
        ("replay", 3, None, "no_factor"),
    ]


def test_traffic_of_another_kind_supersedes_nothing(tmp_path: Any) -> None:
    query = world(
        tmp_path,
        [
            point("case-a", "2026-10-01", run_id="bench"),
            point("case-a", "2026-10-20", run_id="live", output_tok_s=800, traffic_basis="live"),
        ],
    )
    assert query("select superseded_on from mart.benchmark_point where chip_id = 'case-a'") == [
        (None,),
        (None,),
    ]
    assert query("select count(*) from mart.yield_change where chip_id = 'case-a' and cause <> 'new'") == [
        (0,)
    ]


def crossings(query: Query, chip: str, other: str) -> list[tuple[Any, ...]]:
    return query(
        "select crossing, crossover_speed_tok_s_user, usd_per_million_tokens, cheaper_below_chip_id, "
        "cheaper_above_chip_id, null_reason from mart.chip_crossover where chip_id = ? and other_chip_id = ? "
        "and token_kind = 'output' and price_series_id = ?",
        *(chip, other, SERIES),
    )


def test_no_crossing_is_solved_where_one_of_both_was_not_measured(tables: Query) -> None:
    assert crossings(tables, "case-gap-a", "case-gap-b") == [
        (1, None, None, "case-gap-a", "case-gap-b", "crossed_unmeasured")
    ]


def test_chips_that_cost_the_same_at_every_speed_are_said_to(tables: Query) -> None:
    assert crossings(tables, "case-twin-a", "case-twin-b") == [(0, None, None, None, None, "always_equal")]


@pytest.mark.slow
def test_what_was_measured_on_one_chip_is_derived_on_another(tmp_path: Any) -> None:
    rows = [
        row
        for speed, made in {29: 1000, 31: 900}.items()
        for row in curve("case-a", {speed: made}, point_label=f"box-{speed}")
    ]
    query = world(tmp_path, [priced("case-a", "3.60"), priced("case-b", "3.60"), *rows])
    with Warehouse(Home(tmp_path).warehouse).write() as connection:
        connection.execute(
            "insert into raw.hardware_factor "
            "(publisher, point_label_prefix, from_chip_id, to_chip_id, factor, known_at, source) "
            "values ('lab', 'box', 'case-a', 'case-b', 2, timestamptz '2026-10-01 00:00:00+00', 'a test')"
        )
        sql_build.build(connection, run.models())
    said = [
        ("case-a", "measured", 1000.0, True, "eligible"),
        ("case-b", "derived", 2000.0, False, "evidence_is_derived"),
    ]
    columns = "chip_id, evidence, max(throughput_tok_s_gpu), eligible, eligibility_reason"
    for mart in (
        *("cost_per_million_tokens", "frontier_point", "cost_at_speed"),
        *("cost_per_million_tokens_daily", "fleet_size"),
    ):
        found = query(
            f"select {columns} from mart.{mart} where token_kind = 'output' "
            "and chip_id in ('case-a', 'case-b') and throughput_tok_s_gpu is not null "
            "group by all order by chip_id"
        )
        if mart == "cost_at_speed":  # 30 lies between the two: the root of their product
            found = [(*row[:2], pytest.approx(row[2] * (10 / 9) ** 0.5), *row[3:]) for row in found]
        assert found == said, mart
    assert query(
        "select distinct chip_id from mart.cheapest_at_speed where chip_id in ('case-a', 'case-b')"
    ) == [("case-a",)]


@pytest.mark.slow
def test_no_curve_is_drawn_past_a_point_that_was_left_out(tmp_path: Any) -> None:
    query = world(
        tmp_path,
        [priced("case-a", "2.00"), *curve("case-a", {30: 1000, 40: 900, 50: 100})],
        history=True,
    )
    sql = (
        "select position, throughput_tok_s_gpu from mart.cost_at(?) where chip_id = 'case-a' "
        "and token_kind = 'output' and price_series_id = ?"
    )
    assert [position for position, _ in query(sql, 35, SERIES)] == ["interpolated"]
    with Warehouse(Home(tmp_path).warehouse).write() as connection:
        connection.execute("delete from core.frontier_knot where interactivity_tok_s_user = 40")
    # As in a copy whose publisher's terms do not let the point at 40 pass on.
    assert query(sql, 35, SERIES) == query(sql, 45, SERIES) == []
    assert query(sql, 30, SERIES) == [("measured", 1000.0)]
    assert query(sql, 50, SERIES) == [("measured", 100.0)]


@pytest.mark.slow
def test_no_name_of_a_withheld_curve_is_published(tmp_path: Any) -> None:
    # Of a model that is sold, so that a break-even speed follows; beyond the curve there is no point to name.
    withheld = curve("case-secret", {20: 900, 40: 300}, source="openrouter", raw_model_name=FLASH)
    ask = world(tmp_path, [priced("case-secret", "2.00"), *withheld], history=True)
    home = Home(tmp_path)
    run.publish(home)
    tables = ask(
        "select schema_name || '.' || table_name, column_name from duckdb_columns() where schema_name in "
        "('mart', 'core') and column_name in ('frontier_id', 'family_id', 'serving_line_id', 'comparison_id')"
    )
    here = {(table, column) for table, column in tables if ask(NAMES_SECRET.format(table, column)) != [(0,)]}
    assert {table for table, _ in here} >= {
        *("mart.break_even_speed", "mart.cost_at_speed", "mart.cheapest_at_speed", "mart.frontier_point"),
    }
    with duckdb.connect(str(home.current_database), read_only=True) as published:
        listed = published.execute("select schema_name || '.' || table_name from duckdb_tables()").fetchall()
        left = {
            (table, column)
            for table, column in here
            if (table,) in listed and published.execute(NAMES_SECRET.format(table, column)).fetchone() != (0,)
        }
    assert left == set()
