"""Who is looked for next: relatives within reach of the seed, and what clues suggest; the planner's rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kiwiresearch.kin.extracted import Hypothesis
from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.loop.fitting import core
from kiwiresearch.kin.loop.keeping import Relative
from kiwiresearch.kin.loop.novelty import Asked, asked, is_novel
from kiwiresearch.kin.loop.priority import Priority
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.verifying import RELIABILITY
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.store.items import ClueItem, FrontierItem
from kiwiresearch.kin.tree import PersonId

UP: frozenset[FieldName] = frozenset({"father", "mother", "parent"})
DOWN: frozenset[FieldName] = frozenset({"child"})
SUGGESTED = "suggested"
NOBODY = frozenset({"unknown", "none", "unnamed", "infant", "son", "daughter", "stillborn"})
LINKED, SEARCHED = 1.0, 0.1
"""What a query is likely to find: a page that the source links to is there, a name to be searched for mostly is not.
All pages that are known of come before all searches, however near those are."""
ASIDE = 2.5
"""A step aside is so much further than one along the line: grandparents come before brothers and sisters."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a person stands to the seed: generations up (above 0) or down, and steps out of the straight line."""

    generation: int = 0
    aside: int = 0

    def of(self, field: FieldName) -> Standing:
        """Where a relative of that kind stands; whoever is not straight above or below the seed is a step aside."""
        if field in UP:
            return Standing(self.generation + 1, self.aside + (self.aside > 0 or self.generation < 0))
        if field in DOWN:
            return Standing(self.generation - 1, self.aside + (self.aside > 0 or self.generation > 0))
        return Standing(self.generation, self.aside + 1)

    def is_within(self, settings: CaseSettings) -> bool:
        return abs(self.generation) <= settings.generations and self.aside <= settings.collaterals

    @property
    def closeness(self) -> float:
        return 1 / (1 + abs(self.generation) + ASIDE * self.aside)


@dataclass(frozen=True, slots=True)
class Origin:
    """The record that leads to others: whom it is about, which source it is from, and when it was read."""

    person: PersonId
    name: str
    standing: Standing
    source: str = ""
    tier: int = 0
    age: float = 0.0


def relative_items(
    relatives: Iterable[Relative], origin: Origin, settings: CaseSettings, known: Sequence[Asked]
) -> list[FrontierItem]:
    """Queries for the relatives that a record names, near ones first, nobody twice."""
    found: list[FrontierItem] = []
    waiting = list(known)
    for relative in relatives:
        place = origin.standing.of(relative.field)
        if not place.is_within(settings) or relative.name.casefold() in NOBODY:
            continue
        if not relative.address and not is_full(relative.name):
            continue
        # A page is fetched once, whatever it is called where it is linked from.
        form = asked("", relative.address) if relative.address else asked(relative.name, scope_of(origin.person))
        if is_novel(form, waiting):
            waiting.append(form)
            found.append(item_for(relative, origin, place, form))
    return found


def item_for(relative: Relative, origin: Origin, place: Standing, form: Asked) -> FrontierItem:
    """The query for somebody who stands there; with an address it is asked where that is from."""
    tier = origin.tier if relative.address else 0
    priority = Priority(
        closeness=place.closeness,
        gain=LINKED if relative.address else SEARCHED,
        reliability=RELIABILITY["lead"] if tier == 0 else RELIABILITY["wikidata"],
        age=origin.age,
        tier=tier,
    )
    return FrontierItem(
        priority=priority.total,
        target_entity_id=relative.person,
        query_string=relative.address or relative.name,
        source_tiers=(str(tier),),
        query_hash=form.hash,
        context={
            "name": relative.name,
            "field": relative.field,
            "of": origin.person,
            "of_name": origin.name,
            "generation": place.generation,
            "aside": place.aside,
            "source": origin.source if relative.address else "",
        },
    )


def is_full(name: str) -> bool:
    """Whether a name is more than a first name, so that a page can be told to be of that person."""
    parsed = parse_name(name)
    return bool(parsed.given) and (len(core(parsed)) > 1 or bool(parsed.regnal or parsed.byname))


def scope_of(person: PersonId) -> str:
    """Among which queries one for a relative of somebody is a repetition: namesakes have other relatives."""
    return f"relative:{person}"


def clue_items(hypotheses: Iterable[Hypothesis], person: PersonId, standing: Standing) -> list[ClueItem]:
    """Hypotheses as clues; they lead to queries and never to facts."""
    return [
        ClueItem(
            priority=one.priority,
            hypothesis_type=one.type,
            hypothesis_text=one.text,
            related_person_id=person,
            suggested_queries=one.suggested_queries,
            evidence_hints={
                "hint": one.evidence_hint,
                "is_fact": False,
                "generation": standing.generation,
                "aside": standing.aside,
            },
        )
        for one in hypotheses
    ]


def clue_queries(
    clue: ClueItem, name: str, settings: CaseSettings, known: Sequence[Asked], age: float = 0.0
) -> list[FrontierItem]:
    """What to ask because of a clue: its novel suggestions, a few at most."""
    standing = Standing(int(clue.evidence_hints.get("generation", 0)), int(clue.evidence_hints.get("aside", 0)))
    origin = Origin(clue.related_person_id, name, standing, age=age)
    return suggested(clue.suggested_queries, origin, settings.clue_queries, known, clue=clue)


def suggested(
    queries: Iterable[str], origin: Origin, most: int, known: Sequence[Asked], *, clue: ClueItem | None = None
) -> list[FrontierItem]:
    """Queries around a person that somebody thought of: novel whoever asked before, and no more than allowed."""
    waiting = [replace(one, source=SUGGESTED) for one in known]
    found: list[FrontierItem] = []
    for query in queries:
        form = asked(query, SUGGESTED)
        if len(found) >= most or not any(map(str.isalpha, form.words)) or not is_novel(form, waiting):
            continue
        waiting.append(form)
        priority = Priority(
            closeness=origin.standing.closeness / 2,
            gain=SEARCHED / 2,
            reliability=RELIABILITY["lead"],
            clue=clue.priority if clue else 0.0,
            age=origin.age,
        )
        context = {
            "name": query,
            "field": "clue",
            "of": origin.person,
            "of_name": origin.name,
            "generation": origin.standing.generation,
            "aside": origin.standing.aside,
            "clue": clue.id if clue else "",
        }
        found.append(
            FrontierItem(
                priority=priority.total,
                target_entity_id=origin.person,
                query_string=query,
                source_tiers=("0",),
                query_hash=form.hash,
                context=context,
            )
        )
    return found
