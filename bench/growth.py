"""Pages designed to be difficult: reading four times as much must take about four times as long."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from bench.timing import best_of
from kiwiresearch.ids import BookId
from kiwiresearch.page.parser import read_page
from kiwiresearch.zim.archive import Entry, EntryRef

SIZE = 4_000
PAGES: dict[str, Callable[[int], str]] = {
    "paragraphs with links": lambda n: '<p>Some words and <a href="X">a link</a>. More words here.</p>' * n,
    "nested divisions": lambda n: "<div>" * n + "x" + "</div>" * n,
    "divisions never closed": lambda n: "<div>x" * n,
    "nested lists": lambda n: "<ul><li>x" * n + "</ul>" * n,
    "bold never closed": lambda n: "<b>x" * n,
    "bold and links never closed": lambda n: '<b><a href="X">x' * n,
    "nested tables": lambda n: "<table><tr><td>x" * (n // 8) + "</table>" * (n // 8),
    "one long table": lambda n: "<table>" + "<tr><td>a</td><td>b</td></tr>" * n + "</table>",
    "text in a table": lambda n: "<table>" + "x<tr><td>y" * n + "</table>",
    "reference marks": lambda n: 'word<sup class="reference"><a href="#n">[1]</a></sup> ' * n,
    "raised notes": lambda n: "word<sup>[<i>when?</i>]</sup> " * n,
    "raised notes never closed": lambda n: "word<sup>[" * n,
    "infoboxes": lambda n: '<table class="infobox"><tr><th>k</th><td>v</td></tr></table>' * (n // 4),
    "nested infoboxes": lambda n: '<table class="infobox"><tr><th>k</th><td>' * (n // 32),
    "linked rows of an infobox": lambda n: (
        '<table class="infobox">' + '<tr><th>k</th><td><a href="X">v</a></td></tr>' * n + "</table>"
    ),
    "tags that close nothing": lambda n: "<div></i>" * n,
    "lists with stray tags": lambda n: "<ul><li></span>" * n,
    "empty hidden spans": lambda n: "<p>" + '<span style="display:none"></span>' * n + "</p>",
    "hatnotes": lambda n: '<div class="hatnote">see <a href="X">x</a></div>' * n,
    "nested hatnotes": lambda n: '<div class="hatnote">x' * (n // 32),
    "headings": lambda n: '<h2 id="a">A</h2><p>x.</p>' * n,
    "one long sentence": lambda n: "<p>" + "word " * 8 * n + "</p>",
    "full stops": lambda n: "<p>" + "A. " * 8 * n + "</p>",
    "spaces": lambda n: "<p>" + " " * 32 * n + "x</p>",
    "angle brackets": lambda n: "<" * 8 * n,
    "ampersands": lambda n: "&" * 8 * n,
    "comments": lambda n: "<!-- x > y -->z" * n,
    "comment never closed": lambda n: "<!-- x" * n,
    "attributes": lambda n: "<p " + " ".join(f'a{i}="x"' for i in range(4 * n)) + ">x</p>",
    "code": lambda n: "<pre>" + "<span>a</span>\n    b\n" * n + "</pre>",
}


def run() -> list[str]:
    """Measure, and return the lines to print."""
    lines = [f"CPU time of a page with {4 * SIZE} elements, and its ratio to that with {SIZE}; 4 is linear"]
    for name, build in PAGES.items():
        small, large = _entry(build(SIZE)), _entry(build(4 * SIZE))
        times = best_of(3, {"small": partial(read_page, small), "large": partial(read_page, large)})
        ratio = times["large"] / times["small"]
        lines.append(f"{name:28} {times['large'] * 1e3:8.1f} ms   {ratio:5.1f}x")
    return lines


def _entry(markup: str) -> Entry:
    content = f"<html><body>{markup}</body></html>".encode()
    return Entry(EntryRef(BookId("0"), "Page"), "Page", "text/html", content)
