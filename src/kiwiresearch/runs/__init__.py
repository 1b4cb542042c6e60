"""Research runs: making one, its folder and journal, reading it back, and notes on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.runs.finished_run import (
        ClaimFilter,
        Run,
        RunContradiction,
        RunPage,
        Runs,
        book_title,
        contradictions_of,
    )
    from kiwiresearch.runs.journal import GrowingFile, cannot_write, reporting_file_errors, reporting_write_errors
    from kiwiresearch.runs.manifest import (
        BOOK_FIELDS,
        BRIEF,
        CLAIMS,
        CORPUS,
        GRAPH,
        LOG,
        MANIFEST,
        PICTURES,
        REPORT,
        REPORT_PAGE,
        SEAL,
        SIGNATURE,
        TIMINGS,
        WORK_FOLDER,
        BookEdition,
        Manifest,
        read_manifest,
        seal_of,
    )
    from kiwiresearch.runs.notes import (
        MAX_REASON,
        MAX_TARGET,
        MAX_WORDS,
        VERDICTS,
        WHOLE_RUN,
        Note,
        NoteOpinion,
        NoteProblem,
        NoteTarget,
        NoteVerdict,
        TargetKind,
        add_note,
        change_note,
        opinion_problem,
        set_gone,
    )
    from kiwiresearch.runs.progress import CrawlProgress, JournalFollower, VisitedPage, journal_file, step_event
    from kiwiresearch.runs.research import (
        ProgressListener,
        Research,
        RunEnding,
        RunOutcome,
        RunProgress,
    )
    from kiwiresearch.runs.run_files import (
        MALFORMED_RECORD_ERRORS,
        JsonObject,
        RunGraph,
        RunGraphLink,
        RunGraphPage,
        file_content,
        json_value,
        read_images,
        xml_safe,
    )
    from kiwiresearch.runs.store_copy import (
        JobFilesCopy,
        JobLost,
        StoredRuns,
        WorkStopped,
        remove_run,
        remove_run_files,
    )
    from kiwiresearch.runs.task import ResearchTask, crawl_settings
    from kiwiresearch.runs.unfinished_run import PARTS, STEPS, FolderLock, discard_empty_run
    from kiwiresearch.runs.writer import choose_run_folder, holds_run
else:
    __getattr__ = lazy_exports(__name__)
