"""The code flow of OAuth 2 with a proof key: the user signs in at the source, and the token stays in memory."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from kiwiresearch.errors import BadUsage, SourceRefused, SourceUnreachable
from kiwiresearch.kin.sources.callback import PATIENCE_S, Callback
from kiwiresearch.kin.sources.compliance import Gate
from kiwiresearch.kin.sources.credentials import Secret
from kiwiresearch.kin.sources.line import Request
from kiwiresearch.kin.sources.plugin import Plugin, Sign


@dataclass(frozen=True, slots=True)
class Sitting:
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

    def here(self, tell: Callable[[str], None], patience_s: float = PATIENCE_S) -> None:
        """Tell the user where to sign in, and wait for the answer on this machine."""
        sitting = self.begin()
        with Callback(self._sign().redirect_uri) as callback:
            tell(sitting.address)
            self.finish(sitting, callback.answer(sitting.state, patience_s))

    def begin(self) -> Sitting:
        """Where the user signs in, in a browser."""
        self._gate.may_be_asked(self._plugin)
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
        return Sitting(f"{sign.authorize_url}?{told}", state, Secret(verifier))

    def finish(self, sitting: Sitting, answered: str) -> None:
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

    def _sign(self) -> Sign:
        if self._plugin.auth is None:
            raise BadUsage(f"The plugin {self._plugin.plugin_id!r} knows no sign-in.")
        return self._plugin.auth
