"""What commands share: options, the opened workspace and shelf, and how results are printed."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from kiwiresearch.workspace import Workspace
    from kiwiresearch.zim import MissingBooks, Shelf

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]
BookOption = Annotated[
    list[str] | None,
    typer.Option(
        "--book",
        "-b",
        help="Use only this book: its name, title, UUID or path. You can repeat this option.",
        metavar="BOOK",
    ),
]


def user_workspace() -> Workspace:
    from kiwiresearch.workspace import open_workspace

    return open_workspace(say=say)


def open_books(workspace: Workspace, wanted: list[str], *, skip_open_check: bool = False) -> Shelf:
    """The shelf, or some of its books; reports if it is the sample book, or if books are hidden."""
    from kiwiresearch.workspace import SAMPLE_NOTICE, hidden_books_notice, shelf_of

    shelf = shelf_of(workspace, wanted, skip_open_check=skip_open_check)
    if shelf.is_sample:
        say(SAMPLE_NOTICE)
    if not wanted and (notice := hidden_books_notice(workspace.shelf_file.books(), workspace.settings.policy)):
        say(notice)
    return shelf


def require_title(title: str, example: str) -> None:
    """Raise BadUsage for an empty title of a page."""
    if not title.strip():
        raise BadUsage("The title is empty.", remedy=f"Enter the title of a page, for example {example!r}.")


def report_missing(missing: Sequence[MissingBooks]) -> None:
    """Report which books could not be searched because their hosts do not answer."""
    for missing_books in missing:
        say(missing_books.sentence())


def say(message: str) -> None:
    """Print a message on standard error; the work continues even if that is closed."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(message, file=sys.stderr, flush=True)


def emit(record: object, print_lines: Callable[[], None], *, as_json: bool) -> None:
    """Print a result: as one JSON document with --json, or as lines for people."""
    if as_json:
        print_json(record)
    else:
        print_lines()


def print_json(record: object) -> None:
    """Print a record as JSON; what could change a terminal or reorder a line is escaped, which keeps the values."""
    from kiwiresearch.codec import plain
    from kiwiresearch.ids import canonical_json
    from kiwiresearch.text import CONTROL_CHARACTERS

    print(CONTROL_CHARACTERS.sub(lambda code: f"\\u{ord(code[0]):04x}", canonical_json(plain(record))))


def folder_of(run: str) -> Path:
    """The folder of a run as a user named it."""
    from kiwiresearch.system import expand_user

    if not run.strip():
        raise BadUsage("The folder name is empty.", remedy="Enter the folder of a run.")
    return expand_user(run)
