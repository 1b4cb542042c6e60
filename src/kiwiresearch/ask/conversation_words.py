"""The words by which follow-up questions are told in one language, and questions cut into words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.ask.cue_phrases import CuePhrases
from kiwiresearch.claims.wording import wording_of
from kiwiresearch.text.languages import words_of
from kiwiresearch.text.words import POSSESSIVE, WORD

DATA = files("kiwiresearch.ask") / "data" / "conversation"


class Token(NamedTuple):
    """A word of a question: as written without a possessive, in small letters, and where."""

    text: str
    low: str
    start: int
    end: int
    owns: bool
    """Whether a possessive 's' was behind it."""


class Name(NamedTuple):
    """A name in a question, from its first token to the one behind its last."""

    text: str
    start: int
    end: int
    first: int
    last: int
    has_article: bool
    preposition: str

    @property
    def spoken(self) -> str:
        return f"the {self.text}" if self.has_article else self.text


@dataclass(frozen=True, slots=True)
class Talk:
    """What is known of a language: sets of words, phrases, and how a question is put."""

    pronouns: Mapping[str, frozenset[str]]
    words: Mapping[str, frozenset[str]]
    relations: Mapping[str, frozenset[str]]
    aspects: frozenset[str]
    phrases: Mapping[str, re.Pattern[str]]
    templates: Mapping[str, str]
    stop_words: frozenset[str]
    common: frozenset[str]
    year: re.Pattern[str]
    """A year, with the word before it that says so."""

    def kind_of(self, word: str) -> str:
        """What a pronoun stands for: male, female, thing, several, place, time, pointing; '' for other words."""
        return next((kind for kind in KINDS if word in self.pronouns[kind]), "")

    def is_content(self, token: Token) -> bool:
        """Whether a word names something: neither a common word nor a verb."""
        low = token.low
        if low in self.stop_words or low in self.words["auxiliaries"] or low in self.words["asking"]:
            return False
        return low not in self.words["verbs"] and low not in self.words["imperatives"] and not low.endswith("ed")

    def names(self, text: str, tokens: Sequence[Token]) -> list[Name]:
        """Runs of capitals, with 'of' and the like inside: 'Battle of Hastings'."""
        found: list[Name] = []
        place = 0
        while place < len(tokens):
            if not self._may_be_name(tokens, place):
                place += 1
                continue
            last = self._name_end(tokens, place)
            before = tokens[place - 1].low if place else ""
            has_article = before in self.words["definite"]
            preposition = tokens[place - 2].low if has_article and place > 1 else before
            start, end = tokens[place].start, tokens[last - 1].end
            found.append(Name(text[start:end], start, end, place, last, has_article, preposition))
            place = last
        return found

    def _name_end(self, tokens: Sequence[Token], place: int) -> int:
        last = place + 1
        while last < len(tokens) and not (tokens[last - 1].owns and tokens[last - 1].low not in self.words["joining"]):
            ahead = last
            while (
                ahead < len(tokens) and ahead - last < JOINED and tokens[ahead].low in self.words["joining"] - {"and"}
            ):
                ahead += 1
            if ahead >= len(tokens) or not self._may_be_name(tokens, ahead):
                break
            if ahead == last and not _adjoins(tokens[last - 1], tokens[last]):
                break
            last = ahead + 1
        return last

    def _may_be_name(self, tokens: Sequence[Token], place: int) -> bool:
        token = tokens[place]
        if not token.text[0].isupper() or token.low in self.words["not_names"] or self.kind_of(token.low):
            return False
        is_common = token.low in self.common or token.low in self.stop_words or token.low in self.words["asking"]
        is_asking = token.low in self.words["auxiliaries"] or token.low in self.words["imperatives"]
        return place > 0 or not (is_common or is_asking or token.low in self.words["verbs"])


KINDS = ("male", "female", "thing", "several", "place", "time", "pointing")
JOINED = 2


def _adjoins(one: Token, other: Token) -> bool:
    return other.start - one.end <= NEAR and not one.owns


NEAR = 2
"""A space, or a full stop and a space."""


def tokens_of(text: str) -> tuple[Token, ...]:
    """The words of a question in order."""
    found = []
    for match in WORD.finditer(text):
        bare = POSSESSIVE.sub("", match[0])
        low = match[0].lower().replace("’", "'")
        owns = bare != match[0] and bare != ""
        if not owns or low.rpartition("'")[0] in ("who", "what", "where", "when", "how", "it", "he", "she", "that"):
            bare, owns = (bare if owns else match[0]), False
            low = low if low.partition("'")[0] not in ("it", "he", "she", "that") else low.partition("'")[0]
        else:
            low = bare.lower()
        found.append(Token(bare, low, match.start(), match.start() + len(bare), owns))
    return tuple(found)


@cache
def talk_of(language: str) -> Talk | None:
    """The table of a language; without one, no question is taken for a follow-up."""
    file = DATA / f"{language}.toml"
    if not (language.isascii() and language.isalpha() and file.is_file()):
        return None
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    phrases = CuePhrases({})
    prepositions, articles = ("|".join(data["words"][name].split()) for name in ("in_years", "definite"))
    return Talk(
        pronouns={kind: frozenset(words.split()) for kind, words in data["pronouns"].items()},
        words={name: frozenset(words.split()) for name, words in data["words"].items()},
        relations={name: frozenset(words.split()) for name, words in data["relations"].items()},
        aspects=frozenset(data["aspects"]["words"].split()),
        phrases={name: phrases.pattern(written) for name, written in data["phrases"].items()},
        templates=data["templates"],
        stop_words=words_of(language).stop_words,
        common=wording_of(language).common,
        year=re.compile(rf"\b(?:(?:{prepositions})\s+)?(?:(?:{articles})\s+)?\d{{3,4}}s?\b", re.IGNORECASE),
    )
