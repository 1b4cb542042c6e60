"""An owner who manages the server in a real browser: books, settings, trash and theme."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import ViewportSize, expect
from tests.browser.conftest import OpenWindow
from tests.browser.keyboard import tabbed, usable
from tests.conftest import BookMaker
from tests.web.desk.owner_servers import OwnerServer, owner_server

SWAN = {"Swan": "<p>A swan is a large water bird with a long neck.</p>"}
PHONE: ViewportSize = {"width": 390, "height": 844}


@pytest.fixture
def owned(new_home: Path) -> Iterator[OwnerServer]:
    """The server of somebody who has the sample book and no other yet."""
    with owner_server(new_home) as made:
        made.browser.get("/books", timeout=120)  # opens the book, which takes a while on a busy machine
        yield made


@pytest.fixture
def swan(a_book: BookMaker) -> Path:
    return a_book(SWAN, name="swan.zim", Name="swan", Title="All about swans", main_path="Swan")


def test_a_book_is_uploaded_removed_and_put_back(
    owned: OwnerServer, open_window: OpenWindow, swan: Path, tmp_path: Path
) -> None:
    """A wrong file is refused on the same page; the right one shows its progress and is there; Undo brings it back."""
    window = open_window(owned.address)
    page = window.go("/books")
    wrong = tmp_path / "letter.zim"
    wrong.write_bytes(b"Dear reader")
    page.locator("#book-file").set_input_files(wrong)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This is not a ZIM file")
    window.faults.clear()  # the browser notes the status of the refusal
    page.locator("#book-file").set_input_files(swan)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_role("status").filter(has_text="“All about swans” was added")).to_be_visible()
    expect(page.get_by_role("link", name="All about swans", exact=True)).to_be_visible()
    assert window.violations() == []
    page.get_by_role("button", name="Remove from library").click()
    expect(page.get_by_text("was removed from your library")).to_be_visible()
    page.set_viewport_size(PHONE)
    window.fits()
    assert window.violations() == []
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("link", name="All about swans", exact=True)).to_be_visible()
    page.locator(".book-details > summary").first.click()
    page.get_by_role("button", name="Check integrity").click()
    expect(page.get_by_text("The check is complete.")).to_be_visible()


def test_books_are_managed_without_script_and_by_keyboard(
    owned: OwnerServer, open_window: OpenWindow, swan: Path
) -> None:
    """The plain form uploads as well, on a phone; the tab key reaches every button."""
    window = open_window(owned.address, script=False)
    page = window.page
    page.set_viewport_size(PHONE)
    window.go("/books")
    page.locator("#book-file").set_input_files(swan)
    page.get_by_role("button", name="Upload", exact=True).click()
    expect(page.get_by_text("“All about swans” was added")).to_be_visible()
    window.fits()
    scripted = open_window(owned.address)
    shown = scripted.go("/books")
    reached = list(tabbed(shown, 200))
    assert [one for one in reached if not one["seen"] or not one["ring"]] == []
    assert set(usable(shown)) <= {one["place"] for one in reached}


def test_settings_are_changed_and_wrong_ones_explained(owned: OwnerServer, open_window: OpenWindow) -> None:
    window = open_window(owned.address, script=False)
    page = window.page
    page.set_viewport_size(PHONE)
    window.go("/settings")
    window.fits()
    page.get_by_label("Maximum number of pages").fill("33")
    page.get_by_role("button", name="Save Research and search").click()
    expect(page.get_by_text("Saved.", exact=True)).to_be_visible()
    expect(page.get_by_label("Maximum number of pages")).to_have_value("33")
    window.rough = True
    page.get_by_label("Maximum number of pages").fill("none")
    page.get_by_role("button", name="Save Research and search").click()
    expect(page.get_by_text("Enter a number.")).to_be_visible()
    expect(page.get_by_label("Maximum number of pages")).to_have_value("none")


def test_a_theme_is_chosen_against_the_system(owned: OwnerServer, open_window: OpenWindow) -> None:
    """Dark on a light system and light on a dark one, without script, with enough contrast."""
    paper = "getComputedStyle(document.body).backgroundColor"
    seen = {}
    for dark in (False, True):
        window = open_window(owned.address, dark=dark)
        page = window.go("/books")
        by_system = page.evaluate(paper)
        page.get_by_role("button", name="Light" if dark else "Dark", exact=True).click()
        page.wait_for_load_state()
        assert page.evaluate("location.pathname") == "/books"
        seen[dark] = (by_system, page.evaluate(paper))
        assert window.violations("color-contrast") == []
    assert seen[False] == tuple(reversed(seen[True]))
    assert seen[False][0] != seen[False][1]
