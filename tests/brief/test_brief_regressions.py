"""Words of books that once became markup."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from kiwiresearch.brief.document import Document, Paragraph, Span, spans
from kiwiresearch.brief.html import html_page
from kiwiresearch.brief.markdown import markdown


def read_back(text: str) -> tuple[list[str], str]:
    tokens = MarkdownIt("commonmark").parse(markdown(Document("T", (Paragraph(spans(text)),))))
    return [t.type for t in tokens][3:], "".join(c.content for t in tokens[3:] for c in t.children or [])


@pytest.mark.parametrize("text", ["## x", "###### y", "---", "&copy; &lt;b&gt;", "a &amp; b"])
def test_a_paragraph_stays_words(text: str) -> None:
    """Deeper headings, rules and entities of a book stay words in Markdown."""
    assert read_back(text) == (["paragraph_open", "inline", "paragraph_close"], text)


@pytest.mark.parametrize(("code", "lang"), [("swe", "sv"), ("spa", "es"), ("pol", "pl"), ("por", "pt"), ("deu", "de")])
def test_the_language_of_a_page_is_a_web_code(code: str, lang: str) -> None:
    """Lang is the two-letter code, not the first two letters: 'sw' is Swahili."""
    assert f'<html lang="{lang}">' in html_page(Document("T", (), code))


def test_a_link_in_html_is_an_address() -> None:
    """An address in report.html has no raw space or line break."""
    assert 'href="zim://b/a%20b"' in html_page(Document("T", (Paragraph(spans(Span("x", "zim://b/a b"))),)))
