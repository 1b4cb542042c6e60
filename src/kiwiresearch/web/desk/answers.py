"""An answer as its page shows it: sources, sentences, disagreements, and further reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from kiwiresearch.ask import (
    Answer,
    AnswerBook,
    AnswerCitation,
    BodyPart,
    DisagreementPart,
    Doubt,
    ExaminedPage,
    Headline,
    ModelText,
    NumberedSource,
    OutdatedBook,
    Refusal,
    body_parts,
    footer_parts,
    newest_outdated_book,
    numbered,
)
from kiwiresearch.errors import KiwiError
from kiwiresearch.llm import short_model_name
from kiwiresearch.messages import Catalogue
from kiwiresearch.page import PageDoc, Section, open_page
from kiwiresearch.search import OpenBook, parse_query
from kiwiresearch.text import fold, language_words, stemmer
from kiwiresearch.web.addresses import local_address, page_address
from kiwiresearch.web.book_pages import framed_address
from kiwiresearch.web.context import ServerContext
from kiwiresearch.web.desk.covers import LeadPictures, picture_address
from kiwiresearch.web.desk.pages import section_name
from kiwiresearch.web.desk.typed_words import name_in
from kiwiresearch.zim import EntryRef

MIN_SHARE_OF_PASSAGE = 0.55
"""Of questions about names that no book has, one in sixteen has such a passage; of those that a book could answer but
that were refused, half have one."""
MIN_SHARE_OF_TITLE = 0.2
# "[3]" in the text of a model; not "[2024]", which is a year rather than a source.
MARK = re.compile(r"\[(\d{1,3})\]")
SPACE_IN_BRACKETS = re.compile(r"(?<=[(\[]) +| +(?=[)\]])")
"""Books often have it where a template or a link was left out: "( 1455 - 1485)"."""


@dataclass(frozen=True, slots=True)
class SourceView:
    """A citation: its quote, and where to read it."""

    number: int
    ref: EntryRef
    title: str
    section: str
    quote: str
    book: AnswerBook
    page: str
    """The address of the page at the desk, with the quote marked."""
    frame: str
    """The address of the page alone, for the panel next to the answer."""

    @property
    def mark(self) -> str:
        return f"[{self.number}]"

    @property
    def language(self) -> str:
        return self.book.language or "eng"


@dataclass(frozen=True, slots=True)
class AnswerPiece:
    """A stretch of a line, or the mark of a source in it."""

    text: str
    is_short: bool = False
    """Whether this stretch is the answer itself."""
    source: SourceView | None = None


@dataclass(frozen=True, slots=True)
class LineView:
    """A sentence or a paragraph."""

    pieces: tuple[AnswerPiece, ...]
    language: str = ""
    """The language of the book, if these are words of a book."""

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class SideView:
    """One of two quotes that do not agree."""

    quote: str
    source: SourceView | None


@dataclass(frozen=True, slots=True)
class DisagreementView:
    """A statement that two sources disagree on."""

    words: str
    sides: tuple[SideView, ...]


@dataclass(frozen=True, slots=True)
class NearPage:
    """A page close to a question that no page answers."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class AnswerView:
    """Everything that the page shows of an answer."""

    answer: Answer
    sources: tuple[SourceView, ...]
    lines: tuple[LineView, ...]
    disagreements: tuple[DisagreementView, ...]
    near: tuple[NearPage, ...]
    closest: tuple[SourceView, ...]
    """If there is no answer, the passages that have most of what the question asks about."""
    senses: tuple[NearPage, ...]
    is_doubtful: bool
    """Whether the confidence is low, so that the answer has no headline."""
    headline: str
    """The answer in a few words; empty if no words of a page give it."""
    older: OutdatedBook | None = None
    """If there is no answer, the book that is too old to have it."""

    @property
    def places(self) -> tuple[tuple[SourceView, ...], ...]:
        """The sources grouped by page and section, in the order of their first number."""
        grouped: dict[tuple[EntryRef, str], list[SourceView]] = {}
        for source in self.sources:
            grouped.setdefault((source.ref, source.section), []).append(source)
        return tuple(map(tuple, grouped.values()))

    @property
    def page_count(self) -> int:
        return len({source.ref for source in self.sources})

    @property
    def topic(self) -> str:
        """What to research: the subject of the question, as far as it is known, by the title of its page."""
        # The title only if it has all words of the subject: "Darwin" becomes "Charles Darwin"; "Mars" stays.
        subject = self.answer.subject or name_in(self.answer.asked) or self.answer.asked
        title = self.sources[0].title if self.answer.grounded and self.sources else ""
        return title if set(fold(subject).split()) <= set(fold(title).split()) else subject

    @property
    def model(self) -> str:
        """The model that wrote the answer; empty if these are the books' own words."""
        return short_model_name(self.answer.model)

    def is_answer(self, source: SourceView) -> bool:
        """Whether the quote of a source is the answer itself, which is not shown again below it."""
        return not self.answer.model and any(piece.source == source for line in self.lines for piece in line.pieces)

    @property
    def is_completed(self) -> bool:
        """Whether the question was completed, such as by a name from the question before."""
        return self.answer.asked.strip() != self.answer.question.strip()


def answer_view(answer: Answer, context: ServerContext) -> AnswerView:
    """An answer as its page shows it, with addresses on this server."""
    sources = {source.number: _source(source, context) for source in numbered(answer)}
    parts = list(footer_parts(answer))
    near = next((part.near for part in parts if isinstance(part, Refusal)), ())
    closest, pages, older = ((), (), None) if answer.grounded else _worth_showing(answer, near, context)
    return AnswerView(
        answer,
        tuple(sources.values()),
        tuple(line for part in body_parts(answer) for line in _lines(part, sources)),
        tuple(_disagreement(part, sources) for part in parts if isinstance(part, DisagreementPart)),
        tuple(NearPage(page.title, page_address(page.ref)) for page in pages),
        tuple(_source(NumberedSource(cited.number, cited), context) for cited in closest),
        tuple(NearPage(sense.title, page_address(sense.ref)) for sense in answer.senses),
        any(isinstance(part, Doubt) for part in body_parts(answer)),
        next(
            (
                as_heading(_tidy(part.words))
                for part in body_parts(answer)
                if isinstance(part, Headline) and not answer.verdict
            ),
            "",
        ),
        older,
    )


def _tidy(text: str) -> str:
    return SPACE_IN_BRACKETS.sub("", text)


def as_heading(words: str) -> str:
    """The words with a capital at the beginning, unless their first word has one inside: 'pH', 'iPod'."""
    return words[:1].upper() + words[1:] if words.split(maxsplit=1)[0].islower() else words


def _worth_showing(
    answer: Answer, near: Sequence[ExaminedPage], context: ServerContext
) -> tuple[tuple[AnswerCitation, ...], tuple[ExaminedPage, ...], OutdatedBook | None]:
    """The passages and other pages of a refusal that share rare words with the question; none if the books are busy.

    With the newest book, if the question is about a later year.
    """
    with context.try_locked_finder(TIMEOUT_S) as finder:
        if finder is None:
            return (), (), None
        books = {book.id: book for book in finder.books}

        def share(ref: EntryRef, *texts: str) -> float:
            return _share_of_question(answer.asked, texts, books[ref.book]) if ref.book in books else 0.0

        cited = [(citation, citation.citation) for citation in answer.closest]
        closest = tuple(
            answer_citation
            for answer_citation, at in cited
            if share(at.quote.ref, at.quote.text, at.title) >= MIN_SHARE_OF_PASSAGE
        )
        shown = {citation.citation.quote.ref for citation in closest}
        others = (page for page in near if page.ref not in shown)
        pages = tuple(page for page in others if share(page.ref, page.title) >= MIN_SHARE_OF_TITLE)
        shown |= {page.ref for page in pages}
        return (
            closest,
            pages,
            newest_outdated_book(
                answer.asked, [book.book for book in finder.books], {entry_ref.book for entry_ref in shown}
            ),
        )


def _share_of_question(question: str, texts: Iterable[str], book: OpenBook) -> float:
    """How much of a question some texts have, its rare words counting most: from 0 to 1."""
    stem_of = stemmer(book.language)
    found = {stem_of(word) for text in texts for word in fold(text).split()}
    weights = {term.stem: book.rarity(term.word) for term in parse_query(question, book.language).terms}
    total = sum(weights.values())
    return sum(weight for stem, weight in weights.items() if stem in found) / total if total else 0.0


def answer_as_text(view: AnswerView, t: Catalogue) -> str:
    """An answer as plain text with its numbered sources, to paste into a letter or an essay."""
    lines = [view.answer.asked or view.answer.question, "", *(line.text for line in view.lines)]
    for conflict in view.disagreements:
        lines += ["", t("ask.disagree"), *(f"“{side.quote}”{_mark(side)}" for side in conflict.sides)]
    lines += ["", t("ask.sources")] if view.sources else []
    return "\n".join([*lines, *(_source_as_text(source, t) for source in view.sources)])


def _source_as_text(source: SourceView, t: Catalogue) -> str:
    place = ", ".join(filter(None, (source.title, section_name(source.section, t))))
    book = ", ".join(filter(None, (source.book.title or source.book.name, t.locale.date(source.book.date))))
    return f"{source.mark} {place}. {book}. “{' '.join(source.quote.split())}”"


def _mark(side: SideView) -> str:
    return f" {side.source.mark}" if side.source else ""


def _source(source: NumberedSource, context: ServerContext) -> SourceView:
    citation = source.cited.citation
    quote = citation.quote
    return SourceView(
        source.number,
        quote.ref,
        citation.title,
        citation.section,
        _tidy(quote.text),
        source.cited.book,
        page_address(quote.ref, mark=f"{quote.start}-{quote.end}"),
        framed_address(local_address(context.citation_url(source.cited))),
    )


def _lines(part: BodyPart, sources: Mapping[int, SourceView]) -> Iterator[LineView]:
    if isinstance(part, Headline | Doubt):
        return
    if isinstance(part, ModelText):
        for paragraph in filter(str.strip, part.text.split("\n")):
            yield LineView(tuple(_linked_marks(paragraph, sources)))
        return
    cited = [sources[source.number] for source in part.sources]
    marks = (AnswerPiece(f" {source.mark}", source=source) for source in cited)
    words = (
        AnswerPiece(_tidy(part.before)),
        AnswerPiece(_tidy(part.short), is_short=True),
        AnswerPiece(_tidy(part.after)),
    )
    yield LineView((*(piece for piece in words if piece.text), *marks), cited[0].language if cited else "eng")


def _linked_marks(text: str, sources: Mapping[int, SourceView]) -> Iterator[AnswerPiece]:
    """The text of a model, in which the marks of our sources become links."""
    end = 0
    for found in MARK.finditer(text):
        source = sources.get(int(found[1]))
        if source is not None:
            yield AnswerPiece(text[end : found.start()])
            yield AnswerPiece(found[0], source=source)
            end = found.end()
    yield AnswerPiece(text[end:])


def _disagreement(part: DisagreementPart, sources: Mapping[int, SourceView]) -> DisagreementView:
    sides = (SideView(side.quote, sources[side.source.number] if side.source else None) for side in part.sides)
    return DisagreementView(part.words, tuple(sides))


@dataclass(frozen=True, slots=True)
class AnswerPicture:
    """The lead picture of the page that an answer is from."""

    address: str
    page: str
    caption: str
    alt: str
    language: str


def answer_picture(pictures: LeadPictures, view: AnswerView) -> AnswerPicture | None:
    """The picture beside an answer; None if there is no answer, or its page has no picture."""
    if not view.answer.grounded or not view.sources:
        return None
    source = view.sources[0]
    found = pictures.of(source.ref)
    if found is None:
        return None
    alt = found.alt or found.caption
    return AnswerPicture(picture_address(source.ref), source.page, found.caption, alt, source.language)


MAX_SECTIONS = 6
MAX_HEADING = 80
TIMEOUT_S = 1.0


@dataclass(frozen=True, slots=True)
class FurtherReading:
    """A page, and sections of it by heading and address."""

    title: str
    language: str
    sections: tuple[tuple[str, str], ...]


def further_reading(context: ServerContext, source: SourceView) -> FurtherReading | None:
    """The other sections of a cited page; None if it has none, or if the books are busy."""
    with context.try_locked_finder(TIMEOUT_S) as finder:
        if finder is None:
            return None
        try:
            page = open_page(finder.book(source.ref.book).archive, source.ref.path)
        except KiwiError:
            return None
    address = page_address(source.ref)
    found = [section for section in _worth_reading(page) if section.heading != source.section][:MAX_SECTIONS]
    links = tuple((item.heading, f"{address}?section={quote(item.anchor, errors='replace')}") for item in found)
    return FurtherReading(page.title, source.language, links) if links else None


def _worth_reading(page: PageDoc) -> list[Section]:
    """The top sections of a page that can be linked to, without lists of references and links."""
    words = language_words(page.language)
    silent = words.references | words.see_also
    top = min((section.level for section in page.sections[1:]), default=0)
    return [
        section
        for section in page.sections[1:]
        if section.level == top
        and section.anchor
        and section.heading.casefold() not in silent
        and len(section.heading) <= MAX_HEADING
    ]
