"""When things run. All cron is UTC.

Belongs here: jobs, their schedules, and reading a cron from the environment. Does not belong here: what
became of their slots (`slots.py`). Ingest, model, record and publish are jobs of their own: inside one run
a failed step would skip what depends on it, and one dead source would stop everybody.
"""

from __future__ import annotations

import os

import dagster as dg

# Dagster's own judge of a cron, private but exact: what it refuses would fail later, inside a definition.
from dagster._utils.schedules import is_valid_cron_string

from pipelines.failure import Failure

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
    description="Swap in a new published copy, then tell what is new in it.",
)
JOBS = [BUILD, INGEST, MODEL, RECORD, PUBLISH]

# Minutes apart and in this order: two schedules of one minute start in any order.
CRON = ((INGEST, "7 * * * *"), (MODEL, "27 * * * *"), (PUBLISH, "42 * * * *"), (RECORD, "52 23 * * *"))
# Every scheduled run carries the cron that it came from, so that its slots can be told from another cron's.
CRON_TAG = "tokenyield/cron"


class CronRefused(Failure):
    """A cron of the environment cannot be read; the message names the variable."""


def cron_of(job: str, default: str) -> str:
    """The cron of a job in UTC: `TOKENYIELD_CRON_<JOB>`, or `default` where it is unset or empty.

    Raises CronRefused for anything but five fields that Dagster takes.
    """
    variable = f"TOKENYIELD_CRON_{job.upper()}"
    cron = " ".join((os.environ.get(variable) or default).split())
    if len(cron.split(" ")) != 5 or not is_valid_cron_string(cron):
        raise CronRefused(
            f"{variable}={cron!r} is no cron of five fields (minute hour day month weekday, UTC); "
            f"mend it, or unset it for {default!r}"
        )
    return cron


def _schedule(job: dg.UnresolvedAssetJobDefinition, cron: str) -> dg.ScheduleDefinition:
    return dg.ScheduleDefinition(
        name=f"{job.name}_schedule",
        job=job,
        cron_schedule=cron,
        execution_timezone="UTC",
        default_status=dg.DefaultScheduleStatus.RUNNING,
        tags={CRON_TAG: cron},
    )


SCHEDULES = [_schedule(job, cron_of(job.name, default)) for job, default in CRON]
