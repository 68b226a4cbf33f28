"""What stands in `seeds/` reads, resolves, and says what its sources say."""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipelines.contracts import BENCHMARK_RESULT, checked
from pipelines.seed_shapes import REFERENCE
from pipelines.seeds import SeedError, check_references, fact_files, fact_rows, read_reference

SEEDS = Path(__file__).parents[1] / "seeds"
FACT_COUNTS = {
    "benchmark_result/articles.csv": 12,
    "benchmark_result/inferencex_points.csv": 90,
    "correction/corrections.csv": 0,
    "rental_index_value/inferencex_constants.csv": 65,
    "rental_index_value/published_indices.csv": 21,
    "rental_quote/list_prices.csv": 29,
    "token_price/deepseek.csv": 9,
}


@pytest.fixture(scope="module")
def reference() -> dict[str, list[dict[str, Any]]]:
    return {name: read_reference(name, (SEEDS / f"{name}.csv").read_bytes()) for name in REFERENCE}


@pytest.fixture(scope="module")
def facts() -> dict[str, list[dict[str, Any]]]:
    """Every fact seed by its path below seeds/; a row that breaks its contract raises here."""
    return {
        path.relative_to(SEEDS).as_posix(): [
            checked(kind, found.row) for found in fact_rows(kind, path.name, path.read_bytes())
        ]
        for kind, path in fact_files(SEEDS)
    }


def of_kind(facts: dict[str, list[dict[str, Any]]], kind: str) -> list[dict[str, Any]]:
    return [row for path, rows in facts.items() if path.startswith(f"{kind}/") for row in rows]


def ids(reference: dict[str, list[dict[str, Any]]], name: str) -> set[str]:
    return {row[REFERENCE[name].key[0]] for row in reference[name]}


def common_names(reference: dict[str, list[dict[str, Any]]], alias: str) -> set[str]:
    return {row["raw_name"] for row in reference[alias] if row["source"] == "*"}


def point(facts: dict[str, list[dict[str, Any]]], label: str) -> dict[str, Any]:
    (row,) = [row for row in of_kind(facts, "benchmark_result") if row["point_label"] == label]
    return row


def usd_per_gpu_hour(quote: dict[str, Any]) -> Decimal:
    gpus = 1 if quote["price_unit"] == "gpu_hour" else Decimal(quote["gpu_count"])
    return quote["price"] / gpus / Decimal(quote["term_hours"] or 1)


# The files and what they point to


def test_every_file_below_seeds_is_known():
    found = {path.relative_to(SEEDS).as_posix() for path in SEEDS.rglob("*") if path.is_file()}
    assert found == {f"{name}.csv" for name in REFERENCE} | FACT_COUNTS.keys()


def test_references_resolve(reference):
    check_references(reference)


def test_no_reference_seed_is_empty_or_has_a_column_of_its_own(reference):
    for name, rows in reference.items():
        # Without weights all votes weigh the same, which is the method as it is published.
        assert rows or name == "vote_weight", name
        header = (SEEDS / f"{name}.csv").read_text().splitlines()[0]
        assert header.split(",") == [column.name for column in REFERENCE[name].kind.columns]


def test_fact_files_hold_the_rows_they_are_meant_to(facts):
    assert {path: len(rows) for path, rows in facts.items()} == FACT_COUNTS


def test_no_fact_stands_twice(facts):
    for path, rows in facts.items():
        bare = [tuple(value for name, value in row.items() if name != "note") for row in rows]
        assert len(set(bare)) == len(bare), path


def test_fact_files_and_their_declarations_match(reference, facts):
    assert {Path(path).stem for path in facts} == ids(reference, "fact_source")


def test_every_fact_says_where_it_comes_from(facts):
    for path, rows in facts.items():
        assert all(row["note"] or row["url"] for row in rows), path


def test_index_names_are_price_series(reference, facts):
    named = {row["index_name"] for row in of_kind(facts, "rental_index_value")}
    assert named <= ids(reference, "price_series")


def test_providers_are_known(reference, facts):
    named = {row["provider"] for kind in ("rental_quote", "token_price") for row in of_kind(facts, kind)}
    assert named <= ids(reference, "provider")


def test_workloads_are_known_and_one_is_ranked(reference, facts):
    assert {row["workload"] for row in of_kind(facts, "benchmark_result")} <= ids(reference, "workload")
    assert [row["workload_id"] for row in reference["workload"] if row["ranked"]] == ["fixed-8192-1024"]


def test_chip_names_are_chips_or_common_aliases(reference, facts):
    named = {
        row.get("raw_chip_name") or row.get("raw_gpu_name")
        for kind in ("rental_quote", "rental_index_value", "benchmark_result")
        for row in of_kind(facts, kind)
    }
    assert named <= ids(reference, "chip") | common_names(reference, "chip_alias")


def test_model_names_are_common_aliases(reference, facts):
    named = {
        row["raw_model_name"] for kind in ("token_price", "benchmark_result") for row in of_kind(facts, kind)
    }
    assert named <= common_names(reference, "model_alias")


@pytest.mark.parametrize(
    ("source", "name", "model_id"),
    [
        ("openrouter", "deepseek/deepseek-r1-0528", "deepseek-r1-0528"),
        ("openrouter", "deepseek/deepseek-v3.2", "deepseek-v3.2"),
        ("openrouter", "deepseek/deepseek-chat", None),
        ("litellm_prices", "deepinfra/deepseek-ai/DeepSeek-R1-0528", "deepseek-r1-0528"),
        ("litellm_prices", "fireworks_ai/accounts/fireworks/models/deepseek-v3p2", "deepseek-v3.2"),
        ("litellm_prices", "deepseek/deepseek-chat", None),
        ("litellm_prices", "deepseek/deepseek-reasoner", None),
        ("litellm_prices", "deepseek-reasoner", None),
        ("litellm_prices", "deepseek/deepseek-flash", None),
        ("litellm_prices", "deepinfra/deepseek-ai/DeepSeek-V4.1-Flash-1017", None),
    ],
)
def test_a_seller_s_name_that_moves_from_model_to_model_is_looked_at_and_left(
    reference, source, name, model_id
):
    (row,) = [row for row in reference["model_alias"] if (row["source"], row["raw_name"]) == (source, name)]
    assert row["model_id"] == model_id
    assert row["note"]


def test_every_alias_of_a_seller_says_where_it_is_from_or_why_it_is_none(reference):
    sellers = [r for r in reference["model_alias"] if r["source"] in ("openrouter", "litellm_prices")]
    assert all(row["note"] for row in sellers)


@pytest.mark.parametrize(("alias", "target"), [("chip_alias", "chip_id"), ("model_alias", "model_id")])
def test_alias_names_do_not_collide(reference, alias, target):
    meanings = defaultdict(set)
    for row in reference[alias]:
        plain = re.sub(r"[^A-Z0-9]+", " ", row["raw_name"].upper()).strip()
        meanings[row["source"], plain].add(row[target])
    assert {name: found for name, found in meanings.items() if len(found) > 1} == {}


def test_chip_names_that_differ_by_little_stay_apart(reference):
    chip = {(row["source"], row["raw_name"]): row["chip_id"] for row in reference["chip_alias"]}
    assert chip["*", "L40"] == "l40"
    assert chip["*", "L40S"] == "l40s"
    assert chip["*", "H100 NVL"] == "h100-nvl-94"
    assert chip["hyperstack", "NVIDIA H100 NVLink"] == "h100-pcie-80"
    assert chip["inferencex*", "b200"] == "b200-sxm-180"
    assert chip["inferencex*", "gb200"] == "gb200-nvl72"
    assert chip["*", "a2-ultragpu-8g"] == "a100-sxm-80"
    assert chip["oci_price_list", "B95909"] == "a10"
    assert chip["prime_intellect", "H100_80GB"] is None


def test_every_rental_fact_lies_inside_the_band_of_its_chip(reference, facts):
    band = {
        row["chip_id"]: (row["low_usd_per_gpu_hour"], row["high_usd_per_gpu_hour"])
        for row in reference["price_band"]
    }
    assert all(low < high for low, high in band.values())
    prices = [(row["raw_gpu_name"], usd_per_gpu_hour(row)) for row in of_kind(facts, "rental_quote")]
    prices += [(row["raw_gpu_name"], row["value"]) for row in of_kind(facts, "rental_index_value")]
    outside = [(c, p) for c, p in prices if c in band and not band[c][0] <= p <= band[c][1]]
    assert outside == []
    assert {c for c, _ in prices} - band.keys() == {"tpu-v7"}


def test_every_hardware_factor_applies_to_a_point(reference, facts):
    points = of_kind(facts, "benchmark_result")
    for factor in reference["hardware_factor"]:
        assert [
            row
            for row in points
            if row["publisher"] == factor["publisher"]
            and row["raw_chip_name"] == factor["from_chip_id"]
            and (row["point_label"] or "").startswith(factor["point_label_prefix"])
        ], factor


def test_every_replaced_label_exists(facts):
    points = of_kind(facts, "benchmark_result")
    labels = {(row["publisher"], row["point_label"]) for row in points}
    assert {(r["publisher"], r["supersedes_label"]) for r in points if r["supersedes_label"]} <= labels


# What the sources say


def test_published_index_of_20_october(facts):
    savrn = {
        row["raw_gpu_name"]: row["value"]
        for row in of_kind(facts, "rental_index_value")
        if row["index_name"] == "savrn_ai_index" and row["value_date"] == date(2026, 10, 20)
    }
    assert savrn == {
        "gb200-nvl72": Decimal("10.58"),
        "gb300-nvl72": Decimal("14.59"),
        "b200-sxm-180": Decimal("8.02"),
        "b300-sxm-288": Decimal("9.99"),
        "h200-sxm-141": Decimal("5.33"),
        "h100-sxm-80": Decimal("4.17"),
        "mi355x": Decimal("5.60"),
        "mi300x": Decimal("3.65"),
    }


def test_corrected_rental_constant_keeps_both_values_and_both_times(facts):
    found = [
        (row["value_date"], row["known_at"].date(), row["value"], row["revision"])
        for row in of_kind(facts, "rental_index_value")
        if row["index_name"] == "inferencex_reserved_36m" and row["raw_gpu_name"] == "b200-sxm-180"
    ]
    assert found == [
        (date(2026, 3, 18), date(2026, 3, 18), Decimal("2.90"), "new"),
        (date(2026, 7, 31), date(2026, 7, 31), Decimal("2.60"), "new"),
        (date(2026, 7, 31), date(2026, 9, 8), Decimal("3.70"), "correction"),
    ]


def test_whole_machine_and_term_prices_come_down_to_the_stated_price_per_gpu(facts):
    found = {
        (row["provider"], row["price_type"], row["commitment_months"], round(usd_per_gpu_hour(row), 2))
        for row in of_kind(facts, "rental_quote")
        if row["provider"] in ("aws", "azure")
    }
    assert found == {
        ("aws", "on_demand", None, Decimal("12.29")),
        ("aws", "on_demand", None, Decimal("6.88")),
        ("azure", "on_demand", None, Decimal("12.29")),
        ("azure", "reserved", 12, Decimal("7.87")),
        ("azure", "reserved", 36, Decimal("5.40")),
    }


def test_a_price_seen_twice_is_known_from_each_sighting(facts):
    found = [
        (row["effective_from"].date(), row["observed_at"].date(), row["known_at"].date())
        for row in of_kind(facts, "rental_quote")
        if row["offer_key"] == "a2-highgpu-8g"
    ]
    first, last = date(2022, 2, 17), date(2026, 7, 30)
    assert found == [(first, first, first), (first, last, last)]


def test_token_prices(facts):
    deck = {
        (row["raw_model_name"], row["tier"], row["token_kind"]): row["price"]
        for row in of_kind(facts, "token_price")
    }
    assert deck["DeepSeek-V4.1-Flash", "off_peak", "output"] == Decimal("0.60")
    assert deck["DeepSeek-V3", "standard", "cached_input"] == Decimal("0.140")
    for kind in ("input", "cached_input", "output"):
        peak = deck["DeepSeek-V4.1-Flash", "peak", kind]
        assert peak == 2 * deck["DeepSeek-V4.1-Flash", "off_peak", kind]


def test_a_speed_per_user_is_no_throughput(facts):
    for label, speed in (("speed-596", 596), ("speed-848", 848)):
        row = point(facts, label)
        assert row["interactivity_tok_s_user"] == speed
        assert row["throughput_basis"] is row["output_tok_s"] is row["total_tok_s"] is None
        assert row["measured_on"] is None
        assert row["known_at"] == datetime(2026, 11, 6, 20, 37, 32, tzinfo=UTC)
    assert point(facts, "speed-848")["supersedes_label"] == "speed-596"
    throughputs = {
        row[column]
        for row in of_kind(facts, "benchmark_result")
        for column in ("output_tok_s", "input_tok_s", "total_tok_s")
    }
    assert throughputs.isdisjoint({596, 848, 11573})


def test_production_point_is_kept_before_the_live_traffic_factor(reference, facts):
    (factor,) = reference["live_traffic_factor"]
    row = point(facts, "ep64-241")
    assert (row["output_tok_s"], row["throughput_basis"]) == (14466, "per_role_gpu")
    assert row["output_tok_s"] * factor["factor"] == pytest.approx(11573, abs=1)


def test_measured_points_are_consistent_in_themselves(facts):
    rows = facts["benchmark_result/inferencex_points.csv"]
    for row in rows:
        assert f"/{row['run_id']}/attempts/{row['attempt']}" in row["url"]
        assert row["interactivity_tok_s_user"] == pytest.approx(1000 / row["tpot_p50_ms"], rel=1e-3)
        assert row["output_tok_s"] < row["total_tok_s"]
        if row["disaggregated"]:
            roles = row["prefill_accelerator_count"] + row["decode_accelerator_count"]
            assert row["accelerator_count"] == roles


def test_stated_values(reference):
    stated = {row["stated_value_id"]: row for row in reference["stated_value"]}
    assert stated["v41-revenue-per-gpu-hour"]["value"] == 38
    assert stated["v3-revenue-per-gpu-hour"]["value"] == 12.91
    assert stated["deepseek-tokens-per-day"]["value"] == 155e12
    assert stated["vllm-agentx-revenue-per-gpu-hour"]["value_class"] == "not_reproducible"
    assert stated["printed-production-throughput"]["value"] == 11573


# What is refused


def reference_body(name: str, *lines: str) -> bytes:
    header = ",".join(column.name for column in REFERENCE[name].kind.columns)
    return "\n".join([header, *lines, ""]).encode()


def test_a_bad_number_is_refused_with_file_and_line():
    body = reference_body("price_band", "a,*,1,2,x", "b,*,1,two,x")
    with pytest.raises(SeedError, match=r"seeds/price_band\.csv:3: high_usd_per_gpu_hour"):
        read_reference("price_band", body)


def test_a_key_that_stands_twice_is_refused_with_both_lines():
    body = reference_body("price_band", "a,*,1,2,x", "b,*,1,2,x", "a,*,3,4,x")
    with pytest.raises(SeedError, match=r"seeds/price_band\.csv:4: key .* already in line 2"):
        read_reference("price_band", body)


def test_a_reference_to_nothing_is_refused():
    band = read_reference("price_band", reference_body("price_band", "nowhere,*,1,2,x"))
    with pytest.raises(SeedError, match=r"price_band\.csv: chip_id 'nowhere' is not in chip\.csv"):
        check_references({"price_band": band, "chip": []})


def fact_body(extra: str = "", value: str = "") -> bytes:
    required = [column.name for column in BENCHMARK_RESULT.columns if column.required]
    return f"{','.join(required)},{extra}\n{','.join('x' for _ in required)},{value}\n".encode()


def test_an_unknown_column_of_a_fact_is_refused_with_its_file():
    with pytest.raises(SeedError, match=r"some/file\.csv: .*throughputt"):
        list(fact_rows(BENCHMARK_RESULT, "some/file.csv", fact_body("throughputt", "1")))


def test_a_bad_number_of_a_fact_is_refused_with_file_and_line():
    with pytest.raises(SeedError, match=r"some/file\.csv:2: output_tok_s: not_a_number: '1,850'"):
        list(fact_rows(BENCHMARK_RESULT, "some/file.csv", fact_body("output_tok_s", '"1,850"')))


def test_a_fact_that_does_not_say_since_when_it_is_known_is_refused():
    with pytest.raises(SeedError, match=r"some/file\.csv:2: known_at"):
        list(fact_rows(BENCHMARK_RESULT, "some/file.csv", fact_body("output_tok_s", "1850")))
