"""Pages to explore books without a question: by subject, by title, and what happened on a day of the year."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from kiwiresearch.atlas import (
    AREAS,
    DAYS,
    SUBJECTS,
    Atlas,
    PageKind,
    ResultWindow,
    events_on,
    page_kinds,
    pages_of_kind,
)
from kiwiresearch.errors import KiwiError
from kiwiresearch.jobs import JobQueue
from kiwiresearch.search import OpenBook, TitleSlice
from kiwiresearch.web.addresses import list_address, page_address
from kiwiresearch.web.bodies import Name
from kiwiresearch.web.book_pages import books_named
from kiwiresearch.web.context import AtlasNotReady, ServerContext
from kiwiresearch.web.desk.browse_links import (
    NamedLink,
    first_letters,
    qualifier_groups,
    start_links,
    title_groups,
    titles_in_order,
)
from kiwiresearch.web.desk.pages import ListPlace, PageRenderer, last_number, list_page, numbered_page, redirect
from kiwiresearch.web.guard import OwnerAccess, RoleRouter
from kiwiresearch.workspace import book_key
from kiwiresearch.zim import EntryRef

TITLES_PER_PAGE = 100
PAGES_PER_PAGE = 60
MAX_EVENTS = 500
"""How many events of one book and day are listed at most."""
ON_HOME = 4

Typed = Annotated[str, Query(max_length=200)]
Number = Annotated[int, Query(ge=1, le=10_000_000)]
Month = Annotated[int, Query(ge=0, le=12)]
Day = Annotated[int, Query(ge=0, le=31)]
LEAP_YEAR = 2000
AtlasTab = Literal["timeline", "contradictions", "ranks"]


@dataclass(frozen=True, slots=True)
class DayEvent:
    """Something that a book dates to a day."""

    row: Mapping[str, Any]
    book: str
    language: str
    address: str


def today() -> date:
    """The day on the clock of the server, where the browser sends none."""
    return datetime.now(UTC).astimezone().date()  # noqa: TID251


def router(context: ServerContext, _jobs: JobQueue, pages: PageRenderer) -> APIRouter:
    """Subjects, titles, and the day."""
    routes = RoleRouter("reader", include_in_schema=False)
    shown = ExplorePages(context, pages)
    routes.get("/browse")(shown.subjects)
    routes.get("/browse/subject")(shown.subject)
    routes.get("/browse/titles")(shown.titles)
    routes.get("/on-this-day")(shown.day)
    routes.get("/explore/{tab}")(shown.atlas)
    return routes


class ExplorePages:
    """The pages; those that need an atlas say so, and offer the owner to create one."""

    def __init__(self, context: ServerContext, pages: PageRenderer) -> None:
        self._context = context
        self._pages = pages
        self._access = OwnerAccess(context.workspace.settings.serve)

    def subjects(self, request: Request, book: Annotated[Name, Query()] = "") -> Response:
        """The subjects of a book: kinds of things from its atlas, groups of titles, and the links of its start page."""
        with self._context.locked_finder() as finder:
            opened = _chosen(finder, book)
            groups = title_groups(opened) if opened else ()
            qualified = qualifier_groups(opened) if opened else {}
            start = start_links(opened) if opened else ()
        atlas = self._context.atlases.find(opened.book.id) if opened else None
        areas: dict[str, tuple[NamedLink, ...]] = {}
        is_working = False
        if opened and atlas:
            try:
                areas = self._areas(opened, atlas)
            except AtlasNotReady:
                is_working = True
        named = tuple(
            NamedLink(noun, list_address("/browse/titles", {"book": opened.book.id, "about": noun}), len(links))
            for noun, links in qualified.items()
            if opened
        )
        values = {
            "areas": areas,
            "groups": groups,
            "qualified": named,
            "start": start,
            "has_atlas": bool(atlas),
            "is_working": is_working,
        }
        return self._show(request, "browse.html", opened, "subjects", **values)

    def subject(self, request: Request, book: Annotated[Name, Query()], name: Typed, n: Number = 1) -> Response:
        """The pages about one kind of thing."""
        with self._context.locked_finder() as finder:
            opened = _chosen(finder, book)
        if opened is None:
            return self.subjects(request)
        atlas = self._context.atlases.get(opened.book.id)
        self._context.atlases.wait_for(atlas, SUBJECTS)

        def rows(number: int) -> Any:
            window = ResultWindow(PAGES_PER_PAGE, (number - 1) * PAGES_PER_PAGE)
            return self._context.atlases.cached_result(
                atlas, ("subject", name, number), lambda: pages_of_kind(atlas, name, window)
            )

        found = rows(n)
        if n > (last := last_number(found.total, PAGES_PER_PAGE)):
            n, found = last, rows(last)
        part = self._context.atlases.policy_filter(atlas).filter_page(found)
        links = [NamedLink(row["title"], page_address(EntryRef(opened.book.id, row["path"]))) for row in part.rows]
        place = ListPlace("/browse/subject", {"book": opened.book.id, "name": name})
        listed = numbered_page(links, part.total, n, place, PAGES_PER_PAGE)
        values = {"shown": listed, "name": name, "hidden": part.hidden}
        return self._show(request, "browse_subject.html", opened, "subjects", **values)

    def titles(
        self,
        request: Request,
        book: Annotated[Name, Query()] = "",
        start: Annotated[str, Query(alias="from", max_length=200)] = "",
        group: Typed = "",
        about: Typed = "",
        n: Number = 1,
    ) -> Response:
        """The titles of a book from some letters on, in the order of the alphabet; or those that begin with a text.

        With `about`, those that have this noun in parentheses.
        """
        with self._context.locked_finder() as finder:
            opened = _chosen(finder, book)
            if opened and about:
                links = qualifier_groups(opened).get(about, [])
                place = ListPlace("/browse/titles", {"book": opened.book.id, "about": about})
                listed = list_page(links, n, place, TITLES_PER_PAGE)
                return self._show(
                    request, "browse_subject.html", opened, "subjects", shown=listed, name=about, hidden=0
                )
            index = titles_in_order(opened)
            found = index.page(start, TITLES_PER_PAGE, group) if index else TitleSlice((), None, None)
            letters = first_letters(index) if index and not group else ()
            second = index.heads(start[:1]) if index and not group and len(start) == 1 and start.isalpha() else ()
        book_id = opened.book.id if opened else ""

        def address(text: str | None) -> str:
            return list_address("/browse/titles", {"book": book_id, "from": text, "group": group})

        values = {
            "links": [NamedLink(row.title, page_address(EntryRef(book_id, row.path))) for row in found.rows],  # type: ignore[arg-type]
            "before": address(found.before) if found.before is not None else "",
            "after": address(found.after) if found.after is not None else "",
            "letters": [(letter, address(letter)) for letter in letters],
            "second": [(head, address(head)) for head in second],
            "start": start,
            "group": group,
            "has_index": index is not None,
        }
        return self._show(request, "browse_titles.html", opened, "titles", **values)

    def day(self, request: Request, month: Month = 0, day: Day = 0) -> Response:
        """What happened on a day of the year: the chosen one, or today."""
        now = today()
        chosen = _day_of(month or now.month, day or now.day)
        events, is_working = self.events_on(chosen)
        values = {
            "chosen": chosen,
            "before": chosen - timedelta(days=1),
            "after": chosen + timedelta(days=1),
            "today": now,
            "events": events,
            "is_working": is_working,
            "atlases": len(self._context.atlases.all()[0]),
        }
        with self._context.locked_finder() as finder:
            opened = _chosen(finder, "")
        return self._show(request, "on_this_day.html", opened, "day", **values)

    def atlas(self, request: Request, tab: AtlasTab) -> Response:
        """A part of the atlas: of the only book that has one, or of one that is chosen."""
        found, unusable = self._context.atlases.all()
        if len(found) == 1:
            return redirect(f"/atlas/{found[0].book.id}/{tab}{'?by=linked' if tab == 'ranks' else ''}")
        return self._pages.show(request, "atlas.html", atlases=found, unusable=unusable, tab=tab)

    def events_on(self, chosen: date, *, only_ready: bool = False) -> tuple[list[DayEvent], bool]:
        """The events of a day in all books with an atlas, by year; and whether some are still being calculated."""
        atlases = self._context.atlases
        found: list[DayEvent] = []
        is_working = False
        year = today().year
        for atlas in atlases.all()[0]:
            if not atlas.has_tables(*DAYS.needs) or (only_ready and not atlas.has(DAYS)):
                continue
            try:
                atlases.wait_for(atlas, DAYS)
                found += self._events_of(atlas, chosen, year)
            except AtlasNotReady:
                is_working = True
        return sorted(
            found, key=lambda day_event: (day_event.row["year"], day_event.book, day_event.row["path"])
        ), is_working

    def today_on_home(self) -> list[DayEvent]:
        """Some events of today, as far as they can be shown at once."""
        try:
            events, _ = self.events_on(today(), only_ready=True)
        except KiwiError:  # the page of the day says what is wrong
            return []
        return _spread(events, ON_HOME)

    def _events_of(self, atlas: Atlas, chosen: date, year: int) -> Iterator[DayEvent]:
        question = ("day", chosen.month, chosen.day, year)
        window = ResultWindow(MAX_EVENTS)
        rows = self._context.atlases.cached_result(
            atlas, question, lambda: events_on(atlas, chosen.month, chosen.day, year, window)
        )
        for row in self._context.atlases.policy_filter(atlas).filter_page(rows).rows:
            ref = EntryRef(atlas.book.id, row["path"])
            address = page_address(ref, mark=f"{row['start']}-{row['end']}" if row["end"] > row["start"] >= 0 else "")
            yield DayEvent(row, atlas.book.title or atlas.book.name, atlas.language, address)

    def _areas(self, opened: OpenBook, atlas: Atlas) -> dict[str, tuple[NamedLink, ...]]:
        atlases = self._context.atlases
        if not atlas.has_tables(*SUBJECTS.needs):
            return {}
        atlases.wait_for(atlas, SUBJECTS)
        found: Sequence[PageKind] = atlases.cached_result(atlas, ("subjects",), lambda: page_kinds(atlas))

        def link(subject: PageKind) -> NamedLink:
            address = list_address("/browse/subject", {"book": opened.book.id, "name": subject.name})
            return NamedLink(subject.name, address, subject.pages)

        by_area = {area: tuple(link(subject) for subject in found if subject.area == area) for area in AREAS}
        return {area: links for area, links in by_area.items() if links}

    def _show(self, request: Request, template: str, opened: OpenBook | None, tab: str, **values: Any) -> Response:
        listed = next((book for book in self._context.shelf.books if opened and book.id == opened.book.id), None)
        is_file = listed is not None and listed.source.is_local
        return self._pages.show(
            request,
            template,
            book=opened.book if opened else None,
            books=self._context.shelf.books,
            tab=tab,
            atlas_key=book_key(listed) if listed and is_file and self._access.may_manage(request) else "",
            tasks=self._context.book_tasks.of(listed) if listed else (),
            **values,
        )


def _chosen(finder: Any, name: str) -> OpenBook | None:
    """The named book, else the first; None if no book can be opened."""
    return next(iter(books_named(finder, name)), None)


def _day_of(month: int, day: int) -> date:
    """A day of a leap year, which has all days; the last one of the month if it has fewer."""
    return date(LEAP_YEAR, month, min(day, monthrange(LEAP_YEAR, month)[1]))


def _spread(events: list[DayEvent], size: int) -> list[DayEvent]:
    """Some events from all of the time that they span, always the same ones."""
    if len(events) <= size:
        return events
    return [events[round(at * (len(events) - 1) / (size - 1))] for at in range(size)]
