"""The tree of a case: drawn, and as a list that says the same."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.research import family_told as told
from kiwiresearch.web.desk.family_choices import ids_in_order, people_of
from kiwiresearch.web.desk.family_drawing import drawn
from kiwiresearch.web.desk.family_frame import FamilyDesk
from kiwiresearch.web.desk.words import words_for
from kiwiresearch.web.family import CaseId, Direction, shown
from kiwiresearch.web.family_files import MOST_GENERATIONS

MOST_ROWS = 1_000
USUAL_GENERATIONS = 3

Root = Annotated[str, Query(max_length=100)]
Generations = Annotated[int, Query(ge=0, le=MOST_GENERATIONS)]


def add(routes: APIRouter, desk: FamilyDesk) -> None:
    @routes.get("/family/{case}/tree")
    def tree(
        request: Request,
        case: CaseId,
        root: Root = "",
        of: Direction = "ancestors",
        generations: Generations = USUAL_GENERATIONS,
    ) -> Response:
        words, base, down = words_for(request), f"/family/{case}", of == "descendants"
        with desk.families.seen(request, case, None) as (found, mode):
            whole = found.tree(mode)
            chosen = shown(whole, root) if root else next(iter(ids_in_order(found, whole)), "")
            people = people_of(found, mode, chosen)
            picture, rows = None, []
            if chosen:
                picture = drawn(whole, chosen, words, base=base, down=down, generations=generations)
                rows = told.branch_records(whole, chosen, down=down)
        kept = [row for row in rows if not generations or row["depth"] <= generations]
        return desk.show(
            request,
            "family_tree.html",
            case,
            "tree",
            root=next((one for one in people.shown if one.id == chosen), None),
            of=of,
            generations=generations,
            most_generations=MOST_GENERATIONS,
            people=people,
            picture=picture,
            rows=kept[:MOST_ROWS],
            left_out=len(kept[MOST_ROWS:]),
        )
