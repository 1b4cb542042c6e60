"""What may be about living people, or what users asked, is not readable by other accounts of the machine."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kiwiresearch.kin.store import CaseStore
from kiwiresearch.workspace.workspace import open_workspace


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name != "posix", reason="this system has other permissions")
def test_families_and_the_state_of_the_program_are_private(home: Path, tmp_path: Path) -> None:
    """Their folders and files are for their user alone, under the usual umask."""
    before = os.umask(0o022)
    try:
        state = open_workspace().folders.state
        case = tmp_path / "families" / "elm" / "case.sqlite"
        CaseStore.create(case, {}, lambda: "2026-01-01T00:00:00Z").close()
    finally:
        os.umask(before)
    assert (_mode(state), _mode(case.parent), _mode(case)) == (0o700, 0o700, 0o600)
