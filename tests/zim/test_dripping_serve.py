"""A kiwix-serve that drips: each byte comes in time, and the answer is not waited for all the same."""

from __future__ import annotations

import contextlib

import pytest
from tests.zim.dripping import CHUNKED, OK, dripping

from kiwiresearch.errors import BookUnreachable
from kiwiresearch.zim import serve
from kiwiresearch.zim.serve import ByteRange, KiwixServer
from kiwiresearch.zim.sources import SERVE_TIMEOUT_S


@pytest.mark.parametrize("good", [0, 1], ids=["at once", "on a line that was kept open"])
@pytest.mark.parametrize(
    ("begins", "drop"),
    [
        (OK + b"X: ", b"x"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (CHUNKED, b"1\r\nx\r\n"),
        (CHUNKED + b"1;", b"x"),
        (OK + b"Content-Length: 1000000\r\n\r\n", b"x"),
    ],
    ids=["headers", "promises", "parts", "the size of a part", "bytes"],
)
def test_a_server_that_drips_is_not_waited_for(
    begins: bytes, drop: bytes, good: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call ends when its time is over, though the server is never silent; it is not asked again, and can be used."""
    with dripping(begins, drop, good) as (host, address), contextlib.closing(KiwixServer(address)) as server:
        for _ in range(good):
            assert server.get("/raw").content == b"host"
        with monkeypatch.context() as patch:
            patch.setattr(serve, "WHOLE_ANSWER_FACTOR", 0.2 / SERVE_TIMEOUT_S)
            with pytest.raises(BookUnreachable, match=r"does not come to an end in 0\.2 s"):
                server.get("/raw", span=ByteRange(0, 500_000))
        assert host.calls == good + 1
        host.good = good + 2
        assert server.get("/raw").content == b"host"
