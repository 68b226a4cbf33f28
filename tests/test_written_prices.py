"""Prices written for people are read only in a declared locale, and only when they are one amount."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from pipelines.contracts import ContractError
from pipelines.decode import written_amount
from pipelines.source import Part, Snapshot, all_sources, read

# The list of public mishaps: "1,600.00" was read as 1.6, "11,33" as 1133, "from $3.75" as a rate.
TEXTS = ["$2,499.00", "1.234,56 €", "2.49/hr", "from $3.75", "N/A", "Contact us", " 2.49 ", "1_000"]


def accepted(locale: str, currency: str) -> list[tuple[str, Decimal]]:
    found = []
    for text in TEXTS:
        with suppress(ContractError):
            found.append((text, written_amount("price", text, locale, currency)))
    return found


def test_a15_in_english_three_of_the_texts_are_amounts() -> None:
    assert accepted("en-US", "USD") == [
        ("$2,499.00", Decimal("2499.00")),
        ("2.49/hr", Decimal("2.49")),
        (" 2.49 ", Decimal("2.49")),
    ]


def test_a15_in_german_another_one_is_and_a_dollar_is_no_euro() -> None:
    assert accepted("de-DE", "EUR") == [("1.234,56 €", Decimal("1234.56"))]


@pytest.mark.parametrize(
    "text", [",89", "1,60", "12,34,567", "1,2345.6", "$ 2.49 $ 3.00", "-2.49", "2.49 EUR", "2.4.9"]
)
def test_a15_what_could_be_two_amounts_is_none(text: str) -> None:
    with pytest.raises(ContractError):
        written_amount("price", text, "en-US", "USD")


def test_a15_an_index_file_that_declares_its_locale_is_read_in_it() -> None:
    context = {
        "index_name": "getdeploying", "price_type": "on_demand", "currency": "USD", "unit": "gpu_hour",
        "columns": {"date": "day", "chip": "gpu", "value": "price"}, "locale": "en-US",
    }  # fmt: skip
    body = b"day,gpu,price\n2026-11-01,H100 SXM,$2.49/hr\n2026-11-02,H100 SXM,from $2.40\n"
    at = datetime(2026, 11, 3, tzinfo=UTC)
    source = all_sources()["index_file"]
    parsed = read(source, Snapshot("index_file", "x", "all", (Part("i.csv", body),), at, at, context))
    assert parsed.rows["rental_index_value"]["value"].to_list() == [Decimal("2.49")]
    assert parsed.refused["reason"].to_list() == ["not_a_number"]
