"""Claims that say the same on several pages, and how many of those pages can be counted."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kiwiresearch.brief.weighing import Weighed, best_first
from kiwiresearch.brief.wording import containment, folded, likeness, names_in, same_name, without_article
from kiwiresearch.claims.claim import Claim, Measure
from kiwiresearch.claims.conflicts.compare import compare
from kiwiresearch.search.hit import Score
from kiwiresearch.text import quantities, when

SAME_WORDS = 0.5
"""Two claims with this share of common words may say the same …"""
SAME_SHORTER = 0.72
"""… if this share of the shorter one's words are in the longer one."""
FEWEST_WORDS = 4
COPIED = 0.85
RAREST = 4
FULLEST = 24
"""A word that more claims have does not tell which of them belong together."""
SUPPORT = 1.2
MOST_SUPPORT = 3


@dataclass(frozen=True, slots=True)
class Said:
    """Something that one claim or several say: the best one first."""

    claims: tuple[Weighed, ...]
    pages: int
    """Pages that say it in words of their own: a copied sentence, or the same article in two books, counts once."""
    points: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", self.score.total)

    @property
    def best(self) -> Claim:
        return self.claims[0].claim

    @property
    def stems(self) -> frozenset[str]:
        return self.claims[0].stems

    @property
    def score(self) -> Score:
        more = min(self.pages - 1, MOST_SUPPORT)
        return self.claims[0].score.plus(f"said by {self.pages} pages", SUPPORT * more)


def joined(weighed: Sequence[Weighed]) -> list[Said]:
    """What the claims say, each thing once, most weight first."""
    leader = list(range(len(weighed)))

    def find(one: int) -> int:
        while leader[one] != one:
            leader[one] = leader[leader[one]]
            one = leader[one]
        return one

    for one, other in _candidates(weighed):
        first, second = find(one), find(other)
        if first != second and says_the_same(weighed[one], weighed[other]):
            leader[max(first, second)] = min(first, second)
    groups: dict[int, list[Weighed]] = defaultdict(list)
    for number, claim in enumerate(weighed):
        groups[find(number)].append(claim)
    said = [one for group in groups.values() for one in _agreeing(group)]
    return sorted(said, key=lambda one: (-one.points, one.best.ref, one.best.quotes[0].start, one.best.id))


def _agreeing(group: Sequence[Weighed]) -> Iterator[Said]:
    """Claims that were joined through others stay together only if each says the same as the best of them."""
    left = best_first(group)
    while left:
        best = left[0]
        same = [best, *(one for one in left[1:] if says_the_same(best, one))]
        yield _said(same)
        left = [one for one in left if one not in same]


def _said(group: Sequence[Weighed]) -> Said:
    return Said(tuple(group), 1) if len(group) == 1 else Said(tuple(best_first(group)), independent(group))


def _candidates(weighed: Sequence[Weighed]) -> Iterator[tuple[int, int]]:
    """Pairs that share rare words: only those are looked at."""
    counts = Counter(stem for one in weighed for stem in one.stems)
    by_stem: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(weighed):
        if len(one.stems) < FEWEST_WORDS:
            continue
        rare = sorted((stem for stem in one.stems if counts[stem] > 1), key=lambda stem: (counts[stem], stem))
        for stem in rare[:RAREST]:
            by_stem[stem].append(number)
    seen: set[tuple[int, int]] = set()
    for stem in sorted(by_stem):
        numbers = by_stem[stem]
        if len(numbers) > FULLEST:
            continue
        for pair in itertools.combinations(numbers, 2):
            if pair not in seen:
                seen.add(pair)
                yield pair


def says_the_same(one: Weighed, other: Weighed) -> bool:
    """Whether two claims can stand for each other: the same words, numbers, dates and names, or the same value."""
    a, b = one.claim, other.claim
    alike = likeness(one.stems, other.stems)
    if alike < SAME_WORDS / 2 or not _same_numbers(a, b) or not _same_stance(a, b):
        return False
    if not same_value(a, b):
        if alike < SAME_WORDS or containment(one.stems, other.stems) < SAME_SHORTER:
            return False
        if not (_same_dates(a, b) and _same_names(a, b)):
            return False
    how = compare(one.saying, other.saying)
    return how is None or how.kind != "contradiction"


def _same_stance(a: Claim, b: Claim) -> bool:
    """Whether both say it as surely, as their own or as somebody's view, and of causes in the same direction."""
    if {hedge.kind for hedge in a.hedges} != {hedge.kind for hedge in b.hedges}:
        return False
    if (a.type == "disputed") != (b.type == "disputed"):
        return False
    if bool(DENIAL.search(a.text)) != bool(DENIAL.search(b.text)):
        return False
    return not _is_reversed(a, b)


def _is_reversed(a: Claim, b: Claim) -> bool:
    """Whether what one says of a first and a second thing, the other says of the second and the first."""
    if same_name(a.subject, b.subject) or " by " in a.text or " by " in b.text:
        return False
    return without_article(a.subject) in folded(b.text) and without_article(b.subject) in folded(a.text)


DENIAL = re.compile(r"\b(?:not|never|no|neither|nor|without|cannot|nobody|nothing)\b|n['’]t\b", re.IGNORECASE)


def same_value(a: Claim, b: Claim) -> bool:
    """Whether both measure the same of the same, and find the same."""
    return any(
        one.what and one.what == other.what and same_name(one.of, other.of) and _agree(one, other)
        for one in a.measures
        for other in b.measures
    )


def _agree(one: Measure, other: Measure) -> bool:
    same_time = one.when is None or other.when is None or when.relation(one.when, other.when) != "apart"
    return same_time and quantities.relation(one.quantity, other.quantity) in ("same", "rounding")


def _same_numbers(a: Claim, b: Claim) -> bool:
    few, more = sorted((a.measures, b.measures), key=len)
    return bool(few) == bool(more) and all(
        any(quantities.relation(one.quantity, other.quantity) in ("same", "rounding") for other in more) for one in few
    )


def _same_dates(a: Claim, b: Claim) -> bool:
    few, more = sorted((a.dates, b.dates), key=len)
    return bool(few) == bool(more) and all(
        any(when.relation(one.when, other.when) in ("same", "within", "calendar") for other in more) for one in few
    )


def _same_names(a: Claim, b: Claim) -> bool:
    """Whether neither names somebody whom the other leaves out for somebody else."""
    one, other = names_in(a.text), names_in(b.text)
    return not (one - other and other - one)


def independent(group: Sequence[Weighed]) -> int:
    """How many pages say it independently of each other."""
    counted: list[Weighed] = []
    for one in best_first(group):
        if not any(depends(one, other) for other in counted):
            counted.append(one)
    return len(counted)


def depends(one: Weighed, other: Weighed) -> bool:
    """Whether two claims count as one source: of one page, or copied."""
    if one.claim.ref == other.claim.ref or folded(one.claim.page_title) == folded(other.claim.page_title):
        return True
    return likeness(one.stems, other.stems) >= COPIED
