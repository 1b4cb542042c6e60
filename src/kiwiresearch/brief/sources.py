"""What a brief says of its sources: how they were gathered, which they are, and under which settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kiwiresearch.brief.document import Block, Document, Heading, Items, Line, Paragraph, Rows, Span, words
from kiwiresearch.crawl.state import State
from kiwiresearch.crawl.step import Begun, Learned, Visited
from kiwiresearch.search.hit import Score, shown
from kiwiresearch.zim.book import Book
from kiwiresearch.zim.entry import EntryRef

BEST = 10
BRANCHES = 8
Address = Callable[[EntryRef], str]


@dataclass(frozen=True, slots=True)
class Origin:
    """What a brief was made from."""

    state: State
    books: Sequence[Book]
    address: Address
    """Where a reader opens a page."""
    version: str
    fingerprint: str


def reading_list(origin: Origin) -> Document:
    """A brief of the sources alone: the most relevant pages, the crawl's story, all pages, and the settings."""
    begun = origin.state.begun
    topic = begun.topic if begun else ""
    language = origin.books[0].language if origin.books else "eng"
    blocks = (*_overview(origin), *_story(origin), *bibliography(origin), *metadata(origin))
    return Document(f"Research Brief: {topic}", blocks, language or "eng")


def _overview(origin: Origin) -> Iterator[Block]:
    state = origin.state
    if begun_weakly(state):
        yield Paragraph(words("No page names the topic as it stands: these pages only share its words."))
    best = sorted(state.visited.values(), key=lambda step: (step.depth > 0, -state.importance(step), step.ref))
    yield Paragraph(
        words(
            f"Which pages of {_books(origin.books)} speak of this topic, why each was chosen, and where to read on. "
            "This brief names its sources; it does not sum them up."
        )
    )
    yield Heading("Where to begin reading")
    yield Items(tuple(_entry(step, origin) for step in best[:BEST]), numbered=True)


def begun_weakly(state: State) -> bool:
    """Whether nothing that was found names the topic."""
    return state.begun is not None and not any(searched.naming for searched in state.begun.searched)


def _entry(step: Visited, origin: Origin) -> Line:
    link = Span(step.title, origin.address(step.ref))
    return words(link, f": {step.opening}") if step.opening else words(link)


def _story(origin: Origin) -> Iterator[Block]:
    state, begun = origin.state, origin.state.begun
    if begun is None:
        return
    yield Heading("How the sources were gathered")
    yield Paragraph(words(*_beginning(begun)))
    met = len(state.visited) + len(state.frontier)
    depths = ", ".join(f"{state.at_depth[depth]} at depth {depth}" for depth in sorted(state.at_depth))
    order = "the best one next" if state.settings.strategy == "priority" else "the best of each depth"
    why = f" It ended because {state.ended.why}." if state.ended else ""
    yield Paragraph(
        words(
            f"From these, and from the pages they link to, the crawl took {order}: it met {met:,} pages and took "
            f"{len(state.visited):,} ({depths}).{why} The file run.log tells for each page why it was chosen, "
            "and which pages were left."
        )
    )
    learned = [step.words for step in state.steps if isinstance(step, Learned) and step.words]
    if learned:
        yield Paragraph(words(f"Words that the relevant pages have in common: {', '.join(learned[-1])}."))
    yield from _branches(state)
    missing = [word for searched in begun.searched for word in searched.unknown]
    if missing:
        yield Paragraph(words(f"No page has the words: {', '.join(dict.fromkeys(missing))}."))


def _beginning(begun: Begun) -> Iterator[str | Span]:
    pages = sum(searched.pages for searched in begun.searched)
    yield f"The search for the topic found {pages:,} page{'' if pages == 1 else 's'}, and the crawl began with "
    for number, seed in enumerate(begun.seeds):
        if number:
            yield " and " if number == len(begun.seeds) - 1 else ", "
        yield Span(seed.title, emphasis=True)
        yield f" ({seed.why})"
    yield "."


def _branches(state: State) -> Iterator[Block]:
    """What the pages are about, where several are about the same."""
    counts = Counter(step.branch for step in state.visited.values())
    large = sorted(((count, name) for name, count in counts.items() if count > 1), key=lambda row: (-row[0], row[1]))
    if large:
        named = ", ".join(f"{name} ({count})" for count, name in large[:BRANCHES])
        yield Paragraph(words(f"Groups of like pages: {named}."))


def bibliography(origin: Origin) -> Iterator[Block]:
    """All pages that were visited, in their order, each a link into its book."""
    yield Heading("Bibliography")
    several = len(origin.books) > 1
    titles = {book.id: book.title for book in origin.books}
    yield Items(
        tuple(
            words(
                Span(step.title, origin.address(step.ref)),
                f" ({titles[step.book]})" if several else "",
                f" — depth {step.depth}, {shown(Score(step.lines).total)} points",
            )
            for step in origin.state.visited.values()
        ),
        numbered=True,
    )


def metadata(origin: Origin) -> Iterator[Block]:
    """Under which settings, from which snapshot of which books."""
    settings = origin.state.settings
    rows = [
        ("max_pages", str(settings.max_pages)),
        ("max_depth", str(settings.max_depth)),
        ("max_links_per_page", str(settings.max_links_per_page)),
        ("crawl strategy", settings.strategy),
        ("vectors", "off" if settings.fast else "on"),
    ]
    begun = origin.state.begun
    if begun and begun.focus:
        rows.append(("focus", begun.focus))
    for book in origin.books:
        told = [
            book.title,
            book.name,
            book.date,
            book.flavour and f"flavour {book.flavour}",
            f"{book.articles:,} articles",
        ]
        rows.append(("book", ", ".join(part for part in told if part)))
        rows.append(("book UUID", book.id))
    rows += [("kiwiresearch", origin.version), ("fingerprint", origin.fingerprint)]
    yield Heading("Run Metadata")
    yield Rows(("setting", "value"), tuple(rows))
    for book in origin.books:
        if book.lead_only:
            yield Paragraph(
                words(f"The book {book.title!r} holds introductions only: what its pages lack is no gap in knowledge.")
            )


def _books(books: Sequence[Book]) -> str:
    return f"“{books[0].title}”" if len(books) == 1 else f"{len(books)} books"
