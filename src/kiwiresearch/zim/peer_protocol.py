"""Calls between hosts: what may be asked, how it is answered, and how both are sent."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kiwiresearch import errors
from kiwiresearch.errors import KiwiError
from kiwiresearch.zim.archive import Archive, Match

T = TypeVar("T")

LONGEST_TEXT = 65_536
"""No path, title or query is longer; what is, is in no book."""

MAX_WANTED = 10_000
LARGEST_NUMBER = 2**62


class ListLimit(int):
    """How long a list is wanted: a number of another size than a place in a file."""


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
"""Errors that are the book's own answer, wherever it is."""


class BadCall(ValueError):
    """What came is nothing that one of our hosts would ask."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One question to a book on another host; `read` makes of the answer what a book here would give."""

    name: str
    args: tuple[Any, ...]
    read: Callable[[Any, bytes], T] = field(compare=False)
    """Raises ValueError or TypeError for what is no answer to this call."""


@dataclass(frozen=True, slots=True)
class CallReply:
    """What a book said: a plain value and some bytes, or an error of its own."""

    value: Any = None
    content: bytes = b""
    error: KiwiError | None = None


@dataclass(frozen=True, slots=True)
class CallHandler:
    """How a call is answered: the types of its values, and what is asked of the book."""

    parameter_types: tuple[type, ...]
    answer: Callable[..., tuple[Any, bytes]]


def _plain(value: Any) -> tuple[Any, bytes]:
    return value, b""


def _read(archive: Archive, path: str) -> tuple[Any, bytes]:
    entry = archive.read(path)
    return [entry.ref.path, entry.title, entry.mimetype, list(entry.via)], entry.content


def _look(archive: Archive, path: str) -> tuple[Any, bytes]:
    item = archive.look(path)
    return _plain([item.ref.path, item.mimetype, item.size, list(item.via), item.is_packed])


def _matches(matches: Sequence[Match]) -> tuple[Any, bytes]:
    return _plain([[one.path, one.title, one.snippet, one.alias] for one in matches])


BOOK_CALLS: Mapping[str, CallHandler] = {
    "read": CallHandler((str,), _read),
    "look": CallHandler((str,), _look),
    "part": CallHandler((str, int, int), lambda archive, path, start, end: (None, archive.part(path, start, end))),
    "resolve": CallHandler((str,), lambda archive, path: _plain(archive.resolve(path))),
    "by_title": CallHandler((str,), lambda archive, title: _plain(archive.by_title(title))),
    "search": CallHandler((str, ListLimit), lambda archive, words, limit: _matches(archive.search(words, limit))),
    "holding": CallHandler((str, ListLimit), lambda archive, words, limit: _plain(list(archive.holding(words, limit)))),
    "title": CallHandler((str,), lambda archive, path: _plain(archive.title(path))),
    "estimate": CallHandler((str,), lambda archive, words: _plain(archive.estimate(words))),
    "suggest": CallHandler((str, ListLimit), lambda archive, text, limit: _matches(archive.suggest(text, limit))),
}
"""What can be asked of a book itself."""


def answer_call(ways: Mapping[str, CallHandler], of: object, call: Sequence[Any]) -> CallReply:
    """The answer to a call of another host; NotACall for one that nobody of ours would make."""
    way = ways.get(call[0]) if call and isinstance(call[0], str) else None
    if way is None:
        raise BadCall("there is no such call")
    args = call[1:]
    if len(args) != len(way.parameter_types) or not all(map(_is_sane, args, way.parameter_types)):
        raise BadCall(f"{call[0]!r} takes other values")
    try:
        value, content = way.answer(of, *args)
    except tuple(BOOK_ERRORS.values()) as problem:
        return CallReply(error=problem)
    return CallReply(value, content)


def _is_sane(value: Any, kind: type) -> bool:
    if kind in (int, ListLimit):
        return type(value) is int and 0 <= value <= (LARGEST_NUMBER if kind is int else MAX_WANTED)
    return type(value) is kind and isinstance(value, str | list) and len(value) <= LONGEST_TEXT


def error_from_name(name: str, message: str, remedy: str) -> KiwiError:
    """The error of this name; ValueError where a book has no such error."""
    if name not in BOOK_ERRORS:
        raise ValueError(f"no book says {name!r}")
    return BOOK_ERRORS[name](message, remedy=remedy)


def error_name(error: KiwiError) -> str:
    """By which name an error travels: its own, or that of the nearest kind that does."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in BOOK_ERRORS)


PATH = "/api/peer"
"""Below this, hosts over one store answer each other."""

PING = "ping"
MAX_CALLS = 1_024
MAX_BODY_BYTES = 4 * 2**20
MAX_REPLY_BYTES = 320 * 2**20
MAX_HEAD_BYTES = 32 * 2**20
MAX_WORDS = 4_096
"""Letters of an error that are told."""

TOGETHER_BYTES = 16 * 2**20
"""A reply to several calls grows no further than this: what is left has to be asked for again."""

BUSY = b"."
READY = b"!"
LENGTH = struct.Struct(">I")


class BadCallReply(ValueError):
    """What came is not what one of our hosts would send."""


def pack_calls(calls: Sequence[Call[Any]]) -> bytes:
    return json.dumps({"calls": [[call.name, *call.args] for call in calls]}).encode()


def unpack_calls(body: bytes) -> list[list[Any]]:
    """The calls of a request; NotACall for anything else."""
    try:
        calls = json.loads(body)["calls"]
    except (KeyError, TypeError, ValueError, RecursionError) as problem:
        raise BadCall("the request names no calls") from problem
    if not isinstance(calls, list) or not 0 < len(calls) <= MAX_CALLS:
        raise BadCall(f"a request brings 1 to {MAX_CALLS} calls")
    if not all(isinstance(call, list) for call in calls):
        raise BadCall("a call is a list")
    return calls


def pack_replies(replies: Sequence[CallReply | None]) -> Iterator[bytes]:
    """Replies in the order of their calls; None stands for one that did not fit with the others."""
    rows: list[list[Any]] = []
    for reply in replies:
        if reply is None:
            rows.append(["later"])
        elif reply.error is not None:
            rows.append(["error", error_name(reply.error), reply.error.message, reply.error.remedy])
        else:
            rows.append(["ok", reply.value, len(reply.content)])
    head = json.dumps({"replies": rows}).encode()
    yield READY + LENGTH.pack(len(head)) + head
    yield from (reply.content for reply in replies if reply is not None and reply.content)


def unpack_replies(body: bytes, count: int) -> list[CallReply | None]:
    """The replies to so many calls; NotAReply for what no host of ours would send."""
    start = len(body) - len(body.lstrip(BUSY))
    if body[start : start + 1] != READY or len(body) < start + 1 + LENGTH.size:
        raise BadCallReply("it is not made as a reply is")
    (size,) = LENGTH.unpack_from(body, start + 1)
    place = start + 1 + LENGTH.size
    if size > MAX_HEAD_BYTES or place + size > len(body):
        raise BadCallReply("its head is cut off")
    try:
        rows = json.loads(body[place : place + size])["replies"]
        if not isinstance(rows, list) or len(rows) != count:
            raise BadCallReply("it answers something else")
        found, end = _rows(rows, body, place + size)
    except (KeyError, TypeError, IndexError, ValueError, RecursionError) as problem:
        raise BadCallReply(str(problem)) from problem
    if end != len(body):
        raise BadCallReply("it is longer than it says")
    return found


def _rows(rows: Sequence[Any], body: bytes, place: int) -> tuple[list[CallReply | None], int]:
    found: list[CallReply | None] = []
    for row in rows:
        if row == ["later"]:
            found.append(None)
        elif row[0] == "error":
            _, name, message, remedy = row
            found.append(
                CallReply(error=error_from_name(name, str(message)[:MAX_WORDS], remedy=str(remedy)[:MAX_WORDS]))
            )
        else:
            _, value, size = row
            if row[0] != "ok" or type(size) is not int or not 0 <= size <= len(body) - place:
                raise BadCallReply("it is cut off")
            found.append(CallReply(value, body[place : place + size]))
            place += size
    return found, place
