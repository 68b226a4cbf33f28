"""What the real files of InferenceX come to: figures worked out from the files themselves.

The files are not part of this repository; without them these tests are skipped, and say so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import yaml
from conftest import AS_OF, SHARED_DATA
from price_world import _needed

from pipelines import run, sql_build
from pipelines.home import Home
from pipelines.ingest import ImportRefused, import_file
from pipelines.snapshots import SnapshotStore
from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read
from pipelines.warehouse import Warehouse

BENCHMARKS = SHARED_DATA / "benchmarks"
CAPTURE = BENCHMARKS / "inferencex_api" / "captured_2026-05-05"
META = BENCHMARKS / "inferencex_meta"
RUN_FILES = BENCHMARKS / "inferencex_runs"
CAPTURED = datetime(2026, 5, 5, tzinfo=UTC)
COMMITTED = datetime(2026, 8, 3, tzinfo=UTC)
LEGACY_DAYS = {"2025-12-01", "2025-12-05"}

Query = Callable[..., list[tuple[Any, ...]]]

pytestmark = pytest.mark.skipif(not CAPTURE.is_dir(), reason=f"no real payloads at {SHARED_DATA}")


@cache
def rows(name: str) -> Any:
    return json.loads((CAPTURE / f"{name}.json").read_bytes())


def parsed(slug: str, path: Path, **context: Any) -> Parsed:
    part = Part(path.name, path.read_bytes())
    return read(all_sources()[slug], Snapshot(slug, "trial", "all", (part,), CAPTURED, AS_OF, context))


def points() -> list[dict[str, Any]]:
    return [*rows("benchmarks"), *rows("benchmarks-history")]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("inferencex"))
    store, found = SnapshotStore(home.snapshots), all_sources()
    day, sweep = {"measured_on": "2026-06-01"}, {"measured_on": "2026-07-14"}
    wanted: list[tuple[str, Path, str, datetime, dict[str, Any]]] = [
        ("inferencex", CAPTURE, "benchmarks*.json", CAPTURED, {}),
        ("inferencex_evaluations", CAPTURE, "evaluations.json", CAPTURED, {}),
        ("inferencex_reliability", CAPTURE, "reliability.json", CAPTURED, {}),
        ("inferencex_changes", CAPTURE, "workflow-info.json", CAPTURED, {}),
        ("inferencex_changes", META, "perf-changelog.yaml", COMMITTED, {}),
        ("inferencex_run", RUN_FILES, "kimik2.5_mi355x_20260601/agg_*.json", COMMITTED, day),
        ("inferencex_run", RUN_FILES, "agentx_*/*/*.json", COMMITTED, sweep),
    ]
    for slug, folder, pattern, seen, context in wanted:
        paths = sorted(folder.glob(pattern))
        assert paths, f"{folder} holds nothing like {pattern}"
        for path in paths:
            import_file(found[slug], store, path, seen, context)
    run.load(home, AS_OF)
    models = ("core.accuracy_gate", "mart.evaluation", "mart.run_reliability", "mart.change_note")
    with Warehouse(home.warehouse).write() as connection:
        sql_build.build(connection, _needed([*models, "mart.source_health"]))
    return home


@pytest.fixture
def ask(home: Home) -> Iterator[Query]:
    with Warehouse(home.warehouse).read() as reader:
        yield lambda sql, *values: reader.execute(sql, list(values)).fetchall()


# --- Points -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "total"), [("benchmarks", 435), ("benchmarks-history", 1369)])
def test_no_row_of_the_two_endpoints_is_lost(name, total):
    found = parsed("inferencex", CAPTURE / f"{name}.json")
    assert len(rows(name)) == found.candidates == total
    assert {kind: len(frame) for kind, frame in found.rows.items()} == {"benchmark_result": total}


def test_input_and_output_over_their_roles_make_the_total_but_in_eight_old_rows():
    split = [row for row in points() if row["disagg"]]
    off = []
    for row in split:
        prefill, decode, metrics = row["num_prefill_gpu"], row["num_decode_gpu"], row["metrics"]
        made = metrics["input_tput_per_gpu"] * prefill + metrics["output_tput_per_gpu"] * decode
        if abs(made / (prefill + decode) / metrics["tput_per_gpu"] - 1) > 0.01:
            off.append(row)
    assert (len(split), len(off)) == (643, 8)
    assert {row["date"] for row in off} == LEGACY_DAYS
    assert all(row["prefill_num_workers"] == row["decode_num_workers"] == 0 for row in off)


def test_the_eight_old_rows_have_the_split_that_their_throughputs_force(ask):
    found = ask(
        "select run_id, concurrency, isl_nominal, accelerator_count, prefill_accelerator_count, "
        "decode_accelerator_count, gpu_count_basis, interactivity_tok_s_user from core.benchmark_point "
        "where source = 'inferencex' and disaggregated and gpu_count_basis = 'inferred'"
    )
    stated = {}
    for row in points():
        if row["disagg"] and row["date"] in LEGACY_DAYS and row["decode_num_workers"] == 0:
            total, put_in, out = (
                row["metrics"][key] for key in ("tput_per_gpu", "input_tput_per_gpu", "output_tput_per_gpu")
            )
            prefill = row["num_decode_gpu"] * (total - out) / (put_in - out)
            assert abs(prefill - round(prefill)) < 0.01
            key = (re.findall(r"/runs/(\d+)", row["run_url"])[0], row["conc"], row["isl"])
            stated[key] = (row["num_decode_gpu"], round(prefill), row["num_decode_gpu"] - round(prefill))
    assert len(stated) == len(found) == 8
    assert {tuple(row[:3]): tuple(row[3:6]) for row in found} == stated


def test_a_point_of_both_files_has_what_either_states(ask):
    """233 points stand in both: 1,804 rows are 1,571 points, and the image is stated by one file alone."""
    assert ask("select count(*) from core.benchmark_result where source = 'inferencex'") == [(1804,)]
    assert ask("select count(*) from core.benchmark_point where source = 'inferencex'") == [(1571,)]
    (pairs,) = ask(
        "with stated as (select benchmark_point_id, count(*) as looks from core.benchmark_result "
        "where source = 'inferencex' group by all having count(*) = 2) "
        "select count(*), count(image), count(ttft_p50_ms) from stated "
        "inner join core.benchmark_point using (benchmark_point_id)"
    )
    with_image = sum(row["image"] is not None for row in rows("benchmarks"))
    assert pairs[0] == pairs[2] == 233
    assert ask("select count(image) from core.benchmark_point where source = 'inferencex'") == [(with_image,)]


def test_a_third_of_the_aggregated_rows_would_have_had_too_many_gpus(ask):
    wrong = [
        row
        for row in rows("benchmarks-history")
        if not row["disagg"] and row["num_decode_gpu"] != row["decode_tp"]
    ]
    aggregated = sum(not row["disagg"] for row in rows("benchmarks-history"))
    # 33 %: TP8 x EP8 on 8 GPUs is stored as 64.
    assert (len(wrong), aggregated) == (320, 961)
    found = dict(
        ask(
            "select accelerator_count = tp and gpu_count_basis = 'inferred', count(*) "
            "from core.benchmark_result where source = 'inferencex' and not disaggregated group by all"
        )
    )
    assert found == {True: sum(not row["disagg"] for row in points())}


def test_every_chip_and_model_of_the_api_is_known(ask):
    assert ask(
        "select source, domain, raw_name from clean.unmapped_name where starts_with(source, 'inferencex')"
    ) == [("inferencex_changes", "chip", "rtx6000pro")]
    assert ask("select unmapped_names from mart.source_health where source = 'inferencex_changes'") == [(1,)]


# --- Accuracy, reliability, changes -------------------------------------------------------------


def test_every_score_of_every_evaluation_is_kept(ask):
    scores = Counter(key for row in rows("evaluations") for key in row["metrics"])
    kept = {key: scores[key] for key in ("em_strict", "em_flexible", "score")}
    assert kept == {"em_strict": 540, "em_flexible": 540, "score": 464}
    assert dict(ask("select metric, count(*) from mart.evaluation group by all")) == kept
    assert parsed("inferencex_evaluations", CAPTURE / "evaluations.json").candidates == sum(kept.values())
    assert ask("select count(distinct sample_count), max(sample_count) from mart.evaluation") == [(1, 1319)]


def test_points_of_an_engine_that_answers_nothing_right_are_seen(ask):
    fallen = ask(
        "select engine, chip_id, max(gate.accuracy_value), count(*) from core.accuracy_gate as gate "
        "inner join core.benchmark_point using (benchmark_point_id) where accuracy_fallen group by all"
    )
    broken = {
        (row["framework"], row["hardware"])
        for row in rows("evaluations")
        if row["model"] == "dsr1" and row["metrics"]["em_strict"] < 0.01
    }
    assert broken == {("mori-sglang", "mi355x")}
    assert {(engine, chip) for engine, chip, *_ in fallen} == broken
    assert all(value < 0.01 for _, _, value, _ in fallen)
    (reference,) = ask(
        "select distinct accuracy_reference, accuracy_configurations from core.accuracy_gate "
        "where accuracy_metric = 'em_strict'"
    )
    newest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for row in rows("evaluations"):
        if row["model"] == "dsr1":
            roles = ("prefill", "decode") if row["disagg"] else ("decode",)
            keys = ("tp", "ep", "dp_attention", "num_workers")
            ranks = [row[f"{role}_{key}"] for role in roles for key in keys]
            key = (row["hardware"], row["framework"], row["precision"], row["spec_method"], *ranks)
            stated = (row["date"], -row["metrics"]["em_strict"])
            newest[key] = max(newest.get(key, stated), stated)
    assert reference == (pytest.approx(median(-value for _, value in newest.values())), len(newest))


def test_every_job_is_counted_once(ask):
    listed = rows("reliability")
    found = parsed("inferencex_reliability", CAPTURE / "reliability.json")
    idle = sum(row["total"] == 0 for row in listed)
    assert (found.candidates, len(found.refused)) == (len(listed), idle) == (3557, 1859)
    assert set(found.refused["reason"].to_list()) == {"no_job_ran"}
    assert ask("select sum(total_jobs), sum(succeeded_jobs) from mart.run_reliability") == [
        (sum(row["total"] for row in listed), sum(row["n_success"] for row in listed))
    ]
    days = {(row["hardware"], row["date"]) for row in listed if row["total"]}
    assert ask("select count(*) from mart.run_reliability") == [(len(days),)]


def test_every_configuration_of_every_change_is_told(ask):
    listed = yaml.safe_load((META / "perf-changelog.yaml").read_bytes())
    named = sum(len(entry["config-keys"]) for entry in listed)
    found = parsed("inferencex_changes", META / "perf-changelog.yaml")
    assert (len(listed), found.candidates, named) == (772, 1066, 1066)
    assert Counter(found.refused["reason"].to_list()) == {"identical_duplicate": 5}
    notes = found.rows["change_note"]
    assert notes.filter(notes["raw_chip_name"].is_null())["config_key"].str.contains(r"\*").all()
    (change,) = rows("workflow-info")["changelogs"]
    (told,) = ask(
        "select config_key, run_id, cast(changed_on as varchar) from mart.change_note where run_id > ''"
    )
    assert told == (change["config_keys"][0], change["workflow_run_id"], change["date"])


@pytest.mark.parametrize("name", ["availability", "submissions"])
@pytest.mark.parametrize(
    "slug", ["inferencex", "inferencex_changes", "inferencex_evaluations", "inferencex_reliability"]
)
def test_what_is_not_read_is_refused_in_one_line(slug, name):
    with pytest.raises(SourceError) as caught:
        parsed(slug, CAPTURE / f"{name}.json")
    assert f"{name}.json" in str(caught.value)
    assert "\n" not in str(caught.value)


# --- Files of single runs -----------------------------------------------------------------------


def test_every_file_of_a_run_loads_or_is_refused_in_one_line(tmp_path):
    store, source = SnapshotStore(tmp_path), all_sources()["inferencex_run"]
    files = sorted(RUN_FILES.rglob("*.json"))
    aggregates = [path for path in files if path.name.startswith("agg_") or "agentx" in str(path)]
    assert (len(files), len(aggregates)) == (43, 13)
    for path in files:
        given = (source, store, path, COMMITTED, {"measured_on": "2026-06-01"})
        if path in aggregates:
            _, found = import_file(*given)
            assert (found.candidates, len(found.rows["benchmark_result"])) == (1, 1)
        else:
            with pytest.raises(ImportRefused, match=r"names no chip: import it as vllm_bench$") as caught:
                import_file(*given)
            assert "\n" not in str(caught.value)


def test_replays_say_what_they_are(ask):
    """The saved point of 32 sessions on 8 GPUs: 3,195 tokens per second and GPU, of which 23.8 come out."""
    assert ask(
        "select accelerator_count, gpu_count_basis, round(total_tok_s_gpu, 1), round(output_tok_s_gpu, 1), "
        "round(cache_hit_rate, 3), speed_percentile, round(interactivity_tok_s_user, 2), "
        "round(ttft_p50_ms / 1000, 1), completed_requests, failed_requests, traffic_basis, isl_nominal "
        "from core.benchmark_point where workload_id = 'agentx' and source = 'inferencex_run' "
        "and concurrency = 32 and tp = 8"
    ) == [(8, "inferred", 3194.8, 23.8, 0.888, "p90", 6.24, 65.2, 1052, 0, "replay", None)]
    assert ask(
        "select count(*), count(distinct serving_line_id) from core.benchmark_point "
        "where source = 'inferencex_run'"
    ) == [(13, 4)]
