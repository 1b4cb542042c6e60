"""Twenty people who read, search and ask in the web interface: first alone, then while research is running.

What matters are the ratios within one run: how much slower pages become while research is running, and how much more
memory the server has than when it had settled. Users request one page after another, so the server is never idle.
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
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from evals.data import SHARED_DATA

from bench.crowd import SETTLED_S, describe_memory, memory_mib, serving
from bench.timing import p95

USERS = 20
SECONDS = 60.0
TIMEOUT_S = 60.0
RUN_PAGES = 400
TITLES = ("Galaxy", "Moon", "Roman Empire", "Evolution", "Coffee", "Iceland", "Volcano", "Isaac Newton", "Whale", "Tea")
QUESTIONS = ("When was Isaac Newton born?", "What is a galaxy?", "How high is Mount Everest?", "Who wrote Hamlet?")
QUERIES = ("planets of the sun", "rivers africa", "steam engine", "roman army", "whales", "black hole")
ACTIONS = ("read", "search", "read", "ask", "read", "home")
"""What a user does, in turn; each user starts at another one."""


@dataclass(slots=True)
class Tally:
    """The time of every page in milliseconds, by action, and the errors."""

    times_ms: dict[str, list[float]] = field(default_factory=lambda: {action: [] for action in ACTIONS})
    errors: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def p95_ms(self) -> float:
        return p95([ms for times in self.times_ms.values() for ms in times])

    def lines(self, when: str) -> list[str]:
        count = sum(map(len, self.times_ms.values()))
        lines = [f"{when}: {count / self.seconds:.1f} pages per second, {self.errors.total()} errors"]
        lines += [f"  error, {count} times: {message}" for message, count in self.errors.most_common(5)]
        by_action = [f"{action} {p95(times):.0f} ms" for action, times in self.times_ms.items() if times]
        return [*lines, f"  p95: {', '.join(by_action)}; all {self.p95_ms():.0f} ms"]


def run(seconds: float = SECONDS) -> list[str]:
    """Measure, and return the lines to print."""
    file = SHARED_DATA / "zims" / "schools-2007.zim"
    if not file.is_file():
        return [f"skipped: {file} is missing"]
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measure_users(file, Path(folder), seconds))


async def measure_users(file: Path, home: Path, seconds: float) -> list[str]:
    """Measure a server with one book, first without research and then during it, for `seconds` each."""
    async with serving(file, home) as (address, pid):
        book = json.loads(await fetch(address, "/api/books"))["books"][0]["id"]
        for _, path in itertools.islice(_requests(book, 0), len(TITLES) * len(ACTIONS)):  # requests every page once
            await fetch(address, path)
        memory = [memory_mib(pid)]
        settling = asyncio.create_task(_memory_later(pid, min(SETTLED_S, seconds / 3)))
        alone = await _run_users(address, book, seconds)
        memory.append(await settling)
        async with _researching(address) as runs:
            during_research = await _run_users(address, book, seconds)
        memory.append(memory_mib(pid))
    return [
        f"{USERS} users for {seconds:.0f} s on {file.name}, without pauses between their pages",
        *alone.lines("without research"),
        *during_research.lines(f"during research ({runs.total()} runs of up to {RUN_PAGES} pages)"),
        f"p95 during research against without: {during_research.p95_ms() / alone.p95_ms():.2f}x",
        f"{describe_memory(memory)}, {memory[-1] / memory[1]:.2f}x",
    ]


async def _memory_later(pid: int, seconds: float) -> float:
    await asyncio.sleep(seconds)
    return memory_mib(pid)


async def _run_users(address: str, book: str, seconds: float) -> Tally:
    tally, start = Tally(), time.monotonic()
    users = (_run_user(address, _requests(book, number), start + seconds, tally) for number in range(USERS))
    await asyncio.gather(*users)
    tally.seconds = time.monotonic() - start
    return tally


async def _run_user(address: str, requests: Iterator[tuple[str, str]], until: float, tally: Tally) -> None:
    while time.monotonic() < until:
        action, path = next(requests)
        start = time.perf_counter()
        try:
            await asyncio.wait_for(fetch(address, path), TIMEOUT_S)
            tally.times_ms[action].append((time.perf_counter() - start) * 1e3)
        except (OSError, ValueError, TimeoutError) as problem:
            tally.errors[f"{action}: {type(problem).__name__}: {problem}"[:160]] += 1
            await asyncio.sleep(0.1)


def _requests(book: str, user: int) -> Iterator[tuple[str, str]]:
    """The actions of one user and their paths, without end; no two users start with the same one."""
    for number in itertools.count(user):
        action = ACTIONS[number % len(ACTIONS)]
        yield action, _path(action, book, number // len(ACTIONS) + 3 * user)


def _path(action: str, book: str, number: int) -> str:
    if action == "read":
        return f"/page/{book}/{quote(TITLES[number % len(TITLES)].replace(' ', '_'))}"
    if action == "search":
        return f"/find?q={quote(QUERIES[number % len(QUERIES)])}"
    return f"/ask?q={quote(QUESTIONS[number % len(QUESTIONS)])}" if action == "ask" else "/"


async def fetch(address: str, path: str, body: bytes = b"") -> bytes:
    """Get a page, or post a `body` of JSON, and follow redirects as a browser does."""
    for _ in range(5):
        head, content = await _exchange(address, path, body)
        status = int(head.split(b" ", 2)[1])
        location = next((line for line in head.split(b"\r\n") if line.lower().startswith(b"location:")), b"")
        if status < 300:
            return content
        if status >= 400 or not location:
            raise ValueError(f"{path} answered {status}")
        path = urlsplit(location.partition(b":")[2].strip().decode())._replace(scheme="", netloc="").geturl()
    raise ValueError(f"{path} redirects too often")


async def _exchange(address: str, path: str, body: bytes) -> tuple[bytes, bytes]:
    location = urlsplit(address)
    reader, writer = await asyncio.open_connection(location.hostname, location.port)
    with contextlib.closing(writer):
        headers = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        method = "POST" if body else "GET"
        writer.write(
            f"{method} {path} HTTP/1.1\r\nHost: {location.netloc}\r\nConnection: close\r\n{headers}\r\n".encode() + body
        )
        head, _, content = (await reader.read()).partition(b"\r\n\r\n")
    if not head:
        raise ValueError(f"{path} was not answered")
    return head, content


@contextlib.asynccontextmanager
async def _researching(address: str) -> AsyncIterator[Counter[str]]:
    """Keep research running, and count how often each topic was started."""
    started: Counter[str] = Counter()
    task = asyncio.create_task(_research(address, started))
    try:
        yield started
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def _research(address: str, started: Counter[str]) -> None:
    for topic in itertools.cycle(TITLES):
        request = json.dumps({"topic": topic, "max_pages": RUN_PAGES}).encode()
        job = json.loads(await fetch(address, "/api/research", request))
        started[topic] += 1
        while json.loads(await fetch(address, job["url"]))["state"] in ("queued", "running"):
            await asyncio.sleep(0.5)


if __name__ == "__main__":
    print("\n".join(run(float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS)))
