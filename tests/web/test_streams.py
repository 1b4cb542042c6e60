"""Generators that are streamed: one thread each, nothing lost, and closed when nobody listens."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Generator, Iterator

import pytest
from fastapi import HTTPException

from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.web.streams import MAX_AHEAD, StreamSlots, sse_event, stream_in_thread


def counting(seen: list[int], closed: threading.Event, most: int = 10_000) -> Generator[int, None, None]:
    """Numbers, and the threads they were made in."""
    try:
        for number in range(most):
            seen.append(threading.get_ident())
            yield number
    finally:
        closed.set()


def test_items_arrive_in_order_from_one_thread() -> None:
    """A stream gives what its generator gives, and the generator lives in one thread that is not the loop's."""
    seen: list[int] = []

    async def read() -> list[int]:
        return [number async for number in stream_in_thread(counting(seen, threading.Event(), 100))]

    assert asyncio.run(read()) == list(range(100))
    assert len(set(seen)) == 1
    assert seen[0] != threading.get_ident()


def test_a_reader_who_leaves_closes_the_generator() -> None:
    """A generator whose reader has left is closed, though it would have gone on for long."""
    closed = threading.Event()

    async def read_one() -> int:
        async with contextlib.aclosing(stream_in_thread(counting([], closed))) as flow:
            return await anext(flow)

    assert asyncio.run(read_one()) == 0
    assert closed.wait(10)


def test_a_reader_who_is_cancelled_closes_the_generator() -> None:
    """A stream that waits for its generator lets go when its task is cancelled; the generator ends at its next item."""
    closed, may_go_on, waits = threading.Event(), threading.Event(), threading.Event()

    def slow() -> Iterator[int]:
        waits.set()
        may_go_on.wait(10)
        yield from counting([], closed)

    async def read() -> None:
        reading = asyncio.ensure_future(anext(stream_in_thread(StreamSlots(1).occupy(slow()))))
        await asyncio.to_thread(waits.wait, 10)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        may_go_on.set()
        await asyncio.to_thread(closed.wait, 10)

    asyncio.run(read())
    assert closed.is_set()


def test_a_slow_reader_slows_down_the_generator() -> None:
    """A generator is never more than a few items ahead of its reader."""
    seen: list[int] = []
    closed = threading.Event()

    async def read_some() -> None:
        async with contextlib.aclosing(stream_in_thread(counting(seen, closed))) as flow:
            for _ in range(5):
                await anext(flow)

    asyncio.run(read_some())
    assert closed.wait(10)
    assert len(seen) <= 5 + MAX_AHEAD + 2


def test_an_error_is_raised_after_the_items_before_it() -> None:
    """An error of the generator reaches the reader, in its place."""

    def breaking() -> Generator[int, None, None]:
        yield 1
        raise ModelUnreachable("The model is away.")

    async def read() -> int:
        flow = stream_in_thread(breaking())
        first = await anext(flow)
        with pytest.raises(ModelUnreachable):
            await anext(flow)
        return first

    assert asyncio.run(read()) == 1


def test_a_slot_is_free_again_when_its_stream_ends_in_any_way() -> None:
    """A stream takes a slot with its first item and gives it back when it is read, closed, broken or thrown away."""
    slots = StreamSlots(1)
    taken = slots.occupy(iter([1, 2]))
    assert next(taken) == 1
    with pytest.raises(HTTPException) as refused:
        next(slots.occupy(iter([1])))
    assert refused.value.status_code == 503
    taken.close()
    assert list(slots.occupy(iter([1]))) == [1]
    assert next(slots.occupy(iter([1, 2]))) == 1
    assert list(slots.occupy(iter([1]))) == [1]


@pytest.mark.parametrize("text", ["a\nb\r\nc", "\u2028\x85", "\ud800", "data: x\n\nevent: done", "日本語"])
def test_an_event_is_one_line_of_data(text: str) -> None:
    """No text of a book or a model can begin an event of its own, or break the encoding."""
    raw = sse_event("token", {"text": text}).encode().decode("utf-8")
    head, data, *rest = raw.split("\n")
    assert (head, rest) == ("event: token", ["", ""])
    assert data.startswith('data: {"text":"')
    assert raw.splitlines() == [head, data, ""]
