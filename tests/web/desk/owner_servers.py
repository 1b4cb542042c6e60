"""A server whose owner manages it in the browser: its library is the user's own list of books."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
from selectolax.lexbor import LexborHTMLParser
from tests.web.servers import NO_RATE_LIMIT, browser_client, running_server

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim import listed_book


@dataclass(frozen=True, slots=True)
class OwnerServer:
    """A running server and the browser of its owner."""

    context: ServerContext
    browser: httpx2.Client
    home: Path
    address: str

    def page(self, path: str) -> LexborHTMLParser:
        """A page that is there."""
        reply = self.browser.get(path, follow_redirects=True)
        assert reply.status_code == 200, reply.text
        return LexborHTMLParser(reply.text)

    def send(self, path: str, **data: str) -> httpx2.Response:
        """Send a form, and follow it to the page that it leads to."""
        return self.browser.post(path, data=data, follow_redirects=True)


@contextlib.contextmanager
def owner_server(home: Path, *books: Path, **environment: str) -> Iterator[OwnerServer]:
    """A server with these books in the library of its user."""
    values = {"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_ASK_READER": "false", **NO_RATE_LIMIT, **environment}
    workspace = open_workspace(environment=values)
    for book in books:
        found = workspace.look_up_each(str(book), [])
        workspace.shelf_file.add([listed_book(one, source) for one, source in found])
    with (
        ServerContext(workspace, shelf_of(workspace)) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
    ):
        yield OwnerServer(context, browser, home, address)
