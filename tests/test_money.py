"""The rent of one deployment-hour is what its tokens cost: nothing more, nothing less.

Holds inside `by_role` and inside `total`, where costs add up; of `whole_bill` each cost alone is the rent.
Tokens are counted from the points and not from the costs, so that a wrong denominator shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import run, sql_build, sql_models
from pipelines.home import Home

Query = Callable[..., list[tuple[Any, ...]]]

# One row per priced reading of a point on its own chip: what it costs per million of its tokens, and how
# many millions of them the deployment makes in an hour.
PRICED = """
    select
        cost.benchmark_point_id,
        cost.price_series_id,
        cost.valid_from,
        cost.cost_allocation,
        cost.token_kind,
        cost.gpu_scope,
        cost.usd_per_million_tokens as usd,
        cast(cost.usd_per_gpu_hour as double) * point.accelerator_count as rent,
        0.0036 * case cost.gpu_scope || ' ' || cost.token_kind
            when 'prefill input' then point.input_tok_s_prefill_gpu * point.prefill_accelerator_count
            when 'decode output' then point.output_tok_s_decode_gpu * point.decode_accelerator_count
            when 'all input' then point.input_tok_s_gpu * point.accelerator_count
            when 'all output' then point.output_tok_s_gpu * point.accelerator_count
            when 'all total' then point.total_tok_s_gpu * point.accelerator_count
        end as millions
    from mart.cost_per_million_tokens as cost
    inner join mart.benchmark_point as point
        on cost.benchmark_point_id = point.benchmark_point_id
        and cost.chip_id = point.chip_id
    where cost.usd_per_million_tokens is not null
        and point.accelerator_count is not null
        and not (cost.evidence = 'derived' and point.evidence <> 'derived')
"""
HOUR = "benchmark_point_id, price_series_id, valid_from"


@pytest.fixture(params=["embedded", "imported"])
def published(request: pytest.FixtureRequest) -> Query:
    """Both published copies, one after the other."""
    return request.getfixturevalue(request.param)


def count(query: Query, sql: str) -> int:
    ((found,),) = query(sql)
    return found


def test_money_of_both_roles_is_the_rent(published: Query) -> None:
    hours = (
        f"select {HOUR}, min(rent) as rent, sum(usd * millions) as paid, count(*) as readings, "
        "count(distinct token_kind) as kinds "
        f"from ({PRICED}) where cost_allocation = 'by_role' group by {HOUR}"
    )
    broken = "(abs(paid / rent - 1) <= 1e-9 and readings = 2 and kinds = 2) is not true"
    assert published(f"select * from ({hours}) where {broken}") == []
    # Every point with both counts is looked at, in every stretch that has a price.
    looked_at = count(published, f"select count(distinct benchmark_point_id) from ({hours})")
    assert looked_at == count(
        published,
        "select count(*) from mart.benchmark_point "
        "where prefill_accelerator_count is not null and decode_accelerator_count is not null",
    )
    assert looked_at >= 37


def test_money_of_all_tokens_is_the_rent(published: Query) -> None:
    hours = f"select {HOUR}, rent, usd * millions as paid from ({PRICED}) where cost_allocation = 'total'"
    assert published(f"select * from ({hours}) where (abs(paid / rent - 1) <= 1e-9) is not true") == []
    assert published(f"select {HOUR} from ({hours}) group by {HOUR} having count(*) > 1") == []
    assert count(published, f"select count(distinct benchmark_point_id) from ({hours})") == count(
        published,
        "select count(*) from mart.benchmark_point "
        "where total_tok_s_gpu is not null and accelerator_count is not null",
    )


def test_whole_bill_is_the_rent_for_each_kind_alone(published: Query) -> None:
    bills = (
        f"select {HOUR}, token_kind, rent, usd * millions as paid from ({PRICED}) "
        "where cost_allocation = 'whole_bill'"
    )
    assert published(f"select * from ({bills}) where (abs(paid / rent - 1) <= 1e-9) is not true") == []
    # Input and output together would charge the rent twice: they are never added.
    kinds = published(
        f"select distinct kinds, round(paid / rent, 9) from ("
        f"  select count(*) as kinds, sum(paid) as paid, min(rent) as rent from ({bills}) group by {HOUR})"
    )
    assert kinds == [(2, 2.0)]


def test_both_readings_of_a_split_deployment_count_the_same_tokens(published: Query) -> None:
    split = (
        "from mart.benchmark_point where prefill_accelerator_count is not null "
        "and decode_accelerator_count is not null"
    )
    assert (
        published(
            "select benchmark_point_id, accelerator_count, prefill_accelerator_count, "
            f"decode_accelerator_count {split} and not ("
            "  accelerator_count = prefill_accelerator_count + decode_accelerator_count "
            "  and abs(output_tok_s_gpu * accelerator_count "
            "    / (output_tok_s_decode_gpu * decode_accelerator_count) - 1) <= 1e-9 "
            "  and abs(input_tok_s_gpu * accelerator_count "
            "    / (input_tok_s_prefill_gpu * prefill_accelerator_count) - 1) <= 1e-9 "
            "  and abs((input_tok_s_gpu + output_tok_s_gpu) / total_tok_s_gpu - 1) <= 0.01"
            ") is true"
        )
        == []
    )
    assert count(published, f"select count(*) {split}") >= 37


# --- Law of scale -------------------------------------------------------------------------------

READINGS = "core.benchmark_view"


@pytest.fixture(scope="module")
def bench(embedded_home: Home) -> Iterator[duckdb.DuckDBPyConnection]:
    """The real models up to the readings of a point, over raw tables that a test fills itself."""
    connection = duckdb.connect()
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("create schema raw")
    connection.execute(f"attach '{embedded_home.warehouse}' as built (read_only)")
    for (table,) in connection.execute(
        "select table_name from duckdb_tables() where database_name = 'built' and schema_name = 'raw'"
    ).fetchall():
        connection.execute(f"create table raw.{table} as from built.raw.{table}")
    connection.execute("detach built")
    yield connection
    connection.close()


def models_below(name: str) -> dict[str, sql_models.Model]:
    models = run.models()
    wanted, queue = set(), [name]
    while queue:
        model = models[queue.pop()]
        wanted.add(model.name)
        queue += [other for other in model.depends_on if other in models]
    return {key: model for key, model in models.items() if key in wanted}


count_of_gpus = st.integers(min_value=1, max_value=512)
tok_s = st.floats(min_value=0.5, max_value=1e7)
server = st.fixed_dictionaries(
    {
        "prefill": count_of_gpus,
        "decode": count_of_gpus,
        "input": tok_s,
        "output": tok_s,
        "split": st.booleans(),
    }
)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(servers=st.lists(server, min_size=1, max_size=20))
def test_a_deployment_twice_as_large_makes_the_same_per_gpu(
    bench: duckdb.DuckDBPyConnection, servers: list[dict[str, Any]]
) -> None:
    bench.execute("delete from raw.benchmark_result")
    for number, stated in enumerate(servers):
        for factor in (1, 2):
            gpus = {side: stated[side] * factor for side in ("prefill", "decode")}
            bench.execute(
                "insert into raw.benchmark_result by name "
                "select source, snapshot_id, ? as row_number, 'bench' as publisher, ? as run_id, "
                "'h100-sxm-80' as raw_chip_name, 'deepseek-v3.2' as raw_model_name, "
                "date '2026-01-01' as measured_on, date '2026-01-01' as published_on, "
                "timestamptz '2026-01-01 00:00:00+00' as known_at, 'day' as date_precision, "
                "'fixed-1024-1024' as workload, 1 as concurrency, 'system' as throughput_basis, "
                "'benchmark' as traffic_basis, 'measured' as evidence, ? as disaggregated, "
                "? as accelerator_count, ? as prefill_accelerator_count, ? as decode_accelerator_count, "
                "? as input_tok_s, ? as output_tok_s, ? as total_tok_s "
                "from raw.snapshot where source = 'inferencex_points'",
                [
                    *(number * 2 + factor, f"{number}x{factor}", stated["split"]),
                    sum(gpus.values()),
                    *(gpus.values() if stated["split"] else (None, None)),
                    *(stated["input"] * factor, stated["output"] * factor),
                    (stated["input"] + stated["output"]) * factor,
                ],
            )
    sql_build.build(bench, models_below(READINGS))
    readings: dict[tuple[str, ...], list[float]] = {}
    for run_id, kind, scope, throughput in bench.execute(
        "select split_part(run_id, 'x', 1), token_kind, gpu_scope, throughput_tok_s_gpu "
        f"from {READINGS} inner join core.benchmark_statement using (benchmark_point_id)"
    ).fetchall():
        readings.setdefault((run_id, kind, scope), []).append(throughput)
    assert len(readings) == sum(5 if stated["split"] else 3 for stated in servers)
    for key, (once, twice) in readings.items():
        assert once == pytest.approx(twice, rel=1e-12), key
