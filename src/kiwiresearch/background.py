"""Modules of ours in processes of their own: to wait for, or to go on beside a command and outlive it."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys

RUNNING: list[subprocess.Popen[bytes]] = []
"""Processes that this one has started; they are meant to outlive it."""


@atexit.register
def _let_go() -> None:
    for child in RUNNING:
        child.returncode = child.poll() or 0  # else Popen warns of a child that goes on


def command(module: str, *arguments: str) -> list[str]:
    """How a module is run; never with files of the working folder in its way."""
    return [sys.executable, "-P", "-m", module, *arguments]


def start(module: str, *arguments: str) -> bool:
    """Run a module beside this process, with nobody listening; False if the system refuses."""
    nothing = subprocess.DEVNULL
    try:
        child = subprocess.Popen(  # noqa: S603
            command(module, *arguments),
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            start_new_session=os.name == "posix",
            creationflags=getattr(subprocess, "DETACHED_PROCESS", 0),
        )
    except OSError:
        return False
    RUNNING.append(child)
    return True
