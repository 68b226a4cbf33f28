"""What goes wrong with public benchmarks, where the tables have to stop it; one test or more per case.

What one source's parser must stop stands with its source: B-04 with `benchmark_file`, B-10 and B-11 with the
InferenceX sources, B-13 with `mlperf_inference`, each in a test of that name too.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from bench_world import SERIES, point, priced, retraction
from price_world import Query, Row, world

NO_FIGURE = {
    "output_tok_s": None,
    "interactivity_tok_s_user": None,
    "tpot_p50_ms": None,
    "speed_percentile": None,
}
SYSTEM = {"throughput_basis": "system"}


def case(name: str, **changes: Any) -> Row:
    return point(f"case-{name}", "2026-10-01", **changes)


ROWS = [
    # B-01: input 40,000 and output 5,000 tok/s of a deployment of 8 prefill and 32 decode GPUs.
    priced("case-b01", "2.50"),
    case("b01", **SYSTEM, disaggregated=True, prefill_accelerator_count=8, decode_accelerator_count=32,
         accelerator_count=40, input_tok_s=40000, output_tok_s=5000, tp=None),
    # B-02: eight replicas of one GPU each; and the same run with its replicas forgotten.
    point("h100-sxm-80", "2026-10-01", **NO_FIGURE | SYSTEM, total_tok_s=48000, tp=1, dp=8,
          accelerator_count=None, run_id="b02-replicas", workload="fixed-1024-1024", concurrency=1),
    point("h100-sxm-80", "2026-10-01", **NO_FIGURE | SYSTEM, total_tok_s=48000, tp=1, accelerator_count=1,
          run_id="b02-forgotten", workload="fixed-1024-1024", concurrency=2),
    # B-03
    case("b03", tp=2, ep=2, dp_attention=False, accelerator_count=None, concurrency=1),
    case("b03", tp=4, ep=4, dp_attention=True, dp=4, accelerator_count=None, concurrency=2),
    case("b03", tp=8, ep=1, dp_attention=False, accelerator_count=None, concurrency=3),
    case("b03", tp=8, ep=2, accelerator_count=16, concurrency=4),
    case("b03", tp=None, accelerator_count=None, concurrency=5, **SYSTEM),
    case("b03", tp=12, accelerator_count=12, concurrency=6),
    # B-04: a header of milliseconds over seconds, the speed that follows from it, and the truth.
    case("b04", tpot_p50_ms=0.0490139, interactivity_tok_s_user=20402, concurrency=1),
    case("b04", tpot_p50_ms=49.0139, interactivity_tok_s_user=20402, concurrency=2),
    case("b04", tpot_p50_ms=49.0139, interactivity_tok_s_user=20.40, concurrency=3),
    # B-05: 5,400 tok/s per GPU of input and output together.
    priced("case-b05", "2.50"),
    case("b05", output_tok_s=None, total_tok_s=5400),
    # B-06: all, a tenth, and nobody says how many.
    case("b06", planned_requests=1000, completed_requests=1000, failed_requests=0, concurrency=1),
    case("b06", planned_requests=1000, completed_requests=100, output_tok_s=9000, concurrency=2),
    case("b06", completed_requests=None, concurrency=3),
    case("b06", completed_requests=100, failed_requests=900, concurrency=4),
    # B-07: a cold and a warm prefix cache; then equal prompts twice, with and without a hit rate.
    point("case-b07", "2026-10-01", output_tok_s=9800, cache_hit_rate=0.02),
    point("case-b07", "2026-10-08", output_tok_s=18200, cache_hit_rate=0.96, input_tok_s=1000),
    point("case-b07s", "2026-10-01", dataset="random", dataset_seed="0", concurrency=4),
    point("case-b07s", "2026-10-02", dataset="random", dataset_seed="0", concurrency=8, image="vllm:1"),
    point("case-b07s", "2026-10-03", dataset="random", dataset_seed="1", concurrency=16),
    # B-08
    priced("case-b08x", "2.00"), priced("case-b08y", "2.00"),
    point("case-b08x", "2026-10-01", output_tok_s=596),
    point("case-b08x", "2026-11-10", output_tok_s=848, image="vllm:2"),
    point("case-b08y", "2026-10-01", output_tok_s=700),
    # B-09: run 111 is withdrawn nine days after it was measured, and replaced.
    point("case-b09", "2026-10-01", output_tok_s=596, run_id="110"),
    point("case-b09", "2026-11-10", output_tok_s=848, run_id="111", image="vllm:2"),
    retraction("lab/run/111", "2026-11-19", "weights uninitialised"),
    point("case-b09", "2026-11-22", output_tok_s=640, run_id="112", image="vllm:3"),
    # B-10: the second attempt before the first, and a compiled file that repeats the first.
    case("b10", run_id="9", attempt=2, output_tok_s=848),
    case("b10", run_id="9", attempt=1, output_tok_s=596, source="compiled"),
    case("b10", run_id="9", attempt=1, output_tok_s=596, known_at="2026-10-02"),
    # B-10: an unofficial file of the same run, found later.
    case("b10u", output_tok_s=500, release_status="available"),
    case("b10u", output_tok_s=900, release_status="unofficial", known_at="2026-11-01", source="branch"),
    # B-12: no price of the chip; and no output in the row.
    case("b12", concurrency=1),
    priced("case-b12p", "2.00"),
    case("b12p", output_tok_s=None, input_tok_s=4000, concurrency=2),
    # B-13: 24,000 tok/s on eight accelerators, mended a day later to four.
    point("case-b13", "2026-03-27", **SYSTEM, output_tok_s=24000, tp=None, accelerator_count=8,
          result_id="r-1", run_id=None),
    point("case-b13", "2026-03-27", **SYSTEM, output_tok_s=24000, tp=None, accelerator_count=4,
          result_id="r-1", run_id=None, known_at="2026-03-28"),
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("bench"), ROWS, history=True)


def test_b01_each_basis_is_named_and_the_rent_is_charged_once(tables: Query) -> None:
    found = {
        row[:3]: row[3]
        for row in tables(
            "select token_kind, gpu_scope, cost_allocation, usd_per_million_tokens "
            "from mart.cost_per_million_tokens where chip_id = 'case-b01' and price_series_id = ?",
            SERIES,
        )
    }
    assert found == {
        ("total", "all", "total"): pytest.approx(0.617284, abs=1e-6),
        ("input", "prefill", "by_role"): pytest.approx(0.138889, abs=1e-6),
        ("output", "decode", "by_role"): pytest.approx(4.444444, abs=1e-6),
        ("input", "all", "whole_bill"): pytest.approx(0.694444, abs=1e-6),
        ("output", "all", "whole_bill"): pytest.approx(5.555556, abs=1e-6),
    }
    # An hour of 40 GPUs at 2.50 costs 100; 144 M tokens go in and 18 M come out.
    by_role = 144 * found["input", "prefill", "by_role"] + 18 * found["output", "decode", "by_role"]
    assert by_role == pytest.approx(100, rel=1e-9)
    assert 162 * found["total", "all", "total"] == pytest.approx(100, rel=1e-9)
    # What is never additive charges the cluster twice, and is named so that nobody adds it up.
    whole = 144 * found["input", "all", "whole_bill"] + 18 * found["output", "all", "whole_bill"]
    assert whole == pytest.approx(200, rel=1e-9)


def test_b02_replicas_multiply_and_a_forgotten_one_meets_the_ceiling(tables: Query) -> None:
    assert tables(
        "select accelerator_count, gpu_count_basis, total_tok_s_gpu from mart.benchmark_point "
        "where run_id = 'b02-replicas'"
    ) == [(8, "inferred", 6000)]
    # 48,000 tokens x 2 x 37e9 parameters = 3,552 TFLOPS, on a chip of 1,979.
    assert tables(
        "select reject_reason, tflops_needed_gpu, tflops_ceiling_gpu from clean.benchmark_result "
        "where run_id = 'b02-forgotten'"
    ) == [("above_flops_ceiling", pytest.approx(3552), 1979)]
    assert tables("select 1 from mart.benchmark_point where run_id = 'b02-forgotten'") == []
    assert tables("select count(*) from mart.rejected_row where reason = 'above_flops_ceiling'") == [(1,)]


def test_b03_experts_and_attention_add_no_gpus(tables: Query) -> None:
    assert tables(
        "select concurrency, accelerator_count, gpu_count_basis, node_fit from mart.benchmark_point "
        "where chip_id = 'case-b03' order by concurrency"
    ) == [
        (1, 2, "inferred", "part_of_node"),
        (2, 4, "inferred", "part_of_node"),
        (3, 8, "inferred", "whole_nodes"),
        (4, 16, "stated", "whole_nodes"),
        (5, None, "unknown", None),
        (6, 12, "stated", "not_whole_nodes"),
    ]
    flags = dict(
        tables(
            "select concurrency, flags from mart.benchmark_point where chip_id = 'case-b03' "
            "and concurrency in (3, 6)"
        )
    )
    assert "GPU count inferred" in flags[3]
    assert "GPUs fill no whole nodes" in flags[6]


def test_b04_seconds_under_a_header_of_milliseconds_are_refused(tables: Query) -> None:
    assert tables(
        "select concurrency, reject_reason from clean.benchmark_result where raw_chip_name = 'case-b04' "
        "order by concurrency"
    ) == [(1, "tpot_out_of_range"), (2, "speed_is_not_reciprocal_of_tpot"), (3, None)]
    assert tables("select interactivity_tok_s_user from mart.benchmark_point where chip_id = 'case-b04'") == [
        (20.40,)
    ]


def test_b05_output_is_never_priced_from_a_total_without_saying_so(tables: Query) -> None:
    rows = tables(
        "select token_kind, throughput_tok_s_gpu, usd_per_million_tokens, evidence, eligible, "
        "eligibility_reason, line_id from mart.cost_per_million_tokens "
        "where chip_id = 'case-b05' and price_series_id = ? order by token_kind",
        SERIES,
    )
    assert [row[:6] for row in rows] == [
        (
            "output",
            pytest.approx(600),
            pytest.approx(1.157407, abs=1e-6),
            *("derived", False, "output_not_stated"),
        ),
        ("total", 5400, pytest.approx(0.128601, abs=1e-6), "measured", False, "output_not_stated"),
    ]
    assert len({row[6] for row in rows}) == 2, "they are never one series"


def test_b06_failed_requests_do_not_disappear(tables: Query) -> None:
    rows = tables(
        "select concurrency, eligible, eligibility_reason, coalesce(flags, '') from mart.benchmark_point "
        "where chip_id = 'case-b06' order by concurrency"
    )
    assert [row[:3] for row in rows] == [
        (1, True, "eligible"),
        (2, False, "success_share_low"),
        (3, True, "eligible"),
        (4, False, "success_share_low"),
    ]
    assert ["success share unknown" in row[3] for row in rows] == [False, False, True, False]


def test_b07_a_warm_cache_is_another_series_and_no_improvement(tables: Query) -> None:
    rows = tables(
        "select cache_state, output_tok_s_gpu, eligible, eligibility_reason, uncached_input_tok_s_gpu, "
        "line_id "
        "from mart.benchmark_point where chip_id = 'case-b07' order by measured_on"
    )
    assert [row[:5] for row in rows] == [
        ("cold", 9800, True, "eligible", None),
        ("warm", 18200, False, "warm_prefix_cache", pytest.approx(40)),
    ]
    assert len({row[5] for row in rows}) == 2
    assert tables("select count(*) from mart.yield_change where chip_id = 'case-b07'") == [(0,)]
    flagged = tables(
        "select concurrency, coalesce(flags, '') like '%repeated prompts%' from mart.benchmark_point "
        "where chip_id = 'case-b07s' order by concurrency"
    )
    assert flagged == [(4, False), (8, True), (16, False)]


def test_b08_a_carried_point_shows_its_age_and_makes_no_event(tables: Query) -> None:
    assert tables(
        "select chip_id, before_value, after_value, after_on from mart.yield_change "
        "where chip_id in ('case-b08x', 'case-b08y') and token_kind = 'output'"
    ) == [("case-b08x", 596, 848, date(2026, 11, 10))]
    assert tables(
        "select chip_id, throughput_tok_s_gpu, benchmark_age_days from mart.cost_per_million_tokens_daily "
        "where date = date '2026-11-10' and speed_tier = 'max_throughput' and token_kind = 'output' "
        "and chip_id in ('case-b08x', 'case-b08y') and price_series_id = ? order by chip_id",
        SERIES,
    ) == [("case-b08x", 848, 0), ("case-b08y", 700, 40)]


def test_b09_what_was_withdrawn_leaves_today_and_stays_in_the_past(tables: Query) -> None:
    newest = "select output_tok_s_gpu from {} where chip_id = 'case-b09' and superseded_on is null"
    assert tables(newest.format("mart.benchmark_point")) == [(640,)]
    past = "mart.benchmark_point_as_known(timestamptz '2026-11-15')"
    assert tables(newest.format(past)) == [(848,)]
    events = (
        "select before_value, after_value, withdrawn from {} where chip_id = 'case-b09' "
        "and token_kind = 'output' order by after_value"
    )
    assert tables(events.format("mart.yield_change")) == [(596, 640, False), (596, 848, True)]
    past = "mart.yield_change_as_known(timestamptz '2026-11-15')"
    assert tables(events.format(past)) == [(596, 848, False)]


def test_b10_the_latest_attempt_wins_in_whatever_order(tables: Query, tmp_path: Path) -> None:
    asked = "select output_tok_s_gpu, attempt from core.benchmark_point where chip_id = 'case-b10'"
    assert tables(asked) == [(848, 2)]
    ours = [row for row in ROWS if row.values.get("raw_chip_name") == "case-b10"]
    priced_chip = priced("case-b10", "2.00")
    other = world(tmp_path, [priced_chip, *reversed(ours)], marts=["mart.benchmark_point"], shuffle=7)
    assert other(asked) == [(848, 2)]


def test_b10_an_unofficial_file_overrides_no_official_point(tables: Query) -> None:
    assert tables(
        "select output_tok_s_gpu, release_status, eligible from mart.benchmark_point "
        "where chip_id = 'case-b10u'"
    ) == [(500, "available", True)]


def test_b12_a_missing_figure_is_no_cost_and_has_a_reason(tables: Query) -> None:
    assert tables(
        "select distinct usd_per_million_tokens, null_reason from mart.cost_per_million_tokens_daily "
        "where chip_id = 'case-b12'"
    ) == [(None, "no_price")]
    assert tables(
        "select usd_per_million_tokens, null_reason from mart.cost_per_million_tokens "
        "where chip_id = 'case-b12p' and token_kind = 'output' and price_series_id = ?",
        SERIES,
    ) == [(None, "no_throughput")]
    assert tables(
        "select eligible, eligibility_reason from mart.benchmark_point where chip_id = 'case-b12p'"
    ) == [(False, "no_throughput")]


def test_b13_a_corrected_count_is_a_correction_and_no_performance(tables: Query) -> None:
    asked = "select output_tok_s_gpu, accelerator_count from {} where chip_id = 'case-b13'"
    assert tables(asked.format("mart.benchmark_point")) == [(6000, 4)]
    past = "mart.benchmark_point_as_known(timestamptz '2026-03-27 12:00:00+00')"
    assert tables(asked.format(past)) == [(3000, 8)]
    assert tables(
        "select before_value, after_value, cause, withdrawn from mart.yield_change "
        "where chip_id = 'case-b13' and token_kind = 'output'"
    ) == [(3000, 6000, "correction", False)]


def test_d04_input_output_and_total_stand_apart_and_know_the_cache(tables: Query) -> None:
    assert dict(
        tables(
            "select token_kind, throughput_tok_s_gpu from mart.cost_per_million_tokens "
            "where chip_id = 'case-b01' and gpu_scope = 'all' and price_series_id = ?",
            SERIES,
        )
    ) == {"input": 1000, "output": 125, "total": 1125}
    # Of 1000 input tokens a second 960 came from the cache.
    assert tables(
        "select input_tok_s_gpu, uncached_input_tok_s_gpu, cache_hit_rate from mart.benchmark_point "
        "where chip_id = 'case-b07' and cache_state = 'warm'"
    ) == [(1000, pytest.approx(40), 0.96)]
