"""docs/reliability.md tells of the suite of faults as it is; what breaks its guards stands in the code."""

from __future__ import annotations

import re

import pytest
from faults.code_breaks import BREAKS, Break
from faults.fault_report import FOLDERS

from pipelines.home import PROJECT


@pytest.fixture(scope="module")
def document() -> str:
    return (PROJECT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_the_document_names_every_test_of_the_suites_and_none_that_is_gone(document):
    tests = {
        f"{path.stem} {name}"
        for folder in FOLDERS
        for path in folder.glob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    faults, _, breaks = document.partition("## The tests can fail")
    told = set(re.findall(r"\| (test_\w+ test_\w+) \|", faults))
    assert told == tests, "run `make reliability`"
    assert breaks.count("| red |") == len(BREAKS) >= 10
    assert "| green |" not in breaks
    for found in BREAKS:
        assert f"| {found.guard} |" in breaks, "run `make reliability`"


def test_nothing_is_lost_by_any_fault(document):
    table = document.partition("| --- |")[2].partition("\n\n")[0].splitlines()[1:]
    lost = {re.split(r" (?<!\\)\| ", line)[3] for line in table if line.startswith("| ")}
    assert lost == {"nothing"}


@pytest.mark.parametrize("found", BREAKS, ids=lambda found: found.guard)
def test_what_a_break_changes_stands_in_the_code_once(found: Break):
    assert (PROJECT / found.file).read_text(encoding="utf-8").count(found.code) == 1
    path, _, name = found.test.partition("::")
    tests = (PROJECT / path).read_text(encoding="utf-8")
    assert not name or f"def {name.partition('[')[0]}(" in tests
