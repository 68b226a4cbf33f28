"""Runs of the MLCommons endpoints client: nanoseconds, the load, and runs that are none."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

SOURCE = all_sources()["mlcommons_endpoints"]
FOLDER = Path(__file__).parent / "fixtures" / "mlcommons_endpoints"
CONTEXT = json.loads((FOLDER / "meta.json").read_text("utf-8"))["context"]
STORED = datetime(2026, 7, 2, tzinfo=UTC)


def read_run(**changes: Any) -> Parsed:
    run = json.loads((FOLDER / "payload.json").read_text("utf-8")) | changes
    parts = (Part("result_summary.json", json.dumps(run).encode()),)
    return read(SOURCE, Snapshot(SOURCE.slug, "x", "import:result-summary", parts, STORED, STORED, CONTEXT))


def reasons(parsed: Parsed) -> list[str]:
    return parsed.refused["reason"].to_list()


def only(parsed: Parsed) -> dict[str, Any]:
    assert reasons(parsed) == []
    (row,) = parsed.rows["benchmark_result"].to_dicts()
    return row


def load(**pattern: Any) -> dict[str, Any]:
    return {"load_pattern": {"target_qps": None, "target_concurrency": None} | pattern}


def test_a_run_that_was_interrupted_is_no_result() -> None:
    assert reasons(read_run(state="interrupted", complete=False)) == ["incomplete_run"]
    # Complete but for tokens that nobody counted.
    assert reasons(read_run(complete=False)) == ["incomplete_run"]


def test_milliseconds_where_nanoseconds_stand_are_refused() -> None:
    percentiles = {"50.0": 20, "90.0": 23, "95.0": 24, "99.0": 25}
    assert reasons(read_run(tpot={"avg": None, "percentiles": percentiles})) == ["tpot_out_of_range"]


@pytest.mark.parametrize(
    ("pattern", "arrival", "concurrency", "rate"),
    [
        ({"type": "poisson", "target_qps": 170.0}, "poisson", None, 170),
        ({"type": "concurrency", "target_concurrency": 64}, "closed_loop", 64, None),
        ({"type": "max_throughput"}, "all_at_once", None, None),
        ({"type": "something new", "target_qps": 5}, None, None, None),
    ],
    ids=["poisson", "concurrency", "max_throughput", "unknown"],
)
def test_the_load_is_what_its_pattern_says(
    pattern: dict[str, Any], arrival: str | None, concurrency: int | None, rate: float | None
) -> None:
    row = only(read_run(run_config=load(**pattern)))
    assert (row["arrival"], row["concurrency"], row["request_rate"]) == (arrival, concurrency, rate)


def test_a_throughput_that_is_not_requests_times_tokens_is_refused() -> None:
    assert reasons(read_run(tps=2000.0)) == ["throughput_is_not_requests_times_tokens"]


def test_the_native_window_leaves_nothing_out() -> None:
    assert only(read_run(legacy_loadgen_window_duration_ns=None))["note"] is None


def test_another_file_of_the_run_is_refused_by_name() -> None:
    parts = (Part("final_snapshot.json", b'{"counters": {}}'),)
    with pytest.raises(SourceError, match=r"performance/result_summary\.json of the MLCommons endpoints"):
        read(SOURCE, Snapshot(SOURCE.slug, "x", "all", parts, STORED, STORED, CONTEXT))


def test_a_load_whose_kind_is_no_word_is_refused() -> None:
    assert reasons(read_run(run_config=load(type=[]))) == ["wrong_type"]
