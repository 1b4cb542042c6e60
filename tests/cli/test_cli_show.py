from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.cli.output import safe
from kiwiresearch.cli.start import run
from kiwiresearch.zim.book_writer import NewPage, write_book

RunCommand = Callable[..., tuple[int, str, str]]

CODES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVIL = "\x1b[31mred\x1b[0m\x1b]0;owned\x07\x9b2J\x08\x7f"
MARKUP = "[red]x[/red] [link=http://a.example]y[/link] :smile: [/]"

PAGE = f"""<html><head><title>Storm</title></head><body>
<table class="infobox"><tr><th colspan="2">Box {EVIL}{MARKUP}</th></tr>
<tr><th>Key {EVIL}{MARKUP}</th><td>Value {EVIL}{MARKUP}</td></tr></table>
<div class="hatnote">Note {EVIL}{MARKUP}, see <a href="Calm">calm</a>.</div>
<p>Storm {EVIL}{MARKUP} text. &#27;[31m &#x9b;31m <a href="Calm">link {EVIL}{MARKUP}</a></p>
<h2 id="H">Head {EVIL}{MARKUP}</h2>
<ul><li>Item {EVIL}{MARKUP}</li></ul><pre>Code {EVIL}{MARKUP}</pre>
<table><tr><th>Cell {EVIL}</th></tr><tr><td>{MARKUP}</td></tr></table>
</body></html>"""

LONG = " ".join(f"word{number}" for number in range(100))


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one book on its shelf, whose every text tries to be more than text."""
    folder = tmp_path_factory.mktemp("furnished")
    pages = [
        NewPage("Storm", f"Storm {EVIL}{MARKUP}", PAGE.encode()),
        NewPage("Calm", f"Calm {EVIL}", b"<p>Calm.</p>"),
        NewPage("Long", "Long", f"<p>{LONG}</p>".encode()),
    ]
    metadata = dict.fromkeys(("Title", "Description", "Creator", "Publisher", "Scraper"), f"Evil {EVIL}{MARKUP}")
    metadata |= {"Name": f"evil{EVIL}", "Language": "eng", "Date": f"2026{EVIL}", "Tags": f"a{EVIL};b{MARKUP}"}
    write_book(folder / "evil.zim", pages, metadata=metadata)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(folder / "home"))
        assert run(["books", "add", str(folder / "evil.zim")]) == 0
    return folder


@pytest.fixture
def kiwi(kiwi: RunCommand, prepared_home: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> RunCommand:
    """Runs a command with that book on the shelf; returns exit code, output and error."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return kiwi


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("page", "Storm"), 0),
        (("page", "Storm", "--links"), 0),
        (("page", "Storm", "--section", "H"), 0),
        (("page", "Storm", "--section", "none"), 3),
        (("page", "Stor"), 3),
        (("books", "list"), 0),
        (("books", "info"), 0),
        (("books", "info", "evli"), 1),
        (("books", "check"), 0),
        (("books", "add", "{book}"), 0),
        (("books", "remove", "{book}"), 0),
        (("doctor",), 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_codes_in_a_book_do_not_reach_the_terminal(
    kiwi: RunCommand, prepared_home: Path, command: tuple[str, ...], code: int
) -> None:
    """Titles, texts and metadata are printed without the codes a terminal would obey."""
    got, out, err = kiwi(*(word.format(book=prepared_home / "evil.zim") for word in command))
    assert got == code
    assert CODES.findall(out + err) == []


def test_markup_in_a_page_is_printed_as_text(kiwi: RunCommand) -> None:
    """Square brackets mean nothing: what a page says in them is shown, letter by letter."""
    out = kiwi("page", "Storm", "--links")[1]
    assert "Storm" in out
    squeezed = re.sub(r"\s+", "", out)
    for part in ("Note", "Storm", "Head", "Item", "Code"):
        assert re.search(rf"{part}[^\[]*\[31mred[^\[]*\[0m[^\[]*\[red\]x\[/red\]", squeezed), part
    assert squeezed.count("[link=http://a.example]y[/link]:smile:[/]") >= 6


def test_markup_in_metadata_is_printed_as_text(kiwi: RunCommand) -> None:
    """The same is true for the metadata of a book."""
    assert "[red]x[/red]" in kiwi("books", "list")[1]
    assert "[red]x[/red]" in kiwi("books", "info")[1]


def test_a_pipe_gets_no_escape_codes(kiwi: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Output that is not a terminal has no styles, whatever TERM says."""
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")
    for command in (("page", "Calm"), ("books", "list"), ("books", "info")):
        assert "\x1b" not in "".join(map(str, kiwi(*command)))


def test_a_pipe_gets_whole_paragraphs(kiwi: RunCommand) -> None:
    """A paragraph is one line in a pipe, so that grep and wc see what the page has."""
    assert LONG in kiwi("page", "Long")[1].splitlines()


@given(st.text())
def test_safe_text_has_no_codes_and_loses_nothing_else(text: str) -> None:
    """Only control characters and marks that change the writing direction go; tabs, line ends and all scripts stay."""
    assert not CODES.search(safe(text))
    assert safe(text) == "".join(letter for letter in text if not CODES.match(letter))
    assert safe(safe(text)) == safe(text)
