"""What other tools read of a version: the data package, JSON, and rows that go out and come in again."""

from __future__ import annotations

import copy
import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from frictionless import FrictionlessException, Package, Resource, Schema, system
from test_cli import tokenyield

from pipelines import run
from pipelines.feed import JSON_MARTS, unit_of
from pipelines.home import PROJECT, Home
from pipelines.warehouse import Warehouse


@pytest.fixture(scope="module")
def version(embedded_home: Home) -> Path:
    return embedded_home.published / "current"


@pytest.fixture(scope="module")
def package(version: Path) -> dict[str, Any]:
    return json.loads((version / "datapackage.json").read_text())


@pytest.fixture(scope="module")
def reader(embedded_home: Home) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(embedded_home.current_database), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        yield connection


def faults(descriptor: dict[str, Any]) -> list[str]:
    """What the standard has against a descriptor."""
    try:
        return [error.message for error in Package.metadata_validate(copy.deepcopy(descriptor))]
    except FrictionlessException as error:
        return [str(error)]


# The data package


def test_the_data_package_is_one_by_its_standard(package):
    assert faults(package) == []
    for broken in ("path", "name"):
        without = copy.deepcopy(package)
        del without["resources"][0][broken]
        assert faults(without)
    wrong = copy.deepcopy(package)
    wrong["resources"][0]["schema"]["fields"][0]["type"] = "money"
    assert faults(wrong)


def test_every_mart_is_a_resource_with_its_file_and_its_columns(package, version, reader):
    found = {resource["name"]: resource for resource in package["resources"]}
    assert {f"mart.{name}" for name in found} == {n for n in run.models() if n.startswith("mart.")}
    for resource in found.values():
        described = reader.execute(f"describe from '{version / resource['path']}'").fetchall()
        assert [field["name"] for field in resource["schema"]["fields"]] == [row[0] for row in described]


@pytest.mark.parametrize(
    "mart",
    ["headline", "rental_price", "yield_change", "source_health", "cheapest_at_speed", "frontier_point"],
)
def test_the_rows_are_what_their_schema_says(mart, package, reader, tmp_path):
    resource = next(found for found in package["resources"] if found["name"] == mart)
    path = tmp_path / f"{mart}.csv"
    reader.execute("set TimeZone = 'UTC'")
    moments = [f["name"] for f in resource["schema"]["fields"] if f["type"] == "datetime"]
    iso = ", ".join(f"strftime({name}, '%Y-%m-%dT%H:%M:%SZ') as {name}" for name in moments)
    columns = f"* replace ({iso})" if iso else "*"
    reader.execute(f"copy (select {columns} from mart.{mart}) to '{path}' (format csv, header)")
    with system.use_context(trusted=True):
        report = Resource(path=str(path), schema=Schema.from_descriptor(resource["schema"])).validate()
        assert report.flatten(["rowNumber", "fieldName", "note"]) == []
        wrong = copy.deepcopy(resource["schema"])
        wrong["fields"][0]["type"] = "integer" if wrong["fields"][0]["type"] == "string" else "boolean"
        report = Resource(path=str(path), schema=Schema.from_descriptor(wrong)).validate()
        assert not report.valid


def test_the_sources_of_the_package_are_those_that_may_be_passed_on(package, embedded_home):
    with Warehouse(embedded_home.warehouse).read() as connection:
        rows = connection.execute("select title, passes_on from raw.source").fetchall()
    titles = [source["title"] for source in package["sources"]]
    for title, passes_on in rows:
        assert any(found.startswith(title) for found in titles) == passes_on, title


# Units

# Counts, ranks and places; `value` and its like stand beside a column that says their unit.
UNITLESS = {
    "acceptance_length", "accepted", "after_value", "attempts", "before_value", "candidates",
    "change_note_count", "completed_requests", "concurrency", "crossing", "damaged_snapshots", "decimals",
    "ep", "fact_count", "failed_looks", "failed_requests", "headline_order", "history_votes", "knot",
    "knots", "later_snapshots", "log_slope", "newest_accepted", "newest_candidates",
    "newest_not_applicable", "newest_rejected", "noise_repeat_count", "not_applicable", "observation_count",
    "part", "planned_requests", "prefill_ep", "prefill_tp", "prefill_workers", "provider_count",
    "quote_count", "rank", "rejected", "row_number", "row_order", "sample_count", "scale_up_domain",
    "sessions", "slices", "snapshots", "standard_error", "succeeded_jobs", "successes", "threshold",
    "total_jobs", "tp", "unmapped_names", "value", "value_stated", "weight", "workers",
}  # fmt: skip


def test_every_number_says_its_unit_in_its_name(package):
    unknown = {
        field["name"]
        for resource in package["resources"]
        for field in resource["schema"]["fields"]
        if field["type"] in ("number", "integer") and "unit" not in field
    }
    assert unknown <= UNITLESS


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        ("usd_per_gpu_hour", "US dollars per GPU-hour"),
        ("before_usd_per_million_tokens", "US dollars per million tokens"),
        ("usd_per_million_output_tokens_live", "US dollars per million tokens"),
        ("throughput_tok_s_gpu", "tokens per second per GPU"),
        ("output_tok_s_decode_gpu_live", "tokens per second per decode GPU"),
        ("interactivity_tok_s_user", "tokens per second for each user"),
        ("price_effect_usd", "US dollars per million tokens"),
        ("ttft_p50_ms", "milliseconds"),
        ("price_age_days", "days"),
        ("million_output_tokens_live_per_gpu_day", "million tokens per GPU-day"),
        ("provisioned_power_kw_gpu", "kW per GPU"),
        ("board_power_w_gpu", "W per GPU"),
        ("tokens_per_s_per_mw", "tokens per second per MW"),
        ("price_band_share", "share, 0 to 1"),
        ("rank", None),
        ("chip_id", None),
    ],
)
def test_the_unit_of_a_name(column, unit):
    assert unit_of(column) == unit


# JSON


@pytest.mark.parametrize("mart", JSON_MARTS)
def test_a_json_document_has_the_rows_of_its_mart(mart, version, reader):
    document = json.loads(
        (version / "json" / f"{mart.removeprefix('mart.')}.json").read_text(),
        parse_constant=lambda text: pytest.fail(f"{text} is no JSON"),
    )
    names = [column["name"] for column in document["columns"]]
    rows = reader.execute(f"select {', '.join(names)} from {mart} {document['condition']}").fetchall()
    assert (document["mart"], document["as_of"]) == (mart, "2026-11-30T12:00:00+00:00")
    assert len(document["rows"]) == len(rows)
    for told, row in zip(document["rows"], rows, strict=True):
        for value, stored in zip(told, row, strict=True):
            if isinstance(stored, (str, bool)) or stored is None:
                assert value == stored
            elif hasattr(stored, "isoformat"):
                assert value == stored.isoformat()
            else:
                assert value == float(stored)


def test_all_json_together_is_small(version):
    sizes = [path.stat().st_size for path in (version / "json").iterdir()]
    assert len(sizes) == len(JSON_MARTS)
    assert 10_000 < sum(sizes) < 1_000_000


def test_the_json_of_the_headline_says_what_the_headline_costs(version):
    document = json.loads((version / "json" / "headline.json").read_text())
    names = [column["name"] for column in document["columns"]]
    first = min(
        (dict(zip(names, row, strict=True)) for row in document["rows"]), key=lambda r: r["rank"] or 99
    )
    # B300 at $8.79 an hour... of the published index, 1548.3 tok/s a GPU: as `make run` prints it.
    assert first["chip_id"] == "b300-sxm-288"
    assert round(first["on_demand_usd_per_million_tokens"], 3) == 1.792


# What stays here


def test_the_manifest_says_what_is_withheld_and_by_whose_terms(embedded_home, version, reader):
    withheld = json.loads((version / "manifest.json").read_text())["withheld"]
    assert {source["source"] for source in withheld["sources"]} == {
        "cgi", "silicon_data", "silicon_data_hyperscaler", "silicon_data_neocloud",
    }  # fmt: skip
    assert all(source["terms"] for source in withheld["sources"])
    with Warehouse(embedded_home.warehouse).read() as connection:
        for name in (name for name in run.models() if name.startswith("mart.")):
            (here,) = connection.execute(f"select count(*) from {name}").fetchone()
            (passed_on,) = reader.execute(f"select count(*) from {name}").fetchone()
            assert withheld["rows"].get(name, 0) == here - passed_on, name
    assert withheld["rows"]["mart.price_series"] == 4


# D-05: what is exported is what was asked, and comes in again as it was

FILTERED = "select * from mart.benchmark_point where precision = 'fp8' order by benchmark_point_id"


def test_d05_rows_that_are_exported_and_imported_are_the_same_rows(embedded_home, reader, tmp_path):
    done = tokenyield(embedded_home.root, "sql", FILTERED, "--format", "csv")
    assert done.returncode == 0
    (tmp_path / "rows.csv").write_text(done.stdout)
    described = reader.execute(f"describe {FILTERED}").fetchall()
    types = ", ".join(f"'{name}': '{kind}'" for name, kind, *_ in described)
    asked = reader.execute(FILTERED).fetchall()
    again = reader.execute(
        f"from read_csv('{tmp_path / 'rows.csv'}', header = true, columns = {{{types}}}, nullstr = '')"
    ).fetchall()
    assert len(asked) > 5
    assert again == asked


def test_d05_headers_of_an_export_name_their_units(embedded_home):
    done = tokenyield(embedded_home.root, "sql", FILTERED, "--format", "csv")
    header = next(csv.reader(io.StringIO(done.stdout)))
    assert {"isl_mean", "output_tok_s_gpu", "interactivity_tok_s_user", "ttft_p50_ms", "model_id"} <= set(
        header
    )


# Texts as sources may write them, beside every type that a column of a mart has.
HARD = r"""
    (0, null, null, null, null, null, null, null),
    (1, '', 0.1 + 0.2::double, 2.490001, 9007199254740993, true, '2026-02-28', '2026-03-29 01:30:00.1234+00'),
    (2, 'a,"b"', 1e-300, -0.000001, -1, false, '1999-12-31', '2026-10-25 00:30:00+00'),
    (3, e'two\nlines\r\n', -0.5, 123456789.012345, 0, null, null, null),
    (4, 'Zürich 東京 é', 1e22, 0, 0, null, null, null),
    (5, '=HYPERLINK("x")', -1.5, -2.5, -3, null, null, null),
    (6, '+1 555', null, null, null, null, null, null),
    (7, '-', null, null, null, null, null, null),
    (8, '@sum(1)', null, null, null, null, null, null),
    (9, e'\t=1', null, null, null, null, null, null),
    (10, '''=1', null, null, null, null, null, null),
    (11, '''quoted''', null, null, null, null, null, null),
    (12, 'null', null, null, null, null, null, null),
    (13, ' =1', null, null, null, null, null, null),
    (14, e'\r=1', null, null, null, null, null, null)
"""
HARD_TYPES = {
    "n": "BIGINT", "words": "VARCHAR", "ratio": "DOUBLE", "usd": "DECIMAL(18,6)", "number": "BIGINT",
    "yes": "BOOLEAN", "day": "DATE", "seen": "TIMESTAMP WITH TIME ZONE",
}  # fmt: skip
HARD_QUERY = (
    "select "
    + ", ".join(f"cast({name} as {kind}) as {name}" for name, kind in HARD_TYPES.items())
    + f" from (values {HARD}) as found({', '.join(HARD_TYPES)}) order by n"
)
# As `csv_rows.py` says: one apostrophe is taken from what would be a formula without it.
UNDONE = r"case when regexp_matches(words, '^''+[=+@\t\r-]') then substr(words, 2) else words end as words"


def printed(home: Home, output: str) -> bytes:
    """What the command prints, byte by byte: as text, line ends would be mended."""
    done = subprocess.run(
        [sys.executable, "-m", "pipelines.cli", "sql", HARD_QUERY, "--format", output],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TOKENYIELD_HOME": str(home.root)},
        capture_output=True,
        check=True,
    )
    return done.stdout


def test_d05_every_type_and_every_text_comes_in_again_as_it_was(embedded_home, reader, tmp_path):
    asked = reader.execute(HARD_QUERY).fetchall()
    assert len(asked) == 15
    path = tmp_path / "rows.csv"
    path.write_bytes(printed(embedded_home, "csv"))
    again = reader.execute(
        f"select * replace ({UNDONE}) from read_csv('{path}', header = true, columns = {HARD_TYPES}, "
        "nullstr = '', allow_quoted_nulls = false, quote = '\"', escape = '\"')"
    ).fetchall()
    assert again == asked
    path = tmp_path / "rows.json"
    path.write_bytes(printed(embedded_home, "json"))
    assert reader.execute(f"from read_json('{path}', columns = {HARD_TYPES})").fetchall() == asked


def test_no_text_of_an_export_is_a_formula(embedded_home):
    rows = list(csv.DictReader(io.StringIO(printed(embedded_home, "csv").decode(), newline="")))
    assert not [row["words"] for row in rows if row["words"][:1] in ("=", "+", "-", "@", "\t", "\r")]
    assert [row["usd"] for row in rows][5] == "-2.5"  # a number stays one, below zero too


def test_d05_json_has_the_same_rows_as_csv(embedded_home):
    as_json = json.loads(tokenyield(embedded_home.root, "sql", FILTERED, "--format", "json").stdout)
    as_csv = list(
        csv.DictReader(io.StringIO(tokenyield(embedded_home.root, "sql", FILTERED, "--format", "csv").stdout))
    )
    assert [row["benchmark_point_id"] for row in as_json] == [row["benchmark_point_id"] for row in as_csv]
    for told, read in zip(as_json, as_csv, strict=True):
        assert {name for name, value in told.items() if value is None} == {
            name for name, value in read.items() if value == ""
        }


# Older readers

OPENS = """
import sys
import duckdb
assert duckdb.__version__.startswith(sys.argv[2]), duckdb.__version__
connection = duckdb.connect(sys.argv[1], read_only=True)
connection.execute("set TimeZone = 'UTC'")
for name in sorted(name for (name,) in connection.execute(
    "select table_name from duckdb_tables() where schema_name = 'mart'").fetchall()):
    print(name, connection.execute(f"select count(*) from mart.{name}").fetchone()[0])
for call in sys.argv[3:]:
    row = "md5(cast(x as varchar))"
    print(call, connection.execute(f"select count(*), md5(string_agg({row}, '' order by {row})) "
                                   f"from (select x from {call} as x)").fetchone())
"""
CALLS = (
    "mart.cost_per_million_tokens_as_known('2026-08-20')",
    "mart.rental_price_as_recorded('2026-11-30 12:00:00+00')",
    "mart.yield_change_as_known('2026-11-01')",
    "mart.cheapest_at(42)",
    "mart.cost_with('h100-sxm-80', 1.90, 0.8, 0.6)",
)


@pytest.mark.slow
@pytest.mark.parametrize("older", ["1.4", "1.5"])
def test_an_older_duckdb_reads_the_file_and_its_macros(older, embedded_home, tmp_path):
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    installed = subprocess.run(
        [
            str(python),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            f"duckdb=={older}.*",
            "pytz",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if installed.returncode:
        pytest.skip(f"duckdb {older} cannot be installed here: {installed.stderr.strip().splitlines()[-1]}")

    def told(by: str, named: str) -> str:
        command = [by, "-c", OPENS, str(embedded_home.current_database), named, *CALLS]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert told(str(python), older) == told(sys.executable, "2.")
