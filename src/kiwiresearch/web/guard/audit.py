"""What is done here, written to the audit before its answer goes out."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, unquote

import anyio
from pydantic import TypeAdapter, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import QueryParams
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kiwiresearch.errors import KiwiError, LimitReached
from kiwiresearch.store.audit import Audit
from kiwiresearch.text.display import printable
from kiwiresearch.web.bodies import has_words
from kiwiresearch.web.guard.identity import LOGIN, Visitor, current_visitor, require_role
from kiwiresearch.web.guard.limits import client_of
from kiwiresearch.web.guard.requests import FORM, SAFE_METHODS, HttpLayer, is_upload
from kiwiresearch.web.guard.roles import MCP_RULE, RoleRule, rule_of_route
from kiwiresearch.web.problems import Problem, log, problem_of, refuse
from kiwiresearch.zim.policy import Policy

MCP = "/mcp"
LOGIN_ACTION = "login"
REFUSED = "refused"
ASK = "ask"
AUDITED_TOOLS = frozenset({ASK, "research"})
"""Tools of models whose use is noted as that of our own routes is."""
STARTING_ACTIONS = frozenset({"research", "case"})
ID_PARAMETERS = ("job_id", "run_id", "case")
"""Parts of addresses that name what something was done to."""
QUESTION_FIELDS = ("question", "q", "topic", "query")
"""Fields that hold what somebody wants to know."""
MAX_SUBJECT = 500
MAX_FIELDS = 1_000
ASK_PAGE = "/ask"
QUERY_FIELD = "q"
"""The field in which an address asks; other fields of WORDS mean nothing there."""
BOOLEAN = TypeAdapter(bool)


def template_of(scope: Scope) -> str:
    """The address as its route writes it; what no route has taken is told by nothing but that."""
    return getattr(scope.get("route"), "path", "") or (MCP if scope["path"] == MCP else "")


def rule_of(scope: Scope) -> RoleRule:
    return MCP_RULE if scope["path"] == MCP else rule_of_route(scope.get("route"))


def action_of(scope: Scope, body: bytes) -> str:
    """The name of what a request did; empty where nobody notes it."""
    if scope["path"] == LOGIN and scope["method"] == "POST":
        return LOGIN_ACTION
    if scope["path"] == MCP:
        return next(tools_in(body), "")
    action = rule_of(scope).action if template_of(scope) else ""
    return "" if action == ASK and scope["method"] in SAFE_METHODS and not _asks(scope) else action


def _asks(scope: Scope) -> bool:
    """Whether an address asks something: not the empty page, nor the one whose script is about to ask."""
    asked = str(_fields(scope, b"").get(QUERY_FIELD, ""))
    is_script_to_ask = template_of(scope) == ASK_PAGE and has_words(asked) and _is_live(scope)
    return bool(asked.strip()) and not is_script_to_ask


def _is_live(scope: Scope) -> bool:
    """Whether the page leaves the question to its script, read as the page reads it."""
    try:
        return BOOLEAN.validate_python(_fields(scope, b"").get("live", False))
    except ValidationError:
        return False


def tools_in(body: bytes) -> Iterator[str]:
    """The tools that a client of MCP calls, of those that are noted."""
    called = _json(body)
    for call in called if isinstance(called, list) else [called]:
        if isinstance(call, Mapping) and call.get("method") == "tools/call":
            params = call.get("params")
            name, given = (params.get("name"), params.get("arguments")) if isinstance(params, Mapping) else (None, None)
            # Research without a topic only looks at a run that is there.
            is_look = name == "research" and isinstance(given, Mapping) and not given.get("topic")
            if isinstance(name, str) and name in AUDITED_TOOLS and not is_look:
                yield name


def subject_id(scope: Scope, action: str, location: str) -> str:
    """The run or the family that something was done to, by its id; of one that was begun just now, by its address."""
    named = scope.get("path_params", {})
    found = next((str(named[name]) for name in ID_PARAMETERS if name in named), "")
    begun = unquote(location.partition("?")[0].rpartition("/")[2]) if action in STARTING_ACTIONS else ""
    return _clean(found or begun)


def asked_words(scope: Scope, body: bytes) -> str:
    """What somebody wanted to know, in their words."""
    fields = _fields(scope, body)
    found = next((fields[name] for name in QUESTION_FIELDS if isinstance(fields.get(name), str) and fields[name]), "")
    return _clean(str(found))


def _clean(words: str) -> str:
    """Words as the audit keeps them: whatever is in them, they are no way to be left out of it."""
    return " ".join(printable(words[:MAX_SUBJECT]).split()).encode("utf-8", "replace").decode("utf-8")


def _fields(scope: Scope, body: bytes) -> Mapping[str, Any]:
    sent = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
    if not body:
        return dict(QueryParams(scope["query_string"]))  # of several, the last, as the routes take it
    if sent.startswith(FORM):
        return _form(body)
    read = _json(body)
    if not isinstance(read, Mapping):
        return {}
    params = read.get("params")
    given = params.get("arguments") if isinstance(params, Mapping) else None
    turns = read.get("messages")
    last = turns[-1] if isinstance(turns, list) and turns else None
    said = {"question": last.get("content")} if isinstance(last, Mapping) else {}
    return given if isinstance(given, Mapping) else said or read


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MAX_FIELDS)
    except ValueError:  # no form of ours has so many, and no route takes it
        return {}
    return {name: values[-1] for name, values in fields.items()}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


TOO_OFTEN = 429
REFUSALS = frozenset({401, 403, TOO_OFTEN})
FAILED = 400
FAULT = 500
DONE = "done"
PROFILE = "profile"
COUNTED = "counted_questions"

Now = Callable[[], str]


@dataclass(frozen=True, slots=True)
class AuditLog:
    """Where what is done is written down, with which time, and whether with people's own words."""

    audit: Audit
    now: Now
    with_words: bool = False
    open_questions: Counter[str] = field(default_factory=Counter)
    """Questions of each user that are not written down yet: their answers are on the way."""
    counting: threading.Lock = field(default_factory=threading.Lock)


class AuditRecorder(HttpLayer):
    """Records the uses that routes have a name for, and refusals; what people asked only if the settings say so.

    It is written before the answer goes out, so nobody holds one that the audit does not know; only who waited too
    long is told so first. An audit that cannot be
    written is told to the log of the server: what was done is done.
    """

    def __init__(self, app: ASGIApp, *, audit_log: AuditLog) -> None:
        super().__init__(app)
        self._audit_log = audit_log

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def note() -> None:
            if action := self._action(scope, heard):
                with anyio.CancelScope(shield=True):  # also of what was cut short it is told
                    await run_in_threadpool(self._note, scope, heard, action)

        heard = _Exchange(receive, send, note)
        if scope["method"] not in SAFE_METHODS and not is_upload(scope):
            await heard.read_body()
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
            await heard.note_once()

    def _refusal(self, scope: Scope, body: bytes) -> Problem | None:
        """Why a tool may not be called: all share one address, so its role cannot tell."""
        try:
            for tool in tools_in(body):
                if tool == ASK:
                    count_question(self._audit_log, scope)
                else:
                    require_role("researcher")
        except KiwiError as problem:
            return problem_of(problem)
        return None

    def _action(self, scope: Scope, heard: _Exchange) -> str:
        who: Visitor | None = scope.get("state", {}).get("visitor")
        action = action_of(scope, heard.body) or (REFUSED if _lacks_role(scope, who) else "")
        is_guessing_on = action == LOGIN_ACTION and heard.status == TOO_OFTEN  # else a stranger could fill the disk
        return "" if is_guessing_on else action

    def _note(self, scope: Scope, heard: _Exchange, action: str) -> None:
        """Write it down; a question counts from then on as written, and no longer as on its way."""
        with self._audit_log.counting:
            try:
                self._write(scope, heard, action)
            except Exception:
                log.exception("The audit could not be written.")
            finally:
                self._audit_log.open_questions.subtract(scope.get("state", {}).pop(COUNTED, []))

    def _write(self, scope: Scope, heard: _Exchange, action: str) -> None:
        who: Visitor | None = scope.get("state", {}).get("visitor")
        subject = subject_id(scope, action, heard.location)
        if self._audit_log.with_words:
            subject = asked_words(scope, heard.body) or subject
        outcome = "refused" if heard.status in REFUSALS else "failed" if heard.status >= FAILED else DONE
        told = {"status": heard.status, "way": f"{scope['method']} {template_of(scope)}".strip()}
        name, at = who.name if who else "", self._audit_log.now()
        self._audit_log.audit.add(at, name, client_of(scope), action, subject, outcome, told)


class _Exchange:
    """A request and its answer, listened to on their way, and told of once, as soon as its outcome is known."""

    def __init__(self, receive: Receive, send: Send, note: Callable[[], Awaitable[None]]) -> None:
        self._receive = receive
        self._send = send
        self._note: Callable[[], Awaitable[None]] | None = note
        self._first: Message | None = None
        self.body = b""
        self.status = 0
        self.location = ""

    async def read_body(self) -> None:
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
            await self.note_once()
        await self._send(message)

    async def note_once(self) -> None:
        note, self._note = self._note, None
        if note is not None:
            await note()


def _lacks_role(scope: Scope, who: Visitor | None) -> bool:
    role = rule_of(scope).role
    return bool(template_of(scope)) and who is not None and role != "stranger" and not who.may(role)


def count_question(audit_log: AuditLog, scope: Scope) -> None:
    """Refuse a question of a user who has asked all that a day allows; the audit has those that were answered."""
    who, most = current_visitor(), current_visitor().limits.questions_a_day
    if not (who.name and most):
        return
    at = datetime.fromisoformat(audit_log.now())
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    with audit_log.counting:
        since = max(day.isoformat(timespec="seconds"), who.since)  # who had that name before is somebody else
        rows = audit_log.audit.rows(user=who.name, action=ASK, outcome=DONE, since=since, limit=most)
        is_too_many = len(rows) + audit_log.open_questions[who.name] >= most
        if not is_too_many:
            audit_log.open_questions[who.name] += 1
            scope["state"].setdefault(COUNTED, []).append(who.name)
    if is_too_many:
        left = day + timedelta(days=1) - at
        raise LimitReached(
            f"You have asked {most} questions today, which is all you may.",
            after_s=left.total_seconds(),
            remedy="Ask again tomorrow, or ask an owner of this desk for more.",
        )


def note_profile(audit_log: AuditLog, policy: Policy) -> None:
    """Note the policy that a server begins with, if it is another than the last."""
    last = audit_log.audit.rows(action=PROFILE, limit=1, newest_first=True)
    if (last[0].subject if last else "") != policy.fingerprint:
        told = {"name": policy.name, "rules": len(policy.hidden), "books": len(policy.books)}
        audit_log.audit.add(audit_log.now(), "", "server", PROFILE, policy.fingerprint, "done", told)
