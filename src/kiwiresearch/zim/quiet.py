"""libzim speaks to the terminal on its own; nothing it says may reach our output."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Iterator

_lock = threading.RLock()


def _flush_c_buffers() -> None:
    # C++ streams keep text back and would print it after the descriptor is restored.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Send what C code prints to nowhere while the block runs; Python's own output is flushed first."""
    with _lock:
        with contextlib.suppress(ValueError, OSError, AttributeError):
            sys.stdout.flush()
            sys.stderr.flush()
        _flush_c_buffers()
        try:
            saved = [(fd, os.dup(fd)) for fd in (1, 2)]
        except OSError:  # a process without standard streams has nothing to protect
            yield
            return
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for fd, _ in saved:
                os.dup2(nowhere, fd)
            os.close(nowhere)
            yield
        finally:
            _flush_c_buffers()
            for fd, copy in saved:
                os.dup2(copy, fd)
                os.close(copy)
