"""The bytes of an answer turned into JSON objects: a stream of events, or one document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any

from kiwiresearch.errors import BadReply

MAX_BYTES = 32 * 2**20
"""Each token comes wrapped in some 300 bytes, so this is about a hundred thousand tokens."""

DONE = "[DONE]"


class NotUnderstood(Exception):
    """The bytes are not what a model server sends; never seen outside this package."""


def capped(chunks: Iterable[bytes], limit: int = MAX_BYTES) -> Iterator[bytes]:
    """The same chunks, as long as they are not too much together."""
    received = 0
    for chunk in chunks:
        received += len(chunk)
        if received > limit:
            raise BadReply(
                f"The reply is larger than {limit // 2**20} MiB.", remedy="Ask for less, or try another model."
            )
        yield chunk


def objects(chunks: Iterable[bytes]) -> Iterator[dict[str, Any] | None]:
    """The JSON objects of an answer, then None if the server said that it was done.

    The first letter decides, not the content type, which servers and proxies get wrong.
    """
    waiting = iter(chunks)
    begun = next((chunk for chunk in waiting if chunk.strip()), b"")
    first = begun.lstrip()[:1]
    if first == b"{":
        yield _object(b"".join([begun, *waiting]).decode("utf-8", "replace"))
        yield None
    elif first == b"<":
        raise NotUnderstood("it sends a page for people")
    else:
        yield from _events(_lines(chain([begun], waiting)))


def _events(lines: Iterable[str]) -> Iterator[dict[str, Any] | None]:
    data: list[str] = []
    for line in lines:
        field, _, value = line.partition(":")
        if field in ("data", "error"):
            data.append(value.removeprefix(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text.strip() == DONE:
                yield None
                return
            yield _object(text)
        elif line and field not in ("", "event", "id", "retry"):
            raise NotUnderstood(f"it sends {line[:60]!r}")
    if data == [DONE]:
        yield None
    elif data:
        with suppress(NotUnderstood):  # the line broke within an event
            yield _object("\n".join(data))


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Lines are cut as bytes, so that no letter is ever cut in two."""
    pending: list[bytes] = []
    for chunk in chunks:
        head, newline, rest = chunk.partition(b"\n")
        pending.append(head)
        if newline:
            yield _line(b"".join(pending))
            *whole, last = rest.split(b"\n")
            yield from map(_line, whole)
            pending = [last]
    yield _line(b"".join(pending))


def _line(content: bytes) -> str:
    return content.removesuffix(b"\r").decode("utf-8", "replace").removeprefix("\ufeff")


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise NotUnderstood("its JSON is broken") from problem
    if not isinstance(value, dict):
        raise NotUnderstood("its JSON is no object")
    return value
