"""What the big catalogues and price lists must not make us believe, one trap a test.

Sources: azure_retail, aws_price_list, gpuhunt_catalog, skypilot_catalog, nebius, ecb_fx. Prices are
invented; the payloads as their publishers wrote them are read at the end, where they are at hand.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import zipfile
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from pipelines.http import next_request
from pipelines.source import Parsed, Part, Request, Snapshot, SourceError, all_sources, read

SOURCES = all_sources()
AT = datetime(2026, 2, 10, 12, tzinfo=UTC)
FIXTURES = Path(__file__).parent / "fixtures"
DATA = Path(os.environ.get("TOKENYIELD_SHARED_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


def parsed(slug: str, *parts: Part, at: datetime = AT, recorded_at: datetime | None = None) -> Parsed:
    return read(SOURCES[slug], Snapshot(slug, "x", "all", parts, at, recorded_at or at))


def accepted(result: Parsed, kind: str = "rental_quote") -> list[dict[str, Any]]:
    return result.rows[kind].to_dicts() if kind in result.rows else []


def prices(result: Parsed) -> dict[tuple[str, str], Decimal]:
    return {(row["offer_key"], row["price_type"]): row["price"].normalize() for row in accepted(result)}


def reasons(result: Parsed) -> list[str]:
    return result.refused["reason"].to_list()


# --- Azure --------------------------------------------------------------------------------------

H100 = "Standard_ND96isr_H100_v5"


def vm(price: object = 80.0, size: object = H100, **changes: Any) -> dict[str, Any]:
    item = {
        "currencyCode": "USD",
        "tierMinimumUnits": 0.0,
        "retailPrice": price,
        "unitPrice": price,
        "armRegionName": "eastus",
        "effectiveStartDate": "2026-01-01T00:00:00Z",
        "meterName": "ND96isrH100v5",
        "productName": "Virtual Machines NDsr H100 v5 Series",
        "skuName": "ND96isrH100v5",
        "serviceName": "Virtual Machines",
        "unitOfMeasure": "1 Hour",
        "type": "Consumption",
        "armSkuName": size,
    }
    return item | changes


def page(items: list[Any], link: str | None = None, **changes: Any) -> Part:
    document = {"BillingCurrency": "USD", "Items": items, "NextPageLink": link, "Count": len(items)}
    return Part("page", json.dumps(document | changes).encode())


def azure(*items: Any) -> Parsed:
    return parsed("azure_retail", page(list(items)))


def per_gpu_hour(row: dict[str, Any]) -> Decimal:
    return row["price"] / int(row["term_hours"] or 1) / int(row["gpu_count"])


@pytest.mark.parametrize("order", [1, -1])
def test_a05_a_term_total_is_no_hourly_price_in_either_order(order: int) -> None:
    term = vm(496.0, type="Reservation", reservationTerm="1 Year")
    rows = accepted(azure(*[term, vm(0.0907)][::order]))
    by_type = {row["price_type"]: row for row in rows}
    assert by_type["on_demand"]["price"] == Decimal("0.0907")
    reserved = by_type["reserved"]
    assert (reserved["price_unit"], reserved["term_hours"], reserved["commitment_months"]) == (
        "term_total",
        8760,
        12,
    )
    assert round(reserved["price"] / 8760, 6) == Decimal("0.056621")


def test_a05_shuffled_rows_give_the_same_quotes() -> None:
    items = [vm(80 + n, region) for n, region in enumerate([H100, "Standard_ND96asr_v4"] * 2)]
    items += [vm(70.0, "Standard_NC24ads_A100_v4"), vm(16.0, meterName="ND96isrH100v5 Spot")]
    items += [vm(70.0, "Standard_NC24ads_A100_v4", effectiveStartDate="2025-01-01T00:00:00Z")]
    one = accepted(azure(*items))
    for seed in range(5):
        shuffled = items[:]
        random.Random(seed).shuffle(shuffled)
        other = accepted(azure(*shuffled))
        assert sorted(str(row | {"row_number": 0}) for row in one) == sorted(
            str(row | {"row_number": 0}) for row in other
        )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"skuName": "ND96isrH100v5 Low Priority"}, "low_priority"),
        ({"meterName": "ND96isrH100v5 Low Priority"}, "low_priority"),
        ({"productName": "Virtual Machines NDsr H100 v5 Series Windows"}, "windows_licence"),
        ({"productName": "NDsr H100 v5 Series Dedicated Host"}, "dedicated_host"),
        ({"productName": "NDsr H100 v5 Series Cloud Services"}, "cloud_services"),
        ({"type": "DevTestConsumption"}, "dev_test"),
    ],
)
def test_azure_cheaper_look_alikes_never_stand_for_a_linux_machine(
    changes: dict[str, Any], reason: str
) -> None:
    result = azure(vm(), vm(5.0, **changes))
    assert prices(result) == {(H100, "on_demand"): 80}
    assert reasons(result) == [reason]


def test_azure_spot_is_not_on_demand() -> None:
    assert prices(azure(vm(), vm(16.0, skuName="ND96isrH100v5 Spot"))) == {
        (H100, "on_demand"): 80,
        (H100, "spot"): 16,
    }


@pytest.mark.parametrize("order", [1, -1])
def test_a06_neither_of_two_prices_of_one_azure_machine_stands(order: int) -> None:
    pair = [vm(3.0, "Standard_NC24ads_A100_v4"), vm(1.45, "Standard_NC24ads_A100_v4", meterName="other")]
    result = azure(vm(), *pair[::order])
    assert prices(result) == {(H100, "on_demand"): 80}
    assert reasons(result) == ["conflicting_duplicates"] * 2


LINK = "https://prices.azure.com:443/api/retail/prices?$filter=x&$skip="


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([page([vm()], LINK + "1")], "goes on"),
        ([page([vm()], None), page([vm(81.0)])], "ends here"),
        ([page([vm()], Count=2)], "Count says 2"),
        ([page([vm()], LINK + "1"), page([vm()], LINK + "2"), page([vm(1.0)])], "same page twice"),
        ([page([vm()], LINK + "2"), page([vm(81.0)])], "next page starts at 2"),
        ([page([vm()], BillingCurrency="EUR")], "not USD"),
        ([Part("page", b'{"Items": null, "Count": 0}')], "no list called 'Items'"),
        ([page([])], "none of 0 items"),
        ([page([vm(size="Standard_D4s_v5")])], "none of 1 items"),
    ],
)
def test_a07_an_azure_list_that_is_not_whole_is_refused(parts: list[Part], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parsed("azure_retail", *parts)


def test_a07_azure_pages_follow_the_link_of_each_page_within_their_region() -> None:
    source = SOURCES["azure_retail"]
    first = next(request for request in source.requests() if request.slice == "westeurope")
    assert "armRegionName%20eq%20%27westeurope%27" in first.url
    following = next_request(source, first, page([vm()], LINK + "1"))
    assert following == Request(LINK + "1", slice="westeurope")
    assert next_request(source, first, page([vm()])) is None


def test_a14_azure_prices_that_are_none_are_refused_each_by_name() -> None:
    odd = [0, None, True, "2.49", float("nan"), -1, 1e9]
    items = [vm(value, f"Standard_ND{n}_Z_v9") for n, value in enumerate(odd)]
    missing = vm(size="Standard_ND99_Z_v9")
    del missing["retailPrice"]
    result = azure(vm(), *items, missing)
    assert prices(result) == {(H100, "on_demand"): 80}
    assert reasons(result) == [
        "not_positive",
        "missing_value",
        "wrong_type",
        "wrong_type",
        "not_finite",
        "not_positive",
        "out_of_range",
        "missing_value",
    ]


def test_azure_price_keys_that_nobody_knows_are_shown() -> None:
    result = azure(vm(promotionalPrice=1.0))
    assert result.refused.select("reason", "field").rows() == [("unknown_price_key", "promotionalPrice")]


def test_azure_placeholder_of_a_cent_is_no_offer() -> None:
    result = azure(vm(), vm(82.0, armRegionName="westus3"), vm(0.01, armRegionName="ukwest"))
    assert [row["region"] for row in accepted(result)] == ["eastus", "westus3"]
    assert reasons(result) == ["placeholder_price"]


def test_azure_low_spot_price_is_no_placeholder() -> None:
    assert prices(azure(vm(), vm(4.0, skuName="x Spot")))[H100, "spot"] == 4


def test_a12_azure_slices_of_a_card_stay_slices() -> None:
    sizes = ["Standard_NV6ads_A10_v5", "Standard_NV12ads_A10_v5", "Standard_NV18ads_A10_v5"]
    rows = accepted(azure(*[vm(0.5, size) for size in sizes]))
    assert [round(1 / row["gpu_count"]) for row in rows] == [6, 3, 2]
    assert all(row["gpu_count"] < 1 for row in rows)


def test_azure_gb200_machine_has_four_gpus_and_an_unknown_size_none() -> None:
    rows = accepted(azure(vm(108.0, "Standard_ND128isr_NDR_GB200_v6"), vm(9.0, "Standard_ND12_Z9_v9")))
    assert [(row["raw_gpu_name"], row["gpu_count"]) for row in rows] == [
        ("Standard_ND128isr_NDR_GB200_v6", 4),
        ("Standard_ND12_Z9_v9", None),
    ]


@pytest.mark.parametrize("key", sorted(vm()))
@pytest.mark.parametrize("value", [None, True, [], {}, ["x"], 7, "x", ""])
def test_azure_a_field_of_another_type_costs_its_row_and_not_the_list(key: str, value: Any) -> None:
    result = azure(vm(90.0, "Standard_ND96asr_v4"), vm() | {key: value})
    assert ("Standard_ND96asr_v4", "on_demand") in prices(result)
    assert result.candidates == 2


# --- AWS ----------------------------------------------------------------------------------------

AWS_ROW = {
    "SKU": "S",
    "TermType": "OnDemand",
    "EffectiveDate": "2026-02-01",
    "StartingRange": "0",
    "EndingRange": "Inf",
    "Unit": "Hrs",
    "PricePerUnit": "56.0000000000",
    "Currency": "USD",
    "Product Family": "Compute Instance",
    "Location Type": "AWS Region",
    "Instance Type": "p5.48xlarge",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "GPU": "8",
    "CapacityStatus": "Used",
    "Pre Installed S/W": "NA",
    "Region Code": "us-east-1",
    "MarketOption": "OnDemand",
}
PREAMBLE = (
    '"FormatVersion","v1.0"\n"Disclaimer","x"\n"Publication Date","2026-02-09T20:15:00Z"\n'
    '"Version","1"\n"OfferCode","AmazonEC2"\n'
)


def price_list(rows: Iterable[dict[str, str]], preamble: str = PREAMBLE) -> Part:
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(AWS_ROW), quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    writer.writerows({**AWS_ROW, **row} for row in rows)
    return Part("index.csv", (preamble + text.getvalue()).encode())


def aws(*rows: dict[str, str]) -> Parsed:
    return parsed("aws_price_list", price_list(rows))


@pytest.mark.parametrize("order", [1, -1])
def test_aws_rows_at_zero_of_capacity_reservations_never_win(order: int) -> None:
    zero = {"CapacityStatus": "AllocatedCapacityReservation", "PricePerUnit": "0.0000000000"}
    result = aws(*[{}, zero][::order])
    assert prices(result) == {("p5.48xlarge", "on_demand"): 56}
    assert reasons(result) == ["capacity_reservation"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"MarketOption": "CapacityBlock"}, "capacity_block"),
        ({"TermType": "Reserved"}, "reserved_term"),
        ({"Tenancy": "Dedicated"}, "not_shared"),
        ({"Operating System": "Windows"}, "other_operating_system"),
        ({"Pre Installed S/W": "SQL Web"}, "preinstalled_software"),
        ({"CapacityStatus": "UnusedCapacityReservation"}, "capacity_reservation"),
        ({"Product Family": "Dedicated Host"}, "other_product"),
        ({"Location Type": "AWS Outposts"}, "outposts"),
        ({"TermType": "FlatRate"}, "unknown_value"),
        ({"MarketOption": "Auction"}, "unknown_value"),
    ],
)
def test_aws_only_linux_machines_of_one_s_own_are_on_demand(change: dict[str, str], reason: str) -> None:
    result = aws({}, {"PricePerUnit": "5.0000000000"} | change)
    assert prices(result) == {("p5.48xlarge", "on_demand"): 56}
    assert reasons(result) == [reason]


def test_aws_first_of_the_month_is_not_the_day_of_a_price() -> None:
    assert [row["effective_from"] for row in accepted(aws({}))] == [None]


@pytest.mark.parametrize("stated", ["", "0", "1", "0.125"])
def test_a12_aws_fraction_of_a_gpu_stays_one_whatever_the_list_counts(stated: str) -> None:
    (row,) = accepted(aws({"Instance Type": "g6f.large", "GPU": stated}))
    assert row["gpu_count"] == 0.125


def test_aws_type_that_no_table_knows_stays_visible() -> None:
    rows = accepted(
        aws({"Instance Type": "p9.48xlarge", "GPU": ""}, {"Instance Type": "q1.large", "GPU": "4"})
    )
    assert [(row["raw_gpu_name"], row["gpu_count"]) for row in rows] == [
        ("p9.48xlarge", None),
        ("q1.large", 4),
    ]


def test_a03_aws_twelve_gpus_where_eight_are_known() -> None:
    result = aws({"Instance Type": "g5.xlarge", "GPU": "1"}, {"GPU": "12"}, {"PricePerUnit": "0.00"})
    assert prices(result) == {("g5.xlarge", "on_demand"): 56}
    assert reasons(result) == ["contradictory_gpu_counts", "not_positive"]


def test_aws_rows_that_are_counted_together_are_all_counted() -> None:
    result = aws({}, *[{"Instance Type": "m5.large", "GPU": ""}] * 7, *[{"TermType": "Reserved"}] * 5)
    assert result.refused.select("reason", "locator").rows() == [
        ("no_gpu", "m5.large, 7 rows"),
        ("reserved_term", "p5.48xlarge, 5 rows"),
    ]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (price_list([{}], PREAMBLE.replace("AmazonEC2", "AmazonRDS")), "AmazonEC2"),
        (price_list([{}], PREAMBLE.replace("v1.0", "v2.0")), "v1.0"),
        (price_list([{}], PREAMBLE.replace("2026-02-09T", "2027-02-09T")), "after it was stored"),
        (price_list([{}], PREAMBLE.replace("2026-02-09T20:15:00Z", "today")), "Publication Date"),
        (price_list([{"Instance Type": "m5.large", "GPU": ""}]), "none of 1 rows"),
        (Part("x", price_list([{}, {}]).body[:-60]), "fields, the header|broken after row"),
        (Part("x", price_list([{}]).body.replace(b'"CapacityStatus"', b'"Capacity"')), "CapacityStatus"),
    ],
)
def test_aws_another_or_a_broken_list_is_refused(part: Part, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parsed("aws_price_list", part)


def test_aws_list_that_was_kept_knows_its_own_time() -> None:
    hook = SOURCES["aws_price_list"].observed_at
    assert hook is not None
    assert hook((price_list([{}]),)) == datetime(2026, 2, 9, 20, 15, tzinfo=UTC)


def test_aws_asks_for_each_region_in_a_slice_of_its_own() -> None:
    asked = list(SOURCES["aws_price_list"].requests())
    lists = [request for request in asked if not request.slice.startswith("spot-")]
    assert {"us-east-1", "us-east-2", "us-west-2", "eu-west-1"} <= {request.slice for request in lists}
    assert all(f"/{request.slice}/" in request.url for request in lists)


# --- gpuhunt ------------------------------------------------------------------------------------

OFFER = {
    "instance_name": H100,
    "location": "eastus",
    "price": "80.0",
    "gpu_count": "8",
    "gpu_name": "H100",
    "gpu_memory": "80.0",
    "spot": "False",
    "flags": "",
}
VERSION = Part("0001", b"20260210-42\n")


def zipped(members: dict[str, bytes]) -> Part:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in members.items():
            archive.writestr(name, body)
    return Part("0002", buffer.getvalue())


def offers(rows: Iterable[dict[str, str]]) -> bytes:
    text = io.StringIO(newline="")
    rows = [{**OFFER, **row} for row in rows]
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def gpuhunt(provider: str, *rows: dict[str, str]) -> Parsed:
    return parsed("gpuhunt_catalog", VERSION, zipped({f"{provider}.csv": offers(rows)}))


def test_gpuhunt_asks_for_the_version_and_then_for_its_zip() -> None:
    source = SOURCES["gpuhunt_catalog"]
    first = next(request for request in source.requests() if request.slice == "nebius")
    assert first.url.endswith("/v3/nebius/version")
    second = next_request(source, first, VERSION)
    assert second is not None
    assert second.slice == "nebius"
    assert second.url.endswith("/v3/nebius/20260210-42/catalog.zip")
    assert next_request(source, second, Part("0002", b"PK")) is None


@pytest.mark.parametrize("version", [b"../../x", b"20261399-1", b"", b"20260210"])
def test_gpuhunt_follows_no_version_that_is_none(version: bytes) -> None:
    source = SOURCES["gpuhunt_catalog"]
    first = next(iter(source.requests()))
    assert source.next_request is not None
    with pytest.raises(SourceError, match="version"):
        source.next_request(first, Part("0001", version))


@pytest.mark.parametrize("version", [b"20251101-1", b"20260215-1"])
def test_gpuhunt_version_of_another_time_is_refused(version: bytes) -> None:
    with pytest.raises(SourceError, match="version of"):
        parsed("gpuhunt_catalog", Part("0001", version), zipped({"azure.csv": offers([{}])}))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, "without files"),
        ({"../azure.csv": offers([{}])}, "no file of a provider"),
        ({"readme.txt": b"x"}, "no file of a provider"),
        ({"azure.csv": offers([{}])[:-20]}, "fields, not"),
        (
            {"azure.csv": offers([{"gpu_name": "", "gpu_count": "0", "instance_name": "D4"}])},
            "none of 1 rows",
        ),
        ({"azure.csv": b"instance_name,price\nx,1\n"}, "header lacks"),
    ],
)
def test_gpuhunt_zip_that_is_not_a_catalogue_is_refused(members: dict[str, bytes], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        parsed("gpuhunt_catalog", VERSION, zipped(members))


def test_gpuhunt_zip_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.decode.MAX_DECODED_BYTES", 1000)
    with pytest.raises(SourceError, match="decompresses to more than 1000 bytes"):
        parsed("gpuhunt_catalog", VERSION, zipped({"azure.csv": offers([{}] * 100)}))


def test_gpuhunt_spot_flag_makes_a_row_spot_and_nothing_else_does() -> None:
    result = gpuhunt("azure", {}, {"spot": "True", "price": "16.0"}, {"spot": "", "location": "westus3"})
    assert prices(result) == {(H100, "on_demand"): 80, (H100, "spot"): 16}
    assert reasons(result) == ["unknown_price_type"]


def test_a06_gpuhunt_offers_that_differ_in_flags_alone_are_in_conflict() -> None:
    result = gpuhunt("cloudrift", {"price": "3.00"}, {"price": "1.45", "flags": "x"}, {"instance_name": "y"})
    assert prices(result) == {("y", "on_demand"): 80}
    assert reasons(result) == ["conflicting_duplicates"] * 2


def test_a12_gpuhunt_fractions_are_never_whole_gpus() -> None:
    result = gpuhunt(
        "aws",
        {"instance_name": "g6f.large", "gpu_name": "L4", "gpu_count": "0", "gpu_memory": "3"},
        {"instance_name": "g6f.xlarge", "gpu_name": "L4", "gpu_count": "1", "gpu_memory": "3"},
        {"instance_name": "zz.large", "gpu_name": "L4", "gpu_count": "0", "price": "0.2"},
        {"instance_name": "zz.xlarge", "gpu_name": "A10", "gpu_count": "0.125"},
    )
    counts = {row["offer_key"]: row["gpu_count"] for row in accepted(result)}
    assert counts == {"g6f.large": 0.125, "g6f.xlarge": 0.125, "zz.xlarge": 0.125}
    assert reasons(result) == ["not_positive"]


def test_a12_gpuhunt_memory_that_betrays_a_slice_is_kept() -> None:
    slice_of_a10 = {"instance_name": "vm-a10", "gpu_name": "A10", "gpu_count": "1", "gpu_memory": "4"}
    (row,) = accepted(gpuhunt("vultr", slice_of_a10 | {"price": "0.45"}))
    assert (row["gpu_count"], row["raw_memory_gb"]) == (1, 4)


def test_gpuhunt_tpu_slice_is_not_one_chip() -> None:
    (row,) = accepted(
        gpuhunt("gcp", {"instance_name": "v5litepod-8", "gpu_name": "v5litepod-8", "gpu_count": "1"})
    )
    assert (row["raw_gpu_name"], row["gpu_count"]) == ("v5litepod-8", None)


@pytest.mark.parametrize(
    ("provider", "machine", "raw_name"),
    [
        ("lambdalabs", "gpu_1x_h100_pcie", "gpu_1x_h100_pcie"),
        ("lambdalabs", "gpu_8x_h100_sxm5", "gpu_8x_h100_sxm5"),
        ("nebius", "gpu-h100-sxm 8gpu-128vcpu-1600gb", "gpu-h100-sxm"),
        ("gcp", "a3-highgpu-8g", "a3-highgpu-8g"),
        ("gcp", "n1-standard-8", "H100"),
        ("cloudrift", "rtx59.2", "H100"),
    ],
)
def test_a11_gpuhunt_names_a_gpu_by_what_keeps_its_form(provider: str, machine: str, raw_name: str) -> None:
    (row,) = accepted(gpuhunt(provider, {"instance_name": machine, "location": "us-central1-a"}))
    assert row["raw_gpu_name"] == raw_name


def test_gpuhunt_calendar_mode_is_not_on_demand() -> None:
    result = gpuhunt(
        "gcp", {"instance_name": "a3-highgpu-8g"}, {"flags": "gcp-dws-calendar-mode", "price": "33"}
    )
    assert [row["price"] for row in accepted(result)] == [80]
    assert reasons(result) == ["dws_calendar_mode"]


def test_gpuhunt_and_skypilot_ask_for_no_provider_whose_terms_forbid_it() -> None:
    for slug in ("gpuhunt_catalog", "skypilot_catalog"):
        assert not {"runpod", "vast", "vastai"} & {request.slice for request in SOURCES[slug].requests()}


# --- SkyPilot -----------------------------------------------------------------------------------

VM = {
    "InstanceType": "box-1",
    "AcceleratorName": "H100",
    "AcceleratorCount": "1.0",
    "GpuInfo": "",
    "Price": "3.0",
    "SpotPrice": "",
    "Region": "r1",
    "AvailabilityZone": "",
}


def catalogue(cloud: str, *rows: dict[str, str], end: str = "\n") -> Parsed:
    text = io.StringIO(newline="")
    written = [{**VM, **row} for row in rows]
    writer = csv.DictWriter(text, list(written[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(written)
    body = text.getvalue().removesuffix("\n") + end
    name = f"{cloud}_vms_2026-02-10T120000Z_0123456789.csv"
    return parsed("skypilot_catalog", Part(name, body.encode()))


def test_a02_a_host_without_its_gpu_is_no_offer_and_a_gpu_without_its_host_a_part() -> None:
    host = {"InstanceType": "a2-highgpu-1g", "AcceleratorName": "", "AcceleratorCount": "", "Price": "0.94"}
    card = {"InstanceType": "", "AcceleratorName": "A100", "Price": "3.11"}
    result = catalogue("gcp", host, card)
    (row,) = accepted(result)
    assert (row["raw_gpu_name"], row["price"], row["listing_kind"]) == ("A100", Decimal("3.11"), "component")
    assert reasons(result) == ["host_without_accelerator", "not_offered"]
    with pytest.raises(SourceError, match="none of 1 rows is a GPU"):
        catalogue("gcp", host)


def test_a03_prices_that_are_not_known_and_counts_that_were_made_up() -> None:
    result = catalogue(
        "azure",
        {},
        {"InstanceType": H100, "AcceleratorCount": "8", "Price": ""},
        {"InstanceType": H100, "AcceleratorCount": "8", "Price": "0", "Region": "r2"},
        {"InstanceType": H100, "AcceleratorCount": "8", "Price": "0.00", "Region": "r3"},
        {"InstanceType": H100, "AcceleratorCount": "12", "Price": "117.984"},
        {"InstanceType": "Standard_ND12_Z9_v9", "AcceleratorCount": "12", "Price": "117.984"},
    )
    assert prices(result) == {("box-1", "on_demand"): 3}
    rejected = result.refused.filter(verdict="rejected")["reason"].to_list()
    assert rejected == [
        "missing_value",
        "not_positive",
        "not_positive",
        "contradictory_gpu_counts",
        "implausible_gpu_count",
    ]


def test_a01_one_price_on_machines_of_every_size_is_a_price_per_gpu() -> None:
    rows = [
        {"InstanceType": f"{n}x_H100_SECURE", "AcceleratorCount": f"{n}.0", "Price": "2.49"}
        for n in (1, 2, 4, 8)
    ]
    result = catalogue("runpod", *rows)
    assert prices(result) == {("1x_H100_SECURE", "on_demand"): Decimal("2.49")}
    assert result.refused.filter(verdict="rejected")["reason"].to_list() == ["price_does_not_scale"] * 3


def test_a06_two_prices_of_one_machine_and_region() -> None:
    result = catalogue(
        "ibm", {}, {"InstanceType": "b", "Price": "0.178"}, {"InstanceType": "b", "Price": "0.086"}
    )
    assert prices(result) == {("box-1", "on_demand"): 3}
    assert result.refused.filter(verdict="rejected")["reason"].to_list() == ["conflicting_duplicates"] * 2


def test_skypilot_spot_is_of_its_zone_and_on_demand_of_its_region() -> None:
    machine = {"InstanceType": "p5.48xlarge", "AcceleratorCount": "8.0", "Price": "80"}
    result = catalogue(
        "aws",
        machine | {"SpotPrice": "24", "AvailabilityZone": "z1"},
        machine | {"SpotPrice": "20", "AvailabilityZone": "z2"},
    )
    assert prices(result) == {
        ("p5.48xlarge", "on_demand"): 80,
        ("p5.48xlarge/z1", "spot"): 24,
        ("p5.48xlarge/z2", "spot"): 20,
    }
    assert reasons(result) == ["identical_duplicate"]


def test_skypilot_spot_of_zero_is_not_offered() -> None:
    assert reasons(catalogue("cudo", {"SpotPrice": "0.00"})) == ["not_offered"]


def test_skypilot_last_number_of_a_file_without_a_line_end_may_be_cut() -> None:
    result = catalogue("cudo", {}, {"InstanceType": "b"}, end="")
    assert prices(result) == {("box-1", "on_demand"): 3}
    assert reasons(result) == ["not_offered", "may_be_cut"]


@pytest.mark.parametrize("name", ["vms.csv", "moon_vms_2026-02-10.csv", "2026.csv"])
def test_skypilot_file_of_no_known_cloud_is_refused(name: str) -> None:
    body = (FIXTURES / "skypilot_catalog" / "payload.csv").read_bytes()
    with pytest.raises(SourceError, match="no cloud"):
        parsed("skypilot_catalog", Part(name, body))


def test_skypilot_cloud_of_a_live_file_is_in_its_address() -> None:
    body = (FIXTURES / "skypilot_catalog" / "payload.csv").read_bytes()
    asked = next(request for request in SOURCES["skypilot_catalog"].requests() if request.slice == "aws")
    result = parsed("skypilot_catalog", Part("0001", body, asked.url, 200))
    assert {row["provider"] for row in accepted(result)} == {"aws"}


def test_skypilot_price_column_that_nobody_knows_is_shown() -> None:
    assert reasons(catalogue("cudo", {"ReservedPrice": "1"})) == ["unknown_price_key", "not_offered"]


def test_skypilot_tpu_slice_is_not_one_chip() -> None:
    (row,) = accepted(catalogue("gcp", {"InstanceType": "", "AcceleratorName": "tpu-v3-32", "Price": "32"}))
    assert (row["raw_gpu_name"], row["gpu_count"]) == ("tpu-v3-32", None)


def test_a11_skypilot_names_stay_as_written() -> None:
    names = [
        "A10",
        "A100",
        "A100-80GB",
        "RTX6000",
        "RTX6000-Ada",
        "GH200",
        "H100-SXM",
        "H200",
        "B200",
        "GB200",
    ]
    rows = [{"InstanceType": f"m-{name}", "AcceleratorName": name} for name in names]
    assert [row["raw_gpu_name"] for row in accepted(catalogue("cudo", *rows))] == names


# --- Nebius -------------------------------------------------------------------------------------

NEBIUS_PAGE = (FIXTURES / "nebius" / "payload.md").read_text("utf-8")


def nebius(page: str = NEBIUS_PAGE, on: tuple[int, int, int] = (2026, 2, 10)) -> Parsed:
    return parsed("nebius", Part("pricing.md", page.encode()), at=datetime(*on, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("on", "standing"),
    [((2026, 2, 28), 7), ((2026, 3, 1), 8), ((2026, 12, 1), 8)],
    ids=["the_day_before", "the_day", "long_after"],
)
def test_nebius_price_of_the_day_of_the_look_stands(on: tuple[int, int, int], standing: int) -> None:
    rows = [row for row in accepted(nebius(on=on)) if row["raw_gpu_name"] == "gpu-b200-sxm"]
    at = datetime(*on, 12, tzinfo=UTC)
    to_be_had = [row for row in rows if row["effective_from"] is None or row["effective_from"] <= at]
    assert [row["price"] for row in to_be_had if row["price_type"] == "on_demand"] == [standing]


def test_nebius_announced_price_is_kept_with_the_day_from_which_it_holds() -> None:
    announced = [row for row in accepted(nebius()) if row["effective_from"] and row["effective_from"] > AT]
    assert [row["price"] for row in announced] == [8, 4]
    assert {row["effective_from"] for row in announced} == {datetime(2026, 3, 1, tzinfo=UTC)}
    assert {row["offer_key"] for row in announced} == {"gpu-b200-sxm"}


def test_nebius_other_currency_is_never_read_as_dollars() -> None:
    page = NEBIUS_PAGE.replace("₪30.00", "\\$30.00")
    found = {row["price"] for row in accepted(nebius(page)) if row["raw_gpu_name"] == "gpu-b200-sxm"}
    assert found == {4, 7, 8}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("before March 1, 2026", "until March 1, 2026", "not under a header"),
        ("before March 1, 2026", "before Brumaire 1, 2026", "names no day"),
        ("before March 1, 2026", "before February 30, 2026", "names no day"),
        ("| **Price** | **Per** |", "| **Per** | **Price** |", "not Item, Price, Per"),
        ('<Tab title="USD">', "<Tab>", "without a title"),
        ('<Tab title="USD">', '<Tab name="USD">', "without a title"),
        ("1 GPU hour |", "1 GPU hour", "does not end"),
        ("gpu-", "cpu-", "none of"),
        ("\\$", "€", "none of"),
    ],
)
def test_nebius_page_that_is_written_otherwise_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        nebius(NEBIUS_PAGE.replace(old, new))


def test_nebius_page_that_ends_between_two_rows_is_refused() -> None:
    cut = NEBIUS_PAGE[: NEBIUS_PAGE.index("    | NVIDIA® L40S PCIe, reserved")]
    with pytest.raises(SourceError, match="a tab is open"):
        nebius(cut)


def test_nebius_preemptible_is_spot() -> None:
    rows = accepted(nebius(on=(2026, 4, 1)))
    spot = [(row["offer_key"], row["price"]) for row in rows if row["price_type"] == "spot"]
    assert spot == [("gpu-b200-sxm", 4)]


def test_a15_nebius_text_that_is_no_plain_price_is_refused() -> None:
    for text in ("\\$2,499.00", "1.234,56 €", "\\$2.49/hr", "2.49", "\\$1_000", "soon"):
        result = nebius(NEBIUS_PAGE.replace("\\$4.25", text))
        assert "gpu-h100-sxm" not in {row["offer_key"] for row in accepted(result)}
        assert reasons(result).count("not_a_number") == 2


# --- European Central Bank ----------------------------------------------------------------------

RATES = json.loads((FIXTURES / "ecb_fx" / "payload.json").read_text("utf-8"))


def ecb(document: dict[str, Any], recorded_at: datetime = datetime(2026, 2, 10, 18, tzinfo=UTC)) -> Parsed:
    return parsed("ecb_fx", Part("x", json.dumps(document).encode()), recorded_at=recorded_at)


def changed(path: str, value: Any) -> dict[str, Any]:
    document = json.loads(json.dumps(RATES))
    *above, last = path.split("/")
    at = document
    for step in above:
        at = at[int(step) if isinstance(at, list) else step]
    at[int(last) if isinstance(at, list) else last] = value
    return document


def rates(result: Parsed) -> dict[tuple[str, date], float]:
    return {(row["currency"], row["rate_date"]): row["rate"] for row in accepted(result, "fx_rate")}


def test_ecb_rate_has_its_own_day_and_not_that_of_the_look() -> None:
    on_sunday = ecb(RATES, datetime(2026, 2, 15, 9, tzinfo=UTC))
    assert max(day for _, day in rates(on_sunday)) == date(2026, 2, 10)


def test_ecb_currency_is_found_by_name_though_the_order_changes() -> None:
    path = "structure/dimensions/series/1/values"
    turned = changed(path, [{"id": "USD"}, {"id": "SEK"}, {"id": "GBP"}])
    assert rates(ecb(turned))["USD", date(2026, 2, 6)] == 0.5


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("header/test", True, "test of it"),
        ("header/sender/id", "XYZ", "not an answer"),
        ("header/prepared", "2026-02-10T16:05:00", "time_without_zone"),
        ("header/prepared", "2026-03-10T16:05:00+01:00", "after it was stored"),
        ("structure/dimensions/series/2/values/0/id", "USD", "no daily spot rate"),
        ("structure/dimensions/series/3/values/0/id", "EN00", "no daily spot rate"),
        ("structure/dimensions/series/0/values/0/id", "M", "no daily spot rate"),
        ("structure/dimensions/series/1/values/2/id", "JPY", "US dollars are missing"),
        ("structure/dimensions/series/1/values/2/id", "GBP", "stands twice"),
        ("structure/dimensions/series/1/values", [{"id": "USD"}], "outside its dimensions"),
        ("structure/dimensions/series/1/id", "MONEY", "not those of exchange rates"),
        ("structure/dimensions/observation/0/values/2/id", "February", "structure"),
        ("structure/dimensions/observation/0/values/2/id", "2026-02-09", "a day twice"),
        ("structure/dimensions/observation/0/values/2/id", "2026-09-09", "a rate of"),
        ("structure/dimensions/observation/0/values", [{"id": "2026-02-06"}], "outside the 1 days"),
        ("structure", [], "structure"),
        ("dataSets/0/series", {}, "no series"),
        ("dataSets", [], "not one data set"),
    ],
)
def test_ecb_answer_of_another_shape_is_refused(path: str, value: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        ecb(changed(path, value))


@pytest.mark.parametrize("odd", [0, True, "1.25", -1, 1e9, float("nan"), {}, []])
def test_ecb_rate_that_is_none_is_refused_alone(odd: Any) -> None:
    result = ecb(changed("dataSets/0/series/0:2:0:0:0/observations/0", [odd]))
    assert ("USD", date(2026, 2, 6)) not in rates(result)
    assert ("USD", date(2026, 2, 9)) in rates(result)
    assert result.candidates == 9


# --- Payloads as their publishers wrote them ------------------------------------------------------

with_real_files = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no real payloads at {DATA}: set TOKENYIELD_SHARED_DATA"
)
# candidates, accepted, rejected; the rest is not applicable.
SKYPILOT = {
    "aws_vms_2022-12-02T181926Z": (23846, 1633, 28),
    "aws_vms_2023-03-15T211334Z": (25666, 1773, 4),
    "aws_vms_2023-06-15T211314Z": (26759, 1787, 8),
    "aws_vms_2023-09-15T211238Z": (28952, 1959, 14),
    "aws_vms_2023-12-15T211126Z": (31394, 1958, 0),
    "aws_vms_2024-03-15T211034Z": (33222, 1995, 0),
    "aws_vms_2024-06-13T211403Z": (33943, 2172, 0),
    "azure_vms_2022-12-02T181926Z": (4983, 395, 5),
    "azure_vms_2023-12-08T231314Z": (7098, 481, 28),
    "cudo_vms_2024-01-16T182737Z": (138, 69, 0),
    "fluidstack_vms_2024-02-16T010028Z": (132, 66, 0),
    "fluidstack_vms_2024-04-24T053807Z": (60, 30, 0),
    "fluidstack_vms_2024-06-13T141414Z": (50, 25, 0),
    "gcp_vms_2022-12-02T181926Z": (3261, 315, 0),
    "gcp_vms_2023-09-13T211431Z": (14765, 913, 0),
    "gcp_vms_2024-06-13T141641Z": (17235, 954, 0),
    "ibm_vms_2023-01-15T224910Z": (81, 9, 0),
    "lambda_vms_2023-01-17T172211Z": (242, 121, 0),
    "lambda_vms_2023-02-25T180119Z": (264, 132, 0),
    "lambda_vms_2023-06-02T163749Z": (312, 156, 0),
    "lambda_vms_2023-06-02T235215Z": (338, 169, 0),
    "lambda_vms_2023-06-15T201646Z": (338, 169, 0),
    "lambda_vms_2024-02-05T183756Z": (364, 182, 0),
    "lambda_vms_2024-02-05T210934Z": (364, 182, 0),
    "oci_vms_2023-06-09T055332Z": (1476, 363, 0),
    "ovhcloud_vms_2023-11-26T003954Z": (84, 42, 0),
    "paperspace_vms_2024-03-13T190517Z": (25, 10, 0),
    "runpod_vms_2024-01-07T172404Z": (960, 640, 0),
    "runpod_vms_2024-01-08T153310Z": (960, 640, 0),
    "scaleway_vms_2023-12-22T170350Z": (10, 4, 0),
}


def real(path: str) -> Path:
    found = sorted(DATA.glob(path))
    if not found:
        pytest.skip(f"{DATA / path} is not there")
    return found[0]


def real_catalogue(name: str) -> Parsed:
    file = real(f"rental/skypilot_catalog/{name}*")
    return parsed("skypilot_catalog", Part(file.name, file.read_bytes()))


@with_real_files
@pytest.mark.parametrize("name", sorted(SKYPILOT))
def test_skypilot_file_is_read_whole(name: str) -> None:
    result = real_catalogue(name)
    verdicts = Counter(result.refused["verdict"])
    found = (result.candidates, len(accepted(result)), verdicts["rejected"])
    assert found == SKYPILOT[name]
    assert found[0] == found[1] + found[2] + verdicts["not_applicable"]


@with_real_files
def test_skypilot_folder_holds_no_file_that_is_not_read() -> None:
    there = {file.name.rsplit("_", 1)[0] for file in DATA.glob("rental/skypilot_catalog/*_vms_*")}
    assert not there or there == set(SKYPILOT)


@with_real_files
def test_skypilot_h100_of_azure_at_zero_or_with_twelve_gpus_is_no_price() -> None:
    result = real_catalogue("azure_vms_2023-12-08T231314Z")
    assert not [row for row in accepted(result) if "H100" in row["raw_gpu_name"]]
    rejected = result.refused.filter(verdict="rejected")
    assert Counter(rejected["reason"]) == {
        "missing_value": 19,
        "not_positive": 5,
        "contradictory_gpu_counts": 4,
    }


@with_real_files
def test_skypilot_spot_of_a100_by_zone() -> None:
    per_gpu = {}
    for name in SKYPILOT:
        if name.startswith("aws"):
            rows = [row for row in accepted(real_catalogue(name)) if row["price_type"] == "spot"]
            assert not [row for row in rows if row["raw_gpu_name"] == "p4de.24xlarge"]
            per_gpu[name[8:18]] = [row["price"] / 8 for row in rows if row["raw_gpu_name"] == "p4d.24xlarge"]
    assert round(min(per_gpu["2023-12-15"]), 2) == Decimal("0.41")
    assert round(max(per_gpu["2022-12-02"]), 2) == Decimal("5.67")


@with_real_files
def test_azure_term_totals_are_62_92_and_43_16_dollars_an_hour() -> None:
    file = real("rental/azure_retail_mrmonroe90/*.json")
    result = parsed("azure_retail", Part(file.name, file.read_bytes()), at=datetime(2026, 7, 27, tzinfo=UTC))
    rows = {(row["offer_key"], row["price_type"], row["commitment_months"]): row for row in accepted(result)}
    hours = {months: rows[H100, "reserved", months] for months in (12, 36)}
    per_vm = {m: round(row["price"] / int(row["term_hours"]), 2) for m, row in hours.items()}
    assert per_vm == {12: Decimal("62.92"), 36: Decimal("43.16")}
    assert {m: round(per_gpu_hour(row), 2) for m, row in hours.items()} == {
        12: Decimal("7.87"),
        36: Decimal("5.40"),
    }
    assert rows[H100, "on_demand", None]["price"] == Decimal("98.32")
    assert (result.candidates, len(rows)) == (10, 5)
    assert Counter(reasons(result)) == {"windows_licence": 2, "dev_test": 2, "low_priority": 1}


@with_real_files
def test_gpuhunt_answers_of_providers_are_no_catalogue() -> None:
    for file in DATA.glob("rental/gpuhunt_fixtures/*.json"):
        with pytest.raises(SourceError, match="not a whole zip"):
            parsed("gpuhunt_catalog", Part(file.name, file.read_bytes()))


@with_real_files
def test_ecb_answer_of_2026_08_13() -> None:
    file = real("rental/eu_cloud_prices_mixxor/ecb_rates_2026-08-13.json")
    parts = (Part(file.name, file.read_bytes()),)
    hook = SOURCES["ecb_fx"].observed_at
    assert hook is not None
    assert hook(parts) == datetime(2026, 8, 13, 20, 53, 13, 16000, tzinfo=UTC)
    result = parsed("ecb_fx", *parts, at=datetime(2026, 8, 14, tzinfo=UTC))
    day = date(2026, 8, 13)
    assert rates(result)["USD", day] == 1.1534
    assert len(rates(result)) == result.candidates == 8
