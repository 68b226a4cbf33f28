"""Frontiers: what is undominated, what lies between two points, and what is never said beyond them.

The oracle is written here from the published definition (Steffen 1990, as d3's monotoneX draws it) and shares
no line with the models; figures of the articles come from their texts.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import duckdb
import pytest
from bench_world import SERIES, point, priced
from interpolation_report import report
from price_world import Query, world

SAVRN = "index:savrn_ai_index:on_demand"
# Speed per user and output per GPU of one server: a dominated point, a tie and a wide last step among them.
CURVE = {10: 2000, 20: 1500, 25: 900, 40: 1000, 60: 400, 110: 90}
UNDOMINATED = {10: 2000, 20: 1500, 40: 1000, 60: 400, 110: 90}


def curve(chip: str, found: dict[float, float], day: str = "2026-10-01", **changes: Any) -> list[Any]:
    run = changes.pop("run_id", f"{chip}-{day}")
    return [
        point(
            chip, day, run_id=run, concurrency=int(1000 / speed), output_tok_s=made,
            interactivity_tok_s_user=speed, tpot_p50_ms=1000 / speed, ttft_p50_ms=500, **changes,
        )
        for speed, made in found.items()
    ]  # fmt: skip


ROWS = [
    priced("case-curve", "2.00"),
    *curve("case-curve", CURVE),
    # Two points: a line on the logarithm. One point: nothing between.
    priced("case-two", "2.00"),
    *curve("case-two", {20: 800, 40: 200}),
    priced("case-one", "2.00"),
    *curve("case-one", {30: 500}),
    # A sparse new run replaces what it measured again, and hides nothing else.
    *curve("case-sparse", {10: 1000, 20: 700, 40: 300}, run_id="old"),
    *curve("case-sparse", {20: 900}, day="2026-11-01", run_id="new"),
    # Vendor claims are a curve of their own; another precision too.
    *curve("case-claim", {20: 800, 40: 200}),
    *curve("case-claim", {20: 8000, 40: 2000}, evidence="vendor_claim", run_id="claim"),
    *curve("case-claim", {20: 1600, 40: 400}, weight_precision="fp4", run_id="fp4"),
    # From the first to the last day with a cost: 18 September to 30 November are 73 days, to 1 November 29.
    priced("case-decline", "2.00"),
    *curve("case-decline", {20: 800, 40: 200}, day="2026-09-18"),
    *curve("case-decline", {20: 1200, 40: 300}, day="2026-11-01"),
    priced("case-short", "2.00"),
    *curve("case-short", {20: 800, 40: 200}, day="2026-11-01"),
    # For the ranking: dearer, not comparable in time to first token, and without a price.
    priced("case-rank-a", "2.00"),
    *curve("case-rank-a", {29: 1010, 31: 990}, workload="fixed-1024-1024"),
    priced("case-rank-b", "2.04"),
    *curve("case-rank-b", {29: 1010, 31: 990}, workload="fixed-1024-1024"),
    priced("case-rank-c", "4.00"),
    *curve("case-rank-c", {29: 1010, 31: 990}, workload="fixed-1024-1024"),
    priced("case-rank-slow", "1.00"),
    *[
        row
        for row in curve("case-rank-slow", {29: 1010, 31: 990}, workload="fixed-1024-1024")
        if row.values.update({"ttft_p50_ms": 10001}) is None
    ],
    *curve("case-rank-free", {29: 1010, 31: 990}, workload="fixed-1024-1024"),
    priced("case-rank-wide", "1.00"),
    *curve("case-rank-wide", {20: 1010, 41: 990}, workload="fixed-1024-1024"),
    priced("case-rank-far", "1.00"),
    *curve("case-rank-far", {50: 1010, 60: 990}, workload="fixed-1024-1024"),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("frontier"), ROWS)


def steffen(knots: dict[float, float], x: float) -> float:
    """Return the curve through (speed, ln throughput) at `x`, by the published definition."""
    xs, ys = list(knots), [math.log(value) for value in knots.values()]
    steps = [b - a for a, b in pairwise(xs)]
    secants = [(b - a) / h for (a, b), h in zip(pairwise(ys), steps, strict=True)]
    slopes = [secants[0]] * len(xs)
    if len(xs) > 2:
        for i in range(1, len(xs) - 1):
            left, right = secants[i - 1], secants[i]
            weighted = (left * steps[i] + right * steps[i - 1]) / (steps[i - 1] + steps[i])
            sign = math.copysign(1, left) + math.copysign(1, right)
            slopes[i] = sign * min(abs(left), abs(right), abs(weighted) / 2)
        slopes[0] = (3 * secants[0] - slopes[1]) / 2
        slopes[-1] = (3 * secants[-1] - slopes[-2]) / 2
    i = max(n for n in range(len(steps)) if xs[n] <= x)
    t = (x - xs[i]) / steps[i]
    basis = (2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, -2 * t**3 + 3 * t**2, t**3 - t**2)
    terms = (ys[i], steps[i] * slopes[i], ys[i + 1], steps[i] * slopes[i + 1])
    return math.exp(sum(a * b for a, b in zip(basis, terms, strict=True)))


def at_speeds(tables: Query, chip: str) -> dict[float, tuple[str, float | None]]:
    return {
        speed: (position, made)
        for speed, position, made in tables(
            "select speed_tok_s_user, position, throughput_tok_s_gpu from core.throughput_at_speed "
            "where chip_id = ? and token_kind = 'output' and evidence = 'measured' and valid_to is null",
            chip,
        )
    }


def test_only_undominated_points_are_on_a_frontier(tables: Query) -> None:
    found = tables(
        "select frontier_kind, interactivity_tok_s_user, throughput_tok_s_gpu from mart.frontier_point "
        "where chip_id = 'case-curve' and token_kind = 'output' order by 1, 2"
    )
    for kind in ("family", "serving_line"):
        assert {speed: made for k, speed, made in found if k == kind} == UNDOMINATED


def test_between_two_points_the_curve_is_steffens_on_the_logarithm(tables: Query) -> None:
    found = at_speeds(tables, "case-curve")
    for speed in range(10, 115, 5):
        expected = steffen(UNDOMINATED, speed) if speed < 110 else 90
        position = "measured" if speed in UNDOMINATED else "interpolated"
        assert found[speed] == (position, pytest.approx(expected, rel=1e-12)), speed
    # 800 to 200 over 20 tok/s: half-way is the geometric mean, 400.
    assert at_speeds(tables, "case-two")[30] == ("interpolated", pytest.approx(400, rel=1e-12))


def test_nothing_is_said_beyond_what_was_measured(tables: Query) -> None:
    found = at_speeds(tables, "case-two")
    assert found[50] == ("above_range", None)
    assert at_speeds(tables, "case-curve")[150] == ("above_range", None)
    assert at_speeds(tables, "case-one")[30] == ("measured", 500)
    assert at_speeds(tables, "case-one")[50] == ("above_range", None)
    slow = tables(
        "select position, usd_per_million_tokens, null_reason from mart.cost_at_speed "
        "where chip_id = 'case-rank-far' and speed_tok_s_user = 30 and token_kind = 'output' "
        "and price_series_id = ?",
        SERIES,
    )
    assert slow == [("below_range", None, "below_range")]


def test_cost_is_derived_from_throughput_with_its_bracket_named(tables: Query) -> None:
    ((cost, made, below, above, ratio, drop, wide, method),) = tables(
        "select usd_per_million_tokens, throughput_tok_s_gpu, b.interactivity_tok_s_user, "
        "a.interactivity_tok_s_user, bracket_speed_ratio, bracket_throughput_ratio, wide_bracket, "
        "method_version "
        "from mart.cost_at_speed as c "
        "inner join mart.benchmark_point as b on c.below_point_id = b.benchmark_point_id "
        "inner join mart.benchmark_point as a on c.above_point_id = a.benchmark_point_id "
        "where c.chip_id = 'case-curve' and c.speed_tok_s_user = 100 and c.token_kind = 'output' "
        "and c.price_series_id = ?",
        SERIES,
    )
    assert cost == pytest.approx(2 / (made * 0.0036), rel=1e-12)
    assert (below, above) == (60, 110)
    assert (ratio, drop) == (pytest.approx(110 / 60), pytest.approx(400 / 90))
    # 400 / 90 is more than four: not trusted for a ranking, and shown.
    assert wide
    assert method == "frontier-v1"


def test_a_sparse_new_run_hides_only_what_it_measured_again(tables: Query) -> None:
    rows = tables(
        "select distinct serving_line_id like '%/old', interactivity_tok_s_user, throughput_tok_s_gpu, "
        "valid_to "
        "from mart.frontier_point where chip_id = 'case-sparse' and token_kind = 'output' "
        "and frontier_kind = 'serving_line' and valid_to is null order by 2, 3"
    )
    assert [row[:3] for row in rows] == [(True, 10, 1000), (False, 20, 900), (True, 40, 300)]
    before = tables(
        "select interactivity_tok_s_user, throughput_tok_s_gpu from mart.frontier_point "
        "where chip_id = 'case-sparse' and token_kind = 'output' and frontier_kind = 'serving_line' "
        "and valid_to = date '2026-11-01' order by 1"
    )
    assert before == [(10, 1000), (20, 700), (40, 300)]


def test_evidence_classes_and_precisions_never_share_a_frontier(tables: Query) -> None:
    found = tables(
        "select evidence, precision, max(throughput_tok_s_gpu), count(distinct frontier_id) "
        "from mart.frontier_point where chip_id = 'case-claim' and token_kind = 'output' "
        "and frontier_kind = 'family' group by all order by 1, 2"
    )
    assert found == [
        ("measured", "fp4", 1600, 1),
        ("measured", "fp8", 800, 1),
        ("vendor_claim", "fp8", 8000, 1),
    ]
    assert tables("select count(*) from mart.cheapest_at_speed where usd_per_million_tokens < 0.1") == [(0,)]


def test_cheapest_at_a_speed_ranks_what_can_be_compared_and_lists_the_rest(tables: Query) -> None:
    rows = tables(
        "select chip_id, rank, distinguishable, unranked_reason, usd_per_million_tokens "
        "from mart.cheapest_at_speed where workload_id = 'fixed-1024-1024' and speed_tok_s_user = 30 "
        "and price_series_id = ? and chip_id like 'case-rank%' order by rank nulls last, chip_id",
        SERIES,
    )
    # The geometric mean of 1010 and 990 is 999.95: at 2.00 an hour 0.555583 a million.
    made = math.sqrt(1010 * 990) * 0.0036
    assert [row[:4] for row in rows] == [
        ("case-rank-a", 1, False, None),
        # Two per cent dearer; each is uncertain by the root of 0.04 and 0.10 squared, 10.8 per cent.
        ("case-rank-b", 2, False, None),
        ("case-rank-c", 3, True, None),
        ("case-rank-far", None, None, "below_range"),
        ("case-rank-free", None, None, "no_price"),
        ("case-rank-slow", None, None, "ttft_above_limit"),
        ("case-rank-wide", None, None, "wide_bracket"),
    ]
    assert [row[4] for row in rows[:3]] == [pytest.approx(usd / made, rel=1e-9) for usd in (2, 2.04, 4)]


def test_tiers_stand_in_the_daily_costs_with_their_age(tables: Query) -> None:
    assert tables(
        "select speed_tier, throughput_tok_s_gpu, benchmark_age_days, position, usd_per_million_tokens "
        "from mart.cost_per_million_tokens_daily where chip_id = 'case-two' and date = date '2026-10-11' "
        "and token_kind = 'output' and price_series_id = ? order by speed_tier",
        SERIES,
    ) == [
        ("30", pytest.approx(400), 10, "interpolated", pytest.approx(2 / 1.44)),
        ("max_throughput", 800, 10, "measured", pytest.approx(2 / 2.88)),
    ]


# What the article says of the two decode curves (A18 to A23).


def test_a18_a19_break_even_speeds_of_box_and_rack(embedded: Query) -> None:
    found = dict(
        embedded(
            "select chip_id, break_even_speed_tok_s_user from mart.break_even_speed "
            "where price_series_id = ? and tier = 'off_peak' and traffic = 'live' and gpu_scope = 'decode' "
            "and provider_id = 'deepseek' and chip_id in ('b200-sxm-180', 'gb200-nvl72')",
            SAVRN,
        )
    )
    assert found == {
        "b200-sxm-180": pytest.approx(225, abs=0.5),
        "gb200-nvl72": pytest.approx(310, abs=0.5),
    }


def test_a20_the_rack_is_cheaper_above_131(embedded: Query) -> None:
    assert embedded(
        "select crossover_speed_tok_s_user, cheaper_below_chip_id, cheaper_above_chip_id "
        "from mart.chip_crossover "
        "where chip_id = 'b200-sxm-180' and other_chip_id = 'gb200-nvl72' and gpu_scope = 'decode' "
        "and evidence = 'derived' and price_series_id = ? and crossing > 0",
        SAVRN,
    ) == [(pytest.approx(130.93, abs=0.5), "b200-sxm-180", "gb200-nvl72")]


@pytest.mark.parametrize(("speed", "ratio", "off"), [(105, 1.102, 0.01), (235, 6.476, 0.05)])
def test_a21_a22_rack_over_box(embedded: Query, speed: int, ratio: float, off: float) -> None:
    ((found,),) = embedded(
        "select max(case chip_id when 'gb200-nvl72' then throughput_tok_s_gpu end) "
        "/ max(case chip_id when 'b200-sxm-180' then throughput_tok_s_gpu end) from mart.cost_at_speed "
        "where gpu_scope = 'decode' and evidence = 'derived' and speed_tok_s_user = ? "
        "and price_series_id = ?",
        speed,
        SAVRN,
    )
    assert found == pytest.approx(ratio, abs=off)


def test_a23_above_239_the_box_is_unreachable(embedded: Query) -> None:
    sql = (
        "select distinct position, throughput_tok_s_gpu, usd_per_million_tokens, null_reason "
        "from mart.cost_at_speed where chip_id = 'b200-sxm-180' and gpu_scope = 'decode' "
        "and speed_tok_s_user = ? and price_series_id = ?"
    )
    assert embedded(sql, 240, SAVRN) == [("unreachable", None, None, "unreachable")]
    assert embedded(sql, 300, SAVRN) == [("unreachable", None, None, "unreachable")]


def test_the_decline_at_fixed_speed_is_given_per_year(tables: Query) -> None:
    # 73 days, a fifth of a year: a third off becomes (2/3)^5 - 1 a year.
    assert tables(
        "select first_usd_per_million_tokens, last_usd_per_million_tokens, days, change_per_year, "
        "throughput_ratio, price_ratio from mart.cost_decline where chip_id = 'case-decline' "
        "and speed_tier = '30' and price_series_id = ?",
        SERIES,
    ) == [
        (
            pytest.approx(2 / (400 * 0.0036)),
            pytest.approx(2 / (600 * 0.0036)),
            73,
            pytest.approx((2 / 3) ** 5 - 1),
            pytest.approx(1.5),
            1,
        )
    ]
    assert tables(
        "select change_per_year, null_reason, days from mart.cost_decline where chip_id = 'case-short' "
        "and speed_tier = '30' and price_series_id = ?",
        SERIES,
    ) == [(None, "too_short", 29)]


def test_break_even_utilisation_of_the_production_point(embedded: Query) -> None:
    # 14,466 tok/s x 0.8 at 10.58 an hour cost 0.25394 a million; sold at 0.60, 42.3 % of hours pay for it: by
    # 4,898 tok/s, or 20.3 users at 241 each.
    assert embedded(
        "select break_even_utilisation, needed_tok_s_gpu, break_even_sessions_per_gpu "
        "from mart.break_even_utilisation as u "
        "inner join mart.benchmark_point as p using (benchmark_point_id) "
        "where p.point_label = 'ep64-241' and u.chip_id = 'gb200-nvl72' and u.price_series_id = ? "
        "and u.tier = 'off_peak' and u.traffic = 'live' and u.gpu_scope = 'decode'",
        SAVRN,
    ) == [
        (pytest.approx(0.42324, abs=2e-5), pytest.approx(4898.15, abs=0.01), pytest.approx(20.324, abs=1e-3))
    ]


def test_the_interpolation_report_leaves_one_out_and_finds_no_error_on_a_straight_line() -> None:
    with duckdb.connect() as published:
        published.execute("create schema mart")
        # Throughput halves every ten tokens per second: a line on the logarithm, and on nothing else.
        published.execute(
            "create table mart.frontier_point as select 'f' as frontier_id, 'serving_line' as frontier_kind, "
            "'measured' as evidence, 'total' as token_kind, 'total' as cost_allocation, 5 as knots, "
            "n as knot, "
            "cast(10 * n as double) as interactivity_tok_s_user, 1000 / power(2, n) as throughput_tok_s_gpu, "
            "date '2026-10-01' as valid_from from range(1, 6) as r(n)"
        )
        table = report(published)
        assert table.title == "3 points left out of 1 frontiers of one server and run"
        cells = dict(zip(table.columns[0].cells, table.columns[2].cells, strict=True))
        assert cells["Steffen on log (ours)"] == cells["linear on log"] == "0.0"
        # Half-way between 500 and 125 a straight line says 312.5 for 250, a quarter too much.
        assert cells["linear"] == "25.0"
        published.execute("delete from mart.frontier_point where knot > 3")
        published.execute("update mart.frontier_point set knots = 3")
        assert report(published) is None
