"""Commands run in this process, with what they printed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kiwiresearch.cli.start import run

Told = Callable[..., tuple[int, str, str]]


@pytest.fixture
def kiwi(capsys: pytest.CaptureFixture[str]) -> Told:
    """Runs a command; returns its exit code, standard output and standard error."""

    def start(*words: object) -> tuple[int, str, str]:
        code = run([str(word) for word in words])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return start
