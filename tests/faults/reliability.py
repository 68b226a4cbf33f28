"""Writes docs/reliability.md: what the suite of faults saw, and that its tests can fail.

Belongs here: running the suite, breaking the code in a copy, and the text of the document. Does not belong
here: any fault or guard (the tests beside this, `code_breaks.py`). Run by `make reliability`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from code_breaks import BREAKS, Break
from fault_report import REPORT

PROJECT = Path(__file__).parents[2]
DOCUMENT = PROJECT / "docs" / "reliability.md"
COPIED = ("pipelines", "sql", "seeds", "tests", "pyproject.toml", "dagster.yaml", "docs", "README.md")
SUITES = ("tests/faults", "tests/strangers")
FAULT = ("fault", "injected", "seen", "lost")
TESTS_FAILED = 1  # exit code of pytest; anything else above zero means that no test was run

HEAD = """# Reliability

What was broken on purpose, what a user sees of it, and what was lost. Written by `make reliability` from a
run of `tests/faults` and `tests/strangers`: every line is what a test has asserted on real processes and
files; none is typed here.

"""
SKIPPED = """
## Not run on the machine that wrote this

"""
BROKEN = """
## The tests can fail

Each guard was broken in a copy of the code, and the test that watches it ran there; `red` means that it
failed.

"""


def main() -> int:
    """Run the suite and each break, write the document; exit code 1 when either goes wrong."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "faults.json"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *SUITES],
            cwd=PROJECT,
            env={**os.environ, REPORT: str(kept)},
            check=False,
        )
        if done.returncode:
            print("the suite of faults is red: nothing is written", file=sys.stderr)
            return 1
        seen = json.loads(kept.read_text(encoding="utf-8"))
        copies = [Path(folder) / str(number) for number in range(len(BREAKS))]
        with ThreadPoolExecutor(2) as two:
            outcomes = list(zip(BREAKS, two.map(broken, BREAKS, copies), strict=True))
    DOCUMENT.write_text(document(seen["faults"], seen["skipped"], outcomes), encoding="utf-8")
    green = [found.guard for found, is_red in outcomes if not is_red]
    for guard in green:
        print(f"no test notices that this is broken: {guard}", file=sys.stderr)
    return 1 if green else 0


def broken(found: Break, copy: Path) -> bool:
    """Break one guard in `copy`, a copy of the project, and run its test there; whether the test failed."""
    copy.mkdir()
    for name in COPIED:
        place = PROJECT / name
        if place.is_dir():
            shutil.copytree(place, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, copy / name)
    file = copy / found.file
    text = file.read_text(encoding="utf-8")
    if text.count(found.code) != 1:
        raise SystemExit(f"{found.file}: the code of {found.guard!r} does not stand there once")
    file.write_text(text.replace(found.code, found.instead), encoding="utf-8")
    print(f"broken: {found.guard}", file=sys.stderr)
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", found.test]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, TESTS_FAILED):
        raise SystemExit(f"{found.test} could not be run:\n{done.stdout[-2000:]}")
    return done.returncode == TESTS_FAILED


def document(
    faults: list[dict[str, Any]], skipped: list[tuple[str, str]], outcomes: list[tuple[Break, bool]]
) -> str:
    """The document as Markdown."""
    seen = (
        (*(line[name] for name in FAULT), str(line["times"]), line["test"].replace(".py::", " "))
        for line in faults
    )
    left_out = [(test.replace(".py::", " "), reason) for test, reason in skipped]
    breaks = (
        (
            found.guard,
            f"`{found.file}`: `{one_line(found.code)}` → `{one_line(found.instead)}`",
            found.test.removeprefix("tests/").replace(".py::", " "),
            "red" if is_red else "green",
        )
        for found, is_red in outcomes
    )
    return (
        HEAD
        + rows(("fault", "injected how", "seen what", "lost what", "times", "test"), seen)
        + (SKIPPED + rows(("test", "why"), left_out) if left_out else "")
        + BROKEN
        + rows(("guard", "broken how", "test", "seen"), breaks)
    )


def rows(header: tuple[str, ...], lines: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table."""
    cells = [header, ("---",) * len(header), *lines]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in cells)


def one_line(code: str) -> str:
    return " ".join(code.split()) or "nothing"


if __name__ == "__main__":
    sys.exit(main())
