"""Makes a run: from a topic to a folder with everything that was found, and why.

The order of all steps is in one file on purpose: it decides what a killed run repeats.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kiwiresearch.brief import (
    Brief,
    BriefInput,
    Images,
    brief_document,
    brief_record,
    compose,
    illustrate,
    pictures_json,
    report_page,
    sentence_filter_for,
)
from kiwiresearch.codec import JsonDict, plain
from kiwiresearch.crawl import (
    CrawlPlan,
    CrawlState,
    CrawlStep,
    StartStep,
    VisitStep,
    Walker,
    crawl_graph,
    crawl_log,
    graph_text,
    step_from_record,
    step_record,
)
from kiwiresearch.document.markdown import markdown
from kiwiresearch.ids import canonical_json, short_hash
from kiwiresearch.messages import Message, message_fields
from kiwiresearch.page import PageDoc, page_record
from kiwiresearch.runs.collector import ClaimCollector, unreadable_journal
from kiwiresearch.runs.early_brief import nothing_read_error, stop_step, unread_note, was_written_when_stopped
from kiwiresearch.runs.manifest import (
    BOOK_FIELDS,
    BRIEF,
    CORPUS,
    GRAPH,
    LOG,
    PICTURES,
    REPORT,
    REPORT_PAGE,
    TIMINGS,
    sealed,
)
from kiwiresearch.runs.task import ResearchTask
from kiwiresearch.runs.unfinished_run import append_lines, remove_leftovers
from kiwiresearch.runs.writer import RunWriter, fingerprint_of_folder, is_unfinished
from kiwiresearch.search import OpenBook, Score
from kiwiresearch.text import printable
from kiwiresearch.version import __version__
from kiwiresearch.workspace import Finder, address_in_book, checked_aspect, checked_focus, checked_topic
from kiwiresearch.zim import Book, EntryRef

if TYPE_CHECKING:
    from kiwiresearch.claims import ClaimReader


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A step that was just made, and the state of the crawl after it."""

    step: CrawlStep
    state: CrawlState


ProgressListener = Callable[[RunProgress], None]
RunEnding = Literal["done", "resumed", "was finished"]
"""How a run came to its end: carried out from the start, resumed, or finished already before."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """A finished run."""

    folder: Path
    topic: str
    pages: int
    how: RunEnding
    resumed_pages: int = 0
    """Pages that were there before it was resumed."""
    story: str = ""
    """Where it started and why it ended, as one sentence."""

    @property
    def report(self) -> Path:
        return self.folder / REPORT


@dataclass(frozen=True, slots=True)
class ComposedBrief:
    """A brief, the counts of a model's part in it, and its pictures."""

    brief: Brief
    counts: dict[str, Any] = field(default_factory=dict)
    images: Images = field(default_factory=dict)


class Research:
    """One task over the books of a finder; the same task gives the same bytes in any folder."""

    def __init__(self, finder: Finder, task: ResearchTask) -> None:
        self._finder = finder
        self._embedder = None if task.settings.fast else finder.embedder_for_crawls()
        # Without an embedder the run is a fast one, and its outputs say so.
        settings = replace(task.settings, fast=self._embedder is None)
        self._helpers = finder.helpers if self._embedder else replace(finder.helpers, embedder=None)
        self.task = replace(
            task,
            topic=checked_topic(task.topic),
            focus=checked_focus(task.focus),
            aspect=checked_aspect(task.aspect),
            settings=settings,
            kiwix_url=task.kiwix_url.rstrip("/"),
            missing=task.missing or finder.missing,
        )
        # An index that is still being built is not used: the same research would later give other files.
        self._indexed = {
            book.id: book.titles is not None and book.titles.complete and book.id not in task.without_title_index
            for book in finder.books
        }
        self._stopped: dict[str, int | str] | None = None

    @property
    def books(self) -> Sequence[Book]:
        return [book.book for book in self._finder.books]

    def inputs(self) -> JsonDict:
        """Everything that the outputs depend on."""
        inputs: JsonDict = {
            "topic": self.task.topic,
            "focus": self.task.focus,
            "aspect": self.task.aspect,
            "version": __version__,
            "settings": asdict(self.task.settings) | {"search_books": self._finder.max_books},
            "embedder": self._embedder.id if self._embedder else "",
            "model": self._finder.model_name,
            "model_pages": self._finder.model_pages,
            "critic": self._finder.critic_name if self.task.critic else "",
            "books": [
                {name: getattr(book, name) for name in BOOK_FIELDS}
                | {"title_index": self._indexed[book.id], "opens_at": self._address(EntryRef(book.id, ""))}
                for book in self.books
            ],
        }
        if self._finder.policy.restricts:
            inputs["policy"] = self._finder.policy.fingerprint
        if self._finder.link_ranks is not None:
            inputs["authority"] = self._finder.link_ranks.fingerprints()
        if self.task.missing:
            inputs["missing"] = [
                {"host": missing_books.host, "books": [book.id for book in missing_books.books]}
                for missing_books in self.task.missing
            ]
        if self._stopped is not None:
            inputs["stopped"] = self._stopped
        return inputs

    @property
    def fingerprint(self) -> str:
        """A hash of the inputs: runs with the same fingerprint have the same files."""
        return short_hash(canonical_json(self.inputs()))

    def run(
        self, folder: Path, on_progress: ProgressListener | None = None, *, read_no_more: bool = False
    ) -> RunOutcome:
        """Do the task in a folder, or resume it there.

        `read_no_more` finishes early: it writes the brief of a run that was stopped, from the pages it has read. The
        run can be resumed until that brief has been written; then its journal is removed, as after every run.
        """
        topic = self.task.topic
        self._leave_out_new_title_indexes(folder)
        if read_no_more:
            if was_written_when_stopped(folder, self.fingerprint):
                remove_leftovers(folder)
                return RunOutcome(folder, topic, _count_lines(folder / CORPUS), "was finished")
            if not is_unfinished(folder):
                raise nothing_read_error(topic)
        self._finder.note_books_read()
        with RunWriter.open(folder, self.fingerprint, topic) as writer:
            if writer.state == "finished":
                return RunOutcome(folder, topic, _count_lines(folder / CORPUS), "was finished")
            collector = ClaimCollector(writer, self._claim_reader(), self._finder.model_pages)
            state, resumed, seconds = self._crawl(writer, collector, on_progress, read_no_more=read_no_more)
            if state.started is not None and not state.started.seeds:
                raise self._finder.nothing_found_error(topic)
            composed = self._illustrate(self._compose(state, collector))
            brief = replace(composed.brief, context=collector.contexts(composed.brief))
            composed = replace(composed, brief=brief)
            counts = {"pages": len(state.visited), "claims": len(collector.claims)} | composed.counts
            record = self.inputs() | {"understood": _understanding(state)} | counts
            record["fingerprint"] = self.fingerprint
            writer.finish(self._outputs(state, collector, composed), record, {TIMINGS: _timings(seconds, resumed)})
        return RunOutcome(folder, topic, len(state.visited), "resumed" if resumed else "done", resumed, _story(state))

    def _claim_reader(self) -> ClaimReader | None:
        """Reads the claims of pages with the model, if there is one and it is to read any."""
        model = self._finder.brief_model
        if model is None or not self._finder.model_pages:
            return None
        from kiwiresearch.claims import ClaimReader  # loads pydantic, which runs without a model do not need

        return ClaimReader(model)

    def _leave_out_new_title_indexes(self, folder: Path) -> None:
        """Use no title indexes if the run there started before they were built: its inputs must stay the same."""
        if not is_unfinished(folder) or fingerprint_of_folder(folder) == self.fingerprint:
            return
        indexed, self._indexed = self._indexed, dict.fromkeys(self._indexed, False)
        if fingerprint_of_folder(folder) != self.fingerprint:
            self._indexed = indexed

    def _crawl(
        self, writer: RunWriter, collector: ClaimCollector, on_progress: ProgressListener | None, *, read_no_more: bool
    ) -> tuple[CrawlState, int, list[float]]:
        walker = Walker(
            CrawlPlan(
                [
                    OpenBook(book.archive) if book.titles is not None and not self._indexed[book.id] else book
                    for book in self._finder.books
                ],
                self.task.topic,
                self.task.focus,
                self.task.settings,
                self._helpers,
                self._embedder,
                self._finder.max_books,
                self._finder.link_ranks,
                self.task.aspect,
            )
        )
        walker.state.replay(_journal_steps(writer))
        resumed = len(walker.state.visited)
        seconds: list[float] = []
        before = time.monotonic()
        if read_no_more and walker.state.ended is None:
            self._stop(walker.state, len(writer.journal))
        while walker.state.ended is None:
            with self._finder.requiring_all_books():  # a step that missed a book must not be recorded
                result = walker.next()
                if isinstance(result.step, StartStep) and not result.step.seeds:
                    walker.state.apply(result.step)
                    break  # a search without results leaves no folder
                row = step_record(result.step)
                if result.page is not None and isinstance(result.step, VisitStep):
                    # Appended before the row of the step itself, which says how long these files are after it.
                    row |= _append_to_corpus(writer, result.page, result.step, len(walker.state.visited) + 1)
                    wanted = sentence_filter_for(walker.state.started, result.page)
                    row |= collector.read_page(result.page, self._finder.book(result.page.ref.book), wanted)
            if result.page is not None and isinstance(result.step, VisitStep):
                seconds.append(round(time.monotonic() - before, 4))
                before = time.monotonic()
            writer.journal.append(row)
            walker.state.apply(result.step)
            if on_progress:
                on_progress(RunProgress(result.step, walker.state))
        return walker.state, resumed, seconds

    def _stop(self, state: CrawlState, steps: int) -> None:
        """End a crawl where it is; nothing of that is in the journal, so that the run can be resumed if this fails."""
        if not state.visited:
            raise nothing_read_error(self.task.topic)
        # The number of steps decides what the brief says, so it is part of the fingerprint.
        self._stopped = {"of": self.fingerprint, "steps": steps}
        state.apply(stop_step(state))

    def _compose(self, state: CrawlState, collector: ClaimCollector) -> ComposedBrief:
        """The brief by rules, reworded by a model if there is one."""
        origin = BriefInput(state, self.books, self._address, __version__, self.fingerprint)
        brief = compose(origin, collector.claims, collector.missing)
        brief = replace(brief, notes=(*self._unread(state), *brief.notes, *self._left_out()))
        model = self._finder.brief_model
        if model is None:
            return ComposedBrief(brief)
        from kiwiresearch.brief import rewrite  # loads pydantic, as above

        critic = self._finder.critic_model if self.task.critic else None
        written = rewrite(brief, model, critic=self.task.critic, critic_model=critic)
        noted = replace(written.brief, notes=(*written.brief.notes, *map(Message, collector.notes)))
        return ComposedBrief(noted, {"claims_by_model": collector.counts, "sentences_by_model": asdict(written.counts)})

    def _illustrate(self, composed: ComposedBrief) -> ComposedBrief:
        """The brief with pictures of its pages, if the books have any."""
        with self._finder.requiring_all_books():
            found = illustrate(composed.brief, lambda book: self._finder.book(book).archive)
        return replace(composed, brief=found.brief, images=found.images)

    def _outputs(self, state: CrawlState, collector: ClaimCollector, composed: ComposedBrief) -> dict[str, str]:
        brief = composed.brief
        titles: dict[str, str] = {book.id: book.title for book in self.books}
        log = (*crawl_log(state, titles), *self._unread(state), *self._left_out(), *collector.log())
        pictures = {PICTURES: pictures_json(composed.images)} if composed.images else {}
        return pictures | {
            GRAPH: graph_text(crawl_graph(state, lambda ref: self._finder.book(ref.book).archive.url(ref.path))),
            LOG: "\n".join(map(_one_line, log)) + "\n",
            BRIEF: canonical_json(brief_record(brief), indent=1) + "\n",
            REPORT: markdown(brief_document(brief)),
            REPORT_PAGE: report_page(brief, composed.images),
        }

    def _unread(self, state: CrawlState) -> Iterator[Message]:
        """A note for the reader if the run was stopped."""
        if self._stopped is not None:
            yield unread_note(state)

    def _left_out(self) -> Iterator[Message]:
        """Notes for the reader: a policy hides pages, or books could not be searched."""
        if self._finder.policy.restricts:
            label = printable(self._finder.policy.label)
            text = f"{label[:1].upper()}{label[1:]} hid some pages or books from this research."
            name = printable(self._finder.policy.name)
            yield Message(text, "note.policy_of", name=name) if name else Message(text, "note.policy")
        for missing_books in self.task.missing:
            titles, host = missing_books.titles, missing_books.host
            text = f"Not searched: {titles}. The host {host!r} was offline when the research started."
            yield Message(text, "note.host_away", books=titles, host=host)

    def _address(self, ref: EntryRef) -> str:
        start = self.task.opens_at.get(ref.book)
        return address_in_book(start, ref.path) if start else self._finder.page_url(ref, self.task.kiwix_url)


def _understanding(state: CrawlState) -> dict[str, str | list[str]]:
    """How the topic was understood, as in the manifest; `read_as` is the topic with its typos corrected."""
    started = state.started
    if started is None:
        return {}
    return {
        "head": started.head or started.topic,
        "aspect": started.aspect,
        "senses": list(started.senses),
        "head_pages": [str(ref) for ref in state.visited if ref in started.topic_pages],
        "read_as": next((book.corrected for book in started.searched if book.corrected), ""),
    }


def _story(state: CrawlState) -> str:
    started, ended = state.started, state.ended
    if started is None or ended is None:
        return ""
    is_named = any(book.naming_pages for book in started.searched)
    weak = "" if is_named else " No page names the topic: these only share its words."
    return f"It started with {', '.join(seed.title for seed in started.seeds)} and stopped because {ended.why}.{weak}"


def _journal_steps(writer: RunWriter) -> list[CrawlStep]:
    try:
        return [step_from_record(row) for row in writer.journal.rows]
    except (KeyError, TypeError, ValueError) as problem:
        raise unreadable_journal(writer) from problem


def _append_to_corpus(writer: RunWriter, page: PageDoc, step: VisitStep, order: int) -> dict[str, int | str]:
    """Append a page to the corpus; returns the journal's fields for it."""
    record = plain(page_record(page)) | {
        "metadata": {
            "order": order,
            "depth": step.depth,
            "priority_score": Score(step.terms).total,
            # "lines" and "cluster" are terms and branch: the corpus keeps the names of earlier versions.
            "lines": plain(step.terms),
            "relevance": step.relevance,
            **message_fields("reason", step.reason),
            "cluster": step.branch,
        }
    }
    return append_lines("corpus", writer.corpus, (canonical_json(record) + "\n").encode("utf-8", "replace"))


def _timings(seconds: Sequence[float], resumed: int) -> str:
    """How long it took; in a separate file, since it differs from run to run."""
    record = {"seconds": round(sum(seconds), 3), "seconds_by_page": list(seconds), "pages_kept": resumed}
    return canonical_json(sealed(record), indent=2) + "\n"


def _one_line(text: str) -> str:
    """A line of the log, sanitized: text from a book can neither start a new line nor control the terminal."""
    indent = text[: len(text) - len(text.lstrip(" "))]
    return indent + printable(text[len(indent) :])


def _count_lines(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in stream)
