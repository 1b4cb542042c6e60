"""A pronoun on a page with what stands before it: what the reading model is asked about it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kiwiresearch.claims.names import names_in, without_stops
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.reader.form import TITLE, Mention, Text
from kiwiresearch.text.fold import fold
from kiwiresearch.text.words import POSSESSIVE

if TYPE_CHECKING:
    from kiwiresearch.reader.reader import Reader

SENTENCES_BEFORE = 4
PERSONAL = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)
NEUTRAL = re.compile(r"its?", re.IGNORECASE)
OPENING = 8
"""A page whose first sentences, so many, have at least `FEW` personal pronouns is about somebody."""
FEW, MANY = 2, 4


@dataclass(frozen=True, slots=True)
class Context:
    """A pronoun in the last sentence of a text, and the names it may mean, the title among them."""

    text: Text
    at: int
    end: int
    names: tuple[Mention, ...]
    places: tuple[tuple[int, int], ...]
    """Where each name stands on the page; for the title, at no place."""

    def words(self, name: Mention) -> str:
        """A name as it is written, without a possessive."""
        whole = self.text.title if name.unit == TITLE else self.text.units[name.unit]
        return POSSESSIVE.sub("", whole[name.start : name.end])


def context_of(page: PageDoc, start: int, end: int) -> Context:
    """The pronoun at `page.text[start:end]`, with its sentence, some before it, and the names in them."""
    own = bisect_right(page.sentences, start) - 1
    ends = (*page.sentences[1:], len(page.text))
    spans = list(zip(page.sentences, ends, strict=True))[max(0, own - SENTENCES_BEFORE) : own + 1]
    units = tuple(page.text[first:last].rstrip() for first, last in spans)
    at = start - spans[-1][0]
    names = [
        Mention(number, name[0].start, name[-1].end)
        for number, unit in enumerate(units)
        if without_stops(unit) == unit
        for name in names_in(unit, page.language)
        if number < len(units) - 1 or name[-1].end <= at
    ]
    places = [(spans[one.unit][0] + one.start, spans[one.unit][0] + one.end) for one in names]
    if _may_mean_title(page, page.text[start:end]):
        names.append(Mention(TITLE, 0, len(page.title)))
        places.append((-1, -1))
    return Context(Text(page.title, "", units), at, at + end - start, tuple(names), tuple(places))


def _may_mean_title(page: PageDoc, pronoun: str) -> bool:
    """Whether "he" can mean what the page is about: not where it is about a thing; nor "it" where about a person."""
    opening = page.text[: page.sentences[OPENING]] if len(page.sentences) > OPENING else page.text
    count = len(PERSONAL.findall(opening))
    if PERSONAL.fullmatch(pronoun):
        return count >= FEW
    return not NEUTRAL.fullmatch(pronoun) or count < MANY


@dataclass(frozen=True, slots=True)
class Meant:
    """What a pronoun means, in the words of the longest name for it, and how sure that is, from 0 to 1."""

    name: str
    confidence: float


def meant(reader: Reader, context: Context) -> Meant:
    """The name that a pronoun most likely means; what is likely of "Newton" is likely of "Isaac Newton" too."""
    shares: dict[str, float] = {}
    for name, share in zip(
        context.names, reader.referents(context.text, context.at, context.end, context.names), strict=True
    ):
        words = context.words(name)
        shares[words] = shares.get(words, 0.0) + share
    folded = {name: fold(name).split() for name in shares}

    def whole(name: str) -> float:
        return sum(shares[one] for one in shares if _is_short_for(folded[one], folded[name]))

    best = max(shares, key=lambda name: (round(whole(name), 6), -len(name), name), default="")
    return Meant(best, whole(best) if best else 0.0)


def _is_short_for(short: list[str], name: list[str]) -> bool:
    """As "Newton" is for "Isaac Newton", but not "Porgy" for "Porgy and Bess"."""
    return short == name or ("and" not in name and short in (name[: len(short)], name[-len(short) :]))
