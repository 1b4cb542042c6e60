"""Books on another host, and how hosts describe their books to each other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import PurePath
from typing import Any, Literal, NoReturn, Protocol, TypeVar, get_args

from kiwiresearch.codec import Record
from kiwiresearch.errors import NotOffered, PageNotFound
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import (
    MAX_HOPS,
    Archive,
    Book,
    BookKind,
    Entry,
    EntryInfo,
    EntryRef,
    Indexes,
    Match,
    TitleEntry,
)
from kiwiresearch.zim.peer_protocol import LARGEST_NUMBER, LONGEST_TEXT, Call, CallReply
from kiwiresearch.zim.sources import Source, peer_source

T = TypeVar("T")

MAX_CALLS_AT_ONCE = 256
"""So many calls are made in one request."""

MAX_LETTERS = 200_000
SHOWN = 60
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

MAX_KEPT = 16_384
"""Answers that were asked for ahead and that nobody came for are dropped when there are more."""

MAX_KEPT_BYTES = 64 * 2**20
"""Pages that were sent ahead take no more than this, and one portion; the rest is asked for one by one."""

SimpleCall = Literal["read", "resolve", "title", "estimate"]


@dataclass(frozen=True, slots=True)
class MissingBook(Record):
    """A book that could not be asked."""

    id: BookId
    title: str


@dataclass(frozen=True, slots=True)
class MissingBooks(Record):
    """A host that is away, and the books that could not be asked for that."""

    host: str
    books: tuple[MissingBook, ...]
    why: str

    @property
    def titles(self) -> str:
        return ", ".join(book.title for book in self.books)

    def sentence(self) -> str:
        """What a reader should know."""
        return f"Not asked: {self.titles}, on the host {self.host!r}. {self.why}"


def missing_from_record(rows: Any) -> tuple[MissingBooks, ...]:
    """What was written down of books that could not be asked; ValueError, KeyError or TypeError for anything else."""
    return tuple(
        MissingBooks(
            checked_text(row["host"]),
            tuple(MissingBook(BookId(checked_text(one["id"])), checked_text(one["title"])) for one in row["books"]),
            "",
        )
        for row in rows
    )


class PeerCaller(Protocol):
    """Whoever knows which hosts have a book, and asks the first of them that answers."""

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
        """A reply to each call, read as the call says; None for one that has to be asked for by itself.

        HostAway where no host that has the book answers.
        """
        ...

    def release(self) -> None:
        """Hear that a book was closed."""
        ...


class PeerOpener(Protocol):
    """Opens books that other hosts have."""

    @property
    def failures(self) -> int:
        """How often such a book could be asked on no host at all."""
        ...

    def __call__(self, book: BookId) -> Archive: ...


class PeerArchive:
    """One book of another host; it may be used by one thread at a time, as the others."""

    def __init__(self, book: Book, neighbours: PeerCaller, titles: tuple[int, bool] | None = None) -> None:
        self._book = book
        self._neighbours = neighbours
        self.title_index_size = titles
        """How many titles its index there has, and whether these are all; None where it has no index."""
        self._kept: dict[Call[Any], CallReply] = {}
        self._kept_bytes = 0
        self._is_open = True

    @property
    def book(self) -> Book:
        return self._book

    def prefetch(self, calls: Iterable[Call[Any]]) -> None:
        """Ask at once for what will be asked one by one; a page that was sent ahead is given once."""
        if len(self._kept) > MAX_KEPT or self._kept_bytes > MAX_KEPT_BYTES:
            self._drop()
        wanted = [call for call in dict.fromkeys(calls) if call not in self._kept]
        for some in _portions([call for call in wanted if not is_too_long(call)]):
            if self._kept_bytes > MAX_KEPT_BYTES:
                return
            replies = self._neighbours.ask(self._book.id, some)
            found = {call: reply for call, reply in zip(some, replies, strict=True) if reply is not None}
            self._kept |= found
            self._kept_bytes += sum(map(_size, found.values()))

    def prefetch_simple(self, name: SimpleCall, of: Iterable[str]) -> None:
        """The same for calls that take a path or some words."""
        ways: dict[SimpleCall, Callable[[str], Call[Any]]] = {
            "read": self._read,
            "resolve": self._resolve,
            "title": _title,
            "estimate": _estimate,
        }
        self.prefetch(map(ways[name], of))

    def ask(self, call: Call[T]) -> T:
        """What the book says; its errors are raised here as they would be there."""
        if is_too_long(call):
            return self._nothing(call)
        known = self._kept.get(call)
        if known is not None and call.name == "read":
            del self._kept[call]
            self._kept_bytes -= _size(known)
        reply = known or self._neighbours.ask(self._book.id, [call])[0]
        assert reply is not None, "one call alone is always answered"
        if reply.error is not None:
            raise reply.error
        found: T = reply.value
        return found

    def read(self, path: str) -> Entry:
        return self.ask(self._read(path))

    def look(self, path: str) -> EntryInfo:
        return self.ask(Call("look", (path,), self._item))

    def part(self, path: str, start: int, end: int) -> bytes:
        def exact(_: Any, content: bytes) -> bytes:
            if len(content) > max(end - start, 0):
                raise ValueError("it is more than was asked for")
            return content

        return self.ask(Call("part", (path, start, end), exact))

    def resolve(self, path: str) -> str | None:
        return self.ask(self._resolve(path))

    def by_title(self, title: str) -> str | None:
        return self.ask(Call("by_title", (title,), text_or_none))

    def search(self, words: str, limit: int) -> tuple[Match, ...]:
        return self.ask(Call("search", (words, limit), checked_list(limit, _matches)))

    def holding(self, words: str, limit: int) -> tuple[str, ...]:
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
            self._neighbours.release()

    def _drop(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0

    def _nothing(self, call: Call[T]) -> T:
        """What any book says to something that is longer than all it holds."""
        if call.name not in EMPTY_ANSWERS:
            raise PageNotFound(f"{self._book.title!r} has no page {call.args[0][:SHOWN]!r}….")
        return call.read(EMPTY_ANSWERS[call.name], b"")

    def _not_here(self, what: str) -> NoReturn:
        raise NotOffered(
            f"The {what} of {self._book.title!r} are not listed from another host.",
            remedy="Work through a whole book on the host that has it.",
        )

    def _read(self, path: str) -> Call[Entry]:
        def entry(value: Any, content: bytes) -> Entry:
            final, title, mimetype, via = value
            return Entry(
                EntryRef(self._book.id, checked_text(final)),
                checked_text(title),
                checked_text(mimetype),
                content,
                _hops(via),
            )

        return Call("read", (path,), entry)

    def _item(self, value: Any, _: bytes) -> EntryInfo:
        final, mimetype, size, via, is_packed = value
        if type(is_packed) is not bool:
            raise TypeError("packed or not")
        return EntryInfo(
            EntryRef(self._book.id, checked_text(final)),
            checked_text(mimetype),
            checked_count(size),
            _hops(via),
            is_packed,
        )

    def _resolve(self, path: str) -> Call[str | None]:
        return Call("resolve", (path,), text_or_none)


def _size(reply: CallReply) -> int:
    """The bytes of a page; what else is kept is small."""
    return len(reply.value.content) if isinstance(reply.value, Entry) else 0


def is_too_long(call: Call[Any]) -> bool:
    return any(isinstance(one, str) and len(one) > LONGEST_TEXT for one in call.args)


def _portions(calls: Sequence[Call[Any]]) -> Iterator[list[Call[Any]]]:
    """Calls as they are sent together: not too many, and not too long."""
    some: list[Call[Any]] = []
    letters = 0
    for call in calls:
        size = sum(len(one) for one in call.args if isinstance(one, str))
        if some and (len(some) == MAX_CALLS_AT_ONCE or letters + size > MAX_LETTERS):
            yield some
            some, letters = [], 0
        some.append(call)
        letters += size
    if some:
        yield some


def _title(path: str) -> Call[str]:
    return Call("title", (path,), lambda value, _: checked_text(value))


def _estimate(words: str) -> Call[int]:
    return Call("estimate", (words,), lambda value, _: checked_count(value))


def checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("it is no text")
    if len(value) > LONGEST_TEXT:
        raise ValueError("no path and no title is so long")
    return value


def checked_count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST_NUMBER:
        raise TypeError("it is no count")
    return value


def text_or_none(value: Any, _: bytes) -> str | None:
    return None if value is None else checked_text(value)


def checked_texts(value: Any) -> tuple[str, ...]:
    return tuple(map(checked_text, value))


def checked_list(limit: int, read: Callable[[Any], tuple[T, ...]]) -> Callable[[Any, bytes], tuple[T, ...]]:
    """A list as it was asked for, not longer."""

    def checked(value: Any, _: bytes) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) > limit:
            raise ValueError("it is no list, or longer than was asked for")
        return read(value)

    return checked


def _matches(value: Any) -> tuple[Match, ...]:
    return tuple(Match(*map(checked_text, row)) for row in value)


def _hops(value: Any) -> tuple[str, ...]:
    via = checked_texts(value)
    if len(via) > MAX_HOPS:
        raise ValueError("it leads on and on")
    return via


UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
LONGEST_FIELD = 4_096
TEXTS = ("name", "title", "description", "date", "flavour", "creator", "publisher", "scraper", "main_page")
COUNTS = ("articles", "entries", "media", "size_bytes")


@dataclass(frozen=True, slots=True)
class PeerBook:
    """A book that another host has, and what is known of its title index there."""

    book: Book
    titles: tuple[int, bool] | None = None
    """How many titles are indexed, and whether these are all; None without an index."""

    @property
    def source(self) -> Source:
        return Source(self.book.source)


def announcement_of(book: Book, titles: tuple[int, bool] | None) -> dict[str, Any]:
    """What a host says of a book of its own: the name of the file, and not where it is."""
    record: dict[str, Any] = asdict(book) | {"titles": list(titles) if titles else None}
    record["source"] = PurePath(book.source).name
    return {key: _storable(value) for key, value in record.items()}


def peer_book(record: Mapping[str, Any]) -> PeerBook:
    """The book that another host announced; ValueError or TypeError for what is no data sheet."""
    known: dict[str, Any] = {field.name: record.get(field.name) for field in fields(Book)}
    if not UUID.fullmatch(checked_text(known["id"])):
        raise ValueError("a book has a UUID")
    if known["kind"] not in get_args(BookKind) or type(known["old_namespaces"]) is not bool:
        raise ValueError("there is no such kind of book")
    for name in TEXTS:
        if len(checked_text(known[name])) > LONGEST_FIELD:
            raise ValueError("it says too much of itself")
    for name in COUNTS:
        checked_count(known[name])
    indexes = known["indexes"]
    if not isinstance(indexes, dict):
        raise TypeError("it has no indexes")
    known |= {
        "id": BookId(known["id"]),
        "languages": checked_texts(known["languages"]),
        "tags": checked_texts(known["tags"]),
        "indexes": Indexes(full_text=indexes.get("full_text") is True, titles=indexes.get("titles") is True),
        "source": str(peer_source(known["id"], checked_text(known["source"])[:255])),
    }
    return PeerBook(Book(**known), _titles(record.get("titles")))


def _titles(value: Any) -> tuple[int, bool] | None:
    if value is None:
        return None
    rows, complete = value
    return checked_count(rows), complete is True


def _storable(value: Any) -> Any:
    """Text that any database takes."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", " ")
    if isinstance(value, tuple | list):
        return [_storable(one) for one in value]
    return value
