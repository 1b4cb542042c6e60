"""Programs of others, which tools/install-clients installs, and the servers that they use; asked outside CI."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.browser.chromium import Chromium
from tests.clients.open_webui import OpenWebUI, running_open_webui
from tests.web.servers import NO_RATE_LIMIT, running_server, server_context

from kiwiresearch.mcp.context import ToolContext
from kiwiresearch.mcp.server import PATH, http_app
from kiwiresearch.mcp.tools import Toolbox
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext

CLIENTS = Path(os.environ.get("KIWIRESEARCH_CLIENTS") or Path.home() / ".cache" / "kiwiresearch-clients")


def installed(name: str) -> Path:
    """The folder with the commands of a program, or a skipped test."""
    folder = CLIENTS / name
    if not (folder / "ready").is_file():
        pytest.skip(f"{name} is not installed in {folder} (make test-clients installs it where there is a network)")
    return folder / "bin"


@dataclass(frozen=True, slots=True)
class Server:
    """A server on the sample book, and its token, if it has one."""

    address: str
    token: str = ""


def _with_tools(context: ServerContext) -> FastAPI:
    parts = ToolContext(context.asker, context.locked_finder, context.citation_url, context.page_url)
    return make_app(context, mounts={PATH: http_app(Toolbox(parts))})


@pytest.fixture(scope="session")
def open_server(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[Server]:
    """A server that everybody on this machine may use."""
    home = tmp_path_factory.mktemp("open-server")
    with (
        server_context(home, str(sample_zim), **NO_RATE_LIMIT) as context,
        running_server(context, _with_tools) as address,
    ):
        yield Server(address)


@pytest.fixture(scope="session")
def token_server(tmp_path_factory: pytest.TempPathFactory, sample_zim: Path) -> Iterator[Server]:
    """A server that needs a token."""
    home, token = tmp_path_factory.mktemp("token-server"), secrets.token_hex(16)
    settings = NO_RATE_LIMIT | {"KIWIRESEARCH_SERVE_TOKEN": token}
    with server_context(home, str(sample_zim), **settings) as context, running_server(context, _with_tools) as address:
        yield Server(address, token)


@pytest.fixture(scope="session")
def open_webui(tmp_path_factory: pytest.TempPathFactory, token_server: Server) -> Iterator[OpenWebUI]:
    """Open WebUI with our server as its only model and as its search, signed in as its only user."""
    folder = tmp_path_factory.mktemp("open-webui")
    with running_open_webui(installed("open-webui"), folder, token_server.address, token_server.token) as client:
        yield client


@pytest.fixture(scope="session")
def chromium() -> Iterator[Chromium]:
    """A browser, to use the pages of a program as people do."""
    browser = Chromium()
    yield browser
    browser.close()
