"""inference-perf of the Kubernetes project: the request lifecycle report of one load stage, as JSON.

Traps: all times are seconds; `time_per_output_token` leaves the first token out, but until April 2026 the
tool counted chunks there, twice as many as tokens in its own published runs: such a TPOT is left out, and
the point has no speed. `normalized_...` is the whole request divided by its tokens and never a speed;
`inter_token_latency` is the gap between chunks. The report names no model, no server and no day. The report
of all stages together, and that of one adapter, are no points: the first repeats its stages, the second
leaves out what else was served.
Does not belong here: the Prometheus reports, which count what the server saw, other clients included.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pipelines.benchmark_files import refuse_others
from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.measured import Beside, count, figure, in_ms, outcome, run_digest
from pipelines.outcomes import at, only_part
from pipelines.source import Outcome, Part, Snapshot, Source, SourceError

READ = "stage_<n>_lifecycle_metrics.json is read"
# (metric, statistic) of each time.
TIMES = {
    "ttft_p50_ms": ("time_to_first_token", "median"),
    "ttft_p90_ms": ("time_to_first_token", "p90"),
    "ttft_p95_ms": ("time_to_first_token", "p95"),
    "ttft_p99_ms": ("time_to_first_token", "p99"),
    "tpot_p50_ms": ("time_per_output_token", "median"),
    "tpot_p90_ms": ("time_per_output_token", "p90"),
    "tpot_p95_ms": ("time_per_output_token", "p95"),
    "tpot_p99_ms": ("time_per_output_token", "p99"),
    "itl_p50_ms": ("inter_token_latency", "median"),
    "e2e_p50_ms": ("request_latency", "median"),
    "e2e_p99_ms": ("request_latency", "p99"),
}
THROUGHPUTS = {
    "output_tok_s": "output_tokens_per_sec",
    "input_tok_s": "input_tokens_per_sec",
    "total_tok_s": "total_tokens_per_sec",
}
# Below this share of the requested rate it was the client that could not send more.
RATE_REACHED = Decimal("0.95")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield the one stage of the file: times in ms, throughput in tok/s of the whole server.

    Raises SourceError when the file is not the report of one stage, or its context leaves it short.
    """
    part = only_part(snapshot.parts, "the report of one stage is wanted")
    stage = _stage(part)
    yield outcome(
        lambda: (_row(stage), _beside(stage["successes"])), snapshot, part.name, run_id=run_digest(stage)
    )


def _stage(part: Part) -> dict[str, Any]:
    report = strict_json(part.body)
    refuse_others("inference_perf", report, part.name)
    sections = ("load_summary", "successes", "failures")
    if not isinstance(report, dict) or not all(isinstance(report.get(key), dict) for key in sections):
        raise SourceError(
            f"{part.name}: no load_summary, successes and failures, so no lifecycle report: {READ}"
        )
    successes = report["successes"]
    if "queue_len" in successes and "latency" not in successes:
        raise SourceError(
            f"{part.name}: a Prometheus report counts what the server saw of every client: {READ}"
        )
    if "throughput" not in successes or "latency" not in successes:
        raise SourceError(f"{part.name}: successes have no throughput and latency: {READ}")
    if "requested_rate" not in report["load_summary"]:
        raise SourceError(f"{part.name}: no requested_rate: all stages together are no point: {READ}")
    if part.name.startswith("adapter_"):
        raise SourceError(f"{part.name}: one adapter is not all that the server did: {READ}")
    return report


def _row(stage: Mapping[str, Any]) -> dict[str, Any]:
    load, successes, failures = stage["load_summary"], stage["successes"], stage["failures"]
    sent = count("load_summary.count", load.get("count"))
    completed = count("successes.count", successes.get("count"))
    failed = count("failures.count", failures.get("count"))
    if completed is None:
        raise ContractError("missing_value", "successes.count", None)
    if None not in (sent, failed) and completed + failed != sent:
        raise ContractError("requests_do_not_add_up", "load_summary.count", sent)
    return {
        "planned_requests": sent,
        "completed_requests": completed,
        "failed_requests": failed,
        "duration_s": figure("benchmark_time_seconds", stage.get("benchmark_time_seconds")),
        "cache_hit_rate": _hit_rate(successes),
        "isl_mean": _mean(successes, "prompt_len", "prompt_tokens"),
        "osl_mean": _mean(successes, "output_len", "output_tokens"),
        **{column: _rate(successes, key) for column, key in THROUGHPUTS.items()},
        **{column: _time(successes, *place) for column, place in TIMES.items()},
        **_load(load),
    }


def _beside(successes: Mapping[str, Any]) -> Beside:
    return Beside(
        requests_per_s=_rate(successes, "requests_per_sec"),
        ttft_mean_ms=_time(successes, "time_to_first_token", "mean"),
        tpot_mean_ms=_time(successes, "time_per_output_token", "mean"),
        e2e_mean_ms=_time(successes, "request_latency", "mean"),
    )


def _load(load: Mapping[str, Any]) -> dict[str, Any]:
    """Return the load of the stage; beside a concurrency the requested rate is a number of requests."""
    concurrency = count("load_summary.concurrency", load.get("concurrency"))
    if concurrency is not None:
        return {"concurrency": concurrency}
    requested = figure("load_summary.requested_rate", load["requested_rate"])
    achieved = figure("load_summary.achieved_rate", load.get("achieved_rate"))
    note = None
    if None not in (requested, achieved) and achieved < RATE_REACHED * requested:
        note = f"requests were sent at {achieved:.2f} per second, not at the requested rate"
    return {"request_rate": requested or None, "note": note}


def _rate(successes: Mapping[str, Any], key: str) -> Decimal | None:
    return figure(f"successes.throughput.{key}", at(successes, "throughput", key))


def _time(successes: Mapping[str, Any], metric: str, name: str) -> Decimal | None:
    field = f"successes.latency.{metric}.{name}"
    return in_ms(field, figure(field, at(successes, "latency", metric, name)), "s")


def _mean(successes: Mapping[str, Any], *keys: str) -> Decimal | None:
    """Return the mean of the first of `keys` that the report has: later versions renamed the prompt's."""
    found = next((key for key in keys if successes.get(key) is not None), keys[0])
    return figure(f"successes.{found}.mean", at(successes, found, "mean"))


def _hit_rate(successes: Mapping[str, Any]) -> Decimal | None:
    """Return the cached share of the prompt tokens; a 0 may as well be a server that does not say."""
    field = "successes.prompt_tokens"
    cached = figure(f"{field}.cached", at(successes, "prompt_tokens", "cached"))
    total = figure(f"{field}.total", at(successes, "prompt_tokens", "total"))
    if not cached or not total:
        return None
    if cached > total:
        raise ContractError("out_of_range", f"{field}.cached", cached)
    return cached / total


SOURCE = Source(
    kind="benchmark",
    title="inference-perf stages",
    homepage="https://github.com/kubernetes-sigs/inference-perf",
    licence="The tool is Apache-2.0; a run is whoever's who made it: import what may be passed on.",
    passes_on=True,
    cadence="as imported",
    source_rank=20,
    max_age_days=14,
    parse=parse,
)
