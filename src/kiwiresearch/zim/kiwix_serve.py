"""Books on a kiwix-serve in the user's network; the only module that talks to one.

Addresses differ by version: 3.3 serves a page at /NAME/PATH, 3.5 and later at
/content/NAME/PATH, and both may sit below a root such as /kiwix. So the base
of a book is taken from its catalogue entry; /raw, /search and /suggest are
the same in all versions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple, NoReturn
from xml.etree import ElementTree

from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import BookUnreachable, NotOffered, PageNotFound, RedirectLoop
from kiwiresearch.http_client import Deadline, HttpClient, HttpFailure, HttpReply, HttpResponse, retried_once
from kiwiresearch.zim.archive import MAX_HOPS, Book, Entry, EntryInfo, EntryRef, Match, TitleEntry
from kiwiresearch.zim.paths import plain_title, title_of_path
from kiwiresearch.zim.sources import (
    ATOM,
    SERVE_TIMEOUT_S,
    BookAddresses,
    ServedBook,
    is_encodable,
    parse_count,
    parse_xml,
    serve_root,
    served_book,
    url_quoted,
)

WHOLE_ANSWER_FACTOR = 3
"""A complete answer may take this many times as long as the server may be silent."""

MAX_BYTES = 256 * 2**20
MAX_CONNECTIONS = 100
MAX_HITS = 140
"""kiwix-serve returns at most this many search results at once."""

PER_PAGE = 100
COMPARED_BYTES = 2**20
MAX_ECHOES = 1_000
HTML_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


class ByteRange(NamedTuple):
    """Bytes of a page, from `start` up to `end`."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


class KiwixServer:
    """Connection to a kiwix-serve."""

    def __init__(self, address: str, *, timeout_s: float = SERVE_TIMEOUT_S) -> None:
        self.root = serve_root(address)
        self._timeout_s = timeout_s
        self._client = HttpClient(read_s=timeout_s, max_connections=MAX_CONNECTIONS)

    def catalogue(self) -> tuple[ServedBook, ...]:
        """All books that the server offers."""
        found: dict[str, ServedBook] = {}
        seen, total = 0, 1
        while seen < total:
            feed = self._feed(f"/catalog/v2/entries?start={seen}&count={PER_PAGE}")
            total = parse_count(feed.findtext(f"{ATOM}totalResults"))
            entries = list(feed.iter(f"{ATOM}entry"))
            fresh = {served.base: served for entry in entries if (served := served_book(entry, self.root))}
            if not fresh.keys() - found.keys():
                break  # a server that repeats itself, or counts wrongly
            found |= fresh
            seen += len(entries)
        return tuple(found.values())

    def get(self, path: str, *, method: str = "GET", span: ByteRange | None = None) -> HttpReply:
        """The answer to a request, up to a maximum size; the request is repeated once if the connection fails."""
        url, total_s = self.root + path, WHOLE_ANSWER_FACTOR * self._timeout_s
        try:
            return retried_once(lambda: self._once(method, url, span, Deadline(total_s)), "connect", "silent", "broken")
        except HttpFailure as failure:
            if failure.kind == "late":
                raise BookUnreachable(
                    f"The server {self.root!r} did not finish its reply within {total_s:g} s.",
                    remedy="Check that it is kiwix-serve. If the connection is slow, set a larger serve_timeout_s.",
                ) from failure
            if failure.kind == "large":
                raise BookUnreachable(
                    f"The reply from {url!r} is larger than {MAX_BYTES // 2**20} MiB.",
                    remedy="Check that it is kiwix-serve. Enter its address, for example http://host:8080.",
                ) from failure
            words = {"address": "cannot be reached", "garbled": "sent an invalid reply"}
            raise self._unreachable(f"{words.get(failure.kind, 'is not responding')}: {failure}") from failure

    def get_or_raise(self, path: str, *, method: str = "GET", span: ByteRange | None = None) -> HttpReply:
        """Like `get`, but a server error or a request for a password raises BookUnreachable."""
        response = self.get(path, method=method, span=span)
        if response.status in REFUSALS or response.status >= 500:
            raise self._unreachable(f"returned an error ({response.status})")
        return response

    def _unreachable(self, what: str) -> BookUnreachable:
        return BookUnreachable(
            f"The server {self.root!r} {what}.",
            remedy="Check the address and that kiwix-serve is running, then try again.",
        )

    def close(self) -> None:
        self._client.close()

    def _once(self, method: str, url: str, span: ByteRange | None, limit: Deadline) -> HttpReply:
        # Sizes and ranges must be those of the page itself, not of its compressed form.
        headers = {"Accept-Encoding": "identity"} if span or method == "HEAD" else {}
        if span:
            headers["Range"] = f"bytes={span.start}-{span.end - 1}"
        with self._client.open(method, url, limit, headers=headers) as response:
            if span and response.status == PARTIAL_CONTENT_STATUS and span.start != _start_of(response):
                raise self._unreachable("sent a different part of the page than requested")
            return HttpReply(response.status, response.headers, _received(response, span))

    def _feed(self, path: str) -> ElementTree.Element:
        response = self.get(path)
        not_kiwix_serve = BookUnreachable(
            f"The server {self.root!r} does not seem to be kiwix-serve.",
            remedy="Enter the address that kiwix-serve prints when it starts, for example http://host:8080.",
        )
        if response.status != 200:
            raise not_kiwix_serve
        try:
            return parse_xml(response.content)
        except ValueError as problem:
            raise not_kiwix_serve from problem


CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-")
FOUND = frozenset({200, 206})
PARTIAL_CONTENT_STATUS = 206
PAST_THE_END = 416
"""The HTTP status for a range that starts after the end of the page."""

REFUSALS = frozenset({401, 403, 407})


class ServeArchive:
    """One book of a kiwix-serve."""

    def __init__(self, server: KiwixServer, served: ServedBook) -> None:
        self._server = server
        self._name = served.name
        self._addresses = BookAddresses(server.root, served.base, served.name)
        self._book = served.book
        self._has_namespaces: bool | None = None
        self._known_titles: dict[str, str] = {}
        """Titles that came with search results, by path."""
        self._echoes: dict[str, bool] = {}
        """For paths such as 'A/Path' whether they are only another spelling of 'Path'."""

    @property
    def book(self) -> Book:
        return self._book

    def read(self, path: str) -> Entry:
        final, via, response = self._fetch_found(path, "GET")
        mimetype = response.headers.get("content-type", "")
        title = _title_in(response.content) if "html" in mimetype else ""
        ref = EntryRef(self._book.id, final)
        return Entry(ref, title or title_of_path(final), mimetype, response.content, via)

    def info(self, path: str) -> EntryInfo:
        final, via, response = self._fetch_found(path, "HEAD")
        stated = _stated_size(response)
        # Without a stated size, the page has to be read to know it.
        size = int(stated) if stated.isascii() and stated.isdigit() else len(self.read(final).content)
        return EntryInfo(EntryRef(self._book.id, final), response.headers.get("content-type", ""), size, via)

    def part(self, path: str, start: int, end: int) -> bytes:
        # An empty range cannot be requested, but a missing page must still be reported.
        span = ByteRange(start, end) if start < end else ByteRange(start, start + 1)
        _, _, response = self._fetch(path, "GET", span)
        if response.status not in FOUND | {PAST_THE_END}:
            raise PageNotFound(f"{self._book.title!r} has no page at {path!r}.")
        return response.content if start < end and response.status in FOUND else b""

    def resolve(self, path: str) -> str | None:
        try:
            final, _, response = self._fetch(path, "HEAD")
        except RedirectLoop:
            return None
        return final if response.status == 200 else None

    def by_title(self, title: str) -> str | None:
        for match in self.suggest(title, 10):
            if match.title == title:
                return self.resolve(match.path)
        underscored = title.replace(" ", "_")
        for path in (underscored, f"A/{underscored}"):
            found = self.resolve(path)
            if found:
                return found
        return None

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        channel = self._search(words, min(limit, MAX_HITS))
        if channel is None:
            return ()
        found = []
        for item in channel.iter("item"):
            path = self._addresses.path_in(item.findtext("link") or "")
            if path is not None:
                snippet = "".join(part for e in item.iter("description") for part in e.itertext())
                found.append(Match(path, plain_title(item.findtext("title") or ""), " ".join(snippet.split())))
        self._known_titles |= {match.path: match.title for match in found}
        return tuple(found[:limit])

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        return tuple(match.path for match in self.search(words, limit))

    def title(self, path: str) -> str:
        return self._known_titles.get(path) or self.read(path).title

    def estimate(self, words: str) -> int:
        channel = self._search(words, 1)
        if channel is None:
            return 0
        return parse_count(next((e.text for e in channel.iter() if e.tag.endswith("}totalResults")), "0"))

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        if not text.strip() or not is_encodable(text):
            return ()
        query = f"content={url_quoted(self._name)}&term={url_quoted(text)}&count={2 * limit}"
        response = self._server.get_or_raise(f"/suggest?{query}")
        if response.status != 200:
            return ()
        found: dict[str, Match] = {}
        for row in _rows(response.content):
            path, value = row.get("path"), row.get("value")
            if row.get("kind") == "path" and isinstance(path, str) and isinstance(value, str):
                found.setdefault(path, Match(path, plain_title(unescape(value))))
        return tuple(found.values())[:limit]

    def articles(self) -> Iterator[str]:
        self._not_offered("articles")

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:  # noqa: ARG002
        self._not_offered("titles")

    def _not_offered(self, what: str) -> NoReturn:
        raise NotOffered(
            f"kiwix-serve cannot list the {what} of {self._book.title!r}.",
            remedy="Add the ZIM file itself to your library.",
        )

    def url(self, path: str) -> str:
        return self._addresses.url(path)

    def close(self) -> None:
        self._server.close()

    def _fetch_found(self, path: str, method: str) -> tuple[str, tuple[str, ...], HttpReply]:
        final, via, response = self._fetch(path, method)
        if response.status != 200:
            raise PageNotFound(f"{self._book.title!r} has no page at {path!r}.")
        return final, via, response

    def _fetch(self, path: str, method: str, span: ByteRange | None = None) -> tuple[str, tuple[str, ...], HttpReply]:
        """The final path after redirects, the paths that led there, and the answer, whatever its status."""
        via: list[str] = []
        while True:
            response = self._raw(path, method, span)
            target = (
                self._addresses.path_in(response.headers.get("location", "")) if 300 <= response.status < 400 else None
            )
            if target is None:
                return path, tuple(via), response
            via.append(path)
            if len(via) > MAX_HOPS or target in via:
                raise RedirectLoop(f"The page {path!r} of {self._book.title!r} redirects in a loop.")
            path = target

    def _raw(self, path: str, method: str, span: ByteRange | None) -> HttpReply:
        # HTTP clients resolve dots in an address before they send it, which would be another page.
        if any(part in (".", "..") for part in path.split("/")) or not is_encodable(path):
            return NOT_FOUND_REPLY
        response = self._server.get_or_raise(self._addresses.raw(path), method=method, span=span)
        if response.status in FOUND and NAMESPACED_PATH.match(path) and self._is_echo(path):
            return NOT_FOUND_REPLY
        return response

    def _is_echo(self, path: str) -> bool:
        """Whether 'L/PATH' is only another spelling of 'PATH'.

        kiwix-serve answers any such path for new books, while old books really have their pages below 'A/'.
        """
        if self._has_namespaces is None:
            main = self._server.get(self._addresses.home, method="HEAD")
            self._has_namespaces = bool(
                NAMESPACED_PATH.match(self._addresses.path_in(main.headers.get("location", "")) or "")
            )
        if self._has_namespaces:
            return False
        if path not in self._echoes:
            if len(self._echoes) >= MAX_ECHOES:
                self._echoes.clear()
            self._echoes[path] = self._is_same(path, path[2:])
        return self._echoes[path]

    def _is_same(self, path: str, other: str) -> bool:
        """Whether two paths have the same bytes; sizes are compared first, to read little of large files."""
        heads = [self._server.get_or_raise(self._addresses.raw(name), method="HEAD") for name in (path, other)]
        sizes = [_stated_size(head) for head in heads]
        if any(head.status != 200 for head in heads) or (all(sizes) and sizes[0] != sizes[1]):
            return False
        start = 0
        while True:
            span = ByteRange(start, start + COMPARED_BYTES)
            parts = [self._server.get_or_raise(self._addresses.raw(name), span=span) for name in (path, other)]
            if parts[0].status != parts[1].status or parts[0].content != parts[1].content:
                return False
            if parts[0].status not in FOUND or len(parts[0].content) < COMPARED_BYTES:
                return True
            start = span.end

    def _search(self, words: str, limit: int) -> ElementTree.Element | None:
        if not words.strip() or not is_encodable(words):
            return None
        query = f"pattern={url_quoted(words)}&books.id={self._book.id}&format=xml&pageLength={limit}"
        response = self._server.get_or_raise(f"/search?{query}")
        # For a book without an index, an unknown book or a bad query kiwix-serve sends an HTML error page.
        if response.status != 200:
            return None
        try:
            return parse_xml(response.content)
        except ValueError:
            return None


NAMESPACED_PATH = re.compile(r"[A-Z-]/.")
"""A path that starts with a namespace, as in old books: 'A/Ray_Charles'."""

NOT_FOUND_REPLY = HttpReply(404, {})


def _received(response: HttpResponse, span: ByteRange | None) -> bytes:
    """The body; if the server ignored the range and sent everything, the requested part of it."""
    if span is None:
        return response.read(MAX_BYTES)
    start = span.start if response.status == 200 else 0
    end = start + len(span)
    received = 0
    parts = []
    for chunk in response.chunks(MAX_BYTES):
        parts.append(chunk[max(start - received, 0) : max(end - received, 0)])
        received += len(chunk)
        if received >= end:
            break
    return b"".join(parts)


def _stated_size(reply: HttpReply) -> str:
    """The size that the server states for a page; empty if it is that of the compressed page."""
    return "" if "content-encoding" in reply.headers else reply.headers.get("content-length", "")


def _start_of(response: HttpResponse) -> int:
    """The start of the range that a server sent; -1 if it does not say."""
    found = CONTENT_RANGE.match(response.headers.get("content-range", ""))
    return int(found[1]) if found else -1


def _title_in(content: bytes) -> str:
    found = HTML_TITLE.search(content, 0, 65_536)
    return plain_title(found[1].decode("utf-8", "replace")) if found else ""


def _rows(content: bytes) -> list[JsonDict]:
    try:
        rows = json.loads(content)
    except ValueError:
        return []
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
