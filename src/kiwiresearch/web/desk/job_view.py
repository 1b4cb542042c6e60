"""A job as its page shows it: what it is doing in plain words, and the pages it has taken, each with its reason."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from urllib.parse import quote as percent

from kiwiresearch.errors import KiwiError
from kiwiresearch.research.job import FamilyWish, Job, JobWish, UnreadWish
from kiwiresearch.research.job_pages import Followed, SoFar, Taken
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.research_form import address_of
from kiwiresearch.web.desk.run_frame import run_address
from kiwiresearch.web.problems import without_places
from kiwiresearch.web.research_replies import job_url

MOST_SHOWN = 200
"""How many pages are shown, the latest; all of them stand in the finished run."""

NOTHING = SoFar()


@dataclass(frozen=True, slots=True)
class JobView:
    """A job, and where everything of it is."""

    job: Job
    most: int
    """How many pages it takes at most; 0 of a family's case."""
    so_far: SoFar = NOTHING
    note: str = ""
    """What the work said last about itself, in English."""
    has_books: bool = True
    """Whether its books can be read here; one that waits and has not, waits for them."""

    @property
    def is_run(self) -> bool:
        """Whether it takes pages, and becomes a run."""
        return isinstance(self.job.wish, JobWish)

    @property
    def topic(self) -> str:
        """What it is called; empty of a family's case, which is named nowhere."""
        return "" if self.case else self.job.wish.name

    @property
    def focus(self) -> str:
        return self.job.wish.focus if isinstance(self.job.wish, JobWish) else ""

    @property
    def aspect(self) -> str:
        return self.job.wish.aspect if isinstance(self.job.wish, JobWish) else ""

    @property
    def case(self) -> str:
        """Where the case is that it works on; empty of a run."""
        return f"/family/{percent(self.job.wish.case, safe='')}" if isinstance(self.job.wish, FamilyWish) else ""

    @property
    def url(self) -> str:
        return f"/research/{percent(self.job.id, safe='')}"

    @property
    def run(self) -> str:
        """Where what it made is read."""
        return self.case or (run_address(self.job.id) if self.is_run else self.url)

    @property
    def again(self) -> str:
        """Where the form is, filled in with what was wished for; empty of a family's case."""
        return address_of(self.job.wish) if isinstance(self.job.wish, JobWish) else ""

    @property
    def came_to_nothing(self) -> bool:
        """Whether it failed before it had taken a page, or cannot be read: there is nothing to go on with."""
        is_bare = self.is_run and not self.pages
        return self.job.state == "failed" and (is_bare or isinstance(self.job.wish, UnreadWish))

    @property
    def events(self) -> str:
        return f"{job_url(self.job.id)}/events"

    @property
    def stage(self) -> str:
        """What it does, as the catalogue names it."""
        if self.job.state == "queued" and not self.has_books:
            return "away"
        if self.job.state != "running":
            return self.job.state
        if not self.is_run:
            return "family" if self.case else self.job.wish.kind
        if self.so_far.ended:
            return "writing"
        return "gathering" if self.pages else "opening"

    @property
    def pages(self) -> int:
        return max(self.job.pages, len(self.so_far.pages))

    @property
    def problem(self) -> str:
        return without_places(self.job.problem)

    @property
    def last_loss(self) -> str:
        """Why it had to be put in line again last."""
        return without_places(self.job.losses[-1]) if self.job.losses else ""

    @property
    def remedy(self) -> str:
        return without_places(self.job.remedy)

    def newest(self, after: int = 0) -> tuple[Taken, ...]:
        """The pages that came after one, the latest first."""
        return tuple(reversed([page for page in self.so_far.pages if page.number > after][-MOST_SHOWN:]))


class JobViews:
    """The jobs of a server as pages show them."""

    def __init__(self, jobs: Jobs, max_pages: int) -> None:
        self._jobs = jobs
        self._max_pages = max_pages
        self._followed = Followed()

    def get(self, job_id: str) -> JobView:
        """A job with all that it did so far."""
        job = self._jobs.get(job_id)
        has_books = job.state != "queued" or self._jobs.can_do(job_id)
        return JobView(job, self._most(job), self._so_far(job), self._note(job), has_books)

    def unfinished(self) -> list[JobView]:
        """All jobs that are under way or ended before they were done, the newest first, without their pages."""
        return [JobView(job, self._most(job)) for job in self._jobs.all() if job.state != "done"]

    def _most(self, job: Job) -> int:
        return (job.wish.max_pages or self._max_pages) if isinstance(job.wish, JobWish) else 0

    def _so_far(self, job: Job) -> SoFar:
        if not isinstance(job.wish, JobWish):
            return NOTHING
        # Between two looks the run may have ended and taken its journal away.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            return self._followed.so_far(self._jobs.steps_file(job))
        return NOTHING

    def _note(self, job: Job) -> str:
        if not job.is_open or isinstance(job.wish, FamilyWish):
            return ""
        with contextlib.suppress(KiwiError):  # another server works on it
            told = self._jobs.since(job.id).events
            return next((str(one.data["text"]) for one in reversed(told) if one.data.get("event") == "note"), "")
        return ""
