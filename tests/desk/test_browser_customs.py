"""Languages, paper and the token in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.desk.conftest import OpenWindow, Served
from tests.web.family_server import Families

from kiwiresearch.messages.catalogue import LANGUAGES, catalogue_in

TOKEN = "long-and-secret"


@pytest.mark.parametrize("script", [True, False])
def test_a_language_is_chosen_on_any_page(desk: Served, open_window: OpenWindow, script: bool) -> None:
    """The button below a page leads back to that page in the language chosen, and so do all pages from then on."""
    window = open_window(desk.address, script=script, phone=True)
    page = window.go("/find?q=mercury")
    for language, name in (*LANGUAGES.items(), ("en", LANGUAGES["en"])):
        page.get_by_role("button", name=name).click()
        expect(page.locator("html")).to_have_attribute("lang", language)
        assert page.url.endswith("/find?q=mercury")
        assert page.locator("h1").inner_text() == catalogue_in(language)("find.title")
        menu = [entry.bounding_box() for entry in page.locator("header.top nav a").all()]
        assert len({round(box["y"]) for box in menu if box}) == 1, "on a phone, the menu is one line in every language"
    page.get_by_role("button", name="Français").click()
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    assert window.go("/").locator("html").get_attribute("lang") == "fr"


def test_a_brief_on_paper(desk: Served, run: str, open_window: OpenWindow) -> None:
    """Paper has the brief and its bibliography, and nothing to click on."""
    window = open_window(desk.address)
    page = window.go(f"/runs/{run}")
    page.emulate_media(media="print")
    for part in ("header.top", "footer.bottom", "nav.contents", "ul.tabs"):
        assert not page.locator(part).first.is_visible(), part
    assert page.locator("h1").is_visible()
    assert page.locator("details.statement summary").first.is_visible()
    assert page.locator(".running > span").first.is_visible()
    assert page.locator(".proof > summary").first.is_visible(), "its citation, too"
    page.locator(".proof").first.evaluate("one => one.open = true")
    assert not page.locator(".proof .evidence").first.is_visible()
    assert page.locator("#bibliography").is_visible()
    assert page.locator(".statement summary .tag").first.is_visible(), "what is unusual is marked on paper too"
    assert page.locator(".brief > .hint", has_text="without a mark").is_visible()
    window.picture("paper/brief", whole=True)
    claims = window.go(f"/runs/{run}/claims")
    assert claims.locator("tbody tr").first.is_visible()
    assert not claims.locator("a.whole").first.is_visible()


@pytest.fixture(scope="module")
def locked(family_room: Families) -> Iterator[Served]:
    """A desk that asks for a token."""
    with family_room.served(token=TOKEN) as client:
        yield Served(str(client.base_url).rstrip("/"), client)


@pytest.mark.parametrize("script", [True, False])
def test_a_token_opens_the_desk(locked: Served, owned_family: Served, open_window: OpenWindow, script: bool) -> None:
    """Who has no token is asked for it, a wrong one is told so, and the right one leads to the page asked for.

    From then on, pages of books come into their frames too.
    """
    window = open_window(locked.address, script=script)
    window.rough = True
    page = window.go("/find?q=tower")
    field = page.locator("input[name=token]")
    field.fill("wrong-and-long")
    field.press("Enter")
    expect(page.locator("[role=alert], .problem").first).to_be_visible()
    if script:
        window.looks_well("login")
    field.fill(TOKEN)
    field.press("Enter")
    page.wait_for_url("**/find?q=tower")
    assert page.locator("#q").input_value() == "tower"
    page = window.go(f"/page/{owned_family.book()}/Ann_Pell")
    expect(page.frame_locator(".reading-frame iframe").locator("h1").first).to_have_text("Ann Pell")
    assert window.outside == []
