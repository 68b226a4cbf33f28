"""What a person states beside a benchmark file: what counts, what is refused, what is asked for."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from pipelines.contracts import BENCHMARK_RESULT
from pipelines.decode import strict_yaml
from pipelines.run_context import completed, stated, template
from pipelines.source import SourceError

ENOUGH = {
    "publisher": "own",
    "evidence": "measured",
    "chip_name": "H100 SXM",
    "model_name": "llama-70b",
    "measured_on": "2026-07-01",
}


def test_the_template_lists_every_key_once_and_states_nothing() -> None:
    context = strict_yaml(template().encode())
    assert set(context.values()) == {None}
    assert {"chip_name", "accelerator_count", "tp", "engine", "weight_precision"} <= set(context)
    assert stated(context) == {}
    # What was measured is the file's alone.
    assert not {"output_tok_s", "interactivity_tok_s_user", "ttft_p50_ms"} & set(context)


def test_a_context_completes_a_file_and_a_file_wins_nothing_it_does_not_say() -> None:
    row = completed({"output_tok_s": 900, "concurrency": 64, "engine": None}, ENOUGH | {"tp": "8"})
    assert row["raw_chip_name"] == "H100 SXM"
    assert row["measured_on"] == date(2026, 7, 1)
    assert (row["tp"], row["concurrency"], row["output_tok_s"]) == (8, 64, 900)
    assert row["workload"] == "unstated"
    assert "engine" not in row
    assert "accelerator_count" not in row, "a count that nobody states is not made up"
    assert set(row) <= {column.name for column in BENCHMARK_RESULT.columns}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"chip_name": None}, "chip_name"),
        ({"evidence": ""}, "evidence"),
        ({"measured_on": None}, "measured_on"),
        ({"tp": 0}, "tp"),
        ({"tp": True}, "tp"),
        ({"evidence": "rumour"}, "evidence"),
        ({"gpus": 8}, "gpus"),
        ({"output_tok_s": 900}, "output_tok_s"),
        ({"cache_hit_rate": ".nan"}, "cache_hit_rate"),
    ],
)
def test_a_context_that_lacks_or_twists_something_is_refused_by_name(
    change: dict[str, Any], named: str
) -> None:
    with pytest.raises(SourceError, match=named):
        completed({"total_tok_s": 1}, ENOUGH | change)


def test_a_context_may_not_contradict_its_file() -> None:
    with pytest.raises(SourceError, match="concurrency"):
        completed({"concurrency": 64}, ENOUGH | {"concurrency": 32})
    assert completed({"engine": "vLLM"}, ENOUGH | {"engine": "vllm"})["engine"] == "vLLM"


def test_equal_numbers_agree_however_they_are_written() -> None:
    stated_too = ENOUGH | {"acceptance_length": "3.51", "request_rate": "0.1"}
    row = completed({"acceptance_length": Decimal("3.51"), "request_rate": Decimal("0.1")}, stated_too)
    assert row["acceptance_length"] == Decimal("3.51")
    with pytest.raises(SourceError, match="acceptance_length"):
        completed({"acceptance_length": Decimal("3.52")}, stated_too)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({}, "fixed-8192-1024"),
        # Lengths drawn from 0.8 to 1.0 of the nominal ones.
        ({"isl_mean": 7373, "osl_mean": Decimal("921.6")}, "fixed-8192-1024"),
        ({"isl_mean": 4096, "osl_mean": 1024}, "spread-8192-1024"),
        ({"isl_mean": 8192, "osl_mean": 300}, "spread-8192-1024"),
        ({"isl_mean": 8192, "osl_mean": 1300}, "spread-8192-1024"),
    ],
)
def test_a_workload_is_fixed_only_where_its_requests_are(means: dict[str, Any], expected: str) -> None:
    nominal = ENOUGH | {"isl_nominal": 8192, "osl_nominal": 1024}
    assert completed(means, nominal)["workload"] == expected


def test_counts_of_sides_are_refused_where_nobody_says_that_there_are_two() -> None:
    context = ENOUGH | {"prefill_accelerator_count": 8, "decode_accelerator_count": 8}
    with pytest.raises(SourceError, match="prefill_accelerator_count is stated and disaggregated is not"):
        completed({}, context)
    assert completed({}, context | {"disaggregated": True})["decode_accelerator_count"] == 8


def test_a_contradiction_names_the_key_and_shows_days_as_they_are_written() -> None:
    row = {"measured_on": date(2026, 7, 2)}
    with pytest.raises(SourceError, match="states measured_on 2026-07-01, the file 2026-07-02"):
        completed(row, ENOUGH | {"measured_on": "2026-07-01"})
