"""The dashboard: one page in a published version that asks nothing of any machine but the reader's.

Belongs here: writing `index.html` and `page/*.json` of a version from the version's own database. Does not
belong here: a number that SQL does not give (`sql/page/`), what a chart looks like (`charts.py`), words for
codes (`words.py`), layout (`page.html`, `page.css`), or choosing and showing rows (`page.js`, `rows.js`).
"""

from __future__ import annotations

import base64
import hashlib
from datetime import datetime
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from pipelines.page import data, words
from pipelines.warehouse import read_only

HERE = Path(__file__).parent
FILE = "index.html"


def reads() -> frozenset[str]:
    """Every table that the page asks, as `schema.table`."""
    return data.reads()


def write(folder: Path, version: str, as_of: datetime) -> None:
    """Write the page of the version that lies in `folder`; nothing outside its database is read.

    `as_of` is the moment of the version's facts, in UTC. A number that is not finite raises ValueError.
    """
    with read_only(folder / "tokenyield.duckdb") as connection:
        tables = data.ask(connection)
    (folder / "page").mkdir()
    for name, table in tables.items():
        (folder / "page" / f"{name}.json").write_text(data.strict_json(table.as_dict()), encoding="utf-8")
    (folder / FILE).write_text(render(tables, version, as_of), encoding="utf-8")


def render(tables: dict[str, data.Table], version: str, as_of: datetime) -> str:
    """The whole page as one HTML document: data, charts, style and script inlined."""
    drawn = ("cost_over_time", "cost_against_speed")
    chips = sorted({chip for name in drawn for chip in tables[name].column("chip_id")})
    scripts = [_in_script(text) for text in (_vega(), _own_script())]
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template("page.html").render(
        version=version,
        as_of=as_of,
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        scripts=[Markup(script) for script in scripts],
        hashes=[_hash(script) for script in scripts],
        # A script element ends at `</script`, whatever stands around it.
        data=Markup(_in_json(data.strict_json(data.packed(tables)))),
        charts=Markup(_in_json(data.strict_json(_compiled(tuple(chips))))),
        words=Markup(_in_json(data.strict_json(words.as_dict(tables)))),
    )


@cache
def _compiled(chips: tuple[str, ...]) -> dict[str, object]:
    """Vega of every chart: compiled here, so that the reader's browser need not."""
    # Imported late: Altair takes as long as all else together, and only a publication draws.
    import vl_convert

    from pipelines.page import charts

    return {name: vl_convert.vegalite_to_vega(spec) for name, spec in charts.specs(chips).items()}


@cache
def _vega() -> str:
    import vl_convert

    return vl_convert.javascript_bundle()


def _own_script() -> str:
    """One script of both files, for a page that fetches nothing has nowhere to import from."""
    return "".join((HERE / name).read_text(encoding="utf-8") for name in ("rows.js", "page.js"))


def _in_script(script: str) -> str:
    return script.replace("</script", "<\\/script")


def _hash(script: str) -> str:
    """What the page's policy allows to run: this text and no other."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _in_json(text: str) -> str:
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
