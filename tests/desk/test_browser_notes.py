"""Notes in a real browser: kept beside the run, never lost, and text whatever is written."""

from __future__ import annotations

from playwright.sync_api import Locator, expect
from tests.desk.conftest import OpenWindow, Served


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
    window.looks_well("claim-with-note")
    page.reload()
    expect(note).to_contain_text(reason)
    note.locator("form[action$='/remove'] button").click()
    expect(note).to_have_count(0)
    unfold(page.locator("details:has(form[action$='/restore'])"))
    page.locator("form[action$='/restore'] button").click()
    expect(note).to_contain_text(reason)
    page = window.go(f"/runs/{second_run}/notes")
    expect(page.locator("ul.note-list")).to_contain_text(reason)


def test_a_note_is_not_lost_when_the_server_is_away(desk: Served, second_run: str, open_window: OpenWindow) -> None:
    """What was typed stays in its field, and a message says what to do."""
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


def test_a_note_without_script(desk: Served, run: str, open_window: OpenWindow) -> None:
    """The form leads back to where it stands, with the note there."""
    window = open_window(desk.address, script=False)
    page = window.go(f"/runs/{run}/notes")
    form = page.locator("details.note-new")
    unfold(form)
    form.locator("input[value=correct]").check()
    form.locator("textarea[name=correction]").fill("It began in 1200 BC.")
    form.locator("textarea[name=reason]").fill("The page says so.")
    form.locator("button").click()
    expect(page.locator("ul.note-list ins").first).to_have_text("It began in 1200 BC.")
