"""Operating points from a CSV that a person wrote: figures read off a chart or taken from a report.

The header holds columns of `benchmark_result`, by their own names: units stand in the names, so a header with
another unit, such as the `Median TPOT (ms)` of an export whose numbers are seconds, is no header of ours.
A transcription of a figure that a fetched source holds too names the same publisher and gives way to it.
Does not belong here: the files of benchmark tools, percentages, and any column that is not in the contract.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from pipelines.contracts import BENCHMARK_RESULT, Column, ContractError, fit
from pipelines.decode import amount, iso_date, iso_instant, strict_csv, text
from pipelines.outcomes import CLOCK_TOLERANCE, by, without_duplicate_rows
from pipelines.source import Accepted, Outcome, Part, Rejected, Snapshot, Source, SourceError

KIND = "benchmark_result"
COLUMNS = {column.name: column for column in BENCHMARK_RESULT.columns}
REQUIRED = {name for name, column in COLUMNS.items() if column.required}

THROUGHPUTS = ("output_tok_s", "input_tok_s", "total_tok_s")
SHARES = ("accuracy_value", "cache_hit_rate")
TPOTS = {"p50": "tpot_p50_ms", "p90": "tpot_p90_ms", "p95": "tpot_p95_ms", "p99": "tpot_p99_ms"}
TTFTS = {"p50": "ttft_p50_ms", "p90": "ttft_p90_ms", "p95": "ttft_p95_ms", "p99": "ttft_p99_ms"}
# What is measured; everything else says of what. Two rows that differ in nothing else contradict each other.
FIGURES = {
    *THROUGHPUTS, *SHARES, *TPOTS.values(), *TTFTS.values(), "interactivity_tok_s_user", "itl_p50_ms",
    "e2e_p50_ms", "e2e_p99_ms", "acceptance_length", "power_w_gpu", "power_kw_gpu_provisioned",
    "planned_requests", "completed_requests", "failed_requests", "duration_s", "evidence", "independent",
    "methodology", "claimed_cause", "url", "note", "known_at",
}  # fmt: skip
CONDITIONS = tuple(name for name in COLUMNS if name not in FIGURES)

# Outside of it a time per token is in another unit, or none; a speed is its reciprocal.
TPOT_MS = (Decimal("0.5"), Decimal(2000))
SPEED = (1000 / TPOT_MS[1], 1000 / TPOT_MS[0])
# Nothing answers within a millisecond: such a time is in seconds.
LEAST_TTFT_MS = 1
IDENTITY_TOLERANCE = Decimal("0.01")


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per row of the file, in the columns and units of `benchmark_result`.

    Raises SourceError when the file is no such table: a column that is not known, a required one that is
    missing, no rows, or a last line that does not end.
    """
    if snapshot.context:
        raise SourceError("a benchmark file states all in its own columns; no context beside it is read")
    today = (snapshot.recorded_at + CLOCK_TOLERANCE).date()
    outcomes = [
        _outcome(row, f"{part.name} row {number}", today)
        for part in snapshot.parts
        for number, row in enumerate(_rows(part))
    ]
    yield from without_duplicate_rows(outcomes, by(*CONDITIONS), "output_tok_s")


def _rows(part: Part) -> list[dict[str, str]]:
    # A file that is cut within its last field still has every field: the number would only be shorter.
    if not text(part.body).endswith("\n"):
        raise SourceError(
            f"{part.name}: the last line has no end, so it may be cut: add a line break if it is whole"
        )
    rows = strict_csv(part.body, set())
    if not rows:
        raise SourceError(f"{part.name}: no rows below the header")
    unknown = [name for name in rows[0] if name not in COLUMNS]
    if unknown:
        raise SourceError(
            f"{part.name}: columns that are not known: {', '.join(map(repr, unknown))}; units stand in the "
            f"names, so rename one only after converting its numbers. Known are: {', '.join(COLUMNS)}"
        )
    missing = [name for name in COLUMNS if name in REQUIRED and name not in rows[0]]
    if missing:
        raise SourceError(f"{part.name}: required columns are missing: {', '.join(missing)}")
    return rows


def _outcome(row: Mapping[str, str], locator: str, today: date) -> Outcome:
    try:
        found = {name: _value(column, row.get(name, "").strip()) for name, column in COLUMNS.items()}
        _check_origin(found, today)
        _check_throughput(found)
        _check_speed(found)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)
    return Accepted(KIND, found, locator)


def _value(column: Column, written: str) -> Any:
    """Read one field; an empty one is unknown."""
    if not written:
        return fit(column, None)
    if column.type in ("count", "int"):
        if not (written.isascii() and written.isdigit()):
            raise ContractError("not_a_whole_number", column.name, written)
        return fit(column, int(written))
    if column.type == "bool":
        if written not in ("true", "false"):
            raise ContractError("not_true_or_false", column.name, written)
        return written == "true"
    if column.type == "date":
        return iso_date(column.name, written)
    if column.type == "instant":
        return iso_instant(column.name, written)
    if column.type in ("number", "positive", "share"):
        number = amount(column.name, written)
        fit(column, number)
        return number
    return fit(column, written)


def _check_origin(found: Mapping[str, Any], today: date) -> None:
    """Raise ContractError for a figure that cannot be dated or looked up, or whose publisher is misspelt."""
    # Points of one publisher meet by its name, so it is written in one way.
    if found["publisher"] != found["publisher"].lower():
        raise ContractError("not_lower_case", "publisher", found["publisher"])
    if found["measured_on"] is None and found["published_on"] is None:
        raise ContractError("no_date", "published_on", None)
    for name in ("measured_on", "published_on"):
        if found[name] is not None and found[name] > today:
            raise ContractError("in_the_future", name, found[name])
    if found["url"] is None and found["evidence"] != "measured":
        raise ContractError("missing_value", "url", None)


def _check_throughput(found: Mapping[str, Any]) -> None:
    stated = [name for name in THROUGHPUTS if found[name] is not None]
    if stated and found["throughput_basis"] is None:
        raise ContractError("throughput_without_basis", stated[0], found[stated[0]])
    if found["throughput_basis"] == "per_role_gpu" and not found["disaggregated"]:
        raise ContractError("roles_without_disaggregation", "throughput_basis", "per_role_gpu")
    if not stated and found["interactivity_tok_s_user"] is None:
        raise ContractError("no_figure", "output_tok_s", None)


def _check_speed(found: Mapping[str, Any]) -> None:
    """Raise ContractError for times or a speed in another unit, and for two that contradict each other."""
    for times in (TTFTS, TPOTS):
        stated = [found[name] for name in times.values() if found[name] is not None]
        if stated != sorted(stated):
            raise ContractError("percentiles_out_of_order", next(iter(times.values())), stated[0])
    for name in TPOTS.values():
        if found[name] is not None and not TPOT_MS[0] <= found[name] <= TPOT_MS[1]:
            raise ContractError("tpot_out_of_range", name, found[name])
    for name in TTFTS.values():
        if found[name] is not None and found[name] < LEAST_TTFT_MS:
            raise ContractError("ttft_out_of_range", name, found[name])
    speed, percentile = found["interactivity_tok_s_user"], found["speed_percentile"]
    if speed is None:
        return
    if percentile is None:
        raise ContractError("missing_value", "speed_percentile", None)
    if not SPEED[0] <= speed <= SPEED[1]:
        raise ContractError("speed_out_of_range", "interactivity_tok_s_user", speed)
    # A mean need not be the reciprocal of the median.
    tpot = None if percentile == "mean" else found[TPOTS.get(percentile, "tpot_p50_ms")]
    if tpot is not None and abs(speed * tpot / 1000 - 1) > IDENTITY_TOLERANCE:
        raise ContractError("speed_is_not_reciprocal_of_tpot", "interactivity_tok_s_user", speed)


SOURCE = Source(
    kind="benchmark",
    title="Operating points from a file",
    homepage="",
    licence="Whatever the publisher of each figure grants; not known here, so the rows are not passed on.",
    # Single figures, each quoted with its link.
    passes_on=True,
    cadence="as imported",
    source_rank=60,
    max_age_days=365,
    parse=parse,
)
