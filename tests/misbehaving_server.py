"""A web server on this machine that does, by path, what servers out there do wrong.

Belongs here: the misbehaviours, as real HTTP, and the record of what was asked and when.
Does not belong here: what a client should make of them (`test_http.py`).
"""

from __future__ import annotations

import gzip
import json
import ssl
import struct
import threading
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SO_LINGER, SOL_SOCKET
from typing import Self
from urllib.parse import parse_qs, urlsplit

BOMB_BYTES = 64 * 1024 * 1024
DRIP_SECONDS = 0.1


@cache
def bomb() -> bytes:
    """About 64 KB of gzip that decode to BOMB_BYTES."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    zeros = bytes(1024 * 1024)
    return b"".join(packer.compress(zeros) for _ in range(BOMB_BYTES // len(zeros))) + packer.flush()


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it. at: seconds of `time.monotonic()`."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    at: float


class Handler(BaseHTTPRequestHandler):
    """Dispatches `/some-thing` to `some_thing`; `self.times` counts the requests of that path so far."""

    protocol_version = "HTTP/1.1"
    server: MisbehavingServer

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the tests read `server.asked`."""

    def do_GET(self) -> None:
        """Record the request, then misbehave."""
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.asked = Asked(parts.path, query, dict(self.headers), body, time.monotonic())
        self.server.asked.append(self.asked)
        self.times = self.server.count(parts.path)
        route: Callable[[], None] = getattr(self, parts.path.strip("/").replace("-", "_"))
        try:
            route()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    do_POST = do_GET

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        """Send one whole response."""
        self.send_response(status)
        headers = {"Content_Type": "application/json", "Content_Length": str(len(body))} | headers
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def drip(self, text: bytes) -> None:
        """Send `text` one byte at a time until the server is closed."""
        for byte in text:
            if self.server.closing.wait(DRIP_SECONDS):
                break
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
        self.close_connection = True

    # What works.

    def ok(self) -> None:
        self.answer(b'{"price": 2.49}')

    def given(self) -> None:
        self.answer(self.asked.query["body"].encode())

    def echo(self) -> None:
        self.answer(json.dumps({"headers": self.asked.headers, "body": self.asked.body.decode()}).encode())

    def zipped(self) -> None:
        self.answer(gzip.compress(b'{"a":') + gzip.compress(b" 1}") + bytes(8), Content_Encoding="gzip")

    def page(self) -> None:
        number = int(self.asked.query.get("n", "1"))
        self.answer(json.dumps({"rows": [number], "next": number + 1 if number < 4 else None}).encode())

    # Statuses.

    def busy_once(self) -> None:
        if self.times == 1:
            return self.answer(b"", 429, Retry_After="1")
        return self.ok()

    def busy_until_a_date(self) -> None:
        if self.times == 1:
            # The header knows whole seconds: two, cut down, are at least one.
            until = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
            return self.answer(b"", 503, Retry_After=until)
        return self.ok()

    def busy_twice_without_a_word(self) -> None:
        return self.answer(b"", 429) if self.times < 3 else self.ok()

    def busy_for_an_hour(self) -> None:
        self.answer(b"", 429, Retry_After="3600")

    def broken(self) -> None:
        self.answer(b"oops", 500)

    def missing(self) -> None:
        self.answer(b"no such thing", 404)

    def partial_content(self) -> None:
        self.answer(b'{"price"', 206)

    # Keys, said back.

    @property
    def key(self) -> str:
        """The key of the request, in whatever header it came."""
        found = {name.lower(): value for name, value in self.asked.headers.items()}
        names = ("authorization", "x-api-key", "api_key", "x-apitoken")
        return next((found[name].removeprefix("Bearer ") for name in names if name in found), "no-key")

    def key_in_a_refusal(self) -> None:
        self.answer(self.key.encode(), 401, X_Key=self.key, WWW_Authenticate=f"Bearer {self.key}")

    def key_in_a_redirect(self) -> None:
        self.answer(b"", 302, Location=f"/ok?back={self.key}")

    def key_in_a_redirect_elsewhere(self) -> None:
        self.answer(b"", 302, Location=f"https://elsewhere.example/{self.key}/{self.key}")

    def key_in_the_status_line(self) -> None:
        self.close_connection = True
        self.wfile.write(f"HTTP/1.1 200 {self.key}\r\nContent-Length: x{self.key}\r\n\r\n".encode())

    # Redirects: `to` says where.

    def redirect(self) -> None:
        self.answer(b"", 302, Location=self.asked.query["to"])

    def redirect_circle(self) -> None:
        self.answer(b"", 302, Location="/redirect-circle")

    # Bodies.

    def login_page(self) -> None:
        self.answer(b"<p>Please log in", Content_Type="text/html; charset=utf-8")

    def page_called_json(self) -> None:
        self.answer(b"\xef\xbb\xbf\n <!DOCTYPE html><html><body>busy</body></html>")

    def slow_body(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.drip(b"x" * 1000)

    def slow_headers(self) -> None:
        self.drip(b"HTTP/1.1 200 OK\r\nX-Filler: " + b"x" * 1000)

    def silent(self) -> None:
        self.server.closing.wait(20)
        self.close_connection = True

    def cut_short(self) -> None:
        self.close_connection = True
        self.answer(b'{"rows": [1, 2', Content_Length="1000")

    def cut_gzip(self) -> None:
        self.answer(gzip.compress(b'{"rows": [1, 2, 3]}' * 50)[:-12], Content_Encoding="gzip")

    def no_gzip(self) -> None:
        self.answer(b'{"price": 2.49}', Content_Encoding="gzip")

    def brotli(self) -> None:
        self.answer(b"\x8b\x02\x80{}\x03", Content_Encoding="br")

    def gzip_bomb(self) -> None:
        self.answer(bomb(), Content_Encoding="gzip")

    def huge(self) -> None:
        self.answer(b"0" * 1_000_000)

    def echo_in_a_broken_header(self) -> None:
        self.close_connection = True
        self.wfile.write(f"HTTP/1.1 200 OK\r\n{self.asked.headers['X-Api-Key']}\r\n\r\n".encode())

    def hang_up(self) -> None:
        # A reset instead of a polite end.
        self.connection.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def hang_up_once(self) -> None:
        if self.times == 1:
            self.close_connection = True
            return None
        return self.ok()

    # Paging.

    def endless(self) -> None:
        self.answer(json.dumps({"next": int(self.asked.query.get("n", "1")) + 1}).encode())

    def circle(self) -> None:
        number = int(self.asked.query.get("n", "1"))
        self.answer(json.dumps({"rows": [number], "next": number % 3 + 1}).encode())

    def same_page(self) -> None:
        self.answer(b'{"rows": [1, 2]}')

    def page_3_broken(self) -> None:
        return self.broken() if self.asked.query.get("n") == "3" else self.page()


class MisbehavingServer(ThreadingHTTPServer):
    """Serves on 127.0.0.1 and a free port while it is entered; with a context, over TLS."""

    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        self._scheme = "https" if tls else "http"
        if tls:
            # The handshake belongs into the thread of its connection, not into the accepting one.
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that give up are what is tested here."""

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of `path` on this server."""
        return f"{self._scheme}://{host}:{self.server_port}{path}"

    def count(self, path: str) -> int:
        """How often `path` was asked, whatever its query."""
        return sum(asked.path == path for asked in self.asked)
