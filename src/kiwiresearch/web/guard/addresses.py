"""Addresses as no page and no program of ours writes them."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.problems import Problem

CONTROLS = re.compile(r"[\x00-\x1f\x7f]")
BOOKS = ("/read/", "/page/")
"""Below these stand paths of books, which may have any character."""

NOWHERE = Problem(
    404,
    "Not found",
    "There is nothing at an address with control characters in it.",
    "Look at the end of the address: it may have been copied with the end of its line.",
)


class Addresses:
    """Refuses addresses with control characters: a route takes one that ends with a line for one that does not."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and CONTROLS.search(scope["path"]) and not scope["path"].startswith(BOOKS):
            await refuse(NOWHERE, scope, receive, send)
        else:
            await self._app(scope, receive, send)
