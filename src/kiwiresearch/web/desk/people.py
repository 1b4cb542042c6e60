"""Pages for owners: users, roles, limits, tokens and the audit; and the policy page for everybody."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from kiwiresearch.errors import BadUsage
from kiwiresearch.store import ROLES, Audit, AuditProblem, NewToken
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import Pages, redirect
from kiwiresearch.web.guard import ROUTE_ACTIONS, Accounts, RoleRouter, allow
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.users import MAX_NAME, TokenId
from kiwiresearch.workspace import LIMIT_NAMES, hidden_books, user_limits, utc_moment

AUDIT_ROWS = 50
ACTIONS = tuple(sorted({*ROUTE_ACTIONS, "login", "refused", "user", "ended"}))

TypedFilter = Annotated[str, Query(max_length=100)]
Before = Annotated[int | None, Query(ge=1, le=2**62)]
Switch = Annotated[int, Query(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """The result of checking the audit."""

    wanted_head: str
    """The hash to look for; empty if none was given."""
    has_head: bool
    broken: AuditProblem | None
    end: str
    """The hash of the last row."""


def check_audit(audit: Audit, head: str) -> AuditCheck:
    """Check the audit, and whether it still has the row of an earlier head."""
    end = audit.head()  # read first, so that the check covers it
    return AuditCheck(head, audit.has_head(head), audit.check(), end)


def audit_router(room: ServerContext, accounts: Accounts, pages: Pages) -> APIRouter:
    """The audit with its filters, and the policy."""
    routes = RoleRouter("owner", include_in_schema=False)

    @routes.get("/audit")
    @allow("owner", "audit")
    def audit(
        request: Request,
        user: TypedFilter = "",
        action: TypedFilter = "",
        since: TypedFilter = "",
        before: Before = None,
        check: Switch = 0,
        head: TypedFilter = "",
    ) -> Response:
        audit_rows = accounts.require_audit()
        filters = {"user": user, "action": action, "since": since}
        try:
            begin, is_date = utc_moment(since), True
        except BadUsage:
            begin, is_date = "", False
        wanted: dict[str, Any] = {"user": user or None, "action": action or None, "since": begin}
        rows = audit_rows.rows(limit=AUDIT_ROWS + 1, before=before, newest_first=True, **wanted) if is_date else []
        older = (
            urlencode(filters | {"before": rows[AUDIT_ROWS - 1].seq}, errors="replace")
            if len(rows) > AUDIT_ROWS
            else ""
        )
        return pages.show(
            request,
            "audit.html",
            status=200 if is_date else 400,
            rows=rows[:AUDIT_ROWS],
            actions=ACTIONS,
            filters=filters,
            is_date=is_date,
            older=f"/audit?{older}" if older else "",
            is_first=before is None,
            proof=check_audit(audit_rows, head.strip()) if check else None,
            with_words=room.workspace.settings.serve.audit_words,
        )

    @routes.get("/profile")
    @allow("reader")
    def profile(request: Request) -> Response:
        policy = room.workspace.settings.policy
        out = hidden_books(room.workspace.shelf_file.books(), policy)
        return pages.show(request, "profile.html", left_out=[book.title or book.name for book in out])

    return routes


UserName = Annotated[str, Path(max_length=MAX_NAME)]
TypedField = Annotated[str, Field(max_length=200)]


class NewUserForm(BaseModel):
    """What the form for a new user sends."""

    name: TypedField = ""
    role: TypedField = "reader"


class UserForm(BaseModel):
    """What the form of a user sends: the role, and limits; an empty limit is that of the role."""

    role: TypedField = ""
    requests_a_minute: TypedField = ""
    questions_a_day: TypedField = ""
    running: TypedField = ""
    queued: TypedField = ""
    max_pages: TypedField = ""

    def limits(self) -> dict[str, int | None]:
        return {name: _number(getattr(self, name)) for name in LIMIT_NAMES}


def _number(text: str) -> int | None:
    text = text.strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise BadUsage(f"{text!r} is no limit.", remedy="Give a whole number; 0 sets none.")
    return int(text) if text else None


def people_router(room: ServerContext, accounts: Accounts, pages: Pages) -> APIRouter:
    """The list, a page for each user, and the routes of their forms."""
    routes = RoleRouter("owner", include_in_schema=False)
    shown = PeoplePages(room, accounts, pages)
    routes.get("/people")(shown.all)
    routes.post("/people")(shown.add)
    routes.get("/people/{name}")(shown.one)
    routes.post("/people/{name}")(shown.change)
    routes.post("/people/{name}/tokens")(shown.new_token)
    routes.post("/people/{name}/tokens/{token_id}/revoke")(shown.revoke)
    routes.post("/people/{name}/remove")(shown.remove)
    return routes


class PeoplePages:
    """The pages and actions of the routes; a form that cannot be carried out is shown again with the reason."""

    def __init__(self, room: ServerContext, accounts: Accounts, pages: Pages) -> None:
        self._accounts = accounts
        self._limits = room.workspace.settings.limits
        self._pages = pages

    def all(self, request: Request) -> Response:
        """All users, and the form for a new one."""
        return self._all(request, NewUserForm())

    def _all(self, request: Request, typed: NewUserForm, problem: Problem | None = None) -> Response:
        register = self._accounts.require_users(request)
        rows = [(user, sum(not token.revoked_at for token in register.tokens(user.name))) for user in register.all()]
        values: dict[str, Any] = {"rows": rows, "roles": ROLES, "typed": typed, "problem": problem}
        return self._pages.show(request, "people.html", status=problem.status if problem else 200, **values)

    def one(self, request: Request, name: UserName, *, saved: bool = False) -> Response:
        """The page of a user."""
        return self._one(request, name, is_saved=saved)

    def _one(
        self,
        request: Request,
        name: str,
        *,
        made: NewToken | None = None,
        typed: UserForm | None = None,
        problem: Problem | None = None,
        is_saved: bool = False,
    ) -> Response:
        """The page of a user; with a token that was just made, because it is never shown again."""
        register = self._accounts.require_users(request)
        user = register.get(name)
        values: dict[str, Any] = {
            "user": user,
            "tokens": register.tokens(name),
            "roles": ROLES,
            "names": LIMIT_NAMES,
            "usual": asdict(user_limits(self._limits, user.role, {})),
            "typed": typed or UserForm(role=user.role, **{limit: str(most) for limit, most in user.limits.items()}),
            "made": made,
            "problem": problem,
            "is_saved": is_saved,
        }
        return self._pages.show(request, "people_user.html", status=problem.status if problem else 200, **values)

    def add(self, request: Request, typed: Annotated[NewUserForm, Form()]) -> Response:
        """Add a user with a first token, which the next page shows once."""
        register = self._accounts.require_users(request)
        try:
            user = register.add(typed.name.strip(), typed.role)
        except BadUsage as problem:
            return self._all(request, typed, problem_of(problem))
        return self._one(request, user.name, made=register.new_token(user.name))

    def change(self, request: Request, name: UserName, changes: Annotated[UserForm, Form()]) -> Response:
        register = self._accounts.require_users(request)
        try:
            register.change(name, changes.role or None, changes.limits())
        except BadUsage as problem:
            return self._one(request, name, typed=changes, problem=problem_of(problem))
        return redirect(f"{_address(name)}?saved=1")

    def new_token(self, request: Request, name: UserName, label: Annotated[TypedField, Form()] = "") -> Response:
        try:
            made = self._accounts.require_users(request).new_token(name, label.strip())
        except BadUsage as problem:
            return self._one(request, name, problem=problem_of(problem))
        return self._one(request, name, made=made)

    def revoke(self, request: Request, name: UserName, token_id: TokenId) -> Response:
        self._accounts.require_users(request).revoke(name, token_id)
        return redirect(_address(name))

    def remove(self, request: Request, name: UserName) -> Response:
        try:
            self._accounts.require_users(request).remove(name)
        except BadUsage as problem:
            return self._one(request, name, problem=problem_of(problem))
        return redirect("/people")


def _address(name: str) -> str:
    return f"/people/{quote(name, safe='')}"
