"""The data dictionary: every published table, column and macro, in words.

Belongs here: rendering what the models' headers and the macros say. Does not belong here: any description.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from pipelines.macros import Macro
from pipelines.sql_models import Model


def render(models: Mapping[str, Model], macros: Iterable[Macro]) -> str:
    """Markdown: one section a mart, with its grain and one line a column; then one line a macro."""
    lines = ["# Dictionary", "", "Generated from the headers of `sql/mart/`. Units stand in the names.", ""]
    for name in sorted(n for n in models if n.startswith("mart.")):
        model = models[name]
        lines += [f"## {name}", "", model.description, "", f"Grain: {', '.join(model.grain)}.", ""]
        lines += ["| column | meaning |", "| --- | --- |"]
        lines += [
            f"| {column} | {meaning.replace('|', chr(92) + '|')} |"
            for column, meaning in model.columns.items()
        ]
        lines.append("")
    lines += ["## Macros", "", "Each is called as a table: `from mart.cheapest_at(42)`.", ""]
    lines += ["| macro | what it gives |", "| --- | --- |"]
    lines += [f"| `{macro.signature}` | {macro.description} |" for macro in macros]
    lines.append("")
    return "\n".join(lines)


def write(models: Mapping[str, Model], macros: Iterable[Macro], path: Path) -> None:
    """Write the dictionary to `path`."""
    path.write_text(render(models, macros), encoding="utf-8")


def main() -> None:
    """Write the dictionary of the repository anew: `make dictionary`."""
    from pipelines import run  # which publishes, and so needs this module first
    from pipelines.home import SQL

    write(run.models(), run.macros(), SQL / "DICTIONARY.md")


if __name__ == "__main__":
    main()
