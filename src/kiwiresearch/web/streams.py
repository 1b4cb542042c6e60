"""Plain generators streamed to clients: a thread of its own does the work, the loop only passes it on."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncGenerator, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from fastapi import HTTPException
from sse_starlette import EventSourceResponse, ServerSentEvent

from kiwiresearch.codec import plain
from kiwiresearch.ids import canonical_json

T = TypeVar("T")

MAX_AHEAD = 16
"""How many items a generator may be ahead of its reader, so that a slow client holds little memory."""

PING_S = 15
"""How often a silent stream says that it is alive, for proxies that close silent connections."""

LINE_END = "\n"


def sse_event(name: str | None, data: object, event_id: str | None = None) -> ServerSentEvent:
    """An event of a stream, its data as JSON in one line; without a name it is a plain message."""
    text = canonical_json(plain(data)).encode("utf-8", "replace").decode("utf-8")
    return ServerSentEvent(text, event=name, id=event_id, sep=LINE_END)


def sse_response(events: AsyncGenerator[ServerSentEvent, None]) -> EventSourceResponse:
    """A stream that no proxy keeps back and no cache keeps."""
    return EventSourceResponse(
        events,
        headers={"Cache-Control": "no-cache"},
        ping=PING_S,
        sep=LINE_END,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep=LINE_END),
    )


class StreamSlots:
    """How many streams may be at work at once.

    Those count whose reader has left and that have not noticed yet: a client that comes and goes
    must not leave more and more threads behind.
    """

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count)

    def occupy(self, events: Iterator[T]) -> Generator[T, None, None]:
        """The same events, in a slot from the first to the last; 503 if none is free."""
        if not self._free.acquire(blocking=False):
            raise HTTPException(503, "All hands are busy. Ask again in a moment.", headers={"Retry-After": "2"})
        try:
            yield from events
        finally:
            self._free.release()


async def stream_in_thread(events: Generator[T, None, None]) -> AsyncGenerator[T, None]:
    """What a generator gives, worked out in one thread; when the reader leaves, it is closed there."""
    line: _ThreadQueue[T] = _ThreadQueue()
    work = contextvars.copy_context().run  # links in the answer lead to the address of this request
    threading.Thread(target=work, args=(line.work, events), name="stream", daemon=True).start()
    try:
        while not isinstance(item := await line.take(), _End):
            yield item
        if item.problem is not None:
            raise item.problem
    finally:
        line.leave()


@dataclass(frozen=True, slots=True)
class _End:
    """Behind the last item: what went wrong, if anything did."""

    problem: BaseException | None = None


class _ThreadQueue(Generic[T]):
    """From the thread that works to the loop that reads."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived: asyncio.Queue[T | _End] = asyncio.Queue()
        self._room = threading.Semaphore(MAX_AHEAD)
        self._is_left = False

    def work(self, events: Generator[T, None, None]) -> None:
        end = _End()
        try:
            with contextlib.closing(events):
                for item in events:
                    self._room.acquire()
                    if self._is_left:
                        break
                    self._pass_on(item)
        except BaseException as problem:  # it is raised again where somebody reads
            end = _End(problem)
        self._pass_on(end)

    async def take(self) -> T | _End:
        item = await self._arrived.get()
        self._room.release()
        return item

    def leave(self) -> None:
        """Nobody reads any more: a thread that waits for room goes on, sees it and ends."""
        self._is_left = True
        self._room.release()

    def _pass_on(self, item: T | _End) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its readers with it
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, item)
