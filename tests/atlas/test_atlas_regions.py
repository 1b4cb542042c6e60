"""The edges of a book: orphans, islands, groups of stubs, and pages that are wanted."""

from __future__ import annotations

from kiwiresearch.atlas.atlas import Atlas
from kiwiresearch.atlas.database import ResultWindow
from kiwiresearch.atlas.queries import edge_pages


def test_orphans_are_pages_that_nobody_links_to(elm_atlas: Atlas) -> None:
    """The longest comes first; a page that is linked to is none."""
    assert [row["title"] for row in edge_pages(elm_atlas, "orphans", ResultWindow()).rows] == ["Alone", "Moths"]


def test_islands_are_cut_off_together(elm_atlas: Atlas) -> None:
    """Two pages that only link to each other are an island, and the mainland is none."""
    found = edge_pages(elm_atlas, "islands", ResultWindow())
    named = [[page["title"] for page in row["named"]] for row in found.rows]
    assert sorted(named) == [["Cy Finch", "Dan Finch"], ["North Isle", "South Isle"]]
    assert found.total == 2


def test_a_region_of_stubs_is_around_a_page(elm_atlas: Atlas) -> None:
    """Thin pages that link to each other are one region, with the page outside that leads to most of them."""
    (region,) = edge_pages(elm_atlas, "stubs", ResultWindow()).rows
    assert [page["title"] for page in region["named"]] == ["Ash moth", "Oak moth"]
    assert (region["pages"], region["hub"]["title"], region["around"]) == (2, "Moths", 2)


def test_wanted_pages_are_named_and_not_there(elm_atlas: Atlas) -> None:
    """A page that two pages link to and the book lacks is wanted by two."""
    (wanted,) = edge_pages(elm_atlas, "wanted", ResultWindow()).rows
    assert (wanted["title"], wanted["pages"], wanted["first_path"]) == ("Old bridge", 2, "Elm_Sea")
