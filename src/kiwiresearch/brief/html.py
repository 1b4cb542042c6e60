"""A document as one HTML page that needs nothing else: no script, no picture, no address outside."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from kiwiresearch.brief.document import Block, Document, Heading, Items, Line, Paragraph, Rows, Span, address
from kiwiresearch.text.languages import two_letter_code
from kiwiresearch.text.plain import printable

STYLE = """
:root { color-scheme: light dark; }
body { font: 1.05rem/1.6 Georgia, "Times New Roman", serif; max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.25; margin-top: 2em; }
h1 { margin-top: 0; }
li { margin: .4em 0; }
table { border-collapse: collapse; width: 100%; font-size: .95em; }
th, td { text-align: left; vertical-align: top; padding: .3em .6em; border-bottom: 1px solid color-mix(in srgb, currentColor 25%, transparent); overflow-wrap: anywhere; }
@media print { body { margin: 0; max-width: none; } a { color: inherit; } }
""".strip()  # noqa: E501

SCHEMES = ("http://", "https://", "zim://", "#")
"""What a link may lead to; a book's text never chooses another."""


def html(document: Document) -> str:
    """The document as a page."""
    title = escape(" ".join(printable(document.title).split()))
    body = "\n".join(line for block in document.blocks for line in _block(block))
    return (
        f'<!DOCTYPE html>\n<html lang="{escape(two_letter_code(document.language))}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{title}</title>\n'
        f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _block(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"<h{block.level}>{_words(block.text)}</h{block.level}>"
        case Paragraph():
            yield f"<p>{_line(block.line)}</p>"
        case Items():
            tag = "ol" if block.numbered else "ul"
            yield f"<{tag}>"
            yield from (f"<li>{_line(line)}</li>" for line in block.lines)
            yield f"</{tag}>"
        case Rows():
            yield "<table>"
            yield f"<thead><tr>{''.join(f'<th>{_words(cell)}</th>' for cell in block.header)}</tr></thead>"
            yield "<tbody>"
            for row in block.rows:
                yield f"<tr>{''.join(f'<td>{_words(cell)}</td>' for cell in row)}</tr>"
            yield "</tbody>"
            yield "</table>"


def _words(text: str) -> str:
    # A space at the edge of a span is part of the sentence.
    before = " " if text[:1].isspace() else ""
    behind = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{escape(printable(text).strip())}{behind}"


def _line(line: Line) -> str:
    return "".join(map(_span, line))


def _span(span: Span) -> str:
    text = _words(span.text)
    if span.emphasis:
        text = f"<em>{text}</em>"
    if span.url.startswith(SCHEMES):
        text = f'<a href="{escape(address(span.url))}">{text}</a>'
    return text
