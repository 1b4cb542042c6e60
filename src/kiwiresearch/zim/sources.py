"""What a user may name as books: files, folders, split files, a library.xml, a server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from kiwiresearch.errors import BookNotFound, NotABook

SUFFIXES = (".zim", ".zimaa")
SERVE_TIMEOUT_S = 20.0
"""How long to wait for an answer of a server, if the user sets nothing else."""

FAR = "peer://"
DEEPEST = 6
"""How far below a folder books are looked for."""


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """Where a book is: a file, a server and the book's name there, or another host that shares its books."""

    location: str
    served: str = ""

    @property
    def is_served(self) -> bool:
        return bool(self.served) or is_address(self.location)

    @property
    def is_far(self) -> bool:
        """Whether another host has it: the location then holds its UUID and the name of its file there."""
        return self.location.startswith(FAR)

    @property
    def far_id(self) -> str:
        """The UUID of a book that another host has."""
        return self.location.removeprefix(FAR).partition("/")[0]

    @property
    def path(self) -> Path:
        return Path(self.location)

    def __str__(self) -> str:
        return f"{self.location}#{self.served}" if self.served else self.location


def far_source(book: str, file: str) -> Source:
    """Where a book is that another host has: by its UUID, as hosts come and go, and by its file's name there."""
    return Source(f"{FAR}{book}/{file.replace('/', '_')}")


def is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def files_in(path: Path) -> list[Path]:
    """The books that a path stands for: itself, all in a folder, or all in a library.xml."""
    path = path.expanduser()
    if path == Path():
        raise BookNotFound("The name of the book is empty.", remedy="Give a file, a folder or an address.")
    if _is_folder(path):
        found = books_below(path)
        if not found:
            raise BookNotFound(f"There is no .zim file in the folder {str(path)!r}.", remedy="Name another folder.")
        return found
    if path.suffix == ".xml":
        return library_files(path)
    return [path]


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name too long for the system
        return False


def books_below(folder: Path, deepest: int = DEEPEST) -> list[Path]:
    """All books in a folder and some levels below it, without following links out of it."""
    found: list[Path] = []
    waiting = [(folder, 0)]
    while waiting:
        here, depth = waiting.pop()
        try:
            entries = sorted(here.iterdir())
        except OSError:
            continue
        for entry in entries:
            if entry.suffix in SUFFIXES and entry.is_file():
                found.append(entry)
            elif depth < deepest and entry.is_dir() and not entry.is_symlink() and not entry.name.startswith("."):
                waiting.append((entry, depth + 1))
    return sorted(found)


def library_files(path: Path) -> list[Path]:
    """The files that a library.xml of Kiwix lists; relative ones start from its own folder."""
    try:
        content = path.read_bytes()
    except OSError as problem:
        raise BookNotFound(f"The library {str(path)!r} cannot be read: {problem.strerror}.") from problem
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise NotABook(f"{str(path)!r} is no library of Kiwix: it declares a document type.")
    try:
        root = ElementTree.fromstring(content)  # noqa: S314
    except ElementTree.ParseError as problem:
        raise NotABook(
            f"{str(path)!r} is no library of Kiwix: {problem}.",
            remedy="Make one with 'kiwix-manage'.",
        ) from problem
    names = [book.get("path") for book in root.iter("book")]
    files = [_library_path(path.parent, name) for name in names if name]
    if not files:
        raise BookNotFound(f"The library {str(path)!r} names no file.", remedy="Add the ZIM files themselves.")
    return files


def _library_path(folder: Path, name: str) -> Path:
    plain = Path(name)
    file = plain if plain.is_absolute() else folder / plain
    decoded = Path(unquote(str(file)))
    return decoded if not file.exists() and decoded.exists() else file
