"""Which pairs are worth a score: nobody compares everybody with everybody."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from kiwiresearch.kin.resolve.naming import sounds
from kiwiresearch.kin.resolve.profile import Profile
from kiwiresearch.kin.resolve.vetoes import Pair, ordered
from kiwiresearch.kin.tree import PersonId, Tree

WIDEST_ERA = 60
"""Years; whoever may have been born in a longer time is not found by decades."""
RARE = 150
"""A sound that so few people have needs no decade beside it."""
MOST_OF_BLOCK = 400
"""A block of more people than this says nothing."""
MOST_OF_DECADE = 30
"""One name and a time say less the more people there are: of a large tree they would pair everybody."""
FAR = 15
"""Years between two births that no slip of a pen explains."""
SHARED_IDS = ("familysearch", "find_a_grave", "wikidata", "zim")
"""Ids that mean the same person wherever they stand; numbers within a GEDCOM file do not."""

Key = tuple[str, ...]


def candidate_pairs(tree: Tree, profiles: Mapping[PersonId, Profile]) -> tuple[Pair, ...]:
    """Pairs by sound and decade, rare sounds, two sounds, names and relatives, shared relatives, and outside ids."""
    sounds = {one: _sounds(profile) for one, profile in profiles.items()}
    common = Counter(code for codes in sounds.values() for code in codes)
    blocks: dict[Key, list[PersonId]] = defaultdict(list)
    for one, profile in profiles.items():
        for key in dict.fromkeys(_keys(tree, profile, profiles, sounds, common)):
            blocks[key].append(one)
    found = {
        pair
        for key, block in blocks.items()
        if 2 <= len(block) <= (MOST_OF_DECADE if key[0] == "decade" else MOST_OF_BLOCK)
        for pair in _pairs_of(block, profiles)
    }
    return tuple(sorted(found))


def _sounds(profile: Profile) -> tuple[str, ...]:
    return tuple(dict.fromkeys(code for name in profile.names for t in name.tokens if len(t) > 1 for code in sounds(t)))


def _keys(
    tree: Tree,
    profile: Profile,
    profiles: Mapping[PersonId, Profile],
    sounds: Mapping[PersonId, Sequence[str]],
    common: Mapping[str, int],
) -> Iterator[Key]:
    codes = sounds[profile.id]
    low, high = profile.era
    if high - low <= WIDEST_ERA:
        # Half of the neighbouring decades on each side: two people of neighbouring decades then meet.
        decades = range((low - 5) // 10, (high + 5) // 10 + 1)
        yield from (("decade", code, str(decade)) for code in codes for decade in decades)
    yield from (("rare", code) for code in codes if common[code] <= RARE)
    yield from (("two", *sorted(pair)) for pair in combinations(codes[:5], 2))
    for what, years in (("born", profile.birth_years), ("died", profile.death_years)):
        if years and years[1] - years[0] <= 5:
            initials = {name.given[:1] for name in profile.names if name.given}
            yield from (
                (what, first, str(year)) for first in sorted(initials) for year in range(years[0], years[1] + 1)
            )
    for role, relatives in _relatives(tree, profile.id):
        for relative in relatives:
            yield ("tied", role, relative)
            if relative in profiles and codes:
                yield from (("kin", codes[0], role, code) for code in sounds[relative][:2])
    yield from (("id", kind, value) for kind, value in sorted(profile.external.items()) if kind in SHARED_IDS)


def _relatives(tree: Tree, person: PersonId) -> Iterable[tuple[str, tuple[PersonId, ...]]]:
    return (
        ("parent", tree.parents(person)),
        ("spouse", tree.spouses(person)),
        ("child", tree.children(person)),
    )


def _pairs_of(block: Sequence[PersonId], profiles: Mapping[PersonId, Profile]) -> Iterator[Pair]:
    """Those of a block who can be one person; who stand in the same sources are never compared."""
    groups: dict[frozenset[str], list[Profile]] = defaultdict(list)
    for one in block:
        groups[profiles[one].sources].append(profiles[one])
    for (sources, ours), (others, theirs) in combinations(groups.items(), 2):
        if sources.isdisjoint(others):
            yield from (ordered(a.id, b.id) for a in ours for b in theirs if _can_meet(a, b))
    for a, b in combinations(groups.get(frozenset(), ()), 2):
        if _can_meet(a, b):
            yield ordered(a.id, b.id)


def _can_meet(a: Profile, b: Profile) -> bool:
    """Of one sex and of one time, as far as is known; relatives may bring others together all the same."""
    if a.sex and b.sex and a.sex != b.sex:
        return False
    return a.era[0] - b.era[1] <= FAR and b.era[0] - a.era[1] <= FAR
