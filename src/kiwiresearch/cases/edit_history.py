"""The changes that people made to a case: undone, redone and listed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kiwiresearch.cases.json_records import NamedPerson
from kiwiresearch.codec import Record
from kiwiresearch.errors import BadUsage
from kiwiresearch.ids import is_start_of_id
from kiwiresearch.kin import (
    PersonId,
)
from kiwiresearch.kin.store import Edit, EditKind

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.kin.privacy import ShownTree


def version_of(case: Case, *people: PersonId) -> int:
    """The version of these people, for `Basis.expected_version`."""
    return case.store.edits.latest_version_for(people)


def undo(case: Case, edit: str = "", *, cascade: bool = False) -> tuple[Edit, ...]:
    """Undo an edit, by default the last one, and return the undone edits."""
    chosen = _chosen(case, edit, "done")
    with case.store.step("user"):
        undone = case.store.edits.undo(chosen.id, cascade=cascade)
        case.apply_change()
    return tuple(item for item in reversed(case.store.edits.all()) if item.id in undone)


def redo(case: Case, edit: str = "") -> Edit:
    """Redo an undone edit, by default the one that was undone last."""
    chosen = _chosen(case, edit, "undone")
    with case.store.step("user"):
        case.store.edits.redo(chosen.id)
        case.apply_change()
    return chosen


def _chosen(case: Case, wanted: str, state: str) -> Edit:
    edits = case.store.edits.all()
    if wanted:
        found = [edit for edit in edits if is_start_of_id(wanted.strip().lower(), edit.id)]
        if len(found) != 1:
            raise BadUsage(
                f"{wanted!r} is not the ID of one change.", remedy="To list all changes: kiwiresearch kin history"
            )
        return found[0]
    possible = [edit for edit in edits if edit.state == state]
    if not possible:
        raise BadUsage("There is nothing to undo." if state == "done" else "There is nothing to redo.")
    # Edits that were undone together have the same time: the earliest comes first, as the later ones depend on it.
    return possible[-1] if state == "done" else max(possible, key=lambda edit: (edit.undone_at, -edit.seq))


@dataclass(frozen=True, slots=True)
class EditRecord(Record):
    """A change that a person made, as far as the privacy mode allows."""

    id: str
    seq: int
    kind: EditKind
    state: str
    people: tuple[NamedPerson, ...]
    details: dict[str, str]
    note: str
    author: str
    made_at: str
    undone_at: str


def history(case: Case, tree: ShownTree) -> tuple[EditRecord, ...]:
    """All changes, the latest first. What people wrote is only for the owner, as it may name people in any way."""
    return tuple(_edit_record(case, tree, edit) for edit in reversed(case.store.edits.all()))


def edits_since(case: Case, tree: ShownTree, version: int, *people: PersonId) -> tuple[EditRecord, ...]:
    """What was changed, undone or redone about these people after a version, the latest first."""
    return tuple(_edit_record(case, tree, edit) for edit in reversed(case.store.edits.since(version, people)))


def _edit_record(case: Case, tree: ShownTree, edit: Edit) -> EditRecord:
    is_owner = tree.mode == "owner"
    ids = dict.fromkeys(map(case.store.canonical_or_same, edit.people))
    people = [NamedPerson(person, tree.persons[person].name) for person in ids if person in tree.persons]
    return EditRecord(
        edit.id,
        edit.seq,
        edit.kind,
        edit.state,
        tuple(people) if is_owner or len(people) == len(ids) else (),
        {key: _text_of(value) for key, value in edit.details.items()} if is_owner else {},
        edit.note if is_owner else "",
        edit.author if is_owner else "",
        edit.made_at,
        edit.undone_at,
    )


def _text_of(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
