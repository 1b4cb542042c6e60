"""Pages that tell what is done here and what is not shown: the audit for owners, the policy for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.errors import BadUsage
from kiwiresearch.research.policy import left_out
from kiwiresearch.research.since import moment_of
from kiwiresearch.store.audit import Audit, BrokenRow
from kiwiresearch.web.desk.pages import Pages
from kiwiresearch.web.guard.house import House
from kiwiresearch.web.guard.roles import RULES
from kiwiresearch.web.room import Room

ROWS = 50
ACTIONS = tuple(sorted({rule.action for rule in RULES.values() if rule.action} | {"login", "refused", "user", "ended"}))

Typed = Annotated[str, Query(max_length=100)]
Before = Annotated[int | None, Query(ge=1, le=2**62)]
Switch = Annotated[int, Query(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class Proof:
    """What a check of the audit found."""

    asked: str
    """The hash that was to be looked for; empty where none was given."""
    knows: bool
    broken: BrokenRow | None
    end: str
    """The hash of the last row."""


def prove(audit: Audit, head: str) -> Proof:
    """Prove the audit as it is now, and that it still has the row of an earlier head."""
    end = audit.head()  # before the proof, which covers it then
    return Proof(head, audit.knows(head), audit.check(), end)


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
        head: Typed = "",
    ) -> Response:
        kept = house.audit()
        filters = {"user": user, "action": action, "since": since}
        try:
            begin, is_date = moment_of(since), True
        except BadUsage:
            begin, is_date = "", False
        wanted: dict[str, Any] = {"user": user or None, "action": action or None, "since": begin}
        rows = kept.rows(limit=ROWS + 1, before=before, newest_first=True, **wanted) if is_date else []
        older = urlencode(filters | {"before": rows[ROWS - 1].seq}, errors="replace") if len(rows) > ROWS else ""
        return pages.show(
            request,
            "audit.html",
            status=200 if is_date else 400,
            rows=rows[:ROWS],
            actions=ACTIONS,
            filters=filters,
            is_date=is_date,
            older=f"/audit?{older}" if older else "",
            is_first=before is None,
            proof=prove(kept, head.strip()) if check else None,
            with_words=room.desk.settings.serve.audit_words,
        )

    @routes.get("/profile")
    def profile(request: Request) -> Response:
        policy = room.desk.settings.policy
        out = left_out(room.desk.shelf_file.books(), policy)
        return pages.show(request, "profile.html", left_out=[book.title or book.name for book in out])

    return routes
