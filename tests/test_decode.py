"""Bytes from outside become values, or the payload is refused: never something in between."""

from __future__ import annotations

import gzip
import json
import zlib
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from pipelines import decode
from pipelines.contracts import Column, ContractError, fit
from pipelines.decode import (
    amount,
    gunzipped,
    iso_date,
    iso_instant,
    strict_csv,
    strict_json,
    strict_json_documents,
    strict_yaml,
    text,
)
from pipelines.source import SourceError

PAGE = b"<!DOCTYPE html>\n<html><body>503 Service Unavailable</body></html>"

# JSON


def test_json_numbers_are_exact():
    assert strict_json(b'{"a": 2.49, "b": 3, "c": 0.1}') == {
        "a": Decimal("2.49"),
        "b": 3,
        "c": Decimal("0.1"),
    }


@pytest.mark.parametrize(
    "body", [b'{"price": 1, "price": 2}', b'[{"a": {"x": 1, "y": 2, "x": 1}}]'], ids=["outer", "inner"]
)
def test_a_json_key_that_stands_twice_is_refused(body):
    with pytest.raises(SourceError, match=r"duplicate key '(price|x)'"):
        strict_json(body)


def test_json_that_breaks_off_is_refused_wherever_it_breaks():
    whole = json.dumps({"offers": [{"price": 2.49, "gpu": "H100"}, {"price": None}]}).encode()
    for length in range(len(whole)):
        with pytest.raises(SourceError):
            strict_json(whole[:length])


@pytest.mark.parametrize(
    "body", [b"", b"  ", b"{} {}", b"{} trailing", PAGE, b"\xff\xfe{\x00}\x00", b"{'a': 1}"]
)
def test_what_is_no_json_document_is_refused(body):
    with pytest.raises(SourceError):
        strict_json(body)


def test_a_page_is_called_a_page():
    for body in (PAGE, b"\n\n  <html>", b"\xef\xbb\xbf<!doctype HTML>"):
        for reader in (text, strict_json, strict_yaml, lambda found: strict_csv(found, set())):
            with pytest.raises(SourceError, match="HTML page"):
                reader(body)


def test_json_nested_beyond_measure_is_refused():
    with pytest.raises(SourceError):
        strict_json(b"[" * 200_000)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_a_number_that_json_does_not_know_costs_its_own_row_alone(word):
    found = strict_json(b'[{"price": 2.49}, {"price": %s}]' % word.encode())
    assert found[0] == {"price": Decimal("2.49")}
    price = Column("price", "price", "")
    with pytest.raises(ContractError) as caught:
        fit(price, found[1]["price"])
    assert caught.value.reason == "not_finite"


def test_a_byte_order_mark_is_dropped():
    assert strict_json(b"\xef\xbb\xbf[1]") == [1]


# JSON documents one after the other

LINES = b'{"a": 1.50}\n{"b": Infinity}\n'


@pytest.mark.parametrize("between", ["", "\n", "\r\n", " ", "\n\n"])
def test_documents_are_read_however_they_are_parted(between: str) -> None:
    body = between.join(['{"a": 1.50}', '{\n "b": 2}', "[]"]).encode()
    assert strict_json_documents(body) == [{"a": Decimal("1.50")}, {"b": 2}, []]


def test_infinity_in_a_line_is_left_to_the_contract() -> None:
    first, second = strict_json_documents(LINES)
    assert first == {"a": Decimal("1.50")}
    assert second["b"].is_infinite()


def test_lines_cut_anywhere_but_between_two_are_refused() -> None:
    whole = {11, 12, len(LINES) - 1, len(LINES)}
    for length in set(range(len(LINES) + 1)) - whole:
        with pytest.raises(SourceError):
            strict_json_documents(LINES[:length])


@pytest.mark.parametrize(
    "body", [b"", b" \n", b"{}x", b'{"a": 1, "a": 2}', b"{} ,{}", b"[" * 200_000, b"\xff", PAGE]
)
def test_what_is_no_row_of_documents_is_refused(body: bytes) -> None:
    with pytest.raises(SourceError):
        strict_json_documents(body)


# YAML


def test_yaml_floats_are_exact():
    found = strict_yaml(b"a: 2.49\nb: 0.1\nc: 7\nd: 1.5e+3\n")
    assert found == {"a": Decimal("2.49"), "b": Decimal("0.1"), "c": 7, "d": Decimal(1500)}
    assert {type(found[key]) for key in "abd"} == {Decimal}


@pytest.mark.parametrize("word", [".nan", ".inf", "-.inf"])
def test_a_yaml_number_that_is_not_finite_fits_no_contract(word):
    found = strict_yaml(f"price: {word}".encode())
    with pytest.raises(ContractError):
        amount("price", found["price"])
    with pytest.raises(ContractError):
        fit(Column("price", "price", ""), found["price"])


@pytest.mark.parametrize("body", [b"a: 1\nb: 2\na: 3\n", b"x:\n  a: 1\n  a: 1\n", b"[{a: 1, a: 2}]"])
def test_a_yaml_key_that_stands_twice_is_refused(body):
    with pytest.raises(SourceError, match="duplicate key near line"):
        strict_yaml(body)


@pytest.mark.parametrize(
    "body",
    [
        b"a: &x 1\nb: *x",
        b"- &x 1\n- *x",
        b"base: &x\n  p: 1\nother:\n  <<: *x\n",
        b"[&x 1, *x]",
        b"{&x a: 1, b: *x}",
        b"a: !!str &x 1\nb: *x",
        b"a: &-x 1\nb: *-x",
        b"? &x a\n: *x",
    ],
)
def test_yaml_aliases_and_merges_are_refused(body):
    with pytest.raises(SourceError, match=r"aliases|merges"):
        strict_yaml(body)


def test_an_ampersand_in_yaml_text_is_no_anchor():
    assert strict_yaml(b'a: "R&D"\nb: R&D\nc: "x: &y"\n') == {"a": "R&D", "b": "R&D", "c": "x: &y"}


@pytest.mark.parametrize(
    "body",
    [b"a: [1, 2", b"a: 1\n--- \nb: 2\n", b"a: !!python/object:os.system x", b"a:\n\t- 1", b"[" * 100_000],
    ids=["cut", "two documents", "object", "tab", "nested"],
)
def test_what_is_no_whole_yaml_document_is_refused(body):
    with pytest.raises(SourceError):
        strict_yaml(body)


# gzip


def test_gzip_is_opened_and_anything_else_left_alone():
    assert gunzipped(gzip.compress(b"[1]")) == b"[1]"
    assert gunzipped(b"[1]") == b"[1]"
    assert strict_json(gzip.compress(b"[2.49]")) == [Decimal("2.49")]


def test_a_damaged_gzip_stream_is_refused_wherever_the_damage_is():
    body = json.dumps([{"price": number / 7} for number in range(60)]).encode()
    packed = gzip.compress(body, mtime=0)
    for length in range(2, len(packed)):
        with pytest.raises(SourceError):
            gunzipped(packed[:length])
    for position in range(2, len(packed)):
        damaged = bytearray(packed)
        damaged[position] ^= 0x01
        try:
            found = gunzipped(bytes(damaged))
        except SourceError:
            continue
        # Time, flags of the packer and its system may be anything; the content may not.
        assert found == body, position


def test_a_gzip_bomb_is_refused_before_it_goes_off(monkeypatch):
    monkeypatch.setattr(decode, "MAX_DECODED_BYTES", 1_000_000)
    assert len(gunzipped(gzip.compress(bytes(1_000_000)))) == 1_000_000
    with pytest.raises(SourceError, match="more than 1000000 bytes"):
        gunzipped(gzip.compress(bytes(1_000_001)))


def test_many_streams_in_one_gzip_count_together(monkeypatch):
    monkeypatch.setattr(decode, "MAX_DECODED_BYTES", 1_000_000)
    with pytest.raises(SourceError, match="more than"):
        gunzipped(gzip.compress(bytes(600_000)) * 2)


def test_the_limit_is_what_any_real_payload_stays_below():
    assert decode.MAX_DECODED_BYTES == 512 * 1024 * 1024


def test_a_raw_deflate_stream_is_no_text():
    with pytest.raises(SourceError, match="not UTF-8"):
        text(zlib.compress(b"some text" * 10))


# CSV


def test_csv_rows_come_as_text():
    found = strict_csv(b'a,b\n1,2.49\n" x ","y,z"\n', {"a"})
    assert found == [{"a": "1", "b": "2.49"}, {"a": " x ", "b": "y,z"}]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (b"a,b\n1,2\n3\n", "line 3 has 1 fields, the header 2"),
        (b"a,b\n1,2,3\n", "line 2 has 3 fields, the header 2"),
        (b'a,b\n1,"2\n', "not a whole CSV file"),
        (b'a,b\n1,"2"x\n', "not a whole CSV file"),
        (b"a,a\n1,2\n", "repeats a name"),
        (b"b,c\n1,2\n", r"lacks \['a'\]"),
        (b"", r"lacks \['a'\]"),
    ],
)
def test_a_csv_that_is_not_what_its_header_says_is_refused(body, complaint):
    with pytest.raises(SourceError, match=complaint):
        strict_csv(body, {"a"})


# One number from text


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (" 2.49 ", "2.49"),
        ("2.49", "2.49"),
        ("0.10", "0.10"),
        ("-1", "-1"),
        ("1e3", "1000"),
        (2, "2"),
        (Decimal("2.49"), "2.49"),
    ],
)
def test_a_plain_number_is_read_exactly(value, number):
    found = amount("price", value)
    assert isinstance(found, Decimal)
    assert found == Decimal(number)


@pytest.mark.parametrize(
    "value",
    [
        "$2,499.00",
        "1.234,56 €",
        "2.49/hr",
        "from $3.75",
        "N/A",
        "Contact us",
        "1_000",
        "1,600.00",
        "11,33 USD",
        ",89",
        ".5",
        "5.",
        "2 49",
        "0x10",
        "nan",
        "inf",
        "Infinity",
        "٢",
        "1e9999",
        "--1",
        " ",
    ],
)
def test_a_price_whose_format_cannot_be_told_is_refused(value):
    with pytest.raises(ContractError) as caught:
        amount("price", value)
    assert (caught.value.reason, caught.value.field) == ("not_a_number", "price")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "missing_value"),
        ("", "missing_value"),
        (True, "wrong_type"),
        (2.49, "wrong_type"),
        ([2], "wrong_type"),
        (Decimal("NaN"), "not_finite"),
        (Decimal("sNaN"), "not_finite"),
        (Decimal("Infinity"), "not_finite"),
    ],
)
def test_what_is_no_number_is_refused_with_its_reason(value, reason):
    with pytest.raises(ContractError) as caught:
        amount("price", value)
    assert caught.value.reason == reason


# One date or instant from text


def test_a_date_is_read():
    assert iso_date("day", "2026-11-30") == date(2026, 11, 30)


@pytest.mark.parametrize(
    "value",
    ["2026-02-30", "30.11.2026", "2026-11", "2026-11-30T00:00", "", None, 20261130, "20261130", "2026-W48-1"],
)
def test_what_is_no_date_is_refused(value):
    with pytest.raises(ContractError) as caught:
        iso_date("day", value)
    assert caught.value.reason == "not_a_date"


@pytest.mark.parametrize(
    ("value", "hour"),
    [
        ("2026-11-30T04:30:00Z", 4),
        ("2026-11-29T23:30:00-05:00", 4),
        ("2026-11-30 04:30:00+00:00", 4),
    ],
)
def test_an_instant_becomes_utc(value, hour):
    assert iso_instant("at", value) == datetime(2026, 11, 30, hour, 30, tzinfo=UTC)


@pytest.mark.parametrize("value", ["2026-11-30T04:30:00", "2026-11-30"])
def test_an_instant_without_a_zone_is_refused(value):
    with pytest.raises(ContractError) as caught:
        iso_instant("at", value)
    assert caught.value.reason == "time_without_zone"


@pytest.mark.parametrize(
    "value", ["yesterday", "", None, 1764477000, "9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00"]
)
def test_what_is_no_instant_is_refused(value):
    with pytest.raises(ContractError) as caught:
        iso_instant("at", value)
    assert caught.value.reason in ("not_an_instant", "out_of_range")
