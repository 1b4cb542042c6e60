"""Generators streamed to clients: each runs in a thread of its own, and the event loop only passes items on."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from fastapi import HTTPException
from sse_starlette import EventSourceResponse, ServerSentEvent

from kiwiresearch.codec import plain
from kiwiresearch.ids import canonical_json

T = TypeVar("T")

MAX_AHEAD = 16
"""How many items a generator may be ahead of its client, so that a slow client costs little memory."""

PING_S = 15
"""How often a silent stream sends a comment, for proxies that close silent connections."""

LINE_END = "\n"


def sse_event(name: str | None, data: object, event_id: str | None = None) -> ServerSentEvent:
    """An event of a stream, its data as JSON in one line; without a name it is a plain message."""
    text = canonical_json(plain(data)).encode("utf-8", "replace").decode("utf-8")
    return ServerSentEvent(text, event=name, id=event_id, sep=LINE_END)


def sse_response(events: AsyncGenerator[ServerSentEvent, None]) -> EventSourceResponse:
    """A stream that no proxy buffers and no cache stores."""
    return EventSourceResponse(
        events,
        headers={"Cache-Control": "no-cache"},
        ping=PING_S,
        sep=LINE_END,
        ping_message_factory=lambda: ServerSentEvent(comment="ping", sep=LINE_END),
    )


async def stream_response(
    items: Generator[T, None, None],
    as_event: Callable[[T], ServerSentEvent],
    as_error: Callable[[Exception], ServerSentEvent],
    last: ServerSentEvent | None = None,
) -> EventSourceResponse:
    """A reply that streams the items of a generator as events, and `last` at the end, even after an error."""
    flow = stream_in_thread(items)
    # Awaited before the reply begins, so that an error until then still has a status of its own.
    first = await anext(flow)

    async def events() -> AsyncGenerator[ServerSentEvent, None]:
        async with contextlib.aclosing(flow):
            try:
                yield as_event(first)
                async for item in flow:
                    yield as_event(item)
            except Exception as problem:  # the status is sent already
                yield as_error(problem)
            if last is not None:
                yield last

    return sse_response(events())


class StreamSlots:
    """Limits how many streams of one family of routes are worked on at once; each family has its own slots.

    A stream whose client has disconnected counts until its thread has noticed: clients that connect and leave must
    not pile up threads.
    """

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count)

    def occupy(self, events: Iterator[T]) -> Generator[T, None, None]:
        """The same events, holding a slot from the first to the last; 503 if none is free."""
        if not self._free.acquire(blocking=False):
            raise HTTPException(503, "The server is busy. Try again in a moment.", headers={"Retry-After": "2"})
        try:
            yield from events
        finally:
            self._free.release()


async def stream_in_thread(events: Generator[T, None, None]) -> AsyncGenerator[T, None]:
    """The items of a generator that runs in one thread; when the client disconnects, it is closed in that thread."""
    queue: _ThreadQueue[T] = _ThreadQueue()
    work = contextvars.copy_context().run  # links in the answer lead to the address of this request
    threading.Thread(target=work, args=(queue.work, events), name="stream", daemon=True).start()
    try:
        while not isinstance(item := await queue.take(), _End):
            yield item
        if item.problem is not None:
            raise item.problem
    finally:
        queue.close()


@dataclass(frozen=True, slots=True)
class _End:
    """Follows the last item: what went wrong, if anything did."""

    problem: BaseException | None = None


class _ThreadQueue(Generic[T]):
    """Hands items from the thread that makes them to the event loop that reads them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._arrived: asyncio.Queue[T | _End] = asyncio.Queue()
        self._free = threading.Semaphore(MAX_AHEAD)  # makes the thread wait for a slow client
        self._is_closed = False

    def work(self, events: Generator[T, None, None]) -> None:
        end = _End()
        try:
            with contextlib.closing(events):
                for item in events:
                    self._free.acquire()
                    if self._is_closed:
                        break
                    self._pass_on(item)
        except BaseException as problem:  # raised again in the loop that reads
            end = _End(problem)
        self._pass_on(end)

    async def take(self) -> T | _End:
        item = await self._arrived.get()
        self._free.release()
        return item

    def close(self) -> None:
        """Nobody reads anymore: wake the thread if it waits for a free place, so that it notices and ends."""
        self._is_closed = True
        self._free.release()

    def _pass_on(self, item: T | _End) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and its reader with it
            self._loop.call_soon_threadsafe(self._arrived.put_nowait, item)
