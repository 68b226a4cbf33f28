"""Text from outside is bound to a query and never written into it; the lock says what is installed.

Belongs here: what can be read off the code. Does not belong here: how a hostile text looks on the page or
in a file (`test_security_text.py`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from faults.fault_report import Report

from pipelines.home import PROJECT

RUNS_SQL = {"execute", "executemany", "sql", "query"}
# What may stand in the text of a query: names and fragments that are made of our own models and contracts.
# A new one is added here after asking where it comes from.
OURS = {
    "', '.join(names)", "HEADLINE", "_passed_on(connection, name)", "column", "column.name", "columns", "ddl",
    "differs", "joined.source", "keys", "kind", "kind.name", "limit", "loaded", "macro.name", "model.name",
    "model.schema", "name", "nulls", "raw", "rest", "schema", "self.source", "side", "table", "where",
}  # fmt: skip
# Between quotes stands only what doubles every quote, by a call or by the line that made it.
DOUBLES_QUOTES = re.compile(r"_?quoted\(|\.replace\((\"'\"|chr\(39\)), (\"''\"|chr\(39\) \* 2)\)|_quoted\(")
CONSTANTS = {"storage_version"}


def interpolated(file: Path) -> Iterator[tuple[int, str, str, bool]]:
    """Line, function, expression and whether it stands between quotes, of what is written into queries."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr in RUNS_SQL and call.args):
            continue
        around = [f for f in functions if f.lineno <= call.lineno <= (f.end_lineno or f.lineno)]
        source = ast.unparse(around[-1]) if around else ""
        for text in (node for node in ast.walk(call.args[0]) if isinstance(node, ast.JoinedStr)):
            before = ""
            for part in text.values:
                if isinstance(part, ast.FormattedValue):
                    yield call.lineno, source, ast.unparse(part.value), before.endswith("'")
                else:
                    before = str(part.value)  # type: ignore[attr-defined]


def is_doubled(expression: str, function: str) -> bool:
    made = re.search(rf"^\s*{re.escape(expression)} = .*$", function, re.MULTILINE)
    return bool(DOUBLES_QUOTES.search(expression) or (made and DOUBLES_QUOTES.search(made[0])))


def test_no_text_from_outside_is_written_into_a_query(report: Report) -> None:
    found, wrong = 0, []
    for file in sorted((PROJECT / "pipelines").rglob("*.py")):
        for line, function, expression, in_quotes in interpolated(file):
            found += 1
            fine = (
                expression in CONSTANTS or is_doubled(expression, function)
                if in_quotes
                else expression in OURS or is_doubled(expression, function)
            )  # fmt: skip
            if not fine:
                wrong.append(f"{file.name}:{line}: {expression}")
    assert found > 40
    assert wrong == []
    report(
        "somebody writes a value from outside into the text of a query",
        "every query of the code is read: what is written into it, and whether between quotes",
        "names of our own models and contracts alone; between quotes only what doubles every quote",
        wrong,
    )


def test_every_requirement_is_pinned_and_no_index_is_named(report: Report) -> None:
    lines = [
        line
        for line in (PROJECT / "requirements.lock").read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.lstrip().startswith(("#", "--hash="))
    ]
    pins = [line.removesuffix("\\").strip().partition(" ;")[0] for line in lines]
    loose = [
        pin for pin in pins if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*(\[[a-z,]+\])?==[0-9][\w.+!]*", pin)
    ]
    assert len(pins) > 50
    assert loose == []
    text = (PROJECT / "requirements.lock").read_text(encoding="utf-8")
    assert not re.search(r"://|--(extra-)?index|--find-links|--trusted-host", text)
    report(
        "another version of a library is installed than the one that was tried",
        "the lock is read: a requirement without ==, an address, an index",
        "every requirement has one version; no address and no index",
        loose,
    )
