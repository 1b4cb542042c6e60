"""What is done here, told to the audit before its answer goes out: who, from where, what, and how it ended."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.errors import KiwiError, LimitReached
from kiwiresearch.store.audit import Audit
from kiwiresearch.web.guard.audience import SAFE
from kiwiresearch.web.guard.bodies import is_upload
from kiwiresearch.web.guard.rates import client_of
from kiwiresearch.web.guard.replies import refuse
from kiwiresearch.web.guard.told import (
    ASK,
    LOGGED_IN,
    MCP,
    REFUSED,
    action_of,
    rule_of,
    template_of,
    thing_of,
    tools_in,
    words_of,
)
from kiwiresearch.web.guard.visitor import Visitor, need, visitor
from kiwiresearch.web.problems import Problem, log, problem_of
from kiwiresearch.zim.policy import Policy

TOO_OFTEN = 429
REFUSALS = frozenset({401, 403, TOO_OFTEN})
FAILED = 400
FAULT = 500
DONE = "done"
PROFILE = "profile"
COUNTED = "counted_questions"

Now = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Logbook:
    """Where what is done is written down, with which time, and whether with people's own words."""

    audit: Audit
    now: Now
    with_words: bool = False
    answering: Counter[str] = field(default_factory=Counter)
    """Questions of each user that are not written down yet: their answers are on the way."""
    counting: threading.Lock = field(default_factory=threading.Lock)


class Recorded:
    """Notes what the table of roles has a name for, and who was refused; what people asked only where that is wanted.

    It is written before the answer goes out, so nobody holds one that the audit does not know; only who waited too
    long is told so first. An audit that cannot be
    written is told to the log of the server: what was done is done.
    """

    def __init__(self, app: ASGIApp, *, logbook: Logbook) -> None:
        self._app = app
        self._logbook = logbook

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def note() -> None:
            if action := self._action(scope, heard):
                with anyio.CancelScope(shield=True):  # also of what was cut short it is told
                    await run_in_threadpool(self._note, scope, heard, action)

        heard = _Heard(receive, send, note)
        if scope["method"] not in SAFE and not is_upload(scope):
            await heard.body_first()
        try:
            problem = await run_in_threadpool(self._refusal, scope, heard.body) if scope["path"] == MCP else None
            if problem is None:
                await self._app(scope, heard.receive, heard.send)
            else:
                await refuse(problem, scope, receive, heard.send)
        except BaseException:  # also where time was up
            heard.status = heard.status or FAULT  # the wall for faults stands further out, and tells the client
            raise
        finally:
            await heard.tell()

    def _refusal(self, scope: Scope, body: bytes) -> Problem | None:
        """Why a tool may not be called; one address has them all, so the table of roles cannot tell."""
        try:
            for tool in tools_in(body):
                if tool == ASK:
                    count_question(self._logbook, scope)
                else:
                    need("researcher")
        except KiwiError as problem:
            return problem_of(problem)
        return None

    def _action(self, scope: Scope, heard: _Heard) -> str:
        who: Visitor | None = scope.get("state", {}).get("visitor")
        action = action_of(scope, heard.body) or (REFUSED if _lacks_role(scope, who) else "")
        is_guessing_on = action == LOGGED_IN and heard.status == TOO_OFTEN  # else a stranger could fill the disk
        return "" if is_guessing_on else action

    def _note(self, scope: Scope, heard: _Heard, action: str) -> None:
        """Write it down; a question counts from then on as written, and no longer as on its way."""
        with self._logbook.counting:
            try:
                self._write(scope, heard, action)
            except Exception:
                log.exception("The audit could not be written.")
            finally:
                self._logbook.answering.subtract(scope.get("state", {}).pop(COUNTED, []))

    def _write(self, scope: Scope, heard: _Heard, action: str) -> None:
        who: Visitor | None = scope.get("state", {}).get("visitor")
        subject = thing_of(scope, action, heard.location)
        if self._logbook.with_words:
            subject = words_of(scope, heard.body) or subject
        outcome = "refused" if heard.status in REFUSALS else "failed" if heard.status >= FAILED else DONE
        told = {"status": heard.status, "way": f"{scope['method']} {template_of(scope)}".strip()}
        name, at = who.name if who else "", self._logbook.now()
        self._logbook.audit.add(at, name, client_of(scope), action, subject, outcome, told)


class _Heard:
    """A request and its answer, listened to on their way, and told of once, as soon as its outcome is known."""

    def __init__(self, receive: Receive, send: Send, note: Callable[[], Awaitable[None]]) -> None:
        self._receive = receive
        self._send = send
        self._note: Callable[[], Awaitable[None]] | None = note
        self._first: Message | None = None
        self.body = b""
        self.status = 0
        self.location = ""

    async def body_first(self) -> None:
        """Hear the body, which was read whole before, and give it on."""
        self._first = await self._receive()
        self.body = self._first.get("body", b"")

    async def receive(self) -> Message:
        first, self._first = self._first, None
        return first if first is not None else await self._receive()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = {name.lower(): value for name, value in message["headers"]}
            self.location = headers.get(b"location", b"").decode("latin-1")
            await self.tell()
        await self._send(message)

    async def tell(self) -> None:
        note, self._note = self._note, None
        if note is not None:
            await note()


def _lacks_role(scope: Scope, who: Visitor | None) -> bool:
    role = rule_of(scope).role
    return bool(template_of(scope)) and who is not None and role != "stranger" and not who.may(role)


def count_question(logbook: Logbook, scope: Scope) -> None:
    """Refuse a question of a user who has asked all that a day allows; the audit has those that were answered."""
    who, most = visitor(), visitor().limits.questions_a_day
    if not (who.name and most):
        return
    at = datetime.fromisoformat(logbook.now())
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    with logbook.counting:
        since = max(day.isoformat(timespec="seconds"), who.since)  # who had that name before is somebody else
        rows = logbook.audit.rows(user=who.name, action=ASK, outcome=DONE, since=since, limit=most)
        is_too_many = len(rows) + logbook.answering[who.name] >= most
        if not is_too_many:
            logbook.answering[who.name] += 1
            scope["state"].setdefault(COUNTED, []).append(who.name)
    if is_too_many:
        left = day + timedelta(days=1) - at
        raise LimitReached(
            f"You have asked {most} questions today, which is all you may.",
            after_s=left.total_seconds(),
            remedy="Ask again tomorrow, or ask an owner of this desk for more.",
        )


def note_profile(logbook: Logbook, policy: Policy) -> None:
    """Note the policy that a server begins with, if it is another than the last."""
    last = logbook.audit.rows(action=PROFILE, limit=1, newest_first=True)
    if (last[0].subject if last else "") != policy.fingerprint:
        told = {"name": policy.name, "rules": len(policy.hidden), "books": len(policy.books)}
        logbook.audit.add(logbook.now(), "", "server", PROFILE, policy.fingerprint, "done", told)
