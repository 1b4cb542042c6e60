"""What one host may ask another about a book, and how such a call is answered: both sides of the seam in one table.

A call is a name and some plain values; its answer is a plain value, bytes, or both,
and an error of the book travels by its name. So a book that is asked from afar
says exactly what it says at home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from kiwiresearch import errors
from kiwiresearch.errors import KiwiError
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.entry import Match

T = TypeVar("T")

LONGEST_TEXT = 65_536
"""No path, title or query is longer; what is, is in no book."""

MOST_WANTED = 10_000
FARTHEST = 2**62


class Limit(int):
    """How long a list is wanted: a number of another size than a place in a file."""


CARRIED: Mapping[str, type[KiwiError]] = {
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


class NotACall(ValueError):
    """What came is nothing that one of our hosts would ask."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One question to a book on another host; `read` makes of the answer what a book here would give."""

    name: str
    args: tuple[Any, ...]
    read: Callable[[Any, bytes], T] = field(compare=False)
    """Raises ValueError or TypeError for what is no answer to this call."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a book said: a plain value and some bytes, or an error of its own."""

    value: Any = None
    content: bytes = b""
    error: KiwiError | None = None


@dataclass(frozen=True, slots=True)
class Way:
    """How a call is answered: the types of its values, and what is asked of the book."""

    takes: tuple[type, ...]
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


WAYS: Mapping[str, Way] = {
    "read": Way((str,), _read),
    "look": Way((str,), _look),
    "part": Way((str, int, int), lambda archive, path, start, end: (None, archive.part(path, start, end))),
    "resolve": Way((str,), lambda archive, path: _plain(archive.resolve(path))),
    "by_title": Way((str,), lambda archive, title: _plain(archive.by_title(title))),
    "search": Way((str, Limit), lambda archive, words, limit: _matches(archive.search(words, limit))),
    "holding": Way((str, Limit), lambda archive, words, limit: _plain(list(archive.holding(words, limit)))),
    "title": Way((str,), lambda archive, path: _plain(archive.title(path))),
    "estimate": Way((str,), lambda archive, words: _plain(archive.estimate(words))),
    "suggest": Way((str, Limit), lambda archive, text, limit: _matches(archive.suggest(text, limit))),
}
"""What can be asked of a book itself."""


def answered(ways: Mapping[str, Way], of: object, call: Sequence[Any]) -> Reply:
    """The answer to a call of another host; NotACall for one that nobody of ours would make."""
    way = ways.get(call[0]) if call and isinstance(call[0], str) else None
    if way is None:
        raise NotACall("there is no such call")
    args = call[1:]
    if len(args) != len(way.takes) or not all(map(_is_sane, args, way.takes)):
        raise NotACall(f"{call[0]!r} takes other values")
    try:
        value, content = way.answer(of, *args)
    except tuple(CARRIED.values()) as problem:
        return Reply(error=problem)
    return Reply(value, content)


def _is_sane(value: Any, kind: type) -> bool:
    if kind in (int, Limit):
        return type(value) is int and 0 <= value <= (FARTHEST if kind is int else MOST_WANTED)
    return type(value) is kind and isinstance(value, str | list) and len(value) <= LONGEST_TEXT


def carried(name: str, message: str, remedy: str) -> KiwiError:
    """The error of this name; ValueError where a book has no such error."""
    if name not in CARRIED:
        raise ValueError(f"no book says {name!r}")
    return CARRIED[name](message, remedy=remedy)


def carried_name(error: KiwiError) -> str:
    """By which name an error travels: its own, or that of the nearest kind that does."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__name__ in CARRIED)
