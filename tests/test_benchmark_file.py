"""Files of one's own operating points: a header with another unit, and files that are cut, are refused."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

SOURCE = all_sources()["benchmark_file"]
STORED = datetime(2026, 5, 5, tzinfo=UTC)
FIXTURE = Path(__file__).parent / "fixtures" / "benchmark_file" / "payload.csv"
HEADER, FIRST = FIXTURE.read_text("utf-8").splitlines()[:2]


def read_text(body: str, context: dict[str, Any] | None = None) -> Parsed:
    parts = (Part("points.csv", body.encode()),)
    return read(SOURCE, Snapshot(SOURCE.slug, "x", "import:points", parts, STORED, STORED, context or {}))


def test_b04_an_export_that_says_ms_over_seconds_is_refused_with_the_columns_that_are_known() -> None:
    body = "Model,Median TPOT (ms),Interactivity (tok/s/user)\nDeepSeek-R1-0528,0.0490139,20.40\n"
    with pytest.raises(SourceError) as refusal:
        read_text(body)
    message = str(refusal.value)
    assert "'Median TPOT (ms)'" in message
    assert "tpot_p50_ms" in message
    assert "\n" not in message


@pytest.mark.parametrize("name", ["tput_per_gpu", "output_tok_s_gpu", "tok_s"])
def test_b05_a_throughput_that_does_not_say_which_tokens_has_no_column(name: str) -> None:
    with pytest.raises(SourceError, match=f"columns that are not known: '{name}'"):
        read_text(f"{HEADER},{name}\n{FIRST},5336\n")


def test_a_required_column_that_is_missing_is_named() -> None:
    with pytest.raises(SourceError, match="required columns are missing: traffic_basis, evidence"):
        read_text("publisher,date_precision,raw_chip_name,raw_model_name,workload\nx,day,B200,R1,agentx\n")


def test_a_file_cut_within_its_last_number_is_refused() -> None:
    row = f"{FIRST},26300"
    whole = f"{HEADER},e2e_p99_ms\n{row}\n"
    assert read_text(whole).rows["benchmark_result"]["e2e_p99_ms"].to_list() == [26300]
    with pytest.raises(SourceError, match="may be cut"):
        read_text(whole[:-3])


@pytest.mark.parametrize(
    "body", ["", HEADER, f"{HEADER}\n", f"{HEADER}\n{FIRST},1\n"], ids=["nothing", "cut", "no_rows", "ragged"]
)
def test_what_is_no_table_with_rows_is_refused(body: str) -> None:
    with pytest.raises(SourceError):
        read_text(body)


def test_a_context_that_nobody_would_read_is_refused() -> None:
    with pytest.raises(SourceError, match="no context beside it is read"):
        read_text(f"{HEADER}\n{FIRST}\n", {"chip_name": "B200"})


@pytest.mark.parametrize(
    ("percentile", "reasons"),
    [("p50", []), ("stated", []), ("p99", ["speed_is_not_reciprocal_of_tpot"]), ("mean", [])],
    ids=["median", "stated", "of_the_slowest", "mean"],
)
def test_a_speed_is_checked_against_the_time_of_its_own_percentile(
    percentile: str, reasons: list[str]
) -> None:
    # The row has 20 ms in the median and 25 ms in the 99th percentile: 50 and 40 tokens per second.
    parsed = read_text(f"{HEADER}\n{FIRST.replace(',50,p50,', f',50,{percentile},')}\n")
    assert parsed.refused["reason"].to_list() == reasons


def test_it_gives_way_to_every_fetched_source() -> None:
    others = [s for s in all_sources().values() if s.kind == "benchmark" and s.requests is not None]
    assert others
    assert all(SOURCE.source_rank > other.source_rank for other in others)
