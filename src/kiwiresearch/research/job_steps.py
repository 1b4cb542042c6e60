"""The steps of a run as events for programs."""

from __future__ import annotations

from typing import Any

from kiwiresearch.crawl.step import Begun, Ended, Learned, Looked, Visited
from kiwiresearch.research.run import Progress
from kiwiresearch.search.hit import Score


def event_of(progress: Progress) -> dict[str, Any]:
    """What is told of a step."""
    state = progress.state
    match progress.step:
        case Begun() as step:
            seeds = [{"book": s.book, "path": s.path, "title": s.title, "why": s.why} for s in step.seeds]
            return {"event": "begun", "topic": step.topic, "seeds": seeds, "found": len(step.found)}
        case Visited() as step:
            return {
                "event": "page",
                "order": len(state.visited),
                "book": step.book,
                "path": step.path,
                "title": step.title,
                "depth": step.depth,
                "score": Score(step.lines).total,
                "reason": step.reason,
                "candidates": len(state.frontier),
            }
        case Looked() as step:
            return {"event": "left" if step.gone else "put back", "title": step.title, "why": step.why}
        case Learned() as step:
            return {"event": "learned", "words": list(step.words)}
        case Ended() as step:
            return {"event": "ended", "why": step.why, "left": step.left}
