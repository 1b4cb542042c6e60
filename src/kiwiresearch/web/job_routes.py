"""Routes of jobs that are no runs: batches of questions, and tables of whole books."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from kiwiresearch.ask.settings import Mode
from kiwiresearch.research.job import BULK_TABLES, MOST_ROWS, AskBatchWish, BulkWish
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web import starting
from kiwiresearch.web.bodies import MOST_PASSAGES, Name, Words
from kiwiresearch.web.replies import Json
from kiwiresearch.web.research import JobId
from kiwiresearch.web.research_replies import MOST_BOOKS, JobReply, job_record, job_url
from kiwiresearch.web.room import Room

ANSWERS_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/jsonl": {}}, "description": "A line of JSON for each question, in their order."}
}


class AskJobBody(BaseModel):
    """Questions that are answered one after the other."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["ask"]
    questions: Annotated[list[Words], Field(min_length=1, max_length=MOST_ROWS, examples=[["What is a comet?"]])]
    mode: Annotated[Mode, Field(description="How a model words the answers.")] = "default"
    passages: Annotated[StrictInt, Field(ge=0, le=MOST_PASSAGES, description="0 is as the settings say.")] = 0
    books: Annotated[list[Name], Field(max_length=MOST_BOOKS, description="Only these books of the shelf.")] = []
    model: Annotated[StrictBool, Field(description="`false` works by rules alone even where a model is set.")] = True

    def wish(self) -> AskBatchWish:
        rows = tuple(json.dumps({"question": question}, ensure_ascii=False) for question in self.questions)
        return AskBatchWish(rows, self.mode, self.passages, tuple(self.books), self.model)


class BulkJobBody(BaseModel):
    """A whole book that becomes tables, in a folder of the server."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["bulk"]
    book: Annotated[Name, Field(min_length=1, description="A book of the shelf: name, title or UUID.")]
    what: Annotated[
        list[Literal["titles", "pages", "links", "claims", "people"]],
        Field(min_length=1, max_length=len(BULK_TABLES), examples=[["titles", "links"]]),
    ]

    def wish(self) -> BulkWish:
        return BulkWish(self.book, tuple(self.what))


JobBody = Annotated[AskJobBody | BulkJobBody, Body(discriminator="kind")]


def router(room: Room, jobs: Jobs) -> APIRouter:  # noqa: ARG001 (as all routes of runs are made)
    """Jobs that are no runs; they are listed, stopped and resumed as runs are."""
    routes = APIRouter(prefix="/api/jobs", tags=["research"])

    @routes.post("", status_code=202, response_class=Json, responses={202: {"model": JobReply}})
    def add_job(body: JobBody) -> Response:
        """Put a batch of questions, or a whole book, in line."""
        job = starting.start(jobs, body.wish())
        return Json(job_record(job), 202, {"Location": job_url(job.id)})

    @routes.get("/{job_id}/answers", response_class=Response, responses=ANSWERS_DOC)
    def answers(job_id: JobId) -> Response:
        """The answers of a batch that is done; what somebody asked is for them, and for owners."""
        starting.look_at(jobs, job_id)
        return Response(jobs.answers(job_id), media_type="application/jsonl")

    return routes
