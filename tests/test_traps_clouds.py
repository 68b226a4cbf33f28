"""The traps of the clouds and marketplaces that are asked directly, one test each; made-up prices.

The last tests read answers as their publishers wrote them, where TOKENYIELD_SHARED_DATA has some.
"""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from conftest import SHARED_DATA
from test_sources import FIXTURES, SOURCES, read_json, snapshot_of, written

from pipelines.source import Parsed, Part, Request, Source, SourceError, read

Record = dict[str, Any]


def fixture(slug: str, name: str = "payload.json") -> Any:
    return json.loads((FIXTURES / slug / name).read_text("utf-8"))


def part(document: Any, name: str = "1.json", url: str | None = None) -> Part:
    return Part(name, document if isinstance(document, bytes) else json.dumps(document).encode(), url)


def read_parts(slug: str, *documents: Any, **meta: str) -> Parsed:
    parts = tuple(part(document, f"{number}.json") for number, document in enumerate(documents))
    return read(SOURCES[slug], snapshot_of(SOURCES[slug], parts, meta))


def quotes(parsed: Parsed) -> list[Record]:
    return parsed.rows["rental_quote"].to_dicts() if "rental_quote" in parsed.rows else []


def prices(parsed: Parsed) -> list[tuple[str, str]]:
    return [(row["offer_key"], written(row["price"])) for row in quotes(parsed)]


def reasons(parsed: Parsed) -> list[str]:
    return parsed.refused["reason"].to_list()


# --- One good record of each source, and the payload around any number of them -------------------

LIUM = fixture("lium")["nodes"][0]
GPUAI = fixture("gpuai", "payload-1.json")["data"][0]
HYPERBOLIC = fixture("hyperbolic")[0]
CUDO = fixture("cudo")["machineTypes"][0]
AKASH = fixture("akash")["models"][0]
VULTR = fixture("vultr", "payload-1.json")["plans"][0]
METAL = fixture("vultr", "payload-3.json")["plans_metal"][0]
SCALEWAY = fixture("scaleway", "payload-1.json")["servers"]["L4-1-24G"]
OVH = fixture("ovh")["addons"][0]
VERDA = fixture("verda", "payload-1.json")[0]


def lium(*nodes: Record) -> Record:
    return {"generated_at": "2026-11-01T06:07:08Z", "count": len(nodes), "nodes": list(nodes)}


def gpuai(*offers: Record, cursor: str | None = None) -> Record:
    return {"data": list(offers), "next_cursor": cursor}


def vultr(*plans: Record, name: str = "plans", total: int | None = None, cursor: str = "") -> Record:
    links = {"next": cursor, "prev": ""}
    return {name: list(plans), "meta": {"total": len(plans) if total is None else total, "links": links}}


def scaleway(**types: Record) -> Record:
    return {"servers": types}


def ovh(*addons: Record, subsidiary: str = "FR", currency: str = "EUR") -> Record:
    return {"locale": {"currencyCode": currency, "subsidiary": subsidiary}, "addons": list(addons)}


def ovh_addon(plan: str, units: object, shown: str, count: int = 1, model: str = "L4") -> Record:
    addon = copy.deepcopy(OVH)
    addon["planCode"] = plan
    addon["pricings"] = [{"price": units, "formattedPrice": shown}]
    addon["blobs"]["technical"]["gpu"] |= {"model": model, "number": count}
    return addon


def akash_model(**price: object) -> Record:
    return AKASH | {"price": AKASH["price"] | price}


def akash(*models: Record) -> Record:
    return {"availability": {"total": 1, "available": 1}, "models": list(models)}


def verda_type(key: str, count: int, price: object, spot: object = None) -> Record:
    return VERDA | {
        "instance_type": key,
        "gpu": {"description": f"{count}x H100 SXM5 80GB", "number_of_gpus": count},
        "gpu_memory": {"size_in_gigabytes": 80 * count},
        "price_per_hour": price,
        "spot_price": spot,
    }


# Payloads of two records of one product, at the given prices: one marketplace or price list each.
PAIRS: dict[str, Callable[[float, float], Any]] = {
    "lium": lambda a, b: lium(
        *(LIUM | {"price_per_gpu_hour": p, "price_per_node_hour": round(8 * p, 6)} for p in (a, b))
    ),
    "gpuai": lambda a, b: gpuai(GPUAI | {"price_per_hour": a}, GPUAI | {"price_per_hour": b}),
    "hyperbolic": lambda a, b: [HYPERBOLIC | {"costPerHourCents": round(100 * p)} for p in (a, b)],
    "cudo": lambda a, b: {
        "machineTypes": [CUDO | {"gpuPriceHr": {"value": str(p), "currency": "usd"}} for p in (a, b)]
    },
    "akash": lambda a, b: akash(akash_model(med=a), akash_model(med=b)),
    "ovh": lambda a, b: ovh(
        *(ovh_addon("l4-90.consumption", round(p * 10**8), f"{p:.2f} €") for p in (a, b))
    ),
    "verda": lambda a, b: [verda_type("1H100", 1, str(a)), verda_type("1H100", 1, str(b))],
}
EVERY_PAIR = pytest.mark.parametrize("slug", sorted(PAIRS))

# Payloads of one record with `value` in its price; `missing` leaves the key out.
MISSING = object()


def without(record: Record, key: str, value: object) -> Record:
    changed = record | {key: value}
    if value is MISSING:
        del changed[key]
    return changed


def ovh_priced(value: object) -> Record:
    addon = ovh_addon("l4-90.consumption", 1, "2.49 €")
    addon["pricings"] = [without(addon["pricings"][0], "price", value)]
    return addon


def with_statistic(value: object) -> Record:
    return AKASH | {"price": without(AKASH["price"], "med", value)}


NUMBERS: dict[str, Callable[[list[object]], Any]] = {
    "lium": lambda values: lium(
        *(without(LIUM | {"id": f"n{i}"}, "price_per_gpu_hour", v) for i, v in enumerate(values))
    ),
    "gpuai": lambda values: gpuai(
        *(without(GPUAI | {"offering_id": f"o{i}"}, "price_per_hour", v) for i, v in enumerate(values))
    ),
    "vultr": lambda values: vultr(
        *(without(VULTR | {"id": f"p{i}"}, "hourly_cost", v) for i, v in enumerate(values))
    ),
    "scaleway": lambda values: scaleway(
        **{f"t{i}": without(SCALEWAY, "hourly_price", v) for i, v in enumerate(values)}
    ),
    "ovh": lambda values: ovh(*(ovh_priced(v) for v in values)),
    "akash": lambda values: akash(*(with_statistic(v) for v in values)),
}


# --- Fault cases ---------------------------------------------------------------------------------


def test_a01_lium_a_node_price_that_is_the_price_of_one_gpu_is_refused() -> None:
    nodes = [
        LIUM | {"id": f"n{n}", "gpu_count": n, "price_per_gpu_hour": 2.49, "price_per_node_hour": 2.49}
        for n in (1, 2, 4, 8)
    ]
    parsed = read_json("lium", lium(*nodes))
    assert prices(parsed) == [("n1", "2.49")]
    assert reasons(parsed) == ["price_does_not_scale"] * 3


FLAT: dict[str, Any] = {
    "thunder_compute": {"pricing": {f"h100_x{n}_production": 2.49 for n in (8, 4, 2, 1)}},
    "verda": [verda_type(f"{n}H100", n, "2.49") for n in (8, 4, 2, 1)],
    "scaleway": scaleway(**{f"L4-{n}": SCALEWAY | {"gpu": n, "hourly_price": 2.49} for n in (8, 4, 2, 1)}),
    "ovh": ovh(*(ovh_addon(f"l4-{n}.consumption", 249000000, "2.49 €", n) for n in (8, 4, 2, 1))),
}


@pytest.mark.parametrize("slug", sorted(FLAT))
def test_a01_one_price_for_any_number_of_gpus_leaves_the_single_gpu_alone(slug: str) -> None:
    parsed = read_json(slug, FLAT[slug])
    assert [(row["gpu_count"], written(row["price"])) for row in quotes(parsed)] == [(1, "2.49")]
    assert reasons(parsed).count("price_does_not_scale") == 3


def test_a02_cudo_a_gpu_alone_is_a_component_and_a_host_alone_is_nothing() -> None:
    accelerator = CUDO | {"gpuPriceHr": {"value": "3.11", "currency": "usd"}}
    host = {"dataCenterId": "se-1", "machineType": "a2", "gpuModel": "", "vcpuPriceHr": {"value": "0.94"}}
    parsed = read_json("cudo", {"machineTypes": [host, accelerator]})
    found = [(row["listing_kind"], row["price_unit"], written(row["price"])) for row in quotes(parsed)]
    assert found == [("component", "gpu_hour", "3.11")]
    assert reasons(parsed) == ["no_gpu"]
    with pytest.raises(SourceError, match="none of 1 machine types has a GPU"):
        read_json("cudo", {"machineTypes": [host]})


def test_a04_hyperbolic_cents_are_cents_and_a_decimal_point_in_them_is_dollars() -> None:
    options = [HYPERBOLIC | {"costPerHourCents": cents} for cents in (345, "24.00", "3.45", 3.45)]
    parsed = read_json("hyperbolic", [HYPERBOLIC | {"region": "r", "costPerHourCents": 1}, *options])
    assert [written(row["price"]) for row in quotes(parsed)] == ["0.01"]
    assert reasons(parsed) == ["conflicting_duplicates"] * 2 + ["not_whole_cents"] * 2


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a05_ovh_a_month_is_no_hour_whatever_comes_first(order: tuple[int, int]) -> None:
    pair = [
        ovh_addon("l4-90.consumption", 75000000, "0.75 €"),
        ovh_addon("l4-90.monthly.postpaid", 36500000000, "365.00 €"),
    ]
    parsed = read_json("ovh", ovh(*(pair[i] for i in order)))
    found = {
        row["price_type"]: (written(row["price"]), row["price_unit"], row["term_hours"])
        for row in quotes(parsed)
    }
    assert found == {
        "on_demand": ("0.75", "instance_hour", None),
        "reserved": ("365", "instance_month", 730.0),
    }


def test_a05_derived_months_of_scaleway_and_vultr_are_no_prices() -> None:
    parsed = read_json("scaleway", scaleway(L4=SCALEWAY))
    assert [(row["price_type"], written(row["price"])) for row in quotes(parsed)] == [("on_demand", "0.75")]
    assert reasons(parsed) == []
    parsed = read_json("vultr", vultr(VULTR))
    assert [(row["price_type"], written(row["price"])) for row in quotes(parsed)] == [("on_demand", "2")]
    assert reasons(parsed) == []


@EVERY_PAIR
@pytest.mark.parametrize(("first", "second"), [(3.0, 1.45), (1.45, 3.0)])
def test_a06_of_two_prices_of_one_product_neither_holds(slug: str, first: float, second: float) -> None:
    parsed = read_json(slug, PAIRS[slug](first, second))
    assert quotes(parsed) == []
    assert reasons(parsed).count("conflicting_duplicates") == 2


@EVERY_PAIR
def test_a06_the_same_price_twice_is_one_price(slug: str) -> None:
    parsed = read_json(slug, PAIRS[slug](2.5, 2.5))
    assert len(quotes(parsed)) == 1
    assert reasons(parsed).count("identical_duplicate") == 1


@pytest.mark.parametrize("slug", ["thunder_compute", "scaleway"])
def test_a06_a_name_that_stands_twice_in_a_map_costs_the_payload(slug: str) -> None:
    body = {
        "thunder_compute": b'{"pricing":{"h100_x1_production":3.0,"h100_x1_production":1.45}}',
        "scaleway": b'{"servers":{"L4":{"gpu":1,"hourly_price":3.0},"L4":{"gpu":1,"hourly_price":1.45}}}',
    }[slug]
    with pytest.raises(SourceError, match="duplicate key"):
        read_parts(slug, body)


def test_a06_hyperbolic_other_machines_in_one_region_are_another_product() -> None:
    other = HYPERBOLIC | {"costPerHourCents": 2000, "nodes": [HYPERBOLIC["nodes"][0] | {"ramGb": 1000}]}
    assert [written(row["price"]) for row in quotes(read_json("hyperbolic", [HYPERBOLIC, other]))] == [
        "24",
        "20",
    ]


@pytest.mark.parametrize("count", [1, 3, None, True, "2"])
def test_a07_lium_shorter_than_it_says_is_no_list(count: object) -> None:
    document = lium(LIUM, LIUM | {"id": "n-2"}) | {"count": count}
    with pytest.raises(SourceError, match="the list says"):
        read_json("lium", document)


def test_a07_gpuai_without_its_last_page_is_no_book() -> None:
    with pytest.raises(SourceError, match="goes on"):
        read_parts("gpuai", gpuai(GPUAI, cursor="c2"))
    with pytest.raises(SourceError, match="next_cursor"):
        read_parts("gpuai", {"data": [GPUAI]})
    with pytest.raises(SourceError, match="in the middle"):
        read_parts("gpuai", gpuai(GPUAI), gpuai(GPUAI | {"offering_id": "x"}))
    with pytest.raises(SourceError, match="the same"):
        read_parts("gpuai", gpuai(GPUAI, cursor="c"), gpuai(GPUAI, cursor="d"), gpuai())


def test_a07_vultr_with_fewer_or_more_plans_than_it_says_is_no_list() -> None:
    for total in (2, 0):
        with pytest.raises(SourceError, match="pages are missing"):
            read_parts("vultr", vultr(VULTR, total=total))
    for document in ({"plans": [VULTR]}, {"plans": [VULTR], "meta": {"total": "1"}}):
        with pytest.raises(SourceError, match=r"meta\.total"):
            read_parts("vultr", document)


def test_a07_vultr_a_plan_on_two_pages_means_that_another_was_never_shown() -> None:
    with pytest.raises(SourceError, match="moved while it was read"):
        read_parts("vultr", vultr(VULTR, total=2, cursor="n"), vultr(VULTR, total=2))


def full_page(first: int = 0, size: int = 100) -> Record:
    return scaleway(**{f"CPU-{number}": {"gpu": 0, "ncpus": 1} for number in range(first, first + size)})


def test_a07_scaleway_ends_with_a_page_that_is_not_full() -> None:
    last = scaleway(L4=SCALEWAY)
    assert prices(read_parts("scaleway", full_page(), last)) == [("L4", "0.75")]
    full_of_gpus = {"servers": full_page(size=99)["servers"] | {"L4": SCALEWAY}}
    assert prices(read_parts("scaleway", full_of_gpus, {"servers": {}})) == [("L4", "0.75")]
    for pages in ([full_of_gpus], [full_page(size=99), last]):
        with pytest.raises(SourceError, match="last one is missing, or one was cut short"):
            read_parts("scaleway", *pages)


def test_a07_scaleway_stock_list_without_its_last_page_is_no_list() -> None:
    stock = {"servers": {f"CPU-{number}": {"availability": "available"} for number in range(100)}}
    with pytest.raises(SourceError, match="availabilities"):
        read_parts("scaleway", scaleway(L4=SCALEWAY), stock)


def test_a07_scaleway_a_type_on_two_pages_means_that_the_list_moved() -> None:
    with pytest.raises(SourceError, match="moved while it was read"):
        read_parts("scaleway", full_page(), scaleway(L4=SCALEWAY, **{"CPU-7": {"gpu": 0}}))


def test_a08_gpuai_gives_no_more_than_its_limit() -> None:
    offers = [GPUAI | {"offering_id": str(number)} for number in range(201)]
    with pytest.raises(SourceError, match="at most 200"):
        read_parts("gpuai", gpuai(*offers))


def test_a08_vultr_a_clamped_page_is_not_taken_for_the_list() -> None:
    plans = [VULTR | {"id": str(number)} for number in range(64)]
    with pytest.raises(SourceError, match="64 plans, while the list says"):
        read_parts("vultr", vultr(*plans, total=70))


def test_a11_the_raw_name_says_the_form_factor_wherever_it_stands() -> None:
    assert quotes(read_json("hyperbolic", [HYPERBOLIC]))[0]["raw_gpu_name"] == "h100 sxm5"
    assert quotes(read_json("akash", akash(AKASH)))[0]["raw_gpu_name"] == "h100 80Gi SXM5"
    bare = [{key: value for key, value in HYPERBOLIC.items() if key != "gpuFormFactor"}]
    assert reasons(read_json("hyperbolic", bare)) == ["missing_value"]


def test_a12_vultr_a_part_of_a_card_is_a_fraction_and_never_a_whole_gpu() -> None:
    plans = [VULTR | {"id": f"{memory}", "gpu_vram_gb": memory} for memory in (4, 40, 80, 160)]
    parsed = read_json("vultr", vultr(*plans))
    assert [row["gpu_count"] for row in quotes(parsed)] == [0.05, 0.5, 1.0, 2.0]


@pytest.mark.parametrize("memory", [0, -80, "80", True, None, math.nan])
def test_a12_vultr_memory_that_is_none_makes_no_count(memory: object) -> None:
    parsed = read_json("vultr", vultr(VULTR | {"gpu_vram_gb": memory}))
    assert quotes(parsed) == []
    assert len(reasons(parsed)) == 1


def test_a12_vultr_counts_no_gpus_that_no_table_and_no_id_knows() -> None:
    unknown = VULTR | {"gpu_type": "NVIDIA_Z9", "gpu_vram_gb": 64}
    parsed = read_json("vultr", vultr(unknown))
    assert [(row["raw_gpu_name"], row["gpu_count"]) for row in quotes(parsed)] == [("NVIDIA_Z9", None)]
    metal = METAL | {"id": "vbm-64c-2048gb-l40-gpu"}
    parsed = read_json("vultr", vultr(metal, name="plans_metal"))
    assert {row["gpu_count"] for row in quotes(parsed)} == {None}


@pytest.mark.parametrize("count", [0, "0.125", "8", True, None, -1])
def test_a12_a_count_that_is_none_costs_its_row(count: object) -> None:
    payloads = {
        "lium": lium(LIUM | {"gpu_count": count}),
        "gpuai": gpuai(GPUAI | {"gpu_count": count}),
        "hyperbolic": [HYPERBOLIC | {"gpuCount": count}],
    }
    for slug, payload in payloads.items():
        parsed = read_json(slug, payload)
        assert quotes(parsed) == [], slug
        assert parsed.refused["verdict"].to_list() == ["rejected"], slug


def test_a12_scaleway_a_mig_slice_is_no_gpu() -> None:
    parsed = read_json("scaleway", scaleway(L4=SCALEWAY, M=SCALEWAY | {"mig_profile": "1g.10gb"}))
    assert prices(parsed) == [("L4", "0.75")]
    assert reasons(parsed) == ["slice_of_a_gpu"]


A14 = [0, None, True, "2.49", math.nan, -1, 10**9, MISSING]


@pytest.mark.parametrize("slug", sorted(NUMBERS))
def test_a14_two_are_not_offered_and_six_are_anomalies(slug: str) -> None:
    values = [10**17 if slug == "ovh" and value == 10**9 else value for value in A14]
    parsed = read_json(slug, NUMBERS[slug](values))
    assert quotes(parsed) == []
    assert Counter(reasons(parsed)) == {
        "not_offered": 2,
        "wrong_type": 3 if slug == "ovh" else 2,  # OVH's prices are integers: NaN is of another type
        "not_positive": 1,
        "implausible_magnitude": 1,
        "missing_value": 1,
    } | ({} if slug == "ovh" else {"not_finite": 1})
    assert parsed.refused["verdict"].to_list().count("not_applicable") == 2


def test_a14_hyperbolic_takes_cents_as_text_too_and_nothing_else() -> None:
    values = [value for value in A14 if value is not MISSING] + ["249"]
    options = [
        HYPERBOLIC | {"region": str(number), "costPerHourCents": value} for number, value in enumerate(values)
    ]
    parsed = read_json("hyperbolic", [*options, without(HYPERBOLIC, "costPerHourCents", MISSING)])
    assert [written(row["price"]) for row in quotes(parsed)] == ["2.49"]
    assert Counter(reasons(parsed)) == {
        "not_offered": 2,
        "wrong_type": 1,
        "not_whole_cents": 1,
        "not_finite": 1,
        "not_positive": 1,
        "implausible_magnitude": 1,
        "missing_value": 1,
    }


def test_a14_thunder_compute_counts_prices_that_are_none() -> None:
    values = [value for value in A14 if value is not MISSING]
    parsed = read_json(
        "thunder_compute", {"pricing": {f"g{i}_x1_production": value for i, value in enumerate(values)}}
    )
    assert quotes(parsed) == []
    assert sorted(reasons(parsed)) == [
        "implausible_magnitude",
        "not_finite",
        "not_offered",
        "not_offered",
        "not_positive",
        "wrong_type",
        "wrong_type",
    ]


A15 = ["$2,499.00", "1.234,56 €", "2.49/hr", "from $3.75", "N/A", "Contact us", "", " 2.49 ", "1_000", "٣"]


def test_a15_text_prices_are_plain_decimals_or_nothing() -> None:
    # Both APIs send "2.49": anything dressed up says that the format has changed.
    verda = read_json("verda", [verda_type(f"t{i}", 1, text, "0") for i, text in enumerate(A15)])
    assert prices(verda) == [("t7", "2.49")]
    assert Counter(reasons(verda)) == {"not_a_number": 8, "missing_value": 1, "not_offered": 10}
    types = [
        CUDO | {"machineType": f"t{i}", "gpuPriceHr": {"value": text, "currency": "usd"}}
        for i, text in enumerate(A15)
    ]
    cudo = read_json("cudo", {"machineTypes": types})
    assert prices(cudo) == [("t7/nvidia-h100-sxm", "2.49")]
    assert Counter(reasons(cudo)) == {"not_a_number": 8, "missing_value": 1}


@pytest.mark.parametrize("value", [2.49, 0, True, math.nan, [], {}])
def test_a15_a_number_where_text_is_sent_is_an_anomaly(value: object) -> None:
    parsed = read_json("verda", [VERDA, verda_type("x", 1, value, "0")])
    assert reasons(parsed) == ["wrong_type", "not_offered"]
    parsed = read_json("cudo", {"machineTypes": [CUDO | {"gpuPriceHr": {"value": value, "currency": "usd"}}]})
    assert reasons(parsed) == ["wrong_type"]


@pytest.mark.parametrize(
    "shown", ["1,234.56 €", "1 234.56 €", "1234.567 €", "12.34.56 €", "", None, 1234.56, "free"]
)
def test_a15_ovh_a_price_that_its_own_text_does_not_confirm_is_refused(shown: Any) -> None:
    parsed = read_json("ovh", ovh(ovh_addon("l4-90.monthly.postpaid", 123456000000, shown)))
    assert quotes(parsed) == []
    assert reasons(parsed) == ["unreadable_formatted_price"]


# --- Lium ----------------------------------------------------------------------------------------


def test_lium_takes_its_time_from_the_list() -> None:
    hook = SOURCES["lium"].observed_at
    assert hook is not None
    assert hook((part(lium(LIUM)),)) == datetime(2026, 11, 1, 6, 7, 8, tzinfo=UTC)
    for moment in ("2026-11-01T06:07:08", "soon", None, 1762000000):
        with pytest.raises(SourceError, match="when it was generated"):
            hook((part(lium(LIUM) | {"generated_at": moment}),))


def test_lium_of_after_it_was_stored_is_refused() -> None:
    with pytest.raises(SourceError, match="after it was stored"):
        read_json("lium", lium(LIUM), recorded_at="2026-10-01T00:00:00Z")


def test_lium_an_announced_price_is_not_the_price() -> None:
    node = LIUM | {"pending_price_per_hour": 9.0, "price_change_effective_date": "2026-12-01"}
    parsed = read_json("lium", lium(node))
    assert prices(parsed) == [("n-1", "3")]
    assert reasons(parsed) == []


def test_lium_a_node_with_too_few_free_gpus_cannot_be_ordered() -> None:
    node = LIUM | {"available_gpu_count": 3, "min_rentable_gpu_count": 4}
    assert quotes(read_json("lium", lium(node)))[0]["availability"] == "unavailable"
    strange = LIUM | {"available_gpu_count": "many"}
    assert quotes(read_json("lium", lium(strange)))[0]["availability"] == "listed"


def test_lium_an_unknown_tier_is_neither_on_demand_nor_spot() -> None:
    parsed = read_json("lium", lium(LIUM, *(LIUM | {"id": str(t), "tier": t} for t in ("community", None))))
    assert prices(parsed) == [("n-1", "3")]
    assert reasons(parsed) == ["unknown_tier"] * 2


# --- GPU.ai --------------------------------------------------------------------------------------


def test_gpuai_price_is_for_all_gpus_of_the_configuration() -> None:
    (row,) = quotes(read_json("gpuai", gpuai(GPUAI | {"gpu_count": 8, "price_per_hour": 50.62})))
    assert (row["price_unit"], row["gpu_count"], written(row["price"])) == ("instance_hour", 8, "50.62")


@pytest.mark.parametrize(
    ("named", "flag", "expected"),
    [
        ("secure", False, "aa11/secure"),
        ("", True, "aa11/community"),
        ("community", None, "aa11/community"),
        ("secure", True, "contradictory_capacity_class"),
        ("gold", False, "unknown_capacity_class"),
        ("", None, "missing_value"),
        ("", "no", "wrong_type"),
    ],
)
def test_gpuai_secure_and_community_capacity_are_kept_apart(named: str, flag: Any, expected: str) -> None:
    parsed = read_json("gpuai", gpuai(GPUAI | {"capacity_class": named, "community": flag}))
    assert [row["offer_key"] for row in quotes(parsed)] + reasons(parsed) == [expected]


def test_gpuai_pages_are_followed_to_the_null() -> None:
    source = SOURCES["gpuai"]
    first = following(source, None, part(gpuai(GPUAI, cursor="a b/=")))
    assert first is not None
    assert first.url == "https://api.gpu.ai/v1/pricing?limit=200&cursor=a%20b%2F%3D"
    assert following(source, None, part(gpuai(GPUAI))) is None


def following(source: Source, request: Request | None, answer: Part) -> Request | None:
    assert source.requests is not None
    assert source.next_request is not None
    return source.next_request(request or next(iter(source.requests())), answer)


# --- Hyperbolic ----------------------------------------------------------------------------------


def test_hyperbolic_never_keeps_what_it_pays_its_suppliers() -> None:
    secret_cost = 123456789
    options = [
        HYPERBOLIC | {"providerCostPerHourCents": secret_cost, "supplierCostPerHourCents": secret_cost}
    ]
    parsed = read_json("hyperbolic", options)
    assert reasons(parsed) == ["unknown_price_key"]
    assert parsed.refused["field"].to_list() == ["supplierCostPerHourCents"]
    everything = json.dumps([quotes(parsed), parsed.refused.to_dicts()], default=str)
    assert str(secret_cost) not in everything


def test_hyperbolic_a_missing_stock_is_unknown_and_not_none() -> None:
    stock = {
        count: quotes(read_json("hyperbolic", [HYPERBOLIC | {"totalAvailable": count}]))[0]["availability"]
        for count in (None, 0, 2, "2")
    }
    assert stock == {None: "listed", 0: "unavailable", 2: "available", "2": "listed"}


# --- Thunder Compute -----------------------------------------------------------------------------


def test_thunder_compute_a_shared_gpu_is_never_a_whole_one() -> None:
    parsed = read_json(
        "thunder_compute", {"pricing": {"h100_x1_prototyping": 1.0, "h100_x1_production": 3.0}}
    )
    assert {row["offer_key"]: row["listing_kind"] for row in quotes(parsed)} == {
        "h100_x1_prototyping": "component",
        "h100_x1_production": "bundle",
    }


def test_thunder_compute_a_key_that_is_no_sku_is_no_gpu_for_its_price() -> None:
    keys = ["disk_gb", "h100", "h100_x0_production", "h100_production", "h100_x1_Production", "network"]
    pricing = {"h100_x1_production": 3.0} | dict.fromkeys(keys, 0.5)
    parsed = read_json("thunder_compute", {"pricing": pricing})
    assert prices(parsed) == [("h100_x1_production", "3")]
    assert reasons(parsed) == ["no_gpu", "alias_of_a_sku"] + ["unknown_price_key"] * 4


# --- CUDO, Akash: currencies and statistics ------------------------------------------------------


def test_cudo_sends_a_key_only_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = SOURCES["cudo"].requests
    assert ask is not None
    monkeypatch.delenv("CUDO_API_KEY", raising=False)
    assert [dict(request.headers) for request in ask()] == [{}]
    monkeypatch.setenv("CUDO_API_KEY", "k")
    (request,) = ask()
    assert request.headers == {"Authorization": "Bearer k"}
    assert "k" not in request.url.rpartition("/")[2].split("?")[1:]


def test_cudo_an_error_in_words_is_no_price_list() -> None:
    with pytest.raises(SourceError, match="error in words"):
        read_json("cudo", {"code": 16, "message": "unauthorized", "details": []})


def test_another_currency_is_never_taken_for_dollars() -> None:
    parsed = read_json("akash", akash(akash_model(currency="AKT"), akash_model(currency="usd")))
    assert reasons(parsed) == ["unexpected_currency"] * 2
    parsed = read_json("cudo", {"machineTypes": [CUDO | {"gpuPriceHr": {"value": "2", "currency": "eur"}}]})
    assert reasons(parsed) == ["unexpected_currency"]
    parsed = read_json("verda", [VERDA | {"currency": "sek"}])
    assert reasons(parsed) == ["unexpected_currency"] * 2
    (row, _) = quotes(read_json("verda", [VERDA | {"currency": "eur"}]))
    assert row["currency"] == "EUR"


def test_akash_a_month_of_bids_is_a_statistic_and_never_its_lowest_bid() -> None:
    (row,) = quotes(read_json("akash", akash(AKASH)))
    assert (written(row["price"]), row["derivation"]) == ("1.6", "ask_statistic")


def test_akash_a_median_outside_its_own_range_is_refused() -> None:
    models = [akash_model(min=2.0), akash_model(max=1.5), akash_model(min=2.0, med=2.5)]
    parsed = read_json("akash", akash(*models))
    assert [written(row["price"]) for row in quotes(parsed)] == ["2.5"]
    assert reasons(parsed) == ["contradictory_statistics"] * 2


# --- Vultr ---------------------------------------------------------------------------------------


def test_vultr_preemptible_is_spot_and_its_own_price() -> None:
    parsed = read_json("vultr", vultr(METAL, name="plans_metal"))
    assert [(row["price_type"], written(row["price"])) for row in quotes(parsed)] == [
        ("on_demand", "24"),
        ("spot", "16"),
    ]


def test_vultr_a_free_plan_without_a_gpu_is_no_price() -> None:
    free = VULTR | {"id": "free", "type": "vc2", "hourly_cost": 0, "gpu_type": None, "gpu_vram_gb": None}
    assert reasons(read_json("vultr", vultr(VULTR, free))) == ["no_gpu"]


def test_vultr_a_gpu_in_a_plan_of_another_type_is_looked_at_by_a_person() -> None:
    assert reasons(read_json("vultr", vultr(VULTR | {"type": "vcx"}))) == ["unknown_plan_type"]


def test_vultr_each_list_is_paged_on_its_own() -> None:
    source = SOURCES["vultr"]
    assert source.requests is not None
    plans, metal = source.requests()
    assert (plans.slice, metal.slice) == ("plans", "plans_metal")
    page = part(vultr(METAL, name="plans_metal", total=2, cursor="n=="))
    second = following(source, metal, page)
    assert second == Request(f"{metal.url}&cursor=n%3D%3D", "plans_metal")
    assert following(source, metal, part(vultr(METAL, name="plans_metal"))) is None


# --- Scaleway ------------------------------------------------------------------------------------


def test_scaleway_stock_never_decides_whether_there_is_a_price() -> None:
    words = ["available", "scarce", "shortage", "plenty"]
    types = dict.fromkeys(words, SCALEWAY)
    stock = {word: {"availability": word} for word in words}
    rows = quotes(read_parts("scaleway", scaleway(**types, absent=SCALEWAY), {"servers": stock}))
    assert {row["offer_key"]: row["availability"] for row in rows} == {
        "available": "available",
        "scarce": "available",
        "shortage": "unavailable",
        "plenty": "listed",
        "absent": "listed",
    }


def test_scaleway_prices_are_euros_of_the_zone_that_was_asked() -> None:
    source = SOURCES["scaleway"]
    assert source.requests is not None
    (types, _) = source.requests()
    (row,) = quotes(read(source, snapshot_of(source, (part(scaleway(L4=SCALEWAY), url=types.url),))))
    assert (row["currency"], row["region"]) == ("EUR", "fr-par-2")
    elsewhere = part(scaleway(L4=SCALEWAY), url=types.url.replace("fr-par-2", "nl-ams-1"))
    with pytest.raises(SourceError, match="another zone"):
        read(source, snapshot_of(source, (elsewhere,)))


def test_scaleway_asks_for_the_page_after_a_full_one() -> None:
    source = SOURCES["scaleway"]
    assert source.requests is not None
    for first in source.requests():
        second = following(source, first, part(full_page()))
        assert second is not None
        assert second.url == first.url.removesuffix("1") + "2"
        assert following(source, second, part(full_page(100, 36))) is None


# --- OVHcloud ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("subsidiary", "currency", "slice_name"),
    [("FR", "USD", "FR"), ("DE", "EUR", "FR"), ("US", "USD", "FR"), ("FR", "EUR", "US"), ("", "", "FR")],
)
def test_ovh_reads_no_other_book_than_the_one_asked_for(
    subsidiary: str, currency: str, slice_name: str
) -> None:
    document = ovh(OVH, subsidiary=subsidiary, currency=currency)
    with pytest.raises(SourceError, match="book"):
        read_parts("ovh", document, slice=slice_name)


def test_ovh_books_keep_their_currency_and_their_region() -> None:
    american = ovh(ovh_addon("l4-90.consumption", 88000000, "$0.88 USD"), subsidiary="US", currency="USD")
    (row,) = quotes(read_parts("ovh", american, slice="US"))
    assert (row["currency"], row["region"], written(row["price"])) == ("USD", "US", "0.88")


def test_ovh_a_price_by_the_minute_is_no_hour() -> None:
    service = copy.deepcopy(ovh_addon("ai-deploy.h100.consumption", 5000000, "0.05 €"))
    for brick in ("gpu", "ai-serving"):
        service["blobs"]["commercial"]["brick"] = brick
        parsed = read_json("ovh", ovh(OVH, service))
        assert len(quotes(parsed)) == 1
        assert reasons(parsed) == ["priced_by_the_minute"]


def test_ovh_a_scale_that_has_changed_shows_in_the_price_for_people() -> None:
    cents = ovh_addon("l4-90.consumption", 75, "0.75 €")
    half_a_cent = ovh_addon("l4-180.consumption", 155819000, "1.56 €", 2)
    parsed = read_json("ovh", ovh(cents, half_a_cent))
    assert prices(parsed) == [("l4-180.consumption", "1.55819")]
    assert reasons(parsed) == ["contradictory_prices"]


def test_ovh_two_phases_of_a_price_are_none() -> None:
    addon = copy.deepcopy(OVH)
    addon["pricings"] *= 2
    assert reasons(read_json("ovh", ovh(addon))) == ["not_one_pricing_phase"]


def test_ovh_a_windows_licence_is_no_part_of_a_gpu() -> None:
    by_name = ovh_addon("win-l4-90.consumption", 75000000, "0.75 €")
    by_system = ovh_addon("l4-90.consumption", 75000000, "0.75 €")
    by_system["blobs"]["technical"]["os"] = {"family": "windows"}
    nameless = ovh_addon("l4-45.consumption", 75000000, "0.75 €")
    del nameless["blobs"]["technical"]["os"]
    parsed = read_json("ovh", ovh(by_name, by_system, nameless))
    assert quotes(parsed) == []
    assert reasons(parsed) == ["windows_licence", "windows_licence", "unknown_os"]


def test_ovh_gpu_that_cannot_be_ordered_yet_is_not_on_offer() -> None:
    soon = copy.deepcopy(OVH)
    soon["blobs"]["tags"] = ["coming_soon"]
    assert [row["availability"] for row in quotes(read_json("ovh", ovh(soon)))] == ["unavailable"]


# --- Verda: the page's offers --------------------------------------------------------------------


def offer(name: str, description: str, price: object = 14.0, currency: str = "USD", **changes: Any) -> Record:
    money = {"price": price, "priceCurrency": currency}
    return {
        "@type": "Offer",
        "name": name,
        "description": description,
        **money,
        "priceSpecification": money,
    } | changes


B200 = "2x B200 SXM6 180GB"
ON_DEMAND, SPOT = "Hourly on-demand instance price", "Hourly spot instance price"
OFFERS = [
    offer(f"{B200} on-demand", ON_DEMAND),
    offer(f"{B200} spot", SPOT, 7.0),
    offer(f"{B200} serverless spot", "Hourly serverless spot container price", 5.0),
    offer(f"{B200} serverless continuous", "Hourly serverless container price", 5.0),
    offer("104x B200 SXM6 180GB instant cluster", "Hourly instant cluster price", 780.0),
    offer(" on-demand", ON_DEMAND, 0.1),
    offer("NVMe storage", "Monthly storage price per GiB", 0.2),
    {"@type": "Product", "name": "not an offer"},
]


def page_of(offers: list[Record]) -> bytes:
    block = json.dumps({"@context": "https://schema.org", "@graph": offers})
    return f'<!DOCTYPE html><html><script type="application/ld+json">{block}</script></html>\n'.encode()


@pytest.mark.parametrize("payload", [page_of(OFFERS), {"@graph": OFFERS}], ids=["page", "json_ld"])
def test_verda_offers_are_for_all_gpus_and_of_one_price_type_each(payload: Any) -> None:
    parsed = read_parts("verda", payload)
    found = [
        (row["offer_key"], row["raw_gpu_name"], row["gpu_count"], row["price_type"], written(row["price"]))
        for row in quotes(parsed)
    ]
    assert found == [
        (B200, "B200 SXM6 180GB", 2, "on_demand", "14"),
        (B200, "B200 SXM6 180GB", 2, "spot", "7"),
    ]
    assert reasons(parsed) == ["serverless", "serverless", "instant_cluster", "no_gpu", "no_gpu"]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (offer(f"{B200} spot", ON_DEMAND), "contradictory_tiers"),
        (offer(f"{B200} weekly", ON_DEMAND), "unknown_tier"),
        (offer("B200 SXM6 180GB on-demand", ON_DEMAND), "unknown_gpu_count"),
        (offer("0x B200 SXM6 180GB on-demand", ON_DEMAND), "unknown_gpu_count"),
        (offer("4x B200 on-demand", ON_DEMAND, priceSpecification={"price": 9}), "contradictory_prices"),
        (offer("4x B200 on-demand", ON_DEMAND, priceCurrency="EUR"), "contradictory_currencies"),
        (offer("4x B200 on-demand", ON_DEMAND, "14.0"), "wrong_type"),
        (offer("4x B200 on-demand", ON_DEMAND, currency=""), "unexpected_currency"),
    ],
)
def test_verda_an_offer_that_contradicts_itself_is_refused(wrong: Record, reason: str) -> None:
    parsed = read_parts("verda", {"@graph": [OFFERS[0], wrong]})
    assert len(quotes(parsed)) == 1
    assert reasons(parsed) == [reason]


def test_verda_reads_the_offers_among_what_else_a_page_says_of_itself() -> None:
    itself = b'<script type="application/ld+json">{"@type":"Organization"}</script></html>'
    parsed = read_parts("verda", page_of(OFFERS[:1]).replace(b"</html>", itself))
    assert [row["offer_key"] for row in quotes(parsed)] == [B200]


def test_verda_an_offer_with_a_new_price_is_seen() -> None:
    parsed = read_parts("verda", {"@graph": [OFFERS[0] | {"reservedPrice": 9}]})
    assert len(quotes(parsed)) == 1
    assert reasons(parsed) == ["unknown_price_key"]


def test_verda_two_equal_offers_are_one() -> None:
    parsed = read_parts("verda", {"@graph": [OFFERS[0], OFFERS[0]]})
    assert len(quotes(parsed)) == 1
    assert reasons(parsed) == ["identical_duplicate"]


def test_verda_a_page_that_is_cut_or_has_no_offers_is_refused() -> None:
    whole = page_of(OFFERS)
    for page in (whole[: len(whole) // 2], whole[:-8], b"<html><body>Sorry</body></html>", page_of([])):
        with pytest.raises(SourceError):
            read_parts("verda", page)


def test_verda_surfaces_are_not_mixed() -> None:
    with pytest.raises(SourceError, match="or both"):
        read_parts("verda", [VERDA], {"@graph": OFFERS})
    with pytest.raises(SourceError, match="neither"):
        read_parts("verda", fixture("verda", "payload-2.json"))


def test_verda_memory_is_the_total_of_the_instance() -> None:
    rows = quotes(read_json("verda", [verda_type("8H100", 8, "24.00")]))
    assert [row["raw_memory_gb"] for row in rows] == [80.0]


def test_verda_what_is_free_says_nothing_of_spot() -> None:
    parsed = read_parts("verda", [VERDA], [{"location_code": "FIN-01", "availabilities": []}])
    assert {row["price_type"]: row["availability"] for row in quotes(parsed)} == {
        "on_demand": "unavailable",
        "spot": "listed",
    }


# --- All of them ---------------------------------------------------------------------------------

MINE = [
    "akash", "cudo", "gpuai", "hyperbolic", "lium", "ovh", "scaleway", "thunder_compute", "verda", "vultr",
]  # fmt: skip


def test_a_new_price_key_is_seen_and_costs_no_other_price() -> None:
    payloads = {
        "lium": lium(LIUM | {"price_per_gpu_week": 1}),
        "gpuai": gpuai(GPUAI | {"reserved_price": 1}),
        "hyperbolic": [HYPERBOLIC | {"weekPerHourCents": 1}],
        "cudo": {"machineTypes": [CUDO | {"gpuSpotPriceHr": {"value": "1"}}]},
        "akash": akash(akash_model(p10=1)),
        "vultr": vultr(VULTR | {"hourly_cost_reserved": 1}),
        "scaleway": scaleway(L4=SCALEWAY | {"yearly_price": 1}),
        "ovh": ovh(OVH | {"pricings": [OVH["pricings"][0] | {"promotionalPrice": 1}]}),
        "verda": [verda_type("1H100", 1, "3.00", "0") | {"dynamic_price": "1"}],
        "thunder_compute": {"pricing": {"h100_x1_production": 3.0, "h100_spot": 1}},
    }
    assert sorted(payloads) == MINE
    for slug, payload in payloads.items():
        parsed = read_json(slug, payload)
        assert len(quotes(parsed)) == 1, slug
        assert "unknown_price_key" in reasons(parsed), slug


@pytest.mark.parametrize("slug", MINE)
def test_records_that_are_no_records_cost_themselves_alone(slug: str) -> None:
    strange: list[Any] = [None, "text", [], {}, True]
    payloads: dict[str, Any] = {
        "lium": lium(LIUM, *strange),
        "gpuai": gpuai(GPUAI, *strange),
        "hyperbolic": [HYPERBOLIC, *strange],
        "cudo": {"machineTypes": [CUDO, *strange]},
        "akash": akash(AKASH, *strange),
        "vultr": vultr(VULTR, *strange),
        "scaleway": scaleway(L4=SCALEWAY, **{str(i): one for i, one in enumerate(strange)}),
        "ovh": ovh(OVH, *strange),
        "verda": [verda_type("1H100", 1, "3.00", "0"), *strange],
        "thunder_compute": {
            "pricing": {"h100_x1_production": 3.0}
            | {f"h100_x{i}_production": one for i, one in enumerate(strange, 2)}
        },
    }
    parsed = read_json(slug, payloads[slug])
    assert len(quotes(parsed)) == 1
    assert parsed.candidates >= 1 + len(strange)


@pytest.mark.parametrize("slug", MINE)
def test_a_field_of_any_other_type_never_breaks_the_reading(slug: str) -> None:
    folder = FIXTURES / slug
    files = sorted(folder.glob("payload*"))
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    for number, file in enumerate(files):
        for broken in with_one_field_replaced(json.loads(file.read_text("utf-8"))):
            parts = tuple(
                part(broken) if i == number else Part(f.name, f.read_bytes()) for i, f in enumerate(files)
            )
            try:
                parsed = read(SOURCES[slug], snapshot_of(SOURCES[slug], parts, meta))
            except SourceError:
                continue
            assert parsed.candidates > 0
            assert all(row["price"] > 0 for row in quotes(parsed))


def with_one_field_replaced(document: Any) -> list[Any]:
    """Every variant of the document in which one value somewhere is of another type."""
    paths: list[tuple[Any, ...]] = []

    def walk(value: Any, path: tuple[Any, ...]) -> None:
        if path:
            paths.append(path)
        children = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        for key, child in children:
            walk(child, (*path, key))

    walk(document, ())
    variants = []
    for path in paths:
        for strange in (None, True, -3, "x", {"a": 1}, math.nan):
            variant = copy.deepcopy(document)
            target = variant
            for key in path[:-1]:
                target = target[key]
            target[path[-1]] = strange
            variants.append(variant)
    return variants


@pytest.mark.parametrize("slug", sorted({*PAIRS, *NUMBERS} - {"scaleway", "vultr"}))
def test_the_order_of_the_records_changes_nothing(slug: str) -> None:
    document = fixture(slug, "payload.json") if (FIXTURES / slug / "payload.json").exists() else None
    parts = [document] if document is not None else [fixture(slug, "payload-1.json")]
    if slug == "gpuai":
        parts = [fixture(slug, "payload-1.json") | {"next_cursor": None}]
    straight = read_parts(slug, *parts)
    turned = read_parts(slug, *(reversed_records(one) for one in parts))

    def content(parsed: Parsed) -> list[tuple[str, ...]]:
        return sorted(
            (row["offer_key"], str(row["region"]), row["price_type"], written(row["price"]))
            for row in quotes(parsed)
        )

    assert content(straight) == content(turned)
    assert Counter(reasons(straight)) == Counter(reasons(turned))


def reversed_records(document: Any) -> Any:
    if isinstance(document, list):
        return document[::-1]
    return {key: value[::-1] if isinstance(value, list) else value for key, value in document.items()}


@pytest.mark.parametrize("slug", MINE)
def test_what_a_source_says_of_itself(slug: str) -> None:
    source = SOURCES[slug]
    assert not source.seen_live
    assert source.max_age_days == 7
    provider = source.providers[0]
    assert provider.provider_id == slug
    # A reseller's quotes never vote; the others speak for their own capacity.
    assert (provider.segment, source.source_rank) == ((None, 30) if slug == "gpuai" else ("specialist", 10))


# --- Answers as their publishers wrote them ------------------------------------------------------

REAL = SHARED_DATA / "rental" / "gpuhunt_fixtures"
needs_real_files = pytest.mark.skipif(not REAL.is_dir(), reason=f"no real payloads at {REAL}")


def real(name: str) -> Any:
    # Numbers stay as they are written.
    return json.loads((REAL / name).read_text("utf-8"))


@needs_real_files
def test_real_vultr_plans() -> None:
    plans, metal = real("vultr_v2_plans.json")["plans"], real("vultr_v2_plans_metal.json")["plans_metal"]
    parsed = read_parts("vultr", vultr(*plans), vultr(*metal, name="plans_metal"))
    found = {
        (row["offer_key"], row["price_type"]): (row["gpu_count"], row["price"]) for row in quotes(parsed)
    }
    assert found == {
        ("vcg-a100-1c-6g-4vram", "on_demand"): (0.05, Decimal("0.123")),
        ("vcg-a100-6c-60g-40vram", "on_demand"): (0.5, Decimal("1.397")),
        ("vcg-a100-12c-120g-80vram", "on_demand"): (1.0, Decimal("2.397")),
        ("vbm-256c-2048gb-8-mi300x-gpu", "on_demand"): (8.0, Decimal("17.52")),
        ("vbm-256c-2048gb-8-mi300x-gpu", "spot"): (8.0, Decimal("14.72")),
        ("vbm-112c-2048gb-8-h100-gpu", "on_demand"): (8.0, Decimal("23.92")),
        ("vbm-112c-2048gb-8-h100-gpu", "spot"): (8.0, Decimal("18.4")),
    }
    assert parsed.candidates == 7
    assert parsed.refused.is_empty()


@needs_real_files
def test_real_vultr_excerpts_do_not_say_how_long_the_list_is() -> None:
    with pytest.raises(SourceError, match=r"meta\.total"):
        read_parts("vultr", real("vultr_v2_plans.json"))


@needs_real_files
def test_real_verda_instance_types() -> None:
    parsed = read_parts("verda", real("verda_instance_types.json"), real("verda_availabilities.json"))
    found = [
        (row["offer_key"], row["raw_gpu_name"], row["price_type"], written(row["price"]), row["availability"])
        for row in quotes(parsed)
    ]
    assert found == [
        ("1H100.80S.30V", "H100 SXM5 80GB", "on_demand", "3.95", "unavailable"),
        ("1H100.80S.30V", "H100 SXM5 80GB", "spot", "1.7", "listed"),
        ("2A6000.20V", "RTX A6000 48GB", "on_demand", "1.98", "available"),
        ("2A6000.20V", "RTX A6000 48GB", "spot", "0.7", "listed"),
        ("1V100.6V", "Tesla V100 16GB", "on_demand", "0.89", "available"),
        ("1V100.6V", "Tesla V100 16GB", "spot", "0.25", "listed"),
    ]
    assert [row["raw_memory_gb"] for row in quotes(parsed)] == [80, 80, 48, 48, 16, 16]
    assert reasons(parsed) == ["no_gpu"]
    assert parsed.candidates == 7


@needs_real_files
@pytest.mark.parametrize("slug", MINE)
def test_real_answers_of_other_sources_are_refused(slug: str) -> None:
    source = SOURCES[slug]
    own = {"vultr": "vultr", "verda": "verda"}.get(slug, "-")
    files = [*REAL.glob("*.json"), *(REAL.parent / "eu_cloud_prices_mixxor").glob("*.json")]
    assert files
    for file in files:
        if not file.name.startswith(own):
            with pytest.raises(SourceError):
                read(source, dataclasses.replace(snapshot_of_file(source, file.read_bytes())))


def snapshot_of_file(source: Source, body: bytes) -> Any:
    return dataclasses.replace(
        snapshot_of(dataclasses.replace(source, observed_at=None), (part(body),)), source=source.slug
    )
