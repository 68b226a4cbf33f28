"""What the command line shows of the published copy.

Belongs here: queries on published marts and how their rows are printed. Does not belong here: any figure
that is not in a mart. Reads only the published file, so it never waits for a run.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

import duckdb
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from pipelines import csv_rows
from pipelines.failure import Failure
from pipelines.home import Home

# What we store ourselves is loaded too, and is nobody's payload.
OWN = ("seeds", "record")
FEW_ROWS = 5
GAP = 2
WIDTH_OF_A_PHRASE = 28
WIDTH_OF_A_PIPE = 160
HEADLINE = """
select
    rank as "#",
    chip_id as chip,
    precision as "prec.",
    round(on_demand_usd_per_million_tokens, 3) as "on-demand $/M",
    round(reserved_36m_usd_per_million_tokens, 3) as "36-month $/M",
    round(owning_usd_per_million_tokens, 3) as "owning $/M",
    round(throughput_tok_s_gpu, 1) as "tok/s /GPU",
    round(interactivity_tok_s_user, 1) as "tok/s /user",
    round(ttft_p50_ms / 1000, 1) as "TTFT s",
    benchmark_age_days as "age d",
    cast(round(disclosure_score) as integer) as "discl.",
    unranked_reason as unranked,
from mart.headline
where model_id = ? and workload_id = ?
order by rank nulls last, chip
"""

SOURCES = """
select
    source,
    kind,
    status,
    last_success_at,
    age_hours,
    accepted as rows,
    unmapped_names as unmapped,
from mart.source_health
"""

STATUS = """
select
    source,
    strftime(observed_at, '%Y-%m-%d %H:%M') as observed_at,
    status,
    candidates,
    accepted,
    rejected,
    not_applicable,
    coalesce(reasons, '') as reasons,
from mart.snapshot_health
order by source, observed_at
"""

RECORD = """
select
    (select max(date) from mart.recorded_yield) as last_recorded_on,
    (select count(*) from mart.missed_record where status <> 'recorded_late') as missed_days,
    (select count(*) from mart.missed_record where status = 'recorded_late') as late_days,
    (select count(*) from mart.drift) as drifted,
"""

CORRECTIONS = """
select
    count(*) filter (where status = 'no_such_fact') as of_no_fact,
    count(*) filter (where status = 'no_longer_needed') as not_needed,
from mart.correction
"""

ALERTS = """
select
    coalesce(sum(kinds.number), 0) as standing,
    string_agg(kinds.number || ' ' || kinds.kind, ', ' order by kinds.kind) as kinds,
from (select kind, count(*) as number from mart.alert group by kind) as kinds
"""

SOURCE_COLUMNS = [
    "source", "kind", "key", "live", "seen_live", "cadence", "status", "last_success", "age_hours", "rows",
    "unmapped",
]  # fmt: skip


class NothingPublished(Failure):
    """There is no published copy to read yet."""


@contextmanager
def published(home: Home) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the published file; raises NothingPublished where there is none."""
    if not home.current_database.exists():
        raise NothingPublished(f"nothing is published in {home.published} yet; run `tokenyield build`")
    connection = duckdb.connect(str(home.current_database), read_only=True)
    try:
        connection.execute("set TimeZone = 'UTC'")
        yield connection
    finally:
        connection.close()


def rows_of(
    connection: duckdb.DuckDBPyConnection, query: str, values: list[Any] | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """The names of a query's columns, and its rows."""
    cursor = connection.execute(query, values or [])
    return [column[0] for column in cursor.description or []], cursor.fetchall()


def print_query(home: Home, query: str, output: str) -> None:
    """Run `query` on the published copy and print its rows as table, csv or json."""
    with published(home) as connection:
        names, rows = rows_of(connection, query)
    print_rows(names, rows, output)


def print_sources(home: Home, output: str) -> None:
    """Print every source: what it is, whether it is asked and why not, how it is doing.

    What the code declares is there before anything is published; the rest is of the published copy.
    """
    from pipelines.source import all_sources

    health: dict[str, tuple[Any, ...]] = {}
    if home.current_database.exists():
        with published(home) as connection:
            health = {row[0]: row[1:] for row in rows_of(connection, SOURCES)[1]}
    declared = all_sources()
    rows = []
    for slug in sorted(declared.keys() | health.keys()):
        source = declared.get(slug)
        kind, status, last_success_at, age_hours, count, unmapped = health.get(slug, (None,) * 6)
        off = source.off_because if source else "typed in seeds"
        rows.append(
            (
                slug,
                kind or source.kind,
                source.key_variable or "keyless" if source else "",
                f"off: {off}" if off else "on",
                "yes" if source and source.seen_live else "no",
                source.cadence if source else "",
                status or "empty",
                last_success_at.strftime("%Y-%m-%d %H:%M") if last_success_at else None,
                age_hours,
                count,
                unmapped,
            )
        )
    print_rows(SOURCE_COLUMNS, rows, output)


def print_status(home: Home, output: str) -> None:
    """Print the accounts of every stored payload; the age of the copy, the record and the alerts."""
    # A query must not wait for what reads payloads.
    from pipelines.snapshots import SnapshotStore

    with published(home) as connection:
        names, rows = rows_of(connection, STATUS)
        record = _told_record(*connection.execute(RECORD).fetchone())
        idle = _told_corrections(*connection.execute(CORRECTIONS).fetchone())
        alerts, kinds = connection.execute(ALERTS).fetchone()
        (loaded,) = connection.execute("select count(*) from mart.snapshot_health").fetchone()
    stored, unreadable = SnapshotStore(home.snapshots).survey()
    waiting = sum(found.source not in OWN for found in (*stored, *unreadable)) - loaded
    print_rows(names, rows, output)
    manifest = json.loads((home.published / "current" / "manifest.json").read_text(encoding="utf-8"))
    note = f"published {manifest['version']}, facts as of {manifest['as_of']}"
    if waiting > 0:
        note += f"; {waiting} payloads stored since then: run `tokenyield build`"
    damaged = [f"damaged in the store: {found.reason}" for found in unreadable]
    standing = f"{alerts} alerts stand (mart.alert)" + (f": {kinds}" if kinds else "")
    Console(stderr=True, highlight=False).print(
        "\n".join([note, record, *idle, standing, *damaged]), markup=False, soft_wrap=True
    )


def _told_record(last: date | None, missed: int, late: int, drifted: int) -> str:
    """The state of the daily record, in one line."""
    if last is None and not missed:
        return "no record of a day is in it yet"
    told = f"last record in it: {last or 'none that can be read'}; {missed} days missed, {late} recorded late"
    return f"{told} (mart.missed_record); {drifted} recorded yields differ today (mart.drift)"


def _told_corrections(of_no_fact: int, not_needed: int) -> list[str]:
    """Corrections that change nothing, in one line; no line where there are none."""
    if not of_no_fact and not not_needed:
        return []
    return [
        f"warning: {of_no_fact} corrections fit no fact that is stored here, "
        f"{not_needed} are no longer needed (mart.correction)"
    ]


def print_headline(home: Home) -> None:
    """Print the headline of every ranked workload, with its basis, age and evidence, and where it lies."""
    out = console()
    with published(home) as connection:
        comparisons = connection.execute(
            "select model_id, workload_id, any_value(date), any_value(age_days), "
            "any_value(price_series_id), max(price_age_days), any_value(evidence) "
            "from mart.headline group by model_id, workload_id order by model_id, workload_id"
        ).fetchall()
        titles = dict(connection.execute("select price_series_id, title from mart.price_series").fetchall())
        for model_id, workload_id, day, age, series, price_age, evidence in comparisons:
            out.print(
                f"\n$ per million output tokens: {model_id}, {workload_id}, at greatest throughput, "
                f"all GPUs, whole bill\n{day} ({age} days ago); ranked on: {titles.get(series, series)}, "
                f"a price {price_age} days old; evidence: {evidence}; rent and owning cost beside it\n",
                markup=False,
            )
            print_rows(*rows_of(connection, HEADLINE, [model_id, workload_id]), "table", out)
        if not comparisons:
            out.print("\nNo ranked workload has a cost on the headline's price basis.", markup=False)
    out.print(f"\npublished copy: {home.current_database}", markup=False, soft_wrap=True)


def print_rows(
    names: list[str], rows: list[tuple[Any, ...]], output: str, out: Console | None = None
) -> None:
    """Print rows as table (to `out`), csv or json; only a table rounds, and only to 12 digits."""
    if output == "json":
        json.dump(
            [dict(zip(names, map(as_json, row), strict=True)) for row in rows],
            sys.stdout,
            indent=2,
            allow_nan=False,
        )
        print()
    elif output == "csv":
        csv_rows.write(sys.stdout, names, ([_cell(value) for value in row] for row in rows))
    else:
        _print_table(names, rows, out or console())


def console() -> Console:
    """Standard output; where nobody's terminal sets the width, wide enough that no cell is broken."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDTH_OF_A_PIPE)


def _print_table(names: list[str], rows: list[tuple[Any, ...]], out: Console) -> None:
    """Rows under each other where they fit; else a few one by one, and of many the columns that fit.

    A number in two lines is two numbers: words may be put into several lines, values may not.
    """
    cells = [["" if value is None else escape(_visible(as_text(value))) for value in row] for row in rows]
    columns = [[row[number] for row in cells] for number in range(len(names))]
    titles = [escape(name.replace("_", " ")) for name in names]
    narrow = [_width([title, *column]) for title, column in zip(titles, columns, strict=True)]
    wide = [
        max(len(line) for cell in (title, *column) for line in cell.split("\n"))
        for title, column in zip(titles, columns, strict=True)
    ]
    room = out.width + GAP
    widths = wide if sum(wide) + GAP * len(wide) <= room else narrow
    shown = []
    for number, width in enumerate(widths):
        if (needed := width + GAP) <= room:
            shown.append(number)
            room -= needed
    if len(shown) == len(names) or len(rows) > FEW_ROWS:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
        for number in shown:
            numeric = any(isinstance(row[number], (int, float, Decimal)) for row in rows)
            justify = "right" if numeric else "left"
            table.add_column(titles[number], justify=justify, overflow="fold", width=widths[number])
        for row in cells:
            table.add_row(*(row[number] for number in shown))
        out.print(table)
        if hidden := [name for number, name in enumerate(names) if number not in shown]:
            told = f"not shown, for want of width: {', '.join(hidden)}; --format csv or json has them"
            out.print(told, markup=False)
        return
    for number, row in enumerate(cells, 1):
        record = Table.grid(padding=(0, 2))
        record.add_column(no_wrap=True)
        record.add_column(overflow="fold")
        for title, cell in zip(titles, row, strict=True):
            record.add_row(title, cell)
        out.rule(f"{number} of {len(rows)}", align="left", characters="-", style="none")
        out.print(record)


def _visible(text: str) -> str:
    """A text with everything spelled out that a terminal would act on: colours, titles, directions."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def _width(cells: list[str]) -> int:
    """What a column wants at least: its longest value, or of words enough for a phrase."""
    title, *values = cells
    phrases = [min(len(cell), WIDTH_OF_A_PHRASE) if " " in cell else len(cell) for cell in values]
    words = [len(word) for text in (title, *values) for word in text.split()]
    return max([*phrases, *words], default=0)


def _cell(value: Any) -> str | None:
    """A value as a cell of CSV: no digit is lost, and only a text may need to be made harmless."""
    if value is None:
        return None
    return csv_rows.harmless(value) if isinstance(value, str) else as_text(value, 17)


def as_text(value: Any, digits: int = 12) -> str:
    """A value as text; 17 digits of a double read back as the same double, 12 are for people."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, float):
        return f"{value:.{digits}g}" if digits < 17 else repr(value)
    return str(value)


def as_json(value: Any) -> Any:
    """A value of DuckDB as JSON has it: numbers as numbers, what is not finite as null, the rest as text.

    A number of JSON is read as a double: a decimal is exact to 15 digits, more than any price has.
    """
    if isinstance(value, dict):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(inner) for inner in value]
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return value.isoformat() if isinstance(value, (date, datetime, time)) else str(value)
