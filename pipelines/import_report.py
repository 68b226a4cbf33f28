"""What became of imported files, said to the person who imported them.

Belongs here: counting outcomes and putting them into words. Does not belong here: the importing itself
(`imports.py`).
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import track

from pipelines import imports
from pipelines.failure import Failure
from pipelines.home import Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import Source


def import_and_tell(
    home: Home,
    source: Source,
    paths: list[Path],
    stated: datetime | None,
    context: Path | None,
    errors: Console,
) -> None:
    """Import `paths` as payloads of `source` and tell on `errors` what became of each file.

    Raises Failure where no file is one, and typer.Exit(1) when any was refused.
    """
    store, plan = SnapshotStore(home.snapshots), imports.plan(source, paths)
    tally, skipped = Counter(), Counter(plan.skipped)
    outcomes = imports.run(source, store, plan, stated, context)
    for outcome in track(outcomes, "importing", plan.count, console=errors, disable=plan.count <= 1):
        if isinstance(outcome, Failure):
            if plan.is_one_file:
                raise outcome
            tally["refused"] += 1
            errors.print(f"error: {outcome}", markup=False)
        elif isinstance(outcome, imports.Skipped):
            skipped[outcome.what] += 1
        else:
            tally["stored" if outcome.stored.is_new else "already stored"] += 1
            errors.print(_told(outcome, plan.is_one_file), markup=False)
    if not plan.is_one_file:
        counts = ", ".join(f"{tally[kind]} {kind}" for kind in ("stored", "already stored", "refused"))
        passed = ", ".join(f"{number} {what}" for what, number in sorted(skipped.items()) if number)
        errors.print(f"{counts}" + (f"; skipped: {passed}" if passed else ""), markup=False)
    if not tally:
        raise Failure(f"no file there could be a payload of {source.slug}")
    if tally["stored"] or tally["already stored"]:
        errors.print("`tokenyield build` brings them into the tables", markup=False)
    if tally["refused"]:
        errors.print("exit code 1: what was refused is not stored; importing all again does no harm")
        raise typer.Exit(1)


def _told(imported: Any, is_one_file: bool) -> str:
    """The accounts of an imported payload, in one line."""
    sidecar, refused = imported.stored.sidecar, imported.parsed.refused
    rejected = int((refused["verdict"] == "rejected").sum())
    return (
        f"{Path(imported.name).name if is_one_file else imported.name}: "
        f"{'stored' if imported.stored.is_new else 'already stored'} as "
        f"{sidecar.source}/{sidecar.snapshot_id}: {imported.parsed.candidates} candidates = "
        f"{imported.parsed.candidates - len(refused)} accepted + {rejected} rejected + "
        f"{len(refused) - rejected} not applicable"
        + (f", with {imported.context_name}" if imported.context_name else "")
    )
