"""MLPerf Inference: the three shapes of its summaries, what is no point, and the figures of its real rounds.

The tests on real files are skipped, and say so, where there are none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from conftest import SHARED_DATA, Query, build_home

from pipelines import ingest
from pipelines.home import Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

SOURCE = all_sources()["mlperf_inference"]
FIXTURE = Path(__file__).parent / "fixtures" / "mlperf_inference" / "payload.json"
FOLDER = SHARED_DATA / "benchmarks" / "mlperf_inference"
ON_REAL_FILES = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"no real payloads at {FOLDER}: set TOKENYIELD_SHARED_DATA"
)
STORED = datetime(2026, 11, 30, tzinfo=UTC)
# Accepted rows (384 and 367) without those of 10 unmapped chips (12 and 48) and 6 unmapped models (22 and 2).
POINTS = 667
PUBLISHED = {"v5.1": date(2025, 9, 9), "v6.0": date(2026, 4, 1)}


def read_bytes(body: bytes, slice_name: str = "import:summary") -> Parsed:
    parts = (Part("summary.json", body),)
    return read(SOURCE, Snapshot(SOURCE.slug, "x", slice_name, parts, STORED, STORED))


def read_rows(document: Any, slice_name: str = "import:summary") -> Parsed:
    return read_bytes(json.dumps(document).encode(), slice_name)


def of_v60(**changes: Any) -> dict[str, Any]:
    """Eight B200 of one server in v6.0, llama2-70b-99 Server, 80,000 output tokens per second."""
    return json.loads(FIXTURE.read_text("utf-8"))[0] | changes


def of_v51(**changes: Any) -> dict[str, Any]:
    """The same as v5.1 wrote it: no total of accelerators, compliance as a number."""
    row = of_v60(version="v5.1", compliance=1, Location="closed/Dell/results/A/llama2-70b-99/Server")
    del row["Total Accelerators"]
    return row | changes


def of_v61(**changes: Any) -> dict[str, Any]:
    """The same as v6.1 writes it."""
    return {
        "Organization": "Dell", "Availability": "available", "Division": "closed",
        "SystemType": "datacenter", "SystemName": "Server A", "Platform": "A_B200-SXM-180GBx8",
        "Model": "llama2-70b-99.9", "MlperfModel": "llama2-70b-99.9", "Scenario": "Server",
        "Result": 80000.0, "Accuracy": "rouge1: 44.4  gen_len: 8", "number_of_nodes": 1,
        "accelerator_model_name": "NVIDIA B200-SXM-180GB", "accelerators_per_node": 8,
        "total_accelerators": 8, "Location": "./closed/Dell/results/A/llama2-70b-99.9/Server/run_1",
        "framework": "TensorRT 10.14.1.48; TensorRT-LLM 1.3.0rc0", "notes": None, "compliance": "closed",
        "errors": 0, "version": "v6.1", "inferred": 0, "has_power": False, "Units": "Tokens/s",
        "weight_data_types": "fp8 (static per-tensor)", "design_power_watts": None, "PrivateID": None,
    } | changes  # fmt: skip


def only(parsed: Parsed) -> dict[str, Any]:
    assert parsed.refused["reason"].to_list() == []
    (row,) = parsed.rows["benchmark_result"].to_dicts()
    return row


def why_not(parsed: Parsed) -> list[str]:
    assert not parsed.rows
    return parsed.refused["reason"].to_list()


def test_a_round_that_names_no_total_counts_accelerators_per_node_times_nodes() -> None:
    row = only(read_rows([of_v51(Nodes=3)]))
    assert (row["accelerator_count"], row["published_on"]) == (24, date(2025, 9, 9))
    assert row["result_id"].startswith("v5.1/")


def test_the_renamed_fields_of_v61_say_the_same() -> None:
    row = only(read_rows({"0": of_v61()}))
    assert (row["output_tok_s"], row["throughput_basis"], row["accelerator_count"]) == (80000, "system", 8)
    assert (row["workload"], row["raw_model_name"]) == ("mlperf-llama2-70b-99.9-server", "llama2-70b-99.9")
    assert (row["engine"], row["engine_version"]) == ("tensorrt-llm", "1.3.0rc0")
    assert (row["weight_precision"], row["accuracy_task"], row["accuracy_value"]) == ("fp8", "rouge1", 0.444)
    assert (row["run_id"], row["published_on"]) == (None, date(2026, 9, 16))
    assert row["interactivity_tok_s_user"] is None
    assert row["tpot_p99_ms"] is None


def test_a_research_system_is_internal() -> None:
    row = only(read_rows({"0": of_v61(Availability="rdi")}))
    assert row["release_status"] == "internal"


@pytest.mark.parametrize(
    ("accelerator", "reason"),
    [
        ("NVIDIA H200-SXM-141GB + AMD Instinct MI350X 288GB HBM3e", "mixed_accelerators"),
        ("AMD Instinct MI300X 192GB HBM3 (x32), AMD Instinct MI325X 256GB HBM3e (x16)", "mixed_accelerators"),
        ("N/A", "no_accelerator"),
        (None, "no_accelerator"),
    ],
    ids=["plus", "comma", "not_applicable", "null"],
)
def test_two_kinds_of_chips_are_never_priced_as_one(accelerator: str | None, reason: str) -> None:
    assert why_not(read_rows({"0": of_v61(accelerator_model_name=accelerator)})) == [reason]


def test_the_scenario_is_part_of_what_was_measured() -> None:
    rows = [of_v60(Scenario=scenario) for scenario in ("Server", "Offline", "Interactive")]
    found = read_rows(rows).rows["benchmark_result"]
    assert len(set(found["workload"])) == len(set(found["result_id"])) == 3


def test_another_model_of_the_open_division_shares_no_series_with_the_closed_one() -> None:
    row = only(read_rows([of_v60(Category="open", compliance="open", UsedModel="llama3_1-70b-fp8_dyn")]))
    assert row["workload"] == "mlperf-open-llama2-70b-99-server"
    assert row["raw_model_name"] == "llama3_1-70b-fp8_dyn"


def test_b13_a_corrected_accelerator_count_is_the_same_result() -> None:
    # 24,000 tok/s on 8 is 3,000 each; corrected to 4 it is 6,000: a correction and no faster system.
    wrong = only(read_rows([of_v60(Performance_Result=24000.0)]))
    right = only(read_rows([of_v60(Performance_Result=24000.0, **{"a#": 4, "Total Accelerators": 4})]))
    assert wrong["result_id"] == right["result_id"]
    assert (wrong["accelerator_count"], right["accelerator_count"]) == (8, 4)
    assert wrong["output_tok_s"] == right["output_tok_s"] == 24000


def test_a_chip_in_another_form_or_with_less_power_has_another_name() -> None:
    form = only(read_rows([of_v60(Accelerator="NVIDIA GB200", Notes="NVIDIA GB200 NVL4")]))
    assert form["raw_chip_name"] == "NVIDIA GB200 NVL4"
    capped = "AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)"
    assert only(read_rows([of_v60(Accelerator=capped)]))["raw_chip_name"] == capped


@pytest.mark.parametrize(
    ("software", "engine", "version"),
    [
        ("vllm-0.9.0.2.dev108+g71, ROCm 6.12", "vllm", "0.9.0.2.dev108+g71"),
        ("LLM-D v0.5.0 ,vLLM 0.14.1, RHEL 9.6", "vllm", "0.14.1"),
        ("LLMBoost Platform, vllm-0.9.0", None, None),
        ("TRTLLM-rubin, vLLM-CentML:x, Dynamo", None, None),
        ("PyTorch 2.9.1", None, None),
        ("", None, None),
    ],
    ids=["hyphen", "orchestrated", "platform_on_vllm", "two", "framework_alone", "nothing"],
)
def test_an_engine_is_what_one_name_says_and_never_a_guess(
    software: str, engine: str | None, version: str | None
) -> None:
    row = only(read_rows([of_v60(Software=software)]))
    assert (row["engine"], row["engine_version"]) == (engine, version)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "no rows"),
        ({"message": "Not Found"}, "no rows"),
        ([of_v60(version="v4.1")], "round 'v4.1' is not one of v5.1, v6.0, v6.1"),
        ([of_v60(), of_v51()], "rows of several rounds"),
        ({"0": of_v60()}, "not the shape of round v6.0"),
        ([of_v61()], "not the shape of round v6.1"),
        ([of_v51(version="v6.0")], "no row has all of its fields, among them .'Total Accelerators'"),
    ],
    ids=["nothing", "not_found", "unknown_round", "two_rounds", "object", "list", "fields"],
)
def test_what_is_no_summary_of_a_known_round_is_refused_by_name(document: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_rows(document)


def test_a_round_under_the_slice_of_another_is_refused() -> None:
    assert only(read_rows([of_v60()], "v6.0"))
    with pytest.raises(SourceError, match=r"holds round v6\.0, where v5\.1 was asked for"):
        read_rows([of_v60()], "v5.1")


# --- on real files ------------------------------------------------------------------------------


def real(name: str) -> Path:
    path = FOLDER / name / "summary_results.json"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


@ON_REAL_FILES
@pytest.mark.parametrize(
    ("name", "candidates", "accepted", "not_applicable"),
    [
        # The rows in other units are 1448 - 406 and 520 - 384.
        ("v5.1", 1448, 384, {"not_in_tokens_per_second": 1042, "no_accelerator": 12, "mixed_accelerators": 8,
                             "edge_system": 2}),
        ("v6.0", 520, 367, {"not_in_tokens_per_second": 136, "no_accelerator": 12, "mixed_accelerators": 4,
                            "edge_system": 1}),
    ],
    ids=["v5.1", "v6.0"],
)  # fmt: skip
def test_every_row_of_a_round_is_accounted_for(
    name: str, candidates: int, accepted: int, not_applicable: dict[str, int]
) -> None:
    parsed = read_bytes(real(name).read_bytes())
    assert parsed.candidates == candidates
    assert len(parsed.rows["benchmark_result"]) == accepted
    refused = parsed.refused.group_by("verdict", "reason").len().rows()
    assert {(verdict, reason): n for verdict, reason, n in refused} == {
        ("not_applicable", reason): n for reason, n in not_applicable.items()
    }
    assert parsed.rows["benchmark_result"]["result_id"].n_unique() == accepted


@ON_REAL_FILES
def test_87_of_88_accelerators_made_the_result() -> None:
    found = read_bytes(real("v6.0").read_bytes()).rows["benchmark_result"]
    (row,) = found.filter(
        point_label="AMD/87xMI355X_22xEPYC_9575F", workload="mlperf-llama2-70b-99-interactive"
    ).to_dicts()
    assert (row["accelerator_count"], row["provisioned_accelerator_count"]) == (87, 88)
    assert row["output_tok_s"] == 785522
    assert "87 of 88 accelerators used" in row["note"]


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Query]:
    """Ask the tables built from seeds and both real rounds, each imported on the day of its publication."""
    home = Home(tmp_path_factory.mktemp("mlperf"))
    store = SnapshotStore(home.snapshots)
    for name, day in PUBLISHED.items():
        ingest.import_file(SOURCE, store, real(name), datetime.combine(day, time(12), UTC))
    connection = duckdb.connect(str(build_home(home.root).current_database), read_only=True)
    try:
        yield lambda sql, *values: connection.execute(sql, list(values)).fetchall()
    finally:
        connection.close()


# Output tokens per second and accelerator, the best of its round. The 8,064 are of eight GPUs of a rack; all
# 72 of the same submitter make 7,994.
BEST = [
    ("v5.1", "llama2-70b", "llama2-70b-99-server", "h200-sxm-141", 8, 4274),
    ("v5.1", "llama2-70b", "llama2-70b-99-server", "b200-sxm-180", 8, 12701),
    ("v6.0", "llama2-70b", "llama2-70b-99-server", "b200-sxm-180", 8, 12954),
    ("v5.1", "deepseek-r1", "deepseek-r1-server", "gb300-nvl72", 72, 2907),
    ("v6.0", "deepseek-r1", "deepseek-r1-server", "gb300-nvl72", 8, 8064),
    ("v6.0", "deepseek-r1", "deepseek-r1-interactive", "b300-sxm-288", 8, 617),
    ("v6.0", "deepseek-r1", "deepseek-r1-interactive", "gb300-nvl72", 72, 3481),
]


@pytest.mark.slow
@ON_REAL_FILES
@pytest.mark.parametrize(
    ("name", "model_id", "workload", "chip_id", "accelerators", "tok_s"),
    BEST,
    ids=[f"{row[0]}-{row[2]}-{row[3]}" for row in BEST],
)
def test_the_best_of_a_round_is_what_the_publisher_says(
    rounds: Query, name: str, model_id: str, workload: str, chip_id: str, accelerators: int, tok_s: int
) -> None:
    best = rounds(
        "select round(output_tok_s_gpu), accelerator_count from mart.benchmark_point "
        "where publisher = 'mlperf' and workload_id = ? and model_id = ? and chip_id = ? "
        "and published_on = ? "
        "order by output_tok_s_gpu desc limit 1",
        f"mlperf-{workload}", model_id, chip_id, PUBLISHED[name],
    )  # fmt: skip
    assert best == [(tok_s, accelerators)]


@ON_REAL_FILES
def test_throughput_per_accelerator_is_the_published_total_over_those_used(rounds: Query) -> None:
    # 785,522 / 87; over the 88 of the system it would be 8,926.
    assert rounds(
        "select round(output_tok_s_gpu) from mart.benchmark_point where publisher = 'mlperf' "
        "and point_label = 'AMD/87xMI355X_22xEPYC_9575F' and workload_id = 'mlperf-llama2-70b-99-interactive'"
    ) == [(9029,)]


@ON_REAL_FILES
def test_what_is_not_known_stays_unmapped_and_visible(rounds: Query) -> None:
    unmapped = {
        name
        for domain, name in rounds(
            "select domain, raw_name from clean.unmapped_name where source = 'mlperf_inference'"
        )
        if domain == "chip"
    }
    assert unmapped == {
        "AMD Instinct MI355X 288GB HBM3e (Power Cap 1000 W)",
        "Intel(R) Arc Pro(R) B50",
        "Intel(R) Arc Pro(R) B60",
        "Intel(R) Arc Pro(R) B70",
        "MS-Intel Arc Pro B60 Dual 48G Turbo",
        "NVIDIA GB200 NVL4",
        "NVIDIA GB300 NVL8",
        "NVIDIA RTX PRO 4500 Blackwell",
        "NVIDIA RTX PRO 6000 Blackwell Server Edition (Power Cap 450 W)",
        "[MAXSUN] MS-Intel Arc Pro B60 Dual 48G Turbo",
    }


@ON_REAL_FILES
def test_no_point_may_be_ranked_for_its_speed_is_only_bounded(rounds: Query) -> None:
    assert rounds(
        "select count(*), count(interactivity_tok_s_user), count(*) filter (where eligible) "
        "from mart.benchmark_point where publisher = 'mlperf'"
    ) == [(POINTS, 0, 0)]
