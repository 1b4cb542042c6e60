"""Commands about topics that once ended in a traceback, or left something behind."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

RunCommand = Callable[..., tuple[int, str, str]]
PROGRAM = "from kiwiresearch.cli.start import main; main()"


@pytest.mark.parametrize("gone", ["closed", "pipe"])
def test_a_run_needs_no_standard_error(home: Path, tmp_path: Path, sample_zim: Path, gone: str) -> None:
    """Where progress cannot be shown (2>&-, a reader that left), the run still ends well."""
    command = [
        sys.executable,
        "-c",
        PROGRAM,
        "Sunset",
        "--fast",
        "--max-pages",
        "3",
        "-b",
        str(sample_zim),
        "--out",
        "run",
    ]
    end = {"closed": "2>&-", "pipe": "2> >(exec true)"}[gone]
    line = " ".join(f"'{word}'" for word in command) + " " + end
    if gone == "pipe":
        line = f"exec 3> >(true); sleep 0.3; {line.removesuffix(end)} 2>&3"
    # Python fails at exit if it cannot write what it has buffered, unless this variable turns buffering off.
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=tmp_path, env=buffered, check=False)
    assert done.returncode == 0
    assert done.stdout.startswith("Read 3 pages about 'Sunset'.")


def test_an_unknown_user_in_out_is_reported(
    kiwi: RunCommand, home: Path, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--out '~nosuchuser/x' gets one sentence."""
    monkeypatch.chdir(tmp_path)
    code, _, err = kiwi("Sunset", "--fast", "-b", sample_zim, "--out", "~nosuchuser/x")
    assert (code in (1, 2), err.count("\n")) == (True, 1)


def test_a_name_that_is_too_long_leaves_no_parents(
    kiwi: RunCommand, home: Path, sample_zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that cannot be made leaves none of the folders above it."""
    monkeypatch.chdir(tmp_path)
    assert kiwi("Sunset", "--fast", "-b", sample_zim, "--out", f"a/b/{'x' * 300}")[0] == 1
    assert not Path("a").exists()


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1" + "0" * 5_000, "[" * 5_000 + "]" * 5_000])
def test_a_weight_beyond_all_numbers_gets_one_sentence(kiwi: RunCommand, home: Path, value: str) -> None:
    """Numbers too large for a float or for Python, and lists too deep, are bad settings, no traceback."""
    home.mkdir()
    (home / "settings.toml").write_text(f"[scoring_weights]\nnovelty = {value}\n")
    code, _, err = kiwi("Sunset")
    assert (code, err.count("\n")) == (1, 1)
