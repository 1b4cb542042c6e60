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
    """A father, and a daughter who has two records, merged."""
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


def test_unchanged_rows_pass(family: CaseStore) -> None:
    """After merges, later facts and their undoing, every row still matches its id."""
    assert family.verify_rows() == ()
    (merge,) = family.merges.all()
    family.merges.undo(merge.id, why="two people")
    assert family.verify_rows() == ()


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("UPDATE person SET canonical_name = 'Eve' WHERE id = 'ann'", ["person ann: it does not match its facts."]),
        ("UPDATE relationship SET status = 'rejected' WHERE shadowed_by = ''", ["it does not match its facts."]),
        (
            "UPDATE assertion SET value_key = 'York' WHERE field_name = 'birth_place'",
            ["it was changed."],
        ),
        ("UPDATE evidence_claim SET span_start = 3 WHERE span_start <> 3", ["it was changed."] * 4),
    ],
)
def test_a_row_that_was_changed_is_named(family: CaseStore, case_url: str, sql: str, expected: list[str]) -> None:
    """A statement, a quote, a person or a tie that was changed by hand is detected."""
    touched(case_url, sql)
    found = family.verify_rows()
    assert len(found) == len(expected)
    assert all(one.endswith(words) for one, words in zip(found, expected, strict=True))


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
    ("sql", "expected"),
    [
        ("DELETE FROM case_format", "its version is missing"),
        ("DELETE FROM research_case", "a row is missing"),
        ("DROP TABLE audit_head", "a table is missing"),
        ("UPDATE research_case SET settings = '{'", "is not valid"),
        ("DELETE FROM audit_head", "the end of its audit log was removed"),
    ],
)
def test_a_case_with_missing_rows_is_reported_as_damaged(tmp_path: Path, sql: str, expected: str) -> None:
    """A missing row or table, or invalid JSON, gives one sentence and no traceback."""
    where = tmp_path / "case.db"
    CaseStore.create(where, {}, now).close()
    with sqlite3.connect(where) as connection:
        connection.execute(sql)
    connection.close()
    with pytest.raises(RunDamaged, match=expected):
        _read(where)


def _read(where: Path) -> None:
    with CaseStore.open(where, now) as store:
        store.verify_audit()
