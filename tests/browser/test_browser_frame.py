"""The frame of every page in a real browser: the search box, keyboard shortcuts, and a server that is gone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import OpenWindow, Served


@pytest.mark.parametrize("phone", [False, True])
def test_the_box_of_every_page_suggests_and_opens(desk: Served, open_window: OpenWindow, phone: bool) -> None:
    """From any page, by keyboard alone: '/' moves to the box, arrow keys choose, Enter opens the page."""
    window = open_window(desk.address, phone=phone)
    page = window.go("/research")
    page.locator("h1").click()
    page.keyboard.press("/")
    box = page.locator("#top-search")
    expect(box).to_be_focused()
    box.press_sequentially("sunse", delay=20)
    expect(page.get_by_role("option").first).to_have_text("Sunset", use_inner_text=True)
    assert window.violations() == []
    box.press("ArrowDown")
    box.press("Enter")
    page.wait_for_url("**/page/**/Sunset")


@pytest.mark.parametrize("script", [True, False])
def test_the_theme_is_one_press_away(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """A wide header has all three themes; with a script, what was typed stays, and the choice is kept."""
    window = open_window(desk.address, script=script)
    page = window.go("/research")
    page.locator("#topic").fill("Tin")
    switch = page.locator(".theme-switch")
    for theme, scheme in (("Dark", "dark"), ("Light", "light"), ("System", "light dark")):
        with page.expect_response("**/theme"):
            switch.get_by_role("button", name=f"Theme: {theme}").press("Enter")
        expect(page.locator(".theme-switch [aria-current]")).to_have_attribute("title", f"Theme: {theme}")
        expect(page.locator("meta[name=color-scheme]")).to_have_attribute("content", scheme)
        page.wait_for_load_state()
        assert page.locator("#topic").input_value() == ("Tin" if script else "")
    with page.expect_response("**/theme"):
        switch.get_by_role("button", name="Theme: Dark").press("Enter")
    expect(page.locator("footer [name=theme][aria-current]")).to_have_text("Dark")
    page = window.go("/books")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    if script:
        window.assert_accessible("theme-dark")


@pytest.mark.parametrize("script", [True, False])
def test_a_narrow_header_has_the_next_theme(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """One button: the opposite of what is shown, and from dark back to the theme of the system."""
    window = open_window(desk.address, phone=True, script=script)
    page = window.go("/ask")
    button = page.locator(".theme-switch button:visible")
    for name in ("Theme: Dark", "Theme: System", "Theme: Dark"):
        expect(button).to_have_attribute("title", name)
        button.press("Enter")
    expect(button).to_have_attribute("title", "Theme: System")
    if script:
        window.assert_accessible("phone/theme-dark")
    page = open_window(desk.address, phone=True, dark=True).go("/ask")
    expect(page.locator(".theme-switch button:visible")).to_have_attribute("title", "Theme: Light")


def test_words_of_the_box_lead_somewhere_without_a_script(desk: Served, open_window: OpenWindow) -> None:
    """Enter sends the form: a question leads to its answer."""
    page = open_window(desk.address, script=False).go("/family")
    page.locator("#top-search").fill("When was Albert Einstein born?")
    page.locator("#top-search").press("Enter")
    page.wait_for_url("**/ask?*")


def test_shortcuts_can_be_seen_used_and_turned_off(desk: Served, open_window: OpenWindow) -> None:
    """'?' shows them, 'g' and a letter goes to a page, no key acts while somebody types, and one box ends them all."""
    window = open_window(desk.address)
    page = window.go("/ask")
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("Keyboard shortcuts")
    assert window.violations() == []
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    page.locator("#question").press_sequentially("gh?/")
    expect(page.locator("#question")).to_have_value("gh?/")
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.press("s")
    page.wait_for_url("**/find")
    page = window.go("/shortcuts")
    page.get_by_role("checkbox").uncheck()
    page.locator("h1").click()
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_timeout(200)
    expect(sheet).to_have_count(0)
    assert page.url.endswith("/shortcuts")


def test_a_server_that_is_gone_is_explained(desk: Served, open_window: OpenWindow) -> None:
    """The service worker answers with a page of its own, in the look of the desk."""
    window = open_window(desk.address)
    window.rough = True
    page = window.go("/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    window.context.set_offline(True)
    page.goto("/research")
    expect(page.locator("h1")).to_have_text("The server is not responding")
    expect(page.locator("header.top")).to_be_visible()
    window.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.locator("h1")).to_have_text("What would you like to know?")


@pytest.mark.parametrize("script", [True, False])
def test_on_a_phone_one_button_opens_the_menu(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """Every place can be reached without scrolling sideways, also without a script."""
    window = open_window(desk.address, phone=True, script=script)
    page = window.go("/")
    menu = page.locator(".narrow-menu")
    expect(menu.get_by_role("link", name="Titles A–Z")).to_be_hidden()
    menu.locator("summary").click()
    for name in ("Home", "Ask", "Research", "Search", "Family", "Books", "On this day"):
        expect(menu.get_by_role("link", name=name, exact=True)).to_be_visible()
    window.fits()
    if script:
        assert window.violations() == []
    menu.get_by_role("link", name="Titles A–Z").click()
    page.wait_for_url("**/browse/titles")


@pytest.mark.parametrize("phone", [False, True])
@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_the_header_stays_where_it_is(desk: Served, open_window: OpenWindow, phone: bool, language: str) -> None:
    """On every page it has the same height, and the name the same place."""
    window = open_window(desk.address, phone=phone, language=language)
    places = []
    for path in ("/", "/ask", "/find", "/books", f"/page/{desk.book()}/Sunset"):
        page = window.go(path)
        header, name = page.locator("header.top").bounding_box(), page.locator(".top .name img").bounding_box()
        assert header is not None
        assert name is not None
        places.append((header["height"], name["x"], name["y"]))
    assert len(set(places)) == 1, places


def test_links_from_other_sites_and_from_books_open_pages(desk: Served, open_window: OpenWindow) -> None:
    """With the service worker in place, a link from a sandboxed page of a book still opens a page, not an error."""
    window = open_window(desk.address)
    page = window.go("/")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page = window.go("/research")
    assert page.evaluate("navigator.serviceWorker.controller !== null")
    page.evaluate(
        """() => {
            const frame = document.createElement("iframe");
            frame.setAttribute("sandbox", "allow-top-navigation-by-user-activation");
            frame.srcdoc = '<a href="/books" target="_top">Books</a>';
            document.body.append(frame);
        }"""
    )
    page.frame_locator("iframe").last.get_by_role("link", name="Books").click()
    page.wait_for_url("**/books")
    expect(page.locator("h1")).to_have_text("Books")
