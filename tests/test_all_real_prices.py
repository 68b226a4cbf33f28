"""Every real price file that we have, through import, load and models: nothing breaks, all is accounted for.

Slow: some seventy payloads. Skips visibly where the files are absent.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from pipelines import ingest, run
from pipelines.home import Home
from pipelines.ingest import ImportRefused
from pipelines.snapshots import SnapshotStore
from pipelines.source import PERMISSION_VARIABLE, all_sources
from pipelines.warehouse import Warehouse
from tests.conftest import AS_OF, SHARED_DATA, Query

pytestmark = pytest.mark.slow

COMPLETE = {"complete": True}
# source, files below rental/, the moment where nothing proves one, and what a person states beside them.
FILES = [
    ("gcp_machine_prices", "gcp_cyclenerd_pricing_yml/*.yml.gz", None, {}),
    ("oci_price_list", "oci_opencost/oci_products_*.json", None, {}),
    ("skypilot_catalog", "skypilot_catalog/*.csv*", None, {}),
    ("skypilot_catalog", "vast_skypilot_v9/*.csv", datetime(2026, 8, 20, tzinfo=UTC), {}),
    ("azure_retail", "azure_retail_mrmonroe90/*.json", None, {}),
    ("runpod", "runpod_jumbo2020/*.json", None, {}),
    ("ecb_fx", "eu_cloud_prices_mixxor/ecb_rates_*.json", None, {}),
    ("eu_cloud_prices", "eu_cloud_prices_mixxor/[!e]*.json", None, {}),
    ("verda", "gpuhunt_fixtures/verda_instance_types.json", datetime(2026, 8, 19, tzinfo=UTC), {}),
    ("vultr", "gpuhunt_fixtures/vultr_v2_plans*.json", datetime(2026, 8, 19, tzinfo=UTC), COMPLETE),
    ("jarvislabs", "gpuhunt_fixtures/jarvislabs_server_meta.json", datetime(2026, 8, 19, tzinfo=UTC), {}),
    ("seeweb", "gpuhunt_fixtures/seeweb_plans.json", datetime(2026, 8, 19, tzinfo=UTC), {}),
    ("gcp_tpu_prices", "gpuhunt_fixtures/tpu_pricing.json", datetime(2026, 8, 19, tzinfo=UTC), {}),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> SnapshotStore:
    if not SHARED_DATA.is_dir():
        pytest.skip(f"no real payloads at {SHARED_DATA}; set TOKENYIELD_SHARED_DATA")
    return SnapshotStore(Home(tmp_path_factory.mktemp("prices")).snapshots)


@pytest.fixture(scope="module")
def prices(store: SnapshotStore) -> Iterator[Query]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PERMISSION_VARIABLE, "runpod")
        for slug, pattern, stated, context in FILES:
            paths = sorted((SHARED_DATA / "rental").glob(pattern))
            assert paths, pattern
            for path in paths:
                ingest.import_file(all_sources()[slug], store, path, stated, context)
        home = Home(store.root.parent)
        run.load(home, AS_OF)
        run.build(home)
    with Warehouse(home.warehouse).read() as connection:
        yield lambda sql, *values: connection.execute(sql, list(values)).fetchall()


def test_every_payload_is_loaded_and_every_candidate_accounted_for(prices: Query) -> None:
    assert prices("select distinct status from mart.snapshot_health") == [("loaded",)]
    assert prices("select count(*) from mart.snapshot_health")[0][0] > 60
    broken = "select * from mart.snapshot_health where candidates <> accepted + rejected + not_applicable"
    assert prices(broken) == []
    assert prices("select count(*) from mart.rejected_row where reason is null or locator = ''") == [(0,)]


def test_no_accepted_price_lies_outside_its_band(prices: Query) -> None:
    assert (
        prices(
            """
            select quotes.quote_id, quotes.usd_per_gpu_hour
            from core.rental_quote as quotes
            inner join raw.price_band as bands
                on quotes.chip_id = bands.chip_id
                and bands.price_type = case
                    when quotes.price_type = 'spot' then 'spot' else '*'
                end
            where quotes.usd_per_gpu_hour < bands.low_usd_per_gpu_hour
                or quotes.usd_per_gpu_hour > bands.high_usd_per_gpu_hour
            """
        )
        == []
    )
    assert prices("select count(*) from core.rental_quote where usd_per_gpu_hour > 100") == [(0,)]


def test_azure_term_totals_are_hours_of_a_machine(prices: Query) -> None:
    found = prices(
        """
        select commitment_months, round(price / term_hours, 2), price_usd_per_gpu_hour
        from clean.rental_quote
        where source = 'azure_retail' and price_type = 'reserved'
        order by commitment_months
        """
    )
    assert [(months, float(usd)) for months, usd, _ in found] == [(12, 62.92), (36, 43.16)]
    # 551221 / 8760 / 8 and 1134310 / 26280 / 8
    assert [usd for *_, usd in found] == [Decimal("7.865596"), Decimal("5.395310")]


def test_a_placeholder_of_a_chip_that_is_not_sold_there_is_no_price(prices: Query) -> None:
    assert (
        prices(
            "select * from clean.rental_quote "
            "where source = 'runpod' and chip_id = 'b200-sxm-180' and price_usd_per_gpu_hour = 0.5"
        )
        == []
    )
    assert prices("select count(*) from core.rental_quote where source = 'runpod'")[0][0] > 0


def test_euro_prices_are_worth_what_the_euro_was_worth(prices: Query) -> None:
    # 1 EUR bought 1.1534 USD on 2026-08-13; the lists of May lie more than seven days from any rate.
    stated = prices(
        "select distinct fx_usd_per_unit from clean.rental_quote "
        "where currency = 'EUR' and reject_reason is null"
    )
    assert [round(rate, 4) for (rate,) in stated] == [1.1534]
    stale = "select count(*) from clean.rental_quote where currency = 'EUR' and observed_at < '2026-08-01'"
    assert prices(f"{stale} and reject_reason <> 'fx_stale' and listing_kind <> 'component'") == [(0,)]


def test_an_excerpt_that_is_not_the_whole_list_is_refused_in_one_line(
    store: SnapshotStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    path: Path = SHARED_DATA / "rental" / "gpuhunt_fixtures" / "digitalocean_v2_sizes.json"
    seen = datetime(2026, 8, 19, tzinfo=UTC)
    with pytest.raises(ImportRefused, match="3 sizes, while the list says") as refused:
        ingest.import_file(all_sources()["digitalocean"], store, path, seen)
    assert "\n" not in str(refused.value)
