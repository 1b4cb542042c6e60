"""A brief as a document: its parts in reading order under fixed headings, each sentence with its proof."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Literal

from kiwiresearch.brief.brief import (
    Brief,
    BriefSource,
    Dispute,
    DisputeView,
    Figure,
    Gap,
    PartKey,
    Statement,
    StatementGroup,
    TimelineMoment,
    ValueDifference,
)
from kiwiresearch.brief.citations import BriefCitations, paragraphs
from kiwiresearch.brief.legend import legend, setting_row
from kiwiresearch.document import (
    Block,
    CitedParagraph,
    CitedSentences,
    CollapsedList,
    Document,
    Heading,
    Image,
    Line,
    LineList,
    Paragraph,
    PlainTable,
    Sentence,
    SentenceList,
    Sentences,
    Span,
    Table,
    cell,
    line_of,
)
from kiwiresearch.ids import BookId
from kiwiresearch.search import points_text
from kiwiresearch.text import count_of

Section = PartKey | Literal["legend", "bibliography", "gathering", "metadata", "about"]

HEADINGS: dict[Section, str] = {
    "summary": "Executive Summary",
    "body": "Findings",
    "definitions": "Key Concepts & Definitions",
    "timeline": "Timeline / Historical Development",
    "mechanisms": "Mechanisms / Explanations",
    "actors": "Key Actors",
    "disputes": "Competing Views & Disputes",
    "numbers": "Numbers & Quantitative Claims",
    "gaps": "What Wikipedia Doesn’t Settle Yet",
    "legend": "How to read this brief",
    "bibliography": "Bibliography",
    "gathering": "How the sources were found",
    "metadata": "Run Metadata",
    "about": "About this document",
}

EMPTY_PART_NOTES: dict[Section, str] = {
    "summary": "No sentence on the pages read is clearly about the topic.",
    "definitions": "No definitions were found.",
    "mechanisms": "No further causes or explanations were found.",
    "disputes": "No competing views or contradicting values were found.",
    "numbers": "No numbers were found.",
    "gaps": "No open questions or gaps were found.",
    "bibliography": "No pages were read.",
}
"""The text for empty parts that every brief has."""

ONE_SIDED_HEADING = "Views without an opposing view"
ONE_SIDED_NOTE = "For these, the sources give only one side."

DISAGREEMENT_KINDS = {
    "different year": "The values are from different years.",
    "different scope": "The values describe different things or areas.",
    "unit or rounding": "The values differ only in units or rounding.",
    "estimate range": "The values are estimates with different ranges.",
    "contradiction": "The pages contradict each other.",
}

GAP_HEADINGS = {
    "open": "Questions the pages leave open",
    "concept": "Central concepts with little information",
    "hedged": "Uncertain statements without references",
    "missing page": "Pages missing from the book",
    "introductions only": "Books with introductions only",
}
"""The kinds of gaps, in the order of the report."""

BOOK_GAPS = frozenset({"missing page", "introductions only"})
"""Gaps that a fuller book would close."""

BOOK_GAP_NOTE = "This is missing from the book. It does not mean that nothing is known about it."


def disagreement_text(difference: ValueDifference) -> str:
    """A kind of disagreement and its reason, as sentences."""
    known = DISAGREEMENT_KINDS.get(difference.kind.casefold())
    return f"{known} {_sentence(difference.why)}".strip() if known else _sentence(str(difference))


def _sentence(text: str) -> str:
    text = text.strip()
    if not text:
        return ""
    return f"{text[0].upper()}{text[1:]}" + ("" if text.endswith((".", "!", "?", "…")) else ".")


DOUBTS = frozenset({"hedged", "disputed"})
"""Shown in brackets in prose; that several pages say the same is visible from the citations."""

MAX_COMPACT_STATEMENTS = 2
"""If no group has more statements, each is an item of one list."""

NO_ADDRESSES: Mapping[str, str] = MappingProxyType({})


def brief_document(brief: Brief, addresses: Mapping[str, str] = NO_ADDRESSES, *, is_shared: bool = False) -> Document:
    """The brief from its summary to the settings of the run.

    It shows the pictures whose `addresses` are given, by their SHA-256. A copy that `is_shared` with other people has
    no empty parts but the summary, and a line about its origin instead of the settings.
    """
    language = brief.sources.books[0].language if brief.sources.books else ""
    blocks = tuple(_ReportWriter(brief, addresses, is_shared=is_shared).blocks())
    return Document(f"Research Brief: {brief.topic}", blocks, language or "eng")


class _ReportWriter:
    def __init__(self, brief: Brief, addresses: Mapping[str, str], *, is_shared: bool) -> None:
        self._brief = brief
        self._addresses = addresses
        self._is_shared = is_shared
        self._citing = BriefCitations(brief)

    def blocks(self) -> Iterator[Block]:
        brief = self._brief
        yield from _opening(brief, _origin(brief) if self._is_shared else _made_from(brief))
        yield from self._part("summary", chain(self._images(None), self._prose(brief.summary)))
        yield from self._part("body", self._body(brief.body))
        yield from self._part("definitions", self._compact(brief.definitions))
        yield from self._part("timeline", self._timeline(brief.timeline))
        yield from self._part("mechanisms", self._groups(brief.mechanisms))
        small = all(len(group.statements) <= MAX_COMPACT_STATEMENTS for group in brief.actors)
        yield from self._part("actors", (self._compact if small else self._groups)(brief.actors))
        yield from self._part("disputes", self._disputes(brief.disputes))
        yield from self._part("numbers", self._numbers(brief.numbers))
        yield from self._part("gaps", self._gaps(brief.gaps))
        yield from self._part("legend", legend() if brief.claims else ())
        yield from self._part("bibliography", self._bibliography())
        yield from self._part("gathering", (Paragraph(line_of(message)) for message in brief.story))
        if self._is_shared:
            yield from self._part("about", (Paragraph(line_of(about_document(brief))),))
            return
        settings = tuple(map(setting_row, brief.sources.settings))
        yield from self._part("metadata", (PlainTable(("Setting", "Value"), settings),) if settings else ())

    def _part(self, key: Section, blocks: Iterable[Block]) -> Iterator[Block]:
        """A part under its heading; an empty one is left out, or says that it is empty."""
        inside = tuple(blocks)
        if not inside and key in EMPTY_PART_NOTES and (key == "summary" or not self._is_shared):
            inside = (Paragraph(line_of(EMPTY_PART_NOTES[key])),)
        if inside:
            yield Heading(line_of(HEADINGS[key]), 2, key)
            yield from inside

    def _proven(self, statement: Statement, line: Line | None = None) -> Sentence:
        proof = self._citing.proof(statement.claims, statement.sureness, statement.text)
        return Sentence(line_of(statement.text) if line is None else line, proof)

    def _body(self, groups: Sequence[StatementGroup]) -> Iterator[Block]:
        for index, group in enumerate(groups):
            if group.heading:
                yield Heading(line_of(group.heading), 3)
            yield from self._images(index)
            yield from self._prose(group.statements)

    def _images(self, part: int | None) -> Iterator[Block]:
        """The pictures of a part; the caption links to the page, unless it is only the page's title."""
        for picture in self._brief.pictures:
            if picture.part == part and picture.sha256 in self._addresses:
                cite = self._citing.page(picture.ref)
                named = Span(f"[{cite.words}]", cite.url)
                caption = line_of(f"{picture.caption} ", named)
                if picture.caption == cite.words:
                    caption = line_of(Span(cite.words, cite.url))
                yield Image(self._addresses[picture.sha256], picture.alt or picture.caption, caption)

    def _prose(self, statements: Sequence[Statement]) -> Iterator[Block]:
        """A paragraph for each page that the sentences are from."""
        for groups in paragraphs(statements, self._brief.claims):
            yield CitedParagraph(tuple(self._cited_sentences(group.statements) for group in groups))

    def _cited_sentences(self, statements: Sequence[Statement]) -> CitedSentences:
        sentences = (
            Sentence(line_of(statement.text), doubt=statement.sureness if statement.sureness in DOUBTS else "")
            for statement in statements
        )
        return CitedSentences(tuple(sentences), self._citing.proof_of_run(statements))

    def _compact(self, groups: Sequence[StatementGroup]) -> Iterator[Block]:
        """One item for each group, starting with what it is about."""
        entries = tuple(self._entry(group) for group in groups if group.statements)
        if entries:
            yield SentenceList(entries, css_class="terms")

    def _entry(self, group: StatementGroup) -> Sentences:
        first, *rest = group.statements
        line = _led_by(group.heading, first.text)
        return (self._proven(first, line), *map(self._proven, rest))

    def _groups(self, groups: Sequence[StatementGroup]) -> Iterator[Block]:
        for group in groups:
            if group.heading.strip():
                yield Heading(line_of(group.heading), 3)
            if len(group.statements) == 1:
                yield from self._prose(group.statements)
            elif group.statements:
                yield SentenceList(tuple((self._proven(statement),) for statement in group.statements))

    def _timeline(self, moments: Sequence[TimelineMoment]) -> Iterator[Block]:
        lines = (line_of(Span(moment.when, strong=True), ": ", moment.statement.text) for moment in moments)
        entries = tuple((self._proven(moment.statement, line),) for moment, line in zip(moments, lines, strict=True))
        if entries:
            yield SentenceList(entries, css_class="moments", anchor="moment")

    def _disputes(self, disputes: Sequence[Dispute]) -> Iterator[Block]:
        for dispute in disputes:
            if len(dispute.views) > 1:
                yield from self._dispute(dispute)
        yield from self._one_sided([dispute for dispute in disputes if len(dispute.views) == 1])

    def _dispute(self, dispute: Dispute) -> Iterator[Block]:
        yield Heading(line_of(dispute.about or "Disagreement"), 3)
        if dispute.difference:
            yield Paragraph(line_of(disagreement_text(dispute.difference)))
            yield self._side_by_side(dispute)
        else:
            views = tuple(self._view(_letter(index), view) for index, view in enumerate(dispute.views))
            yield SentenceList(views, css_class="views")

    def _one_sided(self, disputes: Sequence[Dispute]) -> Iterator[Block]:
        """Views that no page opposes."""
        views = [(dispute.about, view) for dispute in disputes for view in dispute.views]
        if views:
            yield Heading(line_of(ONE_SIDED_HEADING), 3)
            yield Paragraph(line_of(Span(ONE_SIDED_NOTE, emphasis=True)))
            yield SentenceList(tuple(self._view(about, view) for about, view in views), css_class="views")

    def _view(self, name: str, view: DisputeView) -> Sentences:
        holder = f" ({view.holder})" if view.holder else ""
        line = line_of(Span(name, strong=True), f"{holder}: ", view.statement.text)
        proven = self._proven(view.statement, line)
        if not view.cues:
            return (proven,)
        return (proven, Sentence(line_of(Span(f"Hedging words: {_quoted_cues(view)}.", emphasis=True))))

    def _side_by_side(self, dispute: Dispute) -> Table:
        views = dispute.views
        names = [f"{_letter(index)}{f' ({view.holder})' if view.holder else ''}" for index, view in enumerate(views)]
        quotes = [self._citing.quote(view.statement.claims) for view in views]
        quoted: list[Sentences] = [cell(f"“{quote}”") for quote in quotes]
        rows = [(cell("Statement"), *((self._proven(view.statement),) for view in views))]
        if quotes == [view.statement.text for view in views]:
            # Statements and quotes have the same text here, so it is shown only once.
            rows = []
            quoted = [(self._proven(view.statement, line_of(f"“{view.statement.text}”")),) for view in views]
        rows.append((cell("Quote"), *quoted))
        if any(view.cues for view in views):
            rows.append((cell("Hedging words"), *(cell(_quoted_cues(view)) for view in views)))
        return Table(("", *names), tuple(rows), f"Both sides: {dispute.about}", "sides")

    def _numbers(self, figures: Sequence[Figure]) -> Iterator[Block]:
        if figures:
            header = ("Value", "What it measures", "Date", "Sources")
            yield Table(header, tuple(map(self._figure, figures)), HEADINGS["numbers"], "numbers")

    def _figure(self, figure: Figure) -> tuple[Sentences, ...]:
        label = f"{figure.what[:1].upper()}{figure.what[1:]}"
        what = cell(Span(label, strong=True), f": {figure.of}") if label else cell(figure.statement.text)
        pages: Sentences = (self._proven(figure.statement, ()),)
        if not figure.difference:
            return cell(figure.value), what, cell(figure.when), pages
        value = cell(Span(figure.value, strong=True), " ⚠")
        why = line_of("⚠ ", Span("Disagrees", strong=True), f": {disagreement_text(figure.difference)}")
        return value, what, cell(figure.when), (*pages, Sentence(why))

    def _gaps(self, gaps: Sequence[Gap]) -> Iterator[Block]:
        for kind, heading in GAP_HEADINGS.items():
            entries = tuple(self._gap(gap) for gap in gaps if gap.kind == kind)
            if not entries:
                continue
            yield Heading(line_of(heading), 3)
            if kind in BOOK_GAPS:
                yield Paragraph(line_of(BOOK_GAP_NOTE))
            yield SentenceList(entries)

    def _gap(self, gap: Gap) -> Sentences:
        proof = self._citing.proof(gap.claims, shown=gap.text) if gap.claims else None
        return (Sentence(line_of(gap.text), proof),)

    def _bibliography(self) -> Iterator[Block]:
        """The pages that are cited, and a collapsed list of those that are not."""
        sources = self._brief.sources
        titles = {book.id: book.title or book.name for book in sources.books}
        cited = self._brief.cited_pages
        used = tuple(self._source(source, titles) for source in cited)
        others = tuple(self._source(source, titles) for source in sources.pages if source not in cited)
        if used:
            yield LineList(used, numbered=True)
        if others:
            yield CollapsedList(f"{count_of(len(others), 'page')} read but not cited", LineList(others))

    def _source(self, source: BriefSource, titles: Mapping[BookId, str]) -> Line:
        book = f" ({titles.get(source.ref.book, source.ref.book)})" if len(titles) > 1 else ""
        score = "" if self._is_shared else f" — depth {source.depth}, score {points_text(source.points)}"
        why = (f" — {source.why}" if self._is_shared else f": {source.why}") if source.why else ""
        return line_of(Span(source.title.strip() or source.ref.path, source.url), f"{book}{score}{why}")


def _opening(brief: Brief, origin: str) -> Iterator[Block]:
    yield Paragraph(line_of(origin), "origin")
    if brief.understood:
        understood = line_of(Span("Understood as:", strong=True), f" {' › '.join(brief.understood)}")
        yield Paragraph(understood, "understood")
    if brief.senses:
        others = line_of(Span("Other meanings:", strong=True), f" {', '.join(brief.senses)}")
        yield Paragraph(others, "senses")
    for note in brief.notes:
        yield Paragraph(line_of(Span("Note:", strong=True), f" {note}"), "note")


def _made_from(brief: Brief) -> str:
    count = len(brief.sources.pages)
    books = []
    for book in brief.sources.books:
        details = [book.name, book.date, book.flavour and f"flavour {book.flavour}"]
        known = ", ".join(part for part in details if part)
        books.append(f"“{book.title or book.name}”" + (f" ({known})" if known else ""))
    named = f" from {' and '.join(books)}" if books else ""
    return f"Based on {count_of(count, 'page')}{named}."


def _origin(brief: Brief) -> str:
    """As `_made_from`, but a brief that one article alone supports names it."""
    cited = brief.cited_pages
    if len(cited) != 1:
        return _made_from(brief)
    book = next((book for book in brief.sources.books if book.id == cited[0].ref.book), None)
    named = "" if book is None else f" of “{book.title or book.name}”" + (f" ({book.date})" if book.date else "")
    return f"Based on one article: “{cited[0].title}”{named}."


SHORT_FINGERPRINT = 12


def about_document(brief: Brief) -> str:
    """What somebody needs who wants to make the same brief: a line for the end of a document."""
    known = dict(brief.sources.settings)
    version, fingerprint = known.get("kiwiresearch", ""), known.get("fingerprint", "").rpartition(":")[2]
    made = (
        f"Made with kiwiresearch{f' {version}' if version else ''} from {count_of(len(brief.sources.pages), 'page')}."
    )
    return made + (f" Fingerprint of the research: {fingerprint[:SHORT_FINGERPRINT]}." if fingerprint else "")


def _led_by(heading: str, text: str) -> Line:
    """The text with its subject highlighted: in its first words, or before them."""
    name = heading.strip()
    if not name:
        return line_of(text)
    found = re.match(rf"((?:the|an?)\s+)?({re.escape(name)})(?=[\s,:;])", text, re.IGNORECASE)
    if found is None:
        return line_of(Span(name, strong=True), ": ", text)
    return line_of(found[1] or "", Span(found[2], strong=True), text[found.end() :])


def _letter(number: int) -> str:
    return f"View {chr(ord('A') + number) if number < 26 else number + 1}"


def _quoted_cues(view: DisputeView) -> str:
    return ", ".join(f"“{cue}”" for cue in view.cues)
