"""Every kind of markup that is cut from the text, by an example of each."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page, link_lines

from kiwiresearch.page.elements import CUTS

CUT: dict[str, list[str]] = {
    "hidden": [
        "<object>",
        "<canvas>",
        "<audio>",
        "<video>",
        "<map>",
        "<svg>",
        "<button>",
        "<form>",
        "<datalist>",
        "<template>",
        "<noscript>",
        '<p style="display:none">',
        '<p style="display: none">',
        '<p style="visibility:hidden">',
        '<p style="visibility: hidden">',
        "<p hidden>",
        '<p class="sortkey">',
        '<p class="Z3988">',
        '<p class="persondata">',
        '<p class="geo-nondefault">',
        '<p class="cs1-maint">',
        '<p class="cs1-hidden-error">',
        '<p class="mw-empty-elt">',
    ],
    "note": [
        '<sup class="Inline-Template">',
        '<span class="Inline-Template">',
        '<i class="Template-Fact">',
        '<i class="disputed-inline">',
        '<sup class="noprint">',
        '<div class="ambox">',
        '<div class="asbox">',
        '<div class="dmbox">',
        '<div class="tmbox">',
        '<div class="ombox">',
        '<div class="fmbox">',
        '<div class="mbox-small">',
        '<div class="stub">',
        '<div id="disambigbox">',
        '<div id="setindexbox">',
        '<div class="disambig">',
        '<table class="metadata">',
        '<div class="notice metadata">',
        '<div class="metadata plainlinks">',
        '<table class="cleanup">',
        '<div class="boilerplate metadata">',
    ],
    "categories": ['<div id="catlinks">', '<div class="catlinks">'],
    "hatnote": [
        '<div class="hatnote">',
        '<div class="dablink">',
        '<div class="rellink">',
        '<div class="mainarticle">',
        '<div class="seealso">',
    ],
    "references": [
        '<div class="references">',
        '<div class="mw-references">',
        '<div class="reflist">',
        '<div class="references-small">',
        '<div class="mw-references-wrap">',
    ],
    "navigation": [
        '<p id="firstHeading">',
        '<p id="titleHeading">',
        '<h1 class="section-heading">',
        '<h1 class="firstHeading">',
        '<p class="mw-editsection">',
        '<p class="editsection">',
        '<p class="mw-editsection-like">',
        '<p id="toc">',
        '<p class="toc">',
        '<p class="fancy_toc">',
        '<p id="siteSub">',
        '<p id="contentSub">',
        '<p id="jump-to-nav">',
        '<p class="mw-jump-link">',
        '<p class="printfooter">',
        '<p class="mw-indicators">',
        '<p class="topicon">',
        '<p class="magnify">',
        '<p class="t_nihongo_help">',
        '<p class="mw-cite-backlink">',
        '<p class="audiolinkinfo">',
        '<p class="sistersitebox">',
        '<p class="sisterproject">',
        '<p class="portal">',
        '<p class="portalbox">',
        '<p class="soslink">',
        '<p class="side-box">',
        '<p class="spoiler">',
        '<p class="endspoiler">',
        '<p id="footer">',
        "<footer>",
        '<p class="zim-footer">',
        '<p class="_attribution">',
        '<div class="navbox">',
        '<div class="vertical-navbox">',
        '<div class="NavFrame">',
        '<div class="navbox-styles">',
        '<div class="sidebar">',
        '<div class="succession-box">',
        '<div class="succession">',
        '<div class="navbar">',
        '<div class="authority-control">',
        '<div class="subpages">',
        '<div class="breadcrumbs">',
        "<nav>",
        '<div role="navigation">',
        '<div role="search">',
        '<div role="banner">',
        '<div role="contentinfo">',
    ],
}
"""Tags that open what is cut, under the place that the links in it get."""

MARKS = [
    '<sup class="reference">',
    '<span class="reference">',
    '<i class="mw-ref">',
    '<sup id="cite_ref-1">',
    '<span id="cite_ref-Ann_2-0">',
    '<sup id="_ref-0">',
    '<cite id="ref_a">',
]

RAW = ["<script>", "<style>", "<iframe>", "<noembed>", "<noframes>", "<xmp>", "<textarea>", "<select>"]
"""What holds no markup, so that there are no links in it."""

FORMULAS = [
    '<img class="mwe-math-fallback-image-inline" alt="a^2">',
    '<img class="mwe-math-fallback-image-display" alt="a^2">',
    '<img class="tex" alt="a^2">',
    '<math alttext="a^2"></math>',
]

BOXES = [
    '<table class="infobox">',
    '<div class="infobox">',
    '<aside class="infobox">',
    '<table class="infobox_v2">',
    '<div class="infobox_v3">',
    '<table class="toccolours vcard">',
    '<table class="biota">',
    '<table class="taxobox">',
    '<table class="sinottico">',
    '<aside class="portable-infobox">',
]


def around(tag: str) -> str:
    """A page in which the tag opens an element with a link, between two paragraphs."""
    name = tag.strip("<>").split()[0]
    inside = "UNSEEN <a href='Cut'>x</a>"
    if name == "table":
        inside = f"<tr><td>{inside}</td></tr>"
    return f"<p>Before.</p>{tag}{inside}</{name}><p>After.</p>"


@pytest.mark.parametrize(("place", "tag"), [(place, tag) for place, tags in CUT.items() for tag in tags])
def test_cut_parts_leave_only_their_links(place: str, tag: str) -> None:
    """What is not text of the article is cut, and its links are kept under the name of their place."""
    page = a_page(around(tag))
    assert (page.text, link_lines(page)) == ("Before.\n\nAfter.", [f"{place}: x -> Cut"])


@pytest.mark.parametrize("tag", MARKS)
def test_numbers_of_notes_are_counted(tag: str) -> None:
    """What points at a note is cut in every spelling, and counted as a reference (R41)."""
    page = a_page(around(tag))
    assert (page.text, page.signals.references) == ("Before.\n\nAfter.", 1)


@pytest.mark.parametrize("tag", RAW)
def test_raw_text_leaves_nothing(tag: str) -> None:
    """Code and controls leave neither words nor links."""
    page = a_page(around(tag).replace("<a href='Cut'>x</a>", "") if tag == "<select>" else around(tag))
    assert (page.text, page.links) == ("Before.\n\nAfter.", ())


@pytest.mark.parametrize("tag", FORMULAS)
def test_formulas_of_every_kind_are_read(tag: str) -> None:
    """A formula is in the sentence as its source, whatever draws it."""
    assert a_page(f"<p>So {tag} holds.</p>").text == "So a^2 holds."


@pytest.mark.parametrize("tag", BOXES)
def test_boxes_of_every_kind_are_set_apart(tag: str) -> None:
    """A box of facts is after the article, and its links are links of a box (R40)."""
    page = a_page(around(tag))
    assert (page.lead, len(page.infoboxes)) == ("Before.\n\nAfter.", 1)
    assert (page.text, link_lines(page)) == ("Before.\n\nAfter.\n\nUNSEEN x", ["infobox: x -> Cut"])


@pytest.mark.parametrize("tag", ['<div class="navbox">', '<div class="hatnote">', '<div class="ambox">'])
def test_cut_blocks_still_break_the_line(tag: str) -> None:
    """Words before and behind a box that is cut are not joined to one line."""
    assert a_page(f"one{tag}UNSEEN</div>two").text.split() == ["one", "two"]
    assert "\n" in a_page(f"one{tag}UNSEEN</div>two").text


def test_every_cut_has_a_reason() -> None:
    """No selector is without a reason why what it finds is not text of the article."""
    assert [cut.selector for cut in CUTS if not cut.reason.strip() or not cut.selector.strip()] == []
