"""What a correction may say: how it names a fact, and which of its figures it may state anew.

Belongs here: the grammar of locators and the list of figures, asked of every row of `seeds/correction/` as it
is read. Does not belong here: what a correction does to a fact (`sql/clean/corrected_row.sql`), and whether
what it expects is what is stored (`sql/core/correction_outcome.sql`).

A locator names facts in the words of their own source, exactly as stored, `-` where it states no region:

    benchmark_result    <publisher>/result/<result_id>
                        <publisher>/label/<point_label>
                        <publisher>/run/<run_id>/<benchmark_point_id>
                        to retract only: <publisher>/run/<run_id>, or <benchmark_point_id> alone
    rental_index_value  <source>/<index_name>/<raw_gpu_name>/<price_type>/<value_date>
    rental_quote        <source>/<offer_key>/<region>/<price_type>/<UTC day of observed_at>
    token_price         <source>/<provider>/<raw_model_name>/<tier>/<token_kind>/<UTC day of effective_from>

A reserved price type carries its commitment: `reserved:36m`. Every statement of the fact is meant, however
often its source repeats it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pipelines.contracts import ROW_KINDS, ContractError, fit
from pipelines.decode import amount

FIELDS: dict[str, tuple[str, ...]] = {
    "benchmark_result": (
        "output_tok_s",
        "input_tok_s",
        "total_tok_s",
        "interactivity_tok_s_user",
        "ttft_p50_ms",
        "ttft_p99_ms",
        "tpot_p50_ms",
        "tpot_p99_ms",
        "accelerator_count",
        "prefill_accelerator_count",
        "decode_accelerator_count",
        "tp",
    ),
    "rental_quote": ("price",),
    "rental_index_value": ("value",),
    "token_price": ("price",),
}

_DAY = r"\d{4}-\d{2}-\d{2}"
_HOW = r"[a-z_]+(:\d+m)?"
_PUBLISHER = r"[^/A-Z ]+"
CORRECT: dict[str, str] = {
    "benchmark_result": rf"{_PUBLISHER}/((result|label)/[^ ].*|run/[^ ].*/[0-9a-f]{{16}})",
    "rental_quote": rf"[a-z0-9_]+/[^ ].*/.+/{_HOW}/{_DAY}",
    "rental_index_value": rf"[a-z0-9_]+/[^/]+/[^ ].*/{_HOW}/{_DAY}",
    "token_price": rf"[a-z0-9_]+/[^/]+/[^ ].*/(standard|peak|off_peak)/(input|cached_input|output)/{_DAY}",
}
RETRACT: dict[str, str] = {"benchmark_result": rf"{_PUBLISHER}/(run|result)/[^ ].*|[0-9a-f]{{16}}"}


def check(row: Mapping[str, Any]) -> None:
    """Raise ContractError where a row of the kind `correction` says something that cannot be done.

    A locator outside the grammar, a figure that is not correctable, a value that is no figure of its column,
    two equal values, or values beside a retraction. Values are plain decimals in the unit of the column.
    """
    kind, action, field = row["row_kind"], row["action"], row["field"]
    form = (RETRACT if action == "retract" else CORRECT).get(kind)
    if form is None:
        raise ContractError(f"a {kind} can be corrected but not retracted", "action", action)
    if not re.fullmatch(form, row["locator"]):
        raise ContractError(f"no locator of a {kind} to {action}", "locator", row["locator"])
    if action == "retract":
        for name in ("field", "value_expected", "value_new"):
            if row[name] is not None:
                raise ContractError("a retraction states no figure", name, row[name])
        return
    if field not in FIELDS[kind]:
        raise ContractError(f"wants one of {', '.join(FIELDS[kind])}", "field", field)
    before, after = (_figure(kind, field, name, row[name]) for name in ("value_expected", "value_new"))
    if before == after:
        raise ContractError("corrects nothing", "value_new", row["value_new"])


def _figure(kind: str, field: str, name: str, text: str | None) -> Any:
    column = ROW_KINDS[kind].column(field)
    try:
        value = amount(name, text)
        if column.type == "count":
            if value != int(value):
                raise ContractError("not_an_integer", name, text)
            value = int(value)
        return fit(column, value)
    except ContractError as error:
        raise ContractError(error.reason, name, text) from error
