"""The raw layer: its tables, and the loading of stored snapshots into them.

Belongs here: DDL from the contracts, and delete-and-insert of whole snapshots by their ids inside the
caller's transaction. Does not belong here: any meaning of a value; `raw` copies, `clean` cleans.

Loading is idempotent, and a full rebuild is the same code given every snapshot: a snapshot is loaded
when it is new, or when the code that parses it has changed since.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import polars as pl

from pipelines import (
    contracts,
    corrections,
    decode,
    outcomes,
    record,
    run_context,
    seed_shapes,
    seeds,
    source,
    sources,
)
from pipelines.contracts import ROW_KINDS, TYPES, RowKind, frame
from pipelines.seed_shapes import REFERENCE
from pipelines.seeds import SeedError
from pipelines.sidecar import DamagedSnapshot, Sidecar, Unreadable
from pipelines.snapshots import SnapshotStore
from pipelines.source import Parsed, Part, Source, SourceError
from pipelines.warehouse import ArrowFrame

REFERENCE_SOURCE = "seeds"
SHARED_BY_PARSERS = (contracts, corrections, decode, outcomes, run_context, seed_shapes, seeds, source)
INSTANT = pl.Datetime("us", "UTC")
# Stand in the place of a parser's version where none has read the bytes.
UNREAD = "unread"
GONE = "gone"
KEY_DDL = "source varchar not null, snapshot_id varchar not null, row_number bigint not null"
OWN_TABLES = {
    "run": "as_of timestamptz not null",
    "build": "as_of timestamptz not null",
    "source": (
        "source varchar not null, kind varchar, title varchar, homepage varchar, licence varchar, "
        "passes_on boolean, cadence varchar, source_rank bigint, max_age_days bigint, "
        "is_seed boolean, is_fetched boolean, seen_live boolean"
    ),
    "snapshot": (
        "source varchar not null, snapshot_id varchar not null, slice varchar, parser varchar, "
        "observed_at timestamptz, recorded_at timestamptz, status varchar, reason varchar, "
        "candidates bigint, accepted bigint, rejected bigint, not_applicable bigint"
    ),
    # Of everything stored, reference seeds and our own records too: what a build was made of.
    "snapshot_part": (
        "source varchar not null, snapshot_id varchar not null, slice varchar, part bigint not null, "
        "name varchar, url varchar, bytes bigint, sha256 varchar, sidecar_sha256 varchar, "
        "observed_at timestamptz, recorded_at timestamptz"
    ),
    "sighting": (
        "source varchar not null, snapshot_id varchar not null, "
        "observed_at timestamptz, recorded_at timestamptz"
    ),
    "failed_look": (
        "source varchar not null, slice varchar, tried_at timestamptz, reason varchar, told varchar"
    ),
    "refused_candidate": (
        f"{KEY_DDL}, kind varchar, verdict varchar, reason varchar, field varchar, value varchar, "
        "locator varchar"
    ),
}


@dataclass(frozen=True)
class Loaded:
    """What loading one snapshot came to: `status` is loaded, refused, damaged, failed or unknown_source.

    Of one whose sidecar cannot be read, no more is known than its place.
    """

    sidecar: Sidecar | Unreadable
    status: str
    reason: str | None
    parsed: Parsed | None


def store_seeds(store: SnapshotStore, folder: Path, recorded_at: datetime) -> dict[str, Source]:
    """Snapshot every seed file and return the Source of every fact seed by slug.

    Raises SeedError, listing what is wrong, before anything is stored: a seed is edited by a person who
    is there to mend it.
    """
    bodies = {name: _seed_body(folder / f"{name}.csv") for name in REFERENCE}
    references = {name: seeds.read_reference(name, body) for name, body in bodies.items()}
    seeds.check_references(references)
    declared = {row["source"]: row for row in references["fact_source"]}
    facts: dict[str, tuple[Source, bytes]] = {}
    for kind, path in seeds.fact_files(folder):
        where = str(path.relative_to(folder.parent))
        if path.stem not in declared or path.stem in facts or path.stem in source.all_sources():
            raise SeedError(f"{where}: wants one line in seeds/fact_source.csv and a name of its own")
        facts[path.stem] = (seeds.fact_source(declared[path.stem], kind, where), path.read_bytes())
        list(seeds.fact_rows(kind, where, facts[path.stem][1]))
    if missing := sorted(declared.keys() - facts.keys()):
        raise SeedError(f"seeds/fact_source.csv: no file for {missing}")
    for name, body in bodies.items():
        part = Part(f"{name}.csv", body)
        times = {"observed_at": recorded_at, "recorded_at": recorded_at}
        store.add(REFERENCE_SOURCE, (part,), **times, slice_name=name, sightings=False)
    for kind, path in seeds.fact_files(folder):
        # The folder says what its rows are, and a snapshot must say so without it.
        part = Part(f"{kind.name}/{path.name}", facts[path.stem][1])
        store.add(path.stem, (part,), **times, sightings=False)
    return {slug: fact for slug, (fact, _) in facts.items()}


def stored_facts(store: SnapshotStore, folder: Path) -> dict[str, Source]:
    """The Source of every fact seed by slug, as the snapshots of the seeds declare them.

    The row kind stands in the name of a snapshot's part; where an older one does not say it, it is that of
    the file of that name below `folder`. Raises SeedError where neither says it.
    """
    newest = {(s.source, s.slice): s for s in store.sidecars()}
    body = store.load(newest[REFERENCE_SOURCE, "fact_source"]).parts[0].body
    today = {path.stem: kind.name for kind, path in seeds.fact_files(folder)}
    facts = {}
    for row in seeds.read_reference("fact_source", body):
        slug = row["source"]
        name = newest[slug, "all"].parts[0]["name"]
        kind = name.split("/")[0] if "/" in name else today.get(slug)
        if kind not in ROW_KINDS:
            raise SeedError(
                f"{slug}: neither its snapshot nor a file of its name in {folder} says its row kind"
            )
        facts[slug] = seeds.fact_source(row, ROW_KINDS[kind], f"{folder.name}/{kind}/{slug}.csv")
    return facts


def _seed_body(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SeedError(f"{path}: {error.strerror}") from error


def load(
    connection: duckdb.DuckDBPyConnection,
    store: SnapshotStore,
    fact_sources: Mapping[str, Source],
    as_of: datetime,
    progress: Callable[[Loaded], None] = lambda loaded: None,
) -> list[Loaded]:
    """Bring raw up to what is stored, inside the caller's transaction; returns what was loaded now.

    The bytes of a payload are verified when it is loaded. Of one that is loaded already, the sidecar is read
    again and each file must be there and not be empty: one that fails this is taken out and told as damaged,
    and so is one of which nothing is left in the store.
    """
    _ensure_tables(connection)
    sources = {**source.all_sources(), **fact_sources}
    _replace_sources(connection, sources, fact_sources)
    # What is built from here on is not yet: nothing is published until the models have run again.
    connection.execute("delete from raw.build")
    connection.execute("delete from raw.run")
    connection.execute("insert into raw.run values (?)", [as_of])
    _replace_sightings(connection, store)
    _replace_failed_looks(connection, store)
    sidecars, unreadable = store.survey()
    connection.execute("delete from raw.snapshot where parser = ?", [UNREAD])
    _replace_parts(connection, sidecars)
    _load_references(connection, store, sidecars, sources)
    have = {
        (slug, snapshot_id): parser
        for slug, snapshot_id, parser in connection.execute(
            "select source, snapshot_id, parser from raw.snapshot"
        ).fetchall()
    }
    # What we recorded ourselves is read in the same way, and is no source of prices or points.
    read_by = {**sources, record.SLUG: record.SOURCE}
    parsers = {slug: parser_version(found) for slug, found in read_by.items()}
    results = [Loaded(found, "damaged", found.reason, None) for found in unreadable]
    for loaded in results:
        _replace_snapshot(connection, loaded, UNREAD)
        progress(loaded)
    stored = {(found.source, found.snapshot_id) for found in (*sidecars, *unreadable)}
    for key in sorted(key for key in have.keys() - stored if have[key] != GONE):
        # Told until it is copied back, or all is made anew: a day that is lost must not go unseen.
        lost = Unreadable(*key, f"{store.root.joinpath(*key)}: is gone")
        results.append(Loaded(lost, "damaged", lost.reason, None))
        _replace_snapshot(connection, results[-1], GONE)
        progress(results[-1])
    for sidecar in sidecars:
        if sidecar.source == REFERENCE_SOURCE:
            continue
        parser, lost = parsers.get(sidecar.source, "none"), store.lost_part(sidecar)
        if not lost and have.get((sidecar.source, sidecar.snapshot_id)) == parser:
            continue
        loaded = _read(store, sidecar, read_by.get(sidecar.source))
        # What is damaged may be restored: it is read again by every load.
        _replace_snapshot(connection, loaded, UNREAD if loaded.status == "damaged" else parser)
        results.append(loaded)
        progress(loaded)
    return results


def parser_version(parsed_by: Source) -> str:
    """A short hash of the code that turns this source's bytes into rows."""
    code = hashlib.sha256()
    for file in (
        *_with_neighbours(inspect.getmodule(parsed_by.parse)),
        *(m.__file__ for m in SHARED_BY_PARSERS),
    ):
        code.update(Path(file).read_bytes())
    return code.hexdigest()[:12]


def _with_neighbours(module: ModuleType) -> list[str]:
    """The files of a parser's module and of the source modules that it reads with, each once, in order."""
    found, waiting = {module.__file__}, [module.__file__]
    while waiting:
        for node in ast.walk(ast.parse(Path(waiting.pop()).read_bytes())):
            name = node.module if isinstance(node, ast.ImportFrom) else None
            if name and name.startswith(f"{sources.__name__}."):
                file = importlib.import_module(name).__file__
                waiting += [file] if file not in found else []
                found.add(file)
    return sorted(found)


def _read(store: SnapshotStore, sidecar: Sidecar, found: Source | None) -> Loaded:
    if found is None:
        return Loaded(sidecar, "unknown_source", f"no source is named {sidecar.source!r}", None)
    try:
        return Loaded(sidecar, "loaded", None, source.read(found, store.load(sidecar)))
    except SourceError as error:
        return Loaded(sidecar, "refused", str(error), None)
    except DamagedSnapshot as error:
        return Loaded(sidecar, "damaged", str(error), None)
    except Exception as error:
        # A defect in one parser is that source's state; the bytes are stored and wait for a mended one.
        return Loaded(sidecar, "failed", f"the parser broke: {type(error).__name__}: {error}", None)


def _ensure_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create what is missing; a table of another shape is from older code and everything is reloaded."""
    connection.execute("create schema if not exists raw")
    wanted = dict(OWN_TABLES)
    wanted |= {kind.name: f"{KEY_DDL}, {_ddl(kind)}" for kind in ROW_KINDS.values()}
    wanted |= {name: _ddl(reference.kind) for name, reference in REFERENCE.items()}
    changed = False
    for table, ddl in wanted.items():
        connection.execute(f"create or replace temp table shape ({ddl})")
        shape = connection.execute("describe temp.shape").fetchall()
        exists = connection.execute(
            "select 1 from duckdb_tables() where schema_name = 'raw' and table_name = ?", [table]
        ).fetchone()
        if not exists or connection.execute(f"describe raw.{table}").fetchall() != shape:
            connection.execute(f"create or replace table raw.{table} ({ddl})")
            changed = changed or bool(exists)
    connection.execute("drop table if exists temp.shape")
    for kind in ROW_KINDS.values():
        _comment(connection, kind)
    if changed:
        connection.execute("delete from raw.snapshot")


def _ddl(kind: RowKind) -> str:
    return ", ".join(f"{c.name} {TYPES[c.type].sql}" for c in kind.columns)


def _comment(connection: duckdb.DuckDBPyConnection, kind: RowKind) -> None:
    connection.execute(
        f"comment on table raw.{kind.name} is '{kind.description.replace(chr(39), chr(39) * 2)}'"
    )
    for column in kind.columns:
        meaning = column.description.replace("'", "''")
        connection.execute(f"comment on column raw.{kind.name}.{column.name} is '{meaning}'")


def _replace_sources(
    connection: duckdb.DuckDBPyConnection, sources: Mapping[str, Source], facts: Mapping[str, Source]
) -> None:
    rows = [
        {
            "source": slug,
            "kind": s.kind,
            "title": s.title,
            "homepage": s.homepage,
            "licence": s.licence,
            "passes_on": s.passes_on,
            "cadence": s.cadence,
            "source_rank": s.source_rank,
            "max_age_days": s.max_age_days,
            "is_seed": slug in facts,
            "is_fetched": s.requests is not None,
            "seen_live": s.seen_live,
        }
        for slug, s in sorted(sources.items())
    ]
    _refill(connection, "source", pl.DataFrame(rows))


def _replace_sightings(connection: duckdb.DuckDBPyConnection, store: SnapshotStore) -> None:
    rows = [(s.source, s.snapshot_id, s.observed_at, s.recorded_at) for s in store.sightings()]
    schema = {"source": pl.String(), "snapshot_id": pl.String()}
    schema |= {"observed_at": INSTANT, "recorded_at": INSTANT}
    _refill(connection, "sighting", pl.DataFrame(rows, schema=schema, orient="row"))


def _replace_failed_looks(connection: duckdb.DuckDBPyConnection, store: SnapshotStore) -> None:
    rows = [asdict(look) for look in store.failed_looks()]
    schema = dict.fromkeys(("source", "slice", "tried_at", "reason", "told"), pl.String())
    _refill(connection, "failed_look", pl.DataFrame(rows, schema=schema | {"tried_at": INSTANT}))


def _replace_parts(connection: duckdb.DuckDBPyConnection, sidecars: Iterable[Sidecar]) -> None:
    rows = [
        {
            "source": s.source,
            "snapshot_id": s.snapshot_id,
            "slice": s.slice,
            "part": number,
            "name": part["name"],
            "url": part["url"],
            "bytes": part["bytes"],
            "sha256": part["sha256"],
            "sidecar_sha256": s.sha256,
            "observed_at": s.observed_at,
            "recorded_at": s.recorded_at,
        }
        for s in sidecars
        for number, part in enumerate(s.parts)
    ]
    _refill(connection, "snapshot_part", pl.DataFrame(rows, schema_overrides={"url": pl.String()}))


def _load_references(
    connection: duckdb.DuckDBPyConnection,
    store: SnapshotStore,
    sidecars: Iterable[Sidecar],
    sources: Mapping[str, Source],
) -> None:
    newest = {s.slice: s for s in sidecars if s.source == REFERENCE_SOURCE}
    for name, reference in REFERENCE.items():
        rows = seeds.read_reference(name, store.load(newest[name]).parts[0].body)
        if name == "provider":
            # A source brings its providers along; a line that a person typed stands before it.
            typed = {row["provider_id"] for row in rows}
            declared = {p.provider_id: p for s in sources.values() for p in s.providers}
            rows += [asdict(p) for key, p in sorted(declared.items()) if key not in typed]
        _refill(connection, name, frame(reference.kind, rows))


def _refill(connection: duckdb.DuckDBPyConnection, table: str, rows: pl.DataFrame) -> None:
    connection.execute(f"delete from raw.{table}")
    _insert(connection, table, rows)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: pl.DataFrame) -> None:
    arrived = ArrowFrame(rows)  # found by DuckDB under its Python name
    connection.execute(f"insert into raw.{table} by name select * from arrived")
    del arrived


def _replace_snapshot(connection: duckdb.DuckDBPyConnection, loaded: Loaded, parser: str) -> None:
    sidecar, parsed = loaded.sidecar, loaded.parsed
    key = [sidecar.source, sidecar.snapshot_id]
    for table in (*ROW_KINDS, "refused_candidate", "snapshot"):
        connection.execute(f"delete from raw.{table} where source = ? and snapshot_id = ?", key)
    ids = {"source": pl.lit(sidecar.source), "snapshot_id": pl.lit(sidecar.snapshot_id)}
    # How many candidates there are in what nobody could read is not known.
    counts: dict[str, Any] = dict.fromkeys(("candidates", "accepted", "rejected", "not_applicable"))
    if parsed is not None:
        for kind, rows in parsed.rows.items():
            _insert(connection, kind, rows.with_columns(**ids))
        _insert(connection, "refused_candidate", parsed.refused.with_columns(**ids))
        rejected = (parsed.refused["verdict"] == "rejected").sum()
        counts = {
            "candidates": parsed.candidates,
            "accepted": parsed.candidates - len(parsed.refused),
            "rejected": rejected,
            "not_applicable": len(parsed.refused) - rejected,
        }
    connection.execute(
        "insert into raw.snapshot values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            *key,
            sidecar.slice,
            parser,
            sidecar.observed_at,
            sidecar.recorded_at,
            loaded.status,
            loaded.reason,
            *counts.values(),
        ],
    )
