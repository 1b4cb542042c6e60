"""Hosts on loopback, each with a home and books of its own, that meet in one store."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import uvicorn
from tests.web.servers import NO_RATE_LIMIT, http_client

from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.peers import add_peer_endpoint
from kiwiresearch.web.server import listen
from kiwiresearch.workspace.hosts import HostPresence
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import Workspace, open_workspace
from kiwiresearch.zim.shelf import listed_book


@dataclass(frozen=True, slots=True)
class Host:
    """A server among others, in this process."""

    desk: Workspace
    context: ServerContext
    url: str
    client: httpx2.Client
    presence: HostPresence
    stop: Callable[[], None]
    """Ends it as a broken wire does: it tells nobody."""

    def meets(self, *others: Host) -> None:
        """Have this host and others know each other now, without waiting for the next look."""
        for host in (self, *others):
            host.presence.announce()
        for host in (self, *others):
            host.presence.hosts.refresh()


def a_desk(home: Path, store: str, *books: Path, **environment: str) -> Workspace:
    """The desk of somebody who has put these books on the shelf."""
    desk = open_workspace(
        {
            "KIWIRESEARCH_ASK_READER": "false",
            "KIWIRESEARCH_HOME": str(home),
            "KIWIRESEARCH_STORE": store,
            **NO_RATE_LIMIT,
            **environment,
        },
    )
    rows = [row for book in books for row in desk.opener.look_up(str(book))]
    desk.shelf_file.add([listed_book(book, source) for book, source in rows])
    return desk


@contextlib.contextmanager
def a_host(home: Path, store: str, name: str, *books: Path, address: str = "127.0.0.1", **more: str) -> Iterator[Host]:
    """A host that serves some books; it leaves the list at the end."""
    desk = a_desk(home, store, *books, KIWIRESEARCH_SERVE_NAME=name, KIWIRESEARCH_SERVE_HOST=address, **more)
    with listen(address, 0) as door, ServerContext(desk, shelf_of(desk)) as context:
        port = door.getsockname()[1]
        context.public_url = f"http://{address}:{port}"
        app = make_app(context)
        presence = add_peer_endpoint(app, desk, context.shelf, port)
        assert presence is not None
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5))
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()

        def stop() -> None:
            server.should_exit = True
            thread.join()

        try:
            with http_client(context.public_url) as client:
                client.get("/api/health")
                presence.start()
                yield Host(desk, context, context.public_url, client, presence, stop)
        finally:
            presence.close()
            stop()
