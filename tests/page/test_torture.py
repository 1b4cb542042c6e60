"""Pages that no author meant to write are read like any other."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page, link_lines, outline


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("   \n\t ", ""),
        ("<!-- only a comment -->", ""),
        ("<!DOCTYPE html><html><head></head></html>", ""),
        ("no tags at all", "no tags at all"),
        ("<p>one<div>two<b>three", "one\n\ntwothree"),
        ("<b><p>one</b> two</p></i></div></table>", "one two"),
        ("<p>one<ul><li>two<li>three</ul>four", "one\n\ntwo\nthree\n\nfour"),
        ("<table><p>one</p><tr><td>two", "one\n\ntwo"),
        ("<table><tr>one<td>two</tr>three</table>", "onethree\n\ntwo"),
        ("</p></td></html><p>after all</p>", "after all"),
        ("<p <b>one</b>", "one"),
        ("<p>1 < 2 and 3 > 2 & so on</p>", "1 < 2 and 3 > 2 & so on"),
        ("<p>&zzz; &#x41; &#0; &#xD800; &#x110000;</p>", "&zzz; A \ufffd \ufffd \ufffd"),
        ("<p>un<wbr>broken</p>", "unbroken"),
        ("<P>LOUD <BR/>TAGS</P>", "LOUD\nTAGS"),
        ("<p/><div/>closed", "closed"),
        ("<p>one<!-- <p>two</p><h2>three</h2> --> four</p>", "one four"),
        ("<p>one<!-- > -- --!> two<!-- never closed <p>three", "one two"),
        ("<p>one<![CDATA[two]]> three<?php echo '4'; ?></p>", "one three"),
        ("<x-custom>own <y-tag>elements</y-tag></x-custom>", "own elements"),
        ("<frameset cols='1,2'><frame src='a.html'><frame src='b.html'></frameset>", ""),
    ],
)
def test_broken_markup(html: str, text: str) -> None:
    """Broken markup is repaired as a browser does it, and the words stay."""
    assert a_page(html).text == text


@pytest.mark.parametrize(
    "html",
    [
        '<p title="a > b">word</p>',
        "<p title='it is \"so\" <b>'>word</p>",
        '<p title="it\'s <p>not</p>">word</p>',
        '<p data-mw=\'{"parts":[{"template":"<ref>x</ref>"}]}\'>word</p>',
        '<p title="<!--">word</p>',
        '<p title="&quot;><script>">word</p>',
        f'<p title="{"x" * 1_000_000}">word</p>',
        "<p title=unquoted class=>word</p>",
        '<p class="a" class="hatnote">word</p>',
    ],
    ids=["gt", "quotes", "apostrophe", "json", "comment", "entity", "huge", "bare", "twice"],
)
def test_attributes_are_not_text(html: str) -> None:
    """Whatever is in an attribute, the page reads the same."""
    assert a_page(f"<p>before</p>{html}<p>after</p>").text == "before\n\nword\n\nafter"


@pytest.mark.parametrize(
    "code",
    [
        "<script>if (a < b && c > d) { s = '</div></p>'; }</script>",
        "<script>document.write('<script>x</' + 'script>');</script>",
        "<script>var s = '<script';</script>",
        "<script>var s = '<!--';</script>",
        "<script><!-- <script> </script> --></script>",
        "<style>p::before { content: '<p>'; } /* </p> <!-- */</style>",
        "<style>a > b { color: red }</style>",
        "<textarea></div><p>text</p></textarea>",
        "<iframe><p>old</p></iframe>",
        "<noscript><img src='x'><p>no code</p></noscript>",
    ],
)
def test_code_does_not_leak(code: str) -> None:
    """Code that looks like markup ends where it ends, and none of it is text."""
    page = a_page(f"<div><p>before</p>{code}<p>after <a href='X'>x</a></p></div>")
    assert (page.text, link_lines(page)) == ("before\n\nafter x", ["lead: x -> X"])


@pytest.mark.parametrize("closed", [True, False])
def test_deep_nesting_returns(closed: bool) -> None:
    """A hundred thousand divisions inside each other are read, and the words in the deepest are not lost."""
    assert a_page("<div>" * 100_000 + "deep" + "</div>" * 100_000 * closed).text == "deep"


@pytest.mark.parametrize(
    "opening",
    [
        "<span>",
        "<b>",
        "<main>",
        "<div id='content'>",
        "<blockquote><p>",
        "<a href='X'>",
        "<ul><li>",
        "<dl><dd>",
        "<table><tr><td>",
        "<sup>",
    ],
)
def test_deep_nesting_of_other_elements_returns(opening: str) -> None:
    """Lists in lists and tables in tables are read too, however deep they go."""
    assert a_page(opening * 20_000 + "deep").text == "deep"


@pytest.mark.parametrize(
    "tag", ["<div class='hatnote'>", "<div class='ambox'>", "<div class='navbox'>", "<div class='infobox'>", "<nav>"]
)
def test_boxes_in_boxes_return(tag: str) -> None:
    """Boxes inside boxes, hundreds deep, are read like one."""
    assert a_page(f"<p>before</p>{tag * 500}deep").lead == "before"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<meta charset='iso-8859-1'><p>Café</p>".encode("latin-1"), "Café"),
        ("<meta http-equiv='Content-Type' content='text/html; charset=windows-1252'><p>€5</p>".encode("cp1252"), "€5"),
        ("<meta charset='koi8-r'><p>Киль</p>".encode("koi8-r"), "Киль"),
        ("<p>Café 中</p>".encode("utf-16"), "Café 中"),
        (b"\xfe\xff" + "<p>Café 中</p>".encode("utf-16-be"), "Café 中"),
        (b"\xef\xbb\xbf<p>Caf\xc3\xa9</p>", "Café"),
        ("<meta charset='latin-1'><p>Café</p>".encode(), "Café"),
        (b"<p>Caf\xe9 is old</p>", "Caf\ufffd is old"),
        (b"<meta charset='nonsense'><p>Caf\xe9</p>", "Caf\ufffd"),
        (b"<meta charset='hex'><p>Caf\xe9</p>", "Caf\ufffd"),
        (b"<meta charset='idna'><p>Caf\xe9</p>", "Caf\ufffd"),
        (b"<p>a\x00b</p>\x00<p>c</p>", "ab\n\nc"),
        (b"<p\x00>a</p\x00>", "a"),
        (b"\x00\x01\x02\xff\xfe", "\ufffd\ufffd"),
    ],
)  # fmt: skip
def test_encodings(content: bytes, text: str) -> None:
    """Bytes are read as what they are, else as what they claim to be, and never refused."""
    assert a_page(content).text == text


def test_lone_surrogates_never_reach_the_text() -> None:
    """Half a character is replaced, so that every text can be written to a file."""
    page = a_page("<p>half \ud83d a pair</p>", title="T", path="T")
    page.text.encode()
    assert (page.text[:5], page.text[-7:]) == ("half ", " a pair")


def test_right_to_left_text_is_in_reading_order() -> None:
    """Text from right to left is kept as it is stored, without direction marks."""
    page = a_page('<p dir="rtl">\u200fשלום \u202bעולם\u202c</p><p dir="rtl">مرحبا <a href="X">عالم</a></p>')
    assert page.text == "שלום עולם\n\nمرحبا عالم"
    assert link_lines(page) == ["lead: عالم -> X"]


@pytest.mark.parametrize(
    ("word", "size"),
    [
        ("w", 2_000_000), ("word ", 2_000_000), ("&", 2_000_000), ("<", 200_000), ("[", 200_000), ("<br>", 200_000),
        ("&nbsp;", 200_000), ("a.b. ", 200_000), (".)", 200_000), ("<b></b>", 200_000),
    ],
)  # fmt: skip
def test_one_endless_line(word: str, size: int) -> None:
    """A page of one line, up to two megabytes of it, is read to its end."""
    line = word * (size // len(word))
    page = a_page(f"<p>Start {line} <a href='X'>End</a></p>")
    assert page.text[:5] == "Start"
    assert link_lines(page) == ["lead: End -> X"]
    assert page.text[-3:] == "End"


def test_headings_anywhere_are_headings() -> None:
    """A heading in a table, a list or a link starts a section like any other, and an empty one starts none."""
    page = a_page(
        "<p>Lead.</p><table><tr><td><h2>One</h2></td></tr><tr><td>a</td></tr></table>"
        "<ul><li><h3>Two</h3>b</li></ul><a href='X'><h2>Three</h2></a><p>c</p><h2> <span></span> </h2><p>d</p>"
    )
    assert outline(page) == ["1  #: Lead.", "2 One #: a", "3 Two #: b", "2 Three #: c\n\nd"]


def test_heading_levels_may_jump() -> None:
    """Levels are those of the page, even where its author skipped some."""
    page = a_page("<h1>One</h1><h4>Four</h4><h6>Six</h6>x<h2>Two</h2>")
    assert outline(page) == ["1  #:", "1 One #:", "4 Four #:", "6 Six #: x", "2 Two #:"]


@pytest.mark.parametrize(
    ("content", "mimetype", "text"),
    [
        ("a < b & c\n\n  d  e\n", "text/plain", "a < b & c\n\n  d  e"),
        ("<p>not markup</p>", "text/plain", "<p>not markup</p>"),
        ("<p>markup</p>", "text/html; charset=utf-8", "markup"),
        ("<p>markup</p>", "application/xhtml+xml", "markup"),
        (b"\x89PNG\r\n\x1a\n\x00<p>x</p>", "image/png", ""),
        ("{}", "application/json", ""),
        (b"\xff\xfe", "", ""),
    ],
)
def test_entries_of_other_kinds(content: str | bytes, mimetype: str, text: str) -> None:
    """Plain text is read unchanged, and pictures and the like as empty pages."""
    page = a_page(content, mimetype=mimetype, title="A thing", path="thing")
    assert (page.text, page.title, page.links) == (text, "A thing", ())
