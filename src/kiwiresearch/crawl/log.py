"""The story of a crawl, for people: page by page, chosen because, left because, and what was searched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from kiwiresearch.crawl.settings import CrawlSettings
from kiwiresearch.crawl.state import State
from kiwiresearch.crawl.step import Begun, Considered, Ended, Learned, Looked, Searched, Visited
from kiwiresearch.search.hit import Score, ScoreLine, shown, terms
from kiwiresearch.text.plural import counted

LEFT = 20
"""Of the candidates that were left, so many are told one by one."""

MISSED = 10


def log_of(state: State, books: Mapping[str, str]) -> Iterator[str]:
    """The lines of run.log; `books` are the titles of the books by their UUIDs."""
    begun = state.begun
    if begun is None:
        return
    yield f"# {begun.topic}"
    yield ""
    yield "## Settings"
    yield from settings_lines(state.settings)
    yield ""
    yield "## Where it began"
    if begun.head:
        yield f"Understood as: {' › '.join(part for part in (begun.head, begun.aspect) if part)}"
    if begun.senses:
        yield f"Other senses of the name, left aside: {', '.join(begun.senses)}"
    yield from _beginning(begun, books)
    yield ""
    yield "## Page by page"
    yield from _pages(state, several_books=len(books) > 1, books=books)
    yield ""
    yield "## What was left"
    yield from _left(state)
    yield ""
    yield "## Search statement"
    yield from _statement(state, begun, books)


def settings_lines(settings: CrawlSettings) -> Iterator[str]:
    """All that was set, one line a group."""
    filters, weights = settings.filters, settings.weights
    yield (
        f"strategy {settings.strategy}, max_pages {settings.max_pages}, max_depth {settings.max_depth}, "
        f"max_links_per_page {settings.max_links_per_page}, max_seeds {settings.max_seeds}, "
        f"first_sections {settings.first_sections}, branch_share {settings.branch_share:g}, "
        f"vectors {'off' if settings.fast else 'on'}"
    )
    if settings.strategy == "bfs":
        yield "bfs: the pages are shared among the depths, each with its best; what a depth does not use goes to others"
    switches = ("main_articles_only", "disambiguation", "self_links", "years", "outside_text")
    switched = ", ".join(f"{name} {'on' if getattr(filters, name) else 'off'}" for name in switches)
    excluded = ", ".join(map(repr, filters.exclude)) or "nothing"
    yield f"link filters: {switched}, lists {filters.lists}, exclude {excluded}"
    yield (
        f"weights: relevance {weights.relevance:g}, link_context {weights.link_context:g}, "
        f"page_signals {weights.page_signals:g}, novelty {weights.novelty:g}, authority {weights.authority:g}"
    )


def _beginning(begun: Begun, books: Mapping[str, str]) -> Iterator[str]:
    for searched in begun.searched:
        yield _searched(searched, books)
    for seed in begun.seeds:
        yield f"Seed: {_in_book(seed, books)}, {shown(seed.score)} points: {seed.why}."
    for other in begun.passed:
        yield f"Passed over: {_in_book(other, books)}, {shown(other.score)} points: {other.why}."
    if begun.timeline:
        yield "The topic asks for a timeline, so pages of years may be taken."


def _searched(searched: Searched, books: Mapping[str, str]) -> str:
    words = ", ".join(repr(word) for word, _ in searched.words)
    meant = f", read as {searched.corrected!r}" if searched.corrected else ""
    naming = f"{searched.naming} of which name{'s' if searched.naming == 1 else ''} the topic"
    return f"Searched {books[searched.book]!r} for {words}{meant}: {counted(searched.pages, 'page')} found, {naming}."


def _in_book(page: Considered, books: Mapping[str, str]) -> str:
    return f"{page.title!r} in {books[page.book]!r}" if len(books) > 1 else repr(page.title)


def _pages(state: State, *, several_books: bool, books: Mapping[str, str]) -> Iterator[str]:
    number = 0
    for step in state.steps:
        match step:
            case Visited():
                number += 1
                where = f" in {books[step.book]!r}" if several_books else ""
                yield f"{number}. {step.title}{where} (depth {step.depth}, {shown(Score(step.lines).total)} points)"
                yield from _visited(step, state.settings)
            case Looked(gone=True):
                yield f"   Left {step.title!r}: {step.why}."
            case Looked():
                yield f"   Put back {step.title!r}: {step.why}."
            case Learned() if step.words:
                words = ", ".join(step.words)
                yield f"   Learned after {counted(number, 'page')}: {words}. All candidates are scored again."


def _visited(step: Visited, settings: CrawlSettings) -> Iterator[str]:
    yield f"   Chosen: {step.reason}"
    yield f"   Score: {score_words(step.lines)}"
    if step.runner_up:
        yield f"   Next best: {step.runner_up}"
    if step.facts.duplicate_of:
        yield f"   It says nearly the same as {step.facts.duplicate_of!r}."
    new = sum(offer.is_new for offer in step.offers)
    if step.depth >= settings.max_depth:
        links = f"{counted(step.links, 'page')} linked, not followed: max_depth is reached"
    else:
        links = f"{counted(step.links, 'page')} linked, {new} new to the crawl"
    refused = ", ".join(f"{why} {count}" for why, count in step.refused)
    yield f"   Links: {links}{f'; refused: {refused}' if refused else ''}."


def score_words(lines: Sequence[ScoreLine]) -> str:
    return terms(lines) or "nothing speaks for it"


def _left(state: State) -> Iterator[str]:
    left = state.frontier.in_order()
    for candidate in left[:LEFT]:
        score = state.score(candidate)
        yield f"{candidate.title!r}, depth {candidate.depth}, {shown(score.total)} points: {score_words(score.lines)}"
    if len(left) > LEFT:
        yield f"And {counted(len(left) - LEFT, 'more candidate')} with fewer points."
    if not left:
        yield "No candidate was left."
    refused = refusals(state)
    if refused:
        yield f"Links that were refused: {', '.join(f'{why} {count}' for why, count in refused)}."


def refusals(state: State) -> list[tuple[str, int]]:
    """Why links were refused in the whole crawl, the most frequent reason first."""
    counts: Counter[str] = Counter()
    for step in state.steps:
        if isinstance(step, Visited | Looked):
            counts.update(dict(step.refused))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _statement(state: State, begun: Begun, books: Mapping[str, str]) -> Iterator[str]:
    """What was looked for and where, what was not found, and why the search ended."""
    yield f"Looked for: {begun.topic!r}{f' with a view to {begun.focus!r}' if begun.focus else ''}."
    for searched in begun.searched:
        words = ", ".join(repr(word) for word, _ in searched.words)
        yield f"In {books[searched.book]!r}, by titles and by full text, with the words {words}."
        if searched.unknown:
            yield f"Not found there at all: {', '.join(map(repr, searched.unknown))}."
        if not searched.naming:
            yield f"No page found in {books[searched.book]!r} names the topic as it stands."
    missing = missing_words(state, begun)
    if missing:
        yield f"On no page that was taken: {', '.join(map(repr, missing))}."
    keywords = next((step.words for step in reversed(state.steps) if isinstance(step, Learned)), ())
    if keywords:
        yield f"Learned on the way, and counted: {', '.join(keywords)}."
    depths = ", ".join(f"{state.at_depth[depth]} at depth {depth}" for depth in sorted(state.at_depth))
    yield f"Taken: {counted(len(state.visited), 'page')} ({depths})."
    gone = [step for step in state.steps if isinstance(step, Looked) and step.gone]
    if gone:
        yield f"Looked at and left: {', '.join(repr(step.title) for step in gone[:MISSED])}."
    if isinstance(state.ended, Ended):
        yield f"Ended because {state.ended.why}; {counted(state.ended.left, 'candidate')} not visited."
    yield "Only these books were searched: that something was not found here does not mean that there is nothing."


def missing_words(state: State, begun: Begun) -> list[str]:
    """Words of the topic and of the focus that none of the visited pages holds."""
    absent = None
    for step in state.visited.values():
        here = set(step.facts.absent)
        absent = here if absent is None else absent & here
    ordered = dict.fromkeys(word for searched in begun.searched for word, _ in searched.words)
    return [word for word in ordered if word in (absent or set())]
