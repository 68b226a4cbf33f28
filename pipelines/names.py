"""Names that a person types: what the shell offers to complete, and which one was meant.

Belongs here: lists of names that are quick to have, and the nearest of them. Does not belong here: what a
name means. Nothing here may be slow or complain: it runs while somebody presses a key.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path

import duckdb

from pipelines.home import Home

SOURCES = Path(__file__).parent / "sources"


def sources(incomplete: str) -> list[str]:
    """Slugs of sources that begin so; a slug is the name of its file, so that none has to be imported."""
    slugs = sorted(path.stem for path in SOURCES.glob("[!_]*.py"))
    return [slug for slug in slugs if slug.startswith(incomplete)]


def chips(incomplete: str) -> list[str]:
    """Ids of chips of the published copy that begin so; none where nothing is published."""
    return _published("chip", incomplete)


def models(incomplete: str) -> list[str]:
    """Ids of models of the published copy that begin so."""
    return _published("model", incomplete)


def workloads(incomplete: str) -> list[str]:
    """Ids of workloads of the published copy that begin so."""
    return _published("workload", incomplete)


def _published(table: str, incomplete: str) -> list[str]:
    try:
        with duckdb.connect(str(Home.from_environment().current_database), read_only=True) as connection:
            query = f"select {table}_id from mart.{table} where starts_with({table}_id, ?) order by 1"
            return [name for (name,) in connection.execute(query, [incomplete]).fetchall()]
    except Exception:
        return []  # a list that cannot be had is no reason to disturb somebody who types


def meant(name: str, known: Iterable[str]) -> str:
    """`; did you mean X?` where a known name is near, else nothing."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
