"""Relations that have one filler: where somebody was born, who wrote a book, which colour a flower has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kiwiresearch.claims.conflicts.agreement import Reading
from kiwiresearch.claims.conflicts.compare_words import CompareWords, compare_words
from kiwiresearch.claims.conflicts.events import Word
from kiwiresearch.claims.conflicts.likeness import clash
from kiwiresearch.claims.conflicts.saying import Disagreement, Span

REACH = 12
"""So many words behind 'born' its place may stand."""

FEWEST_OF_AGENT = 2
"""So many words of what was done stand in both."""

FILLER_WORDS = 4
DOER_REACH = 10


class Filled(NamedTuple):
    """A relation, and what fills it."""

    relation: str
    fillers: frozenset[str]
    near: frozenset[str]
    span: Span


def compare_fillers(a: Reading, b: Reading) -> Disagreement | None:
    """One relation with two fillers."""
    cues = compare_words(a.language).filler_cues
    if cues.isdisjoint(a.lows) or cues.isdisjoint(b.lows) or clash(a, b):
        return None
    theirs = list(filled(b))
    if not theirs:
        return None
    for one in filled(a):
        for other in theirs:
            if one.relation == other.relation and _differ(a, one, b, other):
                kind = one.relation.partition(":")
                why = f"Both tell the {kind[2] or kind[0]}, and it has one value."
                return Disagreement("contradiction", "a name", one.span, other.span, why, 0.6)
    return None


def _differ(a: Reading, one: Filled, b: Reading, other: Filled) -> bool:
    if not one.fillers.isdisjoint(other.fillers | b.content) or not other.fillers.isdisjoint(a.content):
        return False
    if one.relation.startswith("place"):
        regions = compare_words(a.language).regions
        if (one.fillers <= regions) != (other.fillers <= regions):
            return False
        return bool((a.content | a.subject) & (b.content | b.subject) - one.fillers - other.fillers)
    if one.relation.startswith("agent"):
        return len((one.near & other.near) - one.fillers - other.fillers) >= FEWEST_OF_AGENT
    shared = (one.near | a.subject) & (other.near | b.subject)
    return len(shared) >= (1 if one.relation.startswith("kind") else 2)


def filled(reading: Reading) -> Iterator[Filled]:
    """All relations of a sentence whose filler is one."""
    known = compare_words(reading.language)
    for at, word in enumerate(reading.words):
        if word.low in known.places:
            yield from _place(reading, at, known)
        if word.low == "by":
            yield from _agent(reading, at, known)
        if word.low in known.agents:
            yield from _doer(reading, at, known)
        if word.low in known.holders:
            yield from _held(reading, at, known)
        if word.low in known.kinds:
            yield from _kind(reading, at, known)
    for relation, cues in known.fillers.items():
        for cue in cues:
            yield from _filler(reading, relation, tuple(cue.split()))


def _place(reading: Reading, at: int, known: CompareWords) -> Iterator[Filled]:
    words = reading.words
    for n in range(at + 1, min(at + REACH, len(words) - 1)):
        if words[n].low in known.events or words[n].low == "and":
            return
        if words[n].low in ("in", "at") and words[n + 1].is_name:
            run = _names(reading, n + 1)
            relation = f"place:{known.places[words[at].low]} place"
            yield Filled(relation, _stems(run), reading.content, (run[0].start, run[-1].end))
            return


def _held(reading: Reading, at: int, known: CompareWords) -> Iterator[Filled]:
    """'The capital of Peru is Lima'."""
    words = reading.words
    for n in range(at + 1, min(at + FILLER_WORDS + 2, len(words) - 1)):
        if words[n].low in known.being and words[n].clause == words[at].clause:
            if words[n + 1].is_name:
                run = _names(reading, n + 1)
                near = reading.content - _stems(run)
                yield Filled(f"holder:{words[at].low}", _stems(run), near, (run[0].start, run[-1].end))
            return


def _names(reading: Reading, at: int) -> list[Word]:
    """A run of names; commas and a few small words may stand between."""
    run = [reading.words[at]]
    for word in reading.words[at + 1 :]:
        between = reading.text[run[-1].end : word.start]
        if not word.is_name or between.strip() not in ("", ",", "-", "–", "and", "&"):
            if word.low in ("of", "the", "de", "la", "and", "van", "von") and between.strip() in ("", ","):
                continue
            break
        run.append(word)
    return run


def _stems(words: list[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in words)


def _agent(reading: Reading, at: int, known: CompareWords) -> Iterator[Filled]:
    words = reading.words
    if at + 1 >= len(words) or not words[at + 1].is_name:
        return
    run = _names(reading, at + 1)
    for word in words[max(0, at - 4) : at]:
        if word.low in known.agents or word.stem == "nicknam":
            near = reading.content - _stems(run)
            yield Filled(f"agent:{word.stem}", _stems(run), near, (run[0].start, run[-1].end))
            return


def _doer(reading: Reading, at: int, known: CompareWords) -> Iterator[Filled]:
    """'Ann Reed built the mill': the name before an active verb, where what was done stands behind it."""
    words = reading.words
    behind = {word.low for word in words[at + 1 : at + 4]}
    if behind & {"by"} or any(word.low in known.being for word in words[max(0, at - 2) : at]):
        return
    for n in range(at - 1, max(-1, at - DOER_REACH), -1):
        if words[n].is_name:
            run = [word for word in words[max(0, n - 3) : n + 1] if word.is_name]
            near = frozenset(word.stem for word in words[at + 1 : at + 1 + REACH] if word.stem)
            yield Filled(f"agent:{words[at].stem}", _stems(run), near, (run[0].start, run[-1].end))
            return


def _kind(reading: Reading, at: int, known: CompareWords) -> Iterator[Filled]:
    """'The flowers are pale pink': a verb of being, and a noun before it that is the same in both."""
    words = reading.words
    before = [word.low for word in words[max(0, at - 3) : at]]
    if not {"is", "are", "was", "were"} & set(before):
        return
    nouns = [word.stem for word in words[: max(0, at - 2)] if word.stem and not word.is_name]
    if nouns:
        fillers = frozenset(word.stem for word in words if word.low in known.kinds)
        kind = known.kinds[words[at].low]
        yield Filled(f"kind:{kind} of {nouns[0]}", fillers, reading.content, (words[at].start, words[at].end))


def _filler(reading: Reading, relation: str, cue: tuple[str, ...]) -> Iterator[Filled]:
    words = reading.words
    if not reading.lows.issuperset(cue):
        return
    for at in range(len(words) - len(cue)):
        if tuple(word.low for word in words[at : at + len(cue)]) == cue:
            behind = [word for word in words[at + len(cue) : at + len(cue) + FILLER_WORDS] if word.stem]
            if behind:
                near = reading.content - _stems(behind)
                yield Filled(f"filler:{relation}", _stems(behind), near, (behind[0].start, behind[-1].end))
            return
