"""The line to another host: one that drips, in whatever part of its answer, is cut off as one that is silent."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from kiwiresearch.errors import HostAway
from kiwiresearch.zim import peer_line
from kiwiresearch.zim.peer_line import Line

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WELL = OK + b"Content-Length: 4\r\n\r\nhost"


class Dripping:
    """A host that answers well so many times, and then begins an answer that goes on and on."""

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
def dripping(begins: bytes, drop: bytes, good: int = 0) -> Iterator[tuple[Dripping, Line]]:
    host = Dripping(begins, drop, good)
    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=host.serve, args=(door,), daemon=True)
        thread.start()
        line = Line("host", f"http://127.0.0.1:{door.getsockname()[1]}", "secret")
        try:
            yield host, line
        finally:
            host.over.set()
            line.close()
            with contextlib.suppress(OSError):
                door.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("CUT_S", 0.1), ("AT_WORK_S", 0.2), ("WHOLE_S", 0.4)):
        monkeypatch.setattr(peer_line, name, seconds)


@pytest.mark.parametrize("good", [0, 2], ids=["at once", "on a line that was kept open"])
@pytest.mark.parametrize(
    ("begins", "drop"),
    [
        (OK + b"X: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (CHUNKED + b"1;", b"x"),
        (CHUNKED, b"1\r\n.\r\n"),
        (CHUNKED + b"1\r\n!\r\n", b"1\r\nx\r\n"),
        (CHUNKED + b"1\r\n!\r\n1;", b"x"),
    ],
    ids=["headers", "promises", "the size of a part", "dots", "parts", "the size of the next part"],
)
def test_a_host_that_drips_is_cut_off(begins: bytes, drop: bytes, good: int) -> None:
    """Its answer is not waited for beyond the limit, nor asked for a second time; the line can be used again."""
    with dripping(begins, drop, good) as (host, line):
        for _ in range(good):
            line.ping()
        with pytest.raises(HostAway, match="'host' does not come to an end"):
            line.ping()
        assert host.calls == good + 1
        host.good = good + 2
        line.ping()


def test_no_limit_is_left_after_a_call() -> None:
    """A host that answers is asked again and again, and nobody cuts its line afterwards."""
    with dripping(b"", b"", good=100) as (host, line):
        for _ in range(20):
            line.ping()
        for one in threading.enumerate():
            if isinstance(one, threading.Timer):
                one.join()
        line.ping()
        assert (host.calls, host.lines) == (21, 1)
