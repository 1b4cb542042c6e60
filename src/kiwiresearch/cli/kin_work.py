"""The commands that do the research: begin a case, take steps, run until there is a reason to stop."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.kin import AnyCase, NoModel, a_case, own_plugins, tell_of_model
from kiwiresearch.cli.options import AsJson, Wanted, open_books, say, the_desk
from kiwiresearch.errors import BadSettings, BadUsage, Interrupted, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.kin.loop.research import Took
    from kiwiresearch.kin.loop.settings import CaseSettings, Scope
    from kiwiresearch.research.family import Case
    from kiwiresearch.zim.library import Shelf

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
    book: Wanted = None,
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
    json: AsJson = False,
) -> None:
    """Begin a case: find the people it is about, and read their pages.

    What is not given here is taken from [kin] in the settings; the case keeps it, whatever they say later.
    """
    from kiwiresearch.cli import kin_lines, show
    from kiwiresearch.research.family import Case
    from kiwiresearch.research.family_named import new_place
    from kiwiresearch.research.finding import Finder
    from kiwiresearch.research.topics import checked_topic

    seeds = tuple(dict.fromkeys(checked_topic(name) for name in names))
    desk = the_desk()
    chosen = {
        "generations": generations,
        "collaterals": collaterals,
        "budget": budget,
        "max_iterations": steps,
        "years_after_death": years_after_death,
    }
    settings = _settings(seeds, desk.settings.kin, chosen)
    with open_books(desk, book or []) as shelf, Finder(desk, shelf, all_books=True) as finder:
        settings = replace(settings, books=tuple(one.id for one in shelf.books) if book else ())
        try:
            with (
                new_place(desk, case, seeds[0]) as place,
                Case.start(place, settings, finder, plugins=own_plugins(desk), with_model=not no_model) as begun,
            ):
                begun.store.set_state("book_places", _places(shelf) if book else [])
                tell_of_model(begun)
                if json:
                    show.document(begun_record(begun))
                else:
                    kin_lines.begun(begun)
        except NothingFound as problem:
            if len(seeds) == 1:
                raise
            whole = shlex.quote(" ".join(names))
            raise NothingFound(problem.message, remedy=f"If it is one name, write it as {whole}.") from problem


def _settings(seeds: tuple[str, ...], scope: Scope, chosen: dict[str, int | None]) -> CaseSettings:
    from kiwiresearch.kin.loop.settings import CaseSettings

    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    try:
        return CaseSettings.within(replace(scope, **given), seeds)
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem


def _places(shelf: Shelf) -> list[str]:
    return [str(one.source) for one in shelf.books]


def begun_record(case: Case) -> dict[str, Any]:
    """What a case began with, as data that may be handed on."""
    tree, mask = case.tree("public"), case.mask("public")
    return {
        "case": mask.file_name(case.place.title),
        "seeds": [{"id": seed, "name": tree.persons[seed].name} for seed in case.seeds() if seed in tree.persons],
        "people": len(tree.persons),
        "waiting": case.store.sizes(),
    }


def step(
    *,
    count: Annotated[int, typer.Option("--count", "-n", help="How many steps.", metavar="N")] = 1,
    book: Wanted = None,
    no_model: NoModel = False,
    sign_in: SignIn = None,
    case: AnyCase = "",
    json: AsEvents = False,
) -> None:
    """Take one step, or some, and say what each brought."""
    if count < 1:
        raise BadUsage(f"{count} steps cannot be taken.", remedy="Give a number from 1 on.")
    _work(case, book, count, sign_in or [], with_model=not no_model, json=json)


def run(
    *,
    book: Wanted = None,
    no_model: NoModel = False,
    sign_in: SignIn = None,
    case: AnyCase = "",
    json: AsEvents = False,
) -> None:
    """Go on until there is a reason to stop, and say which. Ctrl-C loses nothing: run it again to go on."""
    _work(case, book, 0, sign_in or [], with_model=not no_model, json=json)


def _work(
    wanted: str, book: list[str] | None, count: int, sign_ins: list[str], *, with_model: bool, json: bool
) -> None:
    from kiwiresearch.cli import kin_lines, show

    with a_case(wanted, writing=True, books=book or []) as case:
        case.with_model = with_model
        tell = _events(show.document) if json else kin_lines.Lines(case).tell
        try:
            for source in sign_ins:
                case.sign_in(source, lambda where: say(f"Sign in here, in a browser of this machine: {where}"))
            last = _steps(case, count, tell)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted. What was done is kept.", remedy="To go on: kiwiresearch kin run") from None
        tell_of_model(case)
        if not json:
            kin_lines.outcome(case, last)


def _steps(case: Case, count: int, tell: Callable[[Took], None]) -> Took | None:
    last = None
    for number, took in enumerate(case.steps(), start=1):
        last = took
        tell(took)
        if number == count:
            break
    return last


def _events(write: Callable[[Any], None]) -> Callable[[Took], None]:
    """Events for programs. Whoever reads them may leave; the work goes on for the case."""
    import sys

    from kiwiresearch.cli.start import ReaderLeft

    heard = [True]

    def tell(took: Took) -> None:
        if not heard[0]:
            return
        event = {"event": took.what, "words": took.words, "new": took.new}
        try:
            write(event | ({"reason": took.reason} if took.reason else {}))
            sys.stdout.flush()
        except ReaderLeft:
            heard[0] = False

    return tell


COMMANDS: dict[str, Callable[..., None]] = {"start": start, "step": step, "run": run}
