"""A price deck by day: how long a price stands, whose it is, and what is not pieced together."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from price_world import Query, Row, look, moment, world

from pipelines import run
from pipelines.home import Home

MARTS = ("mart.token_price_daily", "mart.revenue_per_gpu_hour", "mart.cost_per_request", "core.token_deck")
FLASH = "DeepSeek-V4.1-Flash"


def card(provider: str, usd: str, at: str, kind: str = "output", **changes: Any) -> Row:
    """One price of a million tokens, seen and in force on `at`; its source is named like its provider."""
    seen = moment(at)
    source, part = changes.pop("source", provider), changes.pop("slice", "all")
    values = {
        "provider": provider, "raw_model_name": FLASH, "tier": "standard", "token_kind": kind,
        "price": Decimal(usd), "currency": "USD", "effective_from": seen,
    }  # fmt: skip
    changes = {
        key: moment(value) if key.endswith(("_from", "_at")) else value for key, value in changes.items()
    }
    return Row("token_price", source, seen, seen, values | changes, part)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    rows = [
        # Seen on three days, unchanged, changed, and then never again: sources of a test hold seven days.
        *(card("steady", "0.50", day) for day in ("2026-11-01", "2026-11-03")),
        card("steady", "0.40", "2026-11-05"),
        # Away from a price and back to it.
        card("swing", "0.50", "2026-11-26"),
        card("swing", "0.40", "2026-11-27"),
        card("swing", "0.50", "2026-11-28"),
        # Listed once, and at the next look no longer.
        card("gone", "0.50", "2026-11-20"),
        look("gone", "2026-11-22"),
        # Two prices of one kind in one list.
        card("torn", "0.50", "2026-11-29"),
        card("torn", "0.70", "2026-11-29"),
        card("torn", "0.10", "2026-11-29", "input"),
        # Twice a day: the last look counts, and a later payload of the same day replaces the first.
        card("twice", "0.50", "2026-11-29T06:00:00+00:00"),
        card("twice", "0.60", "2026-11-29T18:00:00+00:00"),
        # Listed in the morning and not in the evening.
        card("brief", "0.50", "2026-11-28"),
        card("brief", "0.50", "2026-11-29T06:00:00+00:00"),
        look("brief", "2026-11-29T18:00:00+00:00"),
        # Announced for a day to come: changed once before it, and once taken back.
        card("herald", "0.50", "2026-11-24"),
        card("herald", "0.30", "2026-11-26", effective_from="2026-11-29", slice="news"),
        card("herald", "0.32", "2026-11-27", effective_from="2026-11-29", slice="news"),
        card("herald", "0.20", "2026-11-27", effective_from="2026-12-02", slice="news"),
        card("fickle", "0.50", "2026-11-24"),
        card("fickle", "0.30", "2026-11-26", effective_from="2026-11-29", slice="news"),
        look("fickle", "2026-11-27", slice="news"),
        # Typed, and mended later: the day that it holds for is the same.
        card("typed", "0.50", "2026-11-20", known_at=moment("2026-11-20")),
        card("typed", "0.55", "2026-11-20", known_at=moment("2026-11-22")),
    ]  # fmt: skip
    return world(tmp_path_factory.mktemp("decks"), rows, marts=MARTS, seed_sources=["typed"])


def shown(ask: Query, provider: str, kind: str = "output") -> list[tuple[Any, ...]]:
    """Stretches of equal price of a provider, as (first day, last day, price)."""
    found: list[tuple[Any, ...]] = []
    for day, usd in ask(
        "select date, usd_per_million_tokens from mart.token_price_daily "
        "where provider_id = ? and token_kind = ? order by date",
        *(provider, kind),
    ):
        if found and found[-1][2] == usd and (day - found[-1][1]).days == 1:
            found[-1] = (found[-1][0], day, usd)
        else:
            found.append((day, day, usd))
    return found


def november(day: int) -> date:
    return date(2026, 11, day)


def test_a_price_stands_until_the_next_and_no_longer_than_its_source_s_limit(tables: Query) -> None:
    assert shown(tables, "steady") == [
        (november(1), november(4), Decimal("0.50")),
        (november(5), november(12), Decimal("0.40")),
    ]
    assert tables(
        "select date, age_days, effective_from from mart.token_price_daily where provider_id = 'steady' "
        "and date in (date '2026-11-04', date '2026-11-12') order by date"
    ) == [(november(4), 1, november(3)), (november(12), 7, november(5))]


def test_unchanged_days_are_one_stretch_of_a_deck(tables: Query) -> None:
    assert tables(
        "select valid_from, valid_to, output_usd_per_million_tokens, input_usd_per_million_tokens "
        "from core.token_deck where provider_id = 'steady' order by valid_from"
    ) == [
        (november(1), november(5), Decimal("0.50"), None),
        (november(5), november(13), Decimal("0.40"), None),
    ]


def test_a_price_that_comes_back_is_a_stretch_of_its_own(tables: Query) -> None:
    assert tables(
        "select valid_from, valid_to, output_usd_per_million_tokens "
        "from core.token_deck where provider_id = 'swing' order by valid_from"
    ) == [
        (november(26), november(27), Decimal("0.50")),
        (november(27), november(28), Decimal("0.40")),
        (november(28), None, Decimal("0.50")),
    ]


def test_what_the_next_look_no_longer_lists_is_gone(tables: Query) -> None:
    assert shown(tables, "gone") == [(november(20), november(21), Decimal("0.50"))]
    assert shown(tables, "brief") == [(november(28), november(28), Decimal("0.50"))]


def test_two_prices_at_once_are_none(tables: Query) -> None:
    assert shown(tables, "torn") == [(november(29), november(30), None)]
    assert tables(
        "select distinct token_kind, null_reason from mart.token_price_daily "
        "where provider_id = 'torn' order by 1"
    ) == [("input", None), ("output", "conflicting_prices")]
    assert tables(
        "select distinct workload_id, usd_per_request, null_reason from mart.cost_per_request "
        "where provider_id = 'torn' and workload_id in ('agentx', 'fixed-8192-1024') order by 1"
    ) == [("agentx", None, "no_cached_input_price"), ("fixed-8192-1024", None, "no_output_price")]


def test_the_last_look_of_a_day_counts(tables: Query) -> None:
    assert shown(tables, "twice") == [(november(29), november(30), Decimal("0.60"))]


def test_an_announced_price_waits_for_its_day(tables: Query) -> None:
    assert shown(tables, "herald") == [
        (november(24), november(28), Decimal("0.50")),
        (november(29), november(30), Decimal("0.32")),
    ]
    assert shown(tables, "fickle") == [(november(24), november(30), Decimal("0.50"))]


def test_a_typed_price_that_was_mended_stands_as_mended(tables: Query) -> None:
    assert shown(tables, "typed") == [(november(20), november(27), Decimal("0.55"))]


def test_a_deck_comes_from_one_source(tmp_path: Path) -> None:
    """The best-ranked source of a tier stands with what it lists; another's price fills no gap in it."""
    rows = [
        # Typed prices of DeepSeek rank 50 and a test's sources 10: this one outranks them for its days.
        card("deepseek", "0.61", "2026-11-29", tier="off_peak", source="fetched"),
        card("deepseek", "0.16", "2026-11-29", "input", tier="off_peak", source="fetched"),
    ]  # fmt: skip
    ask = world(tmp_path, rows, marts=MARTS)
    decks = ask(
        "select valid_from, source, input_usd_per_million_tokens, cached_input_usd_per_million_tokens, "
        "output_usd_per_million_tokens from core.token_deck where tier = 'off_peak' order by valid_from"
    )
    assert decks == [
        (date(2026, 10, 20), "deepseek", Decimal("0.15"), Decimal("0.003"), Decimal("0.60")),
        (november(29), "fetched", Decimal("0.16"), None, Decimal("0.61")),
    ]
    # Mostly cached traffic has no revenue on a deck without a price for it; output alone has.
    assert ask(
        "select distinct point_label, gpu_scope, deck_effective_from, "
        "round(revenue_usd_per_gpu_hour, 4), null_reason from mart.revenue_per_gpu_hour "
        "where tier = 'off_peak' and point_label in ('agentx-954k', 'ep64-241') "
        "and gpu_scope = case point_label when 'ep64-241' then 'decode' else 'all' end order by 1, 3"
    ) == [
        ("agentx-954k", "all", date(2026, 10, 20), 32.9487, None),
        ("agentx-954k", "all", november(29), None, "no_cached_input_price"),
        ("ep64-241", "decode", date(2026, 10, 20), 31.2466, None),  # 14466 x 0.0036 x 0.60
        ("ep64-241", "decode", november(29), 31.7673, None),  # 14466 x 0.0036 x 0.61
    ]


@pytest.mark.slow
def test_a_deck_that_may_not_be_passed_on_leaves_no_trace_in_the_published_copy(tmp_path: Path) -> None:
    name = {"raw_model_name": "deepseek/deepseek-v4.1-flash"}
    rows = [
        card("openrouter", usd, "2026-11-29", kind, **name)
        for kind, usd in [("input", "0.17"), ("cached_input", "0.004"), ("output", "0.66")]
    ]
    ask = world(tmp_path, rows, history=True)
    home = Home(tmp_path)
    run.publish(home)
    with duckdb.connect(str(home.current_database), read_only=True) as published:
        published.execute("set TimeZone = 'UTC'")
        for mart in ("token_price_daily", "revenue_per_gpu_hour", "cost_per_request"):
            sql = f"select count(*), count(*) filter (where provider_id = 'openrouter') from mart.{mart}"
            ((_, ours),) = ask(sql)
            assert ours > 0, mart
            moments = ["", "_as_known(timestamptz '2026-11-30 12:00:00+00')", "_as_recorded(now())"]
            for moment_asked in moments:
                kept, withheld = published.execute(f"{sql}{moment_asked}").fetchall()[0]
                assert kept > 0, (mart, moment_asked)
                assert withheld == 0, (mart, moment_asked)


def test_a_kind_of_which_a_request_has_none_needs_no_price(tmp_path: Path) -> None:
    # Two decks name one price each, and one names both: requests of output alone, and of input alone.
    rows = [
        card("writer", "0.50", "2026-11-29"),
        card("reader", "0.10", "2026-11-29", "input"),
        card("both", "0.50", "2026-11-29"),
        card("both", "0.10", "2026-11-29", "input"),
    ]
    ask = world(tmp_path, rows, marts=MARTS, history=True)
    sql = (
        "select provider_id, usd_per_request * 1e6, null_reason from mart.cost_per_request_with(?, 0, ?) "
        "where provider_id in ('writer', 'reader', 'both') order by 1"
    )
    assert ask(sql, 0, 1000) == [
        ("both", pytest.approx(500), None),
        ("reader", None, "no_output_price"),
        ("writer", pytest.approx(500), None),
    ]
    assert ask(sql, 1000, 0) == [
        ("both", pytest.approx(100), None),
        ("reader", pytest.approx(100), None),
        ("writer", None, "no_input_price"),
    ]
