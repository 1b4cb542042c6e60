"""The walls in their order: who must not be here is told before anything is counted, read or begun."""

from __future__ import annotations

from urllib.parse import urlsplit

from fastapi import FastAPI

from kiwiresearch.research.settings import ServeSettings
from kiwiresearch.web.guard.addressed import Addressed
from kiwiresearch.web.guard.addresses import Addresses
from kiwiresearch.web.guard.bodies import Bodies
from kiwiresearch.web.guard.crowd import Crowd
from kiwiresearch.web.guard.ending import Deadline, Ending
from kiwiresearch.web.guard.faults import Faults
from kiwiresearch.web.guard.headers import Headers
from kiwiresearch.web.guard.hosts import Hosts
from kiwiresearch.web.guard.house import House
from kiwiresearch.web.guard.origins import Origins
from kiwiresearch.web.guard.rates import Buckets, Rates
from kiwiresearch.web.guard.recording import Recorded
from kiwiresearch.web.guard.token import Token, TokenNeeded
from kiwiresearch.web.guard.users import UsersOnly
from kiwiresearch.web.packing import Packing

EMPTY_HOUSE = House()


def _names(settings: ServeSettings) -> tuple[str, ...]:
    """The names a user gave the server, and the one in its public address."""
    public = urlsplit(settings.public_url).hostname
    return (*settings.hosts, public) if public else settings.hosts


def put_up_walls(app: FastAPI, settings: ServeSettings, ending: Ending, house: House = EMPTY_HOUSE) -> None:
    """Guard an app; what is added last stands outermost. Where a house has a door, users come in by it."""
    token = Token(settings.token) if settings.token else None
    if house.logbook is not None:
        app.add_middleware(Recorded, logbook=house.logbook)
    app.add_middleware(Bodies, most_bytes=settings.max_body_kb * 1024)
    app.add_middleware(Deadline, seconds=settings.request_timeout_s, ending=ending)
    app.add_middleware(Crowd, at_once=settings.at_once)
    buckets = Buckets(settings.requests_a_minute)
    if house.door is not None:
        app.add_middleware(UsersOnly, door=house.door, buckets=buckets)
    elif token is not None:
        app.add_middleware(TokenNeeded, token=token)
    if house.door is None:
        app.add_middleware(Rates, buckets=buckets, token=token)
    app.add_middleware(Origins)
    app.add_middleware(Addressed)
    app.add_middleware(Addresses)
    app.add_middleware(Hosts, bound=settings.host, named=_names(settings))
    app.add_middleware(Faults)
    app.add_middleware(Packing)
    app.add_middleware(Headers)
