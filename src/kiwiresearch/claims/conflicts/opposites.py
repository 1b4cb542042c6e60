"""Denials: one sentence says of a thing what the other says it is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kiwiresearch.claims.conflicts.agreement import Reading
from kiwiresearch.claims.conflicts.compare_words import compare_words
from kiwiresearch.claims.conflicts.events import Word
from kiwiresearch.claims.conflicts.likeness import clash
from kiwiresearch.claims.conflicts.saying import Disagreement, Span

SAME_WORDS = 0.8
"""So much of the shorter of a sentence and its denial stands in the other."""

WEAK_COVER = 0.6
"""Words that are opposite only of the same thing need so much of the shorter sentence in the other."""

HALF_OF_LONGER = 0.6
PREFIX_COVER = 0.4
FEWEST = 3
Phrase = tuple[str, ...]


def compare_denials(a: Reading, b: Reading) -> Disagreement | None:
    """One sentence denied, or opposite words of the same thing."""
    if not a.content or not b.content or clash(a, b):
        return None
    return _denied(a, b) or _opposite(a, b) or _prefixed(a, b) or _turned(_prefixed(b, a))


def _turned(found: Disagreement | None) -> Disagreement | None:
    return found.turned() if found else None


def _prefixed(a: Reading, b: Reading) -> Disagreement | None:
    """'Finished' and 'unfinished' of the same thing."""
    shared = a.content & b.content
    if len(shared) < 2 or len(shared) < PREFIX_COVER * min(len(a.content), len(b.content)):
        return None
    prefixes = compare_words(a.language).prefixes
    for word in b.words:
        for prefix in prefixes:
            root = word.low[len(prefix) :]
            if word.low.startswith(prefix) and len(root) > 3 and root in a.lows and word.low not in a.lows:
                if root in b.lows:
                    continue
                plain = next(w for w in a.words if w.low == root)
                why = f"One says {root!r}, the other {word.low!r}."
                spans = (plain.start, plain.end), (word.start, word.end)
                return Disagreement("contradiction", "a denial", *spans, why, 0.6)
    return None


def _denied(a: Reading, b: Reading) -> Disagreement | None:
    known = compare_words(a.language)
    denials = [[w for w in reading.words if w.low in known.denials] for reading in (a, b)]
    if bool(denials[0]) == bool(denials[1]) or len(denials[0]) + len(denials[1]) != 1:
        return None
    lows = [_told(reading) for reading in (a, b)]
    shared = lows[0] & lows[1]
    fewer, more = sorted((len(lows[0]), len(lows[1])))
    if len(shared) < FEWEST or len(shared) < SAME_WORDS * fewer or len(shared) < HALF_OF_LONGER * more:
        return None
    at = denials[0] or denials[1]
    spans = (at[0].start, at[0].end), _whole(b if denials[0] else a)
    one, other = spans if denials[0] else spans[::-1]
    return Disagreement("contradiction", "a denial", one, other, "One says what the other denies.", 0.8)


def _told(reading: Reading) -> frozenset[str]:
    known = compare_words(reading.language)
    left_out = known.denials | known.carriers | {"a", "an", "the"}
    return frozenset(w.stem or w.low for w in reading.words if w.low not in left_out)


def _whole(reading: Reading) -> Span:
    return (0, len(reading.text))


def _opposite(a: Reading, b: Reading) -> Disagreement | None:
    known = compare_words(a.language)
    shared = a.content & b.content
    names = (a.names | a.subject) & (b.names | b.subject)
    cover = len(shared) / min(len(a.content), len(b.content))
    if names or len(shared) >= FEWEST or (len(shared) == 2 and cover >= WEAK_COVER):
        found = _pair_of(a, b, known.strong)
        if found:
            return found
    if len(shared) >= FEWEST and cover >= WEAK_COVER:
        return _pair_of(a, b, known.weak)
    return None


def _pair_of(a: Reading, b: Reading, pairs: Iterable[tuple[Phrase, Phrase]]) -> Disagreement | None:
    for pair in pairs:
        for x, y in (pair, pair[::-1]):
            if x[0] not in a.lows or y[0] not in b.lows:
                continue
            one, other = _phrase(a.words, x), _phrase(b.words, y)
            if one and other and not _phrase(a.words, y) and not _phrase(b.words, x):
                why = f"One says {' '.join(x)!r}, the other {' '.join(y)!r}."
                return Disagreement("contradiction", "a denial", one, other, why, 0.7)
    return None


def _phrase(words: Sequence[Word], phrase: Phrase) -> Span | None:
    """Where some words stand that are not denied there."""
    size = len(phrase)
    for at in range(len(words) - size + 1):
        if all(words[at + n].low == low for n, low in enumerate(phrase)):
            return words[at].start, words[at + size - 1].end
    return None
