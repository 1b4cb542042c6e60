"""Routes of the exports of runs: which formats there are, and a run in one of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, Field

from kiwiresearch.research.export import FORMATS
from kiwiresearch.research.jobs import Jobs
from kiwiresearch.web.desk.exports import TYPES, choice_of, to_keep
from kiwiresearch.web.desk.run_frame import frames_of
from kiwiresearch.web.replies import Json
from kiwiresearch.web.research import RunId
from kiwiresearch.web.research_replies import run_url
from kiwiresearch.web.room import Room

FormatName = Annotated[str, Path(max_length=40, description="The `name` of a format.", examples=["epub"])]
FILE_DOC: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind.partition(";")[0]: {} for kind in TYPES.values()}, "description": "The file."}
}


class FormatReply(BaseModel):
    """A format that a run can be had in."""

    name: str
    ending: str = Field(description="Of its file, such as `.epub`; several files come as one `.zip`.")
    readers: str = Field(description="The programs that it is for.")
    with_notes: bool = Field(description="Whether the notes on the run go along.")
    url: str = Field(description="Where the run is had in this format.")


class FormatsReply(BaseModel):
    """All formats of a run."""

    run: str
    formats: list[FormatReply]


def router(room: Room, jobs: Jobs) -> APIRouter:
    """Exporting; the runs stay as they are, and nothing is written on the server."""
    routes = APIRouter(prefix="/api/runs/{run_id}/export", tags=["research"])
    runs = frames_of(room, jobs)

    @routes.get("", response_class=Json, responses={200: {"model": FormatsReply}})
    def formats(run_id: RunId) -> Response:
        """The formats that a run can be had in."""
        place = f"{run_url(runs.get(run_id).id)}/export"
        rows = [
            {
                "name": name,
                "ending": choice_of(name).ending,
                "readers": form.readers,
                "with_notes": choice_of(name).with_notes,
                "url": f"{place}/{name}",
            }
            for name, form in FORMATS.items()
        ]
        return Json({"run": run_id, "formats": rows})

    @routes.get("/{form}", response_class=Response, responses=FILE_DOC)
    def file(run_id: RunId, form: FormatName) -> Response:
        """A run in one format, made when it is asked for: the same run with the same notes gives the same bytes."""
        return to_keep(runs.get(run_id), form)

    return routes
