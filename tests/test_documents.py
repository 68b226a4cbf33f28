"""What the documents say can be done: every command in them is run, or stands in a list with its reason.

Commands are the lines of ```sh blocks, run in a process of their own against the embedded default; ```sql and
```python blocks are run too. Where a tool is not ours, the file that its connection string opens is tested.
What the answers must be stands in the tests of what answers.
"""

from __future__ import annotations

import csv
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest
from test_cli import tokenyield

from pipelines import dictionary, run
from pipelines.cli import app
from pipelines.home import PROJECT, SQL, Home

pytestmark = pytest.mark.slow  # starts a process for each command

# Its example of a source is run by test_newcomer.py, in a copy of the project.
GUIDE = PROJECT / "CONTRIBUTING.md"
DOCUMENTS = [PROJECT / "README.md", GUIDE, *sorted((PROJECT / "docs").glob("*.md"))]
# Commands that are not run here, each with the reason; `make` targets are at least asked for by `make -n`.
NOT_RUN = {
    "make run": "installs; the embedded home is built by the same steps",
    "make test": "runs this very test",
    ".venv/bin/tokenyield status --max-age 26h": "tests/faults/test_watching_status.py",
    "make reliability": "runs suites that .ci/run runs",
    "make check": "a step of .ci/run, on the whole project",
    "make dev": "serves until it is stopped",
    "TOKENYIELD_CRON_MODEL=*/10 * * * * make dev": "serves until it is stopped",
    "bash .ci/run": "runs this very test",
    ".venv/bin/python -m pytest tests/test_sources.py -k newcomer": "test_newcomer.py",
    ".venv/bin/tokenyield import newcomer tests/fixtures/newcomer/payload.json --observed-at 2026-11-29": (
        "test_newcomer.py"
    ),
    ".venv/bin/tokenyield sql select provider_id, chip_id, usd_per_gpu_hour from mart.rental_price_daily "
    "where source = 'newcomer'": "test_newcomer.py",
    ".venv/bin/tokenyield fetch oci_price_list": "network",
    ".venv/bin/tokenyield --install-completion": "writes into the user's shell; test_completion.py",
    ".venv/bin/tokenyield serve --port 8787": "serves until it is stopped; test_serve.py",
    ".venv/bin/tokenyield import SOURCE PATH...": "a form to fill in",
    ".venv/bin/tokenyield rebuild": "a minute; faults/test_warehouse_rebuilt.py",
    ".venv/bin/tokenyield build": "a minute; the embedded home is built by the same steps",
    ".venv/bin/tokenyield reproduce": "half a minute; test_reproduce.py",
    ".venv/bin/tokenyield reproduce 2026-11-30": "a build; test_reproduce.py",
}
# Good news or no news: these queries may find nothing.
MAY_BE_EMPTY = ("mart.drift", "mart.missed_record", "mart.alert", "clean.unmapped_name", "mart.rejected_row")
MAY_BE_EMPTY += ("mart.source_health",)
# How the methods' document words each parameter of seeds/method_parameter.csv, `{0}` being its value.
WORDED = {
    "headline max_ttft_p50_ms": "median over {0:.0f} s",
    "headline max_point_age_days": "`point_too_old` ({0:.0f} days)",
    "price provider_quote_max_age_days": "| {0:.0f} days | provider quotes",
    "price component_missing_share": "below {0:.0%} of the median of the",
    "price max_anomaly_share": "more than {0:.0%} of what should be",
    "price min_anomalies": "(and at least {0:.0f})",
    "price min_accepted_share_of_usual": "brings less than {0:.0%} of the median",
    "price usual_payloads": "of the {0:.0f} payloads stored before it",
    "price min_usual_payloads": "(of at least {0:.0f}, and",
    "price min_usual_accepted": "and {0:.0f} prices)",
    "price max_usd_without_band": "else {0:.0f} USD",
    "index min_providers": "**Minimum**: {0:.0f} fresh votes",
    "index sd_floor_share": "and {0:.0%} of `p`",
    "index sd_min_votes": "with at least {0:.0f} accepted votes",
    "index sd_window_days": "over the {0:.0f} days before",
    "index vote_max_age_days": "carried for at most {0:.0f} days",
    "index marketplace_min_machines": "Fewer than {0:.0f} machines",
    "index marketplace_min_hosts": "or {0:.0f} hosts",
    "index outlier_sds": "further than {0:.0f} of the larger",
    "index others_move_share": "moved by {0:.0%} or more",
    "index others_needed": "at least {0:.0f} other providers",
    "frontier max_bracket_speed_ratio": "speeds are more than {0:.0f} x",
    "frontier max_bracket_throughput_ratio": "throughputs more than {0:.0f} x",
    "frontier grid_slowest": "grid of {0:.0f} to",
    "frontier grid_fastest": "to {0:.0f} tok/s in steps",
    "frontier grid_step": "in steps of {0:.0f}",
    "frontier interpolation_error_share": "curve {0:.2f} where interpolated",
    "frontier noise_share": "noise {0:.2f};",
    "eligibility min_success_share": "at least {0:.0%} of planned requests",
    "eligibility max_accuracy_fall": "More than {0:.2f} below it",
}
# Parameters of what other documents say, or of warnings alone.
NOT_WORDED = {
    "price warned_anomaly_share",
    "eligibility max_cold_cache_hit_rate",
    "alert headline_move_share",
    "alert missed_record_days",
    "alert failed_look_hours",
}
LANGUAGES = {"sh", "sql", "python", "text", "csv", "r", "yaml", "json"}


@dataclass(frozen=True)
class Block:
    """One fenced block: where it begins, its language and its text."""

    document: Path
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """A test's id, the same in every process."""
        return f"{self.document.stem}-{self.line}"


def blocks(document: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a document; a fence may be indented in a list."""
    text = document.read_text(encoding="utf-8")
    for found in re.finditer(r"(?ms)^( *)```(\w*)\n(.*?)^\1```$", text):
        yield Block(document, text.count("\n", 0, found.start()) + 1, found[2], found[3])


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the commands of a shell block as words, comments left out; one may go over several lines."""
    waiting = ""
    for line in block.text.splitlines():
        if line.endswith("\\"):  # one command goes on in the next line
            waiting += line[:-1]
            continue
        waiting += line + "\n"
        try:
            words = shlex.split(waiting, comments=True)
        except ValueError:  # a quotation that goes on
            continue
        waiting = ""
        if words:
            yield words
    assert not waiting, f"{block.name}: a quotation is not closed"


BLOCKS = [block for document in DOCUMENTS for block in blocks(document)]
COMMANDS: dict[str, list[str]] = {}
for _block in BLOCKS:
    if _block.language == "sh":
        for _words in commands(_block):
            COMMANDS.setdefault(" ".join(_words), _words)
RUN = {text: words for text, words in COMMANDS.items() if text not in NOT_RUN}


def of_language(language: str) -> pytest.MarkDecorator:
    """One test for each block of a language."""
    found = [block for block in BLOCKS if block.language == language and block.document != GUIDE]
    return pytest.mark.parametrize("block", found, ids=[block.name for block in found])


@pytest.fixture(scope="module")
def copy(embedded_home: Home) -> Iterator[duckdb.DuckDBPyConnection]:
    """The published copy, opened as a connection string of the documents opens it."""
    config = {"access_mode": "READ_ONLY"}
    with duckdb.connect(str(embedded_home.current_database), config=config) as connection:
        connection.execute("set TimeZone = 'UTC'")
        yield connection


def home_for(words: list[str], embedded_home: Home, scratch: Path) -> Path:
    """The embedded default to read; a home of its own for a command that writes."""
    if words[1] == "import":
        return scratch / "home"
    if words[1] == "schedule":
        (scratch / "dagster").mkdir()
        return scratch
    return embedded_home.root


def test_there_are_commands_and_the_list_of_those_not_run_is_no_longer_than_needed() -> None:
    assert len(RUN) > 20
    assert {block.language for block in BLOCKS} <= LANGUAGES
    assert NOT_RUN.keys() <= COMMANDS.keys(), sorted(NOT_RUN.keys() - COMMANDS.keys())


@pytest.mark.parametrize(
    "words", RUN.values(), ids=[f"{n}-{words[1]}" for n, words in enumerate(RUN.values())]
)
def test_a_command_does_what_it_says(words: list[str], embedded_home: Home, tmp_path: Path) -> None:
    assert words[0] == ".venv/bin/tokenyield", "run it here, or name it in NOT_RUN with the reason"
    (own,) = [block.text for block in BLOCKS if block.language == "csv" and block.document != GUIDE]
    (tmp_path / "my_prices.csv").write_text(own, encoding="utf-8")
    arguments = [str(tmp_path / word) if word == "my_prices.csv" else word for word in words[1:]]
    done = tokenyield(home_for(words, embedded_home, tmp_path), *arguments)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if words[1] == "sql" and not any(table in " ".join(words) for table in MAY_BE_EMPTY):
        header = 1 if "csv" in words else 2
        assert len(lines) > header, f"no rows: {' '.join(words)}"
    if words[1] == "import":
        assert "1 candidates = 1 accepted" in done.stderr


@pytest.mark.parametrize("text", [text for text in COMMANDS if "make " in text])
def test_a_target_of_make_is_there(text: str) -> None:
    target = text.split()[-1]
    done = subprocess.run(["make", "-n", target], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@of_language("sql")
def test_a_query_is_answered(block: Block, copy: duckdb.DuckDBPyConnection) -> None:
    rows = copy.execute(block.text).fetchall()
    assert rows or block.text.startswith("set ")


@of_language("python")
def test_a_snippet_of_python_runs(block: Block, embedded_home: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-c", block.text],
        cwd=PROJECT,
        env={**os.environ, "TOKENYIELD_HOME": str(embedded_home.root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() not in ("", "[]", "0")


def test_the_file_behind_every_connection_string_is_there_and_cannot_be_written(
    embedded_home: Home, copy: duckdb.DuckDBPyConnection
) -> None:
    text = "\n".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    named = set(re.findall(r"(?:\bcurrent|127\.0\.0\.1:8787)/([\w/]+\.\w+)", text))
    assert "tokenyield.duckdb" in named
    for file in sorted(named):
        assert (embedded_home.published / "current" / file).is_file(), file
    with pytest.raises(duckdb.InvalidInputException, match="read-only"):
        copy.execute("create table mine as select 1 as one")


def test_every_link_between_documents_leads_somewhere() -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", text):
            file = document.parent / target if target else document
            assert file.is_file(), f"{document.name}: {target}"
            if anchor:
                heads = re.findall(r"(?m)^#+ (.+)$", file.read_text(encoding="utf-8"))
                slugs = [re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads]
                assert anchor in slugs, f"{document.name}: {target}#{anchor}"


def test_every_table_macro_and_command_that_a_document_names_is_there() -> None:
    tables = {*run.models(), *(macro.name for macro in run.macros())}
    there = {c.name or c.callback.__name__ for c in app.registered_commands}
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")
        named = set(re.findall(r"\b((?:mart|core|clean)\.[a-z]\w+)\b(?!<)", text))
        assert named <= tables, f"{document.name}: {sorted(named - tables)}"
        asked = set(re.findall(r"(?:`|bin/)tokenyield ([a-z]+)", text))
        assert asked <= there, f"{document.name}: {sorted(asked - there)}"


def test_every_mart_is_named_in_a_document() -> None:
    text = "\n".join(document.read_text(encoding="utf-8") for document in DOCUMENTS)
    marts = {name for name in run.models() if name.startswith("mart.")}
    assert sorted(name for name in marts if not re.search(rf"\b{name}\b", text)) == []


def test_the_methods_are_told_with_the_parameters_that_they_have() -> None:
    text = " ".join((PROJECT / "docs" / "methodology.md").read_text(encoding="utf-8").split())
    text = text.replace(" %", "%")
    with (PROJECT / "seeds" / "method_parameter.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert {f"{row['method']} {row['parameter']}" for row in rows} == WORDED.keys() | NOT_WORDED
    for row in rows:
        name, value = f"{row['method']} {row['parameter']}", float(row["value"])
        if name in WORDED:
            value = value / 1000 if row["unit"] == "ms" else value
            assert WORDED[name].format(value) in text, name
    for method in {row["method"] for row in rows} - {"alert"}:
        assert f"{method} v1" in text


def test_the_dictionary_of_the_repository_is_what_the_models_say() -> None:
    stored = (SQL / "DICTIONARY.md").read_text(encoding="utf-8")
    assert stored == dictionary.render(run.models(), run.macros()), "stale: run `make dictionary`"
