"""The past, asked of today's file: table macros `<mart>_as_known(ts)` and `<mart>_as_recorded(ts)`.

Belongs here: generating the macros from the models themselves, so that no mart is written twice. Does
not belong here: any rule of a mart. A mart at an earlier moment is the same selects over fewer facts:

- `_as_known(ts)` runs them with `as_of = ts`: only what the world could know by then.
- `_as_recorded(ts)` sees the facts as our own store held them at ts, whatever was loaded later.

Every select between the facts and the mart becomes a CTE of the macro; the facts stay tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp, parse_one

from pipelines.sql_models import Model

CLOCK = "core.run"
KNOWN_PREFIX = "known_"


@dataclass(frozen=True)
class Macro:
    """One macro: `name(ts)`, its statement, and the tables that must lie beside it."""

    name: str
    statement: str
    reads: tuple[str, ...]


def macros(models: Mapping[str, Model]) -> list[Macro]:
    """Both macros of every mart that depends on the clock, in the models' order."""
    moving = _moving(models)
    made = []
    for flavour in ("as_known", "as_recorded"):
        rewritten = {name: _rewritten(models[name], moving, flavour) for name in models if name in moving}
        made += [
            _macro(model, models, rewritten, flavour)
            for name, model in models.items()
            if name in moving and model.schema == "mart"
        ]
    return made


def _moving(models: Mapping[str, Model]) -> set[str]:
    """The models whose rows depend on the run's as_of: the clock and everything that reads it."""
    moving = {CLOCK}
    for name, model in models.items():  # in dependency order
        if moving.intersection(model.depends_on):
            moving.add(name)
    return moving


def _macro(
    model: Model, models: Mapping[str, Model], rewritten: Mapping[str, tuple[str, set[str]]], flavour: str
) -> Macro:
    needed = _needed(model, models, set(rewritten))
    ctes = ", ".join(f"{_cte(name)} as ({rewritten[name][0]})" for name in needed)
    name = f"mart.{model.table}_{flavour}"
    body, reads = rewritten[model.name]
    with_clause = f"with {ctes} " if ctes else ""
    statement = f"create or replace macro {name}(ts) as table {with_clause}select * from ({body})"
    return Macro(name, statement, tuple(sorted(reads.union(*(rewritten[n][1] for n in needed)))))


def _needed(model: Model, models: Mapping[str, Model], moving: set[str]) -> list[str]:
    wanted: set[str] = set()
    stack = [model.name]
    while stack:
        for name in models[stack.pop()].depends_on:
            if name in moving and name != CLOCK and name not in wanted:
                wanted.add(name)
                stack.append(name)
    return [name for name in models if name in wanted]


def _rewritten(model: Model, moving: set[str], flavour: str) -> tuple[str, set[str]]:
    """The model's select with its moving tables as CTEs, and the fixed tables that it still reads."""
    tree = model.tree.copy()
    fixed: set[str] = set()
    for table in list(tree.find_all(exp.Table)):
        if not table.db:
            continue
        name = f"{table.db}.{table.name}"
        alias = table.alias or table.name
        if name == CLOCK:
            table.replace(_subquery("select cast(ts as timestamptz) as as_of", alias))
        elif name in moving:
            table.replace(exp.to_table(_cte(name), alias=alias))
        else:
            fixed.add(name)
            if flavour == "as_recorded" and model.table.startswith(KNOWN_PREFIX):
                table.replace(_subquery(_recorded(name), alias))
    for comment_holder in tree.walk():
        comment_holder.comments = None
    return tree.sql("duckdb"), fixed


def _recorded(fact: str) -> str:
    return (
        f"select * exclude (recorded_to), cast(null as timestamptz) as recorded_to from {fact} "
        "where recorded_at <= cast(ts as timestamptz) "
        "and (recorded_to is null or recorded_to > cast(ts as timestamptz))"
    )


def _subquery(sql: str, alias: str) -> exp.Subquery:
    return exp.Subquery(
        this=parse_one(sql, read="duckdb"), alias=exp.TableAlias(this=exp.to_identifier(alias))
    )


def _cte(name: str) -> str:
    return name.replace(".", "__")


def tables_read(found: Iterable[Macro]) -> set[str]:
    """Every table that the macros need beside them."""
    return {name for macro in found for name in macro.reads}
