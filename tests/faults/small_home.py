"""A home in little: the seeds as they are stored, a few models, published within a second.

Belongs here: its steps, its fingerprints, and processes that run one of them, or the command. Does not
belong here: any fault.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from pipelines import publish as publishing
from pipelines import run, sql_build, sql_models
from pipelines.home import PROJECT, Home
from pipelines.warehouse import Warehouse

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MODELS = sql_models.needed(run.models(), ["mart.chip", "mart.rental_price"])

Fingerprints = dict[str, tuple[int, str]]


def load(home: Home) -> None:
    """Load what is stored."""
    run.load(home, NOW, now=NOW)


def model(home: Home) -> None:
    """Build the few models."""
    with Warehouse(home.warehouse).write() as connection:
        sql_build.build(connection, MODELS)
        connection.execute("delete from raw.build")
        connection.execute("insert into raw.build select as_of from raw.run")


def publish(home: Home) -> None:
    """Publish them."""
    publishing.publish(Warehouse(home.warehouse), MODELS, (), home.published)


def everything(home: Home) -> None:
    """All three."""
    load(home)
    model(home)
    publish(home)


def fingerprints(home: Home) -> Fingerprints:
    """Rows and fingerprint of every table of the warehouse."""
    with Warehouse(home.warehouse).read() as connection:
        names = connection.execute("select schema_name || '.' || table_name from duckdb_tables()").fetchall()
        return {
            name: connection.execute(publishing.fingerprint_query(connection, name)).fetchone()
            for (name,) in names
        }


def lost(before: Fingerprints, home: Home) -> list[str]:
    """The tables that are not there any more as they were."""
    now = fingerprints(home)
    return sorted(name for name, found in before.items() if now.get(name) != found)


def process(home: Home, step: str, before: str = "", **environment: str) -> subprocess.Popen[str]:
    """A process that runs a step of this module and ends as the command does; `before` is run first."""
    code = (
        "import os, resource, signal, sys\nfrom pathlib import Path\n"
        "import small_home\nfrom pipelines import cli, publish, warehouse\nfrom pipelines.home import Home\n"
        f"home = Home(Path({str(home.root)!r}))\n{before}\n"
        f"cli.app = lambda: small_home.{step}(home)\ncli.main()\n"
    )
    path = os.pathsep.join((str(Path(__file__).parent), str(PROJECT)))
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": path, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(found: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and standard error of a process, within two minutes."""
    _, told = found.communicate(timeout=120)
    return found.returncode, told


def command(home: Home, *words: str, project: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    """The whole `tokenyield` command on a home, of this project or of a copy of it."""
    return subprocess.run(
        [sys.executable, "-m", "pipelines.cli", *words],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project), "TOKENYIELD_HOME": str(home.root)},
        capture_output=True,
        text=True,
        check=False,
    )
