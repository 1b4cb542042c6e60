"""Edits: what a person changes can be undone and redone, byte for byte, and no later reading overwrites it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from tests.kin.cases import a_source, dump, said
from tests.kin.test_kin_merge import KINDS, PEOPLE, Chance, T, a_family, merged

from kiwiresearch.errors import BadUsage
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import FieldName, Source

FIELDS: tuple[FieldName, ...] = ("birth_date", "birth_place", "death_date", "name")
WORDS: dict[FieldName, str] = {
    "birth_date": "12 May 1851",
    "birth_place": "York",
    "death_date": "3 March 1901",
    "name": "Ann Smith",
}


def entered(store: CaseStore, person: str, field: FieldName, note: str) -> str:
    """A value that a person entered, with a note as its source."""
    text = f"{note}: {WORDS[field]}"
    source = store.add_source(Source("", f"user:{note}", "You"), text, {}, {})
    return store.assert_fact(person, said(field, WORDS[field], text=text), source, status="verified", confidence=0.9)


def split(store: CaseStore, person: str, facts_and_ties: Sequence[str], new: str) -> None:
    """What `editing.split` writes: facts and ties of a person belong to a new one from now on."""
    store.add_person(new, f"Split {new}", "")
    for item in facts_and_ties:
        store.copy_statements(item, person, new)
        store.decide(item, "rejected")
    store.merges.separate(person, new, "two people of one name")


def random_edit(store: CaseStore, chance: Chance, number: int) -> None:
    """One edit of a random kind; raises if it is refused."""
    first, second = chance.choice(PEOPLE), chance.choice(PEOPLE)

    def one_of(things: Sequence[T]) -> T:
        if not things:
            raise BadUsage("nothing is left")
        return chance.choice(things)

    kinds: dict[str, Callable[[], object]] = {
        "add_person": lambda: store.add_person(f"new{number}", f"New {number}", "female"),
        "add_fact": lambda: store.decide_preferred(entered(store, first, chance.choice(FIELDS), f"note {number}")),
        "prefer_fact": lambda: store.decide_preferred(one_of(store.tree().facts).id),
        "remove_fact": lambda: store.decide(one_of(store.tree().facts).id, "rejected"),
        "accept_fact": lambda: store.decide(one_of(store.tree().facts).id, "accepted"),
        "remove_tie": lambda: store.decide(one_of(store.tree().relationships).id, "rejected"),
        "add_tie": lambda: store.assert_tie(
            chance.choice(KINDS), first, second, said("father", "Tom Smith"), a_source(store, f"user:{number}")
        ),
        "add_name": lambda: store.add_name_form(first, f"Nick {number}"),
        "remove_person": lambda: store.remove_person(one_of([each for each in store.tree().persons if each > "new"])),
        "merge": lambda: merged(store, first, second, even_if_separated=True),
        "unmerge": lambda: store.merges.undo(
            one_of([each.id for each in store.merges.all() if each.state == "merged"]), cascade=True
        ),
        "separate": lambda: store.merges.separate(first, second, f"two people {number}"),
        "split": lambda: split(store, first, [one_of(store.tree().facts_of(first)).id], f"split{number}"),
        "living": lambda: store.override_living(first, "living", "I know her"),
    }
    kind = chance.choice(sorted(kinds))
    with store.edits.recording(kind, [first, second], {"number": number}):  # type: ignore[arg-type]
        kinds[kind]()


def test_a_merge_is_redone_after_another_merge(case: CaseStore) -> None:
    """An undone merge can be redone after other people were merged, but not after its people were merged otherwise."""
    for person in ("a", "b", "c", "d"):
        case.add_person(person, person.upper())
    with case.edits.recording("merge", ["a", "b"]):
        merged(case, "a", "b")
    first = case.edits.all()[0].id
    case.edits.undo(first)
    with case.edits.recording("merge", ["c", "d"]):
        merged(case, "c", "d")
    case.edits.redo(first)
    assert (case.canonical("b"), case.canonical("d")) == ("a", "c")
    case.edits.undo(first)
    with case.edits.recording("merge", ["b", "a"]):
        merged(case, "b", "a")
    with pytest.raises(BadUsage, match="has changed since"):
        case.edits.redo(first)
    assert (case.canonical("a"), case.canonical("b")) == ("b", "b")
    assert case.verify_rows() == ()


def test_an_edit_that_was_redone_is_later_than_those_made_before_that(case: CaseStore) -> None:
    """Undoing an edit with all that depend on it includes an older edit that was redone after it."""
    for person in ("a", "b", "c"):
        case.add_person(person, person.upper())
    before = dump(case, history=True)
    with case.edits.recording("merge", ["a", "b"]):
        merged(case, "a", "b")
    first = case.edits.all()[0].id
    case.edits.undo(first)
    with case.edits.recording("merge", ["c", "b"]):
        merged(case, "c", "b")
    with case.edits.recording("unmerge", ["c", "b"]):
        case.merges.undo(next(each.id for each in case.merges.all() if each.state == "merged"))
    second, third = (edit.id for edit in case.edits.all()[1:])
    case.edits.redo(first)
    with pytest.raises(BadUsage, match="a later change depends on it"):
        case.edits.undo(third)
    assert case.edits.undo(second, cascade=True) == (first, third, second)
    assert dump(case, history=True) == before


def test_random_edits_undone_and_redone_leave_the_case_byte_for_byte_as_it_was(case: CaseStore, case_url: str) -> None:
    """After 300 random edits, merges, splits, undos and redos, undoing all of them restores every table."""
    chance = Chance("11")
    a_family(case, chance)
    before, tree = dump(case, history=True), case.tree()
    for number in range(300):
        drawn = chance.random()
        edits = case.edits.all()
        try:
            if drawn < 0.5 or not edits:
                random_edit(case, chance, number)
            elif drawn < 0.8:
                case.edits.undo(chance.choice(edits).id, cascade=True)
            else:
                case.edits.redo(chance.choice(edits).id)
        except BadUsage:
            pass  # such as an edit that is undone already, or two people who are one
        if number % 30 == 0:
            assert case.verify_rows() == ()
    kinds = {edit.kind for edit in case.edits.all()}
    assert len(kinds) == 14, kinds
    while done := [edit.id for edit in case.edits.all() if edit.state == "done"]:
        case.edits.undo(done[0], cascade=True)
    assert dump(case, history=True) == before
    assert case.tree() == tree
    assert (case.verify_rows(), case.verify_audit()) == ((), ())
