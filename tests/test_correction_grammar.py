"""What a row of corrections may say: everything that cannot be done is refused with file and line.

Belongs here: locators, figures and values as they are written. Does not belong here: what a correction does
(`test_corrections.py`).
"""

from __future__ import annotations

from typing import Any

import pytest

from pipelines import run
from pipelines.contracts import ROW_KINDS
from pipelines.corrections import FIELDS, check
from pipelines.seeds import SeedError, fact_rows

HEADER = "row_kind,locator,action,field,value_expected,value_new,reason,decided_on,known_at"
GOOD = (
    "rental_index_value,publisher/own/h100/reserved:36m/2026-07-01,correct,value,1.78,2.00,"
    "a slip,2026-09-08,2026-09-08"
)


def read(line: str) -> list[Any]:
    body = f"{HEADER}\n{line}\n".encode()
    return list(fact_rows(ROW_KINDS["correction"], "seeds/correction/corrections.csv", body))


@pytest.mark.parametrize(
    "line",
    [
        GOOD,
        "benchmark_result,lab/result/v5.1/closed/a b,correct,tp,8,4,a slip,2026-03-28,2026-03-28",
        "benchmark_result,lab/label/four,correct,ttft_p50_ms,1.5,2.5,a slip,2026-03-28,2026-03-28",
        "benchmark_result,lab/run/7/0123456789abcdef,correct,output_tok_s,8,4,a slip,2026-03-28,2026-03-28",
        "benchmark_result,lab/run/7,retract,,,,a slip,2026-03-28,2026-03-28",
        "benchmark_result,0123456789abcdef,retract,,,,a slip,2026-03-28,2026-03-28",
        "rental_quote,cloud/a/b c/us east/spot/2026-07-01,correct,price,1,2,a slip,2026-03-28,2026-03-28",
        "token_price,s/p/m/x/standard/cached_input/2026-07-01,correct,price,1,0,a slip,2026-03-28,2026-03-28",
    ],
)
def test_a_correction_in_the_grammar_is_read(line: str) -> None:
    assert len(read(line)) == 1


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("reserved:36m/2026-07-01", "reserved:36m", "locator: no locator of a rental_index_value to correct"),
        ("reserved:36m", "reserved:36", "locator: no locator"),
        (",value,", ",price,", "field: wants one of value: 'price'"),
        (",value,", ",,", "field: wants one of value: None"),
        (",1.78,", ",,", "value_expected: missing_value"),
        (",1.78,", ",\"1,78\",", "value_expected: not_a_number: '1,78'"),
        (",1.78,", ",$1.78,", "value_expected: not_a_number"),
        (",2.00,", ",0,", "value_new: not_positive: '0'"),
        (",2.00,", ",,", "value_new: missing_value"),
        (",2.00,", ",1.780,", "value_new: corrects nothing"),
        (",correct,", ",retract,", "action: a rental_index_value can be corrected but not retracted"),
        (",correct,", ",mend,", "action: value_not_allowed"),
        (",a slip,", ",,", "reason: missing_value"),
        (GOOD, "benchmark_result,lab/run/7,correct,tp,8,4,a,2026-03-28,2026-03-28", "locator: no locator"),
        (GOOD, "benchmark_result,lab/run/7,retract,tp,8,4,a,2026-03-28,2026-03-28", "field: a retraction"),
        (GOOD, "benchmark_result,lab/label/x,correct,tp,8,4.5,a,2026-03-28,2026-03-28", "value_new: not_an"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_file_and_line(old: str, new: str, complaint: str) -> None:
    with pytest.raises(SeedError) as error:
        read(GOOD.replace(old, new))
    assert str(error.value).startswith(f"seeds/correction/corrections.csv:2: {complaint}")


@pytest.mark.parametrize(
    ("kind", "field"), [(kind, field) for kind, fields in FIELDS.items() for field in fields]
)
def test_every_figure_that_may_be_corrected_is_compared_and_replaced(kind: str, field: str) -> None:
    # A field that a model forgot would find no fact, in silence.
    for model in ("correctable_figure", "corrected_row"):
        assert f"'{field}'" in run.models()[f"clean.{model}"].sql, model
    column = "price" if kind != "benchmark_result" else field
    assert f" as {column}" in run.models()["clean.corrected_row"].sql
    if kind == "benchmark_result":
        assert f"COALESCE(versions.{field}, results.{field})" in (
            run.models()["clean.stated_benchmark_result"].tree.sql("duckdb")
        )
    check({
        "row_kind": kind, "action": "correct", "field": field, "value_expected": "8", "value_new": "4",
        "locator": {
            "benchmark_result": "lab/result/1", "rental_quote": "s/o/-/spot/2026-07-01",
            "rental_index_value": "s/i/g/spot/2026-07-01", "token_price": "s/p/m/peak/input/2026-07-01",
        }[kind],
    })  # fmt: skip
