"""Who sells a model's tokens: names of other sellers resolve, and their prices are not the developer's."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from price_world import Query, Row, moment, world


def sold(source: str, provider: str, name: str, usd: str, at: str = "2026-10-01") -> Row:
    """One price of a million output tokens, in force since it was seen."""
    seen = moment(at)
    values = {
        "provider": provider, "raw_model_name": name, "tier": "standard", "token_kind": "output",
        "price": Decimal(usd), "currency": "USD", "effective_from": seen,
    }  # fmt: skip
    return Row("token_price", source, seen, seen, values)


def prices_shown(ask: Query) -> list[tuple]:
    return ask("select distinct output_usd_per_million_tokens from mart.assumed_cost order by 1")


def test_a_host_s_price_is_kept_and_is_not_the_developer_s(tmp_path: Path) -> None:
    # Newer than DeepSeek's own deck of 20 October, and lower than its 0.60.
    rows = [
        sold("openrouter", "openrouter", "deepseek/deepseek-v4.1-flash", "0.11", "2026-10-21"),
        sold(
            "litellm_prices", "deepinfra", "deepinfra/deepseek-ai/DeepSeek-V4.1-Flash", "0.12", "2026-10-21"
        ),
        sold("litellm_prices", "deepseek", "deepseek/deepseek-flash", "0.13", "2026-10-21"),
    ]
    marts = ("mart.assumed_cost", "core.token_price", "clean.unmapped_name")
    ask = world(tmp_path / "with", rows, marts=marts)
    without = world(tmp_path / "without", [], marts=marts)
    assert prices_shown(ask) == prices_shown(without)
    assert (Decimal("0.600000"),) in prices_shown(ask)
    kept = ask(
        "select provider_id, usd_per_million_tokens from core.token_price "
        "where model_id = 'deepseek-v4.1-flash' and source in ('openrouter', 'litellm_prices') order by 1"
    )
    assert kept == [("deepinfra", Decimal("0.12")), ("openrouter", Decimal("0.11"))]
    # A name that a person looked at and left says so.
    left = ask("select raw_name, matched_by from clean.unmapped_name where raw_name like '%flash%'")
    assert left == [("deepseek/deepseek-flash", "refused")]
