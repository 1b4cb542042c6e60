"""Look around: which books and servers are there, what works, and what to do about the rest."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kiwiresearch import __version__
from kiwiresearch.errors import KiwiError
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.inventory import inventory
from kiwiresearch.zim.sources import books_below, library_files

State = Literal["fine", "note", "broken"]

SERVERS = (
    "http://127.0.0.1:8080",
    "http://127.0.0.1:8000",
    "http://127.0.0.1:9999",
    "http://127.0.0.1:3000/kiwix",
)
"""Where a kiwix-serve of this machine usually listens: the one time the program knocks unasked, and only at home."""

PROBE_TIMEOUT_S = 0.5
MOST_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    subject: str
    state: State
    message: str
    remedy: str = ""

    def record(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "state": self.state,
            "message": self.message,
            "remedy": self.remedy,
        }


def examine(
    desk: Desk, environment: Mapping[str, str] = os.environ, servers: tuple[str, ...] = SERVERS
) -> list[Finding]:
    """Look at everything, in the order a reader needs it."""
    return [
        *_program(desk),
        *_shelf(desk),
        *_title_indexes(desk),
        *_model(desk),
        *_files(desk, environment),
        *_servers(desk, servers),
    ]


def _program(desk: Desk) -> Iterator[Finding]:
    from importlib.metadata import version

    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding(
        "program",
        "fine",
        f"kiwiresearch {__version__}, Python {python}, libzim {version('libzim')}",
    )
    for name, folder in (("settings", desk.folders.config), ("cache", desk.folders.cache)):
        if _writable(folder):
            yield Finding(name, "fine", str(folder))
        else:
            yield Finding(
                name,
                "broken",
                f"{folder} cannot be written.",
                "Set KIWIRESEARCH_HOME to a folder that can.",
            )


def _writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _shelf(desk: Desk) -> Iterator[Finding]:
    if not desk.shelf_file.books():
        yield Finding(
            "shelf",
            "note",
            "No books yet: commands use the sample book.",
            "kiwiresearch books add FILE.zim",
        )
        return
    with desk.shelf() as shelf:
        for row in inventory(desk, shelf):
            if row.problem or row.book is None:
                remedy = f"kiwiresearch books remove {str(row.placed.source)!r}"
                yield Finding("shelf", "broken", f"{row.placed.title}: {row.problem}", remedy)
                continue
            book = row.book
            lacks = [
                name
                for name, has in (
                    ("full-text index", book.indexes.full_text),
                    ("title index", book.indexes.titles),
                )
                if not has
            ]
            note = f"; no {' and no '.join(lacks)}, so search is slower or coarser" if lacks else ""
            note += "; not checked for damage yet" if row.check == "unchecked" else ""
            message = f"{book.title} ({book.name}, {book.date or 'no date'}): {book.articles:,} articles{note}"
            yield Finding("shelf", "note" if note else "fine", message)


def _title_indexes(desk: Desk) -> Iterator[Finding]:
    """Which books have their titles indexed; search works without, and better with."""
    if not desk.shelf_file.books():
        return
    from kiwiresearch.research.title_indexes import AT_ONCE, TitleIndexes

    indexes = TitleIndexes(desk.folders.cache / "titles")
    with desk.shelf() as shelf:
        for row in inventory(desk, shelf):
            if row.book is None or row.check == "served" or row.book.entries <= AT_ONCE:
                continue
            rows = indexes.known(row.book)
            subject = f"titles of {row.book.title}"
            if rows:
                yield Finding(subject, "fine", f"{rows:,} titles are indexed.")
            else:
                yield Finding(
                    subject,
                    "note",
                    "They are not indexed yet, so search knows them by the book's own suggestions only.",
                    f"Search builds the index on the way; to have it now: kiwiresearch books index {row.book.name}",
                )


def _model(desk: Desk) -> Iterator[Finding]:
    """Whether the language model that was set answers; none is needed."""
    if not desk.settings.model_url.strip():
        return
    from kiwiresearch.research.models import chat_model

    try:
        with chat_model(desk.settings) as model:
            name, context = model.name, model.context_tokens()
        known = f" It reads {context:,} tokens at once." if context else ""
        yield Finding("language model", "fine", f"{name!r} answers at {desk.settings.model_url!r}.{known}")
    except KiwiError as problem:
        yield Finding("language model", "note", problem.message, problem.remedy or "All works without it.")


def _files(desk: Desk, environment: Mapping[str, str]) -> Iterator[Finding]:
    known = {book.source.location for book in desk.shelf_file.books()}
    found: list[Path] = []
    places = [(home_of(environment), 0), *((folder, LEVELS) for folder in usual_folders(environment))]
    for folder, levels in places:
        if folder.is_dir():
            found += [file for file in books_below(folder, levels) if str(file.absolute()) not in known]
    for name in LIBRARIES:
        library = home_of(environment) / name
        if library.is_file():
            try:
                found += [f for f in library_files(library) if f.exists() and str(f.absolute()) not in known]
            except KiwiError as problem:
                yield Finding("files", "note", str(problem))
    unique = sorted(dict.fromkeys(file.absolute() for file in found))
    for file in unique[:MOST_SHOWN]:
        try:
            rows = desk.opener.look_up(str(file))
            yield Finding(
                "files",
                "note",
                f"{file}: {rows[0][0].title}, not on the shelf",
                f"kiwiresearch books add {str(file)!r}",
            )
        except KiwiError as problem:
            yield Finding("files", "note", str(problem))
    if len(unique) > MOST_SHOWN:
        rest = len(unique) - MOST_SHOWN
        yield Finding(
            "files",
            "note",
            f"{rest} more ZIM files in the usual places.",
            "kiwiresearch books add FOLDER",
        )
    if not unique:
        yield Finding(
            "files",
            "fine",
            "No other ZIM files in the usual places (home, Downloads, Kiwix, sticks).",
        )


HOME_FOLDERS = ("Downloads", "Documents", "Desktop", "Kiwix", "kiwix", "zim", "zims", "ZIM",
                ".local/share/kiwix", ".local/share/kiwix-desktop", ".var/app/org.kiwix.desktop/data",
                "Library/Containers/self.Kiwix/Data/Documents", "AppData/Roaming/kiwix-desktop")  # fmt: skip
SYSTEM_FOLDERS = ("/library/zims/content", "/usr/share/kiwix", "/var/lib/kiwix", "/srv/kiwix", "/data/zim",
                  "/media", "/run/media", "/mnt", "/Volumes")  # fmt: skip
LIBRARIES = (".local/share/kiwix/library.xml", ".local/share/kiwix-desktop/library.xml",
             ".var/app/org.kiwix.desktop/data/kiwix-desktop/library.xml")  # fmt: skip
LEVELS = 3
"""How far below a usual place books are looked for: a stick, a folder on it, a folder in that."""


def home_of(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("HOME") or environment.get("USERPROFILE") or "~").expanduser()


def usual_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where people and Kiwix programs keep ZIM files, on each system."""
    extra = [Path(part) for part in environment.get("KIWIRESEARCH_ZIM_FOLDERS", "").split(os.pathsep) if part]
    home = home_of(environment)
    return [*extra, *(home / name for name in HOME_FOLDERS), *map(Path, SYSTEM_FOLDERS)]


def _servers(desk: Desk, servers: tuple[str, ...]) -> Iterator[Finding]:
    from kiwiresearch.zim.serve import KiwixServer

    known = {book.source.location for book in desk.shelf_file.books()}
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
        yield Finding(
            "servers",
            "fine" if not remedy else "note",
            f"kiwix-serve at {server.root} with {len(books)} books",
            remedy,
        )
    if not any_found:
        yield Finding("servers", "fine", "No kiwix-serve on this machine's usual ports.")
