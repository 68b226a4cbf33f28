"""What goes wrong with public prices, where it has to be stopped in the tables and in the index.

One test or more per case, A-01 to A-16. What one source's parser must stop stands in `test_traps_*.py` under
the same names: all of A-13 and A-15, and of A-07 and A-08 with `test_http.py`.
"""

from __future__ import annotations

from typing import Any

import pytest
from price_world import TODAY, Query, Row, published, quote, world

YESTERDAY = "2026-11-29"
MARTS = (
    "mart.rental_index_daily",
    "mart.rental_index_vote",
    "mart.rental_price_daily",
    "mart.rental_price",
    "mart.source_health",
    "clean.resolved_name",
)
OTHERS = (2.40, 2.50, 2.60, 2.70, 2.80)

NAMES = {
    "GB200 NVL72": "gb200-nvl72",
    "NVIDIA H100 80GB HBM3": "h100-sxm-80",
    "NVIDIA H100 NVLink": "h100-unknown-80",
    "h100-sxm5-80gb": "h100-sxm-80",
    "H100 NVL (94GB)": "h100-nvl-94",
    "A10": "a10",
    "A100-SXM4-40GB": "a100-sxm-40",
    "A100 80GB PCIe": "a100-pcie-80",
    "H20": "h20-sxm-96",
    "H200 NVL": "h200-nvl-141",
    "GH200": None,  # of 96 or of 144 GB
    "MI300X": "mi300x",
    "MI325X": "mi325x",
    "NVIDIA H100": "h100-unknown-80",
    # One name inside another, and words that contradict each other.
    "B200": "b200-sxm-180",
    "GB200": "gb200-nvl72",
    "A10G": "a10g",
    "A100": None,
    "L4": "l4",
    "L40": "l40",
    "L40S": "l40s",
    "RTX 6000 Ada": "rtx-6000-ada",
    "RTX A6000": "rtx-a6000",
    "RTX PRO 6000": "rtx-pro-6000",
    "RTX 6000": None,
    "H100 NVL 80GB": None,
    "H100 PCIe 94GB": None,
    "H100 SXM NVL": None,
    "XH100 SXM": None,
    "2x B300 SXM6 268GB": "b300-sxm-288",
    "H100 MIG 1g.10gb": None,
}


def node(chip: str, provider: str, usd: Any, gpus: Any, at: str = TODAY, **changes: Any) -> Row:
    """One machine of so many GPUs, priced whole."""
    more = {"price_unit": "instance_hour", "offer_key": f"{chip}-{gpus}", "gpu_count": gpus, **changes}
    return quote(chip, provider, usd, at, **more)


def others(chip: str, at: str = TODAY, number: int = 5) -> list[Row]:
    return [quote(chip, f"other{n}", usd, at) for n, usd in enumerate(OTHERS[:number])]


def cases() -> list[Row]:
    rows: list[Row] = []

    for chip, same_key in (("case-a01", False), ("case-a01-sku", True)):
        key = {"offer_key": chip} if same_key else {}
        rows += [node(chip, chip, 2.49, gpus, **key) for gpus in (1, 2, 4, 8)] + others(chip)

    parts = {"listing_kind": "component", "gpu_count": 1}
    rows += [quote("case-a02", "a02", usd, offer_key=f"part-{usd}", **parts) for usd in (0.94, 3.11, 0.05)]
    rows += [quote("case-a02-whole", "a02-whole", 4.10, gpu_count=1)]
    for n, usd in enumerate((4.05, 4.10, 4.15, 0.94)):
        here = {"offer_key": f"a2-highgpu-{n}", "region": f"r{n}"}
        rows += [node("case-a02-host", "a02-host", usd, 1, **here)]
        rows += [node("case-a02-host", "a02-host", 0.40, 1, price_type="spot", **here)]
    rows += others("case-a02-host")

    rows += [node("h100-sxm-80", "a03", 117.984, 12), node("h100-sxm-80", "a03-two-nodes", 48.00, 16)]

    for name, usd in (("a04-floor", 0.01), ("a04-reserved", 3.45)):
        rows += [node("b200-sxm-180", name, usd, 1)]

    term = {"price_type": "reserved", "price_unit": "term_total", "term_hours": 8760, "commitment_months": 12}
    for chip, back in (("case-a05", False), ("case-a05-back", True)):
        pair = [node(chip, chip, 496.0, 1, **term), node(chip, chip, 0.0907, 1, offer_key=f"{chip}-1")]
        rows += pair[::-1] if back else pair

    for chip, pair in (("case-a06", (3.00, 1.45)), ("case-a06-back", (1.45, 3.00))):
        rows += [quote(chip, chip, usd, note=f"meter {usd}") for usd in pair] + others(chip)
        rows += [quote(chip, chip, 2.90, YESTERDAY)]
    rows += [quote("case-a06-same", "a06-same", 3.00, note=note) for note in ("one", "two")]

    for usd, kind in ((2.69, "on_demand"), (1.65, "spot"), (1.99, "on_demand")):
        rows += [quote("case-a09", "a09", usd, price_type=kind, offer_key=f"a09-{usd}")]

    for chip, number in (("case-a10", 5), ("case-a10-few", 4)):
        rows += [*others(chip, YESTERDAY, number), *others(chip, TODAY, number)]
        rows += [quote(chip, f"renamed-{chip}", 4.90, YESTERDAY)]
        rows += [quote(f"New Label of {chip}", f"renamed-{chip}", 4.90, TODAY)]

    rows += [quote(name, "a11", 3.00, offer_key=f"a11 {name}") for name in NAMES]
    rows += [quote("NVIDIA H100", f"a11-{n}", 1.00) for n in range(5)]

    rows += [
        node("A10", "a12", 0.45, 1, raw_memory_gb=4, offer_key="sixth"),
        node("L4", "a12", 0.20, 1, raw_memory_gb=2.8, offer_key="disguised"),
        node("case-a12", "a12", 0.10, 0.125, offer_key="eighth"),
        quote("case-a12", "a12", 0.10, gpu_count=0.5, offer_key="half"),
        quote("case-a12", "a12", 0.80, gpu_count=1, offer_key="whole"),
    ]

    rows += [quote(chip, "a14", "1e9", offer_key=f"a14 {chip}") for chip in ("h100-sxm-80", "case-a14")]
    rows += [quote("case-a14", "a14-tiny", "0.0000001")]
    return rows


@pytest.fixture(scope="module")
def prices(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("prices"), cases(), marts=MARTS)


def rejected(prices: Query, source: str, chip: str = "%") -> list[tuple[float, str]]:
    """What was refused of a source: amount as stated, and reason."""
    return prices(
        "select cast(price as double), reject_reason from clean.rental_quote "
        "where source = ? and raw_gpu_name like ? and reject_reason is not null order by 1 desc, gpu_count",
        source,
        chip,
    )


def price(
    prices: Query, provider: str, day: str = TODAY, kind: str = "on_demand"
) -> list[tuple[float, bool]]:
    """What a provider asks on a day, and whether for a part of a node."""
    return prices(
        "select cast(usd_per_gpu_hour as double), partial_node from mart.rental_price_daily "
        "where provider_id = ? and date = ? and price_type = ? order by chip_id",
        provider, day, kind,
    )  # fmt: skip


def vote(prices: Query, chip: str, provider: str) -> list[tuple[float, str, int]]:
    return prices(
        "select usd_per_gpu_hour, status, age_days from mart.rental_index_vote "
        "where chip_id = ? and provider_id = ? and date = ? and price_type = 'on_demand'",
        chip, provider, TODAY,
    )  # fmt: skip


def index(prices: Query, chip: str, day: str = TODAY) -> tuple[float | None, int, str | None]:
    ((usd, providers, reason),) = prices(
        "select cast(usd_per_gpu_hour as double), provider_count, null_reason from mart.rental_index_daily "
        "where chip_id = ? and date = ? and price_type = 'on_demand'",
        chip,
        day,
    )
    return usd, providers, reason


@pytest.mark.parametrize("chip", ["case-a01", "case-a01-sku"])
def test_a01_a_price_that_does_not_scale_is_refused_and_only_the_single_gpu_votes(
    prices: Query, chip: str
) -> None:
    assert rejected(prices, chip) == [(2.49, "price_does_not_scale")] * 3
    assert price(prices, chip) == [(2.49, True)]
    assert vote(prices, chip, chip) == [(2.49, "counted", 0)]
    assert index(prices, chip)[1] == 6


def test_a02_a_part_of_a_machine_is_no_price(prices: Query) -> None:
    assert rejected(prices, "a02") == [(3.11, "component"), (0.94, "component"), (0.05, "component")]
    assert price(prices, "a02") == []
    assert price(prices, "a02-whole") == [(4.10, False)]


def test_a02_a_host_without_its_gpu_is_refused_in_every_price_type(prices: Query) -> None:
    assert rejected(prices, "a02-host") == [(0.94, "component_missing"), (0.40, "component_missing")]
    assert price(prices, "a02-host") == [(4.05, True)]
    assert vote(prices, "case-a02-host", "a02-host") == [(4.05, "counted", 0)]


def test_a03_twelve_gpus_of_a_chip_that_comes_in_eights_are_refused(prices: Query) -> None:
    ((amount, reason),) = rejected(prices, "a03")
    assert amount == 117.984
    assert "gpu_count" in reason
    assert price(prices, "a03") == []
    assert price(prices, "a03-two-nodes") == [(3.00, False)]


def test_a04_the_floor_of_an_auction_lies_outside_the_band(prices: Query) -> None:
    assert rejected(prices, "a04-floor") == [(0.01, "outside_plausible_band")]
    assert price(prices, "a04-floor") == []
    assert price(prices, "a04-reserved") == [(3.45, True)]


@pytest.mark.parametrize("chip", ["case-a05", "case-a05-back"])
def test_a05_a_term_total_is_a_reserved_price_by_the_hour(prices: Query, chip: str) -> None:
    assert price(prices, chip) == [(0.0907, True)]
    assert price(prices, chip, kind="reserved") == [(0.056621, True)]  # 496 / 8760


@pytest.mark.parametrize("chip", ["case-a06", "case-a06-back"])
def test_a06_of_two_prices_of_one_key_neither_stands_and_the_last_good_one_is_carried(
    prices: Query, chip: str
) -> None:
    assert rejected(prices, chip) == [(3.00, "conflicting_duplicates"), (1.45, "conflicting_duplicates")]
    assert vote(prices, chip, chip) == [(2.90, "carried", 1)]
    assert index(prices, chip)[1] == 5
    assert index(prices, "case-a06") == index(prices, "case-a06-back")


def test_a06_one_price_twice_is_one_price(prices: Query) -> None:
    assert rejected(prices, "a06-same") == []
    assert vote(prices, "case-a06-same", "a06-same") == [(3.00, "counted", 0)]


def test_a09_on_demand_and_spot_of_one_product_stay_apart(prices: Query) -> None:
    assert price(prices, "a09") == [(1.99, False)]
    assert price(prices, "a09", kind="spot") == [(1.65, False)]
    listed = prices(
        "select price_type, cast(usd_per_gpu_hour as double) from mart.rental_price "
        "where provider_id = 'a09' order by 2"
    )
    assert listed == [("spot", 1.65), ("on_demand", 1.99), ("on_demand", 2.69)]


def test_a10_a_new_label_shows_and_does_not_move_the_index(prices: Query) -> None:
    for chip in ("case-a10", "case-a10-few"):
        assert prices(
            "select raw_name, matched_by, row_count from clean.unmapped_name "
            "where domain = 'chip' and source = ?",
            f"renamed-{chip}",
        ) == [(f"New Label of {chip}", "unmapped", 1)]
        assert prices(
            "select unmapped_names from mart.source_health where source = ?", f"renamed-{chip}"
        ) == [(1,)]
        assert vote(prices, chip, f"renamed-{chip}") == [(4.90, "carried", 1)]
    before = index(prices, "case-a10", YESTERDAY)
    assert before[0] is not None
    assert index(prices, "case-a10") == (before[0], 5, None)
    assert index(prices, "case-a10-few", YESTERDAY)[1:] == (5, None)
    assert index(prices, "case-a10-few") == (None, 4, "too_few_providers")


@pytest.mark.parametrize(("name", "chip"), NAMES.items())
def test_a11_a_name_is_read_by_its_words(prices: Query, name: str, chip: str | None) -> None:
    found = prices(
        "select canonical_id from clean.resolved_name "
        "where domain = 'chip' and source = 'a11' and raw_name = ?",
        name,
    )
    assert found == [(chip,)]


def test_a11_a_name_without_a_form_is_in_no_series_of_a_form(prices: Query) -> None:
    # Five at 1.00, and the same name above at 3.00: of 18 votes the middle six are four of 1.00, two of 1.03.
    assert index(prices, "h100-unknown-80")[:2] == (1.01, 6)
    voters = prices(
        "select chip_id, count(*) from mart.rental_index_vote where provider_id like 'a11-%' group by chip_id"
    )
    assert voters == [("h100-unknown-80", 5)]


def test_a12_a_fraction_of_a_gpu_is_refused_however_it_is_written(prices: Query) -> None:
    refused = prices(
        "select offer_key, reject_reason from clean.rental_quote "
        "where source = 'a12' and reject_reason is not null order by 1"
    )
    assert refused == [
        ("disguised", "memory_contradicts_chip"),
        ("eighth", "fractional"),
        ("half", "fractional"),
        ("sixth", "memory_contradicts_chip"),
    ]
    assert price(prices, "a12") == [(0.80, False)]


@pytest.mark.parametrize("chip", ["h100-sxm-80", "case-a14"])
def test_a14_a_thousand_million_dollars_an_hour_is_no_price(prices: Query, chip: str) -> None:
    assert rejected(prices, "a14", chip) == [(1e9, "outside_plausible_band")]


def test_a14_a_price_that_rounds_to_nothing_is_refused(prices: Query) -> None:
    assert rejected(prices, "a14-tiny") == [(1e-7, "rounds_to_zero")]
    assert prices("select count(*) from mart.rental_price_daily where usd_per_gpu_hour <= 0") == [(0,)]


# the past is not repriced

RENTS = [  # value, first day, known, revision
    (1.78, "2026-07-01", "2026-07-31", "new"),
    (2.00, "2026-07-01", "2026-09-08", "correction"),
    (2.10, "2026-10-01", "2026-10-02", "new"),
]
AS_KNOWN = [  # day, asked at, rent
    ("2026-08-15", "2026-08-20", 1.78),
    ("2026-08-15", "2026-09-07", 1.78),
    ("2026-08-15", "2026-09-09", 2.00),
    ("2026-08-15", "2026-11-30", 2.00),
    ("2026-09-30", "2026-11-30", 2.00),
    ("2026-10-15", "2026-10-16", 2.10),
    ("2026-10-15", "2026-11-30", 2.10),
    ("2026-07-15", "2026-07-30", None),
]
# As one payload each, and as a typed file of which each version holds everything said so far.
CHIPS = {"h100-sxm-80": "payloads", "h200-sxm-141": "typed"}


@pytest.fixture(scope="module")
def rents(tmp_path_factory: pytest.TempPathFactory) -> Query:
    rows = []
    for number, (usd, on, known, revision) in enumerate(RENTS):
        rows += [published("own", "h100-sxm-80", usd, on, known, source="payloads", revision=revision)]
        for later in RENTS[number:]:
            more = {"source": "typed", "revision": revision, "recorded": later[2]}
            rows += [published("own", "h200-sxm-141", usd, on, known, **more)]
    return world(
        tmp_path_factory.mktemp("rents"),
        rows,
        marts=("mart.price_coverage", "mart.cost_per_million_tokens_daily"),
        seed_sources=["typed"],
        history=True,
    )


@pytest.mark.parametrize("flavour", ["as_known", "as_recorded"])
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize(("day", "asked_at", "usd"), AS_KNOWN)
def test_a16_a_corrected_rent_changes_no_answer_of_before(
    rents: Query, chip: str, flavour: str, day: str, asked_at: str, usd: float | None
) -> None:
    found = rents(
        f"select cast(usd_per_gpu_hour as double) from mart.price_coverage_{flavour}(?::timestamptz) "
        "where price_series_id = 'index:own:reserved:36m' and chip_id = ? and date = ?",
        f"{asked_at} 12:00:00+00",
        chip,
        day,
    )
    assert found == ([(usd,)] if usd else [])


def test_a16_costs_of_the_past_keep_the_rent_of_their_time(rents: Query) -> None:
    costs = {}
    for day, asked_at, usd in AS_KNOWN[:4] + AS_KNOWN[5:6]:
        found = rents(
            "select distinct cast(usd_per_gpu_hour as double) "
            "from mart.cost_per_million_tokens_daily_as_known(?::timestamptz) "
            "where price_series_id = 'index:own:reserved:36m' and chip_id = 'h100-sxm-80' and date = ? "
            "and usd_per_million_tokens is not null",
            f"{asked_at} 12:00:00+00",
            day,
        )
        costs[day, asked_at] = found
        assert found == [(usd,)]


def test_a16_nothing_is_lost(rents: Query) -> None:
    found = rents(
        "select cast(usd_per_gpu_hour as double), revision from core.rental_index_value "
        "where source = 'payloads' order by known_at"
    )
    assert found == [(usd, revision) for usd, _, _, revision in RENTS]
