"""A case whose run is killed or interrupted in the middle goes on, and ends like one that was not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.kin_book import copied, family_book
from tests.cli.processes import INTERRUPTIBLE

from kiwiresearch.cli.start import run as start

RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def started_case(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case that was started, and the same after it was completed."""
    folder = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KIWIRESEARCH_HOME", str(folder / "home"))
        patch.chdir(folder)
        family_book(folder)
        assert start(["kin", "start", "Edmund Wendover", "--book", "wendover.zim", "--case", "stopped"]) == 0
        shutil.copytree("stopped", "whole")
        assert start(["kin", "run", "--case", "whole"]) == 0
    return folder


@pytest.fixture
def here(started_case: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return copied(started_case, home, tmp_path / "place", monkeypatch)


@pytest.mark.parametrize(("how", "after"), [(signal.SIGKILL, 4), (signal.SIGINT, 3)], ids=["killed", "Ctrl-C"])
def test_nothing_is_lost(kiwi: RunCommand, here: Path, how: signal.Signals, after: int) -> None:
    """Ended after some steps, the case is sound; the next run goes on and finds what the whole one found."""
    command = [sys.executable, "-c", INTERRUPTIBLE, "kin", "run", "--case", "stopped", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        for _ in range(after):
            assert json.loads(process.stdout.readline())["event"] == "fetch"
        process.send_signal(how)
        _, err = process.communicate()
    assert process.returncode in ((-9,) if how is signal.SIGKILL else (130, 0))
    assert "Traceback" not in err
    assert kiwi("kin", "verify", "--case", "stopped")[0] == 0
    assert kiwi("kin", "run", "--case", "stopped")[0] == 0
    assert kiwi("kin", "show", "--json", "--case", "stopped") == kiwi("kin", "show", "--json", "--case", "whole")
    searched = [json.loads(kiwi("kin", "log", "--json", "--case", one)[1])["searches"] for one in ("stopped", "whole")]
    assert len(searched[0]) - len(searched[1]) in (0, 1)
