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
    from kiwiresearch.cases import Case, CasePlace
    from kiwiresearch.kin.loop import CaseScope, CaseSettings, StepResult

AsEvents = Annotated[bool, typer.Option("--json", help="A JSON line on standard output for each step; names nobody.")]
SignIn = Annotated[
    list[str] | None,
    typer.Option(
        "--sign-in", help="Sign in to this source first, in a browser; it ends with the command.", metavar="ID"
    ),
]


def start(
    names: Annotated[
        list[str],
        typer.Argument(help="Whom it begins with, each in quotation marks: 'Charles Darwin'.", metavar="NAME…"),
    ],
    *,
    book: BookOption = None,
    generations: Annotated[
        int | None, typer.Option("--generations", "-g", help="How many generations up and down.", metavar="N")
    ] = None,
    collaterals: Annotated[
        int | None,
        typer.Option(
            "--collaterals", help="How many steps aside: brothers and sisters, wives and husbands.", metavar="N"
        ),
    ] = None,
    budget: Annotated[
        int | None, typer.Option("--budget", help="How many records may be fetched.", metavar="N")
    ] = None,
    steps: Annotated[int | None, typer.Option("--max-steps", help="How many steps may be taken.", metavar="N")] = None,
    years_after_death: Annotated[
        int | None,
        typer.Option("--years-after-death", help="For so long the dead are kept back like the living.", metavar="N"),
    ] = None,
    no_model: NoModel = False,
    case: Annotated[
        str,
        typer.Option(
            "--case", "-c", help="The folder of the case, else cases/NAME; or its name in the store.", metavar="CASE"
        ),
    ] = "",
    json: JsonOption = False,
) -> None:
    """Begin a case: find the people it is about, and read their pages.

    What is not given here is taken from [kin] in the settings; the case keeps it, whatever they say later.
    """
    from kiwiresearch.cases import Case, new_case_place, plugins_folder
    from kiwiresearch.cli import kin_output
    from kiwiresearch.workspace import Finder, checked_topic

    seeds = tuple(dict.fromkeys(checked_topic(name) for name in names))
    workspace = user_workspace()
    chosen = {
        "generations": generations,
        "collaterals": collaterals,
        "budget": budget,
        "max_iterations": steps,
        "years_after_death": years_after_death,
    }
    settings = _settings(seeds, workspace.settings.kin, chosen)
    with open_books(workspace, book or []) as shelf, Finder(workspace, shelf, all_books=True) as finder:
        settings = replace(settings, books=tuple(one.id for one in shelf.books) if book else ())
        try:
            with (
                new_case_place(workspace, case, seeds[0]) as place,
                Case.start(
                    place, settings, finder, plugins=plugins_folder(workspace), with_model=not no_model
                ) as opened,
            ):
                opened.store.set_state("book_places", [str(one.source) for one in shelf.books] if book else [])
                report_model_problem(opened)
                emit(_start_record(opened), lambda: kin_output.started(opened), as_json=json)
        except NothingFound as problem:
            if len(seeds) == 1:
                raise
            quoted = shlex.quote(" ".join(names))
            raise NothingFound(problem.message, remedy=f"If it is one name, write it as {quoted}.") from problem


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
        "case": mask.file_name(case.place.title),
        "seeds": [{"id": seed, "name": tree.persons[seed].name} for seed in case.seeds() if seed in tree.persons],
        "people": len(tree.persons),
        "waiting": case.store.queues.sizes(),
    }


def step(
    *,
    count: Annotated[int, typer.Option("--count", "-n", help="How many steps.", metavar="N")] = 1,
    book: BookOption = None,
    no_model: NoModel = False,
    sign_in: SignIn = None,
    case: CaseOption = "",
    json: AsEvents = False,
) -> None:
    """Take one step, or some, and say what each brought."""
    if count < 1:
        raise BadUsage(f"{count} steps cannot be taken.", remedy="Give a number from 1 on.")
    _take_steps(case, book, count, sign_in or [], with_model=not no_model, json=json)


def run(
    *,
    book: BookOption = None,
    no_model: NoModel = False,
    sign_in: SignIn = None,
    case: CaseOption = "",
    json: AsEvents = False,
) -> None:
    """Go on until there is a reason to stop, and say which. Ctrl-C loses nothing: run it again to go on."""
    _take_steps(case, book, 0, sign_in or [], with_model=not no_model, json=json)


def _take_steps(
    wanted: str, book: list[str] | None, count: int, sign_ins: list[str], *, with_model: bool, json: bool
) -> None:
    from kiwiresearch.cli import kin_output

    with opened_case(wanted, writing=True, books=book or []) as case:
        case.with_model = with_model
        tell = _until_reader_leaves(_print_event) if json else kin_output.StepLines(case).tell
        try:
            for source in sign_ins:
                case.sign_in(source, lambda where: say(f"Sign in here, in a browser of this machine: {where}"))
            last = _steps(case, count, tell)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted. What was done is kept.", remedy="To go on: kiwiresearch kin run") from None
        report_model_problem(case)
        if not json:
            kin_output.outcome(case, last)


def _steps(case: Case, count: int, tell: Callable[[StepResult], None]) -> StepResult | None:
    """Take `count` steps, or all if it is 0; returns the last one."""
    last = None
    for last in islice(case.steps(), count or None):
        tell(last)
    return last


def _print_event(result: StepResult) -> None:
    import sys

    event = {"event": result.what, "words": result.sentence, "new": result.new}
    print_json(event | ({"reason": result.reason} if result.reason else {}))
    sys.stdout.flush()


def _until_reader_leaves(tell: Callable[[StepResult], None]) -> Callable[[StepResult], None]:
    """Stop printing when the program that reads our output exits; the work on the case continues."""
    from kiwiresearch.errors import ReaderLeft

    has_left = False

    def tell_if_read(result: StepResult) -> None:
        nonlocal has_left
        if not has_left:
            try:
                tell(result)
            except ReaderLeft:
                has_left = True

    return tell_if_read


WORK_COMMANDS: dict[str, Callable[..., None]] = {"start": start, "step": step, "run": run}


STORE = "store"
CaseName = Annotated[str, typer.Argument(help="The case: its name in the store, or its folder.", metavar="CASE")]


def cases(*, json: JsonOption = False) -> None:
    """List the cases: those of the store where one is set, else those below cases/ here; the last changed first."""
    from kiwiresearch.cases import all_case_places
    from kiwiresearch.cli import output
    from kiwiresearch.text import count_of

    rows = [_row(place, as_json=json) for place in all_case_places(user_workspace())]
    if json:
        print_json({"cases": rows})
        return
    for row in rows:
        output.line(f"{row.case}: {row.problem or count_of(row.people, 'person', 'people')}")
    if not rows:
        output.line("There is no case yet.")


@dataclass(frozen=True, slots=True)
class _CaseRow:
    """A case in a list; an unreadable one has a problem instead of people."""

    case: str
    people: int
    problem: str


def _row(place: CasePlace, *, as_json: bool) -> _CaseRow:
    from kiwiresearch.cases import Case, rewording_errors

    try:
        with rewording_errors(place.without_names if as_json else place.with_title), Case.open(place) as case:
            title = case.mask("public").file_name(place.title) if as_json else place.title
            return _CaseRow(title, len(case.store.tree().persons), "")
    except KiwiError as problem:
        return _CaseRow("" if as_json else place.title, 0, str(problem))


def move(
    case: CaseName,
    *,
    to: Annotated[str, typer.Option("--to", help="'store', or a folder where no case is.", metavar="WHERE")] = STORE,
    name: Annotated[str, typer.Option("--name", help="What it is called in the store.", metavar="NAME")] = "",
    json: JsonOption = False,
) -> None:
    """Take a case from a folder into the store, or out of it, and prove that it is the same."""
    from kiwiresearch.cases import move_into_store, move_out_of_store
    from kiwiresearch.cli import output

    _require_name(case)
    if name and to != STORE:
        raise BadUsage("A case in a folder is called as its folder is.", remedy="Leave --name out.")
    done = (
        move_into_store(user_workspace(), case, name) if to == STORE else move_out_of_store(user_workspace(), case, to)
    )
    if json:
        print_json({"fingerprint": done.fingerprint, "to": STORE if to == STORE else "folder"})
        return
    output.unbroken_line(f"Case: {done.title}")
    output.unbroken_line(f"Every row is the same at both places: {done.fingerprint}")
    if done.left is not None:
        output.unbroken_line(f"The file it was in is set aside, to be removed when you like: {done.left}")


def remove(
    case: CaseName,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="It is meant: nothing of the case is kept.")] = False,
    json: JsonOption = False,
) -> None:
    """Remove a case from the store for good. A case in a folder is removed with its folder, by you."""
    from kiwiresearch.cases import stored_cases
    from kiwiresearch.cli import output

    _require_name(case)
    held = stored_cases(user_workspace())
    if held is None:
        raise BadUsage("The settings name no store.", remedy="A case in a folder is removed with its folder.")
    found = held.find(case)
    if not yes:
        raise BadUsage(f"The case {case!r} would be removed for good.", remedy="Give --yes as well, if it is meant.")
    held.remove(found)
    emit({"removed": found}, lambda: output.line(f"Removed: {case}"), as_json=json)


def _require_name(case: str) -> None:
    """Refuse to move or remove the last used case just because none was named."""
    if not case.strip():
        raise BadUsage("Name the case.", remedy="'kiwiresearch kin cases' lists them.")


CASE_COMMANDS: dict[str, Callable[..., None]] = {"cases": cases, "move": move, "remove": remove}
