"""InferenceX's own cost formulas, on its own rows and its own constants of the day, against our tables.

Formulas as its dashboard states them: rate / (tok/s per GPU x 3600 / 10^6), the total over all GPUs, output
over decode GPUs and input over prefill GPUs where serving is disaggregated. The rates are the owning cost of
a hyperscaler from 2026-07-31 on, as its repository had them. Without the real files this is skipped, and says
so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from conftest import SHARED_DATA

Query = Callable[..., list[tuple[Any, ...]]]

CAPTURE = SHARED_DATA / "benchmarks/inferencex_api/captured_2026-05-05"
OWNING = "index:inferencex_owning_hyperscaler:owning_cost"
# US dollars per GPU-hour.
RATES = {
    "h100": ("h100-sxm-80", 1.17), "h200": ("h200-sxm-141", 1.22), "b200": ("b200-sxm-180", 1.73),
    "b300": ("b300-sxm-288", 2.26), "gb200": ("gb200-nvl72", 1.86), "gb300": ("gb300-nvl72", 2.31),
    "mi300x": ("mi300x", 0.95), "mi325x": ("mi325x", 1.10), "mi355x": ("mi355x", 1.50),
}  # fmt: skip
# Two ways of dividing agree to this many, two formulas do not.
DIGITS = 10


@cache
def rows() -> list[dict[str, Any]]:
    files = ("benchmarks.json", "benchmarks-history.json")
    return [row for file in files for row in json.loads((CAPTURE / file).read_bytes())]


def theirs(metric: str) -> set[tuple[str, str]]:
    found = set()
    for row in rows():
        chip, rate = RATES[row["hardware"]]
        made = row["metrics"].get(metric)
        if made is not None:
            found.add((chip, f"{rate / (made * 3600 / 1e6):.{DIGITS}g}"))
    return found


def ours(imported: Query, token_kind: str, scopes: str) -> set[tuple[str, str]]:
    sql = (
        "select c.chip_id, c.usd_per_million_tokens from mart.cost_per_million_tokens as c "
        "inner join mart.benchmark_point as p using (benchmark_point_id) "
        f"where p.source = 'inferencex' and c.price_series_id = ? and c.token_kind = ? and ({scopes}) "
        "and c.evidence = 'measured' "
        "and c.valid_from <= date '2026-10-01' and (c.valid_to is null or c.valid_to > date '2026-10-01')"
    )
    return {(chip, f"{usd:.{DIGITS}g}") for chip, usd in imported(sql, OWNING, token_kind)}


# Disaggregated rows are charged by role there, aggregated ones wholly to each kind.
BY_ROLE = "case when coalesce(c.disaggregated, false) then c.gpu_scope <> 'all' else c.gpu_scope = 'all' end"


@pytest.mark.parametrize(
    ("metric", "token_kind", "scopes"),
    [
        ("tput_per_gpu", "total", "true"),
        ("output_tput_per_gpu", "output", BY_ROLE),
        ("input_tput_per_gpu", "input", BY_ROLE),
    ],
    ids=["total", "output", "input"],
)
def test_costs_are_those_of_their_formula(imported: Query, metric: str, token_kind: str, scopes: str) -> None:
    expected, found = theirs(metric), ours(imported, token_kind, scopes)
    assert len(found) > 1000
    assert found <= expected, sorted(found - expected)[:5]
    # What we do not have is what a later attempt of the same run replaced, and eight legacy rows whose
    # roles both carry the GPUs of the whole deployment.
    assert len(expected - found) <= 0.02 * len(expected), len(expected - found)


def test_the_example_of_decode_rent_and_of_the_whole_bill(imported: Query) -> None:
    # GB300, dynamo-trt, fp8, 8k/1k, 2151 requests, 28 + 8 GPUs, at 2.31: 0.143 on decode GPUs, 0.642 on all.
    found = dict(
        imported(
            "select c.gpu_scope, round(c.usd_per_million_tokens, 3) from mart.cost_per_million_tokens as c "
            "inner join mart.benchmark_point as p using (benchmark_point_id) "
            "where p.source = 'inferencex' and c.chip_id = 'gb300-nvl72' and p.concurrency = 2151 "
            "and p.measured_on = date '2026-02-05' and c.token_kind = 'output' and c.price_series_id = ? "
            "and c.usd_per_gpu_hour = 2.31",
            OWNING,
        )
    )
    assert found == {"decode": 0.143, "all": 0.642}


def test_where_their_gpu_count_is_another_a_column_says_why(imported: Query) -> None:
    wrong = [row for row in rows() if not row["disagg"] and row["num_decode_gpu"] != row["decode_tp"]]
    assert wrong
    assert all(row["num_decode_gpu"] == row["decode_tp"] * row["decode_ep"] for row in wrong)
    found = imported(
        "select accelerator_count, gpu_count_difference from mart.benchmark_point "
        "where source = 'inferencex' and gpu_count_difference is not null"
    )
    counts = {(row["num_decode_gpu"], row["decode_tp"]) for row in wrong}
    assert {(int(text.removeprefix("recorded as ").split(" ")[0]), ours) for ours, text in found} == counts
    assert all(text.endswith(f"so there are {ours}") for ours, text in found)


# kW per GPU, facility included, from 2026-07-14 on.
KILOWATTS = {
    "h100": 1.37, "h200": 1.37, "b200": 1.71, "b300": 1.90, "gb200": 1.87, "gb300": 2.12, "mi300x": 1.39,
    "mi325x": 1.69, "mi355x": 2.09,
}  # fmt: skip


def test_tokens_per_second_per_megawatt_are_those_of_their_formula(imported: Query) -> None:
    expected = {
        (
            RATES[row["hardware"]][0],
            f"{row['metrics']['tput_per_gpu'] * 1000 / KILOWATTS[row['hardware']]:.10g}",
        )
        for row in rows()
    }
    found = {
        (chip, f"{made:.10g}")
        for chip, made in imported(
            "select e.chip_id, e.tokens_per_s_per_mw from mart.energy_cost as e "
            "inner join mart.benchmark_point as p using (benchmark_point_id) where p.source = 'inferencex' "
            "and e.token_kind = 'total' and e.evidence = 'measured' and e.valid_to is null "
            "and e.tokens_per_s_per_mw is not null"
        )
    }
    assert len(found) > 1000
    assert found <= expected, sorted(found - expected)[:5]
    assert len(expected - found) <= 0.02 * len(expected), len(expected - found)
