"""Who sees what of a family: everybody what may be published, the owner all of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request

from kiwiresearch.errors import BadSettings
from kiwiresearch.kin.privacy.redact import MODES, Mode
from kiwiresearch.research.settings import ServeSettings
from kiwiresearch.text.hosts import is_loopback
from kiwiresearch.web.guard.visitor import visitor
from kiwiresearch.web.problems import Refused

OWNER = "'family_owner = true' below [serve] in settings.toml opens it to who has the token, else to this machine."
Privacy = Annotated[
    Mode | None,
    Query(
        description="What is told of people who may be living; no more than the server allows, which is the default."
    ),
]
ExportPrivacy = Annotated[
    Mode, Query(description="What is told of people who may be living; no more than the server allows.")
]


def check_owner(serve: ServeSettings) -> None:
    """Refuse to open families to this machine where others may come through it."""
    if serve.family_owner and not (serve.token or serve.users) and (serve.public_url or serve.hosts):
        raise BadSettings(
            "'serve.family_owner' is set, others reach this server by a name, and there is no token.",
            remedy="Set a token (KIWIRESEARCH_SERVE_TOKEN), or leave 'family_owner' out.",
        )


class Access:
    """What a request may see and do; nothing that it says of itself counts but the token."""

    def __init__(self, serve: ServeSettings) -> None:
        self._serve = serve

    def is_owner(self, request: Request) -> bool:
        if not self._serve.family_owner:
            return False
        if self._serve.users:
            return not getattr(request.state, "is_stranger", True) and visitor().role == "owner"
        if self._serve.token:
            return not getattr(request.state, "is_stranger", True)
        return request.client is not None and is_loopback(request.client.host)

    def mode(self, request: Request, wanted: Mode | None = None) -> Mode:
        """The mode a request is answered in: the one it wants, if that shows no more than it may see."""
        most: Mode = "owner" if self.is_owner(request) else "public"
        if wanted is not None and MODES.index(wanted) < MODES.index(most):
            raise Refused(403, "Only the owner may see that.", OWNER)
        return wanted or most

    def owner(self, request: Request) -> None:
        """Refuse what only the owner may do: it could uncover somebody, or ask the network."""
        if not self.is_owner(request):
            raise Refused(403, "Only the owner may decide that.", OWNER)
