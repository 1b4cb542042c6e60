"""Where a database is: a file, or on a PostgreSQL server; and engines that open each."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.pool import NullPool, Pool, QueuePool

from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import canonical_json

ADDRESSES = ("postgresql://", "postgres://", "postgresql+psycopg://")
FILE = "sqlite://"
DRIVE = re.compile(r"/+[A-Za-z]:[\\/]")
CONNECT_S = 10
"""How long a server may take to let somebody in."""
ALIVE = {"keepalives_idle": 5, "keepalives_interval": 3, "keepalives_count": 3, "tcp_user_timeout": 15_000}
"""By which a server that went away without a word is noticed, and not waited for by the hour."""
AT_ONCE = 5
"""How many connections of one process stay open; twice as many may be open for a while."""


def server_url(where: str) -> URL:
    """The address of a PostgreSQL database, whichever of its names it begins with."""
    try:
        return make_url(where).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError) as problem:
        raise BadUsage(
            "The address of the PostgreSQL database cannot be read.",
            remedy="Write it as postgresql://USER@HOST/DATABASE.",
        ) from problem


def nameable(url: URL) -> str:
    """An address as messages may show it: without a password, wherever it stands."""
    plain = url.set(drivername="postgresql").difference_update_query(["password", "sslpassword"])
    return plain.render_as_string(hide_password=True)


def file_of(where: str) -> Path:
    """The file that a sqlite:// address names; it is always absolute, with three slashes or with four."""
    rest = where.removeprefix(FILE)
    if not rest.startswith("/") or not rest.strip("/") or not where.isprintable():
        raise BadUsage(f"{where!r} names no file.", remedy="Write it as sqlite:///ABSOLUTE/PATH.")
    path = rest.lstrip("/")
    return Path(path) if DRIVE.match(rest) else Path(f"/{path}")


def file_engine(
    path: Path,
    *,
    busy_s: float,
    begin: Callable[[Connection], str],
    loads: Callable[[str], Any] = json.loads,
    pool: type[Pool] = QueuePool,
) -> Engine:
    """An engine over a file that begins transactions as `begin` says; nothing is opened yet."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=pool,
        json_serializer=canonical_json,
        json_deserializer=loads,
        connect_args={"timeout": busy_s, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        connection.isolation_level = None  # the driver would begin on its own, and late
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA synchronous=NORMAL")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        connection.exec_driver_sql(begin(connection))

    return engine


def server_engine(address: str, *, busy_s: float, pool: type[Pool] = QueuePool) -> Engine:
    """An engine over a server; nobody waits longer than `busy_s` for another's write."""
    kept: dict[str, Any] = {} if pool is NullPool else {"pool_size": AT_ONCE, "max_overflow": AT_ONCE}
    try:
        engine = create_engine(
            address,
            poolclass=pool,
            pool_pre_ping=pool is not NullPool,  # a server that was restarted has forgotten its connections
            json_serializer=canonical_json,
            connect_args={"connect_timeout": CONNECT_S, **ALIVE},
            **kept,
        )
    except ModuleNotFoundError as problem:
        raise BadUsage(
            "PostgreSQL cannot be used: its driver is not installed.",
            remedy="Install it: pip install 'kiwiresearch[dist]'",
        ) from problem

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, _: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = {int(busy_s * 1000)}")
        connection.commit()

    return engine
