"""What readers of JSON and frames do to rows in silence, and what must come of it: C-02 to C-04, C-06, C-13.

Belongs here: payloads that go the whole way, from their bytes into the tables. Does not belong here: time
(`test_fault_cases_c.py`), files and processes (`test_fault_cases_c_files.py`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from bench_world import point, priced
from faults.fault_report import Report
from misbehaving_server import MisbehavingServer
from price_world import _needed as needed
from price_world import world

from pipelines import answers, raw, sql_build
from pipelines.decode import strict_json
from pipelines.home import SEEDS
from pipelines.http import Fetcher, FetchError, Limits
from pipelines.snapshots import SnapshotStore
from pipelines.source import (
    Accepted,
    NotApplicable,
    Part,
    Provider,
    Request,
    Snapshot,
    Source,
    SourceError,
)
from pipelines.warehouse import Warehouse

pytestmark = pytest.mark.slow

AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)


def offers(snapshot: Snapshot) -> Iterator[Accepted | NotApplicable]:
    """A list of offers, each with a price as it stands there, and perhaps a spot price."""
    document = strict_json(snapshot.parts[0].body)
    if not isinstance(document, list) or not document:
        raise SourceError("no list of offers")
    for number, offer in enumerate(document):
        for key, price_type in (("price", "on_demand"), ("spot_price", "spot")):
            if key not in offer:
                yield NotApplicable("rental_quote", "not_offered", f"{number}.{key}")
                continue
            row = {
                "provider": snapshot.source, "offer_key": f"offer {number}", "raw_gpu_name": "H100 SXM",
                "price": offer[key], "currency": "USD", "price_unit": "instance_hour", "gpu_count": 8,
                "price_type": price_type, "availability": "available", "listing_kind": "bundle",
                "raw_memory_gb": offer.get("memory_gb"), "observed_at": snapshot.observed_at,
            }  # fmt: skip
            yield Accepted("rental_quote", row, f"{number}.{key}")


def cloud(slug: str, url: str = "") -> Source:
    """A made-up provider that is a source of its own."""
    return Source(
        kind="rental", title=slug, homepage="", licence="made up", passes_on=True, cadence="daily",
        source_rank=10, max_age_days=7, parse=offers, slug=slug,
        requests=(lambda: [Request(url)]) if url else None,
        providers=(Provider(slug, slug, "neocloud", "specialist"),),
    )  # fmt: skip


def landed(folder: Path, body: str) -> Warehouse:
    """A warehouse whose `raw` holds what one payload of offers says."""
    store, warehouse = SnapshotStore(folder / "snapshots"), Warehouse(folder / "warehouse.duckdb")
    facts = raw.store_seeds(store, SEEDS, AS_OF - timedelta(days=9))
    store.add("cloud", (Part("offers.json", body.encode()),), observed_at=AS_OF, recorded_at=AS_OF)
    with warehouse.write() as connection:
        raw.load(connection, store, {**facts, "cloud": cloud("cloud")}, AS_OF)
    return warehouse


def asked(warehouse: Warehouse, query: str) -> list[tuple[Any, ...]]:
    with warehouse.read() as connection:
        return connection.execute(query).fetchall()


def test_c02_a_price_with_cents_behind_20480_whole_ones_keeps_them(tmp_path: Path, report: Report) -> None:
    body = "[" + '{"price": 2}, ' * 20_480 + '{"price": 2.49}, {"price": true}]'
    warehouse = landed(tmp_path, body)
    told = asked(warehouse, "select price, count(*) from raw.rental_quote where source = 'cloud' group by 1")
    assert sorted(told) == [(Decimal(2), 20_480), (Decimal("2.49"), 1)]
    assert asked(
        warehouse,
        "select reason, value from raw.refused_candidate where source = 'cloud' and verdict = 'rejected'",
    ) == [("wrong_type", "True")]
    report(
        "a column looks like whole numbers for a long time",
        "20,480 offers of 2, then 2.49, then a true in the place of a price",
        "2.49 to the cent; the true is refused with its reason",
        {Decimal(2), Decimal("2.49")} - {price for price, _ in told},
    )


def test_c03_a_key_that_comes_late_is_there(tmp_path: Path, report: Report) -> None:
    plain, late = '{"price": 2}', '{"price": 2, "spot_price": 1.25, "memory_gb": 80}'
    warehouse = landed(tmp_path, f"[{', '.join([plain] * 120 + [late] * 30)}]")
    told = asked(
        warehouse,
        "select price_type, count(*), count(raw_memory_gb) from raw.rental_quote "
        "where source = 'cloud' group by all order by all",
    )
    assert told == [("on_demand", 150, 30), ("spot", 30, 30)]
    assert asked(
        warehouse,
        "select candidates, accepted, rejected, not_applicable from raw.snapshot where source = 'cloud'",
    ) == [(300, 180, 0, 120)]
    report(
        "a key comes for the first time after many rows without it",
        "150 offers, of which the last 30 have a spot price and a memory",
        "30 spot prices and 30 memories; the 120 that offer no spot are counted",
        range(told[1][1], 30),
    )


def test_c04_a_frame_is_never_left_to_guess(tmp_path: Path, report: Report) -> None:
    prices = [*["2"] * 100, "2.49", '"2.49"', "true"]
    body = ", ".join('{"price": ' + price + "}" for price in prices)
    warehouse = landed(tmp_path, f"[{body}]")
    told = asked(
        warehouse, "select price, count(*) from raw.rental_quote where source = 'cloud' group by 1 order by 1"
    )
    assert told == [(Decimal(2), 100), (Decimal("2.49"), 1)]
    assert asked(
        warehouse,
        "select locator, reason, field, value from raw.refused_candidate "
        "where source = 'cloud' and verdict = 'rejected' order by row_number",
    ) == [("101.price", "wrong_type", "price", "2.49"), ("102.price", "wrong_type", "price", "True")]
    report(
        "values of several types stand in one column",
        "100 prices of 2, then 2.49, the text 2.49 and a true",
        "2.49 to the cent; text and true are refused, each with its reason",
        {Decimal(2), Decimal("2.49")} - {price for price, _ in told},
    )


GOOD = "select price from raw.rental_quote where source = 'cloud' and price = 2"


def no_constant(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")


@pytest.mark.slow
def test_c06_what_is_not_finite_gets_in_nowhere_and_out_nowhere(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], report: Report
) -> None:
    body = '[{"price": 2}, {"price": NaN}, {"price": Infinity}, {"price": -Infinity}, {"price": 1e400}]'
    warehouse = landed(tmp_path / "raw", body)
    assert asked(warehouse, "select price from raw.rental_quote where source = 'cloud'") == [(Decimal(2),)]
    assert asked(
        warehouse,
        "select reason, count(*) from raw.refused_candidate "
        "where source = 'cloud' and verdict = 'rejected' group by 1 order by 1",
    ) == [("not_finite", 4)]

    # A throughput of nothing makes no row, and a point without one no cost.
    with pytest.raises(ValueError, match="output_tok_s: not_positive: 0"):
        world(tmp_path / "zero", [point("case-c06", "2026-10-01", output_tok_s=0)], marts=["mart.chip"])
    without = {"output_tok_s": None, "interactivity_tok_s_user": 50}
    rows = [priced("case-c06", "2.50"), point("case-c06", "2026-10-01", **without)]
    ask = world(tmp_path / "none", rows, marts=["mart.cost_per_million_tokens"])
    costs = ask("select usd_per_million_tokens from mart.cost_per_million_tokens where chip_id = 'case-c06'")
    assert [cost for (cost,) in costs if cost is not None] == []

    names = ["usd_per_million_tokens", "usd_per_gpu_hour", "chip_id"]
    answers.print_rows(names, ask(f"select {', '.join(names)} from mart.cost_per_million_tokens"), "json")
    told = json.loads(capsys.readouterr().out, parse_constant=no_constant)
    assert sum(row["chip_id"] == "case-c06" for row in told) == len(costs) > 0
    report(
        "NaN and Infinity in a payload, and a throughput of 0",
        "four prices that are not finite beside a good one; a point of 0 and one of no tokens per second",
        "the four are refused with reasons; no cost where no throughput is, and JSON that says null",
        {"the good price"} - {"the good price" for _ in asked(warehouse, GOOD)},
    )


# C-13: one provider breaks none of the others

FIRST, SECOND = AS_OF - timedelta(days=1), AS_OF
CLOUDS = [f"cloud{number}" for number in range(6)]


@pytest.mark.slow
def test_c13_three_of_six_sources_fail_and_the_index_asks_for_its_minimum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Report
) -> None:
    store, warehouse = SnapshotStore(tmp_path / "snapshots"), Warehouse(tmp_path / "warehouse.duckdb")
    facts = raw.store_seeds(store, SEEDS, FIRST - timedelta(days=9))
    limits = Limits(attempts=1, min_interval_seconds=0)
    lost: dict[str, str] = {}
    with MisbehavingServer() as server, Fetcher(limits, loopback_http=True) as fetcher:
        good = server.url("/given?body=" + quote('[{"price": 16.00}]'))
        bad = {
            "cloud3": server.url("/broken"),
            "cloud4": server.url("/page-called-json"),
            "cloud5": server.url("/given?body=[]"),
        }
        for at, urls in ((FIRST, {}), (SECOND, bad)):
            for slug in CLOUDS:
                (found,) = fetcher.slices(cloud(slug, urls.get(slug, good)))
                if isinstance(found, FetchError):
                    lost[slug] = found.reason
                else:
                    store.add(slug, found.parts, observed_at=at, recorded_at=at, slice_name=found.name)
    assert lost == {"cloud3": "http_status", "cloud4": "html_in_place_of_data"}

    # What is passed as a fact is typed, and never votes.
    monkeypatch.setattr(raw.source, "all_sources", lambda: {slug: cloud(slug) for slug in CLOUDS})
    models = needed(["mart.rental_index_daily", "mart.rental_index_vote", "mart.source_health"])
    found_at = {}
    for minimum in (3, 4):
        with warehouse.write() as connection:
            raw.load(connection, store, facts, AS_OF)
            connection.execute(
                "update raw.method_parameter set value = ? "
                "where method = 'index' and parameter = 'min_providers'",
                [minimum],
            )
            sql_build.build(connection, models)
        ((usd, fresh, reason),) = asked(
            warehouse,
            "select cast(usd_per_gpu_hour as double), provider_count, null_reason "
            "from mart.rental_index_daily where chip_id = 'h100-sxm-80' and price_type = 'on_demand' "
            "and segment = 'specialist' and date = date '2026-11-30'",
        )
        found_at[minimum] = (usd, fresh, reason)
    assert found_at == {3: (2.0, 3, None), 4: (None, 3, "too_few_providers")}
    votes = asked(
        warehouse,
        "select source, status, age_days from mart.rental_index_vote where date = date '2026-11-30' "
        "and chip_id = 'h100-sxm-80' order by source",
    )
    assert votes == [
        *[(slug, "counted", 0) for slug in CLOUDS[:3]],
        *[(slug, "carried", 1) for slug in CLOUDS[3:]],
    ]
    assert asked(
        warehouse,
        "select source, status from mart.snapshot_health where source = 'cloud5' order by observed_at",
    ) == [("cloud5", "loaded"), ("cloud5", "refused")]
    report(
        "three of six sources fail on one day",
        "one answers 500, one an HTML page, one an empty list",
        "three fresh votes and three carried ones of the day before; the index stands at a minimum of 3 and "
        "is NULL (too_few_providers) at 4",
        set(CLOUDS) - {slug for slug, *_ in votes},
    )
