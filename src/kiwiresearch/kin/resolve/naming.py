"""Names as the resolver compares them: the first name, the others, and what tells namesakes apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

import jellyfish
from rapidfuzz.distance import JaroWinkler

from kiwiresearch.kin.names import name_words, parse_name
from kiwiresearch.text.fold import fold

SIGNS = str.maketrans("/_", "  ")
ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
NUMBER = re.compile(r"\b\d{1,2}\b")
"""Of children without a name: 'Son 2'."""
NOBODY = """
unknown unnamed nn n infant child baby boy girl twin stillborn daughter dau son private living none someone anonymous
"""
NO_NAMES = frozenset(NOBODY.split())
"""What stands in place of a name that nobody knows."""
JOINING = "of the and de du des la le les von van der den zu zum del della di da dos y e"
SMALL = frozenset(JOINING.split())
INITIAL = 0.75
"""How alike a name and its initial are taken to be."""
VARIANT = 0.95
"""How alike two forms of one name are: 'William' and 'Wilhelm'."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in parts, folded."""

    given: str = ""
    rest: tuple[str, ...] = ()
    numerals: frozenset[int] = frozenset()
    generation: str = ""
    """'junior' or 'senior'."""
    ordinals: frozenset[str] = frozenset()
    """Numbers of a title: '3rd' of '3rd Earl of Salisbury'."""

    @property
    def tokens(self) -> tuple[str, ...]:
        return (self.given, *self.rest) if self.given else self.rest


@lru_cache(maxsize=65_536)
def parsed(text: str) -> Name:
    """A name as written, without titles and small words."""
    name = parse_name(text.translate(SIGNS))
    generation = name.generation
    numerals = {name.regnal} - {0}
    if generation.isdigit():
        numerals.add(int(generation))
        generation = ""
    given = _words(*name.given[:1])
    rest = _words(*name.given[1:], name.patronymic, name.surname, name.maiden, name.nickname, name.byname)
    is_known = bool(given) and given[0] not in NO_NAMES
    tokens = dict.fromkeys((*given[is_known:], *rest))
    ordinals = frozenset(ORDINAL.findall(fold(" ".join(name.titles))) + ([] if is_known else NUMBER.findall(text)))
    first = given[0] if is_known else ""
    others = tuple(token for token in tokens if token not in NO_NAMES and token != first)
    return Name(first, others, frozenset(numerals), generation, ordinals)


def _words(*parts: str) -> list[str]:
    skipped = SMALL | name_words().honorifics | name_words().ranks
    found = [word for part in parts for word in fold(part).split() if not word.isdigit()]
    return [word for word in found if word not in skipped] or found[:1]


@lru_cache(maxsize=262_144)
def likeness(one: str, other: str) -> float:
    """How alike two words of names are, from 0 to 1."""
    if one == other:
        return 1.0
    if len(one) == 1 or len(other) == 1:
        return INITIAL if one[:1] == other[:1] else 0.0
    forms = name_words().pet_groups
    if not forms.get(one, frozenset()).isdisjoint(forms.get(other, frozenset())):
        return VARIANT
    return float(JaroWinkler.similarity(one, other))


@lru_cache(maxsize=65_536)
def sound(word: str) -> str:
    """A word as it sounds, so that spellings meet."""
    return str(jellyfish.metaphone(word)) or word


def sounds(word: str) -> tuple[str, ...]:
    """A word as it sounds, and the names that it is a form of."""
    forms = sorted(name_words().pet_groups.get(word, ()))
    return (sound(word), *(f"form {number}" for number in forms))
