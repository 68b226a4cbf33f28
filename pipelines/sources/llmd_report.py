"""llm-d Benchmark Report 0.2: one run or load stage in a form of no one tool, as YAML or JSON.

Traps: every metric carries its own `units`; `accelerator.count` is of one replica, and `replicas` multiply
it; several workers of one replica make it ambiguous. `time_per_output_token` is what the tool behind the
report calls so. The published examples of the schema hold invented figures, one distribution for
everything: they load only as `assumed`, because their throughputs do not add up.
Does not belong here: reports 0.1, and the parts of a report that wait to be merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pipelines.benchmark_files import refuse_others
from pipelines.contracts import ContractError
from pipelines.decode import iso_instant, strict_json, strict_yaml, text
from pipelines.measured import Beside, count, figure, in_ms, model_name, outcome
from pipelines.outcomes import at, check_clock, only_part
from pipelines.source import Outcome, Part, Snapshot, Source, SourceError

READ = "Benchmark Reports 0.2.x are read"
SCHEMA = "0.2"
# (metric, statistic) of each time.
TIMES = {
    "ttft_p50_ms": ("time_to_first_token", "p50"),
    "ttft_p90_ms": ("time_to_first_token", "p90"),
    "ttft_p95_ms": ("time_to_first_token", "p95"),
    "ttft_p99_ms": ("time_to_first_token", "p99"),
    "tpot_p50_ms": ("time_per_output_token", "p50"),
    "tpot_p90_ms": ("time_per_output_token", "p90"),
    "tpot_p95_ms": ("time_per_output_token", "p95"),
    "tpot_p99_ms": ("time_per_output_token", "p99"),
    "itl_p50_ms": ("inter_token_latency", "p50"),
    "e2e_p50_ms": ("request_latency", "p50"),
    "e2e_p99_ms": ("request_latency", "p99"),
}
# (section, metric, unit) of each mean.
MEANS = {
    "output_tok_s": ("throughput", "output_token_rate", "tokens/s"),
    "input_tok_s": ("throughput", "input_token_rate", "tokens/s"),
    "total_tok_s": ("throughput", "total_token_rate", "tokens/s"),
    "isl_mean": ("requests", "input_length", "count"),
    "osl_mean": ("requests", "output_length", "count"),
}
# Distributions whose `value` is the mean.
CENTRED = ("fixed", "gaussian")
UNBOUNDED = (".inf", "inf", "Infinity")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield the one run of the report: times in ms, throughput in tok/s of the whole stack.

    Raises SourceError when the file is no such report, or its context contradicts it or leaves it short.
    """
    part = only_part(snapshot.parts, "one report is wanted")
    report = _report(part)
    ended = _moment(report, "end")
    if ended:
        check_clock("the run ended", ended, snapshot)
    engines = _engines(report)
    servers = [at(engine, key) for engine in engines for key in ("tool", "tool_version")]
    aggregate = at(report, "results", "request_performance", "aggregate")
    yield outcome(
        lambda: (_row(report, aggregate, engines), _beside(aggregate)), snapshot, part.name, *servers
    )


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return when the run ended, by the report itself; None where it does not say."""
    return _moment(_report(only_part(parts, "one report is wanted")), "end")


def _report(part: Part) -> dict[str, Any]:
    is_json = text(part.body).lstrip()[:1] in ("{", "[")
    report = strict_json(part.body) if is_json else strict_yaml(part.body)
    if is_json:  # no other tool writes YAML of its own
        refuse_others("llmd_report", report, part.name)
    if not isinstance(report, dict) or not {"version", "run", "results"} <= report.keys():
        raise SourceError(f"{part.name}: no version, run and results, so no Benchmark Report: {READ}")
    version = str(report["version"])
    if version != SCHEMA and not version.startswith(f"{SCHEMA}."):
        raise SourceError(f"{part.name}: Benchmark Report {version}: {READ}")
    if at(report, "results", "request_performance", "aggregate") is None:
        raise SourceError(
            f"{part.name}: results.request_performance.aggregate is missing: nothing was measured"
        )
    return report


def _moment(report: Mapping[str, Any], key: str) -> datetime | None:
    """Return the start or the end of the run; YAML reads an instant by itself, JSON holds its text."""
    value = at(report, "run", "time", key)
    if value is None:
        return None
    try:
        return iso_instant(f"run.time.{key}", value.isoformat() if isinstance(value, datetime) else value)
    except ContractError as error:
        raise SourceError(str(error)) from error


def _engines(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the standardized part of every inference engine of the stack; routers and the like are none."""
    stack = at(report, "scenario", "stack")
    parts = [at(component, "standardized") for component in (stack if isinstance(stack, list) else ())]
    return [part for part in parts if at(part, "kind") == "inference_engine"]


def _row(report: Mapping[str, Any], aggregate: Any, engines: list[dict[str, Any]]) -> dict[str, Any]:
    started = _moment(report, "start")
    sent, failed, unfinished = (
        count(f"requests.{key}", at(aggregate, "requests", key))
        for key in ("total", "failures", "incomplete")
    )
    counts, note = _accelerators(engines)
    return {
        "run_id": at(report, "run", "uid"),
        "measured_on": started.astimezone(UTC).date() if started else None,
        "planned_requests": sent,
        "completed_requests": None if None in (sent, failed) else sent - failed - (unfinished or 0),
        "failed_requests": failed,
        "note": note,
        **{column: _mean(aggregate, *place) for column, place in MEANS.items()},
        **{column: _time(aggregate, *place) for column, place in TIMES.items()},
        **_server(engines),
        **counts,
        **_load(report),
    }


def _beside(aggregate: Any) -> Beside:
    return Beside(
        requests_per_s=_mean(aggregate, "throughput", "request_rate", "queries/s"),
        ttft_mean_ms=_time(aggregate, "time_to_first_token", "mean"),
        tpot_mean_ms=_time(aggregate, "time_per_output_token", "mean"),
        e2e_mean_ms=_time(aggregate, "request_latency", "mean"),
    )


def _time(aggregate: Any, metric: str, name: str) -> Decimal | None:
    field = f"latency.{metric}"
    value = figure(f"{field}.{name}", at(aggregate, "latency", metric, name))
    return in_ms(f"{field}.units", value, at(aggregate, "latency", metric, "units"))


def _mean(aggregate: Any, section: str, metric: str, unit: str) -> Decimal | None:
    value = figure(f"{section}.{metric}.mean", at(aggregate, section, metric, "mean"))
    stated = at(aggregate, section, metric, "units")
    if value is not None and stated != unit:
        raise ContractError("unknown_unit", f"{section}.{metric}.units", stated)
    return value


def _server(engines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what all engines share; raises ContractError where the stack mixes chips or models."""
    found: dict[str, Any] = {
        "raw_chip_name": _shared(
            "accelerator.model", [at(engine, "accelerator", "model") for engine in engines]
        ),
        "raw_model_name": model_name(
            "model.name", _shared("model.name", [at(engine, "model", "name") for engine in engines])
        ),
        "engine": _shared("tool", [at(engine, "tool") for engine in engines]),
    }
    version = _shared("tool_version", [at(engine, "tool_version") for engine in engines])
    # An image where the schema asks for a version: registry/name:tag.
    is_image = isinstance(version, str) and "/" in version
    return {**found, "image" if is_image else "engine_version": version}


def _shared(field: str, values: list[Any]) -> Any:
    stated = {str(value): value for value in values if value is not None}
    if len(stated) > 1:
        raise ContractError("several_in_one_stack", field, ", ".join(sorted(stated)))
    return next(iter(stated.values()), None)


def _accelerators(engines: list[dict[str, Any]]) -> tuple[dict[str, Any], str | None]:
    """Return parallelism and accelerator counts by role, and why a count is left out.

    Counts are NULL unless every engine states one that its ranks explain.
    """
    by_role: dict[str, list[dict[str, Any]]] = {}
    for engine in engines:
        by_role.setdefault(str(at(engine, "role")), []).append(engine)
    disaggregated = {"prefill", "decode"} <= by_role.keys()
    # Engines of one role alone may serve both sides, or the other side is not listed.
    found: dict[str, Any] = {
        "disaggregated": disaggregated if disaggregated or set(by_role) == {"replica"} else None
    }
    for role, members in by_role.items():
        if len(members) == 1:
            prefix = "prefill_" if disaggregated and role == "prefill" else ""
            found |= {f"{prefix}{key}": value for key, value in _ranks(members[0]).items()}
    notes = []
    totals: dict[str, int | None] = {}
    for role, members in by_role.items():
        stated = [_stated_accelerators(engine) for engine in members]
        notes += [why for _, why in stated if why]
        totals[role] = None if any(number is None for number, _ in stated) else sum(n for n, _ in stated)
    if totals and None not in totals.values():
        found["accelerator_count"] = sum(totals.values())
        if disaggregated:
            found["prefill_accelerator_count"] = totals["prefill"]
            found["decode_accelerator_count"] = totals["decode"]
    return found, "; ".join(notes) or None


def _ranks(engine: Mapping[str, Any]) -> dict[str, Any]:
    parallelism = at(engine, "accelerator", "parallelism")
    found = {
        key: count(f"accelerator.parallelism.{key}", at(parallelism, key)) or None
        for key in ("tp", "pp", "ep", "dp")
    }
    return {**found, "workers": count("replicas", engine.get("replicas"))}


def _stated_accelerators(engine: Mapping[str, Any]) -> tuple[int | None, str | None]:
    """Return the accelerators of all replicas of an engine, or why they cannot be told."""
    one = count("accelerator.count", at(engine, "accelerator", "count"))
    replicas = count("replicas", engine.get("replicas"))
    if not one or not replicas:
        return None, "accelerator.count or replicas is not stated"
    parallelism = at(engine, "accelerator", "parallelism")
    tp, pp, dp_local, workers = (
        count(f"accelerator.parallelism.{key}", at(parallelism, key))
        for key in ("tp", "pp", "dp_local", "workers")
    )
    if (workers or 1) > 1:
        return None, f"accelerators left out: of one of {workers} workers or of all of them"
    ranks = (tp or 1) * (pp or 1) * (dp_local or 1)
    if ranks != one:
        return None, f"accelerators left out: {one} of a replica, whose ranks are {ranks}"
    return one * replicas, None


def _load(report: Mapping[str, Any]) -> dict[str, Any]:
    load = at(report, "scenario", "load", "standardized")
    concurrency = at(load, "concurrency")
    found = {
        "concurrency": None if str(concurrency) in UNBOUNDED else count("load.concurrency", concurrency),
        "request_rate": figure("load.rate_qps", at(load, "rate_qps")),
        "dataset": at(load, "source"),
    }
    # A later turn's prompt holds the turns before it, whatever length was asked for.
    if at(load, "multi_turn", "enabled") is True:
        return found
    for column, key in (("isl_nominal", "input_seq_len"), ("osl_nominal", "output_seq_len")):
        if at(load, key, "distribution") in CENTRED:
            found[column] = count(f"load.{key}.value", at(load, key, "value"))
    return found


SOURCE = Source(
    kind="benchmark",
    title="llm-d Benchmark Reports",
    homepage="https://github.com/llm-d/llm-d-benchmark",
    licence="The tool is Apache-2.0; a run is whoever's who made it: import what may be passed on.",
    passes_on=True,
    cadence="as imported",
    source_rank=20,
    max_age_days=14,
    parse=parse,
    observed_at=observed_at,
)
