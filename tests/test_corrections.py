"""Corrections: a figure that a person states anew becomes a version of its fact; what was known before stays.

Belongs here: what a correction does to each kind of fact, what it does not do, and what is told of it. Does
not belong here: what may be written (`test_correction_grammar.py`), retractions (`test_fault_cases_b.py`) and
values that their own source mends (`test_fault_cases_a.py`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bench_world import INDEX, SERIES, correction, point, priced, retraction
from price_world import Query, Row, look, published, quote, world

from pipelines import run
from pipelines.home import PROJECT, Home
from pipelines.publish import publish
from pipelines.warehouse import Warehouse

pytestmark = pytest.mark.slow  # a warehouse for nearly every test

CHECKS = Path(run.__file__).parents[1] / "sql" / "checks"
EXPECTED = CHECKS / "correction_expects_what_is_stated.sql"
PLAUSIBLE = CHECKS / "corrected_figure_is_plausible.sql"
NAMED_ONCE = CHECKS / "corrected_fact_is_named_once.sql"


def rent(chip: str, usd: str, known: str, on: str = "2026-07-01", **changes: Any) -> Row:
    return published(INDEX, chip, usd, on, known, **changes)


def of_rent(chip: str, expected: str, new: str, on: str, **changes: Any) -> Row:
    locator = f"publisher/{INDEX}/{chip}/reserved:36m/2026-07-01"
    return correction("rental_index_value", locator, "value", expected, new, on, **changes)


def of_result(result_id: str, field: str, expected: str, new: str, on: str, **changes: Any) -> Row:
    return correction("benchmark_result", f"lab/result/{result_id}", field, expected, new, on, **changes)


def of_quote(offer: str, expected: str, new: str) -> Row:
    locator = f"{offer}/-/on_demand/2026-11-18"
    return correction("rental_quote", locator, "price", expected, new, "2026-11-20")


def token(usd: str, effective: str) -> Row:
    values = {
        "provider": "seller", "raw_model_name": "deepseek-r1-0528", "tier": "standard",
        "token_kind": "output", "price": Decimal(usd), "currency": "USD",
        "effective_from": datetime.fromisoformat(f"{effective}T00:00:00Z"),
    }  # fmt: skip
    moment = datetime(2026, 11, 1, 6, tzinfo=UTC)
    return Row("token_price", "seller", moment, moment, values)


# One file of corrections, of which every version repeats what the one before says.
SAID = {
    "2026-03-28": [
        of_result("r-1", "accelerator_count", "8", "4", "2026-03-28"),
        of_result("r-2", "output_tok_s", "800", "900", "2026-03-28"),
        of_result("r-2", "total_tok_s", "8000", "9000", "2026-03-28"),
    ],
    "2026-09-08": [
        of_rent("case-a16", "1.78", "2.00", "2026-09-08"),
        of_rent("case-again", "1.78", "2.00", "2026-09-08"),
        of_rent("case-mended", "1.78", "2.00", "2026-09-08"),
        of_rent("case-nowhere", "1.78", "2.00", "2026-09-08"),
        # Taken out again a month later.
        of_rent("case-taken", "1.78", "2.00", "2026-09-08"),
        of_rent("case-back", "1.78", "2.00", "2026-09-08"),
    ],
    "2026-10-08": [
        # Said in October of a time in July: whoever looked by then could know it.
        of_rent("case-old", "1.78", "2.00", "2026-07-15"),
    ],
    "2026-11-20": [
        # What names a source whose terms forbid to pass its rows on, whether it finds any or not.
        of_quote("vast/hidden", "1.50", "1.60"),
        of_quote("vast/absent", "1.50", "1.60"),
        # Sixteen dollars for eight GPUs were twenty-four.
        of_quote("cloud/case-quote", "16", "24"),
        correction("token_price", "seller/seller/deepseek-r1-0528/standard/output/2026-10-01", "price",
                   "3.00", "2.19", "2026-11-20"),
    ],
}  # fmt: skip
TAKEN_OUT = {"case-taken", "case-back"}


def files() -> list[Row]:
    rows: list[Row] = []
    said: list[Row] = []
    for day, more in SAID.items():
        said += more
        if day == "2026-10-08":
            said = [
                row for row in said if not any(f"/{chip}/" in row.values["locator"] for chip in TAKEN_OUT)
            ]
        moment = datetime.fromisoformat(f"{day}T06:00:00Z")
        rows += [Row(row.kind, row.source, moment, moment, row.values) for row in said]
    return rows


ROWS = [
    # B-13: 24,000 tok/s on eight accelerators, mended a day later to four.
    priced("case-b13", "3.60"),
    point("case-b13", "2026-03-27", throughput_basis="system", output_tok_s=24000, tp=None, result_id="r-1",
          run_id=None),
    # Two figures of a point that only fit each other together, stated twice.
    point("case-pair", "2026-03-20", output_tok_s=800, total_tok_s=8000, result_id="r-2", run_id=None),
    point("case-pair", "2026-03-20", output_tok_s=800, total_tok_s=8000, result_id="r-2", run_id=None,
          known_at="2026-04-20"),
    # 1.78 is mended to 2.00 in September, and 2.10 holds from October on.
    rent("case-a16", "1.78", "2026-07-31"),
    rent("case-a16", "2.10", "2026-10-02", on="2026-10-01"),
    # A source that goes on saying what is wrong, and one that says in October what is right.
    *(rent("case-again", "1.78", day) for day in ("2026-07-31", "2026-08-31", "2026-09-08", "2026-10-31")),
    rent("case-mended", "1.78", "2026-07-31"),
    rent("case-mended", "2.00", "2026-10-01"),
    rent("case-taken", "1.78", "2026-07-31"),
    *(rent("case-back", "1.78", day) for day in ("2026-07-31", "2026-09-20")),
    *(rent("case-old", "1.78", day) for day in ("2026-07-10", "2026-07-31")),
    quote("case-quote", "cloud", 16, "2026-11-18", gpu_count=8, price_unit="instance_hour"),
    quote("case-quote", "cloud", 26, "2026-11-29", gpu_count=8, price_unit="instance_hour"),
    quote("case-untouched", "cloud", 16, "2026-11-18", gpu_count=8, price_unit="instance_hour"),
    quote("case-hidden", "cloud", "1.50", "2026-11-18", source="vast", offer_key="hidden"),
    token("3.00", "2026-10-01"),
    # Withdrawn as a whole, and what is withdrawn that was never stored.
    point("case-gone", "2026-10-01", run_id="990"),
    retraction("lab/run/990", "2026-10-09", "wrong harness"),
    retraction("lab/run/991", "2026-10-09", "wrong harness"),
    # What a chip costs shows beside a point of it.
    *(point(f"case-{name}", "2026-07-10") for name in ("a16", "again", "mended", "taken", "back", "old")),
    *files(),
]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("corrections")


@pytest.fixture(scope="module")
def tables(root: Path) -> Query:
    return world(root, ROWS, history=True, seed_sources=["corrections"])


def at(day: str) -> str:
    return f"timestamptz '{day} 12:00:00+00'"


# Benchmark results


@pytest.mark.parametrize("flavour", ["as_known", "as_recorded"])
def test_b13_a_corrected_count_is_a_correction_and_no_performance(tables: Query, flavour: str) -> None:
    asked = "select output_tok_s_gpu, accelerator_count from {} where chip_id = 'case-b13'"
    assert tables(asked.format("mart.benchmark_point")) == [(6000, 4)]
    assert tables(asked.format(f"mart.benchmark_point_{flavour}({at('2026-03-27')})")) == [(3000, 8)]
    assert tables(asked.format(f"mart.benchmark_point_{flavour}({at('2026-03-28')})")) == [(6000, 4)]
    assert tables(
        "select before_value, after_value, cause, withdrawn from mart.yield_change "
        "where chip_id = 'case-b13' and token_kind = 'output'"
    ) == [(3000, 6000, "correction", False)]
    # 3.60 / (3000 x 0.0036) = 1/3; 3.60 / (6000 x 0.0036) = 1/6.
    assert tables(
        "select cause, cast(changed_on as varchar), throughput_effect_usd, price_effect_usd, "
        "record_effect_usd from mart.cost_change "
        "where chip_id = 'case-b13' and price_series_id = ? and cause <> 'new'",
        SERIES,
    ) == [("correction", "2026-03-28", 0, 0, pytest.approx(-1 / 6))]


def test_figures_of_one_point_are_corrected_together_and_once(tables: Query) -> None:
    assert tables(
        "select output_tok_s_gpu, total_tok_s_gpu, input_tok_s_gpu from mart.benchmark_point "
        "where chip_id = 'case-pair'"
    ) == [(900, 9000, 8100)]
    assert tables(
        "select token_kind, before_value, after_value, cause from mart.yield_change "
        "where chip_id = 'case-pair' and gpu_scope = 'all' and token_kind <> 'input' order by token_kind"
    ) == [("output", 800, 900, "correction"), ("total", 8000, 9000, "correction")]


def test_a_corrected_point_is_no_second_candidate(tables: Query) -> None:
    # Two payloads state the point: the first stood until the correction, the second never did.
    assert tables(
        "select version, output_tok_s_gpu, cast(cast(known_at as date) as varchar), "
        "recorded_to = recorded_at from core.benchmark_result "
        "where result_id = 'r-2' order by known_at, version"
    ) == [
        (0, 800, "2026-03-20", None),
        (1, 900, "2026-03-28", None),
        (0, 800, "2026-04-20", True),
        (1, 900, "2026-04-20", None),
    ]
    assert tables("select count(*) from mart.rejected_row where source = 'bench'") == [(0,)]
    assert tables("select count(*) from mart.benchmark_point where chip_id = 'case-pair'") == [(1,)]


# Prices


@pytest.mark.parametrize("flavour", ["as_known", "as_recorded"])
@pytest.mark.parametrize(
    ("chip", "day", "asked_at", "usd"),
    [
        ("case-a16", "2026-08-15", "2026-08-20", 1.78),
        ("case-a16", "2026-08-15", "2026-09-07", 1.78),
        ("case-a16", "2026-08-15", "2026-09-09", 2.00),
        ("case-a16", "2026-08-15", "2026-11-30", 2.00),
        ("case-a16", "2026-10-15", "2026-11-30", 2.10),
        ("case-again", "2026-08-15", "2026-09-07", 1.78),
        ("case-again", "2026-08-15", "2026-09-09", 2.00),
        ("case-again", "2026-08-15", "2026-11-30", 2.00),
        ("case-mended", "2026-08-15", "2026-08-20", 1.78),
        ("case-mended", "2026-08-15", "2026-11-30", 2.00),
    ],
)
def test_a16_a_corrected_rent_changes_no_answer_of_before(
    tables: Query, flavour: str, chip: str, day: str, asked_at: str, usd: float
) -> None:
    assert rents(tables, flavour, chip, day, asked_at) == [(usd,)]


def rents(tables: Query, flavour: str, chip: str, day: str, asked_at: str) -> list[tuple[Any, ...]]:
    return tables(
        f"select cast(usd_per_gpu_hour as double) from mart.price_coverage_{flavour}({at(asked_at)}) "
        "where price_series_id = ? and chip_id = ? and date = ?",
        SERIES,
        chip,
        day,
    )


def test_a16_the_cost_moved_in_the_record_and_with_the_price_of_october(tables: Query) -> None:
    # 1.78, 2.00 and 2.10 over 1000 x 0.0036.
    assert tables(
        "select cause, cast(changed_on as varchar), price_effect_usd, record_effect_usd "
        "from mart.cost_change where chip_id = 'case-a16' and price_series_id = ? "
        "and cause <> 'new' order by changed_on",
        SERIES,
    ) == [
        ("correction", "2026-09-08", 0, pytest.approx(0.22 / 3.6)),
        ("price", "2026-10-01", pytest.approx(0.10 / 3.6), 0),
    ]


@pytest.mark.parametrize("chip", ["case-a16", "case-again", "case-mended"])
def test_a_source_that_repeats_what_is_wrong_is_corrected_once(tables: Query, chip: str) -> None:
    assert tables(
        "select cast(before_usd_per_gpu_hour as double), cast(after_usd_per_gpu_hour as double), "
        "cast(cast(revised_known_at as date) as varchar) from core.price_revision where chip_id = ?",
        chip,
    ) == [(1.78, 2.00, "2026-09-08")]


@pytest.mark.parametrize("chip", sorted(TAKEN_OUT))
@pytest.mark.parametrize(
    ("asked_at", "usd"),
    [
        ("2026-09-07", 1.78),
        ("2026-09-09", 2.00),
        ("2026-10-07", 2.00),
        ("2026-10-09", 1.78),
        ("2026-11-30", 1.78),
    ],
)
def test_a_correction_that_is_taken_out_ends(tables: Query, chip: str, asked_at: str, usd: float) -> None:
    assert rents(tables, "as_recorded", chip, "2026-08-15", asked_at) == [(usd,)]
    assert rents(tables, "as_known", chip, "2026-08-15", asked_at) == [(1.78,)]
    assert tables("select count(*) from core.price_revision where chip_id = ?", chip) == [(0,)]


def test_a_correction_that_was_known_before_we_stored_it(tables: Query) -> None:
    asked = {
        "as_known": {"2026-07-12": 1.78, "2026-07-16": 2.00, "2026-08-20": 2.00},
        "as_recorded": {"2026-07-12": 1.78, "2026-08-20": 1.78, "2026-10-07": 1.78, "2026-10-09": 2.00},
    }
    for flavour, expected in asked.items():
        for asked_at, usd in expected.items():
            assert rents(tables, flavour, "case-old", "2026-07-11", asked_at) == [(usd,)], (flavour, asked_at)


def test_a_new_version_of_the_file_makes_no_new_version_of_a_fact(tables: Query) -> None:
    # The file of March stands in four versions, and the fact in two.
    assert tables("select count(*) from core.benchmark_result where result_id = 'r-1'") == [(2,)]
    assert tables("select count(*) from core.rental_index_value where chip_id = 'case-a16'") == [(3,)]


def test_a_corrected_quote_stands_alone_for_its_look(tables: Query) -> None:
    asked = (
        "select cast(usd_per_gpu_hour as double) from mart.rental_price_daily{} where provider_id = 'cloud' "
        "and chip_id = ? and date = '2026-11-18'"
    )
    assert tables(asked.format(""), "case-quote") == [(3.0,)]
    assert tables(asked.format(f"_as_known({at('2026-11-19')})"), "case-quote") == [(2.0,)]
    assert tables(asked.format(f"_as_recorded({at('2026-11-19')})"), "case-quote") == [(2.0,)]
    assert tables(asked.format(""), "case-untouched") == [(2.0,)]
    assert tables(
        "select cast(usd_per_gpu_hour as double) from core.known_rental_quote "
        "where chip_id = 'case-quote' order by 1"
    ) == [(3.0,), (3.25,)]


def test_a_corrected_token_price_stands_alone_for_its_day(tables: Query) -> None:
    asked = (
        "select cast(usd_per_million_tokens as double), null_reason from mart.token_price_daily{} "
        "where provider_id = 'seller' and date = '2026-11-05'"
    )
    assert tables(asked.format("")) == [(2.19, None)]
    assert tables(asked.format(f"_as_known({at('2026-11-19')})")) == [(3.0, None)]


# What is told


def test_every_correction_in_force_is_shown_with_what_came_of_it(tables: Query) -> None:
    assert tables(
        "select split_part(locator, '/', 3), field, status, fact_count, value_expected, value_stated, "
        "value_new from mart.correction order by row_kind, locator, field"
    ) == [
        ("r-1", "accelerator_count", "applied", 1, "8", 8, "4"),
        ("r-2", "output_tok_s", "applied", 1, "800", 800, "900"),
        ("r-2", "total_tok_s", "applied", 1, "8000", 8000, "9000"),
        ("990", None, "applied", 1, None, None, None),
        ("991", None, "no_such_fact", 0, None, None, None),
        ("case-a16", "value", "applied", 1, "1.78", 1.78, "2.00"),
        ("case-again", "value", "applied", 1, "1.78", 1.78, "2.00"),
        ("case-mended", "value", "no_longer_needed", 1, "1.78", 2.00, "2.00"),
        ("case-nowhere", "value", "no_such_fact", 0, "1.78", None, "2.00"),
        ("case-old", "value", "applied", 1, "1.78", 1.78, "2.00"),
        ("-", "price", "applied", 1, "16", 16, "24"),
        ("-", "price", "no_such_fact", 0, "1.50", None, "1.60"),
        ("-", "price", "applied", 1, "1.50", 1.5, "1.60"),
        ("deepseek-r1-0528", "price", "applied", 1, "3.00", 3, "2.19"),
    ]


@pytest.mark.slow
def test_what_may_not_be_passed_on_is_not_told_of_in_a_correction(tables: Query, root: Path) -> None:
    hidden = [("vast/absent/-/on_demand/2026-11-18",), ("vast/hidden/-/on_demand/2026-11-18",)]
    assert tables("select locator from mart.correction where not passes_on order by locator") == hidden
    warehouse = Warehouse(Home(root).warehouse)
    copy = publish(warehouse, run.models(), run.macros(), root / "published").folder
    with duckdb.connect(str(copy / "tokenyield.duckdb"), read_only=True) as connection:
        for table in ("mart.correction", "core.correction", "clean.correctable_figure"):
            told = f"select count(*), count(*) filter (where starts_with(locator, 'vast/')) from {table}"
            rows, withheld = connection.execute(told).fetchone()
            assert rows > 5, table
            assert withheld == 0, table


@pytest.mark.parametrize("path", [EXPECTED, PLAUSIBLE, NAMED_ONCE], ids=lambda path: path.stem)
def test_no_check_finds_anything_where_all_is_well(tables: Query, path: Path) -> None:
    assert tables(path.read_text("utf-8")) == []


SAID_OF_ALL = (
    "select * from (select 'fact', quote_id, usd_per_gpu_hour, known_at, recorded_at, recorded_to "
    "from core.rental_quote union all "
    "select 'value', index_value_id, usd_per_gpu_hour, known_at, recorded_at, recorded_to "
    "from core.rental_index_value union all select 'point', benchmark_result_id, output_tok_s_gpu, known_at, "
    "recorded_at, recorded_to from core.benchmark_result) order by all"
)


def test_the_order_of_loading_does_not_matter(tables: Query, tmp_path: Path) -> None:
    # Rows of one payload keep their numbers: these are their places in it.
    marts = ("mart.benchmark_point", "mart.price_coverage", "mart.correction", "core.rental_quote")
    shuffled = world(tmp_path, ROWS, marts=marts, shuffle=7, seed_sources=["corrections"])
    assert shuffled(SAID_OF_ALL) == tables(SAID_OF_ALL)


# What fails

WRONG = [
    # The source says a third value, from the first or since the correction.
    rent("case-third", "1.90", "2026-07-31"),
    rent("case-moved", "1.78", "2026-07-31"),
    rent("case-moved", "1.85", "2026-10-31"),
    of_rent("case-third", "1.78", "2.00", "2026-09-08"),
    of_rent("case-moved", "1.78", "2.00", "2026-09-08"),
    # A dollar price that no H100 has, and a count that its own ranks contradict.
    published(INDEX, "h100-sxm-80", "1.78", "2026-11-01", "2026-11-01"),
    correction("rental_index_value", f"publisher/{INDEX}/h100-sxm-80/reserved:36m/2026-11-01", "value",
               "1.78", "178", "2026-09-08"),
    point("case-ranks", "2026-03-27", result_id="r-3", run_id=None),
    of_result("r-3", "accelerator_count", "8", "4", "2026-03-28", recorded="2026-09-08"),
    # One figure corrected at two moments, and one result under two names.
    rent("case-twice", "1.78", "2026-07-31"),
    of_rent("case-twice", "1.78", "2.00", "2026-09-08"),
    of_rent("case-twice", "1.78", "2.10", "2026-09-09", recorded="2026-09-08"),
    point("case-names", "2026-03-27", result_id="r-4", point_label="four", run_id=None),
    of_result("r-4", "output_tok_s", "1000", "1100", "2026-03-28", recorded="2026-09-08"),
    correction("benchmark_result", "lab/label/four", "output_tok_s", "1000", "1200", "2026-03-28",
               recorded="2026-09-08"),
    # A name of two facts: of which chip, nobody can tell.
    quote("case-both", "cloud", "2.00", "2026-09-08", offer_key="shared"),
    quote("case-two", "cloud", "2.00", "2026-09-08", offer_key="shared"),
    correction("rental_quote", "cloud/shared/-/on_demand/2026-09-08", "price", "2.00", "3.00", "2026-09-08"),
    point("case-both", "2026-03-27", run_id=None, point_label="table 2", tp=None),
    point("case-two", "2026-03-27", run_id=None, point_label="table 2", tp=None),
    correction("benchmark_result", "lab/label/table 2", "output_tok_s", "1000", "1100", "2026-03-28",
               recorded="2026-09-08"),
    # What is set aside as stated stays so: the correction comes to nothing, and that is said.
    quote("h100-sxm-80", "cloud", "0.02", "2026-09-08", offer_key="cheap"),
    correction("rental_quote", "cloud/cheap/-/on_demand/2026-09-08", "price", "0.02", "2.00", "2026-09-08"),
    look("publisher", "2026-11-29"),
]  # fmt: skip


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> Query:
    marts = ("mart.correction", "mart.benchmark_point", "mart.price_coverage", "core.rental_quote")
    return world(tmp_path_factory.mktemp("wrong"), WRONG, marts=marts, seed_sources=["corrections"])


def messages(wrong: Query, path: Path) -> list[str]:
    return sorted(row[0] for row in wrong(path.read_text("utf-8")))


def test_an_expectation_that_does_not_hold_is_named_with_its_row_and_what_to_do(wrong: Query) -> None:
    where = (
        f"publisher/{INDEX}/case-{{}}/reserved:36m/2026-07-01: expects value 1.78, and the source says {{}}. "
    )
    todo = "See which is right, then mend value_expected and value_new, or take the row out"
    assert messages(wrong, EXPECTED) == [
        "seeds/correction/corrections.csv:2: " + where.format("third", "1.9") + todo,
        "seeds/correction/corrections.csv:3: " + where.format("moved", "1.85") + todo,
    ]


def test_a_figure_that_no_rule_would_accept_is_no_correction(wrong: Query) -> None:
    of_price, of_point = sorted(messages(wrong, PLAUSIBLE), key=lambda message: "r-3" in message)
    assert "h100-sxm-80/reserved:36m/2026-11-01: 178" in of_price
    assert of_point == (
        "seeds/correction: lab/result/r-3: the corrected point would be refused: gpu_counts_contradict"
    )


def test_a_fact_that_is_named_twice_is_found(wrong: Query) -> None:
    found = [message for message in messages(wrong, NAMED_ONCE) if " facts in one payload " not in message]
    of_figure, of_names = sorted(found, key=lambda message: "four" in message)
    assert "case-twice" in of_figure
    assert "lab/label/four and lab/result/r-4 name the same result" in of_names


def test_a_name_of_two_facts_is_found(wrong: Query) -> None:
    found = [message for message in messages(wrong, NAMED_ONCE) if " facts in one payload " in message]
    assert [message.split(" is the name of ")[0] for message in found] == [
        "seeds/correction: cloud/shared/-/on_demand/2026-09-08",
        "seeds/correction: lab/label/table 2",
    ]


def test_a_correction_of_what_is_set_aside_is_not_called_applied(wrong: Query) -> None:
    assert wrong("select count(*) from core.known_rental_quote where offer_key = 'cheap'") == [(0,)]
    asked = "select status, fact_count, value_stated from mart.correction where contains(locator, '/cheap/')"
    assert wrong(asked) == [("set_aside", 1, 0.02)]


# A point of a run, by the id that is published


def test_a_point_among_many_of_a_run_is_named_by_its_id(tmp_path: Path) -> None:
    rows = [
        point("case-run", "2026-03-27", run_id="77", tp=None, concurrency=64),
        point("case-run", "2026-03-27", run_id="77", tp=None, concurrency=128),
    ]
    marts = ("mart.benchmark_point", "mart.correction", "core.rental_quote", "core.rental_index_value")
    points = "from mart.benchmark_point where run_id = '77'"
    asked = f"select load_point, accelerator_count {points} order by concurrency"
    before = world(tmp_path / "before", rows, marts=marts)
    assert before(asked) == [("c64", 8), ("c128", 8)]
    ids = dict(before(f"select load_point, benchmark_point_id {points}"))
    said = [
        correction(
            "benchmark_result", f"lab/run/77/{ids['c128']}", "accelerator_count", "8", "4", "2026-03-28"
        ),
        correction("benchmark_result", f"lab/run/77/{'0' * 16}", "accelerator_count", "8", "2", "2026-03-28"),
    ]
    after = world(tmp_path / "after", [*rows, *said], marts=marts, seed_sources=["corrections"])
    assert after(asked) == [("c64", 8), ("c128", 4)]
    assert dict(after(f"select load_point, benchmark_point_id {points}")) == ids
    assert after("select status, fact_count from mart.correction order by status") == [
        ("applied", 1),
        ("no_such_fact", 0),
    ]
    assert after(PLAUSIBLE.read_text("utf-8")) + after(NAMED_ONCE.read_text("utf-8")) == []


# The real command


def tokenyield(project: Path, home: Home, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command of a copy of the project whose seeds may be edited."""
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), "TOKENYIELD_HOME": str(home.root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def h100_rent(home: Home) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(home.current_database), read_only=True) as connection:
        return connection.execute(
            "select cast(usd_per_gpu_hour as double) from mart.price_coverage where chip_id = 'h100-sxm-80' "
            "and price_series_id = ? and date = '2026-08-15'",
            [SERIES],
        ).fetchall()


@pytest.mark.slow
def test_a_broken_expectation_stops_the_build_and_leaves_the_last_copy(tmp_path: Path) -> None:
    project, home = tmp_path / "project", Home(tmp_path / "home")
    for part in ("pipelines", "seeds", "sql"):
        shutil.copytree(PROJECT / part, project / part, ignore=shutil.ignore_patterns("__pycache__"))
    for part in ("pyproject.toml", "dagster.yaml"):
        shutil.copyfile(PROJECT / part, project / part)
    seed = project / "seeds" / "correction" / "corrections.csv"
    header = seed.read_text("utf-8").splitlines()[0]
    build = ("build", "--as-of", "2026-11-30T12:00:00+00:00")
    # 1.78 of July, which its publisher mended to 2.00 in September, as the seed states both.
    locator = f"inferencex_constants/{INDEX}/h100-sxm-80/reserved:36m/2026-07-31"
    idle = locator.replace("h100-sxm-80", "no-such-chip")
    idle = f"rental_index_value,{idle},correct,value,1,2,a slip,2026-09-08,2026-09-08,"
    seed.write_text(f"{header}\n{idle}\n")
    assert tokenyield(project, home, *build).returncode == 0
    assert h100_rent(home) == [(2.00,)]
    told = tokenyield(project, home, "status")
    assert "warning: 1 corrections fit no fact that is stored here, 0 are no longer needed" in told.stderr

    line = f"rental_index_value,{locator},correct,value,{{}},2.05,a slip,2026-10-01,2026-10-01,"
    seed.write_text(f"{header}\n{idle}\n{line.format('1.78')}\n")
    failed = tokenyield(project, home, *build)
    assert failed.returncode == 1
    assert (
        f"seeds/correction/corrections.csv:3: {locator}: expects value 1.78, and the source says 2.0."
        in failed.stderr
    )
    assert "Traceback" not in failed.stderr
    assert h100_rent(home) == [(2.00,)]

    seed.write_text(f"{header}\n{idle}\n{line.format('2.00')}\n")
    assert tokenyield(project, home, *build).returncode == 0
    assert h100_rent(home) == [(2.05,)]
