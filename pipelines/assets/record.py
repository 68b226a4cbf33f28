"""The record: each day's headline yields, written once.

Belongs here: calling `run.record` and `run.catch_up`. Does not belong here: what a record holds
(`record.py`).
"""

import dagster as dg

from pipelines import run
from pipelines.assets.models import model_key
from pipelines.home import Home

RECORD_KEY = dg.AssetKey(["record", "headline"])


@dg.asset(
    key=RECORD_KEY,
    group_name="record",
    deps=[model_key("mart.cost_per_million_tokens_daily"), model_key("mart.price_series")],
    description="The headline yields of a UTC day as a write-once snapshot; a rebuild never changes it.",
)
def recorded_headline(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """Write the day's headline yields unless they are written already, then those of missed days, late."""
    sidecar, outcome = run.record(Home.from_environment())
    context.log.info(f"record  {outcome}")
    late = [found.slice for found in run.catch_up(Home.from_environment())]
    if late:
        context.log.warning(f"record  written late, for days that were missed: {', '.join(late)}")
    return dg.MaterializeResult(
        metadata={
            "outcome": outcome,
            "snapshot_id": sidecar.snapshot_id if sidecar else "",
            "recorded_late": ", ".join(late),
        }
    )
