"""What the rental index does with weights that a seed sets, and the blend of its segments, a diagnostic.

Every expected value is worked out by hand from the three votes that a provider casts: its price, and 3 % less
and more. FIVE, in order of value: 1.94, 2.00, 2.037, 2.06, 2.10, 2.134, 2.163, 2.20, 2.231, 2.266, 2.30,
2.328, 2.369, 2.40 and 2.472. What holds without weights stands in `test_index.py`.
"""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from price_world import FIRM, TODAY, Query, machines, quote, world
from test_index import FIVE, MARKET, MARTS, PROVIDERS, firms, value

from pipelines import run

BLEND = "mart.rental_index_blend_daily"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Query:
    """Cases without weights, a chip each; `cloud0` and so on are the other segment."""
    yesterday = "2026-11-29"
    rows = firms("case-one", FIVE) + firms("case-four", FIVE[:4])
    rows += firms("case-moves", FIVE, yesterday) + firms("case-moves", tuple(1.05 * p for p in FIVE))
    rows += firms("case-even", FIVE) + firms("case-even", (9.00,) * 5, name="cloud")
    rows += firms("case-uneven", FIVE) + firms("case-uneven", (9.00,) * 2, name="cloud")
    rows += firms("case-joins", FIVE, yesterday) + firms("case-joins", FIVE)
    rows += firms("case-joins", (9.00,) * 5, name="cloud")
    marts = (*MARTS, BLEND, "mart.price_series", "core.price_segment")
    return world(tmp_path_factory.mktemp("blend"), rows, PROVIDERS, marts=marts)


# Weights that a seed sets


FIVE_INDEX = 2.1988  # the middle third: 2.134, 2.163, 2.200, 2.231 and 2.266


def weighed(root: Path, chip: str, weights: dict[str, float], prices: tuple[float, ...] = FIVE) -> Query:
    """The index of one chip today, `firm0` and so on at `prices`, with these weights."""
    return world(root, firms(chip, prices), weights=weights, marts=MARTS)


@pytest.mark.parametrize("each", [1, 0.2, 7])
def test_equal_weights_are_no_weights(tmp_path: Path, index: Query, each: float) -> None:
    ask = weighed(tmp_path, "case-weights", {f"firm{n}": each for n in range(5)})
    assert value(ask, "case-weights") == value(index, "case-one") == (FIVE_INDEX, 5, None, None)
    assert ask("select distinct weight from mart.rental_index_vote where chip_id = 'case-weights'") == [
        (0.2,)
    ]


@pytest.mark.parametrize(
    ("weights", "usd", "band", "shares"),
    [
        # firm0 weighs 3 of 7 and casts 1.94, 2.00 and 2.06 of 1 each; all others cast thirds. Cumulative:
        # 1.94 to 1, 2.00 to 2, 2.037 to 7/3, 2.06 to 10/3, then 2.10, 2.134, 2.163 and 2.20 to 14/3.
        # Inside 7/3 to 14/3: (3 x 2.06 + 2.10 + 2.134 + 2.163 + 2.20) / 7. Quartiles at 1.75 and 5.25: 2.00
        # and 2.266.
        ({"firm0": 3}, 14.777 / 7, 2.266 - 2.111, (3 / 7, 1 / 7, 1 / 7, 1 / 7, 1 / 7)),
        # firm4 weighs 2 of 6 and casts 2.328 of 2/3 from 11/3 to 13/3, half of which lies below the edge at
        # 4: 2.163, 2.20, 2.231, 2.266, 2.30 and that half. Quartiles at 1.5 and 4.5: 2.10, 2.369.
        ({"firm4": 2}, 13.488 / 6, 2.248 - 2.100, (1 / 6, 1 / 6, 1 / 6, 1 / 6, 2 / 6)),
        # A weight that is not set is 1, whatever the others are.
        ({f"firm{n}": 0.5 for n in range(4)}, 13.488 / 6, 2.248 - 2.100, (1 / 6, 1 / 6, 1 / 6, 1 / 6, 2 / 6)),
    ],
    ids=["firm0 three", "firm4 two", "all others a half"],
)
def test_an_uneven_weight_shifts_the_index(
    tmp_path: Path, weights: dict[str, float], usd: float, band: float, shares: tuple[float, ...]
) -> None:
    ask = weighed(tmp_path, "case-weights", weights)
    assert value(ask, "case-weights")[:3] == (pytest.approx(usd, abs=1e-6), 5, None)
    ((found,),) = ask("select band_usd_per_gpu_hour from mart.rental_index_daily")
    assert found == pytest.approx(band, abs=1e-6)
    found = ask("select weight from mart.rental_index_vote order by provider_id")
    assert [share for (share,) in found] == [pytest.approx(share, rel=1e-12) for share in shares]


def test_a_weight_is_shared_by_counted_and_carried_votes_and_not_by_those_held_out(tmp_path: Path) -> None:
    rows = [*firms("case-weights", FIVE), quote("case-weights", "late", 2.00, "2026-11-29")]
    rows += machines("case-weights", "market", 2.00, "h1", 3)
    weights = {"late": 4, "market": 90, "absent": 90}
    ask = world(tmp_path, rows, {"market": MARKET, "absent": FIRM}, weights=weights, marts=MARTS)
    found = ask(
        "select provider_id, status, weight from mart.rental_index_vote where date = ? order by 1", TODAY
    )
    ninth = pytest.approx(1 / 9, rel=1e-12)
    assert found == [
        *[(f"firm{n}", "counted", ninth) for n in range(5)],
        ("late", "carried", pytest.approx(4 / 9, rel=1e-12)),
        ("market", "too_few_machines", None),
    ]


@pytest.mark.parametrize(
    ("method", "version", "provider"),
    [("index", "v1", "nobody"), ("indx", "v1", "firm0"), ("index", "v9", "firm0")],
)
def test_a_weight_of_nobody_or_of_no_method_is_found(
    tmp_path: Path, method: str, version: str, provider: str
) -> None:
    check = (Path(run.__file__).parents[1] / "sql" / "checks" / "vote_weight_is_known.sql").read_text("utf-8")
    ask = weighed(tmp_path, "case-weights", {"firm0": 2})
    assert ask(check) == []
    with duckdb.connect() as connection:
        connection.execute("create schema raw")
        connection.execute("create table raw.provider as select 'firm0' as provider_id")
        connection.execute("create table raw.method_parameter as select 'index' as method, 'v1' as version")
        connection.execute(
            "create table raw.vote_weight as select $1 as method, $2 as version, $3 as provider_id",
            [method, version, provider],
        )
        assert connection.execute(check).fetchall() == [(provider, method, version)]


# The blend of segments


def blend(index: Query, chip: str, day: str = TODAY) -> tuple:
    """Blend, fresh votes, reason, change of the matched panel."""
    ((usd, providers, reason, change, index_id, diagnostic),) = index(
        "select usd_per_gpu_hour, provider_count, null_reason, matched_panel_change, index_id, is_diagnostic "
        "from mart.rental_index_blend_daily where chip_id = ? and date = ? and price_type = 'on_demand'",
        chip,
        day,
    )
    assert (index_id, diagnostic) == ("tokenyield:on_demand:blend", True)
    return None if usd is None else float(usd), providers, reason, change


def test_the_blend_weighs_provider_by_provider_over_all_segments(index: Query) -> None:
    # Thirty votes of a third each, the middle third from the eleventh to the twentieth: of the specialists
    # 2.30, 2.328, 2.369, 2.40 and 2.472, of the hyperscalers five of 8.73 (9.00 less 3 %).
    assert blend(index, "case-even")[:3] == (pytest.approx((11.869 + 5 * 8.73) / 10, abs=1e-6), 10, None)
    # Twenty-one votes, the middle third from the eighth to the fourteenth: 2.20, 2.231, 2.266, 2.30, 2.328,
    # 2.369 and 2.40. Were each segment a half, the two hyperscalers would lift it far above.
    assert blend(index, "case-uneven")[:3] == (pytest.approx(16.094 / 7, abs=1e-6), 7, None)
    assert value(index, "case-uneven", segment="hyperscaler")[:3] == (None, 2, "too_few_providers")


def test_the_blend_of_one_segment_is_its_index_and_has_the_same_minimum(index: Query) -> None:
    assert blend(index, "case-one") == value(index, "case-one") == (FIVE_INDEX, 5, None, None)
    assert blend(index, "case-moves")[3] == pytest.approx(0.05, abs=1e-9)
    assert blend(index, "case-four") == (None, 4, "too_few_providers", None)


def test_the_panel_of_the_blend_is_that_of_both_days(index: Query) -> None:
    # Five hyperscalers at 9.00 join: the level doubles and nobody has moved.
    assert blend(index, "case-joins", "2026-11-29")[0] == FIVE_INDEX
    usd, providers, _, change = blend(index, "case-joins")
    assert (usd, providers) == (pytest.approx((11.869 + 5 * 8.73) / 10, abs=1e-6), 10)
    assert change == pytest.approx(0, abs=1e-12)


def test_a_weight_weighs_in_the_blend_as_in_a_segment(tmp_path: Path) -> None:
    # As firm0 of three above, with firm3 and firm4 in the other segment.
    names = {"firm3": ("hyperscaler", "hyperscaler", None), "firm4": ("hyperscaler", "hyperscaler", None)}
    ask = world(
        tmp_path, firms("case-weights", FIVE), names, weights={"firm0": 3}, marts=(*MARTS, BLEND)
    )  # fmt: skip
    assert blend(ask, "case-weights")[:3] == (pytest.approx(14.777 / 7, abs=1e-6), 5, None)


def test_the_blend_is_in_no_published_index_and_no_price(index: Query) -> None:
    assert index("select distinct segment from mart.rental_index_daily order by 1") == [
        ("hyperscaler",),
        ("specialist",),
    ]
    assert index("select * from mart.rental_index_daily where index_id like '%blend%'") == []
    own = index("select distinct price_series_id from mart.price_series where price_basis = 'own_index'")
    assert ("index:tokenyield:on_demand:specialist",) in own
    assert not [name for (name,) in own if "blend" in name]
    for model in ("core.price_segment", "core.price_interval"):
        assert index(f"select * from {model} where price_series_id like '%blend%'") == []
