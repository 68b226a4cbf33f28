"""InferenceX by SemiAnalysis: how many of its benchmark jobs succeeded, by chip and day, from its API.

Traps: one chip and day has a row for every run of that day, so equal rows are not duplicates and a day is
their sum; days on which nothing ran are listed with zero jobs.
Does not belong here: what a job measured. A job that failed says nothing of the chip alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import iso_date, strict_json
from pipelines.outcomes import some_text, whole_number
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

KIND = "run_reliability"
ROW_KEYS = {"hardware", "date", "n_success", "total"}


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row: jobs of one run.

    Raises SourceError when the payload is not the answer of /reliability.
    """
    for number, row in enumerate(row for part in snapshot.parts for row in _rows(part)):
        locator = f"row {number}"
        try:
            yield _jobs(row, locator)
        except ContractError as error:
            yield Rejected(KIND, error.reason, locator, error.field, error.value)


def _rows(part: Part) -> list[Any]:
    rows = strict_json(part.body)
    if not isinstance(rows, list) or not any(isinstance(r, dict) and r.keys() >= ROW_KEYS for r in rows):
        raise SourceError(f"{part.name}: no list of rows with {sorted(ROW_KEYS)}: /reliability is read")
    return rows


def _jobs(row: Any, locator: str) -> Outcome:
    if not isinstance(row, dict):
        raise ContractError("wrong_type", "row", row)
    succeeded, total = (whole_number(key, row.get(key)) for key in ("n_success", "total"))
    if succeeded < 0 or succeeded > total:
        raise ContractError("more_succeeded_than_ran", "n_success", succeeded)
    if total == 0:
        return NotApplicable(KIND, "no_job_ran", locator)
    found = {
        "publisher": "inferencex",
        "raw_chip_name": some_text("hardware", row.get("hardware")),
        "day": iso_date("date", row.get("date")),
        "succeeded_jobs": succeeded,
        "total_jobs": total,
    }
    return Accepted(KIND, found, locator)


def requests() -> list[Request]:
    """Every chip and day, in one answer."""
    return [Request("https://inferencex.semianalysis.com/api/v1/reliability")]


SOURCE = Source(
    kind="benchmark",
    title="InferenceX by SemiAnalysis: jobs that succeeded",
    homepage="https://inferencex.semianalysis.com",
    licence="Public API; no separate data licence; attribute InferenceX by SemiAnalysis.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=14,
    parse=parse,
    requests=requests,
)
