"""A report as one HTML page that needs nothing else: no script, no address outside, pictures inside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from typing import NamedTuple

from kiwiresearch.kin.report.document import (
    SCHEMES,
    Block,
    Document,
    FactEntry,
    Facts,
    Heading,
    Items,
    Line,
    Paragraph,
    Picture,
    Quotation,
    Span,
    Table,
    address,
    encodable,
)
from kiwiresearch.text.display import printable
from kiwiresearch.text.languages import two_letter_code

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a browser is told to load for the page: nothing."""
TOP_LEVEL = 2


class Part(NamedTuple):
    """A heading and what stands under it."""

    heading: Heading
    blocks: Sequence[Block]


@cache
def style() -> str:
    """How the page looks: on screen by day and by night, on a phone, and on paper."""
    return (files("kiwiresearch.kin.report") / "style.css").read_text(encoding="utf-8").strip()


def page(document: Document) -> str:
    """The whole report, for a browser."""
    opening, parts = _parts(document.blocks)
    title = escape(" ".join(printable(document.title).split()))
    contents = (f'<li><a href="#{one.heading.anchor}">{_line(one.heading.line)}</a></li>' for one in parts)
    body = [
        '<a class="skip" href="#summary">Skip to the summary</a>',
        f'<header>\n<h1 dir="auto">{title}</h1>\n{_blocks(opening)}\n</header>',
        '<nav aria-label="Contents">\n<ol>',
        *contents,
        "</ol>\n</nav>\n<main>",
        *map(_section, parts),
        "</main>",
    ]
    return encodable(_framed(document, title, "\n".join(body)))


def _framed(document: Document, title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(two_letter_code(document.language))}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{style()}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _parts(blocks: Sequence[Block]) -> tuple[Sequence[Block], list[Part]]:
    """What stands before the first part, and the parts."""
    starts = [n for n, block in enumerate(blocks) if isinstance(block, Heading) and block.level == TOP_LEVEL]
    parts = []
    for start, end in zip(starts, [*starts[1:], len(blocks)], strict=True):
        heading = blocks[start]
        assert isinstance(heading, Heading)
        parts.append(Part(heading, blocks[start + 1 : end]))
    return blocks[: starts[0]] if starts else blocks, parts


def _section(part: Part) -> str:
    anchor = part.heading.anchor
    return f'<section aria-labelledby="{anchor}">\n{_blocks((part.heading, *part.blocks))}\n</section>'


def _blocks(blocks: Sequence[Block]) -> str:
    return "\n".join(line for block in blocks for line in _block(block))


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            named = f' id="{escape(block.anchor)}"' if block.anchor else ""
            yield f"<h{block.level}{named}>{_line(block.line)}</h{block.level}>"
        case Paragraph():
            yield f"<p{_class(block.role)}>{_line(block.line)}</p>"
        case Items():
            kind = "ol" if block.anchor else "ul"
            yield f"<{kind}{_class(block.role)}>"
            for number, line in enumerate(block.lines, start=1):
                named = f' id="{block.anchor}-{number}"' if block.anchor else ""
                yield f"<li{named}>{_line(line)}</li>"
            yield f"</{kind}>"
        case Facts():
            yield '<ul class="facts">'
            yield from map(_shown, block.entries)
            yield "</ul>"
        case Quotation():
            yield _quoted(block)
        case Table():
            yield from _table(block)
        case Picture():
            yield from _picture(block)


def _table(block: Table) -> Iterator[str]:
    # A wide table is moved by itself, by finger or by keyboard, and the page stands still.
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{escape(printable(block.label))}">'
    yield f"<table{_class(block.role)}>"
    head = (f'<th scope="col">{_words(cell)}</th>' if cell else "<td></td>" for cell in block.header)
    yield f"<thead><tr>{''.join(head)}</tr></thead>"
    yield "<tbody>"
    for first, *rest in block.rows:
        named = zip(block.header[1:], rest, strict=True)
        cells = "".join(f'<td data-head="{escape(head)}">{_line(cell)}</td>' for head, cell in named)
        yield f'<tr><th scope="row">{_line(first)}</th>{cells}</tr>'
    yield "</tbody>\n</table>\n</div>"


def _picture(block: Picture) -> Iterator[str]:
    if block.svg:
        yield f'<figure>\n<div class="wide" role="region" tabindex="0" aria-label="{escape(printable(block.label))}">'
        yield f"{block.svg}\n</div>\n<figcaption>{_words(block.caption)}</figcaption>\n</figure>"


def _shown(entry: FactEntry) -> str:
    badge = f'<span class="badge {entry.tone}">{_words(entry.badge)}</span>' if entry.badge else ""
    inside = "".join(f"<p>{_line(note)}</p>" for note in entry.notes) + "".join(map(_quoted, entry.quotes))
    if not inside:
        return f'<li class="bare">{_line(entry.line)} {badge}</li>'
    opened = " open" if entry.is_open else ""
    return (
        f"<li><details{opened}><summary>{_line(entry.line)} {badge}</summary>"
        f'<div class="proof">{inside}</div></details></li>'
    )


def _quoted(quoted: Quotation) -> str:
    said = f'<p dir="auto">“{_words(quoted.words)}”</p>' if quoted.words.strip() else ""
    notes = f'<p class="notes">{"; ".join(map(_words, quoted.notes))}</p>' if quoted.notes else ""
    return f"<blockquote>{said}<footer>{_line(quoted.cite)}</footer>{notes}</blockquote>"


def _class(role: str) -> str:
    return f' class="{role}"' if role else ""


def _words(text: str) -> str:
    """Words that stay words, in one line; a space at the edge is part of the sentence."""
    before = " " if text[:1].isspace() else ""
    behind = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{escape(printable(text).strip())}{behind}"


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    text = _words(span.text)
    if span.foreign:
        text = f"<bdi>{text}</bdi>"
    if span.tone:
        text = f'<span class="{span.tone}">{text}</span>'
    if span.emphasis:
        text = f"<em>{text}</em>"
    if span.strong:
        text = f"<strong>{text}</strong>"
    return f'<a href="{escape(address(span.url))}">{text}</a>' if span.url.startswith(SCHEMES) else text
