"""A row enters only as its contract says: types, values, money, and frames that infer nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from pipelines.contracts import (
    BENCHMARK_RESULT,
    RENTAL_INDEX_VALUE,
    RENTAL_QUOTE,
    ROW_KINDS,
    TOKEN_PRICE,
    TYPES,
    Column,
    ContractError,
    RowKind,
    checked,
    fit,
    frame,
    parse_columns,
)

QUOTE: dict[str, Any] = {
    "provider": "acme",
    "offer_key": "gpu-8x",
    "raw_gpu_name": "H100 SXM",
    "price": Decimal("2.49"),
    "currency": "USD",
    "price_unit": "gpu_hour",
    "price_type": "on_demand",
    "availability": "available",
    "listing_kind": "bundle",
    "observed_at": datetime(2026, 11, 1, tzinfo=UTC),
}


def refusal(kind: RowKind, row: dict[str, Any]) -> tuple[str, str]:
    """The reason and the field for which `row` is refused."""
    with pytest.raises(ContractError) as caught:
        checked(kind, row)
    return caught.value.reason, caught.value.field


def refusal_of(column: Column, value: Any) -> str:
    with pytest.raises(ContractError) as caught:
        fit(column, value)
    assert caught.value.field == column.name
    return caught.value.reason


# The row as a whole


def test_a_row_comes_back_with_every_column_and_unknowns_as_none():
    row = checked(RENTAL_QUOTE, QUOTE)
    assert list(row) == [column.name for column in RENTAL_QUOTE.columns]
    assert row["price"] == Decimal("2.49")
    assert row["region"] is None


@pytest.mark.parametrize("name", [column.name for column in RENTAL_QUOTE.columns if column.required])
@pytest.mark.parametrize("nothing", [None, "", "absent"])
def test_a_required_value_that_is_missing_is_refused(name, nothing):
    row = {key: value for key, value in QUOTE.items() if key != name}
    if nothing != "absent":
        row[name] = nothing
    assert refusal(RENTAL_QUOTE, row) == ("missing_value", name)


def test_an_unknown_column_is_refused_by_name():
    assert refusal(RENTAL_QUOTE, {**QUOTE, "pricee": 1}) == ("unknown_column", "pricee")


def test_a_value_outside_the_allowed_ones_is_refused():
    assert refusal(RENTAL_QUOTE, {**QUOTE, "price_unit": "GPU_hour"}) == ("value_not_allowed", "price_unit")
    assert refusal(RENTAL_QUOTE, {**QUOTE, "price_type": "on-demand"}) == ("value_not_allowed", "price_type")
    assert checked(RENTAL_QUOTE, {**QUOTE, "price_type": "bid_floor"})["price_type"] == "bid_floor"


def test_the_allowed_values_stand_in_the_descriptions():
    assert RENTAL_QUOTE.column("listing_kind").allowed == ("bundle", "component")
    assert RENTAL_QUOTE.column("provider").allowed == ()
    (column,) = parse_columns("a | text! | what it is [one of: x, y]")
    assert column == Column("a", "text", "what it is [one of: x, y]", True, ("x", "y"))


def test_every_column_has_a_known_type_and_a_meaning():
    for kind in ROW_KINDS.values():
        names = [column.name for column in kind.columns]
        assert len(set(names)) == len(names), kind.name
        for column in kind.columns:
            assert column.type in TYPES, column
            assert column.description, column


def test_a_column_that_does_not_exist_is_no_column():
    with pytest.raises(KeyError, match="rental_quote has no column 'colour'"):
        RENTAL_QUOTE.column("colour")


# Types


@pytest.mark.parametrize("kind", ["int", "count", "number", "positive", "money", "price"])
@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_number(kind, value):
    assert refusal_of(Column("x", kind, ""), value) == "wrong_type"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", 5),
        ("text", b"bytes"),
        ("int", 8.0),
        ("int", Decimal(8)),
        ("int", "8"),
        ("number", "2.49"),
        ("price", "2.49"),
        ("price", 2.49),  # a double has lost the stated digits already
        ("bool", 1),
        ("bool", "true"),
        ("date", "2026-11-01"),
        ("date", datetime(2026, 11, 1, tzinfo=UTC)),
        ("instant", date(2026, 11, 1)),
        ("instant", "2026-11-01T00:00:00Z"),
        ("text", ["a"]),
        ("price", {"usd": 2}),
    ],
)
def test_a_value_of_another_type_is_refused(kind, value):
    assert refusal_of(Column("x", kind, ""), value) == "wrong_type"


@pytest.mark.parametrize(
    ("kind", "value", "fitted"),
    [
        ("text", "x", "x"),
        ("int", 0, 0),
        ("count", 1, 1),
        ("number", Decimal("0.25"), 0.25),
        ("number", 0, 0.0),
        ("positive", 3, 3.0),
        ("price", 2, Decimal("2.000000000000")),
        ("money", 0, Decimal("0.000000000000")),
        ("bool", False, False),
        ("date", date(2026, 11, 1), date(2026, 11, 1)),
    ],
)
def test_a_value_of_its_type_is_taken(kind, value, fitted):
    found = fit(Column("x", kind, ""), value)
    assert found == fitted
    assert type(found) is type(fitted)


# Numbers that are none


@pytest.mark.parametrize("kind", ["number", "positive", "money", "price"])
@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
def test_a_number_that_is_not_finite_is_refused(kind, text):
    assert refusal_of(Column("x", kind, ""), Decimal(text)) == "not_finite"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_double_that_is_not_finite_is_refused(value):
    assert refusal_of(Column("x", "number", ""), value) == "not_finite"


@pytest.mark.parametrize("kind", ["int", "count", "number", "positive", "money", "price"])
def test_an_absurd_integer_is_refused(kind):
    assert refusal_of(Column("x", kind, ""), 10**30) == "out_of_range"


def test_money_beyond_its_limit_is_refused():
    assert refusal_of(Column("x", "price", ""), Decimal(10) ** 15) == "out_of_range"
    assert fit(Column("x", "price", ""), Decimal(10) ** 15 - 1) == 999_999_999_999_999


@pytest.mark.parametrize("kind", ["count", "positive", "price"])
@pytest.mark.parametrize("value", [0, -1])
def test_what_must_be_positive_is_positive(kind, value):
    assert refusal_of(Column("x", kind, ""), value) == "not_positive"


@pytest.mark.parametrize("kind", ["positive", "price"])
def test_a_figure_too_small_for_a_double_is_refused(kind):
    assert refusal_of(Column("x", kind, ""), Decimal("1e-400")) == "not_positive"


def test_a_price_that_rounds_to_zero_is_not_stored_as_zero():
    assert refusal_of(Column("x", "price", ""), Decimal("1e-20")) == "not_positive"
    assert fit(Column("x", "price", ""), Decimal("1e-12")) == Decimal("0.000000000001")


# Text and time


def test_a_lone_surrogate_is_no_text():
    assert refusal(RENTAL_QUOTE, {**QUOTE, "note": "broken \ud83d"}) == ("not_text", "note")
    assert checked(RENTAL_QUOTE, {**QUOTE, "note": "whole 😀"})["note"] == "whole 😀"


def test_an_instant_without_a_zone_is_refused():
    naive = datetime(2026, 11, 1, 12)  # noqa: DTZ001
    assert refusal(RENTAL_QUOTE, {**QUOTE, "observed_at": naive}) == ("time_without_zone", "observed_at")


def test_an_instant_becomes_utc():
    eastern = datetime(2026, 11, 29, 23, 30, tzinfo=timezone(timedelta(hours=-5)))
    row = checked(RENTAL_QUOTE, {**QUOTE, "observed_at": eastern})
    assert row["observed_at"] == datetime(2026, 11, 30, 4, 30, tzinfo=UTC)
    assert row["observed_at"].utcoffset() == timedelta(0)


def test_an_instant_that_utc_cannot_hold_is_refused():
    last = datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-5)))
    assert refusal(RENTAL_QUOTE, {**QUOTE, "observed_at": last})[1] == "observed_at"


# Money


@pytest.mark.parametrize(
    ("stated", "stored"),
    [
        ("0.0000000000005", "0.000000000000"),  # half to even: down to 0
        ("0.0000000000015", "0.000000000002"),  # half to even: up to 2
        ("0.0000000000025", "0.000000000002"),  # half to even: down to 2
        ("0.00000000000251", "0.000000000003"),
        ("2.49", "2.490000000000"),
        ("-5", "-5.000000000000"),
    ],
)
def test_money_keeps_twelve_decimals_and_rounds_half_to_even(stated, stored):
    found = fit(Column("x", "money", ""), Decimal(stated))
    assert found == Decimal(stored)
    assert found.as_tuple().exponent == -12


# Frames: nothing inferred


def test_a_price_after_two_hundred_whole_ones_keeps_its_cents():
    rows = [checked(RENTAL_QUOTE, {**QUOTE, "price": 2}) for _ in range(200)]
    rows.append(checked(RENTAL_QUOTE, {**QUOTE, "price": Decimal("2.49")}))
    prices = frame(RENTAL_QUOTE, rows)["price"]
    assert prices.dtype == pl.Decimal(28, 12)
    assert prices[0] == Decimal(2)
    assert prices[200] == Decimal("2.49")


def test_a_column_that_only_late_rows_have_survives():
    rows = [checked(RENTAL_QUOTE, QUOTE) for _ in range(120)]
    rows += [
        checked(RENTAL_QUOTE, {**QUOTE, "region": "us-east", "commitment_months": 36}) for _ in range(30)
    ]
    made = frame(RENTAL_QUOTE, rows)
    assert made["region"].drop_nulls().to_list() == ["us-east"] * 30
    assert made["commitment_months"].drop_nulls().to_list() == [36] * 30


@pytest.mark.parametrize("kind", [RENTAL_QUOTE, RENTAL_INDEX_VALUE, BENCHMARK_RESULT, TOKEN_PRICE])
def test_a_frame_has_the_types_of_its_contract_even_when_empty(kind):
    assert dict(frame(kind, []).schema) == {c.name: TYPES[c.type].polars for c in kind.columns}


def test_a_count_below_zero_and_a_percentage_are_refused() -> None:
    assert refusal_of(Column("x", "int", ""), -3) == "negative"
    share = Column("x", "share", "")
    assert refusal_of(share, Decimal("96")) == "not_a_share"
    assert refusal_of(share, Decimal("-0.1")) == "not_a_share"
    assert [fit(share, value) for value in (0, Decimal("0.96"), 1)] == [0, 0.96, 1]
