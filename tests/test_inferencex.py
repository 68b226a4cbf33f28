"""InferenceX from its payloads to the tables: runner names, accuracy, reliability and changes.

What each of its parsers reads stands in the fixtures; what its real files come to stands in
`test_real_benchmarks_inferencex.py`, what single runs come to in `test_inferencex_run.py`.
"""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from imported_world import RUNS, aggregate, archive, attempt, built, parsed
from price_world import quote, world

from pipelines.source import SourceError


def api_row(**changes: Any) -> dict[str, Any]:
    """The API's row of `aggregate(4, 100)`."""
    return {
        "hardware": "mi355x", "framework": "sglang", "model": "dsr1", "precision": "fp8",
        "spec_method": "none", "disagg": False,
        "prefill_tp": 8, "prefill_ep": 1, "prefill_dp_attention": False,
        "prefill_num_workers": 0, "decode_tp": 8, "decode_ep": 1, "decode_dp_attention": False,
        "decode_num_workers": 0, "num_prefill_gpu": 8, "num_decode_gpu": 8,
        "isl": 1024, "osl": 1024, "conc": 4,
        "metrics": {
            "tput_per_gpu": 200, "output_tput_per_gpu": 100, "input_tput_per_gpu": 100, "median_ttft": 0.25,
            "median_tpot": 0.02, "median_intvty": 50,
        },
        "date": "2026-07-15", "run_url": f"{RUNS}5001/attempts/1",
    } | changes  # fmt: skip


def score(run_id: int, value: float, **changes: Any) -> dict[str, Any]:
    row = api_row(task="gsm8k", date="2026-07-15", run_url=f"{RUNS}{run_id}", id=f"{run_id}-{value}")
    return row | {"metrics": {"n_eff": 1000, "em_strict": value, "em_flexible": 0.97}} | changes


def test_a_point_of_the_api_and_of_a_file_is_one_point(tmp_path):
    nested = aggregate(8, 100, pp=1, pcp_size=1, kv_offloading="none")
    files = [
        (
            "inferencex",
            "rows.json",
            json.dumps([api_row(), api_row(conc=8, offload_mode="off")]).encode(),
            {},
        ),
        ("inferencex_run", "bmk.zip", archive({"a.json": aggregate(4, 100), "b.json": nested}), attempt(1)),
    ]
    ask = built(tmp_path, files, "core.benchmark_point")
    assert ask(
        "select count(*), count(distinct benchmark_point_id) from core.benchmark_result "
        "where source in ('inferencex', 'inferencex_run')"
    ) == [(4, 2)]
    assert ask(
        "select concurrency, source, image, model_revision from core.benchmark_point where run_id = '5001' "
        "order by concurrency"
    ) == [
        (4, "inferencex", "example/engine:v1", "example/R1"),
        (8, "inferencex", "example/engine:v1", "example/R1"),
    ]


RUNNERS = ["h200-nv", "h200-dgxc-slurm", "B200-TRT", "mi355x-amds_0", "gb300-nvl72-new"]


def test_b11_runner_names_lose_only_words_that_say_nothing_of_the_chip(tmp_path):
    days = [{"hardware": name, "date": "2026-02-05", "n_success": 1, "total": 2} for name in RUNNERS]
    points = [api_row(hardware=name, conc=conc) for conc, name in enumerate(RUNNERS, start=1)]
    files = [
        ("inferencex_reliability", "reliability.json", json.dumps(days).encode(), {}),
        ("inferencex", "rows.json", json.dumps(points).encode(), {}),
    ]
    ask = built(tmp_path, files, "mart.run_reliability", "mart.source_health", "core.benchmark_point")
    named = ask(
        "select source, raw_name, canonical_id from clean.resolved_name "
        "where domain = 'chip' and source in ('inferencex', 'inferencex_reliability')"
    )
    for source in ("inferencex", "inferencex_reliability"):
        assert {name: chip for theirs, name, chip in named if theirs == source} == {
            "h200-nv": "h200-sxm-141",
            "h200-dgxc-slurm": "h200-sxm-141",
            "B200-TRT": "b200-sxm-180",
            "mi355x-amds_0": "mi355x",
            "gb300-nvl72-new": None,
        }
    assert ask("select raw_name, row_count from clean.unmapped_name where source = 'inferencex'") == [
        ("gb300-nvl72-new", 1)
    ]
    assert ask("select unmapped_names from mart.source_health where source = 'inferencex'") == [(1,)]
    assert ask("select count(*) from core.benchmark_point where run_id = '5001'") == [(4,)]
    assert ask("select chip_id, total_jobs from mart.run_reliability order by chip_id") == [
        ("b200-sxm-180", 2),
        ("h200-sxm-141", 4),
        ("mi355x", 2),
    ]


def test_what_frees_a_runner_of_its_cluster_frees_no_rental_offer(tmp_path):
    names = ["H200 SXM slurm", "mi355x-amds_0", "MI355X"]
    ask = world(tmp_path, [quote(name, "somebody", 3) for name in names], marts=["clean.resolved_name"])
    assert ask(
        "select raw_name, canonical_id from clean.resolved_name "
        "where domain = 'chip' and source = 'somebody' order by raw_name"
    ) == [("H200 SXM slurm", None), ("MI355X", "mi355x"), ("mi355x-amds_0", None)]


def test_a_speed_without_its_accuracy_is_seen_beside_its_like(tmp_path):
    """Issue 258 of InferenceX: 86 % of gsm8k at one engine, 94 % at another."""
    trt = {"hardware": "h200", "framework": "trt"}
    scores = [
        score(5001, 0.94),
        score(5001, 0.86, **trt),
        score(6001, 0.95, **trt, date="2026-08-01"),
        score(5001, 0.91, hardware="b200"),
        score(5001, 0.99, hardware="b300", model="dsv4"),
    ]
    points = [
        api_row(),
        api_row(**trt),
        api_row(**trt, conc=8, run_url=f"{RUNS}7001/attempts/1"),
        api_row(hardware="b200"),
        api_row(hardware="b300", model="dsv4"),
        api_row(hardware="b300", decode_tp=4),
    ]
    files = [
        ("inferencex", "rows.json", json.dumps(points).encode(), {}),
        ("inferencex_evaluations", "scores.json", json.dumps(scores).encode(), {}),
    ]
    ask = built(tmp_path, files, "core.accuracy_gate", "mart.evaluation")
    found = ask(
        "select chip_id, run_id, tp, accuracy_metric, gate.accuracy_value, accuracy_of_same_run, "
        "accuracy_reference, accuracy_fallen from core.accuracy_gate as gate "
        "inner join core.benchmark_point as point using (benchmark_point_id) "
        "where point.source = 'inferencex' order by chip_id, run_id, tp desc"
    )
    # The newest of three configurations: 0.94, 0.95 and 0.91. The b200 lies 0.03 below and passes.
    assert found == [
        ("b200-sxm-180", "5001", 8, "em_strict", 0.91, True, 0.94, False),
        ("b300-sxm-288", "5001", 8, "em_strict", 0.99, True, None, None),
        ("b300-sxm-288", "5001", 4, None, None, None, None, None),
        ("h200-sxm-141", "5001", 8, "em_strict", 0.86, True, 0.94, True),
        ("h200-sxm-141", "7001", 8, "em_strict", 0.95, False, 0.94, False),
        ("mi355x", "5001", 8, "em_strict", 0.94, True, 0.94, False),
    ]
    assert ask("select count(*) from mart.evaluation where task = 'gsm8k'") == [(10,)]


def test_a_score_that_two_looks_show_is_one(tmp_path):
    later = {"seen": datetime(2026, 7, 20, tzinfo=UTC)}
    files = [
        ("inferencex_evaluations", "a.json", json.dumps([score(5001, 0.94)]).encode(), {}),
        (
            "inferencex_evaluations",
            "b.json",
            json.dumps([score(5001, 0.94), score(6001, 0.9)]).encode(),
            later,
        ),
    ]
    ask = built(tmp_path, files, "mart.evaluation")
    assert ask("select run_id, metric, value from mart.evaluation order by all") == [
        ("5001", "em_flexible", 0.97),
        ("5001", "em_strict", 0.94),
        ("6001", "em_flexible", 0.97),
        ("6001", "em_strict", 0.9),
    ]


def test_a_day_is_the_sum_of_its_runs_as_the_newest_look_counts_them(tmp_path):
    def looks(*runs: tuple[int, int]) -> bytes:
        rows = [{"hardware": "h200", "date": "2026-02-05", "n_success": n, "total": t} for n, t in runs]
        return json.dumps(rows).encode()

    later = {"seen": datetime(2026, 7, 20, tzinfo=UTC)}
    files = [
        ("inferencex_reliability", "a.json", looks((9, 10), (9, 10)), {}),
        ("inferencex_reliability", "b.json", looks((9, 10), (9, 10), (0, 4), (0, 0)), later),
    ]
    ask = built(tmp_path, files, "mart.run_reliability")
    assert ask("select day, succeeded_jobs, total_jobs, succeeded_share from mart.run_reliability") == [
        (date(2026, 2, 5), 18, 24, 0.75)
    ]


def test_a_change_of_two_documents_is_one_note_with_the_date_of_one(tmp_path):
    link = "https://github.com/SemiAnalysisAI/InferenceX/pull/41"
    listed = f"- config-keys: [dsr1-fp8-h200-trt]\n  description: [New, More]\n  pr-link: {link}\n"
    told = {
        "workflow_run_id": "3001", "date": "2026-02-05", "config_keys": ["dsr1-fp8-h200-trt"],
        "description": "New\nMore", "pr_link": link,
    }  # fmt: skip
    answer = {"runs": [], "changelogs": [told], "configs": []}
    files = [
        ("inferencex_changes", "perf-changelog.yaml", listed.encode(), {}),
        ("inferencex_changes", "info.json", json.dumps(answer).encode(), {}),
    ]
    ask = built(tmp_path, files, "mart.change_note")
    assert ask("select note_key, chip_id, model_id, run_id, changed_on from mart.change_note") == [
        ("pull/41", "h200-sxm-141", "deepseek-r1-0528", "3001", date(2026, 2, 5))
    ]


def test_acceptance_lengths_are_refused_by_name():
    with pytest.raises(SourceError, match=r"acceptance lengths .* are read by nothing"):
        parsed("inferencex_changes", b"kimi-k3:\n  thinking_on:\n    1: 1.84\n")


def test_a_list_that_was_cut_off_is_refused():
    whole = (
        b"- config-keys: [a-fp8-h200-b]\n  description: [x]\n  pr-link: https://github.com/a/b/pull/1234\n"
    )
    assert parsed("inferencex_changes", whole).rows["change_note"]["note_key"].to_list() == ["pull/1234"]
    for cut in (whole[:-3], whole[:-40], whole[:50] + b"\n"):
        with pytest.raises(SourceError):
            parsed("inferencex_changes", cut)
