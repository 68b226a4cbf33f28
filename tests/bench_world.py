"""Hand-made benchmark points for the warehouse of `price_world`.

Belongs here: making rows. Does not belong here: any expectation. A chip whose name starts with `case-` has
nodes of eight, and no figures that a ceiling could be drawn from; price it with `priced`.
"""

from __future__ import annotations

from typing import Any

from price_world import Row, moment, published

INDEX = "inferencex_reserved_36m"
SERIES = f"index:{INDEX}:reserved:36m"


def point(chip: str, day: str, **changes: Any) -> Row:
    """One measured point on 8 stated GPUs that can be ranked, with 1000 output tok/s per GPU."""
    recorded = moment(changes.pop("recorded", changes.get("known_at", day)))
    source = changes.pop("source", "bench")
    row: dict[str, Any] = {
        "publisher": "lab", "run_id": f"{chip}-{day}", "measured_on": moment(day).date(),
        "published_on": moment(day).date(), "date_precision": "day", "known_at": moment(day),
        "raw_chip_name": chip, "raw_model_name": "deepseek-r1-0528", "weight_precision": "fp8",
        "engine": "vllm", "image": "vllm:1", "tp": 8, "disaggregated": False, "accelerator_count": 8,
        "workload": "fixed-8192-1024", "isl_nominal": 8192, "osl_nominal": 1024, "concurrency": 64,
        "throughput_basis": "per_gpu", "output_tok_s": 1000, "interactivity_tok_s_user": 50,
        "speed_percentile": "p50", "tpot_p50_ms": 20, "speculative_method": "none",
        "traffic_basis": "benchmark", "evidence": "measured", "independent": True,
    }  # fmt: skip
    changes = {key: moment(value) if key == "known_at" else value for key, value in changes.items()}
    return Row("benchmark_result", source, recorded, recorded, row | changes)


def retraction(locator: str, on: str, reason: str) -> Row:
    """A publisher's withdrawal of a run or a point."""
    seen = moment(on)
    values = {
        "row_kind": "benchmark_result", "locator": locator, "action": "retract", "reason": reason,
        "decided_on": seen.date(), "known_at": seen,
    }  # fmt: skip
    return Row("correction", "withdrawals", seen, seen, values)


def correction(kind: str, locator: str, field: str, expected: str, new: str, on: str, **changes: Any) -> Row:
    """One figure stated anew, known since `on`; recorded: the version of the file, by default of that day."""
    recorded = moment(changes.pop("recorded", on))
    values = {
        "row_kind": kind, "locator": locator, "action": "correct", "field": field, "value_expected": expected,
        "value_new": new, "reason": "a slip", "decided_on": moment(on).date(), "known_at": moment(on),
    }  # fmt: skip
    return Row("correction", "corrections", recorded, recorded, values | changes)


def priced(chip: str, usd: str, on: str = "2025-01-01") -> Row:
    """A price series of one constant: usd per GPU-hour from `on` on."""
    return published(INDEX, chip, usd, on, on)
