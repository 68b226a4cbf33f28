"""Laws of revenue, full cost and requests: rent is paid once, tokens are sold once, the factor acts once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from price_world import Query, Row, moment, world
from test_money import models_below

from pipelines import sql_build
from pipelines.home import Home

Ask = Callable[..., list[tuple[Any, ...]]]


@pytest.fixture(params=["embedded", "imported"])
def published(request: pytest.FixtureRequest) -> Ask:
    """Both published copies, one after the other."""
    return request.getfixturevalue(request.param)


def count(ask: Ask, sql: str) -> int:
    ((found,),) = ask(sql)
    return found


# --- The full cost ------------------------------------------------------------------------------


def test_counted_prefill_gpus_cost_the_whole_bill_of_all_gpus(published: Ask) -> None:
    both = (
        "from mart.fully_loaded_cost as loaded "
        "inner join mart.benchmark_point as point using (benchmark_point_id) "
        "where loaded.role_ratio_basis = 'counted' and loaded.usd_per_million_output_tokens is not null"
    )
    # Rent of the deployment over its tokens, counted from the point.
    bill = (
        "cast(loaded.usd_per_gpu_hour as double) * point.accelerator_count "
        "/ (point.output_tok_s_gpu * point.accelerator_count * 0.0036)"
    )
    gap = f"abs(loaded.usd_per_million_output_tokens / ({bill}) - 1)"
    assert published(f"select loaded.* {both} and ({gap} <= 1e-9) is not true") == []
    assert count(published, f"select count(distinct benchmark_point_id) {both}") >= 37
    assert (
        published(
            "select * from mart.fully_loaded_cost where usd_per_million_output_tokens is not null and "
            "(abs((decode_usd_per_million_output_tokens + prefill_usd_per_million_output_tokens) "
            "/ usd_per_million_output_tokens - 1) <= 1e-12) is not true"
        )
        == []
    )


def test_every_decode_reading_has_a_full_cost_or_a_reason_on_every_stretch(published: Ask) -> None:
    readings = (
        "select distinct benchmark_point_id, chip_id, price_series_id from mart.cost_per_million_tokens "
        "where gpu_scope = 'decode'"
    )
    loaded = "select distinct benchmark_point_id, chip_id, price_series_id from mart.fully_loaded_cost"
    assert published(f"({readings} except {loaded}) union all ({loaded} except {readings})") == []


# --- A request ----------------------------------------------------------------------------------

REQUESTS = """
    select
        request.*,
        point.disaggregated,
        cast(request.usd_per_gpu_hour as double) as rent,
        (point.input_tok_s_gpu + point.output_tok_s_gpu) * 3600 as tokens,
        point.input_tok_s_gpu * 3600 / request.input_tokens as input_requests,
        point.output_tok_s_gpu * 3600 / request.output_tokens as output_requests
    from mart.cost_per_request as request
    inner join mart.benchmark_point as point using (benchmark_point_id)
    where request.usd_per_request is not null and request.chip_id = point.chip_id
"""


def test_the_requests_of_a_gpu_hour_pay_its_rent_once(published: Ask) -> None:
    # All tokens alike: what the hour's tokens would buy of such requests.
    paid = "usd_per_request * tokens / (input_tokens + output_tokens) / rent"
    of_all = f"select * from ({REQUESTS}) where cost_allocation = 'total' and tokens is not null"
    # Stated totals are printed with fewer digits than the sum of their parts.
    assert published(f"select * from ({of_all}) where (abs({paid} - 1) <= 0.01) is not true") == []
    # By role: input of so many requests and output of so many, each at its own price.
    split = "input_usd_per_request * input_requests + output_usd_per_request * output_requests"
    by_role = f"select *, {split} as paid from ({REQUESTS}) where cost_allocation = 'by_role'"
    assert published(f"select * from ({by_role}) where (abs(paid / rent - 1) <= 1e-9) is not true") == []
    assert count(published, f"select count(distinct benchmark_point_id) from ({by_role})") >= 37
    assert count(published, f"select count(distinct benchmark_point_id) from ({of_all})") >= 90


def test_a_request_on_rented_gpus_is_priced_from_all_tokens_or_from_roles_and_never_from_a_whole_bill(
    published: Ask,
) -> None:
    assert published("select distinct supply, cost_allocation from mart.cost_per_request order by all") == [
        ("bought", None),
        ("self_hosted", "by_role"),
        ("self_hosted", "total"),
    ]
    # To the last digit against the price of a million tokens.
    assert (
        published(
            "select request.* from mart.cost_per_request as request "
            "inner join mart.cost_per_million_tokens as cost "
            "using (benchmark_point_id, chip_id, price_series_id, cost_allocation, valid_from) "
            "where request.cost_allocation = 'total' and cost.usd_per_million_tokens is not null "
            "and (abs(usd_per_request / (usd_per_million_tokens * (input_tokens + output_tokens) / 1e6) - 1) "
            "<= 1e-12) is not true"
        )
        == []
    )


# --- Revenue ------------------------------------------------------------------------------------


def deck(provider: str, uncached: str, cached: str, output: str) -> list[Row]:
    """A deck of R1 0528 as it was listed the day before, when every point of the model stood."""
    seen = moment("2026-11-29")
    return [
        Row("token_price", provider, seen, seen, {
            "provider": provider, "raw_model_name": "DeepSeek-R1-0528", "tier": "standard",
            "token_kind": kind, "price": Decimal(usd), "currency": "USD", "effective_from": seen,
        })
        for kind, usd in [("input", uncached), ("cached_input", cached), ("output", output)]
    ]  # fmt: skip


@pytest.fixture(scope="module")
def sold(tmp_path_factory: pytest.TempPathFactory) -> Query:
    """The typed InferenceX points, whose model somebody sells."""
    marts = ("mart.revenue_per_gpu_hour", "mart.benchmark_point")
    rows = deck("seller", "0.50", "0.10", "2.00")
    return world(tmp_path_factory.mktemp("sold"), rows, marts=marts)


def test_both_roles_earn_what_all_gpus_earn(sold: Query) -> None:
    hours = """
        select
            revenue.benchmark_point_id,
            max(case gpu_scope when 'all' then revenue_usd_per_gpu_hour * accelerator_count end) as whole,
            max(case gpu_scope when 'prefill' then revenue_usd_per_gpu_hour * prefill_accelerator_count end)
            + max(case gpu_scope when 'decode' then revenue_usd_per_gpu_hour * decode_accelerator_count end)
                as roles
        from mart.revenue_per_gpu_hour as revenue
        inner join mart.benchmark_point using (benchmark_point_id)
        where revenue.provider_id = 'seller' and disaggregated
        group by revenue.benchmark_point_id
    """
    assert sold(f"select * from ({hours}) where (abs(whole / roles - 1) <= 1e-9) is not true") == []
    assert count(sold, f"select count(*) from ({hours})") >= 37


def test_revenue_by_hand(sold: Query) -> None:
    # Of 8192 tokens in none is taken to be cached, and the row says that this is assumed.
    off = sold(
        "select * from mart.revenue_per_gpu_hour as revenue "
        "inner join mart.benchmark_point as point using (benchmark_point_id) "
        "where gpu_scope = 'all' and revenue.provider_id = 'seller' and (abs(revenue_usd_per_gpu_hour "
        "- (point.input_tok_s_gpu * 0.0036 * 0.50 + point.output_tok_s_gpu * 0.0036 * 2.00)) <= 1e-9 "
        "and mix_class = 'assumed' and revenue.evidence = 'assumed') is not true"
    )
    assert off == []
    assert (
        count(
            sold,
            "select count(distinct benchmark_point_id) from mart.revenue_per_gpu_hour "
            "where provider_id = 'seller'",
        )
        == 90
    )


def test_margin_is_revenue_less_rent_and_the_factor_acts_once(published: Ask) -> None:
    assert (
        published(
            "select * from mart.revenue_per_gpu_hour where margin_null_reason is null and ("
            "abs(margin_usd_per_gpu_hour - (revenue_usd_per_gpu_hour - usd_per_gpu_hour)) <= 1e-9 "
            "and (live_null_reason is not null or abs(margin_usd_per_gpu_hour_live "
            "- (revenue_usd_per_gpu_hour * live_traffic_factor - usd_per_gpu_hour)) <= 1e-9)) is not true"
        )
        == []
    )


def test_every_point_has_a_revenue_or_a_reason(published: Ask) -> None:
    missing = (
        "select benchmark_point_id from mart.benchmark_point "
        "except select benchmark_point_id from mart.revenue_per_gpu_hour"
    )
    assert published(missing) == []
    reasons = published(
        "select distinct null_reason from mart.revenue_per_gpu_hour where null_reason is not null order by 1"
    )
    assert [reason for (reason,) in reasons] == ["no_deck", "role_ratio_unknown", "speed_is_not_throughput"]


# --- What is solved for -------------------------------------------------------------------------


@pytest.fixture
def stated(embedded_home: Home) -> Iterator[Callable[..., tuple[Any, ...]]]:
    """Solve again with other stated figures: values by id of the figure, and the ratio of prefill GPUs."""
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("create schema raw")
    connection.execute(f"attach '{embedded_home.warehouse}' as built (read_only)")
    for (table,) in connection.execute(
        "select table_name from duckdb_tables() where database_name = 'built' and schema_name = 'raw'"
    ).fetchall():
        connection.execute(f"create table raw.{table} as from built.raw.{table}")
    connection.execute("detach built")

    def solve(ratio: float = 1, **values: float) -> tuple[Any, ...]:
        for name, value in values.items():
            connection.execute(
                "update raw.stated_value set value = ? where stated_value_id = ?",
                [value, name.replace("_", "-")],
            )
        connection.execute("update raw.role_ratio set prefill_gpus_per_decode_gpu = ?", [ratio])
        sql_build.build(connection, models_below("mart.cached_share_solution"))
        (found,) = connection.execute(
            "select cached_share, uncached_input_tok_s_prefill_gpu_live, "
            "cached_input_tok_s_prefill_gpu_live, prefill_revenue_usd_per_gpu_hour, "
            "output_tok_s_decode_gpu_live, null_reason from mart.cached_share_solution"
        ).fetchall()
        return found

    yield solve
    connection.close()


def test_the_solution_earns_the_stated_revenue_and_carries_the_stated_tokens(stated) -> None:
    for ratio in (0.5, 1, 2):
        share, uncached, cached, prefill_usd, output, reason = stated(ratio, v41_revenue_per_gpu_hour=38)
        assert reason is None
        earned = (ratio * (uncached * 0.15 + cached * 0.003) + output * 0.60) * 0.0036
        assert earned == pytest.approx(38 * (1 + ratio), rel=1e-12)
        assert prefill_usd == pytest.approx((uncached * 0.15 + cached * 0.003) * 0.0036, rel=1e-9)
        tokens = ratio * (uncached + cached) + output
        assert tokens * 86400 * 2700 / (1 + ratio) == pytest.approx(155e12, rel=1e-12)
        assert share == pytest.approx(cached / (uncached + cached), rel=1e-12)


@pytest.mark.parametrize("revenue", [10, 1000])
def test_a_revenue_that_no_share_can_make_has_no_solution(stated, revenue: float) -> None:
    """10 $ is less than the output alone earns; 1000 $ is more than all of it uncached would."""
    assert stated(v41_revenue_per_gpu_hour=revenue)[:3] == (None, None, None)
    assert stated(v41_revenue_per_gpu_hour=revenue)[5] == "no_solution"


def test_a_fleet_too_large_for_its_tokens_has_no_solution(stated) -> None:
    """With 1.2 billion GPUs each pair would make more output than the fleet makes tokens."""
    assert stated(deepinfer_fleet_gpus=1.2e9)[5] == "no_solution"


def test_nothing_is_solved_for_before_all_of_it_was_known(embedded: Ask) -> None:
    """The fleet's size was published three days after the revenue."""
    solved = "select cached_share from mart.cached_share_solution_as_known(timestamptz '{} 12:00:00+00')"
    assert embedded(solved.format("2026-10-22")) == []
    assert embedded(solved.format("2026-10-24")) == embedded(
        "select cached_share from mart.cached_share_solution"
    )
