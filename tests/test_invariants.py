"""What holds for prices whatever comes in: random rows, in random order, in random batches, in any time zone.

Row accounting, finiteness, idempotence, order, the recorded past, no mixing and the clock. Conservation of
money, scale and the inverse check are about benchmarks and stand in `test_money.py`; loading one payload
twice, and payloads in another order, in `test_raw.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from price_world import AS_OF, TODAY, Query, Row, days, moment, quote, world

from pipelines import run, sql_build
from pipelines.contracts import RENTAL_QUOTE
from pipelines.home import PROJECT, Home

MARTS = (
    "mart.rental_index_daily",
    "mart.rental_index_vote",
    "mart.rental_price_daily",
    "mart.rental_price",
    "mart.rental_index_blend_daily",
    "mart.rejected_row",
    "mart.snapshot_health",
    "clean.unmapped_name",
)
PRICES = MARTS[:4]
PROVIDERS = {
    "cloud": ("hyperscaler", "hyperscaler", "r1"),
    "market": ("marketplace", "specialist", None),
    "reseller": ("reseller", None, None),
    **{f"firm{n}": ("neocloud", "specialist", None) for n in range(5)},
}
CHIPS = ("h100-sxm-80", "H100 PCIe", "NVIDIA H100", "case-any", "a name that nobody knows")
# Every example is a build of its own: few of them, many rows in each, and no shrinking.
few = settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def allowed(column: str) -> st.SearchStrategy[str]:
    return st.sampled_from(RENTAL_QUOTE.column(column).allowed)


def or_none(values: Iterable[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from([None, None, *values])


amounts = st.one_of(
    st.sampled_from([Decimal(text) for text in ("2", "2.49", "0.3", "16", "0.0000001", "100000000")]),
    st.decimals("0.5", "30", places=6),
)


@st.composite
def quotes(draw: st.DrawFn) -> Row:
    """A quote that fits the contract; sound or not."""
    price_type = draw(st.one_of(st.just("on_demand"), allowed("price_type")))
    provider = draw(st.sampled_from([*PROVIDERS]))
    changes = {
        "price": draw(amounts),
        "offer_key": draw(st.sampled_from(["small", "large", "other"])),
        "price_type": price_type,
        "commitment_months": draw(st.sampled_from([12, 36])) if price_type == "reserved" else None,
        "price_unit": draw(st.one_of(st.just("gpu_hour"), allowed("price_unit"))),
        "term_hours": draw(or_none([720, 8760])),
        "gpu_count": draw(or_none([0.125, 1, 2, 8, 8, 12, 16])),
        "raw_memory_gb": draw(or_none([80, 10])),
        "currency": draw(st.sampled_from(["USD", "USD", "EUR", "XXX"])),
        "region": draw(or_none(["r1", "r2"])),
        "availability": draw(allowed("availability")),
        "listing_kind": draw(st.sampled_from(["bundle", "bundle", "bundle", "component"])),
        "derivation": draw(or_none(["ask_statistic", "list_price_less_saving", "derived_from_token_price"])),
        "machine_key": draw(or_none(["m1", "m2", "m3"])),
        "host_key": draw(or_none(["h1", "h2"])),
    }
    at = draw(st.sampled_from(days(5)))
    source = draw(st.sampled_from([provider, "catalogue"]))
    return quote(draw(st.sampled_from(CHIPS)), provider, 1, at, source=source, **changes)


payloads = st.lists(quotes(), min_size=20, max_size=50)


def rate(day: str, usd: float, recorded: str) -> Row:
    """What a euro was worth."""
    values = {"rate_date": moment(day).date(), "base_currency": "EUR", "currency": "USD", "rate": usd}
    return Row("fx_rate", "rates", moment(recorded), moment(recorded), values)


RATES = [rate(day, 1.25, day) for day in days(8)]


def asked(query: Query, marts: Iterable[str], without: str = "") -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the marts, in an order of their own."""
    return {
        mart: sorted(query(f"select * {f'exclude ({without})' if without else ''} from {mart}"), key=repr)
        for mart in marts
    }


def build(rows: list[Row], tmp_path_factory: pytest.TempPathFactory, **more: Any) -> Query:
    folder = tmp_path_factory.mktemp("any")
    return world(folder, rows, PROVIDERS, **{"marts": MARTS, **more})


@few
@given(rows=payloads)
def test_every_row_is_accounted_for_and_no_price_is_odd_or_of_another_kind(rows, tmp_path_factory) -> None:
    query = build([*rows, *RATES], tmp_path_factory)

    # Rows in = accepted + rejected, payload by payload, each rejection with its reason.
    health = query(
        "select source, candidates, accepted, rejected from mart.snapshot_health "
        "where source in ('catalogue', 'cloud', 'market', 'reseller') or source like 'firm%'"
    )
    assert sum(candidates for _, candidates, _, _ in health) == len(rows)
    assert all(candidates == accepted + rejected for _, candidates, accepted, rejected in health)
    ((refused, reasoned),) = query(
        "select count(*), count(nullif(reason, '')) from mart.rejected_row where kind = 'rental_quote'"
    )
    assert refused == reasoned == sum(rejected for *_, rejected in health)
    # What is accepted is a fact, or has a name that shows as unknown.
    ((facts,),) = query("select count(*) from core.rental_quote where not is_seed")
    ((unknown,),) = query(
        "select count(*) from clean.rental_quote as quotes inner join clean.unmapped_name as names "
        "on names.domain = 'chip' and quotes.source = names.source and quotes.raw_gpu_name = names.raw_name "
        "where quotes.reject_reason is null and quotes.chip_id is null"
    )
    assert facts + unknown == sum(accepted for _, _, accepted, _ in health)

    # Finite and positive, in every column that is a number.
    for mart in PRICES:
        for column in ("usd_per_gpu_hour", "sd_usd_per_gpu_hour", "band_usd_per_gpu_hour", "weight"):
            if query(
                "select 1 from duckdb_columns() "
                "where schema_name || '.' || table_name = ? and column_name = ?",
                mart,
                column,
            ):
                low = ">= 0" if column.startswith("band") else "> 0"
                odd = f"{column} is not null and not (isfinite({column}::double) and {column} {low})"
                assert query(f"select * from {mart} where {odd}") == []

    # A price is that of its quote: of one chip, provider, price type and term, in dollars.
    kinds = ("chip_id", "provider_id", "price_type", "commitment_months")
    same = " and ".join(f"quotes.{kind} is not distinct from prices.{kind}" for kind in kinds)
    worth = "quotes.price * case quotes.currency when 'USD' then 1 when 'EUR' then 1.25 end"
    divisor = (
        "case quotes.price_unit when 'gpu_hour' then 1 when 'instance_hour' then quotes.gpu_count "
        "else quotes.gpu_count * quotes.term_hours end"
    )
    for mart in ("mart.rental_price_daily", "mart.rental_index_vote"):
        strange = query(
            f"select prices.* from {mart} as prices left join clean.rental_quote as quotes "
            "on prices.quote_id = quotes.source || '/' || quotes.snapshot_id || '/' || quotes.row_number "
            "where prices.quote_id is not null "
            "and prices.source not in (select source from raw.source where is_seed) "
            f"and ({same} and quotes.reject_reason is null and quotes.derivation is null "
            "and quotes.listing_kind = 'bundle' and quotes.availability <> 'unavailable' "
            f"and abs({worth} / {divisor} - prices.usd_per_gpu_hour) < 1e-6) is not true"
        )
        assert strange == []
    mixed = query(
        "select votes.* from mart.rental_index_vote as votes inner join raw.provider as providers "
        "on votes.provider_id = providers.provider_id where votes.segment <> providers.segment "
        "or providers.provider_class not in ('hyperscaler', 'neocloud', 'marketplace') "
        "or votes.price_type not in ('on_demand', 'spot', 'reserved')"
    )
    assert mixed == []


@pytest.mark.slow
@few
@given(rows=payloads, seed=st.integers(0, 2**32))
def test_the_order_of_rows_changes_nothing(rows, seed, tmp_path_factory) -> None:
    straight = build([*rows, *RATES], tmp_path_factory)
    laid_down_otherwise = build([*rows, *RATES], tmp_path_factory, shuffle=seed)
    assert asked(straight, MARTS) == asked(laid_down_otherwise, MARTS)
    # In the payload itself, too: then the numbers of the rows change, and nothing else.
    backwards = build([*RATES, *rows[::-1]], tmp_path_factory)
    for mart, numbers in {
        "mart.rental_index_daily": "",
        "mart.rental_index_vote": "quote_id",
        "mart.rental_price_daily": "quote_id",
        "mart.snapshot_health": "",
        "mart.rejected_row": "row_number",
    }.items():
        assert asked(straight, [mart], numbers) == asked(backwards, [mart], numbers), mart


@few
@given(rows=payloads)
def test_the_same_payload_seen_again_on_its_day_changes_no_price(rows, tmp_path_factory) -> None:
    def again(row: Row) -> Row:
        later = row.seen + timedelta(hours=5)
        return replace(row, seen=later, recorded=later, values={**row.values, "observed_at": later})

    once = build([*rows, *RATES], tmp_path_factory)
    twice = build([*rows, *map(again, rows), *RATES], tmp_path_factory)
    looks = "quote_id, observed_at"
    for mart, without in (
        ("mart.rental_index_daily", ""),
        ("mart.rental_index_vote", looks),
        ("mart.rental_price_daily", looks),
    ):
        assert asked(once, [mart], without) == asked(twice, [mart], without), mart


# The recorded past

BATCHES = ("2026-11-25T12:00:00+00:00", "2026-11-27T12:00:00+00:00", "2026-11-29T12:00:00+00:00")


@pytest.mark.slow
@settings(few, max_examples=3)
@given(batches=st.lists(st.lists(quotes(), min_size=8, max_size=25), min_size=3, max_size=3))
def test_what_was_recorded_never_changes_whatever_is_loaded_later(batches, tmp_path_factory) -> None:
    stored = [rate(day, 1.25, "2026-11-24") for day in days(10, "2026-11-24")]
    for rows, recorded in zip(batches, BATCHES, strict=True):
        # Seen by then, and stored at once or long after: an archive is loaded late.
        stored += [replace(row, recorded=moment(recorded)) for row in rows if row.seen < moment(recorded)]
    everything = build(stored, tmp_path_factory, marts=PRICES, history=True)
    for recorded in BATCHES[:2]:
        by_then = [row for row in stored if row.recorded <= moment(recorded)]
        then = build(by_then, tmp_path_factory, marts=PRICES, as_of=moment(recorded))
        answers = asked(everything, [f"{mart}_as_recorded('{recorded}')" for mart in PRICES])
        assert list(answers.values()) == list(asked(then, PRICES).values())


def test_a_rate_that_is_stored_later_changes_no_recorded_answer(tmp_path_factory) -> None:
    euros = [
        quote("case-any", name, 2, "2026-11-24", currency="EUR", source=name) for name in ("firm0", "firm1")
    ]
    known = rate("2026-11-20", 1.25, "2026-11-23")
    for later in (rate("2026-11-24", 1.50, "2026-11-28"), rate("2026-11-20", 1.50, "2026-11-28")):
        before = build([*euros, known], tmp_path_factory, marts=PRICES, history=True)
        after = build([*euros, known, later], tmp_path_factory, marts=PRICES, history=True)
        past = ["mart.rental_price_daily_as_recorded('2026-11-25 12:00:00+00')"]
        (rows,) = asked(before, past).values()
        assert len([row for row in rows if "case-any" in row]) == 4  # two days of two providers
        assert asked(after, past) == asked(before, past)


# The clock

# The instants of one day and the next: 23:30 in New York is the next day, 00:30 in Berlin the one before.
INSTANTS = {
    "firm0": ("2026-11-28T23:30:00-05:00", date(2026, 11, 29)),
    "firm1": ("2026-11-28T23:30:00+00:00", date(2026, 11, 28)),
    "firm2": ("2026-11-29T00:30:00+01:00", date(2026, 11, 28)),
    "firm3": ("2026-11-29T04:00:00+05:30", date(2026, 11, 28)),
}
ZONES = ("Asia/Kolkata", "America/New_York", "Europe/Berlin")


def told_in_utc(tmp_path: Path) -> tuple[Query, list[tuple[Any, ...]]]:
    rows = [
        quote("case-any", name, 2, datetime.fromisoformat(text).astimezone(UTC))
        for name, (text, _) in INSTANTS.items()
    ]
    query = world(tmp_path, rows, PROVIDERS, marts=PRICES, history=True)
    return query, query(DATES)


DATES = (
    "select 'vote', provider_id, min(date), max(date) from mart.rental_index_vote "
    "where chip_id = 'case-any' group by 2 union all "
    "select 'price', provider_id, min(date), max(date) from mart.rental_price_daily "
    "where chip_id = 'case-any' group by 2 union all "
    "select 'known', provider_id, min(date), max(date) "
    "from mart.rental_price_daily_as_known('2026-11-29 23:30:00-05:00') "
    "where chip_id = 'case-any' group by 2 order by all"
)


def expected_dates() -> list[tuple[Any, ...]]:
    as_of = date.fromisoformat(TODAY)
    found = []
    for name, (_, day) in INSTANTS.items():
        found.append(("vote", name, day, min(as_of, day + timedelta(days=3))))
        found += [(what, name, day, as_of) for what in ("price", "known")]
    return sorted(found)


def test_dates_are_those_of_utc(tmp_path: Path) -> None:
    assert told_in_utc(tmp_path)[1] == expected_dates()


@pytest.mark.parametrize("zone", ZONES)
def test_the_zone_of_the_session_changes_no_date(tmp_path: Path, zone: str) -> None:
    told_in_utc(tmp_path)
    tables = "select schema_name || '.' || table_name from duckdb_tables() where schema_name <> 'raw'"
    with duckdb.connect(str(Home(tmp_path).warehouse)) as connection:
        connection.execute(f"set TimeZone = '{zone}'")
        made = {name for (name,) in connection.execute(tables).fetchall()}
        sql_build.build(connection, {name: model for name, model in run.models().items() if name in made})
        assert connection.execute(DATES).fetchall() == expected_dates()


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import test_invariants as here
assert here.told_in_utc(Path(sys.argv[1]))[1] == here.expected_dates()
"""


@pytest.mark.slow
@pytest.mark.parametrize("zone", ZONES)
def test_the_zone_of_the_host_changes_no_date(tmp_path: Path, zone: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env={**os.environ, "TZ": zone},
    )
    assert done.returncode == 0, done.stderr


def test_the_day_of_a_run_is_that_of_its_as_of(tmp_path: Path) -> None:
    """Half past eleven at night in New York is the next day's run."""
    for number, (as_of, last) in enumerate(
        [(AS_OF.replace(hour=23, minute=59), date(2026, 11, 30)), (AS_OF.replace(hour=0), date(2026, 11, 30))]
    ):
        rows = [quote("case-any", "firm0", 2, "2026-11-28")]
        query = world(tmp_path / str(number), rows, PROVIDERS, as_of=as_of, marts=PRICES)
        assert query("select max(date) from mart.rental_price_daily where chip_id = 'case-any'") == [(last,)]
