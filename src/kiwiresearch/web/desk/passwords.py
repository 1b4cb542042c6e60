"""The page on which users change their own password."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from kiwiresearch.errors import LimitReached
from kiwiresearch.store import PasswordFault, password_fault
from kiwiresearch.web.desk.pages import PageRenderer, redirect
from kiwiresearch.web.guard import Accounts, RoleRouter, WrongPassword, current_visitor
from kiwiresearch.web.users import MAX_SENT_PASSWORD

TypedPassword = Annotated[str, Field(max_length=MAX_SENT_PASSWORD, repr=False)]


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
