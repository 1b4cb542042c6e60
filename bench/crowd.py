"""A server under load: many clients ask one question after another and read each answer's stream to its end."""

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

from bench.timing import p95
from kiwiresearch.workspace.shelf import shelf_of

CLIENTS = 50
SECONDS = 60.0
SETTLED_S = 20.0
"""After this time the server has read once whatever it keeps in memory."""

MAX_GROWTH = 1.3
"""How much memory the server may have at the end, compared with what it had when it had settled."""

TIMEOUT_S = 120.0


@dataclass(slots=True)
class Tally:
    """The answers and errors of all clients."""

    first_ms: list[float] = field(default_factory=list)
    """The time until the citations of each answer arrived."""
    answers: int = 0
    errors: Counter[str] = field(default_factory=Counter)


async def measure_clients(file: Path, home: Path, questions: Sequence[str], seconds: float = SECONDS) -> list[str]:
    """Start a server, let the clients ask questions for this time, and return the lines to print."""
    async with serving(file, home) as (address, pid):
        await _ask(address, questions[0])  # opens the books
        start_mib = memory_mib(pid)
        tally, question_cycle = Tally(), itertools.cycle(questions)
        start = time.monotonic()
        until = start + seconds
        clients = [asyncio.create_task(_run_client(address, question_cycle, until, tally)) for _ in range(CLIENTS)]
        await asyncio.sleep(min(SETTLED_S, seconds / 3))
        settled_mib = memory_mib(pid)
        await asyncio.gather(*clients)
        return _format(tally, time.monotonic() - start, (start_mib, settled_mib, memory_mib(pid)))


def _format(tally: Tally, seconds: float, mib: tuple[float, float, float]) -> list[str]:
    lines = [f"{CLIENTS} clients for {seconds:.0f} s over HTTP: {tally.answers} answers, {tally.errors.total()} errors"]
    lines += [f"error, {count} times: {message}" for message, count in tally.errors.most_common(5)]
    if tally.first_ms:
        p50 = statistics.median(tally.first_ms)
        lines.append(f"first citations: p50 {p50:.0f} ms, p95 {p95(tally.first_ms):.0f} ms")
        lines.append(f"{tally.answers / seconds:.1f} answers per second, with {CLIENTS} requests at a time")
    return [*lines, describe_memory(mib)]


def describe_memory(mib: Sequence[float]) -> str:
    """A line on the memory of a server at the start, when it had settled, and at the end."""
    start, settled, end = mib
    verdict = "bounded" if end <= MAX_GROWTH * settled else "NOT BOUNDED"
    return f"memory of the server: {start:.0f} MiB at the start, {settled:.0f} settled, {end:.0f} at the end: {verdict}"


async def _run_client(address: str, questions: Iterator[str], until: float, tally: Tally) -> None:
    while time.monotonic() < until:
        try:
            tally.first_ms.append(await asyncio.wait_for(_ask(address, next(questions)), TIMEOUT_S))
            tally.answers += 1
        except (OSError, ValueError, TimeoutError, EOFError, asyncio.LimitOverrunError) as problem:
            tally.errors[f"{type(problem).__name__}: {problem}"[:160]] += 1
            await asyncio.sleep(0.1)


async def _ask(address: str, question: str) -> float:
    """Read the whole stream of an answer, and return the milliseconds until its citations."""
    location = urlsplit(address)
    start = time.perf_counter()
    reader, writer = await asyncio.open_connection(location.hostname, location.port)
    with contextlib.closing(writer):
        head = (
            f"GET /api/ask?stream=true&model=false&q={quote(question, safe='')} HTTP/1.1\r\n"
            f"Host: {location.netloc}\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n"
        )
        writer.write(head.encode())
        status = await reader.readline()
        if b" 200 " not in status:
            raise ValueError(f"{status.decode().strip()} {(await reader.read(2_000)).decode(errors='replace')[-200:]}")
        await reader.readuntil(b"event: citations")
        first_ms = (time.perf_counter() - start) * 1e3
        rest = await reader.read()
    if b"event: done" not in rest or b"event: error" in rest:
        raise ValueError(f"the stream of {question!r} did not end well")
    return first_ms


@contextlib.asynccontextmanager
async def serving(file: Path, home: Path) -> AsyncIterator[tuple[str, int]]:
    """The address and process ID of a server with one book, which runs as `kiwiresearch serve` does."""
    settings = {"HOME": str(home), "SERVE_PORT": "0", "SERVE_REQUESTS_A_MINUTE": "1000000"}
    environment = os.environ | {f"KIWIRESEARCH_{name}": value for name, value in settings.items()}
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
    """The resident memory of a process; 0 on systems without /proc."""
    status = Path(f"/proc/{pid}/status")
    if not status.is_file():
        return 0.0
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 2**10


def _serve(file: str) -> int:
    from kiwiresearch.web.server import serve
    from kiwiresearch.workspace.workspace import open_workspace

    workspace = open_workspace()
    return serve(workspace, shelf_of(workspace, [file]), listening=lambda url: print(url, flush=True))


if __name__ == "__main__":
    sys.exit(_serve(sys.argv[1]))
