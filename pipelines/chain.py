"""The links of a chain from a published figure back to the bytes: rows, payloads, and sums worked out again.

Belongs here: what every part of an explanation needs of the published copy. Does not belong here: which rows
a cost stands on (`explain_price.py`, `explain_throughput.py`) and how they are printed (`explain.py`).

A link is a dict: names of columns with their units, in the order in which they are read; a nested dict or a
list of dicts is what stands behind it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import duckdb

Link = dict[str, Any]

# Price amounts are rounded to six decimals, throughputs are not.
SAME_AMOUNT_USD = 1.01e-6
SAME_SHARE = 1e-9
PARTS = """
select name as file, url, sha256, bytes
from mart.snapshot_part
where source = ? and snapshot_id = ?
order by part
"""
# What a person says of a fact, as far as the copy's moment; what came of it is told too.
CORRECTIONS = """
select corrections.locator, corrections.action, corrections.field, corrections.value_expected,
    corrections.value_new, outcomes.status, corrections.reason, corrections.decided_on, corrections.url,
    corrections.source, corrections.snapshot_id
from core.correction as corrections
inner join mart.correction as outcomes on corrections.correction_id = outcomes.correction_id
where corrections.row_kind = ? and list_contains(?, corrections.locator)
order by corrections.known_at, corrections.correction_id
"""


@dataclass
class Chain:
    """The published copy that is asked, and the sums of the explanation that did not come out as stored."""

    connection: duckdb.DuckDBPyConnection
    differing: list[str] = field(default_factory=list)

    def rows(self, query: str, *values: Any, **named: Any) -> list[Link]:
        """The rows of a query, by column; its parameters by place or by name."""
        cursor = self.connection.execute(query, named or list(values))
        names = [column[0] for column in cursor.description or []]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def row(self, query: str, *values: Any, **named: Any) -> Link | None:
        """The first row of a query, or None."""
        found = self.rows(query, *values, **named)
        return found[0] if found else None

    def payload(self, source: str, snapshot_id: str) -> Link:
        """The stored payload of a fact: its id and, of each file in it, name, address and SHA-256."""
        files = self.rows(PARTS, source, snapshot_id)
        told: Link = {"snapshot": f"{source}/{snapshot_id}"}
        return told | (files[0] if len(files) == 1 else {"files": files})

    def corrections(self, row_kind: str, locators: list[str]) -> list[Link]:
        """The corrections and retractions that name a fact by one of its locators, with their payloads.

        The figures of a corrected fact are the corrected ones: its payload holds those expected here.
        """
        found = self.rows(CORRECTIONS, row_kind, locators)
        return [
            link | {"payload": self.payload(link.pop("source"), link.pop("snapshot_id"))} for link in found
        ]

    def sum(self, text: str, recomputed: Any, stored: Any, rounded: bool = False) -> Link:
        """A formula with its numbers, worked out here, beside what is stored. rounded: to six decimals."""
        known = recomputed is not None and stored is not None
        agrees = known and (
            abs(float(recomputed) - float(stored)) <= SAME_AMOUNT_USD
            if rounded
            else math.isclose(float(recomputed), float(stored), rel_tol=SAME_SHARE)
        )
        if not agrees:
            self.differing.append(text)
        shown = float(recomputed) if recomputed is not None else None
        return {"formula": text, "worked_out": shown, "stored": stored, "agrees": agrees}


def number(value: Any) -> str:
    """A number as it stands in a formula."""
    return f"{float(value):.12g}"
