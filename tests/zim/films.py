"""A book with films, small and large, and a line to a server on which it is counted what comes through."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import socket
import threading
from pathlib import Path

from kiwiresearch.zim.book_writer import NewPage, write_book

SMALL, LARGE = 3 * 2**20, 24 * 2**20
SIZES = {"small.webm": SMALL, "large.webm": LARGE, "I/other.webm": LARGE}


@functools.cache
def film(size: int) -> bytes:
    """Bytes of which no two places are alike."""
    return hashlib.shake_128(b"film").digest(size)


def a_book_of_films(target: Path) -> Path:
    """Films that are stored as they are, and one that is packed."""
    pages = [NewPage("Main", "Main", b"<title>Main</title><p>Films.</p>")]
    pages += [
        NewPage(path, path, film(size), mimetype="video/webm", is_article=False, is_packed=False)
        for path, size in SIZES.items()
    ]
    pages.append(NewPage("packed.webm", "packed", film(SMALL), mimetype="video/webm", is_article=False))
    metadata = {"Name": "films_en", "Title": "Films", "Language": "eng", "Date": "2026-01-01"}
    write_book(target, pages, metadata=metadata, main_path="Main", index=False)
    return target


class Counted:
    """A relay to a server, which counts what the server says."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._door = socket.create_server(("127.0.0.1", 0))
        self.said = 0
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._open, daemon=True).start()

    def _open(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._door.accept()
                far = socket.create_connection(("127.0.0.1", self._port))
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        is_server = source.getpeername()[1] == self._port
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                self.said += len(data) * is_server
                target.sendall(data)
        for line in (source, target):
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        source.close()

    def close(self) -> None:
        self._door.close()
