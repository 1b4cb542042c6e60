"""Actions of users, written to the audit log before they get the reply; roles and daily limits for tools of MCP."""

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
from kiwiresearch.store import Audit
from kiwiresearch.text import is_searchable, printable
from kiwiresearch.web.guard.identity import SIGN_IN_PATH, Visitor, current_visitor, is_sign_in_link, refuse_without_role
from kiwiresearch.web.guard.limits import client_of
from kiwiresearch.web.guard.requests import FORM, MCP_PATH, SAFE_METHODS, HttpLayer, is_upload
from kiwiresearch.web.guard.roles import MCP_RULE, RoleRule, rule_of_route
from kiwiresearch.web.problems import Problem, log, problem_of, refuse
from kiwiresearch.zim import Policy

SIGN_IN_ACTION = "login"  # as the log has always called it
REFUSED_ACTION = "refused"
"""The action of a request that the visitor's role does not include, and that has no name of its own."""
ASK = "ask"
AUDITED_TOOLS = frozenset({ASK, "research"})
"""MCP tools whose use is recorded like that of our own routes."""
STARTING_ACTIONS = frozenset({"research", "case"})
ID_PARAMETERS = ("job_id", "run_id", "case")
"""Path parameters that name the object of an action."""
QUESTION_FIELDS = ("question", "q", "topic", "query")
"""Fields that contain a user's question."""
MAX_SUBJECT = 500
MAX_FIELDS = 1_000
ASK_PAGE = "/ask"
QUERY_FIELD = "q"
"""The parameter with the question in an address; other QUESTION_FIELDS mean nothing there."""
BOOLEAN = TypeAdapter(bool)


def template_of(scope: Scope) -> str:
    """The path template of the matched route; empty if no route matched."""
    return getattr(scope.get("route"), "path", "") or (MCP_PATH if scope["path"] == MCP_PATH else "")


def rule_of(scope: Scope) -> RoleRule:
    return MCP_RULE if scope["path"] == MCP_PATH else rule_of_route(scope.get("route"))


def action_of(scope: Scope, body: bytes) -> str:
    """The name of a request's action; empty if it is not recorded."""
    if (scope["path"] == SIGN_IN_PATH or is_sign_in_link(scope)) and scope["method"] == "POST":
        return SIGN_IN_ACTION
    if scope["path"] == MCP_PATH:
        return next(tools_in(body), "")
    action = rule_of(scope).action if template_of(scope) else ""
    return "" if action == ASK and scope["method"] in SAFE_METHODS and not _asks(scope) else action


def _asks(scope: Scope) -> bool:
    """Whether an address asks a question: not the empty page, nor the one whose script is about to ask it."""
    asked = str(_fields(scope, b"").get(QUERY_FIELD, ""))
    # Its script sends the question to a route that is recorded: recording the page too would count it twice.
    is_script_to_ask = template_of(scope) == ASK_PAGE and is_searchable(asked) and _is_live(scope)
    return bool(asked.strip()) and not is_script_to_ask


def _is_live(scope: Scope) -> bool:
    """Whether the page leaves the question to its script; the value is parsed as the page parses it."""
    try:
        return BOOLEAN.validate_python(_fields(scope, b"").get("live", False))
    except ValidationError:
        return False


def tools_in(body: bytes) -> Iterator[str]:
    """The recorded tools that an MCP client calls."""
    calls = _json(body)
    for call in calls if isinstance(calls, list) else [calls]:
        if isinstance(call, Mapping) and call.get("method") == "tools/call":
            params = call.get("params")
            name, given = (params.get("name"), params.get("arguments")) if isinstance(params, Mapping) else (None, None)
            # Research without a topic only looks at an existing run.
            only_looks = name == "research" and isinstance(given, Mapping) and not given.get("topic")
            if isinstance(name, str) and name in AUDITED_TOOLS and not only_looks:
                yield name


def subject_id(scope: Scope, action: str, location: str) -> str:
    """The id of the run or case that was acted on; for a new one, taken from the Location of the reply."""
    parameters = scope.get("path_params", {})
    # A new run has no id in its request; the reply names it: "/research/comets-2?new=1" gives "comets-2".
    found = next((str(parameters[name]) for name in ID_PARAMETERS if name in parameters), "")
    new = unquote(location.partition("?")[0].rpartition("/")[2]) if action in STARTING_ACTIONS else ""
    return _clean(found or new)


def asked_words(scope: Scope, body: bytes) -> str:
    """What a user wanted to know, as they typed it."""
    fields = _fields(scope, body)
    found = next((fields[name] for name in QUESTION_FIELDS if isinstance(fields.get(name), str) and fields[name]), "")
    return _clean(str(found))


def _clean(words: str) -> str:
    """Words as the audit log stores them: printable, valid UTF-8, on one line and at most MAX_SUBJECT characters."""
    return " ".join(printable(words[:MAX_SUBJECT]).split()).encode("utf-8", "replace").decode("utf-8")


def _fields(scope: Scope, body: bytes) -> Mapping[str, object]:
    sent = dict(scope["headers"]).get(b"content-type", b"").decode("latin-1")
    if not body:
        return dict(QueryParams(scope["query_string"]))  # the last of repeated parameters, like the routes
    if sent.startswith(FORM):
        return _form(body)
    read = _json(body)
    if not isinstance(read, Mapping):
        return {}
    # An MCP call has its arguments below params, a chat request has the question in its last message,
    # and the bodies of our own routes have it at the top.
    params = read.get("params")
    given = params.get("arguments") if isinstance(params, Mapping) else None
    turns = read.get("messages")
    last = turns[-1] if isinstance(turns, list) and turns else None
    said = {"question": last.get("content")} if isinstance(last, Mapping) else {}
    return given if isinstance(given, Mapping) else said or read


def _form(body: bytes) -> dict[str, str]:
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MAX_FIELDS)
    except ValueError:  # too many fields: not one of our forms, and no route accepts it
        return {}
    return {name: values[-1] for name, values in fields.items()}


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


TOO_MANY_REQUESTS = 429
REFUSALS = frozenset({401, 403, TOO_MANY_REQUESTS})
FIRST_FAILURE_STATUS = 400
FAULT_STATUS = 500
DONE = "done"
REFUSED_OUTCOME = "refused"
PROFILE = "profile"
"""The action that records with which policy (`zim/policy.py`) a server starts; the name is stored."""
COUNTED = "counted_questions"

Now = Callable[[], str]


@dataclass(frozen=True, slots=True)
class AuditLog:
    """The audit log of the store, the clock for it, and whether it stores people's own words."""

    audit: Audit
    now: Now
    with_words: bool = False
    pending_questions: Counter[str] = field(default_factory=Counter)
    """Questions of each user that are not in the audit log yet, since their replies are still being made."""
    count_lock: threading.Lock = field(default_factory=threading.Lock)


class AuditRecorder(HttpLayer):
    """Records the uses that routes have a name for, and refusals; what people asked only if the settings say so.

    It reads the body of a call of an MCP tool, so it also refuses those that the visitor's role or daily limit does
    not allow; for other routes `make_role_checker` does so.

    Rows are written before the reply is sent, so nobody has a reply that the audit log does not know of; only a
    request that timed out gets its reply first. If the audit log cannot be written, the server's log says so: what
    was done cannot be undone.
    """

    def __init__(self, app: ASGIApp, *, audit_log: AuditLog) -> None:
        super().__init__(app)
        self._audit_log = audit_log

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def record() -> None:
            if action := self._action(scope, exchange):
                with anyio.CancelScope(shield=True):  # also if the request is being cancelled
                    await run_in_threadpool(self._record, scope, exchange, action)

        exchange = _Exchange(receive, send, record)
        # An upload is not read here: it may be large, and contains no question.
        if scope["method"] not in SAFE_METHODS and not is_upload(scope):
            await exchange.read_body()
        try:
            problem = (
                await run_in_threadpool(self._tool_refusal, scope, exchange.body) if scope["path"] == MCP_PATH else None
            )
            if problem is None:
                await self._app(scope, exchange.receive, exchange.send)
            else:
                await refuse(problem, scope, receive, exchange.send)
        except BaseException:  # also a cancellation after a timeout
            exchange.status = exchange.status or FAULT_STATUS  # FaultCheck, further out, replies to the client
            raise
        finally:
            await exchange.record_once()

    def _tool_refusal(self, scope: Scope, body: bytes) -> Problem | None:
        """Why an MCP tool may not be called; a question that may be asked is counted.

        All tools share one address, so the role of that address alone cannot decide.
        """
        try:
            for tool in tools_in(body):
                if tool == ASK:
                    reserve_question(self._audit_log, scope)
                else:
                    refuse_without_role("researcher")
        except KiwiError as problem:
            return problem_of(problem)
        return None

    def _action(self, scope: Scope, exchange: _Exchange) -> str:
        who: Visitor | None = scope.get("state", {}).get("visitor")
        action = action_of(scope, exchange.body) or (REFUSED_ACTION if _lacks_role(scope, who) else "")
        # If recorded, guesses could fill the disk.
        is_guessing = action == SIGN_IN_ACTION and exchange.status == TOO_MANY_REQUESTS
        return "" if is_guessing else action

    def _record(self, scope: Scope, exchange: _Exchange, action: str) -> None:
        """Write a row; a question is then counted in the audit log, and no longer among the pending ones."""
        with self._audit_log.count_lock:
            try:
                self._write(scope, exchange, action)
            except Exception:
                log.exception("The audit log could not be written.")
            finally:
                self._audit_log.pending_questions.subtract(scope.get("state", {}).pop(COUNTED, []))

    def _write(self, scope: Scope, exchange: _Exchange, action: str) -> None:
        who: Visitor | None = scope.get("state", {}).get("visitor")
        subject = subject_id(scope, action, exchange.location)
        if self._audit_log.with_words:
            subject = asked_words(scope, exchange.body) or subject
        outcome = "failed" if exchange.status >= FIRST_FAILURE_STATUS else DONE
        outcome = REFUSED_OUTCOME if exchange.status in REFUSALS else outcome
        # The template of the address, because the address itself may contain what somebody asked or searched for.
        details = {"status": exchange.status, "way": f"{scope['method']} {template_of(scope)}".strip()}
        name, at = who.name if who else "", self._audit_log.now()
        self._audit_log.audit.add(at, name, client_of(scope), action, subject, outcome, details)


class _Exchange:
    """A request and its reply, observed on their way; recorded once, as soon as the outcome is known."""

    def __init__(self, receive: Receive, send: Send, record: Callable[[], Awaitable[None]]) -> None:
        self._receive = receive
        self._send = send
        self._pending: Callable[[], Awaitable[None]] | None = record
        self._first: Message | None = None
        self.body = b""
        self.status = 0
        self.location = ""

    async def read_body(self) -> None:
        """Look at the body, which `BodyCheck` has read completely, and pass it on."""
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
            await self.record_once()
        await self._send(message)

    async def record_once(self) -> None:
        record, self._pending = self._pending, None
        if record is not None:
            await record()


def _lacks_role(scope: Scope, who: Visitor | None) -> bool:
    role = rule_of(scope).role
    return bool(template_of(scope)) and who is not None and role != "stranger" and not who.may(role)


def reserve_question(audit_log: AuditLog, scope: Scope) -> None:
    """Count a question of a user as pending; LimitReached if it is beyond their daily limit.

    The audit log has those that were answered.
    """
    who, limit = current_visitor(), current_visitor().limits.questions_a_day
    if not (who.name and limit):
        return
    at = datetime.fromisoformat(audit_log.now())
    day = at.replace(hour=0, minute=0, second=0, microsecond=0)
    # Counted under a lock together with those still pending, so that many at once cannot get past the limit.
    with audit_log.count_lock:
        since = max(day.isoformat(timespec="seconds"), who.since)  # an earlier user may have had this name
        # At most `limit` rows are read: whether there are more makes no difference.
        rows = audit_log.audit.rows(user=who.name, action=ASK, outcome=DONE, since=since, limit=limit)
        is_over = len(rows) + audit_log.pending_questions[who.name] >= limit
        if not is_over:
            audit_log.pending_questions[who.name] += 1
            scope["state"].setdefault(COUNTED, []).append(who.name)
    if is_over:
        left = day + timedelta(days=1) - at
        raise LimitReached(
            f"You have asked {limit} questions today, which is your limit.",
            retry_after_s=left.total_seconds(),
            remedy="Try again tomorrow, or ask an owner of this server to raise your limit.",
        )


def record_wrong_token(audit_log: AuditLog, scope: Scope) -> None:
    """Record a request with a token that nobody has; what it asked for is not recorded."""
    details = {"status": 401, "way": f"{scope['method']} with a token"}
    try:
        audit_log.audit.add(audit_log.now(), "", client_of(scope), SIGN_IN_ACTION, "", REFUSED_OUTCOME, details)
    except Exception:
        log.exception("The audit log could not be written.")


def record_policy(audit_log: AuditLog, policy: Policy) -> None:
    """Record the policy that a server starts with, if it differs from the last recorded one."""
    last = audit_log.audit.rows(action=PROFILE, limit=1, newest_first=True)
    if (last[0].subject if last else "") != policy.fingerprint:
        details = {"name": policy.name, "rules": len(policy.hidden), "books": len(policy.books)}
        audit_log.audit.add(audit_log.now(), "", "server", PROFILE, policy.fingerprint, DONE, details)
