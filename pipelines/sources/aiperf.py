"""AIPerf by NVIDIA, the successor of GenAI-Perf: the summary of one run, as JSON or as CSV.

Traps: `inter_token_latency` is (latency - TTFT) / (tokens - 1), which is TPOT here, and `inter_chunk_latency`
the gap between chunks; `..._per_user` percentiles are of the reciprocal, and 1 / TPOT at the median alone. No
count of errors is written when there were none, nor when they were dropped, so its absence proves nothing.
`theoretical_prefix_cache_hit` is what a cache without limit would have hit, not what the server's did. GPU
telemetry is of every machine that answers, the client's included: no chip and no count is read from it. Start
and end carry no zone; the nanoseconds since 1970 of the first request do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from pipelines.benchmark_files import refuse_others
from pipelines.contracts import ContractError
from pipelines.decode import strict_csv, strict_json, text
from pipelines.measured import (
    IDENTITY_TOLERANCE,
    KIND,
    Beside,
    agree,
    count,
    figure,
    in_ms,
    model_name,
    outcome,
    written_figure,
)
from pipelines.outcomes import at, check_clock, only_part
from pipelines.source import Outcome, Part, Rejected, Snapshot, Source, SourceError

READ = "profile_export_aiperf.json and profile_export_aiperf.csv are read"
# Metrics that every run has, whatever it streams, and no other tool has under these names together.
PROOF = {"request_count", "request_throughput", "request_latency"}
# A metric's key in the JSON, by its header in the CSV, where its unit stands in brackets.
CSV_HEADERS = {
    "Request Count": "request_count",
    "Error Request Count": "error_request_count",
    "Request Throughput": "request_throughput",
    "Request Latency": "request_latency",
    "Time to First Token": "time_to_first_token",
    "Inter Token Latency": "inter_token_latency",
    "Inter Chunk Latency": "inter_chunk_latency",
    "Output Token Throughput": "output_token_throughput",
    "Input Token Throughput": "input_token_throughput",
    "Total Token Throughput": "total_token_throughput",
    "Output Token Throughput Per User": "output_token_throughput_per_user",
    "Input Sequence Length": "input_sequence_length",
    "Output Sequence Length": "output_sequence_length",
    "Benchmark Duration": "benchmark_duration",
    "Overall Usage Prompt Cache Read %": "overall_usage_prompt_cache_read_pct",
}
# The CSV leaves out the unit of what is merely counted.
COUNTED = {"request_count", "error_request_count"}

# (metric, statistic) of each time, and of each figure in the unit that it must have.
TIMES = {
    "ttft_p50_ms": ("time_to_first_token", "p50"),
    "ttft_p90_ms": ("time_to_first_token", "p90"),
    "ttft_p95_ms": ("time_to_first_token", "p95"),
    "ttft_p99_ms": ("time_to_first_token", "p99"),
    "tpot_p50_ms": ("inter_token_latency", "p50"),
    "tpot_p90_ms": ("inter_token_latency", "p90"),
    "tpot_p95_ms": ("inter_token_latency", "p95"),
    "tpot_p99_ms": ("inter_token_latency", "p99"),
    "itl_p50_ms": ("inter_chunk_latency", "p50"),
    "e2e_p50_ms": ("request_latency", "p50"),
    "e2e_p99_ms": ("request_latency", "p99"),
}
MEANS = {
    "output_tok_s": ("output_token_throughput", "tokens/sec"),
    "input_tok_s": ("input_token_throughput", "tokens/sec"),
    "total_tok_s": ("total_token_throughput", "tokens/sec"),
    "isl_mean": ("input_sequence_length", "tokens"),
    "osl_mean": ("output_sequence_length", "tokens"),
}
AGENTX = "inferencex-agentx"


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield the one run of the file: times in ms, throughput in tok/s of the whole server.

    Raises SourceError when the file is no AIPerf summary, or its context contradicts it or leaves it short.
    """
    part = only_part(snapshot.parts, "one summary of one run is wanted")
    if _is_json(part):
        document = _document(part)
        config = document.get("input_config")
    else:
        document, config = _document_of_csv(part), {}
    proven = _moment(document, "max_response_timestamp")
    if proven:
        check_clock("the run ended", proven, snapshot)
    if document.get("was_cancelled") is True:
        yield Rejected(KIND, "cancelled_run", part.name, "was_cancelled", True)
        return
    urls = at(config, "endpoint", "urls") or []
    yield outcome(
        lambda: (_row(document, config), _beside(document)),
        snapshot,
        part.name,
        at(config, "endpoint", "url"),
        *(urls if isinstance(urls, list) else [urls]),
    )


def observed_at(parts: tuple[Part, ...]) -> datetime | None:
    """Return when the last response of the run came, by the file itself; None where it says nothing."""
    part = only_part(parts, "one summary of one run is wanted")
    return _moment(_document(part), "max_response_timestamp") if _is_json(part) else None


def _is_json(part: Part) -> bool:
    return text(part.body).lstrip()[:1] in ("{", "[")


def _document(part: Part) -> dict[str, Any]:
    document = strict_json(part.body)
    refuse_others("aiperf", document, part.name)
    if not isinstance(document, dict) or not document.keys() >= PROOF | {"input_config"}:
        raise SourceError(f"{part.name}: no AIPerf summary: {READ}")
    blocks = [document[key] for key in PROOF]
    if not all(isinstance(block, dict) and "unit" in block for block in blocks):
        raise SourceError(f"{part.name}: its metrics carry no unit, so this is no AIPerf summary: {READ}")
    return document


def _document_of_csv(part: Part) -> dict[str, Any]:
    """Return the metrics of a CSV as the JSON would hold them. Its sections are parted by empty lines."""
    sections = [lines for lines in text(part.body).replace("\r\n", "\n").split("\n\n") if lines.strip()]
    found: dict[str, Any] = {}
    for section in sections:
        body = section.strip("\n").encode()
        if not body.startswith(b"Metric,"):
            continue  # telemetry of GPUs, which says nothing of the run
        for row in strict_csv(body, {"Metric"}):
            header, _, unit = row.pop("Metric").partition(" (")
            key = CSV_HEADERS.get(header)
            if key is None:
                continue
            if key in found:
                raise SourceError(f"{part.name}: {header} stands twice")
            values = {"avg" if name == "Value" else name: cell for name, cell in row.items()}
            found[key] = {
                "unit": unit.removesuffix(")") or ("requests" if key in COUNTED else None),
                **values,
            }
    if not found.keys() >= PROOF | {"output_token_throughput"}:
        raise SourceError(f"{part.name}: no whole AIPerf summary: {READ}")
    return found


def _row(document: Mapping[str, Any], config: Any) -> dict[str, Any]:
    started = _moment(document, "min_request_timestamp")
    row = {
        "run_id": document.get("benchmark_id"),
        "measured_on": started.date() if started else None,
        "raw_model_name": _model(config),
        "completed_requests": count("request_count", _mean(document, "request_count", "requests")),
        "failed_requests": _failed(document),
        "duration_s": _seconds(document),
        "cache_hit_rate": _hit_rate(document),
        "note": _note(document),
        **{column: _time(document, *place) for column, place in TIMES.items()},
        **{column: _mean(document, key, unit) for column, (key, unit) in MEANS.items()},
        **_load(document, config),
    }
    _check_reciprocal(document, row["tpot_p50_ms"])
    return row


def _beside(document: Mapping[str, Any]) -> Beside:
    # The CSV rounds to two decimals: 0.05 requests per second may be 0.054. Count and duration lose nothing.
    completed, seconds = _mean(document, "request_count", "requests"), _seconds(document)
    stated = _mean(document, "request_throughput", "requests/sec")
    return Beside(
        requests_per_s=completed / seconds if completed and seconds else stated,
        ttft_mean_ms=_time(document, "time_to_first_token", "avg"),
        tpot_mean_ms=_time(document, "inter_token_latency", "avg"),
        e2e_mean_ms=_time(document, "request_latency", "avg"),
    )


def _statistic(document: Mapping[str, Any], key: str, name: str) -> tuple[Decimal | None, Any]:
    """Return one statistic of a metric and the metric's unit, both None where the run has no such metric."""
    block = document.get(key)
    if block is None:
        return None, None
    if not isinstance(block, dict):
        raise ContractError("wrong_type", key, block)
    value, field = block.get(name), f"{key}.{name}"
    found = written_figure(field, value) if isinstance(value, str) else figure(field, value)
    return found, block.get("unit")


def _failed(document: Mapping[str, Any]) -> int | None:
    """Return the failed requests where the file counts any; an empty list of errors is no count of 0."""
    stated = count("error_request_count", _mean(document, "error_request_count", "requests"))
    errors = document.get("error_summary")
    if stated is not None or not errors:
        return stated
    if not isinstance(errors, list):
        raise ContractError("wrong_type", "error_summary", errors)
    counts = [count("error_summary.count", at(error, "count")) for error in errors]
    return None if None in counts else sum(counts)


def _time(document: Mapping[str, Any], key: str, name: str) -> Decimal | None:
    return in_ms(f"{key}.unit", *_statistic(document, key, name))


def _mean(document: Mapping[str, Any], key: str, unit: str) -> Decimal | None:
    """Return a metric's mean, which must be in `unit`; raises ContractError for another unit."""
    value, stated = _statistic(document, key, "avg")
    if value is not None and stated != unit:
        raise ContractError("unknown_unit", f"{key}.unit", stated)
    return value


def _seconds(document: Mapping[str, Any]) -> Decimal | None:
    length = _time(document, "benchmark_duration", "avg")
    return None if length is None else length / 1000


def _hit_rate(document: Mapping[str, Any]) -> Decimal | None:
    """Return the share of prompt tokens that the server said it read from its cache."""
    percent = _mean(document, "overall_usage_prompt_cache_read_pct", "%")
    if percent is not None and percent > 100:
        raise ContractError("out_of_range", "overall_usage_prompt_cache_read_pct.avg", percent)
    return None if percent is None else percent / 100


def _check_reciprocal(document: Mapping[str, Any], tpot_ms: Decimal | None) -> None:
    """Raise ContractError when the median speed is not 1 / the median TPOT: one of them has another unit."""
    speed, unit = _statistic(document, "output_token_throughput_per_user", "p50")
    if speed is None or tpot_ms is None:
        return
    if unit != "tokens/sec/user":
        raise ContractError("unknown_unit", "output_token_throughput_per_user.unit", unit)
    if not agree(speed * tpot_ms, Decimal(1000), IDENTITY_TOLERANCE):
        raise ContractError("speed_is_not_reciprocal_of_tpot", "output_token_throughput_per_user.p50", speed)


def _model(config: Any) -> str | None:
    names = at(config, "endpoint", "model_names")
    if names is None:
        names = [at(item, "name") for item in _items(at(config, "models"), "items")] or None
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != 1:
        raise ContractError("several_models", "input_config", names)
    return model_name("input_config", names[0])


def _items(config: Any, key: str) -> list[Any]:
    """Return a list of the configuration; later versions list models, datasets and phases."""
    found = at(config, key)
    return found if isinstance(found, list) else []


def _load(document: Mapping[str, Any], config: Any) -> dict[str, Any]:
    """Return what was sent: the load, the prompts and whether they replay a trace."""
    scenario, asked, load = at(document, "metadata", "scenario"), at(config, "input"), at(config, "loadgen")
    phases, datasets = _items(config, "phases"), _items(config, "datasets")
    if load is None and len(phases) == 1:
        load = {"concurrency": at(phases[0], "concurrency")}
    named = [at(asked, key) for key in ("public_dataset", "detected_loader", "custom_dataset_type")]
    named += [at(dataset, key) for dataset in datasets for key in ("dataset", "format")]
    named += [at(phase, "timing_mode") for phase in phases]
    is_agentx = isinstance(scenario, str) and scenario.startswith(AGENTX)
    is_replay = is_agentx or at(asked, "fixed_schedule") is True or any(map(_is_of_a_trace, named))
    only = datasets[0] if len(datasets) == 1 else {}
    public = at(asked, "public_dataset") or at(only, "dataset")
    seed = count("input_config.random_seed", at(asked if asked else only, "random_seed"))
    return {
        "concurrency": count("input_config.loadgen.concurrency", at(load, "concurrency")),
        "request_rate": figure("input_config.loadgen.request_rate", at(load, "request_rate")),
        "planned_requests": count("input_config.loadgen.request_count", at(load, "request_count")),
        "dataset": at(document, "metadata", "dataset", "hf_dataset_name") or public,
        "dataset_seed": None if seed is None else str(seed),
        "workload": "agentx" if is_agentx else None,
        "traffic_basis": "replay" if is_replay else None,
        **_lengths(config),
    }


def _is_of_a_trace(name: Any) -> bool:
    words = ("trace", "replay", "fixed_schedule")
    return isinstance(name, str) and any(word in name.casefold() for word in words)


def _lengths(config: Any) -> dict[str, Any]:
    """Return the nominal lengths of synthetic prompts; none where a prompt holds more than was asked for."""
    asked = at(config, "input")
    turns, prefix = at(asked, "conversation", "turn", "mean"), at(asked, "prompt", "prefix_prompt", "length")
    if at(asked, "public_dataset") or at(asked, "file") or turns not in (None, 1) or prefix:
        return {}
    columns = (("isl_nominal", "input_tokens"), ("osl_nominal", "output_tokens"))
    return {
        column: count(f"input_config.input.prompt.{key}.mean", at(asked, "prompt", key, "mean"))
        for column, key in columns
    }


def _note(document: Mapping[str, Any]) -> str | None:
    """Say what has no column and would be missed: the ceiling of cache hits, the chips that were watched."""
    words = []
    ceiling = _mean(document, "theoretical_prefix_cache_hit", "%")
    if ceiling is not None:
        words.append(f"an unlimited prefix cache would have hit {ceiling:.2f} %")
    watched = [
        str(at(gpu, "gpu_name"))
        for endpoint in _values(at(document, "telemetry_data", "endpoints"))
        for gpu in _values(at(endpoint, "gpus"))
    ]
    if watched:
        words.append(f"telemetry watched {len(watched)} x {', '.join(sorted(set(watched)))}")
    return "; ".join(words) or None


def _values(mapping: Any) -> list[Any]:
    return list(mapping.values()) if isinstance(mapping, dict) else []


def _moment(document: Mapping[str, Any], key: str) -> datetime | None:
    """Return an instant that is written in nanoseconds since 1970; raises SourceError for what is none."""
    block = document.get(key)
    if block is None:
        return None
    try:
        value, unit = _statistic(document, key, "avg")
        if value is None or unit != "ns":
            raise SourceError(f"{key} is {value} {unit}, where nanoseconds since 1970 are wanted")
        return datetime.fromtimestamp(int(value) // 10**9, tz=UTC)
    except (ContractError, OverflowError, ValueError, OSError) as error:
        raise SourceError(f"{key}: {error}") from error


SOURCE = Source(
    kind="benchmark",
    title="AIPerf summaries",
    homepage="https://github.com/ai-dynamo/aiperf",
    licence="The tool is Apache-2.0; a run is whoever's who made it: import what may be passed on.",
    passes_on=True,
    cadence="as imported",
    source_rank=20,
    max_age_days=14,
    parse=parse,
    observed_at=observed_at,
)
