"""What the published tables say of the real files: figures worked out from the files themselves.

The files are not part of this repository; without them these tests are skipped, and say so.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import SHARED_DATA

Query = Callable[..., list[tuple[Any, ...]]]

SEEDS = Path(__file__).parents[1] / "seeds"
CAPTURE = SHARED_DATA / "benchmarks/inferencex_api/captured_2026-05-05"
FIRST_OF_17_AUGUST = datetime(2024, 8, 17, 9, 44, 40, tzinfo=UTC)
SECOND_OF_17_AUGUST = datetime(2024, 8, 17, 12, 34, 16, tzinfo=UTC)

# Spot of a3-highgpu-8g in us-central1 in each file from 2024-08 on, US dollars per GPU-hour in cents.
H100_SPOT = {
    date(2024, 8, 15): "6.10",
    date(2024, 8, 17): "6.10",
    date(2025, 1, 16): "4.45",
    date(2025, 5, 22): "2.55",
    date(2025, 9, 18): "2.55",
    date(2026, 1, 22): "2.93",
    date(2026, 7, 30): "6.33",
}
# (candidates, not applicable) of each Google file, by the moment that it states.
GCP_COUNTS = {
    datetime(2022, 2, 17, tzinfo=UTC): (705, 285),
    datetime(2022, 9, 15, 6, 56, 1, tzinfo=UTC): (1413, 468),
    datetime(2023, 10, 12, 3, 58, 42, tzinfo=UTC): (2866, 214),
    datetime(2024, 3, 14, 3, 54, 35, tzinfo=UTC): (2936, 216),
    datetime(2024, 8, 15, 3, 54, 30, tzinfo=UTC): (3154, 274),
    FIRST_OF_17_AUGUST: (3314, 274),
    SECOND_OF_17_AUGUST: (3170, 594),
    datetime(2025, 1, 16, 3, 54, 7, tzinfo=UTC): (3677, 621),
    datetime(2025, 5, 22, 4, 1, 24, tzinfo=UTC): (3744, 688),
    datetime(2025, 9, 18, 3, 54, 53, tzinfo=UTC): (3792, 736),
    datetime(2026, 1, 22, 4, 38, 11, tzinfo=UTC): (3846, 790),
    datetime(2026, 7, 30, 6, 13, 17, tzinfo=UTC): (4438, 829),
}


def cents(price: Decimal) -> str:
    return str(price.quantize(Decimal("0.01")))


# --- Google Cloud -------------------------------------------------------------------------------


def test_gcp_h100_on_demand_never_moves_and_spot_does(imported: Query) -> None:
    daily = imported(
        "select date, price_type, usd_per_gpu_hour, region, source, age_days from mart.rental_price_daily "
        "where provider_id = 'gcp' and chip_id = 'h100-sxm-80' and price_type in ('on_demand', 'spot') "
        "and list_contains(?, date)",
        list(H100_SPOT),
    )
    found = {(day, price_type): cents(usd) for day, price_type, usd, *_ in daily}
    assert found == {
        **{(day, "on_demand"): "11.06" for day in H100_SPOT},
        **{(day, "spot"): usd for day, usd in H100_SPOT.items()},
    }
    assert {(region, source, age) for *_, region, source, age in daily} == {
        ("us-central1", "gcp_machine_prices", 0)
    }


def test_gcp_quotes_of_every_file_are_kept(imported: Query) -> None:
    quotes = imported(
        "select cast(observed_at at time zone 'UTC' as date), price_type, usd_per_gpu_hour, gpu_count "
        "from core.rental_quote where source = 'gcp_machine_prices' and offer_key = 'a3-highgpu-8g' "
        "and region = 'us-central1' and price_type in ('on_demand', 'spot')"
    )
    assert Counter((day, price_type, cents(usd), count) for day, price_type, usd, count in quotes) == {
        (day, price_type, usd, 8): 2 if day == date(2024, 8, 17) else 1
        for day, spot in H100_SPOT.items()
        for price_type, usd in (("on_demand", "11.06"), ("spot", spot))
    }


def test_gcp_two_files_of_17_august_2024_are_both_kept_and_the_later_is_the_day(imported: Query) -> None:
    seen = imported(
        "select observed_at, count(distinct snapshot_id) from core.rental_quote "
        "where source = 'gcp_machine_prices' "
        "and cast(observed_at at time zone 'UTC' as date) = date '2024-08-17' "
        "group by observed_at order by observed_at"
    )
    assert seen == [(FIRST_OF_17_AUGUST, 1), (SECOND_OF_17_AUGUST, 1)]
    day = imported(
        "select distinct daily.observed_at, quote.observed_at from mart.rental_price_daily as daily "
        "inner join core.rental_quote as quote using (quote_id) "
        "where daily.provider_id = 'gcp' and daily.source = 'gcp_machine_prices' "
        "and daily.date = date '2024-08-17'"
    )
    assert day == [(SECOND_OF_17_AUGUST, SECOND_OF_17_AUGUST)]
    # 40 regions of a3-highgpu-8g and the 9 that the second file leaves of a3-megagpu-8g.
    assert imported(
        "select distinct quote_count from mart.rental_price_daily where provider_id = 'gcp' "
        "and chip_id = 'h100-sxm-80' and date = date '2024-08-17' and price_type in ('on_demand', 'spot')"
    ) == [(49,)]


def test_gcp_machines_listed_without_their_gpus_are_rejected(imported: Query) -> None:
    rejected = imported(
        "select round(cast(value as double) / 8, 2), split_part(locator, ' ', 3) "
        "from mart.rejected_row as rejected "
        "inner join mart.snapshot_health as health using (source, snapshot_id) "
        "where health.observed_at = ? and rejected.reason = 'component_missing' "
        "and rejected.locator like 'a3-megagpu-8g %'",
        FIRST_OF_17_AUGUST,
    )
    assert len([usd for usd, price_type in rejected if price_type == "on_demand"]) == 31
    assert min(usd for usd, price_type in rejected if price_type == "on_demand") == 1.26
    # Those that stayed: nine regions of one machine and forty of the other, all with their GPUs.
    kept = imported(
        "select offer_key, count(*), min(usd_per_gpu_hour) from core.rental_quote "
        "where observed_at = ? and chip_id = 'h100-sxm-80' and price_type = 'on_demand' "
        "group by offer_key order by offer_key",
        FIRST_OF_17_AUGUST,
    )
    assert [(key, count, cents(usd)) for key, count, usd in kept] == [
        ("a3-highgpu-8g", 40, "11.06"),
        ("a3-megagpu-8g", 9, "11.62"),
    ]
    assert imported(
        "select * from core.rental_quote where chip_id = 'h100-sxm-80' and price_type = 'on_demand' "
        "and usd_per_gpu_hour < 2"
    ) == []  # fmt: skip


def test_gcp_on_demand_and_reserved_quotes_are_half_of_their_siblings_median_at_least(
    imported: Query,
) -> None:
    assert imported(
        "select * from ("
        "  select *, median(usd_per_gpu_hour) over ("
        "    partition by snapshot_id, chip_id, price_type, commitment_months) as sibling_usd"
        "  from core.rental_quote where source = 'gcp_machine_prices' and price_type <> 'spot') "
        "where usd_per_gpu_hour < sibling_usd / 2"
    ) == []  # fmt: skip


def test_gcp_machine_that_lacks_its_gpus_on_demand_has_no_spot_price_either(imported: Query) -> None:
    assert imported(
        "select rejected.snapshot_id, rejected.locator, spot.usd_per_gpu_hour "
        "from mart.rejected_row as rejected inner join core.rental_quote as spot "
        "on rejected.source = spot.source and rejected.snapshot_id = spot.snapshot_id "
        "and rejected.locator = concat_ws(' ', spot.offer_key, spot.region, 'on_demand') "
        "where rejected.reason = 'component_missing' and spot.price_type = 'spot'"
    ) == []  # fmt: skip


def test_gcp_on_demand_price_repeated_for_both_terms_is_no_reserved_price(imported: Query) -> None:
    # Until 2024-08-17 09:44 UTC the file gave a2-ultragpu its on-demand price as the price of one and of
    # three years; from 12:34 UTC on it offers no such term.
    assert imported(
        "select one.snapshot_id, one.offer_key, count(*), min(one.usd_per_gpu_hour) "
        "from core.rental_quote as one "
        "inner join core.rental_quote as three using (source, snapshot_id, offer_key, region) "
        "inner join core.rental_quote as now using (source, snapshot_id, offer_key, region) "
        "where one.source = 'gcp_machine_prices' and one.commitment_months = 12 "
        "and three.commitment_months = 36 and now.price_type = 'on_demand' "
        "and abs(one.usd_per_gpu_hour - now.usd_per_gpu_hour) <= 0.00001 "
        "and abs(three.usd_per_gpu_hour - now.usd_per_gpu_hour) <= 0.00001 group by all"
    ) == []  # fmt: skip


# --- Oracle Cloud -------------------------------------------------------------------------------


def test_oci_prices_of_2024_01_19(imported: Query) -> None:
    quotes = imported(
        "select chip_id, offer_key, usd_per_gpu_hour, price_type, region "
        "from core.rental_quote where source = 'oci_price_list'"
    )
    assert sorted(quotes) == [
        ("a10", "B95909", Decimal("2"), "on_demand", None),
        ("a100-sxm-40", "B92740", Decimal("3.05"), "on_demand", None),
        ("a100-sxm-80", "B95907", Decimal("4"), "on_demand", None),
        ("h100-sxm-80", "B98415", Decimal("10"), "on_demand", None),
    ]
    daily = imported(
        "select chip_id, usd_per_gpu_hour from mart.rental_price_daily where provider_id = 'oci' "
        "and date = date '2024-01-19' and chip_id in ('h100-sxm-80', 'a100-sxm-80') order by chip_id"
    )
    assert daily == [("a100-sxm-80", Decimal("4")), ("h100-sxm-80", Decimal("10"))]


def test_nothing_that_is_rented_is_called_ai_enterprise(imported: Query) -> None:
    assert imported(
        "select * from core.rental_quote where concat_ws(' ', offer_key, raw_gpu_name, note) "
        "ilike '%enterprise%'"
    ) == []  # fmt: skip
    # The licence per GPU-hour would be the cheapest GPU of the list.
    assert imported(
        "select min(usd_per_gpu_hour) from core.rental_quote where source = 'oci_price_list'"
    ) == [(Decimal("2"),)]


def test_three_oci_parts_are_named_by_nobody(imported: Query) -> None:
    found = imported("select domain, source, raw_name from clean.unmapped_name order by raw_name")
    assert found == [("chip", "oci_price_list", part) for part in ("B88517", "B88518", "B89734")]


# --- InferenceX ---------------------------------------------------------------------------------

# A point is a run, a server and a load; links, dates and figures are what is stated of it.
NATURAL_KEY = (
    "hardware", "framework", "model", "precision", "spec_method", "disagg", "prefill_tp", "prefill_ep",
    "prefill_dp_attention", "prefill_num_workers", "decode_tp", "decode_ep", "decode_dp_attention",
    "decode_num_workers", "num_prefill_gpu", "num_decode_gpu", "isl", "osl", "conc",
)  # fmt: skip


@cache
def stated_points() -> dict[tuple[Any, ...], dict[str, dict[str, Any]]]:
    """Rows of the two files by their point, then by file; none is stated twice in one file."""
    points: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for name in ("benchmarks", "benchmarks-history"):
        for stated in json.loads((CAPTURE / f"{name}.json").read_bytes()):
            (run,) = re.findall(r"/runs/(\d+)", stated["run_url"])
            files = points.setdefault((run, *(stated[key] for key in NATURAL_KEY)), {})
            assert name not in files
            files[name] = stated
    return points


def test_inferencex_point_of_two_files_is_one_row_and_none_is_lost(imported: Query) -> None:
    expected = Counter(
        (key[0], stated["framework"], stated["precision"], stated["spec_method"], stated["conc"],
         f"fixed-{stated['isl']}-{stated['osl']}", stated["date"], stated["disagg"])
        for key, files in stated_points().items()
        for stated in [next(iter(files.values()))]
    )  # fmt: skip
    found = imported(
        "select run_id, engine, precision, speculative_method, concurrency, workload_id, "
        "cast(measured_on as varchar), disaggregated from mart.benchmark_point where source = 'inferencex'"
    )
    assert Counter(found) == expected
    assert len(found) == len(stated_points()) == 1571
    assert sum(len(files) == 2 for files in stated_points().values()) == 233


def test_no_server_has_a_load_twice_in_one_run(imported: Query) -> None:
    assert imported(
        "select run_id, config_id, chip_id, speculative_method, workload_id, concurrency, accelerator_count, "
        "prefill_accelerator_count, count(*) from mart.benchmark_point where publisher = 'inferencex' "
        "group by all having count(*) > 1"
    ) == []  # fmt: skip
    assert imported(
        "select line_id, run_id, count(*) from mart.benchmark_point where publisher = 'inferencex' "
        "group by all having count(*) > 1"
    ) == []  # fmt: skip


def test_inferencex_point_carries_the_image_that_one_file_states(imported: Query) -> None:
    images = Counter(
        (key[0], stated["conc"], stated["image"])
        for key, files in stated_points().items()
        for stated in files.values()
        if stated.get("image")
    )
    found = imported(
        "select run_id, concurrency, image from mart.benchmark_point "
        "where source = 'inferencex' and image is not null"
    )
    assert Counter(found) == images
    assert len(found) == 401
    both = [files for files in stated_points().values() if len(files) == 2]
    assert all("image" not in files["benchmarks-history"] for files in both)
    assert sum(files["benchmarks"]["image"] is not None for files in both) > 200


def test_inferencex_throughputs_are_those_of_the_files_over_their_own_gpus(imported: Query) -> None:
    found = {
        (run, int(concurrency), round(speed, 9)): rest
        for run, concurrency, speed, *rest in imported(
            "select run_id, concurrency, interactivity_tok_s_user, disaggregated, accelerator_count, "
            "output_tok_s_gpu, input_tok_s_gpu, total_tok_s_gpu, output_tok_s_decode_gpu, "
            "input_tok_s_prefill_gpu from mart.benchmark_point where source = 'inferencex'"
        )
    }
    assert len(found) == 1571
    for key, files in stated_points().items():
        stated = files.get("benchmarks") or files["benchmarks-history"]
        metrics = stated["metrics"]
        split, gpus, output, put_in, total, output_decode, input_prefill = found[
            key[0], stated["conc"], round(metrics["median_intvty"], 9)
        ]
        assert split == stated["disagg"]
        assert total == pytest.approx(metrics["tput_per_gpu"], rel=1e-9)
        if "output_tput_per_gpu" not in metrics:
            assert output is None
        elif not split:
            # Experts share the ranks of tensor parallelism.
            assert gpus == stated["decode_tp"]
            assert output == pytest.approx(metrics["output_tput_per_gpu"], rel=1e-9)
            assert put_in == pytest.approx(metrics["input_tput_per_gpu"], rel=1e-9)
            assert (output_decode, input_prefill) == (None, None)
        else:
            # Stated per GPU of the role; over all GPUs the two make the total.
            assert output_decode == pytest.approx(metrics["output_tput_per_gpu"], rel=1e-9)
            assert input_prefill == pytest.approx(metrics["input_tput_per_gpu"], rel=1e-9)
            assert output + put_in == pytest.approx(metrics["tput_per_gpu"], rel=0.01)


def test_inferencex_expert_parallelism_adds_no_gpus(imported: Query) -> None:
    expected = sum(
        not stated["disagg"] and stated["decode_tp"] == 8 and stated["decode_ep"] == 8
        for files in stated_points().values()
        for stated in [next(iter(files.values()))]
    )
    found = imported(
        "select point.accelerator_count, point.gpu_count_basis, count(distinct benchmark_point_id) "
        "from mart.benchmark_point as point "
        "inner join core.benchmark_result as result using (benchmark_point_id) "
        "where point.source = 'inferencex' and not point.disaggregated and result.tp = 8 and result.ep = 8 "
        "group by all"
    )
    assert found == [(8, "inferred", expected)]
    assert expected > 200


def test_inferencex_split_of_eight_old_rows_is_solved(imported: Query) -> None:
    found = imported(
        "select measured_on, accelerator_count, prefill_accelerator_count, decode_accelerator_count, "
        "output_tok_s_decode_gpu, input_tok_s_prefill_gpu, total_tok_s_gpu from mart.benchmark_point "
        "where source = 'inferencex' and disaggregated and gpu_count_basis = 'inferred'"
    )
    assert sorted((str(day), *counts) for day, *counts, _, _, _ in found) == [
        ("2025-12-01", 72, 24, 48),
        ("2025-12-05", 20, 4, 16),
        ("2025-12-05", 28, 4, 24),
        ("2025-12-05", 28, 4, 24),
        ("2025-12-05", 36, 4, 32),
        ("2025-12-05", 36, 4, 32),
        ("2025-12-05", 48, 32, 16),
        ("2025-12-05", 72, 48, 24),
    ]
    for _, gpus, prefill, decode, output, put_in, total in found:
        assert prefill + decode == gpus
        assert (put_in * prefill + output * decode) / gpus == pytest.approx(total, rel=0.001)


def test_inferencex_own_transcription_is_left_aside(imported: Query) -> None:
    assert imported("select source, count(*) from mart.benchmark_point group by source order by source") == [
        ("articles", 12),
        ("inferencex", 1571),
    ]
    (typed,) = imported("select count(*) from core.benchmark_result where source = 'inferencex_points'")
    assert typed == (90,)


def test_inferencex_own_transcription_agrees_with_the_files(imported: Query) -> None:
    # Typed with two decimals; the run, the load and the GPUs say which point it is.
    unlike = imported(
        "select typed.run_id, typed.concurrency, typed.output_tok_s_gpu, fetched.output_tok_s_gpu "
        "from core.benchmark_result as typed left join mart.benchmark_point as fetched "
        "on typed.run_id = fetched.run_id and typed.chip_id = fetched.chip_id "
        "and typed.weight_precision = fetched.precision and typed.engine = fetched.engine "
        "and typed.workload_id = fetched.workload_id and typed.concurrency = fetched.concurrency "
        "and typed.speculative_method = fetched.speculative_method "
        "and typed.accelerator_count = fetched.accelerator_count "
        "and typed.prefill_accelerator_count is not distinct from fetched.prefill_accelerator_count "
        "where typed.source = 'inferencex_points' and ("
        "  abs(typed.output_tok_s_gpu - fetched.output_tok_s_gpu) < 0.006 "
        "  and abs(typed.total_tok_s_gpu - fetched.total_tok_s_gpu) < 0.006 "
        "  and abs(typed.interactivity_tok_s_user - fetched.interactivity_tok_s_user) < 0.006 "
        "  and typed.measured_on = fetched.measured_on) is not true"
    )
    assert unlike == []


def test_change_from_an_unstated_server_is_not_called_configuration(imported: Query) -> None:
    # The old rows state no parallelism: that a later row states some is no change of it.
    assert imported(
        "select change.line_id, change.before_on, change.after_on, change.ratio, change.cause "
        "from mart.yield_change as change "
        "inner join core.benchmark_result as earlier on change.before_point_id = earlier.benchmark_point_id "
        "where earlier.source = 'inferencex' and earlier.tp is null and change.token_kind = 'output' "
        "and change.gpu_scope = 'all' and change.cause in ('configuration', 'software')"
    ) == []  # fmt: skip


def test_gb300_point_of_2026_02_05_costs_what_all_its_gpus_cost(imported: Query) -> None:
    found = imported(
        "select cost_allocation, cost.token_kind, usd_per_million_tokens, usd_per_gpu_hour, "
        "cost.accelerator_count, prefill_accelerator_count, decode_accelerator_count, "
        "input_tok_s_prefill_gpu, output_tok_s_decode_gpu "
        "from mart.cost_per_million_tokens as cost "
        "inner join mart.benchmark_point as point using (benchmark_point_id) "
        "where point.chip_id = 'gb300-nvl72' and point.measured_on = date '2026-02-05' "
        "and point.concurrency = 2151 and point.workload_id = 'fixed-8192-1024' "
        "and price_series_id = 'index:inferencex_owning_hyperscaler:owning_cost' "
        "and cost.valid_from = date '2026-07-31'"
    )
    usd = {(allocation, kind): value for allocation, kind, value, *_ in found}
    assert round(usd["whole_bill", "output"], 3) == 0.642
    ((price, gpus, prefill, decode, input_tok_s, output_tok_s),) = {tuple(rest) for _, _, _, *rest in found}
    assert (float(price), gpus, prefill, decode) == (2.31, 36, 28, 8)
    millions = {"input": input_tok_s * prefill * 0.0036, "output": output_tok_s * decode * 0.0036}
    by_role = sum(usd["by_role", kind] * millions[kind] for kind in ("input", "output"))
    assert by_role == pytest.approx(2.31 * 36, rel=1e-9)


@pytest.mark.parametrize(
    ("macro", "day", "expected"),
    [
        ("mart.cost_per_million_tokens", "2026-07-15", "2.90"),
        ("mart.cost_per_million_tokens", "2026-08-15", "3.70"),
        ("mart.cost_per_million_tokens_as_known(timestamptz '2026-08-20 00:00:00+00')", "2026-07-15", "2.90"),
        ("mart.cost_per_million_tokens_as_known(timestamptz '2026-08-20 00:00:00+00')", "2026-08-15", "2.60"),
    ],
)
def test_b200_reserved_price_of_a_day_and_what_was_known_of_it(
    imported: Query, macro: str, day: str, expected: str
) -> None:
    found = imported(
        f"select usd_per_gpu_hour, count(*), count(usd_per_million_tokens) from {macro} "
        "where chip_id = 'b200-sxm-180' and price_series_id = 'index:inferencex_reserved_36m:reserved:36m' "
        "and model_id = 'deepseek-r1-0528' and valid_from <= cast(? as date) "
        "and (valid_to is null or valid_to > cast(? as date)) group by usd_per_gpu_hour",
        *(day, day),
    )
    ((price, rows, costs),) = found
    assert price == Decimal(expected)
    assert rows == costs > 1000


# --- Every candidate is accounted for -----------------------------------------------------------


def test_candidates_of_every_payload_add_up(imported: Query) -> None:
    assert imported(
        "select * from mart.snapshot_health "
        "where candidates <> accepted + rejected + not_applicable or status <> 'loaded'"
    ) == []  # fmt: skip
    # Accepted is what became rows: counted in the tables, and not as the rest.
    counted = imported(
        "select health.source, health.snapshot_id, health.accepted, count(fact.source) "
        "from mart.snapshot_health as health left join ("
        "  select source, snapshot_id from core.rental_quote"
        "  union all select source, snapshot_id from core.benchmark_result"
        "  union all select source, snapshot_id from core.rental_index_value"
        "  union all select source, snapshot_id from core.token_price"
        ") as fact on health.source = fact.source and health.snapshot_id = fact.snapshot_id "
        "group by all"
    )
    # Withheld from the published copy by their publishers' terms: nine values of the published indices.
    # The three Oracle parts are read and mapped to nothing.
    assert {(source, accepted - rows) for source, _, accepted, rows in counted if accepted != rows} == {
        ("oci_price_list", 3),
        ("published_indices", 9),
    }


def test_candidates_of_the_real_files(imported: Query) -> None:
    found = imported(
        "select source, observed_at, candidates, accepted, rejected, not_applicable "
        "from mart.snapshot_health where source in ('gcp_machine_prices', 'oci_price_list', 'inferencex')"
    )
    assert sorted(rest for source, _, *rest in found if source == "inferencex") == [
        [435, 435, 0, 0],
        [1369, 1369, 0, 0],
    ]
    assert [rest for source, _, *rest in found if source == "oci_price_list"] == [[450, 7, 0, 443]]
    google = {at: rest for source, at, *rest in found if source == "gcp_machine_prices"}
    assert {at: (rest[0], rest[3]) for at, rest in google.items()} == GCP_COUNTS
    fractional = imported(
        "select health.observed_at, count(*) from mart.rejected_row as rejected "
        "inner join mart.snapshot_health as health using (source, snapshot_id) "
        "where rejected.reason = 'fractional' group by health.observed_at"
    )
    assert fractional == [(datetime(2026, 7, 30, 6, 13, 17, tzinfo=UTC), 237)]
    assert google[datetime(2026, 7, 30, 6, 13, 17, tzinfo=UTC)] == [4438, 3372, 237, 829]


def test_every_accepted_price_lies_in_its_band(imported: Query) -> None:
    with (SEEDS / "price_band.csv").open(encoding="utf-8", newline="") as lines:
        bands = {
            (band["chip_id"], band["price_type"]): (
                Decimal(band["low_usd_per_gpu_hour"]),
                Decimal(band["high_usd_per_gpu_hour"]),
            )
            for band in csv.DictReader(lines)
        }
    extremes = imported(
        "select chip_id, price_type, min(usd_per_gpu_hour), max(usd_per_gpu_hour) "
        "from core.rental_quote group by all"
    )
    assert len(extremes) > 20
    for chip, price_type, lowest, highest in extremes:
        low, high = bands.get((chip, price_type)) or bands[chip, "*"]
        assert low <= lowest <= highest <= high, (chip, price_type)
