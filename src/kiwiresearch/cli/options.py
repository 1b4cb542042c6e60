"""What commands have in common: options, and how desk and shelf are opened."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kiwiresearch.workspace.workspace import Workspace
    from kiwiresearch.zim.library import Shelf
    from kiwiresearch.zim.peer import MissingBooks

JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
BookOption = Annotated[
    list[str] | None,
    typer.Option(
        "--book",
        "-b",
        help="A book by name, title, UUID or path; may be given more than once.",
        metavar="BOOK",
    ),
]


def user_workspace() -> Workspace:
    from kiwiresearch.workspace.workspace import open_workspace

    return open_workspace(say=say)


def open_books(workspace: Workspace, wanted: list[str], *, trusting: bool = False) -> Shelf:
    """The shelf, or some of its books; whoever uses the sample book is told so."""
    from kiwiresearch.workspace.policy import hidden_books_notice
    from kiwiresearch.workspace.shelf import shelf_of
    from kiwiresearch.workspace.workspace import SAMPLE_NOTICE

    shelf = shelf_of(workspace, wanted, trusting=trusting)
    if shelf.is_sample:
        say(SAMPLE_NOTICE)
    if not wanted and (told := hidden_books_notice(workspace.shelf_file.books(), workspace.settings.policy)):
        say(told)
    return shelf


def report_missing(missing: Sequence[MissingBooks]) -> None:
    """Say which books could not be asked, since the hosts that have them are away."""
    for one in missing:
        say(one.sentence())


def say(message: str) -> None:
    """Tell the user something on the way; where nobody can hear it, the work goes on all the same."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(message, file=sys.stderr, flush=True)
