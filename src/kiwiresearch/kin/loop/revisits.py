"""Failed searches, and when they are repeated because more is known about the person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from kiwiresearch.codec import plain
from kiwiresearch.kin.loop.queries import (
    SEARCHED_GAIN,
    SUGGESTED_SCOPE,
    Priority,
    QueryKey,
    TreePosition,
    is_novel,
    query_key,
    relatives_scope,
)
from kiwiresearch.kin.loop.record_match import core_words
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.source_records import RELIABILITY, SourceSearch
from kiwiresearch.kin.names import parse_name
from kiwiresearch.kin.store import CaseStore, ClueItem, FrontierItem, RevisitItem, to_utc_text
from kiwiresearch.kin.tree import FieldName, Person, PersonId, Tree, row_id
from kiwiresearch.text.dates import DateRange
from kiwiresearch.zim import SCHEME

STRONG_CLUE = 0.7
NARROWED_TO = 0.5
"""An interval of years that has shrunk to this share is worth another search."""
ID_SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What was known about a person at some time."""

    names: tuple[str, ...] = ()
    born: tuple[int, int] | None = None
    died: tuple[int, int] | None = None
    relatives: tuple[PersonId, ...] = ()
    conflicts: tuple[str, ...] = ()

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> KnownFacts:
        return cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in record.items()})


@dataclass(frozen=True, slots=True)
class FailedSearch:
    """A search that found nothing: the item, the sources searched, when, and what was known then."""

    item: FrontierItem
    sources: tuple[str, ...]
    at: str
    known: KnownFacts


@dataclass(frozen=True, slots=True)
class BetterQuery:
    """A query that promises more than an earlier one, and why."""

    query: str
    reason: str
    clue: str = ""
    weight: float = 0.0


def known_facts(tree: Tree, person: PersonId, conflicts: Sequence[str] = ()) -> KnownFacts:
    """What a tree knows about a person."""
    found = tree.persons.get(person)
    if found is None:
        return KnownFacts()
    near = (*tree.parents(person), *tree.spouses(person), *tree.children(person))
    names = tuple(dict.fromkeys((found.name, *found.names)))
    return KnownFacts(names, _years(found.birth), _years(found.death), tuple(dict.fromkeys(near)), tuple(conflicts))


def revisit_items(
    searches: Sequence[FailedSearch],
    tree: Tree,
    conflicts: Mapping[PersonId, Sequence[str]],
    clues: Sequence[ClueItem],
    earlier: Sequence[RevisitItem],
    settings: CaseSettings,
    *,
    local_source_ids: frozenset[str],
    requested: Mapping[str, Sequence[BetterQuery]] | None = None,
) -> list[RevisitItem]:
    """Searches to repeat: a few times for each source and person, with new queries only.

    `requested` are more queries for an item, by its id. Sources that are not in `local_source_ids` are asked later.
    """
    targets = {search.item.id: search.item.target_entity_id for search in searches}
    count: Counter[tuple[str, str]] = Counter(
        (item.original_source_id, targets.get(original_item_id(item), "")) for item in earlier
    )
    known: list[QueryKey] = [query_key(item.improved_query, item.original_source_id) for item in earlier]
    known += [query_key(str(search.item.context["name"]), source) for search in searches for source in search.sources]
    found: list[RevisitItem] = []
    for failed in searches:
        target = failed.item.target_entity_id
        now = known_facts(tree, target, conflicts.get(target, ()))
        for better in (*better_queries(failed, now, tree, clues), *(requested or {}).get(failed.item.id, ())):
            for source in failed.sources:
                years = [first for first, last in filter(None, (now.born, now.died)) if first == last]
                key = query_key(better.query, source, years)
                if count[source, target] >= settings.revisits or not is_novel(key, known):
                    continue
                count[source, target] += 1
                # With and without the years, since a later query may have either.
                known += [key, query_key(better.query, source)]
                hours = 0 if source in local_source_ids else settings.revisit_hours
                found.append(_revisit_item(failed, better, source, hours))
    return found


def original_item_id(revisit: RevisitItem) -> str:
    """The id of the item whose search is repeated."""
    return revisit.id.partition(ID_SEPARATOR)[0]


def better_queries(
    failed: FailedSearch, now: KnownFacts, tree: Tree, clues: Sequence[ClueItem]
) -> Iterator[BetterQuery]:
    """Queries from what was learned since."""
    before, name = failed.known, str(failed.item.context["name"])
    for variant in now.names:
        if variant not in before.names and core_words(parse_name(variant)) != core_words(parse_name(name)):
            yield BetterQuery(variant, "another form of the name is known")
    if _is_narrower(before.born, now.born) or _is_narrower(before.died, now.died):
        yield BetterQuery(f"{name} ({_life_years(now)})", "the years are known better")
    for relative in now.relatives:
        if relative not in before.relatives and relative in tree.persons:
            yield BetterQuery(f"{name} (with {tree.persons[relative].name})", "a relative is known")
    if set(now.conflicts) - set(before.conflicts):
        fields = ", ".join(sorted(set(now.conflicts) - set(before.conflicts))).replace("_", " ")
        yield BetterQuery(f"{name} ({fields} in dispute)", "sources disagree")
    # A clue is about the relative who led to the search, so its query must have the name that was searched for.
    words = core_words(parse_name(name))
    for clue in clues:
        if clue.priority < STRONG_CLUE or clue.related_person_id != failed.item.context.get("of"):
            continue
        for query in clue.suggested_queries:
            if words and words <= core_words(parse_name(query)):
                yield BetterQuery(query, "a strong clue", clue.id, clue.priority)


def roles_of(tree: Tree, person: PersonId) -> Iterator[tuple[FieldName, Person]]:
    """Each known relative, and the field under which that relative's record would name the person."""
    roles: tuple[tuple[FieldName, tuple[PersonId, ...]], ...] = (
        ("child", tree.parents(person)),
        ("spouse", tree.spouses(person)),
        ("parent", tree.children(person)),
    )
    for field, relatives in roles:
        yield from ((field, tree.persons[relative]) for relative in relatives if relative in tree.persons)


def _revisit_item(failed: FailedSearch, better: BetterQuery, source: str, hours: int) -> RevisitItem:
    item = failed.item
    closeness = TreePosition.from_context(item.context).closeness
    priority = Priority(closeness, SEARCHED_GAIN, RELIABILITY["lead"], clue=better.weight)
    return RevisitItem(
        id=f"{item.id}{ID_SEPARATOR}{row_id('revisit', source, better.query)}",
        priority=priority.total,
        not_before=to_utc_text(failed.at, later_s=hours * 3600.0) if hours and failed.at else "",
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
    return before is None or (now[1] - now[0] + 1) <= NARROWED_TO * (before[1] - before[0] + 1)


def _life_years(known: KnownFacts) -> str:
    spans = [(word, years) for word, years in (("born", known.born), ("died", known.died)) if years]
    return ", ".join(
        f"{word} {first}" if first == last else f"{word} {first} to {last}" for word, (first, last) in spans
    )


def known_queries(store: CaseStore, settings: CaseSettings) -> list[QueryKey]:
    """All queries made so far or waiting."""
    found = [query_key(name, SUGGESTED_SCOPE) for name in settings.seeds]
    for item in frontier_items(store):
        name, of = str(item.context.get("name", "")), str(item.context.get("of", ""))
        found.append(query_key("", item.query_string) if item.is_address else query_key(name, relatives_scope(of)))
        found.append(query_key(name, SUGGESTED_SCOPE))
    return found


def query_label(query: str) -> str:
    """A query as shown to the user: for an address in a book, the name of the page."""
    if not query.startswith(SCHEME):
        return query
    path = query.removeprefix(SCHEME).partition("/")[2]
    return unquote(path.removeprefix("A/")).removesuffix(".html").rpartition("/")[2].replace("_", " ")


def frontier_items(store: CaseStore) -> list[FrontierItem]:
    """All items of the frontier, including finished ones."""
    return [item for item in store.queues.items("frontier") if isinstance(item, FrontierItem)]


def update_failed_search(store: CaseStore, item: FrontierItem, result: SourceSearch, at: str) -> None:
    """Remember what was known when nothing was found, to compare it with what is known later."""
    key = _state_key(item)
    earlier = store.state(key) or {}
    if result.record or not result.sources_without_hit or item.is_address:
        if earlier:
            store.set_state(key, None)
        return
    target = store.canonical_or_same(item.target_entity_id) if item.target_entity_id else ""
    known = known_facts(store.tree(), target, disputed_fields(store).get(target, ()))
    sources = tuple(dict.fromkeys((*earlier.get("sources", ()), *result.sources_without_hit)))
    store.set_state(key, {"sources": list(sources), "at": at, "known": plain(known)})


def failed_searches(store: CaseStore) -> list[FailedSearch]:
    """Searches that found nothing so far."""
    return [found for item in frontier_items(store) if (found := _failed_search(store, item))]


def _failed_search(store: CaseStore, item: FrontierItem) -> FailedSearch | None:
    note = store.state(_state_key(item)) if item.status == "done" and not item.is_address else None
    if not note:
        return None
    return FailedSearch(item, tuple(note["sources"]), note["at"], KnownFacts.from_record(note["known"]))


def already_failed(store: CaseStore, item: FrontierItem) -> bool:
    """Whether a search for the same person by the same name failed, with no fewer relatives to recognise them by."""
    if item.is_address or not item.target_entity_id or item.context.get("field") == "clue":
        return False  # an address cannot fail by its name, and a clue may mean anybody
    words, target = query_key(str(item.context["name"]), "").words, store.canonical_or_same(item.target_entity_id)
    for other in frontier_items(store):
        if other.id == item.id or query_key(str(other.context.get("name", "")), "").words != words:
            continue
        failed = _failed_search(store, other)
        if failed and store.canonical_or_same(other.target_entity_id) == target:
            known = {store.canonical_or_same(relative) for relative in failed.known.relatives}
            return set(known_facts(store.tree(), target).relatives) <= known
    return False


def disputed_fields(store: CaseStore) -> Mapping[PersonId, list[str]]:
    """The fields of each person on which sources disagree."""
    found: dict[PersonId, list[str]] = {}
    for row in store.conflicts():
        found.setdefault(row.entity_id, []).append(row.field)
    return found


def _state_key(item: FrontierItem) -> str:
    return f"nothing/{item.id}"
