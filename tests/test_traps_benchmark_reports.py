"""Traps of the files that AIPerf, GuideLLM, inference-perf and llm-d write: one test per trap.

The payloads are the fixtures' own, changed in one place; figures are worked out by hand.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.decode import strict_yaml
from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = all_sources()
AT = datetime(2026, 12, 31, tzinfo=UTC)
FILES = {
    "aiperf": "payload.json",
    "guidellm": "payload.json",
    "inference_perf": "payload.json",
    "llmd_report": "payload.yaml",
}
EVERY_TOOL = pytest.mark.parametrize("slug", sorted(FILES))


def document_of(slug: str) -> Any:
    """Return the fixture of a tool as plain JSON values; of GuideLLM's benchmarks the first alone."""
    body = (FIXTURES / slug / FILES[slug]).read_bytes()
    document = json.loads(json.dumps(strict_yaml(body), default=_plain))
    if slug == "guidellm":
        document["benchmarks"] = document["benchmarks"][:1]
    return document


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else float(value)


def context_of(slug: str) -> dict[str, Any]:
    return json.loads((FIXTURES / slug / "meta.json").read_text("utf-8"))["context"]


def read_bytes(slug: str, body: bytes, context: dict[str, Any] | None = None, name: str = "file") -> Parsed:
    context = context_of(slug) if context is None else context
    return read(SOURCES[slug], Snapshot(slug, "trap", "import", (Part(name, body),), AT, AT, context))


def read_document(slug: str, document: Any, **more: Any) -> Parsed:
    return read_bytes(slug, json.dumps(document).encode(), **more)


def changed(slug: str, change: Callable[[Any], Any], **more: Any) -> Parsed:
    document = copy.deepcopy(document_of(slug))
    change(document)
    return read_document(slug, document, **more)


def only(parsed: Parsed) -> dict[str, Any]:
    assert reasons(parsed) == []
    (row,) = parsed.rows["benchmark_result"].to_dicts()
    return row


def reasons(parsed: Parsed) -> list[str]:
    return parsed.refused["reason"].to_list()


def speed(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["interactivity_tok_s_user"], row["speed_percentile"], row["tpot_p50_ms"]


# --- What holds for all of them -----------------------------------------------------------------


@EVERY_TOOL
def test_throughput_is_of_the_whole_server(slug: str) -> None:
    assert only(read_document(slug, document_of(slug)))["throughput_basis"] == "system"


@EVERY_TOOL
@pytest.mark.parametrize("other", sorted(FILES))
def test_a_file_of_another_tool_is_refused_by_its_keys(slug: str, other: str) -> None:
    if slug != other:
        with pytest.raises(SourceError, match=rf"import it as {other}|no Benchmark Report|not a whole JSON"):
            read_document(slug, document_of(other))


@EVERY_TOOL
def test_what_neither_file_nor_context_states_is_asked_for_by_name(slug: str) -> None:
    with pytest.raises(SourceError, match=r"neither the file nor its context states publisher, evidence"):
        read_document(slug, document_of(slug), context={})


@EVERY_TOOL
def test_a_context_that_contradicts_the_file_is_refused(slug: str) -> None:
    wrong = {"concurrency": 999} if slug in ("aiperf", "guidellm") else {"request_rate": 999}
    with pytest.raises(SourceError, match="999"):
        read_document(slug, document_of(slug), context=context_of(slug) | wrong)


@EVERY_TOOL
def test_a_mock_is_assumed_whatever_the_context_says(slug: str) -> None:
    context = context_of(slug) | {"engine": "llm-d-inference-sim"}
    document = document_of(slug)
    if slug == "llmd_report":
        for component in document["scenario"]["stack"]:
            component["standardized"]["tool"] = "llm-d-inference-sim"
    row = only(read_document(slug, document, context=context))
    assert row["evidence"] == "assumed"
    assert "a mock answered" in row["note"]


@pytest.mark.parametrize("name", ["org/simple-7b", "org/mockingbird-7b", "org/SimPO-8b"])
def test_a_name_that_only_begins_like_a_mock_is_measured(name: str) -> None:
    def rename(document: Any) -> None:
        document["input_config"]["endpoint"]["model_names"] = [name]

    assert only(changed("aiperf", rename))["evidence"] == "measured"


@EVERY_TOOL
def test_what_a_person_notes_is_kept(slug: str) -> None:
    context = context_of(slug) | {"note": "on the old rack"}
    assert "on the old rack" in only(read_document(slug, document_of(slug), context=context))["note"]


TPOT = {
    "aiperf": lambda d: d["inter_token_latency"],
    "guidellm": lambda d: d["benchmarks"][0]["metrics"]["inter_token_latency_ms"]["successful"],
    "inference_perf": lambda d: d["successes"]["latency"]["time_per_output_token"],
    "llmd_report": lambda d: d["results"]["request_performance"]["aggregate"]["latency"][
        "time_per_output_token"
    ],
}


@EVERY_TOOL
def test_a_tpot_that_divides_by_chunks_is_no_speed_and_the_point_stays(slug: str) -> None:
    """Two chunks to a token halve the mean: 100 tokens of half the time do not fill the request."""

    def halve(document: Any) -> None:
        block = TPOT[slug](document)
        for key in ("mean", "avg"):
            if key in block:
                block[key] /= 2

    row = only(changed(slug, halve))
    assert speed(row) == (None, None, None)
    assert (row["tpot_p90_ms"], row["tpot_p95_ms"], row["tpot_p99_ms"]) == (None, None, None)
    assert row["output_tok_s"] > 0
    assert "took 2.00 times what it says" in row["note"]


@EVERY_TOOL
def test_a_tpot_in_another_unit_than_it_says_is_refused(slug: str) -> None:
    def thousandfold(document: Any) -> None:
        block = TPOT[slug](document)
        for key, value in block.items():
            if isinstance(value, float):
                block[key] = value * 1000
            elif isinstance(value, dict):
                block[key] = {name: figure * 1000 for name, figure in value.items()}
        # The mean would show it first, and take the speed away; without one, the range must.
        block.pop("mean", None)
        block.pop("avg", None)

    assert reasons(changed(slug, thousandfold)) in (
        ["tpot_out_of_range"],
        ["speed_is_not_reciprocal_of_tpot"],
    )


# --- AIPerf -------------------------------------------------------------------------------------


def test_aiperf_inter_token_latency_is_tpot_and_inter_chunk_latency_is_not() -> None:
    row = only(read_document("aiperf", document_of("aiperf")))
    assert speed(row) == (50, "p50", 20)  # 1000 ms / 20 ms
    assert row["itl_p50_ms"] == 40


def test_aiperf_milliseconds_that_are_seconds_are_refused_by_the_speed_beside_them() -> None:
    def seconds(document: Any) -> None:
        document["inter_token_latency"] = {"unit": "ms", "p50": 0.0490139}
        document["output_token_throughput_per_user"]["p50"] = 20.40

    assert reasons(changed("aiperf", seconds)) == ["speed_is_not_reciprocal_of_tpot"]


def test_aiperf_time_in_seconds_is_read_by_its_unit() -> None:
    def seconds(document: Any) -> None:
        block = document["time_to_first_token"]
        document["time_to_first_token"] = {"unit": "sec"} | {
            key: value / 1000 for key, value in block.items() if key != "unit"
        }

    assert only(changed("aiperf", seconds))["ttft_p50_ms"] == 190


@pytest.mark.parametrize("unit", ["minutes", None, "", 7, ["ms"]])
@pytest.mark.parametrize("metric", ["request_latency", "inter_token_latency", "output_token_throughput"])
def test_aiperf_unit_that_is_not_known_is_refused(metric: str, unit: Any) -> None:
    parsed = changed("aiperf", lambda document: document[metric].update(unit=unit))
    assert reasons(parsed) == ["unknown_unit"]


def test_aiperf_without_a_unit_at_all_is_no_aiperf() -> None:
    with pytest.raises(SourceError, match="no unit"):
        changed("aiperf", lambda document: document["request_count"].pop("unit"))


def test_aiperf_errors_that_nobody_counts_are_unknown_and_never_zero() -> None:
    row = only(changed("aiperf", lambda document: document.update(error_request_count=None)))
    assert row["failed_requests"] is None


def test_aiperf_errors_that_only_the_list_counts_are_counted() -> None:
    def listed(document: Any) -> None:
        del document["error_request_count"]
        document["error_summary"] = [{"error_details": {"code": 503}, "count": 3}, {"count": 4}]

    assert only(changed("aiperf", listed))["failed_requests"] == 7


def test_aiperf_missing_throughput_is_null_and_no_other_figure_takes_its_place() -> None:
    def without(document: Any) -> None:
        for key in ("output_token_throughput", "total_token_throughput", "inter_token_latency"):
            del document[key]

    row = only(changed("aiperf", without))
    assert (row["output_tok_s"], row["total_tok_s"]) == (None, None)
    assert speed(row) == (None, None, None)


def test_aiperf_run_without_a_success_is_refused() -> None:
    parsed = changed("aiperf", lambda document: document["request_count"].update(avg=0.0))
    assert reasons(parsed) == ["no_completed_requests"]


def test_aiperf_cancelled_run_is_refused() -> None:
    assert reasons(changed("aiperf", lambda d: d.update(was_cancelled=True))) == ["cancelled_run"]


def test_aiperf_total_tokens_named_as_output_are_refused() -> None:
    """1 request/s of 201 output tokens cannot make 1201 output tokens per second."""

    def total(document: Any) -> None:
        document["output_token_throughput"]["avg"] = 1201.0
        del document["total_token_throughput"]

    assert reasons(changed("aiperf", total)) == ["throughput_is_not_requests_times_tokens"]


def test_aiperf_unlimited_cache_is_no_hit_rate_of_the_server() -> None:
    def ceiling(document: Any) -> None:
        del document["overall_usage_prompt_cache_read_pct"]
        document["theoretical_prefix_cache_hit"] = {"unit": "%", "avg": 95.25}

    row = only(changed("aiperf", ceiling))
    assert row["cache_hit_rate"] is None
    assert "95.25 %" in row["note"]


def test_aiperf_telemetry_gives_neither_chip_nor_count() -> None:
    gpus = {"gpu_0": {"gpu_name": "NVIDIA T4"}, "gpu_1": {"gpu_name": "NVIDIA T4"}}

    def watched(document: Any) -> None:
        document["telemetry_data"] = {"endpoints": {"localhost:9400": {"gpus": gpus}}}

    row = only(changed("aiperf", watched))
    assert (row["raw_chip_name"], row["accelerator_count"]) == ("H100 SXM", 1)
    assert "telemetry watched 2 x NVIDIA T4" in row["note"]


def test_aiperf_day_is_utc_and_not_that_of_a_clock_without_a_zone() -> None:
    """The first request left at 2026-05-29 00:10 UTC, and somebody's clock said 16:10 on the day before."""

    def evening(document: Any) -> None:
        document["min_request_timestamp"]["avg"] = 1780013400e9
        document["max_response_timestamp"]["avg"] = 1780013500e9
        document["start_time"] = "2026-05-28T16:10:00"

    assert only(changed("aiperf", evening))["measured_on"] == date(2026, 5, 29)
    document = document_of("aiperf")
    evening(document)
    part = Part("file", json.dumps(document).encode())
    assert SOURCES["aiperf"].observed_at((part,)) == datetime(2026, 5, 29, 0, 11, 40, tzinfo=UTC)


def test_aiperf_start_without_a_zone_proves_no_day() -> None:
    def without(document: Any) -> None:
        del document["min_request_timestamp"], document["max_response_timestamp"]

    with pytest.raises(SourceError, match="states measured_on"):
        changed("aiperf", without)


def test_aiperf_run_of_tomorrow_is_refused() -> None:
    with pytest.raises(SourceError, match="after it was stored"):
        changed("aiperf", lambda document: document["max_response_timestamp"].update(avg=1.9e18))


@pytest.mark.parametrize("place", ["public_dataset", "custom_dataset_type", "detected_loader"])
def test_aiperf_replayed_trace_is_a_replay_and_has_no_nominal_lengths(place: str) -> None:
    def replay(document: Any) -> None:
        document["input_config"]["input"] = {place: "mooncake_trace", "file": "trace.jsonl", "random_seed": 7}

    row = only(changed("aiperf", replay))
    assert (row["traffic_basis"], row["workload"]) == ("replay", "unstated")
    assert (row["isl_nominal"], row["isl_mean"]) == (None, 1000)


def test_aiperf_agentx_scenario_is_its_own_workload() -> None:
    def agentx(document: Any) -> None:
        document["metadata"] = {
            "scenario": "inferencex-agentx-mvp",
            "dataset": {"hf_dataset_name": "x/traces"},
        }
        document["input_config"]["input"] = {"public_dataset": "x_traces"}

    row = only(changed("aiperf", agentx))
    assert (row["workload"], row["traffic_basis"], row["dataset"]) == ("agentx", "replay", "x/traces")


def test_aiperf_lists_of_models_datasets_and_phases_are_read() -> None:
    """Later versions list them; a replay that is not seen would pass for a benchmark."""
    dataset = {"name": "main", "format": "mooncake_trace", "random_seed": 42}
    phase = {"name": "profiling", "concurrency": 16, "timing_mode": "request_rate"}

    def lists(document: Any) -> None:
        document["input_config"] = {
            "models": {"items": [{"name": "org/model"}]},
            "endpoint": {"urls": ["http://gpu-server:8000"]},
            "datasets": [dataset],
            "phases": [phase],
        }

    row = only(changed("aiperf", lists))
    assert (row["raw_model_name"], row["concurrency"], row["dataset_seed"]) == ("org/model", 16, "42")
    assert row["traffic_basis"] == "replay"

    def warm_up(document: Any) -> None:
        lists(document)
        dataset["format"] = "sharegpt"
        document["input_config"]["phases"] = [phase | {"concurrency": 1}, phase]

    row = only(changed("aiperf", warm_up))
    assert (row["traffic_basis"], row["concurrency"]) == ("benchmark", None)


def test_aiperf_of_several_models_is_refused() -> None:
    def two(document: Any) -> None:
        document["input_config"]["endpoint"]["model_names"] = ["org/a", "org/b"]

    assert reasons(changed("aiperf", two)) == ["several_models"]


def test_aiperf_model_that_is_a_path_wants_a_name() -> None:
    def path(document: Any) -> None:
        document["input_config"]["endpoint"]["model_names"] = ["/data/models/llama"]

    with pytest.raises(SourceError, match="model_name"):
        changed("aiperf", path)
    row = only(changed("aiperf", path, context=context_of("aiperf") | {"model_name": "llama-70b"}))
    assert row["raw_model_name"] == "llama-70b"


def test_aiperf_run_without_an_id_is_named_by_its_bytes() -> None:
    document = document_of("aiperf")
    del document["benchmark_id"]
    body = json.dumps(document).encode()
    assert only(read_bytes("aiperf", body))["run_id"] == hashlib.sha256(body).hexdigest()[:12]
    assert only(read_bytes("aiperf", body, context_of("aiperf") | {"run_id": "r7"}))["run_id"] == "r7"


CSV = """Metric,avg,min,max,sum,p1,p5,p10,p25,p50,p75,p90,p95,p99,std
Inter Token Latency (ms),20.00,1,30,1,1,1,1,1,20.00,21,22.00,23.00,25.00,1
Output Sequence Length (tokens),201.00,1,300,1,1,1,1,1,201.00,1,201,201,201,1
Output Token Throughput Per User (tokens/sec/user),49.80,1,60,1,1,1,1,1,50.00,1,52,53,54,1
Request Latency (ms),4200.00,1,5000,1,1,1,1,1,4190.00,1,4600,4700,4900.50,1
Time to First Token (ms),200.00,1,400,1,1,1,1,1,190.00,1,260,280,300,1

Metric,Value
Benchmark Duration (sec),2000.00
Output Token Throughput (tokens/sec),10.95
Overall Usage Prompt Cache Read % (%),12.50
Request Count,109.00
Request Throughput (requests/sec),0.05


Endpoint,GPU_Index,GPU_Name,GPU_UUID,Metric,avg
localhost:9400,0,NVIDIA T4,GPU-0,GPU Power Usage (W),70.00
"""
CSV_CONTEXT = {
    "publisher": "own", "evidence": "measured", "chip_name": "H100 SXM", "model_name": "llama-70b",
    "measured_on": "2026-06-01", "concurrency": 8,
}  # fmt: skip


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_aiperf_csv_is_read_by_the_units_of_its_headers(newline: str) -> None:
    row = only(read_bytes("aiperf", CSV.replace("\n", newline).encode(), CSV_CONTEXT))
    assert speed(row) == (50, "p50", 20)
    assert (row["ttft_p50_ms"], row["e2e_p99_ms"]) == (190, 4900.5)
    assert (row["completed_requests"], row["failed_requests"], row["duration_s"]) == (109, None, 2000)
    assert (row["output_tok_s"], row["cache_hit_rate"], row["concurrency"]) == (10.95, 0.125, 8)
    assert row["run_id"] == hashlib.sha256(CSV.replace("\n", newline).encode()).hexdigest()[:12]


def test_aiperf_csv_that_says_ms_and_holds_seconds_is_refused() -> None:
    wrong = CSV.replace("20.00,1,30,1,1,1,1,1,20.00,21,22.00", "0.02,0,0,1,0,0,0,0,0.02,0,0.02")
    wrong = wrong.replace("Output Sequence Length (tokens),201.00", "Output Sequence Length (tokens),")
    assert reasons(read_bytes("aiperf", wrong.encode(), CSV_CONTEXT)) == ["speed_is_not_reciprocal_of_tpot"]


def test_aiperf_csv_of_another_unit_is_refused() -> None:
    other = CSV.replace("Time to First Token (ms)", "Time to First Token (cycles)")
    assert reasons(read_bytes("aiperf", other.encode(), CSV_CONTEXT)) == ["unknown_unit"]


@pytest.mark.parametrize(
    "body",
    [
        CSV[: CSV.index("Metric,Value")],
        CSV.split("\n\n")[1],
        CSV.replace("Request Count,109.00\n", ""),
        "a,b\n1,2\n",
    ],
    ids=["without_the_server", "without_the_requests", "without_the_count", "another_csv"],
)
def test_aiperf_csv_that_lacks_a_section_is_refused(body: str) -> None:
    with pytest.raises(SourceError, match="no whole AIPerf summary"):
        read_bytes("aiperf", body.encode(), CSV_CONTEXT)


# --- GuideLLM -----------------------------------------------------------------------------------


def first(document: Any) -> Any:
    return document["benchmarks"][0]


def test_guidellm_time_per_output_token_is_never_a_speed() -> None:
    """It includes the first token: 10.5 ms would be 95 tok/s, and the user sees 1000 / 8 = 125."""
    row = only(read_document("guidellm", document_of("guidellm")))
    assert speed(row) == (125, "p50", 8)

    def without(document: Any) -> None:
        del first(document)["metrics"]["inter_token_latency_ms"]

    assert speed(only(changed("guidellm", without))) == (None, None, None)


def test_guidellm_distribution_of_all_requests_is_not_read() -> None:
    def without(document: Any) -> None:
        del first(document)["metrics"]["output_tokens_per_second"]["successful"]

    assert only(changed("guidellm", without))["output_tok_s"] is None


def test_guidellm_throughput_is_the_mean_and_not_the_median_of_instants() -> None:
    assert only(read_document("guidellm", document_of("guidellm")))["output_tok_s"] == 202


def test_guidellm_count_of_failures_that_is_absent_is_unknown() -> None:
    row = only(changed("guidellm", lambda d: first(d)["metrics"]["request_totals"].pop("errored")))
    assert row["failed_requests"] is None


def test_guidellm_without_a_count_of_successes_is_refused() -> None:
    parsed = changed("guidellm", lambda d: first(d)["metrics"]["request_totals"].pop("successful"))
    assert reasons(parsed) == ["missing_value"]


def test_guidellm_each_benchmark_is_its_own_candidate_and_run() -> None:
    document = document_of("guidellm")
    second = copy.deepcopy(first(document))
    second["config"]["id_"] = "another"
    second["config"]["strategy"]["streams"] = 4
    document["benchmarks"].append(second)
    rows = read_document("guidellm", document).rows["benchmark_result"]
    assert rows["concurrency"].to_list() == [2, 4]
    assert rows["run_id"].n_unique() == 2


@pytest.mark.parametrize("change", [{"turns": 2}, {"prefix_buckets": [{"prefix_tokens": 16}]}])
def test_guidellm_prompt_that_grows_has_no_nominal_length(change: dict[str, Any]) -> None:
    row = only(changed("guidellm", lambda d: d["config"]["spec"]["data"][0].update(change)))
    assert (row["isl_nominal"], row["workload"], row["isl_mean"]) == (None, "unstated", 500)


def test_guidellm_warm_up_that_is_cut_off_leaves_the_plan_unknown() -> None:
    row = only(changed("guidellm", lambda d: first(d)["config"]["warmup"].update(percent=0.1)))
    assert row["planned_requests"] is None


def test_guidellm_report_ends_with_its_last_benchmark() -> None:
    part = Part("file", (FIXTURES / "guidellm" / "payload.json").read_bytes())
    # The sixth starts 500 s after the first, at 20:26:40, and lasts 60 s.
    assert SOURCES["guidellm"].observed_at((part,)) == datetime(2026, 5, 28, 20, 36, 0, tzinfo=UTC)


def test_guidellm_schema_1_has_its_id_beside_the_configuration() -> None:
    def schema_1(document: Any) -> None:
        document["metadata"]["version"] = 1
        document["args"] = {"data": ["prompt_tokens=500,output_tokens=100"]}
        del document["config"]
        first(document)["id_"] = first(document)["config"].pop("id_")

    row = only(changed("guidellm", schema_1))
    assert row["run_id"] == "00000000-0000-4000-8000-000000000010"
    assert (row["isl_nominal"], speed(row)) == (None, (125, "p50", 8))


@pytest.mark.parametrize("schema", [0, 3, "2", None, True])
def test_guidellm_schema_that_is_not_known_is_refused(schema: Any) -> None:
    with pytest.raises(SourceError, match="report schema"):
        changed("guidellm", lambda d: d["metadata"].update(version=schema))


def test_guidellm_model_that_is_a_path_takes_the_stated_name() -> None:
    def path(document: Any) -> None:
        first(document)["config"]["backend"]["model"] = "/models/llama"

    context = context_of("guidellm") | {"model_name": "llama-8b"}
    assert only(changed("guidellm", path, context=context))["raw_model_name"] == "llama-8b"


# --- inference-perf -----------------------------------------------------------------------------


def test_inference_perf_times_are_seconds_and_chunks_are_no_tokens() -> None:
    row = only(read_document("inference_perf", document_of("inference_perf")))
    assert speed(row) == (125, "p50", 8)  # 0.008 s
    assert row["itl_p50_ms"] == 0.25


def test_inference_perf_whole_request_over_tokens_is_never_a_speed() -> None:
    row = only(
        changed("inference_perf", lambda d: d["successes"]["latency"].update(time_per_output_token=None))
    )
    assert speed(row) == (None, None, None)


def test_inference_perf_summary_of_all_stages_is_no_point() -> None:
    def summary(document: Any) -> None:
        for key in ("requested_rate", "achieved_rate", "send_duration"):
            del document["load_summary"][key]

    with pytest.raises(SourceError, match="all stages together"):
        changed("inference_perf", summary)


def test_inference_perf_one_adapter_is_no_point() -> None:
    with pytest.raises(SourceError, match="one adapter"):
        read_document(
            "inference_perf", document_of("inference_perf"), name="adapter_a_stage_0_lifecycle_metrics.json"
        )


def test_inference_perf_prometheus_report_is_refused_in_one_line() -> None:
    report = {
        "load_summary": {},
        "successes": {"count": 937, "queue_len": {"mean": 0}, "time_per_output_token": {"median": 0.01}},
        "failures": {},
    }
    with pytest.raises(SourceError, match="Prometheus"):
        read_document("inference_perf", report)


def test_inference_perf_beside_a_concurrency_the_rate_is_none() -> None:
    row = only(changed("inference_perf", lambda d: d["load_summary"].update(concurrency=32)))
    assert (row["concurrency"], row["request_rate"]) == (32, None)


def test_inference_perf_rate_that_was_not_reached_is_told() -> None:
    assert (
        "sent at 2.00 per second"
        in only(read_document("inference_perf", document_of("inference_perf")))["note"]
    )
    reached = only(changed("inference_perf", lambda d: d["load_summary"].update(achieved_rate=2.45)))
    assert reached["note"] is None


def test_inference_perf_requests_that_vanish_are_refused() -> None:
    parsed = changed("inference_perf", lambda d: d["load_summary"].update(count=150))
    assert reasons(parsed) == ["requests_do_not_add_up"]


def test_inference_perf_absent_failures_are_unknown() -> None:
    row = only(changed("inference_perf", lambda d: d["failures"].pop("count")))
    assert row["failed_requests"] is None


def test_inference_perf_no_cached_token_may_be_a_server_that_does_not_say() -> None:
    row = only(changed("inference_perf", lambda d: d["successes"]["prompt_tokens"].update(cached=0.0)))
    assert row["cache_hit_rate"] is None


def test_inference_perf_report_of_2025_names_the_prompt_otherwise() -> None:
    def older(document: Any) -> None:
        del document["successes"]["prompt_tokens"], document["benchmark_time_seconds"]
        document["successes"]["prompt_len"] = {"mean": 500.0}

    row = only(changed("inference_perf", older))
    assert (row["isl_mean"], row["duration_s"], row["cache_hit_rate"]) == (500, None, None)


# --- llm-d --------------------------------------------------------------------------------------


def engines(document: Any) -> list[Any]:
    parts = [component["standardized"] for component in document["scenario"]["stack"]]
    return [part for part in parts if part["kind"] == "inference_engine"]


def counts(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["accelerator_count"], row["prefill_accelerator_count"], row["decode_accelerator_count"]


def test_llmd_replicas_multiply_and_roles_keep_their_own_gpus() -> None:
    row = only(read_document("llmd_report", document_of("llmd_report")))
    assert counts(row) == (12, 4, 8)  # 2 x 2 prefill, 1 x 8 decode


def test_llmd_replicas_of_one_role_have_no_sides() -> None:
    def aggregated(document: Any) -> None:
        document["scenario"]["stack"] = document["scenario"]["stack"][:1]
        engines(document)[0].update(role="replica", replicas=3)

    row = only(changed("llmd_report", aggregated))
    assert (row["disaggregated"], counts(row)) == (False, (6, None, None))
    assert (row["tp"], row["workers"], row["prefill_tp"]) == (2, 3, None)


def test_llmd_decode_alone_may_serve_both_sides() -> None:
    def alone(document: Any) -> None:
        document["scenario"]["stack"] = document["scenario"]["stack"][1:]

    row = only(changed("llmd_report", alone))
    assert (row["disaggregated"], counts(row)) == (None, (8, None, None))


@pytest.mark.parametrize(
    ("change", "told"),
    [({"count": 64}, "whose ranks are 8"), ({"count": 0}, "not stated"), ({"workers": 2}, "2 workers")],
)
def test_llmd_count_that_ranks_do_not_explain_is_left_out(change: dict[str, int], told: str) -> None:
    def wrong(document: Any) -> None:
        accelerator = engines(document)[1]["accelerator"]
        accelerator.update({key: value for key, value in change.items() if key == "count"})
        accelerator["parallelism"].update({key: value for key, value in change.items() if key == "workers"})

    row = only(changed("llmd_report", wrong))
    assert counts(row) == (None, None, None)
    assert told in row["note"]


def test_llmd_stack_of_two_chips_is_refused() -> None:
    parsed = changed("llmd_report", lambda d: engines(d)[0]["accelerator"].update(model="NVIDIA-A100"))
    assert reasons(parsed) == ["several_in_one_stack"]


@pytest.mark.parametrize("units", ["minutes", None])
def test_llmd_units_that_are_not_known_are_refused(units: Any) -> None:
    parsed = changed("llmd_report", lambda d: TPOT["llmd_report"](d).update(units=units))
    assert reasons(parsed) == ["unknown_unit"]


def test_llmd_example_of_the_schema_loads_only_as_assumed() -> None:
    """The published examples have one distribution for input, output and total."""

    def example(document: Any) -> None:
        throughput = document["results"]["request_performance"]["aggregate"]["throughput"]
        for name in ("input_token_rate", "output_token_rate", "total_token_rate"):
            throughput[name]["mean"] = 2262.448

    assert reasons(changed("llmd_report", example)) == ["throughputs_do_not_add_up"]
    context = context_of("llmd_report") | {"evidence": "assumed"}
    assert only(changed("llmd_report", example, context=context))["evidence"] == "assumed"


def test_llmd_failures_that_are_not_counted_leave_the_successes_unknown() -> None:
    row = only(
        changed(
            "llmd_report",
            lambda d: d["results"]["request_performance"]["aggregate"]["requests"].pop("failures"),
        )
    )
    assert (row["planned_requests"], row["completed_requests"], row["failed_requests"]) == (6010, None, None)


def test_llmd_turns_after_the_first_hold_more_than_was_asked_for() -> None:
    row = only(
        changed(
            "llmd_report",
            lambda d: d["scenario"]["load"]["standardized"].update(multi_turn={"enabled": True}),
        )
    )
    assert (row["isl_nominal"], row["workload"]) == (None, "unstated")


@pytest.mark.parametrize("version", ["0.1", "0.20", "0.3", 1])
def test_llmd_report_of_another_schema_is_refused(version: Any) -> None:
    with pytest.raises(SourceError, match="Benchmark Report"):
        changed("llmd_report", lambda d: d.update(version=version))


def test_llmd_report_of_json_and_of_yaml_is_the_same() -> None:
    whole = only(read_bytes("llmd_report", (FIXTURES / "llmd_report" / "payload.yaml").read_bytes()))
    assert only(read_document("llmd_report", document_of("llmd_report"))) == whole
    part = Part("file", json.dumps(document_of("llmd_report")).encode())
    assert SOURCES["llmd_report"].observed_at((part,)) == datetime(2026, 7, 1, 0, 10, tzinfo=UTC)


def test_llmd_time_without_a_zone_is_refused() -> None:
    with pytest.raises(SourceError, match="time_without_zone"):
        changed("llmd_report", lambda d: d["run"]["time"].update(end="2026-07-01T00:10:00"))
