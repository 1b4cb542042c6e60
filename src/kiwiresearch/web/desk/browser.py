"""Which browser sent a request: on a server without users, recent questions and research belong to it."""

from __future__ import annotations

import re
import secrets
from hashlib import sha256

from fastapi import Request
from starlette.responses import Response

from kiwiresearch.jobs import Job
from kiwiresearch.web.guard import current_visitor

BROWSER_COOKIE = "kiwiresearch_browser"
# What `secrets.token_urlsafe(16)` makes: 16 bytes in base64, without padding.
BROWSER_ID = re.compile(r"[\w-]{22}", re.ASCII)
YEAR_S = 365 * 24 * 3600
"""How long browsers keep our cookies."""


def browser_of(request: Request) -> str:
    """The id that this server gave to the browser; empty if it has none yet."""
    known = request.cookies.get(BROWSER_COOKIE, "")
    return known if BROWSER_ID.fullmatch(known) else ""


def browser_to_remember(request: Request) -> str:
    """The id of the browser, or a new one, which `remember_browser` must then give to it."""
    return browser_of(request) or secrets.token_urlsafe(16)


def remember_browser(request: Request, reply: Response, browser: str) -> None:
    """Give the browser its id, if it has none yet."""
    if not browser_of(request):
        set_lasting_cookie(request, reply, BROWSER_COOKIE, browser)


def set_lasting_cookie(request: Request, reply: Response, name: str, value: str) -> None:
    """Have the browser keep a value that only our own pages get back."""
    is_https = request.url.scheme == "https"
    reply.set_cookie(name, value, YEAR_S, httponly=True, samesite="strict", secure=is_https)


def browser_key(browser: str) -> str:
    """What is stored instead of the id, since anyone who knows the id sees the browser's lists."""
    return sha256(f"browser\n{browser}".encode()).hexdigest()[:32] if browser else ""


def is_own(job: Job, browser: str) -> bool:
    """Whether the visitor started a job: the user, or the browser on a server without users."""
    who = current_visitor()
    is_of_browser = bool(browser) and job.browser == browser_key(browser)
    if not who.name:
        return is_of_browser
    if who.role == "owner" and not job.user and is_of_browser:
        return True  # from before sign-in was turned on
    # An earlier user of the same name may be another person.
    return job.user == who.name and job.asked_at >= who.since
