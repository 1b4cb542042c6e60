"""What the family commands share: options, the opened case, and people by name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import open_books, say, user_workspace
from kiwiresearch.errors import BadUsage, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.cases import Case
    from kiwiresearch.kin import PersonId, Tree
    from kiwiresearch.kin.privacy import PrivacyMode
    from kiwiresearch.workspace import Workspace

HELP = """Research a family. Every fact has its evidence, merges can be undone, living people are hidden.

A case is a folder, cases/NAME unless --case names another. If you use a store, it is saved there under its name.
The terminal shows everything. Exports and --json hide people who may be living unless you choose another --privacy.
"""
CaseOption = Annotated[
    str,
    typer.Option(
        "--case",
        "-c",
        help="A case folder, or the name of a case in the store. Default: the case changed last.",
        metavar="CASE",
    ),
]
NoModel = Annotated[bool, typer.Option("--no-model", help="Use rules only, even if a language model is set up.")]
Privacy = Annotated[
    str,
    typer.Option(
        "--privacy",
        help="How much to show about people who may be living: public (sex and relationships), "
        "private (names, decades, states and countries), owner (everything) or exclude (nothing). "
        "Default: owner on the terminal, public with --json.",
        metavar="MODE",
    ),
]


def privacy_mode(privacy: str, *, as_json: bool) -> PrivacyMode:
    """The privacy mode: everything for the owner's terminal, the public mode for output that may be passed on."""
    from kiwiresearch.kin.privacy import PRIVACY_MODES

    given = privacy or ("public" if as_json else "owner")
    found = next((mode for mode in PRIVACY_MODES if mode == given), None)
    if found is None:
        raise BadUsage(f"{privacy!r} is not a privacy mode.", remedy=f"Choose one of: {', '.join(PRIVACY_MODES)}.")
    return found


@contextlib.contextmanager
def opened_case(wanted: str, *, writing: bool = False, books: list[str] | None = None) -> Iterator[Case]:
    """The case of a command; with its books if `books` is a list, even an empty one."""
    from kiwiresearch.cases import Case, find_case_location, plugins_folder, rewording_errors

    workspace = user_workspace()
    location = find_case_location(workspace, wanted)
    if not wanted:
        say(f"Case: {location.title}")
    with contextlib.ExitStack() as stack:
        stack.enter_context(rewording_errors(location.with_title))
        case = stack.enter_context(Case.open(location, plugins=plugins_folder(workspace), for_changes=writing))
        if books is not None:
            shelf = stack.enter_context(open_books(workspace, books or _books_of(case, workspace)))
            from kiwiresearch.workspace import Finder

            case.finder = stack.enter_context(Finder(workspace, shelf, search_every_book=True))
        yield case


def _books_of(case: Case, workspace: Workspace) -> list[str]:
    """The books the case was started with: at their original paths, or by id on another machine's shelf."""
    places, ids = list(case.book_paths()), list(case.settings.books)
    is_moved = any("://" not in place and not Path(place).exists() for place in places)
    on_shelf = {book.id for book in workspace.shelf_file.books()} if is_moved else set()
    return ids if ids and on_shelf.issuperset(ids) else places


def report_model_problem(case: Case) -> None:
    """Report it if the model could not be reached."""
    problem = case.researcher.model_problem
    if problem is not None:
        say(f"Continued without the language model. {problem}")


def shown_person(case: Case, words: str, tree: Tree) -> PersonId:
    """The person a user means, if the visible tree has one of that name."""
    from kiwiresearch.cases import find_person

    try:
        return find_person(words, tree)
    except NothingFound:
        with contextlib.suppress(BadUsage):  # several people of that name are withheld like a single one
            find_person(words, case.store.tree())
        raise BadUsage(
            f"{words!r} may be living and is hidden.",
            remedy="To see this person, add --privacy owner, and do not share the output.",
        ) from None


def person_or_seed(case: Case, words: str, tree: Tree) -> PersonId:
    """The named person, or else the first one the case was started with."""
    if words:
        return shown_person(case, words, tree)
    seed = next((seed for seed in case.seeds() if seed in tree.persons), None)
    if seed is None:
        raise BadUsage(
            "The starting person of this case is hidden.", remedy="Name another person, or add --privacy owner."
        )
    return seed
