"""From a page to the person it is about: the way into this package."""

from __future__ import annotations

from collections.abc import Iterable

from kiwiresearch.kin.extract.boxes import box_facts
from kiwiresearch.kin.extract.events import event_facts
from kiwiresearch.kin.extract.families import family_facts
from kiwiresearch.kin.extract.hypotheses import hypotheses_of
from kiwiresearch.kin.extract.lead import lead_facts
from kiwiresearch.kin.extract.people import told_person
from kiwiresearch.kin.extract.prose import prose_facts
from kiwiresearch.kin.extract.subject import subject_of
from kiwiresearch.kin.extract.words import family_words
from kiwiresearch.kin.extracted import Extracted, ReadPerson
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold


def read_person(page: PageDoc) -> ReadPerson:
    """What the page says about its person, by rule alone.

    Never raises. A page in a language without a file of words is told to be unread,
    since figures alone do not say what happened on a day.
    """
    words = family_words(page.language)
    if words is None:
        return ReadPerson(page.ref, page.title, is_person=False, why=f"no words to read pages in {page.language!r} by")
    subject = subject_of(page)
    told = told_person(page, subject, words)
    if not told.is_person:
        return ReadPerson(page.ref, page.title, is_person=False, why=told.why)
    sure = (*box_facts(page, subject, words), *lead_facts(page, subject))
    prose = tuple(prose_facts(page, subject, words))
    spouses = {fold(fact.value) for fact in (*sure, *prose) if fact.field == "spouse" and " " in fact.value}
    facts = _once(
        (
            *sure,
            *event_facts(page, subject, words, frozenset(fact.field for fact in sure)),
            *(fact for fact in family_facts(page, subject, words) if not _heads(fact, spouses)),
            *prose,
        )
    )
    return ReadPerson(
        page.ref,
        page.title,
        is_person=True,
        why=told.why,
        name=subject.name,
        sex=subject.sex,
        facts=facts,
        hypotheses=hypotheses_of(page, subject, facts),
    )


def _heads(fact: Extracted, spouses: set[str]) -> bool:
    """Whether an item of a list of children is the wife who bore those below; a daughter has dates behind her name."""
    return fold(fact.value) in spouses and fact.snippet.words.endswith(fact.value)


def _once(facts: Iterable[Extracted]) -> tuple[Extracted, ...]:
    """Each value of a field at most once from one place."""
    kept: dict[tuple[str, str, int, int], Extracted] = {}
    for fact in facts:
        kept.setdefault((fact.field, fact.value, fact.snippet.start, fact.snippet.end), fact)
    return tuple(kept.values())
