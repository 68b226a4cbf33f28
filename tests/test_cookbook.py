"""Every question of `sql/cookbook` is asked of the published copy, and answered.

A question stands in its file's first line; the query reads `mart` alone, orders its rows and names the unit
of every number. What the answers must be stands in `test_cookbook_answers.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlglot
from price_world import Query, quote, world
from sqlglot import exp

from pipelines.home import Home

COOKBOOK = Path(__file__).parents[1] / "sql" / "cookbook"
FILES = sorted(COOKBOOK.glob("*.sql"))
EVERY_QUESTION = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
# Our own index wants prices of the day, which nobody types into a seed.
WANTS_FETCHED_PRICES = {"rental_index_with_band"}
ONE_ROW = {"implied_rent_of_a_claim"}
UNITS = (
    r"usd|percent|ratio|share|tok_s|tokens|tflops|gb|bytes|kw|w|mw|kwh|ms|days|hours|joules|count|rank|order|"
    r"score|months|figure_in_unit|then_value|now_value"  # the last three stand beside a column `unit`
)
NUMBERS = r"^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|FLOAT|DOUBLE|DECIMAL)"


@pytest.fixture(scope="module")
def copy(embedded_home: Home) -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect(str(embedded_home.current_database), read_only=True)
    connection.execute("set TimeZone = 'UTC'")
    yield connection
    connection.close()


def near(value: float, tolerance: float) -> Any:
    return pytest.approx(value, rel=0, abs=tolerance)


def test_there_are_questions():
    assert len(FILES) >= 20


@EVERY_QUESTION
def test_a_query_asks_a_question_of_the_marts_and_orders_its_rows(file):
    text = file.read_text(encoding="utf-8")
    assert re.fullmatch(r"-- [A-Z0-9][^?]{10,110}\?", text.splitlines()[0]), "the first line is the question"
    (tree,) = sqlglot.parse(text, read="duckdb")
    ctes = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        name = table.sql("duckdb")
        assert table.db == "mart" or table.name in ctes or re.match(r"mart\.\w+_as_(known|recorded)\(", name)
    assert tree.args.get("order") or file.stem in ONE_ROW
    assert not re.search(r"\b(now|today|current_\w+|random)\b\s*\(?\)?", re.sub(r"--.*", "", text))


@EVERY_QUESTION
def test_a_question_has_an_answer_whose_numbers_name_their_unit(file, copy):
    cursor = copy.execute(file.read_text(encoding="utf-8"))
    columns = [(name, str(kind)) for name, kind, *_ in cursor.description]
    assert bool(cursor.fetchall()) == (file.stem not in WANTS_FETCHED_PRICES)
    numeric = [name for name, kind in columns if re.match(NUMBERS, kind)]
    bare = [name for name in numeric if not re.search(rf"(^|_)({UNITS})(_|$)", name)]
    assert bare == []
    assert numeric


@EVERY_QUESTION
def test_a_query_of_stretches_of_days_names_a_day_or_shows_the_stretch(file, copy):
    # A row that held once is no answer of today, and two rows of two times are no choice between two ways.
    text = re.sub(r"--.*", "", file.read_text(encoding="utf-8"))
    stretched = {
        name for (name,) in copy.execute(
            "select table_name from duckdb_columns() where schema_name = 'mart' and column_name = 'valid_to'"
        ).fetchall()
    }  # fmt: skip
    (tree,) = sqlglot.parse(text, read="duckdb")
    read = {table.name for table in tree.find_all(exp.Table) if table.db == "mart"}
    # What is counted or listed once, whatever its stretch, hangs on no price.
    assert not read & stretched or "valid_to" in text or "distinct" in text


# Questions that want prices which were fetched


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Query:
    rows = [quote("case-votes", f"firm{n}", usd) for n, usd in enumerate((2.00, 2.10, 2.20, 2.30, 2.40))]
    rows += [
        quote("case-stock", "soldout", 1.00, availability="unavailable"),
        quote("case-stock", "stocked", 2.00),
        quote("case-stock", "silent", 3.00, availability="listed"),
    ]
    marts = ("mart.rental_index_daily", "mart.rental_price")
    return world(tmp_path_factory.mktemp("fetched"), rows, marts=marts)


def of_world(query: Query, stem: str) -> list[tuple[Any, ...]]:
    return query((COOKBOOK / f"{stem}.sql").read_text(encoding="utf-8"))


def test_d06_the_cheapest_offer_that_cannot_be_rented_is_listed_without_a_rank(fetched):
    rows = [row for row in of_world(fetched, "what_can_be_rented") if row[0] == "case-stock"]
    assert [(rank, provider, float(usd), stock) for _, rank, provider, _, usd, _, stock, *_ in rows] == [
        (1, "stocked", 2.0, "available"),
        (2, "silent", 3.0, "listed"),
        (None, "soldout", 1.0, "unavailable"),
    ]


def test_the_index_stands_between_the_ends_of_its_band(fetched):
    (row,) = [row for row in of_world(fetched, "rental_index_with_band") if row[1] == "case-votes"]
    usd, low, high, providers = float(row[5]), float(row[6]), float(row[7]), row[8]
    # Five votes around 2.20, each 3 % wide: the middle vote is the index.
    assert usd == near(2.20, 0.01)
    assert 2.0 < low < usd < high < 2.4
    assert high - usd == near(usd - low, 1e-6)
    assert providers == 5
