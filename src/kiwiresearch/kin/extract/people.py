"""Which pages are about one real person, and what told."""

from __future__ import annotations

from dataclasses import dataclass

from kiwiresearch.kin.extract.life_dates import opening_lifespan
from kiwiresearch.kin.extract.subject import PageSubject, speaks_of_person
from kiwiresearch.kin.language import ENGLISH, FamilyWords, label_kind, regex
from kiwiresearch.kin.names import name_words
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.words import fold

NON_PERSON_REASONS = {
    "surname": "a page about a name, not about a person",
    "fiction": "a fictional character",
    "myth": "a figure of myth",
    "several": "about several people or a family",
    "animal": "about an animal",
    "work": "about something that is no person",
}
VITAL = frozenset({"birth", "death", "birth_place", "death_place", "father", "mother", "spouse", "baptism", "burial"})
LIFE = frozenset({"birth", "death", "birth_place", "death_place", "baptism"})
FIRST_SENTENCE_LENGTH = 330


@dataclass(frozen=True, slots=True)
class PersonVerdict:
    """Whether a page is about a person, and why one thinks so."""

    is_person: bool
    why: str


def judge_page(page: PageDoc, subject: PageSubject, words: FamilyWords) -> PersonVerdict:
    """Boxes and the first sentence decide; what can be read both ways is no person."""
    against = _against(page, subject, words)
    if against:
        return PersonVerdict(is_person=False, why=against)
    labels = {label_kind(row.key, words) for box in page.infoboxes[:2] for row in box.rows}
    first = _first_sentence(page, subject)
    human = _is_called_human(first, words)
    talk = speaks_of_person(page, subject.opening)
    if labels & LIFE and (talk or human or opening_lifespan(page, subject)):
        return PersonVerdict(is_person=True, why=f"a box with {', '.join(sorted(labels & VITAL))}")
    lifespan = opening_lifespan(page, subject)
    exact = bool(lifespan and lifespan[0].birth and lifespan[0].birth.precision == "day" and subject.sex)
    if lifespan and (talk or human or exact) and not _is_plural(first) and _opens_with_name(page, subject):
        return PersonVerdict(is_person=True, why="dates in brackets behind the name in the lead")
    if human and talk and _opens_with_name(page, subject):
        return PersonVerdict(is_person=True, why=f"the lead says what the person was: {human!r}")
    return PersonVerdict(is_person=False, why="nothing tells of one person's life")


REACH = 95


def _is_called_human(first: str, words: FamilyWords) -> str:
    """The noun by which 'was a …' calls the subject a person; empty if none does."""
    for called in ENGLISH.called_a.finditer(first):
        found = words.human.search(first, called.end(), min(len(first), called.end() + REACH))
        before = first[called.end() : found.start()] if found else ""
        if found and not _is_of_thing(first[found.end() :], words) and not ENGLISH.preposition_word.search(before):
            return found[0].lower()
    return ""


def _is_of_thing(behind: str, words: FamilyWords) -> bool:
    """'a spy comedy film', 'man-made': the noun for a person only tells of what kind a thing is."""
    thing = ENGLISH.thing_noun.match(behind)
    return thing is not None and not words.human.match(behind[thing.end() :].lstrip())


def _is_plural(first: str) -> bool:
    return bool(ENGLISH.plural_lead.match(first))


def _opens_with_name(page: PageDoc, subject: PageSubject) -> bool:
    """Whether the first words are the name, and not 'In an abbey'."""
    head = page.text[subject.opening.start : subject.opening.start + 90].split()[:9]
    if " ".join(head).startswith(f"The {page.title} "):
        return False  # an office, or a thing there is one of
    return bool(subject.name_tokens & {fold(word) for word in head if not word.islower()}) and _capitalised(page.title)


def _capitalised(title: str) -> bool:
    """'Lighting designer' is no name."""
    small = name_words().particles | {"and"}
    words = (word.partition("-")[0] for word in title.split())
    return all(word[:1].isupper() or not word[:1].isalpha() or word in small for word in words)


def _against(page: PageDoc, subject: PageSubject, words: FamilyWords) -> str:
    if page.redirect or not page.text.strip():
        return "an empty page"
    if page.signals.disambiguation:
        return "a disambiguation page"
    if page.signals.list_page:
        return "a list"
    if words.group_title.search(page.title):
        return f"the title names no single person: {page.title!r}"
    if ENGLISH.title_of_two.search(page.title.split(",")[0]):
        return NON_PERSON_REASONS["several"]
    if ENGLISH.ship.match(page.title) or ENGLISH.qualified_thing.search(page.title):
        return NON_PERSON_REASONS["work"]
    if not subject.opening.end:
        return "no sentence says who it is"
    rows = {row.key.casefold() for box in page.infoboxes[:2] for row in box.rows}
    if rows & ENGLISH.words["character_rows"] and not rows & {"born", "died"}:
        return NON_PERSON_REASONS["fiction"]
    if rows & ENGLISH.words["group_rows"] and "members" in " ".join(rows):
        return NON_PERSON_REASONS["several"]
    first = _first_sentence(page, subject)
    for kind, pattern in words.kinds:
        found = pattern.search(first)
        if not found or (
            kind in ("several", "work", "animal") and _said_of_person(first, found.start(), found.end(), words)
        ):
            continue
        if kind != "myth" or _is_called_human(first, words) in ENGLISH.words["heroes"] | {""}:
            return NON_PERSON_REASONS[kind]
    return ""


def _said_of_person(first: str, start: int, end: int, words: FamilyWords) -> bool:
    """'was a film director', 'was king of the people of': the noun in question belongs to a person."""
    return bool(_is_called_human(first, words) or words.human.search(first, start, min(len(first), end + 40)))


def _first_sentence(page: PageDoc, subject: PageSubject) -> str:
    """The opening without its brackets, up to where it stops telling what the subject is."""
    text = page.text[subject.opening.start : subject.opening.end][:1_500]
    while True:
        plain = regex.sub(r"\([^()]*\)", " ", text)
        if plain == text:
            break
        text = plain
    text = regex.sub(r"\s+", " ", text)
    stop = regex.search(r"(?<=[\p{Ll}\d\])])\.\s+(?=\p{Lu})", text)
    return str(text[: stop.start() if stop and stop.start() > 40 else len(text)])[:FIRST_SENTENCE_LENGTH]
