"""A page that is hidden by its title is in no answer of an atlas that has no table of titles."""

from __future__ import annotations

from pathlib import Path

from tests.atlas.atlas_book import HTML, METADATA, write_elm_shards

from kiwiresearch.atlas.atlas import open_atlas
from kiwiresearch.atlas.database import ResultWindow
from kiwiresearch.atlas.queries import TimelineFilter, timeline
from kiwiresearch.workspace.atlas import policy_filter_for
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.policy import Policy


def test_a_claim_names_the_page_that_a_policy_hides(tmp_path: Path) -> None:
    """If a book has only a table of claims, these give the titles of their pages."""
    pages = [NewPage("p1", "Ada Rowe (painter)", HTML["Ada_Rowe"]), NewPage("p2", "Tom Rowe", HTML["Tom_Rowe"])]
    write_book(tmp_path / "p.zim", pages, [], metadata=METADATA)
    atlas = open_atlas(write_elm_shards(tmp_path / "p.zim", tmp_path / "shards", ("claims",)), tmp_path / "kept")
    found = timeline(atlas, TimelineFilter(), ResultWindow(50, 0))
    assert {row["title"] for row in found.rows} == {"Ada Rowe (painter)", "Tom Rowe"}
    seen = policy_filter_for(atlas.book, Policy(hidden=("Ada Rowe (painter)",)), ()).filter_page(found)
    assert {row["path"] for row in seen.rows} == {"p2"}
    assert seen.hidden == len(found.rows) - len(seen.rows) > 0
