"""The sample book: real articles in our own words, whole in themselves."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiwiresearch.page.doc import PageDoc
from kiwiresearch.page.parser import open_page
from kiwiresearch.zim import book_writer
from kiwiresearch.zim.book_writer import build_sample, read_articles, sample_file
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.paths import resolve_href

HREF = re.compile(rb'<a [^>]*?href="([^"]*)"')
TAGS = re.compile(rb"<[^>]*>")
ANCHOR = re.compile(rb' id="([^"]*)"')
CITED = re.compile(rb'<sup [^>]*class="reference"[^>]*><a href="#(cite_note[^"]*)"')
CITATION = re.compile(r"<cite\b.*?</cite>", re.DOTALL)


@pytest.fixture(scope="module")
def archive(sample_zim: Path) -> Iterator[LibzimArchive]:
    opened = LibzimArchive(sample_zim)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(archive: LibzimArchive) -> dict[str, PageDoc]:
    return {path: open_page(archive, path) for path in archive.articles()}


def test_sample_is_built_once_the_same_each_time(
    sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sample is built when it is missing, byte for byte the same, kept when it is there, and older ones go."""
    monkeypatch.setattr(book_writer, "build_sample", build_sample)  # elsewhere it is copied
    (tmp_path / "sample-0000000000000000.zim").touch()
    built = sample_file(tmp_path)
    assert sorted(tmp_path.iterdir()) == [built]
    assert built.read_bytes() == sample_zim.read_bytes()
    built.write_bytes(b"kept as it is")
    assert sample_file(tmp_path) == built
    assert built.read_bytes() == b"kept as it is"


def test_sample_is_a_sound_book(archive: LibzimArchive) -> None:
    """The sample is a real ZIM file with both indexes, a main page and a correct checksum."""
    book = archive.book
    assert (book.name, book.language, book.main_page) == ("kiwiresearch_en_sample", "eng", "Main_Page")
    assert (book.indexes.full_text, book.indexes.titles) == (True, True)
    assert archive.checksum_holds() is True


def test_sample_has_articles_enough(pages: dict[str, PageDoc]) -> None:
    """At least sixty articles, each with a text of its own and its edit date and revision."""
    assert len(pages) == len(read_articles()) >= 60
    assert [path for path, page in pages.items() if len(page.text.split()) < 40] == []
    revisions = {page.provenance.revision for page in pages.values()}
    assert None not in revisions
    assert len(revisions) == len(pages)
    assert [path for path, page in pages.items() if not re.fullmatch(r"20\d\d-\d\d-\d\d", page.provenance.edited)] == []


def test_every_link_leads_to_a_page(archive: LibzimArchive) -> None:
    """Every link of every article, category and the main page leads to a page of the book, and to its anchor."""
    dangling = []
    categories = {f"Category:{name}".replace(" ", "_") for article in read_articles() for name in article.categories}
    for path in [*archive.articles(), *sorted(categories), "Main_Page"]:
        for href in HREF.findall(archive.read(path).content):
            target = resolve_href(path, href.decode())
            if target is None:
                assert href.startswith(b"https://sample.kiwiresearch.invalid/"), (path, href)
                continue
            final = archive.resolve(target.path)
            anchors = ANCHOR.findall(archive.read(final).content) if final and target.anchor else []
            if final is None or (target.anchor and target.anchor.encode() not in anchors):
                dangling.append(f"{path}: {href.decode()}")
    assert dangling == []


def test_every_mark_has_its_note_and_every_note_its_mark(archive: LibzimArchive) -> None:
    """Each reference number leads to a note, and each note is cited."""
    cited_somewhere = 0
    for path in archive.articles():
        content = archive.read(path).content
        anchors = set(ANCHOR.findall(content))
        marks = set(CITED.findall(content))
        notes = {anchor for anchor in anchors if anchor.startswith(b"cite_note")}
        assert marks == notes, path
        cited_somewhere += bool(marks)
    assert cited_somewhere >= 60


@pytest.mark.parametrize(
    ("alias", "path"),
    [
        ("Bronze_Age_collapse", "Late_Bronze_Age_collapse"),
        ("Hittites", "Hittite_Empire"),
        ("Sea_People", "Sea_Peoples"),
        ("Einstein", "Albert_Einstein"),
        ("Galaxies", "Galaxy"),
        ("Quicksilver", "Mercury_(element)"),
        ("J._S._Bach", "Johann_Sebastian_Bach"),
        ("Lord_Rayleigh", "John_William_Strutt,_3rd_Baron_Rayleigh"),
        ("Hisarlik", "Troy"),
        ("Old_Style", "Old_Style_and_New_Style_dates"),
    ],
)
def test_redirects_of_the_sample(archive: LibzimArchive, alias: str, path: str) -> None:
    """Other names lead to their articles."""
    assert archive.resolve(alias) == path
    assert archive.by_title(alias.replace("_", " ")) == path


def test_no_redirect_hides_an_article() -> None:
    """A redirect has the name of no article, and no two articles claim the same one."""
    articles = read_articles()
    titles = [article.title for article in articles]
    redirects = [name for article in articles for name in article.redirects]
    assert len(set(titles)) == len(titles)
    assert len(set(redirects)) == len(redirects)
    assert set(titles).isdisjoint(redirects)


@pytest.mark.parametrize(
    ("path", "targets"),
    [
        ("Mercury", {"Mercury_(planet)", "Mercury_(element)", "Mercury_(mythology)", "Freddie_Mercury"}),
        ("Galaxy_(disambiguation)", {"Galaxy", "Galaxy_(chocolate)", "Samsung_Galaxy", "LA_Galaxy"}),
    ],
)
def test_disambiguation_pages_have_their_targets(
    archive: LibzimArchive, pages: dict[str, PageDoc], path: str, targets: set[str]
) -> None:
    """A name with several meanings has a page that leads to at least four of them."""
    page = pages[path]
    assert page.signals.disambiguation
    assert {archive.resolve(link.target) for link in page.links} >= targets


def test_sample_shows_every_signal(pages: dict[str, PageDoc]) -> None:
    """The sample has stubs, doubts, disputes, lists and boxes, so that every product can be shown on it."""
    signals = [page.signals for page in pages.values()]
    assert sum(bool(signal.stub) for signal in signals) >= 2
    assert sum(bool(signal.citation_needed) for signal in signals) >= 2
    assert sum(bool(signal.disputed) for signal in signals) >= 1
    assert sum(bool(signal.list_page) for signal in signals) >= 2
    assert sum(bool(page.infoboxes) for page in pages.values()) >= 30
    assert sum(bool(page.hatnotes) for page in pages.values()) >= 5


def test_categories_are_on_the_pages_and_have_pages(archive: LibzimArchive, pages: dict[str, PageDoc]) -> None:
    """Articles name their categories, and each category has a page that lists its members."""
    members: dict[str, set[str]] = {}
    for path, page in pages.items():
        for name in page.categories:
            members.setdefault(name, set()).add(path)
    assert len(members) >= 2
    assert members["Bach family"] >= {"Johann_Sebastian_Bach", "Carl_Philipp_Emanuel_Bach"}
    for name, paths in members.items():
        category = open_page(archive, f"Category:{name}".replace(" ", "_"))
        assert {link.target for link in category.links} >= paths


RUN = 12
HALF = RUN // 2
PUNCTUATION = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))


def _words(markup: bytes) -> list[bytes]:
    return TAGS.sub(b" ", markup).lower().translate(PUNCTUATION).split()


def _runs(words: list[bytes], length: int) -> set[tuple[bytes, ...]]:
    return set(zip(*(words[start:] for start in range(length)), strict=False))


def _shared(words: list[bytes], halves: set[tuple[bytes, ...]], runs: set[tuple[bytes, ...]]) -> set[tuple[bytes, ...]]:
    """The runs of a page that are among `runs`.

    A run of twelve words has a half run at every sixth place of the page, which is quick to ask for first.
    """
    if halves.isdisjoint(zip(*(words[start::HALF] for start in range(HALF)), strict=False)):
        return set()
    return runs & _runs(words, RUN)


def _on_the_same_subjects(book: LibzimArchive) -> set[str]:
    names = [name for article in read_articles() for name in (article.title, *article.redirects)]
    return {match.path for name in names for match in book.search(name, 8)}


def test_sample_is_in_our_own_words(shared_data: Path) -> None:
    """No run of twelve words, titles of cited works aside, is on a page of the real encyclopedia on these subjects."""
    articles = [_words(CITATION.sub(" ", article.content).encode()) for article in read_articles()]
    runs = set().union(*(_runs(words, RUN) for words in articles))
    halves = set().union(*(_runs(words, HALF) for words in articles))
    book = LibzimArchive(shared_data / "zims" / "schools-2007.zim")
    subjects = _on_the_same_subjects(book)
    assert {"Galaxy", "Albert_Einstein", "Johann_Sebastian_Bach", "Bronze_Age"} <= subjects
    copied: dict[str, set[tuple[bytes, ...]]] = {}
    for path in book.articles():
        if path in subjects and (found := _shared(_words(book.read(path).content), halves, runs)):
            copied[path] = found
    book.close()
    assert copied == {}
    planted = [b"before", *articles[0][20 : 20 + RUN], b"after"]
    assert _shared(planted, halves, runs) == {tuple(articles[0][20 : 20 + RUN])}
