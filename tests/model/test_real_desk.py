"""An answer of a real model, as somebody sees it come in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.chromium import Chromium
from tests.browser.conftest import serving
from tests.browser.screenshots import Way, Window

pytestmark = pytest.mark.model

QUESTION = "When was Einstein born?"
A_WHILE_MS = 600_000
"""A small model on a busy machine takes minutes; that is what is looked at here."""

BRIEFLY = {
    "KIWIRESEARCH_ASK_PASSAGES": "1",
    "KIWIRESEARCH_ASK_CONTEXT_TOKENS": "900",
    "KIWIRESEARCH_ASK_MAX_NEW_TOKENS": "64",
}
SEEN = """
window.seen = [];
const note = (what) => { if (!window.seen.includes(what)) window.seen.push(what); };
new MutationObserver(() => {
  const words = document.getElementById("words");
  if (document.querySelector("#answer .chip")) note("chips");
  if (document.getElementById("waiting")?.textContent.includes("The model is wording")) note("that it takes a while");
  if (words?.firstElementChild) note("own words");
  else if (words?.textContent.trim()) note("words of the model");
  if (document.querySelector("#answer .follow")) note("whole");
}).observe(document, {subtree: true, childList: true, characterData: true});
"""

SEEN_IN_TURN = ["chips", "that it takes a while", "own words", "words of the model", "whole"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    """The browser."""
    browser = Chromium()
    yield browser
    browser.close()


def test_a_real_model_s_answer_streams_into_the_page(real_model: str, tmp_path: Path, chromium: Chromium) -> None:
    """Chips first, the books' own words while the model is at work, then its words, then the whole, checked."""
    with (
        serving(tmp_path, KIWIRESEARCH_MODEL_URL=real_model, **BRIEFLY) as served,
        chromium.at_work() as browser,
    ):
        way = Way()
        window = Window(browser.new_context(**way.options(served.address)), served.address, way)
        window.context.add_init_script(SEEN)
        page = window.go("/")
        expect(page.locator(".state")).to_contain_text("answers")
        page.get_by_role("combobox").fill(QUESTION)
        page.get_by_role("combobox").press("Enter")
        expect(page.locator(".chip").first).to_be_visible(timeout=A_WHILE_MS)
        window.picture("answer-by-model-coming")
        expect(page.locator("#answer")).to_have_attribute("aria-busy", "false", timeout=A_WHILE_MS)
        assert page.evaluate("window.seen") == SEEN_IN_TURN
        expect(page.locator("#answer .answer-words")).to_contain_text("1879")
        expect(page.locator("#answer .answer-words .mark").first).to_be_visible()
        expect(page.locator("#waiting")).to_have_count(0)
        expect(page.locator("#follow")).to_be_visible()
        window.picture("answer-by-model")
        window.close()
