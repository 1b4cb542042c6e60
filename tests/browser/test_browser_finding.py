"""Searching and reading in a real browser: titles as one types, senses, scores, filters, and marked words."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from tests.browser.conftest import OpenWindow, Served, serving
from tests.browser.hostile_book import arabic_book
from tests.browser.screenshots import texts


def test_titles_are_offered_as_one_types(desk: Served, open_window: OpenWindow) -> None:
    """Arrow keys walk through the titles, Enter opens the page, and Escape closes the list without leaving."""
    window = open_window(desk.address)
    page = window.go("/find")
    box = page.get_by_role("combobox")
    box.press_sequentially("bronze a", delay=20)
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#results")).to_have_attribute("aria-busy", "false")
    assert window.violations() == []
    box.press("Escape")
    expect(options).to_have_count(0)
    assert page.url.split("?")[0].endswith("/find")
    box.press_sequentially("g", delay=20)
    expect(options.first).to_be_visible()
    box.press("ArrowDown")
    chosen = page.locator("[role=option][aria-selected=true]")
    expect(box).to_have_attribute("aria-activedescendant", chosen.get_attribute("id") or "")
    box.press("Enter")
    page.wait_for_url("**/page/**")


def test_results_come_as_one_types(desk: Served, open_window: OpenWindow) -> None:
    """They change with the words, the address says what is shown, and a reload shows it again."""
    window = open_window(desk.address)
    page = window.go("/find")
    page.get_by_role("combobox").press_sequentially("sunset", delay=20)
    first = page.locator(".hits h3 a").first
    expect(first).to_have_text("Sunset")
    page.wait_for_url("**/find?q=sunset")
    page.reload()
    expect(first).to_have_text("Sunset")
    refused = {"content_type": "application/problem+json", "body": '{"detail": "no"}'}
    page.route("**/find/results?*", lambda route: route.fulfill(**refused))
    page.get_by_role("combobox").press_sequentially("s")
    expect(page.locator("#results")).to_contain_text("The search did not arrive.")
    page.reload()
    first.click()
    page.wait_for_url("**/page/**/Sunset")


@pytest.mark.parametrize("script", [True, False])
def test_a_word_of_many_senses(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """Its senses stand on top, and a score tells its terms to who wants to know."""
    window = open_window(desk.address, script=script)
    page = window.go("/find?q=mercury")
    assert len(texts(page.locator(".senses li"))) >= 2
    why = page.locator(".hits details").first
    assert not why.locator("table").is_visible()
    why.locator("summary").click()
    assert why.locator("tbody tr").count() >= 1
    points = [float(text.replace("+", "")) for text in texts(why.locator("tbody td.number"))]
    assert points
    assert f"{sum(points):.1f}"[:-1] in why.locator("summary").inner_text()


def test_results_of_one_book(tmp_path: Path, sample_zim: Path, open_window: OpenWindow) -> None:
    """With several books, one can be chosen; a page written from right to left is shown so."""
    with serving(tmp_path / "home", str(sample_zim), str(arabic_book(tmp_path / "towers.zim"))) as served:
        window = open_window(served.address)
        page = window.go("/find?q=البرج الأخضر")
        page.locator("#book").select_option(label="كتاب الأبراج")
        hit = page.locator(".hits h3").first
        expect(hit).to_have_attribute("dir", "rtl")
        expect(hit).to_have_attribute("lang", "ar")
        page.locator("#book").select_option(label="kiwiresearch sample book")
        expect(page.locator(".hits h3[dir=rtl]")).to_have_count(0)
        page.locator("#book").select_option(label="كتاب الأبراج")
        page.locator(".hits h3[dir=rtl] a").first.click()
        page.wait_for_url("**/page/**")
        assert page.locator("h1").evaluate("one => getComputedStyle(one).direction") == "rtl"
        window.looks_well("right-to-left")
        page = window.go("/")
        assert page.locator("#shelf ~ ul .card h3[dir=rtl]").count() == 1


def test_a_page_with_its_claims_marked(desk: Served, open_window: OpenWindow) -> None:
    """A claim in the list leads to its words in the page, which are marked there; the contents lead to sections."""
    window = open_window(desk.address)
    page = window.go(f"/page/{desk.book()}/Sunset")
    frame = page.frame_locator(".reading-frame iframe")
    expect(frame.locator("h1").first).to_have_text("Sunset")
    claim = page.locator(".reading-claims li a[target=page]").first
    words = claim.inner_text()
    claim.click()
    marked = frame.locator("#mark, mark").first
    expect(marked).to_be_visible()
    assert marked.inner_text().strip()[:20] in " ".join(frame.locator("body").inner_text().split())
    assert words.strip()
    page.locator(".reading-contents a[target=page]").nth(1).click()
    assert page.url.endswith("/Sunset"), "the frame moved, not the desk"


def test_a_link_in_the_page_is_noticed(desk: Served, open_window: OpenWindow) -> None:
    """Who follows one is told where the contents of the new page are, however late our script came."""
    window = open_window(desk.address)

    def late(route: Route) -> None:
        window.page.wait_for_timeout(1_000)
        route.continue_()

    window.page.route("**/js/reading.js", late)
    page = window.go(f"/page/{desk.book()}/Sunset")
    frame = page.frame_locator(".reading-frame iframe")
    hint = page.locator(".reading-moved")
    expect(frame.locator("h1").first).to_have_text("Sunset")
    expect(hint).to_be_hidden()
    frame.get_by_role("link", name="Sunrise").first.click()
    expect(frame.locator("h1").first).to_have_text("Sunrise")
    expect(hint).to_be_visible()


def test_research_begins_at_a_page(desk: Served, open_window: OpenWindow) -> None:
    """From a page, its title is the topic of a new run, ready to begin."""
    window = open_window(desk.address, script=False)
    page = window.go(f"/page/{desk.book()}/Sunset")
    page.locator("a[href^='/research?']").first.click()
    assert page.locator("#topic").input_value() == "Sunset"
