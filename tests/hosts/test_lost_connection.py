"""Two hosts, each in a network of its own, joined by a wire that is pulled out and put back."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.hosts.running_hosts import Host, a_desk, a_host
from tests.hosts.test_two_hosts import QUESTIONS, second_book

TIMEOUT_S = 120.0
LOOK_S = 1.0
PORT = 8077
KEY = re.compile(r"~[0-9a-f]{32}")
TOKEN = "a-token-of-the-tests-that-is-long-enough"
ASKED = [
    "/api/search?q=galaxy",
    f"/api/ask?stream=false&q={QUESTIONS[0].replace(' ', '+')}",
]
CLIENT = f"""
import json, sys, urllib.error, urllib.request
for url in sys.stdin:
    request = urllib.request.Request(url.strip(), headers={{"Authorization": "Bearer {TOKEN}"}})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            told = [reply.status, reply.read().decode()]
    except urllib.error.HTTPError as problem:
        told = [problem.code, problem.read().decode()]
    except OSError as problem:
        told = [0, str(problem)]
    print(json.dumps(told), flush=True)
"""
"""Gets the addresses on its standard input, one after the other; each reply is a line."""


@dataclass(frozen=True, slots=True)
class Apart:
    """A network with nothing in it but one end of a wire."""

    name: str
    address: str
    client: subprocess.Popen[str]
    """The client in this network; it waits for addresses."""

    @property
    def url(self) -> str:
        return f"http://{self.address}:{PORT}"

    def inside(self, *command: str) -> tuple[str, ...]:
        return inside(self.name, *command)

    def wire(self, state: str) -> None:
        """Put this end of the wire in, or pull it out."""
        _do("ip", "-n", self.name, "link", "set", "wire", state)

    def shown_pages(self, asked: Sequence[str]) -> list[tuple[int, str]]:
        """What its host shows to the client in this network, without its address and the keys to its pages."""
        replies = [self._reply(self.url + at) for at in asked]
        return [(status, KEY.sub("", text.replace(self.url, "HOST"))) for status, text in replies]

    def _reply(self, url: str) -> tuple[int, str]:
        assert self.client.stdin
        assert self.client.stdout
        print(url, file=self.client.stdin, flush=True)
        status, text = json.loads(self.client.stdout.readline())
        return status, text


def inside(network: str, *command: str) -> tuple[str, ...]:
    """The command that runs another in a network."""
    return ("ip", "netns", "exec", network, *command)


def _do(*command: str) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def networks() -> Iterator[tuple[Apart, Apart]]:
    """Two networks, and a wire between them."""
    if shutil.which("ip") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("The program 'ip' is missing: tools/install-programs should have installed it")
        pytest.skip("'ip' is not installed (on Debian: apt install iproute2)")
    names = [f"kiwi-{os.getpid()}-{n}" for n in (1, 2)]
    with contextlib.ExitStack() as ends:
        for name in names:
            if not _do("ip", "netns", "add", name):
                pytest.skip("this system lets us make no networks; hosts on loopback are tested beside this")
            ends.callback(_do, "ip", "netns", "del", name)
        first, second = (
            Apart(name, f"10.77.0.{n}", ends.enter_context(a_client(name))) for n, name in enumerate(names, start=1)
        )
        wire = ("link", "add", "wire", "type", "veth", "peer", "name", "wire", "netns", second.name)
        if not _do("ip", "-n", first.name, *wire):
            pytest.skip("this system lets us lay no wire between networks; hosts on loopback are tested beside this")
        for one in (first, second):
            assert _do("ip", "-n", one.name, "address", "add", f"{one.address}/24", "dev", "wire")
            assert _do("ip", "-n", one.name, "link", "set", "lo", "up")
            one.wire("up")
        yield first, second


@contextlib.contextmanager
def a_client(network: str) -> Iterator[subprocess.Popen[str]]:
    """A client in a network."""
    command = inside(network, sys.executable, "-c", CLIENT)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as client:
        yield client  # it exits when its input is closed


@contextlib.contextmanager
def serving(network: Apart, home: Path, store: str, name: str, book: Path) -> Iterator[None]:
    """A server with one book in a network; ended by force, as a test has no time for farewells."""
    a_desk(home, store, book)
    settings = {"HOME": str(home), "STORE": store, "SERVE_NAME": name, "SERVE_TOKEN": TOKEN}
    environment = os.environ | {f"KIWIRESEARCH_{key}": value for key, value in settings.items()}
    command = network.inside(
        sys.executable, "-m", "kiwiresearch", "serve", "--host", network.address, "--port", str(PORT)
    )
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def both(tmp_path: Path, sample_zim: Path) -> Iterator[Host]:
    """One host with both books."""
    second = second_book(tmp_path / "second.zim")
    with a_host(tmp_path / "both", f"sqlite:///{tmp_path / 'alone.sqlite'}", "both", sample_zim, second) as host:
        yield host


def until(holds: Callable[[], bool], what: str) -> None:
    never = threading.Event()
    for _ in range(int(TIMEOUT_S / LOOK_S)):
        if holds():
            return
        never.wait(LOOK_S)
    raise AssertionError(f"In {TIMEOUT_S:.0f} s it did not come to this: {what}")


def missing(expected: Sequence[tuple[int, str]]) -> list[list[str]]:
    """The hosts that each answer misses."""
    assert [status for status, _ in expected] == [200] * len(expected), expected
    return [[one["host"] for one in json.loads(text).get("missing", [])] for _, text in expected]


def books(expected: tuple[int, str]) -> set[str]:
    """The books in which something was found."""
    return {hit["book"] for hit in json.loads(expected[1])["hits"]}


def test_a_wire_between_two_hosts_is_pulled_and_put_back(
    networks: tuple[Apart, Apart], both: Host, sample_zim: Path, tmp_path: Path
) -> None:
    """Joined they answer as one host with both books, byte for byte; apart each names the other, and soon again not."""
    here, there = networks
    store = f"sqlite:///{tmp_path / 'store.sqlite'}"
    alone = [(reply.status_code, reply.text.replace(both.url, "HOST")) for reply in map(both.client.get, ASKED)]
    with (
        serving(here, tmp_path / "first", store, "first", sample_zim),
        serving(there, tmp_path / "second", store, "second", tmp_path / "second.zim"),
    ):

        def are_joined() -> bool:
            return all(network.shown_pages(ASKED[:1]) == alone[:1] for network in networks)

        until(are_joined, "two hosts that have met")
        assert [network.shown_pages(ASKED) for network in networks] == [alone, alone]
        there.wire("down")
        cut, other = here.shown_pages(ASKED), there.shown_pages(ASKED)
        assert (missing(cut), missing(other)) == ([["second"]] * len(ASKED), [["first"]] * len(ASKED))
        assert (books(cut[0]), books(other[0])) == ({"kiwiresearch_en_sample"}, {"second_en"})
        there.wire("up")
        until(are_joined, "two hosts that have met again")
        assert [network.shown_pages(ASKED) for network in networks] == [alone, alone]
