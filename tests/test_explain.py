"""An explanation leads from a cost to the bytes: every number in it is there, adds up, and may be passed on.

H200, DeepSeek R1 in FP8: $5.33 / (148.21 tok/s x 3600 / 10^6) = $5.33 / 0.533556 = $9.98958.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from datetime import date
from typing import Any

import duckdb
import pytest
from bench_world import INDEX, SERIES, correction, point, priced, retraction
from price_world import days, machines, quote, world
from test_cli import one_error, tokenyield

from pipelines import explain, run
from pipelines.answers import as_json, published
from pipelines.chain import Chain
from pipelines.home import PROJECT, Home
from pipelines.warehouse import Warehouse

H200 = (
    "chip_id = 'h200-sxm-141' and workload_id = 'fixed-8192-1024' and date = date '2026-11-30' "
    "and speed_tier = 'max_throughput' and token_kind = 'output' and gpu_scope = 'all'"
)
ON_DEMAND = "price_series_id = 'index:savrn_ai_index:on_demand'"
COST = 5.33 / 0.533556
RUN_LINK = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/23552373331/attempts/2"


def asked(home: Home, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(home.current_database), read_only=True) as connection:
        return connection.execute(query).fetchall()


def cost_id(home: Home, condition: str = f"{H200} and {ON_DEMAND}") -> str:
    query = f"select cost_id from mart.cost_per_million_tokens_daily where {condition}"
    return asked(home, query)[0][0]


def explained(home: Home, *words: str, price: float | None = None) -> dict[str, Any]:
    """The explanation as JSON has it; every sum in it comes out."""
    with published(home) as connection:
        chain = Chain(connection)
        told = explain.explained(chain, explain.asked(list(words), None, price, None))
    assert chain.differing == []
    return as_json(told)


def sha256_of_seed(path: str) -> str:
    return hashlib.sha256((PROJECT / "seeds" / path).read_bytes()).hexdigest()


# A row of the embedded default


def test_a_cost_leads_to_its_price_its_run_and_the_bytes_of_both(embedded_home):
    told = explained(embedded_home, cost_id(embedded_home))
    assert told["result"]["usd_per_million_tokens"] == pytest.approx(COST, rel=1e-12)
    assert (told["result"]["date"], told["result"]["evidence"]) == ("2026-11-30", "measured")
    assert told["result"]["benchmark_age_days"] == 250  # 25 March to 30 November
    assert told["cost"]["formula"] == "5.33 $ per GPU-hour / (148.21 tok/s per GPU x 3600 s / 10^6)"
    price = told["price"]
    assert (price["usd_per_gpu_hour"], price["priced_on"], price["age_days"]) == (5.33, "2026-10-20", 41)
    assert (price["method"], price["published_value"]["value"]) == ("price-v1", 5.33)
    payload = price["published_value"]["payload"]
    assert payload["sha256"] == sha256_of_seed("rental_index_value/published_indices.csv")
    (bench,) = told["benchmark"]
    assert (bench["url"], bench["accelerator_count"]) == (RUN_LINK, 8)
    (stated,) = bench["stated_by"]
    assert (stated["stated_output_tok_s"], stated["throughput_basis"]) == (148.21, "per_gpu")
    assert stated["payload"]["sha256"] == sha256_of_seed("benchmark_result/inferencex_points.csv")


def test_a_person_reads_it_as_a_tree(embedded_home):
    done = tokenyield(embedded_home.root, "explain", cost_id(embedded_home))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("a million output tokens on 2026-11-30: 9.98957935")
    for line in (
        "cost: 5.33 $ per GPU-hour / (148.21 tok/s per GPU x 3600 s / 10^6) = 9.98957935",
        f"url: {RUN_LINK}",
        f"sha256: {sha256_of_seed('rental_index_value/published_indices.csv')}",
    ):
        assert line in done.stdout
    assert str(embedded_home.root) not in done.stdout


def test_a_program_reads_it_as_json(embedded_home):
    wanted = cost_id(embedded_home)
    done = tokenyield(embedded_home.root, "explain", wanted, "--on", "2026-11-29", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["result"]["cost_id"], told["result"]["date"]) == (wanted, "2026-11-29")
    assert (told["price"]["age_days"], told["sums_differing"]) == (40, [])


def test_the_key_of_a_daily_row_leads_to_the_same(embedded_home):
    key = [
        "chip_id=h200-sxm-141",
        "model_id=deepseek-r1-0528",
        "speed_tier=max_throughput",
        "date=2026-11-30",
    ]
    key += ["workload_id=fixed-8192-1024", "price_series_id=index:savrn_ai_index:on_demand"]
    assert explained(embedded_home, *key) == explained(embedded_home, cost_id(embedded_home))


def test_a_speed_between_two_points_has_both_and_the_curve(embedded_home):
    columns = "chip_id, model_id, precision, workload_id, price_series_id, evidence, speed_tier"
    names = columns.split(", ")
    (row, *_) = asked(
        embedded_home,
        f"select {columns}, usd_per_gpu_hour, usd_per_million_tokens, benchmark_point_id, above_point_id "
        "from mart.cost_per_million_tokens_daily where position = 'interpolated' and speed_tier = '50' "
        "and token_kind = 'output' and gpu_scope = 'all' and date = date '2026-11-01' "
        "and usd_per_million_tokens is not null order by all limit 1",
    )
    key = [f"{name}={value}" for name, value in zip(names, row, strict=False)]
    told = explained(embedded_home, *key, "date=2026-11-01")
    assert [found["benchmark_point_id"] for found in told["benchmark"]] == list(row[-2:])
    low, high = (found["interactivity_tok_s_user"] for found in told["benchmark"])
    most, least = (found["output_tok_s_gpu"] for found in told["benchmark"])
    assert low < 50 < high
    made = told["throughput"]["worked_out"]
    assert least < made < most
    assert float(row[-4]) / (made * 0.0036) == pytest.approx(row[-3], rel=1e-9)
    assert all(found["stated_by"][0]["payload"]["sha256"] for found in told["benchmark"])


def at_speed(home: Home, condition: str) -> tuple[list[str], dict[str, Any]]:
    """One row of mart.cost_at_speed that meets the condition, and the words that are its key."""
    with published(home) as connection:
        found = connection.execute(f"from mart.cost_at_speed where {condition} order by all limit 1")
        row = dict(zip((column[0] for column in found.description), found.fetchone(), strict=True))
    words = [f"{name}={'' if row[name] is None else row[name]}" for name in explain.AT_SPEED.key]
    return words, row


def test_a_cost_at_a_speed_of_a_server_has_its_curve_and_its_price(embedded_home):
    words, row = at_speed(embedded_home, "position = 'interpolated' and usd_per_million_tokens is not null")
    told = explained(embedded_home, *words)
    assert told["result"]["usd_per_million_tokens"] == row["usd_per_million_tokens"]
    assert told["throughput"]["worked_out"] == pytest.approx(row["throughput_tok_s_gpu"], rel=1e-9)
    speeds = [point["interactivity_tok_s_user"] for point in told["benchmark"]]
    assert min(speeds) < row["speed_tok_s_user"] < max(speeds)
    made = row["throughput_tok_s_gpu"] * 0.0036
    assert told["price"]["usd_per_gpu_hour"] / made == pytest.approx(row["usd_per_million_tokens"], rel=1e-9)


def test_a_cost_beyond_what_was_measured_says_so(embedded_home):
    words, _ = at_speed(embedded_home, "position = 'above_range'")
    told = explained(embedded_home, *words)
    assert told["result"]["usd_per_million_tokens"] is None
    assert "not measured there" in told["result"]["what_is_missing"]
    assert told["benchmark"] == []


def test_a_cost_at_a_speed_is_of_the_copy_s_own_day(embedded_home):
    with pytest.raises(explain.NoSuchCost, match="no other day"):
        explain.asked(["speed_tok_s_user=50"], date(2026, 11, 1), None, None)


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no_price", "no price of this chip on that day"),
        ("stale_price", "older than the limit"),
        ("role_ratio_unknown", "how many prefill GPUs"),
        ("speed_is_not_throughput", "only the speed that one user sees"),
    ],
)
def test_a_cost_that_is_not_known_says_what_is_missing(embedded_home, reason, said):
    query = f"select min(cost_id) from mart.cost_per_million_tokens where null_reason = '{reason}'"
    told = explained(embedded_home, asked(embedded_home, query)[0][0])
    assert told["result"]["usd_per_million_tokens"] is None
    assert said in told["result"]["what_is_missing"]
    assert "cost" not in told
    if reason == "stale_price":
        assert told["price"]["last_price_ended_on"] <= told["result"]["date"]


def test_a_live_factor_says_who_states_it(embedded_home):
    query = "select min(cost_id) from mart.cost_per_million_tokens where live_traffic_factor = 0.8 "
    told = explained(
        embedded_home, asked(embedded_home, query + "and usd_per_million_tokens is not null")[0][0]
    )
    assert told["live_traffic_factor"]["factor"] == 0.8
    assert "DeepSeek" in told["live_traffic_factor"]["stated_by"]
    cost, live = (told["result"][f"usd_per_million_tokens{end}"] for end in ("", "_live"))
    assert live == pytest.approx(cost / 0.8, rel=1e-12)


def test_a_hardware_factor_says_who_states_it(embedded_home):
    (row,) = asked(
        embedded_home,
        "select cost_id, throughput_tok_s_gpu from mart.cost_per_million_tokens where hardware_factor = 0.9 "
        "and usd_per_million_tokens is not null order by cost_id limit 1",
    )
    (bench,) = explained(embedded_home, row[0])["benchmark"]
    assert (bench["hardware_factor"]["factor"], bench["hardware_factor"]["to_chip_id"]) == (
        0.9,
        "b200-sxm-180",
    )
    assert bench["throughput"]["worked_out"] == pytest.approx(row[1], rel=1e-12)
    assert bench["throughput"]["formula"].endswith("x 0.9 of the hardware factor")


def test_a_row_of_ones_own_price(embedded_home):
    rows = tokenyield(
        embedded_home.root, "cost", "--chip", "h200-sxm-141", "--price", "1.90", "--format", "json"
    )
    ids = {row["cost_id"]: row for row in json.loads(rows.stdout) if row["throughput_tok_s_gpu"] == 148.21}
    ((own, row),) = ids.items()
    told = explained(embedded_home, own, price=1.90)
    assert told["result"]["usd_per_million_tokens"] == pytest.approx(1.90 / 0.533556, rel=1e-12)
    assert row["usd_per_million_tokens"] == told["result"]["usd_per_million_tokens"]
    table = tokenyield(embedded_home.root, "cost", "--chip", "h200-sxm-141", "--price", "1.90")
    assert own in table.stdout
    # Without a price of one's own it is the headline's of today, as in the answer itself.
    assert explained(embedded_home, own)["result"]["usd_per_million_tokens"] == pytest.approx(COST, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["nothing"], "no cost row", id="unknown id"),
        pytest.param(["chip_id=h200-sxm-141"], "say which by", id="several rows"),
        pytest.param(["chip_id=h2000"], "no row of", id="no row"),
        pytest.param(["chip=h200-sxm-141"], "is no column=value", id="no key column"),
        pytest.param(["{id}", "--on", "2027-01-01"], "is not within", id="another day"),
    ],
)
def test_what_is_not_one_row_is_one_line(embedded_home, arguments, said):
    words = [word.format(id=cost_id(embedded_home)) for word in arguments]
    assert said in one_error(tokenyield(embedded_home.root, "explain", *words))


def test_a_series_that_may_not_be_passed_on_is_not_explained(embedded_home):
    with Warehouse(embedded_home.warehouse).read() as connection:
        (withheld,) = connection.execute(
            "select min(cost_id) from mart.cost_per_million_tokens where price_series_id like 'index:cgi:%' "
            "and usd_per_million_tokens is not null"
        ).fetchone()
    assert "no cost row" in one_error(tokenyield(embedded_home.root, "explain", withheld))


def test_a_value_that_does_not_follow_is_said_and_fails(embedded_home, tmp_path):
    wanted, home = cost_id(embedded_home), Home(tmp_path / "home")
    shutil.copytree(embedded_home.published, home.published, symlinks=True)
    with duckdb.connect(str(home.current_database)) as connection:
        connection.execute(
            "update mart.cost_per_million_tokens set usd_per_million_tokens = 9.9 where cost_id = ?", [wanted]
        )
    done = tokenyield(home.root, "explain", wanted)
    assert done.returncode == 1
    assert "= 9.98957935062, BUT STORED IS 9.9" in done.stdout


def test_it_starts_without_dagster(embedded_home):
    code = (
        "import sys; from pathlib import Path; from pipelines import cli, explain; "
        "from pipelines.home import Home; "
        f"explain.print_explanation(Home(Path({str(embedded_home.root)!r})), "
        f"explain.Asked({cost_id(embedded_home)!r}), 'json'); assert 'dagster' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# Our own index: its votes, and the quotes behind them


@pytest.fixture(scope="module")
def voted(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Five firms and a marketplace vote $2.00, so the index is $2.00; another marketplace is too small."""
    chip = "case-voted"
    rows = [quote(chip, f"firm{n}", "2.00") for n in range(3)]
    rows.append(quote(chip, "firm3", "16.00", price_unit="instance_hour", gpu_count=8))
    rows.append(quote(chip, "carried", "2.00", days(2)[0]))
    rows.append(quote(chip, "firm4", "2.00"))
    for host in ("h1", "h2", "h3"):
        rows += machines(chip, "market", "2.00", host, 2, price_unit="instance_hour", gpu_count=1)
    rows += machines(chip, "small", "9.00", "h1", 2)
    rows.append(
        quote(
            chip, "firm0", "315360", price_unit="term_total", gpu_count=8, term_hours=26280,
            price_type="reserved", commitment_months=36,
        )
    )  # fmt: skip
    system = {"throughput_basis": "system", "output_tok_s": 8000, "input_tok_s": 64000, "total_tok_s": 72000}
    rows += [priced(chip, "9.00"), point(chip, "2026-10-01", **system)]
    rows += [retraction("lab/run/another", "2026-10-02", "of another run")]
    kinds = {"market": ("marketplace", "specialist", None), "small": ("marketplace", "specialist", None)}
    root = tmp_path_factory.mktemp("voted")
    world(root, rows, providers=kinds, history=True)
    home = Home(root)
    run.publish(home)
    return home


def test_every_vote_of_the_day_is_told_with_the_quotes_behind_it(voted):
    told = explained(voted, cost_id(voted, OWN_INDEX))
    # 8000 tok/s on 8 GPUs are 1000 each, 3.6 million an hour: $2.00 / 3.6.
    assert told["result"]["usd_per_million_tokens"] == pytest.approx(2 / 3.6, rel=1e-12)
    (stated,) = told["benchmark"][0]["stated_by"]
    assert stated["division"]["formula"] == "8000 tok/s system / 8 GPUs"
    assert told["benchmark"][0]["corrections"] == []
    index = told["price"]["index"]
    assert (told["price"]["method"], index["method_version"], index["provider_count"]) == (
        "index-v1", "index-v1", 6,
    )  # fmt: skip
    votes = {vote["provider_id"]: vote for vote in index["votes"]}
    assert set(votes) == {"firm0", "firm1", "firm2", "firm3", "firm4", "carried", "market", "small"}
    assert votes["firm3"]["quote"]["division"]["formula"] == "16 USD per instance_hour / 8 GPUs"
    assert (votes["firm3"]["quote"]["raw_name"], votes["firm3"]["quote"]["price"]) == ("case-voted", 16)
    assert votes["carried"]["counts"].startswith("in: carried")
    assert votes["small"]["counts"] == "out: too few machines"
    assert len(votes["market"]["quotes"]) == 6
    assert len(votes["small"]["quotes"]) == 2
    assert {found["usd_per_gpu_hour"] for found in votes["market"]["quotes"]} == {2}


OWN_INDEX = (
    "chip_id = 'case-voted' and price_series_id = 'index:tokenyield:on_demand:specialist' "
    "and date = date '2026-11-30' "
    "and speed_tier = 'max_throughput' and token_kind = 'output'"
)


def test_a_price_for_a_whole_term_is_divided_by_hours_and_gpus(voted):
    (row,) = asked(
        voted,
        "select cost_id from mart.cost_per_million_tokens "
        "where price_series_id = 'provider:firm0:reserved:36m' and token_kind = 'output' "
        "and usd_per_million_tokens is not null",
    )
    told = explained(voted, row[0])
    division = told["price"]["quote"]["division"]
    assert division["formula"] == "315360 USD per term_total / 26280 hours / 8 GPUs"
    assert (division["worked_out"], division["stored"]) == (1.5, 1.5)
    assert told["result"]["usd_per_million_tokens"] == pytest.approx(1.5 / 3.6, rel=1e-12)


# What a person corrected


@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A quote of $16 that was $24, a rent of $1.78 that was $2.00, and 1000 tok/s that were 1250."""
    chip, said = "case-corrected", "2026-11-30"
    rows = [
        quote(chip, "cloud", 16, price_unit="instance_hour", gpu_count=8),
        priced(chip, "1.78"),
        point(chip, "2026-10-01", run_id=None, point_label="table 2"),
        correction("rental_quote", f"cloud/{chip}/-/on_demand/{said}", "price", "16", "24", said),
        correction("rental_index_value", f"publisher/{INDEX}/{chip}/reserved:36m/2025-01-01", "value",
                   "1.78", "2.00", said),
        correction("benchmark_result", "lab/label/table 2", "output_tok_s", "1000", "1250", said),
    ]  # fmt: skip
    root = tmp_path_factory.mktemp("corrected")
    world(root, rows, history=True, seed_sources=["corrections"])
    run.publish(Home(root))
    return Home(root)


@pytest.mark.parametrize(
    ("series", "usd", "fact", "values"),
    [
        pytest.param("provider:cloud:on_demand", 3.0, "quote", ("16", "24"), id="quote"),
        pytest.param(SERIES, 2.0, "published_value", ("1.78", "2.00"), id="published value"),
    ],
)
def test_a_corrected_figure_is_told_beside_the_payload_that_says_another(
    corrected, series, usd, fact, values
):
    condition = (
        f"chip_id = 'case-corrected' and price_series_id = '{series}' and token_kind = 'output' "
        "and speed_tier = 'max_throughput' and date = date '2026-11-30'"
    )
    told = explained(corrected, cost_id(corrected, condition))
    assert told["result"]["usd_per_million_tokens"] == pytest.approx(usd / 4.5, rel=1e-12)
    of_price, of_point = told["price"][fact]["corrections"], told["benchmark"][0]["corrections"]
    assert [(one["value_expected"], one["value_new"], one["status"]) for one in of_price] == [
        (*values, "applied")
    ]
    assert [(one["locator"], one["value_expected"], one["value_new"]) for one in of_point] == [
        ("lab/label/table 2", "1000", "1250")
    ]
    assert of_point[0]["reason"] == "a slip"
