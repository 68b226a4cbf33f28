"""A copy of the project with few facts, so that every model of it is built in seconds.

Belongs here: which seeds stay, and operating points that are made up. Does not belong here: code or SQL of
its own: both are copied as they are, and so are all reference seeds.

Those of H100 and L40S: 100 output tokens per second and GPU are 0.36 million tokens per GPU-hour, so that a
million of them cost price / 0.36.
"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from pipelines.home import PROJECT

# Of the facts, what reference seeds speak of, and one price beside the headline for each chip that has one.
KEPT = ("corrections", "published_indices")
POINTS = "made_up_points"
MILLION_TOKENS_PER_GPU_HOUR = 0.36
POINT = {
    "publisher": "made_up", "run_id": "1", "attempt": "1", "date_precision": "day",
    "raw_model_name": "DeepSeek-R1-0528", "weight_precision": "fp8", "engine": "sglang",
    "disaggregated": "false", "accelerator_count": "8", "workload": "fixed-8192-1024",
    "isl_nominal": "8192", "osl_nominal": "1024", "concurrency": "64", "throughput_basis": "per_gpu",
    "interactivity_tok_s_user": "25", "speed_percentile": "p50", "ttft_p50_ms": "2000",
    "tpot_p50_ms": "40", "speculative_method": "none", "traffic_basis": "benchmark",
    "evidence": "measured", "independent": "true", "url": "https://example.com/1",
    "methodology": "runnable", "dataset": "random", "arrival": "closed_loop",
    "release_status": "available",
}  # fmt: skip
THROUGHPUT = {"h100-sxm-80": ("100", "900"), "l40s": ("100", "900"), "h200-sxm-141": ("150", "1350")}


def few_seeds(folder: Path, measured_on: str = "2026-10-01") -> Path:
    """Write the few seeds to `folder`, which is new, and return it; `measured_on`: day of the points."""
    shutil.copytree(PROJECT / "seeds", folder)
    for path in folder.glob("*/*.csv"):
        if path.stem not in KEPT:
            path.unlink()
    declared = folder / "fact_source.csv"
    with declared.open(newline="", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    point = {
        "source": POINTS, "kind": "benchmark", "title": "Made up", "licence": "made up",
        "passes_on": "true", "cadence": "once", "source_rank": "1", "max_age_days": "3650",
    }  # fmt: skip
    _write(
        declared, [*(line for line in lines if line["source"] in KEPT), dict.fromkeys(lines[0], "") | point]
    )
    dated = POINT | dict.fromkeys(("measured_on", "published_on", "known_at"), measured_on)
    points = [
        dated | {"raw_chip_name": chip, "output_tok_s": output, "total_tok_s": total}
        for chip, (output, total) in THROUGHPUT.items()
    ]
    _write(folder / "benchmark_result" / f"{POINTS}.csv", points)
    return folder


def small_project(folder: Path) -> Path:
    """Copy code, models and few seeds to `folder`, which is new, and return it: a project to run from."""
    for name in ("pipelines", "sql"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "dagster.yaml"):
        shutil.copy(PROJECT / name, folder / name)
    few_seeds(folder / "seeds")
    return folder


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
