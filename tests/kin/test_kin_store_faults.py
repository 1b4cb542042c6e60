"""What happens to a case when things go wrong: killed, locked, full, newer, damaged, not a case."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.kin.cases import a_source, dump, now
from tests.store.stores import changed

from kiwiresearch.errors import BadUsage, CannotWrite, FolderTaken, RunDamaged, RunNotFound, StoreUnreachable
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.database import SCHEMA
from kiwiresearch.kin.store.tables import REMOVABLE

KILLED = """
import sys
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.tables import REMOVABLE
from kiwiresearch.kin.store.queues import FrontierItem
store = CaseStore.open(sys.argv[1], lambda: "2026-01-01T00:00:00Z")
with store.step("whole"):
    store.add_person("kept", "Kept")
with store.step("half"):
    store.add_person("lost", "Lost")
    store.queues.push("frontier", FrontierItem(query_string="q", query_hash="q"))
    store.tree()
    print("now", flush=True)
    sys.stdin.read()
"""


def test_killed_in_the_middle_of_a_step_a_case_has_all_or_nothing_of_it(case_url: str) -> None:
    """After kill -9 the finished step is there, the other is not, and the chain of the audit log is intact."""
    CaseStore.create(case_url, {}, now).close()
    command = [sys.executable, "-c", KILLED, case_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGKILL)
        process.wait()
    with CaseStore.open(case_url, now) as store:
        assert sorted(store.tree().persons) == ["kept"]
        assert store.queues.sizes()["frontier"] == 0
        assert store.verify_audit() == ()
        store.add_person("next", "Next")


def test_a_case_that_another_process_writes_says_so(case_url: str) -> None:
    """A write that cannot get its turn ends with a clear error, and works afterwards."""
    with CaseStore.create(case_url, {}, now) as one, CaseStore.open(case_url, now, busy_s=0.05) as other:
        with one.step("long"):
            one.add_person("a", "A")
            with pytest.raises(FolderTaken, match="another process"):
                other.add_person("b", "B")
            assert other.tree().persons == {}
        other.add_person("b", "B")
        assert sorted(one.tree().persons) == ["a", "b"]
        assert one.verify_audit() == ()


FULL = """
import resource, sys
from kiwiresearch.errors import KiwiError
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.tables import REMOVABLE
from kiwiresearch.kin.tree import Source
store = CaseStore.open(sys.argv[1], lambda: "2026-01-01T00:00:00Z")
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    with store.step("large"):
        for number in range(300):
            store.add_person(f"p{number}", "Person " * 400)
except KiwiError as problem:
    print(type(problem).__name__, problem.message)
"""


def test_a_full_disk_gives_a_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    """When no more can be written the step is taken back and the case stays whole."""
    where = tmp_path / "case.db"
    with CaseStore.create(where, {}, now) as store:
        store.add_person("a", "A")
        before = dump(store)
    done = subprocess.run([sys.executable, "-c", FULL, str(where)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("CannotWrite ")
    with CaseStore.open(where, now) as store:
        assert dump(store) == before


def test_a_case_is_not_made_where_something_is(case_url: str) -> None:
    """A second case at the same place is refused and the first stays."""
    with CaseStore.create(case_url, {"n": 1}, now) as store:
        store.add_person("a", "A")
    with pytest.raises(FolderTaken, match="already"):
        CaseStore.create(case_url, {"n": 2}, now)
    with CaseStore.open(case_url, now) as store:
        assert (store.settings, list(store.tree().persons)) == ({"n": 1}, ["a"])


def test_a_case_that_could_not_be_made_leaves_no_file(tmp_path: Path) -> None:
    """Settings that cannot be written, or a folder that is a file, leave nothing behind."""
    with pytest.raises(TypeError):
        CaseStore.create(tmp_path / "case.db", {"bad": object()}, now)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("x")
    with pytest.raises(CannotWrite):
        CaseStore.create(tmp_path / "file" / "case.db", {}, now)


def test_a_case_may_have_any_file_name(tmp_path: Path) -> None:
    """Signs that mean something in an address mean nothing in the name of a file."""
    where = tmp_path / "a b?c#d%20 é.db"
    CaseStore.create(where, {}, now).close()
    assert [path.name for path in tmp_path.iterdir()] == [where.name]
    CaseStore.open(str(where), now).close()


def test_an_error_of_the_caller_stays_its_own(case: CaseStore) -> None:
    """What goes wrong inside a step for other reasons is not taken for an error of the case."""
    with pytest.raises(UnicodeDecodeError):
        _fails_otherwise(case)
    assert case.tree().persons == {}


def _fails_otherwise(case: CaseStore) -> None:
    with case.step("reader"):
        case.add_person("a", "A")
        b"\xff".decode()


def test_a_file_that_is_not_a_case_is_refused_and_left_alone(tmp_path: Path) -> None:
    """A missing file, a folder, a text, an empty file and another database are not taken for a case."""
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    (tmp_path / "text.db").write_text("This is a letter to my aunt, and no database at all. " * 40)
    (tmp_path / "empty.db").write_bytes(b"")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("none.db", "."):
        with pytest.raises(RunNotFound, match="No case was found"):
            CaseStore.open(tmp_path / name, now)
    for name in ("other.db", "text.db", "empty.db"):
        with pytest.raises(RunDamaged, match="is not a case"):
            CaseStore.open(tmp_path / name, now)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_an_address_that_cannot_be_used_is_reported(postgres_server: object) -> None:
    """Other kinds of databases, servers that do not answer and empty databases give errors that say so."""
    with pytest.raises(BadUsage, match="'mysql'"):
        CaseStore.open("mysql://host/x", now)
    with pytest.raises(StoreUnreachable) as caught:
        CaseStore.open("postgresql://me:secret@127.0.0.1:1/x", now)
    assert "secret" not in str(caught.value)
    with pytest.raises(RunDamaged, match="is not a case"):
        CaseStore.open(postgres_server(), now)  # type: ignore[operator]


def test_a_case_of_a_newer_version_is_refused_untouched(case_url: str) -> None:
    """A case whose tables this version does not know is not opened, and keeps what it has."""
    CaseStore.create(case_url, {}, now).close()
    changed(case_url, "UPDATE case_format SET value = '99'")
    with pytest.raises(RunDamaged, match=r"newer kiwiresearch.*99"):
        CaseStore.open(case_url, now)
    changed(case_url, f"UPDATE case_format SET value = '{SCHEMA.version}'")
    CaseStore.open(case_url, now).close()


def test_a_case_of_the_first_version_is_brought_up_to_date(case_url: str) -> None:
    """A case that Alembic made is opened with all its rows, and its log is still valid."""
    with CaseStore.create(case_url, {}, now) as store:
        store.add_person("a", "A")
        before, head = dump(store), store.head
    without_edits(case_url)
    changed(case_url, "DROP TABLE case_format")
    changed(case_url, "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    changed(case_url, "INSERT INTO alembic_version VALUES ('0001')")
    for table in ("http_cache", "robots_cache"):
        changed(case_url, f"CREATE TABLE {table} (url TEXT PRIMARY KEY)")
    for column in ("lease_until", "leased_by"):
        changed(case_url, f"ALTER TABLE queue_item ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
    for _ in range(2):
        with CaseStore.open(case_url, now) as store:
            assert (dump(store), store.head, store.verify_audit(head)) == (before, head, ())


def without_edits(case_url: str) -> None:
    """Take away what cases of older versions did not have."""
    for table in ("attached", "attachment", "decision", "edit"):
        changed(case_url, f"DROP TABLE {table}")
    is_file = not case_url.startswith("postgresql")
    refuse = "BEGIN SELECT RAISE(ABORT, 'no'); END" if is_file else "EXECUTE FUNCTION kin_refuse()"
    for table in REMOVABLE:
        changed(case_url, f"DROP TRIGGER {table}_no_delete{'' if is_file else f' ON {table}'}")
        changed(case_url, f"ALTER TABLE {table} DROP COLUMN edit_id")
        changed(case_url, f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} FOR EACH ROW {refuse}")


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    """A case whose pages were overwritten says that it is damaged."""
    where = tmp_path / "case.db"
    with CaseStore.create(where, {}, now) as store:
        a_source(store)
    body = bytearray(where.read_bytes())
    body[4096:] = b"\xff" * (len(body) - 4096)
    where.write_bytes(body)
    with pytest.raises(RunDamaged):
        CaseStore.open(where, now)


def test_a_write_that_fails_in_a_step_spoils_the_step_even_if_caught(case: CaseStore) -> None:
    """Catching the error of a failed write does not let half a step through."""
    with pytest.raises(CannotWrite, match="this step was not saved"):
        _caught(case)
    assert case.tree().persons == {}
    case.add_person("b", "B")


def _caught(case: CaseStore) -> None:
    with case.step("outer"):
        case.add_person("a", "A")
        with contextlib.suppress(ZeroDivisionError), case.step("inner"):
            raise ZeroDivisionError
