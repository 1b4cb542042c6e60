"""A document as one self-contained HTML page, and the elements of SVG pictures in it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files

from kiwiresearch.brief.document import (
    BREAK,
    SCHEMES,
    Block,
    Cite,
    CitedParagraph,
    ClaimEvidence,
    CollapsedList,
    Document,
    DocumentSentence,
    Heading,
    Image,
    Line,
    LineList,
    Paragraph,
    PlainTable,
    Proof,
    QuoteInContext,
    SentenceList,
    Sentences,
    Span,
    Table,
    more_pages,
    safe_address,
    without_overlaps,
)
from kiwiresearch.text.display import printable
from kiwiresearch.text.languages import two_letter_code


@cache
def style() -> str:
    """How pages look: on screen by day and by night, on a phone, and on paper."""
    return (files("kiwiresearch.brief") / "style.css").read_text(encoding="utf-8").strip()


def html_page(document: Document) -> str:
    """The document as a page."""
    return html_frame(document, f"<h1>{escaped_title(document)}</h1>\n{blocks_in_html(document.blocks)}")


def html_frame(document: Document, body: str, head: str = "") -> str:
    """A whole page around its body."""
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(two_letter_code(document.language))}">\n<head>\n<meta charset="utf-8">\n'
        f'{head}<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escaped_title(document)}</title>\n"
        f"<style>\n{style()}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def escaped_title(document: Document) -> str:
    return escape(" ".join(printable(document.title).split()))


def blocks_in_html(blocks: tuple[Block, ...]) -> str:
    return "\n".join(line for block in blocks for line in _block(block))


def escaped(text: str) -> str:
    """Words that stay words, in one line; a space at the edge is part of the sentence."""
    before = " " if text[:1].isspace() else ""
    behind = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{escape(printable(text).strip())}{behind}"


def html_link(url: str, inside: str) -> str:
    """A link around markup; what leads to no page of a book is none."""
    return f'<a href="{escape(safe_address(url))}">{inside}</a>' if url.startswith(SCHEMES) else inside


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            named = f' id="{block.anchor}"' if block.anchor else ""
            yield f"<h{block.level}{named}>{escaped(block.text)}</h{block.level}>"
        case Paragraph():
            yield f"<p{_class(block.role)}>{_line(block.line)}</p>"
        case CitedParagraph():
            yield f'<div class="running">{_running(block)}</div>'
        case CollapsedList():
            yield f"<details><summary>{escaped(block.label)}</summary>"
            yield from _block(block.items)
            yield "</details>"
        case LineList():
            tag = "ol" if block.numbered else "ul"
            yield f"<{tag}>"
            yield from (f"<li>{_line(line)}</li>" for line in block.lines)
            yield f"</{tag}>"
        case SentenceList():
            yield f"<ul{_class(block.role)}>"
            for number, entry in enumerate(block.entries, start=1):
                named = f' id="{block.anchor}-{number}"' if block.anchor else ""
                yield f"<li{named}>{_text(entry)}</li>"
            yield "</ul>"
        case PlainTable():
            yield from _rows(block)
        case Table():
            yield from _table(block)
        case Image():
            yield f'<figure class="picture"><img src="{escape(block.address)}" alt="{escape(printable(block.alt))}"/>'
            yield f"<figcaption>{_line(block.caption)}</figcaption></figure>"


def _rows(block: PlainTable) -> Iterator[str]:
    yield "<table>"
    head = (f'<th scope="col">{escaped(cell)}</th>' for cell in block.header)
    yield f"<thead><tr>{''.join(head)}</tr></thead>"
    yield "<tbody>"
    for row in block.rows:
        yield f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>"
    yield "</tbody>"
    yield "</table>"


def _table(block: Table) -> Iterator[str]:
    # A wide table is moved by itself, by finger or by keyboard, and the page stands still.
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{escape(printable(block.label))}">'
    yield f"<table{_class(block.role)}>"
    # A header without words heads nothing, and a reader's program should not announce it.
    head = (f'<th scope="col">{escaped(cell)}</th>' if cell else "<td></td>" for cell in block.header)
    yield f"<thead><tr>{''.join(head)}</tr></thead>"
    yield "<tbody>"
    for first, *rest in block.rows:
        cells = "".join(f"<td>{_text(cell)}</td>" for cell in rest)
        yield f'<tr><th scope="row">{_text(first)}</th>{cells}</tr>'
    yield "</tbody>"
    yield "</table>"
    yield "</div>"


def _class(role: str) -> str:
    return f' class="{role}"' if role else ""


def _role(sureness: str) -> str:
    return sureness.replace(" ", "-") if sureness.replace(" ", "").isalpha() else ""


def _text(text: Sentences) -> str:
    if len(text) == 1 and text[0].proof is None:
        return _line(text[0].line)
    return "".join(f'<div class="said">{_sentence(one)}</div>' for one in text)


def _running(passage: CitedParagraph) -> str:
    """Sentences one after the other; what they rest on unfolds where it changes."""
    parts: list[str] = []
    for run in passage.runs:
        for sentence in run.sentences:
            doubt = f" <em{_class(_role(sentence.doubt))}>({escaped(sentence.doubt)})</em>" if sentence.doubt else ""
            parts.append(f"<span>{_line(sentence.line)}</span>{doubt}")
        parts.append(_proof(run.proof))
    return " ".join(parts)


def _sentence(sentence: DocumentSentence) -> str:
    said = _line(sentence.line)
    return f"{said} {_proof(sentence.proof)}".strip() if sentence.proof else said


def _proof(proof: Proof) -> str:
    cites = [_cite(cite) for cite in proof.cites]
    if proof.more:
        cites.append(more_pages(proof.more))
    shown = f'<span class="cites">{" ".join(cites)}</span>'
    if not proof.evidence:
        return shown
    label = escaped(proof.sureness) or "quotes"
    unfolded = "".join(map(_evidence, proof.evidence, without_overlaps(one.around for one in proof.evidence)))
    return f"{shown} <details><summary{_class(_role(proof.sureness))}>{label}</summary>{unfolded}</details>"


def _cite(cite: Cite) -> str:
    return html_link(cite.marked_url, f"[{escaped(cite.words)}]")


def _evidence(evidence: ClaimEvidence, around: QuoteInContext) -> str:
    parts = [_around(around), *(f"<p>“{escaped(quote)}”</p>" for quote in evidence.others)]
    parts.append(f"<footer>{_cite(evidence.cite)}</footer>")
    notes = []
    if evidence.says:
        notes.append(f"Read as: {escaped(evidence.says)}")
    if evidence.hedges:
        notes.append(f"Held back by: {', '.join(f'“{escaped(cue)}”' for cue in evidence.hedges)}.")
    notes.append(escaped(evidence.confidence))
    told = "".join(f"<p>{note}</p>" for note in notes)
    return f'<blockquote>{"".join(parts)}</blockquote><div class="notes">{told}</div>'


def _around(around: QuoteInContext) -> str:
    """A quote, marked within what stands around it on the page."""
    quote = escaped(around.quote.text)
    if not around.before and not around.after:
        return f"<p>“{quote}”</p>"
    return f'<p class="around">“{escaped(around.before)}<mark>{quote}</mark>{escaped(around.after)}”</p>'


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    if span == BREAK:
        return "<br/>"
    text = escaped(span.text)
    if span.emphasis:
        text = f"<em>{text}</em>"
    if span.strong:
        text = f"<strong>{text}</strong>"
    return html_link(span.url, text)


FONT_SIZE = 12
NARROW = frozenset("iljtfrI.,:;'’|!()[] -")
VERY_WIDE = frozenset("mMW@%—…⚠")
WIDE_CLASSES = frozenset("WF")


def svg_number(value: float) -> str:
    """A coordinate: one decimal, so that the last bits of a sum never reach the file."""
    return f"{round(value, 1) + 0.0:.1f}"


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """How wide words are at most, in the fonts that browsers choose."""
    return sum(map(_letter_width, text)) * size


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in WIDE_CLASSES:
        return 1.05
    if letter in NARROW:
        return 0.38
    if letter in VERY_WIDE:
        return 0.98
    return 0.75 if letter.isupper() else 0.62


def shorten_to_width(text: str, width: float, size: float = FONT_SIZE) -> str:
    """The words that fit, in one line; where some do not, an ellipsis stands for them."""
    line = " ".join(printable(text).split())
    if text_width(line, size) <= width:
        return line
    room = width - text_width("…", size)
    kept = 0
    for kept, letter in enumerate(line):  # noqa: B007
        room -= _letter_width(letter) * size
        if room < 0:
            break
    cut = line[:kept]
    at_word = cut.rpartition(" ")[0]
    return f"{(at_word if len(at_word) * 2 > len(cut) else cut).rstrip(' ,;:—-')}…"


def svg_text(x: float, y: float, text: str, role: str, anchor: str = "start") -> str:
    """Words at a place of the picture."""
    return f'<text class="{role}" x="{svg_number(x)}" y="{svg_number(y)}" text-anchor="{anchor}">{escaped(text)}</text>'


def svg_line(x1: float, y1: float, x2: float, y2: float, role: str) -> str:
    start = f'x1="{svg_number(x1)}" y1="{svg_number(y1)}"'
    return f'<line class="{role}" {start} x2="{svg_number(x2)}" y2="{svg_number(y2)}"/>'


def svg_picture(name: str, size: tuple[float, float], title: str, description: str, parts: list[str]) -> str:
    """A whole picture, with its title and what it shows in words."""
    width, height = map(svg_number, size)
    return "\n".join(
        [
            f'<svg class="{name}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="group" '
            f'aria-labelledby="{name}-title {name}-told">',
            f'<title id="{name}-title">{escape(printable(title))}</title>',
            f'<desc id="{name}-told">{escape(printable(description))}</desc>',
            *parts,
            "</svg>",
        ]
    )
