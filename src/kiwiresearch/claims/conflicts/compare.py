"""Does one text contradict another, where, and of what kind is the disagreement?"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from kiwiresearch.claims.conflicts.agreement import Reading, read
from kiwiresearch.claims.conflicts.apart import compare_apart, compare_span
from kiwiresearch.claims.conflicts.fillers import compare_fillers
from kiwiresearch.claims.conflicts.measured import compare_own_list, compare_values
from kiwiresearch.claims.conflicts.opposites import compare_denials
from kiwiresearch.claims.conflicts.saying import Disagreement, Kind, Saying
from kiwiresearch.claims.conflicts.twins import compare_twins
from kiwiresearch.text.sentences import sentence_starts

__all__ = ["Disagreement", "Kind", "PairOutcome", "Saying", "compare", "compare_texts"]


CELL_END = re.compile(r"\n+|\s*\|+\s*|(?<=[^\s.!?]) {2,}(?=[A-Z0-9])")
"""Where a line or a cell of a table ends that was written into a text."""


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """What came of comparing two texts; only a contradiction is a conflict."""

    conflict: bool
    kind: Kind | None = None
    a_quote: str = ""
    b_quote: str = ""
    why: str = ""
    disagreement: Disagreement | None = None


def compare(a: Saying, b: Saying) -> Disagreement | None:
    """How two sayings disagree, if they speak of the same thing and do not say the same."""
    if a.text == b.text:
        return None
    if (b.text, b.subject) < (a.text, a.subject):
        turned = compare(b, a)
        return turned.turned() if turned else None
    one, other = reading_of(a), reading_of(b)
    twins = compare_twins(one, other)
    if twins is not None:
        return twins.disagreement
    found = [d for d in (compare_values(one, other), compare_fillers(one, other), compare_denials(one, other)) if d]
    return max(found, key=_clear, default=None)


def _clear(found: Disagreement) -> tuple[bool, float]:
    return found.kind == "contradiction", found.strength


def reading_of(saying: Saying) -> Reading:
    """The reading of a saying, which is kept for the next comparison."""
    return read(saying.text, saying.subject, saying.quantities, saying.dates, saying.language)


def compare_texts(a: str, b: str, title: str = "", language: str = "eng") -> PairOutcome:
    """The clearest disagreement of a sentence of the first text with one of the second.

    A text may disagree with itself: two of its sentences, or a number and the list that follows it.
    """
    ones, others = sayings_of(a, title, language), sayings_of(b, title, language)
    outcomes = [_outcome(one, other, found) for one in ones for other in others if (found := compare(one, other))]
    outcomes += [_outcome(s, s, found) for s in [*ones, *others] if (found := compare_own_list(reading_of(s)))]
    outcomes += [_outcome(s, s, found) for s in [*ones, *others] if (found := compare_span(s))]
    if not any(outcome.conflict for outcome in outcomes):
        outcomes += [
            _outcome(one, other, found)
            for one in ones
            for other in others
            if compare(one, other) is None and (found := compare_apart(one, other))
        ]
    return max(outcomes, key=_first, default=PairOutcome(conflict=False))


def _outcome(one: Saying, other: Saying, found: Disagreement) -> PairOutcome:
    return PairOutcome(found.kind == "contradiction", found.kind, one.text, other.text, found.why, found)


def _first(outcome: PairOutcome) -> tuple[bool, float]:
    return outcome.conflict, outcome.disagreement.strength if outcome.disagreement else 0.0


@lru_cache(maxsize=512)
def sayings_of(text: str, title: str = "", language: str = "eng") -> tuple[Saying, ...]:
    """The sentences of a text; one that begins with a pronoun is about what the one before is about."""
    cells = [found.end() for found in CELL_END.finditer(text)]
    starts = sentence_starts(text, cells, language)
    about = title
    found = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        sentence = text[start:end].strip().rstrip("|").rstrip()
        if not sentence:
            continue
        saying = Saying.of(sentence, title, language)
        if about and reading_of(saying).by_pronoun:
            saying = replace(saying, subject=about)
        found.append(saying)
        about = reading_of(saying).about or about
    return tuple(found)
