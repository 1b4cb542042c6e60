"""The server as a process: how it begins, and how it ends while somebody listens."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
from starlette.applications import Starlette
from tests.web.guarded_server import exchange, request, status_of

from kiwiresearch.cli import server as serving_command
from kiwiresearch.cli.server import serve
from kiwiresearch.errors import BadSettings, BadUsage, KiwiError
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.limits import Shutdown
from kiwiresearch.web.peers import command_for_others, own_address
from kiwiresearch.web.server import Server, check_serve_settings, listen, public_url
from kiwiresearch.workspace.settings import ServeSettings
from kiwiresearch.workspace.workspace import open_workspace

SERVER = """\
import asyncio, sys, threading
from dataclasses import replace
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.routing import Route
from kiwiresearch.cli.options import say
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.web import server
from kiwiresearch.workspace.settings import with_values
from kiwiresearch.workspace.shelf import shelf_of

async def endless():
    yield {"event": "citations", "data": "{}"}
    await asyncio.Event().wait()

def told():
    yield {"event": "citations", "data": "{}"}
    sys.stdin.readline()
    yield {"event": "done", "data": "{}"}

def stuck():
    yield {"event": "citations", "data": "{}"}
    threading.Event().wait()

def of(events):
    async def stream(request):
        return EventSourceResponse(events(), sep="\\n")
    return Starlette(routes=[Route("/{name}", stream)])

desk = open_workspace()
desk = replace(desk, settings=with_values(desk.settings, {"serve.port": ("port", 0)}))
mounts = {"/endless": of(endless), "/told": of(told), "/stuck": of(stuck)}
grace_s = float(sys.argv[1])
sys.exit(server.serve(desk, shelf_of(desk), mounts=lambda room, jobs: mounts, listening=say, grace_s=grace_s))
"""

FIRST = b"event: citations\ndata: {}\n\n"


@dataclass(frozen=True, slots=True)
class Running:
    """A server in a process of its own."""

    process: subprocess.Popen[bytes]
    port: int

    def ended(self) -> tuple[int, bytes]:
        """Its exit code, and what it said beside its address."""
        _, err = self.process.communicate(timeout=60)
        return self.process.returncode, err


@contextlib.contextmanager
def running_server(home: Path, grace_s: float) -> Iterator[Running]:
    environment = os.environ | {"KIWIRESEARCH_HOME": str(home)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", SERVER, str(grace_s)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        try:
            assert process.stderr
            text = process.stderr.readline().decode()
            found = re.fullmatch(r"http://127\.0\.0\.1:([0-9]+)\n", text)
            assert found, text + process.stderr.read().decode()
            yield Running(process, int(found[1]))
        finally:
            process.kill()


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that has the sample book already."""
    folder = tmp_path_factory.mktemp("home")
    open_workspace({"KIWIRESEARCH_HOME": str(folder)}).sample()
    return folder


@contextlib.contextmanager
def stream(port: int, path: str) -> Iterator[socket.socket]:
    """A stream whose first event has come."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(request("GET", path))
        received = b""
        while FIRST not in received:
            part = line.recv(65_536)
            assert part, received
            received += part
        yield line


def rest(line: socket.socket) -> bytes:
    received = b""
    with contextlib.suppress(ConnectionError):
        while part := line.recv(65_536):
            received += part
    return received


def _until_it_listens_no_more(port: int) -> None:
    with contextlib.suppress(ConnectionError):
        while True:
            socket.create_connection(("127.0.0.1", port), timeout=30).close()


def test_streams_end_properly_when_the_server_is_stopped(home: Path) -> None:
    """A stream that would go on for ever gets a last event, and the process ends with 0 and without a word.

    With port 0, the address that is printed and the links in answers have the port that was taken.
    """
    with running_server(home, 0.2) as server, stream(server.port, "/endless") as line:
        found = exchange(server.port, request("GET", "/api/search?q=sunset&limit=1", host=f"127.0.0.1:{server.port}"))
        assert status_of(found) == 200
        (hit,) = json.loads(found.partition(b"\r\n\r\n")[2])["hits"]
        assert hit["url"].startswith(f"http://127.0.0.1:{server.port}/read/")
        server.process.send_signal(signal.SIGTERM)
        received = rest(line)
        assert server.ended() == (0, b"")
    assert b"event: error\ndata: {" in received
    assert b'"title": "Server closing"' in received
    assert received.endswith(b"\r\n0\r\n\r\n"), "the body is complete"


def test_a_stream_may_finish_within_the_grace(home: Path) -> None:
    """What comes to its end by itself is not cut, while nobody new is let in."""
    with running_server(home, 60) as server, stream(server.port, "/told") as line:
        server.process.send_signal(signal.SIGTERM)
        _until_it_listens_no_more(server.port)
        assert server.process.stdin
        server.process.stdin.write(b"go on\n")
        server.process.stdin.flush()
        received = rest(line)
        assert server.ended() == (0, b"")
    assert b"event: done\ndata: {}\n\n" in received
    assert b"event: error" not in received


def test_a_second_ctrl_c_ends_it_at_once(home: Path) -> None:
    """A second Ctrl-C does not wait for streams."""
    with running_server(home, 600) as server, stream(server.port, "/endless") as line:
        server.process.send_signal(signal.SIGINT)
        _until_it_listens_no_more(server.port)
        server.process.send_signal(signal.SIGINT)
        assert server.ended() == (130, b"")
        assert b"event: error" not in rest(line)


def test_work_that_hangs_does_not_keep_the_server(home: Path) -> None:
    """On Ctrl-C a thread that never comes back is left behind, and its client hears the end all the same."""
    with running_server(home, 0.2) as server, stream(server.port, "/stuck") as line:
        server.process.send_signal(signal.SIGINT)
        received = rest(line)
        assert server.ended() == (130, b"")
    assert b"event: error" in received
    assert received.endswith(b"\r\n0\r\n\r\n"), "the body is complete"


def test_a_server_part_that_cannot_start_is_reported(context: ServerContext, caplog: pytest.LogCaptureFixture) -> None:
    """A server that cannot start says so with an error of its own, and its log says why."""

    @contextlib.asynccontextmanager
    async def broken(_: Starlette) -> AsyncIterator[None]:
        raise ValueError("no room for tools")
        yield

    with listen("127.0.0.1", 0) as listener:
        shutdown = Shutdown()
        app = make_app(context, mounts={"/tools": Starlette(lifespan=broken)}, shutdown=shutdown)
        with pytest.raises(KiwiError, match="could not start"):
            Server(app, shutdown, lambda: None).run([listener])
    assert "no room for tools" in caplog.text


def _command(*words: str) -> None:
    app = typer.Typer()
    app.command()(serve)
    app(list(words), standalone_mode=False)


def test_a_port_in_use_is_reported(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """A port that another program has is named, with what to do."""
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(home))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadUsage, match=rf"Port {port} is already in use.*--port 0 chooses a free one"):
            _command("--port", str(port))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "desk.school.lan"])
def test_other_machines_need_a_token(monkeypatch: pytest.MonkeyPatch, home: Path, host: str) -> None:
    """Listening on anything but loopback is refused without a token, before any book is opened."""
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(home))
    monkeypatch.setenv("KIWIRESEARCH_SERVE_TOKEN", "")
    with pytest.raises(BadSettings, match=r"no token is set.*Set a token"):
        _command("--host", host, "--port", "0")


@pytest.mark.parametrize(
    ("host", "token", "wrong"),
    [
        ("127.0.0.1", "", ""),
        ("localhost", "", ""),
        ("::1", "", ""),
        ("[::1]", "short", ""),
        ("0.0.0.0", "long enough?", "cannot be sent in a header"),
        ("127.0.0.1", "schlüssel", "cannot be sent in a header"),
        ("0.0.0.0", "short", "too easy to guess"),
        ("0.0.0.0", "long-enough", ""),
    ],
)
def test_a_token_must_serve_its_purpose(host: str, token: str, wrong: str) -> None:
    """A token that cannot be sent, or that is too easy to guess where others can try, is refused."""
    with pytest.raises(BadSettings, match=wrong) if wrong else contextlib.nullcontext():
        check_serve_settings(ServeSettings(host=host, token=token))


@pytest.mark.parametrize("host", ["192.0.2.1", "no such host", "\ud800", "x" * 300, "999.1.1.1"])
def test_an_address_of_another_machine_is_refused(host: str) -> None:
    """An address that this machine does not have is refused with what to do."""
    with pytest.raises(BadUsage, match="not an address of this computer"):
        listen(host, 0)


def test_ipv6_is_listened_on() -> None:
    """The loopback address of IPv6 can be named with brackets or without."""
    for host in ("::1", "[::1]"):
        try:
            with listen(host, 0) as listener:
                assert listener.family == socket.AF_INET6
        except BadUsage:
            pytest.skip("this machine has no IPv6")


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        (ServeSettings(), "http://127.0.0.1:80"),
        (ServeSettings(host="::1"), "http://[::1]:80"),
        (ServeSettings(host="[::1]"), "http://[::1]:80"),
        (ServeSettings(host="192.0.2.1", hosts=("desk.lan",)), "http://192.0.2.1:80"),
        (ServeSettings(host="0.0.0.0", hosts=("desk.lan", "other.lan")), "http://desk.lan:80"),
        (ServeSettings(host="0.0.0.0"), "http://127.0.0.1:80"),
        (ServeSettings(host="::"), "http://[::1]:80"),
    ],
)
def test_readers_are_sent_to_an_address_that_works(settings: ServeSettings, url: str) -> None:
    """Links start with the address that the server listens on, or with a name if others cannot use that address."""
    assert public_url(settings, 80) == url


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        (ServeSettings(), "kiwiresearch serve --host 0.0.0.0"),
        (ServeSettings(port=9000), "kiwiresearch serve --host 0.0.0.0 --port 9000"),
        (ServeSettings(host="0.0.0.0"), ""),
        (ServeSettings(public_url="http://desk.school.lan"), ""),
    ],
)
def test_the_command_that_lets_others_in_keeps_the_port(settings: ServeSettings, command: str) -> None:
    """The page of a class shows a command for the same server, open to the network."""
    assert command_for_others(settings) == command


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (ServeSettings(host="0.0.0.0"), "On other computers, open http://10.0.0.7:8321 and sign in."),
        (ServeSettings(host="127.0.0.1"), ""),
        (ServeSettings(host="10.0.0.7"), ""),
        (ServeSettings(host="0.0.0.0", hosts=("desk.lan",)), ""),
        (ServeSettings(host="0.0.0.0", public_url="http://desk.school.lan"), ""),
        (ServeSettings(host="0.0.0.0", proxies=("172.16.0.0/12",)), ""),
    ],
)
def test_a_server_on_all_addresses_says_how_others_reach_it(
    monkeypatch: pytest.MonkeyPatch, settings: ServeSettings, expected: str
) -> None:
    """It names an address that other machines can use: 127.0.0.1 would be their own machine."""
    monkeypatch.setattr("kiwiresearch.web.own_address", lambda: "10.0.0.7")
    assert serving_command._address_for_others(settings, "http://127.0.0.1:8321") == expected


def test_the_address_of_this_machine_is_found() -> None:
    """It is one of its own, or nothing where it is in no network."""
    found = own_address()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.bind((found, 0))  # refused for the address of another machine
    assert found != "0.0.0.0"


def test_a_missing_browser_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With --open on a machine without one, the server stays up and says what to do."""
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    serving_command._open_browser("http://127.0.0.1:8321")
    assert "Open the address above yourself" in capsys.readouterr().err


def test_help_needs_no_server() -> None:
    """The command's module is loaded for every --help, so it loads nothing of the web."""
    program = "import sys, kiwiresearch.cli.server; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"fastapi", "starlette", "uvicorn", "anyio", "mcp", "pydantic", "httpx2"} & set(done.stdout.split())
