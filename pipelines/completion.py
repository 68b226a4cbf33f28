"""What the shell offers when a word is half typed.

Belongs here: names that can be had at once: of files, and of the published copy. Does not belong here:
anything that imports Dagster or a source, or that complains: without a copy nothing is offered.
"""

from __future__ import annotations

import duckdb

from pipelines import answers
from pipelines.failure import Failure
from pipelines.home import PROJECT, Home


def sources(incomplete: str) -> list[str]:
    """Slugs of sources that begin so: the names of their modules."""
    modules = (PROJECT / "pipelines" / "sources").glob("[!_]*.py")
    return sorted(path.stem for path in modules if path.stem.startswith(incomplete))


def chips(incomplete: str) -> list[str]:
    """Ids of `mart.chip` that begin so."""
    return _ids("chip", incomplete)


def models(incomplete: str) -> list[str]:
    """Ids of `mart.model` that begin so."""
    return _ids("model", incomplete)


def workloads(incomplete: str) -> list[str]:
    """Ids of `mart.workload` that begin so."""
    return _ids("workload", incomplete)


def versions(incomplete: str) -> list[str]:
    """Published versions that are kept and begin so, `current` among them."""
    try:
        folders = Home.from_environment().published.glob("[!.]*")
        return sorted(path.name for path in folders if path.name.startswith(incomplete))
    except (Failure, OSError):
        return []


def _ids(mart: str, incomplete: str) -> list[str]:
    query = f"select {mart}_id from mart.{mart} where starts_with({mart}_id, ?) order by all"
    try:
        with answers.published(Home.from_environment()) as connection:
            return [row[0] for row in connection.execute(query, [incomplete]).fetchall()]
    except (Failure, OSError, duckdb.Error):
        return []
