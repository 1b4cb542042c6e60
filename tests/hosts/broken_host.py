"""A host that answers as it should for a while, and then in a way that no host should."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.hosts.running_hosts import a_desk
from tests.http_servers import Request, answer, serving

from kiwiresearch.workspace.shared_books import OwnBooks
from kiwiresearch.workspace.workspace import store_of
from kiwiresearch.zim.peer_protocol import BUSY_SIGN, LENGTH, PING, READY_SIGN, pack_replies, unpack_calls

Fault = Literal["", "garbage", "lies", "hangs", "hangs up", "refuses", "cuts off"]


@dataclass
class BrokenHost:
    """What it does, and how often it was asked."""

    name: str
    books: OwnBooks
    fault: Fault = ""
    good: int = 0
    """So many requests are answered before the fault shows."""
    asked: int = 0
    over: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def announce(self, store_of_desk: Any) -> None:
        store_of_desk.hosts.announce(self.name, self.url, self.books.announcements())

    def answer(self, handler: Request) -> None:
        is_knock = handler.path.endswith(PING)
        self.asked += not is_knock
        fault = self.fault if self.asked > self.good else ""
        if fault == "hangs":
            self.over.wait()
        if fault in ("hangs", "hangs up") or (
            fault == "lies" and is_knock
        ):  # a ping has no content that could be wrong
            handler.close_connection = True
            return
        text = b"".join(self._answer_parts(handler.path.rpartition("/")[2], handler.body, fault))
        size = len(text) + (100 if fault == "cuts off" else 0)
        answer(handler, 403 if fault == "refuses" else 200, text, Content_Length=str(size))
        if fault == "cuts off":
            handler.close_connection = True

    def _answer_parts(self, book: str, body: bytes, fault: Fault) -> Iterator[bytes]:
        if fault == "garbage":
            yield b"<html>Please sign in to the hotel's network</html>"
        elif fault == "lies":
            head = b'{"replies": [' + b",".join([b'["ok", {"a": [1]}, 0]'] * len(unpack_calls(body))) + b"]}"
            yield READY_SIGN + LENGTH.pack(len(head)) + head
        elif book == PING:
            yield self.name.encode()
        else:
            yield BUSY_SIGN
            yield from pack_replies(self.books.answers(book, unpack_calls(body)))


@contextlib.contextmanager
def a_broken_host(home: Path, store: str, name: str, *books: Path) -> Iterator[BrokenHost]:
    """A host of a store that a test can break."""
    desk = a_desk(home, store, *books)
    host = BrokenHost(name, OwnBooks(desk, desk.shelf_file.books))

    with serving(host.answer, "127.0.0.3") as host.url:
        host.announce(store_of(desk))
        try:
            yield host
        finally:
            host.over.set()
            host.books.close()
            store_of(desk).hosts.leave(name)
