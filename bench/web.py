"""Twenty people at one desk: reading, searching and asking in the browser, first in peace, then beside a run.

The figures that matter are ratios within one run of this: how much slower pages are while research is
under way, and how much memory has grown since everything that is kept was read once. Users wait for
nothing between their pages, so that the server never rests.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from evals.data import SHARED_DATA

from bench.crowd import GROWTH, SETTLED_S, memory_mib, server_of

USERS = 20
SECONDS = 60.0
TIMEOUT_S = 60.0
RUN_PAGES = 400
TITLES = ("Galaxy", "Moon", "Roman Empire", "Evolution", "Coffee", "Iceland", "Volcano", "Isaac Newton", "Whale", "Tea")
QUESTIONS = ("When was Isaac Newton born?", "What is a galaxy?", "How high is Mount Everest?", "Who wrote Hamlet?")
WORDS = ("planets of the sun", "rivers africa", "steam engine", "roman army", "whales", "black hole")
KINDS = ("read", "search", "read", "ask", "read", "home")
"""What a user does, in turn; each begins at another place."""


@dataclass(slots=True)
class Tally:
    """Milliseconds of every page by kind, and what went wrong."""

    spent: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def high(self) -> float:
        return high([ms for times in self.spent.values() for ms in times])

    def told(self, when: str) -> list[str]:
        count = sum(map(len, self.spent.values()))
        lines = [f"{when}: {count / self.seconds:.1f} pages a second, {self.errors.total()} errors"]
        lines += [f"  error, {count} times: {what}" for what, count in self.errors.most_common(5)]
        kinds = [f"{kind} {high(times):.0f} ms" for kind, times in self.spent.items() if times]
        return [*lines, f"  slowest of twenty: {', '.join(kinds)}; of all {self.high():.0f} ms"]


def high(times: Sequence[float]) -> float:
    """What only one of twenty takes longer than."""
    return sorted(times)[int(0.95 * len(times))] if times else 0.0


def run(seconds: float = SECONDS) -> list[str]:
    """The figures, as lines."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(visited(file, Path(folder), seconds))


async def visited(file: Path, home: Path, seconds: float) -> list[str]:
    """The figures of a desk on one book, as lines."""
    async with server_of(file, home) as (address, pid):
        book = json.loads(await fetched(address, "/api/books"))["books"][0]["id"]
        for _, path in itertools.islice(_paths(book, 0), len(TITLES) * len(KINDS)):  # all of it is read once
            await fetched(address, path)
        memory = [memory_mib(pid)]
        settling = asyncio.create_task(_memory_later(pid, min(SETTLED_S, seconds / 3)))
        alone = await _crowd(address, book, seconds)
        memory.append(await settling)
        async with _researching(address) as runs:
            beside = await _crowd(address, book, seconds)
        memory.append(memory_mib(pid))
    return [
        f"{USERS} people for {seconds:.0f} s on {file.name}, who wait for nothing between their pages",
        *alone.told("in peace"),
        *beside.told(f"beside research ({runs.total()} runs of up to {RUN_PAGES} pages)"),
        f"beside research, the slowest of twenty takes {beside.high() / alone.high():.2f} times as long",
        _bounded(memory),
    ]


def _bounded(mib: Sequence[float]) -> str:
    bound = "bounded" if mib[-1] <= GROWTH * mib[1] else "NOT BOUNDED"
    told = f"{mib[0]:.0f} MiB at the start, {mib[1]:.0f} when settled, {mib[-1]:.0f} at the end"
    return f"memory of the server: {told}: {bound}, {mib[-1] / mib[1]:.2f} times what it was when settled"


async def _memory_later(pid: int, seconds: float) -> float:
    await asyncio.sleep(seconds)
    return memory_mib(pid)


async def _crowd(address: str, book: str, seconds: float) -> Tally:
    tally, began = Tally(), time.monotonic()
    users = (_user(address, _paths(book, number), began + seconds, tally) for number in range(USERS))
    await asyncio.gather(*users)
    tally.seconds = time.monotonic() - began
    return tally


async def _user(address: str, paths: Iterator[tuple[str, str]], until: float, tally: Tally) -> None:
    while time.monotonic() < until:
        kind, path = next(paths)
        began = time.perf_counter()
        try:
            await asyncio.wait_for(fetched(address, path), TIMEOUT_S)
            tally.spent[kind].append((time.perf_counter() - began) * 1e3)
        except (OSError, ValueError, TimeoutError) as problem:
            tally.errors[f"{kind}: {type(problem).__name__}: {problem}"[:160]] += 1
            await asyncio.sleep(0.1)


def _paths(book: str, first: int) -> Iterator[tuple[str, str]]:
    """What one user looks at, without end; no two begin alike."""
    for number in itertools.count(first):
        kind = KINDS[number % len(KINDS)]
        yield kind, _path(kind, book, number // len(KINDS) + 3 * first)


def _path(kind: str, book: str, number: int) -> str:
    if kind == "read":
        return f"/page/{book}/{quote(TITLES[number % len(TITLES)].replace(' ', '_'))}"
    if kind == "search":
        return f"/find?q={quote(WORDS[number % len(WORDS)])}"
    return f"/ask?q={quote(QUESTIONS[number % len(QUESTIONS)])}" if kind == "ask" else "/"


async def fetched(address: str, path: str, body: bytes = b"") -> bytes:
    """What is at an address, redirects followed as a browser does; `body` is JSON to be sent there."""
    for _ in range(5):
        head, content = await _exchanged(address, path, body)
        status = int(head.split(b" ", 2)[1])
        moved = next((line for line in head.split(b"\r\n") if line.lower().startswith(b"location:")), b"")
        if status < 300:
            return content
        if status >= 400 or not moved:
            raise ValueError(f"{path} answered {status}")
        path = urlsplit(moved.partition(b":")[2].strip().decode())._replace(scheme="", netloc="").geturl()
    raise ValueError(f"{path} leads on and on")


async def _exchanged(address: str, path: str, body: bytes) -> tuple[bytes, bytes]:
    place = urlsplit(address)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    with contextlib.closing(writer):
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        verb = "POST" if body else "GET"
        writer.write(
            f"{verb} {path} HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n{kind}\r\n".encode() + body
        )
        head, _, content = (await reader.read()).partition(b"\r\n\r\n")
    if not head:
        raise ValueError(f"{path} was not answered")
    return head, content


@contextlib.asynccontextmanager
async def _researching(address: str) -> AsyncIterator[Counter[str]]:
    """One run after the other is under way; the topics that were begun."""
    begun: Counter[str] = Counter()
    work = asyncio.create_task(_research(address, begun))
    try:
        yield begun
    finally:
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work


async def _research(address: str, begun: Counter[str]) -> None:
    for topic in itertools.cycle(TITLES):
        wish = json.dumps({"topic": topic, "max_pages": RUN_PAGES}).encode()
        job = json.loads(await fetched(address, "/api/research", wish))
        begun[topic] += 1
        while json.loads(await fetched(address, job["url"]))["state"] in ("queued", "running"):
            await asyncio.sleep(0.5)


if __name__ == "__main__":
    print("\n".join(run(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)))
