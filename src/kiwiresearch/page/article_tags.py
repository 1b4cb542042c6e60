"""The few tags that an article may have in a page of ours, and the classes that give it our own look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape

from kiwiresearch.page.elements import CutGroup

ANCHOR_PREFIX = "at-"
"""Precedes every id of a book, so that none is an id of ours."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLAIN_TAGS = _names(
    "p div span section blockquote pre hr br wbr h2 h3 h4 h5 h6 ul ol li dl dt dd figure figcaption a em strong small "
    "s cite q dfn abbr data time code var samp kbd sub sup i b u bdi bdo ruby rt rp ins del table caption colgroup col "
    "tbody thead tfoot tr td th img audio video source"
)
FORMULA_TAGS = _names(
    "math mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub "
    "msubsup msup mtable mtd mtext mtr munder munderover menclose merror none"
)
WRITTEN_AS = {
    "h1": "h2", "article": "section", "main": "section", "header": "section", "footer": "section", "aside": "section",
    "nav": "section", "hgroup": "section", "search": "section", "form": "section", "fieldset": "section",
    "dialog": "section", "center": "section", "marquee": "section", "address": "div", "legend": "p", "dir": "ul",
    "menu": "ul", "listing": "pre", "strike": "s", "acronym": "abbr", "big": "span", "tt": "code", "font": "span",
    "nobr": "span", "details": "section", "summary": "div", "mark": "span", "label": "span", "output": "span",
}  # fmt: skip
"""Elements that would be landmarks, headings or highlights of our page, or are out of use, and what stands for them.

Folded parts are shown open, since some scrapers left opening them to scripts.

A <section> without a name means nothing to a browser, and ends a list item's content as these elements do: with
a <div> in its place, a list item could close elements around the article.
"""
# Code, frames, controls, drawings, and what a parser reads as raw text.
DROPPED_WITH_CONTENT = _names(
    "script style svg canvas noscript template iframe object embed applet head title link meta base frameset frame "
    "noembed noframes xmp plaintext textarea select option input button datalist map area annotation annotation-xml "
    "track param semantics-annotation"
)
DROPPED_GROUPS: frozenset[CutGroup] = frozenset({"hidden", "title", "machinery"})
KEPT_TAGS = _names("audio video form footer")
"""Elements that are no part of a page's text, but are shown."""

KEPT_FOOTER = re.compile(r'\b(?:id="footer"|class="[^"]*(?:zim-footer|_attribution))')
GROUP_CLASSES: Mapping[CutGroup, str] = {
    "infobox": "article-infobox", "reference mark": "article-ref", "references": "article-notes",
    "hatnote": "article-hatnote", "note": "article-notice", "categories": "article-small",
}  # fmt: skip
FOLDABLE = _names("table div nav section aside ul")
"""Elements that can be folded as a whole if they only link to other pages."""

LANGUAGE = re.compile(r"[A-Za-z0-9-]{1,35}")
NUMBER = re.compile(r"-?[0-9]{1,5}")
LENGTH = re.compile(r"[0-9.]{1,8}(?:em|ex|px|%)?")
WORD = re.compile(r"[A-Za-z0-9-]{1,20}")
ANY = re.compile(r"[^\0]{0,1000}", re.DOTALL)
ATTRIBUTES: Mapping[str, re.Pattern[str]] = {"lang": LANGUAGE, "dir": re.compile(r"ltr|rtl|auto")}
"""Attributes of every element, and the values that they may have."""

MORE_ATTRIBUTES: Mapping[str, Mapping[str, re.Pattern[str]]] = {
    "ol": {"start": NUMBER, "reversed": WORD, "type": re.compile(r"[1aAiI]")},
    "li": {"value": NUMBER},
    "td": {"colspan": NUMBER, "rowspan": NUMBER},
    "th": {"colspan": NUMBER, "rowspan": NUMBER, "scope": re.compile(r"(?:row|col)(?:group)?")},
    "col": {"span": NUMBER},
    "colgroup": {"span": NUMBER},
    "time": {"datetime": re.compile(r"[0-9TZ:.+ -]{1,40}")},
    "abbr": {"title": ANY},
    "dfn": {"title": ANY},
    "bdo": {},
    "img": {"width": NUMBER, "height": NUMBER},
    "math": {"display": WORD, "alttext": ANY},
    "mo": dict.fromkeys(("stretchy", "fence", "separator", "movablelimits", "form", "largeop", "accent"), WORD),
    "mi": {"mathvariant": WORD},
    "mspace": {"width": LENGTH},
    "mtd": {"columnspan": NUMBER, "rowspan": NUMBER},
    "mtable": {"columnalign": re.compile(r"[a-z ]{1,60}"), "displaystyle": WORD},
    "mstyle": {"displaystyle": WORD, "scriptlevel": NUMBER},
    "menclose": {"notation": re.compile(r"[a-z ]{1,60}")},
    "mfrac": {"linethickness": LENGTH},
}

# Styles are not kept; what these few say is expressed by classes of ours.
FLOAT = re.compile(r"float:\s*(left|right)")
ALIGNED = re.compile(r"text-align:\s*(center|right)")
INLINE = re.compile(r"display:\s*inline")
COLUMNS = re.compile(r"column-(?:width|count)")
CLASS_LOOKS = {
    "tleft": "article-start", "floatleft": "article-start", "mw-halign-left": "article-start",
    "tright": "article-end", "floatright": "article-end", "mw-halign-right": "article-end",
    "thumb": "article-figure", "gallery": "article-gallery", "mw-gallery-traditional": "article-gallery",
    "trow": "article-row", "div-col": "article-columns", "wikitable": "article-grid", "prettytable": "article-grid",
    "thumbcaption": "article-caption", "gallerytext": "article-caption", "infobox-caption": "article-caption",
    "center": "article-center", "col-begin": "article-layout", "multicol": "article-layout",
    "texhtml": "article-formula", "reference": "article-ref",
}  # fmt: skip
TABLE_CLASSES = frozenset({"article-grid", "article-layout"})
"""Classes of a table itself; others are those of the box around it."""

FORMULA_CLASSES = ("mwe-math-fallback-image", "tex")
CENTRED = frozenset({"mw-halign-center", "mw-halign-none", "tnone", "center"})


def article_classes(name: str, attributes: Mapping[str, str], group: CutGroup | None) -> list[str]:
    """Classes of ours for an element of a book, by what its own classes, alignment and styles are known to mean."""
    own = attributes.get("class", "").split()
    found = dict.fromkeys(_looks(name, own, attributes))
    if group is not None and group in GROUP_CLASSES:
        found[GROUP_CLASSES[group]] = None
    if "article-figure" in found and not CENTRED.intersection(own) and "article-start" not in found:
        found["article-end"] = None
    return list(found)


def _looks(name: str, own: list[str], attributes: Mapping[str, str]) -> Iterator[str]:
    for word in own:
        if word in CLASS_LOOKS:
            yield CLASS_LOOKS[word]
        elif name == "img" and word.startswith(FORMULA_CLASSES):
            yield "article-formula"
    if name == "figure" and "Thumb" in attributes.get("typeof", ""):
        yield "article-figure"
    align = attributes.get("align", "").lower()
    if name in ("table", "img"):
        yield from {"left": ["article-start"], "right": ["article-end"]}.get(align, [])
    elif align in ("center", "right"):
        yield "article-center" if align == "center" else "article-far"
    if name == "center":
        yield "article-center"
    if name == "table" and attributes.get("role") == "presentation":
        yield "article-layout"
    if name == "table" and attributes.get("border", "0") not in ("0", ""):
        yield "article-grid"
    style = unescape(attributes.get("style", "")).lower()
    if style:
        if floating := FLOAT.search(style):
            yield "article-start" if floating[1] == "left" else "article-end"
        if aligned := ALIGNED.search(style):
            yield "article-center" if aligned[1] == "center" else "article-far"
        if name == "div" and INLINE.search(style):
            yield "article-inline"
        if COLUMNS.search(style):
            yield "article-columns"
