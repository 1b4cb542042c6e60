"""Strange names, closed pipes, full disks, folders that cannot be written: each once brought a command down."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.cli.processes import SCRIPT

from kiwiresearch.cli.start import run
from kiwiresearch.workspace.inventory import diagnose
from kiwiresearch.workspace.workspace import SAMPLE_NOTICE, open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

BookMaker = Callable[..., Path]


def test_the_check_says_that_the_shelf_is_empty(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`books check` of an empty shelf says in one line that it checks the sample book."""
    assert run(["books", "check"]) == 0
    assert capsys.readouterr().err == f"{SAMPLE_NOTICE}\n"


def test_json_of_an_unknown_section(a_book: BookMaker, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--section counts with --json too: a heading the page lacks is exit code 3."""
    assert run(["page", "Moon", "-b", str(a_book({"Moon": "<p>x</p>"})), "--json", "--section", "none"]) == 3
    assert capsys.readouterr().out == ""


def test_a_reader_that_closes_the_pipe_is_not_an_error(a_book: BookMaker, home: Path) -> None:
    """`kiwiresearch … | head` has exit code 0 and no message about the closed pipe."""
    command = [SCRIPT, "page", "Moon", "-b", str(a_book({"Moon": "<p>More than a buffer.</p>" * 1000}))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_closed_output_gives_no_traceback(a_book: BookMaker, home: Path) -> None:
    """A command started without standard output (`>&-`) does not crash."""
    command = ["sh", "-c", '"$@" >&-', "sh", SCRIPT, "page", "Moon", "-b", str(a_book({"Moon": "<p>x</p>"}))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("form", [[], ["--json"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence(a_book: BookMaker, home: Path, form: list[str]) -> None:
    """Output that cannot be written is one sentence and exit code 1."""
    command = [SCRIPT, "page", "Moon", "-b", str(a_book({"Moon": "<p>x</p>"})), *form]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr, done.stderr.count("\n")) == (1, False, 1)


@pytest.mark.parametrize("command", [["books", "list"], ["page", "Moon", "-b", "{book}"], ["books", "add", "{book}"]])
def test_a_cache_that_cannot_be_written_gives_no_traceback(
    a_book: BookMaker, home: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """If nothing can be saved, a command works all the same or says so in one sentence."""
    home.mkdir()
    (home / "cache").touch()
    book = a_book({"Moon": "<p>x</p>"})
    assert run([word.format(book=book) for word in command]) in (0, 1)
    assert capsys.readouterr().err.count("\n") <= 1


def test_the_doctor_sees_a_file_in_place_of_a_folder(home: Path, tmp_path: Path) -> None:
    """A cache folder below a file cannot be written."""
    (tmp_path / "file").touch()
    desk = open_workspace()
    desk = replace(desk, folders=replace(desk.folders, cache=tmp_path / "file" / "cache"))
    findings = diagnose(desk, {"HOME": str(tmp_path)}, servers=())
    assert [f.state for f in findings if f.subject == "cache"] == ["broken"]


def test_a_file_name_that_is_not_utf8_is_accepted_or_refused(a_book: BookMaker, home: Path) -> None:
    """A file whose name is not UTF-8 is added like any other, or refused in one sentence."""
    book = a_book({"Moon": "<p>x</p>"})
    odd = Path(os.fsdecode(bytes(book.parent) + b"/\xff.zim"))
    book.rename(odd)
    assert run(["books", "add", str(odd)]) in (0, 1)
    assert run(["books", "list", "--json"]) == 0


@pytest.mark.parametrize("what", ["http://[::1", "x" * 5000], ids=["ipv6", "long"])
@pytest.mark.parametrize("command", [["books", "add"], ["page", "Moon", "-b"]], ids=["add", "page"])
def test_no_name_is_too_strange(home: Path, command: list[str], what: str) -> None:
    """Half an address and a name longer than any file's are refused like other wrong names."""
    assert run([*command, what]) == 1


@pytest.mark.parametrize("words", ["blue_MOON", "BLUE_MOON", "blue_moon"])
def test_underscores_and_case_at_once(a_book: BookMaker, home: Path, words: str) -> None:
    """A title with underscores is found in any case, also where paths have none."""
    assert run(["page", words, "-b", str(a_book({"x/1": "<p>x</p>"}, titles={"x/1": "Blue Moon"}))]) == 0


@pytest.mark.parametrize("words", ["Sunste", "Sunsett", "sunzet"])
def test_a_typo_names_the_page(home: Path, sample_zim: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One wrong letter is near enough to be helped."""
    assert run(["page", words, "-b", str(sample_zim)]) == 3
    assert "'Sunset'" in capsys.readouterr().err


def test_a_check_goes_on_after_a_lost_book(a_book: BookMaker, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A book whose file is gone fails its own check and leaves the others theirs."""
    one = a_book({"Moon": "<p>1</p>"}, name="one.zim", Title="One")
    two = a_book({"Moon": "<p>2</p>"}, name="two.zim", Title="Two")
    run(["books", "add", str(one), str(two)])
    one.unlink()
    capsys.readouterr()
    assert run(["books", "check", "--json"]) == 1
    assert [row["state"] for row in json.loads(capsys.readouterr().out)["books"]] == ["unopenable", "sound"]


@pytest.mark.parametrize("command", [["books", "add", ""], ["page", "Moon", "-b", ""]])
def test_an_empty_name_is_not_a_folder(
    a_book: BookMaker, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    """An empty name (an unset variable in a script) does not mean all books below the user's folder."""
    a_book({"Moon": "<p>x</p>"})
    monkeypatch.chdir(tmp_path)
    assert run(command) in (1, 2)
    assert not (home / "shelf.json").exists()


def test_a_book_that_could_not_be_searched_is_named(
    a_book: BookMaker, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """When a page is not found, or found further on, the books that could not be opened are named."""
    one = a_book({"Moon": "<p>1</p>"}, name="one.zim", Title="One")
    two = a_book({"Moon": "<p>2</p>"}, name="two.zim", Title="Two")
    run(["books", "add", str(one), str(two)])
    one.unlink()
    capsys.readouterr()
    assert run(["page", "Moon"]) == 0
    assert str(one) in capsys.readouterr().err
    assert run(["page", "Qqqq"]) == 3
    assert str(one) in capsys.readouterr().err


def test_json_escapes_all_control_characters(a_book: BookMaker, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON on a terminal does not obey U+009B (CSI) either: DEL and C1 are written as escapes."""
    book = a_book({"Moon": "<p>x</p>"}, Title="T\x9b31m\x7f", titles={"Moon": "Moon \x9b31m"})
    for command in (["page", "Moon", "-b", str(book), "--json"], ["books", "info", str(book), "--json"]):
        assert run(command) == 0
        out = capsys.readouterr().out
        assert not {"\x9b", "\x7f"} & set(out)


def test_libzim_is_not_heard(home: Path, tmp_path: Path) -> None:
    """An error is one line, also for a book in a language that libzim cannot stem."""
    book = tmp_path / "be.zim"
    metadata = {"Name": "be", "Title": "Be", "Language": "bel"}
    write_book(book, [NewPage("A", "A", b"<p>x</p>")], metadata=metadata, language="bel")
    done = subprocess.run([SCRIPT, "page", "Qqqq", "-b", str(book)], capture_output=True, text=True, check=False)
    assert done.stderr == "kiwiresearch: No page named 'Qqqq' in 'Be'. Try another title.\n"


def test_a_pipe_gets_whole_list_items(a_book: BookMaker, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list item is one line in a pipe, without spaces at its end."""
    words = " ".join(f"word{number}" for number in range(100))
    assert run(["page", "Moon", "-b", str(a_book({"Moon": f"<ul><li>{words}</li><li>short</li></ul>"}))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"  • {words}" in lines
    assert "  • short" in lines
