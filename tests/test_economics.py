"""What the marts of electricity, fleets and accounts make of hand-made points, and where they say nothing.

Figures of the articles stand in `test_article_capacity.py`, cases of the public in `test_fault_cases_e.py`.
"""

from __future__ import annotations

from datetime import date
from typing import Any

import duckdb
import pytest
from bench_world import point
from price_world import Query, world

from pipelines import run

ROLES = {
    "throughput_basis": "system", "disaggregated": True, "accelerator_count": 40, "tp": None,
    "prefill_accelerator_count": 8, "decode_accelerator_count": 32,
    "input_tok_s": 40000, "output_tok_s": 8000,
}  # fmt: skip
TEXAS_USD_PER_KWH = 0.066
# Eighty-five GPUs for 10^9 tokens a day; as doubles 85.00000000000001, which are not 86 GPUs.
EVEN = 1e9 / 86400 / 85

ROWS = [
    point("case-board", "2026-10-01", power_w_gpu=700),
    point("case-stated", "2026-10-01", power_kw_gpu_provisioned=1.5),
    point("case-roles", "2026-10-01", power_w_gpu=700, **ROLES),
    # Measured before any constant of its chip was used.
    point("h100-sxm-80", "2026-01-10"),
    point("mi300x", "2026-07-14"),
    # The faster one assumes what its drafts hit, so it cannot be ranked.
    point("case-fleet", "2026-10-01", output_tok_s=2000, concurrency=1),
    point("case-fleet", "2026-10-01", output_tok_s=3000, concurrency=2, speculative_method="mtp",
          acceptance_basis="assumed"),
    # The faster one was superseded.
    point("case-newer", "2026-10-01", output_tok_s=2000),
    point("case-newer", "2026-10-08", output_tok_s=1500),
    point("case-even", "2026-10-01", output_tok_s=EVEN),
    point("case-live", "2026-10-01", output_tok_s=2000, traffic_basis="live"),
    point("case-huge", "2026-10-01", output_tok_s=19000),
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    marts = ("mart.energy_cost", "mart.fleet_size", "mart.capacity")
    return world(tmp_path_factory.mktemp("economics"), ROWS, marts=marts, history=True)


def energy(query: Query, chip: str, columns: str, kind: str = "output", table: str = "energy_cost") -> Any:
    return query(
        f"select {columns} from mart.{table} where chip_id = ? and token_kind = ? "
        "and electricity_price_id = 'texas_industrial_2023' and benchmark_point_id in "
        "(select benchmark_point_id from core.benchmark_point where publisher = 'lab') "
        "order by gpu_scope, valid_from",
        chip,
        kind,
    )


BOARD = "board_joules_per_token, board_usd_per_million_tokens, board_null_reason"
PROVISIONED = (
    "provisioned_joules_per_token, tokens_per_s_per_mw, provisioned_usd_per_million_tokens, "
    "provisioned_power_basis, provisioned_null_reason"
)


def test_measured_boards_and_provisioned_power_are_columns_apart(tables: Query) -> None:
    # 700 W over 1000 tok/s: 0.7 J, 10^6 of them 0.19444 kWh.
    usd = pytest.approx(0.7 / 3.6 * TEXAS_USD_PER_KWH)
    assert energy(tables, "case-board", BOARD) == [(pytest.approx(0.7), usd, None)]
    assert energy(tables, "case-board", PROVISIONED) == [(None, None, None, None, "no_power_constant")]
    assert energy(tables, "case-stated", BOARD) == [(None, None, "no_board_power")]
    # 1.5 kW over 1000 tok/s: 1.5 J, and 1000/1.5 GPUs a megawatt.
    assert energy(tables, "case-stated", PROVISIONED) == [
        (
            *(pytest.approx(1.5), pytest.approx(666666.667)),
            *(pytest.approx(1.5 / 3.6 * TEXAS_USD_PER_KWH), "stated", None),
        )
    ]


def test_power_of_a_role_is_not_that_of_all(tables: Query) -> None:
    # 8000 output tok/s over 40 GPUs: 200 a GPU, 3.5 J; of the 32 that decode no power was measured.
    assert energy(tables, "case-roles", f"gpu_scope, {BOARD}") == [
        ("all", pytest.approx(3.5), pytest.approx(3.5 / 3.6 * TEXAS_USD_PER_KWH), None),
        ("decode", None, None, "power_of_role_unknown"),
    ]


CONSTANT = "provisioned_power_kw_gpu, provisioned_null_reason, valid_from, valid_to"


def test_a_power_constant_holds_from_its_day_on(tables: Query) -> None:
    assert energy(tables, "h100-sxm-80", CONSTANT) == [
        (None, "no_power_constant", date(2026, 1, 10), date(2026, 3, 18)),
        (1.73, None, date(2026, 3, 18), date(2026, 7, 14)),
        (1.37, None, date(2026, 7, 14), None),
    ]
    # Measured on the day of the change: the old constant holds on no day of it.
    assert energy(tables, "mi300x", CONSTANT) == [(1.39, None, date(2026, 7, 14), None)]


def test_a_power_constant_is_not_known_before_it_was_published(tables: Query) -> None:
    known = energy(tables, "h100-sxm-80", CONSTANT, table="energy_cost_as_known('2026-04-01')")
    assert known == [
        (None, "no_power_constant", date(2026, 1, 10), date(2026, 3, 18)),
        (1.73, None, date(2026, 3, 18), None),
    ]
    assert energy(tables, "h100-sxm-80", CONSTANT, table="energy_cost_as_known('2026-02-01')") == [
        (None, "no_power_constant", date(2026, 1, 10), None)
    ]


FLEET = (
    "select throughput_tok_s_gpu, gpu_count, gpu_count_live, live_null_reason, eligible from mart.fleet_size "
    "where chip_id = ? and volume_id = 'billion_output' and utilisation_id = ?"
)


@pytest.mark.parametrize(
    ("chip", "throughput", "gpus", "live", "reason"),
    [
        # 10^9 / 86400 = 11574.07 tokens a second.
        ("case-fleet", 2000, 6, None, "no_factor"),
        ("case-newer", 1500, 8, None, "no_factor"),
        ("case-even", EVEN, 85, None, "no_factor"),
        ("case-huge", 19000, 1, None, "no_factor"),
    ],
)
def test_a_fleet_stands_on_the_best_point_that_may_be_ranked(
    tables: Query, chip: str, throughput: float, gpus: int, live: int | None, reason: str
) -> None:
    assert tables(FLEET, chip, "always_busy") == [(pytest.approx(throughput), gpus, live, reason, True)]


def test_live_figures_need_no_factor_and_idle_gpus_need_more(tables: Query) -> None:
    assert tables(FLEET, "case-live", "always_busy") == [(2000, 6, 6, None, False)]
    assert tables(FLEET, "case-live", "half_busy") == [(2000, 12, 12, None, False)]  # 11.57
    assert tables(FLEET, "case-live", "never_busy") == [(2000, None, None, "zero_utilisation", False)]


def test_before_a_length_is_known_a_point_has_tokens_and_no_requests(tables: Query) -> None:
    sql = (
        "select million_output_tokens_per_gpu_hour, request_length_id, requests_per_gpu_day "
        "from mart.capacity{} where chip_id = 'case-live' order by 3 desc"
    )
    assert tables(sql.format("")) == [
        (pytest.approx(7.2), "hypothetical-short-output", pytest.approx(345600)),  # 172.8 M a day / 500
        (pytest.approx(7.2), "hypothetical-long-output", pytest.approx(172800)),
    ]
    assert tables(sql.format("_as_known('2026-11-01')")) == [(pytest.approx(7.2), None, None)]


# Models alone, on tables that no seed holds


def alone(model: str, /, **tables: str) -> list[tuple[Any, ...]]:
    """Rows of `model` where each `raw.<table>` holds the rows of its select."""
    connection = duckdb.connect()
    connection.execute("create schema raw; create schema core")
    connection.execute("create table core.run as select timestamptz '2026-11-30 12:00:00+00' as as_of")
    for table, rows in tables.items():
        connection.execute(f"create table raw.{table} as {rows}")
    return connection.execute(run.models()[model].sql).fetchall()


def test_an_account_that_cannot_be_has_no_cost() -> None:
    rows = (
        "select *, '' as description, 8 as gpu_count, 'total' as token_kind, 'assumed' as value_class, "
        "cast(2.5 as decimal(28, 12)) as usd_per_gpu_hour, '' as source "
        "from (values ('busier than paid', 4e0, 10e0, 100e0, timestamptz '2026-11-01 00:00:00+00'), "
        "('nothing served', 10e0, 4e0, 0e0, timestamptz '2026-11-01 00:00:00+00'), "
        "('not known yet', 10e0, 4e0, 100e0, timestamptz '2026-12-01 00:00:00+00')) "
        "as accounts (serving_account_id, reserved_hours, busy_hours, million_tokens, known_at)"
    )
    found = {row[0]: row[9:13] for row in alone("mart.serving_account_cost", serving_account=rows)}
    assert found == {
        "busier than paid": (None, None, None, "busy_exceeds_reserved"),
        "nothing served": (None, None, 120.0, "no_tokens"),
    }


@pytest.mark.parametrize(
    ("throughput", "printed", "decimals", "agrees"),
    [
        # 3.60 $/h: 1000 / throughput
        (8000.0, 0.125, 3, True),
        (8000.0, 0.12, 2, True),  # 0.125 is halfway: either neighbour is a way to round it
        (8000.0, 0.13, 2, True),
        (8000.0, 0.12, 3, False),
        (7900.0, 0.12, 2, False),  # 0.1266
        (400.0, 2.0, 0, True),  # 2.5
        (399.0, 2.0, 0, False),
    ],
)
def test_a_printed_cost_agrees_when_it_is_the_computed_one_rounded(
    throughput: float, printed: float, decimals: int, agrees: bool
) -> None:
    rows = (
        "select 't' as printed_table_id, 1 as row_order, cast(3.6 as decimal(28, 12)) as usd_per_gpu_hour, "
        f"cast({throughput} as double) as throughput_tok_s_gpu, "
        f"cast({printed} as double) as printed_usd_per_million_tokens, "
        f"cast({decimals} as bigint) as decimals, "
        "timestamptz '2026-11-01 00:00:00+00' as known_at, '' as source"
    )
    ((*_, found, _, _),) = alone("mart.printed_cost_check", printed_cost=rows)
    assert found is agrees


def test_a_memory_or_a_context_of_another_unit_is_none_and_a_context_may_be_too_long() -> None:
    found = alone(
        "mart.kv_sessions",
        model="select 'short' as model_id, 1000e0 as kv_bytes_per_token, 100000 as context_tokens",
        chip="select 'chip' as chip_id, 80e0 as memory_gb",
        stated_value=(
            "select *, timestamptz '2026-11-01 00:00:00+00' as known_at from (values "
            "('memory', 'memory_for_kv_cache', 100e0, 'GB'), "
            "('in GiB', 'memory_for_kv_cache', 100e0, 'GiB'), "
            "('long', 'session_context', 131072e0, 'tokens'), "
            "('fits', 'session_context', 50000e0, 'tokens'), "
            "('in words', 'session_context', 50000e0, 'words')) as v (stated_value_id, metric, value, unit)"
        ),
    )
    sessions = {(row[1], row[5]): row[9:11] for row in found}
    assert len(sessions) == 3 * 4  # memories and contexts, the model's longest among them
    assert sessions["memory", "fits"] == (2000.0, None)  # 100e9 / (1000 x 50000)
    assert sessions["chip", "longest_of_model"] == (800.0, None)  # 80e9 / (1000 x 100000)
    assert sessions["memory", "long"] == (None, "context_too_long")
    assert sessions["memory", "in words"] == (None, "context_unknown")
    assert sessions["in GiB", "fits"] == (None, "memory_unknown")
