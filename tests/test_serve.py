"""The published copy over HTTP, with real requests on loopback: what is served, what is refused."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipelines.home import PROJECT
from pipelines.serve import ADDRESS, byte_range, server

Answer = tuple[int, dict[str, str], bytes]


@contextmanager
def serving(published: Path) -> Iterator[int]:
    with server(published, 0) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running.server_address[1]
        finally:
            running.shutdown()
            thread.join()


def publish(root: Path, version: str, text: str) -> Path:
    """A version as publishing leaves it, with one table."""
    folder = root / version
    (folder / "parquet").mkdir(parents=True)
    (folder / "parquet" / "headline.parquet").write_text(text)
    (folder / "manifest.json").write_text(json.dumps({"files": {"parquet/headline.parquet": "-"}}))
    moved = root / "next"
    moved.symlink_to(version)
    os.replace(moved, root / "current")
    return folder


@pytest.fixture
def published(tmp_path: Path) -> Path:
    root = tmp_path / "published"
    publish(root, "20261130T120000000000Z", "0123456789")
    (tmp_path / "secret.txt").write_text("outside")
    (root / "secret.txt").write_text("beside")
    return root


@pytest.fixture
def port(published: Path) -> Iterator[int]:
    with serving(published) as found:
        yield found


def ask(port: int, target: str, method: str = "GET", **headers: str) -> Answer:
    """One request, its target sent as it is written."""
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=10)
    connection.putrequest(method, target, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_a_file_of_the_version_is_sent_whole(port):
    status, headers, body = ask(port, "/parquet/headline.parquet")
    assert (status, body) == (200, b"0123456789")
    assert headers["Content-Type"] == "application/vnd.apache.parquet"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-cache"


def test_a_head_is_what_a_get_would_send_without_its_body(port):
    status, headers, body = ask(port, "/parquet/headline.parquet", "HEAD")
    assert (status, headers["Content-Length"], body) == (200, "10", b"")


@pytest.mark.parametrize(
    ("asked", "status", "part", "said"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-3", 206, b"789", "bytes 7-9/10"),
        ("bytes=8-99", 206, b"89", "bytes 8-9/10"),
        ("bytes=-99", 200, b"0123456789", None),
        ("bytes=4-2", 200, b"0123456789", None),
        ("bytes=1-2,4-5", 200, b"0123456789", None),
        ("pages=1-2", 200, b"0123456789", None),
        ("bytes=-", 200, b"0123456789", None),
        ("bytes=10-", 416, b"", "bytes */10"),
        ("bytes=-0", 416, b"", "bytes */10"),
    ],
)
def test_a_part_is_sent_as_asked_for(port, asked, status, part, said):
    found, headers, body = ask(port, "/parquet/headline.parquet", Range=asked)
    assert (found, body, headers.get("Content-Range")) == (status, part, said)


def test_what_a_reader_has_already_is_not_sent_again(port):
    tag = ask(port, "/parquet/headline.parquet")[1]["ETag"]
    assert ask(port, "/parquet/headline.parquet", If_None_Match=tag)[0] == 304
    assert ask(port, "/manifest.json", If_None_Match=tag)[0] == 200


def test_a_new_version_is_served_without_a_restart_and_no_part_of_it_is_taken_for_the_old(published, port):
    tag = ask(port, "/parquet/headline.parquet")[1]["ETag"]
    publish(published, "20261130T130000000000Z", "abcdefghij")
    assert ask(port, "/parquet/headline.parquet", If_None_Match=tag)[2] == b"abcdefghij"
    status, _, body = ask(port, "/parquet/headline.parquet", Range="bytes=5-", If_Range=tag)
    assert (status, body) == (200, b"abcdefghij")


@pytest.mark.parametrize(
    "target",
    [
        "/../secret.txt",
        "/../../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e%2f%2e%2e%2fsecret.txt",
        "/..%5csecret.txt",
        "/parquet/../../secret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/etc/passwd",
        "/link.txt",
        "/folder/secret.txt",
        "/parquet/headline.parquet%00.html",
        "/%ff%fe",
        "/parquet",
        "/absent",
        "/.unfinished-1/tokenyield.duckdb",
    ],
)
def test_nothing_outside_the_version_is_read(published, port, target):
    version = (published / "current").resolve()
    (version / "link.txt").symlink_to(published / "secret.txt")
    (version / "folder").symlink_to(published)
    status, _, body = ask(port, target)
    assert status == 404
    assert not re.search(b"outside|beside|root:", body)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "MOVE"])
def test_nothing_can_be_written(published, port, method):
    before = sorted(path.name for path in published.rglob("*"))
    status, headers, _ = ask(port, "/parquet/headline.parquet", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")
    assert sorted(path.name for path in published.rglob("*")) == before


def test_a_page_elsewhere_cannot_read_through_a_name_of_its_own(port):
    assert ask(port, "/manifest.json", Host="evil.example")[0] == 421
    assert ask(port, "/manifest.json", Host=f"localhost:{port}")[0] == 200


def test_without_a_page_the_files_are_listed_and_with_one_it_is_shown(published, port):
    assert b'href="/parquet/headline.parquet"' in ask(port, "/")[2]
    (published / "current" / "index.html").write_text("<!doctype html>the page")
    status, headers, body = ask(port, "/?speed=50")
    assert (status, body) == (200, b"<!doctype html>the page")
    assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_only_the_one_address_is_listened_on(port):
    # The whole of 127/8 is this machine; a server of every address would answer here too.
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port), timeout=5)


def test_a_range_of_an_empty_file_is_the_file():
    assert byte_range(None, 0) == (0, 0)
    assert byte_range("bytes=0-", 0) is None


# The command


def command(home: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pipelines.cli", "serve", *options],
        cwd=PROJECT,
        env={**os.environ, "TOKENYIELD_HOME": str(home)},
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_command_says_where_it_serves_and_stops_when_asked(published):
    process = command(published.parent, "--port", "0")
    try:
        said = process.stderr.readline()
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", said)[1])
        assert ask(port, "/manifest.json")[0] == 200
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
    assert process.stderr.read() == "stopped\n"


def test_a_port_that_is_taken_is_named_with_its_cure(published, port):
    process = command(published.parent, "--port", str(port))
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert re.fullmatch(rf"error: port {port} .*--port\n", said)


def test_nothing_published_is_said(tmp_path):
    process = command(tmp_path, "--port", "0")
    _, said = process.communicate(timeout=30)
    assert (process.returncode, "tokenyield build" in said) == (1, True)


@pytest.mark.skipif(not shutil.which("curl"), reason="no curl on this machine")
def test_a_client_of_its_own_reads_it(port):
    found = subprocess.run(
        ["curl", "-sS", "-r", "0-3", f"http://127.0.0.1:{port}/parquet/headline.parquet"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == "0123"
