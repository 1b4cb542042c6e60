"""An answer as its page shows it: sources first, then sentences whose marks lead to them, then all beside."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kiwiresearch.ask.answer import Answer, BookNote
from kiwiresearch.ask.wording import (
    Confidence,
    Disagreement,
    Headline,
    Refusal,
    Sentence,
    Source,
    Worded,
    beside,
    numbered,
    words_in,
)
from kiwiresearch.web.desk.pages import local
from kiwiresearch.web.desk.telling import page_address
from kiwiresearch.web.desk.words import Words
from kiwiresearch.web.reader_open import framed
from kiwiresearch.web.room import Room
from kiwiresearch.zim.entry import EntryRef

MARK = re.compile(r"\[(\d{1,3})\]")
MODEL_FILE = re.compile(r"'[^']*[/\\]([^'/\\]+)\.gguf'")
"""A model in a notice, named by the path of its file."""


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A citation: what it quotes, and where that is read."""

    number: int
    ref: EntryRef
    title: str
    section: str
    quote: str
    book: BookNote
    page: str
    """The page at the desk, the words marked."""
    frame: str
    """The page alone, for the place beside the answer."""

    @property
    def mark(self) -> str:
        return f"[{self.number}]"

    @property
    def language(self) -> str:
        return self.book.language or "eng"


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a line, or the mark of a source."""

    text: str
    is_short: bool = False
    """Whether these few words are the answer."""
    source: ShownSource | None = None


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A sentence or a paragraph."""

    pieces: tuple[Piece, ...]
    language: str = ""
    """The language of the book where the words are a book's own."""

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One of two quotes that do not agree."""

    quote: str
    source: ShownSource | None


@dataclass(frozen=True, slots=True)
class ShownDisagreement:
    """What two sources do not agree in."""

    words: str
    sides: tuple[ShownSide, ...]


@dataclass(frozen=True, slots=True)
class NearPage:
    """A page that comes near a question nothing answers."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """All that the page tells of an answer."""

    answer: Answer
    sources: tuple[ShownSource, ...]
    lines: tuple[ShownLine, ...]
    disagreements: tuple[ShownDisagreement, ...]
    near: tuple[NearPage, ...]
    closest: tuple[ShownSource, ...]
    """What comes close to an answer, where there is none."""
    senses: tuple[NearPage, ...]
    confidence: Confidence | None
    headline: str
    """The answer in a few words; empty where they cannot be read off."""

    @property
    def model(self) -> str:
        """The model that worded the answer; empty where these are the books' own words."""
        return model_name(self.answer.model)

    @property
    def notices(self) -> tuple[str, ...]:
        return tuple(MODEL_FILE.sub(r"'\1'", notice) for notice in self.answer.notices)

    def is_told(self, source: ShownSource) -> bool:
        """Whether the words of a source are the answer itself, and need not be shown again below it."""
        return not self.answer.model and any(piece.source == source for line in self.lines for piece in line.pieces)

    @property
    def is_understood_otherwise(self) -> bool:
        """Whether something was put into the question that the reader left out."""
        return self.answer.asked.strip() != self.answer.question.strip()


def model_name(name: str) -> str:
    """The name of a model for people: servers often give the whole path of its file."""
    return re.split(r"[/\\]", name)[-1].removesuffix(".gguf")


def shown(answer: Answer, room: Room) -> ShownAnswer:
    """An answer with the addresses of this server."""
    sources = {source.number: _source(source, room) for source in numbered(answer)}
    parts = list(beside(answer))
    near = next((part.near for part in parts if isinstance(part, Refusal)), ())
    closest = [Source(cited.number, cited) for cited in answer.closest]
    return ShownAnswer(
        answer,
        tuple(sources.values()),
        tuple(line for part in words_in(answer) for line in _lines(part, sources)),
        tuple(_disagreement(part, sources) for part in parts if isinstance(part, Disagreement)),
        tuple(NearPage(page.title, page_address(page.ref)) for page in near),
        tuple(_source(source, room) for source in closest),
        tuple(NearPage(sense.title, page_address(sense.ref)) for sense in answer.senses),
        next((part for part in parts if isinstance(part, Confidence)), None),
        next((part.words for part in words_in(answer) if isinstance(part, Headline) and not answer.verdict), ""),
    )


def to_copy(one: ShownAnswer, t: Words) -> str:
    """An answer as plain text with its numbered sources, to be put into a letter or an essay."""
    told = [one.answer.asked or one.answer.question, "", *(line.text for line in one.lines)]
    for conflict in one.disagreements:
        told += ["", t("ask.disagree"), *(f"“{side.quote}”{_mark(side)}" for side in conflict.sides)]
    told += ["", t("ask.sources")] if one.sources else []
    return "\n".join([*told, *(_line_to_copy(source, t) for source in one.sources)])


def _line_to_copy(source: ShownSource, t: Words) -> str:
    place = ", ".join(filter(None, (source.title, source.section)))
    book = ", ".join(filter(None, (source.book.title or source.book.name, t.customs.date(source.book.date))))
    return f"{source.mark} {place}. {book}. “{' '.join(source.quote.split())}”"


def _mark(side: ShownSide) -> str:
    return f" {side.source.mark}" if side.source else ""


def _source(source: Source, room: Room) -> ShownSource:
    citation = source.cited.citation
    quote = citation.quote
    return ShownSource(
        source.number,
        quote.ref,
        citation.title,
        citation.section,
        quote.text,
        source.cited.book,
        page_address(quote.ref, mark=f"{quote.start}-{quote.end}"),
        framed(local(room.link(source.cited))),
    )


def _lines(part: Headline | Sentence | Worded, sources: Mapping[int, ShownSource]) -> Iterator[ShownLine]:
    if isinstance(part, Headline):
        return
    if isinstance(part, Worded):
        for paragraph in filter(str.strip, part.text.split("\n")):
            yield ShownLine(tuple(_marked(paragraph, sources)))
        return
    cited = [sources[source.number] for source in part.sources]
    marks = (Piece(f" {source.mark}", source=source) for source in cited)
    words = (Piece(part.before), Piece(part.short, is_short=True), Piece(part.behind))
    yield ShownLine((*(piece for piece in words if piece.text), *marks), cited[0].language if cited else "eng")


def _marked(text: str, sources: Mapping[int, ShownSource]) -> Iterator[Piece]:
    """The words of a model; the marks in them that are ours become links, all else stays as it is."""
    end = 0
    for found in MARK.finditer(text):
        source = sources.get(int(found[1]))
        if source is not None:
            yield Piece(text[end : found.start()])
            yield Piece(found[0], source=source)
            end = found.end()
    yield Piece(text[end:])


def _disagreement(part: Disagreement, sources: Mapping[int, ShownSource]) -> ShownDisagreement:
    sides = (ShownSide(side.quote, sources[side.source.number] if side.source else None) for side in part.sides)
    return ShownDisagreement(part.words, tuple(sides))
