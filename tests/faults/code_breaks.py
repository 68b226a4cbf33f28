"""Guards of the code, each with the change that breaks it and the test that must go red then.

Belongs here: the list alone. `make reliability` makes each change in a copy of the project and runs its test;
`test_documents.py` sees that each place still stands in the code once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Break:
    """`code` stands once in `file`; with `instead` in its place, `test` fails. `guard`: what it is for."""

    guard: str
    file: str
    code: str
    instead: str
    test: str


BREAKS: tuple[Break, ...] = ()
