"""Rows of a case that were touched from outside: statements, quotes, people and ties are found out, row by row."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import text
from tests.kin.cases import a_source, engine_of, now, said

from kiwiresearch.errors import RunDamaged
from kiwiresearch.kin.store.case import CaseStore

TABLES = ("assertion", "evidence_claim", "person", "relationship")


@pytest.fixture
def family(case: CaseStore) -> CaseStore:
    """A father and a daughter who stand there twice, merged."""
    source = a_source(case)
    for person, name in (("ann", "Ann Smith"), ("nan", "Ann Smith"), ("tom", "Tom Smith")):
        case.add_person(person, name)
    case.assert_fact("ann", said("birth_date", "12 May 1850"), source)
    case.assert_fact("nan", said("birth_place", "Leeds"), source)
    case.assert_tie("parent_of", "tom", "nan", said("father", "Tom Smith"), source)
    case.merges.merge("ann", "nan", rationale="one name", why_not_split="-", why_not_merge="few words")
    case.assert_tie("parent_of", "tom", "ann", said("father", "Tom Smith"), source)
    return case


def touched(case_url: str, *statements: str) -> None:
    """Change rows as somebody would who owns the database: without its triggers."""
    engine = engine_of(case_url)
    with engine.begin() as connection:
        if engine.dialect.name == "sqlite":
            for row in connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'trigger'")).all():
                connection.execute(text(f"DROP TRIGGER {row.name}"))
        else:
            for name in TABLES:
                connection.execute(text(f"ALTER TABLE {name} DISABLE TRIGGER ALL"))
        for sql in statements:
            connection.execute(text(sql))
    engine.dispose()


def test_rows_that_nobody_touched_hold(family: CaseStore) -> None:
    """Merges, what is said after them, and their undoing leave every row with its name."""
    assert family.verify_rows() == ()
    (merge,) = family.merges.all()
    family.merges.undo(merge.id, why="two people")
    assert family.verify_rows() == ()


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("UPDATE person SET canonical_name = 'Eve' WHERE id = 'ann'", ["person ann: it is not what is said of it."]),
        ("UPDATE relationship SET status = 'rejected' WHERE shadowed_by = ''", ["it is not what is said of it."]),
        (
            "UPDATE assertion SET value_key = 'York' WHERE field_name = 'birth_place'",
            ["it no longer says what it said."],
        ),
        ("UPDATE evidence_claim SET span_start = 3 WHERE span_start <> 3", ["it no longer says what it said."] * 4),
    ],
)
def test_a_row_that_was_changed_is_named(family: CaseStore, case_url: str, sql: str, told: list[str]) -> None:
    """Whoever changes a statement, a quote, a person or a tie by hand is found out."""
    touched(case_url, sql)
    found = family.verify_rows()
    assert len(found) == len(told)
    assert all(one.endswith(words) for one, words in zip(found, told, strict=True))


def test_a_statement_that_was_removed_is_missed(family: CaseStore, case_url: str) -> None:
    """The audit log knows of every statement that there was."""
    (gone,) = [fact for fact in family.tree().facts if fact.field == "birth_place"]
    touched(
        case_url,
        f"DELETE FROM evidence_claim WHERE assertion_id = '{gone.id}'",
        f"DELETE FROM assertion WHERE id = '{gone.id}'",
    )
    assert f"statement {gone.id}: it was removed." in family.verify_rows()


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DELETE FROM case_format", "of which version"),
        ("DELETE FROM research_case", "a row of it is missing"),
        ("DROP TABLE audit_head", "a table of it is missing"),
        ("UPDATE research_case SET settings = '{'", "is not what it wrote"),
        ("DELETE FROM audit_head", "the end of its audit log was removed"),
    ],
)
def test_a_case_with_holes_is_told_to_be_damaged(tmp_path: Path, sql: str, told: str) -> None:
    """A missing row or table, or what is no JSON, gives one sentence and no traceback."""
    where = tmp_path / "case.db"
    CaseStore.create(where, {}, now).close()
    with sqlite3.connect(where) as connection:
        connection.execute(sql)
    connection.close()
    with pytest.raises(RunDamaged, match=told):
        _read(where)


def _read(where: Path) -> None:
    with CaseStore.open(where, now) as store:
        store.verify_audit()
