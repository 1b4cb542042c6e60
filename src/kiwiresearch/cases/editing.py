"""What people change in a case: people, names, facts and relationships, with the source they have for it.

Each function makes one edit, which `undo` and `redo` take back and repeat. What a person enters is evidence of its
own: a statement in a source `user:…`, beside what books say, and no rule or later reading changes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from kiwiresearch.cases.attached_files import PICTURES, checked_file, require_room
from kiwiresearch.cases.merges import DEFAULT_REASON
from kiwiresearch.cases.statements import (
    MAX_VALUE,
    NO_SOURCE,
    USER_SOURCE,
    Basis,
    build_statement,
    check_basis,
    checked_date,
    checked_sex,
    checked_text,
    find_statement,
    require_statement_id,
)
from kiwiresearch.errors import BadUsage, NothingFound, OutOfDate
from kiwiresearch.kin import (
    DATE_FIELDS,
    KIND_OF_FIELD,
    MANY_VALUED,
    PARENT_FIELDS,
    RELATION_FIELDS,
    SEX_OF_PARENT,
    ExtractedFact,
    FieldName,
    PersonId,
    Qualifier,
    Sex,
    SourceId,
    ancestors,
    row_id,
)
from kiwiresearch.kin.loop import RELIABILITY
from kiwiresearch.kin.store import AttachmentRole, EditKind
from kiwiresearch.text.dates import DateRange

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case

RelativeRole = Literal["father", "mother", "parent", "child", "spouse", "partner", "sibling"]
ROLES: tuple[RelativeRole, ...] = get_args(RelativeRole)
QUALIFIERS: tuple[Qualifier, ...] = tuple(item for item in get_args(Qualifier) if item != "disputed")


@contextmanager
def _editing(case: Case, kind: EditKind, people: Sequence[PersonId], basis: Basis, **details: Any) -> Iterator[None]:
    """One edit: what it changes, then what follows from it for the rest of the case."""
    check_basis(basis)
    given = {key: value for key, value in details.items() if value not in ("", None)}
    with case.store.edits.recording(kind, people, given, note=basis.note.strip(), author=basis.author):
        # Within the transaction, so that nobody can change these people between the check and the edit.
        if basis.expected_version is not None and case.store.edits.latest_version_for(people) > basis.expected_version:
            raise OutOfDate(
                "Somebody has changed this in the meantime.",
                remedy="Look at the change, then make yours again if it is still needed.",
            )
        yield
        case.apply_change()


def _require_people(case: Case, *people: PersonId) -> list[str]:
    """The names of people; refused if one of them is not in the case, or was removed."""
    for person in people:
        if not case.store.is_in_case(person):
            raise NothingFound(f"The case has no person {person!r}.", remedy="The person may have been removed.")
    return [case.store.person(person).name for person in people]


def _new_person_id(name: str) -> PersonId:
    """Two people who are entered with the same name are two people."""
    return row_id("person", USER_SOURCE, secrets.token_hex(16), name)


def add_person(case: Case, name: str, sex: str = "", basis: Basis = NO_SOURCE) -> PersonId:
    """Add a person and return their id."""
    name, known_sex = checked_text(name, "A person needs a name."), checked_sex(sex)
    person = _new_person_id(name)
    with _editing(case, "add_person", [person], basis, name=name, sex=known_sex):
        _put_person(case, person, name, known_sex, basis)
    return person


def _put_person(case: Case, person: PersonId, name: str, sex: Sex, basis: Basis) -> None:
    case.store.add_person(person, name, sex)
    _store_fact(case, person, *build_statement(case, person, "name", name, basis), basis)


def add_fact(
    case: Case, person: PersonId, field: FieldName, value: str, basis: Basis = NO_SOURCE, *, instead_of: str = ""
) -> str:
    """Enter a value for a field of a person, which is then preferred, and return the id of the fact.

    `instead_of` is an earlier entry that is corrected. What a book says stays beside it.
    """
    value = checked_text(value, "The value is empty.")
    if field in RELATION_FIELDS:
        raise BadUsage(f"{field!r} is a relationship.", remedy="Add a relationship instead.")
    if field == "sex":
        value = checked_sex(value)
        if not value:
            raise BadUsage("The sex is not given.", remedy="To correct one that is wrong, remove it.")
    when = checked_date(value) if field in DATE_FIELDS else None
    _require_people(case, person)
    if instead_of:
        instead_of = require_statement_id(case, instead_of, person, is_tie=False)
    kind: EditKind = "change_fact" if instead_of else "add_fact"
    with _editing(case, kind, [person], basis, field=field, value=value):
        fact, source = build_statement(case, person, field, value, basis, when)
        entered = _store_fact(case, person, fact, source, basis)
        case.store.decide(entered, "accepted")
        # The same value with the same source has the same id: correcting a value to itself must not reject it.
        if instead_of and instead_of != entered:
            _reject(case, instead_of)
        # Of several occupations, for example, none is preferred to the others.
        if instead_of or field not in MANY_VALUED:
            case.store.decide_preferred(entered)
    return entered


def _store_fact(case: Case, person: PersonId, fact: ExtractedFact, source: SourceId, basis: Basis) -> str:
    return case.store.assert_fact(
        person,
        fact,
        source,
        status="verified",
        reliability=RELIABILITY["user"],
        information=basis.information,
    )


def _reject(case: Case, fact_or_tie: str, *, is_tie: bool = False) -> None:
    if not is_tie:
        case.store.decide_preferred(fact_or_tie, is_preferred=False)
    case.store.decide(fact_or_tie, "rejected")


def remove(case: Case, fact_or_tie: str, basis: Basis = NO_SOURCE) -> None:
    """Remove a fact or a relationship: it stays in the case, but counts for nothing."""
    item = find_statement(case, fact_or_tie)
    with _editing(case, "remove_tie" if item.is_tie else "remove_fact", item.people, basis, **item.details):
        _reject(case, item.id, is_tie=item.is_tie)


def accept(case: Case, fact_or_tie: str, basis: Basis = NO_SOURCE) -> None:
    """Accept a fact or a relationship that the rules doubt, or that was removed."""
    item = find_statement(case, fact_or_tie)
    with _editing(case, "accept_fact", item.people, basis, **item.details):
        case.store.decide(item.id, "accepted")


def prefer(case: Case, fact: str, basis: Basis = NO_SOURCE) -> None:
    """Prefer a value to all others of its field."""
    item = find_statement(case, fact)
    if item.is_tie:
        raise BadUsage("A relationship cannot be preferred.", remedy="Remove the wrong one instead.")
    with _editing(case, "prefer_fact", item.people, basis, **item.details):
        if item.is_discarded:
            case.store.decide(item.id, "accepted")
        case.store.decide_preferred(item.id)


def add_name(case: Case, person: PersonId, name: str, basis: Basis = NO_SOURCE) -> None:
    """Add another name of a person."""
    name = checked_text(name, "The name is empty.")
    _require_people(case, person)
    with _editing(case, "add_name", [person], basis, name=name):
        if not case.store.add_name_form(person, name, "entered"):
            raise BadUsage(f"{name!r} is already a name of this person.")


def remove_name(case: Case, person: PersonId, name: str, basis: Basis = NO_SOURCE) -> None:
    """Remove another name of a person, which was read or entered."""
    _require_people(case, person)
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
    basis: Basis = NO_SOURCE,
    *,
    qualifier: Qualifier = "",
    since: str = "",
    until: str = "",
) -> str:
    """Record that `other` is the father, child … of a person, and return the id of the relationship."""
    if qualifier not in QUALIFIERS:
        raise BadUsage(f"{qualifier!r} is not a kind of relationship.", remedy=f"Choose one of: {_listed(QUALIFIERS)}.")
    begun, ended = (checked_date(day) if day else None for day in (since, until))
    [_, name] = _require_people(case, person, other)
    with _editing(case, "add_tie", [person, other], basis, role=role, name=name, since=since, until=until):
        return _put_tie(case, person, role, other, basis, _TieDetails(qualifier, begun, ended))


@dataclass(frozen=True, slots=True)
class _TieDetails:
    """What is known of a relationship besides the two people."""

    qualifier: Qualifier = ""
    since: DateRange | None = None
    until: DateRange | None = None


def _put_tie(
    case: Case, person: PersonId, role: RelativeRole, other: PersonId, basis: Basis, details: _TieDetails
) -> str:
    kind = KIND_OF_FIELD[role]
    # The parent comes first in a tie.
    first, second = (other, person) if role in PARENT_FIELDS else (person, other)
    parent, child = case.store.canonical(first), case.store.canonical(second)
    if kind == "parent_of" and child in {parent, *ancestors(case.store.tree(), parent)}:
        raise BadUsage("Nobody can be their own ancestor.", remedy="Remove the wrong relationship first.")
    known = case.store.person(other)
    sex = SEX_OF_PARENT.get(role)
    if sex and known.sex not in ("", sex):
        raise BadUsage(
            f"{known.name!r} is {known.sex} and cannot be the {role}.",
            remedy="Choose another relationship, for example parent, or correct the sex first.",
        )
    fact, source = build_statement(case, person, role, known.name, basis, details.since)
    fact = replace(fact, until=details.until, qualifier=details.qualifier)
    tie = case.store.assert_tie(
        kind,
        first,
        second,
        fact,
        source,
        status="verified",
        reliability=RELIABILITY["user"],
        information=basis.information,
    )
    case.store.decide(tie, "accepted")
    if sex and not known.sex:
        stated = replace(fact, field="sex", value=sex, when=None, until=None, qualifier="")
        _store_fact(case, other, stated, source, basis)
    return tie


def add_relative(
    case: Case, person: PersonId, role: RelativeRole, name: str, basis: Basis = NO_SOURCE, sex: str = ""
) -> PersonId:
    """Add a person who is a relative of another, as one change, and return their id."""
    [relative_to] = _require_people(case, person)
    name = checked_text(name, "A person needs a name.")
    known_sex = checked_sex(sex) or SEX_OF_PARENT.get(role, "")
    other = _new_person_id(name)
    with _editing(case, "add_person", [other, person], basis, name=name, role=role, of=relative_to):
        _put_person(case, other, name, known_sex, basis)
        _put_tie(case, person, role, other, basis, _TieDetails())
    return other


def remove_person(case: Case, person: PersonId, basis: Basis = NO_SOURCE) -> None:
    """Remove a person: nothing about them is shown any more, until the removal is undone."""
    [name] = _require_people(case, person)
    if case.store.canonical(person) in case.seeds():
        raise BadUsage("This is the person the family was started with.", remedy="Remove other people instead.")
    with _editing(case, "remove_person", [person], basis, name=name):
        case.store.remove_person(person)


def merge(case: Case, kept: PersonId, other: PersonId, basis: Basis = NO_SOURCE) -> str:
    """Merge two people, and return the id of the merge."""
    names = _require_people(case, kept, other)
    with _editing(case, "merge", [kept, other], basis, names=names):
        return case.store.merges.merge(
            kept,
            other,
            # The note may name anybody, and only the owner sees `why_not_split`.
            rationale=DEFAULT_REASON,
            why_not_split=basis.note.strip() or DEFAULT_REASON,
            why_not_merge="decided by a person",
            decided_by="user",
            even_if_separated=True,
        )


def separate(case: Case, first: PersonId, second: PersonId, basis: Basis = NO_SOURCE) -> None:
    """Say that two people are not the same: they are never merged or suggested."""
    names = _require_people(case, first, second)
    if case.store.canonical(first) == case.store.canonical(second):
        raise BadUsage("These are merged into one person.", remedy="Undo the merge instead.")
    with _editing(case, "separate", [first, second], basis, names=names):
        case.store.merges.separate(first, second, basis.note.strip() or DEFAULT_REASON, "user")


def split(case: Case, person: PersonId, name: str, facts_and_ties: Sequence[str], basis: Basis = NO_SOURCE) -> PersonId:
    """Make two people of one: these facts and relationships belong to a new person, whose id is returned."""
    name = checked_text(name, "The new person needs a name.")
    _require_people(case, person)
    if not facts_and_ties:
        raise BadUsage("No fact or relationship was chosen.", remedy="Choose what belongs to the new person.")
    chosen = [require_statement_id(case, item, person) for item in dict.fromkeys(facts_and_ties)]
    ties = {tie.id for tie in case.store.tree(with_discarded=True).relationships}
    new = _new_person_id(name)
    with _editing(case, "split", [person, new], basis, name=name, moved=len(chosen)):
        case.store.add_person(new, name, case.store.person(person).sex)
        for item in chosen:
            case.store.copy_statements(item, person, new)
            _reject(case, item, is_tie=item in ties)
        case.store.remove_name_form(person, name)
        case.store.merges.separate(person, new, basis.note.strip() or DEFAULT_REASON, "user")
    return new


def attach(
    case: Case,
    person: PersonId,
    body: bytes,
    name: str,
    basis: Basis = NO_SOURCE,
    *,
    role: AttachmentRole = "photo",
    caption: str = "",
    source: SourceId = "",
) -> str:
    """Attach a picture to a person, or the scan or transcript of a source, and return the id of the file."""
    file = checked_file(body)
    require_room(case.store.attachments.stored_bytes(), len(file.body))
    name = " ".join(name.split())[:MAX_VALUE] or "file"
    if role == "photo" and file.media_type not in PICTURES:
        raise BadUsage(f"{name!r} is not a picture.", remedy="Attach it as a scan or a transcript.")
    if source and source not in case.store.tree(with_discarded=True).sources:
        raise NothingFound(f"The case has no source {source!r}.", remedy="Attach the file to the person only.")
    _require_people(case, person)
    caption = " ".join(caption.split())[:MAX_VALUE]
    with _editing(case, "attach", [person], basis, file=name, role=role, caption=caption):
        return case.store.attachments.add(
            person, file.body, file.media_type, name=name, role=role, caption=caption, source=source
        )


def detach(case: Case, attached: str, basis: Basis = NO_SOURCE) -> None:
    """Detach a file from its person."""
    found = next((item for item in case.store.attachments.all() if item.id == attached), None)
    if found is None:
        raise NothingFound(f"No file has the ID {attached!r}.", remedy="It may have been detached already.")
    with _editing(case, "detach", [found.person], basis, file=found.name, role=found.role):
        case.store.attachments.remove(attached)


def _listed(values: Sequence[str]) -> str:
    return ", ".join(value for value in values if value)
