"""When things run. All cron is UTC.

Belongs here: jobs and their schedules. Ingest, model, record and publish are jobs of their own: inside one
run a failed step would skip what depends on it, and one dead source would stop everybody.
"""

from __future__ import annotations

import dagster as dg

BUILD = dg.define_asset_job(
    "build",
    selection=dg.AssetSelection.groups("raw", "clean", "core", "mart", "record", "published"),
    description="Everything from stored payloads to the published copy, in one process.",
)
INGEST = dg.define_asset_job(
    "ingest",
    selection=dg.AssetSelection.groups("snapshot"),
    description="Ask every source for its payload and store it.",
)
MODEL = dg.define_asset_job(
    "model",
    selection=dg.AssetSelection.groups("raw", "clean", "core", "mart"),
    description="Load what is stored, build and check every model.",
)
RECORD = dg.define_asset_job(
    "record",
    selection=dg.AssetSelection.groups("record"),
    description="Write the day's headline once.",
)
PUBLISH = dg.define_asset_job(
    "publish",
    selection=dg.AssetSelection.groups("published"),
    description="Swap in a new published copy.",
)
JOBS = [BUILD, INGEST, MODEL, RECORD, PUBLISH]

# Minutes apart and in this order: two schedules of one minute start in any order.
CRON = ((INGEST, "7 * * * *"), (MODEL, "27 * * * *"), (PUBLISH, "42 * * * *"), (RECORD, "52 23 * * *"))
SCHEDULES = [
    dg.ScheduleDefinition(
        name=f"{job.name}_schedule",
        job=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    for job, cron in CRON
]
