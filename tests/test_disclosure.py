"""What a benchmark states and what it leaves out: scores and missing fields worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bench_world import point
from price_world import Query, world

STATED = {
    "methodology": "runnable", "raw_chip_name": "case-full SXM 80GB", "model_revision": "9f3c",
    "parameters_stated": "total_and_active", "kv_precision": "fp8", "engine_version": "0.11",
    "isl_mean": 7400, "osl_mean": 930, "dataset": "random", "cache_hit_rate": 0.0, "ttft_p50_ms": 900,
    "ttft_p95_ms": 1500, "ttft_p99_ms": 2000, "accuracy_task": "gsm8k", "accuracy_value": 0.95,
    "failed_requests": 0, "completed_requests": 640, "duration_s": 220, "power_w_gpu": 650,
    "power_kw_gpu_provisioned": 1.71,
}  # fmt: skip
# What InferenceX states of a fixed-length point: nominal lengths, no 95th percentile, one kind of power.
INFERENCEX = {
    "methodology": "runnable", "url": "https://example.com/run", "dataset": "random", "ttft_p50_ms": 900,
    "ttft_p99_ms": 2000, "speculative_method": "mtp", "accuracy_value": 0.95, "duration_s": 220,
    "power_w_gpu": 650, "accelerator_count": None, "raw_chip_name": "case-h200",
}  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    rows = [
        point("case-full SXM 80GB", "2026-10-01", **STATED),
        point("case-h200", "2026-10-01", **INFERENCEX),
        point("case-bare", "2026-10-01", run_id=None, measured_on=None, image=None, engine=None, tp=None,
              disaggregated=None, accelerator_count=None, isl_nominal=None, osl_nominal=None,
              concurrency=None, weight_precision=None, speculative_method=None, independent=None,
              output_tok_s=None, tpot_p50_ms=None, speed_percentile="stated", throughput_basis=None,
              workload="unstated"),
    ]  # fmt: skip
    return world(tmp_path_factory.mktemp("disclosure"), rows)


def scored(tables: Query, chip: str) -> tuple[Any, ...]:
    (row,) = tables(
        "select d.disclosure_score, d.missing_fields, d.partial_fields, d.failed_gates "
        "from mart.benchmark_disclosure as d inner join mart.benchmark_point as p "
        "on d.subject_id = p.benchmark_point_id where d.subject_kind = 'point' and p.chip_id = ?",
        chip,
    )
    return row


def test_a_point_that_states_everything_has_a_hundred(tables: Query) -> None:
    assert scored(tables, "case-full SXM 80GB") == (100, None, None, None)


def test_a_typical_inferencex_point_scores_as_its_fields_do(tables: Query) -> None:
    # Whole: methodology 8, date 5, split 4, engine 6, ranks 4, concurrency 6, throughput 7, speed 4,
    # accuracy 4, independent 2 = 50. Half of: chip 5, count 6, model 4, precision 6, lengths 6, dataset 5,
    # TTFT 5, speculation 6, failures 3, power 2 = 24. Parameter counts are not stated.
    assert scored(tables, "case-h200") == (
        74,
        "parameter count",
        "chip, accelerator count, model, precision, input length, output length, dataset and cache hit rate, "
        "TTFT, speculative acceptance, failures and duration, power",
        None,
    )


def test_a_bare_speed_scores_its_chip_its_model_and_its_speed(tables: Query) -> None:
    score, missing, partial, gates = scored(tables, "case-bare")
    # Half of chip 5, model 4 and speed per user 4.
    assert score == 6.5
    assert partial == "chip, model, speed per user"
    assert gates == "accelerator count, precision, throughput"
    assert missing.startswith("methodology, measurement date, accelerator count, prefill/decode split")


def test_a35_the_report_of_848_shows_low_with_its_missing_fields_by_name(embedded: Query) -> None:
    sql = (
        "select disclosure_score, missing_fields from mart.benchmark_disclosure "
        "where subject_kind = 'report' and subject_id = ?"
    )
    ((score, missing),) = embedded(sql, "report-848-undisclosed")
    # The chip, 5, and half of the model's 4.
    assert score == 7
    named = (
        "methodology, parameter count, precision, concurrency, input length, output length, TTFT, "
        "independent verification"
    )
    assert set(named.split(", ")) <= set(missing.split(", "))
    # The other report of the same figure states 552, 8 and 16 billion parameters, and per whom the speed is.
    ((score, missing),) = embedded(sql, "cryptobriefing-848")
    assert score == 11
    assert set(named.split(", ")) - set(missing.split(", ")) == {"parameter count"}
    # Its points say the same as the reading of it.
    assert embedded(
        "select distinct disclosure_score, missing_fields from mart.benchmark_point "
        "where publisher = 'cryptobriefing'"
    ) == [(score, missing)]


def test_weights_sum_to_a_hundred_and_gates_are_those_without_which_no_figure_ranks(embedded: Query) -> None:
    gates = embedded(
        "select distinct failed_gates from mart.benchmark_point as p "
        "inner join mart.benchmark_disclosure as d "
        "on d.subject_id = p.benchmark_point_id where p.eligible"
    )
    assert gates == [(None,)]
    seed = (Path(__file__).parents[1] / "seeds/disclosure_weight.csv").read_text("utf-8").splitlines()[1:]
    assert sum(int(line.split(",")[3]) for line in seed) == 100
