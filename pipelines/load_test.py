"""What the result files of load generators share: whose a file is, which run it holds, what it owes.

Belongs here: telling the tools apart by their keys, and the readings and checks that each of them needs in
the same form: a run's identity, its load, its throughputs, its speed.
Does not belong here: the keys of one tool's metrics (its source has them), what a person states beside a
file (`run_context.py`), and any file of a publisher who ran such a tool and wrote a format of his own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.outcomes import plain_number, whole_number
from pipelines.run_context import completed
from pipelines.source import Accepted, Outcome, Rejected, SourceError

KIND = "benchmark_result"
THROUGHPUTS = ("output_tok_s", "input_tok_s", "total_tok_s")
IDENTITY_TOLERANCE = Decimal("0.01")
# Outside of it a time per token has another unit than its name says, or is none.
TPOT_MS = (Decimal("0.5"), Decimal(2000))
# Where Hugging Face keeps a model that it downloaded: the only path that says which model lies there.
HUB_FOLDER = re.compile(
    r"(?:^|[/\\])models--([^/\\]+?)--([^/\\]+)(?:[/\\]snapshots[/\\]([0-9a-f]{40}))?(?:[/\\]|$)"
)


@dataclass(frozen=True)
class Written:
    """A kind of file: what it is in words, the keys that prove it, the source that reads it, if any does."""

    what: str
    keys: frozenset[str]
    slug: str | None = None


def _written(what: str, keys: str, slug: str | None = None) -> Written:
    return Written(what, frozenset(keys.split()), slug)


# The first whose keys are all there.
KNOWN = (
    _written(
        "a line of SGLang's bench_serving",
        "backend total_output_tokens_retokenized duration completed output_throughput",
        "sglang_bench",
    ),
    _written(
        "a result of vLLM's serving benchmark",
        "date model_id num_prompts request_rate duration completed total_input_tokens request_throughput",
        "vllm_bench",
    ),
    _written("a run of genai-bench", "aggregated_metrics individual_request_metrics", "genai_bench"),
    _written(
        "the metadata of a genai-bench experiment",
        "benchmark_version api_backend traffic_scenario num_concurrency",
        "genai_bench",
    ),
    _written("a processed run of InferenceX", "hw infmax_model_prefix framework precision", "inferencex_run"),
    _written(
        "a summary of LLMPerf: API-provider speeds without hardware cannot be priced",
        "results_inter_token_latency_s_mean results_ttft_s_mean num_concurrent_requests",
    ),
    _written("an export of AIPerf", "request_latency output_sequence_length input_sequence_length"),
    _written("a report of GuideLLM", "benchmarks metadata"),
    _written("a stage of inference-perf", "load_summary successes failures"),
    _written("a benchmark report of llm-d", "version run scenario results"),
)


def checked_for(slug: str, document: Any, place: str) -> Written:
    """Return what a document of the source `slug` is; raises SourceError with what it looks like instead."""
    keys = document.keys() if isinstance(document, dict) else set()
    found = next((kind for kind in KNOWN if kind.keys <= keys), None)
    if found is not None and found.slug == slug:
        return found
    if found is None:
        wanted = " or ".join(kind.what for kind in KNOWN if kind.slug == slug)
        shown = ", ".join(sorted(keys)[:6]) or "no keys"
        raise SourceError(f"{place}: not {wanted}; it holds {shown}")
    use = f"; import it as {found.slug}" if found.slug else ""
    raise SourceError(f"{place}: looks like {found.what}{use}")


def outcome(
    document: Mapping[str, Any],
    locator: str,
    row_of: Callable[[Mapping[str, Any]], dict[str, Any]],
    context: Mapping[str, Any],
) -> Outcome:
    """Return the accepted or rejected point of one run; `row_of` reads it and raises ContractError.

    Raises SourceError when the context is missing something or contradicts the run.
    """
    try:
        row = row_of(document)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    # A note adds to what a person says; these two the person knows better than we do.
    note = row.pop("note", None)
    row.setdefault("run_id", digest(document))
    for column in ("run_id", "acceptance_basis"):
        if context.get(column):
            row.pop(column, None)
    merged = completed(row, context)
    return Accepted(KIND, {**merged, "note": joined([merged.get("note"), note])}, locator)


def check_run_id(context: Mapping[str, Any], runs: int) -> None:
    """Raise SourceError when one stated run_id would make one run of several."""
    if context.get("run_id") and runs > 1:
        raise SourceError(f"the context states run_id, though the file holds {runs} runs; leave it out")


def digest(document: Mapping[str, Any]) -> str:
    """Return the run's id: 12 hex digits of what its document says, however that is laid out.

    The tools stamp a run to the second of a local clock or not at all, which is not unique: two servers of
    one kind may end a run in the same second, and one of the two would disappear.
    """
    said = json.dumps(document, sort_keys=True, default=str)
    return hashlib.sha256(said.encode("utf-8", "backslashreplace")).hexdigest()[:12]


def joined(notes: Iterable[str | None]) -> str | None:
    """Return what there is to note in one line, or None."""
    return "; ".join(note for note in notes if note) or None


def model_named(field: str, value: Any) -> dict[str, Any]:
    """Return raw_model_name and model_revision as far as a name or a folder says them.

    A folder is no name: of all paths only Hugging Face's own layout says which model lies in it.
    """
    if value in (None, ""):
        return {}
    if not isinstance(value, str):
        raise ContractError("wrong_type", field, value)
    if hub := HUB_FOLDER.search(value):
        return {"raw_model_name": f"{hub[1]}/{hub[2]}", "model_revision": hub[3]}
    is_path = re.match(r"[./~\\]|[A-Za-z]:[/\\]", value) or value.count("/") > 1 or "\\" in value
    return {} if is_path else {"raw_model_name": value}


def check_completed(field: str, completed_requests: int, planned: int | None, *rates: Any) -> None:
    """Raise ContractError for a run that made nothing, or more than was asked of it.

    A server that refuses every request leaves a file of zeros behind.
    """
    if completed_requests == 0 or all(not rate for rate in rates):
        raise ContractError("no_completed_requests", field, completed_requests)
    if completed_requests < 0 or (planned is not None and completed_requests > planned):
        raise ContractError("more_completed_than_planned", field, completed_requests)


def load(rate: Any, limit: Any, planned: int | None = None) -> dict[str, Any]:
    """Return request_rate, concurrency and a note of what `rate` (1/s) and `limit` (in flight) say.

    An unlimited rate (`inf`, Infinity) keeps the server at its limit; under a finite one, and with fewer
    requests than the limit, nobody knows how many were in flight.
    """
    limit = None if limit is None else whole_number("max_concurrency", limit)
    unlimited = rate == "inf" or (isinstance(rate, Decimal) and rate.is_infinite() and rate > 0)
    offered = None if unlimited or rate in (None, "trace") else plain_number("request_rate", rate)
    reached = unlimited and limit is not None and (planned is None or planned >= limit)
    return {
        "request_rate": offered,
        "concurrency": limit if reached else None,
        "note": joined(
            [
                "request rate unlimited" if unlimited else None,
                "requests at the times of a trace" if rate == "trace" else None,
                f"at most {limit} in flight" if limit is not None and not reached else None,
            ]
        ),
    }


def throughput(
    duration_s: Any, requests: int, tokens: Mapping[str, Any], stated: Mapping[str, tuple[str, Any]]
) -> dict[str, Any]:
    """Return the three throughputs of the whole server in tok/s, its duration and its mean lengths.

    tokens: `input` and `output` of all completed requests. stated: by column, the tool's field and value;
    what it leaves out follows from the tokens. Raises ContractError when the two differ by more than 1 %.
    """
    seconds = plain_number("duration", duration_s)
    if not seconds > 0:
        raise ContractError("not_positive", "duration", duration_s)
    put_in, made = (whole_number(f"total_{kind}_tokens", tokens[kind]) for kind in ("input", "output"))
    follows = dict(
        zip(THROUGHPUTS, (made / seconds, put_in / seconds, (put_in + made) / seconds), strict=True)
    )
    found = {}
    for column, expected in follows.items():
        field, value = stated.get(column, (column, None))
        found[column] = expected if value is None else plain_number(field, value)
        if abs(found[column] - expected) > IDENTITY_TOLERANCE * expected:
            raise ContractError("throughputs_do_not_add_up", field, value)
    return {
        "throughput_basis": "system",
        **found,
        "duration_s": seconds,
        "completed_requests": requests,
        "isl_mean": Decimal(put_in) / requests,
        "osl_mean": Decimal(made) / requests,
    }


def times(document: Mapping[str, Any], keys: Mapping[str, str], unit_ms: int = 1) -> dict[str, Any]:
    """Return times in ms by column; `keys` has the tool's key of each, `unit_ms` the ms of its unit.

    These tools write 0 where they measured nothing: no stream, no second token. Raises ContractError when
    a higher percentile is the shorter one, or a first token comes after the whole request.
    """
    found: dict[str, Any] = {}
    for column, key in keys.items():
        value = document.get(key)
        found[column] = None if value is None else (plain_number(key, value) * unit_ms or None)
    for group in ("ttft", "tpot", "itl", "e2e"):
        known = [found[column] for column in sorted(found) if column.startswith(group) and found[column]]
        if known != sorted(known):
            raise ContractError("percentiles_not_in_order", group, [str(value) for value in known])
    first, whole = found.get("ttft_p50_ms"), found.get("e2e_p50_ms")
    if first and whole and first > whole:
        raise ContractError("first_token_after_the_last", keys["ttft_p50_ms"], first)
    return found


def speed(tpot_p50_ms: Decimal | None) -> dict[str, Any]:
    """Return the median user's speed in tok/s: 1 / TPOT, TPOT without the first token.

    No other statistic will do: the reciprocal of a mean is no percentile, that of the 99th percentile is
    the slow end, and gaps between chunks are no tokens. Raises ContractError for a TPOT that cannot be one.
    """
    if tpot_p50_ms is None:
        return {}
    if not TPOT_MS[0] <= tpot_p50_ms <= TPOT_MS[1]:
        raise ContractError("tpot_out_of_range", "tpot_p50_ms", tpot_p50_ms)
    return {"interactivity_tok_s_user": 1000 / tpot_p50_ms, "speed_percentile": "p50"}
