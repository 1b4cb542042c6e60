"""The name a request was sent to: a page of another site must not reach us under a name of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.text.hosts import address_of, is_loopback
from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.problems import Problem

AUTHORITY = re.compile(r"(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<name>[a-z0-9_.-]+))(?::(?P<port>[0-9]{1,5}))?", re.IGNORECASE)

MISDIRECTED = Problem(
    421,
    "Misdirected",
    "This server does not go by the name in the Host header.",
    "Use its address, or add the name to 'hosts' below [serve] in its settings.",
)


def name_of(authority: str) -> str:
    """The host in 'host:port', in lower case; empty where that is none."""
    found = AUTHORITY.fullmatch(authority)
    return (found["six"] or found["name"]).lower().rstrip(".") if found else ""


class Hosts:
    """Lets in what was sent to loopback, to the address we listen on, or to a name the user gave us.

    Where we listen on all addresses, any bare address will do: a site can make its name lead to us,
    but not an address of its own.
    """

    def __init__(self, app: ASGIApp, *, bound: str, named: Sequence[str]) -> None:
        self._app = app
        self._names = {name_of(name) or name.lower() for name in (bound, *named)}
        address = address_of(bound)
        self._any_address = address is not None and address.is_unspecified

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._knows(Headers(scope=scope).getlist("host")):
            await self._app(scope, receive, send)
        else:
            await refuse(MISDIRECTED, scope, receive, send)

    def _knows(self, hosts: Sequence[str]) -> bool:
        name = name_of(hosts[0]) if len(hosts) == 1 else ""
        if not name:
            return False
        return is_loopback(name) or name in self._names or (self._any_address and address_of(name) is not None)
