"""One item of the queues: whom it looks for, what the sources say, and what of it is kept and logged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kiwiresearch.errors import KiwiError, NothingFound, SourceError
from kiwiresearch.kin.extracted import Extracted
from kiwiresearch.kin.loop.deciding import settle_living
from kiwiresearch.kin.loop.fitting import fits
from kiwiresearch.kin.loop.following import Origin, Standing, clue_items, relative_items
from kiwiresearch.kin.loop.keeping import Kept, Located, Relative, keep
from kiwiresearch.kin.loop.looking import Looked, Target, is_local, look, year_of
from kiwiresearch.kin.loop.novelty import asked
from kiwiresearch.kin.loop.priority import age_of
from kiwiresearch.kin.loop.progress import Progress
from kiwiresearch.kin.loop.remembered import all_asked, frontier, note_nothing, was_in_vain
from kiwiresearch.kin.loop.revisiting import item_of, roles_of
from kiwiresearch.kin.loop.same_life import is_same_life
from kiwiresearch.kin.loop.second_opinion import SecondOpinion
from kiwiresearch.kin.loop.seeding import seed_page
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.loop.verifying import Verified, verified
from kiwiresearch.kin.sources.books import BookSource
from kiwiresearch.kin.sources.source import Fetched, PersonQuery, SourceOf
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.store.clock import moment
from kiwiresearch.kin.store.items import FrontierItem, RevisitItem
from kiwiresearch.kin.tree import Person

LEASE_S = 300.0
TAKEN = "Another worker has done this one."


@dataclass(frozen=True, slots=True)
class Took:
    """One step, for who watches."""

    what: str
    """`fetch`, `clue`, `revisit`, `wait` or `stop`."""
    words: str
    """A sentence for the log; it names nobody who may live."""
    new: int = 0
    reason: str = ""
    """Of a stop, the condition that held."""


class Crawler:
    """Asks the sources of a case. What is asked of them is asked outside of any transaction."""

    def __init__(
        self,
        store: CaseStore,
        sources: Sequence[SourceOf],
        located: Located,
        settings: CaseSettings,
        year: int,
        opinion: SecondOpinion,
    ) -> None:
        self.sources = tuple(sorted(sources, key=lambda source: (source.tier, not is_local(source), source.id)))
        self._store = store
        self._located = located
        self._settings = settings
        self._year = year
        self._opinion = opinion

    @property
    def local(self) -> frozenset[str]:
        """The sources on this machine, which need no rest."""
        return frozenset(source.id for source in self.sources if is_local(source))

    def seed(self, name: str) -> tuple[Verified, SourceOf]:
        """The record that a case begins with: the page of whom the user means, else what a source has first."""
        problem: KiwiError = NothingFound(f"No source of this case has a page about {name!r}.")
        for source in self.sources:
            try:
                found = [seed_page(source, name)] if isinstance(source, BookSource) else source.find(PersonQuery(name))
            except NothingFound as nothing:
                problem = nothing
                continue
            except SourceError:
                continue  # nobody knows yet whether the seed is dead, so that most sources may not be asked
            for record in map(verified, found):
                if record and record.read.is_person:
                    return self._opinion.on(record), source
        raise problem

    def fetch(self, item: FrontierItem | RevisitItem) -> Took:
        """Look for whom an item is about, and write all that comes of it in one step."""
        what = "fetch" if isinstance(item, FrontierItem) else "revisit"
        wanted = item if isinstance(item, FrontierItem) else self._looked_for(item)
        if wanted is None:
            self._store.finish(item, "dropped")
            return Took(what, "What it looks for is no longer there.")
        if isinstance(item, FrontierItem) and was_in_vain(self._store, item):
            return self._drop(item)
        target, is_meant = self._question(item, wanted)
        looked = look(self.sources, target, is_meant, self._is_known)
        if looked.record is None and looked.rests_s is not None:
            return self._put_off(item, target, looked, looked.rests_s)
        record = self._opinion.on(looked.record) if looked.record else None
        with self._store.step("crawler"):
            if not self._store.finish(item):
                return Took("wait", TAKEN)
            before = self._store.assertion_count()
            if record and looked.source:
                self.keep(record, looked.source, standing_of(wanted))
            new = self._store.assertion_count() - before
            self._log(item, target, looked, new)
            note_nothing(self._store, wanted, looked, moment(item.lease_until, later_s=-LEASE_S))
            progress = Progress.of(self._store)
            after = progress.stepped() if looked.is_known else progress.asked(new, fetched=bool(record))
            self._store.set_state("progress", after.record())
        return Took(what, looked.words(new), new)

    def keep(self, record: Verified, source: SourceOf, standing: Standing) -> Kept:
        """Write a record, and queue whom it names and what it makes one guess."""
        kept = keep(self._store, record, self._located)
        name = record.read.name or record.read.title
        age = age_of(Progress.of(self._store).iterations, self._settings.max_iterations)
        origin = Origin(kept.person, name, standing, source.id, source.tier, age)
        self._follow(kept.relatives, origin)
        for clue in clue_items(record.hypotheses, kept.person, standing):
            self._store.push("clue", clue)
        return kept

    def _follow(self, relatives: Sequence[Relative], origin: Origin) -> None:
        """Queue those whom a record names, and then whom it names as theirs."""
        unread = [one for one in relatives if not (one.address and self._store.source_by_url(one.address))]
        for item in relative_items(unread, origin, self._settings, all_asked(self._store, self._settings)):
            self._store.push("frontier", item)
        for one in relatives:
            place = origin.standing.of(one.field)
            if one.relatives and place.is_within(self._settings):
                self._follow(one.relatives, replace(origin, person=one.person, name=one.name, standing=place))

    def _looked_for(self, item: RevisitItem) -> FrontierItem | None:
        """The item that is looked at a second time."""
        return next((one for one in frontier(self._store) if one.id == item_of(item)), None)

    def _question(
        self, item: FrontierItem | RevisitItem, wanted: FrontierItem
    ) -> tuple[Target, Callable[[Verified], bool]]:
        """Whom to look for, and how to know that a record is about them."""
        person = self._person(wanted)
        contexts: list[Mapping[str, Any]] = [wanted.context]
        if isinstance(item, RevisitItem):
            target = Target(item.improved_query, person, source=item.original_source_id)
        else:
            address = wanted.query_string if "://" in wanted.query_string else ""
            name = str(wanted.context.get("name") or wanted.query_string)
            target = Target(name, person, address, str(wanted.context.get("source", "")) if address else "")
        if person is not None and not target.address:
            roles = roles_of(self._store.tree(), person.id)
            contexts += [{"field": field, "of": one.id, "of_name": one.name} for field, one in roles]
        name = target.query().name
        return (
            target,
            lambda record: (
                any(self._fits(record, {**one, "name": name}) for one in contexts)
                or (person is not None and is_same_life(record, person))
            ),
        )

    def _person(self, wanted: FrontierItem) -> Person | None:
        """Who is looked for, as sources outside must know them; whom a clue leads to, nobody knows."""
        if not wanted.target_entity_id or wanted.context.get("field") == "clue":
            return None
        person = self._store.person(wanted.target_entity_id)
        if person.living == "unknown" and len(self.local) < len(self.sources):
            settle_living(self._store, self._year, self._settings.years_after_death)
            person = self._store.person(wanted.target_entity_id)
        return person

    def _drop(self, item: FrontierItem) -> Took:
        """Two records named somebody who turned out to be one person: one search is enough."""
        with self._store.step("crawler"):
            self._store.finish(item, "dropped")
            self._store.set_state("progress", Progress.of(self._store).stepped().record())
        return Took("fetch", "Searched already for somebody who turned out to be the same.")

    def _put_off(self, item: FrontierItem | RevisitItem, target: Target, looked: Looked, rests_s: float) -> Took:
        """A source wants to be left alone: the item comes back when it may be asked."""
        later = moment(item.lease_until, later_s=rests_s - LEASE_S)
        with self._store.step("crawler"):
            self._store.fail(item, "a source wants to be left alone", later)
            self._log(item, target, looked, 0)
            self._store.set_state("progress", Progress.of(self._store).stepped().record())
        return Took("fetch", f"A source wants to be left alone for {round(rests_s)} seconds.")

    def _log(self, item: FrontierItem | RevisitItem, target: Target, looked: Looked, new: int) -> None:
        """A line of the research log for each source, those that were not asked as well."""
        query = item.query_string if isinstance(item, FrontierItem) else item.improved_query
        person = target.person
        years = [year_of(person.birth), year_of(person.death)] if person else []
        for answer in looked.answers:
            form = asked(target.name, answer.source, [year for year in years if year is not None])
            self._store.note_query(
                query,
                form.words,
                form.hash,
                answer.logged_as,
                int(answer.outcome in ("found", "known")),
                new if answer.outcome == "found" else 0,
                negative=answer.outcome == "nothing",
            )

    def _fits(self, record: Verified, context: Mapping[str, Any]) -> bool:
        relative = str(context.get("of", ""))
        home = self._store.person(relative).external.get("record", "") if relative else ""
        page = record.fetched.page

        def leads_back(fact: Extracted) -> bool:
            return bool(home and fact.target) and page is not None and self._located(page.ref.book, fact.target) == home

        return fits(record, context, leads_back)

    def _is_known(self, fetched: Fetched) -> bool:
        """Whether the case has this record in this version."""
        return self._store.source_by_url(fetched.source.url) == fetched.source.id


def standing_of(item: FrontierItem) -> Standing:
    return Standing(int(item.context.get("generation", 0)), int(item.context.get("aside", 0)))
