"""A case of family research, put together: its place, its books, its sources, and what leaves it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kiwiresearch.errors import BadUsage, KiwiError
from kiwiresearch.kin.conflicts.find import conflicts_of
from kiwiresearch.kin.fields import Living
from kiwiresearch.kin.kinship import Family
from kiwiresearch.kin.loop.deciding import Decided, decide
from kiwiresearch.kin.loop.remembered import query_words
from kiwiresearch.kin.loop.research import Researcher, Took
from kiwiresearch.kin.loop.second_opinion import SecondOpinion
from kiwiresearch.kin.loop.settings import CaseSettings
from kiwiresearch.kin.privacy.hidden import Hidden, hidden_in
from kiwiresearch.kin.privacy.mask import Mask
from kiwiresearch.kin.privacy.redact import RedactedTree, without
from kiwiresearch.kin.report.given import FamilyCase, Merged, Search, Stop, disagreement
from kiwiresearch.kin.store.case import CaseStore
from kiwiresearch.kin.tree import PersonId, Source, Tree
from kiwiresearch.research.family_folders import CASES, FILE, folder_for, folder_of
from kiwiresearch.research.family_forms import ENDINGS, Form, written
from kiwiresearch.research.family_people import person_called
from kiwiresearch.research.family_places import CasePlace, place_of
from kiwiresearch.research.family_plugins import Opened, opened_sources

if TYPE_CHECKING:
    from kiwiresearch.kin.privacy.redact import Mode
    from kiwiresearch.llm.model import Model
    from kiwiresearch.research.finding import Finder

__all__ = ["CASES", "ENDINGS", "FILE", "Case", "CaseSettings", "Form", "folder_for", "folder_of", "now", "this_year"]

Found = TypeVar("Found")

KEPT_BACK: Mapping[Mode, str] = {
    "owner": "",
    "private": "Of people who may be living, dates are shown by decade and places by country.",
    "public": "Of people who may be living it shows only that there is somebody, and the ties.",
    "exclude": "People who may be living are left out.",
}


def now() -> str:
    """The time for columns of a case that hold times; nothing that leaves a case depends on it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def this_year() -> int:
    return time.gmtime().tm_year


class Case:
    """One family's research. What is known can be read without the books it is from; to go on they are needed."""

    def __init__(
        self, place: CasePlace, store: CaseStore, finder: Finder | None, year: int, *, plugins: Path | None = None
    ) -> None:
        self.place = place
        self.store = store
        self.year = year
        self.finder = finder
        self.settings = CaseSettings.from_record(store.settings)
        self.with_model = False
        """Whether the model of the settings is asked where the rules are not sure; none is told of the living."""
        self._plugins = plugins
        self._is_alone = False

    @classmethod
    def start(
        cls,
        where: Path | CasePlace,
        settings: CaseSettings,
        finder: Finder,
        *,
        year: int | None = None,
        plugins: Path | None = None,
        with_model: bool = False,
    ) -> Self:
        """Begin a case at a place that has none; where its people are not found, nothing is left behind."""
        if not settings.seeds or not all(name.strip() for name in settings.seeds):
            raise BadUsage("A case begins with a name.", remedy="Such as: kiwiresearch kin start 'Charles Darwin'")
        case = cls.empty(where, settings, finder, year=year, plugins=plugins)
        case.with_model = with_model
        try:
            case.researcher.begin()
        except KiwiError:
            case.close()
            case.place.discard()
            raise
        return case

    @classmethod
    def empty(
        cls,
        where: Path | CasePlace,
        settings: CaseSettings,
        finder: Finder | None = None,
        *,
        year: int | None = None,
        plugins: Path | None = None,
    ) -> Self:
        """A case in which nothing was looked for yet."""
        place = place_of(where)
        store = CaseStore.create(place.where, settings.record(), now)
        return cls(place, store, finder, year or this_year(), plugins=plugins)

    @classmethod
    def open(
        cls,
        where: Path | CasePlace,
        finder: Finder | None = None,
        *,
        year: int | None = None,
        plugins: Path | None = None,
        alone_s: float | None = None,
    ) -> Self:
        """The case at a place, a folder or another; to be changed while nobody else does, if `alone_s` is a number.

        So long is waited for who works on it.
        """
        place = place_of(where)
        store = CaseStore.open(place.where, now, alone_s=alone_s)
        case = cls(place, store, finder, year or this_year(), plugins=plugins)
        if alone_s is not None:
            case._is_alone = True
            place.worked_on()
        return case

    def close(self) -> None:
        opened: Opened | None = self.__dict__.get("_opened")
        if opened is not None:
            opened.close()
        try:
            if self._is_alone:
                self.place.worked_on()
        finally:
            self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @cached_property
    def researcher(self) -> Researcher:
        """The one who works on the case, with its sources opened."""
        finder, sources = self._books(), self._opened.sources
        model = finder.brief_model if self.with_model else None
        is_local = model is not None and finder.model_is_local
        return Researcher(self.store, sources, self._located, year=self.year, model=model, model_is_local=is_local)

    @cached_property
    def _opened(self) -> Opened:
        return opened_sources(self.store, self._books().books, self._plugins)

    def _books(self) -> Finder:
        if self.finder is None:
            raise BadUsage("To go on, the case needs its books.", remedy="Open it with them.")
        return self.finder

    def sign_in(self, source: str, tell: Callable[[str], None]) -> None:
        """Sign the user in to a source of the case, until the case is closed; `tell` hears where that is done."""
        self._opened.sign_in(source, tell)

    def steps(self) -> Iterator[Took]:
        return self.researcher.steps()

    def decide(self) -> Decided:
        """Look at all that is known again, as after something that a user changed."""
        with self.store.step("resolver"):
            decided = decide(self.store, self.year, years_after_death=self.settings.years_after_death)
            self.store.set_state("proposals", [one.record() for one in decided.proposals])
        return decided

    @property
    def overrides(self) -> Mapping[PersonId, Living]:
        """What the user says of who lives."""
        return self.store.state("living_overrides") or {}

    def privacy(self) -> dict[str, Any]:
        """What decides who is kept back, beside the year."""
        return {"years_after_death": self.settings.years_after_death, "overrides": self.overrides}

    def tree(self, mode: Mode = "owner", *, everything: bool = False) -> RedactedTree:
        """The family as a mode allows it to be seen; `everything` has what was rejected as well."""
        found = without(self.known(everything=everything), mode)
        return replace(found, sources={one: _without_day(source) for one, source in found.sources.items()})

    def made_of(self, tell: Callable[[Tree], Found], mode: Mode) -> Found:
        """What is told of the tree that a mode shows, such as its conflicts."""
        return tell(self.tree(mode))

    def mask(self, mode: Mode) -> Mask:
        """What takes those whom the mode keeps back out of texts."""
        return Mask.of(self.known(), mode)

    def known(self, *, everything: bool = False) -> Hidden:
        """All that is known, and who is kept back of it. It stays with the owner."""
        return hidden_in(self.store.tree(everything=everything), self.year, **self.privacy())

    def person(self, words: str, tree: Tree | None = None, *, by_name: bool = True) -> PersonId:
        """The person whom a user means: by the beginning of the id, by name, or by the title of the page.

        Where several are meant they are listed, by name as well if `by_name`.
        """
        return person_called(words, tree or self.store.tree(), by_name=by_name)

    def seeds(self) -> tuple[PersonId, ...]:
        """The people whom the case began with."""
        return tuple(dict.fromkeys(self.store.canonical(seed) for seed in self.store.state("seeds") or ()))

    def title(self, mode: Mode) -> str:
        """Whom the case began with, as its user called them; whoever is kept back is the mark that stands for them.

        The mask alone would not do: it knows what sources call somebody, and a user may write "Becks".
        """
        mask = self.mask(mode)
        marks = {person: mark for mark, person in mask.people.items()} if mode in ("public", "exclude") else {}
        begun = zip(self.settings.seeds, self.store.state("seeds") or (), strict=False)
        return ", ".join(marks.get(self.store.canonical(seed)) or mask.text(name) for name, seed in begun)

    def report(self, mode: Mode = "public") -> FamilyCase:
        """The case as reports tell it, with everybody redacted whom the mode keeps back."""
        tree = self.tree(mode)
        mask = self.mask(mode)
        seeds = tuple(seed for seed in self.seeds() if seed in tree.persons)
        stop = self.store.state("stop") or {}
        return FamilyCase(
            tree,
            seeds,
            title=self.title(mode),
            generations=self.settings.generations,
            disagreements=tuple(map(disagreement, self.made_of(conflicts_of, mode))),
            merges=tuple(self._merges(tree, mask)),
            searches=tuple(self.searches(mode)),
            stop=Stop(stop.get("reason", ""), stop.get("words", "")),
            kinship=_kinship(Family(tree), tree, seeds),
            privacy=KEPT_BACK[mode] if tree.hidden or mode == "exclude" else "",
        )

    def export(
        self, form: Form, mode: Mode = "public", *, model: Model | None = None, model_is_local: bool = False
    ) -> str:
        """The case as the text of a file: the same case gives the same bytes, unless a model words its summary."""
        opinion = SecondOpinion(self.store, self.settings, self.year, model, is_local=model_is_local)
        return written(form, self.tree(mode), lambda: self.report(mode), opinion.model())

    def book_places(self) -> Sequence[str]:
        """Where the books are that were named when the case began; none where it uses the shelf."""
        return tuple(self.store.state("book_places") or ())

    def _located(self, book: str, path: str) -> str | None:
        books = self.finder.books if self.finder else ()
        found = next((one for one in books if one.book.id == book), None)
        end = found.resolve(path) if found else None
        return str(found.ref(end)) if found and end else None

    def _merges(self, tree: Tree, mask: Mask) -> Iterator[Merged]:
        for one in self.store.merges():
            person = self.store.canonical(one.canonical_id)
            if person in tree.persons:
                names = tuple(dict.fromkeys((tree.persons[person].name, *tree.persons[person].names)))
                told = mask.text(one.merge_rationale), mask.text(one.why_not_merge)
                yield Merged(person, names, *told, one.score, one.decided_by, one.state == "reverted")

    def searches(self, mode: Mode) -> Iterator[Search]:
        """What was looked for, also in vain."""
        mask = self.mask(mode)
        for row in self.store.queries():
            query = mask.text(query_words(row.query))
            yield Search(query, row.source, row.hits, row.new_assertions, row.negative)


def _without_day(source: Source) -> Source:
    """A page of a book is the same whenever it is read: which one it was, its hash says."""
    return replace(source, accessed_at="") if source.url.startswith("zim://") else source


def _kinship(family: Family, tree: Tree, seeds: tuple[PersonId, ...]) -> dict[PersonId, str]:
    if not seeds:
        return {}
    return {one: family.words(seeds[0], one) for one in sorted(tree.persons) if one != seeds[0]}
