"""The claims of one page in two runs, paired: the same, changed, or only in one of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kiwiresearch.claims.claim import Claim
from kiwiresearch.claims.conflicts.compare_words import compare_words
from kiwiresearch.text.differing import likeness, plainly, without_figures, words_of
from kiwiresearch.text.number_words import number_words

ALIKE = 0.6
"""From this share of common words on, two claims of one subject and type are one that changed."""

VERY_ALIKE = 0.75
"""The same for two claims that share their subject or their type only."""

MOST_CANDIDATES = 250_000
"""So many pairs of one page are looked at; a page beyond that is no article."""


NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:[.,:/]\d+)*|[^\W\d_]+")
RANK = "number"
"""What stands before a 'one' that counts."""
LABEL = re.compile(r", | — ")
HYPHEN = re.compile(r"(?<=\w)-(?=[^\W\d_])")
"""Between words, or a number and its unit; not the sign of a range or a minus."""
THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")


@dataclass(frozen=True)  # without slots, which leave no room for what is worked out once
class Compared:
    """A claim with what it is compared by."""

    order: int
    """Its place in its run."""
    claim: Claim

    @cached_property
    def text(self) -> str:
        return plainly(self.claim.text)

    @cached_property
    def subject(self) -> str:
        return plainly(self.claim.subject)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return words_of(self.claim.text)

    @cached_property
    def said(self) -> tuple[str, ...]:
        return without_figures(self.words)

    @cached_property
    def said_set(self) -> frozenset[str]:
        return frozenset(self.said)

    @cached_property
    def label(self) -> str:
        return label_of(self.claim)

    @cached_property
    def read(self) -> Hashable:
        """What it counts, measures and dates, however it is written, and the figures that are none of these."""
        claim = self.claim
        spans = [(one.start, one.end) for one in claim.dates]
        spans += [(one.quantity.start, one.quantity.end) for one in claim.measures]
        rest = list(claim.text)
        for start, end in spans:
            rest[start:end] = " " * (end - start)
        dated = sorted((one.when.earliest, one.when.latest) for one in claim.dates)
        return self._measured(), tuple(dated), tuple(_numbers("".join(rest)))

    @cached_property
    def written(self) -> Hashable:
        """The numbers that stand in it, however they are taken together: as a date and another, or from one to one."""
        days = [day for one in self.claim.dates for day in (one.when.earliest, one.when.latest)]
        bounds = (min(days), max(days)) if days else ()
        return tuple(_numbers(self.claim.text)), self._measured(has_unit=True), bounds

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The figures in it, and the words that could make it say another value, such as names of months."""
        known = compare_words("eng").value_words
        words = [part for word in self.words for part in word.split("-")]
        return tuple(word for word in words if word in known or any(char.isdigit() for char in word))

    def _measured(self, *, has_unit: bool = False) -> tuple[Hashable, ...]:
        quantities = sorted((one.quantity for one in self.claim.measures), key=lambda one: one.start)
        return tuple((one.low, one.high, one.unit) for one in quantities if one.unit or not has_unit)

    def has_numbers_of(self, other: Compared) -> bool:
        """Whether both state the same numbers, as they are read or as they are written."""
        if self.read == other.read or self.written == other.written:
            return True
        # A year that was read as one in one of them only: 'Charles' 1960 hit', 'Charles's 1960 hit'.
        return bool(self.claim.dates) != bool(other.claim.dates) and self.values == other.values


@dataclass(frozen=True, slots=True)
class Changed:
    """A claim of the old run and what became of it in the new one."""

    old: Claim
    new: Claim
    likeness: float
    numbers: bool
    """Whether a number, a measure or a date is another now."""
    hedging: bool
    """Whether it is held back by other words now, or no longer."""


@dataclass(frozen=True, slots=True)
class Paired:
    """All claims of two sides, each once."""

    same: tuple[tuple[Compared, Compared], ...]
    changed: tuple[tuple[Compared, Compared, float], ...]
    gone: tuple[Compared, ...]
    new: tuple[Compared, ...]


SAMENESS: Sequence[Callable[[Compared], Hashable]] = (
    lambda one: one.claim.id,
    lambda one: (one.text, one.claim.type),
    lambda one: one.text,
    lambda one: (HYPHEN.sub(" ", one.text), one.claim.type),
    lambda one: (one.subject, tuple(plainly(quote.text) for quote in one.claim.quotes), one.claim.type),
)
"""By what two claims are the same, the surest first: the last is the same quote, worded another way.

'A half-hour' and 'a half hour' are one."""


def paired(old: Sequence[Compared], new: Sequence[Compared]) -> Paired:
    """The claims of one page: equal ones first, then those most alike; equal input gives equal pairs."""
    same: list[tuple[Compared, Compared]] = []
    for key in SAMENESS:
        found = list(_equal(old, new, key))
        same += found
        old = _without(old, [one for one, _ in found])
        new = _without(new, [other for _, other in found])
    changed = _alike(old, new)
    gone = _without(old, [one for one, _, _ in changed])
    fresh = _without(new, [other for _, other, _ in changed])
    return Paired(tuple(same), tuple(changed), tuple(gone), tuple(fresh))


def change_of(old: Compared, new: Compared, share: float) -> Changed:
    hedges = [sorted(plainly(hedge.cue) for hedge in one.claim.hedges) for one in (old, new)]
    return Changed(old.claim, new.claim, round(share, 3), not old.has_numbers_of(new), hedges[0] != hedges[1])


def label_of(claim: Claim) -> str:
    """Of a row of a table or a box: what its value is called; empty for a sentence."""
    before, _, value = claim.text.rpartition(": ")
    return plainly(LABEL.split(before)[-1]) if " — " in before and not value.endswith(".") else ""


def _equal(
    old: Sequence[Compared], new: Sequence[Compared], key: Callable[[Compared], Hashable]
) -> Iterator[tuple[Compared, Compared]]:
    waiting: dict[Hashable, list[Compared]] = defaultdict(list)
    for one in reversed(old):
        waiting[key(one)].append(one)
    for other in new:
        if waiting.get(key(other)):
            yield waiting[key(other)].pop(), other


def _alike(old: Sequence[Compared], new: Sequence[Compared]) -> list[tuple[Compared, Compared, float]]:
    if len(old) * len(new) > MOST_CANDIDATES:
        return []
    candidates = [
        (-share, -likeness(one.words, other.words), one.order, other.order, one, other)
        for one in old
        for other in new
        if (share := _share(one, other))
    ]
    candidates.sort(key=lambda row: row[:4])
    taken: set[tuple[str, int]] = set()
    found = []
    for share, _, order, other_order, one, other in candidates:
        places = {("old", order), ("new", other_order)}
        if not taken & places:
            taken |= places
            found.append((one, other, -share))
    return sorted(found, key=lambda row: row[1].order)


def _share(one: Compared, other: Compared) -> float:
    """How alike two claims are, numbers aside; 0 if not enough to be one that changed."""
    if one.label != other.label:
        return 0.0
    is_subject, is_type = one.subject == other.subject, one.claim.type == other.claim.type
    if not (is_subject or is_type):
        return 0.0
    least = ALIKE if is_subject and is_type else VERY_ALIKE
    # No more words can be common in order than are common at all: most pairs need no closer look.
    twice = min(len(one.said) - len(one.said_set), len(other.said) - len(other.said_set))
    most = len(one.said_set & other.said_set) + twice
    if 2 * most < least * (len(one.said) + len(other.said)):
        return 0.0
    return likeness(one.said, other.said, least)


def _without(claims: Sequence[Compared], taken: Sequence[Compared]) -> list[Compared]:
    orders = {one.order for one in taken}
    return [one for one in claims if one.order not in orders]


def _numbers(text: str) -> Iterator[str]:
    """The numbers of a text as figures, in their order, and the scales they are told in."""
    numbers, known = number_words("eng"), compare_words("eng")
    before = ""
    for word in NUMBER.findall(plainly(text)):
        if word[-1].isdecimal():
            yield THOUSANDS.sub("", word)
        elif word in numbers.scales:
            yield word
        elif word in numbers.values and (word != numbers.pronoun or before == RANK):  # 'one of them' counts nothing
            yield f"{numbers.values[word]:.0f}"
        elif word in known.ordinals and word not in known.common_ordinals:
            yield str(known.ordinals[word])
        before = word
