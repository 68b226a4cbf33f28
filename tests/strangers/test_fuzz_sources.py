"""Whatever bytes arrive, a source answers with checked rows, with counted refusals, or with SourceError.

Belongs here: bytes without sense, and each source's own fixture damaged at random, below everything that
would catch an exception. Does not belong here: what one publisher gets wrong in particular (`test_traps_*`).

Runs are the same each time. `TOKENYIELD_FUZZ_EXAMPLES` says how many payloads each source is shown, 40 by
default; some thousands make a night of it.
"""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import time
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults.fault_report import Report
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from test_sources import SOURCES, fixture_snapshot

from pipelines.contracts import ROW_KINDS, RowKind, checked
from pipelines.decode import unzipped
from pipelines.home import SEEDS
from pipelines.seed_shapes import REFERENCE
from pipelines.seeds import SeedError, fact_files, fact_rows, read_reference
from pipelines.source import Part, Snapshot, Source, SourceError, read

pytestmark = pytest.mark.slow

EXAMPLES = int(os.environ.get("TOKENYIELD_FUZZ_EXAMPLES", "40"))
QUICK = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    database=None,
    # Time is bounded by the processor's clock below: a busy machine is no slow parser.
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
EVERY_SOURCE = pytest.mark.parametrize("slug", sorted(SOURCES))
CPU_SECONDS = 5
# What a parser may hold at once: Python's objects take far more room than the text that they were read from.
BYTES_PER_BYTE, FLOOR_BYTES = 60, 32 * 1024**2

# Values of another type, of no size, of too much size, and texts that others take for numbers and dates.
HOSTILE = (
    "NaN", "Infinity", "-Infinity", "null", "true", "[]", "{}", '""', "0", "-1", "-0.0", "1e400", "1e-400",
    "1e999999999", "-1e-999999999", "9" * 30, "9" * 400, "9" * 5000, "0." + "3" * 400, "1.5", "[null]",
    "[{}]", "[[]]",
    '[1, "a", {"b": null}]', '{"a": 1, "a": 2}', '{"value": NaN}', '"NaN"', '"inf"', '"1_000"',
    '"1,5"', '"٣"', '"1e999"',
    '"\\ud800"', '"\\u0000"', '"\\u202e123"', '"2026-13-45"', '"0001-01-01T00:00:00+23:59"',
    '"9999-12-31T23:59:59-23:59"', '"9999-12-31"', '"1e9"', '"<script>alert(1)</script>"',
    '"\'; drop table x; --"',
    '"=cmd()"', '"../../etc/passwd"', '"%s%n{0}{{7*7}}"', '"' + "x" * 100_000 + '"', "[" * 50 + "]" * 50,
    "[" * 100_000 + "]" * 100_000, '{"a":' * 100_000, "- " * 3000, "&a [*a, *a]", "*a", "<<: {a: 1}",
    "!!python/name:os.system",
    "2026-11-30", "2026-11-30T00:00:00Z", "12:30:45", "0x1F", "~", ".inf", "\x00", "\ufeff", "\u2028",
    "<html>", "|", ",,", "\r",
)  # fmt: skip
TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[^\s,:{}\[\]|"]+')
WORDS = [text.encode("utf-8", "surrogatepass") for text in HOSTILE]


@st.composite
def damage(draw: Any, body: bytes) -> bytes:
    """`body` with one to three things wrong: a byte, a stretch, or a value."""
    for _ in range(draw(st.integers(1, 3))):
        body = draw(st.sampled_from(KINDS))(draw, body)
    return body


def flip(draw: Any, body: bytes) -> bytes:
    place = draw(st.integers(0, max(len(body) - 1, 0)))
    return body[:place] + bytes([draw(st.integers(0, 255))]) + body[place + 1 :]


def cut(draw: Any, body: bytes) -> bytes:
    return body[: draw(st.integers(0, len(body)))]


def stretch(draw: Any, body: bytes) -> tuple[int, int]:
    start = draw(st.integers(0, len(body)))
    return start, min(len(body), start + draw(st.integers(0, 400)))


def leave_out(draw: Any, body: bytes) -> bytes:
    start, end = stretch(draw, body)
    return body[:start] + body[end:]


def repeat(draw: Any, body: bytes) -> bytes:
    start, end = stretch(draw, body)
    return body[:end] + body[start:end] + body[end:]


def swap_word(draw: Any, body: bytes) -> bytes:
    """Another word in the place of one: a key, a value, a cell."""
    found = list(TOKEN.finditer(body))
    if not found:
        return body
    place = draw(st.sampled_from(found))
    return body[: place.start()] + draw(st.sampled_from(WORDS)) + body[place.end() :]


def swap_branch(draw: Any, body: bytes) -> bytes:
    """Another value in the place of a branch of a JSON document, or that branch twice, or not at all."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return swap_word(draw, body)
    places = list(branches(document)) if isinstance(document, (dict, list)) else []
    if not places:
        return swap_word(draw, body)
    parent, key = draw(st.sampled_from(places))
    if isinstance(parent, list) and draw(st.booleans()):
        parent.insert(key, parent[key])
    elif draw(st.booleans()):
        parent[key] = "\ue000hostile"
    else:
        del parent[key]
    return json.dumps(document).encode().replace(rb'"\ue000hostile"', draw(st.sampled_from(WORDS)), 1)


def branches(document: dict[str, Any] | list[Any]) -> Iterator[tuple[Any, Any]]:
    """Every place in a document: what holds it, and its key or number there."""
    for key in list(document) if isinstance(document, dict) else range(len(document)):
        yield document, key
        if isinstance(document[key], (dict, list)):
            yield from branches(document[key])


def say_twice(draw: Any, body: bytes) -> bytes:
    """A line or a key with its value once more, right behind itself."""
    found = list(re.finditer(rb'"[^"\n]*":\s*(?:"[^"\n]*"|[\w.+-]+),?|[^\n]+\n', body))
    if not found:
        return body
    place = draw(st.sampled_from(found))
    return body[: place.end()] + b"," * (b":" in place[0][:40]) + place[0] + body[place.end() :]


KINDS = (flip, cut, leave_out, repeat, swap_word, swap_word, swap_branch, swap_branch, say_twice)


@st.composite
def damaged_parts(draw: Any, snapshot: Snapshot) -> tuple[Part, ...]:
    """The parts of a snapshot, one of them damaged; of an archive either itself or a file in it."""
    parts = list(snapshot.parts)
    at = draw(st.integers(0, len(parts) - 1))
    body = parts[at].body
    inside = body.startswith(b"PK") and draw(st.booleans())
    body = draw(zipped_again(body) if inside else damage(body))
    parts[at] = dataclasses.replace(parts[at], body=body)
    if draw(st.integers(0, 19)) == 0:
        parts = draw(st.sampled_from([[*parts, parts[0]], parts[1:], parts[::-1]]))
    return tuple(parts)


@st.composite
def zipped_again(draw: Any, body: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(body)) as old, zipfile.ZipFile(packed, "w") as new:
        names = old.namelist()
        chosen = draw(st.sampled_from(names))
        for name in names:
            new.writestr(name, draw(damage(old.read(name))) if name == chosen else old.read(name))
    return packed.getvalue()


def answer(source: Source, snapshot: Snapshot) -> str:
    """What a source makes of a payload, in one word, after everything about it was checked."""
    started = time.process_time()
    try:
        if source.observed_at:
            source.observed_at(snapshot.parts)
        parsed = read(source, snapshot)
    except SourceError as error:
        told = str(error).strip()
        return "refused" if told and time.process_time() - started < CPU_SECONDS else "refused badly"
    assert time.process_time() - started < CPU_SECONDS
    accepted = 0
    for kind, frame in parsed.rows.items():
        for row in frame.drop("row_number").iter_rows(named=True):
            assert checked(ROW_KINDS[kind], row) == row
            accepted += 1
    verdicts = Counter(parsed.refused["verdict"].to_list())
    assert verdicts.keys() <= {"rejected", "not_applicable"}
    assert all(parsed.refused["reason"].to_list()), "a refusal has a reason"
    assert len(list(source.parse(snapshot))) == accepted + verdicts["rejected"] + verdicts["not_applicable"]
    numbers = [n for frame in (*parsed.rows.values(), parsed.refused) for n in frame["row_number"].to_list()]
    assert sorted(numbers) == list(range(parsed.candidates))
    return "read"


@EVERY_SOURCE
def test_bytes_without_sense_are_refused(slug: str, report: Report) -> None:
    source, snapshot = SOURCES[slug], fixture_snapshot(slug)
    seen: Counter[str] = Counter()

    @QUICK
    @seed(0)
    @given(st.one_of(st.binary(max_size=300), st.sampled_from(WORDS), st.text(max_size=80).map(encoded)))
    def any_bytes(body: bytes) -> None:
        for number, part in enumerate(snapshot.parts):
            parts = list(snapshot.parts)
            parts[number] = dataclasses.replace(part, body=body)
            seen[answer(source, dataclasses.replace(snapshot, parts=tuple(parts)))] += 1

    any_bytes()
    assert seen.keys() <= {"read", "refused"}
    assert seen["refused"]
    report(
        "bytes without sense arrive in place of a payload",
        "random bytes and texts as every part of every source",
        "a refusal of the payload; no other error, no row that breaks its contract",
        seen.keys() - {"read", "refused"},
    )


def test_a_zip_with_a_place_before_its_start_is_refused(report: Report) -> None:
    """Found above: bytes lost inside a zip move its directory, and the library seeks to before the start."""
    body = next(
        part.body for part in fixture_snapshot("gpuhunt_catalog").parts if part.body.startswith(b"PK")
    )
    for lost in range(1, len(body) - 100, 7):
        with pytest.raises(SourceError):
            unzipped("catalogue.zip", body[:20] + body[20 + lost :])
    report(
        "a stretch is lost from the inside of a zip",
        "more and more bytes left out behind its first header",
        "the payload is refused, wherever the reader is led",
        [],
    )


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@EVERY_SOURCE
def test_a_damaged_payload_is_read_row_by_row_or_refused(slug: str, report: Report) -> None:
    source, snapshot = SOURCES[slug], fixture_snapshot(slug)
    seen: Counter[str] = Counter()

    @QUICK
    @seed(0)
    @given(damaged_parts(snapshot))
    def damaged(parts: tuple[Part, ...]) -> None:
        seen[answer(source, dataclasses.replace(snapshot, parts=parts))] += 1

    damaged()
    assert seen.keys() <= {"read", "refused"}
    report(
        "a payload is damaged at random",
        "bytes flipped, left out and doubled, values of another type, not finite, huge, nested, said twice",
        "candidates = accepted + rejected + not applicable, or the payload is refused; no other error",
        seen.keys() - {"read", "refused"},
    )


# Seeds: a person types them, so what is wrong is a SeedError that names the line

FACTS = sorted(path for _, path in fact_files(SEEDS))


def read_seed(path: Path, kind: RowKind | None, body: bytes) -> int:
    """The rows of a seed, all of them through their contract; a SeedError with the file's name is none."""
    started = time.process_time()
    try:
        if kind is None:
            count = len(read_reference(path.stem, body))
        else:
            rows = list(fact_rows(kind, str(path), body))
            assert all(checked(kind, row.row) == row.row for row in rows)
            count = len(rows)
    except SeedError as error:
        count = 0 if path.name in str(error) else -1
    assert count >= 0
    assert time.process_time() - started < CPU_SECONDS
    return count


@pytest.mark.parametrize("name", [*sorted(REFERENCE), *(f"{p.parent.name}/{p.stem}" for p in FACTS)])
def test_a_damaged_seed_is_read_or_named(name: str, report: Report) -> None:
    path = SEEDS / f"{name}.csv"
    kind = ROW_KINDS[path.parent.name] if "/" in name else None
    whole = b"".join(path.read_bytes().splitlines(keepends=True)[:12])
    before = read_seed(path, kind, whole)

    @QUICK
    @seed(0)
    @given(damage(whole))
    def damaged(body: bytes) -> None:
        read_seed(path, kind, body)

    damaged()
    report(
        "a seed is damaged at random",
        "bytes flipped, left out and doubled, cells of another type, huge, nested",
        "its rows, or an error that names the file; no other error",
        range(before - read_seed(path, kind, whole)),
    )


# Memory


@pytest.mark.parametrize("slug", sorted(SOURCES))
def test_a_source_holds_no_more_than_a_multiple_of_what_it_reads(slug: str, report: Report) -> None:
    source, snapshot = SOURCES[slug], fixture_snapshot(slug)
    part = snapshot.parts[-1]
    found = list(TOKEN.finditer(part.body))
    place = found[len(found) // 2]
    for word in (b'"' + b"x" * 1_000_000 + b'"', b"9" * 4000, b"[" * 100_000 + b"]" * 100_000):
        body = part.body[: place.start()] + word + part.body[place.end() :]
        parts = (*snapshot.parts[:-1], dataclasses.replace(part, body=body))
        tracemalloc.start()
        answer(source, dataclasses.replace(snapshot, parts=parts))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < FLOOR_BYTES + BYTES_PER_BYTE * len(body)
    report(
        "a value of a payload is huge",
        "a text of a million letters, a number of 4,000 digits, a nesting of 100,000",
        "memory stays within a multiple of the payload",
        [],
    )
