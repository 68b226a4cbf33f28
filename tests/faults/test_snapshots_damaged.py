"""Whatever is damaged in the store is named and set aside; every other payload and day stands."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from price_list import SLUG, price_list

from pipelines import raw, run, sql_build, sql_models
from pipelines.assets.raw import ahead_of_the_clock
from pipelines.home import SEEDS, Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part, Source
from pipelines.warehouse import Warehouse

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAYS = [datetime(2026, 11, day, 6, tzinfo=UTC) for day in (27, 28, 29)]
HURT = 1  # the place in DAYS of the payload that is damaged
MARTS = ("mart.source_health", "mart.snapshot_health", "mart.missed_record")


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> tuple[Home, dict[str, Source]]:
    """A home that holds three days of one price list, loaded."""
    home = Home(tmp_path_factory.mktemp("store") / "home")
    store = SnapshotStore(home.snapshots)
    facts = raw.store_seeds(store, SEEDS, DAYS[0])
    for number, day in enumerate(DAYS, 1):
        store.add(SLUG, (Part("list.json", price_list(4, number)),), observed_at=day, recorded_at=day)
    load(home, facts)
    return home, facts


def load(home: Home, facts: dict[str, Source]) -> None:
    with Warehouse(home.warehouse).write() as connection:
        loaded = raw.load(connection, SnapshotStore(home.snapshots), facts, AS_OF)
    # What the step says of it afterwards must not stumble over what is not known of a damaged one.
    assert ahead_of_the_clock(loaded, AS_OF) == []


def ask(home: Home, query: str) -> list[tuple]:
    with Warehouse(home.warehouse).read() as connection:
        connection.execute("set TimeZone = 'UTC'")
        return connection.execute(query).fetchall()


def rows_by_day(home: Home) -> dict[str, int]:
    query = f"select snapshot_id, count(*) from raw.rental_quote where source = '{SLUG}' group by all"
    return {name[:8]: number for name, number in ask(home, query)}


def edited(**changes: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "sidecar.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return edit


def with_part(**changes: object) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        path = folder / "sidecar.json"
        raw_sidecar = json.loads(path.read_text())
        raw_sidecar["parts"][0] |= changes
        path.write_text(json.dumps(raw_sidecar))

    return edit


def replaced_by_folder(name: str) -> Callable[[Path], None]:
    def replace(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return replace


def linked(folder: Path) -> None:
    elsewhere = folder.parents[2] / "elsewhere"
    shutil.move(folder, elsewhere)
    folder.symlink_to(elsewhere)


def a_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_bytes(b"")


def of_another(folder: Path) -> None:
    other = next(path for path in folder.parent.glob(f"{DAYS[0]:%Y%m%d}*"))
    shutil.copyfile(other / "sidecar.json", folder / "sidecar.json")


PART, SIDECAR = "part-0.gz", "sidecar.json"
# What the file is, how it is damaged, and whether a later load of what was loaded sees it too.
DAMAGES: dict[str, tuple[str, Callable[[Path], object], bool]] = {
    "other bytes": (PART, lambda f: (f / PART).write_bytes(gzip.compress(b"other")), False),
    "no bytes": (PART, lambda f: (f / PART).write_bytes(b""), True),
    "cut gzip": (PART, lambda f: (f / PART).write_bytes((f / PART).read_bytes()[:40]), False),
    "a missing payload": (PART, lambda f: (f / PART).unlink(), True),
    "a folder for a payload": (PART, replaced_by_folder(PART), True),
    "an empty sidecar": (SIDECAR, lambda f: (f / SIDECAR).write_bytes(b""), True),
    "a cut sidecar": (SIDECAR, lambda f: (f / SIDECAR).write_bytes((f / SIDECAR).read_bytes()[:90]), True),
    "a sidecar in no JSON": (SIDECAR, lambda f: (f / SIDECAR).write_bytes(b"\x00" * 99), True),
    "a sidecar nested too deep": (SIDECAR, lambda f: (f / SIDECAR).write_bytes(b"[" * 100_000), True),
    "a missing sidecar": (SIDECAR, lambda f: (f / SIDECAR).unlink(), True),
    "a folder for a sidecar": (SIDECAR, replaced_by_folder(SIDECAR), True),
    "a number for a slice": (SIDECAR, edited(slice=7), True),
    "a moment without a zone": (SIDECAR, edited(observed_at="2026-11-28T06:00:00"), True),
    "a moment that is not in the name": (SIDECAR, edited(observed_at="2026-11-26T06:00:00+00:00"), True),
    "text for parts": (SIDECAR, edited(parts="part-0.gz"), True),
    "a path out of the folder": (SIDECAR, with_part(file="../../../outside.gz"), True),
    "an absolute path": (SIDECAR, with_part(file="/etc/hostname"), True),
    "text that no table holds": (SIDECAR, with_part(name="\ud800"), True),
    "the sidecar of another payload": (SIDECAR, of_another, True),
    "another id than the folder's": (SIDECAR, edited(snapshot_id="20261101T000000Z-000000000000"), True),
    "a link for a folder": ("link", linked, True),
    "a file for a folder": ("file", a_file, True),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("is_loaded", [False, True], ids=["before it is loaded", "after"])
def test_a_damaged_payload_is_named_and_all_others_stand(before, tmp_path, report, damage, is_loaded):
    whole, facts = before
    where, hurt, is_seen_later = DAMAGES[damage]
    home = Home(tmp_path / "home")
    shutil.copytree(whole.root, home.root)
    (folder,) = (home.snapshots / SLUG).glob(f"{DAYS[HURT]:%Y%m%d}*")
    stood = rows_by_day(whole)
    hurt(folder)
    left = sorted(path.name for path in (home.snapshots / SLUG).iterdir())
    if not is_loaded:
        with Warehouse(home.warehouse).write() as connection:
            connection.execute("delete from raw.snapshot")
    load(home, facts)

    counts = "candidates, accepted, rejected, not_applicable"
    told = ask(
        home, f"select snapshot_id, status, reason, {counts} from raw.snapshot where source = '{SLUG}'"
    )
    states = {name[:8]: status for name, status, *_ in told}
    day = f"{DAYS[HURT]:%Y%m%d}"
    notices = is_seen_later or not is_loaded
    assert states == dict.fromkeys(stood, "loaded") | ({day: "damaged"} if notices else {})
    lost = [found for found in stood if found != day and rows_by_day(home).get(found) != stood[found]]
    assert lost == []
    if notices:
        (reason,) = [reason for name, _, reason, *_ in told if name.startswith(day)]
        assert (where if where in (PART, SIDECAR) else folder.name) in reason
        assert [found[3:] for found in told if found[0].startswith(day)] == [(None,) * 4]
        assert day not in rows_by_day(home)
    assert sorted(path.name for path in (home.snapshots / SLUG).iterdir()) == left, "nothing is deleted"
    seen = "damaged, with file and reason; counts unknown" if notices else "as it was loaded"
    when = "after it was loaded" if is_loaded else "before it is loaded"
    report("a damaged payload in the store", f"{damage}, {when}", seen, lost)


def test_a_payload_of_which_nothing_is_left_is_told_until_it_is_copied_back(before, tmp_path, report):
    whole, facts = before
    home = Home(tmp_path / "home")
    shutil.copytree(whole.root, home.root)
    (folder,) = (home.snapshots / SLUG).glob(f"{DAYS[HURT]:%Y%m%d}*")
    shutil.move(folder, tmp_path / "elsewhere")
    day, stood = folder.name[:8], rows_by_day(whole)
    for _ in range(2):  # the second load finds nothing new, and still says it
        load(home, facts)
        told = ask(home, f"select status, reason from raw.snapshot where snapshot_id = '{folder.name}'")
        assert told == [("damaged", f"{folder}: is gone")]
        assert rows_by_day(home) == {found: rows for found, rows in stood.items() if found != day}

    shutil.move(tmp_path / "elsewhere", folder)
    load(home, facts)
    lost = [found for found in stood if rows_by_day(home).get(found) != stood[found]]
    assert lost == []
    seen = "damaged, with its place; every other day stands; whole again when it is back"
    report("the folder of a payload is gone", "moved away, and copied back later", seen, lost)


def test_the_tables_of_health_and_the_record_show_what_is_damaged(before, tmp_path, report):
    whole, facts = before
    home = Home(tmp_path / "home")
    shutil.copytree(whole.root, home.root)
    store = SnapshotStore(home.snapshots)
    for day in DAYS:
        record = {"as_of": day.isoformat(), "yields": []}
        made = Part(f"yields-{day:%Y-%m-%d}.json", json.dumps(record).encode())
        store.add("record", (made,), observed_at=day, recorded_at=day, slice_name=f"{day:%Y-%m-%d}")
    for source in (SLUG, "record"):
        (folder,) = (home.snapshots / source).glob(f"{DAYS[HURT]:%Y%m%d}*")
        (folder / SIDECAR).write_bytes(b"{")
    load(home, facts)
    with Warehouse(home.warehouse).write() as connection:
        sql_build.build(connection, sql_models.needed(run.models(), MARTS))
        connection.execute("insert into raw.build select as_of from raw.run")

    ((status, reason, damaged, candidates),) = ask(
        home,
        "select status, reason, damaged_snapshots, candidates from mart.source_health "
        f"where source = '{SLUG}'",
    )
    assert (status, damaged, candidates) == ("degraded", 1, 4 + 4)
    assert reason == "1 stored payloads are damaged on the disk; mart.snapshot_health names them"
    shown = ask(
        home,
        "select cast(observed_at as date), status, candidates, accepted from mart.snapshot_health "
        f"where source = '{SLUG}' order by 1",
    )
    assert [found[1:3] for found in shown] == [("loaded", 4), ("damaged", None), ("loaded", 4)]
    missed = ask(home, "select date, status, recorded_at from mart.missed_record order by date")
    assert missed == [(DAYS[HURT].date(), "damaged", None)]
    # Neither this day's run nor one that makes up for missed days writes another record for it.
    records = sorted(path.name for path in (home.snapshots / "record").iterdir())
    assert run.catch_up(home, AS_OF - timedelta(hours=6)) == []
    assert sorted(path.name for path in (home.snapshots / "record").iterdir()) == records
    lost = [day for day in (DAYS[0], DAYS[2]) if day.date() in {found[0] for found in missed}]
    seen = (
        "source degraded, payload damaged with unknown counts, the day told as damaged and not written anew"
    )
    report("a damaged sidecar of a payload and of a record", "sidecars cut to one byte", seen, lost)


def test_a_damaged_seed_is_stored_anew_from_its_file(before, tmp_path, report):
    whole, _ = before
    home = Home(tmp_path / "home")
    shutil.copytree(whole.root, home.root)
    store = SnapshotStore(home.snapshots)
    expected = ask(home, "select * from raw.chip_alias order by all")
    newest = {found.slice: found for found in store.sidecars("seeds")}
    (home.snapshots / "seeds" / newest["chip_alias"].snapshot_id / PART).write_bytes(b"")
    (home.snapshots / "seeds" / newest["provider"].snapshot_id / SIDECAR).write_bytes(b"")
    facts = raw.store_seeds(SnapshotStore(home.snapshots), SEEDS, AS_OF)
    load(home, facts)
    lost = set(expected) - set(ask(home, "select * from raw.chip_alias"))
    assert lost == set()
    assert (
        len(SnapshotStore(home.snapshots).sidecars("seeds")) == len(newest) + 1
    )  # one is read, and one is not
    report("a damaged seed in the store", "one without bytes, one without a sidecar", "stored anew", lost)
