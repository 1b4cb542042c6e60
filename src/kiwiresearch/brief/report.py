"""The brief as a document: the parts a reader expects, in their order, each sentence with its proof."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from kiwiresearch.brief.brief import Brief, Dispute, Figure, Gap, Group, Moment, Source, Statement, View
from kiwiresearch.brief.citing import Citing
from kiwiresearch.brief.document import (
    Block,
    Document,
    Folded,
    Heading,
    Image,
    Items,
    Line,
    Paragraph,
    Passage,
    Points,
    Rows,
    Sentence,
    Span,
    Table,
    Text,
    cited,
    plain,
    words,
)
from kiwiresearch.brief.report_words import (
    ALONE,
    GAPS,
    HEADINGS,
    NOT_KNOWLEDGE,
    NOTHING,
    OF_THE_BOOK,
    ONE_SIDE,
    Section,
    kind_in_words,
)
from kiwiresearch.brief.running import paragraphs
from kiwiresearch.ids import BookId
from kiwiresearch.search.hit import shown
from kiwiresearch.text.plural import counted

COMPACT = 2
"""Groups with no more statements than this are lines of one list."""


NO_ADDRESSES: Mapping[str, str] = MappingProxyType({})


def report(brief: Brief, addresses: Mapping[str, str] = NO_ADDRESSES) -> Document:
    """What is written about the topic, from its summary to the settings of the run.

    Pictures are shown whose `addresses` are given, by their SHA-256.
    """
    language = brief.sources.books[0].language if brief.sources.books else ""
    return Document(f"Research Brief: {brief.topic}", tuple(_Writer(brief, addresses).blocks()), language or "eng")


class _Writer:
    def __init__(self, brief: Brief, addresses: Mapping[str, str]) -> None:
        self._brief = brief
        self._addresses = addresses
        self._citing = Citing(brief)

    def blocks(self) -> Iterator[Block]:
        brief = self._brief
        yield from _opening(brief)
        yield from _part("summary", self._summary(brief))
        yield from _part("body", self._body(brief.body))
        yield from _part("definitions", self._compact(brief.definitions))
        yield from _part("timeline", self._timeline(brief.timeline))
        yield from _part("mechanisms", self._groups(brief.mechanisms))
        small = all(len(group.statements) <= COMPACT for group in brief.actors)
        yield from _part("actors", (self._compact if small else self._groups)(brief.actors))
        yield from _part("disputes", self._disputes(brief.disputes))
        yield from _part("numbers", self._numbers(brief.numbers))
        yield from _part("gaps", self._gaps(brief.gaps))
        yield from _part("bibliography", _bibliography(brief))
        yield from _part("gathering", (Paragraph(words(one)) for one in brief.sources.story))
        yield from _part("metadata", _metadata(brief))

    def _said(self, statement: Statement, line: Line | None = None) -> Sentence:
        proof = self._citing.proof(statement.claims, statement.sureness, statement.text)
        return Sentence(words(statement.text) if line is None else line, proof)

    def _summary(self, brief: Brief) -> Iterator[Block]:
        yield from self._images(None)
        yield from self._running(brief.summary)

    def _body(self, groups: Sequence[Group]) -> Iterator[Block]:
        for number, group in enumerate(groups):
            if group.heading:
                yield Heading(group.heading, 3)
            yield from self._images(number)
            yield from self._running(group.statements)

    def _images(self, part: int | None) -> Iterator[Block]:
        """The pictures of a part; the caption links to the page, unless it is only the page's title."""
        for picture in self._brief.pictures:
            if picture.part == part and picture.sha256 in self._addresses:
                cite = self._citing.page(picture.ref)
                named = Span(f"[{cite.words}]", cite.url)
                caption = words(f"{picture.caption} ", named)
                if picture.caption == cite.words:
                    caption = words(Span(cite.words, cite.url))
                yield Image(self._addresses[picture.sha256], picture.alt or picture.caption, caption)

    def _running(self, statements: Sequence[Statement]) -> Iterator[Block]:
        """Running text: a paragraph for each page that the sentences are from, one after the other."""
        for runs in paragraphs(statements, self._brief.claims):
            yield Passage(tuple(cited(tuple(map(self._said, run.statements))) for run in runs))

    def _bullets(self, statements: Sequence[Statement]) -> Iterator[Block]:
        if statements:
            yield Points(tuple((self._said(statement),) for statement in statements))

    def _compact(self, groups: Sequence[Group]) -> Iterator[Block]:
        """One line for each group, which begins with what it is about."""
        entries = tuple(self._entry(group) for group in groups if group.statements)
        if entries:
            yield Points(entries, role="terms")

    def _entry(self, group: Group) -> Text:
        first, *rest = group.statements
        line = _led_by(group.heading, first.text)
        return (self._said(first, line), *map(self._said, rest))

    def _groups(self, groups: Sequence[Group]) -> Iterator[Block]:
        for group in groups:
            if group.heading.strip():
                yield Heading(group.heading, 3)
            if len(group.statements) == 1:
                yield from self._running(group.statements)
            else:
                yield from self._bullets(group.statements)

    def _timeline(self, moments: Sequence[Moment]) -> Iterator[Block]:
        entries = []
        for moment in moments:
            line = words(Span(moment.when, strong=True), ": ", moment.statement.text)
            entries.append((self._said(moment.statement, line),))
        if entries:
            yield Points(tuple(entries), role="moments", anchor="moment")

    def _disputes(self, disputes: Sequence[Dispute]) -> Iterator[Block]:
        for dispute in disputes:
            if len(dispute.views) > 1:
                yield from self._dispute(dispute)
        yield from self._one_sided([dispute for dispute in disputes if len(dispute.views) == 1])

    def _dispute(self, dispute: Dispute) -> Iterator[Block]:
        yield Heading(dispute.about or "A disagreement", 3)
        if dispute.kind:
            yield Paragraph(words(kind_in_words(dispute.kind)))
            yield self._side_by_side(dispute)
        else:
            views = tuple(self._view(_letter(number), view) for number, view in enumerate(dispute.views))
            yield Points(views, role="views")

    def _one_sided(self, disputes: Sequence[Dispute]) -> Iterator[Block]:
        """Views that nothing on the pages read stands against."""
        views = [(dispute.about, view) for dispute in disputes for view in dispute.views]
        if views:
            yield Heading(ALONE, 3)
            yield Paragraph(words(Span(ONE_SIDE, emphasis=True)))
            yield Points(tuple(self._view(about, view) for about, view in views), role="views")

    def _view(self, name: str, view: View) -> Text:
        holder = f" ({view.holder})" if view.holder else ""
        line = words(Span(name, strong=True), f"{holder}: ", view.statement.text)
        said = self._said(view.statement, line)
        return (said, Sentence(words(Span(f"Signals: {_cues(view)}.", emphasis=True)))) if view.cues else (said,)

    def _side_by_side(self, dispute: Dispute) -> Table:
        views = dispute.views
        names = [f"{_letter(number)}{f' ({view.holder})' if view.holder else ''}" for number, view in enumerate(views)]
        quotes = [self._citing.quote(view.statement.claims) for view in views]
        quoted: list[Text] = [plain(f"“{quote}”") for quote in quotes]
        rows = [(plain("What is said"), *((self._said(view.statement),) for view in views))]
        if quotes == [view.statement.text for view in views]:
            # The same words twice would tell nobody more.
            rows = []
            quoted = [(self._said(view.statement, words(f"“{view.statement.text}”")),) for view in views]
        rows.append((plain("In the page’s words"), *quoted))
        if any(view.cues for view in views):
            rows.append((plain("Signals"), *(plain(_cues(view)) for view in views)))
        return Table(("", *names), tuple(rows), f"Both sides: {dispute.about}", "sides")

    def _numbers(self, figures: Sequence[Figure]) -> Iterator[Block]:
        if figures:
            header = ("Value", "What it measures", "When", "Which pages say it")
            yield Table(header, tuple(map(self._figure, figures)), HEADINGS["numbers"], "numbers")

    def _figure(self, figure: Figure) -> tuple[Text, ...]:
        label = f"{figure.what[:1].upper()}{figure.what[1:]}"
        what = plain(Span(label, strong=True), f": {figure.of}") if label else plain(figure.statement.text)
        pages: Text = (self._said(figure.statement, ()),)
        if not figure.disagrees:
            return plain(figure.value), what, plain(figure.when), pages
        value = plain(Span(figure.value, strong=True), " ⚠")
        why = words("⚠ ", Span("Disagrees", strong=True), f": {kind_in_words(figure.disagrees)}")
        return value, what, plain(figure.when), (*pages, Sentence(why))

    def _gaps(self, gaps: Sequence[Gap]) -> Iterator[Block]:
        for kind, heading in GAPS.items():
            entries = tuple(self._gap(gap) for gap in gaps if gap.kind == kind)
            if not entries:
                continue
            yield Heading(heading, 3)
            if kind in OF_THE_BOOK:
                yield Paragraph(words(NOT_KNOWLEDGE))
            yield Points(entries)

    def _gap(self, gap: Gap) -> Text:
        proof = self._citing.proof(gap.claims, shown=gap.text) if gap.claims else None
        return (Sentence(words(gap.text), proof),)


def _part(key: Section, blocks: Iterator[Block]) -> Iterator[Block]:
    """A part under its heading; an empty one is left out, or says that it is empty."""
    inside = tuple(blocks)
    if not inside and key in NOTHING:
        inside = (Paragraph(words(NOTHING[key])),)
    if inside:
        yield Heading(HEADINGS[key], 2, key)
        yield from inside


def _opening(brief: Brief) -> Iterator[Block]:
    yield Paragraph(words(_made_from(brief)), "origin")
    if brief.understood:
        understood = words(Span("Understood as:", strong=True), f" {' › '.join(brief.understood)}")
        yield Paragraph(understood, "understood")
    if brief.senses:
        others = words(Span("Other senses:", strong=True), f" {', '.join(brief.senses)}")
        yield Paragraph(others, "senses")
    for note in brief.notes:
        yield Paragraph(words(Span("Note:", strong=True), f" {note}"), "note")


def _made_from(brief: Brief) -> str:
    count = len(brief.sources.pages)
    books = []
    for book in brief.sources.books:
        told = [book.name, book.date, book.flavour and f"flavour {book.flavour}"]
        known = ", ".join(part for part in told if part)
        books.append(f"“{book.title or book.name}”" + (f" ({known})" if known else ""))
    named = f" of {' and '.join(books)}" if books else ""
    return f"Made from {counted(count, 'page')}{named}."


def _led_by(heading: str, text: str) -> Line:
    """The text with what it is about set apart: in its first words, or before them."""
    name = heading.strip()
    if not name:
        return words(text)
    found = re.match(rf"((?:the|an?)\s+)?({re.escape(name)})(?=[\s,:;])", text, re.IGNORECASE)
    if found is None:
        return words(Span(name, strong=True), ": ", text)
    return words(found[1] or "", Span(found[2], strong=True), text[found.end() :])


def _letter(number: int) -> str:
    return f"View {chr(ord('A') + number) if number < 26 else number + 1}"


def _cues(view: View) -> str:
    return ", ".join(f"“{cue}”" for cue in view.cues)


def _bibliography(brief: Brief) -> Iterator[Block]:
    """The pages that are cited, and folded those that were read and not used."""
    titles = {book.id: book.title or book.name for book in brief.sources.books}
    cited = {claim.ref for claim in brief.claims.values()}
    used = tuple(_source(source, titles) for source in brief.sources.pages if source.ref in cited)
    others = tuple(_source(source, titles) for source in brief.sources.pages if source.ref not in cited)
    if used:
        yield Items(used, numbered=True)
    if others:
        yield Folded(f"{counted(len(others), 'page')} read and not cited", Items(others))


def _source(source: Source, titles: dict[BookId, str]) -> Line:
    book = f" ({titles.get(source.ref.book, source.ref.book)})" if len(titles) > 1 else ""
    why = f": {source.why}" if source.why else ""
    told = f"{book} — depth {source.depth}, {shown(source.points)} points{why}"
    return words(Span(source.title.strip() or source.ref.path, source.url), told)


def _metadata(brief: Brief) -> Iterator[Block]:
    if brief.sources.settings:
        yield Rows(("Setting", "Value"), brief.sources.settings)
