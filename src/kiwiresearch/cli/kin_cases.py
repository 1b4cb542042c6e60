"""The commands about cases as a whole: which there are, into the store and out of it, and gone for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.options import AsJson, the_desk
from kiwiresearch.errors import BadUsage, KiwiError

if TYPE_CHECKING:
    from kiwiresearch.research.family_places import CasePlace

STORE = "store"
CaseName = Annotated[str, typer.Argument(help="The case: its name in the store, or its folder.", metavar="CASE")]


def cases(*, json: AsJson = False) -> None:
    """List the cases: those of the store where one is set, else those below cases/ here; the last changed first."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.family_named import all_places
    from kiwiresearch.text.plural import counted

    rows = [_row(place, as_json=json) for place in all_places(the_desk())]
    if json:
        show.document({"cases": rows})
        return
    for row in rows:
        show.line(f"{row['case']}: {row['problem'] or counted(row['people'], 'person', 'people')}")
    if not rows:
        show.line("There is no case yet.")


def _row(place: CasePlace, *, as_json: bool) -> dict[str, Any]:
    """A case in a line; one that cannot be read is told with what is wrong."""
    from kiwiresearch.research.family import Case
    from kiwiresearch.research.family_places import retold

    try:
        with retold(place.nameless if as_json else place.named), Case.open(place) as case:
            title = case.mask("public").file_name(place.title) if as_json else place.title
            return {"case": title, "people": len(case.store.tree().persons), "problem": ""}
    except KiwiError as problem:
        return {"case": "" if as_json else place.title, "people": 0, "problem": str(problem)}


def move(
    case: CaseName,
    *,
    to: Annotated[str, typer.Option("--to", help="'store', or a folder where no case is.", metavar="WHERE")] = STORE,
    name: Annotated[str, typer.Option("--name", help="What it is called in the store.", metavar="NAME")] = "",
    json: AsJson = False,
) -> None:
    """Take a case from a folder into the store, or out of it, and prove that it is the same."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.family_move import move_in, move_out

    _check(case)
    if name and to != STORE:
        raise BadUsage("A case in a folder is called as its folder is.", remedy="Leave --name out.")
    done = move_in(the_desk(), case, name) if to == STORE else move_out(the_desk(), case, to)
    if json:
        show.document({"fingerprint": done.fingerprint, "to": STORE if to == STORE else "folder"})
        return
    show.whole_line(f"Case: {done.title}")
    show.whole_line(f"Every row is the same at both places: {done.fingerprint}")
    if done.left is not None:
        show.whole_line(f"The file it was in is set aside, to be removed when you like: {done.left}")


def remove(
    case: CaseName,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="It is meant: nothing of the case is kept.")] = False,
    json: AsJson = False,
) -> None:
    """Remove a case from the store for good. A case in a folder is removed with its folder, by you."""
    from kiwiresearch.cli import show
    from kiwiresearch.research.family_named import stored

    _check(case)
    held = stored(the_desk())
    if held is None:
        raise BadUsage("The settings name no store.", remedy="A case in a folder is removed with its folder.")
    found = held.named(case)
    if not yes:
        raise BadUsage(f"The case {case!r} would be removed for good.", remedy="Give --yes as well, if it is meant.")
    held.remove(found)
    if json:
        show.document({"removed": found})
    else:
        show.line(f"Removed: {case}")


def _check(case: str) -> None:
    """What is moved or removed is named: the case that was worked on last is not meant by itself."""
    if not case.strip():
        raise BadUsage("Name the case.", remedy="'kiwiresearch kin cases' lists them.")


COMMANDS: dict[str, Callable[..., None]] = {"cases": cases, "move": move, "remove": remove}
