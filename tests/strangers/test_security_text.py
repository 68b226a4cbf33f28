"""Text from outside stays text: on the page, in files, in answers, in alerts, and in every query on the way.

Belongs here: hostile names from their payload to everything that a reader opens. Does not belong here: how
queries are written (`test_security_sql.py`), and how a cell of a CSV is made harmless (`test_imports.py`).
"""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from datetime import UTC, datetime

import pytest
from conftest import build_home
from faults.fault_report import Report
from test_cli import tokenyield

from pipelines import run
from pipelines.home import PROJECT, Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part

pytestmark = pytest.mark.slow

HOSTILE = {
    "script": "<script>alert(1)</script>",
    "attribute": '" onmouseover="alert(2)',
    "query": "'; drop table mart.headline; --",
    "template": "{{7*7}}${7*7}<%= 7*7 %>",
    "formula": "=cmd|' /C calc'!A0",
    "bidi": "H100\u202eMXS\u2066",
    "terminal": "\x1b[31mred\x1b]0;title\x07",
    "end of data": "</script><!--<img src=x onerror=alert(3)>",
}
MOMENT = datetime(2026, 11, 29, tzinfo=UTC)


def price_list() -> bytes:
    """The price list of the fixture, with an item of each hostile part number, a GPU by its unit."""
    document = json.loads(
        (PROJECT / "tests/fixtures/oci_price_list/payload.json").read_text(encoding="utf-8")
    )
    model = document["items"][1]
    assert model["partNumber"] == "B98415"
    document["items"] += [
        {**model, "partNumber": text, "displayName": f"GPU {text}"} for text in HOSTILE.values()
    ]
    return json.dumps(document).encode()


def points() -> bytes:
    """The benchmark file of the fixture, with hostile names of publisher, chip, model and note."""
    folder = PROJECT / "tests/fixtures/benchmark_file"
    header, first, *_ = csv.reader(io.StringIO((folder / "payload.csv").read_text(encoding="utf-8")))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, header)
    writer.writeheader()
    for text in HOSTILE.values():
        named = {"publisher": text, "raw_chip_name": text, "raw_model_name": text, "note": text}
        writer.writerow(dict(zip(header, first, strict=True)) | named)
        # And with a chip and a model that are known, so that it reaches every table.
        writer.writerow(dict(zip(header, first, strict=True)) | {"publisher": text, "note": text})
    return stream.getvalue().encode()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("hostile") / "home")
    store = SnapshotStore(home.snapshots)
    for slug, name, body in (
        ("oci_price_list", "<script>alert(4)</script>.json", price_list()),
        ("benchmark_file", "points'; drop table x; --.csv", points()),
    ):
        store.add(slug, (Part(name, body),), observed_at=MOMENT, recorded_at=MOMENT)
    return build_home(home.root)


@pytest.mark.slow
def test_hostile_names_stay_text_wherever_they_are_read(
    hostile: Home, caplog: pytest.LogCaptureFixture, report: Report
) -> None:
    with caplog.at_level(logging.INFO):
        run.tell(hostile, logging.getLogger("hostile"))
    lines = [record.getMessage() for record in caplog.records if record.name == "hostile"]
    assert all("\n" not in line and line.isprintable() for line in lines)

    # In the tables as they came; none did anything.
    query = "select distinct raw_name from clean.unmapped_name order by 1"
    as_json = tokenyield(hostile.root, "sql", query, "--format", "json")
    names = {row["raw_name"] for row in json.loads(as_json.stdout)}
    assert set(HOSTILE.values()) - names == set(), as_json.stderr
    as_csv = tokenyield(hostile.root, "sql", query, "--format", "csv")
    cells = {row[0] for row in csv.reader(io.StringIO(as_csv.stdout))}
    assert f"'{HOSTILE['formula']}" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    as_table = tokenyield(hostile.root, "sql", query)
    assert as_table.returncode == 0
    assert not [c for c in as_table.stdout if not (c.isprintable() or c == "\n")]
    assert tokenyield(hostile.root, "sql", "select count(*) from mart.headline").returncode == 0

    # What is published: a page in which no text became an element, an attribute or the end of its data.
    current = hostile.published / "current"
    page = (current / "index.html").read_text(encoding="utf-8")
    for text in ("script", "attribute", "end of data"):
        assert HOSTILE[text] not in page, text
    assert "49${" not in page
    assert not re.search(r"<img src=x|onerror=alert|<script>alert", page)
    for path in sorted(current.rglob("*.json")):
        json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(current.rglob("*.md")):
        assert HOSTILE["script"] not in path.read_text(encoding="utf-8")
    report(
        "names from outside are markup, queries, templates, formulas or terminal commands",
        "as part numbers, publishers, chips, models, notes and file names, from payload to publication",
        "the same text in every table and answer; none of it runs on the page, in a sheet or a terminal",
        set(HOSTILE.values()) - names,
    )
