"""Work begun and changed for whoever asks: within their limits, and under their name."""

from __future__ import annotations

import threading
from dataclasses import replace

from kiwiresearch.errors import LimitReached, NotAllowed
from kiwiresearch.research.job import AskBatchWish, Job, JobWish, UnreadWish, Wish
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.guard.visitor import need, need_own, visitor

LATER_S = 60.0
_STARTING = threading.Lock()
"""Two requests of one user that come together are counted one after the other."""


def start(jobs: Jobs, wish: Wish) -> Job:
    """Put work in line for the visitor, if their role and limits allow it."""
    need("researcher")
    who = visitor()
    if isinstance(wish, AskBatchWish) and who.limits.questions_a_day:
        raise NotAllowed(
            f"You may ask {who.limits.questions_a_day} questions a day, and no batches of them.",
            remedy="Ask them one by one, or ask an owner of this desk for more.",
        )
    with _STARTING:
        _check_line(jobs)
        return jobs.start(_within(wish, who.limits.max_pages, jobs.max_pages), user=who.name)


def look_at(jobs: Jobs, job_id: str) -> Job:
    """A job that the visitor may follow: runs are everybody's to see, questions are for who asked them, and owners.

    Of one whose row is damaged, nobody knows what it told.
    """
    job = jobs.get(job_id)
    if isinstance(job.wish, AskBatchWish | UnreadWish):
        need_own(job.user)
    return job


def resume(jobs: Jobs, job_id: str) -> Job:
    """Put work of the visitor in line again; an owner may do so with anybody's."""
    need_own(jobs.get(job_id).user)
    with _STARTING:
        _check_line(jobs)
        return jobs.resume(job_id)


def cancel(jobs: Jobs, job_id: str) -> Job:
    """Stop work of the visitor; an owner may stop anybody's."""
    need_own(jobs.get(job_id).user)
    return jobs.cancel(job_id)


def remove(jobs: Jobs, job_id: str) -> None:
    """Forget work of the visitor that brought nothing; an owner may do so with anybody's."""
    need_own(jobs.get(job_id).user)
    jobs.remove(job_id)


def _check_line(jobs: Jobs) -> None:
    who = visitor()
    if not (who.name and who.limits.queued):
        return
    queued, _ = jobs.store.jobs.counts(who.name)
    if queued >= who.limits.queued:
        raise LimitReached(
            f"{queued} of your runs are waiting already, and no more of them may.",
            after_s=LATER_S,
            remedy="Ask again when one has begun, or stop one that waits.",
        )


def _within(wish: Wish, most: int, default: int) -> Wish:
    """The wish with no more pages than a run of the visitor may take; who asks for more by name is told."""
    if not (most and isinstance(wish, JobWish)):
        return wish
    if wish.max_pages is None:
        return replace(wish, max_pages=min(most, default)) if default > most else wish
    if wish.max_pages > most:
        raise NotAllowed(
            f"A run of yours may take {most} pages, not {wish.max_pages}.",
            remedy=f"Ask for up to {most}, or ask an owner of this desk for more.",
        )
    return wish
