"""Books on another host of ours: asked over its line, they answer as they would at home."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, Protocol, TypeVar

from kiwiresearch.errors import NotOffered, PageNotFound
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import MAX_HOPS, Archive
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import Entry, EntryRef, Item, Match, TitleEntry
from kiwiresearch.zim.peer_calls import FARTHEST, LONGEST_TEXT, Call, Reply

T = TypeVar("T")

AHEAD = 256
"""So many calls are made in one request."""

MOST_LETTERS = 200_000
SHOWN = 60
NOTHING: Mapping[str, Any] = {
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

MOST_KEPT = 16_384
"""Answers that were asked for ahead and that nobody came for are dropped when there are more."""

MOST_KEPT_BYTES = 64 * 2**20
"""Pages that were sent ahead take no more than this, and one portion; the rest is asked for one by one."""

Simple = Literal["read", "resolve", "title", "estimate"]


@dataclass(frozen=True, slots=True)
class Missing:
    """Books that could not be asked, since the host that has them is away."""

    host: str
    books: tuple[tuple[BookId, str], ...]
    """UUID and title of each."""
    why: str

    def record(self) -> dict[str, Any]:
        books = [{"id": book, "title": title} for book, title in self.books]
        return {"host": self.host, "books": books, "why": self.why}

    @property
    def titles(self) -> str:
        return ", ".join(title for _, title in self.books)

    def sentence(self) -> str:
        """What a reader should know."""
        return f"Not asked: {self.titles}, on the host {self.host!r}. {self.why}"


def missing_of(rows: Any) -> tuple[Missing, ...]:
    """What was written down of books that could not be asked; ValueError, KeyError or TypeError for anything else."""
    return tuple(
        Missing(text(row["host"]), tuple((BookId(text(one["id"])), text(one["title"])) for one in row["books"]), "")
        for row in rows
    )


class Neighbours(Protocol):
    """Whoever knows which hosts have a book, and asks the first of them that answers."""

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[Reply | None]:
        """A reply to each call, read as the call says; None for one that has to be asked for by itself.

        HostAway where no host that has the book answers.
        """
        ...

    def let_go(self) -> None:
        """Hear that a book was closed."""
        ...


class Far(Protocol):
    """Opens books that other hosts have."""

    @property
    def failures(self) -> int:
        """How often such a book could be asked on no host at all."""
        ...

    def __call__(self, book: BookId) -> Archive: ...


class PeerArchive:
    """One book of another host; it may be used by one thread at a time, as the others."""

    def __init__(self, book: Book, neighbours: Neighbours, titles: tuple[int, bool] | None = None) -> None:
        self._book = book
        self._neighbours = neighbours
        self.titles_there = titles
        """How many titles its index there has, and whether these are all; None where it has no index."""
        self._kept: dict[Call[Any], Reply] = {}
        self._kept_bytes = 0
        self._is_open = True

    @property
    def book(self) -> Book:
        return self._book

    def ahead(self, calls: Iterable[Call[Any]]) -> None:
        """Ask at once for what will be asked one by one; a page that was sent ahead is given once."""
        if len(self._kept) > MOST_KEPT or self._kept_bytes > MOST_KEPT_BYTES:
            self._drop()
        wanted = [call for call in dict.fromkeys(calls) if call not in self._kept]
        for some in _portions([call for call in wanted if not is_too_long(call)]):
            if self._kept_bytes > MOST_KEPT_BYTES:
                return
            replies = self._neighbours.ask(self._book.id, some)
            found = {call: reply for call, reply in zip(some, replies, strict=True) if reply is not None}
            self._kept |= found
            self._kept_bytes += sum(map(_size, found.values()))

    def ahead_simple(self, name: Simple, of: Iterable[str]) -> None:
        """The same for calls that take a path or some words."""
        ways: dict[Simple, Callable[[str], Call[Any]]] = {
            "read": self._read,
            "resolve": self._resolve,
            "title": _title,
            "estimate": _estimate,
        }
        self.ahead(map(ways[name], of))

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

    def look(self, path: str) -> Item:
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
        return self.ask(Call("search", (words, limit), at_most(limit, _matches)))

    def holding(self, words: str, limit: int) -> tuple[str, ...]:
        return self.ask(Call("holding", (words, limit), at_most(limit, texts)))

    def title(self, path: str) -> str:
        return self.ask(_title(path))

    def estimate(self, words: str) -> int:
        return self.ask(_estimate(words))

    def suggest(self, text: str, limit: int) -> tuple[Match, ...]:
        return self.ask(Call("suggest", (text, limit), at_most(limit, _matches)))

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
            self._neighbours.let_go()

    def _drop(self) -> None:
        self._kept.clear()
        self._kept_bytes = 0

    def _nothing(self, call: Call[T]) -> T:
        """What any book says to something that is longer than all it holds."""
        if call.name not in NOTHING:
            raise PageNotFound(f"{self._book.title!r} has no page {call.args[0][:SHOWN]!r}….")
        return call.read(NOTHING[call.name], b"")

    def _not_here(self, what: str) -> NoReturn:
        raise NotOffered(
            f"The {what} of {self._book.title!r} are not listed from another host.",
            remedy="Work through a whole book on the host that has it.",
        )

    def _read(self, path: str) -> Call[Entry]:
        def entry(value: Any, content: bytes) -> Entry:
            final, title, mimetype, via = value
            return Entry(EntryRef(self._book.id, text(final)), text(title), text(mimetype), content, _hops(via))

        return Call("read", (path,), entry)

    def _item(self, value: Any, _: bytes) -> Item:
        final, mimetype, size, via, is_packed = value
        if type(is_packed) is not bool:
            raise TypeError("packed or not")
        return Item(EntryRef(self._book.id, text(final)), text(mimetype), count(size), _hops(via), is_packed)

    def _resolve(self, path: str) -> Call[str | None]:
        return Call("resolve", (path,), text_or_none)


def _size(reply: Reply) -> int:
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
        if some and (len(some) == AHEAD or letters + size > MOST_LETTERS):
            yield some
            some, letters = [], 0
        some.append(call)
        letters += size
    if some:
        yield some


def _title(path: str) -> Call[str]:
    return Call("title", (path,), lambda value, _: text(value))


def _estimate(words: str) -> Call[int]:
    return Call("estimate", (words,), lambda value, _: count(value))


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("it is no text")
    if len(value) > LONGEST_TEXT:
        raise ValueError("no path and no title is so long")
    return value


def count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= FARTHEST:
        raise TypeError("it is no count")
    return value


def text_or_none(value: Any, _: bytes) -> str | None:
    return None if value is None else text(value)


def texts(value: Any) -> tuple[str, ...]:
    return tuple(map(text, value))


def at_most(limit: int, read: Callable[[Any], tuple[T, ...]]) -> Callable[[Any, bytes], tuple[T, ...]]:
    """A list as it was asked for, not longer."""

    def checked(value: Any, _: bytes) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) > limit:
            raise ValueError("it is no list, or longer than was asked for")
        return read(value)

    return checked


def _matches(value: Any) -> tuple[Match, ...]:
    return tuple(Match(*map(text, row)) for row in value)


def _hops(value: Any) -> tuple[str, ...]:
    via = texts(value)
    if len(via) > MAX_HOPS:
        raise ValueError("it leads on and on")
    return via
