"""Pairs of people: which are worth a score, and which can never be the same person."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

from kiwiresearch.kin.lineage import ancestors
from kiwiresearch.kin.plausibility import YOUNGEST_PARENT
from kiwiresearch.kin.resolve.family_structure import FamilyStructure
from kiwiresearch.kin.resolve.features import names_fit, share_first_name_but_one_has_place
from kiwiresearch.kin.resolve.profile import FILE_PREFIX, Profile, are_listed_together, sounds, years_of
from kiwiresearch.kin.tree import DISCARDED, PersonId, SourceId, Tree
from kiwiresearch.messages import Message

Pair = tuple[PersonId, PersonId]
SLACK_YEARS = 2
"""Different calendars and copying errors shift dates a little."""
# The book in 'zim://BOOK/Ann_Pell', the host in 'https://example.org/ann'.
SITE = re.compile(r"[a-z]+://[^/]+/")


def ordered_pair(one: PersonId, other: PersonId) -> Pair:
    return (one, other) if one < other else (other, one)


def are_different_pages(one: str, other: str) -> bool:
    """Whether two addresses are different pages of the same book or site, which has one page per person."""
    places = [SITE.match(address) for address in (one, other)]
    return one != other and places[0] is not None and places[1] is not None and places[0][0] == places[1][0]


def source_listing_both(a: Profile, b: Profile) -> SourceId:
    """A source that names the two as two people; empty if there is none.

    A page may name the same person in several places, in a list by the full name and in its text by a short one.
    """
    shared = a.sources & b.sources
    if not shared:
        return ""
    if _are_dates_apart(a, b) or not (names_fit(a, b) or _compete_for_one_role(a, b)):
        return min(shared)
    together = (source for source in sorted(shared) if are_listed_together(a.mentions[source], b.mentions[source]))
    return next(together, "")


def _compete_for_one_role(a: Profile, b: Profile) -> bool:
    """Whether both have a role that only one can have: nobody has two fathers, or living sisters of the same name."""
    if a.children & b.children:
        return bool(a.sex) and a.sex == b.sex
    return bool(a.parents & b.parents) and share_first_name_but_one_has_place(a, b)


def _are_dates_apart(a: Profile, b: Profile) -> bool:
    pairs = (a.birth_years, b.birth_years), (a.death_years, b.death_years)
    return any(one and other and max(one[0] - other[1], other[0] - one[1]) > 0 for one, other in pairs)


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

    def reasons(self, a: Profile, b: Profile) -> Iterator[Message]:
        """All reasons, as a genealogist would state them."""
        yield from self._by_ties(a, b)
        yield from self._by_sources(a, b)
        yield from _by_names(a, b)
        yield from self._by_lives(a, b)

    def _by_ties(self, a: Profile, b: Profile) -> Iterator[Message]:
        pair = ordered_pair(a.id, b.id)
        if pair in self._separated:
            yield Message("they were kept separate before", "same.veto.separated")
        if self._direct_ties.get(pair) == "sibling_of":
            yield Message("one is the other’s brother or sister", "same.veto.sibling")
        elif pair in self._direct_ties:
            yield Message("one is the other’s husband, wife or partner", "same.veto.spouse")
        for profile, other in ((a, b), (b, a)):
            if profile.id in self.ancestors(other.id):
                is_parent = profile.id in self._tree.parents(other.id)
                yield (
                    PARENTS[profile.sex] if is_parent else Message("one is the other’s ancestor", "same.veto.ancestor")
                )

    def ancestors(self, person: PersonId) -> frozenset[PersonId]:
        known = self._ancestors.get(person)
        if known is None:
            known = self._ancestors[person] = frozenset(ancestors(self._tree, person))
        return known

    def _by_sources(self, a: Profile, b: Profile) -> Iterator[Message]:
        source = source_listing_both(a, b)
        if source:
            called = source_name(self._tree, source)
            yield Message(f"“{called}” mentions both as two people", "same.veto.source", source=called)
        if are_different_pages(a.external.get("record", ""), b.external.get("record", "")):
            yield Message("each has their own page in the same book", "same.veto.pages")
        items = [profile.external.get("wikidata", "") for profile in (a, b)]
        if all(items) and items[0] != items[1]:
            text = f"Wikidata has them as “{items[0]}” and “{items[1]}”"
            yield Message(text, "same.veto.wikidata", one=items[0], other=items[1])

    def _by_lives(self, a: Profile, b: Profile) -> Iterator[Message]:
        for dead, other in ((a, b), (b, a)):
            if dead.death_years is None:
                continue
            last, born = dead.death_years[1], other.birth_years
            if born and born[0] > last + SLACK_YEARS:
                text = f"one was born in {born[0]}, after the other had died in {last}"
                yield Message(text, "same.veto.born_after_death", born=born[0], died=last)
            elif born and born[0] > last and _died_young(dead) and _is_name_reused(dead, other):
                text = f"one died as a child in {last}, and the other, born in {born[0]}, was given the same name"
                yield Message(text, "same.veto.name_reused", died=last, born=born[0])
            if _died_young(dead) and not self._has_family(dead.id) and self._has_family(other.id):
                text = f"one died as a child in {last}, and the other had a family"
                yield Message(text, "same.veto.died_young", died=last)
            yield from self._after_death(last, other)

    def _has_family(self, person: PersonId) -> bool:
        return bool(self._tree.children(person) or self._tree.spouses(person))

    def _after_death(self, last: int, other: Profile) -> Iterator[Message]:
        """The reason that the other had a child years after this death, unless the other died by then too.

        A child born after the death of its own parent is an error in the dates, and proves nothing.
        """
        latest = last + 1 + SLACK_YEARS
        if other.death_years and other.death_years[1] <= latest:
            return
        for child in self._tree.children(other.id):
            born = years_of(self._tree.persons[child].birth) if child in self._tree.persons else None
            if born and born[0] > latest:
                name = self._tree.persons[child].name
                text = f"one died in {last}, before the other’s child “{name}” was born in {born[0]}"
                yield Message(text, "same.veto.child_after_death", died=last, child=name, born=born[0])
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


PARENTS = {
    "male": Message("one is the other’s father", "same.veto.father"),
    "female": Message("one is the other’s mother", "same.veto.mother"),
    "": Message("one is the other’s parent", "same.veto.parent"),
}


def source_name(tree: Tree, source: SourceId) -> str:
    """What a source is called in a reason."""
    known = tree.sources.get(source)
    return (known.title or known.name) if known else source.removeprefix(FILE_PREFIX)


def _by_names(a: Profile, b: Profile) -> Iterator[Message]:
    if a.sex and b.sex and a.sex != b.sex:
        yield Message("one is male, the other female", "same.veto.sex")
    if a.numerals and b.numerals and a.numerals.isdisjoint(b.numerals):
        one, other = ("/".join(map(str, sorted(profile.numerals))) for profile in (a, b))
        numerals = f"{one} and {other}"
        yield Message(f"their numbers differ ({numerals})", "same.veto.numbers", one=one, other=other)
    if a.generations and b.generations and a.generations.isdisjoint(b.generations):
        yield Message("one is called junior, the other senior", "same.veto.generation")


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
    # Blocking: only people who share a key are compared, as comparing all pairs takes too long in a large tree.
    codes_of = {
        item: tuple(
            dict.fromkeys(code for name in profile.names for t in name.tokens if len(t) > 1 for code in sounds(t))
        )
        for item, profile in profiles.items()
    }
    common = Counter(code for codes in codes_of.values() for code in codes)
    blocks: dict[Key, list[PersonId]] = defaultdict(list)
    structure = FamilyStructure(tree, profiles)
    for item, profile in profiles.items():
        for key in dict.fromkeys(_keys(tree, structure, profile, profiles, codes_of, common)):
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
    structure: FamilyStructure,
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
    # Two sounds together are rare enough without a date; five sounds limit how many pairs a long name makes.
    yield from (("two", *sorted(pair)) for pair in combinations(codes[:5], 2))
    for what, years in (("born", profile.birth_years), ("died", profile.death_years)):
        if years and years[1] - years[0] <= 5:
            initials = {name.given[:1] for name in profile.names if name.given}
            yield from (
                (what, first, str(year)) for first in sorted(initials) for year in range(years[0], years[1] + 1)
            )
    relatives_by_role = (
        ("parent", structure.parents),
        ("sibling", structure.stated_siblings),
        ("spouse", tree.spouses),
        ("child", tree.children),
    )
    for role, relatives in relatives_by_role:
        for relative in relatives(profile.id):
            yield ("tied", role, relative)
            if relative in profiles and codes:
                yield from (("kin", codes[0], role, code) for code in codes_of[relative][:2])
    yield from (("id", kind, value) for kind, value in sorted(profile.external.items()) if kind in SHARED_IDS)


def _pairs_of(block: Sequence[PersonId], profiles: Mapping[PersonId, Profile]) -> Iterator[Pair]:
    """The pairs of a block that can be the same person; two people whom one source lists cannot."""
    # By their sources, so that the people of one file are excluded at once and not pair by pair.
    groups: dict[frozenset[str], list[Profile]] = defaultdict(list)
    for item in block:
        groups[profiles[item].sources].append(profiles[item])
    for (sources, ours), (others, theirs) in combinations(groups.items(), 2):
        if not _is_file_shared(sources, others):
            yield from (ordered_pair(a.id, b.id) for a in ours for b in theirs if _may_match(a, b))
    for sources, ours in groups.items():
        if not _is_file_shared(sources, sources):
            yield from (ordered_pair(a.id, b.id) for a, b in combinations(ours, 2) if _may_match(a, b))


def _is_file_shared(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether both are in the same family file, which has each person once."""
    return any(source.startswith(FILE_PREFIX) for source in one & other)


def _may_match(a: Profile, b: Profile) -> bool:
    """Whether sex and time agree as far as known; relatives may still bring other people together."""
    if a.sex and b.sex and a.sex != b.sex:
        return False
    # The cheap tests first: there may be millions of pairs.
    is_same_time = a.era[0] - b.era[1] <= MAX_BIRTH_GAP and b.era[0] - a.era[1] <= MAX_BIRTH_GAP
    return is_same_time and not source_listing_both(a, b)
