"""Determines the claim type of a sentence, and what its numbers measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kiwiresearch.claims.claim import ClaimType, Measure
from kiwiresearch.claims.language import STRONG_WEIGHT, Grammar, type_cues
from kiwiresearch.text import Quantity, quantities_in
from kiwiresearch.text.dates import DateMention, DateRange, dates_in

PRIORITY: tuple[ClaimType, ...] = (
    "quote", "disputed", "definition", "causal", "comparative", "numeric", "timeline",
)  # fmt: skip
"""The order of preference among equals: the rarer, more specific type wins."""

MIN_TYPE_POINTS = 1.4
"""A sentence with fewer points for every type has none."""
MIN_OTHER_SHARE = 0.75
"""Another type counts too if it has this share of the best one's points."""
MAX_TYPE_POINTS = 4.0

PUNCTUATION = re.compile(r"""[.,;:!?()[\]{}"“”«»…—–/*+=<>|&%$£€°]""")
BLANKED = bytes(ord(" ") if PUNCTUATION.match(chr(code)) else code for code in range(256))
# 'is a bridge', 'was also the capital'; not 'is built', which says what happened instead of what it is.
COPULA = re.compile(r"(?:is|are|was|were)\s+(?:also\s+|both\s+|either\s+)?(an?|the|any|one)\s+(\w+)(?:\s+(\w+))?")
# Words such as 'forest' end in -est without being superlatives.
# 'the largest', 'its most important', 'second highest'; not 'largest' without a determiner.
SUPERLATIVE = re.compile(
    r"\b(?:the|its|their|his|her|\w+['’]s|second|third|fourth)\s+(?:most\s+[a-z]+|least\s+[a-z]+"
    r"|(?!forest|west|east|rest|interest|harvest|conquest|protest|contest|request|test|latest|priest|guest)[a-z]{2,}est)\b"
)
MIN_QUOTED_WORDS = 5
DURATION_UNITS = frozenset({"s"})


TypePoints = dict[ClaimType, float]


class TypedSentence(NamedTuple):
    """The type of a sentence, others it could be, and how clear it is."""

    type: ClaimType
    also: tuple[ClaimType, ...]
    points: float


class SentenceWords(NamedTuple):
    """The words of a sentence, in lower case."""

    all: list[str]
    different: frozenset[str]

    @classmethod
    def of(cls, text: str) -> SentenceWords:
        lowered = text.lower()
        # Most sentences are ASCII, and replacing bytes is five times as fast as replacing characters.
        bare = lowered.encode().translate(BLANKED).decode() if lowered.isascii() else PUNCTUATION.sub(" ", lowered)
        words = bare.split()
        return cls(words, frozenset(words))

    @property
    def padded(self) -> str:
        """All in one string, with a space before and after each."""
        return f" {' '.join(self.all)} "


class SentenceFeatures(NamedTuple):
    """The features that decide the type of a sentence."""

    text: str
    cues: TypePoints
    """Points from cue words."""
    verb: int
    """Where its first verb is; -1 if it has none."""
    quantities: Sequence[Quantity]
    dates: Sequence[DateMention]
    is_about_page: bool
    """Whether its subject is what the page is about."""
    first: bool
    """Whether it opens the page."""
    lead: bool = False
    """Whether it is in the lead."""


def may_have_type(text: str, words: SentenceWords, cues: TypePoints) -> bool:
    """A quick check that rules out most sentences without a type."""
    if '"' in text or "“" in text or "«" in text:
        return True
    for points in cues.values():
        if points >= STRONG_WEIGHT:
            return True
    return not BEING.isdisjoint(words.different) and IS_A.search(text) is not None


BEING = frozenset({"is", "are", "was", "were"})
IS_A = re.compile(r"\b(?:is|are|was|were)\s+(?:also\s+|both\s+|either\s+)?(?:an?|the|any|one)\s")


def type_of(features: SentenceFeatures) -> TypedSentence | None:
    """The type of a sentence; None if it has none that a brief could use."""
    points = type_points(features)
    most = max(points.values())
    if most < MIN_TYPE_POINTS:
        return None
    close = max(MIN_OTHER_SHARE * most, MIN_TYPE_POINTS)
    kinds = [kind for kind in PRIORITY if points.get(kind, 0.0) >= close]
    best = max(kinds, key=points.__getitem__)
    kinds.remove(best)
    return TypedSentence(best, tuple(kinds), round(most, 2))


def type_points(features: SentenceFeatures) -> TypePoints:
    text, points = features.text, dict(features.cues)
    _add(points, "definition", _defining(features))
    if features.quantities:
        _add(points, "numeric", _measuring(features.quantities))
    else:
        # Cue words such as 'population' mean nothing without a number.
        points.pop("numeric", None)
    if features.dates:
        _add(points, "timeline", _dated(features))
    # A strong cue is enough without a date: 'in recent years'.
    elif points.get("timeline", 0.0) < STRONG_WEIGHT:
        points.pop("timeline", None)
    # Few sentences have these letters, and the pattern is slow.
    if ("est" in text or "most" in text or "least" in text) and SUPERLATIVE.search(text):
        _add(points, "comparative", STRONG_WEIGHT / 2)
    if _quoted_words(text) >= MIN_QUOTED_WORDS:
        _add(points, "quote", 2.6 if text[0] in QUOTATION else 1.4)
    else:
        points.pop("quote", None)
    return (
        {kind: min(total, MAX_TYPE_POINTS) for kind, total in points.items()}
        if max(points.values()) > MAX_TYPE_POINTS
        else points
    )


def _add(points: TypePoints, kind: ClaimType, more: float) -> None:
    points[kind] = points.get(kind, 0.0) + more


def cue_points(words: SentenceWords, language: str) -> TypePoints:
    """Points for the strongest cue of each type, and a share for each further one."""
    cues = type_cues(language)
    points: TypePoints = {}
    found = cues.by_word.keys() & words.different
    if not found:
        return points
    padded = words.padded
    if not cues.blank_words.isdisjoint(words.different):
        padded = cues.blank.sub(" — ", padded)
    best: TypePoints = {}
    for word in found:
        for phrase, kind, weight in cues.by_word[word]:
            if phrase in padded:
                points[kind] = points.get(kind, 0.0) + weight
                if weight > best.get(kind, 0.0):
                    best[kind] = weight
    for kind, strongest in best.items():
        if points[kind] != strongest:
            points[kind] = round(strongest + FURTHER_CUE_SHARE * (points[kind] - strongest), 3)
    return points


# The strongest cue of a type counts in full, all others only by this share.
FURTHER_CUE_SHARE = 0.35


def _quoted_words(text: str) -> int:
    """How many words the longest quotation in a sentence has, closed or not."""
    if '"' not in text and "“" not in text and "«" not in text:
        return 0
    straight = text.replace("“", '"').replace("”", '"').replace("«", '"').replace("»", '"')
    # Every second part of the split text is inside quotation marks.
    return max([len(inside.split()) for inside in straight.split('"')[1::2]], default=0)


QUOTATION = '"“«'


def _defining(features: SentenceFeatures) -> float:
    """Points for 'X is a …': more if X is what the page is about."""
    # The lead describes the subject of the page, regardless of its verbs.
    described = MIN_TYPE_POINTS if features.lead and features.is_about_page else 0.0
    found = COPULA.match(features.text, features.verb) if features.verb >= 0 else None
    if found is None:
        return described
    # 'is the largest lake' compares rather than defines.
    if found[1] == "the" and SUPERLATIVE.match(features.text, found.start(1)):
        return 0.5
    return (1.8 if features.is_about_page else 1.4) + (2.0 if features.first else 0.0)


def _measuring(quantities: Sequence[Quantity]) -> float:
    points = 0.0
    for quantity in quantities:
        if quantity.unit in DURATION_UNITS or (not quantity.unit and quantity.high < SMALL_COUNT):
            points += 0.5
        else:
            points += 1.5
    return min(points, 3.0)


# Durations and counts below this say less than measured quantities, so they get fewer points.
SMALL_COUNT = 12


def _dated(features: SentenceFeatures) -> float:
    early = any(mention.start < EARLY_CHARS for mention in features.dates)
    return 1.7 + (0.6 if early else 0.0) + 0.2 * min(len(features.dates) - 1, 3)


EARLY_CHARS = 12


FIGURE = re.compile(r"\d+")
ASCII_FIGURE = re.compile("[0-9]")


class Figures(NamedTuple):
    """The numbers and dates of a sentence."""

    quantities: Sequence[Quantity]
    dates: Sequence[DateMention]


def is_counting(text: str, words: SentenceWords, grammar: Grammar) -> bool:
    """A quick check whether a sentence may have numbers or dates."""
    # A pattern for the ten ASCII digits alone is five times as fast.
    figure = ASCII_FIGURE if text.isascii() else FIGURE
    return figure.search(text) is not None or _has_number_word(words, grammar)


def _has_number_word(words: SentenceWords, grammar: Grammar) -> bool:
    """'Ten years', and also 'a ten-year war'."""
    if not grammar.number_words.isdisjoint(words.different):
        return True
    return any(word.partition("-")[0] in grammar.number_words for word in words.different if "-" in word)


def figures_of(text: str, words: SentenceWords, language: str, grammar: Grammar) -> Figures:
    """The numbers and dates of a sentence; numbers are searched only if some digits are not part of dates."""
    dates = dates_in(text, language)
    spans = [(mention.start, mention.end) for mention in dates]
    only_dates = not _has_number_word(words, grammar) and all(
        any(start <= found.start() < end for start, end in spans) for found in FIGURE.finditer(text)
    )
    return Figures((), dates) if only_dates else Figures(quantities_in(text, language, not_in=spans), dates)


NO_FIGURES = Figures((), ())


CHARS_BEFORE, CHARS_AFTER = 60, 60
WORDS = re.compile(r"[a-z]+")
DATE_PRECISIONS = frozenset({"day", "month", "season", "year", "decade", "century"})


def measures_in(
    text: str, quantities: Sequence[Quantity], dates: Sequence[DateMention], subject: str, grammar: Grammar
) -> tuple[Measure, ...]:
    """The measures of a sentence, in its order."""
    return tuple(
        Measure(quantity, _measured_property(text, quantity, grammar), subject, _when(text, quantity, dates))
        for quantity in quantities
        # '(31 mi)' repeats the value before it, and the 10 of 'nine out of 10' measures nothing.
        if not quantity.converted and not text[: quantity.start].endswith("out of ")
    )


def _measured_property(text: str, quantity: Quantity, grammar: Grammar) -> str:
    """The nearest word that names a measure, or else what the unit usually measures."""
    # Only in the number's own clause: words after a comma are about something else.
    before = WORDS.findall(CLAUSE.split(text[max(quantity.start - CHARS_BEFORE, 0) : quantity.start].lower())[-1])
    after = BRACKETED_TEXT.sub("", text[quantity.end : quantity.end + CHARS_AFTER].lower())
    following = WORDS.findall(CLAUSE.split(after, maxsplit=1)[0])
    # From near to far: the word right after the number, then the words before it, the nearest first.
    near = [*following[:1], *reversed(before[-8:]), *following[1:3]]
    named = next((grammar.measure_words[word] for word in near if word in grammar.measure_words), "")
    if quantity.unit:
        allowed = grammar.measures.get("money" if is_money(quantity.unit) else quantity.unit, ())
        suited = (grammar.measure_words[word] for word in near if grammar.measure_words.get(word) in allowed)
        return next(suited, allowed[0]) if allowed else named
    counted = quantity.counted_words or quantity.counted
    if named in ("population", "deaths", "speakers", "members") or not counted:
        return f"{named}: {counted}" if named == "deaths" and counted else named or counted
    return counted


def is_money(unit: str) -> bool:
    """Whether a unit is a currency: an ISO code of three letters, or a sign that several share."""
    return unit == "$" or (len(unit) == 3 and unit.isupper())


CLAUSE = re.compile(r"[,;:] |\(|\)")
BRACKETED_TEXT = re.compile(r"\([^()]*\)")


def _when(text: str, quantity: Quantity, dates: Sequence[DateMention]) -> DateRange | None:
    """The nearest date in a number's own clause; a single date applies to all of the sentence."""
    dated = [date for date in dates if date.when.precision in DATE_PRECISIONS]
    own = [date for date in dated if not CLAUSE.search(text, *_between(quantity, date))]
    if own:
        return min(own, key=lambda date: (max(quantity.start - date.end, date.start - quantity.end), date.start)).when
    return dated[0].when if len(dated) == 1 else None


def _between(quantity: Quantity, date: DateMention) -> tuple[int, int]:
    return (date.end, quantity.start) if date.end <= quantity.start else (quantity.end, date.start)
