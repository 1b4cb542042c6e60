"""Calls to another host: one that misbehaves is named with what it does, and asked again only if it hung up."""

from __future__ import annotations

import contextlib

import pytest
from tests.http_servers import CHUNKED, DRIPS, Failing, Handle, closed, dripping, endless, serving, silent

from kiwiresearch.errors import HostUnreachable
from kiwiresearch.zim import peer_client
from kiwiresearch.zim.peer_client import PeerClient

FAULTS: dict[str, tuple[Handle, str, int]] = {
    "drips headers": (DRIPS["headers"], "took too long to reply", 1),
    "dots": (dripping(CHUNKED, b"1\r\n.\r\n"), "took too long to reply", 1),
    "parts": (dripping(CHUNKED + b"1\r\n!\r\n", b"1\r\nx\r\n"), "took too long to reply", 1),
    "hangs up": (closed, "closed the connection", 2),
    "silent": (silent, "is not responding", 1),
    "endless": (endless, "sent a reply that is too large", 1),
}


@pytest.mark.parametrize("good", [0, 2], ids=["at once", "on a connection that was kept open"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_host_that_misbehaves_is_cut_off(fault: str, good: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer is not waited for beyond the limit; the client can be used again."""
    handle, words, attempts = FAULTS[fault]
    monkeypatch.setattr(peer_client, "MAX_REPLY_BYTES", 2**20)
    if handle is silent:
        monkeypatch.setattr(peer_client, "SILENT_S", 0.5)
    host = Failing(handle, good)
    with serving(host) as address, contextlib.closing(PeerClient("host", address, "secret")) as client:
        for _ in range(good):
            client.ping()
        with monkeypatch.context() as patch:
            for name in ("MAX_WORK_S", "TOTAL_S") if "too long" in words else ():
                patch.setattr(peer_client, name, 0.3)
            with pytest.raises(HostUnreachable, match=f"'host' {words}"):
                client.ping()
        assert host.calls == good + attempts
        host.good = 100
        client.ping()


def test_a_host_at_work_has_more_time_once_it_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that only says that it is at work is left sooner than one whose answer is on its way."""
    monkeypatch.setattr(peer_client, "MAX_WORK_S", 0.0)
    host = Failing(closed, good=100)
    with serving(host) as address, contextlib.closing(PeerClient("host", address, "secret")) as client:
        with pytest.raises(HostUnreachable, match="took too long to reply"):
            client.ping()
        monkeypatch.setattr(peer_client, "MAX_WORK_S", 60.0)
        client.ping()
        assert host.calls == 1
