"""`kiwiresearch claims`: what a page or a text claims, for people, for programs, and for many texts at once."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.verify.verified_runs import a_road_book

from kiwiresearch.api import open_shelf
from kiwiresearch.cli import batch

RunCommand = Callable[..., tuple[int, str, str]]
TEXT = "The Salt road was 118 km long.\n\nIt may have been\nopened in 1390.  It was <b>wide</b> & safe in 1400.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_road_book(tmp_path_factory.mktemp("claims") / "road.zim")


@pytest.fixture
def book(built: Path, home: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy2(built, tmp_path / "road.zim"))


@pytest.fixture
def text(home: Path, tmp_path: Path) -> Path:
    file = tmp_path / "Salt_road.txt"
    file.write_text(TEXT, encoding="utf-8")
    return file


def test_the_claims_of_a_page(kiwi: RunCommand, book: Path) -> None:
    """They are listed by section, each with type, confidence, words, hedges and the place of its quotes."""
    code, out, err = kiwi("claims", "Ostrava", "-b", book)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Ostrava: ")
    assert lines[lines.index("Introduction") - 1] == ""
    assert lines.index("Introduction") < lines.index("History")
    first = next(line for line in lines if "Ostrava has 7,400 inhabitants." in line)
    assert re.match(r"  numeric.*, 0\.\d\d: ", first)
    assert lines[lines.index(first) + 1].endswith("“It has 7,400 inhabitants.”")
    assert "      hedged: the page says “may”" in lines


def test_the_claims_of_a_page_as_json(kiwi: RunCommand, book: Path) -> None:
    """One document has the claims with all fields, and every hedge of the page (R57, R61)."""
    code, out, err = kiwi("claims", "ostrava", "-b", book, "--json")
    found = json.loads(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert (found["title"], found["path"], found["hedges"]) == ("Ostrava", "Ostrava", ["may"])
    claim = next(claim for claim in found["claims"] if "7,400" in claim["claim"])
    assert claim["claim_type"] == "numeric"
    assert claim["support_snippets"] == ["It has 7,400 inhabitants."]
    with open_shelf([book]) as shelf:
        assert [one.id for one in shelf.extract_claims("Ostrava")] == [one["claim_id"] for one in found["claims"]]


def test_one_type_only(kiwi: RunCommand, book: Path) -> None:
    """--type keeps the claims of one type, in any case; an unknown one is refused with those there are (R59)."""
    _, out, _ = kiwi("claims", "Ostrava", "-b", book, "--type", "Numeric", "--json")
    kinds = [{claim["claim_type"], *claim["also"]} for claim in json.loads(out)["claims"]]
    assert kinds
    assert all("numeric" in kind for kind in kinds)
    code, out, err = kiwi("claims", "Ostrava", "-b", book, "--type", "guess")
    assert (code, out) == (2, "")
    assert "'guess' is not a type of claim. Choose one of: definition, causal," in err


def test_the_claims_of_a_text(kiwi: RunCommand, text: Path) -> None:
    """A file of plain text is a page of its name: no markup, paragraphs at blank lines, no book and no shelf."""
    code, out, err = kiwi("claims", "--text", text, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["title"], found["book"], found["hedges"]) == ("Salt road", "", ["may"])
    assert [claim["claim"] for claim in found["claims"]] == [
        "The Salt road was 118 km long.",
        "The Salt road may have been opened in 1390.",
        "The Salt road was <b>wide</b> & safe in 1400.",
    ]
    assert kiwi("claims", "--text", text)[1].startswith("Salt road: 3 claims\n")


def test_the_title_of_a_text_can_be_given(kiwi: RunCommand, text: Path, home: Path) -> None:
    """--title says what a text is about; without one, standard input has no name to put in for a pronoun."""
    _, out, _ = kiwi("claims", "--text", text, "--title", "Amber road", "--json")
    assert json.loads(out)["title"] == "Amber road"
    assert not (home / "cache").exists()


def test_a_text_from_standard_input(kiwi: RunCommand, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """'-' reads standard input; a pronoun that nobody named is not guessed at."""
    monkeypatch.setattr("sys.stdin", io.StringIO("It was opened in 1390. Lubmin was founded in 1243."))
    _, out, _ = kiwi("claims", "--text", "-", "--json")
    assert [claim["claim"] for claim in json.loads(out)["claims"]] == ["Lubmin was founded in 1243."]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfLubmin was founded in 1243.")))
    assert json.loads(kiwi("claims", "--text", "-", "--json")[1])["claims"][0]["subject"] == "Lubmin"


def test_no_claims_are_exit_code_3(kiwi: RunCommand, home: Path, tmp_path: Path) -> None:
    """If the rules find nothing, the exit code is 3; with --json there is still a document."""
    (tmp_path / "shout.txt").write_text("Ah! Oh!")
    code, out, err = kiwi("claims", "--text", tmp_path / "shout.txt", "--json")
    assert (code, json.loads(out)["claims"]) == (3, [])
    assert "No claims found in 'shout'." in err
    code, out, err = kiwi("claims", "--text", tmp_path / "shout.txt", "--type", "causal")
    assert (code, out) == (3, "")
    assert "No claims of the type 'causal'" in err


def test_a_page_that_is_not_there(kiwi: RunCommand, book: Path) -> None:
    """The nearest titles are named, as `page` does."""
    code, out, err = kiwi("claims", "Ostrav", "-b", book)
    assert (code, out) == (3, "")
    assert "No page named 'Ostrav' in 'Road book'. Similar titles: 'Ostrava'" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Enter the title of a page, --text FILE or --batch FILE."),
        (["Ostrava", "--text", "a.txt"], "Enter the title of a page, --text FILE or --batch FILE."),
        (["--text", "a.txt", "--batch", "b.jsonl"], "Enter the title of a page, --text FILE or --batch FILE."),
        (["Ostrava", "--title", "x"], "--title works only together with --text."),
        ([" "], "The title is empty."),
        (["--text", "none.txt"], "Could not read the file 'none.txt': No such file or directory."),
        (["--text", "."], "Could not read the file '.': Is a directory."),
        (["--text", "binary"], "The file 'binary' is not UTF-8 text."),
        (["--text", "latin"], "The file 'latin' is not UTF-8 text."),
        (["--text", "blank"], "The file 'blank' is empty."),
        (["--text", "long"], "The file 'long' is too large."),
        (["--batch", "none.jsonl"], "Could not read the file 'none.jsonl': No such file or directory."),
        (["--batch", "."], "Could not read the file '.': Is a directory."),
    ],
)
def test_invalid_arguments_are_explained(
    kiwi: RunCommand, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    """Exit code 2 comes with what is wrong, on standard error only."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(batch, "MAX_BYTES", 1_000)
    contents = {"binary": b"\x7fELF\0\0", "latin": b"caf\xe9 au lait", "blank": b" \n ", "long": b"long " * 300}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    code, out, err = kiwi("claims", *words)
    assert (code, out) == (2, "")
    assert message in err


def rows(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_a_batch_of_texts(kiwi: RunCommand, home: Path, tmp_path: Path, text: Path) -> None:
    """Each row gets a line in order, the one that --json gives for its text, and no book is opened."""
    file = tmp_path / "texts.jsonl"
    given = [{"text": TEXT, "title": "Salt road"}, {"text": "Some say so, perhaps.", "id": 7}, {"text": "Ah!"}]
    file.write_text("".join(json.dumps(row) + "\n" for row in given))
    code, out, err = kiwi("claims", "--batch", file)
    first, second, third = rows(out)
    assert (code, err) == (0, "")
    assert first == json.loads(kiwi("claims", "--text", text, "--json")[1])
    assert second["hedges"]
    assert (third["claims"], third["hedges"]) == ([], [])
    assert not (home / "cache").exists()
    assert [
        claim["claim_type"] for claim in rows(kiwi("claims", "--batch", file, "--type", "causal")[1])[0]["claims"]
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        "no JSON", "{", "[]", "3", "null", "{}", '{"text": ""}', '{"text": "  "}', '{"text": 5}', '{"text": null}',
        '{"query": "Rome"}', '{"text": "It rains.", "title": 3}', "[" * 5000,
    ],
)  # fmt: skip
def test_a_bad_row_says_so_and_the_rest_goes_on(kiwi: RunCommand, home: Path, tmp_path: Path, line: str) -> None:
    """A row that cannot be used gets a line with the reason and its number; the exit code is 1."""
    (tmp_path / "texts.jsonl").write_text(f'{{"text": "Lubmin was founded in 1243."}}\n{line}\n{{"text": "Ah!"}}\n')
    code, out, err = kiwi("claims", "--batch", tmp_path / "texts.jsonl")
    found = rows(out)
    assert (code, err, len(found)) == (1, "", 3)
    assert len(found[0]["claims"]) == 1
    assert "ine 2 " in found[1]["error"]
    assert (found[1]["claims"], found[1]["hedges"]) == ([], [])
    assert "error" not in found[0] | found[2]


def test_a_program_can_ask_for_the_claims_of_a_text(book: Path) -> None:
    """`extract_claims` takes a text as well, which the title then names."""
    with open_shelf([book]) as shelf:
        (claim,) = shelf.extract_claims("Lubmin", text="It was founded as a harbour in 1243.")
    assert (claim.text, claim.type) == ("Lubmin was founded as a harbour in 1243.", "timeline")
