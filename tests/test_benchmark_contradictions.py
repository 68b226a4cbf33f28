"""Benchmark points that contradict themselves or each other: none of them becomes a figure in silence.

Belongs here: what the tables must refuse, leave unknown or put in order, whatever source it came from.
Does not belong here: one source's parser, and the cases of `test_fault_cases_b.py`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from bench_world import point, retraction
from imported_world import built
from price_world import Query, Row, world

from pipelines import run

SYSTEM = {"throughput_basis": "system"}
SPEED_ALONE = {"tpot_p50_ms": None}
ROLES = {"prefill_accelerator_count": 8, "decode_accelerator_count": 8, "accelerator_count": None, "tp": None}


def case(name: str, number: int, **changes: Any) -> Row:
    return point(f"case-{name}", "2026-10-01", concurrency=number, **changes)


ROWS = [
    # Eight ranks on four GPUs, eight replicas on one, and roles with more ranks than GPUs.
    case("ranks", 1, tp=8, accelerator_count=4),
    case("ranks", 2, tp=1, dp=8, accelerator_count=1),
    case("ranks", 3, tp=8, workers=2, disaggregated=True, prefill_accelerator_count=8,
         decode_accelerator_count=8, accelerator_count=16),
    case("ranks", 4, tp=4, prefill_tp=8, prefill_workers=2, disaggregated=True, prefill_accelerator_count=8,
         decode_accelerator_count=8, accelerator_count=16),
    # A placeholder of one rank beside true counts says nothing against them.
    case("ranks", 5, tp=1, disaggregated=True, prefill_accelerator_count=8, decode_accelerator_count=8,
         accelerator_count=16),
    # Attention of eight replicas cannot share one tensor rank; of four it can share eight.
    case("attention", 1, tp=1, dp=8, dp_attention=True, accelerator_count=None, **SYSTEM),
    case("attention", 2, tp=8, dp=4, dp_attention=True, accelerator_count=None, **SYSTEM),
    # Two sides with counts, and nobody says that they are two: 8 GPUs or 16.
    case("roles", 1, disaggregated=None, **SYSTEM, **ROLES),
    case("roles", 2, disaggregated=True, **SYSTEM, **ROLES),
    # A total that is the output, one that is less, and one that is less than the input.
    case("total", 1, total_tok_s=1000),
    case("total", 2, total_tok_s=900),
    case("total", 3, total_tok_s=900, **SYSTEM),
    case("total", 4, output_tok_s=None, input_tok_s=1200, total_tok_s=900, **SYSTEM),
    case("total", 5, total_tok_s=9000),
    # Requests: more came to an end than were sent; none succeeded; only the failures were counted.
    case("requests", 1, planned_requests=1000, completed_requests=960, failed_requests=960),
    case("requests", 2, completed_requests=0),
    case("requests", 3, planned_requests=1000, failed_requests=900),
    case("requests", 4, planned_requests=1000, failed_requests=10),
    # A speed alone, where a TPOT of seconds was taken for one of milliseconds, or the other way round.
    case("speed", 1, interactivity_tok_s_user=20402, **SPEED_ALONE),
    case("speed", 2, interactivity_tok_s_user=0.02, **SPEED_ALONE),
    case("speed", 3, interactivity_tok_s_user=20.4, **SPEED_ALONE),
    case("speed", 4, ttft_p50_ms=0.224),
    case("speed", 5, ttft_p50_ms=0.224, evidence="assumed"),
    # Figures that no GPU can have, of a chip of which nothing is known; a cost of them would break the build.
    case("size", 1, output_tok_s=1e-9),
    case("size", 2, output_tok_s=1e9),
    case("size", 3, output_tok_s=8e-5, **SYSTEM),
    # A second attempt on a branch beside the first official one, and a branch alone.
    case("branch", 1, attempt=1, output_tok_s=500, release_status="available"),
    case("branch", 1, attempt=2, output_tok_s=900, ttft_p50_ms=7, release_status="unofficial",
         source="branch"),
    case("branch", 2, attempt=1, output_tok_s=500, release_status="unofficial", source="branch"),
    case("branch", 2, attempt=2, output_tok_s=600, release_status="unofficial", source="branch"),
    # Retractions in full, of what is not stored, and four that name nothing.
    *(retraction(locator, "2026-10-05", "a slip") for locator in (
        "lab/run/111", "mlcommons/result/v5.1/closed/a b", "0123456789abcdef",
        "Lab/run/111", "lab/runs/111", "lab/run/", "111",
    )),
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("contradictions"), ROWS)


def reasons(tables: Query, name: str) -> list[str | None]:
    asked = "select reject_reason from clean.benchmark_result where raw_chip_name = ? order by concurrency"
    return [reason for (reason,) in tables(asked, f"case-{name}")]


def test_more_ranks_than_gpus_are_no_count(tables: Query) -> None:
    assert reasons(tables, "ranks") == ["gpu_counts_contradict"] * 4 + [None]


def test_attention_of_more_replicas_than_ranks_leaves_the_count_unknown(tables: Query) -> None:
    assert tables(
        "select accelerator_count, gpu_count_basis, output_tok_s_gpu, eligible from mart.benchmark_point "
        "where chip_id = 'case-attention' order by concurrency"
    ) == [(None, "unknown", None, False), (8, "inferred", 125, True)]


def test_counts_of_two_sides_want_to_be_said_to_be_two(tables: Query) -> None:
    assert reasons(tables, "roles") == ["disaggregation_not_stated", None]
    assert tables("select accelerator_count from mart.benchmark_point where chip_id = 'case-roles'") == [
        (16,)
    ]


def test_a_total_is_more_than_its_output(tables: Query) -> None:
    assert reasons(tables, "total") == ["tokens_do_not_add_up"] * 4 + [None]


def test_requests_are_counted_once_and_failures_alone_count_too(tables: Query) -> None:
    assert reasons(tables, "requests") == ["more_requests_than_planned", "no_completed_requests", None, None]
    assert tables(
        "select concurrency, eligibility_reason from mart.benchmark_point where chip_id = 'case-requests' "
        "order by concurrency"
    ) == [(3, "success_share_low"), (4, "eligible")]


def test_no_throughput_is_beyond_all_measure(tables: Query) -> None:
    assert reasons(tables, "size") == ["throughput_out_of_range"] * 3


def test_a_speed_and_a_first_token_have_limits_too(tables: Query) -> None:
    assert reasons(tables, "speed") == ["speed_out_of_range"] * 2 + [None, "ttft_out_of_range", None]


def test_an_attempt_on_a_branch_takes_no_official_one_away(tables: Query) -> None:
    assert tables(
        "select concurrency, output_tok_s_gpu, ttft_p50_ms, eligibility_reason from mart.benchmark_point "
        "where chip_id = 'case-branch' order by concurrency"
    ) == [(1, 500, None, "eligible"), (2, 600, None, "release_is_unofficial")]


def mended(root: Path, **conditions: list[Any]) -> Query:
    """Import one vLLM result with each context in turn: a person who mends what they had stated."""
    run = {
        "date": "20261102-101500", "model_id": "deepseek-ai/DeepSeek-R1-0528", "num_prompts": 640,
        "request_rate": "inf", "max_concurrency": 64, "duration": 200, "completed": 640, "failed": 0,
        "total_input_tokens": 655360, "total_output_tokens": 640000, "request_throughput": 3.2,
    }  # fmt: skip
    stated = {
        "publisher": "me", "evidence": "measured", "chip_name": "H200 SXM", "engine": "vllm",
        "weight_precision": "fp8", "accelerator_count": 8, "seen": datetime(2026, 11, 2, tzinfo=UTC),
    }  # fmt: skip
    files = [
        ("vllm_bench", "run.json", json.dumps(run).encode(), stated | dict(zip(conditions, one, strict=True)))
        for one in zip(*conditions.values(), strict=True)
    ]
    return built(root, files, "mart.benchmark_point")


def test_a_mended_gpu_count_is_the_same_point(tmp_path: Path) -> None:
    # 640,000 tokens in 200 s are 3,200 tokens per second: 400 on each of 8 GPUs, 800 on each of 4.
    ask = mended(tmp_path, accelerator_count=[8, 4])
    assert ask(
        "select accelerator_count, output_tok_s_gpu from mart.benchmark_point where publisher = 'me'"
    ) == [(4, 800)]


# In both orders, since digests know one: whatever they are, one of the two is wrong where they decide.
@pytest.mark.parametrize("versions", [["0.9", "0.10"], ["0.10", "0.9"]], ids=["up", "down"])
def test_the_last_of_several_mended_contexts_counts(tmp_path: Path, versions: list[str]) -> None:
    ask = mended(tmp_path, engine_version=versions)
    assert ask("select engine_version from mart.benchmark_point where publisher = 'me'") == [(versions[-1],)]


def test_words_of_a_context_meet_however_they_are_written(tmp_path: Path) -> None:
    ask = mended(tmp_path, publisher=["Me"], weight_precision=["FP8"])
    assert ask("select publisher, precision from mart.benchmark_point where publisher ilike 'me'") == [
        ("me", "fp8")
    ]


def test_a_retraction_that_could_retract_nothing_is_found(tables: Query) -> None:
    check = Path(run.__file__).parents[1] / "sql" / "checks" / "retraction_is_written_in_full.sql"
    found = {locator for _, locator in tables(check.read_text("utf-8"))}
    assert found == {"Lab/run/111", "lab/runs/111", "lab/run/", "111"}
