"""Results of genai-bench: one file per traffic scenario and load, and the metadata of their experiment.

Traps: latencies are seconds, or milliseconds where an option said so (`_time_unit`); the two means of
throughput are of the whole server, those in `stats` of one request, its input over its TTFT; the tokens of
requests left out as warm-up are missing in a throughput that divides by the whole time; the metadata may
state chip, GPUs and engine, as text, and mostly does not.
Does not belong here: embeddings, images and speech, the experiment's workbooks and plots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pipelines.benchmark_files import refuse_all_but
from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.measured import (
    KIND,
    Beside,
    agree,
    check_completed,
    check_run_id,
    count,
    figure,
    model_named,
    outcome,
    run_digest,
    server_throughput,
    times,
    wanted,
)
from pipelines.outcomes import at, check_clock, one_of_each, whole_number
from pipelines.source import NotApplicable, Outcome, Part, Snapshot, Source, SourceError

SLUG = "genai_bench"
UNITS = {"s", "ms"}
# The scenario of a run: fixed lengths, normal or even spread, a prefix that all requests share.
SCENARIOS = {
    "fixed": re.compile(r"D\((\d+),(\d+)\)"),
    "normal": re.compile(r"N\((\d+),(\d+)\)/\((\d+),(\d+)\)"),
    "uniform": re.compile(r"U\((\d+),(\d+)\)(?:/\((\d+),(\d+)\))?"),
    "prefix": re.compile(r"P\((\d+),(\d+)\)/(\d+)"),
}
STAMP = re.compile(r"_(\d{8}_\d{6})/?$", re.ASCII)
# The median of reciprocals is not quite the reciprocal of the median; another unit is a thousand times off.
SPEED_TOLERANCE = Decimal("0.2")
# Means and sums of the same requests, but for rounding.
COUNTED_TOLERANCE = Decimal("0.01")
TIMES = {
    f"{column}_{percentile}_ms": f"{field}.{percentile}"
    for column, field, percentiles in (
        ("ttft", "ttft", ("p50", "p90", "p95", "p99")),
        ("tpot", "tpot", ("p50", "p90", "p95", "p99")),
        ("e2e", "e2e_latency", ("p50", "p99")),
    )
    for percentile in percentiles
}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one point per result file: throughputs in tok/s of the server, speed in tok/s per user.

    Raises SourceError when there is no result or more than one experiment, and when the metadata or the
    context lack or contradict something.
    """
    metadata, runs = _documents(snapshot.parts)
    if (made := _made(metadata)) is not None:
        check_clock("measured", made, snapshot)
    check_run_id(snapshot.context, len(runs))
    found = [_outcome(name, run, metadata, snapshot) for name, run in runs]
    yield from one_of_each(found, lambda point: point.row["run_id"])


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return the start of the day in the name of the experiment's folder; None where a person named it."""
    return _made(_documents(parts)[0])


def _documents(parts: tuple[Part, ...]) -> tuple[dict[str, Any], list[tuple[str, dict[str, Any]]]]:
    """Return the metadata, empty where there is none, and each result with the name of its file."""
    metadata, runs = [], []
    for part in parts:
        document = strict_json(part.body)
        refuse_all_but(SLUG, document, part.name)
        if "aggregated_metrics" in document:
            runs.append((part.name, document))
        else:
            metadata.append(document)
    if not runs:
        raise SourceError("the metadata of an experiment without a result; import its result files")
    if len(metadata) > 1:
        raise SourceError(f"the metadata of {len(metadata)} experiments; import one at a time")
    return (metadata[0] if metadata else {}), runs


def _made(metadata: Mapping[str, Any]) -> datetime | None:
    """The start of the day in the folder's name, if the tool gave it: the day of a local clock, as stated."""
    folder = metadata.get("experiment_folder_name")
    stamp = STAMP.search(folder) if isinstance(folder, str) else None
    try:
        return stamp and datetime.strptime(stamp[1][:8], "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def _outcome(name: str, run: Mapping[str, Any], metadata: Mapping[str, Any], snapshot: Snapshot) -> Outcome:
    whole = run["aggregated_metrics"]
    if not isinstance(whole, dict) or not isinstance(whole.get("stats"), dict):
        raise SourceError(f"{name}: aggregated_metrics without stats")
    scenario, task = whole.get("scenario"), metadata.get("task", "text-to-text")
    listed = metadata.get("traffic_scenario")
    if isinstance(listed, list) and listed and scenario not in listed:
        raise SourceError(f"{name}: scenario {scenario!r} is none of the experiment's")
    if task != "text-to-text":
        return NotApplicable(KIND, "no_text_to_text", name)
    unit = _unit(run, metadata, name)
    return outcome(
        lambda: (_row(whole, unit, metadata), _beside(whole, unit)), snapshot, name, run_id=run_digest(run)
    )


def _unit(run: Mapping[str, Any], metadata: Mapping[str, Any], name: str) -> str:
    """Return the unit of latencies; seconds are what files held before there was a choice."""
    units = (run.get("_time_unit"), metadata.get("metrics_time_unit"))
    stated = {str(unit) for unit in units if unit is not None}
    if len(stated) > 1 or not stated <= UNITS:
        raise SourceError(f"{name}: latencies in {' or '.join(sorted(stated))}, where s or ms is known")
    return stated.pop() if stated else "s"


def _row(whole: Mapping[str, Any], unit: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    requests = wanted(count, "num_completed_requests", whole.get("num_completed_requests"))
    made = whole.get("mean_output_throughput_tokens_per_s")
    check_completed("num_completed_requests", requests, None, made)
    measured = times({key: at(whole, "stats", *key.split(".")) for key in TIMES.values()}, TIMES, unit)
    _check_speed(at(whole, "stats", "output_inference_speed", "p50"), measured["tpot_p50_ms"])
    return {
        **_server(metadata),
        **_workload(whole.get("scenario")),
        **_throughput(whole, requests),
        "failed_requests": count("num_error_requests", whole.get("num_error_requests")),
        **measured,
        **_load(whole),
    }


def _beside(whole: Mapping[str, Any], unit: str) -> Beside:
    fields = ("ttft", "tpot", "e2e_latency")
    means = {field: at(whole, "stats", field, "mean") for field in fields}
    return Beside(None, *times(means, {field: field for field in fields}, unit).values())


def _check_speed(stated: Any, tpot_ms: Decimal | None) -> None:
    """Raise ContractError when the median speed that is stated has another unit than the median TPOT."""
    field = "stats.output_inference_speed.p50"
    speed = figure(field, stated)
    if speed is not None and tpot_ms and not agree(speed * tpot_ms, Decimal(1000), SPEED_TOLERANCE):
        raise ContractError("speed_is_not_reciprocal_of_tpot", field, stated)


def _throughput(whole: Mapping[str, Any], requests: int) -> dict[str, Any]:
    """Return the throughputs; raises ContractError when they leave out requests whose time they count."""
    tokens = {}
    for kind in ("input", "output"):
        field = f"stats.num_{kind}_tokens"
        total, mean = (at(whole, *field.split("."), key) for key in ("sum", "mean"))
        tokens[kind] = wanted(count, f"{field}.sum", total)
        counted = wanted(figure, f"{field}.mean", mean) * requests
        if not agree(counted, Decimal(tokens[kind]), COUNTED_TOLERANCE):
            raise ContractError("throughput_leaves_out_requests", f"{field}.sum", total)
    stated = {
        f"{short}_tok_s": (key, whole.get(key))
        for short, key in (
            ("output", "mean_output_throughput_tokens_per_s"),
            ("input", "mean_input_throughput_tokens_per_s"),
            ("total", "mean_total_tokens_throughput_tokens_per_s"),
        )
    }
    return server_throughput(whole.get("run_duration"), requests, tokens, stated)


def _load(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return the load: a concurrency, or the rate of an open loop.

    One that is written with a point, `4.0`, is refused: some versions write a rate in that place.
    """
    kind = whole.get("iteration_type", "num_concurrency")
    if kind == "request_rate":
        return {"request_rate": wanted(figure, kind, whole.get(kind))}
    if kind == "num_concurrency":
        return {"concurrency": whole_number(kind, whole.get(kind)), "arrival": "closed_loop"}
    raise ContractError("value_not_allowed", "iteration_type", kind)


def _workload(scenario: Any) -> dict[str, Any]:
    """Return the workload of a scenario; nominal lengths only where every request has them.

    Raises ContractError for a scenario of anything but text.
    """
    for shape, pattern in SCENARIOS.items():
        found = pattern.fullmatch(scenario) if isinstance(scenario, str) else None
        if not found:
            continue
        numbers = [int(number) for number in found.groups() if number is not None]
        if shape == "fixed":
            return {"isl_nominal": numbers[0], "osl_nominal": numbers[1]}
        nominal = (
            {"isl_nominal": numbers[0] + numbers[1], "osl_nominal": numbers[2]} if shape == "prefix" else {}
        )
        return {"workload": "-".join([shape, *map(str, numbers)]), **nominal}
    if scenario == "dataset":
        return {"workload": "dataset"}
    raise ContractError("scenario_not_known", "scenario", scenario)


def _server(metadata: Mapping[str, Any]) -> dict[str, Any]:
    count, made = metadata.get("server_gpu_count"), _made(metadata)
    if count is not None and not re.fullmatch(r"[1-9]\d*", str(count), re.ASCII):
        raise ContractError("not_a_number", "server_gpu_count", count)
    dataset = metadata.get("dataset_path")
    return {
        "measured_on": made and made.date(),
        "raw_chip_name": metadata.get("server_gpu_type"),
        "accelerator_count": None if count is None else int(count),
        "engine": metadata.get("server_engine"),
        "engine_version": metadata.get("server_version"),
        **model_named("model", metadata.get("model")),
        "dataset": None if dataset == "None" else dataset,
    }


SOURCE = Source(
    kind="benchmark",
    title="Results of genai-bench",
    homepage="https://docs.sglang.ai/genai-bench/",
    licence="Yours, or what the owner of the file grants; import only what you may show.",
    passes_on=True,
    cadence="when an experiment is made",
    source_rank=20,
    max_age_days=14,
    parse=parse,
    observed_at=observed_at,
)
