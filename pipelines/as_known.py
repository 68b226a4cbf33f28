"""The past, asked of today's file: table macros `<mart>_as_known(ts)` and `<mart>_as_recorded(ts)`.

Belongs here: which tables the past replaces. Does not belong here: how a macro is made of a mart
(`macros.py`), or any rule of a mart. A mart at an earlier moment is the same selects over fewer facts:

- `_as_known(ts)` runs them with `as_of = ts`: only what the world could know by then.
- `_as_recorded(ts)` sees the facts as our own store held them at ts, whatever was loaded later.
"""

from __future__ import annotations

from collections.abc import Mapping

from pipelines.macros import Macro, Rewriting
from pipelines.sql_models import Model

CLOCK = "core.run"
KNOWN_PREFIX = "known_"
MEANINGS = {
    "as_known": "{mart} as the world could know it at ts.",
    "as_recorded": "{mart} as our own store held its facts at ts, whatever was loaded later.",
}


def macros(models: Mapping[str, Model]) -> list[Macro]:
    """Both macros of every mart that depends on the clock, in the models' order."""
    made = []
    for flavour, replace in (("as_known", _known), ("as_recorded", _recorded)):
        past = Rewriting(models, ("ts",), replace)
        made += [
            past.macro(f"{name}_{flavour}", name, MEANINGS[flavour].format(mart=name))
            for name in past.moving
            if models[name].schema == "mart"
        ]
    return made


def as_recorded(models: Mapping[str, Model], mart: str, name: str) -> Macro:
    """The macro `name(ts)`: one mart as our own store held its facts at ts."""
    return Rewriting(models, ("ts",), _recorded).macro(name, mart, MEANINGS["as_recorded"].format(mart=mart))


def _known(model: Model, table: str) -> str | None:
    return "select cast(ts as timestamptz) as as_of" if table == CLOCK else None


def _recorded(model: Model, table: str) -> str | None:
    if table == CLOCK or not model.table.startswith(KNOWN_PREFIX):
        return _known(model, table)
    return (
        f"select * exclude (recorded_to), cast(null as timestamptz) as recorded_to from {table} "
        "where recorded_at <= cast(ts as timestamptz) "
        "and (recorded_to is null or recorded_to > cast(ts as timestamptz))"
    )
