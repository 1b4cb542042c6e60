"""Pages that tell what is done here and what is not shown: the audit for owners, the policy for everybody."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.research.policy import left_out
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.guard.house import House
from kiwiresearch.web.guard.roles import RULES
from kiwiresearch.web.room import Room

ROWS = 50
ACTIONS = tuple(sorted({rule.action for rule in RULES.values() if rule.action} | {"login", "refused", "user", "ended"}))

Typed = Annotated[str, Query(max_length=100)]
Before = Annotated[int | None, Query(ge=1, le=2**62)]
Switch = Annotated[int, Query(ge=0, le=1)]


def router(room: Room, house: House, pages: Pages) -> APIRouter:
    """The audit with its filters, and the policy."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/audit")
    def audit(
        request: Request,
        user: Typed = "",
        action: Typed = "",
        since: Typed = "",
        before: Before = None,
        check: Switch = 0,
    ) -> Response:
        kept = house.audit()
        wanted: dict[str, Any] = {"user": user or None, "action": action or None, "since": since.strip()}
        rows = kept.rows(limit=ROWS + 1, before=before, newest_first=True, **wanted)
        filters = {"user": user, "action": action, "since": since}
        older = urlencode(filters | {"before": rows[ROWS - 1].seq}, errors="replace") if len(rows) > ROWS else ""
        return pages.show(
            request,
            "audit.html",
            rows=rows[:ROWS],
            actions=ACTIONS,
            filters=filters,
            older=f"/audit?{older}" if older else "",
            is_first=before is None,
            checked=bool(check),
            broken=kept.check() if check else None,
            with_words=room.desk.settings.serve.audit_words,
        )

    @routes.get("/profile")
    def profile(request: Request) -> Response:
        policy = room.desk.settings.policy
        out = left_out(room.desk.shelf_file.books(), policy)
        return pages.show(request, "profile.html", left_out=[book.title or book.name for book in out])

    return routes
