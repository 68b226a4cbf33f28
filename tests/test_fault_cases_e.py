"""What goes wrong with indices and derived figures in public, where the tables have to stop it; one test or
more per case.

E-01's worked example and its many variants stand in `test_index.py`, E-06 with the sellers' parsers in
`test_traps_keyed.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
from bench_world import SERIES, point, priced
from price_world import Query, machines, quote, world

FIVE = (2.00, 2.10, 2.20, 2.30, 2.40)
PROVIDERS = {"market": ("marketplace", "specialist", None)}

ROWS = [
    # E-01: five firms and a marketplace of three hosts; then forty machines of a fourth one at half price.
    *[quote(chip, f"firm{n}", usd) for chip in ("case-e01", "case-e01m") for n, usd in enumerate(FIVE)],
    *[quote("case-e01f", f"firm{n}", usd) for n, usd in enumerate((2.00, 3.00))],
    *[machine for chip in ("case-e01", "case-e01m")
      for host, usd in (("h1", 2.10), ("h2", 2.20), ("h3", 2.30))
      for machine in machines(chip, "market", usd, host, 2)],
    *machines("case-e01m", "market", 1.10, "h4", 40),
    # E-02: at 3.60 $/h these make a million tokens for 0.3017 and then for 0.2140 $.
    priced("case-e02", "3.60"),
    point("case-e02", "2026-10-01", output_tok_s=1000 / 0.3017),
    point("case-e02", "2026-10-08", output_tok_s=1000 / 0.2140, image="vllm:2"),
    # E-04: one stream and a batch at 2.00 $/h; and 5,000 tok/s at 3.00 $/h.
    priced("case-e04s", "2.00"), priced("case-e04", "3.00"),
    point("case-e04s", "2026-10-01", output_tok_s=40, concurrency=1),
    point("case-e04s", "2026-10-01", output_tok_s=800, concurrency=256),
    point("case-e04", "2026-10-01", output_tok_s=5000),
    # E-07: 2.50 $/h from a firm, and a price per GPU-hour that somebody made of a price per token.
    *[quote("case-e07", f"firm{n}", 2.50) for n in range(5)],
    quote("case-e07", "circular", 0.40, derivation="derived_from_token_price"),
    point("case-e07", "2026-11-30", output_tok_s=848),
]  # fmt: skip

MARTS = (
    *("mart.rental_index_daily", "mart.rental_price", "mart.rejected_row", "mart.yield_change"),
    *("mart.cost_at_utilisation", "mart.evidence", "mart.price_series"),
)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("e"), ROWS, PROVIDERS, marts=MARTS)


def index(query: Query, chip: str) -> tuple[Any, ...]:
    (found,) = query(
        "select cast(usd_per_gpu_hour as double), null_reason from mart.rental_index_daily "
        "where chip_id = ? and price_type = 'on_demand' and segment = 'specialist'",
        chip,
    )
    return found


def test_e01_one_host_moves_no_index_and_too_few_make_none(tables: Query) -> None:
    calm, flooded = index(tables, "case-e01")[0], index(tables, "case-e01m")[0]
    assert 2.0 < calm < 2.4
    assert calm != flooded
    assert abs(flooded / calm - 1) < 0.01
    assert index(tables, "case-e01f") == (None, "too_few_providers")  # and not the mean of two


def test_e02_ratio_and_percent_are_unrounded_and_name_their_base(tables: Query) -> None:
    costs = tables(
        "select usd_per_million_tokens from mart.cost_per_million_tokens where chip_id = 'case-e02' "
        "and price_series_id = ? and usd_per_million_tokens is not null order by measured_on",
        SERIES,
    )
    assert costs == [(pytest.approx(0.3017),), (pytest.approx(0.2140),)]
    ((ratio, percent, cost_percent),) = tables(
        "select ratio, percent, conditional_cost_percent from mart.yield_change "
        "where chip_id = 'case-e02' and token_kind = 'output'"
    )
    # 1.41 times the tokens is 41 % more of them, and the cost of each falls by 29 %: not by 41 %.
    assert ratio == pytest.approx(1.4098, abs=0.00005)
    assert percent == pytest.approx(40.98, abs=0.005)
    assert cost_percent == pytest.approx(-29.07, abs=0.005)


def test_e03_the_row_that_does_not_follow_its_own_formula_is_named(embedded: Query) -> None:
    found = embedded(
        "select throughput_tok_s_gpu, rounded_usd_per_million_tokens, agrees from mart.printed_cost_check "
        "where printed_table_id = 'inferencex-app-391' and usd_per_gpu_hour = 2.21 order by row_order"
    )
    assert found == [
        (32.8, 18.72, True),
        (1613.8, 0.38, True),
        (2004.5, 0.31, True),
        (3148.0, 0.20, True),
        (5336.2, 0.12, False),
    ]
    ((printed, computed, percent),) = embedded(
        "select printed_usd_per_million_tokens, usd_per_million_tokens, off_by_percent "
        "from mart.printed_cost_check where not agrees"
    )
    assert printed == 0.10
    assert computed == pytest.approx(0.115, abs=0.0001)
    assert percent == pytest.approx(-13.1, abs=0.05)


def test_e03_our_own_tables_follow_theirs(embedded: Query) -> None:
    for table in ("headline", "cost_per_million_tokens", "cost_per_million_tokens_daily"):
        ((rows, wrong),) = embedded(
            "select count(usd_per_million_tokens), count(*) filter (where abs(usd_per_million_tokens "
            "/ (cast(usd_per_gpu_hour as double) / (throughput_tok_s_gpu * 0.0036)) - 1) > 1e-12) "
            f"from mart.{table}"
        )
        assert (rows > 0, wrong) == (True, 0), table


UTILISED = (
    "select utilisation, usd_per_million_tokens, usd_per_million_tokens_at_utilisation, null_reason "
    "from mart.cost_at_utilisation where chip_id = ? and price_series_id = ? order by utilisation desc"
)


def test_e04_idle_time_divides_the_unrounded_cost_and_none_is_unknown(tables: Query) -> None:
    peak = pytest.approx(3 / 18, rel=1e-12)  # 3.00 $ buy 5000 x 3600 tokens
    found = tables(UTILISED, "case-e04", SERIES)
    assert found == [
        (1.0, peak, pytest.approx(0.1667, abs=0.00005), None),
        (0.5, peak, pytest.approx(0.3333, abs=0.00005), None),
        (0.3, peak, pytest.approx(0.5556, abs=0.00005), None),
        (0.0, peak, None, "zero_utilisation"),
    ]
    # Of a cost rounded to 0.17, half would be 0.34 and three tenths 0.57.
    assert [round(row[2], 2) for row in found[1:3]] == [0.33, 0.56]


def test_e04_utilisation_is_no_live_traffic_factor(tables: Query, embedded: Query) -> None:
    live = (
        "select usd_per_million_tokens_live_at_utilisation, live_null_reason from mart.cost_at_utilisation "
        "where chip_id = 'case-e04' and price_series_id = ? and utilisation_id = 'half_busy'"
    )
    assert tables(live, SERIES) == [(None, "no_factor")]
    ((utilised, at_half, factor),) = embedded(
        "select usd_per_million_tokens_live_at_utilisation, usd_per_million_tokens_at_utilisation, "
        "live_traffic_factor from mart.cost_at_utilisation as cost "
        "inner join mart.benchmark_point as point using (benchmark_point_id) "
        "where point.point_label = 'ep64-241' and cost.chip_id = 'gb200-nvl72' "
        "and utilisation_id = 'half_busy' and gpu_scope = 'decode' and price_series_id = ?",
        "index:savrn_ai_index:on_demand",
    )
    # 10.58 $ / (14466 x 0.0036) = 0.203155, halved once, and reduced to eight tenths in its own column.
    assert factor == 0.8
    assert at_half == pytest.approx(0.203155 * 2, abs=1e-5)
    assert utilised == pytest.approx(0.203155 * 2 / 0.8, abs=1e-5)


def test_e04_one_stream_is_not_a_server(tables: Query) -> None:
    found = tables(
        "select concurrency, usd_per_million_tokens from mart.cost_at_utilisation "
        "where chip_id = 'case-e04s' and price_series_id = ? and utilisation_id = 'always_busy' "
        "order by concurrency",
        SERIES,
    )
    assert found == [(1, pytest.approx(13.89, abs=0.005)), (256, pytest.approx(0.694, abs=0.0005))]


def test_e05_what_was_reserved_and_what_was_busy_are_two_costs(embedded: Query) -> None:
    ((reserved, busy, share, idle),) = embedded(
        "select allocation_usd_per_million_tokens, usage_usd_per_million_tokens, busy_share, idle_usd "
        "from mart.serving_account_cost where gpu_count = 8 and reserved_hours = 10 and busy_hours = 4 "
        "and million_tokens = 100 and usd_per_gpu_hour = 2.50"
    )
    assert (reserved, busy) == (pytest.approx(2.00), pytest.approx(0.80))
    # The rent of the six idle hours is the difference of the two, over the 100 M tokens.
    assert (share, idle) == (pytest.approx(0.4), pytest.approx(120.0))
    assert reserved - busy == pytest.approx(idle / 100)


def test_e07_a_price_made_of_a_token_price_is_no_price(tables: Query) -> None:
    assert tables("select source, reason from mart.rejected_row where source = 'circular'") == [
        ("circular", "derived_from_token_price")
    ]
    assert tables("select count(*) from mart.rental_price where provider_id = 'circular'") == [(0,)]
    assert index(tables, "case-e07") == (pytest.approx(2.50), None)
    # 2.50 $ over a measured 848 tok/s: 0.82, and every cost names its point and its price.
    costs = tables(
        "select distinct usd_per_million_tokens from mart.cost_per_million_tokens "
        "where chip_id = 'case-e07' and usd_per_million_tokens is not null"
    )
    assert costs == [(pytest.approx(0.8189, abs=0.00005),)]
    # The own index is made of votes; behind every other cost stands the fact that gave the price.
    unproven = (
        "select count(*), count(*) filter (where evidence.fact_id is null) "
        "from mart.cost_per_million_tokens as cost "
        "inner join mart.price_series as series using (price_series_id) "
        "left join mart.evidence as evidence on cost.price_fact_id = evidence.fact_id "
        "where cost.chip_id = 'case-e07' and usd_per_million_tokens is not null "
        "and series.price_basis <> 'own_index'"
    )
    assert tables(unproven) == [(5, 0)]
