"""The HTTP client against a real server that misbehaves. Time is asserted only as a generous bound."""

from __future__ import annotations

import gzip
import json
import logging
import shutil
import ssl
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from misbehaving_server import BOMB_BYTES, MisbehavingServer, bomb

from pipelines.http import (
    ADVICE,
    MAX_REDIRECTS,
    Errand,
    Fetcher,
    FetchError,
    Gunzip,
    Limits,
    Slice,
    redacted,
    retry_after,
)
from pipelines.source import Part, Request, Source, SourceError

QUICK = Limits(
    connect_seconds=1,
    read_seconds=1,
    total_seconds=5,
    source_seconds=10,
    max_bytes=1_000_000,
    max_pages=6,
    attempts=3,
    min_interval_seconds=0,
    backoff_seconds=0.02,
)
SECRET = "s3cr3t-value"


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    with MisbehavingServer() as running:
        yield running


def numbered_next(request: Request, part: Part) -> Request | None:
    """The paging of the server: `next` in the body is the number of the next page."""
    number = json.loads(part.body).get("next")
    return number and replace(request, url=f"{request.url.partition('?')[0]}?n={number}")


def source(
    *requests: Request, next_request: Callable[[Request, Part], Request | None] | None = None
) -> Source:
    return Source(
        kind="rental",
        title="Test",
        homepage="",
        licence="",
        passes_on=False,
        cadence="daily",
        source_rank=1,
        max_age_days=1,
        parse=lambda snapshot: (),
        requests=lambda: requests,
        next_request=next_request,
        slug="testcloud",
    )


def fetched(asked: Source, limits: Limits = QUICK, **kwargs: object) -> list[Slice | FetchError]:
    with Fetcher(limits, loopback_http=True) as fetcher:
        return list(fetcher.slices(asked, **kwargs))


def one_part(request: Request, limits: Limits = QUICK, **kwargs: object) -> Part:
    (found,) = fetched(source(request), limits, **kwargs)
    assert isinstance(found, Slice), found
    (part,) = found.parts
    return part


def one_error(request: Request, limits: Limits = QUICK, **kwargs: object) -> FetchError:
    (found,) = fetched(source(request, **kwargs), limits)
    assert isinstance(found, FetchError), found
    return found


# What works.


def test_a_plain_answer_is_kept_as_it_came(server: MisbehavingServer) -> None:
    url = server.url("/ok")
    assert one_part(Request(url)) == Part("0001", b'{"price": 2.49}', url, 200)
    (asked,) = server.asked
    assert asked.headers["User-Agent"].startswith("tokenyield")
    assert asked.headers["Accept-Encoding"] == "gzip"


def test_a_post_sends_its_json_and_headers(server: MisbehavingServer) -> None:
    asked = Request(server.url("/echo"), method="POST", headers={"X-Kind": "gpu"}, json={"limit": 5})
    heard = json.loads(one_part(asked).body)
    assert json.loads(heard["body"]) == {"limit": 5}
    assert heard["headers"]["X-Kind"] == "gpu"


def test_gzip_of_several_members_with_padding_is_decoded_whole(server: MisbehavingServer) -> None:
    assert one_part(Request(server.url("/zipped"))).body == b'{"a": 1}'


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_gunzip_gives_the_same_bytes_however_they_arrive(step: int) -> None:
    packed, gunzip = bomb()[:3000], Gunzip()
    at_once = Gunzip().feed(packed, BOMB_BYTES)
    pieces = b"".join(gunzip.feed(packed[i : i + step], BOMB_BYTES) for i in range(0, len(packed), step))
    assert len(at_once) > 1_000_000
    assert pieces == at_once


@pytest.mark.parametrize("size", [900, 1001])
def test_gunzip_stays_within_its_room_over_several_members(size: int) -> None:
    packed = gzip.compress(bytes(size)) * 3
    assert len(Gunzip().feed(packed, room=1000)) == 1001


def test_pages_and_requests_of_a_slice_become_its_parts_in_order(server: MisbehavingServer) -> None:
    asked = source(
        Request(server.url("/page"), "a"),
        Request(server.url("/ok"), "b"),
        Request(server.url("/page?n=4"), "a"),
        next_request=numbered_next,
    )
    (a, b) = fetched(asked)
    assert [json.loads(part.body)["rows"] for part in a.parts] == [[1], [2], [3], [4], [4]]
    assert [part.name for part in a.parts] == ["0001", "0002", "0003", "0004", "0005"]
    assert (a.name, b.name, len(b.parts)) == ("a", "b", 1)


def test_an_imported_source_has_nothing_to_fetch() -> None:
    with Fetcher(QUICK) as fetcher, pytest.raises(ValueError, match="imported only"):
        list(fetcher.slices(replace(source(), requests=None)))


# Retries.


def test_retry_after_in_seconds_is_waited_for(server: MisbehavingServer) -> None:
    one_part(Request(server.url("/busy-once")))
    first, second = server.asked
    assert second.at - first.at >= 0.95


def test_retry_after_as_a_date_is_waited_for(server: MisbehavingServer) -> None:
    one_part(Request(server.url("/busy-until-a-date")))
    first, second = server.asked
    assert second.at - first.at >= 0.9


def test_a_busy_server_without_retry_after_is_asked_again(server: MisbehavingServer) -> None:
    assert one_part(Request(server.url("/busy-twice-without-a-word"))).status == 200
    assert server.count("/busy-twice-without-a-word") == 3


def test_a_wait_beyond_the_time_limit_fails_at_once(server: MisbehavingServer) -> None:
    start = time.monotonic()
    error = one_error(Request(server.url("/busy-for-an-hour")))
    assert (error.reason, error.retry_after) == ("http_status", 3600)
    assert "asks to wait 3600 s" in str(error)
    assert server.count("/busy-for-an-hour") == 1
    assert time.monotonic() - start < 5


def test_a_server_that_stays_broken_is_given_up_after_the_attempts(server: MisbehavingServer) -> None:
    error = one_error(Request(server.url("/broken")))
    assert error.reason == "http_status"
    assert "HTTP 500" in str(error)
    assert server.count("/broken") == QUICK.attempts


@pytest.mark.parametrize("path", ["/missing", "/partial-content"])
def test_a_status_that_will_not_change_is_not_tried_again(server: MisbehavingServer, path: str) -> None:
    assert one_error(Request(server.url(path))).reason == "http_status"
    assert server.count(path) == 1


def test_a_dropped_connection_is_tried_again(server: MisbehavingServer) -> None:
    assert one_part(Request(server.url("/hang-up-once"))).status == 200
    assert server.count("/hang-up-once") == 2


def test_a_connection_that_is_always_reset_fails(server: MisbehavingServer) -> None:
    assert one_error(Request(server.url("/hang-up"))).reason == "connection"
    assert server.count("/hang-up") == QUICK.attempts


def test_nobody_listening_fails() -> None:
    with MisbehavingServer() as gone:
        url = gone.url("/ok")
    error = one_error(Request(url))
    assert error.reason == "connection"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Mon, 30 Nov 2026 12:01:30 GMT", 90),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0),
        ("Mon, 30 Nov 2026 12:01:30 -0000", 90),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1e9", None),
        ("9" * 5000, None),
    ],
)
def test_retry_after_is_read(value: str, seconds: float | None) -> None:
    assert retry_after(value, datetime(2026, 11, 30, 12, tzinfo=UTC)) == seconds


# Where a request may go.


def test_a_redirect_on_the_same_host_is_followed(server: MisbehavingServer) -> None:
    part = one_part(Request(server.url("/redirect?to=/ok")))
    assert part.url == server.url("/ok")


def test_a_redirect_to_a_foreign_host_is_refused_before_it_is_asked(server: MisbehavingServer) -> None:
    there = server.url("/ok", host="localhost")
    error = one_error(Request(server.url(f"/redirect?to={there}")))
    assert error.reason == "host_not_allowed"
    assert there in str(error)
    assert server.count("/ok") == 0


def test_a_redirect_to_an_allowed_host_goes_without_the_keys(server: MisbehavingServer) -> None:
    there = server.url("/echo", host="localhost")
    asked = Request(server.url(f"/redirect?to={there}"), headers={"X-Api-Key": SECRET})
    part = one_part(asked, allowed_hosts=["localhost"])
    assert server.asked[0].headers["X-Api-Key"] == SECRET
    assert SECRET.encode() not in part.body


def test_a_redirect_that_never_ends_is_given_up(server: MisbehavingServer) -> None:
    error = one_error(Request(server.url("/redirect-circle")))
    assert error.reason == "http_status"
    assert "HTTP 302" in str(error)
    assert server.count("/redirect-circle") == MAX_REDIRECTS + 1


def test_the_next_page_may_not_be_on_a_foreign_host(server: MisbehavingServer) -> None:
    foreign = Request(server.url("/ok", host="localhost"))
    error = one_error(Request(server.url("/ok")), next_request=lambda request, part: foreign)
    assert error.reason == "host_not_allowed"
    assert server.count("/ok") == 1


def test_plain_http_is_refused_even_to_this_machine_unless_allowed(server: MisbehavingServer) -> None:
    with Fetcher(QUICK) as fetcher:
        (error,) = fetcher.slices(source(Request(server.url("/ok"))))
    assert error.reason == "not_https"
    assert server.asked == []


@pytest.mark.parametrize(
    ("url", "came_from", "reason"),
    [
        ("https://a.example/x", None, None),
        ("https://a.example/x", "https://b.example/", None),
        ("http://a.example/x", "https://a.example/x", "redirect_to_http"),
        ("http://127.0.0.1/x", "https://a.example/x", "redirect_to_http"),
        ("http://127.0.0.1/x", "http://127.0.0.1/y", None),
        ("http://a.example/x", None, "not_https"),
        ("ftp://a.example/x", None, "not_https"),
        ("file:///etc/passwd", "https://a.example/", "redirect_to_http"),
        ("https://evil.example/", "https://a.example/", "host_not_allowed"),
        ("https://a.example@evil.example/", None, "host_not_allowed"),
        ("https://a.example.evil.example/", None, "host_not_allowed"),
        ("https:///x", None, "host_not_allowed"),
    ],
)
def test_where_a_request_may_go(url: str, came_from: str | None, reason: str | None) -> None:
    errand = Errand(frozenset({"a.example", "b.example", "127.0.0.1"}), 0, loopback_http=True)
    before = came_from and httpx.URL(came_from)
    if reason is None:
        errand.check(httpx.URL(url), before)
        return
    with pytest.raises(FetchError) as caught:
        errand.check(httpx.URL(url), before)
    assert caught.value.reason == reason


# TLS.


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    options = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test"
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(cert)]
    subprocess.run(["openssl", *options.split(), *names], check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return both


def test_an_unknown_certificate_is_refused_and_not_tried_again(certificate: Path) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with MisbehavingServer(tls) as server:
        error = one_error(Request(server.url("/ok")))
    assert (error.reason, error.transient) == ("tls", False)
    assert server.asked == []


def test_a_real_redirect_from_https_to_http_is_refused(certificate: Path, server: MisbehavingServer) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    trusting = httpx.AsyncHTTPTransport(verify=ssl.create_default_context(cafile=certificate))
    with MisbehavingServer(tls) as secure, Fetcher(QUICK, trusting, loopback_http=True) as fetcher:
        requests = Request(secure.url("/ok"), "ok"), Request(secure.url(f"/redirect?to={server.url('/ok')}"))
        ok, error = fetcher.slices(source(*requests))
    assert ok.parts[0].status == 200
    assert error.reason == "redirect_to_http"
    assert server.asked == []


def test_a_server_that_speaks_no_tls_is_named_as_such(server: MisbehavingServer) -> None:
    error = one_error(Request(server.url("/ok").replace("http:", "https:")))
    assert error.reason == "tls"


# Time.


@pytest.mark.parametrize("path", ["/slow-body", "/slow-headers"])
def test_a_byte_now_and_then_does_not_outlast_the_total(server: MisbehavingServer, path: str) -> None:
    start = time.monotonic()
    error = one_error(Request(server.url(path)), replace(QUICK, total_seconds=0.6))
    assert error.reason == "timeout"
    assert "total_seconds = 0.6" in str(error)
    assert time.monotonic() - start < 6


def test_silence_is_given_up_after_the_attempts(server: MisbehavingServer) -> None:
    error = one_error(Request(server.url("/silent")), replace(QUICK, read_seconds=0.2))
    assert error.reason == "timeout"
    assert server.count("/silent") == QUICK.attempts


def test_a_source_may_not_take_longer_than_its_time(server: MisbehavingServer) -> None:
    requests = [Request(server.url("/slow-body"), f"s{i}") for i in range(4)]
    start = time.monotonic()
    errors = fetched(source(*requests), replace(QUICK, source_seconds=0.5))
    assert [(e.reason, e.slice) for e in errors] == [("timeout", f"s{i}") for i in range(4)]
    assert "source_seconds" in str(errors[0])
    assert time.monotonic() - start < 5
    assert server.count("/slow-body") == 1


def test_a_host_is_not_asked_faster_than_the_interval(server: MisbehavingServer) -> None:
    requests = [Request(server.url("/ok"), f"s{i}") for i in range(3)]
    fetched(
        source(*requests, Request(server.url("/ok", "localhost"), "other")),
        replace(QUICK, min_interval_seconds=0.4),
    )
    first, second, third, other = (asked.at for asked in server.asked)
    # The server's clock stands at the far end of a connection: a little less than the interval is fine.
    assert second - first > 0.3
    assert third - second > 0.3
    assert other - third < 0.3


# Bodies.


@pytest.mark.parametrize("path", ["/login-page", "/page-called-json"])
def test_html_is_no_data(server: MisbehavingServer, path: str) -> None:
    assert one_error(Request(server.url(path))).reason == "html_in_place_of_data"
    assert server.count(path) == 1


@pytest.mark.parametrize(
    ("path", "reason", "attempts"),
    [
        ("/cut-short", "truncated", 3),
        ("/cut-gzip", "truncated", 1),
        ("/no-gzip", "undecodable", 1),
        ("/brotli", "undecodable", 1),
    ],
)
def test_a_body_that_is_not_whole_is_refused(
    server: MisbehavingServer, path: str, reason: str, attempts: int
) -> None:
    assert one_error(Request(server.url(path))).reason == reason
    assert server.count(path) == attempts


def test_a_gzip_bomb_stops_at_the_cap_in_little_memory(server: MisbehavingServer) -> None:
    assert len(bomb()) < QUICK.max_bytes < BOMB_BYTES
    tracemalloc.start()
    try:
        error = one_error(Request(server.url("/gzip-bomb")))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert error.reason == "too_large"
    assert peak < 8 * QUICK.max_bytes


def test_the_size_cap_holds_for_a_plain_body_to_the_byte(server: MisbehavingServer) -> None:
    assert len(one_part(Request(server.url("/huge"))).body) == QUICK.max_bytes
    error = one_error(Request(server.url("/huge")), replace(QUICK, max_bytes=QUICK.max_bytes - 1))
    assert error.reason == "too_large"


def test_the_size_cap_counts_all_parts_of_a_slice(server: MisbehavingServer) -> None:
    (error,) = fetched(source(Request(server.url("/ok")), Request(server.url("/huge"))))
    assert error.reason == "too_large"


# Paging.


@pytest.mark.parametrize(
    ("path", "reason", "asked"),
    [
        ("/endless", "too_many_pages", QUICK.max_pages),
        ("/circle", "repeated_page", 4),
    ],
)
def test_paging_that_leads_nowhere_ends(
    server: MisbehavingServer, path: str, reason: str, asked: int
) -> None:
    error = one_error(Request(server.url(path)), next_request=numbered_next)
    assert error.reason == reason
    assert server.count(path) == asked


def test_a_server_that_ignores_the_offset_is_noticed(server: MisbehavingServer) -> None:
    def following(request: Request, part: Part) -> Request | None:
        return replace(request, url=f"{request.url}1")

    error = one_error(Request(server.url("/same-page?offset=")), next_request=following)
    assert error.reason == "repeated_page"
    assert server.count("/same-page") == 2


def test_paging_by_post_is_told_apart_by_its_body(server: MisbehavingServer) -> None:
    def following(request: Request, part: Part) -> Request | None:
        return replace(request, json={"offset": 1}) if request.json == {"offset": 0} else None

    first = Request(server.url("/echo"), method="POST", json={"offset": 0})
    (found,) = fetched(source(first, next_request=following))
    assert len(found.parts) == 2


def test_a_failing_page_loses_its_slice_and_no_other(server: MisbehavingServer) -> None:
    asked = source(
        Request(server.url("/page"), "before"),
        Request(server.url("/page-3-broken"), "broken"),
        Request(server.url("/page"), "after"),
        next_request=numbered_next,
    )
    before, broken, after = fetched(asked)
    assert (before.name, len(before.parts)) == ("before", 4)
    assert (after.name, len(after.parts)) == ("after", 4)
    assert isinstance(broken, FetchError)
    assert (broken.reason, broken.slice, broken.source) == ("http_status", "broken", "testcloud")
    assert server.count("/page-3-broken") == 2 + QUICK.attempts


@pytest.mark.parametrize("exception", [KeyError("next"), SourceError("no envelope")])
def test_a_source_that_cannot_read_a_page_loses_that_slice_alone(
    server: MisbehavingServer, exception: Exception
) -> None:
    def confused(request: Request, part: Part) -> Request | None:
        if request.slice == "bad":
            raise exception
        return None

    requests = Request(server.url("/ok"), "bad"), Request(server.url("/ok"), "good")
    bad, good = fetched(source(*requests, next_request=confused))
    assert bad.reason == "next_request_failed"
    assert type(exception).__name__ in str(bad)
    assert isinstance(good, Slice)


@pytest.mark.parametrize("url", ["https://[::zz]/", "https://a.example:port/", "", "no address"])
def test_what_is_no_address_loses_that_slice_alone(server: MisbehavingServer, url: str) -> None:
    bad, good = fetched(source(Request(url, "bad"), Request(server.url("/ok"), "good")))
    assert bad.reason in {"invalid_request", "not_https"}
    assert str(bad)
    assert isinstance(good, Slice)


# Secrets.


@pytest.mark.parametrize("header", [SECRET, f"{SECRET}\n", f"{SECRET}é"])
@pytest.mark.parametrize(
    "path",
    ["/ok", "/broken", "/missing", "/cut-short", "/login-page", "/hang-up", "/echo-in-a-broken-header"],
)
def test_no_key_shows_anywhere(
    server: MisbehavingServer,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture,
    path: str,
    header: str,
) -> None:
    caplog.set_level(logging.INFO)
    query = f"?gpu=h100&api_key={SECRET}&TOKEN={SECRET}&back=%2Fx%3Fkey%3D{SECRET}#{SECRET}"
    url = server.url(path).replace("//", f"//user:{SECRET}@") + query
    (found,) = fetched(source(Request(url, headers={"X-Api-Key": header})))
    if isinstance(found, FetchError):
        shown = f"{found} {found!r} {vars(found)}"
        assert "\n" not in str(found)
        assert "gpu=h100&api_key=***&TOKEN=***&back=***" in str(found)
    else:
        shown = found.parts[0].url
        assert "gpu=h100&api_key=***&TOKEN=***&back=***" in shown
    assert SECRET not in shown
    assert SECRET not in caplog.text
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err
    assert printed.out == ""


@pytest.mark.parametrize("key", [None, "line\n", "cl\u00e9"])
def test_a_key_that_no_header_can_hold_is_an_invalid_request(server: MisbehavingServer, key: str) -> None:
    error = one_error(Request(server.url("/ok"), headers={"Authorization": key}))
    assert (error.reason, error.transient) == ("invalid_request", False)
    assert server.asked == []


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/x?monkey=1&token_kind=input", "https://a.example/x?monkey=1&token_kind=input"),
        (
            "https://a.example/x?Key=1&apikey=2&access_token=3",
            "https://a.example/x?Key=***&apikey=***&access_token=***",
        ),
        ("https://a.example/x?api%5Fkey=1", "https://a.example/x?api%5Fkey=***"),
        ("https://a.example/x?key=a%26b=c", "https://a.example/x?key=***"),
        ("https://me:pw@a.example:8443/x", "https://***@a.example:8443/x"),
        ("https://a.example/x?q=%C3%A9+1", "https://a.example/x?q=%C3%A9+1"),
    ],
)
def test_an_address_is_shown_without_its_keys(url: str, shown: str) -> None:
    assert redacted(url) == shown


@pytest.mark.parametrize("reason", sorted(ADVICE))
def test_every_error_is_one_line_that_says_what_where_and_what_to_do(reason: str) -> None:
    error = FetchError(reason, "what\nhappened\x1b[31m", f"https://a.example/{'x' * 1000}")
    error.source = "testcloud"
    assert str(error).isprintable()
    assert str(error).startswith("testcloud: what happened")
    assert str(error).endswith(ADVICE[reason])
    assert len(str(error)) < 600
