"""Other hosts as we know them: their rows are read with care, and who fails again and again is left alone."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kiwiresearch.errors import HostUnreachable
from kiwiresearch.ids import BookId
from kiwiresearch.store.store import open_store
from kiwiresearch.workspace.hosts import connect_hosts
from kiwiresearch.workspace.other_hosts import OtherHosts
from kiwiresearch.workspace.workspace import close_stores, open_workspace
from kiwiresearch.zim.libzim import LibzimArchive
from kiwiresearch.zim.peer_protocol import PING, Call, CallReply, announcement_of, checked_text, pack_replies
from kiwiresearch.zim.shelf import Shelf


@pytest.mark.parametrize("since", [10**400, float("inf"), float("nan"), "yesterday", None, []])
def test_a_host_without_a_time_is_known_all_the_same(tmp_path: Path, sample_zim: Path, since: Any) -> None:
    """Since when it is there is unknown then; its books are known, and so are the other hosts."""
    archive = LibzimArchive(sample_zim)
    sheet = announcement_of(archive.book, None)
    archive.close()
    with open_store(f"sqlite:///{tmp_path / 'store.sqlite'}", is_shared_store=True, clock=time.monotonic) as store:
        store.hosts.announce("liar", "http://127.0.0.1:9", [sheet | {"since": since}])
        store.hosts.announce("other", "http://127.0.0.1:9", [sheet | {"since": 5.0}])
        met = OtherHosts(store, "ours")
        met.refresh()
    assert [(host.name, host.started_at, len(host.books)) for host in met.all()] == [
        ("liar", 0.0, 1),
        ("other", 5.0, 1),
    ]


class Lame:
    """A host that answers every ping, but other requests only when it is well."""

    def __init__(self) -> None:
        self.is_well = False
        self.asked = 0

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        lame = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                is_knock = self.path.endswith(PING)
                lame.asked += not is_knock
                text = (
                    b"lame" if is_knock else b"".join(pack_replies([CallReply("Sun")])) if lame.is_well else b"garbage"
                )
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}"
            finally:
                server.shutdown()
                thread.join()


def test_a_host_that_fails_again_and_again_is_left_alone(tmp_path: Path, sample_zim: Path) -> None:
    """The first time it is used again after a ping; then only after it has answered a request."""
    archive = LibzimArchive(sample_zim)
    sheet, book = announcement_of(archive.book, None), BookId(archive.book.id)
    archive.close()
    lame, call = Lame(), Call("title", ("Sun",), lambda value, _: checked_text(value))
    with (
        open_store(f"sqlite:///{tmp_path / 'store.sqlite'}", is_shared_store=True, clock=time.monotonic) as store,
        lame.serving() as url,
    ):
        store.hosts.announce("lame", url, [sheet])
        met = OtherHosts(store, "ours")
        met.refresh()
        for is_up in (True, False, False):
            with pytest.raises(HostUnreachable):
                met.ask(book, [call])
            met.retry_failed()
            assert [host.is_up for host in met.all()] == [is_up]
        assert lame.asked == 2
        lame.is_well = True
        met._suspended.clear()  # its time is over
        assert met.ask(book, [call]) == [CallReply("Sun")]
        assert met._failed == {}
        met.close()


def test_a_shelf_counts_how_often_other_hosts_failed(tmp_path: Path) -> None:
    """A shelf of named books, as jobs use it, notices that a book of another host could not be opened."""
    environment = {"KIWIRESEARCH_HOME": str(tmp_path), "KIWIRESEARCH_STORE": f"sqlite:///{tmp_path / 'shared.sqlite'}"}
    workspace = open_workspace(environment)
    opener, shelf = connect_hosts(workspace), Shelf((), workspace.opener)
    assert shelf.failures == 0
    try:
        with pytest.raises(HostUnreachable):
            opener(BookId("00000000-0000-0000-0000-000000000000"))
        assert shelf.failures == 1
    finally:
        close_stores()
