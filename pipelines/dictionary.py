"""The data dictionary: every published table and column, in words.

Belongs here: rendering what the models' headers say. Does not belong here: any description.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pipelines.sql_models import Model


def render(models: Mapping[str, Model]) -> str:
    """Markdown: one section a mart, with its grain and one line a column."""
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
    return "\n".join(lines)


def write(models: Mapping[str, Model], path: Path) -> None:
    """Write the dictionary to `path`."""
    path.write_text(render(models), encoding="utf-8")
