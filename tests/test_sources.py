"""Every source against its fixture, and the traps that each source must not fall into.

A new source needs a folder `tests/fixtures/<slug>/` and no change here:

    payload.<ext>         a small payload in the true shape; several parts: payload-1.json, payload-2.json
    expected.csv          the accepted rows: kind, row_number and the columns worth reading. An empty
                          field is a null. Times are UTC, numbers have no trailing zeros
    expected_refused.csv  everything else: verdict, reason, field, value, locator
    meta.json             optional: observed_at, recorded_at, slice, context of the snapshot

`row_number` counts the candidates of the payload from 0, accepted or not, so both files together have
every number once.
"""

from __future__ import annotations

import copy
import csv
import dataclasses
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipelines.contracts import ROW_KINDS, TYPES
from pipelines.source import REFUSED_SCHEMA, Parsed, Part, Snapshot, Source, SourceError, all_sources, read

FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = all_sources()
EVERY_SOURCE = pytest.mark.parametrize("slug", sorted(SOURCES))


def snapshot_of(source: Source, parts: tuple[Part, ...], meta: dict[str, Any] | None = None) -> Snapshot:
    """Make the snapshot that the fetch would have stored; the payload's own time wins."""
    meta = meta or {}
    proven = source.observed_at(parts) if source.observed_at else None
    observed_at = proven or datetime.fromisoformat(meta.get("observed_at", "2026-01-01T00:00:00Z"))
    recorded_at = datetime.fromisoformat(meta.get("recorded_at", "2026-12-31T00:00:00Z"))
    context = meta.get("context", {})
    return Snapshot(
        source.slug, "fixture", meta.get("slice", "all"), parts, observed_at, recorded_at, context
    )


def fixture_snapshot(slug: str) -> Snapshot:
    """Return the snapshot of `tests/fixtures/<slug>/`."""
    folder = FIXTURES / slug
    payloads = sorted(folder.glob("payload*"))
    assert payloads, f"{folder} holds no payload file: every source has a fixture"
    meta_file = folder / "meta.json"
    meta = json.loads(meta_file.read_text("utf-8")) if meta_file.exists() else {}
    return snapshot_of(SOURCES[slug], tuple(Part(p.name, p.read_bytes()) for p in payloads), meta)


def written(value: Any) -> str:
    """Write a value as the expected files do."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, float):
        return f"{value:.12g}"
    return str(value)


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def in_the_columns_of(expected: list[dict[str, str]], found: list[dict[str, Any]]) -> list[dict[str, str]]:
    columns = expected[0].keys() if expected else found[0].keys() if found else ()
    rows = [{column: written(row.get(column)) for column in columns} for row in found]
    return sorted(rows, key=lambda row: int(row["row_number"]))


def accepted_rows(parsed: Parsed) -> list[dict[str, Any]]:
    return [
        {"kind": kind, **row} for kind, frame in parsed.rows.items() for row in frame.iter_rows(named=True)
    ]


def same_result(one: Parsed, other: Parsed) -> bool:
    return (
        one.rows.keys() == other.rows.keys()
        and all(one.rows[kind].equals(other.rows[kind]) for kind in one.rows)
        and one.refused.equals(other.refused)
    )


@EVERY_SOURCE
def test_a_source_reads_its_fixture_exactly(slug: str) -> None:
    source, snapshot = SOURCES[slug], fixture_snapshot(slug)
    parsed = read(source, snapshot)

    expected = table(FIXTURES / slug / "expected.csv")
    refused = table(FIXTURES / slug / "expected_refused.csv")
    assert expected, "a fixture shows at least one row that is accepted"
    assert in_the_columns_of(expected, accepted_rows(parsed)) == expected
    assert in_the_columns_of(refused, parsed.refused.to_dicts()) == refused

    # No candidate disappears: each has one number, in one of the two files.
    numbers = [int(row["row_number"]) for row in (*expected, *refused)]
    assert sorted(numbers) == list(range(parsed.candidates))
    assert len(list(source.parse(snapshot))) == parsed.candidates

    # Nothing inferred: the types are the contract's, whatever the values are.
    for kind, frame in parsed.rows.items():
        contract = {column.name: TYPES[column.type].polars for column in ROW_KINDS[kind].columns}
        assert dict(frame.schema) == {**contract, "row_number": pl.Int64()}
    assert dict(parsed.refused.schema) == REFUSED_SCHEMA

    # Pure: the same snapshot gives the same result, and stays as it was.
    before = copy.deepcopy(snapshot)
    assert same_result(parsed, read(source, snapshot))
    assert snapshot == before

    whole = snapshot.parts
    for number, part in enumerate(whole):
        for label, body in (
            ("empty", b""),
            ("a page", b"<html><body>Service unavailable</body></html>"),
            ("cut in half", part.body[: len(part.body) // 2]),
            ("an empty object", b"{}"),
        ):
            damaged = (*whole[:number], dataclasses.replace(part, body=body), *whole[number + 1 :])
            refusal = outcome_of_reading(source, snapshot, damaged)
            assert refusal is SourceError, f"{part.name}, {label}: {refusal} in place of a SourceError"


def outcome_of_reading(source: Source, snapshot: Snapshot, parts: tuple[Part, ...]) -> type | None:
    try:
        read(source, dataclasses.replace(snapshot, parts=parts))
    except Exception as error:
        return type(error)
    return None


@EVERY_SOURCE
def test_a_source_asks_over_https_and_names_each_slice_once(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = SOURCES[slug]
    if source.key_variable:
        monkeypatch.setenv(source.key_variable, "a-key")
    requests = list(source.requests()) if source.requests else []
    assert all(request.url.startswith("https://") for request in requests)
    assert len({(request.slice, request.url) for request in requests}) == len(requests)


@pytest.mark.parametrize("slug", sorted(SOURCES))
def test_a_source_brings_every_provider_that_no_seed_knows(slug: str) -> None:
    """A quote of a provider that nobody knows is no price: declare it in `Source(providers=...)`."""
    with (Path(__file__).parents[1] / "seeds" / "provider.csv").open(encoding="utf-8") as stream:
        known = {row["provider_id"] for row in csv.DictReader(stream)}
    known |= {provider.provider_id for provider in SOURCES[slug].providers}
    quotes = read(SOURCES[slug], fixture_snapshot(slug)).rows.get("rental_quote")
    assert quotes is None or set(quotes["provider"].to_list()) <= known


# --- Oracle Cloud -------------------------------------------------------------------------------


def oci_item(part: str = "B1", value: object = 10, **changes: Any) -> dict[str, Any]:
    item = {
        "partNumber": part,
        "displayName": "Compute - GPU - H100",
        "metricName": "GPU Per Hour",
        "serviceCategory": "Compute - GPU",
        "currencyCodeLocalizations": [
            {"currencyCode": "USD", "prices": [{"model": "PAY_AS_YOU_GO", "value": value}]}
        ],
    }
    return item | changes


def read_json(slug: str, document: Any, **meta: str) -> Parsed:
    part = Part("payload.json", json.dumps(document).encode())
    return read(SOURCES[slug], snapshot_of(SOURCES[slug], (part,), meta))


def prices(parsed: Parsed) -> list[tuple[str, str]]:
    if "rental_quote" not in parsed.rows:
        return []
    quotes = parsed.rows["rental_quote"].select("offer_key", "price").iter_rows()
    return [(key, written(price)) for key, price in quotes]


def reasons(parsed: Parsed) -> list[str]:
    return parsed.refused["reason"].to_list()


def test_oci_sells_no_software_licence_as_a_gpu() -> None:
    licence = oci_item("B2", 1, displayName="OCI - NVIDIA AI Enterprise - H100")
    parsed = read_json("oci_price_list", {"items": [oci_item(), licence]})
    assert prices(parsed) == [("B1", "10")]
    assert reasons(parsed) == ["software_licence"]


def test_oci_finds_a_gpu_whose_name_says_nothing() -> None:
    parsed = read_json("oci_price_list", {"items": [oci_item(displayName="Compute - Standard - V2")]})
    assert prices(parsed) == [("B1", "10")]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_oci_trusts_neither_of_two_prices_of_one_part_number(order: tuple[int, int]) -> None:
    pair = [oci_item("B2", 3), oci_item("B2", 1.45)]
    parsed = read_json("oci_price_list", {"items": [oci_item(), *(pair[i] for i in order)]})
    assert prices(parsed) == [("B1", "10")]
    assert reasons(parsed) == ["conflicting_duplicates"] * 2


def test_oci_without_any_gpu_is_a_list_that_lost_them() -> None:
    with pytest.raises(SourceError, match="none of 1 items is a GPU"):
        read_json("oci_price_list", {"items": [oci_item(metricName="OCPU Per Hour", serviceCategory="VM")]})


def test_oci_refuses_one_page_of_several() -> None:
    with pytest.raises(SourceError, match="goes on"):
        read_json("oci_price_list", {"items": [oci_item()], "hasMore": True})


def test_oci_counts_prices_that_are_none() -> None:
    values = [0, None, True, "2.49", float("nan"), -1, 1e9, float("inf")]
    items = [oci_item(f"B{number}", value) for number, value in enumerate(values)]
    parsed = read_json("oci_price_list", {"items": items})
    assert prices(parsed) == [("B3", "2.49"), ("B6", "1000000000")]
    assert reasons(parsed) == [
        "not_positive",
        "missing_value",
        "wrong_type",
        "not_finite",
        "not_positive",
        "not_finite",
    ]


# --- Google Cloud -------------------------------------------------------------------------------

GCP = "gcp_machine_prices"
ABOUT = "about:\n  generated: 'Thu Oct  9 08:53:20 2025'\n  timestamp: 1760000000\n"
END = "region:\n  us-central1: {}\nstorage:\n  bucket: {}\n"
MACHINE = (
    "compute:\n  instance:\n    a3-highgpu-8g:\n      h100-80gb: 8\n"
    "      cost:\n        us-central1:\n          hour: 88.49\n          month: 64597.7\n"
)


def gcp_parts(text: str) -> tuple[Part, ...]:
    return (Part("pricing.yml", text.encode()),)


def read_gcp(text: str) -> Parsed:
    return read(SOURCES[GCP], snapshot_of(SOURCES[GCP], gcp_parts(text)))


def test_gcp_takes_its_time_from_the_file() -> None:
    assert SOURCES[GCP].observed_at is not None
    assert SOURCES[GCP].observed_at(gcp_parts(ABOUT + MACHINE + END)) == datetime(
        2025, 10, 9, 8, 53, 20, tzinfo=UTC
    )


@pytest.mark.parametrize(
    "about",
    [
        "about:\n  url: https://example.com\n",
        "about:\n  timestamp: soon\n",
        "about:\n  timestamp: 0\n",
        "about:\n  timestamp: 1760000000000\n",
        "about:\n  url: x\nother:\n  timestamp: 1760000000\n",
    ],
    ids=["no_timestamp", "text", "1970", "milliseconds", "of_another_section"],
)
def test_gcp_without_a_plausible_time_of_its_own_is_refused(about: str) -> None:
    parts = gcp_parts(about + MACHINE + END)
    with pytest.raises(SourceError, match=r"about\.timestamp"):
        snapshot_of(SOURCES[GCP], parts)
    at = datetime(2026, 1, 1, tzinfo=UTC)
    with pytest.raises(SourceError, match="about"):
        read(SOURCES[GCP], Snapshot(GCP, "x", "all", parts, at, at))


def test_gcp_file_of_before_september_2022_takes_the_time_that_was_stated() -> None:
    parts = gcp_parts(MACHINE + END)
    assert SOURCES[GCP].observed_at(parts) is None
    at = datetime(2022, 2, 17, tzinfo=UTC)
    quotes = read(SOURCES[GCP], Snapshot(GCP, "x", "all", parts, at, at)).rows["rental_quote"]
    assert quotes["observed_at"].to_list() == [at]


def test_gcp_from_the_future_is_refused() -> None:
    parts = gcp_parts(ABOUT + MACHINE + END)
    stored = datetime(2025, 10, 1, tzinfo=UTC)
    with pytest.raises(SourceError, match="after it was stored"):
        read(SOURCES[GCP], Snapshot(GCP, "x", "all", parts, stored, stored))


def test_gcp_cut_between_two_sections_is_refused_though_it_is_valid_yaml() -> None:
    with pytest.raises(SourceError, match="cut short"):
        read_gcp(ABOUT + MACHINE)


def test_gcp_month_is_the_hour_again_and_no_price_of_its_own() -> None:
    parsed = read_gcp(ABOUT + MACHINE + END)
    assert prices(parsed) == [("a3-highgpu-8g", "88.49")]
    assert reasons(parsed) == ["price_type_not_offered"] * 3


def test_gcp_licence_prices_of_a_machine_type_are_no_machine_prices() -> None:
    licence = "  license:\n    a3-highgpu-8g:\n      cost:\n        us-central1:\n          hour: 0.1\n"
    assert prices(read_gcp(ABOUT + MACHINE + licence + END)) == [("a3-highgpu-8g", "88.49")]


def test_gcp_accelerator_that_no_table_knows_stays_visible_without_a_count() -> None:
    parsed = read_gcp(
        ABOUT + MACHINE.replace("a3-highgpu-8g", "a5-newgpu-8g").replace("h100-80gb", "z1") + END
    )
    quotes = parsed.rows["rental_quote"].select("raw_gpu_name", "gpu_count").rows()
    assert quotes == [("a5-newgpu-8g", None)]


def test_gcp_a_twelve_gpu_machine_that_google_calls_8g_is_refused() -> None:
    more = MACHINE.replace("h100-80gb: 8", "h100-80gb: 12")
    parsed = read_gcp(ABOUT + more + END)
    assert not parsed.rows
    assert "contradictory_gpu_counts" in reasons(parsed)


def test_gcp_small_shared_core_is_no_accelerator_though_its_family_is_g1() -> None:
    small = "    g1-small:\n      cost:\n        us-central1:\n          hour: 0.03\n      cpu: 0.5\n"
    parsed = read_gcp(ABOUT + MACHINE + small + END)
    assert reasons(parsed)[-1] == "no_gpu"


# --- InferenceX ---------------------------------------------------------------------------------


def point(metrics: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    row = json.loads((FIXTURES / "inferencex" / "payload.json").read_text("utf-8"))[0]
    return row | changes | {"metrics": row["metrics"] | (metrics or {})}


def only(parsed: Parsed) -> dict[str, Any]:
    assert reasons(parsed) == []
    (row,) = parsed.rows["benchmark_result"].to_dicts()
    return row


def test_inferencex_takes_no_gpu_count_of_aggregated_rows() -> None:
    row = only(
        read_json("inferencex", [point(decode_tp=8, decode_ep=8, num_prefill_gpu=64, num_decode_gpu=64)])
    )
    assert (row["tp"], row["ep"], row["workers"]) == (8, 8, None)
    assert row["accelerator_count"] is None
    assert row["prefill_accelerator_count"] is None
    assert row["decode_accelerator_count"] is None


def test_inferencex_speed_is_one_over_tpot_and_never_one_over_itl() -> None:
    one_over_itl = point({"median_tpot": 0.0125, "median_itl": 0.125, "median_intvty": 8})
    assert reasons(read_json("inferencex", [one_over_itl])) == ["speed_is_not_reciprocal_of_tpot"]
    row = only(read_json("inferencex", [point({"median_tpot": 0.0125, "median_intvty": 80})]))
    assert (row["interactivity_tok_s_user"], row["tpot_p50_ms"], row["itl_p50_ms"]) == (80, 12.5, 125)


@pytest.mark.parametrize(("tpot", "speed"), [(49.0139, 0.0204), (0.0000125, 80000), (-0.02, -50)])
def test_inferencex_milliseconds_under_a_name_for_seconds_are_refused(tpot: float, speed: float) -> None:
    wrong = point({"median_tpot": tpot, "median_intvty": speed})
    assert reasons(read_json("inferencex", [wrong])) == ["tpot_out_of_range"]


ROLES = {
    "disagg": True,
    "prefill_tp": 8, "prefill_ep": 1, "prefill_num_workers": 1, "num_prefill_gpu": 8,
    "decode_tp": 8, "decode_ep": 1, "decode_num_workers": 4, "num_decode_gpu": 32,
}  # fmt: skip


def test_inferencex_roles_have_their_own_gpus_and_denominators() -> None:
    # 40,000 tok/s in over 8 GPUs and 5,000 out over 32: 45,000 over 40.
    speeds = {"input_tput_per_gpu": 5000, "output_tput_per_gpu": 156.25, "tput_per_gpu": 1125}
    row = only(read_json("inferencex", [point(speeds, **ROLES)]))
    assert (row["prefill_accelerator_count"], row["decode_accelerator_count"]) == (8, 32)
    assert row["accelerator_count"] == 40
    assert row["throughput_basis"] == "per_role_gpu"
    assert (row["input_tok_s"], row["output_tok_s"], row["total_tok_s"]) == (5000, 156.25, 1125)


def test_inferencex_output_divided_by_all_gpus_is_refused_on_a_role_row() -> None:
    speeds = {"input_tput_per_gpu": 1000, "output_tput_per_gpu": 125, "tput_per_gpu": 1125}
    assert reasons(read_json("inferencex", [point(speeds, **ROLES)])) == ["throughputs_do_not_add_up"]


LEGACY = ROLES | {
    "prefill_tp": 36, "decode_tp": 36, "prefill_num_workers": 0, "decode_num_workers": 0,
    "num_prefill_gpu": 36, "num_decode_gpu": 36,
}  # fmt: skip


def test_inferencex_legacy_role_rows_have_36_gpus_and_not_72() -> None:
    speeds = {"input_tput_per_gpu": 150, "output_tput_per_gpu": 15, "tput_per_gpu": 30}
    row = only(read_json("inferencex", [point(speeds, **LEGACY)]))
    assert row["accelerator_count"] == 36
    assert (row["prefill_accelerator_count"], row["decode_accelerator_count"]) == (None, None)
    assert (row["tp"], row["prefill_tp"]) == (None, None)


def test_inferencex_equal_role_counts_that_may_be_meant_are_refused() -> None:
    speeds = {"input_tput_per_gpu": 45, "output_tput_per_gpu": 15, "tput_per_gpu": 30}
    assert reasons(read_json("inferencex", [point(speeds, **LEGACY)])) == ["ambiguous_gpu_counts"]


def test_inferencex_two_attempts_of_a_run_are_two_rows() -> None:
    link = "https://github.com/example/bench/actions/runs/1/attempts/"
    parsed = read_json(
        "inferencex", [point(run_url=link + "2"), point({"median_ttft": 9}, run_url=link + "1")]
    )
    assert parsed.rows["benchmark_result"].select("run_id", "attempt").rows() == [("1", 2), ("1", 1)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_inferencex_trusts_neither_of_two_figures_of_one_point(order: tuple[int, int]) -> None:
    pair = [point(), point({"median_ttft": 9})]
    parsed = read_json("inferencex", [point(conc=99), *(pair[i] for i in order)])
    assert parsed.rows["benchmark_result"]["concurrency"].to_list() == [99]
    assert reasons(parsed) == ["conflicting_duplicates"] * 2


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"runs": []},
        [{"hardware": "h100", "date": "2026-05-05", "n_success": 0, "total": 0}],
        [{k: v for k, v in point().items() if k not in ("isl", "osl")} | {"task": "gsm8k"}],
    ],
    ids=["nothing", "workflow_info", "reliability", "evaluations"],
)
def test_inferencex_answers_of_other_endpoints_are_refused_by_name(document: Any) -> None:
    with pytest.raises(SourceError, match=r"no rows|only /benchmarks and /benchmarks/history are read"):
        read_json("inferencex", document)


@pytest.mark.parametrize("wrong", [True, "8", 8.5, -8, [8], {"gpus": 8}])
@pytest.mark.parametrize(
    "key", ["num_prefill_gpu", "decode_tp", "decode_num_workers", "conc", "isl", "disagg"]
)
def test_inferencex_a_count_that_is_none_costs_its_row_and_not_the_payload(key: str, wrong: Any) -> None:
    if key == "disagg" and wrong is True:
        wrong = 1
    speeds = {"input_tput_per_gpu": 5000, "output_tput_per_gpu": 156.25, "tput_per_gpu": 1125}
    for roles in (ROLES, LEGACY):
        parsed = read_json("inferencex", [point(), point(speeds, **(roles | {"conc": 5, key: wrong}))])
        assert len(parsed.rows["benchmark_result"]) == 1
        assert len(parsed.refused) == 1
