"""The commands that do the research: begin a case, take steps, run until there is a reason to stop."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kiwiresearch.cli.kin import AnyCase, a_case, own_plugins
from kiwiresearch.cli.options import AsJson, Wanted, open_books, the_desk
from kiwiresearch.errors import BadSettings, BadUsage, FolderTaken, Interrupted, NothingFound

if TYPE_CHECKING:
    from kiwiresearch.kin.loop.research import Took
    from kiwiresearch.research.family import Case, CaseSettings
    from kiwiresearch.zim.library import Shelf

AsEvents = Annotated[bool, typer.Option("--json", help="A JSON line on standard output for each step; names nobody.")]


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
    budget: Annotated[
        int | None, typer.Option("--budget", help="How many records may be fetched.", metavar="N")
    ] = None,
    steps: Annotated[int | None, typer.Option("--max-steps", help="How many steps may be taken.", metavar="N")] = None,
    case: Annotated[
        str, typer.Option("--case", "-c", help="The folder of the case; cases/NAME if not given.", metavar="FOLDER")
    ] = "",
    json: AsJson = False,
) -> None:
    """Begin a case: find the people it is about, and read their pages."""
    from kiwiresearch.cli import kin_lines, show
    from kiwiresearch.research.family import Case
    from kiwiresearch.research.family_folders import alone_in, checked_folder, folder_for
    from kiwiresearch.research.finding import Finder
    from kiwiresearch.research.topics import checked_topic

    seeds = tuple(dict.fromkeys(checked_topic(name) for name in names))
    settings = _settings(seeds, generations, budget, steps)
    folder = checked_folder(case) if case else folder_for(seeds[0])
    desk = the_desk()
    with open_books(desk, book or []) as shelf, Finder(desk, shelf, all_books=True) as finder:
        settings = replace(settings, books=tuple(one.id for one in shelf.books) if book else ())
        is_new = not folder.exists()
        _check_free(folder)
        try:
            with alone_in(folder), Case.start(folder, settings, finder, plugins=own_plugins(desk)) as begun:
                begun.store.set_state("book_places", _places(shelf) if book else [])
                if json:
                    show.document(begun_record(begun))
                else:
                    kin_lines.begun(begun)
        except BaseException as problem:
            if is_new:
                _remove_empty(folder)
            if isinstance(problem, NothingFound) and len(seeds) > 1:
                whole = shlex.quote(" ".join(names))
                raise NothingFound(problem.message, remedy=f"If it is one name, write it as {whole}.") from problem
            raise


def _check_free(folder: Path) -> None:
    from kiwiresearch.research.family_folders import FILE

    if (folder / FILE).exists():
        named = shlex.quote(str(folder))
        raise FolderTaken(
            f"There is a case in {str(folder)!r} already.",
            remedy=f"Go on with it: kiwiresearch kin run --case {named}; or name another folder with --case.",
        )


def _remove_empty(folder: Path) -> None:
    from kiwiresearch.research.family_folders import FILE, LOCK

    try:
        if not (folder / FILE).exists():
            (folder / LOCK).unlink(missing_ok=True)
            folder.rmdir()
    except OSError:
        return  # something else is in it by now


def _settings(seeds: tuple[str, ...], generations: int | None, budget: int | None, steps: int | None) -> CaseSettings:
    from kiwiresearch.research.family import CaseSettings

    start = CaseSettings(seeds=seeds)
    try:
        return replace(
            start,
            generations=start.generations if generations is None else generations,
            budget=start.budget if budget is None else budget,
            max_iterations=start.max_iterations if steps is None else steps,
        )
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem


def _places(shelf: Shelf) -> list[str]:
    return [str(one.source) for one in shelf.books]


def begun_record(case: Case) -> dict[str, Any]:
    """What a case began with, as data that may be handed on."""
    tree, mask = case.tree("public"), case.mask("public")
    return {
        "case": mask.file_name(str(case.folder)),
        "seeds": [{"id": seed, "name": tree.persons[seed].name} for seed in case.seeds() if seed in tree.persons],
        "people": len(tree.persons),
        "waiting": case.store.sizes(),
    }


def step(
    *,
    count: Annotated[int, typer.Option("--count", "-n", help="How many steps.", metavar="N")] = 1,
    book: Wanted = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="Rules only, though a model is set.")] = False,
    case: AnyCase = "",
    json: AsEvents = False,
) -> None:
    """Take one step, or some, and say what each brought."""
    if count < 1:
        raise BadUsage(f"{count} steps cannot be taken.", remedy="Give a number from 1 on.")
    _work(case, book, count, with_model=not no_model, json=json)


def run(
    *,
    book: Wanted = None,
    no_model: Annotated[bool, typer.Option("--no-model", help="Rules only, though a model is set.")] = False,
    case: AnyCase = "",
    json: AsEvents = False,
) -> None:
    """Go on until there is a reason to stop, and say which. Ctrl-C loses nothing: run it again to go on."""
    _work(case, book, 0, with_model=not no_model, json=json)


def _work(wanted: str, book: list[str] | None, count: int, *, with_model: bool, json: bool) -> None:
    from kiwiresearch.cli import kin_lines, show

    with a_case(wanted, writing=True, books=book or []) as case:
        case.with_model = with_model
        tell = _events(show.document) if json else kin_lines.Lines(case).tell
        try:
            last = _steps(case, count, tell)
        except KeyboardInterrupt:
            raise Interrupted("Interrupted. What was done is kept.", remedy="To go on: kiwiresearch kin run") from None
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
