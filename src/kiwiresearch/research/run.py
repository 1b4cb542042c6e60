"""A whole run: from a topic to a folder with everything that was found, and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from kiwiresearch import __version__
from kiwiresearch.brief.brief import Brief
from kiwiresearch.brief.compose import compose
from kiwiresearch.brief.illustrating import illustrated
from kiwiresearch.brief.images import Images, images_text
from kiwiresearch.brief.markdown import markdown
from kiwiresearch.brief.record import record_of as brief_record
from kiwiresearch.brief.relevance import usable_sentences
from kiwiresearch.brief.report import report
from kiwiresearch.brief.report_html import page as report_page
from kiwiresearch.brief.sources import Origin
from kiwiresearch.brief.writer import rewritten
from kiwiresearch.claims.by_model import ClaimReader
from kiwiresearch.crawl.graph import graph_of, graph_text, lines_record
from kiwiresearch.crawl.log import log_of
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.state import State
from kiwiresearch.crawl.step import Begun, Step, Visited, row_of, step_of
from kiwiresearch.crawl.walk import Crawl, Walker
from kiwiresearch.ids import canonical_json
from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.record import record_of
from kiwiresearch.research.finding import Finder
from kiwiresearch.research.gathered import Gathered, unreadable
from kiwiresearch.research.places import fingerprint_in, is_unfinished
from kiwiresearch.research.run_folder import RunFolder
from kiwiresearch.research.seal import sealed
from kiwiresearch.research.settings import Settings
from kiwiresearch.research.topics import checked_aspect, checked_focus, checked_topic
from kiwiresearch.research.work import added
from kiwiresearch.search.hit import Score
from kiwiresearch.text.plain import printable
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import EntryRef
from kiwiresearch.zim.peer import Missing

REPORT = "report.md"
PICTURES = "pictures.json"
TIMINGS = "timings.json"


@dataclass(frozen=True, slots=True)
class Task:
    """What a user wants researched, and how."""

    topic: str
    focus: str = ""
    settings: CrawlSettings = field(default_factory=CrawlSettings)
    kiwix_url: str = ""
    critic: bool = False
    """Whether a second look is taken at what a model wrote."""
    missing: tuple[Missing, ...] = ()
    """Books that cannot be asked for it, since their hosts are away: what it says is said without them."""
    aspect: str = ""
    """The side of the topic that is wanted; empty leaves it to the topic's own words."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A step that was just made, and where the crawl stands."""

    step: Step
    state: State


Tell = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished run."""

    folder: Path
    topic: str
    pages: int
    how: Literal["done", "resumed", "was finished"]
    kept: int = 0
    """Pages that were there from before, when it was resumed."""
    story: str = ""
    """Where it began and why it ended, in a sentence."""

    @property
    def report(self) -> Path:
        return self.folder / REPORT


def crawl_settings(settings: Settings, *, fast: bool = False) -> CrawlSettings:
    """What a user has set about crawls."""
    return CrawlSettings(
        max_pages=settings.max_pages,
        max_depth=settings.max_depth,
        max_links_per_page=settings.max_links_per_page,
        strategy=settings.crawl_strategy,
        max_seeds=settings.max_seeds,
        first_sections=settings.first_sections,
        branch_share=settings.branch_share,
        fast=fast,
        filters=settings.link_filters,
        weights=settings.scoring_weights,
    )


@dataclass(frozen=True, slots=True)
class Made:
    """A brief, what became of a model's part in it, and the pictures it shows."""

    brief: Brief
    counts: dict[str, Any] = field(default_factory=dict)
    images: Images = field(default_factory=dict)


class Research:
    """One task over the books of a finder; the same task gives the same bytes in any folder."""

    def __init__(self, finder: Finder, task: Task) -> None:
        self._finder = finder
        self._embedder = None if task.settings.fast else finder.embedder_for_crawls()
        # Without an embedder a run is a fast one, and says so in all that it writes.
        settings = replace(task.settings, fast=self._embedder is None)
        self._advice = finder.advice if self._embedder else replace(finder.advice, embedder=None)
        self.task = replace(
            task,
            topic=checked_topic(task.topic),
            focus=checked_focus(task.focus),
            aspect=checked_aspect(task.aspect),
            settings=settings,
            kiwix_url=task.kiwix_url.rstrip("/"),
            missing=task.missing or finder.missing,
        )
        self._indexed = {book.book.id: book.titles is not None for book in finder.books}

    @property
    def books(self) -> Sequence[Book]:
        return [book.book for book in self._finder.books]

    def made_from(self) -> dict[str, Any]:
        """All that the outputs depend on."""
        made: dict[str, Any] = {
            "topic": self.task.topic,
            "focus": self.task.focus,
            "aspect": self.task.aspect,
            "version": __version__,
            "settings": asdict(self.task.settings) | {"search_books": self._finder.most_books},
            "embedder": self._embedder.id if self._embedder else "",
            "model": self._finder.model_name,
            "model_pages": self._finder.model_pages,
            "critic": self._finder.critic_name if self.task.critic else "",
            "books": [
                _book_record(book)
                | {"title_index": self._indexed[book.id], "opens_at": self._address(EntryRef(book.id, ""))}
                for book in self.books
            ],
        }
        if self._finder.policy.restricts:
            made["policy"] = self._finder.policy.fingerprint
        if self._finder.authority is not None:
            made["authority"] = self._finder.authority.made_from()
        if self.task.missing:
            made["missing"] = [
                {"host": one.host, "books": [book for book, _ in one.books]} for one in self.task.missing
            ]
        return made

    @property
    def fingerprint(self) -> str:
        """A hash over all that the outputs depend on: runs with the same one have the same files."""
        return "sha256:" + sha256(canonical_json(self.made_from()).encode()).hexdigest()[:32]

    def run(self, out: Path, tell: Tell | None = None) -> Outcome:
        """Do the task, or what is left of it, in a folder."""
        topic = self.task.topic
        self._begin_as_before(out)
        with RunFolder.open(out, self.fingerprint, topic) as folder:
            if folder.state == "finished":
                return Outcome(out, topic, _count_lines(out / "corpus.jsonl"), "was finished")
            model = self._finder.brief_model
            reader = ClaimReader(model) if model is not None and self._finder.model_pages else None
            gathered = Gathered(folder, reader, self._finder.model_pages)
            state, kept, seconds = self._crawl(folder, gathered, tell)
            if state.begun is not None and not state.begun.seeds:
                raise self._finder.nothing(topic)
            made = self._illustrated(self._made(state, gathered))
            made = replace(made, brief=replace(made.brief, context=gathered.contexts(made.brief)))
            counts = {"pages": len(state.visited), "claims": len(gathered.claims)} | made.counts
            told = self.made_from() | {"understood": _understanding(state)} | counts
            folder.finish(self._outputs(state, gathered, made), told, {TIMINGS: _timings(seconds, kept)})
        return Outcome(out, topic, len(state.visited), "resumed" if kept else "done", kept, _story(state))

    def _begin_as_before(self, out: Path) -> None:
        """A run that began before the title index of a large book was built goes on as one without it."""
        indexed = self._indexed
        if not is_unfinished(out) or fingerprint_in(out) == self.fingerprint:
            return
        self._indexed = dict.fromkeys(indexed, False)
        if fingerprint_in(out) != self.fingerprint:
            self._indexed = indexed

    def _crawl(self, folder: RunFolder, gathered: Gathered, tell: Tell | None) -> tuple[State, int, list[float]]:
        walker = Walker(
            Crawl(
                self._finder.books,
                self.task.topic,
                self.task.focus,
                self.task.settings,
                self._advice,
                self._embedder,
                self._finder.most_books,
                self._finder.authority,
                self.task.aspect,
            )
        )
        walker.state.replay(_past(folder))
        kept = len(walker.state.visited)
        seconds: list[float] = []
        before = time.monotonic()
        while walker.state.ended is None:
            with self._finder.unbroken():  # a step that missed a book is no step of this run
                move = walker.next()
                if isinstance(move.step, Begun) and not move.step.seeds:
                    walker.state.apply(move.step)
                    break  # a search without result leaves nothing behind
                row = row_of(move.step)
                if move.page is not None and isinstance(move.step, Visited):
                    row |= _to_corpus(folder, move.page, move.step, len(walker.state.visited) + 1)
                    wanted = usable_sentences(walker.state.begun, move.page)
                    row |= gathered.take(move.page, self._finder.book(move.page.ref.book), wanted)
            if move.page is not None and isinstance(move.step, Visited):
                seconds.append(round(time.monotonic() - before, 4))
                before = time.monotonic()
            folder.journal.append(row)
            walker.state.apply(move.step)
            if tell:
                tell(Progress(move.step, walker.state))
        return walker.state, kept, seconds

    def _made(self, state: State, gathered: Gathered) -> Made:
        """The brief by rule, worded by a model where there is one."""
        origin = Origin(state, self.books, self._address, __version__, self.fingerprint)
        brief = compose(origin, gathered.claims, gathered.missing)
        brief = replace(brief, notes=(*brief.notes, *self._left_out()))
        model = self._finder.brief_model
        if model is None:
            return Made(brief)
        critic = self._finder.critic_model if self.task.critic else None
        written = rewritten(brief, model, critic=self.task.critic, critic_model=critic)
        noted = replace(written.brief, notes=(*written.brief.notes, *gathered.notes))
        return Made(noted, {"claims_by_model": gathered.counts, "sentences_by_model": asdict(written.counts)})

    def _illustrated(self, made: Made) -> Made:
        """The same with pictures of its pages, where the books have some."""
        with self._finder.unbroken():
            found = illustrated(made.brief, lambda book: self._finder.book(book).archive)
        return replace(made, brief=found.brief, images=found.images)

    def _outputs(self, state: State, gathered: Gathered, made: Made) -> dict[str, str]:
        brief = made.brief
        titles: dict[str, str] = {book.id: book.title for book in self.books}
        log = (*log_of(state, titles), *self._left_out(), *gathered.log())
        pictures = {PICTURES: images_text(made.images)} if made.images else {}
        return pictures | {
            "graph.json": graph_text(graph_of(state, self._url)),
            "run.log": "\n".join(map(_one_line, log)) + "\n",
            "brief.json": canonical_json(brief_record(brief), indent=1) + "\n",
            REPORT: markdown(report(brief)),
            "report.html": report_page(brief, made.images),
        }

    def _left_out(self) -> Iterator[str]:
        """What the reader of a run must know: that a policy hides something, and which books were not asked."""
        if self._finder.policy.restricts:
            yield f"Made under {printable(self._finder.policy.whose)}: some pages or books are hidden by it."
        for one in self.task.missing:
            yield f"Not asked: {one.titles}. The host {one.host!r} was away when the run began."

    def _url(self, ref: EntryRef) -> str:
        return self._finder.book(ref.book).archive.url(ref.path)

    def _address(self, ref: EntryRef) -> str:
        return self._finder.address(ref, self.task.kiwix_url)


def _understanding(state: State) -> dict[str, Any]:
    """How the topic was understood, as the manifest records it; `read_as` is the topic with its slips mended."""
    begun = state.begun
    if begun is None:
        return {}
    return {
        "head": begun.head or begun.topic,
        "aspect": begun.aspect,
        "senses": list(begun.senses),
        "head_pages": [str(ref) for ref in state.visited if ref in begun.heads],
        "read_as": next((one.corrected for one in begun.searched if one.corrected), ""),
    }


def _story(state: State) -> str:
    begun, ended = state.begun, state.ended
    if begun is None or ended is None:
        return ""
    weak = "" if any(one.naming for one in begun.searched) else " No page names the topic: these only share its words."
    return f"It began with {', '.join(seed.title for seed in begun.seeds)}, and ended because {ended.why}.{weak}"


def _past(folder: RunFolder) -> list[Step]:
    try:
        return [step_of(row) for row in folder.journal.rows]
    except (KeyError, TypeError, ValueError) as problem:
        raise unreadable(folder) from problem


def _to_corpus(folder: RunFolder, page: PageDoc, step: Visited, order: int) -> dict[str, Any]:
    """Put a page into the corpus; what the journal must know of it."""
    record = record_of(page) | {
        "metadata": {
            "order": order,
            "depth": step.depth,
            "priority_score": Score(step.lines).total,
            "lines": lines_record(step.lines),
            "relevance": step.relevance,
            "reason": step.reason,
            "cluster": step.branch,
        }
    }
    return added("corpus", folder.corpus, (canonical_json(record) + "\n").encode("utf-8", "replace"))


def _book_record(book: Book) -> dict[str, Any]:
    return {
        "id": book.id,
        "name": book.name,
        "title": book.title,
        "date": book.date,
        "flavour": book.flavour,
        "language": book.language,
        "articles": book.articles,
    }


def _timings(seconds: Sequence[float], kept: int) -> str:
    """How long it took: in a file of its own, since it is never the same twice."""
    told = {"seconds": round(sum(seconds), 3), "seconds_by_page": list(seconds), "pages_kept": kept}
    return canonical_json(sealed(told), indent=2) + "\n"


def _one_line(text: str) -> str:
    """What a book says cannot begin a line of its own in the log, nor command the terminal it is read on."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    return indent + printable(text[len(indent) :])


def _count_lines(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in stream)
