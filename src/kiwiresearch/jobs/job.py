"""A job: what was requested, its state, and how both are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, get_args

from kiwiresearch.ask import ASK_MODES
from kiwiresearch.codec import JsonDict, plain
from kiwiresearch.errors import BadSettings, BadUsage
from kiwiresearch.messages import Message, message_from_record
from kiwiresearch.runs import ResearchTask, crawl_settings
from kiwiresearch.workspace import Settings, checked_aspect, checked_focus, checked_topic, is_job_id, with_values

if TYPE_CHECKING:
    from kiwiresearch.store import JobRow

JobState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
JOB_STATES: tuple[JobState, ...] = get_args(JobState)
OPEN_STATES: tuple[JobState, ...] = ("queued", "running")
"""Unfinished jobs: queued, or run by a process."""

JobKind = Literal["research", "ask", "bulk", "kin"]
"""As in the store and the API; `kin` is work on a family, which other lists, such as the trash, call `family`."""
JOB_KINDS: tuple[JobKind, ...] = get_args(JobKind)

BulkTable = Literal["titles", "pages", "links", "claims", "people"]
BULK_TABLES: tuple[BulkTable, ...] = get_args(BulkTable)
"""What can be chosen of `bulk.TABLES`, which is slow to import."""
MAX_ROWS = 5_000
MAX_ROW_BYTES = 2**20
"""Limits on the questions of one job, since they are read each time the job is read."""


@dataclass(frozen=True, slots=True)
class ResearchRequest:
    """A research request; None means the default from the settings."""

    kind: ClassVar[JobKind] = "research"

    topic: str
    focus: str = ""
    depth: int | None = None
    max_pages: int | None = None
    max_links: int | None = None
    strategy: str | None = None
    books: tuple[str, ...] = ()
    """Names of books on the shelf; all of them if empty."""
    critic: bool = False
    """Whether a model reviews the brief, which is then revised once."""
    model: bool = True
    """Whether a model is used, if one is set."""
    aspect: str = ""
    """The aspect of the topic that is wanted; empty if the topic already says it."""
    read_no_more: bool = False
    """Whether to write the brief from the pages that were read before the research was stopped."""

    @property
    def name(self) -> str:
        return self.topic


SETTING_OF_OPTION = {
    "depth": "max_depth",
    "max_pages": "max_pages",
    "max_links": "max_links_per_page",
    "strategy": "crawl_strategy",
}
"""The settings that options of a research request replace for one run; they give its defaults and bounds."""


@dataclass(frozen=True, slots=True)
class FamilyRequest:
    """A family case to continue. It is stored, so it contains no names of people."""

    kind: ClassVar[JobKind] = "kin"

    case: str
    """The id of the case."""
    steps: int = 0
    """How many steps to take; 0 continues until there is a reason to stop."""
    model: bool = True
    """Whether a model, if one is set, is asked when the rules are not sure."""
    upload: str = ""
    """A family file that was uploaded to the case: it is imported, and nothing else is done."""

    @property
    def name(self) -> str:
        return "family"

    @property
    def books(self) -> tuple[str, ...]:
        """Empty: a case stores its own books."""
        return ()


@dataclass(frozen=True, slots=True)
class QuestionsRequest:
    """Many questions, answered one after another as by `ask --batch`."""

    kind: ClassVar[JobKind] = "ask"

    rows: tuple[str, ...]
    """JSON lines, each with a question; blank lines are skipped."""
    mode: str = "default"
    passages: int = 0
    books: tuple[str, ...] = ()
    model: bool = True

    @property
    def name(self) -> str:
        return "questions"


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """A book to convert into tables."""

    kind: ClassVar[JobKind] = "bulk"

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
        """Always False: tables are made by rules alone."""
        return False


JobRequest = ResearchRequest | FamilyRequest | QuestionsRequest | BulkRequest


@dataclass(frozen=True, slots=True)
class UnreadableRequest:
    """The request of a job whose row is damaged: it can only be removed."""

    kind: ClassVar[Literal["damaged"]] = "damaged"
    books: ClassVar[tuple[str, ...]] = ()
    model: ClassVar[bool] = False

    name: str
    """The id of the job."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job, its state and its progress; the id of a research job is also the name of its run's folder."""

    id: str
    request: JobRequest | UnreadableRequest
    state: JobState = "queued"
    turn: int = 0
    """Its place in the queue: earlier jobs have smaller numbers."""
    attempt: int = 0
    """How many times it was started."""
    pages: int = 0
    """How many pages were taken so far; for a family case, how many steps."""
    kept: int = 0
    """How many of those pages existed before it was resumed."""
    story: str = ""
    """Where it started and why it ended, in a sentence."""
    problem: str = ""
    """The reason it failed or was interrupted."""
    remedy: str = ""
    asked_at: str = ""
    started_at: str = ""
    ended_at: str = ""
    user: str = ""
    """The user who requested it; empty if the server has no users."""
    priority: int = 0
    """Higher priorities run first."""
    worker: str = ""
    """The worker that runs it, or the last one that did."""
    losses: tuple[str, ...] = ()
    """Why it was queued again, one reason for each time."""
    browser: str = ""
    """A key for the browser that started it; empty if a command or a program did."""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def is_resumable(self) -> bool:
        return self.state in ("failed", "cancelled", "interrupted") and not isinstance(self.request, UnreadableRequest)

    def record(self) -> JsonDict:
        """The job as JSON."""
        names = [field.name for field in fields(self) if field.name not in ("id", "request", "browser")]
        known = {name: plain(getattr(self, name)) for name in names}
        return known | {"id": self.id, "kind": self.request.kind, "request": plain(self.request)}


@dataclass(frozen=True, slots=True)
class JobEvent:
    """Something that a job reported, and its position among all its events."""

    attempt: int
    number: int
    data: Mapping[str, Any]

    @property
    def position(self) -> tuple[int, int]:
        return self.attempt, self.number

    @property
    def id(self) -> str:
        return f"{self.attempt}.{self.number}"


NO_EVENTS_SEEN = (0, 0)


def event_position(event_id: str) -> tuple[int, int]:
    """The position in an event's id; the beginning if the id is invalid."""
    attempt, _, number = event_id.strip().partition(".")
    # With fewer than 16 digits, a number from a client fits into 64 bits.
    if all(part.isascii() and part.isdigit() and len(part) < 16 for part in (attempt, number)):
        return int(attempt), int(number)
    return NO_EVENTS_SEEN


def checked_request(request: JobRequest, settings: Settings) -> JobRequest:
    """The request with its text cleaned up; invalid requests are refused as on the command line."""
    match request:
        case ResearchRequest():
            task = research_task(request, settings)
            return replace(request, topic=task.topic, focus=task.focus, aspect=task.aspect)
        case QuestionsRequest():
            return _checked_questions(request)
        case BulkRequest():
            return _checked_tables(request)
        case FamilyRequest():
            return request


def _checked_questions(request: QuestionsRequest) -> QuestionsRequest:
    if not any(row.strip() for row in request.rows):
        raise BadUsage(
            "The file has no questions.",
            remedy='Write one JSON object per line, for example {"question": "What is a comet?"}',
        )
    if len(request.rows) > MAX_ROWS or sum(len(row.encode("utf-8", "replace")) for row in request.rows) > MAX_ROW_BYTES:
        raise BadUsage(
            f"One job cannot take all {len(request.rows):,} questions.",
            remedy=f"Use at most {MAX_ROWS:,} questions and {MAX_ROW_BYTES:,} bytes per job.",
        )
    if request.passages < 0:
        raise BadUsage(
            f"An answer cannot use {request.passages} passages.", remedy="Use 1 or more, or 0 for the default."
        )
    if request.mode not in ASK_MODES:
        raise BadUsage(f"Unknown mode {request.mode!r}.", remedy=f"Choose one of: {', '.join(ASK_MODES)}.")
    return request


def _checked_tables(request: BulkRequest) -> BulkRequest:
    what = tuple(dict.fromkeys(name.strip() for name in request.what if name.strip()))
    unknown = [name for name in what if name not in BULK_TABLES]
    if unknown or not what:
        problem = f"Unknown table {unknown[0]!r}." if unknown else "No tables chosen."
        raise BadUsage(problem, remedy=f"Use one or more of: {', '.join(BULK_TABLES)}.")
    if not request.book.strip():
        raise BadUsage("No book chosen.", remedy="Choose a book from the library.")
    return BulkRequest(request.book.strip(), what)


def research_task(
    request: ResearchRequest, settings: Settings, *, option_name: Callable[[str], str] = str, fast: bool = False
) -> ResearchTask:
    """The task that a request asks for; errors name an option as `option_name` spells it."""
    given = {key: (option_name(name), getattr(request, name)) for name, key in SETTING_OF_OPTION.items()}
    topic, focus, aspect = checked_topic(request.topic), checked_focus(request.focus), checked_aspect(request.aspect)
    try:
        chosen = with_values(settings, {key: row for key, row in given.items() if row[1] is not None})
    except BadSettings as problem:
        raise BadUsage(problem.message, remedy=problem.remedy) from problem
    return ResearchTask(
        topic, focus, crawl_settings(chosen, fast=fast), chosen.kiwix_url, critic=request.critic, aspect=aspect
    )


def request_from_record(row: Any) -> JobRequest:
    """The request of a record; ValueError, KeyError or TypeError if it is not one."""
    # A request is stored without its kind: each kind but research has a key that no other has.
    if "case" in row:
        return FamilyRequest(str(row["case"]), int(row["steps"]), bool(row["model"]), str(row["upload"]))
    if "rows" in row:
        books = tuple(str(book) for book in row["books"])
        rows = tuple(str(line) for line in row["rows"])
        return QuestionsRequest(rows, str(row["mode"]), int(row["passages"]), books, bool(row["model"]))
    if "what" in row:
        return BulkRequest(str(row["book"]), tuple(str(name) for name in row["what"]))
    numbers = {name: None if row[name] is None else int(row[name]) for name in ("depth", "max_pages", "max_links")}
    return ResearchRequest(
        topic=str(row["topic"]),
        focus=str(row["focus"]),
        strategy=None if row["strategy"] is None else str(row["strategy"]),
        books=tuple(str(book) for book in row["books"]),
        critic=bool(row["critic"]),
        model=bool(row["model"]),
        aspect=str(row["aspect"]),
        read_no_more=bool(row.get("read_no_more")),
        **numbers,
    )


class JobProgress(NamedTuple):
    """The progress that a row has stored."""

    pages: int = 0
    kept: int = 0
    story: str = ""
    problem: str = ""
    remedy: str = ""


def job_from_row(row: JobRow) -> Job:
    """The job of a row; a damaged row gives a failed job with the problem and a remedy."""
    from kiwiresearch.store import damage_message, removal_remedy

    request, progress = _request_of(row), _progress_of(row)
    wrong = row.damage or _wrong(row, request, progress)
    if wrong:
        progress = (progress or JobProgress())._replace(
            problem=damage_message(row.id, wrong), remedy=removal_remedy(row.id)
        )
    return Job(
        row.id,
        UnreadableRequest(row.id) if wrong or request is None else request,
        state=next((state for state in JOB_STATES if state == row.state and not wrong), "failed"),
        turn=row.turn,
        attempt=row.attempt,
        asked_at=row.asked_at,
        started_at=row.started_at,
        ended_at=row.ended_at,
        user=row.user,
        priority=row.priority,
        worker=row.worker,
        losses=tuple(_text(loss, "why") for loss in row.losses),
        browser=str(row.request.get("browser") or ""),
        **(progress or JobProgress())._asdict(),
    )


def _wrong(row: JobRow, request: JobRequest | None, progress: JobProgress | None) -> str:
    """Why a row with valid columns is not a valid job; empty if it is valid."""
    if not is_job_id(row.id):  # the id is used as a folder name
        return "its 'id' is invalid"
    if row.kind not in JOB_KINDS:
        return f"its kind {row.kind[:40]!r} is unknown"
    if request is None or request.kind != row.kind:
        return "its 'request' was changed"
    return "its 'report' was changed" if progress is None else ""


def _request_of(row: JobRow) -> JobRequest | None:
    try:
        return request_from_record(row.request)
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def _progress_of(row: JobRow) -> JobProgress | None:
    try:
        pages, kept = (int(row.report.get(name) or 0) for name in ("pages", "kept"))
    except (ValueError, TypeError, OverflowError):
        return None
    return JobProgress(pages, kept, *(_text(row.report, name) for name in ("story", "problem", "remedy")))


def _text(row: Mapping[str, Any], name: str) -> Message:
    return message_from_record(str(row.get(name) or ""), row.get(f"{name}_message"))
