"""Traps of the sources that want a key or a permission, of index and contract files, and of token prices.

One test per trap, named after what it prevents. The payloads are invented; the last section reads real ones
where TOKENYIELD_SHARED_DATA says that they are, and is skipped, visibly, without them.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipelines.http import next_request
from pipelines.source import Accepted, KeyMissing, Parsed, Part, Snapshot, SourceError, all_sources, read
from pipelines.sources import cgi

ROOT = Path(__file__).parents[1]
FIXTURES = Path(__file__).parent / "fixtures"
SOURCES = all_sources()
AT = datetime(2026, 2, 3, tzinfo=UTC)
KEYED = ("lambda_cloud", "digitalocean", "hyperstack", "shadeform")
PERMITTED_ONLY = ("vast", "runpod", "shadeform")
MONEY_COLUMN = {"rental_quote": "price", "rental_index_value": "value", "token_price": "price"}


def read_parts(slug: str, *bodies: bytes, context: dict[str, Any] | None = None) -> Parsed:
    parts = tuple(Part(f"part-{number}", body) for number, body in enumerate(bodies))
    return read(SOURCES[slug], Snapshot(slug, "trap", "all", parts, AT, AT, context or {}))


def read_json(slug: str, *documents: Any, context: dict[str, Any] | None = None) -> Parsed:
    return read_parts(slug, *(json.dumps(each).encode() for each in documents), context=context)


def accepted(parsed: Parsed) -> list[dict[str, Any]]:
    return [row for frame in parsed.rows.values() for row in frame.iter_rows(named=True)]


def money(parsed: Parsed) -> list[Decimal]:
    return [row[MONEY_COLUMN[kind]] for kind, f in parsed.rows.items() for row in f.iter_rows(named=True)]


def reasons(parsed: Parsed, verdict: str | None = None) -> list[str]:
    refused = parsed.refused if verdict is None else parsed.refused.filter(verdict=verdict)
    return refused["reason"].to_list()


# --- One invented record of each source ---------------------------------------------------------


def lambda_types(*records: tuple[str, int, Any]) -> dict[str, Any]:
    """Return the map of instance types from (name, GPUs, cents)."""
    return {
        "data": {
            name: {
                "instance_type": {"name": name, "price_cents_per_hour": cents, "specs": {"gpus": gpus}},
                "regions_with_capacity_available": [],
            }
            for name, gpus, cents in records
        }
    }


def droplet(slug: str, gpus: int, price: Any, model: str = "nvidia_h100") -> dict[str, Any]:
    info = {"count": gpus, "vram": {"amount": 80 * gpus, "unit": "gib"}, "model": model}
    return {"slug": slug, "price_hourly": price, "regions": ["x"], "available": True, "gpu_info": info}


def sizes(*droplets: dict[str, Any], total: int | None = None) -> dict[str, Any]:
    count = len(droplets) if total is None else total
    return {"sizes": list(droplets), "links": {}, "meta": {"total": count}}


def offer(number: int = 1, base: Any = 3.0, **changes: Any) -> dict[str, Any]:
    found = {
        "id": number, "machine_id": 1000 + number, "host_id": 5, "gpu_name": "H100 SXM", "num_gpus": 1,
        "gpu_ram": 81559, "dph_base": base, "min_bid": None, "rentable": True, "is_bid": False,
    }  # fmt: skip
    return found | changes


def gpu_type(name: str = "NVIDIA X", **prices: Any) -> dict[str, Any]:
    return {"id": name, "memoryInGb": 80, "secureCloud": True, "communityCloud": True} | prices


def shade(name: str = "X", gpus: int = 1, cents: Any = 250, **configuration: Any) -> dict[str, Any]:
    config = {"num_gpus": gpus, "gpu_type": "H100", "interconnect": "sxm5", "vram_per_gpu_in_gb": 80}
    return {
        "cloud": "one",
        "shade_instance_type": name,
        "hourly_price": cents,
        "configuration": config | configuration,
        "availability": [{"region": "us", "available": True}],
    }


def book_item(name: str = "H100-80G-PCIe", price: Any = "1.90", **changes: Any) -> dict[str, Any]:
    return {
        "id": 1,
        "name": name,
        "value": "0.5",
        "original_value": price,
        "discount_applied": False,
    } | changes


def without(record: dict[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in record.items() if k != key}


# --- Keys and permissions -----------------------------------------------------------------------


@pytest.mark.parametrize("slug", KEYED)
def test_a_key_travels_in_a_header_and_never_in_the_address(slug: str, monkeypatch: Any) -> None:
    source = SOURCES[slug]
    assert source.key_variable
    assert source.requests
    monkeypatch.delenv(source.key_variable, raising=False)
    with pytest.raises(KeyMissing, match=source.key_variable):
        source.requests()
    monkeypatch.setenv(source.key_variable, "k3y")
    for request in source.requests():
        assert request.url.startswith("https://")
        assert "k3y" not in request.url
        assert any("k3y" in value for value in request.headers.values())


@pytest.mark.parametrize("slug", PERMITTED_ONLY)
def test_a_source_whose_terms_forbid_it_is_off_and_never_published(slug: str, monkeypatch: Any) -> None:
    source = SOURCES[slug]
    monkeypatch.delenv("TOKENYIELD_I_HOLD_PERMISSION_FOR", raising=False)
    assert "terms" in str(source.off_because)
    assert not source.passes_on


def test_restricted_indices_and_ones_own_prices_are_not_passed_on() -> None:
    assert not any(SOURCES[slug].passes_on for slug in ("cgi", "ornn", "index_file", "contract_prices"))


def test_a_reseller_never_votes() -> None:
    (provider,) = SOURCES["shadeform"].providers
    assert (provider.provider_class, provider.segment) == ("reseller", None)


# --- a price of one GPU on a machine of many ----------------------------------------------

COUNTS = (1, 2, 4, 8)
FLAT = {
    "lambda_cloud": lambda_types(*((f"gpu_{n}x_h100_sxm5", n, 249) for n in COUNTS)),
    "digitalocean": sizes(*(droplet(f"gpu-h100x{n}", n, 2.49) for n in COUNTS)),
    "shadeform": {"instance_types": [shade(f"X{n}", n, 249) for n in COUNTS]},
    "vast": {"offers": [offer(n, 2.49, num_gpus=n, machine_id=7) for n in COUNTS]},
}
TRUE_SCALE = {
    "lambda_cloud": lambda_types(*((f"gpu_{n}x_h100_sxm5", n, 249 * n) for n in COUNTS)),
    "digitalocean": sizes(*(droplet(f"gpu-h100x{n}", n, 2.49 * n) for n in COUNTS)),
    "shadeform": {"instance_types": [shade(f"X{n}", n, 249 * n) for n in COUNTS]},
    "vast": {"offers": [offer(n, 2.49 * n, num_gpus=n, machine_id=7) for n in COUNTS]},
}


@pytest.mark.parametrize("slug", sorted(FLAT))
def test_a01_a_price_that_does_not_grow_with_the_gpus_is_refused(slug: str) -> None:
    parsed = read_json(slug, FLAT[slug])
    assert [(row["gpu_count"], row["price"]) for row in accepted(parsed)] == [(1, Decimal("2.49"))]
    assert reasons(parsed, "rejected") == ["price_does_not_scale"] * 3
    assert len(accepted(read_json(slug, TRUE_SCALE[slug]))) == 4


def test_a01_machines_of_two_hosts_at_one_price_are_two_asks() -> None:
    asks = [offer(1, 3.0, num_gpus=1, machine_id=1), offer(2, 3.0, num_gpus=2, machine_id=2)]
    assert len(accepted(read_json("vast", {"offers": asks}))) == 2


# --- cents and floors ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "document"),
    [
        ("lambda_cloud", lambda_types(("gpu_1x_b200_sxm6", 1, 345))),
        ("shadeform", {"instance_types": [shade("B200", 1, 345)]}),
    ],
)
def test_a04_cents_are_not_dollars(slug: str, document: Any) -> None:
    (row,) = accepted(read_json(slug, document))
    assert (row["price"], row["currency"], row["price_unit"]) == (Decimal("3.45"), "USD", "instance_hour")


def test_a04_the_floor_of_an_auction_is_no_price_to_rent_at() -> None:
    rows = accepted(read_json("vast", {"offers": [offer(1, 3.45, min_bid=0.01)]}))
    assert {(row["price_type"], row["price"]) for row in rows} == {
        ("on_demand", Decimal("3.45")),
        ("bid_floor", Decimal("0.01")),
    }
    floor = {"minimumBidPrice": 0.01, "uninterruptablePrice": 3.45}
    rows = accepted(read_json("runpod", [gpu_type(securePrice=3.45, lowestPrice=floor)]))
    assert {(row["price_type"], row["price"]) for row in rows} == {
        ("on_demand", Decimal("3.45")),
        ("bid_floor", Decimal("0.01")),
    }


def test_a04_the_ask_of_an_auction_is_not_on_demand() -> None:
    parsed = read_json("vast", {"offers": [offer(1, 0.5, is_bid=True, min_bid=0.5)]})
    assert [row["price_type"] for row in accepted(parsed)] == ["bid_floor"]
    assert reasons(parsed) == ["ask_of_an_auction"]


# --- a book that the server cut -----------------------------------------------------------


def test_a08_a_book_as_long_as_the_clamp_is_refused_as_truncated() -> None:
    # 70 offers: 60 of one GPU at 3.00, 10 of eight at 16.00; the server sends the 64 lowest totals.
    book = [offer(n, 3.0) for n in range(60)] + [offer(100 + n, 16.0, num_gpus=8) for n in range(10)]
    with pytest.raises(SourceError, match="truncated"):
        read_json("vast", {"offers": book[:64]})
    assert len(accepted(read_json("vast", {"offers": book}))) == 70
    assert len(accepted(read_json("vast", {"offers": book[:63]}))) == 63


def test_a08_a_cut_book_of_one_chip_costs_no_other_chip() -> None:
    assert SOURCES["vast"].requests
    requests = list(SOURCES["vast"].requests())
    assert len({request.slice for request in requests}) == len(requests) > 5
    assert all(request.json["gpu_name"]["eq"] for request in requests)


def test_a08_an_empty_book_is_no_book() -> None:
    with pytest.raises(SourceError, match="no offers"):
        read_json("vast", {"offers": []})


@pytest.mark.parametrize("total", [1, 3, 147])
def test_a07_digitalocean_a_list_shorter_or_longer_than_it_says_is_refused(total: int) -> None:
    with pytest.raises(SourceError, match="pages are missing"):
        read_json("digitalocean", sizes(droplet("gpu-a", 1, 3), droplet("gpu-b", 2, 6), total=total))


def test_a07_digitalocean_follows_its_pages_with_the_key(monkeypatch: Any) -> None:
    source = SOURCES["digitalocean"]
    following = "https://api.digitalocean.com/v2/sizes?page=2&per_page=500"
    page = sizes(droplet("gpu-a", 1, 3), total=2) | {"links": {"pages": {"next": following}}}
    monkeypatch.setenv("DIGITALOCEAN_TOKEN", "k3y")
    assert source.requests
    (first,) = source.requests()
    second = next_request(source, first, Part("1", json.dumps(page).encode()))
    assert second is not None
    assert (second.url, second.headers) == (following, first.headers)
    last = Part("2", json.dumps(sizes(droplet("gpu-b", 1, 3))).encode())
    assert next_request(source, second, last) is None


# --- on-demand and spot in one record -----------------------------------------------------


def test_a09_one_record_with_on_demand_and_spot_makes_a_row_of_each() -> None:
    record = gpu_type(securePrice=2.69, secureSpotPrice=1.65, communityPrice=1.99, communitySpotPrice=None)
    parsed = read_json("runpod", [record])
    assert [(r["offer_key"], r["price_type"], r["price"]) for r in accepted(parsed)] == [
        ("NVIDIA X/secure", "on_demand", Decimal("2.69")),
        ("NVIDIA X/secure", "spot", Decimal("1.65")),
        ("NVIDIA X/community", "on_demand", Decimal("1.99")),
    ]
    assert reasons(parsed) == ["not_offered"]


def test_a09_hyperstack_spot_is_another_price_type_of_the_same_gpu() -> None:
    items = [book_item(), book_item("H100-80G-PCIe-spot", "1.52")]
    rows = accepted(read_json("hyperstack", items))
    assert [(row["raw_gpu_name"], row["price_type"]) for row in rows] == [
        ("H100-80G-PCIe", "on_demand"),
        ("H100-80G-PCIe", "spot"),
    ]


def test_a09_shadeform_spot_entry_does_not_get_the_on_demand_price() -> None:
    record = shade()
    record["availability"].append({"region": "us", "available": True, "rental_type": "spot"})
    parsed = read_json("shadeform", {"instance_types": [record]})
    assert [row["price_type"] for row in accepted(parsed)] == ["on_demand"]
    assert reasons(parsed) == ["spot_price_not_stated"]


# --- a name that changes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "document", "name"),
    [
        ("hyperstack", [book_item("Z9-999G-SXM9")], "Z9-999G-SXM9"),
        ("lambda_cloud", lambda_types(("gpu_16x_z9", 16, 9000)), "gpu_16x_z9"),
        ("digitalocean", sizes(droplet("gpu-z9", 1, 3, "nvidia_z9")), "nvidia_z9"),
        ("runpod", [gpu_type("NVIDIA Z9", securePrice=3)], "NVIDIA Z9"),
        ("vast", {"offers": [offer(gpu_name="Z9 SXM")]}, "Z9 SXM"),
        ("shadeform", {"instance_types": [shade(gpu_type="Z9", interconnect="sxm9")]}, "Z9 sxm9"),
    ],
)
def test_a10_a_name_that_nobody_knows_stays_in_the_rows(slug: str, document: Any, name: str) -> None:
    assert [row["raw_gpu_name"] for row in accepted(read_json(slug, document))] == [name]


def test_a10_runpod_without_any_id_is_a_changed_schema() -> None:
    with pytest.raises(SourceError, match="schema"):
        read_json("runpod", [{"displayName": "H100 SXM", "secureCloud": True, "securePrice": 2.69}])


def test_a11_vast_one_name_of_two_memory_sizes_carries_the_size() -> None:
    asks = [offer(1, gpu_name="A100 SXM4", gpu_ram=40960), offer(2, gpu_name="A100 SXM4", gpu_ram=81920)]
    names = [row["raw_gpu_name"] for row in accepted(read_json("vast", {"offers": asks}))]
    assert names == ["A100 SXM4 40GB", "A100 SXM4 80GB"]


def test_a11_shadeform_form_factor_of_the_next_field_is_in_the_name() -> None:
    records = [shade("a", interconnect="pcie"), shade("b", interconnect=None)]
    rows = accepted(read_json("shadeform", {"instance_types": records}))
    assert [row["raw_gpu_name"] for row in rows] == ["H100 pcie", "H100"]


def test_a12_digitalocean_memory_is_that_of_one_gpu_and_not_the_droplets() -> None:
    (row,) = accepted(read_json("digitalocean", sizes(droplet("gpu-h100x8-640gb", 8, 24))))
    assert (row["raw_memory_gb"], row["gpu_count"], row["price"]) == (80, 8, 24)


def test_a12_lambda_counts_sixteen_gpus_as_sixteen() -> None:
    (row,) = accepted(read_json("lambda_cloud", lambda_types(("gpu_16x_h100_sxm5", 16, 4800))))
    assert row["gpu_count"] == 16
    assert reasons(read_json("lambda_cloud", lambda_types(("gpu_16x_h100_sxm5", 1, 4800)))) == [
        "contradictory_gpu_counts"
    ]


# --- totals and parts of them -------------------------------------------------------------


def test_a13_the_gpu_price_is_the_same_whatever_disk_the_total_includes() -> None:
    # One machine, as an offer (the total is the GPU's) and with a disk in the total.
    asks = [offer(1, 0.169, dph_total=0.169), offer(2, 0.169, dph_total=0.207)]
    assert money(read_json("vast", {"offers": asks})) == [Decimal("0.169")] * 2


def test_a13_a_total_below_its_part_means_that_one_of_them_is_something_else() -> None:
    parsed = read_json("vast", {"offers": [offer(1, 0.207, dph_total=0.169)]})
    assert reasons(parsed, "rejected") == ["total_below_its_part"]


def test_a13_a_list_of_rented_instances_is_not_the_book() -> None:
    with pytest.raises(SourceError, match="not the book"):
        read_json("vast", {"instances": [offer()]})


def test_hyperstack_reads_the_list_price_and_never_what_the_account_pays() -> None:
    parsed = read_json("hyperstack", [book_item(price="1.90", value="1.10", discount_applied=True)])
    assert money(parsed) == [Decimal("1.90")]
    assert reasons(read_json("hyperstack", [book_item(), without(book_item("B200"), "original_value")])) == [
        "missing_value"
    ]


def test_hyperstack_a_reserved_name_is_not_on_demand() -> None:
    parsed = read_json("hyperstack", [book_item(), book_item("H100-80G-SXM5-reserved", "1.20")])
    assert reasons(parsed) == ["unknown_commitment"]


# --- what is no price ---------------------------------------------------------------------

MISSING = object()
EIGHT_ODD_VALUES = (0, None, True, "2.49", float("nan"), -1, 1e9, MISSING)


def odd_lambda(values: list[Any]) -> Any:
    document = lambda_types(*((f"gpu_1x_g{n}", 1, value) for n, value in enumerate(values)))
    for entry in document["data"].values():
        if entry["instance_type"]["price_cents_per_hour"] is MISSING:
            del entry["instance_type"]["price_cents_per_hour"]
    return document


def odd_records(make: Callable[[int, Any], dict[str, Any]], key: str, values: list[Any]) -> list[Any]:
    records = [make(number, value) for number, value in enumerate(values)]
    return [without(record, key) if record[key] is MISSING else record for record in records]


ODD: dict[str, Callable[[list[Any]], Any]] = {
    "lambda_cloud": odd_lambda,
    "digitalocean": lambda values: sizes(
        *odd_records(lambda n, v: droplet(f"gpu-{n}", 1, v, f"m{n}"), "price_hourly", values)
    ),
    "vast": lambda values: {"offers": odd_records(lambda n, v: offer(n, v), "dph_base", values)},
    "shadeform": lambda values: {
        "instance_types": odd_records(lambda n, v: shade(f"X{n}", 1, v), "hourly_price", values)
    },
}


@pytest.mark.parametrize("slug", sorted(ODD))
def test_a14_nothing_for_sale_is_told_from_six_anomalies(slug: str) -> None:
    parsed = read_json(slug, ODD[slug](list(EIGHT_ODD_VALUES)))
    # Each offer of a marketplace has a floor besides, which is null here.
    floors = 8 if slug == "vast" else 0
    assert accepted(parsed) == []
    assert reasons(parsed, "not_applicable") == ["not_offered"] * (2 + floors)
    assert reasons(parsed, "rejected") == [
        "wrong_type", "wrong_type", "not_finite", "not_positive", "implausible_magnitude", "missing_value",
    ]  # fmt: skip


def test_a14_runpod_nothing_for_sale_is_told_from_six_anomalies() -> None:
    records = [gpu_type(f"G{n}", securePrice=value) for n, value in enumerate(EIGHT_ODD_VALUES[:-1])]
    parsed = read_json("runpod", [*records, gpu_type("G7")])
    assert accepted(parsed) == []
    assert reasons(parsed, "not_applicable") == ["not_offered"] * 2
    assert reasons(parsed, "rejected") == [
        "wrong_type", "wrong_type", "not_finite", "not_positive", "implausible_magnitude", "missing_value",
    ]  # fmt: skip


def test_runpod_a_price_of_a_cloud_that_does_not_sell_the_gpu_is_a_placeholder() -> None:
    parsed = read_json("runpod", [gpu_type(communityCloud=False, communityPrice=0.5, securePrice=6.39)])
    assert [(row["offer_key"], row["price"]) for row in accepted(parsed)] == [
        ("NVIDIA X/secure", Decimal("6.39"))
    ]
    assert reasons(parsed) == ["not_sold_in_this_cloud"]


@pytest.mark.parametrize("flag", [None, 1, "true"])
def test_runpod_a_flag_that_is_no_flag_sells_nothing(flag: Any) -> None:
    parsed = read_json("runpod", [gpu_type(communityCloud=flag, communityPrice=0.5)])
    assert (accepted(parsed), reasons(parsed)) == ([], ["wrong_type"])


def test_runpod_cluster_price_is_one_and_a_fifth_of_another_and_no_offer() -> None:
    parsed = read_json("runpod", [gpu_type(securePrice=2.0, clusterPrice=2.4)])
    assert (money(parsed), reasons(parsed)) == ([Decimal(2)], ["derived_cluster_price"])


def test_runpod_months_of_commitment_are_no_on_demand_price() -> None:
    rows = accepted(read_json("runpod", [gpu_type(threeMonthPrice=2.6, sixMonthPrice=2.4)]))
    assert [(row["price_type"], row["commitment_months"]) for row in rows] == [
        ("reserved", 3),
        ("reserved", 6),
    ]


def test_runpod_answer_with_errors_is_no_list() -> None:
    data = {"gpuTypes": [gpu_type(securePrice=2)]}
    with pytest.raises(SourceError, match="errors"):
        read_json("runpod", {"errors": [{"message": "limited"}], "data": data})


# --- prices as text -----------------------------------------------------------------------


def test_a15_only_a_plain_decimal_is_a_price() -> None:
    texts = [
        "$2,499.00",
        "1.234,56 €",
        "2.49/hr",
        "from $3.75",
        "N/A",
        "Contact us",
        "",
        " 2.49 ",
        "1_000",
        "2.49",
    ]
    parsed = read_json("hyperstack", [book_item(f"G{n}", each) for n, each in enumerate(texts)])
    assert [(row["offer_key"], row["price"]) for row in accepted(parsed)] == [
        ("G7", Decimal("2.49")),
        ("G9", Decimal("2.49")),
    ]
    assert Counter(reasons(parsed)) == {"not_a_number": 7, "missing_value": 1}


# --- Conflicts, order, hostile values -----------------------------------------------------------

CONFLICTS: dict[str, tuple[Callable[[list[Any]], Any], list[Any]]] = {
    "digitalocean": (
        lambda rows: sizes(*rows),
        [droplet("gpu-ok", 1, 2, "other"), droplet("gpu-h", 1, 3.0), droplet("gpu-h", 1, 1.45)],
    ),
    "hyperstack": (list, [book_item("ok"), book_item(price="3.00"), book_item(price="1.45")]),
    "vast": (lambda rows: {"offers": rows}, [offer(1), offer(2, 3.0), offer(2, 1.45)]),
    "runpod": (list, [gpu_type("ok", securePrice=1), gpu_type(securePrice=3), gpu_type(securePrice=1.45)]),
    "shadeform": (
        lambda rows: {"instance_types": rows},
        [shade("ok", gpu_type="A"), shade("X", 1, 300), shade("X", 1, 145)],
    ),
    "openrouter": (
        lambda rows: {"data": rows},
        [
            {"id": name, "pricing": {"prompt": price, "completion": price}}
            for name, price in (("ok", "0.000001"), ("x", "0.000003"), ("x", "0.00000145"))
        ],
    ),
    "ornn": (
        lambda rows: {"success": True, "gpu_type": "H200", "data": rows},
        [
            {"timestamp": f"2026-01-{day}T21:00:00Z", "index_value": value}
            for day, value in (("05", 2), ("06", 3), ("06", 1.45))
        ],
    ),
}


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
@pytest.mark.parametrize("slug", sorted(CONFLICTS))
def test_a06_neither_of_two_prices_of_one_thing_is_taken_in_any_order(slug: str, order: Any) -> None:
    envelope, rows = CONFLICTS[slug]
    parsed = read_json(slug, envelope([rows[i] for i in order]))
    per_record = 2 if slug == "openrouter" else 1
    assert len(accepted(parsed)) == per_record
    assert reasons(parsed, "rejected") == ["conflicting_duplicates"] * 2 * per_record


HOSTILE = (True, None, "x", "", [], {}, [1], -1, 0, 10**30, 1.5, float("nan"), {"x": 1})
JSON_SOURCES = (
    "lambda_cloud", "digitalocean", "hyperstack", "vast", "runpod", "shadeform", "ornn", "openrouter",
    "litellm_prices", "cgi",
)  # fmt: skip


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(node, (dict, list)):
        for key in node if isinstance(node, dict) else range(len(node)):
            yield from places(node[key], (*path, key))


def replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = copy.deepcopy(document)
    node = changed
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return changed


@pytest.mark.parametrize("slug", JSON_SOURCES)
def test_no_value_in_any_place_raises_anything_but_a_source_error(slug: str) -> None:
    """Every value of the fixture, replaced by each hostile one: no crash, and never a price of it."""
    file = sorted((FIXTURES / slug).glob("payload*"))[-1]
    document = json.loads(file.read_text("utf-8")) if slug != "cgi" else index_file(*FINISHED)
    for path in places(document):
        for value in HOSTILE:
            changed = replaced(document, path, value)
            if slug == "cgi":
                changed = signed(changed)
            try:
                parsed = read_json(slug, changed)
            except SourceError:
                continue
            amounts = money(parsed)
            assert all(0 < amount < 10_000 for amount in amounts), (path, value)


# --- Computable GPU Index -----------------------------------------------------------------------


def observation(at: str, value: Any = 3.5, sku: str = "H100", **changes: Any) -> dict[str, Any]:
    found = {
        "sku": sku, "unit": "USD/GPU/hour", "observed_at": at, "generated_at": "2026-02-02T00:00:00.000Z",
        "methodology_id": "m1", "status": "ok", "value_usd_gpu_hr": value, "coverage": {"n_passing": 5},
    }  # fmt: skip
    return found | changes


def signed(document: Any) -> Any:
    """Give a document the digest of what it holds now; anything that is no index file stays as it is."""
    try:
        content = cgi.canonical(
            json.loads(
                json.dumps({key: document[key] for key in ("data", "license", "meta")}), parse_float=Decimal
            )
        )
        return document | {"artifact_sha256": hashlib.sha256(content.encode()).hexdigest()}
    except (KeyError, TypeError, ValueError, SourceError):
        return document


def index_file(*observations: dict[str, Any], **meta: Any) -> dict[str, Any]:
    times = sorted(each["observed_at"] for each in observations)
    return signed(
        {
            "data": {"kind": "gpu_index_series", "range": "7d", "observations": list(observations)},
            "license": {"spdx": "CC-BY-NC-4.0"},
            "meta": {
                "schema_version": 1,
                "index_name": "Computable GPU Index",
                "generated_at": "2026-02-02T12:00:00.000Z",
                "from_observed_at": times[0],
                "to_observed_at": times[-1],
                "observation_count": len(observations),
            }
            | meta,
        }
    )


FINISHED = [observation(f"2026-02-01T{at}:00.000Z", value) for at, value in (("09:00", 3.0), ("23:45", 3.5))]


def test_cgi_digest_of_a_text_written_by_hand() -> None:
    # What a JavaScript program would hash: sorted keys, no blanks, 2 for 2.0, 0.000001 and 1e-7.
    content = (
        '{"data":{"a":2,"b":0.000001,"c":1e-7,"d":"é"},"license":{},"meta":{"x":[true,null,-0.5,1e+21]}}'
    )
    document = '{"meta": {"x": [true, null, -0.5, 1e21]}, "license": {}, "data": {"d": "\\u00e9", "c": 1e-07, "b": 1e-06, "a": 2.0}}'  # noqa: E501
    assert cgi.canonical(json.loads(document, parse_float=Decimal)) == content


@pytest.mark.parametrize(
    ("number", "written"),
    [
        ("0", "0"), ("-0.0", "0"), ("2.0", "2"), ("2.50", "2.5"), ("100", "100"), ("1e-06", "0.000001"),
        ("1.5e-06", "0.0000015"), ("1e-07", "1e-7"), ("1.25e-07", "1.25e-7"),
        ("1e20", "100000000000000000000"), ("1e21", "1e+21"), ("1.5e300", "1.5e+300"),
        ("9007199254740993", "9007199254740992"),
        ("0.1", "0.1"), ("0.30000000000000004", "0.30000000000000004"), ("-12.75", "-12.75"),
    ],
)  # fmt: skip
def test_cgi_numbers_are_written_as_javascript_writes_them(number: str, written: str) -> None:
    assert cgi.javascript_number(Decimal(number)) == written


@pytest.mark.parametrize("part", ["data", "meta", "license"])
def test_cgi_an_altered_file_is_refused_by_its_digest(part: str) -> None:
    document = index_file(*FINISHED)
    assert money(read_json("cgi", document)) == [Decimal("3.5")]
    with pytest.raises(SourceError, match="digest"):
        read_json("cgi", document | {part: document[part] | {"added": 1}})


def test_cgi_an_altered_value_is_refused_by_its_digest() -> None:
    document = copy.deepcopy(index_file(*FINISHED))
    document["data"]["observations"][1]["value_usd_gpu_hr"] = 3.6
    with pytest.raises(SourceError, match="digest"):
        read_json("cgi", document)


def test_cgi_another_layout_of_the_same_file_is_the_same_file() -> None:
    body = json.dumps(index_file(*FINISHED), indent=3, sort_keys=True).encode()
    assert money(read_parts("cgi", body)) == [Decimal("3.5")]


def test_cgi_a_value_of_a_running_day_is_no_daily_value() -> None:
    running = observation("2026-02-02T08:00:00.000Z", 9.0)
    parsed = read_json("cgi", index_file(*FINISHED, running))
    assert [(row["value_date"], row["value"]) for row in accepted(parsed)] == [
        (date(2026, 2, 1), Decimal("3.5"))
    ]
    assert reasons(parsed) == ["not_the_last_of_its_day", "day_not_over"]


def test_cgi_an_earlier_print_does_not_stand_in_for_a_last_one_that_is_wrong() -> None:
    wrong = observation("2026-02-01T23:45:00.000Z", -1)
    parsed = read_json("cgi", index_file(FINISHED[0], wrong))
    assert (accepted(parsed), reasons(parsed)) == ([], ["not_the_last_of_its_day", "not_positive"])


def test_cgi_without_a_last_print_takes_the_last_that_there_is() -> None:
    silent = observation("2026-02-01T23:45:00.000Z", None, status="no_print")
    parsed = read_json("cgi", index_file(FINISHED[0], silent))
    assert (money(parsed), reasons(parsed)) == ([Decimal(3)], ["no_print"])


@pytest.mark.parametrize(
    "meta",
    [
        {"observation_count": 3},
        {"schema_version": 2},
        {"index_name": "Another Index"},
        {"from_observed_at": "2026-01-31T00:00:00.000Z"},
        {"to_observed_at": "2026-02-01T23:30:00.000Z"},
    ],
    ids=lambda meta: next(iter(meta)),
)
def test_cgi_meta_that_does_not_follow_from_the_data_is_refused(meta: Any) -> None:
    with pytest.raises(SourceError):
        read_json("cgi", index_file(*FINISHED, **meta))


def test_cgi_a_fifth_key_of_the_envelope_is_refused() -> None:
    with pytest.raises(SourceError, match="four keys"):
        read_json("cgi", index_file(*FINISHED) | {"extra": {}})


def test_cgi_takes_its_time_from_the_newest_file() -> None:
    hook = SOURCES["cgi"].observed_at
    assert hook is not None
    parts = [index_file(*FINISHED), index_file(*FINISHED, generated_at="2026-02-02T13:00:00.000Z")]
    found = hook(tuple(Part("x", json.dumps(part).encode()) for part in parts))
    assert found == datetime(2026, 2, 2, 13, tzinfo=UTC)


def test_cgi_goes_from_the_newest_values_to_the_current_version_of_the_chip() -> None:
    source = SOURCES["cgi"]
    assert source.requests
    requests = {request.slice: request for request in source.requests()}
    latest = index_file(*FINISHED)
    latest["data"] |= {
        "versions": [{"sku": "H200", "current_version": 1}, {"sku": "H100", "current_version": 3}]
    }
    part = Part("latest", json.dumps(signed(latest)).encode())
    following = next_request(source, requests["h100"], part)
    assert following is not None
    assert following.url == "https://data.getcomputable.com/H100/v3/series/7d.json"
    assert next_request(source, following, part) is None


# --- Ornn ---------------------------------------------------------------------------------------


def history(*values: tuple[str, Any], **changes: Any) -> dict[str, Any]:
    data = [{"timestamp": at, "index_value": value} for at, value in values]
    return {"success": True, "access": "public-3mo", "gpu_type": "H100 SXM", "data": data} | changes


def test_ornn_daily_mark_moves_with_daylight_saving() -> None:
    # 16:00 in New York: 21:00 UTC in winter, 20:00 UTC in summer.
    values = [
        ("2026-01-05T20:00:00Z", 1.0), ("2026-01-05T21:00:00Z", 2.25),
        ("2026-07-06T20:00:00Z", 2.5), ("2026-07-06T21:00:00Z", 9.0),
    ]  # fmt: skip
    parsed = read_json("ornn", history(*values))
    assert money(parsed) == [Decimal("2.25"), Decimal("2.5")]
    assert reasons(parsed) == ["not_the_daily_mark"] * 2


def test_ornn_without_any_mark_has_changed_its_hours() -> None:
    with pytest.raises(SourceError, match="mark"):
        read_json("ornn", history(("2026-01-05T12:00:00Z", 2.0)))


@pytest.mark.parametrize(
    "changes", [{"success": False}, {"success": "true"}, {"data": []}, {"gpu_type": None}]
)
def test_ornn_an_answer_that_is_no_history_is_refused(changes: Any) -> None:
    with pytest.raises(SourceError):
        read_json("ornn", history(("2026-01-05T21:00:00Z", 2.0)) | changes)


# --- Index files --------------------------------------------------------------------------------

CONTEXT = {
    "index_name": "getdeploying",
    "price_type": "on_demand",
    "currency": "USD",
    "unit": "gpu_hour",
    "columns": {"date": "day", "chip": "gpu", "value": "median"},
}
TABLE = b"day,gpu,median\n2026-01-05,H100 SXM,2.75\n"


def test_index_file_without_a_context_says_in_one_message_what_is_missing() -> None:
    with pytest.raises(SourceError) as caught:
        read_parts("index_file", TABLE)
    for key in ("index_name", "price_type", "currency", "unit", "columns"):
        assert f"{key} is missing" in str(caught.value)


@pytest.mark.parametrize("key", sorted(CONTEXT))
def test_index_file_guesses_nothing_that_is_not_stated(key: str) -> None:
    with pytest.raises(SourceError, match=f"{key} is missing"):
        read_parts("index_file", TABLE, context=without(CONTEXT, key))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": "instance_hour"}, "only gpu_hour"),
        ({"currency": "dollars"}, "ISO 4217"),
        ({"price_type": "blended"}, "price_type is 'blended'"),
        ({"price_type": "reserved"}, "commitment_months is missing"),
        ({"commitment_months": "twelve"}, "whole number"),
        ({"chip": "H100"}, "one of columns.chip and chip"),
        ({"columns": {"date": "day", "chip": "gpu"}}, "columns.value is missing"),
        ({"columns": {"date": "day", "value": "median"}}, "one of columns.chip and chip"),
        ({"columns": "day"}, "no mapping"),
        ({"colums": {}}, "colums is not known"),
        ({"columns": {"date": "day", "chip": "gpu", "value": "mean"}}, "lacks"),
    ],
)
def test_index_file_a_wrong_context_is_refused_by_name(changes: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_parts("index_file", TABLE, context=CONTEXT | changes)


def test_index_file_reads_a_json_list_of_one_chip() -> None:
    document = {"data": {"values": [{"day": "2026-01-05T23:30:00-05:00", "median": 2.75}]}}
    context = CONTEXT | {"columns": {"date": "day", "value": "median"}, "chip": "B200", "rows": "data.values"}
    (row,) = accepted(read_json("index_file", document, context=context))
    # Half past eleven at night, five hours behind UTC, is the next day.
    assert (row["raw_gpu_name"], row["value_date"], row["value"]) == (
        "B200",
        date(2026, 1, 6),
        Decimal("2.75"),
    )
    with pytest.raises(SourceError, match="no list of rows"):
        read_json("index_file", document, context=without(context, "rows"))


def test_index_file_a_date_that_may_be_two_days_is_refused() -> None:
    parsed = read_parts("index_file", TABLE.replace(b"2026-01-05", b"05/01/2026"), context=CONTEXT)
    assert (accepted(parsed), reasons(parsed)) == ([], ["not_an_instant"])


def test_index_file_rows_of_another_price_type_are_left_out() -> None:
    table = b"day,gpu,median,type\n2026-01-05,H100 SXM,2.75,OD\n2026-01-05,H100 SXM,1.25,SPOT\n"
    parsed = read_parts("index_file", table, context=CONTEXT | {"only": {"type": "OD"}})
    assert (money(parsed), reasons(parsed)) == ([Decimal("2.75")], ["not_asked_for"])


# --- Contract prices ----------------------------------------------------------------------------

OWN = b"chip,valid_from,usd_per_gpu_hour\nh100-sxm-80,2026-01-01,1.90\n"


def test_contract_prices_without_a_price_type_anywhere_are_refused() -> None:
    with pytest.raises(SourceError, match="price_type is stated neither"):
        read_parts("contract_prices", OWN)


def test_contract_prices_take_the_price_type_that_is_stated_beside_them() -> None:
    (row,) = accepted(
        read_parts("contract_prices", OWN, context={"price_type": "reserved", "commitment_months": 36})
    )
    assert (row["index_name"], row["price_type"], row["commitment_months"]) == ("own", "reserved", 36)


def test_contract_prices_stated_twice_are_refused() -> None:
    table = b"chip,valid_from,usd_per_gpu_hour,price_type\nh100-sxm-80,2026-01-01,1.90,on_demand\n"
    with pytest.raises(SourceError, match="state them once"):
        read_parts("contract_prices", table, context={"price_type": "reserved"})


@pytest.mark.parametrize("column", [b"usd_per_month", b"usd_per_gpu_hour_net"])
def test_contract_prices_of_a_column_that_is_not_known_are_refused(column: bytes) -> None:
    table = OWN.replace(b"hour\n", b"hour," + column + b"\n").replace(b"1.90", b"1.90,2")
    with pytest.raises(SourceError, match="not known"):
        read_parts("contract_prices", table, context={"price_type": "on_demand"})


# --- Token prices -------------------------------------------------------------------------------


def model(name: str = "vendor/model", **pricing: Any) -> dict[str, Any]:
    return {"id": name, "pricing": {"prompt": "0.000002", "completion": "0.00001"} | pricing}


def entry(**changes: Any) -> dict[str, Any]:
    priced = {"input_cost_per_token": 2e-06, "output_cost_per_token": 1e-05}
    return {"litellm_provider": "vendor", "mode": "chat"} | priced | changes


def test_e06_a_price_per_thousand_or_per_million_tokens_is_refused() -> None:
    parsed = read_json("litellm_prices", {"m": entry(input_cost_per_token=0.015)})
    assert reasons(parsed) == ["implausible_magnitude"]
    assert [row["token_kind"] for row in accepted(parsed)] == ["output"]
    parsed = read_json("openrouter", {"data": [model(prompt="0.015", completion="0.15")]})
    assert (accepted(parsed), reasons(parsed)) == ([], ["implausible_magnitude"] * 2)


def test_e06_a_price_with_too_many_zeros_is_refused() -> None:
    assert reasons(read_json("litellm_prices", {"m": entry(input_cost_per_token=2e-12)})) == [
        "implausible_magnitude"
    ]


def test_token_prices_times_a_million_are_exact_before_anything_rounds_them() -> None:
    # In binary floating point 0.0000011 x 1e6 is 1.0999999999999999.
    documents = {
        "openrouter": {"data": [model(prompt="0.0000011")]},
        "litellm_prices": {"m": entry(input_cost_per_token=1.1e-06)},
    }
    for slug, document in documents.items():
        parts = (Part("part", json.dumps(document).encode()),)
        first = next(iter(SOURCES[slug].parse(Snapshot(slug, "trap", "all", parts, AT, AT))))
        assert isinstance(first, Accepted)
        assert first.row["price"] == Decimal("1.1")


def test_both_token_sources_agree_on_one_model() -> None:
    one = accepted(read_json("openrouter", {"data": [model(input_cache_read="0.0000002")]}))
    other = accepted(read_json("litellm_prices", {"m": entry(cache_read_input_token_cost=2e-07)}))
    assert {(r["token_kind"], r["price"], r["tier"]) for r in one} == {
        (r["token_kind"], r["price"], r["tier"]) for r in other
    }


def test_openrouter_minus_one_is_no_price_and_nothing_is_no_cut() -> None:
    data = [model("auto", prompt="-1", completion="-1"), model("m:free", prompt="0", completion="0")]
    parsed = read_json("openrouter", {"data": data})
    assert accepted(parsed) == []
    assert reasons(parsed) == ["price_decided_per_request"] * 2 + ["free_variant"] * 2


def test_openrouter_other_negatives_are_refused() -> None:
    assert reasons(read_json("openrouter", {"data": [model(prompt="-2")]})) == ["not_positive"]


def test_a_zero_beside_a_price_is_not_taken_for_a_gift() -> None:
    assert reasons(read_json("openrouter", {"data": [model(input_cache_read="0")]})) == ["zero_price"]
    assert reasons(read_json("litellm_prices", {"m": entry(cache_read_input_token_cost=0)})) == ["zero_price"]


def test_openrouter_price_keys_that_nobody_knows_are_seen() -> None:
    assert reasons(read_json("openrouter", {"data": [model(image="0.1", surge="0.5")]})) == [
        "other_kind_of_price",
        "unknown_price_key",
    ]


def test_litellm_only_the_standard_tier_becomes_a_price() -> None:
    others = [
        "input_cost_per_token_above_200k_tokens", "output_cost_per_token_batches",
        "input_cost_per_token_flex", "cache_read_input_token_cost_priority",
    ]  # fmt: skip
    parsed = read_json("litellm_prices", {"m": entry(**dict.fromkeys(others, 1e-06))})
    assert (len(accepted(parsed)), reasons(parsed)) == (2, ["other_tier"] * 4)


def test_litellm_absent_is_not_nothing() -> None:
    parsed = read_json("litellm_prices", {"m": without(entry(), "input_cost_per_token")})
    assert (len(accepted(parsed)), reasons(parsed)) == (1, ["price_not_stated"])


def test_litellm_the_same_model_under_two_keys_is_two_offers() -> None:
    entries = {"azure/m": entry(litellm_provider="azure"), "m": entry(input_cost_per_token=3e-06)}
    assert len(accepted(read_json("litellm_prices", entries))) == 4


def test_litellm_units_of_databricks_are_no_dollars() -> None:
    parsed = read_json("litellm_prices", {"m": entry(input_dbu_cost_per_token=7e-06)})
    assert (len(accepted(parsed)), reasons(parsed)) == (2, ["other_kind_of_price"])


# --- Payloads as their publishers wrote them ----------------------------------------------------

DATA = Path(os.environ.get("TOKENYIELD_SHARED_DATA", ROOT / ".." / "shared" / "data")) / "rental"
real = pytest.mark.skipif(not DATA.is_dir(), reason=f"no real payloads at {DATA}: set TOKENYIELD_SHARED_DATA")
RUNPOD_FILES = (
    "gputypes_2025-06-15T102705Z_aef71e0",
    "gputypes_2025-06-15T142748Z_4b1765e",
    "gputypes_2025-06-19T191448Z_250e2f6",
    "gputypes_2025-06-19T221926Z_7662e3a",
)


def real_file(path: str) -> bytes:
    file = DATA / path
    if not file.exists():
        pytest.skip(f"{file} is not there")
    return file.read_bytes()


@real
@pytest.mark.parametrize("name", RUNPOD_FILES)
def test_real_runpod_file_is_read_whole_and_sells_nothing_that_a_flag_denies(name: str) -> None:
    body = real_file(f"runpod_jumbo2020/{name}.json")
    records = json.loads(body)
    parsed = read_parts("runpod", body)
    keys = [key for record in records for key in record if key.endswith("Price")]
    assert parsed.candidates == len(keys) == 39 * 9
    assert reasons(parsed, "rejected") == []

    # Counted from the file itself: a price above 0 in a cloud that sells the GPU.
    def sold(record: dict[str, Any], flag: str, *names: str) -> int:
        return sum(1 for name in names if record[flag] and record[name])

    secure = ("securePrice", "secureSpotPrice", "oneMonthPrice", "threeMonthPrice", "sixMonthPrice")
    community = ("communityPrice", "communitySpotPrice")
    expected = sum(sold(r, "secureCloud", *secure) + sold(r, "communityCloud", *community) for r in records)
    rows = accepted(parsed)
    assert len(rows) == expected > 100
    assert not [r for r in rows if r["raw_gpu_name"] == "NVIDIA B200" and r["price"] == Decimal("0.5")]
    on_demand = {r["offer_key"]: r["price"] for r in rows if r["price_type"] == "on_demand"}
    assert on_demand["NVIDIA B200/secure"] == Decimal("6.39")
    assert "NVIDIA B200/community" not in on_demand
    assert "unknown/secure" not in on_demand


@real
def test_real_digitalocean_excerpt_is_refused_as_short_and_read_when_whole() -> None:
    document = json.loads(real_file("gpuhunt_fixtures/digitalocean_v2_sizes.json"))
    with pytest.raises(SourceError, match="3 sizes, while the list says"):
        read_json("digitalocean", document)
    parsed = read_json("digitalocean", document | {"meta": {"total": 3}})
    assert [
        (r["raw_gpu_name"], r["gpu_count"], r["raw_memory_gb"], r["price"]) for r in accepted(parsed)
    ] == [
        ("nvidia_h100", 8, 80, Decimal("23.92")),
        ("amd_mi300x", 8, 192, Decimal("15.92")),
    ]
    assert reasons(parsed) == ["no_gpu"]


@real
def test_real_skypilot_table_of_vast_is_no_book_of_offers() -> None:
    with pytest.raises(SourceError):
        read_parts("vast", real_file("vast_skypilot_v9/vast_vms_v9_a5be53865774.csv"))
