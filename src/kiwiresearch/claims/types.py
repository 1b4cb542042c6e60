"""Of which type a sentence is, and what its numbers measure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kiwiresearch.claims.claim import ClaimType, Measure
from kiwiresearch.claims.language import STRONG, Grammar, type_cues
from kiwiresearch.text.dates.ranges import DateRange
from kiwiresearch.text.quantities import quantities_in
from kiwiresearch.text.quantity import Quantity
from kiwiresearch.text.when import DateMention, dates_in

PRIORITY: tuple[ClaimType, ...] = (
    "quote", "disputed", "definition", "causal", "comparative", "numeric", "timeline",
)  # fmt: skip
"""Which type wins among equals: the rarer and more telling one."""

ENOUGH = 1.4
"""Sentences with less than this of every type are of none."""
CLOSE = 0.75
"""Another type counts as well if it has this share of the best one's points."""
MOST = 4.0

SIGNS = re.compile(r"""[.,;:!?()[\]{}"“”«»…—–/*+=<>|&%$£€°]""")
BLANKED = bytes(ord(" ") if SIGNS.match(chr(code)) else code for code in range(256))
COPULA = re.compile(r"(?:is|are|was|were)\s+(?:also\s+|both\s+|either\s+)?(an?|the|any|one)\s+(\w+)(?:\s+(\w+))?")
SUPERLATIVE = re.compile(
    r"\b(?:the|its|their|his|her|\w+['’]s|second|third|fourth)\s+(?:most\s+[a-z]+|least\s+[a-z]+"
    r"|(?!forest|west|east|rest|interest|harvest|conquest|protest|contest|request|test|latest|priest|guest)[a-z]{2,}est)\b"
)
QUOTED_WORDS = 5
TIMES = frozenset({"s"})


TypePoints = dict[ClaimType, float]


class TypedSentence(NamedTuple):
    """The type of a sentence, others it could be, and how clear it is."""

    type: ClaimType
    also: tuple[ClaimType, ...]
    points: float


class SentenceWords(NamedTuple):
    """The words of a sentence, in small letters."""

    all: list[str]
    different: frozenset[str]

    @classmethod
    def of(cls, text: str) -> SentenceWords:
        small = text.lower()
        # Most sentences are ASCII, and bytes are blanked five times as fast as letters.
        bare = small.encode().translate(BLANKED).decode() if small.isascii() else SIGNS.sub(" ", small)
        words = bare.split()
        return cls(words, frozenset(words))

    @property
    def padded(self) -> str:
        """All in a row, with a space before and behind each."""
        return f" {' '.join(self.all)} "


class SentenceFeatures(NamedTuple):
    """What is known of a sentence before it has a type."""

    text: str
    cues: TypePoints
    """What its words say by themselves."""
    verb: int
    """Where its first verb is; -1 if it has none."""
    quantities: Sequence[Quantity]
    dates: Sequence[DateMention]
    of_theme: bool
    """Whether its subject is what the page is about."""
    first: bool
    """Whether it opens the page."""
    lead: bool = False
    """Whether it stands in the introduction."""


def may_have_type(text: str, words: SentenceWords, cues: TypePoints) -> bool:
    """A quick look that spares most sentences of no type all further ones."""
    if '"' in text or "“" in text or "«" in text:
        return True
    for points in cues.values():
        if points >= STRONG:
            return True
    return not BEING.isdisjoint(words.different) and IS_A.search(text) is not None


BEING = frozenset({"is", "are", "was", "were"})
IS_A = re.compile(r"\b(?:is|are|was|were)\s+(?:also\s+|both\s+|either\s+)?(?:an?|the|any|one)\s")


def type_of(looks: SentenceFeatures) -> TypedSentence | None:
    """The type of a sentence; None if it is none that a brief could use."""
    points = type_points(looks)
    most = max(points.values())
    if most < ENOUGH:
        return None
    close = max(CLOSE * most, ENOUGH)
    kinds = [kind for kind in PRIORITY if points.get(kind, 0.0) >= close]
    best = max(kinds, key=points.__getitem__)
    kinds.remove(best)
    return TypedSentence(best, tuple(kinds), round(most, 2))


def type_points(looks: SentenceFeatures) -> TypePoints:
    """How much speaks for each type."""
    text, points = looks.text, dict(looks.cues)
    _add(points, "definition", _defining(looks))
    if looks.quantities:
        _add(points, "numeric", _measuring(looks.quantities))
    else:
        points.pop("numeric", None)
    if looks.dates:
        _add(points, "timeline", _dated(looks))
    elif points.get("timeline", 0.0) < STRONG:
        points.pop("timeline", None)
    # Few sentences have such letters at all, and the pattern is slow.
    if ("est" in text or "most" in text or "least" in text) and SUPERLATIVE.search(text):
        _add(points, "comparative", STRONG / 2)
    if _quoted_words(text) >= QUOTED_WORDS:
        _add(points, "quote", 2.6 if text[0] in QUOTATION else 1.4)
    else:
        points.pop("quote", None)
    return {kind: min(total, MOST) for kind, total in points.items()} if max(points.values()) > MOST else points


def _add(points: TypePoints, kind: ClaimType, more: float) -> None:
    points[kind] = points.get(kind, 0.0) + more


def cue_points(words: SentenceWords, language: str) -> TypePoints:
    """The strongest cue of each type, and a little for each further one."""
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
            points[kind] = round(strongest + MORE * (points[kind] - strongest), 3)
    return points


MORE = 0.35


def _quoted_words(text: str) -> int:
    """How many words the longest quotation in a sentence has; one that does not end goes on in the next."""
    if '"' not in text and "“" not in text and "«" not in text:
        return 0
    straight = text.replace("“", '"').replace("”", '"').replace("«", '"').replace("»", '"')
    return max([len(inside.split()) for inside in straight.split('"')[1::2]], default=0)


QUOTATION = '"“«'


def _defining(looks: SentenceFeatures) -> float:
    """'X is a …', above all where X is what the page is about."""
    # The introduction describes what the page is about, whatever its verbs are.
    described = ENOUGH if looks.lead and looks.of_theme else 0.0
    found = COPULA.match(looks.text, looks.verb) if looks.verb >= 0 else None
    if found is None:
        return described
    if found[1] == "the" and SUPERLATIVE.match(looks.text, found.start(1)):
        return 0.5
    return (1.8 if looks.of_theme else 1.4) + (2.0 if looks.first else 0.0)


def _measuring(quantities: Sequence[Quantity]) -> float:
    points = 0.0
    for one in quantities:
        if one.unit in TIMES or (not one.unit and one.high < SMALL):
            points += 0.5
        else:
            points += 1.5
    return min(points, 3.0)


SMALL = 12


def _dated(looks: SentenceFeatures) -> float:
    early = any(one.start < EARLY for one in looks.dates)
    return 1.7 + (0.6 if early else 0.0) + 0.2 * min(len(looks.dates) - 1, 3)


EARLY = 12


FIGURE = re.compile(r"\d+")
ASCII_FIGURE = re.compile("[0-9]")


class Figures(NamedTuple):
    """The numbers and dates of a sentence."""

    quantities: Sequence[Quantity]
    dates: Sequence[DateMention]


def is_counting(text: str, words: SentenceWords, grammar: Grammar) -> bool:
    """Whether a sentence may have numbers or dates at all."""
    # A pattern for the ten figures alone is five times as fast.
    figure = ASCII_FIGURE if text.isascii() else FIGURE
    return figure.search(text) is not None or _has_number_word(words, grammar)


def _has_number_word(words: SentenceWords, grammar: Grammar) -> bool:
    """'Ten years', and also 'a ten-year war'."""
    if not grammar.number_words.isdisjoint(words.different):
        return True
    return any(word.partition("-")[0] in grammar.number_words for word in words.different if "-" in word)


def figures_of(text: str, words: SentenceWords, language: str, grammar: Grammar) -> Figures:
    """The numbers and dates of a sentence; where all figures belong to dates, nothing else is looked for."""
    dates = dates_in(text, language)
    spans = [(one.start, one.end) for one in dates]
    left = not _has_number_word(words, grammar) and all(
        any(start <= found.start() < end for start, end in spans) for found in FIGURE.finditer(text)
    )
    return Figures((), dates) if left else Figures(quantities_in(text, language, not_in=spans), dates)


NO_FIGURES = Figures((), ())


BEFORE, BEHIND = 60, 30
WORDS = re.compile(r"[a-z]+")
AT_A_TIME = frozenset({"day", "month", "season", "year", "decade", "century"})


def measures_in(
    text: str, quantities: Sequence[Quantity], dates: Sequence[DateMention], subject: str, grammar: Grammar
) -> tuple[Measure, ...]:
    """The measures of a sentence, in its order."""
    return tuple(
        Measure(one, _measured_property(text, one, grammar), subject, _when(text, one, dates))
        for one in quantities
        if not one.converted and not text[: one.start].endswith("out of ")
    )


def _measured_property(text: str, one: Quantity, grammar: Grammar) -> str:
    """The nearest word before the number that names a measure, else one behind it, else what the unit is for."""
    # Only in the number's own clause: what stands behind a comma measures something else.
    before = WORDS.findall(CLAUSE.split(text[max(one.start - BEFORE, 0) : one.start].lower())[-1])
    after = BRACKET.sub("", text[one.end : one.end + 2 * BEHIND].lower())
    behind = WORDS.findall(CLAUSE.split(after, maxsplit=1)[0])
    near = [*behind[:1], *reversed(before[-8:]), *behind[1:3]]
    named = next((grammar.measure_words[word] for word in near if word in grammar.measure_words), "")
    if one.unit:
        allowed = grammar.measures.get("money" if is_money(one.unit) else one.unit, ())
        suited = (grammar.measure_words[word] for word in near if grammar.measure_words.get(word) in allowed)
        return next(suited, allowed[0]) if allowed else named
    counted = one.counted_words or one.counted
    if named in ("population", "deaths", "speakers", "members") or not counted:
        return f"{named}: {counted}" if named == "deaths" and counted else named or counted
    return counted


def is_money(unit: str) -> bool:
    """Whether a unit is a currency: its three letters, or a sign that several share."""
    return unit == "$" or (len(unit) == CODE and unit.isupper())


CODE = 3
CLAUSE = re.compile(r"[,;:] |\(|\)")
BRACKET = re.compile(r"\([^()]*\)")


def _when(text: str, one: Quantity, dates: Sequence[DateMention]) -> DateRange | None:
    """The date in a number's own clause, the nearest one first; a single date holds for the whole sentence."""
    dated = [date for date in dates if date.when.precision in AT_A_TIME]
    own = [date for date in dated if not CLAUSE.search(text, *_between(one, date))]
    if own:
        return min(own, key=lambda date: (max(one.start - date.end, date.start - one.end), date.start)).when
    return dated[0].when if len(dated) == 1 else None


def _between(one: Quantity, date: DateMention) -> tuple[int, int]:
    return (date.end, one.start) if date.end <= one.start else (one.end, date.start)
