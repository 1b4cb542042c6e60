from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwiresearch.cli.start import run
from kiwiresearch.ids import page_id
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book

RunCommand = Callable[..., tuple[int, str, str]]

HARBOUR = """<html><body><div id="mw-content-text"><div class="mw-parser-output">
<table class="infobox"><tr><th>Depth</th><td>12 m</td></tr><tr><th>Country</th><td>Norway</td></tr></table>
<p>The <b>harbour</b> lies by the <a href="Sea">sea</a>. Ships rest here.</p>
<h2 id="History">History</h2><p>It was dug in 1804.</p>
<h3 id="War">War</h3><p>It was closed for a year.</p>
<h2 id="Trade">Trade</h2><ul><li>Herring</li><li>Timber from the <a href="Forest">forest</a></li></ul>
</div></div></body></html>"""

SHOWN = """\
Harbour
First book · 2026-01-01

┌─────────┬────────┐
│ Depth   │ 12 m   │
│ Country │ Norway │
└─────────┴────────┘

The harbour lies by the sea. Ships rest here.

History

It was dug in 1804.

  War

It was closed for a year.

Trade
  • Herring
  • Timber from the forest

3 sections · links to 2 pages · 0 references
"""


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two books on its shelf."""
    folder = tmp_path_factory.mktemp("furnished")
    for name, title, html in (("first", "First book", HARBOUR), ("second", "Second book", "<p>Sea.</p>")):
        pages = [
            NewPage(path, path.replace("_", " "), html.encode())
            for path in ("Harbour", "Sea", "Forest", f"Only_{name}")
        ]
        metadata = {"Name": f"{name}_en", "Title": title, "Language": "eng", "Date": "2026-01-01"}
        write_book(folder / f"{name}.zim", pages, [NewRedirect("Port", "Port", "Harbour")], metadata=metadata)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(folder / "home"))
        assert run(["books", "add", str(folder / "first.zim"), str(folder / "second.zim")]) == 0
    return folder


@pytest.fixture
def kiwi(kiwi: RunCommand, prepared_home: Path, home: Path) -> RunCommand:
    """Runs a command with the two books on the shelf; returns exit code, output and error."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return kiwi


def test_a_page_is_pleasant_to_read(kiwi: RunCommand) -> None:
    """A page is shown with its book, facts, sections by depth, lists and counts, and nothing else."""
    code, out, err = kiwi("page", "Harbour")
    assert (code, err) == (0, "")
    assert [line.rstrip() for line in out.splitlines()] == SHOWN.splitlines()


@pytest.mark.parametrize(
    ("section", "shown"),
    [
        ("History", ["History", "It was dug in 1804.", "War", "It was closed for a year."]),
        ("history", ["History", "It was dug in 1804.", "War", "It was closed for a year."]),
        (" War ", ["War", "It was closed for a year."]),
        ("Trade", ["Trade", "• Herring", "• Timber from the forest"]),
    ],
)
def test_a_section_is_shown_with_those_below_it(kiwi: RunCommand, section: str, shown: list[str]) -> None:
    """--section picks a heading in any case, with its own sections and no others."""
    code, out, err = kiwi("page", "Harbour", "--section", section)
    lines = [line.strip() for line in out.splitlines() if line.strip()]
    assert (code, err) == (0, "")
    assert lines[2:] == shown


def test_an_unknown_section_names_those_there_are(kiwi: RunCommand) -> None:
    """A heading that the page lacks is exit code 3, with the headings it has."""
    assert kiwi("page", "Harbour", "-s", "Histories") == (
        3,
        "",
        "kiwiresearch: The page 'Harbour' has no section named 'Histories'. Its sections: 'History', 'War', 'Trade'.\n",
    )


def test_a_page_without_sections_says_so(kiwi: RunCommand) -> None:
    """If there is nothing but the lead, the error says that."""
    code, _, err = kiwi("page", "Sea", "-b", "second", "-s", "History")
    assert (code, err.endswith("Its sections: only the introduction.\n")) == (3, True)


def test_links_are_shown_with_their_words_and_place(kiwi: RunCommand) -> None:
    """--links adds a table of where the page leads to."""
    code, out, _ = kiwi("page", "Harbour", "--links")
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]
    assert code == 0
    assert ["Sea", "sea", "", "lead"] in rows
    assert ["Forest", "forest", "Trade", "list"] in rows


def test_json_has_the_fields_of_a_page(kiwi: RunCommand) -> None:
    """--json has the fields every page must have (R109, R110, R111, R112, R113, R114, R115)."""
    code, out, err = kiwi("page", "Harbour", "--json")
    page = json.loads(out)
    assert (code, err) == (0, "")
    assert page["id"] == page_id("Harbour")
    assert (page["title"], page["path"]) == ("Harbour", "Harbour")
    assert page["url"] == f"zim://{page['book']}/Harbour"
    assert [(s["heading"], s["level"]) for s in page["sections"]] == [
        ("", 1), ("History", 2), ("War", 3), ("Trade", 2),
    ]  # fmt: skip
    for section in page["sections"]:
        start = section["start_offset"]
        assert page["plain_text"][start : start + len(section["text"])] == section["text"]
    assert [(k["target_title"], k["anchor_text"], k["context_snippet"], k["section"]) for k in page["links"]] == [
        ("Sea", "sea", "The harbour lies by the sea.", ""),
        ("Forest", "forest", "Timber from the forest", "Trade"),
    ]
    signals = page["signals"]
    assert {key: signals[key] for key in ("is_stub", "has_citation_needed", "is_disambiguation")} == {
        "is_stub": False, "has_citation_needed": False, "is_disambiguation": False,
    }  # fmt: skip
    assert (signals["ref_count_estimate"], signals["length_chars"] > 100) == (0, True)


@pytest.mark.parametrize("words", ["Harbour", "harbour", "HARBOUR", " Harbour ", "Port", "port", "PORT"])
def test_a_title_need_not_be_exact(kiwi: RunCommand, words: str) -> None:
    """A page is found whatever the case, and by a redirect's title."""
    code, out, _ = kiwi("page", words, "--json")
    assert (code, json.loads(out)["title"]) == (0, "Harbour")


@pytest.mark.parametrize(
    ("words", "book"),
    [
        (("Sea",), "First book"),
        (("Only second",), "Second book"),
        (("Only_second",), "Second book"),
        (("only_second",), "Second book"),
        (("Sea", "-b", "second_en"), "Second book"),
        (("Sea", "--book", "SECOND BOOK"), "Second book"),
        (("Sea", "-b", "second_en", "-b", "first_en"), "Second book"),
        (("Sea", "-b", "first.zim"), "First book"),
    ],
)
def test_the_books_are_asked_in_order(kiwi: RunCommand, words: tuple[str, ...], book: str) -> None:
    """The first book that has the page shows it; --book picks and orders the books."""
    code, out, _ = kiwi("page", *words)
    assert (code, out.splitlines()[1]) == (0, f"{book} · 2026-01-01")


def test_a_book_goes_by_uuid_and_path(kiwi: RunCommand, prepared_home: Path) -> None:
    """--book takes the UUID that `books list` shows, and the file itself."""
    uuid = json.loads(kiwi("books", "list", "--json")[1])["books"][1]["id"]
    for name in (uuid, uuid.upper(), prepared_home / "second.zim"):
        assert "Second book" in kiwi("page", "Sea", "-b", name)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("Harb", "No page named 'Harb' in your 2 books. Similar titles: 'Harbour'."),
        ("Only", "No page named 'Only' in your 2 books. Similar titles: 'Only first', 'Only second'."),
        ("Qqqq", "No page named 'Qqqq' in your 2 books. Try another title."),
        ("../Harbour", "No page named '../Harbour' in your 2 books."),
        ("🙃", "No page named '🙃' in your 2 books. Try another title."),
    ],
)
def test_an_unknown_page_names_near_ones(kiwi: RunCommand, words: str, message: str) -> None:
    """A title that no book has is exit code 3 and one sentence with titles near it."""
    code, out, err = kiwi("page", words)
    assert (code, out) == (3, "")
    assert err.startswith(f"kiwiresearch: {message}")
    assert err.count("\n") == 1


def test_an_unknown_book_names_a_near_one(kiwi: RunCommand) -> None:
    """A book that nobody added is exit code 1, with a guess."""
    assert kiwi("page", "Sea", "-b", "secnd book") == (
        1,
        "",
        "kiwiresearch: No book named 'secnd book' in your library. "
        "Did you mean 'Second book'? To list your books, run 'kiwiresearch books list'.\n",
    )


def test_a_real_book_of_2015_is_read(kiwi: RunCommand, shared_data: Path) -> None:
    """A published ZIM file with old paths needs no adding, and its pages go by title (R32, R34, R35)."""
    file = shared_data / "zims" / "real" / "wikipedia_en_ray_charles_2015-06.zim"
    code, out, _ = kiwi("page", "ray charles", "-b", file, "--json")
    page = json.loads(out)
    assert (code, page["path"]) == (0, "A/Ray_Charles.html")
    assert len(page["plain_text"]) > 10_000
    assert len(page["links"]) > 20
    assert page["edited"] or page["revision"]


def test_a_huge_page_says_that_it_is_cut(
    kiwi: RunCommand, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever reads only the beginning of a page, or its claims, is told so, and programs by `is_cut`."""
    monkeypatch.setattr("kiwiresearch.page.html.MAX_PAGE_BYTES", 2_000)
    towns = "".join(f"<p>Town {n} was founded in {1000 + n}.</p>" for n in range(200))
    pages = [NewPage("Towns", "Towns", towns.encode()), NewPage("Small", "Small", b"<p>Small was founded in 1850.</p>")]
    book = tmp_path / "towns.zim"
    write_book(book, pages, metadata={"Name": "towns", "Title": "Towns", "Language": "eng", "Date": "2026-01-01"})
    for command, notice in (
        ("page", "This page is too large to be read whole: this is its beginning.\n"),
        ("claims", "There is too much text to take claims from all of it: these are from its beginning.\n"),
    ):
        for title, is_cut in (("Towns", True), ("Small", False)):
            code, out, err = kiwi(command, title, "-b", book)
            assert (code, err) == (0, notice if is_cut else "")
            assert "Town 199" not in out
            assert json.loads(kiwi(command, title, "-b", book, "--json")[1])["is_cut"] is is_cut
