"""Result lines of SGLang's `bench_serving`: a file grows by one JSON line with every run.

Traps: a line carries no date, mostly no model and no GPU count, and `backend` may be another engine's;
throughputs are of the whole server; `Infinity` is how an unlimited request rate is written, and wrong
anywhere else; `concurrency` is a mean that came about, `max_concurrency` the limit; `random_input_len` is
the default of an option, and says nothing of a run on another dataset; old lines have no TPOT, and new
ones divide ITL by the acceptance length, so that no ITL is a speed.
Does not belong here: SGLang's offline and one-batch benchmarks, and per-request lists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pipelines.benchmark_files import refuse_all_but
from pipelines.decode import strict_json_documents
from pipelines.measured import (
    Beside,
    agree,
    check_completed,
    check_run_id,
    count,
    figure,
    model_named,
    offered_load,
    outcome,
    run_digest,
    server_throughput,
    times,
    wanted,
)
from pipelines.outcomes import one_of_each, only_part, some_text
from pipelines.source import Outcome, Snapshot, Source

SLUG = "sglang_bench"
# The protocol that only this engine speaks; the others are OpenAI's, or another engine's own.
NATIVE_BACKENDS = ("sglang", "sglang-native")
RETOKENIZED_TOLERANCE = Decimal("0.01")
TIMES = {
    "ttft_p50_ms": "median_ttft_ms",
    "ttft_p90_ms": "p90_ttft_ms",
    "ttft_p95_ms": "p95_ttft_ms",
    "ttft_p99_ms": "p99_ttft_ms",
    "tpot_p50_ms": "median_tpot_ms",
    "tpot_p90_ms": "p90_tpot_ms",
    "tpot_p95_ms": "p95_tpot_ms",
    "tpot_p99_ms": "p99_tpot_ms",
    "itl_p50_ms": "median_itl_ms",
    "e2e_p50_ms": "median_e2e_latency_ms",
    "e2e_p99_ms": "p99_e2e_latency_ms",
}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one point per line: times in ms, throughputs in tok/s of the server, speed in tok/s per user.

    Raises SourceError when a line is not one of this tool's, or cut, and when the context lacks or
    contradicts something.
    """
    part = only_part(snapshot.parts, "one file of lines is read at a time")
    runs = strict_json_documents(part.body)
    for number, run in enumerate(runs):
        refuse_all_but(SLUG, run, f"{part.name}, run {number}")
    check_run_id(snapshot.context, len(runs))
    found = [_outcome(run, f"run {number}", snapshot) for number, run in enumerate(runs)]
    yield from one_of_each(found, lambda point: point.row["run_id"])


def _outcome(run: Mapping[str, Any], locator: str, snapshot: Snapshot) -> Outcome:
    return outcome(lambda: (_row(run), _beside(run)), snapshot, locator, run_id=run_digest(run))


def _row(run: Mapping[str, Any]) -> dict[str, Any]:
    requests = wanted(count, "completed", run["completed"])
    totals = [run.get(key) for key in ("output_throughput", "total_throughput", "request_throughput")]
    check_completed("completed", requests, None, *totals)
    accepted = run.get("accept_length")
    load = offered_load(run.get("request_rate"), run.get("max_concurrency"), None, "poisson")
    return {
        **_server(run),
        **_workload(run),
        **_throughput(run, requests),
        **times(run, TIMES, "ms"),
        "acceptance_length": accepted,
        "acceptance_basis": None if accepted is None else "measured",
        **load,
        "note": "; ".join(filter(None, [load["note"], _second_count(run)])) or None,
    }


def _beside(run: Mapping[str, Any]) -> Beside:
    means = times(run, {name: f"mean_{name}_ms" for name in ("ttft", "tpot", "e2e_latency")}, "ms")
    rate = figure("request_throughput", run.get("request_throughput"))
    return Beside(rate, means["ttft"], means["tpot"], means["e2e_latency"])


def _throughput(run: Mapping[str, Any], requests: int) -> dict[str, Any]:
    tokens = {key: run.get(f"total_{key}_tokens") for key in ("input", "output")}
    stated = {
        "output_tok_s": ("output_throughput", run["output_throughput"]),
        "input_tok_s": ("input_throughput", run.get("input_throughput")),
        "total_tok_s": ("total_throughput", run.get("total_throughput")),
    }
    return server_throughput(run["duration"], requests, tokens, stated)


def _workload(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the dataset, and the nominal lengths where they are its own and no unused option's."""
    dataset = run.get("dataset_name")
    if not isinstance(dataset, str) or not dataset:
        return {}
    if not dataset.startswith("random"):
        return {"dataset": dataset, "workload": dataset}
    isl, osl = (count(key, run.get(key)) for key in ("random_input_len", "random_output_len"))
    return {"dataset": dataset, "isl_nominal": isl, "osl_nominal": osl}


def _second_count(run: Mapping[str, Any]) -> str | None:
    """What to note when the text that came back makes another number of tokens than the server counted."""
    counted = wanted(count, "total_output_tokens", run.get("total_output_tokens"))
    again = count("total_output_tokens_retokenized", run["total_output_tokens_retokenized"])
    if again is None or agree(Decimal(again), Decimal(counted), RETOKENIZED_TOLERANCE):
        return None
    return f"{again} output tokens when tokenized again, {counted} as the server counted"


def _server(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the engine, and what the server said of itself in lines since 2025.

    A disaggregated server answers for one worker of each role, which says nothing of the deployment.
    """
    native = {"engine": "sglang"} if run["backend"] in NATIVE_BACKENDS else {}
    info = run.get("server_info")
    if not isinstance(info, dict):
        return native
    if "prefill" in info or "decode" in info:
        return {"engine": "sglang", "disaggregated": True}
    copies, shared = info.get("dp_size"), info.get("enable_dp_attention")
    return {
        "engine": "sglang",
        "engine_version": info.get("version"),
        **model_named("server_info.model_path", info.get("model_path")),
        "disaggregated": False if info.get("disaggregation_mode") == "null" else None,
        "tp": info.get("tp_size"),
        "pp": info.get("pp_size"),
        "ep": info.get("ep_size"),
        "dp_attention": shared,
        # With shared attention the copies lie on the tensor ranks; without, each has ranks of its own.
        "dp": copies if shared else None,
        "workers": copies if shared is False else None,
        "speculative_method": _speculative_method(info),
    }


def _speculative_method(info: Mapping[str, Any]) -> str | None:
    """Absent is unknown; null is the server's word for none."""
    key = "speculative_algorithm"
    if key not in info:
        return None
    return "none" if info[key] is None else some_text(key, info[key]).lower()


SOURCE = Source(
    kind="benchmark",
    title="Results of SGLang's bench_serving",
    homepage="https://docs.sglang.ai/developer_guide/bench_serving.html",
    licence="Yours, or what the owner of the file grants; import only what you may show.",
    passes_on=True,
    cadence="when a run is made",
    source_rank=20,
    max_age_days=14,
    parse=parse,
)
