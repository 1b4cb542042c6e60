"""Text is packed for those who take it so, and for nobody else."""

from __future__ import annotations

import asyncio
import gzip
import re

import httpx2
import pytest
from starlette.responses import Response
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.static_files import file_address
from kiwiresearch.web.guard.responses import Compression, accepts_gzip

HERE = "http://127.0.0.1"
PACKED = {"Accept-Encoding": "br, gzip"}
BARE = {"Accept-Encoding": "identity"}


@pytest.fixture(scope="module")
def client(context: ServerContext) -> TestClient:
    return TestClient(make_app(context), base_url=HERE)


def _sent(client: TestClient, address: str, **headers: str) -> tuple[httpx2.Response, bytes]:
    """An answer and the bytes that travelled."""
    with client.stream("GET", address, headers=headers) as answer:
        return answer, b"".join(answer.iter_raw())


@pytest.mark.parametrize("address", ["/", "/find?q=Einstein", "/api/search?q=Einstein", "/read/{book}/Albert_Einstein"])
def test_text_is_packed_for_those_who_take_it(client: TestClient, context: ServerContext, address: str) -> None:
    """Pages, replies and pages of books travel in less than half of their size, and say so."""
    address = address.format(book=context.shelf.books[0].id)
    answer, packed = _sent(client, address, **PACKED)
    bare, content = _sent(client, address, **BARE)
    assert answer.headers["content-encoding"] == "gzip"
    assert "accept-encoding" in answer.headers["vary"].lower()
    assert int(answer.headers["content-length"]) == len(packed) < len(content) / 2
    assert "content-encoding" not in bare.headers
    assert _timeless(gzip.decompress(packed)) == _timeless(content)


def _timeless(content: bytes) -> bytes:
    """Without how long a search took."""
    return re.sub(rb'("[a-z_]*ms":)[0-9.]+', rb"\1", content)


def test_packed_files_are_kept_by_browsers_as_others_are(client: TestClient) -> None:
    """The mark of a packed file is a weak one, and is known again."""
    address = file_address("css/base.css")
    answer, packed = _sent(client, address, **PACKED)
    bare, content = _sent(client, address, **BARE)
    assert gzip.decompress(packed) == content
    assert answer.headers["etag"] == f"W/{bare.headers['etag']}"
    for mark in (answer.headers["etag"], bare.headers["etag"]):
        assert client.get(address, headers={"If-None-Match": mark}).status_code == 304


def test_streams_and_small_responses_are_not_compressed(client: TestClient) -> None:
    """A stream is sent without delay, and a response that fits into one packet is not compressed."""
    with client.stream("POST", "/api/chat", json={"question": "When was Einstein born?"}, headers=PACKED) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers
        assert "event: " in answer.read().decode()
    small, _ = _sent(client, "/api/books/nothing", **PACKED)
    assert "content-encoding" not in small.headers


SPOKEN = b"a word " * 1000


@pytest.mark.parametrize(
    ("status", "headers", "is_packed"),
    [
        (200, {"content-type": "text/html; charset=utf-8"}, True),
        (404, {"content-type": "application/json"}, True),
        (200, {"content-type": "image/png"}, False),
        (200, {"content-type": "application/zip"}, False),
        (200, {}, False),
        (206, {"content-type": "text/plain", "content-range": "bytes 0-6999/9000"}, False),
        (200, {"content-type": "text/html", "content-encoding": "br"}, False),
    ],
)
def test_compressed_files_and_parts_are_sent_unchanged(status: int, headers: dict[str, str], is_packed: bool) -> None:
    """Pictures, files that are already compressed and parts of files are not compressed."""
    made = Response(SPOKEN, status, headers)
    answer, content = _sent(TestClient(Compression(made)), "/", **PACKED)
    assert (answer.headers.get("content-encoding") == "gzip") is is_packed
    assert (gzip.decompress(content) if is_packed else content) == SPOKEN


def test_a_stream_starts_before_its_first_event() -> None:
    """A client that follows a job gets the response headers at once, though no event may come for a while."""
    reports: list[str] = []

    async def stream(scope: Scope, receive: Receive, send: Send) -> None:
        head = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        reports.append("waits")
        await send({"type": "http.response.body", "body": b"data: 1\n\n"})

    async def send(message: Message) -> None:
        reports.append(message["type"])

    async def receive() -> Message:
        return {"type": "http.request"}

    scope = {"type": "http", "headers": [(b"accept-encoding", b"gzip")]}
    asyncio.run(Compression(stream)(scope, receive, send))
    assert reports == ["http.response.start", "waits", "http.response.body"]


@pytest.mark.parametrize(
    ("accepted", "is_taken"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("gzip; q=0.0", False),
        ("br", False),
        ("", False),
        ("x-gzipped", False),
    ],
)
def test_a_client_that_refuses_compression_gets_none(accepted: str, is_taken: bool) -> None:
    """A client that refuses packed answers gets none."""
    assert accepts_gzip(accepted) is is_taken
