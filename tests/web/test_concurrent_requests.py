"""Places are shared: neither a user nor a stranger who keeps requests open keeps others out."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from tests.web.server_with_users import UNLIMITED, UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT

AT_ONCE = 4


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserServer]:
    """A server with four places."""
    more = {"KIWIRESEARCH_SERVE_AT_ONCE": str(AT_ONCE)}
    with user_server(tmp_path_factory.mktemp("small"), **NO_RATE_LIMIT, **UNLIMITED, **more) as people:
        yield people


@contextlib.contextmanager
def kept_open(server: UserServer, number: int, path: str, *headers: str) -> Iterator[None]:
    """So many requests whose bodies the server waits for, in vain."""
    place = urlsplit(server.address)
    announced = ("Content-Length: 10", "Expect: 100-continue")
    lines = [f"POST {path} HTTP/1.1", f"Host: {place.netloc}", *announced, *headers, "", ""]
    with contextlib.ExitStack() as opened:
        for _ in range(number):
            line = opened.enter_context(socket.create_connection((place.hostname or "", place.port or 0), timeout=20))
            line.sendall("\r\n".join(lines).encode())
            assert line.recv(100).startswith(b"HTTP/1.1 100 ")
        yield


def test_a_user_leaves_places_to_others(small: UserServer) -> None:
    """A user with three quarters of the places gets no more; another user is served."""
    headers = ("Content-Type: application/json", f"Authorization: Bearer {small.tokens['rita']}")
    with small.client("rita") as rita, small.client("remy") as remy:
        with kept_open(small, 3, "/api/ask", *headers):
            assert rita.get("/api/me").status_code == 503
            assert remy.get("/api/me").status_code == 200
            assert rita.get("/api/health").status_code == 200
        while rita.get("/api/me").status_code != 200:  # the server hears in its own time that they have gone
            pass


def test_strangers_leave_places_to_users(small: UserServer) -> None:
    """Strangers who never send what they announced have a quarter of the places, and users all others."""
    headers = ("Content-Type: application/x-www-form-urlencoded", f"Origin: {small.address}")
    with small.client() as stranger, small.client("rita") as rita:
        with kept_open(small, 1, "/login", *headers):
            assert stranger.get("/login").status_code == 503
            assert rita.get("/api/me").status_code == 200
        while stranger.get("/login").status_code != 200:
            pass
