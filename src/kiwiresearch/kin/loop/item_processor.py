"""Processes a queue item: searches the sources for its person, stores the record and logs the search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kiwiresearch.errors import KiwiError, NothingFound, SourceError
from kiwiresearch.kin.loop.case_model import CaseModel
from kiwiresearch.kin.loop.evaluation import update_living_status
from kiwiresearch.kin.loop.progress import CaseProgress
from kiwiresearch.kin.loop.queries import QueryOrigin, TreePosition, clue_items, earliness_at, query_key, relative_items
from kiwiresearch.kin.loop.record_match import has_same_name_and_dates, is_about
from kiwiresearch.kin.loop.record_writer import AddressLookup, Relative, store_record
from kiwiresearch.kin.loop.revisits import (
    already_failed,
    frontier_items,
    known_queries,
    original_item_id,
    roles_of,
    update_failed_search,
)
from kiwiresearch.kin.loop.seeds import find_seed_page
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.source_records import (
    CheckedRecord,
    SearchTarget,
    SourceSearch,
    check_record,
    exact_year,
    is_local,
    search_sources,
)
from kiwiresearch.kin.source_facts import ExtractedFact
from kiwiresearch.kin.sources import BookSource, EvidenceSource, FetchedRecord, PersonQuery
from kiwiresearch.kin.store import CaseStore, FrontierItem, RevisitItem, to_utc_text
from kiwiresearch.kin.tree import Person, PersonId
from kiwiresearch.text import count_of


@dataclass(frozen=True, slots=True)
class ResearchStep:
    """The result of one step, for display."""

    what: str
    """`fetch`, `clue`, `revisit` or `stop`."""
    sentence: str
    """A sentence for the log; it names no person who may be alive."""
    new: int = 0
    reason: str = ""
    """For a stop, the condition that ended the case."""


class ItemProcessor:
    """Processes the items of the queues, one at a time; sources are never searched inside a transaction.

    In the audit log its steps are those of the `crawler`.
    """

    def __init__(
        self,
        store: CaseStore,
        sources: Sequence[EvidenceSource],
        find_address: AddressLookup,
        settings: CaseSettings,
        year: int,
        case_model: CaseModel,
    ) -> None:
        # Those on this machine come first within a tier, as they cost nobody a request.
        self.sources = tuple(sorted(sources, key=lambda source: (source.tier, not is_local(source), source.id)))
        self._store = store
        self._find_address = find_address
        self._settings = settings
        self._year = year
        self._case_model = case_model

    @property
    def local_source_ids(self) -> frozenset[str]:
        """The sources on this machine, which can be asked at any time."""
        return frozenset(source.id for source in self.sources if is_local(source))

    def find_seed(self, name: str) -> tuple[CheckedRecord, EvidenceSource]:
        """The record a case starts with: the page of the person the user means, or else the first one found."""
        problem: KiwiError = NothingFound(f"No page about {name!r} was found.")
        for source in self.sources:
            try:
                found = (
                    [find_seed_page(source, name)]
                    if isinstance(source, BookSource)
                    else source.search(PersonQuery(name))
                )
            except NothingFound as nothing:
                problem = nothing
                continue
            except SourceError:
                continue  # it is not known yet whether the seed is dead, so most sources may not be asked
            for record in map(check_record, found):
                if record and record.reading.is_person:
                    return self._case_model.review(record), source
        raise problem

    def fetch(self, item: FrontierItem | RevisitItem) -> ResearchStep:
        """Search for the person of an item, and store everything found in one transaction."""
        what = "fetch" if isinstance(item, FrontierItem) else "revisit"
        if isinstance(item, FrontierItem):
            original: FrontierItem | None = item
        else:
            found = (
                frontier_item
                for frontier_item in frontier_items(self._store)
                if frontier_item.id == original_item_id(item)
            )
            original = next(found, None)
        if original is None or not self._is_wanted(original):
            self._store.queues.finish(item, "dropped")
            return ResearchStep(what, "No longer needed.")
        if isinstance(item, FrontierItem) and already_failed(self._store, item):
            return self._drop_duplicate(item)
        target, is_about_target = self._target(item, original)
        # Outside the transaction below: a source may take long, and edits by people must not wait for it.
        result = search_sources(self.sources, target, is_about_target, self._is_known)
        if result.record is None and result.retry_after_s is not None:
            return self._postpone(item, target, result, result.retry_after_s)
        record = self._case_model.review(result.record) if result.record else None
        with self._store.step("crawler"):
            self._store.queues.finish(item)
            before = self._store.assertion_count()
            if record and result.source:
                self.store_record(record, result.source, TreePosition.from_context(original.context))
            new = self._store.assertion_count() - before
            self._log(item, target, result, new)
            update_failed_search(self._store, original, result, to_utc_text(self._store.now()))
            progress = CaseProgress.load(self._store)
            after = progress.after_step() if result.is_known else progress.after_query(new, fetched=bool(record))
            after.save(self._store)
        return ResearchStep(what, result.summary(new), new)

    def _is_wanted(self, item: FrontierItem) -> bool:
        """Whether the people of a search still belong to the case: somebody may have removed them since."""
        people = (item.target_entity_id, str(item.context.get("of", "")))
        return all(self._store.is_in_case(person) for person in people if person)

    def store_record(self, record: CheckedRecord, source: EvidenceSource, position: TreePosition) -> PersonId:
        """Store a record, and queue the relatives it names and the clues it gives."""
        stored = store_record(self._store, record, self._find_address)
        name = record.reading.name or record.reading.title
        earliness = earliness_at(CaseProgress.load(self._store).iterations, self._settings.max_iterations)
        self._follow(stored.relatives, QueryOrigin(stored.person, name, position, source.id, source.tier, earliness))
        for clue in clue_items(record.hypotheses, stored.person, position):
            self._store.queues.push("clue", clue)
        return stored.person

    def _follow(self, relatives: Sequence[Relative], origin: QueryOrigin) -> None:
        """Queue the relatives that a record names, then the relatives it names for them."""
        unread = [
            relative for relative in relatives if not (relative.address and self._store.source_by_url(relative.address))
        ]
        for item in relative_items(unread, origin, self._settings, known_queries(self._store, self._settings)):
            self._store.queues.push("frontier", item)
        for relative in relatives:
            position = origin.position.of_relative(relative.field)
            if relative.relatives and position.is_within(self._settings):
                self._follow(
                    relative.relatives, replace(origin, person=relative.person, name=relative.name, position=position)
                )

    def _target(
        self, item: FrontierItem | RevisitItem, original: FrontierItem
    ) -> tuple[SearchTarget, Callable[[CheckedRecord], bool]]:
        """The person to search for, and a test whether a record is about them."""
        person = self._person(original)
        contexts: list[Mapping[str, Any]] = [original.context]
        if isinstance(item, RevisitItem):
            target = SearchTarget(item.improved_query, person, source=item.original_source_id)
        else:
            address = original.query_string if original.is_address else ""
            name = str(original.context.get("name") or original.query_string)
            target = SearchTarget(name, person, address, str(original.context.get("source", "")) if address else "")
        if person is not None and not target.address:
            # A page found by name may name another relative than the one who led here.
            roles = roles_of(self._store.tree(), person.id)
            contexts += [{"field": field, "of": role.id, "of_name": role.name} for field, role in roles]
        name = target.query().name

        def is_about_target(record: CheckedRecord) -> bool:
            if any(self._is_about(record, {**context, "name": name}) for context in contexts):
                return True
            return person is not None and has_same_name_and_dates(record, person)

        return target, is_about_target

    def _person(self, item: FrontierItem) -> Person | None:
        """The person of an item, with a current living status if others are asked; None for a clue."""
        if not item.target_entity_id or item.context.get("field") == "clue":
            return None
        person = self._store.person(item.target_entity_id)
        if person.living == "unknown" and len(self.local_source_ids) < len(self.sources):
            update_living_status(self._store, self._year, self._settings.years_after_death)
            person = self._store.person(item.target_entity_id)
        return person

    def _drop_duplicate(self, item: FrontierItem) -> ResearchStep:
        """Drop the search for a relative who turned out to be a person searched for before."""
        with self._store.step("crawler"):
            self._store.queues.finish(item, "dropped")
            CaseProgress.load(self._store).after_step().save(self._store)
        return ResearchStep("fetch", "Already searched for: this person was merged with another.")

    def _postpone(
        self, item: FrontierItem | RevisitItem, target: SearchTarget, result: SourceSearch, retry_after_s: float
    ) -> ResearchStep:
        """Requeue the item until a resting source may be asked again."""
        later = to_utc_text(self._store.now(), later_s=retry_after_s)
        with self._store.step("crawler"):
            self._store.queues.retry_later(item, "a source asked for a pause", later)
            self._log(item, target, result, 0)
            CaseProgress.load(self._store).after_step().save(self._store)
        return ResearchStep(
            "fetch", f"A source is busy. It will be tried again in {count_of(round(retry_after_s) or 1, 'second')}."
        )

    def _log(self, item: FrontierItem | RevisitItem, target: SearchTarget, result: SourceSearch, new: int) -> None:
        """Log the search for each source, including those that were not asked."""
        query = item.query_string if isinstance(item, FrontierItem) else item.improved_query
        person = target.person
        years = [exact_year(person.birth), exact_year(person.death)] if person else []
        for answer in result.answers:
            key = query_key(target.name, answer.source, [year for year in years if year is not None])
            self._store.note_query(
                query,
                key.words,
                key.hash,
                answer.log_label,
                int(answer.outcome in ("found", "known")),
                new if answer.outcome == "found" else 0,
                negative=answer.outcome == "nothing",
            )

    def _is_about(self, record: CheckedRecord, context: Mapping[str, Any]) -> bool:
        relative = str(context.get("of", ""))
        own_page = self._store.person(relative).external.get("record", "") if relative else ""
        page = record.fetched.page

        def leads_back(fact: ExtractedFact) -> bool:
            return (
                bool(own_page and fact.target)
                and page is not None
                and self._find_address(page.ref.book, fact.target) == own_page
            )

        return is_about(record, context, leads_back)

    def _is_known(self, fetched: FetchedRecord) -> bool:
        """Whether the case has this record in this version."""
        return self._store.source_by_url(fetched.source.url) == fetched.source.id
