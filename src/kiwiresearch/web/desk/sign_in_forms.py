"""The forms with which the owner of a server turns sign-in on and off, and users change their own password."""

from __future__ import annotations

import math
import threading
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from kiwiresearch.errors import KiwiError, LimitReached
from kiwiresearch.store import PasswordFault, password_fault
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.browser import browser_of
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.desk.question_history import QuestionHistory
from kiwiresearch.web.guard import (
    Accounts,
    OwnerAccess,
    RoleRouter,
    UserAuthenticator,
    WrongPassword,
    client_of,
    current_visitor,
    matching_name,
    requires_role,
    set_sign_in_cookie,
)
from kiwiresearch.web.peers import command_for_others, is_only_for_this_machine
from kiwiresearch.web.problems import Problem, problem_of
from kiwiresearch.web.users import MAX_NAME, MAX_SENT_PASSWORD
from kiwiresearch.workspace import Actor, UserRegister, Workspace, save_settings, setting_origins, store_of, utc_now

TypedPassword = Annotated[str, Field(max_length=MAX_SENT_PASSWORD, repr=False)]
Fault = PasswordFault | Literal["again", "no_name"]
Lock = Literal["users", "token"]
"""What was set when the server was started, above the settings file: that users are off, or a token."""

OffLock = Literal["started_on", "network"]
"""Why sign-in cannot be turned off: it was set when the server was started, or others could then use the server."""


def off_lock(workspace: Workspace) -> OffLock | None:
    """Why sign-in cannot be turned off in the browser; None if it can."""
    if setting_origins(workspace)["serve.users"] != "file":
        return "started_on"
    return None if is_only_for_this_machine(workspace.settings.serve) else "network"


class FirstOwnerForm(BaseModel):
    """What the form sends: who the owner is from now on."""

    name: Annotated[str, Field(max_length=MAX_NAME)] = ""
    password: TypedPassword = ""
    again: TypedPassword = ""

    @property
    def plain_name(self) -> str:
        return unicodedata.normalize("NFC", " ".join(self.name.split()))

    def fault(self) -> Fault | None:
        if not self.plain_name:
            return "no_name"
        return "again" if self.password != self.again else password_fault(self.password, self.plain_name)


def router(context: ServerContext, pages: PageRenderer, accounts: Accounts, renew: Callable[[], None]) -> APIRouter:
    """The form in place of the list of users; once they sign in, its address leads to the list."""
    routes = RoleRouter("owner", include_in_schema=False)
    routes.get("/settings/sign-in")(lambda: redirect("/people"))
    routes.get("/settings/sign-in/off")(lambda: redirect("/settings#users"))
    shown = SignInSetupPages(context, pages, accounts, renew)
    if accounts.authenticator is not None:
        routes.post("/settings/sign-in")(lambda: redirect("/people"))
        routes.post("/settings/sign-in/off")(shown.turn_off)
        return routes
    routes.get("/people")(shown.page)
    routes.post("/settings/sign-in")(shown.turn_on)
    routes.post("/settings/sign-in/off")(lambda: redirect("/people"))
    return routes


class SignInSetupPages:
    """The form and what it does."""

    def __init__(
        self, context: ServerContext, pages: PageRenderer, accounts: Accounts, renew: Callable[[], None]
    ) -> None:
        self._context = context
        self._pages = pages
        self._accounts = accounts
        self._renew = renew
        self._access = OwnerAccess(context.workspace.settings.serve)
        self._questions = QuestionHistory(context.workspace)
        self._handover_lock = threading.Lock()

    def page(self, request: Request, *, off: bool = False) -> Response:
        """The form; `off` if sign-in was just turned off."""
        if not self._access.may_manage(request):
            self._accounts.require_users(request)  # there are none, as for programs
        return self._show(request, is_off=off)

    @requires_role("owner", "manage")
    def turn_off(self, request: Request) -> Response:
        """Let in everybody on this machine again; users and their passwords are kept."""
        self._access.require_server_owner(request)
        workspace = self._context.workspace
        with self._handover_lock:
            if workspace.settings.serve.users:
                if off_lock(workspace):
                    return redirect("/settings#users")  # where the reason is
                self._context.use_settings(save_settings(workspace, {"serve.users": False}))
                self._renew()
                who = current_visitor()
                self._questions.hand_over(browser_of(request), who.name, who.since, to_browser=True)
        return redirect("/people?off=1")

    @requires_role("owner", "manage")
    def turn_on(self, request: Request, typed: Annotated[FirstOwnerForm, Form()]) -> Response:
        """Make the first owner, let in only users from now on, and sign this browser in."""
        self._access.require_server_owner(request)
        if self._lock():
            return self._show(request, typed)
        if fault := typed.fault():
            return self._show(request, typed, fault=fault)
        with self._handover_lock:
            if self._context.workspace.settings.serve.users:
                return redirect("/people")  # sent twice
            try:
                cookie = self._turn_on(request, typed)
            except KiwiError as error:
                return self._show(request, typed, problem=problem_of(error))
        answer = redirect("/people?new=1")
        set_sign_in_cookie(answer, request, cookie)
        return answer

    def _turn_on(self, request: Request, typed: FirstOwnerForm) -> str:
        workspace = self._context.workspace
        store = store_of(workspace)
        register = UserRegister(store, utc_now, Actor(origin=client_of(request.scope)))
        name = typed.plain_name
        known = matching_name(name, [user.name for user in register.all()])
        if known is None:
            known = register.add(name, "owner").name
        else:
            register.set_role(known, "owner")
        password = register.set_password(known, typed.password)
        self._questions.hand_over(browser_of(request), known, register.get(known).made_at)
        # Last, since a server with users does not start without an owner.
        changes: dict[str, Any] = {"serve.users": True}
        if workspace.settings.serve.token:
            changes["serve.token"] = None
        self._context.use_settings(save_settings(workspace, changes))
        self._renew()
        return UserAuthenticator(store, workspace.settings.limits, utc_now).cookie_of(password.id)

    def _lock(self) -> Lock | None:
        origins = setting_origins(self._context.workspace)
        if origins["serve.users"] == "environment":
            return "users"
        return "token" if self._context.workspace.settings.serve.token and origins["serve.token"] != "file" else None

    def _show(
        self,
        request: Request,
        typed: FirstOwnerForm | None = None,
        *,
        fault: Fault | None = None,
        problem: Problem | None = None,
        is_off: bool = False,
    ) -> Response:
        workspace = self._context.workspace
        values: dict[str, Any] = {
            "typed": typed.name if typed else "",
            "names": [user.name for user in store_of(workspace).users.all()],
            "fault": fault,
            "problem": problem,
            "lock": self._lock(),
            "has_token": bool(workspace.settings.serve.token),
            "is_off": is_off,
            "command_for_others": command_for_others(workspace.settings.serve),
        }
        status = problem.status if problem else 400 if fault else 409 if typed else 200
        return self._pages.show(request, "sign_in_setup.html", status=status, **values)


class OwnPasswordForm(BaseModel):
    """What the form for one's own password sends."""

    current: TypedPassword = ""
    new: TypedPassword = ""
    again: TypedPassword = ""


def password_router(accounts: Accounts, pages: PageRenderer) -> APIRouter:
    """The page on which users change their own password."""
    routes = RoleRouter("reader", include_in_schema=False)

    def page(
        request: Request,
        *,
        fault: PasswordFault | Literal["wrong", "again", ""] = "",
        wait_s: int = 0,
        is_saved: bool = False,
    ) -> Response:
        register = accounts.require_users(request)
        has_password = bool(register.password_times(current_visitor().name))
        status = 429 if wait_s else 400 if fault else 200
        headers = {"Retry-After": str(wait_s)} if wait_s else {}
        values = {"fault": fault, "wait_s": wait_s, "is_saved": is_saved, "has_password": has_password}
        return pages.show(request, "password.html", status=status, headers=headers, **values)

    @routes.get("/password")
    def ask(request: Request, *, saved: bool = False) -> Response:
        return page(request, is_saved=saved)

    @routes.post("/password")
    def change(request: Request, typed: Annotated[OwnPasswordForm, Form()]) -> Response:
        if typed.new != typed.again:
            return page(request, fault="again")
        if fault := password_fault(typed.new, current_visitor().name):
            return page(request, fault=fault)
        try:
            accounts.change_own_password(request, typed.current, typed.new)
        except WrongPassword:
            return page(request, fault="wrong")
        except LimitReached as limit:
            return page(request, wait_s=math.ceil(limit.retry_after_s))
        answer = redirect("/password?saved=1")
        accounts.keep_signed_in(request, answer)
        return answer

    return routes
