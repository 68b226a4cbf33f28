"""InferenceX by SemiAnalysis: what it says it changed in its configurations, from its API or its repository.

Two documents: the changelogs of /workflow-info, with the run and day of each, and `perf-changelog.yaml`, an
append-only list without any date. An entry of both has the same key, its pull request.
Traps: one entry names several configurations, some by a pattern; a pull request may have several entries,
and one has none. Chip and model are read from a configuration's name only where its shape says them.
Does not belong here: whether the change moved a figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pipelines.contracts import ContractError
from pipelines.decode import gunzipped, iso_date, strict_json, strict_yaml
from pipelines.outcomes import some_text
from pipelines.source import (
    Accepted,
    NotApplicable,
    Outcome,
    Part,
    Rejected,
    Request,
    Snapshot,
    Source,
    SourceError,
)

KIND = "change_note"
API_KEYS = {"runs", "changelogs", "configs"}
LIST_KEYS = {"config-keys", "description", "pr-link"}
PULL_REQUEST = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/pull/(\d+)(?:/\w+)?")
RUN_PAGE = "https://github.com/SemiAnalysisAI/InferenceX/actions/runs/"
# <model>-<precision>-<chip>-<engine...>: a chip's name has letters and then digits, an engine's has not.
CONFIG_KEY = re.compile(
    r"(?P<model>[a-z][a-z0-9.]*(?:-[a-z0-9.]+)*?)-[a-z]{2,5}\d{1,2}-(?P<chip>[a-z]+\d[a-z0-9]*)(?:-[a-z0-9.-]+)?"
)


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per configuration that an entry names.

    Raises SourceError when the payload is neither document, or is a list that was cut off.
    """
    seen: set[tuple[Any, ...]] = set()
    for part in snapshot.parts:
        for locator, entry in _entries(part):
            for outcome in _notes(entry, locator):
                key = tuple(outcome.row.values()) if isinstance(outcome, Accepted) else ()
                if key and key in seen:
                    yield NotApplicable(KIND, "identical_duplicate", outcome.locator)
                    continue
                seen.add(key)
                yield outcome


def _entries(part: Part) -> Iterator[tuple[str, Any]]:
    """Yield where an entry stands, and the entry in the API's words."""
    if gunzipped(part.body).lstrip()[:1] == b"{":
        document = strict_json(part.body)
        if not document.keys() >= API_KEYS or not isinstance(document["changelogs"], list):
            raise SourceError(f"{part.name}: not the answer of /workflow-info: wants {sorted(API_KEYS)}")
        for number, entry in enumerate(document["changelogs"]):
            yield f"changelog {number}", entry
        return
    if not gunzipped(part.body).endswith(b"\n"):
        raise SourceError(f"{part.name}: the list does not end with its line: it was cut off")
    listed = strict_yaml(part.body)
    if isinstance(listed, dict):
        raise SourceError(
            f"{part.name}: no list of changes; acceptance lengths (golden_al_distribution) are read by "
            "nothing, for no result says which of them it was set to"
        )
    if not isinstance(listed, list) or not all(_is_entry(entry) for entry in listed):
        raise SourceError(
            f"{part.name}: no list of entries with {sorted(LIST_KEYS)}, or one that was cut off"
        )
    for number, entry in enumerate(listed):
        lines = entry["description"]
        yield (
            f"entry {number}",
            {
                "config_keys": entry["config-keys"],
                "description": "\n".join(lines) if _is_texts(lines) else lines,
                "pr_link": entry["pr-link"],
                "place": f"place/{number}",
            },
        )


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.keys() >= LIST_KEYS


def _is_texts(values: Any) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, str) for value in values)


def _notes(entry: Any, locator: str) -> Iterator[Outcome]:
    keys = entry.get("config_keys") if isinstance(entry, dict) else None
    if not _is_texts(keys):
        yield Rejected(KIND, "wrong_type", locator, "config_keys", keys)
        return
    for key in keys:
        try:
            yield Accepted(KIND, _note(entry, key), f"{locator} {key}")
        except ContractError as error:
            yield Rejected(KIND, error.reason, f"{locator} {key}", error.field, error.value)


def _note(entry: dict[str, Any], config_key: str) -> dict[str, Any]:
    link, run_id = entry.get("pr_link"), entry.get("workflow_run_id")
    pull_request = PULL_REQUEST.fullmatch(link) if isinstance(link, str) else None
    place = entry.get("place") or f"run/{run_id}"
    shape = CONFIG_KEY.fullmatch(config_key)
    return {
        "publisher": "inferencex",
        "note_key": f"pull/{pull_request[1]}" if pull_request else place,
        "config_key": config_key,
        "raw_chip_name": shape["chip"] if shape else None,
        "raw_model_name": shape["model"] if shape else None,
        "description": some_text("description", entry.get("description")),
        "run_id": run_id,
        "changed_on": iso_date("date", entry["date"]) if entry.get("date") is not None else None,
        "url": link if pull_request else f"{RUN_PAGE}{run_id}" if run_id else None,
    }


def requests() -> list[Request]:
    """The runs of the newest day that had any, with their changelogs."""
    return [Request("https://inferencex.semianalysis.com/api/v1/workflow-info")]


SOURCE = Source(
    kind="benchmark",
    title="InferenceX by SemiAnalysis: what it changed",
    homepage="https://inferencex.semianalysis.com",
    licence="Public API without a data licence of its own; the list is Apache-2.0. Attribute InferenceX.",
    passes_on=True,
    cadence="daily",
    source_rank=10,
    max_age_days=14,
    parse=parse,
    requests=requests,
)
