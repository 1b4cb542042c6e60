"""The first page of families: all cases, and the form that starts one; all family routes put together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import Response

from kiwiresearch.codec import JsonDict, plain
from kiwiresearch.errors import BadUsage, KiwiError, NothingFound
from kiwiresearch.jobs import FamilyRequest, JobQueue
from kiwiresearch.kin.gedcom import MAX_FILE_BYTES
from kiwiresearch.kin.loop import BOUNDS, candidate_people
from kiwiresearch.kin.sources import BookSource
from kiwiresearch.web.bodies import MAX_NAME
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.family_case import (
    add_case_pages,
    add_evidence_pages,
    add_source_pages,
    start_family_job,
)
from kiwiresearch.web.desk.family_edits import add_edit_pages
from kiwiresearch.web.desk.family_files import add_file_pages
from kiwiresearch.web.desk.family_frame import FamilyPages
from kiwiresearch.web.desk.family_people import add_people_pages, add_review_pages
from kiwiresearch.web.desk.family_tree import add_tree_pages
from kiwiresearch.web.desk.pages import PageRenderer
from kiwiresearch.web.family_models import MAX_SEEDS, StartBody
from kiwiresearch.web.guard import RoleRouter, requires_role
from kiwiresearch.web.problems import Problem, problem_of

CASES_PER_PAGE = 50
NAME_SEPARATOR = ";"

Names = Annotated[str, Form(max_length=MAX_NAME)]
Name = Annotated[str, Query(max_length=MAX_NAME)]
Offset = Annotated[int, Query(ge=0, le=1_000_000)]
OptionalNumber = Annotated[int | None, Form()]


@dataclass(frozen=True, slots=True)
class PersonChoice:
    """A person who may be meant, and the names to enter instead."""

    title: str
    lifespan: str
    names: str
    """All names to start the case with, including this one."""


def add_start_pages(routes: APIRouter, pages: FamilyPages) -> None:
    @routes.get("/family")
    def all_cases(request: Request, name: Name = "", offset: Offset = 0) -> Response:
        return _page(pages, request, name, offset=offset)

    @routes.post("/family")
    @requires_role("researcher", "case")
    def begin(
        request: Request,
        name: Names = "",
        generations: OptionalNumber = None,
        budget: OptionalNumber = None,
        max_steps: OptionalNumber = None,
    ) -> Response:
        limits = {"generations": generations, "budget": budget, "max_steps": max_steps}
        names = _names(name)
        try:
            case = _start_case(pages, names, limits)
        except (BadUsage, NothingFound) as problem:
            return _page(pages, request, name, limits, problem=problem_of(problem), choices=_choices(pages, names))
        # Reading the relatives is why a family is started, so it needs no second press.
        return start_family_job(pages, request, FamilyRequest(case, 0, pages.has_model))


def _names(written: str) -> list[str]:
    return [item.strip() for item in written.split(NAME_SEPARATOR) if item.strip()]


def _start_case(pages: FamilyPages, names: list[str], limits: dict[str, int | None]) -> str:
    families = pages.families
    if not 1 <= len(names) <= MAX_SEEDS:
        raise BadUsage(
            "No name was entered, or too many names were.",
            remedy=f"Enter up to {MAX_SEEDS} names, separated by semicolons.",
        )
    given = {key: value for key, value in limits.items() if value is not None}
    for key, value in given.items():
        low, high = bounds_of(key)
        if not low <= value <= high:
            raise BadUsage(f"{value} is out of range.", remedy=f"Enter a number from {low} to {high}.")
    settings = StartBody.model_validate({"names": names, **given}).settings(pages.context.workspace.settings.kin)
    with pages.context.locked_finder() as finder:
        return families.cases.start(settings, finder)


def bounds_of(key: str) -> tuple[int, int]:
    return BOUNDS["max_iterations" if key == "max_steps" else key]


def _choices(pages: FamilyPages, names: list[str]) -> list[PersonChoice]:
    """The people to choose from, for the first ambiguous name."""
    with pages.context.locked_finder() as finder:
        books = BookSource(finder.books)
        for place, name in enumerate(names[:MAX_SEEDS]):
            try:
                found = candidate_people(books, name)
            except KiwiError:
                continue
            # This name is clear: it is the title of the only page, or the only candidate fits well.
            if [candidate.reading.title for candidate in found] == [name] or (len(found) == 1 and found[0].fit):
                continue
            if found:
                return [_choice(candidate.reading.title, candidate.lifespan, names, place) for candidate in found]
    return []


def _choice(title: str, lifespan: str, names: list[str], place: int) -> PersonChoice:
    return PersonChoice(title, lifespan, f"{NAME_SEPARATOR} ".join([*names[:place], title, *names[place + 1 :]]))


def _page(
    pages: FamilyPages,
    request: Request,
    name: str,
    limits: dict[str, int | None] | None = None,
    *,
    offset: int = 0,
    problem: Problem | None = None,
    choices: list[PersonChoice] | None = None,
) -> Response:
    archived = pages.families.jobs.removed.ids("family", "archived")
    ids = tuple(identifier for identifier in pages.families.cases.ids() if identifier not in archived)
    shown = ids[offset : offset + CASES_PER_PAGE]
    return pages.pages.show(
        request,
        "family.html",
        status=problem.status if problem else 200,
        cases=[_case_row(pages, request, item) for item in shown],
        total=len(ids),
        offset=offset,
        step=CASES_PER_PAGE,
        name=name,
        settings=_settings(pages, limits or {}),
        problem=problem,
        choices=choices or [],
        owner=pages.families.access.may_see_living(request),
        largest=MAX_FILE_BYTES,
    )


def _case_row(pages: FamilyPages, request: Request, case: str) -> JsonDict:
    row: JsonDict = plain(pages.families.listed_record(request, case))
    return row | {"job": pages.job_of(case)}


class NumberField(NamedTuple):
    """A number in a form: what was typed, its default, and its bounds."""

    name: str
    value: int | str
    usual: int
    low: int
    high: int


def _settings(pages: FamilyPages, limits: dict[str, int | None]) -> list[NumberField]:
    """The settings for a new case: their bounds and their defaults."""
    usual = pages.context.workspace.settings.kin
    names = {"generations": usual.generations, "budget": usual.budget, "max_steps": usual.max_iterations}
    values = {key: "" if value is None else value for key, value in limits.items()}
    return [NumberField(key, values.get(key, ""), value, *bounds_of(key)) for key, value in names.items()]


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The family routes; those with fixed names come before those that match any case."""
    family_pages = FamilyPages(context, jobs, pages)
    routes = RoleRouter("reader", include_in_schema=False)
    for add_pages in (
        add_start_pages,
        add_file_pages,
        add_case_pages,
        add_tree_pages,
        add_people_pages,
        add_evidence_pages,
        add_review_pages,
        add_edit_pages,
        add_source_pages,
    ):
        add_pages(routes, family_pages)
    return routes
