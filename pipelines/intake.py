"""What `fetch` and `import` tell as they go, source by source and file by file.

Belongs here: progress, one line for each payload, the tally. Does not belong here: asking (`ingest.py`),
finding files (`imports.py`), or storing (`snapshots.py`).
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from rich.console import Console
from rich.progress import track

from pipelines import imports, ingest
from pipelines.failure import Failure
from pipelines.home import Home
from pipelines.http import Fetcher, FetchError, Limits
from pipelines.snapshots import SnapshotStore
from pipelines.source import Source

# What a fetch of everything may take; each source has its own limit within it.
FETCH_SECONDS = 3600


def fetch(home: Home, sources: Sequence[Source], errors: Console) -> bool:
    """Ask `sources` live, store what they say, tell what became of each; returns whether none failed.

    Raises NoRoom before anything is asked, and OSError when the disk refuses.
    """
    logging.getLogger("stamina").setLevel(logging.ERROR)  # the error that ends the tries says it all
    store, failed = SnapshotStore(home.snapshots), 0
    until = time.monotonic() + FETCH_SECONDS
    ingest.wants_room(store, Limits().max_bytes)
    with Fetcher(Limits()) as fetcher:
        for source in track(sources, "fetching", console=errors):
            if time.monotonic() > until:
                failed += 1
                errors.print(f"error: {source.slug}: not asked, {FETCH_SECONDS} s are over", markup=False)
                continue
            for result in ingest.fetch(source, store, fetcher):
                if isinstance(result, FetchError):
                    failed += 1
                    errors.print(f"error: {result}", markup=False)
                else:
                    news = "new" if result.is_new else "unchanged"
                    errors.print(f"{source.slug}/{result.sidecar.snapshot_id}: {news}", markup=False)
                    if result.clock:
                        errors.print(f"warning: {source.slug}: {result.clock}", markup=False)
    if failed:
        errors.print(
            f"{failed} slices were not fetched; what is stored of them stays as it was", markup=False
        )
    return not failed


def import_files(
    home: Home,
    source: Source,
    paths: list[Path],
    stated: datetime | None,
    context: Path | None,
    errors: Console,
) -> bool:
    """Import files of `source`, tell what became of each; returns whether none was refused.

    stated: when the files were seen, where they do not prove it. Raises Failure where no file could be a
    payload, and for a single file that is refused.
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
    return not tally["refused"]


def _told(imported: imports.Imported, is_one_file: bool) -> str:
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
