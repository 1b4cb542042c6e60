"""Who a request is for: programs, which speak JSON, or people, who read pages and send forms."""

from __future__ import annotations

from starlette.types import Scope

SAFE = frozenset({"GET", "HEAD"})
PROGRAMS = ("/api/", "/v1/", "/mcp", "/owui/", "/search", "/openapi.json")
"""Where programs ask; every other path is a page, or a form of one."""


def is_for_programs(scope: Scope) -> bool:
    """Whether this is an address of programs."""
    path: str = scope["path"]
    return path == "/api" or path.startswith(PROGRAMS)


def is_for_people(scope: Scope) -> bool:
    """Whether this is a page for people, or a form of one."""
    return not is_for_programs(scope)


def is_of_a_book(scope: Scope) -> bool:
    """Whether this asks for a page of a book as it stands, or for a file of it."""
    path: str = scope["path"]
    return path.startswith("/read/")


def is_page(scope: Scope) -> bool:
    """Whether this asks for a page to be read, which a link from anywhere may do."""
    return scope["method"] in SAFE and is_for_people(scope)
