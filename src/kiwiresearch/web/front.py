"""The front page: what runs here, which books, and where the rest is."""

from __future__ import annotations

from html import escape

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from kiwiresearch import __version__
from kiwiresearch.web.ask_page import form
from kiwiresearch.web.pages import local, page
from kiwiresearch.web.room import Room
from kiwiresearch.zim.entry import EntryRef

PLACES = (
    ("/openapi.json", "all that programs can ask, as OpenAPI"),
    ("/api/health", "whether books and model are at hand"),
    ("/v1", "for chat clients that speak to OpenAI"),
    ("/mcp", "for clients of the Model Context Protocol"),
)


def router(room: Room) -> APIRouter:
    """The page at the server's root."""
    routes = APIRouter()

    @routes.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    def front() -> HTMLResponse:
        links = [(room.page_url(EntryRef(book.id, "")), book.title or book.name) for book in room.shelf.books]
        books = "".join(f'<li><a href="{escape(local(url))}">{escape(title)}</a></li>' for url, title in links)
        places = "".join(f"<li><code>{escape(path)}</code>: {escape(words)}</li>" for path, words in PLACES)
        note = "<p>The shelf is empty, so this is the sample book.</p>" if room.shelf.is_sample else ""
        return page(
            "kiwiresearch",
            f"<p>An offline research desk over Kiwix books, version {escape(__version__)}.</p>"
            f"{form()}<h2>Books</h2>{note}<ul>{books}</ul><h2>For programs</h2><ul>{places}</ul>",
        )

    return routes
