"""An owner who creates the atlas of a book in a real browser, and what readers can then explore."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from tests.atlas.atlas_book import HTML, METADATA
from tests.browser.conftest import OpenWindow
from tests.web.desk.owner_servers import OwnerServer, owner_server

from kiwiresearch.zim.book_writer import NewPage, write_book

PHONE: ViewportSize = {"width": 390, "height": 844}
BUILD_MS = 300_000
"""A busy machine with two cores may take a minute."""


@pytest.fixture
def owned(tmp_path: Path) -> Iterator[OwnerServer]:
    """The server of somebody who has one book."""
    singer = b"<p><b>Eve Lark</b> (born 4 May 1991) is an English singer.</p>"  # three of a kind are a subject
    pages = [NewPage(path, path.replace("_", " "), html) for path, html in (HTML | {"Eve_Lark": singer}).items()]
    write_book(tmp_path / "elm.zim", pages, metadata=METADATA)
    with owner_server(tmp_path / "home", tmp_path / "elm.zim") as made:
        yield made


def explore(page: Page, name: str) -> None:
    page.locator(".top summary:visible").first.click()
    page.get_by_role("navigation").get_by_role("link", name=name, exact=True).first.click()


def test_an_atlas_is_created_and_explored(owned: OwnerServer, open_window: OpenWindow) -> None:
    """Create, watch, then contradictions, timeline, day, subjects and titles: at a desk, in the dark, on a phone."""
    window = open_window(owned.address)
    page = window.go("/on-this-day")
    expect(page.get_by_role("heading", name="This needs an analysis of the whole book")).to_be_visible()
    assert window.violations() == []
    page.get_by_role("button", name="Analyse the whole book").click()
    expect(page.get_by_role("button", name="Stop analysis")).to_be_visible()
    expect(page.get_by_text(re.compile("Waiting to analyse the book|Analysing the book"))).to_be_visible()
    expect(page.get_by_text("The analysis is ready.")).to_be_visible(timeout=BUILD_MS)
    assert window.violations() == []
    explore_of = page.get_by_role("navigation", name="Explore")
    expect(explore_of.get_by_role("link", name="Contradictions")).to_be_visible()

    page = window.go("/")
    explore(page, "Contradictions")
    expect(page.locator("main").get_by_role("status")).to_contain_text("pair")
    explore(page, "Full timeline")
    expect(page.locator(".moments li").first).to_be_visible()
    page = window.go("/on-this-day?month=6&day=9")
    expect(page.locator(".day-events")).to_contain_text("Ada Rowe")
    page.get_by_role("link", name="8 June").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("On this day: 8 June")

    dark = open_window(owned.address, phone=True, dark=True)
    for place in ("/browse/titles?from=e", "/on-this-day?month=6&day=9", "/books"):
        dark.go(place)
        dark.fits()
        assert dark.violations() == [], place
    phone = dark.go("/browse")
    phone.locator(".top summary:visible").click()
    expect(phone.get_by_role("link", name="On this day", exact=True)).to_be_visible()
    dark.fits()
    assert dark.violations() == []
    phone.keyboard.press("Escape")
    expect(phone.get_by_role("link", name="On this day", exact=True)).to_be_hidden()
    phone.get_by_role("link", name="singer", exact=True).click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Singer")

    plain = open_window(owned.address, script=False)
    page = plain.page
    page.set_viewport_size(PHONE)
    plain.go("/")
    explore(page, "Titles A–Z")
    page.get_by_role("navigation", name="First letter").get_by_role("link", name="E", exact=True).click()
    page.get_by_role("link", name="Elmland", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Elmland")
