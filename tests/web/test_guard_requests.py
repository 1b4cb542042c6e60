"""What the walls let through and what they refuse, on real sockets."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator

import pytest
from tests.web.guarded_server import exchange, guarded, request, status_of

from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.server import MAX_CONNECTIONS
from kiwiresearch.workspace.settings import ServeSettings

JSON = "Content-Type: application/json"
TEXT = b'{"text": "The Moon is old."}'


@pytest.fixture(scope="module")
def port(context: ServerContext) -> Iterator[int]:
    with guarded(context, ServeSettings(max_body_kb=16, hosts=("desk.school.lan",))) as port:
        yield port
        assert status_of(exchange(port, request("GET", "/api/health"))) == 200, "it has survived all this"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200),
        ("127.0.0.1:8321", 200),
        ("LOCALHOST:1", 200),
        ("localhost.", 200),
        ("[::1]:8321", 200),
        ("desk.school.lan", 200),
        ("Desk.School.Lan:443", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:8321", 421),
        ("10.0.0.1", 421),
        ("0.0.0.0", 421),
        ("user@127.0.0.1", 421),
        ("127.0.0.1:port", 421),
        ("127.0.0.1:99999999", 421),
        ("[::1", 421),
        ("", 400),
    ],
)
def test_only_names_of_the_server_reach_it(port: int, host: str, status: int) -> None:
    """A name that is neither loopback nor in the settings is refused, as a site could make it lead here."""
    assert status_of(exchange(port, request("GET", "/api/health", host=host))) == status


def test_a_request_with_two_lengths_is_refused(port: int) -> None:
    """A proxy that believes the other of them would take the rest for a second request."""
    sent = (
        request("POST", "/api/ask", JSON, "Content-Length: 4", "Transfer-Encoding: chunked") + b"4\r\n1234\r\n0\r\n\r\n"
    )
    assert status_of(exchange(port, sent)) == 400


def test_one_address_cannot_take_all_connections(context: ServerContext) -> None:
    """Of connections that send nothing, those an address opened first are closed, so that others are still served."""
    with guarded(context) as port, contextlib.ExitStack() as opened:
        silent = [
            opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            for _ in range(MAX_CONNECTIONS + 20)
        ]
        # On a busy machine, connections that were opened first may still arrive, and close one that came before them.
        assert any(status_of(exchange(port, request("GET", "/api/health"))) == 200 for _ in range(5))
        assert silent[0].recv(1) == b"", "the oldest is closed"
        silent[-1].sendall(request("GET", "/api/health"))
        assert silent[-1].recv(12) == b"HTTP/1.1 200", "the newest is kept"


def test_duplicate_host_header_is_refused(port: int) -> None:
    """A request to two names at once is refused."""
    sent = request("GET", "/api/health", "Host: evil.example")
    assert status_of(exchange(port, sent)) in (400, 421)


def test_a_request_without_a_host_is_refused(port: int) -> None:
    """HTTP/1.0 may leave the name out, and is refused then."""
    assert status_of(exchange(port, b"GET /api/health HTTP/1.0\r\n\r\n")) == 421


OURS = "Origin: http://127.0.0.1"
CROSS = "Sec-Fetch-Site: cross-site"
LINKED = ("Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")


@pytest.mark.parametrize(
    ("method", "target", "headers", "status"),
    [
        ("GET", "/api/health", [], 200),
        ("GET", "/api/health", [OURS], 200),
        ("GET", "/api/health", ["Sec-Fetch-Site: same-origin"], 200),
        ("GET", "/api/health", ["Sec-Fetch-Site: none"], 200),
        ("GET", "/api/health", ["Sec-Fetch-Site: cross-site"], 403),
        ("GET", "/api/health", ["Sec-Fetch-Site: same-site"], 403),
        ("GET", "/api/health", ["Origin: null"], 403),
        ("GET", "/api/health", ["Origin: http://evil.example"], 403),
        ("GET", "/api/health", ["Origin: http://127.0.0.1:9999"], 403),
        ("GET", "/api/health", ["Origin: http://127.0.0.1@evil.example"], 403),
        ("GET", "/api/health", ["Origin: http://127.0.0.1/x"], 403),
        ("GET", "/api/health", ["Origin: http://[::1"], 403),
        ("GET", "/api/health", ["Origin: file://"], 403),
        ("GET", "/api/health", [OURS, "Origin: http://evil.example"], 403),
        ("GET", "/v1/models", ["Origin: http://evil.example"], 403),
        ("GET", "/search?q=sunset&format=json", ["Sec-Fetch-Site: cross-site"], 403),
        ("GET", "/openapi.json", ["Origin: http://evil.example"], 403),
        ("OPTIONS", "/api/claims", ["Origin: http://evil.example", "Access-Control-Request-Method: POST"], 403),
        ("POST", "/api/claims", [JSON, OURS], 200),
        ("POST", "/api/claims", [JSON], 200),
        ("POST", "/api/claims", [JSON, "Origin: https://127.0.0.1:443"], 200),
        ("POST", "/api/claims", [JSON, "Origin: null"], 403),
        ("POST", "/api/claims", [JSON, "Origin: http://evil.example"], 403),
        ("POST", "/api/claims", [JSON, "Sec-Fetch-Site: cross-site"], 403),
        ("POST", "/", ["Origin: http://evil.example", JSON], 403),
        ("GET", "/", [CROSS, *LINKED], 200),
        ("GET", "/", ["Sec-Fetch-Site: same-site", *LINKED], 200),
        ("HEAD", "/", [CROSS, *LINKED], 200),
        ("GET", "/", [CROSS, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: empty"], 200),
        ("GET", "/", [CROSS, "Sec-Fetch-Mode: navigate"], 403),
        ("GET", "/", [CROSS], 403),
        ("GET", "/", ["Origin: http://evil.example"], 403),
        ("GET", "/", ["Origin: http://evil.example", *LINKED], 403),
        ("GET", "/", [CROSS, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"], 403),
        ("GET", "/", [CROSS, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"], 403),
        ("GET", "/", [CROSS, "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"], 403),
        ("GET", "/", [CROSS, *LINKED, "Sec-Fetch-Mode: cors"], 403),
        ("GET", "/api/health", [CROSS, *LINKED], 403),
        ("GET", "/read/sample/nowhere", [CROSS, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"], 403),
        ("GET", "/read/sample/nowhere", [CROSS, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"], 403),
        ("GET", "/read/sample/nowhere", [CROSS, *LINKED], 404),
    ],
)
def test_other_sites_may_link_to_pages_and_nothing_else(
    port: int, method: str, target: str, headers: list[str], status: int
) -> None:
    """What a browser sends for another site is refused, but for pages to read; no CORS header is ever sent."""
    received = exchange(port, request(method, target, *headers, body=TEXT if method == "POST" else b""))
    assert status_of(received) == status
    assert b"access-control-" not in received.lower()


FORM = "Content-Type: application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([OURS], 303),
        (["Sec-Fetch-Site: same-origin"], 303),
        ([OURS, "Sec-Fetch-Site: same-origin"], 303),
        (["Referer: http://127.0.0.1/research"], 303),
        ([], 403),
        (["Sec-Fetch-Site: none"], 403),
        (["Sec-Fetch-Site: same-site"], 403),
        (["Sec-Fetch-Site: cross-site"], 403),
        ([OURS, "Sec-Fetch-Site: cross-site"], 403),
        (["Origin: null"], 403),
        (["Origin: null", "Sec-Fetch-Site: same-origin"], 403),
        (["Origin: http://127.0.0.1:9"], 403),
        (["Origin: http://evil.example", "Referer: http://127.0.0.1/"], 403),
        (["Referer: http://evil.example/127.0.0.1"], 403),
        (["Referer: http://127.0.0.1@evil.example/"], 403),
        (["Referer: http://127.0.0.1.evil.example/"], 403),
        (["Referer: about:blank"], 403),
    ],
)
def test_forms_are_taken_from_pages_of_ours_alone(port: int, headers: list[str], status: int) -> None:
    """A form needs a browser's word that a page of this server sent it; silence is not enough."""
    received = exchange(port, request("POST", "/language", FORM, *headers, body=b"language=fr&back=/"))
    assert status_of(received) == status


@pytest.mark.parametrize(
    ("target", "kind", "status"),
    [
        ("/language", "application/x-www-form-urlencoded", 303),
        ("/language", "Application/X-WWW-Form-Urlencoded; charset=utf-8", 303),
        ("/language", "application/json", 415),
        ("/language", "text/plain", 415),
        ("/language", "multipart/form-data; boundary=x", 415),
        ("/family/import", "application/x-www-form-urlencoded", 415),
        ("/family/import", "application/octet-stream", 415),
        ("/family/x/import", "application/json", 415),
        ("/api/family/import", "multipart/form-data; boundary=x", 415),
    ],
)
def test_pages_take_forms_and_no_other_body(port: int, target: str, kind: str, status: int) -> None:
    """A page takes what its form sends; one with a file is taken where a family file is chosen, and only there."""
    received = exchange(port, request("POST", target, f"Content-Type: {kind}", OURS, body=b"language=fr"))
    assert status_of(received) == status


@pytest.mark.parametrize("target", ["/family/import", "/family/x/import"])
def test_a_form_with_a_file_reaches_its_page(port: int, target: str) -> None:
    """The limit on bodies passes it on as it arrives, and the page reports what is wrong with it."""
    received = exchange(
        port, request("POST", target, "Content-Type: multipart/form-data; boundary=x", OURS, body=b"--x--")
    )
    assert 400 <= status_of(received) < 500
    assert status_of(received) not in (405, 413, 415)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json", 200),
        ("Application/JSON; charset=utf-8", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("text/plain; application/json", 415),
        ("", 415),
    ],
)
def test_bodies_are_json(port: int, kind: str, status: int) -> None:
    """What a form of another site could send is refused."""
    headers = [f"Content-Type: {kind}"] if kind else []
    assert status_of(exchange(port, request("POST", "/api/claims", *headers, body=TEXT))) == status


def test_a_large_body_is_refused(port: int) -> None:
    """More than the settings allow is refused by its announced size, with an error."""
    received = exchange(port, request("POST", "/api/claims", JSON, body=b" " * 200_000))
    assert status_of(received) == 413
    assert json.loads(received.partition(b"\r\n\r\n")[2])["title"] == "Too large"


def test_a_large_body_in_chunks_is_refused(port: int) -> None:
    """A size that is not announced is counted on the way."""
    chunks = b"400\r\n" + b" " * 1024 + b"\r\n"
    sent = request("POST", "/api/claims", JSON, "Transfer-Encoding: chunked") + chunks * 64 + b"0\r\n\r\n"
    assert status_of(exchange(port, sent)) == 413
    sent = request("POST", "/api/claims", JSON, "Transfer-Encoding: chunked")
    sent += f"{len(TEXT):x}\r\n".encode() + TEXT + b"\r\n0\r\n\r\n"
    assert status_of(exchange(port, sent)) == 200


def test_a_client_that_asks_first_hears_no_at_once(port: int) -> None:
    """With 'Expect: 100-continue', too much is refused before it is sent."""
    sent = request("POST", "/api/claims", JSON, "Expect: 100-continue", "Content-Length: 999999")
    assert status_of(exchange(port, sent)) == 413


HEADERS = (
    b"x-content-type-options: nosniff",
    b"referrer-policy: ",
    b"x-frame-options: DENY",
    b"content-security-policy: default-src 'none'",
    b"cross-origin-resource-policy: same-origin",
)


@pytest.mark.parametrize(
    "sent",
    [
        request("GET", "/"),
        request("GET", "/api/health"),
        request("GET", "/nowhere"),
        request("DELETE", "/api/health"),
        request("GET", "/", host="evil.example"),
        request("POST", "/api/claims", body=b"x"),
        request("POST", "/api/claims", JSON, body=b"{"),
        b"nonsense\r\n\r\n",
    ],
)
def test_every_answer_has_its_headers(port: int, sent: bytes) -> None:
    """Responses of routes, of the guards and to invalid requests all have the security headers, and name no program."""
    head = exchange(port, sent).partition(b"\r\n\r\n")[0]
    assert [wanted for wanted in HEADERS if wanted.lower() not in head.lower()] == []
    assert b"\r\nserver:" not in head.lower()


@pytest.mark.parametrize("target", ["/read/sample/nowhere", "/read/nobody/x", "/read/sample/", "/read/x?mark=9"])
def test_pages_in_our_frames_may_be_framed_by_us(port: int, target: str) -> None:
    """Pages of books, and errors in their place, may be framed by our own pages; nothing else may."""
    head = exchange(port, request("GET", target)).partition(b"\r\n\r\n")[0].lower()
    assert b"x-frame-options: sameorigin" in head
    assert b"frame-ancestors 'self'" in head
    assert b"frame-ancestors 'none'" not in head


def test_api_replies_are_not_cached(port: int) -> None:
    """Nothing of /api may be stored by a browser or a proxy."""
    assert b"cache-control: no-store" in exchange(port, request("GET", "/api/health"))


UNFINISHED = [
    b"",
    b"\r\n\r\n\r\n",
    b"GET / HT",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n",
    request("POST", "/api/ask", JSON, "Content-Length: 100") + b"too short",
    request("POST", "/api/ask", JSON, "Transfer-Encoding: chunked") + b"ffffffffffffff\r\n",
]
HOSTILE = [
    b"\x00" * 100,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 200,
    b"GET\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET / HTTP/9.9\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nbad header\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: a\x00b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + b"A: b\r\n" * 10_000 + b"\r\n",
    b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    request("GET", "http://evil.example/"),
    request("GET", "//evil.example/"),
    request("CONNECT", "evil.example:443"),
    request("OPTIONS", "*"),
    request("TRACE", "/"),
    request("PROPFIND", "/"),
    request("A" * 500, "/"),
    request("GET", "/%00"),
    request("GET", "/%"),
    request("GET", "/%ff%fe%fd"),
    request("GET", "/..%2f..%2f..%2fetc%2fpasswd"),
    request("GET", "/../../../etc/passwd"),
    request("GET", "/read/../../etc/passwd"),
    request("GET", "/read/x/%2e%2e/%2e%2e/etc/passwd"),
    request("GET", "/read/%00/%00"),
    request("GET", "/read/" + "a/" * 2_000),
    request("GET", "/read//"),
    request("GET", "/api"),
    request("GET", "/api/"),
    request("GET", "/api//search?q=x"),
    request("GET", "/api/search"),
    request("GET", "/api/search?q="),
    request("GET", "/api/search?q=%00"),
    request("GET", "/api/search?q=%ed%a0%80"),
    request("GET", "/api/search?q=" + "%20" * 1_000),
    request("GET", "/api/search?q=x&limit=99999999999999999999999999"),
    request("GET", "/api/search?q=x&limit=NaN"),
    request("GET", "/api/search?" + "q=x&" * 5_000),
    request("GET", "/api/page?title=" + "(" * 400),
    request("GET", "/api/health", "Cookie: " + "=;" * 5_000),
    request("GET", "/api/health", "Authorization: Bearer " + "\xff" * 100),
    request("GET", "/api/health", "Content-Length: -1"),
    request("GET", "/api/health", "Content-Length: 5", "Content-Length: 6"),
    request("GET", "/api/health", "Content-Length: 9" + "9" * 30),
    request("GET", "/api/health", "Transfer-Encoding: gzip, chunked"),
    request("GET", "/api/health", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"),
    request("GET", "/api/health", "X-Forwarded-For: ', <script>, ::::", "X-Forwarded-Proto: gopher"),
    request("GET", "/api/health", "Range: bytes=0-18446744073709551615"),
    request("POST", "/api/ask", JSON, body=b"{"),
    request("POST", "/api/ask", JSON, body=b"[" * 10_000),
    request("POST", "/api/ask", JSON, body=b'{"a":' * 2_000),
    request("POST", "/api/ask", JSON, body=b"9" * 10_000),
    request("POST", "/api/ask", JSON, body=b'{"question": "\\ud800"}'),
    request("POST", "/api/ask", JSON, body=b'{"\\ud800": 1}'),
    request("POST", "/api/ask", JSON, body=b'{"question": NaN}'),
    request("POST", "/api/ask", JSON, body=b"\xff\xfe\x00"),
    request("POST", "/api/ask", JSON, body=b'{"question": "x", "question": "\\u0000"}'),
    request("POST", "/api/ask", JSON, "Content-Encoding: gzip", body=b"\x1f\x8b\x08\x00"),
    request("POST", "/api/ask", JSON, "Transfer-Encoding: chunked") + b"ZZ\r\nnonsense",
    b"POST /find HTTP/1.1\r\nHost: elsewhere\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\nnonsense",
    request("POST", "/v1/chat/completions", JSON, body=b'{"model": null, "messages": {}}'),
    request("POST", "/v1/chat/completions", JSON, body=b'{"model": "kiwiresearch", "messages": []}'),
    request("POST", "/owui/search", JSON, body=b'{"query": "\\u0000", "count": 1e309}'),
    request("POST", "/login", "Content-Type: application/x-www-form-urlencoded", body=b"&" * 10_000),
]


@pytest.mark.parametrize("sent", [*HOSTILE, *UNFINISHED], ids=range(len(HOSTILE) + len(UNFINISHED)))
def test_nothing_hostile_gives_a_fault_or_a_hang(port: int, sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever is sent, the server hangs up or answers, never with a fault of its own."""
    received = exchange(port, sent, close=sent in UNFINISHED)
    assert status_of(received) < 500, received[:300]
    assert b"Traceback" not in received
    assert [record.getMessage() for record in caplog.records if record.name == "kiwiresearch.web"] == []
