"""A job: a research run or a case that somebody asked a server for, what became of it, and how that is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.research.run import Task, crawl_settings
from kiwiresearch.research.settings import Settings, with_values
from kiwiresearch.research.topics import checked_focus, checked_topic

JobState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
STATES: tuple[JobState, ...] = get_args(JobState)
OPEN: tuple[JobState, ...] = ("queued", "running")
"""A job in one of these states is somebody's: it waits, or a process works on it."""


@dataclass(frozen=True, slots=True)
class JobWish:
    """What is to be researched; what is None is as the settings say."""

    topic: str
    focus: str = ""
    depth: int | None = None
    max_pages: int | None = None
    max_links: int | None = None
    strategy: str | None = None
    books: tuple[str, ...] = ()
    """Names of books on the shelf; none stands for all of them."""
    critic: bool = False
    model: bool = True
    """Whether a model takes part, if one is set."""

    @property
    def name(self) -> str:
        return self.topic


@dataclass(frozen=True, slots=True)
class FamilyWish:
    """A case of family research that is to go on. It is written down, so it names nobody."""

    case: str
    """The id by which the server knows it."""
    steps: int = 0
    """How many are taken; 0 goes on until there is a reason to stop."""
    model: bool = True
    """Whether a model is asked where the rules are not sure, if one is set."""
    upload: str = ""
    """A family file that was sent to the case: it is taken in, and nothing else is done."""

    @property
    def name(self) -> str:
        return "family"

    @property
    def books(self) -> tuple[str, ...]:
        """A case knows its books itself."""
        return ()


Wish = JobWish | FamilyWish


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of research in a process of its own, and how far it is; the id of a run names its folder, too."""

    id: str
    wish: Wish
    state: JobState = "queued"
    turn: int = 0
    """Its place in the line: who came earlier has a smaller one."""
    attempt: int = 0
    """How often it was started."""
    pages: int = 0
    """How many pages were taken so far; of a case, how many steps."""
    kept: int = 0
    """How many of them were there from before, when it was resumed."""
    story: str = ""
    """Where it began and why it ended, in a sentence."""
    problem: str = ""
    """Why it failed or was interrupted, in words."""
    remedy: str = ""
    asked_at: str = ""
    started_at: str = ""
    ended_at: str = ""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def is_resumable(self) -> bool:
        return self.state in ("failed", "cancelled", "interrupted")


@dataclass(frozen=True, slots=True)
class JobEvent:
    """Something that a job told, with its place among all that it told."""

    attempt: int
    number: int
    data: Mapping[str, Any]

    @property
    def place(self) -> tuple[int, int]:
        return self.attempt, self.number

    @property
    def id(self) -> str:
        return f"{self.attempt}.{self.number}"


NOTHING_SEEN = (0, 0)


def place_of(event_id: str) -> tuple[int, int]:
    """The place that the id of an event names; the beginning if it is none."""
    attempt, _, number = event_id.strip().partition(".")
    if all(part.isascii() and part.isdigit() and len(part) < 16 for part in (attempt, number)):
        return int(attempt), int(number)
    return NOTHING_SEEN


def checked_wish(wish: Wish, settings: Settings) -> Wish:
    """The wish with its words tidied; refused as the command line refuses it."""
    if isinstance(wish, FamilyWish):
        return wish
    task = task_of(wish, settings)
    return replace(wish, topic=task.topic, focus=task.focus)


def task_of(wish: JobWish, settings: Settings) -> Task:
    """The task that the command line would make of the same words and options."""
    given: dict[str, tuple[str, Any]] = {
        "max_depth": ("depth", wish.depth),
        "max_pages": ("max_pages", wish.max_pages),
        "max_links_per_page": ("max_links", wish.max_links),
        "crawl_strategy": ("strategy", wish.strategy),
    }
    topic, focus = checked_topic(wish.topic), checked_focus(wish.focus)
    try:
        chosen = with_values(settings, {key: row for key, row in given.items() if row[1] is not None})
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem
    return Task(topic, focus, crawl_settings(chosen), chosen.kiwix_url, critic=wish.critic)


def record_of(job: Job) -> dict[str, Any]:
    """What is written down of a job."""
    told = asdict(job)
    return told | {"wish": wish_record(job.wish)}


def wish_record(wish: Wish) -> dict[str, Any]:
    return asdict(wish) | ({"books": list(wish.books)} if isinstance(wish, JobWish) else {})


def job_of(row: Any) -> Job:
    """The job that was written down; ValueError, KeyError or TypeError if it was none."""
    if row["state"] not in STATES:
        raise ValueError(f"no state of a job: {row['state']!r}")
    known: dict[str, Any] = {name: int(row[name]) for name in ("turn", "attempt", "pages", "kept")}
    for name in ("id", "story", "problem", "remedy", "asked_at", "started_at", "ended_at"):
        known[name] = str(row[name])
    return Job(wish=wish_of(row["wish"]), state=row["state"], **known)


def wish_of(row: Any) -> Wish:
    if "case" in row:
        return FamilyWish(str(row["case"]), int(row["steps"]), bool(row["model"]), str(row["upload"]))
    numbers = {name: None if row[name] is None else int(row[name]) for name in ("depth", "max_pages", "max_links")}
    return JobWish(
        topic=str(row["topic"]),
        focus=str(row["focus"]),
        strategy=None if row["strategy"] is None else str(row["strategy"]),
        books=tuple(str(book) for book in row["books"]),
        critic=bool(row["critic"]),
        model=bool(row.get("model", True)),
        **numbers,
    )
