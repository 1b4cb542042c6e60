"""Format-independent documents, their renderers for Markdown, HTML and Word, and elements of SVG pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kiwiresearch.lazy import lazy_exports

if TYPE_CHECKING:
    from kiwiresearch.document.html import blocks_in_html, escaped, html_link, html_page
    from kiwiresearch.document.model import (
        ALLOWED_LINK_STARTS,
        BREAK,
        AnswerSpace,
        Block,
        Branch,
        Cite,
        CitedParagraph,
        CitedSentences,
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
        Tone,
        cell,
        external_url,
        line_of,
        plain_text,
        safe_address,
    )
    from kiwiresearch.document.picture_header import PictureSize, picture_size
    from kiwiresearch.document.svg import (
        BRIEF_FONT,
        FAMILY_FONT,
        FONT_SIZE,
        is_rtl,
        svg_line,
        svg_number,
        svg_picture,
        svg_text,
    )
    from kiwiresearch.document.word import NUMBERED_SOURCES, WordParts, WordPicture, word_parts
else:
    __getattr__ = lazy_exports(__name__)
