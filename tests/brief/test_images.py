"""Pictures in the forms of a brief: kept by their hashes, and whatever a page says under them stays words."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from hashlib import sha256
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.brief.briefs import TOP, bronze_age, entry
from tests.png_files import a_png

from kiwiresearch.brief.brief import (
    Brief,
    BriefPicture,
    brief_from_record,
    brief_record,
    pictures_from_record,
    pictures_json,
)
from kiwiresearch.brief.report import brief_document
from kiwiresearch.brief.report_html import report_page
from kiwiresearch.document.html import blocks_in_html
from kiwiresearch.document.markdown import markdown
from kiwiresearch.document.model import Document, Image, Span
from kiwiresearch.ids import canonical_json

CONTENT = a_png("ruins")
SHA = sha256(CONTENT).hexdigest()
HOSTILE = ["<script>x</script>", '" onerror="x', "&amp; ]]>", "a\x00b\x1b", "\u202eRTL שלום", "![](x)", ""]


def with_picture(caption: str = "Ruins", alt: str = "", **change: Any) -> Brief:
    picture = BriefPicture(entry(TOP), "I/ruins.png", caption, alt, "image/png", SHA)
    return replace(bronze_age(), pictures=(replace(picture, **change),))


def test_a_brief_with_pictures_is_read_back() -> None:
    brief = with_picture(part=1)
    assert brief_from_record(json.loads(canonical_json(brief_record(brief)))) == brief


def test_a_brief_without_pictures_says_nothing_of_them() -> None:
    """So runs that were made before are read, and are written again as they were."""
    assert "pictures" not in brief_record(bronze_age())
    assert brief_from_record(json.loads(canonical_json(brief_record(bronze_age())))).pictures == ()


@pytest.mark.parametrize("change", [{"media_type": "image/svg+xml"}, {"part": "0"}, {"sha256": None}, {"ref": "x"}])
def test_a_file_that_is_not_a_picture_is_refused(change: dict[str, Any]) -> None:
    record = json.loads(canonical_json(brief_record(with_picture())))
    record["pictures"][0] |= change
    with pytest.raises((TypeError, ValueError, KeyError)):
        brief_from_record(record)


def test_pictures_are_kept_by_their_hashes() -> None:
    """What goes into the file comes out of it."""
    assert pictures_from_record(json.loads(pictures_json({SHA: CONTENT}))) == {SHA: CONTENT}


@pytest.mark.parametrize("record", [{SHA: "AAAA"}, {SHA: "not base64!"}, {SHA: 5}, {SHA: None}, {"x": "", SHA: "é"}])
def test_a_picture_without_its_hash_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        pictures_from_record(record)


def test_a_report_shows_a_picture_only_with_its_bytes() -> None:
    """Without them it is the report of a brief that has none."""
    assert report_page(with_picture()) == report_page(bronze_age())
    assert report_page(with_picture(), {SHA: CONTENT}).count("<img ") == 1
    assert markdown(brief_document(with_picture())) == markdown(brief_document(bronze_age()))


@pytest.mark.parametrize("words", HOSTILE)
def test_captions_stay_text(words: str) -> None:
    """In HTML that is also XML, as EPUB wants it, and in Markdown."""
    image = Image("pictures/a.png", words, (Span(words), Span(words, "https://example.org")))
    tree = ElementTree.fromstring(f"<body>{blocks_in_html((image,))}</body>")
    assert {one.tag for one in tree.iter()} == {"body", "figure", "img", "figcaption", "a"}
    assert {name for one in tree.iter("img") for name in one.attrib} == {"src", "alt"}
    assert not re.search(r"(?<!\\)[<!]\w", markdown(Document("It", (image,))))
    html = report_page(with_picture(words, words), {SHA: CONTENT})
    assert html.count("<img ") == 1
    assert "<script" not in html
