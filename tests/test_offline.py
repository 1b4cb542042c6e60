"""The program talks to no host but those the user named, and the doctor to this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from kiwiresearch.cli.start import run
from kiwiresearch.workspace.workspace import open_workspace

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the sample book, built once for all tests."""
    folder = tmp_path_factory.getbasetemp() / "ready"
    open_workspace({"KIWIRESEARCH_HOME": str(folder)}).sample()
    return folder


@pytest.fixture
def stocked(prepared_home: Path, home: Path) -> Path:
    """The home of a user whose shelf is empty; the sample book's file."""
    shutil.copytree(prepared_home / "cache", home / "cache")
    (file,) = (home / "cache").glob("*.zim")
    return file


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """Every host and port this process tries to reach from now on; the calls go through."""
    seen: list[tuple[str, object]] = []
    connect, connect_ex, getaddrinfo = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo

    def noted_connect(self: socket.socket, address: Any) -> None:
        seen.append((str(address[0]), address[1]))
        connect(self, address)

    def noted_connect_ex(self: socket.socket, address: Any) -> int:
        seen.append((str(address[0]), address[1]))
        return connect_ex(self, address)

    def noted_getaddrinfo(host: Any, port: Any, *rest: Any, **named: Any) -> Any:
        seen.append((str(host), port))
        return getaddrinfo(host, port, *rest, **named)

    monkeypatch.setattr(socket.socket, "connect", noted_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", noted_connect_ex)
    monkeypatch.setattr(socket, "getaddrinfo", noted_getaddrinfo)
    return seen


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("books list", 0),
        ("books info --json", 0),
        ("books check", 0),
        ("books remove nothing", 1),
        ("books add {book}", 0),
        ("page Sunset", 0),
        ("page Sunset --links --json", 0),
        ("page Sunsets", 3),
        ("search mercury --explain", 0),
        ("search sunsets --fast --json", 0),
        ("search xyzzyplugh", 3),
        ("books index", 0),
    ],
)
def test_the_sample_book_needs_no_network(
    stocked: Path, called: list[tuple[str, object]], command: str, code: int
) -> None:
    """Commands on the sample book try to reach nobody."""
    assert run([word.format(book=stocked) for word in command.split()]) == code
    assert called == []


def test_the_embedder_that_ships_needs_no_network(
    stocked: Path, called: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Vectors are made from what comes with the program, and nothing is fetched for them."""
    monkeypatch.setenv("KIWIRESEARCH_EMBEDDER", "static")
    assert run(["search", "red light in the evening", "--explain"]) == 0
    assert called == []


def test_a_model_is_the_only_host_that_is_asked(
    home: Path, shared_data: Path, called: list[tuple[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a model set, an ambiguous word asks its server and nobody else, and a model that is away costs nothing."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        monkeypatch.setenv("KIWIRESEARCH_MODEL_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("KIWIRESEARCH_MODEL_NAME", "away")
        file = str(shared_data / "zims" / "real" / "wikipedia_en_ray_charles_mini_2020-03.zim")
        assert run(["search", "what is soul?", "--book", file]) == 0
    assert set(called) == {("127.0.0.1", port)}


def test_a_file_needs_no_network(home: Path, shared_data: Path, called: list[tuple[str, object]]) -> None:
    """Commands on a published ZIM file, full of links to the web, try to reach nobody."""
    file = str(shared_data / "zims" / "real" / "wikipedia_en_ray_charles_mini_2020-03.zim")
    assert run(["books", "add", file]) == 0
    for command in (["books", "list"], ["books", "check"], ["page", "Ray Charles"], ["books", "remove", file]):
        assert run(command) == 0
    assert called == []


def test_the_doctor_asks_this_machine_only(stocked: Path, called: list[tuple[str, object]]) -> None:
    """The doctor looks for a server where one usually listens, on loopback and nowhere else."""
    assert run(["doctor"]) == 0
    assert {host for host, _ in called} == {"127.0.0.1"}


def _named(address: str) -> tuple[str, object]:
    parts = urlsplit(address)
    return (str(parts.hostname), parts.port)


def test_a_server_on_the_shelf_is_the_only_host(
    stocked: Path, kiwix_serve: Callable[..., str], called: list[tuple[str, object]]
) -> None:
    """With a kiwix-serve on the shelf, it alone is contacted, also for pages with links to the web (R31)."""
    address = kiwix_serve(stocked)
    called.clear()
    assert run(["books", "add", address]) == 0
    for command in (["books", "list"], ["books", "info"], ["books", "check"], ["page", "Sunset"]):
        assert run(command) == 0
    assert run(["page", "No such page"]) == 3
    assert set(called) == {_named(address)}


def test_proxies_of_the_environment_are_ignored(
    stocked: Path,
    kiwix_serve: Callable[..., str],
    called: list[tuple[str, object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A proxy would be a host the user did not name: requests go to the server itself."""
    address = kiwix_serve(stocked)
    called.clear()
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        for name in PROXIES:
            monkeypatch.setenv(name, f"http://127.0.0.1:{nobody.getsockname()[1]}")
        assert run(["books", "add", address]) == 0
        assert run(["page", "Sunset"]) == 0
    assert set(called) == {_named(address)}


SPY = """\
import sys
def note(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open({log!r}, "a") as stream:
            print(event, arguments[1:], file=stream)
sys.addaudithook(note)
open({started!r}, "a").write("x")
"""


def test_no_child_process_calls_either(home: Path, tmp_path: Path, a_book: Callable[..., Path]) -> None:
    """The processes that a first command starts to look at the book reach nobody either."""
    log, started = tmp_path / "calls", tmp_path / "started"
    (tmp_path / "spy").mkdir()
    spy = SPY.format(log=str(log), started=str(started))
    (tmp_path / "spy" / "sitecustomize.py").write_text(spy, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path / "spy"), *filter(None, [os.environ.get("PYTHONPATH")])])
    watched = os.environ | {"PYTHONPATH": path}
    script = Path(sysconfig.get_path("scripts")) / "kiwiresearch"
    command = [sys.executable, str(script), "page", "Moon", "-b", str(a_book({"Moon": "<p>x</p>"}))]
    subprocess.run(command, env=watched, capture_output=True, check=True)
    assert len(started.read_text()) == 2, "the command, and the process that looked at the book"
    assert not log.exists()
    call = "import socket; socket.socket().connect_ex(('127.0.0.1', 9))"
    subprocess.run([sys.executable, "-c", call], env=watched, check=True)
    assert "127.0.0.1" in log.read_text(), "the spy sees calls"
