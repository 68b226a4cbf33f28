"""What stands behind a cost's throughput: the points, what their payloads state, factors, corrections.

Belongs here: the way from a throughput to a benchmark's run and payload. Does not belong here: any rule of a
point or of a frontier (`sql/core/`); their formulas are worked out again with the numbers put in.
"""

from __future__ import annotations

import math
from datetime import date
from typing import Any

from pipelines.chain import Chain, Link, number

POINT = """
select benchmark_point_id, publisher, point_label, run_id, url, chip_id, model_id, engine, engine_version,
    image, release_status, precision, kv_precision, workload_id, load_point, isl_mean, osl_mean, cache_state,
    speculative_method, disaggregated, accelerator_count, prefill_accelerator_count, decode_accelerator_count,
    gpu_count_basis, interactivity_tok_s_user, speed_percentile, ttft_p50_ms, output_tok_s_gpu,
    input_tok_s_gpu, total_tok_s_gpu, output_tok_s_decode_gpu, input_tok_s_prefill_gpu, traffic_basis,
    evidence, eligible, eligibility_reason, flags, note, measured_on, published_on, superseded_on, known_at
from mart.benchmark_point
where benchmark_point_id = ?
"""
# What a source states of the point, as far as the copy's moment; the last word of each figure counts.
STATEMENTS = """
select results.*
from core.benchmark_result as results
cross join core.run as run
where results.benchmark_point_id = ?
    and results.known_at <= run.as_of
    and results.recorded_to is null
order by results.known_at desc, results.source_rank, results.recorded_at desc
"""
HARDWARE = """
select factor, from_chip_id, to_chip_id, source as stated_by, known_at
from raw.hardware_factor
where publisher = ? and from_chip_id = ? and to_chip_id = ? and starts_with(?, point_label_prefix)
"""
LIVE = """
select factor, engine, source as stated_by, known_at
from raw.live_traffic_factor
where publisher = ? and engine = ?
"""
KNOTS = """
select benchmark_point_id, interactivity_tok_s_user, throughput_tok_s_gpu, log_throughput, log_slope
from core.frontier_knot
where frontier_kind = 'serving_line' and serving_line_id = $serving_line_id and chip_id = $chip_id
    and token_kind = $token_kind and gpu_scope = $gpu_scope and cost_allocation = $cost_allocation
    and evidence = $evidence and traffic_basis = $traffic_basis
    and speed_percentile is not distinct from $speed_percentile
    and valid_from <= $day and (valid_to is null or valid_to > $day)
    and benchmark_point_id in ($below, $above)
order by interactivity_tok_s_user
"""
# The figure of a point that a reading is of: which tokens, over which GPUs.
FIGURES = {
    ("output", "all"): "output_tok_s_gpu",
    ("input", "all"): "input_tok_s_gpu",
    ("total", "all"): "total_tok_s_gpu",
    ("output", "decode"): "output_tok_s_decode_gpu",
    ("input", "prefill"): "input_tok_s_prefill_gpu",
}
STATED = ("output", "input", "total")
MISSING = {
    "no_throughput": "no payload states a throughput of these tokens",
    "role_ratio_unknown": "it is per decode GPU, and how many prefill GPUs fed them is not stated",
    "speed_is_not_throughput": "only the speed that one user sees is stated, and no throughput",
    "below_range": "no point of this server is as slow for each user: it was not measured there",
    "above_range": "no point of this server is as fast for each user: it was not measured there",
    "unreachable": "the speed is beyond what the chip can reach by a stated ceiling",
}


def benchmark(chain: Chain, point_id: str, reading: Link) -> Link:
    """A point with its conditions, what each payload states of it, and the reading that the cost stands on.

    reading: chip_id, token_kind, gpu_scope and, where it is to be worked out, throughput_tok_s_gpu.
    """
    point = chain.row(POINT, point_id)
    if point is None:
        return {"benchmark_point_id": point_id, "missing": "this copy does not hold it"}
    told: Link = dict(point)
    factor = 1.0
    if reading["chip_id"] != point["chip_id"]:
        label = point["point_label"] or ""
        told["hardware_factor"] = chain.row(
            HARDWARE, point["publisher"], point["chip_id"], reading["chip_id"], label
        )
        factor = (told["hardware_factor"] or {}).get("factor")
    if reading.get("throughput_tok_s_gpu") is not None:
        told["throughput"] = _reading(chain, point, reading, factor)
    statements = chain.rows(STATEMENTS, point_id)
    figure = FIGURES.get((reading["token_kind"], reading["gpu_scope"]))
    told["stated_by"] = [_statement(chain, found, figure) for found in statements]
    told["corrections"] = _corrections(chain, point, statements)
    return told


def live(chain: Chain, point_id: str, factor: float | None) -> Link | None:
    """The live-traffic factor that was applied, with who states it; None where live figures want none."""
    point = chain.row(POINT, point_id)
    if point is None or factor is None or point["traffic_basis"] == "live":
        return None
    return chain.row(LIVE, point["publisher"], point["engine"])


def interpolated(chain: Chain, row: Link, day: date) -> Link:
    """The curve between two points of one server at a speed: Hermite's on the logarithm of throughput."""
    names = (
        "serving_line_id", "chip_id", "token_kind", "gpu_scope", "cost_allocation", "evidence",
        "traffic_basis", "speed_percentile",
    )  # fmt: skip
    values = {name: row[name] for name in names} | {"day": day}
    values |= {"below": row["benchmark_point_id"], "above": row["above_point_id"]}
    knots = chain.rows(KNOTS, **values)
    if len(knots) != 2:
        return {"missing": "this copy does not hold both points of the curve"}
    below, above = knots
    step = above["interactivity_tok_s_user"] - below["interactivity_tok_s_user"]
    t = (row["interactivity_tok_s_user"] - below["interactivity_tok_s_user"]) / step
    u = 1 - t
    made = math.exp(
        (1 + 2 * t) * u * u * below["log_throughput"]
        + t * u * u * step * below["log_slope"]
        + t * t * (3 - 2 * t) * above["log_throughput"]
        - t * t * u * step * above["log_slope"]
    )
    text = (
        f"exp(Hermite at {number(row['interactivity_tok_s_user'])} tok/s between "
        f"{_knot(below)} and {_knot(above)})"
    )
    return chain.sum(text, made, row["throughput_tok_s_gpu"])


def _knot(knot: Link) -> str:
    return (
        f"{number(knot['interactivity_tok_s_user'])} tok/s: {number(knot['throughput_tok_s_gpu'])} per GPU, "
        f"slope {number(knot['log_slope'])}"
    )


def _reading(chain: Chain, point: Link, reading: Link, factor: float | None) -> Link:
    """The point's figure, or its total times the share of output, times the hardware factor."""
    figure = FIGURES[reading["token_kind"], reading["gpu_scope"]]
    stated, texts = point[figure], [f"{figure} {number(point[figure])}"] if point[figure] else []
    if stated is None and figure == "output_tok_s_gpu" and point["total_tok_s_gpu"]:
        isl, osl = _mix(chain, point)
        if isl is not None and osl is not None:
            stated = point["total_tok_s_gpu"] * (osl / (osl + isl))
            total = number(point["total_tok_s_gpu"])
            texts = [f"total_tok_s_gpu {total} x {number(osl)} output / {number(osl + isl)} tokens"]
    if factor != 1:
        texts.append(f"x {number(factor) if factor else 'unknown'} of the hardware factor")
    worked_out = None if stated is None or factor is None else stated * factor
    return chain.sum(" ".join(texts), worked_out, reading["throughput_tok_s_gpu"])


def _mix(chain: Chain, point: Link) -> tuple[Any, Any]:
    workload = chain.row("select * from raw.workload where workload_id = ?", point["workload_id"]) or {}
    isl = workload.get("input_tokens") if point["isl_mean"] is None else point["isl_mean"]
    return isl, workload.get("output_tokens") if point["osl_mean"] is None else point["osl_mean"]


def _statement(chain: Chain, found: Link, figure: str | None) -> Link:
    told: Link = {
        name: found[name]
        for name in (
            "benchmark_result_id", "raw_chip_name", "raw_model_name", "attempt", "evidence",
            "throughput_basis", "stated_output_tok_s", "stated_input_tok_s", "stated_total_tok_s", "url",
            "note", "known_at",
        )
    }  # fmt: skip
    if figure and (division := _division(chain, found, figure)):
        told["division"] = division
    return told | {"payload": chain.payload(found["source"], found["snapshot_id"])}


def _division(chain: Chain, found: Link, figure: str) -> Link | None:
    """How a stated throughput became one per GPU of the scope; None where it is not of these tokens."""
    stated = found[f"stated_{figure.split('_')[0]}_tok_s"]
    basis, gpus = found["throughput_basis"], found["accelerator_count"]
    if stated is None or found[figure] is None:
        return None
    role = "decode_accelerator_count" if figure.startswith("output") else "prefill_accelerator_count"
    of_role = figure.endswith(("decode_gpu", "prefill_gpu"))
    text, made = f"{number(stated)} tok/s {basis}", stated
    if basis == "per_role_gpu" and not of_role and not figure.startswith("total"):
        text, made = f"{text} x {found[role]} GPUs of the role / {gpus} GPUs", stated * found[role] / gpus
    elif basis == "per_gpu" and of_role:
        text, made = f"{text} x {gpus} GPUs / {found[role]} GPUs of the role", stated * gpus / found[role]
    elif basis == "system":
        divisor = found[role] if of_role else gpus
        text, made = f"{text} / {divisor} GPUs", stated / divisor
    return chain.sum(text, made, found[figure])


def _corrections(chain: Chain, point: Link, statements: list[Link]) -> list[Link]:
    point_id, publisher = point["benchmark_point_id"], point["publisher"]
    locators = [point_id]
    for found in statements:
        run = f"{publisher}/run/{found['run_id']}"
        locators += [run, f"{run}/{point_id}", f"{publisher}/result/{found['result_id']}"]
        locators.append(f"{publisher}/label/{found['point_label']}")
    return chain.corrections("benchmark_result", locators)
