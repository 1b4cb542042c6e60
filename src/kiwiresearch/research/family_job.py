"""What the process of a job does with a case: it goes on with it, or takes in a family file that was sent."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from kiwiresearch.errors import BookNotFound, KiwiError, RunNotFound
from kiwiresearch.research.family import Case
from kiwiresearch.research.family_cases import nameless_in
from kiwiresearch.research.family_folders import alone_in, plugins_of
from kiwiresearch.research.family_import import import_gedcom
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.job import FamilyWish
from kiwiresearch.research.job_order import Order
from kiwiresearch.research.run import Outcome
from kiwiresearch.zim.library import Placed, Shelf

Tell = Callable[..., None]
"""Hears events by their fields."""

UPLOAD = "upload-"


def work_on(order: Order, wish: FamilyWish, tell: Tell) -> Outcome:
    """Do with the case what is wished; nobody who may be living is named in what is told."""
    folder, desk = order.out, order.desk()
    with nameless_in(folder), alone_in(folder), Case.open(folder, plugins=plugins_of(desk)) as case:
        try:
            if wish.upload:
                return _taken_in(case, upload_folder(folder, wish.upload), tell)
            with (
                Shelf(books_of(case, order.books), desk.opener) as shelf,
                Finder(desk, shelf, all_books=True) as finder,
            ):
                case.finder, case.with_model = finder, wish.model
                return _gone_on(case, wish.steps, tell)
        except KiwiError as problem:
            words, remedy = map(case.mask("public").text, (problem.message, problem.remedy))
            raise KiwiError(words, remedy=remedy) from problem


def books_of(case: Case, books: Sequence[Placed]) -> tuple[Placed, ...]:
    """Those of the server's books that the case was begun with; all where none were named."""
    wanted = set(case.settings.books)
    found = tuple(book for book in books if not wanted or book.id in wanted)
    if not found:
        raise BookNotFound(
            "No book that this case was begun with is on this server.", remedy="Add it to the shelf, or begin again."
        )
    return found


def _gone_on(case: Case, steps: int, tell: Tell) -> Outcome:
    story, count = "", 0
    for took in case.steps():
        story = took.words
        if took.what != "stop":
            count += 1
        waiting = sum(case.store.sizes().values())
        told: dict[str, Any] = {"what": took.what, "words": took.words, "new": took.new, "reason": took.reason}
        tell(event="step", order=count, waiting=waiting, **told)
        if count == steps:
            break
    return Outcome(case.folder, "", count, "done", story=story)


def _taken_in(case: Case, folder: Path, tell: Tell) -> Outcome:
    file = next(iter(_files(folder)), None)
    if file is None:
        raise RunNotFound("The family file is no longer there.", remedy="Send it again.")
    tell(event="stage", stage="reading")
    done = import_gedcom(case.store, file)
    tell(event="stage", stage="resolving")
    merged = len(case.decide().merged)
    shutil.rmtree(folder, ignore_errors=True)
    story = f"{done.people:,} people, {done.new_people:,} of them new; {done.facts:,} statements, {done.ties:,} ties; "
    story += f"{merged:,} merged; {len(done.notes):,} lines could not be read."
    return Outcome(case.folder, "", 0, "done", story=story)


def _files(folder: Path) -> Iterable[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else ()


def upload_folder(folder: Path, digest: str) -> Path:
    """Where a family file waits that was sent to a case."""
    return folder / f"{UPLOAD}{digest}"
