"""What a book writes into its titles and texts does not control the terminal that shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.conftest import RunCommand

from kiwiresearch.zim.book_writer import NewPage, write_book

HOSTILE = "A\u202eB\x1b[31mC\u009b2JD\u2066E\x07"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def hostile_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book with control characters and marks that reorder text, wherever text can be."""
    text = (
        f"<h1>Sea {HOSTILE}</h1><table class='infobox'><tr><th>{HOSTILE}</th><td>{HOSTILE}</td></tr></table>"
        f"<p>The sea {HOSTILE} is wide. It was named in 1850 by {HOSTILE} Smith.</p>"
        f"<h2>Part {HOSTILE}</h2><p>Text in 1900. <a href='Land'>link {HOSTILE}</a></p>"
    )
    file = tmp_path_factory.mktemp("hostile") / "hostile\u202e.zim"
    metadata = {"Title": HOSTILE, "Description": HOSTILE, "Date": "2024-01-01", "Name": HOSTILE, "Language": "eng"}
    pages = [NewPage(path, f"{path} {HOSTILE}", text.encode()) for path in ("Sea", "Land")]
    write_book(file, pages, metadata=metadata)
    return file


def test_a_book_cannot_control_the_terminal(kiwi: RunCommand, home: Path, hostile_book: Path, tmp_path: Path) -> None:
    """Escape sequences and marks that change the writing direction are left out of what is printed and of tables."""
    run, tables = str(tmp_path / "run"), tmp_path / "tables"
    assert kiwi("books", "add", str(hostile_book))[0] == 0
    for command in (
        ["books", "list"],
        ["books", "check"],
        ["page", "Sea", "--links"],
        ["page", "Sea", "--json"],
        ["search", "sea", "--json"],
        ["search", "sea"],
        ["ask", "When was the sea named?"],
        ["research", "Sea", "-o", run],
        ["verify", run],
        ["export", run, "--to", "csv", "-o", str(tables)],
    ):
        code, *outputs = kiwi(*command)
        assert code == 0, outputs
        assert not any(UNSAFE.search(output) for output in outputs), command
    files = [file for file in tables.rglob("*.csv") if file.stat().st_size]
    assert files
    assert not any(UNSAFE.search(file.read_text(encoding="utf-8").replace("\r\n", "\n")) for file in files)


def test_json_keeps_the_values_that_it_escapes(kiwi: RunCommand, home: Path, hostile_book: Path) -> None:
    """A program reads the title as the book has it, though a terminal shows its codes as text."""
    code, out, _ = kiwi("page", "Sea", "--json", "--book", str(hostile_book))
    assert code == 0
    assert "\\u202e" in out
    assert "\u202e" in json.loads(out)["title"]
