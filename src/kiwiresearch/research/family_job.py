"""What the process of a job does with a case: it goes on with it, or takes in a family file that was sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from kiwiresearch.errors import BookNotFound, RunNotFound
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.family import Case
from kiwiresearch.research.family_cases import cases_of
from kiwiresearch.research.family_folders import plugins_of
from kiwiresearch.research.family_import import import_gedcom
from kiwiresearch.research.family_places import place_of, retold
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.job import FamilyWish
from kiwiresearch.research.job_order import Order
from kiwiresearch.research.run import Outcome
from kiwiresearch.zim.library import Placed, Shelf

Tell = Callable[..., None]
"""Hears events by their fields."""

PATIENCE_S = 30.0
"""How long who worked on the case before may take to be gone: a process that lost its server still ends its step."""


def work_on(order: Order, wish: FamilyWish, tell: Tell) -> Outcome:
    """Do with the case what is wished; nobody who may be living is named in what is told."""
    desk = order.desk()
    with closing(cases_of(desk)) as cases:
        place = cases.place(wish.case) if desk.settings.store.strip() else place_of(order.out)
        with (
            retold(place.nameless),
            Case.open(place, plugins=plugins_of(desk), alone_s=PATIENCE_S) as case,
            retold(lambda text: case.mask("public").text(text)),
        ):
            return _worked(case, desk, order, wish, tell)


def _worked(case: Case, desk: Desk, order: Order, wish: FamilyWish, tell: Tell) -> Outcome:
    if wish.upload:
        return _taken_in(case, wish.upload, tell)
    with Shelf(books_of(case, order.books), desk.opener) as shelf, Finder(desk, shelf, all_books=True) as finder:
        case.finder, case.with_model = finder, wish.model
        return _gone_on(case, wish.steps, tell)


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
    return Outcome(case.place.folder, "", count, "done", story=story)


def _taken_in(case: Case, digest: str, tell: Tell) -> Outcome:
    with case.place.kept_file(digest) as file:
        if file is None:
            raise RunNotFound("The family file is no longer there.", remedy="Send it again.")
        tell(event="stage", stage="reading")
        with retold(partial(_unnamed, file)):
            done = import_gedcom(case.store, file)
    tell(event="stage", stage="resolving")
    merged = len(case.decide().merged)
    case.place.drop_file(digest)
    story = f"{done.people:,} people, {done.new_people:,} of them new; {done.facts:,} statements, {done.ties:,} ties; "
    story += f"{merged:,} merged; {len(done.notes):,} lines could not be read."
    return Outcome(case.place.folder, "", 0, "done", story=story)


def _unnamed(file: Path, text: str) -> str:
    """A message without what the file is called: it may be the name of somebody who lives."""
    return text.replace(repr(str(file)), "The file").replace(repr(file.name), "The file")
