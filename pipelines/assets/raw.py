"""The raw tables: seeds and stored snapshots, parsed and loaded.

Belongs here: calling `run.load`, and a word on payloads whose clock was wrong. Does not belong here: what
loading means (`raw.py`).
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

import dagster as dg

from pipelines import run
from pipelines.assets.sources import TABLE_OF_KIND, fetched_sources, snapshot_key
from pipelines.contracts import ROW_KINDS
from pipelines.home import Home
from pipelines.raw import OWN_TABLES, Loaded
from pipelines.seed_shapes import REFERENCE


class LoadConfig(dg.Config):
    """as_of: the moment up to which facts are known to the run, ISO 8601 with zone; empty: now."""

    as_of: str = ""


def _specs() -> list[dg.AssetSpec]:
    described = {name: kind.description for name, kind in ROW_KINDS.items()}
    described |= {name: reference.kind.description for name, reference in REFERENCE.items()}
    described |= dict.fromkeys(OWN_TABLES, "Kept by the loader.")
    return [
        dg.AssetSpec(
            ["raw", name],
            group_name="raw",
            description=description,
            deps=[snapshot_key(s) for s in fetched_sources() if TABLE_OF_KIND[s.kind] == name],
        )
        for name, description in described.items()
    ]


def ahead_of_the_clock(loaded: Iterable[Loaded], now: datetime) -> list[str]:
    """A line for each payload that says it was stored later than `now`: a clock is wrong, or was.

    It stays as it is and counts from that moment on, as if it had been seen then.
    """
    return [
        f"raw  {found.sidecar.source}/{found.sidecar.snapshot_id}: stored at "
        f"{found.sidecar.recorded_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC, and it is {now:%Y-%m-%d %H:%M}: "
        "a clock is wrong, or was; it counts from then on unless you move its folder out of snapshots/ and "
        "build from nothing (docs/operations.md)"
        for found in loaded
        # Of a damaged one nobody knows when it was stored; that it is damaged is told beside this.
        if found.sidecar.recorded_at is not None and found.sidecar.recorded_at > now
    ]


@dg.multi_asset(name="raw", specs=_specs())
def raw_tables(context: dg.AssetExecutionContext, config: LoadConfig) -> Iterator[dg.MaterializeResult]:
    """Everything stored, as typed rows."""
    as_of = datetime.fromisoformat(config.as_of).astimezone(UTC) if config.as_of else None

    def progress(loaded: Loaded) -> None:
        counts = f"{loaded.parsed.candidates} candidates" if loaded.parsed else loaded.reason
        context.log.info(f"raw  {loaded.sidecar.source}/{loaded.sidecar.snapshot_id}: {counts}")

    loaded = run.load(Home.from_environment(), as_of, progress)
    context.log.info(f"raw  {len(loaded)} payloads new to it")
    for told in ahead_of_the_clock(loaded, datetime.now(UTC)):
        context.log.warning(told)
    for key in context.selected_asset_keys:
        yield dg.MaterializeResult(asset_key=key)
