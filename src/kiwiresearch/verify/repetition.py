"""Repeats the research of a run from its books: the same research gives the same files, byte by byte."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kiwiresearch.brief import brief_from_record
from kiwiresearch.crawl import CrawlSettings, LinkFilters, ScoringWeights
from kiwiresearch.errors import CannotWrite, HostUnreachable
from kiwiresearch.ids import BookId
from kiwiresearch.runs import (
    BRIEF,
    CLAIMS,
    CORPUS,
    MANIFEST,
    REPORT,
    REPORT_PAGE,
    SEAL,
    TIMINGS,
    Manifest,
    ProgressListener,
    Research,
    ResearchTask,
    RunProgress,
)
from kiwiresearch.verify.ledger import (
    OUTPUT_FIELDS,
    Ledger,
    ManifestBook,
    RunProof,
    difference_in_lines,
    differing_fields,
    json_document,
)
from kiwiresearch.version import __version__
from kiwiresearch.workspace import Finder, Workspace
from kiwiresearch.zim import Archive, ListedBook, Opener, Shelf

STOPPED = "stopped"
HASHES = frozenset({"outputs", SEAL})
"""The fields of a manifest that differ if any file does."""
INPUT_OBSTACLES: Mapping[str, str] = {
    "model": "a language model took part",
    "embedder": "it compared meanings with an embedder that does not come with the program",
    "missing": "some books could not be searched, since their host was offline",
    "policy": "another policy hides pages here",
    "authority": "it used link ranks of an atlas that are not available here",
}
"""Reasons for not repeating research whose inputs are not available here."""
COMPARED = (
    "the text of pages",
    "quotes and their context, and the words, numbers, dates and names of claims",
    "statements, timeline, table of numbers, headings and disputes, with their claims",
    "pictures",
    "report.md and report.html, with brief.json",
)
"""What is compared with the books without repeating the research, or with parts that were."""
HASH_ONLY = (
    "gaps, notes, and with which number another page disagrees",
    "what the brief leaves out",
    "how the research was done: settings, starting pages, and why it ended",
    "which pages were read and which were not, their scores, and why",
    "links between pages",
    "run.log",
    TIMINGS,
)
"""What is not compared with anything if the research is not repeated."""


@dataclass(frozen=True, slots=True)
class Repetition:
    """The files of the same research, done again; none if it was not repeated."""

    files: Mapping[str, bytes] = field(default_factory=dict)
    why_not: str = ""

    def reproduces(self, manifest: Manifest, files: Mapping[str, bytes]) -> bool:
        """Whether all files of a run are the same again."""
        return bool(self.files) and not self._differing_files(files) and not self._differing_fields(manifest)

    def matching_files(self, manifest: Manifest, files: Mapping[str, bytes]) -> tuple[str, ...]:
        """The names of the files that are the same again."""
        if not self.files:
            return ()
        names = set(files) - set(self._differing_files(files))
        return tuple(sorted(names if self._differing_fields(manifest) else names | {MANIFEST}))

    def report_differences(self, manifest: Manifest, files: Mapping[str, bytes], ledger: Ledger) -> None:
        """Report each file that differs, unless a failure in it, or in the brief that it shows, was found already."""
        if not self.files:
            return
        for name in self._differing_fields(manifest):
            ledger.fail(MANIFEST, f"its {name!r} differs when the research is repeated")
        for name in self._differing_files(files):
            # Read again for each file: names are sorted, so a failure in the brief is known before its reports.
            failed = ledger.failed_files
            if name in failed or (name in (REPORT, REPORT_PAGE) and BRIEF in failed):
                continue
            found, made = files.get(name, b""), self.files.get(name, b"")
            line, what = difference_in_lines(found, made)
            wrong = "it"
            if name == BRIEF:  # that it is JSON was checked before
                wrong = ", ".join(differing_fields(json_document(found), json_document(made))) or wrong
            ledger.fail(name, f"{wrong} differs when the research is repeated: {what}", line=line)

    def _differing_files(self, files: Mapping[str, bytes]) -> list[str]:
        made = {name: raw for name, raw in self.files.items() if name not in (MANIFEST, TIMINGS)}
        return sorted(name for name in {*files, *made} if files.get(name) != made.get(name))

    def _differing_fields(self, manifest: Manifest) -> list[str]:
        again = json_document(self.files[MANIFEST])
        return [name for name in differing_fields(manifest.record, again) if name not in HASHES]


def repeat_research(
    manifest: Manifest,
    files: Mapping[str, bytes],
    books: Mapping[BookId, ManifestBook],
    shelf: Shelf,
    workspace: Workspace,
    ledger: Ledger,
) -> Repetition:
    """Do the research of a manifest again in a temporary folder, if everything that it depends on is here."""
    why_not = _obstacle(manifest, files, books, ledger)
    if why_not:
        return Repetition(why_not=why_not)
    with ledger.at(MANIFEST).catching_malformed("the research cannot be repeated"):
        try:
            return _repeated(manifest, list(books.values()), shelf, workspace, ledger)
        except (HostUnreachable, CannotWrite) as problem:
            return Repetition(why_not=problem.message.rstrip("."))
        except OSError as problem:
            return Repetition(why_not=f"the temporary folder cannot be used ({problem.strerror})")
    return Repetition(why_not="what its manifest asks for cannot be done")


def _obstacle(
    manifest: Manifest, files: Mapping[str, bytes], books: Mapping[BookId, ManifestBook], ledger: Ledger
) -> str:
    """Why the research cannot be repeated, as far as the files show; empty if it may be possible."""
    version = manifest.record.get("version")
    if version != __version__:
        return f"kiwiresearch {str(version)[:40]} wrote this run, and this is {__version__}"
    missing = [book.title for book in books.values() if book.archive is None]
    if missing:
        return f"a book was not found: {', '.join(missing)}"
    if ledger.failed_files:
        return "its files were changed"
    for line in files[CORPUS].splitlines():
        with ledger.at(CORPUS).catching_malformed("it is not a valid page"):
            row = json_document(line)
            archive = books[BookId(str(row["book"]))].archive
            if archive is not None and row["url"] != _recorded_url(archive, str(row["path"])):
                return "a book was read from a server, and is a file here, or the reverse"
    return ""


def _recorded_url(archive: Archive, path: str) -> str:
    """The address of a page as a file has it: each half of a surrogate pair is replaced."""
    return archive.url(path).encode("utf-8", "replace").decode("utf-8")


class _RunShelf(Shelf):
    """The books of a run in its order, opened by the shelf that they are on."""

    def __init__(self, books: Sequence[ListedBook], shelf: Shelf, opener: Opener) -> None:
        super().__init__(books, opener)
        self._shelf = shelf

    def open(self, book: ListedBook) -> Archive:
        return self._shelf.open(book)


class _EnoughError(Exception):
    """Ends the crawl: as many steps were made as before it was stopped, or more pages read than the run has."""


def _repeated(
    manifest: Manifest, books: Sequence[ManifestBook], shelf: Shelf, workspace: Workspace, ledger: Ledger
) -> Repetition:
    record = manifest.record
    settings: dict[str, Any] = dict(record["settings"])
    limit = settings.pop("search_books")
    # No model is asked here: if one took part in the run, its inputs differ, and `_differing_inputs` says so.
    own = replace(workspace.settings, model_url="", embedder="", search_books=limit)
    if "authority" not in record:
        own = replace(own, atlas=())
    listed = [book.listed for book in books if book.listed is not None]
    run_shelf = _RunShelf(listed, shelf, workspace.opener)
    with (
        Finder(replace(workspace, settings=own), run_shelf) as finder,
        TemporaryDirectory(prefix="kiwiresearch-verify-", ignore_cleanup_errors=True) as place,
    ):
        research = Research(finder, _task(manifest, settings, books))
        why_not = _differing_inputs(manifest, research)
        if why_not:
            return Repetition(why_not=why_not)
        folder = Path(place) / "run"
        stopped = record.get(STOPPED)
        steps = stopped["steps"] if stopped else 0
        try:
            research.run(folder, _limit(manifest.page_count, steps))
        except _EnoughError:
            if not steps:
                ledger.fail(CORPUS, f"the same research reads more than {manifest.page_count:,} pages")
                return Repetition(why_not="it reads more pages than the run has")
            # The run was stopped after these steps, and its brief was written from what had been read.
            research.run(folder, read_no_more=True)
        return Repetition({file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()})


def _task(manifest: Manifest, settings: Mapping[str, Any], books: Sequence[ManifestBook]) -> ResearchTask:
    filters, weights = settings["filters"], settings["weights"]
    return ResearchTask(
        manifest.topic,
        manifest.focus,
        CrawlSettings(
            **{
                **settings,
                "filters": LinkFilters(**{**filters, "exclude": tuple(filters["exclude"])}),
                "weights": ScoringWeights(**weights),
            }
        ),
        critic=bool(manifest.record["critic"]),
        aspect=manifest.aspect,
        without_title_index=frozenset(
            BookId(str(row["id"])) for row in manifest.book_records if row["title_index"] is not True
        ),
        opens_at={book.id: book.opens_at for book in books if book.listed and not book.listed.source.is_served},
    )


def _differing_inputs(manifest: Manifest, research: Research) -> str:
    """Why the research would not be the same here; empty if all its inputs are."""
    inputs = {name: value for name, value in manifest.record.items() if name not in OUTPUT_FIELDS | {STOPPED}}
    wrong = differing_fields(inputs, research.inputs())
    reasons = [why for name, why in INPUT_OBSTACLES.items() if name in wrong]
    return "; ".join(reasons) or (f"its inputs are not available here: {', '.join(wrong)}" if wrong else "")


def _limit(pages: int, steps: int) -> ProgressListener:
    taken = 0

    def listen(progress: RunProgress) -> None:
        nonlocal taken
        taken += 1
        if taken == steps or len(progress.state.visited) > pages:
            raise _EnoughError

    return listen


def count_all(manifest: Manifest, files: Mapping[str, bytes], ledger: Ledger) -> None:
    """Count what a run has, since all of it is the same again."""
    ledger.count("pages", manifest.page_count)
    ledger.count("claims", manifest.claim_count)
    ledger.count("quotes", sum(len(json.loads(line)["support_snippets"]) for line in files[CLAIMS].splitlines()))
    ledger.count("statements", len(brief_from_record(json_document(files[BRIEF])).statements()))


def proof_of(
    repetition: Repetition, manifest: Manifest, files: Mapping[str, bytes], books: Mapping[BookId, ManifestBook]
) -> RunProof:
    """How each part of a run was checked."""
    if repetition.files:
        return RunProof(repeated=repetition.matching_files(manifest, files), hash_only=(TIMINGS,))
    missing = tuple(f"all pages and claims of {book.title!r}" for book in books.values() if book.archive is None)
    return RunProof((), COMPARED, (*missing, *HASH_ONLY), repetition.why_not)
