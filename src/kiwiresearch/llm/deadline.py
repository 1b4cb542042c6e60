"""One limit for a whole call: a server that drips is cut off as surely as one that is silent."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from typing import Any


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
