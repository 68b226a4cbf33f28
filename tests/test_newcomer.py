"""A source that nobody foresaw: one file and one folder, and its prices stand in the tables."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.home import PROJECT

pytestmark = pytest.mark.slow  # copies the project

# The example of CONTRIBUTING.md, file by file, so that what it tells a newcomer is what is tested here.
GUIDE = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"(?ms)^`((?:pipelines|tests)/[^`]+)`[^\n]*:\n\n```\w+\n(.*?)^```$", GUIDE))


def ran(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "TOKENYIELD_HOME": str(folder / "home"), "PYTHONPATH": str(folder)},
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with one more source in it."""
    copy = tmp_path_factory.mktemp("newcomer") / "project"
    for folder in ("pipelines", "sql", "seeds", "tests/fixtures"):
        shutil.copytree(PROJECT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "tests" / "faults").mkdir()
    shared = ("tests/conftest.py", "tests/test_sources.py", "tests/faults/fault_report.py")
    for file in ("pyproject.toml", "dagster.yaml", *shared):
        shutil.copyfile(PROJECT / file, copy / file)
    for name, text in FILES.items():
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_text(text, encoding="utf-8")
    return copy


def test_the_guide_shows_one_source_and_its_fixture() -> None:
    assert sorted(FILES) == [
        "pipelines/sources/newcomer.py",
        "tests/fixtures/newcomer/expected.csv",
        "tests/fixtures/newcomer/expected_refused.csv",
        "tests/fixtures/newcomer/payload.json",
    ]


def test_a_newcomer_is_tested_by_the_shared_tests(project: Path) -> None:
    told = ran(project, "pytest", "-q", "-p", "no:cacheprovider", "tests/test_sources.py", "-k", "newcomer")
    assert "3 passed" in told


@pytest.mark.slow
def test_the_prices_of_a_newcomer_reach_the_tables(project: Path) -> None:
    payload = project / "tests" / "fixtures" / "newcomer" / "payload.json"
    cli = "pipelines.cli"
    ran(project, cli, "import", "newcomer", str(payload), "--observed-at", "2026-11-29")
    ran(project, cli, "build", "--as-of", "2026-11-30")
    query = (
        "select provider_id, chip_id, segment, usd_per_gpu_hour from mart.rental_price_daily "
        "where source = 'newcomer' and date = '2026-11-29'"
    )
    told = ran(project, cli, "sql", query, "--format", "csv").splitlines()
    assert told[1:] == ["newcomer_cloud,h100-sxm-80,specialist,2.34"]
    refused = "select reason, locator from mart.rejected_row where source = 'newcomer'"
    assert ran(project, cli, "sql", refused, "--format", "csv").splitlines()[1:] == ["not_a_number,odd"]
