"""A pronoun on a page, and the name before it that the reading model takes it to mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kiwiresearch.claims import names_in, without_dots_in_initials
from kiwiresearch.reader import TITLE_UNIT, Mention, TextToRead
from kiwiresearch.text import POSSESSIVE, fold, without_qualifier

if TYPE_CHECKING:
    from kiwiresearch.reader import Reader

SENTENCES_BEFORE = 4
MIN_CONFIDENCE = 0.985
"""The lowest confidence at which a choice is used."""
MIN_SHARE = 0.02
"""A name with a smaller share than this is not treated as the full form of a shorter, likely name."""

HE_PATTERN, SHE_PATTERN = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in ("he|him|his", "she|her|hers"))
PERSONAL_PRONOUN_PATTERN = re.compile(rf"{HE_PATTERN.pattern}|{SHE_PATTERN.pattern}", re.IGNORECASE)
MIN_PRONOUNS = 2
"""A text with at least this many personal pronouns of one gender is about a person."""


@dataclass(frozen=True, slots=True)
class PronounContext:
    """A pronoun in the last sentence of a text, and the names it may mean, the title among them."""

    text: TextToRead
    at: int
    end: int
    names: tuple[Mention, ...]

    def words(self, name: Mention) -> str:
        """A name as written, without a possessive."""
        text = self.text.title if name.unit == TITLE_UNIT else self.text.units[name.unit]
        return POSSESSIVE.sub("", text[name.start : name.end])


def context_in(
    text: TextToRead, at: int, end: int, around: str, language: str, *, with_title: bool = True
) -> PronounContext:
    """The pronoun at `text.units[-1][at:end]`, with the names before it that it may mean, and perhaps the title.

    `around` is the surrounding text; if it is about a woman, her names are not candidates for "he".
    """
    last = len(text.units) - 1
    names = [
        Mention(index, name[0].start, name[-1].end)
        for index, unit in enumerate(text.units)
        # Names are read without the dots of 'U.S.', which would shift the offsets of everything after it.
        if without_dots_in_initials(unit) == unit
        for name in names_in(unit, language)
        if index < last or name[-1].end <= at
    ]
    is_about_other = _is_about_other(around, text.units[-1][at:end])
    context = PronounContext(text, at, end, (*names, Mention(TITLE_UNIT, 0, len(text.title))))
    if with_title and not is_about_other:
        return context
    title = fold(without_qualifier(text.title)).split()

    def is_title(name: Mention) -> bool:
        words = fold(context.words(name)).split()
        return words == title or (is_about_other and set(words) <= set(title))

    return replace(context, names=tuple(name for name in names if not is_title(name)))


def _is_about_other(text: str, pronoun: str) -> bool:
    """Whether a text is about a woman and the pronoun is "he", or about a man and it is "she"."""
    he, she = len(HE_PATTERN.findall(text)), len(SHE_PATTERN.findall(text))
    own, other = (he, she) if HE_PATTERN.fullmatch(pronoun) else (she, he)
    return bool(PERSONAL_PRONOUN_PATTERN.fullmatch(pronoun)) and other >= MIN_PRONOUNS and own < other


@dataclass(frozen=True, slots=True)
class Referent:
    """The referent of a pronoun, by its longest name, and the probability."""

    name: str
    confidence: float


def likely_referent(reader: Reader, context: PronounContext) -> Referent:
    """The name that a pronoun most likely means; "Newton" counts for "Isaac Newton" too."""
    shares: dict[str, float] = {}
    for name, share in zip(
        context.names, reader.referents(context.text, context.at, context.end, context.names), strict=True
    ):
        words = context.words(name)
        shares[words] = shares.get(words, 0.0) + share
    folded = {name: fold(name).split() for name in shares}

    def with_short_forms(name: str) -> float:
        if shares[name] < MIN_SHARE:
            return shares[name]  # "Newton" is not short for "Newton's Cradle"
        return sum(shares[short] for short in shares if _is_short_for(folded[short], folded[name]))

    # Of 'Newton' and 'Isaac Newton' the sums differ, since only the full name collects the short one; ties are resolved
    # by length and spelling, so that the order of the names does not matter.
    best = max(shares, key=lambda name: (round(with_short_forms(name), 6), -len(name), name), default="")
    return Referent(best, with_short_forms(best) if best else 0.0)


def _is_short_for(short: list[str], name: list[str]) -> bool:
    """Whether a name is short for another: "Newton" for "Isaac Newton", but not "Porgy" for "Porgy and Bess"."""
    return short == name or ("and" not in name and short in (name[: len(short)], name[-len(short) :]))
