"""Research runs for a model: begun, waited for, asked about, and their brief."""

from __future__ import annotations

import contextlib
import time

from kiwiresearch.errors import BadUsage, NotAllowed, RunDamaged, RunError
from kiwiresearch.llm.prompts import fenced
from kiwiresearch.mcp.arguments import ResearchArguments
from kiwiresearch.mcp.parts import Parts
from kiwiresearch.mcp.threads import Caller
from kiwiresearch.research.job import FamilyWish, Job, JobWish
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.research.run import REPORT

MOST_BRIEF = 24_000
"""Characters of a brief that are given; the whole stands in the run's folder."""


def run_text(parts: Parts, jobs: Jobs, wanted: ResearchArguments, caller: Caller) -> str:
    """The brief of a run, or how far it is and how to ask again."""
    if bool(wanted.topic) == bool(wanted.id):
        raise BadUsage("Give either a topic or the id of a run.", remedy="A topic begins a new run.")
    if wanted.topic:
        wish = JobWish(wanted.topic, wanted.focus, max_pages=wanted.max_pages, aspect=wanted.aspect)
        job = parts.start(jobs, wish)
    else:
        job = jobs.get(wanted.id)
        if not isinstance(job.wish, JobWish):
            what = "work on a family" if isinstance(job.wish, FamilyWish) else f"a job of the kind {job.wish.kind!r}"
            raise BadUsage(f"{wanted.id!r} is {what}, and has no brief.", remedy="Ask about a run.")
        if job.state == "interrupted":
            with contextlib.suppress(NotAllowed):  # who may not go on with it may still know how it stands
                job = parts.resume(jobs, wanted.id)
    return _told(jobs, _waited(jobs, job, wanted.wait_s, caller))


def _waited(jobs: Jobs, job: Job, patience_s: float, caller: Caller) -> Job:
    """The job as it is when it ends, when patience does, or when nobody waits any more; it goes on by itself."""
    until = time.monotonic() + patience_s
    with jobs.listening(caller.wake):
        while (job := jobs.get(job.id)).is_open and (left := until - time.monotonic()) > 0 and not caller.has_left:
            caller.wait(left)
    return job


def _told(jobs: Jobs, job: Job) -> str:
    if job.state == "done":
        brief = f"{job.story}\n\n{_brief(jobs, job)}"
        return f"Done: {job.pages} pages.\n{fenced('brief', brief)}"
    if job.is_open:
        return f"The run {job.id!r} is {job.state}: {job.pages} pages so far. Ask again with id={job.id!r}."
    return f"The run {job.id!r} is {job.state}. {job.problem} {job.remedy}".strip()


def _brief(jobs: Jobs, job: Job) -> str:
    try:
        with jobs.runs.get(job.id).file(REPORT).open(encoding="utf-8") as file:
            text = file.read(MOST_BRIEF + 1)
    except (OSError, ValueError, RunError) as problem:
        raise RunDamaged(f"The brief of the run {job.id!r} cannot be read.", remedy="Research it again.") from problem
    return text if len(text) <= MOST_BRIEF else f"{text[:MOST_BRIEF]}\n… (the rest stands in the run's {REPORT})"
