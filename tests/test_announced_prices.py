"""A price that is announced for a later day stands from that day, and not one day earlier."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from tests.price_world import FIRM, quote, world

FROM_THE_20TH = {"effective_from": datetime(2026, 11, 20, tzinfo=UTC)}


def test_an_announced_price_stands_from_its_day_and_not_before(tmp_path: Path) -> None:
    rows = [
        quote("case-announced", "anyfirm", "7.15", at="2026-11-17"),
        quote("case-announced", "anyfirm", "8.50", at="2026-11-17", **FROM_THE_20TH),
    ]
    ask = world(tmp_path, rows, {"anyfirm": FIRM}, marts=("mart.rental_price_daily",))
    found = ask(
        "select cast(date as varchar), usd_per_gpu_hour from mart.rental_price_daily "
        "where chip_id = 'case-announced' and date between '2026-11-17' and '2026-11-22' order by date"
    )
    assert found == [
        ("2026-11-17", Decimal("7.15")),
        ("2026-11-18", Decimal("7.15")),
        ("2026-11-19", Decimal("7.15")),
        ("2026-11-20", Decimal("8.50")),
        ("2026-11-21", Decimal("8.50")),
        ("2026-11-22", Decimal("8.50")),
    ]


def test_an_announcement_that_was_taken_back_does_not_stand(tmp_path: Path) -> None:
    rows = [
        quote("case-withdrawn", "anyfirm", "7.15", at="2026-11-17"),
        quote("case-withdrawn", "anyfirm", "8.50", at="2026-11-17", **FROM_THE_20TH),
        quote("case-withdrawn", "anyfirm", "7.15", at="2026-11-20"),
    ]
    ask = world(tmp_path, rows, {"anyfirm": FIRM}, marts=("mart.rental_price_daily",))
    on_the_20th = "select usd_per_gpu_hour from mart.rental_price_daily where date = '2026-11-20'"
    assert ask(f"{on_the_20th} and chip_id = 'case-withdrawn'") == [(Decimal("7.15"),)]
