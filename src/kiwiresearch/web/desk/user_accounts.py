"""Pages for owners: users, roles, limits, passwords, links, tokens, audit log; and the policy page for everybody."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from kiwiresearch.errors import BadUsage
from kiwiresearch.store import ROLES, Audit, AuditProblem, NewLink, NewToken, PasswordFault, password_fault
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.guard import ROUTE_ACTIONS, Accounts, RoleRouter, current_visitor, requires_role
from kiwiresearch.web.peers import address_to_share, command_for_others
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.users import MAX_NAME, MAX_SENT_PASSWORD, LinkId, TokenId, link_address
from kiwiresearch.workspace import (
    CLASS_ROLES,
    LIMIT_NAMES,
    LINK_TIMES,
    ClassRole,
    LinkTime,
    hidden_books,
    user_limits,
    utc_moment,
)

AUDIT_ROWS = 50
ACTIONS = tuple(sorted({*ROUTE_ACTIONS, "login", "refused", "user", "ended"}))

TypedFilter = Annotated[str, Query(max_length=100)]
Before = Annotated[int | None, Query(ge=1, le=2**62)]
Switch = Annotated[int, Query(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """The result of checking the audit log."""

    wanted_head: str
    """The hash to look for; empty if none was given."""
    has_head: bool
    broken: AuditProblem | None
    end: str
    """The hash of the last row."""


def check_audit(audit: Audit, head: str) -> AuditCheck:
    """Check the audit log, and whether it still has the row of an earlier head."""
    end = audit.head()  # read first, so that the check covers it
    return AuditCheck(head, audit.has_head(head), audit.first_problem(), end)


def audit_router(context: ServerContext, accounts: Accounts, pages: PageRenderer) -> APIRouter:
    """The audit with its filters, and the policy."""
    routes = RoleRouter("owner", include_in_schema=False)

    @routes.get("/audit")
    @requires_role("owner", "audit")
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
            with_words=context.workspace.settings.serve.audit_words,
        )

    @routes.get("/profile")
    @requires_role("reader")
    def profile(request: Request) -> Response:
        policy = context.workspace.settings.policy
        out = hidden_books(context.workspace.shelf_file.books(), policy)
        return pages.show(request, "profile.html", left_out=[book.title or book.name for book in out])

    return routes


UserName = Annotated[str, Path(max_length=MAX_NAME)]
TypedField = Annotated[str, Field(max_length=200)]
ClassList = Annotated[str, Field(max_length=20_000)]
TypedPassword = Annotated[str, Field(max_length=MAX_SENT_PASSWORD)]


class NewUserForm(BaseModel):
    """What the form for a new user sends."""

    name: TypedField = ""
    role: TypedField = "reader"
    way: TypedField = "token"
    """What the user signs in with: 'password', 'link' or 'token'."""
    valid: LinkTime = "day"
    """How long a link can be used."""


class ClassForm(BaseModel):
    """What the form for a class sends."""

    names: ClassList = ""
    role: ClassRole = "reader"
    renew: bool = False
    way: Literal["password", "link"] = "password"
    valid: LinkTime = "day"


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
        raise BadUsage(f"{text!r} is not a valid limit.", remedy="Enter a whole number. 0 means no limit.")
    return int(text) if text else None


def user_accounts_router(context: ServerContext, accounts: Accounts, pages: PageRenderer) -> APIRouter:
    """The list, a page for each user, and the routes of their forms."""
    routes = RoleRouter("owner", include_in_schema=False)
    shown = PeoplePages(context, accounts, pages)
    routes.get("/people")(shown.all)
    routes.post("/people")(shown.add)
    routes.post("/class-list")(shown.add_class)
    # What was shown once is gone when its address is opened again, as a change of the language does.
    routes.get("/class-list")(lambda: redirect("/people"))
    for part in ("tokens", "password", "links"):
        routes.get(f"/people/{{name}}/{part}")(shown.back)
    routes.get("/people/{name}")(shown.user)
    routes.post("/people/{name}")(shown.change)
    routes.post("/people/{name}/tokens")(shown.new_token)
    routes.post("/people/{name}/tokens/{token_id}/revoke")(shown.revoke)
    routes.post("/people/{name}/links")(shown.new_link)
    routes.post("/people/{name}/links/{link_id}/revoke")(shown.revoke_link)
    routes.post("/people/{name}/password")(shown.set_password)
    routes.post("/people/{name}/password/remove")(shown.remove_password)
    routes.post("/people/{name}/remove")(shown.remove)
    return routes


class PeoplePages:
    """The pages and actions of the routes; a form that cannot be carried out is shown again with the reason."""

    def __init__(self, context: ServerContext, accounts: Accounts, pages: PageRenderer) -> None:
        self._accounts = accounts
        self._limits = context.workspace.settings.limits
        self._serve = context.workspace.settings.serve
        self._pages = pages

    def all(self, request: Request, *, new: bool = False) -> Response:
        """All users, and the form for a new one; `new` if sign-in was just turned on."""
        return self._all(request, NewUserForm(way="password"), is_new=new)

    def _all(
        self,
        request: Request,
        typed: NewUserForm,
        problem: Problem | None = None,
        class_form: ClassForm | None = None,
        *,
        is_new: bool = False,
    ) -> Response:
        register = self._accounts.require_users(request)
        rows = [(user, sum(not token.revoked_at for token in register.tokens(user.name))) for user in register.all()]
        values: dict[str, Any] = {"rows": rows, "roles": ROLES, "typed": typed, "problem": problem}
        values |= {"passwords_at": register.password_times(), "times": LINK_TIMES}
        values |= {"class_form": class_form or ClassForm(), "is_class": class_form is not None}
        values |= {"class_roles": CLASS_ROLES, "is_new": is_new}
        values |= {"command_for_others": command_for_others(self._serve)}
        return self._pages.show(request, "people.html", status=problem.status if problem else 200, **values)

    def user(self, request: Request, name: UserName, *, saved: bool = False) -> Response:
        """The page of a user."""
        return self._one(request, name, is_saved=saved)

    def _one(
        self,
        request: Request,
        name: str,
        *,
        made: NewToken | None = None,
        made_password: str = "",
        made_link: NewLink | None = None,
        password_fault: PasswordFault | None = None,
        typed: UserForm | None = None,
        problem: Problem | None = None,
        is_saved: bool = False,
    ) -> Response:
        """The page of a user; with a token, password or link that was just made: it is never shown again."""
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
            "password_at": register.password_times(name).get(name, ""),
            "made_password": made_password,
            "made_link": made_link,
            "link_address": link_address(made_link, self._serve, request) if made_link else "",
            "links": register.links(name),
            "times": LINK_TIMES,
            "password_fault": password_fault,
            "problem": problem,
            "is_saved": is_saved,
        }
        status = problem.status if problem else 400 if password_fault else 200
        return self._pages.show(request, "people_user.html", status=status, **values)

    def add(self, request: Request, typed: Annotated[NewUserForm, Form()]) -> Response:
        """Add a user with a password, a sign-in link or a first token, which the next page shows once."""
        register = self._accounts.require_users(request)
        try:
            user = register.add(typed.name.strip(), typed.role)
        except BadUsage as problem:
            return self._all(request, typed, problem_of(problem))
        if typed.way == "password":
            return self._one(request, user.name, made_password=register.generate_password(user.name).password)
        if typed.way == "link":
            return self._one(request, user.name, made_link=register.new_link(user.name, typed.valid))
        return self._one(request, user.name, made=register.new_token(user.name))

    def add_class(self, request: Request, typed: Annotated[ClassForm, Form()]) -> Response:
        """Add a user for each line of a list; the sheet of their passwords or links is shown once."""
        register = self._accounts.require_users(request)
        link_valid = typed.valid if typed.way == "link" else None
        try:
            made = register.add_class(typed.names, renew=typed.renew, role=typed.role, link_valid=link_valid)
        except BadUsage as problem:
            return self._all(request, NewUserForm(way="password"), problem_of(problem), typed)
        values: dict[str, Any] = {
            "made": made,
            "address": address_to_share(self._serve, request),
            "command_for_others": command_for_others(self._serve),
            "port": request.url.port or self._serve.port,
            "links": [(link, link_address(link, self._serve, request)) for link in made.links],
            "is_links": typed.way == "link",
        }
        return self._pages.show(request, "people_sheet.html", **values)

    def change(self, request: Request, name: UserName, changes: Annotated[UserForm, Form()]) -> Response:
        register = self._accounts.require_users(request)
        try:
            register.change(name, changes.role or None, changes.limits())
        except BadUsage as problem:
            return self._one(request, name, typed=changes, problem=problem_of(problem))
        return redirect(f"{_address(name)}?saved=1")

    def back(self, name: UserName) -> Response:
        """Lead to the page of a user."""
        return redirect(_address(name))

    def new_token(self, request: Request, name: UserName, label: Annotated[TypedField, Form()] = "") -> Response:
        try:
            made = self._accounts.require_users(request).new_token(name, label.strip())
        except BadUsage as problem:
            return self._one(request, name, problem=problem_of(problem))
        return self._one(request, name, made=made)

    def new_link(self, request: Request, name: UserName, valid: Annotated[LinkTime, Form()] = "day") -> Response:
        """Create a sign-in link, which is shown once."""
        try:
            made = self._accounts.require_users(request).new_link(name, valid)
        except BadUsage as problem:
            return self._one(request, name, problem=problem_of(problem))
        return self._one(request, name, made_link=made)

    def revoke_link(self, request: Request, name: UserName, link_id: LinkId) -> Response:
        self._accounts.require_users(request).revoke_link(name, link_id)
        return redirect(f"{_address(name)}?saved=1")

    def revoke(self, request: Request, name: UserName, token_id: TokenId) -> Response:
        self._accounts.require_users(request).revoke(name, token_id)
        return redirect(_address(name))

    def set_password(
        self, request: Request, name: UserName, password: Annotated[TypedPassword, Form()] = ""
    ) -> Response:
        """Set the password that an owner chose, or generate one, which is shown once."""
        register = self._accounts.require_users(request)
        if not password:
            made = register.generate_password(name).password
            return self._still_signed_in(request, name, self._one(request, name, made_password=made))
        if fault := password_fault(password, name):
            return self._one(request, name, password_fault=fault)
        register.set_password(name, password)
        return self._still_signed_in(request, name, redirect(f"{_address(name)}?saved=1"))

    def _still_signed_in(self, request: Request, name: str, answer: Response) -> Response:
        """An owner who resets their own password stays signed in here."""
        if name == current_visitor().name:
            self._accounts.keep_signed_in(request, answer)
        return answer

    def remove_password(self, request: Request, name: UserName) -> Response:
        try:
            self._accounts.require_users(request).remove_password(name)
        except BadUsage as problem:
            return self._one(request, name, problem=problem_of(problem))
        return redirect(f"{_address(name)}?saved=1")

    def remove(self, request: Request, name: UserName) -> Response:
        try:
            self._accounts.require_users(request).remove(name)
        except BadUsage as problem:
            return self._one(request, name, problem=problem_of(problem))
        return redirect("/people")


def _address(name: str) -> str:
    return f"/people/{quote(name, safe='')}"
