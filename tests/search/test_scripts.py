"""Searches in other scripts, as people type them: without marks and articles, and with the letters they mix."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwiresearch.search.interpretation import corrected_query
from kiwiresearch.search.open_book import OpenBook
from kiwiresearch.search.query import parse_query
from kiwiresearch.search.shelf_search import search_books
from kiwiresearch.text.languages import one_spelling, spellings, stemmer
from kiwiresearch.text.words import occurrences, plain_lower
from kiwiresearch.zim.book_writer import NewPage, write_book
from kiwiresearch.zim.libzim import LibzimArchive

PAGES = {
    "ara": {
        "القاهرة": "<p>القاهرة هي عاصمة مصر وأكبر مدنها. تأسست القاهرة سنة 969.</p>",
        "أحمد شوقي": "<p>أحمد شوقي شاعر ولد سنة 1868 ولُقّب بأمير الشعراء.</p>",
        "إسطنبول": "<p>إسطنبول مدينة كبيرة يمر بها مضيق البوسفور.</p>",
        "مستشفى": "<p>المستشفى مؤسسة للعناية بالمرضى.</p>",
        "مدرسة": "<p>المدرسة مؤسسة تعليمية.</p>",
    },
    "heb": {"ירושלים": "<p>ירושלים היא עיר ובה נמצא הכותל המערבי.</p>", "בית ספר": "<p>בית ספר הוא מוסד.</p>"},
    "hin": {"दिल्ली": "<p>दिल्ली भारत की राजधानी है।</p>", "हिन्दी": "<p>हिन्दी एक प्रमुख भाषा है।</p>"},
    "zho": {"北京": "<p>北京是中国的首都。</p>", "长江": "<p>长江是亚洲第一长河,发源于青藏高原。</p>"},
    "rus": {"Москва": "<p>Москва — столица России.</p>", "Ёлка": "<p>Ёлка — хвойное дерево.</p>"},
}
BY_TITLE = [
    ("ara", "القاهرة", "القاهرة"),
    ("ara", "قاهرة", "القاهرة"),
    ("ara", "القَاهِرَة", "القاهرة"),
    ("ara", "القـاهـرة", "القاهرة"),
    ("ara", "القاهره", "القاهرة"),
    ("ara", "احمد شوقي", "أحمد شوقي"),
    ("ara", "أحمد شوقى", "أحمد شوقي"),
    ("ara", "اسطنبول", "إسطنبول"),
    ("ara", "أسطنبول", "إسطنبول"),
    ("ara", "مستشفي", "مستشفى"),
    ("ara", "المدرسه", "مدرسة"),
    ("heb", "יְרוּשָׁלַיִם", "ירושלים"),
    ("heb", "בית-ספר", "בית ספר"),
    ("hin", "दिल्ली", "दिल्ली"),
    ("hin", "हिंदी", "हिन्दी"),
    ("zho", "北京", "北京"),
    ("rus", "МОСКВА", "Москва"),
    ("rus", "Елка", "Ёлка"),
]
BY_TEXT = [
    ("ara", "العاصمة", "القاهرة"),
    ("ara", "امير الشعراء", "أحمد شوقي"),
    ("ara", "بوسفور", "إسطنبول"),
    ("ara", "مؤسسه تعليميه", "مدرسة"),
    ("heb", "כותל", "ירושלים"),
    ("heb", "בירושלים", "ירושלים"),
    ("hin", "राजधानी", "दिल्ली"),
    ("zho", "青藏高原", "长江"),
    ("zho", "北京首都", "北京"),
    ("rus", "столицы россии", "Москва"),
]
Shelf = dict[tuple[str, bool], OpenBook]


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shelf]:
    """A book in each script with a full-text index, and one without."""
    folder = tmp_path_factory.mktemp("scripts")
    books = {(code, index): OpenBook(_written(folder, code, index=index)) for code in PAGES for index in (True, False)}
    yield books
    for book in books.values():
        book.archive.close()


def _written(folder: Path, code: str, *, index: bool) -> LibzimArchive:
    name = f"{code}_{index}"
    pages = [NewPage(title.replace(" ", "_"), title, html.encode()) for title, html in PAGES[code].items()]
    values = {"Name": name, "Title": name, "Description": name, "Language": code, "Creator": "tests"}
    values |= {"Publisher": "tests", "Date": "2026-01-01"}
    write_book(folder / f"{name}.zim", pages, metadata=values, language=code, index=index)
    return LibzimArchive(folder / f"{name}.zim")


def first(books: list[OpenBook], words: str) -> str:
    hits = search_books(books, words).hits
    return hits[0].title if hits else ""


@pytest.mark.parametrize("indexes", [(True,), (False,), (True, False)], ids=["index", "no index", "both"])
@pytest.mark.parametrize(("code", "words", "title"), BY_TITLE)
def test_a_title_is_found_as_people_type_it(
    shelf: Shelf, code: str, words: str, title: str, indexes: tuple[bool, ...]
) -> None:
    """With marks or without, with the article or without, whichever letters are mixed; in one book and in two."""
    assert first([shelf[code, index] for index in indexes], words) == title


@pytest.mark.parametrize("indexes", [(True,), (False, True)], ids=["alone", "beside one without index"])
@pytest.mark.parametrize(("code", "words", "title"), BY_TEXT)
def test_words_of_a_page_are_found_in_other_forms(
    shelf: Shelf, code: str, words: str, title: str, indexes: tuple[bool, ...]
) -> None:
    """The full text is asked for the word as the book writes it."""
    assert first([shelf[code, index] for index in indexes], words) == title


def test_a_book_in_another_script_takes_nothing_away(shelf: Shelf) -> None:
    """Beside books in four other scripts, each query finds its own page."""
    books = [shelf[code, True] for code in PAGES]
    assert [first(books, words) for _, words, _ in BY_TITLE] == [title for *_, title in BY_TITLE]


@pytest.mark.parametrize("word", ["Berlin", "Łódź", "", "Москва", "北京"])
def test_other_words_are_spelt_one_way(word: str) -> None:
    """If a script does not mix letters, nothing is tried and nothing changed."""
    assert spellings(word) == []
    assert one_spelling(word) == word


@pytest.mark.parametrize(
    ("text", "word", "places"),
    [
        ("العاصمة وعاصمة بالعَاصِمة عاصفة", "عاصمة", [0, 8, 15]),
        ("فيروس كوفيد19 انتشر", "كوفيد19", [6]),
        ("سنة 500 ق.م تقريبا", "ق.م", [8]),
    ],
)
def test_forms_of_an_arabic_word_are_found_on_a_page(text: str, word: str, places: list[int]) -> None:
    """With the article, a small word written onto it, or marks; with figures and signs; not another that begins so."""
    assert occurrences(plain_lower(text), word, stemmer("ara")) == places


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("zho", "北京高原"),
        ("zho", "北京的首都"),
        ("zho", "ペキンのやま"),
        ("zho", "서울특별"),
        ("rus", "北京首都"),
    ],
)
def test_a_name_that_no_page_has_is_not_cut(shelf: Shelf, code: str, word: str) -> None:
    """Chinese words are cut in twos only where one page has all of them."""
    assert corrected_query(shelf[code, True], parse_query(word, code)) is None
