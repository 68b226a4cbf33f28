"""Keys stand in the environment and nowhere else, whatever a server does; no path leaves the machine.

Belongs here: real fetches by every source that takes a key, a build and a publication after them, and a look
into every byte that they left. Does not belong here: redirects and certificates (`test_http.py`).
"""

from __future__ import annotations

import gzip
import os
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote, quote_plus

import duckdb
import pytest
from faults.fault_report import Report
from faults.few_seeds import small_project
from misbehaving_server import MisbehavingServer

from pipelines import source
from pipelines.home import PROJECT, Home
from pipelines.http import Fetcher, FetchError, Limits, Slice
from pipelines.source import Source, all_sources

# Cudo answers without a key too, so it declares none that it must have.
VARIABLES = {slug: found.key_variable for slug, found in all_sources().items() if found.key_variable} | {
    "cudo": "CUDO_API_KEY"
}
# A plus and a slash, so that a key that was encoded on its way is another text.
KEYS = {variable: f"s3cr3t+{variable.lower()}/0123456789" for variable in VARIABLES.values()}
HOOK_KEY = "s3cr3t-of-the-webhook-0123456789"
HEADERS = ("authorization", "x-apitoken")
ROUTES = (
    "echo", "key-in-a-refusal", "key-in-a-redirect", "key-in-a-redirect-elsewhere", "key-in-the-status-line",
    "broken", "hang-up",
)  # fmt: skip
EXPECTED = {
    "echo": "key_in_answer",
    "key-in-a-refusal": "http_status",
    "key-in-a-redirect": None,
    "key-in-a-redirect-elsewhere": "host_not_allowed",
    "key-in-the-status-line": "connection",
    "broken": "http_status",
    "hang-up": "connection",
}
QUICK = Limits(attempts=1, min_interval_seconds=0, backoff_seconds=0.01)


@pytest.fixture(autouse=True)
def _planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_KEYS", set())
    for variable, key in KEYS.items():
        monkeypatch.setenv(variable, key)


def asking(found: Source, address: str) -> Source:
    """A source that asks with its own headers, and each misbehaviour of the server in a slice of its own."""
    ask = found.requests
    return replace(
        found,
        requests=lambda: [
            replace(request, url=f"{address}/{route}", slice=route)
            for request in list(ask())[:1]
            for route in ROUTES
        ],
        next_request=None,
        needs_permission=False,
    )


@pytest.mark.parametrize("slug", sorted(VARIABLES))
def test_an_answer_that_repeats_the_key_is_refused_and_no_message_says_it(slug: str, report: Report) -> None:
    key = KEYS[VARIABLES[slug]]
    with MisbehavingServer() as server, Fetcher(QUICK, loopback_http=True) as fetcher:
        found = dict(zip(ROUTES, fetcher.slices(asking(all_sources()[slug], server.url(""))), strict=True))
        assert all(key in str(asked.headers) for asked in server.asked if asked.path != "/ok")
    reasons = {route: getattr(answer, "reason", None) for route, answer in found.items()}
    assert reasons == EXPECTED
    for answer in found.values():
        if isinstance(answer, FetchError):
            texts = [str(answer), repr(answer), repr(answer.__cause__)]
            assert "\n" not in texts[0]
        else:
            assert isinstance(answer, Slice)
            texts = [repr(answer)]
        assert not [text for text in texts if key in text]
    report(
        "a server says the key back",
        "in the body, in a refusal and its headers, in two redirects and in a status line",
        "the body is refused (key_in_answer); every message and address has *** in its place",
        [route for route in ROUTES if route not in found],
    )


def test_a_key_that_is_too_short_to_be_one_hides_nothing(
    monkeypatch: pytest.MonkeyPatch, report: Report
) -> None:
    monkeypatch.setenv("JL_API_KEY", "price")
    short = replace(all_sources()["jarvislabs"], requests=None)
    assert source.secret("JL_API_KEY") == "price"
    assert not source.repeats_a_key(b'{"price": 2.49}')
    report(
        "a variable holds a word in the place of a key",
        "a key of five letters that stands in every payload",
        "payloads are read as before",
        [] if short.key_variable else ["the key variable"],
    )


RUN = """
import os, sys
from pipelines import http
from pipelines.source import all_sources
sys.path[:0] = sys.argv[2:]
import test_security_keys as here

http.Fetcher.__init__.__defaults__ = (None, True)  # plain HTTP to this machine
http.Limits.__init__.__defaults__ = tuple(vars(here.QUICK).values())
found = all_sources()
kept = {slug: here.asking(found[slug], sys.argv[1]) for slug in here.VARIABLES}
found.clear()
found.update(kept)

import dagster as dg
from pipelines import cli
from pipelines.home import Home
cli.dagster_home(Home.from_environment())
from pipelines.definitions import defs
with dg.DagsterInstance.get() as instance:
    assert defs.resolve_job_def("ingest").execute_in_process(instance=instance).success
print("fetch ended:", cli.app(["fetch"], standalone_mode=False))
cli.app(["build"], standalone_mode=False)
"""


def everything(root: Path) -> dict[str, bytes]:
    """Every file below a folder by its name, as bytes; what is packed is unpacked, tables are written out."""
    found = {}
    for path in sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink()):
        body = path.read_bytes()
        name = str(path.relative_to(root))
        if path.suffix == ".gz":
            body += gzip.decompress(body)
        if path.suffix == ".duckdb":
            body += tables(path)
        if path.suffix == ".parquet":
            with duckdb.connect() as connection:
                body += repr(connection.execute("from read_parquet(?)", [str(path)]).fetchall()).encode()
        found[name] = body
    return found


def tables(path: Path) -> bytes:
    with duckdb.connect(str(path), read_only=True) as connection:
        listed = "select schema_name || '.' || table_name from duckdb_tables() where not internal"
        names = [name for (name,) in connection.execute(listed).fetchall()]
        texts = []
        for name in names:
            texts += [
                row for (row,) in connection.execute(f"select cast(t as varchar) from {name} as t").fetchall()
            ]
        return "\n".join(text for text in texts if text).encode()


@pytest.mark.slow
def test_no_key_and_no_path_is_left_anywhere_by_a_fetch_a_build_and_a_publication(
    tmp_path: Path, report: Report
) -> None:
    home, project = Home(tmp_path / "home-of-keys"), small_project(tmp_path / "project")
    with MisbehavingServer() as server:
        done = subprocess.run(
            [sys.executable, "-c", RUN, server.url(""), *map(str, Path(__file__).parents[:2])],
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={
                **os.environ,
                **KEYS,
                "TOKENYIELD_HOME": str(home.root),
                "TOKENYIELD_WEBHOOK_URL": server.url(f"/missing?key={HOOK_KEY}"),
                "PYTHONPATH": str(project),
            },
        )
        assert any(asked.query.get("key") == HOOK_KEY for asked in server.asked)
        assert set(KEYS.values()) <= {
            value.removeprefix("Bearer ") for asked in server.asked for value in asked.headers.values()
        }
    assert done.returncode == 0, done.stderr[-3000:]
    assert "fetch ended: 1" in done.stdout
    assert done.stderr.count("the answer repeats the key") >= len(KEYS)

    left = everything(home.root) | {"stdout": done.stdout.encode(), "stderr": done.stderr.encode()}
    assert {"warehouse.duckdb", "stderr"} <= left.keys()
    assert [name for name in left if name.startswith("dagster/") and name.endswith(".db")]
    stored = [name for name in left if name.startswith("snapshots/") and "/key-in" not in name]
    assert any(f"{slug}/" in name for slug in VARIABLES for name in stored)
    secrets = [form.encode() for key in (*KEYS.values(), HOOK_KEY) for form in written_forms(key)]
    told = [name for name, body in left.items() if any(key in body for key in secrets)]
    assert told == []

    published = {name: body for name, body in left.items() if name.startswith("published/")}
    assert [name for name in published if name.endswith("index.html")]
    places = [str(home.root), str(project), str(tmp_path), str(PROJECT), "X-Key", *HEADERS]
    host = socket.gethostname()
    places += [host] if len(host) > 5 and host != "localhost" else []
    leaks = {
        (name, place)
        for name, body in published.items()
        for place in places
        if re.search(
            rb"(?i)\b" + re.escape(place.encode()) if place[0].isalpha() else re.escape(place.encode()), body
        )
    }
    assert leaks == set()
    report(
        "every source with a key meets a server that says it back, then all is built and published",
        "seven sources and a webhook whose address holds a key, real fetches by Dagster and by the command",
        "no key in output, logs, history of runs, sidecars, tables, page or feed; no path or host name in "
        "what is published",
        told,
    )


def written_forms(key: str) -> set[str]:
    return {key, key.replace("/", "\\/"), quote(key), quote(key, safe=""), quote_plus(key)}
