"""Questions over HTTP: citations first, then words, then the whole answer; or a problem that says what to do."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import httpx2
import pytest
from pydantic import TypeAdapter
from tests.llm.scripted import ScriptedModel
from tests.web.scripted_asker import ScriptedAsker
from tests.web.servers import NO_RATE_LIMIT, StreamEvent, http_client, running_server, server_context, stream_events

from kiwiresearch.ask.answer import Answer, AnswerText, Done, EvidenceFound, Thought
from kiwiresearch.ask.records import AnswerRecord, CitationRecord, FoundRecord, PassageRecord
from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.web import streams
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace.asker import Asker

SUNSET = "Why is the sky orange at sunset?"
EINSTEIN = "When was Einstein born?"
PROBLEM = "application/problem+json"
STREAM = "text/event-stream"
FOUND = Answer("Who?", "Who?", "title", "The title stands in the question.", grounded=True)
WHOLE = Answer("Who?", "Who?", "title", "The title stands in the question.", grounded=True, text="It was she.")


ScriptedClient = tuple[ScriptedAsker, httpx2.Client]


def streamed(client: httpx2.Client, method: str, path: str, **more: Any) -> list[StreamEvent]:
    with client.stream(method, path, **more) as reply:
        assert reply.status_code == 200, reply.read()
        assert reply.headers["content-type"].startswith(STREAM)
        return list(stream_events(reply.iter_lines()))


@pytest.fixture(scope="module")
def scripted_context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerContext]:
    """A server context with three worker threads."""
    with server_context(tmp_path_factory.mktemp("told"), KIWIRESEARCH_SERVE_AT_ONCE="3", **NO_RATE_LIMIT) as context:
        yield context


@pytest.fixture(scope="module")
def scripted_client(scripted_context: ServerContext) -> Iterator[httpx2.Client]:
    with running_server(scripted_context, make_app) as address, http_client(address) as client:
        yield client


@pytest.fixture
def scripted_pair(scripted_context: ServerContext, scripted_client: httpx2.Client) -> Iterator[ScriptedClient]:
    """An asker that a test scripts, and a client of its server."""
    asker = scripted_context.asker = ScriptedAsker()
    yield asker, scripted_client
    asker.let_go.set()


def test_curl_sees_the_citations_before_anything_else(server: str) -> None:
    """What curl prints of a question begins with the citations and ends with the whole answer (R233, R242)."""
    body = json.dumps({"question": EINSTEIN, "k": 6, "mode": "default"})
    command = ["curl", "--no-buffer", "--silent", "--show-error", "--noproxy", "*", "--max-time", "30"]
    command += ["-H", "Content-Type: application/json", "-d", body, f"{server}/api/chat"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    events = list(stream_events(done.stdout.splitlines()))
    names = [event.name for event in events]
    assert done.stdout.startswith("event: citations\ndata: {")
    assert (names[0], names[-1], names.count("citations"), names.count("done")) == ("citations", "done", 1, 1)
    assert set(names[1:-1]) <= {"reasoning", "token"}
    assert {"id", "title", "url", "snippet"} <= set(events[0].data["citations"][0])


def test_the_events_give_the_same_answer_as_one_response(client: httpx2.Client) -> None:
    """The citations of the first event are those of the last, and the tokens put together are its answer (R233)."""
    first, *middle, last = streamed(client, "POST", "/api/ask", json={"question": SUNSET, "stream": True})
    assert set(first.data) == {one.name for one in fields(FoundRecord)}
    assert first.data == {name: last.data[name] for name in first.data}
    assert "".join(event.data["text"] for event in middle if event.name == "token") == last.data["answer"]
    assert last.data["grounded"] is True


def test_a_document_is_what_the_stream_ends_with(client: httpx2.Client) -> None:
    """The same question gives the same answer in one document as at the end of a stream."""
    whole = client.post("/api/ask", json={"question": SUNSET})
    assert whole.headers["content-type"] == "application/json"
    assert whole.json() == streamed(client, "POST", "/api/chat", json={"question": SUNSET})[-1].data


@pytest.mark.parametrize(
    ("stream", "accept", "kind"),
    [
        (None, "*/*", "application/json"),
        (None, STREAM, STREAM),
        (True, "*/*", STREAM),
        (False, STREAM, "application/json"),
    ],
)
def test_a_client_chooses_between_stream_and_document(
    client: httpx2.Client, stream: bool | None, accept: str, kind: str
) -> None:
    """`stream` decides, and where it is not given the header Accept does; in an address as in a body."""
    wanted = {} if stream is None else {"stream": stream}
    asked = client.post("/api/ask", json={"question": EINSTEIN, **wanted}, headers={"Accept": accept})
    params = {"q": EINSTEIN, **{name: str(value).lower() for name, value in wanted.items()}}
    by_address = client.get("/api/ask", params=params, headers={"Accept": accept})
    assert asked.headers["content-type"].startswith(kind)
    assert by_address.headers["content-type"].startswith(kind)
    assert by_address.text == asked.text


def test_a_stream_is_neither_cached_nor_buffered(client: httpx2.Client) -> None:
    """Headers ask proxies to pass a stream on at once."""
    with client.stream("GET", "/api/ask", params={"q": EINSTEIN, "stream": "true"}) as reply:
        assert "no-cache" in reply.headers["cache-control"] or "no-store" in reply.headers["cache-control"]
        assert reply.headers["x-accel-buffering"] == "no"
        reply.read()


def test_a_citation_leads_to_its_words(client: httpx2.Client, context: ServerContext) -> None:
    """The quote of a citation is in the page at its offsets, and its address names book, path and place."""
    for cited in client.post("/api/ask", json={"question": EINSTEIN}).json()["citations"]:
        page = client.get("/api/page", params={"path": cited["path"], "book": cited["book_id"]}).json()
        assert page["plain_text"][cited["start"] : cited["end"]] == cited["quote"]
        place = f"/read/{cited['book_id']}/{cited['path']}?mark={cited['start']}-{cited['end']}#mark"
        assert cited["url"] == context.public_url + place


def test_the_documented_fields_are_those_that_are_sent(client: httpx2.Client) -> None:
    """The OpenAPI names every field of an answer, its citations and its passages, and no other but what is missing."""
    record = client.post("/api/ask", json={"question": EINSTEIN}).json()
    assert set(record) | {"missing"} == {one.name for one in fields(AnswerRecord)}
    assert set(record["citations"][0]) == {one.name for one in fields(CitationRecord)}
    assert set(record["passages"][0]) == {one.name for one in fields(PassageRecord)}
    TypeAdapter(AnswerRecord).validate_python(record)


def test_one_page_answers_alone(client: httpx2.Client) -> None:
    """A question to a page is answered from that page, whatever other pages say (R235)."""
    body = {"path": "Sunrise", "question": "Why is the sky red?", "k": 2, "mode": "default"}
    first, *_, last = streamed(client, "POST", "/api/answer_from_page", json=body)
    assert first.name == "citations"
    assert last.data["route"] in ("page", "none")
    assert {cited["path"] for cited in last.data["citations"]} <= {"Sunrise"}
    assert {passage["path"] for passage in last.data["passages"]} == {"Sunrise"}
    assert len(last.data["passages"]) <= 2


@pytest.mark.parametrize(
    "body",
    [
        {"path": "No such page", "question": "Why?"},
        {"path": "../../etc/passwd", "question": "Why?"},
        {"path": "Sunset", "book": "no such book", "question": "Why?"},
        {"path": "Sunset", "book": "~nobody", "question": "Why?"},
        {"path": "Sunset", "book": "/etc", "question": "Why?"},
    ],
)
def test_a_page_that_is_not_there_is_a_problem(client: httpx2.Client, body: dict[str, str]) -> None:
    """A page or book that the shelf does not have is a 404 before any stream begins; so is anything outside it."""
    reply = client.post("/api/answer_from_page", json=body)
    assert (reply.status_code, reply.headers["content-type"]) in [(404, PROBLEM), (400, PROBLEM)]
    assert reply.json()["remedy"]


def test_a_refusal_is_an_answer(client: httpx2.Client) -> None:
    """A question that the books cannot answer gets a 200 that says so, without a citation."""
    record = client.post("/api/ask", json={"question": "Who won the zorbing cup of Xqzzl?"}).json()
    assert (record["grounded"], record["route"], record["citations"]) == (False, "none", [])
    assert record["why"]


def test_thoughts_and_words_come_between_citations_and_end(scripted_pair: ScriptedClient) -> None:
    """Reasoning and words of a model come between the citations and the end, in their order (R241)."""
    asker, client = scripted_pair
    asker.script(
        EvidenceFound(FOUND),
        Thought("Let me "),
        Thought("see."),
        AnswerText("It was "),
        AnswerText("she."),
        Done(WHOLE),
    )
    events = streamed(client, "POST", "/api/chat", json={"question": "Who?"})
    words = [(event.name, event.data.get("text")) for event in events[1:-1]]
    assert words == [("reasoning", "Let me "), ("reasoning", "see."), ("token", "It was "), ("token", "she.")]
    assert events[-1].data["answer"] == "It was she."


def test_a_model_words_the_answer_behind_its_citations(
    scripted_context: ServerContext, scripted_client: httpx2.Client
) -> None:
    """With a model, its thinking and its checked words are streamed, and what it made up is not (R241)."""
    with scripted_context.locked_finder() as finder:
        key = Asker(finder, scripted_context.workspace.settings.ask).ask(EINSTEIN).passages[0].key
    born = f"Albert Einstein was born on 14 March 1879 [{key}]."
    model = ScriptedModel(f"<think>A birthday.</think>{born} He had 77 cats [{key}].")
    with scripted_context.locked_finder() as finder:
        scripted_context.asker = Asker(finder, scripted_context.workspace.settings.ask, model=model)
    events = streamed(scripted_client, "POST", "/api/chat", json={"question": EINSTEIN})
    names = [event.name for event in events]
    assert names[0] == "citations"
    assert "reasoning" in names[: names.index("token")]
    assert "".join(event.data["text"] for event in events if event.name == "token") == events[-1].data["answer"]
    assert "14 March 1879" in events[-1].data["answer"]
    assert "cats" not in events[-1].data["answer"]
    assert "cats" in events[-1].data["dropped"][0]["text"]


def test_all_options_reach_the_asker(scripted_pair: ScriptedClient) -> None:
    """Mode, number of passages, page, earlier turns and the option without a model reach the asker."""
    asker, client = scripted_pair
    asker.script(EvidenceFound(WHOLE), Done(WHOLE))
    turns = [{"question": EINSTEIN, "subject": "Albert Einstein", "answer": "In 1879."}]
    body = {"question": "And\nhis\x00wife?", "mode": "eli10", "k": 3, "page": "Sunset", "turns": turns, "model": False}
    client.post("/api/ask", json=body).raise_for_status()
    question, request = asker.asked[-1]
    assert question == "And his wife?"
    assert (request.mode, request.passages, request.page, request.with_model) == ("eli10", 3, "Sunset", False)
    assert [(turn.question, turn.subject, turn.answer) for turn in request.turns] == [tuple(turns[0].values())]


@pytest.mark.parametrize("stream", [True, False])
def test_an_error_before_the_first_word_has_its_status(scripted_pair: ScriptedClient, stream: bool) -> None:
    """A model that cannot be reached is a 502 with words and a remedy, for streams as for documents."""
    asker, client = scripted_pair
    asker.script(ModelUnreachable("The model is away.", remedy="Start it."))
    reply = client.post("/api/ask", json={"question": "Who?", "stream": stream})
    assert (reply.status_code, reply.headers["content-type"]) == (502, PROBLEM)
    assert (reply.json()["detail"], reply.json()["remedy"]) == ("The model is away.", "Start it.")


@pytest.mark.parametrize(
    ("error", "status"), [(ModelUnreachable("The model broke off."), 502), (ZeroDivisionError("/home/secret"), 500)]
)
def test_an_error_in_the_middle_is_an_event(scripted_pair: ScriptedClient, error: Exception, status: int) -> None:
    """An error after the citations is the last event, and an internal error shows no details."""
    asker, client = scripted_pair
    asker.script(EvidenceFound(FOUND), AnswerText("It "), error)
    events = streamed(client, "POST", "/api/chat", json={"question": "Who?"})
    assert [event.name for event in events] == ["citations", "token", "error"]
    assert events[-1].data["status"] == status
    assert "secret" not in json.dumps(events[-1].data)


def test_a_client_who_leaves_ends_the_work(scripted_pair: ScriptedClient) -> None:
    """When a client hangs up in the middle of an answer, the generator behind it is closed."""
    asker, client = scripted_pair
    asker.script(EvidenceFound(FOUND), endless=AnswerText("and so on "))
    host, port = str(client.base_url.host), client.base_url.port or 0
    with socket.create_connection((host, port)) as line:
        line.sendall(b"GET /api/ask?q=Who&stream=true HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert b"event: citations" in line.makefile("rb").read(4_000)
    assert asker.closed.wait(20)


def test_more_streams_than_threads_are_asked_to_retry(scripted_pair: ScriptedClient) -> None:
    """A server with all threads busy says so with 503 and when to try again, and continues when one is free."""
    asker, client = scripted_pair
    asker.script(EvidenceFound(FOUND), Done(WHOLE), hold=3)

    def ask() -> httpx2.Response:
        """Ask until a hand is free: one may still be at work for a client of another test who has left."""
        while (reply := client.post("/api/ask", json={"question": "Who?"})).status_code == 503:
            pass
        return reply

    with ThreadPoolExecutor(3) as pool:
        busy = [pool.submit(ask) for _ in range(3)]
        assert asker.all_held.wait(20)
        refused = client.post("/api/ask", json={"question": "Who?"})
        asker.let_go.set()
        assert [one.result().status_code for one in busy] == [200, 200, 200]
    assert (refused.status_code, refused.headers["content-type"]) == (503, PROBLEM)
    assert int(refused.headers["retry-after"]) > 0
    assert ask().status_code == 200


def test_a_silent_stream_says_that_it_is_alive(scripted_pair: ScriptedClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream whose model thinks for long sends comments, which keep proxies from closing it."""
    assert streams.PING_S == 15
    monkeypatch.setattr(streams, "PING_S", 0.05)
    asker, client = scripted_pair
    asker.script(EvidenceFound(FOUND), Done(WHOLE), hold=1, after=1)
    with client.stream("POST", "/api/chat", json={"question": "Who?"}) as reply:
        lines = iter(reply.iter_lines())
        assert next(line for line in lines if line.startswith(":")) == ": ping"
        asker.let_go.set()
        assert [event.name for event in stream_events(lines)][-1] == "done"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"question": ""}, 422),
        ({"question": " ?! \x00"}, 400),
        ({"question": "x" * 2_001}, 422),
        ({"question": "word " * 10_000}, 422),
        ({"question": "Why?", "k": 0}, 422),
        ({"question": "Why?", "k": 21}, 422),
        ({"question": "Why?", "mode": "pirate"}, 422),
        ({"question": "Why?", "mood": "default"}, 422),
        ({"question": ["Why?"]}, 422),
        (["Why?"], 422),
    ],
)
@pytest.mark.parametrize("path", ["/api/ask", "/api/chat"])
def test_a_question_that_makes_no_sense_is_a_problem(
    client: httpx2.Client, path: str, body: object, status: int
) -> None:
    """A body that cannot be used is refused with words before anything is searched."""
    reply = client.post(path, json=body)
    assert (reply.status_code, reply.headers["content-type"]) == (status, PROBLEM)
    assert reply.json()["detail"]


HOSTILE = (
    "a\\u0000b", "\\ud800 sunset", "sunset \\udfff", "日本の首都は？", "' OR 1=1 --", "NEAR(a b", '\\"',
    "\\u202esunset", "<b>1</b>", "é" * 2_000, "ﷺ" * 500, "a " * 1_000, "🦀" * 2_000, "*", "title:x AND", "%s%n%00",
)  # fmt: skip


@pytest.mark.parametrize("question", HOSTILE)
def test_no_question_breaks_the_server(client: httpx2.Client, question: str) -> None:
    """Whatever is in a question, the result is an answer, or a problem of the request."""
    raw = f'{{"question": "{question}"}}'.encode()
    for path in ("/api/ask", "/api/chat"):
        reply = client.post(path, content=raw, headers={"Content-Type": "application/json"})
        assert reply.status_code in (200, 400, 422)
        assert "Traceback" not in reply.text
    assert client.get("/api/ask", params={"q": question}).status_code in (200, 400, 422)
