"""The first page of families: the cases there are, and how one is begun."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import BadUsage, KiwiError, NothingFound
from kiwiresearch.kin.gedcom.read import LARGEST
from kiwiresearch.kin.loop.seeding import people_meant
from kiwiresearch.kin.loop.settings import BOUNDS
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.web.bodies import MOST_NAME
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.pages import go_to
from kiwiresearch.web.family_replies import MOST_SEEDS, StartBody
from kiwiresearch.web.problems import Problem, problem_of

CASES_A_PAGE = 50
BETWEEN_NAMES = ";"

Names = Annotated[str, Form(max_length=MOST_NAME)]
Name = Annotated[str, Query(max_length=MOST_NAME)]
Offset = Annotated[int, Query(ge=0, le=1_000_000)]
Wished = Annotated[int | None, Form()]


@dataclass(frozen=True, slots=True)
class Choice:
    """A person who may be meant, and what to write for them instead."""

    title: str
    lived: str
    names: str
    """All that is to be begun with, this one among them."""


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family")
    def all_cases(request: Request, name: Name = "", offset: Offset = 0) -> Response:
        return _page(desk, request, name, offset=offset)

    @routes.post("/family")
    def begin(
        request: Request, name: Names = "", generations: Wished = None, budget: Wished = None, max_steps: Wished = None
    ) -> Response:
        wished = {"generations": generations, "budget": budget, "max_steps": max_steps}
        names = _names(name)
        try:
            case = _begun(desk, names, wished)
        except (BadUsage, NothingFound) as problem:
            return _page(desk, request, name, wished, problem=problem_of(problem), choices=_choices(desk, names))
        return go_to(f"/family/{case}")


def _names(written: str) -> list[str]:
    return [one.strip() for one in written.split(BETWEEN_NAMES) if one.strip()]


def _begun(desk: FamilyDesk, names: list[str], wished: dict[str, int | None]) -> str:
    families = desk.families
    if not 1 <= len(names) <= MOST_SEEDS:
        raise BadUsage("A case begins with a name.", remedy=f"Write one to {MOST_SEEDS}, with ';' between them.")
    given = {key: value for key, value in wished.items() if value is not None}
    for key, value in given.items():
        low, high = bounds_of(key)
        if not low <= value <= high:
            raise BadUsage(f"{value} is too many or too few.", remedy=f"Give a number from {low} to {high}.")
    settings = StartBody.model_validate({"names": names, **given}).settings(desk.room.desk.settings.kin)
    with desk.room.reading() as finder:
        return families.cases.start(settings, finder)


def bounds_of(key: str) -> tuple[int, int]:
    return BOUNDS["max_iterations" if key == "max_steps" else key]


def _choices(desk: FamilyDesk, names: list[str]) -> list[Choice]:
    """Whom to choose from, of the first name that does not say which one."""
    with desk.room.reading() as finder:
        books = BookSource(finder.books)
        for place, name in enumerate(names[:MOST_SEEDS]):
            try:
                found = people_meant(books, name)
            except KiwiError:
                continue
            if [one.read.title for one in found] == [name] or (len(found) == 1 and found[0].fit):
                continue
            if found:
                return [_choice(one.read.title, one.lived, names, place) for one in found]
    return []


def _choice(title: str, lived: str, names: list[str], place: int) -> Choice:
    return Choice(title, lived, f"{BETWEEN_NAMES} ".join([*names[:place], title, *names[place + 1 :]]))


def _page(
    desk: FamilyDesk,
    request: Request,
    name: str,
    wished: dict[str, int | None] | None = None,
    *,
    offset: int = 0,
    problem: Problem | None = None,
    choices: list[Choice] | None = None,
) -> Response:
    ids = desk.families.cases.ids()
    shown = ids[offset : offset + CASES_A_PAGE]
    return desk.pages.show(
        request,
        "family.html",
        status=problem.status if problem else 200,
        cases=[_listed(desk, request, one) for one in shown],
        total=len(ids),
        offset=offset,
        step=CASES_A_PAGE,
        name=name,
        settings=_settings(desk, wished or {}),
        problem=problem,
        choices=choices or [],
        owner=desk.families.access.is_owner(request),
        largest=LARGEST,
    )


def _listed(desk: FamilyDesk, request: Request, case: str) -> dict[str, Any]:
    return desk.families.record_or_problem(request, case) | {"job": desk.job_of(case)}


def _settings(desk: FamilyDesk, wished: dict[str, int | None]) -> list[dict[str, Any]]:
    """What can be set for a new case: its bounds, and what holds if nothing is said."""
    usual = desk.room.desk.settings.kin
    names = {"generations": usual.generations, "budget": usual.budget, "max_steps": usual.max_iterations}
    return [_setting(key, value, wished.get(key)) for key, value in names.items()]


def _setting(key: str, usual: int, wished: int | None) -> dict[str, Any]:
    low, high = bounds_of(key)
    return {"name": key, "value": "" if wished is None else wished, "usual": usual, "low": low, "high": high}
