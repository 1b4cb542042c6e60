"""The routes put together: what the server says of itself."""

from __future__ import annotations

import contextlib
import itertools
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import is_dataclass, replace
from typing import Any, get_args, get_type_hints

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from kiwiresearch.codec import Record, field_docs
from kiwiresearch.version import __version__
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.health import PolledValue

HERE = "http://127.0.0.1"


@pytest.fixture(scope="module")
def client(context: ServerContext) -> TestClient:
    return TestClient(make_app(context), base_url=HERE)


@pytest.fixture(scope="module")
def schema(client: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json()
    return found


def _operations(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in schema["paths"].items():
        for operation in methods.values():
            yield path, operation


def test_the_openapi_names_each_operation_once(schema: dict[str, Any]) -> None:
    """Each operation has a name of its own, a tag and a summary."""
    names = [operation["operationId"] for _, operation in _operations(schema)]
    assert len(set(names)) == len(names)
    assert {"get_api_search", "post_api_ask", "get_api_health"} <= set(names)
    known = {tag["name"] for tag in schema["tags"]}
    for path, operation in _operations(schema):
        assert operation["summary"], path
        assert set(operation["tags"]) <= known, path
        assert operation["tags"], path


def test_the_openapi_describes_problems(schema: dict[str, Any]) -> None:
    """Every response of an operation that is not documented otherwise is a problem."""
    for path, operation in _operations(schema):
        content = operation["responses"]["default"]["content"]
        assert content["application/problem+json"]["schema"]["$ref"] == "#/components/schemas/Problem", path
    assert "HTTPValidationError" not in schema["components"]["schemas"]


def test_every_reference_of_the_openapi_leads_somewhere(schema: dict[str, Any]) -> None:
    """Nothing that is referred to has been left out."""

    def references(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            yield from [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            for part in value.values():
                yield from references(part)
        elif isinstance(value, list):
            for part in value:
                yield from references(part)

    known = {f"#/components/schemas/{name}" for name in schema["components"]["schemas"]}
    assert set(references(schema)) <= known


def test_the_words_of_all_fields_are_in_the_openapi() -> None:
    """A dataclass that is part of a record is one too if it describes fields: only those of records are published."""

    def kinds(base: type[Any]) -> Iterator[type[Any]]:
        for kind in base.__subclasses__():
            yield kind
            yield from kinds(kind)

    def named(hint: object) -> Iterator[type[Any]]:
        if isinstance(hint, type) and is_dataclass(hint):
            yield hint
        for part in get_args(hint):
            yield from named(part)

    def is_published(kind: type[Any]) -> bool:
        home = kind.__module__ + "."
        return is_dataclass(kind) and home.startswith("kiwiresearch.") and ".web.desk." not in home

    own = filter(is_published, kinds(Record))
    parts = {part for kind in own for hint in get_type_hints(kind).values() for part in named(hint)}
    assert len(parts) > 50
    assert [part for part in parts if not issubclass(part, Record) and field_docs(part)] == []


def test_a_book_opens_at_its_first_page(client: TestClient, context: ServerContext) -> None:
    """The address of a book alone opens its first page."""
    assert client.get(f"/read/{context.shelf.books[0].id}/").status_code == 200


def test_health_lists_books_and_indexes(client: TestClient, context: ServerContext) -> None:
    """Health says that the internet is not used, and names the model and the indexes."""
    health = client.get("/api/health").json()
    book = context.shelf.books[0]
    assert (health["status"], health["version"], health["wan"], health["model_name"]) == ("ok", __version__, False, "")
    assert health["model"] == {"set": False, "reachable": False, "models": []}
    assert health["indices"]["titles"][book.id]["complete"] is True
    assert [row["id"] for row in health["books"]] == [book.id]


def _with_model(context: ServerContext, address: str) -> ServerContext:
    settings = replace(context.workspace.settings, model_url=address, model_name="small")
    return ServerContext(replace(context.workspace, settings=settings), context.shelf)


def test_health_asks_nobody_but_the_model(context: ServerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The only connection that health opens is to the model the user set, and it may be away."""
    called: list[object] = []
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        called.append(address[:2])
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", noted)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        place = nobody.getsockname()
        address = f"http://127.0.0.1:{place[1]}"
        health = TestClient(make_app(_with_model(context, address)), base_url=HERE).get("/api/health").json()
    assert health["model"] == {"set": True, "reachable": False, "models": []}
    assert health["model_name"] == "small"
    assert set(called) <= {place}


def test_health_does_not_wait_for_a_silent_model(context: ServerContext) -> None:
    """While a model does not answer, health says that nobody knows yet."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        health = TestClient(make_app(_with_model(context, address)), base_url=HERE).get("/api/health").json()
    assert health["model"] == {"set": True, "reachable": None, "models": []}
    assert health["books"]


def test_a_glance_looks_once_while_it_is_fresh() -> None:
    """A fact is looked up by one thread, and again only when it is old."""
    looks = itertools.count(1)
    fresh = PolledValue(lambda: next(looks), fresh_s=3_600)
    assert [fresh.latest(timeout_s=10) for _ in range(3)] == [1, 1, 1]
    old = PolledValue(lambda: next(looks), fresh_s=0)
    assert [old.latest(timeout_s=10) for _ in range(3)] == [2, 3, 4]


def test_mounted_app_is_guarded(context: ServerContext) -> None:
    """What is mounted sees its whole path, begins and ends with the server, and is guarded like the rest."""
    steps: list[str] = []

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        steps.append("started")
        yield
        steps.append("ended")

    async def answer(request: Request) -> PlainTextResponse:
        return PlainTextResponse(request.url.path)

    async def fail(_: Request) -> PlainTextResponse:
        raise ValueError("secret")

    routes = [Route("/mcp", answer, methods=["POST"]), Route("/mcp", fail, methods=["PUT"])]
    mounted = Starlette(routes=routes, lifespan=lifespan)
    with TestClient(make_app(context, mounts={"/mcp": mounted}), base_url=HERE) as client:
        assert steps == ["started"]
        assert client.post("/mcp", json={}).text == "/mcp"
        assert client.post("/mcp", json={}, headers={"Origin": "http://evil.example"}).status_code == 403
        assert client.post("/mcp", content="x", headers={"Content-Type": "text/plain"}).status_code == 415
        failed = client.put("/mcp")
        assert (failed.status_code, failed.headers["content-type"]) == (500, "application/problem+json")
        assert "secret" not in failed.text
    assert steps == ["started", "ended"]
