"""A small book whose pages do not agree, served with a run on it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from tests.web.desk.conftest import ARun, finished
from tests.web.servers import NO_RATE_LIMIT, browser_client, http_client, running_server, server_context

from kiwiresearch.web.app import make_app
from kiwiresearch.workspace.output_folders import runs_folder
from kiwiresearch.zim.book_writer import NewPage, write_book

PAGES = {
    "Varn": "<p>Varn is a town in the north. It lies near <a href='Lund'>Lund</a>.</p>"
    "<h2 id='People'>People</h2><p>Varn had 12,000 inhabitants in 1430. The harbour of Varn is 12 m deep.</p>"
    "<h2 id='Wall'>Wall</h2><p>The old wall of Varn was built in 1430.</p>",
    "Lund": "<p>Lund is a village near <a href='Varn'>Varn</a>.</p>"
    "<h2 id='Near'>Near</h2><p>Varn had 15,000 inhabitants in 1430.</p>"
    "<p>The old wall of Varn was built in 1450 by sailors.</p>",
    "Harbour of Varn": "<p>The harbour of <a href='Varn'>Varn</a> is the oldest in the north.</p>",
}
METADATA = {
    "Name": "varn_en",
    "Title": "Varn and around",
    "Description": "A book whose pages do not agree",
    "Language": "eng",
    "Creator": "tests",
    "Publisher": "tests",
    "Date": "2026-01-01",
}


@contextlib.contextmanager
def run_with_conflicts(folder: Path) -> Iterator[ARun]:
    """A run on the book, on a server that has no other; its client asks for pages as a browser does."""
    book = folder / "varn.zim"
    pages = [
        NewPage(path, path, f"<html><body><h1>{path}</h1>{body}</body></html>".encode()) for path, body in PAGES.items()
    ]
    write_book(book, pages, metadata=METADATA)
    with (
        server_context(folder / "home", str(book), **NO_RATE_LIMIT) as context,
        running_server(context, make_app) as address,
    ):
        with http_client(address) as client:
            made = finished(client, topic="Varn")
        with browser_client(address) as browser:
            yield ARun(browser, context, made, runs_folder(context.workspace) / made)
