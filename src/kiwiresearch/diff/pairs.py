"""Books and claims of two sides, paired: the same, changed, or on one side only."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kiwiresearch.claims import Claim
from kiwiresearch.claims.conflicts import comparison_words
from kiwiresearch.runs import BookEdition
from kiwiresearch.text import comparable, compared_words, sequence_similarity, without_figures
from kiwiresearch.text.number_words import number_words
from kiwiresearch.zim import EntryRef

OLD_NAMESPACE = "A/"
"""The prefix of articles in older books; newer snapshots of them have none."""

OLD_ENDING = ".html"
"""The suffix of paths in still older ones."""

# "kiwix.wikipedia_en_all_maxi_2024-05" has the stem "wikipedia_en_all"; "wikipedia_en_maximum" is a stem itself.
NAME = re.compile(r"(?:kiwix\.)?(?P<stem>.+?)(?:_(?:maxi|mini|nodet|nopic|novid))?(?:_\d{4}-\d{2}(?:-\d{2})?)?")
"""The name of a book, to which some makers add a prefix, the flavour and the date."""

BookKey = tuple[str, ...]
PageKey = tuple[BookKey, str]


@dataclass(frozen=True, slots=True)
class BookPair:
    """A book in both runs, in two editions, or in one of them only."""

    kind: Literal["same", "snapshot", "only old", "only new"]
    old: BookEdition | None
    new: BookEdition | None


def book_keys(old: Sequence[BookEdition], new: Sequence[BookEdition]) -> dict[str, BookKey]:
    """The key that two snapshots of a book share: name and language.

    If a run has two books of the same name, the flavour distinguishes them; if that is the same too, each book only
    matches itself.
    """
    found: dict[str, BookKey] = {}
    sides = [list(old), list(new)]
    for key_of in (_stem, _full_name):
        twice = {key for books in sides for key, count in Counter(map(key_of, books)).items() if count > 1}
        found |= {book.id: key_of(book) for books in sides for book in books if key_of(book) not in twice}
        sides = [[book for book in books if key_of(book) in twice] for books in sides]
    return found | {book.id: (book.id,) for books in sides for book in books}


def _stem(book: BookEdition) -> BookKey:
    plain = NAME.fullmatch(book.name)
    name = plain["stem"] if plain else book.title
    return (name, book.language) if name else (book.id,)


def _full_name(book: BookEdition) -> BookKey:
    return book.name or book.title, book.flavour, book.language


def book_pairs(
    old: Sequence[BookEdition], new: Sequence[BookEdition], keys: Mapping[str, BookKey]
) -> tuple[BookPair, ...]:
    """Each book once, those of the old run first."""
    found: list[BookPair] = []
    others = {keys[book.id]: book for book in new}
    for book in old:
        other = others.pop(keys[book.id], None)
        kind: Literal["same", "snapshot", "only old"] = "only old"
        if other is not None:
            kind = "same" if other.id == book.id else "snapshot"
        found.append(BookPair(kind, book, other))
    return (*found, *(BookPair("only new", None, book) for book in others.values()))


def page_key(ref: EntryRef, keys: Mapping[str, BookKey]) -> PageKey:
    """The key that identifies a page across snapshots."""
    return keys.get(ref.book, (ref.book,)), plain_path(ref.path)


def plain_path(path: str) -> str:
    """A path without the prefix and suffix of older books."""
    return path.removeprefix(OLD_NAMESPACE).removesuffix(OLD_ENDING)


MIN_SIMILARITY = 0.6
"""Two claims with the same subject and type that share at least this fraction of their words are one that changed."""

MIN_SIMILARITY_LOOSE = 0.75
"""The same for two claims that share only their subject or only their type."""

MAX_CANDIDATES = 250_000
"""At most this many pairs of a page are compared; a page with more is not an article."""


# "-5", "1,200.5", "10:30", "3/4" and words; in "1990-95" the hyphen is not a minus, so it gives "1990" and "95".
NUMBER = re.compile(r"(?:(?<!\w)-)?\d+(?:[.,:/]\d+)*|[^\W\d_]+")
RANK_WORD = "number"
"""In 'number one', 'one' is a number; in 'one of them' it is not."""
# Divides 'Paris — Population, 2019' into parts, of which the last is the label.
LABEL = re.compile(r", | — ")
HYPHEN = re.compile(r"(?<=\w)-(?=[^\W\d_])")
"""Between words, or between a number and its unit; not in a range, and not a minus."""
# "1,200" becomes "1200"; "1,20" and "1,2000" stay.
THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")


@dataclass(frozen=True)  # without slots, which cached properties cannot use
class ComparedClaim:
    """A claim with the values that it is compared by."""

    position: int
    """Its position in its run."""
    claim: Claim

    @cached_property
    def text(self) -> str:
        return comparable(self.claim.text)

    @cached_property
    def subject(self) -> str:
        return comparable(self.claim.subject)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return compared_words(self.claim.text)

    @cached_property
    def words_without_figures(self) -> tuple[str, ...]:
        """Its words, with "0" for every number."""
        return without_figures(self.words)

    @cached_property
    def distinct_words(self) -> frozenset[str]:
        """The same, each once."""
        return frozenset(self.words_without_figures)

    @cached_property
    def label(self) -> str:
        return row_label(self.claim)

    @cached_property
    def parsed_numbers(self) -> Hashable:
        """Its measures, its dates and its other numbers, independent of their spelling."""
        claim = self.claim
        spans = [(mention.start, mention.end) for mention in claim.dates]
        spans += [(measure.quantity.start, measure.quantity.end) for measure in claim.measures]
        rest = list(claim.text)
        for start, end in spans:
            rest[start:end] = " " * (end - start)
        dated = sorted((mention.when.earliest, mention.when.latest) for mention in claim.dates)
        return self._measured(), tuple(dated), tuple(_numbers("".join(rest)))

    @cached_property
    def written_numbers(self) -> Hashable:
        """All its numbers, no matter how they were parsed: as two dates, or as a range between them."""
        days = [day for mention in self.claim.dates for day in (mention.when.earliest, mention.when.latest)]
        bounds = (min(days), max(days)) if days else ()
        return tuple(_numbers(self.claim.text)), self._measured(only_with_unit=True), bounds

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Its numbers, and the words that could change a value, such as names of months."""
        known = comparison_words("eng").value_words
        words = [part for word in self.words for part in word.split("-")]
        return tuple(word for word in words if word in known or any(char.isdigit() for char in word))

    def _measured(self, *, only_with_unit: bool = False) -> tuple[Hashable, ...]:
        quantities = sorted((measure.quantity for measure in self.claim.measures), key=lambda quantity: quantity.start)
        return tuple(
            (quantity.low, quantity.high, quantity.unit)
            for quantity in quantities
            if quantity.unit or not only_with_unit
        )

    def has_same_numbers(self, other: ComparedClaim) -> bool:
        """Whether both state the same numbers, as parsed or as written."""
        if self.parsed_numbers == other.parsed_numbers or self.written_numbers == other.written_numbers:
            return True
        # A year that was parsed as a date in only one of them: 'Charles' 1960 hit', 'Charles's 1960 hit'.
        return bool(self.claim.dates) != bool(other.claim.dates) and self.values == other.values


@dataclass(frozen=True, slots=True)
class ChangedClaim:
    """A claim of the old run and its changed version in the new one."""

    old: Claim
    new: Claim
    similarity: float
    numbers_differ: bool
    """Also if a measure or a date differs."""
    hedging_differs: bool
    """Whether it is hedged in other words now, or no longer."""


@dataclass(frozen=True, slots=True)
class ClaimPairs:
    """All claims of two sides, each once."""

    same: tuple[tuple[ComparedClaim, ComparedClaim], ...]
    changed: tuple[tuple[ComparedClaim, ComparedClaim, float], ...]
    gone: tuple[ComparedClaim, ...]
    new: tuple[ComparedClaim, ...]


SAME_KEYS: Sequence[Callable[[ComparedClaim], Hashable]] = (
    lambda claim: claim.claim.id,
    lambda claim: (claim.text, claim.claim.type),
    lambda claim: claim.text,
    lambda claim: (HYPHEN.sub(" ", claim.text), claim.claim.type),
    lambda claim: (claim.subject, tuple(comparable(quote.text) for quote in claim.claim.quotes), claim.claim.type),
)
"""The keys by which two claims count as the same, the surest first; the last is the same quote worded differently.

The fourth treats 'a half-hour' and 'a half hour' as the same.
"""


def pair_claims(old: Sequence[ComparedClaim], new: Sequence[ComparedClaim]) -> ClaimPairs:
    """Pair the claims of one page: equal ones first, then the most similar; the same input gives the same pairs."""
    same: list[tuple[ComparedClaim, ComparedClaim]] = []
    for key in SAME_KEYS:
        found = list(_equal(old, new, key))
        same += found
        old = _without(old, [claim for claim, _ in found])
        new = _without(new, [other for _, other in found])
    changed = _similar(old, new)
    gone = _without(old, [claim for claim, _, _ in changed])
    fresh = _without(new, [other for _, other, _ in changed])
    return ClaimPairs(tuple(same), tuple(changed), tuple(gone), tuple(fresh))


def describe_change(old: ComparedClaim, new: ComparedClaim, similarity: float) -> ChangedClaim:
    hedges = [sorted(comparable(hedge.cue) for hedge in claim.claim.hedges) for claim in (old, new)]
    return ChangedClaim(
        old.claim, new.claim, round(similarity, 3), not old.has_same_numbers(new), hedges[0] != hedges[1]
    )


def row_label(claim: Claim) -> str:
    """The label of a row of a table or an infobox; empty for a sentence."""
    before, _, value = claim.text.rpartition(": ")
    return comparable(LABEL.split(before)[-1]) if " — " in before and not value.endswith(".") else ""


def _equal(
    old: Sequence[ComparedClaim], new: Sequence[ComparedClaim], key: Callable[[ComparedClaim], Hashable]
) -> Iterator[tuple[ComparedClaim, ComparedClaim]]:
    waiting: dict[Hashable, list[ComparedClaim]] = defaultdict(list)
    # Reversed, so that `pop` takes the earliest of several equal claims.
    for claim in reversed(old):
        waiting[key(claim)].append(claim)
    for other in new:
        if waiting.get(key(other)):
            yield waiting[key(other)].pop(), other


def _similar(
    old: Sequence[ComparedClaim], new: Sequence[ComparedClaim]
) -> list[tuple[ComparedClaim, ComparedClaim, float]]:
    if len(old) * len(new) > MAX_CANDIDATES:
        return []
    candidates = [
        (-similarity, -sequence_similarity(claim.words, other.words), claim.position, other.position, claim, other)
        for claim in old
        for other in new
        if (similarity := _similarity(claim, other))
    ]
    # A greedy matching: the most similar pair first, and among equals the one that comes first on the page.
    candidates.sort(key=lambda row: row[:4])
    taken: set[tuple[str, int]] = set()
    found = []
    for similarity, _, position, other_position, claim, other in candidates:
        places = {("old", position), ("new", other_position)}
        if not taken & places:
            taken |= places
            found.append((claim, other, -similarity))
    return sorted(found, key=lambda row: row[1].position)


def _similarity(one: ComparedClaim, other: ComparedClaim) -> float:
    """How similar two claims are, numbers aside; 0 if too little to be one that changed."""
    if one.label != other.label:
        return 0.0
    same_subject, same_type = one.subject == other.subject, one.claim.type == other.claim.type
    if not (same_subject or same_type):
        return 0.0
    min_similarity = MIN_SIMILARITY if same_subject and same_type else MIN_SIMILARITY_LOOSE
    # The words in common order cannot be more than the words in common: this settles most pairs cheaply.
    twice = min(
        len(one.words_without_figures) - len(one.distinct_words),
        len(other.words_without_figures) - len(other.distinct_words),
    )
    max_shared = len(one.distinct_words & other.distinct_words) + twice
    if 2 * max_shared < min_similarity * (len(one.words_without_figures) + len(other.words_without_figures)):
        return 0.0
    return sequence_similarity(one.words_without_figures, other.words_without_figures, min_similarity)


def _without(claims: Sequence[ComparedClaim], taken: Sequence[ComparedClaim]) -> list[ComparedClaim]:
    positions = {claim.position for claim in taken}
    return [claim for claim in claims if claim.position not in positions]


def _numbers(text: str) -> Iterator[str]:
    """The numbers of a text as digits, in order, and their scales."""
    numbers, known = number_words("eng"), comparison_words("eng")
    before = ""
    for word in NUMBER.findall(comparable(text)):
        if word[-1].isdecimal():
            yield THOUSANDS.sub("", word)
        elif word in numbers.scales:
            yield word
        elif word in numbers.values and (word != numbers.pronoun or before == RANK_WORD):
            yield f"{numbers.values[word]:.0f}"
        elif word in known.ordinals and word not in known.common_ordinals:
            yield str(known.ordinals[word])
        before = word
