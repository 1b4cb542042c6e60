"""Calls and replies on their way between hosts: JSON for what is plain, bytes as they are.

A reply begins with a dot for every moment that the other host is still at work, so that
one that is slow can be told from one that is gone. Then come the length of the head,
the head (JSON, one row for each call), and the contents of entries one after the other.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from kiwiresearch.zim.peer_calls import Call, NotACall, Reply, carried, carried_name

PATH = "/api/peer"
"""Below this, hosts over one store answer each other."""

PING = "ping"
MOST_CALLS = 1_024
MOST_BODY_BYTES = 4 * 2**20
MOST_REPLY_BYTES = 320 * 2**20
MOST_HEAD_BYTES = 32 * 2**20
MOST_WORDS = 4_096
"""Letters of an error that are told."""

TOGETHER_BYTES = 16 * 2**20
"""A reply to several calls grows no further than this: what is left has to be asked for again."""

BUSY = b"."
READY = b"!"
LENGTH = struct.Struct(">I")


class NotAReply(ValueError):
    """What came is not what one of our hosts would send."""


def pack_calls(calls: Sequence[Call[Any]]) -> bytes:
    return json.dumps({"calls": [[call.name, *call.args] for call in calls]}).encode()


def unpack_calls(body: bytes) -> list[list[Any]]:
    """The calls of a request; NotACall for anything else."""
    try:
        calls = json.loads(body)["calls"]
    except (KeyError, TypeError, ValueError, RecursionError) as problem:
        raise NotACall("the request names no calls") from problem
    if not isinstance(calls, list) or not 0 < len(calls) <= MOST_CALLS:
        raise NotACall(f"a request brings 1 to {MOST_CALLS} calls")
    if not all(isinstance(call, list) for call in calls):
        raise NotACall("a call is a list")
    return calls


def pack_replies(replies: Sequence[Reply | None]) -> Iterator[bytes]:
    """Replies in the order of their calls; None stands for one that did not fit with the others."""
    rows: list[list[Any]] = []
    for reply in replies:
        if reply is None:
            rows.append(["later"])
        elif reply.error is not None:
            rows.append(["error", carried_name(reply.error), reply.error.message, reply.error.remedy])
        else:
            rows.append(["ok", reply.value, len(reply.content)])
    head = json.dumps({"replies": rows}).encode()
    yield READY + LENGTH.pack(len(head)) + head
    yield from (reply.content for reply in replies if reply is not None and reply.content)


def unpack_replies(body: bytes, count: int) -> list[Reply | None]:
    """The replies to so many calls; NotAReply for what no host of ours would send."""
    start = len(body) - len(body.lstrip(BUSY))
    if body[start : start + 1] != READY or len(body) < start + 1 + LENGTH.size:
        raise NotAReply("it is not made as a reply is")
    (size,) = LENGTH.unpack_from(body, start + 1)
    place = start + 1 + LENGTH.size
    if size > MOST_HEAD_BYTES or place + size > len(body):
        raise NotAReply("its head is cut off")
    try:
        rows = json.loads(body[place : place + size])["replies"]
        if not isinstance(rows, list) or len(rows) != count:
            raise NotAReply("it answers something else")
        found, end = _rows(rows, body, place + size)
    except (KeyError, TypeError, IndexError, ValueError, RecursionError) as problem:
        raise NotAReply(str(problem)) from problem
    if end != len(body):
        raise NotAReply("it is longer than it says")
    return found


def _rows(rows: Sequence[Any], body: bytes, place: int) -> tuple[list[Reply | None], int]:
    found: list[Reply | None] = []
    for row in rows:
        if row == ["later"]:
            found.append(None)
        elif row[0] == "error":
            _, name, message, remedy = row
            found.append(Reply(error=carried(name, str(message)[:MOST_WORDS], remedy=str(remedy)[:MOST_WORDS])))
        else:
            _, value, size = row
            if row[0] != "ok" or type(size) is not int or not 0 <= size <= len(body) - place:
                raise NotAReply("it is cut off")
            found.append(Reply(value, body[place : place + size]))
            place += size
    return found, place
