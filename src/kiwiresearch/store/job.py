"""A job as it stands in the store."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Row

from kiwiresearch.store.columns import is_kept
from kiwiresearch.store.problems import BACKUP

JobKind = Literal["research", "ask", "bulk", "kin"]
State = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
OPEN = ("queued", "running")
ENDED = ("done", "failed", "cancelled", "interrupted")
Shape = tuple[tuple[str, ...], Callable[[Any], bool], Any]


def is_count(value: object) -> bool:
    """Whether it is a whole number that can be counted on from."""
    return type(value) is int and abs(value) < 2**62


def _is_read(value: object) -> bool:
    return value is not None


SHAPES: tuple[Shape, ...] = (
    (("id", "kind", "user", "asked_at", "started_at", "ended_at", "worker"), is_kept, ""),
    (("state",), is_kept, "failed"),
    (("priority", "turn", "attempt"), is_count, 0),
    (("wish", "told"), _is_read, {}),
    (("losses",), _is_read, []),
)
"""What the columns of a job hold, and what is read in place of anything else."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """What is to be done, whose it is, and how far it is."""

    id: str
    kind: str
    wish: Mapping[str, Any]
    user: str = ""
    priority: int = 0
    state: str = "queued"
    turn: int = 0
    """Its place in the line: who came earlier has a smaller one."""
    attempt: int = 0
    """How often it was started."""
    asked_at: str = ""
    started_at: str = ""
    ended_at: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    """What it told of itself: pages, story, problem, remedy, …"""
    worker: str = ""
    """Who works on it, or did last."""
    stop_wanted: bool = False
    losses: tuple[Mapping[str, Any], ...] = ()
    """Each time it was lost or given back: "worker", "at" and "why"."""
    damage: str = ""
    """What in its row is not as it was written; empty where all is. What cannot be read is left out of the others."""

    @property
    def holder(self) -> str:
        """The worker and the attempt, by which a job is held even against an earlier attempt of the same worker."""
        return f"{self.worker}#{self.attempt}"


COLUMNS = tuple(field.name for field in fields(JobRow) if field.name != "damage")


def values_of(job: JobRow) -> dict[str, Any]:
    """The columns of a job."""
    values = {name: getattr(job, name) for name in COLUMNS}
    return {**values, "wish": dict(job.wish), "told": dict(job.told), "losses": [dict(one) for one in job.losses]}


def job_of(row: Row[Any]) -> JobRow:
    """The job of a row; one that somebody else wrote into says so, and stops nobody."""
    found, wrong = dict(row._mapping), list[str]()
    for names, is_right, instead in SHAPES:
        for name in names:
            if not is_right(found[name]):
                wrong.append(f"its {name!r} is not what was written")
                found[name] = instead
    if found["state"] not in (*OPEN, *ENDED):
        wrong.append(f"its state is {found['state'][:40]!r}, which there is not")
        found["state"] = "failed"
    values = {name: found[name] for name in COLUMNS}
    return JobRow(**values | {"losses": tuple(found["losses"])}, damage="; ".join(wrong))


def damaged(job_id: str, damage: str) -> str:
    """What is wrong with a row, in a sentence."""
    return f"The row of the job {job_id!r} in the store is damaged: {damage}."


def to_remove(job_id: str) -> str:
    """What can be done about it; one that cannot be named is for whoever keeps the store."""
    if not job_id:
        return BACKUP
    return f"Ask for it anew, and remove this one: kiwiresearch jobs remove {shlex.quote(job_id)}"


def time_text(moment: float) -> str:
    """Seconds since 1970 as people write them."""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds")
