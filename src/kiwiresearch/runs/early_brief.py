"""Runs whose brief was requested after they were stopped: the notes for their readers."""

from __future__ import annotations

from pathlib import Path

from kiwiresearch.crawl import CrawlState, EndStep
from kiwiresearch.errors import RunError, RunNotFound
from kiwiresearch.messages import Message
from kiwiresearch.runs.manifest import read_manifest
from kiwiresearch.text import count_of

MAX_NAMED = 8
"""How many of the pages that were not read are named."""


def stop_step(state: CrawlState) -> EndStep:
    """The step that ends a crawl before it is complete."""
    why = Message("the brief was requested before all pages were read", "ended.stopped")
    return EndStep(why, len(state.frontier))


def unread_note(state: CrawlState) -> Message:
    """What the run had found and not read, the best pages first."""
    read, max_pages = len(state.visited), state.settings.max_pages
    unread = [candidate.title for candidate in state.frontier.in_order()]
    pages = count_of(max_pages, "page")
    text = f"This research was stopped after {read:,} of at most {pages}, so the brief is not complete."
    if not unread:
        return Message(text, "note.stopped", n=read, most=max_pages)
    names = tuple(unread[:MAX_NAMED])
    return Message(
        f"{text} Pages found but not read: {len(unread):,}. The next would have been: {', '.join(names)}.",
        "note.stopped_unread",
        n=read,
        most=max_pages,
        left=len(unread),
        listed=names,
    )


def was_written_when_stopped(folder: Path, fingerprint: str) -> bool:
    """Whether a folder has the brief of this run, written from what it had read when it was stopped."""
    try:
        stopped = read_manifest(folder).record.get("stopped")
    except RunError:
        return False
    return isinstance(stopped, dict) and stopped.get("of") == fingerprint


def nothing_read_error(topic: str) -> RunNotFound:
    """The error if no brief can be written."""
    return RunNotFound(
        f"No stopped research about {topic[:80]!r} has read a page.",
        remedy="Check the topic and the folder, or start the research again.",
    )
