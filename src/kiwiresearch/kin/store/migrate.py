"""Bringing the tables of a case up to date, and refusing what is newer or no case at all."""

from __future__ import annotations

import threading
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from kiwiresearch.errors import RunDamaged
from kiwiresearch.kin.store.problems import BACKUP

VERSIONS = ("0001",)
"""All versions of the tables, in order; each has a module in `migrations/versions`."""
FOLDER = Path(__file__).parent / "migrations"
ONE_AT_A_TIME = threading.Lock()
"""Alembic keeps the migration that runs in a global."""


def version_of(connection: Connection, name: str) -> str:
    """The version of a case that is there; anything else is refused."""
    tables = set(inspect(connection).get_table_names())
    if not {"alembic_version", "research_case"} <= tables:
        raise RunDamaged(
            f"{name!r} is no case: the tables of one are not in it.", remedy="Name the file or address of a case."
        )
    version = str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")
    if not version.isdecimal():
        raise RunDamaged(f"The case {name!r} is damaged: nothing says of which version it is.", remedy=BACKUP)
    if version not in VERSIONS:
        raise RunDamaged(
            f"The case {name!r} was made by a newer kiwiresearch: its tables are of version {version!r},"
            f" and this one knows {VERSIONS[-1]!r} at most.",
            remedy="Update kiwiresearch; the case was not touched.",
        )
    return version


def is_empty(connection: Connection) -> bool:
    return not inspect(connection).get_table_names()


def upgrade(connection: Connection) -> None:
    """Run all migrations that the database has not seen, inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(FOLDER).replace("%", "%%"))
    config.attributes["connection"] = connection
    with ONE_AT_A_TIME:
        command.upgrade(config, "head")
