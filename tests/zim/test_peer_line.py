"""The line to another host: one that drips, in whatever part of its answer, is cut off as one that is silent."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

import pytest
from tests.zim.dripping import CHUNKED, OK, Dripping, dripping

from kiwiresearch.errors import HostAway
from kiwiresearch.zim import peer_client
from kiwiresearch.zim.peer_client import PeerClient


@contextlib.contextmanager
def line_to(begins: bytes, drop: bytes, good: int = 0) -> Iterator[tuple[Dripping, PeerClient]]:
    """A line to a host that answers well so many times, and then drips."""
    with (
        dripping(begins, drop, good) as (host, address),
        contextlib.closing(PeerClient("host", address, "secret")) as line,
    ):
        yield host, line


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("AT_WORK_S", 0.2), ("WHOLE_S", 0.4)):
        monkeypatch.setattr(peer_client, name, seconds)


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
    with line_to(begins, drop, good) as (host, line):
        for _ in range(good):
            line.ping()
        with pytest.raises(HostAway, match="'host' does not come to an end"):
            line.ping()
        assert host.calls == good + 1
        host.good = good + 2
        line.ping()


def test_a_limit_is_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that answers is asked again and again on one line, by no other thread, and each call has its own time."""
    with line_to(b"", b"", good=100) as (host, line):
        line.ping()
        threads = set(threading.enumerate())
        for _ in range(20):
            line.ping()
        assert set(threading.enumerate()) == threads
        monkeypatch.setattr(peer_client, "AT_WORK_S", 0.0)
        with pytest.raises(HostAway, match="does not come to an end"):
            line.ping()
        monkeypatch.setattr(peer_client, "AT_WORK_S", 60.0)
        line.ping()
        assert host.calls == 22
