"""Whole folders and archives become snapshots: each file by itself, with the context that speaks of it."""

from __future__ import annotations

import dataclasses
import io
import os
import tarfile
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_cli import one_error, tokenyield, usage_error

from pipelines import imports
from pipelines.decode import strict_json
from pipelines.failure import Failure
from pipelines.imports import Imported, Skipped
from pipelines.ingest import ImportRefused
from pipelines.run_context import template
from pipelines.snapshots import SnapshotStore
from pipelines.source import NotApplicable, Part, Source, SourceError, all_sources

FIXTURES = Path(__file__).parent / "fixtures"
OCI = (FIXTURES / "oci_price_list" / "payload.json").read_bytes()  # its moment stands in its name
PRICES = b"chip,valid_from,usd_per_gpu_hour\nH100 SXM,2026-01-01,2.40\n"  # its price type in a context
ON_DEMAND, SPOT, RESERVED = b"price_type: on_demand\n", b"price_type: spot\n", b"price_type: owning_cost\n"
KINDS = ["folder", "runs.zip", "runs.tar", "runs.tar.gz"]

Files = dict[str, bytes]


def made(place: Path, kind: str, files: Files) -> Path:
    """The same files as a folder or as an archive."""
    path = place / kind
    if kind == "folder":
        for name, body in files.items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(body)
    elif kind.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as archive:
            for name, body in files.items():
                archive.writestr(name, body)
    else:
        with tarfile.open(path, "w:gz" if kind.endswith("gz") else "w") as archive:
            for name, body in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(body)
                archive.addfile(info, io.BytesIO(body))
    return path


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


def run(store: SnapshotStore, source: Source | str, *paths: Path, **options) -> list:
    found = all_sources()[source] if isinstance(source, str) else source
    return list(imports.run(found, store, imports.plan(found, list(paths)), **options))


def stored_context(store: SnapshotStore) -> dict[str, str]:
    """The price type that went in with each file, by its name in the store."""
    return {s.parts[0]["name"]: s.context.get("price_type") for s in store.sidecars()}


def only_failure(outcomes: list) -> str:
    (failure,) = outcomes
    assert isinstance(failure, Failure), failure
    return str(failure)


# What becomes of each file


@pytest.mark.parametrize("kind", KINDS)
def test_every_payload_is_a_snapshot_of_its_own_with_its_own_bytes(store, tmp_path, kind):
    files = {"2026/oci-2026-04-01.json": OCI, "oci-2026-04-08.json": OCI + b"\n"}
    outcomes = run(store, "oci_price_list", made(tmp_path, kind, files))
    assert [o.name for o in outcomes] == [f"{tmp_path}/{kind}/{name}" for name in files]
    assert all(o.stored.is_new for o in outcomes)
    assert {s.observed_at: store.load(s).parts[0] for s in store.sidecars()} == {
        datetime(2026, 4, 1, tzinfo=UTC): Part("oci-2026-04-01.json", OCI),
        datetime(2026, 4, 8, tzinfo=UTC): Part("oci-2026-04-08.json", OCI + b"\n"),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_file_alone_or_in_a_bundle_is_one_snapshot(store, tmp_path, kind):
    run(store, "oci_price_list", made(tmp_path, kind, {"a/oci-2026-04-01.json": OCI}))
    alone = tmp_path / "oci-2026-04-01.json"
    alone.write_bytes(OCI)
    (again,) = run(store, "oci_price_list", alone)
    assert not again.stored.is_new
    assert len(store.sidecars()) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_file_stops_no_other_and_documents_are_skipped(store, tmp_path, kind):
    files = {
        "a.json": b"{}",
        "README.md": b"# What this is",
        "LICENSE": b"yours",
        "oci-2026-04-01.json": OCI,
        "z.log": b"done",
        "z.csv": b"a,b\n1,2\n",
    }
    outcomes = run(store, "oci_price_list", made(tmp_path, kind, files))
    refused = [str(o) for o in outcomes if isinstance(o, Failure)]
    assert [r.split(": ")[0].rsplit("/", 1)[1] for r in refused] == ["a.json", "z.csv"]
    assert all("not a payload of oci_price_list" in r and "\n" not in r for r in refused)
    skipped = {Path(o.name).name: o.what for o in outcomes if isinstance(o, Skipped)}
    assert skipped == dict.fromkeys(("README.md", "LICENSE", "z.log"), "no payload by its name")
    assert [Path(o.name).name for o in outcomes if isinstance(o, Imported)] == ["oci-2026-04-01.json"]


def test_a_document_is_refused_where_documents_are_the_payload(store, tmp_path):
    page = (FIXTURES / "nebius" / "payload.md").read_bytes()
    files = {"1-2026-07-01.md": b"# another page", "2-2026-07-01.md": page, "3.txt": b"notes"}
    skipped_or_not = run(store, "nebius", made(tmp_path, "folder", files))
    assert [type(o) for o in skipped_or_not] == [Imported, ImportRefused, Skipped]
    assert "1-2026-07-01.md: not a payload of nebius" in str(skipped_or_not[1])


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_in_a_bundle_is_refused_and_not_opened(store, tmp_path, kind):
    inner = made(tmp_path, "inner.zip", {"oci-2026-04-01.json": OCI}).read_bytes()
    message = only_failure(
        run(store, "oci_price_list", made(tmp_path, kind, {"a/inner-2026-04-01.zip": inner}))
    )
    assert "inner-2026-04-01.zip: not a payload of oci_price_list" in message
    assert "an archive is opened only by itself" in message
    assert store.sidecars() == []


def test_an_archive_that_the_source_itself_reads_is_its_payload(store, tmp_path):
    (payload,) = (FIXTURES / "gpuhunt_catalog").glob("payload*.zip")
    named = tmp_path / "catalogue-2026-08-18.zip"
    named.write_bytes(payload.read_bytes())
    (alone,) = run(store, "gpuhunt_catalog", named)
    assert store.load(alone.stored.sidecar).parts[0].body == payload.read_bytes()
    (inside,) = run(store, "gpuhunt_catalog", made(tmp_path, "folder", {named.name: payload.read_bytes()}))
    assert not inside.stored.is_new


def test_nothing_of_a_bad_archive_is_stored_and_other_paths_go_on(store, tmp_path):
    bad = made(tmp_path, "runs.tar", {"oci-2026-04-01.json": OCI, "../x": b""})
    with pytest.raises(Failure, match="leads out of it"):
        run(store, "oci_price_list", bad)
    assert store.sidecars() == []
    good = made(tmp_path, "folder", {"oci-2026-04-08.json": OCI})
    refused, imported = run(store, "oci_price_list", bad, good)
    assert "leads out of it" in str(refused)
    assert imported.stored.sidecar.observed_at == datetime(2026, 4, 8, tzinfo=UTC)


# Contexts


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_context_speaks_of_a_file(store, tmp_path, kind):
    files = {
        "context.yaml": ON_DEMAND,
        "top-2026-01-01.csv": PRICES,
        "deep/er/inherits-2026-01-02.csv": PRICES,
        "own/context.yaml": SPOT,
        "own/folder-2026-01-03.csv": PRICES,
        "own/file-2026-01-04.csv": PRICES,
        "own/file-2026-01-04.csv.context.yaml": RESERVED,
    }
    outcomes = run(store, "contract_prices", made(tmp_path, kind, files))
    assert len(outcomes) == 4
    assert stored_context(store) == {
        "top-2026-01-01.csv": "on_demand",
        "inherits-2026-01-02.csv": "on_demand",
        "folder-2026-01-03.csv": "spot",
        "file-2026-01-04.csv": "owning_cost",
    }


def test_a_context_above_the_named_folder_is_not_looked_for(store, tmp_path):
    root = made(tmp_path, "folder", {"context.yaml": ON_DEMAND, "in/p-2026-01-01.csv": PRICES})
    assert "price_type is stated neither" in only_failure(run(store, "contract_prices", root / "in"))


def test_a_context_is_not_merged_with_the_one_above(store, tmp_path):
    files = {"context.yaml": ON_DEMAND, "p-2026-01-01.csv": PRICES, "p-2026-01-01.csv.context.yaml": b"{}"}
    message = only_failure(run(store, "contract_prices", made(tmp_path, "folder", files)))
    assert "price_type is stated neither" in message


def test_the_stated_context_is_for_files_that_have_none(store, tmp_path):
    stated = tmp_path / "stated.yaml"
    stated.write_bytes(SPOT)
    files = {
        "none-2026-01-01.csv": PRICES,
        "same-2026-01-02.csv": PRICES,
        "same-2026-01-02.csv.context.yaml": b"'price_type': \"spot\" # the same in other words",
        "other-2026-01-03.csv": PRICES,
        "other-2026-01-03.csv.context.yaml": ON_DEMAND,
    }
    root = made(tmp_path, "folder", files)
    outcomes = run(store, "contract_prices", root, context_file=stated)
    (refused,) = [str(o) for o in outcomes if isinstance(o, Failure)]
    assert "other-2026-01-03.csv: --context and" in refused
    assert "state different things" in refused
    assert stored_context(store) == {"none-2026-01-01.csv": "spot", "same-2026-01-02.csv": "spot"}
    (alone,) = run(store, "contract_prices", root / "other-2026-01-03.csv", context_file=stated)
    assert "state different things" in str(alone)


def test_the_stated_context_may_lie_in_the_folder_and_is_no_payload(store, tmp_path):
    root = made(tmp_path, "folder", {"base.yaml": SPOT, "p-2026-01-01.csv": PRICES})
    outcomes = run(store, "contract_prices", root, context_file=root / "base.yaml")
    assert Counter(map(type, outcomes)) == {Imported: 1, Skipped: 1}


@pytest.mark.parametrize("kind", KINDS)
def test_a_context_of_a_file_that_is_not_there_is_refused(store, tmp_path, kind):
    files = {"context.yaml": ON_DEMAND, "p-2026-01-01.csv": PRICES, "q-2026-01-01.csv.context.yaml": SPOT}
    refused, imported = run(store, "contract_prices", made(tmp_path, kind, files))
    assert "q-2026-01-01.csv.context.yaml: a context of no file" in str(refused)
    assert isinstance(imported, Imported)


@pytest.mark.parametrize("body", [b"- 1", b"a: [", b"a: 1\na: 2", b"2026-01-01: x", b"a: {2026-01-01: x}"])
def test_a_context_that_cannot_be_read_refuses_its_files_in_one_line(store, tmp_path, body):
    root = made(tmp_path, "folder", {"context.yaml": body, "p-2026-01-01.csv": PRICES})
    message = only_failure(run(store, "contract_prices", root))
    assert "context.yaml: " in message
    assert "\n" not in message


def test_a_shells_star_names_contexts_too(store, tmp_path):
    files = {"p-2026-01-01.csv": PRICES, "p-2026-01-01.csv.context.yaml": SPOT, "context.yaml": ON_DEMAND}
    root = made(tmp_path, "folder", files)
    outcomes = run(store, "contract_prices", *sorted(root.iterdir()))
    assert [type(o) for o in outcomes] == [Imported]
    assert stored_context(store) == {"p-2026-01-01.csv": "spot"}


# The moment of a measurement


def not_ours(snapshot):
    if not isinstance(strict_json(snapshot.parts[0].body), list):
        raise SourceError("no list of runs")
    yield NotApplicable("benchmark_result", "of_the_test", "")


MEASURES = dataclasses.replace(
    all_sources()["inferencex"], slug="measures", parse=not_ours, requests=None, observed_at=None
)


def measured(
    store: SnapshotStore, tmp_path: Path, context: bytes, source: Source = MEASURES, **options
) -> list:
    files = {"run.json": b"[]", "run.json.context.yaml": context}
    return run(store, source, made(tmp_path, "folder", files), **options)


@pytest.mark.parametrize("day", [b"2026-07-01", b"'2026-07-01'"])
def test_the_day_of_a_measurement_proves_its_moment(store, tmp_path, day):
    (imported,) = measured(store, tmp_path, b"measured_on: " + day)
    assert imported.stored.sidecar.observed_at == datetime(2026, 7, 1, tzinfo=UTC)


def test_a_stated_moment_is_better_than_the_day_of_a_measurement(store, tmp_path):
    seen = datetime(2026, 7, 9, tzinfo=UTC)
    (imported,) = measured(store, tmp_path, b"measured_on: 2026-07-01", stated=seen)
    assert imported.stored.sidecar.observed_at == seen


@pytest.mark.parametrize(
    ("context", "reason"),
    [
        (b"measured_on: 2199-01-01", "lies in the future"),
        (b"measured_on: July", "the context's measured_on: not_a_date"),
        (b"measured_on: 2026-07-01 10:00:00", "the context's measured_on: not_a_date"),
        (b"measured_on:", "--observed-at YYYY-MM-DD"),
    ],
)
def test_a_day_that_proves_nothing_is_refused(store, tmp_path, context, reason):
    assert reason in only_failure(measured(store, tmp_path, context))
    assert store.sidecars() == []


def test_a_price_is_not_dated_by_a_measurement(store, tmp_path):
    price = dataclasses.replace(MEASURES, kind="index")
    assert "--observed-at" in only_failure(measured(store, tmp_path, b"measured_on: 2026-07-01", price))


def test_what_is_no_payload_is_said_before_a_date_is_asked_for(store, tmp_path):
    message = only_failure(run(store, MEASURES, made(tmp_path, "folder", {"x.json": b"{}"})))
    assert message.endswith("x.json: not a payload of measures: no list of runs")


# The command


def test_the_empty_context_is_printed_and_needs_nothing_else(tmp_path):
    done = tokenyield(tmp_path, "import", "--context-template")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", template())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "name a source"),
        (["oci_price_list"], "name a source"),
        (["--context-template", "oci_price_list"], "--context-template stands alone"),
        (["--context-template", "--observed-at", "2026-01-01"], "--context-template stands alone"),
        (["--context-template", "--context", "x.yaml"], "--context-template stands alone"),
    ],
)
def test_a_wrong_combination_is_a_usage_error(tmp_path, arguments, complaint):
    assert complaint in usage_error(tokenyield(tmp_path, "import", *arguments))


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_is_told_line_by_line_with_a_summary_and_exit_code_1(tmp_path, kind):
    files = {
        "oci-2026-04-01.json": OCI,
        "sub/oci-2026-04-01.json": OCI,
        "bad.json": b"{}",
        "README.md": b"#",
        ".DS_Store": b"x",
    }
    path = made(tmp_path, kind, files)
    done = tokenyield(tmp_path / "home", "import", "oci_price_list", str(path))
    assert (done.returncode, done.stdout) == (1, "")
    lines = done.stderr.splitlines()
    assert sum(line.startswith("error: ") for line in lines) == 1
    assert any(line.startswith(f"error: {path}/bad.json: not a payload") for line in lines)
    assert f"{path}/oci-2026-04-01.json: stored as oci_price_list/20260401T000000Z-" in done.stderr
    assert "1 stored, 1 already stored, 1 refused; skipped: 1 hidden, 1 no payload by its name" in lines
    assert "Traceback" not in done.stderr
    assert lines[-1].startswith("exit code 1: ")


def test_a_folder_without_a_refusal_ends_in_exit_code_0(tmp_path):
    path = made(tmp_path, "folder", {"1-2026-04-01.json": OCI, "2-2026-04-08.json": OCI + b"\n"})
    for summary in ("2 stored, 0 already stored, 0 refused", "0 stored, 2 already stored, 0 refused"):
        done = tokenyield(tmp_path / "home", "import", "oci_price_list", str(path))
        assert (done.returncode, done.stdout) == (0, "")
        assert summary in done.stderr.splitlines()


def test_a_folder_without_any_payload_is_an_error(tmp_path):
    path = made(tmp_path, "folder", {"README.md": b"#", ".x": b""})
    done = tokenyield(tmp_path / "home", "import", "oci_price_list", str(path))
    assert done.returncode == 1
    assert "error: no file there could be a payload of oci_price_list" in done.stderr
    assert "1 hidden, 1 no payload by its name" in done.stderr


def test_a_bad_archive_alone_is_one_error(tmp_path):
    path = made(tmp_path, "runs.zip", {"oci-2026-04-01.json": OCI, "../x": b""})
    error = one_error(tokenyield(tmp_path / "home", "import", "oci_price_list", str(path)))
    assert "'../x' leads out of it; nothing of this archive is taken in" in error
    assert not (tmp_path / "home").exists()


def test_a_name_that_is_no_utf_8_is_printed_in_any_terminal(tmp_path):
    root = tmp_path / "folder"
    root.mkdir()
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9-2026-04-01.json")).write_bytes(OCI)
    done = tokenyield(tmp_path / "home", "import", "oci_price_list", str(root))
    assert done.returncode == 0, done.stderr
    assert "caf\\xe9-2026-04-01.json: stored" in done.stderr
    (sidecar,) = SnapshotStore(tmp_path / "home" / "snapshots").sidecars()
    assert sidecar.parts[0]["name"] == "caf\\xe9-2026-04-01.json"


def test_several_files_go_on_after_one_that_is_not_there(tmp_path):
    good = made(tmp_path, "folder", {"oci-2026-04-01.json": OCI}) / "oci-2026-04-01.json"
    done = tokenyield(tmp_path / "home", "import", "oci_price_list", str(tmp_path / "none.json"), str(good))
    assert done.returncode == 1
    assert f"error: {tmp_path}/none.json: No such file or directory" in done.stderr
    assert "1 stored, 0 already stored, 1 refused" in done.stderr
