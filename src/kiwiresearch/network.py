"""Time limits for whole HTTP calls, and which host names mean this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


def is_loopback(name: str) -> bool:
    """Whether only programs of this machine can mean us by this name."""
    address = ip_address_of(name)
    return name == "localhost" or (address is not None and address.is_loopback)


def ip_address_of(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a name is, if it is one."""
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


class Deadline:
    """Shuts the connection of a call when its time is up, wherever the call waits at that moment.

    Timeouts of a socket count from the last byte, so they never end a server that sends one now and then.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._end = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._has_passed = False
        self._timer = threading.Timer(seconds, self._shut)
        self._timer.daemon = True
        self._timer.start()

    @property
    def left_s(self) -> float:
        return max(0.0, self._end - time.monotonic())

    @property
    def has_passed(self) -> bool:
        return self._has_passed or self.left_s == 0.0

    def trace(self, event: str, info: dict[str, Any]) -> None:
        """Told by the HTTP client what happens; a new connection is the one to shut."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._socket = info["return_value"].get_extra_info("socket")
            if self._has_passed:
                self._shut()

    def cancel(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._socket = None

    def _shut(self) -> None:
        self._has_passed = True
        with self._lock:
            if self._socket is not None:
                with contextlib.suppress(OSError):  # it has ended by itself
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


OPENED = ("connection.connect_tcp.complete", "connection.start_tls.complete")
PIECE = 16_384
"""So much is written at a time, before one looks at the clock again."""


class CallLimit:
    """The seconds that a call may take in all."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._begun = time.monotonic()

    def left(self) -> float:
        """How many are left; TimeoutError where none is."""
        left = self._begun + self.seconds - time.monotonic()
        if left <= 0:
            raise TimeoutError("it does not come to an end")
        return left


CURRENT_LIMIT: ContextVar[CallLimit] = ContextVar("limit")


@contextmanager
def time_limit(seconds: float) -> Iterator[CallLimit]:
    """Have all that is read and written in this block done in so many seconds; TimeoutError otherwise."""
    limit = CallLimit(seconds)
    before = CURRENT_LIMIT.set(limit)
    try:
        yield limit
    finally:
        CURRENT_LIMIT.reset(before)


def limit_trace(event: str, info: Mapping[str, Any]) -> None:
    """The "trace" of an HTTP client: each line that it opens keeps the limit of whoever uses it, now and later."""
    if event in OPENED:
        line = info["return_value"]
        read, write = line.read, line.write

        def write_pieces(data: bytes, timeout: float | None = None) -> None:
            for start in range(0, len(data), PIECE):
                _in_time(write, data[start : start + PIECE], timeout)

        line.read = lambda size, timeout=None: _in_time(read, size, timeout)
        line.write = write_pieces


def _in_time(do: Callable[..., Any], what: int | bytes, timeout: float | None) -> Any:
    limit = CURRENT_LIMIT.get()
    left = limit.left()
    try:
        return do(what, timeout=left if timeout is None else min(timeout, left))
    except Exception:
        limit.left()  # where the limit has passed, that is the reason
        raise
