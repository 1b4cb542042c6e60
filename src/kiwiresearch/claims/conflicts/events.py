"""What a date is the date of: an event, and whom or what it befell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kiwiresearch.claims.conflicts.compare_words import CompareWords

PERSONAL = frozenset({"birth", "death", "burial", "baptism"})
"""Events that need nothing but whom they befell."""

PHRASE = 8
"""So many words before or behind a verb are looked at for what it is said of."""


class Word(NamedTuple):
    """A word of a sentence; `stem` is empty where the word says nothing of what is told."""

    start: int
    end: int
    low: str
    stem: str
    is_name: bool
    clause: int


def event_at(words: Sequence[Word], start: int, end: int, clause: int, known: CompareWords) -> tuple[str, int, int]:
    """The event nearest to a date in its clause, and which words tell it; what stands before the date comes first."""
    before, after = ("", 0, 0), ("", 0, 0)
    is_label = sum(word.clause == clause and bool(word.stem) for word in words) < 2  # 'Founded: 1910'
    for at, word in enumerate(words):
        if word.clause != clause and not (is_label and word.clause == clause - 1):
            continue
        if (word.is_name and known.events.get(word.low) not in PERSONAL) or _is_late_noun(word, start, known):
            continue
        found = (known.events.get(word.low, ""), at, at + 1)
        for rest, name in known.phrases.get(word.low, ()):
            if tuple(w.low for w in words[at + 1 : at + 1 + len(rest)]) == rest:
                found = (name, at, at + 1 + len(rest))
        if found[0] and word.start < start:
            before = found
        elif found[0] and word.start >= end and not after[0]:
            after = found
    return before if before[0] else after


def _is_late_noun(word: Word, start: int, known: CompareWords) -> bool:
    """'In 1660, after his death': a noun is dated by what follows it, and 'Black Death' is a name."""
    return word.low in known.event_nouns and (word.is_name or word.start >= start)


def told_of_event(
    words: Sequence[Word], event: str, first: int, last: int, known: CompareWords
) -> frozenset[str] | None:
    """Whom or what an event befell; None where a pronoun or a noun leaves that open."""
    if words[first].low in known.event_nouns:
        if last < len(words) and words[last].low == "of":
            return _name_behind(words[last + 1 :])
        if not first:
            return frozenset()  # 'Release: 3 May 1999'
        return _name_before(words, first) if words[first - 1].is_name else None
    if event in PERSONAL:
        return owner_of(words, first, known)
    clause = words[first].clause
    before = [word for word in words[:first] if word.clause == clause]
    behind = [word for word in words[last : last + PHRASE] if word.clause == clause]
    is_passive = any(word.low in known.being for word in before[-3:])
    told = frozenset() if is_passive else frozenset(word.stem for word in behind if word.stem)
    return told or frozenset(word.stem for word in before[-PHRASE:] if word.stem)


def owner_of(words: Sequence[Word], at: int, known: CompareWords) -> frozenset[str] | None:
    """The name that stands before a word; none where the sentence begins with a pronoun; None where it is not sure."""
    for place in range(at - 1, -1, -1):
        word = words[place]
        if word.is_name:
            return _name_before(words, place + 1)
        if word.low in known.relative or (not word.stem and word.low not in known.pronouns):
            continue
        if word.low in known.pronouns:
            return frozenset() if place == 0 else None
        return frozenset({word.stem})
    return frozenset()


def _name_before(words: Sequence[Word], at: int) -> frozenset[str]:
    run: list[Word] = []
    for word in reversed(words[:at]):
        if not word.is_name or (run and word.end + 2 < run[-1].start and not _joined(words, word, run[-1])):
            break
        run.append(word)
    return frozenset(word.stem for word in run)


def _joined(words: Sequence[Word], one: Word, other: Word) -> bool:
    """Whether only small words of names stand between two words."""
    between = [word for word in words if one.end <= word.start < other.start]
    return len(between) == 1 and between[0].low in ("of", "de", "van", "von", "the", "da", "di")


def _name_behind(words: Sequence[Word]) -> frozenset[str] | None:
    run: list[str] = []
    for word in words[:PHRASE]:
        if not word.is_name and (run or word.stem):
            break
        if word.is_name:
            run.append(word.stem)
    return frozenset(run) or None
