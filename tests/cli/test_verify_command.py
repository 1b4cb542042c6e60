"""`kiwiresearch verify`: a run proved again, in words and as JSON."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.verify.verified_runs import METADATA, a_finished_run, changed, with_inputs

from kiwiresearch.cli.start import run as start
from kiwiresearch.version import __version__
from kiwiresearch.zim.book_writer import NewPage, write_book

MADE = [
    "brief.json", "claims.jsonl", "corpus.jsonl", "graph.json", "manifest.json", "report.html", "report.md", "run.log",
]  # fmt: skip
RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_finished_run(tmp_path_factory.mktemp("verify"))


@pytest.fixture
def run(finished: Path, home: Path, tmp_path: Path) -> Path:
    """A finished run; its book is beside it, and on nobody's shelf."""
    shutil.copytree(finished.parent, tmp_path / "place", ignore=shutil.ignore_patterns("state", "home"))
    return tmp_path / "place" / "run"


def test_a_run_that_passes(kiwi: RunCommand, run: Path) -> None:
    """What was verified is counted in one line, and the exit code is 0."""
    code, out, err = kiwi("verify", run, "--book", run.parent / "road.zim")
    assert (code, err) == (0, "")
    first, repeated, rest, last = out.splitlines()
    assert re.fullmatch(r"Checked: \d+ quotes, \d+ claims, \d+ statements, 4 pages, 9 files\.", first)
    assert repeated == (
        "Proved by repeating the research: brief.json, claims.jsonl, corpus.jsonl, graph.json, manifest.json, "
        "report.html, report.md, run.log."
    )
    assert rest == "Not proved, only compared with a hash: timings.json."
    assert last == "Everything checks out."


def test_a_run_of_another_version_says_what_is_not_proved(kiwi: RunCommand, run: Path) -> None:
    """The first line and an exit code of its own say that nothing is proved; then, which parts could be invented."""
    with_inputs(run, version="0.0.1")
    code, out, err = kiwi("verify", run, "--book", run.parent / "road.zim")
    assert (code, err) == (5, "")
    lines = out.splitlines()
    assert lines[0] == (
        f"Not proved, since the research was not repeated: kiwiresearch 0.0.1 wrote this run, and this is "
        f"{__version__}."
    )
    assert lines[2].startswith("Compared with the books: the text of pages; quotes ")
    assert lines[3].startswith("Not proved, only compared with a hash: gaps, notes, ")
    assert lines[4] == "No problem was found in what was compared."


def test_the_shelf_has_the_book(kiwi: RunCommand, run: Path) -> None:
    """Without --book the run's books are found on the shelf, by their UUIDs."""
    kiwi("books", "add", run.parent / "road.zim")
    assert kiwi("verify", run)[0] == 0


def test_a_book_that_was_given_once_is_found_again(kiwi: RunCommand, home: Path, run: Path, tmp_path: Path) -> None:
    """A run of a book that was never added is verified without naming the book, as long as it is where it was."""
    book, later = tmp_path / "mine.zim", tmp_path / "later"
    shutil.copyfile(run.parent / "road.zim", book)
    assert kiwi("research", "salt road", "-b", str(book), "-o", str(later))[0] == 0
    assert kiwi("verify", later)[0] == 0
    write_book(book, [NewPage("a", "Another", b"<p>Another book.</p>")], metadata=METADATA)
    code, out, _ = kiwi("verify", later)
    assert code == 1
    assert "was not found. Add it with" in out


def test_each_failure_is_a_line(kiwi: RunCommand, run: Path) -> None:
    """A changed number is reported with its file, its line and its claim; the exit code is 1."""
    content = (run / "claims.jsonl").read_bytes().replace(b"7,400 inhabitants", b"7,500 inhabitants")
    with changed(run / "claims.jsonl", content):
        code, out, err = kiwi("verify", run, "--book", run.parent / "road.zim")
    lines = out.splitlines()
    assert (code, err) == (1, "")
    assert lines[0] == "✗ claims.jsonl: it was changed: its SHA-256 does not match the manifest."
    quoted = [line for line in lines if "the page does not say" in line and "7,500" in line]
    assert re.match(r"✗ claims\.jsonl, line \d+, sha256:[0-9a-f]{32}: the page does not say ", quoted[0])
    assert any(line.startswith("Checked: ") for line in lines)
    assert "Not proved, since the research was not repeated: its files were changed." in lines
    assert re.fullmatch(r"\d+ problems found\.", lines[-1])


def test_a_book_that_is_not_there(kiwi: RunCommand, run: Path) -> None:
    """The book is named with what to do about it, and all else is proved; the exit code is 1."""
    code, out, err = kiwi("verify", run)
    assert (code, err) == (1, "")
    first, why, proved, _, unproved, last = out.splitlines()
    assert first.startswith("✗ manifest.json: the book 'Road book' (")
    assert first.endswith(
        "was not found. Add it with 'kiwiresearch books add' or give it with --book, then verify again."
    )
    assert proved.endswith("0 pages, 9 files.")
    assert why == "Not proved, since the research was not repeated: a book was not found: Road book."
    assert unproved.startswith("Not proved, only compared with a hash: all pages and claims of 'Road book'; ")
    assert last == "1 problem found."


def test_json_is_one_document(kiwi: RunCommand, run: Path) -> None:
    """With --json there are counts and all failures, in one document, whether the run passes or not."""
    book = ("--book", run.parent / "road.zim", "--json")
    code, out, err = kiwi("verify", run, *book)
    found = json.loads(out)
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert (found["run"], found["holds"], found["failures"]) == (str(run), True, [])
    assert found["parts"] == {
        "repeated": MADE,
        "compared": [],
        "hash_only": ["timings.json"],
        "not_repeated": "",
        "not_part": [],
    }
    assert found["proved"].keys() == {"files", "pages", "claims", "quotes", "statements"}
    (run / "run.log").write_text("nothing happened\n")
    code, out, _ = kiwi("verify", run, *book)
    found = json.loads(out)
    assert (code, found["holds"]) == (1, False)
    assert {failure["file"] for failure in found["failures"]} == {"run.log"}
    assert found["failures"][0].keys() == {"file", "what", "line", "claim", "remedy"}


def test_text_of_a_file_cannot_control_the_terminal(kiwi: RunCommand, run: Path) -> None:
    """Codes in an edited file are not printed, and a failure stays on one line."""
    row = '{"claim_id": "\\u001b[31m\\nred", "claim": 3}\n'
    with (run / "claims.jsonl").open("a") as stream:
        stream.write(row)
    _, out, _ = kiwi("verify", run, "--book", run.parent / "road.zim")
    assert "\x1b" not in out
    assert all(line.startswith(("✗ ", "Not proved", "Checked: ")) for line in out.splitlines()[:-4])


def test_a_file_of_failures_is_cut_short(kiwi: RunCommand, run: Path) -> None:
    """A file that is wrong from end to end does not fill the screen."""
    (run / "claims.jsonl").write_text("{}\n" * 500)
    _, out, _ = kiwi("verify", run, "--book", run.parent / "road.zim")
    assert re.search(r"^✗ claims\.jsonl: \d+ more\. Use --json to see all\.$", out, re.MULTILINE)
    assert out.count("✗ claims.jsonl") == 41


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["verify"], 2, "Missing argument 'RUN'"),
        (["verify", ""], 2, "The folder name is empty."),
        (
            ["verify", "nowhere"],
            1,
            "The folder 'nowhere' was not found. Enter the folder of a finished run.",
        ),
        (["verify", "a", "b"], 2, "unexpected extra argument"),
        (["verify", "."], 1, "The folder '.' does not contain a run"),
        (["verify", "a\0b"], 1, "was not found"),
        (["verify", "~nobody-here/run"], 2, "The home folder in"),
    ],
)
def test_a_run_that_cannot_be_verified_is_explained(
    kiwi: RunCommand,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    message: str,
) -> None:
    """If there is no run, one sentence says so, on standard error."""
    monkeypatch.chdir(tmp_path)
    found, out, err = kiwi(*words)
    assert (found, out) == (code, "")
    assert message in err


def test_a_run_over_the_sample_book(
    kiwi: RunCommand, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first run on a fresh machine can be verified without adding a book: the sample book needs no shelf."""
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(tmp_path_factory.getbasetemp() / "ready"))
    assert start(["Bronze Age collapse", "--fast", "--max-pages", "3", "--out", str(tmp_path / "run")]) == 0
    kiwi("books", "list")  # what the run printed is of no interest
    code, out, err = kiwi("verify", tmp_path / "run")
    assert (code, err) == (0, "")
    assert out.endswith("Everything checks out.\n")
