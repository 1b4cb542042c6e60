"""Second looks: a search that found nothing is made again once more is known of the person, and not before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kiwiresearch.kin.fields import FieldName
from kiwiresearch.kin.identity import id_of
from kiwiresearch.kin.loop.fitting import core
from kiwiresearch.kin.loop.following import SEARCHED, Standing
from kiwiresearch.kin.loop.novelty import Asked, asked, is_novel
from kiwiresearch.kin.loop.priority import Priority
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.verifying import RELIABILITY
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.store.clock import moment
from kiwiresearch.kin.store.items import ClueItem, FrontierItem, RevisitItem
from kiwiresearch.kin.tree import Person, PersonId, Tree
from kiwiresearch.text.when import DateRange

STRONG_CLUE = 0.7
NARROWED = 0.5
"""An interval that has shrunk to this share is worth another question."""
BETWEEN = "."


@dataclass(frozen=True, slots=True)
class Known:
    """What was known of somebody at a time."""

    names: tuple[str, ...] = ()
    born: tuple[int, int] | None = None
    died: tuple[int, int] | None = None
    relatives: tuple[PersonId, ...] = ()
    conflicts: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Known:
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in record.items()})


@dataclass(frozen=True, slots=True)
class Negative:
    """A search that found nothing: the item, the sources that were asked, when, and what was known then."""

    item: FrontierItem
    sources: tuple[str, ...]
    at: str
    known: Known

    def record(self) -> dict[str, Any]:
        return {"sources": list(self.sources), "at": self.at, "known": self.known.record()}


@dataclass(frozen=True, slots=True)
class Better:
    """Words that promise more than those asked before, and why."""

    query: str
    reason: str
    clue: str = ""
    weight: float = 0.0


def known_of(tree: Tree, person: PersonId, conflicts: Sequence[str] = ()) -> Known:
    """What a tree has of somebody."""
    one = tree.persons.get(person)
    if one is None:
        return Known()
    near = (*tree.parents(person), *tree.spouses(person), *tree.children(person))
    names = tuple(dict.fromkeys((one.name, *one.names)))
    return Known(names, _years(one.birth), _years(one.death), tuple(dict.fromkeys(near)), tuple(conflicts))


def second_looks(
    negatives: Sequence[Negative],
    tree: Tree,
    conflicts: Mapping[PersonId, Sequence[str]],
    clues: Sequence[ClueItem],
    earlier: Sequence[RevisitItem],
    settings: CaseSettings,
    *,
    local: frozenset[str],
    wishes: Mapping[str, Sequence[Better]] | None = None,
) -> list[RevisitItem]:
    """What to ask again, of whom and when: a few times of each source for each person, with novel words only.

    `wishes` are further words for an item, by its id; sources that are not `local` are given time.
    """
    targets = {one.item.id: one.item.target_entity_id for one in negatives}
    count: Counter[tuple[str, str]] = Counter(
        (one.original_source_id, targets.get(item_of(one), "")) for one in earlier
    )
    known: list[Asked] = [asked(one.improved_query, one.original_source_id) for one in earlier]
    known += [asked(str(one.item.context["name"]), source) for one in negatives for source in one.sources]
    found: list[RevisitItem] = []
    for negative in negatives:
        target = negative.item.target_entity_id
        now = known_of(tree, target, conflicts.get(target, ()))
        for better in (*betters(negative, now, tree, clues), *(wishes or {}).get(negative.item.id, ())):
            for source in negative.sources:
                form = asked(better.query, source, _told_years(now))
                place = (source, target)
                if count[place] >= settings.revisits or not is_novel(form, known):
                    continue
                count[place] += 1
                known += [form, asked(better.query, source)]
                hours = 0 if source in local else settings.revisit_hours
                found.append(_item(negative, better, source, hours))
    return found


def item_of(revisit: RevisitItem) -> str:
    """The id of the item that is looked at a second time."""
    return revisit.id.partition(BETWEEN)[0]


def betters(negative: Negative, now: Known, tree: Tree, clues: Sequence[ClueItem]) -> Iterator[Better]:
    """All that was learned since, as words to ask by."""
    before, name = negative.known, str(negative.item.context["name"])
    for variant in now.names:
        if variant not in before.names and core(parse_name(variant)) != core(parse_name(name)):
            yield Better(variant, "another form of the name is known")
    if _is_narrower(before.born, now.born) or _is_narrower(before.died, now.died):
        yield Better(f"{name} ({_lived(now)})", "the years are known better")
    for relative in now.relatives:
        if relative not in before.relatives and relative in tree.persons:
            yield Better(f"{name} (with {tree.persons[relative].name})", "a relative is known")
    if set(now.conflicts) - set(before.conflicts):
        fields = ", ".join(sorted(set(now.conflicts) - set(before.conflicts))).replace("_", " ")
        yield Better(f"{name} ({fields} in dispute)", "sources disagree")
    words = core(parse_name(name))
    for clue in clues:
        if clue.priority < STRONG_CLUE or clue.related_person_id != negative.item.context.get("of"):
            continue
        for query in clue.suggested_queries:
            if words and words <= core(parse_name(query)):
                yield Better(query, "a strong clue", clue.id, clue.priority)


def roles_of(tree: Tree, person: PersonId) -> Iterator[tuple[FieldName, Person]]:
    """What somebody is to each known relative, as a record of theirs would have to tell."""
    roles: tuple[tuple[FieldName, tuple[PersonId, ...]], ...] = (
        ("child", tree.parents(person)),
        ("spouse", tree.spouses(person)),
        ("parent", tree.children(person)),
    )
    for field, relatives in roles:
        yield from ((field, tree.persons[one]) for one in relatives if one in tree.persons)


def _item(negative: Negative, better: Better, source: str, hours: int) -> RevisitItem:
    item = negative.item
    standing = Standing(int(item.context.get("generation", 0)), int(item.context.get("aside", 0)))
    priority = Priority(standing.closeness, SEARCHED, RELIABILITY["lead"], clue=better.weight)
    return RevisitItem(
        id=f"{item.id}{BETWEEN}{id_of('revisit', source, better.query)}",
        priority=priority.total,
        not_before=moment(negative.at, later_s=hours * 3600.0) if hours and negative.at else "",
        original_source_id=source,
        original_query=item.query_string,
        improved_query=better.query,
        revisit_reason=better.reason,
        triggering_clue_id=better.clue,
    )


def _years(when: DateRange | None) -> tuple[int, int] | None:
    return (when.first_year, when.last_year) if when else None


def _is_narrower(before: tuple[int, int] | None, now: tuple[int, int] | None) -> bool:
    if now is None:
        return False
    return before is None or (now[1] - now[0] + 1) <= NARROWED * (before[1] - before[0] + 1)


def _lived(known: Known) -> str:
    told = (("born", known.born), ("died", known.died))
    return ", ".join(f"{word} {_span(years)}" for word, years in told if years)


def _span(years: tuple[int, int]) -> str:
    return str(years[0]) if years[0] == years[1] else f"{years[0]} to {years[1]}"


def _told_years(known: Known) -> list[int]:
    return [years[0] for years in (known.born, known.died) if years and years[0] == years[1]]
