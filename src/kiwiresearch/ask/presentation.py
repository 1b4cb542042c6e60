"""An answer as a sequence of parts: what every interface shows, in which order and in which words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from kiwiresearch.ask.answer import Answer, AnswerBook, AnswerCitation, AnswerConflict, AnswerSentence, ExaminedPage
from kiwiresearch.ask.refusal import NO_ANSWER, NO_SOURCED_ANSWER
from kiwiresearch.search import Sense

CLOSEST = "Closest passages:"
SENSES = "Other meanings:"
PRESENT_NOTE = "The question is about the present, but {title} is from {date}."
YES_SENTENCE, NO_SENTENCE = "Yes.", "No."
DOUBT = "Closest passage found. It may not answer your question."
DISAGREEMENT = "The sources disagree."
MAX_NEAR = 3
Level = Literal["high", "medium", "low"]
MIN_HIGH_PERCENT, MIN_MEDIUM_PERCENT = 75, 45
"""The lowest percentages that are called high and medium confidence."""

# 'Born:<tab>1809' and 'Born<tab>1809' both become 'Born: 1809'.
CELLS = re.compile(r":?\t+")
# A line that ends without punctuation gets a comma: 'Paris' and 'Lyon' on two lines become 'Paris, Lyon'.
BREAKS = re.compile(r"([.,:;!?…]?) *\n\s*")


@dataclass(frozen=True, slots=True)
class NumberedSource:
    """A citation and its number in the answer."""

    number: int
    cited: AnswerCitation

    @property
    def mark(self) -> str:
        return f"[{self.number}]"


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A sentence or row of a page on one line, split around the few words that are the answer."""

    before: str
    short: str
    after: str
    sources: tuple[NumberedSource, ...]

    @property
    def marks(self) -> str:
        return "".join(source.mark for source in self.sources)


@dataclass(frozen=True, slots=True)
class ModelText:
    """A model's text, with its citation marks."""

    text: str


@dataclass(frozen=True, slots=True)
class Headline:
    """The answer in a few words: yes, no, or a part of the sentence that follows."""

    words: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """Stands in place of the headline if the confidence is low: a wrong answer must not look like a right one."""

    words: str = DOUBT


@dataclass(frozen=True, slots=True)
class ClosePassage:
    """A sentence that comes close to an answer."""

    text: str
    cited: AnswerCitation


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: the books have no answer. With the passages and pages that come closest."""

    words: str
    closest: tuple[ClosePassage, ...]
    near: tuple[ExaminedPage, ...]


@dataclass(frozen=True, slots=True)
class Senses:
    """Other meanings of the name in the question."""

    senses: tuple[Sense, ...]


@dataclass(frozen=True, slots=True)
class DisagreeingQuote:
    """One of two quotes that do not agree."""

    quote: str
    source: NumberedSource | None

    @property
    def mark(self) -> str:
        return f" {self.source.mark}" if self.source else ""


@dataclass(frozen=True, slots=True)
class DisagreementPart:
    """A disagreement between two sources, and what they say."""

    words: str
    sides: tuple[DisagreeingQuote, DisagreeingQuote]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a reader should know in addition to the answer."""

    words: str


@dataclass(frozen=True, slots=True)
class RouteNote:
    """How the answer was found; shown on request."""

    words: str


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely the answer is to be right."""

    level: Level
    percent: int

    @classmethod
    def of(cls, probability: float) -> Confidence:
        """Rounded to steps of five, and never 0 or 100, since nothing is certain."""
        percent = min(max(round(probability * 20) * 5, 5), 95)
        return cls(
            "high" if percent >= MIN_HIGH_PERCENT else "medium" if percent >= MIN_MEDIUM_PERCENT else "low", percent
        )

    @property
    def words(self) -> str:
        return f"Confidence: {self.level} (about {self.percent}%)."


@dataclass(frozen=True, slots=True)
class SourceList:
    """All citations, numbered; shown first if the answer is streamed."""

    sources: tuple[NumberedSource, ...]


@dataclass(frozen=True, slots=True)
class BookOrigin:
    """Which books the answer is from, and how old they are."""

    books: tuple[AnswerBook, ...]

    def words(self, shown: Callable[[str], str]) -> str:
        return origin_of(self.books, shown)


BodyPart = Headline | Doubt | QuotedSentence | ModelText
AnswerPart = (
    Headline
    | Doubt
    | QuotedSentence
    | ModelText
    | Refusal
    | Senses
    | DisagreementPart
    | Notice
    | RouteNote
    | Confidence
    | SourceList
    | BookOrigin
)


def body_parts(answer: Answer) -> Iterator[BodyPart]:
    """The answer itself, without duplicate sentences; nothing if there is none."""
    if not answer.model and answer.lines:
        verdict = {"yes": YES_SENTENCE, "no": NO_SENTENCE, "": ""}[answer.verdict]
        confidence = _confidence(answer)
        if confidence and confidence.level == "low":
            yield Doubt()
        elif words := verdict or answer.chosen or on_one_line(answer.short.strip()):
            yield Headline(words)
        sources = {source.cited.key: source for source in numbered(answer)}
        for place, line in enumerate(dict.fromkeys(answer.lines)):
            yield _sentence(line, (0, 0) if place else answer.short_span, sources)
    elif answer.text.strip():
        yield ModelText(answer.text.strip())


def footer_parts(answer: Answer) -> Iterator[AnswerPart]:
    """The parts below the answer: a refusal, disagreements, notices and sources."""
    sources = numbered(answer)
    if not answer.grounded:
        closest = tuple(
            ClosePassage(on_one_line(citation.citation.quote.text), citation) for citation in answer.closest
        )
        yield Refusal(NO_SOURCED_ANSWER if answer.text.strip() else NO_ANSWER, closest, _near(answer.pages))
    if answer.senses:
        yield Senses(answer.senses)
    for conflict in answer.conflicts:
        yield _disagreement(conflict, {source.cited.key: source for source in sources})
    if answer.as_of_book:
        title = answer.as_of_book.title or answer.as_of_book.name
        yield Notice(PRESENT_NOTE.format(title=title, date=answer.as_of_book.date))
    yield from map(Notice, answer.notices)
    yield from (Notice(missing_books.sentence()) for missing_books in answer.missing)
    yield RouteNote(
        f"Found by title: {answer.why[:1].lower()}{answer.why[1:]}" if answer.route == "title" else answer.why
    )
    if confidence := _confidence(answer):
        yield confidence
    if sources:
        yield SourceList(sources)
    if answer.books:
        yield BookOrigin(answer.books)


def _confidence(answer: Answer) -> Confidence | None:
    return Confidence.of(answer.confidence) if answer.grounded and answer.confidence > 0 else None


def numbered(answer: Answer) -> tuple[NumberedSource, ...]:
    """The citations without duplicates, each with its number."""
    unique = {cited.key: cited for cited in answer.citations}
    return tuple(NumberedSource(cited.number or place, cited) for place, cited in enumerate(unique.values(), start=1))


def origin_of(books: Sequence[AnswerBook], shown: Callable[[str], str] = str) -> str:
    """The books an answer is from, with their dates: 'From Wikipedia for Schools, 2007'."""
    named = []
    for book in books:
        name = shown(book.title or book.name) or book.id
        dated = f"{name}, {shown(book.date)}" if book.date else name
        named.append(f"{dated} ({shown(book.flavour)})" if book.flavour else dated)
    if not named:
        return ""
    return f"From {named[0]}" if len(named) == 1 else f"From {'; '.join(named[:-1])}; and {named[-1]}"


def related_pages(names: Sequence[str]) -> str:
    """The nearest pages in a sentence; empty if there are none."""
    return f"Related pages: {', '.join(names)}." if names else ""


def on_one_line(text: str) -> str:
    """Rows and list items of a page as one line of text: 'Born: 1809, Died: 1882'."""
    return BREAKS.sub(lambda stop: f"{stop[1] or ','} ", CELLS.sub(": ", text))


def _sentence(line: AnswerSentence, span: tuple[int, int], sources: dict[str, NumberedSource]) -> QuotedSentence:
    text = line.text.rstrip()
    start, end = span if text[slice(*span)].strip() else (0, 0)
    cited = tuple(sources[key] for key in line.keys if key in sources)
    before, short, after = map(on_one_line, (text[:start], text[start:end], text[end:]))
    return QuotedSentence(before, short, after, cited)


def _near(pages: Sequence[ExaminedPage]) -> tuple[ExaminedPage, ...]:
    """The first few pages with different titles."""
    unique: dict[str, ExaminedPage] = {}
    for page in pages:
        if page.title.strip():
            unique.setdefault(page.title, page)
    return tuple(unique.values())[:MAX_NEAR]


def _disagreement(conflict: AnswerConflict, sources: dict[str, NumberedSource]) -> DisagreementPart:
    sides = (conflict.a_quote, conflict.a_key), (conflict.b_quote, conflict.b_key)
    a, b = (DisagreeingQuote(on_one_line(quote.strip()), sources.get(key)) for quote, key in sides)
    return DisagreementPart(conflict.words, (a, b))
