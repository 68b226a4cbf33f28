"""What became of every slot of a schedule: each has a run, or is listed as one that has none.

Belongs here: comparing the slots of a cron with the runs that Dagster has on record. Does not belong here:
the crons (`schedules.py`), and starting anything. After a pause Dagster runs the newest slot alone and
never those before it, so a slot without a run is missed for good as soon as a later slot has come.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import dagster as dg

# Private but exact: the very iterator by which the daemon finds its slots.
from dagster._utils.schedules import schedule_execution_time_iterator

from pipelines.schedules import CRON_TAG

# Tags that Dagster puts on every scheduled run.
NAME_TAG, SLOT_TAG = "dagster/schedule_name", ".dagster/scheduled_execution_time"
STATES = ("succeeded", "failed", "under way", "missed", "due")
_STATE_OF = {
    dg.DagsterRunStatus.SUCCESS: "succeeded",
    dg.DagsterRunStatus.FAILURE: "failed",
    dg.DagsterRunStatus.CANCELED: "failed",
}


@dataclass(frozen=True)
class Slots:
    """The slots of one schedule on its present cron, in order, each with its state.

    since: the first slot that has a run on this cron, within the days asked; None: none has. Nothing is
    said of slots before it. A state is succeeded, failed (as its runs were), under way, missed (no run, and
    none to come) or due (the newest slot, which has no run yet).
    """

    schedule: str
    cron: str
    since: datetime | None
    states: dict[datetime, str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """The accounts in one line: slots are the sum of their states."""
        if self.since is None:
            return f"{self.schedule}: {self.cron}, no slot has run on this cron in the days asked"
        counts = Counter(self.states.values())
        parts = " + ".join(f"{counts[state]} {state}" for state in STATES)
        since = f"since {self.since:%Y-%m-%d %H:%M} UTC"
        return f"{self.schedule}: {self.cron}, {since} {len(self.states)} slots = {parts}"


def slots(
    instance: dg.DagsterInstance, schedules: Iterable[dg.ScheduleDefinition], now: datetime, days: int
) -> Iterator[Slots]:
    """Yield what became of the slots of each schedule up to `now` (UTC), looking back so many days."""
    for schedule in schedules:
        cron = str(schedule.cron_schedule)
        ran = _ran(instance, schedule.name, cron, now - timedelta(days=days))
        if not ran:
            yield Slots(schedule.name, cron, None)
            continue
        since = min(ran)
        due = list(_between(cron, since, now))
        # A run whose slot is none of this cron's would be lost in silence: every run is in the accounts.
        states = {slot: ran.get(slot, "missed") for slot in sorted({*due, *ran})}
        if states[due[-1]] == "missed":
            states[due[-1]] = "due"
        yield Slots(schedule.name, cron, since, states)


def _ran(instance: dg.DagsterInstance, schedule: str, cron: str, after: datetime) -> dict[datetime, str]:
    """The state of every slot that has a run, back to the newest slot that came from another cron.

    Slots and not runs tell how far back: an old run of the former cron may be run again today.
    """
    filters = dg.RunsFilter(tags={NAME_TAG: schedule}, created_after=after)
    found: dict[datetime, str] = {}
    of_others: list[datetime] = []
    for run in instance.get_runs(filters):
        # A tick that a person tries out by hand in the UI is of no slot.
        if SLOT_TAG not in run.tags:
            continue
        slot = datetime.fromisoformat(run.tags[SLOT_TAG]).astimezone(UTC)
        if run.tags.get(CRON_TAG) != cron:
            of_others.append(slot)
            continue
        state = _STATE_OF.get(run.status, "under way")
        # Of several runs of one slot, newest first, one that succeeded is enough.
        if slot not in found or state == "succeeded":
            found[slot] = state
    if of_others:
        found = {slot: state for slot, state in found.items() if slot > max(of_others)}
    return found


def _between(cron: str, since: datetime, now: datetime) -> Iterator[datetime]:
    for slot in schedule_execution_time_iterator(since.timestamp(), cron, "UTC"):
        if slot > now:
            return
        yield slot.astimezone(UTC)
