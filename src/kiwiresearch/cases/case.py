"""One case of family research: its store, books and sources, and what is shown of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from kiwiresearch.cases.case_location import CaseLocation, location_of
from kiwiresearch.cases.exports import CaseFormat, export_text
from kiwiresearch.cases.import_log import kept_records, media_files
from kiwiresearch.cases.merges import shown_rationale, stored_proposals
from kiwiresearch.cases.sources import OpenSources, open_case_sources
from kiwiresearch.codec import plain
from kiwiresearch.errors import BadUsage, KiwiError, NothingFound
from kiwiresearch.ids import is_start_of_id
from kiwiresearch.kin import KinshipFinder, PersonId, Source, Tree, find_tree_conflicts
from kiwiresearch.kin.loop import (
    CaseModel,
    CaseSettings,
    EvaluationResult,
    Researcher,
    ResearchStep,
    evaluate,
    query_label,
    update_living_status,
)
from kiwiresearch.kin.privacy import Mask, ShownTree, WithheldPeople, find_withheld, shown_tree
from kiwiresearch.kin.report import MergeEntry, ReportInput, SearchEntry, Stop, lifespan, shown_conflict
from kiwiresearch.kin.resolve import ordered_pair
from kiwiresearch.kin.store import CaseStore
from kiwiresearch.messages import Message
from kiwiresearch.text import fold
from kiwiresearch.zim import SCHEME

if TYPE_CHECKING:
    from kiwiresearch.kin.gedcom import ShownRecords
    from kiwiresearch.kin.privacy import PrivacyMode
    from kiwiresearch.llm import Model
    from kiwiresearch.workspace import Finder

MAX_LISTED = 8
MAX_RESOLVED_AT_ONCE = 300
"""In a family of more people, a change waits only for who may be living: duplicates and doubts take too long."""


def find_person(words: str, tree: Tree, *, by_name: bool = True) -> PersonId:
    """Find a person by name, page title or id prefix; if several match, the error lists them.

    Without `by_name` that list has only ids.
    """
    people, wanted = tree.persons, fold(words)
    if not wanted:
        raise BadUsage("The name is empty.", remedy="To list everyone: kiwiresearch kin show")
    by_main_name = [person_id for person_id, person in people.items() if fold(person.name) == wanted]
    by_any_name = [person_id for person_id, person in people.items() if wanted in map(fold, person.names)]
    by_prefix = [item for item in people if is_start_of_id(words.lower(), item)]
    by_part = [
        person_id
        for person_id, person in people.items()
        if any(wanted in fold(name) for name in (person.name, *person.names))
    ]
    # An exact match of the main name wins over other names, those over an id prefix, and a partial match comes last.
    found = next((some for some in (by_main_name, by_any_name, by_prefix, by_part) if some), [])
    if len(found) == 1:
        return found[0]
    if not found:
        raise NothingFound(
            f"No one in this case is called {words!r}.", remedy="To list everyone: kiwiresearch kin show"
        )
    several = "; ".join(
        f"{item[:8]} {_who(tree, item)}" if by_name else item[:8] for item in sorted(found)[:MAX_LISTED]
    )
    more = f"; and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
    raise BadUsage(
        f"{words!r} matches {len(found)} people: {several}{more}.", remedy="Use the start of one of these IDs instead."
    )


def _who(tree: Tree, person: PersonId) -> str:
    lived = lifespan(tree, person)
    return f"{tree.persons[person].name} ({lived})" if lived else tree.persons[person].name


Found = TypeVar("Found")

PRIVACY_NOTES: Mapping[PrivacyMode, str] = {
    "owner": "",
    "private": "For people who may be living, this shows names, relationships, decades, states and countries.",
    "public": "For people who may be living, this shows only sex and relationships.",
    "exclude": "People who may be living are excluded.",
}


def now() -> str:
    """The current time, for the timestamp columns of a case; nothing exported from a case depends on it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def this_year() -> int:
    return time.gmtime().tm_year


class Case:
    """One family's research. It can be read without its books, but continuing the research needs them."""

    def __init__(
        self, location: CaseLocation, store: CaseStore, finder: Finder | None, year: int, *, plugins: Path | None = None
    ) -> None:
        self.location = location
        self.store = store
        self.year = year
        self.finder = finder
        self.settings = CaseSettings.from_record(store.settings)
        self.with_model = False
        """Whether a model is asked where the rules are unsure; it is never shown living people."""
        self._plugins = plugins
        self._is_locked = False

    @classmethod
    def start(
        cls,
        where: Path | CaseLocation,
        settings: CaseSettings,
        finder: Finder,
        *,
        year: int | None = None,
        plugins: Path | None = None,
        with_model: bool = False,
    ) -> Self:
        """Start a case at an unused location; if its people are not found, the case is removed again."""
        if not settings.seeds or not all(name.strip() for name in settings.seeds):
            raise BadUsage("A case needs a starting person.", remedy="Example: kiwiresearch kin start 'Charles Darwin'")
        case = cls.empty(where, settings, finder, year=year, plugins=plugins)
        case.with_model = with_model
        try:
            case.researcher.start()
        except KiwiError:
            case.close()
            case.location.discard()
            raise
        return case

    @classmethod
    def empty(
        cls,
        where: Path | CaseLocation,
        settings: CaseSettings,
        finder: Finder | None = None,
        *,
        year: int | None = None,
        plugins: Path | None = None,
    ) -> Self:
        """Create a case in which nothing has been searched for yet."""
        location = location_of(where)
        store = CaseStore.create(location.database, plain(settings), now)
        return cls(location, store, finder, year or this_year(), plugins=plugins)

    @classmethod
    def open(
        cls,
        where: Path | CaseLocation,
        finder: Finder | None = None,
        *,
        year: int | None = None,
        plugins: Path | None = None,
        for_changes: bool = False,
        wait_s: float = 0.0,
    ) -> Self:
        """Open a case at a location or in a folder.

        With `for_changes`, it is locked, after waiting up to `wait_s` for another process.
        """
        location = location_of(where)
        store = CaseStore.open(location.database, now, for_changes=for_changes, wait_s=wait_s)
        case = cls(location, store, finder, year or this_year(), plugins=plugins)
        if for_changes:
            case._is_locked = True
            location.touch()
        return case

    def close(self) -> None:
        opened: OpenSources | None = self.__dict__.get("opened_sources")
        if opened is not None:
            opened.close()
        try:
            if self._is_locked:
                self.location.touch()
        finally:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @cached_property
    def researcher(self) -> Researcher:
        """The researcher of the case, with its sources opened."""
        finder, sources = self._books(), self.opened_sources.sources
        model = finder.brief_model if self.with_model else None
        is_local = model is not None and finder.model_is_local
        return Researcher(self.store, sources, self._find_address, year=self.year, model=model, model_is_local=is_local)

    @cached_property
    def opened_sources(self) -> OpenSources:
        """Its sources, open until the case is closed."""
        return open_case_sources(self.store, self._books().books, self._plugins)

    def _books(self) -> Finder:
        if self.finder is None:
            raise BadUsage("The case cannot continue without its books.", remedy="Open it with its books.")
        return self.finder

    def steps(self) -> Iterator[ResearchStep]:
        """Research until there is a reason to stop. Programs call this: see the guide for Python."""
        return self.researcher.steps()

    def reevaluate(self) -> EvaluationResult:
        """Evaluate all known facts again, for example after the user changed something."""
        with self.store.step("resolver"):
            evaluated = evaluate(self.store, self.year, years_after_death=self.settings.years_after_death)
            self.store.set_state("proposals", [proposal.record() for proposal in evaluated.proposals])
        return evaluated

    def apply_change(self) -> None:
        """Evaluate what follows from a change by a person; in a large family, research does most of it later."""
        if self.store.person_count() <= MAX_RESOLVED_AT_ONCE:
            self.reevaluate()
        else:
            update_living_status(self.store, self.year, self.settings.years_after_death)

    def tree(self, mode: PrivacyMode = "owner", *, with_discarded: bool = False) -> ShownTree:
        """The tree, redacted for the mode; `with_discarded` includes rejected facts."""
        found = shown_tree(self.withheld(with_discarded=with_discarded), mode)
        return replace(found, sources={item: _without_day(source) for item, source in found.sources.items()})

    def derived(self, compute: Callable[[Tree], Found], mode: PrivacyMode) -> Found:
        """A value computed from the tree as the mode shows it, such as its conflicts; `CachedCase` computes it once."""
        return compute(self.tree(mode))

    def mask(self, mode: PrivacyMode) -> Mask:
        """The mask that removes the people withheld in this mode from texts."""
        return Mask(self.withheld(), mode)

    def withheld(self, *, with_discarded: bool = False) -> WithheldPeople:
        """The unredacted tree, and who in it is withheld. For the owner only."""
        tree, years = self.store.tree(with_discarded=with_discarded), self.settings.years_after_death
        return find_withheld(tree, self.year, years_after_death=years, overrides=self.store.living_overrides)

    def seeds(self) -> tuple[PersonId, ...]:
        """The people the case was started with."""
        return tuple(dict.fromkeys(map(self.store.canonical, self.store.seeds)))

    def title(self, mode: PrivacyMode) -> str:
        """The people the case was started with, as its user named them; withheld people are replaced by their mark.

        The mask is not enough: it knows only the names in the sources, and the user may have typed another nickname.
        """
        mask = self.mask(mode)
        marks = {person: mark for mark, person in mask.people.items()} if mode in ("public", "exclude") else {}
        # Not `self.seeds()`, which drops repeated people: names and people are paired by position.
        seeds = list(map(self.store.canonical, self.store.seeds))
        names = [marks.get(seed) or mask.text(name) for name, seed in zip(self.settings.seeds, seeds, strict=False)]
        title = ", ".join(names)
        return Message(title, "person.living") if names and seeds[0] in marks else title

    def report_input(self, mode: PrivacyMode = "public") -> ReportInput:
        """The input of a report on the case, redacted for the mode."""
        tree = self.tree(mode)
        mask = self.mask(mode)
        seeds = tuple(seed for seed in self.seeds() if seed in tree.persons)
        stop = self.store.stop
        return ReportInput(
            tree,
            seeds,
            title=self.title(mode),
            generations=self.settings.generations,
            conflicts=tuple(map(shown_conflict, self.derived(find_tree_conflicts, mode))),
            merges=tuple(self._merges(tree, mask)),
            possible_duplicates=tuple(
                ordered_pair(*merge.pair)
                for merge in stored_proposals(self.store)
                if set(merge.pair) <= tree.persons.keys()
            ),
            searches=tuple(self.searches(mode)),
            stop=Stop(str(stop.get("reason", "")), str(stop.get("words", ""))),
            kinship=_kinship(KinshipFinder(tree), tree, seeds),
            privacy=PRIVACY_NOTES[mode] if tree.withheld or mode == "exclude" else "",
        )

    def export(
        self,
        file_format: CaseFormat,
        mode: PrivacyMode = "public",
        *,
        model: Model | None = None,
        model_is_local: bool = False,
    ) -> str:
        """The case as the text of a file. The same case gives the same bytes, unless a model writes the summary."""
        case_model = CaseModel(self.store, self.settings, self.year, model, is_local=model_is_local)
        return export_text(
            file_format,
            self.tree(mode),
            lambda: self.report_input(mode),
            case_model.model(),
            kept=lambda: self.kept_lines(mode),
        )

    def export_file(
        self,
        file_format: CaseFormat,
        mode: PrivacyMode = "public",
        *,
        model: Model | None = None,
        model_is_local: bool = False,
    ) -> bytes:
        """The case as a file; a GEDCOM package has the pictures and documents that its tree refers to."""
        text = self.export(file_format, mode, model=model, model_is_local=model_is_local)
        if file_format != "gdz":
            return text.encode("utf-8", "replace")
        from kiwiresearch.kin.gedcom import gedcom_package

        return gedcom_package(text, media_files(self.store, self.location, self.kept_lines(mode).records))

    def kept_lines(self, mode: PrivacyMode) -> ShownRecords:
        """The lines of imported files that the tree cannot represent, as far as the mode shows them."""
        from kiwiresearch.kin.gedcom import NOTHING_KEPT, shown_records

        kept = kept_records(self.store)
        return shown_records(kept, self.withheld(), mode) if kept else NOTHING_KEPT

    def book_paths(self) -> Sequence[str]:
        """The paths of the books the case was started with; empty if it uses the shelf."""
        return tuple(self.store.state("book_places") or ())

    def _find_address(self, book: str, path: str) -> str | None:
        books = self.finder.books if self.finder else ()
        found = next((open_book for open_book in books if open_book.book.id == book), None)
        end = found.resolve(path) if found else None
        return str(found.ref(end)) if found and end else None

    def _merges(self, tree: Tree, mask: Mask) -> Iterator[MergeEntry]:
        for cluster in self.store.merges.all():
            person = self.store.canonical(cluster.canonical_id)
            if person in tree.persons:
                names = tuple(dict.fromkeys((tree.persons[person].name, *tree.persons[person].names)))
                texts = mask.text(shown_rationale(cluster)), mask.text(cluster.why_not_merge)
                yield MergeEntry(person, names, *texts, cluster.score, cluster.decided_by, cluster.state == "reverted")

    def searches(self, mode: PrivacyMode) -> Iterator[SearchEntry]:
        """All searches, including those without results."""
        mask = self.mask(mode)
        for row in self.store.queries():
            query = mask.text(query_label(row.query))
            yield SearchEntry(query, row.source, row.hits, row.new_assertions, row.negative)


def _without_day(source: Source) -> Source:
    """Drop the access date of a book's page: the page never changes, and its hash identifies it."""
    return replace(source, accessed_at="") if source.url.startswith(SCHEME) else source


def _kinship(finder: KinshipFinder, tree: Tree, seeds: tuple[PersonId, ...]) -> dict[PersonId, str]:
    if not seeds:
        return {}
    return {person: finder.describe(seeds[0], person) for person in sorted(tree.persons) if person != seeds[0]}
