"""The statements of a case that people change: what they enter as evidence, and the fact or tie that is meant."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kiwiresearch.cases.imports import read_named_page
from kiwiresearch.errors import BadUsage
from kiwiresearch.evidence import ground
from kiwiresearch.ids import is_start_of_id
from kiwiresearch.kin import (
    DATE_FIELDS,
    DISCARDED,
    FIELD_OF_KIND,
    ExtractedFact,
    Fact,
    FieldName,
    InformationKind,
    PersonId,
    Relationship,
    Sex,
    Snippet,
    Source,
    SourceForm,
    SourceId,
    Tree,
)
from kiwiresearch.text import fold
from kiwiresearch.text.dates import DateRange, dates_in

if TYPE_CHECKING:
    from kiwiresearch.cases.case import Case

USER_SOURCE = "user:"
ENTERED_BY_HAND = "Entered by hand"
ENTERED_CONFIDENCE = 0.9
"""The confidence in a value that a person entered: people err less than rules, but they err."""
MAX_VALUE = 500
MAX_TEXT = 20_000
SEXES: dict[str, Sex] = {"male": "male", "female": "female", "unknown": "", "": ""}


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
    expected_version: int | None = None
    """The version of these people that the person saw; a later change is reported and not overwritten."""


NO_SOURCE = Basis()


def check_basis(basis: Basis) -> None:
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


def build_statement(
    case: Case, person: PersonId, field: FieldName, value: str, basis: Basis, when: DateRange | None = None
) -> tuple[ExtractedFact, SourceId]:
    """What a person enters, and its source, which is stored: a page of a book, or a text of their own."""
    source, snippet = (
        _page_quote(case, value, basis) if basis.page else _quote_from_own_text(case, person, field, value, basis)
    )
    locator = ", ".join(part for part in (basis.locator.strip(), basis.dated.strip()) if part)
    stated = when.edtf() if when and field in DATE_FIELDS else value
    return ExtractedFact(field, stated, snippet, "user", ENTERED_CONFIDENCE, when=when, locator=locator), source


def _page_quote(case: Case, value: str, basis: Basis) -> tuple[SourceId, Snippet]:
    """A real page, and the words in it that say the value."""
    if case.finder is None:
        raise BadUsage("The page cannot be read without the books.", remedy="Open the case with its books.")
    fetched = read_named_page(case.finder.books, basis.page)
    assert fetched.page is not None
    quote = ground(basis.quote.strip() or value, fetched.page)
    return case.store.add_source(fetched.source, fetched.text), Snippet(quote.start, quote.end, quote.text)


def _quote_from_own_text(
    case: Case, person: PersonId, field: FieldName, value: str, basis: Basis
) -> tuple[SourceId, Snippet]:
    """A text that says the value: the transcript, or else what was entered."""
    text = basis.transcript.strip()
    if value not in text:
        # A transcript that spells the value in another way, such as 'ye 19th of Nov.', gets a line that has it.
        text = "\n".join(part for part in (text, f"{field.replace('_', ' ')}: {value}") if part)
    start = text.index(value)
    # The separator cannot occur in a value, so that 'a' and 'bc' differ from 'ab' and 'c'.
    digest = hashlib.sha256("\x1f".join((person, field, value, text, basis.source)).encode()).hexdigest()[:24]
    source = Source(
        "",
        f"{USER_SOURCE}{digest}",
        ENTERED_BY_HAND,
        " ".join(basis.source.split()),
        accessed_at=case.store.now(),
        # All that one person knows without a source is one origin: repeating it proves nothing.
        origin_group="" if basis.source.strip() else f"{USER_SOURCE}{basis.author}",
        form=basis.form,
        user_contributed=True,
    )
    return case.store.add_source(source, text), Snippet(start, start + len(value), value)


def checked_text(value: str, problem: str) -> str:
    text = " ".join(value.split())
    if not fold(text):
        raise BadUsage(problem)
    if len(text) > MAX_VALUE:
        raise BadUsage(f"The text is too long: {len(text)} characters.", remedy=f"Use {MAX_VALUE} at most.")
    return text


def checked_date(value: str) -> DateRange:
    found = dates_in(value)
    if len(found) != 1:
        raise BadUsage(
            f"{value!r} is not a date that can be read.", remedy="Examples: 12 May 1851, May 1851, about 1850, 44 BC."
        )
    return found[0].when


def checked_sex(value: str) -> Sex:
    known = SEXES.get(value.strip().lower())
    if known is None:
        raise BadUsage(f"{value!r} is not a sex.", remedy="Choose male, female or unknown.")
    return known


@dataclass(frozen=True, slots=True)
class StatementItem:
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


def find_statement(case: Case, wanted: str) -> StatementItem:
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
        return StatementItem(fact.id, (fact.person,), details, is_tie=False, is_discarded=fact.status in DISCARDED)
    [tie] = ties
    ends = (tie.first, tie.second)
    details = {"field": FIELD_OF_KIND[tie.kind], "names": [tree.persons[end].name for end in ends]}
    return StatementItem(tie.id, ends, details, is_tie=True, is_discarded=tie.status in DISCARDED)


def find_statement_or_none(case: Case, wanted: str) -> StatementItem | None:
    """The fact or the relationship with this id; None if it is gone."""
    try:
        return find_statement(case, wanted)
    except BadUsage:
        return None


def require_statement_id(case: Case, wanted: str, person: PersonId, *, is_tie: bool | None = None) -> str:
    """The id of a fact or a relationship of this person."""
    item = find_statement(case, wanted)
    if case.store.canonical(person) not in item.people or is_tie not in (None, item.is_tie):
        raise BadUsage(f"{wanted!r} is not about this person.", remedy="Choose a fact of the person.")
    return item.id
