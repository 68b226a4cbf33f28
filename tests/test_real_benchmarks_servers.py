"""Files that vLLM's and SGLang's load generators really wrote, and files that only look like one.

The files are not part of this repository; without them these tests are skipped, and say so. They say
nothing of their hardware: what is stated here is what their publishers wrote beside them.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED_DATA

from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

FOLDER = SHARED_DATA / "benchmarks"
pytestmark = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no real payloads at {FOLDER}: set TOKENYIELD_SHARED_DATA"
)
SOURCES = all_sources()
AT = datetime(2026, 11, 30, tzinfo=UTC)
VLLM, SGLANG, GENAI = "vllm_bench", "sglang_bench", "genai_bench"
MI355X = {
    "publisher": "inferencex-branches", "evidence": "measured", "chip_name": "mi355x", "engine": "vllm",
    "tp": 8, "release_status": "unofficial",
}  # fmt: skip
# Eight GPUs of each role; which GPUs they are, no file says.
TWO_ROLES = {
    "publisher": "inferencex-branches", "evidence": "measured", "chip_name": "not stated",
    "disaggregated": True, "accelerator_count": 16, "prefill_accelerator_count": 8,
    "decode_accelerator_count": 8, "isl_nominal": 1024, "osl_nominal": 1024,
}  # fmt: skip
# The scripts beside the files: how each server was started. Two models share the third script.
H200 = {
    "publisher": "datacrunch", "evidence": "measured", "chip_name": "H200", "measured_on": "2024-12-14",
    "weight_precision": "bf16", "cache_hit_rate": 0,
}  # fmt: skip
LLAMA_70B = H200 | {"model_name": "meta-llama/Llama-3.3-70B-Instruct", "tp": 4, "accelerator_count": 4}
LLAMA_405B = H200 | {"model_name": "meta-llama/Llama-3.1-405B-Instruct", "tp": 8, "accelerator_count": 8}
SGLANG_FILES = {
    "llama_3_3_70b_online_output.jsonl": (LLAMA_70B, 7),
    "llama_3_3_70b_offline_output.jsonl": (LLAMA_70B, 7),
    "llama_405b_online_output.jsonl": (LLAMA_405B, 6),
    "deepseek_dp_mla_output.jsonl": (H200 | {"model_name": "DeepSeek V2", "accelerator_count": 8}, 1),
}


@cache
def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def read_file(slug: str, path: Path, context: dict[str, Any]) -> Parsed:
    parts = (Part(path.name, bytes_of(path)),)
    observed_at = SOURCES[slug].observed_at
    moment = (observed_at and observed_at(parts)) or AT
    return read(SOURCES[slug], Snapshot(slug, "real", "all", parts, moment, AT, context))


def files(pattern: str, count: int) -> list[Path]:
    found = sorted(FOLDER.glob(pattern))
    assert len(found) == count, pattern
    return found


def only(parsed: Parsed) -> dict[str, Any]:
    assert parsed.refused.is_empty(), parsed.refused.to_dicts()
    (row,) = parsed.rows["benchmark_result"].to_dicts()
    return row


# --- vLLM ---------------------------------------------------------------------------------------


def test_runs_say_what_their_publisher_made_of_them() -> None:
    """The publisher's own division by GPUs and reciprocal of TPOT stand in a file beside each run."""
    runs = files("inferencex_runs/kimik2.5_mi355x_20260601/kimi*.json", 3)
    for path in runs:
        made = json.loads(path.with_name(f"agg_{path.name}").read_text("utf-8"))
        stated = MI355X | {"isl_nominal": made["isl"], "osl_nominal": made["osl"]}
        row = only(read_file(VLLM, path, stated | {"image": made["image"]}))
        assert row["output_tok_s"] / made["tp"] == pytest.approx(made["output_tput_per_gpu"], rel=1e-9)
        assert row["input_tok_s"] / made["tp"] == pytest.approx(made["input_tput_per_gpu"], rel=1e-9)
        assert row["total_tok_s"] / made["tp"] == pytest.approx(made["tput_per_gpu"], rel=1e-9)
        assert row["interactivity_tok_s_user"] == pytest.approx(made["median_intvty"], rel=1e-9)
        assert row["ttft_p99_ms"] == pytest.approx(made["p99_ttft"] * 1000, rel=1e-9)
        assert (row["concurrency"], row["raw_model_name"]) == (made["conc"], made["model"])
        assert row["workload"] == f"fixed-{made['isl']}-{made['osl']}"
        # 20 chunks a second of several tokens each are another speed.
        assert row["interactivity_tok_s_user"] > 2 * 1000 / row["itl_p50_ms"]
    assert len({only(read_file(VLLM, path, MI355X))["run_id"] for path in runs}) == 3


def test_local_runs_and_the_one_that_failed() -> None:
    paths = files("inferencex_runs/local_results/*/*.json", 11)
    parsed = {path.stem: read_file(VLLM, path, MI355X) for path in paths}
    failed = parsed.pop("minimaxm2.5_8k1k_conc64")
    assert failed.candidates == 1
    assert failed.refused["reason"].to_list() == ["no_completed_requests"]
    rows = {stem: only(found) for stem, found in parsed.items()}
    assert len({row["run_id"] for row in rows.values()}) == 10
    again, first = rows["minimaxm2.5_8k1k_conc64_gmu090_rerun2"], rows["minimaxm2.5_8k1k_conc64_gmu090"]
    assert round(first["output_tok_s"] / 8, 2) == 251.99
    assert round(again["output_tok_s"] / 8, 2) == 253.85
    assert first["measured_on"] == date(2026, 6, 1)
    assert {row["failed_requests"] for row in rows.values()} == {None}


def test_runs_on_sixteen_gpus_of_two_roles() -> None:
    paths = files("inferencex_runs/multi_node_gpus16/**/*.json", 16)
    rows = {path: only(read_file(VLLM, path, TWO_ROLES)) for path in paths}
    assert len({row["run_id"] for row in rows.values()}) == 16
    for path, row in rows.items():
        assert row["concurrency"] == int(path.name.split("_")[1])
        assert (row["isl_mean"], row["osl_mean"], row["workload"]) == (1024, 1024, "fixed-1024-1024")
        assert row["engine"] is None
        # The model lies in a folder of Hugging Face's own layout.
        model = "MiniMaxAI/MiniMax-M2.5" if "minimax" in str(path) else "openai/gpt-oss-120b"
        assert row["raw_model_name"] == model
        assert len(row["model_revision"]) == 40
        assert row["measured_on"] == date(2026, 4, 28)
    sixty_four = FOLDER / "inferencex_runs/multi_node_gpus16/minimax-m2.5"
    row = rows[sixty_four / "concurrency_64_req_rate_inf_gpus_16_ctx_8_gen_8.json"]
    # 655,360 tokens out in 219.57 s; a token every 21.13 ms.
    assert round(row["output_tok_s"], 1) == 2984.7
    assert round(row["output_tok_s"] / 16, 2) == 186.54
    assert round(row["total_tok_s"], 1) == 5969.4
    assert round(row["interactivity_tok_s_user"], 1) == 47.3
    with pytest.raises(SourceError, match="chip_name"):
        read_file(VLLM, paths[0], {"publisher": "inferencex-branches", "evidence": "measured"})
    with pytest.raises(SourceError, match="states model_name"):
        read_file(VLLM, paths[0], TWO_ROLES | {"model_name": "another"})


# --- SGLang -------------------------------------------------------------------------------------


def test_every_line_of_sglang_is_a_point_without_a_speed() -> None:
    found = {path.name: path for path in files("sglang_bench_serving/*.jsonl", 4)}
    assert found.keys() == SGLANG_FILES.keys()
    ids = set()
    for name, (context, count) in SGLANG_FILES.items():
        parsed = read_file(SGLANG, found[name], context)
        assert parsed.refused.is_empty()
        rows = parsed.rows["benchmark_result"].to_dicts()
        assert len(rows) == count
        for row, line in zip(rows, bytes_of(found[name]).splitlines(), strict=True):
            said = json.loads(line)
            made, took = said["total_output_tokens"], said["duration"]
            assert row["output_tok_s"] == pytest.approx(made / took, rel=1e-9)
            assert row["input_tok_s"] == pytest.approx(said["total_input_tokens"] / took, rel=1e-9)
            assert row["request_rate"] == (None if "Infinity" in line.decode() else said["request_rate"])
            assert row["ttft_p50_ms"] == said["median_ttft_ms"]
            assert row["itl_p50_ms"] == said["median_itl_ms"]
            assert (row["interactivity_tok_s_user"], row["tpot_p50_ms"]) == (None, None)
            assert (row["failed_requests"], row["planned_requests"]) == (None, None)
            ids.add(row["run_id"])
    assert len(ids) == 21


def test_sglang_throughput_over_the_gpus_of_its_scripts() -> None:
    def per_gpu(name: str, place: int) -> tuple[Any, ...]:
        path, (context, _) = FOLDER / "sglang_bench_serving" / name, SGLANG_FILES[name]
        row = read_file(SGLANG, path, context).rows["benchmark_result"].row(place, named=True)
        return row["workload"], round(row["output_tok_s"] / row["accelerator_count"], 2), row["note"]

    unlimited, rated = "request rate unlimited", None
    # 6,648.44 and 4,520.70 on four, 1,820.65 on eight, 12,412.39 on eight.
    offline = "llama_3_3_70b_offline_output.jsonl"
    assert per_gpu(offline, 0) == ("spread-1024-1024", 1130.17, unlimited)
    assert per_gpu(offline, 5) == ("spread-256-512", 1662.11, unlimited)
    assert per_gpu(offline, 6) == ("sharegpt", 984.98, unlimited)
    retokenized = "1205324 output tokens when tokenized again, 1218922 as the server counted"
    assert per_gpu("llama_405b_online_output.jsonl", 3) == ("spread-1024-1024", 227.58, retokenized)
    assert per_gpu("llama_3_3_70b_online_output.jsonl", 2) == ("spread-1024-1024", 511.98, rated)
    assert per_gpu("deepseek_dp_mla_output.jsonl", 0) == ("fixed-1-512", 1551.55, unlimited)


# --- What is none of them -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "count", "owner", "named"),
    [
        ("llmperf_leaderboard/*.json", 19, None, "API-provider speeds without hardware cannot be priced"),
        ("inferencex_runs/kimik2.5_mi355x_20260601/agg_*.json", 3, None, "import it as inferencex_run"),
        ("inferencex_runs/agentx_kimik2.7_mi355x/*/*.json", 10, None, "import it as inferencex_run"),
        ("aiperf/**/*.json", 7, None, "AIPerf"),
        ("guidellm/*.json", 1, None, "GuideLLM"),
        ("inference_perf/*/*/results/*.json", 64, None, "inference-perf"),
        ("sglang_bench_serving/*.jsonl", 4, SGLANG, "import it as sglang_bench"),
        ("inferencex_runs/multi_node_gpus16/**/*.json", 16, VLLM, "import it as vllm_bench"),
        ("llmd_benchmark_report/*.yaml", 3, None, "not a whole JSON document"),
    ],
)
def test_files_of_others_are_refused_by_name(pattern: str, count: int, owner: str | None, named: str) -> None:
    stated = H200 | {"model_name": "m"}
    for path in files(pattern, count):
        for slug in {VLLM, SGLANG, GENAI} - {owner}:
            # A file of lines is no JSON document for a tool that writes one.
            lines = path.suffix == ".jsonl" and slug == GENAI and bytes_of(path).count(b"\n") > 1
            with pytest.raises(SourceError, match="not a whole JSON document" if lines else named) as refused:
                read_file(slug, path, stated)
            assert "\n" not in str(refused.value)
