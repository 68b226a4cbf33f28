"""InferenceX by SemiAnalysis: the result files of one run, as its harness leaves them, imported by a person.

Read: one aggregate (`agg_*.json`), a compiled list of them (`agg_bmk.json`), or a zip of either. Flat ones
have one server's ranks or those of two roles; those of AgentX, the replay of agents' traffic, are nested.
Each is put into the words of the API's rows and read as these are, so that one point is one point.
Traps: no file names its run or day, so a person states them beside it; a compiled list repeats the single
files; accuracy files lie among them; runners are named after clusters; dp_attention is a text.
Does not belong here: what the measuring client wrote itself (that names no chip) and anything official:
a file on somebody's disk proves no branch, so it is unofficial unless a person states otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import strict_json, unzipped
from pipelines.outcomes import at, whole_number
from pipelines.run_context import completed, stated
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Rejected,
    Snapshot,
    Source,
    SourceError,
)
from pipelines.sources.inferencex import one_of_each_point, result
from pipelines.sources.inferencex_evaluations import RUN_URL

KIND = "benchmark_result"
OFFICIAL = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/"
AGGREGATE_KEYS = {"hw", "framework", "conc"}
CLIENT_KEYS = {"total_token_throughput", "request_throughput", "tokenizer_id", "max_concurrency"}
ACCURACY_KEYS = {"task", "em_strict", "em_flexible", "eval_name", "lm_eval_version", "n-samples"}
AGENTIC = "agentic-coding"

# What the API's rows say in the same words.
COPIED = (
    "framework", "precision", "conc",
    "prefill_tp", "prefill_ep", "prefill_num_workers", "num_prefill_gpu",
    "decode_tp", "decode_ep", "decode_num_workers", "num_decode_gpu",
)  # fmt: skip
STATISTICS = {"mean": "mean", "p50": "median", "p90": "p90", "p95": "p95", "p99": "p99"}
NESTED = {
    "tput_per_gpu": ("request_metrics", "throughput", "per_gpu", "total_tput_tps"),
    "output_tput_per_gpu": ("request_metrics", "throughput", "per_gpu", "output_tput_tps"),
    "input_tput_per_gpu": ("request_metrics", "throughput", "per_gpu", "input_tput_tps"),
    "duration_seconds": ("request_metrics", "throughput", "duration_seconds"),
    "mean_input_tokens": ("request_metrics", "tokens", "input", "mean"),
    "mean_output_tokens_actual": ("request_metrics", "tokens", "output_actual", "mean"),
    "server_gpu_cache_hit_rate": ("server_metrics", "cache", "gpu_cache_hit_rate"),
    "server_external_cache_hit_rate": ("server_metrics", "cache", "external_cache_hit_rate"),
}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per aggregate: times in ms, throughput in tok/s per GPU, speed in tok/s per user.

    Raises SourceError for a file that is no aggregate of this harness, and when nobody states its day.
    """
    found = list(_aggregates(snapshot))
    context = snapshot.context
    _check_context(context)
    points = []
    for where, aggregate in found:
        refusal = _no_point(aggregate, where)
        if refusal is not None:
            yield refusal
        else:
            points.append((_in_words_of_the_api(aggregate, context), where))
    aggregates = dict(found)
    for row, where, refusal in one_of_each_point(points):
        yield refusal or _outcome(aggregates[where], row, context, where)


def _check_context(context: Mapping[str, Any]) -> None:
    beside = stated(context)
    if "measured_on" not in beside:
        raise SourceError(
            "neither the file nor its context states measured_on; write it into <file>.context.yaml: "
            "`tokenyield import --context-template` prints an empty one"
        )
    official = beside.get("release_status", "unofficial") != "unofficial"
    if official and not str(beside.get("url")).startswith(OFFICIAL):
        raise SourceError(f"the context states an official run, and as its url none below {OFFICIAL}")


def _aggregates(snapshot: Snapshot) -> Iterator[tuple[str, Any]]:
    performance = 0
    for part in snapshot.parts:
        for name, body in sorted(unzipped(part.name, part.body)):
            document = strict_json(body)
            _check_document(name, document)
            listed = document if isinstance(document, list) else [document]
            for number, aggregate in enumerate(listed):
                performance += not _is_accuracy(aggregate)
                yield (f"{name} row {number}" if document is listed else name), aggregate
    if not performance:
        raise SourceError("nothing but accuracy scores: `inferencex_evaluations` reads them from the API")


def _check_document(name: str, document: Any) -> None:
    listed = document if isinstance(document, list) else [document]
    dicts = [aggregate for aggregate in listed if isinstance(aggregate, dict)]
    if any(d.keys() >= AGGREGATE_KEYS or _is_accuracy(d) for d in dicts):
        return
    if any(len(d.keys() & CLIENT_KEYS) > 1 for d in dicts):
        raise SourceError(
            f"{name}: a result of the measuring client, which names no chip: import it as vllm_bench"
        )
    raise SourceError(f"{name}: no aggregate of a run: wants {sorted(AGGREGATE_KEYS)}")


def _is_accuracy(aggregate: Any) -> bool:
    if not isinstance(aggregate, dict):
        return False
    measured = "tput_per_gpu" in aggregate or "request_metrics" in aggregate
    return not measured and bool(aggregate.keys() & ACCURACY_KEYS)


def _no_point(aggregate: Any, where: str) -> Outcome | None:
    """What is no measurement of speed: an accuracy score, or a run of which nothing came."""
    if not isinstance(aggregate, dict):
        return Rejected(KIND, "wrong_type", where, "row", aggregate)
    if _is_accuracy(aggregate):
        return NotApplicable(KIND, "accuracy_run", where)
    total = _flat(aggregate).get("tput_per_gpu")
    done = [aggregate.get("num_requests_successful"), aggregate.get("completed"), total]
    if at(aggregate, "benchmark_outcome", "status") == "failed" or 0 in done:
        return Rejected(KIND, "failed_run", where, "tput_per_gpu", total)
    return None


def _outcome(
    aggregate: dict[str, Any], row: dict[str, Any], context: Mapping[str, Any], where: str
) -> Outcome:
    try:
        return Accepted(KIND, completed({**result(row), **_beside(aggregate, context)}, context), where)
    except ContractError as error:
        return Rejected(KIND, error.reason, where, error.field, error.value)


def _in_words_of_the_api(aggregate: dict[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    row = {key: aggregate.get(key) for key in COPIED}
    if "decode_tp" not in aggregate:  # one server: its ranks are those of both roles
        row |= {"decode_tp": aggregate.get("tp"), "decode_ep": aggregate.get("ep")}
    for role in ("prefill", "decode"):
        attention = aggregate.get(f"{role}_dp_attention", aggregate.get("dp_attention"))
        # As it is where it is neither: the reader of the rows refuses it, with its value.
        is_word = isinstance(attention, str) and attention in ("true", "false")
        row[f"{role}_dp_attention"] = attention == "true" if is_word else attention
    image, offloading = aggregate.get("image"), aggregate.get("kv_offloading")
    return {
        **row,
        "hardware": aggregate.get("hw"),
        "model": aggregate.get("infmax_model_prefix") or aggregate.get("model"),
        "spec_method": aggregate.get("spec_decoding") or ("mtp" if aggregate.get("mtp") == "on" else None),
        # The first schema knows one server alone: it divides by tp and says nothing of roles.
        "disagg": aggregate.get("disagg", False if "decode_tp" not in aggregate else None),
        # Nor does it state the lengths.
        "isl": aggregate.get("isl", context.get("isl_nominal")),
        "osl": aggregate.get("osl", context.get("osl_nominal")),
        "image": image.replace("#", "/") if isinstance(image, str) else image,
        "offload_mode": None if offloading in (None, "none") else "on",
        "benchmark_type": _benchmark_type(aggregate),
        "metrics": _flat(aggregate),
        "date": context["measured_on"],
        "run_url": aggregate.get("run_url") or _run_url(context),
    }


def _benchmark_type(aggregate: dict[str, Any]) -> Any:
    nested = "agentic_traces" if "request_metrics" in aggregate else "single_turn"
    scenario = aggregate.get("scenario_type")
    return "agentic_traces" if scenario == AGENTIC else scenario or nested


def _run_url(context: Mapping[str, Any]) -> Any:
    url = context.get("url")
    return url if isinstance(url, str) and RUN_URL.fullmatch(url) else None


def _flat(aggregate: dict[str, Any]) -> dict[str, Any]:
    """The figures of an aggregate under the names of the API, which are those of a flat one."""
    found = {key: at(aggregate, *path) for key, path in NESTED.items()}
    for kind in ("ttft", "tpot", "itl", "intvty", "e2el"):
        for statistic, name in STATISTICS.items():
            found[f"{name}_{kind}"] = at(aggregate, "request_metrics", "latency", kind, statistic)
    return {**aggregate, **{key: value for key, value in found.items() if value is not None}}


def _beside(aggregate: dict[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """What the API's rows do not say, or say of official runs alone."""
    dataset = at(aggregate, "dataset", "hf_dataset_name") or at(aggregate, "dataset", "loader")
    return {
        "published_on": None,
        "independent": None,
        "release_status": None if context.get("release_status") else "unofficial",
        "model_revision": aggregate.get("model") if aggregate.get("infmax_model_prefix") else None,
        "dataset": dataset,
        **_requests(aggregate),
    }


def _requests(aggregate: dict[str, Any]) -> dict[str, Any]:
    """Requests of the measurement alone: those of the warm-up were never to be counted, failed or not."""
    accounting = aggregate.get("request_accounting")
    if not isinstance(accounting, dict):
        return {}
    total, warm_up, done = (
        whole_number(f"request_accounting.{key}", accounting.get(key))
        for key in ("records_total", "records_warmup_dropped", "records_profiled")
    )
    if not 0 <= done <= total - warm_up <= total:
        raise ContractError("requests_do_not_add_up", "request_accounting.records_total", total)
    planned = total - warm_up
    return {"planned_requests": planned, "completed_requests": done, "failed_requests": planned - done}


SOURCE = Source(
    kind="benchmark",
    title="InferenceX by SemiAnalysis: files of single runs",
    homepage="https://github.com/SemiAnalysisAI/InferenceX",
    licence="Apache-2.0 (runner repository); attribute InferenceX, and call unofficial what is.",
    passes_on=True,
    cadence="when a person imports one",
    source_rank=20,
    max_age_days=365,
    parse=parse,
)
