"""Whether a server has users and an audit, by its settings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import Request

from kiwiresearch.errors import BadSettings
from kiwiresearch.research.desk import Desk
from kiwiresearch.research.people import Changer, Register, owners
from kiwiresearch.research.stores import store_of
from kiwiresearch.store.audit import Audit
from kiwiresearch.store.open import Store
from kiwiresearch.web.guard.people import Door
from kiwiresearch.web.guard.rates import client_of
from kiwiresearch.web.guard.recording import Logbook, note_profile
from kiwiresearch.web.guard.visitor import visitor
from kiwiresearch.web.problems import Refused


@dataclass(frozen=True, slots=True)
class House:
    """Who lets users in, and who writes down what they do; neither where nobody asked for it."""

    store: Store | None = None
    door: Door | None = None
    logbook: Logbook | None = None

    def register(self, request: Request) -> Register:
        """The users, to be changed by whoever sent a request."""
        if self.store is None or self.door is None:
            raise Refused(
                404, "This server has no users.", "'users = true' below [serve] in the settings gives it some."
            )
        return Register(self.store, now, Changer(visitor().name, client_of(request.scope)))

    def audit(self) -> Audit:
        """The audit, where one is kept."""
        if self.logbook is None:
            raise Refused(
                404, "This server keeps no audit.", "'audit = true' below [serve] in the settings lets it keep one."
            )
        return self.logbook.audit


def open_house(desk: Desk) -> House:
    """The door and the logbook that the settings ask for."""
    serve = desk.settings.serve
    if not (serve.users or serve.audit):
        return House()
    store = store_of(desk)
    logbook = Logbook(store.audit, now, serve.audit_words)
    note_profile(logbook, desk.settings.policy)
    return House(store, Door(store, desk.settings.limits, now) if serve.users else None, logbook)


def check_owners(desk: Desk) -> None:
    """Refuse to serve users where nobody could make any."""
    if desk.settings.serve.users and not owners(store_of(desk).people.all()):
        raise BadSettings(
            "'serve.users' is set, and there is no owner yet.",
            remedy="Make one: kiwiresearch users add NAME --role owner",
        )


def now() -> str:
    """When something was done: it is written into the audit and beside tokens, and into no run."""
    return datetime.now(UTC).isoformat(timespec="seconds")  # noqa: TID251
