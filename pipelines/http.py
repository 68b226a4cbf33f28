"""The one HTTP client: timeouts, retries with Retry-After, size and time caps, politeness per host.

Belongs here: how bytes are asked for, and when an answer is refused before anyone reads it.
Does not belong here: the meaning of the bytes (no parsing, beyond seeing that HTML is no data) and the
disk (`snapshots.py`). A slice comes back whole or not at all.

It runs on asyncio although it asks for one thing at a time: read timeouts start afresh with every byte,
so only cancellation ends a server that sends one byte a second, be it in the headers or in the body.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import ssl
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import metadata
from typing import Self
from urllib.parse import unquote, urlsplit

import httpx

from pipelines.failure import Failure
from pipelines.retry import stamina
from pipelines.source import Part, Request, Source, SourceError, repeats_a_key, without_keys

# httpx writes every URL into its log, with the keys that stand in the query.
logging.getLogger("httpx").setLevel(logging.WARNING)

MAX_REDIRECTS = 5
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
TRANSIENT_STATUS = frozenset({429, 500, 502, 503, 504})
SECRET_IN_QUERY = re.compile(r"(?i)(?:^|[?&])(?:key|api[_-]?key|token|access[_-]?token)=")
HTML_START = re.compile(rb"(?i)(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)\b")
SHOWN_URL_LENGTH = 300

# Every reason that a FetchError may have, with what a person can do about it.
ADVICE = {
    "connection": "check the network and the host name, then try again",
    "host_not_allowed": "if that host may be trusted, name it in `allowed_hosts`",
    "html_in_place_of_data": "open the URL: it may want a login or have moved",
    "http_status": "401 and 403 want a valid key, 3xx and 404 a new address, 429 and 5xx another time",
    "key_in_answer": "nothing of it is kept; ask the provider why it repeats keys, and change the key",
    "invalid_request": "check the source's URL, and its key for a line break or an empty variable",
    "next_request_failed": "compare the page with what the source's `next_request` expects",
    "not_https": "give the https address",
    "redirect_to_http": "give the https address that it leads to",
    "repeated_page": "the paging has changed: compare `next_request` with the API's documentation",
    "timeout": "try again later, or raise the time limits if the source is known to be slow",
    "tls": "check the host's certificate and this machine's clock; checks are never switched off",
    "too_large": "if the payload has honestly grown, raise `max_bytes`",
    "too_many_pages": "if the list has honestly grown, raise `max_pages`",
    "truncated": "try again; nothing of a part is kept",
    "undecodable": "the server compresses in a way that it was not asked for, or wrongly",
}


@dataclass(frozen=True)
class Limits:
    """What a fetch may cost. Time in seconds, size in bytes after content decoding.

    connect_seconds, read_seconds: one connection, one wait for more bytes. total_seconds: one request
    with its redirects, waits and retries. source_seconds: a source, with what the caller does meanwhile.
    max_bytes, max_pages: all parts of one slice together.
    attempts: tries of one request, the first included.
    min_interval_seconds: between the starts of two requests to one host.
    backoff_seconds: first wait between tries where no Retry-After is sent; doubles, plus as much jitter.
    """

    connect_seconds: float = 10
    read_seconds: float = 30
    total_seconds: float = 120
    source_seconds: float = 600
    max_bytes: int = 512 * 1024 * 1024
    max_pages: int = 2000
    attempts: int = 4
    min_interval_seconds: float = 1.0
    backoff_seconds: float = 1.0


class FetchError(Failure):
    """A slice could not be fetched whole. As text: one line that says what, where and what to do.

    reason: a key of ADVICE. source, slice, url (redacted): what is lost.
    transient: another try may succeed. retry_after: seconds that the server asks to wait, or None.
    """

    def __init__(
        self, reason: str, what: str, url: str = "", transient: bool = False, retry_after: float | None = None
    ) -> None:
        super().__init__(reason, what)
        self.reason, self.what, self.url = reason, what, redacted(url)
        self.transient, self.retry_after = transient, retry_after
        self.source = self.slice = ""

    def __str__(self) -> str:
        line = f"{self.source}: {self.what} ({self.url[:SHOWN_URL_LENGTH]}); {ADVICE[self.reason]}"
        # Text from outside may hold line breaks and control characters.
        return without_keys(" ".join("".join(c if c.isprintable() else " " for c in line).split()))


@dataclass(frozen=True)
class Slice:
    """Every part of one slice, in order: what one snapshot is made of."""

    name: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Errand:
    """What holds for all requests of one source. deadline: on the clock of `time.monotonic()`."""

    hosts: frozenset[str]
    deadline: float
    loopback_http: bool = False

    def check(self, url: httpx.URL, came_from: httpx.URL | None = None) -> None:
        """Raise FetchError unless `url` may be asked; `came_from` is the URL that redirects to it."""
        loopback = self.loopback_http and url.host in LOOPBACK
        downgrade = came_from is not None and came_from.scheme == "https"
        where = redacted(str(url))[:SHOWN_URL_LENGTH]
        if url.scheme != "https" and (url.scheme != "http" or not loopback or downgrade):
            if came_from is None:
                raise FetchError("not_https", "not an https address")
            raise FetchError("redirect_to_http", f"redirected away from https, to {where}")
        if url.host not in self.hosts:
            raise FetchError("host_not_allowed", f"sent to a host that the source does not declare, {where}")


class Fetcher:
    """Fetches sources, one request at a time. A context manager; not for use inside a running event loop.

    `transport` replaces the network below httpx, say to trust a certificate of one's own;
    `loopback_http` lets plain HTTP through to this machine and nowhere else.
    """

    def __init__(
        self, limits: Limits, transport: httpx.AsyncBaseTransport | None = None, loopback_http: bool = False
    ) -> None:
        self.limits, self._transport, self._loopback_http = limits, transport, loopback_http
        self._last_asked: dict[str, float] = {}

    def __enter__(self) -> Self:
        # Gzip alone, because `Gunzip` can be held to a size and notices a stream that is cut off.
        headers = {"User-Agent": user_agent(), "Accept-Encoding": "gzip"}
        timeout = httpx.Timeout(self.limits.read_seconds, connect=self.limits.connect_seconds)
        self._client = httpx.AsyncClient(headers=headers, timeout=timeout, transport=self._transport)
        self._runner = asyncio.Runner()
        return self

    def __exit__(self, *exception: object) -> None:
        try:
            self._runner.run(self._client.aclose())
        finally:
            self._runner.close()

    def slices(self, source: Source, allowed_hosts: Iterable[str] = ()) -> Iterator[Slice | FetchError]:
        """Yield each slice of `source` as soon as it is whole, or the FetchError that lost it.

        Slices come in the order in which `source.requests()` first names them; a lost one does not end
        the others. Only hosts of the declared requests and `allowed_hosts` are ever asked. Raises
        ValueError for a source that is imported only, and whatever `source.requests()` raises.
        """
        if source.requests is None:
            raise ValueError(f"{source.slug}: imported only, there is nothing to fetch")
        hosts = set(allowed_hosts)
        asked: dict[str, list[Request]] = {}
        for request in source.requests():
            asked.setdefault(request.slice, []).append(request)
            # What is no URL declares no host, and costs its own slice alone when it is asked.
            with suppress(httpx.InvalidURL):
                hosts.add(httpx.URL(request.url).host)
        deadline = time.monotonic() + self.limits.source_seconds
        errand = Errand(frozenset(hosts - {""}), deadline, self._loopback_http)
        for name, requests in asked.items():
            try:
                found: Slice | FetchError = Slice(name, self._parts(source, errand, requests))
            except FetchError as error:
                error.source, error.slice = source.slug, name
                found = error
            yield found

    def _parts(self, source: Source, errand: Errand, requests: list[Request]) -> tuple[Part, ...]:
        """Ask `requests`, each with the pages that follow it; raises FetchError for paging that circles."""
        parts: list[Part] = []
        room = self.limits.max_bytes
        for first in requests:
            seen: set[str] = set()
            request: Request | None = first
            while request is not None:
                if len(parts) == self.limits.max_pages:
                    raise FetchError("too_many_pages", f"more than {len(parts)} pages", request.url)
                # Paging by POST keeps the URL and changes the body.
                identity = json.dumps([request.method, request.url, request.json], default=str)
                if identity in seen:
                    raise FetchError("repeated_page", "sent to the same page again", request.url)
                part = self._fetch(errand, request, f"{len(parts) + 1:04d}", room)
                if seen and part.body == parts[-1].body:
                    raise FetchError("repeated_page", "got the page before once more", request.url)
                seen.add(identity)
                parts.append(part)
                room -= len(part.body)
                request = next_request(source, request, part)
        return tuple(parts)

    def _fetch(self, errand: Errand, request: Request, name: str, room: int) -> Part:
        """Ask until answered, within `limits.attempts` and `limits.total_seconds`."""
        limits = self.limits
        deadline = min(time.monotonic() + limits.total_seconds, errand.deadline)
        longest_backoff = limits.backoff_seconds * 2 ** (limits.attempts - 1)

        def wait_before_retry(error: Exception) -> bool | float:
            if not isinstance(error, FetchError) or not error.transient:
                return False
            # A wait that ends after the deadline would only hide this error behind a timeout.
            if (error.retry_after or longest_backoff) >= deadline - time.monotonic():
                return False
            return error.retry_after or True

        first = limits.backoff_seconds
        retrying = stamina.RetryingCaller(limits.attempts, None, first, longest_backoff, wait_jitter=first)
        run, one_try = self._runner.run, self._try
        return retrying(wait_before_retry, lambda: run(one_try(errand, request, name, room, deadline)))

    async def _try(self, errand: Errand, request: Request, name: str, room: int, deadline: float) -> Part:
        """One try; every way to fail becomes a FetchError, without its cause, which may quote a key."""
        try:
            async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
                return await self._exchange(errand, request, name, room)
        except FetchError as error:
            error.url = redacted(request.url)
            raise
        except TimeoutError:
            ended = "source_seconds" if deadline == errand.deadline else "total_seconds"
            what = f"not done within {ended} = {getattr(self.limits, ended):g}"
            raise FetchError("timeout", what, request.url) from None
        except httpx.TimeoutException as error:
            what = f"no answer in time, {type(error).__name__}"
            raise FetchError("timeout", what, request.url, transient=True) from None
        except httpx.LocalProtocolError:
            raise FetchError("invalid_request", "HTTP does not allow this request", request.url) from None
        except httpx.TransportError as error:
            raise connection_error(error, request.url) from None

    async def _exchange(self, errand: Errand, request: Request, name: str, room: int) -> Part:
        ask = self._built(request)
        errand.check(ask.url)
        for hop in range(MAX_REDIRECTS + 1):
            turn = self._last_asked.get(ask.url.host, float("-inf")) + self.limits.min_interval_seconds
            await asyncio.sleep(max(0.0, turn - time.monotonic()))
            self._last_asked[ask.url.host] = time.monotonic()
            response = await self._client.send(ask, stream=True, follow_redirects=False)
            try:
                following = response.next_request
                if following is None or hop == MAX_REDIRECTS:
                    body = await read_body(response, room)
                    if repeats_a_key(body):  # stored as received, it would lie on the disk for good
                        raise FetchError("key_in_answer", "the answer repeats the key that it was asked with")
                    return Part(name, body, redacted(str(ask.url)), response.status_code)
            finally:
                await response.aclose()
            errand.check(following.url, came_from=ask.url)
            if following.url.netloc != ask.url.netloc:
                # A key for one server is none of another's business, whatever header it travels in.
                for header in request.headers:
                    following.headers.pop(header, None)
            ask = following
        raise AssertionError("the last hop returns or raises")

    def _built(self, request: Request) -> httpx.Request:
        headers = dict(request.headers)
        try:
            return self._client.build_request(request.method, request.url, headers=headers, json=request.json)
        except (httpx.InvalidURL, TypeError, ValueError):
            raise FetchError("invalid_request", "the URL, a header or the body cannot be sent") from None


def next_request(source: Source, request: Request, part: Part) -> Request | None:
    """Ask the source for the request after `part`; an exception of its code becomes a FetchError."""
    if source.next_request is None:
        return None
    try:
        return source.next_request(request, part)
    except Exception as error:
        # A page that the source cannot read must not lose its other slices.
        shown = f": {error}" if isinstance(error, SourceError) else ""
        raise FetchError("next_request_failed", f"{type(error).__name__}{shown}", request.url) from error


async def read_body(response: httpx.Response, room: int) -> bytes:
    """Return the decoded body of at most `room` bytes; raises FetchError for anything but whole data."""
    if response.status_code != 200:
        wait = retry_after(response.headers.get("retry-after", ""), datetime.now(UTC))
        what = f"HTTP {response.status_code}" + (f", asks to wait {wait:.0f} s" if wait else "")
        raise FetchError("http_status", what, "", response.status_code in TRANSIENT_STATUS, wait)
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in {"", "identity", "gzip"}:
        raise FetchError("undecodable", f"content encoding {coding[:40]}")
    gunzip = Gunzip() if coding == "gzip" else None
    body = bytearray()
    try:
        async for chunk in response.aiter_raw():
            body += gunzip.feed(chunk, room - len(body)) if gunzip else chunk
            if len(body) > room:
                raise FetchError("too_large", f"more than the {room} bytes that are left for it")
    except httpx.RemoteProtocolError:
        raise FetchError("truncated", "the body ends too early", transient=True) from None
    except zlib.error:
        raise FetchError("undecodable", "the body is no gzip stream") from None
    if gunzip and not gunzip.member.eof:
        raise FetchError("truncated", "the gzip stream ends too early")
    kind = response.headers.get("content-type", "").strip().lower()
    if kind.startswith("text/html") or HTML_START.match(body):
        raise FetchError("html_in_place_of_data", "an HTML page in place of data")
    return bytes(body)


class Gunzip:
    """Decompresses a gzip stream without ever making more bytes than there is room for.

    httpx has a decoder of its own, which expands a chunk a thousandfold before anyone can count, drops
    all members but the first, and takes a stream that is cut off for a whole one.
    """

    def __init__(self) -> None:
        self.member = zlib.decompressobj(zlib.MAX_WBITS | 16)

    def feed(self, data: bytes, room: int) -> bytes:
        """Return what `data` decodes to, at most `room` + 1 bytes; raises zlib.error for other data."""
        out = bytearray()
        while data and len(out) <= room:
            if self.member.eof:
                # Zeros may pad a stream; anything else must be a further member.
                if not (data := data.lstrip(b"\0")):
                    break
                self.member = zlib.decompressobj(zlib.MAX_WBITS | 16)
            out += self.member.decompress(data, room + 1 - len(out))
            data = self.member.unused_data
        return bytes(out)


def retry_after(value: str, now: datetime) -> float | None:
    """Read a Retry-After header, seconds or an HTTP date, as seconds from `now`; None if it is neither."""
    if re.fullmatch(r"[0-9]{1,9}", value.strip()):
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - now).total_seconds())


def connection_error(error: httpx.TransportError, url: str) -> FetchError:
    """Tell a certificate that is refused (final) from a handshake or a connection that failed."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return FetchError("tls", f"certificate refused, {cause.verify_message}", url)
    if cause is not None:
        return FetchError("tls", f"no TLS connection, {cause.reason}", url, transient=True)
    # An error of the protocol is not quoted: it may echo a header.
    shown = f": {str(error)[:200]}" if isinstance(error, httpx.ConnectError) else ""
    return FetchError("connection", f"{type(error).__name__}{shown}", url, transient=True)


def redacted(url: str) -> str:
    """Return `url` without its fragment, its user, our keys and the values of its secret query keys.

    A key that hides inside another value, as in the return address of a login page, is found too.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "unreadable address"
    pairs = [
        f"{pair.partition('=')[0]}=***" if SECRET_IN_QUERY.search(unquote(pair)) else pair
        for pair in parts.query.split("&")
    ]
    netloc = re.sub(r"^.*@", "***@", parts.netloc)
    return without_keys(parts._replace(netloc=netloc, query="&".join(pairs), fragment="").geturl())


def user_agent() -> str:
    """Who asks: name, version and homepage, from the installed package; the name alone without it."""
    try:
        about = metadata.metadata("tokenyield")
    except metadata.PackageNotFoundError:
        return "tokenyield"
    links = dict(link.split(", ", 1) for link in about.get_all("Project-URL") or ())
    return f"tokenyield/{about['Version']}" + (f" (+{links['Homepage']})" if "Homepage" in links else "")
