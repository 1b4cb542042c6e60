"""The books on the shelf, other books and servers on this machine, their problems, and how to solve them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from kiwiresearch.codec import OMIT_DEFAULT, Record
from kiwiresearch.errors import KiwiError
from kiwiresearch.version import __version__
from kiwiresearch.workspace.shelf import shelf_of
from kiwiresearch.workspace.workspace import BookState, Workspace
from kiwiresearch.zim import Book, BookKind, Indexes, ListedBook, Shelf, books_below, library_files

CHECK_WORDS: Mapping[BookState, str] = {
    "sound": "no damage found",
    "unchecked": "not checked for damage yet",
    "no checksum": "no checksum, so damage cannot be detected",
    "damaged": "damaged",
    "unopenable": "cannot be opened",
    "served": "on a server, not checked here",
}


@dataclass(frozen=True, slots=True)
class BookRecord(Record):
    """A book in the library. If it cannot be opened, only the first five fields are known."""

    id: str
    name: str
    title: str
    check: str
    """`sound`, `unchecked`, `no checksum`, `damaged`, `served` or `broken`, which here stands for `unopenable`."""
    problem: str | None
    """Why it cannot be read, if it cannot."""
    source: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The path of its file; clients of a server do not see it."""
    host: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """The other host that has it; absent for a book of this host."""
    url: str | None = field(default=None, metadata=OMIT_DEFAULT)
    """Opens its main page."""
    description: str | None = field(default=None, metadata=OMIT_DEFAULT)
    date: str | None = field(default=None, metadata=OMIT_DEFAULT)
    languages: tuple[str, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    flavour: str | None = field(default=None, metadata=OMIT_DEFAULT)
    creator: str | None = field(default=None, metadata=OMIT_DEFAULT)
    publisher: str | None = field(default=None, metadata=OMIT_DEFAULT)
    scraper: str | None = field(default=None, metadata=OMIT_DEFAULT)
    tags: tuple[str, ...] | None = field(default=None, metadata=OMIT_DEFAULT)
    articles: int | None = field(default=None, metadata=OMIT_DEFAULT)
    entries: int | None = field(default=None, metadata=OMIT_DEFAULT)
    media: int | None = field(default=None, metadata=OMIT_DEFAULT)
    size_bytes: int | None = field(default=None, metadata=OMIT_DEFAULT)
    indexes: Indexes | None = field(default=None, metadata=OMIT_DEFAULT)
    kind: BookKind | None = field(default=None, metadata=OMIT_DEFAULT)
    main_page: str | None = field(default=None, metadata=OMIT_DEFAULT)
    old_namespaces: bool | None = field(default=None, metadata=OMIT_DEFAULT)
    is_wikipedia: bool | None = field(default=None, metadata=OMIT_DEFAULT)
    lead_only: bool | None = field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class BookStatus:
    """A book on the shelf, with its metadata or the reason why it cannot be opened."""

    listed: ListedBook
    book: Book | None
    check: BookState
    problem: KiwiError | None = None
    host: str = ""
    """The other host that has it; empty for a book of this host."""

    def record(self) -> BookRecord:
        listed, book = self.listed, self.book
        known = BookRecord(
            listed.id,
            listed.name,
            listed.title,
            "broken" if self.check == "unopenable" else self.check,
            str(self.problem) if self.problem else None,
            source=str(listed.source),
            host=self.host or None,
        )
        if book is None:
            return known
        values = {item.name: getattr(book, item.name) for item in fields(book) if getattr(known, item.name) is None}
        return replace(known, **values, is_wikipedia=book.is_wikipedia, lead_only=book.lead_only)


def book_statuses(workspace: Workspace, shelf: Shelf) -> list[BookStatus]:
    """Open each book of the shelf to find out its state."""
    rows = []
    for listed in shelf.books:
        try:
            archive = shelf.open(listed)
            file_check = workspace.opener.file_check(listed.source)
            state: BookState = file_check.state if file_check else "served"
            rows.append(BookStatus(listed, archive.book, state, host=shelf.host_of(listed)))
        except KiwiError as problem:
            rows.append(BookStatus(listed, None, "unopenable", problem))
    return rows


DiagnosisState = Literal["fine", "note", "broken"]

SERVERS = (
    "http://127.0.0.1:8080",
    "http://127.0.0.1:8000",
    "http://127.0.0.1:9999",
    "http://127.0.0.1:3000/kiwix",
)
"""Where a kiwix-serve on this machine usually listens: the only addresses tried without being configured."""

PROBE_TIMEOUT_S = 0.5
MAX_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Diagnosis(Record):
    """The result of one check."""

    subject: str
    state: DiagnosisState
    message: str
    remedy: str = ""


def diagnose(
    workspace: Workspace, environment: Mapping[str, str] = os.environ, servers: tuple[str, ...] = SERVERS
) -> list[Diagnosis]:
    """Run all checks, in the order in which a user needs the results."""
    return [
        *_program(workspace),
        *_shelf(workspace),
        *_title_indexes(workspace),
        *_model(workspace),
        *_files(workspace, environment),
        *_servers(workspace, servers),
    ]


def _program(workspace: Workspace) -> Iterator[Diagnosis]:
    from importlib.metadata import version

    python = ".".join(map(str, sys.version_info[:3]))
    yield Diagnosis("program", "fine", f"kiwiresearch {__version__}, Python {python}, libzim {version('libzim')}")
    for name, folder in (("settings", workspace.folders.config), ("cache", workspace.folders.cache)):
        if _writable(folder):
            yield Diagnosis(name, "fine", str(folder))
        else:
            yield Diagnosis(
                name, "broken", f"{folder} is not writable.", "Set KIWIRESEARCH_HOME to a folder you can write to."
            )


def _writable(folder: Path) -> bool:
    # A folder that does not exist yet is created when it is needed, so what counts is the one above it.
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _shelf(workspace: Workspace) -> Iterator[Diagnosis]:
    if not workspace.shelf_file.books():
        yield Diagnosis(
            "shelf",
            "note",
            "Your library is empty, so commands use the sample book.",
            "kiwiresearch books add FILE.zim",
        )
        return
    with shelf_of(workspace) as shelf:
        for row in book_statuses(workspace, shelf):
            if row.problem or row.book is None:
                remedy = f"kiwiresearch books remove {str(row.listed.source)!r}"
                yield Diagnosis("shelf", "broken", f"{row.listed.title}: {row.problem}", remedy)
                continue
            book = row.book
            indexes = (("full-text index", book.indexes.full_text), ("title index", book.indexes.titles))
            lacks = [name for name, is_there in indexes if not is_there]
            note = f"; no {' or '.join(lacks)}, so search is slower or less precise" if lacks else ""
            note += "; not checked for damage yet" if row.check == "unchecked" else ""
            message = f"{book.title} ({book.name}, {book.date or 'no date'}): {book.articles:,} articles{note}"
            yield Diagnosis("shelf", "note" if note else "fine", message)


def _title_indexes(workspace: Workspace) -> Iterator[Diagnosis]:
    """Which large books have a title index; search works without one, but better with it."""
    if not workspace.shelf_file.books():
        return
    from kiwiresearch.workspace.models import MAX_ENTRIES_TO_INDEX_NOW, TitleIndexes

    indexes = TitleIndexes(workspace.folders.cache / "titles")
    with shelf_of(workspace) as shelf:
        for row in book_statuses(workspace, shelf):
            if row.book is None or row.check == "served" or row.book.entries <= MAX_ENTRIES_TO_INDEX_NOW:
                continue
            rows = indexes.title_count(row.book)
            subject = f"titles of {row.book.title}"
            if rows:
                yield Diagnosis(subject, "fine", f"{rows:,} titles indexed.")
            else:
                yield Diagnosis(
                    subject,
                    "note",
                    "Not indexed yet, so search finds only the titles that the book itself suggests.",
                    f"Search builds it in the background. To build it now: kiwiresearch books index {row.book.name}",
                )


def _model(workspace: Workspace) -> Iterator[Diagnosis]:
    """Whether the configured language model answers, if there is one."""
    if not workspace.settings.model_url.strip():
        return
    from kiwiresearch.workspace.models import chat_model

    try:
        with chat_model(workspace.settings) as model:
            name, context = model.name, model.context_tokens()
        known = f" Its context is {context:,} tokens." if context else ""
        yield Diagnosis("language model", "fine", f"{name!r} is responding at {workspace.settings.model_url!r}.{known}")
    except KiwiError as problem:
        yield Diagnosis("language model", "note", problem.message, problem.remedy or "Everything works without it.")


def _files(workspace: Workspace, environment: Mapping[str, str]) -> Iterator[Diagnosis]:
    known = {book.source.location for book in workspace.shelf_file.books()}
    found: list[Path] = []
    places = [(home_folder(environment), 0), *((folder, MAX_FOLDER_LEVELS) for folder in usual_folders(environment))]
    for folder, levels in places:
        if folder.is_dir():
            found += [file for file in books_below(folder, levels) if str(file.absolute()) not in known]
    for name in LIBRARIES:
        library = home_folder(environment) / name
        if library.is_file():
            try:
                found += [f for f in library_files(library) if f.exists() and str(f.absolute()) not in known]
            except KiwiError as problem:
                yield Diagnosis("files", "note", str(problem))
    unique = sorted(dict.fromkeys(file.absolute() for file in found))
    for file in unique[:MAX_SHOWN]:
        try:
            rows = workspace.opener.look_up(str(file))
            yield Diagnosis(
                "files",
                "note",
                f"{file}: {rows[0][0].title}, not in your library",
                f"kiwiresearch books add {str(file)!r}",
            )
        except KiwiError as problem:
            yield Diagnosis("files", "note", str(problem))
    if len(unique) > MAX_SHOWN:
        rest = len(unique) - MAX_SHOWN
        yield Diagnosis("files", "note", f"{rest} more ZIM files found.", "kiwiresearch books add FOLDER")
    if not unique:
        yield Diagnosis("files", "fine", "No other ZIM files found in the usual folders or on USB drives.")


HOME_FOLDERS = ("Downloads", "Documents", "Desktop", "Kiwix", "kiwix", "zim", "zims", "ZIM",
                ".local/share/kiwix", ".local/share/kiwix-desktop", ".var/app/org.kiwix.desktop/data",
                "Library/Containers/self.Kiwix/Data/Documents", "AppData/Roaming/kiwix-desktop")  # fmt: skip
SYSTEM_FOLDERS = ("/library/zims/content", "/usr/share/kiwix", "/var/lib/kiwix", "/srv/kiwix", "/data/zim",
                  "/media", "/run/media", "/mnt", "/Volumes")  # fmt: skip
LIBRARIES = (".local/share/kiwix/library.xml", ".local/share/kiwix-desktop/library.xml",
             ".var/app/org.kiwix.desktop/data/kiwix-desktop/library.xml")  # fmt: skip
MAX_FOLDER_LEVELS = 3
"""How many levels below a usual folder are searched: a stick, a folder on it, a folder in that."""


def home_folder(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or environment.get("USERPROFILE") or "~").expanduser()


def usual_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where people and Kiwix programs keep ZIM files, on all systems."""
    extra = [Path(part) for part in environment.get("KIWIRESEARCH_ZIM_FOLDERS", "").split(os.pathsep) if part]
    home = home_folder(environment)
    return [*extra, *(home / name for name in HOME_FOLDERS), *map(Path, SYSTEM_FOLDERS)]


def _servers(workspace: Workspace, servers: tuple[str, ...]) -> Iterator[Diagnosis]:
    from kiwiresearch.zim import KiwixServer

    known = {book.source.location for book in workspace.shelf_file.books()}
    any_found = False
    for address in servers:
        server = KiwixServer(address, timeout_s=PROBE_TIMEOUT_S)
        try:
            books = server.catalogue()
        except KiwiError:
            continue
        finally:
            server.close()
        any_found = True
        remedy = "" if server.root in known else f"kiwiresearch books add {server.root}"
        yield Diagnosis(
            "servers", "fine" if not remedy else "note", f"kiwix-serve at {server.root} with {len(books)} books", remedy
        )
    if not any_found:
        yield Diagnosis("servers", "fine", "No kiwix-serve found on this machine.")
