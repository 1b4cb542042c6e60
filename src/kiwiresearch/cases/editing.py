"""What people change in a case: people, names, facts and relationships, with the source they have for it.

Each function makes one edit, which `undo` and `redo` take back and repeat. What a person enters is evidence of its
own: a statement in a source `user:…`, beside what books say, and no rule or later reading changes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from kiwiresearch.cases.case import now
from kiwiresearch.codec import Record
from kiwiresearch.errors import BadUsage, OutOfDate
from kiwiresearch.ids import is_start_of_id
from kiwiresearch.kin import (
    DATE_FIELDS,
    KIND_OF_FIELD,
    RELATION_FIELDS,
    SEX_OF_PARENT,
    ExtractedFact,
    FieldName,
    InformationKind,
    PersonId,
    Qualifier,
    Sex,
    Snippet,
    Source,
    SourceForm,
    SourceId,
    row_id,
)
from kiwiresearch.kin.store import Edit, EditKind
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, dates_in

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.kin.privacy import ShownTree

USER_SOURCE = "user:"
ENTERED_CONFIDENCE = 0.9
"""How far a value is believed that somebody entered: people err less than rules, but they err."""
MAX_VALUE = 500
MAX_TEXT = 20_000
SEXES: dict[str, Sex] = {"male": "male", "female": "female", "unknown": "", "": ""}
RelativeRole = Literal["father", "mother", "parent", "child", "spouse", "partner", "sibling"]
ROLES: tuple[RelativeRole, ...] = get_args(RelativeRole)
QUALIFIERS: tuple[Qualifier, ...] = tuple(item for item in get_args(Qualifier) if item != "disputed")


@dataclass(frozen=True, slots=True)
class Basis:
    """Why a change is made: a note and, if there is one, the source it comes from."""

    note: str = ""
    source: str = ""
    """The title of a book, a record or a letter; empty if the person just knows it."""
    locator: str = ""
    """The page or number in it."""
    address: str = ""
    transcript: str = ""
    """The words of the source."""
    form: SourceForm = "authored"
    information: InformationKind = "undetermined"
    author: str = ""
    """Who makes the change: the name of a user, if there are users."""
    seen: int | None = None
    """The number of the last edit of these people that the person saw; a later one is reported and not overwritten."""


JUST_KNOWN = Basis()


@contextmanager
def _editing(case: Case, kind: EditKind, people: Sequence[PersonId], basis: Basis, **details: Any) -> Iterator[None]:
    """One edit: what it changes, then what follows from it for the rest of the case."""
    with case.store.edits.recording(kind, people, details, note=basis.note, author=basis.author):
        latest = case.store.edits.latest_for(people)
        if basis.seen is not None and latest > basis.seen:
            raise OutOfDate(
                "Somebody has changed this in the meantime.",
                remedy="Look at the change, then make yours again if it is still needed.",
            )
        yield
        case.reevaluate()


def add_person(case: Case, name: str, sex: str = "", basis: Basis = JUST_KNOWN) -> PersonId:
    """Add a person and return their id."""
    name = _checked_text(name, "A person needs a name.")
    person = row_id("person", USER_SOURCE, str(len(case.store.edits.all())), name)
    with _editing(case, "add_person", [person], basis, name=name, sex=sex):
        case.store.add_person(person, name, _checked_sex(sex))
        source, snippet = _statement(case, person, "name", name, basis)
        fact = ExtractedFact("name", name, snippet, "user", ENTERED_CONFIDENCE, locator=basis.locator)
        case.store.assert_fact(person, fact, source, status="verified", information=basis.information)
    return person


def add_fact(
    case: Case, person: PersonId, field: FieldName, value: str, basis: Basis = JUST_KNOWN, *, instead_of: str = ""
) -> str:
    """Enter a value for a field of a person, which is then preferred, and return the id of the fact.

    `instead_of` is an earlier entry that is corrected. What a book says stays beside it.
    """
    value = _checked_text(value, "The value is empty.")
    if field in RELATION_FIELDS:
        raise BadUsage(f"{field!r} is a relationship.", remedy="Add a relationship instead.")
    if field == "sex":
        value = _checked_sex(value)
    kind: EditKind = "change_fact" if instead_of else "add_fact"
    with _editing(case, kind, [person], basis, field=field, value=value):
        source, snippet = _statement(case, person, field, value, basis)
        when = _checked_date(value) if field in DATE_FIELDS else None
        fact = ExtractedFact(
            field,
            when.edtf() if when else value,
            snippet,
            "user",
            ENTERED_CONFIDENCE,
            when=when,
            locator=basis.locator,
        )
        entered = case.store.assert_fact(person, fact, source, status="verified", information=basis.information)
        case.store.decide(entered, "accepted")
        if field not in ("occupation", "title"):  # of these a person may have several
            case.store.choose(entered)
        if instead_of and instead_of != entered:
            case.store.decide(instead_of, "rejected")
            case.store.choose(instead_of, is_preferred=False)
            case.store.choose(entered)
    return entered


def remove(case: Case, fact_or_tie: str, basis: Basis = JUST_KNOWN) -> None:
    """Remove a fact or a relationship: it stays in the case, but counts for nothing."""
    people, is_tie, label = _found(case, fact_or_tie)
    with _editing(case, "remove_tie" if is_tie else "remove_fact", people, basis, what=label, id=fact_or_tie):
        if not is_tie:
            case.store.choose(fact_or_tie, is_preferred=False)
        case.store.decide(fact_or_tie, "rejected")


def accept(case: Case, fact_or_tie: str, basis: Basis = JUST_KNOWN) -> None:
    """Accept a fact or a relationship that the rules doubt, or that was removed."""
    people, _, label = _found(case, fact_or_tie)
    with _editing(case, "accept_fact", people, basis, what=label, id=fact_or_tie):
        case.store.decide(fact_or_tie, "accepted")


def prefer(case: Case, fact: str, basis: Basis = JUST_KNOWN) -> None:
    """Prefer a value to all others of its field."""
    people, is_tie, label = _found(case, fact)
    if is_tie:
        raise BadUsage("A relationship cannot be preferred.", remedy="Remove the wrong one instead.")
    with _editing(case, "prefer_fact", people, basis, what=label, id=fact):
        case.store.choose(fact)


def add_name(case: Case, person: PersonId, name: str, basis: Basis = JUST_KNOWN) -> None:
    """Add another name of a person."""
    name = _checked_text(name, "The name is empty.")
    with _editing(case, "add_name", [person], basis, name=name):
        if not case.store.add_name_form(person, name, "entered"):
            raise BadUsage(f"{name!r} is already a name of this person.")


def remove_name(case: Case, person: PersonId, name: str, basis: Basis = JUST_KNOWN) -> None:
    """Remove another name of a person, which was read or entered."""
    with _editing(case, "remove_name", [person], basis, name=name):
        if not case.store.remove_name_form(person, name):
            raise BadUsage(
                f"{name!r} is not a name that can be removed.", remedy="To change the main name, enter another one."
            )


def relate(
    case: Case,
    person: PersonId,
    role: RelativeRole,
    other: PersonId,
    basis: Basis = JUST_KNOWN,
    *,
    qualifier: Qualifier = "",
    since: str = "",
    until: str = "",
) -> str:
    """Enter that `other` is the father, child … of a person, and return the id of the relationship."""
    if qualifier not in QUALIFIERS:
        raise BadUsage(f"{qualifier!r} is not a kind of relationship.", remedy=f"Choose one of: {_listed(QUALIFIERS)}.")
    kind = KIND_OF_FIELD[role]
    first, second = (person, other) if role == "child" or kind != "parent_of" else (other, person)
    name = case.store.person(other).name
    with _editing(case, "add_tie", [person, other], basis, role=role, name=name, since=since, until=until):
        source, snippet = _statement(case, person, role, name, basis)
        fact = ExtractedFact(
            "child" if kind == "parent_of" else role,
            name,
            snippet,
            "user",
            ENTERED_CONFIDENCE,
            when=_checked_date(since) if since else None,
            until=_checked_date(until) if until else None,
            qualifier=qualifier,
            locator=basis.locator,
        )
        tie = case.store.assert_tie(kind, first, second, fact, source, status="verified", information=basis.information)
        case.store.decide(tie, "accepted")
        if (sex := SEX_OF_PARENT.get(role)) and not case.store.person(other).sex:
            case.store.assert_fact(
                other, ExtractedFact("sex", sex, snippet, "user", ENTERED_CONFIDENCE), source, status="verified"
            )
    return tie


def remove_person(case: Case, person: PersonId, basis: Basis = JUST_KNOWN) -> None:
    """Remove a person: nothing about them is shown any more, until the removal is undone."""
    if person in case.seeds():
        raise BadUsage("This is the person the family was started with.", remedy="Remove other people instead.")
    with _editing(case, "remove_person", [person], basis, name=case.store.person(person).name):
        case.store.remove_person(person)


def merge(case: Case, kept: PersonId, other: PersonId, basis: Basis = JUST_KNOWN) -> str:
    """Merge two people, and return the id of the merge."""
    why = basis.note or "They are the same person."
    names = [case.store.person(person).name for person in (kept, other)]
    with _editing(case, "merge", [kept, other], basis, names=names):
        return case.store.merges.merge(
            kept,
            other,
            rationale=why,
            why_not_split=why,
            why_not_merge="decided by a person",
            decided_by="user",
            even_if_separated=True,
        )


def separate(case: Case, first: PersonId, second: PersonId, basis: Basis = JUST_KNOWN) -> None:
    """Say that two people are not the same: they are never merged or suggested."""
    names = [case.store.person(person).name for person in (first, second)]
    with _editing(case, "separate", [first, second], basis, names=names):
        case.store.merges.separate(first, second, basis.note or "They are two people.", "user")


def split(
    case: Case, person: PersonId, name: str, facts_and_ties: Sequence[str], basis: Basis = JUST_KNOWN
) -> PersonId:
    """Make two people of one: these facts and relationships belong to a new person, whose id is returned."""
    name = _checked_text(name, "The new person needs a name.")
    if not facts_and_ties:
        raise BadUsage("No fact or relationship was chosen.", remedy="Choose what belongs to the new person.")
    tree = case.store.tree()
    new = row_id("person", USER_SOURCE, str(len(case.store.edits.all())), name)
    with _editing(case, "split", [person, new], basis, name=name, moved=len(facts_and_ties)):
        case.store.add_person(new, name, tree.persons[person].sex)
        for moved in facts_and_ties:
            case.store.copy_statements(moved, person, new)
            case.store.decide(moved, "rejected")
        case.store.remove_name_form(person, name)
        case.store.merges.separate(person, new, basis.note or "They are two people.", "user")
    return new


def undo(case: Case, edit: str = "", *, cascade: bool = False) -> tuple[Edit, ...]:
    """Undo an edit, by default the last one, and return the undone edits."""
    chosen = _chosen(case, edit, "done")
    with case.store.step("user"):
        undone = case.store.edits.undo(chosen.id, cascade=cascade)
        case.reevaluate()
    return tuple(item for item in reversed(case.store.edits.all()) if item.id in undone)


def redo(case: Case, edit: str = "") -> Edit:
    """Redo an undone edit, by default the one that was undone last."""
    chosen = _chosen(case, edit, "undone")
    with case.store.step("user"):
        case.store.edits.redo(chosen.id)
        case.reevaluate()
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
    return possible[-1] if state == "done" else max(possible, key=lambda edit: (edit.undone_at, -edit.seq))


@dataclass(frozen=True, slots=True)
class EditRecord(Record):
    """A change that a person made, as far as the privacy mode allows."""

    id: str
    seq: int
    kind: EditKind
    state: str
    people: tuple[str, ...]
    """Their names."""
    details: dict[str, str]
    note: str
    author: str
    made_at: str


def history(case: Case, tree: ShownTree) -> tuple[EditRecord, ...]:
    """All changes, the latest first. What people wrote is only for the owner, as it may name people in any way."""
    is_owner = tree.mode == "owner"
    names = {person: tree.persons[person].name for person in tree.persons}
    return tuple(
        EditRecord(
            edit.id,
            edit.seq,
            edit.kind,
            edit.state,
            tuple(names.get(case.store.canonical_or_same(person), "") for person in edit.people),
            {key: _text_of(value) for key, value in edit.details.items() if key != "id"} if is_owner else {},
            edit.note if is_owner else "",
            edit.author if is_owner else "",
            edit.made_at,
        )
        for edit in reversed(case.store.edits.all())
    )


def _text_of(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _found(case: Case, fact_or_tie: str) -> tuple[list[PersonId], bool, str]:
    """The people of a fact or a relationship, whether it is a relationship, and what it says."""
    tree = case.store.tree(with_discarded=True)
    for fact in tree.facts:
        if fact.id == fact_or_tie:
            return [fact.person], False, f"{fact.field}: {fact.value}"
    for tie in tree.relationships:
        if tie.id == fact_or_tie:
            names = " – ".join(tree.persons[end].name for end in (tie.first, tie.second))
            return [tie.first, tie.second], True, names
    raise BadUsage(f"The case has no fact or relationship {fact_or_tie!r}.", remedy="Use an ID from the tree.")


def _statement(case: Case, person: PersonId, field: str, value: str, basis: Basis) -> tuple[SourceId, Snippet]:
    """The source for what a person enters, and the place of the value in its text."""
    text = basis.transcript.strip()
    start = text.find(value)
    if start < 0:
        said = basis.note or f"{field.replace('_', ' ')}: {value}"
        text = "\n".join(part for part in (text, said) if part)
        start = text.find(value)
    if start < 0:
        text, start = f"{text}\n{value}", len(text) + 1
    digest = hashlib.sha256("\x1f".join((person, field, value, text, basis.source)).encode()).hexdigest()[:24]
    source = Source(
        "",
        basis.address or f"{USER_SOURCE}{digest}",
        basis.source or "Entered by you",
        basis.source,
        accessed_at=now(),
        origin_group=f"{USER_SOURCE}{basis.author}" if not basis.source else "",
        form=basis.form,
        user_contributed=True,
    )
    return case.store.add_source(source, text), Snippet(start, start + len(value), value)


def _checked_text(value: str, problem: str) -> str:
    text = " ".join(value.split())
    if not fold(text):
        raise BadUsage(problem)
    if len(text) > MAX_VALUE:
        raise BadUsage(f"The text is too long: {len(text)} characters.", remedy=f"Use {MAX_VALUE} at most.")
    return text


def _checked_date(value: str) -> DateRange:
    found = dates_in(value)
    if len(found) != 1:
        raise BadUsage(
            f"{value!r} is not a date that can be read.", remedy="Examples: 12 May 1851, May 1851, about 1850, 44 BC."
        )
    return found[0].when


def _checked_sex(value: str) -> Sex:
    known = SEXES.get(value.strip().lower())
    if known is None:
        raise BadUsage(f"{value!r} is not a sex.", remedy="Choose male, female or unknown.")
    return known


def _listed(values: Sequence[str]) -> str:
    return ", ".join(value for value in values if value)
