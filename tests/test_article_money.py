"""The money of the articles comes out of the published tables by query: revenue, full cost, cached share.

Each golden value is a literal of its test. A query brings no number of its own but unit conversions
(3600 s, 86400 s, 10^6, 10^9): prices, throughputs, ratios and stated figures are read from the tables.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Query = Callable[..., list[tuple[Any, ...]]]

SAVRN = "index:savrn_ai_index:on_demand"


def within(expected: float, tolerance: float) -> Any:
    """The golden file states absolute tolerances."""
    return pytest.approx(expected, rel=0, abs=tolerance)


def row(query: Query, sql: str, *values: Any) -> tuple[Any, ...]:
    """The one row that the query must return."""
    (only,) = query(sql, *values)
    return only


def revenue(query: Query, columns: str, label: str, chip: str, scope: str) -> tuple[Any, ...]:
    """Columns of a point's revenue at off-peak prices on the index of 20 October 2026, while it holds."""
    return row(
        query,
        f"select {columns} from mart.revenue_per_gpu_hour where point_label = ? and chip_id = ? "
        "and gpu_scope = ? and tier = 'off_peak' and price_series_id = ? and usd_per_gpu_hour is not null",
        *(label, chip, scope, SAVRN),
    )


def loaded(query: Query, columns: str, prefill_chip: str) -> tuple[Any, ...]:
    """Columns of the production point's full cost on the same index."""
    return row(
        query,
        f"select {columns} from mart.fully_loaded_cost where point_label = 'ep64-241' "
        "and chip_id = 'gb200-nvl72' and prefill_chip_id = ? and price_series_id = ? "
        "and null_reason is null",
        *(prefill_chip, SAVRN),
    )


@pytest.mark.parametrize(
    ("token_kind", "percent"), [("output", -72.6), ("input", -72.7), ("cached_input", -97.9)]
)
def test_a06_to_a08_price_changes_between_the_days_that_the_article_compares(
    embedded: Query, token_kind: str, percent: float
) -> None:
    (found,) = row(
        embedded,
        "select (cast(now.usd_per_million_tokens as double) / then_.usd_per_million_tokens - 1) * 100 "
        "from mart.token_price_daily as now inner join mart.token_price_daily as then_ using (token_kind) "
        "where now.date = date '2026-10-20' and now.model_id = 'deepseek-v4.1-flash' "
        "and now.tier = 'off_peak' and then_.date = date '2025-02-28' "
        "and then_.model_id = 'deepseek-v3' and token_kind = ?",
        token_kind,
    )
    assert found == within(percent, 0.05)


def test_a15_fleet_revenue_of_a_year(embedded: Query) -> None:
    billions, evidence = row(
        embedded, "select fleet_revenue_usd_per_year / 1e9, evidence from mart.cached_share_solution"
    )
    assert billions == within(0.8988, 0.001)
    assert evidence == "derived"


def test_a24_decode_revenue_per_decode_gpu_hour(embedded: Query) -> None:
    live, as_measured, factor, evidence = revenue(
        embedded,
        "revenue_usd_per_gpu_hour_live, revenue_usd_per_gpu_hour, live_traffic_factor, evidence",
        *("ep64-241", "gb200-nvl72", "decode"),
    )
    assert live == within(24.998, 0.001)
    assert as_measured == within(24.998 / 0.8, 0.002)  # the factor once
    assert (factor, evidence) == (0.8, "derived")
    assert row(embedded, "select decode_revenue_usd_per_gpu_hour from mart.cached_share_solution") == (
        within(24.998, 0.001),
    )


def test_a25_cached_share_that_makes_the_stated_revenue(embedded: Query) -> None:
    share, uncached, stated, evidence = row(
        embedded,
        "select solution.cached_share * 100, uncached_input_tok_s_prefill_gpu_live, "
        "solution.stated_revenue_usd_per_gpu_hour, solution.evidence "
        "from mart.cached_share_solution as solution where point_label = 'ep64-241'",
    )
    assert share == within(94.7, 0.2)
    assert uncached == within(69492, 200)
    assert (stated, evidence) == (38, "derived")
    # The article prints the share rounded, and calls its own figure solved for.
    assert row(
        embedded, "select value from mart.stated_value where stated_value_id = 'revenue-model-cache-share'"
    ) == (within(share / 100, 0.005),)


def test_a36_fully_loaded_gpu_hours_per_billion_output_tokens(embedded: Query) -> None:
    hours, ratio, basis, evidence = loaded(
        embedded,
        "gpu_hours_per_billion_output_tokens_live, prefill_gpus_per_decode_gpu, role_ratio_basis, evidence",
        "gb200-nvl72",
    )
    assert hours == within(48.0, 0.05)
    assert (ratio, basis, evidence) == (1, "stated", "derived")


def test_a37_fully_loaded_cost_on_one_chip(embedded: Query) -> None:
    usd, decode, prefill = loaded(
        embedded,
        "usd_per_million_output_tokens_live, decode_usd_per_million_output_tokens / live_traffic_factor, "
        "prefill_usd_per_million_output_tokens / live_traffic_factor",
        "gb200-nvl72",
    )
    assert usd == within(0.5079, 0.0002)
    assert decode == prefill == within(0.25394, 0.0001)


def test_a38_fully_loaded_cost_with_boxes_for_prefill(embedded: Query) -> None:
    usd, basis = loaded(embedded, "usd_per_million_output_tokens_live, role_ratio_basis", "b200-sxm-180")
    assert usd == within(0.4464, 0.0002)
    assert basis == "stated"


def test_no_other_decode_curve_is_said_to_cost_what_its_decode_gpus_rent_for(embedded: Query) -> None:
    others = embedded(
        "select distinct point_label, usd_per_million_output_tokens, usd_per_million_output_tokens_live, "
        "null_reason, prefill_chip_id from mart.fully_loaded_cost "
        "where role_ratio_basis = 'unknown' order by 1"
    )
    assert [label for label, *_ in others] == [
        *("ep64-103", "ep64-310", "ep8-105", "ep8-130", "ep8-225", "ep8-235", "v3-fleet-2025")
    ]
    assert {tuple(rest) for _, *rest in others} == {(None, None, "role_ratio_unknown", None)}


def test_a39_prefill_revenue_per_prefill_gpu_hour(embedded: Query) -> None:
    usd, evidence = row(
        embedded, "select prefill_revenue_usd_per_gpu_hour, evidence from mart.cached_share_solution"
    )
    assert usd == within(51.00, 0.01)
    assert evidence == "derived"


def test_a40_prefill_rent_per_million_uncached_input_tokens(embedded: Query) -> None:
    usd, evidence = row(
        embedded,
        "select cast(cost.prefill_usd_per_gpu_hour as double) "
        "/ (solution.uncached_input_tok_s_prefill_gpu_live * 3600 / 1e6), solution.evidence "
        "from mart.fully_loaded_cost as cost "
        "inner join mart.cached_share_solution as solution using (benchmark_point_id) "
        "where cost.chip_id = 'gb200-nvl72' and cost.prefill_chip_id = 'gb200-nvl72' "
        "and cost.price_series_id = ? and cost.null_reason is null",
        SAVRN,
    )
    assert usd == within(0.0423, 0.0003)
    assert evidence == "derived"


def test_a41_v3_fleet_over_all_gpus(embedded: Query) -> None:
    throughput, *classes = row(
        embedded,
        "select tokens.value / 86400 / (nodes.value * gpus.value), "
        "tokens.value_class, nodes.value_class, gpus.value_class "
        "from mart.stated_value as tokens, mart.stated_value as nodes, mart.stated_value as gpus "
        "where tokens.stated_value_id = 'v3-output-tokens-per-day' "
        "and nodes.stated_value_id = 'v3-fleet-nodes' and gpus.stated_value_id = 'v3-gpus-per-node'",
    )
    assert throughput == within(1072, 1)
    assert classes == ["stated"] * 3


def test_a44_agentx_revenue_from_the_medians_beside_what_the_article_quotes(embedded: Query) -> None:
    found = revenue(
        embedded,
        "revenue_usd_per_gpu_hour, stated_revenue_usd_per_gpu_hour, stated_value_class, evidence, mix_class, "
        "revenue_usd_per_gpu_hour_live, live_null_reason, margin_usd_per_gpu_hour",
        *("agentx-954k", "gb300-nvl72", "all"),
    )
    assert found == (
        *(within(32.95, 0.01), 38.96, "not_reproducible", "derived", "derived"),
        *(None, "no_factor", within(32.95 - 14.59, 0.01)),
    )


def test_a_stated_revenue_stands_beside_all_gpus_and_its_own_deck_alone(embedded: Query) -> None:
    # 38 $ and 12.91 $ average all GPUs, and what decode GPUs alone earn is no measure of them.
    assert embedded(
        "select distinct point_label, gpu_scope, tier, stated_revenue_usd_per_gpu_hour, stated_value_class, "
        "revenue_usd_per_gpu_hour is null from mart.revenue_per_gpu_hour "
        "where stated_value_id is not null order by 1"
    ) == [
        ("agentx-954k", "all", "off_peak", 38.96, "not_reproducible", False),
        ("ep64-241", "all", "off_peak", 38, "stated", True),
        ("v3-fleet-2025", "all", "standard", 12.91, "stated", True),
    ]


def test_a48_deepinfer_on_agentx_over_the_earlier_figure_of_vllm(embedded: Query) -> None:
    # GPU-seconds of one request: uncached input on prefill GPUs, output on decode GPUs, both before the
    # live-traffic factor; a read from the cache is taken to cost no GPU time.
    ratio, evidence = row(
        embedded,
        "select (mix.input_tokens + mix.output_tokens) / ("
        "  mix.uncached_input_tokens "
        "  / (solution.uncached_input_tok_s_prefill_gpu_live / solution.live_traffic_factor) "
        "  + mix.output_tokens / production.output_tok_s_decode_gpu"
        ") / rival.total_tok_s_gpu, solution.evidence "
        "from mart.cached_share_solution as solution "
        "inner join mart.benchmark_point as production using (benchmark_point_id), "
        "mart.workload as mix, mart.benchmark_point as rival "
        "where mix.workload_id = rival.workload_id and rival.point_label = 'agentx-830k'",
    )
    assert ratio == within(2.04, 0.05)
    assert evidence == "derived"


def test_a49_share_of_revenue_hours_at_peak(embedded: Query) -> None:
    percent, *classes = row(
        embedded,
        "select (high.value / low.value - 1) / (peak.usd_per_million_tokens "
        "/ cast(off_peak.usd_per_million_tokens as double) - 1) * 100, high.value_class, low.value_class "
        "from mart.stated_value as high, mart.stated_value as low, "
        "mart.token_price_daily as peak inner join mart.token_price_daily as off_peak "
        "using (date, provider_id, model_id, token_kind) "
        "where high.stated_value_id = 'fleet-revenue-with-peak' "
        "and low.stated_value_id = 'fleet-revenue-off-peak' "
        "and peak.tier = 'peak' and off_peak.tier = 'off_peak' and token_kind = 'output' "
        "and date = high.stated_on",
    )
    assert percent == within(22, 6)
    assert classes == ["stated", "stated"]


def test_a_request_costs_less_on_the_rack_than_at_the_off_peak_price(embedded: Query) -> None:
    # 131,516 tokens at 14.59 $/h and 954,000 tok/s; and 4096 x 0.15 + 126976 x 0.003 + 444 x 0.60.
    found = embedded(
        "select supply, coalesce(chip_id, tier), usd_per_request * 1e6, cached_input_usd_per_request * 1e6, "
        "evidence from mart.cost_per_request where workload_id = 'agentx' "
        "and model_id = 'deepseek-v4.1-flash' and usd_per_request is not null "
        "and coalesce(price_series_id, ?) = ? order by 3",
        *(SAVRN, SAVRN),
    )
    assert found == [
        ("self_hosted", "gb300-nvl72", within(558.706, 0.001), None, "vendor_claim"),
        ("bought", "off_peak", within(1261.728, 0.001), within(380.928, 0.001), "derived"),
        ("bought", "peak", within(2523.456, 0.001), within(761.856, 0.001), "derived"),
    ]
