"""How the tests open stores, change them behind their back, and work on them in processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import count

from sqlalchemy import create_engine, text

from kiwiresearch.store.engine import Address
from kiwiresearch.store.store import Store, open_store

Opener = Callable[[], Store]
LAPSED_S = -1.0
"""A lease that has lapsed as soon as it is given."""
LEASE_S = 60.0
SECONDS = count(1_800_000_000)


def opened(url: str, *, is_shared_store: bool = True, busy_s: float = 30.0) -> Store:
    """A store whose clock, where it is asked for, goes on by a second at each look."""
    return open_store(url, is_shared_store=is_shared_store, clock=lambda: float(next(SECONDS)), busy_s=busy_s)


def changed(url: str, sql: str) -> int:
    """Change a store or a case as nobody should; how many rows that met."""
    engine = create_engine(Address.parse(url, "store").url)
    with engine.begin() as connection:
        met = connection.execute(text(sql)).rowcount
    engine.dispose()
    return met


CROWD = """
import os, sys, time, traceback
import psycopg
from kiwiresearch.store.store import open_store
url, number, code = sys.argv[1], int(sys.argv[2]), sys.argv[3]
waiting, starting = os.pipe()
def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())
children = []
for me in range(number):
    children.append(os.fork())
    if children[-1] == 0:
        os.close(starting)
        os.read(waiting, 1)
        try:
            store = open_store(url, is_shared_store=True, clock=time.time)
            exec(code)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
os.close(starting)
sys.exit(any(os.waitpid(child, 0)[1] for child in children))
"""


def crowd(number: int, url: str, code: str) -> list[str]:
    """What so many processes `say` that open a store at the same moment and do as `code` says; each knows `me`."""
    command = [sys.executable, "-c", CROWD, url, str(number), code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
