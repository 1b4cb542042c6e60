"""Cases in other places: copied row by row, locked by one writer at a time, with changes noticed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.kin.cases import a_source, dump, now, said

from kiwiresearch.errors import CannotWrite, FolderTaken, StoreUnreachable
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.locks_and_schemas import CaseSchemas
from kiwiresearch.kin.store.queues import FrontierItem

Place = Callable[[], Path | str]


@pytest.fixture(params=["sqlite", "postgresql"])
def a_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Places where no case is yet, on each engine."""
    numbers = iter(range(100))

    def make() -> Path | str:
        if request.param == "sqlite":
            return tmp_path / f"{request.param}-{next(numbers)}" / "case.sqlite"
        database: Callable[[], str] = request.getfixturevalue("postgres_server")
        return database()

    return make


@pytest.fixture
def schemas(postgres_server: Callable[[], str]) -> Iterator[CaseSchemas]:
    found = CaseSchemas(postgres_server(), keeps_open=True)
    yield found
    found.close()


def _filled(where: Path | str) -> CaseStore:
    """A case with rows in every kind of table: a chain of merges, one undone, a queue, caches and states."""
    store = CaseStore.create(where, {"seed": "Ann Smith"}, now)
    source = a_source(store)
    with store.step("test"):
        for person in ("a", "b", "c", "d"):
            store.add_person(person, f"Ann {person}", "female", {"zim": f"Page_{person}"})
        store.assert_fact("a", said("birth_date", "12 May 1850"), source)
        store.assert_fact("b", said("birth_date", "12 May 1851"), source, confidence=0.1 + 0.2)
        store.assert_tie("parent_of", "c", "a", said("father", "Tom Smith"), source)
        store.set_state("none", None)
        store.set_state("budget", {"left": [1, 2.5, "é\u2028"]})
        store.queues.push(
            "frontier", FrontierItem(query_string="zim://book/Ann_Smith", query_hash="hash", priority=0.1 + 0.2)
        )
        store.set_plugin_state("wikidata", {"well": True})
        store.note_query("Ann", "ann", "h", "books", 0, 0, negative=True)
    _merged(store, "c", "d")
    _merged(store, "b", "c")
    store.merges.undo(_merged(store, "a", "b"), why="two")
    return store


def _merged(store: CaseStore, kept: str, gone: str) -> str:
    return store.merges.merge(kept, gone, rationale="one grave", why_not_split="no", why_not_merge="years")


def test_a_copy_is_the_same_case(a_place: Place, tmp_path: Path) -> None:
    """Every row, the audit log and packed texts as well, is at the new place; and back again on the other engine."""
    there, back = a_place(), tmp_path / "back" / "case.sqlite"
    with _filled(a_place()) as store:
        store.copy_to(there)
        with CaseStore.open(there, now) as copy:
            assert copy.fingerprint() == store.fingerprint()
            assert dump(copy, history=True) == dump(store, history=True)
            assert (copy.head, copy.verify_audit(), copy.verify_rows()) == (store.head, (), ())
            assert copy.tree(with_discarded=True) == store.tree(with_discarded=True)
            copy.copy_to(back)
        with CaseStore.open(back, now) as home:
            assert home.fingerprint() == store.fingerprint()
            home.add_person("e", "Eve")
            assert home.fingerprint() != store.fingerprint()


def test_engines_agree_on_a_fingerprint(tmp_path: Path, postgres_server: Callable[[], str]) -> None:
    """The same steps give the same hash over all rows, whichever engine keeps them."""
    with _filled(tmp_path / "case.sqlite") as file, _filled(postgres_server()) as server:
        assert file.fingerprint() == server.fingerprint()


def test_a_copy_takes_nobodys_place(a_place: Place) -> None:
    """If a case is already nothing is copied, and what is there stays."""
    taken = a_place()
    with _filled(a_place()) as store, CaseStore.create(taken, {"seed": "Bob"}, now) as other:
        before = other.fingerprint()
        with pytest.raises(FolderTaken, match="already exists"):
            store.copy_to(taken)
        assert other.fingerprint() == before


def test_one_works_on_a_case_at_a_time(a_place: Place) -> None:
    """A second writer is refused at once, or waits as long as it asked for; readers do not wait.

    A case that was closed is free at that moment, however often.
    """
    where = a_place()
    CaseStore.create(where, {}, now).close()
    with CaseStore.open(where, now, for_changes=True) as first:
        first.add_person("a", "Ann")
        for patience_s in (0.0, 0.05):
            with pytest.raises(FolderTaken, match="Another command is working on the case"):
                CaseStore.open(where, now, for_changes=True, wait_s=patience_s)
        with CaseStore.open(where, now) as reader:
            assert list(reader.tree().persons) == ["a"]
    for _ in range(20):
        CaseStore.open(where, now, for_changes=True).close()


def test_a_waiting_writer_comes_next(a_place: Place) -> None:
    """A case that is released goes to the writer that waited for it."""
    where, got = a_place(), threading.Event()
    CaseStore.create(where, {}, now).close()
    first = CaseStore.open(where, now, for_changes=True)

    def wait() -> None:
        CaseStore.open(where, now, for_changes=True, wait_s=60.0).close()
        got.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert not got.is_set()
    first.close()
    waiting.join(30)
    assert got.is_set()


def test_a_writer_that_lost_its_connection_writes_nothing_more(postgres_server: Callable[[], str]) -> None:
    """A dropped connection is made again for reading; its lock is lost, and so is the right to write."""
    where = postgres_server()
    CaseStore.create(where, {}, now).close()
    with CaseStore.open(where, now, for_changes=True) as first:
        first.add_person("a", "Ann")
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(%s)", [first._db._database._holder])
        assert list(first.tree().persons) == ["a"]
        with CaseStore.open(where, now, for_changes=True) as second:
            second.add_person("c", "Cid")
            with pytest.raises(StoreUnreachable, match="was lost, and others"):
                first.add_person("b", "Bob")
            assert sorted(first.tree().persons) == ["a", "c"]


def test_every_change_is_noticed(schemas: CaseSchemas) -> None:
    """The revision of a schema changes with each step, also with one that the audit log does not record."""
    schema = schemas.schema("0123456789ab")
    assert schemas.revision(schema) == ""
    with _filled(schemas.address(schema)) as store:
        seen = [schemas.revision(schema)]
        store.set_state("stop", "why")
        seen.append(schemas.revision(schema))
        store.add_person("e", "Eve")
        seen.append(schemas.revision(schema))
        assert len({*seen}) == 3
        store.tree()
        assert schemas.revision(schema) == seen[-1], "to read is no change"
    schemas.drop(schema)
    schemas.drop(schema)
    assert schemas.revision(schema) == ""


def test_stores_in_different_schemas_are_separate(postgres_server: Callable[[], str]) -> None:
    """Stores in schemas of their own keep cases apart; no name says whose they are; other options stay."""
    first, second = (CaseSchemas(postgres_server()) for _ in range(2))
    assert first.schema("0123456789ab") != second.schema("0123456789ab")
    where = postgres_server().replace("options=", "application_name=kiwi&options=-cwork_mem%3D8MB%20")
    address = CaseSchemas(where).address("case_x")
    assert "work_mem" in address
    assert "application_name=kiwi" in address
    assert address.count("search_path") == 1
    with psycopg.connect(address.replace("+psycopg", "").replace("+-c", "%20-c")) as connection:
        assert connection.execute("SHOW search_path").fetchone() == ("case_x",)
        assert connection.execute("SHOW work_mem").fetchone() == ("8MB",)


def test_a_case_that_is_not_made_leaves_no_schema(schemas: CaseSchemas) -> None:
    """The schema comes with the case, in one transaction: where that fails there is neither."""
    schema = schemas.schema("fedcba987654")
    with pytest.raises(TypeError):
        CaseStore.create(schemas.address(schema), {"odd": object()}, now)
    with psycopg.connect(schemas.address(schema).replace("+psycopg", "")) as connection:
        assert connection.execute("SELECT current_schema()").fetchone() == (None,)


def test_a_role_that_may_not_create_schemas_is_reported(postgres_server: Callable[[], str]) -> None:
    """If the role may not create schemas, a case is refused with a message."""
    where = postgres_server()
    with psycopg.connect(where, autocommit=True) as connection:
        connection.execute("CREATE ROLE weak LOGIN")
    weak = CaseSchemas(where.replace("kin@", "weak@")).address("case_weak")
    with pytest.raises(CannotWrite, match=r"denied you access\. Check the permissions"):
        CaseStore.create(weak, {}, now)
