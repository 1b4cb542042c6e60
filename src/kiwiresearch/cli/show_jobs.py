"""What people see of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiwiresearch.research.job import Job
    from kiwiresearch.research.jobs import Jobs

STEPS = {
    "research": ("page", "pages"), "ask": ("answer", "answers"), "kin": ("step", "steps"), "bulk": ("entry", "entries"),
    "damaged": ("step", "steps"),
}  # fmt: skip


def job(one: Job, *, as_json: bool) -> None:
    """A job as a line, or as one JSON document."""
    from kiwiresearch.cli import show

    if as_json:
        show.document(one.record())
    else:
        show.line(line_of(one))


def line_of(one: Job) -> str:
    from kiwiresearch.text.plural import counted

    of_user = f" for {one.user}" if one.user else ""
    first = f" (priority {one.priority})" if one.priority else ""
    done = f", {counted(one.pages, *STEPS[one.wish.kind])}" if one.pages else ""
    return f"{one.id}: {one.state}{done}; {one.wish.kind}{of_user}{first}"


def listed(one: Job) -> str:
    """A job as a line among others; of one whose row is damaged, what is wrong and what to do."""
    damage = f". {one.problem} {one.remedy}" if one.wish.kind == "damaged" else ""
    return line_of(one) + damage


def made(found: Jobs, one: Job) -> str:
    """Where a job that is done has put what it made; empty where that is not on this machine."""
    if one.state != "done" or one.wish.kind == "kin":
        return ""
    if one.wish.kind == "ask":
        return f"Answers: kiwiresearch jobs answers {one.id}"
    from kiwiresearch.research.job_here import is_there

    place = found.here.place(one)
    what, file = ("Tables", place) if one.wish.kind == "bulk" else ("Brief", place / "report.md")
    return f"{what}: {file}" if is_there(file) else ""
