"""One server on the sample book for all tests of the web."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from tests.web.peopled import UNLIMITED, Peopled, peopled
from tests.web.running import UNHURRIED, a_browser, a_client, a_room, running

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext


@pytest.fixture(scope="session")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerContext]:
    """The sample book, open for requests."""
    with a_room(tmp_path_factory.mktemp("room"), **UNHURRIED) as room:
        yield room


@pytest.fixture(scope="session")
def server(room: ServerContext) -> Iterator[str]:
    """The address of a server on the sample book."""
    with running(room, make_app) as address:
        yield address


@pytest.fixture(scope="session")
def client(server: str) -> Iterator[httpx2.Client]:
    """A client of that server."""
    with a_client(server) as client:
        yield client


@pytest.fixture(scope="session")
def browser(server: str) -> Iterator[httpx2.Client]:
    """A browser that has a page of that server open: its forms are taken, and it is shown pages."""
    with a_browser(server) as browser:
        yield browser


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peopled]:
    """A server that has users, on the sample book; what a test changes about its four users, it puts back."""
    with peopled(tmp_path_factory.mktemp("people"), **UNHURRIED, **UNLIMITED) as people:
        yield people
