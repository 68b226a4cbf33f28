"""Files of single runs of InferenceX: attempts, archives, what is no point, and what a person must state."""

from __future__ import annotations

import inspect
import itertools
import json
from pathlib import Path

import pytest
from imported_world import RUNS, SEEN, File, aggregate, archive, attempt, built, parsed

from pipelines import raw
from pipelines.decode import unzipped
from pipelines.ingest import ImportRefused, import_file
from pipelines.snapshots import SnapshotStore
from pipelines.source import SourceError, all_sources
from pipelines.sources import inferencex_run

LOADS = (4, 8, 16)
FIRST = [aggregate(conc, 596) for conc in LOADS]
SECOND = {f"agg_conc{conc}.json": aggregate(conc, 848) for conc in reversed(LOADS)}
DELIVERIES: dict[str, File] = {
    "second attempt": ("inferencex_run", "bmk.zip", archive(SECOND), attempt(2)),
    "first attempt": (
        "inferencex_run",
        "bmk.zip",
        archive({f"agg_conc{row['conc']}.json": row for row in FIRST}),
        attempt(1),
    ),
    "compiled": ("inferencex_run", "agg_bmk.json", json.dumps(FIRST).encode(), attempt(1)),
}


@pytest.mark.parametrize("order", list(itertools.permutations(DELIVERIES)), ids=", ".join)
def test_b10_three_points_have_the_latest_attempt_whatever_came_first(tmp_path, order):
    files = [(slug, name, body, dict(context)) for slug, name, body, context in map(DELIVERIES.get, order)]
    ask = built(tmp_path, files, "core.benchmark_point")
    assert ask("select count(*) from core.benchmark_result where source = 'inferencex_run'") == [(9,)]
    assert ask(
        "select run_id, attempt, concurrency, chip_id, accelerator_count, output_tok_s_gpu "
        "from core.benchmark_point where source = 'inferencex_run' order by concurrency"
    ) == [("5001", 2, conc, "mi355x", 8, 848) for conc in LOADS]


def test_a_compiled_list_beside_its_files_in_one_archive_adds_nothing():
    body = archive({"agg_bmk.json": FIRST, **{f"agg_conc{row['conc']}.json": row for row in FIRST}})
    found = parsed("inferencex_run", body, **attempt(1))
    assert found.rows["benchmark_result"]["concurrency"].to_list() == [4, 8, 16]
    assert found.refused["reason"].to_list() == ["identical_duplicate"] * 3


def test_two_vendor_formats_of_one_point_are_a_conflict_and_not_one_row():
    both = [aggregate(4, 100, precision="nvfp4"), aggregate(4, 90, precision="mxfp4"), aggregate(8, 100)]
    found = parsed("inferencex_run", both, **attempt(1))
    assert found.rows["benchmark_result"]["concurrency"].to_list() == [8]
    assert found.refused["reason"].to_list() == ["conflicting_duplicates"] * 2


def test_a_vendor_format_stands_beside_its_family():
    (row,) = (
        parsed("inferencex_run", aggregate(4, 100, precision="MXFP4"), **attempt(1))
        .rows["benchmark_result"]
        .to_dicts()
    )
    assert (row["weight_precision"], row["note"]) == ("fp4", "weights in MXFP4")


@pytest.mark.parametrize(
    ("document", "line"),
    [
        ({"task": "gsm8k", "em_strict": 0.94, "hw": "h200", "framework": "trt", "conc": 4}, "accuracy"),
        ([{"lm_eval_version": "0.4", "results": {}}], "accuracy"),
        (
            {"max_concurrency": 4, "tokenizer_id": "x", "total_token_throughput": 0.0, "completed": 0},
            "names no chip: import it as vllm_bench",
        ),
        ({"hello": "world"}, "no aggregate of a run"),
        ([], "no aggregate of a run"),
    ],
)
def test_what_is_no_result_of_a_run_is_refused_in_one_line(document, line):
    with pytest.raises(SourceError, match=line) as caught:
        parsed("inferencex_run", document, **attempt(1))
    assert "\n" not in str(caught.value)


def test_a_run_of_which_nothing_came_is_no_point():
    dead = aggregate(8, 0, median_tpot=0.0, median_intvty=0.0, completed=0)
    found = parsed("inferencex_run", [aggregate(4, 100), dead], **attempt(1))
    assert found.rows["benchmark_result"]["concurrency"].to_list() == [4]
    assert found.refused["reason"].to_list() == ["failed_run"]


def test_a_file_whose_day_nobody_states_is_refused_with_the_cure():
    with pytest.raises(SourceError, match=r"measured_on; write it into <file>\.context\.yaml"):
        parsed("inferencex_run", aggregate(4, 100))


@pytest.mark.parametrize(
    ("url", "status"),
    [(f"{RUNS}5001", "available"), ("https://github.com/example/bench/actions/runs/1", None)],
)
def test_only_a_person_with_a_run_of_the_official_repository_makes_it_official(url, status):
    context = {"measured_on": "2026-07-15", "url": url}
    (row,) = parsed("inferencex_run", aggregate(4, 100), **context).rows["benchmark_result"].to_dicts()
    assert row["release_status"] == "unofficial"
    if status is None:
        with pytest.raises(SourceError, match="official"):
            parsed("inferencex_run", aggregate(4, 100), **context, release_status="available")
    else:
        found = parsed("inferencex_run", aggregate(4, 100), **context, release_status=status)
        assert found.rows["benchmark_result"]["release_status"].to_list() == [status]


def test_a_file_of_the_first_schema_wants_its_lengths_stated():
    old = aggregate(4, 100, mtp="on")
    for key in ("isl", "osl", "disagg", "spec_decoding", "image", "infmax_model_prefix"):
        del old[key]
    assert parsed("inferencex_run", [old], **attempt(1)).refused["reason"].to_list() == ["missing_value"]
    beside = attempt(1) | {"isl_nominal": 1024, "osl_nominal": 8192}
    (row,) = parsed("inferencex_run", [old], **beside).rows["benchmark_result"].to_dicts()
    assert (row["workload"], row["speculative_method"]) == ("fixed-1024-8192", "mtp")
    assert (row["disaggregated"], row["raw_model_name"], row["model_revision"]) == (False, "example/R1", None)


def test_warm_up_that_exceeds_all_requests_is_refused():
    accounting = {"records_total": 10, "records_warmup_dropped": 8, "records_profiled": 5}
    found = parsed("inferencex_run", aggregate(4, 100, request_accounting=accounting), **attempt(1))
    assert found.refused["reason"].to_list() == ["requests_do_not_add_up"]


def test_watts_of_sixteen_gpus_are_not_those_of_eight_ranks():
    wrong = aggregate(4, 100, avg_power_w=650, avg_total_gpu_power_w=10400)
    assert parsed("inferencex_run", wrong, **attempt(1)).refused["reason"].to_list() == [
        "gpu_count_contradicts_power"
    ]
    (row,) = parsed("inferencex_run", wrong | {"pp": 2}, **attempt(1)).rows["benchmark_result"].to_dicts()
    assert (row["tp"], row["pp"], row["power_w_gpu"]) == (8, 2, 650)


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (archive({}), "without files"),
        (archive({"a.json": 1})[:40], "not a whole zip"),
        (b"PK\x03\x04 and nothing more", "not a whole zip"),
    ],
    # The bytes of a zip hold the time at which it was made.
    ids=["empty", "cut", "begun"],
)
def test_an_archive_that_is_none_is_refused(tmp_path, body, complaint):
    with pytest.raises(SourceError, match=complaint):
        unzipped("bmk.zip", body)
    path = tmp_path / "bmk.zip"
    path.write_bytes(body)
    with pytest.raises(ImportRefused, match=r"bmk\.zip"):
        import_file(all_sources()["inferencex_run"], SnapshotStore(tmp_path / "s"), path, SEEN, attempt(1))


def test_a_parser_is_new_when_a_source_that_it_reads_with_is():
    names = {Path(file).name for file in raw._with_neighbours(inspect.getmodule(inferencex_run.parse))}
    assert names == {"inferencex_run.py", "inferencex.py", "inferencex_evaluations.py"}


def test_a_switch_that_is_a_list_costs_its_own_row_alone():
    found = parsed("inferencex_run", [aggregate(4, 100, dp_attention=[]), aggregate(8, 100)], **attempt(1))
    assert found.refused[["reason", "field"]].rows() == [("wrong_type", "dp_attention")]
    assert found.rows["benchmark_result"]["concurrency"].to_list() == [8]
