"""Pages of books other than Wikipedia are read as well as they allow."""

from __future__ import annotations

from tests.page.pages import a_page, kinds, link_lines, outline

QUESTION = """<!DOCTYPE html><html><head><meta charset="utf-8"/><title>How do I knot a rope?</title>
<script src="../../-/static/jquery.js"></script></head><body class="question"><div class="container">
<div class="row"><h2 class="title">How do I knot a rope?</h2></div><div class="row"><div class="col-md-7">
<div id="question"><div class="post"><div class="post-container"><div class="reputation"><div class="score"><p><span
 class="glyphicon"></span></p><p>7</p></div></div><div class="body"><p>My rope slips. What
 should I do?</p></div></div><div class="tags"><ul><li><a href="../tag/knots/1.html">knots</a></li></ul></div>
<div class="comments"><div class="comment"><p><span class="score">1</span><span class="text">Which rope? See <a
 href="../question/12.html">this</a></span> – <a href="../user/3/ann.html">Ann</a></p></div></div></div></div>
<h2>Answers</h2><div id="answers"><div id="a2"><div class="post"><div class="body"><div><p>Use a bowline:</p>
<pre><code>loop = 1
  pull()
</code></pre><blockquote><p>It never slips.</p></blockquote></div></div></div></div></div></div></div>
<div id="footer">This question is issued from <a href="http://example.org/questions/1">example.org</a>.</div>
</div></body></html>"""

MANUAL = """<html class="_theme-default"><head><meta charset="utf-8"><title>pull</title>
<link rel="stylesheet" href="application.css"></head><body><div class="_app">
<devdocs-navbar current="pull" prefix="" listing-src="navbar.json"></devdocs-navbar>
<div class="_container"><main class="_content"><div class="_page _ropes"> <h1 id="pull">pull</h1>
<p>Pulls the <a href="rope#ends">rope</a>.</p> <h2 id="syntax">Syntax</h2>
<pre data-language="c">int pull(rope *r);</pre>
<h3 id="errors">Errors</h3> <table><thead><tr><th>Code</th><th>Meaning</th></tr></thead><tbody><tr>
<td><code>1</code></td><td>it slipped</td></tr></tbody></table>
<div class="_attribution"><p class="_attribution-p">Made by sailors.<br><a
 href="https://example.org/pull" class="_attribution-link">https://example.org/pull</a></p></div></div></main></div></div>
<script src="assets/index.js"></script></body></html>"""

WEBSITE = """<html><head><title>Our harbour</title></head><body bgcolor=white><center><h1>Our harbour</h1></center>
<nav><ul><li><a href="/home">Home</a></li></ul></nav><div role="banner">Buy now</div>
<font size=2>Ships come <b>daily</b>.<p>Write to <a href="mailto:us@example.org">us</a> or see <a
 href="ships.htm?year=2&amp;page=3">the ships</a>.</font><form><input value=x><button>Go</button></form>
<footer>All rights reserved</footer></body></html>"""


def test_question_and_answers() -> None:
    """A page of questions keeps question, answers, code and quotes, and not the book's own footer."""
    page = a_page(QUESTION, title="How do I knot a rope?", path="A/question/1.html")
    lines = kinds(page)
    assert "paragraph: My rope slips. What should I do?" in lines
    assert "code: loop = 1\n  pull()" in lines
    assert "quote: It never slips." in lines
    assert [section.heading for section in page.sections] == ["", "How do I knot a rope?", "Answers"]
    assert "issued from" not in page.text


def test_links_between_questions() -> None:
    """Links of a question lead to other questions, tags and people, out of its own folder."""
    page = a_page(QUESTION, path="A/question/1.html")
    assert link_lines(page) == [
        "list: knots -> A/tag/knots/1.html",
        "body: this -> A/question/12.html",
        "body: Ann -> A/user/3/ann.html",
    ]


def test_manual() -> None:
    """A page of a manual keeps its headings with their anchors, its code and its tables."""
    page = a_page(MANUAL, title="pull", path="pull")
    assert outline(page) == [
        "1  #:",
        "1 pull #pull: Pulls the rope.",
        "2 Syntax #syntax: int pull(rope *r);",
        "3 Errors #errors: Code\tMeaning\n\n1\tit slipped",
    ]
    assert link_lines(page) == ["body: rope -> rope#ends"]


def test_any_website() -> None:
    """A hand-made page without any known structure gives its words and links, without menus and controls."""
    page = a_page(WEBSITE, title="", path="example.org/index.htm")
    assert (page.title, page.text) == (
        "Our harbour",
        "Our harbour\n\nShips come daily.\n\nWrite to us or see the ships.",
    )
    assert link_lines(page) == [
        "body: the ships -> example.org/ships.htm?year=2&page=3",
        "navigation: Home -> home",
    ]


def test_other_books_have_no_wiki_parts() -> None:
    """What only wikis have is empty elsewhere, not guessed."""
    for html in (QUESTION, MANUAL, WEBSITE):
        page = a_page(html)
        assert (page.infoboxes, page.hatnotes, page.categories, page.marks) == ((), (), (), ())
        assert (page.provenance.revision, page.signals.references) == (None, 0)


def test_article_is_found_in_its_frame() -> None:
    """If a page says what its content is, only that is text, and links around it are navigation."""
    page = a_page(
        "<div id='head'>Site name</div><div id='side'><a href='Other'>Other</a></div>"
        "<main><h1>Rope</h1><p>A rope.</p></main><div id='ads'>Buy ropes</div>"
    )
    assert (page.text, link_lines(page)) == ("Rope\n\nA rope.", ["navigation: Other -> Other"])


def test_links_to_revisions_in_the_book_are_not_provenance() -> None:
    """Only an address out of the book says where the page was taken from."""
    page = a_page("<p>x</p><div>See <a href='History?oldid=5'>that revision</a>.</div>")
    assert (page.provenance.revision, page.text) == (None, "x\n\nSee that revision.")


def test_footer_link_of_an_article_that_cites_a_revision_is_kept() -> None:
    """A link to an old revision inside a paragraph is part of the article."""
    page = a_page("<div><p>See <a href='https://example.org/?title=X&amp;oldid=5'>that revision</a>.</p></div>")
    assert page.text == "See that revision."
