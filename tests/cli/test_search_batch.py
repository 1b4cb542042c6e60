"""Many searches at once: JSON lines in, JSON lines out."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.workspace.models import TitleIndexes
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

RunCommand = Callable[..., tuple[int, str, str]]
PAGES = {"Harbour": "<p>Ships rest in a harbour.</p>", "Tide": "<p>The tide rises.</p>", "Été": "<p>Une saison.</p>"}


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("batch")
    metadata = {"Name": "sea_eng", "Title": "Sea book", "Language": "eng", "Date": "2026-01-01"}
    write_book(folder / "sea.zim", [NewPage(t, t, html.encode()) for t, html in PAGES.items()], metadata=metadata)
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    with shelf_of(desk, [str(folder / "sea.zim")]) as shelf:
        TitleIndexes(desk.folders.cache / "titles").build(shelf.archives()[0])
    return folder


@pytest.fixture
def batch(
    prepared_home: Path, home: Path, tmp_path: Path, kiwi: RunCommand
) -> Callable[..., tuple[int, list[dict[str, Any]]]]:
    """Runs a batch of these lines; returns the exit code and the rows that came out."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))

    def start(content: str | bytes, *options: object) -> tuple[int, list[dict[str, Any]]]:
        file = tmp_path / "rows.jsonl"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        code, out, err = kiwi("search", "--batch", file, "-b", prepared_home / "sea.zim", *options)
        assert err == ""
        return code, [json.loads(line) for line in out.splitlines()]

    return start


Batch = Callable[..., tuple[int, list[dict[str, Any]]]]


def first(row: dict[str, Any]) -> str:
    return str(row["hits"][0]["title"]) if row["hits"] else ""


def test_each_row_gets_a_line_in_the_same_order(batch: Batch) -> None:
    """Queries, questions and claims are searched alike, and other keys do not matter."""
    code, rows = batch(
        '{"query": "tide"}\n{"question": "what is a harbour?", "id": 7}\n{"claim": "The tide rises."}\n'
        '{"query": "tide"}\n'
    )
    assert code == 0
    assert [row["query"] for row in rows] == ["tide", "what is a harbour?", "The tide rises.", "tide"]
    assert [first(row) for row in rows] == ["Tide", "Harbour", "Tide", "Tide"]


def test_a_row_is_searched_as_it_would_be_alone(batch: Batch, prepared_home: Path, kiwi: RunCommand) -> None:
    """The document of a row is the one that --json gives for its query."""
    _, rows = batch('{"query": "harbour"}\n{"query": "tide"}\n')
    alone = [json.loads(kiwi("search", q, "-b", prepared_home / "sea.zim", "--json")[1]) for q in ("harbour", "tide")]
    assert rows == alone


@pytest.mark.parametrize(
    "line",
    [
        "no JSON", "{", '{"query": "tide"', "[]", "3", '"tide"', "null", "{}", '{"query": ""}', '{"query": "  "}',
        '{"query": 5}', '{"query": null}', '{"query": ["tide"]}', '{"text": "tide"}', '{"query": "?!"}', "[" * 5000,
    ],
)  # fmt: skip
def test_a_bad_row_says_so_and_the_rest_goes_on(batch: Batch, line: str) -> None:
    """A row that cannot be used gets a line with the reason; the others are searched, and the exit code is 1."""
    code, rows = batch(f'{{"query": "tide"}}\n{line}\n{{"query": "harbour"}}\n')
    assert code == 1
    assert [first(row) for row in rows] == ["Tide", "", "Harbour"]
    assert rows[1]["error"]
    assert "error" not in rows[0] | rows[2]


def test_a_row_that_finds_nothing_has_no_hits(batch: Batch) -> None:
    """It is an answer, not an error."""
    code, rows = batch('{"query": "zeppelin"}\n')
    assert (code, rows[0]["query"], rows[0]["hits"]) == (0, "zeppelin", [])


@pytest.mark.parametrize("content", ["", "\n\n  \n"])
def test_an_empty_file_gives_nothing(batch: Batch, content: str) -> None:
    """No rows, no lines, no error."""
    assert batch(content) == (0, [])


@pytest.mark.parametrize(
    "content",
    [
        b'\xef\xbb\xbf{"query": "tide"}', b'{"query": "tide"}\r\n', b'\n\n{"query": "tide"}\n\n',
        b'  {"query": "tide"}  \n', b'{"query": "tide \xff"}\n', b'{"query": "tide\\n\\u0000"}\n',
    ],
)  # fmt: skip
def test_files_of_other_systems_are_read(batch: Batch, content: bytes) -> None:
    """Byte-order marks, other line ends, empty lines and broken characters do no harm."""
    code, rows = batch(content)
    assert (code, [first(row) for row in rows]) == (0, ["Tide"])


def test_letters_of_all_scripts_pass_through(batch: Batch) -> None:
    """What is not ASCII comes out as it went in."""
    _, rows = batch('{"query": "été"}\n')
    assert (rows[0]["query"], first(rows[0])) == ("été", "Été")


def test_a_dash_is_standard_input(
    batch: Batch, prepared_home: Path, kiwi: RunCommand, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows may come through a pipe."""
    monkeypatch.setattr("sys.stdin", io.StringIO('{"query": "tide"}\n\n{"query": "harbour"}\n'))
    code, out, _ = kiwi("search", "--batch", "-", "-b", prepared_home / "sea.zim")
    assert code == 0
    assert [first(json.loads(line)) for line in out.splitlines()] == ["Tide", "Harbour"]


def test_options_apply_to_all_rows(batch: Batch) -> None:
    """The limit and the quick search are those of the command."""
    _, rows = batch('{"query": "ships harbour tide"}\n{"query": "tide harbour"}\n', "--limit", 1, "--fast")
    assert [len(row["hits"]) for row in rows] == [1, 1]
    assert [row["hits"][0]["snippet"] for row in rows] == ["", ""]


@pytest.mark.parametrize("file", ["gone.jsonl", ""])
def test_a_file_that_cannot_be_read_is_an_error(
    batch: Batch, prepared_home: Path, tmp_path: Path, kiwi: RunCommand, file: str
) -> None:
    """A missing file and a folder are reported as such, with exit code 2."""
    code, out, err = kiwi("search", "--batch", tmp_path / file, "-b", prepared_home / "sea.zim")
    assert (code, out) == (2, "")
    assert f"Could not read the file {str(tmp_path / file)!r}: " in err


def test_a_query_and_a_batch_are_one_too_many(batch: Batch, tmp_path: Path, kiwi: RunCommand) -> None:
    """Either one is searched or many, not both, and not neither."""
    for words in (("tide", "--batch", tmp_path / "rows.jsonl"), ()):
        code, out, err = kiwi("search", *words)
        assert (code, out) == (2, "")
        assert "Enter what to search for, or give a file with --batch FILE." in err
