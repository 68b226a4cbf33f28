"""What the suites of faults and of strangers saw: a line for each, printed when a run ends, kept on request.

Belongs here: taking down what a test saw, and the table of it. Does not belong here: any fault (the tests
beside this and in `tests/strangers`) and the document (`reliability.py`). A test there that passes and takes
nothing down has shown nothing, and fails.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Generator, Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

# What breaks by itself, and what comes from outside.
FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "strangers")
COLUMNS = ("test", "fault", "injected", "seen", "lost")
# Where the lines are written as JSON, for `make reliability`.
REPORT = "TOKENYIELD_FAULT_REPORT"

Report = Callable[[str, str, str, Collection[object]], None]


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """Take down a fault, after everything has been asserted: `report(fault, injected, seen, lost)`.

    `fault` is what goes wrong, `injected` how the test makes it, `seen` what a user sees of it, without
    paths, process ids or times, so that every run writes the same; `lost` the things that were there before
    and are not any more, as the test found them: empty is written as "nothing".
    """
    test = f"{request.node.path.name}::{request.node.originalname}"

    def take_down(fault: str, injected: str, seen: str, lost: Collection[object]) -> None:
        told = ", ".join(sorted(map(str, lost))) or "nothing"
        line = dict(zip(COLUMNS, (test, fault, injected, seen, told), strict=True))
        request.node.user_properties.append(("fault", line))

    return take_down


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Fail a test of these folders that passed and took nothing down."""
    outcome = yield
    of_faults = pyfuncitem.path.parent in FOLDERS
    if of_faults and not any(name == "fault" for name, _ in pyfuncitem.user_properties):
        pytest.fail("this test of a fault has taken nothing down: call report(...) at its end")
    return outcome


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table of faults, and keep it where `make reliability` asks for it."""
    passed = terminalreporter.stats.get("passed", [])
    properties = (found for result in passed for found in result.user_properties)
    lines = table(line for name, line in properties if name == "fault")
    if lines:
        terminalreporter.section("faults survived")
    for line in lines:
        told = "{fault} | {injected} | {seen} | lost: {lost}".format(**line)
        terminalreporter.write_line(told + (f" | {line['times']} times" if line["times"] > 1 else ""))
    if path := os.environ.get(REPORT):
        skipped = sorted({_skipped(found) for found in terminalreporter.stats.get("skipped", [])})
        kept = json.dumps({"faults": lines, "skipped": skipped}, indent=2)
        Path(path).write_text(kept + "\n", encoding="utf-8")


def _skipped(found: Any) -> tuple[str, str]:
    """The test that was skipped, and why."""
    reason = found.longrepr[2] if isinstance(found.longrepr, tuple) else str(found.longrepr)
    return found.nodeid.rpartition("/")[2].partition("[")[0], reason.removeprefix("Skipped: ")


def table(lines: Iterable[dict[str, str]]) -> list[dict[str, Any]]:
    """The lines in the order of their columns; equal ones once, with how many `times` they came."""

    def key(line: dict[str, str]) -> tuple[str, ...]:
        return tuple(line[name] for name in COLUMNS)

    return [
        dict(zip(COLUMNS, found, strict=True)) | {"times": len(list(equal))}
        for found, equal in groupby(sorted(lines, key=key), key=key)
    ]
