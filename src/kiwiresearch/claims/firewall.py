"""What keeps a sentence of a model out: it is empty, too long, or says what its sources do not say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from kiwiresearch.claims.facts import FactKind, unsupported_facts
from kiwiresearch.claims.names import key_of
from kiwiresearch.claims.wording import wording_of
from kiwiresearch.text.hedges import hedges_in
from kiwiresearch.text.stem import stemmer
from kiwiresearch.text.words import words_in

Fault = Literal[
    "empty",
    "too long",
    "unresolved pronoun",
    "number not in its sources",
    "date not in its sources",
    "name not in its sources",
    "holder not in its sources",
    "hedge dropped",
    "denial changed",
    "other words",
]
LONGEST = 300
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
OF_FACTS: dict[FactKind, Fault] = {
    "number": "number not in its sources",
    "date": "date not in its sources",
    "name": "name not in its sources",
}


def fault_of(
    text: str, sources: Sequence[str], language: str = "eng", *, hedged: bool, share: float, longest: int = LONGEST
) -> Fault | None:
    """The first thing that is wrong with a sentence; None lets it through.

    `hedged` says that its sources hold back, so it must too; `share` is how many of its words
    that carry meaning must come from the sources, whatever their endings.
    """
    if not any(char.isalpha() for char in text):
        return "empty"
    if len(text) > longest:
        return "too long"
    if begins_with_pronoun(text, language):
        return "unresolved pronoun"
    wrong = unsupported_facts(text, sources, language)
    if wrong:
        return OF_FACTS[wrong[0].kind]
    if _brings_in_holders(text, sources, language):
        return "holder not in its sources"
    if hedged and not hedges_in(text, language):
        return "hedge dropped"
    if _changes_denial(text, sources, language):
        return "denial changed"
    return "other words" if shared_words(text, sources, language) < share else None


def begins_with_pronoun(text: str, language: str = "eng") -> bool:
    """Whether the first words stand for something that was said before."""
    wording = wording_of(language)
    first = [word.lower() for word in WORD.findall(text[:80])[:2]]
    if not first or wording.expletive.match(text):
        return False
    if first[0] in wording.articles:
        return first[-1] in wording.pointing
    return first[0].partition("'")[0].partition("’")[0] in wording.pronouns


def denies(text: str, language: str = "eng") -> bool:
    """Whether a text says that something is not so."""
    wording = wording_of(language)
    words = [word.lower().replace("’", "'") for word in WORD.findall(text)]
    return any(
        word in wording.denials or (wording.contraction and word.endswith(wording.contraction)) for word in words
    )


def _brings_in_holders(text: str, sources: Sequence[str], language: str) -> bool:
    """'Some scholars believe', where no source tells of scholars."""
    holders = wording_of(language).holders
    told = {word for source in sources for word in _small_words(source)}
    return any(word in holders and word not in told for word in _small_words(text))


def _small_words(text: str) -> list[str]:
    return [word.lower().replace("’", "'") for word in WORD.findall(text)]


def _changes_denial(text: str, sources: Sequence[str], language: str) -> bool:
    """A denial that no source has, or none where every source has one."""
    denied = [denies(source, language) for source in sources]
    return not any(denied) if denies(text, language) else bool(denied) and all(denied)


def shared_words(text: str, sources: Sequence[str], language: str = "eng") -> float:
    """Which share of the words that carry meaning stand in the sources, whatever their endings."""
    mine = content_stems(text, language)
    theirs = {stem for source in sources for stem in content_stems(source, language)}
    return len(mine & theirs) / len(mine) if mine else 1.0


def content_stems(text: str, language: str = "eng") -> frozenset[str]:
    """The stems of the words of a text that carry meaning."""
    common, stem = wording_of(language).common, stemmer(language)
    return frozenset(stem(word) for word in words_in(text) if key_of(word) not in common and not word[0].isdigit())
