"""The sources on payloads as their publishers wrote them: facts that a correct reading reproduces.

The files are not part of this repository. TOKENYIELD_SHARED_DATA says where they are; without them
these tests are skipped, and say so.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

import polars as pl
import pytest

from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("TOKENYIELD_SHARED_DATA", ROOT / ".." / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no real payloads at {DATA}: set TOKENYIELD_SHARED_DATA"
)

GCP, OCI, INFERENCEX = "gcp_machine_prices", "oci_price_list", "inferencex"
GCP_FOLDER = "rental/gcp_cyclenerd_pricing_yml"
OCI_FILE = "rental/oci_opencost/oci_products_usd_2024-01-19.json"
CAPTURE = "benchmarks/inferencex_api/captured_2026-05-05"

# (file, when it says it was generated, candidates, accepted, rejected). Each takes seconds to decode:
# four are read always, the rest in the slow run.
GCP_FILES = [
    ("pricing_2022-09-15_ce29290fcc", "2022-09-15T06:56:01", 1413, 945, 0),
    ("pricing_2023-10-12_b98501973a", "2023-10-12T03:58:42", 2866, 2652, 0),
    ("pricing_2024-03-14_62e17072b7", "2024-03-14T03:54:35", 2936, 2720, 0),
    ("pricing_2024-08-15_dffa3c683b", "2024-08-15T03:54:30", 3154, 2880, 0),
    ("pricing_2024-08-17_6df5fae0da", "2024-08-17T09:44:40", 3314, 3040, 0),
    ("pricing_2024-08-17_d45989c8b7", "2024-08-17T12:34:16", 3170, 2576, 0),
    ("pricing_2025-01-16_d0bb362393", "2025-01-16T03:54:07", 3677, 3056, 0),
    ("pricing_2025-05-22_035a48ede8", "2025-05-22T04:01:24", 3744, 3056, 0),
    ("pricing_2025-09-18_ae5b8827c7", "2025-09-18T03:54:53", 3792, 3056, 0),
    ("pricing_2026-01-22_d862b4033f", "2026-01-22T04:38:11", 3846, 3056, 0),
    ("pricing_2026-07-30_fd66b26ff8", "2026-07-30T06:13:17", 4438, 3372, 237),
]
ALWAYS_READ = {"ce29290fcc", "6df5fae0da", "d45989c8b7", "fd66b26ff8"}
EVERY_GCP_FILE = [
    pytest.param(*row, marks=() if row[0][-10:] in ALWAYS_READ else pytest.mark.slow, id=row[0][8:])
    for row in GCP_FILES
]
# Spot of a3-highgpu-8g in us-central1, US dollars per GPU-hour in cents.
H100_SPOT = {
    "pricing_2024-08-15_dffa3c683b": "6.10",
    "pricing_2024-08-17_6df5fae0da": "6.10",
    "pricing_2024-08-17_d45989c8b7": "6.10",
    "pricing_2025-01-16_d0bb362393": "4.45",
    "pricing_2025-05-22_035a48ede8": "2.55",
    "pricing_2025-09-18_ae5b8827c7": "2.55",
    "pricing_2026-01-22_d862b4033f": "2.93",
    "pricing_2026-07-30_fd66b26ff8": "6.33",
}


def parts_of(path: str) -> tuple[Part, ...]:
    file = DATA / path
    if not file.exists():
        pytest.skip(f"{file} is not there")
    return (Part(file.name, file.read_bytes()),)


@cache
def parsed(slug: str, path: str) -> Parsed:
    source, parts = all_sources()[slug], parts_of(path)
    at = source.observed_at(parts) if source.observed_at else datetime(2026, 5, 5, tzinfo=UTC)
    assert at is not None
    return read(source, Snapshot(slug, "real", "all", parts, at, datetime(2026, 11, 30, tzinfo=UTC)))


def quotes(name: str) -> pl.DataFrame:
    return parsed(GCP, f"{GCP_FOLDER}/{name}.yml.gz").rows["rental_quote"]


def per_gpu(name: str, machine: str, region: str, price_type: str) -> Decimal:
    rows = quotes(name).filter(offer_key=machine, region=region, price_type=price_type)
    ((price, count),) = rows.select("price", "gpu_count").rows()
    return (price / int(count)).quantize(Decimal("0.01"))


@pytest.mark.parametrize(("name", "generated", "candidates", "accepted", "rejected"), EVERY_GCP_FILE)
def test_gcp_file_is_read_whole(
    name: str, generated: str, candidates: int, accepted: int, rejected: int
) -> None:
    result = parsed(GCP, f"{GCP_FOLDER}/{name}.yml.gz")
    verdicts = Counter(result.refused["verdict"])
    assert len(quotes(name)) == accepted
    assert verdicts["rejected"] == rejected
    assert accepted + rejected + verdicts["not_applicable"] == candidates == result.candidates
    assert quotes(name)["observed_at"].unique().to_list() == [
        datetime.fromisoformat(generated).replace(tzinfo=UTC)
    ]
    if name in H100_SPOT:
        assert per_gpu(name, "a3-highgpu-8g", "us-central1", "on_demand") == Decimal("11.06")
        assert per_gpu(name, "a3-highgpu-8g", "us-central1", "spot") == Decimal(H100_SPOT[name])


def test_gcp_two_files_of_one_day_keep_their_order() -> None:
    first, second = "pricing_2024-08-17_6df5fae0da", "pricing_2024-08-17_d45989c8b7"
    assert quotes(first)["observed_at"][0] == datetime(2024, 8, 17, 9, 44, 40, tzinfo=UTC)
    assert quotes(second)["observed_at"][0] == datetime(2024, 8, 17, 12, 34, 16, tzinfo=UTC)
    # What each of them says is kept as said: 8 H100 at 10.12 an hour is not for this layer to judge.
    regions = {
        name: quotes(name).filter(offer_key="a3-megagpu-8g", price_type="on_demand")
        for name in (first, second)
    }
    assert (len(regions[first]), len(regions[second])) == (40, 9)
    assert per_gpu(first, "a3-megagpu-8g", "us-central1", "on_demand") == Decimal("1.26")
    assert len(regions[first].filter(pl.col("price") < 20)) == 31


def test_gcp_fractions_of_a_gpu_are_refused_by_name() -> None:
    refused = parsed(GCP, f"{GCP_FOLDER}/pricing_2026-07-30_fd66b26ff8.yml.gz").refused
    fractional = refused.filter(reason="fractional")
    assert Counter(fractional["value"]) == {"0.125": 79, "0.25": 79, "0.5": 79}
    assert set(fractional["field"]) == {"rtx6000"}


def test_gcp_file_of_february_2022_proves_no_time_and_parses_with_the_one_of_its_name() -> None:
    parts = parts_of(f"{GCP_FOLDER}/pricing_2022-02-17_f9adbcbd8d.yml.gz")
    hook = all_sources()[GCP].observed_at
    assert hook is not None
    assert hook(parts) is None
    at = datetime(2022, 2, 17, tzinfo=UTC)
    quotes = read(all_sources()[GCP], Snapshot(GCP, "x", "all", parts, at, at)).rows["rental_quote"]
    a2 = quotes.filter(
        (pl.col("offer_key") == "a2-highgpu-8g")
        & (pl.col("region") == "asia-east1")
        & (pl.col("price_type") == "on_demand")
    )
    assert a2["price"].to_list() == [Decimal("30.321136")]


def test_oci_list_of_2024_01_19_has_seven_gpus() -> None:
    result = parsed(OCI, OCI_FILE)
    gpus = result.rows["rental_quote"]
    assert dict(gpus.select("offer_key", "price").iter_rows()) == {
        "B88517": Decimal("1.275"),
        "B88518": Decimal("1.275"),
        "B89734": Decimal("2.95"),
        "B92740": Decimal("3.05"),
        "B95907": Decimal(4),
        "B95909": Decimal(2),
        "B98415": Decimal(10),
    }
    assert gpus.filter(offer_key="B95909")["product_name"].to_list() == ["Compute - GPU - A10"]
    assert not [name for name in gpus["product_name"] if "NVIDIA AI Enterprise" in name]
    assert Counter(result.refused["reason"]) == {"no_gpu": 443}
    assert result.candidates == 450


@pytest.mark.parametrize(("name", "candidates"), [("benchmarks", 435), ("benchmarks-history", 1369)])
def test_inferencex_loses_no_row(name: str, candidates: int) -> None:
    result = parsed(INFERENCEX, f"{CAPTURE}/{name}.json")
    assert result.candidates == candidates
    assert len(result.rows["benchmark_result"]) == candidates
    assert result.refused.is_empty()


@pytest.mark.parametrize(
    ("name", "aggregated", "by_role", "legacy", "tp8_ep8"),
    [("benchmarks", 200, 227, 8, 29), ("benchmarks-history", 961, 408, 0, 244)],
)
def test_inferencex_gpu_counts(name: str, aggregated: int, by_role: int, legacy: int, tp8_ep8: int) -> None:
    rows = parsed(INFERENCEX, f"{CAPTURE}/{name}.json").rows["benchmark_result"]
    together = rows.filter(disaggregated=False)
    assert len(together) == aggregated
    assert together["accelerator_count"].null_count() == aggregated
    assert len(together.filter(tp=8, ep=8)) == tp8_ep8

    roles = rows.filter(disaggregated=True)
    with_roles = roles.filter(pl.col("prefill_accelerator_count").is_not_null())
    assert len(with_roles) == by_role
    assert (
        with_roles["prefill_accelerator_count"] + with_roles["decode_accelerator_count"]
        == with_roles["accelerator_count"]
    ).all()
    without = roles.filter(pl.col("prefill_accelerator_count").is_null())
    assert len(without) == legacy
    assert sorted(without["accelerator_count"]) == [20, 28, 28, 36, 36, 48, 72, 72][:legacy]
    assert {str(day) for day in without["measured_on"]} <= {"2025-12-01", "2025-12-05"}


def test_inferencex_figures_are_those_of_the_payload_in_our_units() -> None:
    path = f"{CAPTURE}/benchmarks-history.json"
    result = parsed(INFERENCEX, path).rows["benchmark_result"].to_dicts()
    payload = json.loads(parts_of(path)[0].body)
    for row, stated in zip(result, payload, strict=True):
        metrics = stated["metrics"]
        assert row["tpot_p50_ms"] == pytest.approx(metrics["median_tpot"] * 1000)
        assert row["ttft_p99_ms"] == pytest.approx(metrics["p99_ttft"] * 1000)
        assert row["interactivity_tok_s_user"] * row["tpot_p50_ms"] == pytest.approx(1000)
        assert row["output_tok_s"] == pytest.approx(metrics["output_tput_per_gpu"])
        assert row["input_tok_s"] == pytest.approx(metrics["input_tput_per_gpu"])
        assert row["concurrency"] == stated["conc"]


@pytest.mark.parametrize(
    "name", ["availability", "evaluations", "reliability", "submissions", "workflow-info"]
)
def test_inferencex_other_endpoints_are_refused(name: str) -> None:
    with pytest.raises(SourceError, match="only /benchmarks and /benchmarks/history are read"):
        parsed(INFERENCEX, f"{CAPTURE}/{name}.json")
