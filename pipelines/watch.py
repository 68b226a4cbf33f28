"""Whether anything still moves: the age of the published copy and of the record, for a check from outside.

Belongs here: what `tokenyield status --max-age` judges. Does not belong here: how sources do
(`mart.source_health`) and telling anybody (`alerts.py`): a process that is dead tells nothing, so that this
looks at files alone.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import duckdb

from pipelines import answers
from pipelines import record as recording
from pipelines.failure import Failure
from pipelines.home import Home
from pipelines.snapshots import SnapshotStore

UNITS = {"m": "minutes", "h": "hours", "d": "days"}
# A record is of a day: the next one comes a day later, in the first build of that day.
RECORD_AGE = timedelta(hours=26)
# Clocks of two processes on one machine do not differ by more, unless one was set.
CLOCK_SLACK = timedelta(minutes=5)


def age_limit(text: str) -> timedelta:
    """Read 90m, 26h or 2d; raises ValueError for anything else, and for no time at all."""
    found = re.fullmatch(r"([0-9]{1,5})([mhd])", text)
    if not found or not int(found[1]):
        raise ValueError(f"{text!r} is no age: give 90m, 26h or 2d")
    return timedelta(**{UNITS[found[2]]: int(found[1])})


def too_old(home: Home, limit: timedelta, now: datetime | None = None) -> list[str]:
    """Why somebody should look, in words; empty when the copy, its as_of and the record are young enough.

    The record may be RECORD_AGE old where the limit is shorter.
    """
    now = now or datetime.now(UTC)
    try:
        published_at, as_of = _moments(home)
    except (Failure, OSError, duckdb.Error) as error:
        return [str(error).splitlines()[0]]
    days = [found.observed_at for found in SnapshotStore(home.snapshots).sidecars(recording.SLUG)]
    wrong = [
        _judged("the published copy was made", published_at, limit, now),
        _judged("the published copy is as of", as_of, limit, now),
        _judged("the newest record is of", max(days), max(limit, RECORD_AGE), now)
        if days
        else "no day is recorded",
    ]
    return [told for told in wrong if told]


def _moments(home: Home) -> tuple[datetime, datetime]:
    """When the published copy was made, and its as_of; raises where it cannot be read."""
    with answers.published(home) as connection:
        connection.execute("select count(*) from mart.headline").fetchone()
    path = home.published / "current" / "manifest.json"
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        made_at = datetime.strptime(manifest["version"], "%Y%m%dT%H%M%S%fZ").replace(tzinfo=UTC)
        return made_at, datetime.fromisoformat(manifest["as_of"]).astimezone(UTC)
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path} is not as it was written: {error!r}; run `tokenyield build`") from error


def _judged(what: str, moment: datetime, limit: timedelta, now: datetime) -> str | None:
    age = now - moment
    if age < -CLOCK_SLACK:
        return f"{what} {moment:%Y-%m-%d %H:%M} UTC, which lies ahead of this machine's clock"
    if age <= limit:
        return None
    hours, whole = age.total_seconds() / 3600, limit.total_seconds() / 3600
    return f"{what} {moment:%Y-%m-%d %H:%M} UTC, {hours:.1f} hours ago, and may be {whole:g} hours old"
