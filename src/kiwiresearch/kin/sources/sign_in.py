"""OAuth 2 with a proof key: the user signs in at the source, and the token stays in memory."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import TracebackType
from urllib.parse import parse_qs, urlencode, urlsplit

from kiwiresearch.errors import BadUsage, SourceRefused, SourceUnreachable
from kiwiresearch.kin.sources.gate import Gate, Secret
from kiwiresearch.kin.sources.plugin import Plugin, SignInRules
from kiwiresearch.kin.sources.transport import Request
from kiwiresearch.network import is_loopback

SIGN_IN_TIMEOUT_S = 300.0
READ_S = 10.0
"""How long one request may take; whoever opens a line and says nothing does not keep the user waiting."""
DONE = b"You may close this page and go back to kiwiresearch.\n"


class SignInCallback:
    """Listens at the address that the source was told to send the user to; nobody but this machine reaches it."""

    def __init__(self, redirect_uri: str) -> None:
        parts = urlsplit(redirect_uri)
        if parts.scheme != "http" or not is_loopback(parts.hostname or "") or not parts.port:
            raise BadUsage(f"{redirect_uri!r} is no address of this machine with a port.", remedy="Mend the plugin.")
        try:
            self._server = _Server(("127.0.0.1", parts.port), _Answer)
        except OSError as problem:
            raise BadUsage(
                f"Port {parts.port} is taken, and the sign-in needs it: {problem.strerror}.",
                remedy="End what uses it, then try again.",
            ) from problem
        self._server.path = parts.path or "/"

    def answer(self, state: str, patience_s: float = SIGN_IN_TIMEOUT_S) -> str:
        """The address the user was sent back to, with the state of this sign-in; others are turned away."""
        self._server.state = state
        until = time.monotonic() + patience_s
        while not self._server.answered:
            self._server.timeout = until - time.monotonic()
            if self._server.timeout <= 0:
                raise SourceRefused("Nobody signed in.", step="credentials", remedy="Begin again when you are ready.")
            self._server.handle_request()
        return self._server.answered

    def __enter__(self) -> SignInCallback:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._server.server_close()


class _Server(HTTPServer):
    allow_reuse_address = True
    path = "/"
    state = ""
    answered = ""

    def handle_error(self, request: object, client_address: object) -> None:
        """A request that breaks off is no answer; the next one may be."""


class _Answer(BaseHTTPRequestHandler):
    server: _Server
    timeout = READ_S

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        is_it = parts.path == self.server.path and parse_qs(parts.query).get("state") == [self.server.state]
        if is_it:
            self.server.answered = self.path
        self.send_response(200 if is_it else 404)
        self.send_header("Content-Type", "text/plain; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(DONE if is_it else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The address holds the code of the sign-in, and is written nowhere."""


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in that has begun: where to send the user, and what proves that the answer is to it."""

    address: str
    state: str = field(repr=False)
    verifier: Secret = field(repr=False)


class SignIn:
    """Signs the user in to one source. The token ends with the process; nothing is written."""

    def __init__(self, plugin: Plugin, gate: Gate) -> None:
        self._plugin = plugin
        self._gate = gate
        self._token = Secret("")

    def run_locally(self, tell: Callable[[str], None], patience_s: float = SIGN_IN_TIMEOUT_S) -> None:
        """Tell the user where to sign in, and wait for the answer on this machine."""
        sitting = self.begin()
        with SignInCallback(self._sign().redirect_uri) as callback:
            tell(sitting.address)
            self.finish(sitting, callback.answer(sitting.state, patience_s))

    def begin(self) -> PendingSignIn:
        """Where the user signs in, in a browser."""
        self._gate.check_allowed(self._plugin)
        sign = self._sign()
        state, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self._key().reveal(),
            "redirect_uri": sign.redirect_uri,
            "scope": sign.scope,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        told = urlencode({name: value for name, value in query.items() if value})
        return PendingSignIn(f"{sign.authorize_url}?{told}", state, Secret(verifier))

    def finish(self, sitting: PendingSignIn, answered: str) -> None:
        """Take the address the source sent the user back to, and get the token for it."""
        told = parse_qs(urlsplit(answered).query)
        state, code = (told.get(name, [""])[0] for name in ("state", "code"))
        if not code or not secrets.compare_digest(state.encode("utf-8", "replace"), sitting.state.encode()):
            raise BadUsage("That is not the address the sign-in led to.", remedy="Begin the sign-in again.")
        sign = self._sign()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": sign.redirect_uri,
            "client_id": self._key().reveal(),
            "code_verifier": sitting.verifier.reveal(),
        }
        # A request with headers of its own is never kept, and neither is the token it brings.
        request = Request(sign.token_url, "POST", form, "application/json", {"Cache-Control": "no-store"})
        page = self._gate.get(self._plugin, request)
        try:
            token = json.loads(page.content)["access_token"] if page.status == 200 else ""
        except (ValueError, KeyError, TypeError):
            token = ""
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
            raise SourceUnreachable(
                f"The source {self._plugin.plugin_id!r} gave no token ({page.status}).",
                remedy="Begin the sign-in again.",
            )
        self._token = Secret(token)

    def header(self) -> dict[str, str]:
        """The header that lets a request in."""
        if not self._token:
            raise SourceRefused(
                f"You are not signed in to {self._plugin.plugin_id!r}.",
                step="credentials",
                remedy=f"Sign in as you go on: kiwiresearch kin run --sign-in {self._plugin.plugin_id}",
            )
        return {"Authorization": f"Bearer {self._token.reveal()}"}

    def end(self) -> None:
        self._token = Secret("")

    def _key(self) -> Secret:
        return self._gate.permit.credentials.key(self._plugin.plugin_id)

    def _sign(self) -> SignInRules:
        if self._plugin.auth is None:
            raise BadUsage(f"The plugin {self._plugin.plugin_id!r} knows no sign-in.")
        return self._plugin.auth
