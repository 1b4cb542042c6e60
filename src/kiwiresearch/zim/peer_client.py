"""The HTTP client for calls to another host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx2

from kiwiresearch.errors import HostAway
from kiwiresearch.ids import BookId
from kiwiresearch.network import limit_trace, time_limit
from kiwiresearch.zim.peer_protocol import (
    BUSY,
    MAX_REPLY_BYTES,
    PATH,
    PING,
    BadCallReply,
    Call,
    CallReply,
    pack_calls,
    unpack_replies,
)

CONNECT_S = 1.0
SILENT_S = 3.0
"""A host at work says so every second; one that says nothing for so long is gone."""

AT_WORK_S = 20.0
"""A host that has nothing but that to say for so long does not come to an end."""

TOTAL_S = 60.0
"""So long may a call take whose answer is on its way."""

MAX_CONNECTIONS = 8
"""Connections that are kept open to one host."""


class PeerClient:
    """Calls to one host; several threads may use it."""

    def __init__(self, name: str, url: str, secret: str) -> None:
        self.name = name
        self.url = url
        self._client = httpx2.Client(
            timeout=httpx2.Timeout(SILENT_S, connect=CONNECT_S),
            limits=httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS),
            headers={"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"},
            trust_env=False,  # no proxy of the environment: hosts talk to each other alone
            verify=url.startswith("https:"),
        )

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
        """A reply to each call, read as the call says; HostAway for a host that is gone, refuses or says nonsense."""
        body = self._fetched(f"{PATH}/{book}", pack_calls(calls))
        try:
            replies = unpack_replies(body, len(calls))
            if len(calls) == 1 and replies[0] is None:
                raise BadCallReply("it puts off what was asked for alone")
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
            except TimeoutError as problem:
                raise self._away("does not come to an end") from problem
            except httpx2.TimeoutException as problem:
                raise self._away("does not answer in time") from problem
            except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as problem:
                raise self._away("does not answer") from problem
        raise AssertionError("unreachable")

    def _once(self, path: str, body: bytes) -> bytes:
        parts, size, is_at_work = [], 0, True
        traced = {"trace": limit_trace}
        with (
            time_limit(AT_WORK_S) as limit,
            self._client.stream("POST", self.url + path, content=body, extensions=traced) as response,
        ):
            if response.status_code != 200:
                raise self._away(f"refuses to answer ({response.status_code})")
            for part in response.iter_raw():
                parts.append(part)
                size += len(part)
                if size > MAX_REPLY_BYTES:
                    raise self._away("gives an answer without end")
                if is_at_work and part.strip(BUSY):
                    is_at_work = False
                    limit.seconds = TOTAL_S
        return b"".join(parts)

    def _away(self, what: str) -> HostAway:
        return HostAway(
            f"The host {self.name!r} {what}.", remedy="'kiwiresearch hosts' shows who is there; try again when it is."
        )


def _read(call: Call[Any], reply: CallReply | None) -> CallReply | None:
    if reply is None or reply.error is not None:
        return reply
    return replace(reply, value=call.read(reply.value, reply.content), content=b"")
