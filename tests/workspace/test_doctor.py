from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kiwiresearch.codec import plain
from kiwiresearch.version import __version__
from kiwiresearch.workspace.inventory import MAX_SHOWN, Diagnosis, diagnose, usual_folders
from kiwiresearch.workspace.workspace import Workspace, open_workspace
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.shelf import listed_book


def _write(target: Path, title: str, *, index: bool = True) -> Path:
    pages = [NewPage(name, name, b"<p>text</p>") for name in ("Moon", "Sun")]
    metadata = {"Name": target.stem, "Title": title, "Language": "eng", "Date": "2026-01-01"}
    write_book(target, pages, metadata=metadata, index=index)
    return target


@pytest.fixture(scope="module")
def prepared_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two books, and a home that knows both to be sound."""
    folder = tmp_path_factory.mktemp("furnished")
    desk = open_workspace({"KIWIRESEARCH_HOME": str(folder / "home")})
    desk.opener.look_up(str(_write(folder / "moon.zim", "Moon book")))
    desk.opener.look_up(str(_write(folder / "plain.zim", "Plain book", index=False)))
    return folder


@pytest.fixture
def desk(prepared_home: Path, home: Path) -> Workspace:
    """The desk of a user whose shelf is empty."""
    shutil.copytree(prepared_home / "home", home, ignore=shutil.ignore_patterns("state"))
    return open_workspace()


@pytest.fixture
def user(tmp_path: Path) -> Path:
    """The user's own folder: another than this process has, so that only it is searched."""
    folder = tmp_path / "someone"
    folder.mkdir()
    return folder


@pytest.fixture
def dead() -> Iterator[str]:
    """An address where nobody listens, and nobody else can start to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def _about(subject: str, findings: list[Diagnosis]) -> list[Diagnosis]:
    return [finding for finding in findings if finding.subject == subject]


def _look(desk: Workspace, subject: str, user: Path, **environment: str) -> list[Diagnosis]:
    return _about(subject, diagnose(desk, {"HOME": str(user), **environment}, servers=()))


def _put_on_shelf(desk: Workspace, what: object) -> None:
    desk.shelf_file.add([listed_book(book, source) for book, source in desk.opener.look_up(str(what))])


def test_a_first_visit_finds_nothing_wrong(desk: Workspace, user: Path) -> None:
    """With nothing there, all subjects are looked at and only the empty shelf is remarked on."""
    findings = diagnose(desk, {"HOME": str(user)}, servers=())
    assert [(finding.subject, finding.state) for finding in findings] == [
        ("program", "fine"),
        ("settings", "fine"),
        ("cache", "fine"),
        ("shelf", "note"),
        ("files", "fine"),
        ("servers", "fine"),
    ]
    assert f"kiwiresearch {__version__}" in findings[0].message
    assert findings[3].remedy == "kiwiresearch books add FILE.zim"


@pytest.mark.parametrize(
    "place",
    [
        "Downloads",
        "Documents",
        "Desktop",
        "Kiwix",
        "zims",
        ".local/share/kiwix",
        ".local/share/kiwix-desktop",
        ".var/app/org.kiwix.desktop/data",
        "Downloads/kiwix/2026",
    ],
)
def test_books_in_the_usual_places_are_found(desk: Workspace, prepared_home: Path, user: Path, place: str) -> None:
    """A ZIM file where people and Kiwix programs keep them is named, with the command that adds it."""
    file = user / place / "moon.zim"
    file.parent.mkdir(parents=True)
    shutil.copy2(prepared_home / "moon.zim", file)
    (finding,) = _look(desk, "files", user)
    assert finding.message == f"{file}: Moon book, not in your library"
    assert finding.remedy == f"kiwiresearch books add {str(file)!r}"
    assert finding.state == "note"


def test_books_in_named_folders_are_found(desk: Workspace, prepared_home: Path, user: Path) -> None:
    """KIWIRESEARCH_ZIM_FOLDERS names more places, as PATH does."""
    for name in ("one", "two"):
        (user / name).mkdir()
    shutil.copy2(prepared_home / "moon.zim", user / "one")
    shutil.copy2(prepared_home / "plain.zim", user / "two")
    both = os.pathsep.join([str(user / "one"), str(user / "two"), str(user / "missing")])
    found = _look(desk, "files", user, KIWIRESEARCH_ZIM_FOLDERS=both)
    assert [finding.message for finding in found] == [
        f"{user / 'one' / 'moon.zim'}: Moon book, not in your library",
        f"{user / 'two' / 'plain.zim'}: Plain book, not in your library",
    ]


def test_books_of_a_kiwix_library_are_found(desk: Workspace, prepared_home: Path, user: Path) -> None:
    """The library.xml of a Kiwix program leads to books wherever they are; missing ones are left out."""
    library = user / ".local/share/kiwix/library.xml"
    library.parent.mkdir(parents=True)
    rows = f'<book path="{prepared_home / "moon.zim"}"/><book path="{user / "gone.zim"}"/>'
    library.write_text(f'<library version="20110515">{rows}</library>', encoding="utf-8")
    (finding,) = _look(desk, "files", user)
    assert finding.message == f"{prepared_home / 'moon.zim'}: Moon book, not in your library"


def test_a_broken_kiwix_library_is_named(desk: Workspace, user: Path) -> None:
    """A library.xml that cannot be read is remarked on and ends nothing."""
    library = user / ".local/share/kiwix-desktop/library.xml"
    library.parent.mkdir(parents=True)
    library.write_text("<library", encoding="utf-8")
    findings = _look(desk, "files", user)
    assert findings[0].state == "note"
    assert findings[0].message.startswith(f"{str(library)!r} is not a Kiwix library: ")


def test_books_on_the_shelf_are_not_offered_again(desk: Workspace, prepared_home: Path, user: Path) -> None:
    """A file that is on the shelf is listed there and not among the files to add."""
    (user / "Kiwix").mkdir()
    shutil.copy2(prepared_home / "moon.zim", user / "Kiwix")
    _put_on_shelf(desk, user / "Kiwix" / "moon.zim")
    (files,) = _look(desk, "files", user)
    assert files.state == "fine"
    (shelf,) = _look(desk, "shelf", user)
    assert str(shelf.message) == "Moon book (moon, 2026-01-01): 2 articles"


def test_files_that_are_not_books_are_reported(desk: Workspace, user: Path) -> None:
    """Of many broken downloads the first are named with what is wrong, and the rest counted."""
    (user / "Downloads").mkdir()
    for number in range(MAX_SHOWN + 3):
        (user / "Downloads" / f"{number:02}.zim").touch()
    findings = _look(desk, "files", user)
    assert len(findings) == MAX_SHOWN + 1
    assert "00.zim' is empty. Copy or download it again." in findings[0].message
    assert findings[-1].message == "3 more ZIM files found."


def test_a_missing_index_of_a_book_is_reported(desk: Workspace, prepared_home: Path, user: Path) -> None:
    """A book without a full-text index is a note, since its search is coarser."""
    _put_on_shelf(desk, prepared_home / "plain.zim")
    (finding,) = _look(desk, "shelf", user)
    assert finding.state == "note"
    assert "no full-text index" in finding.message


def test_a_broken_book_is_found(desk: Workspace, prepared_home: Path, user: Path, tmp_path: Path) -> None:
    """A book whose file is gone or damaged is broken, with the command that takes it off; others are fine."""
    for name in ("gone.zim", "cut.zim"):
        shutil.copy2(prepared_home / "moon.zim", tmp_path / name)
        _put_on_shelf(desk, tmp_path / name)
    _put_on_shelf(desk, prepared_home / "moon.zim")
    (tmp_path / "gone.zim").unlink()
    os.truncate(tmp_path / "cut.zim", 1000)
    gone, cut, sound = _look(desk, "shelf", user)
    assert (gone.state, cut.state, sound.state) == ("broken", "broken", "fine")
    assert f"The file {str(tmp_path / 'gone.zim')!r} does not exist." in gone.message
    assert f"The ZIM file {str(tmp_path / 'cut.zim')!r} is incomplete." in cut.message
    assert gone.remedy == f"kiwiresearch books remove {str(tmp_path / 'gone.zim')!r}"


def test_a_folder_that_cannot_be_written_is_broken(desk: Workspace, user: Path, tmp_path: Path) -> None:
    """If nothing can be kept, the doctor says so and how to move."""
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    closed = [folder for folder in (locked, Path("/proc/1")) if not os.access(folder, os.W_OK)]
    if not closed:
        pytest.skip("this user may write everywhere")
    moved = replace(desk, folders=replace(desk.folders, cache=closed[0] / "deep" / "cache"))
    (cache,) = _look(moved, "cache", user)
    assert cache.state == "broken"
    assert cache.message == f"{closed[0] / 'deep' / 'cache'} is not writable."
    assert cache.remedy == "Set KIWIRESEARCH_HOME to a folder you can write to."
    assert _look(moved, "settings", user)[0].state == "fine"


def test_a_running_server_is_found(
    desk: Workspace, prepared_home: Path, user: Path, dead: str, kiwix_serve: Callable[..., str]
) -> None:
    """A kiwix-serve is named with its books and the command that adds it, once added it is fine (R31)."""
    address = kiwix_serve(prepared_home / "moon.zim", prepared_home / "plain.zim")
    (found,) = _about("servers", diagnose(desk, {"HOME": str(user)}, servers=(dead, address)))
    assert found.message == f"kiwix-serve at {address} with 2 books"
    assert (found.state, found.remedy) == ("note", f"kiwiresearch books add {address}")
    _put_on_shelf(desk, address)
    (found,) = _about("servers", diagnose(desk, {"HOME": str(user)}, servers=(dead, address)))
    assert (found.state, found.remedy) == ("fine", "")


def test_no_server_is_not_a_problem(desk: Workspace, user: Path, dead: str) -> None:
    """Nothing listening where a server could be is nothing to repair."""
    (found,) = _about("servers", diagnose(desk, {"HOME": str(user)}, servers=(dead,)))
    assert plain(found) == {
        "subject": "servers",
        "state": "fine",
        "message": "No kiwix-serve found on this machine.",
        "remedy": "",
    }


def test_sticks_are_searched_for_the_user_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sticks and system folders are among the places."""
    monkeypatch.setenv("HOME", "/home/ada")
    places = usual_folders(os.environ)
    assert Path("/home/ada/Downloads") in places
    assert {Path("/media"), Path("/run/media"), Path("/var/lib/kiwix")} <= set(places)
