"""Asking in a real browser: sources first, the page beside the answer, questions that go on, and copying."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import OpenWindow, Served, serving
from tests.browser.screenshots import Window, texts

QUESTION = "When was Einstein born?"
ANSWER = "14 March 1879"

NOTE_ORDER = """
window.order = [];
const note = (what) => { if (!window.order.includes(what)) window.order.push(what); };
new MutationObserver(() => {
  if (document.querySelector("#answer .chip")) note("chips");
  if (document.querySelector("#answer .answer-words")?.textContent.trim()) note("words");
}).observe(document, {subtree: true, childList: true, characterData: true});
"""


def asked(window: Window) -> None:
    """Ask on the first page, as somebody does who came for an answer."""
    page = window.go("/")
    page.get_by_role("combobox").fill(QUESTION)
    page.get_by_role("combobox").press("Enter")
    page.wait_for_url("**/ask?**")
    expect(page.locator("#answer strong").first).to_have_text(ANSWER)


def test_an_answer_comes_with_its_sources_first(desk: Served, open_window: OpenWindow) -> None:
    """A question typed on the first page is answered: chips, then words, and nothing on the page jumps."""
    window = open_window(desk.address)
    window.context.add_init_script(NOTE_ORDER)
    asked(window)
    assert window.page.evaluate("window.order") == ["chips", "words"]
    window.assert_accessible("answer-live")


def test_a_chip_opens_the_page_at_the_sentence(desk: Served, open_window: OpenWindow) -> None:
    """The page is beside the answer with its words marked and visible; Escape closes it and returns the focus."""
    window = open_window(desk.address)
    asked(window)
    page = window.page
    chip = page.locator(".chip").first
    chip.focus()
    chip.press("Enter")
    beside = page.locator("#beside")
    expect(beside).to_be_visible()
    marked = page.frame_locator("#beside iframe").locator("mark")
    expect(marked.first).to_be_in_viewport()
    assert "March 1879" in " ".join(texts(marked))
    assert page.locator("#answer").is_visible(), "the answer is still there"
    window.assert_accessible("answer-beside")
    page.keyboard.press("Escape")
    expect(beside).to_be_hidden()
    expect(chip).to_be_focused()


def test_a_chip_on_a_phone(desk: Served, open_window: OpenWindow) -> None:
    """The panel fits a phone, the bar of the page can be scrolled to its end, and the button closes the panel."""
    window = open_window(desk.address, phone=True)
    asked(window)
    page = window.page
    page.locator(".chip").first.click()
    expect(page.locator("#beside")).to_be_visible()
    last = page.frame_locator("#beside iframe").locator(".kiwi-bar a").last
    expect(last).not_to_be_in_viewport(ratio=1)
    last.evaluate("one => { one.parentElement.scrollLeft = 10_000; }")
    expect(last).to_be_in_viewport()
    window.fits()
    window.picture("phone/answer-beside")
    page.locator("#beside-close").click()
    expect(page.locator("#beside")).to_be_hidden()


def test_back_closes_the_page_beside_an_answer(desk: Served, open_window: OpenWindow) -> None:
    """One step back leads from the source to the answer, however it was closed, and the next to the page before."""
    window = open_window(desk.address, phone=True)
    asked(window)
    page = window.page
    beside = page.locator("#beside")
    page.locator(".chip").first.click()
    expect(beside).to_be_visible()
    page.go_back()
    expect(beside).to_be_hidden()
    expect(page.locator("#answer strong").first).to_have_text(ANSWER)
    page.locator(".chip").first.click()
    page.locator("#beside-close").click()
    expect(beside).to_be_hidden()
    page.wait_for_function("!history.state")
    page.go_back()
    page.wait_for_url(f"{desk.address}/")


@pytest.mark.parametrize("script", [True, False])
def test_a_question_goes_on_from_the_last(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """A follow-up knows of whom it speaks, with script and without, and the earlier question stays in sight."""
    window = open_window(desk.address, script=script)
    page = window.go(f"/ask?q={quote(QUESTION)}")
    page.locator("#follow").fill("And where?")
    page.locator("#follow").press("Enter")
    page.wait_for_url("**where**")
    expect(page.locator("#answer")).to_contain_text("Ulm")
    assert QUESTION in page.locator(".before").inner_text()
    page.reload()
    expect(page.locator("#answer")).to_contain_text("Ulm")


def test_an_answer_is_copied_with_its_sources(desk: Served, open_window: OpenWindow) -> None:
    """The button copies the answer and its numbered sources as plain text."""
    window = open_window(desk.address)
    window.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=desk.address)
    page = window.go(f"/ask?q={quote(QUESTION)}")
    page.locator("[data-copy]").click()
    expect(page.locator("[data-copy]")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert ANSWER in copied
    assert "[1]" in copied
    assert "Albert Einstein" in copied
    page.reload()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.locator("[data-copy]").click()
    expect(page.locator("#copy")).to_be_visible()
    assert page.evaluate("getSelection().toString()") == page.locator("#copy").input_value(), "where it is not allowed"


def test_the_first_page_remembers_and_forgets(new_home: Path, open_window: OpenWindow) -> None:
    """A question is found again on the first page, until somebody has it forgotten."""
    with serving(new_home) as served:
        window = open_window(served.address)
        window.go(f"/ask?q={quote(QUESTION)}")
        page = window.go("/")
        expect(page.get_by_role("link", name=QUESTION)).to_be_visible()
        page.locator("form[action='/questions/forget'] button").click()
        expect(page.get_by_role("link", name=QUESTION)).to_have_count(0)


@pytest.mark.parametrize("phone", [False, True])
def test_recent_questions_are_asked_again(new_home: Path, open_window: OpenWindow, phone: bool) -> None:
    """By keyboard, from the page to ask and from an answer; there they are deleted as well, with undo."""
    other = "Why is the sky orange at sunset?"
    with serving(new_home) as served:
        window = open_window(served.address, phone=phone)
        for question in (other, QUESTION):
            window.go(f"/ask?q={quote(question)}")
        page = window.page
        recent = page.locator(".recent-questions")
        expect(recent.get_by_role("link")).to_have_text([other])
        window.assert_accessible(f"{'phone' if phone else 'wide'}/recent-questions")
        recent.get_by_role("link", name=other).press("Enter")
        expect(page.locator("h1")).to_have_text(other)
        expect(recent.get_by_role("link")).to_have_text([QUESTION])
        page = window.go("/ask")
        recent.get_by_role("button", name=f"Delete {QUESTION}").press("Enter")
        expect(recent.get_by_role("link")).to_have_text([other])
        window.assert_accessible(f"{'phone' if phone else 'wide'}/question-deleted")
        page.get_by_role("button", name="Undo").press("Enter")
        expect(recent.get_by_role("link")).to_have_count(2)
        assert page.url.endswith("/ask")


def test_a_real_book(schools: Served, open_window: OpenWindow) -> None:
    """On a book of thousands of pages, the desk answers, searches and reads as it does on the sample."""
    window = open_window(schools.address, phone=True)
    page = window.go("/")
    window.assert_accessible("phone/home-schools")
    page = window.go(f"/ask?q={quote('When was Isaac Newton born?')}")
    expect(page.locator(".chip").first).to_be_visible()
    page = window.go("/find?q=volcano")
    page.locator(".hits h3 a").first.click()
    expect(page.locator(".article p").first).to_be_visible()
    window.fits()
