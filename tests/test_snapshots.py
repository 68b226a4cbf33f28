"""The store keeps payloads as received, whole or not at all, whatever happens to the process or the disk."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines import sidecar as sidecar_file
from pipelines.home import PROJECT
from pipelines.sidecar import DamagedSnapshot, Sidecar
from pipelines.snapshots import SnapshotStore, unfinished_folders
from pipelines.source import Part

DAY = datetime(2026, 11, 1, 6, tzinfo=UTC)
BODIES = (b'{"price": 2.49}' * 40, bytes(range(256)), b"")


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


def add(store: SnapshotStore, *bodies: bytes, at: datetime = DAY, **more: Any) -> tuple[Sidecar, bool]:
    parts = tuple(
        Part(f"page-{n}.json", body, f"https://example.org/{n}", 200) for n, body in enumerate(bodies)
    )
    return store.add("acme", parts, observed_at=at, recorded_at=at + timedelta(minutes=1), **more)


def folder_of(store: SnapshotStore, sidecar: Sidecar) -> Path:
    return store.root / sidecar.source / sidecar.snapshot_id


def files_below(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


# What goes in comes out


def test_stored_bytes_come_back_equal(store):
    sidecar, is_new = add(store, *BODIES, slice_name="eu", context={"region": "eu-west"})
    assert is_new
    assert store.sidecars() == store.sidecars("acme") == [sidecar]
    found = store.load(store.sidecars()[0])
    assert tuple(part.body for part in found.parts) == BODIES
    assert [(p.name, p.url, p.status) for p in found.parts] == [
        (f"page-{n}.json", f"https://example.org/{n}", 200) for n in range(3)
    ]
    assert (found.source, found.slice, found.context) == ("acme", "eu", {"region": "eu-west"})
    assert (found.observed_at, found.recorded_at) == (DAY, DAY + timedelta(minutes=1))
    assert found.snapshot_id == sidecar.snapshot_id


def test_a_payload_that_is_gzip_itself_is_kept_as_received(store):
    packed = gzip.compress(b"[1]")
    sidecar, _ = add(store, packed)
    assert store.load(sidecar).parts[0].body == packed


def test_a_name_from_outside_is_no_path(store, tmp_path):
    sidecar, _ = store.add(
        "acme", (Part("../../escaped.json", b"{}"),), observed_at=DAY, recorded_at=DAY, slice_name="../../x"
    )
    assert store.load(sidecar).parts[0].name == "../../escaped.json"
    assert {path.name for path in tmp_path.iterdir()} == {"snapshots"}
    assert {Path(name).name for name in files_below(store.root)} == {"part-0.gz", "sidecar.json"}


def test_snapshots_are_listed_by_source_and_observation(store):
    for days in (3, 1, 2):
        add(store, b"%d" % days, at=DAY + timedelta(days=days))
    store.add("aaa", (Part("x", b"x"),), observed_at=DAY + timedelta(days=9), recorded_at=DAY)
    assert [(s.source, (s.observed_at - DAY).days) for s in store.sidecars()] == [
        ("aaa", 9),
        ("acme", 1),
        ("acme", 2),
        ("acme", 3),
    ]
    assert store.sidecars("nobody") == []


# The same payload again


def test_an_unchanged_payload_is_a_sighting_and_no_new_folder(store):
    first, _ = add(store, b"same")
    before = files_below(store.root)
    again, is_new = add(store, b"same", at=DAY + timedelta(days=1))
    assert (again, is_new) == (first, False)
    assert store.sidecars() == [first]
    (sighting,) = store.sightings()
    assert (sighting.source, sighting.snapshot_id) == ("acme", first.snapshot_id)
    assert sighting.observed_at == DAY + timedelta(days=1)
    assert sighting.recorded_at == DAY + timedelta(days=1, minutes=1)
    after = files_below(store.root)
    assert set(after) - set(before) == {"acme/sightings.jsonl"}
    assert {name: after[name] for name in before} == before


def test_an_equal_payload_at_the_same_moment_changes_nothing(store):
    first, _ = add(store, b"same")
    before = files_below(store.root)
    assert add(store, b"same") == (first, False)
    assert files_below(store.root) == before
    assert store.sightings() == []


def test_with_sightings_off_a_second_look_leaves_no_trace(store):
    first, _ = add(store, b"seed", sightings=False)
    assert add(store, b"seed", at=DAY + timedelta(days=1), sightings=False) == (first, False)
    assert store.sightings() == []


def test_an_older_observation_of_the_same_payload_is_stored_beside(store):
    newer, _ = add(store, b"same", at=DAY + timedelta(days=5))
    older, is_new = add(store, b"same", at=DAY)
    assert is_new
    assert store.sidecars() == [older, newer]
    assert add(store, b"same", at=DAY) == (older, False)
    assert store.sightings() == []


def test_a_payload_that_returns_after_a_change_is_stored_again(store):
    for days, body in enumerate((b"A", b"B", b"A")):
        _, is_new = add(store, body, at=DAY + timedelta(days=days))
        assert is_new
    assert [store.load(s).parts[0].body for s in store.sidecars()] == [b"A", b"B", b"A"]


@pytest.mark.parametrize("difference", [{"slice_name": "eu"}, {"context": {"region": "eu"}}])
def test_slice_and_context_make_another_payload(store, difference):
    add(store, b"same")
    _, is_new = add(store, b"same", at=DAY + timedelta(days=1), **difference)
    assert is_new


def test_how_bytes_are_cut_into_parts_makes_another_payload(store):
    add(store, b"ab", b"c")
    _, is_new = add(store, b"a", b"bc", at=DAY + timedelta(days=1))
    assert is_new


# Damage


@pytest.mark.parametrize("what", ["truncated", "empty", "missing", "replaced", "longer"])
def test_a_damaged_part_is_noticed_and_named(store, what):
    sidecar, _ = add(store, *BODIES)
    path = folder_of(store, sidecar) / "part-1.gz"
    whole = path.read_bytes()
    if what == "missing":
        path.unlink()
    else:
        path.write_bytes(
            {
                "truncated": whole[: len(whole) // 2],
                "empty": b"",
                "replaced": gzip.compress(b"other bytes"),
                "longer": whole + b"tail",
            }[what]
        )
    with pytest.raises(DamagedSnapshot, match=r"part-1\.gz"):
        store.load(sidecar)


def test_a_flipped_bit_is_noticed_wherever_it_is(store):
    sidecar, _ = add(store, BODIES[0])
    path = folder_of(store, sidecar) / "part-0.gz"
    whole = path.read_bytes()
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x10
        path.write_bytes(damaged)
        try:
            found = store.load(sidecar).parts[0].body
        except DamagedSnapshot:
            continue
        assert found == BODIES[0], position  # the packer's own header may say anything


@pytest.mark.parametrize(
    "body",
    [None, b"", b"{", b"[]", b"null", b'{"source": "acme"}', b"\xff\xfe", b"\x00" * 300],
    ids=["missing", "empty", "cut", "a list", "null", "lacks keys", "no UTF-8", "zeros"],
)
def test_a_damaged_sidecar_is_noticed_and_named(store, body):
    sidecar, _ = add(store, b"x")
    path = folder_of(store, sidecar) / "sidecar.json"
    if body is None:
        path.unlink()
    else:
        path.write_bytes(body)
    other, _ = add(store, b"y", at=DAY + timedelta(days=1))
    found, (unreadable,) = store.survey()
    assert found == [other]
    assert (unreadable.source, unreadable.snapshot_id, unreadable.observed_at) == (
        "acme",
        sidecar.snapshot_id,
        DAY,
    )
    assert "sidecar.json" in unreadable.reason


@pytest.mark.parametrize(
    ("key", "value"),
    [("slice", "eu"), ("context", {"region": "eu"}), ("digest", "0" * 64), ("parts", [])],
    ids=["slice", "context", "digest", "parts"],
)
def test_a_sidecar_that_contradicts_its_digest_is_damaged(store, key, value):
    sidecar, _ = add(store, b"x")
    path = folder_of(store, sidecar) / "sidecar.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    found, unreadable = store.survey()
    if not unreadable:
        with pytest.raises(DamagedSnapshot):
            [store.load(one) for one in found]


def test_a_sidecar_in_the_folder_of_another_snapshot_is_damaged(store):
    one, _ = add(store, b"one")
    other, _ = add(store, b"two", at=DAY + timedelta(days=1))
    source, target = (folder_of(store, s) / "sidecar.json" for s in (one, other))
    target.write_bytes(source.read_bytes())
    found, (unreadable,) = store.survey()
    assert (found, unreadable.snapshot_id) == ([one], other.snapshot_id)
    assert f"belongs to acme/{one.snapshot_id}" in unreadable.reason


@pytest.mark.parametrize(
    "torn",
    [b'\n{"snapshot_id": "2026', b"\n" + b"\x00" * 64, b'\n{"snapshot_id": "\xc3'],
    ids=["cut", "zeros", "no UTF-8"],
)
def test_a_torn_sighting_is_none_and_the_next_one_lands(store, torn):
    sidecar, _ = add(store, b"same")
    add(store, b"same", at=DAY + timedelta(days=1))
    with (store.root / "acme" / "sightings.jsonl").open("ab") as stream:
        stream.write(torn)
    assert [s.observed_at for s in store.sightings()] == [DAY + timedelta(days=1)]
    add(store, b"same", at=DAY + timedelta(days=2))
    found = store.sightings()
    assert [s.observed_at for s in found] == [DAY + timedelta(days=1), DAY + timedelta(days=2)]
    assert {s.snapshot_id for s in found} == {sidecar.snapshot_id}


# A process that dies

DIES = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from pipelines import snapshots
from pipelines.source import Part

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

{patch}
snapshots.SnapshotStore(Path(sys.argv[1])).add(
    "acme", (Part("a", b"one"), Part("b", b"two")),
    observed_at=datetime(2026, 11, 1, 6, tzinfo=UTC), recorded_at=datetime(2026, 11, 1, 6, tzinfo=UTC),
)
"""


@pytest.mark.parametrize(
    "patch",
    ["snapshots.sidecar_file.as_json = die", "os.replace = die", "os.fsync = die"],
    ids=["between payload and sidecar", "before the rename", "within the first file"],
)
def test_a_process_killed_while_storing_leaves_no_snapshot(store, patch):
    killed = subprocess.run(
        [sys.executable, "-c", DIES.format(patch=patch), str(store.root)], cwd=PROJECT, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert len(list(unfinished_folders(store.root))) == 1
    assert store.sidecars() == []

    parts = (Part("a", b"one"), Part("b", b"two"))
    sidecar, is_new = store.add("acme", parts, observed_at=DAY, recorded_at=DAY)
    assert is_new
    assert store.sidecars() == [sidecar]
    assert [part.body for part in store.load(sidecar).parts] == [b"one", b"two"]
    assert list(unfinished_folders(store.root)) == [], "what the dead process left is swept"


def test_what_a_living_process_writes_is_no_leftover(store):
    living = store.root / "acme" / f".unfinished-x-{os.getpid()}"
    living.mkdir(parents=True)
    add(store, b"x")
    assert list(unfinished_folders(store.root)) == [living]


def test_a_payload_whose_stored_bytes_are_damaged_is_stored_anew(store):
    first, _ = add(store, b"same")
    (folder_of(store, first) / "part-0.gz").write_bytes(b"")
    second, is_new = add(store, b"same", at=DAY + timedelta(hours=1))
    assert is_new
    assert store.load(second).parts[0].body == b"same"
    with pytest.raises(DamagedSnapshot, match=r"move .* away to store the payload anew"):
        add(store, b"same")


def test_a_disk_that_refuses_leaves_nothing_half(store, monkeypatch):
    first, _ = add(store, b"first")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left"):
            add(store, b"second", at=DAY + timedelta(days=1))
    assert store.sidecars() == [first]
    assert list(unfinished_folders(store.root)) == []
    assert add(store, b"second", at=DAY + timedelta(days=1))[1]


# Many at a time


def test_a_sidecar_is_read_once_however_many_payloads_come_after_it(store, monkeypatch):
    read = []
    really = sidecar_file.read
    monkeypatch.setattr(sidecar_file, "read", lambda folder: read.append(folder) or really(folder))
    for hour in range(5):
        add(store, b"%d" % hour, at=DAY + timedelta(hours=hour))
    assert len(read) == len(set(read)) == 4, "the last one was looked at by nobody yet"


def test_what_another_process_stored_or_a_person_took_away_is_seen(store):
    other = SnapshotStore(store.root)
    first, _ = add(store, b"a")
    second, _ = add(other, b"b", at=DAY + timedelta(hours=1))
    assert add(store, b"b", at=DAY + timedelta(hours=2)) == (second, False)
    shutil.rmtree(folder_of(store, second))
    assert add(store, b"a", at=DAY + timedelta(hours=3)) == (first, False)
    _, is_new = add(store, b"b", at=DAY + timedelta(hours=4))
    assert is_new
