"""Loading is idempotent and without order; a bad payload hurts only itself; a changed seed keeps its past."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines import raw, run, sql_build
from pipelines.home import SEEDS
from pipelines.publish import fingerprint_query, publish
from pipelines.seeds import SeedError
from pipelines.sidecar import Sidecar
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part, Source, SourceError
from pipelines.warehouse import Warehouse

FIXTURES = Path(__file__).parent / "fixtures"
AS_OF = datetime(2026, 11, 30, 12, tzinfo=UTC)
FIRST = datetime(2026, 11, 1, tzinfo=UTC)  # when the first version of the seeds was stored
SECOND = datetime(2026, 11, 20, tzinfo=UTC)  # and the second

Fingerprints = dict[str, tuple[int, str]]


@pytest.fixture
def store(tmp_path: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "snapshots")


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SEEDS, tmp_path / "seeds"))


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse.duckdb")


def payload(slug: str, change: Callable[[bytes], bytes] = lambda body: body) -> tuple[Part, ...]:
    """The fixture of a source, perhaps with other bytes in it."""
    (path,) = (FIXTURES / slug).glob("payload.*")
    return (Part(path.name, change(path.read_bytes())),)


def stored(store: SnapshotStore, slug: str, parts: tuple[Part, ...], days: int = 0) -> Sidecar:
    at = datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=days)
    return store.add(slug, parts, observed_at=at, recorded_at=at)[0]


def load(
    warehouse: Warehouse, store: SnapshotStore, facts: dict[str, Source], as_of: datetime = AS_OF
) -> dict[str, raw.Loaded]:
    with warehouse.write() as connection:
        loaded = raw.load(connection, store, facts, as_of)
    return {f"{found.sidecar.source}/{found.sidecar.snapshot_id}": found for found in loaded}


def model(warehouse: Warehouse) -> None:
    with warehouse.write() as connection:
        sql_build.build(connection, run.models())
        connection.execute("delete from raw.build")
        connection.execute("insert into raw.build select as_of from raw.run")


def ask(warehouse: Warehouse, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with warehouse.read() as connection:
        return connection.execute(query, list(values)).fetchall()


def fingerprints(warehouse: Warehouse) -> Fingerprints:
    """Rows and contents of every table, but how a source is doing today."""
    with warehouse.read() as connection:
        names = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() where not internal"
        ).fetchall()
        assert {name.split(".")[0] for (name,) in names} <= {"raw", "clean", "core", "mart"}
        return {
            name: connection.execute(fingerprint_query(connection, name)).fetchone()
            for (name,) in names
            if name != "mart.source_health"
        }


def statuses(warehouse: Warehouse, source: str) -> list[tuple[str, str | None]]:
    return ask(
        warehouse, "select status, reason from raw.snapshot where source = ? order by observed_at", source
    )


# The fingerprint itself


def test_a_fingerprint_sees_every_value_and_no_order():
    connection = duckdb.connect()

    def of(rows: str) -> tuple[int, str]:
        connection.execute(f"create or replace table t as select * from (values {rows}) as v(a, b, c)")
        return connection.execute(fingerprint_query(connection, "t")).fetchone()

    base = of("(1, 'x', 0.1::double), (2, null, null)")
    assert base == of("(2, null, null), (1, 'x', 0.1::double)")
    assert base == of("(1, 'x', 0.1::double + 1e-17), (2, null, null)")
    assert base[0] == 2
    for other in (
        "(1, 'x', 0.1::double)",
        "(1, 'y', 0.1::double), (2, null, null)",
        "(1, 'x', 0.100001::double), (2, null, null)",
        "(1, 'x', 0.1::double), (2, '', null)",
        "(1, null, 0.1::double), (2, 'x', null)",
        "(1, 'x', 0.1::double), (2, null, null), (2, null, null)",
    ):
        assert of(other) != base, other


# Idempotence and order


@pytest.mark.slow
def test_loading_twice_changes_no_row_and_no_value(warehouse, store):
    facts = raw.store_seeds(store, SEEDS, FIRST)
    stored(store, "gcp_machine_prices", payload("gcp_machine_prices"))
    stored(store, "oci_price_list", payload("oci_price_list"))
    assert {found.status for found in load(warehouse, store, facts).values()} == {"loaded"}
    model(warehouse)
    once = fingerprints(warehouse)
    assert once["raw.rental_quote"][0] > 29  # the seeds alone have 29

    facts = raw.store_seeds(store, SEEDS, SECOND)  # unchanged files, a later look
    assert load(warehouse, store, facts) == {}
    model(warehouse)
    assert fingerprints(warehouse) == once

    with warehouse.write() as connection:  # as if every parser had changed
        connection.execute("update raw.snapshot set parser = 'older code'")
    assert len(load(warehouse, store, facts)) == 9  # 7 fact seeds and 2 payloads
    model(warehouse)
    assert fingerprints(warehouse) == once


@pytest.mark.slow
def test_the_order_in_which_payloads_arrive_changes_nothing(tmp_path):
    changed = payload("gcp_machine_prices", lambda body: body.replace(b"hour: 7.25", b"hour: 7.75"))
    arrivals = [
        ("gcp_machine_prices", payload("gcp_machine_prices"), 0),
        ("oci_price_list", payload("oci_price_list"), 1),
        ("gcp_machine_prices", changed, 7),
    ]
    found = []
    for name, order in (("forth", arrivals), ("back", arrivals[::-1]), ("at once", None)):
        store = SnapshotStore(tmp_path / name / "snapshots")
        warehouse = Warehouse(tmp_path / name / "warehouse.duckdb")
        facts = raw.store_seeds(store, SEEDS, FIRST)
        for slug, parts, days in order or arrivals:
            stored(store, slug, parts, days)
            if order:
                load(warehouse, store, facts)
        load(warehouse, store, facts)
        model(warehouse)
        found.append(fingerprints(warehouse))
    assert found[0] == found[1] == found[2]


# Bad payloads


def test_a_refused_and_a_damaged_payload_show_and_hurt_nothing_else(warehouse, store, tmp_path):
    facts = raw.store_seeds(store, SEEDS, FIRST)
    stored(store, "oci_price_list", payload("oci_price_list"))
    good = Warehouse(tmp_path / "good.duckdb")
    load(good, store, facts)

    refused = stored(store, "gcp_machine_prices", (Part("payload.yml", b"<html>busy</html>"),))
    damaged = stored(store, "oci_price_list", payload("oci_price_list", lambda body: body + b"\n"), 7)
    path = store.root / damaged.source / damaged.snapshot_id / "part-0.gz"
    path.write_bytes(path.read_bytes()[:-9])
    found = load(warehouse, store, facts)

    assert found[f"gcp_machine_prices/{refused.snapshot_id}"].status == "refused"
    ((status, reason),) = statuses(warehouse, "gcp_machine_prices")
    assert status == "refused"
    assert "HTML page" in reason
    (first, (status, reason)) = statuses(warehouse, "oci_price_list")
    assert first == ("loaded", None)
    assert status == "damaged"
    assert "part-0.gz" in reason
    for table in raw.ROW_KINDS:
        assert fingerprints(warehouse)[f"raw.{table}"] == fingerprints(good)[f"raw.{table}"]
    assert ask(
        warehouse, "select sum(candidates), sum(accepted) from raw.snapshot where status <> 'loaded'"
    ) == [(None, None)]


def test_a_bit_that_flips_on_the_disk_hurts_its_own_payload_alone(warehouse, store):
    facts = raw.store_seeds(store, SEEDS, FIRST)
    damaged = stored(store, "oci_price_list", payload("oci_price_list"))
    path = store.root / damaged.source / damaged.snapshot_id / "part-0.gz"
    body = bytearray(path.read_bytes())
    for position in (len(body) // 4, len(body) // 2, len(body) - 20):
        flipped = bytearray(body)
        flipped[position] ^= 0xFF
        path.write_bytes(flipped)
        with warehouse.write() as connection:
            connection.execute("drop schema if exists raw cascade")
        load(warehouse, store, facts)
        ((status, reason),) = statuses(warehouse, "oci_price_list")
        assert (status, "part-0.gz" in reason) == ("damaged", True)
        assert ask(warehouse, "select count(*) from raw.rental_quote") == [(29,)]


def test_a_damaged_sidecar_hurts_its_own_payload_alone_and_heals(warehouse, store):
    facts = raw.store_seeds(store, SEEDS, FIRST)
    sidecar = stored(store, "oci_price_list", payload("oci_price_list"))
    load(warehouse, store, facts)
    before = fingerprints(warehouse)
    path = store.root / "oci_price_list" / sidecar.snapshot_id / "sidecar.json"
    whole = path.read_bytes()
    path.write_bytes(b"{")
    load(warehouse, store, facts)
    counts = "candidates, accepted, rejected, not_applicable"
    ((status, reason, *counted),) = ask(
        warehouse, f"select status, reason, {counts} from raw.snapshot where source = 'oci_price_list'"
    )
    assert (status, "sidecar.json" in reason, counted) == ("damaged", True, [None] * 4)
    assert ask(warehouse, "select count(*) from raw.rental_quote where source = 'oci_price_list'") == [(0,)]
    path.write_bytes(whole)
    load(warehouse, store, facts)
    assert fingerprints(warehouse) == before


def test_a_parser_that_breaks_holds_nobody_back(warehouse, store):
    def breaks(snapshot: Any) -> Any:
        return [snapshot.parts[0].body["price"]]  # bytes have no keys

    broken = Source("rental", "t", "", "l", True, "c", 50, 3, parse=breaks, slug="broken")
    facts = raw.store_seeds(store, SEEDS, FIRST)
    stored(store, "broken", (Part("x", b"{}"),))
    stored(store, "oci_price_list", payload("oci_price_list"))
    load(warehouse, store, {**facts, "broken": broken})
    ((status, reason),) = statuses(warehouse, "broken")
    assert status == "failed"
    assert "TypeError" in reason
    assert statuses(warehouse, "oci_price_list") == [("loaded", None)]


def test_a_payload_of_a_source_that_is_no_more_is_kept_and_shown(warehouse, store):
    facts = raw.store_seeds(store, SEEDS, FIRST)
    stored(store, "gone", (Part("x", b"{}"),))
    load(warehouse, store, facts)
    ((status, reason),) = statuses(warehouse, "gone")
    assert (status, reason) == ("unknown_source", "no source is named 'gone'")


def test_a_refused_payload_is_loaded_once_its_parser_can_read_it(warehouse, store):
    facts = raw.store_seeds(store, SEEDS, FIRST)

    def never(snapshot: Any) -> Any:
        raise SourceError("not yet")

    def one(snapshot: Any) -> Any:
        return list(facts["list_prices"].parse(store.load(store.sidecars("list_prices")[0])))[:1]

    stored(store, "late", (Part("x", b"{}"),))
    early = Source("rental", "t", "", "l", True, "c", 50, 3, parse=never, slug="late")
    load(warehouse, store, {**facts, "late": early})
    assert statuses(warehouse, "late") == [("refused", "not yet")]
    with warehouse.write() as connection:
        connection.execute("update raw.snapshot set parser = 'older code' where source = 'late'")
    late = Source("rental", "t", "", "l", True, "c", 50, 3, parse=one, slug="late")
    load(warehouse, store, {**facts, "late": late})
    assert statuses(warehouse, "late") == [("loaded", None)]
    assert ask(warehouse, "select count(*) from raw.rental_quote where source = 'late'") == [(1,)]


def test_a_raw_table_of_an_older_shape_is_made_anew_and_filled(warehouse, store):
    facts = raw.store_seeds(store, SEEDS, FIRST)
    load(warehouse, store, facts)
    before = fingerprints(warehouse)
    with warehouse.write() as connection:
        connection.execute("alter table raw.rental_quote drop column note")
    load(warehouse, store, facts)
    assert fingerprints(warehouse) == before


# Seeds


def azure_price(connection: duckdb.DuckDBPyConnection, macro: str, *values: Any) -> list[Decimal]:
    """Azure's one on-demand price, as `macro` has it."""
    rows = connection.execute(
        f"select distinct usd_per_gpu_hour from mart.{macro} "
        "where provider_id = 'azure' and price_type = 'on_demand'",
        list(values),
    ).fetchall()
    return [usd for (usd,) in rows]


@pytest.mark.slow
def test_a_changed_seed_keeps_what_was_recorded_before(warehouse, store, seeds, tmp_path):
    path = seeds / "rental_quote" / "list_prices.csv"
    text = path.read_text()
    (line,) = [row for row in text.splitlines() if row.startswith("azure,") and ",on_demand," in row]
    assert line.count("98.32") == 1, line  # 8 GPUs: 12.29 each
    load(warehouse, store, raw.store_seeds(store, seeds, FIRST))
    model(warehouse)
    assert ask(warehouse, "select count(*) from core.rental_quote where recorded_to is not null") == [(0,)]

    path.write_text(text.replace(line, line.replace("98.32", "80.00")))  # 10.00 each
    load(warehouse, store, raw.store_seeds(store, seeds, SECOND))
    model(warehouse)
    facts = ask(
        warehouse,
        "select usd_per_gpu_hour, recorded_at, recorded_to from core.rental_quote "
        "where provider_id = 'azure' and price_type = 'on_demand' order by recorded_at",
    )
    assert facts == [(Decimal("12.290000"), FIRST, SECOND), (Decimal("10.000000"), SECOND, None)]
    assert len(store.sidecars("list_prices")) == 2
    assert [len(store.sidecars(source)) for source in ("deepseek", "articles")] == [1, 1]

    published = publish(warehouse, run.models(), run.macros(), tmp_path / "published")
    with duckdb.connect(str(published.folder / "tokenyield.duckdb"), read_only=True) as connection:
        connection.execute("set TimeZone = 'UTC'")
        assert azure_price(connection, "rental_price") == [Decimal("10.000000")]
        between = SECOND - timedelta(seconds=1)
        for moment, usd in ((FIRST, "12.29"), (between, "12.29"), (SECOND, "10.00"), (AS_OF, "10.00")):
            assert azure_price(connection, "rental_price_as_recorded(?)", moment) == [Decimal(usd)], moment
        before = FIRST - timedelta(seconds=1)
        assert azure_price(connection, "rental_price_as_recorded(?)", before) == []
        # The world knew the price all along; what we know of it today is the second version.
        assert azure_price(connection, "rental_price_as_known(?)", between) == [Decimal("10.000000")]


@pytest.mark.slow
def test_a_row_that_leaves_a_seed_leaves_the_present_and_stays_in_the_past(warehouse, store, seeds, tmp_path):
    path = seeds / "rental_quote" / "list_prices.csv"
    load(warehouse, store, raw.store_seeds(store, seeds, FIRST))
    lines = path.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("nebius,")]
    assert len(kept) < len(lines)
    path.write_text("".join(kept))
    load(warehouse, store, raw.store_seeds(store, seeds, SECOND))
    model(warehouse)

    published = publish(warehouse, run.models(), run.macros(), tmp_path / "published")
    nebius = "select count(*) > 0 from {} where provider_id = 'nebius'"
    with duckdb.connect(str(published.folder / "tokenyield.duckdb"), read_only=True) as connection:

        def stands(table: str, *moment: datetime) -> bool:
            return connection.execute(nebius.format(table), list(moment)).fetchone()[0]

        assert stands("core.rental_quote")
        assert not stands("mart.rental_price")
        assert stands("mart.rental_price_as_recorded(?)", SECOND - timedelta(seconds=1))
        assert not stands("mart.rental_price_as_recorded(?)", SECOND)


@pytest.mark.parametrize(
    ("name", "old", "new", "complaint"),
    [
        (
            "price_band.csv",
            "\n",
            "\nh100-sxm-80,spot,one,2,x\n",
            r"seeds/price_band\.csv:2: low_usd_per_gpu_hour",
        ),
        (
            "price_band.csv",
            "\n",
            "\nnowhere,*,1,2,x\n",
            r"price_band\.csv: chip_id 'nowhere' is not in chip\.csv",
        ),
        ("token_price/deepseek.csv", "standard", "cheap", r"deepseek\.csv"),
        ("token_price/deepseek.csv", "provider,", "seller,", r"deepseek\.csv"),
        (
            "fact_source.csv",
            "\ndeepseek,",
            "\ndeeepseek,",
            r"deepseek\.csv: wants one line in seeds/fact_source\.csv",
        ),
    ],
)
def test_a_seed_with_an_error_names_it_and_stores_nothing(store, seeds, name, old, new, complaint):
    path = seeds / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(SeedError, match=complaint):
        raw.store_seeds(store, seeds, FIRST)
    assert store.sidecars() == []


def test_every_error_of_a_seed_is_listed_with_its_line(store, seeds):
    path = seeds / "price_band.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, "h100-sxm-80,spot,one,2,x", *lines, "h100-sxm-80,spot,1,2,"]) + "\n")
    with pytest.raises(SeedError) as caught:
        raw.store_seeds(store, seeds, FIRST)
    assert "seeds/price_band.csv:2: low_usd_per_gpu_hour: not_a_number: 'one'" in str(caught.value)
    assert f"seeds/price_band.csv:{len(lines) + 3}: source: missing_value" in str(caught.value)


@pytest.mark.parametrize("name", ["chip.csv", "token_price/deepseek.csv"])
def test_a_seed_that_is_gone_is_named(store, seeds, name):
    (seeds / name).unlink()
    with pytest.raises(SeedError, match=Path(name).stem):
        raw.store_seeds(store, seeds, FIRST)
    assert store.sidecars() == []


def test_a_stray_folder_of_seeds_is_named(store, seeds):
    (seeds / "rentals").mkdir()
    (seeds / "rentals" / "x.csv").write_text("a\n1\n")
    with pytest.raises(SeedError, match="rentals"):
        raw.store_seeds(store, seeds, FIRST)
    assert store.sidecars() == []
