"""A version described for other tools: a Frictionless data package, and the marts read most as JSON.

Belongs here: what a tool that knows nothing of us needs: types, units, keys, licences, plain documents. Does
not belong here: what is published (`publish.py`), or words for people (`dictionary.py`).

    datapackage.json     every mart as a resource: its Parquet file, fields, units, key; and the sources
    json/<mart>.json     the marts of JSON_MARTS, each a document of its own
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from pipelines.answers import as_json
from pipelines.sql_models import Model

# Asked for by dashboards and scripts again and again, and small on any data.
JSON_MARTS = {
    "mart.headline": "",
    "mart.cheapest_at_speed": "where headline_order is not null and rank <= 10",
    "mart.rental_index_daily": "where date > $day - 92",
    "mart.yield_change": "order by after_on desc, change_id limit 500",
    "mart.source_health": "",
    "mart.alert": "",
}
TYPES = {
    "VARCHAR": "string",
    "DOUBLE": "number",
    "BIGINT": "integer",
    "INTEGER": "integer",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP WITH TIME ZONE": "datetime",
}
# The unit that a column's name ends in or holds; the first that fits. What a name does not say has no unit.
UNITS = tuple(
    (re.compile(pattern), unit)
    for pattern, unit in (
        (r"usd_per_gpu_hour", "US dollars per GPU-hour"),
        (r"usd_per_million(_\w+)?_tokens", "US dollars per million tokens"),
        (r"usd_per_request", "US dollars per request"),
        (r"usd_per_attempt", "US dollars per attempt"),
        (r"usd_per_successful_task", "US dollars per successful task"),
        (r"usd_per_kwh", "US dollars per kWh"),
        (r"usd_per_year", "US dollars per year"),
        (r"effect_usd$", "US dollars per million tokens"),
        (r"_usd$", "US dollars"),
        (r"million_\w*tokens_(live_)?per_gpu_hour", "million tokens per GPU-hour"),
        (r"million_\w*tokens_(live_)?per_gpu_day", "million tokens per GPU-day"),
        (r"million_\w*tokens_per_session_hour", "million tokens per session-hour"),
        (r"million_\w*tokens_per_session_day", "million tokens per session-day"),
        (r"^million_tokens$", "million tokens"),
        (r"gpu_hours_per_billion", "GPU-hours per billion tokens"),
        (r"tok_s_decode_gpu", "tokens per second per decode GPU"),
        (r"tok_s_prefill_gpu", "tokens per second per prefill GPU"),
        (r"tok_s_gpu", "tokens per second per GPU"),
        (r"tok_s_user", "tokens per second for each user"),
        (r"tokens_per_s_per_mw", "tokens per second per MW"),
        (r"tokens_per_day", "tokens per day"),
        (r"tokens_per_request", "tokens per request"),
        (r"tokens_per_attempt", "tokens per attempt"),
        (r"requests_(live_)?per_gpu_day", "requests per GPU-day"),
        (r"requests_per_session_day", "requests per session-day"),
        (r"joules_per_token", "joules per token"),
        (r"bytes_per_token", "bytes per token"),
        (r"seconds_per_thousand_tokens", "seconds per thousand tokens"),
        (r"gb_per_gpu", "GB per GPU"),
        (r"gb_per_session", "GB per session"),
        (r"per_session_gpu|sessions_per_gpu", "sessions per GPU"),
        (r"sequences_per_gpu", "sequences per GPU"),
        (r"gpus_per_decode_gpu", "prefill GPUs per decode GPU"),
        (r"(input|output|context)_tokens$|^(isl|osl)_", "tokens"),
        (r"kw_gpu$", "kW per GPU"),
        (r"w_gpu$", "W per GPU"),
        (r"_w$", "W"),
        (r"_tb_s$", "TB per second"),
        (r"_tflops$", "TFLOPS"),
        (r"_gb$", "GB"),
        (r"parameters(_\w+)?_b$", "billion parameters"),
        (r"_ms$", "milliseconds"),
        (r"days$", "days"),
        (r"hours$", "hours"),
        (r"months$", "months"),
        (r"percent$", "per cent"),
        (r"request_rate", "requests per second"),
        (r"^bytes$", "bytes"),
        (r"change_per_year|matched_panel_change|discount$", "share of the value before"),
        (r"share|utilisation|hit_rate", "share, 0 to 1"),
        (r"ratio|factor|rent_over_parity", "ratio"),
        (r"disclosure_score", "points of 100"),
        (r"(accelerator|gpu|chip)_count", "GPUs"),
    )
)


def unit_of(column: str) -> str | None:
    """The unit that a column's name says; None: a count, a rank, or in a column of its own beside it."""
    return next((unit for pattern, unit in UNITS if pattern.search(column)), None)


def write(
    connection: duckdb.DuckDBPyConnection, models: Mapping[str, Model], folder: Path, as_of: datetime
) -> None:
    """Write both into the version's `folder`; `connection` has the version as `published`.

    The name of the version stands in neither: equal facts make equal documents.
    """
    marts = [name for name in models if name.startswith("mart.")]
    package = _package(connection, {name: models[name] for name in marts}, as_of)
    _dump(package, folder / "datapackage.json")
    (folder / "json").mkdir()
    for name, condition in JSON_MARTS.items():
        if name in models:
            document = _document(connection, models[name], condition, as_of)
            _dump(document, folder / "json" / f"{name.removeprefix('mart.')}.json")


def _package(
    connection: duckdb.DuckDBPyConnection, marts: Mapping[str, Model], as_of: datetime
) -> dict[str, Any]:
    return {
        "name": "tokenyield",
        "title": "What a million tokens cost to make, by accelerator and date",
        "profile": "data-package",
        "created": as_of.isoformat(),
        "keywords": ["GPU rental prices", "inference benchmarks", "cost per million tokens"],
        "licenses": [
            {
                "name": "other-of-each-source",
                "title": "Of each source; see sources. What may not be passed on is left out.",
                "path": "manifest.json",
            }
        ],
        "sources": _sources(connection),
        "resources": [_resource(connection, model) for model in marts.values()],
    }


def _sources(connection: duckdb.DuckDBPyConnection) -> list[dict[str, str]]:
    rows = connection.execute(
        "select title, homepage, licence from warehouse.raw.source where passes_on order by source"
    ).fetchall()
    return [
        {"title": f"{title}: {licence}" if licence else title} | ({"path": homepage} if homepage else {})
        for title, homepage, licence in rows
    ]


def _resource(connection: duckdb.DuckDBPyConnection, model: Model) -> dict[str, Any]:
    described = connection.execute(f"describe published.{model.name}").fetchall()
    schema: dict[str, Any] = {
        "fields": [_field(name, kind, model.columns[name]) for name, kind, *_ in described],
        "missingValues": [""],
    }
    # A part of a key that may be unknown makes a key of ours, and none of the standard's.
    nulls = " or ".join(f"{column} is null" for column in model.grain)
    (open_keys,) = connection.execute(f"select count(*) from published.{model.name} where {nulls}").fetchone()
    if not open_keys:
        schema["primaryKey"] = list(model.grain)
    return {
        "name": model.table,
        "path": f"parquet/{model.table}.parquet",
        "title": model.description.split(";")[0],
        "description": model.description,
        "format": "parquet",
        "mediatype": "application/vnd.apache.parquet",
        "profile": "data-resource",
        "schema": schema,
    }


def _field(name: str, kind: str, description: str) -> dict[str, str]:
    kind = "number" if kind.startswith("DECIMAL") else TYPES[kind]
    field = {"name": name, "type": kind, "description": description}
    if kind in ("number", "integer") and (unit := unit_of(name)):
        field["unit"] = unit
    return field


def _document(
    connection: duckdb.DuckDBPyConnection, model: Model, condition: str, as_of: datetime
) -> dict[str, Any]:
    day = f"date '{as_of:%Y-%m-%d}'"
    order = "" if "order by" in condition else f"order by {', '.join(model.grain)}"
    rest = f"{condition} {order}".replace("$day", day).strip()
    described = connection.execute(f"describe published.{model.name}").fetchall()
    rows = connection.execute(f"from published.{model.name} {rest}").fetchall()
    return {
        "mart": model.name,
        "as_of": as_of.isoformat(),
        "description": model.description,
        "condition": rest,
        "columns": [_field(name, kind, model.columns[name]) for name, kind, *_ in described],
        "rows": [[_utc(value) for value in row] for row in rows],
    }


def _utc(value: Any) -> Any:
    return as_json(value.astimezone(UTC) if isinstance(value, datetime) else value)


def _dump(document: dict[str, Any], path: Path) -> None:
    path.write_text(json.dumps(document, indent=1, allow_nan=False) + "\n", encoding="utf-8")
