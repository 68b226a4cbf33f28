"""What the tests share: homes built once, by the same steps as a real run, and queries on them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

# The suite of faults tells what it saw; its hooks count from here alone.
from faults.fault_report import FOLDERS, pytest_pyfunc_call, pytest_terminal_summary, report  # noqa: F401

from pipelines import ingest, run
from pipelines.home import PROJECT, Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import all_sources

# Inside the 45 days for which the published index of 20 October 2026 may stand as a price.
AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
SHARED_DATA = Path(os.environ.get("TOKENYIELD_SHARED_DATA") or PROJECT.parent / "shared" / "data")

FAULTS, _ = FOLDERS

Query = Callable[..., list[tuple[Any, ...]]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The home of real files takes more than a minute to build, that of all faults four: slow."""
    for item in items:
        names = {
            *getattr(item, "fixturenames", ()),
            *getattr(item, "callspec", item).__dict__.get("_idlist", ()),
        }
        if names & {"imported", "imported_home"} or item.path.parent == FAULTS:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _no_home_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A test that forgets to name its home must not touch the real one."""
    monkeypatch.setenv("TOKENYIELD_HOME", str(tmp_path / "home-of-nobody"))


def build_home(root: Path) -> Home:
    """Load, model, record and publish what is stored below `root`, as of AS_OF."""
    home = Home(root)
    run.load(home, AS_OF)
    run.build(home)
    run.record(home)
    run.publish(home)
    return home


@pytest.fixture(scope="session")
def embedded_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The embedded default: seeds alone. Shared by all tests, so only to be read."""
    return build_home(tmp_path_factory.mktemp("embedded"))


@pytest.fixture(scope="session")
def imported_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """Seeds and the real files of the three first sources. Only to be read; skips where they are absent."""
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real payloads at {SHARED_DATA}; set TOKENYIELD_SHARED_DATA")
    home = Home(tmp_path_factory.mktemp("imported"))
    store, found = SnapshotStore(home.snapshots), all_sources()
    captured = datetime(2026, 5, 5, tzinfo=UTC)
    wanted: list[tuple[str, str, datetime | None]] = [
        ("gcp_machine_prices", "rental/gcp_cyclenerd_pricing_yml/*.yml.gz", None),
        ("oci_price_list", "rental/oci_opencost/oci_products_*.json", None),
        ("inferencex", "benchmarks/inferencex_api/captured_2026-05-05/benchmarks*.json", captured),
    ]
    for slug, pattern, stated in wanted:
        paths = sorted(SHARED_DATA.glob(pattern))
        assert paths, f"{SHARED_DATA} holds nothing like {pattern}"
        for path in paths:
            ingest.import_file(found[slug], store, path, stated)
    return build_home(home.root)


def _query(home: Home) -> Iterator[Query]:
    connection = duckdb.connect(str(home.current_database), read_only=True)
    connection.execute("set TimeZone = 'UTC'")
    try:
        yield lambda sql, *values: connection.execute(sql, list(values)).fetchall()
    finally:
        connection.close()


@pytest.fixture
def embedded(embedded_home: Home) -> Iterator[Query]:
    """Ask the published copy of the embedded default."""
    yield from _query(embedded_home)


@pytest.fixture
def imported(imported_home: Home) -> Iterator[Query]:
    """Ask the published copy that holds the real files."""
    yield from _query(imported_home)


@pytest.fixture
def answer(embedded_home: Home) -> Iterator[Callable[..., list[dict[str, Any]]]]:
    """Ask the embedded default a question of the cookbook: rows by column, those that hold what is wanted."""
    connection = duckdb.connect(str(embedded_home.current_database), read_only=True)
    connection.execute("set TimeZone = 'UTC'")

    def ask(question: str, **wanted: Any) -> list[dict[str, Any]]:
        file = PROJECT / "sql" / "cookbook" / f"{question}.sql"
        cursor = connection.execute(file.read_text(encoding="utf-8"))
        names = [column[0] for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    try:
        yield ask
    finally:
        connection.close()
