"""A document as HTML that is also XML, and as a self-contained page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from kiwiresearch.document.model import (
    ALLOWED_LINK_STARTS,
    BREAK,
    AnswerSpace,
    Block,
    CitedParagraph,
    CollapsedList,
    Diagram,
    Document,
    FactEntry,
    FactList,
    Heading,
    Image,
    Line,
    LineList,
    Paragraph,
    PlainTable,
    Proof,
    Quotation,
    Sentence,
    SentenceList,
    Sentences,
    Span,
    Table,
    more_pages,
    safe_address,
)
from kiwiresearch.text import printable, two_letter_code

TOP_LEVEL = 2


class _HtmlSection(NamedTuple):
    heading: Heading
    blocks: Sequence[Block]


def html_page(document: Document, style: str, policy: str, *, head: str = "", title_direction: str = "") -> str:
    """A page with a table of contents; `policy` is its Content-Security-Policy."""
    title = escape(" ".join(printable(document.title).split()))
    opening, sections = _sections(document.blocks)
    contents = (
        f'<li><a href="#{section.heading.anchor}">{_line(section.heading.line)}</a></li>' for section in sections
    )
    direction = f' dir="{title_direction}"' if title_direction else ""
    body = [
        '<a class="skip" href="#summary">Skip to the summary</a>',
        f"<header>\n<h1{direction}>{title}</h1>\n{blocks_in_html(opening)}\n</header>",
        '<nav aria-label="Contents">\n<ol>',
        *contents,
        "</ol>\n</nav>\n<main>",
        *map(_section, sections),
        "</main>",
    ]
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(two_letter_code(document.language))}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        f'{head}<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style}\n</style>\n</head>\n<body>\n"
        + "\n".join(body)
        + "\n</body>\n</html>\n"
    )


def _sections(blocks: Sequence[Block]) -> tuple[Sequence[Block], list[_HtmlSection]]:
    """The blocks before the first section, and the sections."""
    starts = [n for n, block in enumerate(blocks) if isinstance(block, Heading) and block.level == TOP_LEVEL]
    sections = []
    for start, end in pairwise([*starts, len(blocks)]):
        heading = blocks[start]
        assert isinstance(heading, Heading)
        sections.append(_HtmlSection(heading, blocks[start + 1 : end]))
    return blocks[: starts[0]] if starts else blocks, sections


def _section(section: _HtmlSection) -> str:
    inside = blocks_in_html((section.heading, *section.blocks))
    return f'<section aria-labelledby="{section.heading.anchor}">\n{inside}\n</section>'


def blocks_in_html(blocks: Sequence[Block]) -> str:
    return "\n".join(line for block in blocks for line in _block(block))


def escaped(text: str) -> str:
    """Escaped text on one line; a space at either end is preserved."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{escape(printable(text).strip())}{after}"


def html_link(url: str, inside: str) -> str:
    """A link around markup; only the markup if the address is not allowed."""
    return f'<a href="{escape(safe_address(url))}">{inside}</a>' if url.startswith(ALLOWED_LINK_STARTS) else inside


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            anchor = f' id="{block.anchor}"' if block.anchor else ""
            anchor += ' class="new-page"' if block.new_page else ""
            yield f"<h{block.level}{anchor}>{_line(block.line)}</h{block.level}>"
        case Paragraph():
            yield f"<p{_class(block.css_class)}>{_line(block.line)}</p>"
        case CitedParagraph():
            yield f'<div class="running">{_cited_paragraph(block)}</div>'
        case CollapsedList():
            yield f"<details><summary>{escaped(block.label)}</summary>"
            yield from _block(block.items)
            yield "</details>"
        case LineList():
            yield from _list("ol" if block.numbered else "ul", block, map(_line, block.lines))
        case SentenceList():
            yield from _list("ul", block, map(_text, block.entries))
        case FactList():
            kind = "ol" if block.numbered else "ul"
            yield f'<{kind} class="facts">'
            yield from map(_fact, block.entries)
            yield f"</{kind}>"
        case PlainTable():
            yield from _plain_table(block)
        case Table():
            yield from _table(block)
        case Image():
            yield f'<figure class="picture"><img src="{escape(block.address)}" alt="{escape(printable(block.alt))}"/>'
            yield f"<figcaption>{_line(block.caption)}</figcaption></figure>"
        case AnswerSpace():
            yield f'<div class="space" aria-hidden="true">{"<p></p>" * block.lines}</div>'
        case Diagram():
            yield f"<figure>\n{_wide(block.label)}"
            yield f"{block.svg}\n</div>\n<figcaption>{escaped(block.caption)}</figcaption>\n</figure>"


def _list(tag: str, block: LineList | SentenceList, items: Iterator[str]) -> Iterator[str]:
    yield f"<{tag}{_class(block.css_class)}>"
    for number, item in enumerate(items, start=1):
        anchor = f' id="{block.anchor}-{number}"' if block.anchor else ""
        yield f"<li{anchor}>{item}</li>"
    yield f"</{tag}>"


def _plain_table(block: PlainTable) -> Iterator[str]:
    yield "<table>"
    head = (f'<th scope="col">{escaped(cell)}</th>' for cell in block.header)
    yield f"<thead><tr>{''.join(head)}</tr></thead>"
    yield "<tbody>"
    for row in block.rows:
        yield f"<tr>{''.join(f'<td>{escaped(cell)}</td>' for cell in row)}</tr>"
    yield "</tbody>"
    yield "</table>"


def _table(block: Table) -> Iterator[str]:
    yield _wide(block.label)
    yield f"<table{_class(block.css_class)}>"
    # A screen reader should not announce an empty header.
    head = (f'<th scope="col">{escaped(cell)}</th>' if cell else "<td></td>" for cell in block.header)
    yield f"<thead><tr>{''.join(head)}</tr></thead>"
    yield "<tbody>"
    names = [f' data-head="{escape(name)}"' if block.labels_cells else "" for name in block.header[1:]]
    for first, *rest in block.rows:
        cells = "".join(f"<td{name}>{_text(cell)}</td>" for name, cell in zip(names, rest, strict=True))
        yield f'<tr><th scope="row">{_text(first)}</th>{cells}</tr>'
    yield "</tbody>"
    yield "</table>"
    yield "</div>"


def _wide(label: str) -> str:
    """The opening tag around something wide, which then scrolls on its own, also by keyboard."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(printable(label))}">'


def _class(css_class: str) -> str:
    return f' class="{css_class}"' if css_class else ""


def _certainty_class(certainty: str) -> str:
    # Letters only: in a file that was edited it may be anything, and it is not escaped in an attribute.
    return certainty.replace(" ", "-") if certainty.replace(" ", "").isalpha() else ""


def _text(text: Sentences) -> str:
    if len(text) == 1 and text[0].proof is None:
        return _line(text[0].line)
    return "".join(f'<div class="said">{_sentence(sentence)}</div>' for sentence in text)


def _cited_paragraph(paragraph: CitedParagraph) -> str:
    """The sentences, with a proof that unfolds at the end of each group."""
    parts: list[str] = []
    for group in paragraph.groups:
        for sentence in group.sentences:
            doubt = (
                f" <em{_class(_certainty_class(sentence.doubt))}>({escaped(sentence.doubt)})</em>"
                if sentence.doubt
                else ""
            )
            parts.append(f"<span>{_line(sentence.line)}</span>{doubt}")
        parts.append(_proof(group.proof))
    return " ".join(parts)


def _sentence(sentence: Sentence) -> str:
    line = _line(sentence.line)
    return f"{line} {_proof(sentence.proof)}".strip() if sentence.proof else line


def _proof(proof: Proof) -> str:
    cites = [html_link(cite.marked_url, f"[{escaped(cite.words)}]") for cite in proof.cites]
    if proof.more:
        cites.append(more_pages(proof.more))
    shown = f'<span class="cites">{" ".join(cites)}</span>'
    if not proof.quotations:
        return shown
    label = escaped(proof.certainty) or "quotes"
    unfolded = "".join(map(_cited_quotation, proof.quotations))
    return f"{shown} <details><summary{_class(_certainty_class(proof.certainty))}>{label}</summary>{unfolded}</details>"


def _cited_quotation(quotation: Quotation) -> str:
    """A quote marked within its context, with each note on its own line."""
    quote = f"“{escaped(quotation.words)}”"
    if quotation.before or quotation.after:
        marked = f"<mark>{escaped(quotation.words)}</mark>"
        quote = f"“{escaped(quotation.before)}{marked}{escaped(quotation.after)}”"
    css_class = _class("around" if quotation.before or quotation.after else "")
    quotes = f"<p{css_class}>{quote}</p>" + "".join(f"<p>“{escaped(other)}”</p>" for other in quotation.others)
    notes = "".join(f"<p>{escaped(note)}</p>" for note in quotation.notes)
    return f'<blockquote>{quotes}{_footer(quotation)}</blockquote><div class="notes">{notes}</div>'


def _fact(entry: FactEntry) -> str:
    badge = f'<span class="badge {entry.tone}">{escaped(entry.badge)}</span>' if entry.badge else ""
    notes = "".join(f"<p>{_line(note)}</p>" for note in entry.notes)
    inside = notes + "".join(map(_quotation_of_fact, entry.quotations))
    if not inside:
        return f'<li class="bare">{_line(entry.line)} {badge}</li>'
    opened = " open" if entry.is_open else ""
    return (
        f"<li><details{opened}><summary>{_line(entry.line)} {badge}</summary>"
        f'<div class="proof">{inside}</div></details></li>'
    )


def _quotation_of_fact(quotation: Quotation) -> str:
    said = f'<p dir="auto">“{escaped(quotation.words)}”</p>' if quotation.words.strip() else ""
    notes = f'<p class="notes">{"; ".join(map(escaped, quotation.notes))}</p>' if quotation.notes else ""
    return f"<blockquote>{said}{_footer(quotation)}{notes}</blockquote>"


def _footer(quotation: Quotation) -> str:
    return f"<footer>{_line(quotation.source)}</footer>"


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    if span == BREAK:
        return "<br/>"
    text = escaped(span.text)
    if span.foreign:
        text = f"<bdi>{text}</bdi>"
    if span.tone:
        text = f'<span class="{span.tone}">{text}</span>'
    if span.emphasis:
        text = f"<em>{text}</em>"
    if span.strong:
        text = f"<strong>{text}</strong>"
    return html_link(span.url, text)
