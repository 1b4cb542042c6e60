from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwiresearch.version import __version__
from kiwiresearch.workspace.workspace import SAMPLE_NOTICE, open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.shelf import listed_book

RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book, and a home that has it on the shelf and the sample book in its cache."""
    folder = tmp_path_factory.mktemp("furnished")
    ready = tmp_path_factory.getbasetemp() / "ready"  # the sample book is built there once for all tests
    open_workspace({"KIWIRESEARCH_HOME": str(ready)}).sample()
    shutil.copytree(ready / "cache", folder / "home" / "cache")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    metadata = {"Name": "sea_en", "Title": "Sea book", "Language": "eng", "Date": "2026-01-01"}
    write_book(folder / "sea.zim", [NewPage("Sea", "Sea", b"<p>The sea.</p>")], metadata=metadata)
    found = desk.opener.look_up(str(folder / "sea.zim"))
    desk.shelf_file.add([listed_book(book, source) for book, source in found])
    return folder


@pytest.fixture
def book(prepared_home: Path, home: Path) -> Path:
    """A book that is on the shelf."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return prepared_home / "sea.zim"


@pytest.fixture
def no_book(book: Path, home: Path) -> Path:
    """The same book, but nothing is on the shelf."""
    (home / "shelf.json").unlink()
    return book


COMMANDS = [
    ("books", "list"),
    ("books", "add", "{book}"),
    ("books", "info"),
    ("books", "info", "Sea book"),
    ("books", "check"),
    ("books", "remove", "Sea book"),
    ("page", "Sea"),
    ("page", "Sea", "--links"),
    ("doctor",),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_json_is_one_document_and_alone(kiwi: RunCommand, book: Path, command: tuple[str, ...]) -> None:
    """With --json every command writes one JSON object on one line of standard output, and no word more."""
    code, out, err = kiwi(*(word.format(book=book) for word in command), "--json")
    assert (code, err) == (0, "")
    assert isinstance(json.loads(out), dict)
    assert out.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_without_json_the_output_is_for_people(kiwi: RunCommand, book: Path, command: tuple[str, ...]) -> None:
    """Without --json every command writes words and nothing to standard error when all is well."""
    code, out, err = kiwi(*(word.format(book=book) for word in command))
    assert (code, err) == (0, "")
    assert out.strip()
    assert not out.startswith("{")


@pytest.mark.parametrize(
    "command", [("page", "Qqqq"), ("page", "Sea", "-b", "other"), ("books", "remove", "other")], ids=" ".join
)
def test_json_of_a_failure_leaves_the_output_empty(kiwi: RunCommand, book: Path, command: tuple[str, ...]) -> None:
    """A command that fails with --json writes its one sentence to standard error and nothing else."""
    code, out, err = kiwi(*command, "--json")
    assert code in (1, 3)
    assert out == ""
    assert err.startswith("kiwiresearch: ")
    assert err.count("\n") == 1


def test_json_is_the_same_on_every_run(kiwi: RunCommand, book: Path) -> None:
    """Equal questions give equal bytes."""
    assert kiwi("page", "Sea", "--json") == kiwi("page", "Sea", "--json")
    assert kiwi("books", "info", "--json") == kiwi("books", "info", "--json")


SAMPLED = [("books", "list"), ("books", "info"), ("page", "Sunset")]


@pytest.mark.parametrize("command", SAMPLED, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["words", "json"])
def test_an_empty_shelf_is_said_once(
    kiwi: RunCommand, no_book: Path, command: tuple[str, ...], form: tuple[str, ...]
) -> None:
    """A command that uses the sample book says so in one line, beside its output."""
    code, out, err = kiwi(*command, *form)
    assert (code, err) == (0, f"{SAMPLE_NOTICE}\n")
    assert "sample" in out
    if form:
        assert isinstance(json.loads(out), dict)


def test_the_doctor_reports_an_empty_shelf(kiwi: RunCommand, no_book: Path) -> None:
    """The doctor finds the shelf empty and says what commands use instead."""
    assert "Your library is empty, so commands use the sample book." in kiwi("doctor")[1]


def test_the_line_helps_also_when_the_page_is_missing(kiwi: RunCommand, no_book: Path) -> None:
    """A search for a page of a book that is not on the shelf explains why it is not found."""
    code, out, err = kiwi("page", "Qqqq")
    assert (code, out) == (3, "")
    assert err.splitlines()[0] == SAMPLE_NOTICE
    assert err.splitlines()[1].startswith("kiwiresearch: No page named 'Qqqq' in 'kiwiresearch sample book'.")


@pytest.mark.parametrize(
    "command", [("page", "Sea", "-b", "{book}"), ("page", "Sunset", "-b", "sample"), ("books", "add", "{book}")]
)
def test_a_named_book_needs_no_note_about_an_empty_shelf(
    kiwi: RunCommand, no_book: Path, command: tuple[str, ...]
) -> None:
    """A command with a named book does not mention the empty shelf."""
    assert kiwi(*(word.format(book=no_book) for word in command))[2] == ""


def test_the_sample_book_can_be_asked_for(kiwi: RunCommand, book: Path) -> None:
    """`--book sample` reads the sample book though the shelf has another; a redirect leads on."""
    code, out, err = kiwi("page", "Einstein", "-b", "sample")
    assert (code, out.splitlines()[0], err) == (0, "Albert Einstein", "")


def test_the_line_goes_with_the_first_book(kiwi: RunCommand, no_book: Path) -> None:
    """After the first `books add` the sample book is out of the way, and after the last `remove` it is back."""
    kiwi("books", "add", no_book)
    assert kiwi("books", "list")[2] == ""
    assert "sample" not in kiwi("books", "list", "--json")[1].replace('"sample":false', "")
    kiwi("books", "remove", "Sea book")
    assert kiwi("books", "list")[2] == f"{SAMPLE_NOTICE}\n"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("--version", 0),
        ("--help", 0),
        ("-h", 0),
        ("page --help", 0),
        ("books add -h", 0),
        ("page Sea", 0),
        ("books info Sea_book", 1),
        ("books add missing.zim", 1),
        ("books remove other", 1),
        ("page Sea --book other", 1),
        ("page", 2),
        ("page Sea extra", 2),
        ("page --colour Sea", 2),
        ("page Sea --book", 2),
        ("books", 2),
        ("books borrow", 2),
        ("books add", 2),
        ("books list extra", 2),
        ("Sea --depth -1", 2),
        ("--colour", 2),
        ("", 2),
        ("page Ocean", 3),
        ("page Sea --section Tides", 3),
    ],
)
def test_exit_codes(kiwi: RunCommand, book: Path, command: str, code: int) -> None:
    """0 is done, 1 is a book or setting, 2 is a command that makes no sense, 3 is a page that is not there."""
    assert kiwi(*command.split())[0] == code


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["pag", "Sea"], "'pag' is not a command. Did you mean 'page'? To research this topic anyway"),
        (["book", "list"], "'book' is not a command. Did you mean 'books'?"),
        (["verfy"], "'verfy' is not a command. Did you mean 'verify'? To research this topic anyway: kiwiresearch res"),
        (["page", ""], "The title is empty."),
        (["page", " \t\n"], "The title is empty."),
        (["page", "Sea", "--colour"], "No such option: --colour"),
        (["page"], "Missing argument 'title'"),
        (["books", "borrow"], "No such command 'borrow'."),
        (["page", "Sea", "Land"], "unexpected extra argument"),
    ],
)
def test_a_command_that_makes_no_sense_is_explained(
    kiwi: RunCommand, book: Path, command: list[str], message: str
) -> None:
    """Exit code 2 comes with what is wrong, on standard error only."""
    code, out, err = kiwi(*command)
    assert (code, out) == (2, "")
    assert message in err


def test_the_version(kiwi: RunCommand, home: Path) -> None:
    """--version is the name and the version, and touches no folder."""
    assert kiwi("--version") == (0, f"kiwiresearch {__version__}\n", "")
    assert not home.exists()


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (["--help"], ["page", "doctor", "books", "--version"]),
        (["books", "--help"], ["list", "add", "remove", "info", "check"]),
        (["page", "--help"], ["--book", "--section", "--links", "--json"]),
        (["books", "add", "--help"], ["--json", "library.xml", "kiwix-serve"]),
    ],
)
def test_help_names_everything(kiwi: RunCommand, home: Path, command: list[str], names: list[str]) -> None:
    """--help lists the commands or options, on standard output, and touches no folder."""
    code, out, err = kiwi(*command)
    assert (code, err) == (0, "")
    assert [name for name in names if name not in out] == []
    assert "<list[" not in out, "the help shows a type of Python"
    assert not home.exists()


def test_a_broken_book_makes_the_doctor_fail(kiwi: RunCommand, book: Path, tmp_path: Path) -> None:
    """The doctor's exit code is 1 when something on the shelf is broken, and its output is complete."""
    shutil.copy2(book, tmp_path / "lost.zim")
    kiwi("books", "add", tmp_path / "lost.zim")
    (tmp_path / "lost.zim").unlink()
    code, out, err = kiwi("doctor")
    assert (code, err) == (1, "")
    assert f"→ kiwiresearch books remove '{tmp_path / 'lost.zim'}'" in out
    assert out.splitlines()[-2] == "Servers"
