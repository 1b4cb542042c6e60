"""The commands that queue and manage jobs; workers and servers do the work."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from kiwiresearch.cli.options import BookOption, JsonOption, emit, print_json, say, user_workspace
from kiwiresearch.cli.server import StoreUrl, with_store
from kiwiresearch.errors import BadUsage

if TYPE_CHECKING:
    from kiwiresearch.jobs import Job, JobQueue, JobRequest

STEPS = {
    "research": ("page", "pages"), "ask": ("answer", "answers"), "kin": ("step", "steps"), "bulk": ("entry", "entries"),
    "damaged": ("step", "steps"),
}  # fmt: skip


def print_job(job: Job, *, as_json: bool) -> None:
    from kiwiresearch.cli import output

    emit(job.record(), lambda: output.line(job_line(job)), as_json=as_json)


def job_line(job: Job) -> str:
    from kiwiresearch.text import count_of

    user = f" for {job.user}" if job.user else ""
    priority = f" (priority {job.priority})" if job.priority else ""
    done = f", {count_of(job.pages, *STEPS[job.request.kind])}" if job.pages else ""
    return f"{job.id}: {job.state}{done}; {job.request.kind}{user}{priority}"


def result_line(jobs: JobQueue, job: Job) -> str:
    """The location of a finished job's result; empty if it is not on this machine."""
    if job.state != "done" or job.request.kind == "kin":
        return ""
    if job.request.kind == "ask":
        return f"Answers: kiwiresearch jobs answers {job.id}"
    from kiwiresearch.jobs import path_exists

    place = jobs.assignment.output_folder(job.request, job.id)
    what, file = ("Tables", place) if job.request.kind == "bulk" else ("Brief", place / "report.md")
    return f"{what}: {file}" if path_exists(file) else ""


MAX_QUEUED = 1_000_000
POLL_S = 0.5

jobs = typer.Typer(help="Queue and manage jobs.", no_args_is_help=True, rich_markup_mode=None)
add = typer.Typer(help="Queue a job.", no_args_is_help=True, rich_markup_mode=None)
jobs.add_typer(add, name="add")

JobId = Annotated[str, typer.Argument(help="The ID of the job.", metavar="ID")]
User = Annotated[str, typer.Option("--user", help="Who the job is for; users take turns.", metavar="NAME")]
Priority = Annotated[int, typer.Option("--priority", help="Jobs with a higher priority start first.", metavar="N")]
NoModel = Annotated[bool, typer.Option("--no-model", help="Do not use a language model, even if one is set.")]


@add.command("research")
def add_research(
    words: Annotated[list[str], typer.Argument(help="The topic.", metavar="TOPIC")],
    *,
    book: BookOption = None,
    depth: Annotated[
        int | None, typer.Option("--depth", help="How many links away from the starting pages to go.", metavar="N")
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option("--max-pages", help="The maximum number of pages to read.", metavar="N")
    ] = None,
    max_links: Annotated[
        int | None,
        typer.Option(
            "--max-links", help="The maximum number of new pages to add from the links of one page.", metavar="N"
        ),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option("--strategy", metavar="priority|bfs", help="Which page to read next.")
    ] = None,
    focus: Annotated[str, typer.Option("--focus", help="Words that matter most.", metavar="WORDS")] = "",
    aspect: Annotated[str, typer.Option("--aspect", help="The aspect of the topic to research.", metavar="WORDS")] = "",
    critic: Annotated[bool, typer.Option("--critic", help="Have the language model review what it wrote.")] = False,
    no_model: NoModel = False,
    user: User = "",
    priority: Priority = 0,
    store: StoreUrl = "",
    json: JsonOption = False,
) -> None:
    """Queue research on a topic."""
    from kiwiresearch.jobs import ResearchRequest

    books = tuple(book or ())
    limits = depth, max_pages, max_links, strategy
    request = ResearchRequest(" ".join(words), focus, *limits, books, critic, not no_model, aspect)
    _add_job(request, user, priority, store, as_json=json)


@add.command("ask")
def add_ask(
    file: Annotated[
        str, typer.Argument(help='Lines such as {"question": "…"} (\'-\' for standard input).', metavar="FILE")
    ],
    *,
    book: BookOption = None,
    mode: Annotated[
        str, typer.Option("--mode", help="How a language model writes the answers.", metavar="MODE")
    ] = "default",
    passages: Annotated[
        int,
        typer.Option(
            "--passages",
            "-k",
            help="How many passages to use for each answer; 0 uses the number in the settings.",
            metavar="N",
        ),
    ] = 0,
    no_model: NoModel = False,
    user: User = "",
    priority: Priority = 0,
    store: StoreUrl = "",
    json: JsonOption = False,
) -> None:
    """Queue a batch of questions. 'jobs answers' prints the answers."""
    from kiwiresearch.cli.batch import rows_of
    from kiwiresearch.jobs import QuestionsRequest

    rows: list[str] = []
    for number, line in rows_of(file):
        rows += [""] * (number - 1 - len(rows)) + [
            line.rstrip("\r\n")
        ]  # skipped lines stay as empty ones, so that errors give the right line number
    request = QuestionsRequest(tuple(rows), mode, passages, tuple(book or ()), not no_model)
    _add_job(request, user, priority, store, as_json=json)


@add.command("bulk")
def add_bulk(
    *,
    book: Annotated[str, typer.Option("--book", "-b", help="A book in your library.", metavar="BOOK")],
    what: Annotated[
        str,
        typer.Option(
            "--what", help="Tables, separated by commas: titles, pages, links, claims, people.", metavar="TABLES"
        ),
    ],
    user: User = "",
    priority: Priority = 0,
    store: StoreUrl = "",
    json: JsonOption = False,
) -> None:
    """Queue a job that writes a whole book into tables."""
    from kiwiresearch.jobs import BulkRequest

    _add_job(BulkRequest(book, tuple(what.split(","))), user, priority, store, as_json=json)


@add.command("kin")
def add_kin(
    case: Annotated[str, typer.Argument(help="The name or ID of a case on the server.", metavar="CASE")],
    *,
    steps: Annotated[
        int, typer.Option("--steps", help="How many steps; 0 continues until there is nothing left to do.", metavar="N")
    ] = 0,
    no_model: NoModel = False,
    user: User = "",
    priority: Priority = 0,
    store: StoreUrl = "",
    json: JsonOption = False,
) -> None:
    """Queue more research on a family."""
    from kiwiresearch.jobs import FamilyRequest

    if steps < 0:
        raise BadUsage(f"--steps cannot be {steps}.", remedy="Use 0 or more.")
    with _open_jobs(store) as found:
        request = FamilyRequest(found.cases.find(case), steps, not no_model)
        print_job(found.start(request, user=user, priority=priority), as_json=json)


@jobs.command("list")
def list_jobs(
    *,
    state: Annotated[
        str, typer.Option("--state", help="Only jobs in this state, for example 'queued'.", metavar="STATE")
    ] = "",
    user: Annotated[str | None, typer.Option("--user", help="Only jobs of this user.", metavar="NAME")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many jobs to show.", metavar="N")] = 50,
    store: StoreUrl = "",
    json: JsonOption = False,
) -> None:
    """List jobs, newest first."""
    from kiwiresearch.jobs import JOB_STATES

    if limit < 1:
        raise BadUsage(f"--limit cannot be {limit}.", remedy="Use 1 or more.")
    if state and state not in JOB_STATES:
        raise BadUsage(f"Unknown state {state!r}.", remedy=f"Choose one of: {', '.join(JOB_STATES)}.")
    with _open_jobs(store) as found:
        rows = [job for job in found.all() if state in ("", job.state) and user in (None, job.user)]
    shown = rows[:limit]
    from kiwiresearch.cli import output

    if json:
        print_json({"jobs": [job.record() for job in shown], "total": len(rows)})
        return
    for job in shown:
        # A job whose row is damaged also shows the problem and a remedy.
        damage = f". {job.problem} {job.remedy}" if job.request.kind == "damaged" else ""
        output.line(job_line(job) + damage)
    if len(shown) < len(rows):
        output.line(f"… and {len(rows) - len(shown):,} more. To see more, use a higher --limit.")
    if not rows:
        output.line("No jobs." if not state and user is None else "No matching jobs.")


@jobs.command("show")
def show_job(job_id: JobId, *, store: StoreUrl = "", json: JsonOption = False) -> None:
    """Show a job: its state, its worker and its result."""
    with _open_jobs(store) as found:
        job = found.get(job_id)
        fits = job.state != "queued" or found.can_do(job_id)
        made = result_line(found, job)
    print_job(job, as_json=json)
    if not json:
        from kiwiresearch.cli import output

        for words in (job.story, f"{job.problem} {job.remedy}".strip(), *(f"Restarted: {why}" for why in job.losses)):
            if words:
                output.line(words)
        if job.worker and job.state == "running":
            output.line(f"Worker: {job.worker}")
        if made:
            output.unbroken_line(made)
        if not fits:
            output.line("Some of its books are not on this machine. The job is waiting for a worker that has them.")


@jobs.command("answers")
def answers(job_id: JobId, *, store: StoreUrl = "") -> None:
    """Print the answers to a batch of questions, one line of JSON each."""
    import sys

    with _open_jobs(store) as found:
        text = found.answers(job_id)
    sys.stdout.write(text)


@jobs.command("cancel")
def cancel(job_id: JobId, *, store: StoreUrl = "", json: JsonOption = False) -> None:
    """Stop a job. A running job finishes its current step; its progress is saved."""
    with _open_jobs(store) as found:
        was_open = found.get(job_id).is_open
        job = found.cancel(job_id)
    print_job(job, as_json=json)
    if not was_open:
        say("This job had already ended. Nothing changed.")
    elif job.is_open:
        say("It stops after the current step.")


@jobs.command("again")
def resume(job_id: JobId, *, store: StoreUrl = "", json: JsonOption = False) -> None:
    """Queue a stopped or failed job again. It continues where it stopped."""
    with _open_jobs(store) as found:
        print_job(found.resume(job_id), as_json=json)


@jobs.command("finish")
def finish(job_id: JobId, *, store: StoreUrl = "", json: JsonOption = False) -> None:
    """Write the brief of stopped research from the pages it has read. After that, the research cannot be resumed."""
    with _open_jobs(store) as jobs:
        print_job(jobs.resume(job_id, read_no_more=True), as_json=json)


@jobs.command("remove")
def remove(
    job_id: JobId,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove the job even if it has results, and delete them permanently.")
    ] = False,
    store: StoreUrl = "",
    json: JsonOption = False,
) -> None:
    """Remove a job that has ended. A job with results is removed only with --yes, and its results are deleted."""
    from kiwiresearch.cli import output

    with _open_jobs(store) as found:
        left = found.remove(job_id, with_run=yes)
    if json:
        print_json({"removed": job_id, "left": str(left or "")})
        return
    output.line(f"{job_id}: removed")
    if left is not None:
        output.unbroken_line(f"This folder was not deleted: {left}")


@jobs.command("wait")
def wait(
    job_ids: Annotated[list[str], typer.Argument(help="The IDs of the jobs.", metavar="ID…")],
    *,
    timeout_s: Annotated[
        float, typer.Option("--timeout", help="The maximum number of seconds to wait; 0 means no limit.", metavar="S")
    ] = 0.0,
    store: StoreUrl = "",
    json: JsonOption = False,
) -> None:
    """Wait for jobs to end. Exit code 1 unless all of them are done."""
    until = time.monotonic() + timeout_s if timeout_s > 0 else None
    with _open_jobs(store) as found:
        left, is_good = list(dict.fromkeys(job_ids)), True
        while left:
            for job in [found.get(job_id) for job_id in left]:
                if not job.is_open:
                    left.remove(job.id)
                    is_good = is_good and job.state == "done"
                    print_job(job, as_json=json)
            if left and until is not None and time.monotonic() > until:
                raise BadUsage(
                    f"Not done yet: {', '.join(left)}.",
                    remedy="Use a longer --timeout. 'kiwiresearch jobs show ID' shows what a job is doing.",
                )
            if left:
                time.sleep(POLL_S)
    if not is_good:
        raise typer.Exit(1)


def _add_job(request: JobRequest, user: str, priority: int, store: str, *, as_json: bool) -> None:
    with _open_jobs(store) as found:
        print_job(found.start(request, user=user, priority=priority), as_json=as_json)


@contextlib.contextmanager
def _open_jobs(store: str) -> Iterator[JobQueue]:
    """The jobs of the store, without working on any."""
    from kiwiresearch.jobs import JobQueue, QueueLimits
    from kiwiresearch.workspace import shelf_of, store_of, utc_now

    workspace = with_store(user_workspace(), store)
    store_of(workspace)  # fails here if the store cannot be used, before the shelf reports the same
    found = JobQueue(
        workspace, shelf_of(workspace).books, now=utc_now, limits=QueueLimits(running=0, queued=MAX_QUEUED)
    )
    try:
        yield found
    finally:
        found.close()
