"""The answer of `tokenyield cost`: a chip at the reader's own numbers.

Belongs here: which rows of `mart.cost_with` and `mart.cost_at_with` are shown, in which order, and the words
around them. Does not belong here: any formula (`own_numbers.py` makes the macros). Reads the published copy
alone and stores nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import duckdb

from pipelines.answers import console, print_rows, published, rows_of
from pipelines.failure import Failure
from pipelines.home import Home


@dataclass(frozen=True)
class Question:
    """What is asked. price: $/GPU-hour; factor and utilisation: shares; speed: tok/s of one user."""

    chip: str
    price: float | None = None
    factor: float | None = None
    utilisation: float | None = None
    speed: float | None = None
    model: str | None = None
    workload: str | None = None
    tokens: str = "output"


@dataclass(frozen=True)
class Basis:
    """The price that the costs stand on, and what is said of it."""

    usd_per_gpu_hour: float
    words: str


# What sets a known cost back: such rows come after all others. Limits of a ranking on waiting and age are the
# reader's to draw here; both are shown.
WHY_AT_POINT = "case when not eligible then eligibility_reason end"
WHY_AT_SPEED = "case when not eligible then eligibility_reason when wide_bracket then 'wide_bracket' end"
ORDER = """
    null_reason is null and {why} is null and evidence = 'measured' desc,
    usd_per_million_tokens is null,
    usd_per_million_tokens,
    model_id, workload_id, precision, engine, {key}
"""
HEADLINE_PRICE = """
select
    series.title,
    cast(timeline.usd_per_gpu_hour as double) as usd_per_gpu_hour,
    timeline.null_reason,
    segments.priced_on,
    case
        when segments.priced_on > run.today then 0
        else date_diff('day', segments.priced_on, run.today)
    end as age_days,
from core.price_series as series
cross join (select cast(as_of at time zone 'UTC' as date) as today from core.run) as run
inner join core.price_timeline as timeline
    on series.price_series_id = timeline.price_series_id
    and (timeline.valid_from is null or timeline.valid_from <= run.today)
    and (timeline.valid_to is null or timeline.valid_to > run.today)
left join core.price_segment as segments
    on timeline.price_series_id = segments.price_series_id
    and timeline.chip_id = segments.chip_id
    and segments.valid_from <= run.today
    and (segments.valid_to is null or segments.valid_to > run.today)
where timeline.chip_id = ?
    and series.headline_order is not null
order by series.headline_order
limit 1
"""


@dataclass(frozen=True)
class Column:
    """A column of the table: its heading with its unit, its SQL, and the SQL of what stands where it is null.

    shared: said once above the table where every row has the same. wanted: there without any value too.
    """

    heading: str
    sql: str
    null_reason: str = "null"
    shared: bool = False
    wanted: bool = False


def print_cost(home: Home, question: Question, output: str, limit: int) -> None:
    """Print what a million tokens cost; a table has the best `limit` rows, csv and json have every one.

    Raises Failure for a chip, model or workload that is not known, and for a chip without a price.
    """
    with published(home) as connection:
        for table in ("chip", "model", "workload"):
            if (name := getattr(question, table)) is not None:
                _known(connection, table, name)
        at = basis(connection, question)
        source, values, why, key = _source(question, at)
        order = ORDER.format(why=why, key=key)
        if output != "table":
            print_rows(*rows_of(connection, f"select * {source} order by {order}", values), output)
            return
        columns = _columns(question, why)
        selected = ", ".join(f"{column.sql}, {column.null_reason}" for column in columns)
        _, found = rows_of(connection, f"select {selected} {source} order by {order}", values)
    out = console()
    said = [_heading(question), at.words, *_shares(question)]
    if not found:
        said.append("\nNo benchmark point says anything of it.")
    names, rows, shared = _laid_out(columns, found)
    if shared:
        said.append(f"all rows: {', '.join(map(str, shared))}")
    out.print("\n" + "\n".join(said) + "\n", markup=False, soft_wrap=True)
    if found:
        print_rows(names, rows[:limit], output, out)
    if len(rows) > limit:
        out.print(f"\nand {len(rows) - limit} more rows: --limit {len(rows)} shows them all", markup=False)


def _known(connection: duckdb.DuckDBPyConnection, table: str, name: str) -> None:
    """Raise Failure, naming what is near, unless `name` is an id of mart.`table`."""
    ids = [
        row[0] for row in connection.execute(f"select {table}_id from mart.{table} order by all").fetchall()
    ]
    if name in ids:
        return
    asked = name.casefold()
    near = [known for known in ids if asked and (asked in known or known in asked)]
    near = near or get_close_matches(asked, ids, n=5, cutoff=0.5)
    hint = f"near it: {', '.join(near[:8])}" if near else f"mart.{table} lists them all"
    raise Failure(f"no {table} is named {name!r}; {hint}")


def basis(connection: duckdb.DuckDBPyConnection, question: Question) -> Basis:
    """The price in $/GPU-hour that an answer stands on: the question's own, else the headline's of today.

    Raises Failure where there is neither.
    """
    if question.price is not None:
        return Basis(question.price, f"price: {question.price:.12g} $ per GPU-hour, your own")
    found = connection.execute(HEADLINE_PRICE, [question.chip]).fetchone()
    if not found:
        raise Failure("no price series stands beside the headline; state your own price with --price")
    title, usd, null_reason, priced_on, age_days = found
    if usd is None:
        raise Failure(
            f"{title} has no price of {question.chip} today ({null_reason}); state your own with --price"
        )
    return Basis(
        usd, f"price: {usd:.12g} $ per GPU-hour, {title}: a price of {priced_on}, {age_days} days old"
    )


def _source(question: Question, at: Basis) -> tuple[str, list[Any], str, str]:
    """The rows that are asked for: SQL from `from` on, its values, what keeps a row from a rank, its key."""
    utilisation = 1 if question.utilisation is None else question.utilisation
    own = [question.chip, at.usd_per_gpu_hour, question.factor, utilisation]
    conditions, values = ["token_kind = ?", "gpu_scope in ('all', 'none')"], [question.tokens]
    for column, value in (("model_id", question.model), ("workload_id", question.workload)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if question.speed is not None:
        macro, own, why, key = (
            "cost_at_with(?, ?, ?, ?, ?)",
            [question.speed, *own],
            WHY_AT_SPEED,
            "frontier_id",
        )
    else:
        macro, why, key = "cost_with(?, ?, ?, ?)", WHY_AT_POINT, "cost_id"
        conditions.append("superseded_on is null")
    return f"from mart.{macro} where {' and '.join(conditions)}", [*own, *values], why, key


def _columns(question: Question, why: str) -> list[Column]:
    at = "" if question.utilisation is None else f"at {question.utilisation * 100:.6g} %"
    live_null_reason, live_wanted = "coalesce(null_reason, 'no_factor')", question.factor is not None
    columns = [
        Column("model", "model_id", shared=True),
        Column("workload", "workload_id", shared=True),
        Column("prec.", "precision", shared=True),
        Column("engine", "engine", shared=True),
    ]
    if question.speed is None:
        columns.append(Column("tok/s\n/user", "round(interactivity_tok_s_user, 1)"))
    else:
        columns.append(Column("point", "position", shared=True))
    columns.append(Column("tok/s\n/GPU", "round(throughput_tok_s_gpu, 1)"))
    columns.append(Column("$/M", "round(usd_per_million_tokens, 4)", "null_reason", wanted=True))
    if at:
        sql = "round(usd_per_million_tokens_at_utilisation, 4)"
        columns.append(Column(f"$/M\n{at}", sql, "at_utilisation_null_reason", wanted=True))
    columns.append(
        Column("$/M\nlive", "round(usd_per_million_tokens_live, 4)", live_null_reason, wanted=live_wanted)
    )
    if at:
        sql = "round(usd_per_million_tokens_live_at_utilisation, 4)"
        columns.append(Column(f"$/M live\n{at}", sql, "live_at_utilisation_null_reason", wanted=live_wanted))
    columns.append(Column("TTFT\ns", "round(ttft_p50_ms / 1000, 1)"))
    if question.speed is None:
        columns.append(Column("measured", "measured_on"))
    else:
        columns.append(Column("oldest\npoint d", "benchmark_age_days"))
    columns.append(Column("evidence", "evidence", shared=True))
    columns.append(Column("set back by", why))
    if question.speed is None:
        columns.append(Column("cost_id", "cost_id"))
    return columns


def _laid_out(
    columns: list[Column], found: list[tuple[Any, ...]]
) -> tuple[list[str], list[tuple[Any, ...]], list[Any]]:
    """Headings and rows of the table, and what all of its rows share.

    A null gives way to its reason; a column without any value is left out unless it is wanted.
    """
    kept: dict[str, list[Any]] = {}
    shared = []
    for number, column in enumerate(columns):
        values = [row[2 * number] for row in found]
        if column.shared and len(set(values)) == 1:
            shared += [values[0]] if values[0] is not None else []
        elif column.wanted or any(value is not None for value in values):
            kept[column.heading] = [
                row[2 * number + 1] if row[2 * number] is None else row[2 * number] for row in found
            ]
    return list(kept), list(zip(*kept.values(), strict=True)), shared


def _heading(question: Question) -> str:
    bill = "" if question.tokens == "total" else ", whole bill"
    where = "at the newest points" if question.speed is None else f"at {question.speed:.12g} tok/s per user"
    alone = "".join(f", {name}" for name in (question.model, question.workload) if name)
    return f"$ per million {question.tokens} tokens: {question.chip}{alone}, {where}, all GPUs{bill}"


def _shares(question: Question) -> list[str]:
    live = "live: where a factor is sourced; state your own with --factor"
    if question.factor is not None:
        live = f"live: {question.factor * 100:.6g} % of a benchmark's throughput, your own factor"
    if question.utilisation is None:
        return [live]
    return [live, f"utilisation: {question.utilisation * 100:.6g} % of paid hours, beside the cost at peak"]
