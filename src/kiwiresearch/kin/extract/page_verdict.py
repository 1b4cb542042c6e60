"""Decides whether a page is about one real person."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.extract.life_dates import opening_lifespan
from kiwiresearch.kin.extract.subject import ArticlePerson, speaks_of_person
from kiwiresearch.kin.language import ENGLISH, regex
from kiwiresearch.kin.names import name_words
from kiwiresearch.page import PageDoc
from kiwiresearch.text import fold

NON_PERSON_REASONS = {
    "surname": "it is about a name",
    "fiction": "it is about a fictional character",
    "myth": "it is about a mythical figure",
    "several": "it is about several people or a family",
    "animal": "it is about an animal",
    "work": "it is not about a person",
}
VITAL = frozenset({"birth", "death", "birth_place", "death_place", "father", "mother", "spouse", "baptism", "burial"})
LIFE = frozenset({"birth", "death", "birth_place", "death_place", "baptism"})
FIRST_SENTENCE_LENGTH = 330


@dataclass(frozen=True, slots=True)
class PersonVerdict:
    """Whether a page is about a person, and the reason."""

    is_person: bool
    why: str


def judge_page(page: PageDoc, subject: ArticlePerson) -> PersonVerdict:
    """Boxes and the first sentence decide; in doubt it is not about a person."""
    exclusion = _exclusion_reason(page, subject)
    if exclusion:
        return PersonVerdict(is_person=False, why=exclusion)
    labels = {ENGLISH.label_kind(row.key) for box in page.infoboxes[:2] for row in box.rows}
    first = _first_sentence(page, subject)
    person_noun = _human_noun(first)
    personal = speaks_of_person(page, subject.opening)
    lifespan = opening_lifespan(page, subject)
    if labels & LIFE and (personal or person_noun or lifespan):
        return PersonVerdict(is_person=True, why=f"an infobox with {', '.join(sorted(labels & VITAL))}")
    exact = bool(lifespan and lifespan[0].birth and lifespan[0].birth.precision == "day" and subject.sex)
    is_plural = ENGLISH.plural_lead.match(first)
    if lifespan and (personal or person_noun or exact) and not is_plural and _opens_with_name(page, subject):
        return PersonVerdict(is_person=True, why="dates after the name in the introduction")
    if person_noun and personal and _opens_with_name(page, subject):
        return PersonVerdict(is_person=True, why=f"the introduction says {person_noun!r}")
    return PersonVerdict(is_person=False, why="it does not describe the life of one person")


MAX_NOUN_GAP = 95
"""How far after 'was a' the noun for the person may be."""


def _human_noun(first: str) -> str:
    """The noun after 'was a …' that calls the subject a person; empty if there is none."""
    for called in ENGLISH.called_a.finditer(first):
        found = ENGLISH.human.search(first, called.end(), min(len(first), called.end() + MAX_NOUN_GAP))
        before = first[called.end() : found.start()] if found else ""
        if found and not _is_of_thing(first[found.end() :]) and not ENGLISH.preposition_word.search(before):
            return found[0].lower()
    return ""


def _is_of_thing(after: str) -> bool:
    """Whether the noun for a person only describes a thing: 'a spy comedy film', 'man-made'."""
    thing = ENGLISH.thing_noun.match(after)
    return thing is not None and not ENGLISH.human.match(after[thing.end() :].lstrip())


def _opens_with_name(page: PageDoc, subject: ArticlePerson) -> bool:
    """Whether the first words are the name, and not 'In an abbey'."""
    head = page.text[subject.opening.start : subject.opening.start + 90].split()[:9]
    if " ".join(head).startswith(f"The {page.title} "):
        return False  # an office, or a unique thing
    # 'Lighting designer' is not a name: all its words but particles have capitals.
    particles = name_words().particles | {"and"}
    words = [word.partition("-")[0] for word in page.title.split()]
    is_capitalised = all(word[:1].isupper() or not word[:1].isalpha() or word in particles for word in words)
    return is_capitalised and bool(subject.name_tokens & {fold(word) for word in head if not word.islower()})


def _exclusion_reason(page: PageDoc, subject: ArticlePerson) -> str:
    """Why the page is surely not about one person; empty if nothing excludes it."""
    if page.redirect or not page.text.strip():
        return "the page is empty"
    if page.signals.disambiguation:
        return "it is a disambiguation page"
    if page.signals.list_page:
        return "it is a list"
    if ENGLISH.group_title.search(page.title):
        return f"the title does not name one person: {page.title!r}"
    if ENGLISH.title_of_two.search(page.title.split(",")[0]):
        return NON_PERSON_REASONS["several"]
    if ENGLISH.ship.match(page.title) or ENGLISH.qualified_thing.search(page.title):
        return NON_PERSON_REASONS["work"]
    if not subject.opening.end:
        return "no sentence says who the person is"
    rows = {row.key.casefold() for box in page.infoboxes[:2] for row in box.rows}
    if rows & ENGLISH.words["character_rows"] and not rows & {"born", "died"}:
        return NON_PERSON_REASONS["fiction"]
    if rows & ENGLISH.words["group_rows"] and "members" in " ".join(rows):
        return NON_PERSON_REASONS["several"]
    first = _first_sentence(page, subject)
    person_noun = _human_noun(first)
    for kind, pattern in ENGLISH.kinds:
        found = pattern.search(first)
        if not found:
            continue
        if kind in ("several", "work", "animal"):
            # 'was a film director', 'was king of the people of': the noun describes a person.
            if not person_noun and not ENGLISH.human.search(first, found.start(), min(len(first), found.end() + 40)):
                return NON_PERSON_REASONS[kind]
        elif kind != "myth" or person_noun in ENGLISH.words["heroes"] | {""}:
            return NON_PERSON_REASONS[kind]
    return ""


def _first_sentence(page: PageDoc, subject: ArticlePerson) -> str:
    """The first sentence of the opening without its brackets, cut to `FIRST_SENTENCE_LENGTH`."""
    text = page.text[subject.opening.start : subject.opening.end][:1_500]
    # Brackets inside brackets are removed from the inside outwards.
    while (plain := regex.sub(r"\([^()]*\)", " ", text)) != text:
        text = plain
    text = regex.sub(r"\s+", " ", text)
    stop = regex.search(r"(?<=[\p{Ll}\d\])])\.\s+(?=\p{Lu})", text)
    # An early stop is that of an abbreviation, as in 'St. John'.
    return str(text[: stop.start() if stop and stop.start() > 40 else len(text)])[:FIRST_SENTENCE_LENGTH]
