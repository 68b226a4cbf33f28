"""The map: every asset, job and schedule. No logic."""

from __future__ import annotations

import dagster as dg

from pipelines.assets.alerts import told_alerts
from pipelines.assets.models import sql_models
from pipelines.assets.publish import published_copy
from pipelines.assets.raw import raw_tables
from pipelines.assets.record import recorded_headline
from pipelines.assets.sources import fetched_sources, snapshot_asset
from pipelines.progress import console
from pipelines.schedules import JOBS, SCHEDULES

defs = dg.Definitions(
    assets=[
        *(snapshot_asset(source) for source in fetched_sources()),
        raw_tables,
        sql_models,
        recorded_headline,
        published_copy,
        told_alerts,
    ],
    jobs=JOBS,
    schedules=SCHEDULES,
    # One run is one process: DuckDB has one writer, and a process per step costs seconds each.
    executor=dg.in_process_executor,
    loggers={"console": console},
)
