"""How hosts talk about their books: calls and replies, how both are sent and checked, and how books are announced."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import PurePath
from typing import Any, Generic, TypeVar, get_args

from kiwiresearch import errors
from kiwiresearch.codec import JsonDict
from kiwiresearch.errors import KiwiError
from kiwiresearch.ids import BookId
from kiwiresearch.zim.archive import Archive, Book, BookKind, Indexes, Match
from kiwiresearch.zim.sources import BookLocation, peer_source

T = TypeVar("T")

MAX_TEXT_CHARS = 65_536
"""Longer than any path, title or query of a book."""

MAX_WANTED = 10_000
MAX_NUMBER = 2**62


class ListLimit(int):
    """The parameter type of a list's length, which has a lower maximum than an offset in a file."""


BOOK_ERRORS: Mapping[str, type[KiwiError]] = {
    kind.__name__: kind
    for kind in (
        errors.BookDamaged,
        errors.BookChanged,
        errors.BookHidden,
        errors.BookUnreachable,
        errors.IndexStale,
        errors.NotOffered,
        errors.PageHidden,
        errors.PageNotFound,
        errors.RedirectLoop,
    )
}
"""Errors that are a book's own answer and are raised again on the calling host."""


class BadCall(ValueError):
    """A request that none of our hosts would send."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One call to a book on another host; `read` turns the reply into what a local book would return."""

    name: str
    args: tuple[Any, ...]
    read: Callable[[Any, bytes], T] = field(compare=False)
    """Raises ValueError or TypeError for an invalid reply."""


@dataclass(frozen=True, slots=True)
class CallReply:
    """A book's reply: a plain value and some bytes, or an error."""

    value: Any = None
    content: bytes = b""
    error: KiwiError | None = None


@dataclass(frozen=True, slots=True)
class CallHandler:
    """How a call is answered: the types of its arguments, and the function that computes the reply."""

    parameter_types: tuple[type, ...]
    answer: Callable[..., tuple[Any, bytes]]


def _plain(value: Any) -> tuple[Any, bytes]:
    return value, b""


def _read(archive: Archive, path: str) -> tuple[Any, bytes]:
    entry = archive.read(path)
    return [entry.ref.path, entry.title, entry.mimetype, list(entry.via)], entry.content


def _look(archive: Archive, path: str) -> tuple[Any, bytes]:
    item = archive.info(path)
    return _plain([item.ref.path, item.mimetype, item.size, list(item.via), item.is_packed])


def _matches(matches: Sequence[Match]) -> tuple[Any, bytes]:
    return _plain([[match.path, match.title, match.snippet, match.alias] for match in matches])


# The names are sent to other hosts, so they must not change.
BOOK_CALLS: Mapping[str, CallHandler] = {
    "read": CallHandler((str,), _read),
    "look": CallHandler((str,), _look),
    "part": CallHandler((str, int, int), lambda archive, path, start, end: (None, archive.part(path, start, end))),
    "resolve": CallHandler((str,), lambda archive, path: _plain(archive.resolve(path))),
    "by_title": CallHandler((str,), lambda archive, title: _plain(archive.by_title(title))),
    "search": CallHandler((str, ListLimit), lambda archive, words, limit: _matches(archive.search(words, limit))),
    "holding": CallHandler(
        (str, ListLimit), lambda archive, words, limit: _plain(list(archive.paths_with(words, limit)))
    ),
    "title": CallHandler((str,), lambda archive, path: _plain(archive.title(path))),
    "estimate": CallHandler((str,), lambda archive, words: _plain(archive.estimate(words))),
    "suggest": CallHandler((str, ListLimit), lambda archive, text, limit: _matches(archive.suggest(text, limit))),
}
"""The calls that a book itself answers."""


def answer_call(handlers: Mapping[str, CallHandler], target: object, call: Sequence[Any]) -> CallReply:
    """Answer a call of another host; BadCall for one that none of our hosts would make."""
    handler = handlers.get(call[0]) if call and isinstance(call[0], str) else None
    if handler is None:
        raise BadCall("the call is unknown")
    args = call[1:]
    if len(args) != len(handler.parameter_types) or not all(map(_is_valid, args, handler.parameter_types)):
        raise BadCall(f"{call[0]!r} takes other arguments")
    try:
        value, content = handler.answer(target, *args)
    except tuple(BOOK_ERRORS.values()) as problem:
        return CallReply(error=problem)
    return CallReply(value, content)


def _is_valid(value: Any, kind: type) -> bool:
    if kind in (int, ListLimit):
        return type(value) is int and 0 <= value <= (MAX_NUMBER if kind is int else MAX_WANTED)
    # The exact type: a bool is an int to `isinstance`, and must not pass for a number.
    return type(value) is kind and isinstance(value, str | list) and len(value) <= MAX_TEXT_CHARS


def error_name(error: KiwiError) -> str:
    """The name an error is sent under: its own, or that of its nearest parent among BOOK_ERRORS."""
    # Only called for errors that were caught as one of BOOK_ERRORS, so there is always a name.
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in BOOK_ERRORS)


PATH = "/api/peer"
"""The path under which hosts of one store answer each other."""

PING = "ping"
MAX_CALLS = 1_024
MAX_BODY_BYTES = 4 * 2**20
MAX_REPLY_BYTES = 320 * 2**20
MAX_HEAD_BYTES = 32 * 2**20
MAX_ERROR_CHARS = 4_096
TOGETHER_BYTES = 16 * 2**20
"""Once the reply to several calls is larger than this, the remaining calls have to be made again."""

BUSY_SIGN = b"."
"""Sent while a reply is being worked on, so that the caller knows that the host is alive."""
READY_SIGN = b"!"
LENGTH = struct.Struct(">I")


class BadCallReply(ValueError):
    """A reply that none of our hosts would send."""


def pack_calls(calls: Sequence[Call[Any]]) -> bytes:
    return json.dumps({"calls": [[call.name, *call.args] for call in calls]}).encode()


def unpack_calls(body: bytes) -> list[list[Any]]:
    """The calls of a request; BadCall for anything else."""
    try:
        calls = json.loads(body)["calls"]
    except (KeyError, TypeError, ValueError, RecursionError) as problem:
        raise BadCall("the request has no calls") from problem
    if not isinstance(calls, list) or not 0 < len(calls) <= MAX_CALLS:
        raise BadCall(f"a request has 1 to {MAX_CALLS} calls")
    if not all(isinstance(call, list) for call in calls):
        raise BadCall("a call must be a list")
    return calls


def pack_replies(replies: Sequence[CallReply | None]) -> Iterator[bytes]:
    """Replies in the order of their calls; None for a call that has to be made again on its own."""
    rows: list[list[Any]] = []
    for reply in replies:
        if reply is None:
            rows.append(["later"])
        elif reply.error is not None:
            rows.append(["error", error_name(reply.error), reply.error.message, reply.error.remedy])
        else:
            rows.append(["ok", reply.value, len(reply.content)])
    head = json.dumps({"replies": rows}).encode()
    yield READY_SIGN + LENGTH.pack(len(head)) + head
    yield from (reply.content for reply in replies if reply is not None and reply.content)


def unpack_replies(body: bytes, count: int) -> list[CallReply | None]:
    """The replies to `count` calls; BadCallReply for what none of our hosts would send."""
    start = len(body) - len(body.lstrip(BUSY_SIGN))
    if body[start : start + 1] != READY_SIGN or len(body) < start + 1 + LENGTH.size:
        raise BadCallReply("it does not start like a reply")
    (size,) = LENGTH.unpack_from(body, start + 1)
    place = start + 1 + LENGTH.size
    if size > MAX_HEAD_BYTES or place + size > len(body):
        raise BadCallReply("its header is incomplete")
    try:
        rows = json.loads(body[place : place + size])["replies"]
        if not isinstance(rows, list) or len(rows) != count:
            raise BadCallReply("it has the wrong number of replies")
        found, end = _rows(rows, body, place + size)
    except (KeyError, TypeError, IndexError, ValueError, RecursionError) as problem:
        raise BadCallReply(str(problem)) from problem
    # Bytes that nothing asked for mean that the lengths are wrong, so nothing of it can be trusted.
    if end != len(body):
        raise BadCallReply("it has extra bytes")
    return found


def _rows(rows: Sequence[Any], body: bytes, place: int) -> tuple[list[CallReply | None], int]:
    found: list[CallReply | None] = []
    for row in rows:
        if row == ["later"]:
            found.append(None)
        elif row[0] == "error":
            _, name, message, remedy = row
            if name not in BOOK_ERRORS:
                raise ValueError(f"unknown error {name!r}")
            error = BOOK_ERRORS[name](str(message)[:MAX_ERROR_CHARS], remedy=str(remedy)[:MAX_ERROR_CHARS])
            found.append(CallReply(error=error))
        else:
            _, value, size = row
            if row[0] != "ok" or type(size) is not int or not 0 <= size <= len(body) - place:
                raise BadCallReply("its content is incomplete")
            found.append(CallReply(value, body[place : place + size]))
            place += size
    return found, place


def checked_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("it is not text")
    if len(value) > MAX_TEXT_CHARS:
        raise ValueError("a text is too long")
    return value


def checked_count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= MAX_NUMBER:
        raise TypeError("it is not a count")
    return value


def text_or_none(value: Any, _: bytes) -> str | None:
    return None if value is None else checked_text(value)


def checked_texts(value: Any) -> tuple[str, ...]:
    return tuple(map(checked_text, value))


def checked_list(limit: int, read: Callable[[Any], tuple[T, ...]]) -> Callable[[Any, bytes], tuple[T, ...]]:
    """Returns a parser of lists that rejects more items than requested."""

    def checked(value: Any, _: bytes) -> tuple[T, ...]:
        if not isinstance(value, list) or len(value) > limit:
            raise ValueError("it is not a list, or is longer than requested")
        return read(value)

    return checked


UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_FIELD_CHARS = 4_096
TEXT_FIELDS = ("name", "title", "description", "date", "flavour", "creator", "publisher", "scraper", "main_page")
COUNT_FIELDS = ("articles", "entries", "media", "size_bytes")


@dataclass(frozen=True, slots=True)
class PeerBook:
    """A book of another host, and the state of its title index there."""

    book: Book
    titles: tuple[int, bool] | None = None
    """How many titles are indexed, and whether the index is complete; None without an index."""

    @property
    def source(self) -> BookLocation:
        return BookLocation(self.book.source)


def announcement_of(book: Book, titles: tuple[int, bool] | None) -> JsonDict:
    """How a host announces one of its books: with the name of the file, but not its folder."""
    record: JsonDict = asdict(book) | {"titles": list(titles) if titles else None}
    # Other hosts need not know the folders of this one.
    record["source"] = PurePath(book.source).name
    return {key: _storable(value) for key, value in record.items()}


def peer_book(record: Mapping[str, Any]) -> PeerBook:
    """The book that another host announced; ValueError or TypeError for an invalid record."""
    known: dict[str, Any] = {field.name: record.get(field.name) for field in fields(Book)}
    if not UUID.fullmatch(checked_text(known["id"])):
        raise ValueError("the ID of the book is not a UUID")
    if known["kind"] not in get_args(BookKind) or type(known["old_namespaces"]) is not bool:
        raise ValueError("unknown kind of book")
    for name in TEXT_FIELDS:
        if len(checked_text(known[name])) > MAX_FIELD_CHARS:
            raise ValueError("a field of the book is too long")
    for name in COUNT_FIELDS:
        checked_count(known[name])
    indexes = known["indexes"]
    if not isinstance(indexes, dict):
        raise TypeError("its list of indexes is missing")
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
    """A value whose texts any database accepts: no lone surrogates, no null characters."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().replace("\0", " ")
    if isinstance(value, tuple | list):
        return [_storable(item) for item in value]
    return value
