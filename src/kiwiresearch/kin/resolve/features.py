"""Log-odds that two records are the same person, from their names, dates and places."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rapidfuzz.distance import OSA

from kiwiresearch.kin.resolve.profile import ALL_TIME, INITIAL_SIMILARITY, NameParts, Profile, Years, word_similarity
from kiwiresearch.text.dates import DateRange, date_relation

NAME_RANGE = (-9.0, 10.0)
SMOOTHING = 50
"""A small tree is a poor guide to how common a name is, so this many people with average names are assumed as well."""
TYPICAL_SHARE = 0.02
RARITY_RANGE = (1.0, 7.5)

GAP_POINTS = ((0, 3.2), (1, 1.8), (2, 0.6), (5, -1.5), (10, -4.0))
FAR_APART = -8.0
SAME_DAY = 4.5
SAME_MONTH = 3.8
MAX_INFORMATIVE_YEARS = 12
"""The wider two ranges of years, the weaker the evidence of an overlap; from this width on it is negligible."""
OTHER_ERA = -7.0
"""The lowest points for two people who lived at different times."""

ONE_LETTER_OFF = 0.94
"""The similarity of two words that differ by a typo."""
RARE_COUNT = 2
"""A word that at most this many people have counts as rare, and may be a typo of another."""


@dataclass(frozen=True, slots=True)
class FeaturePoints:
    """Log-odds with their reason, and the similarity from 0 to 1."""

    value: float
    similarity: float
    reason: str
    is_different_name: bool = False
    """The first or middle names belong to two people, so what siblings share is not evidence."""


NO_POINTS = FeaturePoints(0.0, 0.5, "nothing to compare")
NO_OTHER_NAMES = FeaturePoints(0.0, 0.5, "")


class Rarity:
    """How strong the evidence of a shared name is: the rarer the name, the stronger."""

    def __init__(self, profiles: Iterable[Profile]) -> None:
        self._people = 0
        self._count: Counter[str] = Counter()
        self._compared: dict[tuple[NameParts, NameParts, bool], FeaturePoints] = {}
        for profile in profiles:
            self._people += 1
            self._count.update({token for name in profile.names for token in name.tokens})

    def weight(self, token: str) -> float:
        share = (self._count[token] + SMOOTHING * TYPICAL_SHARE) / (self._people + SMOOTHING)
        low, high = RARITY_RANGE
        return min(max(-math.log(share), low), high)

    def likeness(self, one: str, other: str) -> float:
        """The similarity of two words; a one-letter difference counts as a typo if one of the words is rare."""
        like = word_similarity(one, other)
        if (
            like >= ONE_LETTER_OFF
            or min(len(one), len(other)) < 4
            or min(self._count[one], self._count[other]) > RARE_COUNT
        ):
            return like
        return ONE_LETTER_OFF if OSA.distance(one, other, score_cutoff=1) <= 1 else like

    def shared(self, one: str, other: str) -> float:
        return min(self.weight(one), self.weight(other))

    def compare(self, one: NameParts, other: NameParts, *, is_woman: bool) -> FeaturePoints:
        """Compare two names; cached, since many people share a name."""
        known = self._compared.get((one, other, is_woman))
        if known is None:
            known = self._compared[one, other, is_woman] = _name_points(one, other, self, is_woman=is_woman)
        return known


def name_points(a: Profile, b: Profile, rarity: Rarity) -> FeaturePoints:
    """The points of the best-matching pair of their names."""
    is_woman = "female" in (a.sex, b.sex)
    found = [rarity.compare(name, other, is_woman=is_woman) for name in a.names for other in b.names]
    return found[0] if len(found) == 1 else max(found, key=lambda points: points.value)


def _name_points(one: NameParts, other: NameParts, rarity: Rarity, *, is_woman: bool) -> FeaturePoints:
    if not one.tokens or not other.tokens:
        return _numbered(one, other)
    given, rest = _given_names(one, other, rarity), _other_names(one, other, rarity, is_woman=is_woman)
    value = given.value + rest.value
    if one.numerals & other.numerals:
        value += 1.5
    if one.ordinals and other.ordinals and not one.ordinals & other.ordinals:
        value -= 3.0
    low, high = NAME_RANGE
    share = given.similarity if rest is NO_OTHER_NAMES else 0.6 * given.similarity + 0.4 * rest.similarity
    reason = ", ".join(part for part in (given.reason, rest.reason) if part)
    return FeaturePoints(
        min(max(value, low), high), share, reason, is_different_name=given.is_different_name or rest.is_different_name
    )


def _numbered(one: NameParts, other: NameParts) -> FeaturePoints:
    """Children without a name may be numbered: 'Son 1', 'Son 2'."""
    if not one.ordinals or not other.ordinals:
        return (
            NO_POINTS
            if one.ordinals == other.ordinals
            else FeaturePoints(0.0, 0.5, "only one has a number", is_different_name=True)
        )
    if one.ordinals == other.ordinals:
        return FeaturePoints(1.5, 0.8, f"both are number {', '.join(sorted(one.ordinals))}")
    return FeaturePoints(-4.0, 0.2, "they have different numbers")


def _given_names(one: NameParts, other: NameParts, rarity: Rarity) -> FeaturePoints:
    if not one.given or not other.given:
        return FeaturePoints(0.0, 0.5, "")
    like = rarity.likeness(one.given, other.given)
    weight = rarity.shared(one.given, other.given)
    if like == 1.0 and len(one.given) > 1:
        return FeaturePoints(weight, 1.0, f"the same first name {one.given!r}")
    pair = f"{one.given!r} and {other.given!r}"
    if len(one.given) == 1 or len(other.given) == 1:
        if like:
            return FeaturePoints(0.9, like, f"first names match ({pair})")
        return FeaturePoints(-5.0, 0.0, f"first names differ ({pair})", is_different_name=True)
    for least, part in ((0.94, 0.85), (0.88, 0.65), (0.82, 0.3)):
        if like >= least:
            return FeaturePoints(part * weight, like, f"first names are similar ({pair})")
    for given, others in ((one.given, other.rest), (other.given, one.rest)):
        used = max((rarity.likeness(given, token) for token in others if len(token) > 1), default=0.0)
        if used >= 0.93 and given == others[-1] and (given,) in (one.tokens, other.tokens):
            return FeaturePoints(
                0.35 * rarity.weight(given), 0.5, f"only the surname {given!r} is known of one", is_different_name=True
            )
        if used >= 0.93:
            return FeaturePoints(0.35 * rarity.weight(given), 0.7, f"{given!r} is one of the other's names")
    return FeaturePoints(-4.0 if like >= 0.7 else -6.0, like, f"first names differ ({pair})", is_different_name=True)


def _other_names(one: NameParts, other: NameParts, rarity: Rarity, *, is_woman: bool) -> FeaturePoints:
    """Surnames, middle names and epithets: which of them match, and whether both sides have some that do not.

    Two men of one surname with different middle names are brothers or cousins; a woman's surname may have
    changed by marriage.
    """
    if not one.rest or not other.rest:
        return NO_OTHER_NAMES
    value, alike, matched = 0.0, 0.0, []
    left, right = dict.fromkeys(one.rest), dict.fromkeys(other.rest)
    options = [(rarity.likeness(x, y), x, y) for x in left for y in right]
    for like, x, y in sorted(options, key=lambda found: -found[0]):
        if (like < 0.85 and like != INITIAL_SIMILARITY) or x not in left or y not in right:
            continue
        del left[x], right[y]
        is_initial = len(x) == 1 or len(y) == 1
        value += 0.4 if is_initial else (0.85 if like >= 0.94 else 0.6) * rarity.shared(x, y)
        alike += like
        matched.append(repr(x) if like == 1.0 else f"{x!r} and {y!r}")
    unmatched = min(len(left), len(right))
    value -= unmatched * (1.0 if is_woman else 1.6)
    share = alike / (len(matched) + unmatched) if matched or unmatched else 0.5
    reason = f"both are called {', '.join(matched)}" if matched else ""
    if unmatched:
        differ = f"{' '.join(left)!r} against {' '.join(right)!r}"
        reason = f"{reason}, but {differ}" if reason else f"other names differ ({differ})"
    return FeaturePoints(value, share, reason, is_different_name=bool(matched and unmatched and not is_woman))


def date_points(a: Profile, b: Profile, *, with_reason: bool = True) -> FeaturePoints:
    """Births and deaths; where a birth is missing, whether they can have lived at the same time.

    Formatting dates takes longer than comparing them, so reasons that nobody reads are left out.
    """
    parts = [
        _one_date("born", a.birth, b.birth, a.birth_years, b.birth_years, with_reason=with_reason),
        _one_date("died", a.death, b.death, a.death_years, b.death_years, with_reason=with_reason),
    ]
    known = [part for part in parts if part is not None]
    if a.birth is None or b.birth is None:
        era = _era_points(a.era, b.era)
        known += [era] if era else []
    if not known:
        return NO_POINTS
    value = sum(part.value for part in known)
    return FeaturePoints(max(value, -12.0), probability(value), ", ".join(part.reason for part in known))


def _one_date(
    what: str,
    one: DateRange | None,
    other: DateRange | None,
    first: Years | None,
    second: Years | None,
    *,
    with_reason: bool,
) -> FeaturePoints | None:
    if one is None or other is None or first is None or second is None:
        return None
    dates = f"{what} {one.words()} and {other.words()}" if with_reason else ""
    gap = max(first[0] - second[1], second[0] - first[1], 0)
    if gap == 0 and _are_days(one, other):
        if is_same_day(one, other):
            return FeaturePoints(SAME_DAY, 1.0, f"{what} on the same day ({dates})")
        if one.first_day.month == other.first_day.month:
            return FeaturePoints(SAME_MONTH, 0.9, f"{what} in the same month ({dates})")
        return FeaturePoints(GAP_POINTS[0][1] - 1.2, 0.7, f"{what} in the same year, on different days ({dates})")
    if gap == 0:
        width = min(first[1], second[1]) - max(first[0], second[0]) if max(first[0], second[0]) > ALL_TIME[0] else 99
        value = GAP_POINTS[0][1] * max(1 - width / MAX_INFORMATIVE_YEARS, 0.1)
        return FeaturePoints(value, probability(value), f"{what} at the same time ({dates})")
    value = next((points for years, points in GAP_POINTS if gap <= years), FAR_APART)
    return FeaturePoints(value, probability(value), f"{gap} {'year' if gap == 1 else 'years'} apart ({dates})")


def is_same_day(one: DateRange | None, other: DateRange | None) -> bool:
    """Whether two dates are the same day, possibly in two calendars; `loop.person_match` allows only one."""
    return bool(one and other and _are_days(one, other) and date_relation(one, other) in ("same", "calendar"))


def _are_days(one: DateRange, other: DateRange) -> bool:
    return one.precision == other.precision == "day" and not one.qualifier and not other.qualifier


def _era_points(one: Years, other: Years) -> FeaturePoints | None:
    if ALL_TIME in (one, other):
        return None
    gap = max(one[0] - other[1], other[0] - one[1])
    if gap > 0:
        value = max(OTHER_ERA, -1.5 - 0.25 * gap)
        return FeaturePoints(value, probability(value), f"their families lived at least {gap} years apart")
    width = min(one[1], other[1]) - max(one[0], other[0])
    value = 0.8 if width <= 30 else 0.4 if width <= 80 else 0.0
    return FeaturePoints(value, probability(value), "their families lived at the same time") if value else None


def place_points(a: Profile, b: Profile) -> FeaturePoints:
    """Places of birth and death, compared from the most specific part to the least."""
    found = [
        part
        for part in (
            _one_place("born", a.birth_place, b.birth_place, 1.6),
            _one_place("died", a.death_place, b.death_place, 1.3),
        )
        if part
    ]
    if not found:
        return NO_POINTS
    value = sum(part.value for part in found)
    return FeaturePoints(value, probability(value), ", ".join(part.reason for part in found))


def _one_place(what: str, one: tuple[str, ...], other: tuple[str, ...], most: float) -> FeaturePoints | None:
    if not one or not other:
        return None
    if word_similarity(one[0], other[0]) >= 0.92:
        return FeaturePoints(most, 1.0, f"both {what} in {one[0]!r}")
    if one[0] in other or other[0] in one:
        return FeaturePoints(0.6 * most, 0.8, f"{what} in {one[0]!r} and {other[0]!r}, one in the other")
    shared = sorted(set(one) & set(other))
    if shared:
        return FeaturePoints(
            0.2, 0.6, f"both {what} in {shared[0]!r}, but in different parts ({one[0]!r} and {other[0]!r})"
        )
    return FeaturePoints(-0.7, 0.2, f"{what} in {one[0]!r} and {other[0]!r}")


def probability(points: float) -> float:
    """Log-odds as a probability."""
    if points < -40:
        return 0.0
    return 1.0 / (1.0 + math.exp(-min(points, 40.0)))
