"""`kiwiresearch search` as a user meets it: what it prints, what it refuses, what it never touches."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.cli import output
from kiwiresearch.ids import BookId
from kiwiresearch.search import SearchResult
from kiwiresearch.search.interpretation import Sense
from kiwiresearch.workspace.finder import Finder
from kiwiresearch.workspace.models import TitleIndexes
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import SAMPLE_NOTICE, open_workspace
from kiwiresearch.zim import EntryRef
from kiwiresearch.zim.book_writer import NewPage, NewRedirect, write_book
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.shelf import listed_book

RunCommand = Callable[..., tuple[int, str, str]]

BOOKS: dict[str, tuple[str, str, dict[str, str]]] = {
    "sea": (
        "Sea book",
        "eng",
        {
            "Harbour": "<p>A harbour is a place where ships rest from the sea.</p>",
            "Tide": "<p>The tide lifts the ships in the harbour.</p>",
            "Sea\x1b[31m": "<p>The sea is wide.</p>",
        },
    ),
    "land": (
        "Land book",
        "eng",
        {"Harbour": "<p>A harbour on land.</p>", "Forest": "<p>Trees [bold]stand[/bold].</p>"},
    ),
    "meer": ("Meerbuch", "deu", {"Harbour (Wort)": "<p>Harbour ist das englische Wort.</p>"}),
}


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three books, and a home that has them on its shelf and knows them to be sound."""
    folder = tmp_path_factory.mktemp("searching")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    for name, (title, language, pages) in BOOKS.items():
        write_book(
            folder / f"{name}.zim",
            [NewPage(t.replace(" ", "_"), t, html.encode()) for t, html in pages.items()],
            [NewRedirect("Port", "Port", "Harbour")] if "Harbour" in pages else [],
            metadata={"Name": f"{name}_{language}", "Title": title, "Language": language, "Date": "2026-01-01"},
        )
        found = desk.opener.look_up(str(folder / f"{name}.zim"))
        desk.shelf_file.add([listed_book(book, source) for book, source in found])
    with shelf_of(desk) as shelf:
        for archive in shelf.archives():
            TitleIndexes(desk.folders.cache / "titles").build(archive)
    return folder


@pytest.fixture
def shelf(prepared_home: Path, home: Path) -> Path:
    """The folder of the three books, which the user has on the shelf."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return prepared_home


@pytest.fixture
def newcomer(tmp_path_factory: pytest.TempPathFactory, home: Path) -> Path:
    """A user with an empty shelf, for whom the sample book is built already."""
    ready = tmp_path_factory.getbasetemp() / "ready"  # built there once for all tests
    open_workspace({"KIWIRESEARCH_HOME": str(ready)}).sample()
    shutil.copytree(ready / "cache", home / "cache")
    return home


def rows(text: str) -> list[dict[str, Any]]:
    hits: list[dict[str, Any]] = json.loads(text)["hits"]
    return hits


def test_a_search_shows_titles_snippets_and_scores(shelf: Path, kiwi: RunCommand) -> None:
    """Each page has a number, its title, its score and a line that shows why; there is no other output."""
    code, out, err = kiwi("search", "tide", "-b", "sea_eng")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(" 1. Tide  ")
    assert lines[1] == "    The tide lifts the ships in the harbour."


def test_a_first_user_searches_the_sample_book(newcomer: Path, kiwi: RunCommand) -> None:
    """Without any book on the shelf, the sample book is searched, and the user is informed once."""
    code, out, err = kiwi("search", "what is mercury")
    assert (code, err) == (0, f"{SAMPLE_NOTICE}\n")
    senses = out.partition("has several meanings in your books:")[2]
    assert "Mercury (planet) — " in senses
    assert "Mercury (element) — " in senses
    assert "--focus" in senses


def test_json_has_all_that_is_known_of_a_hit(shelf: Path, kiwi: RunCommand) -> None:
    """A hit has its book, path, title, snippet, score and lines, and the lines add up to the score."""
    code, out, err = kiwi("search", "port", "-b", "sea_eng", "--json")
    assert (code, err, out.count("\n")) == (0, "", 1)
    record = json.loads(out)
    assert sorted(record) == ["books", "corrected", "hits", "order", "query", "senses"]
    assert (record["query"], [book["name"] for book in record["books"]]) == ("port", ["sea_eng"])
    hit = record["hits"][0]
    assert sorted(hit) == [
        "alias", "book", "book_id", "copies", "lines", "path", "score", "snippet", "title",
    ]  # fmt: skip
    assert (hit["book"], hit["path"], hit["title"], hit["alias"]) == ("sea_eng", "Harbour", "Harbour", "Port")
    assert hit["snippet"].startswith("A harbour is a place")
    for one in record["hits"]:
        assert one["score"] == round(sum(line["points"] for line in one["lines"]), 2)


def test_explain_shows_the_lines_of_each_score(shelf: Path, kiwi: RunCommand) -> None:
    """The terms of a score are below each page."""
    plain = kiwi("search", "tide", "-b", "sea_eng")[1]
    code, out, _ = kiwi("search", "tide", "-b", "sea_eng", "--explain")
    lines = json.loads(kiwi("search", "tide", "-b", "sea_eng", "--json")[1])["hits"][0]["lines"]
    assert code == 0
    for line in lines:
        assert f"{line['points']:+8.2f}  {line['signal']}\n" in out
        assert line["signal"] not in plain


def test_several_books_are_searched_together(shelf: Path, kiwi: RunCommand) -> None:
    """Books of different languages answer in one list, and each row says which book it is of."""
    code, out, _ = kiwi("search", "harbour", "-b", "sea_eng", "--book", "land_eng", "-b", "meer_deu", "--json")
    assert code == 0
    assert {"sea_eng", "meer_deu"} <= {hit["book"] for hit in rows(out)}
    harbour = next(hit for hit in rows(out) if hit["title"] == "Harbour" and hit["book"] != "meer_deu")
    assert len(harbour["copies"]) == 1
    assert "meer_deu" in kiwi("search", "harbour", "-b", "sea_eng", "-b", "meer_deu")[1]


def test_books_that_were_not_named_are_never_opened(
    shelf: Path, kiwi: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --book, no other book of the shelf is opened, for searching or for anything else."""
    opened: list[str] = []
    original = LibzimArchive.__init__

    def noting(self: LibzimArchive, path: Path, *rest: Any, **more: Any) -> None:
        opened.append(path.name)
        original(self, path, *rest, **more)

    monkeypatch.setattr(LibzimArchive, "__init__", noting)
    assert kiwi("search", "harbour", "-b", "land_eng")[0] == 0
    assert set(opened) == {"land.zim"}
    assert kiwi("search", "zeppelin", "-b", "land_eng")[0] == 3
    assert set(opened) == {"land.zim"}


def test_a_broken_book_among_several_is_left_out(shelf: Path, home: Path, kiwi: RunCommand) -> None:
    """A book whose file is gone or is not a book costs its pages, not the search, and the user is informed."""
    listing = json.loads((home / "shelf.json").read_text())
    (home / "broken.zim").write_bytes(b"no book at all")
    for row in listing["books"]:
        if row["name"] == "land_eng":
            row["location"] = str(home / "broken.zim")
        if row["name"] == "meer_deu":
            row["location"] = str(home / "gone.zim")
    (home / "shelf.json").write_text(json.dumps(listing))
    code, out, err = kiwi("search", "harbour", "--json")
    assert code == 0
    assert {hit["book"] for hit in rows(out)} == {"sea_eng"}
    assert err.count("Skipped: ") == 2
    assert "broken.zim" in err
    assert "gone.zim" in err


def test_nothing_found_is_said_in_a_sentence(shelf: Path, kiwi: RunCommand) -> None:
    """Exit code 3, the query, where it was looked for, and what to do; nothing on standard output."""
    code, out, err = kiwi("search", "zeppelin", "-b", "sea_eng")
    assert (code, out) == (3, "")
    assert err == (
        "kiwiresearch: No results for 'zeppelin' in 'Sea book'. Try fewer or different words, or add a book about it.\n"
    )
    assert "in your 3 books" in kiwi("search", "zeppelin")[2]


def test_nothing_found_offers_what_is_near(shelf: Path, kiwi: RunCommand) -> None:
    """Titles that begin alike are named."""
    code, _, err = kiwi("search", "harzz", "-b", "sea_eng")
    assert code == 3
    assert "Similar titles: 'Harbour'." in err


def test_nothing_found_is_json_too(shelf: Path, kiwi: RunCommand) -> None:
    """With --json there is a document without hits, and the exit code and the sentence are the same."""
    code, out, err = kiwi("search", "zeppelin", "-b", "sea_eng", "--json")
    assert (code, rows(out)) == (3, [])
    assert "No results for 'zeppelin'" in err


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "99999999999999999999"])
def test_an_impossible_limit_is_refused(shelf: Path, kiwi: RunCommand, limit: str) -> None:
    """The error says what can be asked for."""
    code, out, err = kiwi("search", "harbour", "--limit", limit)
    assert (code, out) == (2, "")
    assert err == f"kiwiresearch: Cannot show {limit} results. Use 1 to 1000.\n"


@pytest.mark.parametrize("limit", [1, 2, 1000])
def test_the_limit_is_kept(shelf: Path, kiwi: RunCommand, limit: int) -> None:
    """No more pages are shown than asked for, and all there are if more are."""
    found = rows(kiwi("search", "harbour", "-b", "sea_eng", "-n", limit, "--json")[1])
    assert len(found) == min(limit, 2)


@pytest.mark.parametrize("query", ["", "   ", "\n", "?!…", "—"])
def test_a_query_without_words_is_refused(shelf: Path, kiwi: RunCommand, query: str) -> None:
    """Exit code 2 and a sentence that says what to give."""
    code, out, err = kiwi("search", query)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("kiwiresearch: ")


@pytest.mark.parametrize(
    "query",
    [
        "harbour AND", 'harbour "', "harbour*", "NEAR(harbour)", "harbour' OR 1=1 --", "harbour\x00sea",
        "harbour\x1b[31m", "harbour " * 3000, "[bold]harbour[/bold]", "harbour\nsea", "title:harbour", "{harbour}",
    ],
)  # fmt: skip
def test_strange_queries_are_searched_as_words(shelf: Path, kiwi: RunCommand, query: str) -> None:
    """Marks of other search languages, control characters, broken text and endless text do no harm."""
    code, out, err = kiwi("search", query, "-b", "sea_eng", "--json")
    assert (code, err) == (0, "")
    assert "Harbour" in [hit["title"] for hit in rows(out)]
    assert kiwi("search", query, "-b", "sea_eng")[0] == 0


def test_text_of_books_cannot_move_the_cursor(shelf: Path, kiwi: RunCommand) -> None:
    """Titles and snippets are printed as text, not as terminal codes and not as markup."""
    out = kiwi("search", "sea", "-b", "sea_eng")[1] + kiwi("search", "forest", "-b", "land_eng")[1]
    assert "\x1b" not in out
    assert "Trees [bold]stand[/bold]." in out


def test_a_mistyped_query_says_what_was_searched(shelf: Path, kiwi: RunCommand) -> None:
    """Where words were taken for others, the first line says so, in JSON as well."""
    assert "Showing results for: forest\n" in kiwi("search", "forrest", "-b", "land_eng")[1]
    assert json.loads(kiwi("search", "forrest", "-b", "land_eng", "--json")[1])["corrected"] == "forest"


def test_a_quick_search_reads_no_page(shelf: Path, kiwi: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    """--fast shows titles without opening any of the pages."""
    read: list[str] = []
    original = LibzimArchive.read

    def noting(self: LibzimArchive, path: str) -> Any:
        read.append(path)
        return original(self, path)

    monkeypatch.setattr(LibzimArchive, "read", noting)
    code, out, _ = kiwi("search", "harbour", "-b", "sea_eng", "--fast")
    assert code == 0
    assert out.startswith(" 1. Harbour  ")
    assert read == []
    kiwi("search", "harbour", "-b", "sea_eng")
    assert "Harbour" in read


def test_the_same_search_gives_the_same_bytes(shelf: Path, home: Path) -> None:
    """Two processes that hash words differently print the same, before and after the index is there."""
    shutil.rmtree(home / "cache" / "titles")
    outputs = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "kiwiresearch", "search", "ships in the harbour", "--json", "-b", shelf / "sea.zim",
             "-b", shelf / "land.zim", "-b", shelf / "meer.zim"],
            capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        outputs.add(done.stdout)
    assert len(outputs) == 1
    assert rows(outputs.pop().decode())


def test_a_hint_is_part_of_the_search(newcomer: Path, kiwi: RunCommand) -> None:
    """--focus puts another sense first than the bare word does (R76)."""
    bare, hinted = (rows(kiwi("search", "galaxy", "--json", *hint)[1]) for hint in ((), ("--focus", "chocolate")))
    assert (bare[0]["title"], hinted[0]["title"]) == ("Galaxy", "Galaxy (chocolate)")


def test_broken_text_is_searched_as_far_as_it_goes(shelf: Path) -> None:
    """Bytes of another encoding, on the command line or in a pipe, are shown as a mark and do no harm."""
    program = [sys.executable, "-m", "kiwiresearch", "search", "-b", str(shelf / "sea.zim")]
    done = subprocess.run([*program, "--json", b"harbour caf\xe9"], capture_output=True, check=True)
    assert json.loads(done.stdout)["query"] == "harbour caf?"
    rows_in = b'{"query": "harbour caf\xe9"}\n{"query": "harbour \\ud800"}\n'
    done = subprocess.run([*program, "--batch", "-"], input=rows_in, capture_output=True, check=True)
    assert [json.loads(line)["hits"][0]["title"] for line in done.stdout.splitlines()] == ["Harbour", "Harbour"]


@pytest.mark.parametrize(
    ("title", "hint"),
    [
        ("Mercury (planet)", "Choose one with --focus and a word about it, for example: --focus 'planet'"),
        ("Freddie Mercury", "Choose one with --focus and a word about it"),
    ],
)
def test_the_example_for_focus_comes_from_a_meaning_that_was_found(
    capsys: pytest.CaptureFixture[str], home: Path, title: str, hint: str
) -> None:
    """If several pages share a name, the hint suggests a word that distinguishes one of them, or none at all."""
    found = SearchResult("mercury", senses=(Sense(EntryRef(BookId("b"), "p"), title, "something"),))
    workspace = open_workspace({"KIWIRESEARCH_HOME": str(home)})
    with shelf_of(workspace) as shelf, Finder(workspace, shelf) as finder:
        output.print_hits(found, finder, explain=False)
    assert capsys.readouterr().out.splitlines()[-1] == hint
