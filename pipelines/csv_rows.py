"""Rows as CSV that a program reads back as they were, and that a spreadsheet does not run.

Belongs here: quoting, and what keeps a text of the outside world from being a formula. Does not belong here:
which rows, and how a number or a day is written (`answers.py`).

NULL is an empty cell and an empty text a quoted one, `""`. A text that a spreadsheet would take for a formula
has one apostrophe before it. To undo it, take one apostrophe from every cell that apostrophes and then one of
= + - @ tab CR begin; texts that begin so by themselves have one more, so nothing else is undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TextIO

FORMULA = re.compile(r"'*[=+\-@\t\r]")
WANTS_QUOTES = re.compile(r'[",\r\n]|^$')


def write(stream: TextIO, names: Iterable[str], rows: Iterable[Iterable[str | None]]) -> None:
    """Write a header and one line a row; cells are texts as they shall stand, None is NULL."""
    stream.write(_line(names))
    for row in rows:
        stream.write(_line(row))


def harmless(text: str) -> str:
    """`text`, with an apostrophe before it where a spreadsheet would run it."""
    return f"'{text}" if FORMULA.match(text) else text


def _line(cells: Iterable[str | None]) -> str:
    # Not csv.writer: before Python 3.12 it cannot tell NULL from an empty text.
    return ",".join("" if cell is None else _quoted(cell) for cell in cells) + "\n"


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if WANTS_QUOTES.search(cell) else cell
