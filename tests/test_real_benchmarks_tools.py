"""The files that benchmark tools really wrote: every one is read with its context, or refused in one line.

The figures are the files' own, looked up by hand. The files are not part of this repository;
TOKENYIELD_SHARED_DATA says where they are, and without them these tests are skipped, and say so.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED_DATA
from imported_world import built

from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

FOLDER = SHARED_DATA / "benchmarks"
AT = datetime(2026, 11, 30, tzinfo=UTC)
SOURCES = all_sources()
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no real payloads at {FOLDER}: set TOKENYIELD_SHARED_DATA"
)

# What the folders' own notes say of these files, and the files do not.
AGENTX = {
    "publisher": "inferencex", "evidence": "measured", "chip_name": "MI355X", "tp": 4, "engine": "vllm",
    "weight_precision": "fp4", "release_status": "unofficial", "speculative_method": "none",
}  # fmt: skip
# The chip is the one that the telemetry of these runs saw.
QWEN = {"publisher": "aiperf", "evidence": "measured", "chip_name": "NVIDIA RTX 6000 Ada Generation"}
KUBECON = {
    "publisher": "inference-perf", "evidence": "measured", "chip_name": "H100 80GB", "accelerator_count": 1,
    "model_name": "meta-llama/Meta-Llama-3-8B-Instruct", "engine": "vllm", "measured_on": "2025-11-05",
}  # fmt: skip
EXAMPLE = {"publisher": "llm-d", "evidence": "assumed"}


def files(pattern: str) -> list[Path]:
    found = sorted(FOLDER.glob(pattern))
    assert found, f"{FOLDER} holds nothing like {pattern}"
    return found


def parsed(slug: str, path: Path, context: dict[str, Any]) -> Parsed:
    parts = (Part(path.name, path.read_bytes()),)
    source = SOURCES[slug]
    observed_at = (source.observed_at(parts) if source.observed_at else None) or AT
    return read(source, Snapshot(slug, "real", "import", parts, observed_at, AT, context))


def rows(slug: str, pattern: str, context: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every file by its path below the folder; none of their candidates is refused."""
    found = {}
    for path in files(pattern):
        result = parsed(slug, path, context)
        assert result.refused.is_empty(), path
        found[str(path.relative_to(FOLDER))] = result.rows["benchmark_result"].to_dicts()
    return found


# --- AIPerf -------------------------------------------------------------------------------------


def test_agentx_exports_are_replays_of_one_dataset() -> None:
    found = [row for (row,) in rows("aiperf", "aiperf/agentx*/*.json", AGENTX).values()]
    assert sorted(row["concurrency"] for row in found) == [1, 4, 8, 16, 32]
    assert {row["traffic_basis"] for row in found} == {"replay"}
    assert {row["workload"] for row in found} == {"agentx"}
    assert {row["dataset"] for row in found} == {"semianalysisai/cc-traces-weka-062126-256k"}
    assert {row["measured_on"] for row in found} == {date(2026, 7, 9)}
    assert {row["raw_model_name"] for row in found} == {"amd/Kimi-K2.7-Code-MXFP4"}
    # One of them dropped an error that its export does not count, so none of them proves that there was none.
    assert {row["failed_requests"] for row in found} == {None}
    # The cache of these exports is the unlimited one; the server's own rate stands elsewhere.
    assert {row["cache_hit_rate"] for row in found} == {None}


def test_agentx_at_16_users() -> None:
    (path,) = files("aiperf/agentx*/conc16*.json")
    (row,) = parsed("aiperf", path, AGENTX).rows["benchmark_result"].to_dicts()
    assert row["run_id"] == "9efd1a57-d001-48d6-ba43-4198991a550e"
    assert (row["completed_requests"], row["planned_requests"]) == (659, None)
    assert row["output_tok_s"] == pytest.approx(158.5366988)
    assert row["input_tok_s"] == pytest.approx(16034.0260681)
    assert row["total_tok_s"] == pytest.approx(16192.5627669)
    # Median TPOT 72.1686 ms; chunks came every 43.0428 ms, which would be 23.2 tok/s.
    assert row["tpot_p50_ms"] == pytest.approx(72.16856434693877)
    assert row["itl_p50_ms"] == pytest.approx(43.042817)
    assert row["interactivity_tok_s_user"] == pytest.approx(13.8564486)
    assert row["ttft_p50_ms"] == pytest.approx(52990.515657)
    assert row["e2e_p99_ms"] == pytest.approx(845139.3251541564)
    assert (row["isl_mean"], row["osl_mean"]) == pytest.approx((88564.33535660092, 875.6813353566009))
    assert "95.27 %" in row["note"]


def test_older_aiperf_exports_prove_their_day_in_utc() -> None:
    """Their clocks said 13:38 without a zone; the first request left at 21:38 UTC."""
    found = rows("aiperf", "aiperf/qwen*.json", QWEN)
    one, two = (row for (row,) in found.values())
    assert (one["concurrency"], two["concurrency"]) == (1, 2)
    assert (one["measured_on"], one["workload"]) == (date(2025, 11, 7), "fixed-100-200")
    assert (one["planned_requests"], one["completed_requests"]) == (64, 64)
    assert one["interactivity_tok_s_user"] == pytest.approx(1000 / 18.158001085427134)
    assert two["output_tok_s"] == pytest.approx(100.6512157)
    assert (one["input_tok_s"], one["total_tok_s"]) == (None, None)
    (path, _) = files("aiperf/qwen*.json")
    source = SOURCES["aiperf"]
    assert source.observed_at is not None
    assert source.observed_at((Part(path.name, path.read_bytes()),)) == datetime(
        2025, 11, 7, 21, 43, 10, tzinfo=UTC
    )


# --- GuideLLM -----------------------------------------------------------------------------------


def test_guidellm_report_of_a_mock_is_assumed_whatever_is_said() -> None:
    context = {"publisher": "llm-d", "evidence": "measured", "chip_name": "none"}
    (found,) = rows("guidellm", "guidellm/*.json", context).values()
    assert [row["evidence"] for row in found] == ["assumed", "assumed"]
    assert [row["request_rate"] for row in found] == [2, 4]
    assert [row["run_id"][:8] for row in found] == ["03cd36d4", "79efea10"]
    one = found[0]
    assert (one["planned_requests"], one["completed_requests"], one["failed_requests"]) == (2, 2, 0)
    assert one["output_tok_s"] == pytest.approx(3.1950675815128577)
    # With the first token it would be 2.3760 ms.
    assert one["tpot_p50_ms"] == pytest.approx(1.0459763663155692)
    assert one["e2e_p50_ms"] == pytest.approx(19.269227981567383)
    assert (one["isl_nominal"], one["measured_on"]) == (None, date(2026, 8, 14))


# --- inference-perf -----------------------------------------------------------------------------


def test_inference_perf_stages_have_throughput_and_no_speed() -> None:
    """In these runs the tool divided by chunks: a request took 2.08 to 2.13 times what its TPOT says."""
    found = rows("inference_perf", "inference_perf/*/*/results/stage_*_lifecycle_metrics.json", KUBECON)
    assert len(found) == 28
    points = [row for (row,) in found.values()]
    assert len({row["run_id"] for row in points}) == 28
    assert {row["interactivity_tok_s_user"] for row in points} == {None}
    assert {row["tpot_p50_ms"] for row in points} == {None}
    assert all("TPOT left out" in row["note"] for row in points)
    (one,) = found["inference_perf/kubecon-na-2025/vllm/results/stage_0_lifecycle_metrics.json"]
    assert (one["request_rate"], one["completed_requests"], one["failed_requests"]) == (1, 60, 0)
    assert one["output_tok_s"] == pytest.approx(64.23350089997027)
    assert one["total_tok_s"] == pytest.approx(271.83536208261364)
    assert one["ttft_p50_ms"] == pytest.approx(31.026913959)
    assert one["e2e_p50_ms"] == pytest.approx(479.6094944)
    # Without it: 1 / 3.468 ms = 288 tok/s, more than an H100 can read 16 GB of weights in a second.
    assert "took 2.08 times" in one["note"]
    (last,) = found["inference_perf/kubecon-na-2025/vllm/results/stage_6_lifecycle_metrics.json"]
    assert last["output_tok_s"] == pytest.approx(6431.058168)
    assert "sent at 106.55 per second" in last["note"]


def test_inference_perf_other_reports_are_refused_each_in_one_line() -> None:
    told: list[str] = []
    for path in files("inference_perf/*/*/results/*.json"):
        if not path.name.startswith("stage") or "prometheus" in path.name:
            with pytest.raises(SourceError) as refusal:
                parsed("inference_perf", path, KUBECON)
            told.append(str(refusal.value))
    assert not any("\n" in line for line in told)
    assert Counter(line.split(": ")[1] for line in told) == {
        "a Prometheus report counts what the server saw of every client": 32,
        "no requested_rate": 4,
    }


def test_inference_perf_stage_without_a_context_is_asked_for_what_it_lacks() -> None:
    path = files("inference_perf/*/*/results/stage_0_lifecycle_metrics.json")[0]
    with pytest.raises(SourceError, match="publisher, evidence, chip_name, model_name, measured_on"):
        parsed("inference_perf", path, {})


# --- llm-d --------------------------------------------------------------------------------------


def test_llmd_examples_load_as_assumed_and_never_as_measured() -> None:
    for name, (row,) in rows("llmd_report", "llmd_benchmark_report/br_*.yaml", EXAMPLE).items():
        assert row["evidence"] == "assumed", name
        assert row["run_id"] == "38b1f169ca178b756f7483523b17de61"
        assert row["raw_chip_name"] == "NVIDIA-H100-80GB-HBM3"
        assert row["raw_model_name"] == "Qwen/Qwen3-0.6B"
        assert row["measured_on"] == date(2025, 11, 5)
        assert (row["tp"], row["workers"], row["accelerator_count"]) == (8, 2, 16)
        assert (row["request_rate"], row["concurrency"]) == (10, None)
        assert row["ttft_p50_ms"] == pytest.approx(36.22930939309299)
        assert row["interactivity_tok_s_user"] is None
    for path in files("llmd_benchmark_report/br_*.yaml"):
        refused = parsed("llmd_report", path, EXAMPLE | {"evidence": "measured"}).refused
        assert refused["reason"].to_list() == ["throughputs_do_not_add_up"]


def test_lifecycle_report_in_yaml_is_no_benchmark_report_and_no_file_of_inference_perf() -> None:
    (path,) = files("llmd_benchmark_report/inference_perf*.yaml")
    for slug, told in (
        ("llmd_report", "no Benchmark Report"),
        ("inference_perf", "not a whole JSON document"),
    ):
        with pytest.raises(SourceError, match=told):
            parsed(slug, path, KUBECON)


# --- All of them --------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", ["aiperf", "guidellm", "inference_perf", "llmd_report"])
def test_no_tool_reads_what_another_wrote(slug: str) -> None:
    folders = {"aiperf": "aiperf", "guidellm": "guidellm", "inference_perf": "inference_perf"}
    for path in files("*/**/*.json"):
        own = path.relative_to(FOLDER).parts[0] == folders.get(slug)
        if own or path.stat().st_size > 2_000_000:
            continue
        with pytest.raises(SourceError):
            parsed(slug, path, KUBECON)


def test_a_mock_and_examples_of_a_schema_are_never_eligible(tmp_path: Path) -> None:
    stated = {"weight_precision": "fp8", "tp": 8, "accelerator_count": 8, "workload": "fixed-1024-1024"}
    mock = {
        "publisher": "own", "evidence": "measured", "chip_name": "h100-sxm-80",
    }  # fmt: skip
    wanted = [("guidellm", path, mock | stated | {"seen": None}) for path in files("guidellm/*.json")]
    examples = files("llmd_benchmark_report/br_*.yaml")
    wanted += [("llmd_report", path, EXAMPLE | {"seen": None}) for path in examples]
    ask = built(
        tmp_path,
        [(slug, path.name, path.read_bytes(), context) for slug, path, context in wanted],
        "mart.benchmark_point",
    )
    sources = "source in ('guidellm', 'llmd_report')"
    assert ask(f"select distinct evidence from raw.benchmark_result where {sources}") == [("assumed",)]
    assert ask(f"select count(*) from mart.benchmark_point where {sources} and eligible") == [(0,)]
