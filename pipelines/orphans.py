"""Runs whose process is gone: a machine that was switched off leaves them on record as under way.

Belongs here: finding them and putting them on record as failed. Does not belong here: what runs, and when,
and what they left on the disk (`leftovers.py`).
Dagster's own watch cannot see the process of a local run; since one run goes at a time, an orphan would hold
all others back until the longest run that `dagster.yaml` allows is over.
"""

from __future__ import annotations

import dagster as dg

from pipelines.leftovers import lives


def fail_orphans(instance: dg.DagsterInstance) -> list[str]:
    """Mark as failed every run under way whose process has ended; returns their ids.

    A run that does not say its process is left alone, as is one whose number another process now has.
    """
    gone = []
    for run in instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.STARTED])):
        process = _process(instance, run.run_id)
        if process is not None and not lives(process):
            instance.report_run_failed(
                run, f"its process {process} ended without a word: stopped from outside"
            )
            gone.append(run.run_id)
    return gone


def _process(instance: dg.DagsterInstance, run_id: str) -> int | None:
    """The process that the run's newest word of itself names."""
    named = None
    for entry in instance.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        said = entry.dagster_event.engine_event_data.metadata.get("pid") if entry.dagster_event else None
        named = int(str(said.value)) if said else named
    return named
