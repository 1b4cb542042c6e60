"""A server with users on loopback, walls and wire and all, and a token of each role."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from fastapi import FastAPI
from tests.web.servers import browser_client, http_client

from kiwiresearch.cli.server import _mcp
from kiwiresearch.store.store import Store
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.limits import Shutdown
from kiwiresearch.web.guard.roles import MCP_RULE, LazyRoute, RoleRule, rule_of_route
from kiwiresearch.web.runs import make_jobs
from kiwiresearch.web.server import Server, listen
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.users import Actor, UserRegister, utc_now
from kiwiresearch.workspace.workspace import open_workspace, store_of

UNLIMITED = {f"KIWIRESEARCH_LIMITS_{role}_REQUESTS_A_MINUTE": "1000000" for role in ("READER", "RESEARCHER", "OWNER")}
"""Limits of users whose tests ask many times in a short time."""
USERS = {"rita": "reader", "remy": "researcher", "ruth": "researcher", "olga": "owner"}


@dataclass(frozen=True, slots=True)
class UserServer:
    """A running server, its store, and the tokens of its users."""

    address: str
    app: FastAPI
    context: ServerContext
    store: Store
    tokens: Mapping[str, str]
    ids: Mapping[str, str]

    @property
    def rules(self) -> dict[tuple[str, str], RoleRule]:
        """The rule of every route, by method and path."""
        return dict(_rules(self.app.router.routes))

    @property
    def register(self) -> UserRegister:
        return UserRegister(self.store, utc_now, Actor())

    def client(self, name: str = "") -> httpx2.Client:
        """A program of a user; of nobody where no name is given."""
        client = http_client(self.address)
        if name:
            client.headers["Authorization"] = f"Bearer {self.tokens[name]}"
        return client

    @contextlib.contextmanager
    def browser(self, name: str = "") -> Iterator[httpx2.Client]:
        """A browser of a user who has logged in."""
        with browser_client(self.address) as browser:
            if name:
                assert browser.post("/login", data={"token": self.tokens[name]}).status_code == 303
            yield browser


def _rules(routes: Iterable[Any]) -> Iterator[tuple[tuple[str, str], RoleRule]]:
    for route in routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from _rules(inner.routes)
        else:
            rule = rule_of_route(route) if isinstance(route, LazyRoute) else MCP_RULE  # /openapi.json, too
            for method in sorted(getattr(route, "methods", None) or {"POST"}):
                if method not in ("HEAD", "OPTIONS"):
                    yield (method, str(route.path)), rule


@contextlib.contextmanager
def user_server(home: Path, *books: str, **environment: str) -> Iterator[UserServer]:
    """A server with the four users of `USERS`."""
    by_words = {"KIWIRESEARCH_ASK_READER": "false"}  # loading the reading model takes longer than most tests
    values = {"KIWIRESEARCH_HOME": str(home), "KIWIRESEARCH_SERVE_USERS": "true", **by_words, **environment}
    desk = open_workspace(environment=values)
    store = store_of(desk)
    register = UserRegister(store, utc_now, Actor())
    made: dict[str, Any] = {}
    for name, role in USERS.items():
        register.add(name, role)
        made[name] = register.new_token(name, "test")
    with (
        ServerContext(desk, shelf_of(desk, list(books) or ["sample"])) as context,
        contextlib.closing(make_jobs(context)) as jobs,
        listen("127.0.0.1", 0) as door,
    ):
        shutdown = Shutdown(grace_s=0.2)
        app = make_app(context, jobs=jobs, mounts=_mcp(context, jobs), shutdown=shutdown)
        up = threading.Event()
        server = Server(app, shutdown, up.set)
        thread = threading.Thread(target=server.run, args=([door],))
        thread.start()
        assert up.wait(30)
        address = f"http://127.0.0.1:{door.getsockname()[1]}"
        tokens = {name: token.text for name, token in made.items()}
        try:
            yield UserServer(address, app, context, store, tokens, {name: token.id for name, token in made.items()})
        finally:
            server.should_exit = True
            thread.join()
