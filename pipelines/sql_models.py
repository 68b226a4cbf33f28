"""The models as they are written: reads `sql/**/*.sql`, checks headers and references, orders them.

Belongs here: header grammar, dependencies, layer rule. Does not belong here: building them (`sql_build.py`),
Dagster (`assets/models.py`), the macros (`macros.py`). Grammar: sql/README.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import sqlglot
from sqlglot import exp

from pipelines.failure import Failure

LAYERS = ("raw", "clean", "core", "mart")
KEYS = ("grain", "column", "check", "warn")


class ModelError(Failure):
    """A model file, or the graph of them, is not what it must be; says file and line."""


@dataclass(frozen=True)
class Model:
    """One select in one file: `sql/core/chip.sql` makes `core.chip`."""

    path: Path
    schema: str
    table: str
    sql: str
    description: str
    grain: tuple[str, ...]
    columns: Mapping[str, str]
    checks: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def name(self) -> str:
        """`schema.table`."""
        return f"{self.schema}.{self.table}"

    @cached_property
    def tree(self) -> exp.Expression:
        """The parsed select."""
        return parse(self.path, self.sql)

    @cached_property
    def depends_on(self) -> tuple[str, ...]:
        """Every table that the select reads, as `schema.table`, sorted."""
        return tuple(sorted({f"{t.db}.{t.name}" for t in self.tree.find_all(exp.Table) if t.db}))


def read_models(folder: Path) -> dict[str, Model]:
    """Read every model below `folder`, in an order in which each can be built.

    Raises ModelError for a bad header, a reference that is no `schema.table`, a layer that reads to its
    right, an unknown table, or a cycle.
    """
    models = {}
    for layer in LAYERS[1:]:
        for path in sorted((folder / layer).glob("*.sql")):
            model = read_model(path)
            _check_references(model)
            models[model.name] = model
    graph = {}
    for model in models.values():
        for name in model.depends_on:
            if name not in models and not name.startswith("raw."):
                raise ModelError(f"{model.path}: reads {name}, which no model makes")
        graph[model.name] = {name for name in model.depends_on if name in models}
    try:
        return {name: models[name] for name in TopologicalSorter(graph).static_order()}
    except CycleError as error:
        raise ModelError(f"models read each other in a circle: {' -> '.join(error.args[1])}") from error


def needed(models: Mapping[str, Model], names: Iterable[str]) -> dict[str, Model]:
    """The models among `names` and all that they read, in building order."""
    wanted, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name in models and name not in wanted:
            wanted.add(name)
            waiting += models[name].depends_on
    return {name: model for name, model in models.items() if name in wanted}


def read_model(path: Path) -> Model:
    """Read one model file; raises ModelError with file and line for anything the grammar does not know."""
    lines = path.read_text(encoding="utf-8").splitlines()
    description: list[str] = []
    entries: list[tuple[str, int, list[str]]] = []
    for number, line in enumerate(lines, start=1):
        if not line.startswith("--"):
            break
        key = re.match(r"-- ([a-z_]+): (.+)", line)
        continued = re.match(r"--   \s*(\S.*)", line)
        if key and key[1] in KEYS:
            entries.append((key[1], number, [key[2].strip()]))
        elif key:
            raise ModelError(f"{path}:{number}: unknown header key {key[1]!r}; known are {', '.join(KEYS)}")
        elif continued and entries:
            entries[-1][2].append(continued[1].strip())
        elif entries:
            raise ModelError(f"{path}:{number}: a header line is `-- key: value` or, indented, its rest")
        else:
            description.append(line[2:].strip())
    values = [(key, number, " ".join(parts)) for key, number, parts in entries]
    grains = [value for key, _, value in values if key == "grain"]
    if len(grains) != 1 or not any(description):
        raise ModelError(f"{path}:1: a header has a sentence that says what a row is, and one grain")
    columns: dict[str, str] = {}
    for key, number, value in values:
        name, bar, meaning = (part.strip() for part in value.partition("|"))
        if key == "column" and (not bar or not meaning or name in columns):
            raise ModelError(f"{path}:{number}: column {name!r} wants `name | description`, once")
        if key == "column":
            columns[name] = meaning
    return Model(
        path=path,
        schema=path.parent.name,
        table=path.stem,
        sql="\n".join(lines),
        description=" ".join(filter(None, description)),
        grain=tuple(name.strip() for name in grains[0].split(",")),
        columns=columns,
        checks=tuple(value for key, _, value in values if key == "check"),
        warnings=tuple(value for key, _, value in values if key == "warn"),
    )


def parse(path: Path, sql: str) -> exp.Expression:
    try:
        trees = [tree for tree in sqlglot.parse(sql, read="duckdb") if tree is not None]
    except sqlglot.ParseError as error:
        at = error.errors[0].get("line") if error.errors else "?"
        raise ModelError(f"{path}:{at}: not SQL: {error}") from error
    if len(trees) != 1 or not isinstance(trees[0], exp.Query):
        raise ModelError(f"{path}: a model is exactly one select")
    return trees[0]


def _check_references(model: Model) -> None:
    ctes = {cte.alias for cte in model.tree.find_all(exp.CTE)}
    for table in model.tree.find_all(exp.Table):
        if not table.db and table.name not in ctes:
            raise ModelError(f"{model.path}: {table.sql()} is neither `schema.table` nor a CTE")
    for name in model.depends_on:
        schema = name.split(".")[0]
        if schema not in LAYERS or LAYERS.index(schema) > LAYERS.index(model.schema):
            raise ModelError(f"{model.path}: {model.schema} reads {name}, which does not stand to its left")
