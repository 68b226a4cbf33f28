"""The rental index, method v1, from hand-made quotes to the index; every expected value by hand.

Each case has a chip of its own (see `price_world.py`), so that one build holds them all.
"""

from __future__ import annotations

import math
from typing import Any

import duckdb
import pytest
from price_world import TODAY, Query, days, look, machines, quote, world

from pipelines import run

MARTS = ("mart.rental_index_daily", "mart.rental_index_vote", "mart.rejected_row", "mart.rental_price_daily")
MARKET = ("marketplace", "specialist", None)
PROVIDERS = {
    "market": MARKET,
    "market2": MARKET,
    "reseller": ("reseller", "specialist", None),
    "aggregator": ("aggregator", "specialist", None),
    **{f"cloud{n}": ("hyperscaler", "hyperscaler", None) for n in range(5)},
}
FIVE = (2.00, 2.10, 2.20, 2.30, 2.40)


def firms(chip: str, prices: tuple[float, ...], at: str = TODAY, name: str = "firm", **changes: Any) -> list:
    """One quote each of as many providers as there are prices."""
    return [quote(chip, f"{name}{n}", usd, at, **changes) for n, usd in enumerate(prices)]


def cases() -> list:
    rows: list = []

    # Minimum and carried votes. The sources are looked at on the days of their quotes alone.
    rows += firms("case-two", (2.00, 3.00))
    rows += firms("case-four", FIVE[:4])
    rows += firms("case-five", FIVE)
    rows += firms("case-carried", (2.00,) * 5)
    rows += firms("case-carried-below", (2.00,) * 4)
    rows += [quote("case-carried", "late0", 3.00, "2026-11-28")]
    rows += [quote("case-carried-below", "late1", 2.00, "2026-11-29")]
    for day in days(5):
        rows += firms("case-limit", (2.00,) * 5, day)
    rows += [quote("case-limit", "late2", 3.00, "2026-11-26")]
    rows += firms("case-gone", (2.00,) * 5)
    rows += [quote("case-gone", "late3", 3.00, "2026-11-29"), quote("case-gone-else", "late3", 3.00)]

    # A marketplace.
    for chip in ("case-market", "case-flooded"):
        rows += firms(chip, FIVE)
        for host, usd in (("h1", 2.10), ("h2", 2.20), ("h3", 2.30)):
            rows += machines(chip, "market", usd, host, 2)
    rows += machines("case-flooded", "market", 1.10, "h4", 40)
    for host, usd, number in (("h1", 2.10, 2), ("h2", 2.20, 2), ("h3", 2.30, 2), ("h4", 5.00, 40)):
        rows += machines("case-dear", "market", usd, host, number)
    for n, host in enumerate(("h1", "h2", "h3", "h3")):  # four machines, each shown as 1, 2, 4 and 8 GPUs
        for gpus, usd in ((1, 3.00), (2, 2.80), (4, 2.60), (8, 2.00)):
            part = {"gpu_count": gpus, "machine_key": f"m{n}", "host_key": host}
            rows += [
                quote("case-slices", "market", usd, **part),
                quote("case-slices-five", "market", usd, **part),
            ]
    rows += machines("case-slices-five", "market", 2.00, "h4", 1)
    rows += machines("case-two-hosts", "market", 2.00, "h1", 3)
    rows += machines("case-two-hosts", "market", 2.00, "h2", 3)
    nameless = machines("case-no-keys", "market", 2.00, "x", 9, machine_key=None)
    rows += [*nameless, *machines("case-no-hosts", "market", 2.00, "x", 9, host_key=None)]

    # Who never votes.
    rows += firms("case-voters", FIVE)
    rows += [quote("case-voters", name, 1.00) for name in ("reseller", "aggregator", "typed")]
    rows += [
        quote("case-voters", "statistic", 1.00, derivation="ask_statistic"),
        quote("case-voters", "circular", 1.00, derivation="derived_from_token_price"),
        quote("case-voters", "soldout", 1.00, availability="unavailable"),
        quote("case-voters", "part", 1.00, listing_kind="component"),
        *[quote("case-voters", f"odd-{kind}", 1.00, price_type=kind) for kind in ODD_PRICE_TYPES],
        quote("case-voters", "listed", 2.50, availability="listed"),
        quote("case-voters", "small", 2.50, price_unit="instance_hour", gpu_count=1),
    ]

    # Own history: twenty days at 2.00, and today something else.
    moves = {
        "case-outlier": {"firm0": 3.00},
        "case-one-other": {"firm0": 3.00, "firm1": 2.20},
        "case-two-others": {"firm0": 3.00, "firm1": 2.20, "firm2": 2.30},
        "case-two-against": {"firm0": 3.00, "firm1": 1.80, "firm2": 1.80},
        "case-two-less": {"firm0": 3.00, "firm1": 2.19, "firm2": 2.19},
        "case-within": {"firm0": 2.17},
    }
    for chip, today in moves.items():
        for day in days(21):
            now = today if day == TODAY else {}
            rows += [quote(chip, f"firm{n}", now.get(f"firm{n}", 2.00), day) for n in range(6)]
    history = days(150)
    for n, day in enumerate(history):
        rows += [quote("case-shift", "firm0", 2.00 if n < 100 else 3.00, day)]
        rows += [quote("case-shift-down", "firm0", 3.00 if n < 100 else 1.50, day)]
        rows += [quote("case-short-shift", "firm0", 2.00 if n < 20 else 3.00, day)]
    # A source that was shut out does not stay out when it comes back to its own level.
    for n, day in enumerate(days(30)):
        rows += [quote("case-blip", "firm0", 9.00 if n in (20, 21) else 2.00, day)]

    # Standard deviations.
    for number in (9, 10, 11):
        for n, day in enumerate(days(number + 1)):
            usd = 2.00 if day == TODAY else (1.80, 2.20)[n % 2]
            rows += [quote(f"case-sd-{number}", "firm0", usd, day)]
    for n, day in enumerate(days(21)):
        rows += [quote("case-sd-narrow", "firm0", (1.99, 2.01)[n % 2], day)]
    rows += [quote("case-sd-window", "firm0", 2.00, day) for day in days(120)]

    # Panels.
    rows += firms("case-joins", FIVE, "2026-11-29") + firms("case-joins", (*FIVE, 1.00))
    for day in days(5):  # carried from the first day to the fourth
        rows += firms("case-leaves", (*FIVE, 1.00) if day == "2026-11-26" else FIVE, day)
    rows += firms("case-moves", FIVE, "2026-11-29") + firms("case-moves", tuple(1.05 * p for p in FIVE))

    # Kinds of capacity.
    rows += firms("case-segments", FIVE) + firms("case-segments", (9.00,) * 5, name="cloud")
    rows += firms("case-spot", FIVE)
    rows += [q for n in range(5) for q in [quote("case-spot", f"firm{n}", 0.50, price_type="spot")]]
    for months in (12, 36):
        rows += firms("case-terms", (15.0 / months,) * 5, price_type="reserved", commitment_months=months)
    for chip, usd in (("H100 SXM", 3.00), ("H100 PCIe", 2.00), ("H100 NVL", 2.50), ("NVIDIA H100", 1.00)):
        rows += firms(chip, (usd,) * 5)
    return rows


ODD_PRICE_TYPES = ("capacity_block", "from_floor", "bid_floor", "owning_cost")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Query:
    rows = cases()
    return world(tmp_path_factory.mktemp("index"), rows, PROVIDERS, marts=MARTS, seed_sources=["typed"])


def value(
    index: Query, chip: str, day: str = TODAY, kind: str = "on_demand", segment: str = "specialist"
) -> tuple:
    """Index, fresh votes, reason, change of the matched panel."""
    ((usd, providers, reason, change),) = index(
        "select usd_per_gpu_hour, provider_count, null_reason, matched_panel_change "
        "from mart.rental_index_daily where chip_id = ? and date = ? and price_type = ? and segment = ?",
        chip, day, kind, segment,
    )  # fmt: skip
    return None if usd is None else float(usd), providers, reason, change


def vote(index: Query, chip: str, provider: str, day: str = TODAY) -> tuple[Any, ...]:
    """Vote, status, whether it weighs."""
    ((usd, status, weight),) = index(
        "select usd_per_gpu_hour, status, weight from mart.rental_index_vote "
        "where chip_id = ? and provider_id = ? and date = ? and price_type = 'on_demand'",
        chip, provider, day,
    )  # fmt: skip
    assert weight is None or 0 < weight <= 1
    return usd, status, weight is not None


def statuses(index: Query, chip: str, provider: str = "firm0") -> list[str]:
    return [
        status
        for (status,) in index(
            "select status from mart.rental_index_vote where chip_id = ? and provider_id = ? "
            "and status <> 'carried' order by date",
            chip,
            provider,
        )
    ]


# The three examples, straight into the index model


FIVE_WEIGHTS, FIVE_SDS = (0.30, 0.25, 0.20, 0.15, 0.10), (0.20, 0.21, 0.20, 0.25, 0.45)


@pytest.mark.parametrize(
    ("weights", "prices", "sds", "usd", "band"),
    [
        (FIVE_WEIGHTS, (6.60, 6.75, 6.50, 7.20, 5.80), FIVE_SDS, 6.6425, 0.2425),
        (FIVE_WEIGHTS, (6.60, 6.75, 6.50, 9.36, 5.80), FIVE_SDS, 6.6425, None),
        # Dropping the votes that are cut gives 2.50, counting them whole 2.4621.
        ((0.40, 0.35, 0.25), (2.00, 2.60, 3.90), (0.10, 0.20, 0.30), 2.45, 0.45),
    ],
    ids=["worked example", "dearest repriced by 30 %", "cut votes"],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_the_index_of_given_votes(weights, prices, sds, usd, band, backwards) -> None:
    models = run.models()
    connection = duckdb.connect()
    connection.execute("create schema raw; create schema core")
    connection.execute(
        "create table raw.method_parameter as "
        "select 'index' as method, 'v1' as version, 'min_providers' as parameter, 3.0 as value"
    )
    connection.execute(
        "create table core.rental_vote (date date, chip_id varchar, price_type varchar, "
        "commitment_months bigint, segment varchar, provider_id varchar, usd_per_gpu_hour double, "
        "currency varchar, fx_usd_per_unit double, sd_usd_per_gpu_hour double, "
        "weight double, provider_weight double, status varchar)"
    )
    votes = list(enumerate(zip(prices, sds, weights, strict=True)))
    for number, figures in votes[::-1] if backwards else votes:
        connection.execute(
            "insert into core.rental_vote values "
            "('2026-11-30', 'chip', 'on_demand', null, 'specialist', ?, ?, 'USD', 1, ?, ?, ?, 'counted')",
            [f"p{number}", *figures, figures[-1]],
        )
    connection.execute(f"create table core.rental_index_level as {models['core.rental_index_level'].sql}")
    ((found, found_band),) = connection.execute(
        f"select usd_per_gpu_hour, band_usd_per_gpu_hour from ({models['core.rental_index_daily'].sql})"
    ).fetchall()
    assert float(found) == pytest.approx(usd, abs=1e-9)
    if band is not None:
        assert found_band == pytest.approx(band, abs=1e-9)


# Minimum and carried votes


@pytest.mark.parametrize(("chip", "providers"), [("case-two", 2), ("case-four", 4)])
def test_too_few_providers_have_no_index_and_a_reason(index: Query, chip: str, providers: int) -> None:
    assert value(index, chip) == (None, providers, "too_few_providers", None)


def test_five_providers_have_an_index(index: Query) -> None:
    # Votes at 3 % around 2.00, 2.10, 2.20, 2.30, 2.40 in order: 1.940 2.000 2.037 2.060 2.100 | 2.134 2.163
    # 2.200 2.231 2.266 | 2.300 ...: each weighs a fifteenth, so the middle third is the sixth to the tenth.
    usd, providers, reason, change = value(index, "case-five")
    assert usd == pytest.approx((2.134 + 2.163 + 2.200 + 2.231 + 2.266) / 5, abs=1e-6)
    assert (providers, reason, change) == (5, None, None)


def test_a_carried_vote_votes_and_does_not_count_towards_the_minimum(index: Query) -> None:
    # Eighteen votes: five of 1.94, of 2.00 and of 2.06, then 2.91, 3.00 and 3.09. The seventh to the twelfth
    # are four of 2.00 and two of 2.06. Without the carried provider it would be 2.00.
    assert value(index, "case-carried")[:3] == (pytest.approx((4 * 2.00 + 2 * 2.06) / 6, abs=1e-6), 5, None)
    assert vote(index, "case-carried", "late0") == (3.00, "carried", True)
    assert value(index, "case-carried-below")[:3] == (None, 4, "too_few_providers")
    assert vote(index, "case-carried-below", "late1") == (2.00, "carried", True)


def test_a_vote_is_carried_for_three_days(index: Query) -> None:
    found = index(
        "select cast(date as varchar), status, age_days from mart.rental_index_vote "
        "where chip_id = 'case-limit' and provider_id = 'late2' order by date"
    )
    assert found == [
        ("2026-11-26", "counted", 0),
        ("2026-11-27", "carried", 1),
        ("2026-11-28", "carried", 2),
        ("2026-11-29", "carried", 3),
    ]
    assert [value(index, "case-limit", day)[0] for day in days(5)] == [
        *(pytest.approx(2.02, abs=1e-6),) * 4,
        pytest.approx(2.00, abs=1e-6),
    ]


def test_a_chip_that_its_source_no_longer_shows_is_carried_and_marked(index: Query) -> None:
    # Gone, or under another name that nobody knows yet: its price ends, and its vote says that it is carried.
    assert vote(index, "case-gone", "late3") == (3.00, "carried", True)
    assert value(index, "case-gone")[1] == 5
    prices = index(
        "select cast(date as varchar) from mart.rental_price_daily "
        "where chip_id = 'case-gone' and provider_id = 'late3'"
    )
    assert prices == [("2026-11-29",)]


# Marketplaces


def test_one_host_with_forty_machines_at_half_price_moves_the_index_by_less_than_a_per_cent(
    index: Query,
) -> None:
    assert vote(index, "case-market", "market") == (pytest.approx(2.20), "counted", True)
    # The median over hosts of 1.10, 2.10, 2.20 and 2.30; over the 46 machines it would be 1.10.
    assert vote(index, "case-flooded", "market") == (pytest.approx(2.15), "counted", True)
    calm, flooded = value(index, "case-market")[0], value(index, "case-flooded")[0]
    assert calm != flooded
    assert abs(flooded / calm - 1) < 0.01


def test_one_host_with_forty_dear_machines_does_not_shut_the_others_out(index: Query) -> None:
    # The median over hosts of 2.10, 2.20, 2.30 and 5.00: what hosts ask is theirs, and none lacks its GPU.
    assert vote(index, "case-dear", "market") == (pytest.approx(2.25), "counted", True)


def test_slices_of_a_machine_count_once(index: Query) -> None:
    # Sixteen offers are four machines; the largest offer of each stands for it.
    assert vote(index, "case-slices", "market") == (pytest.approx(2.00), "too_few_machines", False)
    assert vote(index, "case-slices-five", "market") == (pytest.approx(2.00), "counted", True)


@pytest.mark.parametrize(
    ("chip", "reason"),
    [
        ("case-two-hosts", "too_few_hosts"),
        ("case-no-hosts", "too_few_hosts"),
        ("case-no-keys", "too_few_machines"),
    ],
)
def test_a_marketplace_of_two_hosts_or_of_no_known_ones_is_held_out(
    index: Query, chip: str, reason: str
) -> None:
    assert vote(index, chip, "market") == (pytest.approx(2.00), reason, False)
    assert value(index, chip)[:3] == (None, 0, "too_few_providers")


# Who votes


def test_resellers_typed_facts_statistics_and_stock_that_is_not_there_never_vote(index: Query) -> None:
    found = index(
        "select provider_id, status, partial_node, listed_only from mart.rental_index_vote "
        "where chip_id = 'case-voters' and date = ? order by provider_id",
        TODAY,
    )
    assert found == [
        *[(f"firm{n}", "counted", False, False) for n in range(5)],
        ("listed", "counted", False, True),
        ("small", "counted", True, False),
    ]
    # They are kept where prices are listed; only what is no price of a machine is refused, by name.
    listed = index("select distinct provider_id from mart.rental_price_daily where chip_id = 'case-voters'")
    assert {"reseller", "aggregator", "typed"} <= {name for (name,) in listed}
    assert {name for (name,) in listed}.isdisjoint({"statistic", "circular", "soldout", "part"})
    refused = index(
        "select source, reason from mart.rejected_row where source in ('circular', 'part') order by 1"
    )
    assert refused == [("circular", "derived_from_token_price"), ("part", "component")]


def test_a_floor_or_a_block_makes_no_index(index: Query) -> None:
    kinds = index("select distinct price_type from mart.rental_index_daily order by 1")
    assert kinds == [("on_demand",), ("reserved",), ("spot",)]


# Own history


@pytest.mark.parametrize(
    ("chip", "usd", "status", "counted"),
    [
        ("case-outlier", 3.00, "own_history_outlier", 5),
        # Three times 3 % of 2.00 is 0.18: a lone move of ten per cent is held out itself.
        ("case-one-other", 3.00, "own_history_outlier", 4),
        ("case-two-against", 3.00, "own_history_outlier", 3),
        ("case-two-less", 3.00, "own_history_outlier", 3),
        ("case-two-others", 3.00, "counted", 6),
        ("case-within", 2.17, "counted", 6),
    ],
)
def test_a_jump_counts_when_two_others_move_ten_per_cent_the_same_way(
    index: Query, chip: str, usd: float, status: str, counted: int
) -> None:
    assert vote(index, chip, "firm0") == (usd, status, status == "counted")
    assert value(index, chip)[1] == counted


def test_a_vote_held_out_is_not_in_the_index(index: Query) -> None:
    assert value(index, "case-outlier")[0] == pytest.approx(2.00, abs=1e-6)


@pytest.mark.parametrize(
    ("chip", "held"), [("case-shift", 18), ("case-shift-down", 18), ("case-short-shift", 6)]
)
def test_a_level_that_persists_is_let_in(index: Query, chip: str, held: int) -> None:
    """A shift is let in once it fills a tenth of the window twice over: 18 days after 90, 6 after 20."""
    found = statuses(index, chip)
    out = [n for n, status in enumerate(found) if status != "counted"]
    start = 20 if "short" in chip else 100
    assert out == list(range(start, start + held))
    assert len(out) <= 30


def test_a_blip_does_not_shut_its_provider_out(index: Query) -> None:
    assert [n for n, status in enumerate(statuses(index, "case-blip")) if status != "counted"] == [20, 21]


# Standard deviations


@pytest.mark.parametrize(
    ("chip", "history", "sd"),
    [
        ("case-sd-9", 9, 0.06),
        # Ten votes at 0.20 from their mean of 2.00: the root of 10 x 0.04 / 9.
        ("case-sd-10", 10, math.sqrt(10 * 0.04 / 9)),
        # Eleven, six of them of one side: squares about the mean are 11 x 0.04 x (1 - 1/121), over 10.
        ("case-sd-11", 11, math.sqrt(11 * 0.04 * (1 - 1 / 121) / 10)),
        ("case-sd-narrow", 20, 0.03 * 1.99),
        ("case-sd-window", 90, 0.06),
    ],
)
def test_the_spread_of_a_vote(index: Query, chip: str, history: int, sd: float) -> None:
    ((votes, found),) = index(
        "select history_votes, sd_usd_per_gpu_hour from mart.rental_index_vote "
        "where chip_id = ? and date = ?",
        chip,
        TODAY,
    )
    assert votes == history
    assert found == pytest.approx(sd, rel=1e-12)


# Panels


@pytest.mark.parametrize("chip", ["case-joins", "case-leaves"])
def test_who_joins_or_leaves_moves_the_level_and_not_the_panel(index: Query, chip: str) -> None:
    before, after = value(index, chip, "2026-11-29"), value(index, chip)
    assert abs(after[0] / before[0] - 1) > 0.01
    assert after[3] == pytest.approx(0, abs=1e-12)


def test_a_move_of_everybody_is_the_move_of_the_panel(index: Query) -> None:
    assert value(index, "case-moves")[3] == pytest.approx(0.05, abs=1e-9)


# Kinds of capacity


def test_segments_are_apart(index: Query) -> None:
    assert value(index, "case-segments")[:2] == (value(index, "case-five")[0], 5)
    assert value(index, "case-segments", segment="hyperscaler")[:2] == (pytest.approx(9.00), 5)


def test_spot_and_terms_are_apart(index: Query) -> None:
    assert value(index, "case-spot")[:2] == (value(index, "case-five")[0], 5)
    assert value(index, "case-spot", kind="spot")[:2] == (pytest.approx(0.50), 5)
    found = index(
        "select commitment_months, cast(usd_per_gpu_hour as double), index_id from mart.rental_index_daily "
        "where chip_id = 'case-terms' and date = ? order by 1",
        TODAY,
    )
    assert found == [
        (12, 1.25, "tokenyield:reserved:12m:specialist"),
        (36, pytest.approx(15 / 36, abs=1e-6), "tokenyield:reserved:36m:specialist"),
    ]


def test_forms_of_a_chip_are_apart_and_a_name_without_form_is_in_none(index: Query) -> None:
    found = index(
        "select chip_id, cast(usd_per_gpu_hour as double), provider_count from mart.rental_index_daily "
        "where chip_id like 'h100%' and date = ? order by 1",
        TODAY,
    )
    assert found == [
        ("h100-nvl-94", 2.5, 5),
        ("h100-pcie-80", 2.0, 5),
        ("h100-sxm-80", 3.0, 5),
        ("h100-unknown-80", 1.0, 5),
    ]


# The own index as a price


@pytest.mark.parametrize(("last", "is_fresh"), [("2026-11-23", True), ("2026-11-22", False)])
def test_the_headline_stands_on_the_own_index_for_seven_days(tmp_path, last: str, is_fresh: bool) -> None:
    own = "index:tokenyield:on_demand:specialist"
    rows = firms("h100-sxm-80", (2.00,) * 5, last)
    marts = ("mart.headline", "mart.price_coverage", "mart.cost_per_million_tokens")
    ask = world(tmp_path, rows, marts=marts)
    bases = ask("select distinct price_series_id from mart.headline")
    assert bases == [(own if is_fresh else "index:savrn_ai_index:on_demand",)]
    found = ask(
        "select status, cast(usd_per_gpu_hour as double), price_age_days from mart.price_coverage "
        "where chip_id = 'h100-sxm-80' and price_series_id = ? and date >= ? order by date",
        own,
        last,
    )
    assert found[:8] == [("priced", 2.0, age) for age in range(8)]
    assert found[8:] == ([] if is_fresh else [("stale_price", None, None)])
    # Costs stand on it from its day on, in both cases.
    costs = ask(
        "select distinct cast(usd_per_gpu_hour as double) from mart.cost_per_million_tokens "
        "where price_series_id = ? and usd_per_million_tokens is not null",
        own,
    )
    assert costs == [(2.0,)]


def test_without_an_own_index_there_is_no_series_of_it(tmp_path) -> None:
    ask = world(tmp_path, [*firms("h100-sxm-80", FIVE[:4]), look("firm5", TODAY)], marts=("mart.headline",))
    assert ask("select count(*) from core.price_series where price_basis = 'own_index'") == [(0,)]
    assert ask("select distinct price_series_id from mart.headline") == [("index:savrn_ai_index:on_demand",)]
