"""One real Chromium for all tests of a session, driven from the thread of the tests."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

ARGUMENTS = [
    "--no-sandbox",  # tests may run as root, where Chromium has none
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
PATIENCE_MS = 60_000
"""How long a page may take to show what it should; machines of tests are busy."""


def program() -> str:
    """Where Chromium is; tests are skipped where it is not, but never where all programs should be.

    Its headless shell needs a third less processor time than the whole browser.
    """
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None and os.environ.get("CI") == "true":
        pytest.fail("chromium is missing: tools/install-programs should have installed it")
    if found is None:
        pytest.skip("chromium is not installed (on Debian: apt install chromium-headless-shell)")
    return found


class Chromium:
    """A browser that is there for the whole session, while tests beside its own may run loops of their own.

    Its driver leaves its loop marked as running in this thread, which would keep every other test from running
    one; so the mark is only there inside `at_work()`.
    """

    def __init__(self) -> None:
        path = program()
        self._driver = sync_playwright().start()
        self.browser: Browser = self._driver.chromium.launch(
            executable_path=path, args=ARGUMENTS, headless=True, chromium_sandbox=False
        )
        self._loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        expect.set_options(timeout=PATIENCE_MS)

    @contextlib.contextmanager
    def at_work(self) -> Iterator[Browser]:
        asyncio._set_running_loop(self._loop)
        try:
            yield self.browser
        finally:
            asyncio._set_running_loop(None)

    def close(self) -> None:
        with self.at_work():
            self.browser.close()
            self._driver.stop()
