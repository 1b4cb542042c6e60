"""Two stores that are used with one state folder: their jobs have the same ids, and nothing else in common."""

from __future__ import annotations

import json
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.jobs.job_tools import a_desk, jobs_on

from kiwiresearch.codec import plain
from kiwiresearch.jobs.job import QuestionsRequest, job_from_row
from kiwiresearch.jobs.queue import JobQueue, QueueLimits
from kiwiresearch.jobs.work import run_job
from kiwiresearch.workspace import workspace
from kiwiresearch.workspace.output_folders import ANSWERS

ASKED = ("When was Ugarit destroyed?", "What is bronze?")
JOB = "questions-1"


@pytest.fixture(autouse=True)
def _stores_are_closed() -> Iterator[None]:
    yield
    workspace.close_stores()


@contextmanager
def jobs_of(tmp_path: Path, book: Path, store: str) -> Iterator[JobQueue]:
    """The jobs of a store on the one home; of its own store where none is named."""
    named = {"KIWIRESEARCH_STORE": f"sqlite:///{tmp_path / store}.sqlite"} if store else {}
    with jobs_on(a_desk(tmp_path / "home", tmp_path / "runs", **named), book, QueueLimits(running=0)) as jobs:
        yield jobs


def answered(jobs: JobQueue, question: str) -> Path:
    """Have a question answered as a worker would; where that was done."""
    request = QuestionsRequest((json.dumps({"question": question}),))
    added = jobs.store.jobs.add("questions", "ask", plain(request))
    row = jobs.store.leases.lease_next("w", ["ask"], lease_s=60.0)
    assert row is not None
    assert row.id == added.id == JOB
    order = jobs.assignment.spec(row, job_from_row(row))
    result = run_job(order, lambda **_: None, threading.Event())
    assert result.story == "1 question was answered."
    jobs.store.jobs.end(row.holder, row.id, "done", plain(result))
    return order.folder


def test_answers_of_two_stores_stay_apart(tmp_path: Path, sample_zim: Path) -> None:
    """Each store answers its own question, reports it, and removes it alone."""
    names = ("a", "b", "")
    for store, question in zip(names, (*ASKED, ASKED[0]), strict=True):
        with jobs_of(tmp_path, sample_zim, store) as jobs:
            place = answered(jobs, question)
            assert place.exists() == (store == "")
    for store, question in zip(names, (*ASKED, ASKED[0]), strict=True):
        with jobs_of(tmp_path, sample_zim, store) as jobs:
            assert json.loads(jobs.answers(JOB))["question"] == question
    with jobs_of(tmp_path, sample_zim, "a") as jobs:
        assert jobs.remove(JOB, with_run=True) is None
    answers = tmp_path / "runs" / JOB / ANSWERS
    assert answers.is_file()
    assert os.name != "posix" or stat.S_IMODE(answers.stat().st_mode) == 0o600


def test_answers_of_before_are_found(tmp_path: Path, sample_zim: Path) -> None:
    """A store that has everything gives them, whatever lies in the folder of this host."""
    with jobs_of(tmp_path, sample_zim, "a") as jobs:
        answered(jobs, ASKED[0])
        folder = jobs.folder / JOB
        folder.mkdir(parents=True)
        (folder / ANSWERS).write_text('{"question": "of another store"}\n', encoding="utf-8")
        assert json.loads(jobs.answers(JOB))["question"] == ASKED[0]
