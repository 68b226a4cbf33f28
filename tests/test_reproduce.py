"""What was published is made again from the bytes: all of it matches, and a changed byte or value is named.

Days pass by a clock that is handed in. H200, DeepSeek R1 in FP8: 148.21 tok/s per GPU is 0.533556 million
tokens an hour; at $5.33 a million cost $9.98958.
"""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from conftest import AS_OF, build_home
from price_world import _needed
from test_cli import one_error, tokenyield

from pipelines import ingest, reproduce, run, sql_build
from pipelines.cut import CutGone, CutUnknown, of_warehouse, read, store_at, store_of, write
from pipelines.home import Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part, all_sources
from pipelines.warehouse import Warehouse

pytestmark = pytest.mark.slow  # builds a version twice

FIXTURES = Path(__file__).parent / "fixtures"
NEEDED = _needed(["mart.cost_per_million_tokens_daily", "mart.price_series"])
ARCHIVE = b"day,gpu,usd\n2026-11-10,h200-sxm-141,5.50\n"
CONTEXT = {
    "index_name": "savrn_ai_index", "price_type": "on_demand", "currency": "USD", "unit": "gpu_hour",
    "columns": {"date": "day", "chip": "gpu", "value": "usd"},
}  # fmt: skip
H200 = "yield h200-sxm-141, deepseek-r1-0528, fp8, fixed-8192-1024, measured, max_throughput, "
H200 += "index:savrn_ai_index:on_demand"


def noon(day: int) -> datetime:
    return datetime(2026, 11, day, 12, tzinfo=UTC)


def build(home: Home, day: int) -> None:
    """Load as at noon of a day of November, and build what a record is taken from."""
    run.load(home, noon(day), now=noon(day))
    with Warehouse(home.warehouse).write() as connection:
        sql_build.build(connection, NEEDED)
        connection.execute("delete from raw.build")
        connection.execute("insert into raw.build select as_of from raw.run")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Records of the 24th and the 27th; on the 28th an archive came with another price from the 10th on, and
    then the records of the 25th and 26th were written. Later still the index left the headline in the seeds.
    Only to be read."""
    home = Home(tmp_path_factory.mktemp("recorded") / "home")
    for day in (24, 27):
        build(home, day)
        assert run.record(home, noon(day) + timedelta(hours=1))[1].endswith("written")
    early = noon(28) - timedelta(hours=6)
    SnapshotStore(home.snapshots).add(
        "index_file", (Part("archive.csv", ARCHIVE),), observed_at=early, recorded_at=early, context=CONTEXT
    )
    build(home, 28)
    late = run.catch_up(home, noon(28) + timedelta(hours=1))
    assert [found.slice for found in late] == ["2026-11-25", "2026-11-26"]
    new_seed(home, "price_series", b",45,,1,true", b",45,,,true", noon(28) + timedelta(hours=2))
    return home


def new_seed(home: Home, name: str, old: bytes, new: bytes, at: datetime) -> None:
    """Another version of a reference seed, stored at a moment."""
    store = SnapshotStore(home.snapshots)
    before = store.load(next(found for found in store.sidecars("seeds") if found.slice == name)).parts[0].body
    assert old in before
    part = Part(f"{name}.csv", before.replace(old, new))
    store.add("seeds", (part,), observed_at=at, recorded_at=at, slice_name=name)


def copied(home: Home, to: Path) -> Home:
    shutil.copytree(home.root, to, symlinks=True)
    return Home(to)


def flip(path: Path, at: int = -9) -> None:
    """Change one bit of a file."""
    body = bytearray(path.read_bytes())
    body[at] ^= 1
    path.write_bytes(body)


def payload_of(home: Home, source: str) -> Path:
    """The first stored payload of a source."""
    return sorted((home.snapshots / source).glob("*/part-0.gz"))[0]


# A recorded day


@pytest.mark.parametrize("day", ["2026-11-24", "2026-11-26"], ids=["of its day", "written late"])
def test_a_recorded_day_comes_out_again_whatever_was_stored_later(recorded, day):
    done = tokenyield(recorded.root, "reproduce", day)
    assert done.returncode == 0, done.stdout + done.stderr
    *verdicts, total = done.stdout.splitlines()
    assert f"MATCH     {H200}: 9.98957935062" in verdicts
    assert all(line.startswith("MATCH ") for line in verdicts)
    assert total == f"{len(verdicts)} match, 0 do not"
    assert len(verdicts) > 50


def test_a_record_that_says_another_value_is_a_mismatch_that_names_it(recorded, tmp_path):
    home = copied(recorded, tmp_path / "home")
    store = SnapshotStore(home.snapshots)
    (old,) = (found for found in store.sidecars("record") if found.slice == "2026-11-24")
    document = json.loads(store.load(old).parts[0].body)
    for row in document["yields"]:
        named = (row["chip_id"], row["speed_tier"], row["price_series_id"])
        if named == ("h200-sxm-141", "max_throughput", "index:savrn_ai_index:on_demand"):
            row["usd_per_million_tokens"] = 9.5
    shutil.rmtree(home.snapshots / "record" / old.snapshot_id)
    part = Part(old.parts[0]["name"], json.dumps(document).encode())
    times = {"observed_at": old.observed_at, "recorded_at": old.recorded_at}
    store.add("record", (part,), **times, slice_name=old.slice, context=old.context)
    done = tokenyield(home.root, "reproduce", "2026-11-24")
    assert done.returncode == 1
    told = done.stdout.splitlines()
    place = told.index(f"MISMATCH  {H200}")
    assert told[place + 1].strip() == "usd_per_million_tokens: recorded 9.5, recomputed 9.98957935062"
    assert told[-1].endswith("match, 1 do not")


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("2026-11-23", "2026-11-23 has no record: 4 days are recorded, 2026-11-24 to 2026-11-27"),
        ("2026-02-30", "no day of the calendar"),
        ("current", "no published version is named 'current'; kept are: none"),
        ("../x", "no published version"),
    ],
)
def test_what_is_not_there_is_one_line(recorded, what, said):
    assert said in one_error(tokenyield(recorded.root, "reproduce", what))


@pytest.mark.parametrize("source", ["published_indices", "index_file", "seeds", "record"])
def test_a_changed_byte_in_any_payload_fails_and_names_the_file(recorded, tmp_path, source):
    home = copied(recorded, tmp_path / "home")
    path = payload_of(home, source)
    flip(path)
    said = one_error(tokenyield(home.root, "reproduce", "2026-11-24"))
    assert f"{path}: the bytes are not those that were stored" in said


# What a version was made of


def test_a_cut_is_written_and_read_and_shows_what_was_there_then(recorded, tmp_path):
    with Warehouse(recorded.warehouse).read() as connection:
        made_of = of_warehouse(connection)
    write(made_of, tmp_path / "snapshots.json")
    assert read(tmp_path / "snapshots.json") == made_of
    home = copied(recorded, tmp_path / "home")
    store = SnapshotStore(home.snapshots)
    then = store_of(store, made_of).sidecars()
    assert then == [found for found in store.sidecars() if found.recorded_at <= noon(28)]
    assert len(then) == len(store.sidecars()) - 3  # two late records and a seed
    store.add("x", (Part("x", b"x"),), observed_at=AS_OF, recorded_at=AS_OF)
    assert store_of(store, made_of).sidecars() == then


def test_sightings_of_then_are_told_from_later_ones(tmp_path):
    store = SnapshotStore(tmp_path)
    for day in (24, 25, 26):
        store.add("x", (Part("x", b"x"),), observed_at=noon(day), recorded_at=noon(day))
    assert [found.observed_at for found in store_at(store, noon(25)).sightings()] == [noon(25)]
    home = Home(tmp_path / "home")
    shutil.copytree(tmp_path / "x", home.snapshots / "x")
    run.load(home, noon(26), now=noon(26))
    with Warehouse(home.warehouse).read() as connection:
        made_of = of_warehouse(connection)
    assert made_of.sightings["x"].count == 2
    store = SnapshotStore(home.snapshots)
    store.add("x", (Part("x", b"x"),), observed_at=noon(27), recorded_at=noon(27))
    assert [found.observed_at for found in store_of(store, made_of).sightings()] == [noon(25), noon(26)]
    path = home.snapshots / "x" / "sightings.jsonl"
    path.write_text(path.read_text().replace("2026-11-25", "2026-11-23"))
    with pytest.raises(CutGone, match=r"x/sightings\.jsonl: not the sightings of then"):
        store_of(store, made_of)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda folder: shutil.rmtree(folder), id="gone"),
        pytest.param(
            lambda folder: (folder / "sidecar.json").write_text(
                (folder / "sidecar.json").read_text().replace('"url": null', '"url": "x:y"')
            ),
            id="another sidecar",
        ),
    ],
)
def test_a_snapshot_that_is_gone_or_another_is_named(recorded, tmp_path, change):
    with Warehouse(recorded.warehouse).read() as connection:
        made_of = of_warehouse(connection)
    home = copied(recorded, tmp_path / "home")
    folder = payload_of(home, "list_prices").parent
    change(folder)
    with pytest.raises(CutGone, match=folder.name):
        store_of(SnapshotStore(home.snapshots), made_of)


@pytest.mark.parametrize("body", [None, "{}", '{"snapshots": 1, "sightings": []}', "torn"])
def test_a_cut_that_is_not_there_or_torn_says_so(tmp_path, body):
    if body is not None:
        (tmp_path / "snapshots.json").write_text(body)
    with pytest.raises(CutUnknown, match=r"snapshots\.json"):
        read(tmp_path / "snapshots.json")


def test_the_bytes_are_verified_before_anything_else(embedded_home, tmp_path):
    home = Home(tmp_path / "home")
    shutil.copytree(embedded_home.snapshots, home.snapshots)
    shutil.copytree(embedded_home.published, home.published, symlinks=True)
    path = payload_of(home, "deepseek")  # no cost of the headline stands on it
    flip(path)
    done = tokenyield(home.root, "reproduce")
    assert f"{path}: the bytes are not those that were stored" in one_error(done)


# A published version


@pytest.mark.slow
def test_a_version_comes_out_again_also_after_later_loads_of_other_facts(embedded_home, tmp_path):
    home = copied(embedded_home, tmp_path / "home")
    first = (home.published / "current").resolve().name
    store = SnapshotStore(home.snapshots)
    gcp = FIXTURES / "gcp_machine_prices" / "payload.yml"
    ingest.import_file(all_sources()["gcp_machine_prices"], store, gcp)
    # Reference seeds change too: a version is made again with those of then.
    new_seed(home, "live_traffic_factor", b"0.80", b"0.70", datetime.now(UTC))
    build_home(home.root)
    second = (home.published / "current").resolve().name
    assert first != second
    for version in (first, "current"):
        done = tokenyield(home.root, "reproduce", version)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr
        *verdicts, total = done.stdout.splitlines()
        assert total == f"{len(verdicts)} match, 0 do not"
        assert all(line.startswith("MATCH ") for line in verdicts)
        assert sum(line.startswith("MATCH     headline ") for line in verdicts) > 20
        for name in (
            "table mart.cost_per_million_tokens,",
            "table core.rental_quote,",
            "file tokenyield.duckdb",
        ):
            assert any(line.startswith(f"MATCH     {name}") for line in verdicts), name


@pytest.mark.slow
def test_a_changed_value_in_the_published_file_is_a_mismatch_that_names_it(embedded_home, tmp_path):
    home = Home(tmp_path / "home")
    shutil.copytree(embedded_home.snapshots, home.snapshots)
    shutil.copytree(embedded_home.published, home.published, symlinks=True)
    with duckdb.connect(str(home.current_database)) as connection:
        connection.execute("set TimeZone = 'UTC'")
        connection.execute(
            "update mart.headline set on_demand_usd_per_million_tokens = 9.5 "
            "where chip_id = 'h200-sxm-141' and workload_id = 'fixed-8192-1024'"
        )
        connection.execute("delete from mart.chip where chip_id = 'h200-sxm-141'")
        connection.execute("update raw.workload set note = 'x' where workload_id = 'fixed-8192-1024'")
    done = tokenyield(home.root, "reproduce")
    assert done.returncode == 1, done.stderr
    told = done.stdout
    assert "on_demand_usd_per_million_tokens published 9.5, recomputed 9.98957935062" in told
    headline = (
        "headline deepseek-r1-0528, fixed-8192-1024, h200-sxm-141, fp8: on_demand_usd_per_million_tokens"
    )
    assert f"MISMATCH  {headline}\n          published 9.5, recomputed 9.98957935062" in told
    assert "chip_id h200-sxm-141: the row is recomputed alone" in told
    assert "note published x, recomputed" in told
    assert "MISMATCH  file tokenyield.duckdb\n          not the bytes that were published" in told
    assert told.splitlines()[-1].endswith("match, 5 do not")
    assert "MATCH     table mart.cost_per_million_tokens," in told


@pytest.mark.parametrize("damage", ["torn", "no files", "no moment"])
def test_a_version_whose_manifest_is_not_as_written_is_one_line(embedded_home, tmp_path, damage):
    home = Home(tmp_path / "home")
    shutil.copytree(embedded_home.published, home.published, symlinks=True)
    path = home.published / "current" / "manifest.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    if damage == "torn":
        path.write_bytes(path.read_bytes()[:40])
    else:
        said.pop("files" if damage == "no files" else "as_of")
        path.write_text(json.dumps(said), encoding="utf-8")
    error = one_error(tokenyield(home.root, "reproduce"))
    assert f"{path.resolve()} is not as it was written" in error


def test_every_file_of_a_version_is_judged_and_one_that_nobody_published_too(tmp_path):
    (tmp_path / "parquet").mkdir()
    for name in ("manifest.json", "kept", "changed", "parquet/another"):
        (tmp_path / name).write_bytes(b"1")
    # The SHA-256 of the one byte "1".
    one = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    said = {"kept": one, "changed": one.replace("6", "7"), "gone": one}
    found = {verdict.what: verdict.matches for verdict in reproduce._files(tmp_path, said)}
    assert found == {
        "file changed": False, "file gone": False, "file kept": True, "file parquet/another": False,
    }  # fmt: skip


def test_a_published_file_that_no_reader_could_open_is_one_line(tmp_path):
    (tmp_path / "tokenyield.duckdb").write_bytes(b"torn")
    with (
        pytest.raises(reproduce.Damaged, match=r"tokenyield\.duckdb cannot be read"),
        reproduce._side_by_side(tmp_path, tmp_path),
    ):
        pass
