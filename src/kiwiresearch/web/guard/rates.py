"""How often one client may ask."""

from __future__ import annotations

import ipaddress
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.guard.token import Token
from kiwiresearch.web.problems import Problem

STRANGE = re.compile(r"[^\w.:-]", re.ASCII)
"""What no address and no name of a machine has in it."""

MOST_CLIENTS = 10_000
"""Of more clients than this, those that have been silent longest are forgotten."""


@dataclass(slots=True)
class Bucket:
    """What one client may still ask for, and when that was counted."""

    left: float
    counted_at: float


class Buckets:
    """A bucket for each client: as many requests as a minute allows, filled again steadily."""

    def __init__(
        self, a_minute: int, *, clock: Callable[[], float] = time.monotonic, most_clients: int = MOST_CLIENTS
    ) -> None:
        self._a_minute = a_minute
        self._clock = clock
        self._most_clients = most_clients
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, client: str, a_minute: int = 0) -> float:
        """Count a request; returns 0 if it may be made, else for how many seconds the client must wait.

        `a_minute` is what this client may ask, if it is not what all may.
        """
        most = a_minute or self._a_minute
        now, a_second = self._clock(), most / 60
        bucket = self._buckets.setdefault(client, Bucket(most, now))
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._most_clients:
            self._buckets.popitem(last=False)
        bucket.left = min(most, bucket.left + (now - bucket.counted_at) * a_second)
        bucket.counted_at = now
        if bucket.left < 1:
            return (1 - bucket.left) / a_second
        bucket.left -= 1
        return 0.0


def client_of(scope: Scope) -> str:
    """Who asks, by address; of IPv6 by the network, as a machine there has addresses without end."""
    text = str((scope.get("client") or ("",))[0])[:64]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return STRANGE.sub("", text)  # a proxy says so, and may have it from anybody
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


class Rates:
    """Refuses clients that ask too often; those with the token are counted apart from those without."""

    def __init__(self, app: ASGIApp, *, buckets: Buckets, token: Token | None) -> None:
        self._app = app
        self._buckets = buckets
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        shown = self._token is not None and self._token.is_shown(scope)
        wait_s = self._buckets.take(f"{client_of(scope)}{' with token' if shown else ''}")
        if wait_s:
            await refuse(too_often(math.ceil(wait_s)), scope, receive, send)
        else:
            await self._app(scope, receive, send)


def too_often(wait_s: int, setting: str = "'requests_a_minute' below [serve]") -> Problem:
    return Problem(
        429,
        "Too many requests",
        "You ask too often.",
        f"Ask again in {wait_s} s; {setting} in the settings allows more.",
        (("Retry-After", str(wait_s)),),
    )
