"""Which files make up a book, and a first look at them that needs no libzim."""

from __future__ import annotations

import string
from pathlib import Path

from kiwiresearch.errors import BookNotFound, NotABook

MAGIC = b"ZIM\x04"

LOOKS_LIKE = (
    (b"<!doctype", "a web page: the download probably failed"),
    (b"<html", "a web page: the download probably failed"),
    (b"<?xml", "an XML file (a library.xml? then name it so)"),
    (b"d8:announce", "a torrent file: open it in a torrent program to get the book"),
    (b"d13:announce", "a torrent file: open it in a torrent program to get the book"),
    (b"PK\x03\x04", "a ZIP archive: unpack it first"),
    (b"\x1f\x8b", "a gzip archive: unpack it first"),
    (b"version https://git-lfs", "a Git LFS pointer: the book itself was not fetched"),
)


def parts_of(path: Path) -> tuple[Path, ...]:
    """The file itself, or all parts of a split book given by its first part or its plain name."""
    try:
        return _parts_of(path)
    except OSError as problem:  # a name too long, a folder that may not be looked into
        raise BookNotFound(
            f"The file {_shortened(path)} cannot be looked at: {problem.strerror}.", remedy="Check the path."
        ) from problem


def _shortened(path: Path) -> str:
    text = str(path)
    return repr(text if len(text) < LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


LONGEST_SHOWN = 200


def _parts_of(path: Path) -> tuple[Path, ...]:
    if path.suffix == ".zimaa":
        return _split_parts(path)
    if path.is_file():
        return (path,)
    first = path.with_suffix(".zimaa")
    if path.suffix == ".zim" and first.is_file():
        return _split_parts(first)
    if path.is_dir():
        raise NotABook(
            f"{str(path)!r} is a folder, not a ZIM file.",
            remedy="Add all books in it with 'kiwiresearch books add FOLDER'.",
        )
    if path.exists():
        raise NotABook(f"{str(path)!r} is no ordinary file.", remedy="Give the path of a .zim file.")
    raise BookNotFound(
        f"There is no file {str(path)!r}.",
        remedy="Check the path; 'kiwiresearch doctor' looks for books in the usual places.",
    )


def _split_parts(first: Path) -> tuple[Path, ...]:
    parts = []
    for one in string.ascii_lowercase:
        for two in string.ascii_lowercase:
            part = first.with_suffix(f".zim{one}{two}")
            if not part.is_file():
                break
            parts.append(part)
        else:
            continue
        break
    if not parts:
        raise BookNotFound(f"There is no file {str(first)!r}.", remedy="Check the path.")
    return tuple(parts)


def look_at(parts: tuple[Path, ...]) -> None:
    """Raise NotABook in plain words if the first bytes are not a ZIM file's."""
    first = parts[0]
    try:
        with first.open("rb") as stream:
            head = stream.read(64)
    except OSError as problem:
        raise NotABook(
            f"The file {str(first)!r} cannot be read: {problem.strerror}.",
            remedy="Check its permissions and the disk.",
        ) from problem
    if head.startswith(MAGIC):
        return
    if not head:
        raise NotABook(f"The file {str(first)!r} is empty.", remedy="Copy or download it again.")
    lowered = head.lower().lstrip()
    for beginning, meaning in LOOKS_LIKE:
        if lowered.startswith(beginning.lower()):
            raise NotABook(f"The file {str(first)!r} is no ZIM file but {meaning}.")
    raise NotABook(f"The file {str(first)!r} is no ZIM file.", remedy="Give the path of a .zim file.")
