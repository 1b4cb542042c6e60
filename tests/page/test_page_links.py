"""Links: where they lead, what they say, and where they are."""

from __future__ import annotations

import pytest
from tests.page.pages import a_page, link_lines, outline

PLACES = """<div id="mw-content-text">
<div class="hatnote">For the bird, see <a href="Tern">Tern</a>.</div>
<table class="infobox"><tr><th>Owner</th><td><a href="Crown">The Crown</a></td></tr></table>
<p>A rock in the <a href="North_Sea">North Sea</a>.<sup class="reference"><a href="Note_1">[1]</a></sup></p>
<h2 id="Life">Life</h2>
<p>Home of <a href="Seal">seals</a>.</p>
<ul><li>the <a href="Puffin">puffin</a></li></ul>
<table><tr><td><a href="Gull">gull</a></td></tr></table>
<figure><img src="x.jpg"><figcaption>A <a href="Cliff">cliff</a></figcaption></figure>
<p><span style="display:none"><a href="Key">key</a></span></p>
<h2>See also</h2><ul><li><a href="Skerry">Skerry</a></li></ul>
<h2>References</h2><ol class="references"><li><a href="Atlas">An atlas</a></li></ol>
<table class="navbox"><tr><td><a href="Rockall">Rockall</a></td></tr></table>
<table class="ambox"><tr><td>Needs <a href="Help">help</a>.</td></tr></table>
<div id="catlinks">Categories: <a href="Category:Rocks">Rocks</a></div>
</div>
<div id="menu"><a href="Main_Page">Home</a></div>"""


def test_a_link_has_its_place_on_the_page() -> None:
    """A link says in which part of the page it is, in the text or out of it (R35, R114)."""
    assert sorted(link_lines(a_page(PLACES))) == sorted(
        [
            "hatnote: Tern -> Tern",
            "infobox: The Crown -> Crown",
            "lead: North Sea -> North_Sea",
            "references: [1] -> Note_1",
            "body: seals -> Seal",
            "list: puffin -> Puffin",
            "table: gull -> Gull",
            "caption: cliff -> Cliff",
            "hidden: key -> Key",
            "see also: Skerry -> Skerry",
            "references: An atlas -> Atlas",
            "navigation: Rockall -> Rockall",
            "note: help -> Help",
            "categories: Rocks -> Category:Rocks",
            "navigation: Home -> Main_Page",
        ]
    )


def test_links_of_the_text_know_their_section() -> None:
    """A link of the text belongs to the section that its words are in (R114)."""
    page = a_page(PLACES)
    found = {link.text: page.sections[link.section].heading for link in page.links if link.in_text}
    assert found == {
        "North Sea": "",
        "seals": "Life",
        "puffin": "Life",
        "gull": "Life",
        "cliff": "Life",
        "Skerry": "See also",
        "The Crown": "",
    }


@pytest.mark.parametrize("place", ["hatnote", "navigation", "references", "note", "categories", "hidden"])
def test_links_outside_the_text_have_no_offsets(place: str) -> None:
    """What is cut from the text keeps its links, without offsets and without a sentence."""
    page = a_page(PLACES)
    links = [link for link in page.links if link.place == place]
    assert links
    assert [(link.start, link.end, page.sentence(link)) for link in links] == [(-1, -1, "")] * len(links)


@pytest.mark.parametrize(("language", "heading"), [("eng", "See also"), ("deu", "Siehe auch"), ("fra", "Voir aussi")])
def test_see_also_is_known_in_other_languages(language: str, heading: str) -> None:
    """The section of related pages is recognised by its heading, up to the next heading."""
    html = f"<p>x</p><h2>{heading}</h2><p><a href='A'>a</a></p><h2>Other</h2><p><a href='B'>b</a></p>"
    assert link_lines(a_page(html, language=language)) == ["see also: a -> A", "body: b -> B"]


@pytest.mark.parametrize(
    ("path", "href", "target"),
    [
        ("Page", "Other", "Other"),
        ("Page", "./Other", "Other"),
        ("Page", "Other_page#Part_2", "Other_page#Part_2"),
        ("Page", "What%3F#R%C3%A9ply", "What?#Réply"),
        ("Page", "AC%2FDC", "AC/DC"),
        ("Page", "50%25", "50%"),
        ("Page", "100%", "100%"),
        ("Page", "Tom_&amp;_Jerry", "Tom_&_Jerry"),
        ("Page", "%E4%B8%AD%E5%9B%BD", "中国"),
        ("Page", "Zürich", "Zürich"),
        ("Page", "2001:_A_Space_Odyssey", "2001:_A_Space_Odyssey"),
        ("Page", "O'Neill_%22x%22", 'O\'Neill_"x"'),
        ("A/Page.html", "Other.html", "A/Other.html"),
        ("A/Page", "../A/Other", "A/Other"),
        ("A/AC/DC", "../Other", "A/Other"),
        ("site.org/a/", "b?page=2", "site.org/a/b?page=2"),
        ("site.org/a/", "/x/y", "x/y"),
    ],
)
def test_links_lead_to_paths_of_the_book(path: str, href: str, target: str) -> None:
    """A link leads to the path as the book spells it: decoded once, taken from the page's own folder (R35)."""
    page = a_page(f'<p>See <a href="{href}">this</a>.</p>', path=path)
    assert link_lines(page) == [f"lead: this -> {target}"]


@pytest.mark.parametrize(
    ("path", "href"),
    [
        ("Page", "#top"),
        ("Page", "#"),
        ("Page", ""),
        ("Page", "Page#History"),
        ("Page", "./Page"),
        ("A/Page", "Page"),
        ("A/Page", "../A/Page#x"),
        ("Zürich", "Z%C3%BCrich"),
        ("Page", "https://example.org/Other"),
        ("Page", "//example.org/Other"),
        ("Page", "mailto:ann@example.org"),
        ("Page", "javascript:void(0)"),
        ("Page", "geo:54.3,10.1"),
    ],
)
def test_links_that_lead_nowhere_else_are_left_out(path: str, href: str) -> None:
    """Links to the page itself, to a part of it or out of the book are not links, but their words stay."""
    page = a_page(f'<p>See <a href="{href}">this</a>.</p>', path=path)
    assert (page.links, page.text) == ((), "See this.")


def test_pictures_that_link_are_found() -> None:
    """A link around a picture has no words and no offsets, and still leads somewhere."""
    page = a_page('<p>Before.</p><p><a href="Harbour"><img src="x.jpg" alt="a harbour"></a></p><p>After.</p>')
    assert link_lines(page) == ["lead:  -> Harbour"]
    assert (page.links[0].in_text, page.text) == (False, "Before.\n\nAfter.")


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ('<a href="X">one <b>two</b> <i>three</i></a>', "one two three"),
        ('<a href="X"> padded </a>', "padded"),
        ('<a href="X">H<sub>2</sub>O</a>', "H₂O"),
        ('<a href="X">a\n b&nbsp;c</a>', "a b c"),
        ('<a href="X"><span style="display:none">no</span>yes</a>', "yes"),
        ('<a class="mw-redirect" title="1 > 0" href="X" id="mwAb">word</a>', "word"),
    ],
)
def test_words_of_a_link_are_those_of_the_text(html: str, words: str) -> None:
    """A link says what a reader sees of it, and its offsets point at just that (R114)."""
    page = a_page(f"<p>See{html}there and {html} again.</p>")
    assert [link.text for link in page.links] == [words, words]
    assert [page.text[link.start : link.end] for link in page.links] == [words, words]


@pytest.mark.parametrize(
    ("html", "sentence"),
    [
        ("It rained. He saw <a href='X'>it</a> then. She left.", "He saw it then."),
        ("<a href='X'>It</a> rained. She left.", "It rained."),
        ("It rained. She saw <a href='X'>it</a>.", "She saw it."),
        ("He read <a href='X'>Tales, Vol. 2 Part I</a> twice. She left.", "He read Tales, Vol. 2 Part I twice."),
        ("It sold. He read <a href='X'>One. Two. Three</a> twice. She left.", "He read One. Two. Three twice."),
        ("Dr. Moore met <a href='X'>Mr. Hyde</a> there. She left.", "Dr. Moore met Mr. Hyde there."),
        ("One.</p><p>Two <a href='X'>x</a></p><p>Three.", "Two x"),
        ("One.</p><ul><li>an <a href='X'>x</a></li><li>b</li></ul><p>c", "an x"),
    ],
)
def test_sentence_around_a_link_is_whole(html: str, sentence: str) -> None:
    """The sentence around a link ends where the reader sees it end, even if the link has full stops (R114)."""
    page = a_page(f"<p>{html}</p>")
    assert [page.sentence(link) for link in page.links] == [sentence]


def test_links_to_the_same_page_are_all_kept_in_order() -> None:
    """A page that is linked three times is found three times, in the order of the text."""
    page = a_page("<p><a href='B'>b</a> <a href='A'>a</a> <a href='B'>c</a></p><h2>H</h2><p><a href='B'>d</a></p>")
    assert [link.text for link in page.links] == ["b", "a", "c", "d"]


def test_old_anchors_before_headings_are_not_links() -> None:
    """An anchor without href names the heading behind it and is not a link (R39)."""
    page = a_page('<p>x</p><p><a id="The_end" name="The_end"></a></p><h2>The end</h2><p>y</p>')
    assert (outline(page)[1], page.links) == ("2 The end #The_end: y", ())


def test_hatnotes_and_categories_are_kept_as_words() -> None:
    """The text of a hatnote and the names of the categories are separate from the text."""
    page = a_page(PLACES)
    assert (page.hatnotes, page.categories) == (("For the bird, see Tern.",), ("Rocks",))


def test_categories_outside_the_article_are_found() -> None:
    """Categories may be in the frame around the article."""
    page = a_page(
        '<div id="mw-content-text"><p>x</p></div><div id="catlinks" class="catlinks"><a '
        'href="Special:Categories">Categories</a>: <ul><li><a href="Category:Rocks">Rocks</a></li>'
        '<li><a href="Category:Islands_of_x">Islands of x</a></li></ul></div>'
    )
    assert page.categories == ("Rocks", "Islands of x")
