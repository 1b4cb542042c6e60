"""Many clients at once: each asks the server question after question and reads its stream to the end."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import statistics
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlsplit

from evals.data import ROOT

from kiwiresearch.workspace.shelf import shelf_of

CLIENTS = 50
SECONDS = 60.0
SETTLED_S = 20.0
"""By then everything that is kept has been read once."""

GROWTH = 1.3
"""By how much memory may grow from then on."""

TIMEOUT_S = 120.0


@dataclass(slots=True)
class Tally:
    """What all clients saw."""

    first_ms: list[float] = field(default_factory=list)
    whole: int = 0
    errors: Counter[str] = field(default_factory=Counter)


async def crowd(file: Path, home: Path, questions: Sequence[str], seconds: float = SECONDS) -> list[str]:
    """The figures of so many clients for so long, as lines."""
    async with server_of(file, home) as (address, pid):
        await _ask(address, questions[0])  # opens the books
        at_start = memory_mib(pid)
        tally, coming = Tally(), itertools.cycle(questions)
        began = time.monotonic()
        until = began + seconds
        clients = [asyncio.create_task(_client(address, coming, until, tally)) for _ in range(CLIENTS)]
        await asyncio.sleep(min(SETTLED_S, seconds / 3))
        settled = memory_mib(pid)
        await asyncio.gather(*clients)
        return _told(tally, time.monotonic() - began, (at_start, settled, memory_mib(pid)))


def _told(tally: Tally, seconds: float, mib: tuple[float, float, float]) -> list[str]:
    bound = "bounded" if mib[2] <= GROWTH * mib[1] else "NOT BOUNDED"
    lines = [f"{CLIENTS} clients for {seconds:.0f} s over HTTP: {tally.whole} answers, {tally.errors.total()} errors"]
    lines += [f"error, {count} times: {what}" for what, count in tally.errors.most_common(5)]
    if tally.first_ms:
        ordered = sorted(tally.first_ms)
        median, high = statistics.median(ordered), ordered[int(0.95 * len(ordered))]
        lines.append(f"first citations: {median:.0f} ms in the middle, {high:.0f} ms for the slowest of twenty")
        lines.append(f"{tally.whole / seconds:.1f} answers a second, {CLIENTS} always waiting")
    told = f"{mib[0]:.0f} MiB at the start, {mib[1]:.0f} when settled, {mib[2]:.0f} at the end"
    return [*lines, f"memory of the server: {told}: {bound}"]


async def _client(address: str, questions: Iterator[str], until: float, tally: Tally) -> None:
    while time.monotonic() < until:
        try:
            tally.first_ms.append(await asyncio.wait_for(_ask(address, next(questions)), TIMEOUT_S))
            tally.whole += 1
        except (OSError, ValueError, TimeoutError, EOFError, asyncio.LimitOverrunError) as problem:
            tally.errors[f"{type(problem).__name__}: {problem}"[:160]] += 1
            await asyncio.sleep(0.1)


async def _ask(address: str, question: str) -> float:
    """Read one stream to its end; milliseconds until its citations were there."""
    place = urlsplit(address)
    began = time.perf_counter()
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    with contextlib.closing(writer):
        head = (
            f"GET /api/ask?stream=true&model=false&q={quote(question, safe='')} HTTP/1.1\r\n"
            f"Host: {place.netloc}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode())
        status = await reader.readline()
        if b" 200 " not in status:
            raise ValueError(f"{status.decode().strip()} {(await reader.read(2_000)).decode(errors='replace')[-200:]}")
        await reader.readuntil(b"event: citations")
        first_ms = (time.perf_counter() - began) * 1e3
        rest = await reader.read()
    if b"event: done" not in rest or b"event: error" in rest:
        raise ValueError(f"the stream of {question!r} did not end well")
    return first_ms


@contextlib.asynccontextmanager
async def server_of(file: Path, home: Path) -> AsyncIterator[tuple[str, int]]:
    """A server in a process of its own, as `kiwiresearch serve` runs it; its address and the process's number."""
    own = {"HOME": str(home), "SERVE_PORT": "0", "SERVE_REQUESTS_A_MINUTE": "1000000"}
    environment = os.environ | {f"KIWIRESEARCH_{name}": value for name, value in own.items()}
    command = (sys.executable, "-m", "bench.crowd", str(file))
    process = await asyncio.create_subprocess_exec(
        *command, cwd=ROOT, env=environment, stdout=asyncio.subprocess.PIPE, limit=2**16
    )
    assert process.stdout
    try:
        address = (await process.stdout.readline()).decode().strip()
        if not address:
            raise OSError("the server did not start")
        yield address, process.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def memory_mib(pid: int) -> float:
    """How much memory a process has now; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.is_file():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 2**10


def _serve(file: str) -> int:
    from kiwiresearch.web.server import serve
    from kiwiresearch.workspace.workspace import open_workspace

    desk = open_workspace()
    return serve(desk, shelf_of(desk, [file]), listening=lambda url: print(url, flush=True))


if __name__ == "__main__":
    sys.exit(_serve(sys.argv[1]))
