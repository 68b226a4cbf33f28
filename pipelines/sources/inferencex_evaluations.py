"""InferenceX by SemiAnalysis: accuracy scores of the configurations whose speed it measures, from its API.

Traps: `score` repeats the strict one; a score of 0 is a broken server and no missing value; the stored GPU
counts are tp x ep; one run may score one configuration several times, each under an id of its own.
Belongs here too: what a row of this API says of the run and of the server, in the same words for scores as
for speeds. Does not belong here: any speed, and what a score is good for (`core.accuracy_gate`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import amount, iso_date, strict_json
from pipelines.outcomes import some_text
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

KIND = "evaluation_result"
ROW_KEYS = {"hardware", "framework", "model", "task", "metrics", "date"}
# Each beside its standard error. Where a task has one score alone, it is called `score`.
SCORES = ("em_strict", "em_flexible", "score")
BESIDE_SCORES = {"n_eff", "dp", *(f"{score}_se" for score in SCORES)}

RUN_URL = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/actions/runs/(\d+)(?:/attempts/(\d+))?")
# Formats of vendors within one family. Results are published under the family, so lines are compared there.
PRECISION_FAMILY = {"nvfp4": "fp4", "mxfp4": "fp4"}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per score of a row, 0 to 1.

    Raises SourceError when the payload is not the answer of /evaluations.
    """
    seen: set[str] = set()
    for number, row in enumerate(row for part in snapshot.parts for row in _rows(part)):
        locator = f"row {number}"
        if not isinstance(row, dict) or not isinstance(row.get("metrics"), dict):
            yield Rejected(KIND, "wrong_type", locator, "row", row)
        elif (whole := repr(sorted(row.items(), key=lambda item: item[0]))) in seen:
            yield NotApplicable(KIND, "identical_duplicate", locator)
        else:
            seen.add(whole)
            yield from _scores(row, locator)


def _rows(part: Part) -> list[Any]:
    rows = strict_json(part.body)
    if not isinstance(rows, list) or not any(isinstance(r, dict) and r.keys() >= ROW_KEYS for r in rows):
        raise SourceError(f"{part.name}: no list of rows with {sorted(ROW_KEYS)}: /evaluations is read")
    return rows


def _scores(row: dict[str, Any], locator: str) -> Iterator[Outcome]:
    metrics = row["metrics"]
    named = [key for key in metrics if key not in BESIDE_SCORES]
    if not named:
        yield Rejected(KIND, "missing_value", locator, "metrics", sorted(metrics))
    for key in named:
        where = f"{locator} {key}"
        if key not in SCORES:
            yield NotApplicable(KIND, "score_not_read", where)
            continue
        try:
            yield Accepted(KIND, _evaluation(row, key), where)
        except ContractError as error:
            yield Rejected(KIND, error.reason, where, error.field, error.value)


def _evaluation(row: dict[str, Any], score: str) -> dict[str, Any]:
    metrics = row["metrics"]
    value = metric(metrics, score, required=True)
    if not 0 <= value <= 1:
        raise ContractError("no_share", f"metrics.{score}", value)
    run_id, attempt = run_of(row.get("run_url"))
    return {
        "publisher": "inferencex",
        "result_id": row.get("id"),
        "run_id": run_id,
        "attempt": attempt,
        "measured_on": iso_date("date", row.get("date")),
        "raw_chip_name": row.get("hardware"),
        "raw_model_name": row.get("model"),
        "weight_precision": family(row.get("precision")),
        "engine": row.get("framework"),
        "speculative_method": row.get("spec_method"),
        **server(row),
        "isl_nominal": count(row, "isl"),
        "osl_nominal": count(row, "osl"),
        "concurrency": count(row, "conc"),
        "task": some_text("task", row.get("task")),
        "metric": score,
        "value": value,
        "standard_error": metric(metrics, f"{score}_se"),
        "sample_count": count(metrics, "n_eff"),
        "url": row.get("run_url"),
    }


def family(precision: Any) -> Any:
    """Return the family of a precision, in small letters: nvfp4 and mxfp4 are fp4."""
    if not isinstance(precision, str):
        return precision
    return PRECISION_FAMILY.get(precision.lower(), precision.lower())


def run_of(url: Any) -> tuple[str | None, int | None]:
    """Return the run and its attempt from the run's link; the API leaves the link out of some rows."""
    if url is None:
        return None, None
    match = RUN_URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        raise ContractError("run_url_not_recognised", "run_url", url)
    return match.group(1), int(match.group(2)) if match.group(2) else None


def count(row: dict[str, Any], key: str, *, required: bool = False) -> int | None:
    """Return a whole number of the row; 0 and null are "not stated" where it is not required."""
    value = row.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ContractError("wrong_type", key, value)
    if required and value is None:
        raise ContractError("missing_value", key, value)
    if required and value <= 0:
        raise ContractError("not_positive", key, value)
    return value or None


def metric(metrics: dict[str, Any], key: str, *, required: bool = False) -> Decimal | None:
    """Return a number of the metrics; None where it is not there and not required."""
    if metrics.get(key) is None and not required:
        return None
    value = amount(f"metrics.{key}", metrics.get(key))
    if not math.isfinite(value):  # 1e999 is a finite decimal, and no finite float
        raise ContractError("not_finite", f"metrics.{key}", value)
    return value


def is_disaggregated(row: dict[str, Any]) -> bool:
    """Return whether prefill and decode have GPUs of their own; raises ContractError if not stated."""
    if not isinstance(row.get("disagg"), bool):
        raise ContractError("wrong_type", "disagg", row.get("disagg"))
    return row["disagg"]


def server(row: dict[str, Any]) -> dict[str, Any]:
    """Return the ranks of the server, or of both its roles where it is disaggregated.

    The roles of an aggregated one are the same GPUs, so its prefill columns would only repeat the others.
    """
    shared = {
        "disaggregated": is_disaggregated(row),
        "tp": count(row, "decode_tp"),
        "ep": count(row, "decode_ep"),
        "dp_attention": row.get("decode_dp_attention"),
        "workers": count(row, "decode_num_workers"),
    }
    if not shared["disaggregated"]:
        return shared
    return {
        **shared,
        "prefill_tp": count(row, "prefill_tp"),
        "prefill_ep": count(row, "prefill_ep"),
        "prefill_dp_attention": row.get("prefill_dp_attention"),
        "prefill_workers": count(row, "prefill_num_workers"),
    }


def requests() -> list[Request]:
    """Every score of every configuration, in one answer."""
    return [Request("https://inferencex.semianalysis.com/api/v1/evaluations")]


SOURCE = Source(
    kind="benchmark",
    title="InferenceX by SemiAnalysis: accuracy",
    homepage="https://inferencex.semianalysis.com",
    licence="Public API; no separate data licence; attribute InferenceX by SemiAnalysis.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=14,
    parse=parse,
    requests=requests,
)
