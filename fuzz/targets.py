"""The targets of fuzzing: readers of untrusted content, which must refuse bad content with one of our own errors."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kiwiresearch.claims import claims_of
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.kin.gedcom import read_gedcom, tree_gedcom
from kiwiresearch.kin.privacy import redact
from kiwiresearch.llm.reply_stream import ReplyBuilder, ReplyCutShort, ServerComplaint, read_pieces
from kiwiresearch.llm.structured import json_candidates
from kiwiresearch.llm.wire import BadServerOutput, json_objects
from kiwiresearch.page import ArticleOptions, DisplayOptions, display_page, page_record, read_page, write_article
from kiwiresearch.zim.archive import Entry, EntryRef
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.integrity import probe
from kiwiresearch.zim.sources import ATOM, library_files, parse_xml, served_book

START_S = 120

Read = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Target:
    """A reader, valid examples of what it reads, and pieces of their format."""

    read: Read
    examples: tuple[bytes, ...]
    words: tuple[bytes, ...]


ARTICLE = b"""<!DOCTYPE html><html><head><title>Salt road</title><base href="../A/"><style>p{color:red}</style></head>
<body><h1 id="t">Salt road</h1><table class="infobox"><tr><th>Born</th><td>3 May 1841 in <a href="Varn">Varn</a></td>
</tr></table><p>The <b>salt road</b> is a route. It was built in 1430 because salt was dear, and about 7,400 people used
it each year.<sup>[1]</sup> He married Ann Lee in 1862; their son was Tom Lee.</p><h2 id="Use">Use</h2><ul><li>One
<li>Two</ul><figure><img src="../I/a.png" alt="x"><figcaption>The road</figcaption></figure>
<div class="navbox"><a href="https://example.org/">out</a></div></body></html>"""
GEDCOM = b"""0 HEAD
1 SOUR test
1 GEDC
2 VERS 5.5.1
1 CHAR UTF-8
0 @I1@ INDI
1 NAME Ann /Lee/
1 SEX F
1 BIRT
2 DATE 3 MAY 1841
2 PLAC Varn
1 FAMS @F1@
0 @I2@ INDI
1 NAME Tom /Lee/
1 FAMC @F1@
1 NOTE one
2 CONT two
0 @F1@ FAM
1 WIFE @I1@
1 CHIL @I2@
1 MARR
2 DATE ABT 1860
0 TRLR
"""
LIBRARY = b"""<?xml version="1.0" encoding="UTF-8"?>
<library version="20110515"><book id="1" path="a%20b.zim" title="A" language="eng"/><book path="/x/y.zim"/></library>"""
FEED = b"""<?xml version="1.0" encoding="UTF-8"?><feed xmlns="http://www.w3.org/2005/Atom"
 xmlns:dc="http://purl.org/dc/terms/"><entry><id>urn:uuid:0000</id><title>A book</title><summary>About</summary>
<language>eng,fra</language><name>a_book</name><flavour>maxi</flavour><tags>_ftindex:yes;x</tags>
<articleCount>1,146</articleCount><mediaCount>5</mediaCount><author><name>Ann</name></author>
<updated>2026-01-02T00:00:00Z</updated><link type="text/html" href="/content/a_book"/>
<link type="application/x-zim" length="1024" href="/a"/></entry></feed>"""
REQUESTS = (
    b"GET /find?q=salt HTTP/1.1\r\nHost: HOST\r\nAccept: text/html\r\n\r\n",
    b"GET /api/search?q=salt&limit=3 HTTP/1.1\r\nHost: HOST\r\nAccept-Language: fr\r\n\r\n",
    b"GET /api/claims?text=The%20road%20was%20built%20in%201430. HTTP/1.1\r\nHost: HOST\r\n\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n"
    b'{"question": "What is it?"}',
    b"POST /v1/chat/completions HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\n"
    b'Transfer-Encoding: chunked\r\n\r\n2d\r\n{"messages": [{"role": "user", "content": "a"}]}\r\n0\r\n\r\n',
    b"GET /opds?count=2&start=0 HTTP/1.1\r\nHost: HOST\r\nRange: bytes=0-5\r\nCookie: a=b\r\n\r\n",
)
REPLIES = (
    b'data: {"choices": [{"delta": {"content": "{\\"claims\\": ["}}]}\n\n'
    b'data: {"choices": [{"delta": {"content": "]}"}, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 3, "completion_tokens": 2}}\n\ndata: [DONE]\n\n',
    b'{"message": {"content": "<think>so</think> yes", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, '
    b'"done": true, "done_reason": "stop", "eval_count": 4}\n',
)


def read_html(content: bytes) -> None:
    """Read a page, extract its claims, and write it for a browser in both views."""
    page = read_page(Entry(EntryRef(BookId("0" * 32), "Page"), "Page", "text/html", content), language="eng")
    page_record(page)
    claims_of(page)
    write_article(content, page, ArticleOptions("/page/x/", "/read/x/"))
    display_page(content, page, DisplayOptions("/read/x/"))


def read_family_file(content: bytes) -> None:
    """Read a GEDCOM file, and write it in both versions."""
    with _temporary_file(content, ".ged") as path:
        found = read_gedcom(path)
    for version in ("5.5.1", "7.0"):
        tree_gedcom(redact(found.tree, "owner", 2026), version, head={})


def read_library(content: bytes) -> None:
    with _temporary_file(content, ".xml") as path:
        library_files(path)


def read_catalogue(content: bytes) -> None:
    """Read the catalogue of a kiwix-serve; `parse_xml` raises ValueError for what is not XML."""
    try:
        feed = parse_xml(content)
    except ValueError:
        return
    for entry in feed.iter(f"{ATOM}entry"):
        served_book(entry, "http://127.0.0.1:8080")


def read_reply(content: bytes) -> None:
    """Read the stream of a model's reply, and the JSON in its text."""
    builder = ReplyBuilder()
    with contextlib.suppress(BadServerOutput, ServerComplaint, ReplyCutShort):
        for _ in read_pieces(json_objects([content[:7], content[7:]]), builder):
            pass
    for _ in json_candidates(builder.reply().text):
        pass


def read_book(content: bytes) -> None:
    """Check a ZIM file in a child process, which must return a verdict and never crash."""
    with _temporary_file(content, ".zim") as path:
        verdict = probe(path, check=True)
    if verdict.reason.startswith("the process that read it"):
        raise AssertionError(verdict.reason)


@contextlib.contextmanager
def request_reader() -> Iterator[Read]:
    """A reader that sends requests to a server, which must never respond with a status of 500 or log a traceback."""
    with tempfile.TemporaryDirectory() as home, socket.socket() as probe_socket:
        probe_socket.bind(("127.0.0.1", 0))
        port = probe_socket.getsockname()[1]
        probe_socket.close()

        environment = os.environ | {"KIWIRESEARCH_HOME": home}
        log_file = Path(home) / "log"
        command = [sys.executable, "-m", "kiwiresearch", "serve", "--port", str(port)]
        with (
            log_file.open("wb") as log_out,
            log_file.open("rb") as log,
            subprocess.Popen(command, env=environment, stdout=log_out, stderr=log_out) as server,
        ):

            def read(content: bytes) -> None:
                _send(content.replace(b"HOST", f"127.0.0.1:{port}".encode()), port)
                if b"Traceback" in (logged := log.read()):
                    raise AssertionError(f"the server logged {logged[-200:].decode('utf-8', 'replace')!r}")

            try:
                _wait_for_server(port)
                yield read
            finally:
                server.terminate()


def _wait_for_server(port: int) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"the server did not start within {START_S} s")


def _send(content: bytes, port: int) -> None:
    address = ("127.0.0.1", port)
    with socket.create_connection(address, timeout=30) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(content)
        connection.shutdown(socket.SHUT_WR)
        reply = connection.recv(64)
        if reply.startswith(b"HTTP/1.1 5"):
            raise AssertionError(f"the server answered {reply[:30]!r}")


@contextlib.contextmanager
def _temporary_file(content: bytes, suffix: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"altered{suffix}"
        path.write_bytes(content)
        yield path


def _make_book() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.zim"
        pages = [NewPage(f"A{number}", f"Page {number}", ARTICLE) for number in range(6)]
        metadata = {"Title": "Altered", "Language": "eng", "Name": "altered", "Date": "2026-01-01"}
        write_book(path, pages, metadata=metadata)
        return path.read_bytes()


def accept_refusals(read: Read) -> Read:
    """A reader that accepts our own errors as a correct answer."""

    def read_or_refuse(content: bytes) -> None:
        with contextlib.suppress(KiwiError):
            read(content)

    return read_or_refuse


def split_words(text: str) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in text.split())


HTML = "<p> <table> <tr> <td> <li> </b> <script> <svg> <math> <template> <base> <style> [1] 1430 &amp;"


@contextlib.contextmanager
def open_target(name: str) -> Iterator[Target]:
    """Open a target by its name, and start what it needs."""
    if name == "requests":
        with request_reader() as read:
            yield Target(
                read, REQUESTS, split_words("GET POST /api/ /page/ /read/ ? & = % : Range: Cookie: chunked \r\n")
            )
    else:
        read, examples, pieces = TARGETS[name]()
        yield Target(accept_refusals(read), tuple(examples), split_words(pieces))


TARGETS: dict[str, Callable[[], tuple[Read, Sequence[bytes], str]]] = {
    "html": lambda: (read_html, [ARTICLE], HTML),
    "zim": lambda: (read_book, [_make_book()], "ZIM text/html A1"),
    "gedcom": lambda: (
        read_family_file,
        [GEDCOM],
        "0 1 2 @I1@ @F1@ INDI FAM FAMC FAMS CHIL HUSB BIRT DATE CONT VERS",
    ),
    "library": lambda: (read_library, [LIBRARY], "<book path= encoding= utf-16 utf-7 <!DOCTYPE"),
    "catalogue": lambda: (read_catalogue, [FEED], "<entry> <link type= href= // http://[ length= <id> encoding= utf-7"),
    "replies": lambda: (read_reply, REPLIES, 'data: [DONE] {"choices": null true [] "delta" "message" <think> ```json'),
}
NAMES = (*TARGETS, "requests")
