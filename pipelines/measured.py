"""What a benchmark tool measured, in columns of `benchmark_result`, and the checks that its figures agree.

Belongs here: units, the speed that a median TPOT gives, the identities that figures obey whichever tool wrote
them, and which names cannot be meant. Does not belong here: any tool's keys or file format, and what a person
states beside a file (`run_context.py`).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount
from pipelines.run_context import completed
from pipelines.source import Accepted, Outcome, Rejected, Snapshot, SourceError

KIND = "benchmark_result"

# A unit that is not here is refused: a factor of 1000 hides in a guess.
MS_PER_UNIT = {
    "ns": Decimal("1e-6"),
    "us": Decimal("1e-3"),
    "ms": Decimal(1),
    "ms/token": Decimal(1),
    "s": Decimal(1000),
    "sec": Decimal(1000),
    "s/token": Decimal(1000),
}
# Outside of it a median TPOT is in another unit than it says, or no TPOT.
TPOT_MS = (Decimal("0.5"), Decimal(2000))
# Input and output are the total but for rounding; a median is its own reciprocal but for interpolation.
IDENTITY_TOLERANCE = Decimal("0.01")
# Tools close their windows for tokens and for requests at slightly different moments.
WINDOW_TOLERANCE = Decimal("0.05")
PERCENTILES = ("p50", "p90", "p95", "p99")
# The mean TPOT times the mean tokens fill a request only roughly: long answers are not as slow as short ones.
DECODE_TOLERANCE = Decimal("0.25")
# Where Hugging Face keeps a model that it downloaded: the only path that says which model lies there.
HUB_FOLDER = re.compile(
    r"(?:^|[/\\])models--([^/\\]+?)--([^/\\]+)(?:[/\\]snapshots[/\\]([0-9a-f]{40}))?(?:[/\\]|$)"
)
# Words that only a server without a GPU carries in its name or in its model's.
PRETENDED = {"mock", "mocked", "mocker", "fake", "dummy", "sim", "simulator", "simulated"}


@dataclass(frozen=True)
class Beside:
    """Figures of a run that have no column and prove or disprove those that have one; times in ms."""

    requests_per_s: Decimal | None = None
    ttft_mean_ms: Decimal | None = None
    tpot_mean_ms: Decimal | None = None
    e2e_mean_ms: Decimal | None = None


def figure(field: str, value: Any) -> Decimal | None:
    """Read a number from 0 that may be left out; raises ContractError for anything else."""
    if value is None:
        return None
    if isinstance(value, str):
        raise ContractError("wrong_type", field, value)
    return _finite(field, amount(field, value))


def written_figure(field: str, value: str | None) -> Decimal | None:
    """Read a number from a cell of a CSV; an empty one is None. Raises ContractError as `figure` does."""
    return None if value in (None, "") else _finite(field, amount(field, value))


def count(field: str, value: Any) -> int | None:
    """Read a whole number from 0 that may be left out, also one written `64.0`; raises ContractError."""
    found = figure(field, value)
    if found is not None and found != found.to_integral_value():
        raise ContractError("wrong_type", field, value)
    return None if found is None else int(found)


def wanted(read: Callable[[str, Any], Any], field: str, value: Any) -> Any:
    """Read by `figure` or `count` what may not be left out; raises ContractError."""
    if value is None:
        raise ContractError("missing_value", field, value)
    return read(field, value)


def in_ms(field: str, value: Decimal | None, unit: Any) -> Decimal | None:
    """Return a time in ms by the unit that stands beside it; raises ContractError for a unit not known."""
    if value is None:
        return None
    if not isinstance(unit, str) or unit not in MS_PER_UNIT:
        raise ContractError("unknown_unit", field, unit)
    return value * MS_PER_UNIT[unit]


def model_name(field: str, value: Any) -> str | None:
    """Return the model's name; None for a path in a file system, which says where it lay, not what it is."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise ContractError("wrong_type", field, value)
    is_path = re.match(r"[./~]|[A-Za-z]:", value) or "\\" in value or value.count("/") > 1
    return None if is_path else value or None


def model_named(field: str, value: Any) -> dict[str, str | None]:
    """Return raw_model_name and model_revision as far as a name, or a folder of Hugging Face's, says them."""
    hub = HUB_FOLDER.search(value) if isinstance(value, str) else None
    if hub:
        return {"raw_model_name": f"{hub[1]}/{hub[2]}", "model_revision": hub[3]}
    return {"raw_model_name": model_name(field, value)}


def run_id_of(snapshot: Snapshot) -> str:
    """Return a name for a run that has none: the first 12 hex digits of its file's sha256."""
    return hashlib.sha256(b"".join(part.body for part in snapshot.parts)).hexdigest()[:12]


def run_digest(run: Mapping[str, Any]) -> str:
    """Return a name for one run of a file that may hold several: 12 hex digits of what it says.

    Layout does not count, and a file that grows keeps its runs. A stamp that is as precise as a second of a
    local clock is no name: two servers of one kind may end a run together, and one of the two would vanish.
    """
    said = json.dumps(run, sort_keys=True, default=str)
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def check_run_id(context: Mapping[str, Any], runs: int) -> None:
    """Raise SourceError when one stated run_id would make one run of several."""
    if context.get("run_id") and runs > 1:
        raise SourceError(f"the context states run_id, though the file holds {runs} runs; leave it out")


def is_pretended(*names: Any) -> bool:
    """Say whether a model or a server calls itself a mock; its figures are then nobody's measurement."""
    words = {
        word for name in names if isinstance(name, str) for word in re.split(r"[^a-z]+", name.casefold())
    }
    return not words.isdisjoint(PRETENDED)


def outcome(
    measure: Callable[[], tuple[Mapping[str, Any], Beside]],
    snapshot: Snapshot,
    locator: str,
    *servers: Any,
    run_id: str | None = None,
) -> Outcome:
    """Return the row of one run, completed by what a person stated beside its file, or why it is refused.

    `measure` returns what the file says, in columns of `benchmark_result` and beside them. `servers` are the
    names that the file gives to what answered, besides the model's: a mock is `assumed` whatever the context
    says. `run_id` is what the source can name the run by, its digest: it keys the result, so that a condition
    which is mended beside the same run makes no second point, and it names a run that nobody names; where
    there is none, a nameless run is named by its file. Raises SourceError when the context
    contradicts the row or leaves it short.
    """
    context = dict(snapshot.context)
    notes = [context.pop("note", None)]
    try:
        row, beside = measure()
        names = [part.get(key) for part in (row, context) for key in ("model_name", "engine", "image")]
        if is_pretended(row.get("raw_model_name"), *names, *servers):
            context["evidence"] = "assumed"
            notes.append("a mock answered")
        reason = why_no_tpot(row, beside)
        if reason:
            row = {**row, **{f"tpot_{percentile}_ms": None for percentile in PERCENTILES}}
            notes.append(reason)
        # Whoever says that figures are no measurement has not said that they agree.
        if context.get("evidence") != "assumed":
            check_agreement(row, beside.requests_per_s)
        row = with_speed(row)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    if context.get("acceptance_basis"):
        # What a tool measures may have been made up by the server; whoever started it knows.
        row["acceptance_basis"] = None
    row["note"] = "; ".join(filter(None, [row.get("note"), *notes])) or None
    found = completed(row, context)
    if found.get("run_id") is None:
        found["run_id"] = run_id or run_id_of(snapshot)
    if run_id:
        found["result_id"] = run_id
    return Accepted(KIND, found, locator)


def why_no_tpot(row: Mapping[str, Any], beside: Beside) -> str | None:
    """Say why a TPOT cannot be one: it leaves the time after the first token unexplained. None: it can.

    A tool that divides by chunks calls the result TPOT as well; only the rest of its figures show it.
    """
    tokens = row.get("osl_mean")
    means = (tokens, beside.ttft_mean_ms, beside.tpot_mean_ms, beside.e2e_mean_ms)
    if None in means or tokens <= 1 or not beside.tpot_mean_ms:
        return None
    stated = beside.tpot_mean_ms * (tokens - 1)
    needed = beside.e2e_mean_ms - beside.ttft_mean_ms
    if agree(needed, stated, DECODE_TOLERANCE):
        return None
    return f"TPOT left out: after its first token a request took {needed / stated:.2f} times what it says"


def with_speed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a whole server's row with its speed: 1 / TPOT of the median, never of another percentile.

    Raises ContractError when nothing was completed, and for a TPOT that can be none.
    """
    if row.get("completed_requests") == 0:
        raise ContractError("no_completed_requests", "completed_requests", 0)
    tpot = row.get("tpot_p50_ms")
    if tpot is not None and not TPOT_MS[0] <= tpot <= TPOT_MS[1]:
        raise ContractError("tpot_out_of_range", "tpot_p50_ms", tpot)
    return {
        **row,
        "throughput_basis": "system",
        "interactivity_tok_s_user": None if tpot is None else 1000 / tpot,
        "speed_percentile": None if tpot is None else "p50",
    }


def check_agreement(row: Mapping[str, Any], requests_per_s: Decimal | None = None) -> None:
    """Raise ContractError when figures of one run contradict each other.

    Throughputs must add up; percentiles must rise; a request must last at least until its first token; and
    tokens per second must be completed requests per second times mean tokens.
    """
    for stem in ("ttft", "tpot", "e2e"):
        stated = [row[f"{stem}_{p}_ms"] for p in PERCENTILES if row.get(f"{stem}_{p}_ms") is not None]
        if stated != sorted(stated):
            raise ContractError("percentiles_out_of_order", f"{stem}_p50_ms", row.get(f"{stem}_p50_ms"))
    first, whole = row.get("ttft_p50_ms"), row.get("e2e_p50_ms")
    if first is not None and whole is not None and first > whole * (1 + IDENTITY_TOLERANCE):
        raise ContractError("request_shorter_than_its_first_token", "e2e_p50_ms", whole)
    output, given, total = (row.get(f"{kind}_tok_s") for kind in ("output", "input", "total"))
    if None not in (output, given, total) and not agree(output + given, total, IDENTITY_TOLERANCE):
        raise ContractError("throughputs_do_not_add_up", "total_tok_s", total)
    for throughput, length in (("output_tok_s", "osl_mean"), ("input_tok_s", "isl_mean")):
        stated, mean = row.get(throughput), row.get(length)
        if None in (stated, mean, requests_per_s):
            continue
        if not agree(stated, mean * requests_per_s, WINDOW_TOLERANCE):
            raise ContractError("throughput_is_not_requests_times_tokens", throughput, stated)


def check_completed(field: str, completed_requests: int, planned: int | None, *rates: Any) -> None:
    """Raise ContractError for a run that made nothing, or more than was asked of it.

    A server that refuses every request leaves a file of zeros behind.
    """
    if completed_requests == 0 or all(not rate for rate in rates):
        raise ContractError("no_completed_requests", field, completed_requests)
    if planned is not None and completed_requests > planned:
        raise ContractError("more_completed_than_planned", field, completed_requests)


def offered_load(rate: Any, limit: Any, planned: int | None, arrival: str | None) -> dict[str, Any]:
    """Return request_rate, arrival, concurrency and a note of what `rate` (1/s) and `limit` (in flight) say.

    arrival: how requests come at a finite rate. At an unlimited one (`inf`, Infinity) they come as fast as
    the limit lets them, or all at once. Under a finite rate, and with fewer requests than the limit, nobody
    knows how many were in flight.
    """
    limit = count("max_concurrency", limit)
    unlimited = rate == "inf" or (isinstance(rate, Decimal) and rate.is_infinite() and rate > 0)
    offered = None if unlimited or rate == "trace" else figure("request_rate", rate)
    held = unlimited and limit is not None and (planned is None or planned >= limit)
    if unlimited or rate == "trace":
        arrival = "trace" if rate == "trace" else "closed_loop" if held else "all_at_once"
    notes = [
        "request rate unlimited" if unlimited else None,
        f"at most {limit} in flight" if limit is not None and not held else None,
    ]
    return {
        "request_rate": offered,
        "arrival": None if rate is None else arrival,
        "concurrency": limit if held else None,
        "note": "; ".join(filter(None, notes)) or None,
    }


def server_throughput(
    duration_s: Any, requests: int, tokens: Mapping[str, Any], stated: Mapping[str, tuple[str, Any]]
) -> dict[str, Any]:
    """Return the three throughputs of the whole server in tok/s, its duration and its mean lengths.

    tokens: `input` and `output` of all completed requests. stated: by column, the tool's field and value;
    what it leaves out follows from the tokens. Raises ContractError when the two differ by more than 1 %.
    """
    seconds = wanted(figure, "duration", duration_s)
    if not seconds:
        raise ContractError("not_positive", "duration", duration_s)
    given, made = (wanted(count, f"total_{kind}_tokens", tokens[kind]) for kind in ("input", "output"))
    found = {}
    for kind, total in (("output", made), ("input", given), ("total", given + made)):
        column, expected = f"{kind}_tok_s", total / seconds
        field, value = stated.get(column, (column, None))
        found[column] = expected if value is None else figure(field, value)
        if not agree(found[column], expected, IDENTITY_TOLERANCE):
            raise ContractError("throughputs_do_not_add_up", field, value)
    return {
        **found,
        "duration_s": seconds,
        "completed_requests": requests,
        "isl_mean": Decimal(given) / requests,
        "osl_mean": Decimal(made) / requests,
    }


def times(document: Mapping[str, Any], keys: Mapping[str, str], unit: str) -> dict[str, Decimal | None]:
    """Return times in ms by column; `keys` has the tool's key of each.

    For tools that write 0 where they measured nothing: no stream, no second token.
    """
    return {column: in_ms(key, figure(key, document.get(key)), unit) or None for column, key in keys.items()}


def agree(one: Decimal, other: Decimal, tolerance: Decimal) -> bool:
    """Say whether two figures are the same but for `tolerance`, a share of the second."""
    return abs(one - other) <= tolerance * abs(other)


def _finite(field: str, value: Decimal) -> Decimal:
    # 1e999 is a finite decimal and no finite double; arithmetic on it would break instead of refusing.
    if not math.isfinite(float(value)):
        raise ContractError("not_finite", field, value)
    if value < 0:
        raise ContractError("negative", field, value)
    return value
