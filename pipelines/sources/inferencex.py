"""InferenceX by SemiAnalysis: measured operating points of public inference engines, from its own API.

Traps: latencies are seconds; stored GPU counts of aggregated rows are tp x ep and wrong; disaggregated
rows divide output by decode GPUs and input by prefill GPUs; the speed that a user sees is 1 / TPOT, and
1 / ITL is up to 297 times off, because ITL is the gap between chunks.
Does not belong here: GPU counts computed from parallelism, any price, and the other endpoints of the API.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from pipelines.contracts import ContractError
from pipelines.decode import amount, iso_date, strict_json
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

API = "https://inferencex.semianalysis.com/api/v1/benchmarks"
KIND = "benchmark_result"

# The API wants the names that its own pages show, not the keys that its rows carry.
DISPLAY_NAMES = ("DeepSeek-R1-0528",)
SEQUENCES = {"1k1k": (1024, 1024), "1k8k": (1024, 8192), "8k1k": (8192, 1024)}

# Every row of the two endpoints has these; evaluations, availability and reliability lack some.
ROW_KEYS = {"hardware", "framework", "model", "disagg", "isl", "osl", "conc", "metrics", "date"}
POINT_KEYS = (
    "run_url", "hardware", "framework", "model", "precision", "spec_method", "disagg",
    "prefill_tp", "prefill_ep", "prefill_dp_attention", "prefill_num_workers", "num_prefill_gpu",
    "decode_tp", "decode_ep", "decode_dp_attention", "decode_num_workers", "num_decode_gpu",
    "isl", "osl", "conc", "offload_mode",
)  # fmt: skip
# Two points may differ in nothing but this; the contract has no column for it, so it names the point.
OFFLOAD_MODE_OFF = (None, "off")
RUN_URL = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/actions/runs/(\d+)(?:/attempts/(\d+))?")

SECONDS_TO_MS = {
    "median_ttft": "ttft_p50_ms",
    "p90_ttft": "ttft_p90_ms",
    "p99_ttft": "ttft_p99_ms",
    "median_tpot": "tpot_p50_ms",
    "p90_tpot": "tpot_p90_ms",
    "p99_tpot": "tpot_p99_ms",
    "median_itl": "itl_p50_ms",
    "median_e2el": "e2e_p50_ms",
    "p99_e2el": "e2e_p99_ms",
}
THROUGHPUTS = {
    "output_tput_per_gpu": "output_tok_s",
    "input_tput_per_gpu": "input_tok_s",
    "tput_per_gpu": "total_tok_s",
}
# Outside of it a TPOT is milliseconds under a name for seconds, or no TPOT.
TPOT_SECONDS = (Decimal("0.0005"), Decimal(2))
IDENTITY_TOLERANCE = Decimal("0.01")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row: times in ms, throughput in tok/s per GPU, speed in tok/s per user.

    Raises SourceError when the payload is not the answer of one of the two endpoints that are read.
    """
    rows = [row for part in snapshot.parts for row in _rows(part)]
    first_of: dict[tuple[str, ...], Any] = {}
    conflicting: set[tuple[str, ...]] = set()
    for row in rows:
        key = _point_key(row)
        if first_of.setdefault(key, row) != row:
            conflicting.add(key)
    seen: set[tuple[str, ...]] = set()
    for number, row in enumerate(rows):
        locator, key = f"row {number}", _point_key(row)
        if not isinstance(row, dict):
            yield Rejected(KIND, "wrong_type", locator, "row", row)
        elif key in conflicting:
            yield Rejected(KIND, "conflicting_duplicates", locator, "run_url", row.get("run_url"))
        elif key in seen:
            yield NotApplicable(KIND, "identical_duplicate", locator)
        else:
            seen.add(key)
            yield _outcome(row, locator)


def _rows(part: Part) -> list[Any]:
    rows = strict_json(part.body)
    read = "only /benchmarks and /benchmarks/history are read"
    if not isinstance(rows, list):
        raise SourceError(f"{part.name}: not a list of rows: {read}")
    if not rows:
        raise SourceError(f"{part.name}: no rows: the API no longer knows this model or workload")
    if not any(isinstance(row, dict) and row.keys() >= ROW_KEYS for row in rows):
        raise SourceError(f"{part.name}: no row has {sorted(ROW_KEYS)}: {read}")
    return rows


def _point_key(row: Any) -> tuple[str, ...]:
    return tuple(repr(row.get(key)) for key in POINT_KEYS) if isinstance(row, dict) else (repr(row),)


def _outcome(row: dict[str, Any], locator: str) -> Outcome:
    conclusion = row.get("conclusion")
    if conclusion not in (None, "success") or row.get("error"):
        return Rejected(KIND, "failed_run", locator, "conclusion", row.get("error") or conclusion)
    if row.get("isl") is None and row.get("osl") is None:
        return NotApplicable(KIND, "agentic_row_not_read_yet", locator)
    try:
        return Accepted(KIND, _result(row), locator)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)


def _result(row: dict[str, Any]) -> dict[str, Any]:
    metrics = row.get("metrics")
    if not isinstance(metrics, dict):
        raise ContractError("wrong_type", "metrics", metrics)
    measured_on = iso_date("date", row.get("date"))
    run_id, attempt = _run(row.get("run_url"))
    isl, osl = _count(row, "isl", required=True), _count(row, "osl", required=True)
    return {
        "publisher": "inferencex",
        "run_id": run_id,
        "attempt": attempt,
        "point_label": None if row.get("offload_mode") in OFFLOAD_MODE_OFF else row["offload_mode"],
        "measured_on": measured_on,
        "published_on": measured_on,
        "date_precision": "day",
        "raw_chip_name": row.get("hardware"),
        "raw_model_name": row.get("model"),
        "weight_precision": row.get("precision"),
        "engine": row.get("framework"),
        "image": row.get("image"),
        "workload": f"fixed-{isl}-{osl}",
        "isl_nominal": isl,
        "osl_nominal": osl,
        "concurrency": _count(row, "conc", required=True),
        "speculative_method": row.get("spec_method"),
        "traffic_basis": "benchmark",
        "evidence": "measured",
        "independent": True,
        "url": row.get("run_url"),
        **_deployment(row),
        **_throughput(row, metrics),
        **_latency(metrics),
    }


def _run(url: Any) -> tuple[str | None, int | None]:
    """Return the run and its attempt from the run's link; the API leaves the link out of some rows."""
    if url is None:
        return None, None
    match = RUN_URL.fullmatch(url) if isinstance(url, str) else None
    if match is None:
        raise ContractError("run_url_not_recognised", "run_url", url)
    return match.group(1), int(match.group(2)) if match.group(2) else None


def _count(row: dict[str, Any], key: str, *, required: bool = False) -> int | None:
    """Return a whole number of the row; 0 and null are "not stated" where it is not required."""
    value = row.get(key)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ContractError("wrong_type", key, value)
    if required and value is None:
        raise ContractError("missing_value", key, value)
    if required and value <= 0:
        raise ContractError("not_positive", key, value)
    return value or None


def _is_disaggregated(row: dict[str, Any]) -> bool:
    if not isinstance(row.get("disagg"), bool):
        raise ContractError("wrong_type", "disagg", row.get("disagg"))
    return row["disagg"]


def _is_legacy(row: dict[str, Any]) -> bool:
    """Whether a disaggregated row was stored before roles had columns of their own (until 2025-12-05).

    Such a row has the GPUs of the whole deployment in both role counts, and in both tp.
    """
    if _count(row, "prefill_num_workers") or _count(row, "decode_num_workers"):
        return False
    counts = ("num_prefill_gpu", "num_decode_gpu", "prefill_tp", "decode_tp")
    return len({_count(row, key) for key in counts}) == 1


def _deployment(row: dict[str, Any]) -> dict[str, Any]:
    server = {
        "tp": _count(row, "decode_tp"),
        "ep": _count(row, "decode_ep"),
        "dp_attention": row.get("decode_dp_attention"),
        "workers": _count(row, "decode_num_workers"),
    }
    if not _is_disaggregated(row):
        # No GPU count: the stored one is tp x ep, though experts share the ranks of tp. Prefill and
        # decode are the same GPUs here, so the prefill columns would only repeat the others.
        return {"disaggregated": False, **server}
    if _is_legacy(row):
        return {"disaggregated": True, "accelerator_count": _count(row, "num_decode_gpu", required=True)}
    prefill, decode = _role_gpus(row, "prefill"), _role_gpus(row, "decode")
    return {
        "disaggregated": True,
        **server,
        "prefill_tp": _count(row, "prefill_tp"),
        "prefill_ep": _count(row, "prefill_ep"),
        "prefill_dp_attention": row.get("prefill_dp_attention"),
        "prefill_workers": _count(row, "prefill_num_workers"),
        "prefill_accelerator_count": prefill,
        "decode_accelerator_count": decode,
        "accelerator_count": prefill + decode,
    }


def _role_gpus(row: dict[str, Any], role: str) -> int:
    """Return the stated GPUs of one role; raises ContractError when they are tp x ep x workers, as the
    counts of aggregated rows are.

    A tp of 1 is a placeholder of recipes that only state counts, so tp x workers is no check.
    """
    key = f"num_{role}_gpu"
    gpus = _count(row, key, required=True)
    tp, ep = _count(row, f"{role}_tp") or 1, _count(row, f"{role}_ep") or 1
    workers = _count(row, f"{role}_num_workers") or 1
    if tp > 1 and ep > 1 and gpus == tp * ep * workers:
        raise ContractError("gpu_count_is_tp_times_ep", key, gpus)
    return gpus


def _metric(metrics: dict[str, Any], key: str, *, required: bool = False) -> Decimal | None:
    if metrics.get(key) is None and not required:
        return None
    value = amount(f"metrics.{key}", metrics.get(key))
    if not math.isfinite(value):  # 1e999 is a finite decimal, and no finite float
        raise ContractError("not_finite", f"metrics.{key}", value)
    return value


def _throughput(row: dict[str, Any], metrics: dict[str, Any]) -> dict[str, Any]:
    """Return the three throughputs in tok/s and what they are divided by.

    Raises ContractError when input and output do not make the total: then one has another denominator,
    or the GPU counts are not those of the roles.
    """
    found = {column: _metric(metrics, key) for key, column in THROUGHPUTS.items()}
    disaggregated = _is_disaggregated(row)
    if None not in found.values():
        _check_sum(row, disaggregated, **found)
    return {**found, "throughput_basis": "per_role_gpu" if disaggregated else "per_gpu"}


def _check_sum(
    row: dict[str, Any],
    disaggregated: bool,
    output_tok_s: Decimal,
    input_tok_s: Decimal,
    total_tok_s: Decimal,
) -> None:
    expected = output_tok_s + input_tok_s
    if disaggregated:
        prefill, decode = _role_gpus(row, "prefill"), _role_gpus(row, "decode")
        expected = (input_tok_s * prefill + output_tok_s * decode) / (prefill + decode)
    adds_up = abs(expected - total_tok_s) <= IDENTITY_TOLERANCE * abs(total_tok_s)
    if not disaggregated or not _is_legacy(row):
        if not adds_up:
            raise ContractError("throughputs_do_not_add_up", "metrics.tput_per_gpu", total_tok_s)
    elif adds_up:
        # Equal role counts that fit may be the counts of the roles after all: twice the GPUs.
        raise ContractError("ambiguous_gpu_counts", "num_decode_gpu", row.get("num_decode_gpu"))


def _latency(metrics: dict[str, Any]) -> dict[str, Any]:
    """Return times in ms and the median user's speed in tok/s, which must be the reciprocal of TPOT."""
    tpot, speed = (_metric(metrics, key, required=True) for key in ("median_tpot", "median_intvty"))
    if not TPOT_SECONDS[0] <= tpot <= TPOT_SECONDS[1]:
        raise ContractError("tpot_out_of_range", "metrics.median_tpot", tpot)
    if abs(speed * tpot - 1) > IDENTITY_TOLERANCE:
        raise ContractError("speed_is_not_reciprocal_of_tpot", "metrics.median_intvty", speed)
    in_seconds = {column: _metric(metrics, key) for key, column in SECONDS_TO_MS.items()}
    return {
        "interactivity_tok_s_user": speed,
        "speed_percentile": "p50",
        **{column: None if value is None else value * 1000 for column, value in in_seconds.items()},
    }


def requests() -> list[Request]:
    """The newest row of every configuration, and the history of each workload; a slice for each."""
    found = []
    for name in DISPLAY_NAMES:
        found.append(Request(f"{API}?{urlencode({'model': name})}", slice=f"{name}-latest"))
        for label, (isl, osl) in SEQUENCES.items():
            query = urlencode({"model": name, "isl": isl, "osl": osl})
            found.append(Request(f"{API}/history?{query}", slice=f"{name}-history-{label}"))
    return found


SOURCE = Source(
    kind="benchmark",
    title="InferenceX by SemiAnalysis",
    homepage="https://inferencex.semianalysis.com",
    licence="Public API; no separate data licence; attribute InferenceX by SemiAnalysis.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    # A benchmark point is not carried as a price: it holds until a later one replaces it.
    max_age_days=14,
    parse=parse,
    requests=requests,
)
