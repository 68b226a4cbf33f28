"""The answer of `tokenyield explain`: one cost row and everything that it stands on, down to hashes of bytes.

Belongs here: which row is meant, the parts of the answer, and how it is printed. Does not belong here: the
ways to prices (`explain_price.py`) and throughputs (`explain_throughput.py`). Reads the published copy alone:
it shows what a reader who has no more than that can follow, and nothing that may not be passed on.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from datetime import date, timedelta

import duckdb
from rich.markup import escape
from rich.tree import Tree

from pipelines import explain_price, explain_throughput, own_cost
from pipelines.answers import as_json, as_text, console, published
from pipelines.chain import Chain, Link, number
from pipelines.failure import Failure
from pipelines.home import Home

COST = "select * from mart.cost_per_million_tokens where cost_id = ?"
OWN_COST = "select * from mart.cost_with(?, ?, ?, ?) where cost_id = ?"


@dataclass(frozen=True)
class Keyed:
    """A mart whose rows are told by their key: name, rows as a chain reads them, columns of the key."""

    mart: str
    rows: str
    key: tuple[str, ...]


SHARED_KEY = (
    "chip_id", "model_id", "precision", "workload_id", "token_kind", "gpu_scope", "cost_allocation",
    "evidence", "traffic_basis", "speed_percentile",
)  # fmt: skip
DAILY = Keyed(
    "mart.cost_per_million_tokens_daily",
    "select * from mart.cost_per_million_tokens_daily",
    ("date", *SHARED_KEY, "speed_tier", "price_series_id"),
)
# At a speed of one's own there is no tier, and a server is named: its curve is what the cost is read from.
AT_SPEED = Keyed(
    "mart.cost_at_speed",
    "select at_speed.*, "
    "cast(run.as_of at time zone 'UTC' as date) as date, cast(null as varchar) as cost_id, "
    "at_speed.below_point_id as benchmark_point_id, at_speed.speed_tok_s_user as interactivity_tok_s_user "
    "from mart.cost_at_speed as at_speed cross join core.run as run",
    (*SHARED_KEY, "serving_line_id", "speed_tok_s_user", "price_series_id"),
)
MEANT = {"token_kind": "output", "gpu_scope": "all"}
SHOWN_ROWS = 20
# What a link is called in the tree; the rest of it stands below.
NAMES = (
    "provider_id",
    "snapshot",
    "file",
    "benchmark_point_id",
    "benchmark_result_id",
    "quote_id",
    "locator",
)


class NoSuchCost(Failure):
    """No published cost row is meant, or more than one."""


@dataclass(frozen=True)
class Asked:
    """Which row: a cost_id, or columns of a key; the day; numbers of `tokenyield cost`."""

    cost_id: str | None = None
    key: dict[str, str] = field(default_factory=dict)
    on: date | None = None
    price: float | None = None
    factor: float | None = None


def asked(words: list[str], on: date | None, price: float | None, factor: float | None) -> Asked:
    """What the words of a command line ask for: one cost_id, or column=value of a row's key."""
    pairs = [word.partition("=") for word in words]
    if len(words) == 1 and not pairs[0][1]:
        return Asked(words[0], {}, on, price, factor)
    keyed = AT_SPEED if any(name == "speed_tok_s_user" for name, _, _ in pairs) else DAILY
    if wrong := [word for word, (name, _, _) in zip(words, pairs, strict=True) if name not in keyed.key]:
        raise NoSuchCost(
            f"{wrong[0]!r} is no column=value of a key of {keyed.mart}; "
            f"its columns are {', '.join(keyed.key)}"
        )
    if on and keyed is AT_SPEED:
        raise NoSuchCost(f"{keyed.mart} is of the copy's own day: no other day can be asked of it")
    return Asked(None, {name: value for name, _, value in pairs}, on, price, factor)


def print_explanation(home: Home, question: Asked, output: str) -> bool:
    """Print the chain of one cost as a tree or as JSON; returns whether every sum comes out as stored.

    Raises NoSuchCost for a row that is not there or not the only one that is meant.
    """
    with published(home) as connection:
        chain = Chain(connection)
        try:
            told = explained(chain, question)
        except (duckdb.CatalogException, duckdb.BinderException) as error:
            raise Failure(
                f"the published copy is of older code and lacks what an explanation reads "
                f"({str(error).splitlines()[0]}); `tokenyield build` publishes one that has it"
            ) from error
    told["sums_differing"] = chain.differing
    if output == "json":
        json.dump(as_json(told), sys.stdout, indent=2, allow_nan=False)
        print()
    else:
        tree = Tree(escape(_headline(told["result"])))
        _grow(tree, told)
        console().print(tree)
    return not chain.differing


def explained(chain: Chain, question: Asked) -> Link:
    """The chain of one cost: result, formula, price, benchmark (both points of a bracket), factors."""
    (today,) = chain.rows("select cast(as_of at time zone 'UTC' as date) as day from core.run")
    if question.cost_id is None:
        row, own = _keyed(chain, question), None
        day = row["date"]
        if row["cost_id"] is not None:
            row = chain.row(COST, row["cost_id"]) or row
    else:
        row, own = _of_id(chain, question)
        day = _day(row, question.on, today["day"])
    told: Link = {"result": _result(row, day)}
    told |= _formulas(chain, row)
    if own:
        told["price"] = {"usd_per_gpu_hour": row["usd_per_gpu_hour"], "series": own.words}
    else:
        told["price"] = explain_price.price(chain, row["price_series_id"], row["chip_id"], day)
    reading = {name: row[name] for name in ("chip_id", "token_kind", "gpu_scope")}
    if row.get("above_point_id") and row["position"] == "interpolated":
        told["throughput"] = explain_throughput.interpolated(chain, row, day)
        points = [row["benchmark_point_id"], row["above_point_id"]]
    else:
        reading["throughput_tok_s_gpu"] = row["throughput_tok_s_gpu"]
        points = [row["benchmark_point_id"]]
    known = [point for point in points if point]  # out of a curve's range there is none
    told["benchmark"] = [explain_throughput.benchmark(chain, point, reading) for point in known]
    live = row.get("live_traffic_factor")
    if "live_traffic_factor" not in row and row["usd_per_million_tokens_live"]:
        live = row["usd_per_million_tokens"] / row["usd_per_million_tokens_live"]
    told["live_traffic_factor"] = explain_throughput.live(chain, points[0], live) if known else None
    return told


def _of_id(chain: Chain, question: Asked) -> tuple[Link, own_cost.Basis | None]:
    """The row of a cost_id; with the price that it stands on where it is one of a reader's own numbers."""
    own_numbers = question.price is not None or question.factor is not None
    if not own_numbers and (row := chain.row(COST, question.cost_id)):
        return row, None
    for found in chain.rows("select distinct chip_id from core.benchmark_view order by chip_id"):
        # An own row has the same id at every price.
        if chain.row(OWN_COST, found["chip_id"], 1, None, 1, question.cost_id):
            basis = own_cost.basis(chain.connection, own_cost.Question(found["chip_id"], question.price))
            values = (found["chip_id"], basis.usd_per_gpu_hour, question.factor, 1, question.cost_id)
            return chain.row(OWN_COST, *values) or {}, basis
    raise NoSuchCost(
        f"no cost row of the published copy has the cost_id {question.cost_id!r}; "
        "mart.cost_per_million_tokens and `tokenyield cost` tell them"
    )


def _keyed(chain: Chain, question: Asked) -> Link:
    """The one row that a key means; of the daily mart on its last day where none is named."""
    keyed = AT_SPEED if "speed_tok_s_user" in question.key else DAILY
    key = MEANT | question.key
    if question.on:
        key["date"] = f"{question.on}"
    conditions = " and ".join(
        f"{name} = try_cast(? as double)"
        if name == "speed_tok_s_user"
        else f"cast({name} as varchar) is not distinct from ?"
        for name in key
    )
    values = [None if value == "" else value for value in key.values()]
    is_open = keyed is DAILY and "date" not in key
    last = f"qualify date = max(date) over (partition by {', '.join(keyed.key[1:])})" if is_open else ""
    rows = chain.rows(f"select * from ({keyed.rows}) where {conditions} {last}", *values)
    shown = ", ".join(f"{name}={value}" for name, value in key.items())
    if not rows:
        raise NoSuchCost(
            f"no row of {keyed.mart} has {shown}; each costs what its key says, and no other is near"
        )
    if len(rows) > 1:
        open_columns = [
            f"{name} ({', '.join(map(str, sorted({row[name] for row in rows}, key=str)))})"
            for name in keyed.key
            if len({row[name] for row in rows}) > 1
        ]
        raise NoSuchCost(f"{len(rows)} rows have {shown}; say which by {'; '.join(open_columns)}")
    return rows[0]


def _day(row: Link, on: date | None, today: date) -> date:
    """The day that is explained: the one asked for, else the last on which the row's price holds."""
    ends = row["valid_to"] - timedelta(days=1) if row["valid_to"] else today
    last = min(ends, today)
    if on is None:
        return max(last, row["valid_from"])
    if not row["valid_from"] <= on <= last:
        raise NoSuchCost(f"the row holds from {row['valid_from']} to {last}, and {on} is not within")
    return on


def _result(row: Link, day: date) -> Link:
    names = (
        "cost_id", "usd_per_million_tokens", "usd_per_million_tokens_live", "null_reason", "live_null_reason",
        "chip_id", "model_id", "precision", "workload_id", "token_kind", "gpu_scope", "cost_allocation",
        "speed_tier", "speed_tok_s_user", "position", "evidence", "eligible", "eligibility_reason",
        "disclosure_score", "benchmark_age_days",
    )  # fmt: skip
    told = {"date": day} | {name: row[name] for name in names if name in row}
    if row.get("measured_on"):
        told["benchmark_age_days"] = (day - row["measured_on"]).days
    if reason := row["null_reason"]:
        known = explain_price.MISSING | explain_throughput.MISSING
        told["what_is_missing"] = known.get(reason, reason)
    return told


def _formulas(chain: Chain, row: Link) -> Link:
    """The cost and the cost under live traffic, worked out again; nothing where the cost is not known."""
    if row["usd_per_million_tokens"] is None:
        return {}
    usd, made = float(row["usd_per_gpu_hour"]), row["throughput_tok_s_gpu"]
    text = f"{number(usd)} $ per GPU-hour / ({number(made)} tok/s per GPU x 3600 s / 10^6)"
    told = {"cost": chain.sum(text, usd / (made * 3600 / 1e6), row["usd_per_million_tokens"])}
    if factor := row.get("live_traffic_factor"):
        text = f"{number(row['usd_per_million_tokens'])} $ / {number(factor)} of a benchmark's throughput"
        worked_out = usd / (made * 3600 / 1e6) / factor
        told["cost_live"] = chain.sum(text, worked_out, row["usd_per_million_tokens_live"])
    return told


def _headline(result: Link) -> str:
    cost = result["usd_per_million_tokens"]
    amount = f"{as_text(cost)} $" if cost is not None else f"not known ({result['null_reason']})"
    where = f"{result['chip_id']}, {result['model_id']}, {result['workload_id']}"
    return f"a million {result['token_kind']} tokens on {result['date']}: {amount}; {where}"


def _grow(branch: Tree, link: Link) -> None:
    """Hang what a link holds below `branch`: values first come as they stand, what is unknown is left out."""
    for name, value in link.items():
        if value is None or value == []:
            continue
        label = name.replace("_", " ")
        if isinstance(value, dict) and "formula" in value:
            branch.add(escape(f"{label}: {_told_sum(value)}"))
        elif isinstance(value, dict):
            _grow(branch.add(escape(label)), value)
        elif isinstance(value, list) and isinstance(value[0], dict):
            several = branch.add(escape(f"{label} ({len(value)})"))
            for found in value[:SHOWN_ROWS]:
                title = next((found[key] for key in NAMES if found.get(key)), label)
                _grow(several.add(escape(str(title))), found)
            if len(value) > SHOWN_ROWS:
                several.add(f"and {len(value) - SHOWN_ROWS} more: --format json has them all")
        else:
            branch.add(escape(f"{label}: {as_text(value)}"))


def _told_sum(value: Link) -> str:
    if value["worked_out"] is None:
        return f"{value['formula']} cannot be worked out; stored is {value['stored']}"
    told = f"{value['formula']} = {number(value['worked_out'])}"
    return told if value["agrees"] else f"{told}, BUT STORED IS {as_text(value['stored'])}"
