"""The command line as a stranger meets it: rows on standard output, one line where something is wrong."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from rich.console import Console

from pipelines import answers, completion
from pipelines.home import PROJECT, Home
from pipelines.source import all_sources

FIXTURES = Path(__file__).parent / "fixtures"
# gcp_machine_prices proves its moment itself; the price list of OCI wants one in its name.
GCP, OCI = FIXTURES / "gcp_machine_prices" / "payload.yml", FIXTURES / "oci_price_list" / "payload.json"


def tokenyield(
    home: Path | str, *arguments: str, cwd: Path = PROJECT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(PROJECT), "TOKENYIELD_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def one_error(done: subprocess.CompletedProcess[str]) -> str:
    """The single line of a named error; nothing on standard output, no traceback."""
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    return lines[0]


def usage_error(done: subprocess.CompletedProcess[str]) -> str:
    """What is said of a wrong command line, without the box that it is drawn in."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return " ".join(done.stderr.replace("│", " ").split())


# Rows

MIXED = (
    "select 1 as n, 'a,\"b' as words, cast(2.490 as decimal(18, 6)) as usd, 0.1 + 0.2::double as ratio, "
    "null as nothing, date '2026-11-30' as day, timestamptz '2026-11-29 23:30:00-05:00' as seen, true as yes"
)


def test_rows_as_csv(embedded_home):
    done = tokenyield(embedded_home.root, "sql", MIXED, "--format", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    header, row = csv.reader(io.StringIO(done.stdout))
    assert header == ["n", "words", "usd", "ratio", "nothing", "day", "seen", "yes"]
    assert row == [
        "1",
        'a,"b',
        "2.49",
        "0.30000000000000004",
        "",
        "2026-11-30",
        "2026-11-30T04:30:00+00:00",
        "True",
    ]


def test_rows_as_json(embedded_home):
    done = tokenyield(embedded_home.root, "sql", MIXED, "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [
        {
            "n": 1,
            "words": 'a,"b',
            "usd": 2.49,
            "ratio": 0.30000000000000004,
            "nothing": None,
            "day": "2026-11-30",
            "seen": "2026-11-30T04:30:00+00:00",
            "yes": True,
        }
    ]


def test_rows_as_a_table(embedded_home):
    done = tokenyield(
        embedded_home.root, "sql", "select 'x [bold]y' as gpu_name, 2.49 as usd union all select 'z', 10"
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert lines[0].split() == ["gpu", "name", "usd"]
    assert lines[2].split() == ["x", "[bold]y", "2.49"]
    assert lines[3].split() == ["z", "10"]


def test_a_query_is_read_from_a_file(embedded_home, tmp_path):
    file = tmp_path / "question.sql"
    file.write_text("-- How many chips are there?\nselect count(*) as chip_count from mart.chip;\n")
    done = tokenyield(embedded_home.root, "sql", "--file", str(file), "--format", "csv")
    assert done.returncode == 0, done.stderr
    header, count = done.stdout.split()
    assert (header, int(count) > 40) == ("chip_count", True)
    assert "nowhere.sql" in one_error(tokenyield(embedded_home.root, "sql", "--file", "nowhere.sql"))


def test_no_rows_are_a_header_or_an_empty_list(embedded_home):
    nothing = "select chip_id from mart.chip where false"
    assert tokenyield(embedded_home.root, "sql", nothing, "--format", "csv").stdout == "chip_id\n"
    assert json.loads(tokenyield(embedded_home.root, "sql", nothing, "--format", "json").stdout) == []


@pytest.mark.parametrize(
    "values",
    [
        "cast('inf' as double) as a, cast('-inf' as double) as b, cast('nan' as double) as c",
        "interval 1 day as a, time '10:00:00' as b",
        "[2.49, 1] as a, {'usd': 2.49, 'day': date '2026-11-30'} as b",
        "'x'::blob as a, uuid '00000000-0000-0000-0000-000000000001' as b",
    ],
)
def test_every_value_becomes_valid_json(embedded_home, values):
    done = tokenyield(embedded_home.root, "sql", f"select {values}", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    (row,) = json.loads(done.stdout, parse_constant=refuse)
    assert list(row) == ["a", "b", "c"][: len(row)]


def test_a_number_that_is_not_finite_is_null_in_json(embedded_home):
    done = tokenyield(embedded_home.root, "sql", "select cast('nan' as double) as v", "--format", "json")
    assert json.loads(done.stdout) == [{"v": None}]


def test_text_from_outside_is_no_markup_in_a_table(embedded_home):
    done = tokenyield(embedded_home.root, "sql", "select '[link=http://x]click[/link] [/]' as v")
    assert done.returncode == 0
    assert "[link=http://x]click[/link] [/]" in done.stdout


def test_sources_are_listed_with_their_state(embedded_home):
    done = tokenyield(embedded_home.root, "sources", "--format", "csv")
    assert done.returncode == 0, done.stderr
    found = {row["source"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert found["list_prices"]["status"] == "ok"
    assert found["list_prices"]["rows"] == "29"
    assert found["inferencex"]["status"] == "empty"


def test_the_state_of_payloads_is_told_with_the_age_of_the_copy(embedded_home):
    done = tokenyield(embedded_home.root, "status", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert {row["source"]: row["accepted"] for row in json.loads(done.stdout)} == {
        "articles": 12,
        "deepseek": 9,
        "inferencex_constants": 65,
        "corrections": 0,
        "inferencex_points": 90,
        "list_prices": 29,
        "published_indices": 21,
    }
    assert "facts as of 2026-11-30T12:00:00+00:00" in " ".join(done.stderr.split())
    assert "0 alerts stand (mart.alert)" in done.stderr


# Errors


def test_sources_are_listed_before_anything_is_published(tmp_path):
    done = tokenyield(tmp_path / "none", "sources", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    found = {row["source"]: row for row in json.loads(done.stdout)}
    assert found["oci_price_list"]["live"] == "on"
    assert found["vast"]["live"].startswith("off: its terms forbid it")
    assert found["lambda_cloud"]["live"] == "off: LAMBDA_API_KEY is not set"


@pytest.mark.parametrize("command", [["sql", "select 1"], ["status"]])
def test_where_nothing_is_published_the_cure_is_named(tmp_path, command):
    error = one_error(tokenyield(tmp_path / "none", *command))
    assert "nothing is published" in error
    assert "tokenyield build" in error
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("query", "named"),
    [("select nonsense from mart.chip", "nonsense"), ("selec 1", "selec"), ("from mart.no", "no")],
)
def test_bad_sql_is_an_error_that_says_where(embedded_home, query, named):
    done = tokenyield(embedded_home.root, "sql", query)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
    assert named in done.stderr


def test_the_published_copy_cannot_be_changed(embedded_home):
    done = tokenyield(embedded_home.root, "sql", "delete from mart.chip")
    assert done.returncode == 1
    assert "read-only" in done.stderr


@pytest.mark.parametrize("command", [["import", "nosuch", str(GCP)], ["fetch", "nosuch"]])
def test_an_unknown_source_is_refused_with_the_known_ones(tmp_path, command):
    error = usage_error(tokenyield(tmp_path, *command))
    assert "no source is named 'nosuch'" in error
    assert "gcp_machine_prices" in error


def test_a_file_of_another_source_is_refused(tmp_path):
    error = one_error(
        tokenyield(tmp_path, "import", "gcp_machine_prices", str(OCI), "--observed-at", "2026-04-01")
    )
    assert "payload.json: not a payload of gcp_machine_prices" in error
    assert list(tmp_path.rglob("sidecar.json")) == []


def test_a_file_that_is_not_there_or_has_no_moment_is_refused(tmp_path):
    assert "none.yml: No such file" in one_error(
        tokenyield(tmp_path, "import", "gcp_machine_prices", "none.yml")
    )
    assert "--observed-at YYYY-MM-DD" in one_error(tokenyield(tmp_path, "import", "oci_price_list", str(OCI)))


def test_a_file_is_imported_with_its_accounts(tmp_path):
    done = tokenyield(tmp_path, "import", "oci_price_list", str(OCI), "--observed-at", "2026-04-01")
    assert (done.returncode, done.stdout) == (0, "")
    told, hint = done.stderr.strip().splitlines()
    assert told.startswith("payload.json: stored as oci_price_list/20260401T000000Z-")
    numbers = [int(word) for word in told.split(": ", 2)[2].split() if word.isdigit()]
    assert numbers[0] == sum(numbers[1:])
    assert "tokenyield build" in hint
    again = tokenyield(tmp_path, "import", "oci_price_list", str(OCI), "--observed-at", "2026-04-01")
    assert "already stored" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["build", "--as-of", "yesterday"], "'yesterday' is no YYYY-MM-DD and no ISO instant"),
        (["build", "--as-of", "2026-02-30"], "'2026-02-30' is no YYYY-MM-DD"),
        (["build", "--as-of", "2026-11-30T12:00:00"], "names no time zone"),
        (["import", "oci_price_list", str(OCI), "--observed-at", "1.4.2026"], "is no YYYY-MM-DD"),
        (["sql"], "a query or --file"),
        (["sql", "select 1", "--file", "query.sql"], "a query or --file"),
        (["sql", "select 1", "--format", "xml"], "xml"),
        (["nosuch"], "nosuch"),
    ],
)
def test_a_wrong_command_line_is_refused(tmp_path, arguments, complaint):
    assert complaint in usage_error(tokenyield(tmp_path, *arguments))
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_text_is_refused(embedded_home, tmp_path):
    file = tmp_path / "question.sql"
    file.write_bytes(b"select '\xff'")
    assert "no text in UTF-8" in usage_error(tokenyield(embedded_home.root, "sql", "--file", str(file)))


@pytest.mark.parametrize("command", [["build"], ["import", "gcp_machine_prices", str(GCP)]])
def test_a_home_that_cannot_be_is_an_error_in_one_line(tmp_path, command):
    (tmp_path / "file").write_text("in the way")
    assert "file" in one_error(tokenyield(tmp_path / "file", *command))


def test_a_version_that_was_damaged_is_an_error_in_one_line(tmp_path):
    version = tmp_path / "published" / "current"
    version.mkdir(parents=True)
    (version / "tokenyield.duckdb").write_bytes(b"no database\n" * 400)
    assert "tokenyield.duckdb" in one_error(tokenyield(tmp_path, "sql", "select 1"))


# Where it runs


def test_the_working_directory_does_not_matter(embedded_home, tmp_path):
    query = ["sql", "select count(*) as chips from mart.chip", "--format", "csv"]
    here, there = (tokenyield(embedded_home.root, *query, cwd=cwd) for cwd in (PROJECT, tmp_path))
    assert here.stdout == there.stdout != ""
    assert list(tmp_path.iterdir()) == []


def test_a_relative_home_is_meant_from_where_one_stands(embedded_home: Home):
    done = tokenyield(
        embedded_home.root.name, "sql", "select 1 as a", "--format", "csv", cwd=embedded_home.root.parent
    )
    assert (done.returncode, done.stdout) == (0, "a\n1\n")


def test_a_home_is_an_absolute_path_whatever_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for named, meant in (("state", "state"), ("~/state", "person/state"), ("a/../b", "b")):
        monkeypatch.setenv("TOKENYIELD_HOME", named)
        assert Home.from_environment().root == tmp_path / meant
    monkeypatch.setenv("TOKENYIELD_HOME", "")
    assert Home.from_environment().root == PROJECT / "var"


def test_the_zone_of_the_host_does_not_matter(embedded_home):
    query = "select cast(timestamptz '2026-11-29 23:30:00-05:00' as date) as day"
    done = tokenyield(embedded_home.root, "sql", query, "--format", "csv", TZ="America/New_York")
    assert done.stdout == "day\n2026-11-30\n"


def test_a_reader_that_stops_early_is_no_error(embedded_home):
    done = subprocess.run(
        f'"{sys.executable}" -m pipelines.cli sql "select range from range(200000)" --format csv | head -1',
        shell=True,
        cwd=PROJECT,
        env={**os.environ, "TOKENYIELD_HOME": str(embedded_home.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "range\n"
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_query_does_not_wait_for_dagster(embedded_home):
    code = (
        "import sys\nfrom pipelines import cli\n"
        "cli.app(['sql', 'select 1', '--format', 'csv'], standalone_mode=False)\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('dagster', 'sqlglot', 'polars')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={**os.environ, "TOKENYIELD_HOME": str(embedded_home.root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_help_names_every_command_and_exits_well(tmp_path):
    done = tokenyield(tmp_path, "--help")
    assert done.returncode == 0
    for command in ("build", "fetch", "import", "sql", "sources", "status", "schedule", "serve", "dev"):
        assert f"│ {command} " in done.stdout


@pytest.mark.parametrize("width", ["80", "120"])
@pytest.mark.parametrize("command", [[], ["import"], ["explain"], ["reproduce"], ["cost"]])
def test_help_breaks_its_lines_where_the_terminal_ends(tmp_path, command, width):
    """A line of prose that is followed by more of its paragraph is as full as its words allow."""
    done = tokenyield(tmp_path, *command, "-h", COLUMNS=width)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= int(width)
    prose = [line.strip() for line in lines[: next(n for n, line in enumerate(lines) if line[:1] == "╭")]]
    for line, after in pairwise(prose):
        if line and after and not line.startswith("Usage"):
            assert len(line) + 1 + len(after.split()[0]) > int(width) - 3, (line, after)


# What the shell offers


def offered(home: Path | str, *words: str) -> list[str]:
    """What a shell that completes asks of the command, whose last word is half typed."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.argv = ['tokenyield']; from pipelines import cli; cli.main()",
        ],
        cwd=PROJECT,
        env={
            **os.environ,
            "TOKENYIELD_HOME": str(home),
            "_TOKENYIELD_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["tokenyield", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_the_shell_offers_what_there_is(embedded_home):
    root = embedded_home.root
    assert offered(root, "sche") == ["schedule"]
    assert offered(root, "cost", "--chip", "h100-s") == ["h100-sxm-80"]
    assert offered(root, "cost", "--model", "deepseek-r1-0") == ["deepseek-r1-0528"]
    assert offered(root, "cost", "--workload", "fixed-8192-1") == ["fixed-8192-1024"]
    assert offered(root, "fetch", "oci") == offered(root, "import", "oci") == ["oci_price_list"]
    assert offered(root, "reproduce", "cur") == ["current"]


def test_the_sources_that_the_shell_offers_are_the_sources():
    assert completion.sources("") == sorted(all_sources())


def test_where_nothing_is_published_the_shell_is_offered_nothing(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for home in (tmp_path / "new", file):
        assert offered(home, "cost", "--chip", "h") == []
        assert offered(home, "reproduce", "c") == []


# What was meant


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("from mart.chp", '"chip"'),
        ("select chipid from mart.chip", '"chip_id"'),
        ("from mart.cheapest_att(42)", '"cheapest_at"'),
    ],
)
def test_an_error_of_a_query_says_what_may_have_been_meant(embedded_home, query, meant):
    assert meant in one_error(tokenyield(embedded_home.root, "sql", query))


def test_a_name_that_is_near_another_is_told_that_one(tmp_path):
    assert "near it: oci_price_list" in usage_error(tokenyield(tmp_path, "fetch", "oci_price_lst"))
    assert "Did you mean 'build'" in usage_error(tokenyield(tmp_path, "buld"))


# What fits a terminal

WIDE = ["chip_id", "note", "before_value_tok_s_gpu", "after_value_tok_s_gpu", "cause"]


def printed(rows: list[tuple[object, ...]], width: int) -> list[str]:
    out = Console(file=io.StringIO(), width=width, highlight=False)
    answers.print_rows(WIDE, rows, "table", out)
    return [line.rstrip() for line in out.file.getvalue().splitlines() if line.strip()]


ROW = ("h200-sxm-141", "https://example.org/a/very/long/address", 596.123456, 848.5, "software")


def test_rows_that_fit_are_a_table():
    lines = printed([ROW] * 2, 120)
    assert len(lines) == 4  # headers, a rule, two rows
    assert lines[-1].split() == ["h200-sxm-141", ROW[1], "596.123456", "848.5", "software"]


def test_a_few_rows_that_do_not_fit_are_told_one_by_one():
    lines = printed([ROW] * 2, 70)
    assert lines[0].startswith("1 of 2 -")
    assert lines[6].startswith("2 of 2 -")
    assert lines[3].split() == ["before", "value", "tok", "s", "gpu", "596.123456"]


def test_of_many_rows_the_columns_that_fit_are_shown_and_the_others_named():
    lines = printed([ROW] * 9, 41)
    rows = [line for line in lines if line.startswith("h200")]
    assert [row.split() for row in rows] == [["h200-sxm-141", "596.123456", "848.5", "software"]] * 9
    told = " ".join(lines[lines.index(rows[0]) + 9 :])
    assert told == "not shown, for want of width: note; --format csv or json has them"


def test_no_value_is_broken_where_words_may_be():
    lines = printed([(*ROW[:4], "the software was another one and the model too")] * 9, 130)
    assert all("596.123456" in line for line in lines if line.startswith("h200"))
    assert sum(line.startswith("h200") for line in lines) == 9
