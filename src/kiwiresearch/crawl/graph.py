"""The pages of a crawl and the links between them, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kiwiresearch.crawl.candidate import Candidate
from kiwiresearch.crawl.state import State
from kiwiresearch.crawl.step import Offer, Visited
from kiwiresearch.ids import canonical_json, page_id
from kiwiresearch.search.hit import Score, ScoreLine
from kiwiresearch.zim.entry import EntryRef


def graph_of(state: State, url_of: Callable[[EntryRef], str]) -> dict[str, Any]:
    """Visited pages, as many of the best that were left, and all links from visited pages to either."""
    left = state.frontier.in_order()[: state.settings.max_pages]
    nodes = [_visited(order, step) for order, step in enumerate(state.visited.values(), start=1)]
    nodes += [_left(state, candidate, url_of(candidate.ref)) for candidate in left]
    ids = {node["ref"]: node["page_id"] for node in nodes}
    edges = [edge for step in state.visited.values() for edge in _edges(step, ids)]
    return {"topic": state.begun.topic if state.begun else "", "nodes": nodes, "edges": edges}


def graph_text(graph: dict[str, Any]) -> str:
    """The graph as JSON, a node or an edge on each line, so that people and `diff` can read it."""
    nodes = ",\n".join(map(canonical_json, graph["nodes"]))
    edges = ",\n".join(map(canonical_json, graph["edges"]))
    return f'{{"edges":[\n{edges}\n],"nodes":[\n{nodes}\n],"topic":{canonical_json(graph["topic"])}}}\n'


def lines_record(lines: Sequence[ScoreLine]) -> list[dict[str, Any]]:
    return [{"signal": line.signal, "points": line.points} for line in lines]


def _visited(order: int, step: Visited) -> dict[str, Any]:
    return {
        "ref": str(step.ref),
        "page_id": step.page_id,
        "book": step.book,
        "path": step.path,
        "title": step.title,
        "url": step.url,
        "state": "visited",
        "order": order,
        "depth": step.depth,
        "priority_score": Score(step.lines).total,
        "relevance": step.relevance,
        "lines": lines_record(step.lines),
        "reason": step.reason,
        "cluster": step.branch,
    }


def _left(state: State, candidate: Candidate, url: str) -> dict[str, Any]:
    score = state.score(candidate)
    return {
        "ref": str(candidate.ref),
        "page_id": page_id(candidate.title),
        "book": candidate.ref.book,
        "path": candidate.ref.path,
        "title": candidate.title,
        "url": url,
        "state": "left",
        "order": None,
        "depth": candidate.depth,
        "priority_score": score.total,
        "relevance": state.relevance(candidate),
        "lines": lines_record(score.lines),
        "reason": candidate.reason(),
        "cluster": state.branch_of(candidate),
    }


def _edges(step: Visited, ids: dict[str, str]) -> Iterator[dict[str, Any]]:
    for offer in sorted(step.offers, key=lambda offer: offer.path):
        target = str(EntryRef(step.book, offer.path))
        if target in ids:
            yield {
                "from": str(step.ref),
                "to": target,
                "from_page_id": step.page_id,
                "to_page_id": ids[target],
                "weight": weight_of(offer),
                "count": offer.times,
                "context": offer.context,
                "place": offer.place,
                "section": offer.section,
                "anchor_text": offer.anchor,
            }


def weight_of(offer: Offer) -> float:
    """How often the page links there, and how much of the topic the words around the link speak of."""
    return round(offer.times + offer.context, 4)
