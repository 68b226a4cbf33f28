"""Alerts: what is one (`mart.alert`), and that each is told once, whatever the webhook does.

Costs by hand: a price of $3.60 and 1000 tok/s per GPU are $1 per million tokens (3.60 / (1000 x 3600 / 1e6)).
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from bench_world import INDEX, SERIES, point, priced
from misbehaving_server import MisbehavingServer
from price_world import AS_OF, Query, Row, _needed, look, moment, published, quote, world

from pipelines import alerts, run, sql_build
from pipelines.alerts import Patience, tell
from pipelines.assets.alerts import told_alerts
from pipelines.home import PROJECT, Home
from pipelines.snapshots import SnapshotStore
from pipelines.source import Part
from pipelines.warehouse import Warehouse

SOME = pytest.approx
WORKLOAD = "deepseek-r1-0528, fixed-8192-1024"
TODAY, YESTERDAY = date(2026, 11, 30), date(2026, 11, 29)


def price(chip: str, usd: str, on: str) -> Row:
    return published(INDEX, chip, usd, on, on)


def leads(chip: str, day: str, tok_s: int, model: str, **changes: Any) -> Row:
    return point(chip, day, raw_model_name=model, output_tok_s=tok_s, **changes)


ROWS = [
    # Ten per cent up today; 4.7 per cent; ten per cent two days ago.
    price("case-move", "3.60", "2026-11-01"), price("case-move", "3.96", "2026-11-30"),
    point("case-move", "2026-11-02"),
    price("case-still", "3.60", "2026-11-01"), price("case-still", "3.77", "2026-11-30"),
    point("case-still", "2026-11-02"),
    price("case-past", "3.60", "2026-11-01"), price("case-past", "3.96", "2026-11-28"),
    point("case-past", "2026-11-02"),
    # Measured 365 days ago yesterday, 366 today.
    priced("case-old", "3.60"), point("case-old", "2025-11-29"),
    # Down by half through a faster server, and thereby the cheapest of its model.
    priced("case-slow", "3.60"), leads("case-slow", "2026-11-02", 1000, "gpt-oss-120b"),
    priced("case-fast", "3.60"), leads("case-fast", "2026-11-02", 900, "gpt-oss-120b"),
    leads("case-fast", "2026-11-30", 1800, "gpt-oss-120b", image="vllm:2"),
    # The leader of a model falls out of the ranking, the second takes its place without a move.
    priced("case-gone", "3.60"), leads("case-gone", "2025-11-29", 1000, "kimi-k2.5"),
    priced("case-next", "3.60"), leads("case-next", "2026-11-02", 800, "kimi-k2.5"),
    # The first of a model overtakes nobody.
    priced("case-first", "3.60"), leads("case-first", "2026-11-30", 1000, "glm-5"),
    # What a publisher's terms do not let us pass on.
    priced("case-withheld", "3.60"), leads("case-withheld", "2026-11-02", 1000, "glm-5.1", source="vast"),
    leads("case-withheld", "2026-11-30", 2000, "glm-5.1", source="vast", image="vllm:2"),
    priced("case-open", "3.60"), leads("case-open", "2026-11-02", 1000, "glm-5.2"),
    priced("case-hidden", "3.60"), leads("case-hidden", "2026-11-30", 2000, "glm-5.2", source="vast"),
    leads("case-hidden", "2026-11-02", 1000, "kimi-k2.6", source="vast"),
    leads("case-open", "2026-11-30", 2000, "kimi-k2.6"),
    quote("Unheard Of 9000", "firm", "2.00", source="vast"),
    quote("Unheard Of 9001", "firm", "2.00", "2026-11-29", source="oneprovider"),
    look("oneprovider", "2026-11-30"),
    look("forgotten", "2026-11-10"),
]  # fmt: skip
COLUMNS = "kind, subject, value, unit, threshold, happened_on, passes_on"


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Query:
    return world(tmp_path_factory.mktemp("alerts"), ROWS, marts=["mart.alert"])


def about(ask: Query, word: str, columns: str = COLUMNS) -> list[tuple[Any, ...]]:
    """The alerts whose subject holds `word`, in order."""
    return ask(f"select {columns} from mart.alert where contains(subject, ?) order by kind, subject", word)


# What is an alert


def test_a_headline_that_moved_by_more_than_the_threshold(tables):
    subject = f"case-move fp8, {WORKLOAD}, at greatest throughput, {SERIES}"
    assert about(tables, "case-move") == [
        ("headline_move", subject, SOME(10), "%", 5, TODAY, True),
    ]
    assert about(tables, "case-move", "detail, mart") == [
        (
            "$1.0000 on 2026-11-29, $1.1000 on 2026-11-30 per million output tokens (+10.0 %); "
            "price $3.6000 then, $3.9600 now per GPU-hour; throughput 1000.0 then, 1000.0 now tok/s per GPU",
            "mart.cost_change",
        )
    ]


@pytest.mark.parametrize("chip", ["case-still", "case-past", "case-next fp8, ", "case-first"])
def test_what_moved_less_or_before_or_not_is_no_alert(tables, chip):
    assert about(tables, chip) == []


def test_a_headline_that_may_not_be_ranked_any_more_is_lost_and_says_why(tables):
    assert about(tables, "case-old", f"{COLUMNS}, detail") == [
        (
            "headline_lost", f"case-old fp8, {WORKLOAD}, at greatest throughput, {SERIES}",
            None, None, None, TODAY, True,
            "$1.0000 per million output tokens on 2026-11-29, no cost that may be ranked on 2026-11-30: "
            "point_too_old",
        )
    ]  # fmt: skip


def test_a_new_leader_is_told_with_the_one_that_it_overtook(tables):
    # 3.60 / (1800 x 0.0036) = 0.5556; the former leader still costs 1.0000.
    rows = about(tables, "gpt-oss-120b", f"{COLUMNS}, detail")
    assert [(row[0], row[2], row[5]) for row in rows] == [
        ("headline_move", SOME(-50), TODAY),
        ("new_leader", SOME(100 * (1 - 1 / 1.8)), TODAY),
        ("new_leader", SOME(100 * (1 - 1 / 1.8)), TODAY),
    ]
    assert [row[1].split(", ")[2] for row in rows[1:]] == [
        "at 50 tok/s per user (p50",
        "at greatest throughput",
    ]
    assert rows[2][7] == (
        "case-fast fp8 is the cheapest on 2026-11-30: $0.5556 per million output tokens; "
        "case-slow fp8 was on 2026-11-29 and costs $1.0000 now"
    )


def test_a_leader_by_default_is_new_too(tables):
    # 3.60 / (800 x 0.0036) = 1.25.
    rows = about(tables, "kimi-k2.5, fixed-8192-1024, at greatest", "kind, value, unit, detail")
    assert [row for row in rows if row[0] == "new_leader"] == [
        (
            "new_leader", None, None,
            "case-next fp8 is the cheapest on 2026-11-30: $1.2500 per million output tokens; "
            "case-gone fp8 was on 2026-11-29 and has no cost that may be ranked now",
        )
    ]  # fmt: skip


def test_who_led_before_is_no_new_leader(tables):
    # case-still is dearer than yesterday and the cheapest of its model on both days.
    found = tables(
        "select distinct split_part(detail, ' ', 1), subject.split(',')[1] from mart.alert "
        "where kind = 'new_leader' order by all"
    )
    assert found == [
        ("case-fast", "gpt-oss-120b"),
        ("case-hidden", "glm-5.2"),
        ("case-next", "kimi-k2.5"),
        ("case-open", "kimi-k2.6"),
    ]


def test_a_stale_source(tables):
    # Seven days are its limit; from six in the morning of the 10th to noon of the 30th are 20.25.
    assert about(tables, "forgotten", f"{COLUMNS}, detail") == [
        (
            "stale_source", "forgotten", 20.25, "days", 7, date(2026, 11, 17), True,
            "last good payload is older than 7 days; last good payload: 2026-11-10",
        )
    ]  # fmt: skip
    assert about(tables, "oneprovider") == [
        ("unmapped_chip", "oneprovider: Unheard Of 9001", 1, "rows", None, YESTERDAY, True)
    ]


def test_what_may_not_be_passed_on_says_so(tables):
    assert about(tables, "Unheard Of 9000", "kind, passes_on") == [("unmapped_chip", False)]
    assert about(tables, "case-withheld", "kind, passes_on") == [("headline_move", False)]
    # Whether the new leader is withheld or the one that it overtook.
    for model in ("glm-5.2, ", "kimi-k2.6, "):
        leaders = tables(
            "select passes_on from mart.alert where kind = 'new_leader' and starts_with(subject, ?)", model
        )
        assert set(leaders) == {(False,)}


def recorded(chip: str, day: str, usd: float, at: str = "") -> Row:
    """The cost of a chip as the record of `day` holds it, written at noon of it or `at` another day."""
    values = {
        "date": moment(day).date(), "chip_id": chip, "model_id": "deepseek-r1-0528", "precision": "fp8",
        "workload_id": "fixed-8192-1024", "token_kind": "output", "gpu_scope": "all",
        "cost_allocation": "whole_bill", "evidence": "measured", "traffic_basis": "benchmark",
        "speed_percentile": "p50", "speed_tier": "max_throughput", "price_series_id": SERIES,
        "usd_per_gpu_hour": Decimal(2), "throughput_tok_s_gpu": 1000.0, "usd_per_million_tokens": usd,
        "eligible": True, "eligibility_reason": "eligible", "position": "measured",
        "benchmark_point_id": "lab/1", "method_version": "headline-v1, price-v1",
    }  # fmt: skip
    return Row("recorded_yield", "record", moment(f"{day}T12:00:00+00:00"), moment(at or day), values)


def test_the_newest_record_is_what_was_said_last_and_a_day_without_one_is_told(tmp_path):
    ask = world(
        tmp_path,
        [
            priced("case-late", "3.60"),
            point("case-late", "2026-11-02"),
            recorded("case-late", "2026-11-25", 9.0),
            recorded("case-late", "2026-11-26", 9.0, "2026-11-27"),
            # Since then a point of the 2nd became known, or a price was mended: nothing happened on the 30th.
            recorded("case-late", "2026-11-28", 2.0),
        ],
        marts=["mart.alert"],
    )
    ((value, detail),) = about(ask, "case-late fp8, ", "value, detail")
    assert value == SOME(-50)
    assert detail.startswith(
        "$2.0000 on 2026-11-28, $1.0000 on 2026-11-30 per million output tokens (-50.0 %)"
    )
    missed = ask(
        "select subject, happened_on, detail from mart.alert where kind = 'missed_record' order by all"
    )
    assert missed == [
        ("2026-11-26", date(2026, 11, 26), "its record was written late, on 2026-11-27"),
        ("2026-11-27", date(2026, 11, 27), "no record was written on this day"),
        ("2026-11-29", YESTERDAY, "no record was written on this day"),
    ]


@pytest.mark.slow
def test_an_event_keeps_its_id_on_the_days_after_it(tmp_path):
    """The same headline against the record of the 28th and of the 29th, which say the same: one event."""
    rows = [priced("case-late", "3.60"), point("case-late", "2026-11-02")]
    said = [recorded("case-late", day, 2.0) for day in ("2026-11-27", "2026-11-28", "2026-11-29")]
    ids = [
        about(
            world(tmp_path / str(n), [*rows, *said[:n]], marts=["mart.alert"]), "case-late fp8, ", "alert_id"
        )
        for n in (2, 3)
    ]
    assert len(ids[0]) == 1
    assert ids[0] == ids[1]


def test_a_source_whose_newest_payload_was_refused(tmp_path):
    home = Home(tmp_path)
    seen = AS_OF - timedelta(hours=3)
    SnapshotStore(home.snapshots).add(
        "oci_price_list", (Part("list.json", b"<html>busy</html>"),), observed_at=seen, recorded_at=seen
    )
    run.load(home, AS_OF, now=AS_OF)
    with Warehouse(home.warehouse).write() as connection:
        sql_build.build(connection, _needed(["mart.alert"]))
    with Warehouse(home.warehouse).read() as connection:
        rows = connection.execute(
            f"select {COLUMNS}, detail from mart.alert where subject = 'oci_price_list'"
        ).fetchall()
    assert [row[:-1] for row in rows] == [("failing_source", "oci_price_list", None, None, None, TODAY, True)]
    assert rows[0][-1].endswith("; last good payload: none")


# Telling


SECRET = "s3cr3t-of-the-hook"
QUICK = Patience(attempts=3, total_seconds=5, backoff_seconds=0.01)


def row(
    number: int, kind: str = "stale_source", passes_on: bool = True, detail: str = "20 days"
) -> tuple[Any, ...]:
    return (f"id-{number}", kind, f"subject {number}", detail, 20.25, "days", 7.0, TODAY, "mart.x", passes_on)


class Teller:
    """A home whose last build has the alerts that a test sets, and what was logged about them."""

    def __init__(self, root: Path, caplog: pytest.LogCaptureFixture) -> None:
        self.home, self.caplog = Home(root), caplog
        self.stand([])

    def stand(self, rows: list[tuple[Any, ...]], as_of: datetime = AS_OF) -> None:
        with Warehouse(self.home.warehouse).write() as connection:
            connection.execute("create schema if not exists raw; create schema if not exists mart")
            connection.execute("create or replace table raw.build (as_of timestamptz)")
            connection.execute("insert into raw.build values (?)", [as_of])
            connection.execute(
                "create or replace table mart.alert (alert_id text, kind text, subject text, detail text, "
                "value double, unit text, threshold double, happened_on date, mart text, passes_on boolean)"
            )
            for values in rows:
                connection.execute(
                    f"insert into mart.alert values ({', '.join('?' * len(values))})", list(values)
                )

    def tell(self, patience: Patience = QUICK, now: datetime = AS_OF) -> list[str]:
        """Tell, and return the lines of the log."""
        self.caplog.clear()
        with self.caplog.at_level(logging.DEBUG):
            self.told = tell(
                Warehouse(self.home.warehouse), self.home.told_alerts, logging.getLogger("run"), now, patience
            )
        everything = "\n".join(f"{r.getMessage()} {r.__dict__}" for r in self.caplog.records)
        memory = self.home.told_alerts
        assert SECRET not in everything
        assert not memory.is_file() or SECRET not in memory.read_text()
        return [record.getMessage() for record in self.caplog.records if record.name == "run"]


@pytest.fixture
def teller(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Teller:
    return Teller(tmp_path / "home", caplog)


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer() as running:
        yield running


@pytest.fixture
def hook(server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Point the webhook at a path of the server, with a key in its query."""

    def point_at(path: str, query: str = "") -> None:
        monkeypatch.setenv("TOKENYIELD_WEBHOOK_URL", server.url(f"{path}?key={SECRET}{query}"))

    return point_at


def sent(server: MisbehavingServer) -> list[dict[str, Any]]:
    return [json.loads(asked.body) for asked in server.asked]


def test_the_first_telling_is_one_line_and_each_alert_is_told_once(teller):
    teller.stand([row(1), row(2), row(3, "unmapped_chip")])
    assert teller.tell() == ["alerts  3 stand (mart.alert): 2 stale_source, 1 unmapped_chip"]
    assert teller.tell() == []
    teller.stand([row(1), row(4)])
    assert teller.tell() == ["alert  stale_source subject 4: 20 days"]
    # What ended and came again is told again.
    teller.stand([row(1), row(2), row(4)])
    assert teller.tell() == ["alert  stale_source subject 2: 20 days"]


def test_many_new_ones_are_a_few_lines_and_a_count(teller):
    teller.tell()
    teller.stand([row(number) for number in range(1, 8)])
    lines = teller.tell()
    assert len(lines) == 6
    assert lines[-1] == "alerts  and 2 more (mart.alert): 2 stale_source"


def test_a_name_from_outside_stays_in_its_line(teller):
    teller.tell()
    teller.stand([row(1, detail="a\nb\x1b[31m\u202ec")])
    assert teller.tell() == ["alert  stale_source subject 1: a b [31m c"]


def test_a_build_that_looks_at_another_day_tells_nothing(teller, server, hook):
    hook("/ok")
    teller.stand([row(1)], AS_OF - timedelta(days=3))
    assert teller.tell() == ["alerts  nothing told: the build is as of 2026-11-27"]
    assert server.asked == []
    assert not teller.home.told_alerts.exists()


def test_the_webhook_gets_json_once_and_nothing_that_may_not_be_passed_on(teller, server, hook):
    hook("/ok")
    teller.stand([row(1), row(2, passes_on=False)])
    teller.tell()
    assert (teller.told.standing, teller.told.logged, teller.told.sent) == (2, 2, 1)
    assert sent(server) == [
        {
            "text": "tokenyield, 2026-11-30: 1 alerts stand: 1 stale_source",
            "as_of": "2026-11-30T12:00:00+00:00",
            "first": True,
            "alerts": [
                {
                    "alert_id": "id-1", "kind": "stale_source", "subject": "subject 1", "detail": "20 days",
                    "value": 20.25, "unit": "days", "threshold": 7.0, "happened_on": "2026-11-30",
                    "mart": "mart.x",
                }
            ],
        }
    ]  # fmt: skip
    assert server.asked[0].headers["Content-Type"] == "application/json"
    teller.tell()
    assert len(server.asked) == 1
    teller.stand([row(1), row(3)])
    teller.tell()
    message = sent(server)[1]
    assert (message["first"], [alert["alert_id"] for alert in message["alerts"]]) == (False, ["id-3"])
    assert message["text"].splitlines() == [
        "tokenyield, 2026-11-30: 1 new alerts: 1 stale_source",
        "stale_source subject 3: 20 days",
    ]


@pytest.mark.parametrize(
    ("path", "tries", "why"),
    [
        ("/broken", 3, "HTTP 500"),
        ("/missing", 1, "HTTP 404"),
        ("/hang-up", 3, "no connection, "),
        ("/redirect", 1, "HTTP 302, redirects are not followed"),
    ],
)
def test_what_the_webhook_did_not_take_is_tried_again_by_the_next_run(teller, server, hook, path, tries, why):
    hook(path, f"&to={server.url('/ok')}")
    teller.tell()
    teller.stand([row(1)])
    lines = teller.tell()
    assert lines[0] == "alert  stale_source subject 1: 20 days"
    assert lines[1].startswith(f"alerts  not told to TOKENYIELD_WEBHOOK_URL, the next run tries again: {why}")
    assert (server.count(path), server.count("/ok")) == (tries, 0)
    assert teller.told.sent is None
    # It works again: sent, and the log has heard of it already.
    hook("/ok")
    assert teller.tell() == []
    assert [alert["alert_id"] for alert in sent(server)[-1]["alerts"]] == ["id-1"]
    assert teller.tell() == []
    assert server.count("/ok") == 1


def test_a_webhook_that_stumbles_once_is_told_in_the_same_run(teller, server, hook):
    hook("/hang-up-once")
    teller.stand([row(1)])
    teller.tell()
    assert (teller.told.sent, server.count("/hang-up-once")) == (1, 2)


@pytest.mark.parametrize("path", ["/slow-headers", "/silent"])
def test_a_webhook_that_never_ends_costs_no_more_than_its_limit(teller, server, hook, path):
    hook(path)
    teller.stand([row(1)])
    began = datetime.now(UTC)
    lines = teller.tell(Patience(attempts=3, total_seconds=0.7, backoff_seconds=0.01))
    assert (datetime.now(UTC) - began).total_seconds() < 5
    assert lines[-1].endswith("no answer within 0.7 s")


@pytest.mark.parametrize(
    "address",
    [
        f"http://example.com/{SECRET}", f"http://127.0.0.1.example.com/{SECRET}", f"ftp://127.0.0.1/{SECRET}",
        f"https:///{SECRET}", SECRET, f"https://example.com:{SECRET}/", "https://",
    ],
)  # fmt: skip
def test_only_https_or_this_machine_is_ever_asked(teller, monkeypatch, address):
    monkeypatch.setenv("TOKENYIELD_WEBHOOK_URL", address)
    monkeypatch.setattr(alerts, "_sent", lambda *_: pytest.fail("asked"))
    teller.stand([row(1)])
    assert "TOKENYIELD_WEBHOOK_URL is no " in teller.tell()[-1]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        pytest.param(
            "TOKENYIELD_WEBHOOK_URL", f"https://{'a' * 70}.invalid/{SECRET}", id="no name of a host"
        ),
        pytest.param("SSL_CERT_FILE", "/nowhere", id="no certificates"),
        pytest.param("HTTPS_PROXY", f"ftp://{SECRET}", id="no proxy"),
    ],
)
def test_whatever_stops_a_message_is_a_line_and_what_was_logged_stays_told(
    teller, monkeypatch, variable, value
):
    monkeypatch.setenv("TOKENYIELD_WEBHOOK_URL", f"https://localhost:9/{SECRET}")
    monkeypatch.setenv(variable, value)
    teller.stand([row(1)])
    first, again = teller.tell(), teller.tell()
    assert [len(first), len(again)] == [2, 1]
    assert again[0].startswith("alerts  not told to TOKENYIELD_WEBHOOK_URL, the next run tries again: ")
    assert SECRET not in f"{first}{again}"


def test_two_processes_that_remember_at_once_never_leave_half_a_memory(teller, tmp_path):
    memory, ids = tmp_path / "told.json", [f"id-{number}" for number in range(2000)]
    code = (
        "import logging, sys; from pathlib import Path; from pipelines import alerts\n"
        "for _ in range(60): alerts._remember(Path(sys.argv[1]), alerts.Memory(log=sys.argv[2:]), "
        "logging.getLogger())"
    )
    command = [sys.executable, "-c", code, str(memory), *ids]
    writers = [subprocess.Popen(command, cwd=PROJECT, stderr=subprocess.PIPE) for _ in range(3)]
    assert [writer.communicate()[1] for writer in writers] == [b"", b"", b""]
    assert json.loads(memory.read_text(encoding="utf-8"))["log"] == ids
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["told.json"]


@pytest.mark.parametrize(
    "damage",
    ["", "{", "[]", "null", '{"log": []}', '{"log": [1], "webhook": null}', '{"log": "x", "webhook": 1}'],
)
def test_a_damaged_memory_is_said_and_what_stands_is_told_in_one_line(teller, damage):
    teller.stand([row(1), row(2)])
    teller.tell()
    teller.home.told_alerts.write_text(damage)
    assert teller.tell() == [
        f"alerts  {teller.home.told_alerts} cannot be read; what stands is told anew",
        "alerts  2 stand (mart.alert): 2 stale_source",
    ]
    assert teller.tell() == []


def test_a_memory_in_whose_place_a_folder_stands_is_said(teller):
    teller.home.told_alerts.mkdir(parents=True)
    first, last = teller.tell()
    assert "cannot be read" in first
    assert "cannot be written, so they will be told again" in last


# In a run


@pytest.fixture
def in_a_run(teller: Teller, monkeypatch: pytest.MonkeyPatch) -> Callable[[], str]:
    """Run the asset as a job does; returns everything that Dagster keeps of it. It must have succeeded."""
    monkeypatch.setenv("TOKENYIELD_HOME", str(teller.home.root))
    teller.stand([row(1)], datetime.now(UTC))

    def once() -> str:
        with dg.DagsterInstance.ephemeral() as instance:
            result = dg.materialize([told_alerts], instance=instance)
            assert result.success
            return "\n".join(str(entry) for entry in instance.all_logs(result.run_id))

    return once


def test_a_webhook_that_is_down_fails_no_run_and_its_key_shows_nowhere(in_a_run, hook, capfd, monkeypatch):
    monkeypatch.setattr(alerts, "Patience", lambda: QUICK)
    hook("/broken")
    kept = in_a_run() + "".join(capfd.readouterr())
    assert "the next run tries again: HTTP 500" in kept
    assert SECRET not in kept


def test_whatever_breaks_in_telling_fails_no_run(in_a_run, monkeypatch):
    def broken(*_: Any) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(run, "tell", broken)
    kept = in_a_run()
    assert "nothing told: RuntimeError" in kept
    assert SECRET not in kept


def test_both_jobs_that_publish_tell_afterwards():
    from pipelines.definitions import defs

    for name in ("build", "publish"):
        nodes = [node.name for node in defs.resolve_job_def(name).nodes_in_topological_order]
        assert nodes.index("published__alerts") > nodes.index("published__copy")
