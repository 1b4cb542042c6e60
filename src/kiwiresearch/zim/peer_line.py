"""The line to another host of ours: quick to notice that nobody is there, and not to be led by the nose."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakSet

import httpx2

from kiwiresearch.errors import HostAway
from kiwiresearch.ids import BookId
from kiwiresearch.zim.peer_calls import Call, Reply
from kiwiresearch.zim.peer_wire import BUSY, MOST_REPLY_BYTES, PATH, PING, NotAReply, pack_calls, unpack_replies

CONNECT_S = 1.0
SILENT_S = 3.0
"""A host at work says so every second; one that says nothing for so long is gone."""

AT_WORK_S = 20.0
"""A host that has nothing but that to say for so long does not come to an end."""

WHOLE_S = 60.0
CUT_S = 3.0
"""So much later a line is cut: whoever sends whole parts is noticed before, and others who use the line go on."""

ENDLESS = "does not come to an end"
LINES = 8
"""Connections that are kept open to one host."""


class Line:
    """Calls to one host; several threads may use it."""

    def __init__(self, name: str, url: str, secret: str) -> None:
        self.name = name
        self.url = url
        self._changing = threading.Lock()
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(SILENT_S, connect=CONNECT_S),
            limits=httpx2.Limits(max_connections=LINES, max_keepalive_connections=LINES),
            headers={"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"},
            trust_env=False,  # no proxy of the environment: hosts talk to each other alone
            verify=url.startswith("https:"),
        )

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[Reply | None]:
        """A reply to each call, read as the call says; HostAway for a host that is gone, refuses or says nonsense."""
        body = self._fetched(f"{PATH}/{book}", pack_calls(calls))
        try:
            replies = unpack_replies(body, len(calls))
            if len(calls) == 1 and replies[0] is None:
                raise NotAReply("it puts off what was asked for alone")
            return [_read(call, reply) for call, reply in zip(calls, replies, strict=True)]
        except (ValueError, TypeError) as problem:
            raise self._away(f"gives a broken answer: {problem}") from problem

    def ping(self) -> None:
        """HostAway unless the host of this name is there and knows us."""
        if self._fetched(f"{PATH}/{PING}", b"") != self.name.encode("utf-8", "replace"):
            raise self._away("is another host by now")

    def close(self) -> None:
        self._client.close()

    def _fetched(self, path: str, body: bytes) -> bytes:
        for attempt in (1, 2):
            try:
                return self._once(path, body)
            except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError) as problem:
                if attempt == 2:  # a connection that was kept open may have been closed there meanwhile
                    raise self._away("hung up") from problem
            except httpx2.TimeoutException as problem:
                raise self._away("does not answer in time") from problem
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as problem:
                raise self._away("does not answer") from problem
        raise AssertionError("unreachable")

    def _once(self, path: str, body: bytes) -> bytes:
        limit = _Limit(self._cut)
        try:
            return self._heard(path, body, limit)
        except httpx2.HTTPError as problem:
            if limit.has_passed:
                raise self._away(ENDLESS) from problem
            raise
        finally:
            limit.end()

    def _heard(self, path: str, body: bytes, limit: _Limit) -> bytes:
        parts, size, is_at_work = [], 0, True
        traced = {"trace": self._note_line}
        with self._client.stream("POST", self.url + path, content=body, extensions=traced) as response:
            if response.status_code != 200:
                raise self._away(f"refuses to answer ({response.status_code})")
            for part in response.iter_raw():
                parts.append(part)
                size += len(part)
                if size > MOST_REPLY_BYTES:
                    raise self._away("gives an answer without end")
                if is_at_work and part.strip(BUSY):
                    is_at_work = False
                    limit.put_off()
                if limit.has_passed:
                    raise self._away(ENDLESS)
        return b"".join(parts)

    def _note_line(self, event: str, info: dict[str, Any]) -> None:
        """Told by the HTTP client what happens: which lines there are to be cut."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._changing:
                self._sockets.add(info["return_value"].get_extra_info("socket"))

    def _cut(self) -> None:
        """Cut all lines to this host: one that drips on one of them is not to be waited for on another."""
        with self._changing:
            for line in list(self._sockets):
                with contextlib.suppress(OSError):  # it has ended by itself
                    socket.socket.shutdown(line, socket.SHUT_RDWR)

    def _away(self, what: str) -> HostAway:
        return HostAway(
            f"The host {self.name!r} {what}.", remedy="'kiwiresearch hosts' shows who is there; try again when it is."
        )


class _Limit:
    """One limit for a whole call: timeouts count from the last byte, and never end a host that sends one now and then.

    A host that is at work, or has not begun to answer, has less time than one whose answer is on its way.
    """

    def __init__(self, cut: Callable[[], None]) -> None:
        self._cut = cut
        self._begun = time.monotonic()
        self._timer = self._started(AT_WORK_S)
        self._seconds = AT_WORK_S

    @property
    def has_passed(self) -> bool:
        return time.monotonic() - self._begun >= self._seconds

    def put_off(self) -> None:
        """The answer is on its way, which may take longer."""
        self._timer.cancel()
        self._seconds = WHOLE_S
        self._timer = self._started(max(self._begun + WHOLE_S - time.monotonic(), 0.0))

    def end(self) -> None:
        self._timer.cancel()

    def _started(self, seconds: float) -> threading.Timer:
        timer = threading.Timer(seconds + CUT_S, self._cut)
        timer.daemon = True
        timer.start()
        return timer


def _read(call: Call[Any], reply: Reply | None) -> Reply | None:
    if reply is None or reply.error is not None:
        return reply
    return replace(reply, value=call.read(reply.value, reply.content), content=b"")
