"""`kiwiresearch diff`: two snapshots of a book on the command line."""

from __future__ import annotations

import contextlib
import json
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.diff.snapshot_books import NEW, a_snapshot, two_books

from kiwiresearch.diff.summary import json_lines_file

RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return two_books(tmp_path_factory.mktemp("diff"))


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_the_most_telling_comes_first(kiwi: RunCommand, home: Path, books: tuple[Path, Path]) -> None:
    """The summary, the pages that came, went and moved, then changes: a contradiction before marks and numbers."""
    code, out, err = kiwi("diff", *books)
    assert (code, err) == (0, "")
    assert out.splitlines()[:4] == [
        "Book: Coast book, editions of 2026-01-01 and 2026-03-01",
        "Pages: 5 in both (2 with the same text), 1 new, 2 removed, 2 renamed",
        "Claims on pages in both: 4 changed (3 with different numbers), 2 added, 1 withdrawn, 3 newly disputed",
        "Claims on new pages: 2; on removed pages: 4",
    ]
    words = (
        "  Lighthouse (2 claims)",
        "  Old mill (2 claims; now redirects to Ostrava)",
        "  Quarry → Stone pit of Hohen",
        "+ The harbour was 17 metres deep in 1900.",
        "! Contradicts: The harbour was 14 metres deep in 1900. (Harbour, Introduction)",
        "! The page marks it as needing a citation.",
        "- The Salt road was 118 km long from end to end.",
        "+ The Salt road was 121 km long from end to end.",
        "- Some carts were drawn by six oxen",
        "Lubmin (town) (was Lubmin)",
    )
    places = [out.index(line) for line in words]
    assert places == sorted(places)


def test_all_changes_are_written_to_a_file(
    kiwi: RunCommand, home: Path, books: tuple[Path, Path], tmp_path: Path
) -> None:
    """Between a line on the books and one with the counts; the same bytes for any number of processes."""
    file, again = tmp_path / "all.jsonl", tmp_path / "again.jsonl"
    code, out, _ = kiwi("diff", *books, "--out", file)
    assert code == 0
    assert out.endswith(f"All changes: {file}\n")
    rows = records(file)
    assert (rows[0]["kind"], rows[0]["new"]["date"]) == ("books", "2026-03-01")
    assert rows[-1]["kind"] == "summary"
    assert rows[-1]["pages"] == {"added": 1, "both": 5, "removed": 2, "renamed": 2, "same": 2, "unreadable": 0}
    kinds = [row["kind"] for row in rows[1:-1]]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "changed": 4,
        "disputed": 1,
        "added": 4,
        "withdrawn": 5,
        "page renamed": 2,
        "page added": 1,
        "page removed": 2,
    }
    kiwi("diff", *books, "--out", again, "--workers", 2)
    assert again.read_bytes() == file.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["again.jsonl", "all.jsonl"]


def test_one_document_for_programs(kiwi: RunCommand, home: Path, books: tuple[Path, Path]) -> None:
    """The counts and the most important changes, as many as were asked for."""
    code, out, err = kiwi("diff", *books, "--json", "--limit", 3)
    assert (code, err, out.count("\n")) == (0, "", 1)
    found = json.loads(out)
    assert found["claims"]["changed"] == 4
    assert len(found["changes"]) == 3
    assert found["changes"][0]["doubts"][0]["how"] == "contradicted"
    assert found["changes"][0]["page"]["new"] == {"path": "Harbour", "title": "Harbour"}
    assert kiwi("diff", *books, "--json", "--limit", 3)[1] == out


def test_some_kinds_alone(kiwi: RunCommand, home: Path, books: tuple[Path, Path], tmp_path: Path) -> None:
    """A claim that was added and is also disputed is shown for either kind; changes of pages only with all kinds."""
    file = tmp_path / "some.jsonl"
    out = kiwi("diff", *books, "--kind", "disputed", "--out", file)[1]
    assert "17 metres" in out
    assert "toll gate" not in out
    assert "New pages" not in out
    assert [row["kind"] for row in records(file)[1:-1]] == ["disputed", "changed", "added"]


def test_pages_hidden_by_a_policy_are_mentioned(
    kiwi: RunCommand, home: Path, books: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nobody takes a hidden page for one that no snapshot has."""
    monkeypatch.setenv("KIWIRESEARCH_POLICY_HIDDEN", "Salt road")
    monkeypatch.setenv("KIWIRESEARCH_POLICY_NAME", "the harbour school")
    code, out, complaint = kiwi("diff", *books, "--page", "salt road")
    assert (code, out) == (3, "")
    assert "The page 'salt road' is hidden by the policy of the harbour school." in complaint
    out = kiwi("diff", *books)[1]
    assert "Pages hidden by the policy of the harbour school are not compared." in out
    assert "Salt road" not in out


def test_a_limit_is_reported(kiwi: RunCommand, home: Path, books: tuple[Path, Path]) -> None:
    """And how many changes there are beyond it."""
    out = kiwi("diff", *books, "--limit", 2)[1]
    assert out.count("    + ") + out.count("    = ") == 2
    assert "  … and 5 more on this page" in out
    assert "1 more on other pages. Use --limit N to show more, or --out FILE.jsonl to save all." in out


def test_one_page_alone(kiwi: RunCommand, home: Path, books: tuple[Path, Path]) -> None:
    """All its changes, or what became of it."""
    out = kiwi("diff", *books, "--page", "salt road")[1]
    assert "toll gate" in out
    assert "Claims: 6 shown, 2 the same in both." in out
    assert "17 metres" not in out
    assert "Only the old edition has this page." in kiwi("diff", *books, "--page", "Custom house")[1]
    assert "Its text is the same in both editions." in kiwi("diff", *books, "--page", "Ostrava")[1]
    found = json.loads(kiwi("diff", *books, "--page", "Salt road", "--json")[1])
    assert len(found["changes"]) == 6


def test_snapshots_in_the_wrong_order_are_reported(kiwi: RunCommand, home: Path, books: tuple[Path, Path]) -> None:
    """They are compared as asked, with a note about the order."""
    code, _, err = kiwi("diff", books[1], books[0])
    assert code == 0
    assert (
        err == "OLD (2026-03-01) is newer than NEW (2026-01-01), so 'added' and 'withdrawn' are the wrong way round.\n"
    )


def test_books_on_the_shelf_are_named(kiwi: RunCommand, home: Path, books: tuple[Path, Path]) -> None:
    """By the names of their files, since two snapshots have the same title; a name for both is refused."""
    kiwi("books", "add", *books)
    assert kiwi("diff", "coast_2026-01", "coast_2026-03", "--page", "Ostrava")[0] == 0
    code, out, err = kiwi("diff", "Coast book", "coast_2026-03")
    assert (code, out) == (2, "")
    assert "'Coast book' matches 2 books." in err


def test_bad_input_gives_one_sentence(kiwi: RunCommand, home: Path, books: tuple[Path, Path], tmp_path: Path) -> None:
    """And neither output nor a file."""
    old, new = books
    other = a_snapshot(tmp_path / "rail.zim", NEW, Name="rail_en")
    text = tmp_path / "text.zim"
    text.write_text("no book", encoding="utf-8")
    folder = tmp_path / "half"
    folder.mkdir()
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    cases = [
        ((old, other), 2, "are not editions of the same book"),
        ((old, old), 2, "they have the same UUID"),
        ((old, new, "--kind", "gone"), 2, "'gone' is not a kind of change"),
        ((old, new, "--page", "Atlantis"), 3, "Neither edition has a page named 'Atlantis'"),
        ((old, new, "--page", "Ostrava", "--out", tmp_path / "x"), 2, "--out and --page cannot be combined"),
        ((old, new, "--out", tmp_path / "no" / "x.jsonl"), 1, "cannot be written to: No such file or directory"),
        ((old, new, "--out", folder), 1, "cannot be written to: it is a folder"),
        ((old, text), 1, "text.zim"),
        ((old, tmp_path / "nothing.zim"), 1, "nothing.zim"),
        ((old, folder), 1, "is damaged"),
        ((old, ""), 2, "The book name is empty."),
        ((old, "x" * 5000), 1, "No book named"),
        ((old, new, "--out", "/"), 1, "cannot be written"),
        ((old, new, "--out", "~nobody-here/x"), 2, "The home folder in"),
    ]
    for words, wanted, message in cases:
        code, out, err = kiwi("diff", *words)
        assert (code, out) == (wanted, ""), words
        assert message in err
        assert err.count("\n") == 1
    assert not (tmp_path / "x").exists()


def test_an_unfinished_file_of_changes_is_not_written(tmp_path: Path) -> None:
    """If the work is stopped half-way, there is no partial file, and the old one is unchanged."""
    file = tmp_path / "all.jsonl"
    file.write_text("before\n", encoding="utf-8")
    with contextlib.suppress(KeyboardInterrupt), json_lines_file(file) as write:
        write({"kind": "books"})
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]
    assert file.read_text(encoding="utf-8") == "before\n"


def test_a_full_disk_is_reported(kiwi: RunCommand, home: Path, books: tuple[Path, Path], tmp_path: Path) -> None:
    """With the name of the file and what to do, and nothing is left of it."""
    kiwi("diff", *books)  # what is written for the first time is not what is looked at here
    file = tmp_path / "all.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, hard))
    try:
        code, out, err = kiwi("diff", *books, "--out", file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (code, out) == (1, "")
    assert f"The file {str(file)!r} cannot be written to: File too large." in err
    assert not [path for path in tmp_path.iterdir() if "all.jsonl" in path.name]
