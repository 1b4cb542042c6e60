"""An answer in parts: what is told of it, in which order and in which words, whoever shows it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.ask.answer import Answer, BookNote, Cited, Conflict, Line, Looked
from kiwiresearch.search.senses import Sense

NOT_HERE = "No answer found in the books."
NOT_FROM_HERE = "No answer found in the books: the text above is the model's own, without a source."
CLOSEST = "Closest passages:"
SENSES = "It can also mean:"
PRESENT = "The question is about the present; {title} is from {date}."
YES, NO = "Yes.", "No."
DISAGREEMENT = "Sources do not agree."
MOST_NEAR = 3
Level = Literal["high", "medium", "low"]
HIGH, MEDIUM = 75, 45
"""From these percentages on, confidence is called so."""

CELLS = re.compile(r":?\t+")
BREAKS = re.compile(r"([.,:;!?…]?) *\n\s*")


@dataclass(frozen=True, slots=True)
class Source:
    """A citation under the number it goes by."""

    number: int
    cited: Cited

    @property
    def mark(self) -> str:
        return f"[{self.number}]"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or row of a page in one line, cut where the few words in it begin and end that are the answer."""

    before: str
    short: str
    behind: str
    sources: tuple[Source, ...]

    @property
    def marks(self) -> str:
        return "".join(source.mark for source in self.sources)


@dataclass(frozen=True, slots=True)
class Worded:
    """What a model said, with its own marks."""

    text: str


@dataclass(frozen=True, slots=True)
class Headline:
    """The answer in a few words: yes or no, or a part of the sentence that follows."""

    words: str


@dataclass(frozen=True, slots=True)
class Close:
    """A sentence that comes close to an answer, and is none."""

    text: str
    cited: Cited


@dataclass(frozen=True, slots=True)
class Refusal:
    """That the books hold no answer; and what comes close: passages, and pages."""

    words: str
    closest: tuple[Close, ...]
    near: tuple[Looked, ...]


@dataclass(frozen=True, slots=True)
class Senses:
    """What else the name in the question may mean."""

    senses: tuple[Sense, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """One of two quotes that do not agree."""

    quote: str
    source: Source | None

    @property
    def mark(self) -> str:
        return f" {self.source.mark}" if self.source else ""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What two sources do not agree in, and what they say."""

    words: str
    sides: tuple[Side, Side]


@dataclass(frozen=True, slots=True)
class Notice:
    """What a reader should know beside the answer."""

    words: str


@dataclass(frozen=True, slots=True)
class Way:
    """How the answer was found; for those who want to know how it came about."""

    words: str


@dataclass(frozen=True, slots=True)
class Confidence:
    """How often answers with such evidence were right."""

    level: Level
    percent: int

    @classmethod
    def of(cls, sure: float) -> Confidence:
        """In steps of five, and never 0 or 100: nothing is certain."""
        percent = min(max(round(sure * 20) * 5, 5), 95)
        return cls("high" if percent >= HIGH else "medium" if percent >= MEDIUM else "low", percent)

    @property
    def words(self) -> str:
        return f"Confidence: {self.level} (about {self.percent} %)."


@dataclass(frozen=True, slots=True)
class Sources:
    """All that is cited, by numbers; shown first where an answer is shown as it comes."""

    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """Which books the answer is from, and how old they are."""

    books: tuple[BookNote, ...]

    def words(self, shown: Callable[[str], str]) -> str:
        return origin_of(self.books, shown)


Part = Headline | Sentence | Worded | Refusal | Senses | Disagreement | Notice | Way | Confidence | Sources | Origin


def parts_of(answer: Answer) -> Iterator[Part]:
    """All that is told of an answer, in the order in which it is told."""
    yield from words_in(answer)
    yield from beside(answer)


def words_in(answer: Answer) -> Iterator[Headline | Sentence | Worded]:
    """What answers; nothing where nothing does. What is there twice is told once."""
    if not answer.model and answer.lines:
        if words := _headline(answer):
            yield Headline(words)
        sources = {source.cited.key: source for source in numbered(answer)}
        for place, line in enumerate(dict.fromkeys(answer.lines)):
            yield _sentence(line, (0, 0) if place else answer.short_span, sources)
    elif answer.text.strip():
        yield Worded(answer.text.strip())


def _headline(answer: Answer) -> str:
    if answer.verdict:
        return YES if answer.verdict == "yes" else NO
    return answer.chosen or in_a_line(answer.short.strip())


def beside(answer: Answer) -> Iterator[Part]:
    """What is told below the words: that there are none, what does not agree, and where all is from."""
    sources = numbered(answer)
    if not answer.grounded:
        closest = tuple(Close(in_a_line(one.citation.quote.text), one) for one in answer.closest)
        yield Refusal(NOT_FROM_HERE if answer.text.strip() else NOT_HERE, closest, _near(answer.pages))
    if answer.senses:
        yield Senses(answer.senses)
    for conflict in answer.conflicts:
        yield _disagreement(conflict, {source.cited.key: source for source in sources})
    if answer.present:
        title = answer.present.title or answer.present.name
        yield Notice(PRESENT.format(title=title, date=answer.present.date))
    yield from map(Notice, answer.notices)
    yield from (Notice(one.sentence()) for one in answer.missing)
    yield Way(f"Route: {answer.route}. {answer.why}")
    if answer.grounded and answer.sure > 0:
        yield Confidence.of(answer.sure)
    if sources:
        yield Sources(sources)
    if answer.books:
        yield Origin(answer.books)


def numbered(answer: Answer) -> tuple[Source, ...]:
    """The citations in the order of their numbers, from 1 on; one that is there twice counts once."""
    unique = {cited.key: cited for cited in answer.citations}
    return tuple(Source(cited.number or place, cited) for place, cited in enumerate(unique.values(), start=1))


def origin_of(books: Sequence[BookNote], shown: Callable[[str], str] = str) -> str:
    """Which books an answer is from, and how old they are: 'From Wikipedia for Schools, 2007'."""
    named = [_book(book, shown) for book in books]
    if not named:
        return ""
    return f"From {named[0]}" if len(named) == 1 else f"From {'; '.join(named[:-1])}; and {named[-1]}"


def nearest(names: Sequence[str]) -> str:
    """The nearest pages in a sentence, by their names as they are shown; empty where there are none."""
    return f"Related pages: {', '.join(names)}." if names else ""


def in_a_line(text: str) -> str:
    """Rows and items of a page as a line of text: the name of a value before it, rows behind one another."""
    return BREAKS.sub(lambda stop: f"{stop[1] or ','} ", CELLS.sub(": ", text))


def _sentence(line: Line, span: tuple[int, int], sources: dict[str, Source]) -> Sentence:
    text = line.text.rstrip()
    start, end = span if text[slice(*span)].strip() else (0, 0)
    cited = tuple(sources[key] for key in line.keys if key in sources)
    before, short, behind = map(in_a_line, (text[:start], text[start:end], text[end:]))
    return Sentence(before, short, behind, cited)


def _near(pages: Sequence[Looked]) -> tuple[Looked, ...]:
    """The first few pages, of those of one title the first."""
    unique: dict[str, Looked] = {}
    for page in pages:
        if page.title.strip():
            unique.setdefault(page.title, page)
    return tuple(unique.values())[:MOST_NEAR]


def _disagreement(conflict: Conflict, sources: dict[str, Source]) -> Disagreement:
    a = Side(in_a_line(conflict.a_quote.strip()), sources.get(conflict.a_key))
    b = Side(in_a_line(conflict.b_quote.strip()), sources.get(conflict.b_key))
    return Disagreement(conflict.words, (a, b))


def _book(book: BookNote, shown: Callable[[str], str]) -> str:
    name = shown(book.title or book.name) or book.id
    dated = f"{name}, {shown(book.date)}" if book.date else name
    return f"{dated} ({shown(book.flavour)})" if book.flavour else dated
