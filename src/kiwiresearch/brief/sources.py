"""The sources section of a brief: the pages, how they were gathered, and with which settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.brief.brief import BriefSource, BriefSources, SourceBook
from kiwiresearch.crawl import CrawlState, StartStep
from kiwiresearch.messages import Message
from kiwiresearch.search import Score
from kiwiresearch.text import count_of
from kiwiresearch.zim import Book, EntryRef

MAX_BRANCHES = 8
Address = Callable[[EntryRef], str]


@dataclass(frozen=True, slots=True)
class BriefInput:
    """The input of a brief."""

    state: CrawlState
    books: Sequence[Book]
    address: Address
    """Where a reader opens a page."""
    version: str
    fingerprint: str


def sources_of(brief_input: BriefInput) -> BriefSources:
    """The pages of a crawl, its story, and its settings."""
    state = brief_input.state
    numbers = {ref: index for index, ref in enumerate(state.visited)}
    topic_pages = state.started.topic_pages if state.started else frozenset()
    links = {
        (number, numbers[target])
        for ref, number in numbers.items()
        for offer in state.visited[ref].offers
        if (target := EntryRef(ref.book, offer.path)) in numbers and target != ref
    }
    return BriefSources(
        books=tuple(
            SourceBook(book.id, book.title, book.name, book.date, book.flavour, book.language, book.articles)
            for book in brief_input.books
        ),
        pages=tuple(
            BriefSource(
                ref,
                step.title,
                brief_input.address(ref),
                step.depth,
                Score(step.terms).total,
                step.reason,
                step.opening,
                is_head=ref in topic_pages,
            )
            for ref, step in state.visited.items()
        ),
        links=tuple(sorted(links)),
        story=tuple(_gathering_story(state)),
        settings=tuple(_settings(brief_input)),
    )


def started_weakly(state: CrawlState) -> bool:
    """Whether none of the pages found names the topic."""
    return state.started is not None and not any(searched.naming_pages for searched in state.started.searched)


def _gathering_story(state: CrawlState) -> Iterator[Message]:
    start = state.started
    if start is None:
        return
    yield _beginning(start)
    met = len(state.visited) + len(state.frontier)
    depths = tuple(
        Message(f"{pages} at depth {depth}", "story.at_depth", n=pages, depth=depth)
        for depth, pages in sorted(state.count_at_depth.items())
    )
    best = Message("the best remaining page", "story.best_next")
    order = (
        best
        if state.settings.strategy == "priority"
        else Message("the best page at the current depth", "story.best_of_depth")
    )
    ended = state.ended.why if state.ended else Message("")
    why = f" It stopped because {ended}." if ended else ""
    taken = len(state.visited)
    yield Message(
        f"From there, kiwiresearch followed links, each time reading {order}. It found {count_of(met, 'page')} "
        f"and read {taken:,} ({', '.join(depths)}).{why} The file run.log shows why each page was chosen, "
        "and which pages were not read.",
        "story.took",
        order=order,
        met=met,
        taken=taken,
        depths=depths,
        ended=ended,
    )
    counts = Counter(step.branch for step in state.visited.values())
    large = sorted(((count, name) for name, count in counts.items() if count > 1), key=lambda row: (-row[0], row[1]))
    if large:
        groups = tuple(f"{name} ({count})" for count, name in large[:MAX_BRANCHES])
        yield Message(f"Groups of similar pages: {', '.join(groups)}.", "story.groups", listed=groups)
    if missing := _unknown(start):
        yield Message(f"No page contains these words: {', '.join(missing)}.", "story.unknown_words", listed=missing)


def _unknown(start: StartStep) -> tuple[str, ...]:
    """The words that none of the books searched for them has."""
    known = {word for searched in start.searched for word, _ in searched.words if word not in searched.unknown_words}
    unknown = dict.fromkeys(word for searched in start.searched for word in searched.unknown_words)
    return tuple(word for word in unknown if word not in known)


def _beginning(start: StartStep) -> Message:
    pages = sum(searched.found_pages for searched in start.searched)
    seeds = tuple(
        Message(f"{seed.title} ({seed.why})", "story.seed", title=seed.title, why=seed.why) for seed in start.seeds
    )
    named = seeds[0] if len(seeds) == 1 else f"{', '.join(seeds[:-1])} and {seeds[-1]}"
    text = f"Search found {count_of(pages, 'page')} about the topic. Research started with {named}."
    return Message(text, "story.began", n=pages, seeds=seeds)


def _settings(brief_input: BriefInput) -> Iterator[tuple[str, str]]:
    settings = brief_input.state.settings
    yield "max_pages", str(settings.max_pages)
    yield "max_depth", str(settings.max_depth)
    yield "max_links_per_page", str(settings.max_links_per_page)
    yield "crawl strategy", settings.strategy
    yield "vectors", "off" if settings.fast else "on"
    start = brief_input.state.started
    if start and start.aspect:
        yield "aspect", start.aspect
    if start and start.focus:
        yield "focus", start.focus
    for book in brief_input.books:
        parts = (
            book.title,
            book.name,
            book.date,
            book.flavour and f"flavour {book.flavour}",
            f"{book.articles:,} articles",
        )
        yield "book", ", ".join(part for part in parts if part)
        yield "book UUID", book.id
    yield "kiwiresearch", brief_input.version
    yield "fingerprint", brief_input.fingerprint
