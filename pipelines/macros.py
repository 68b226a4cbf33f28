"""A mart once more as a table macro of the published file: its own selects, some tables read from arguments.

Belongs here: making the statement. A table that is replaced becomes a subquery over the macro's parameters,
every select between it and the mart a CTE; all other tables are read where they lie. Does not belong here:
which tables are replaced, and why (`as_known.py`: the past; `own_numbers.py`: the reader's own numbers), or
any rule of a mart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sqlglot import exp, parse_one

from pipelines.sql_models import Model, ModelError

# What a model reads in place of a table, as SQL over the parameters; None: the table itself.
Replace = Callable[[Model, str], str | None]


@dataclass(frozen=True)
class Macro:
    """One macro: the mart that it repeats, its statement, and the tables that must lie beside it."""

    name: str
    mart: str
    parameters: tuple[str, ...]
    description: str
    statement: str
    reads: tuple[str, ...]

    @property
    def signature(self) -> str:
        """`name(parameters)`, as it is called."""
        return f"{self.name}({', '.join(self.parameters)})"


class Rewriting:
    """Models over replaced tables. `parameters` may carry defaults: `share := 1`."""

    def __init__(self, models: Mapping[str, Model], parameters: tuple[str, ...], replace: Replace) -> None:
        self.parameters = parameters
        self._models = models
        self._replace = replace
        self.moving: list[str] = []
        for name, model in models.items():  # in dependency order
            if any(d in self.moving or replace(model, d) is not None for d in model.depends_on):
                self.moving.append(name)
        self._selects: dict[str, tuple[str, set[str]]] = {}

    def macro(self, name: str, mart: str, description: str, columns: str = "*", condition: str = "") -> Macro:
        """The macro `name` that repeats `mart`: `columns` of the rows of it that meet `condition`.

        Raises ModelError where a model names a column, without its table, as a parameter is named: DuckDB
        would put the argument in its place.
        """
        needed = self._needed(mart)
        self._check_names([*needed, mart])
        ctes = ", ".join(f"{_cte(n)} as ({self._select(n)[0]})" for n in needed)
        with_clause = f"with {ctes} " if ctes else ""
        body = self._select(mart)[0]
        statement = (
            f"create or replace macro {name}({', '.join(self.parameters)}) as table "
            f"{with_clause}select {columns} from ({body})" + (f" where {condition}" if condition else "")
        )
        reads = set[str]().union(*(self._select(n)[1] for n in [*needed, mart]))
        return Macro(name, mart, self.parameters, description, statement, tuple(sorted(reads)))

    def _needed(self, mart: str) -> list[str]:
        wanted: set[str] = set()
        stack = [mart]
        while stack:
            model = self._models[stack.pop()]
            for name in model.depends_on:
                if name in self.moving and name not in wanted and self._replace(model, name) is None:
                    wanted.add(name)
                    stack.append(name)
        return [name for name in self.moving if name in wanted]

    def _select(self, name: str) -> tuple[str, set[str]]:
        # Only what some macro needs: a reader's own numbers touch few of the models that move with them.
        if name not in self._selects:
            self._selects[name] = self._rewritten(self._models[name])
        return self._selects[name]

    def _rewritten(self, model: Model) -> tuple[str, set[str]]:
        """The model's select over CTEs and replacements, and the stored tables that it still reads."""
        tree = model.tree.copy()
        stored: set[str] = set()
        for table in list(tree.find_all(exp.Table)):
            if not table.db:
                continue
            name = f"{table.db}.{table.name}"
            alias = table.alias or table.name
            if (instead := self._replace(model, name)) is not None:
                subquery = parse_one(instead, read="duckdb")
                stored |= {f"{t.db}.{t.name}" for t in subquery.find_all(exp.Table) if t.db}
                table.replace(
                    exp.Subquery(this=subquery, alias=exp.TableAlias(this=exp.to_identifier(alias)))
                )
            elif name in self.moving:
                table.replace(exp.to_table(_cte(name), alias=alias))
            else:
                stored.add(name)
        for comment_holder in tree.walk():
            comment_holder.comments = None
        return tree.sql("duckdb"), stored

    def _check_names(self, names: Iterable[str]) -> None:
        parameters = {parameter.split(" ")[0] for parameter in self.parameters}
        for name in names:
            columns = {c.name for c in self._models[name].tree.find_all(exp.Column) if not c.table}
            if clash := sorted(columns & parameters):
                raise ModelError(
                    f"{self._models[name].path}: names a column {clash[0]} without its table; a macro's "
                    "parameter is named so"
                )


def tables_read(found: Iterable[Macro]) -> set[str]:
    """Every table that the macros need beside them."""
    return {name for macro in found for name in macro.reads}


def _cte(name: str) -> str:
    return name.replace(".", "__")
