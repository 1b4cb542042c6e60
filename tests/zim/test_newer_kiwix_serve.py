"""A kiwix-serve of the newer form: /content/NAME below a root, stricter searches."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.http_servers import Request, answer, serving
from tests.zim.newer_serve import UUID, NewerServe

from kiwiresearch.errors import BookNotFound, PageNotFound, RedirectLoop
from kiwiresearch.zim.integrity import FileChecks
from kiwiresearch.zim.kiwix_serve import KiwixServer, ServeArchive
from kiwiresearch.zim.shelf import Opener
from kiwiresearch.zim.sources import parse_count

PAGES = {
    "Rayleigh_scattering": "<title>Rayleigh scattering</title><p>Why the sky is blue.</p>",
    "Sky": "<title>Sky</title><p>What is above: blue by day, red at sunset.</p>",
    "Why?": "<title>Why?</title><p>A question.</p>",
    "R&B": "<title>R&amp;B</title><p>Music.</p>",
    "50%_off ü+🥳": "<title>Half off</title><p>Cheap.</p>",
}
REDIRECTS = {
    "Blue_sky": "Rayleigh_scattering",
    "Firmament": "Heavens",
    "Heavens": "Sky",
    "Odd": "50%_off ü+🥳",
    "Ouroboros": "Ouroboros",
    "Egg": "Hen",
    "Hen": "Egg",
}


@pytest.fixture(scope="module")
def newer() -> NewerServe:
    return NewerServe(PAGES, REDIRECTS)


@pytest.fixture(scope="module")
def address(newer: NewerServe) -> Iterator[str]:
    with serving(newer) as origin:
        yield origin + newer.root


@pytest.fixture(scope="module")
def archive(address: str) -> Iterator[ServeArchive]:
    server = KiwixServer(address)
    (served,) = server.catalogue()
    opened = ServeArchive(server, served)
    yield opened
    opened.close()


def test_catalogue_gives_the_data_sheet(archive: ServeArchive) -> None:
    """What the catalogue of a newer server says of a book is in its data sheet (R31)."""
    book = archive.book
    assert (book.id, book.name, book.title) == (UUID, "newer_book", "Newer book")
    assert (book.languages, book.flavour, book.date) == (("eng", "fra"), "nopic", "2024-05-31")
    assert (book.creator, book.publisher, book.kind) == ("Wikipedia", "openZIM", "wikipedia")
    assert (book.articles, book.media, book.size_bytes) == (5, 7, 123_456)
    assert book.tags == ("wikipedia", "_category:wikipedia", "_pictures:no", "_ftindex:yes")


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_read_raw(archive: ServeArchive, newer: NewerServe, path: str) -> None:
    """Pages come from /raw, below the root, so that nothing is added to them (R31, R33)."""
    newer.asked.clear()
    assert archive.read(path).content.decode() == PAGES[path]
    assert [asked.startswith("/kiwix/raw/newer_book/content/") for asked in newer.asked] == [True]


@pytest.mark.parametrize(
    ("path", "final", "via"),
    [
        ("Blue_sky", "Rayleigh_scattering", ("Blue_sky",)),
        ("Firmament", "Sky", ("Firmament", "Heavens")),
        ("Odd", "50%_off ü+🥳", ("Odd",)),
    ],
)
def test_redirects_to_content_addresses_are_followed(
    archive: ServeArchive, path: str, final: str, via: tuple[str, ...]
) -> None:
    """A redirect that leaves /raw for /content is still a redirect inside the book (R31)."""
    entry = archive.read(path)
    assert (entry.ref.path, entry.via) == (final, via)
    assert archive.resolve(path) == final


@pytest.mark.parametrize("path", ["Ouroboros", "Egg", "Hen"])
def test_redirects_in_a_circle_end(archive: ServeArchive, path: str) -> None:
    """A server that sends us round in a circle is found out."""
    assert archive.resolve(path) is None
    with pytest.raises(RedirectLoop, match="of 'Newer book' redirects in a loop"):
        archive.read(path)


def test_redirects_out_of_the_book_are_not_followed(newer: NewerServe) -> None:
    """A redirect to another host is not a page of the book, and that host is never asked."""
    other = NewerServe(PAGES)
    with serving(other) as elsewhere:

        def leading_away(request: Request) -> None:
            if request.path.endswith("/Out"):
                answer(request, 302, "", Location=f"{elsewhere}/kiwix/content/other_book/Sky")
            else:
                newer(request)

        with serving(leading_away) as origin:
            server = KiwixServer(f"{origin}/kiwix")
            archive = ServeArchive(server, server.catalogue()[0])
            assert archive.resolve("Out") is None
            with pytest.raises(PageNotFound):
                archive.read("Out")
            archive.close()
    assert other.asked == []


def test_redirects_of_a_server_between_the_forms_are_followed() -> None:
    """A server that lists a book as the older ones do, but redirects as the newer do, is understood."""
    with serving(NewerServe(PAGES, REDIRECTS, listed="")) as origin:
        server = KiwixServer(f"{origin}/kiwix")
        archive = ServeArchive(server, server.catalogue()[0])
        assert archive.url("Sky") == f"{origin}/kiwix/newer_book/Sky"
        assert archive.resolve("Firmament") == "Sky"
        archive.close()


def test_unknown_page_is_not_found(archive: ServeArchive) -> None:
    """A 404 of the server is a page that the book does not have."""
    with pytest.raises(PageNotFound, match="'Newer book' has no page at 'Nowhere'"):
        archive.read("Nowhere")


@pytest.mark.parametrize(
    ("words", "paths"),
    [("blue", ["Rayleigh_scattering", "Sky"]), ("blue sunset", ["Sky"]), ("zeppelin", [])],
)
def test_search_reads_content_links(archive: ServeArchive, words: str, paths: list[str]) -> None:
    """Hits are named by their paths in the book, with the server's snippet (R31)."""
    found = archive.search(words, 10)
    assert [match.path for match in found] == paths
    assert {match.snippet for match in found} <= {f"...the {words.split()[0]} of it..."}
    assert archive.estimate(words) == len(paths)


def test_refused_search_is_not_a_hit() -> None:
    """A search refused with 400 and XML that is not well formed finds nothing, and does not fail."""
    with serving(NewerServe(PAGES, searches=False)) as origin:
        server = KiwixServer(f"{origin}/kiwix")
        archive = ServeArchive(server, server.catalogue()[0])
        assert archive.search("blue", 10) == ()
        assert archive.estimate("blue") == 0
        archive.close()


def test_suggestions_are_plain_text(archive: ServeArchive) -> None:
    """Escaped titles are read, and the row that only offers a search is left out (R31)."""
    assert [(m.path, m.title) for m in archive.suggest("r&", 10)] == [("R&B", "R&B")]
    assert archive.by_title("R&B") == "R&B"
    assert archive.suggest("zeppelin", 10) == ()


@pytest.mark.parametrize("path", ["Sky", "Why?", "50%_off ü+🥳"])
def test_url_is_the_content_address(archive: ServeArchive, address: str, path: str) -> None:
    """The address for readers is below /content of the newer form, and opens (R31)."""
    url = archive.url(path)
    assert url.startswith(f"{address}/content/newer_book/")
    assert httpx2.get(url, trust_env=False, timeout=30, verify=False).text == PAGES[path]


def test_any_copied_address_finds_the_server(address: str) -> None:
    """A user may copy the address of any page of the server."""
    server = KiwixServer(f"{address}/viewer#newer_book/Sky")
    assert server.root == address
    assert [served.name for served in server.catalogue()] == ["newer_book"]
    server.close()


@pytest.mark.parametrize("wanted", ["", f"#{UUID}"])
def test_opener_looks_up_and_opens_a_served_book(address: str, tmp_path: Path, wanted: str) -> None:
    """A server's address, or one book of it behind '#', can be put on the shelf and opened (R31)."""
    opener = Opener(FileChecks(tmp_path))
    found = opener.look_up(address + wanted)
    assert [str(source) for _, source in found] == [f"{address}#newer_book"]
    opened = opener.open(found[0][1])
    assert opened.read("Sky").title == "Sky"
    assert opener.file_check(found[0][1]) is None
    opened.close()


def test_book_that_the_server_lacks_is_named(address: str, tmp_path: Path) -> None:
    """A book that the server does not have is reported by name."""
    with pytest.raises(BookNotFound, match="has no book named 'older_book'"):
        Opener(FileChecks(tmp_path)).look_up(f"{address}#older_book")


def test_a_count_of_thousands_of_digits_is_cut() -> None:
    """A number in a catalogue may be longer than Python converts; the rest of the catalogue is still read."""
    assert parse_count("9" * 5_000) == 10**18 - 1
    assert parse_count("1,146") == 1146
