"""The HTTP client for calls to another host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kiwiresearch.errors import HostUnreachable
from kiwiresearch.http_client import Deadline, FailureKind, HttpClient, HttpFailure, retried_once
from kiwiresearch.ids import BookId
from kiwiresearch.messages import Message
from kiwiresearch.zim.peer_protocol import (
    BUSY_SIGN,
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
"""A working host reports every second; one that is silent for this long is gone."""

MAX_WORK_S = 20.0
"""The longest a host may report that it is working without sending a reply."""

TOTAL_S = 60.0
"""The longest a call may take once its reply has started to arrive."""

MAX_CONNECTIONS = 8
"""Connections to one host that stay open for further calls."""

FAILURES: dict[FailureKind, str] = {
    "broken": "closed the connection",
    "late": "took too long to reply",
    "silent": "is not responding",
    "large": "sent a reply that is too large",
}


class PeerClient:
    """Calls to one host; several threads may use it."""

    def __init__(self, name: str, url: str, secret: str) -> None:
        self.name = name
        self.url = url
        headers = {"Authorization": f"Bearer {secret}", "Accept-Encoding": "identity"}
        self._client = HttpClient(
            connect_s=CONNECT_S, read_s=SILENT_S, headers=headers, max_connections=MAX_CONNECTIONS
        )

    def ask(self, book: BookId, calls: Sequence[Call[Any]]) -> list[CallReply | None]:
        """A reply to each call, parsed by the call; HostUnreachable if the host is gone, refuses or sends nonsense."""
        body = self._fetched(f"{PATH}/{book}", pack_calls(calls))
        try:
            replies = unpack_replies(body, len(calls))
            if len(calls) == 1 and replies[0] is None:  # or we would repeat the call for ever
                raise BadCallReply("it did not answer a single call")
            return [_read(call, reply) for call, reply in zip(calls, replies, strict=True)]
        except (ValueError, TypeError) as problem:
            raise self._away(f"sent an invalid reply: {problem}") from problem

    def ping(self) -> None:
        """Raise HostUnreachable unless the host of this name is there and accepts our secret."""
        if self._fetched(f"{PATH}/{PING}", b"") != self.name.encode("utf-8", "replace"):
            raise self._away("is now another host")

    def close(self) -> None:
        self._client.close()

    def _fetched(self, path: str, body: bytes) -> bytes:
        try:  # the host may meanwhile have closed a connection that was open
            return retried_once(lambda: self._once(path, body), "broken")
        except HttpFailure as failure:
            is_unresponsive = failure.kind == "silent" or failure.kind not in FAILURES
            raise self._away(
                FAILURES.get(failure.kind, "is not responding"), is_unresponsive=is_unresponsive
            ) from failure

    def _once(self, path: str, body: bytes) -> bytes:
        parts, is_at_work, limit = [], True, Deadline(MAX_WORK_S)
        with self._client.open("POST", self.url + path, limit, content=body) as response:
            if response.status != 200:
                raise self._away(f"refused the request ({response.status})")
            for part in response.chunks(MAX_REPLY_BYTES, raw=True):
                parts.append(part)
                if is_at_work and part.strip(BUSY_SIGN):  # the reply itself begins: from now on the longer limit holds
                    is_at_work = False
                    limit.seconds = TOTAL_S
        return b"".join(parts)

    def _away(self, what: str, *, is_unresponsive: bool = False) -> HostUnreachable:
        text = f"The host {self.name!r} {what}."
        return HostUnreachable(
            Message(text, "host.silent", host=self.name) if is_unresponsive else text,
            remedy="Check with 'kiwiresearch hosts' which hosts are online, then try again.",
        )


def _read(call: Call[Any], reply: CallReply | None) -> CallReply | None:
    if reply is None or reply.error is not None:
        return reply
    return replace(reply, value=call.read(reply.value, reply.content), content=b"")
