"""Queries for the frontier: which relatives and clues are worth a search, in which order, and without repeats."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rapidfuzz.fuzz import token_sort_ratio

from kiwiresearch.kin.loop.record_match import core_words
from kiwiresearch.kin.loop.record_writer import Relative
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.source_records import RELIABILITY
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.source_facts import Hypothesis
from kiwiresearch.kin.store import ClueItem, FrontierItem
from kiwiresearch.kin.tree import PARENT_FIELDS, FieldName, PersonId, Tree, row_id
from kiwiresearch.text import fold

SIMILAR_FROM = 90
"""From this similarity two queries with the same people and years count as one."""
KINSHIP_WORDS = frozenset({"father", "mother", "wife", "husband", "son", "daughter", "brother", "sister", "parents"})


@dataclass(frozen=True, slots=True)
class QueryKey:
    """A query in the form that is compared."""

    source: str
    words: str
    """Folded and sorted."""
    discriminators: tuple[str, ...]
    """Regnal numbers, junior and senior, years and kinship words: if these differ, so do the people."""

    @property
    def hash(self) -> str:
        return row_id("query", self.source, self.words)


def query_key(query: str, source: str, years: Iterable[int] = ()) -> QueryKey:
    """The key that queries are compared by."""
    words = sorted(fold(query).split())
    kin = sorted(KINSHIP_WORDS & set(words))
    numbers = [str(year) for year in sorted(years)]
    regnal, generation = parse_name(query).discriminators
    return QueryKey(source, " ".join((*words, *numbers)), (str(regnal), generation, *kin, *numbers))


def is_novel(query: QueryKey, known: Iterable[QueryKey]) -> bool:
    """Whether no similar query was made to the same source."""
    return not any(
        other.words == query.words or token_sort_ratio(other.words, query.words) >= SIMILAR_FROM
        for other in known
        if other.source == query.source and other.discriminators == query.discriminators
    )


# The keys are the fields of `Priority`. Closeness to the seed counts most; sources outside the books (tier 1 and 2)
# come after them.
WEIGHTS = {"closeness": 0.35, "gain": 0.25, "reliability": 0.2, "clue": 0.1, "earliness": 0.1, "tier": -0.15}


@dataclass(frozen=True, slots=True)
class Priority:
    """The terms of an item's priority, each from 0 to 1 except the tier; ties go by id."""

    closeness: float
    """Closeness to the seed: 1 for the seed, a half for its parents."""
    gain: float
    """How much is missing about the person, as far as the query is likely to find it."""
    reliability: float
    """The reliability of the source that will be asked."""
    clue: float = 0.0
    """The priority of the clue that led here."""
    earliness: float = 0.0
    """1 for an item queued at the first step, 0 at the last: early items come first, so none waits forever."""
    tier: int = 0

    @property
    def terms(self) -> tuple[tuple[str, float], ...]:
        """Each term with its points."""
        return tuple((name, weight * float(getattr(self, name))) for name, weight in WEIGHTS.items())

    @property
    def total(self) -> float:
        return round(sum(points for _, points in self.terms), 4)

    def __str__(self) -> str:
        terms = ", ".join(f"{name} {points:+.3g}" for name, points in self.terms if points)
        return f"{self.total:g} ({terms or 'nothing'})"


def earliness_at(step: int, last_step: int) -> float:
    """The term `earliness` of an item queued at a step; it falls as the case proceeds.

    Raising all waiting items at every step would give the same order, but write them all each time.
    """
    return round(1 - min(step / max(last_step, 1), 1.0), 4)


SUGGESTED_SCOPE = "suggested"
NAMES_NOT_SEARCHED = frozenset({"unknown", "none", "unnamed", "infant", "son", "daughter", "stillborn"})
"""Fewer than `profile.PLACEHOLDER_NAMES`, which are compared with single words of a name."""
LINKED_GAIN, SEARCHED_GAIN = 1.0, 0.1
"""A linked page exists; a search for a name mostly finds nothing. So all linked pages come before all searches."""
COLLATERAL_DISTANCE = 2.5
"""The distance of a step aside, in generations: grandparents come before siblings."""


@dataclass(frozen=True, slots=True)
class TreePosition:
    """A position relative to the seed: generations up (positive) or down, and steps out of the direct line.

    The steps are stored as `aside`, and limited by the setting `collaterals`.
    """

    generation: int = 0
    collaterals: int = 0

    @classmethod
    def from_context(cls, context: Mapping[str, Any]) -> TreePosition:
        return cls(int(context.get("generation", 0)), int(context.get("aside", 0)))

    def of_relative(self, field: FieldName) -> TreePosition:
        """The position of a relative of that kind; anyone not directly above or below the seed is a step aside."""
        if field in PARENT_FIELDS:
            # A child's other parent and an ancestor's other child are a step aside, like anybody reached from there.
            return TreePosition(self.generation + 1, self.collaterals + (self.collaterals > 0 or self.generation < 0))
        if field == "child":
            return TreePosition(self.generation - 1, self.collaterals + (self.collaterals > 0 or self.generation > 0))
        return TreePosition(self.generation, self.collaterals + 1)

    def is_within(self, settings: CaseSettings) -> bool:
        return abs(self.generation) <= settings.generations and self.collaterals <= settings.collaterals

    @property
    def closeness(self) -> float:
        return 1 / (1 + abs(self.generation) + COLLATERAL_DISTANCE * self.collaterals)


@dataclass(frozen=True, slots=True)
class QueryOrigin:
    """The record that leads to a query: its person, their position, its source, and when it was read."""

    person: PersonId
    name: str
    position: TreePosition
    source: str = ""
    tier: int = 0
    earliness: float = 0.0


def relative_items(
    relatives: Iterable[Relative], origin: QueryOrigin, settings: CaseSettings, known: Sequence[QueryKey]
) -> list[FrontierItem]:
    """Queries for the relatives that a record names, each person once."""
    found: list[FrontierItem] = []
    waiting = list(known)
    for relative in relatives:
        position = origin.position.of_relative(relative.field)
        if not position.is_within(settings) or relative.name.casefold() in NAMES_NOT_SEARCHED:
            continue
        if not relative.address and not is_full_name(relative.name):
            continue
        if relative.address:  # a page is fetched once, whatever the link to it says
            key = query_key("", relative.address)
        else:
            key = query_key(relative.name, relatives_scope(origin.person))
        if is_novel(key, waiting):
            waiting.append(key)
            found.append(frontier_item(relative, origin, position, key))
    return found


def frontier_item(relative: Relative, origin: QueryOrigin, position: TreePosition, key: QueryKey) -> FrontierItem:
    """The query for a relative at a position; an address is fetched from the source it came from."""
    tier = origin.tier if relative.address else 0
    priority = Priority(
        closeness=position.closeness,
        gain=LINKED_GAIN if relative.address else SEARCHED_GAIN,
        reliability=RELIABILITY["lead"] if tier == 0 else RELIABILITY["wikidata"],
        earliness=origin.earliness,
        tier=tier,
    )
    context = _context(relative.name, relative.field, origin, position)
    source = origin.source if relative.address else ""
    return FrontierItem(
        priority=priority.total,
        target_entity_id=relative.person,
        query_string=relative.address or relative.name,
        source_tiers=(str(tier),),
        query_hash=key.hash,
        context={**context, "source": source},
    )


def _context(name: str, field: str, origin: QueryOrigin, position: TreePosition) -> Mapping[str, str | int]:
    """What an item remembers of its origin."""
    of = {"of": origin.person, "of_name": origin.name}
    return {"name": name, "field": field, **of, "generation": position.generation, "aside": position.collaterals}


def is_full_name(name: str) -> bool:
    """Whether a name is more than a first name, so that a page can be recognised as that person's."""
    parsed = parse_name(name)
    return bool(parsed.given) and (len(core_words(parsed)) > 1 or bool(parsed.regnal or parsed.byname))


def relatives_scope(person: PersonId) -> str:
    """The scope within which queries for a person's relatives count as repeats: namesakes have other relatives."""
    return f"relative:{person}"


def clue_items(hypotheses: Iterable[Hypothesis], person: PersonId, position: TreePosition) -> list[ClueItem]:
    """Hypotheses as clues, which lead to queries and never to facts."""
    return [
        ClueItem(
            priority=hypothesis.priority,
            hypothesis_type=hypothesis.type,
            hypothesis_text=hypothesis.text,
            related_person_id=person,
            suggested_queries=hypothesis.suggested_queries,
            evidence_hints={
                "hint": hypothesis.evidence_hint,
                "is_fact": False,
                "generation": position.generation,
                "aside": position.collaterals,
            },
        )
        for hypothesis in hypotheses
    ]


def items_for_clue(
    clue: ClueItem, name: str, settings: CaseSettings, known: Sequence[QueryKey], earliness: float = 0.0
) -> list[FrontierItem]:
    """The new queries that a clue suggests, a few at most."""
    origin = QueryOrigin(
        clue.related_person_id, name, TreePosition.from_context(clue.evidence_hints), earliness=earliness
    )
    return suggested_items(clue.suggested_queries, origin, settings.clue_queries, known, clue=clue)


def suggested_items(
    queries: Iterable[str], origin: QueryOrigin, limit: int, known: Sequence[QueryKey], *, clue: ClueItem | None = None
) -> list[FrontierItem]:
    """Queries about a person that a clue or a model suggests, if nothing similar was ever asked."""
    # In one scope: a suggested search is compared with all searches, whatever they were made for.
    waiting = [replace(item, source=SUGGESTED_SCOPE) for item in known]
    found: list[FrontierItem] = []
    for query in queries:
        key = query_key(query, SUGGESTED_SCOPE)
        if len(found) >= limit or not any(map(str.isalpha, key.words)) or not is_novel(key, waiting):
            continue
        waiting.append(key)
        priority = Priority(
            closeness=origin.position.closeness / 2,
            gain=SEARCHED_GAIN / 2,
            reliability=RELIABILITY["lead"],
            clue=clue.priority if clue else 0.0,
            earliness=origin.earliness,
        )
        context = _context(query, "clue", origin, origin.position)
        found.append(
            FrontierItem(
                priority=priority.total,
                target_entity_id=origin.person,
                query_string=query,
                source_tiers=("0",),
                query_hash=key.hash,
                context={**context, "clue": clue.id if clue else ""},
            )
        )
    return found


def imported_items(
    tree: Tree,
    home_people: Sequence[PersonId],
    settings: CaseSettings,
    known: Sequence[QueryKey],
    taken: Collection[PersonId],
    earliness: float = 0.0,
) -> list[FrontierItem]:
    """Queries for everybody within reach of the home persons who has no page yet, without those in `taken`."""
    found: list[FrontierItem] = []

    def is_wanted(person: PersonId) -> bool:
        return person not in taken and "record" not in tree.persons[person].external

    for home in filter(is_wanted, home_people):
        name = tree.persons[home].name
        if not is_full_name(name):
            continue
        origin = QueryOrigin("", "", TreePosition(), earliness=earliness)
        key = query_key(name, relatives_scope(home))
        found.append(frontier_item(Relative(home, "name", name, ""), origin, TreePosition(), key))
    for person, position, relatives in _within_reach(tree, home_people, settings):
        wanted = [relative for relative in relatives if is_wanted(relative.person)]
        origin = QueryOrigin(person, tree.persons[person].name, position, earliness=earliness)
        found += relative_items(wanted, origin, settings, known)
    return found


def _within_reach(
    tree: Tree, home_people: Sequence[PersonId], settings: CaseSettings
) -> Iterator[tuple[PersonId, TreePosition, list[Relative]]]:
    """Everybody within reach, with their position and the relatives not reached before."""
    ways: tuple[tuple[FieldName, Callable[[PersonId], Sequence[PersonId]]], ...] = (
        ("parent", tree.parents),
        ("child", tree.children),
        ("spouse", tree.spouses),
        ("sibling", tree.siblings),
    )
    positions = {home: TreePosition() for home in home_people}
    queue = deque(positions)
    while queue:
        person = queue.popleft()
        relatives: list[Relative] = []
        for field, others in ways:
            position = positions[person].of_relative(field)
            if not position.is_within(settings):
                continue
            for other in others(person):
                if other not in positions and other in tree.persons:
                    positions[other] = position
                    queue.append(other)
                    relatives.append(Relative(other, field, tree.persons[other].name, ""))
        yield person, positions[person], relatives
