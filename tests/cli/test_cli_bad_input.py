from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kiwiresearch.workspace.workspace import open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book

RunCommand = Callable[..., tuple[int, str, str]]
CODES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good book and the bad ones made of it, and a home that has looked at each of them once."""
    folder = tmp_path_factory.mktemp("furnished")
    metadata = {"Name": "sea_en", "Title": "Sea book", "Language": "eng", "Date": "2026-01-01"}
    write_book(folder / "good.zim", [NewPage("Sea", "Sea", b"<p>The sea.</p>")], metadata=metadata)
    content = (folder / "good.zim").read_bytes()
    (folder / "cut.zim").write_bytes(content[: len(content) // 2])
    (folder / "flipped.zim").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    (folder / "empty.zim").touch()
    (folder / "text.zim").write_text("This is no book.\n")
    (folder / "page.zim").write_text("<!DOCTYPE html><title>404</title>")
    (folder / "pointer.zim").write_text("version https://git-lfs.github.com/spec/v1\n")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "library.xml").write_text("<library><book path=")
    (folder / "entities.xml").write_text('<!DOCTYPE x [<!ENTITY a "b">]><library>&a;</library>')
    (folder / "encoding.xml").write_text('<?xml version="1.0" encoding="none"?><library/>')
    (folder / "wide.xml").write_text('<!DOCTYPE x [<!ENTITY a "b">]><library>&a;</library>', encoding="utf-16")
    (folder / "nothing.xml").write_text("<library></library>")
    (folder / "folder").mkdir()
    (folder / "folder" / "readme.txt").write_text("nothing to read here")
    (folder / "gone.zimaa").write_bytes(content[:1000])
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    for name in ("good.zim", "cut.zim", "flipped.zim", "gone.zimaa"):
        desk.look_up_each(str(folder / name), [])
    return folder


@pytest.fixture
def bad(prepared_home: Path, home: Path) -> Path:
    """The folder of bad books."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return prepared_home


FILES = [
    ("missing.zim", "The file {path!r} does not exist. Check the path. "),
    ("missing/deep/book.zim", "The file {path!r} does not exist. Check the path. "),
    ("empty.zim", "The file {path!r} is empty. Copy or download it again."),
    ("text.zim", "The file {path!r} is not a ZIM file. Enter the path of a .zim file."),
    ("picture.png", "The file {path!r} is not a ZIM file. Enter the path of a .zim file."),
    ("page.zim", "The file {path!r} is not a ZIM file. It is a web page: the download probably failed."),
    ("pointer.zim", "The file {path!r} is not a ZIM file. It is a Git LFS pointer: "),
    ("cut.zim", "The ZIM file {path!r} is incomplete."),
    ("gone.zimaa", "The ZIM file {path!r} is incomplete."),
    ("flipped.zim", "The ZIM file {path!r} is damaged: its bytes do not match its checksum."),
    ("folder", "No .zim files in the folder {path!r}. Choose another folder."),
    ("library.xml", "{path!r} is not a Kiwix library: "),
    ("entities.xml", "{path!r} is not a Kiwix library: it contains a DOCTYPE or ENTITY declaration."),
    ("encoding.xml", "{path!r} is not a Kiwix library: unknown encoding: "),
    ("wide.xml", "{path!r} is not a Kiwix library: it is not in UTF-8."),
    ("nothing.xml", "The library {path!r} lists no files."),
    ("missing.xml", "Could not read the library {path!r}: No such file or directory."),
]


@pytest.mark.parametrize(("name", "message"), FILES, ids=[name for name, _ in FILES])
def test_a_file_that_is_not_a_book_is_named_in_one_sentence(
    kiwi: RunCommand, bad: Path, home: Path, name: str, message: str
) -> None:
    """Whatever a user passes as a book, the error is one line with its path, and exit code 1."""
    code, out, err = kiwi("books", "add", bad / name)
    assert (code, out) == (1, "")
    assert err.startswith("kiwiresearch: " + message.format(path=str(bad / name)))
    assert err.count("\n") == 1
    assert not (home / "shelf.json").exists()


@pytest.mark.parametrize("name", ["missing.zim", "empty.zim", "cut.zim", "flipped.zim", "folder"])
@pytest.mark.parametrize("command", [("books", "info"), ("page", "Sea", "--book")], ids=["info", "page"])
def test_every_command_says_the_same_of_it(kiwi: RunCommand, bad: Path, command: tuple[str, ...], name: str) -> None:
    """A file that cannot be added cannot be read either, and for the same reason."""
    assert kiwi(*command, bad / name) == kiwi("books", "add", bad / name)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("http://", "'http://' is not the address of a kiwix-serve server. Example: http://host:8080"),
        ("https:///x", "'https:///x' is not the address of a kiwix-serve server."),
        ("ftp://127.0.0.1/x", "The file "),
    ],
)
def test_invalid_address_is_refused(kiwi: RunCommand, home: Path, address: str, message: str) -> None:
    """What looks like the address of a server, but is not valid, is refused without a connection."""
    code, _, err = kiwi("books", "add", address)
    assert (code, err.count("\n")) == (1, 1)
    assert err.startswith(f"kiwiresearch: {message}")


@pytest.mark.parametrize(
    "command", [("books", "add"), ("page", "Sea", "--book"), ("kin", "import"), ("atlas", "overview")], ids=" ".join
)
def test_a_path_with_an_unknown_user_is_refused(kiwi: RunCommand, home: Path, command: tuple[str, ...]) -> None:
    """'~nobody-here/x' is refused in one line with exit code 2, without a traceback."""
    code, out, err = kiwi(*command, "~nobody-here/x")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "The home folder in '~nobody-here/x' does not exist. Enter another path." in err


@pytest.mark.parametrize("command", [("books", "list"), ("page", "Sea"), ("books", "remove", "x")])
def test_a_broken_setting_is_named(
    kiwi: RunCommand, home: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """A setting that cannot be used stops every command with its name and exit code 1."""
    monkeypatch.setenv("KIWIRESEARCH_SERVE_TIMEOUT_S", "soon")
    assert kiwi(*command) == (
        1,
        "",
        "kiwiresearch: KIWIRESEARCH_SERVE_TIMEOUT_S cannot be 'soon'. It must be a number.\n",
    )


@pytest.mark.parametrize(("file", "content"), [("shelf.json", "{"), ("settings.toml", "x = ")])
def test_the_doctor_sees_what_stops_the_others(kiwi: RunCommand, home: Path, file: str, content: str) -> None:
    """A list of books or a settings file that is broken is a finding of the doctor, with exit code 1."""
    home.mkdir()
    (home / file).write_text(content)
    code, out, err = kiwi("doctor")
    assert (code, err) == (1, "")
    assert str(home / file) in out


@pytest.mark.parametrize("word", ["\x1b[31mred", "\x9b31m\x07\x7f", "line\nbreak\udcff"], ids=["esc", "c1", "line"])
@pytest.mark.parametrize("command", [("page", "{}", "-b", "{good}"), ("page", "Sea", "-b", "{}"), ("{}",)], ids=len)
def test_codes_in_what_a_user_typed_do_not_come_back(
    kiwi: RunCommand, bad: Path, command: tuple[str, ...], word: str
) -> None:
    """An error repeats the user's words without codes that would change the terminal, on one line."""
    code, out, err = kiwi(*(part.format(word, good=bad / "good.zim") for part in command))
    assert (code > 0, out, err.count("\n")) == (True, "", 1)
    assert not CODES.search(err.rstrip("\n"))
    err.encode()
