"""A server on loopback whose answers drip: each byte comes in time, and the last one never."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WELL = OK + b"Content-Length: 4\r\n\r\nhost"


class Dripping:
    """A server that answers well so many times, and then begins an answer that goes on and on."""

    def __init__(self, begins: bytes, drop: bytes, good: int) -> None:
        self.over = threading.Event()
        self.calls = self.lines = 0
        self.good = good
        self._begins, self._drop = begins, drop

    def serve(self, door: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                line, _ = door.accept()
                threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        self.lines += 1
        with contextlib.suppress(OSError), line:
            while line.recv(65_536):
                self.calls += 1
                if self.calls <= self.good:
                    line.sendall(WELL)
                    continue
                line.sendall(self._begins)
                while not self.over.wait(0.02):
                    line.sendall(self._drop)


@contextlib.contextmanager
def dripping(begins: bytes, drop: bytes, good: int = 0) -> Iterator[tuple[Dripping, str]]:
    """Such a server, and its address."""
    host = Dripping(begins, drop, good)
    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=host.serve, args=(door,), daemon=True)
        thread.start()
        try:
            yield host, f"http://127.0.0.1:{door.getsockname()[1]}"
        finally:
            host.over.set()
            with contextlib.suppress(OSError):
                door.shutdown(socket.SHUT_RDWR)
    thread.join()
