"""The reader's own numbers: any speed, an own price, own factors; nothing that is stored changes.

Figures are worked out by hand: a cost is price / (throughput x 0.0036), as 3600 s / 10^6 is 0.0036.
"""

from __future__ import annotations

import csv
import hashlib
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest
from bench_world import SERIES, point, priced
from price_world import Query, world
from test_cli import one_error, tokenyield, usage_error

from pipelines import own_numbers, run, sql_build
from pipelines.home import PROJECT, Home
from pipelines.macros import Rewriting
from pipelines.publish import publish
from pipelines.sql_models import ModelError
from pipelines.warehouse import Warehouse

MARTS = sorted({macro.mart for macro in own_numbers.macros(run.models())})
DAY = "2026-10-01"


def line(chip: str, speeds: dict[float, float], **changes: Any) -> list[Any]:
    """One server's points: speed per user and output tok/s per GPU."""
    return [
        point(
            chip, DAY, concurrency=int(1000 / speed), output_tok_s=made, interactivity_tok_s_user=speed,
            tpot_p50_ms=1000 / speed, ttft_p50_ms=500, **changes,
        )
        for speed, made in speeds.items()
    ]  # fmt: skip


ROWS = [
    # Every kind of variant of one chip, and another chip that must not follow.
    priced("case-mine", "9.00"),
    point("case-mine", DAY, run_id="a", engine="vllm", output_tok_s=1000),
    point("case-mine", DAY, run_id="b", engine="sglang", output_tok_s=2000, weight_precision="fp4"),
    point("case-mine", DAY, run_id="c", engine="trt", output_tok_s=500, evidence="vendor_claim"),
    point("case-mine", "2026-09-01", run_id="d", engine="vllm", output_tok_s=800),
    point(
        "case-mine", DAY, run_id="e", engine="dynamo-trt", disaggregated=True, accelerator_count=16,
        prefill_accelerator_count=8, decode_accelerator_count=8, throughput_basis="system",
        output_tok_s=8000, input_tok_s=64000, total_tok_s=72000, tp=None,
    ),
    priced("case-other", "9.00"),
    point("case-other", DAY, output_tok_s=1000),
    # One throughput under three kinds of traffic.
    *[
        point("case-traffic", DAY, run_id=basis, traffic_basis=basis, output_tok_s=1000)
        for basis in ("benchmark", "replay", "live")
    ],
    point("case-load", DAY, output_tok_s=5000),
    # 625 to 256 over 20 tok/s: on the logarithm a straight line.
    priced("case-two", "2.00"),
    *line("case-two", {20: 625, 40: 256}, workload="fixed-1024-1024"),
    priced("case-twice", "3.00"),
    *line("case-twice", {20: 1250, 40: 512}, workload="fixed-1024-1024"),
]  # fmt: skip


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("own"), ROWS, marts=MARTS, history=True)


@pytest.fixture(params=["embedded", "imported"])
def published(request: pytest.FixtureRequest) -> Query:
    """Both published copies, one after the other."""
    return request.getfixturevalue(request.param)


# An own price


def test_d03_every_variant_of_the_chip_follows_an_own_price(tables: Query) -> None:
    found = tables(
        "select engine, precision, token_kind, gpu_scope, evidence, usd_per_gpu_hour, usd_per_million_tokens "
        "from mart.cost_with_price('case-mine', 1.90) where token_kind = 'output'"
    )
    expected = {
        ("vllm", "fp8", "output", "all", "measured"): [0.527777777778, 0.659722222222],  # 1000 and 800
        ("sglang", "fp4", "output", "all", "measured"): [0.263888888889],  # 2000
        ("trt", "fp8", "output", "all", "vendor_claim"): [1.055555555556],  # 500
        ("dynamo-trt", "fp8", "output", "all", "measured"): [1.055555555556],  # 8000 of 16
        ("dynamo-trt", "fp8", "output", "decode", "measured"): [0.527777777778],  # 8000 of 8
    }
    costs: dict[tuple[Any, ...], list[float]] = {}
    for *variant, price, cost in sorted(found):
        assert price == 1.90
        costs.setdefault(tuple(variant), []).append(cost)
    assert costs == {variant: pytest.approx(those, abs=1e-11) for variant, those in expected.items()}
    # Input, prefill and total tokens of the split server follow too.
    assert tables("select count(*) from mart.cost_with_price('case-mine', 1.90)") == [(9,)]


def test_d03_nothing_else_follows_an_own_price(tables: Query) -> None:
    assert tables("select distinct chip_id from mart.cost_with_price('case-mine', 1.90)") == [("case-mine",)]
    stored = "select distinct usd_per_gpu_hour from mart.cost_per_million_tokens where chip_id = 'case-mine' "
    assert [float(usd) for (usd,) in tables(f"{stored} and price_series_id = ?", SERIES)] == [9]


@pytest.mark.parametrize("chip", ["h100-sxm-80", "b200-sxm-180"])
def test_d03_every_published_reading_of_a_chip_follows(published: Query, chip: str) -> None:
    readings = "select distinct benchmark_point_id, token_kind, gpu_scope, cost_allocation, engine, precision"
    own = f"{readings} from mart.cost_with_price('{chip}', 1.90)"
    stored = f"{readings} from mart.cost_per_million_tokens where chip_id = '{chip}'"
    assert published(f"select count(*) from ({own})")[0][0] >= 20
    assert published(f"({own} except {stored}) union all ({stored} except {own})") == []
    assert (
        published(
            f"select * from mart.cost_with_price('{chip}', 1.90) where usd_per_gpu_hour <> 1.9 "
            "or (usd_per_million_tokens is null) <> (throughput_tok_s_gpu is null) "
            "or (usd_per_million_tokens is null) <> (null_reason is not null) "
            "or abs(usd_per_million_tokens * throughput_tok_s_gpu * 0.0036 / 1.9 - 1) > 1e-12"
        )
        == []
    )


def test_a_price_of_a_series_gives_the_costs_of_that_series(embedded: Query) -> None:
    ((usd,),) = embedded(
        "select distinct usd_per_gpu_hour from mart.cost_per_million_tokens "
        "where chip_id = 'h100-sxm-80' and price_series_id = 'index:savrn_ai_index:on_demand' "
        "and usd_per_gpu_hour is not null"
    )
    columns = (
        "select benchmark_point_id, token_kind, gpu_scope, cost_allocation, usd_per_million_tokens, "
        "eligible, eligibility_reason, evidence, measured_on, live_traffic_factor"
    )
    stored = (
        f"{columns} from mart.cost_per_million_tokens where chip_id = 'h100-sxm-80' "
        "and price_series_id = 'index:savrn_ai_index:on_demand' and usd_per_gpu_hour is not null"
    )
    own = f"{columns} from mart.cost_with('h100-sxm-80', {usd})"
    assert embedded(stored)
    assert embedded(f"({own} except all {stored}) union all ({stored} except all {own})") == []


def test_a_price_is_not_rounded(tables: Query) -> None:
    ((cost,),) = tables("select usd_per_million_tokens from mart.cost_with_price('case-load', 10 / 3.0)")
    assert cost == pytest.approx(10 / 3 / 18, rel=1e-15)


def test_a_chip_that_is_not_known_has_no_rows(tables: Query) -> None:
    assert tables("from mart.cost_with_price('case', 1.90)") == []
    assert tables("from mart.cost_with(null, 1.90)") == []
    assert tables("from mart.cost_at_with(30, 'case', 1.90)") == []


# Own factors


def test_e04_utilisation_stands_beside_the_peak_and_divides_what_is_not_rounded(tables: Query) -> None:
    found = [
        tables(
            "select usd_per_million_tokens, usd_per_million_tokens_at_utilisation, "
            "at_utilisation_null_reason, null_reason "
            "from mart.cost_with('case-load', 3.00, own_utilisation := ?)",
            share,
        )
        for share in (1, 0.5, 0.3, 0)
    ]
    sixth = pytest.approx(1 / 6, rel=1e-12)
    assert found == [
        [(sixth, pytest.approx(1 / 6, rel=1e-12), None, None)],
        [(sixth, pytest.approx(1 / 3, rel=1e-12), None, None)],
        [(sixth, pytest.approx(5 / 9, rel=1e-12), None, None)],
        [(sixth, None, "zero_utilisation", None)],
    ]


def test_an_own_live_factor_is_applied_once_and_to_benchmark_traffic_alone(tables: Query) -> None:
    found = tables(
        "select traffic_basis, live_traffic_factor, usd_per_million_tokens, usd_per_million_tokens_live, "
        "live_null_reason, usd_per_million_tokens_live_at_utilisation, live_at_utilisation_null_reason "
        "from mart.cost_with('case-traffic', 3.60, 0.8, 0.5) order by traffic_basis"
    )
    assert found == [
        ("benchmark", 0.8, pytest.approx(1), pytest.approx(1.25), None, pytest.approx(2.5), None),
        ("live", 1, pytest.approx(1), pytest.approx(1), None, pytest.approx(2), None),
        ("replay", None, pytest.approx(1), None, "no_factor", None, "no_factor"),
    ]


def test_without_an_own_factor_the_sourced_one_stands(published: Query) -> None:
    readings = "select distinct benchmark_point_id, live_traffic_factor"
    for (chip,) in published("select distinct chip_id from mart.cost_per_million_tokens"):
        own = f"{readings} from mart.cost_with('{chip}', 1)"
        stored = f"{readings} from mart.cost_per_million_tokens where chip_id = '{chip}'"
        assert published(f"({own} except {stored}) union all ({stored} except {own})") == [], chip
    # 0.80 is what DeepInfer states; an own factor takes its place.
    ask = "select distinct live_traffic_factor from mart.cost_per_million_tokens where traffic_basis = ?"
    assert (0.8,) in published(ask, "benchmark")


@pytest.mark.parametrize(
    "call",
    [
        "cost_with_price('case-load', 0)",
        "cost_with_price('case-load', -1.9)",
        "cost_with_price('case-load', null)",
        "cost_with_price('case-load', 'nan'::double)",
        "cost_with_price('case-load', 'infinity'::double)",
        "cost_with('case-load', 3, 0)",
        "cost_with('case-load', 3, 1.01)",
        "cost_with('case-load', 3, 'nan'::double)",
        "cost_with('case-load', 3, 0.8, -0.1)",
        "cost_with('case-load', 3, 0.8, 1.1)",
        "cost_with('case-load', 3, 0.8, null)",
        "cost_at_with(-30, 'case-two', 3)",
        "cheapest_at(0)",
        "cheapest_at(null)",
        "cost_at('nan'::double)",
        "parity_rent_at(-1)",
        "cost_per_request_with(10, 11, 1)",
        "cost_per_request_with(10, null, 1)",
        "cost_per_request_with(10, 0, -1)",
    ],
)
def test_an_argument_that_cannot_be_meant_is_an_error(tables: Query, call: str) -> None:
    with pytest.raises(duckdb.InvalidInputException, match="must be"):
        tables(f"from mart.{call}")


# Any speed


@pytest.mark.parametrize(
    ("macro", "mart"),
    [("cheapest_at", "cheapest_at_speed"), ("cost_at", "cost_at_speed"), ("parity_rent_at", "parity_rent")],
)
def test_at_the_speeds_of_headlines_the_macros_are_the_marts(published: Query, macro: str, mart: str) -> None:
    for speed in (30, 50, 75, 100, 150, 200):
        own, stored = f"from mart.{macro}({speed})", f"from mart.{mart} where speed_tok_s_user = {speed}"
        assert published(f"(select count(*) {own})") == published(f"(select count(*) {stored})") != [(0,)]
        for one, other in ((own, stored), (stored, own)):
            assert published(f"select count(*) from ({one} except all {other})") == [(0,)], speed


def test_between_the_speeds_of_the_grid(tables: Query) -> None:
    # 7.5 of 20 tok/s on the way from 625 to 256, which is 0.8^4 of it: 625 x 0.8^1.5 = 447.2136.
    assert tables("select * from core.speed_grid where speed_tok_s_user = 27.5") == []
    ((made, position, cost),) = tables(
        "select throughput_tok_s_gpu, position, usd_per_million_tokens from mart.cost_at(27.5) "
        "where chip_id = 'case-two' and token_kind = 'output' and price_series_id = ?",
        SERIES,
    )
    assert (made, position) == (pytest.approx(447.2136, abs=1e-4), "interpolated")
    assert cost == pytest.approx(2 / (447.2136 * 0.0036), rel=1e-7)
    # Twice the tokens at one and a half times the price: three quarters of the cost.
    ranked = tables(
        "select chip_id, rank, usd_per_million_tokens from mart.cheapest_at(27.5) "
        "where chip_id in ('case-two', 'case-twice') and price_series_id = ? order by rank",
        SERIES,
    )
    assert ranked == [("case-twice", 1, pytest.approx(0.75 * cost)), ("case-two", 2, pytest.approx(cost))]
    parity = tables(
        "select parity_rent_usd_per_gpu_hour from mart.parity_rent_at(27.5) where chip_id = 'case-two' "
        "and reference_chip_id = 'case-twice' and token_kind = 'output' and price_series_id = ?",
        SERIES,
    )
    assert parity == [(pytest.approx(1.5),)]


def test_a_speed_beyond_what_was_measured_has_a_reason_and_no_figure(tables: Query) -> None:
    for speed, reason in ((19.9, "below_range"), (40.1, "above_range")):
        found = tables(
            f"select usd_per_million_tokens, null_reason from mart.cost_at_with({speed}, 'case-two', 1) "
            "where token_kind = 'output'"
        )
        assert found == [(None, reason)]


def test_own_price_and_factors_at_a_speed(tables: Query) -> None:
    found = tables(
        "select usd_per_gpu_hour, usd_per_million_tokens, usd_per_million_tokens_live, "
        "usd_per_million_tokens_live_at_utilisation, price_age_days "
        "from mart.cost_at_with(30, 'case-two', 1.44, 0.8, 0.5) where token_kind = 'output'"
    )
    # Half-way between 625 and 256 is 400 tok/s: 1.44 million an hour.
    assert found == [(1.44, pytest.approx(1), pytest.approx(1.25), pytest.approx(2.5), None)]


# A request of one's own size


def test_a_request_of_an_own_size_is_bought_at_each_deck(embedded: Query) -> None:
    # DeepSeek V4.1 Flash: 0.15 / 0.003 / 0.60 $ per million off peak, twice that at peak.
    # 2000 x 0.15 + 8000 x 0.003 + 500 x 0.60 = 624 $ for a million such requests.
    found = embedded(
        "select tier, usd_per_request, cached_input_usd_per_request, workload_id, mix_class "
        "from mart.cost_per_request_with(10000, 8000, 500) where model_id = 'deepseek-v4.1-flash' "
        "order by tier"
    )
    assert found == [
        ("off_peak", pytest.approx(0.000624), pytest.approx(0.000024), "own", "stated"),
        ("peak", pytest.approx(0.001248), pytest.approx(0.000048), "own", "stated"),
    ]


def test_no_measured_throughput_is_carried_over_to_an_own_size(published: Query) -> None:
    assert published("select distinct supply from mart.cost_per_request_with(8192, 0, 1024)") == [("bought",)]


# The published file


def hashes(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_d03_what_is_published_is_the_same_after_every_use(embedded_home: Home) -> None:
    before = hashes(embedded_home.root)
    with duckdb.connect(str(embedded_home.current_database), read_only=True) as connection:
        for call in (
            "cheapest_at(42)", "cost_at(42)", "parity_rent_at(42)", "cost_with_price('h100-sxm-80', 1.90)",
            "cost_with('h100-sxm-80', 1.90, 0.8, 0.5)", "cost_at_with(42, 'h100-sxm-80', 1.90)",
            "cost_per_request_with(10000, 8000, 500)",
        ):  # fmt: skip
            assert connection.execute(f"from mart.{call}").fetchall(), call
    assert tokenyield(embedded_home.root, "cost", "--chip", "h100-sxm-80", "--price", "1.90").returncode == 0
    assert hashes(embedded_home.root) == before


def test_every_macro_is_described_in_the_file_and_in_the_dictionary(
    embedded_home: Home, embedded: Query
) -> None:
    comments = dict(
        embedded(
            "select 'mart.' || function_name, comment from duckdb_functions() where schema_name = 'mart'"
        )
    )
    text = (embedded_home.published / "current" / "DICTIONARY.md").read_text()
    for macro in own_numbers.macros(run.models()):
        assert comments[macro.name] == macro.description
        assert f"| `{macro.signature}` | {macro.description} |" in text
    assert all(comments.values())


def test_points_that_may_not_be_passed_on_are_in_no_table_behind_the_macros(tmp_path: Path) -> None:
    world(tmp_path, [priced("case-two", "2.00"), *line("case-two", {20: 800, 40: 200})], marts=MARTS)
    home, needed = Home(tmp_path), run.models()
    with Warehouse(home.warehouse).write() as connection:
        built = connection.execute("select schema_name || '.' || table_name from duckdb_tables()").fetchall()
        models = {name: model for name, model in needed.items() if (name,) in built}
        connection.execute("update raw.source set passes_on = false where source = 'bench'")
        sql_build.build(connection, models)
    publish(Warehouse(home.warehouse), models, own_numbers.macros(models), home.published)
    with duckdb.connect(str(home.current_database), read_only=True) as connection:
        for table in ("core.benchmark_point", "core.benchmark_view", "core.frontier_knot"):
            query = f"select count(*) filter (where chip_id = 'case-two'), count(*) > 0 from {table}"
            assert connection.execute(query).fetchone() == (0, True), table
        assert connection.execute("from mart.cost_with_price('case-two', 1)").fetchall() == []
        assert connection.execute("from mart.cost_at_with(30, 'case-two', 1)").fetchall() == []


def test_no_model_names_a_column_as_a_parameter_is_named() -> None:
    models = run.models()
    grid = Rewriting(models, ("chip_id := null",), lambda model, table: own_numbers.ONE_SPEED.get(table))
    with pytest.raises(ModelError, match=r"column chip_id without its table"):
        grid.macro("mart.clash", "mart.cheapest_at_speed", "")


# The command


def rows_of(done: Any) -> list[dict[str, str]]:
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_command_shows_the_best_rows_first(embedded_home: Home) -> None:
    asked = ("cost", "--chip", "gb200-nvl72", "--price", "1.90")
    rows = rows_of(tokenyield(embedded_home.root, *asked, "--format", "csv"))
    may = [row["eligible"] == "True" and row["usd_per_million_tokens"] != "" for row in rows]
    assert may == sorted(may, reverse=True)
    assert {True, False} == set(may)
    costs = [float(row["usd_per_million_tokens"]) for row, ranked in zip(rows, may, strict=True) if ranked]
    assert costs == sorted(costs)
    for row in rows:
        if row["usd_per_million_tokens"]:
            expected = 1.90 / (float(row["throughput_tok_s_gpu"]) * 0.0036)
            assert float(row["usd_per_million_tokens"]) == pytest.approx(expected, rel=1e-12)
        else:
            assert row["null_reason"]
    shown = tokenyield(embedded_home.root, *asked, "--limit", "2").stdout
    assert "price: 1.9 $ per GPU-hour, your own" in shown
    assert f"and {len(rows) - 2} more rows: --limit {len(rows)}" in shown


def test_the_command_shows_own_factors_with_reasons_in_place_of_figures(embedded_home: Home) -> None:
    asked = ("cost", "--chip", "h100-sxm-80", "--price", "1.90", "--factor", "0.8")
    at = tokenyield(embedded_home.root, *asked, "--utilisation", "0.6").stdout
    assert "at 60 %" in at
    assert "80 % of a benchmark's throughput, your own factor" in at
    assert max(len(text) for text in at.splitlines()) <= 100
    assert "zero_utilisation" in tokenyield(embedded_home.root, *asked, "--utilisation", "0").stdout
    assert "above_range" in tokenyield(embedded_home.root, *asked, "--speed", "5000").stdout


def test_without_a_price_the_command_names_the_series_its_date_and_its_age(embedded_home: Home) -> None:
    done = tokenyield(embedded_home.root, "cost", "--chip", "h100-sxm-80", "--speed", "42")
    assert done.returncode == 0, done.stderr
    # What the seeds hold of 20 October 2026, 41 days before the run's day.
    assert "price: 4.17 $ per GPU-hour, Savrn AI index" in done.stdout
    assert "a price of 2026-10-20, 41 days old" in done.stdout
    assert "at 42 tok/s per user" in done.stdout


def test_the_command_answers_people_who_are_wrong(embedded_home: Home, tmp_path: Path) -> None:
    def ask(*arguments: str) -> Any:
        return tokenyield(embedded_home.root, "cost", *arguments)

    assert "near it: h100-nvl-94, h100-pcie-80, h100-sxm-80" in one_error(
        ask("--chip", "h100", "--price", "2")
    )
    assert "near it: h100-sxm-80" in one_error(ask("--chip", "h100-smx-80", "--price", "2"))
    assert "no model is named 'deepsek-r1'" in one_error(
        ask("--chip", "h100-sxm-80", "--model", "deepsek-r1")
    )
    assert "--price" in one_error(ask("--chip", "tpu-v5e"))
    assert "--price -1 is not above 0" in usage_error(ask("--chip", "h100-sxm-80", "--price", "-1"))
    assert "--price nan" in usage_error(ask("--chip", "h100-sxm-80", "--price", "nan"))
    assert "--factor" in usage_error(ask("--chip", "h100-sxm-80", "--factor", "1.2"))
    assert "--utilisation" in usage_error(ask("--chip", "h100-sxm-80", "--utilisation", "-0.1"))
    assert "nothing is published" in one_error(tokenyield(tmp_path / "new", "cost", "--chip", "h100-sxm-80"))


def test_the_command_does_not_wait_for_dagster(embedded_home: Home) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom pipelines import cli, own_cost\n"
        f"from pipelines.home import Home\nhome = Home(Path({str(embedded_home.root)!r}))\n"
        "own_cost.print_cost(home, own_cost.Question('h100-sxm-80', speed=42), 'csv', 20)\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('dagster', 'sqlglot', 'polars')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
