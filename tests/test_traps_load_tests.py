"""Traps of result files of load generators: vLLM's, SGLang's and genai-bench's.

One test per trap, named after what it prevents. Figures are invented and chosen to be checked in the head.
"""

from __future__ import annotations

import contextlib
import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = all_sources()
AT = datetime(2026, 11, 30, tzinfo=UTC)
VLLM, SGLANG, GENAI = "vllm_bench", "sglang_bench", "genai_bench"
STATED = {"publisher": "own", "evidence": "measured", "chip_name": "H100 SXM"}
ALL_STATED = STATED | {"model_name": "example-org/example-70b", "measured_on": "2026-02-20"}


def lines(slug: str) -> list[dict[str, Any]]:
    (payload,) = (FIXTURES / slug).glob("payload.*")
    return [json.loads(line) for line in payload.read_text("utf-8").splitlines()]


VLLM_RUN, SGLANG_OLD, SGLANG_NEW = lines(VLLM)[0], *lines(SGLANG)[:2]
GENAI_METADATA, GENAI_RUN = (
    json.loads((FIXTURES / GENAI / f"payload-{number}.json").read_text("utf-8")) for number in (1, 2)
)


def read_runs(slug: str, *runs: Any, context: dict[str, Any] | None = None) -> Parsed:
    """Read runs as one file of lines; genai-bench has a file for each."""
    said = [json.dumps(run).encode() for run in runs]
    bodies = said if slug == GENAI else [b"\n".join(said)]
    parts = tuple(Part(f"part-{number}", body) for number, body in enumerate(bodies))
    if context is None:
        context = STATED if slug == VLLM else ALL_STATED
    return read(SOURCES[slug], Snapshot(slug, "trap", "all", parts, AT, AT, context))


def point(parsed: Parsed) -> dict[str, Any]:
    assert parsed.refused.is_empty(), parsed.refused.to_dicts()
    (row,) = parsed.rows["benchmark_result"].to_dicts()
    return row


def reasons(parsed: Parsed) -> list[str]:
    assert not parsed.rows
    return parsed.refused["reason"].to_list()


def genai(**changes: Any) -> dict[str, Any]:
    return GENAI_RUN | {"aggregated_metrics": GENAI_RUN["aggregated_metrics"] | changes}


# --- Whose file it is ---------------------------------------------------------------------------

LLMPERF = {
    "version": "2023-08-31", "model": "llama2-70b", "num_concurrent_requests": 5, "framework": "example",
    "results_inter_token_latency_s_mean": 0.005, "results_ttft_s_mean": 0.2,
    "results_mean_output_throughput_token_per_s": 440,
}  # fmt: skip
AGGREGATE = {"hw": "b200", "infmax_model_prefix": "m", "framework": "vllm", "precision": "fp8", "conc": 4}
NAMED = [
    (VLLM_RUN, VLLM, "vLLM's serving benchmark; import it as vllm_bench"),
    (SGLANG_OLD, SGLANG, "SGLang's bench_serving; import it as sglang_bench"),
    (GENAI_RUN, GENAI, "a run of genai-bench; import it as genai_bench"),
    (AGGREGATE, None, "InferenceX; import it as inferencex_run"),
    (LLMPERF, None, "LLMPerf: API-provider speeds without hardware cannot be priced"),
    ({"request_latency": 1, "output_sequence_length": 1, "input_sequence_length": 1}, None, "AIPerf"),
    ({"metadata": {}, "config": {}, "benchmarks": []}, None, "GuideLLM"),
    ({"load_summary": {}, "successes": {}, "failures": {}}, None, "inference-perf"),
    ({"version": "0.2", "run": {}, "scenario": {}, "results": {}}, None, "llm-d"),
]


@pytest.mark.parametrize("slug", [VLLM, SGLANG, GENAI])
def test_a_file_of_another_tool_is_named_and_refused(slug: str) -> None:
    for document, owner, named in NAMED:
        if owner == slug:
            continue
        with pytest.raises(SourceError, match=named) as refused:
            read_runs(slug, document)
        assert "\n" not in str(refused.value)


@pytest.mark.parametrize("slug", [VLLM, SGLANG, GENAI])
@pytest.mark.parametrize("document", [{}, [], [1], 3, "text", None, {"completed": 1}])
def test_what_no_tool_wrote_is_refused(slug: str, document: Any) -> None:
    with pytest.raises(SourceError, match="not a "):
        read_runs(slug, document)


def test_one_foreign_line_costs_the_whole_file() -> None:
    with pytest.raises(SourceError, match=r"run 1: looks like a result of vLLM"):
        read_runs(SGLANG, SGLANG_OLD, VLLM_RUN)


# --- Throughput ---------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["output_throughput", "total_token_throughput", "input_throughput"])
def test_a_throughput_that_tokens_and_time_do_not_make_is_refused(key: str) -> None:
    # 327.68 out + 655.36 in = 983.04; a share of it, as a figure per GPU would be, is none of them.
    assert reasons(read_runs(VLLM, VLLM_RUN | {key: 81.92})) == ["throughputs_do_not_add_up"]


def test_a_rounded_throughput_is_kept_as_stated() -> None:
    assert point(read_runs(VLLM, VLLM_RUN | {"output_throughput": 327}))["output_tok_s"] == 327
    assert reasons(read_runs(VLLM, VLLM_RUN | {"output_throughput": 324})) == ["throughputs_do_not_add_up"]


def test_no_gpu_count_is_made_up() -> None:
    row = point(read_runs(VLLM, VLLM_RUN))
    assert (row["accelerator_count"], row["tp"], row["engine"]) == (None, None, None)
    assert row["throughput_basis"] == "system"


def test_genai_takes_the_throughput_of_the_server_and_not_of_a_request() -> None:
    row = point(read_runs(GENAI, GENAI_RUN))
    # 20,000 and 84,000 tokens in 50 s; one request sees 50 and 4,000 per second.
    assert (row["output_tok_s"], row["input_tok_s"], row["total_tok_s"]) == (400, 1680, 2080)


def test_genai_reasoning_tokens_counted_twice_do_not_pass() -> None:
    twice = genai(mean_total_tokens_throughput_tokens_per_s=2280.0)
    assert reasons(read_runs(GENAI, twice)) == ["throughputs_do_not_add_up"]


# --- Failures -----------------------------------------------------------------------------------


def test_an_absent_count_of_failures_is_unknown_and_not_zero() -> None:
    without = {key: value for key, value in VLLM_RUN.items() if key != "failed"}
    assert point(read_runs(VLLM, without))["failed_requests"] is None
    assert point(read_runs(VLLM, VLLM_RUN | {"completed": 64}))["failed_requests"] == 0


def test_a_run_that_mostly_failed_keeps_what_was_planned() -> None:
    # 900 refused requests leave no other trace than the plan.
    row = point(read_runs(VLLM, VLLM_RUN | {"num_prompts": 1000, "failed": 936}))
    assert (row["planned_requests"], row["completed_requests"], row["failed_requests"]) == (1000, 64, 936)


def test_more_completed_than_planned_is_refused() -> None:
    assert reasons(read_runs(VLLM, VLLM_RUN | {"completed": 65})) == ["more_completed_than_planned"]


@pytest.mark.parametrize(
    ("slug", "run"),
    [
        (VLLM, VLLM_RUN | {"completed": 0}),
        (
            VLLM,
            VLLM_RUN
            | dict.fromkeys(("output_throughput", "total_token_throughput", "request_throughput"), 0.0),
        ),
        (SGLANG, SGLANG_OLD | {"completed": 0}),
        (SGLANG, SGLANG_OLD | {"output_throughput": 0.0}),
        (GENAI, genai(num_completed_requests=0)),
    ],
    ids=["vllm", "vllm_zeros", "sglang", "sglang_zeros", "genai"],
)
def test_a_run_of_zeros_is_no_free_server(slug: str, run: dict[str, Any]) -> None:
    assert reasons(read_runs(slug, run)) == ["no_completed_requests"]


# --- Speed --------------------------------------------------------------------------------------


def test_speed_is_one_over_the_median_tpot() -> None:
    row = point(read_runs(VLLM, VLLM_RUN | {"median_tpot_ms": 16, "median_itl_ms": 64}))
    assert (row["interactivity_tok_s_user"], row["speed_percentile"]) == (62.5, "p50")
    assert (row["tpot_p50_ms"], row["itl_p50_ms"]) == (16, 64)


@pytest.mark.parametrize("slug", [VLLM, SGLANG])
def test_no_speed_comes_from_a_mean_a_tail_or_the_gap_between_chunks(slug: str) -> None:
    run = {k: v for k, v in (VLLM_RUN if slug == VLLM else SGLANG_NEW).items() if k != "median_tpot_ms"}
    row = point(read_runs(slug, run))
    assert run["mean_tpot_ms"]
    assert run["p99_tpot_ms"]
    assert row["itl_p50_ms"]
    assert (row["interactivity_tok_s_user"], row["speed_percentile"]) == (None, None)


@pytest.mark.parametrize("tpot", [0.0204, 0.4, 20_400, 2001])
def test_seconds_under_a_name_for_milliseconds_are_refused(tpot: float) -> None:
    run = {key: value for key, value in VLLM_RUN.items() if not key.endswith("tpot_ms")}
    assert reasons(read_runs(VLLM, run | {"median_tpot_ms": tpot})) == ["tpot_out_of_range"]
    assert reasons(read_runs(VLLM, VLLM_RUN | {"median_tpot_ms": -20})) == ["negative"]


def test_a_tpot_that_counts_chunks_is_left_out_with_a_note() -> None:
    # After its first token a request of 512 tokens took 10,650 ms: 511 gaps of 20.8, not of 2.
    chunks = {"mean_tpot_ms": 2, "median_tpot_ms": 2, "p90_tpot_ms": 3, "p99_tpot_ms": 4}
    row = point(read_runs(VLLM, VLLM_RUN | chunks))
    assert (row["interactivity_tok_s_user"], row["tpot_p50_ms"], row["output_tok_s"]) == (None, None, 327.68)
    assert "TPOT left out" in row["note"]


def test_genai_unit_is_the_one_that_the_file_declares() -> None:
    stats = GENAI_RUN["aggregated_metrics"]["stats"]
    latencies = {
        key: {name: value * 1000 for name, value in stats[key].items()}
        for key in ("ttft", "tpot", "e2e_latency", "output_latency")
    }
    in_ms = genai(stats=stats | latencies) | {"_time_unit": "ms"}
    row, same = point(read_runs(GENAI, in_ms)), point(read_runs(GENAI, GENAI_RUN))
    for column in ("ttft_p50_ms", "tpot_p50_ms", "e2e_p99_ms", "interactivity_tok_s_user"):
        assert row[column] == same[column]
    wrong = GENAI_RUN | {"_time_unit": "ms"}
    assert reasons(read_runs(GENAI, wrong)) == ["speed_is_not_reciprocal_of_tpot"]
    silent = genai(stats={key: value for key, value in stats.items() if key != "output_inference_speed"})
    assert reasons(read_runs(GENAI, silent | {"_time_unit": "ms"})) == ["tpot_out_of_range"]
    with pytest.raises(SourceError, match="latencies in ms or s"):
        read_runs(GENAI, GENAI_METADATA, in_ms, context=STATED)
    with pytest.raises(SourceError, match="latencies in us"):
        read_runs(GENAI, GENAI_RUN | {"_time_unit": "us"})


def test_genai_speed_that_its_tpot_contradicts_is_refused() -> None:
    stats = GENAI_RUN["aggregated_metrics"]["stats"]
    slow = genai(stats=stats | {"output_inference_speed": {"p50": 5.0}})
    assert reasons(read_runs(GENAI, slow)) == ["speed_is_not_reciprocal_of_tpot"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"p90_ttft_ms": 100}, "percentiles_out_of_order"),
        ({"p99_tpot_ms": 22}, "percentiles_out_of_order"),
        ({"median_e2el_ms": 120}, "request_shorter_than_its_first_token"),
    ],
)
def test_times_that_cannot_be_are_refused(change: dict[str, Any], reason: str) -> None:
    assert reasons(read_runs(VLLM, VLLM_RUN | change)) == [reason]


def test_what_was_not_measured_is_unknown_though_the_tool_writes_zero() -> None:
    unstreamed = {key: 0.0 if key.endswith(("tpot_ms", "itl_ms")) else v for key, v in VLLM_RUN.items()}
    row = point(read_runs(VLLM, unstreamed))
    assert row["output_tok_s"] == 327.68
    assert (row["tpot_p50_ms"], row["itl_p50_ms"], row["interactivity_tok_s_user"]) == (None, None, None)


# --- Load ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, (16, None, "closed_loop", "request rate unlimited")),
        ({"request_rate": 4.5}, (None, 4.5, "poisson", "at most 16 in flight")),
        ({"request_rate": 4.5, "burstiness": 0.5}, (None, 4.5, None, "at most 16 in flight")),
        ({"max_concurrency": None}, (None, None, "all_at_once", "request rate unlimited")),
        (
            {"max_concurrency": 65},
            (None, None, "all_at_once", "request rate unlimited; at most 65 in flight"),
        ),
        (
            {"ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 9},
            (None, None, None, "request rate ramped from 1 to 9 per second; at most 16 in flight"),
        ),
    ],
    ids=["unlimited", "rate", "bursts", "no_limit", "fewer_requests_than_the_limit", "ramp"],
)
def test_load_is_what_held_and_not_what_was_allowed(change: dict[str, Any], expected: tuple) -> None:
    row = point(read_runs(VLLM, VLLM_RUN | change))
    assert (row["concurrency"], row["request_rate"], row["arrival"], row["note"]) == expected


@pytest.mark.parametrize("rate", [float("nan"), float("-inf"), "fast", True])
def test_no_other_word_for_a_rate_is_unlimited(rate: Any) -> None:
    for slug, run in ((VLLM, VLLM_RUN), (SGLANG, SGLANG_OLD)):
        assert reasons(read_runs(slug, run | {"request_rate": rate}))[0] in {"not_finite", "wrong_type"}


def test_infinity_costs_its_own_line_only() -> None:
    parsed = read_runs(SGLANG, SGLANG_OLD, SGLANG_NEW | {"median_ttft_ms": float("inf")})
    assert len(parsed.rows["benchmark_result"]) == 1
    assert parsed.refused["reason"].to_list() == ["not_finite"]


def test_sglang_mean_concurrency_is_not_the_one_offered() -> None:
    assert point(read_runs(SGLANG, SGLANG_NEW))["concurrency"] == 32
    assert point(read_runs(SGLANG, SGLANG_NEW | {"max_concurrency": None}))["concurrency"] is None


def test_genai_rate_in_the_place_of_a_concurrency_is_refused() -> None:
    assert reasons(read_runs(GENAI, genai(num_concurrency=4.0))) == ["wrong_type"]
    row = point(read_runs(GENAI, genai(iteration_type="request_rate", request_rate=4, num_concurrency=1)))
    assert (row["request_rate"], row["concurrency"]) == (4, None)


# --- Workload -----------------------------------------------------------------------------------


def test_a_default_of_an_unused_option_is_no_workload() -> None:
    row = point(read_runs(SGLANG, SGLANG_OLD | {"dataset_name": "sharegpt"}))
    assert (row["isl_nominal"], row["osl_nominal"], row["workload"]) == (None, None, "sharegpt")


def test_requests_half_as_long_are_not_the_fixed_workload() -> None:
    assert point(read_runs(SGLANG, SGLANG_OLD))["workload"] == "spread-1024-512"
    stated = STATED | {"isl_nominal": 8192, "osl_nominal": 1024}
    # 64 requests of 8,192 and 512 tokens.
    row = point(read_runs(VLLM, VLLM_RUN | {"total_input_tokens": 524288, "total_token_throughput": 5570.56}
                          | {"input_throughput": 5242.88}, context=stated))  # fmt: skip
    assert row["workload"] == "spread-8192-1024"
    longer = {"total_input_tokens": 471859, "total_output_tokens": 58982, "output_throughput": 589.82}
    whole = VLLM_RUN | longer | {"total_token_throughput": 5308.41}
    assert point(read_runs(VLLM, whole, context=stated))["workload"] == "fixed-8192-1024"


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ("D(800,200)", ("fixed-800-200", 800, 200)),
        ("D(100,200)", ("spread-100-200", 100, 200)),
        ("N(480,240)/(300,150)", ("normal-480-240-300-150", None, None)),
        ("U(2000,200)", ("uniform-2000-200", None, None)),
        ("U(50,100)/(200,250)", ("uniform-50-100-200-250", None, None)),
        ("P(500,300)/200", ("prefix-500-300-200", 800, 200)),
        ("dataset", ("dataset", None, None)),
    ],
)
def test_genai_scenarios(scenario: str, expected: tuple) -> None:
    row = point(read_runs(GENAI, genai(scenario=scenario)))
    assert (row["workload"], row["isl_nominal"], row["osl_nominal"]) == expected


@pytest.mark.parametrize("scenario", ["E(1024)", "R(1024,100)", "I(512,512)", "", None, 5])
def test_genai_scenarios_without_text_are_refused(scenario: Any) -> None:
    assert reasons(read_runs(GENAI, genai(scenario=scenario))) == ["scenario_not_known"]


# --- Server and model ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["/models/x", "./x", "../x", "~/x", "C:\\models\\x", "D:/x", "a\\b", "a/b/c", "", None]
)
def test_a_folder_is_no_model_name_and_asks_for_one(path: Any) -> None:
    run = VLLM_RUN | {"model_id": path}
    with pytest.raises(SourceError, match=r"neither .* states model_name"):
        read_runs(VLLM, run)
    row = point(read_runs(VLLM, run, context=STATED | {"model_name": "example-org/example-8b"}))
    assert (row["raw_model_name"], row["model_revision"]) == ("example-org/example-8b", None)


def test_a_model_that_the_file_names_is_not_renamed() -> None:
    with pytest.raises(SourceError, match="states model_name"):
        read_runs(VLLM, VLLM_RUN, context=STATED | {"model_name": "example-org/other"})


def test_a_downloaded_model_is_named_by_its_folder() -> None:
    revision = "a" * 40
    path = f"/data/hub/models--example-org--example--8b/snapshots/{revision}/"
    row = point(read_runs(VLLM, VLLM_RUN | {"model_id": path}))
    assert (row["raw_model_name"], row["model_revision"]) == ("example-org/example--8b", revision)
    with pytest.raises(SourceError, match="states model_name"):
        read_runs(VLLM, VLLM_RUN | {"model_id": path}, context=STATED | {"model_name": "example-org/other"})


def test_the_protocol_of_the_client_is_not_the_engine() -> None:
    assert point(read_runs(VLLM, VLLM_RUN | {"backend": "vllm"}))["engine"] is None
    assert point(read_runs(SGLANG, SGLANG_OLD | {"backend": "sglang-oai"}))["engine"] is None
    assert point(read_runs(SGLANG, SGLANG_OLD | {"backend": "vllm"}))["engine"] is None
    assert point(read_runs(SGLANG, SGLANG_OLD))["engine"] == "sglang"


def test_sglang_copies_have_ranks_of_their_own_unless_they_share_attention() -> None:
    info = SGLANG_NEW["server_info"]
    row = point(read_runs(SGLANG, SGLANG_NEW))
    assert (row["tp"], row["workers"], row["dp"], row["dp_attention"]) == (4, 2, None, False)
    shared = SGLANG_NEW | {"server_info": info | {"enable_dp_attention": True}}
    row = point(read_runs(SGLANG, shared))
    assert (row["tp"], row["workers"], row["dp"], row["dp_attention"]) == (4, None, 2, True)


def test_sglang_one_worker_of_a_role_is_not_the_deployment() -> None:
    roles = {"prefill": [SGLANG_NEW["server_info"]], "decode": [SGLANG_NEW["server_info"]]}
    row = point(read_runs(SGLANG, SGLANG_NEW | {"server_info": roles}))
    assert (row["disaggregated"], row["tp"], row["workers"]) == (True, None, None)


def test_sglang_null_is_no_speculation_and_absent_is_unknown() -> None:
    info = dict(SGLANG_NEW["server_info"])
    none = SGLANG_NEW | {"server_info": info | {"speculative_algorithm": None}, "accept_length": None}
    row = point(read_runs(SGLANG, none))
    assert (row["speculative_method"], row["acceptance_length"], row["acceptance_basis"]) == (
        "none",
        None,
        None,
    )
    del info["speculative_algorithm"]
    assert point(read_runs(SGLANG, SGLANG_NEW | {"server_info": info}))["speculative_method"] is None


def test_acceptance_that_a_person_knows_to_be_made_up_is_not_called_measured() -> None:
    assert point(read_runs(SGLANG, SGLANG_NEW))["acceptance_basis"] == "measured"
    row = point(read_runs(SGLANG, SGLANG_NEW, context=ALL_STATED | {"acceptance_basis": "synthetic"}))
    assert (row["acceptance_length"], row["acceptance_basis"]) == (2.5, "synthetic")


@pytest.mark.parametrize("count", ["8 x H100", "0", "", 8.5, True])
def test_genai_gpu_count_that_is_no_number_is_refused(count: Any) -> None:
    parsed = read_runs(GENAI, GENAI_METADATA | {"server_gpu_count": count}, GENAI_RUN, context=STATED)
    assert reasons(parsed) == ["not_a_number"]


def test_genai_result_without_metadata_asks_for_what_is_missing() -> None:
    with pytest.raises(SourceError, match="chip_name, model_name, measured_on"):
        read_runs(GENAI, GENAI_RUN, context={"publisher": "own", "evidence": "measured"})
    assert point(read_runs(GENAI, GENAI_RUN))["accelerator_count"] is None


def test_genai_metadata_belongs_to_its_results() -> None:
    with pytest.raises(SourceError, match="without a result"):
        read_runs(GENAI, GENAI_METADATA)
    with pytest.raises(SourceError, match="2 experiments"):
        read_runs(GENAI, GENAI_METADATA, GENAI_METADATA, GENAI_RUN)
    with pytest.raises(SourceError, match=r"none of the experiment's"):
        read_runs(GENAI, GENAI_METADATA, genai(scenario="D(1,1)"), context=STATED)
    images = GENAI_METADATA | {"task": "image-text-to-text"}
    assert reasons(read_runs(GENAI, images, GENAI_RUN, context=STATED)) == ["no_text_to_text"]


# --- Which run and when -------------------------------------------------------------------------


def run_ids(parsed: Parsed) -> list[str]:
    return parsed.rows["benchmark_result"]["run_id"].to_list()


def test_a_run_keeps_its_id_when_its_file_grows_or_is_laid_out_anew() -> None:
    (alone,) = run_ids(read_runs(SGLANG, SGLANG_OLD))
    assert alone in run_ids(read_runs(SGLANG, SGLANG_NEW, SGLANG_OLD))
    body = json.dumps(dict(sorted(SGLANG_OLD.items())), indent=2).encode()
    again = read(SOURCES[SGLANG], Snapshot(SGLANG, "trap", "all", (Part("x", body),), AT, AT, ALL_STATED))
    assert run_ids(again) == [alone]
    assert len(alone) == 12


def test_repeated_runs_of_one_second_stay_two_and_one_run_stays_one() -> None:
    twin = VLLM_RUN | {"median_tpot_ms": 20.5}
    assert len(set(run_ids(read_runs(VLLM, VLLM_RUN, twin)))) == 2
    twice = read_runs(VLLM, VLLM_RUN, VLLM_RUN)
    assert len(run_ids(twice)) == 1
    assert twice.refused["reason"].to_list() == ["identical_duplicate"]


def test_a_stated_run_id_is_of_one_run() -> None:
    assert run_ids(read_runs(VLLM, VLLM_RUN, context=STATED | {"run_id": "night 7"})) == ["night 7"]
    with pytest.raises(SourceError, match="2 runs"):
        read_runs(VLLM, VLLM_RUN, lines(VLLM)[1], context=STATED | {"run_id": "night 7"})


def test_vllm_day_is_the_one_stated_whatever_the_zone() -> None:
    late = VLLM_RUN | {"date": "20260428-235959"}
    assert point(read_runs(VLLM, late))["measured_on"] == date(2026, 4, 28)
    observed = SOURCES[VLLM].observed_at
    assert observed is not None
    parts = (Part("x", b"\n".join(json.dumps(run).encode() for run in (late, VLLM_RUN))),)
    assert observed(parts) == datetime(2026, 4, 28, tzinfo=UTC)
    with pytest.raises(SourceError, match="measured_on"):
        read_runs(VLLM, late, context=STATED | {"measured_on": "2026-04-29"})


@pytest.mark.parametrize("stamp", ["2026-04-28", "20260431-000000", "20260428", "", None, 20260428])
def test_vllm_date_that_is_none_is_refused(stamp: Any) -> None:
    with pytest.raises(SourceError, match="date of a run"):
        read_runs(VLLM, VLLM_RUN | {"date": stamp})


def test_a_run_from_the_future_is_refused() -> None:
    with pytest.raises(SourceError, match="after it was stored"):
        read_runs(VLLM, VLLM_RUN | {"date": "20270101-000000"})


def test_sglang_line_has_no_date_and_asks_for_one() -> None:
    with pytest.raises(SourceError, match="measured_on"):
        read_runs(SGLANG, SGLANG_OLD, context=STATED | {"model_name": "example-org/example-70b"})


def test_genai_folder_that_a_person_named_is_no_date() -> None:
    observed = SOURCES[GENAI].observed_at
    assert observed is not None
    parts = tuple(Part(f"{n}", json.dumps(d).encode()) for n, d in enumerate((GENAI_METADATA, GENAI_RUN)))
    assert observed(parts) == datetime(2026, 6, 12, tzinfo=UTC)
    named = GENAI_METADATA | {"experiment_folder_name": "nightly_20260612"}
    assert observed((Part("0", json.dumps(named).encode()), parts[1])) is None


def test_a_cut_last_line_costs_the_whole_file() -> None:
    body = (FIXTURES / SGLANG / "payload.jsonl").read_bytes()
    for cut in (2, 40, 300):
        parts = (Part("x", body[:-cut]),)
        with pytest.raises(SourceError, match="document 7 is not a whole"):
            read(SOURCES[SGLANG], Snapshot(SGLANG, "trap", "all", parts, AT, AT, ALL_STATED))


STRANGE = [None, "", "x", True, -1, 0, 1.5, float("nan"), [], [1], {}, {"a": 1}, 10**30, "1" * 500]


@pytest.mark.parametrize("slug", [VLLM, SGLANG, GENAI])
def test_nothing_that_a_field_may_hold_breaks_the_reader(slug: str) -> None:
    """Every field in turn with values of the wrong kind: a refusal with a reason, or a row, no crash."""
    runs = {VLLM: [lines(VLLM)[1]], SGLANG: [SGLANG_NEW], GENAI: [GENAI_METADATA, GENAI_RUN]}[slug]
    for place, run in enumerate(runs):
        for path in paths(run):
            for value in STRANGE:
                changed = [*runs[:place], replaced(run, path, value), *runs[place + 1 :]]
                with contextlib.suppress(SourceError):
                    parsed = read_runs(slug, *changed, context=STATED if slug == GENAI else None)
                    assert parsed.candidates == 1, (path, value)


def paths(document: Any, upto: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every field of a document; of lists only as a whole, and of repeated statistics only two."""
    found = []
    for key, value in document.items():
        if key in ("individual_request_metrics", "p25", "p75", "min", "max", "stddev"):
            continue
        found.append((*upto, key))
        if isinstance(value, dict):
            found += paths(value, (*upto, key))
    return found


def replaced(document: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    key, *rest = path
    return document | {key: replaced(document[key], tuple(rest), value) if rest else value}


def test_whole_requests_have_percentiles_in_order_too() -> None:
    longer, shorter = {"median_e2el_ms": 10360.0, "p99_e2el_ms": 12000.0}, {"p99_e2el_ms": 12.0}
    assert point(read_runs(VLLM, VLLM_RUN | longer))["e2e_p99_ms"] == 12000
    refused = read_runs(VLLM, VLLM_RUN | longer | shorter).refused
    assert refused["reason"].to_list() == ["percentiles_out_of_order"]
