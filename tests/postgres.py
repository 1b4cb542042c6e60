"""A PostgreSQL server of the suite's own, on a socket in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/postgresql*/bin")


def _programs() -> Path | None:
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = [folder for place in PLACES for folder in Path("/").glob(place.lstrip("/"))]
    return next((folder for folder in sorted(folders, reverse=True) if (folder / "initdb").exists()), None)


def _as_user() -> dict[str, object]:
    """PostgreSQL refuses to run as root: it gets a user that may do nothing else."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Callable[[], str]]:
    """A server on a socket in a temporary folder; calling it gives an address where nothing is yet."""
    programs = _programs()
    if programs is None:
        if os.environ.get("CI") == "true":
            pytest.fail("PostgreSQL is missing: tools/install-programs should have installed it")
        pytest.skip("PostgreSQL is not installed (on Debian: apt install postgresql)")
    memory = Path("/dev/shm")
    # A socket's path must be short, and nobody needs these files on a disk.
    folder = Path(tempfile.mkdtemp(prefix="kiwi-pg-", dir=memory if os.access(memory, os.W_OK) else "/tmp"))
    who = _as_user()
    if who:
        os.chown(folder, int(str(who["user"])), int(str(who["group"])))
    data = folder / "data"

    def run(program: str, *arguments: str) -> None:
        command = [str(programs / program), *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, **who)  # type: ignore[call-overload]
        assert done.returncode == 0, done.stderr + done.stdout

    run("initdb", "-D", str(data), "-U", "kin", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=80 -c jit=off"
    # Nothing has to survive: no waiting for the disk, no vacuuming.
    options += " -c fsync=off -c full_page_writes=off -c synchronous_commit=off -c autovacuum=off"
    run("pg_ctl", "-D", str(data), "-w", "-s", "-l", str(folder / "log"), "-o", options, "start")
    numbers = count(1)

    def database() -> str:
        name = f"place{next(numbers)}"
        with psycopg.connect(f"user=kin dbname=postgres host={folder}") as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"postgresql://kin@/postgres?host={folder}&options=-csearch_path%3D{name}"

    yield database
    run("pg_ctl", "-D", str(data), "-w", "-m", "immediate", "stop")
    shutil.rmtree(folder)
