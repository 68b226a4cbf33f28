"""A floor and a statistic are kept as facts, and are neither a price that a cost stands on nor an offer."""

from __future__ import annotations

from pathlib import Path

from tests.price_world import FIRM, quote, world

MARTS = ("mart.rental_price", "mart.price_series")


def test_a_floor_is_no_price_series_and_a_statistic_is_no_offer(tmp_path: Path) -> None:
    rows = [
        quote("case-floor", "anyfirm", "3.75", price_type="from_floor"),
        quote("case-floor", "anyfirm", "0.01", price_type="bid_floor", offer_key="bid"),
        quote("case-asks", "otherfirm", "1.60", derivation="ask_statistic"),
        quote("case-real", "thirdfirm", "2.50"),
    ]
    providers = {"anyfirm": FIRM, "otherfirm": FIRM, "thirdfirm": FIRM}
    ask = world(tmp_path, rows, providers, marts=MARTS)
    firms = "provider_id in ('anyfirm', 'otherfirm', 'thirdfirm')"
    assert ask(f"select price_series_id from mart.price_series where {firms}") == [
        ("provider:thirdfirm:on_demand",)
    ]
    offers = ask(f"select chip_id, price_type from mart.rental_price where {firms} order by 1, 2")
    assert offers == [("case-floor", "bid_floor"), ("case-floor", "from_floor"), ("case-real", "on_demand")]
    assert ask("select count(*) from core.rental_quote where chip_id like 'case-%'") == [(4,)]
