"""Pages cut for questions: sections in passages, long ones in windows, rows on their own."""

from __future__ import annotations

import pytest
from tests.ask.passages import page_passages
from tests.page.pages import a_page
from tests.zim.memory import MemoryArchive

from kiwiresearch.ask.answer import key_of
from kiwiresearch.ask.page_units import PageCache, SegmentedPage, segment_page
from kiwiresearch.ask.settings import AskSettings
from kiwiresearch.ids import BookId
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.zim.archive import Entry, EntryRef

SETTINGS = AskSettings()
WINDOW, OVERLAP = 160, 20


def read(html: str, settings: AskSettings = SETTINGS) -> SegmentedPage:
    return segment_page(a_page(html), settings)


def prose(sentences: int) -> str:
    """Sentences of ten words that take six characters each, as words of running text do."""
    return " ".join(f"Sheep lambs {place:05d} {'graze ' * 6}herd." for place in range(sentences))


def passages(page: SegmentedPage) -> list[str]:
    return [f"{one.kind} {one.section or '-'}: {one.text}" for one in page_passages(page)]


def units(page: SegmentedPage) -> list[str]:
    return [f"{unit.kind}: {page.text(unit)}" for unit in page.units]


def test_sections_are_passages_and_the_lead_is_the_text_before_the_first_heading() -> None:
    """Headings of both levels part passages; what is before the first one has no section (R224)."""
    page = read(
        "<p>A weir is a low dam.</p><p>Water flows over it.</p><h2 id='u'>Uses</h2><p>Mills need weirs.</p>"
        "<h3 id='b'>Boats</h3><p>Boats need locks beside them.</p>"
    )
    assert passages(page) == [
        "text -: A weir is a low dam.\n\nWater flows over it.",
        "text Uses: Mills need weirs.",
        "text Boats: Boats need locks beside them.",
    ]
    assert [passage.anchor for passage in page_passages(page)] == ["", "u", "b"]


@pytest.mark.parametrize("sentences", [1, 16, 17, 31, 32])
def test_a_section_of_twice_the_window_is_used_as_it_is(sentences: int) -> None:
    """Nothing is cut that has no more than 2 × 160 words (R225)."""
    assert [len(one.text.split()) for one in page_passages(read(f"<p>{prose(sentences)}</p>"))] == [sentences * 10]


@pytest.mark.parametrize("sentences", [33, 60, 200])
def test_a_longer_section_is_cut_into_windows(sentences: int) -> None:
    """Windows have 160 words and share 20 with the one before (R225)."""
    page = read(f"<p>{prose(sentences)}</p>")
    *whole, last = [len(one.text.split()) for one in page_passages(page)]
    assert set(whole) == {WINDOW}
    assert OVERLAP < last <= WINDOW
    for one, other in zip(page_passages(page), page_passages(page)[1:], strict=False):
        assert len(page.page.text[other.start : one.end].split()) == OVERLAP
    assert (page_passages(page)[0].start, page_passages(page)[-1].end) == (0, len(page.page.text))


def test_windows_are_as_large_as_the_settings_say() -> None:
    """The size of windows and what they share can be set (R225)."""
    page = read(f"<p>{prose(12)}</p>", AskSettings(window_words=40, overlap_words=10))
    assert [len(one.text.split()) for one in page_passages(page)] == [40, 40, 40, 30]


def test_a_window_of_one_long_sentence_ends() -> None:
    """A sentence that is longer than a window is one window, not an endless number of them."""
    long = f"The list has {'sheep and ' * 500}goats."
    page = read(f"<p>Before it. {long} After it.</p>")
    assert any(page.text(unit) == long for unit in page.units)
    assert page_passages(page)[-1].end == len(page.page.text)


@pytest.mark.parametrize("heading", ["References", "See also", "Notes", "External links"])
def test_lists_of_sources_are_not_passages(heading: str) -> None:
    """What is below 'References' or 'See also' answers nothing (R227)."""
    page = read(f"<p>A weir is a low dam.</p><h2>{heading}</h2><ul><li>Low dams and weirs, 1911.</li></ul>")
    assert passages(page) == ["text -: A weir is a low dam."]


def test_boxes_of_links_are_not_passages() -> None:
    """Navigation, notes above the article and menus are left out (R227)."""
    page = read(
        "<div class='hatnote'>For the poet, see Weir.</div><p>A weir is a low dam.</p>"
        "<table class='navbox'><tr><td>Dams of Devon</td></tr></table><nav>Home</nav>"
    )
    assert units(page) == ["sentence: A weir is a low dam."]


BOXED = (
    "<table class='infobox'><tr><th colspan='2'>Port Ellis</th></tr>"
    "<tr><th>Mayor</th><td>Ann Dole</td></tr><tr><th colspan='2'>Population</th></tr>"
    "<tr><th>Total</th><td>4,100</td></tr></table><p>Port Ellis is a town.</p>"
)


def test_each_row_of_a_box_is_a_passage() -> None:
    """A row of a box can be shown alone, and is never in the running text (R227)."""
    page = read(BOXED)
    assert passages(page) == [
        "text -: Port Ellis is a town.",
        "box infobox: Mayor\tAnn Dole",
        "box infobox: Total\t4,100",
    ]
    contexts = [page.contexts[number] for number in page.context_of]
    assert contexts == ["", "", "Population"]


def test_rows_of_tables_and_captions_are_units() -> None:
    """Each row is shown as a whole; a caption is not taken for a sentence; rows and prose are separate passages."""
    page = read(
        "<p>Three ships sailed. One came back.</p><figure><figcaption>The ship at sea.</figcaption></figure>"
        "<table><tr><th>Ship</th><th>Crew</th></tr><tr><td>Heron</td><td>31</td></tr></table><p>It was late.</p>"
    )
    assert units(page) == [
        "sentence: Three ships sailed.",
        "sentence: One came back.",
        "caption: The ship at sea.",
        "row: Ship\tCrew",
        "row: Heron\t31",
        "sentence: It was late.",
    ]
    assert [passage.kind for passage in page_passages(page)] == ["text", "row", "text"]


@pytest.mark.parametrize("html", ["", "<p></p>", "<h2>Only a heading</h2>", "<h2>References</h2><p>All of it.</p>"])
def test_a_page_with_nothing_to_say_has_no_passages(html: str) -> None:
    """Nothing is made up where nothing is."""
    page = read(html)
    assert (page.units, page_passages(page)) == ((), ())


def test_keys_name_a_place() -> None:
    """The same place has the same key on every machine; other places, pages and books have others."""
    ref = EntryRef(BookId("b"), "Weir")
    assert key_of(ref, 3, 9) == key_of(EntryRef(BookId("b"), "Weir"), 3, 9) == "8geeh9"
    others = [key_of(ref, 3, 8), key_of(ref, 2, 9), key_of(EntryRef(BookId("c"), "Weir"), 3, 9)]
    assert len({key_of(ref, 3, 9), *others, key_of(EntryRef(BookId("b"), "Dam"), 3, 9)}) == 5


class Counted(MemoryArchive):
    """A book that counts how often a page is read."""

    reads = 0

    def read(self, path: str) -> Entry:
        self.reads += 1
        return super().read(path)


def test_pages_are_kept_at_hand_and_no_more_than_said() -> None:
    """A page that was just read is not read again; the one that was not looked at for longest goes first (R251)."""
    archive = Counted({name: f"<p>{name} is a weir.</p>" for name in "ABC"})
    reading = PageCache(SETTINGS, max_pages=2)
    book = OpenBook(archive)
    for name in "ABAC":
        reading.page(book, name)
    assert archive.reads == 3
    reading.page(book, "A")
    assert archive.reads == 3
    reading.page(book, "B")
    assert archive.reads == 4


def test_a_missing_page_is_none() -> None:
    """It is None, and is not looked for twice."""
    archive = Counted({"A": "<p>A weir.</p>"})
    reading = PageCache(SETTINGS)
    assert [reading.page(OpenBook(archive), "Gone") for _ in range(2)] == [None, None]
    assert archive.reads == 1
