"""The page that compares two runs claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.codec import JsonDict
from kiwiresearch.diff import DIFFERENCE_KINDS, Comparison, difference_counts, differences
from kiwiresearch.errors import RunNotFound
from kiwiresearch.jobs import JobQueue
from kiwiresearch.web.comparisons import ComparisonCache
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, list_page
from kiwiresearch.web.guard import RoleRouter
from kiwiresearch.web.run_view import RunView, RunViews, run_views

DIFFERENCES_PER_PAGE = 25
MAX_PAGES = 100_000
MAX_RUNS = 500
"""How many of the newest runs the form offers; others can be named in the address."""

RunName = Annotated[str, Query(max_length=255)]


def router(context: ServerContext, jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """The page that compares two runs."""
    routes = RoleRouter("reader", include_in_schema=False)
    runs = run_views(context, jobs)
    compared = ComparisonCache()

    @routes.get("/compare")
    def compare(
        request: Request,
        old: RunName = "",
        new: RunName = "",
        show: Annotated[str, Query(max_length=20)] = "",
        page: Annotated[int, Query(ge=1, le=MAX_PAGES)] = 1,
    ) -> Response:
        sides = [_run_or_none(runs, name) for name in (old, new)]
        problem = _problem(old, new, sides)
        values: dict[str, Any] = {"runs": runs.all()[:MAX_RUNS], "old": sides[0], "new": sides[1], "problem": problem}
        if problem or not (sides[0] and sides[1]):
            values["old"], values["new"] = _preselected(sides, values["runs"])
            return pages.show(request, "compare.html", status=404 if problem == "unknown" else 200, **values)
        found = compared.get(sides[0], sides[1])
        kind = show if show in DIFFERENCE_KINDS else ""
        part = _values(found, sides[0], sides[1], kind, page)
        return pages.show(request, "compare_two.html", part, **values)

    return routes


def _run_or_none(runs: RunViews, name: str) -> RunView | None:
    try:
        return runs.get(name) if name else None
    except RunNotFound:
        return None


def _problem(old: str, new: str, sides: list[RunView | None]) -> str:
    """Why two runs cannot be compared, as a key of the catalogue; empty if they can."""
    if any(name and side is None for name, side in zip((old, new), sides, strict=True)):
        return "unknown"
    if bool(old) != bool(new):
        return "one"
    return "same" if old and old == new else ""


def _preselected(sides: list[RunView | None], runs: Sequence[RunView]) -> tuple[RunView | None, RunView | None]:
    """The runs chosen in the form: of only two, both; the older one first if none was named."""
    old, new = sides
    if len(runs) != 2:
        return old, new
    if old or new:
        other = next((run for run in runs if run.id not in {side.id for side in sides if side}), None)
        return (old, new) if old and new else (old or other, new or other)
    first, second = sorted(runs, key=lambda run: run.made_at)
    return first, second


def _values(found: Comparison, old: RunView, new: RunView, kind: str, page: int) -> JsonDict:
    base = {"old": old.id, "new": new.id}
    place = ListPlace("/compare", base | {"show": kind}, "page", "#claims")
    return {
        "found": found,
        "shown": list_page(differences(found, kind), page, place, DIFFERENCES_PER_PAGE),
        "kinds": [(name, count) for name, count in difference_counts(found).items() if name in DIFFERENCE_KINDS],
        "elsewhere": [sum(not claim.page_in_both for claim in some) for some in (found.new, found.gone)],
        "kind": kind,
        "address": lambda **more: "/compare?" + urlencode(base | {name: it for name, it in more.items() if it}),
        "turned": "/compare?" + urlencode({"old": new.id, "new": old.id}),
        "is_backwards": any(
            pair.old and pair.new and pair.kind == "snapshot" and pair.old.date > pair.new.date for pair in found.books
        ),
    }
