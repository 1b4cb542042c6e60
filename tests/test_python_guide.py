"""The library as the guide shows it."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

import kiwiresearch

GUIDE = Path(__file__).parent.parent / "docs" / "guide" / "python.md"


def test_every_example_of_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the guide shows is what a program gets, on the sample book."""
    monkeypatch.setenv("KIWIRESEARCH_HOME", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found = doctest.testfile(str(GUIDE), module_relative=False)
    assert (found.failed, found.attempted > 15) == (0, True)


def test_every_public_name_is_there() -> None:
    """Names are loaded when first used, each from the module it is said to be in."""
    assert all(getattr(kiwiresearch, name) for name in kiwiresearch.__all__)
