"""Pictures of pages: where they are in the book, the words under them, and what is not a picture to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.page.pictures import MAX_CAPTION_CHARS, pictures_in

IMAGE = '<img src="../I/m/Boat.jpg" width="220" height="165">'


def seen(markup: str, *, path: str = "A/Boat", title: str = "Boat") -> list[str]:
    """Each picture on a line: its headings, its path, its caption and what else is known of it."""
    lines = []
    for one in pictures_in(markup.encode("utf-8", "surrogatepass"), path, title):
        box = " in the box" if one.in_box else ""
        alt = f" ({one.alt})" if one.alt else ""
        lines.append(f"{' > '.join(one.headings)}{box}: {one.path}: {one.caption}{alt}".strip())
    return lines


@pytest.mark.parametrize(
    ("markup", "line"),
    [
        (
            f'<h2>Use</h2><div class="thumb tright"><div class="thumbinner">{IMAGE}'
            '<div class="thumbcaption">A boat<sup class="reference">[1]</sup> on a <a href="Lake">lake</a></div>'
            "</div></div>",
            "Use: I/m/Boat.jpg: A boat on a lake",
        ),
        (
            '<h2>Use</h2><h3 id="x">Trade</h3><figure typeof="mw:File/Thumb"><a href="./File:Boat.jpg">'
            '<img alt="Two men row" src="./_assets_/Boat.jpg.webp" width="250" height="140"></a>'
            "<figcaption>Rowers &amp; a boat</figcaption></figure>",
            "Use > Trade: A/_assets_/Boat.jpg.webp: Rowers & a boat (Two men row)",
        ),
        (
            '<ul class="gallery"><li class="gallerybox"><div class="thumb"><img src="../I/a%252C.png"></div>'
            '<div class="gallerytext"><p>Boats</p></div></li></ul>',
            ": I/a%2C.png: Boats",
        ),
        (
            '<div class="thumb"><div class="thumbinner"><div class="tsingle"><img src="../I/a.png">'
            '<div class="thumbcaption">Left</div></div></div></div>',
            ": I/a.png: Left",
        ),
        (
            '<figure><img src="data:image/gif;base64,R0lG" data-src="../I/late.jpg"><figcaption>Late</figcaption>'
            "</figure>",
            ": I/late.jpg: Late",
        ),
        (
            '<table class="infobox"><tr><td class="infobox-image"><img src="../I/a.png">'
            '<div class="infobox-caption">A boat in 1900</div></td></tr></table>',
            "in the box: I/a.png: A boat in 1900",
        ),
        (
            '<table class="infobox"><tr><td><p><img src="../I/a.png"></p><div>A boat in 1900</div></td></tr>'
            "<tr><th>Length</th><td>5 m</td></tr></table>",
            "in the box: I/a.png: A boat in 1900",
        ),
        (
            '<table class="infobox"><tr><td><img src="../I/a.png" alt="A boat"></td></tr></table>',
            "in the box: I/a.png: Boat (A boat)",
        ),
        (f'<div class="thumb">{IMAGE}</div><p>A boat floats.</p>', ": I/m/Boat.jpg: Boat"),
    ],
)
def test_pictures_of_every_generation_are_read(markup: str, line: str) -> None:
    """Thumbs, figures, galleries, infoboxes of then and now, and pictures that are loaded late."""
    assert [one.strip() for one in seen(markup)] == [line]


@pytest.mark.parametrize(
    "markup",
    [
        f"<p>A boat {IMAGE} floats.</p>",
        '<figure><img src="../I/flag.png" width="22" height="15"><figcaption>A flag</figcaption></figure>',
        '<figure><img src="../I/line.png" width="500" height="20px"><figcaption>A line</figcaption></figure>',
        '<figure><img src="https://example.org/a.png"><figcaption>Elsewhere</figcaption></figure>',
        '<figure><img src="//example.org/a.png"><figcaption>Elsewhere</figcaption></figure>',
        '<figure><img src="data:image/png;base64,iVBO"><figcaption>Inside</figcaption></figure>',
        "<figure><img><figcaption>Nowhere</figcaption></figure>",
        f'<h2>Use</h2><div class="thumb">{IMAGE}</div>',
        f'<div class="navbox"><figure>{IMAGE}<figcaption>A menu</figcaption></figure></div>',
        f'<div class="hatnote"><figure>{IMAGE}<figcaption>A note</figcaption></figure></div>',
        f'<div style="display:none"><figure>{IMAGE}<figcaption>Hidden</figcaption></figure></div>',
        f"<p>It.</p><noscript><figure>{IMAGE}<figcaption>Code</figcaption></figure></noscript>",
        f"<figure><figcaption>A boat {IMAGE}</figcaption></figure>",
        "",
    ],
)
def test_icons_and_decorations_are_left_out(markup: str) -> None:
    """Icons, lines, pictures from outside, of menus and notes, in captions, and those without a caption."""
    assert seen(markup) == []


def test_only_the_first_picture_of_an_infobox_is_called_by_the_title() -> None:
    """The others need words of their own, a caption or an alternative text; a file name does not count."""
    cells = ('src="../I/a.png"', 'src="../I/b.png" alt="Her name, signed"', 'src="../I/c.png" alt="Map of it.png"')
    rows = "".join(f"<tr><td><img {one}></td></tr>" for one in cells)
    assert seen(f'<table class="infobox">{rows}</table>', title=" Ann \n Lee ") == [
        "in the box: I/a.png: Ann Lee",
        "in the box: I/b.png: Her name, signed (Her name, signed)",
    ]


def test_pictures_come_in_the_order_of_the_page() -> None:
    """Whichever caption ends first; a frame of several pictures with one caption gives its first."""
    markup = (
        '<figure><img src="1.png"><img src="2.png"><div class="thumb"><img src="3.png">'
        '<div class="thumbcaption">Third</div></div><figcaption>First</figcaption></figure>'
        '<figure><img src="4.png"><figcaption>Fourth</figcaption></figure>'
    )
    assert [one.path for one in pictures_in(markup.encode(), "Boat", "Boat")] == ["1.png", "3.png", "4.png"]


def test_a_long_caption_is_cut_between_words() -> None:
    (found,) = pictures_in(
        f'<figure><img src="1.png"><figcaption>{"many words " * 100}</figcaption></figure>'.encode(), "Boat", ""
    )
    assert len(found.caption) <= MAX_CAPTION_CHARS + 2
    assert found.caption.endswith(("many …", "words …"))


PIECES = (
    "<figure>", "</figure>", "<figcaption>", "</figcaption>", '<div class="thumb">', "</div>", '<img src="a.png">',
    '<img src="&#xd800;%ff%00">', f'<img src="b.png" width="{"9" * 5_000}" alt="&quot;>">', "<table class=infobox>",
    "<tr><td>", "</table>", "<h2>", "</h2>", "<h9>", "words", "<script>", "</script>", "<!--", "<", ">", '"', "\x00",
    "\ud800", "<svg>", "<noscript><img src=c.png>", '<p class="thumbcaption">', "&amp;", "<xmp>", "</xmp>",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_no_markup_stops_the_reading(pieces: list[str]) -> None:
    """Whatever the markup is, pictures have a path and a caption in one line, and nothing is raised."""
    for one in pictures_in("".join(pieces).encode("utf-8", "surrogatepass"), "A/Boat", "Boat"):
        assert one.path
        assert one.caption == " ".join(one.caption.split()) != ""
        one.caption.encode()
