"""Asking in the browser with a model, and behind a token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.llm.scripted import ScriptedModel
from tests.web.desk.page_text import texts_of
from tests.web.scripted_asker import ScriptedAsker
from tests.web.servers import NO_RATE_LIMIT, StreamEvent, browser_client, running_server, server_context, stream_events

from kiwiresearch.ask.answer import Answer, Done, EvidenceFound
from kiwiresearch.ask.notices import model_broke_off
from kiwiresearch.ask.settings import AskOptions
from kiwiresearch.errors import ModelUnreachable
from kiwiresearch.llm.model import Model
from kiwiresearch.web.app import make_app
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.guard.identity import COOKIE
from kiwiresearch.web.guard.server_token import ServerToken
from kiwiresearch.workspace.asker import Asker

BORN = "When was Einstein born?"
STREAM = {"Accept": "text/event-stream"}
SECRET = "a-long-secret"
BY_RULES = AskOptions(with_model=False)
WHOLE = Answer("Who?", "Who?", "title", "The title stands in the question.", grounded=True, text="It was she.")


@pytest.fixture(scope="module")
def own_room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerContext]:
    """A server context whose asker these tests change; its settings name a model, which nobody asks."""
    away = {"KIWIRESEARCH_MODEL_URL": "http://127.0.0.1:9/v1"}
    with server_context(tmp_path_factory.mktemp("own"), **away, **NO_RATE_LIMIT) as context:
        yield context


@pytest.fixture(scope="module")
def own_browser(own_room: ServerContext) -> Iterator[httpx2.Client]:
    with running_server(own_room, make_app) as address, browser_client(address) as browser:
        yield browser


def _streamed(browser: httpx2.Client, **fields: str) -> list[StreamEvent]:
    with browser.stream("POST", "/ask/stream", data=fields, headers=STREAM) as reply:
        assert reply.status_code == 200, reply.read()
        return list(stream_events(reply.iter_lines()))


def _with_cats(context: ServerContext) -> None:
    """A model that answers right, and makes something up besides."""
    with context.locked_finder() as finder:
        key = Asker(finder, context.workspace.settings.ask, model=ScriptedModel()).ask(BORN, BY_RULES).passages[0].key
        result = f"<think>A birthday.</think>Albert Einstein was born on 14 March 1879 [{key}]. He had 77 cats [{key}]."
        context.asker = Asker(finder, context.workspace.settings.ask, model=ScriptedModel(result))


def test_a_model_s_words_are_checked_before_they_stay(own_room: ServerContext, own_browser: httpx2.Client) -> None:
    """Sources, checked words, then the whole: its marks lead to the sources, and what was made up is not shown."""
    _with_cats(own_room)
    events = _streamed(own_browser, q=BORN, model="on")
    assert "14 March 1879" in events[0].data["meanwhile"], "a slow model keeps nobody from the books' own words"
    assert "meanwhile" not in _streamed(own_browser, q=BORN)[0].data
    assert [events[0].name, events[-1].name] == ["chips", "done"]
    assert {event.name for event in events[1:-1]} == {"token"}
    whole = events[-1].data["html"]
    assert "14 March 1879" in whole
    assert "cats" not in whole
    mark = re.search(r'<a class="mark" href="(/page/[^"]+)"[^>]*>\[(\d+)\]</a>', whole)
    assert mark is not None
    assert f'id="chip-{mark[2]}" href="{mark[1]}"' in whole


def test_without_script_the_model_is_asked_on_demand(own_room: ServerContext, own_browser: httpx2.Client) -> None:
    """The form has a box for it; unless it is ticked, the answer is the books' own."""
    asker = ScriptedAsker()
    own_room.asker = asker
    asker.script(EvidenceFound(WHOLE), Done(WHOLE))
    assert 'type="checkbox" name="model"' in own_browser.get("/ask").text
    for ticked in (False, True):
        own_browser.get("/ask", params={"q": "Who?"} | ({"model": "on"} if ticked else {}))
        assert asker.asked[-1][1].with_model is ticked


def test_while_a_model_is_at_work_the_books_own_words_are_a_link_away(own_browser: httpx2.Client) -> None:
    """The page that waits says that the model is at work; its link leads past the model, not to it again."""
    shown = own_browser.get("/ask", params={"q": BORN, "model": "on", "live": "on"}).text
    assert "The model is writing the answer" in shown
    waiting = shown.partition('id="waiting"')[2].partition("</p>")[0]
    assert 'href="/ask?q=When+was+Einstein+born%3F"' in waiting


def test_a_model_is_named_without_the_place_of_its_file(own_room: ServerContext, own_browser: httpx2.Client) -> None:
    """Servers name a model by the path of its file, which is of no use to a reader."""
    file = "/home/ada/models/small-1b-q4.gguf"
    model = cast(Model, SimpleNamespace(name=file))
    answer = replace(WHOLE, model=file, notices=(model_broke_off(model, "it is slow"),))
    asker = ScriptedAsker()
    own_room.asker = asker
    asker.script(EvidenceFound(answer), Done(answer))
    shown = own_browser.get("/ask", params={"q": "Who?", "model": "on"}).text
    assert "Written by small-1b-q4." in shown
    assert "The model “small-1b-q4” stopped before it finished: it is slow." in texts_of(
        LexborHTMLParser(shown), "p.note"
    )
    assert "/home/ada" not in shown


def test_an_internal_error_in_the_middle_shows_its_id(own_room: ServerContext, own_browser: httpx2.Client) -> None:
    """The message refers to an id in the log, so the id is shown as well."""
    asker = ScriptedAsker()
    own_room.asker = asker
    asker.script(EvidenceFound(WHOLE), RuntimeError("a fault"))
    last = _streamed(own_browser, q="Who?", model="on")[-1]
    assert last.name == "error"
    assert re.fullmatch(r"[0-9a-f]{12}", last.data["id"])
    assert last.data["reference"] == f"Error ID: {last.data['id']}"


def test_every_way_to_a_question_is_answered_alike(own_room: ServerContext, own_browser: httpx2.Client) -> None:
    """A link to a question is marked as the box is, so that a script has the model word its answer too."""
    asker = ScriptedAsker()
    own_room.asker = asker
    asker.script(EvidenceFound(WHOLE), Done(WHOLE))
    own_browser.get("/ask", params={"q": "Who?"})
    assert re.search(r'<a href="/ask\?q=Who%3F" [^>]*data-live data-model>', own_browser.get("/").text)
    assert re.search(r'href="/ask\?q=Sunset" data-live data-model>', own_browser.get("/go?q=Sunset").text)


def test_a_model_that_breaks_off_is_reported(own_room: ServerContext, own_browser: httpx2.Client) -> None:
    """A model that breaks off after the sources is reported, with what to do."""
    asker = ScriptedAsker()
    own_room.asker = asker
    asker.script(EvidenceFound(WHOLE), ModelUnreachable("The model broke off.", remedy="Ask again."))
    last = _streamed(own_browser, q="Who?", model="on")[-1]
    assert (last.name, last.data) == ("error", {"detail": "The model broke off.", "remedy": "Ask again."})
    asker.script(ModelUnreachable("The model is away.", remedy="Start it."))
    shown = own_browser.get("/ask", params={"q": "Who?", "model": "on"})
    assert shown.status_code == 502
    assert "Start it." in shown.text


def test_words_of_a_model_are_text(own_room: ServerContext, own_browser: httpx2.Client) -> None:
    """Markup that a model writes is shown, and does nothing."""
    evil = Answer("Who?", "Who?", "title", "", grounded=False, text="<img src=x onerror=alert(1)> [1]", model="small")
    asker = ScriptedAsker()
    own_room.asker = asker
    asker.script(EvidenceFound(evil), Done(evil))
    assert "<img" not in _streamed(own_browser, q="Who?", model="on")[-1].data["html"]
    shown = own_browser.get("/ask", params={"q": "Who?"}).text
    _, _, below_logo = shown.partition("</header>")
    assert below_logo
    assert "<img" not in below_logo
    assert "<img src=x" not in shown
    assert "without a source" in shown
    assert "Every sentence was checked" not in shown, "what nothing bears out was checked against no source"


def test_behind_a_token_answers_and_frames_open_with_the_cookie(tmp_path: Path) -> None:
    """After the login, streams, suggestions and sources beside the answer work."""
    with (
        server_context(tmp_path, KIWIRESEARCH_SERVE_TOKEN=SECRET, **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
        browser_client(address) as browser,
    ):
        assert browser.post("/ask/stream", data={"q": BORN}, headers=STREAM).status_code == 401
        browser.cookies.set(COOKIE, ServerToken(SECRET).cookie)
        chips = _streamed(browser, q=BORN)[0].data["html"]
        frame = re.search(r'data-frame="(/read/[^"#]+)', chips)
        assert frame is not None
        assert httpx2.get(f"{address}{unescape(frame[1])}", trust_env=False, timeout=30).status_code == 401
        assert browser.get(unescape(frame[1])).status_code == 200
        assert browser.get("/api/suggest", params={"q": "sun"}).status_code == 200
        assert "Einstein born?</a>" not in browser.get("/").text
