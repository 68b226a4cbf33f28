"""What the articles make of a speed, a memory and a fleet comes out of the tables that are meant for it.

`test_articles.py` reaches some of these figures by arithmetic in its query; here a mart states them. Each
golden value is a literal of its test, worked out from the article's own figures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.test_articles import SAVRN, row, speed_change, within

Query = Callable[..., list[tuple[Any, ...]]]

SPEED = "from mart.capacity where point_label = 'speed-848'"


def test_a12_kv_memory_of_the_largest_batch(embedded: Query) -> None:
    gigabytes, share = row(
        embedded,
        "select kv_gb_per_gpu, share_of_memory from mart.kv_batch_memory "
        "where point_label = 'ep64-103' and chip_id = 'gb200-nvl72'",
    )
    assert gigabytes == within(29.86, 0.01)
    assert share == within(29.86 / 192, 0.0001)  # of 192 GB: memory does not bound the batch
    # A chip that is not disclosed has no memory to take a share of.
    assert row(
        embedded,
        "select kv_gb_per_gpu, share_of_memory from mart.kv_batch_memory "
        "where point_label = 'ep64-103' and chip_id = 'blackwell-undisclosed'",
    ) == (within(29.86, 0.01), None)


KV_SESSIONS = (
    "select sessions, memory_gb, context_tokens, memory_basis from mart.kv_sessions "
    "where memory_id = 'kv-comparison-memory' and context_id = 'session-context' and model_id = ?"
)


def test_a13_sessions_in_100_gb(embedded: Query) -> None:
    assert row(embedded, KV_SESSIONS, "deepseek-v4.1-flash") == (within(857.2, 0.1), 100, 131072, "stated")


def test_a14_sessions_in_100_gb_of_v32(embedded: Query) -> None:
    assert row(embedded, KV_SESSIONS, "deepseek-v3.2") == (within(15.87, 0.01), 100, 131072, "stated")


def test_sessions_are_unknown_where_cache_memory_or_context_is(embedded: Query) -> None:
    sql = (
        "select sessions, null_reason from mart.kv_sessions "
        "where model_id = ? and memory_id = ? and context_id = ?"
    )
    known, box = "deepseek-v4.1-flash", "b200-sxm-180"
    assert row(embedded, sql, "deepseek-v3", box, "session-context") == (None, "kv_bytes_unknown")
    assert row(embedded, sql, known, "blackwell-undisclosed", "session-context") == (None, "memory_unknown")
    assert row(embedded, sql, "deepseek-v3.2", box, "longest_of_model") == (None, "context_unknown")
    # 180 GB / (890 bytes x 10^6 tokens)
    assert row(embedded, sql, known, box, "longest_of_model") == (within(202.247, 0.001), None)


@pytest.mark.parametrize(
    ("column", "expected", "tolerance"),
    [
        ("million_output_tokens_per_session_hour", 3.0528, 0.0001),
        ("million_output_tokens_per_session_day", 73.2672, 0.0001),
    ],
    ids=["A31", "A32"],
)
def test_a31_and_a32_tokens_of_a_speed(
    embedded: Query, column: str, expected: float, tolerance: float
) -> None:
    assert row(embedded, f"select distinct {column} {SPEED}") == (within(expected, tolerance),)


@pytest.mark.parametrize(
    ("length", "requests", "printed"),
    [
        ("hypothetical-short-output", 146534, "requests-per-day-at-500"),
        ("hypothetical-long-output", 73267, "requests-per-day-at-1000"),
    ],
    ids=["A33", "A34"],
)
def test_a33_and_a34_requests_of_a_speed(embedded: Query, length: str, requests: int, printed: str) -> None:
    found, length_class = row(
        embedded,
        f"select distinct requests_per_session_day, request_length_class {SPEED} and request_length_id = ?",
        length,
    )
    assert found == within(requests, 1)
    assert length_class == "assumed"  # the length is the article's example
    # The article rounds to hundreds.
    (stated,) = row(embedded, "select value from mart.stated_value where stated_value_id = ?", printed)
    assert abs(found - stated) < 50


def test_a_speed_makes_tokens_per_gpu_only_under_an_assumption(embedded: Query) -> None:
    found = embedded(
        f"select distinct assumption_id, million_output_tokens_per_gpu_day, evidence, null_reason, "
        f"million_output_tokens_live_per_gpu_day, live_null_reason {SPEED} order by 2"
    )
    # 73.2672 M tokens of one session a day, times its sessions per GPU.
    assert found == [
        ("one_session_per_rack", pytest.approx(73.2672 / 72), "assumed", None, None, "no_factor"),
        ("one_session_per_gpu", pytest.approx(73.2672), "assumed", None, None, "no_factor"),
        ("sixty_sessions_per_gpu", pytest.approx(73.2672 * 60), "assumed", None, None, "no_factor"),
    ]


def test_a_measured_point_needs_no_assumption_and_a_role_is_named(embedded: Query) -> None:
    sql = (
        "select distinct gpu_scope, million_output_tokens_per_gpu_hour, "
        "million_output_tokens_live_per_gpu_hour, null_reason, assumption_id from mart.capacity "
        "where point_label = 'ep64-103' and chip_id = 'gb200-nvl72' order by gpu_scope"
    )
    # 26300 tokens a second of a decode GPU, and 0.8 of it; per GPU of all nothing is known.
    assert embedded(sql) == [
        ("all", None, None, "role_ratio_unknown", None),
        ("decode", pytest.approx(26300 * 0.0036), pytest.approx(26300 * 0.8 * 0.0036), None, None),
    ]


def test_capacity_accounts_for_every_reading_of_output(embedded: Query) -> None:
    # Each standing point and length once; a decode-only one twice, for decode GPUs and for all.
    points, speeds, lengths = 102, 2, 2
    decode_readings = row(
        embedded,
        "select count(*) from (select distinct benchmark_point_id, chip_id, gpu_scope "
        "from mart.cost_per_million_tokens where token_kind = 'output' and gpu_scope <> 'none')",
    )[0]
    assert decode_readings > points - speeds
    assert row(embedded, "select count(*) from mart.capacity") == (lengths * (decode_readings + speeds * 3),)


def assumed(query: Query, columns: str, assumption: str) -> list[tuple[Any, ...]]:
    return query(
        f"select point_label, {columns} from mart.assumed_cost where price_series_id = ? "
        "and assumption_id = ? and null_reason is null order by point_label",
        SAVRN,
        assumption,
    )


def test_a45_break_even_sessions_per_gpu(embedded: Query) -> None:
    for assumption in ("one_session_per_rack", "one_session_per_gpu", "sixty_sessions_per_gpu"):
        # What the break-even is does not hang on how many are assumed.
        found = assumed(embedded, "break_even_sessions_per_gpu, output_usd_per_million_tokens", assumption)
        assert [(label, sessions, float(usd)) for label, sessions, usd in found] == [
            ("speed-596", within(11.33, 0.01), 0.60),
            ("speed-848", within(7.97, 0.01), 0.60),
        ]


def test_a46_cost_of_one_session_on_a_rack_and_of_sixty_per_gpu(embedded: Query) -> None:
    (_, rack), (_, sixty) = (
        assumed(embedded, "usd_per_million_tokens", name)[1]
        for name in ("one_session_per_rack", "sixty_sessions_per_gpu")
    )
    assert rack == within(344.1, 0.1)
    assert sixty == within(0.0797, 0.0002)


def test_a47_share_of_sessions_that_must_stay_for_cost_to_fall(embedded: Query) -> None:
    (share,) = speed_change(embedded, "kept_sessions_share_for_cheaper")
    assert share * 100 == within(70.28, 0.01)


# Fleets


def test_a_fleet_for_the_daily_tokens(embedded: Query) -> None:
    sql = (
        "select gpu_count, gpu_count_live, live_null_reason, eligible, evidence from mart.fleet_size "
        "where volume_id = 'deepseek_2026' and chip_id = ? and workload_id = ? "
        "and precision is not distinct from ? and utilisation_id = ?"
    )
    agentx = ("gb300-nvl72", "agentx", None)
    # 155e12 / 86400 / 954000 = 1880.48; a claim, so marked as one that is not ranked.
    said = (None, "no_factor", False, "vendor_claim")
    assert row(embedded, sql, *agentx, "always_busy") == (1881, *said)
    assert row(embedded, sql, *agentx, "half_busy") == (3761, *said)  # 3760.97
    best = ("b300-sxm-288", "fixed-8192-1024", "fp4")
    # 155e12 / 86400 / 13931.7 = 128769.7
    assert row(embedded, sql, *best, "always_busy") == (128770, None, "no_factor", True, "measured")


def test_a_fleet_that_is_never_used_has_no_size(embedded: Query) -> None:
    found = embedded(
        "select distinct gpu_count, null_reason from mart.fleet_size where utilisation_id = 'never_busy'"
    )
    assert found == [(None, "zero_utilisation")]


def test_a_volume_meets_the_throughput_of_its_own_tokens(embedded: Query) -> None:
    kinds = embedded("select distinct volume_id, token_kind from mart.fleet_size order by 1")
    assert kinds == [
        ("billion_output", "output"),
        ("deepseek_2025_output", "output"),
        ("deepseek_2026", "total"),
    ]
    # 1e9 / 86400 / 1548.3 = 7.48 GPUs
    assert row(
        embedded,
        "select gpu_count from mart.fleet_size where volume_id = 'billion_output' "
        "and utilisation_id = 'always_busy' and chip_id = 'b300-sxm-288' and precision = 'fp4'",
    ) == (8,)


# Electricity


ELECTRICITY = (
    "select provisioned_power_kw_gpu, provisioned_joules_per_token, tokens_per_s_per_mw, "
    "provisioned_usd_per_million_tokens, board_usd_per_million_tokens, board_null_reason "
    "from mart.energy_cost where chip_id = 'b300-sxm-288' and gpu_scope = 'all' and token_kind = ? "
    "and throughput_tok_s_gpu = ? and electricity_price_id = ? and valid_to is not distinct from ?"
)


@pytest.mark.parametrize(
    ("kind", "throughput"), [("output", 1548.3), ("total", 13931.7)], ids=["output", "total"]
)
@pytest.mark.parametrize(
    ("power_kw", "valid_to"), [(2.17, "2026-07-14"), (1.90, None)], ids=["before", "after"]
)
def test_electricity_by_the_constant_in_force(
    embedded: Query, kind: str, throughput: float, power_kw: float, valid_to: str | None
) -> None:
    found = row(embedded, ELECTRICITY, kind, throughput, "texas_industrial_2023", valid_to)
    joules = power_kw * 1000 / throughput
    assert found == (
        power_kw,
        pytest.approx(joules),
        pytest.approx(throughput * 1000 / power_kw),
        pytest.approx(joules / 3.6 * 0.066),  # 10^6 tokens x J / 3.6e6 J per kWh
        *(None, "no_board_power"),
    )


def test_electricity_is_dearer_where_the_kilowatt_hour_is(embedded: Query) -> None:
    dear, cheap = (
        row(embedded, ELECTRICITY, "output", 1548.3, name, None)[3]
        for name in ("virginia_commercial_2023", "texas_industrial_2023")
    )
    assert cheap == within(0.022498, 0.000001)  # 1900 / 1548.3 / 3.6 * 0.066
    assert dear / cheap == pytest.approx(0.0895 / 0.066)


# Tasks


def test_cost_of_a_task_that_succeeds(embedded: Query) -> None:
    sql = (
        "select usd_per_attempt, usd_per_successful_task, null_reason, evidence "
        "from mart.cost_per_successful_task where task_assumption_id = ? and chip_id = ? "
        "and precision = ? and price_series_id = ?"
    )
    best = ("b300-sxm-288", "fp4", SAVRN)
    # 9.99 / (1548.3 x 0.0036) = 1.792288 $ per M; 23,000 tokens; 875 of 1,000 succeed.
    assert row(embedded, sql, "r1_aime_2025", *best) == (
        within(0.0412226, 1e-7), within(0.0471116, 1e-7), None, "assumed",
    )  # fmt: skip
    assert row(embedded, sql, "r1_one_in_two", *best)[:2] == (
        within(0.00179229, 1e-8), within(0.00358458, 1e-8),
    )  # fmt: skip
    assert row(embedded, sql, "r1_never", *best) == (
        within(0.00179229, 1e-8), None, "no_success", "assumed",
    )  # fmt: skip
    assert row(embedded, sql, "r1_aime_2025", "mi325x", "fp8", SAVRN) == (None, None, "no_price", "assumed")
