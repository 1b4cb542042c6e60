"""Exploring books: the atlas that an owner creates in the browser, subjects, titles, and what happened on a day."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.atlas.atlas_book import write_elm, write_elm_shards
from tests.conftest import BookMaker
from tests.web.desk.owner_servers import OwnerServer, owner_server
from tests.web.desk.page_text import texts_of
from tests.web.server_with_users import user_server
from tests.web.servers import NO_RATE_LIMIT

from kiwiresearch.ids import BookId
from kiwiresearch.workspace import BookTask, BookTasks, book_key, estimate


@pytest.fixture(scope="module")
def elm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_elm(tmp_path_factory.mktemp("elm"))


@pytest.fixture
def desk(tmp_path: Path, elm: Path) -> Iterator[OwnerServer]:
    """The server of somebody who has one book, and no atlas yet."""
    with owner_server(tmp_path / "home", elm) as made:
        yield made


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory, elm: Path) -> Iterator[OwnerServer]:
    """The server of somebody who has the atlas of the book."""
    folder = tmp_path_factory.mktemp("explored")
    shards = write_elm_shards(elm, folder / "shards")
    with owner_server(folder / "home", elm, KIWIRESEARCH_ATLAS=str(shards)) as made:
        yield made


def key_of(desk: OwnerServer) -> str:
    return book_key(desk.context.shelf.books[0])


def the_task(desk: OwnerServer) -> BookTask:
    return next(task for task in desk.context.book_tasks.of(desk.context.shelf.books[0]) if task.kind == "atlas")


def ended(desk: OwnerServer, timeout_s: float = 240.0) -> BookTask:
    until = time.monotonic() + timeout_s
    while (task := the_task(desk)).is_open:
        assert time.monotonic() < until, "it did not end in time"
        time.sleep(0.1)
    return task


def test_an_owner_creates_and_deletes_an_atlas_in_the_browser(desk: OwnerServer) -> None:
    """It is in the menu, on the card of its book and on the first page without a restart, until it is deleted.

    If the book is removed meanwhile, the process ends and no restart continues it; put back, the book offers to resume.
    """
    tasks, (book,) = desk.context.book_tasks, desk.context.shelf.books
    key = key_of(desk)
    assert "Analyse the whole book" in desk.browser.get("/books").text
    assert "/explore/timeline" not in desk.browser.get("/").text
    reply = desk.send(f"/books/{key}/atlas")
    assert "Stop analysis" in reply.text or "The analysis is ready." in reply.text

    lane = tasks._thread_for("atlas")
    until = time.monotonic() + 60
    while lane._child is None:
        assert time.monotonic() < until, "its process did not start"
        time.sleep(0.01)
    process = lane._child
    assert "Your library is empty" in desk.send(f"/books/{key}/remove").text
    assert process.wait(30) != 0
    (task,) = tasks.of(book)
    assert (task.state, task.problem) == ("paused", "")
    assert not tasks.folders.is_wanted(book.id)
    assert tasks.folders.finished() == ()
    later = BookTasks(desk.context.workspace, lambda _: None)
    later.resume([book])
    assert not any(one.is_open for one in later.of(book))
    later.close()
    desk.send("/books/restore", key=key)
    assert "Resume analysis" in desk.browser.get("/books").text

    desk.send(f"/books/{key}/atlas")
    assert ended(desk).state == "done"
    page = desk.browser.get("/books").text
    assert "The analysis is ready." in page
    base = f"/atlas/{book.id}"
    for address in (f"{base}/contradictions", f"{base}/ranks?by=linked", f"{base}/timeline"):
        assert f'href="{address}"' in page
        assert desk.browser.get(address).status_code == 200
    for place in ("timeline", "contradictions", "ranks"):
        assert f'href="/explore/{place}"' in desk.browser.get("/").text
        assert desk.browser.get(f"/explore/{place}").headers["location"].startswith(base)
    assert not tasks.folders.is_wanted(book.id)
    assert tasks.folders.finished() == (tasks.folders.of(book.id),)
    desk.send(f"/books/{key}/atlas/delete")
    assert "Analyse the whole book" in desk.browser.get("/books").text
    assert desk.browser.get(f"{base}/timeline").status_code == 404


def test_a_stopped_atlas_is_resumed_and_one_of_an_ended_server_continues(desk: OwnerServer, elm: Path) -> None:
    """The folder of a server that ended is finished by the next one.

    Until then the atlas of an earlier version is used; its folder is removed at the end.
    """
    tasks, book = desk.context.book_tasks, desk.context.shelf.books[0]
    older = tasks.folders.of(book.id).with_name(f"{book.id}-0.0.1")
    write_elm_shards(elm, older)
    desk.send(f"/books/{key_of(desk)}/atlas")
    reply = desk.send(f"/books/{key_of(desk)}/atlas/stop")
    assert the_task(desk).state == "paused"
    assert "Resume analysis" in reply.text
    assert not tasks.folders.is_wanted(book.id)
    assert tasks.folders.finished() == (older,)
    assert desk.browser.get(f"/atlas/{book.id}/timeline").status_code == 200
    tasks.folders.set_wanted(book.id, wanted=True)
    later = BookTasks(desk.context.workspace, lambda _: None)
    later.resume(desk.context.shelf.books)
    until = time.monotonic() + 240
    while any(task.is_open for task in later.of(book)):
        assert time.monotonic() < until
        time.sleep(0.1)
    later.close()
    (task,) = later.of(book)
    assert (task.state, task.problem) == ("done", "")
    assert tasks.folders.finished() == (tasks.folders.of(book.id),)
    assert not older.exists()


def test_an_atlas_deleted_while_it_waits_does_not_block_the_next(
    desk: OwnerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The queue goes on: a task that is gone when its turn comes is passed over."""
    monkeypatch.setattr(
        "kiwiresearch.workspace.book_tasks.module_command",
        lambda *_: [sys.executable, "-c", "import time; time.sleep(0.5)"],
    )
    (first,) = desk.context.shelf.books
    deleted, last = (replace(first, id=BookId(name)) for name in ("deleted", "last"))
    tasks = BookTasks(desk.context.workspace, lambda _: None)
    for book in (first, deleted, last):
        tasks.start("atlas", book)
    tasks.forget(deleted)
    until = time.monotonic() + 60
    while any(task.is_open for task in tasks.of(last)):
        assert time.monotonic() < until
        time.sleep(0.05)
    tasks.close()
    assert [task.state for task in tasks.of(last)] == ["done"]
    assert tasks.of(deleted) == ()


def test_an_atlas_that_cannot_be_created_says_why_to_the_owner(
    desk: OwnerServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kiwiresearch.workspace.atlas_build.MODULE", "kiwiresearch.no_such_module")
    desk.send(f"/books/{key_of(desk)}/atlas")
    assert ended(desk).state == "failed"
    page = desk.browser.get("/books").text
    assert "The analysis did not finish." in page
    assert "no_such_module" in page
    assert "Resume analysis" in page


def test_only_an_owner_creates_an_atlas(tmp_path: Path) -> None:
    """The page says whom readers can ask."""
    with user_server(tmp_path, **NO_RATE_LIMIT) as people, people.browser("rita") as rita:
        page = rita.get("/on-this-day").text
        assert "An owner of this server can analyse a book" in page
        assert "Analyse the whole book" not in page + rita.get("/books").text + rita.get("/browse").text
        for action in ("atlas", "atlas/stop", "atlas/delete"):
            assert rita.post(f"/books/{'0' * 16}/{action}").status_code == 403


def test_an_estimate_grows_with_the_book() -> None:
    small, large = estimate(100), estimate(100_000)
    assert large.seconds == pytest.approx(1000 * small.seconds)
    assert large.size_bytes > small.size_bytes > 0


def test_titles_are_browsed_by_letter(desk: OwnerServer) -> None:
    page = desk.page("/browse/titles")
    assert "E" in texts_of(page, ".letters a")
    titles = texts_of(page, ".explore-links a")
    assert titles == sorted(titles, key=lambda title: title.lower().replace(" ", ""))
    assert texts_of(desk.page("/browse/titles?from=elm"), ".explore-links a")[0].startswith("Elm")
    assert desk.browser.get("/browse/titles?from=%F0%9F%98%80").status_code == 200
    assert desk.browser.get("/browse?book=no-such-book").status_code == 404


def test_pages_without_an_atlas_offer_the_owner_to_create_it(desk: OwnerServer) -> None:
    for place in ("/browse", "/on-this-day"):
        page = desk.browser.get(place).text
        assert "This needs an analysis of the whole book" in page
        assert f'action="/books/{key_of(desk)}/atlas"' in page


def test_a_day_shows_what_happened_with_the_words_of_the_page(explored: OwnerServer) -> None:
    """Ada Rowe died on 9 June 1885; the link leads to the words that say so."""
    page = explored.page("/on-this-day?month=6&day=9")
    assert texts_of(page, ".when") == ["1885"]
    link = page.css_first(".day-events cite a")
    assert link is not None
    assert "<mark" in explored.browser.get(str(link.attributes["href"])).text
    assert {"← 8 June", "10 June →"} <= set(texts_of(page, ".day-choice a"))
    assert "No events found for this day" in explored.browser.get("/on-this-day?month=2&day=28").text


@pytest.mark.parametrize(
    ("chosen", "shown"),
    [("month=2&day=30", "29 February"), ("month=4&day=31", "30 April"), ("month=12&day=31", "31 Dec")],
)
def test_a_day_that_a_month_lacks_is_its_last(explored: OwnerServer, chosen: str, shown: str) -> None:
    """A reader chooses month and day in two lists; every day of a leap year has a page with neighbours."""
    page = explored.page(f"/on-this-day?{chosen}")
    assert shown in texts_of(page, "h1")[0].replace("\u00a0", " ")
    assert len(page.css(".day-choice select")) == 2
    assert len(page.css(".day-choice [rel]")) == 2


@pytest.mark.parametrize("chosen", ["month=13&day=1", "month=1&day=32", "month=x&day=1"])
def test_an_invalid_day_is_refused(explored: OwnerServer, chosen: str) -> None:
    assert explored.browser.get(f"/on-this-day?{chosen}").status_code == 422


def test_without_a_day_today_is_shown(explored: OwnerServer) -> None:
    assert texts_of(explored.page("/on-this-day"), ".day-choice a[href='/on-this-day']") == []


@pytest.mark.parametrize("language", ["en", "fr", "es"])
@pytest.mark.parametrize("place", ["/", "/books", "/browse", "/browse/titles", "/on-this-day", "/atlas"])
def test_pages_are_there_in_every_language(explored: OwnerServer, place: str, language: str) -> None:
    assert explored.browser.get(place, headers={"Accept-Language": language}).status_code == 200


def test_a_subject_that_nothing_is_has_no_pages(explored: OwnerServer) -> None:
    book = explored.context.shelf.books[0].id
    reply = explored.browser.get("/browse/subject", params={"book": book, "name": "<script>", "n": 7})
    assert reply.status_code == 200
    assert "<script>" not in reply.text.partition("<main")[2]


def test_a_subject_without_any_book_is_no_error(tmp_path: Path, elm: Path) -> None:
    """Where the policy hides all books, the page says that none can be opened, as the other pages do."""
    with owner_server(tmp_path / "home", elm) as desk:
        desk.context.shelf.books = ()
        desk.context._finder._books = []
        for address in ("/browse", "/browse/subject?book=%20&name=x"):
            reply = desk.browser.get(address)
            assert (reply.status_code, "No book can be opened." in reply.text) == (200, True)


def test_titles_alone_make_groups(tmp_path: Path, a_book: BookMaker) -> None:
    """Titles that begin alike, or say in parentheses what they are about, and the links of the start page."""
    titles = ["Battle of Ash", "Battle of Elm", "Ray (film)", "Elm (1962 film)", "Sun (Ash film)", "Sun (star)"]
    pages = {title: f"<p>{title} is something.</p>" for title in titles}
    pages["Start"] = "<p>" + "".join(f'<a href="{title}">{title}</a> ' for title in titles[:4]) + "</p>"
    book = a_book(pages, name="groups.zim", main_path="Start")
    with owner_server(tmp_path / "home", book) as desk:
        page = desk.page("/browse")
        assert texts_of(page, ".subjects li") == ["film 3", "Battle of … 2"]
        assert texts_of(page, ".explore-links a") == titles[:4]
        (about, group) = [str(link.attributes["href"]) for link in page.css(".subjects a")]
        assert texts_of(desk.page(about), ".explore-links a") == ["Elm (1962 film)", "Ray (film)", "Sun (Ash film)"]
        assert texts_of(desk.page(group), ".explore-links a") == ["Battle of Ash", "Battle of Elm"]
