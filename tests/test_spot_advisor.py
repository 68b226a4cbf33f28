"""AWS's Spot Advisor beside the price list: a saving becomes our figure of spot, and never a price.

The list is the fixture of `aws_price_list`; its `spot_advisor.json` is written by hand in the true shape.
Every expected figure is list price x (100 - saving) / 100, by hand.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from price_world import FIRM, days, quote, world

from pipelines.http import Fetcher, FetchError, Limits
from pipelines.ingest import ImportRefused, import_file
from pipelines.snapshots import SnapshotStore
from pipelines.source import Parsed, Part, Snapshot, SourceError, all_sources, read

AWS = all_sources()["aws_price_list"]
FIXTURE = Path(__file__).parent / "fixtures" / "aws_price_list"
LIST = Part("index.csv", (FIXTURE / "payload.csv").read_bytes())
ADVICE = json.loads((FIXTURE / "spot_advisor.json").read_text("utf-8"))
AT = datetime(2026, 2, 10, 12, tzinfo=UTC)


def beside(advice: Any, listed: Part = LIST) -> Parsed:
    """Read the list with `advice`, a document or bytes, beside it."""
    body = advice if isinstance(advice, bytes) else json.dumps(advice).encode()
    parts = (listed, Part("spot-advisor-data.json", body))
    return read(AWS, Snapshot("aws_price_list", "x", "spot-us-east-1", parts, AT, AT))


def linux(**types: Any) -> dict[str, Any]:
    """The advisor's document with these Linux types of us-east-1 alone; `_` stands for the dot of a name."""
    named = {name.replace("_", "."): advice for name, advice in types.items()}
    return ADVICE | {"spot_advisor": {"us-east-1": {"Linux": named}}}


def refused(parsed: Parsed) -> list[tuple[str, str, str | None, str]]:
    return parsed.refused.select("verdict", "reason", "value", "locator").rows()


def test_the_fixture_is_read_exactly() -> None:
    parsed = beside(ADVICE)
    columns = (
        "offer_key", "gpu_count", "price", "currency", "price_unit", "price_type", "region", "derivation",
        "note", "observed_at",
    )  # fmt: skip
    mean = "the mean of a month over all zones"
    same = ("USD", "instance_hour", "spot", "us-east-1", "list_price_less_saving")
    assert parsed.rows["rental_quote"].select(columns).rows() == [
        # 0.20 less 73 %, 56 less 55 %, 21.50 less nothing.
        ("g6f.large", 0.125, Decimal("0.054"), *same,
         f"list price less 73 %, {mean}; interruption bucket 1: 5-10%", AT),
        ("p5.48xlarge", 8, Decimal("25.2"), *same,
         f"list price less 55 %, {mean}; interruption bucket 4: >20%", AT),
        ("trn1.32xlarge", 16, Decimal("21.5"), *same,
         f"list price less 0 %, {mean}; interruption bucket 0: <5%", AT),
    ]  # fmt: skip
    spot = "spot us-east-1 Linux"
    assert refused(parsed) == [
        ("not_applicable", "list_has_a_slice_of_its_own", None, "index.csv, 25 rows"),
        # The list gives no price that stands: two that differ, twelve GPUs for eight, none at all.
        ("rejected", "not_positive", "0E-10", f"{spot} g5.xlarge"),
        ("rejected", "no_on_demand_price", "60", f"{spot} g6.48xlarge"),
        ("rejected", "out_of_range", "100", f"{spot} g6.xlarge"),
        ("rejected", "wrong_type", "0.73", f"{spot} g6f.2xlarge"),
        ("rejected", "no_on_demand_price", "60", f"{spot} p4d.24xlarge"),
        ("rejected", "no_on_demand_price", "50", f"{spot} p6-b200.48xlarge"),
        ("rejected", "out_of_range", "7", f"{spot} p9.48xlarge"),
        ("not_applicable", "no_gpu", None, f"{spot}, 2 types"),
        ("not_applicable", "other_operating_system", None, "spot us-east-1 Windows, 2 types"),
        ("not_applicable", "other_region", None, "spot eu-west-1"),
    ]
    assert parsed.candidates == 14


@pytest.mark.parametrize("saving", [-1, 100, 101, 10**30], ids=str)
def test_a_saving_outside_of_0_to_99_is_refused(saving: int) -> None:
    parsed = beside(linux(p5_48xlarge={"s": saving, "r": 0}, g6_xlarge={"s": 99, "r": 0}))
    assert parsed.rows["rental_quote"].select("offer_key", "price").rows() == [
        ("g6.xlarge", Decimal("0.008"))
    ]
    assert refused(parsed)[1][:3] == ("rejected", "out_of_range", str(saving))


@pytest.mark.parametrize(
    "advice",
    [
        {"s": 0.55, "r": 0}, {"s": "55", "r": 0}, {"s": True, "r": 0}, {"s": None, "r": 0}, {"r": 0},
        {"s": 55, "r": "0"}, {"s": 55, "r": None}, {"s": 55, "r": 5}, {"s": 55, "r": -1}, {"s": 55},
        {"s": [55], "r": 0}, [55, 0], 55, None,
    ],
    ids=repr,
)  # fmt: skip
def test_a_saving_of_another_type_costs_its_type_alone(advice: Any) -> None:
    parsed = beside(linux(p5_48xlarge=advice, g6_xlarge={"s": 50, "r": 0}))
    assert parsed.rows["rental_quote"]["offer_key"].to_list() == ["g6.xlarge"]
    assert [verdict for verdict, *_ in refused(parsed)] == ["not_applicable", "rejected", "not_applicable"]


@pytest.mark.parametrize("wrong", [None, [], "Linux", 5], ids=repr)
def test_a_region_or_a_system_that_is_none_is_refused_by_name(wrong: Any) -> None:
    good = {"Linux": {"g6.xlarge": {"s": 50, "r": 0}}}
    for regions in ({"us-east-1": good | {"Windows": wrong}}, {"us-east-1": good, "eu-west-1": wrong}):
        parsed = beside(ADVICE | {"spot_advisor": regions})
        assert len(parsed.rows["rental_quote"]) == 1
        assert len(parsed.refused) == 3
    parsed = beside(ADVICE | {"spot_advisor": {"us-east-1": wrong}})
    assert refused(parsed)[1][:2] == ("rejected", "wrong_type")


def test_a_price_in_another_currency_has_no_saving() -> None:
    rows = LIST.body.replace(b'"56.0000000000","USD"', b'"400.0000000000","CNY"')
    parsed = beside(linux(p5_48xlarge={"s": 55, "r": 0}), Part("index.csv", rows))
    assert not parsed.rows
    assert refused(parsed)[1][:2] == ("rejected", "no_on_demand_price")


def test_a_type_of_no_gpu_family_is_ours_when_the_list_says_so() -> None:
    listed = Part("index.csv", LIST.body.replace(b"g6.xlarge", b"q1.xlarge"))
    parsed = beside(linux(q1_xlarge={"s": 50, "r": 0}), listed)
    assert parsed.rows["rental_quote"].select("offer_key", "price").rows() == [("q1.xlarge", Decimal("0.4"))]


@pytest.mark.parametrize(
    ("advice", "message"),
    [
        ({}, "spot_advisor"),
        ([], "spot_advisor"),
        (ADVICE | {"spot_advisor": {}}, "spot_advisor"),
        (ADVICE | {"ranges": {}}, "ranges"),
        (ADVICE | {"ranges": [{"index": "0", "label": "<5%"}]}, "ranges: index"),
        (ADVICE | {"ranges": [{"index": 0}]}, "ranges: label"),
        (ADVICE | {"ranges": [{"index": 0, "label": "a"}, {"index": 0, "label": "b"}]}, "stands twice"),
        (ADVICE | {"spot_advisor": {"eu-west-1": {"Linux": {}}}}, "none of its 1 regions"),
        (json.dumps(ADVICE).encode()[:-1], "not a whole JSON"),
        (b'{"ranges": [], "spot_advisor": {"us-east-1": {}, "us-east-1": {}}}', "duplicate key"),
        (b"<html><body>busy</body></html>", "HTML"),
        (b"", "JSON"),
        (LIST.body, "JSON"),
    ],
    ids=[
        "nothing", "a list", "no regions", "no ranges", "index as text", "no label", "an index twice",
        "another region", "cut", "a region twice", "a page", "empty", "the list again",
    ],
)  # fmt: skip
def test_what_is_not_the_advisor_s_file_is_refused_whole(advice: Any, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        beside(advice)


def test_a_list_that_is_none_is_refused_though_the_advice_is_good() -> None:
    for body in (b"", b"{}", b"<html></html>", LIST.body[: len(LIST.body) // 2]):
        with pytest.raises(SourceError):
            beside(ADVICE, Part("index.csv", body))
    with pytest.raises(SourceError, match="3 parts"):
        read(AWS, Snapshot("aws_price_list", "x", "all", (LIST, LIST, LIST), AT, AT))


def test_the_pair_proves_no_moment_and_the_list_alone_does() -> None:
    advisor = Part("a.json", json.dumps(ADVICE).encode())
    assert AWS.observed_at is not None
    assert AWS.observed_at((LIST, advisor)) is None
    assert AWS.observed_at((LIST,)) == datetime(2026, 2, 9, 20, 15, tzinfo=UTC)


def test_the_advisor_s_file_alone_is_refused_in_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "spot-advisor-data-2026-02-10.json"
    path.write_bytes(json.dumps(ADVICE).encode())
    store = SnapshotStore(tmp_path / "snapshots")
    with pytest.raises(
        ImportRefused, match=r"no prices by themselves .* import a region's index.csv"
    ) as raised:
        import_file(AWS, store, path)
    assert "\n" not in str(raised.value)
    assert store.sidecars() == []


def test_a_lost_advisor_costs_no_list(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(self: Fetcher, errand: Any, request: Any, name: str, room: int) -> Part:
        if "advisor" in request.url:
            raise FetchError("http_status", "answered 503", request.url)
        return Part(name, b"list")

    monkeypatch.setattr(Fetcher, "_fetch", answered)
    with Fetcher(Limits(min_interval_seconds=0)) as fetcher:
        found = list(fetcher.slices(AWS))
    *lists, lost = found
    assert len(lists) == 12
    assert not any(isinstance(each, FetchError) for each in lists)
    assert isinstance(lost, FetchError)
    assert lost.slice == "spot-us-east-1"


def test_a_derived_spot_figure_is_shown_with_how_it_came_about_and_is_nowhere_a_price(tmp_path: Path) -> None:
    derived = {"derivation": "list_price_less_saving", "price_type": "spot", "note": "less 55 %"}
    rows = [
        row
        for day in days(2)
        for n in range(5)
        for row in (
            quote("case-spot", f"firm{n}", "7.00", day),
            quote("case-spot", f"firm{n}", "3.15", day, offer_key="spot", **derived),
        )
    ]
    marts = (
        "mart.rental_price", "mart.rental_price_daily", "mart.rental_term", "mart.price_series",
        "mart.rental_index_daily", "mart.rental_index_vote", "mart.vanished_offer", "mart.evidence",
        "mart.rejected_row",
    )  # fmt: skip
    ask = world(tmp_path, rows, {f"firm{n}": FIRM for n in range(5)}, marts=marts)
    for mart in ("rental_price", "rental_price_daily", "rental_index_daily", "rental_index_vote"):
        kinds = ask(f"select distinct price_type from mart.{mart} where chip_id = 'case-spot'")
        assert kinds == [("on_demand",)], mart
    assert ask("select distinct spot_usd_per_gpu_hour from mart.rental_term where chip_id = 'case-spot'") == [
        (None,)
    ]
    assert ask("select * from mart.price_series where provider_id like 'firm%' and price_type = 'spot'") == []
    assert ask("select * from mart.vanished_offer where chip_id = 'case-spot'") == []
    assert ask("select * from mart.rejected_row where locator like '%case-spot%'") == []
    shown = ask(
        "select quotes.price_type, quotes.derivation, quotes.usd_per_gpu_hour, facts.evidence, facts.note, "
        "count(*) from core.rental_quote as quotes join mart.evidence as facts "
        "on facts.fact_kind = 'rental_quote' and facts.fact_id = quotes.quote_id "
        "where quotes.chip_id = 'case-spot' group by all order by 1"
    )
    assert shown == [
        ("on_demand", None, Decimal("7.00"), "listed", None, 10),
        ("spot", "list_price_less_saving", Decimal("3.15"), "derived", "less 55 %", 10),
    ]
