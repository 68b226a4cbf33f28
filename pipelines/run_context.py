"""What a person states beside a benchmark file: the conditions that the tools themselves do not write down.

Belongs here: which columns may be stated, their reading, their meeting with what the file says, and the
empty form. Does not belong here: any tool's format, and any default: what neither states is unknown. The
keys are the columns of `benchmark_result` without `raw_`; what was measured is never among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pipelines.contracts import BENCHMARK_RESULT, Column, ContractError, fit
from pipelines.decode import amount, iso_date
from pipelines.source import SourceError

# In the order in which a person thinks of them. What is wanted, unless the file states it:
REQUIRED = ("publisher", "evidence", "chip_name", "model_name", "measured_on")
OPTIONAL = (
    "published_on", "point_label", "run_id", "url", "note", "independent", "methodology", "release_status",
    "accelerator_count", "provisioned_accelerator_count", "disaggregated", "prefill_accelerator_count",
    "decode_accelerator_count", "tp", "pp", "cp", "ep", "dp", "dp_attention", "workers",
    "prefill_tp", "prefill_pp", "prefill_ep", "prefill_dp", "prefill_dp_attention", "prefill_workers",
    "engine", "engine_version", "image", "weight_precision", "kv_precision", "model_revision",
    "workload", "isl_nominal", "osl_nominal", "dataset", "dataset_seed", "cache_hit_rate",
    "concurrency", "request_rate", "arrival", "speculative_method", "acceptance_length", "acceptance_basis",
    "accuracy_task", "accuracy_value", "power_w_gpu", "power_kw_gpu_provisioned", "traffic_basis",
)  # fmt: skip
RENAMED = {"chip_name": "raw_chip_name", "model_name": "raw_model_name"}
# Words that rows meet by: `FP8` and `fp8` are one precision, `Me` and `me` one publisher.
FOLDED = {"publisher", "weight_precision", "kv_precision", "speculative_method"}
# What says of which GPUs are whose only where it is stated that the two sides have GPUs of their own.
OF_ROLES = (
    "prefill_accelerator_count", "decode_accelerator_count", "prefill_tp", "prefill_workers",
)  # fmt: skip
# Lengths drawn evenly from 0.8 to 1.0 of the nominal ones, as InferenceX does, have a mean of 0.9 of them.
LENGTH_TOLERANCE = 0.2
COLUMNS: dict[str, Column] = {
    key: BENCHMARK_RESULT.column(RENAMED.get(key, key)) for key in (*REQUIRED, *OPTIONAL)
}


def stated(context: Mapping[str, Any]) -> dict[str, Any]:
    """Return what `context` states, by column of `benchmark_result`; keys that are left empty are left out.

    Raises SourceError, naming the key, for a key that may not be stated and for a value that does not fit.
    """
    found = {}
    for key, value in context.items():
        if key not in COLUMNS:
            raise SourceError(f"the context states {key!r}, which is none of {', '.join(COLUMNS)}")
        if value is None or value == "":
            continue
        column = COLUMNS[key]
        try:
            found[column.name] = fit(column, _typed(column, value))
        except ContractError as error:
            raise SourceError(f"the context's {key}: {error.reason}: {value!r}") from error
        if key in FOLDED:
            found[column.name] = found[column.name].lower()
    return found


def completed(row: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a file completed by its context; where both state a column, they must agree.

    Raises SourceError for a contradiction, and for a required column that neither states: what is missing
    is named, with the way to state it.
    """
    beside = stated(context)
    merged = {**beside, **{column: value for column, value in row.items() if value is not None}}
    for column, value in beside.items():
        if not _same(merged[column], value):
            key = next(key for key, known in COLUMNS.items() if known.name == column)
            raise SourceError(f"the context states {key} {_shown(value)}, the file {_shown(merged[column])}")
    of_roles = [column for column in OF_ROLES if merged.get(column) is not None]
    if of_roles and merged.get("disaggregated") is None:
        raise SourceError(
            f"{of_roles[0]} is stated and disaggregated is not: write `disaggregated: true` into the context "
            "where prefill and decode have GPUs of their own, else leave the counts of their sides out"
        )
    missing = [key for key in REQUIRED if merged.get(COLUMNS[key].name) is None]
    if missing:
        raise SourceError(
            f"neither the file nor its context states {', '.join(missing)}; write them into "
            "<file>.context.yaml: `tokenyield import --context-template` prints an empty one"
        )
    merged.setdefault("date_precision", "day")
    merged.setdefault("traffic_basis", "benchmark")
    merged.setdefault("workload", workload(merged))
    return merged


def workload(row: Mapping[str, Any]) -> str:
    """Return the workload's key: its nominal lengths, where they are stated, else `unstated`.

    Where the lengths that were measured lie further from the nominal ones, the key says `spread`: a run
    whose requests are half as long is no run of the fixed workload.
    """
    isl, osl = row.get("isl_nominal"), row.get("osl_nominal")
    if not isl or not osl:
        return "unstated"
    measured = ((isl, row.get("isl_mean")), (osl, row.get("osl_mean")))
    fixed = all(
        mean is None or abs(float(mean) / nominal - 1) <= LENGTH_TOLERANCE for nominal, mean in measured
    )
    return f"{'fixed' if fixed else 'spread'}-{isl}-{osl}"


def template() -> str:
    """Return an empty context in YAML, every key with its meaning and its allowed values."""
    lines = [
        "# What a benchmark file does not say of itself. Save it as <file>.context.yaml beside the file, or",
        "# as context.yaml in its folder for every file there. What stays empty is unknown, never assumed.",
    ]
    for key, column in COLUMNS.items():
        if key == REQUIRED[0]:
            lines += ["", "# Wanted, unless the file states it:"]
        elif key == OPTIONAL[0]:
            lines += ["", "# The more of these is stated, the more the figure is worth:"]
        lines += [f"# {column.description}", f"{key}:"]
    return "\n".join(lines) + "\n"


def _typed(column: Column, value: Any) -> Any:
    """YAML reads 8 as a number and 2026-07-01 as a date; a stored context carries both as text or number."""
    if column.type == "date":
        return iso_date(column.name, value)
    if column.type in ("number", "positive", "share") and not isinstance(value, bool):
        return amount(column.name, value)
    if column.type in ("count", "int") and isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    if column.type == "text" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.casefold() == other.casefold()
    if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal):
        # The contract made a float of what was stated; 3.51 as a decimal is not that float.
        return float(one) == float(other)
    return one == other
