"""The page of the library: what readers see, and how an owner changes it while the server runs."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.conftest import BookMaker
from tests.png_files import a_png
from tests.web.desk.owner_servers import OwnerServer, owner_server
from tests.web.desk.page_text import first, plain, texts_of
from tests.web.server_with_users import UserServer
from tests.web.servers import http_client

from kiwiresearch.web.desk.covers import Covers
from kiwiresearch.workspace.library import PART_PREFIX, book_key
from kiwiresearch.zim import listed_book, without_policy
from kiwiresearch.zim.book_writer import NewPage, plain_png, write_book

KITE = {"Kite": "<p>A kite is a toy that flies on a string.</p>"}
SWAN = {"Swan": "<p>A swan is a large water bird with a long neck.</p>"}


@pytest.fixture
def kite(a_book: BookMaker) -> Path:
    return a_book(KITE, name="kite.zim", Name="kite", Title="All about kites", main_path="Kite")


@pytest.fixture
def swan(a_book: BookMaker) -> Path:
    return a_book(SWAN, name="swan.zim", Name="swan", Title="All about swans", main_path="Swan")


@pytest.fixture
def desk(tmp_path: Path, kite: Path) -> Iterator[OwnerServer]:
    with owner_server(tmp_path / "home", kite) as made:
        yield made


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnerServer]:
    """The same for tests that leave its library as it is."""
    folder = tmp_path_factory.mktemp("kept")
    names = {"Name": "kite", "Title": "All about kites", "Language": "eng", "Date": "2026-01-01"}
    pages = [NewPage("Kite", "Kite", KITE["Kite"].encode())]
    write_book(folder / "kite.zim", pages, metadata=names, main_path="Kite")
    with owner_server(folder / "home", folder / "kite.zim") as made:
        yield made


def titles(desk: OwnerServer) -> list[str]:
    return texts_of(desk.page("/books"), ".book h2")


def key_of(desk: OwnerServer, title: str) -> str:
    return next(book_key(book) for book in desk.context.library.books() if book.title == title)


def waited_for(is_there: Callable[[], bool], timeout_s: float = 30.0) -> None:
    until = time.monotonic() + timeout_s
    while not is_there():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)


def test_every_book_is_shown_with_what_is_known_of_it(desk: OwnerServer) -> None:
    """Cover, title, description, edition, language, articles, size, integrity and title index."""
    page = desk.page("/books")
    assert titles(desk) == ["All about kites"]
    facts = dict(zip(texts_of(page, ".book dt"), texts_of(page, ".book dd"), strict=True))
    assert "English 1 article Edition: 1 January 2026" in texts_of(page, ".book .about > p")
    assert facts["Integrity"] == "No damage found"
    assert facts["Title index"] == "1 title, with redirects"
    assert {"Size", "Location", "Book ID (UUID)"} <= facts.keys()
    assert first(page, 'nav a[href="/books"]').attributes["aria-current"] == "page"


def test_a_cover_is_sent_as_nothing_but_a_picture(desk: OwnerServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its type is that of its first bytes; other data is not sent at all, and a letter is drawn instead."""
    archive = without_policy(desk.context.shelf.open(desk.context.shelf.books[0]))
    monkeypatch.setattr(type(archive), "illustration", lambda _: a_png("kite"))
    source = str(first(desk.page("/books"), "img.cover").attributes["src"])
    reply = desk.browser.get(source)
    assert reply.headers["content-type"] == "image/png"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in reply.headers["content-security-policy"]
    assert desk.browser.get("/books/no-such-book/cover").status_code == 404

    hostile = Covers(desk.context)
    monkeypatch.setattr(type(archive), "illustration", lambda _: b"<svg onload='alert(1)'></svg>")
    assert hostile.of(desk.context.shelf.books[0]) is None


@pytest.mark.parametrize("content", [b"", plain_png(48), a_png("kite")[:41] + b"\xff" * 80])
def test_a_book_without_a_cover_has_a_drawn_one(
    tmp_path: Path, kite: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    """So has one whose cover is a plain square, or damaged: its initials are drawn instead."""
    monkeypatch.setattr("kiwiresearch.zim.libzim.LibzimArchive.illustration", lambda _: content)
    with owner_server(tmp_path / "home", kite) as desk:
        page = desk.page("/books")
        assert plain(first(page, "span.cover").text()) == "AA"
        assert page.css_first("img.cover") is None


def test_a_book_is_added_by_its_path_and_found_at_once(desk: OwnerServer, swan: Path) -> None:
    """Search, the reader and the first page know it without a restart."""
    assert "/page/" not in desk.browser.get("/find?q=swan").text.partition("<main")[2].partition("</main")[0]
    desk.browser.get("/")
    reply = desk.send("/books/add", what=str(swan))
    assert "“All about swans” was added" in reply.text
    assert titles(desk) == ["All about kites", "All about swans"]
    assert "/Swan" in desk.browser.get("/find?q=swan").text
    assert "All about swans" in desk.browser.get("/").text
    assert "All about swans" in desk.browser.get("/research").text


def test_only_the_books_of_a_folder_are_added(desk: OwnerServer, swan: Path, tmp_path: Path) -> None:
    """Other files are named, with what to do; the books beside them are added."""
    folder = tmp_path / "folder"
    folder.mkdir()
    swan.rename(folder / "swan.zim")
    (folder / "torn.zim").write_bytes(b"nothing of a book")
    reply = desk.send("/books/add", what=str(folder))
    assert "1 book was added" in reply.text
    assert "1 book was not added" in reply.text
    assert "torn.zim" in reply.text


@pytest.mark.parametrize("what", ["", "/no/such/place.zim", "http://127.0.0.1:9", "\0", "x" * 3000])
def test_a_file_that_is_not_a_book_is_refused_with_a_reason(kept: OwnerServer, what: str) -> None:
    """The field keeps what was typed."""
    reply = kept.send("/books/add", what=what)
    assert reply.status_code == 400
    is_missing = what in ("/no/such/place.zim", "\0")
    assert ("There is no file at this path." if is_missing else "1 book was not added") in reply.text
    assert titles(kept) == ["All about kites"]


def test_a_book_that_is_there_already_is_not_added_twice(desk: OwnerServer, kite: Path) -> None:
    assert "already in your library" in desk.send("/books/add", what=str(kite)).text
    assert titles(desk) == ["All about kites"]


def test_a_book_added_at_a_terminal_is_there_at_once(desk: OwnerServer, swan: Path) -> None:
    """The running server notices a list that another process changed."""
    found = desk.context.workspace.opener.look_up(str(swan))
    desk.context.workspace.shelf_file.add([listed_book(*row) for row in found])
    assert titles(desk) == ["All about kites", "All about swans"]


def test_a_removed_book_is_gone_at_once_and_comes_back(desk: OwnerServer, swan: Path) -> None:
    """Removing deletes no file, and Undo puts it back."""
    desk.send("/books/add", what=str(swan))
    reply = desk.send(f"/books/{key_of(desk, 'All about swans')}/remove")
    assert "was removed from your library" in reply.text
    assert swan.is_file()
    assert titles(desk) == ["All about kites"]
    assert "/Swan" not in desk.browser.get("/find?q=swan").text.partition("<main")[2].partition("</main")[0]
    key = re.search(r'name="key" value="([0-9a-f]{16})"', reply.text)
    assert key is not None
    desk.send("/books/restore", key=key[1])
    assert titles(desk) == ["All about kites", "All about swans"]


def test_without_books_the_sample_is_shown_until_there_is_one(desk: OwnerServer, kite: Path) -> None:
    desk.send(f"/books/{key_of(desk, 'All about kites')}/remove")
    assert "Your library is empty, so kiwiresearch uses the sample book." in desk.browser.get("/books").text
    desk.send("/books/add", what=str(kite))
    assert titles(desk) == ["All about kites"]


def test_a_book_is_uploaded_and_used_at_once(desk: OwnerServer, swan: Path) -> None:
    """It lies in the folder of uploaded books under a safe name."""
    files = {"file": ("../..\\swan lake?.zim", swan.read_bytes(), "application/octet-stream")}
    reply = desk.browser.post("/books/upload", files=files, follow_redirects=True)
    assert "“All about swans” was added" in reply.text
    assert titles(desk) == ["All about kites", "All about swans"]
    assert [file.name for file in desk.context.library.folder.iterdir()] == ["swan lake.zim"]
    assert "/Swan" in desk.browser.get("/find?q=swan").text


def test_an_uploaded_file_is_deleted_only_when_the_owner_says_so(desk: OwnerServer, swan: Path) -> None:
    """Removing the book keeps the file, which is then listed, to be added again or deleted."""
    desk.browser.post("/books/upload", files={"file": ("swan.zim", swan.read_bytes(), "application/zim")})
    reply = desk.send(f"/books/{key_of(desk, 'All about swans')}/remove")
    assert "Delete file" in reply.text
    assert (desk.context.library.folder / "swan.zim").is_file()
    assert "swan.zim" in texts_of(desk.page("/books"), "#unlisted ~ ul bdi")
    desk.send("/books/file/add", name="swan.zim")
    assert "All about swans" in titles(desk)
    assert desk.send("/books/file/delete", name="swan.zim").status_code == 404, "a book in use stays"
    desk.send(f"/books/{key_of(desk, 'All about swans')}/remove")
    assert "The file was deleted" in desk.send("/books/file/delete", name="swan.zim").text
    assert list(desk.context.library.folder.iterdir()) == []


BAD_UPLOADS = [
    ("not_a_zim", b"%PDF-1.7 and so on", "This is not a ZIM file"),
    ("short", b"ZI", "This is not a ZIM file"),
    ("torn", b"ZIM\x04" + bytes(5000), "cannot be opened, so the uploaded copy was deleted"),
    ("empty", b"", "No file was uploaded."),
]


@pytest.mark.parametrize(("name", "content", "expected"), BAD_UPLOADS, ids=[row[0] for row in BAD_UPLOADS])
def test_an_upload_that_is_not_a_book_is_refused_and_leaves_nothing(
    kept: OwnerServer, name: str, content: bytes, expected: str
) -> None:
    reply = kept.browser.post("/books/upload", files={"file": (f"{name}.zim", content, "application/zim")})
    assert reply.status_code == 400
    assert expected in reply.text
    assert not kept.context.library.folder.exists() or list(kept.context.library.folder.iterdir()) == []
    assert titles(kept) == ["All about kites"]


def test_a_book_cut_on_its_way_is_refused(desk: OwnerServer, swan: Path) -> None:
    """The end of a book is missing, though its beginning is right."""
    content = swan.read_bytes()[:-500]
    reply = desk.browser.post("/books/upload", files={"file": ("swan.zim", content, "application/zim")})
    assert reply.status_code == 400
    assert list(desk.context.library.folder.iterdir()) == []


def test_the_same_book_is_not_uploaded_twice(desk: OwnerServer, kite: Path) -> None:
    reply = desk.browser.post("/books/upload", files={"file": ("kite.zim", kite.read_bytes(), "application/zim")})
    assert reply.status_code == 400
    assert "already in your library" in reply.text
    assert list(desk.context.library.folder.iterdir()) == []


def test_an_upload_repairs_a_book_whose_file_is_gone(desk: OwnerServer, swan: Path) -> None:
    """The copy replaces the damaged or missing file; nothing says that there is nothing to do."""
    content = swan.read_bytes()
    desk.send("/books/add", what=str(swan))
    swan.write_bytes(b"no longer a book")
    reply = desk.browser.post(
        "/books/upload", files={"file": ("swan.zim", content, "application/zim")}, follow_redirects=True
    )
    assert "already in your library" not in reply.text
    listed = [book for book in desk.context.workspace.shelf_file.books() if book.source.location.endswith("swan.zim")]
    assert [book.source.path.read_bytes() for book in listed] == [content]


def test_a_damaged_file_that_is_put_back_is_refused_with_a_reason(desk: OwnerServer, swan: Path) -> None:
    """An uploaded file that was damaged after its book was removed is not added; the intact file is."""
    content = swan.read_bytes()
    desk.browser.post("/books/upload", files={"file": ("swan.zim", content, "application/zim")})
    desk.send(f"/books/{key_of(desk, 'All about swans')}/remove")
    file = desk.context.library.folder / "swan.zim"
    file.write_bytes(content[: len(content) // 2])
    reply = desk.send("/books/file/add", name="swan.zim")
    assert reply.status_code == 400
    assert "swan.zim" in plain(first(LexborHTMLParser(reply.text), ".problem").text())
    assert "was added" not in reply.text
    assert titles(desk) == ["All about kites"]
    assert "/Kite" in desk.browser.get("/find?q=kite").text
    assert "swan.zim" in texts_of(desk.page("/books"), "#unlisted ~ ul bdi"), "it can still be deleted"
    file.write_bytes(content)
    assert "“All about swans” was added" in desk.send("/books/file/add", name="swan.zim").text
    assert "/Swan" in desk.browser.get("/find?q=swan").text


def test_a_removed_book_that_is_put_back_damaged_does_not_hide_the_others(desk: OwnerServer, swan: Path) -> None:
    """Its card says that it cannot be opened, and the others can be searched; put back intact, it is used again."""
    content = swan.read_bytes()
    desk.send("/books/add", what=str(swan))
    key = key_of(desk, "All about swans")
    desk.send(f"/books/{key}/remove")
    swan.write_bytes(content[: len(content) // 2])
    desk.send("/books/restore", key=key)
    assert titles(desk) == ["All about kites", "All about swans"]
    card = plain(first(desk.page("/books"), f"#book-{key} .problem").text())
    assert "cannot be opened" in card
    assert "swan.zim" in card
    assert "/Kite" in desk.browser.get("/find?q=kite").text
    swan.write_bytes(content)
    desk.send(f"/books/{key}/remove")
    desk.send("/books/restore", key=key)
    assert "/Swan" in desk.browser.get("/find?q=swan").text
    assert "/Kite" in desk.browser.get("/find?q=kite").text


def test_a_home_folder_of_nobody_is_explained(kept: OwnerServer) -> None:
    reply = kept.send("/books/add", what="~nosuchuser/x.zim")
    assert reply.status_code == 400
    assert "home folder" in reply.text


def test_a_book_larger_than_the_limit_is_refused(tmp_path: Path, kite: Path, swan: Path) -> None:
    """Before any of it is saved where its size is announced, and on the way where it is not."""
    with owner_server(tmp_path / "home", kite, KIWIRESEARCH_SERVE_MAX_BOOK_GB="0.00001") as desk:
        reply = desk.browser.post("/books/upload", files={"file": ("swan.zim", swan.read_bytes(), "application/zim")})
        assert reply.status_code == 400
        assert "too large" in reply.text
        boundary = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.zim"\r\n\r\n'
        parts = iter([boundary, b"ZIM\x04", bytes(20_000), b"\r\n--x--\r\n"])
        kind = {"Content-Type": "multipart/form-data; boundary=x"}
        reply = desk.browser.post("/books/upload", content=parts, headers=kind)
        assert reply.status_code == 400
        assert "too large" in reply.text
        assert not desk.context.library.folder.exists() or list(desk.context.library.folder.iterdir()) == []


def test_half_an_upload_leaves_no_file(desk: OwnerServer, swan: Path) -> None:
    """A connection that breaks off takes with it what was saved of the file."""
    content = swan.read_bytes()
    host = urlsplit(desk.address)
    head = (
        f"POST /books/upload HTTP/1.1\r\nHost: {host.netloc}\r\nOrigin: {desk.address}\r\n"
        f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(content) + 200}\r\n\r\n"
        '--x\r\nContent-Disposition: form-data; name="file"; filename="swan.zim"\r\n\r\n'
    )
    with socket.create_connection((str(host.hostname), int(host.port or 0))) as line:
        line.sendall(head.encode() + content[: len(content) // 2])
        folder = desk.context.library.folder
        waited_for(lambda: folder.exists() and any(folder.glob(f"{PART_PREFIX}*")))
    waited_for(lambda: list(folder.iterdir()) == [])
    assert titles(desk) == ["All about kites"]


def test_titles_are_indexed_in_the_background(desk: OwnerServer) -> None:
    """The page follows the work; when it is done, the running server uses the index."""
    key = key_of(desk, "All about kites")
    desk.page("/books")
    for file in (desk.context.workspace.folders.cache / "titles").iterdir():
        file.unlink()
    desk.send(f"/books/{key}/index")
    waited_for(lambda: "The titles were indexed." in desk.browser.get("/books").text)
    assert any((desk.context.workspace.folders.cache / "titles").glob("*.sqlite"))
    assert "/Kite" in desk.browser.get("/find?q=kite").text


def test_a_book_is_checked_in_the_background(desk: OwnerServer, kite: Path) -> None:
    """Damage is found and said."""
    key = key_of(desk, "All about kites")
    desk.send(f"/books/{key}/check")
    waited_for(lambda: "The check is complete." in desk.browser.get("/books").text)


def test_a_reader_sees_books_and_no_forms(people: UserServer, swan: Path) -> None:
    """Only owners manage books; a form that somebody else sends is refused, also an upload."""
    for name in ("rita", "remy"):
        with people.browser(name) as browser:
            page = browser.get("/books")
            assert page.status_code == 200
            assert "/books/upload" not in page.text
            assert "/books/add" not in page.text
            assert browser.post("/books/add", data={"what": str(swan)}).status_code == 403
            files = {"file": ("swan.zim", swan.read_bytes(), "application/zim")}
            assert browser.post("/books/upload", files=files).status_code == 403
            assert browser.post("/books/file/delete", data={"name": "x"}).status_code == 403
    with people.browser("olga") as browser:
        assert "/books/upload" in browser.get("/books").text


@pytest.mark.parametrize(
    ("settings", "is_owner"),
    [
        ({}, True),
        ({"KIWIRESEARCH_SERVE_HOSTS": "desk.school.lan"}, False),
        ({"KIWIRESEARCH_SERVE_TOKEN": "a-long-token"}, False),
        ({"KIWIRESEARCH_SERVE_TOKEN": "a-long-token", "KIWIRESEARCH_SERVE_FAMILY_OWNER": "true"}, True),
    ],
    ids=["this machine", "behind a name", "token for all", "token of owners"],
)
def test_without_users_the_owner_is_whom_the_settings_name(
    tmp_path: Path, kite: Path, settings: dict[str, str], is_owner: bool
) -> None:
    """This machine, unless others may come through it; holders of a token only where the settings say so."""
    with owner_server(tmp_path / "home", kite, **settings) as desk:
        if "KIWIRESEARCH_SERVE_TOKEN" in settings:
            desk.browser.post("/login", data={"token": "a-long-token"})
        assert ("/books/upload" in desk.browser.get("/books").text) == is_owner
        assert desk.send("/books/add", what="/nowhere.zim").status_code == (400 if is_owner else 403)


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", "There is no file at this path."),
        ("fr", "aucun fichier à cet emplacement"),
        ("es", "No hay ningún archivo"),
    ],
)
def test_a_path_where_nothing_is_is_said_in_plain_words(kept: OwnerServer, language: str, told: str) -> None:
    """No command and no restart; what was typed stays in the field."""
    reply = kept.browser.post("/books/add", data={"what": "/nowhere.zim"}, headers={"Accept-Language": language})
    assert reply.status_code == 400
    assert told in reply.text
    assert 'value="/nowhere.zim"' in reply.text
    assert "kiwiresearch books add" not in reply.text
    assert "kiwiresearch doctor" not in reply.text


def test_a_form_of_another_site_is_refused(kept: OwnerServer) -> None:
    with http_client(kept.address) as stranger:
        elsewhere = {"Origin": "http://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
        file = {"file": ("a.zim", b"ZIM\x04", "application/zim")}
        for headers in (elsewhere, {}):
            assert stranger.post("/books/upload", headers=headers, files=file).status_code == 403
            assert stranger.post("/books/add", headers=headers).status_code == 403
            remove = f"/books/{key_of(kept, 'All about kites')}/remove"
            assert stranger.post(remove, headers=headers).status_code == 403


@pytest.mark.parametrize("language", ["en", "fr", "es"])
def test_the_page_is_there_in_each_language(kept: OwnerServer, language: str) -> None:
    wants = {"Accept-Language": language}
    assert f'<html lang="{language}"' in kept.browser.get("/books", headers=wants).text
    refused = kept.browser.post("/books/upload", files={"file": ("a.zim", b"no", "x/y")}, headers=wants)
    assert refused.status_code == 400
