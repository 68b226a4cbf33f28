"""InferenceX by SemiAnalysis: measured operating points of public inference engines, from its own API.

Traps: latencies are seconds; stored GPU counts of aggregated rows are tp x ep and wrong; disaggregated
rows divide output by decode GPUs and input by prefill GPUs, though in AgentX, the replay of agents' traffic,
both are over all GPUs; the speed that a user sees is 1 / TPOT, and 1 / ITL is up to 297 times off, because
ITL is the gap between chunks.
Does not belong here: GPU counts computed from parallelism, any price, and other endpoints of the API:
evaluations, reliability and changes are sources of their own. /availability and /submissions say only that
a configuration was run and how often, which the points themselves say better, so they are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from pipelines.contracts import ContractError
from pipelines.decode import iso_date, strict_json
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)
from pipelines.sources.inferencex_evaluations import count, family, is_disaggregated, metric, run_of, server

API = "https://inferencex.semianalysis.com/api/v1"
KIND = "benchmark_result"

# The API wants the names that its own pages show, not the keys that its rows carry; and it knows a history
# of fixed lengths alone, of those that the model was run with.
SEQUENCES = {"1k1k": (1024, 1024), "1k8k": (1024, 8192), "8k1k": (8192, 1024)}
NAMES_OF_ALL = ("DeepSeek-R1-0528", "GLM-5", "gpt-oss-120b", "Kimi-K2.5", "Llama-3.3-70B-Instruct-FP8")
DISPLAY_NAMES = {
    **dict.fromkeys(NAMES_OF_ALL, ("1k1k", "1k8k", "8k1k")),
    **dict.fromkeys(("DeepSeek-V4-Pro", "MiniMax-M2.5", "Qwen-3.5-397B-A17B"), ("1k1k", "8k1k")),
    **dict.fromkeys(("GLM-5.2", "Kimi-K3", "MiniMax-M3", "Qwen3.8-Flash-Next"), ()),
}

# Every row of the two endpoints has these; evaluations, availability and reliability lack some.
ROW_KEYS = {"hardware", "framework", "model", "disagg", "isl", "osl", "conc", "metrics", "date"}
POINT_KEYS = (
    "run_url", "hardware", "framework", "model", "precision", "spec_method", "disagg",
    "prefill_tp", "prefill_ep", "prefill_dp_attention", "prefill_num_workers", "num_prefill_gpu",
    "decode_tp", "decode_ep", "decode_dp_attention", "decode_num_workers", "num_decode_gpu",
    "isl", "osl", "conc", "offload_mode",
)  # fmt: skip
# Two points may differ in nothing but this; the contract has no column for it, so it names the point.
OFFLOAD_MODE_OFF = (None, "off")

SECONDS_TO_MS = {
    "median_ttft": "ttft_p50_ms",
    "p90_ttft": "ttft_p90_ms",
    "p95_ttft": "ttft_p95_ms",
    "p99_ttft": "ttft_p99_ms",
    "median_tpot": "tpot_p50_ms",
    "p90_tpot": "tpot_p90_ms",
    "p95_tpot": "tpot_p95_ms",
    "p99_tpot": "tpot_p99_ms",
    "median_itl": "itl_p50_ms",
    "median_e2el": "e2e_p50_ms",
    "p99_e2el": "e2e_p99_ms",
}
THROUGHPUTS = {
    "output_tput_per_gpu": "output_tok_s",
    "input_tput_per_gpu": "input_tok_s",
    "tput_per_gpu": "total_tok_s",
}
# Outside of it a TPOT is milliseconds under a name for seconds, or no TPOT.
TPOT_SECONDS = (Decimal("0.0005"), Decimal(2))
IDENTITY_TOLERANCE = Decimal("0.01")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row: times in ms, throughput in tok/s per GPU, speed in tok/s per user.

    Raises SourceError when the payload is not the answer of one of the two endpoints that are read.
    """
    rows = [row for part in snapshot.parts for row in _rows(part)]
    for row, locator, refusal in one_of_each_point((row, f"row {n}") for n, row in enumerate(rows)):
        yield refusal or _outcome(row, locator)


def one_of_each_point(rows: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str, Outcome | None]]:
    """Yield every (row, locator) with its refusal: it repeats a point, or is one of several that differ."""
    rows = list(rows)
    first_of: dict[tuple[str, ...], Any] = {}
    conflicting: set[tuple[str, ...]] = set()
    for row, _ in rows:
        key = _point_key(row)
        if first_of.setdefault(key, row) != row:
            conflicting.add(key)
    seen: set[tuple[str, ...]] = set()
    for row, locator in rows:
        key = _point_key(row)
        refusal: Outcome | None = None
        if not isinstance(row, dict):
            refusal = Rejected(KIND, "wrong_type", locator, "row", row)
        elif key in conflicting:
            refusal = Rejected(KIND, "conflicting_duplicates", locator, "run_url", row.get("run_url"))
        elif key in seen:
            refusal = NotApplicable(KIND, "identical_duplicate", locator)
        seen.add(key)
        yield row, locator, refusal


def _rows(part: Part) -> list[Any]:
    rows = strict_json(part.body)
    read = "only /benchmarks and /benchmarks/history are read here"
    if not isinstance(rows, list):
        raise SourceError(f"{part.name}: not a list of rows: {read}")
    if not rows:
        raise SourceError(f"{part.name}: no rows: the API no longer knows this model or workload")
    if not any(isinstance(row, dict) and row.keys() >= ROW_KEYS for row in rows):
        raise SourceError(f"{part.name}: no row has {sorted(ROW_KEYS)}: {read}")
    return rows


def _point_key(row: Any) -> tuple[str, ...]:
    if not isinstance(row, dict):
        return (repr(row),)
    # Formats of one family have one identity: two of them on one point are a conflict, and not one row.
    return tuple(repr(family(row.get(key)) if key == "precision" else row.get(key)) for key in POINT_KEYS)


def _outcome(row: dict[str, Any], locator: str) -> Outcome:
    conclusion = row.get("conclusion")
    if conclusion not in (None, "success") or row.get("error"):
        return Rejected(KIND, "failed_run", locator, "conclusion", row.get("error") or conclusion)
    try:
        return Accepted(KIND, result(row), locator)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)


def result(row: dict[str, Any]) -> dict[str, Any]:
    """Return the benchmark_result of one row of the API; raises ContractError with what is wrong in it."""
    metrics = row.get("metrics")
    if not isinstance(metrics, dict):
        raise ContractError("wrong_type", "metrics", metrics)
    measured_on = iso_date("date", row.get("date"))
    run_id, attempt = run_of(row.get("run_url"))
    precision = row.get("precision")
    load = _replayed(row, metrics) if _is_replay(row) else _fixed_length(row, metrics)
    notes = [] if family(precision) == precision else [f"weights in {precision}"]
    return {
        "publisher": "inferencex",
        "run_id": run_id,
        "attempt": attempt,
        "point_label": None if row.get("offload_mode") in OFFLOAD_MODE_OFF else row["offload_mode"],
        "measured_on": measured_on,
        "published_on": measured_on,
        "date_precision": "day",
        "raw_chip_name": row.get("hardware"),
        "raw_model_name": row.get("model"),
        "weight_precision": family(precision),
        "engine": row.get("framework"),
        "image": row.get("image"),
        "release_status": "available",
        "concurrency": count(row, "conc", required=True),
        "speculative_method": row.get("spec_method"),
        "power_w_gpu": _power(row, metrics),
        "evidence": "measured",
        "independent": True,
        "methodology": "runnable",
        "url": row.get("run_url"),
        **deployment(row, metrics),
        **load,
        "note": "; ".join([*notes, *load.get("note", [])]) or None,
    }


def _is_replay(row: dict[str, Any]) -> bool:
    kind = row.get("benchmark_type")
    if kind not in (None, "single_turn", "agentic_traces"):
        raise ContractError("unknown_benchmark_type", "benchmark_type", kind)
    unsized = row.get("isl") is None and row.get("osl") is None
    if kind == "agentic_traces" and not unsized:
        raise ContractError("lengths_contradict_benchmark_type", "benchmark_type", kind)
    return unsized if kind is None else kind == "agentic_traces"


def _fixed_length(row: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    isl, osl = count(row, "isl", required=True), count(row, "osl", required=True)
    return {
        "workload": f"fixed-{isl}-{osl}",
        "isl_nominal": isl,
        "osl_nominal": osl,
        # Random prompts at fixed concurrency. Drafts are verified for real, over a chat template that keeps
        # acceptance up (InferenceX PR 1737); how many were accepted, rows do not say.
        "dataset": "random",
        "arrival": "closed_loop",
        "acceptance_basis": None if row.get("spec_method") in (None, "none") else "measured",
        "traffic_basis": "benchmark",
        **_throughput(row, metrics),
        **_latency(metrics),
    }


def _replayed(row: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    """Return an AgentX load: recorded sessions replayed, with most of their input from a cache.

    Its three throughputs are over all GPUs, disaggregated or not. Its speed is the 90th percentile, slow
    users, as the publisher shows it, and stands only where it is 1 / TPOT.
    """
    found = {column: metric(metrics, key) for key, column in THROUGHPUTS.items()}
    if None not in found.values():
        _check_sum(found["output_tok_s"] + found["input_tok_s"], found["total_tok_s"])
    speculative = row.get("spec_method") not in (None, "none")
    return {
        "workload": "agentx",
        "dataset": "recorded agent sessions",
        "arrival": "trace",
        "isl_mean": metric(metrics, "mean_input_tokens"),
        "osl_mean": metric(metrics, "mean_output_tokens_actual"),
        "cache_hit_rate": _cache_hit_rate(row, metrics),
        "completed_requests": count(metrics, "num_requests_successful"),
        "duration_s": metric(metrics, "duration_seconds"),
        "traffic_basis": "replay",
        # The harness sets the acceptance of these runs to a committed length; rows do not say to which.
        "acceptance_basis": "synthetic" if speculative else None,
        **found,
        "throughput_basis": "per_gpu",
        **_slow_user(metrics),
    }


def _slow_user(metrics: dict[str, Any]) -> dict[str, Any]:
    speed, tpot, times = metric(metrics, "p90_intvty"), metric(metrics, "p90_tpot"), _times(metrics)
    if None not in (speed, tpot) and _is_close(speed * tpot, 1) and _is_tpot(tpot):
        return {"interactivity_tok_s_user": speed, "speed_percentile": "p90", **times}
    times = {column: None if column.startswith("tpot_") else value for column, value in times.items()}
    note = [] if speed is None else ["the stated p90 speed is 1 / ITL and no 1 / TPOT, and is left out"]
    return {**times, "note": note}


def _cache_hit_rate(row: dict[str, Any], metrics: dict[str, Any]) -> Decimal | None:
    """Return hits in GPU memory and beyond it; null where KV cache lay elsewhere too and its hits do not."""
    gpu, beyond = (metric(metrics, f"server_{where}_cache_hit_rate") for where in ("gpu", "external"))
    if gpu is None or (beyond is None and row.get("offload_mode") not in OFFLOAD_MODE_OFF):
        return None
    return gpu + (beyond or 0)


def _power(row: dict[str, Any], metrics: dict[str, Any]) -> Decimal | None:
    """Return measured watts per GPU, unless the publisher withholds them.

    Raises ContractError when the watts of all GPUs are those of more or fewer GPUs than the ranks.
    """
    each, total = metric(metrics, "avg_power_w"), metric(metrics, "avg_total_gpu_power_w")
    beside = deployment(row, metrics)
    if each and total and not beside["disaggregated"] and beside["tp"]:
        ranks = beside["tp"] * (beside["pp"] or 1) * (beside["cp"] or 1) * (beside["workers"] or 1)
        if not _is_close(total, each * ranks):
            raise ContractError("gpu_count_contradicts_power", "metrics.avg_total_gpu_power_w", total)
    return None if metrics.get("power_valid") == 0 else each


def _is_legacy(row: dict[str, Any]) -> bool:
    """Whether a disaggregated row was stored before roles had columns of their own (until 2025-12-05).

    Such a row has the GPUs of the whole deployment in both role counts, and in both tp.
    """
    if count(row, "prefill_num_workers") or count(row, "decode_num_workers"):
        return False
    counts = ("num_prefill_gpu", "num_decode_gpu", "prefill_tp", "decode_tp")
    return len({count(row, key) for key in counts}) == 1


def _ranks(metrics: dict[str, Any], *keys: str) -> int | None:
    """Return ranks beside tp; 1 is left out, as older rows leave it out: one server has one identity."""
    stated = {count(metrics, key) for key in keys} - {None}
    if len(stated) > 1:
        raise ContractError("ranks_contradict", f"metrics.{keys[0]}", sorted(stated))
    (ranks,) = stated or {None}
    return None if ranks == 1 else ranks


def deployment(row: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    """Return ranks and GPU counts of a row; raises ContractError when the counts cannot be those of roles."""
    pp, cp = _ranks(metrics, "pp", "decode_pp"), _ranks(metrics, "pcp_size", "decode_pcp_size")
    if not is_disaggregated(row):
        # No GPU count: the stored one is tp x ep, though experts share the ranks of tp.
        return {**server(row), "pp": pp, "cp": cp}
    if _is_legacy(row):
        return {"disaggregated": True, "accelerator_count": count(row, "num_decode_gpu", required=True)}
    prefill, decode = _role_gpus(row, "prefill"), _role_gpus(row, "decode")
    return {
        **server(row),
        "pp": pp,
        "cp": cp,
        "prefill_pp": _ranks(metrics, "prefill_pp"),
        "prefill_accelerator_count": prefill,
        "decode_accelerator_count": decode,
        "accelerator_count": prefill + decode,
    }


def _role_gpus(row: dict[str, Any], role: str) -> int:
    """Return the stated GPUs of one role; raises ContractError when they are tp x ep x workers, as the
    counts of aggregated rows are.

    A tp of 1 is a placeholder of recipes that only state counts, so tp x workers is no check.
    """
    key = f"num_{role}_gpu"
    gpus = count(row, key, required=True)
    tp, ep = count(row, f"{role}_tp") or 1, count(row, f"{role}_ep") or 1
    workers = count(row, f"{role}_num_workers") or 1
    if tp > 1 and ep > 1 and gpus == tp * ep * workers:
        raise ContractError("gpu_count_is_tp_times_ep", key, gpus)
    return gpus


def _throughput(row: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the three throughputs in tok/s and what they are divided by.

    Raises ContractError when input and output do not make the total: then one has another denominator,
    or the GPU counts are not those of the roles.
    """
    found = {column: metric(metrics, key) for key, column in THROUGHPUTS.items()}
    disaggregated = is_disaggregated(row)
    if None not in found.values():
        output_tok_s, input_tok_s, total_tok_s = found.values()
        if not disaggregated:
            _check_sum(output_tok_s + input_tok_s, total_tok_s)
        else:
            _check_roles(row, output_tok_s, input_tok_s, total_tok_s)
    return {**found, "throughput_basis": "per_role_gpu" if disaggregated else "per_gpu"}


def _check_roles(row: dict[str, Any], output: Decimal, put_in: Decimal, total: Decimal) -> None:
    prefill, decode = _role_gpus(row, "prefill"), _role_gpus(row, "decode")
    expected = (put_in * prefill + output * decode) / (prefill + decode)
    if not _is_legacy(row):
        _check_sum(expected, total)
    elif _is_close(expected, total):
        # Equal role counts that fit may be the counts of the roles after all: twice the GPUs.
        raise ContractError("ambiguous_gpu_counts", "num_decode_gpu", row.get("num_decode_gpu"))


def _check_sum(expected: Decimal, total: Decimal) -> None:
    if not _is_close(expected, total):
        raise ContractError("throughputs_do_not_add_up", "metrics.tput_per_gpu", total)


def _is_close(found: Decimal, wanted: Decimal | int) -> bool:
    return abs(found - wanted) <= IDENTITY_TOLERANCE * abs(wanted)


def _latency(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return times in ms and the median user's speed in tok/s, which must be the reciprocal of TPOT."""
    tpot, speed = (metric(metrics, key, required=True) for key in ("median_tpot", "median_intvty"))
    if not _is_tpot(tpot):
        raise ContractError("tpot_out_of_range", "metrics.median_tpot", tpot)
    if not _is_close(speed * tpot, 1):
        raise ContractError("speed_is_not_reciprocal_of_tpot", "metrics.median_intvty", speed)
    return {"interactivity_tok_s_user": speed, "speed_percentile": "p50", **_times(metrics)}


def _is_tpot(seconds: Decimal) -> bool:
    return TPOT_SECONDS[0] <= seconds <= TPOT_SECONDS[1]


def _times(metrics: dict[str, Any]) -> dict[str, Any]:
    seconds = {column: metric(metrics, key) for key, column in SECONDS_TO_MS.items()}
    return {column: None if value is None else value * 1000 for column, value in seconds.items()}


def requests() -> list[Request]:
    """The newest row of every configuration, and the history of each workload; a slice for each."""
    found = []
    for name, sequences in DISPLAY_NAMES.items():
        query = urlencode({"model": name})
        found.append(Request(f"{API}/benchmarks?{query}", slice=f"{name}-latest"))
        for label in sequences:
            isl, osl = SEQUENCES[label]
            query = urlencode({"model": name, "isl": isl, "osl": osl})
            found.append(Request(f"{API}/benchmarks/history?{query}", slice=f"{name}-history-{label}"))
    return found


SOURCE = Source(
    kind="benchmark",
    title="InferenceX by SemiAnalysis",
    homepage="https://inferencex.semianalysis.com",
    licence="Public API; no separate data licence; attribute InferenceX by SemiAnalysis.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    # A benchmark point is not carried as a price: it holds until a later one replaces it.
    max_age_days=14,
    parse=parse,
    requests=requests,
)
