"""A source that nobody foresaw: one file and one folder, and its prices stand in the tables."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pipelines.home import PROJECT

SOURCE = '''"""Prices of a cloud that this test made up: dollars per GPU-hour."""

from __future__ import annotations

from pipelines.contracts import ContractError
from pipelines.decode import amount, strict_json
from pipelines.source import Accepted, NotApplicable, Provider, Rejected, Source, SourceError

KIND = "rental_quote"


def parse(snapshot):
    """Yield one outcome per plan; raises SourceError when the payload is not the list of plans."""
    document = strict_json(snapshot.parts[0].body)
    plans = document.get("plans") if isinstance(document, dict) else None
    if not plans:
        raise SourceError("no plans")
    for plan in plans:
        if plan["gpu"] is None:
            yield NotApplicable(KIND, "no_gpu", plan["name"])
            continue
        try:
            price = amount("usd", plan["usd"])
        except ContractError as error:
            yield Rejected(KIND, error.reason, plan["name"], error.field, error.value)
            continue
        row = {
            "provider": "newcomer_cloud", "offer_key": plan["name"], "raw_gpu_name": plan["gpu"],
            "price": price, "currency": "USD", "price_unit": "gpu_hour", "price_type": "on_demand",
            "availability": "listed", "listing_kind": "bundle", "observed_at": snapshot.observed_at,
        }
        yield Accepted(KIND, row, plan["name"])


SOURCE = Source(
    kind="rental",
    title="Newcomer plans",
    homepage="https://example.com",
    licence="made up",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=7,
    parse=parse,
    providers=(Provider("newcomer_cloud", "Newcomer Cloud", "neocloud", "specialist"),),
)
'''
PAYLOAD = """{"plans": [
  {"name": "big", "gpu": "H100 SXM", "usd": 2.34},
  {"name": "odd", "gpu": "H100 SXM", "usd": "call us"},
  {"name": "cpu", "gpu": null, "usd": 0.1}
]}
"""
EXPECTED = (
    "kind,row_number,provider,offer_key,raw_gpu_name,price\nrental_quote,0,newcomer_cloud,big,H100 SXM,2.34\n"
)
REFUSED = "row_number,kind,verdict,reason,field,value,locator\n{}2,rental_quote,not_applicable,no_gpu,,,cpu\n"
ODD = "1,rental_quote,rejected,not_a_number,usd,call us,odd\n"


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
    for file in ("pyproject.toml", "dagster.yaml", "tests/conftest.py", "tests/test_sources.py"):
        shutil.copyfile(PROJECT / file, copy / file)
    (copy / "pipelines" / "sources" / "newcomer.py").write_text(SOURCE)
    fixture = copy / "tests" / "fixtures" / "newcomer"
    fixture.mkdir()
    (fixture / "payload.json").write_text(PAYLOAD)
    (fixture / "expected.csv").write_text(EXPECTED)
    (fixture / "expected_refused.csv").write_text(REFUSED.format(ODD))
    return copy


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
