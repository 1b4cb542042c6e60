"""A job: a piece of work that somebody asked for, what became of it, and how that is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal, get_args

from kiwiresearch.ask.settings import MODES
from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.research.run import Task, crawl_settings
from kiwiresearch.research.settings import Settings, with_values
from kiwiresearch.research.topics import checked_aspect, checked_focus, checked_topic

JobState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
STATES: tuple[JobState, ...] = get_args(JobState)
OPEN: tuple[JobState, ...] = ("queued", "running")
"""A job in one of these states is somebody's: it waits, or a process works on it."""

Kind = Literal["research", "ask", "bulk", "kin"]
KINDS: tuple[Kind, ...] = get_args(Kind)

BULK_TABLES = ("titles", "pages", "links", "claims", "people")
MOST_ROWS = 5_000
MOST_ROW_BYTES = 2**20
"""How many questions one job may hold, and how long they may be together: they travel with every look at the job."""


@dataclass(frozen=True, slots=True)
class JobWish:
    """What is to be researched; what is None is as the settings say."""

    kind: ClassVar[Kind] = "research"

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
    aspect: str = ""
    """The side of the topic that is wanted; empty leaves it to the topic's own words."""

    @property
    def name(self) -> str:
        return self.topic


@dataclass(frozen=True, slots=True)
class FamilyWish:
    """A case of family research that is to go on. It is written down, so it names nobody."""

    kind: ClassVar[Kind] = "kin"

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


@dataclass(frozen=True, slots=True)
class AskBatchWish:
    """Many questions, answered one after the other, as `ask --batch` answers them."""

    kind: ClassVar[Kind] = "ask"

    rows: tuple[str, ...]
    """Lines of JSON, each with a question; one that holds nothing is none, as in a file."""
    mode: str = "default"
    passages: int = 0
    books: tuple[str, ...] = ()
    model: bool = True

    @property
    def name(self) -> str:
        return "questions"


@dataclass(frozen=True, slots=True)
class BulkWish:
    """A whole book that is to become tables."""

    kind: ClassVar[Kind] = "bulk"

    book: str
    what: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"bulk {self.book}"

    @property
    def books(self) -> tuple[str, ...]:
        return (self.book,)

    @property
    def model(self) -> bool:
        """Tables are made by rules alone."""
        return False


Wish = JobWish | FamilyWish | AskBatchWish | BulkWish


@dataclass(frozen=True, slots=True)
class UnreadWish:
    """What was wished for by a job whose row is damaged: nobody knows, and nothing can be done but to remove it."""

    kind: ClassVar[Literal["damaged"]] = "damaged"
    books: ClassVar[tuple[str, ...]] = ()
    model: ClassVar[bool] = False

    name: str
    """Its id."""


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of research in a process of its own, and how far it is; the id of a run names its folder, too."""

    id: str
    wish: Wish | UnreadWish
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
    user: str = ""
    """Who asked for it; empty where nobody is told apart."""
    priority: int = 0
    """Those with a higher one come first."""
    worker: str = ""
    """Who works on it, or did last."""
    losses: tuple[str, ...] = ()
    """Why it had to be begun again, once for each time."""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN

    @property
    def is_resumable(self) -> bool:
        return self.state in ("failed", "cancelled", "interrupted") and not isinstance(self.wish, UnreadWish)

    def record(self) -> dict[str, Any]:
        """All that is known of it, as JSON has it."""
        known = {name: getattr(self, name) for name in Job.__slots__}
        return known | {"kind": self.wish.kind, "wish": wish_record(self.wish), "losses": list(self.losses)}


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
    match wish:
        case JobWish():
            task = task_of(wish, settings)
            return replace(wish, topic=task.topic, focus=task.focus, aspect=task.aspect)
        case AskBatchWish():
            return _checked_questions(wish)
        case BulkWish():
            return _checked_tables(wish)
        case FamilyWish():
            return wish


def _checked_questions(wish: AskBatchWish) -> AskBatchWish:
    if not any(row.strip() for row in wish.rows):
        raise BadUsage("There is no question.", remedy='Give lines of JSON, such as {"question": "What is a comet?"}')
    if len(wish.rows) > MOST_ROWS or sum(len(row.encode("utf-8", "replace")) for row in wish.rows) > MOST_ROW_BYTES:
        raise BadUsage(
            f"{len(wish.rows):,} questions are too many for one job.",
            remedy=f"Give at most {MOST_ROWS:,}, and at most {MOST_ROW_BYTES:,} bytes; the others go into another job.",
        )
    if wish.passages < 0:
        raise BadUsage(f"{wish.passages} passages make no answer.", remedy="Give 1 or more, or 0 for the usual number.")
    if wish.mode not in MODES:
        raise BadUsage(f"There is no mode {wish.mode!r}.", remedy=f"Use one of: {', '.join(MODES)}.")
    return wish


def _checked_tables(wish: BulkWish) -> BulkWish:
    what = tuple(dict.fromkeys(name.strip() for name in wish.what if name.strip()))
    unknown = [name for name in what if name not in BULK_TABLES]
    if unknown or not what:
        problem = f"There is no table {unknown[0]!r}." if unknown else "No table is named."
        raise BadUsage(problem, remedy=f"Choose from: {', '.join(BULK_TABLES)}.")
    if not wish.book.strip():
        raise BadUsage("No book is named.", remedy="Name one of the shelf.")
    return BulkWish(wish.book.strip(), what)


def task_of(wish: JobWish, settings: Settings) -> Task:
    """The task that the command line would make of the same words and options."""
    given: dict[str, tuple[str, Any]] = {
        "max_depth": ("depth", wish.depth),
        "max_pages": ("max_pages", wish.max_pages),
        "max_links_per_page": ("max_links", wish.max_links),
        "crawl_strategy": ("strategy", wish.strategy),
    }
    topic, focus, aspect = checked_topic(wish.topic), checked_focus(wish.focus), checked_aspect(wish.aspect)
    try:
        chosen = with_values(settings, {key: row for key, row in given.items() if row[1] is not None})
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem
    return Task(topic, focus, crawl_settings(chosen), chosen.kiwix_url, critic=wish.critic, aspect=aspect)


def wish_record(wish: Wish | UnreadWish) -> dict[str, Any]:
    """A wish as JSON has it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(wish).items()}


def wish_of(row: Any) -> Wish:
    """The wish that was written down; ValueError, KeyError or TypeError if it was none."""
    if "case" in row:
        return FamilyWish(str(row["case"]), int(row["steps"]), bool(row["model"]), str(row["upload"]))
    if "rows" in row:
        books = tuple(str(book) for book in row["books"])
        rows = tuple(str(line) for line in row["rows"])
        return AskBatchWish(rows, str(row["mode"]), int(row["passages"]), books, bool(row["model"]))
    if "what" in row:
        return BulkWish(str(row["book"]), tuple(str(name) for name in row["what"]))
    numbers = {name: None if row[name] is None else int(row[name]) for name in ("depth", "max_pages", "max_links")}
    return JobWish(
        topic=str(row["topic"]),
        focus=str(row["focus"]),
        strategy=None if row["strategy"] is None else str(row["strategy"]),
        books=tuple(str(book) for book in row["books"]),
        critic=bool(row["critic"]),
        model=bool(row.get("model", True)),
        aspect=str(row.get("aspect", "")),
        **numbers,
    )
