"""Opening a store: by its URL, by many processes at once, and the errors when it cannot be opened."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.store.stores import changed, crowd, opened

from kiwiresearch.errors import BadUsage, CannotWrite, StoreDamaged, StoreUnreachable
from kiwiresearch.store import store as versions
from kiwiresearch.store.engine import file_path
from kiwiresearch.store.passwords import COST, PasswordHash
from kiwiresearch.store.store import Store

PATHS = [
    ("sqlite:///srv/kiwi/store.sqlite", "/srv/kiwi/store.sqlite"),
    ("sqlite:////srv/kiwi/store.sqlite", "/srv/kiwi/store.sqlite"),
    ("sqlite:///srv/an odd %20 name?x=1", "/srv/an odd %20 name?x=1"),
    ("sqlite:///C:/kiwi/store.sqlite", "C:/kiwi/store.sqlite"),
]
ALL_AWAY = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database() AND backend_type = 'client backend'
"""

UNDONE = {
    2: ("DROP TABLE kiwi_password",),
    3: ("ALTER TABLE kiwi_job RENAME COLUMN request TO wish", "ALTER TABLE kiwi_job RENAME COLUMN report TO told"),
    4: ("DROP TABLE kiwi_set_aside", "DROP TABLE kiwi_questions"),
    5: ("DROP TABLE kiwi_link",),
}
"""For each version of the tables, the statements that make the version before of it."""


def as_of_version(url: str, version: int) -> None:
    """Give a store the tables of an earlier version."""
    for number in range(versions.SCHEMA.version, version, -1):
        for statement in UNDONE[number]:
            changed(url, statement)
    changed(url, f"UPDATE kiwi_store SET value = '{version}' WHERE name = 'version'")


@pytest.mark.parametrize(("url", "path"), PATHS)
def test_a_file_is_always_named_from_the_root(url: str, path: str) -> None:
    """Three slashes and four name the same file, and no part of the name is read as anything else."""
    assert file_path(url) == Path(path)


@pytest.mark.parametrize(
    "url",
    ["", "store.sqlite", "/srv/store.sqlite", "mysql://host/kiwi", "sqlite://", "sqlite:///", "sqlite://store",
     "sqlite:///a\0b", "postgresql://host:port/x", "https://example.org"],
)  # fmt: skip
def test_an_invalid_url_of_a_store_is_refused_with_an_example(url: str) -> None:
    """A URL that cannot be used is refused, with the form of one that can."""
    with pytest.raises(BadUsage) as caught:
        opened(url)
    assert "://" in caught.value.remedy


def test_a_password_is_in_no_message() -> None:
    """A server that is away is named without the password."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # nobody listens there
        port = taken.getsockname()[1]
        with pytest.raises(StoreUnreachable) as caught:
            opened(f"postgresql://kiwi:geheim@127.0.0.1:{port}/kiwi?password=geheim")
    assert "cannot be reached" in str(caught.value)
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("where", ["no..such..host/kiwi", "127.0.0.1:1/kiwi?sslmode=nonsense", "127.0.0.1:99999/kiwi"])
def test_a_wrong_address_is_not_an_internal_error(where: str) -> None:
    """Whatever the driver says about it, the message says to check the address."""
    with pytest.raises(StoreUnreachable, match="cannot be reached") as caught:
        opened(f"postgresql://{where}")
    assert "address" in caught.value.remedy


def test_a_missing_schema_is_reported(postgres_server: Callable[[], str]) -> None:
    """An address with a schema that does not exist is not a crash."""
    url = postgres_server().rpartition("place")[0] + "nowhere"
    with pytest.raises(StoreUnreachable, match="does not have that schema") as caught:
        opened(url)
    assert caught.value.remedy == "Create the schema, or use another."


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("/postgres?", "/nowhere?", "does not exist on its server"), ("kin@", "nobody@", "does not know this user")],
)
def test_a_missing_database_or_user_is_reported(
    postgres_server: Callable[[], str], old: str, new: str, expected: str
) -> None:
    """The message does not blame the network."""
    with pytest.raises(StoreUnreachable, match=expected):
        opened(postgres_server().replace(old, new))


def test_a_missing_driver_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without psycopg the remedy is the line that installs it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(BadUsage) as caught:
        opened("postgresql://127.0.0.1/kiwi")
    assert "pip install 'kiwiresearch[dist]'" in caught.value.remedy


def test_a_new_store_is_there_for_the_next_who_opens_it(store_url: str) -> None:
    """What one process keeps, another finds."""
    with opened(store_url) as store:
        store.jobs.add("galaxy", "research", {"topic": "Galaxy"})
        assert (store.is_shared_store, store.is_server) == (True, store_url.startswith("postgresql"))
    with opened(store_url, is_shared_store=False) as store:
        assert [job.id for job in store.jobs.all()] == ["galaxy-1"]
        assert not store.is_shared_store


def test_many_processes_open_a_fresh_store_at_once(store_url: str) -> None:
    """The first process makes the tables, and all others use them."""
    lines = crowd(6, store_url, "say(store.jobs.add('x', 'research', {}).id, store.keys.secret())")
    result = sorted(line.split() for line in lines)
    assert [job for job, _ in result] == [f"x-{number}" for number in range(1, 7)]
    assert len({secret for _, secret in result}) == 1


def test_a_file_that_was_touched_only_becomes_a_store(tmp_path: Path) -> None:
    """An empty file is as good as none."""
    (tmp_path / "store.sqlite").touch()
    with opened(f"sqlite:///{tmp_path}/store.sqlite") as store:
        assert store.jobs.all() == []


def test_nobody_else_may_read_the_file_of_a_store(tmp_path: Path) -> None:
    """The file has a secret, so only its owner may read it; so it is with the files beside it."""
    with opened(f"sqlite:///{tmp_path}/deep/store.sqlite") as store:
        store.keys.secret()
        for file in (tmp_path / "deep").iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_a_newer_store_is_refused_and_not_touched(store_url: str) -> None:
    """A store of a version that is not known yet says so."""
    opened(store_url).close()
    changed(store_url, "UPDATE kiwi_store SET value = '99' WHERE name = 'version'")
    with pytest.raises(StoreDamaged, match="newer kiwiresearch") as caught:
        opened(store_url)
    assert "not changed" in caught.value.remedy
    changed(store_url, f"UPDATE kiwi_store SET value = '{versions.SCHEMA.version}' WHERE name = 'version'")
    opened(store_url).close()


def test_an_older_store_is_brought_up_to_date(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each migration that a store has not seen is run once, and the version says so."""
    opened(store_url).close()
    ran, now = [], versions.SCHEMA.version
    migrations = {now + 1: lambda _: ran.append(1), now + 2: lambda _: ran.append(2)}
    monkeypatch.setattr(versions, "SCHEMA", replace(versions.SCHEMA, version=now + 2, migrations=migrations))
    opened(store_url).close()
    opened(store_url).close()
    assert ran == [1, 2]


def test_a_store_from_before_passwords_gets_them(store_url: str) -> None:
    """Users and tokens of version 1 stay, and a password can be set."""
    with opened(store_url) as before:
        before.users.add("Ann", "reader", made_at="2026")
        token = before.users.new_token("Ann", made_at="2026")
    as_of_version(store_url, 1)
    with opened(store_url) as store:
        password = store.users.set_password("Ann", PasswordHash(COST, b"0" * 16, b"1" * 32), made_at="2027")
        ann = store.users.get("Ann")
        assert store.users.by_credential(password.id) == store.users.by_credential(token.id) == ann


def test_a_store_with_the_old_names_of_columns_keeps_its_jobs(store_url: str) -> None:
    """Jobs of a store of version 2 have the same request, report and losses, whichever process opens it first."""
    with opened(store_url) as before:
        before.jobs.add("galaxy", "research", {"topic": "Galaxy", "depth": None})
        done = before.leases.lease_next("w", ["research"], lease_s=60.0)
        assert done is not None
        before.jobs.end(done.holder, done.id, "done", {"pages": 3, "story": "Ærø 🪁"})
        before.jobs.add("comet", "research", {"topic": "Comet"})
        jobs, content = before.jobs.all(), before.digest()
    as_of_version(store_url, 2)
    assert changed(store_url, "UPDATE kiwi_job SET told = told, wish = wish") == 2
    assert set(crowd(4, store_url, "say(*sorted(job.id for job in store.jobs.all()))")) == {"comet-1 galaxy-1"}
    with opened(store_url) as store:
        assert (store.jobs.all(), store.digest()) == (jobs, content)
        assert store.jobs.add("comet", "research", {"topic": "Comet"}).id == "comet-2"


@pytest.mark.parametrize("expected", ["''", "'one'"])
def test_a_store_that_says_no_version_is_damaged(store_url: str, expected: str) -> None:
    """Nothing is guessed about a store that does not say what it is."""
    opened(store_url).close()
    changed(store_url, f"UPDATE kiwi_store SET value = {expected} WHERE name = 'version'")
    with pytest.raises(StoreDamaged, match="damaged"):
        opened(store_url)


def test_an_incomplete_store_is_refused(store_url: str) -> None:
    """If a store lacks the table that says its version, it is refused, and no table is created."""
    opened(store_url).close()
    changed(store_url, "DROP TABLE kiwi_store")
    with pytest.raises(StoreDamaged, match="is not a kiwiresearch store"):
        opened(store_url)


def test_a_missing_table_is_damage_and_no_fault(store: Store, store_url: str) -> None:
    """A store that lost a table says so in words."""
    changed(store_url, "DROP TABLE kiwi_job")
    with pytest.raises(StoreDamaged, match="a table is missing"):
        store.jobs.all()


def test_a_file_of_another_program_is_left_alone(tmp_path: Path) -> None:
    """A database with other tables, and a file that is none, are refused as they are."""
    url = f"sqlite:///{tmp_path}/other.sqlite"
    changed(url, "CREATE TABLE theirs (x)")
    (tmp_path / "text.sqlite").write_text("A text, which is no database at all.\n" * 100)
    problems = {"other": "is not a kiwiresearch store", "text": "is not a store: it is another kind of file"}
    for name, problem in problems.items():
        before = (tmp_path / f"{name}.sqlite").read_bytes()
        with pytest.raises(StoreDamaged, match=f"{name}.sqlite' {problem}"):
            opened(f"sqlite:///{tmp_path}/{name}.sqlite")
        assert (tmp_path / f"{name}.sqlite").read_bytes() == before


def test_a_damaged_file_is_reported_as_such(tmp_path: Path) -> None:
    """Bytes that were overwritten in the middle give a clear error."""
    url, file = f"sqlite:///{tmp_path}/store.sqlite", tmp_path / "store.sqlite"
    with opened(url) as store:
        for number in range(50):
            store.jobs.add("x", "research", {"words": "word " * 200, "number": number})
    content = bytearray(file.read_bytes())
    content[4096:-4096] = b"\x5a" * (len(content) - 8192)
    file.write_bytes(content)
    with pytest.raises(StoreDamaged, match=r"damaged|not a store"), opened(url) as store:
        store.jobs.all()


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """A file where the folder should be, or a folder where the file should be, is not a crash."""
    (tmp_path / "file").write_text("x")
    (tmp_path / "folder").mkdir()
    for place in ("file/store.sqlite", "folder"):
        with pytest.raises(CannotWrite):
            opened(f"sqlite:///{tmp_path}/{place}")


READ_ONLY = """
import os, sys, time
from kiwiresearch.errors import KiwiError
from kiwiresearch.store.store import open_store
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for url in sys.argv[1:]:
    try:
        with open_store(url, is_shared_store=True, clock=time.time) as store:
            store.jobs.add("x", "research", {})
    except KiwiError as problem:
        print(type(problem).__name__)
"""


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can become somebody who may not write")
def test_a_read_only_folder_is_reported_as_such(tmp_path: Path) -> None:
    """A user who may only read the folder gets a message; nothing is made or changed."""
    with opened(f"sqlite:///{tmp_path}/store.sqlite") as store:
        store.jobs.add("x", "research", {})
    for folder in (tmp_path, *tmp_path.parents):
        if folder.owner() == "root" and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    (tmp_path / "store.sqlite").chmod(0o644)
    urls = [f"sqlite:///{tmp_path}/{name}.sqlite" for name in ("store", "new")]
    done = subprocess.run([sys.executable, "-c", READ_ONLY, *urls], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["CannotWrite", "CannotWrite"], done
    assert sorted(file.name for file in tmp_path.iterdir()) == ["store.sqlite"]


def test_a_store_that_is_being_written_is_waited_for_and_not_for_ever(store: Store, store_url: str) -> None:
    """A write that does not get its turn in time ends with a clear error, and works afterwards."""
    store.jobs.add("x", "research", {})
    with opened(store_url, busy_s=0.05) as other:
        refused = pytest.raises(StoreUnreachable, match="another process")
        with store.notes.appending("x-1"), refused, other.notes.appending("x-1"):
            pass
        with other.notes.appending("x-1") as append:
            append(b"afterwards")
    assert store.notes.lines("x-1") == [b"afterwards"]


def test_a_server_that_was_restarted_is_used_again(postgres_server: Callable[[], str]) -> None:
    """Connections that the server has closed are replaced, and nobody notices."""
    url = postgres_server()
    with opened(url) as store:
        store.jobs.add("x", "research", {})
        changed(url, ALL_AWAY)
        assert [job.id for job in store.jobs.all()] == ["x-1"]


def test_a_server_that_goes_away_in_the_middle_is_reported_as_such(postgres_server: Callable[[], str]) -> None:
    """A transaction that was cut off is an error to try again on, and nothing of it was kept."""
    url = postgres_server()
    with opened(url) as store:

        def cut_off() -> None:
            with store.notes.appending("x-1") as append:
                append(b"one")
                changed(url, ALL_AWAY)
                append(b"two")

        with pytest.raises(StoreUnreachable, match="cannot be reached"):
            cut_off()
        assert store.notes.lines("x-1") == []


@pytest.mark.parametrize("text", ["a\0b", "half \ud800 a character"])
def test_a_text_that_some_engine_would_not_keep_is_refused_by_all(store: Store, text: str) -> None:
    """Both engines refuse the same texts, and in JSON any NUL is kept."""
    with pytest.raises(BadUsage, match="cannot be stored"):
        store.jobs.add(text, "research", {})
    assert store.jobs.all() == []
    store.jobs.add("x", "research", {"topic": "a\0b"})
    assert [job.request for job in store.jobs.all()] == [{"topic": "a\0b"}]
