"""Paths and links: what a link points at, as a table, and laws that are true of any text."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiwiresearch.zim.paths import Target, plain_title, resolve_href, title_of_path


@pytest.mark.parametrize(
    ("base", "href", "path", "anchor"),
    [
        # The table of the module itself.
        ("Ray_Charles", "Soul_music", "Soul_music", ""),
        ("A/Ray_Charles", "../A/Soul_music", "A/Soul_music", ""),
        ("A/AC/DC", "../Angus_Young", "A/Angus_Young", ""),
        ("Ray_Charles", "#Career", "Ray_Charles", "Career"),
        ("Ray_Charles", "What%3F#Reply", "What?", "Reply"),
        ("site.org/a/", "b?page=2", "site.org/a/b?page=2", ""),
        # Relative paths.
        ("A/Ray_Charles", "Soul_music", "A/Soul_music", ""),
        ("A/Ray_Charles", "./Soul_music", "A/Soul_music", ""),
        ("Ray_Charles", "./Soul_music", "Soul_music", ""),
        ("A/AC/DC", "Brian", "A/AC/Brian", ""),
        ("A/AC/DC", "../../I/m.png", "I/m.png", ""),
        ("Home", "../Sky", "Sky", ""),
        ("Home", "../../../Sky", "Sky", ""),
        ("a/b/c", "..", "a/", ""),
        ("a/b/c", ".", "a/b/", ""),
        ("a/b/c", "./", "a/b/", ""),
        ("a/b/c", "../d/./e/../f", "a/d/f", ""),
        ("a/b", "c/", "a/c/", ""),
        ("a/b", "c//d", "a/c//d", ""),
        # From the root.
        ("a/b/c", "/Sky", "Sky", ""),
        ("a/b/c", "/x/../Sky", "Sky", ""),
        # Percent-encoding, once.
        ("Home", "100%25", "100%", ""),
        ("Home", "100%2525", "100%25", ""),
        ("Home", "a%20b", "a b", ""),
        ("Home", "a+b", "a+b", ""),
        ("Home", "a%2Bb", "a+b", ""),
        ("Home", "Z%C3%BCrich", "Zürich", ""),
        ("Home", "Zürich", "Zürich", ""),
        ("Home", "%F0%9F%A5%B3", "🥳", ""),
        ("Home", "a%23b#c", "a#b", "c"),
        ("Home", "50%", "50%", ""),
        ("Home", "%zz", "%zz", ""),
        ("Home", "%FF", "\ufffd", ""),
        ("Home", "Sky#Why%3F", "Sky", "Why?"),
        ("Home", "Sky#a#b", "Sky", "a#b"),
        ("Home", "  Sky  ", "Sky", ""),
        ("Home", "Sky?x=1&y=2#z", "Sky?x=1&y=2", "z"),
        # What looks like a scheme and is none.
        ("Home", "Category:Rivers", "Category:Rivers", ""),
        ("Home", "2001:_A_Space_Odyssey", "2001:_A_Space_Odyssey", ""),
        ("Home", "Star_Trek:_Discovery", "Star_Trek:_Discovery", ""),
        ("Home", "./Help:Contents", "Help:Contents", ""),
        ("#odd", "#", "#odd", ""),
    ],
)  # fmt: skip
def test_links_lead_where_they_should(base: str, href: str, path: str, anchor: str) -> None:
    """A link of a page, relative or not, encoded or not, gives the path it means."""
    assert resolve_href(base, href) == Target(path, anchor)


@pytest.mark.parametrize(
    "href",
    [
        "https://example.org/",
        "HTTP://EXAMPLE.ORG",
        "//example.org/x",
        "mailto:a@b.org",
        "MAILTO:a@b.org",
        "javascript:void(0)",
        "data:text/plain,x",
        "tel:123",
        "geo:1,2",
        "ftp://host/x",
        "zim://book/page",
        "",
        "   ",
        "/",
        "..",
        ".",
    ],
)
def test_links_out_of_the_book_lead_nowhere(href: str) -> None:
    """Addresses of other hosts, scripts and the like, and links to no page at all, are outside the book."""
    assert resolve_href("Ray_Charles", href) is None


names = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=20).filter(
    lambda name: name.strip() and name not in (".", "..")
)


@given(st.lists(names, min_size=1, max_size=4))
def test_every_path_can_be_linked_from_the_root(parts: list[str]) -> None:
    """Any path, encoded once, is what a link from the root leads to: decoding happens exactly once."""
    path = "/".join(parts)
    assert resolve_href("some/where/else", "/" + quote(path, safe="/")) == Target(path)


@given(st.lists(names, max_size=3), names, st.lists(names, min_size=1, max_size=3))
def test_relative_links_start_from_the_pages_folder(folder: list[str], page: str, link: list[str]) -> None:
    """A relative link is read from the folder of its page, and '..' undoes one folder."""
    base = "/".join([*folder, page])
    href = quote("/".join(link), safe="/")
    assert resolve_href(base, f"./{href}") == Target("/".join([*folder, *link]))
    assert resolve_href(base, f"./x/../{href}") == Target("/".join([*folder, *link]))
    assert resolve_href(base, "../" * len(folder) + f"./{href}") == Target("/".join(link))


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_link_ever_fails(base: str, href: str) -> None:
    """Any text in an href gives a target or none; a path never climbs out of the book."""
    target = resolve_href(base, href)
    if target and target.path != base:
        assert ".." not in target.path.split("/")


@given(st.text(max_size=60), st.text(max_size=30))
def test_an_anchor_alone_is_the_page_itself(base: str, anchor: str) -> None:
    """'#anchor' points at the page it is found in, whatever the page is called."""
    found = resolve_href(base, "#" + quote(anchor))
    assert found == Target(base, anchor)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Galaxy", "Galaxy"),
        ("<i>Homo</i> erectus", "Homo erectus"),
        ("<span class='x'>A</span><SUP>2</SUP>", "A2"),
        ("Simon &amp; Garfunkel", "Simon & Garfunkel"),
        ("&lt;i&gt;", "<i>"),
        ("1 < 2 > 0", "1 < 2 > 0"),
        ("std::vector<int>", "std::vector<int>"),
        (" a \n b\u00a0c ", "a b c"),
        ("", ""),
    ],
)
def test_titles_without_markup(title: str, shown: str) -> None:
    """Markup and entities that scrapers leave in titles are taken out; other angle brackets stay."""
    assert plain_title(title) == shown


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="&<"), max_size=60))
def test_plain_titles_only_lose_white_space(title: str) -> None:
    """A title without markup keeps all its words."""
    assert plain_title(title) == " ".join(title.split())


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("Milky_Way", "Milky Way"),
        ("A/Milky_Way", "Milky Way"),
        ("A/Milky_Way.html", "Milky Way"),
        ("Milky_Way.htm", "Milky Way"),
        ("C/Home", "Home"),
        ("AC/DC", "AC/DC"),
        ("A/AC/DC", "AC/DC"),
        ("-/style.css", "style.css"),
        ("What?", "What?"),
        ("A/", "A/"),
        (".html", ".html"),
        ("", ""),
    ],
)
def test_a_title_is_derived_from_a_path(path: str, title: str) -> None:
    """If nothing better is known, a page is called what its path says."""
    assert title_of_path(path) == title


@given(st.text(max_size=40))
def test_every_path_has_a_title(path: str) -> None:
    """No path is without a title, save the empty one."""
    assert bool(title_of_path(path)) is bool(path)
