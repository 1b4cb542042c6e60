"""Callers that hang up: what they used is free again, and what they started goes on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.to_thread
import httpx2
import pytest
from fastapi import FastAPI
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send
from tests.jobs.job_tools import TIMEOUT_S, TOPIC, Gate, wait_for_end
from tests.llm.servers import serving
from tests.web.servers import NO_RATE_LIMIT, http_client, running_server, server_context

from kiwiresearch.jobs.queue import JobQueue
from kiwiresearch.mcp.callers import Caller, DisconnectWatch, register_caller, run_in_daemon_thread
from kiwiresearch.mcp.context import ToolContext
from kiwiresearch.mcp.server import PATH, http_app
from kiwiresearch.mcp.tools import Toolbox
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.runs import make_jobs
from mcp import Client, MCPError

TRIES = 2_000


@contextlib.contextmanager
def served(home: Path, book: Path, **settings: str) -> Iterator[tuple[str, JobQueue]]:
    """A whole server with its tools, and its jobs."""
    made: list[JobQueue] = []

    def app(context: ServerContext) -> FastAPI:
        made.append(jobs := make_jobs(context))
        parts = ToolContext(context.asker, context.locked_finder, context.citation_url, context.page_url, lambda: jobs)
        return make_app(context, jobs=jobs, mounts={PATH: http_app(Toolbox(parts))})

    with (
        server_context(home, str(book), **NO_RATE_LIMIT, **settings) as context,
        running_server(context, app) as address,
    ):
        try:
            yield address, made[0]
        finally:
            made[0].close()


def tool_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tool"]


def is_free(client: httpx2.Client) -> bool:
    """Whether a request finds a free place within many tries."""
    return any(client.get("/api/books").status_code == 200 for _ in range(TRIES))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_hanging_up_frees_the_place_and_the_run_goes_on(mode: str, sample_zim: Path, tmp_path: Path) -> None:
    """A caller that leaves while it waits for a run takes neither a place nor a thread, and the run ends as a job."""
    gate = Gate(holds=2)
    settings = {"KIWIRESEARCH_SERVE_RUNS": str(tmp_path / "runs"), "KIWIRESEARCH_SERVE_AT_ONCE": "1"}
    with (
        serving(gate) as model,
        served(tmp_path / "home", sample_zim, KIWIRESEARCH_MODEL_URL=model.address, **settings) as (address, jobs),
        http_client(address) as client,
        contextlib.ExitStack() as at_end,
    ):
        at_end.callback(gate.opened.set)
        anyio.run(_left, f"{address}{PATH}", mode, gate, client)
        assert is_free(client)
        for thread in tool_threads():
            thread.join(TIMEOUT_S)
        assert not tool_threads()
        (job,) = jobs.all()
        assert job.is_open, "the run was stopped with the call"
        gate.opened.set()
        assert wait_for_end(jobs, job.id).state == "done"


async def _left(url: str, mode: str, gate: Gate, beside: httpx2.Client) -> None:
    """Ask for a run, hang up while it goes on; meanwhile the only place is taken."""

    async def ask(client: Client) -> None:
        for _ in range(TRIES):
            # The only place is given back a moment after the answer to the greeting was sent.
            with contextlib.suppress(MCPError):
                await client.call_tool("research", {"topic": TOPIC, "max_pages": 4, "wait_s": 300})
                return

    async with Client(url, mode=mode, read_timeout_seconds=300) as client, anyio.create_task_group() as calls:
        calls.start_soon(ask, client)
        assert await anyio.to_thread.run_sync(gate.reached.wait, TIMEOUT_S)
        assert beside.get("/api/books").status_code == 503
        calls.cancel_scope.cancel()


def test_a_call_counts_until_its_thread_has_ended() -> None:
    """A request whose caller has gone is not over while a thread works for it: nobody can pile up threads."""
    noticed, may_end = threading.Event(), threading.Event()
    caller = Caller()

    def work() -> None:
        caller.wait(TIMEOUT_S)
        noticed.set()
        may_end.wait(TIMEOUT_S)

    async def app(scope: Scope, receive: Receive, _: Send) -> None:
        register_caller(Request(scope), caller)
        assert (await receive())["type"] == "http.request"
        await run_in_daemon_thread(work, caller)

    async def hang_up() -> None:
        messages = iter(({"type": "http.request", "body": b""}, {"type": "http.disconnect"}))

        async def receive() -> Message:
            return next(messages)

        async def send(_: Message) -> None:
            raise AssertionError("nobody hears it")

        request = asyncio.ensure_future(DisconnectWatch(app)({"type": "http"}, receive, send))
        assert await anyio.to_thread.run_sync(noticed.wait, TIMEOUT_S)
        assert caller.has_left
        assert not request.done()
        may_end.set()
        await request

    anyio.run(hang_up)


def test_links_lead_to_the_address_that_was_asked(sample_zim: Path, tmp_path: Path) -> None:
    """Requests under another name of the server get links under that name."""
    question = {"name": "ask", "arguments": {"question": "Why is the sky orange at sunset?"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": question}
    with served(tmp_path / "home", sample_zim) as (address, _), http_client(address) as client:
        other = address.replace("127.0.0.1", "localhost")
        headers = {"host": other.removeprefix("http://"), "accept": "application/json"}
        result = client.post(PATH, json=body, headers=headers).json()["result"]["content"][0]["text"]
    assert f"{other}/read/" in result
    assert address not in result
