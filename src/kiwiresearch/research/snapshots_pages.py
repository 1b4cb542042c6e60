"""Which page of an old snapshot is which of a new one: by path, by redirect, by title.

Pages are looked up, not listed: what has to be remembered are those that moved, and not the book.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kiwiresearch.claims.theme import BRACKETED
from kiwiresearch.errors import KiwiError, PageNotFound
from kiwiresearch.research.book_pairs import OLD_ENDING, OLD_NAMESPACE, plain_path
from kiwiresearch.research.snapshots_page import Pair
from kiwiresearch.research.snapshots_sides import Side


@dataclass(frozen=True, slots=True)
class Moves:
    """The pages of the old snapshot whose path leads to another page of the new one, which is not in the old."""

    by_new: dict[str, str]
    gone: int
    """How many pages of the old snapshot have no page in the new one."""


def moves(old: Side, new: Side) -> Moves:
    """Follow the path of each old page that is no page of the new snapshot; the first of several is the one."""
    by_new: dict[str, str] = {}
    gone = 0
    for path in old.paths():
        if counterpart(path, old, new) is None:
            target = _led_to(path, old, new)
            if target and counterpart(target, new, old) is None and target not in by_new:
                by_new[target] = path
            else:
                gone += 1
    return Moves(by_new, gone)


def pairs(old: Side, new: Side, known: Moves) -> Iterator[Pair]:
    """Each page of the new snapshot in its order, with the page it was in the old one."""
    for path in new.paths():
        before = counterpart(path, new, old)
        if before is not None:
            yield _same(before, path)
        elif path in known.by_new:
            yield Pair(known.by_new[path], path, "redirect")
        else:
            yield Pair("", path)


def gone(old: Side, new: Side, known: Moves) -> Iterator[Pair]:
    """Each page of the old snapshot that the new one does not have, in its order, and where its path leads now."""
    for path in old.paths():
        if counterpart(path, old, new) is None:
            target = _led_to(path, old, new)
            if target is None or known.by_new.get(target) != path:
                yield Pair(path, "", leads_to=target or "")


def pair_of(words: str, old: Side, new: Side) -> Pair:
    """The page that a person means by a title or a path, in both snapshots or in one."""
    after = new.find(words)
    if after is not None:
        return _pair_of_new(after, old, new, (words, BRACKETED.sub("", words)))
    before = old.find(words)
    if before is None:
        raise PageNotFound(f"Neither snapshot has a page {words!r}.", remedy="Try another title.")
    same = counterpart(before, old, new)
    if same is not None:
        return _same(before, same)
    return Pair(before, "", leads_to=_led_to(before, old, new) or "")


def _pair_of_new(after: str, old: Side, new: Side, names: Iterable[str]) -> Pair:
    same = counterpart(after, new, old)
    if same is not None:
        return _same(same, after)
    for name in names:
        before = old.find(name)
        is_free = before is not None and counterpart(before, old, new) is None
        if before is not None and is_free and _led_to(before, old, new) == after:
            return Pair(before, after, "redirect")
    return Pair("", after)


def _same(old: str, new: str) -> Pair:
    return Pair(old, new, "" if plain_path(old) == plain_path(new) else "title")


def counterpart(path: str, here: Side, there: Side) -> str | None:
    """The page that is this one in the other snapshot, seen from both: by its path as others spell it, or its title."""
    found = _by_path(path, there)
    if found is None:
        found = _by_title(path, here, there)
        return found if found and _by_path(found, here) is None and _by_title(found, there, here) == path else None
    return found if _by_path(found, here) == path else None


def _by_path(path: str, side: Side) -> str | None:
    """The page whose path is this one, with or without what older books put before and behind it."""
    for spelled in _spellings(path):
        found = _resolved(spelled, side)
        if found is not None and found.removeprefix(OLD_NAMESPACE) == spelled.removeprefix(OLD_NAMESPACE):
            return found
    return None


def _by_title(path: str, here: Side, there: Side) -> str | None:
    try:
        title = here.title(path)
        found = there.by_title(title) if title else None
        return found if found and there.title(found) == title else None
    except KiwiError:
        return None


def _led_to(path: str, old: Side, new: Side) -> str | None:
    """Where the path of an old page leads in the new snapshot."""
    for spelled in _spellings(path):
        found = _resolved(spelled, new)
        if found is not None:
            return found
    try:
        return new.by_title(old.title(path))
    except KiwiError:
        return None


def _spellings(path: str) -> Iterable[str]:
    """A path as it is, and as older and newer books spell it."""
    plain = plain_path(path)
    ended = f"{plain}{OLD_ENDING}"
    return dict.fromkeys((path, plain, ended, f"{OLD_NAMESPACE}{plain}", f"{OLD_NAMESPACE}{ended}"))


def _resolved(path: str, side: Side) -> str | None:
    try:
        return side.resolve(path)
    except KiwiError:
        return None
