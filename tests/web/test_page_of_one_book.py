"""Answers from one page where two books have a page of its name."""

from __future__ import annotations

from pathlib import Path

from tests.web.servers import http_client, running_server, server_context, stream_events

from kiwiresearch.web.app import make_app
from kiwiresearch.zim.book_writer import NewPage, write_book


def test_the_named_book_answers(tmp_path: Path, sample_zim: Path) -> None:
    """Of two books that have a page of one path, the one that was named answers (R235)."""
    other = tmp_path / "other.zim"
    metadata = {"Name": "other_en", "Title": "Other book", "Language": "eng", "Date": "2026-01-01"}
    page = b"<p>Sunset is a village in Utah. It was founded in 1870 by two farmers.</p>"
    write_book(other, [NewPage("Sunset", "Sunset", page)], [], metadata=metadata)
    body = {"path": "Sunset", "book": "other_en", "question": "When was Sunset founded?"}
    with (
        server_context(tmp_path / "home", str(sample_zim), str(other)) as context,
        running_server(context, make_app) as address,
        http_client(address) as client,
        client.stream("POST", "/api/answer_from_page", json=body) as reply,
    ):
        last = list(stream_events(reply.iter_lines()))[-1]
    assert "1870" in last.data["passages"][0]["text"]
