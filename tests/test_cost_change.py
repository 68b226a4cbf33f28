"""Why a cost moved: fault case D-02 and its neighbours, with figures that were worked out by hand.

Belongs here: `mart.cost_change`. Does not belong here: which point or price stands on a day.
"""

from __future__ import annotations

import tempfile
from datetime import date
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pytest
from bench_world import INDEX, SERIES, point, priced, retraction
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from price_world import Query, Row, moment, published, quote, world

pytestmark = pytest.mark.slow  # a warehouse for nearly every test

SOME = pytest.approx


def price(chip: str, usd: str, on: str, known: str | None = None) -> Row:
    return published(INDEX, chip, usd, on, known or on)


ROWS = [
    # D-02: price and throughput move on one day; and the example of the design.
    price("case-d02", "2.49", "2026-10-01"), price("case-d02", "2.60", "2026-11-10"),
    point("case-d02", "2026-10-05", output_tok_s=596),
    point("case-d02", "2026-11-10", output_tok_s=848, image="vllm:2"),
    price("case-d02e", "2.49", "2026-10-01"), price("case-d02e", "2.60", "2026-11-10"),
    point("case-d02e", "2026-10-05", output_tok_s=600),
    point("case-d02e", "2026-11-10", output_tok_s=850, image="vllm:2"),
    # B-08: one after the other, and a price that is stated again and moves nothing.
    price("case-b08", "2.00", "2026-10-01"), price("case-b08", "2.00", "2026-10-15"),
    price("case-b08", "2.50", "2026-11-01"),
    point("case-b08", "2026-10-05", output_tok_s=500),
    point("case-b08", "2026-11-20", output_tok_s=1000, tp=4),
    # A price and a throughput that both double leave the cost as it was.
    price("case-same", "2.00", "2026-10-01"), price("case-same", "4.00", "2026-11-10"),
    point("case-same", "2026-10-05", output_tok_s=500),
    point("case-same", "2026-11-10", output_tok_s=1000),
    # B-09: 848 was withdrawn on 19 November.
    priced("case-b09", "2.49"),
    point("case-b09", "2026-10-01", output_tok_s=596, run_id="110"),
    point("case-b09", "2026-11-10", output_tok_s=848, run_id="111", image="vllm:2"),
    retraction("lab/run/111", "2026-11-19", "weights uninitialised"),
    point("case-b09", "2026-11-22", output_tok_s=640, run_id="112", image="vllm:3"),
    # A line of one point that was withdrawn.
    priced("case-gone", "3.60"),
    point("case-gone", "2026-10-01", output_tok_s=1000, run_id="210"),
    retraction("lab/run/210", "2026-10-09", "wrong harness"),
    # B-13: 24,000 tokens a second over 8 GPUs, then over 4.
    priced("case-b13", "3.60"),
    point("case-b13", "2026-03-27", throughput_basis="system", output_tok_s=24000, tp=None, result_id="r-1",
          run_id=None),
    point("case-b13", "2026-03-27", throughput_basis="system", output_tok_s=24000, tp=None, result_id="r-1",
          run_id=None, accelerator_count=4, known_at="2026-03-28"),
    # 1.78 is mended to 2.00 in September, and 2.10 holds from October on.
    price("case-a16", "1.78", "2026-07-01", "2026-07-31"),
    price("case-a16", "2.00", "2026-07-01", "2026-09-08"),
    price("case-a16", "2.10", "2026-10-01", "2026-10-02"),
    point("case-a16", "2026-07-10", output_tok_s=1000),
]  # fmt: skip

EFFECTS = "throughput_effect_usd, price_effect_usd, factor_effect_usd, record_effect_usd"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("moves"), ROWS, marts=["mart.cost_change"], history=True)


def changes(ask: Query, chip: str, columns: str, table: str = "mart.cost_change") -> list[tuple[Any, ...]]:
    return ask(
        f"select {columns} from {table} where chip_id = ? and price_series_id = ? and cause <> 'new' "
        "order by changed_on, withdrawn, cause",
        chip,
        SERIES,
    )


def test_d02_price_and_benchmark_of_one_day_are_told_apart(tables: Query) -> None:
    assert changes(
        tables,
        "case-d02",
        "cause, benchmark_cause, before_until, changed_on, before_usd_per_million_tokens, "
        f"after_usd_per_million_tokens, {EFFECTS}, "
        "sequential_throughput_effect_usd, sequential_price_effect_usd",
    ) == [
        (
            "both", "software", date(2026, 11, 9), date(2026, 11, 10), SOME(1.160515, abs=5e-7),
            SOME(0.851677, abs=5e-7), SOME(-0.351986, abs=5e-7), SOME(0.043149, abs=5e-7), 0, 0,
            SOME(-0.344870, abs=5e-7), SOME(0.036032, abs=5e-7),
        )
    ]  # fmt: skip
    assert changes(
        tables,
        "case-d02e",
        "throughput_effect_usd, price_effect_usd, change_usd_per_million_tokens, "
        "sequential_throughput_effect_usd, sequential_price_effect_usd",
    ) == [tuple(SOME(usd, abs=5e-7) for usd in (-0.346054, 0.042949, -0.303105, -0.339052, 0.035948))]


def test_both_sides_of_a_change_tell_how_old_they_were(tables: Query) -> None:
    # The price of 1 October and the point of 5 October stood until 9 November; the next are of their day.
    ages = "before_price_age_days, before_benchmark_age_days, after_price_age_days, after_benchmark_age_days"
    assert changes(tables, "case-d02", ages) == [(39, 35, 0, 0)]


def test_b08_only_what_moved_makes_a_row_and_each_has_its_own_cause(tables: Query) -> None:
    # 2.00 / (500 x 0.0036) = 1.111111; 2.50 / 1.8 = 1.388889; 2.50 / 3.6 = 0.694444.
    rows = changes(tables, "case-b08", f"cause, changed_on, change_usd_per_million_tokens, {EFFECTS}")
    assert rows == [
        ("price", date(2026, 11, 1), SOME(0.5 / 1.8), 0, SOME(0.5 / 1.8), 0, 0),
        ("configuration", date(2026, 11, 20), SOME(-2.5 / 3.6), SOME(-2.5 / 3.6), 0, 0, 0),
    ]
    firsts = (
        "select changed_on, before_until, change_usd_per_million_tokens, null_reason from mart.cost_change "
    )
    assert tables(firsts + "where chip_id = 'case-b08' and cause = 'new'") == [
        (date(2026, 10, 5), None, None, "new")
    ]


def test_a_cost_that_stayed_makes_no_row(tables: Query) -> None:
    assert changes(tables, "case-same", "change_id") == []


def test_b09_a_withdrawn_change_is_marked_and_taken_back(tables: Query) -> None:
    asked = (
        "cause, standing, withdrawn, changed_on, before_throughput_tok_s_gpu, after_throughput_tok_s_gpu, "
        "record_effect_usd"
    )
    # 2.49 / (596 x 0.0036) = 1.160515; 2.49 / (848 x 0.0036) = 0.815645.
    assert changes(tables, "case-b09", asked) == [
        ("software", False, True, date(2026, 11, 10), 596, 848, 0),
        ("retraction", False, False, date(2026, 11, 19), 848, 596, SOME(0.344870, abs=5e-7)),
        ("software", True, False, date(2026, 11, 22), 596, 640, 0),
    ]
    past = "mart.cost_change_as_known(timestamptz '2026-11-15')"
    assert changes(tables, "case-b09", asked, past) == [
        ("software", True, False, date(2026, 11, 10), 596, 848, 0)
    ]
    assert changes(tables, "case-gone", "cause, changed_on, before_usd_per_million_tokens, null_reason") == [
        ("retraction", date(2026, 10, 9), SOME(1), "retracted")
    ]


def test_standing_rows_follow_each_other_from_the_first_cost_to_the_last(tables: Query) -> None:
    lines = tables(
        "select chip_id, sum(change_usd_per_million_tokens), "
        "arg_max(after_usd_per_million_tokens, changed_on) "
        "- arg_min(after_usd_per_million_tokens, changed_on) "
        "from mart.cost_change where standing and price_series_id = ? and chip_id like 'case-%' "
        "group by chip_id having count(*) > 1",
        SERIES,
    )
    # Per million tokens: 2.49 / 2.1456 to 2.49 / 2.304 of B-09; the days of 848 are no part of it.
    assert {chip for chip, *_ in lines} == {"case-d02", "case-d02e", "case-b08", "case-b09", "case-a16"}
    assert all(total == SOME(last) for _, total, last in lines)
    assert {chip: total for chip, total, _ in lines}["case-b09"] == SOME(2.49 / 2.304 - 2.49 / 2.1456)


def test_b13_a_mended_count_is_a_correction_and_no_throughput(tables: Query) -> None:
    # 3.60 / (3000 x 0.0036) = 1/3; 3.60 / (6000 x 0.0036) = 1/6.
    assert changes(tables, "case-b13", f"cause, changed_on, {EFFECTS}, sequential_price_effect_usd") == [
        ("correction", date(2026, 3, 28), 0, 0, 0, SOME(-1 / 6), None)
    ]


def test_a16_a_mended_price_is_a_correction_and_a_new_one_a_price(tables: Query) -> None:
    asked = (
        "cause, changed_on, before_usd_per_gpu_hour, after_usd_per_gpu_hour, price_effect_usd, "
        "record_effect_usd"
    )
    found = [(*row[:2], *map(float, row[2:])) for row in changes(tables, "case-a16", asked)]
    assert found == [
        ("correction", date(2026, 9, 8), 1.78, 2.00, 0, SOME(0.22 / 3.6)),
        ("price", date(2026, 10, 1), 2.00, 2.10, SOME(0.10 / 3.6), 0),
    ]
    past = "mart.cost_change_as_known(timestamptz '2026-08-20')"
    assert changes(tables, "case-a16", asked, past) == []


def test_a_new_voter_is_composition_and_a_rise_of_all_is_price(tmp_path: Path) -> None:
    # Five votes of 2.00: 2.00. A sixth of 4.00: of 18 votes the 7th to the 12th are four of 2.00 and two of
    # 2.06, so 2.02, and nobody moved. Then all ask a tenth more: 2.222.
    firms = [f"firm-{n}" for n in range(5)]
    rows = [quote("case-own", firm, "2.00", day) for firm in firms for day in ("2026-11-28", "2026-11-29")]
    rows += [quote("case-own", firm, "2.20", "2026-11-30") for firm in firms]
    rows += [
        quote("case-own", "newcomer", usd, f"2026-11-{day}") for day, usd in ((29, "4.00"), (30, "4.40"))
    ]
    ask = world(
        tmp_path, [*rows, point("case-own", "2026-11-01", output_tok_s=1000)], marts=["mart.cost_change"]
    )
    assert ask(
        "select changed_on, cause, price_effect_usd, matched_panel_effect_usd, composition_effect_usd "
        "from mart.cost_change where chip_id = 'case-own' and cause <> 'new' "
        "and price_series_id = 'index:tokenyield:on_demand:specialist' order by changed_on"
    ) == [
        (date(2026, 11, 29), "price", SOME(0.02 / 3.6), SOME(0, abs=1e-9), SOME(0.02 / 3.6)),
        (date(2026, 11, 30), "price", SOME(0.202 / 3.6), SOME(0.202 / 3.6), SOME(0, abs=1e-6)),
    ]


def test_an_exchange_rate_that_moves_is_no_price_that_moves(tmp_path: Path) -> None:
    # Five firms ask 2.00 euros, a euro being 1.25 dollars: $2.50. Then it is 1.30: $2.60, and nobody moved.
    # The second five ask a tenth more besides: $2.86. L = 0.36 / ln(2.86 / 2.50) = 2.675957, of which
    # ln(1.04) is 0.104953 and ln(1.1) is 0.255047. The third five take dollars then: no rate can be named.
    firms = [f"firm-{n}" for n in range(5)]
    rows = [
        Row(
            "fx_rate", "rates", moment(day), moment(day),
            {"rate_date": moment(day).date(), "base_currency": "EUR", "currency": "USD", "rate": rate},
        )
        for day, rate in (("2026-11-29", 1.25), ("2026-11-30", 1.30))
    ]  # fmt: skip
    for chip, usd, currency in (
        ("case-still", "2.00", "EUR"), ("case-dearer", "2.20", "EUR"), ("case-dollars", "2.60", "USD"),
    ):  # fmt: skip
        rows += [quote(chip, firm, "2.00", "2026-11-29", currency="EUR") for firm in firms]
        rows += [quote(chip, firm, usd, currency=currency) for firm in firms]
        rows += [point(chip, "2026-11-01", output_tok_s=1000)]
    ask = world(tmp_path, rows, marts=["mart.cost_change"])
    zero = SOME(0, abs=1e-6)
    moved, rate = SOME(0.255047 / 3.6, abs=1e-6), SOME(0.104953 / 3.6, abs=1e-6)
    assert ask(
        "select chip_id, price_effect_usd, "
        "matched_panel_effect_usd, currency_effect_usd, composition_effect_usd from mart.cost_change "
        "where chip_id like 'case-%' and cause = 'price' and changed_on = date '2026-11-30' "
        "and price_series_id = 'index:tokenyield:on_demand:specialist' order by chip_id"
    ) == [
        ("case-dearer", SOME(0.36 / 3.6), moved, rate, zero),
        ("case-dollars", SOME(0.1 / 3.6), None, None, None),
        ("case-still", SOME(0.1 / 3.6), zero, SOME(0.1 / 3.6), zero),
    ]


PRICES = st.decimals("0.01", "100", places=6)
SPEEDS = st.floats(0.5, 50_000)
# Moves so small that both sides of a quotient are rounding, and a price and a throughput that all but cancel.
NEXT = st.one_of(st.none(), st.just(1.0), st.floats(1 - 1e-6, 1 + 1e-6), st.floats(0.01, 100))
CASES = st.lists(st.tuples(PRICES, SPEEDS, NEXT, NEXT), min_size=60, max_size=60)


@settings(max_examples=2, deadline=None, derandomize=True, phases=[Phase.generate])
@given(cases=CASES)
def test_effects_sum_exactly_whatever_moves(cases: list[tuple[Any, ...]]) -> None:
    rows, wanted = [], {}
    for n, (usd, speed, price_ratio, speed_ratio) in enumerate(cases):
        # None: it moves as the other one does.
        usd_ratio, tok_ratio = (price_ratio or speed_ratio or 1.5), (speed_ratio or price_ratio or 1.5)
        after_usd = max(round(usd * Decimal(usd_ratio), 6), Decimal("0.000001"))
        chip, after_speed = f"case-{n}", speed * tok_ratio
        rows += [price(chip, str(usd), "2026-10-01"), price(chip, str(after_usd), "2026-11-10")]
        rows += [
            point(chip, "2026-10-05", output_tok_s=speed),
            point(chip, "2026-11-10", output_tok_s=after_speed),
        ]
        wanted[chip] = logarithmic(Decimal(usd), after_usd, Decimal(speed), Decimal(after_speed))
    with tempfile.TemporaryDirectory() as folder:
        ask = world(Path(folder), rows, marts=["mart.cost_change"])
        found = {
            chip: effects
            for chip, *effects in ask(
                "select chip_id, throughput_effect_usd, price_effect_usd, change_usd_per_million_tokens, "
                "factor_effect_usd, record_effect_usd from mart.cost_change "
                "where cause <> 'new' and price_series_id = ?",
                SERIES,
            )
        }
    for chip, (throughput, paid, change, scale) in wanted.items():
        if chip not in found:
            assert abs(change) <= 1e-15 * scale
            continue
        near = scale * 1e-12
        assert found[chip] == [SOME(throughput, abs=near), SOME(paid, abs=near), SOME(change, abs=near), 0, 0]
        assert abs(sum(found[chip][:2]) - found[chip][2]) <= 1e-12 * max(1, scale)
    assert len(found) >= 20


def logarithmic(p0: Decimal, p1: Decimal, t0: Decimal, t1: Decimal) -> tuple[float, float, float, float]:
    """Effect of throughput, effect of price, change, and the size of the costs, with fifty digits."""
    with localcontext(prec=50):
        c0, c1 = p0 / (t0 * Decimal("0.0036")), p1 / (t1 * Decimal("0.0036"))
        mean = c0 if c0 == c1 else (c1 - c0) / (c1 / c0).ln()
        # Effects can be larger than the costs that they lie between: their size is what a digit is lost of.
        scale = max(c0, c1, abs(mean * (p1 / p0).ln()))
        return float(-mean * (t1 / t0).ln()), float(mean * (p1 / p0).ln()), float(c1 - c0), float(scale)
