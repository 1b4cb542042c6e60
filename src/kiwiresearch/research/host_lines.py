"""The lines to other hosts: opened when first needed, shared by threads, closed when the last one hangs up."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kiwiresearch.errors import HostAway

if TYPE_CHECKING:
    from kiwiresearch.zim.peer_line import Line

ADDRESSES = ("http://", "https://")
Place = tuple[str, str]
"""The name of a host and its address: one that moves is another."""


@dataclass(slots=True)
class _Kept:
    line: Line
    users: int = 0
    is_over: bool = False


class HostLines:
    """Lines by host; one that is no longer wanted is closed as soon as nobody speaks on it."""

    def __init__(self) -> None:
        self._changing = threading.Lock()
        self._kept: dict[Place, _Kept] = {}

    @contextlib.contextmanager
    def to(self, place: Place, secret: str) -> Iterator[Line]:
        """A line, for as long as the block takes."""
        kept = self._taken(place, secret)
        try:
            yield kept.line
        finally:
            with self._changing:
                kept.users -= 1
                is_last = kept.is_over and not kept.users
            if is_last:
                kept.line.close()

    def keep_only(self, places: Collection[Place]) -> None:
        """Hang up on all others."""
        with self._changing:
            gone = [self._kept.pop(place) for place in set(self._kept) - set(places)]
            for kept in gone:
                kept.is_over = True
            idle = [kept for kept in gone if not kept.users]
        for kept in idle:
            kept.line.close()

    def _taken(self, place: Place, secret: str) -> _Kept:
        from kiwiresearch.zim.peer_line import Line

        name, url = place
        if not url.startswith(ADDRESSES):
            raise HostAway(f"The host {name!r} has no address.", remedy="See 'public_url' below [serve] there.")
        with self._changing:
            if place not in self._kept:
                self._kept[place] = _Kept(Line(name, url.rstrip("/"), secret))
            kept = self._kept[place]
            kept.users += 1
            return kept
