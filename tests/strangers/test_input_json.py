"""Documents that mean harm, at every depth: refused in one line and in bounded time, whatever reads them.

Belongs here: JSON, JSON lines, YAML and numbers, in a document and through every source that reads one. Does
not belong here: random damage (`test_fuzz_sources.py`), archives (`test_input_archives.py`).
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from faults.fault_report import Report
from test_fuzz_sources import TOKEN, answer
from test_sources import SOURCES, fixture_snapshot

from pipelines.decode import strict_json, strict_json_documents, strict_yaml
from pipelines.source import Snapshot, SourceError, read

CPU_SECONDS = 10
NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][+-]?\d+)?")
NOT_FINITE = re.compile(r"\b(nan|inf|infinity)\b")
# Of each part of a payload; a source that holds more numbers has them tried at regular distances.
MOST_PLACES = int(os.environ.get("TOKENYIELD_FUZZ_EXAMPLES", "8"))
DEEP = 200_000
LAUGHS = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (letter, letter, b", ".join([b"*%c" % (letter - 1)] * 9)) for letter in range(98, 107)
)
HARMFUL = {
    "a key twice": (b'{"a": 1, "a": 1}', "duplicate key 'a'"),
    "a key twice, deep": (b'{"a": [{"b": {"c": [{"d": 1, "d": 2}]}}]}', "duplicate key 'd'"),
    "a key twice, written otherwise": (b'{"a": 1, "\\u0061": 2}', "duplicate key 'a'"),
    "nested lists": (b"[" * DEEP + b"]" * DEEP, "not a whole JSON document"),
    "nested objects": (b'{"a":' * DEEP + b"1" + b"}" * DEEP, "not a whole JSON document"),
    "a million digits": (b'{"a": ' + b"9" * 1_000_000 + b"}", "not a whole JSON document"),
    "two documents": (b"{}{}", "not a whole JSON document"),
    "a byte that is no text": (b'{"a": "\xff"}', "not UTF-8"),
    "nothing": (b"", "not a whole JSON document"),
}  # fmt: skip
HARMFUL_YAML = {
    "a million laughs": (LAUGHS, "aliases are not accepted"),
    "a loop": (b"a: &a [*a]\n", "aliases are not accepted"),
    "a key twice": (b"a:\n  b:\n  - c: 1\n    c: 2\n", "duplicate key"),
    "a program": (b"!!python/object/apply:os.system ['true']\n", "not a whole YAML document"),
    "a program, by its name": (b"a: !!python/name:os.system\n", "not a whole YAML document"),
    "nested": (b"[" * DEEP, "not a whole YAML document"),
    "a million digits": (b"a: " + b"9" * 1_000_000 + b"\n", "not a whole YAML document"),
}


def refused(reader: Callable[[bytes], Any], body: bytes) -> str:
    started = time.process_time()
    with pytest.raises(SourceError) as caught:
        reader(body)
    assert time.process_time() - started < CPU_SECONDS
    return str(caught.value)


def one_line(reader: Callable[[bytes], Any], body: bytes, why: str) -> None:
    told = refused(reader, body)
    assert why in told
    assert len(told) < 500


@pytest.mark.parametrize("case", sorted(HARMFUL))
def test_a_harmful_json_document_is_refused_in_bounded_time(case: str, report: Report) -> None:
    body, why = HARMFUL[case]
    one_line(strict_json, body, why)
    if case not in ("two documents", "nothing"):
        told = refused(strict_json_documents, b"{}\n" + body)
        assert len(told) < 500
    report(
        "a JSON document that means harm",
        "a key said twice at any depth, nesting without end, a million digits, no text, no or two documents",
        "the payload is refused with its reason",
        [],
    )


@pytest.mark.parametrize("case", sorted(HARMFUL_YAML))
def test_a_harmful_yaml_document_is_refused_in_bounded_time(case: str, report: Report) -> None:
    one_line(strict_yaml, *HARMFUL_YAML[case])
    report(
        "a YAML document that means harm",
        "aliases that grow without end, a loop, a key said twice, a program, nesting, a million digits",
        "the payload is refused with its reason; no program is run",
        [],
    )


def payloads() -> list[str]:
    return [slug for slug in sorted(SOURCES) if any(is_json(p.body) for p in fixture_snapshot(slug).parts)]


def is_json(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), (dict, list))
    except ValueError:
        return False


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
@pytest.mark.parametrize("slug", payloads())
def test_no_word_for_what_is_not_finite_becomes_a_figure(slug: str, word: str, report: Report) -> None:
    """In the place of every number of every payload, one after the other: never a row with it in it."""
    snapshot = fixture_snapshot(slug)
    rows = figures(snapshot)
    tried = 0
    for at, part in enumerate(snapshot.parts):
        numbers = [m for m in TOKEN.finditer(part.body) if NUMBER.fullmatch(m[0])]
        for place in numbers[:: max(1, len(numbers) // MOST_PLACES)]:
            body = part.body[: place.start()] + word.encode() + part.body[place.end() :]
            parts = (*snapshot.parts[:at], dataclasses.replace(part, body=body), *snapshot.parts[at + 1 :])
            changed = dataclasses.replace(snapshot, parts=parts)
            tried += 1
            if answer(SOURCES[slug], changed) == "read":
                assert not [text for text in figures(changed) - rows if NOT_FINITE.search(text)]
    assert tried
    report(
        "NaN or Infinity in the place of a number",
        "every payload that is JSON, at numbers all over it, read through an amount or not",
        "the row or the payload is refused; no row holds it, as a number or as a text",
        [],
    )


def figures(snapshot: Snapshot) -> set[str]:
    try:
        parsed = read(SOURCES[snapshot.source], snapshot)
    except SourceError:
        return set()
    return {
        str(value).lower()
        for frame in parsed.rows.values()
        for row in frame.iter_rows()
        for value in row
        if value is not None
    }
