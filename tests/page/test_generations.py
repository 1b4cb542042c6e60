"""Twenty years of Wikipedia's HTML give the same page."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.page.pages import a_page, box_lines, link_lines, outline

from kiwiresearch.ids import page_id
from kiwiresearch.page.doc import PageDoc

LEAD = "Tern Rock Light is a lighthouse on Tern Rock. It stands 40 m high."
HISTORY = "The tower was lit in 1871. It was rebuilt by Ann Moore."
KEEPERS = "Two keepers lived there."

OF_2007 = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Tern Rock Light</title></head>
<body class="mediawiki ns-0"><div id="content"><h1 id="firstHeading" class="firstHeading">Tern Rock Light</h1>
<div id="bodyContent"><h3 id="siteSub">From an encyclopaedia</h3>
<table class="infobox" style="width:23em">
 <tr><td colspan="2" style="text-align: center"><b>Tern Rock Light</b></td></tr>
 <tr><th>Built</th><td> 1871</td></tr>
 <tr><th>Builder</th><td><a href="Ann_Moore" title="Ann Moore">Ann Moore</a></td></tr>
</table>
<p><b>Tern Rock Light</b> is a lighthouse on <a href="Tern_Rock" title="Tern Rock">Tern Rock</a>.<sup id="_ref-0"
 class="reference"><a href="#_note-0" title="">[1]</a></sup> It stands 40&nbsp;m high.</p>
<table id="toc" class="toc"><tr><td><ul><li><a href="#History">1 History</a></li></ul></td></tr></table><p>
 <a id="History" name="History"></a></p><h2> <span class="mw-headline">History</span></h2>
<p>The tower was lit in 1871.<sup id="_ref-1" class="reference"><a href="#_note-1" title="">[2]</a></sup>
 It was rebuilt by <a href="Ann_Moore" title="Ann Moore">Ann Moore</a>.</p><p><a id="Keepers" name="Keepers"></a></p>
<h3> <span class="mw-headline">Keepers</span></h3>
<p>Two keepers lived there.</p><p><a id="See_also" name="See_also"></a></p>
<h2><span class="mw-headline">See also</span></h2>
<ul><li><a href="Beacon" title="Beacon">Beacon</a></li></ul>
<p><a id="References" name="References"></a></p><h2><span class="mw-headline">References</span></h2>
<ol class="references"><li id="_note-0"><a href="#_ref-0">↑</a> A book.</li><li id="_note-1">A paper.</li></ol>
</div></div></body></html>"""

OF_2015 = """<html><head><meta charset="UTF-8"><title>Tern Rock Light</title>
<script src="../-/j/head.js"></script></head>
<body class="mw-body mw-body-content mediawiki"><div id="content" class="mw-body"><a id="top"></a>
<h1 id="titleHeading" style="margin: 0;">Tern Rock Light</h1>
<div id="mw-content-text">
<table class="infobox vevent" id="mwEA"><tbody><tr id="mwEQ"><th colspan="2" class="summary" id="mwEg">Tern Rock
 Light</th></tr><tr id="mwGg"><th scope="row" id="mwGw">Built</th><td id="mwHA">
1871</td></tr><tr id="mwLQ"><th scope="row" id="mwLg"><span style="white-space: nowrap;">Builder</span></th><td>
<a href="Ann_Moore.html" title="Ann Moore" id="mwMg">Ann Moore</a></td></tr></tbody></table>
<p id="mwQg"><b id="mwQw">Tern Rock Light</b> is a lighthouse on <a href="Tern_Rock.html" title="Tern Rock"
 id="mwRg">Tern Rock</a>.<sup id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup> It stands 40<span
 id="mwOw">&nbsp;</span>m high.</p>

<h2 id="mwSA">History</h2>
<p id="mwSB">The tower was lit in 1871.<sup id="cite_ref-Moore_2-0"><a href="#cite_note-Moore-2">[2]</a></sup> It was
 rebuilt by <a href="Ann_Moore.html" title="Ann Moore" id="mwSC">Ann Moore</a>.</p>
<h3 id="mwSD">Keepers</h3>
<p id="mwSE">Two keepers lived there.</p>
<h2 id="mwSF">See also</h2>
<ul id="mwSG"><li id="mwSH"><a href="Beacon.html" title="Beacon" id="mwSI">Beacon</a></li></ul>
<h2 id="mwSJ">References</h2>
<div class="reflist columns"><ol class="references"><li id="cite_note-1"><span><a href="#cite_ref-1">↑</a></span>
 <span class="mw-reference-text">A book.</span></li><li id="cite_note-Moore-2"><span>↑</span> A paper.</li></ol></div>
<table class="navbox" id="mwXA"><tbody><tr><td><a href="Lighthouse.html">Lighthouses</a></td></tr></tbody></table>
<div><div style="clear:both; direction: ltr;">This article is issued from <a class="external text"
 href="http://en.wikipedia.org/wiki/Tern_Rock_Light?oldid=631819986">Wikipedia</a>
 - version of the Friday, October 31, 2014. The text is available under the <a class="external text"
 href="http://creativecommons.org/licenses/by-sa/3.0/">Creative Commons Attribution/Share Alike</a> but additional terms
 may apply for the media files.</div></div></div></div><script src="../-/j/body.js"></script></body></html>"""

OF_2018 = """<!DOCTYPE html>
<html class="client-js"><head><meta charset="UTF-8"><title>Tern Rock Light</title></head>
<body class="mediawiki ns-0 skin-minerva"><div id="content" class="mw-body"><a id="top"></a>
<div id="bodyContent" class="content"><div id="mw-content-text">
<h1 class="section-heading" tabindex="0"><span class="mw-headline" id="title_0">Tern Rock Light</span></h1>
<div class="mf-section-0" id="mf-section-0">
<table class="infobox"><tbody><tr><th colspan="2" class="summary">Tern Rock Light</th></tr><tr><th
 scope="row">Built</th><td>1871</td></tr><tr><th scope="row">Builder</th><td><a
 href="Ann_Moore.html">Ann Moore</a></td></tr></tbody></table>
<p><b>Tern Rock Light</b> is a lighthouse on <a href="Tern_Rock.html" title="Tern Rock">Tern Rock</a>.<span
 class="mw-ref" id="cite_ref-1"><a href="#cite_note-1"><span class="mw-reflink-text">[1]</span></a></span> It stands
 40&nbsp;m high.</p>
</div>
<h2 class="section-heading" tabindex="0"><div class="mw-ui-icon indicator"></div><span class="mw-headline"
 id="History">History</span></h2>
<div class="mf-section-1" id="mf-section-1"><p>The tower was lit in 1871.<span class="mw-ref" id="cite_ref-2"><a
 href="#cite_note-2"><span class="mw-reflink-text">[2]</span></a></span> It was rebuilt by <a
 href="Ann_Moore.html">Ann Moore</a>.</p>
<h3 class="in-block" id="Keepers">Keepers</h3><p>Two keepers lived there.</p></div>
<h2 class="section-heading"><span class="mw-headline" id="See_also">See also</span></h2>
<div class="mf-section-2"><ul><li><a href="Beacon.html">Beacon</a></li></ul></div>
<h2 class="section-heading"><span class="mw-headline" id="References">References</span></h2>
<div class="mf-section-3"><div class="reflist"><ol class="mw-references references"><li id="cite_note-1">A book.</li>
<li id="cite_note-2">A paper.</li></ol></div></div>
<div>This article is issued from <a class="external text"
 href="https://en.wikipedia.org/wiki/?title=Tern_Rock_Light&amp;oldid=861245708">Wikipedia</a>. The text is licensed
 under <a class="external text" href="http://creativecommons.org/licenses/by-sa/4.0/">Creative Commons</a>.</div>
</div></div></div></body></html>"""

OF_2023 = """<!DOCTYPE html>
<html class="client-js"><head><meta charset="UTF-8"><title>Tern Rock Light</title>
<link rel="canonical" href="https://en.wikipedia.org/wiki/Tern_Rock_Light"></head>
<body class="mediawiki mw-hide-empty-elt ns-0 skin-minerva"><div id="mw-mf-viewport"><div id="mw-mf-page-center">
<div id="content" class="mw-body"><a id="top"></a><div id="bodyContent" class="content mw-parser-output">
<div id="mw-content-text" style="direction: ltr;"><h1 class="section-heading" tabindex="0" data-section-id="0">
  <span class="mw-headline" id="title_0"><span class="mw-page-title-main">Tern Rock Light</span></span>
</h1>
<div id="mf-section-0" class="mf-section-0" aria-expanded="true">
  <p><b>Tern Rock Light</b> is a lighthouse on <a href="Tern_Rock" title="Tern Rock">Tern Rock</a>.<span class="mw-ref
 reference" id="cite_ref-1"><a href="#cite_note-1" style="counter-reset: mw-Ref 1;"><span class="mw-reflink-text"><span
 class="mw-reflink-bracket">[</span>1]</span></a></span> It stands 40<span>&nbsp;</span>m high.</p>
<style data-mw-deduplicate="TemplateStyles:r1">.mw-parser-output .ambox{border:1px}</style><table class="infobox
 vevent"><tbody><tr><th colspan="2" class="infobox-above summary">Tern Rock Light</th></tr><tr><th scope="row"
 class="infobox-label">Built</th><td class="infobox-data plainlist">1871</td></tr><tr><th scope="row"
 class="infobox-label"><span class="nowrap">Builder</span></th><td class="infobox-data hlist"><a
 href="Ann_Moore">Ann Moore</a></td></tr></tbody></table>
</div><details data-level="2" open="">
    <summary class="section-heading"><h2 id="History">History</h2></summary>
    <p>The tower was lit in 1871.<span class="mw-ref reference" id="cite_ref-2"><a href="#cite_note-2"><span
 class="mw-reflink-text">[2]</span></a></span> It was rebuilt by <a href="Ann_Moore">Ann Moore</a>.</p>
    <details data-level="3" open=""><summary class="section-heading"><h3 id="Keepers">Keepers</h3></summary>
    <p>Two keepers lived there.</p></details>
</details><details data-level="2" open=""><summary class="section-heading"><h2 id="See_also">See also</h2></summary>
<ul><li><a href="Beacon">Beacon</a></li></ul>
</details><details data-level="2" open="">
    <summary class="section-heading"><h2 id="References">References</h2></summary>
    <div class="reflist   "><div class="mw-references-wrap"><ol class="mw-references references"><li id="cite_note-1">
 <span class="mw-reference-text"><cite class="citation">A book.</cite></span></li><li id="cite_note-2">A
 paper.</li></ol></div></div>
</details><!--htdig_noindex--><div><div style="clear:both; direction: ltr;">
    This article is issued from <a class="external text" title="Last edited on 2023-06-21"
 href="https://en.wikipedia.org/wiki/?title=Tern_Rock_Light&amp;oldid=1161245708">Wikipedia</a>. The text is licensed
 under <a class="external text" href="https://creativecommons.org/licenses/by-sa/4.0/">Creative Commons</a>.
</div>
</div><!--/htdig_noindex--></div></div></div></div></div><script src="../-/mw/startup.js"></script></body></html>"""

NEWEST = """<!DOCTYPE html>
<html class="client-js vector-feature"><head><meta charset="UTF-8"><title>Tern Rock Light</title></head>
<body class="mediawiki ltr skin-vector-2022"><div class="mw-page-container"><main id="content" class="mw-body">
<header class="mw-body-header"><h1 id="firstHeading" class="firstHeading mw-first-heading"><span
 class="mw-page-title-main">Tern Rock Light</span></h1></header>
<div id="bodyContent" class="vector-body"><div id="siteSub" class="noprint">From an encyclopaedia</div>
<div id="mw-content-text" class="mw-body-content"><div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
<section data-mw-section-id="0"><table class="infobox vcard"><tbody><tr><th colspan="2" class="infobox-above
 fn org">Tern Rock Light</th></tr><tr><th scope="row" class="infobox-label">Built</th><td
 class="infobox-data">1871</td></tr><tr><th scope="row" class="infobox-label">Builder</th><td class="infobox-data"><a
 href="./Ann_Moore" title="Ann Moore">Ann Moore</a></td></tr></tbody></table>
<p><b>Tern Rock Light</b> is a lighthouse on <a href="./Tern_Rock" title="Tern Rock">Tern Rock</a>.<sup id="cite_ref-1"
 class="mw-ref reference"><a href="./Tern_Rock_Light#cite_note-1"><span class="cite-bracket">[</span>1<span
 class="cite-bracket">]</span></a></sup> It stands 40&nbsp;m high.</p></section>
<section data-mw-section-id="1"><div class="mw-heading mw-heading2"><h2 id="History">History</h2><span
 class="mw-editsection"><span class="mw-editsection-bracket">[</span><a href="Special:Edit">edit</a>]</span></div>
<p>The tower was lit in 1871.<sup id="cite_ref-2" class="mw-ref reference"><a
 href="./Tern_Rock_Light#cite_note-2">[2]</a></sup> It was rebuilt by
 <a href="./Ann_Moore" title="Ann Moore">Ann Moore</a>.</p>
<section data-mw-section-id="2"><div class="mw-heading mw-heading3"><h3 id="Keepers">Keepers</h3></div>
<p>Two keepers lived there.</p></section></section>
<section data-mw-section-id="3"><div class="mw-heading mw-heading2"><h2 id="See_also">See also</h2></div>
<ul><li><a href="./Beacon" title="Beacon">Beacon</a></li></ul></section>
<section data-mw-section-id="4"><div class="mw-heading mw-heading2"><h2 id="References">References</h2></div>
<div class="mw-references-wrap"><ol class="mw-references references"><li id="cite_note-1"><span
 class="mw-cite-backlink">↑</span> <span class="mw-reference-text">A book.</span></li><li id="cite_note-2">A paper.</li>
</ol></div></section></div>
<div class="zim-footer">This article is issued from <a class="external text" title="Last edited on 2026-02-03"
 href="https://en.wikipedia.org/wiki/?title=Tern_Rock_Light&amp;oldid=1300000001">Wikipedia</a>. The text is available
 under <a href="https://creativecommons.org/licenses/by-sa/4.0/">a licence</a>.</div></div></div></main></div>
</body></html>"""


@dataclass(frozen=True)
class Generation:
    """A page of one age, and what of it is its age's own."""

    name: str
    html: str
    path: str = "Tern_Rock_Light"
    anchors: tuple[str, ...] = ("History", "Keepers", "See_also", "References")
    folder: str = ""
    ending: str = ""
    revision: int | None = None
    edited: str = ""

    def read(self) -> PageDoc:
        return a_page(self.html, title="Tern Rock Light", path=self.path)


GENERATIONS = (
    Generation("2007", OF_2007),
    Generation(
        "2015", OF_2015, "A/Tern_Rock_Light.html", ("mwSA", "mwSD", "mwSF", "mwSJ"), "A/", ".html",
        631819986, "2014-10-31",
    ),
    Generation("2018", OF_2018, "A/Tern_Rock_Light.html", folder="A/", ending=".html", revision=861245708),
    Generation(
        "2023", OF_2023, "A/Tern_Rock_Light", folder="A/", revision=1161245708, edited="2023-06-21",
    ),
    Generation("newest", NEWEST, revision=1300000001, edited="2026-02-03"),
)  # fmt: skip

every_age = pytest.mark.parametrize("age", GENERATIONS, ids=lambda age: age.name)


@every_age
def test_lead_is_the_same_in_every_age(age: Generation) -> None:
    """The lead is the introduction as a reader sees it, without marks, box and site lines (R38, R34)."""
    assert age.read().lead.strip() == LEAD


@every_age
def test_sections_are_the_same_in_every_age(age: Generation) -> None:
    """Headings come with their level, anchor and text, whatever markup has them (R36, R39, R113)."""
    history, keepers, see_also, references = age.anchors
    assert outline(age.read()) == [
        f"1  #: {LEAD}",
        f"2 History #{history}: {HISTORY}",
        f"3 Keepers #{keepers}: {KEEPERS}",
        f"2 See also #{see_also}: Beacon",
        f"2 References #{references}:",
    ]


@every_age
def test_text_of_the_page_is_the_same_in_every_age(age: Generation) -> None:
    """The plain text is the article with its headings, then the box, and nothing else (R112, R152)."""
    assert age.read().text == "\n\n".join(
        [
            LEAD,
            "History",
            HISTORY,
            "Keepers",
            KEEPERS,
            "See also",
            "Beacon",
            "References",
            "Tern Rock Light\nBuilt\t1871\nBuilder\tAnn Moore",
        ]
    )


@every_age
def test_links_are_the_same_in_every_age(age: Generation) -> None:
    """Links of the article lead to the book's own paths, with their place (R35, R114, R152)."""
    page = age.read()
    shown = [line for line in link_lines(page) if not line.startswith(("navigation", "references"))]
    builder, rock, beacon = (f"{age.folder}{name}{age.ending}" for name in ("Ann_Moore", "Tern_Rock", "Beacon"))
    assert shown == [
        f"lead: Tern Rock -> {rock}",
        f"body: Ann Moore -> {builder}",
        f"see also: Beacon -> {beacon}",
        f"infobox: Ann Moore -> {builder}",
    ]
    assert {link.target_title for link in page.links if link.in_text} == {"Tern Rock", "Ann Moore", "Beacon"}


@every_age
def test_references_are_counted_in_every_age(age: Generation) -> None:
    """References are counted for the page and for each section (R41)."""
    page = age.read()
    assert page.signals.references == 2
    assert [section.references for section in page.sections] == [1, 1, 0, 0, 0]
    assert [mark.kind for mark in page.marks] == ["reference", "reference"]


@every_age
def test_reference_marks_follow_the_sentence_they_prove(age: Generation) -> None:
    """A mark's offset is right after the words that the reference was at (R41)."""
    page = age.read()
    assert [page.text[mark.offset - 10 : mark.offset] for mark in page.marks] == ["Tern Rock.", "t in 1871."]


@every_age
def test_infobox_is_read_in_every_age(age: Generation) -> None:
    """The box gives key and value of each row, and its title (R40)."""
    page = age.read()
    assert box_lines(page) == ["Built: 1871", "Builder: Ann Moore"]
    assert [box.title for box in page.infoboxes] == ["Tern Rock Light"]


@every_age
def test_the_footer_gives_the_revision(age: Generation) -> None:
    """The revision and the day of its edit come from the scraper's footer, which is not text of the article."""
    page = age.read()
    assert (page.provenance.revision, page.provenance.edited) == (age.revision, age.edited)
    assert ("oldid=" in page.provenance.source) == (age.revision is not None)
    assert "issued from" not in page.text


@every_age
def test_title_and_id_are_the_same_in_every_age(age: Generation) -> None:
    """The title is the entry's own and the id its hash, whatever the page calls itself (R37, R109, R110)."""
    page = age.read()
    assert (page.title, page.id) == ("Tern Rock Light", page_id("Tern Rock Light"))
    assert page.text.count("Tern Rock Light") == 2, "once in the lead, once in the box"


@pytest.mark.parametrize(
    ("entry_title", "html", "path", "title"),
    [
        ("Given", "<title>In the head</title><p>x", "A/In_the_path.html", "Given"),
        ("", "<title>In  the\nhead</title><p>x", "A/In_the_path.html", "In the head"),
        ("", "<p>x", "A/In_the_path.html", "In the path"),
        ("", "<title>Tom &amp; Jerry</title><p>x", "x", "Tom & Jerry"),
    ],
)
def test_title_is_found(entry_title: str, html: str, path: str, title: str) -> None:
    """The title is the entry's, else the page's own, else what the path says (R37)."""
    assert a_page(html, title=entry_title, path=path).title == title
