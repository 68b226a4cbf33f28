"""GuideLLM by the vLLM project: a report of one or more benchmarks, report schema 1 or 2, as JSON.

Traps: `time_per_output_token_ms` includes the first token and is never a speed; `inter_token_latency_ms` is
(last token - first token) / (tokens - 1) of each request, which is TPOT here, its percentiles weighted by
tokens. Distributions stand by status, and `total` mixes failed requests in: only `successful` is read. The
latency of requests is in seconds beside times in ms. The median of a rate is that of an instant: throughput
is its mean. `max_concurrency` is a limit, not the load.
Does not belong here: the CSV and HTML reports, which lack the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pipelines.benchmark_files import refuse_others
from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.measured import KIND, Beside, count, figure, in_ms, model_name, outcome
from pipelines.outcomes import as_stated, at, check_clock, only_part
from pipelines.source import Outcome, Part, Rejected, Snapshot, Source, SourceError

READ = "the JSON report of `guidellm benchmark`, schema 1 or 2, is read"
SCHEMAS = (1, 2)

# (metric, statistic, unit) of each time.
TIMES = {
    "ttft_p50_ms": ("time_to_first_token_ms", "p50", "ms"),
    "ttft_p90_ms": ("time_to_first_token_ms", "p90", "ms"),
    "ttft_p95_ms": ("time_to_first_token_ms", "p95", "ms"),
    "ttft_p99_ms": ("time_to_first_token_ms", "p99", "ms"),
    "tpot_p50_ms": ("inter_token_latency_ms", "p50", "ms"),
    "tpot_p90_ms": ("inter_token_latency_ms", "p90", "ms"),
    "tpot_p95_ms": ("inter_token_latency_ms", "p95", "ms"),
    "tpot_p99_ms": ("inter_token_latency_ms", "p99", "ms"),
    "e2e_p50_ms": ("request_latency", "p50", "s"),
    "e2e_p99_ms": ("request_latency", "p99", "s"),
}
# What only a stream shows: a server that answers at once has zeros there.
STREAMED = ("time_to_first_token_ms", "inter_token_latency_ms")
MEANS = {
    "output_tok_s": "output_tokens_per_second",
    "input_tok_s": "prompt_tokens_per_second",
    "total_tok_s": "tokens_per_second",
    "isl_mean": "prompt_token_count",
    "osl_mean": "output_token_count",
}
RATED = ("constant", "poisson")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per benchmark of the report: times in ms, throughput in tok/s of the whole server.

    Raises SourceError when the file is no such report, or its context contradicts it or leaves it short.
    """
    part = only_part(snapshot.parts, "one report is wanted")
    report = _report(part)
    ended = _end(report)
    if ended:
        check_clock("the benchmarks ended", ended, snapshot)
    for number, benchmark in enumerate(report["benchmarks"]):
        yield _outcome(benchmark, report, snapshot, f"{part.name} benchmark {number}")


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return when the last benchmark of the report ended, by the report itself."""
    return _end(_report(only_part(parts, "one report is wanted")))


def _report(part: Part) -> dict[str, Any]:
    report = strict_json(part.body)
    refuse_others("guidellm", report, part.name)
    if not isinstance(report, dict) or at(report, "metadata", "guidellm_version") is None:
        raise SourceError(f"{part.name}: metadata.guidellm_version is missing: {READ}")
    schema = at(report, "metadata", "version")
    if isinstance(schema, bool) or schema not in SCHEMAS:
        raise SourceError(f"{part.name}: report schema {schema!r}: {READ}")
    benchmarks = report.get("benchmarks")
    if not isinstance(benchmarks, list) or not benchmarks:
        raise SourceError(f"{part.name}: the report holds no benchmarks: {READ}")
    return report


def _end(report: Mapping[str, Any]) -> datetime | None:
    ends = [_moment("end_time", at(benchmark, "end_time")) for benchmark in report["benchmarks"]]
    return max((end for end in ends if end), default=None)


def _moment(field: str, value: Any) -> datetime | None:
    """Return an instant that is written in seconds since 1970; raises SourceError for what is none."""
    if value is None:
        return None
    try:
        return datetime.fromtimestamp(int(figure(field, value)), tz=UTC)
    except (ContractError, OverflowError, ValueError, OSError) as error:
        raise SourceError(f"{field} {value!r} is no number of seconds since 1970") from error


def _outcome(benchmark: Any, report: Mapping[str, Any], snapshot: Snapshot, locator: str) -> Outcome:
    metrics = at(benchmark, "metrics")
    if not isinstance(metrics, dict):
        return Rejected(KIND, "wrong_type", locator, "metrics", metrics)
    backend = at(benchmark, "config", "backend")
    return outcome(
        lambda: (_row(benchmark, report), _beside(metrics)),
        snapshot,
        locator,
        at(backend, "kind"),
        at(backend, "type_"),
        at(backend, "target"),
    )


def _row(benchmark: Mapping[str, Any], report: Mapping[str, Any]) -> dict[str, Any]:
    metrics, config = benchmark["metrics"], benchmark.get("config")
    started = _moment("start_time", benchmark.get("start_time"))
    completed, failed, unfinished = (
        count(f"metrics.request_totals.{status}", at(metrics, "request_totals", status))
        for status in ("successful", "errored", "incomplete")
    )
    if completed is None:
        raise ContractError("missing_value", "metrics.request_totals.successful", None)
    is_stream = at(config, "backend", "stream") is not False
    return {
        "run_id": at(config, "id_") or benchmark.get("id_"),
        "measured_on": started.date() if started else None,
        "raw_model_name": model_name("config.backend.model", at(config, "backend", "model")),
        "completed_requests": completed,
        "failed_requests": failed,
        "duration_s": figure("duration", benchmark.get("duration")),
        "note": f"{unfinished} requests were still running at the end" if unfinished else None,
        **{
            column: in_ms(metric, _statistic(metrics, metric, name), unit)
            for column, (metric, name, unit) in TIMES.items()
            if is_stream or metric not in STREAMED
        },
        **{column: _statistic(metrics, metric, "mean") for column, metric in MEANS.items()},
        **_load(config),
        **_prompts(report),
    }


def _beside(metrics: Mapping[str, Any]) -> Beside:
    return Beside(
        requests_per_s=_statistic(metrics, "requests_per_second", "mean"),
        ttft_mean_ms=_statistic(metrics, "time_to_first_token_ms", "mean"),
        tpot_mean_ms=_statistic(metrics, "inter_token_latency_ms", "mean"),
        e2e_mean_ms=in_ms("request_latency", _statistic(metrics, "request_latency", "mean"), "s"),
    )


def _statistic(metrics: Mapping[str, Any], metric: str, name: str) -> Decimal | None:
    """Return one statistic of the successful requests; None where the report has none."""
    found = at(metrics, metric, "successful")
    value = at(found, name) if name == "mean" else at(found, "percentiles", name)
    return figure(f"metrics.{metric}.successful.{name}", value)


def _load(config: Any) -> dict[str, Any]:
    """Return the load of a benchmark, and how many requests it was to send where nothing of it is cut off."""
    strategy = at(config, "strategy")
    kind = at(strategy, "type_")
    concurrency = rate = None
    if kind == "concurrent":
        concurrency = count("config.strategy.streams", at(strategy, "streams"))
    elif kind == "synchronous":
        concurrency = 1
    elif kind in RATED:
        rate = figure("config.strategy.rate", at(strategy, "rate"))
    cuts = [at(config, side, key) for side in ("warmup", "cooldown") for key in ("percent", "value")]
    limit = at(config, "constraints", "max_requests", "args", "count")
    return {
        "concurrency": concurrency,
        "request_rate": rate,
        "planned_requests": None if any(cuts) else count("config.constraints.max_requests", limit),
    }


def _prompts(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what schema 2 says of the prompts; lengths only where a request is one prompt as generated."""
    spec = at(report, "config", "spec")
    data = at(spec, "data")
    if not isinstance(data, list) or len(data) != 1 or not isinstance(data[0], dict):
        return {}
    (made,) = data
    if made.get("kind") != "synthetic_text":
        return {"dataset": made.get("source") or made.get("kind")}
    seed = at(spec, "seed", "value")
    stated = None if seed is None else as_stated("config.spec.seed.value", seed)
    found = {"dataset": "synthetic_text", "dataset_seed": stated}
    if made.get("prefix_buckets") or made.get("turns") not in (None, 1):
        return found  # the prompt that is sent holds a prefix or the turns before it as well
    return {
        **found,
        "isl_nominal": count("config.spec.data.prompt_tokens", made.get("prompt_tokens")),
        "osl_nominal": count("config.spec.data.output_tokens", made.get("output_tokens")),
    }


SOURCE = Source(
    kind="benchmark",
    title="GuideLLM reports",
    homepage="https://github.com/vllm-project/guidellm",
    licence="The tool is Apache-2.0; a run is whoever's who made it: import what may be passed on.",
    passes_on=True,
    cadence="as imported",
    source_rank=20,
    max_age_days=14,
    parse=parse,
    observed_at=observed_at,
)
