"""A person's file becomes a snapshot with a moment that something proves, or nothing is stored."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.ingest import ImportRefused, import_file
from pipelines.snapshots import SnapshotStore
from pipelines.source import PERMISSION_VARIABLE, all_sources

FIXTURES = Path(__file__).parent / "fixtures"
PROVES_ITSELF = "gcp_machine_prices"  # its head carries `timestamp: 1760000000`
PROVES_NOTHING = "oci_price_list"
GENERATED = datetime(2025, 10, 9, 8, 53, 20, tzinfo=UTC)  # 1760000000 seconds after 1970


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


def payload(folder: Path, slug: str, name: str) -> Path:
    """The fixture payload of `slug` under another file name."""
    (found,) = (FIXTURES / slug).glob("payload.*")
    path = folder / name
    path.write_bytes(found.read_bytes())
    return path


def refused(store: SnapshotStore, slug: str, path: Path, stated: datetime | None = None) -> str:
    """The message of a refusal that stored nothing."""
    with pytest.raises(ImportRefused) as caught:
        import_file(all_sources()[slug], store, path, stated)
    assert store.sidecars() == []
    assert list(store.root.rglob("*")) == []
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("prices_2026-04-01.json", datetime(2026, 4, 1, tzinfo=UTC)),
        ("2024-03-15T211034Z.json", datetime(2024, 3, 15, 21, 10, 34, tzinfo=UTC)),
        ("oci-2024-03-15T21:10:34Z-full.json", datetime(2024, 3, 15, 21, 10, 34, tzinfo=UTC)),
    ],
)
def test_the_name_of_a_file_proves_its_moment(store, tmp_path, name, moment):
    stored, _ = import_file(all_sources()[PROVES_NOTHING], store, payload(tmp_path, PROVES_NOTHING, name))
    assert stored.is_new
    assert store.sidecars() == [stored.sidecar]
    assert stored.sidecar.observed_at == moment


def test_the_payload_proves_its_moment_better_than_the_name(store, tmp_path):
    path = payload(tmp_path, PROVES_ITSELF, "archive-2026-04-01.yml")
    stored, _ = import_file(all_sources()[PROVES_ITSELF], store, path)
    assert stored.sidecar.observed_at == GENERATED


def test_a_stated_moment_serves_where_nothing_else_does(store, tmp_path):
    stated = datetime(2026, 4, 1, 15, tzinfo=UTC)
    path = payload(tmp_path, PROVES_NOTHING, "download.json")
    stored, _ = import_file(all_sources()[PROVES_NOTHING], store, path, stated)
    assert stored.sidecar.observed_at == stated


def test_a_stated_day_that_fits_the_payload_gives_way_to_its_exact_moment(store, tmp_path):
    path = payload(tmp_path, PROVES_ITSELF, "download.yml")
    stored, _ = import_file(all_sources()[PROVES_ITSELF], store, path, datetime(2025, 10, 9, tzinfo=UTC))
    assert stored.sidecar.observed_at == GENERATED


def test_a_stated_moment_that_contradicts_the_payload_is_refused_with_both(store, tmp_path):
    path = payload(tmp_path, PROVES_ITSELF, "download.yml")
    message = refused(store, PROVES_ITSELF, path, datetime(2026, 4, 1, tzinfo=UTC))
    assert "2025-10-09 08:53" in message
    assert "2026-04-01 00:00" in message
    assert "--observed-at" in message


@pytest.mark.parametrize(
    "name", ["download.json", "2026-04-01_to_2026-05-01.json", "2026-13-45.json", "build-12026-04-01.json"]
)
def test_a_file_that_proves_no_moment_is_refused_with_the_cure(store, tmp_path, name):
    message = refused(store, PROVES_NOTHING, payload(tmp_path, PROVES_NOTHING, name))
    assert name in message
    assert "--observed-at YYYY-MM-DD" in message


def test_a_file_from_the_future_is_refused(store, tmp_path):
    path = payload(tmp_path, PROVES_NOTHING, "prices_2199-01-01.json")
    assert "lies in the future" in refused(store, PROVES_NOTHING, path)
    path = payload(tmp_path, PROVES_NOTHING, "download.json")
    assert "future" in refused(store, PROVES_NOTHING, path, datetime(2199, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("what", ["absent", "a folder"])
def test_a_file_that_cannot_be_read_is_refused_by_name(store, tmp_path, what):
    path = tmp_path / "prices_2026-04-01.json"
    if what == "a folder":
        path.mkdir()
    assert re.search(
        r"prices_2026-04-01\.json: (No such file|Is a directory)", refused(store, PROVES_NOTHING, path)
    )


def test_the_payload_of_another_source_is_refused(store, tmp_path):
    path = payload(tmp_path, PROVES_ITSELF, "prices_2026-04-01.json")
    message = refused(store, PROVES_NOTHING, path)
    assert f"not a payload of {PROVES_NOTHING}" in message
    path = payload(tmp_path, PROVES_NOTHING, "prices_2026-04-01.yml")
    assert f"not a payload of {PROVES_ITSELF}" in refused(store, PROVES_ITSELF, path)


@pytest.mark.parametrize("body", [b"", b"<html>sign in</html>", b"{}", gzip.compress(b"[]", mtime=0)[:-4]])
@pytest.mark.parametrize("slug", sorted(all_sources()))
def test_what_is_no_payload_is_refused_by_every_source(store, tmp_path, monkeypatch, slug, body):
    monkeypatch.setenv(PERMISSION_VARIABLE, slug)
    path = tmp_path / "prices_2026-04-01.bin"
    path.write_bytes(body)
    assert "prices_2026-04-01.bin" in refused(store, slug, path)


def test_an_import_returns_the_accounts_of_the_payload(store, tmp_path):
    path = payload(tmp_path, PROVES_NOTHING, "prices_2026-04-01.json")
    stored, parsed = import_file(all_sources()[PROVES_NOTHING], store, path)
    # Counted in the fixture's two files of expected rows.
    accepted = len((FIXTURES / PROVES_NOTHING / "expected.csv").read_text().splitlines()) - 1
    rows = (FIXTURES / PROVES_NOTHING / "expected_refused.csv").read_text().splitlines()[1:]
    assert sum(len(frame) for frame in parsed.rows.values()) == accepted
    assert len(parsed.refused) == len(rows)
    assert parsed.candidates == accepted + len(rows)
    assert store.load(stored.sidecar).parts[0].body == path.read_bytes()


def test_the_same_file_twice_is_stored_once(store, tmp_path):
    path = payload(tmp_path, PROVES_NOTHING, "prices_2026-04-01.json")
    first, _ = import_file(all_sources()[PROVES_NOTHING], store, path)
    again, _ = import_file(all_sources()[PROVES_NOTHING], store, path)
    assert (first.is_new, again.is_new) == (True, False)
    assert store.sidecars() == [first.sidecar]


def test_an_unchanged_file_of_a_later_day_is_a_sighting(store, tmp_path):
    source = all_sources()[PROVES_NOTHING]
    first, _ = import_file(source, store, payload(tmp_path, PROVES_NOTHING, "prices_2026-04-01.json"))
    later, _ = import_file(source, store, payload(tmp_path, PROVES_NOTHING, "prices_2026-04-08.json"))
    assert (later.is_new, later.sidecar) == (False, first.sidecar)
    assert [s.observed_at for s in store.sightings()] == [datetime(2026, 4, 8, tzinfo=UTC)]
