"""The commands that start, continue, list, move and remove cases."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.kin import CaseOption, NoModel, opened_case, report_model_problem
from kiwiresearch.cli.options import BookOption, JsonOption, emit, open_books, print_json, say, user_workspace
from kiwiresearch.errors import BadSettings, BadUsage, Interrupted, KiwiError, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.cases import Case, CaseLocation
    from kiwiresearch.kin.loop import CaseScope, CaseSettings, ResearchStep

AsEvents = Annotated[bool, typer.Option("--json", help="Print one line of JSON for each step, without names.")]
SignIn = Annotated[
    list[str] | None,
    typer.Option(
        "--sign-in", help="Sign in to this source in a browser first. The sign-in ends with the command.", metavar="ID"
    ),
]


def start(
    names: Annotated[
        list[str],
        typer.Argument(help="Who to start with, each name in quotes: 'Charles Darwin'.", metavar="NAME…"),
    ],
    *,
    book: BookOption = None,
    generations: Annotated[
        int | None, typer.Option("--generations", "-g", help="How many generations to go up and down.", metavar="N")
    ] = None,
    collaterals: Annotated[
        int | None,
        typer.Option("--collaterals", help="How far to go sideways, to siblings and spouses.", metavar="N"),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", help="The maximum number of pages to read.", metavar="N")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--max-steps", help="The maximum number of steps to take.", metavar="N")
    ] = None,
    years_after_death: Annotated[
        int | None,
        typer.Option("--years-after-death", help="Hide people for this many years after their death.", metavar="N"),
    ] = None,
    no_model: NoModel = False,
    case: Annotated[
        str,
        typer.Option(
            "--case",
            "-c",
            help="A case folder, or the name of a case in the store. Default: cases/NAME.",
            metavar="CASE",
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Start a case: find the people you name and read their pages.

    Defaults come from [kin] in your settings when the case is started; later changes do not affect it.
    """
    from kiwiresearch.cases import Case, new_case_location, plugins_folder
    from kiwiresearch.cli import kin_output
    from kiwiresearch.workspace import Finder, checked_person

    seeds = tuple(dict.fromkeys(checked_person(name) for name in names))
    workspace = user_workspace()
    chosen = {
        "generations": generations,
        "collaterals": collaterals,
        "budget": budget,
        "max_iterations": steps,
        "years_after_death": years_after_death,
    }
    settings = _settings(seeds, workspace.settings.kin, chosen)
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, search_every_book=True) as finder:
        # No books mean all: a case that was started without --book may use books that are added later.
        settings = replace(settings, books=tuple(listed_book.id for listed_book in shelf.books) if book else ())
        try:
            with (
                new_case_location(workspace, case, seeds[0]) as location,
                Case.start(
                    location, settings, finder, plugins=plugins_folder(workspace), with_model=not no_model
                ) as opened,
            ):
                opened.store.set_state(
                    "book_places", [str(listed_book.source) for listed_book in shelf.books] if book else []
                )
                report_model_problem(opened)
                emit(_start_record(opened), lambda: kin_output.print_started(opened, case), as_json=json)
        except NothingFound as problem:
            if len(seeds) == 1:
                raise
            # Names without quotes are several: 'Charles' and 'Darwin'.
            quoted = shlex.quote(" ".join(names))
            raise NothingFound(problem.message, remedy=f"If this is one name, put it in quotes: {quoted}.") from problem


def _settings(seeds: tuple[str, ...], scope: CaseScope, chosen: dict[str, int | None]) -> CaseSettings:
    from kiwiresearch.kin.loop import CaseSettings

    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    try:
        return CaseSettings.from_scope(replace(scope, **given), seeds)
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem


def _start_record(case: Case) -> dict[str, object]:
    """The settings a case was started with, without anybody who may be living."""
    tree, mask = case.tree("public"), case.mask("public")
    return {
        "case": mask.file_name(case.location.title),
        "seeds": [{"id": seed, "name": tree.persons[seed].name} for seed in case.seeds() if seed in tree.persons],
        "people": len(tree.persons),
        "waiting": case.store.queues.sizes(),
    }


def step(
    *,
    count: Annotated[int, typer.Option("--count", "-n", help="How many steps to take.", metavar="N")] = 1,
    book: BookOption = None,
    no_model: NoModel = False,
    sign_in: SignIn = None,
    case: CaseOption = "",
    json: AsEvents = False,
) -> None:
    """Take one or more steps, and show what each one found."""
    if count < 1:
        raise BadUsage(f"--count cannot be {count}.", remedy="Use 1 or more.")
    _take_steps(case, book, count, sign_in or [], with_model=not no_model, json=json)


def run(
    *,
    book: BookOption = None,
    no_model: NoModel = False,
    sign_in: SignIn = None,
    case: CaseOption = "",
    json: AsEvents = False,
) -> None:
    """Continue the research until it is done or reaches a limit. Ctrl-C loses nothing: run it again to resume."""
    _take_steps(case, book, 0, sign_in or [], with_model=not no_model, json=json)


def _take_steps(
    wanted: str, book: list[str] | None, count: int, sign_ins: list[str], *, with_model: bool, json: bool
) -> None:
    from kiwiresearch.cli import kin_output

    with opened_case(wanted, writing=True, books=book or []) as case:
        case.with_model = with_model
        tell = _until_pipe_closes(_print_event) if json else kin_output.StepLines(case).tell
        try:
            for source in sign_ins:
                case.opened_sources.sign_in(
                    source, lambda where: say(f"To sign in, open this address in a browser on this computer: {where}")
                )
            last = _steps(case, count, tell)
        except KeyboardInterrupt:
            raise Interrupted(
                "Interrupted. Everything so far is saved.", remedy="To resume: kiwiresearch kin run"
            ) from None
        report_model_problem(case)
        if not json:
            kin_output.print_outcome(case, last)


def _steps(case: Case, count: int, tell: Callable[[ResearchStep], None]) -> ResearchStep | None:
    """Take `count` steps, or all if it is 0; returns the last one."""
    last = None
    for last in islice(case.steps(), count or None):
        tell(last)
    return last


def _print_event(result: ResearchStep) -> None:
    import sys

    event = {"event": result.what, "words": result.sentence, "new": result.new}
    print_json(event | ({"reason": result.reason} if result.reason else {}))
    sys.stdout.flush()


def _until_pipe_closes(tell: Callable[[ResearchStep], None]) -> Callable[[ResearchStep], None]:
    """Stop printing once the pipe of our output is closed; the work on the case continues."""
    from kiwiresearch.errors import OutputPipeClosed

    is_closed = False

    def tell_if_open(result: ResearchStep) -> None:
        nonlocal is_closed
        if not is_closed:
            try:
                tell(result)
            except OutputPipeClosed:
                is_closed = True

    return tell_if_open


WORK_COMMANDS: dict[str, Callable[..., None]] = {"start": start, "step": step, "run": run}


STORE = "store"
CaseName = Annotated[str, typer.Argument(help="Case name in the store, or its folder.", metavar="CASE")]


def cases(*, json: JsonOption = False) -> None:
    """List your cases, last changed first. Lists those in the store if you use one, otherwise those in cases/."""
    from kiwiresearch.cases import all_case_locations
    from kiwiresearch.cli import output
    from kiwiresearch.text import count_of

    rows = [_row(location, as_json=json) for location in all_case_locations(user_workspace())]
    if json:
        print_json({"cases": rows})
        return
    for row in rows:
        output.line(f"{row.case}: {row.problem or count_of(row.people, 'person', 'people')}")
    if not rows:
        output.line("No cases yet. Start one: kiwiresearch kin start 'NAME'")


@dataclass(frozen=True, slots=True)
class _CaseRow:
    """A case in a list; an unreadable one has a problem instead of people."""

    case: str
    people: int
    problem: str


def _row(location: CaseLocation, *, as_json: bool) -> _CaseRow:
    from kiwiresearch.cases import Case, rewording_errors

    try:
        with rewording_errors(location.without_names if as_json else location.with_title), Case.open(location) as case:
            title = case.mask("public").file_name(location.title) if as_json else location.title
            return _CaseRow(title, len(case.store.tree().persons), "")
    except KiwiError as problem:
        return _CaseRow("" if as_json else location.title, 0, str(problem))


def move(
    case: CaseName,
    *,
    to: Annotated[
        str, typer.Option("--to", help="'store', or a folder that has no case yet.", metavar="WHERE")
    ] = STORE,
    name: Annotated[str, typer.Option("--name", help="Name of the case in the store.", metavar="NAME")] = "",
    json: JsonOption = False,
) -> None:
    """Move a case into the store, or out of it. Checks that nothing changed."""
    from kiwiresearch.cases import move_into_store, move_out_of_store
    from kiwiresearch.cli import output

    _require_name(case)
    if name and to != STORE:
        raise BadUsage("A case in a folder is always named after its folder.", remedy="Remove --name.")
    done = (
        move_into_store(user_workspace(), case, name) if to == STORE else move_out_of_store(user_workspace(), case, to)
    )
    if json:
        print_json({"fingerprint": done.fingerprint, "to": STORE if to == STORE else "folder"})
        return
    output.unbroken_line(f"Case: {done.title}")
    output.unbroken_line(f"Checked: every row is the same in both places. Fingerprint: {done.fingerprint}")
    if done.old_file is not None:
        output.unbroken_line(f"The old file is no longer used. You can delete it: {done.old_file}")


def remove(
    case: CaseName,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that the case is deleted permanently.")] = False,
    json: JsonOption = False,
) -> None:
    """Delete a case from the store permanently. To delete a case in a folder, delete the folder."""
    from kiwiresearch.cases import stored_cases
    from kiwiresearch.cli import output

    _require_name(case)
    held = stored_cases(user_workspace())
    if held is None:
        raise BadUsage("No store is set up.", remedy="To delete a case in a folder, delete the folder.")
    found = held.find(case)
    if not yes:
        raise BadUsage(f"This would delete the case {case!r} permanently.", remedy="To confirm, add --yes.")
    held.remove(found)
    emit({"removed": found}, lambda: output.line(f"Deleted: {case}"), as_json=json)


def _require_name(case: str) -> None:
    """Refuse to move or remove the last used case just because none was named."""
    if not case.strip():
        raise BadUsage("The case name is empty.", remedy="To list your cases: kiwiresearch kin cases")


CASE_COMMANDS: dict[str, Callable[..., None]] = {"cases": cases, "move": move, "remove": remove}
