"""The audit log: every step is recorded, and every change of the log is detected."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from tests.kin.cases import NOW, TEXT, a_source, engine_of, said

from kiwiresearch.kin.store.audit import CHAIN, redact_state
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.store.audit import AuditProblem


def tampered(case_url: str, *statements: str) -> None:
    """Change the log as somebody would who owns the database: without its triggers."""
    engine = engine_of(case_url)
    with engine.begin() as connection:
        without_triggers(connection)
        for sql in statements:
            connection.execute(text(sql))
    engine.dispose()


def without_triggers(connection: Connection) -> None:
    on = " ON audit_log" if connection.dialect.name == "postgresql" else ""
    for deed in ("update", "delete"):
        connection.execute(text(f"DROP TRIGGER audit_log_no_{deed}{on}"))


@pytest.fixture
def people(case: CaseStore) -> CaseStore:
    """A case with nine rows in its audit log."""
    for number in range(9):
        case.add_person(f"p{number}", f"Person {number}")
    return case


def found(case: CaseStore) -> list[tuple[int, str]]:
    return [(problem.seq, problem.kind) for problem in case.verify_audit()]


def test_an_action_is_written_with_all_fields(case: CaseStore) -> None:
    """A row has id, action, entity, states, agent and time, and hangs on the one before (R287, R329)."""
    with case.step("resolver"):
        case.add_person("a", "A")
        case.set_living("a", "deceased")
    first, second = case.audit()
    assert (first.action_type, first.entity_id, first.agent_name, first.timestamp) == (
        "add_person",
        "a",
        "resolver",
        NOW,
    )
    assert (second.before_state, second.after_state) == ({"living": "unknown"}, {"living": "deceased"})
    assert second.prev_hash == first.hash
    assert case.head == second.hash
    assert first.id != second.id
    assert case.verify_audit() == ()


@pytest.mark.parametrize(
    ("row", "column"), [(1, "entity_id"), (1, "prev_hash"), (4, "agent_name"), (5, "hash"), (6, "prev_hash"), (9, "id")]
)
def test_a_changed_row_is_named(people: CaseStore, case_url: str, row: int, column: str) -> None:
    """Whatever is changed in a row, wherever it is, that row is reported and no other."""
    tampered(case_url, f"UPDATE audit_log SET {column} = 'x' WHERE seq = {row}")
    assert found(people) == [(row, "changed")]


@pytest.mark.parametrize("row", [1, 5, 9])
def test_a_removed_row_is_named(people: CaseStore, case_url: str, row: int) -> None:
    """A row that is missing is reported, also the first and the last."""
    tampered(case_url, f"DELETE FROM audit_log WHERE seq = {row}")
    assert found(people) == [(row, "removed")]


def test_a_removed_row_is_named_even_if_the_rest_is_renumbered(people: CaseStore, case_url: str) -> None:
    """Closing the gap does not hide it."""
    moves = [f"UPDATE audit_log SET seq = {seq - 1} WHERE seq = {seq}" for seq in range(6, 10)]
    tampered(case_url, "DELETE FROM audit_log WHERE seq = 5", *moves)
    assert found(people) == [(5, "removed")]


def test_an_inserted_row_is_named(people: CaseStore, case_url: str) -> None:
    """A row put between others is reported, although it has a hash that fits it."""
    before, _ = people.audit()[3], people.audit()[4]
    forged = {
        "action_type": "merge",
        "entity_id": "p1",
        "before_state": None,
        "after_state": None,
        "agent_name": "user",
        "timestamp": NOW,
        "seq": 5,
        "id": "forged",
        "prev_hash": before.hash,
    }
    moves = [f"UPDATE audit_log SET seq = {seq + 1} WHERE seq = {seq}" for seq in range(9, 4, -1)]
    row = (
        "INSERT INTO audit_log (seq, id, action_type, entity_id, agent_name, timestamp, prev_hash, hash) VALUES"
        f" (5, 'forged', 'merge', 'p1', 'user', '{NOW}', '{before.hash}', '{CHAIN.row_hash(forged)}')"
    )
    tampered(case_url, *moves, row)
    assert found(people) == [(5, "inserted")]


def test_reordered_rows_are_named(people: CaseStore, case_url: str) -> None:
    """Rows that changed places are reported, both of them."""
    swap = [(3, 100), (7, 3), (100, 7)]
    tampered(case_url, *(f"UPDATE audit_log SET seq = {new} WHERE seq = {old}" for old, new in swap))
    assert found(people) == [(3, "reordered"), (7, "reordered")]


def test_a_rewritten_log_does_not_have_the_head_of_an_export(people: CaseStore, case_url: str) -> None:
    """A chain that is consistent in itself is still detected by a head that was exported before."""
    head = people.head
    assert people.verify_audit(head) == ()
    tampered(
        case_url,
        "DELETE FROM audit_log",
        f"UPDATE audit_head SET seq = 0, hash = '{'0' * 64}'",
    )
    people.add_person("later", "Later")
    assert people.verify_audit() == ()
    (problem,) = people.verify_audit(head)
    assert isinstance(problem, AuditProblem)
    assert head in problem.text


@pytest.mark.parametrize("sql", ["UPDATE audit_log SET agent_name = 'x'", "DELETE FROM audit_log"])
def test_the_database_refuses_to_change_the_log(people: CaseStore, case_url: str, sql: str) -> None:
    """Rows of the log are only ever added."""
    engine = engine_of(case_url)
    with engine.connect() as connection, pytest.raises(Exception, match="kept as they were written"):
        connection.execute(text(sql))
    engine.dispose()
    assert people.verify_audit() == ()


def test_of_the_living_only_ids_and_fields_are_written() -> None:
    """A state shows its values only of people who are known to be dead."""
    state = {"id": "x", "field_name": "birth_date", "value": "1990-01-02", "why": "page says so"}
    result = redact_state(state, is_redacted=True)
    assert result == {"id": "x", "field_name": "birth_date", "fields": ["value", "why"]}
    assert redact_state(state, is_redacted=False) == state
    assert redact_state(None, is_redacted=True) is None


def test_nothing_of_a_living_person_is_in_the_log(case: CaseStore, case_url: str) -> None:
    """Names, days, places and reasons of people not known to be dead never reach the log, nor those of their kin."""
    source = a_source(case)
    case.add_person("ann", "Ann Smith", "female", {"zim": "book/Ann_Smith"})
    case.add_person("tom", "Tom Smith")
    case.set_living("tom", "deceased")
    for person in ("ann", "tom"):
        case.add_name_form(person, "Nan Smith") if person == "ann" else None
        case.assert_fact(person, said("father", "Tom Smith"), source)
    fact = case.assert_fact("ann", said("birth_date", "12 May 1850"), source)
    case.assert_fact("ann", said("birth_place", "Leeds"), source)
    case.assert_tie("parent_of", "tom", "ann", said("father", "Tom Smith"), source)
    case.set_preferred(fact, "Ann Smith was born in Leeds")
    case.set_status(fact, "disputed", "Ann Smith was born in Leeds")
    case.merges.undo(
        case.merges.merge("ann", "tom", rationale="Ann", why_not_split="Ann", why_not_merge="Ann"), why="Ann"
    )
    log = repr(case.audit())
    assert [word for word in ("Ann", "Nan", "Smith", "1850", "Leeds", "Ann_Smith") if word in log] == []
    assert "Ann Smith" in TEXT


def test_values_of_the_dead_are_written(case: CaseStore) -> None:
    """Decisions about a dead person, and who made them, can be read from the log."""
    source = a_source(case)
    case.add_person("ann", "Ann Smith")
    case.set_living("ann", "deceased")
    case.assert_fact("ann", said("birth_place", "Leeds"), source)
    assert "Leeds" in repr(case.audit()[-1].after_state)
