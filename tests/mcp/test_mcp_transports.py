"""The tools reached as programs reach them: a process of its own, and an address."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from tests.mcp.calls import NAMES, talk, tour
from tests.web.servers import http_client, running_server, server_context

from kiwiresearch.mcp.context import ToolContext
from kiwiresearch.mcp.server import PATH, http_app
from kiwiresearch.mcp.tools import Toolbox
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from mcp import StdioServerParameters

COMMAND = ["-m", "kiwiresearch", "mcp", "--book"]
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def check(expected: dict[str, str]) -> None:
    assert set(json.loads(expected["names"])) <= set(NAMES)
    assert "The books answer this" in expected["ask"]
    assert "Sunset is the daily disappearance" in expected["read"]
    assert "No page is named 'No such page at all'." in expected["missing"]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "KIWIRESEARCH_HOME": str(home)}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a user, in which the sample book is built once."""
    return tmp_path_factory.mktemp("mcp-home")


def test_a_program_starts_us_and_talks_over_pipes(home: Path, sample_zim: Path) -> None:
    """The SDK's client finds, asks and reads over standard input and output."""
    program = StdioServerParameters(command=sys.executable, args=[*COMMAND, str(sample_zim)], env=environment(home))
    check(talk(program, tour))


class Pipes:
    """A server started by hand: lines in, lines out."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def say(self, *lines: str) -> None:
        assert self.process.stdin
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout
        message: dict[str, Any] = json.loads(self.process.stdout.readline())
        return message

    def complaints(self) -> str:
        assert self.process.stderr
        return self.process.stderr.read()


@pytest.fixture
def pipes(home: Path, sample_zim: Path) -> Iterator[Pipes]:
    """A server that has greeted its client, in the old protocol."""
    with subprocess.Popen(
        [sys.executable, *COMMAND, str(sample_zim)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(home),
    ) as process:  # fmt: skip
        pipes = Pipes(process)
        pipes.say(json.dumps(HANDSHAKE))
        assert pipes.hear()["result"]["serverInfo"]["name"] == "kiwiresearch"
        yield pipes
        process.kill()


def test_standard_output_carries_only_the_protocol(pipes: Pipes) -> None:
    """Every line is a message, also behind one that is none; the end of input ends us, and nothing is left to say."""
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    pipes.say('{"jsonrpc": "2.0", "method": "notifications/initialized"}', "no json at all", json.dumps(listing))
    assert [tool["name"] for tool in pipes.hear()["result"]["tools"]] == NAMES
    rest, complaints = pipes.process.communicate(timeout=30)
    assert (rest, pipes.process.returncode) == ("", 0)
    assert "Traceback" not in complaints


def test_ctrl_c_ends_us_at_once(pipes: Pipes) -> None:
    """A user who runs the command by hand can end it, and gets a message without a traceback."""
    pipes.process.send_signal(signal.SIGINT)
    assert pipes.process.wait(30) == 130
    assert pipes.complaints() == "kiwiresearch: Interrupted.\n"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[str]:
    """A server with all its walls and the tools behind them."""

    def app(context: ServerContext) -> FastAPI:
        parts = ToolContext(context.asker, context.locked_finder, context.citation_url, context.page_url)
        return make_app(context, mounts={PATH: http_app(Toolbox(parts))})

    with (
        server_context(tmp_path_factory.mktemp("mcp-room"), str(sample_zim)) as context,
        running_server(context, app) as found,
    ):
        yield found


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_program_reaches_us_by_address(address: str, mode: str) -> None:
    """The same over HTTP, behind the server's walls; links lead to its reader."""
    result = talk(f"{address}{PATH}", tour, mode=mode)
    check(result)
    assert f"{address}/read/" in result["ask"]


@pytest.fixture
def client(address: str) -> Iterator[httpx2.Client]:
    """A plain client of that server."""
    with http_client(address) as client:
        yield client


JSON = {"accept": "application/json, text/event-stream"}


def test_the_path_itself_answers(client: httpx2.Client) -> None:
    """No redirect is between a client and the tools."""
    assert client.post(PATH, json=HANDSHAKE, headers=JSON).status_code == 200


def test_a_page_of_another_site_cannot_use_the_tools(client: httpx2.Client) -> None:
    """A browser that was lured here is refused before any tool is called."""
    assert client.post(PATH, json=HANDSHAKE, headers={**JSON, "origin": "http://evil.example"}).status_code == 403
    assert client.post(PATH, json=HANDSHAKE, headers={**JSON, "host": "evil.example"}).status_code in (403, 421)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"jsonrpc":"2.0"}', b"null", b"\xff\xfe"])
def test_bad_messages_are_refused(client: httpx2.Client, body: bytes) -> None:
    """An invalid message is an error of the client, never an internal error."""
    reply = client.post(PATH, content=body, headers={**JSON, "content-type": "application/json"})
    assert 400 <= reply.status_code < 500
