"""What the questions of the cookbook answer, where an article prints it or it follows from one, by hand."""

from __future__ import annotations

from typing import Any

import pytest

V41 = "deepseek-v4.1-flash"
SAVRN = "index:savrn_ai_index:on_demand"


def near(value: float, tolerance: float) -> Any:
    return pytest.approx(value, rel=0, abs=tolerance)


def test_then_and_now(answer):
    rows = {row["measure"]: row for row in answer("then_and_now")}
    for measure, then, now, ratio in [
        ("output tokens/s per decode GPU", 1850, 11573, 6.26),
        ("output speed per user", 21, 241, 11.48),
        ("decode-GPU-hours per billion output tokens", 150.15, 24.0, 0.16),
        ("revenue per GPU-hour, all GPUs", 12.91, 38.0, 2.943),
        ("price of output", 2.19, 0.60, 1 - 0.726),
        ("price of input", 0.55, 0.15, 1 - 0.727),
        ("price of cached_input", 0.140, 0.003, 1 - 0.979),
    ]:
        row = rows.pop(measure)
        assert (row["then_value"], row["now_value"]) == (pytest.approx(then, rel=1e-4), near(now, 0.3))
        assert row["now_over_then_ratio"] == near(ratio, 0.0005 if "price" in measure else 0.005)
        assert row["change_percent"] == pytest.approx((row["now_over_then_ratio"] - 1) * 100)
    assert rows == {}


def test_chip_by_chip(answer):
    rent = {row["chip_name"]: row["usd_per_gpu_hour"] for row in answer("chip_by_chip")}
    for chip, usd in [
        ("NVIDIA GB200 NVL72", 10.58),
        ("NVIDIA GB300 NVL72", 14.59),
        ("NVIDIA HGX B200 180 GB", 8.02),
        ("NVIDIA HGX B300 288 GB", 9.99),
        ("NVIDIA H200 SXM 141 GB", 5.33),
        ("NVIDIA H100 SXM 80 GB", 4.17),
        ("AMD Instinct MI355X 288 GB", 5.60),
        ("AMD Instinct MI300X 192 GB", 3.65),
    ]:
        assert float(rent[chip]) == usd
    # The article has no rent for them, and so have we: unknown, and not nothing.
    assert rent["NVIDIA H800 SXM 80 GB"] is rent["NVIDIA H20 SXM 96 GB"] is None


def test_cost_at_market_rental(answer):
    cost = {
        (row["chip_id"], row["point_label"]): row["decode_rent_usd_per_million_tokens_live"]
        for row in answer("cost_at_market_rental")
    }
    assert cost["gb200-nvl72", "ep64-241"] == near(0.25394, 0.0001)
    assert cost["gb200-nvl72", "ep64-103"] == near(0.13968, 0.0001)
    # The box at 225 and the rack at 310 cost what the off-peak price of 0.60 pays.
    assert cost["b200-sxm-180", "ep8-225"] == near(0.60, 0.001)
    assert cost["gb200-nvl72", "ep64-310"] == near(0.60, 0.001)
    over = {row["point_label"]: row["rent_over_price_share"] > 1 for row in answer("cost_at_market_rental")}
    assert over["ep8-235"]
    assert not over["ep64-241"]
    # Nothing is priced on a chip that is not disclosed.
    assert {chip for chip, _ in cost} == {"gb200-nvl72", "b200-sxm-180"}


def test_how_revenue_adds_up(answer):
    rows = {row["token_kind"]: row for row in answer("how_revenue_adds_up")}
    assert rows.keys() == {"output", "input", "cached_input"}
    assert rows["output"]["revenue_usd_per_hour"] == near(24.998, 0.001)
    # 69492 x 0.0036 x 0.15 and the rest of 51.00 from the cache
    assert rows["input"]["revenue_usd_per_hour"] == near(37.53, 0.1)
    assert rows["cached_input"]["revenue_usd_per_hour"] == near(51.00 - 37.53, 0.1)
    for row in rows.values():
        assert row["all_kinds_usd_per_gpu_hour"] == near(38.0, 0.001)
    # Most tokens are cache reads, most revenue is not: 94.7 % of input, and output beside it.
    assert rows["cached_input"]["token_share"] == near(0.939, 0.002)
    assert rows["cached_input"]["revenue_share"] == near(0.177, 0.002)


def test_does_the_fleet_hang_together(answer):
    for row in answer("does_the_fleet_hang_together"):
        assert row["billion_usd_per_year"] == near(0.8988, 0.001)
        assert 0.8 < row["beside_figure_in_unit"] < 1.2


def test_full_cost_with_prefill(answer):
    found = {
        (row["point_label"], row["prefill_chip_id"]): row["usd_per_million_output_tokens_live"]
        for row in answer("full_cost_with_prefill")
    }
    assert found["ep64-241", "gb200-nvl72"] == near(0.5079, 0.0002)
    assert found["ep64-241", "b200-sxm-180"] == near(0.4464, 0.0002)
    assert found["ep64-103", None] is None


def test_what_a_gpu_hour_earns(answer):
    (decode,) = answer("what_a_gpu_hour_earns", point_label="ep64-241", tier="off_peak", gpu_scope="decode")
    assert decode["revenue_usd_per_gpu_hour_live"] == near(24.998, 0.001)
    assert decode["margin_usd_per_gpu_hour_live"] == near(24.998 - 10.58, 0.001)
    (agentx,) = answer("what_a_gpu_hour_earns", point_label="agentx-954k", tier="off_peak", gpu_scope="all")
    assert agentx["revenue_usd_per_gpu_hour"] == near(32.95, 0.01)
    assert agentx["stated_revenue_usd_per_gpu_hour"] == 38.96
    assert agentx["stated_value_class"] == "not_reproducible"


def test_make_or_buy_a_request(answer):
    bought = {
        row["on_price"]: row["usd_per_request"]
        for row in answer("make_or_buy_a_request", supply="bought", workload_id="agentx", model_id=V41)
    }
    # 4096 x 0.15 + 126976 x 0.003 + 444 x 0.60, in millionths, and twice that at peak
    assert bought == {"off_peak": near(0.001261728, 1e-9), "peak": near(0.002523456, 1e-9)}
    # The deck of February 2025 stood a year: it is no price of October 2026.
    assert answer("make_or_buy_a_request", supply="bought", model_id="deepseek-v3") == []


def test_token_prices_today(answer):
    rows = answer("token_prices_today")
    assert {row["model_id"] for row in rows} == {V41}
    assert len({row["date"] for row in rows}) == 1


def test_sessions_in_100_gb(answer):
    rows = {row["model_id"]: row for row in answer("sessions_in_100_gb")}
    assert rows["deepseek-v4.1-flash"]["session_count"] == near(857.2, 0.1)
    assert rows["deepseek-v3.2"]["session_count"] == near(15.87, 0.01)
    assert rows["deepseek-v3"]["null_reason"] == "kv_bytes_unknown"


def test_does_memory_bound_the_batch(answer):
    (row,) = answer("does_memory_bound_the_batch", point_label="ep64-103", chip_id="gb200-nvl72")
    assert row["kv_gb_per_gpu"] == near(29.86, 0.01)


def test_what_it_is_anchored_on(answer):
    rows = answer("what_it_is_anchored_on")
    kinds = {row["kind"] for row in rows}
    assert kinds == {"stated figure", "operating point", "price series"}
    assert all(row["source"] for row in rows)


def test_capacity_of_a_speed(answer):
    short, long = answer("capacity_of_a_speed")
    assert short["million_output_tokens_per_session_hour"] == near(3.0528, 0.0001)
    assert short["million_output_tokens_per_session_day"] == near(73.2672, 0.0001)
    assert short["request_count_per_session_day"] == near(146534, 1)
    assert long["request_count_per_session_day"] == near(73267, 1)


def test_what_848_could_cost(answer):
    found = {
        (row["assumption_id"], row["point_label"]): row
        for row in answer("what_848_could_cost", price_series_id=SAVRN)
    }
    for assumption, label, usd, tolerance in [
        ("one_session_per_gpu", "speed-596", 6.7999, 0.0005),
        ("one_session_per_gpu", "speed-848", 4.7792, 0.0005),
        ("one_session_per_rack", "speed-848", 344.1, 0.1),
        ("sixty_sessions_per_gpu", "speed-848", 0.0797, 0.0002),
    ]:
        assert found[assumption, label]["usd_per_million_tokens"] == near(usd, tolerance)
    sessions = [
        found["one_session_per_gpu", label]["break_even_session_count_per_gpu"]
        for label in ("speed-596", "speed-848")
    ]
    assert sessions == [near(11.33, 0.01), near(7.97, 0.01)]


def test_implied_rent_of_a_claim(answer):
    (row,) = answer("implied_rent_of_a_claim")
    assert row["implied_usd_per_gpu_hour_at_least"] == near(7.2, 0.001)


def test_rebound(answer):
    rows = {row["demand_elasticity_ratio"]: row for row in answer("rebound")}
    # Cost x 596/848 = 0.702830. Tokens x 0.702830^-e, spending x 0.702830^(1 - e).
    for elasticity, tokens, spending in [
        (0.0, 0.0, -29.717),
        (1.0, 42.282, 0.0),
        (1.5, 69.717, 19.282),
        (2.0, 102.441, 42.282),
    ]:
        assert rows[elasticity]["cost_change_percent"] == near(-29.717, 0.001)
        assert rows[elasticity]["tokens_change_percent"] == near(tokens, 0.001)
        assert rows[elasticity]["spending_change_percent"] == near(spending, 0.001)


def test_vendor_against_vendor(answer):
    nvidia, amd = answer("vendor_against_vendor", basis="on demand")
    assert (nvidia["vendor"], amd["vendor"]) == ("NVIDIA", "AMD")
    # 9.99 / (1548.3 x 0.0036) and 5.60 / (360.31 x 0.0036)
    assert nvidia["usd_per_million_tokens"] == near(1.792288, 1e-6)
    assert amd["usd_per_million_tokens"] == near(4.317270, 1e-6)
    assert amd["over_cheapest_ratio"] == near(2.4088, 0.0001)
    assert amd["dearer_than_cheapest_percent"] == near(140.88, 0.01)


def test_what_moved(answer):
    newest = answer("what_moved")[0]
    assert (newest["cause"], newest["claimed_cause"]) == ("unattributed", "software")
    assert newest["change_percent"] == near(42.28, 0.01)


def test_what_is_missing_from_the_headline(answer):
    (row,) = answer("what_is_missing_from_the_headline", state="in the headline, not ranked")
    assert (row["chip_id"], row["reason"]) == ("mi325x", "no_price")
    speeds = answer("what_is_missing_from_the_headline", workload_id="speed-report")
    assert [(row["chip_id"], row["point_count"]) for row in speeds] == [("gb300-nvl72", 2)]


def test_what_a_report_leaves_out(answer):
    (row,) = answer("what_a_report_leaves_out", subject_id="report-848-undisclosed")
    assert {"precision", "concurrency", "TTFT"} <= set(row["missing_fields"].split(", "))


def test_prices_as_known_then(answer):
    (row,) = answer("prices_as_known_then", chip_id="b300-sxm-288", precision="fp4")
    # On 1 October nobody knew the index of the twentieth: 4.25 $ reserved, and 9.99 $ on demand since.
    assert float(row["then_usd_per_gpu_hour"]) == 4.25
    assert row["then_usd_per_million_tokens"] == near(0.762485, 1e-6)
    assert float(row["now_usd_per_gpu_hour"]) == 9.99
    assert row["now_usd_per_million_tokens"] == near(1.792288, 1e-6)


def test_d03_my_own_price_reaches_every_variant_and_changes_nothing(answer):
    before = answer("cheapest_chip_today")
    mine = answer("my_own_price")
    assert [(row["chip_id"], row["precision"]) for row in mine] == [
        ("b200-sxm-180", "fp4"),
        ("b200-sxm-180", "fp8"),
        ("h100-sxm-80", "fp8"),
    ]
    # 3.50 / (910.25 x 0.0036), 3.50 / (407.59 x 0.0036), 1.90 / (94.06 x 0.0036)
    assert [row["my_usd_per_million_tokens"] for row in mine] == [
        near(1.068083, 1e-6),
        near(2.385295, 1e-6),
        near(5.611076, 1e-6),
    ]
    assert answer("cheapest_chip_today") == before


def test_term_against_on_demand(answer):
    (row,) = answer("term_against_on_demand", chip_id="gb300-nvl72")
    assert row["change_percent"] == near(-65.73, 0.005)  # 5.00 over 14.59


def test_fleet_for_a_daily_volume(answer):
    (row,) = answer("fleet_for_a_daily_volume", workload_id="agentx", utilisation_share=1.0)
    assert row["gpu_count"] == 1881  # 155e12 / 86400 / 954000 = 1880.48


def test_cost_when_gpus_idle(answer):
    rows = answer("cost_when_gpus_idle", chip_id="b300-sxm-288", precision="fp4")
    assert [row["usd_per_million_tokens_at_utilisation"] for row in rows] == [
        near(1.792288, 1e-6),
        near(3.584577, 1e-6),
        near(5.974294, 1e-6),
        None,
    ]


def test_reserved_or_busy(answer):
    (row,) = answer("reserved_or_busy")
    assert row["allocation_usd_per_million_tokens"] == pytest.approx(2.00)
    assert row["usage_usd_per_million_tokens"] == pytest.approx(0.80)


def test_cost_of_a_task_that_succeeds(answer):
    (row,) = answer(
        "cost_of_a_task_that_succeeds",
        task_assumption_id="r1_aime_2025",
        chip_id="b300-sxm-288",
        precision="fp4",
        price_series_id=SAVRN,
    )
    assert row["usd_per_successful_task"] == near(0.0471116, 1e-7)


def test_printed_costs_that_do_not_follow(answer):
    (row,) = answer("printed_costs_that_do_not_follow")
    assert (row["row_order"], row["throughput_tok_s_gpu"]) == (5, 5336.2)
    assert (row["printed_usd_per_million_tokens"], row["rounded_usd_per_million_tokens"]) == (0.10, 0.12)


def test_tokens_per_megawatt(answer):
    rows = answer("tokens_per_megawatt", chip_id="b300-sxm-288", token_kind="output")
    # 1548.3 tok/s at 1.90 kW, and at the 2.17 kW that the model had before
    assert [(row["provisioned_power_kw_gpu"], row["most_tokens_per_s_per_mw"]) for row in rows] == [
        (1.9, near(814894.7, 0.1)),
        (2.17, near(713502.3, 0.1)),
    ]


def test_electricity_of_a_million_tokens(answer):
    (row,) = answer(
        "electricity_of_a_million_tokens",
        chip_id="b300-sxm-288",
        electricity_price_id="texas_industrial_2023",
    )
    assert row["provisioned_joules_per_token"] == near(1.227152, 1e-6)
    assert row["provisioned_usd_per_million_tokens"] == near(0.022498, 1e-6)
    assert (row["board_usd_per_million_tokens"], row["board_null_reason"]) == (None, "no_board_power")


def test_how_fast_before_a_loss(answer):
    live = {"tier": "off_peak", "traffic": "live", "gpu_scope": "decode", "price_series_id": SAVRN}
    speeds = {
        row["chip_id"]: row["break_even_speed_tok_s_user"] for row in answer("how_fast_before_a_loss", **live)
    }
    assert speeds == {"b200-sxm-180": near(225, 0.5), "gb200-nvl72": near(310, 0.5)}


def test_where_one_chip_overtakes_another(answer):
    (row,) = answer("where_one_chip_overtakes_another", gpu_scope="decode", price_series_id=SAVRN)
    assert row["crossover_speed_tok_s_user"] == near(130.93, 0.5)
    assert (row["cheaper_below_chip_id"], row["cheaper_above_chip_id"]) == ("b200-sxm-180", "gb200-nvl72")


def test_cost_over_speed(answer):
    cost = {
        (row["chip_id"], row["speed_tok_s_user"]): (
            row["decode_rent_usd_per_million_tokens_live"],
            row["null_reason"],
        )
        for row in answer("cost_over_speed")
    }
    # 8.02 / (26400 x 0.9 x 0.8 x 0.0036), a published point of the box
    assert cost["b200-sxm-180", 105] == (near(0.117202, 1e-6), None)
    # The rack makes 1.102 and 6.476 times the box there, and rents for 10.58 over 8.02.
    for speed, ratio, tolerance in [(105, 1.102, 0.01), (235, 6.476, 0.05)]:
        box, rack = cost["b200-sxm-180", speed][0], cost["gb200-nvl72", speed][0]
        assert box / rack * 10.58 / 8.02 == near(ratio, tolerance)
    assert cost["b200-sxm-180", 240] == (None, "unreachable")


def test_cheapest_at_a_speed_is_the_first_of_its_list(answer):
    rows = answer("cheapest_at_a_speed", price_series_id=SAVRN)
    ranked = [row for row in rows if row["rank"] is not None]
    assert ranked
    assert [row["rank"] for row in ranked] == sorted(row["rank"] for row in ranked)
    costs = [row["usd_per_million_tokens"] for row in ranked]
    assert costs == sorted(costs)
    assert rows[: len(ranked)] == ranked
    assert all(row["unranked_reason"] for row in rows[len(ranked) :])


def test_what_a_chip_is_worth(answer):
    rows = [row for row in answer("what_a_chip_is_worth") if row["market_usd_per_gpu_hour"]]
    assert rows
    for row in rows:
        worth, market = row["parity_rent_usd_per_gpu_hour"], float(row["market_usd_per_gpu_hour"])
        assert row["rent_over_parity_ratio"] == pytest.approx(market / worth)
