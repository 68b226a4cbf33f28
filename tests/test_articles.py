"""The figures of the articles that began the project come out of the published tables by query.

Each golden value is a literal of its test. A query brings no number of its own but unit conversions
(3600 s, 86400 s, 8760 h, 10^6, 10^9): prices, throughputs and stated figures are read from the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import pairwise
from typing import Any

import pytest

Query = Callable[..., list[tuple[Any, ...]]]

SAVRN = "index:savrn_ai_index:on_demand"
RESERVED = "index:inferencex_reserved_36m:reserved:36m"
OWNING = "index:inferencex_owning_hyperscaler:owning_cost"
HEADLINE_WORKLOAD = "fixed-8192-1024"


def within(expected: float, tolerance: float) -> Any:
    """The golden file states absolute tolerances; the last digit of a double must not fail a zero."""
    return pytest.approx(expected, rel=0, abs=max(tolerance, 1e-9))


def row(query: Query, sql: str, *values: Any) -> tuple[Any, ...]:
    """The one row that the query must return."""
    (only,) = query(sql, *values)
    return only


def cost(query: Query, columns: str, label: str, chip: str, kind: str, scope: str) -> tuple[Any, ...]:
    """Columns of a point's cost on the published index of 20 October 2026, while that price holds."""
    return row(
        query,
        f"select {columns} from mart.cost_per_million_tokens as cost "
        "inner join mart.benchmark_point as point using (benchmark_point_id) "
        "where point.point_label = ? and cost.chip_id = ? and cost.token_kind = ? and cost.gpu_scope = ? "
        "and cost.price_series_id = ? and cost.usd_per_gpu_hour is not null",
        *(label, chip, kind, scope, SAVRN),
    )


def stated(query: Query, stated_value_id: str) -> tuple[float, str]:
    """A stated figure and its class."""
    return row(
        query, "select value, value_class from mart.stated_value where stated_value_id = ?", stated_value_id
    )


def price_change(query: Query, token_kind: str) -> float:
    """Percent from the standard price of V3 to the off-peak price of V4.1-Flash."""
    return row(
        query,
        "select (cast(now.usd_per_million_tokens as double) / then_.usd_per_million_tokens - 1) * 100 "
        "from core.token_price as now inner join core.token_price as then_ using (token_kind) "
        "where now.model_id = 'deepseek-v4.1-flash' and now.tier = 'off_peak' "
        "and then_.model_id = 'deepseek-v3' and then_.tier = 'standard' and token_kind = ?",
        token_kind,
    )[0]


def live(query: Query, columns: str, label: str) -> tuple[Any, ...]:
    """Columns of a decode reading, alike on every price series."""
    return row(
        query,
        f"select distinct {columns} from mart.cost_per_million_tokens as cost "
        "inner join mart.benchmark_point as point using (benchmark_point_id) "
        "where point.point_label = ? and cost.chip_id = point.chip_id and cost.gpu_scope = 'decode'",
        label,
    )


def test_a01_gpu_hours_per_billion_output_tokens(embedded: Query) -> None:
    hours, evidence = live(embedded, "gpu_hours_per_billion_tokens_live, cost.evidence", "ep64-241")
    assert hours == within(24.0, 0.05)
    assert evidence == "derived"  # the point before the live-traffic factor is computed from the printed one


def test_a02_gpu_hours_per_billion_output_tokens_of_v3(embedded: Query) -> None:
    hours, factor, evidence = live(
        embedded, "gpu_hours_per_billion_tokens_live, live_traffic_factor, cost.evidence", "v3-fleet-2025"
    )
    assert hours == within(150.15, 0.05)
    assert factor == 1  # a live figure already
    assert evidence == "vendor_claim"


def test_a03_output_per_decode_gpu_over_v3(embedded: Query) -> None:
    (now,) = live(embedded, "throughput_live_tok_s_gpu", "ep64-241")
    (then,) = live(embedded, "throughput_live_tok_s_gpu", "v3-fleet-2025")
    assert now / then == within(6.26, 0.01)


def test_a04_speed_per_user_over_v3(embedded: Query) -> None:
    (ratio,) = row(
        embedded,
        "select now.interactivity_tok_s_user / then_.interactivity_tok_s_user "
        "from mart.benchmark_point as now, mart.benchmark_point as then_ "
        "where now.point_label = 'ep64-241' and then_.point_label = 'v3-fleet-2025'",
    )
    assert ratio == within(11.48, 0.01)


def test_a05_revenue_per_gpu_hour_over_v3(embedded: Query) -> None:
    now, now_class = stated(embedded, "v41-revenue-per-gpu-hour")
    then, then_class = stated(embedded, "v3-revenue-per-gpu-hour")
    assert now / then == within(2.943, 0.001)
    assert (now_class, then_class) == ("stated", "stated")


def test_a06_output_price_change(embedded: Query) -> None:
    assert price_change(embedded, "output") == within(-72.6, 0.05)


def test_a07_uncached_input_price_change(embedded: Query) -> None:
    assert price_change(embedded, "input") == within(-72.7, 0.05)


def test_a08_cached_input_price_change(embedded: Query) -> None:
    assert price_change(embedded, "cached_input") == within(-97.9, 0.05)


def test_a09_production_throughput_after_the_live_traffic_factor(embedded: Query) -> None:
    product, throughput = live(
        embedded,
        "sequences_per_gpu * point.interactivity_tok_s_user * live_traffic_factor, throughput_live_tok_s_gpu",
        "ep64-241",
    )
    assert product == within(11568, 10)
    assert throughput == within(11568, 10)
    printed, value_class = stated(embedded, "printed-production-throughput")
    assert printed == within(11573, 0)
    assert value_class == "stated"


def test_a10_decode_rent_per_million_output_tokens_at_the_production_point(embedded: Query) -> None:
    usd, allocation, evidence = cost(
        embedded,
        "usd_per_million_tokens_live, cost_allocation, cost.evidence",
        *("ep64-241", "gb200-nvl72", "output", "decode"),
    )
    assert usd == within(0.25394, 0.0001)
    assert (allocation, evidence) == ("by_role", "derived")
    # Decode rent is not the cost: that needs the prefill GPUs, which the curve does not hold.
    assert cost(
        embedded, "usd_per_million_tokens, null_reason", "ep64-241", "gb200-nvl72", "output", "all"
    ) == (None, "role_ratio_unknown")


def test_a11_decode_rent_per_million_output_tokens_at_103(embedded: Query) -> None:
    usd, evidence = cost(
        embedded,
        "usd_per_million_tokens_live, cost.evidence",
        *("ep64-103", "gb200-nvl72", "output", "decode"),
    )
    assert usd == within(0.13968, 0.0001)
    assert evidence == "read_off_chart"


def test_a12_kv_memory_of_the_largest_batch(embedded: Query) -> None:
    (gigabytes,) = row(
        embedded,
        "select sequences_per_gpu * workload.context_tokens * model.kv_bytes_per_token / 1e9 "
        "from mart.benchmark_point as point inner join mart.workload as workload using (workload_id) "
        "inner join mart.model as model using (model_id) where point_label = 'ep64-103'",
    )
    assert gigabytes == within(29.86, 0.01)


KV_SESSIONS = (
    "select memory.value * 1e9 / (context.value * model.kv_bytes_per_token), memory.value_class, "
    "context.value_class from mart.model as model, mart.stated_value as memory, mart.stated_value as context "
    "where memory.stated_value_id = 'kv-comparison-memory' and context.stated_value_id = 'session-context' "
    "and model.model_id = ?"
)


def test_a13_sessions_in_100_gb(embedded: Query) -> None:
    sessions, *classes = row(embedded, KV_SESSIONS, "deepseek-v4.1-flash")
    assert sessions == within(857.2, 0.1)
    assert classes == ["stated", "stated"]


def test_a14_sessions_in_100_gb_of_v32(embedded: Query) -> None:
    sessions, *classes = row(embedded, KV_SESSIONS, "deepseek-v3.2")
    assert sessions == within(15.87, 0.01)
    assert classes == ["stated", "stated"]


def test_a15_fleet_revenue(embedded: Query) -> None:
    billions, *classes = row(
        embedded,
        "select gpus.value * revenue.value * 8760 / 1e9, gpus.value_class, revenue.value_class "
        "from mart.stated_value as gpus, mart.stated_value as revenue "
        "where gpus.stated_value_id = 'deepinfer-fleet-gpus' "
        "and revenue.stated_value_id = 'v41-revenue-per-gpu-hour'",
    )
    assert billions == within(0.8988, 0.001)
    assert classes == ["stated", "stated"]


def test_a16_agentx_total_throughput_makes_no_yield_claim(embedded: Query) -> None:
    percent, cause, claimed, before, after, evidence = row(
        embedded,
        "select change.percent, change.cause, change.claimed_cause, change.before_on, change.after_on, "
        "change.evidence from mart.yield_change as change "
        "inner join mart.benchmark_point as point on change.after_point_id = point.benchmark_point_id "
        "where point.publisher = 'vllm' and change.token_kind = 'total'",
    )
    assert percent == within(14.94, 0.01)
    assert (cause, claimed) == ("operating_point", None)
    assert (before, after) == (date(2026, 10, 17), date(2026, 10, 23))
    assert evidence == "vendor_claim"


def test_a17_gb300_rent_over_gb200_rent(embedded: Query) -> None:
    (percent,) = row(
        embedded,
        "select (cast(dear.usd_per_gpu_hour as double) / cheap.usd_per_gpu_hour - 1) * 100 "
        "from core.rental_index_value as dear "
        "inner join core.rental_index_value as cheap using (index_name, price_type, value_date) "
        "where index_name = 'savrn_ai_index' and price_type = 'on_demand' and value_date = date '2026-10-20' "
        "and dear.chip_id = 'gb300-nvl72' and cheap.chip_id = 'gb200-nvl72'",
    )
    assert percent == within(37.9, 0.05)


def test_a24_decode_revenue_per_decode_gpu_hour(embedded: Query) -> None:
    usd, evidence = cost(
        embedded,
        "throughput_live_tok_s_gpu * 3600 / 1e6 * (select cast(usd_per_million_tokens as double) "
        "from core.token_price where model_id = cost.model_id and tier = 'off_peak' "
        "and token_kind = cost.token_kind), cost.evidence",
        *("ep64-241", "gb200-nvl72", "output", "decode"),
    )
    assert usd == within(24.998, 0.001)
    assert evidence == "derived"


def speed_change(query: Query, columns: str) -> tuple[Any, ...]:
    return row(
        query,
        f"select {columns} from mart.yield_change as change "
        "inner join mart.benchmark_point as point on change.after_point_id = point.benchmark_point_id "
        "where point.publisher = 'cryptobriefing'",
    )


def test_a26_speed_change_of_unattributed_cause(embedded: Query) -> None:
    percent, metric, *said = speed_change(
        embedded,
        "percent, metric, cause, change.claimed_cause, change.date_precision, change.evidence, "
        "throughput_effect_usd, price_effect_usd, other_effect_usd, null_reason",
    )
    assert percent == within(42.28, 0.01)
    assert metric == "interactivity_tok_s_user"
    assert said == [
        *("unattributed", "software", "unknown", "vendor_claim"),
        *(None, None, None, "speed_is_not_throughput"),
    ]


def test_a27_extra_tokens_per_second(embedded: Query) -> None:
    assert speed_change(embedded, "after_value - before_value") == (within(252, 0),)


def test_a28_cost_change_at_equal_batch_and_price_only(embedded: Query) -> None:
    assert speed_change(embedded, "conditional_cost_percent") == (within(-29.72, 0.01),)


def test_a29_price_per_gpu_hour_implied_by_the_reported_cost(embedded: Query) -> None:
    usd, *classes = row(
        embedded,
        "select cost.value * throughput.value * 3600 / 1e6, cost.value_class, throughput.value_class "
        "from mart.stated_value as cost, mart.stated_value as throughput "
        "where cost.stated_value_id = 'specialised-cost-per-million-tokens' "
        "and throughput.stated_value_id = 'specialised-throughput-per-gpu'",
    )
    assert usd == within(7.2, 0.001)
    assert classes == ["stated", "stated"]


def test_a30_cost_at_an_assumed_session_per_gpu(embedded: Query) -> None:
    found = embedded(
        "select point_label, usd_per_million_tokens, chip_id, evidence from mart.assumed_cost "
        "where assumption_id = 'one_session_per_gpu' and price_series_id = ? and null_reason is null "
        "order by point_label",
        SAVRN,
    )
    assert found == [
        ("speed-596", within(6.7999, 0.0005), "gb300-nvl72", "assumed"),
        ("speed-848", within(4.7792, 0.0005), "gb300-nvl72", "assumed"),
    ]


def test_a31_tokens_per_hour(embedded: Query) -> None:
    found = row(
        embedded,
        "select distinct million_tokens_per_session_hour from mart.assumed_cost "
        "where point_label = 'speed-848'",
    )
    assert found == (within(3.0528, 0.0001),)


def test_a32_tokens_per_day(embedded: Query) -> None:
    found = row(
        embedded,
        "select interactivity_tok_s_user * 86400 / 1e6, evidence from mart.benchmark_point "
        "where point_label = 'speed-848'",
    )
    assert found == (within(73.2672, 0.0001), "vendor_claim")


REQUESTS_PER_DAY = (
    "select point.interactivity_tok_s_user * 86400 / request.value, request.value_class "
    "from mart.benchmark_point as point, mart.stated_value as request "
    "where point.point_label = 'speed-848' and request.stated_value_id = ?"
)


def test_a33_requests_per_day_of_500_output_tokens(embedded: Query) -> None:
    found = row(embedded, REQUESTS_PER_DAY, "hypothetical-short-output")
    assert found == (within(146534, 1), "assumed")  # the length is the article's example


def test_a34_requests_per_day_of_1000_output_tokens(embedded: Query) -> None:
    found = row(embedded, REQUESTS_PER_DAY, "hypothetical-long-output")
    assert found == (within(73267, 1), "assumed")


def test_a42_agentx_output_per_gpu_is_derived_from_the_total(embedded: Query) -> None:
    throughput, evidence, eligible = cost(
        embedded,
        "throughput_tok_s_gpu, cost.evidence, cost.eligible",
        *("agentx-954k", "gb300-nvl72", "output", "all"),
    )
    assert throughput == within(3220.7, 1)
    assert (evidence, eligible) == ("derived", False)
    (by_mix,) = row(
        embedded,
        "select point.total_tok_s_gpu * mix.output_tokens / (mix.input_tokens + mix.output_tokens) "
        "from mart.benchmark_point as point inner join mart.workload as mix using (workload_id) "
        "where point.point_label = 'agentx-954k'",
    )
    assert throughput == pytest.approx(by_mix, rel=1e-12)


def test_a43_agentx_cost_of_all_tokens_and_of_output(embedded: Query) -> None:
    columns = "usd_per_million_tokens, cost_allocation, cost.evidence"
    total = cost(embedded, columns, "agentx-954k", "gb300-nvl72", "total", "all")
    output = cost(embedded, columns, "agentx-954k", "gb300-nvl72", "output", "all")
    # The tolerance of the file is for both figures; the smaller one is held to its last digit.
    assert total == (within(0.004248, 0.0000005), "total", "vendor_claim")
    assert output == (within(1.2583, 0.0005), "whole_bill", "derived")


def test_no_throughput_is_a_speed_per_user_or_the_printed_figure(embedded: Query) -> None:
    columns = embedded(
        "select table_name, column_name from duckdb_columns() "
        "where schema_name = 'mart' and table_name in ('benchmark_point', 'cost_per_million_tokens') "
        "and regexp_matches(column_name, 'tok_s_(decode_|prefill_)?gpu$')"
    )
    assert {name for _, name in columns} == {
        *("output_tok_s_gpu", "input_tok_s_gpu", "total_tok_s_gpu"),
        *("output_tok_s_decode_gpu", "input_tok_s_prefill_gpu"),
        *("throughput_tok_s_gpu", "throughput_live_tok_s_gpu", "uncached_input_tok_s_gpu"),
    }
    # No typed point states how many of its input tokens hit a cache.
    held = [(table, column) for table, column in columns if column != "uncached_input_tok_s_gpu"]
    for table, column in held:
        # Within a tenth: the live figure of the production point, 11572.8, is the printed one before
        # it was rounded, and is computed and not stored.
        sql = f"select count(*), count({column}) from mart.{table}"
        near = f"where abs({column} - 596) < 0.1 or abs({column} - 848) < 0.1 or abs({column} - 11573) < 0.1"
        assert row(embedded, f"{sql} {near}") == (0, 0), f"{table}.{column}"
        assert row(embedded, sql)[1] > 0, f"{table}.{column} holds nothing to look at"


def test_speed_points_stand_once_in_every_price_series_without_a_cost(embedded: Query) -> None:
    every_series = {name for (name,) in embedded("select price_series_id from mart.price_series")}
    for label in ("speed-596", "speed-848"):
        rows = embedded(
            "select price_series_id, cost.valid_from, cost.valid_to, usd_per_million_tokens, "
            "usd_per_million_tokens_live, throughput_tok_s_gpu, null_reason, gpu_scope, eligible "
            "from mart.cost_per_million_tokens as cost "
            "inner join (select benchmark_point_id, point_label from mart.benchmark_point) as point "
            "using (benchmark_point_id) where point_label = ? order by price_series_id, cost.valid_from",
            label,
        )
        assert {found[0] for found in rows} == every_series
        assert {found[3:] for found in rows} == {(None, None, None, "speed_is_not_throughput", "none", False)}
        for earlier, later in pairwise(rows):
            # Of one series each day stands once: a stretch ends where the next begins.
            assert earlier[0] != later[0] or earlier[2] == later[1]


def test_headline_compares_nine_chips_on_one_price_series(embedded: Query) -> None:
    rows = embedded(
        "select chip_id, rank, unranked_reason, price_series_id, workload_id, evidence from mart.headline"
    )
    assert {found[3:] for found in rows} == {(SAVRN, HEADLINE_WORKLOAD, "measured")}
    ranked = {found[0] for found in rows if found[1] is not None}
    assert ranked == {
        *("b300-sxm-288", "b200-sxm-180", "gb300-nvl72", "gb200-nvl72", "h200-sxm-141", "h100-sxm-80"),
        *("mi355x", "mi300x"),
    }
    assert [found[:3] for found in rows if found[1] is None] == [("mi325x", None, "no_price")]


def test_headline_costs_by_hand(embedded: Query) -> None:
    columns = (
        "usd_per_million_tokens, reserved_36m_usd_per_million_tokens, owning_usd_per_million_tokens, "
        "usd_per_gpu_hour, throughput_tok_s_gpu"
    )
    sql = f"select {columns} from mart.headline where chip_id = ? and precision = ?"
    # $/h on demand, reserved for 36 months, and owning; output tok/s per GPU of all GPUs.
    for chip, precision, on_demand, reserved, owning, throughput in [
        ("b300-sxm-288", "fp4", 9.99, 4.25, 2.26, 1548.3),
        ("mi355x", "fp4", 5.60, 2.90, 1.50, 360.31),
    ]:
        found = row(embedded, sql, chip, precision)
        millions_per_hour = throughput * 0.0036
        assert found[:3] == pytest.approx(
            [price / millions_per_hour for price in (on_demand, reserved, owning)], rel=1e-9
        )
        assert float(found[3]) == on_demand
        assert found[4] == throughput
    assert row(embedded, sql, "b300-sxm-288", "fp4")[0] == within(1.79229, 0.000005)
    # Unranked for want of an index price, and not without the others.
    assert row(embedded, sql, "mi325x", "fp8") == (
        None,
        *(pytest.approx(price / (100.68 * 0.0036), rel=1e-9) for price in (1.60, 1.10)),
        *(None, 100.68),
    )


def test_headline_ranks_ascend_with_cost(embedded: Query) -> None:
    ranked = embedded(
        "select rank, usd_per_million_tokens from mart.headline where rank is not null order by rank"
    )
    assert [rank for rank, _ in ranked] == list(range(1, 13))
    costs = [usd for _, usd in ranked]
    assert costs == sorted(costs)


def test_headline_takes_the_best_point_in_force_of_each_chip_and_precision(embedded: Query) -> None:
    assert (
        embedded(
            "select headline.chip_id, headline.precision, throughput_tok_s_gpu, best.output_tok_s_gpu "
            "from mart.headline as headline left join ("
            "  select chip_id, precision, max(output_tok_s_gpu) as output_tok_s_gpu "
            "  from mart.benchmark_point where workload_id = ? and evidence = 'measured' "
            "  and superseded_on is null group by chip_id, precision"
            ") as best on headline.chip_id = best.chip_id and headline.precision = best.precision "
            "where throughput_tok_s_gpu is distinct from best.output_tok_s_gpu",
            HEADLINE_WORKLOAD,
        )
        == []
    )


def test_mi355x_doubles_in_nine_steps_of_unknown_cause(embedded: Query) -> None:
    steps = embedded(
        "select before_on, after_on, before_value, after_value, ratio, cause, claimed_cause "
        "from mart.yield_change where line_id = "
        "'inferencex/mi355x/deepseek-r1-0528/fp4/sglang/none/agg8/fixed-8192-1024/c64/output/all' "
        "order by after_on"
    )
    assert len(steps) == 9
    assert len({day for step in steps for day in step[:2]}) == 10
    assert (steps[0][0], steps[0][2]) == (date(2025, 12, 11), 110.38)
    assert (steps[-1][1], steps[-1][3]) == (date(2026, 2, 27), 216.58)
    assert all(later[0] == earlier[1] and later[2] == earlier[3] for earlier, later in pairwise(steps))
    product = 1.0
    for step in steps:
        product *= step[4]
    assert product == pytest.approx(216.58 / 110.38, rel=1e-12)
    assert (product - 1) * 100 == within(96.2, 0.05)
    # No image is stated, so nothing is called software.
    assert {step[5:] for step in steps} == {("unknown", None)}
