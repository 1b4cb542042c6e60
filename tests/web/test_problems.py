"""Errors as clients get them."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException
from starlette.responses import StreamingResponse
from starlette.testclient import TestClient

from kiwiresearch import errors
from kiwiresearch.errors import without_paths
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.problems import logged_problem, problem_of

ALL = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.KiwiError)]


def _add_failures(app: FastAPI) -> None:
    """Routes that fail in every way."""

    def fail(name: str) -> None:
        raise getattr(errors, name)("It is wrong.", remedy="Mend it.")

    def fault() -> None:
        raise ValueError("the secret of /home/somebody")

    def events() -> StreamingResponse:
        def give() -> Iterator[str]:
            yield "event: citations\ndata: {}\n\n"
            fault()

        return StreamingResponse(give(), media_type="text/event-stream")

    app.add_api_route("/api/fail/{name}", fail)
    app.add_api_route("/api/fault", fault)
    app.add_api_route("/api/events", events, response_model=None)


@pytest.fixture(scope="module")
def client(context: ServerContext) -> TestClient:
    app = make_app(context)
    _add_failures(app)
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (errors.BadUsage, 400),
        (errors.PageNotFound, 404),
        (errors.BookNotFound, 404),
        (errors.NothingFound, 404),
        (errors.RunNotFound, 404),
        (errors.FolderTaken, 409),
        (errors.ModelUnreachable, 502),
        (errors.BookUnreachable, 502),
        (errors.BadReply, 502),
        (errors.BookDamaged, 503),
        (errors.RunDamaged, 500),
        (errors.KiwiError, 500),
    ],
)
def test_each_error_has_its_status(kind: type[errors.KiwiError], status: int) -> None:
    """A class of errors has the status of its meaning, or of its parent."""
    assert problem_of(kind("It is wrong.")).status == status


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_is_a_problem(client: TestClient, kind: type[errors.KiwiError]) -> None:
    """Raised in a route, every error of the program becomes a problem with its words and its remedy."""
    answer = client.get(f"/api/fail/{kind.__name__}")
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert (problem["detail"], problem["remedy"]) == ("It is wrong.", "Mend it.")
    assert problem["status"] == answer.status_code
    assert problem["type"].startswith("urn:kiwiresearch:problem:")
    assert problem["title"]


def test_a_fault_shows_nothing_of_the_inside(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    """An error nobody foresaw gives an id, under which the log has the traceback, and nothing else."""
    with caplog.at_level(logging.ERROR, "kiwiresearch.web"):
        answer = client.get("/api/fault")
    problem = answer.json()
    assert (answer.status_code, problem["title"]) == (500, "Internal error")
    assert "secret" not in answer.text
    assert "ValueError" not in answer.text
    (rows,) = [record for record in caplog.records if record.name == "kiwiresearch.web"]
    assert problem["id"] in rows.getMessage()
    assert rows.exc_info


def test_a_fault_in_a_stream_ends_it_properly(client: TestClient) -> None:
    """A stream that breaks in a way nobody foresaw still ends with an event of its own."""
    text = client.get("/api/events").text
    assert "event: error\ndata: {" in text
    assert "Internal error" in text
    assert "secret" not in text


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/docs", 404),
        ("GET", "/redoc", 404),
        ("DELETE", "/api/search", 405),
        ("GET", "/api/search", 422),
        ("GET", "/api/search?q=x&limit=none", 422),
        ("GET", "/api/page?title=Nobody+knows+it", 404),
        ("GET", "/api/page?title=x&book=nothing", 404),
        ("GET", "/api/search?q=%00", 400),
    ],
)
def test_invalid_requests_are_problems(client: TestClient, method: str, path: str, status: int) -> None:
    """Unknown routes, wrong methods, fields that are not valid: all have the same format."""
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert {"type", "title", "status", "detail", "remedy"} <= answer.json().keys()


def test_a_wrong_method_names_the_right_ones(client: TestClient) -> None:
    """The header that HTTP asks for is kept."""
    assert "GET" in client.delete("/api/search").headers["allow"]


def test_fields_that_are_not_valid_are_named(client: TestClient) -> None:
    """The client hears which field is wrong and how; what it sent is not repeated."""
    answer = client.post("/api/ask", json={"question": ["hush"], "colour": 1})
    assert answer.status_code == 422
    assert {fault["where"] for fault in answer.json()["errors"]} == {"body.question", "body.colour"}
    assert "hush" not in answer.text


def test_a_route_s_own_headers_are_kept() -> None:
    """A route that says when to come again is heard."""
    problem = problem_of(HTTPException(503, "The server is busy.", headers={"Retry-After": "2"}))
    assert (problem.detail, problem.headers) == ("The server is busy.", (("Retry-After", "2"),))


def test_problems_for_chat_clients_also_speak_their_form(client: TestClient) -> None:
    """Below /v1 a problem also carries the error as clients of OpenAI look for it."""
    problem = client.get("/v1/nowhere").json()
    assert problem["status"] == 404
    assert problem["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize(
    ("expected", "shown"),
    [
        ("The file '/home/me/zims/book.zim' is gone.", "The file 'book.zim' is gone."),
        ("The folder '/srv/runs/' is taken.", "The folder 'runs' is taken."),
        ("It is at 'C:\\Users\\me\\book.zim'.", "It is at 'book.zim'."),
        ("Not \"/a/b\" nor '/c/d'.", "Not \"b\" nor 'd'."),
        (
            "There is no book 'A/B' at 'http://localhost:8080/x'.",
            "There is no book 'A/B' at 'http://localhost:8080/x'.",
        ),
        ("It's 5 o'clock / noon.", "It's 5 o'clock / noon."),
    ],
)
def test_folders_of_this_machine_are_not_shown(expected: str, shown: str) -> None:
    """Problems show the name of a file, never its folder."""
    assert without_paths(expected) == shown
    assert problem_of(errors.BookDamaged(expected, remedy=expected)).record().detail == shown


@given(st.text(), st.text())
def test_any_words_make_a_problem(words: str, remedy: str) -> None:
    """Whatever characters an error message has, it can be sent."""
    answer = logged_problem(errors.BookDamaged(words, remedy=remedy)).response("/v1/x")
    assert answer.status_code == 503
