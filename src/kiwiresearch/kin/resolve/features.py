"""Log-odds that two records are the same person, from their names, dates and places.

All points are in one module, where they can be compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from rapidfuzz.distance import OSA

from kiwiresearch.kin.resolve import reasons
from kiwiresearch.kin.resolve.profile import (
    ALL_TIME,
    INITIAL_SIMILARITY,
    VARIANT_SIMILARITY,
    NameParts,
    Profile,
    Years,
    word_similarity,
)
from kiwiresearch.messages import Message
from kiwiresearch.text.dates import DateRange, date_relation

# All points are natural log-odds, tuned on one real tree (royal92); docs/design/kin.md has what they reach on others.
NAME_RANGE = (-9.0, 10.0)
SMOOTHING = 50
"""A small tree is a poor guide to how common a name is, so this many people with average names are assumed as well."""
TYPICAL_SHARE = 0.02
RARITY_RANGE = (1.0, 7.5)

# Years apart, and the points of a gap up to that.
GAP_POINTS = ((0, 3.2), (1, 1.8), (2, 0.6), (5, -1.5), (10, -4.0))
FAR_APART = -8.0
SAME_DAY = 4.5
SAME_MONTH = 3.8
MAX_INFORMATIVE_YEARS = 12
"""The wider two ranges of years, the weaker the evidence of an overlap; from this width on it is negligible."""
OTHER_ERA = -7.0
"""The lowest points for two people who lived at different times."""
UNKNOWN_WIDTH = 99
"""The width in years of an overlap of two ranges of which neither has a first year: it is weak evidence."""
MIN_DATE_POINTS = -12.0
"""The lowest points for births, deaths and times of life together."""

ONE_LETTER_OFF = 0.94
"""The similarity of two words that differ by a typo."""
SAME_HUSBAND = 4.0
OTHER_NAME = -0.7
TITLE_SHARE = 0.7
"""How much of the weight of its rarity a shared title has: sons inherit titles."""
OTHER_TITLE = -1.5
RARE_COUNT = 2
"""A word that at most this many people have counts as rare, and may be a typo of another."""


@dataclass(frozen=True, slots=True)
class FeaturePoints:
    """Log-odds with their reason, and the similarity from 0 to 1."""

    points: float
    similarity: float
    reason: Message
    against: Message = reasons.NO_REASON
    """The part of it that speaks against a match."""
    is_different_name: bool = False
    """The first or middle names belong to two people, so what siblings share is not evidence."""
    has_only_first_name: bool = False
    """Nothing but the first names agrees."""
    is_doubtful_name: bool = False
    """Surnames, bynames or titles differ, or only a secondary name fits, as with relatives: a person has to decide."""


NOTHING_TO_COMPARE = FeaturePoints(0.0, 0.5, Message("nothing to compare", "same.nothing"))
"""A kind of evidence that one of the records lacks; a proposal says so."""
NEUTRAL = FeaturePoints(0.0, 0.5, reasons.NO_REASON)
"""The same for a part of the evidence, such as titles; a proposal does not mention it."""


class NameComparer:
    """Compares names: the rarer a shared name is, the stronger the evidence."""

    def __init__(self, profiles: Iterable[Profile]) -> None:
        self._people = 0
        self._count: Counter[str] = Counter()
        self._compared: dict[tuple[NameParts, NameParts, bool], FeaturePoints] = {}
        for profile in profiles:
            self._people += 1
            self._count.update({word for name in profile.names for word in (*name.tokens, *name.titles)})

    def weight(self, token: str) -> float:
        # The weight is the negative logarithm of how common the name is: a shared rare name is stronger evidence.
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
        # Optimal string alignment: two swapped letters count as one mistake.
        return ONE_LETTER_OFF if OSA.distance(one, other, score_cutoff=1) <= 1 else like

    def shared(self, one: str, other: str) -> float:
        return min(self.weight(one), self.weight(other))

    def compare(self, one: NameParts, other: NameParts, *, is_woman: bool) -> FeaturePoints:
        """Compare two names; cached, since many people share a name."""
        known = self._compared.get((one, other, is_woman))
        if known is None:
            known = self._compared[one, other, is_woman] = _name_points(one, other, self, is_woman=is_woman)
        return known


def name_points(a: Profile, b: Profile, comparer: NameComparer) -> FeaturePoints:
    """The points of the best-matching pair of their names."""
    is_woman = "female" in (a.sex, b.sex)
    found = [
        _as_other_name(points) if name in a.other_names or other in b.other_names else points
        for name in a.names
        for other in b.names
        for points in [
            _by_husband(name, other, b.husbands if name.husband else a.husbands)
            or comparer.compare(name, other, is_woman=is_woman)
        ]
    ]
    return found[0] if len(found) == 1 else max(found, key=lambda feature: feature.points)


def _as_other_name(points: FeaturePoints) -> FeaturePoints:
    """The points of a name that is not the main one of a person."""
    if points.points <= 0:
        return points
    why = Message("it is not the main name of one of them", "same.other_name")
    against = reasons.together((points.against, why))
    return replace(points, points=points.points + OTHER_NAME, against=against, is_doubtful_name=True)


def _by_husband(one: NameParts, other: NameParts, husbands: tuple[str, ...]) -> FeaturePoints | None:
    """A wife who is called by the name of her husband; `husbands` are those of the other person."""
    if bool(one.husband) == bool(other.husband):
        return None
    called = one.husband or other.husband
    known = next((name for name in husbands if word_similarity(called, name) >= ONE_LETTER_OFF), "")
    if known:
        return FeaturePoints(SAME_HUSBAND, 0.9, reasons.called_by_husband(called, known))
    if husbands:
        why = reasons.other_husband(called, husbands[0])
        return FeaturePoints(-SAME_HUSBAND, 0.1, why, is_different_name=True)
    return FeaturePoints(0.0, 0.5, reasons.NO_REASON, reasons.maybe_by_husband(called))


def names_fit(a: Profile, b: Profile) -> bool:
    """Whether one may be called by a short or another form of the other's name."""
    return any(_fits(name, other, b.husbands if name.husband else a.husbands) for name in a.names for other in b.names)


def share_first_name_but_one_has_place(a: Profile, b: Profile) -> bool:
    """Whether the first names are the same, and one has a place where the other has a family name."""
    return any(
        name.given and other.given and name.given == other.given and name.has_place != other.has_place
        for name in a.names
        for other in b.names
    )


def _fits(one: NameParts, other: NameParts, husbands: tuple[str, ...]) -> bool:
    by_husband = _by_husband(one, other, husbands)
    if by_husband is not None:
        return by_husband.points >= 0
    if _titles_named_by_place(one, other) or _titles_named_by_place(other, one):
        return True
    if not one.given or not other.given:
        return bool(one.titles & other.titles)
    if word_similarity(one.given, other.given) < ONE_LETTER_OFF:
        return False
    if one.titles & other.titles:
        return True
    short, long = sorted((one.rest, other.rest), key=len)
    return all(any(word_similarity(word, known) >= ONE_LETTER_OFF for known in long) for word in short)


def _name_points(one: NameParts, other: NameParts, comparer: NameComparer, *, is_woman: bool) -> FeaturePoints:
    titles = _titles(one, other, comparer)
    if titles.points > 0 and (_titles_named_by_place(one, other) or _titles_named_by_place(other, one)):
        return titles
    if one.husband and one.husband == other.husband:
        return FeaturePoints(SAME_HUSBAND, 0.9, reasons.same_first_name(one.husband))
    if not one.tokens or not other.tokens:
        return titles if titles.points else _numbered(one, other)
    given, rest = _given_names(one, other, comparer), _other_names(one, other, comparer, is_woman=is_woman)
    value = given.points + rest.points + titles.points
    if one.numerals & other.numerals:
        value += 1.5
    if one.ordinals and other.ordinals and not one.ordinals & other.ordinals:
        value -= 3.0
    low, high = NAME_RANGE
    similarity = given.similarity if rest is NEUTRAL else 0.6 * given.similarity + 0.4 * rest.similarity
    return FeaturePoints(
        min(max(value, low), high),
        similarity,
        reasons.together((given.reason, rest.reason, titles.reason)),
        reasons.together((given.against, rest.against, titles.against)),
        is_different_name=given.is_different_name or rest.is_different_name,
        has_only_first_name=titles.points <= 0 and rest is NEUTRAL and one.rest != other.rest,
        is_doubtful_name=rest.is_doubtful_name or titles.points < 0,
    )


def _titles_named_by_place(one: NameParts, other: NameParts) -> list[str]:
    """The titles of one person that the other is called by: 'Gloucester' is the Duke of Gloucester."""
    places = [title for title in sorted(other.titles) if one.tokens and title.endswith(f" of {' '.join(one.tokens)}")]
    return places or [epithet for epithet in sorted(other.epithets) if epithet == one.whole]


def _titles(one: NameParts, other: NameParts, comparer: NameComparer) -> FeaturePoints:
    """Titles of a place: the same one is evidence, and two of the same rank are more likely two people."""
    same = sorted(one.titles & other.titles) or [
        *_titles_named_by_place(one, other),
        *_titles_named_by_place(other, one),
    ]
    if same:
        value = TITLE_SHARE * max(map(comparer.weight, same))
        return FeaturePoints(value, 0.8, reasons.same_title(same))
    ranks = {title.partition(" ")[0]: title for title in one.titles}
    for title in sorted(other.titles):
        if title.partition(" ")[0] in ranks:
            why = reasons.titles_differ(ranks[title.partition(" ")[0]], title)
            return FeaturePoints(OTHER_TITLE, 0.3, reasons.NO_REASON, why)
    return NEUTRAL


def _numbered(one: NameParts, other: NameParts) -> FeaturePoints:
    """Children without a name may be numbered: 'Son 1', 'Son 2'."""
    if not one.ordinals or not other.ordinals:
        return (
            NOTHING_TO_COMPARE
            if one.ordinals == other.ordinals
            else FeaturePoints(0.0, 0.5, Message("only one has a number", "same.one_number"), is_different_name=True)
        )
    if one.ordinals == other.ordinals:
        return FeaturePoints(1.5, 0.8, reasons.same_number(", ".join(sorted(one.ordinals))))
    return FeaturePoints(-4.0, 0.2, Message("they have different numbers", "same.other_number"))


def _given_names(one: NameParts, other: NameParts, comparer: NameComparer) -> FeaturePoints:
    if not one.given or not other.given:
        return NEUTRAL
    like = comparer.likeness(one.given, other.given)
    weight = comparer.shared(one.given, other.given)
    if like == 1.0 and len(one.given) > 1:
        return FeaturePoints(weight, 1.0, reasons.same_first_name(one.given))
    pair = one.given, other.given
    if len(one.given) == 1 or len(other.given) == 1:
        if like:
            return FeaturePoints(0.9, like, reasons.first_names_match(*pair))
        return FeaturePoints(-5.0, 0.0, reasons.first_names_differ(*pair), is_different_name=True)
    for min_likeness, part in ((0.94, 0.85), (0.88, 0.65), (0.82, 0.3)):
        if like >= min_likeness:
            why = reasons.first_names_forms(*pair) if like == VARIANT_SIMILARITY else reasons.first_names_alike(*pair)
            return FeaturePoints(part * weight, like, why)
    for given, others in ((one.given, other.rest), (other.given, one.rest)):
        used = max((comparer.likeness(given, token) for token in others if len(token) > 1), default=0.0)
        # 'Pitt' beside 'William Pitt': a surname, which any relative has.
        if used >= 0.93 and given == others[-1] and (given,) in (one.tokens, other.tokens):
            return FeaturePoints(
                0.35 * comparer.weight(given), 0.5, reasons.only_surname(given), is_different_name=True
            )
        if used >= 0.93:
            return FeaturePoints(0.35 * comparer.weight(given), 0.7, reasons.one_of_names(given))
    return FeaturePoints(-4.0 if like >= 0.7 else -6.0, like, reasons.first_names_differ(*pair), is_different_name=True)


def _other_names(one: NameParts, other: NameParts, comparer: NameComparer, *, is_woman: bool) -> FeaturePoints:
    """Surnames, middle names and epithets: which of them match, and whether both sides have some that do not.

    Two men of the same surname with different middle names are brothers or cousins; a woman's surname may have
    changed by marriage.
    """
    if not one.rest or not other.rest:
        return NEUTRAL
    value, alike, pairs = 0.0, 0.0, 0
    matched: list[str] = []
    left, right = dict.fromkeys(one.rest), dict.fromkeys(other.rest)
    options = [(comparer.likeness(x, y), x, y) for x in left for y in right]
    for like, x, y in sorted(options, key=lambda found: -found[0]):
        # Greedy: the most similar words are paired first, and each word only once.
        if (like < 0.85 and like != INITIAL_SIMILARITY) or x not in left or y not in right:
            continue
        del left[x], right[y]
        is_initial = len(x) == 1 or len(y) == 1
        value += 0.4 if is_initial else (0.85 if like >= 0.94 else 0.6) * comparer.shared(x, y)
        alike += like
        pairs += 1
        matched += [x] if like == 1.0 else [x, y]
    unmatched = min(len(left), len(right))
    value -= unmatched * (1.0 if is_woman else 1.6)
    similarity = alike / (pairs + unmatched) if pairs or unmatched else 0.5
    both = reasons.both_called(matched) if matched else reasons.NO_REASON
    differ = reasons.names_differ(" ".join(left), " ".join(right)) if unmatched else reasons.NO_REASON
    return FeaturePoints(
        value,
        similarity,
        both,
        differ,
        is_different_name=bool(matched and unmatched and not is_woman),
        is_doubtful_name=bool(unmatched and not matched),
    )


def date_points(a: Profile, b: Profile) -> FeaturePoints:
    """Births and deaths; where a birth is missing, whether they can have lived at the same time."""
    parts = [
        _one_date(a.birth, b.birth, a.birth_years, b.birth_years, is_birth=True),
        _one_date(a.death, b.death, a.death_years, b.death_years, is_birth=False),
    ]
    known = [part for part in parts if part is not None]
    if a.birth is None or b.birth is None:
        # With both births known, the years of the families would count the same evidence again.
        era = _era_points(a.era, b.era)
        known += [era] if era else []
    if not known:
        return NOTHING_TO_COMPARE
    value = sum(part.points for part in known)
    why = reasons.together(part.reason for part in known)
    return FeaturePoints(max(value, MIN_DATE_POINTS), probability(value), why)


def _one_date(
    one: DateRange | None,
    other: DateRange | None,
    first: Years | None,
    second: Years | None,
    *,
    is_birth: bool,
) -> FeaturePoints | None:
    if one is None or other is None or first is None or second is None:
        return None
    gap = max(first[0] - second[1], second[0] - first[1], 0)
    if gap == 0 and _are_days(one, other):
        if is_same_day(one, other):
            return FeaturePoints(SAME_DAY, 1.0, reasons.on_same_day(is_birth=is_birth, year=one.first_day.year))
        if one.first_day.month == other.first_day.month:
            return FeaturePoints(SAME_MONTH, 0.9, reasons.in_same_month(is_birth=is_birth, year=one.first_day.year))
        why = reasons.on_other_days(is_birth=is_birth, year=one.first_day.year)
        return FeaturePoints(GAP_POINTS[0][1] - 1.2, 0.7, why)
    years = one.first_day.year, other.first_day.year
    if gap == 0:
        start = max(first[0], second[0])
        width = min(first[1], second[1]) - start if start > ALL_TIME[0] else UNKNOWN_WIDTH
        value = GAP_POINTS[0][1] * max(1 - width / MAX_INFORMATIVE_YEARS, 0.1)
        return FeaturePoints(value, probability(value), reasons.at_same_time(*years, is_birth=is_birth))
    value = next((points for most, points in GAP_POINTS if gap <= most), FAR_APART)
    return FeaturePoints(value, probability(value), reasons.years_apart(gap, *years, is_birth=is_birth))


def is_same_day(one: DateRange | None, other: DateRange | None) -> bool:
    """Whether two dates are the same day, possibly in two calendars; `loop.record_match` allows only one."""
    return bool(one and other and _are_days(one, other) and date_relation(one, other) in ("same", "calendar"))


def _are_days(one: DateRange, other: DateRange) -> bool:
    return one.precision == other.precision == "day" and not one.qualifier and not other.qualifier


def _era_points(one: Years, other: Years) -> FeaturePoints | None:
    if ALL_TIME in (one, other):
        return None
    gap = max(one[0] - other[1], other[0] - one[1])
    if gap > 0:
        value = max(OTHER_ERA, -1.5 - 0.25 * gap)
        return FeaturePoints(value, probability(value), reasons.families_apart(gap))
    width = min(one[1], other[1]) - max(one[0], other[0])
    value = 0.8 if width <= 30 else 0.4 if width <= 80 else 0.0
    return FeaturePoints(value, probability(value), reasons.FAMILIES_TOGETHER) if value else None


def place_points(a: Profile, b: Profile) -> FeaturePoints:
    """Places of birth and death, compared from the most specific part to the least."""
    found = [
        part
        for part in (
            _one_place(a.birth_place, b.birth_place, 1.6, is_birth=True),
            _one_place(a.death_place, b.death_place, 1.3, is_birth=False),
        )
        if part
    ]
    if not found:
        return NOTHING_TO_COMPARE
    value = sum(part.points for part in found)
    return FeaturePoints(value, probability(value), reasons.together(part.reason for part in found))


def _one_place(
    one: tuple[str, ...], other: tuple[str, ...], max_points: float, *, is_birth: bool
) -> FeaturePoints | None:
    if not one or not other:
        return None
    if word_similarity(one[0], other[0]) >= 0.92:
        return FeaturePoints(max_points, 1.0, reasons.same_place(one[0], is_birth=is_birth))
    if one[0] in other or other[0] in one:
        return FeaturePoints(0.6 * max_points, 0.8, reasons.place_within(one[0], other[0], is_birth=is_birth))
    shared = sorted(set(one) & set(other))
    if shared:
        return FeaturePoints(0.2, 0.6, reasons.parts_of_place(shared[0], one[0], other[0], is_birth=is_birth))
    return FeaturePoints(-0.7, 0.2, reasons.other_place(one[0], other[0], is_birth=is_birth))


def probability(points: float) -> float:
    """Log-odds as a probability."""
    if points < -40:
        return 0.0
    return 1.0 / (1.0 + math.exp(-min(points, 40.0)))
