"""How many areas of memory the threads of a server keep."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys

import pytest

ARENAS_OF_THREADS = """
import ctypes, os, tempfile, threading
from kiwiresearch.system import limit_memory_arenas
{call}
everyone = threading.Barrier(16)
def allocate():
    kept = [bytes(10_000) for _ in range(100)]
    everyone.wait()
threads = [threading.Thread(target=allocate) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as report:
    file = ctypes.c_void_p(libc.fopen(report.name.encode(), b"w"))
    libc.malloc_info(0, file)
    libc.fclose(file)
    print(report.read().count(b"<heap nr="))
"""


def arenas(call: str) -> int:
    command = [sys.executable, "-c", ARENAS_OF_THREADS.format(call=call)]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=60).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library has arenas")
def test_threads_share_two_arenas() -> None:
    """A server's threads do not each keep memory of their own."""
    assert hasattr(ctypes.CDLL(None), "mallopt")
    assert arenas("limit_memory_arenas()") <= 2 < arenas("")
