"""Pairs of people: which are worth a score, and which can never be the same person."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from kiwiresearch.kin.plausibility import YOUNGEST_PARENT
from kiwiresearch.kin.resolve.profile import FILE_PREFIX, Profile, sounds, years_of
from kiwiresearch.kin.tree import DISCARDED, PARENT_OF_SEX, PersonId, Tree

Pair = tuple[PersonId, PersonId]
SLACK_YEARS = 2
"""Different calendars and copying errors shift dates a little."""
SITE = re.compile(r"[a-z]+://[^/]+/")


def ordered_pair(one: PersonId, other: PersonId) -> Pair:
    return (one, other) if one < other else (other, one)


def are_different_pages(one: str, other: str) -> bool:
    """Whether two addresses are different pages of one book or site, which has one page per person."""
    places = [SITE.match(address) for address in (one, other)]
    return one != other and places[0] is not None and places[1] is not None and places[0][0] == places[1][0]


class Vetoes:
    """Who cannot be the same person: by their records, by their ties, or because they were separated before."""

    def __init__(self, tree: Tree, separated: Collection[Pair]) -> None:
        self._tree = tree
        self._separated = {ordered_pair(*pair) for pair in separated}
        self._direct_ties = {
            ordered_pair(tie.first, tie.second): tie.kind
            for tie in tree.relationships
            if tie.kind != "parent_of" and tie.status not in DISCARDED
        }
        self._ancestors: dict[PersonId, frozenset[PersonId]] = {}

    def reasons(self, a: Profile, b: Profile) -> Iterator[str]:
        """All reasons, as a genealogist would state them."""
        yield from self._by_ties(a, b)
        yield from self._by_sources(a, b)
        yield from _by_names(a, b)
        yield from self._by_lives(a, b)

    def _by_ties(self, a: Profile, b: Profile) -> Iterator[str]:
        pair = ordered_pair(a.id, b.id)
        if pair in self._separated:
            yield "they were kept separate before"
        if pair in self._direct_ties:
            is_sibling = self._direct_ties[pair] == "sibling_of"
            yield f"one is the other's {'brother or sister' if is_sibling else 'husband, wife or partner'}"
        for profile, other in ((a, b), (b, a)):
            if profile.id in self.ancestors(other.id):
                is_parent = profile.id in self._tree.parents(other.id)
                yield f"one is the other's {PARENT_OF_SEX[profile.sex] if is_parent else 'ancestor'}"

    def ancestors(self, person: PersonId) -> frozenset[PersonId]:
        known = self._ancestors.get(person)
        if known is None:
            found: set[PersonId] = set()
            waiting = list(self._tree.parents(person))
            while waiting:
                parent = waiting.pop()
                if parent not in found:
                    found.add(parent)
                    waiting.extend(self._tree.parents(parent))
            known = self._ancestors[person] = frozenset(found)
        return known

    def _by_sources(self, a: Profile, b: Profile) -> Iterator[str]:
        if not a.sources.isdisjoint(b.sources):
            yield f"{self._called(min(a.sources & b.sources))} mentions both as two people"
        if are_different_pages(a.external.get("record", ""), b.external.get("record", "")):
            yield "each has their own page in the same book"
        items = [profile.external.get("wikidata", "") for profile in (a, b)]
        if all(items) and items[0] != items[1]:
            yield f"Wikidata has them as {items[0]!r} and {items[1]!r}"

    def _called(self, source: str) -> str:
        known = self._tree.sources.get(source)
        if known:
            return repr(known.title or known.name)
        return (
            f"the file {source.removeprefix(FILE_PREFIX)!r}"
            if source.startswith(FILE_PREFIX)
            else f"the source {source!r}"
        )

    def _by_lives(self, a: Profile, b: Profile) -> Iterator[str]:
        for dead, other in ((a, b), (b, a)):
            if dead.death_years is None:
                continue
            last, born = dead.death_years[1], other.birth_years
            if born and born[0] > last + SLACK_YEARS:
                yield f"one was born in {born[0]}, after the other had died in {last}"
            elif born and born[0] > last and _died_young(dead) and _is_name_reused(dead, other):
                yield f"one died as a child in {last}, and the other, born in {born[0]}, was given the same name"
            if _died_young(dead) and not self._has_family(dead.id) and self._has_family(other.id):
                yield f"one died as a child in {last}, and the other had a family"
            yield from self._after_death(last, other)

    def _has_family(self, person: PersonId) -> bool:
        return bool(self._tree.children(person) or self._tree.spouses(person))

    def _after_death(self, last: int, other: Profile) -> Iterator[str]:
        """A child born years after a death has another parent, unless it does not fit its own parent either."""
        latest = last + 1 + SLACK_YEARS
        if other.death_years and other.death_years[1] <= latest:
            return
        for child in self._tree.children(other.id):
            born = years_of(self._tree.persons[child].birth) if child in self._tree.persons else None
            if born and born[0] > latest:
                name = self._tree.persons[child].name
                yield f"one died in {last}, before the other's child {name!r} was born in {born[0]}"
                return


def _died_young(profile: Profile) -> bool:
    """Whether a person died too young to have children."""
    born, died = profile.birth_years, profile.death_years
    return born is not None and died is not None and 0 <= died[1] - born[0] < YOUNGEST_PARENT


def _is_name_reused(dead: Profile, other: Profile) -> bool:
    """Whether a later child got the name of a dead sibling; the same day in another year is a clerical error."""
    births = [
        profile.birth.first_day[1:] for profile in (dead, other) if profile.birth and profile.birth.precision == "day"
    ]
    return bool(dead.names[0].given) and not (len(births) == 2 and births[0] == births[1])


def _by_names(a: Profile, b: Profile) -> Iterator[str]:
    if a.sex and b.sex and a.sex != b.sex:
        yield f"one is {a.sex}, the other {b.sex}"
    if a.numerals and b.numerals and a.numerals.isdisjoint(b.numerals):
        numerals = " and ".join("/".join(map(str, sorted(profile.numerals))) for profile in (a, b))
        yield f"their numbers differ ({numerals})"
    if a.generations and b.generations and a.generations.isdisjoint(b.generations):
        yield f"one is called {min(a.generations)}, the other {min(b.generations)}"


WIDEST_ERA = 60
"""Years; people with a wider range of possible births are not paired by decade."""
RARE_UP_TO = 150
"""People who share a sound this rare are paired without comparing decades."""
MAX_BLOCK_SIZE = 400
"""A larger block is not evidence of anything."""
MAX_DECADE_BLOCK_SIZE = 30
"""The more people there are, the less a name and a decade prove: in a large tree they would pair everybody."""
MAX_BIRTH_GAP = 15
"""Years between two births that a clerical error cannot explain."""
SHARED_IDS = ("familysearch", "find_a_grave", "wikidata", "zim")
"""External ids that identify a person everywhere; numbers within a GEDCOM file do not."""

Key = tuple[str, ...]


def candidate_pairs(tree: Tree, profiles: Mapping[PersonId, Profile]) -> tuple[Pair, ...]:
    """Pairs by sound and decade, rare sounds, two sounds, names and relatives, shared relatives, and external ids."""
    codes_of = {
        item: tuple(
            dict.fromkeys(code for name in profile.names for t in name.tokens if len(t) > 1 for code in sounds(t))
        )
        for item, profile in profiles.items()
    }
    common = Counter(code for codes in codes_of.values() for code in codes)
    blocks: dict[Key, list[PersonId]] = defaultdict(list)
    for item, profile in profiles.items():
        for key in dict.fromkeys(_keys(tree, profile, profiles, codes_of, common)):
            blocks[key].append(item)
    found = {
        pair
        for key, block in blocks.items()
        if 2 <= len(block) <= (MAX_DECADE_BLOCK_SIZE if key[0] == "decade" else MAX_BLOCK_SIZE)
        for pair in _pairs_of(block, profiles)
    }
    return tuple(sorted(found))


def _keys(
    tree: Tree,
    profile: Profile,
    profiles: Mapping[PersonId, Profile],
    codes_of: Mapping[PersonId, Sequence[str]],
    common: Mapping[str, int],
) -> Iterator[Key]:
    codes = codes_of[profile.id]
    low, high = profile.era
    if high - low <= WIDEST_ERA:
        # Blocks take in half of the decade before and after, so that people of neighbouring decades meet.
        decades = range((low - 5) // 10, (high + 5) // 10 + 1)
        yield from (("decade", code, str(decade)) for code in codes for decade in decades)
    yield from (("rare", code) for code in codes if common[code] <= RARE_UP_TO)
    yield from (("two", *sorted(pair)) for pair in combinations(codes[:5], 2))
    for what, years in (("born", profile.birth_years), ("died", profile.death_years)):
        if years and years[1] - years[0] <= 5:
            initials = {name.given[:1] for name in profile.names if name.given}
            yield from (
                (what, first, str(year)) for first in sorted(initials) for year in range(years[0], years[1] + 1)
            )
    for role, relatives in (("parent", tree.parents), ("spouse", tree.spouses), ("child", tree.children)):
        for relative in relatives(profile.id):
            yield ("tied", role, relative)
            if relative in profiles and codes:
                yield from (("kin", codes[0], role, code) for code in codes_of[relative][:2])
    yield from (("id", kind, value) for kind, value in sorted(profile.external.items()) if kind in SHARED_IDS)


def _pairs_of(block: Sequence[PersonId], profiles: Mapping[PersonId, Profile]) -> Iterator[Pair]:
    """The pairs of a block that can be the same person; two people of one source cannot."""
    groups: dict[frozenset[str], list[Profile]] = defaultdict(list)
    for item in block:
        groups[profiles[item].sources].append(profiles[item])
    for (sources, ours), (others, theirs) in combinations(groups.items(), 2):
        if sources.isdisjoint(others):
            yield from (ordered_pair(a.id, b.id) for a in ours for b in theirs if _may_match(a, b))
    for a, b in combinations(groups.get(frozenset(), ()), 2):
        if _may_match(a, b):
            yield ordered_pair(a.id, b.id)


def _may_match(a: Profile, b: Profile) -> bool:
    """Whether sex and time agree as far as known; relatives may still bring other people together."""
    if a.sex and b.sex and a.sex != b.sex:
        return False
    return a.era[0] - b.era[1] <= MAX_BIRTH_GAP and b.era[0] - a.era[1] <= MAX_BIRTH_GAP
