"""Books on another host, and books that are unavailable because their host cannot be reached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Protocol, TypeVar

from kiwiresearch.codec import Record
from kiwiresearch.errors import NotOffered, PageNotFound
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import MAX_HOPS, Archive, Book, Entry, EntryInfo, EntryRef, Match, TitleEntry
from kiwiresearch.zim.peer_protocol import (
    MAX_TEXT_CHARS,
    Call,
    CallReply,
    checked_count,
    checked_list,
    checked_text,
    checked_texts,
    text_or_none,
)

T = TypeVar("T")

MAX_CALLS_AT_ONCE = 256
"""The most calls that one request makes."""

MAX_REQUEST_CHARS = 200_000
MAX_SHOWN_CHARS = 60
EMPTY_ANSWERS: Mapping[str, Any] = {
    "resolve": None,
    "by_title": None,
    "search": [],
    "holding": [],
    "estimate": 0,
    "suggest": [],
    "titles.joined": [],
    "titles.prefix": [],
    "titles.correct": [],
    "titles.frequency": 0,
}

MAX_PREFETCHED = 16_384
"""More prefetched replies than this that were never used are dropped."""

MAX_PREFETCHED_BYTES = 64 * 2**20
"""Prefetching stops when its pages take more than this; the rest is requested one by one."""

SimpleCall = Literal["read", "resolve", "title", "estimate"]


@dataclass(frozen=True, slots=True)
class MissingBook(Record):
    """A book that was not available."""

    id: BookId
    title: str


@dataclass(frozen=True, slots=True)
class MissingBooks(Record):
    """A host that is offline, and its books, which were not available."""

    host: str
    books: tuple[MissingBook, ...]
    why: str

    @property
    def titles(self) -> str:
        return ", ".join(book.title for book in self.books)

    def sentence(self) -> str:
        """A sentence for readers."""
        return f"Not searched: {self.titles}, on the host {self.host!r}. {self.why}"


def missing_from_record(rows: Any) -> tuple[MissingBooks, ...]:
    """Missing books as they were recorded with a job; ValueError, KeyError or TypeError for anything else."""
    return tuple(
        MissingBooks(
            checked_text(row["host"]),
            tuple(MissingBook(BookId(checked_text(item["id"])), checked_text(item["title"])) for item in row["books"]),
            "",
        )
        for row in rows
    )


class PeerCaller(Protocol):
    """Knows which hosts have a book, and calls the first of them that answers."""

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
        """A reply to each call, parsed by the call; None for a call that has to be repeated on its own.

        HostUnreachable if no host that has the book answers.
        """
        ...

    def release(self) -> None:
        """Called when a book is closed."""
        ...


class PeerOpener(Protocol):
    """Opens books that other hosts have."""

    @property
    def failures(self) -> int:
        """How often none of the hosts with a book could be reached."""
        ...

    def __call__(self, book: BookId) -> Archive: ...


class PeerArchive:
    """One book of another host; like all books, it may be used by one thread at a time."""

    def __init__(self, book: Book, hosts: PeerCaller, titles: tuple[int, bool] | None = None) -> None:
        self._book = book
        self._hosts = hosts
        self.title_index_size = titles
        """How many titles its index on the host has, and whether it is complete; None without an index."""
        self._prefetched: dict[Call[Any], CallReply] = {}
        self._prefetched_bytes = 0
        self._is_open = True

    @property
    def book(self) -> Book:
        return self._book

    def prefetch(self, calls: Iterable[Call[Any]]) -> None:
        """Make calls together whose replies will be used one by one; a prefetched page is returned only once."""
        if len(self._prefetched) > MAX_PREFETCHED or self._prefetched_bytes > MAX_PREFETCHED_BYTES:
            self._drop()
        wanted = [call for call in dict.fromkeys(calls) if call not in self._prefetched]
        for batch in _batches([call for call in wanted if not is_too_long(call)]):
            if self._prefetched_bytes > MAX_PREFETCHED_BYTES:
                return
            replies = self._hosts.ask(self._book.id, batch)
            found = {call: reply for call, reply in zip(batch, replies, strict=True) if reply is not None}
            self._prefetched |= found
            self._prefetched_bytes += sum(map(_size, found.values()))

    def prefetch_simple(self, name: SimpleCall, of: Iterable[str]) -> None:
        """Prefetch calls that take a path or some words."""
        makers: dict[SimpleCall, Callable[[str], Call[Any]]] = {
            "read": self._read,
            "resolve": _resolve,
            "title": _title,
            "estimate": _estimate,
        }
        self.prefetch(map(makers[name], of))

    def ask(self, call: Call[T]) -> T:
        """The book's reply; errors that it raised on its host are raised here."""
        if is_too_long(call):  # no book has a path or title that long
            if call.name not in EMPTY_ANSWERS:
                raise PageNotFound(f"{self._book.title!r} has no page at {call.args[0][:MAX_SHOWN_CHARS]!r}….")
            return call.read(EMPTY_ANSWERS[call.name], b"")
        # Pages are large and read once, so they are given out only once; small replies stay for the next time.
        known = self._prefetched.get(call)
        if known is not None and call.name == "read":
            del self._prefetched[call]
            self._prefetched_bytes -= _size(known)
        reply = known or self._hosts.ask(self._book.id, [call])[0]
        assert reply is not None, "a single call is always answered"
        if reply.error is not None:
            raise reply.error
        found: T = reply.value
        return found

    def read(self, path: str) -> Entry:
        return self.ask(self._read(path))

    def info(self, path: str) -> EntryInfo:
        return self.ask(Call("look", (path,), self._item))

    def part(self, path: str, start: int, end: int) -> bytes:
        def exact(_: Any, content: bytes) -> bytes:
            if len(content) > max(end - start, 0):
                raise ValueError("it has more bytes than requested")
            return content

        return self.ask(Call("part", (path, start, end), exact))

    def resolve(self, path: str) -> str | None:
        return self.ask(_resolve(path))

    def by_title(self, title: str) -> str | None:
        return self.ask(Call("by_title", (title,), text_or_none))

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        return self.ask(Call("search", (words, limit), checked_list(limit, _matches)))

    def paths_with(self, words: str, limit: int) -> tuple[str, ...]:
        return self.ask(Call("holding", (words, limit), checked_list(limit, checked_texts)))

    def title(self, path: str) -> str:
        return self.ask(_title(path))

    def estimate(self, words: str) -> int:
        return self.ask(_estimate(words))

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        return self.ask(Call("suggest", (text, limit), checked_list(limit, _matches)))

    def articles(self) -> Iterator[str]:
        self._not_here("articles")

    def titles(self, start: int = 0) -> Iterator[TitleEntry]:  # noqa: ARG002
        self._not_here("titles")

    def url(self, path: str) -> str:
        return str(EntryRef(self._book.id, path))

    def close(self) -> None:
        self._drop()
        if self._is_open:
            self._is_open = False
            self._hosts.release()

    def _drop(self) -> None:
        self._prefetched.clear()
        self._prefetched_bytes = 0

    def _not_here(self, what: str) -> NoReturn:
        raise NotOffered(
            f"{self._book.title!r} is on another host, so its {what} cannot be listed here.",
            remedy="Run this on the host that has the book.",
        )

    def _read(self, path: str) -> Call[Entry]:
        def entry(value: Any, content: bytes) -> Entry:
            final, title, mimetype, via = value
            ref = EntryRef(self._book.id, checked_text(final))
            return Entry(ref, checked_text(title), checked_text(mimetype), content, _hops(via))

        return Call("read", (path,), entry)

    def _item(self, value: Any, _: bytes) -> EntryInfo:
        final, mimetype, size, via, is_packed = value
        if type(is_packed) is not bool:
            raise TypeError("whether it is packed must be true or false")
        ref = EntryRef(self._book.id, checked_text(final))
        return EntryInfo(ref, checked_text(mimetype), checked_count(size), _hops(via), is_packed)


def _size(reply: CallReply) -> int:
    """The bytes of a page; other replies are small."""
    return len(reply.value.content) if isinstance(reply.value, Entry) else 0


def is_too_long(call: Call[Any]) -> bool:
    return any(isinstance(arg, str) and len(arg) > MAX_TEXT_CHARS for arg in call.args)


def _batches(calls: Sequence[Call[Any]]) -> Iterator[list[Call[Any]]]:
    """Calls grouped into requests within the limits on number and length."""
    batch: list[Call[Any]] = []
    chars = 0
    for call in calls:
        size = sum(len(arg) for arg in call.args if isinstance(arg, str))
        if batch and (len(batch) == MAX_CALLS_AT_ONCE or chars + size > MAX_REQUEST_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(call)
        chars += size
    if batch:
        yield batch


def _resolve(path: str) -> Call[str | None]:
    return Call("resolve", (path,), text_or_none)


def _title(path: str) -> Call[str]:
    return Call("title", (path,), lambda value, _: checked_text(value))


def _estimate(words: str) -> Call[int]:
    return Call("estimate", (words,), lambda value, _: checked_count(value))


def _matches(value: Any) -> tuple[Match, ...]:
    return tuple(Match(*map(checked_text, row)) for row in value)


def _hops(value: Any) -> tuple[str, ...]:
    via = checked_texts(value)
    if len(via) > MAX_HOPS:
        raise ValueError("it has too many redirects")
    return via
