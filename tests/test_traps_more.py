"""Traps of the lists of European clouds, of JarvisLabs, Seeweb and TPU prices, and of imported Vultr lists.

One test per trap, named after what it prevents. The payloads are invented; the last section reads real ones
where TOKENYIELD_SHARED_DATA says that they are, and is skipped, visibly, without them.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipelines.source import KeyMissing, Parsed, Part, Snapshot, SourceError, all_sources, read

ROOT = Path(__file__).parents[1]
SOURCES = all_sources()
AT = datetime(2026, 11, 30, tzinfo=UTC)
EU, JARVIS, SEEWEB, TPU = "eu_cloud_prices", "jarvislabs", "seeweb", "gcp_tpu_prices"


def read_bytes(slug: str, *bodies: bytes, context: dict[str, Any] | None = None) -> Parsed:
    parts = tuple(Part(f"part-{number}", body) for number, body in enumerate(bodies))
    return read(SOURCES[slug], Snapshot(slug, "trap", "all", parts, AT, AT, context or {}))


def read_json(slug: str, *documents: Any, context: dict[str, Any] | None = None) -> Parsed:
    return read_bytes(slug, *(json.dumps(each).encode() for each in documents), context=context)


def quotes(parsed: Parsed) -> list[dict[str, Any]]:
    return parsed.rows["rental_quote"].to_dicts() if parsed.rows else []


def prices(parsed: Parsed) -> dict[tuple[str, str], Decimal]:
    return {(row["offer_key"], row["price_type"]): row["price"] for row in quotes(parsed)}


def reasons(parsed: Parsed) -> list[str]:
    return parsed.refused["reason"].to_list()


# --- One invented record of each source ---------------------------------------------------------

GPU_MACHINE = {
    "id": "g1", "name": "g1", "price_hourly": 4, "currency": "EUR", "location": "nl", "category": "gpu",
    "gpu_model": "NVIDIA H100", "gpu_count": 1,
}  # fmt: skip
CPU_MACHINE = {
    "id": "c1", "name": "c1", "price_hourly": 0.1, "currency": "EUR", "location": "nl", "category": "tiny",
}  # fmt: skip
GPU_PART = {"id": "p1", "name": "NVIDIA H100 80GB", "gpu_count": 1, "price_hourly": 3, "currency": "EUR"}
DOLLAR_GPU = {"id": "d1", "name": "NVIDIA H100 NVLink", "price_per_gpu_hour_usd": 3, "location": "a, b"}


def eu(*machines: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "provider": "leafcloud",
        "fetched_at": "2026-05-20T00:00:00.000Z",
        "instances": [*machines, CPU_MACHINE],
    } | more


def eu_parts(*gpus: dict[str, Any], **more: Any) -> dict[str, Any]:
    return eu(gpu_pricing={"billing_unit": "hour", "gpus": list(gpus)}, **more)


SERVER = {
    "gpu_type": "L4", "region": "place", "price_per_hour": 0.5, "spot_price": None, "vram": "24",
    "workload_type": "vm", "num_gpus": "8",
}  # fmt: skip


def jarvis(*servers: dict[str, Any]) -> dict[str, Any]:
    return {"server_meta": list(servers), "cpu_meta": {"combinations": []}}


PLAN = {
    "name": "P1", "gpu": "1", "gpu_label": "H100", "hourly_price": 2, "available": True,
    "available_regions": [{"location": "it-a"}],
}  # fmt: skip


def seeweb(*plans: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"status": "ok", "plans": list(plans)} | more


def tpu(on_demand: Any, spot: Any, **more: Any) -> dict[str, Any]:
    return {"TPU v6e": {"us-east1": {"On Demand (USD)": on_demand, "Spot (USD)": spot} | more}}


# Slug, a document with this price and this name of the offer.
ONE_OFFER: dict[str, Any] = {
    EU: lambda price: eu(GPU_MACHINE | {"price_hourly": price}),
    JARVIS: lambda price: jarvis(SERVER | {"price_per_hour": price}),
    SEEWEB: lambda price: seeweb(PLAN | {"hourly_price": price}),
    TPU: lambda price: tpu(price, None),
}
BAD_PRICES = {
    "text": ("2.49", "wrong_type"),
    "true": (True, "wrong_type"),
    "nan": (float("nan"), "not_finite"),
    "infinite": (float("inf"), "not_finite"),
    "negative": (-1, "not_positive"),
    "huge": (1e9, "implausible_magnitude"),
}


@pytest.mark.parametrize("slug", ONE_OFFER)
@pytest.mark.parametrize(("value", "reason"), BAD_PRICES.values(), ids=BAD_PRICES)
def test_a14_a_price_of_the_wrong_kind_is_rejected_and_costs_no_other(
    slug: str, value: object, reason: str
) -> None:
    parsed = read_json(slug, ONE_OFFER[slug](value))
    assert not quotes(parsed)
    assert reason in reasons(parsed)


@pytest.mark.parametrize("slug", ONE_OFFER)
@pytest.mark.parametrize("value", [0, None])
def test_a14_nothing_is_no_price(slug: str, value: object) -> None:
    parsed = read_json(slug, ONE_OFFER[slug](value))
    assert not quotes(parsed)
    assert "not_offered" in reasons(parsed)
    assert set(parsed.refused["verdict"]) == {"not_applicable"}


@pytest.mark.parametrize(
    ("slug", "document"),
    [
        (EU, eu(GPU_MACHINE | {"price_yearly": 9})),
        (EU, eu_parts(GPU_PART | {"spot_cost": 9})),
        (EU, eu(GPU_MACHINE, gpu_spot_prices={"h100": 1})),
        (JARVIS, jarvis(SERVER | {"reserved_price": 9})),
        (SEEWEB, seeweb(PLAN | {"reserved_price": 9})),
        (TPU, tpu(2, 1, **{"CUD 1yr (USD)": 1.5})),
    ],
)
def test_a_price_key_that_nobody_knows_is_seen(slug: str, document: Any) -> None:
    parsed = read_json(slug, document)
    rejected = parsed.refused.filter(verdict="rejected")
    assert rejected["reason"].to_list() == ["unknown_price_key"]
    assert quotes(parsed)


# --- European clouds ----------------------------------------------------------------------------


def test_eu_euros_made_at_a_fixed_rate_are_no_price() -> None:
    parsed = read_json(EU, eu(GPU_MACHINE, eur_usd_rate=0.92))
    assert not quotes(parsed)
    assert reasons(parsed) == ["converted_at_a_fixed_rate", "no_gpu"]


def test_eu_dollars_beside_converted_euros_are_the_price() -> None:
    (row,) = quotes(read_json(EU, eu(GPU_MACHINE | {"price_usd_hourly": 4.3}, eur_usd_rate=0.92)))
    assert (row["price"], row["currency"]) == (Decimal("4.3"), "USD")


def test_eu_euros_and_dollars_that_no_rate_connects_are_trusted_neither() -> None:
    parsed = read_json(EU, eu(GPU_MACHINE | {"price_usd_hourly": 4.3}))
    assert reasons(parsed) == ["conflicting_duplicates", "conflicting_duplicates", "no_gpu"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a06_eu_two_prices_of_one_machine_are_trusted_neither(order: tuple[int, int]) -> None:
    pair = [GPU_MACHINE, GPU_MACHINE | {"price_hourly": 5}]
    parsed = read_json(EU, eu(*(pair[place] for place in order)))
    assert reasons(parsed) == ["conflicting_duplicates", "conflicting_duplicates", "no_gpu"]
    assert reasons(read_json(EU, eu(GPU_MACHINE, GPU_MACHINE))) == ["identical_duplicate", "no_gpu"]


def test_a01_eu_the_price_of_one_gpu_on_a_bigger_machine_is_refused() -> None:
    parsed = read_json(EU, eu(GPU_MACHINE, GPU_MACHINE | {"id": "g8", "gpu_count": 8}))
    assert prices(parsed) == {("g1", "on_demand"): 4}
    assert reasons(parsed) == ["price_does_not_scale", "no_gpu"]


def test_eu_a_gpu_as_an_add_on_is_a_component() -> None:
    (row,) = quotes(read_json(EU, eu_parts(GPU_PART)))
    assert row["listing_kind"] == "component"
    assert row["raw_gpu_name"] == "NVIDIA H100 80GB"


def test_a02_eu_a_gpu_beside_which_cpu_and_memory_are_billed_is_a_component() -> None:
    split = DOLLAR_GPU | {"id": "d2", "cpu_per_hour_usd": 0.01, "ram_per_gib_hour_usd": 0.003}
    parsed = read_json(EU, eu_parts(DOLLAR_GPU, split))
    assert [row["listing_kind"] for row in quotes(parsed)] == ["bundle", "component"]
    assert reasons(parsed) == ["no_gpu"]


def test_a09_eu_spot_stays_apart_from_on_demand() -> None:
    parsed = read_json(EU, eu_parts(DOLLAR_GPU | {"preemptible_price_per_gpu_hour_usd": 1}))
    assert prices(parsed) == {("d1", "on_demand"): 3, ("d1", "spot"): 1}
    assert {row["region"] for row in quotes(parsed)} == {None}
    assert {row["note"] for row in quotes(parsed)} == {"in a, b"}


@pytest.mark.parametrize(
    ("count", "reason"),
    [(None, "missing_value"), (True, "wrong_type"), (0, "not_positive"), (-8, "not_positive")],
)
def test_eu_a_machine_has_no_gpu_count_that_it_does_not_state(count: object, reason: str) -> None:
    parsed = read_json(EU, eu(GPU_MACHINE | {"gpu_count": count}))
    assert not quotes(parsed)
    assert reason in reasons(parsed)
    without = {key: value for key, value in GPU_MACHINE.items() if key != "gpu_count"}
    assert reasons(read_json(EU, eu(without))) == ["missing_value", "no_gpu"]


def test_eu_a_machine_of_no_gpus_costs_no_other_machine_its_price() -> None:
    parsed = read_json(EU, eu(GPU_MACHINE, GPU_MACHINE | {"id": "g0", "gpu_count": 0}))
    assert prices(parsed) == {("g1", "on_demand"): 4}
    assert reasons(parsed) == ["not_positive", "no_gpu"]


def test_eu_a_model_that_stands_under_gpu_is_no_count() -> None:
    machine = {"id": "m1", "gpu": "8", "price_hourly": 3, "currency": "EUR"}
    assert reasons(read_json(EU, eu(gpu_instances=[machine]))) == ["no_gpu", "missing_value"]
    assert reasons(read_json(EU, eu(GPU_MACHINE | {"gpu_count": "8"}))) == ["wrong_type", "no_gpu"]


def test_a12_eu_a_fraction_of_a_gpu_stays_a_fraction() -> None:
    (row,) = quotes(read_json(EU, eu(GPU_MACHINE | {"gpu_count": 0.5})))
    assert row["gpu_count"] == 0.5


def test_eu_a_machine_without_a_model_is_named_by_its_type() -> None:
    machine = {key: value for key, value in GPU_MACHINE.items() if key != "gpu_model"}
    (row,) = quotes(read_json(EU, eu(machine | {"id": "n3.14d.g1"})))
    assert row["raw_gpu_name"] == "n3.14d.g1"


def test_eu_a_count_that_stands_under_gpu_is_no_model() -> None:
    machine = {key: value for key, value in GPU_MACHINE.items() if key != "gpu_count"}
    (row,) = quotes(read_json(EU, eu(machine | {"gpu": 4})))
    assert (row["gpu_count"], row["raw_gpu_name"]) == (4, "NVIDIA H100")


def test_a05_eu_a_month_beside_its_hour_is_no_second_price() -> None:
    parsed = read_json(EU, eu(GPU_MACHINE | {"price_monthly": 2920}))
    assert prices(parsed) == {("g1", "on_demand"): 4}


def test_eu_a_month_alone_has_the_hours_that_the_file_states_and_no_others() -> None:
    machine = {"id": "m1", "gpu": "NVIDIA A2", "gpu_count": 1, "price_monthly": 300, "currency": "EUR"}
    (row,) = quotes(read_json(EU, eu(gpu_instances=[machine])))
    assert (row["price_unit"], row["term_hours"]) == ("instance_month", None)
    (row,) = quotes(read_json(EU, eu(gpu_instances=[machine], billing_model={"monthly_hours": 720})))
    assert (row["price_unit"], row["term_hours"]) == ("instance_month", 720)


@pytest.mark.parametrize("currency", ["CHF", "", None, 978])
def test_eu_another_currency_is_not_taken_for_euros(currency: object) -> None:
    parsed = read_json(EU, eu(GPU_MACHINE | {"currency": currency}))
    assert not quotes(parsed)
    assert parsed.refused.filter(verdict="rejected")["field"].to_list() == ["currency"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"provider": "newcomer"}, "never looked at"),
        ({"provider": ["ovh"]}, "never looked at"),
        ({"instances": []}, "no instances"),
        ({"fetched_at": "2026-05-20"}, "when it was fetched"),
        ({"fetched_at": "2027-05-20T00:00:00Z"}, "after it was stored"),
        ({"billing_model": {"currency": "CHF"}}, "billed in 'CHF'"),
        ({"billing_model": {"vat_included": True}}, "tax"),
        ({"gpu_instances": {}}, "no list"),
        ({"gpu_pricing": {"h100": 3}}, "no list"),
    ],
)
def test_eu_what_is_no_such_list_is_refused(change: dict[str, Any], match: str) -> None:
    with pytest.raises(SourceError, match=match):
        read_json(EU, eu(GPU_MACHINE) | change)


def test_eu_takes_its_time_from_the_file() -> None:
    part = Part("x.json", json.dumps(eu(GPU_MACHINE)).encode())
    moment = datetime(2026, 5, 20, tzinfo=UTC)
    assert SOURCES[EU].observed_at is not None
    assert SOURCES[EU].observed_at((part,)) == moment
    assert quotes(read_json(EU, eu(GPU_MACHINE)))[0]["observed_at"] == moment


def test_eu_a_date_that_a_person_typed_is_precise_to_the_day() -> None:
    assert quotes(read_json(EU, eu(GPU_MACHINE, manual=True)))[0]["date_precision"] == "day"
    assert quotes(read_json(EU, eu(GPU_MACHINE, manual=False)))[0]["date_precision"] is None


# --- JarvisLabs ---------------------------------------------------------------------------------

CONTAINER = SERVER | {"workload_type": "container"}


@pytest.mark.parametrize("order", [(SERVER, CONTAINER), (CONTAINER, SERVER)])
def test_jarvislabs_one_gpu_listed_for_two_workloads_is_one_offer(order: tuple[dict[str, Any], ...]) -> None:
    parsed = read_json(JARVIS, jarvis(*order))
    assert prices(parsed) == {("L4/container", "on_demand"): Decimal("0.5")}
    assert reasons(parsed).count("identical_duplicate") == 1


def test_jarvislabs_workloads_of_different_prices_are_two_offers() -> None:
    parsed = read_json(JARVIS, jarvis(SERVER | {"price_per_hour": 0.6}, CONTAINER))
    assert prices(parsed) == {
        ("L4/vm", "on_demand"): Decimal("0.6"),
        ("L4/container", "on_demand"): Decimal("0.5"),
    }


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a06_jarvislabs_two_prices_of_one_virtual_machine_are_trusted_neither(order: tuple[int, int]) -> None:
    pair = [SERVER, SERVER | {"workload_type": None, "price_per_hour": 0.7}]
    parsed = read_json(JARVIS, jarvis(*(pair[place] for place in order)))
    assert not quotes(parsed)
    assert reasons(parsed).count("conflicting_duplicates") == 2


def test_a09_jarvislabs_spot_of_a_virtual_machine_is_no_price() -> None:
    parsed = read_json(JARVIS, jarvis(SERVER | {"spot_price": 0.2}))
    assert prices(parsed) == {("L4/vm", "on_demand"): Decimal("0.5")}
    assert reasons(parsed) == ["spot_is_for_containers"]
    parsed = read_json(JARVIS, jarvis(CONTAINER | {"spot_price": 0.2}))
    assert prices(parsed)["L4/container", "spot"] == Decimal("0.2")


def test_jarvislabs_price_is_of_one_gpu_and_not_of_the_server() -> None:
    (row,) = quotes(read_json(JARVIS, jarvis(SERVER)))
    assert (row["price_unit"], row["gpu_count"], row["price"]) == ("gpu_hour", 1, Decimal("0.5"))


def test_jarvislabs_no_free_device_takes_no_price_away() -> None:
    (row,) = quotes(read_json(JARVIS, jarvis(SERVER | {"effective_num_free_devices": 0})))
    assert row["availability"] == "unavailable"


@pytest.mark.parametrize("workload", ["baremetal", 1, ["vm"], {}])
def test_jarvislabs_a_workload_that_nobody_knows_is_rejected(workload: object) -> None:
    parsed = read_json(JARVIS, jarvis(SERVER | {"workload_type": workload}))
    assert not quotes(parsed)
    assert "unknown_workload" in reasons(parsed)


def test_jarvislabs_cpus_are_counted_and_are_no_gpu() -> None:
    document = jarvis(SERVER) | {"cpu_meta": {"combinations": [{"price": 0.1}, {"price": 0.2}]}}
    assert reasons(read_json(JARVIS, document)).count("no_gpu") == 2


# --- Seeweb -------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", [JARVIS, SEEWEB])
def test_a_key_is_asked_for_by_name_and_goes_in_a_header(slug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = SOURCES[slug]
    assert source.key_variable
    assert source.requests
    monkeypatch.delenv(source.key_variable, raising=False)
    with pytest.raises(KeyMissing, match=source.key_variable):
        list(source.requests())
    monkeypatch.setenv(source.key_variable, "only-here")
    (request,) = source.requests()
    assert "only-here" not in request.url
    assert any("only-here" in value for value in request.headers.values())


def test_seeweb_prices_are_euros_of_the_whole_plan() -> None:
    (row,) = quotes(read_json(SEEWEB, seeweb(PLAN | {"gpu": "4", "hourly_price": 9.2})))
    assert (row["currency"], row["price_unit"], row["gpu_count"]) == ("EUR", "instance_hour", 4)
    assert "states no currency" in row["note"]


def test_seeweb_that_states_another_currency_is_refused() -> None:
    with pytest.raises(SourceError, match="'USD'"):
        read_json(SEEWEB, seeweb(PLAN, currency="USD"))
    assert quotes(read_json(SEEWEB, seeweb(PLAN, currency="EUR")))


@pytest.mark.parametrize("count", ["", "2x", "-1", "1.5", "²", "\u0662", 2, None, True])
def test_seeweb_counts_no_gpus_that_the_text_does_not_state(count: object) -> None:
    parsed = read_json(SEEWEB, seeweb(PLAN, PLAN | {"name": "P2", "gpu": count}))
    assert list(prices(parsed)) == [("P1", "on_demand")]
    assert parsed.refused["field"].to_list() == ["gpu"]


def test_seeweb_zero_gpus_with_a_label_contradict_each_other() -> None:
    parsed = read_json(SEEWEB, seeweb(PLAN, PLAN | {"name": "P2", "gpu": "0"}))
    assert reasons(parsed) == ["not_positive"]


def test_a01_seeweb_the_price_of_one_gpu_on_a_bigger_plan_is_refused() -> None:
    parsed = read_json(SEEWEB, seeweb(PLAN, PLAN | {"name": "P8", "gpu": "8"}))
    assert list(prices(parsed)) == [("P1", "on_demand")]
    assert reasons(parsed) == ["price_does_not_scale"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a06_seeweb_two_prices_of_one_plan_are_trusted_neither(order: tuple[int, int]) -> None:
    pair = [PLAN, PLAN | {"hourly_price": 3}]
    parsed = read_json(SEEWEB, seeweb(*(pair[place] for place in order)))
    assert reasons(parsed) == ["conflicting_duplicates"] * 2


@pytest.mark.parametrize(
    "document",
    [seeweb(), seeweb(PLAN | {"gpu": "0", "gpu_label": None}), seeweb(PLAN) | {"status": "error"}, [PLAN]],
    ids=["empty", "no_gpu", "failed", "bare"],
)
def test_seeweb_what_is_no_list_of_gpus_is_refused(document: Any) -> None:
    with pytest.raises(SourceError, match=r"plans"):
        read_json(SEEWEB, document)


# --- TPUs ---------------------------------------------------------------------------------------


def test_tpu_spot_above_on_demand_costs_the_spot_price_alone() -> None:
    parsed = read_json(TPU, tpu(2, 2.5))
    assert prices(parsed) == {("TPU v6e", "on_demand"): 2}
    assert reasons(parsed) == ["spot_above_on_demand"]
    assert prices(read_json(TPU, tpu(2, 2)))["TPU v6e", "spot"] == 2


def test_tpu_pod_and_device_are_two_products() -> None:
    document = {name: tpu(2, 1)["TPU v6e"] for name in ("TPU v3 pod", "TPU v3 device")}
    assert len(prices(read_json(TPU, document))) == 4


@pytest.mark.parametrize(
    "document", [{}, [], {"H100": tpu(2, 1)["TPU v6e"]}, {"TPU v6e": {}}, {"TPU v6e": 2}]
)
def test_tpu_what_is_no_table_of_tpus_is_refused(document: Any) -> None:
    with pytest.raises(SourceError):
        read_json(TPU, document)


# --- Vultr's list as a file ---------------------------------------------------------------------

VULTR_PLAN = {
    "id": "vcg-a100-12c-120g-80vram", "hourly_cost": 2, "type": "vcg", "locations": ["ewr"],
    "gpu_vram_gb": 80, "gpu_type": "NVIDIA_A100",
}  # fmt: skip


def test_vultr_list_without_a_total_is_read_when_a_person_knows_that_it_is_whole() -> None:
    parsed = read_json("vultr", {"plans": [VULTR_PLAN]}, context={"complete": True})
    assert prices(parsed) == {("vcg-a100-12c-120g-80vram", "on_demand"): 2}


@pytest.mark.parametrize("complete", [False, None, "true", 1])
def test_vultr_list_without_a_total_says_what_would_make_it_readable(complete: object) -> None:
    with pytest.raises(
        SourceError, match="state complete: true in a context file if you know that it is the"
    ):
        read_json("vultr", {"plans": [VULTR_PLAN]}, context={"complete": complete})


def test_vultr_list_that_contradicts_its_own_total_stays_refused_whatever_a_person_says() -> None:
    document = {"plans": [VULTR_PLAN], "meta": {"total": 2}}
    with pytest.raises(SourceError, match="pages are missing"):
        read_json("vultr", document, context={"complete": True})
    with pytest.raises(SourceError, match=r"meta\.total"):
        read_json("vultr", document | {"meta": {"total": "1"}}, context={"complete": True})
    going_on = {"plans": [VULTR_PLAN], "meta": {"links": {"next": "cursor"}}}
    with pytest.raises(SourceError, match="goes on"):
        read_json("vultr", going_on, context={"complete": True})


# --- Payloads as their publishers wrote them ----------------------------------------------------

DATA = Path(os.environ.get("TOKENYIELD_SHARED_DATA", ROOT / ".." / "shared" / "data"))
EU_FILES, RECORDED = DATA / "rental/eu_cloud_prices_mixxor", DATA / "rental/gpuhunt_fixtures"
needs_eu_files = pytest.mark.skipif(not EU_FILES.is_dir(), reason=f"no real payloads at {EU_FILES}")
needs_recorded = pytest.mark.skipif(not RECORDED.is_dir(), reason=f"no real payloads at {RECORDED}")


@needs_eu_files
@pytest.mark.parametrize(
    ("provider", "without_gpu", "accepted"),
    [
        ("gcore", 74, 10),
        ("hikube", 21, 6),
        ("infomaniak", 74, 10),
        ("leafcloud", 36, 9),
        ("nebius", 12, 16),
        ("ovh", 47, 3),
        ("stackit", 161, 10),
    ],
)
def test_real_european_list_is_read_whole(provider: str, without_gpu: int, accepted: int) -> None:
    parsed = read_bytes(EU, (EU_FILES / f"{provider}.json").read_bytes())
    assert Counter(reasons(parsed)) == {"no_gpu": without_gpu}
    assert len(quotes(parsed)) == accepted
    assert parsed.candidates == without_gpu + accepted


@needs_eu_files
def test_real_european_prices() -> None:
    def found(provider: str) -> list[tuple[Any, ...]]:
        rows = quotes(read_bytes(EU, (EU_FILES / f"{provider}.json").read_bytes()))
        keys = ("raw_gpu_name", "gpu_count", "price", "currency", "price_unit", "price_type", "listing_kind")
        return [tuple(row[key] for key in keys) for row in rows]

    hour = ("EUR", "instance_hour", "on_demand")
    assert ("NVIDIA H100", 1, Decimal("4.1184"), *hour, "bundle") in found("leafcloud")
    assert ("n3.104d.g8", 8, Decimal("64.33080556"), *hour, "bundle") in found("stackit")
    assert ("Tesla V100S 32GB", 4, Decimal("3.2"), *hour, "bundle") in found("ovh")
    assert ("NVIDIA H200 141GB", 1, Decimal("3.7425"), *hour, "component") in found("hikube")
    assert {row[4] for row in found("gcore")} == {"instance_month"}
    nebius = found("nebius")
    assert ("NVIDIA H100 NVLink", None, Decimal("2.95"), "USD", "gpu_hour", "on_demand", "bundle") in nebius
    assert ("NVIDIA H100 NVLink", None, Decimal("1.25"), "USD", "gpu_hour", "spot", "bundle") in nebius
    assert {row[0] for row in nebius if row[6] == "component"} == {"NVIDIA L40S Intel", "NVIDIA L40S AMD"}


@needs_eu_files
def test_real_rates_of_the_central_bank_are_no_price_list() -> None:
    with pytest.raises(SourceError, match="no instances"):
        read_bytes(EU, (EU_FILES / "ecb_rates_2026-08-13.json").read_bytes())


@needs_recorded
def test_real_jarvislabs_servers() -> None:
    parsed = read_bytes(JARVIS, (RECORDED / "jarvislabs_server_meta.json").read_bytes())
    assert [(r["offer_key"], r["region"], r["price_type"], r["price"]) for r in quotes(parsed)] == [
        ("L4/container", "india-noida-01", "on_demand", Decimal("0.44")),
        ("L4/container", "india-noida-01", "spot", Decimal("0.29")),
        ("A100-80GB/vm", "india-noida-01", "on_demand", Decimal("1.49")),
        ("RTX-PRO6000/vm", "india-chennai-01", "on_demand", Decimal("1.89")),
        ("RTX PRO 6000/vm", "india-noida-01", "on_demand", Decimal("1.89")),
        ("H100/vm", "europe-01", "on_demand", Decimal("2.99")),
        ("H100/vm", "unknown-region", "on_demand", Decimal("2.99")),
    ]
    assert Counter(reasons(parsed)) == {
        "spot_is_for_containers": 3,
        "not_offered": 3,
        "identical_duplicate": 1,
        "no_gpu": 1,
    }
    assert parsed.candidates == 15


@needs_recorded
def test_real_seeweb_plans() -> None:
    parsed = read_bytes(SEEWEB, (RECORDED / "seeweb_plans.json").read_bytes())
    assert [(r["raw_gpu_name"], r["gpu_count"], r["price"]) for r in quotes(parsed)] == [
        ("L40s 48GB", 1, Decimal("0.85")),
        ("A100 80GB", 2, Decimal("1.98")),
        ("MI300X", 1, Decimal("1.6")),
    ]
    assert reasons(parsed) == ["no_gpu"]


@needs_recorded
def test_real_tpu_prices_have_six_impossible_spot_prices() -> None:
    parsed = read_bytes(TPU, (RECORDED / "tpu_pricing.json").read_bytes())
    assert Counter(row["price_type"] for row in quotes(parsed)) == {"on_demand": 21, "spot": 15}
    assert reasons(parsed) == ["spot_above_on_demand"] * 6
    assert sorted(parsed.refused["value"]) == ["1.26225", "1.5300", "1.5300", "2.2440", "2.6400", "3.686"]


@needs_recorded
@pytest.mark.parametrize(("name", "count"), [("vultr_v2_plans", 3), ("vultr_v2_plans_metal", 4)])
def test_real_vultr_list_is_read_when_a_person_knows_that_it_is_whole(name: str, count: int) -> None:
    body = (RECORDED / f"{name}.json").read_bytes()
    assert len(quotes(read_bytes("vultr", body, context={"complete": True}))) == count
    with pytest.raises(SourceError, match="complete: true"):
        read_bytes("vultr", body)


@needs_recorded
@pytest.mark.parametrize("slug", sorted(SOURCES))
def test_real_shapes_of_oracle_are_no_price_list_of_anyone(slug: str) -> None:
    body = (RECORDED / "oci_cloudestimator_shapes_excerpt.json").read_bytes()
    with pytest.raises(SourceError):
        read_bytes(slug, body, context={"complete": True})
