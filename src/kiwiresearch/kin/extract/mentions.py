"""Where a sentence names the page's person, and not somebody else who bears a part of that name."""

from __future__ import annotations

from kiwiresearch.kin.extract.patterns import Match, regex
from kiwiresearch.kin.extract.pronouns import RELATIVE_NAMED, Capitals
from kiwiresearch.kin.extract.spans import CAP
from kiwiresearch.kin.extract.subject import Sentence, Subject
from kiwiresearch.kin.names import name_words
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.text.fold import fold


def is_mention(page: PageDoc, sentence: Sentence, found: Match, subject: Subject, capitals: Capitals) -> bool:
    """Whether a match of the subject's name is not a part of another's."""
    text, start, at = page.text, sentence.start, found.start()
    if not _is_whole(text, start, at, capitals) or _is_of_spouse(found[0], subject):
        return False
    if _is_otherwise_titled(page, start, at, subject):
        return False
    told = RELATIVE_NAMED.search(text, start, at)
    return not (told and "," not in told[0]) and not WIFE_NAMED.search(text[start:at])


def _is_whole(text: str, start: int, at: int, capitals: Capitals) -> bool:
    """Whether a name is not the end of somebody else's: 'Hulagu Khan', 'Dafydd ap Llywelyn'."""
    before = regex.search(r"([\p{L}\p{M}'’\-]+\.?)\s+$", text[start:at])
    if not before:
        return True
    word = before[1]
    if word in PARTICLES_BEFORE:
        return False
    plain = fold(word)
    known = name_words()
    if not word[0].isupper() or plain in known.honorifics or plain in known.particles:
        return True
    return before.start() == 0 and plain in capitals.small and plain not in known.male and plain not in known.female


def _is_of_spouse(mention: str, subject: Subject) -> bool:
    """'Mrs. Carter', on the page of Mr. Carter."""
    title = mention.split()[0].rstrip(".").lower()
    known = name_words()
    return title in {"male": known.female_titles, "female": known.male_titles}.get(subject.sex, frozenset())


def _is_otherwise_titled(page: PageDoc, start: int, at: int, subject: Subject) -> bool:
    """'Earl Carter', on the page of a Carter whom the lead calls no earl: it may be a first name."""
    before = regex.search(r"(\p{Lu}\p{Ll}+)\s+$", page.text[start:at])
    if not before or fold(before[1]) not in name_words().honorifics:
        return False
    return before[1].lower() not in page.text[subject.opening.start : subject.opening.end].lower()


WIFE_NAMED = regex.compile(r"(?<!^With )\b(?:his|her)\s+(?:\p{Ll}+\s+)?(?:wife|husband|queen|consort),?\s+$")
"""'his wife, Queen Anna', on the page of another Anna."""
WITH_ANOTHER = regex.compile(
    rf"\s+and\s+(?:(?:his|her)\s+(?:wife|husband),?\s+)?{CAP}(?:\s+{CAP}){{0,2}}['’]s?"
    r"(?=\s+(?:\p{Ll}+\s+){0,2}(?:sons?|daughters?|child|children)\b)"
)
"""'Carter and Ruth's first son'."""
PARTICLES_BEFORE = frozenset(
    ["ap", "ab", "ferch", "verch", "ibn", "bin", "bint", "mac", "van", "von", "de", "da", "di", "af", "y", "e", "la"]
)
