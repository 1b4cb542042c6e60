"""Of which type a sentence is: definition, causal, numeric, timeline, comparative, disputed, quote, or none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kiwiresearch.claims.claim import ClaimType
from kiwiresearch.claims.tables import STRONG, cues_of
from kiwiresearch.text.quantities import Quantity
from kiwiresearch.text.when import Dated

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


Points = dict[ClaimType, float]


class Typed(NamedTuple):
    """The type of a sentence, others it could be, and how clear it is."""

    type: ClaimType
    also: tuple[ClaimType, ...]
    points: float


class Words(NamedTuple):
    """The words of a sentence, in small letters."""

    all: list[str]
    different: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Words:
        small = text.lower()
        # Most sentences are ASCII, and bytes are blanked five times as fast as letters.
        bare = small.encode().translate(BLANKED).decode() if small.isascii() else SIGNS.sub(" ", small)
        words = bare.split()
        return cls(words, frozenset(words))

    @property
    def padded(self) -> str:
        """All in a row, with a space before and behind each."""
        return f" {' '.join(self.all)} "


class Looks(NamedTuple):
    """What is known of a sentence before it has a type."""

    text: str
    cues: Points
    """What its words say by themselves."""
    verb: int
    """Where its first verb is; -1 if it has none."""
    quantities: Sequence[Quantity]
    dates: Sequence[Dated]
    of_theme: bool
    """Whether its subject is what the page is about."""
    first: bool
    """Whether it opens the page."""
    lead: bool = False
    """Whether it stands in the introduction."""


def may_have_type(text: str, words: Words, cues: Points) -> bool:
    """A quick look that spares most sentences of no type all further ones."""
    if '"' in text or "“" in text or "«" in text:
        return True
    for points in cues.values():
        if points >= STRONG:
            return True
    return not BEING.isdisjoint(words.different) and IS_A.search(text) is not None


BEING = frozenset({"is", "are", "was", "were"})
IS_A = re.compile(r"\b(?:is|are|was|were)\s+(?:also\s+|both\s+|either\s+)?(?:an?|the|any|one)\s")


def type_of(looks: Looks) -> Typed | None:
    """The type of a sentence; None if it is none that a brief could use."""
    points = points_of(looks)
    most = max(points.values())
    if most < ENOUGH:
        return None
    close = max(CLOSE * most, ENOUGH)
    kinds = [kind for kind in PRIORITY if points.get(kind, 0.0) >= close]
    best = max(kinds, key=points.__getitem__)
    kinds.remove(best)
    return Typed(best, tuple(kinds), round(most, 2))


def points_of(looks: Looks) -> Points:
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


def _add(points: Points, kind: ClaimType, more: float) -> None:
    points[kind] = points.get(kind, 0.0) + more


def by_cues(words: Words, language: str) -> Points:
    """The strongest cue of each type, and a little for each further one."""
    cues = cues_of(language)
    points: Points = {}
    found = cues.by_word.keys() & words.different
    if not found:
        return points
    padded = words.padded
    if not cues.blank_words.isdisjoint(words.different):
        padded = cues.blank.sub(" — ", padded)
    best: Points = {}
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


def _defining(looks: Looks) -> float:
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


def _dated(looks: Looks) -> float:
    early = any(one.start < EARLY for one in looks.dates)
    return 1.7 + (0.6 if early else 0.0) + 0.2 * min(len(looks.dates) - 1, 3)


EARLY = 12
