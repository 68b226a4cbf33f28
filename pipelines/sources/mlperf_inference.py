"""MLPerf Inference by MLCommons: the published summary of a round, one row per system, model and scenario.

Traps: a result is the output tokens per second of the whole SYSTEM; the accelerators that made it are those
named in the accelerator text, "(x87)", where it counts fewer than the system holds; one ID covers a system
and not a result; the scenario is part of what was measured; latency limits are floors and no speeds.
Does not belong here: edge systems, results in other units, the rules of the benchmark, any price, and the
latency of single results (v6.1 keeps it in a file of its own beside each result).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from pipelines.contracts import ContractError
from pipelines.decode import strict_json
from pipelines.outcomes import (
    as_stated,
    by,
    only_part,
    plain_number,
    present,
    some_text,
    whole_number,
    without_duplicate_rows,
)
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

KIND = "benchmark_result"
PUBLISHER = "mlperf"

# Our word for a field, and the publisher's in each shape of the file. What a shape lacks is not stated.
LISTED = {
    "result_number": "ID", "submitter": "Submitter", "availability": "Availability", "division": "Category",
    "suite": "Suite", "platform": "Platform", "used_model": "UsedModel", "model": "Model",
    "scenario": "Scenario", "accuracy": "Accuracy", "nodes": "Nodes", "accelerator": "Accelerator",
    "accelerators_per_node": "a#", "location": "Location", "software": "Software", "notes": "Notes",
    "compliance": "compliance", "errors": "errors", "version": "version", "inferred": "inferred",
    "weights": "weight_data_types", "result": "Performance_Result", "units": "Performance_Units",
}  # fmt: skip
LISTED_WITH_TOTAL = LISTED | {"total_accelerators": "Total Accelerators"}
NUMBERED = {
    "submitter": "Organization", "availability": "Availability", "division": "Division",
    "suite": "SystemType", "platform": "Platform", "used_model": "Model", "model": "MlperfModel",
    "scenario": "Scenario", "accuracy": "Accuracy", "nodes": "number_of_nodes",
    "accelerator": "accelerator_model_name", "accelerators_per_node": "accelerators_per_node",
    "total_accelerators": "total_accelerators", "location": "Location", "software": "framework",
    "notes": "notes", "compliance": "compliance", "errors": "errors", "version": "version",
    "inferred": "inferred", "weights": "weight_data_types", "result": "Result", "units": "Units",
}  # fmt: skip


@dataclass(frozen=True)
class Round:
    """One round: the day of its publication, the file that sums it up, and that file's shape.

    Its rows stand in a list, or (`rows_are_numbered`) in an object under "0", "1", ...
    """

    published_on: date
    file: str
    fields: Mapping[str, str]
    rows_are_numbered: bool = False


# v4.1 is left out: its file calls the weights of most NVIDIA rows fp16, which they were not.
ROUNDS = {
    "v5.1": Round(date(2025, 9, 9), "summary_results.json", LISTED),
    "v6.0": Round(date(2026, 4, 1), "summary_results.json", LISTED_WITH_TOTAL),
    "v6.1": Round(date(2026, 9, 16), "summary.json", NUMBERED, rows_are_numbered=True),
}

TOKENS_PER_SECOND = "Tokens/s"
# How requests arrive, by the definition of each scenario.
SCENARIOS = {"Offline": "all_at_once", "Server": "poisson", "Interactive": "poisson"}
# `rdi`: research, development or internal.
RELEASE_STATUS = {"available": "available", "preview": "preview", "rdi": "internal"}
PRECISIONS = {
    "fp4": "fp4", "mxfp4": "fp4", "nvfp4": "fp4", "fp8": "fp8", "bf16": "bf16", "bfloat16": "bf16",
    "fp16": "fp16", "fp32": "fp32", "int8": "int8", "int4": "int4", "uint4": "int4",
}  # fmt: skip
# Engines that serve a model, as software lists write them. Two in one list leave open which one served.
ENGINES = {
    "tensorrt-llm": r"TensorRT-LLM|TRT-?LLM",
    "vllm": r"vLLM",
    "sglang": r"SGLang",
    "llmboost": r"LLMBoost",
}
# The library, which counts only where no engine on top of it is named.
TENSORRT = {"tensorrt": r"TensorRT(?!-LLM)"}
# Limits of the rules of July 2026 on the 99th percentile in ms: time to first token, time per output token.
LIMITS_MS = {
    ("llama2-70b", "Server"): (2000, 200), ("llama2-70b", "Interactive"): (450, 40),
    ("llama3.1-8b", "Server"): (2000, 100), ("llama3.1-8b", "Interactive"): (500, 30),
    ("llama3.1-405b", "Server"): (6000, 175), ("llama3.1-405b", "Interactive"): (4500, 80),
    ("deepseek-r1", "Server"): (2000, 80), ("deepseek-r1", "Interactive"): (1500, 15),
    ("gpt-oss-120b", "Server"): (3000, 80), ("gpt-oss-120b", "Interactive"): (2000, 20),
    ("mixtral-8x7b", "Server"): (2000, 200),
}  # fmt: skip
# Scores in per cent, the one that speaks for the model first.
ACCURACY_TASKS = ("exact_match", "rouge1")


def requests() -> Iterator[Request]:
    """Yield one request a round, each a slice of its own."""
    for name, this in ROUNDS.items():
        url = f"https://raw.githubusercontent.com/mlcommons/inference_results_{name}/main/{this.file}"
        yield Request(url, slice=name)


def parse(snapshot: Snapshot) -> Iterator[Outcome]:
    """Yield one outcome per result: output tokens per second of the system and its accelerators.

    Raises SourceError when the payload is not the summary of one round whose shape is declared here.
    """
    part = only_part(snapshot.parts, "the summary of a round is one file")
    name, rows = _round(part)
    if snapshot.slice in ROUNDS and snapshot.slice != name:
        raise SourceError(f"{part.name}: holds round {name}, where {snapshot.slice} was asked for")
    outcomes = [_outcome(row, name, f"row {number}") for number, row in enumerate(rows)]
    yield from without_duplicate_rows(outcomes, by("result_id"), "output_tok_s")


def _round(part: Part) -> tuple[str, list[Any]]:
    """Return the round that a file sums up, and its rows as they stand."""
    document = strict_json(part.body)
    rows = list(document.values()) if isinstance(document, dict) else document
    if not isinstance(rows, list) or not any(isinstance(row, dict) for row in rows):
        raise SourceError(f"{part.name}: no rows: not the summary of a round")
    versions = {repr(row.get("version")) for row in rows if isinstance(row, dict)}
    if len(versions) > 1:
        raise SourceError(f"{part.name}: rows of several rounds: {', '.join(sorted(versions))}")
    name = next(row for row in rows if isinstance(row, dict)).get("version")
    if not isinstance(name, str) or name not in ROUNDS:
        raise SourceError(f"{part.name}: round {name!r} is not one of {', '.join(ROUNDS)}: not read")
    this = ROUNDS[name]
    if isinstance(document, dict) is not this.rows_are_numbered:
        raise SourceError(f"{part.name}: not the shape of round {name}: rows in a {type(document).__name__}")
    wanted = set(this.fields.values())
    if not any(isinstance(row, dict) and row.keys() >= wanted for row in rows):
        seen = set().union(*(row.keys() for row in rows if isinstance(row, dict)))
        raise SourceError(f"{part.name}: not the shape of round {name}: no row has all of its fields, "
                          f"among them {sorted(wanted - seen)[:5]}")  # fmt: skip
    return name, rows


def _outcome(row: Any, name: str, locator: str) -> Outcome:
    if not isinstance(row, dict):
        return Rejected(KIND, "wrong_type", locator, "row", row)
    try:
        found = {field: present(key, row) for field, key in ROUNDS[name].fields.items()}
        reason = _no_point_because(found)
        if reason:
            return NotApplicable(KIND, reason, locator)
        _check_validity(found)
        return Accepted(KIND, _result(found, row, name), locator)
    except ContractError as error:
        return Rejected(KIND, error.reason, locator, error.field, error.value)


def _no_point_because(found: Mapping[str, Any]) -> str | None:
    """Why a row is no point of ours though it may be right; None: it is one."""
    if some_text("units", found["units"]) != TOKENS_PER_SECOND:
        return "not_in_tokens_per_second"
    if _one_of("suite", found, ("datacenter", "edge")) == "edge":
        return "edge_system"
    if found["accelerator"] in (None, "", "N/A"):
        return "no_accelerator"
    if len(_accelerators(found["accelerator"])) > 1:
        return "mixed_accelerators"
    return None


def _check_validity(found: Mapping[str, Any]) -> None:
    """Raise ContractError for a result that its own row calls invalid, or of an unknown division."""
    _one_of("division", found, ("closed", "open"))
    if whole_number("errors", found["errors"]) != 0:
        raise ContractError("errors_reported", "errors", found["errors"])
    # 1 until v5.1; since then the division that the result complies with.
    compliance = found["compliance"]
    if compliance != found["division"] and (isinstance(compliance, bool) or compliance != 1):
        raise ContractError("not_compliant", "compliance", compliance)


def _result(found: Mapping[str, Any], row: Mapping[str, Any], name: str) -> dict[str, Any]:
    keys = ("suite", "division", "submitter", "platform", "used_model", "model", "scenario")
    suite, division, submitter, platform, used_model, model, scenario = (
        some_text(key, found[key]) for key in keys
    )
    _one_of("scenario", found, tuple(SCENARIOS))
    used, held = _accelerator_counts(found)
    engine, engine_version = _engine(_text("software", found) or "")
    task, score = _accuracy(_text("accuracy", found) or "")
    # The rules of the open division allow another model, so its results never share a series with the others.
    series = "mlperf" if division == "closed" else "mlperf-open"
    return {
        "publisher": PUBLISHER,
        "point_label": f"{submitter}/{platform}",
        "result_id": "/".join((name, suite, division, submitter, platform, used_model, model, scenario)),
        "run_id": _text("result_number", found),
        "published_on": ROUNDS[name].published_on,
        "date_precision": "unknown",
        "raw_chip_name": _chip_name(found),
        "raw_model_name": used_model,
        "weight_precision": _precision(_text("weights", found)),
        "engine": engine,
        "engine_version": engine_version,
        "release_status": RELEASE_STATUS[_one_of("availability", found, tuple(RELEASE_STATUS))],
        "accelerator_count": used,
        "provisioned_accelerator_count": None if held == used else held,
        "workload": f"{series}-{model}-{scenario.lower()}",
        "arrival": SCENARIOS[scenario],
        "throughput_basis": "system",
        "output_tok_s": plain_number("result", found["result"]),
        "accuracy_task": task,
        "accuracy_value": score,
        "traffic_basis": "benchmark",
        "evidence": "derived" if _is_inferred(found) else "measured",
        "independent": _is_independent(submitter, found["accelerator"]),
        "methodology": "runnable",
        "url": _url(name, some_text("location", found["location"])),
        "note": "; ".join(_remarks(found, row, name, used, held)),
    }


def _one_of(field: str, found: Mapping[str, Any], allowed: tuple[str, ...]) -> str:
    value = some_text(field, found[field])
    if value not in allowed:
        raise ContractError("value_not_allowed", field, value)
    return value


def _text(field: str, found: Mapping[str, Any]) -> str | None:
    """Return a text that may be left out; raises ContractError for anything else in its place."""
    value = found.get(field)
    if value is not None and not isinstance(value, str):
        raise ContractError("wrong_type", field, value)
    return (value or "").strip() or None


def _accelerators(text: Any) -> list[str]:
    """Split "A (x32), B (x16)" into the accelerators that it names."""
    return [name for name in re.split(r"\s*(?:[,;+&]|\band\b)\s*", some_text("accelerator", text)) if name]


def _accelerator_counts(found: Mapping[str, Any]) -> tuple[int, int]:
    """Return the accelerators used and those that the system holds.

    Raises ContractError when nodes, accelerators per node and their total contradict each other, or when
    more are said to be used than there are.
    """
    per_node, nodes = (whole_number(key, found[key]) for key in ("accelerators_per_node", "nodes"))
    held = whole_number("total_accelerators", found.get("total_accelerators", per_node * nodes))
    if held != per_node * nodes:
        raise ContractError("accelerator_counts_contradict", "total_accelerators", held)
    counted = re.search(r"\(x(\d+)\)", found["accelerator"], re.ASCII)
    used = int(counted[1]) if counted else held
    if used < 1 or used > held:
        raise ContractError("accelerator_counts_contradict", "accelerator", found["accelerator"])
    return used, held


def _chip_name(found: Mapping[str, Any]) -> str:
    """Return the accelerator's name without a count, with what the row says of its form and its power.

    A chip with less power than it was made for, or in another form, must not pass for the one of that name.
    """
    chip = re.sub(r"\s*\(x\d+\)", "", found["accelerator"]).strip()
    notes = _text("notes", found) or ""
    form = re.search(r"\bNVL\d+\b", notes)
    if form and re.search(r"\bGB\d+$", chip):
        chip = f"{chip} {form[0]}"
    reduced = re.search(r"\b(\d+) ?W / \d+ ?W \(reduced\)", notes)
    return f"{chip} (Power Cap {reduced[1]} W)" if reduced else chip


def _precision(weights: str | None) -> str | None:
    """Return the family of the weights' number format; None for several, for UNSET and for unknown words."""
    return PRECISIONS.get(re.sub(r"\s*\(.*\)$", "", weights or "").lower())


def _engine(software: str) -> tuple[str | None, str | None]:
    """Return the serving engine of a software list and its version; None where it names none or several."""
    for engines in (ENGINES, TENSORRT):
        found = {
            engine: set(re.findall(rf"(?:{words})(?:[ -]+v?(\d[\w.+-]*))?", software, re.IGNORECASE))
            for engine, words in engines.items()
        }
        named = {engine: versions for engine, versions in found.items() if versions}
        if named:
            engine, versions = next(iter(named.items()))
            if len(named) > 1:
                return None, None
            return engine, (versions.pop() or None) if len(versions) == 1 else None
    return None, None


def _accuracy(text: str) -> tuple[str | None, Decimal | None]:
    """Return the task and its score, 0 to 1, of "exact_match: 81.1  TOKENS_PER_SAMPLE: 3808"."""
    scores = {task.lower(): score for task, score in re.findall(r"(\w+): (\d+(?:\.\d+)?)", text, re.ASCII)}
    for task in ACCURACY_TASKS:
        if task in scores and Decimal(scores[task]) <= 100:
            return task, Decimal(scores[task]) / 100
    return None, None


def _is_inferred(found: Mapping[str, Any]) -> bool:
    if whole_number("inferred", found["inferred"]) not in (0, 1):
        raise ContractError("value_not_allowed", "inferred", found["inferred"])
    return found["inferred"] == 1


def _is_independent(submitter: str, accelerator: str) -> bool | None:
    """False where the accelerator's maker is among the submitters; None: it may still sell the system."""
    maker = re.split(r"\W+", accelerator.lower())[0]
    return False if maker in re.split(r"[\W_]+", submitter.lower()) else None


def _url(name: str, location: str) -> str:
    path = quote(location.removeprefix("./"))
    return f"https://github.com/mlcommons/inference_results_{name}/tree/main/{path}"


def _remarks(
    found: Mapping[str, Any], row: Mapping[str, Any], name: str, used: int, held: int
) -> Iterable[str]:
    """Yield what a reader must know about a result, in the publisher's words where they are short."""
    number = f", result {found['result_number']}" if found.get("result_number") else ""
    yield f"MLPerf Inference {name}, {found['division']} division{number}"
    if used != held:
        yield f"{used} of {held} accelerators used"
    limits = LIMITS_MS.get((re.sub(r"-99(\.9)?$", "", found["model"]), found["scenario"]))
    if limits and found["division"] == "closed":
        ttft, tpot = limits
        yield (
            f"p99 limits of the rules: TTFT {ttft} ms, TPOT {tpot} ms, so at least {1000 / tpot:.3g} tok/s "
            "for 99 % of users: a floor and no measured speed"
        )
    if found["scenario"] == "Offline":
        yield "no limit on latency"
    if _is_inferred(found):
        yield "marked inferred by the publisher, from another scenario or accuracy target"
    if row.get("Power_Result") is not None:
        power = as_stated("Power_Result", row["Power_Result"])
        yield f"power of the system: {power} {row.get('Power_Units')}"
    for words, field in (("weights", "weights"), ("software", "software"), ("submitter's notes", "notes")):
        if _text(field, found):
            yield f"{words} as stated: {_text(field, found)}"


SOURCE = Source(
    kind="benchmark",
    title="MLPerf Inference: results of the rounds v5.1, v6.0 and v6.1 in tokens per second",
    homepage="https://mlcommons.org/benchmarks/inference-datacenter/",
    licence="Apache-2.0 (repositories of the rounds); quoted results name round, division and result.",
    passes_on=True,
    cadence="two rounds a year; corrections in between",
    source_rank=10,
    max_age_days=365,
    requests=requests,
    parse=parse,
)
