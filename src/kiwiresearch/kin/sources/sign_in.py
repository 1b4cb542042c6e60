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
"""The limit for one request, so that an idle connection does not delay the user."""
DONE = b"You are signed in. You can close this page and go back to kiwiresearch.\n"


class SignInCallback:
    """Listens at the redirect address, on this machine only."""

    def __init__(self, redirect_uri: str) -> None:
        parts = urlsplit(redirect_uri)
        if parts.scheme != "http" or not is_loopback(parts.hostname or "") or not parts.port:
            raise BadUsage(
                f"{redirect_uri!r} is not an http address on this computer with a port.",
                remedy="Correct the address in the plugin.",
            )
        try:
            self._server = _Server(("127.0.0.1", parts.port), _Answer)
        except OSError as problem:
            raise BadUsage(
                f"The sign-in needs port {parts.port}, which is in use: {problem.strerror}.",
                remedy="Close the program that uses the port, then try again.",
            ) from problem
        self._server.path = parts.path or "/"

    def answer(self, state: str, timeout_s: float = SIGN_IN_TIMEOUT_S) -> str:
        """The address the user was sent back to with this state; other requests are ignored."""
        self._server.state = state
        until = time.monotonic() + timeout_s
        while not self._server.answered:
            self._server.timeout = until - time.monotonic()
            if self._server.timeout <= 0:
                raise SourceRefused(
                    "The sign-in timed out.", rule="credentials", remedy="Run the command again when you are ready."
                )
            self._server.handle_request()
        return self._server.answered

    def __enter__(self) -> SignInCallback:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._server.server_close()


class _Server(HTTPServer):
    # Otherwise the port would be blocked for a minute after a sign-in that was broken off.
    allow_reuse_address = True
    path = "/"
    state = ""
    answered = ""

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a request that breaks off; the next one may be the answer."""


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
        """Log nothing: the address contains the code of the sign-in."""


@dataclass(frozen=True, slots=True)
class PendingSignIn:
    """A sign-in in progress: where to send the user, and what proves the answer."""

    address: str
    state: str = field(repr=False)
    verifier: Secret = field(repr=False)


class SignIn:
    """Signs the user in to one source; the token stays in memory."""

    def __init__(self, plugin: Plugin, gate: Gate) -> None:
        self._plugin = plugin
        self._gate = gate
        self._token = Secret("")

    def run_locally(self, show: Callable[[str], None], timeout_s: float = SIGN_IN_TIMEOUT_S) -> None:
        """Show the user where to sign in, and wait for the redirect to this machine."""
        pending = self.begin()
        with SignInCallback(self._rules().redirect_uri) as callback:
            show(pending.address)
            self.finish(pending, callback.answer(pending.state, timeout_s))

    def begin(self) -> PendingSignIn:
        """Where the user signs in, in a browser."""
        self._gate.check_allowed(self._plugin)
        rules = self._rules()
        state, verifier = secrets.token_urlsafe(24), secrets.token_urlsafe(48)
        # The proof key (PKCE): a program that intercepts the code does not have the verifier.
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        query = {
            "response_type": "code",
            "client_id": self._key().reveal(),
            "redirect_uri": rules.redirect_uri,
            "scope": rules.scope,
            "state": state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        params = urlencode({name: value for name, value in query.items() if value})
        return PendingSignIn(f"{rules.authorize_url}?{params}", state, Secret(verifier))

    def finish(self, pending: PendingSignIn, answered: str) -> None:
        """Exchange the code in the redirect address for a token."""
        params = parse_qs(urlsplit(answered).query)
        state, code = (params.get(name, [""])[0] for name in ("state", "code"))
        # The state proves that the answer belongs to this sign-in and was not sent by another page of the browser.
        if not code or not secrets.compare_digest(state.encode("utf-8", "replace"), pending.state.encode()):
            raise BadUsage("This address is not from the sign-in that was started.", remedy="Start the sign-in again.")
        rules = self._rules()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": rules.redirect_uri,
            "client_id": self._key().reveal(),
            "code_verifier": pending.verifier.reveal(),
        }
        # Requests with secret headers are not cached, so the token is not either.
        request = Request(rules.token_url, "POST", form, "application/json", {"Cache-Control": "no-store"})
        page = self._gate.get(self._plugin, request)
        try:
            token = json.loads(page.content)["access_token"] if page.status == 200 else ""
        except (ValueError, KeyError, TypeError):
            token = ""
        if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token:
            raise SourceUnreachable(
                f"The source {self._plugin.plugin_id!r} did not accept the sign-in ({page.status}).",
                remedy="Start the sign-in again.",
            )
        self._token = Secret(token)

    def header(self) -> dict[str, str]:
        """The authorization header of a request."""
        if not self._token:
            raise SourceRefused(
                f"You are not signed in to {self._plugin.plugin_id!r}.",
                rule="credentials",
                remedy=f"Sign in: kiwiresearch kin run --sign-in {self._plugin.plugin_id}",
            )
        return {"Authorization": f"Bearer {self._token.reveal()}"}

    def end(self) -> None:
        self._token = Secret("")

    def _key(self) -> Secret:
        return self._gate.permissions.credentials.key(self._plugin.plugin_id)

    def _rules(self) -> SignInRules:
        if self._plugin.auth is None:
            raise BadUsage(f"The plugin {self._plugin.plugin_id!r} has no sign-in.")
        return self._plugin.auth
