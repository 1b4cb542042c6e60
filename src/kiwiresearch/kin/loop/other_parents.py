"""The other parent of the children that a record lists: who its person was married to, where only one can be meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.kin.firewall import OtherParentProof, check_other_parent, is_of_marriage
from kiwiresearch.kin.language import ENGLISH
from kiwiresearch.kin.loop.record_match import MentionedPerson, NamedRelative, is_short_form
from kiwiresearch.kin.loop.source_records import CheckedFact, CheckedRecord
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.source_facts import ExtractedFact, Snippet
from kiwiresearch.kin.sources import FetchedRecord
from kiwiresearch.kin.tree import Sex, Status
from kiwiresearch.page import PageTable
from kiwiresearch.text.dates import DateRange

NAMED, INFERRED = 0.8, 0.6
"""The factors of the confidence if the record names both parents together, and if only their marriage shows it."""

JUST_BEFORE = 200
"""How far before 'They had two sons' the marriage that it refers to is mentioned."""


@dataclass(frozen=True, slots=True)
class OtherParent:
    """A conclusion: `parent`, whom the record's person married, is the other parent of `child`."""

    parent: MentionedPerson
    child: MentionedPerson
    statements: tuple[CheckedFact, ...]
    """The same statement for each quote that it follows from."""


def other_parents(record: CheckedRecord, people: Sequence[MentionedPerson]) -> Iterator[OtherParent]:
    """The other parents of the children among the people that a record names."""
    wed = tuple(person for person in people if person.kind == "spouse")
    for child in (person for person in people if person.kind == "child"):
        born = _birth(child)
        proofs = (
            (parent, proof)
            for mention in child.mentions
            for parent, proof in _proofs(record, mention, wed, born)
            if not check_other_parent(proof, record.fetched.text, *_subject(record))
        )
        for parent, proof in proofs:
            yield OtherParent(parent, child, tuple(_statements(record, proof)))
            break


def _subject(record: CheckedRecord) -> tuple[str, Sex, tuple[str, ...]]:
    reading = record.reading
    return reading.title, reading.sex, (reading.name,) if reading.name else ()


def _proofs(
    record: CheckedRecord,
    child: NamedRelative,
    wed: Sequence[MentionedPerson],
    born: DateRange | None,
) -> Iterator[tuple[MentionedPerson, OtherParentProof]]:
    named = _naming(record.fetched, child.checked.fact)
    if named:
        name = parse_name(named[0])
        meant = [
            person for person in wed if any(is_short_form(name, mention.name, "spouse") for mention in person.mentions)
        ]
        candidates, words = (meant if len(meant) == 1 else []), named[1]
    elif ENGLISH.by_parent.fullmatch(child.checked.fact.locator):
        return  # 'By unknown mother', 'By Ruth or Eve'
    else:
        candidates, words = _by_marriage(record, child.checked.fact, wed, born), None
    for parent in candidates:
        yield parent, OtherParentProof(child.checked.fact, _marriage(parent), born, words)


def _naming(fetched: FetchedRecord, child: ExtractedFact) -> tuple[str, Snippet] | None:
    """The other parent that the words over a child or before its name give, and those words: 'By Ann Hay'."""
    before = child.snippet.words.partition(child.value)[0]
    start = fetched.text.rfind(child.locator, 0, child.snippet.start)
    places = [
        (ENGLISH.joint_parents, before, child.snippet.start),
        (ENGLISH.parent_in_heading, child.locator if start >= 0 else "", start),
        (ENGLISH.joint_parents, *_lead_in(fetched, child.snippet.start)),
    ]
    for pattern, words, at in places:
        found = pattern.search(words)
        if found:
            return found["name"], Snippet(at + found.start(), at + found.end(), found[0])
    return None


def _lead_in(fetched: FetchedRecord, at: int) -> tuple[str, int]:
    """The sentence that introduces the list that an item is in, and where it begins."""
    page = fetched.page
    if page is None:
        return "", 0
    rows = (row for table in page.tables for row in table.rows[:1] if row and row[0].start <= at <= _end(table))
    top = max((row[0].start for row in rows), default=at + 1)
    blocks = [block for block in page.blocks if block.start < top]
    over = next((block for block in reversed(blocks) if block.kind != "item"), None)
    # The last condition holds if the statement is in running text: then the paragraph is its own, and there is no list.
    if over is None or over.kind != "paragraph" or (over is blocks[-1] and top > at):
        return "", 0
    start = max((first for first in page.sentences if first < over.end), default=over.start)
    return fetched.text[start : over.end], start


def _end(table: PageTable) -> int:
    return max((cell.end for row in table.rows for cell in row), default=0)


def _by_marriage(
    record: CheckedRecord, child: ExtractedFact, wed: Sequence[MentionedPerson], born: DateRange | None
) -> list[MentionedPerson]:
    """The only spouse who can be meant: of the couple that 'had a son', by the dates, or as no other is mentioned."""
    # A wife who is only a first name may be one of the others.
    known = [person for person in wed if _is_identified(person)] or list(wed)
    if ENGLISH.couple.match(child.snippet.words.rpartition(". ")[2]) or ENGLISH.couple.match(child.snippet.words):
        return _told_just_before(child, known) or (known if len(known) == 1 else [])
    is_dated = born is not None and all(_marriage(person).when for person in known)
    if len(known) > 1:
        fitting = [person for person in known if is_of_marriage(born, _marriage(person))]
        return fitting if is_dated and len(fitting) == 1 else []
    # With dates only another marriage matters, as the birth must fall into this one; without them, any other union.
    others = ENGLISH.several_marriages if is_dated else ENGLISH.other_unions
    has_mistress = record.reading.sex != "female" and not is_dated and _tells_of_mistresses(record.fetched, child)
    return [] if has_mistress or others.search(record.fetched.text) else known


def _tells_of_mistresses(fetched: FetchedRecord, child: ExtractedFact) -> bool:
    """Whether a child may be a mistress's: a section that lists the children would say so, other places would not."""
    page = fetched.page
    sections = [section for section in page.sections if section.start <= child.snippet.start] if page else []
    section = sections[-1] if sections else None
    listed = section is not None and ENGLISH.sections["children"].fullmatch(section.heading)
    start, end = (section.heading_start, section.end) if section and listed else (0, len(fetched.text))
    return bool(ENGLISH.mistresses.search(fetched.text, start, end))


def _told_just_before(child: ExtractedFact, wed: Sequence[MentionedPerson]) -> list[MentionedPerson]:
    """Whose marriage was mentioned last before 'They had two sons'."""
    ends = [
        (mention.checked.fact.snippet.end, at)
        for at, person in enumerate(wed)
        for mention in person.mentions
        if 0 <= child.snippet.start - mention.checked.fact.snippet.end < JUST_BEFORE
    ]
    return [wed[max(ends)[1]]] if ends else []


def _is_identified(person: MentionedPerson) -> bool:
    """Whether more than a first name is known: 'May' beside 'Mary of Teck' may be the same wife."""
    name = person.mentions[0].name
    return bool(person.address or name.surname or name.byname or len(name.given) > 1)


def _marriage(person: MentionedPerson) -> ExtractedFact:
    """The statement about the marriage that has its dates, or else the first."""
    facts = [mention.checked.fact for mention in person.mentions if mention.checked.fact.field == "spouse"]
    return next((fact for fact in facts if fact.when), facts[0] if facts else person.mentions[0].checked.fact)


def _birth(child: MentionedPerson) -> DateRange | None:
    about = (checked for mention in child.mentions for checked in mention.checked.relative_facts)
    return next(
        (item.fact.when for item in about if item.fact.field == "birth_date" and item.status != "rejected"), None
    )


def _statements(record: CheckedRecord, proof: OtherParentProof) -> Iterator[CheckedFact]:
    """The conclusion once with each of its quotes."""
    status: Status = "verified" if proof.named_by else "unverified"
    factor = NAMED if proof.named_by else INFERRED
    because = "two quotes: whose child it is, and to whom that parent was married"
    quotes = [(proof.child.snippet, proof.child.locator), (proof.spouse.snippet, proof.spouse.locator)]
    quotes += [(proof.named_by, proof.child.locator)] if proof.named_by else []
    accepted = {checked.fact: checked for checked in record.accepted}
    child, spouse = accepted[proof.child], accepted[proof.spouse]
    for snippet, locator in dict.fromkeys(quotes):
        fact = replace(
            proof.child,
            snippet=snippet,
            locator=locator,
            target="",
            rationale=because,
            relative_facts=(),
            confidence=min(child.fact.confidence, spouse.fact.confidence) * factor,
        )
        yield replace(
            child,
            fact=fact,
            status=status,
            confidence=round(min(child.confidence, spouse.confidence) * factor, 4),
            relative_facts=(),
        )
