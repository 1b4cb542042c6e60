"""Commands in processes of their own, and what they write to a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sysconfig
from collections.abc import Sequence
from pathlib import Path

SCRIPT = str(Path(sysconfig.get_path("scripts")) / "kiwiresearch")
INTERRUPTIBLE = """\
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background starts with it ignored
from kiwiresearch.cli.start import main
main()
"""
OUR_LOOKS = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")


def on_terminal(command: Sequence[str], **environment: str) -> tuple[int, str]:
    """The exit code of a command, and what it writes to a terminal of its own."""
    ours, theirs = pty.openpty()
    kept = {key: value for key, value in os.environ.items() if key not in OUR_LOOKS}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=kept | environment) as process:
        os.close(theirs)
        shown = b""
        while part := _part(ours):
            shown += part
    os.close(ours)
    return process.returncode, shown.decode()


def _part(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux says so when the other side is closed
        return b""
