"""What people change in a case: people, names, facts and relationships, with the source they have for it.

Each function makes one edit, which `undo` and `redo` take back and repeat. What a person enters is evidence of its
own: a statement in a source `user:…`, beside what books say, and no rule or later reading changes it.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from kiwiresearch.cases.attached_files import PICTURES, checked_file
from kiwiresearch.cases.imports import find_page
from kiwiresearch.cases.record_types import NamedPerson
from kiwiresearch.cases.review import DEFAULT_REASON
from kiwiresearch.codec import Record
from kiwiresearch.errors import BadUsage, NothingFound, OutOfDate
from kiwiresearch.evidence import ground
from kiwiresearch.ids import is_start_of_id
from kiwiresearch.kin import (
    DATE_FIELDS,
    DISCARDED,
    FIELD_OF_KIND,
    KIND_OF_FIELD,
    PARENT_FIELDS,
    RELATION_FIELDS,
    SEX_OF_PARENT,
    ExtractedFact,
    Fact,
    FieldName,
    InformationKind,
    PersonId,
    Qualifier,
    Relationship,
    Sex,
    Snippet,
    Source,
    SourceForm,
    SourceId,
    Tree,
    row_id,
)
from kiwiresearch.kin.store import AttachmentRole, Edit, EditKind
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, dates_in

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case
    from kiwiresearch.kin.privacy import ShownTree

USER_SOURCE = "user:"
ENTERED_BY_HAND = "Entered by hand"
ENTERED_CONFIDENCE = 0.9
"""How far a value is believed that somebody entered: people err less than rules, but they err."""
ENTERED_RELIABILITY = 0.8
SEVERAL: tuple[FieldName, ...] = ("occupation", "title", "marriage_date", "marriage_place")
"""Fields of which a person may have several values that do not compete."""
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
    """The title of a record, a letter or a book of one's own; empty if the person just knows it."""
    locator: str = ""
    """The page or number in it."""
    dated: str = ""
    """When the source was made."""
    transcript: str = ""
    """The words of the source."""
    page: str = ""
    """A page of a book in the library instead, by its title, path or address."""
    quote: str = ""
    """The words of that page; by default the value itself."""
    form: SourceForm = "authored"
    information: InformationKind = "undetermined"
    author: str = ""
    """Who makes the change: the name of a user, if there are users."""
    seen: int | None = None
    """The version of these people that the person saw; a later change is reported and not overwritten."""


JUST_KNOWN = Basis()


@contextmanager
def _editing(case: Case, kind: EditKind, people: Sequence[PersonId], basis: Basis, **details: Any) -> Iterator[None]:
    """One edit: what it changes, then what follows from it for the rest of the case."""
    _check_basis(basis)
    given = {key: value for key, value in details.items() if value not in ("", None)}
    with case.store.edits.recording(kind, people, given, note=basis.note.strip(), author=basis.author):
        if basis.seen is not None and case.store.edits.latest_for(people) > basis.seen:
            raise OutOfDate(
                "Somebody has changed this in the meantime.",
                remedy="Look at the change, then make yours again if it is still needed.",
            )
        yield
        case.apply_change()


def _check_basis(basis: Basis) -> None:
    short = (basis.source, basis.locator, basis.dated, basis.page)
    if any(len(text) > MAX_VALUE for text in short) or max(map(len, (basis.note, basis.transcript, basis.quote))) > (
        MAX_TEXT
    ):
        raise BadUsage(
            "The note or the source is too long.",
            remedy=f"Use {MAX_TEXT} characters at most for a note or a transcript, and {MAX_VALUE} for a title.",
        )
    if basis.page and (basis.source or basis.transcript):
        raise BadUsage(
            "A page of a book and a source of your own were given.", remedy="Use one of them, and add the other later."
        )


def _present(case: Case, *people: PersonId) -> list[str]:
    """The names of people; refused if one of them is not in the case, or was removed."""
    for person in people:
        if not case.store.is_in_case(person):
            raise NothingFound(f"The case has no person {person!r}.", remedy="The person may have been removed.")
    return [case.store.person(person).name for person in people]


def _new_person_id(name: str) -> PersonId:
    """Two people who are entered with the same name are two people."""
    return row_id("person", USER_SOURCE, secrets.token_hex(16), name)


def add_person(case: Case, name: str, sex: str = "", basis: Basis = JUST_KNOWN) -> PersonId:
    """Add a person and return their id."""
    name, known_sex = _checked_text(name, "A person needs a name."), _checked_sex(sex)
    person = _new_person_id(name)
    with _editing(case, "add_person", [person], basis, name=name, sex=known_sex):
        _put_person(case, person, name, known_sex, basis)
    return person


def _put_person(case: Case, person: PersonId, name: str, sex: Sex, basis: Basis) -> None:
    case.store.add_person(person, name, sex)
    _store_fact(case, person, *_statement(case, person, "name", name, basis), basis)


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
        if not value:
            raise BadUsage("The sex is not given.", remedy="To correct one that is wrong, remove it.")
    when = _checked_date(value) if field in DATE_FIELDS else None
    _present(case, person)
    if instead_of:
        instead_of = _item_of(case, instead_of, person, is_tie=False)
    kind: EditKind = "change_fact" if instead_of else "add_fact"
    with _editing(case, kind, [person], basis, field=field, value=value):
        fact, source = _statement(case, person, field, value, basis, when)
        entered = _store_fact(case, person, fact, source, basis)
        case.store.decide(entered, "accepted")
        if instead_of and instead_of != entered:
            _reject(case, instead_of)
        if instead_of or field not in SEVERAL:
            case.store.choose(entered)
    return entered


def _store_fact(case: Case, person: PersonId, fact: ExtractedFact, source: SourceId, basis: Basis) -> str:
    return case.store.assert_fact(
        person,
        fact,
        source,
        status="verified",
        reliability=ENTERED_RELIABILITY,
        information=basis.information,
    )


def _reject(case: Case, fact_or_tie: str, *, is_tie: bool = False) -> None:
    if not is_tie:
        case.store.choose(fact_or_tie, is_preferred=False)
    case.store.decide(fact_or_tie, "rejected")


def remove(case: Case, fact_or_tie: str, basis: Basis = JUST_KNOWN) -> None:
    """Remove a fact or a relationship: it stays in the case, but counts for nothing."""
    item = _found(case, fact_or_tie)
    with _editing(case, "remove_tie" if item.is_tie else "remove_fact", item.people, basis, **item.details):
        _reject(case, item.id, is_tie=item.is_tie)


def accept(case: Case, fact_or_tie: str, basis: Basis = JUST_KNOWN) -> None:
    """Accept a fact or a relationship that the rules doubt, or that was removed."""
    item = _found(case, fact_or_tie)
    with _editing(case, "accept_fact", item.people, basis, **item.details):
        case.store.decide(item.id, "accepted")


def prefer(case: Case, fact: str, basis: Basis = JUST_KNOWN) -> None:
    """Prefer a value to all others of its field."""
    item = _found(case, fact)
    if item.is_tie:
        raise BadUsage("A relationship cannot be preferred.", remedy="Remove the wrong one instead.")
    with _editing(case, "prefer_fact", item.people, basis, **item.details):
        if item.is_discarded:
            case.store.decide(item.id, "accepted")
        case.store.choose(item.id)


def add_name(case: Case, person: PersonId, name: str, basis: Basis = JUST_KNOWN) -> None:
    """Add another name of a person."""
    name = _checked_text(name, "The name is empty.")
    _present(case, person)
    with _editing(case, "add_name", [person], basis, name=name):
        if not case.store.add_name_form(person, name, "entered"):
            raise BadUsage(f"{name!r} is already a name of this person.")


def remove_name(case: Case, person: PersonId, name: str, basis: Basis = JUST_KNOWN) -> None:
    """Remove another name of a person, which was read or entered."""
    _present(case, person)
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
    begun, ended = (_checked_date(day) if day else None for day in (since, until))
    [_, name] = _present(case, person, other)
    with _editing(case, "add_tie", [person, other], basis, role=role, name=name, since=since, until=until):
        return _put_tie(case, person, role, other, basis, _Bond(qualifier, begun, ended))


@dataclass(frozen=True, slots=True)
class _Bond:
    """What is known of a relationship besides the two people."""

    qualifier: Qualifier = ""
    since: DateRange | None = None
    until: DateRange | None = None


def _put_tie(case: Case, person: PersonId, role: RelativeRole, other: PersonId, basis: Basis, bond: _Bond) -> str:
    kind = KIND_OF_FIELD[role]
    first, second = (other, person) if role in PARENT_FIELDS else (person, other)
    if kind == "parent_of" and case.store.canonical(second) in _ancestors(case, first):
        raise BadUsage("Nobody can be their own ancestor.", remedy="Remove the wrong relationship first.")
    known = case.store.person(other)
    fact, source = _statement(case, person, role, known.name, basis, bond.since)
    fact = replace(fact, until=bond.until, qualifier=bond.qualifier)
    tie = case.store.assert_tie(
        kind,
        first,
        second,
        fact,
        source,
        status="verified",
        reliability=ENTERED_RELIABILITY,
        information=basis.information,
    )
    case.store.decide(tie, "accepted")
    if (sex := SEX_OF_PARENT.get(role)) and not known.sex:
        stated = replace(fact, field="sex", value=sex, when=None, until=None, qualifier="")
        _store_fact(case, other, stated, source, basis)
    return tie


def _ancestors(case: Case, person: PersonId) -> set[PersonId]:
    """A person and all their ancestors."""
    tree, found, waiting = case.store.tree(), set[PersonId](), [case.store.canonical(person)]
    while waiting:
        if (one := waiting.pop()) not in found:
            found.add(one)
            waiting += tree.parents(one)
    return found


def add_relative(
    case: Case, person: PersonId, role: RelativeRole, name: str, basis: Basis = JUST_KNOWN, sex: str = ""
) -> PersonId:
    """Add a person who is a relative of another, as one change, and return their id."""
    [relative_to] = _present(case, person)
    name = _checked_text(name, "A person needs a name.")
    known_sex = _checked_sex(sex) or SEX_OF_PARENT.get(role, "")
    other = _new_person_id(name)
    with _editing(case, "add_person", [other, person], basis, name=name, role=role, of=relative_to):
        _put_person(case, other, name, known_sex, basis)
        _put_tie(case, person, role, other, basis, _Bond())
    return other


def remove_person(case: Case, person: PersonId, basis: Basis = JUST_KNOWN) -> None:
    """Remove a person: nothing about them is shown any more, until the removal is undone."""
    [name] = _present(case, person)
    if case.store.canonical(person) in case.seeds():
        raise BadUsage("This is the person the family was started with.", remedy="Remove other people instead.")
    with _editing(case, "remove_person", [person], basis, name=name):
        case.store.remove_person(person)


def merge(case: Case, kept: PersonId, other: PersonId, basis: Basis = JUST_KNOWN) -> str:
    """Merge two people, and return the id of the merge."""
    why = basis.note.strip() or DEFAULT_REASON
    names = _present(case, kept, other)
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
    names = _present(case, first, second)
    if case.store.canonical(first) == case.store.canonical(second):
        raise BadUsage("These are merged into one person.", remedy="Undo the merge instead.")
    with _editing(case, "separate", [first, second], basis, names=names):
        case.store.merges.separate(first, second, basis.note.strip() or DEFAULT_REASON, "user")


def split(
    case: Case, person: PersonId, name: str, facts_and_ties: Sequence[str], basis: Basis = JUST_KNOWN
) -> PersonId:
    """Make two people of one: these facts and relationships belong to a new person, whose id is returned."""
    name = _checked_text(name, "The new person needs a name.")
    _present(case, person)
    if not facts_and_ties:
        raise BadUsage("No fact or relationship was chosen.", remedy="Choose what belongs to the new person.")
    chosen = [_item_of(case, item, person) for item in dict.fromkeys(facts_and_ties)]
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
    basis: Basis = JUST_KNOWN,
    *,
    role: AttachmentRole = "photo",
    caption: str = "",
    source: SourceId = "",
) -> str:
    """Attach a picture to a person, or the scan or transcript of a source, and return the id of the file."""
    file = checked_file(body)
    name = " ".join(name.split())[:MAX_VALUE] or "file"
    if role == "photo" and file.media_type not in PICTURES:
        raise BadUsage(f"{name!r} is not a picture.", remedy="Attach it as a scan or a transcript.")
    if source and source not in case.store.tree(with_discarded=True).sources:
        raise NothingFound(f"The case has no source {source!r}.", remedy="Attach the file to the person only.")
    _present(case, person)
    caption = " ".join(caption.split())[:MAX_VALUE]
    with _editing(case, "attach", [person], basis, file=name, role=role, caption=caption):
        return case.store.attachments.add(
            person, file.body, file.media_type, name=name, role=role, caption=caption, source=source
        )


def detach(case: Case, attached: str, basis: Basis = JUST_KNOWN) -> None:
    """Detach a file from its person."""
    found = next((item for item in case.store.attachments.all() if item.id == attached), None)
    if found is None:
        raise NothingFound(f"No file has the ID {attached!r}.", remedy="It may have been detached already.")
    with _editing(case, "detach", [found.person], basis, file=found.name, role=found.role):
        case.store.attachments.remove(attached)


def version_of(case: Case, *people: PersonId) -> int:
    """The version of these people, for `Basis.seen`."""
    return case.store.edits.latest_for(people)


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


@dataclass(frozen=True, slots=True)
class _Item:
    """A fact or a relationship that is to be changed."""

    id: str
    people: tuple[PersonId, ...]
    details: dict[str, Any]
    is_tie: bool
    is_discarded: bool


def _statements(tree: Tree, wanted: str) -> tuple[list[Fact], list[Relationship]]:
    """The facts and the relationships with this id, or with an id that starts so."""
    given = wanted.strip().lower()
    return (
        [fact for fact in tree.facts if is_start_of_id(given, fact.id)],
        [tie for tie in tree.relationships if is_start_of_id(given, tie.id)],
    )


def is_statement(case: Case, words: str) -> bool:
    """Whether these words are the id of a fact or a relationship, and not of a person."""
    return any(_statements(case.store.tree(with_discarded=True), words))


def _found(case: Case, wanted: str) -> _Item:
    """The fact or the relationship with this id, or with an id that starts so."""
    tree = case.store.tree(with_discarded=True)
    facts, ties = _statements(tree, wanted)
    if len(facts) + len(ties) != 1:
        raise BadUsage(
            f"{wanted!r} is not the ID of one fact or relationship.",
            remedy="To list the IDs for a person: kiwiresearch kin evidence PERSON",
        )
    if facts:
        [fact] = facts
        details: dict[str, Any] = {"field": fact.field, "value": fact.value}
        return _Item(fact.id, (fact.person,), details, is_tie=False, is_discarded=fact.status in DISCARDED)
    [tie] = ties
    ends = (tie.first, tie.second)
    details = {"field": FIELD_OF_KIND[tie.kind], "names": [tree.persons[end].name for end in ends]}
    return _Item(tie.id, ends, details, is_tie=True, is_discarded=tie.status in DISCARDED)


def _item_of(case: Case, wanted: str, person: PersonId, *, is_tie: bool | None = None) -> str:
    """The id of a fact or a relationship of this person."""
    item = _found(case, wanted)
    if case.store.canonical(person) not in item.people or is_tie not in (None, item.is_tie):
        raise BadUsage(f"{wanted!r} is not about this person.", remedy="Choose a fact of the person.")
    return item.id


def _statement(
    case: Case, person: PersonId, field: FieldName, value: str, basis: Basis, when: DateRange | None = None
) -> tuple[ExtractedFact, SourceId]:
    """What a person enters, as a source says it: a page of a book, or a text of their own."""
    source, snippet = _page_quote(case, value, basis) if basis.page else _own_words(case, person, field, value, basis)
    locator = ", ".join(part for part in (basis.locator.strip(), basis.dated.strip()) if part)
    stated = when.edtf() if when and field in DATE_FIELDS else value
    return ExtractedFact(field, stated, snippet, "user", ENTERED_CONFIDENCE, when=when, locator=locator), source


def _page_quote(case: Case, value: str, basis: Basis) -> tuple[SourceId, Snippet]:
    """A real page, and the words in it that say the value."""
    if case.finder is None:
        raise BadUsage("The page cannot be read without the books.", remedy="Open the case with its books.")
    fetched = find_page(case.finder.books, basis.page)
    assert fetched.page is not None
    quote = ground(basis.quote.strip() or value, fetched.page)
    return case.store.add_source(fetched.source, fetched.text), Snippet(quote.start, quote.end, quote.text)


def _own_words(case: Case, person: PersonId, field: FieldName, value: str, basis: Basis) -> tuple[SourceId, Snippet]:
    """A text that says the value: the transcript, or else what was entered."""
    text = basis.transcript.strip()
    if value not in text:
        text = "\n".join(part for part in (text, f"{field.replace('_', ' ')}: {value}") if part)
    start = text.index(value)
    digest = hashlib.sha256("\x1f".join((person, field, value, text, basis.source)).encode()).hexdigest()[:24]
    source = Source(
        "",
        f"{USER_SOURCE}{digest}",
        ENTERED_BY_HAND,
        " ".join(basis.source.split()),
        accessed_at=case.store.now(),
        origin_group="" if basis.source.strip() else f"{USER_SOURCE}{basis.author}",
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
