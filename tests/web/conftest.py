"""One server on the sample book for all tests of the web."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest
from tests.web.family_server import Families, copied_families
from tests.web.server_with_users import UNLIMITED, UserServer, user_server
from tests.web.servers import NO_RATE_LIMIT, browser_client, http_client, running_server, server_context

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext


@pytest.fixture(scope="session")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerContext]:
    """The sample book, open for requests."""
    with server_context(tmp_path_factory.mktemp("context"), **NO_RATE_LIMIT) as context:
        yield context


@pytest.fixture(scope="session")
def server(context: ServerContext) -> Iterator[str]:
    """The address of a server on the sample book."""
    with running_server(context, make_app) as address:
        yield address


@pytest.fixture(scope="session")
def client(server: str) -> Iterator[httpx2.Client]:
    """A client of that server."""
    with http_client(server) as client:
        yield client


@pytest.fixture(scope="session")
def browser(server: str) -> Iterator[httpx2.Client]:
    """A browser that has a page of that server open: its forms are taken, and it is shown pages."""
    with browser_client(server) as browser:
        yield browser


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserServer]:
    """A server that has users, on the sample book; what a test changes about its four users, it puts back."""
    with user_server(tmp_path_factory.mktemp("people"), **NO_RATE_LIMIT, **UNLIMITED) as people:
        yield people


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Families]:
    """Two cases of a family that never was, which the tests of one module may change."""
    with copied_families(tmp_path_factory) as found:
        yield found
