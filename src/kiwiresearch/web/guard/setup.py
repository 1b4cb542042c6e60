"""Sets up users and audit log from the settings, and adds all checks in order."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.store import Audit, Store
from kiwiresearch.web.guard.audit import (
    ASK,
    AuditLog,
    AuditRecorder,
    action_of,
    record_policy,
    reserve_question,
    rule_of,
)
from kiwiresearch.web.guard.identity import (
    TOKEN_NEEDED,
    current_visitor,
    refuse_without_role,
    set_sign_in_cookie,
)
from kiwiresearch.web.guard.limits import (
    AnonymousRateLimit,
    Buckets,
    ConcurrencyLimit,
    RequestTimeLimit,
    Shutdown,
    client_of,
)
from kiwiresearch.web.guard.reading_keys import ReadingKeyCheck, ReadingKeys
from kiwiresearch.web.guard.requests import BodyCheck, HostCheck, HttpLayer, OriginCheck, PathCheck, RequestAddress
from kiwiresearch.web.guard.responses import Compression, FaultCheck, SecurityHeaders
from kiwiresearch.web.guard.roles import MCP_RULE, RoleRule
from kiwiresearch.web.guard.server_token import ServerToken, TokenCheck
from kiwiresearch.web.guard.users import UserAuthenticator, UserCheck
from kiwiresearch.web.problems import Refused
from kiwiresearch.workspace import Actor, ServeSettings, UserRegister, Workspace, owners, store_of, utc_now


class WrongPassword(BadUsage):
    """The current password, which a new one needs, was wrong."""


@dataclass(frozen=True, slots=True)
class Accounts:
    """The users, the audit log and the token of a server; None for those that the settings do not ask for."""

    store: Store | None = None
    authenticator: UserAuthenticator | None = None
    audit_log: AuditLog | None = None
    token: ServerToken | None = None

    def require_users(self, request: Request) -> UserRegister:
        """The users, for changes in the name of the visitor."""
        if self.store is None or self.authenticator is None:
            raise Refused(
                404, "This server has no users.", "To add users, set 'users = true' under [serve] in the settings."
            )
        return UserRegister(self.store, utc_now, Actor(current_visitor().name, client_of(request.scope)))

    def change_own_password(self, request: Request, current: str, new: str) -> None:
        """Change the password of the visitor, who must know the current one; attempts are limited as for signing in."""
        register, name = self.require_users(request), current_visitor().name
        assert self.authenticator is not None
        if self.authenticator.passwords.find(name, current, client_of(request.scope)) is None:
            raise WrongPassword(
                "The current password is not correct.",
                remedy="Enter it again. If you have forgotten it, ask an owner of this server to reset it.",
            )
        register.set_password(name, new)

    def keep_signed_in(self, request: Request, response: Response) -> None:
        """Give the visitor a cookie for their new password; the old one is no longer valid."""
        assert self.store is not None
        assert self.authenticator is not None
        if found := self.store.users.password_of(current_visitor().name):
            set_sign_in_cookie(response, request, self.authenticator.cookie_of(found.id))

    def require_audit(self) -> Audit:
        """The audit log; 404 if the server has none."""
        if self.audit_log is None:
            raise Refused(
                404, "This server has no audit log.", "To keep one, set 'audit = true' under [serve] in the settings."
            )
        return self.audit_log.audit


def open_accounts(workspace: Workspace) -> Accounts:
    """The users and the audit log that the settings ask for."""
    serve = workspace.settings.serve
    token = ServerToken(serve.token) if serve.token else None
    if not (serve.users or serve.audit):
        return Accounts(token=token)
    store = store_of(workspace)
    audit_log = AuditLog(store.audit, utc_now, serve.audit_words)
    record_policy(audit_log, workspace.settings.policy)
    return Accounts(
        store,
        UserAuthenticator(store, workspace.settings.limits, utc_now) if serve.users else None,
        audit_log,
        token,
    )


def check_owners(workspace: Workspace) -> None:
    """Refuse to start with users but no owner, since nobody could add any."""
    if workspace.settings.serve.users and not owners(store_of(workspace).users.all()):
        raise BadSettings(
            "'serve.users' is set, but there is no owner yet.",
            remedy="Create one: kiwiresearch users add NAME --role owner",
        )


def make_role_checker(audit_log: AuditLog) -> Callable[[Request], None]:
    """A function that refuses visitors without the role of a route, and counts and limits the questions of a day.

    `role_dependency` calls it for each request to a route.
    """

    def check(request: Request) -> None:
        rule = rule_of(request.scope)
        _enforce(rule, is_stranger=getattr(request.state, "is_stranger", True))
        if action_of(request.scope, b"") == ASK:
            reserve_question(audit_log, request.scope)

    return check


def _enforce(rule: RoleRule, *, is_stranger: bool) -> None:
    if rule.role == "stranger":
        return
    if is_stranger:
        raise Refused(401, TOKEN_NEEDED.detail, TOKEN_NEEDED.remedy, dict(TOKEN_NEEDED.headers))
    refuse_without_role(rule.role)


class McpRoleCheck(HttpLayer):
    """Refuses visitors without the role for the MCP app, which has its own routes; `AuditRecorder` checks each tool."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        _enforce(MCP_RULE, is_stranger=scope["state"].get("is_stranger", True))
        await self._app(scope, receive, send)


def _names(settings: ServeSettings) -> tuple[str, ...]:
    """The names of the server in the settings, and the one in its public address."""
    public = urlsplit(settings.public_url).hostname
    return (*settings.hosts, public) if public else settings.hosts


def add_checks(app: FastAPI, settings: ServeSettings, shutdown: Shutdown, accounts: Accounts) -> None:
    """Put all checks around an app. The last one added is the outermost: it sees a request first."""
    # Keys that are signed with a stored secret survive a restart; without users or a token a random one will do.
    secret = accounts.authenticator or accounts.token
    keys = ReadingKeys(secret.reading_secret if secret else secrets.token_bytes(), utc_now)
    app.state.reading_keys = keys
    # Innermost, because it needs the whole body, which `BodyCheck` has read by then.
    if accounts.audit_log is not None:
        app.add_middleware(AuditRecorder, audit_log=accounts.audit_log)
    # Each further check is outside these: a request that is refused there has no body read, and takes no place.
    app.add_middleware(BodyCheck, max_bytes=settings.max_body_kb * 1024)
    app.add_middleware(RequestTimeLimit, seconds=settings.request_timeout_s, shutdown=shutdown)
    app.add_middleware(ConcurrencyLimit, at_once=settings.at_once)
    buckets = Buckets(settings.requests_a_minute)
    if accounts.authenticator is not None:
        app.add_middleware(
            UserCheck, authenticator=accounts.authenticator, buckets=buckets, audit_log=accounts.audit_log
        )
    elif accounts.token is not None:
        app.add_middleware(TokenCheck, token=accounts.token, buckets=buckets, audit_log=accounts.audit_log)
    else:
        app.add_middleware(AnonymousRateLimit, buckets=buckets)
    # `ReadingKeyCheck` comes before `OriginCheck`, which lets requests with a key pass.
    app.add_middleware(OriginCheck)
    app.add_middleware(ReadingKeyCheck, keys=keys)
    app.add_middleware(RequestAddress)
    app.add_middleware(PathCheck)
    app.add_middleware(HostCheck, bound=settings.host, named=_names(settings))
    app.add_middleware(FaultCheck)
    # Outside all checks, so that refusals and errors are compressed and get the headers too.
    app.add_middleware(Compression)
    app.add_middleware(SecurityHeaders)


@dataclass(slots=True)
class Successor:
    """The app that new requests go to; None until the first one is replaced."""

    app: ASGIApp | None = None


class Handover(HttpLayer):
    """Passes new requests on to the successor, if there is one; the first app ends those it has begun."""

    def __init__(self, app: ASGIApp, *, successor: Successor) -> None:
        super().__init__(app)
        self._successor = successor

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self._successor.app or self._app)(scope, receive, send)
