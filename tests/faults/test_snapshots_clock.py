"""A clock that jumps makes no payload newer than it is, and loses none."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from price_list import SLUG, price_list

from pipelines import ingest, raw, record, run, sql_build, sql_models
from pipelines.home import SEEDS
from pipelines.http import FetchError, Slice
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part, Source, all_sources
from pipelines.warehouse import Warehouse

TRUE = datetime(2026, 11, 29, 12, tzinfo=UTC)
HOUR, YEAR = timedelta(hours=1), timedelta(days=365)


class Answers:
    """In the place of a fetcher: one payload for one slice."""

    class limits:
        max_bytes = 1

    def __init__(self, body: bytes) -> None:
        self.body = body

    def slices(self, source: Source) -> list[Slice | FetchError]:
        return [Slice("all", (Part("0001", self.body),))]


def fetched(
    store: SnapshotStore, body: bytes, at: datetime, monkeypatch: pytest.MonkeyPatch
) -> ingest.Stored:
    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return at

    with monkeypatch.context() as patched:
        patched.setattr(ingest, "datetime", Clock)
        (stored,) = ingest.fetch(all_sources()[SLUG], store, Answers(body))
    assert isinstance(stored, ingest.Stored)
    return stored


@pytest.mark.parametrize("jump", [HOUR, YEAR], ids=["an hour", "a year"])
@pytest.mark.parametrize("is_same", [True, False], ids=["the same list", "another"])
def test_a_payload_of_a_clock_that_went_back_is_kept_and_told(tmp_path, monkeypatch, report, jump, is_same):
    store = SnapshotStore(tmp_path / "snapshots")
    ahead = fetched(store, price_list(2), TRUE + jump, monkeypatch)
    assert ahead.clock is None
    body = price_list(2) if is_same else price_list(3)
    back = fetched(store, body, TRUE, monkeypatch)
    assert back.is_new, "what was seen ahead of it is no sighting of it"
    assert "the store holds a payload of" in back.clock
    again = fetched(store, body, TRUE + timedelta(minutes=1), monkeypatch)
    assert not again.is_new
    moments = [sidecar.observed_at for sidecar in store.sidecars()]
    assert moments == [TRUE, TRUE + jump]
    assert [(s.snapshot_id, s.observed_at) for s in store.sightings()] == [
        (back.sidecar.snapshot_id, TRUE + timedelta(minutes=1))
    ]
    lost = {ahead.sidecar.snapshot_id, back.sidecar.snapshot_id} - {s.snapshot_id for s in store.sidecars()}
    seen = "both stored, the later look is one at the right payload; a warning with both moments"
    what = "the same list" if is_same else "another list"
    how_far = f"{jump.days} days" if jump.days else "an hour"
    report("the clock goes back", f"{what}, {how_far} back", seen, lost)


def test_a_payload_from_the_future_enters_no_build_and_is_counted(tmp_path, report):
    store = SnapshotStore(tmp_path / "snapshots")
    facts = raw.store_seeds(store, SEEDS, TRUE)
    for at, number in ((TRUE, 2), (TRUE + YEAR, 3)):
        body = price_list(number)
        store.add(SLUG, (Part("list", body),), observed_at=at, recorded_at=at)
    warehouse = Warehouse(tmp_path / "warehouse.duckdb")
    with warehouse.write() as connection:
        raw.load(connection, store, facts, TRUE + HOUR)
        sql_build.build(
            connection, sql_models.needed(run.models(), ["mart.source_health", "core.known_rental_quote"])
        )
    with warehouse.read() as connection:
        connection.execute("set TimeZone = 'UTC'")
        quotes = connection.execute(
            "select observed_at, count(*) from core.known_rental_quote where source = ? group by all",
            [SLUG],
        ).fetchall()
        (health,) = connection.execute(
            "select status, later_snapshots, last_success_at, newest_accepted from mart.source_health "
            "where source = ?",
            [SLUG],
        ).fetchall()
    assert quotes == [(TRUE, 1)], "the one GPU of the list that is known"
    assert health == ("ok", 1, TRUE, 2)
    lost = {TRUE} - {at for at, _ in quotes}
    report("a payload of a clock that was a year ahead", "stored", "not used; counted as one to come", lost)


@pytest.mark.parametrize(
    ("first", "last", "days"),
    [
        ("2028-02-28", "2028-03-01", ["2028-02-29"]),
        ("2027-12-30", "2028-01-01", ["2027-12-31"]),
        ("2027-02-28", "2027-03-01", []),
    ],
)
def test_days_that_are_rare_are_days(report, first, last, days):
    found = record.missed([date.fromisoformat(first)], date.fromisoformat(last))
    assert [str(day) for day in found] == days
    lost = set(days) - {str(day) for day in found}
    report("no record on a rare day", f"{first} to {last}", f"missed: {', '.join(days) or 'none'}", lost)


def test_a_second_across_the_year_makes_two_payloads(tmp_path, report):
    store = SnapshotStore(tmp_path / "snapshots")
    moments = [datetime(2027, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(2028, 1, 1, tzinfo=UTC)]
    moments.append(datetime(2028, 2, 29, 12, tzinfo=UTC))
    for number, at in enumerate(moments):
        store.add(SLUG, (Part("list", b"%d" % number),), observed_at=at, recorded_at=at)
    found = [sidecar.observed_at for sidecar in store.sidecars()]
    assert found == moments
    names = [sidecar.snapshot_id[:16] for sidecar in store.sidecars()]
    assert names == ["20271231T235959Z", "20280101T000000Z", "20280229T120000Z"]
    report(
        "the year ends between two looks",
        "one second apart",
        "two payloads in order",
        set(moments) - set(found),
    )
