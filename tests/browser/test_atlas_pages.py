"""The pages of the atlas as everybody meets them: at a desk, on a phone, without script, in every language."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.atlas.atlas_book import write_elm, write_elm_shards
from tests.browser.conftest import OpenWindow, Served, serving

PLACES = {
    "list": "/atlas",
    "overview": "/atlas/{book}",
    "contradictions": "/atlas/{book}/contradictions",
    "timeline": "/atlas/{book}/timeline",
    "ranks": "/atlas/{book}/ranks",
    "orphans": "/atlas/{book}/regions",
    "stubs": "/atlas/{book}/regions?of=stubs",
    "families": "/atlas/{book}/kin",
    "relatives": "/atlas/{book}/kin?person=Ben_Rowe",
    "relation": "/atlas/{book}/kin?person=Ben_Rowe&other=Tom_Rowe",
    "nobody": "/atlas/{book}/kin?person=Nobody",
}


@pytest.fixture(scope="module")
def atlas_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The desk of somebody who has the atlas of a small book, all of it worked out."""
    folder = tmp_path_factory.mktemp("atlas")
    file = write_elm(folder)
    shards: Path = write_elm_shards(file, folder / "shards")
    with serving(folder / "home", str(file), KIWIRESEARCH_ATLAS=str(shards)) as served:
        for part in ("ranks", "contradictions", "families"):
            address = f"/api/atlas/{served.book()}/{part}"
            for _ in range(60):
                response = served.client.get(address)
                if response.status_code != 503:  # being computed
                    break
                time.sleep(0.5)
            assert response.status_code == 200
        yield served


@pytest.mark.parametrize("name", PLACES)
def test_every_page_of_the_atlas_can_be_used_by_everybody(
    atlas_desk: Served, same_window: OpenWindow, name: str
) -> None:
    """On a phone each page fits, does not move while it loads, and breaks no rule of accessibility."""
    window = same_window(atlas_desk.address, phone=True)
    window.go(PLACES[name].format(book=atlas_desk.book()))
    window.assert_accessible(f"atlas-{name}-phone")


@pytest.mark.parametrize("name", ["contradictions", "ranks"])
def test_the_atlas_looks_well_in_the_dark_and_at_a_desk(atlas_desk: Served, same_window: OpenWindow, name: str) -> None:
    """Colours have enough contrast in the dark too."""
    window = same_window(atlas_desk.address, dark=True)
    window.go(PLACES[name].format(book=atlas_desk.book()))
    window.assert_accessible(f"atlas-{name}-dark")


def test_the_atlas_needs_no_script(atlas_desk: Served, open_window: OpenWindow) -> None:
    """A reader without script goes from the menu to a contradiction, and from there to the words in their page."""
    window = open_window(atlas_desk.address, script=False)
    page = window.go("/")
    page.locator("main").get_by_role("link", name="Overview of a book").click()
    page.get_by_role("link", name="Book of Elm").click()
    page.get_by_role("link", name="Contradictions", exact=True).click()
    page.get_by_label("Values").select_option("a number")
    page.get_by_role("button", name="Filter").click()
    assert page.get_by_role("status").inner_text() == "3 pairs"
    page.locator(".sides a").first.click()
    assert "/page/" in page.url
