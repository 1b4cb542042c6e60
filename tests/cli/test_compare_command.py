"""`kiwiresearch compare`: two runs side by side on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.diff.compared_runs import run_over, two_snapshots

RunCommand = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return two_snapshots(tmp_path_factory.mktemp("compare"))


def test_changed_numbers_come_first(kiwi: RunCommand, home: Path, runs: tuple[Path, Path]) -> None:
    """Then other words, what is new and what is gone, each with the words of both runs."""
    code, out, err = kiwi("compare", *runs)
    assert (code, err) == (0, "")
    assert "Book: Road book, editions of 2026-01-01 and 2026-03-01" in out
    places = [
        out.index(words) for words in ("- The Salt road was 118 km", "+ The Salt road was 121 km", "may have been")
    ]
    assert places == sorted(places)
    assert "+ A lighthouse was built" in out
    assert "- Some historians think" in out
    assert "17 the same." in out


def test_a_page_of_one_run_is_named_once(kiwi: RunCommand, home: Path, runs: tuple[Path, Path], tmp_path: Path) -> None:
    """Its claims are below it, and which of the two runs has read it."""
    small = run_over(runs[0].parent / "road_2026-01.zim", tmp_path / "small", max_pages=1)
    for order, which in (((small, runs[0]), "new"), ((runs[0], small), "old")):
        out = kiwi("compare", *order)[1]
        headings = [row for row in out.splitlines() if row.endswith(f" (read only for the {which} run)")]
        assert headings
        assert len(set(headings)) == len(headings)


def test_a_comparison_as_data(kiwi: RunCommand, home: Path, runs: tuple[Path, Path]) -> None:
    """One document, the same every time."""
    first = kiwi("compare", *runs, "--json")
    found = json.loads(first[1])
    assert found["counts"] == {"numbers": 1, "changed": 2, "new": 1, "gone": 1, "same": 17}
    assert len(found["differences"]) == 5
    assert kiwi("compare", *runs, "--json") == first


def test_a_folder_that_is_not_a_run_is_reported(
    kiwi: RunCommand, home: Path, runs: tuple[Path, Path], tmp_path: Path
) -> None:
    code, out, err = kiwi("compare", runs[0], tmp_path / "nothing")
    assert (code, out) == (1, "")
    assert "Enter the folder of a finished run." in err
    assert kiwi("compare", runs[0], "")[0] == 2
