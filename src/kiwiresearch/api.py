"""The library: a shelf for programs, with the commands as methods."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kiwiresearch.search import SearchOptions, SearchResult
from kiwiresearch.workspace import Finder, Workspace, find_page, open_workspace, shelf_of
from kiwiresearch.zim import Shelf, listed_book

if TYPE_CHECKING:
    from kiwiresearch.ask import Answer, AskOptions
    from kiwiresearch.cases import Case
    from kiwiresearch.claims import Claim
    from kiwiresearch.claims.conflicts import TextComparison
    from kiwiresearch.crawl import CrawlSettings
    from kiwiresearch.kin.loop import CaseSettings
    from kiwiresearch.page import PageDoc
    from kiwiresearch.runs import ProgressListener, RunOutcome
    from kiwiresearch.verify import Verification
    from kiwiresearch.workspace import Asker


class OpenShelf(Shelf):
    """A shelf for programs: its books, and a search over them."""

    def __init__(self, workspace: Workspace, shelf: Shelf, *, search_every_book: bool) -> None:
        super().__init__(shelf.books, workspace.opener, is_sample=shelf.is_sample)
        self._workspace = workspace
        self._settings = workspace.settings
        self._finder = Finder(workspace, self, search_every_book=search_every_book)

    def search(self, query: str, *, limit: int = 10, fast: bool = False, focus: str = "") -> SearchResult:
        """The pages that answer a query, best first; `fast` reads none, `focus` decides between senses."""
        return self._finder.find(query, SearchOptions(limit=limit, fast=fast, focus=focus))

    def page(self, title: str) -> PageDoc:
        """The page of this title or path, in the first book that has it."""
        return find_page(self, title).page

    def ask(self, question: str, options: AskOptions | None = None) -> Answer:
        """The answer to a question, in the books' words or a model's; not grounded if the books do not answer it."""
        return self._asker.ask(question, options) if options else self._asker.ask(question)

    @functools.cached_property
    def _asker(self) -> Asker:
        from kiwiresearch.workspace import Asker

        return Asker(self._finder, self._settings.ask)

    def research(
        self,
        topic: str,
        out: str | Path,
        *,
        focus: str = "",
        aspect: str = "",
        settings: CrawlSettings | None = None,
        tell: ProgressListener | None = None,
    ) -> RunOutcome:
        """Research a topic and write the run into a folder, or resume it there; `tell` is called with each step.

        `focus` has the words that matter most, `aspect` names the wanted side of the topic, such as causes.
        """
        from kiwiresearch.runs import Research, ResearchTask, crawl_settings

        chosen = settings or crawl_settings(self._settings)
        task = ResearchTask(topic, focus, chosen, self._settings.kiwix_url, aspect=aspect)
        return Research(self._finder, task).run(Path(out), tell)

    def extract_claims(self, title: str = "", *, text: str = "") -> tuple[Claim, ...]:
        """The claims of the page with this title or path, or of your own text, which the title then names."""
        from kiwiresearch.claims import claims_of_page, claims_of_text

        if text:
            return claims_of_text(text, title).claims
        found = find_page(self, title)
        return claims_of_page(found.page, found.book.name).claims

    def find_conflicts(self, a: str, b: str, *, title: str = "") -> TextComparison:
        """Whether one text contradicts another, and where; `title` says what both are about."""
        from kiwiresearch.claims.conflicts import compare_texts

        return compare_texts(a, b, title)

    def verify(self, run: str | Path, signers: str | Path | None = None) -> Verification:
        """Verify a run again from the books of this shelf; with a file of `signers`, one must have signed it."""
        from kiwiresearch.verify import verify_run

        return verify_run(Path(run), self, self._workspace, Path(signers) if signers else None)

    def start_family(self, folder: str | Path, *names: str, settings: CaseSettings | None = None) -> Case:
        """Start a case of family research in a folder: find these people and read their pages.

        `settings` limit how far it goes; their seeds are replaced by the names. Iterate over its `steps()` to the
        end.
        """
        from kiwiresearch.cases import Case, plugins_folder
        from kiwiresearch.kin.loop import CaseSettings

        chosen = settings or CaseSettings.from_scope(self._settings.kin)
        chosen = replace(chosen, seeds=names, books=tuple(book.id for book in self.books))
        return Case.start(Path(folder), chosen, self._finder, plugins=plugins_folder(self._workspace))

    def open_family(self, folder: str | Path) -> Case:
        """An existing case, to read it or to take further steps."""
        from kiwiresearch.cases import Case, plugins_folder

        return Case.open(Path(folder), self._finder, plugins=plugins_folder(self._workspace))

    def close(self) -> None:
        self._finder.close()
        super().close()


def open_shelf(paths: str | Path | Sequence[str | Path] = ()) -> OpenShelf:
    """The shelf of a program: the named files, folders or addresses, or else the user's own shelf."""
    workspace = open_workspace()
    if isinstance(paths, str | Path):
        paths = (paths,)
    if not paths:
        return OpenShelf(workspace, shelf_of(workspace), search_every_book=False)
    rows = [row for path in paths for row in workspace.opener.look_up(str(path))]
    shelf = Shelf([listed_book(book, source) for book, source in rows], workspace.opener)
    return OpenShelf(workspace, shelf, search_every_book=True)
