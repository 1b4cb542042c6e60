"""Timelines and link graphs as pictures: labels that can be read, dates that people write, the same bytes always."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.brief.briefs import BOOK, Making, bronze_age, jdn, of_words, some_sources

from kiwiresearch.brief.brief import BriefSource, BriefSources, TimelineMoment
from kiwiresearch.brief.graph_picture import MAX_NODES, graph_picture
from kiwiresearch.brief.timeline_picture import (
    MAX_LABELS,
    WIDTH,
    ago_text,
    axis_over,
    timeline_picture,
    year_text,
)
from kiwiresearch.document.svg import BRIEF_FONT
from kiwiresearch.messages.catalogue import catalogue_in
from kiwiresearch.messages.message import Message
from kiwiresearch.zim.archive import EntryRef

HOSTILE = [
    "</svg><script>x</script>",
    '" onload="x',
    "&amp; <b>",
    "\u202eRTL שלום",
    "\x00\x1b",
    "x" * 2000,
    "青銅" * 50,
]
SAID = Making().one("Troy", "Something of note happened, and several books tell of it at some length.")

ENGLISH = catalogue_in("en")


def moment(first: int, last: int, when: str = "") -> TimelineMoment:
    return TimelineMoment(when or f"{first}–{last}", first, last, SAID)


def years(*pairs: tuple[int, int]) -> list[TimelineMoment]:
    return [moment(jdn(first), jdn(last), f"{first}") for first, last in pairs]


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def dates(svg: str) -> list[str]:
    return [node.text or "" for node in read(svg).iter("text") if node.get("class") == "date"]


def boxes(svg: str, role: str = "name") -> list[tuple[float, float, float]]:
    """Where labels begin and end, and at which height."""
    found = []
    for node in read(svg).iter("text"):
        if node.get("class") == role:
            width = BRIEF_FONT.width(node.text or "")
            share = {"start": 0.0, "middle": 0.5, "end": 1.0}[node.get("text-anchor", "start")]
            left = float(node.get("x", "0")) - share * width
            found.append((left, left + width, float(node.get("y", "0"))))
    return found


def collisions(found: list[tuple[float, float, float]]) -> int:
    pairs = [(one, other) for n, one in enumerate(found) for other in found[:n] if abs(one[2] - other[2]) < 12]
    return sum(one[0] < other[1] - 0.2 and other[0] < one[1] - 0.2 for one, other in pairs)


def test_a_timeline_has_its_moments() -> None:
    """Each moment is a dot or a bar with a label that links to its line, and the picture is described in words."""
    moments = bronze_age().timeline
    root = read(timeline_picture(moments))
    links = {node.get("href") for node in root.iter("a")}
    assert links == {f"#moment-{n}" for n in range(1, len(moments) + 1)}
    assert len([node for node in root.iter() if node.get("class") in ("moment", "span")]) == len(moments)
    assert root.findtext("title") == "Timeline"
    assert (root.findtext("desc") or "").startswith("From 1274 BC to 1939: 11 events, 11 with a label.")


def test_times_are_drawn_in_their_order() -> None:
    """A later moment is further right, and a longer time is a longer bar."""
    axis = axis_over([float(jdn(year)) for year in (-1274, -1200, -1100, 1870, 1939)], 0, 700)
    places = [axis.x(jdn(year)) for year in range(-1280, 1950, 10)]
    assert places == sorted(places)
    assert axis.x(jdn(-1100)) - axis.x(jdn(-1200)) > axis.x(jdn(-1200)) - axis.x(jdn(-1274))


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        (years((-752, -752), (-26, -26), (476, 476)), ["800 BC", "600 BC", "200 BC", "AD 1", "AD 400"]),
        (years((1700, 1701), (1750, 1751), (1799, 1800)), ["1700", "1720", "1740", "1760", "1780", "1800"]),
        (years((-1274, -1274), (-1200, -1190), (-1050, -1050)), ["1250 BC", "1200 BC", "1100 BC", "1050 BC"]),
    ],
)
def test_the_axis_has_dates_that_people_write(moments: list[TimelineMoment], expected: list[str]) -> None:
    """Years are round, BC and AD are labelled, and no year 0 is named."""
    found = dates(timeline_picture(moments))
    assert [date for date in found if date in expected] == expected
    assert not {"0", "AD 0", "0 BC"} & set(found)


def test_deep_time_is_labelled_in_years_ago() -> None:
    """Millions of years and our own times share a timeline: the axis is broken, and each part has its own scale."""
    old = [(-252_000_000, -252_000_000), (-201_000_000, -145_000_000), (-66_000_000, -66_000_000)]
    svg = timeline_picture(years(*old, (1824, 1824), (1842, 1842), (1996, 1996)))
    assert [date for date in dates(svg) if date.endswith("million years ago")]
    assert {"1900", "2000"} <= set(dates(svg))
    assert "cut out of the axis" in svg


def test_a_few_weeks_are_labelled_in_months() -> None:
    """If all happened within a year, the axis names months."""
    first = jdn(1944) + 150
    assert dates(timeline_picture([moment(first + n * 9, first + n * 9) for n in range(12)])) == [
        "Jun 1944", "Jul 1944", "Aug 1944", "Sep 1944",
    ]  # fmt: skip


def test_many_moments_are_strokes() -> None:
    """At most thirty moments are labelled, those that most pages mention; the others are strokes on the axis."""
    moments = years(*((1500 + 5 * n, 1500 + 5 * n) for n in range(70)))
    strong = [
        replace(one, statement=replace(one.statement, pages=9 if n == 69 else 1)) for n, one in enumerate(moments)
    ]
    root = read(timeline_picture(strong))
    links = [node.get("href") for node in root.iter("a")]
    assert len(links) == MAX_LABELS == 30
    assert links[-1] == "#moment-70"
    assert len([node for node in root.iter("line") if node.get("class") == "unlabelled"]) == 40


@pytest.mark.parametrize("moments", [[], years((1900, 1900)), years((1900, 1900), (1900, 1900))])
def test_without_two_times_there_is_no_timeline(moments: list[TimelineMoment]) -> None:
    """One moment makes no picture."""
    assert timeline_picture(moments) == ""


TIMES = st.lists(st.tuples(st.integers(-90_000_000_000, 2_500_000), st.integers(0, 400_000)), min_size=2, max_size=40)
RECENT = st.lists(st.tuples(st.integers(1_200_000, 2_500_000), st.integers(0, 40_000)), min_size=2, max_size=40)


@given(st.one_of(TIMES, RECENT))
def test_labels_never_run_into_each_other(times: list[tuple[int, int]]) -> None:
    """Whatever the times are, labels and dates do not overlap, and are within the picture."""
    svg = timeline_picture([moment(first, first + length) for first, length in times])
    if svg:
        assert collisions(boxes(svg)) == 0
        assert collisions(boxes(svg, "date")) == 0
        for left, right, _ in boxes(svg) + boxes(svg, "date"):
            assert left >= -1
            assert right <= WIDTH + 1


@given(st.lists(st.integers(-(10**12), 10**7), min_size=2, max_size=30, unique=True))
def test_every_day_has_its_place(days: list[int]) -> None:
    """All days are on the axis, in their order."""
    axis = axis_over([float(day) for day in days], 10, 700)
    places = [axis.x(day) for day in sorted(days)]
    assert places == sorted(places)
    assert all(10 <= place <= 700 for place in places)


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (year_text(-1200, ENGLISH), "1200 BC"), (year_text(-12_000, ENGLISH), "12,000 BC"),
        (year_text(79, ENGLISH), "AD 79"), (year_text(1066, ENGLISH), "1066"),
        (ago_text(66_000_000, ENGLISH), "66 million years ago"),
        (ago_text(3_500_000_000, ENGLISH), "3.5 billion years ago"), (ago_text(40_000, ENGLISH), "40,000 years ago"),
        (ago_text(0, ENGLISH), "today"),
    ],
)  # fmt: skip
def test_times_in_words(expected: str, words: str) -> None:
    """Years and ages are written as readers write them."""
    assert expected == words


def a_graph(pages: int, links: tuple[tuple[int, int], ...]) -> BriefSources:
    made = tuple(
        BriefSource(
            EntryRef(BOOK, f"P{n}"),
            f"Page with a rather long name {n}",
            f"zim://{BOOK}/P{n}",
            (n + 9) // 10,
            90.0 - n,
            Message(""),
        )
        for n in range(pages)
    )
    return replace(some_sources(), pages=made, links=links)


def test_a_graph_has_its_pages() -> None:
    """Each page is a node that opens it, under the number of links it is away, and the links are lines."""
    sources = some_sources()
    root = read(graph_picture(sources))
    assert [node.get("href") for node in root.iter("a")] == [page.url for page in sources.pages]
    heads = [node.text for node in root.iter("text") if node.get("class") == "head"]
    assert heads == ["Starting pages", "1 link away", "2 links away"]
    led = [node for node in root.iter("path") if node.get("class") == "led"]
    assert len(led) == len(sources.pages) - 1
    assert root.findtext("title") == "How the pages are linked"


def test_a_large_graph_shows_its_best_pages() -> None:
    """At most forty pages are drawn, the seeds and then the most relevant, and the picture says of how many."""
    sources = a_graph(80, tuple((n, (n * 7 + 3) % 80) for n in range(80)))
    svg = graph_picture(sources)
    links = [node.get("href") for node in read(svg).iter("a")]
    assert links == [f"zim://{BOOK}/P{n}" for n in range(MAX_NODES)]
    assert MAX_NODES == 40
    assert "40 of 80 pages, " in svg


@given(st.integers(2, 60), st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), max_size=60))
def test_names_of_pages_do_not_overlap(pages: int, links: list[tuple[int, int]]) -> None:
    """Whatever links there are, even to pages that are not there, the names do not overlap and are in the picture."""
    svg = graph_picture(a_graph(pages, tuple(links)))
    assert collisions(boxes(svg)) == 0
    assert all(right <= WIDTH for _, right, _ in boxes(svg))


def test_without_two_pages_there_is_no_graph() -> None:
    """One page makes no picture."""
    assert graph_picture(a_graph(1, ((0, 0),))) == ""
    assert graph_picture(a_graph(0, ())) == ""


@pytest.mark.parametrize("words", HOSTILE)
def test_words_of_books_are_text_in_pictures(words: str) -> None:
    """Whatever a book says, a picture is well formed and has no element or attribute that was not drawn."""
    brief = of_words(words)
    for svg in (timeline_picture(brief.timeline), graph_picture(brief.sources)):
        root = read(svg)
        assert {node.tag for node in root.iter()} <= {
            "svg", "title", "desc", "a", "g", "line", "rect", "circle", "path", "text",
        }  # fmt: skip
        assert not [key for node in root.iter() for key in node.attrib if key.startswith("on")]
        assert all(right - left < WIDTH for left, right, _ in boxes(svg))


def test_only_addresses_of_pages_are_links() -> None:
    """A node whose address is none of a page is drawn without a link."""
    root = read(graph_picture(of_words("x", "javascript:alert(1)").sources))
    assert list(root.iter("a")) == []
    assert len(list(root.iter("circle"))) == 2


def test_numbers_have_one_decimal() -> None:
    """Every coordinate of a picture has one decimal, so that the bytes are the same on all machines."""
    for svg in (timeline_picture(bronze_age().timeline), graph_picture(some_sources())):
        placed = re.findall(r' (?:x|y|x1|x2|y1|y2|cx|cy|r|width|height|d)="([^"]*)"', svg)
        assert placed
        assert all(re.fullmatch(r"-?\d+\.\d", one) for value in placed for one in re.findall(r"-?[\d.]+", value))
