"""Notes in a real browser: kept beside the run, never lost, and text whatever is written."""

from __future__ import annotations

from playwright.sync_api import Locator, expect
from tests.browser.conftest import OpenWindow, Served


def unfold(details: Locator) -> None:
    """Open what may be open already."""
    if details.get_attribute("open") is None:
        details.locator("summary").first.click()


def test_a_note_is_kept_changed_and_taken_back(desk: Served, second_run: str, open_window: OpenWindow) -> None:
    """Written on a claim without leaving it, a note outlives reloads, and one that was removed can be restored."""
    window = open_window(desk.address)
    page = window.go(f"/runs/{second_run}/claims")
    page.locator("a.whole").first.click()
    reason = "The <b>source</b> is old."
    page.locator("details.note-new summary").click()
    page.locator("details.note-new input[value=doubt]").check()
    page.locator("details.note-new textarea[name=reason]").fill(reason)
    page.reload()
    expect(page.locator("details.note-new textarea[name=reason]")).to_have_value(reason)
    page.locator("details.note-new button").click()
    note = page.locator("ul.note-list > li.card")
    expect(note).to_contain_text(reason)
    assert note.locator("b").count() == 0, "markup in a note is text"
    window.assert_accessible("claim-with-note")
    page.reload()
    expect(note).to_contain_text(reason)
    note.locator("form[action$='/remove'] button").click()
    expect(note).to_have_count(0)
    unfold(page.locator("details:has(form[action$='/restore'])"))
    page.locator("form[action$='/restore'] button").click()
    expect(note).to_contain_text(reason)
    page = window.go(f"/runs/{second_run}/notes")
    expect(page.locator("ul.note-list")).to_contain_text(reason)


def test_a_note_is_not_lost(desk: Served, second_run: str, open_window: OpenWindow) -> None:
    """What was typed stays in its field when the server is away, and no window writes over another's words unseen."""
    window = open_window(desk.address)
    window.rough = True
    page = window.go(f"/runs/{second_run}/notes")
    form = page.locator("details.note-new")
    unfold(form)
    form.locator("input[value=agree]").check()
    form.locator("textarea[name=reason]").fill("Agreed.")
    window.context.set_offline(True)
    form.locator("button").click()
    expect(form.locator("[data-message]")).to_be_visible()
    expect(form.locator("textarea[name=reason]")).to_have_value("Agreed.")
    window.context.set_offline(False)
    form.locator("button").click()
    expect(page.locator("ul.note-list")).to_contain_text("Agreed.")
    other = window.context.new_page()
    other.goto(page.url)
    for place, words in ((other, "Changed elsewhere."), (page, "Changed here.")):
        note = place.locator("ul.note-list > li.card").first
        note.locator("summary").click()
        note.locator("textarea[name=reason]").fill(words)
        note.locator("form.note-form button").click()
        expect(place.locator("main .card").first).to_contain_text("Changed elsewhere.")
    expect(page.locator("textarea[name=reason]")).to_have_value("Changed here.")
    page.locator("form.note-form button").click()
    expect(page.locator("ul.note-list")).to_contain_text("Changed here.")
    page.wait_for_function("!Object.keys(localStorage).some((name) => name.startsWith('kiwiresearch note '))")
    address = other.url
    other.route("**/*", lambda way: way.abort() if way.request.is_navigation_request() else way.fallback())
    note = other.locator("ul.note-list > li.card").first
    unfold(note.locator("details"))
    note.locator("textarea[name=reason]").fill("Lost on the way.")
    with other.expect_event("requestfailed"):
        note.locator("form.note-form button").click()
    other.unroute_all()
    other.goto(address)
    expect(note.locator("textarea[name=reason]")).to_have_value("Lost on the way.")
