"""The MLCommons endpoints client (LoadGen++) of MLPerf Inference since v6.1: its `result_summary.json`.

Traps: every time is in nanoseconds; TPOT leaves the first chunk and its tokens out, as ours does; under the
legacy rules of LoadGen, `tps` stops when the last request that was issued has its answer, so the requests
that end after it are not in its time. Percentiles stand under "50.0" and not under "50".
Does not belong here: the summary of a round, the log of events, and accuracy, which is a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.measured import Beside, count, figure, in_ms, outcome, run_digest
from pipelines.outcomes import at, only_part
from pipelines.source import Outcome, Part, Snapshot, Source, SourceError

READ = "performance/result_summary.json of the MLCommons endpoints client is read"
KEYS = {"n_samples_completed", "n_samples_failed", "duration_ns", "state", "complete", "ttft", "tpot",
        "latency", "output_sequence_lengths", "tps"}  # fmt: skip
NANOSECONDS = Decimal(10) ** 9

# (block, key of the percentile) of each time.
TIMES = {
    f"{column}_{name}_ms": (block, key)
    for block, column, names in (
        ("ttft", "ttft", ("p50", "p90", "p95", "p99")),
        ("tpot", "tpot", ("p50", "p90", "p95", "p99")),
        ("latency", "e2e", ("p50", "p99")),
    )
    for name, key in (("p50", "50.0"), ("p90", "90.0"), ("p95", "95.0"), ("p99", "99.0"))
    if name in names
}
# How requests arrive, and the field that says how many.
ARRIVALS = {
    "poisson": ("poisson", "request_rate", "target_qps"),
    "concurrency": ("closed_loop", "concurrency", "target_concurrency"),
    "max_throughput": ("all_at_once", None, None),
}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield the outcome of the run: times in ms, output tokens per second of the whole system.

    Raises SourceError when the file is no such summary, or its context contradicts it or leaves it short.
    """
    part = only_part(snapshot.parts, "one summary of a run is wanted")
    run = _run(part)
    yield outcome(lambda: (_row(run), _beside(run)), snapshot, part.name, run_id=run_digest(run))


def _run(part: Part) -> dict[str, Any]:
    run = strict_json(part.body)
    if not isinstance(run, dict) or not run.keys() >= KEYS:
        lacking = sorted(KEYS - run.keys()) if isinstance(run, dict) else sorted(KEYS)
        raise SourceError(f"{part.name}: {', '.join(lacking)} missing: {READ}")
    return run


def _row(run: Mapping[str, Any]) -> dict[str, Any]:
    if run["complete"] is not True or run["state"] != "complete":
        raise ContractError("incomplete_run", "state", run["state"])
    pattern = at(run, "run_config", "load_pattern")
    kind = at(pattern, "type")
    if kind is not None and not isinstance(kind, str):
        raise ContractError("wrong_type", "load_pattern.type", kind)
    arrival, column, key = ARRIVALS.get(kind, (None, None, None))
    duration = _seconds("duration_ns", run["duration_ns"])
    tail = _tail(run, duration)
    read = count if column == "concurrency" else figure
    return {
        "planned_requests": count("n_samples_issued", run.get("n_samples_issued")),
        "completed_requests": count("n_samples_completed", run["n_samples_completed"]),
        "failed_requests": count("n_samples_failed", run["n_samples_failed"]),
        "duration_s": duration,
        "output_tok_s": figure("tps", run["tps"]),
        "isl_mean": figure("input_sequence_lengths.avg", at(run, "input_sequence_lengths", "avg")),
        "osl_mean": figure("output_sequence_lengths.avg", at(run, "output_sequence_lengths", "avg")),
        "arrival": arrival,
        "note": tail,
        **({column: read(f"load_pattern.{key}", at(pattern, key))} if column else {}),
        **{
            name: in_ms(block, figure(f"{block}.{key}", at(run, block, "percentiles", key)), "ns")
            for name, (block, key) in TIMES.items()
        },
    }


def _tail(run: Mapping[str, Any], duration: Decimal | None) -> str | None:
    """Say how much of the run the throughput leaves out; None: nothing."""
    window = _seconds("legacy_loadgen_window_duration_ns", run.get("legacy_loadgen_window_duration_ns"))
    if window is None or duration is None:
        return None
    return f"throughput over {window:.0f} s of {duration:.0f} s: until the last request issued had its answer"


def _beside(run: Mapping[str, Any]) -> Beside:
    ttft, tpot, whole = (
        in_ms(block, figure(f"{block}.avg", at(run, block, "avg")), "ns")
        for block in ("ttft", "tpot", "latency")
    )
    return Beside(figure("qps", run.get("qps")), ttft, tpot, whole)


def _seconds(field: str, value: Any) -> Decimal | None:
    found = figure(field, value)
    return None if found is None else found / NANOSECONDS


SOURCE = Source(
    kind="benchmark",
    title="A run of the MLCommons endpoints client, from a file",
    homepage="https://github.com/mlcommons/endpoints",
    licence="The tool is Apache-2.0; a run is whoever's who made it: import what may be passed on.",
    passes_on=True,
    cadence="as imported",
    source_rank=20,
    max_age_days=14,
    parse=parse,
)
