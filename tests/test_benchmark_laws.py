"""Laws of a benchmark point that hold whatever its ranks, roles and sizes are."""

from __future__ import annotations

import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from bench_world import point
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from price_world import quote, world

SMALL = st.integers(1, 16)


@st.composite
def deployment(draw: st.DrawFn) -> dict[str, Any]:
    """Ranks and totals of one deployment, and its GPUs worked out by hand from the ranks."""
    tp, pp, dp, ep, workers = (draw(SMALL) for _ in range(5))
    attention = draw(st.booleans())
    # Replicas of attention alone share the tensor ranks, so they are no more than those.
    dp = min(dp, tp) if attention else dp
    gpus = tp * pp * workers * (1 if attention else dp)
    row: dict[str, Any] = {
        "tp": tp, "pp": pp, "dp": dp, "ep": ep, "workers": workers, "dp_attention": attention,
        "accelerator_count": None, "throughput_basis": "system", "tpot_p50_ms": None,
        "interactivity_tok_s_user": None, "speed_percentile": None,
        "output_tok_s": draw(st.integers(10**4, 10**6)), "input_tok_s": draw(st.integers(10**4, 10**6)),
    }  # fmt: skip
    roles = {}
    if draw(st.booleans()):
        prefill_tp, prefill_workers = draw(SMALL), draw(SMALL)
        row |= {"disaggregated": True, "prefill_tp": prefill_tp, "prefill_workers": prefill_workers}
        roles = {"prefill": prefill_tp * prefill_workers, "decode": gpus}
        gpus += roles["prefill"]
    return {"row": row, "gpus": gpus, "roles": roles}


def doubled(row: dict[str, Any]) -> dict[str, Any]:
    twice = {"workers": row["workers"] * 2}
    if row.get("disaggregated"):
        twice["prefill_workers"] = row["prefill_workers"] * 2
    return row | twice | {key: row[key] * 2 for key in ("output_tok_s", "input_tok_s")}


FIGURES = (
    "accelerator_count, prefill_accelerator_count, decode_accelerator_count, output_tok_s_gpu, "
    "input_tok_s_gpu, total_tok_s_gpu, output_tok_s_decode_gpu, input_tok_s_prefill_gpu"
)


# An example is a build of forty deployments: making a failing one smaller takes minutes and shows no more.
@pytest.mark.slow
@settings(
    max_examples=3,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(deployment(), min_size=30, max_size=40))
def test_per_gpu_figures_give_the_totals_back_and_size_changes_none(found: list[dict[str, Any]]) -> None:
    rows = [quote("case-one", "firm", "20", price_unit="instance_hour", gpu_count=Decimal(8))]
    rows += [quote("case-two", "firm", "40", price_unit="instance_hour", gpu_count=Decimal(16))]
    for number, one in enumerate(found):
        label = {"run_id": f"n{number}", "recorded": "2026-11-30"}
        rows += [point("case-one", "2026-11-29", **one["row"] | label)]
        rows += [point("case-two", "2026-11-29", **doubled(one["row"]) | label)]
    with tempfile.TemporaryDirectory() as folder:
        ask = world(Path(folder), rows, marts=["mart.benchmark_point", "mart.cost_per_million_tokens"])
        for number, one in enumerate(found):
            small, large = (
                ask(
                    f"select {FIGURES} from mart.benchmark_point where chip_id = ? and run_id = ?",
                    chip,
                    f"n{number}",
                )[0]
                for chip in ("case-one", "case-two")
            )
            row, gpus, roles = one["row"], one["gpus"], one["roles"]
            assert small[:3] == (gpus, roles.get("prefill"), roles.get("decode"))
            assert small[3] * gpus == pytest.approx(row["output_tok_s"], rel=1e-12)
            assert small[4] * gpus == pytest.approx(row["input_tok_s"], rel=1e-12)
            assert small[5] * gpus == pytest.approx(row["output_tok_s"] + row["input_tok_s"], rel=1e-12)
            if roles:
                assert small[6] * roles["decode"] == pytest.approx(row["output_tok_s"], rel=1e-12)
                assert small[7] * roles["prefill"] == pytest.approx(row["input_tok_s"], rel=1e-12)
            assert large[0] == 2 * gpus
            assert [figure is None for figure in large] == [figure is None for figure in small]
            assert large[3:6] == pytest.approx(small[3:6], rel=1e-12)
            if roles:
                assert large[6:] == pytest.approx(small[6:], rel=1e-12)
        costs = ask(
            "select p.run_id, c.token_kind, c.gpu_scope, c.cost_allocation, count(c.usd_per_million_tokens), "
            "max(c.usd_per_million_tokens) / min(c.usd_per_million_tokens) "
            "from mart.cost_per_million_tokens as c inner join mart.benchmark_point as p "
            "using (benchmark_point_id) where c.price_series_id = 'provider:firm:on_demand' "
            "and p.chip_id in ('case-one', 'case-two') group by all"
        )
        assert len(costs) == sum(5 if one["roles"] else 3 for one in found)
        assert {count for *_, count, _ in costs} == {2}
        assert all(ratio == pytest.approx(1, rel=1e-12) for *_, ratio in costs)
