"""The library of a user, changed while a server runs."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from kiwiresearch.errors import BookNotAdded
from kiwiresearch.workspace import library as library_module
from kiwiresearch.workspace.library import RESERVE_BYTES, Library, Upload, book_key
from kiwiresearch.workspace.workspace import Workspace, open_workspace
from kiwiresearch.zim import ZIM_MAGIC, Book, BookLocation
from kiwiresearch.zim.shelf import Opener

CHUNK = 1_000


@pytest.fixture
def workspace(home: Path) -> Workspace:
    return open_workspace({"KIWIRESEARCH_HOME": str(home)})


@pytest.fixture
def library(workspace: Workspace) -> Library:
    return Library(workspace)


def test_an_upload_may_fill_the_disk_up_to_the_reserve(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an upload has written already is not subtracted from its room a second time."""
    size = 10 * CHUNK
    written = 0
    monkeypatch.setattr(library_module, "CHECK_EVERY_BYTES", 3 * CHUNK)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=RESERVE_BYTES + size - written))
    with library.upload(declared_bytes=0) as upload:
        for number in range(10):
            upload.write(ZIM_MAGIC.ljust(CHUNK) if number == 0 else bytes(CHUNK))
            written += CHUNK
        with pytest.raises(BookNotAdded, match="at most"):
            _write_until_checked(upload)


def _write_until_checked(upload: Upload) -> None:
    for _ in range(3):
        upload.write(bytes(CHUNK))


def test_a_slow_check_of_an_upload_does_not_block_the_library(
    library: Library, sample_zim: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a child process reads an uploaded book, other books can be removed."""
    (other,) = library.add(str(sample_zim)).added
    look_up = Opener.look_up
    removed = threading.Event()

    def remove_other() -> None:
        library.remove(book_key(other))
        removed.set()

    def slow_look_up(opener: Opener, text: str) -> list[tuple[Book, BookLocation]]:
        threading.Thread(target=remove_other, daemon=True).start()
        assert removed.wait(10)
        return look_up(opener, text)

    monkeypatch.setattr(Opener, "look_up", slow_look_up)
    with library.upload(declared_bytes=0) as upload:
        upload.write(sample_zim.read_bytes())
        added = upload.finish("uploaded.zim")
    assert library.books() == (added,)
    assert library.is_uploaded(added)


def test_an_upload_replaces_every_copy_that_cannot_be_opened(
    library: Library, sample_zim: Path, tmp_path: Path
) -> None:
    """An upload of a book whose listed files are gone takes their place."""
    copies = [tmp_path / f"{name}.zim" for name in ("one", "two")]
    for copy in copies:
        shutil.copyfile(sample_zim, copy)
        library.add(str(copy))
        copy.unlink()
    assert len(library.books()) == 2
    with library.upload(declared_bytes=0) as upload:
        upload.write(sample_zim.read_bytes())
        added = upload.finish("again.zim")
    assert library.books() == (added,)
