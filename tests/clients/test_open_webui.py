"""Open WebUI uses a server of ours as its model and as its search."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from tests.browser.chromium import Chromium
from tests.clients.conftest import Server
from tests.clients.open_webui import ANSWER_S, OpenWebUI

pytestmark = pytest.mark.clients

SUNSET = "Why is the sky orange at sunset?"
SCATTERED = "most of its blue light has been scattered out of the beam"
BACH, HIS_DEATH = "Who was Johann Sebastian Bach?", "And when did he die?"
PICTURE = os.environ.get("CLIENTS_PICTURE", "")
"""Where to keep a picture of a conversation, for the guide."""


def text_of(events: list[dict[str, Any]]) -> str:
    return "".join(choice["delta"].get("content") or "" for event in events for choice in event.get("choices", ()))


def test_it_lists_our_models(open_webui: OpenWebUI) -> None:
    """Every way to ask is a model that its user can choose."""
    assert open_webui.models() == {
        "kiwiresearch", "kiwiresearch-eli10", "kiwiresearch-advanced", "kiwiresearch-quiz", "kiwiresearch-books",
    }  # fmt: skip


def test_an_answer_streams_with_its_sources(open_webui: OpenWebUI, token_server: Server) -> None:
    """What it passes on to its page has our sources, with their quotes and links, before our words."""
    events = open_webui.chat(("user", SUNSET))
    sources = [event["event"]["data"] for event in events if event.get("event", {}).get("type") == "source"]
    assert SCATTERED in text_of(events)
    assert SCATTERED in sources[0]["document"][0]
    assert sources[0]["source"]["url"].startswith(f"{token_server.address}/read/")
    first_words = next(place for place, event in enumerate(events) if text_of([event]))
    assert all("event" not in event for event in events[first_words:])


def test_a_follow_up_is_understood(open_webui: OpenWebUI) -> None:
    """The conversation that it sends tells us whom a question is about."""
    first = text_of(open_webui.chat(("user", BACH)))
    answer = text_of(open_webui.chat(("user", BACH), ("assistant", first), ("user", HIS_DEATH)))
    assert answer.startswith("**28 July 1750 (aged 65)**")


def test_its_external_search_finds_pages(open_webui: OpenWebUI, token_server: Server) -> None:
    """With the token as its key, the search finds pages and what they say."""
    open_webui.search_with(WEB_SEARCH_ENGINE="external")
    first, *_ = open_webui.search("bronze age")
    assert first["title"] == "Bronze Age"
    assert first["link"].startswith(f"{token_server.address}/read/")
    assert "weapons and tools" in first["snippet"]


def test_its_search_for_searxng_finds_pages(open_webui: OpenWebUI, open_server: Server) -> None:
    """A server without a token can be searched as SearXNG."""
    open_webui.search_with(WEB_SEARCH_ENGINE="searxng", SEARXNG_QUERY_URL=f"{open_server.address}/search")
    first, *_ = open_webui.search("bronze age")
    assert first["title"] == "Bronze Age"
    assert first["link"].startswith(f"{open_server.address}/read/")


def test_people_read_answers_and_their_sources(open_webui: OpenWebUI, chromium: Chromium) -> None:
    """Asked on its own page, it shows answers with their sources as its own; a source has our quote and its link."""
    with chromium.at_work() as browser, browser.new_page(viewport={"width": 1100, "height": 760}) as page:
        page.set_default_timeout(ANSWER_S * 1_000)
        page.goto(f"{open_webui.address}/?models=kiwiresearch")
        news = page.get_by_role("dialog")
        news.wait_for()
        page.keyboard.press("Escape")
        news.wait_for(state="hidden")
        ask(page, BACH)
        page.get_by_text("From kiwiresearch sample book").first.wait_for()
        ask(page, HIS_DEATH)
        page.get_by_text("28 July 1750 (aged 65)", exact=True).first.wait_for()
        page.get_by_text("From kiwiresearch sample book").nth(1).wait_for()
        page.get_by_role("button", name="Sources").last.wait_for()
        page.get_by_text("[O.S. 21 March]").last.wait_for()
        assert page.locator(".katex").count() == 0, "words of a book were shown as a formula"
        if PICTURE:
            Path(PICTURE).write_bytes(page.screenshot())


def ask(page: Page, question: str) -> None:
    """Type a question and send it."""
    page.locator("#chat-input").click()
    page.keyboard.type(question)
    page.keyboard.press("Enter")
