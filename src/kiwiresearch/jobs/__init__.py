"""Jobs: the queue, the processes that do the work, and workers on several hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.jobs.archive_and_trash import KEEP_DAYS, ArchiveAndTrash, RemovedItem, WorkKind
    from kiwiresearch.jobs.assignment import path_exists
    from kiwiresearch.jobs.job import (
        BULK_TABLES,
        JOB_KINDS,
        JOB_STATES,
        MAX_ROWS,
        NO_EVENTS_SEEN,
        SETTING_OF_OPTION,
        BulkRequest,
        BulkTable,
        FamilyRequest,
        Job,
        JobKind,
        JobRequest,
        JobState,
        QuestionsRequest,
        ResearchRequest,
        UnreadableRequest,
        event_position,
        research_task,
    )
    from kiwiresearch.jobs.queue import JobQueue, JobUpdate, QueueLimits
else:
    __getattr__ = lazy_exports(__name__)
