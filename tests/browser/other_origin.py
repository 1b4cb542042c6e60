"""Another server on this machine, for browsers another site: it notes who comes, and serves pages that attack us."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.http_servers import Request, answer, serving


@dataclass(slots=True)
class Elsewhere:
    """Where it is, what it serves by path, and the paths that were asked for."""

    address: str = ""
    pages: dict[str, str] = field(default_factory=dict)
    visited: list[str] = field(default_factory=list)


@contextlib.contextmanager
def elsewhere() -> Iterator[Elsewhere]:
    site = Elsewhere()

    def handle(request: Request) -> None:
        if request.path != "/favicon.ico":  # which browsers ask for when they like
            site.visited.append(request.path)
        answer(request, 200, site.pages.get(request.path, "nothing"), "text/html; charset=utf-8")

    with serving(handle) as site.address:
        yield site
