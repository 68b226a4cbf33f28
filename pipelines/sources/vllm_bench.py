"""Result files of vLLM's serving benchmark (`vllm bench serve`, earlier `benchmark_serving.py`), old and new.

Traps: a file names no chip, no GPU count and no engine (its `backend` is the protocol that the client
spoke, and other servers speak it too); throughputs are of the whole server; a run of which every request
failed leaves zeros; `failed` is younger than most files, and absent it is unknown; `date` is a local time
without a zone, so only its day is taken, as it is stated; a ramped request rate is saved as `inf`.
Does not belong here: speeds from gaps between chunks (ITL), goodput as a throughput, per-request lists, and
files that InferenceX made of such results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any

from pipelines.benchmark_files import refuse_all_but
from pipelines.contracts import ContractError
from pipelines.decode import strict_json_documents
from pipelines.measured import (
    KIND,
    Beside,
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
from pipelines.outcomes import check_clock, one_of_each, only_part
from pipelines.source import NotApplicable, Outcome, Part, Snapshot, Source, SourceError

SLUG = "vllm_bench"
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
    "e2e_p50_ms": "median_e2el_ms",
    "e2e_p99_ms": "p99_e2el_ms",
}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one point per result: times in ms, throughputs in tok/s of the server, speed in tok/s per user.

    A file may hold several results, appended one after the other. Raises SourceError when it holds
    anything else, and when the context lacks or contradicts something.
    """
    runs = _runs(snapshot.parts)
    check_clock("measured", _newest(runs), snapshot)
    check_run_id(snapshot.context, len(runs))
    found = [_outcome(run, f"run {number}", snapshot) for number, run in enumerate(runs)]
    yield from one_of_each(found, lambda point: point.row["run_id"])


def _outcome(run: Mapping[str, Any], locator: str, snapshot: Snapshot) -> Outcome:
    if "total_output_tokens" not in run:
        return NotApplicable(KIND, "no_generated_tokens", locator)
    return outcome(lambda: (_row(run), _beside(run)), snapshot, locator, run_id=run_digest(run))


def observed_at(parts: tuple[Part, ...]) -> datetime:
    """Return the start of the day on which the newest run of the file ended, as its clock said."""
    return _newest(_runs(parts))


def _runs(parts: tuple[Part, ...]) -> list[dict[str, Any]]:
    part = only_part(parts, "one result file is read at a time")
    runs = strict_json_documents(part.body)
    for number, run in enumerate(runs):
        refuse_all_but(SLUG, run, f"{part.name}, run {number}")
    return runs


def _newest(runs: list[dict[str, Any]]) -> datetime:
    try:
        newest = max(_day(run["date"]) for run in runs)
    except ContractError as error:
        raise SourceError(f"the date of a run is no YYYYMMDD-HHMMSS: {error.value!r}") from error
    return datetime(newest.year, newest.month, newest.day, tzinfo=UTC)


def _day(stamp: Any) -> date:
    found = re.fullmatch(r"(\d{4})(\d{2})(\d{2})-\d{6}", stamp, re.ASCII) if isinstance(stamp, str) else None
    try:
        return date(*map(int, found.groups()))
    except (AttributeError, ValueError) as error:
        raise ContractError("not_a_date", "date", stamp) from error


def _row(run: Mapping[str, Any]) -> dict[str, Any]:
    requests = wanted(count, "completed", run["completed"])
    planned = wanted(count, "num_prompts", run["num_prompts"])
    totals = [run.get(key) for key in ("output_throughput", "total_token_throughput", "request_throughput")]
    check_completed("completed", requests, planned, *totals)
    seed, accepted = run.get("seed"), run.get("spec_decode_acceptance_length")
    load = _load(run, planned)
    return {
        "measured_on": _day(run["date"]),
        **model_named("model_id", run["model_id"]),
        "planned_requests": planned,
        "failed_requests": count("failed", run.get("failed")),
        "dataset": run.get("dataset_name"),
        "dataset_seed": None if seed is None else str(seed),
        **_throughput(run, requests),
        **times(run, TIMES, "ms"),
        "acceptance_length": accepted,
        "acceptance_basis": None if accepted is None else "measured",
        **load,
        "note": "; ".join(filter(None, [load["note"], _goodput(run)])) or None,
    }


def _beside(run: Mapping[str, Any]) -> Beside:
    means = times(run, {name: f"mean_{name}_ms" for name in ("ttft", "tpot", "e2el")}, "ms")
    rate = figure("request_throughput", run["request_throughput"])
    return Beside(rate, means["ttft"], means["tpot"], means["e2el"])


def _throughput(run: Mapping[str, Any], requests: int) -> dict[str, Any]:
    tokens = {"input": run["total_input_tokens"], "output": run["total_output_tokens"]}
    stated = {
        "output_tok_s": ("output_throughput", run.get("output_throughput")),
        "input_tok_s": ("input_throughput", run.get("input_throughput")),
        "total_tok_s": ("total_token_throughput", run.get("total_token_throughput")),
    }
    return server_throughput(run["duration"], requests, tokens, stated)


def _load(run: Mapping[str, Any], planned: int) -> dict[str, Any]:
    """Return the load: requests come as a Poisson process, unless a burstiness other than 1 is stated."""
    limit = run.get("max_concurrency")
    if run.get("ramp_up_strategy") is None:
        arrival = "poisson" if figure("burstiness", run.get("burstiness")) in (None, 1) else None
        return offered_load(run["request_rate"], limit, planned, arrival)
    first, last = run.get("ramp_up_start_rps"), run.get("ramp_up_end_rps")
    load = offered_load(None, limit, planned, None)
    ramp = f"request rate ramped from {first} to {last} per second"
    return {**load, "note": "; ".join(filter(None, [ramp, load["note"]]))}


def _goodput(run: Mapping[str, Any]) -> str | None:
    """What the file says of requests that met their limits; some versions wrote a colon into the key."""
    value = figure("request_goodput", run.get("request_goodput", run.get("request_goodput:")))
    return None if value is None else f"goodput {value:f} requests per second"


SOURCE = Source(
    kind="benchmark",
    title="Results of vLLM's serving benchmark",
    homepage="https://docs.vllm.ai/en/latest/contributing/benchmarks.html",
    licence="Yours, or what the owner of the file grants; import only what you may show.",
    passes_on=True,
    cadence="when a run is made",
    source_rank=20,
    max_age_days=14,
    parse=parse,
    observed_at=observed_at,
)
