"""The outputs of a crawl: the graph of its pages, and its log for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kiwiresearch.codec import OMIT_DEFAULT, Record, plain
from kiwiresearch.crawl.frontier import CrawlCandidate
from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.state import CrawlState
from kiwiresearch.crawl.step import (
    EndStep,
    LearnStep,
    LinkOffer,
    SearchedBook,
    SeedChoice,
    SkipStep,
    StartStep,
    VisitStep,
)
from kiwiresearch.ids import canonical_json, page_id
from kiwiresearch.messages import MessageRecord, message_record
from kiwiresearch.search import Score, ScoreTerm, points_text, score_terms_text
from kiwiresearch.text import count_of
from kiwiresearch.zim import EntryRef


@dataclass(frozen=True, slots=True)
class GraphNode(Record):
    """A page of the graph."""

    ref: str
    page_id: str
    book: str
    path: str
    title: str
    url: str
    state: Literal["visited", "left"]
    order: int | None
    """Its place among the visited pages."""
    depth: int
    priority_score: float
    relevance: float
    lines: tuple[ScoreTerm, ...]
    reason: str
    cluster: str
    """The branch of the crawl that it is in; run files call it a cluster."""
    reason_message: MessageRecord | None = field(default=None, metadata=OMIT_DEFAULT)


@dataclass(frozen=True, slots=True)
class GraphEdge(Record):
    """The links from a visited page to another page of the graph."""

    from_: str
    to: str
    from_page_id: str
    to_page_id: str
    weight: float
    count: int
    context: float
    place: str
    section: str
    anchor_text: str


@dataclass(frozen=True, slots=True)
class CrawlGraph:
    """The pages of a crawl and the links between them."""

    topic: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


def crawl_graph(state: CrawlState, url_of: Callable[[EntryRef], str]) -> CrawlGraph:
    """Visited pages, an equal number of the best remaining candidates, and all links from visited pages to either."""
    # At most `max_pages` of them, since the frontier of a large crawl has thousands.
    left = state.frontier.in_order()[: state.settings.max_pages]
    nodes = [_visited_node(order, step) for order, step in enumerate(state.visited.values(), start=1)]
    nodes += [_unvisited_node(state, candidate, url_of(candidate.ref)) for candidate in left]
    ids = {node.ref: node.page_id for node in nodes}
    edges = tuple(edge for step in state.visited.values() for edge in _edges(step, ids))
    return CrawlGraph(state.started.topic if state.started else "", tuple(nodes), edges)


def graph_text(graph: CrawlGraph) -> str:
    """The graph as JSON, one node or edge per line, so that people and `diff` can read it."""
    nodes, edges = (",\n".join(canonical_json(plain(row)) for row in rows) for rows in (graph.nodes, graph.edges))
    return f'{{"edges":[\n{edges}\n],"nodes":[\n{nodes}\n],"topic":{canonical_json(graph.topic)}}}\n'


def _visited_node(order: int, step: VisitStep) -> GraphNode:
    return GraphNode(
        ref=str(step.ref),
        page_id=step.page_id,
        book=step.book,
        path=step.path,
        title=step.title,
        url=step.url,
        state="visited",
        order=order,
        depth=step.depth,
        priority_score=Score(step.terms).total,
        relevance=step.relevance,
        lines=step.terms,
        reason=step.reason,
        cluster=step.branch,
        reason_message=message_record(step.reason),
    )


def _unvisited_node(state: CrawlState, candidate: CrawlCandidate, url: str) -> GraphNode:
    score, reason = state.scoring.score(candidate), candidate.reason()
    return GraphNode(
        ref=str(candidate.ref),
        page_id=page_id(candidate.title),
        book=candidate.ref.book,
        path=candidate.ref.path,
        title=candidate.title,
        url=url,
        state="left",
        order=None,
        depth=candidate.depth,
        priority_score=score.total,
        relevance=state.scoring.relevance(candidate),
        lines=score.terms,
        reason=reason,
        cluster=state.scoring.branch_of(candidate),
        reason_message=message_record(reason),
    )


def _edges(step: VisitStep, ids: dict[str, str]) -> Iterator[GraphEdge]:
    for offer in sorted(step.offers, key=lambda offer: offer.path):
        target = str(EntryRef(step.book, offer.path))
        if target in ids:
            yield GraphEdge(
                from_=str(step.ref),
                to=target,
                from_page_id=step.page_id,
                to_page_id=ids[target],
                weight=link_weight(offer),
                count=offer.times,
                context=offer.context,
                place=offer.place,
                section=offer.section,
                anchor_text=offer.anchor,
            )


def link_weight(offer: LinkOffer) -> float:
    """How often the page links there, plus how much of the topic's words the sentence around the link has."""
    return round(offer.times + offer.context, 4)


MAX_LEFT_LISTED = 20
MAX_DROPPED_LISTED = 10


def crawl_log(state: CrawlState, books: Mapping[str, str]) -> Iterator[str]:
    """The lines of run.log; `books` are the titles of the books by their UUIDs."""
    start = state.started
    if start is None:
        return
    yield f"# {start.topic}"
    yield ""
    yield "## Settings"
    yield from settings_lines(state.settings)
    yield ""
    yield "## Starting pages"
    if start.head:
        yield f"Understood as: {' › '.join(part for part in (start.head, start.aspect) if part)}"
    if start.senses:
        yield f"Other meanings, not followed: {', '.join(start.senses)}"
    yield from _beginning(start, books)
    yield ""
    yield "## Page by page"
    yield from _pages(state, several_books=len(books) > 1, books=books)
    yield ""
    yield "## Not read"
    yield from _left(state)
    yield ""
    yield "## Search statement"
    yield from _statement(state, start, books)


def settings_lines(settings: CrawlSettings) -> Iterator[str]:
    """The settings, one line for each group."""
    filters, weights = settings.filters, settings.weights
    yield (
        f"strategy {settings.strategy}, max_pages {settings.max_pages}, max_depth {settings.max_depth}, "
        f"max_links_per_page {settings.max_links_per_page}, max_seeds {settings.max_seeds}, "
        f"first_sections {settings.first_sections}, branch_share {settings.branch_share:g}, "
        f"vectors {'off' if settings.fast else 'on'}"
    )
    if settings.strategy == "bfs":
        yield "bfs: each depth gets a share of the pages and reads its best ones; unused shares go to the other depths"
    switches = ("main_articles_only", "disambiguation", "self_links", "years", "outside_text")
    switched = ", ".join(f"{name} {'on' if getattr(filters, name) else 'off'}" for name in switches)
    excluded = ", ".join(map(repr, filters.exclude)) or "nothing"
    yield f"link filters: {switched}, lists {filters.lists}, exclude {excluded}"
    yield (
        f"weights: relevance {weights.relevance:g}, link_context {weights.link_context:g}, "
        f"page_signals {weights.page_signals:g}, novelty {weights.novelty:g}, authority {weights.authority:g}"
    )


def _beginning(start: StartStep, books: Mapping[str, str]) -> Iterator[str]:
    for searched in start.searched:
        yield _searched(searched, books)
    for seed in start.seeds:
        yield f"Starting page: {_in_book(seed, books)}, {points_text(seed.score)} points: {seed.why}."
    for other in start.passed_over:
        yield f"Not chosen: {_in_book(other, books)}, {points_text(other.score)} points: {other.why}."
    if start.timeline:
        yield "The topic asks for a timeline, so pages about single years may be read."


def _searched(searched: SearchedBook, books: Mapping[str, str]) -> str:
    words = ", ".join(repr(word) for word, _ in searched.words)
    meant = f", read as {searched.corrected!r}" if searched.corrected else ""
    naming = f"{searched.naming_pages} of them name{'s' if searched.naming_pages == 1 else ''} the topic"
    found = count_of(searched.found_pages, "page")
    return f"Searched {books[searched.book]!r} for {words}{meant}: {found} found, {naming}."


def _in_book(page: SeedChoice, books: Mapping[str, str]) -> str:
    return f"{page.title!r} in {books[page.book]!r}" if len(books) > 1 else repr(page.title)


def _pages(state: CrawlState, *, several_books: bool, books: Mapping[str, str]) -> Iterator[str]:
    number = 0
    for step in state.steps:
        match step:
            case VisitStep():
                number += 1
                where = f" in {books[step.book]!r}" if several_books else ""
                points = points_text(Score(step.terms).total)
                yield f"{number}. {step.title}{where} (depth {step.depth}, {points} points)"
                yield from _visited(step, state.settings)
            case SkipStep(is_dropped=True):
                yield f"   Skipped {step.title!r}: {step.why}."
            case SkipStep():
                yield f"   Postponed {step.title!r}: {step.why}."
            case LearnStep() if step.words:
                words = ", ".join(step.words)
                yield f"   Learned after {count_of(number, 'page')}: {words}. All candidates are scored again."


def _visited(step: VisitStep, settings: CrawlSettings) -> Iterator[str]:
    yield f"   Chosen: {step.reason}"
    yield f"   Score: {score_words(step.terms)}"
    if step.runner_up:
        yield f"   Next best: {step.runner_up}"
    if step.facts.duplicate_of:
        yield f"   It says nearly the same as {step.facts.duplicate_of!r}."
    new = sum(offer.is_new for offer in step.offers)
    if step.depth >= settings.max_depth:
        links = f"{count_of(step.links, 'page')} linked, not followed: max_depth is reached"
    else:
        links = f"{count_of(step.links, 'page')} linked, {new} not seen before"
    refused = ", ".join(f"{why} {count}" for why, count in step.refused)
    yield f"   Links: {links}{f'; skipped: {refused}' if refused else ''}."


def score_words(terms: Sequence[ScoreTerm]) -> str:
    return score_terms_text(terms) or "no points"


def _left(state: CrawlState) -> Iterator[str]:
    left = state.frontier.in_order()
    for candidate in left[:MAX_LEFT_LISTED]:
        score = state.scoring.score(candidate)
        points, words = points_text(score.total), score_words(score.terms)
        yield f"{candidate.title!r}, depth {candidate.depth}, {points} points: {words}"
    if len(left) > MAX_LEFT_LISTED:
        yield f"And {count_of(len(left) - MAX_LEFT_LISTED, 'more candidate')} with fewer points."
    if not left:
        yield "No candidates remain."
    refused = refusals(state)
    if refused:
        yield f"Links skipped: {', '.join(f'{why} {count}' for why, count in refused)}."


def refusals(state: CrawlState) -> list[tuple[str, int]]:
    """Why links were refused, the most frequent reason first."""
    counts: Counter[str] = Counter()
    for step in state.steps:
        if isinstance(step, VisitStep | SkipStep):
            counts.update(dict(step.refused))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _statement(state: CrawlState, start: StartStep, books: Mapping[str, str]) -> Iterator[str]:
    """The search and its books, the words that were not found, and why the crawl ended."""
    yield f"Topic: {start.topic!r}{f', with the focus {start.focus!r}' if start.focus else ''}."
    for searched in start.searched:
        words = ", ".join(repr(word) for word, _ in searched.words)
        yield f"Searched the titles and full text of {books[searched.book]!r} for {words}."
        if searched.unknown_words:
            yield f"Not found in that book: {', '.join(map(repr, searched.unknown_words))}."
        if not searched.naming_pages:
            yield f"No page found in {books[searched.book]!r} names the topic as you wrote it."
    missing = missing_words(state, start)
    if missing:
        yield f"Not on any page that was read: {', '.join(map(repr, missing))}."
    keywords = next((step.words for step in reversed(state.steps) if isinstance(step, LearnStep)), ())
    if keywords:
        yield f"Words learned from the pages and used for scoring: {', '.join(keywords)}."
    depths = ", ".join(f"{state.count_at_depth[depth]} at depth {depth}" for depth in sorted(state.count_at_depth))
    yield f"Read: {count_of(len(state.visited), 'page')} ({depths})."
    dropped = [step for step in state.steps if isinstance(step, SkipStep) and step.is_dropped]
    if dropped:
        yield f"Opened and skipped: {', '.join(repr(step.title) for step in dropped[:MAX_DROPPED_LISTED])}."
    if isinstance(state.ended, EndStep):
        yield f"Stopped because {state.ended.why}; {count_of(state.ended.remaining, 'candidate')} not read."
    yield "Only these books were searched. What was not found here may be found elsewhere."


def missing_words(state: CrawlState, start: StartStep) -> list[str]:
    """Words of the topic and of the focus that none of the visited pages has."""
    absent = None
    for step in state.visited.values():
        here = set(step.facts.absent)
        absent = here if absent is None else absent & here
    ordered = dict.fromkeys(word for searched in start.searched for word, _ in searched.words)
    return [word for word in ordered if word in (absent or set())]
