"""What only a process of its own can show: its output, its end, its imports."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.processes import INTERRUPTIBLE, SCRIPT, on_terminal

from kiwiresearch.cli.start import run
from kiwiresearch.workspace.workspace import SAMPLE_NOTICE, open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A book, and a home that knows it to be sound."""
    folder = tmp_path_factory.mktemp("furnished")
    pages = [NewPage("Bay", "Bay", b"<h2 id='Waves'>Waves</h2><p>Low.</p>")]
    metadata = {"Name": "sea_en", "Title": "Sea book", "Language": "eng", "Date": "2026-01-01"}
    write_book(folder / "sea.zim", pages, metadata=metadata)
    open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")}).opener.look_up(str(folder / "sea.zim"))
    return folder


@pytest.fixture
def book(prepared_home: Path, home: Path) -> Path:
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return prepared_home / "sea.zim"


def _run(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *map(str, words)], capture_output=True, text=True, check=False)


def test_a_first_start_writes_nothing_but_its_answer(home: Path) -> None:
    """The very first command builds the sample book, and what libzim prints meanwhile reaches nobody."""
    done = _run("page", "Sunset", "--json")
    assert (done.returncode, done.stderr) == (0, f"{SAMPLE_NOTICE}\n")
    assert json.loads(done.stdout)["title"] == "Sunset"
    assert done.stdout.count("\n") == 1


def test_the_exit_code_is_the_process_s(book: Path) -> None:
    """The installed command ends with the code of its error, and prints no traceback."""
    done = _run("page", "Land", "-b", book)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("kiwiresearch: No page named 'Land' in 'Sea book'.")


def test_ctrl_c_ends_a_command(home: Path) -> None:
    """Ctrl-C while waiting for a server ends the command at once, with code 130 and one word."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        command = [sys.executable, "-c", INTERRUPTIBLE, "books", "add", address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            caller, _ = silent.accept()
            with caller:
                assert caller.recv(4) == b"GET "
                process.send_signal(signal.SIGINT)
                out, err = process.communicate()
    assert (process.returncode, out, err) == (130, "", "kiwiresearch: Interrupted.\n")
    assert not (home / "shelf.json").exists()


def test_a_terminal_gets_colours_unless_they_are_unwanted(book: Path) -> None:
    """Headings have colour on a terminal; where NO_COLOR is set there is none, and no bold or underline either."""
    command = (SCRIPT, "page", "Bay", "-b", str(book))
    code, shown = on_terminal(command, TERM="xterm")
    assert (code, "\x1b[1;36mWaves" in shown) == (0, True)
    code, shown = on_terminal(command, TERM="xterm", NO_COLOR="1")
    assert (code, "Waves" in shown, "\x1b" in shown) == (0, True, False)


def test_help_imports_nothing_heavy(home: Path) -> None:
    """--help loads the command line and nothing that reads books, pages or servers."""
    program = (
        "import sys; from kiwiresearch.cli.start import run\n"
        "assert run(['--help']) == 0\n"
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    ours = {name for name in loaded if name.startswith("kiwiresearch.") and not name.startswith("kiwiresearch.cli")}
    names_of_formats = {"kiwiresearch.export", "kiwiresearch.export.formats"}
    errors = {"kiwiresearch.errors", "kiwiresearch.messages", "kiwiresearch.messages.message"}
    assert ours == {"kiwiresearch.lazy", "kiwiresearch.version"} | errors | names_of_formats
    heavy = {"libzim", "selectolax", "httpx2", "platformdirs", "tomllib", "xml.etree", "hypothesis", "sqlite3"}
    assert heavy & loaded == set()


@pytest.fixture
def killed(book: Path, tmp_path: Path) -> Path:
    """A file that a process had open when it was killed."""
    file = tmp_path / "open.zim"
    shutil.copy2(book, file)
    program = (
        "import os, signal, sys; from kiwiresearch import open_shelf\n"
        "open_shelf(sys.argv[1:]).archives(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program, file], check=False)
    assert done.returncode == -signal.SIGKILL
    return file


Change = Callable[[Path], None]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda file: os.truncate(file, 1_000), "and now has 1,000."),
        (lambda file: file.unlink(), "and is now missing."),
    ],
    ids=["cut", "gone"],
)
def test_a_crash_is_explained_at_the_next_start(
    killed: Path, book: Path, capsys: pytest.CaptureFixture[str], change: Change, expected: str
) -> None:
    """A command that died while its book was cut or deleted is explained by the next one, once, beside its output."""
    before = f"{killed.stat().st_size:,}"
    change(killed)
    assert run(["books", "info", str(book), "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["books"]
    assert shown.err.startswith(
        f"An earlier command stopped while reading {str(killed)!r}: the file had {before} bytes {expected}"
    )
    assert shown.err.count("\n") == 1
    assert run(["books", "info", str(book), "--json"]) == 0
    assert capsys.readouterr().err == ""


def test_a_killed_process_is_not_reported(killed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A process that was only killed, with its books intact, is not reported."""
    assert run(["books", "info", str(killed)]) == 0
    assert capsys.readouterr().err == ""
