"""How each source does is told by slice: what fails, what shrank, and what was asked in vain."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from price_list import SLUG, price_list

from pipelines import raw, run, sql_build, sql_models
from pipelines.home import SEEDS
from pipelines.snapshots import FailedLook, SnapshotStore
from pipelines.source import Part, Source
from pipelines.warehouse import Warehouse

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODELS = sql_models.needed(run.models(), ["mart.source_health", "core.known_rental_quote"])


class World:
    """A store and what is built of it."""

    def __init__(self, root: Path) -> None:
        self.store = SnapshotStore(root / "snapshots")
        self.warehouse = Warehouse(root / "warehouse.duckdb")
        self.facts: dict[str, Source] = raw.store_seeds(self.store, SEEDS, AS_OF - timedelta(days=30))

    def seen(self, hours_ago: float, body: bytes, slice_name: str = "all") -> None:
        at = AS_OF - timedelta(hours=hours_ago)
        self.store.add(SLUG, (Part("l", body),), observed_at=at, recorded_at=at, slice_name=slice_name)

    def failed(self, hours_ago: float, slice_name: str = "all") -> None:
        at = AS_OF - timedelta(hours=hours_ago)
        told = f"{SLUG}: HTTP 503 (https://example.org); try again"
        self.store.note_failed_look(FailedLook(SLUG, slice_name, at, "http_status", told))

    def health(self, columns: str) -> tuple[Any, ...]:
        with self.warehouse.write() as connection:
            raw.load(connection, self.store, self.facts, AS_OF)
            sql_build.build(connection, MODELS)
        with self.warehouse.read() as connection:
            connection.execute("set TimeZone = 'UTC'")
            query = f"select {columns} from mart.source_health where source = '{SLUG}'"
            (row,) = connection.execute(query).fetchall()
            return row

    def believed(self) -> set[datetime]:
        """The moments of the lists whose prices stand."""
        with self.warehouse.read() as connection:
            connection.execute("set TimeZone = 'UTC'")
            query = "select observed_at from core.known_rental_quote where source = ?"
            return {at for (at,) in connection.execute(query, [SLUG]).fetchall()}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_fetch_that_failed_since_is_told_at_once_and_fails_after_a_day(world, report):
    world.seen(30, price_list(3))
    world.failed(29)
    status, reason, looks, last = world.health("status, reason, failed_looks, last_attempt_at")
    assert (status, looks, last) == ("degraded", 1, AS_OF - timedelta(hours=29))
    assert reason.startswith(f"{SLUG}: HTTP 503")
    world.failed(5)
    assert world.health("status, failed_looks") == ("failing", 2)
    world.seen(4, price_list(3))
    assert world.health("status, reason, failed_looks") == ("ok", None, 2)
    lost = {AS_OF - timedelta(hours=30)} - world.believed()
    assert lost == set()
    seen = "degraded with the server's answer, failing after a day, ok with the next payload"
    report("a server refuses again and again", "503 for 25 hours", seen, lost)


def test_a_source_that_never_answered_fails(world, report):
    world.failed(3)
    assert world.health("status, slices, snapshots, newest_candidates") == ("failing", 1, 0, None)
    report("a source is asked for the first time", "503", "failing, and no longer just empty", [])


def test_a_broken_slice_is_told_by_name_beside_those_that_are_fine(world, report):
    world.seen(5, price_list(3), "list")
    world.seen(6, b"<html>no list</html>", "spot")
    status, reason, slices, candidates, newest = world.health(
        "status, reason, slices, candidates, newest_accepted"
    )
    assert (status, slices, candidates, newest) == ("failing", 2, 3, 3)
    assert reason.startswith("slice spot (1 of 2 slices): ")
    lost = {AS_OF - timedelta(hours=5)} - world.believed()
    assert lost == set(), "the other slice stands"
    seen = "failing, with the slice; the other stands"
    report("one slice of a source is no list any more", "HTML", seen, lost)


def test_a_slice_that_is_over_speaks_no_more(world, report):
    world.seen(24 * 25, b"<html>no list</html>", "old name")
    world.seen(5, price_list(3), "new name")
    assert world.health("status, slices") == ("ok", 1)
    report("a slice is renamed", "its last payload was refused", "judged by the new one", [])


@pytest.mark.parametrize(
    ("sizes", "newest", "is_believed"),
    [
        ([40, 42, 44], 10, False),
        ([40, 42, 44], 20, False),
        ([40, 42, 44], 21, True),
        ([40, 42], 10, True),
        ([17, 18, 19], 2, True),
        ([40, 42, 44, 11, 12, 13], 10, True),
    ],
    ids=["a quarter", "under half", "half", "two payloads say nothing", "a short list", "a list that shrank"],
)
def test_a_list_that_falls_below_half_of_its_size_is_not_believed(world, report, sizes, newest, is_believed):
    for number, size in enumerate(sizes):
        world.seen(100 - number, price_list(size))
    world.seen(5, price_list(newest))
    status, reason = world.health("status, reason")
    believed = world.believed()
    assert ((AS_OF - timedelta(hours=5)) in believed) == is_believed
    if is_believed:
        assert status == "ok"
    else:
        assert (status, reason) == (
            "failing", f"it brings {newest} prices, and the payloads before it 42 (median)"
        )  # fmt: skip
    lost = {AS_OF - timedelta(hours=100 - number) for number in range(min(len(sizes), 3))} - believed
    assert lost == set()
    seen = "believed" if is_believed else "failing, told with both numbers; the last good list stands"
    injected = f"{', '.join(map(str, sizes))}, then {newest} prices"
    report("a list is much shorter than it used to be", injected, seen, lost)
