"""Finished runs on the sample book, made once for all tests of the desk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tests.web.servers import stream_events

from kiwiresearch.web.context import ServerContext
from kiwiresearch.workspace.output_folders import runs_folder

TOPIC = "Bronze Age collapse"


@dataclass(frozen=True, slots=True)
class ARun:
    """A finished run on a running server."""

    client: httpx2.Client
    context: ServerContext
    id: str
    path: Path
    """The run's folder; what a test changes in it, it puts back."""

    @property
    def runs(self) -> Path:
        """The folder of all runs of the server."""
        return self.path.parent


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """Two finished runs of one topic with other settings: the older with fewer pages."""

    client: httpx2.Client
    context: ServerContext
    old: str
    new: str


@pytest.fixture(scope="session")
def a_run(client: httpx2.Client, context: ServerContext) -> ARun:
    """A run of six pages about the Bronze Age collapse."""
    made = finished(client, topic=TOPIC, max_pages=6)
    return ARun(client, context, made, runs_folder(context.workspace) / made)


@pytest.fixture(scope="session")
def two_runs(a_run: ARun) -> TwoRuns:
    """The same run, and one of nine pages with a focus."""
    new = finished(a_run.client, topic=TOPIC, focus="drought", max_pages=9)
    return TwoRuns(a_run.client, a_run.context, a_run.id, new)


def first_of(page: LexborHTMLParser | LexborNode, selector: str) -> LexborNode:
    """The first element that a selector finds; there must be one."""
    found = page.css_first(selector)
    assert found is not None, f"nothing fits {selector!r}"
    return found


def finished(client: httpx2.Client, **request: Any) -> str:
    """The id of a run that was asked for, and waited for."""
    reply = client.post("/api/research", json=request)
    assert reply.status_code == 202, reply.text
    with client.stream("GET", reply.json()["events"]) as stream:
        last = list(stream_events(stream.iter_lines()))[-1]
    assert last.name == "done", last.data
    return str(last.data["id"])
