"""Limits on requests: how often, how many at once and how long; and the shutdown of the server."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import math
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import anyio
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.web.guard.identity import HEALTH
from kiwiresearch.web.guard.requests import MCP_PATH, HttpLayer, is_book_upload
from kiwiresearch.web.problems import Problem, WatchedReply, refuse

NOT_IN_ADDRESS = re.compile(r"[^\w.:-]", re.ASCII)
"""Characters that no address and no host name has."""

MAX_CLIENTS = 10_000
"""Beyond this many clients, those that have been silent longest are forgotten."""


@dataclass(slots=True)
class Bucket:
    """How many requests one client has left, and when that was counted."""

    left: float
    counted_at: float


class Buckets:
    """A token bucket for each client: it holds the requests of one period, and refills steadily."""

    def __init__(
        self,
        limit: int,
        *,
        period_s: float = 60,
        clock: Callable[[], float] = time.monotonic,
        max_clients: int = MAX_CLIENTS,
    ) -> None:
        self._limit = limit
        self._period_s = period_s
        self._clock = clock
        self._max_clients = max_clients
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._buckets)

    def take(self, client: str, own_limit: int = 0) -> float:
        """Count a request; returns 0 if it is allowed, or else how many seconds the client must wait.

        `own_limit` is the limit of this client, if it differs from the others'.
        """
        limit = own_limit or self._limit
        now, refill_per_s = self._clock(), limit / self._period_s
        bucket = self._buckets.setdefault(client, Bucket(limit, now))
        self._buckets.move_to_end(client)
        if len(self._buckets) > self._max_clients:
            self._buckets.popitem(last=False)
        # Refill for the time since the last request, but never beyond a full bucket.
        bucket.left = min(limit, bucket.left + (now - bucket.counted_at) * refill_per_s)
        bucket.counted_at = now
        if bucket.left < 1:
            return (1 - bucket.left) / refill_per_s
        bucket.left -= 1
        return 0.0

    def give_back(self, client: str) -> None:
        """Refund a request."""
        if bucket := self._buckets.get(client):
            bucket.left += 1


def client_of(scope: Scope) -> str:
    """The client by its address; for IPv6 by its /64 network, since one machine has countless addresses there."""
    text = str((scope.get("client") or ("",))[0])[:64]
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return NOT_IN_ADDRESS.sub("", text)  # from a proxy, which may have got it from anybody
    if isinstance(address, ipaddress.IPv6Address):
        return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
    return str(address)


class AnonymousRateLimit(HttpLayer):
    """Refuses clients that send too many requests, if there is neither a token nor users; then nobody is a stranger.

    With a token `TokenCheck` does so, with users `UserCheck`.
    """

    def __init__(self, app: ASGIApp, *, buckets: Buckets) -> None:
        super().__init__(app)
        self._buckets = buckets

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if wait_s := self._buckets.take(client_of(scope)):
            await refuse(too_many_requests(math.ceil(wait_s)), scope, receive, send)
        else:
            await self._app(scope, receive, send)


def too_many_requests(wait_s: int, setting: str = "'requests_a_minute' under [serve]") -> Problem:
    return Problem(
        429,
        "Too many requests",
        "You sent too many requests.",
        f"Try again in {wait_s} s. To allow more, raise {setting} in the settings.",
        (("Retry-After", str(wait_s)),),
    )


BUSY = Problem(
    503,
    "Busy",
    "The server is busy.",
    "Try again in a moment. To allow more requests at once, raise 'at_once' under [serve] in the settings.",
    (("Retry-After", "2"),),
)

NO_USER = ""
STRANGERS = "strangers"


class ConcurrencyLimit(HttpLayer):
    """Refuses requests while too many are running.

    Strangers together may use a quarter of the places, and one user three quarters, so that nobody can lock
    others out by keeping requests open.
    """

    def __init__(self, app: ASGIApp, *, at_once: int) -> None:
        super().__init__(app)
        # Only the event loop changes these counters, so they need no lock.
        self._free = at_once
        quarter = at_once // 4
        self._max_for_strangers, self._max_per_user = max(quarter, 1), at_once - quarter
        self._running: Counter[str] = Counter()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == HEALTH:  # must answer even when the server is busy
            await self._app(scope, receive, send)
            return
        who = _client_group(scope)
        if self._free < 1 or not self._has_place(who):
            await refuse(BUSY, scope, receive, send)
            return
        self._free -= 1
        self._running[who] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._free += 1
            self._running[who] -= 1
            if not self._running[who]:
                del self._running[who]

    def _has_place(self, who: str) -> bool:
        most = self._max_for_strangers if who == STRANGERS else self._max_per_user
        return who == NO_USER or self._running[who] < most


def _client_group(scope: Scope) -> str:
    """The group a request is counted in; without users there is only one group."""
    state = scope.get("state", {})
    if state.get("is_stranger", False):
        return STRANGERS
    known = state.get("visitor")
    return f"user {known.name}" if known is not None else NO_USER


GRACE_S = 5.0
"""How long requests may continue when the server is stopped."""

TIMED_OUT = Problem(
    503,
    "Took too long",
    "The reply was not ready in time.",
    "Send a smaller request, or raise 'request_timeout_s' under [serve] in the settings.",
)
CLOSING = Problem(
    503, "Server closing", "The server is shutting down.", "Try again when it is back.", (("Retry-After", "5"),)
)


class Shutdown:
    """Notifies running requests that the server is being stopped."""

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self.grace_s = grace_s
        self._has_begun = False
        self._listeners: set[asyncio.Future[None]] = set()

    def begin(self) -> None:
        """Notify all; must be called in the event loop that runs the requests."""
        self._has_begun = True
        for listener in tuple(self._listeners):
            if not listener.done():
                listener.set_result(None)

    @contextlib.contextmanager
    def notified(self) -> Iterator[asyncio.Future[None]]:
        """A future that is done as soon as `begin` was called."""
        listener: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._has_begun:
            listener.set_result(None)
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)


class RequestTimeLimit(HttpLayer):
    """Ends requests that take too long, and at shutdown those that are not done within the grace period.

    The client gets a proper reply at once. The request counts as running until the thread that works for it,
    if there is one, has noticed.
    """

    def __init__(self, app: ASGIApp, *, seconds: float, shutdown: Shutdown) -> None:
        super().__init__(app)
        self._seconds = seconds
        self._shutdown = shutdown

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = WatchedReply(scope, receive, send)
        limit = anyio.CancelScope()

        async def work() -> None:
            with limit:
                await self._app(scope, receive, reply.send)

        # A task of its own, so that the reply can be ended while a thread of the request is still working.
        task = asyncio.ensure_future(work())
        try:
            seconds = None if is_book_upload(scope) else self._seconds
            problem = await self._overdue(task, seconds, grace_s=0 if _is_mcp_stream(scope) else self._shutdown.grace_s)
            if problem:
                if abandoned := scope.get("state", {}).get("abandoned"):
                    abandoned.set()
                await reply.end_with(problem)
                limit.cancel()
            # Also waits for the thread behind it, so that its place in `ConcurrencyLimit` stays taken until it is done.
            await asyncio.wait({task})
        finally:
            # Reached with a running task only if this request itself was cancelled: `asyncio.wait` cancels nothing.
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            task.result()

    async def _overdue(self, task: asyncio.Task[None], seconds: float | None, *, grace_s: float) -> Problem | None:
        """Wait for the work; returns why it must end now, or None if it is done."""
        with self._shutdown.notified() as end:
            await asyncio.wait({task, end}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return None
            if not end.done():
                return TIMED_OUT
        await asyncio.wait({task}, timeout=grace_s)
        return None if task.done() else CLOSING


def _is_mcp_stream(scope: Scope) -> bool:
    """Whether this is the stream that an MCP client leaves open for messages that may arrive."""
    return bool(scope["method"] == "GET" and scope["path"].startswith(MCP_PATH))
