"""What commands have in common: options, and how desk and shelf are opened."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kiwiresearch.research.desk import Desk
    from kiwiresearch.zim.library import Shelf
    from kiwiresearch.zim.peer import Missing

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Wanted = Annotated[
    list[str] | None,
    typer.Option(
        "--book",
        "-b",
        help="A book by name, title, UUID or path; may be given more than once.",
        metavar="BOOK",
    ),
]


def the_desk() -> Desk:
    from kiwiresearch.research.desk import open_desk

    return open_desk(say=say)


def open_books(desk: Desk, wanted: list[str], *, trusting: bool = False) -> Shelf:
    """The shelf, or some of its books; whoever uses the sample book is told so."""
    from kiwiresearch.research.desk import SAMPLE_NOTICE
    from kiwiresearch.research.policy import told_left_out

    shelf = desk.shelf(wanted, trusting=trusting)
    if shelf.is_sample:
        say(SAMPLE_NOTICE)
    if not wanted and (told := told_left_out(desk.shelf_file.books(), desk.settings.policy)):
        say(told)
    return shelf


def tell_missing(missing: Sequence[Missing]) -> None:
    """Say which books could not be asked, since the hosts that have them are away."""
    for one in missing:
        say(one.sentence())


def say(message: str) -> None:
    """Tell the user something on the way; where nobody can hear it, the work goes on all the same."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError, ValueError):
            print(message, file=sys.stderr, flush=True)
