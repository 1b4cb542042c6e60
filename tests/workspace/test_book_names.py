"""Books as clients call them: the same names wherever a book can be named."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.web.servers import server_context
from tests.zim.memory import MemoryArchive

from kiwiresearch.ids import BookId
from kiwiresearch.mcp.arguments import SectionArguments
from kiwiresearch.mcp.context import ToolContext
from kiwiresearch.mcp.tools import section_text
from kiwiresearch.web.book_pages import books_named
from kiwiresearch.workspace.policy import books_matching
from kiwiresearch.zim.shelf import ListedBook
from kiwiresearch.zim.sources import BookLocation

FILE = ListedBook(BookId("id-1"), "sample_en", "Sample Book", BookLocation("/home/me/books/My file.zim"))
NEWER = ListedBook(BookId("id-2"), "sample_en", "Sample Book", BookLocation("/home/me/books/newer.zimaa"))
SERVED = ListedBook(BookId("id-3"), "", "Other", BookLocation("http://host:8080", "other_2024"))


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("id-1", {"id-1"}),
        (" SAMPLE_en ", {"id-1", "id-2"}),
        ("sample book", {"id-1", "id-2"}),
        ("my FILE", {"id-1"}),
        ("newer", {"id-2"}),
        ("other_2024", {"id-3"}),
        ("Other", {"id-3"}),
        ("", set()),
        ("My file.zim", set()),
        ("/home/me/books/My file.zim", set()),
        ("/home/me/books/My file", set()),
        ("http://host:8080", set()),
        ("http://host:8080#other_2024", set()),
        ("sample", set()),
    ],
)
def test_a_book_goes_by_its_names_and_by_no_place(wanted: str, found: set[str]) -> None:
    """UUID, name, title, and what its file or server calls it, in any case; no path and no address."""
    books = (FILE, NEWER, SERVED)
    assert {book.id for book in books_matching(books, wanted, lambda book: book)} == found


def test_a_data_sheet_has_the_same_names() -> None:
    """What is open goes by the names that it has on the shelf."""
    archive = MemoryArchive({"A": "<p>a</p>"}, title="In memory")
    assert books_matching([archive], "in memory", lambda one: one.book) == (archive,)


def test_tools_and_routes_take_the_names_that_jobs_take(tmp_path: Path, sample_zim: Path) -> None:
    """The name of a book's file works in a route and in a tool as it does for a run."""
    with server_context(tmp_path, str(sample_zim)) as room:
        parts = ToolContext(room.asker, room.locked_finder, room.citation_url, room.page_url)
        with room.locked_finder() as finder:
            assert len(books_named(finder, "Sample")) == 1
        assert "Sunset" in section_text(parts, SectionArguments(title="Sunset", book="SAMPLE"))
