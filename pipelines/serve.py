"""The published copy over HTTP: read-only, on this machine alone.

Belongs here: which file a path means and how it is sent. Does not belong here: what is published
(`publish.py`). Nothing is written, nothing outside the version that `current` points to is read, and each
request finds the version anew: whoever publishes needs no restart here. Parts of files are sent when they
are asked for, since readers of Parquet ask for the end first.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from pipelines.failure import Failure

ADDRESS = "127.0.0.1"
CHUNK_BYTES = 1 << 20
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".json": "application/json",
    ".md": "text/markdown; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".png": "image/png",
    ".parquet": "application/vnd.apache.parquet",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
    # The page brings its scripts, styles and data in itself, and may ask nobody for more.
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'",
}


class PortTaken(Failure):
    """Another program listens on the port."""


def server(published: Path, port: int) -> ThreadingHTTPServer:
    """A server of the newest version below `published`, on 127.0.0.1; port 0: any that is free.

    The caller runs and closes it. Raises PortTaken, and Failure where nothing is published yet.
    """
    if not (published / "current").exists():
        raise Failure(f"nothing is published in {published} yet; run `tokenyield build`")
    try:
        return ThreadingHTTPServer((ADDRESS, port), partial(Reader, published))
    except OSError as error:
        raise PortTaken(f"port {port} of {ADDRESS} cannot be had ({error}); name another: --port") from error


class Reader(BaseHTTPRequestHandler):
    """Answers GET and HEAD, and refuses everything else."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "tokenyield", ""
    timeout = 30

    def __init__(self, published: Path, *args: object) -> None:
        self.published = published
        super().__init__(*args)

    def do_GET(self) -> None:
        """Send a file, a part of it, or the list of files where a version has no page."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Send what a GET would, without the body."""
        self._answer(with_body=False)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: an address may be asked for by any page that a browser has open."""

    def _answer(self, with_body: bool) -> None:
        if not self._is_asked_by_name():
            return self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "this server answers to localhost alone")
        version = (self.published / "current").resolve()
        path = file_of(version, self.path)
        if path == version:
            page = version / "index.html"
            path = page if page.is_file() else None
            if path is None:
                body = _listing(version).encode()
                return self._send_text(HTTPStatus.OK, body, TYPES[".html"], with_body)
        if path is None:
            return self._refuse(HTTPStatus.NOT_FOUND, "no such file in this version; see manifest.json")
        try:
            with path.open("rb") as stream:
                self._send_file(version, path, stream, with_body)
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            self.close_connection = True

    def _is_asked_by_name(self) -> bool:
        # A page elsewhere may point a name of its own at this machine to read what a browser here can.
        name = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        return name in (ADDRESS, "localhost", "::1")

    def _send_file(self, version: Path, path: Path, stream: BinaryIO, with_body: bool) -> None:
        size = os.fstat(stream.fileno()).st_size
        tag = f'"{version.name}-{hashlib.sha256(str(path.relative_to(version)).encode()).hexdigest()[:16]}"'
        if self.headers.get("If-None-Match") == tag and "Range" not in self.headers:
            return self._start(HTTPStatus.NOT_MODIFIED, {"ETag": tag, "Content-Length": "0"})
        # A part of another version is no part of this one: the whole file is sent instead.
        asked = self.headers.get("Range") if self.headers.get("If-Range") in (None, tag) else None
        part = byte_range(asked, size)
        if part is None:
            return self._start(
                HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE,
                {"Content-Range": f"bytes */{size}", "Content-Length": "0"},
            )
        first, after = part
        headers = {
            "Content-Type": TYPES.get(path.suffix, "application/octet-stream"),
            "Content-Length": str(after - first),
            "Accept-Ranges": "bytes",
            "ETag": tag,
        }
        status = HTTPStatus.OK
        if after - first < size:
            status = HTTPStatus.PARTIAL_CONTENT
            headers["Content-Range"] = f"bytes {first}-{after - 1}/{size}"
        self._start(status, headers)
        stream.seek(first)
        left = after - first if with_body else 0
        while left and (chunk := stream.read(min(left, CHUNK_BYTES))):
            self.wfile.write(chunk)
            left -= len(chunk)

    def _send_text(self, status: HTTPStatus, body: bytes, kind: str, with_body: bool = True) -> None:
        self._start(status, {"Content-Type": kind, "Content-Length": str(len(body))})
        if with_body:
            self.wfile.write(body)

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send_text(
            status, f"{status.value}: {why}\n".encode(), "text/plain; charset=utf-8", self.command != "HEAD"
        )

    def _start(self, status: HTTPStatus, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in (HEADERS | headers).items():
            self.send_header(name, value)
        self.end_headers()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Refuse in one plain line: the standard page repeats what was asked."""
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        self.close_connection = True
        body = f"{status.value}: {status.phrase}; this server is read only: GET and HEAD\n".encode()
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Allow", "GET, HEAD")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def file_of(version: Path, target: str) -> Path | None:
    """The file of the version that a request's target means, the version itself for `/`, or None.

    A file that is not in the version is none, wherever a name or a link leads.
    """
    name = unquote(urlsplit(target).path, errors="strict") if _is_text(target) else "\0"
    if "\0" in name or "\\" in name or any(part in ("..", ".") for part in name.split("/")):
        return None
    try:
        path = version.joinpath(*filter(None, name.split("/"))).resolve(strict=True)
    except (OSError, ValueError):
        return None
    if path == version or (path.is_relative_to(version) and path.is_file()):
        return path
    return None


def _is_text(target: str) -> bool:
    try:
        unquote(target, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def byte_range(asked: str | None, size: int) -> tuple[int, int] | None:
    """First byte and the one after the last of what a Range header asks; the whole file without one.

    None: the file has no such part. A header that is no single range of bytes is ignored, as RFC 9110
    (14.2) allows.
    """
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", asked or "")
    if not found or found.groups() == ("", ""):
        return 0, size
    first, last = found.groups()
    if not first:  # the last so many bytes
        return (max(size - int(last), 0), size) if int(last) and size else None
    if last and int(last) < int(first):
        return 0, size
    if int(first) >= size:
        return None
    return int(first), min(int(last) + 1, size) if last else size


def _listing(version: Path) -> str:
    files = json.loads((version / "manifest.json").read_text(encoding="utf-8"))["files"]
    lines = "\n".join(
        f'<li><a href="/{html.escape(name)}">{html.escape(name)}</a></li>'
        for name in [*sorted(files), "manifest.json"]
    )
    return f"<!doctype html><title>tokenyield {html.escape(version.name)}</title><ul>\n{lines}\n</ul>\n"
