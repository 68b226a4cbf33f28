"""A fetch that is killed, or finds no room, leaves whole snapshots alone; the next one makes up for it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from price_list import SLUG, price_list

from pipelines.home import PROJECT
from pipelines.snapshots import SnapshotStore, unfinished_folders

# The command as it is, but that its one source is asked of this machine, by HTTP: the client that the command
# line makes never does that.
FETCH = """
import os, resource, shutil, signal, sys
from dataclasses import replace
from functools import partial
from pipelines import cli, intake, sidecar, snapshots, source
from pipelines.http import Fetcher, Limits
from pipelines.source import Request

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def waits(*_):
    print("stored all but its sidecar", flush=True)
    sys.stdin.read()

URL, SLICES = sys.argv[1], ["all", "more"]
found = replace(
    source.all_sources()["oci_price_list"],
    requests=lambda: [Request(URL, slice=name) for name in SLICES],
)
source.all_sources = lambda: {found.slug: found}
quick = Limits(attempts=1, read_seconds=30, min_interval_seconds=0)
intake.Fetcher = lambda limits: Fetcher(quick, loopback_http=True)
"""
RUN = "\nsys.argv[1:] = ['fetch', 'oci_price_list']\ncli.main()\n"
THIRD = "SLICES[:] = ['third']"
PRICES = 40


class Server(ThreadingHTTPServer):
    """Serves one price list; where it `stalls`, half of it and then nothing more."""

    daemon_threads = True
    stalls, status = False, 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.half_sent = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/list"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        body = price_list(PRICES)
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.server.stalls:
            self.wfile.write(body[: len(body) // 2])
            self.server.half_sent.set()
            threading.Event().wait(20)
        else:
            self.wfile.write(body)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running
        running.shutdown()


def start(server: Server, home: Path, *patches: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.Popen(
        [sys.executable, "-c", FETCH + "\n".join(patches) + RUN, server.url],
        cwd=PROJECT,
        env=environment | {"TOKENYIELD_HOME": str(home), "PYTHONPATH": str(PROJECT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def fetched(server: Server, home: Path, *patches: str) -> tuple[int, list[str]]:
    """Run a fetch to its end: exit code, and what it told."""
    with start(server, home, *patches) as process:
        _, told = process.communicate(timeout=60)
    return process.returncode, [line for line in told.splitlines() if line and "fetching" not in line]


def whole(home: Path) -> list[str]:
    """The slices of the store, every byte of them verified; nothing else stands there under a valid name."""
    store = SnapshotStore(home / "snapshots")
    found, unreadable = store.survey()
    assert unreadable == []
    return sorted(store.load(one).slice for one in found)


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment", ["while the list arrives", "between payload and sidecar", "before its name"]
)
def test_a_killed_fetch_leaves_whole_payloads_and_the_next_one_stores_all(server, tmp_path, report, moment):
    home = tmp_path / "home"
    if moment == "while the list arrives":
        server.stalls = True
        with start(server, home) as process:
            assert server.half_sent.wait(60)
            process.kill()
            assert process.wait(60) == -signal.SIGKILL
        server.stalls = False
    else:
        patch = "sidecar.as_json = die" if "sidecar" in moment else "os.replace = die"
        assert fetched(server, home, patch)[0] == -signal.SIGKILL
        assert len(list(unfinished_folders(home / "snapshots"))) == 1
    assert whole(home) == []
    code, _ = fetched(server, home)
    assert (code, whole(home)) == (0, ["all", "more"])
    assert list(unfinished_folders(home / "snapshots")) == []
    lost = {"all", "more"} - set(whole(home))
    seen = "no payload half stored; the next fetch stores both slices and sweeps what was left"
    report("a fetch is killed", f"SIGKILL {moment}", seen, lost)


@pytest.mark.slow
def test_a_fetch_leaves_alone_what_another_is_writing(server, tmp_path, report):
    home = tmp_path / "home"
    with start(server, home, "sidecar.as_json = waits") as writing:
        assert writing.stdout.readline() == "stored all but its sidecar\n"
        before = list(unfinished_folders(home / "snapshots"))
        assert fetched(server, home)[0] == 0
        left = list(unfinished_folders(home / "snapshots"))
        writing.kill()
    lost = set(before) - set(left)
    assert (len(before), lost) == (1, set())
    assert whole(home) == ["all", "more"]
    report("two fetches at a time", "one is held while it writes", "the other leaves its folder alone", lost)


@pytest.mark.slow
def test_a_disk_that_is_full_stores_nothing_half_and_says_so_in_a_line(server, tmp_path, report):
    home = tmp_path / "home"
    assert fetched(server, home)[0] == 0
    before = whole(home)
    # No file may become longer than this, as on a disk that has no more room: half of a payload fits.
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))"
    code, told = fetched(server, home, THIRD, limit)
    assert (code, len(told)) == (1, 1), told
    assert told[0].startswith("error: [Errno 27] File too large; the payload is not stored")
    assert list(unfinished_folders(home / "snapshots")) == []
    lost = set(before) - set(whole(home))
    assert (whole(home), lost) == (before, set())
    code, _ = fetched(server, home, THIRD)
    assert (code, whole(home)) == (0, ["all", "more", "third"])
    seen = "one line that says where, exit code 1, nothing half stored; the next fetch stores it"
    report("a disk without room for a payload", "a limit on the size of files", seen, lost)


@pytest.mark.slow
def test_a_fetch_asks_nothing_without_room_for_a_payload(server, tmp_path, report):
    home = tmp_path / "home"
    small = "shutil.disk_usage = lambda place: type('Usage', (), {'free': 12_000_000})"
    code, told = fetched(server, home, small)
    assert (code, len(told)) == (1, 1), told
    assert told[0].endswith("12 MB are free and one payload may take 537 MB; nothing was asked: make room")
    code, _ = fetched(server, home)
    lost = {"all", "more"} - set(whole(home))
    assert (code, lost) == (0, set())
    report("a disk that is nearly full", "12 MB free", "one line with both numbers; nothing is asked", lost)


@pytest.mark.slow
def test_a_fetch_that_fails_is_kept_beside_the_payloads(server, tmp_path, report):
    home = tmp_path / "home"
    assert fetched(server, home)[0] == 0
    before = whole(home)
    server.status = 503
    code, told = fetched(server, home)
    assert code == 1
    assert sum(line.startswith("error: oci_price_list: HTTP 503") for line in told) == 2
    lines = (home / "snapshots" / SLUG / "failed_looks.jsonl").read_text().split("\n")
    kept = [json.loads(line) for line in lines if line]
    assert [(look["slice"], look["reason"]) for look in kept] == [
        ("all", "http_status"),
        ("more", "http_status"),
    ]
    looks = SnapshotStore(home / "snapshots").failed_looks()
    assert [look.slice for look in looks] == ["all", "more"]
    lost = set(before) - set(whole(home))
    assert lost == set()
    report(
        "a server that refuses",
        "503 to every request",
        "kept as a failed look of each slice; exit code 1",
        lost,
    )
