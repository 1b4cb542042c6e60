"""Another host without a network: everything goes through the bytes that would be sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kiwiresearch.ids import BookId
from kiwiresearch.search.open_book import TITLE_CALLS as TITLE_WAYS
from kiwiresearch.search.titles import TitleIndex
from kiwiresearch.zim.archive import Archive
from kiwiresearch.zim.peer import PeerArchive
from kiwiresearch.zim.peer_protocol import (
    BOOK_CALLS,
    BUSY_SIGN,
    Call,
    CallReply,
    announcement_of,
    answer_call,
    pack_calls,
    pack_replies,
    peer_book,
    unpack_calls,
    unpack_replies,
)


class Wire:
    """The other end of the wire: it remembers what was asked together."""

    def __init__(self, archive: Archive, titles: TitleIndex | None = None) -> None:
        self._archive = archive
        self._titles = titles
        self.requests: list[list[str]] = []

    def release(self) -> None:
        """Nothing is kept open."""

    def ask(self, _: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
        asked = unpack_calls(pack_calls(calls))
        self.requests.append([call[0] for call in asked])
        replies: list[CallReply | None] = [
            answer_call(TITLE_WAYS, self._titles, call)
            if call[0] in TITLE_WAYS
            else answer_call(BOOK_CALLS, self._archive, call)
            for call in asked
        ]
        found = unpack_replies(BUSY_SIGN * 3 + b"".join(pack_replies(replies)), len(calls))
        return [
            one if one is None or one.error else replace(one, value=call.read(one.value, one.content), content=b"")
            for call, one in zip(calls, found, strict=True)
        ]


def remote_book(archive: Archive) -> PeerArchive:
    """A book as another host has it."""
    return PeerArchive(peer_book(announcement_of(archive.book, None)).book, Wire(archive))
