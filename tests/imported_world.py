"""A warehouse of imported files: they go in as a person imports them, and the real models are built.

Belongs here: importing, building and one plain result file of InferenceX. Does not belong here: any
expectation.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from price_world import _needed

from pipelines import run, sql_build
from pipelines.home import Home
from pipelines.ingest import import_file
from pipelines.snapshots import SnapshotStore
from pipelines.source import Parsed, Part, Snapshot, all_sources, read
from pipelines.warehouse import Warehouse

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
SEEN = datetime(2026, 7, 16, tzinfo=UTC)
RUNS = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/"

File = tuple[str, str, bytes, dict[str, Any]]
Query = Callable[..., list[tuple[Any, ...]]]


def built(root: Path, files: Iterable[File], *models: str) -> Query:
    """Import files (source, name, bytes, context) as a person does, and build `models` and what they read."""
    home = Home(root)
    store, folder = SnapshotStore(home.snapshots), root / "files"
    folder.mkdir(parents=True)
    for number, (slug, name, body, context) in enumerate(files):
        path = folder / f"{number}" / name
        path.parent.mkdir()
        path.write_bytes(body)
        import_file(all_sources()[slug], store, path, context.pop("seen", SEEN), context)
    run.load(home, AS_OF)
    warehouse = Warehouse(home.warehouse)
    with warehouse.write() as connection:
        sql_build.build(connection, _needed(list(models)))

    def ask(sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with warehouse.read() as reader:
            return reader.execute(sql, list(values)).fetchall()

    return ask


def parsed(slug: str, document: Any, **context: Any) -> Parsed:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    part = Part("agg.json", body)
    return read(all_sources()[slug], Snapshot(slug, "trial", "all", (part,), SEEN, AS_OF, context))


def aggregate(conc: int, output: float, **changes: Any) -> dict[str, Any]:
    """One flat result file: as much comes in as goes out, at 50 tokens per second and user."""
    return {
        "hw": "mi355x-amds_0", "conc": conc, "image": "example/engine:v1", "model": "example/R1",
        "infmax_model_prefix": "dsr1", "framework": "sglang", "precision": "fp8", "spec_decoding": "none",
        "disagg": False, "isl": 1024, "osl": 1024, "tp": 8, "ep": 1, "dp_attention": "false",
        "tput_per_gpu": 2 * output, "output_tput_per_gpu": output, "input_tput_per_gpu": output,
        "median_ttft": 0.25, "median_tpot": 0.02, "median_intvty": 50,
    } | changes  # fmt: skip


def archive(members: dict[str, Any]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for name, document in members.items():
            file.writestr(name, json.dumps(document))
    return stream.getvalue()


def attempt(number: int) -> dict[str, Any]:
    return {"measured_on": "2026-07-15", "url": f"{RUNS}5001/attempts/{number}"}
