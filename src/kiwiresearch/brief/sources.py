"""What a brief says of its sources: how they were gathered, which they are, and under which settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.brief.brief import BriefSource, BriefSources, SourceBook
from kiwiresearch.crawl.state import CrawlState
from kiwiresearch.crawl.step import LearnStep, StartStep
from kiwiresearch.search.query import Score
from kiwiresearch.text.display import count_of
from kiwiresearch.zim.archive import Book, EntryRef

MAX_BRANCHES = 8
Address = Callable[[EntryRef], str]


@dataclass(frozen=True, slots=True)
class BriefOrigin:
    """What a brief was made from."""

    state: CrawlState
    books: Sequence[Book]
    address: Address
    """Where a reader opens a page."""
    version: str
    fingerprint: str


def sources_of(origin: BriefOrigin) -> BriefSources:
    """The pages of a crawl, its story, and its settings."""
    state = origin.state
    numbers = {ref: number for number, ref in enumerate(state.visited)}
    heads = state.started.heads if state.started else frozenset()
    links = {
        (number, numbers[target])
        for ref, number in numbers.items()
        for offer in state.visited[ref].offers
        if (target := EntryRef(ref.book, offer.path)) in numbers and target != ref
    }
    return BriefSources(
        books=tuple(_note(book) for book in origin.books),
        pages=tuple(
            BriefSource(
                ref,
                step.title,
                origin.address(ref),
                step.depth,
                Score(step.lines).total,
                step.reason,
                step.opening,
                is_head=ref in heads,
            )
            for ref, step in state.visited.items()
        ),
        links=tuple(sorted(links)),
        story=tuple(_gathering_story(state)),
        settings=tuple(_settings(origin)),
    )


def started_weakly(state: CrawlState) -> bool:
    """Whether nothing that was found names the topic."""
    return state.started is not None and not any(searched.naming for searched in state.started.searched)


def _note(book: Book) -> SourceBook:
    return SourceBook(book.id, book.title, book.name, book.date, book.flavour, book.language, book.articles)


def _gathering_story(state: CrawlState) -> Iterator[str]:
    begun = state.started
    if begun is None:
        return
    yield _beginning(begun)
    met = len(state.visited) + len(state.frontier)
    depths = ", ".join(f"{state.at_depth[depth]} at depth {depth}" for depth in sorted(state.at_depth))
    order = "the best one next" if state.settings.strategy == "priority" else "the best of each depth"
    why = f" It ended because {state.ended.why}." if state.ended else ""
    yield (
        f"From these, and from the pages they link to, the crawl took {order}: it met {met:,} pages and took "
        f"{len(state.visited):,} ({depths}).{why} The file run.log tells for each page why it was chosen, "
        "and which pages were left."
    )
    learned = [step.words for step in state.steps if isinstance(step, LearnStep) and step.words]
    if learned:
        yield f"Words that the relevant pages have in common: {', '.join(learned[-1])}."
    counts = Counter(step.branch for step in state.visited.values())
    large = sorted(((count, name) for name, count in counts.items() if count > 1), key=lambda row: (-row[0], row[1]))
    if large:
        yield f"Groups of like pages: {', '.join(f'{name} ({count})' for count, name in large[:MAX_BRANCHES])}."
    if missing := _unknown(begun):
        yield f"No page has the words: {', '.join(missing)}."


def _unknown(begun: StartStep) -> list[str]:
    """The words that none of the books has which were searched for them."""
    known = {word for searched in begun.searched for word, _ in searched.words if word not in searched.unknown}
    unknown = dict.fromkeys(word for searched in begun.searched for word in searched.unknown)
    return [word for word in unknown if word not in known]


def _beginning(begun: StartStep) -> str:
    pages = sum(searched.pages for searched in begun.searched)
    seeds = [f"{seed.title} ({seed.why})" for seed in begun.seeds]
    named = seeds[0] if len(seeds) == 1 else f"{', '.join(seeds[:-1])} and {seeds[-1]}"
    return f"The search for the topic found {count_of(pages, 'page')}, and the crawl began with {named}."


def _settings(origin: BriefOrigin) -> Iterator[tuple[str, str]]:
    settings = origin.state.settings
    yield "max_pages", str(settings.max_pages)
    yield "max_depth", str(settings.max_depth)
    yield "max_links_per_page", str(settings.max_links_per_page)
    yield "crawl strategy", settings.strategy
    yield "vectors", "off" if settings.fast else "on"
    begun = origin.state.started
    if begun and begun.aspect:
        yield "aspect", begun.aspect
    if begun and begun.focus:
        yield "focus", begun.focus
    for book in origin.books:
        told = (
            book.title,
            book.name,
            book.date,
            book.flavour and f"flavour {book.flavour}",
            f"{book.articles:,} articles",
        )
        yield "book", ", ".join(part for part in told if part)
        yield "book UUID", book.id
    yield "kiwiresearch", origin.version
    yield "fingerprint", origin.fingerprint
